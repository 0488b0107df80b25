/* Semaphore sets: see semaphore_set.h. */
#include "src/store/semaphore/semaphore_set.h"

#include "src/store/semaphore/permit_set.h"

#include <errno.h>
#include <sys/ipc.h>

enum { LOCK, USERS, SETUP, SEMAPHORE_COUNT };

/* Attempts of an acquire whose set is removed meanwhile. */
#define REMOVALS_MAX 100

semaphore_outcome latch_semaphore_outcome_of_errno(void)
{
    switch (errno) {
        case EAGAIN:
        case EINTR:
            return SEMAPHORE_BUSY;
        case EIDRM:
        case EINVAL:
            return SEMAPHORE_REMOVED;
        default:
            return SEMAPHORE_BROKEN;
    }
}

/* Initialises and acquires a set: a new one, or one whose creator was killed before it did so. */
static semaphore_outcome acquire_new(int set)
{
    struct sembuf operations[] = {
        {SETUP, 0, IPC_NOWAIT}, {USERS, 0, IPC_NOWAIT}, {LOCK, 0, IPC_NOWAIT},
        {LOCK, 1, IPC_NOWAIT},  {LOCK, -1, SEM_UNDO},   {USERS, 1, SEM_UNDO},
    };

    return semop(set, operations, sizeof(operations) / sizeof(*operations)) == 0
               ? SEMAPHORE_HELD
               : latch_semaphore_outcome_of_errno();
}

/* Acquires a set that is free. With `wait` it sleeps for up to `slice_ns`; otherwise only for a
 * peer that initialises the set, a matter of microseconds. */
static semaphore_outcome acquire_free(int set, bool wait, int64_t slice_ns)
{
    struct sembuf operations[] = {
        {SETUP, 0, 0},
        {LOCK, -1, (short) (SEM_UNDO | (wait ? 0 : IPC_NOWAIT))},
        {USERS, 1, SEM_UNDO},
    };
    const struct timespec slice = {.tv_nsec = (long) slice_ns};

    return semtimedop(set, operations, sizeof(operations) / sizeof(*operations), &slice) == 0
               ? SEMAPHORE_HELD
               : latch_semaphore_outcome_of_errno();
}

/* Releases a set without removing it: the kernel grants it to one of the waiters. */
static void hand_over(int set)
{
    struct sembuf operations[] = {
        {LOCK, 1, SEM_UNDO | IPC_NOWAIT},
        {USERS, -1, SEM_UNDO | IPC_NOWAIT},
    };

    semop(set, operations, sizeof(operations) / sizeof(*operations));
}

/*
 * Removing a set wakes all its waiters, to race for a new one; handing over wakes one. Only its
 * owner and root can remove a set.
 */
void latch_semaphore_set_release(int set)
{
    if (semctl(set, LOCK, GETNCNT) > 0 || (semctl(set, 0, IPC_RMID) != 0 && errno == EPERM)) {
        hand_over(set);
    }
}

/* Reads all values; false and errno: also where another program has made a set of another size. */
static bool read_lock_values(int set, unsigned short values[SEMAPHORE_COUNT])
{
    struct semid_ds status;

    if (semctl(set, 0, IPC_STAT, (union semun){.status = &status}) != 0) {
        return false;
    }
    if (status.sem_nsems != SEMAPHORE_COUNT) {
        errno = ENOTSUP;
        return false;
    }
    return semctl(set, 0, GETALL, (union semun){.values = values}) == 0;
}

void latch_semaphore_set_remove_unused(int set)
{
    unsigned short values[SEMAPHORE_COUNT];

    if (read_lock_values(set, values) && values[USERS] == 0 && values[SETUP] == 0
        && values[LOCK] <= 1
        && (acquire_new(set) == SEMAPHORE_HELD
            || acquire_free(set, false, SEMAPHORE_SLICE_NS) == SEMAPHORE_HELD)) {
        latch_semaphore_set_release(set);
    }
}

