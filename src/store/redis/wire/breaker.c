/*
 * A server that lets everybody wait in vain: others do not ask it for a while, so that not each of
 * them waits as long. A connection that has worked may have been lost without a word (by a router,
 * say), so the silence of a new one tells. Members of combined stores are left out by these, and
 * renewals have pauses of their own.
 */
#include "src/store/redis/lock/redis.h"

#include <errno.h>

static bool may_be_avoided(const latch_op *op)
{
    return !latch_redis_store_of(op)->is_member && op->request.patience_ms == 0;
}

latch_silence *latch_redis_silence_of(redis_node *node)
{
    return node->store->cluster != NULL ? &node->member.silence : &node->store->store.silence;
}

void latch_redis_note_silence(const latch_op *op, redis_node *node, int64_t now_ns)
{
    if (node != NULL && may_be_avoided(op) && op->error->sys_errno == ETIMEDOUT
        && node->heard_ns < node->connection.begun_ns) {
        latch_note_silence(latch_redis_silence_of(node), op->sent_ns, now_ns);
    }
}

void latch_redis_note_answer(redis_node *node, int64_t now_ns)
{
    node->heard_ns = now_ns;
    if (!node->store->is_member) {
        *latch_redis_silence_of(node) = (latch_silence){0};
    }
}

bool latch_redis_is_avoided(const latch_op *op, redis_node *node)
{
    return may_be_avoided(op) && op->sent_ns < latch_redis_silence_of(node)->avoided_until_ns;
}

latch_status latch_redis_fail_avoided(latch_op *op, redis_node *node)
{
    int64_t left_ns = latch_redis_silence_of(node)->avoided_until_ns - op->sent_ns;

    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "Redis at %s let others wait in vain, and is asked again in %.1f s",
                      latch_redis_address(&node->connection),
                      (double) left_ns / (double) LATCH_NS_PER_S);
}
