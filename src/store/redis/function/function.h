/*
 * Requests of LATCH_CALL: functions of versions, throttles and count-downs, each of them one
 * script. They go on the connections of the store's other requests, and know nothing of locks.
 */
#ifndef LATCH_REDIS_FUNCTION_H
#define LATCH_REDIS_FUNCTION_H

#include "src/store/redis/script/function.h"
#include "src/store/redis/topology/server.h"

/*
 * As latch_store_class.begin(), step() and abandon(), for requests of that kind. `waiter`, whose
 * channel outlives the request, or NULL: whom the server is to tell, of LATCH_COUNT_DOWN_STATE; the
 * answer has one part more if it will not (count_down.lua).
 */
latch_status latch_redis_function_begin(latch_op *op, redis_topology *topology,
                                        redis_functions *functions,
                                        const redis_function_waiter *waiter);
latch_status latch_redis_function_step(latch_op *op, int64_t now_ns);
/* An answer in flight is not awaited any more; the server may carry the call out. */
void latch_redis_function_abandon(latch_op *op);

#endif
