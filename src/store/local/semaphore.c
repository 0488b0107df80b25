/*
 * Locks by System V semaphores, in the protocol of PHP's sysvsem extension, as Symfony's
 * SemaphoreStore uses it. A lock belongs to its process, whose death releases it (SEM_UNDO); a
 * forked child does not inherit it, and it never expires.
 *
 * A set has three semaphores (php-src, ext/sysvsem/sysvsem.c): LOCK is 1 when free and 0 when held;
 * USERS counts its users; SETUP is not 0 while a process initialises the set (LOCK = 1), as the
 * kernel creates sets with zeros. PHP needs five calls for that. Latch needs one: semop(2) is
 * atomic, and its operations require SETUP to be 0, so that they never come between PHP's.
 *
 * A release removes the set. A process that is killed leaves it behind, free; the next user of the
 * resource, or semaphore_sweep(), removes it. Latch's sets have a mode of their own: a pattern of
 * execute bits, which mean nothing to the kernel, that no other program uses.
 */
#include "src/engine/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LOCK, USERS, SETUP, SEMAPHORE_COUNT };

/* What semctl(2) takes; its manual page has the caller define it. */
union semun {
    int value;
    struct semid_ds *status;
    unsigned short *values;
    struct seminfo *info;
};

#define OUR_MODE 0676 /* not 0777, which careless programs use */
#define PEERS_MODE 0666

/* How long one step sleeps in the kernel's queue. There is no descriptor that could be polled. */
#define SLICE_NS (10 * LATCH_NS_PER_MS)
/* How often an acquire follows a set that is removed under its hands. */
#define REMOVALS_MAX 100
#define SWEEP_INTERVAL_NS (60 * LATCH_NS_PER_S)
/* A free set is left alone for so long, as a process may be about to use it. */
#define SWEEP_AGE_S 2

typedef struct semaphore_store {
    latch_store store;
    latch_link held;  /* of semaphore_hold */
    int64_t swept_ns; /* on the coarse clock */
    latch_digest digest;
    size_t project_length;
    char *project;
} semaphore_store;

typedef struct semaphore_hold {
    latch_link link; /* in the store's `held` */
    key_t key;
    int set;
    pid_t pid;           /* of the process that took it */
    unsigned generation; /* the same, without a system call */
} semaphore_hold;

/* ---- Sets */

typedef enum { TAKEN, BUSY, REMOVED, BROKEN } outcome;

static outcome outcome_of_errno(void)
{
    switch (errno) {
        case EAGAIN:
        case EINTR:
            return BUSY;
        case EIDRM:
        case EINVAL:
            return REMOVED;
        default:
            return BROKEN;
    }
}

/* Initialises and acquires a set: a new one, or one whose creator was killed before it did so. */
static outcome acquire_new(int set)
{
    struct sembuf operations[] = {
        {SETUP, 0, IPC_NOWAIT}, {USERS, 0, IPC_NOWAIT}, {LOCK, 0, IPC_NOWAIT},
        {LOCK, 1, IPC_NOWAIT},  {LOCK, -1, SEM_UNDO},   {USERS, 1, SEM_UNDO},
    };

    return semop(set, operations, sizeof(operations) / sizeof(*operations)) == 0
               ? TAKEN
               : outcome_of_errno();
}

/* Acquires a set that is free. With `wait` it sleeps for up to `slice_ns`; otherwise only for a
 * peer that initialises the set, a matter of microseconds. */