void latch_semaphore_sets_sweep(time_t recent)
{
    struct seminfo info;
    int last = semctl(0, 0, SEM_INFO, (union semun){.info = &info});

    for (int index = 0; index <= last; index++) {
        struct semid_ds status;
        int set = semctl(index, 0, SEM_STAT, (union semun){.status = &status});

        if (set < 0 || (status.sem_perm.mode & 0777) != SEMAPHORE_OUR_MODE
            || status.sem_otime >= recent || status.sem_ctime >= recent) {
            continue;
        }
        if (status.sem_nsems == SEMAPHORE_COUNT) {
            latch_semaphore_set_remove_unused(set);
        } else {
            latch_permit_set_remove_unused(set);
        }
    }
}

bool latch_semaphore_set_remove(int set)
{
    return semctl(set, 0, IPC_RMID) == 0;
}

bool latch_semaphore_set_is_held_by(int set, pid_t pid)
{
    return semctl(set, LOCK, GETVAL) == 0 && semctl(set, LOCK, GETPID) == pid;
}

bool latch_semaphore_set_is_lost(int set, pid_t pid)
{
    int value = semctl(set, LOCK, GETVAL);
    int last = value < 0 ? -1 : semctl(set, LOCK, GETPID);

    return last < 0 ? latch_semaphore_outcome_of_errno() == SEMAPHORE_REMOVED
                    : value != 0 || last != pid;
}

/* The set of a key, made if need be; -1 and errno. */
static int get_set(key_t key, bool *made)
{
    int set = semget(key, SEMAPHORE_COUNT, IPC_CREAT | IPC_EXCL | SEMAPHORE_OUR_MODE);

    *made = set >= 0;
    return set < 0 && errno == EEXIST ? semget(key, SEMAPHORE_COUNT, SEMAPHORE_PEERS_MODE) : set;
}

semaphore_outcome latch_semaphore_set_acquire(key_t key, int *set)
{
    semaphore_outcome result = SEMAPHORE_REMOVED;

    for (int removals = 0; result == SEMAPHORE_REMOVED && removals < REMOVALS_MAX; removals++) {
        bool made;

        *set = get_set(key, &made);
        if (*set < 0 && errno != ENOENT) {
            return SEMAPHORE_BROKEN;
        }
        if (*set < 0) {
            continue;
        }
        result = made ? acquire_new(*set) : acquire_free(*set, false, SEMAPHORE_SLICE_NS);
        if (result == SEMAPHORE_BUSY) {
            result = made ? acquire_free(*set, false, SEMAPHORE_SLICE_NS) : acquire_new(*set);
        }
    }
    return result;
}

semaphore_outcome latch_semaphore_set_wait(int set, int64_t slice_ns)
{
    semaphore_outcome result = acquire_new(set);

    return result == SEMAPHORE_BUSY ? acquire_free(set, true, slice_ns) : result;
}

/* A process that initialises a set counts as a user, and does not hold it. */
static bool is_held(const unsigned short values[SEMAPHORE_COUNT])
{
    return values[LOCK] == 0 && values[USERS] > values[SETUP];
}

semaphore_outcome latch_semaphore_set_inspect(key_t key, int *set, pid_t *pid)
{
    unsigned short values[SEMAPHORE_COUNT];

    *set = semget(key, SEMAPHORE_COUNT, 0);
    *pid = 0;
    if (*set >= 0 && read_lock_values(*set, values)) {
        if (!is_held(values)) {
            return SEMAPHORE_REMOVED;
        }
        *pid = semctl(*set, LOCK, GETPID);
        return SEMAPHORE_HELD;
    }
    return errno == ENOENT || (*set >= 0 && latch_semaphore_outcome_of_errno() == SEMAPHORE_REMOVED)
               ? SEMAPHORE_REMOVED
               : SEMAPHORE_BROKEN;
}
