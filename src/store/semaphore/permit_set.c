/* Semaphore sets as counting semaphores: see permit_set.h. */
#include "src/store/semaphore/permit_set.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/sem.h>

enum { FREE, USERS, SETUP, LIMIT, COUNT, PEERS_COUNT = LIMIT };

/* Attempts of an acquire whose set is removed, or changes hands, meanwhile. */
#define REMOVALS_MAX 100
#define CHANGES_MAX 100

typedef struct permit_values {
    unsigned short values[COUNT];
    bool has_limit; /* by the number of its semaphores; the limit may be unknown all the same */
} permit_values;

typedef struct permit_operations {
    struct sembuf operations[10];
    size_t count;
} permit_operations;

static void add_operation(permit_operations *all, unsigned short semaphore, int64_t change,
                          int flags)
{
    all->operations[all->count++] = (struct sembuf){semaphore, (short) change, (short) flags};
}

/* All of them are made at once, or none. */
static semaphore_outcome run_operations(int set, permit_operations *all, int64_t slice_ns)
{
    const struct timespec slice = {.tv_nsec = (long) slice_ns};

    return semtimedop(set, all->operations, all->count, &slice) == 0
               ? SEMAPHORE_HELD
               : latch_semaphore_outcome_of_errno();
}

/* HELD: read. */
static semaphore_outcome read_values(int set, permit_values *read)
{
    struct semid_ds status;

    *read = (permit_values){.has_limit = false};
    if (semctl(set, 0, IPC_STAT, (union semun){.status = &status}) != 0) {
        return latch_semaphore_outcome_of_errno();
    }
    if (status.sem_nsems != PEERS_COUNT && status.sem_nsems != COUNT) {
        errno = EINVAL; /* another program's */
        return SEMAPHORE_BROKEN;
    }
    read->has_limit = status.sem_nsems == COUNT;
    return semctl(set, 0, GETALL, (union semun){.values = read->values}) == 0
               ? SEMAPHORE_HELD
               : latch_semaphore_outcome_of_errno();
}

static bool is_unused(const permit_values *read)
{
    return read->values[USERS] == 0 && read->values[SETUP] == 0;
}

static bool is_limit_known(const permit_values *read)
{
    return read->has_limit && read->values[LIMIT] > 0;
}

static bool has_other_limit(const permit_values *read, const latch_permits *permits)
{
    return is_limit_known(read) && read->values[SETUP] == 0 && read->values[USERS] > 0
           && read->values[LIMIT] != permits->limit;
}

/* Sets a semaphore that has this value; else the call fails. */
static void add_exchange(permit_operations *all, unsigned short semaphore, int64_t value,
                         int64_t becomes)
{
    if (value > 0) {
        add_operation(all, semaphore, -value, IPC_NOWAIT);
    }
    add_operation(all, semaphore, 0, IPC_NOWAIT);
    add_operation(all, semaphore, becomes, IPC_NOWAIT);
}

/* Takes permits of a set that nobody uses, and names its limit. BUSY: it is not as it was read. */
static semaphore_outcome take_as_first(int set, const permit_values *read,
                                       const latch_permits *permits)
{
    permit_operations all = {.count = 0};

    add_operation(&all, SETUP, 0, IPC_NOWAIT);
    add_operation(&all, USERS, 0, IPC_NOWAIT);
    add_exchange(&all, FREE, read->values[FREE], permits->limit);
    if (read->has_limit) {
        add_exchange(&all, LIMIT, read->values[LIMIT], permits->limit);
    }
    add_operation(&all, FREE, -permits->weight, SEM_UNDO | IPC_NOWAIT);
    add_operation(&all, USERS, 1, SEM_UNDO | IPC_NOWAIT);
    return run_operations(set, &all, 0);
}

/*
 * Takes permits of a set in use, if its limit is still the one that was read. With `wait_ns` it
 * sleeps for so long; otherwise only for a process that sets it up, or removes it, a matter of
 * microseconds.
 */
static semaphore_outcome take_beside_others(int set, const permit_values *read,
                                            const latch_permits *permits, int64_t wait_ns)
{
    permit_operations all = {.count = 0};

    add_operation(&all, SETUP, 0, 0);
    if (is_limit_known(read)) {
        add_operation(&all, LIMIT, -permits->limit, IPC_NOWAIT);
        add_operation(&all, LIMIT, 0, IPC_NOWAIT);
        add_operation(&all, LIMIT, permits->limit, IPC_NOWAIT);
    }
    add_operation(&all, FREE, -permits->weight, SEM_UNDO | (wait_ns > 0 ? 0 : IPC_NOWAIT));
    add_operation(&all, USERS, 1, SEM_UNDO);
    return run_operations(set, &all, wait_ns > 0 ? wait_ns : SEMAPHORE_SLICE_NS);
}

