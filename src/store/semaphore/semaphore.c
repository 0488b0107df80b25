/*
 * Locks by System V semaphores, in the protocol of PHP's sysvsem extension, as Symfony's
 * SemaphoreStore uses it. A lock belongs to its process, whose death releases it (SEM_UNDO); a
 * forked child does not inherit it, and it never expires.
 *
 * semaphore_set.c has the operations on a set; permits.c has counting semaphores.
 */
#include "src/store/semaphore/semaphore.h"

#include "src/store/semaphore/permit_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/uio.h>
#include <unistd.h>

#define SWEEP_INTERVAL_NS (60 * LATCH_NS_PER_S)
/* A free set is left alone for so long, as a process may be about to use it. */
#define SWEEP_AGE_S 2

/* ---- The store */

/* Removes the sets that killed holders of Latch have left. */
static void semaphore_sweep(semaphore_store *store)
{
    const latch_env *env = &store->store.engine->env;

    latch_semaphore_sets_sweep((time_t) (env->wall_ns(env->context) / LATCH_NS_PER_S)
                               - SWEEP_AGE_S);
    store->swept_ns = env->coarse_ns(env->context);
}

void latch_semaphore_sweep_if_due(semaphore_store *store)
{
    const latch_env *env = &store->store.engine->env;

    if (env->coarse_ns(env->context) - store->swept_ns > SWEEP_INTERVAL_NS) {
        semaphore_sweep(store);
    }
}

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

/*
 * The first bytes of a digest, as PHP's unpack('i') reads them. That of a semaphore is of other
 * bytes: as a lock, a set with N permits would exclude nobody.
 */
key_t latch_semaphore_key_of(const latch_lease *lease)
{
    static const char permits[] = "\0permits\0";
    const semaphore_store *store = (semaphore_store *) lease->store;
    const latch_env *env = &store->store.engine->env;
    const struct iovec parts[] = {
        {store->project, store->project_length},
        {(void *) (uintptr_t) permits, lease->is_permit ? sizeof(permits) - 1 : 0},
        {(void *) (uintptr_t) lease->resource, lease->resource_length},
    };
    uint8_t digest[LATCH_DIGEST_MAX];
    key_t key;

    env->digest(env->context, store->digest, parts, 3, digest);
    memcpy(&key, digest, sizeof(key));
    return key != IPC_PRIVATE ? key : ~IPC_PRIVATE; /* a private set would exclude no process */
}

latch_status latch_semaphore_fail_system(latch_op *op, const char *call, key_t key)
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

bool latch_semaphore_is_of_this_process(const latch_engine *engine, const semaphore_hold *hold)
{
    return hold->generation == engine->generation;
}

bool latch_semaphore_is_ours(const latch_lease *lease)
{
    return lease->state != NULL
           && latch_semaphore_is_of_this_process(lease->store->engine, lease->state);
}

void latch_semaphore_drop_hold(latch_lease *lease)
{
    semaphore_hold *hold = lease->state;

    latch_list_remove(&hold->link);
    latch_free(lease->store->engine, hold);
    lease->state = NULL;
}

/* Is the set still held by the process that acquired it? */
static bool is_still_held(const semaphore_hold *hold)
{
    return latch_semaphore_set_is_held_by(hold->set, hold->pid);
}

/* Does this very thread hold it through another lease, so that a wait would never end? */
static bool semaphore_is_own_deadlock(const semaphore_store *store, key_t key)
{
    for (const latch_link *link = store->held.next; link != &store->held; link = link->next) {
        const semaphore_hold *hold = LATCH_CONTAINER(link, semaphore_hold, link);

        if (hold->key == key && latch_semaphore_is_of_this_process(store->store.engine, hold)
            && is_still_held(hold)) {
            return true;
        }
    }
    return false;
}

/* ---- Operations */

/* op->state of a waiting operation: the set, never NULL. */
static void *state_of_set(int set)
{
    return (void *) (intptr_t) (set + 1);
}

