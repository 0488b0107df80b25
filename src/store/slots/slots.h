/*
 * Inside the store of slots: slots.c (the store's class), course.c (the course of a request),
 * slot.c (single slots), watch.c (the watch for lost slots).
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

/* What a request does with the slots, one after the other. */
typedef enum slots_phase {
    TAKES,  /* acquires more slots, until there are enough */
    RENEWS, /* acquires the held ones again */
    REFRESHES,
    PROBES,
    RELEASES,
    GIVES_BACK, /* releases the held ones, and then ends with `result` */
    INSPECTS,
} slots_phase;

/* lease->state */
typedef struct slots_hold {
    slot *held;
    int64_t count;  /* of them */
    int64_t weight; /* number that is held, or wanted */
    /* The request under way: */
    slots_phase phase;
    bool in_flight; /* `op`, on `current` */
    bool is_cancelled;
    slot *current;
    slot **at;            /* of the held ones: where the phase has got to */
    int64_t first, tried; /* TAKES, INSPECTS */
    slot *kept;           /* TAKES: those that were held when it began */
    latch_status result;
    latch_error failure; /* of the first request that has failed */
    latch_lock_report *found;
    latch_op op;
    latch_error error;
} slots_hold;

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

/* ---- course.c */

void latch_slots_begin_phase(slots_hold *hold, slots_phase phase);
/* Begins to acquire slots from a random one on, as many as are missing. */
void latch_slots_begin_taking(const latch_op *op, slots_hold *hold);
/* Begins to release those that are held; the request ends with `result` then. LATCH_AGAIN: it takes
 * others instead. */
void latch_slots_give_back(slots_hold *hold, latch_status result);
/* Goes on until the request has ended or waits. `status`: of the slot in flight, or LATCH_AGAIN. */
latch_status latch_slots_drive(latch_op *op, slots_hold *hold, latch_status status);

/* ---- watch.c: for the store's class */

bool latch_slots_watch(const latch_lease *lease, latch_watch *watch);
const char *latch_slots_renewal_unsupported_reason(const latch_store *base);

#endif
