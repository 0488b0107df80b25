/* Null objects in the place of the Redis stores, in builds without hiredis: they are listed, and
 * not opened. */
#ifndef LATCH_WITH_REDIS

#include "src/engine/store.h"
#include "src/store/redis/lock/info.h"

static latch_status refuse(latch_store *store, const latch_store_options *options,
                           latch_error *error)
{
    return latch_fail(error, LATCH_ERROR_UNSUPPORTED, 0,
                      "this build of Latch has no Redis%sStore: build it again where hiredis and "
                      "pkg-config are installed",
                      (store->info->capabilities & LATCH_OWNERS) != 0 ? "String" : "");
}

const latch_store_class latch_redis_store = {
    .info = {REDIS_INFO, .capabilities = REDIS_CAPABILITIES | REDIS_DSN_CAPABILITIES,
             .missing_library = "hiredis"},
    .size = sizeof(latch_store),
    .open = refuse,
};

const latch_store_class latch_redis_string_store = {
    .info = {REDIS_STRING_INFO, .capabilities = REDIS_STRING_CAPABILITIES | REDIS_DSN_CAPABILITIES,
             .missing_library = "hiredis"},
    .size = sizeof(latch_store),
    .open = refuse,
};

#endif
