/* Stores, whatever their class: opened, described and closed. */
#include "src/engine/store.h"

#include "src/engine/observer.h"

#include <string.h>

latch_store *latch_store_make(latch_engine *engine, const latch_store_class *class,
                              latch_error *error)
{
    latch_store *store = latch_allocate(engine, class->size);

    if (store == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    memset(store, 0, class->size);
    store->class = class;
    store->info = &class->info;
    store->engine = engine;
    return store;
}

latch_store *latch_store_open_as(latch_engine *engine, const latch_store_class *class,
                                 const latch_store_options *options, latch_error *error)
{
    latch_store *store = latch_store_make(engine, class, error);

    if (store != NULL && class->open != NULL && class->open(store, options, error) != LATCH_DONE) {
        latch_free(engine, store);
        return NULL;
    }
    return store;
}

void latch_store_close(latch_store *store)
{
    if (store->renewal_store != NULL) {
        store->engine->observer->close_store(store);
    }
    latch_stores_settle(&store, 1);
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
    return store->info;
}
