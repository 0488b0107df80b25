/*
 * Counting semaphores as slots: permit number N of the semaphore NAME is the lock "NAME_N" in a
 * store of locks, as in Symfony's LockStore. A holder has one lease there for each of its permits,
 * and all of them or none: those of an acquire that does not get enough are given back.
 *
 * Waits poll (op.c), as a lock's queue is one slot's alone. Whatever ends a lock there, such as the
 * death of its process or its session, frees the permit.
 */
#include "src/store/slots/slots.h"

#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------- */

static latch_status slots_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    slots_store *store = (slots_store *) base;
    unsigned inherited = LATCH_EXPIRING | LATCH_SESSIONS | LATCH_HOLDER_INFO;

    if (options == NULL || options->member_count != 1) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "slots need one store of locks");
    }
    store->locks = options->members[0];
    if (store->locks->class->composite != NULL || store->locks->class->may_hold_unknown) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "slots cannot be locks in the %s store; name a single store, such as one "
                          "of its members",
                          store->locks->info->name);
    }
    store->info = base->class->info;
    store->info.title = store->locks->info->title;
    store->info.scope = store->locks->info->scope;
    store->info.capabilities |= store->locks->info->capabilities & inherited;
    base->info = &store->info;
    return LATCH_DONE;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

slot *latch_slots_of(const latch_lease *lease)
{
    const slots_hold *hold = lease->state;

    return hold != NULL ? hold->held : NULL;
}

/* ---- latch_store_class ----------------------------------------------------------------------- */

/* The state of the lease, made on demand; NULL when memory ran out. */
static slots_hold *slots_hold_get(latch_lease *lease)
{
    slots_hold *hold = lease->state;

    if (hold == NULL) {
        hold = latch_allocate(lease->store->engine, sizeof(*hold));
        if (hold != NULL) {
            memset(hold, 0, sizeof(*hold));
            lease->state = hold;
        }
    }
    return hold;
}

static void begin_slots_acquire(const latch_op *op, slots_hold *hold)
{
    latch_lease *lease = op->lease;
    bool expires = (lease->store->info->capabilities & LATCH_EXPIRING) != 0;

    if (hold->held == NULL) {
        hold->weight = op->request.permits.weight;
        latch_slots_begin_taking(op, hold);
        return;
    }
    for (slot *held = hold->held; held != NULL; held = held->next) {
        held->lease.inherit = lease->inherit;
        held->lease.pass_on = lease->pass_on;
    }
    if (!expires && latch_lease_was_lost(lease)) {
        hold->weight = op->request.permits.weight;
        latch_slots_give_back(hold, LATCH_AGAIN); /* and then acquire anew */
    } else {
        latch_slots_begin_phase(hold, RENEWS);
    }
}

/* A watch has found it lost: whatever the slots say. */
static void begin_slots_check(const latch_op *op, slots_hold *hold, slots_phase phase)
{
    bool expires = (op->lease->store->info->capabilities & LATCH_EXPIRING) != 0;

    if (!expires && latch_lease_was_lost(op->lease)) {
        latch_slots_give_back(hold, LATCH_CONFLICT);
    } else {
        latch_slots_begin_phase(hold, phase);
    }
}

static latch_status begin_slots_inspection(latch_op *op, slots_hold *hold)
{
    if (op->request.permits.limit < 1 || op->request.permits.limit > LATCH_PERMITS_MAX) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "slots are inspected by the limit of their semaphore, from 1 to 2^53");
    }
    if (latch_lock_reports_add(op->lease->store->engine, op->request.reports, "", LATCH_FREE)
        == NULL) {
        return latch_fail_memory(op->error);
    }
    hold->first = hold->tried = 0;
    hold->phase = INSPECTS;
    return LATCH_DONE;
}

static latch_status slots_begin(latch_op *op)
{
    slots_hold *hold = slots_hold_get(op->lease);
    latch_status status = LATCH_DONE;

    if (hold == NULL) {
        return latch_fail_memory(op->error);
    }
    hold->is_cancelled = hold->in_flight = false;
    hold->failure.status = LATCH_DONE;
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
            begin_slots_acquire(op, hold);
            break;
        case LATCH_REFRESH:
            begin_slots_check(op, hold, REFRESHES);
            break;
        case LATCH_PROBE:
            begin_slots_check(op, hold, PROBES);
            break;
        case LATCH_RELEASE:
            latch_slots_begin_phase(hold, RELEASES);
            break;
        case LATCH_INSPECT:
            status = begin_slots_inspection(op, hold);
            break;
        case LATCH_ACQUIRE_SHARED: /* op.c refuses these */
        case LATCH_LIST:
        case LATCH_EVICT:
        case LATCH_CALL:
            return latch_fail(op->error, LATCH_ERROR_UNSUPPORTED, 0,
                              "the slots store has no such request");
    }
    return status == LATCH_DONE ? latch_slots_drive(op, hold, LATCH_AGAIN) : status;
}

static latch_status slots_step(latch_op *op, int64_t now_ns)
{
    slots_hold *hold = op->state;
    bool cancels = hold->is_cancelled && (hold->phase == TAKES || hold->phase == INSPECTS);

    if (!hold->in_flight) {
        return latch_slots_drive(op, hold, LATCH_AGAIN);
    }
    return latch_slots_drive(op, hold,
                             cancels ? latch_op_cancel(&hold->op, now_ns)
                                     : latch_op_step(&hold->op, now_ns));
}

static latch_status slots_cancel(latch_op *op)
{
    ((slots_hold *) op->state)->is_cancelled = true;
    return slots_step(op, latch_engine_now_ns(op->lease->store->engine));
}

static void slots_outage(const latch_op *op, int64_t now_ns)
{
    slots_hold *hold = op->state;

    if (hold != NULL && hold->in_flight && latch_op_outage(&hold->op, now_ns)) {
        *op->error = hold->error;
    }
}

static size_t slots_descriptors(const latch_op *op, struct pollfd *descriptors, size_t max)
{
    return latch_op_list_descriptors(&((const slots_hold *) op->state)->op, descriptors, max);
}

/* The slots' own deadlines are no earlier than the lease's. */
static bool slots_held(const latch_lease *lease)
{
    const slots_hold *hold = lease->state;
    bool is_held = lease->mode != LATCH_FREE && hold != NULL && hold->held != NULL;

    for (slot *held = is_held ? hold->held : NULL; held != NULL && is_held; held = held->next) {
        is_held = latch_lease_held(&held->lease, INT64_MIN);
    }
    return is_held;
}

static void slots_drop(latch_lease *lease)
{
    slots_hold *hold = lease->state;

    if (hold == NULL) {
        return;
    }
    for (slot *held = hold->held, *next; held != NULL; held = next) {
        next = held->next;
        latch_slot_free(held);
    }
    latch_free(lease->store->engine, hold);
}

const latch_store_class latch_slots_store = {
    .info = {.name = "slots", .title = "slots", .capabilities = LATCH_PERMITS},
    .size = sizeof(slots_store),
    .open = slots_open,
    .begin = slots_begin,
    .step = slots_step,
    .cancel = slots_cancel,
    .outage = slots_outage,
    .descriptors = slots_descriptors,
    .held = slots_held,
    .drop = slots_drop,
    .watch = latch_slots_watch,
    .renewal_unsupported_reason = latch_slots_renewal_unsupported_reason,
};
