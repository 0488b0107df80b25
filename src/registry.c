/* Registry of the stores: plug-in list (src/store/stores.def) and look-up by name. */
#include "src/registry.h"

#include <string.h>

static const latch_store_class *const classes[] = {
#define LATCH_STORE(store) &latch_##store##_store,
#include "src/store/stores.def"
    &latch_callback_store,
    &latch_slots_store,
    &latch_table_store,
};

#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))
/* Without the last three, which are stores by what the engine's user gives them. */
#define LISTED_COUNT (CLASS_COUNT - 3)

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
