/*
 * Circuit breaker of a server: requests fail fast after a timeout of a new connection, so that not
 * each of them waits as long. A connection that has worked may have been lost without a word (by a
 * router, say): its timeout does not count. Members of combined stores are left out by these, and
 * renewals have pauses of their own.
 */
#ifndef LATCH_REDIS_BREAKER_H
#define LATCH_REDIS_BREAKER_H

#include "src/store/redis/topology/server.h"

/*
 * Record a failed request, by op->error; a time-out opens the breaker. NULL: no server was reached.
 */
void latch_redis_breaker_record_timeout(const latch_op *op, redis_node *node, int64_t now_ns);
/* Record a reply: closes the breaker. */
static inline void latch_redis_breaker_record_reply(redis_node *node, int64_t now_ns)
{
    node->last_reply_ns = now_ns;
    if (!node->topology->has_no_breaker) {
        *node->breaker = (latch_breaker){0};
    }
}

/* Open for this request? Then latch_redis_fail_breaker_open() is its end. */
static inline bool latch_redis_breaker_is_open(const latch_op *op, const redis_node *node)
{
    return op->sent_ns < node->breaker->open_until_ns && !node->topology->has_no_breaker
           && op->request.response_timeout_ms == 0;
}

latch_status latch_redis_fail_breaker_open(latch_op *op, const redis_node *node);

#endif
