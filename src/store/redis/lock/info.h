/* The descriptors of the Redis stores, the same in builds with hiredis and without. */
#ifndef LATCH_REDIS_INFO_H
#define LATCH_REDIS_INFO_H

#include "src/latch.h"

/* Capabilities; on a client object these are all. */
#define REDIS_CAPABILITIES                                                                         \
    (LATCH_EXPIRING | LATCH_SHARED_LOCKS | LATCH_FENCING | LATCH_SERIALIZABLE | LATCH_PERMITS      \
     | LATCH_CALLS | LATCH_HOLDER_INFO)
#define REDIS_STRING_CAPABILITIES                                                                  \
    (LATCH_EXPIRING | LATCH_FENCING | LATCH_SERIALIZABLE | LATCH_HOLDER_INFO | LATCH_OWNERS)
/* Those that need a DSN. */
#define REDIS_DSN_CAPABILITIES (LATCH_BLOCKING | LATCH_PUSH | LATCH_LISTING)

/* The fields of latch_store_info that all builds share. */
#define REDIS_INFO                                                                                 \
    .name = "redis", .title = "Redis", .scope = LATCH_SCOPE_SERVER,                                \
    .state_name = "Symfony\\Component\\Lock\\Store\\RedisStore",                                   \
    .permit_state_name = "Symfony\\Component\\Semaphore\\Store\\RedisStore",                       \
    .schemes = (const char *const[]){"redis", "rediss", "valkey", "valkeys", NULL},                \
    .default_ttl_ms = 300 * 1000 /* Symfony's */
#define REDIS_STRING_INFO                                                                          \
    .name = "redis-string", .title = "Redis", .scope = LATCH_SCOPE_SERVER,                         \
    .state_name = "Latch\\Store\\RedisStringStore", .schemes = (const char *const[])               \
    {                                                                                              \
        "redis+string", "rediss+string", "valkey+string", "valkeys+string", NULL                   \
    }

#endif
