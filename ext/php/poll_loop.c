/*
 * The poll loop: the only place that sleeps.
 *
 * Signals are blocked between the check of the interrupt flag and the sleep, so that none is missed
 * (ppoll(2)); slices bound the delay of an interrupt that another thread has set. PHP's interrupts
 * (pcntl handlers, the time limit) run between two slices, and an exception of theirs ends the
 * wait.
 */
#include "ext/php/poll_loop.h"

#include "ext/php/call.h"
#include "ext/php/client_object.h"
#include "ext/php/statistics.h"

#include <poll.h>
#include <signal.h>

#define SLICE_NS LATCH_NS_PER_S
/* Longest first sleep without blocked signals. */
#define GLANCE_NS (5 * LATCH_NS_PER_MS)

/* Effect of PHP's interrupts on a wait. */
typedef enum { GO_ON, STOP, BAIL_OUT } interrupt_outcome;

int64_t php_latch_now_ns(void)
{
    return latch_engine_now_ns(php_latch_engine);
}

/* Runs the VM's interrupts, as between two instructions: signal handlers, the time limit. */
static interrupt_outcome run_interrupts(void)
{
    volatile interrupt_outcome outcome = GO_ON;
    const php_latch_deferred_throw deferred =
        LATCH_G(deferred_throw); /* handlers have operations of their own */

    if (!zend_atomic_bool_load_ex(&EG(vm_interrupt)) || LATCH_G(shutting_down)) {
        return GO_ON;
    }
    if (php_latch_is_out_of_memory()) {
        return STOP; /* the VM reports it as soon as we have returned */
    }
    zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
    LATCH_G(deferred_throw) = (php_latch_deferred_throw){NULL, false};
    zend_try
    {
        if (zend_atomic_bool_load_ex(&EG(timed_out))) {
            zend_timeout();
        } else if (zend_interrupt_function != NULL) {
            zend_interrupt_function(EG(current_execute_data));
        }
        outcome = EG(exception) == NULL ? GO_ON : STOP;
    }
    zend_catch
    {
        outcome = BAIL_OUT;
    }
    zend_end_try();
    LATCH_G(deferred_throw) = deferred;
    return outcome;
}

/* The descriptors that an operation waits for. */
typedef struct readiness {
    struct pollfd descriptors[LATCH_DESCRIPTORS_MAX];
    nfds_t count;
} readiness;

static void find_readiness(readiness *ready, const latch_op *op, latch_status status)
{
    ready->count = status == LATCH_WANT_IO ? latch_op_descriptors(op, ready->descriptors) : 0;
}

/*
 * Sleeps until a descriptor is ready, a signal arrives, or `wake_ns`; one slice at most. Returns at
 * once if an interrupt of the VM is pending, unless it has to wait.
 */
