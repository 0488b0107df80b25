/*
 * Counting semaphores as slots: permit number N of the semaphore NAME is the lock "NAME_N" in a
 * store of locks, as in Symfony's LockStore. A holder has one lease there for each of its permits,
 * and all of them or none: those of an acquire that does not get enough are given back.
 *
 * The slots are asked one after the other, from a random one on, so that holders spread over them.
 * Waits poll (op.c), as a lock's queue is one slot's alone. Whatever ends a lock there, such as the
 * death of its process or its session, frees the permit.
 */
#include "src/store/slots/slots.h"

#include <string.h>

/* Slots that are tried before the caller may look after signals and its deadline. */
#define TRIED_AT_ONCE 64

/* What a request does with the slots, one after the other. */
typedef enum slots_phase {
    TAKES,  /* acquires more slots, until there are enough */
    RENEWS, /* acquires the held ones again */
    REFRESHES,
    PROBES,
    RELEASES,
    GIVES_BACK, /* releases the held ones, and then ends with `result` */
    INSPECTS,
} slots_phase;

/* lease->state */
typedef struct slots_hold {
    slot *held;
    int64_t count;  /* of them */
    int64_t weight; /* number that is held, or wanted */
    /* The request under way: */
    slots_phase phase;
    bool in_flight; /* `op`, on `current` */
    bool is_cancelled;
    slot *current;
    slot **at;            /* of the held ones: where the phase has got to */
    int64_t first, tried; /* TAKES, INSPECTS */
    slot *kept;           /* TAKES: those that were held when it began */
    latch_status result;
    latch_error failure; /* of the first request that has failed */
    latch_lock_report *found;
    latch_op op;
    latch_error error;
} slots_hold;

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

/* ---- The course of a request ----------------------------------------------------------------- */

static void begin_slots_phase(slots_hold *hold, slots_phase phase)
{
    hold->phase = phase;
    hold->at = &hold->held;
}

static latch_status begin_taking_slots(latch_op *op, slots_hold *hold)
{
    const latch_env *env = &op->lease->store->engine->env;
    uint64_t number;

    if (!env->random(env->context, &number, sizeof(number))) {
        return latch_fail(op->error, LATCH_ERROR_SYSTEM, 0, "the random source gave no bytes");
    }
    hold->first = (int64_t) (number % (uint64_t) op->request.permits.limit);
    hold->tried = 0;
    hold->kept = hold->held;
    begin_slots_phase(hold, TAKES);
    return LATCH_DONE;
}

static void give_slots_back(slots_hold *hold, latch_status result)
{
    hold->result = result;
    begin_slots_phase(hold, GIVES_BACK);
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
        give_slots_back(hold, status);
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
                give_slots_back(hold, status);
            } else {
                return status; /* what is held is held still */
            }
            break;
        case REFRESHES:
        case PROBES:
            if (is_slot_lost(status)) {
                give_slots_back(hold, hold->phase == PROBES ? LATCH_CONFLICT : status);
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
        return begin_taking_slots(op, hold) == LATCH_DONE ? LATCH_AGAIN : op->error->status;
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
        give_slots_back(hold, LATCH_ERROR_MEMORY);
        return LATCH_AGAIN;
    }
    switch (hold->phase) {
        case TAKES:
            if (hold->count == hold->weight) {
                return LATCH_DONE;
            }
            give_slots_back(hold, LATCH_CONFLICT);
            return LATCH_AGAIN;
        case RENEWS:
            if (hold->count == hold->weight) {
                return LATCH_DONE;
            }
            return begin_taking_slots(op, hold) == LATCH_DONE ? LATCH_AGAIN : op->error->status;
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
        give_slots_back(hold, LATCH_CONFLICT);
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

/* `status`: of the request in flight, or LATCH_AGAIN. */
static latch_status slots_drive(latch_op *op, slots_hold *hold, latch_status status)
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

static latch_status begin_slots_acquire(latch_op *op, slots_hold *hold)
{
    latch_lease *lease = op->lease;
    bool expires = (lease->store->info->capabilities & LATCH_EXPIRING) != 0;

    if (hold->held == NULL) {
        hold->weight = op->request.permits.weight;
        return begin_taking_slots(op, hold);
    }
    for (slot *held = hold->held; held != NULL; held = held->next) {
        held->lease.inherit = lease->inherit;
        held->lease.pass_on = lease->pass_on;
    }
    if (!expires && latch_lease_was_lost(lease)) {
        hold->weight = op->request.permits.weight;
        give_slots_back(hold, LATCH_AGAIN); /* and then acquire anew */
    } else {
        begin_slots_phase(hold, RENEWS);
    }
    return LATCH_DONE;
}

/* A watch has found it lost: whatever the slots say. */
static void begin_slots_check(const latch_op *op, slots_hold *hold, slots_phase phase)
{
    bool expires = (op->lease->store->info->capabilities & LATCH_EXPIRING) != 0;

    if (!expires && latch_lease_was_lost(op->lease)) {
        give_slots_back(hold, LATCH_CONFLICT);
    } else {
        begin_slots_phase(hold, phase);
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
            status = begin_slots_acquire(op, hold);
            break;
        case LATCH_REFRESH:
            begin_slots_check(op, hold, REFRESHES);
            break;
        case LATCH_PROBE:
            begin_slots_check(op, hold, PROBES);
            break;
        case LATCH_RELEASE:
            begin_slots_phase(hold, RELEASES);
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
    return status == LATCH_DONE ? slots_drive(op, hold, LATCH_AGAIN) : status;
}

static latch_status slots_step(latch_op *op, int64_t now_ns)
{
    slots_hold *hold = op->state;
    bool cancels = hold->is_cancelled && (hold->phase == TAKES || hold->phase == INSPECTS);

    if (!hold->in_flight) {
        return slots_drive(op, hold, LATCH_AGAIN);
    }
    return slots_drive(op, hold,
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
