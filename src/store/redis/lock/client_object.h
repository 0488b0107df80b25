/*
 * Client object: a transport over a client of the engine's user (latch_redis_runner). A command is
 * answered while it is sent, and there is no pub/sub: waiters poll.
 */
#ifndef LATCH_REDIS_OBJECT_H
#define LATCH_REDIS_OBJECT_H

#include "src/store/redis/script/keys.h"
#include "src/store/redis/wire/connection.h"

typedef struct redis_object {
    latch_redis_runner runner;
    redis_keyspace *keys; /* of the store: the client's prefix may change */
} redis_object;

/* The options of a store on such a client; LATCH_ERROR_MEMORY, and nothing to be freed. */
latch_status latch_redis_object_options(latch_engine *engine, redis_options *options,
                                        latch_error *error);
/* Makes the client the connection's transport. */
void latch_redis_object_attach(redis_object *object, const latch_redis_runner *runner,
                               redis_keyspace *keys, redis_connection *connection);

#endif
