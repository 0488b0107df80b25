/*
 * The poll loop: the only place that sleeps.
 *
 * Signals are blocked between the look at the interrupt flag and the sleep, so that none is missed
 * (ppoll(2)); a slice bounds the wait for what arrives on another thread. PHP's interrupts (pcntl
 * handlers, the time limit) run between two slices, and whatever they throw ends the wait.
 */
#include "php_latch.h"

#include <poll.h>
#include <signal.h>

#define SLICE_NS LATCH_NS_PER_S

/* An operation that waits. In LATCH_G(runs), for a bailout may unwind the stack over it. */
typedef struct php_latch_waiting {
    latch_link link;
    latch_op op;
    latch_error error;
    php_latch_lease *lease; /* a reference */
} php_latch_waiting;

int64_t php_latch_now_ns(void)
{
    return latch_engine_now_ns(php_latch_engine);
}

/* False when an interrupt ends the script or threw. May not return: the time limit bails out. */
static bool run_interrupts(void)
{
    if (!zend_atomic_bool_load_ex(&EG(vm_interrupt)) || LATCH_G(shutting_down)) {
        return true;
    }
    if (php_latch_is_out_of_memory()) {
        return false; /* the VM's to report, as soon as we have returned */
    }
    zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
    if (zend_atomic_bool_load_ex(&EG(timed_out))) {
        zend_timeout();
    } else if (zend_interrupt_function != NULL) {
        zend_interrupt_function(EG(current_execute_data));
    }
    return EG(exception) == NULL;
}

/* Sleeps until the descriptor is ready, a signal comes, or it is `wake_ns`; one slice at most. */
static void sleep_slice(int fd, short events, int64_t wake_ns)
{
    struct pollfd descriptor = {.fd = fd, .events = events};
    int64_t left_ns = wake_ns - php_latch_now_ns();
    struct timespec left;
    sigset_t all, before;

    left_ns = left_ns < 0 ? 0 : left_ns > SLICE_NS ? SLICE_NS : left_ns;
    left.tv_sec = (time_t) (left_ns / LATCH_NS_PER_S);
    left.tv_nsec = (long) (left_ns % LATCH_NS_PER_S);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!zend_atomic_bool_load_ex(&EG(vm_interrupt))) {
        ppoll(&descriptor, fd >= 0 ? 1 : 0, &left, &before);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool php_latch_sleep(int64_t wake_ns)
{
    while (php_latch_now_ns() < wake_ns) {
        sleep_slice(-1, 0, wake_ns);
        if (!run_interrupts()) {
            return false;
        }
    }
    return true;
}

/* Ends the operation with nothing taken. Not interruptible, but stores bound it. */
static latch_status give_up(latch_op *op)
{
    latch_status status = latch_op_cancel(op, php_latch_now_ns());

    while (LATCH_WANTS(status)) {
        sleep_slice(status == LATCH_WANT_IO ? op->fd : -1, op->events, op->wake_ns);
        status = latch_op_cancel(op, php_latch_now_ns());
    }
    return status;
}

static void forget(php_latch_waiting *waiting)
{
    latch_link_remove(&waiting->link);
    OBJ_RELEASE(&waiting->lease->std);
    free(waiting);
}

static latch_status wait_for(const latch_op *op, latch_status status, php_latch_lease *lease,
                             latch_error *error)
{
    /* Not Zend's allocator: its memory limit would bail out with the operation in flight. */
    php_latch_waiting *waiting = malloc(sizeof(*waiting));

    if (waiting == NULL) {
        latch_op abandoned = *op;

        give_up(&abandoned);
        *error = (latch_error){.status = LATCH_ERROR_MEMORY, .message = "out of memory"};
        return LATCH_ERROR_MEMORY;
    }
    waiting->op = *op;
    waiting->op.error = &waiting->error;
    waiting->lease = lease;
    GC_ADDREF(&lease->std);
    latch_link_append(&LATCH_G(runs), &waiting->link);

    while (LATCH_WANTS(status)) {
        sleep_slice(status == LATCH_WANT_IO ? waiting->op.fd : -1, waiting->op.events,
                    waiting->op.wake_ns);
        if (!run_interrupts()) {
            give_up(&waiting->op);
            status = LATCH_INTERRUPTED;
            break;
        }
        status = latch_op_step(&waiting->op, php_latch_now_ns());
    }
    *error = waiting->error;
    forget(waiting);
    return status;
}

latch_status php_latch_run(php_latch_lease *lease, const latch_request *request, latch_error *error)
{
    latch_op op;
    latch_status status = latch_op_begin(&op, &lease->lease, request, error);

    return LATCH_WANTS(status) ? wait_for(&op, status, lease, error) : status;
}

void php_latch_cancel_runs(void)
{
    latch_link *runs = &LATCH_G(runs);

    while (runs->next != runs) {
        php_latch_waiting *waiting = LATCH_CONTAINER(runs->next, php_latch_waiting, link);

        give_up(&waiting->op);
        forget(waiting);
    }
}
