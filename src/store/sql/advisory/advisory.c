/*
 * Advisory locks of the stores "postgresql" and "mysql": the server holds them for a session. There
 * is no TTL and no token: what the session holds is held until it is released or the session ends,
 * by the death of the process, an administrator, a restart of the server. That is noticed by the
 * next request at the latest.
 *
 * All statements ask for a state or can be undone by the end of the session, so that what was asked
 * on a session that is lost is simply asked again on a new one, once for a try, and for a wait as
 * long as a connection may take to come back.
 */
#include "src/store/sql/advisory/advisory.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Time in which the server must end a wait by its own time-out. */
#define GRACE_NS (250 * LATCH_NS_PER_MS)
/* Time after which a wait past its deadline is ended with its session, if that holds no lock. */
#define GIVE_UP_NS (3 * LATCH_NS_PER_S)
/* Pause between two attempts to reconnect during a wait. */
#define PAUSE_NS (100 * LATCH_NS_PER_MS)
/* Time in which a rival promotion that hardly waits has ended. */
#define RIVAL_NS (20 * LATCH_NS_PER_MS)

/* Of op->flags. */
enum { HELD_BEFORE = 1, RETRIED = 2, WAITED = 4, HAD_RIVAL = 8 };

/* ---- Opening -------------------------------------------------------------------------------- */

void latch_advisory_close(latch_store *base)
{
    advisory_store *store = (advisory_store *) base;

    latch_sql_session_end(store->session);
    latch_hash_end(&store->registry);
}

latch_status latch_advisory_open(latch_store *base, const latch_store_options *options,
                                 const advisory_dialect *dialect, sql_opener *open_driver,
                                 latch_error *error)
{
    advisory_store *store = (advisory_store *) base;
    const char *missing = base->class->info.missing_library;
    latch_status status;

    if (options->runner != NULL) {
        status = latch_sql_runner_open(base->engine, options->runner, dialect->server,
                                       &store->session, error);
    } else if (missing != NULL) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "this build of Latch has no %s: build it again where %s's development "
                          "package and pkg-config are installed",
                          missing, missing);
    } else {
        status = open_driver(base->engine, options, &store->session, error);
    }
    if (status == LATCH_DONE) {
        store->dialect = dialect;
        store->session->templates = &dialect->templates;
        status = latch_hash_init(&store->registry, base->engine, error);
        if (status != LATCH_DONE) {
            latch_advisory_close(base);
        }
    }
    return status;
}

const char *latch_advisory_identity(const latch_store *base)
{
    return ((const advisory_store *) base)->session->identity;
}

/* ---- What a request asks for ---------------------------------------------------------------- */

static sql_session *session_of(const latch_op *op)
{
    return latch_advisory_store_of(op->lease)->session;
}

/* Records that the lock has another holder. */
static latch_status record_conflict(latch_op *op)
{
    op->contended = true;
    return LATCH_CONFLICT;
}

/* May its statement wait in the server? An error that ends the wait would abort the transaction of
 * a given connection. */
static bool can_wait(const advisory_store *store)
{
    const sql_driver *driver = store->session->driver;

    return !store->dialect->ends_waits_by_error || driver->is_in_transaction == NULL
           || !driver->is_in_transaction(store->session);
}

static advisory_action to_acquire(const latch_op *op, const advisory_hold *hold)
{
    bool may_wait = can_wait(hold->store);
    bool shared = op->request.kind == LATCH_ACQUIRE_SHARED;

    if (latch_advisory_hold_is_live(hold)) {
        if (hold->mode == (shared ? LATCH_SHARED : LATCH_EXCLUSIVE)) {
            return ADVISORY_PROBE;
        }
        return shared             ? ADVISORY_DEMOTE
               : !may_wait        ? ADVISORY_POLL_TO_PROMOTE
               : op->request.wait ? ADVISORY_WAIT_TO_PROMOTE
                                  : ADVISORY_TRY_TO_PROMOTE;
    }
    if (op->request.wait && may_wait) {
        return shared ? ADVISORY_WAIT_SHARED : ADVISORY_WAIT;
    }
    return shared ? ADVISORY_TRY_SHARED : ADVISORY_TRY;
}

