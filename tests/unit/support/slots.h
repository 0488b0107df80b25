/* Counting semaphores as slots: unit.store has the slots, slots_locks the locks that they are. */
#ifndef SLOTS_H
#define SLOTS_H

#include "src/engine/store.h"
#include "unit.h"

extern latch_store *slots_locks;

/* Slots in that store of locks; NULL and unit.error. */
latch_store *unit_open_slots(latch_store *in);
/* Behind unit_setup(): slots in that store, which may be NULL; and the end of both. */
int unit_setup_slots(latch_store *in);
int unit_teardown_slots(void **state);

/* A new lease on permits in the slots, or on a lock. */
latch_lease *permit_lease(const char *name);
latch_lease *lock_lease(const char *name);
latch_request for_permits(latch_request request, int64_t limit, int64_t weight);
latch_status take(latch_lease *lease, int64_t limit, int64_t weight);
/* The next random number, by which the first slot to be tried is chosen. */
void slots_begin_at(uint64_t number);

#endif
