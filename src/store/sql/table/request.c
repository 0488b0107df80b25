/* Requests of leases in a table, from begin to end. */
#include "src/store/sql/table/table.h"

#include <errno.h>
#include <string.h>

/* The longest TTL, where the column has no limit: 100 years. */
#define TTL_MAX_MS (INT64_C(100) * 365 * 24 * 3600 * 1000)

/* ---- The next step -------------------------------------------------------------------------- */

/*
 * Leaves the statement to the session, and its hold with it. A token that is about to be released
 * is nobody's any more: an acquire by it, also in another process, would be undone.
 */
static void leave_to_session(latch_lease *lease)
{
    table_hold *hold = lease->state;

    hold->lease = NULL;
    lease->state = NULL;
    latch_free(lease->store->engine, lease->token);
    lease->token = NULL;
}

/* No longer awaits the answer. A lease that holds the lock keeps it, whatever the answer is. */
static void give_up(latch_lease *lease, int64_t now_ns)
{
    table_hold *hold = lease->state;

    latch_table_leave_queue(hold, now_ns);
    if (lease->mode == LATCH_FREE) {
        leave_to_session(lease);
        return;
    }
    hold->is_acquiring = false;
    hold->lease = NULL;
    lease->state = NULL;
    latch_table_hold_get(lease); /* without memory it does not count as held */
}

/* A hold that is to end earlier than it would counts as shorter before the answer. */
static void shorten_hold(latch_lease *lease, const table_hold *hold, int64_t now_ns)
{
    int64_t deadline_ns = latch_add_ns(now_ns, latch_ms_to_ns(hold->ttl_ms));

    if (lease->mode != LATCH_FREE && deadline_ns < lease->deadline_ns) {
        lease->deadline_ns = deadline_ns;
    }
}

static void table_enqueue(latch_op *op, table_hold *hold, int64_t now_ns)
{
    hold->sent_ns = now_ns;
    if (hold->give_up_ns != LATCH_NEVER) {
        hold->give_up_ns = now_ns + TABLE_GRACE_NS; /* its answer is awaited, too */
    }
    if (hold->action != TABLE_PROBE && hold->action != TABLE_FENCE) {
        op->sent_ns = now_ns; /* from which a deadline is counted */
    }
    if (hold->action == TABLE_REFRESH || hold->action == TABLE_ACQUIRE
        || hold->action == TABLE_ACQUIRE_TIMED) {
        shorten_hold(op->lease, hold, now_ns);
    }
    latch_sql_session_enqueue(hold->store->session, &hold->statement, now_ns);
}

static latch_status want_timer(latch_op *op, int64_t wake_ns)
{
    op->fd = -1;
    op->wake_ns = wake_ns;
    return LATCH_WANT_TIMER;
}

/* Is the next statement one that need not be sent for a request that is cancelled? */
static bool is_attempt(const table_hold *hold)
{
    return hold->action != TABLE_RELEASE && hold->action != TABLE_PROBE
           && hold->action != TABLE_FENCE;
}

static latch_status advance_request(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    sql_session *session = hold->store->session;
    latch_status status = LATCH_AGAIN;

    while (status == LATCH_AGAIN) {
        if (!hold->statement.is_queued && hold->outcome == SQL_UNANSWERED) {
            if (hold->ticket != NULL && is_attempt(hold)) {
                status = latch_table_await_turn(op, now_ns);
            } else if (op->cancelled && is_attempt(hold)) {
                status = LATCH_CONFLICT;
            }
            if (status != LATCH_AGAIN) {
                return status;
            }
            if (now_ns < hold->retry_ns) {
                return want_timer(op, hold->retry_ns);
            }
            table_enqueue(op, hold, now_ns);
        }
        status = latch_sql_session_drive(session, &hold->statement, op, now_ns);
        if (latch_wants(status)) {
            if (now_ns >= hold->give_up_ns) {
                give_up(op->lease, now_ns);
                return LATCH_CONFLICT;
            }
            op->wake_ns = op->wake_ns < hold->give_up_ns ? op->wake_ns : hold->give_up_ns;
            return status;
        }
        if (!latch_failed(status)) {
            status = latch_table_conclude(op, now_ns);
        }
    }
    return status;
}

/* A hold that was given up has left the queue already. */
static latch_status table_advance(latch_op *op, int64_t now_ns)
{
    latch_status status = advance_request(op, now_ns);
    table_hold *hold = op->lease->state;

    if (!latch_wants(status) && hold != NULL) {
        latch_table_leave_queue(hold, now_ns);
    }
    return status;
}