static outcome acquire_free(int set, bool wait, int64_t slice_ns)
{
    struct sembuf operations[] = {
        {SETUP, 0, 0},
        {LOCK, -1, (short) (SEM_UNDO | (wait ? 0 : IPC_NOWAIT))},
        {USERS, 1, SEM_UNDO},
    };
    const struct timespec slice = {.tv_nsec = (long) slice_ns};

    return semtimedop(set, operations, sizeof(operations) / sizeof(*operations), &slice) == 0
               ? TAKEN
               : outcome_of_errno();
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
static void semaphore_give_back(int set)
{
    if (semctl(set, LOCK, GETNCNT) > 0 || (semctl(set, 0, IPC_RMID) != 0 && errno == EPERM)) {
        hand_over(set);
    }
}

/* Removes an unused set, after acquiring it, so that no other process can acquire it meanwhile. */
static void remove_unused(int set)
{
    unsigned short values[SEMAPHORE_COUNT];

    if (semctl(set, 0, GETALL, (union semun){.values = values}) == 0 && values[USERS] == 0
        && values[SETUP] == 0 && values[LOCK] <= 1
        && (acquire_new(set) == TAKEN || acquire_free(set, false, SLICE_NS) == TAKEN)) {
        semaphore_give_back(set);
    }
}

/* Removes the sets that killed holders of Latch have left. */
static void semaphore_sweep(semaphore_store *store)
{
    const latch_env *env = &store->store.engine->env;
    struct seminfo info;
    int last = semctl(0, 0, SEM_INFO, (union semun){.info = &info});
    time_t recent = (time_t) (env->wall_ns(env->context) / LATCH_NS_PER_S) - SWEEP_AGE_S;

    for (int index = 0; index <= last; index++) {
        struct semid_ds status;
        int set = semctl(index, 0, SEM_STAT, (union semun){.status = &status});

        if (set >= 0 && status.sem_nsems == SEMAPHORE_COUNT
            && (status.sem_perm.mode & 0777) == OUR_MODE && status.sem_otime < recent
            && status.sem_ctime < recent) {
            remove_unused(set);
        }
    }
    store->swept_ns = env->coarse_ns(env->context);
}

/* ---- The store */

static latch_status semaphore_open(latch_store *base, const latch_store_options *options,
                                   latch_error *error)
{
    semaphore_store *store = (semaphore_store *) base;

    if (options == NULL
        || (options->digest != LATCH_MD5 && options->digest != LATCH_XXH64
            && options->digest != LATCH_XXH128)) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "the digest of a semaphore's key is MD5, XXH64 or XXH128");
    }
    store->digest = options->digest;
    store->project_length = options->project_length;
    if (store->project_length > 0) {
        store->project = latch_allocate(base->engine, store->project_length);
        if (store->project == NULL) {
            return latch_fail_memory(error);
        }
        memcpy(store->project, options->project, store->project_length);
    }
    latch_list_init(&store->held);
    semaphore_sweep(store);
    return LATCH_DONE;
}

static void semaphore_close(latch_store *base)
{
    latch_free(base->engine, ((semaphore_store *) base)->project);
}

/* The System V key: the first bytes of a digest, as PHP's unpack('i') reads them. */
static key_t key_of(const latch_lease *lease)
{
    const semaphore_store *store = (semaphore_store *) lease->store;
    const latch_env *env = &store->store.engine->env;
    const struct iovec parts[] = {
        {store->project, store->project_length},
        {(void *) lease->resource, lease->resource_length},
    };
    uint8_t digest[LATCH_DIGEST_MAX];
    key_t key;

    env->digest(env->context, store->digest, parts, 2, digest);
    memcpy(&key, digest, sizeof(key));
    return key != IPC_PRIVATE ? key : ~IPC_PRIVATE; /* a private set would exclude no process */
}

static latch_status fail_system(latch_op *op, const char *call, key_t key)
{
    const char *hint = "";

    switch (errno) {
        case ENOSPC:
            hint = "; the system's limit for semaphores is reached (sysctl kernel.sem; "
                   "\"ipcs -s\" lists them)";
            break;
        case EACCES:
        case EPERM:
            hint = "; it belongs to another user, and its mode keeps others out";
            break;
        case EINVAL:
            hint = "; another program uses the key for something else";
            break;
        default:
            break;
    }
    return latch_fail(op->error, LATCH_ERROR_SYSTEM, errno,
                      "%s failed for the System V key 0x%08x: %s%s", call, (unsigned) key,
                      strerror(errno), hint);
}

