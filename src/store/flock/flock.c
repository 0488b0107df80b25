/*
 * Locks by flock(2) on files in a directory, in the names of Symfony's FlockStore. The kernel frees
 * them when the process dies; leases never expire.
 */
#include "src/store/flock/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Attempts of an acquire whose lock file is removed meanwhile. */
#define REMOVALS_MAX 100

/* File systems where a removed file that is open has no links; elsewhere (NFS, FUSE) it may live on
 * renamed. */
static bool trusts_links(const char *directory)
{
    struct statfs status;

    if (statfs(directory, &status) != 0) {
        return false;
    }
    switch ((unsigned long) status.f_type) { /* magic numbers of linux/magic.h and statfs(2) */
        case 0xef53:                         /* ext2, ext3, ext4 */
        case 0x58465342:                     /* xfs */
        case 0x9123683e:                     /* btrfs */
        case 0x01021994:                     /* tmpfs */
        case 0x794c7630:                     /* overlayfs */
        case 0x2fc12fc1:                     /* zfs */
        case 0xf2f52010:                     /* f2fs */
            return true;
        default:
            return false;
    }
}

/* List of flock_file: the files that this thread's leases hold, or wait for, in all stores. */
static latch_link *held_files(void)
{
    static _Thread_local latch_link files;

    if (files.next == NULL) {
        latch_list_init(&files);
    }
    return &files;
}

static latch_status flock_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    flock_store *store = (flock_store *) base;
    size_t length = options != NULL && options->path != NULL ? strlen(options->path) : 0;

    if (length == 0 || length >= PATH_MAX) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "the lock directory's path is %s",
                          length == 0 ? "missing" : "too long");
    }
    memcpy(store->directory, options->path, length + 1);
    store->unsure_links = !trusts_links(store->directory);
    latch_list_init(&store->idle);
    return latch_hash_init(&store->files, base->engine, error) == LATCH_DONE
               ? latch_memory_records_init(&store->records, base->engine, latch_engine_wall_ns,
                                           error)
               : error->status;
}

static void flock_close(latch_store *base)
{
    flock_store *store = (flock_store *) base;

    latch_flock_end_parked(store);
    latch_flock_close_idle(store);
    latch_flock_turn_end_helper(store);
    latch_hash_end(&store->files);
    latch_memory_records_end(&store->records);
}