/* ---- Begin ---------------------------------------------------------------------------------- */

static latch_status check_request(latch_op *op)
{
    latch_op_kind kind = op->request.kind;

    if (kind == LATCH_ACQUIRE_SHARED) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "a table has no shared locks");
    }
    if ((kind == LATCH_ACQUIRE || kind == LATCH_REFRESH) && op->request.ttl_ms == 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "a lock in a table needs a TTL");
    }
    return LATCH_DONE;
}

/* Shortens a TTL for which the column has no number, as the statement does by the server's clock.
 */
static latch_status limit_ttl(latch_op *op, const table_store *store)
{
    int64_t last_s = store->dialect->last_expiry[store->options->table.layout];
    int64_t wall_s = latch_engine_wall_ns(store->store.engine) / LATCH_NS_PER_S;
    int64_t longest_ms = last_s == 0 ? TTL_MAX_MS : (last_s - wall_s) * 1000;

    if (longest_ms <= 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "the column for expiration times is too narrow for this time");
    }
    op->request.ttl_ms = op->request.ttl_ms < longest_ms ? op->request.ttl_ms : longest_ms;
    return LATCH_DONE;
}

table_action latch_table_to_create(const latch_op *op)
{
    const table_store *store = latch_table_store_of(op->lease);
    const table_hold *hold = op->state;
    const char *const *formats = store->dialect->formats;

    if (hold->is_inside && !op->request.create && formats[TABLE_CREATE_INSIDE] != NULL) {
        return TABLE_CREATE_INSIDE;
    }
    if (store->options->table.fencing && formats[TABLE_CREATE_FENCE] != NULL) {
        return TABLE_CREATE_FENCE;
    }
    return op->request.create ? TABLE_CREATE : TABLE_CREATE_IF_MISSING;
}

table_action latch_table_to_begin(const latch_op *op)
{
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
            return latch_table_to_acquire(op);
        case LATCH_REFRESH:
            return op->request.extend ? TABLE_EXTEND : TABLE_REFRESH;
        case LATCH_RELEASE:
            return TABLE_RELEASE;
        default:
            return op->request.create ? latch_table_to_create(op) : TABLE_PROBE;
    }
}

bool latch_table_is_in_transaction(const table_store *store)
{
    sql_session *session = store->session;

    return session->driver->is_in_transaction != NULL
           && session->driver->is_in_transaction(session);
}

bool latch_table_is_to_be_found(const table_store *store)
{
    return store->dialect->formats[TABLE_FIND] != NULL && !store->has_table
           && strchr(store->options->table.table, '\'') == NULL /* within quotes */
           && latch_table_is_in_transaction(store);
}

static void begin_request(latch_op *op, table_hold *hold)
{
    hold->is_acquiring = latch_op_acquires(op);
    hold->ttl_ms = op->request.ttl_ms;
    hold->tries = 0;
    hold->retry_ns = 0;
    hold->give_up_ns = LATCH_NEVER;
    hold->has_created = false;
    hold->statement.timeout_ns = latch_ms_to_ns(op->request.response_timeout_ms);
    hold->is_inside = latch_table_is_to_be_found(hold->store);
    op->flags = 0;
    op->state = hold;
    latch_table_hold_set_action(hold, hold->is_inside && !op->request.create
                                          ? TABLE_FIND
                                          : latch_table_to_begin(op));
}

/* In a forked child the session is the parent's, and so is what was sent on it. */
latch_status latch_table_step(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    latch_status status;

    if (latch_table_is_inspection(op)) {
        return latch_table_inspect_step(op, now_ns);
    }
    if (hold->store->session->generation == hold->store->store.engine->generation) {
        return table_advance(op, now_ns);
    }
    latch_sql_session_abandon_in_child(hold->store->session);
    latch_table_leave_queue(hold, now_ns);
    status = latch_table_prepare_token(op);
    if (status != LATCH_DONE) {
        return status == LATCH_CONFLICT && op->request.kind == LATCH_RELEASE ? LATCH_DONE : status;
    }
    begin_request(op, hold);
    return table_advance(op, now_ns);
}

/* A release that is not awaited: the hold is freed with its answer. */
static void table_release_for_nobody(latch_lease *lease, int64_t now_ns)
{
    table_hold *hold = lease->state;
    sql_session *session = hold->store->session;

    leave_to_session(lease);
    hold->is_acquiring = false;
    hold->statement.timeout_ns = 0;
    latch_table_hold_set_action(hold, TABLE_RELEASE);
    latch_sql_session_enqueue(session, &hold->statement, now_ns);
    latch_sql_session_flush(session, now_ns);
}

