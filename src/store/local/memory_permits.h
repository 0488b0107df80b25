/* Counting semaphores in the memory of one thread: part of the in-memory store. */
#ifndef LATCH_MEMORY_PERMITS_H
#define LATCH_MEMORY_PERMITS_H

#include "src/base/hash.h"
#include "src/engine/store.h"

/*
 * The functions for permit leases. `semaphores` is the store's table of them by name, which
 * latch_hash_init() has made.
 */

/* As latch_store_class.begin(), held() and drop(). */
latch_status latch_memory_permits_begin(latch_hash *semaphores, latch_op *op);
bool latch_memory_permits_held(latch_hash *semaphores, const latch_lease *lease);
void latch_memory_permits_drop(latch_lease *lease);
/* Frees all semaphores with the permits that are held; their leases hold nothing then. */
void latch_memory_permits_end(latch_hash *semaphores);

#endif