static semaphore_outcome acquire_of_set(int set, const latch_permits *permits, int64_t slice_ns,
                                        int64_t *limit)
{
    permit_values read;
    semaphore_outcome result;

    for (int changes = 0; changes < CHANGES_MAX; changes++) {
        result = read_values(set, &read);
        if (result != SEMAPHORE_HELD) {
            return result;
        }
        if (is_unused(&read)) {
            result = take_as_first(set, &read, permits);
            if (result != SEMAPHORE_BUSY) {
                return result;
            }
            continue; /* another process was faster */
        }
        if (has_other_limit(&read, permits)) {
            *limit = read.values[LIMIT];
            return SEMAPHORE_OTHER_LIMIT;
        }
        result = take_beside_others(set, &read, permits, slice_ns);
        if (result != SEMAPHORE_BUSY) {
            return result;
        }
        /* No permits; or the set was left by all, and has another limit or none by now. */
        result = read_values(set, &read);
        if (result != SEMAPHORE_HELD) {
            return result;
        }
        if (!is_unused(&read) && !has_other_limit(&read, permits)) {
            break;
        }
    }
    return SEMAPHORE_BUSY;
}

/* The set of a key, made if need be; -1 and errno. */
static int get_permit_set(key_t key)
{
    int set = semget(key, COUNT, IPC_CREAT | IPC_EXCL | SEMAPHORE_OUR_MODE);

    return set < 0 && errno == EEXIST ? semget(key, PEERS_COUNT, SEMAPHORE_PEERS_MODE) : set;
}

semaphore_outcome latch_permit_set_acquire(key_t key, const latch_permits *permits,
                                           int64_t slice_ns, int *set, int64_t *limit)
{
    semaphore_outcome result = SEMAPHORE_REMOVED;

    for (int removals = 0; result == SEMAPHORE_REMOVED && removals < REMOVALS_MAX; removals++) {
        *set = get_permit_set(key);
        if (*set >= 0) {
            result = acquire_of_set(*set, permits, slice_ns, limit);
        } else if (errno != ENOENT) {
            return SEMAPHORE_BROKEN;
        }
    }
    return result;
}

void latch_permit_set_remove_unused(int set)
{
    permit_operations claim = {.count = 0}, leave = {.count = 0};
    permit_values read;

    if (read_values(set, &read) != SEMAPHORE_HELD || !read.has_limit || !is_unused(&read)) {
        return;
    }
    add_operation(&claim, SETUP, 0, IPC_NOWAIT);
    add_operation(&claim, USERS, 0, IPC_NOWAIT);
    add_operation(&claim, SETUP, 1, SEM_UNDO | IPC_NOWAIT);
    if (run_operations(set, &claim, 0) == SEMAPHORE_HELD && semctl(set, 0, IPC_RMID) != 0) {
        add_operation(&leave, SETUP, -1, SEM_UNDO | IPC_NOWAIT); /* it is another user's */
        run_operations(set, &leave, 0);
    }
}

void latch_permit_set_release(int set, int64_t weight)
{
    permit_operations all = {.count = 0};

    add_operation(&all, FREE, weight, SEM_UNDO | IPC_NOWAIT);
    add_operation(&all, USERS, -1, SEM_UNDO | IPC_NOWAIT);
    run_operations(set, &all, 0);
    latch_permit_set_remove_unused(set);
}

bool latch_permit_set_is_lost(int set)
{
    int users = semctl(set, USERS, GETVAL);

    return users < 0 ? latch_semaphore_outcome_of_errno() == SEMAPHORE_REMOVED : users == 0;
}

semaphore_outcome latch_permit_set_inspect(key_t key, int64_t limit, int *set,
                                           permit_set_report *report)
{
    permit_values read;
    semaphore_outcome result;
    int waiters;

    *set = semget(key, PEERS_COUNT, 0);
    if (*set < 0) {
        return errno == ENOENT ? SEMAPHORE_REMOVED : SEMAPHORE_BROKEN;
    }
    result = read_values(*set, &read);
    if (result != SEMAPHORE_HELD) {
        return result;
    }
    if (read.values[USERS] <= read.values[SETUP]) { /* a process that sets it up has nothing yet */
        return SEMAPHORE_REMOVED;
    }
    limit = is_limit_known(&read) ? read.values[LIMIT] : limit;
    waiters = semctl(*set, FREE, GETNCNT);
    *report = (permit_set_report){
        .used = limit > read.values[FREE] ? limit - read.values[FREE] : 0,
        .users = read.values[USERS],
        .waiters = waiters > 0 ? (uint64_t) waiters : 0,
    };
    return SEMAPHORE_HELD;
}
