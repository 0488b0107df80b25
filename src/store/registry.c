/* Registry of the stores: plug-in list, look-up by name, open and close. */
#include "src/renewal/renewal.h"

#include <string.h>

/* For how long others go on without who was silent: doubled each time. */
#define FIRST_PAUSE_NS LATCH_NS_PER_S
#define LONGEST_PAUSE_NS (16 * LATCH_NS_PER_S)

static const latch_store_class *const classes[] = {
#define LATCH_STORE(store) &latch_##store##_store,
#include "src/store/stores.def"
    &latch_callback_store,
};

#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))
/* Without the last one, which is the engine's user's. */
#define LISTED_COUNT (CLASS_COUNT - 1)

const latch_store_info *latch_store_at(size_t index)
{
    return index < LISTED_COUNT ? &classes[index]->info : NULL;
}

const latch_store_info *latch_store_find(const char *name)
{
    for (size_t at = 0; at < LISTED_COUNT; at++) {
        if (strcmp(classes[at]->info.name, name) == 0) {
            return &classes[at]->info;
        }
    }
    return NULL;
}

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
    store = latch_store_make(engine, class, error);
    if (store != NULL && class->open != NULL && class->open(store, options, error) != LATCH_DONE) {
        latch_free(engine, store);
        return NULL;
    }
    return store;
}

void latch_store_close(latch_store *store)
{
    latch_renewal_leave_store(store);
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

void latch_note_silence(latch_silence *silence, int64_t asked_ns, int64_t now_ns)
{
    if (silence->pause_ns > 0 && asked_ns < silence->avoided_until_ns - silence->pause_ns) {
        return; /* it was noted since */
    }
    silence->pause_ns = silence->pause_ns == 0 ? FIRST_PAUSE_NS : 2 * silence->pause_ns;
    if (silence->pause_ns > LONGEST_PAUSE_NS) {
        silence->pause_ns = LONGEST_PAUSE_NS;
    }
    silence->avoided_until_ns = now_ns + silence->pause_ns;
}
