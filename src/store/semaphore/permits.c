/*
 * Permits of counting semaphores by System V semaphores. They belong to their process, whose death
 * gives them back; a forked child does not inherit them, and they never expire. Waiters sleep in
 * the kernel's queue, a slice at a time, and have no order.
 */
#include "src/store/semaphore/permit_set.h"
#include "src/store/semaphore/semaphore.h"

#include <errno.h>
#include <stdio.h>

static bool are_still_held(const latch_lease *lease)
{
    const semaphore_hold *hold = lease->state;

    return latch_semaphore_is_ours(lease) && !latch_permit_set_is_lost(hold->set);
}

/* Has this very thread so many permits through other leases that a wait would never end? */
static bool is_own_deadlock(const latch_op *op, key_t key)
{
    const semaphore_store *store = (const semaphore_store *) op->lease->store;
    int64_t held = 0;

    for (const latch_link *link = store->held.next; link != &store->held; link = link->next) {
        const semaphore_hold *hold = LATCH_CONTAINER(link, semaphore_hold, link);

        if (hold->key == key && hold->weight > 0
            && latch_semaphore_is_of_this_process(store->store.engine, hold)
            && !latch_permit_set_is_lost(hold->set)) {
            held += hold->weight;
        }
    }
    return op->request.permits.weight > op->request.permits.limit - held;
}

static latch_status refuse_set_permits(latch_op *op, key_t key, int set)
{
    if (!op->request.wait) {
        return LATCH_CONFLICT;
    }
    if (op->request.deadline_ns == LATCH_NEVER && is_own_deadlock(op, key)) {
        return latch_fail(op->error, LATCH_ERROR_DEADLOCK, 0,
                          "the permits are held by this very thread, through other keys");
    }
    return latch_semaphore_want_set(op, set);
}

/* One attempt, which may sleep for so long. */
static latch_status attempt_set_permits(latch_op *op, int64_t slice_ns)
{
    latch_engine *engine = op->lease->store->engine;
    semaphore_hold *taken = latch_allocate(engine, sizeof(*taken));
    key_t key = latch_semaphore_key_of(op->lease);
    const latch_permits *permits = &op->request.permits;
    latch_status status;
    int64_t limit;
    int set;

    if (taken == NULL) {
        return latch_fail_memory(op->error);
    }
    switch (latch_permit_set_acquire(key, permits, slice_ns, &set, &limit)) {
        case SEMAPHORE_HELD:
            taken->weight = permits->weight;
            latch_semaphore_mark_held(op, taken, key, set);
            return LATCH_DONE;
        case SEMAPHORE_BUSY:
            status = refuse_set_permits(op, key, set);
            break;
        case SEMAPHORE_OTHER_LIMIT:
            status = latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                                "the processes that use the semaphore have named a limit of %lld, "
                                "and not of %lld: name the same one everywhere",
                                (long long) limit, (long long) permits->limit);
            break;
        case SEMAPHORE_BROKEN:
            status = latch_semaphore_fail_system(op, set < 0 ? "semget()" : "semop()", key);
            break;
        default:
            status = LATCH_CONFLICT; /* created and removed all the time */
            break;
    }
    latch_free(engine, taken);
    return status;
}

static latch_status acquire_set_permits(latch_op *op)
{
    latch_lease *lease = op->lease;

    if (op->request.permits.limit > PERMIT_SET_LIMIT_MAX) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "a System V semaphore has at most %d permits, and not %lld",
                          PERMIT_SET_LIMIT_MAX, (long long) op->request.permits.limit);
    }
    if (lease->state != NULL) {
        if (are_still_held(lease)) {
            return LATCH_DONE;
        }
        latch_semaphore_drop_hold(lease);
        lease->mode = LATCH_FREE;
    }
    latch_semaphore_sweep_if_due((semaphore_store *) lease->store);
    return attempt_set_permits(op, 0);
}

latch_status latch_semaphore_permits_step(latch_op *op, int64_t now_ns)
{
    op->state = NULL;
    return attempt_set_permits(op, latch_semaphore_slice_ns(op, now_ns));
}

void latch_semaphore_permits_give_back(const semaphore_hold *held)
{
    if (!latch_permit_set_is_lost(held->set)) {
        latch_permit_set_release(held->set, held->weight);
    }
}

/* A child gives nothing back: the kernel does so for its parent, which would count twice. */
static latch_status release_set_permits(latch_lease *lease)
{
    if (latch_semaphore_is_ours(lease)) {
        latch_semaphore_permits_give_back(lease->state);
    }
    if (lease->state != NULL) {
        latch_semaphore_drop_hold(lease);
    }
    return LATCH_DONE;
}

static latch_status probe_set_permits(latch_lease *lease)
{
    if (lease->state == NULL || are_still_held(lease)) {
        return lease->state != NULL ? LATCH_DONE : LATCH_CONFLICT;
    }
    if (latch_semaphore_is_ours(lease)) {
        latch_semaphore_drop_hold(lease);
    }
    return LATCH_CONFLICT;
}

/* The kernel knows how many users there are, and not which permits are whose. */
static latch_status inspect_set_permits(latch_op *op)
{
    const latch_engine *engine = op->lease->store->engine;
    key_t key = latch_semaphore_key_of(op->lease);
    permit_set_report found = {.used = 0};
    int set;
    semaphore_outcome result =
        latch_permit_set_inspect(key, op->request.permits.limit, &set, &found);
    latch_lock_report *report;
    char name[16];

    if (result == SEMAPHORE_BROKEN) {
        return latch_semaphore_fail_system(op, set < 0 ? "semget()" : "semctl()", key);
    }
    snprintf(name, sizeof(name), "0x%08x", (unsigned) key);
    report = latch_lock_reports_add(engine, op->request.reports, name,
                                    found.used > 0 ? LATCH_SHARED : LATCH_FREE);
    if (report == NULL) {
        return latch_fail_memory(op->error);
    }
    report->permits_used = found.used;
    report->holder_count = found.users;
    report->waiter_count = found.waiters;
    return LATCH_DONE;
}

latch_status latch_semaphore_permits_begin(latch_op *op)
{
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
            return acquire_set_permits(op);
        case LATCH_RELEASE:
            return release_set_permits(op->lease);
        case LATCH_PROBE:
            return probe_set_permits(op->lease);
        case LATCH_INSPECT:
            return inspect_set_permits(op);
        case LATCH_REFRESH: /* permits never expire */
            return probe_set_permits(op->lease);
        case LATCH_ACQUIRE_SHARED: /* op.c refuses these */
        case LATCH_LIST:
        case LATCH_EVICT:
        case LATCH_CALL:
            break;
    }
    return LATCH_DONE;
}
