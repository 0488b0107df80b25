/*
 * Inside the store of slots: slots.c (requests), slot.c (single slots), watch.c (the
 * watch for lost slots).
 */
#ifndef LATCH_SLOTS_H
#define LATCH_SLOTS_H

#include "src/engine/store.h"

/* A permit: the lease on its lock. */
typedef struct slot {
    struct slot *next;
    int64_t number;
    latch_lease lease;
    char name[];
} slot;

typedef struct slots_store {
    latch_store store;
    latch_store_info info;
    latch_store *locks; /* the caller's, who closes it later */
} slots_store;

/* ---- slot.c */

/* A slot of the lease's semaphore, not held yet; NULL when memory ran out. */
slot *latch_slot_make(const latch_lease *lease, int64_t number);
void latch_slot_free(slot *freed);
/* Adds a slot's report to that of the semaphore, in that store of slots: takes its holders. */
void latch_slots_merge(const latch_store *store, latch_lock_report *report,
                       latch_lock_report *found);

/* ---- slots.c */

/* The slots that the lease holds; NULL: none. */
slot *latch_slots_of(const latch_lease *lease);

/* ---- watch.c: for the store's class */

bool latch_slots_watch(const latch_lease *lease, latch_watch *watch);
const char *latch_slots_renewal_unsupported_reason(const latch_store *base);

#endif
