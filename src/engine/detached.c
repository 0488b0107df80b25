/* Detached operations: see detached.h. */
#include "src/engine/detached.h"

#include "src/engine/store.h"

/* So many releases at a time are sent behind others that have not been answered. */
#define UNACKNOWLEDGED_MAX 32

bool latch_op_detach(const latch_op *op)
{
    latch_engine *engine = op->lease->store->engine;
    const latch_store_class *class = op->lease->store->class;
    latch_detached_op *detached = NULL;

    if (op->waits_for_detached) {
        return true; /* not sent yet; and a release never waits here */
    }
    if (class->abandon != NULL && !class->is_awaited && op->state != NULL) {
        detached = latch_allocate(engine, sizeof(*detached));
    }
    if (detached == NULL) {
        return false;
    }
    detached->op = *op;
    detached->op.error = &detached->error;
    detached->generation = engine->generation;
    op->lease->detached = detached;
    return true;
}

/* False for the copy that a fork has left in the child. */
static bool is_our_own(const latch_detached_op *detached)
{
    return detached->generation == detached->op.lease->store->engine->generation;
}

void latch_detached_drop(latch_lease *lease)
{
    latch_detached_op *detached = lease->detached;

    if (detached == NULL) {
        return;
    }
    lease->detached = NULL;
    if (lease->busy) {
        /* Only the process that began a release may finish it: a child must not use its token. */
        detached->op.request.detach |= !is_our_own(detached);
        detached->op.lease->store->class->abandon(&detached->op);
        lease->busy = false;
    }
    latch_free(lease->store->engine, detached);
}

bool latch_detached_is_release(const latch_lease *lease)
{
    const latch_detached_op *detached = lease->detached;

    return detached != NULL && detached->op.request.kind == LATCH_RELEASE && is_our_own(detached);
}

bool latch_detached_reap(latch_lease *lease)
{
    const latch_detached_op *detached = lease->detached;
    bool is_release = latch_detached_is_release(lease);

    if (is_release || (detached != NULL && !is_our_own(detached))) {
        latch_detached_drop(lease);
    }
    return !is_release || lease->store->unacknowledged < UNACKNOWLEDGED_MAX;
}

latch_status latch_detached_await(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    latch_detached_op *detached = lease->detached;
    latch_status status = LATCH_DONE;

    if (is_our_own(detached)) {
        status = latch_op_step(&detached->op, now_ns);
    }
    if (status == LATCH_ERROR_STORE && now_ns - detached->op.sent_ns >= LATCH_BREAKER_TIMEOUT_NS) {
        latch_breaker_record_timeout(&lease->store->breaker, detached->op.sent_ns, now_ns);
    }
    if (latch_wants(status) && op->request.kind != LATCH_RELEASE) {
        op->fd = detached->op.fd;
        op->events = detached->op.events;
        op->wake_ns = detached->op.wake_ns < op->request.deadline_ns ? detached->op.wake_ns
                                                                     : op->request.deadline_ns;
        return status;
    }
    latch_detached_drop(lease);
    return LATCH_DONE;
}

latch_status latch_detached_resume(latch_op *op, int64_t now_ns)
{
    latch_detached_op *detached = op->lease->detached;
    latch_error *error = op->error;

    op->lease->detached = NULL;
    *op = detached->op;
    op->error = error;
    latch_free(op->lease->store->engine, detached);
    return latch_op_step(op, now_ns);
}
