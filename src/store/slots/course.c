/*
 * The course of a request: phases, each of which asks the slots one after the other.
 *
 * An acquire begins with a random slot, so that holders spread over them. Whatever has to be given
 * back is so before the request ends, whether it failed, was cancelled, or did not get enough.
 */
#include "src/store/slots/slots.h"

/* Slots that are tried before the caller may look after signals and its deadline. */
#define TRIED_AT_ONCE 64

/* Removes the slot that the phase has got to. */
static void remove_slot(slots_hold *hold)
{
    slot *removed = *hold->at;

    *hold->at = removed->next;
    hold->count--;
    latch_slot_free(removed);
}

static bool keeps_number(const slots_hold *hold, int64_t number)
{
    const slot *kept = hold->kept;

    while (kept != NULL && kept->number != number) {
        kept = kept->next;
    }
    return kept != NULL;
}

void latch_slots_begin_phase(slots_hold *hold, slots_phase phase)
{
    hold->phase = phase;
    hold->at = &hold->held;
}

void latch_slots_begin_taking(const latch_op *op, slots_hold *hold)
{
    uint64_t limit = (uint64_t) op->request.permits.limit;

    hold->first = (int64_t) latch_engine_random(op->lease->store->engine, limit);
    hold->tried = 0;
    hold->kept = hold->held;
    latch_slots_begin_phase(hold, TAKES);
}

void latch_slots_give_back(slots_hold *hold, latch_status result)
{
    hold->result = result;
    latch_slots_begin_phase(hold, GIVES_BACK);
}

static latch_op_kind kind_of_phase(slots_phase phase)
{
    switch (phase) {
        case TAKES:
        case RENEWS:
            return LATCH_ACQUIRE;
        case REFRESHES:
            return LATCH_REFRESH;
        case PROBES:
            return LATCH_PROBE;
        case RELEASES:
        case GIVES_BACK:
            return LATCH_RELEASE;
        case INSPECTS:
            break;
    }
    return LATCH_INSPECT;
}

/* Finds the next slot of the phase. False: there is none; or memory ran out, with a failure. */
static bool find_slot(const latch_op *op, slots_hold *hold)
{
    int64_t limit = op->request.permits.limit;

    if (hold->phase != TAKES && hold->phase != INSPECTS) {
        hold->current = *hold->at;
        return hold->current != NULL;
    }
    while (hold->phase == TAKES && hold->tried < limit
           && keeps_number(hold, (hold->first + hold->tried) % limit)) {
        hold->tried++;
    }
    if (hold->phase == INSPECTS
            ? hold->tried == limit
            : hold->count == hold->weight || hold->count + limit - hold->tried < hold->weight) {
        return false;
    }
    hold->current = latch_slot_make(op->lease, (hold->first + hold->tried) % limit);
    if (hold->current == NULL) {
        latch_fail_memory(&hold->failure);
    }
    hold->tried++;
    return hold->current != NULL;
}

static latch_status begin_on_slot(const latch_op *op, slots_hold *hold)
{
    const latch_request request = {
        .kind = kind_of_phase(hold->phase),
        .ttl_ms = op->request.ttl_ms,
        .extend = op->request.extend,
        .response_timeout_ms = op->request.response_timeout_ms,
        .detach = op->request.detach || hold->phase == GIVES_BACK,
        .reports = hold->phase == INSPECTS ? &hold->found : NULL,
    };
    latch_status status = latch_op_begin(&hold->op, &hold->current->lease, &request, &hold->error);

    if (latch_wants(status) && request.detach && latch_op_detach(&hold->op)) {
        status = LATCH_DONE; /* with the lease it becomes a pending release of its store */
    }
    hold->in_flight = latch_wants(status);
    return status;
}

/* ---- Outcomes of single slots ---------------------------------------------------------------- */

static void record_slot_failure(slots_hold *hold)
{
    if (hold->failure.status == LATCH_DONE) {
        hold->failure = hold->error;
    }
}

static void apply_taken_slot(latch_op *op, slots_hold *hold, latch_status status)
{
    slot *taken = hold->current;

    if (status == LATCH_DONE) {
        taken->next = hold->held;
        hold->held = taken;
        hold->count++;
        return;
    }
    latch_slot_free(taken);
    op->contended |= status == LATCH_CONFLICT && !hold->is_cancelled;
    if (latch_failed(status)) {
        latch_slots_give_back(hold, status);
    }
}

/* Another process has it by now, or it ended with its session: the rest is of no use. */
static bool is_slot_lost(latch_status status)
{
    return status == LATCH_CONFLICT || status == LATCH_ERROR_LOST;
}

static void apply_inspected_slot(const latch_op *op, slots_hold *hold, latch_status status)
{
    latch_lock_report *found = hold->found;

    hold->found = NULL;
    latch_slot_free(hold->current);
    if (status == LATCH_DONE && found != NULL) {
        latch_slots_merge(op->lease->store, *op->request.reports, found);
    }
    latch_lock_reports_free(op->lease->store->engine, found);
}

/* A request on a slot has ended. LATCH_AGAIN: go on with the next one; anything else: the outcome
 * of the whole. */
