/* Leases on permits: see redis_permit_leases.h. */
#include "redis_permit_leases.h"

#define QUEUE "latch:permit-queue:{s}"

latch_lease *redis_permit_in(latch_store *store)
{
    latch_lease *lease = redis_lease_in(store, "s");

    latch_permit_lease_init(lease, store, "s", 1);
    return lease;
}

latch_lease *redis_permit(void)
{
    return redis_permit_in(unit.store);
}

latch_lease *redis_permit_elsewhere(void)
{
    return redis_permit_in(redis_open("redis://127.0.0.1:%d?read_timeout=10", unit_redis.port));
}

latch_request redis_with_permits(latch_request request, int64_t weight, int64_t limit)
{
    request.permits = (latch_permits){.weight = weight, .limit = limit};
    return request;
}

latch_request redis_take(int64_t weight, int64_t limit)
{
    return redis_with_permits(redis_request(LATCH_ACQUIRE), weight, limit);
}

latch_request redis_wait_to_take(int64_t weight, int64_t limit)
{
    return redis_with_permits(redis_waiting(LATCH_ACQUIRE, MINUTE, 10 * MINUTE), weight, limit);
}

latch_status redis_run_take(latch_lease *lease, int64_t weight, int64_t limit)
{
    return unit_run_request(lease, redis_take(weight, limit));
}

void redis_await_permit_waiters(long long count)
{
    UNIT_AWAIT(unit_redis_number("ZCARD " QUEUE) == count);
}

void redis_begin_permit_wait(latch_op *op, latch_lease *lease, latch_request request,
                             long long waiters)
{
    redis_begin_wait(op, lease, request);
    redis_await_permit_waiters(waiters);
}

long long redis_permits_used(void)
{
    return unit_redis_number("EVAL %s 1 " REDIS_PERMIT_WEIGHTS,
                             "local sum = 0\n"
                             "local all = redis.call('ZRANGE', KEYS[1], 0, "
                             "-1, 'WITHSCORES')\n"
                             "for at = 2, #all, 2 do sum = sum + all[at] end\n"
                             "return sum");
}
