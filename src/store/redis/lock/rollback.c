/*
 * What is made good when a request is over and nobody knows what has come of it, and releases that
 * nobody awaits. A lock that may have been granted is given back as soon as can be
 * (pending_release.c).
 */
#include "src/store/redis/lock/redis.h"

/* How long a lock is to be given back at least, as nobody may know when it expires. */
#define DEBT_NS (60 * LATCH_NS_PER_S)
/* How long a queue is there after anybody has asked: queue.lua's QUEUE_MS. */
#define QUEUE_NS (180 * LATCH_NS_PER_S)

int64_t latch_redis_debt_end(const latch_lease *lease, int64_t now_ns)
{
    /* A renewal may have arrived of which nobody has heard. */
    return lease->deadline_ns == LATCH_NEVER || lease->deadline_ns < now_ns + DEBT_NS
               ? now_ns + DEBT_NS
               : lease->deadline_ns;
}

bool latch_redis_send_demotion(latch_op *op, int64_t now_ns)
{
    redis_node *node = latch_redis_node_of(op);
    const redis_target target = latch_redis_target_of(op->lease);
    const redis_order order = {.id = REDIS_ACQUIRE_SHARED,
                               .as_text = true,
                               .manner = REDIS_TRY,
                               .ttl_ms = op->request.ttl_ms};
    redis_call *call = latch_redis_send_script(node, &order, &target, now_ns);

    if (call != NULL) {
        latch_redis_call_free(&node->connection, call);
        latch_redis_note_ttl(op, now_ns);
    }
    return call != NULL;
}

/* The hold that an acquire was to renew or change goes on. */
static bool holds_still(const latch_op *op, int64_t now_ns)
{
    return op->mode_before != LATCH_FREE && now_ns < op->lease->deadline_ns;
}

bool latch_redis_promotes(const latch_op *op, int64_t now_ns)
{
    return op->request.kind == LATCH_ACQUIRE && op->mode_before == LATCH_SHARED
           && holds_still(op, now_ns);
}

/*
 * What may be held, or waited for, by an acquire that is over. False when the server was not told
 * yet.
 */
static bool give_back(latch_op *op, int64_t now_ns)
{
    int64_t end_ns = now_ns + op->request.ttl_ms * LATCH_NS_PER_MS;
    redis_store *store = latch_redis_store_of(op);
    redis_hold *hold = op->lease->state;
    redis_target target = latch_redis_target_of(op->lease);
    bool is_owed;

    /* By a token that came with a key somebody else may hold. */
    target.keep = hold->adopted || holds_still(op, now_ns);
    if (target.keep && target.ticket == 0) {
        return true;
    }
    if (target.ticket != 0 && end_ns < now_ns + QUEUE_NS) {
        end_ns = now_ns + QUEUE_NS;
    }
    is_owed = latch_redis_owe(store, &target, end_ns);
    latch_redis_pay(store, NULL, now_ns);
    hold->spent = !target.keep;
    return is_owed && latch_redis_is_debtless(store);
}

/* An acquire that was on its way, or waited, is over. */
static void undo_acquire(latch_op *op, int64_t now_ns)
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
    if (!give_back(op, now_ns) && is_queued) {
        /* The server must not think that somebody waits here. */
        latch_redis_close(&store->subscription.connection);
    }
    if (op->request.kind == LATCH_ACQUIRE_SHARED && lease->mode == LATCH_EXCLUSIVE) {
        lease->mode = LATCH_SHARED;
        lease->fencing_token = 0;
    }
}

void latch_redis_make_good(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_lease *lease = op->lease;

    if (((op->flags & REDIS_SENT) == 0 && !latch_redis_is_queued(lease))
        || latch_redis_is_foreign(lease)) {
        return;
    }
    if (op->request.kind == LATCH_RELEASE) {
        const redis_target target = latch_redis_target_of(lease);

        latch_redis_owe(store, &target, latch_redis_debt_end(lease, now_ns));
    } else if (latch_redis_acquires(op)) {
        undo_acquire(op, now_ns);
    }
}

bool latch_redis_owe_release(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    const redis_target target = latch_redis_target_of(lease);
    bool is_owed =
        latch_redis_owe(latch_redis_store_of(op), &target, latch_redis_debt_end(lease, now_ns));

    if (is_owed) {
        latch_redis_note_release(lease);
    }
    return is_owed;
}