static void sleep_slice(readiness *ready, int64_t wake_ns, bool interruptible)
{
    int64_t left_ns = wake_ns - php_latch_now_ns();
    struct timespec left;
    sigset_t all, before;

    left_ns = left_ns < 0 ? 0 : left_ns > SLICE_NS ? SLICE_NS : left_ns;
    left.tv_sec = (time_t) (left_ns / LATCH_NS_PER_S);
    left.tv_nsec = (long) (left_ns % LATCH_NS_PER_S);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!interruptible || !zend_atomic_bool_load_ex(&EG(vm_interrupt)) || LATCH_G(shutting_down)) {
        ppoll(ready->descriptors, ready->count, &left, &before);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/*
 * The same for an answer that is expected at once, with two system calls less: signals are not
 * blocked. A signal just before the sleep is handled after it, GLANCE_NS later at most.
 */
static void glance(readiness *ready, int64_t wake_ns)
{
    int64_t left_ns = wake_ns - php_latch_now_ns();
    struct timespec left = {0};

    left.tv_nsec = (long) (left_ns < 0 ? 0 : left_ns > GLANCE_NS ? GLANCE_NS : left_ns);
    ppoll(ready->descriptors, ready->count, &left, NULL);
}

static void count_wait_since(php_latch_statistics *statistics, int64_t begun_ns)
{
    statistics->wait_ns += (uint64_t) (php_latch_now_ns() - begun_ns);
}

bool php_latch_sleep(int64_t wake_ns)
{
    php_latch_statistics unused = {0};

    return php_latch_wait_until(wake_ns, &unused);
}

bool php_latch_wait_until(int64_t wake_ns, php_latch_statistics *statistics)
{
    int64_t begun_ns = php_latch_now_ns();
    interrupt_outcome outcome = GO_ON;
    readiness nothing;

    nothing.count = 0;
    while (outcome == GO_ON && php_latch_now_ns() < wake_ns) {
        sleep_slice(&nothing, wake_ns, true);
        outcome = run_interrupts();
    }
    count_wait_since(statistics, begun_ns);
    if (outcome == BAIL_OUT) {
        zend_bailout();
    }
    return outcome == GO_ON;
}

/* Cancels the operation, with nothing taken. Not interruptible; stores bound its time. */
static latch_status cancel_op(latch_op *op)
{
    latch_status status = latch_op_cancel(op, php_latch_now_ns());
    readiness ready;

    while (latch_wants(status)) {
        find_readiness(&ready, op, status);
        sleep_slice(&ready, op->wake_ns, false);
        status = latch_op_cancel(op, php_latch_now_ns());
    }
    return status;
}

/* ---- Deadlocks ------------------------------------------------------------------------------ */

/* Set at MINIT, read by all threads. */
static php_latch_deadlock_detector deadlock_detector;

void php_latch_set_deadlock_detector(php_latch_deadlock_detector detector)
{
    deadlock_detector = detector;
}

latch_status php_latch_find_deadlock(latch_lease *wanted, latch_op_kind kind, bool verifies)
{
    return deadlock_detector(wanted, kind, verifies);
}

latch_status php_latch_fail_deadlock(latch_error *error)
{
    *error = (latch_error){
        .status = LATCH_ERROR_DEADLOCK,
        .message = "the lock is held by this very thread, through another key",
    };
    return error->status;
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* Course of a request that has to wait, over several attempts. */
typedef struct wait_course {
    bool waits;
    int64_t begun_ns;
    bool is_checked; /* no deadlock was found when so many leases had been acquired: */
    uint64_t grants;
} wait_course;

/* A wait becomes a deadlock only by what this thread has acquired since the last check. */
static bool may_be_deadlock(wait_course *course, const latch_op *op)
{
    if (!op->waiting || !op->request.wait || op->request.kind == LATCH_CALL
        || op->request.deadline_ns != LATCH_NEVER
        || (course->is_checked && course->grants == LATCH_G(grants))) {
        return false;
    }
    course->is_checked = true;
    course->grants = LATCH_G(grants);
    return php_latch_find_deadlock(op->lease, op->request.kind, false) == LATCH_DONE;
}

/* LATCH_ERROR_DEADLOCK: it is one. LATCH_WANT_TIMER: it is none, and is to be begun anew. */
static latch_status verify_deadlock(latch_op *op)
{
    latch_lease *lease = op->lease;
    latch_status status = cancel_op(op);

    if (status != LATCH_CONFLICT) {
        return status;
    }
    status = php_latch_find_deadlock(lease, op->request.kind, true);
    return status == LATCH_DONE       ? php_latch_fail_deadlock(op->error)
           : status == LATCH_CONFLICT ? LATCH_WANT_TIMER
                                      : status;
}

/* LATCH_WANT_TIMER: the request is to be begun anew. */
static latch_status wait_for_op(latch_op *op, latch_status status, wait_course *course)
{
    bool first = true;
    interrupt_outcome outcome = GO_ON;
    readiness ready;

    while (latch_wants(status)) {
        if (may_be_deadlock(course, op)) {
            return verify_deadlock(op);
        }
        if (!course->waits && op->waiting && op->request.kind != LATCH_CALL) {
            course->waits = true;
            course->begun_ns = php_latch_now_ns();
            php_latch_statistics_of(op->lease)->waits++;
        }
        find_readiness(&ready, op, status);
        if (first && status == LATCH_WANT_IO && !course->waits) {
            glance(&ready, op->wake_ns);
        } else {
            sleep_slice(&ready, op->wake_ns, true);
        }
        first = false;
        outcome = run_interrupts();
        if (outcome != GO_ON) {
            cancel_op(op);
            status = LATCH_INTERRUPTED;
        } else {
            status = latch_op_step(op, php_latch_now_ns());
        }
    }
    LATCH_G(deferred_throw).bailed_out |= outcome == BAIL_OUT;
    return status;
}

/* Releases a lock whose caller is left by an exception. */
static void release_unneeded(latch_lease *lease)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = true};
    latch_error error;
    latch_op op;

    if (latch_wants(latch_op_begin(&op, lease, &release, &error))) {
        cancel_op(&op); /* a release is carried out to its end */
    }
}

