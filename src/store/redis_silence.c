/*
 * A server that lets everybody wait in vain: others do not ask it for a while, so that not each of
 * them waits as long. A connection that has worked may have been lost without a word (by a router,
 * say), so the silence of a new one tells. Members of combined stores are left out by these, and
 * renewals have pauses of their own.
 */
#include "redis.h"

#include <errno.h>

static bool may_be_avoided(const latch_op *op)
{
    return !latch_redis_store_of(op)->is_member && op->request.patience_ms == 0;
}

void latch_redis_note_silence(const latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);

    if (may_be_avoided(op) && op->error->sys_errno == ETIMEDOUT
        && store->heard_ns < store->connection.begun_ns) {
        latch_store_note_silence(&store->store, op->sent_ns, now_ns);
    }
}

void latch_redis_note_answer(redis_store *store, int64_t now_ns)
{
    store->heard_ns = now_ns;
    if (!store->is_member) {
        store->store.pause_ns = store->store.avoided_until_ns = 0;
    }
}

bool latch_redis_is_avoided(const latch_op *op)
{
    return may_be_avoided(op) && op->sent_ns < op->lease->store->avoided_until_ns;
}

latch_status latch_redis_fail_avoided(latch_op *op)
{
    const redis_store *store = latch_redis_store_of(op);
    int64_t left_ns = store->store.avoided_until_ns - op->sent_ns;

    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "Redis at %s let others wait in vain, and is asked again in %.1f s",
                      latch_redis_address(&store->connection),
                      (double) left_ns / (double) LATCH_NS_PER_S);
}
