/*
 * Acquires, promotions and demotions, and their waits: in slices, as those of semaphores, since
 * futex_waitv(2) does not return for a signal whose handler has SA_RESTART, as PHP's have.
 */
#include "src/store/shm/store.h"

#define SLICE_NS (10 * LATCH_NS_PER_MS)
/* A wait that takes longer asks for the second witness of those that it waits for, so often. */
#define WITNESS_INTERVAL_NS LATCH_NS_PER_S

static latch_status shm_hold_it(latch_op *op, shm_hold *hold)
{
    const shm_record *record = latch_shm_record_of(hold);

    latch_shm_end_endless_wait(hold);
    op->lease->state = hold;
    op->lease->fencing_token = op->request.kind == LATCH_ACQUIRE
                                   ? hold->attachment->file.epoch + latch_shm_load64(&record->fence)
                                   : 0;
    return LATCH_DONE;
}

/* Ends a wait without a grant: a promotion keeps what it had. */
static void shm_give_up(latch_op *op, shm_hold *hold)
{
    latch_shm_end_endless_wait(hold);
    if (op->lease->state == hold) {
        latch_shm_demote(&hold->attachment->user, hold->index);
    } else {
        latch_shm_end_hold(hold);
    }
}

static latch_status shm_want_slice(latch_op *op, shm_hold *hold)
{
    op->waiting = true;
    op->state = hold;
    op->wake_ns = 0; /* at once: the next step sleeps */
    return LATCH_WANT_TIMER;
}

static latch_status shm_begin_wait(latch_op *op, shm_hold *hold)
{
    latch_engine *engine = op->lease->store->engine;

    hold->waits_since_ns = hold->asked_ns = latch_engine_now_ns(engine);
    if (op->request.deadline_ns != LATCH_NEVER) {
        return shm_want_slice(op, hold);
    }
    switch (latch_shm_begin_endless_wait(hold)) {
        case SHM_NO_DEADLOCK:
            return shm_want_slice(op, hold);
        case SHM_OWN_DEADLOCK:
            shm_give_up(op, hold);
            return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                              "the lock is held by this very thread, through another key");
        case SHM_CIRCLE:
            break;
    }
    shm_give_up(op, hold);
    return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                      "the lock's holder waits for a lock that this very thread holds, directly "
                      "or through others");
}

/* The outcome of a request or of a promotion; the record is in use unless it is a conflict. */
static latch_status shm_apply(latch_op *op, shm_hold *hold, shm_result result)
{
    switch (result) {
        case SHM_DONE:
            return shm_hold_it(op, hold);
        case SHM_WAITING:
            return shm_begin_wait(op, hold);
        case SHM_CONFLICT:
            return LATCH_CONFLICT;
        case SHM_STUCK:
        case SHM_CORRUPT:
            break;
    }
    return latch_shm_fail_hold(op, hold, result);
}

/* Changes the mode of a hold. */
static latch_status shm_convert(latch_op *op, shm_hold *hold)
{
    const shm_user *user = &hold->attachment->user;
    uint32_t state = latch_shm_load32(&latch_shm_record_of(hold)->state);

    if (op->request.kind == LATCH_ACQUIRE) {
        return state == SHM_HELD_EXCLUSIVE
                   ? shm_hold_it(op, hold)
                   : shm_apply(op, hold, latch_shm_promote(user, hold->index, op->request.wait));
    }
    return state == SHM_HELD_SHARED ? shm_hold_it(op, hold)
                                    : shm_apply(op, hold, latch_shm_demote(user, hold->index));
}