/* A child that was forked does not hold what its parent does. */
static bool is_of_this_process(const latch_engine *engine, const semaphore_hold *hold)
{
    return hold->generation == engine->generation;
}

static bool is_ours(const latch_lease *lease)
{
    return lease->state != NULL && is_of_this_process(lease->store->engine, lease->state);
}

static void semaphore_forget(latch_lease *lease)
{
    semaphore_hold *hold = lease->state;

    latch_list_remove(&hold->link);
    latch_free(lease->store->engine, hold);
    lease->state = NULL;
}

/* Is the set still held by the process that took it? */
static bool is_still_held(const semaphore_hold *hold)
{
    return semctl(hold->set, LOCK, GETVAL) == 0 && semctl(hold->set, LOCK, GETPID) == hold->pid;
}

/*
 * Was the set removed, or freed by force? Its number may belong to another set by now, with another
 * holder. A set that its administrator has closed to this process is still held.
 */
static bool is_taken_away(int set, pid_t pid)
{
    int value = semctl(set, LOCK, GETVAL);
    int last = value < 0 ? -1 : semctl(set, LOCK, GETPID);

    return last < 0 ? outcome_of_errno() == REMOVED : value != 0 || last != pid;
}

/* Does this very thread hold it through another lease, so that a wait would never end? */
static bool semaphore_is_own_deadlock(const semaphore_store *store, key_t key)
{
    for (const latch_link *link = store->held.next; link != &store->held; link = link->next) {
        const semaphore_hold *hold = LATCH_CONTAINER(link, semaphore_hold, link);

        if (hold->key == key && is_of_this_process(store->store.engine, hold)
            && is_still_held(hold)) {
            return true;
        }
    }
    return false;
}

/* The set of a key, made if need be; -1 and errno. */
static int get_set(key_t key, bool *made)
{
    int set = semget(key, SEMAPHORE_COUNT, IPC_CREAT | IPC_EXCL | OUR_MODE);

    *made = set >= 0;
    return set < 0 && errno == EEXIST ? semget(key, SEMAPHORE_COUNT, PEERS_MODE) : set;
}

/* Takes the key's set if it is free; *set is the set that was BUSY or BROKEN, or -1. */
static outcome acquire_set(key_t key, int *set)
{
    outcome result = REMOVED;

    for (int removals = 0; result == REMOVED && removals < REMOVALS_MAX; removals++) {
        bool made;

        *set = get_set(key, &made);
        if (*set < 0 && errno != ENOENT) {
            return BROKEN;
        }
        if (*set < 0) {
            continue;
        }
        result = made ? acquire_new(*set) : acquire_free(*set, false, SLICE_NS);
        if (result == BUSY) {
            result = made ? acquire_free(*set, false, SLICE_NS) : acquire_new(*set);
        }
    }
    return result;
}

/* ---- Operations */

/* What op->state holds while an operation waits: the set, and never NULL. */
static void *state_of_set(int set)
{
    return (void *) (intptr_t) (set + 1);
}

static int set_of_state(const void *state)
{
    return (int) (intptr_t) state - 1;
}

static latch_status semaphore_mark_held(latch_op *op, semaphore_hold *taken, key_t key, int set)
{
    taken->key = key;
    taken->set = set;
    taken->pid = getpid();
    taken->generation = op->lease->store->engine->generation;
    latch_list_append(&((semaphore_store *) op->lease->store)->held, &taken->link);
    op->lease->state = taken;
    return LATCH_DONE;
}

static latch_status semaphore_conflict(latch_op *op, key_t key, int set)
{
    if (!op->request.wait) {
        return LATCH_CONFLICT;
    }
    if (op->request.deadline_ns == LATCH_NEVER
        && semaphore_is_own_deadlock((semaphore_store *) op->lease->store, key)) {
        return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                          "the lock is held by this very thread, through another key");
    }
    op->waiting = true;
    op->state = state_of_set(set);
    op->wake_ns = 0; /* at once: the next step sleeps */
    return LATCH_WANT_TIMER;
}