static int64_t timeout_of(const latch_op *op, int64_t now_ns)
{
    if (op->request.deadline_ns == LATCH_NEVER) {
        return LATCH_NEVER;
    }
    return now_ns < op->request.deadline_ns
               ? (op->request.deadline_ns - now_ns + LATCH_NS_PER_MS - 1) / LATCH_NS_PER_MS
               : ADVISORY_PROMPTLY_MS;
}

static latch_status prepare_acquire(latch_op *op, advisory_hold *hold, int64_t now_ns)
{
    latch_mode mode = op->request.kind == LATCH_ACQUIRE ? LATCH_EXCLUSIVE : LATCH_SHARED;

    if (latch_advisory_hold_conflicts(hold, mode)) {
        /* A lost session took its holds with it, and the loss may not have been noticed yet. */
        latch_sql_session_is_alive(hold->store->session);
    }
    if ((op->flags & HELD_BEFORE) != 0 && !latch_advisory_hold_is_live(hold)) {
        return latch_advisory_fail_held(op);
    }
    if (latch_advisory_hold_conflicts(hold, mode)) {
        return op->request.wait && op->request.deadline_ns == LATCH_NEVER
                   ? latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                                "the lock is held by this very thread, through another key")
                   : record_conflict(op);
    }
    latch_advisory_hold_set_action(hold, to_acquire(op, hold), timeout_of(op, now_ns));
    hold->request.is_unknown = !op->contended && op->request.deadline_ns != LATCH_NEVER;
    hold->wanted = mode;
    op->flags |= hold->statement.is_wait ? WAITED : 0;
    return LATCH_DONE;
}

static advisory_action to_release(const advisory_hold *hold)
{
    return hold->mode == LATCH_SHARED ? ADVISORY_RELEASE_SHARED : ADVISORY_RELEASE;
}

/* LATCH_DONE: it is in the session's queue. */
static latch_status enqueue_request(latch_op *op, int64_t now_ns)
{
    advisory_hold *hold = op->state;
    latch_status status = LATCH_DONE;

    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            status = prepare_acquire(op, hold, now_ns);
            break;
        case LATCH_RELEASE:
            latch_advisory_hold_set_action(hold, to_release(hold), LATCH_NEVER);
            break;
        case LATCH_REFRESH: /* there is no TTL */
        case LATCH_PROBE:
            latch_advisory_hold_set_action(hold, ADVISORY_PROBE, LATCH_NEVER);
            break;
        case LATCH_INSPECT:
        case LATCH_LIST:  /* never comes here, */
        case LATCH_EVICT: /* nor does that, */
        case LATCH_CALL:  /* nor that */
            latch_advisory_hold_set_action(hold, ADVISORY_HOLDERS, LATCH_NEVER);
            hold->reports = op->request.reports;
            break;
    }
    if (status == LATCH_DONE) {
        latch_sql_session_enqueue(hold->store->session, &hold->statement, now_ns);
    }
    return status;
}

/* ---- What an answer means ------------------------------------------------------------------- */

static latch_status schedule_retry(latch_op *op, int64_t at_ns)
{
    advisory_hold *hold = op->state;

    op->flags |= RETRIED;
    hold->outcome = SQL_UNANSWERED;
    hold->retry_ns = at_ns;
    return LATCH_AGAIN;
}

/*
 * The server has ended a wait, or a promotion that it could not grant at once. A runner's session
 * ends waits early, so that PHP can look after signals; but what is left of the last second is not
 * waited for by a server that rounds it down: that is polled.
 */
static latch_status handle_wait_timeout(latch_op *op, int64_t now_ns)
{
    const advisory_hold *hold = op->state;
    int64_t longest_ms = session_of(op)->longest_wait_ms;

    op->waiting = op->waiting || (op->flags & WAITED) != 0;
    record_conflict(op);
    if (!op->request.wait || now_ns >= op->request.deadline_ns
        || (longest_ms != LATCH_NEVER && hold->request.timeout_ms < longest_ms)) {
        return LATCH_CONFLICT;
    }
    schedule_retry(op, now_ns);
    op->wake_ns = now_ns;
    return LATCH_WANT_TIMER;
}

