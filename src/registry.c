/* Plug-in list: the store classes of this build, one line each, and how they are found by name. */
#include "src/registry.h"

#include <string.h>

static const latch_store_class *const classes[] = {
    &latch_flock_store,
#ifdef LATCH_WITH_REDIS
    &latch_redis_store,
#endif
    &latch_mysql_store,    &latch_postgresql_store, &latch_semaphore_store, &latch_memory_store,
    &latch_combined_store, &latch_null_store,       &latch_callback_store,
};

#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))
/* Without the last one, which is the engine's user's. */
#define LISTED_COUNT (CLASS_COUNT - 1)

const latch_store_info *latch_store_at(size_t index)
{
    return index < LISTED_COUNT ? &classes[index]->info : NULL;
}

latch_store *latch_store_open(latch_engine *engine, const char *name,
                              const latch_store_options *options, latch_error *error)
{
    for (size_t at = 0; at < CLASS_COUNT; at++) {
        if (strcmp(classes[at]->info.name, name) == 0) {
            return latch_store_open_as(engine, classes[at], options, error);
        }
    }
    latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "there is no store called \"%s\"", name);
    return NULL;
}
