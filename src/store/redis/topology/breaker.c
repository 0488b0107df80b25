/* Circuit breaker of a server: see breaker.h. */
#include "src/store/redis/topology/breaker.h"

#include <errno.h>

void latch_redis_breaker_record_timeout(const latch_op *op, redis_node *node, int64_t now_ns)
{
    if (node != NULL && !node->topology->has_no_breaker && op->request.response_timeout_ms == 0
        && op->error->sys_errno == ETIMEDOUT && node->last_reply_ns < node->connection.begun_ns) {
        latch_breaker_record_timeout(node->breaker, op->sent_ns, now_ns);
    }
}

latch_status latch_redis_fail_breaker_open(latch_op *op, const redis_node *node)
{
    int64_t left_ns = node->breaker->open_until_ns - op->sent_ns;

    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "Redis at %s let others wait in vain, and is asked again in %.1f s",
                      latch_redis_address(&node->connection),
                      (double) left_ns / (double) LATCH_NS_PER_S);
}
