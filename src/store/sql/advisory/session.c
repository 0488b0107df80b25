/*
 * A session with a database server: it carries out one request at a time, in turn. That matters
 * where two operations meet in one session: a signal handler that locks or releases while the
 * script waits, members of a quorum, a lease that was dropped. A wait that others have to wait for
 * is cancelled, and asked for again by its owner.
 *
 * A wait is cancelled on a second session, the cancel session, which must be answered before
 * anything else is sent on the first: the cancel of one statement must not hit the next.
 */
#include "src/store/sql/advisory/advisory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cancel is repeated, as a server that has not read the statement yet ignores it. */
#define REPEAT_NS (100 * LATCH_NS_PER_MS)

void latch_advisory_session_init(advisory_session *session)
{
    session->stage = ADVISORY_CLOSED;
    session->generation = session->engine->generation;
    session->age = 0;
    session->liveness = NULL;
    session->number = 0;
    session->is_sent = false;
    session->cancel = ADVISORY_NO_CANCEL;
    session->cancel_session = NULL;
    session->trouble[0] = '\0';
    latch_list_init(&session->queue);
    latch_list_init(&session->pending_releases);
}

static advisory_hold *first_of(const advisory_session *session)
{
    return session->queue.next != &session->queue
               ? LATCH_CONTAINER(session->queue.next, advisory_hold, link)
               : NULL;
}

static bool is_wait(const advisory_hold *hold)
{
    return hold->request.statement == ADVISORY_WAIT
           || hold->request.statement == ADVISORY_WAIT_SHARED
           || hold->request.statement == ADVISORY_WAIT_TO_PROMOTE;
}

static bool is_undo(const advisory_hold *hold)
{
    return hold->request.statement >= ADVISORY_UNDO
           && hold->request.statement <= ADVISORY_UNDO_PROMOTION;
}

/* ---- Answers -------------------------------------------------------------------------------- */

static void end_cancel(advisory_session *session)
{
    if (session->cancel_session != NULL) {
        session->cancel_session->driver->close(session->cancel_session);
        session->cancel_session = NULL;
    }
    session->cancel = ADVISORY_NO_CANCEL;
}

/* Disconnects without an error: requesters find their requests unanswered. */
static void session_disconnect(advisory_session *session)
{
    latch_advisory_session_disconnect(session);
    end_cancel(session);
    session->stage = ADVISORY_CLOSED;
    session->is_sent = false;
    session->number = 0;
    session->age++;
}

static void enqueue_pending_releases(advisory_session *session)
{
    while (session->pending_releases.next != &session->pending_releases) {
        latch_link *pending = session->pending_releases.next;

        latch_list_remove(pending);
        latch_list_append(&session->queue, pending);
    }
}

static void session_lose(advisory_session *session, advisory_outcome outcome, const char *trouble)
{
    if (trouble != session->trouble) {
        snprintf(session->trouble, sizeof(session->trouble), "%s", trouble);
    }
    session_disconnect(session);
    enqueue_pending_releases(session);
    while (first_of(session) != NULL) {
        latch_advisory_hold_end_request(first_of(session), outcome);
    }
}

/* A release that is refused would leave a lock in the session. Its end frees it: not a runner's,
 * which is not ours to end. In a failed transaction it refuses all statements: a release without a
 * caller becomes a pending release then. */
static bool is_stuck(const advisory_session *session, const advisory_hold *hold)
{
    return session->driver->clone != NULL && hold->request.statement >= ADVISORY_RELEASE
           && hold->request.statement <= ADVISORY_UNDO_PROMOTION;
}

/* The statement that undoes the request, if that may have been granted a lock; else the request
 * itself. The server does not tell how often a lock is shared: where another lease has it, too,
 * nothing is undone. */
static advisory_statement session_undoing(const advisory_hold *hold)
{
    advisory_statement statement = hold->request.statement;

    if (statement >= ADVISORY_DEMOTE || latch_advisory_hold_conflicts(hold, LATCH_EXCLUSIVE)) {
        return statement;
    }
    return statement == ADVISORY_TRY_TO_PROMOTE || statement == ADVISORY_POLL_TO_PROMOTE
                   || statement == ADVISORY_WAIT_TO_PROMOTE
               ? ADVISORY_UNDO_PROMOTION
           : statement == ADVISORY_TRY_SHARED || statement == ADVISORY_WAIT_SHARED
               ? ADVISORY_UNDO_SHARED
               : ADVISORY_UNDO;
}

