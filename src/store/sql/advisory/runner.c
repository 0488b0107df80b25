/*
 * Driver of sessions that belong to the caller: a \PDO object, a Doctrine DBAL connection. send()
 * runs a statement to its reply. A wait is a sequence of short waits in the server, as the caller
 * has to handle signals in between. In a transaction there is no wait in the server, as the error
 * at its end would abort the transaction.
 */
#include "src/store/sql/advisory/advisory.h"

#include <stdio.h>
#include <string.h>

/* Longest wait of a statement: signals are not handled meanwhile. */
#define SLICE_MS 1000

typedef struct runner_session {
    advisory_session session;
    latch_sql_runner runner;
    unsigned generation; /* of the process that has it */
    advisory_outcome outcome;
    char value[ADVISORY_VALUE_MAX];
} runner_session;

static runner_session *runner_of(advisory_session *session)
{
    return (runner_session *) session;
}

static latch_status runner_connect(advisory_session *session, latch_op *op, int64_t now_ns)
{
    (void) now_ns;
    return runner_of(session)->generation == session->engine->generation
               ? LATCH_DONE
               : latch_fail(op->error, LATCH_ERROR_STORE, 0,
                            "the given connection is the parent process's: a forked child needs "
                            "one of its own");
}

static void runner_disconnect(advisory_session *session)
{
    runner_of(session)->outcome = ADVISORY_UNANSWERED;
}

static advisory_outcome runner_outcome_of(latch_status status)
{
    switch (status) {
        case LATCH_DONE:
            return ADVISORY_ANSWERED;
        case LATCH_CONFLICT:
            return ADVISORY_TIMED_OUT;
        case LATCH_ERROR_DEADLOCK:
            return ADVISORY_DEADLOCKED;
        case LATCH_ERROR_LOST:
            return ADVISORY_LOST;
        case LATCH_INTERRUPTED:
            return ADVISORY_UNKNOWN;
        default:
            return ADVISORY_REFUSED;
    }
}

static bool runner_send(advisory_session *session, const advisory_request *request)
{
    runner_session *runner = runner_of(session);
    advisory_request slice = *request;
    char text[ADVISORY_STATEMENT_MAX];
    latch_error error = {.message = ""};
    latch_status status;

    if (slice.timeout_ms > SLICE_MS) {
        slice.timeout_ms = SLICE_MS;
    }
    latch_advisory_write(session->dialect, &slice, text);
    status = runner->runner.run(runner->runner.context, text, runner->value, sizeof(runner->value),
                                &error);
    if (status == LATCH_ERROR_MEMORY) {
        return false;
    }
    runner->outcome = runner_outcome_of(status);
    if (runner->outcome == ADVISORY_REFUSED || runner->outcome == ADVISORY_LOST
        || runner->outcome == ADVISORY_UNKNOWN) {
        snprintf(session->trouble, sizeof(session->trouble), "%.*s",
                 (int) sizeof(session->trouble) - 1, error.message);
    }
    return true;
}

static advisory_outcome runner_receive(advisory_session *session, char value[ADVISORY_VALUE_MAX])
{
    runner_session *runner = runner_of(session);
    advisory_outcome outcome = runner->outcome;

    runner->outcome = ADVISORY_UNANSWERED;
    memcpy(value, runner->value, sizeof(runner->value));
    return outcome;
}

/* Never called: nothing is unanswered. */
static void runner_want(const advisory_session *session, latch_op *op)
{
    (void) session;
    (void) op;
}

static bool runner_is_alive(advisory_session *session)
{
    (void) session;
    return true;
}

static bool runner_can_wait(advisory_session *session)
{
    const latch_sql_runner *runner = &runner_of(session)->runner;

    return !session->dialect->ends_waits_by_error || !runner->is_in_transaction(runner->context);
}

static void runner_close(advisory_session *session)
{
    const latch_sql_runner *runner = &runner_of(session)->runner;

    runner->close(runner->context);
    latch_free(session->engine, session);
}

static const advisory_driver driver = {
    .connect = runner_connect,
    .disconnect = runner_disconnect,
    .send = runner_send,
    .receive = runner_receive,
    .want = runner_want,
    .is_alive = runner_is_alive,
    .can_wait = runner_can_wait,
    .close = runner_close,
};

latch_status latch_advisory_runner_open(latch_engine *engine, const latch_sql_runner *runner,
                                        const advisory_dialect *dialect, advisory_store *store,
                                        latch_error *error)
{
    runner_session *session = latch_allocate(engine, sizeof(*session));

    if (session == NULL) {
        return latch_fail_memory(error);
    }
    memset(session, 0, sizeof(*session));
    session->session = (advisory_session){
        .driver = &driver,
        .dialect = dialect,
        .engine = engine,
        .address = "the given connection",
        .command_timeout_ns = LATCH_NS_PER_S,
        .connect_timeout_ns = LATCH_NS_PER_S,
    };
    session->runner = *runner;
    session->generation = engine->generation;
    session->outcome = ADVISORY_UNANSWERED;
    latch_advisory_session_init(&session->session);
    store->session = &session->session;
    return LATCH_DONE;
}