/* The session was lost, with its holds and its request. */
static latch_status handle_session_loss(latch_op *op, int64_t now_ns)
{
    bool again = (op->flags & RETRIED) != 0;
    advisory_hold *hold = op->state;

    hold->mode = LATCH_FREE;
    if (op->request.kind == LATCH_RELEASE) {
        return LATCH_DONE;
    }
    if (op->request.kind == LATCH_REFRESH || op->request.kind == LATCH_PROBE) {
        return LATCH_CONFLICT;
    }
    if (latch_op_acquires(op) && (op->flags & HELD_BEFORE) != 0) {
        return latch_advisory_fail_held(op);
    }
    if (op->cancelled) {
        return LATCH_CONFLICT;
    }
    if ((op->flags & WAITED) != 0 && !op->request.wait) { /* nor is there time for another */
        return op->contended ? LATCH_CONFLICT
                             : latch_advisory_fail_at(op, "lost the connection to");
    }
    /* Only the caller can replace a runner's session. */
    if (op->request.wait && (!again || session_of(op)->driver->clone != NULL)) {
        return schedule_retry(op, again ? now_ns + PAUSE_NS : now_ns);
    }
    return again ? latch_advisory_fail_at(op, "lost the connection to")
                 : schedule_retry(op, now_ns);
}

static latch_status apply_advisory_verdict(latch_op *op, int64_t now_ns)
{
    advisory_hold *hold = op->state;
    bool yes = hold->verdict == '1';

    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            if (yes) {
                return latch_advisory_hold_is_live(hold) ? LATCH_DONE
                                                         : handle_session_loss(op, now_ns);
            }
            if (hold->request.action == ADVISORY_PROBE) {
                op->flags = 0;
                return op->mode_before != LATCH_FREE ? latch_advisory_fail_held(op)
                                                     : schedule_retry(op, now_ns);
            }
            return hold->statement.is_wait ? handle_wait_timeout(op, now_ns) : record_conflict(op);
        case LATCH_REFRESH:
        case LATCH_PROBE:
            return yes && latch_advisory_hold_is_live(hold) ? LATCH_DONE : LATCH_CONFLICT;
        case LATCH_RELEASE:
        case LATCH_INSPECT:
        case LATCH_LIST:
        case LATCH_EVICT:
        case LATCH_CALL:
            break;
    }
    return LATCH_DONE;
}

/* Of two readers that want to write one gives way; but not to one that hardly waits for that. */
static latch_status give_way(latch_op *op, int64_t now_ns)
{
    if (op->request.wait && (op->flags & HAD_RIVAL) == 0) {
        op->flags |= HAD_RIVAL;
        return schedule_retry(op, now_ns + RIVAL_NS);
    }
    op->request.wait = false;
    return record_conflict(op);
}

static latch_status advisory_conclude(latch_op *op, int64_t now_ns)
{
    advisory_hold *hold = op->state;
    bool promotes = (op->flags & HELD_BEFORE) != 0;

    switch (hold->outcome) {
        case SQL_ANSWERED:
            return apply_advisory_verdict(op, now_ns);
        case SQL_TIMED_OUT:
            return handle_wait_timeout(op, now_ns);
        case SQL_CANCELLED:
            return latch_advisory_fail_at(op, "the statement was cancelled by");
        case SQL_DEADLOCKED:
            if (promotes) {
                return give_way(op, now_ns);
            }
            return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                              "its holder waits for a lock of this session in turn");
        case SQL_LOST:
            return handle_session_loss(op, now_ns);
        case SQL_MOVED:
            return latch_advisory_fail_moved(op);
        case SQL_NO_MEMORY:
            return latch_fail_memory(op->error);
        case SQL_UNKNOWN:
            return latch_advisory_fail_at(op, "nothing is known of a statement that was run by");
        case SQL_UNANSWERED:
        case SQL_REFUSED:
        case SQL_CLASHED:
        case SQL_BUSY:
        case SQL_NO_TABLE:
            break;
    }
    return latch_advisory_fail_at(op, "a statement was refused by");
}

