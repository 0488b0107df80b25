/*
 * Inside the store of System V semaphores: semaphore.c (the class, and locks), semaphore_set.c
 * (sets of locks), permits.c (permits of counting semaphores), permit_set.c (sets of those).
 */
#ifndef LATCH_SEMAPHORE_H
#define LATCH_SEMAPHORE_H

#include "src/engine/store.h"
#include "src/store/semaphore/semaphore_set.h"

typedef struct semaphore_store {
    latch_store store;
    latch_link held;  /* of semaphore_hold */
    int64_t swept_ns; /* on the coarse clock */
    latch_digest digest;
    size_t project_length;
    char *project;
} semaphore_store;

/* lease->state */
typedef struct semaphore_hold {
    latch_link link; /* in the store's `held` */
    key_t key;
    int set;
    pid_t pid;           /* of the process that took it */
    unsigned generation; /* the same, without a system call */
    int64_t weight;      /* permits; of a lock 0 */
} semaphore_hold;

/* ---- semaphore.c */

/* The System V key of the lock, or of the semaphore, whose key is another one. */
key_t latch_semaphore_key_of(const latch_lease *lease);
latch_status latch_semaphore_fail_system(latch_op *op, const char *call, key_t key);
/* A child that was forked does not hold what its parent does. */
bool latch_semaphore_is_of_this_process(const latch_engine *engine, const semaphore_hold *hold);
bool latch_semaphore_is_ours(const latch_lease *lease);
/* Removes sets that killed holders have left, if it is time for that. */
void latch_semaphore_sweep_if_due(semaphore_store *store);
/* Makes the hold the lease's. */
void latch_semaphore_mark_held(latch_op *op, semaphore_hold *taken, key_t key, int set);
void latch_semaphore_drop_hold(latch_lease *lease);
/* Lets the next step of a wait sleep in the queue of that set. */
latch_status latch_semaphore_want_set(latch_op *op, int set);
/* How long that step may sleep. */
int64_t latch_semaphore_slice_ns(const latch_op *op, int64_t now_ns);

/* ---- permits.c: the same as the class's functions, for permit leases */

latch_status latch_semaphore_permits_begin(latch_op *op);
latch_status latch_semaphore_permits_step(latch_op *op, int64_t now_ns);
/* Gives back what this process holds. */
void latch_semaphore_permits_give_back(const semaphore_hold *held);

#endif
