/* Requests of leases in a table: the meaning of answers, and what is made of a refusal. */
#include "src/store/sql/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attempts in which the server may give a statement up for another's, and the pause between two. */
#define TRIES_MAX 4
#define SHORTEST_PAUSE_NS (5 * LATCH_NS_PER_MS)
#define LONGEST_PAUSE_NS (20 * LATCH_NS_PER_MS)

/* Of op->flags. */
enum { WAS_LOST = 1 };

static latch_status table_fail(latch_op *op, const char *what, const char *trouble)
{
    const sql_session *session = latch_table_store_of(op->lease)->session;

    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "%s %s at %s: %s", what, session->server,
                      session->address, trouble);
}

static latch_status go_on_with(table_hold *hold, table_action action)
{
    latch_table_hold_set_action(hold, action);
    return LATCH_AGAIN;
}

/* ---- Verdicts ------------------------------------------------------------------------------- */

static void prune_by_chance(table_store *store, int64_t now_ns)
{
    double probability = store->options->table.prune_probability;
    const uint64_t scale = 1000000;

    if (probability <= 0 || store->prune.is_queued
        || (double) latch_engine_random(store->store.engine, scale) >= probability * (double) scale
        || latch_table_is_in_transaction(store)) {
        return;
    }
    latch_sql_session_enqueue(store->session, &store->prune, now_ns);
    latch_sql_session_flush(store->session, now_ns);
}

/* A holder that acquires once more keeps its fencing token. */
static bool is_fence_due(const latch_op *op)
{
    const table_hold *hold = op->state;

    return hold->store->options->table.fencing && hold->is_acquiring && !op->cancelled
           && hold->action != TABLE_FENCE
           && (op->mode_before == LATCH_FREE || op->lease->fencing_token == 0);
}

static latch_status table_grant(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    bool is_idle;

    if (is_fence_due(op)) {
        op->lease->fencing_token = 0;
        return go_on_with(hold, TABLE_FENCE);
    }
    latch_table_hold_confirm(hold);
    if (op->request.kind == LATCH_REFRESH && op->lease->mode == LATCH_FREE) {
        op->lease->mode = LATCH_EXCLUSIVE; /* another process has acquired by this token */
    }
    is_idle = latch_sql_session_is_idle(hold->store->session);
    latch_table_leave_queue(hold, now_ns); /* the next waiter waits for that */
    if (hold->is_acquiring && is_idle) {
        prune_by_chance(hold->store, now_ns);
    }
    return LATCH_DONE;
}

/* Another holder has a row. Of two rows the other one may be this holder's now. */
static latch_status table_refuse(latch_op *op, bool has_rows, int64_t left_ms, int64_t now_ns)
{
    table_hold *hold = op->state;

    op->contended = true;
    op->expiry_ns = left_ms > 0 ? latch_add_ns(now_ns, latch_ms_to_ns(left_ms)) : 0;
    if (has_rows) {
        return go_on_with(hold, TABLE_RELEASE);
    }
    hold->is_uncertain = false;
    return latch_table_queue(op, now_ns);
}

static latch_status apply_acquire(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;

    if (hold->store->dialect->counts_changes && hold->insert_id == 0) {
        /* Nothing was changed: its rows are there with that very expiry, or a proxy has kept the
         * insert ID to itself. */
        return hold->affected > 0 ? table_grant(op, now_ns) : go_on_with(hold, TABLE_PROBE);
    }
    if (hold->insert_id == 0 && hold->affected >= hold->names.count) {
        return table_grant(op, now_ns);
    }
    return table_refuse(op, hold->affected > 0, hold->insert_id - 1, now_ns);
}

/* "1 30000": so many rows are this holder's now, and another had them for so long. */
static latch_status apply_timed_acquire(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    char *left;
    unsigned long rows = strtoul(hold->value, &left, 10);

    return rows >= hold->names.count ? table_grant(op, now_ns)
                                     : table_refuse(op, rows > 0, strtoll(left, NULL, 10), now_ns);
}

