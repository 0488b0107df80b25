/*
 * A session with a database server: it carries out one statement at a time, in turn. That matters
 * where two operations meet in one session: a signal handler that locks or releases while the
 * script waits, members of a quorum, a lease that was dropped. A wait that others have to wait for
 * is cancelled, and asked for again by its owner.
 *
 * A wait is cancelled on a second session, the cancel session, which must be answered before
 * anything else is sent on the first: the cancel of one statement must not hit the next.
 */
#include "src/store/sql/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A cancel is repeated, as a server that has not read the statement yet ignores it. */
#define REPEAT_NS (100 * LATCH_NS_PER_MS)

void latch_sql_session_init(sql_session *session)
{
    session->stage = SQL_CLOSED;
    session->generation = session->engine->generation;
    session->age = 0;
    session->liveness = NULL;
    session->number = 0;
    session->is_sent = false;
    session->cancel = SQL_NO_CANCEL;
    session->cancel_session = NULL;
    session->trouble[0] = '\0';
    latch_list_init(&session->queue);
    latch_list_init(&session->postponed);
}

static sql_statement *first_of(const sql_session *session)
{
    return session->queue.next != &session->queue
               ? LATCH_CONTAINER(session->queue.next, sql_statement, link)
               : NULL;
}

bool latch_sql_session_is_idle(const sql_session *session)
{
    return first_of(session) == NULL;
}

/* ---- Outcomes ------------------------------------------------------------------------------- */

/* Dequeues the statement, for whose user this is the outcome. */
static void settle_statement(sql_statement *statement, sql_outcome outcome,
                             const sql_result *result)
{
    latch_list_remove(&statement->link);
    statement->is_queued = false;
    statement->class->settle(statement, outcome, result);
}

static void end_cancel(sql_session *session)
{
    if (session->cancel_session != NULL) {
        session->cancel_session->driver->close(session->cancel_session);
        session->cancel_session = NULL;
    }
    session->cancel = SQL_NO_CANCEL;
}

/* Disconnects without an error: users find their statements unanswered. */
static void session_disconnect(sql_session *session)
{
    latch_sql_session_disconnect(session);
    end_cancel(session);
    session->stage = SQL_CLOSED;
    session->is_sent = false;
    session->number = 0;
    session->age++;
}

static void enqueue_postponed(sql_session *session)
{
    while (session->postponed.next != &session->postponed) {
        latch_link *first = session->postponed.next;

        latch_list_remove(first);
        latch_list_append(&session->queue, first);
    }
}

void latch_sql_session_lose(sql_session *session, sql_outcome outcome, const char *trouble)
{
    if (trouble != session->trouble) {
        snprintf(session->trouble, sizeof(session->trouble), "%s", trouble);
    }
    session_disconnect(session);
    enqueue_postponed(session);
    while (first_of(session) != NULL) {
        settle_statement(first_of(session), outcome, NULL);
    }
}

void latch_sql_session_repeat(sql_session *session, sql_statement *statement)
{
    latch_list_append(session->queue.next, &statement->link);
    statement->is_queued = true;
}

void latch_sql_session_postpone(sql_session *session, sql_statement *statement)
{
    latch_list_append(&session->postponed, &statement->link);
    statement->is_queued = true;
}

static void session_settle(sql_session *session, sql_outcome outcome, const sql_result *result)
{
    session->is_sent = false;
    if (session->cancel != SQL_CANCEL_SENT) {
        end_cancel(session);
    }
    if (outcome == SQL_LOST || outcome == SQL_MOVED) {
        latch_sql_session_lose(session, outcome, session->trouble);
    } else {
        settle_statement(first_of(session), outcome, result);
    }
}

/* ---- Cancels -------------------------------------------------------------------------------- */

static void begin_cancel(sql_session *session, int64_t now_ns)
{
    session->cancel = SQL_CANCEL_WANTED;
    session->cancel_ns = now_ns + session->connect_timeout_ns;
    session->cancel_session = session->driver->clone(session);
    if (session->cancel_session != NULL) {
        session->cancel_session->connect_ns = session->cancel_ns;
    }
}

void latch_sql_session_cancel(sql_session *session, int64_t now_ns)
{
    if (session->cancel == SQL_NO_CANCEL) {
        first_of(session)->is_cancelled = true;
        begin_cancel(session, now_ns);
    }
}