/*
 * A lock of a session may be granted at the very moment at which its statement ends by an error,
 * and is held then: so it is given back, whether there is one or not, before the session does
 * anything else. False when there is nothing to be undone.
 * https://github.com/postgres/postgres/blob/master/src/backend/storage/lmgr/proc.c,
 * LockErrorCleanup
 */
static bool session_undo(advisory_hold *hold, advisory_outcome failure)
{
    advisory_statement statement = session_undoing(hold);

    if (statement == hold->request.statement) {
        return false;
    }
    hold->failure = failure;
    hold->request.statement = statement;
    return true;
}

/* The session goes on. */
static void handle_failed_request(advisory_session *session, advisory_hold *hold,
                                  advisory_outcome outcome)
{
    bool stuck = is_stuck(session, hold);

    if (hold->is_cancelled) { /* by us: it was given up, or another operation needed the session */
        outcome = ADVISORY_TIMED_OUT;
    }
    if (outcome != ADVISORY_UNKNOWN && session_undo(hold, outcome)) {
        return;
    }
    if (outcome != ADVISORY_UNKNOWN && hold->lease == NULL && !stuck) {
        latch_list_remove(&hold->link);
        latch_list_append(&session->pending_releases, &hold->link);
        return;
    }
    latch_advisory_hold_end_request(hold, is_undo(hold) ? hold->failure
                                          : stuck       ? ADVISORY_LOST
                                                        : outcome);
    if (stuck) {
        session_lose(session, ADVISORY_LOST, session->trouble);
    }
}

/* "123x,456s" */
static bool report_holders(const advisory_session *session, advisory_hold *hold, const char *value)
{
    latch_mode mode = *value == ' '                ? LATCH_FREE
                      : strchr(value, 's') != NULL ? LATCH_SHARED
                                                   : LATCH_EXCLUSIVE;
    latch_lock_report *report =
        latch_lock_reports_add(session->engine, hold->reports, hold->request.key, mode);
    bool is_recorded = report != NULL;

    while (is_recorded && *value != ' ' && *value != '\0') {
        char *end;
        int64_t number = strtoll(value, &end, 10);

        if (end == value || (*end != 'x' && *end != 's')) {
            break; /* the reply was truncated, or makes no sense */
        }
        is_recorded = latch_lock_report_add_holder(session->engine, report, number);
        value = end + strspn(end, "xs,");
    }
    return is_recorded;
}

static void apply_value(advisory_session *session, advisory_hold *hold, const char *value)
{
    const char *number = strrchr(value, ' ');

    if (hold->request.statement == ADVISORY_HOLDERS) {
        if (!report_holders(session, hold, value)) {
            latch_advisory_hold_end_request(hold, ADVISORY_NO_MEMORY);
            return;
        }
    } else if (*value == '\0') {
        snprintf(session->trouble, sizeof(session->trouble), "its answer was NULL");
        handle_failed_request(session, hold, ADVISORY_REFUSED);
        return;
    } else if (*value == '2') {
        session_lose(session, ADVISORY_MOVED, "another session answered");
        return;
    }
    if (session->number == 0 && number != NULL) {
        session->number = strtoll(number, NULL, 10);
    }
    hold->verdict = *value;
    latch_advisory_hold_end_request(hold, is_undo(hold) ? hold->failure : ADVISORY_ANSWERED);
}

static void session_settle(advisory_session *session, advisory_outcome outcome, const char *value)
{
    advisory_hold *hold = first_of(session);

    session->is_sent = false;
    if (session->cancel != ADVISORY_CANCEL_SENT) {
        end_cancel(session);
    }
    if (outcome == ADVISORY_ANSWERED) {
        apply_value(session, hold, value);
    } else if (outcome == ADVISORY_LOST || outcome == ADVISORY_MOVED) {
        session_lose(session, outcome, session->trouble);
    } else {
        handle_failed_request(session, hold, outcome);
    }
}

/* ---- Cancels -------------------------------------------------------------------------------- */

static void begin_cancel(advisory_session *session, int64_t now_ns)
{
    session->cancel = ADVISORY_CANCEL_WANTED;
    session->cancel_ns = now_ns + session->connect_timeout_ns;
    session->cancel_session = session->driver->clone(session);
    if (session->cancel_session != NULL) {
        session->cancel_session->connect_ns = session->cancel_ns;
    }
}

void latch_advisory_session_cancel(advisory_session *session, int64_t now_ns)
{
    if (session->cancel == ADVISORY_NO_CANCEL) {
        first_of(session)->is_cancelled = true;
        begin_cancel(session, now_ns);
    }
}

void latch_advisory_session_abort(advisory_session *session)
{
    session_lose(session, ADVISORY_LOST, "it does not answer, nor does it end a wait");
}