static latch_status apply_slot(latch_op *op, slots_hold *hold, latch_status status)
{
    if (latch_failed(status)) {
        record_slot_failure(hold);
    }
    switch (hold->phase) {
        case TAKES:
            apply_taken_slot(op, hold, status);
            break;
        case RENEWS:
            if (status == LATCH_CONFLICT) {
                remove_slot(hold); /* another one may be free */
            } else if (status == LATCH_DONE) {
                hold->at = &hold->current->next;
            } else if (status == LATCH_ERROR_LOST) {
                latch_slots_give_back(hold, status);
            } else {
                return status; /* what is held is held still */
            }
            break;
        case REFRESHES:
        case PROBES:
            if (is_slot_lost(status)) {
                latch_slots_give_back(hold, hold->phase == PROBES ? LATCH_CONFLICT : status);
            } else if (status == LATCH_DONE) {
                hold->at = &hold->current->next;
            } else {
                return status;
            }
            break;
        case RELEASES:
            if (latch_failed(status)) {
                hold->at = &hold->current->next; /* the next release tries it once more */
            } else {
                remove_slot(hold);
            }
            break;
        case GIVES_BACK:
            remove_slot(hold);
            break;
        case INSPECTS:
            apply_inspected_slot(op, hold, status);
            if (status != LATCH_DONE) {
                return status;
            }
            break;
    }
    return LATCH_AGAIN;
}

/* ---- Ends of phases -------------------------------------------------------------------------- */

static latch_status end_giving_slots_back(latch_op *op, slots_hold *hold)
{
    latch_lease *lease = op->lease;

    if (hold->result == LATCH_AGAIN && !hold->is_cancelled) {
        latch_slots_begin_taking(op, hold);
        return LATCH_AGAIN;
    }
    if (hold->result == LATCH_AGAIN) {
        hold->result = LATCH_CONFLICT;
    }
    if (latch_op_acquires(op) && lease->mode != LATCH_FREE && hold->result != LATCH_ERROR_LOST) {
        lease->lost = true;
        lease->mode = LATCH_FREE;
    }
    return hold->result;
}

/* The phase has no slot left. LATCH_AGAIN: another one has begun. */
static latch_status end_slots_phase(latch_op *op, slots_hold *hold)
{
    if (hold->failure.status == LATCH_ERROR_MEMORY && hold->phase != GIVES_BACK
        && hold->phase != RELEASES) {
        if (hold->phase != TAKES) {
            return LATCH_ERROR_MEMORY;
        }
        latch_slots_give_back(hold, LATCH_ERROR_MEMORY);
        return LATCH_AGAIN;
    }
    switch (hold->phase) {
        case TAKES:
            if (hold->count == hold->weight) {
                return LATCH_DONE;
            }
            latch_slots_give_back(hold, LATCH_CONFLICT);
            return LATCH_AGAIN;
        case RENEWS:
            if (hold->count == hold->weight) {
                return LATCH_DONE;
            }
            latch_slots_begin_taking(op, hold);
            return LATCH_AGAIN;
        case REFRESHES:
        case PROBES:
            return hold->count > 0 ? LATCH_DONE : LATCH_CONFLICT;
        case RELEASES:
            return hold->count == 0 ? LATCH_DONE : hold->failure.status;
        case GIVES_BACK:
            return end_giving_slots_back(op, hold);
        case INSPECTS:
            break;
    }
    return LATCH_DONE;
}

/* A cancelled request takes no more. LATCH_AGAIN: it has to give back first. */
static latch_status stop_if_slots_cancelled(slots_hold *hold)
{
    bool acquires = hold->phase == TAKES || hold->phase == RENEWS;

    if (!hold->is_cancelled || (!acquires && hold->phase != INSPECTS)) {
        return LATCH_AGAIN;
    }
    if (acquires && hold->count < hold->weight) {
        latch_slots_give_back(hold, LATCH_CONFLICT);
        return LATCH_AGAIN;
    }
    return hold->phase == TAKES ? LATCH_DONE : LATCH_CONFLICT;
}

static latch_status slots_want(latch_op *op, slots_hold *hold, latch_status status)
{
    op->fd = hold->op.fd;
    op->events = hold->op.events;
    op->wake_ns = hold->op.wake_ns;
    op->state = hold;
    return status;
}

/* Lets the caller look after its deadline and signals, and come back at once. */
static latch_status slots_pause(latch_op *op, slots_hold *hold)
{
    op->fd = -1;
    op->wake_ns = latch_engine_now_ns(op->lease->store->engine) + 1;
    op->state = hold;
    return LATCH_WANT_TIMER;
}

static latch_status slots_end(latch_op *op, slots_hold *hold, latch_status status)
{
    if (latch_failed(status) && hold->failure.status == status) {
        *op->error = hold->failure;
    }
    return status;
}

/* Begins with the next slot. LATCH_AGAIN: another phase has begun; LATCH_WANT_*: of a slot, if one
 * is in flight; anything else is the slot's outcome, or the end of all (*is_over). */
static latch_status begin_next_slot(latch_op *op, slots_hold *hold, int *begun, bool *is_over)
{
    latch_status status = stop_if_slots_cancelled(hold);

    *is_over = status != LATCH_AGAIN;
    if (*is_over) {
        return status;
    }
    if (*begun >= TRIED_AT_ONCE && (hold->phase == TAKES || hold->phase == INSPECTS)) {
        *is_over = true;
        return slots_pause(op, hold);
    }
    if (!find_slot(op, hold)) {
        status = end_slots_phase(op, hold);
        *is_over = status != LATCH_AGAIN;
        return status;
    }
    ++*begun;
    return begin_on_slot(op, hold);
}

latch_status latch_slots_drive(latch_op *op, slots_hold *hold, latch_status status)
{
    bool is_over = false;
    int begun = 0;

    while (!is_over) {
        if (status == LATCH_AGAIN) {
            status = begin_next_slot(op, hold, &begun, &is_over);
        } else if (latch_wants(status)) {
            return slots_want(op, hold, status);
        } else {
            hold->in_flight = false;
            status = apply_slot(op, hold, status);
            is_over = status != LATCH_AGAIN;
        }
    }
    return slots_end(op, hold, status);
}
