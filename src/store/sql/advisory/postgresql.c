/*
 * The store "postgresql": advisory locks of PostgreSQL, by libpq or by a runner of the caller's.
 *
 * Locks on one bigint, as in Symfony's PostgreSqlStore. CASE evaluates its branches in order, and
 * only as many as it needs: a lock is acquired in the right session alone, and a session time-out
 * is set for the statement alone (set_config's `true`).
 *
 * A promotion or demotion calls a function that waits: the server lets a holder in ahead of the
 * waiters, at once if there is no other holder. A function that only tries fails while there are
 * waiters. A promotion that does not wait looks for other holders before that: while it stood in
 * the server's queue, tries to read would be refused, although only readers hold the lock. The
 * time-out is for a reader that comes between the look and the wait; in a transaction, which its
 * error would abort, that reader is waited for.
 */
#include "src/store/sql/advisory/advisory.h"
#include "src/store/sql/postgresql/driver.h"
#include "src/store/sql/postgresql/options.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Statements ----------------------------------------------------------------------------- */

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

static const char *const postgresql_verdicts[ADVISORY_ACTIONS] = {
    [ADVISORY_TRY] = PG("WHEN pg_try_advisory_lock(%1$s) THEN 1 ELSE 0"),
    [ADVISORY_TRY_SHARED] = PG("WHEN pg_try_advisory_lock_shared(%1$s) THEN 1 ELSE 0"),
    [ADVISORY_TRY_TO_PROMOTE] =
        PG_TRY_TO_PROMOTE("WHEN set_config('lock_timeout', '1', true) IS NULL THEN true"),
    [ADVISORY_POLL_TO_PROMOTE] = PG_TRY_TO_PROMOTE(""),
    [ADVISORY_WAIT] = PG_TIMED("WHEN pg_advisory_lock(%1$s) IS NULL THEN 0 ELSE 1"),
    [ADVISORY_WAIT_SHARED] = PG_TIMED("WHEN pg_advisory_lock_shared(%1$s) IS NULL THEN 0 ELSE 1"),
    [ADVISORY_WAIT_TO_PROMOTE] = PG_TIMED("WHEN pg_advisory_lock(%1$s) IS NULL THEN 0"
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
};

/* Parameters: as few as possible, as each takes the server time. */
#define PG_KEY "bigint", 1
#define PG_KEY_SESSION "bigint, integer", 2
#define PG_KEY_SESSION_TIMEOUT "bigint, integer, text", 3

static const sql_template postgresql_templates[] = {
    [ADVISORY_TRY] = {"latch_try_", PG_KEY},
    [ADVISORY_TRY_SHARED] = {"latch_try_shared_", PG_KEY},
    [ADVISORY_TRY_TO_PROMOTE] = {"latch_try_to_promote_", PG_KEY_SESSION},
    [ADVISORY_POLL_TO_PROMOTE] = {"latch_poll_to_promote_", PG_KEY_SESSION},
    [ADVISORY_WAIT] = {"latch_wait_", PG_KEY_SESSION_TIMEOUT},
    [ADVISORY_WAIT_SHARED] = {"latch_wait_shared_", PG_KEY_SESSION_TIMEOUT},
    [ADVISORY_WAIT_TO_PROMOTE] = {"latch_wait_to_promote_", PG_KEY_SESSION_TIMEOUT},
    [ADVISORY_DEMOTE] = {"latch_demote_", PG_KEY_SESSION},
    [ADVISORY_RELEASE] = {"latch_release_", PG_KEY},
    [ADVISORY_RELEASE_SHARED] = {"latch_release_shared_", PG_KEY},
    [ADVISORY_UNDO] = {"latch_undo_", PG_KEY_SESSION},
    [ADVISORY_UNDO_SHARED] = {"latch_undo_shared_", PG_KEY_SESSION},
    [ADVISORY_UNDO_PROMOTION] = {"latch_undo_promotion_", PG_KEY_SESSION},
    [ADVISORY_PROBE] = {"latch_probe_", PG_KEY_SESSION},
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
             short_forms[index] != NULL ? short_forms[index] : postgresql_verdicts[index], "$1",
             "$2", "$3");
    snprintf(text, SQL_TEXT_MAX, "SELECT %s", verdict);
}

static void write_milliseconds(int64_t timeout_ms, bool whole_seconds,
                               char text[ADVISORY_TIMEOUT_SIZE])
{
    /* 0 is no time-out. The setting is an int: a longer wait is sent again. */
    int64_t ms = timeout_ms == LATCH_NEVER ? 0 : timeout_ms < INT32_MAX ? timeout_ms : INT32_MAX;

    (void) whole_seconds;
    snprintf(text, ADVISORY_TIMEOUT_SIZE, "%" PRId64, ms);
}

static const advisory_dialect postgresql_dialect = {
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
    .verdicts = postgresql_verdicts,
};

/* ---- The store ------------------------------------------------------------------------------ */

#ifdef LATCH_WITH_PGSQL
#define LIBRARY .library = "libpq " LATCH_LIBPQ_VERSION
#define OPEN_DRIVER latch_postgresql_open

static bool names_by_sha256(const latch_store_options *options, const sql_session *session)
{
    return options->runner == NULL
           && latch_postgresql_session_options(session)->digest == POSTGRESQL_SHA256;
}
#else
#define LIBRARY .missing_library = "libpq"
#define OPEN_DRIVER NULL

static bool names_by_sha256(const latch_store_options *options, const sql_session *session)
{
    (void) options;
    (void) session;
    return false;
}
#endif

static latch_status postgresql_open(latch_store *base, const latch_store_options *options,
                                    latch_error *error)
{
    advisory_store *store = (advisory_store *) base;
    latch_status status =
        latch_advisory_open(base, options, &postgresql_dialect, OPEN_DRIVER, error);

    if (status == LATCH_DONE) {
        store->by_sha256 = names_by_sha256(options, store->session);
    }
    return status;
}

const latch_store_class latch_postgresql_store =
    LATCH_ADVISORY_CLASS(postgresql_open, LATCH_SHARED_LOCKS, .name = "postgresql",
                         .title = "PostgreSQL", .schemes = LATCH_POSTGRESQL_SCHEMES, LIBRARY);
