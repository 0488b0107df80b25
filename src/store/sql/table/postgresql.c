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
/* It looks first. What conflicts locks the other row, and awaits the disk with it: the holder's
 * release would wait for that, too. */
#define INSERT                                                                                     \
    "INSERT INTO $t AS held ($i, $k, $e) SELECT * FROM (VALUES $r) AS asked"                       \
    " WHERE NOT EXISTS (SELECT FROM $t WHERE $i IN ($l) AND $k <> $o AND $e > $n)"
#define UNLESS_HELD                                                                                \
    " ON CONFLICT ($i) DO UPDATE"                                                                  \
    " SET $k = excluded.$k, $e = excluded.$e WHERE held.$k = excluded.$k OR held.$e <= $n"
#define ACQUIRE INSERT UNLESS_HELD
/* Nobody has the ticket. The other waiters wait for what this holder may have already. */
#define IS_ITS_TURN                                                                                \
    "(pg_try_advisory_xact_lock($q::bigint)"                                                       \
    " OR EXISTS (SELECT FROM $t WHERE $i IN ($l) AND $k = $o))"

/* The advisory lock in pg_locks, when a session has it. */
#define IS_TICKET                                                                                  \
    "locktype = 'advisory' AND granted AND objsubid = 1"                                           \
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"             \
    " AND (classid::bigint << 32 | objid::bigint) = x'%1$s'::bigint"
/* To release what is not held is a warning, in the server's log, too. */
#define UNDO                                                                                       \
    "SELECT CASE WHEN EXISTS (SELECT FROM pg_locks WHERE " IS_TICKET                               \
    " AND pid = pg_backend_pid()) THEN pg_advisory_unlock(x'%1$s'::bigint) END; UNLISTEN "         \
    "latch_%1$s"

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

/*
 * A division by zero tells another session than the expected one, before anything is left in it.
 * Notifications begin with the end of the transaction: when the ticket is there, and before an
 * attempt that may have to be repeated. They end with the wait: a session that listens and is not
 * read keeps all notifications of the server from being deleted.
 */
static const table_queue postgresql_queue = {
    /* A transaction that notifies is committed alone, in the whole server: so it does only if
     * somebody has the ticket. Nor does it await the disk: what a crash of the server forgets of it
     * is a lock that stays until it expires. */
    .release = "DELETE FROM $t WHERE $i IN ($l) AND $k = $o RETURNING CASE"
               " WHEN set_config('synchronous_commit', 'off', true) IS NULL"
               " OR pg_try_advisory_xact_lock($q::bigint) THEN NULL"
               " ELSE pg_notify(concat('latch_', lpad(to_hex($q::bigint), 16, '0')), '') END",
    .ask = "SELECT 1 / (pg_backend_pid() = %2$s)::int; LISTEN latch_%1$s;"
           " SELECT CASE WHEN set_config('lock_timeout', '%3$s', true) IS NULL THEN 0"
           " WHEN pg_advisory_lock(x'%1$s'::bigint) IS NULL THEN 0 ELSE 1 END",
    .give_back = "SELECT pg_advisory_unlock(x'%1$s'::bigint); UNLISTEN latch_%1$s",
    .undo = UNDO,
    /* A first waiter that lives attempts more often. */
    .undo_and_end_stalled = UNDO
    "; SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE " IS_TICKET " AND usename = current_user AND state = 'idle'"
    " AND state_change < clock_timestamp() - interval '%3$s ms'",
};

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
            [TABLE_ACQUIRE_IN_TURN] = INSERT " AND " IS_ITS_TURN UNLESS_HELD,
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
    .placeholder = "$%u",
    .quote = '"',
    .queue = &postgresql_queue,
    .creates_in_transaction = true,
    .write_literal = write_postgresql_literal,
};