/*
 * One attempt. With `set` that is a slice of a wait for it, which has come as far as that; else it
 * is the key's set, now.
 */
static latch_status semaphore_attempt(latch_op *op, int set, int64_t slice_ns)
{
    latch_engine *engine = op->lease->store->engine;
    semaphore_hold *taken = latch_allocate(engine, sizeof(*taken));
    key_t key = key_of(op->lease);
    outcome result = REMOVED;
    latch_status status;

    if (taken == NULL) {
        return latch_fail_memory(op->error);
    }
    if (set >= 0) {
        result = acquire_new(set);
        result = result == BUSY ? acquire_free(set, true, slice_ns) : result;
    }
    if (result == REMOVED) {
        result = acquire_set(key, &set);
    }
    switch (result) {
        case TAKEN:
            return semaphore_mark_held(op, taken, key, set);
        case BUSY:
            status = semaphore_conflict(op, key, set);
            break;
        case BROKEN:
            status = fail_system(op, set < 0 ? "semget()" : "semop()", key);
            break;
        default:
            status = LATCH_CONFLICT; /* it comes and goes under others' hands */
            break;
    }
    latch_free(engine, taken);
    return status;
}

static latch_status semaphore_acquire(latch_op *op)
{
    latch_lease *lease = op->lease;
    semaphore_store *store = (semaphore_store *) lease->store;
    const latch_env *env = &store->store.engine->env;

    if (lease->state != NULL) {
        if (is_ours(lease) && is_still_held(lease->state)) {
            return LATCH_DONE;
        }
        semaphore_forget(lease);
        lease->mode = LATCH_FREE;
    }
    if (env->coarse_ns(env->context) - store->swept_ns > SWEEP_INTERVAL_NS) {
        semaphore_sweep(store);
    }
    return semaphore_attempt(op, -1, 0);
}

static latch_status semaphore_step(latch_op *op, int64_t now_ns)
{
    int64_t left_ns = op->request.deadline_ns - now_ns;
    int set = set_of_state(op->state);

    op->state = NULL;
    return semaphore_attempt(op, set, left_ns < 0 ? 0 : left_ns > SLICE_NS ? SLICE_NS : left_ns);
}

/* A hand-over may have been meant for this waiter: an unused set would stay behind. */
static latch_status semaphore_cancel(latch_op *op)
{
    remove_unused(set_of_state(op->state));
    op->state = NULL;
    return LATCH_CONFLICT;
}

/* Releases the set unless another process has taken it by force. */
static void give_back_held(const semaphore_hold *held)
{
    if (!is_taken_away(held->set, held->pid)) {
        semaphore_give_back(held->set);
    }
}

static latch_status semaphore_release(latch_op *op)
{
    latch_lease *lease = op->lease;
    semaphore_hold *held = lease->state;

    if (held == NULL) {
        return LATCH_DONE;
    }
    /* A child may release a lock with `inherit`, but not one that has another holder by now. Any
     * other lock is its parent's alone, as with lock files. */
    if (is_ours(lease)) {
        give_back_held(held);
    } else if (lease->inherit && is_still_held(held) && semctl(held->set, 0, IPC_RMID) != 0
               && errno == EPERM) {
        return fail_system(op, "semctl()", held->key);
    }
    semaphore_forget(lease);
    return LATCH_DONE;
}

static latch_status semaphore_probe(latch_lease *lease)
{
    if (lease->state == NULL) {
        return LATCH_CONFLICT;
    }
    if (!is_still_held(lease->state)) {
        semaphore_forget(lease);
        return LATCH_CONFLICT;
    }
    return is_ours(lease) ? LATCH_DONE : LATCH_CONFLICT;
}

