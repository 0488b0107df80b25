/*
 * Waits for flock(2), which has no time-out, and for the queue of those that are about to call it
 * (queue.c): a helper thread sleeps in the system calls, on the same open file description, and
 * tells the waiting thread by an eventfd.
 *
 * A wait that is given up cancels the helper, so that none is left behind that would take the lock
 * later. The cancel is asynchronous, in the one way in which that is safe: it is enabled around
 * nothing but the system call. A helper whose wait ended otherwise is parked for the store's next
 * wait, because starting a thread takes longer than most locks are held.
 */
#include "src/store/flock/flock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#define PENDING (-1)
#define NO_MORE_JOBS (-1)

/*
 * A waiter checks from time to time whether the queue stands still: its first waiter may be stopped
 * (SIGSTOP), and all others would wait for a free lock. A first waiter that leaves the lock free
 * for IDLE_NS is overtaken.
 */
#define STALL_CHECK_NS LATCH_NS_PER_S
#define IDLE_NS (100 * LATCH_NS_PER_MS)

struct flock_waiter {
    latch_descriptor wake; /* the eventfd; closed in a forked child, which has not the thread */
    pthread_t thread;
    sem_t jobs;            /* posted once for each */
    _Atomic int fd;        /* the job: what to lock, or NO_MORE_JOBS */
    int operation;         /* LOCK_EX or LOCK_SH */
    flock_file *file;      /* whose descriptor that is */
    int64_t number;        /* in the queue of the file, or LATCH_FLOCK_NONE */
    int64_t ahead;         /* number that the thread waits for; the thread's own once it runs */
    struct flock lock;     /* the same, for the kernel */
    _Atomic bool queues;   /* it waits for others' numbers, not yet for the file */
    int64_t next_check_ns; /* time of the next check whether the queue stands still */
    int64_t idler;         /* the number that had left the file free then, or LATCH_FLOCK_NONE */
    _Atomic int outcome;   /* PENDING, 0 when granted, else an errno */
    int unused;            /* unused output of a pthread function */
};

/* The thread can be cancelled between allow_cancel() and forbid_cancel(), nowhere else. */
static void allow_cancel(flock_waiter *waiter)
{
    /* State and type: glibc's handler of a cancel that comes late looks at the type alone. */
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &waiter->unused);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &waiter->unused);
}

static void forbid_cancel(flock_waiter *waiter)
{
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &waiter->unused);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &waiter->unused);
}

/* Sleeps until no lower number is taken. False when the kernel refuses to wait. */
static bool wait_in_queue(flock_waiter *waiter, int fd)
{
    int result = 0;

    while (waiter->ahead >= 0 && result == 0) {
        waiter->lock.l_start = (off_t) waiter->ahead;
        allow_cancel(waiter);
        do {
            result = fcntl(fd, F_OFD_SETLKW, &waiter->lock);
        } while (result != 0 && errno == EINTR);
        forbid_cancel(waiter);
        if (result == 0) { /* so that the process before it may take the number again */
            waiter->lock.l_type = F_UNLCK;
            fcntl(fd, F_OFD_SETLK, &waiter->lock);
            waiter->lock.l_type = F_RDLCK;
        }
        waiter->ahead = latch_flock_queue_ahead(fd, waiter->number);
    }
    waiter->queues = false;
    return result == 0;
}

/*
 * Locks the file when no lower number is taken. Returns 0 or an errno. The process before this one
 * may have it again, with its number: that is waited for then, not the file, because a waiter that
 * wakes in flock(2) would most often be quicker than a process in its turn. Where numbers cannot be
 * waited for, the file is.
 */
static int wait_for_lock(flock_waiter *waiter, int fd, int operation)
{
    bool waits_for_numbers = wait_in_queue(waiter, fd);
    int result;

    while (waits_for_numbers && waiter->number > 0) {
        if (flock(fd, operation | LOCK_NB) == 0) {
            return 0;
        }
        if (errno != EWOULDBLOCK) {
            return errno;
        }
        waiter->ahead = latch_flock_queue_ahead(fd, waiter->number);
        if (waiter->ahead < 0) {
            break;
        }
        waiter->queues = true;
        waits_for_numbers = wait_in_queue(waiter, fd);
    }
    allow_cancel(waiter);
    do {
        result = flock(fd, operation);
    } while (result != 0 && errno == EINTR);
    forbid_cancel(waiter);
    return result == 0 ? 0 : errno;
}

