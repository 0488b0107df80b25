/* Leases on permits of the semaphore "s" in Redis stores, beside redis_store.h. */
#ifndef REDIS_PERMIT_LEASES_H
#define REDIS_PERMIT_LEASES_H

#include "redis_store.h"

#define REDIS_PERMIT_WEIGHTS "{s}:weight"
#define REDIS_PERMIT_TIMES "{s}:time"

/* A new lease in that store, in unit.store, or in a new store of its own. */
latch_lease *redis_permit_in(latch_store *store);
latch_lease *redis_permit(void);
latch_lease *redis_permit_elsewhere(void);

/* The request with these permits; an acquire of them; one that waits for ten minutes at most. */
latch_request redis_with_permits(latch_request request, int64_t weight, int64_t limit);
latch_request redis_take(int64_t weight, int64_t limit);
latch_request redis_wait_to_take(int64_t weight, int64_t limit);
latch_status redis_run_take(latch_lease *lease, int64_t weight, int64_t limit);

/* Returns when so many wait; fails when there are others for long. */
void redis_await_permit_waiters(long long count);
/* Begins a wait, and returns when it is in the queue, as the last of so many. */
void redis_begin_permit_wait(latch_op *op, latch_lease *lease, latch_request request,
                             long long waiters);
/* The sum of all weights that the server has. */
long long redis_permits_used(void);

#endif
