/* SQLite's dialect, from version 3.24 on. Its clock counts milliseconds: a TTL gets one more. */
#include "src/store/sql/table/table.h"

#include <string.h>

#define NOW "((julianday('now') - 2440587.5) * 86400.0)"

/* A row as text, in hex by its bytes. */
#define ROW                                                                                        \
    "CAST(1000 * ($e - " NOW ") AS INTEGER) || ' ' || CASE WHEN length(CAST($k AS BLOB)) <= 63"    \
    " THEN hex($k) ELSE '' END || ' ' || hex($i) || ';'"

/* A text is its bytes; only the quote is doubled. */
static void write_sqlite_literal(const char *text, size_t length, char literal[TABLE_LITERAL_SIZE])
{
    char *end = literal;

    *end++ = '\'';
    for (size_t at = 0; at < length; at++) {
        *end++ = text[at];
        if (text[at] == '\'') {
            *end++ = '\'';
        }
    }
    *end++ = '\'';
    *end = '\0';
}

#ifdef LATCH_WITH_SQLITE
#include "src/store/sql/sqlite/driver.h"
#include "src/store/sql/sqlite/options.h"
#define SCHEMES LATCH_SQLITE_SCHEMES
#else
#define SCHEMES                                                                                    \
    (const char *const[])                                                                          \
    {                                                                                              \
        "sqlite", "sqlite3", "pdo-sqlite", "pdo-sqlite3", NULL                                     \
    }
#endif

const table_dialect latch_table_sqlite = {
    .driver = "sqlite",
    .server = "SQLite",
    .schemes = SCHEMES,
#ifdef LATCH_WITH_SQLITE
    .open = latch_sqlite_open,
#else
    .missing_library = "libsqlite3",
#endif
    .now = {NOW, "CAST(" NOW " AS INTEGER)"},
    .expiry = {NOW " + $s + 0.001", "CAST(" NOW " AS INTEGER) + $s"},
    .formats =
        {
            [TABLE_ACQUIRE] = "INSERT INTO $t ($i, $k, $e) VALUES $r ON CONFLICT ($i) DO UPDATE"
                              " SET $k = excluded.$k, $e = excluded.$e"
                              " WHERE $k = excluded.$k OR $e <= $n",
            [TABLE_REFRESH] = "UPDATE $t SET $e = $x WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_EXTEND] =
                "UPDATE $t SET $e = max($e, $x) WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_RELEASE] = "DELETE FROM $t WHERE $i IN ($l) AND $k = $o",
            [TABLE_PROBE] = "SELECT count(*) || ' ' || coalesce(CAST(1000 * (min($e) - " NOW
                            ") AS INTEGER), 0) FROM $t WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_PRUNE] = "DELETE FROM $t WHERE $i IN (SELECT $i FROM $t WHERE $e <= $n"
                            " LIMIT 100) AND $e <= $n",
            [TABLE_FENCE] = "INSERT INTO $f (id, number) SELECT 1, 1 FROM $t WHERE $i IN ($l)"
                            " AND $k = $o AND $e > $n LIMIT 1 ON CONFLICT (id) DO UPDATE"
                            " SET number = number + 1 RETURNING number",
            [TABLE_CREATE_FENCE] = "CREATE TABLE IF NOT EXISTS $f (id INTEGER PRIMARY KEY,"
                                   " number INTEGER NOT NULL)",
            [TABLE_CREATE] = "CREATE TABLE $t $d",
            [TABLE_CREATE_IF_MISSING] = "CREATE TABLE IF NOT EXISTS $t $d",
            [TABLE_INSPECT] = "SELECT group_concat(" ROW
                              ", '') FROM $t WHERE $i IN ($l) AND $e > $n",
            /* The aggregate has its rows in the order of the subquery, which has a limit and so is
             * no part of the outer one. */
            [TABLE_LIST] = "SELECT group_concat(" ROW ", '') FROM (SELECT $i, $k, $e FROM $t"
                           " WHERE $e > $n AND length(CAST($i AS BLOB)) <= 255$a"
                           " ORDER BY $i LIMIT 10)",
        },
    .create =
        {
            "($i TEXT NOT NULL PRIMARY KEY, $k TEXT NOT NULL, $e INTEGER)",
            "($i VARCHAR NOT NULL PRIMARY KEY, $k VARCHAR NOT NULL, $e INTEGER NOT NULL)",
        },
    .placeholder = "?%u",
    .quote = '"',
    .creates_in_transaction = true,
    /* A poll reaches no server, and a process that commits again and again leaves but moments to
       others. */
    .slowest_poll_ms = 10,
    .write_literal = write_sqlite_literal,
};