static latch_status send_cancel(advisory_session *session, int64_t now_ns)
{
    advisory_request request = {.statement = ADVISORY_CANCEL};

    snprintf(request.key, sizeof(request.key), "%" PRId64, session->number);
    if (!session->cancel_session->driver->send(session->cancel_session, &request)) {
        return LATCH_ERROR_MEMORY;
    }
    session->cancel = ADVISORY_CANCEL_SENT;
    session->cancel_ns = now_ns + session->command_timeout_ns;
    return LATCH_DONE;
}

static latch_status await_cancel(advisory_session *session, latch_op *op, int64_t now_ns)
{
    char value[ADVISORY_VALUE_MAX];
    advisory_outcome outcome =
        session->cancel_session->driver->receive(session->cancel_session, value);

    if (outcome == ADVISORY_UNANSWERED) {
        session->cancel_session->driver->want(session->cancel_session, op);
        return LATCH_WANT_IO;
    }
    end_cancel(session);
    if (outcome != ADVISORY_ANSWERED) {
        return LATCH_ERROR_STORE;
    }
    if (session->is_sent) {
        session->cancel = ADVISORY_CANCEL_DELIVERED;
        session->cancel_ns = now_ns + REPEAT_NS;
        if (session->answer_ns == LATCH_NEVER) {
            session->answer_ns = now_ns + session->command_timeout_ns;
        }
    }
    return LATCH_DONE;
}

/* Takes one step. On failure the session is closed: it would wait on, and a lock that it is granted
 * would never be released. */
static latch_status carry_cancel(advisory_session *session, latch_op *op, int64_t now_ns)
{
    latch_status status;
    latch_error *error = op->error, ignored;

    op->error = &ignored;
    op->wake_ns = LATCH_NEVER;
    if (session->cancel_session == NULL || now_ns >= session->cancel_ns) {
        status = LATCH_ERROR_STORE;
    } else if (session->cancel == ADVISORY_CANCEL_SENT) {
        status = await_cancel(session, op, now_ns);
    } else {
        status = session->cancel_session->driver->connect(session->cancel_session, op, now_ns);
        if (status == LATCH_DONE) {
            status = send_cancel(session, now_ns);
        }
    }
    op->error = error;
    if (latch_failed(status)) {
        session_lose(session, ADVISORY_LOST,
                     "it does not answer, and a wait could not be cancelled");
        return LATCH_DONE;
    }
    if (op->wake_ns > session->cancel_ns) {
        op->wake_ns = session->cancel_ns;
    }
    return status;
}

/* ---- Orders --------------------------------------------------------------------------------- */

static latch_status session_connect(advisory_session *session, latch_op *op, int64_t now_ns)
{
    latch_status status;

    if (session->stage == ADVISORY_CLOSED) {
        session->stage = ADVISORY_CONNECTING;
        session->trouble[0] = '\0'; /* the last session's */
        session->connect_ns = now_ns + session->connect_timeout_ns;
    }
    op->wake_ns = LATCH_NEVER;
    if (now_ns >= session->connect_ns) {
        status = latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                            "cannot connect to %s at %s within %g s", session->dialect->server,
                            session->address,
                            (double) session->connect_timeout_ns / (double) LATCH_NS_PER_S);
    } else {
        status = session->driver->connect(session, op, now_ns);
    }
    if (latch_failed(status)) {
        session_disconnect(session);
    } else if (status == LATCH_DONE) {
        session->stage = ADVISORY_CONNECTED;
    } else if (op->wake_ns > session->connect_ns) {
        op->wake_ns = session->connect_ns;
    }
    return status;
}

static latch_status session_send(advisory_session *session, latch_op *op, int64_t now_ns)
{
    advisory_hold *hold = first_of(session);

    hold->request.session = session->number;
    if (!session->driver->send(session, &hold->request)) {
        if (is_undo(hold)) {
            session_lose(session, ADVISORY_LOST, "a wait could not be undone for want of memory");
            return LATCH_DONE;
        }
        return latch_fail_memory(op->error);
    }
    session->is_sent = true;
    session->answer_ns = is_wait(hold) && hold->request.timeout_ms > ADVISORY_PROMPTLY_MS
                             ? LATCH_NEVER
                             : now_ns + session->command_timeout_ns;
    return LATCH_DONE;
}

