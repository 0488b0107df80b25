/*
 * System V semaphore sets as counting semaphores, in the protocol of sem_get($key, $limit) of PHP's
 * sysvsem extension.
 *
 * Its three semaphores (semaphore_set.h) have another sense then: the first one counts the free
 * permits. A set that Latch makes has a fourth one, unknown to PHP, which is the limit that the
 * first user has named; 0, or a set without it, is an unknown limit, as PHP made it. While nobody
 * uses a set the next user names a limit, as in PHP.
 *
 * Permits are taken by one semop(2), all or none, and the kernel gives back those of a killed
 * process (SEM_UNDO). The last user removes a set of Latch's: SETUP is not 0 meanwhile, so that
 * nobody comes in between.
 */
#ifndef LATCH_PERMIT_SET_H
#define LATCH_PERMIT_SET_H

#include "src/store/semaphore/semaphore_set.h"

/* The kernel's largest value of a semaphore. */
enum { PERMIT_SET_LIMIT_MAX = 32767 };

/* What the kernel tells of a semaphore that is in use. */
typedef struct permit_set_report {
    int64_t used;
    uint64_t users;   /* holders, and processes that have a handle by sem_get() */
    uint64_t waiters; /* in the kernel's queue at that moment */
} permit_set_report;

/*
 * Takes permits of the key's semaphore, which is made if there is none; waits in the kernel's queue
 * for so long, 0: not at all. *set is the set that was BUSY or BROKEN, -1: semget() failed;
 * SEMAPHORE_OTHER_LIMIT: *limit is the one that its users have named.
 */
semaphore_outcome latch_permit_set_acquire(key_t key, const latch_permits *permits,
                                           int64_t slice_ns, int *set, int64_t *limit);
/* Gives permits back that this process holds, and removes the set if nobody else uses it. */
void latch_permit_set_release(int set, int64_t weight);
/* Removes an unused set that Latch has made. */
void latch_permit_set_remove_unused(int set);
/* Was the set removed, or freed by force? One that is closed to this process is still held. */
bool latch_permit_set_is_lost(int set);
/* Inspects the key's set: HELD with a report, by `limit` where the set's is unknown; REMOVED:
 * nobody uses it; or BROKEN, with *set as above. */
semaphore_outcome latch_permit_set_inspect(key_t key, int64_t limit, int *set,
                                           permit_set_report *report);

#endif
