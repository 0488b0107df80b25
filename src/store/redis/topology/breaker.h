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
/* A request was answered. */
void latch_redis_note_answer(redis_node *node, int64_t now_ns);
/* Is the server not to be asked now? Then that is the error that it ends with. */
bool latch_redis_is_avoided(const latch_op *op, const redis_node *node);
latch_status latch_redis_fail_avoided(latch_op *op, const redis_node *node);

#endif
