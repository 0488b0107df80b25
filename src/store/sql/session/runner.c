/*
 * Driver of sessions that belong to the caller: a \PDO object, a Doctrine DBAL connection. send()
 * runs a statement to its reply, and does not wait for long in the server, as the caller has to
 * handle signals in between.
 */
#include "src/store/sql/session/session.h"

#include <stdio.h>
#include <string.h>

/* Longest wait of a statement: signals are not handled meanwhile. */
#define LONGEST_WAIT_MS 1000

typedef struct runner_session {
    sql_session session;
    latch_sql_runner runner;
    unsigned generation; /* of the process that has it */
    sql_outcome outcome;
    sql_result result;
} runner_session;

static runner_session *runner_of(sql_session *session)
{
    return (runner_session *) session;
}

static latch_status runner_connect(sql_session *session, latch_op *op, int64_t now_ns)
{
    (void) now_ns;
    return runner_of(session)->generation == session->engine->generation
               ? LATCH_DONE
               : latch_fail(op->error, LATCH_ERROR_STORE, 0,
                            "the given connection is the parent process's: a forked child needs "
                            "one of its own");
}

static void runner_disconnect(sql_session *session)
{
    runner_of(session)->outcome = SQL_UNANSWERED;
}

static sql_outcome runner_outcome_of(latch_status status)
{
    switch (status) {
        case LATCH_DONE:
            return SQL_ANSWERED;
        case LATCH_CONFLICT:
            return SQL_TIMED_OUT;
        case LATCH_ERROR_DEADLOCK:
            return SQL_DEADLOCKED;
        case LATCH_ERROR_LOST:
            return SQL_LOST;
        case LATCH_INTERRUPTED:
            return SQL_UNKNOWN;
        default:
            return SQL_REFUSED;
    }
}

static sql_outcome outcome_of_refusal(latch_sql_refusal refusal)
{
    switch (refusal) {
        case LATCH_SQL_CLASHED:
            return SQL_CLASHED;
        case LATCH_SQL_BUSY:
            return SQL_BUSY;
        case LATCH_SQL_NO_TABLE:
            return SQL_NO_TABLE;
        case LATCH_SQL_REFUSED:
            break;
    }
    return SQL_REFUSED;
}

/* Runs a statement that returns no rows. */
static latch_status runner_execute(runner_session *runner, const char *text, latch_error *error)
{
    latch_sql_change change = {.refusal = LATCH_SQL_REFUSED};
    latch_status status = runner->runner.execute(runner->runner.context, text, &change, error);

    runner->result.affected = change.affected;
    runner->result.insert_id = change.insert_id;
    runner->outcome = status == LATCH_ERROR_STORE ? outcome_of_refusal(change.refusal)
                                                  : runner_outcome_of(status);
    return status;
}

static latch_status runner_query(runner_session *runner, const char *text, latch_error *error)
{
    latch_status status = runner->runner.run(runner->runner.context, text, runner->result.value,
                                             sizeof(runner->result.value), error);

    runner->outcome = runner_outcome_of(status);
    return status;
}

static bool runner_send(sql_session *session, const sql_statement *statement)
{
    runner_session *runner = runner_of(session);
    char text[SQL_TEXT_MAX];
    latch_error error = {.message = ""};
    latch_status status;

    statement->class->write(statement, text);
    runner->result = (sql_result){.value = ""};
    status = statement->returns_nothing ? runner_execute(runner, text, &error)
                                        : runner_query(runner, text, &error);
    if (status == LATCH_ERROR_MEMORY) {
        runner->outcome = SQL_UNANSWERED;
        return false;
    }
    if (latch_failed(status) || status == LATCH_INTERRUPTED) {
        snprintf(session->trouble, sizeof(session->trouble), "%.*s",
                 (int) sizeof(session->trouble) - 1, error.message);
    }
    return true;
}

static sql_outcome runner_receive(sql_session *session, sql_result *result)
{
    runner_session *runner = runner_of(session);
    sql_outcome outcome = runner->outcome;

    runner->outcome = SQL_UNANSWERED;
    *result = runner->result;
    return outcome;
}

/* Never called: nothing is unanswered. */
static void runner_want(const sql_session *session, latch_op *op)
{
    (void) session;
    (void) op;
}

static bool runner_is_alive(sql_session *session)
{
    (void) session;
    return true;
}

static bool runner_is_in_transaction(sql_session *session)
{
    const latch_sql_runner *runner = &runner_of(session)->runner;

    return runner->is_in_transaction(runner->context);
}

static void runner_close(sql_session *session)
{
    const latch_sql_runner *runner = &runner_of(session)->runner;

    runner->close(runner->context);
    latch_free(session->engine, session);
}

static const sql_driver driver = {
    .connect = runner_connect,
    .disconnect = runner_disconnect,
    .send = runner_send,
    .receive = runner_receive,
    .want = runner_want,
    .is_alive = runner_is_alive,
    .is_in_transaction = runner_is_in_transaction,
    .close = runner_close,
};

latch_status latch_sql_runner_open(latch_engine *engine, const latch_sql_runner *runner,
                                   const char *server, sql_session **session, latch_error *error)
{
    runner_session *opened = latch_allocate(engine, sizeof(*opened));

    if (opened == NULL) {
        return latch_fail_memory(error);
    }
    memset(opened, 0, sizeof(*opened));
    opened->session = (sql_session){
        .driver = &driver,
        .engine = engine,
        .server = server,
        .address = "the given connection",
        .command_timeout_ns = LATCH_NS_PER_S,
        .connect_timeout_ns = LATCH_NS_PER_S,
        .longest_wait_ms = LONGEST_WAIT_MS,
    };
    opened->runner = *runner;
    opened->generation = engine->generation;
    opened->outcome = SQL_UNANSWERED;
    latch_sql_session_init(&opened->session);
    *session = &opened->session;
    return LATCH_DONE;
}
