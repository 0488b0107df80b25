/*
 * Detached operations: requests that go on after their caller has what it wanted. Each belongs to
 * its lease, whose next operation waits for its end.
 */
#ifndef LATCH_DETACHED_H
#define LATCH_DETACHED_H

#include "src/base/base.h"

/* A request that goes on, though who began it has what it wanted. */
typedef struct latch_left {
    latch_op op;
    latch_error error;
    unsigned generation; /* of the process whose it is */
} latch_left;

/*
 * Leaves an operation in flight to its lease, whose next one waits for its end; but a release comes
 * behind whatever it is, and goes on with one that was left. False: it has to be waited for, as its
 * store cannot go without, or memory ran out.
 */
bool latch_op_leave(const latch_op *op);
/*
 * Makes way for what is to come behind a release that was left, without its answer, and forgets
 * what a fork has copied. False: nothing should come, if that can be, as the server has not
 * answered many releases yet.
 */
bool latch_left_pass(latch_lease *lease);
/* Is it a release of this process that the lease's next release can resume? */
bool latch_detached_is_release(const latch_lease *lease);
/* A release takes the place of the detached one: nothing has been sent behind that. */
latch_status latch_detached_resume(latch_op *op, int64_t now_ns);
/*
 * Steps the lease's detached operation before `op` may begin. LATCH_DONE: it is gone. A release
 * does not wait: it comes behind the detached request on the same connection, so that one is
 * dropped.
 */
latch_status latch_detached_await(latch_op *op, int64_t now_ns);
/* Forgets what was left on a lease. */
void latch_left_drop(latch_lease *lease);

#endif