/* "1 30000": so many rows are this holder's, for so long. */
static latch_status apply_probe(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    latch_lease *lease = op->lease;
    char *left;
    unsigned long rows = strtoul(hold->value, &left, 10);

    if (rows >= hold->names.count && op->request.kind != LATCH_PROBE) {
        return table_grant(op, now_ns);
    }
    if (rows >= hold->names.count) {
        if (lease->mode == LATCH_FREE) { /* another process has acquired by this token */
            lease->mode = LATCH_EXCLUSIVE;
            lease->deadline_ns = latch_add_ns(op->sent_ns, latch_ms_to_ns(strtoll(left, NULL, 10)));
        }
        return LATCH_DONE;
    }
    return hold->is_acquiring ? table_refuse(op, rows > 0, 0, now_ns) : LATCH_CONFLICT;
}

/* Without a source there is no token, and a lock all the same. */
static latch_status apply_fence(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;

    op->lease->fencing_token = hold->outcome == SQL_ANSWERED ? strtoull(hold->value, NULL, 10) : 0;
    return table_grant(op, now_ns);
}

static latch_status apply_release(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;

    hold->is_uncertain = false;
    if (hold->is_acquiring) { /* of two rows one was another's */
        return latch_table_queue(op, now_ns);
    }
    if (op->request.was_held != NULL) {
        *op->request.was_held = hold->affected > 0 || (op->flags & WAS_LOST) != 0;
    }
    return LATCH_DONE;
}

table_action latch_table_to_acquire(const latch_op *op)
{
    const table_store *store = latch_table_store_of(op->lease);
    bool has_timed = store->dialect->formats[TABLE_ACQUIRE_TIMED] != NULL;

    if (latch_table_may_queue(op)) {
        return TABLE_ACQUIRE_IN_TURN;
    }
    return has_timed && op->poll_ns > 0 && store->options->dsn != NULL ? TABLE_ACQUIRE_TIMED
                                                                       : TABLE_ACQUIRE;
}

static latch_status apply_table_answer(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;

    switch (hold->action) {
        case TABLE_ACQUIRE:
        case TABLE_ACQUIRE_IN_TURN:
            return apply_acquire(op, now_ns);
        case TABLE_ACQUIRE_TIMED:
            return apply_timed_acquire(op, now_ns);
        case TABLE_REFRESH:
        case TABLE_EXTEND:
            if (hold->affected >= hold->names.count) {
                return table_grant(op, now_ns);
            }
            return hold->store->dialect->counts_changes ? go_on_with(hold, TABLE_PROBE)
                                                        : LATCH_CONFLICT;
        case TABLE_RELEASE:
            return apply_release(op, now_ns);
        case TABLE_PROBE:
            return apply_probe(op, now_ns);
        case TABLE_CREATE_FENCE:
            return go_on_with(hold, hold->is_acquiring ? TABLE_CREATE_IF_MISSING : TABLE_CREATE);
        case TABLE_CREATE_IF_MISSING:
            return go_on_with(hold, latch_table_to_acquire(op));
        case TABLE_CREATE_INSIDE:
            return go_on_with(hold, TABLE_FIND);
        case TABLE_FENCE:
            return apply_fence(op, now_ns);
        case TABLE_CREATE:
        case TABLE_FIND:
        case TABLE_PRUNE: /* are no hold's, */
        case TABLE_INSPECT:
        case TABLE_LIST:
        case TABLE_ACTIONS: /* and that is none */
            break;
    }
    return LATCH_DONE;
}

/* ---- Failures ------------------------------------------------------------------------------- */

/* There is no such table. A lock that is to be acquired has it created, but not where that would
 * end a transaction of the caller's. */
static latch_status handle_missing_table(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    table_store *store = hold->store;

    if (!hold->is_acquiring) {
        return op->request.kind == LATCH_RELEASE ? apply_release(op, now_ns) : LATCH_CONFLICT;
    }
    if (hold->has_created && hold->action == TABLE_FIND) {
        return table_fail(op, "the table of locks is missing in",
                          "it could not be created in the transaction");
    }
    if (hold->has_created) {
        return table_fail(op, "the table of locks could not be created by",
                          *store->create_trouble != '\0' ? store->create_trouble
                                                         : store->session->trouble);
    }
    if (!store->dialect->creates_in_transaction && latch_table_is_in_transaction(store)) {
        return table_fail(op, "the table of locks has to be created before a transaction begins in",
                          store->session->trouble);
    }
    hold->has_created = true;
    store->create_trouble[0] = '\0';
    return go_on_with(hold, latch_table_to_create(op));
}