/* A process that initialises a set counts as a user, and does not hold it. */
static bool is_held(const unsigned short values[SEMAPHORE_COUNT])
{
    return values[LOCK] == 0 && values[USERS] > values[SETUP];
}

static latch_status semaphore_inspect(latch_op *op)
{
    const latch_engine *engine = op->lease->store->engine;
    unsigned short values[SEMAPHORE_COUNT];
    key_t key = key_of(op->lease);
    int set = semget(key, SEMAPHORE_COUNT, 0);
    latch_lock_report *report;
    char name[16];
    bool held = false;
    int pid = 0;

    if (set >= 0 && semctl(set, 0, GETALL, (union semun){.values = values}) == 0) {
        held = is_held(values);
        pid = held ? semctl(set, LOCK, GETPID) : 0;
    } else if (errno != ENOENT && !(set >= 0 && outcome_of_errno() == REMOVED)) {
        return fail_system(op, set < 0 ? "semget()" : "semctl()", key);
    }
    snprintf(name, sizeof(name), "0x%08x", (unsigned) key);
    report = latch_lock_reports_add(engine, op->request.reports, name,
                                    held ? LATCH_EXCLUSIVE : LATCH_FREE);
    if (report == NULL || (pid > 0 && !latch_lock_report_add_holder(engine, report, pid))) {
        return latch_fail_memory(op->error);
    }
    return LATCH_DONE;
}

static latch_status semaphore_begin(latch_op *op)
{
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
            return semaphore_acquire(op);
        case LATCH_ACQUIRE_SHARED:
            return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                              "semaphores know no shared locks");
        case LATCH_RELEASE:
            return semaphore_release(op);
        case LATCH_PROBE:
            return semaphore_probe(op->lease);
        case LATCH_INSPECT:
            return semaphore_inspect(op);
        case LATCH_REFRESH: /* holds never expire */
            return latch_lease_was_lost(op->lease) ? LATCH_CONFLICT : LATCH_DONE;
        case LATCH_LIST:  /* never comes: a key does not reveal its resource */
        case LATCH_EVICT: /* nor does that */
            break;
    }
    return LATCH_DONE;
}

static bool semaphore_held(const latch_lease *lease)
{
    return lease->mode != LATCH_FREE && is_ours(lease);
}

/* The lock ends with the lease, as a file lock ends with its descriptor: nothing else could free
 * it. */
static void semaphore_drop(latch_lease *lease)
{
    semaphore_hold *held = lease->state;

    if (held == NULL) {
        return;
    }
    if (is_ours(lease)) {
        give_back_held(held);
    }
    semaphore_forget(lease);
}

/* ---- Watching */

typedef struct watched_set {
    int set;
    pid_t pid; /* of the process that has it */
} watched_set;

static bool semaphore_is_gone(const latch_watch *watch)
{
    const watched_set *watched = watch->state;

    return is_taken_away(watched->set, watched->pid);
}

static bool semaphore_watch(const latch_lease *lease, latch_watch *watch)
{
    const semaphore_hold *held = lease->state;
    watched_set *watched;

    if (lease->mode == LATCH_FREE || !is_ours(lease)) {
        return false;
    }
    watched = latch_allocate(lease->store->engine, sizeof(*watched));
    if (watched == NULL) {
        return false;
    }
    *watched = (watched_set){.set = held->set, .pid = held->pid};
    watch->state = watched;
    watch->is_gone = semaphore_is_gone;
    return true;
}

const latch_store_class latch_semaphore_store = {
    .info =
        {
            .name = "semaphore",
            .title = "semaphores",
            .capabilities = LATCH_BLOCKING | LATCH_PUSH,
            .scope = LATCH_SCOPE_MACHINE,
        },
    .size = sizeof(semaphore_store),
    .open = semaphore_open,
    .close = semaphore_close,
    .begin = semaphore_begin,
    .step = semaphore_step,
    .cancel = semaphore_cancel,
    .held = semaphore_held,
    .drop = semaphore_drop,
    .watch = semaphore_watch,
};
