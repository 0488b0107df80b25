/* SQL dialects: the statements of advisory locks for each server. */
#include "src/store/sql/advisory/advisory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- PostgreSQL ------------------------------------------------------------------------------
 * Locks on one bigint, as in Symfony's PostgreSqlStore. CASE evaluates its branches in order, and
 * only as many as it needs: a lock is acquired in the right session alone, and a session time-out
 * is set for the statement alone (set_config's `true`).
 *
 * A promotion or demotion calls a function that waits: the server lets a holder in ahead of the
 * waiters, at once if there is no other holder. A function that only tries fails while there are
 * waiters. A promotion that does not wait looks for other holders before that: while it stood in
 * the server's queue, tries to read would be refused, although only readers hold the lock. The
 * time-out is for a reader that comes between the look and the wait; in a transaction, which its
 * error would abort, that reader is waited for. */
#define PG(branches) "CASE WHEN %2$s <> pg_backend_pid() THEN 2 " branches " END"
#define PG_TIMED(branches)                                                                         \
    PG("WHEN set_config('lock_timeout', %3$s, true) IS NULL THEN 0 " branches)
/* The locks of this database that the key means, as pg_locks shows them. */
#define PG_LOCKS                                                                                   \
    "pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"                            \
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"             \
    " AND (classid::bigint << 32 | objid::bigint) = %1$s"

#define PG_HELD(more) "EXISTS (SELECT FROM " PG_LOCKS " AND pid = pg_backend_pid()" more ")"
#define PG_HELD_BY_OTHERS "EXISTS (SELECT FROM " PG_LOCKS " AND pid <> pg_backend_pid())"
#define PG_TRY_TO_PROMOTE(bounded)                                                                 \
    PG("WHEN CASE WHEN pg_try_advisory_lock(%1$s) THEN false"                                      \
       " WHEN " PG_HELD_BY_OTHERS " THEN true " bounded                                            \
       " ELSE pg_advisory_lock(%1$s) IS NULL END THEN 0"                                           \
       " WHEN pg_advisory_unlock_shared(%1$s) THEN 1 ELSE 1")
#define PG_WRITES PG_HELD(" AND mode = 'ExclusiveLock'")
#define PG_READS PG_HELD(" AND mode = 'ShareLock'")

static void write_milliseconds(int64_t timeout_ms, bool whole_seconds, char *text, size_t size)
{
    /* 0 is no time-out. The setting is an int: a longer wait is sent again. */
    int64_t ms = timeout_ms == LATCH_NEVER ? 0 : timeout_ms < INT32_MAX ? timeout_ms : INT32_MAX;

    (void) whole_seconds;
    snprintf(text, size, "%" PRId64, ms);
}

#define PG_ONE(statement)                                                                          \
    {                                                                                              \
        "latch_" statement "_", "bigint", 1                                                        \
    }
#define PG_TWO(statement)                                                                          \
    {                                                                                              \
        "latch_" statement "_", "bigint, integer", 2                                               \
    }
#define PG_WAIT(statement)                                                                         \
    {                                                                                              \
        "latch_" statement "_", "bigint, integer, text", 3                                         \
    }

/* With as few parameters as possible, as each takes the server time. */
static const sql_template postgresql_templates[] = {
    [ADVISORY_TRY] = PG_ONE("try"),
    [ADVISORY_TRY_SHARED] = PG_ONE("try_shared"),
    [ADVISORY_TRY_TO_PROMOTE] = PG_TWO("try_to_promote"),
    [ADVISORY_POLL_TO_PROMOTE] = PG_TWO("poll_to_promote"),
    [ADVISORY_WAIT] = PG_WAIT("wait"),
    [ADVISORY_WAIT_SHARED] = PG_WAIT("wait_shared"),
    [ADVISORY_WAIT_TO_PROMOTE] = PG_WAIT("wait_to_promote"),
    [ADVISORY_DEMOTE] = PG_TWO("demote"),
    [ADVISORY_RELEASE] = PG_ONE("release"),
    [ADVISORY_RELEASE_SHARED] = PG_ONE("release_shared"),
    [ADVISORY_UNDO] = PG_TWO("undo"),
    [ADVISORY_UNDO_SHARED] = PG_TWO("undo_shared"),
    [ADVISORY_UNDO_PROMOTION] = PG_TWO("undo_promotion"),
    [ADVISORY_PROBE] = PG_TWO("probe"),
};

/* Acquire and release have a short form: the name of what was prepared identifies the session. */
static void write_postgresql_template(unsigned index, int64_t number, char text[SQL_TEXT_MAX])
{
    static const char *const short_forms[ADVISORY_ACTIONS] = {
        [ADVISORY_TRY] = "pg_try_advisory_lock(%1$s)",
        [ADVISORY_TRY_SHARED] = "pg_try_advisory_lock_shared(%1$s)",
        [ADVISORY_RELEASE] = "pg_advisory_unlock(%1$s)",
        [ADVISORY_RELEASE_SHARED] = "pg_advisory_unlock_shared(%1$s)",
    };
    char verdict[SQL_TEXT_MAX - 8];

    (void) number;
    snprintf(verdict, sizeof(verdict),
             short_forms[index] != NULL ? short_forms[index]
                                        : latch_postgresql_dialect.verdicts[index],
             "$1", "$2", "$3");
    snprintf(text, SQL_TEXT_MAX, "SELECT %s", verdict);
}

const advisory_dialect latch_postgresql_dialect = {
    .server = "PostgreSQL",
    .ends_waits_by_error = true,
    .key = "'%s'::bigint",
    .timeout = "'%s'",
    .self = "pg_backend_pid()",
    .answer = "SELECT concat(%s, ' ', pg_backend_pid())",
    .templates = {postgresql_templates,
                  sizeof(postgresql_templates) / sizeof(*postgresql_templates),
                  write_postgresql_template},
    .write_timeout = write_milliseconds,
    .verdicts =
        {
            [ADVISORY_TRY] = PG("WHEN pg_try_advisory_lock(%1$s) THEN 1 ELSE 0"),
            [ADVISORY_TRY_SHARED] = PG("WHEN pg_try_advisory_lock_shared(%1$s) THEN 1 ELSE 0"),
            [ADVISORY_TRY_TO_PROMOTE] =
                PG_TRY_TO_PROMOTE("WHEN set_config('lock_timeout', '1', true) IS NULL THEN true"),
            [ADVISORY_POLL_TO_PROMOTE] = PG_TRY_TO_PROMOTE(""),
            [ADVISORY_WAIT] = PG_TIMED("WHEN pg_advisory_lock(%1$s) IS NULL THEN 0 ELSE 1"),
            [ADVISORY_WAIT_SHARED] =
                PG_TIMED("WHEN pg_advisory_lock_shared(%1$s) IS NULL THEN 0 ELSE 1"),
            [ADVISORY_WAIT_TO_PROMOTE] =
                PG_TIMED("WHEN pg_advisory_lock(%1$s) IS NULL THEN 0"
                         " WHEN pg_advisory_unlock_shared(%1$s) THEN 1 ELSE 1"),
            [ADVISORY_DEMOTE] = PG("WHEN pg_advisory_lock_shared(%1$s) IS NULL THEN 0"
                                   " WHEN pg_advisory_unlock(%1$s) THEN 1 ELSE 1"),
            [ADVISORY_RELEASE] = PG("WHEN pg_advisory_unlock(%1$s) THEN 1 ELSE 0"),
            [ADVISORY_RELEASE_SHARED] = PG("WHEN pg_advisory_unlock_shared(%1$s) THEN 1 ELSE 0"),
            /* To release what is not held is a warning, in the server's log, too. */
            [ADVISORY_UNDO] = PG("WHEN NOT " PG_WRITES " THEN 0"
                                 " WHEN pg_advisory_unlock(%1$s) THEN 1 ELSE 0"),
            [ADVISORY_UNDO_SHARED] = PG("WHEN NOT " PG_READS " THEN 0"
                                        " WHEN pg_advisory_unlock_shared(%1$s) THEN 1 ELSE 0"),
            [ADVISORY_UNDO_PROMOTION] = PG("WHEN NOT " PG_WRITES " THEN 0 WHEN CASE WHEN " PG_READS
                                           " THEN false"
                                           " ELSE pg_advisory_lock_shared(%1$s) IS NULL END THEN 0"
                                           " WHEN pg_advisory_unlock(%1$s) THEN 1 ELSE 0"),
            [ADVISORY_PROBE] = PG("WHEN " PG_HELD("") " THEN 1 ELSE 0"),
            [ADVISORY_HOLDERS] = "(SELECT string_agg(pid || CASE mode WHEN 'ExclusiveLock' THEN 'x'"
                                 " ELSE 's' END, ',') FROM " PG_LOCKS ")",
        },
};

/* ---- MySQL and MariaDB ------------------------------------------------------------------------
 *
 * Locks by name, as Symfony's MysqlStore takes them (8.2): exclusive ones only. GET_LOCK() answers
 * NULL when it fails.
 */
#define MY(call) "IF(%2$s = CONNECTION_ID(), " call ", 2)"

/* None is a year: MariaDB answers NULL to a negative one. MySQL rounds 0.4 down to no wait. */
static void write_seconds(int64_t timeout_ms, bool whole_seconds, char *text, size_t size)
{
    const int64_t year_ms = INT64_C(365) * 24 * 3600 * 1000;
    int64_t ms = timeout_ms < year_ms ? timeout_ms : year_ms;

    ms = whole_seconds ? (ms + 999) / 1000 * 1000 : ms;
    snprintf(text, size, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
}

static const sql_template mysql_templates[] = {
    [ADVISORY_TRY] = {.parameter_count = 1},
    [ADVISORY_RELEASE] = {.parameter_count = 1},
};

/* The session's number is part of the text, as a proxy may know what was prepared in another
 * session, too. */
static void write_mysql_template(unsigned index, int64_t number, char text[SQL_TEXT_MAX])
{
    char verdict[SQL_TEXT_MAX - 8], session[24];

    snprintf(session, sizeof(session), "%" PRId64, number);
    snprintf(verdict, sizeof(verdict), latch_mysql_dialect.verdicts[index], "?", session);
    snprintf(text, SQL_TEXT_MAX, "SELECT %s", verdict);
}

/* Galera, Percona XtraDB Cluster and the like have no locks of this kind. */
static void explain_mysql_refusal(sql_session *session)
{
    enum { UNKNOWN_ERROR = 1105, NOT_SUPPORTED_YET = 1235, NO_SUCH_FUNCTION = 1305 };
    unsigned code = session->trouble_code;
    size_t length = strlen(session->trouble);

    /* The first one is what clusters and proxies say of their own. */
    if ((code == UNKNOWN_ERROR || code == NOT_SUPPORTED_YET || code == NO_SUCH_FUNCTION)
        && strcasestr(session->trouble, "_LOCK") != NULL) {
        snprintf(session->trouble + length, sizeof(session->trouble) - length,
                 "; a cluster that has no such locks needs another store, such as Redis");
    }
}

const advisory_dialect latch_mysql_dialect = {
    .server = "MySQL",
    .names_locks = true,
    .key = "'%s'",
    .timeout = "%s",
    .self = "CONNECTION_ID()",
    .answer = "SELECT CONCAT(%s, ' ', CONNECTION_ID())",
    .interrupted_wait = "GET_LOCK() was interrupted",
    .templates = {mysql_templates, sizeof(mysql_templates) / sizeof(*mysql_templates),
                  write_mysql_template},
    .write_timeout = write_seconds,
    .explain_refusal = explain_mysql_refusal,
    .verdicts =
        {
            [ADVISORY_TRY] = MY("GET_LOCK(%1$s, 0)"),
            [ADVISORY_WAIT] = MY("GET_LOCK(%1$s, %3$s)"),
            [ADVISORY_RELEASE] = MY("COALESCE(RELEASE_LOCK(%1$s), 0)"),
            [ADVISORY_UNDO] = MY("COALESCE(RELEASE_LOCK(%1$s), 0)"),
            [ADVISORY_PROBE] = MY("COALESCE(IS_USED_LOCK(%1$s) = CONNECTION_ID(), 0)"),
            [ADVISORY_HOLDERS] = "COALESCE(CONCAT(IS_USED_LOCK(%1$s), 'x'), '')",
        },
};

/* ---- Both ------------------------------------------------------------------------------------ */

void latch_advisory_write_timeout(const advisory_dialect *dialect, const advisory_request *request,
                                  const sql_session *session, char *text, size_t size)
{
    int64_t timeout_ms = request->timeout_ms < session->longest_wait_ms ? request->timeout_ms
                                                                        : session->longest_wait_ms;

    dialect->write_timeout(timeout_ms, session->whole_seconds, text, size);
}

void latch_advisory_write(const advisory_dialect *dialect, const advisory_request *request,
                          const sql_session *session, char text[SQL_TEXT_MAX])
{
    char key[ADVISORY_KEY_SIZE + 16], own[24], number[ADVISORY_TIMEOUT_SIZE],
        timeout[ADVISORY_TIMEOUT_SIZE + 2], verdict[SQL_TEXT_MAX];

    snprintf(key, sizeof(key), dialect->key, request->key);
    if (session->number != 0) {
        snprintf(own, sizeof(own), "%" PRId64, session->number);
    } else {
        snprintf(own, sizeof(own), "%s", dialect->self);
    }
    latch_advisory_write_timeout(dialect, request, session, number, sizeof(number));
    snprintf(timeout, sizeof(timeout), dialect->timeout, number);
    snprintf(verdict, sizeof(verdict), dialect->verdicts[request->action], key, own, timeout);
    snprintf(text, SQL_TEXT_MAX, dialect->answer, verdict);
}
