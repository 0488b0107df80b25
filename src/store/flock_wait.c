/*
 * Waiting for flock(2), which queues fairly in the kernel but knows no time-out: a helper thread
 * sleeps in the call, on the same open file description, and tells the waiting thread by an
 * eventfd. A wait that is given up cancels the thread asynchronously, the one use for which that
 * is safe: between the two switches of the cancel type it makes nothing but the system call. So a
 * wait that has ended leaves no thread behind that would take the lock later.
 */
#include "flock.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#define STACK_SIZE (256 * 1024)
#define PENDING (-1)

typedef struct flock_wait {
    latch_descriptor wake; /* the eventfd */
    flock_file *file;
    pthread_t thread;
    int fd;
    int operation;
    int unused;          /* where pthreads writes what nobody asks for */
    _Atomic int outcome; /* PENDING, 0 when granted, else an errno */
} flock_wait;

/* No local whose address is taken: a cancelled frame would leave AddressSanitizer's marks on it. */
static void *wait_in_kernel(void *argument)
{
    static const uint64_t one = 1;
    flock_wait *wait = argument;
    const int fd = wait->fd, operation = wait->operation;
    int result;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &wait->unused);
    do {
        result = flock(fd, operation);
    } while (result != 0 && errno == EINTR);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &wait->unused);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &wait->unused);

    wait->outcome = result == 0 ? 0 : errno;
    while (write(wait->wake.fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    return NULL;
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

/* No signal handler may run in the helper: PHP's touch its interpreter. */
static bool start_thread(flock_wait *wait)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int result;

    if (!can_cancel() || pthread_attr_init(&attributes) != 0) {
        return false;
    }
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = pthread_create(&wait->thread, &attributes, wait_in_kernel, wait);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result == 0;
}

static void free_wait(latch_op *op)
{
    latch_engine *engine = op->lease->store->engine;
    flock_wait *wait = op->state;

    latch_descriptor_close(engine, &wait->wake);
    latch_free(engine, wait);
    op->state = NULL;
}

latch_status latch_flock_wait_begin(latch_op *op, flock_file *file, int operation)
{
    latch_engine *engine = op->lease->store->engine;
    flock_wait *wait = latch_allocate(engine, sizeof(*wait));
    int fd;

    if (wait == NULL) {
        return LATCH_CONFLICT;
    }
    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        latch_free(engine, wait);
        return LATCH_CONFLICT;
    }
    latch_descriptor_register(engine, &wait->wake, fd);
    wait->file = file;
    wait->fd = file->descriptor.fd;
    wait->operation = operation;
    wait->outcome = PENDING;
    op->state = wait;
    if (!start_thread(wait)) {
        free_wait(op);
        return LATCH_CONFLICT;
    }
    op->fd = fd;
    op->events = POLLIN;
    return LATCH_WANT_IO;
}

/* The wait is over; its thread has ended, or never was in this process. */
static flock_wait_outcome conclude(latch_op *op, flock_file **file, flock_wait_outcome outcome)
{
    flock_wait *wait = op->state;

    *file = wait->file;
    if (outcome == FLOCK_WAIT_FAILED) {
        latch_fail(op->error, LATCH_ERROR_SYSTEM, wait->outcome, "flock() failed: %s",
                   strerror(wait->outcome));
    }
    free_wait(op);
    return outcome;
}

flock_wait_outcome latch_flock_wait_check(latch_op *op, flock_file **file)
{
    flock_wait *wait = op->state;

    if (wait->wake.fd < 0) {
        return conclude(op, file, FLOCK_WAIT_FORKED);
    }
    if (wait->outcome == PENDING) {
        op->fd = wait->wake.fd;
        op->events = POLLIN;
        return FLOCK_WAIT_GOES_ON;
    }
    pthread_join(wait->thread, NULL);
    return conclude(op, file, wait->outcome == 0 ? FLOCK_WAIT_GRANTED : FLOCK_WAIT_FAILED);
}

flock_wait_outcome latch_flock_wait_end(latch_op *op, flock_file **file)
{
    flock_wait *wait = op->state;

    if (wait->wake.fd < 0) {
        return conclude(op, file, FLOCK_WAIT_FORKED);
    }
    pthread_cancel(wait->thread);
    pthread_join(wait->thread, NULL);
    if (wait->outcome == PENDING) {
        return conclude(op, file, FLOCK_WAIT_GIVEN_UP);
    }
    return conclude(op, file, wait->outcome == 0 ? FLOCK_WAIT_GRANTED : FLOCK_WAIT_FAILED);
}