static void send_cancel(sql_session *session, int64_t now_ns)
{
    session->driver->send_cancel(session->cancel_session, session->number);
    session->cancel = SQL_CANCEL_SENT;
    session->cancel_ns = now_ns + session->command_timeout_ns;
}

static latch_status await_cancel(sql_session *session, latch_op *op, int64_t now_ns)
{
    sql_result result;
    sql_outcome outcome =
        session->cancel_session->driver->receive(session->cancel_session, &result);

    if (outcome == SQL_UNANSWERED) {
        session->cancel_session->driver->want(session->cancel_session, op);
        return LATCH_WANT_IO;
    }
    end_cancel(session);
    if (outcome != SQL_ANSWERED) {
        return LATCH_ERROR_STORE;
    }
    if (session->is_sent) {
        session->cancel = SQL_CANCEL_DELIVERED;
        session->cancel_ns = now_ns + REPEAT_NS;
        if (session->answer_ns == LATCH_NEVER) {
            session->timeout_ns = session->command_timeout_ns;
            session->answer_ns = now_ns + session->timeout_ns;
        }
    }
    return LATCH_DONE;
}

/* Takes one step. On failure the session is closed: it would wait on, and what it is granted in the
 * end would never be released. */
static latch_status carry_cancel(sql_session *session, latch_op *op, int64_t now_ns)
{
    latch_status status;
    latch_error *error = op->error, ignored;

    op->error = &ignored;
    op->wake_ns = LATCH_NEVER;
    if (session->cancel_session == NULL || now_ns >= session->cancel_ns) {
        status = LATCH_ERROR_STORE;
    } else if (session->cancel == SQL_CANCEL_SENT) {
        status = await_cancel(session, op, now_ns);
    } else {
        status = session->cancel_session->driver->connect(session->cancel_session, op, now_ns);
        if (status == LATCH_DONE) {
            send_cancel(session, now_ns);
        }
    }
    op->error = error;
    if (latch_failed(status)) {
        latch_sql_session_lose(session, SQL_LOST,
                               "it does not answer, and a wait could not be cancelled");
        return LATCH_DONE;
    }
    if (op->wake_ns > session->cancel_ns) {
        op->wake_ns = session->cancel_ns;
    }
    return status;
}

/* ---- Statements ------------------------------------------------------------------------------ */

static latch_status session_connect(sql_session *session, latch_op *op, int64_t now_ns)
{
    latch_status status;

    if (session->stage == SQL_CLOSED) {
        session->stage = SQL_CONNECTING;
        session->trouble[0] = '\0'; /* the last session's */
        session->connect_ns = now_ns + session->connect_timeout_ns;
    }
    op->wake_ns = LATCH_NEVER;
    if (now_ns >= session->connect_ns) {
        status = latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                            "cannot connect to %s at %s within %g s", session->server,
                            session->address,
                            (double) session->connect_timeout_ns / (double) LATCH_NS_PER_S);
    } else {
        status = session->driver->connect(session, op, now_ns);
    }
    if (latch_failed(status)) {
        session_disconnect(session);
    } else if (status == LATCH_DONE) {
        session->stage = SQL_CONNECTED;
    } else if (op->wake_ns > session->connect_ns) {
        op->wake_ns = session->connect_ns;
    }
    return status;
}

static latch_status session_send(sql_session *session, latch_op *op, int64_t now_ns)
{
    const sql_statement *statement = first_of(session);

    if (!session->driver->send(session, statement)) {
        if (statement->is_compensation) {
            latch_sql_session_lose(session, SQL_LOST,
                                   "a wait could not be undone for want of memory");
            return LATCH_DONE;
        }
        return latch_fail_memory(op->error);
    }
    session->is_sent = true;
    session->timeout_ns = statement->timeout_ns > 0 ? statement->timeout_ns
                                                    : session->command_timeout_ns;
    session->answer_ns = statement->is_unbounded ? LATCH_NEVER : now_ns + session->timeout_ns;
    return LATCH_DONE;
}

