/*
 * Waiting for flock(2), which queues in the kernel but knows no time-out: a helper thread sleeps in
 * the call, on the same open file description, and tells the waiting thread by an eventfd.
 *
 * A wait that is given up cancels the helper, so that none is left behind that would take the lock
 * later. The cancel is asynchronous, in the one way in which that is safe: it is enabled around
 * nothing but the system call. A helper whose wait ended otherwise is parked for the store's next
 * wait, because starting a thread takes longer than most locks are held.
 */
#include "flock.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#define PENDING (-1)
#define NO_MORE_JOBS (-1)

struct flock_waiter {
    latch_descriptor wake; /* the eventfd; closed in a forked child, which has not the thread */
    pthread_t thread;
    sem_t jobs;          /* posted once for each */
    _Atomic int fd;      /* the job: what to lock, or NO_MORE_JOBS */
    int operation;       /* LOCK_EX or LOCK_SH */
    flock_file *file;    /* whose descriptor that is */
    _Atomic int outcome; /* PENDING, 0 when granted, else an errno */
    int unused;          /* where pthreads writes what nobody asks for */
};

/* No local whose address is taken: a cancelled frame would leave AddressSanitizer's marks on it. */
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
        /* State and type: glibc's handler of a cancel that comes late looks at the type alone. */
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &waiter->unused);
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &waiter->unused);
        do {
            result = flock(fd, operation);
        } while (result != 0 && errno == EINTR);
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &waiter->unused);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &waiter->unused);

        waiter->outcome = result == 0 ? 0 : errno;
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

/* The thread has ended, or never was in this process. */
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

/* Lets the thread come to its end, wherever it is; outcome says whether it had the lock by then. */
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

latch_status latch_flock_wait_begin(latch_op *op, flock_file *file, int operation)
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
    waiter->outcome = PENDING;
    sem_post(&waiter->jobs);
    op->waiting = true;
    op->state = waiter;
    op->fd = waiter->wake.fd;
    op->events = POLLIN;
    return LATCH_WANT_IO;
}

/* The wait is over: hands the file back. */
static flock_wait_outcome conclude(latch_op *op, flock_file **file)
{
    flock_waiter *waiter = op->state;

    *file = waiter->file;
    op->state = NULL;
    if (waiter->outcome == 0) {
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

flock_wait_outcome latch_flock_wait_check(latch_op *op, flock_file **file)
{
    flock_store *store = (flock_store *) op->lease->store;
    flock_waiter *waiter = op->state;
    flock_wait_outcome outcome;
    uint64_t count;

    if (was_forked(waiter)) {
        return conclude_forked(op, file);
    }
    /* Emptied first: what is written after the look at the outcome wakes us once more. */
    while (read(waiter->wake.fd, &count, sizeof(count)) < 0 && errno == EINTR) {
    }
    if (waiter->outcome == PENDING) {
        op->fd = waiter->wake.fd;
        op->events = POLLIN;
        return FLOCK_WAIT_GOES_ON;
    }
    outcome = conclude(op, file);
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
        outcome = conclude(op, file);
    } else {
        *file = waiter->file;
        op->state = NULL;
    }
    free_waiter(op->lease->store->engine, waiter);
    return outcome;
}