/* No local whose address is taken where it may be cancelled: such a frame would leave
 * AddressSanitizer's marks on it. */
static void *wait_in_kernel(void *argument)
{
    static const uint64_t one = 1;
    flock_waiter *waiter = argument;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &waiter->unused);
    while (true) {
        int fd, operation, result;

        while (sem_wait(&waiter->jobs) != 0) {
        }
        fd = waiter->fd;
        operation = waiter->operation;
        if (fd == NO_MORE_JOBS) {
            return NULL;
        }
        result = wait_for_lock(waiter, fd, operation);
        if (operation == LOCK_SH || result != 0 || waiter->number < 0) {
            latch_flock_queue_leave(fd); /* closed by this thread: the other one may be in a
                                          * handler */
        }
        waiter->outcome = result;
        while (write(waiter->wake.fd, &one, sizeof(one)) < 0 && errno == EINTR) {
        }
    }
}

/* glibc ends the process when a thread is cancelled and this library cannot be loaded (chroot). */
static bool can_cancel(void)
{
#ifdef __GLIBC__
    return dlopen("libgcc_s.so.1", RTLD_NOW) != NULL;
#else
    return true;
#endif
}

/* Frees a waiter whose thread has ended, or never was in this process. */
static void free_waiter(latch_engine *engine, flock_waiter *waiter)
{
    latch_descriptor_close(engine, &waiter->wake);
    sem_destroy(&waiter->jobs);
    latch_free(engine, waiter);
}

static flock_waiter *make_waiter(latch_engine *engine)
{
    flock_waiter *waiter = latch_allocate(engine, sizeof(*waiter));
    int fd;

    if (waiter == NULL) {
        return NULL;
    }
    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        latch_free(engine, waiter);
        return NULL;
    }
    latch_descriptor_register(engine, &waiter->wake, fd);
    sem_init(&waiter->jobs, 0, 0);
    if (!can_cancel() || latch_thread_start(&waiter->thread, wait_in_kernel, waiter) != 0) {
        free_waiter(engine, waiter);
        return NULL;
    }
    return waiter;
}

static bool was_forked(const flock_waiter *waiter)
{
    return waiter->wake.fd < 0;
}

/* Cancels and joins the thread; `outcome` tells whether it had the lock by then. */
static void end_thread(flock_waiter *waiter)
{
    waiter->fd = NO_MORE_JOBS;
    sem_post(&waiter->jobs);
    pthread_cancel(waiter->thread);
    pthread_join(waiter->thread, NULL);
}

void latch_flock_end_parked(flock_store *store)
{
    flock_waiter *waiter = store->parked;

    store->parked = NULL;
    if (waiter == NULL) {
        return;
    }
    if (!was_forked(waiter)) {
        end_thread(waiter);
    }
    free_waiter(store->store.engine, waiter);
}

static void want_grant(latch_op *op)
{
    const flock_waiter *waiter = op->state;

    op->fd = waiter->wake.fd;
    op->events = POLLIN;
    if (waiter->queues || waiter->number > 0) { /* it may come to wait for a number again */
        op->wake_ns = waiter->next_check_ns;
    }
}

