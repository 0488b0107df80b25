/* Detached operations: see detached.h. */
#include "src/engine/detached.h"

#include "src/engine/store.h"

/* So many releases at a time are sent behind others that have not been answered. */
#define UNHEARD_MAX 32

bool latch_op_leave(const latch_op *op)
{
    latch_engine *engine = op->lease->store->engine;
    const latch_store_class *class = op->lease->store->class;
    latch_left *left = NULL;

    if (op->behind) {
        return true; /* not sent yet; and a release never waits here */
    }
    if (class->abandon != NULL && !class->is_awaited && op->state != NULL) {
        left = latch_allocate(engine, sizeof(*left));
    }
    if (left == NULL) {
        return false;
    }
    left->op = *op;
    left->op.error = &left->error;
    left->generation = engine->generation;
    op->lease->left = left;
    return true;
}

/* False for the copy that a fork has left in the child. */
static bool is_our_own(const latch_left *left)
{
    return left->generation == left->op.lease->store->engine->generation;
}

void latch_left_drop(latch_lease *lease)
{
    latch_left *left = lease->left;

    if (left == NULL) {
        return;
    }
    lease->left = NULL;
    if (lease->busy) {
        /* Only the process that began a release may finish it: a child must not use its token. */
        left->op.request.detach |= !is_our_own(left);
        left->op.lease->store->class->abandon(&left->op);
        lease->busy = false;
    }
    latch_free(lease->store->engine, left);
}

bool latch_detached_is_release(const latch_lease *lease)
{
    const latch_left *left = lease->left;

    return left != NULL && left->op.request.kind == LATCH_RELEASE && is_our_own(left);
}

bool latch_left_pass(latch_lease *lease)
{
    const latch_left *left = lease->left;
    bool is_release = latch_detached_is_release(lease);

    if (is_release || (left != NULL && !is_our_own(left))) {
        latch_left_drop(lease);
    }
    return !is_release || lease->store->unheard < UNHEARD_MAX;
}

latch_status latch_detached_await(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    latch_left *left = lease->left;
    latch_status status = LATCH_DONE;

    if (is_our_own(left)) {
        status = latch_op_step(&left->op, now_ns);
    }
    if (status == LATCH_ERROR_STORE && now_ns - left->op.sent_ns >= LATCH_SILENCE_NS) {
        latch_note_silence(&lease->store->silence, left->op.sent_ns, now_ns);
    }
    if (latch_wants(status) && op->request.kind != LATCH_RELEASE) {
        op->fd = left->op.fd;
        op->events = left->op.events;
        op->wake_ns = left->op.wake_ns < op->request.deadline_ns ? left->op.wake_ns
                                                                 : op->request.deadline_ns;
        return status;
    }
    latch_left_drop(lease);
    return LATCH_DONE;
}

latch_status latch_detached_resume(latch_op *op, int64_t now_ns)
{
    latch_left *left = op->lease->left;
    latch_error *error = op->error;

    op->lease->left = NULL;
    *op = left->op;
    op->error = error;
    latch_free(op->lease->store->engine, left);
    return latch_op_step(op, now_ns);
}
