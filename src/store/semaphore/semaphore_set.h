/*
 * System V semaphore sets in the protocol of PHP's sysvsem extension: one set is one lock.
 *
 * A set has three semaphores (php-src, ext/sysvsem/sysvsem.c): LOCK is 1 when free and 0 when held;
 * USERS counts its users; SETUP is not 0 while a process initialises the set (LOCK = 1), as the
 * kernel creates sets with zeros. PHP needs five calls for that. Latch needs one: semop(2) is
 * atomic, and its operations require SETUP to be 0, so that they never come between PHP's.
 *
 * A release removes the set. A process that is killed leaves it behind, free; the next user of the
 * resource, or a sweep, removes it. Latch's sets have a mode of their own: a pattern of execute
 * bits, which mean nothing to the kernel, that no other program uses.
 */
#ifndef LATCH_SEMAPHORE_SET_H
#define LATCH_SEMAPHORE_SET_H

#include "src/latch.h"

#include <sys/sem.h>
#include <sys/types.h>
#include <time.h>

/* Argument of semctl(2); its manual page requires the caller to define it. */
union semun {
    int value;
    struct semid_ds *status;
    unsigned short *values;
    struct seminfo *info;
};

/* Modes of the sets that Latch makes, not 0777, which careless programs use; and of other sets. */
#define SEMAPHORE_OUR_MODE 0676
#define SEMAPHORE_PEERS_MODE 0666

/* How long one step sleeps in the kernel's queue. There is no descriptor that could be polled. */
#define SEMAPHORE_SLICE_NS (10 * LATCH_NS_PER_MS)

typedef enum semaphore_outcome {
    SEMAPHORE_HELD,        /* acquired; of an inspection: by any process */
    SEMAPHORE_BUSY,        /* held by another process, or initialised by it just now */
    SEMAPHORE_REMOVED,     /* there is no set; of an inspection: or it is free */
    SEMAPHORE_BROKEN,      /* errno says why */
    SEMAPHORE_OTHER_LIMIT, /* of permits alone: its users have named another limit */
} semaphore_outcome;

/* What the failure of a call says. */
semaphore_outcome latch_semaphore_outcome_of_errno(void);
/*
 * Acquires the key's set if it is free, and makes it if there is none; *set is the set that was
 * BUSY or BROKEN, -1: semget() failed.
 */
semaphore_outcome latch_semaphore_set_acquire(key_t key, int *set);
/* Waits for a set in the kernel's queue, for so long. */
semaphore_outcome latch_semaphore_set_wait(int set, int64_t slice_ns);
/* Releases a set that this process holds. */
void latch_semaphore_set_release(int set);
/* Removes a set that another process holds, by this process's choice. False: errno says why. */
bool latch_semaphore_set_remove(int set);
/* Removes an unused set, after acquiring it, so that no other process can acquire it meanwhile. */
void latch_semaphore_set_remove_unused(int set);
/* Removes the sets that killed holders of Latch have left, of locks and of permits, unless they
 * were used since `recent`. */
void latch_semaphore_sets_sweep(time_t recent);

/* Is the set still held by that process? */
bool latch_semaphore_set_is_held_by(int set, pid_t pid);
/*
 * Was the set removed, or freed by force? Its number may belong to another set by now, with another
 * holder. A set that its administrator has closed to this process is still held.
 */
bool latch_semaphore_set_is_lost(int set, pid_t pid);
/* Inspects the key's set: HELD with *pid, 0: unknown; REMOVED; or BROKEN, with *set as above. */
semaphore_outcome latch_semaphore_set_inspect(key_t key, int *set, pid_t *pid);

#endif