latch_status latch_table_begin(latch_op *op)
{
    table_store *store = latch_table_store_of(op->lease);
    latch_status status = check_request(op);
    bool creates = op->request.kind == LATCH_PROBE && op->request.create;
    int64_t now_ns = latch_engine_now_ns(store->store.engine);

    if (latch_table_is_inspection(op)) {
        return latch_table_inspect_begin(op);
    }
    if (status == LATCH_DONE && op->request.ttl_ms > 0) {
        status = limit_ttl(op, store);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    latch_sql_session_abandon_in_child(store->session);
    if (creates) {
        status = latch_table_hold_get(op->lease) != NULL ? LATCH_DONE
                                                         : latch_fail_memory(op->error);
    } else {
        status = latch_table_prepare_token(op);
    }
    if (status == LATCH_CONFLICT && op->request.kind == LATCH_RELEASE) {
        if (op->request.was_held != NULL) {
            *op->request.was_held = false;
        }
        return LATCH_DONE; /* this process never had it */
    }
    if (status != LATCH_DONE) {
        return status;
    }
    if (op->request.detach && latch_sql_session_is_idle(store->session)
        && latch_sql_session_is_alive(store->session) && !latch_table_is_to_be_found(store)) {
        table_release_for_nobody(op->lease, now_ns);
        return LATCH_DONE;
    }
    begin_request(op, op->lease->state);
    return table_advance(op, now_ns);
}

/* ---- The end of a request ------------------------------------------------------------------- */

/* A statement that was sent is answered soon, if at all. */
latch_status latch_table_cancel(latch_op *op)
{
    table_hold *hold = op->state;
    sql_session *session = latch_table_store_of(op->lease)->session;
    int64_t now_ns = latch_engine_now_ns(session->engine);

    if (latch_table_is_inspection(op)) {
        latch_table_inspect_abandon(op);
        return LATCH_CONFLICT;
    }
    if (session->generation != session->engine->generation) {
        latch_sql_session_abandon_in_child(session);
        latch_table_leave_queue(hold, now_ns);
        return LATCH_CONFLICT;
    }
    if (latch_table_cancel_turn(op, now_ns)) {
        return table_advance(op, now_ns);
    }
    if (!hold->statement.is_queued || latch_sql_session_dequeue(session, &hold->statement)) {
        if (hold->action == TABLE_FENCE) { /* the lock is this holder's already */
            latch_table_hold_confirm(hold);
            return LATCH_DONE;
        }
        latch_table_leave_queue(hold, now_ns);
        return LATCH_CONFLICT;
    }
    hold->give_up_ns = now_ns + TABLE_GRACE_NS;
    return table_advance(op, now_ns);
}

void latch_table_abandon(latch_op *op)
{
    table_hold *hold = op->state;
    int64_t now_ns = latch_engine_now_ns(op->lease->store->engine);

    if (latch_table_is_inspection(op)) {
        if (op->state != NULL) {
            latch_table_inspect_abandon(op);
        }
        return;
    }
    if (hold == NULL) {
        return;
    }
    if (hold->statement.is_queued
        && !latch_sql_session_dequeue(hold->store->session, &hold->statement)) {
        give_up(op->lease, now_ns);
    } else {
        latch_table_leave_queue(hold, now_ns);
    }
}

void latch_table_outage(const latch_op *op, int64_t now_ns)
{
    const sql_session *session = latch_table_store_of(op->lease)->session;
    double seconds = (double) ((now_ns - op->sent_ns) / LATCH_NS_PER_MS) / 1000;

    latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
               session->stage == SQL_CONNECTED ? "%s at %s did not answer within %g s"
                                               : "cannot connect to %s at %s within %g s",
               session->server, session->address, seconds);
}

/* The rows of a lease stay until they expire, but for those of which its holder does not know. */
void latch_table_drop(latch_lease *lease)
{
    table_hold *hold = lease->state;
    const latch_engine *engine = lease->store->engine;

    if (hold == NULL) {
        return;
    }
    latch_sql_session_abandon_in_child(hold->store->session);
    latch_table_leave_queue(hold, latch_engine_now_ns(engine)); /* the parent's, in a child */
    if (hold->is_uncertain && hold->generation == engine->generation) {
        table_release_for_nobody(lease, latch_engine_now_ns(engine));
    } else {
        latch_table_hold_free(hold);
    }
}
