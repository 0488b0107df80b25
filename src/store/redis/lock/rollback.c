/*
 * Compensation for requests of unknown outcome: a lock that may have been granted gets a pending
 * release (pending_release.c), a possible promotion a demotion.
 */
#include "src/store/redis/lock/redis.h"

/* Shortest life of a pending release, as the lock's expiry may be unknown. */
#define RELEASE_TRIES_NS (60 * LATCH_NS_PER_S)
/* Life of a queue after its last command: queue.lua's QUEUE_MS. */
#define QUEUE_LIFE_NS (180 * LATCH_NS_PER_S)

int64_t latch_redis_release_deadline(const latch_lease *lease, int64_t now_ns)
{
    /* A renewal may have taken effect although its reply was lost. */
    if (latch_redis_layout_of(lease)->has_owners && lease->deadline_ns == LATCH_NEVER) {
        return LATCH_NEVER; /* it may have no end */
    }
    return lease->deadline_ns == LATCH_NEVER || lease->deadline_ns < now_ns + RELEASE_TRIES_NS
               ? now_ns + RELEASE_TRIES_NS
               : lease->deadline_ns;
}

bool latch_redis_send_demotion(latch_op *op, int64_t now_ns)
{
    redis_node *node = latch_redis_node_of(op);
    const redis_script_target target = latch_redis_target_of(op->lease);
    const redis_command_spec spec = {.id = REDIS_ACQUIRE_SHARED,
                                     .as_text = true,
                                     .step = REDIS_TRY,
                                     .ttl_ms = op->request.ttl_ms};
    redis_call *call = latch_redis_send_script(node, &spec, &target, now_ns);

    if (call != NULL) {
        latch_redis_call_free(&node->connection, call);
        latch_redis_record_ttl(op, now_ns);
    }
    return call != NULL;
}

/* Hold that an acquire was to renew or change, still held? */
static bool still_holds(const latch_op *op, int64_t now_ns)
{
    return op->mode_before != LATCH_FREE && now_ns < op->lease->deadline_ns;
}

bool latch_redis_promotes(const latch_op *op, int64_t now_ns)
{
    return op->request.kind == LATCH_ACQUIRE && op->mode_before == LATCH_SHARED
           && still_holds(op, now_ns);
}

/*
 * Adds a pending release for an acquire that is over: of the lock, and of its place in the queue.
 * False when it is not sent yet.
 */
static bool release_uncertain(latch_op *op, int64_t now_ns)
{
    int64_t end_ns = latch_store_deadline(op->lease->store, now_ns, op->request.ttl_ms);
    redis_store *store = latch_redis_store_of(op);
    redis_hold *hold = op->lease->state;
    redis_script_target target = latch_redis_target_of(op->lease);
    bool is_added;

    /* Another process may hold by a token that came with a key. */
    target.keep = hold->imported || still_holds(op, now_ns);
    if (target.keep && target.ticket == 0) {
        return true;
    }
    if (target.ticket != 0 && end_ns < now_ns + QUEUE_LIFE_NS) {
        end_ns = now_ns + QUEUE_LIFE_NS;
    }
    is_added = latch_redis_pending_add(op->lease, &target, end_ns);
    latch_redis_pending_flush(store, NULL, now_ns);
    hold->retired = !target.keep;
    if (hold->retired) {
        op->lease->mode = LATCH_FREE; /* an expired hold may have one until now */
    }
    return is_added && latch_redis_pending_is_empty(store);
}

/* Compensates an acquire that was in flight, or waited. */
static void compensate_acquire(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    redis_node *node = latch_redis_node_of(op);
    latch_lease *lease = op->lease;
    bool is_queued = latch_redis_is_queued(lease);

    if (node != NULL && node->connection.stage == REDIS_READY) {
        node->connection.transport->receive(
            &node->connection); /* while it waited the connection may have ended */
    }
    if (latch_redis_promotes(op, now_ns) && is_queued && node != NULL
        && node->connection.stage == REDIS_READY) {
        latch_redis_send_demotion(op, now_ns);
    }
    /* Or its place alone, as the demotion may be lost. */
    if (!release_uncertain(op, now_ns) && is_queued) {
        /* The server must not take this process for a waiter. */
        latch_redis_close(&store->subscription.connection);
    }
    if (op->request.kind == LATCH_ACQUIRE_SHARED && lease->mode == LATCH_EXCLUSIVE) {
        lease->mode = LATCH_SHARED;
        lease->fencing_token = 0;
    }
}

void latch_redis_compensate(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;

    if (((op->flags & REDIS_SENT) == 0 && !latch_redis_is_queued(lease))
        || latch_redis_is_other_process(lease)
        || op->generation != lease->store->engine->generation) { /* what was sent is the parent's */
        return;
    }
    if (op->request.kind == LATCH_RELEASE) {
        const redis_script_target target = latch_redis_target_of(lease);

        latch_redis_pending_add(lease, &target, latch_redis_release_deadline(lease, now_ns));
    } else if (latch_op_acquires(op)) {
        compensate_acquire(op, now_ns);
    }
}

bool latch_redis_pending_add_release(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_lease *lease = op->lease;
    const redis_script_target target = latch_redis_target_of(lease);
    bool is_added;

    if (!latch_redis_is_other_process(lease)) {
        latch_redis_pending_drop_inherited(store); /* now: the flush would drop this one, too */
    }
    is_added = latch_redis_pending_add(lease, &target, latch_redis_release_deadline(lease, now_ns));
    if (is_added) {
        latch_redis_record_release(lease);
    }
    return is_added;
}