static latch_status apply_find(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;

    hold->affected = 0; /* of the locks' rows */
    return strcmp(hold->value, "1") == 0 ? go_on_with(hold, latch_table_to_begin(op))
                                         : handle_missing_table(op, now_ns);
}

/* Two processes may create it at once: what has failed for one of them is there all the same. */
static latch_status handle_failed_creation(latch_op *op)
{
    table_hold *hold = op->state;
    table_store *store = hold->store;

    if (hold->action == TABLE_CREATE_FENCE) {
        return go_on_with(hold, hold->is_acquiring ? TABLE_CREATE_IF_MISSING : TABLE_CREATE);
    }
    snprintf(store->create_trouble, sizeof(store->create_trouble), "%s", store->session->trouble);
    return go_on_with(hold, latch_table_to_acquire(op));
}

/* The server has given the statement up for another's: it is sent again, unless it has taken a
 * transaction of the caller's with it. */
static latch_status handle_clash(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    const latch_engine *engine = hold->store->store.engine;

    hold->is_uncertain = hold->is_uncertain || hold->action == TABLE_FENCE;
    if (++hold->tries >= TRIES_MAX || latch_table_is_in_transaction(hold->store)) {
        return table_fail(op, "a statement was given up for another one's by",
                          hold->store->session->trouble);
    }
    hold->outcome = SQL_UNANSWERED;
    hold->retry_ns = now_ns + SHORTEST_PAUSE_NS
                     + (int64_t) latch_engine_random(engine, LONGEST_PAUSE_NS - SHORTEST_PAUSE_NS);
    return LATCH_AGAIN;
}

/* The statement or its reply was lost. Sent again, it finds what it has done itself. */
static latch_status handle_loss(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    const sql_session *session = hold->store->session;
    bool was_silent = now_ns - hold->sent_ns >= session->timeout_ns;

    hold->is_uncertain = hold->is_uncertain || hold->is_acquiring;
    if (op->cancelled) {
        return LATCH_CONFLICT;
    }
    if ((op->flags & WAS_LOST) != 0 || was_silent) {
        return table_fail(op, "lost the connection to", session->trouble);
    }
    op->flags |= WAS_LOST;
    hold->outcome = SQL_UNANSWERED;
    return LATCH_AGAIN;
}

latch_status latch_table_conclude(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    const char *trouble = hold->store->session->trouble;

    if ((hold->action == TABLE_CREATE_IF_MISSING || hold->action == TABLE_CREATE_FENCE)
        && hold->outcome != SQL_ANSWERED && hold->outcome != SQL_LOST) {
        return handle_failed_creation(op);
    }
    if (hold->action == TABLE_FENCE
        && (hold->outcome == SQL_NO_TABLE || hold->outcome == SQL_REFUSED)) {
        return apply_fence(op, now_ns);
    }
    switch (hold->outcome) {
        case SQL_ANSWERED:
            hold->store->has_table |= !hold->is_inside && hold->action != TABLE_CREATE_FENCE;
            return hold->action == TABLE_FIND ? apply_find(op, now_ns)
                                              : apply_table_answer(op, now_ns);
        case SQL_NO_TABLE:
            return handle_missing_table(op, now_ns);
        case SQL_CLASHED:
        case SQL_DEADLOCKED:
        case SQL_TIMED_OUT:
            return handle_clash(op, now_ns);
        case SQL_BUSY: /* it has waited for the others already, as long as it may */
            return table_fail(op, "a statement has waited too long for other programs in", trouble);
        case SQL_LOST:
        case SQL_MOVED:
            return handle_loss(op, now_ns);
        case SQL_NO_MEMORY:
            return latch_fail_memory(op->error);
        case SQL_CANCELLED:
            return table_fail(op, "the statement was cancelled by", trouble);
        case SQL_UNKNOWN:
            hold->is_uncertain = hold->is_uncertain || hold->is_acquiring;
            return table_fail(op, "nothing is known of a statement that was run by", trouble);
        case SQL_UNANSWERED:
        case SQL_REFUSED:
            break;
    }
    return table_fail(op, "a statement was refused by", trouble);
}
