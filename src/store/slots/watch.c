/*
 * Watch on held slots: they are lost with the first of them. Slots that expire are not watched: who
 * renewed them in the background would have to do it one by one.
 */
#include "src/store/slots/slots.h"

#include <string.h>

/* The watches on slots without a descriptor. */
typedef struct watched_slots {
    size_t count;
    latch_watch watches[];
} watched_slots;

static void end_slot_watch(latch_engine *engine, latch_watch *watch)
{
    if (watch->end != NULL) {
        watch->end(engine, watch->state);
    } else {
        latch_free(engine, watch->state);
    }
}

static bool is_any_slot_gone(const latch_watch *watch)
{
    const watched_slots *watched = watch->state;
    bool is_gone = false;

    for (size_t at = 0; at < watched->count && !is_gone; at++) {
        is_gone = watched->watches[at].is_gone(&watched->watches[at]);
    }
    return is_gone;
}

static void end_slot_watches(latch_engine *engine, void *state)
{
    watched_slots *watched = state;

    for (size_t at = 0; at < watched->count; at++) {
        end_slot_watch(engine, &watched->watches[at]);
    }
    latch_free(engine, watched);
}

static size_t count_slots(const slot *held)
{
    size_t count = 0;

    for (; held != NULL; held = held->next) {
        count++;
    }
    return count;
}

/* Watches each of them; false, with nothing watched, unless all can be. */
static bool watch_each(watched_slots *watched, const slot *held)
{
    const latch_store_class *class = held->lease.store->class;

    for (; held != NULL; held = held->next) {
        latch_watch *watch = &watched->watches[watched->count];

        memset(watch, 0, sizeof(*watch));
        if (!class->watch(&held->lease, watch)) {
            return false;
        }
        watched->count++;
        if (watch->descriptor != NULL) {
            return true; /* the session's: it ends with all that it holds */
        }
    }
    return true;
}

bool latch_slots_watch(const latch_lease *lease, latch_watch *watch)
{
    latch_engine *engine = lease->store->engine;
    const slot *held = latch_slots_of(lease);
    watched_slots *watched;

    if (lease->mode == LATCH_FREE || held == NULL || held->lease.store->class->watch == NULL) {
        return false;
    }
    watched =
        latch_allocate(engine, sizeof(*watched) + count_slots(held) * sizeof(watched->watches[0]));
    if (watched == NULL) {
        return false;
    }
    watched->count = 0;
    if (!watch_each(watched, held)) {
        end_slot_watches(engine, watched);
        return false;
    }
    if (watched->watches[0].descriptor != NULL) {
        *watch = watched->watches[0];
        latch_free(engine, watched);
        return true;
    }
    *watch = (latch_watch){
        .is_gone = is_any_slot_gone,
        .state = watched,
        .end = end_slot_watches,
    };
    return true;
}

const char *latch_slots_renewal_unsupported_reason(const latch_store *base)
{
    const latch_store *locks = ((const slots_store *) base)->locks;

    if ((locks->info->capabilities & LATCH_EXPIRING) != 0) {
        return "its permits are locks that expire, each of which would have to be renewed by "
               "itself; semaphores of the same server can be kept alive";
    }
    return locks->class->renewal_unsupported_reason != NULL
               ? locks->class->renewal_unsupported_reason(locks)
               : NULL;
}