/* The first request is in flight. */
static latch_status session_await(advisory_session *session, latch_op *op, int64_t now_ns)
{
    const advisory_hold *first = first_of(session);

    if (now_ns >= session->answer_ns) {
        snprintf(session->trouble, sizeof(session->trouble), "it did not answer within %g s",
                 (double) session->command_timeout_ns / (double) LATCH_NS_PER_S);
        session_lose(session, ADVISORY_LOST, session->trouble);
        return LATCH_DONE;
    }
    if (session->cancel == ADVISORY_NO_CANCEL && is_wait(first)
        && first->link.next != &session->queue) {
        latch_advisory_session_cancel(session, now_ns);
        return LATCH_DONE;
    }
    op->wake_ns = session->answer_ns;
    if (session->cancel == ADVISORY_CANCEL_DELIVERED) {
        if (now_ns >= session->cancel_ns) {
            begin_cancel(session, now_ns);
            return LATCH_DONE;
        }
        op->wake_ns = session->cancel_ns < op->wake_ns ? session->cancel_ns : op->wake_ns;
    }
    session->driver->want(session, op);
    return LATCH_WANT_IO;
}

/* Takes the next step; LATCH_DONE: nothing is left to do. */
static latch_status session_advance(advisory_session *session, latch_op *op, int64_t now_ns)
{
    char value[ADVISORY_VALUE_MAX];
    advisory_outcome outcome;

    if (session->is_sent) {
        outcome = session->driver->receive(session, value);
        if (outcome != ADVISORY_UNANSWERED) {
            session_settle(session, outcome, value);
            return LATCH_DONE;
        }
    }
    if (session->cancel == ADVISORY_CANCEL_WANTED || session->cancel == ADVISORY_CANCEL_SENT) {
        return carry_cancel(session, op, now_ns);
    }
    if (session->is_sent) {
        return session_await(session, op, now_ns);
    }
    return session->stage == ADVISORY_CONNECTED ? session_send(session, op, now_ns)
                                                : session_connect(session, op, now_ns);
}

void latch_advisory_session_abandon_in_child(advisory_session *session)
{
    if (session->generation != session->engine->generation) {
        session_lose(session, ADVISORY_LOST, "it is the parent process's");
        session->generation = session->engine->generation;
    }
}

void latch_advisory_session_enqueue(advisory_session *session, advisory_hold *hold, int64_t now_ns)
{
    if (session->stage == ADVISORY_CONNECTING && now_ns >= session->connect_ns) {
        session_disconnect(session); /* its requester gave up long ago */
    }
    enqueue_pending_releases(session);
    hold->outcome = ADVISORY_UNANSWERED;
    hold->is_cancelled = false;
    hold->is_queued = true;
    latch_list_append(&session->queue, &hold->link);
}

bool latch_advisory_session_dequeue(advisory_session *session, advisory_hold *hold)
{
    if (first_of(session) == hold && (session->is_sent || is_undo(hold))) {
        return false;
    }
    latch_advisory_hold_end_request(hold, ADVISORY_UNANSWERED);
    return true;
}

latch_status latch_advisory_session_drive(advisory_session *session, advisory_hold *hold,
                                          latch_op *op, int64_t now_ns)
{
    latch_status status;

    while (hold->is_queued || session->cancel == ADVISORY_CANCEL_SENT) {
        status = session_advance(session, op, now_ns);
        if (latch_failed(status) && hold->is_queued) {
            latch_advisory_session_dequeue(session, hold);
        }
        if (status != LATCH_DONE) {
            return status;
        }
    }
    return LATCH_DONE;
}

void latch_advisory_session_flush(advisory_session *session, int64_t now_ns)
{
    latch_error ignored;
    latch_op op = {.error = &ignored};

    while (session->stage == ADVISORY_CONNECTED && first_of(session) != NULL
           && session_advance(session, &op, now_ns) == LATCH_DONE) {
    }
}

bool latch_advisory_session_is_alive(advisory_session *session)
{
    if (session->generation != session->engine->generation
        || session->stage != ADVISORY_CONNECTED) {
        return false;
    }
    if (session->is_sent) {
        /* The reply to a detached release may have come, or the end of the session. */
        latch_advisory_session_flush(session, latch_engine_now_ns(session->engine));
        if (session->is_sent || session->stage != ADVISORY_CONNECTED) {
            return session->is_sent;
        }
    }
    if (!session->driver->is_alive(session)) {
        session_lose(session, ADVISORY_LOST, session->trouble);
        return false;
    }
    return true;
}

void latch_advisory_session_end(advisory_session *session)
{
    latch_advisory_session_abandon_in_child(session);
    enqueue_pending_releases(session);
    latch_advisory_session_flush(session, latch_engine_now_ns(session->engine));
    session_lose(session, ADVISORY_LOST, "it was closed");
    session->driver->close(session);
}
