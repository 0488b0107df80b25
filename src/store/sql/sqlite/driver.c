/*
 * Sessions with SQLite. There is no server: a statement is carried out when it is sent, and sent
 * again as long as another connection has locked the database, by a timer.
 */
#include "src/store/sql/sqlite/driver.h"

#include "src/store/sql/sqlite/database.h"

#include <stdio.h>
#include <string.h>

/* Pauses before a statement is sent again; the last one is the longest. */
static const int64_t pauses_ns[] = {1 * LATCH_NS_PER_MS, 2 * LATCH_NS_PER_MS, 5 * LATCH_NS_PER_MS,
                                    10 * LATCH_NS_PER_MS};

#define PAUSE_COUNT (sizeof(pauses_ns) / sizeof(*pauses_ns))

/* Options that a session shares with its clones, which may live longer. */
typedef struct sqlite_shared {
    sqlite_options options;
    _Atomic unsigned users;
} sqlite_shared;

typedef struct sqlite_session {
    sql_session session;
    sqlite_shared *shared;
    sqlite_database database;
    struct sqlite_session *origin; /* of a clone: whose statement it may cancel */
    const sql_statement *sent;     /* NULL: none */
    unsigned attempts;             /* to carry it out */
    int64_t retry_ns;
    bool is_cancelled;
    sqlite_reply reply;
} sqlite_session;

static sqlite_session *sqlite_of(const sql_session *session)
{
    return (sqlite_session *) session;
}

/* ---- Connections ----------------------------------------------------------------------------- */

static int64_t next_session_number(void)
{
    static _Atomic int64_t last;

    return ++last;
}

static latch_status sqlite_connect(sql_session *session, latch_op *op, int64_t now_ns)
{
    sqlite_session *sqlite = sqlite_of(session);

    (void) now_ns;
    if (!latch_sqlite_database_open(&sqlite->database, &sqlite->reply)) {
        return latch_fail(op->error,
                          sqlite->reply.outcome == SQL_NO_MEMORY ? LATCH_ERROR_MEMORY
                                                                 : LATCH_ERROR_STORE,
                          sqlite->reply.sys_errno, "cannot open the SQLite database %s: %s",
                          session->address, sqlite->reply.trouble);
    }
    session->number = next_session_number();
    return LATCH_DONE;
}

static void sqlite_disconnect(sql_session *session)
{
    sqlite_of(session)->sent = NULL;
    latch_sqlite_database_close(&sqlite_of(session)->database);
}