latch_status latch_flock_wait_begin(latch_op *op, flock_file *file, int operation, bool queues)
{
    flock_store *store = (flock_store *) op->lease->store;
    flock_waiter *waiter;

    if (store->parked != NULL && was_forked(store->parked)) {
        latch_flock_end_parked(store);
    }
    waiter = store->parked != NULL ? store->parked : make_waiter(store->store.engine);
    if (waiter == NULL) {
        return LATCH_CONFLICT;
    }
    store->parked = NULL;
    waiter->file = file;
    waiter->fd = file->descriptor.fd;
    waiter->operation = operation;
    waiter->number = waiter->ahead = LATCH_FLOCK_NONE;
    if (queues) {
        waiter->number = latch_flock_queue_join(store, file, &waiter->ahead);
        file->is_wanted = true;
    }
    waiter->lock = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    waiter->queues = waiter->ahead >= 0;
    waiter->idler = LATCH_FLOCK_NONE;
    waiter->next_check_ns = latch_engine_now_ns(store->store.engine) + STALL_CHECK_NS;
    waiter->outcome = PENDING;
    sem_post(&waiter->jobs);
    op->waiting = true;
    op->state = waiter;
    want_grant(op);
    return LATCH_WANT_IO;
}

/* Ends the wait: the caller owns the file. */
static flock_wait_outcome flock_conclude(latch_op *op, flock_file **file)
{
    flock_waiter *waiter = op->state;

    *file = waiter->file;
    op->state = NULL;
    if (waiter->outcome == 0) {
        waiter->file->has_number = waiter->number >= 0 && waiter->operation == LOCK_EX;
        latch_flock_turn_begin(waiter->file, latch_engine_now_ns(op->lease->store->engine),
                               waiter->number);
        return FLOCK_WAIT_GRANTED;
    }
    latch_fail(op->error, LATCH_ERROR_SYSTEM, waiter->outcome, "flock() failed: %s",
               strerror(waiter->outcome));
    return FLOCK_WAIT_FAILED;
}

static flock_wait_outcome conclude_forked(latch_op *op, flock_file **file)
{
    flock_waiter *waiter = op->state;

    *file = waiter->file;
    op->state = NULL;
    free_waiter(op->lease->store->engine, waiter);
    return FLOCK_WAIT_FORKED;
}

/* Takes the lock if the first one in the queue has left it free from one check to the next. */
static bool overtakes_idler(const flock_store *store, flock_waiter *waiter, int64_t now_ns)
{
    int64_t first = LATCH_FLOCK_NONE;

    if (now_ns < waiter->next_check_ns) {
        return false;
    }
    if (waiter->queues && !latch_flock_file_locked(store, waiter->file)) {
        first = latch_flock_queue_first(waiter->fd, waiter->number);
    }
    waiter->next_check_ns = now_ns + (first >= 0 ? IDLE_NS : STALL_CHECK_NS);
    if (first < 0 || first != waiter->idler) {
        waiter->idler = first;
        return false;
    }
    return flock(waiter->fd, waiter->operation | LOCK_NB) == 0;
}

flock_wait_outcome latch_flock_wait_check(latch_op *op, int64_t now_ns, flock_file **file)
{
    flock_store *store = (flock_store *) op->lease->store;
    flock_waiter *waiter = op->state;
    flock_wait_outcome outcome;
    uint64_t count;

    if (was_forked(waiter)) {
        return conclude_forked(op, file);
    }
    /* Emptied first, so that a write after the check of the outcome wakes this thread once more. */
    while (read(waiter->wake.fd, &count, sizeof(count)) < 0 && errno == EINTR) {
    }
    if (waiter->outcome == PENDING && overtakes_idler(store, waiter, now_ns)) {
        latch_flock_wait_end(op, file);
        return FLOCK_WAIT_GRANTED;
    }
    if (waiter->outcome == PENDING) {
        want_grant(op);
        return FLOCK_WAIT_GOES_ON;
    }
    outcome = flock_conclude(op, file);
    latch_flock_end_parked(store);
    store->parked = waiter;
    return outcome;
}

flock_wait_outcome latch_flock_wait_end(latch_op *op, flock_file **file)
{
    flock_waiter *waiter = op->state;
    flock_wait_outcome outcome = FLOCK_WAIT_GIVEN_UP;

    if (was_forked(waiter)) {
        return conclude_forked(op, file);
    }
    end_thread(waiter);
    if (waiter->outcome != PENDING) {
        outcome = flock_conclude(op, file);
    } else {
        *file = waiter->file;
        op->state = NULL;
        latch_flock_queue_leave((*file)->descriptor.fd);
    }
    free_waiter(op->lease->store->engine, waiter);
    return outcome;
}
