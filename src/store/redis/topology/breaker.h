/*
 * Circuit breaker of a server: requests fail fast after a timeout of a new connection, so that not
 * each of them waits as long. A connection that has worked may have been lost without a word (by a
 * router, say): its timeout does not count. Members of combined stores are left out by these, and
 * renewals have pauses of their own.
 */
#ifndef LATCH_REDIS_BREAKER_H
#define LATCH_REDIS_BREAKER_H

#include "src/store/redis/topology/server.h"

/* The request has failed, as op->error says; NULL: at no server. */
void latch_redis_note_silence(const latch_op *op, redis_node *node, int64_t now_ns);
/* A request was answered: the breaker is closed. */
static inline void latch_redis_note_answer(redis_node *node, int64_t now_ns)
{
    node->heard_ns = now_ns;
    if (!node->topology->is_unbroken) {
        *node->breaker = (latch_breaker){0};
    }
}

/* Is the server not to be asked now? Then latch_redis_fail_avoided() is the request's end. */
static inline bool latch_redis_is_avoided(const latch_op *op, const redis_node *node)
{
    return op->sent_ns < node->breaker->open_until_ns && !node->topology->is_unbroken
           && op->request.patience_ms == 0;
}

latch_status latch_redis_fail_avoided(latch_op *op, const redis_node *node);

#endif