/* There is no session: a wait that had one goes on for a time. */
static latch_status retry_without_session(latch_op *op, latch_status status, int64_t now_ns)
{
    advisory_hold *hold = op->state;

    if (!latch_op_acquires(op) || !op->request.wait || (op->flags & RETRIED) == 0
        || status == LATCH_ERROR_MEMORY) {
        return status;
    }
    if (hold->trouble_ns == 0) {
        hold->trouble_ns = now_ns;
    }
    if (now_ns - hold->trouble_ns >= hold->store->session->connect_timeout_ns) {
        return status;
    }
    schedule_retry(op, now_ns + PAUSE_NS);
    op->wake_ns = hold->retry_ns;
    return LATCH_WANT_TIMER;
}

/* ---- Operations ----------------------------------------------------------------------------- */

/* The request was sent, or its session is being connected. */
static latch_status advisory_await(latch_op *op, latch_status status)
{
    advisory_hold *hold = op->state;

    if (op->wake_ns > hold->cancel_ns) {
        op->wake_ns = hold->cancel_ns;
    }
    if (op->wake_ns > hold->give_up_ns) {
        op->wake_ns = hold->give_up_ns;
    }
    if (hold->store->session->is_sent) {
        hold->trouble_ns = 0;
    }
    return status;
}

static latch_status advisory_advance(latch_op *op, int64_t now_ns)
{
    advisory_hold *hold = op->state;
    sql_session *session = hold->store->session;
    latch_status status = LATCH_AGAIN;

    latch_sql_session_abandon_in_child(session);
    while (status == LATCH_AGAIN) {
        if (!hold->statement.is_queued && hold->outcome == SQL_UNANSWERED) {
            if (now_ns < hold->retry_ns) {
                op->wake_ns = hold->retry_ns;
                return LATCH_WANT_TIMER;
            }
            status = enqueue_request(op, now_ns);
            if (status != LATCH_DONE) {
                return status;
            }
        }
        if (now_ns >= hold->give_up_ns && hold->statement.is_queued) {
            hold->give_up_ns = LATCH_NEVER;
            if (latch_advisory_hold_is_alone(hold)) {
                latch_sql_session_lose(session, SQL_LOST,
                                       "it does not answer, nor does it end a wait");
            }
        } else if (now_ns >= hold->cancel_ns && hold->statement.is_queued
                   && hold->statement.is_wait) {
            hold->cancel_ns = LATCH_NEVER;
            latch_sql_session_cancel(session, now_ns);
        }
        status = latch_sql_session_drive(session, &hold->statement, op, now_ns);
        if (latch_wants(status)) {
            return advisory_await(op, status);
        }
        status = latch_failed(status) ? retry_without_session(op, status, now_ns)
                                      : advisory_conclude(op, now_ns);
    }
    return status;
}

latch_status latch_advisory_step(latch_op *op, int64_t now_ns)
{
    const advisory_hold *hold = op->state;
    bool was_sent = hold->statement.is_queued && hold->statement.is_wait
                    && hold->store->session->is_sent;
    latch_status status = advisory_advance(op, now_ns);

    /* When the statement was sent it was unknown whether it would wait. */
    op->waiting = op->waiting || (was_sent && latch_wants(status));
    return status;
}

/* Detached release: the hold is freed when the answer comes, which no operation waits for. */
static void release_for_nobody(latch_lease *lease, int64_t now_ns)
{
    advisory_hold *hold = lease->state;
    sql_session *session = hold->store->session;

    lease->state = NULL;
    hold->lease = NULL;
    latch_advisory_hold_set_action(hold, to_release(hold), LATCH_NEVER);
    latch_sql_session_enqueue(session, &hold->statement, now_ns);
    latch_sql_session_flush(session, now_ns);
}

/* Begins a request of a lease without a hold: lost, or a parent's, which a forked child never
 * has. */
