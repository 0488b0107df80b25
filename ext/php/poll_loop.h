/* The poll loop: the only place that sleeps. */
#ifndef PHP_LATCH_POLL_LOOP_H
#define PHP_LATCH_POLL_LOOP_H

#include "ext/php_latch.h"

/*
 * Carries a request out and waits for it. LATCH_INTERRUPTED: a signal handler or the like threw, or
 * ended the script, during the wait; return to PHP. Nothing was taken unless it returns LATCH_DONE.
 */
latch_status php_latch_run_request(latch_lease *lease, const latch_request *request,
                                   latch_error *error);

/* One of several requests that are carried out side by side. */
typedef struct php_latch_side_request {
    latch_lease *lease;
    latch_request request; /* does not wait for other holders */
    /* The result, as of php_latch_run_request(), but an acquire that is DONE has taken the lease
       also when a handler has thrown. */
    latch_status status;
    latch_error error;
    latch_op op;
} php_latch_side_request;

/*
 * Carries out all requests and waits for them together: in a server they are one round trip. When
 * the caller has recorded the results it is to call php_latch_rethrow_deferred(). In a child that a
 * signal handler has forked meanwhile it gives up those in flight: the others are the parent's.
 */
void php_latch_run_requests(php_latch_side_request *requests, size_t count);

/* Sleeps until `wake_ns` (monotonic); false when interrupted by an exception. */
bool php_latch_sleep(int64_t wake_ns);
/* The same in a wait for a holder, whose time is counted there. */
bool php_latch_wait_until(int64_t wake_ns, php_latch_statistics *statistics);

int64_t php_latch_now_ns(void);

/* ---- Deadlocks of a thread with itself */

/*
 * Does this thread itself hold the lock that the lease waits for? LATCH_DONE: it does;
 * LATCH_CONFLICT: it does not. `verifies`: asks the stores, which must not happen while a request
 * on the lease is in flight; LATCH_INTERRUPTED is possible then. Else LATCH_DONE means that it may.
 */
typedef latch_status (*php_latch_deadlock_detector)(latch_lease *wanted, latch_op_kind kind,
                                                    bool verifies);
/* Hook, set at MINIT by ext/lock/deadlock.c, which knows the thread's leases. */
void php_latch_set_deadlock_detector(php_latch_deadlock_detector detector);
latch_status php_latch_find_deadlock(latch_lease *wanted, latch_op_kind kind, bool verifies);
/* LATCH_ERROR_DEADLOCK, which it describes. */
latch_status php_latch_fail_deadlock(latch_error *error);

#endif