static int set_of_state(const void *state)
{
    return (int) (intptr_t) state - 1;
}

void latch_semaphore_mark_held(latch_op *op, semaphore_hold *taken, key_t key, int set)
{
    taken->key = key;
    taken->set = set;
    taken->pid = getpid();
    taken->generation = op->lease->store->engine->generation;
    latch_list_append(&((semaphore_store *) op->lease->store)->held, &taken->link);
    op->lease->state = taken;
}

latch_status latch_semaphore_want_set(latch_op *op, int set)
{
    op->waiting = true;
    op->state = state_of_set(set);
    op->wake_ns = 0; /* at once: the next step sleeps */
    return LATCH_WANT_TIMER;
}

int64_t latch_semaphore_slice_ns(const latch_op *op, int64_t now_ns)
{
    int64_t left_ns = op->request.deadline_ns - now_ns;

    return left_ns < 0 ? 0 : left_ns > SEMAPHORE_SLICE_NS ? SEMAPHORE_SLICE_NS : left_ns;
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
    return latch_semaphore_want_set(op, set);
}

/*
 * One attempt: with `set` a slice of the wait for it; otherwise a try on the key's set.
 */
static latch_status semaphore_attempt(latch_op *op, int set, int64_t slice_ns)
{
    latch_engine *engine = op->lease->store->engine;
    semaphore_hold *taken = latch_allocate(engine, sizeof(*taken));
    key_t key = latch_semaphore_key_of(op->lease);
    semaphore_outcome result = SEMAPHORE_REMOVED;
    latch_status status;

    if (taken == NULL) {
        return latch_fail_memory(op->error);
    }
    if (set >= 0) {
        result = latch_semaphore_set_wait(set, slice_ns);
    }
    if (result == SEMAPHORE_REMOVED) {
        result = latch_semaphore_set_acquire(key, &set);
    }
    switch (result) {
        case SEMAPHORE_HELD:
            taken->weight = 0;
            latch_semaphore_mark_held(op, taken, key, set);
            return LATCH_DONE;
        case SEMAPHORE_BUSY:
            status = semaphore_conflict(op, key, set);
            break;
        case SEMAPHORE_BROKEN:
            status = latch_semaphore_fail_system(op, set < 0 ? "semget()" : "semop()", key);
            break;
        default:
            status = LATCH_CONFLICT; /* created and removed all the time */
            break;
    }
    latch_free(engine, taken);
    return status;
}

static latch_status semaphore_acquire(latch_op *op)
{
    latch_lease *lease = op->lease;

    if (lease->state != NULL) {
        if (latch_semaphore_is_ours(lease) && is_still_held(lease->state)) {
            return LATCH_DONE;
        }
        latch_semaphore_drop_hold(lease);
        lease->mode = LATCH_FREE;
    }
    latch_semaphore_sweep_if_due((semaphore_store *) lease->store);
    return semaphore_attempt(op, -1, 0);
}

static latch_status semaphore_step(latch_op *op, int64_t now_ns)
{
    int set = set_of_state(op->state);

    if (op->lease->is_permit) {
        return latch_semaphore_permits_step(op, now_ns);
    }
    op->state = NULL;
    return semaphore_attempt(op, set, latch_semaphore_slice_ns(op, now_ns));
}

/* The set may have been handed over to this waiter: remove it if it is unused. */
static latch_status semaphore_cancel(latch_op *op)
{
    if (!op->lease->is_permit) { /* the last user of a semaphore removes its set */
        latch_semaphore_set_remove_unused(set_of_state(op->state));
    }
    op->state = NULL;
    return LATCH_CONFLICT;
}

