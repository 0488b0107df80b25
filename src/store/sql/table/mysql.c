/*
 * MySQL's and MariaDB's dialect. The clock is that of UTC: UNIX_TIMESTAMP() of a local time is
 * ambiguous for an hour each autumn.
 *
 * The count of affected rows is no verdict: 0 is a conflict, or the holder's own row as it was. So
 * a conflict sets the insert ID, which comes in the same packet. Assignments go from left to right:
 * where the token is the new one, the row is this holder's.
 *
 * The TTL of a form is a text, with which MariaDB computes in double precision. It is exact enough
 * for milliseconds of a time in seconds to be rounded up as they are in a literal.
 */
#include "src/store/sql/mysql/driver.h"
#include "src/store/sql/mysql/options.h"
#include "src/store/sql/table/table.h"

#include <stdio.h>
#include <string.h>

#define NOW "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000)"

/* A row as text, in hex by the bytes of UTF-8. */
#define ROW                                                                                        \
    "CONCAT(FLOOR(1000 * ($e - " NOW ")), ' ', IF(LENGTH($k) <= 63, HEX(CONVERT($k USING"          \
    " utf8mb4)), ''), ' ', HEX(CONVERT($i USING utf8mb4)), ';')"

/* Bytes by their numbers, unless they are letters and digits: the connection's character set and
 * sql_mode do not matter then. */
static void write_mysql_literal(const char *text, size_t length, char literal[TABLE_LITERAL_SIZE])
{
    bool is_plain = true;
    char *end = literal;

    for (size_t at = 0; at < length; at++) {
        is_plain = is_plain && latch_table_is_plain(text[at]);
    }
    if (is_plain) {
        snprintf(literal, TABLE_LITERAL_SIZE, "'%.*s'", (int) length, text);
        return;
    }
    end = stpcpy(end, "_utf8mb4 x'");
    for (size_t at = 0; at < length; at++) {
        end += snprintf(end, 3, "%02x", (unsigned char) text[at]);
    }
    stpcpy(end, "'");
}

const table_dialect latch_table_mysql = {
    .driver = "mysql",
    .server = "MySQL",
    .schemes = LATCH_MYSQL_SCHEMES,
#ifdef LATCH_WITH_MYSQL
    .open = latch_mysql_open,
#else
    .missing_library = "libmariadb",
#endif
    .now = {NOW, "FLOOR(" NOW ")"},
    .expiry = {"LEAST(CEIL(" NOW " + $s), 4294967295)", "FLOOR(" NOW ") + $s"},
    .formats =
        {
            [TABLE_ACQUIRE] = "INSERT INTO $t ($i, $k, $e) VALUES $r ON DUPLICATE KEY UPDATE"
                              " $k = IF($k = VALUES($k) OR $e <= $n, VALUES($k), $k),"
                              " $e = IF($k = VALUES($k), VALUES($e),"
                              " $e + 0 * LAST_INSERT_ID(1 + CEIL(1000 * ($e - $n))))",
            [TABLE_REFRESH] = "UPDATE $t SET $e = $x WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_EXTEND] =
                "UPDATE $t SET $e = GREATEST($e, $x) WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_RELEASE] = "DELETE FROM $t WHERE $i IN ($l) AND $k = $o",
            [TABLE_PROBE] = "SELECT CONCAT(COUNT(*), ' ', COALESCE(FLOOR(1000 * (MIN($e) - " NOW
                            ")), 0)) FROM $t WHERE $i IN ($l) AND $k = $o AND $e > $n",
            [TABLE_PRUNE] = "DELETE FROM $t WHERE $e <= $n LIMIT 100",
            /* It grows with each call on a server, over restarts as well. Its first byte is the
             * server's number. */
            [TABLE_FENCE] = "SELECT UUID_SHORT() & 72057594037927935 FROM $t WHERE $i IN ($l)"
                            " AND $k = $o AND $e > $n LIMIT 1 FOR UPDATE",
            [TABLE_CREATE] = "CREATE TABLE $t $d",
            [TABLE_CREATE_IF_MISSING] = "CREATE TABLE IF NOT EXISTS $t $d",
            [TABLE_INSPECT] = "SELECT GROUP_CONCAT(" ROW
                              " SEPARATOR '') FROM $t WHERE $i IN ($l) AND $e > $n",
            [TABLE_LIST] = "SELECT GROUP_CONCAT(" ROW " ORDER BY $i SEPARATOR '') FROM"
                           " (SELECT $i, $k, $e FROM $t WHERE $e > $n AND LENGTH($i) <= 255$a"
                           " ORDER BY $i LIMIT 10) AS page",
        },
    .create =
        {
            "($i VARCHAR(64) NOT NULL PRIMARY KEY, $k VARCHAR(64) NOT NULL,"
            " $e INTEGER UNSIGNED NOT NULL) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
            " ENGINE = InnoDB",
            "($i VARCHAR(255) NOT NULL PRIMARY KEY, $k VARCHAR(255) NOT NULL,"
            " $e BIGINT NOT NULL) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ENGINE = InnoDB",
        },
    .last_expiry = {UINT32_MAX},
    .placeholder = "?",
    .quote = '`',
    .counts_changes = true,
    .write_literal = write_mysql_literal,
};
