/*
 * A client that the engine's user has (latch_redis_runner), in the place of a connection of ours:
 * what is sent is answered while it is sent, and messages do not come that way, so that who has to
 * wait asks again and again. All else is as with a connection (store.c).
 */
#ifndef LATCH_REDIS_OBJECT_H
#define LATCH_REDIS_OBJECT_H

#include "src/store/redis/wire/connection.h"

typedef struct redis_object {
    latch_redis_runner runner;
    const char *prefix; /* the runner's, as of latch_redis_object_prepare() */
    size_t prefix_length;
    bool was_slow; /* the last answer that was lost was waited for: nothing is repeated then */
} redis_object;

/* The options of a store on such a client; LATCH_ERROR_MEMORY, and nothing to be freed. */
latch_status latch_redis_object_options(latch_engine *engine, redis_options *options,
                                        latch_error *error);
/* To be called by each request, as latch_redis_connect(); without a lease: for what is owed. */
latch_status latch_redis_object_prepare(redis_connection *connection, const latch_lease *lease,
                                        latch_error *error);
/*
 * Runs the script, and keeps the answer for latch_redis_receive(). As latch_redis_send(): NULL when
 * memory ran out. After an answer that was lost nothing is run until the next request.
 */
redis_call *latch_redis_object_run(redis_connection *connection, const latch_redis_script *script,
                                   int64_t now_ns);
/* latch_redis_receive(). */
bool latch_redis_object_receive(redis_connection *connection);
/* May a script whose answer was lost be run once more? Always, on a connection of ours. */
bool latch_redis_object_repeats(const redis_connection *connection);

#endif