static bool sqlite_is_alive(sql_session *session)
{
    sqlite_session *sqlite = sqlite_of(session);

    if (!latch_sqlite_database_is_moved(&sqlite->database)) {
        return true;
    }
    latch_sqlite_fail_moved(&sqlite->reply);
    snprintf(session->trouble, sizeof(session->trouble), "%s", sqlite->reply.trouble);
    return false;
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void attempt_statement(sqlite_session *sqlite)
{
    sql_session *session = &sqlite->session;
    unsigned pause = sqlite->attempts < PAUSE_COUNT ? sqlite->attempts : PAUSE_COUNT - 1;

    latch_sqlite_database_run(&sqlite->database, sqlite->sent, sqlite->attempts > 0,
                              &sqlite->reply);
    sqlite->attempts++;
    sqlite->retry_ns = latch_engine_now_ns(session->engine) + pauses_ns[pause];
}

static bool sqlite_send(sql_session *session, const sql_statement *statement)
{
    sqlite_session *sqlite = sqlite_of(session);

    sqlite->sent = statement;
    sqlite->attempts = 0;
    sqlite->is_cancelled = false;
    attempt_statement(sqlite);
    return true;
}

static sql_outcome end_statement(sqlite_session *sqlite, sql_outcome outcome)
{
    sql_session *session = &sqlite->session;

    sqlite->sent = NULL;
    if (outcome != SQL_ANSWERED) {
        session->trouble_code = sqlite->reply.code;
        snprintf(session->trouble, sizeof(session->trouble), "%s", sqlite->reply.trouble);
    }
    return outcome;
}

static sql_outcome sqlite_receive(sql_session *session, sql_result *result)
{
    sqlite_session *sqlite = sqlite_of(session);
    int64_t now_ns = latch_engine_now_ns(session->engine);

    if (sqlite->sent == NULL) {
        return SQL_ANSWERED; /* a clone, by which a statement was cancelled */
    }
    if (sqlite->reply.outcome == SQL_BUSY) {
        if (sqlite->is_cancelled) {
            return end_statement(sqlite, SQL_CANCELLED);
        }
        if (now_ns >= sqlite->retry_ns) {
            attempt_statement(sqlite);
        }
    }
    if (sqlite->reply.outcome == SQL_BUSY && now_ns < session->answer_ns) {
        return SQL_UNANSWERED;
    }
    *result = sqlite->reply.result;
    return end_statement(sqlite, sqlite->reply.outcome);
}

static void sqlite_want(const sql_session *session, latch_op *op)
{
    const sqlite_session *sqlite = sqlite_of(session);

    op->fd = -1;
    op->events = 0;
    op->wake_ns = sqlite->retry_ns < op->wake_ns ? sqlite->retry_ns : op->wake_ns;
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static void release_shared_options(latch_engine *engine, sqlite_shared *shared)
{
    if (--shared->users == 0) {
        latch_sqlite_options_free(engine, &shared->options);
        latch_free(engine, shared);
    }
}

static void sqlite_close_session(sql_session *session)
{
    latch_engine *engine = session->engine;

    latch_sqlite_database_destroy(&sqlite_of(session)->database);
    release_shared_options(engine, sqlite_of(session)->shared);
    latch_free(engine, session);
}

static sql_session *sqlite_clone(const sql_session *session);

static void sqlite_send_cancel(sql_session *clone, int64_t number)
{
    (void) number;
    sqlite_of(clone)->origin->is_cancelled = true;
}

static const sql_driver driver = {
    .connect = sqlite_connect,
    .disconnect = sqlite_disconnect,
    .send = sqlite_send,
    .receive = sqlite_receive,
    .want = sqlite_want,
    .is_alive = sqlite_is_alive,
    .clone = sqlite_clone,
    .clones_are_independent = true,
    .send_cancel = sqlite_send_cancel,
    .close = sqlite_close_session,
};

static sqlite_session *sqlite_make_session(latch_engine *engine, sqlite_shared *shared)
{
    sqlite_session *sqlite = latch_allocate(engine, sizeof(*sqlite));

    if (sqlite == NULL) {
        return NULL;
    }
    memset(sqlite, 0, sizeof(*sqlite));
    shared->users++;
    sqlite->shared = shared;
    sqlite->session = (sql_session){
        .driver = &driver,
        .engine = engine,
        .server = "SQLite",
        .address = shared->options.path,
        .identity = shared->options.identity,
        .command_timeout_ns = shared->options.command_timeout_ns,
        .connect_timeout_ns = shared->options.connect_timeout_ns,
        .longest_wait_ms = LATCH_NEVER,
    };
    latch_sqlite_database_init(&sqlite->database, engine, &shared->options);
    latch_sql_session_init(&sqlite->session);
    return sqlite;
}

static sql_session *sqlite_clone(const sql_session *session)
{
    sqlite_session *clone = sqlite_make_session(session->engine, sqlite_of(session)->shared);

    if (clone == NULL) {
        return NULL;
    }
    clone->origin = sqlite_of(session);
    return &clone->session;
}

static latch_status make_shared_options(latch_engine *engine, const latch_store_options *given,
                                        sqlite_shared **shared, latch_error *error)
{
    latch_status status;

    *shared = latch_allocate(engine, sizeof(**shared));
    if (*shared == NULL) {
        return latch_fail_memory(error);
    }
    (*shared)->users = 1;
    status = latch_sqlite_options_parse(engine, given, &(*shared)->options, error);
    if (status == LATCH_DONE) {
        status = latch_library_open(&latch_libsqlite3_library, error);
    }
    if (status != LATCH_DONE) {
        release_shared_options(engine, *shared);
    }
    return status;
}

latch_status latch_sqlite_open(latch_engine *engine, const latch_store_options *given,
                               sql_session **session, latch_error *error)
{
    sqlite_shared *shared;
    sqlite_session *opened;
    latch_status status = make_shared_options(engine, given, &shared, error);

    if (status != LATCH_DONE) {
        return status;
    }
    opened = sqlite_make_session(engine, shared);
    release_shared_options(engine, shared);
    if (opened == NULL) {
        return latch_fail_memory(error);
    }
    *session = &opened->session;
    return LATCH_DONE;
}