static latch_status begin_without_hold(latch_op *op, advisory_hold *hold)
{
    bool is_lost = hold->mode != LATCH_FREE
                   && hold->generation == hold->store->store.engine->generation;

    hold->mode = LATCH_FREE;
    if (is_lost) {
        op->mode_before = op->lease->mode; /* the check of the session may just have recorded a
                                            * loss */
    }
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            return is_lost ? latch_advisory_fail_held(op) : LATCH_AGAIN;
        case LATCH_RELEASE:
            return LATCH_DONE;
        case LATCH_REFRESH:
        case LATCH_PROBE:
            return LATCH_CONFLICT;
        case LATCH_INSPECT:
        case LATCH_LIST:
        case LATCH_EVICT:
        case LATCH_CALL:
            break;
    }
    return LATCH_AGAIN;
}

/* The loss of the lease's hold was reported already. */
static void clear_lost(const latch_op *op, advisory_hold *hold)
{
    if (latch_op_acquires(op) && latch_lease_was_lost(op->lease)) {
        latch_sql_session_is_alive(hold->store->session); /* notices a loss */
        hold->mode = latch_advisory_hold_is_live(hold) ? hold->mode : LATCH_FREE;
    }
}

latch_status latch_advisory_begin(latch_op *op)
{
    advisory_store *store = latch_advisory_store_of(op->lease);
    int64_t now_ns = latch_engine_now_ns(store->store.engine);
    latch_status status = LATCH_AGAIN;
    advisory_hold *hold;

    if (op->request.kind == LATCH_ACQUIRE_SHARED
        && (store->store.info->capabilities & LATCH_SHARED_LOCKS) == 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "%s has no shared locks",
                          store->dialect->server);
    }
    hold = latch_advisory_hold_get(op->lease);
    if (hold == NULL) {
        return latch_fail_memory(op->error);
    }
    clear_lost(op, hold);
    if (!latch_advisory_hold_is_live(hold)) {
        op->flags = 0;
        status = begin_without_hold(op, hold);
    } else {
        op->flags = HELD_BEFORE;
    }
    if (status != LATCH_AGAIN) {
        return status;
    }
    if (op->request.detach && latch_sql_session_is_idle(store->session)) {
        release_for_nobody(op->lease, now_ns);
        return LATCH_DONE;
    }
    hold->outcome = SQL_UNANSWERED;
    hold->retry_ns = hold->trouble_ns = 0;
    hold->cancel_ns = hold->give_up_ns = LATCH_NEVER;
    op->state = hold;
    return advisory_advance(op, now_ns);
}

/*
 * The server is about to end a wait past its deadline, if its clock is as exact as the engine's.
 * Any other wait is cancelled. Either may be granted before.
 */
latch_status latch_advisory_cancel(latch_op *op)
{
    advisory_hold *hold = op->state;
    sql_session *session = hold->store->session;
    int64_t now_ns = latch_engine_now_ns(session->engine);

    if (!hold->statement.is_queued && hold->outcome == SQL_UNANSWERED) {
        return LATCH_CONFLICT; /* it was to be asked for again */
    }
    if (hold->statement.is_queued && latch_sql_session_dequeue(session, &hold->statement)) {
        return LATCH_CONFLICT;
    }
    if (hold->statement.is_queued && hold->statement.is_wait) {
        bool ends_by_itself = !op->cancelled && !session->whole_seconds;

        hold->cancel_ns = ends_by_itself ? now_ns + GRACE_NS : now_ns;
        hold->give_up_ns = op->cancelled ? LATCH_NEVER : now_ns + GIVE_UP_NS;
    }
    return advisory_advance(op, now_ns);
}

bool latch_advisory_held(const latch_lease *lease)
{
    const advisory_hold *hold = lease->state;

    return lease->mode != LATCH_FREE && hold != NULL && latch_advisory_hold_is_live(hold)
           && latch_sql_session_is_alive(hold->store->session);
}

void latch_advisory_drop(latch_lease *lease)
{
    advisory_hold *hold = lease->state;

    if (hold == NULL) {
        return;
    }
    latch_sql_session_abandon_in_child(hold->store->session);
    if (latch_advisory_hold_is_live(hold)) {
        release_for_nobody(lease, latch_engine_now_ns(hold->store->store.engine));
    } else {
        latch_advisory_hold_free(hold);
    }
}