/* The first statement is in flight. */
static latch_status session_await(sql_session *session, latch_op *op, int64_t now_ns)
{
    const sql_statement *first = first_of(session);

    if (now_ns >= session->answer_ns) {
        snprintf(session->trouble, sizeof(session->trouble), "it did not answer within %g s",
                 (double) session->timeout_ns / (double) LATCH_NS_PER_S);
        latch_sql_session_lose(session, SQL_LOST, session->trouble);
        return LATCH_DONE;
    }
    if (session->cancel == SQL_NO_CANCEL && first->is_wait && first->link.next != &session->queue) {
        latch_sql_session_cancel(session, now_ns);
        return LATCH_DONE;
    }
    op->wake_ns = session->answer_ns;
    if (session->cancel == SQL_CANCEL_DELIVERED) {
        if (now_ns >= session->cancel_ns) {
            begin_cancel(session, now_ns);
            return LATCH_DONE;
        }
        op->wake_ns = session->cancel_ns < op->wake_ns ? session->cancel_ns : op->wake_ns;
    }
    session->driver->want(session, op);
    return op->fd >= 0 ? LATCH_WANT_IO : LATCH_WANT_TIMER;
}

/* Takes the next step; LATCH_DONE: nothing is left to do. */
static latch_status session_advance(sql_session *session, latch_op *op, int64_t now_ns)
{
    sql_result result;
    sql_outcome outcome;

    if (session->is_sent) {
        outcome = session->driver->receive(session, &result);
        if (outcome != SQL_UNANSWERED) {
            session_settle(session, outcome, &result);
            return LATCH_DONE;
        }
    }
    if (session->cancel == SQL_CANCEL_WANTED || session->cancel == SQL_CANCEL_SENT) {
        return carry_cancel(session, op, now_ns);
    }
    if (session->is_sent) {
        return session_await(session, op, now_ns);
    }
    return session->stage == SQL_CONNECTED ? session_send(session, op, now_ns)
                                           : session_connect(session, op, now_ns);
}

void latch_sql_session_abandon_in_child(sql_session *session)
{
    if (session->generation != session->engine->generation) {
        latch_sql_session_lose(session, SQL_LOST, "it is the parent process's");
        session->generation = session->engine->generation;
    }
}

void latch_sql_session_enqueue(sql_session *session, sql_statement *statement, int64_t now_ns)
{
    if (session->stage == SQL_CONNECTING && now_ns >= session->connect_ns) {
        session_disconnect(session); /* its requester gave up long ago */
    }
    enqueue_postponed(session);
    statement->is_cancelled = false;
    statement->is_queued = true;
    latch_list_append(&session->queue, &statement->link);
}

bool latch_sql_session_dequeue(sql_session *session, sql_statement *statement)
{
    if (first_of(session) == statement && (session->is_sent || statement->is_compensation)) {
        return false;
    }
    settle_statement(statement, SQL_UNANSWERED, NULL);
    return true;
}

latch_status latch_sql_session_drive(sql_session *session, sql_statement *statement, latch_op *op,
                                     int64_t now_ns)
{
    latch_status status;

    while (statement->is_queued || session->cancel == SQL_CANCEL_SENT) {
        status = session_advance(session, op, now_ns);
        if (latch_failed(status) && statement->is_queued) {
            latch_sql_session_dequeue(session, statement);
        }
        if (status != LATCH_DONE) {
            return status;
        }
    }
    return LATCH_DONE;
}

void latch_sql_session_flush(sql_session *session, int64_t now_ns)
{
    latch_error ignored;
    latch_op op = {.error = &ignored};

    while (session->stage == SQL_CONNECTED && first_of(session) != NULL
           && session_advance(session, &op, now_ns) == LATCH_DONE) {
    }
}

bool latch_sql_session_is_alive(sql_session *session)
{
    if (session->generation != session->engine->generation || session->stage != SQL_CONNECTED) {
        return false;
    }
    if (session->is_sent) {
        /* The reply to a detached statement may have come, or the end of the session. */
        latch_sql_session_flush(session, latch_engine_now_ns(session->engine));
        if (session->is_sent || session->stage != SQL_CONNECTED) {
            return session->is_sent;
        }
    }
    if (!session->driver->is_alive(session)) {
        latch_sql_session_lose(session, SQL_LOST, session->trouble);
        return false;
    }
    return true;
}

void latch_sql_session_end(sql_session *session)
{
    latch_sql_session_abandon_in_child(session);
    enqueue_postponed(session);
    latch_sql_session_flush(session, latch_engine_now_ns(session->engine));
    latch_sql_session_lose(session, SQL_LOST, "it was closed");
    session->driver->close(session);
}
