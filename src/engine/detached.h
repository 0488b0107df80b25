/*
 * Detached operations: requests that go on after their caller has what it wanted. Each belongs to
 * its lease, whose next operation waits for its end.
 */
#ifndef LATCH_DETACHED_H
#define LATCH_DETACHED_H

#include "src/base/base.h"

/* A detached operation: lease->detached. */
typedef struct latch_detached_op {
    latch_op op;
    latch_error error;
    unsigned generation; /* of the process that began it */
} latch_detached_op;

/*
 * Detaches an operation in flight: its lease owns it from now on. The lease's next operation waits
 * for its end; a release does not wait, and resumes a detached release. False: the caller must wait
 * for it, as its store cannot detach, or memory ran out.
 */
bool latch_op_detach(const latch_op *op);
/*
 * Drops a detached release, so that the next request can be sent behind it without its reply, and a
 * detached operation that a fork has copied. False (back-pressure): avoid further requests, as many
 * releases have not been answered yet.
 */
bool latch_detached_reap(latch_lease *lease);
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
/* Drops the detached operation of a lease. */
void latch_detached_drop(latch_lease *lease);

#endif
