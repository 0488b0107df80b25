/*
 * PostgreSQL's dialect. The clock is clock_timestamp(): now() is the time at which the transaction
 * began. A statement that inserts returns no row for a conflict; the other holder's expiry is asked
 * for in the same statement, where that is worth it.
 */
#include "src/store/sql/postgresql/driver.h"
#include "src/store/sql/table/table.h"

#include <stdio.h>
#include <string.h>

#define NOW "extract(epoch FROM clock_timestamp())"
/* A row as text, in hex by the bytes of UTF-8. */
#define ROW                                                                                        \
    "concat(floor(1000 * ($e - " NOW ")), ' ', CASE WHEN octet_length($k) <= 63 THEN"              \
    " encode(convert_to($k, 'UTF8'), 'hex') END, ' ', encode(convert_to($i, 'UTF8'), 'hex'), ';')"
#define ACQUIRE                                                                                    \
    "INSERT INTO $t AS held ($i, $k, $e) VALUES $r ON CONFLICT ($i) DO UPDATE"                     \
    " SET $k = excluded.$k, $e = excluded.$e WHERE held.$k = excluded.$k OR held.$e <= $n"

/* Letters and digits as they are; any other byte by its number. Neither the encoding of the
 * connection nor standard_conforming_strings matters then. */
static void write_postgresql_literal(const char *text, size_t length,
                                     char literal[TABLE_LITERAL_SIZE])
{
    char *end = literal;

    *end++ = 'E';
    *end++ = '\'';
    for (size_t at = 0; at < length; at++) {
        if (latch_table_is_plain(text[at])) {
            *end++ = text[at];
        } else {
            end += snprintf(end, 5, "\\x%02x", (unsigned char) text[at]);
        }
    }
    *end++ = '\'';
    *end = '\0';
}

const table_dialect latch_table_postgresql = {
    .driver = "pgsql",
    .server = "PostgreSQL",
    .schemes = LATCH_POSTGRESQL_SCHEMES,
#ifdef LATCH_WITH_PGSQL
    .open = latch_postgresql_open,
#else
    .missing_library = "libpq",
#endif
    .now = {NOW, "floor(" NOW ")"},
    /* Half a second more: the clock of Symfony 5.4 rounds. */
    .expiry = {"least(ceil(" NOW " + $s + 0.5), 2147483647)", "floor(" NOW ") + $s"},
    .formats =
        {
            [TABLE_ACQUIRE] = ACQUIRE,
            /* The statement does not see what it has changed itself. */
            [TABLE_ACQUIRE_TIMED] =
                "WITH granted AS (" ACQUIRE " RETURNING 1) SELECT concat(count(*), ' ', (SELECT"
                " ceil(1000 * (max($e) - " NOW ")) FROM $t WHERE $i IN ($l))) FROM granted",
            [TABLE_REFRESH] = "UPDATE $t SET $e = $x WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_EXTEND] =
                "UPDATE $t SET $e = greatest($e, $x) WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_RELEASE] = "DELETE FROM $t WHERE $i IN ($l) AND $k = $o",
            [TABLE_PROBE] = "SELECT concat(count(*), ' ', floor(1000 * (min($e) - " NOW
                            "))) FROM $t WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_PRUNE] = "DELETE FROM $t WHERE ctid = ANY(ARRAY(SELECT ctid FROM $t"
                            " WHERE $e <= $n LIMIT 100 FOR UPDATE SKIP LOCKED))",
            /* Drawn behind the row's lock: below it, whatever the plan is, there is no sequence. */
            [TABLE_FENCE] = "SELECT nextval(to_regclass('$f')) FROM (SELECT 1 FROM $t WHERE $i IN"
                            " ($l) AND $k = $o AND $e > $n FOR UPDATE) AS held LIMIT 1",
            [TABLE_CREATE_FENCE] = "CREATE SEQUENCE IF NOT EXISTS $f",
            [TABLE_CREATE] = "CREATE TABLE $t $d",
            [TABLE_CREATE_IF_MISSING] = "CREATE TABLE IF NOT EXISTS $t $d",
            [TABLE_CREATE_INSIDE] = "DO $$$$ BEGIN CREATE TABLE IF NOT EXISTS $t $d;"
                                    " EXCEPTION WHEN OTHERS THEN NULL; END $$$$",
            /* The cast would fail for a name without a table. */
            [TABLE_FIND] = "SELECT count(to_regclass('$t'))",
            [TABLE_INSPECT] = "SELECT string_agg(" ROW ", '') FROM $t WHERE $i IN ($l) AND $e > $n",
            [TABLE_LIST] = "SELECT string_agg(" ROW ", '' ORDER BY $i) FROM (SELECT $i, $k, $e"
                           " FROM $t WHERE $e > $n AND octet_length($i) <= 255$a"
                           " ORDER BY $i LIMIT 10) AS page",
        },
    .create =
        {
            "($i VARCHAR(64) NOT NULL PRIMARY KEY, $k VARCHAR(64) NOT NULL, $e INTEGER)",
            "($i VARCHAR(255) NOT NULL PRIMARY KEY, $k VARCHAR(255) NOT NULL, $e BIGINT NOT NULL)",
        },
    .last_expiry = {INT32_MAX},
    .quote = '"',
    .creates_in_transaction = true,
    .write_literal = write_postgresql_literal,
};
