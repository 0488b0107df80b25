/* The stores of this build, one line each. */
#include "store.h"

#include <string.h>

static const latch_store_class *const classes[] = {
    &latch_flock_store,
#ifdef LATCH_WITH_REDIS
    &latch_redis_store,
#endif
    &latch_mysql_store,  &latch_postgresql_store, &latch_semaphore_store,
    &latch_memory_store, &latch_null_store,
};

#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))

const latch_store_info *latch_store_at(size_t index)
{
    return index < CLASS_COUNT ? &classes[index]->info : NULL;
}

latch_store *latch_store_open(latch_engine *engine, const char *name,
                              const latch_store_options *options, latch_error *error)
{
    const latch_store_class *class = NULL;
    latch_store *store;

    for (size_t at = 0; at < CLASS_COUNT; at++) {
        if (strcmp(classes[at]->info.name, name) == 0) {
            class = classes[at];
        }
    }
    if (class == NULL) {
        latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "there is no store called \"%s\"", name);
        return NULL;
    }
    store = latch_allocate(engine, class->size);
    if (store == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    memset(store, 0, class->size);
    store->class = class;
    store->engine = engine;
    if (class->open != NULL && class->open(store, options, error) != LATCH_DONE) {
        latch_free(engine, store);
        return NULL;
    }
    return store;
}

void latch_store_close(latch_store *store)
{
    if (store->class->close != NULL) {
        store->class->close(store);
    }
    latch_free(store->engine, store);
}

const char *latch_store_identity(const latch_store *store)
{
    return store->class->identity != NULL ? store->class->identity(store) : NULL;
}

const latch_store_info *latch_store_describe(const latch_store *store)
{
    return &store->class->info;
}