latch_status php_latch_run_request(latch_lease *lease, const latch_request *request,
                                   latch_error *error)
{
    wait_course course = {0};
    latch_op op;
    latch_status status;

    php_latch_client_failure_clear();
    do {
        status = latch_op_begin(&op, lease, request, error);
        if (latch_wants(status)) {
            status = wait_for_op(&op, status, &course);
        }
    } while (latch_wants(status));
    if (course.waits) {
        count_wait_since(php_latch_statistics_of(lease), course.begun_ns);
    }
    if (status == LATCH_DONE && php_latch_has_deferred_throw() && op.mode_before == LATCH_FREE
        && (request->kind == LATCH_ACQUIRE || request->kind == LATCH_ACQUIRE_SHARED)) {
        release_unneeded(lease);
    }
    return php_latch_rethrow_deferred(status);
}

/* ---- Requests side by side ------------------------------------------------------------------- */

/* Adds the descriptors of one more operation; several may wait for the same one. */
static void add_readiness(readiness *ready, const latch_op *op)
{
    struct pollfd more[LATCH_DESCRIPTORS_MAX];
    size_t count = latch_op_descriptors(op, more);

    for (size_t from = 0; from < count; from++) {
        nfds_t at = 0;

        while (at < ready->count && ready->descriptors[at].fd != more[from].fd) {
            at++;
        }
        if (at < ready->count) {
            ready->descriptors[at].events |= more[from].events;
        } else if (at < LATCH_DESCRIPTORS_MAX) { /* others have to be stepped by their time-outs */
            ready->descriptors[at] = more[from];
            ready->count++;
        }
    }
}

/* What the requests in flight wait for together; false: none is in flight. */
static bool find_joint_readiness(readiness *ready, int64_t *wake_ns,
                                 const php_latch_side_request *requests, size_t count)
{
    bool wants = false;

    ready->count = 0;
    *wake_ns = LATCH_NEVER;
    for (size_t at = 0; at < count; at++) {
        const php_latch_side_request *request = &requests[at];

        if (!latch_wants(request->status)) {
            continue;
        }
        wants = true;
        if (request->op.wake_ns < *wake_ns) {
            *wake_ns = request->op.wake_ns;
        }
        if (request->status == LATCH_WANT_IO) {
            add_readiness(ready, &request->op);
        }
    }
    return wants;
}

/*
 * Steps all that are in flight, until none ends any more: a step may have read the reply to an
 * earlier request from the connection that they share, whose descriptor is not ready again then.
 */
static void step_requests(php_latch_side_request *requests, size_t count)
{
    bool has_ended = true;

    while (has_ended) {
        has_ended = false;
        for (size_t at = 0; at < count; at++) {
            if (latch_wants(requests[at].status)) {
                requests[at].status = latch_op_step(&requests[at].op, php_latch_now_ns());
                has_ended |= !latch_wants(requests[at].status);
            }
        }
    }
}

static void cancel_requests(php_latch_side_request *requests, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (latch_wants(requests[at].status)) {
            cancel_op(&requests[at].op);
            requests[at].status = LATCH_INTERRUPTED;
        }
    }
}

void php_latch_run_requests(php_latch_side_request *requests, size_t count)
{
    const unsigned generation = latch_engine_generation(php_latch_engine);
    interrupt_outcome outcome = GO_ON;
    bool first = true;
    int64_t wake_ns;
    readiness ready;

    php_latch_client_failure_clear();
    for (size_t at = 0; at < count; at++) {
        requests[at].status = latch_op_begin(&requests[at].op, requests[at].lease,
                                             &requests[at].request, &requests[at].error);
    }
    while (outcome == GO_ON && find_joint_readiness(&ready, &wake_ns, requests, count)) {
        if (first && ready.count > 0) {
            glance(&ready, wake_ns);
        } else {
            sleep_slice(&ready, wake_ns, true);
        }
        first = false;
        outcome = run_interrupts();
        if (outcome == GO_ON && latch_engine_generation(php_latch_engine) != generation) {
            break; /* the replies are the parent's */
        }
        if (outcome == GO_ON) {
            step_requests(requests, count);
        }
    }
    cancel_requests(requests, count);
    LATCH_G(deferred_throw).bailed_out |= outcome == BAIL_OUT;
}
