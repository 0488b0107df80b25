/* Watches of leases without expiry, as the renewal thread has them: see latch_watch. */
#ifndef WATCHES_H
#define WATCHES_H

#include "src/engine/store.h"
#include "unit.h"

/* False: there is nothing to be watched, and no watch. */
bool unit_watch_begin(latch_watch *watch, const latch_lease *lease);
void unit_watch_end(latch_watch *watch);
/* Would the renewal thread take the lease for lost? */
bool unit_watch_tells(const latch_watch *watch);
/* Returns when it would. */
void unit_watch_await(const latch_watch *watch);

/* Tests of any store, on the first lease of the test, which is not held yet. */
void what_is_not_held_is_not_watched(void **state);
void a_child_watches_nothing_of_its_parents(void **state);
void a_watch_does_without_memory(void **state);

/* The renewal thread itself: a mailbox for a test, and its end, which drops all leases. */
void unit_losses_open(void);
void unit_losses_close(void);
/* From now on its loss comes to the mailbox. */
void unit_losses_keep(latch_lease *lease);
/*
 * Returns when the next loss has come, which must be the lease's. The thread looks after all leases
 * at a time, in the order in which they were kept: those that were kept before it are not lost.
 */
void unit_losses_expect(latch_lease *lease);

#endif