static latch_status shm_acquire_new(latch_op *op)
{
    const latch_lease *lease = op->lease;
    shm_store *store = (shm_store *) lease->store;
    shm_request request = {
        .exclusive = op->request.kind == LATCH_ACQUIRE,
        .waits = op->request.wait,
        .name = lease->resource,
        .name_length = lease->resource_length,
    };
    latch_status status = latch_shm_ready(store, op->error);
    shm_hold *hold;
    shm_result result;

    if (status != LATCH_DONE) {
        return status;
    }
    hold = latch_shm_take_hold(store->attachment, op->error);
    if (hold == NULL) {
        return op->error->status;
    }
    latch_shm_digest(lease->resource, lease->resource_length, request.digest);
    request.since_ns = store->attachment->now_ns;
    latch_shm_write_note(store->attachment);
    hold->notes_wait = false;
    result = latch_shm_request(&store->attachment->user, hold->index, &request);
    if (result == SHM_STUCK || result == SHM_CORRUPT) {
        status = latch_shm_fail(store->attachment, result, request.digest[0], op->error);
    } else if (result == SHM_CONFLICT) {
        status = LATCH_CONFLICT;
    } else {
        return shm_apply(op, hold, result);
    }
    latch_shm_give_hold(hold);
    return status;
}

latch_status latch_shm_acquire(latch_op *op)
{
    if (op->lease->state != NULL) {
        if (latch_shm_is_live(op->lease)) {
            return shm_convert(op, op->lease->state);
        }
        latch_shm_lose(op->lease);
        op->lease->mode = LATCH_FREE;
    }
    return shm_acquire_new(op);
}

/* ---- Waiting */

static void shm_ask_witnesses(shm_hold *hold, int64_t now_ns)
{
    const shm_attachment *attachment = hold->attachment;
    shm_view view;

    if (now_ns - hold->asked_ns < WITNESS_INTERVAL_NS) {
        return;
    }
    hold->asked_ns = now_ns;
    if (latch_shm_look(&attachment->user, hold->index, &view) != SHM_DONE) {
        return;
    }
    for (uint32_t at = 0; at < view.count; at++) {
        latch_shm_ask_witness(&attachment->user.map, view.blockers[at].owner,
                              attachment->file.descriptor.fd);
    }
}

/* The wait is over without a grant, though not by the caller's will: the hold, or the file, was
 * taken away. */
static latch_status shm_begin_anew(latch_op *op, shm_hold *hold)
{
    bool is_promotion = op->lease->state == hold;

    latch_shm_end_hold(hold);
    if (is_promotion) {
        op->lease->state = NULL;
        return latch_fail(op->error, LATCH_ERROR_LOST, 0,
                          "the lock was lost while it was being promoted");
    }
    return shm_acquire_new(op);
}

latch_status latch_shm_step(latch_op *op, int64_t now_ns)
{
    shm_hold *hold = op->state;
    int64_t left_ns = op->request.deadline_ns - now_ns;
    shm_result result;

    op->state = NULL;
    if (!latch_shm_is_attached(hold->attachment)) {
        return shm_begin_anew(op, hold); /* in a child as well: the wait is the parent's */
    }
    result = latch_shm_wait(&hold->attachment->user, hold->index,
                            left_ns < 0          ? 0
                            : left_ns > SLICE_NS ? SLICE_NS
                                                 : left_ns);
    switch (result) {
        case SHM_DONE:
            return shm_hold_it(op, hold);
        case SHM_WAITING:
            shm_ask_witnesses(hold, now_ns);
            return shm_want_slice(op, hold);
        case SHM_CONFLICT:
            return shm_begin_anew(op, hold);
        case SHM_STUCK:
        case SHM_CORRUPT:
            break;
    }
    latch_shm_fail_hold(op, hold, result);
    if (result == SHM_STUCK && op->lease->state != hold) {
        latch_shm_end_endless_wait(hold);
        latch_shm_abandon_hold(hold); /* it has waited for the guard long enough */
    } else {
        shm_give_up(op, hold);
    }
    return op->error->status;
}

latch_status latch_shm_cancel(latch_op *op)
{
    shm_hold *hold = op->state;
    uint32_t state = latch_shm_load32(&latch_shm_record_of(hold)->state);

    op->state = NULL;
    if (!latch_shm_is_of_this_process(hold->attachment)) {
        if (op->lease->state != hold) {
            latch_shm_give_hold(hold);
        }
        return LATCH_CONFLICT;
    }
    if (state == SHM_HELD_EXCLUSIVE || (state == SHM_HELD_SHARED && op->lease->state != hold)) {
        return shm_hold_it(op, hold);
    }
    shm_give_up(op, hold);
    return LATCH_CONFLICT;
}