static int try_flock(const flock_file *file, int operation)
{
    int result;

    do {
        result = flock(file->descriptor.fd, operation | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

static latch_mode wanted_mode(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE ? LATCH_EXCLUSIVE : LATCH_SHARED;
}

static int operation_of(uint8_t mode)
{
    return mode == LATCH_EXCLUSIVE ? LOCK_EX : LOCK_SH;
}

static void flock_lose(latch_lease *lease)
{
    flock_file *file = lease->state;

    latch_list_remove(&file->link);
    latch_flock_file_close((flock_store *) lease->store, file);
    lease->state = NULL;
    lease->mode = LATCH_FREE;
}

/* Drops a hold whose descriptor was closed by a fork, or whose file is known to be another one than
 * the file that others lock. */
static void drop_removed(latch_lease *lease)
{
    flock_file *file = lease->state;

    if (file != NULL && (file->descriptor.fd < 0 || latch_lease_was_lost(lease))) {
        flock_lose(lease);
    }
}

/*
 * A lock that a forked process shares may have been unlocked there. Then it is free now, or another
 * process has it, and locking it once more fails.
 */
static bool is_still_locked(latch_lease *lease)
{
    flock_file *file = lease->state;

    const flock_store *store = (flock_store *) lease->store;

    if (latch_flock_file_shared(store, file)
        && (!latch_flock_file_locked(store, file)
            || try_flock(file, operation_of(lease->mode)) != 0)) {
        flock_lose(lease);
        return false;
    }
    return true;
}

/* Others lock another file of its name by now. */
static bool was_removed(latch_lease *lease)
{
    const flock_file *file = lease->state;
    uint8_t mode = lease->mode;

    if (file == NULL || file->descriptor.fd < 0
        || !latch_flock_file_gone((flock_store *) lease->store, file)) {
        return false;
    }
    flock_lose(lease);
    lease->mode = mode; /* until op.c records the loss */
    return true;
}

/* Frees the number for the next waiter, which waits for the number first, and then for the lock. */
static void give_number_back(flock_file *file)
{
    if (file->has_number) {
        latch_flock_queue_leave(file->descriptor.fd);
        file->has_number = false;
    }
}

static latch_status flock_hold(latch_op *op, flock_file *file)
{
    latch_lease *lease = op->lease;

    if (lease->state == NULL) {
        latch_list_append(held_files(), &file->link);
        lease->state = file;
        file->fork_count = lease->store->engine->fork_count;
    }
    file->mode = (uint8_t) wanted_mode(op);
    if (file->mode == LATCH_SHARED || lease->pass_on) {
        give_number_back(file); /* readers share the lock; a program would not give it back */
    }
    if (lease->inherit || lease->pass_on) {
        file->descriptor.inherit = true; /* once and for all: a child may have it by now */
    }
    if (lease->pass_on) {
        fcntl(file->descriptor.fd, F_SETFD, 0); /* until it is closed: it never becomes idle */
    }
    return LATCH_DONE;
}

/*
 * An attempt ended without the lock. A file that was held before has lost its old lock if the
 * kernel took that away first (flock(2), "Converting a lock"): take it again, or it is lost.
 */
static latch_status stay_as_before(latch_op *op, flock_file *file, latch_status status)
{
    latch_lease *lease = op->lease;

    if (lease->state != file) {
        latch_flock_file_put((flock_store *) lease->store, file);
        return status;
    }
    if (try_flock(file, operation_of(op->mode_before)) != 0
        || latch_flock_file_check((flock_store *) lease->store, file, op->error) != LATCH_DONE) {
        flock_lose(lease);
        return latch_fail(op->error, LATCH_ERROR_LOST, 0,
                          "the lock was lost while it was being %s; another process was quicker",
                          op->mode_before == LATCH_SHARED ? "promoted" : "demoted");
    }
    lease->mode = op->mode_before;
    file->mode = op->mode_before;
    return status;
}

static latch_status flock_fail_file(latch_op *op, flock_file *file, latch_status status)
{
    if (op->lease->state == file) {
        flock_lose(op->lease);
    } else {
        latch_flock_file_close((flock_store *) op->lease->store, file);
    }
    return status;
}

/* Another lease of this very thread that holds the same file, or waits for it further down its
 * stack (a signal handler runs); NULL: none. An exclusive one, if there are several. */
static const flock_file *flock_find_own(const latch_op *op, const flock_file *file)
{
    const flock_store *store = (flock_store *) op->lease->store;
    const flock_file *own = NULL;

    for (latch_link *link = held_files()->next; link != held_files(); link = link->next) {
        const flock_file *held = LATCH_CONTAINER(link, flock_file, link);

        if (held != file && held->device == file->device && held->inode == file->inode
            && held->descriptor.fd >= 0 && held->generation == store->store.engine->generation
            && !latch_flock_file_shared(store, held)
            && (own == NULL || held->mode == LATCH_EXCLUSIVE)) {
            own = held;
        }
    }
    return own;
}

/* Would a wait never end, since its own thread is in the way? */
static bool flock_is_own_deadlock(const latch_op *op, const flock_file *file)
{
    const flock_file *own = flock_find_own(op, file);

    return own != NULL && (own->mode == LATCH_EXCLUSIVE || op->request.kind == LATCH_ACQUIRE);
}

/* May the acquire queue? Not a second shared lock of a thread: a writer in the queue waits for the
 * first. */
static bool may_queue(const latch_op *op, const flock_file *file)
{
    return op->request.kind == LATCH_ACQUIRE || flock_find_own(op, file) == NULL;
}

/*
 * Should the waiters get the lock first, although it may be free? Not in this process's turn. An
 * attempt without a wait may overtake them once in a while (latch_flock_queue_overtake()).
 */
static bool gives_way(const latch_op *op, flock_file *file)
{
    flock_store *store = (flock_store *) op->lease->store;

    if (op->lease->state == file || !latch_flock_queue_has_waiters(store, file)
        || latch_flock_turn_continue(store, file, op->request.kind == LATCH_ACQUIRE)) {
        return false;
    }
    if (latch_flock_file_check(store, file, op->error) != LATCH_DONE || !may_queue(op, file)) {
        return false; /* errors of the file are found once it is locked */
    }
    if (op->request.wait) {
        return op->poll_ns == 0; /* polls have no number */
    }
    return !latch_flock_queue_overtake(store, file);
}

/* Lists a file that is waited for in `held`, with its future mode, for the detection of
 * deadlocks. */
static void list_waiting(const latch_op *op, flock_file *file)
{
    file->mode = (uint8_t) wanted_mode(op);
    if (op->lease->state != file) {
        latch_list_append(held_files(), &file->link);
    }
}

static void unlist_waiting(const latch_op *op, flock_file *file)
{
    if (op->lease->state != file) {
        latch_list_remove(&file->link);
    }
}

static latch_status flock_conflict(latch_op *op, flock_file *file)
{
    latch_status status;
    bool queues;

    file->turn_left = 0; /* another process has the lock */
    give_number_back(file);
    if (!op->request.wait) {
        return stay_as_before(op, file, LATCH_CONFLICT);
    }
    status = latch_flock_file_check((flock_store *) op->lease->store, file, op->error);
    if (latch_failed(status)) {
        return flock_fail_file(op, file, status);
    }
    if (op->request.deadline_ns == LATCH_NEVER && flock_is_own_deadlock(op, file)) {
        status = stay_as_before(op, file, LATCH_ERROR_DEADLOCK);
        return status != LATCH_ERROR_DEADLOCK
                   ? status
                   : latch_fail(op->error, status, 0,
                                "the lock is held by this very thread, through another key");
    }
    op->lease->mode = LATCH_FREE; /* a conversion releases the old lock while it waits */
    queues = may_queue(op, file);
    list_waiting(op, file);
    status = latch_flock_wait_begin(op, file, operation_of((uint8_t) wanted_mode(op)), queues);
    if (status == LATCH_WANT_IO) {
        return status;
    }
    unlist_waiting(op, file);
    return stay_as_before(op, file, status);
}

static latch_status flock_acquire(latch_op *op)
{
    latch_lease *lease = op->lease;
    flock_store *store = (flock_store *) lease->store;
    flock_file *file;
    latch_status status;
    int sys_errno;

    drop_removed(lease);
    if (lease->state != NULL && lease->mode == wanted_mode(op) && is_still_locked(lease)) {
        return flock_hold(op, lease->state);
    }
    if (lease->state != NULL) {
        op->mode_before = lease->mode; /* also if a forked process shares it */
    }
    for (int removals = 0; removals < REMOVALS_MAX; removals++) {
        file = lease->state;
        status = file != NULL ? LATCH_DONE : latch_flock_file_get(store, op, &file);
        if (status != LATCH_DONE) {
            return status;
        }
        sys_errno = gives_way(op, file) ? EWOULDBLOCK
                                        : try_flock(file, operation_of((uint8_t) wanted_mode(op)));
        if (sys_errno == EWOULDBLOCK) {
            return flock_conflict(op, file);
        }
        if (sys_errno != 0) {
            latch_fail(op->error, LATCH_ERROR_SYSTEM, sys_errno, "flock() failed: %s",
                       strerror(sys_errno));
            return flock_fail_file(op, file, LATCH_ERROR_SYSTEM);
        }
        status = latch_flock_file_check(store, file, op->error);
        if (status == LATCH_DONE) {
            return flock_hold(op, file);
        }
        if (latch_failed(status)) {
            return flock_fail_file(op, file, status);
        }
        if (lease->state == file) {
            flock_lose(lease);
            return latch_fail(op->error, LATCH_ERROR_LOST, 0,
                              "the lock was lost: its file was removed by another process");
        }
        latch_flock_file_close(store, file);
    }
    return LATCH_CONFLICT;
}

static latch_status flock_release(latch_op *op)
{
    latch_lease *lease = op->lease;
    flock_store *store = (flock_store *) lease->store;
    flock_file *file;
    char path[PATH_MAX];
    bool removed, is_unlocked;

    drop_removed(lease);
    file = lease->state;
    if (file == NULL) {
        return LATCH_DONE;
    }
    /* While it is locked, so that a waiter finds it removed. Readers may share a shared one. */
    removed = lease->remove && lease->mode == LATCH_EXCLUSIVE
              && latch_flock_file_at_path(store, file)
              && latch_flock_path(store, lease->resource, lease->resource_length, path,
                                  sizeof(path), op->error)
                     == LATCH_DONE
              && unlink(path) == 0;
    latch_list_remove(&file->link);
    lease->state = NULL;
    /* Explicitly: a child that was forked behind our back may have the description open too. */
    is_unlocked = try_flock(file, LOCK_UN) == 0;
    if (!is_unlocked || removed || !latch_flock_turn_keep_number(store, file)) {
        give_number_back(file);
    }
    if (!is_unlocked || removed) {
        latch_flock_file_close(store, file);
    } else {
        file->released_ns = latch_flock_coarse_ns(store);
        latch_flock_file_put(store, file);
    }
    return LATCH_DONE;
}

static latch_status flock_begin(latch_op *op)
{
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            return flock_acquire(op);
        case LATCH_RELEASE:
            return flock_release(op);
        case LATCH_PROBE:
            drop_removed(op->lease);
            return op->lease->state != NULL && is_still_locked(op->lease) && !was_removed(op->lease)
                       ? LATCH_DONE
                       : LATCH_CONFLICT;
        case LATCH_INSPECT:
            return latch_flock_inspect(op);
        case LATCH_LIST:
            return latch_flock_list(op);
        case LATCH_REFRESH: /* holds never expire */
            if (latch_lease_was_lost(op->lease)) {
                drop_removed(op->lease);
                return LATCH_CONFLICT;
            }
            return was_removed(op->lease) ? LATCH_CONFLICT : LATCH_DONE;
        case LATCH_CALL:
            return latch_flock_call(op);
        case LATCH_EVICT: /* never comes here */
            break;
    }
    return LATCH_DONE;
}

static latch_status after_wait(latch_op *op, flock_file *file, flock_wait_outcome outcome)
{
    latch_status status;

    if (outcome == FLOCK_WAIT_GOES_ON) {
        return LATCH_WANT_IO;
    }
    unlist_waiting(op, file);
    switch (outcome) {
        case FLOCK_WAIT_GOES_ON:
            break;
        case FLOCK_WAIT_GRANTED:
            status = latch_flock_file_check((flock_store *) op->lease->store, file, op->error);
            if (status == LATCH_DONE) {
                return flock_hold(op, file);
            }
            if (latch_failed(status)) {
                return flock_fail_file(op, file, status);
            }
            break; /* locked a removed file */
        case FLOCK_WAIT_FORKED:
            break;
        case FLOCK_WAIT_GIVEN_UP:
            try_flock(file, LOCK_UN); /* may have been granted just now */
            return stay_as_before(op, file, LATCH_CONFLICT);
        case FLOCK_WAIT_FAILED:
            return flock_fail_file(op, file, LATCH_ERROR_SYSTEM);
    }
    flock_fail_file(op, file, LATCH_CONFLICT);
    if (op->mode_before != LATCH_FREE) {
        return latch_fail(op->error, LATCH_ERROR_LOST, 0,
                          "the lock was lost while it was being promoted");
    }
    return op->cancelled || !op->request.wait ? LATCH_CONFLICT : flock_acquire(op);
}

static latch_status flock_step(latch_op *op, int64_t now_ns)
{
    flock_file *file = NULL;
    flock_wait_outcome outcome;

    if (op->request.kind == LATCH_CALL) {
        return latch_flock_call_step(op, now_ns);
    }
    outcome = latch_flock_wait_check(op, now_ns, &file);
    return after_wait(op, file, outcome);
}

static latch_status flock_cancel(latch_op *op)
{
    flock_file *file = NULL;
    flock_wait_outcome outcome;

    if (op->request.kind == LATCH_CALL) {
        return latch_flock_call_cancel(op);
    }
    outcome = latch_flock_wait_end(op, &file);
    return after_wait(op, file, outcome);
}

static bool flock_held(const latch_lease *lease)
{
    const flock_file *file = lease->state;

    return lease->mode != LATCH_FREE && file != NULL && file->descriptor.fd >= 0
           && !latch_flock_file_shared((flock_store *) lease->store, file);
}

static void flock_drop(latch_lease *lease)
{
    if (lease->state != NULL) {
        flock_lose(lease);
    }
}

const latch_store_class latch_flock_store = {
    .info =
        {
            .name = "flock",
            .title = "files",
            .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_PUSH | LATCH_LISTING
                            | LATCH_CALLS,
            .scope = LATCH_SCOPE_MACHINE,
        },
    .size = sizeof(flock_store) + PATH_MAX,
    .open = flock_open,
    .close = flock_close,
    .begin = flock_begin,
    .step = flock_step,
    .cancel = flock_cancel,
    .held = flock_held,
    .drop = flock_drop,
    .watch = latch_flock_watch,
};
