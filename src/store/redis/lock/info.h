/* The descriptor of the Redis store, the same in builds with hiredis and without. */
#ifndef LATCH_REDIS_INFO_H
#define LATCH_REDIS_INFO_H

#include "src/latch.h"

#define REDIS_STORE_NAME "redis"
/* Capabilities that a store on a client object has, too. */
#define REDIS_OBJECT_CAPABILITIES                                                                  \
    (LATCH_EXPIRING | LATCH_SHARED_LOCKS | LATCH_FENCING | LATCH_SERIALIZABLE | LATCH_PERMITS      \
     | LATCH_CALLS | LATCH_HOLDER_INFO)

/* The fields of latch_store_info that both builds share. */
#define REDIS_INFO                                                                                 \
    .name = REDIS_STORE_NAME, .title = "Redis",                                                    \
    .capabilities = REDIS_OBJECT_CAPABILITIES | LATCH_BLOCKING | LATCH_PUSH | LATCH_LISTING,       \
    .scope = LATCH_SCOPE_SERVER,                                                                   \
    .schemes = (const char *const[]){"redis", "rediss", "valkey", "valkeys", NULL},                \
    .default_ttl_ms = 300 * 1000 /* Symfony's */

#endif