/* Releases the set unless it was lost by force. */
static void give_back_held(const semaphore_hold *held)
{
    if (held->weight > 0) {
        latch_semaphore_permits_give_back(held);
    } else if (!latch_semaphore_set_is_lost(held->set, held->pid)) {
        latch_semaphore_set_release(held->set);
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
    if (latch_semaphore_is_ours(lease)) {
        give_back_held(held);
    } else if (lease->inherit && is_still_held(held) && !latch_semaphore_set_remove(held->set)
               && errno == EPERM) {
        return latch_semaphore_fail_system(op, "semctl()", held->key);
    }
    latch_semaphore_drop_hold(lease);
    return LATCH_DONE;
}

static latch_status semaphore_probe(latch_lease *lease)
{
    if (lease->state == NULL) {
        return LATCH_CONFLICT;
    }
    if (!is_still_held(lease->state)) {
        latch_semaphore_drop_hold(lease);
        return LATCH_CONFLICT;
    }
    return latch_semaphore_is_ours(lease) ? LATCH_DONE : LATCH_CONFLICT;
}

static latch_status semaphore_inspect(latch_op *op)
{
    const latch_engine *engine = op->lease->store->engine;
    key_t key = latch_semaphore_key_of(op->lease);
    pid_t pid;
    int set;
    semaphore_outcome result = latch_semaphore_set_inspect(key, &set, &pid);
    latch_lock_report *report;
    char name[16];

    if (result == SEMAPHORE_BROKEN) {
        return latch_semaphore_fail_system(op, set < 0 ? "semget()" : "semctl()", key);
    }
    snprintf(name, sizeof(name), "0x%08x", (unsigned) key);
    report = latch_lock_reports_add(engine, op->request.reports, name,
                                    result == SEMAPHORE_HELD ? LATCH_EXCLUSIVE : LATCH_FREE);
    if (report == NULL || (pid > 0 && !latch_lock_report_add_holder(engine, report, pid))) {
        return latch_fail_memory(op->error);
    }
    return LATCH_DONE;
}

static latch_status semaphore_begin(latch_op *op)
{
    if (op->lease->is_permit) {
        return latch_semaphore_permits_begin(op);
    }
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
        case LATCH_EVICT: /* nor does that, */
        case LATCH_CALL:  /* nor that */
            break;
    }
    return LATCH_DONE;
}

static bool semaphore_held(const latch_lease *lease)
{
    return lease->mode != LATCH_FREE && latch_semaphore_is_ours(lease);
}

/* The lock ends with the lease, as a file lock ends with its descriptor: nothing else could free
 * it. */
static void semaphore_drop(latch_lease *lease)
{
    semaphore_hold *held = lease->state;

    if (held == NULL) {
        return;
    }
    if (latch_semaphore_is_ours(lease)) {
        give_back_held(held);
    }
    latch_semaphore_drop_hold(lease);
}

/* ---- Watching */

typedef struct watched_set {
    int set;
    pid_t pid; /* of the process that has it; 0: permits, of which any process may have some */
} watched_set;

static bool semaphore_is_gone(const latch_watch *watch)
{
    const watched_set *watched = watch->state;

    return watched->pid == 0 ? latch_permit_set_is_lost(watched->set)
                             : latch_semaphore_set_is_lost(watched->set, watched->pid);
}

static bool semaphore_watch(const latch_lease *lease, latch_watch *watch)
{
    const semaphore_hold *held = lease->state;
    watched_set *watched;

    if (lease->mode == LATCH_FREE || !latch_semaphore_is_ours(lease)) {
        return false;
    }
    watched = latch_allocate(lease->store->engine, sizeof(*watched));
    if (watched == NULL) {
        return false;
    }
    *watched = (watched_set){.set = held->set, .pid = held->weight > 0 ? 0 : held->pid};
    watch->state = watched;
    watch->is_gone = semaphore_is_gone;
    return true;
}

const latch_store_class latch_semaphore_store = {
    .info =
        {
            .name = "semaphore",
            .title = "semaphores",
            .permit_state_name = "Latch\\Semaphore\\Store\\SemaphoreStore", /* peers have none */
            .capabilities = LATCH_BLOCKING | LATCH_PUSH | LATCH_PERMITS,
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
