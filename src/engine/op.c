/*
 * State machine of an operation: one request in flight. A store carries the request out; common to
 * all stores are the argument checks, the deadline of a wait, polling with back-off for stores that
 * cannot wait by themselves, rollback of a cancelled acquire, and the effect of an outcome on the
 * lease.
 */
#include "src/engine/observer.h"
#include "src/engine/store.h"

/* Exponential back-off of polls: short first, for brief holds, up to Symfony's 100 ms. */
#define FIRST_POLL_NS (5 * LATCH_NS_PER_MS)
#define SLOWEST_POLL_MS 100
/* Shortest time-out of a first reply, even if an acquire may wait for less: else each connect that
 * takes longer than the wait would count as an outage. */
#define FIRST_ANSWER_NS (500 * LATCH_NS_PER_MS)

/* Until when a successful acquire or renewal holds for certain. */
static int64_t deadline_of(const latch_op *op)
{
    const latch_store *store = op->lease->store;

    return store->class->deadline != NULL
               ? store->class->deadline(op)
               : latch_store_deadline(store, op->sent_ns, op->request.ttl_ms);
}

/* Applies the outcome of an operation to its lease. */
static void update_lease(latch_op *op, latch_status status)
{
    latch_lease *lease = op->lease;

    lease->busy = false;
    op->state = NULL;
    if (status == LATCH_ERROR_LOST
        || (status == LATCH_CONFLICT && !latch_op_acquires(op) && !op->cancelled)) {
        /* A lease past its deadline has mode_before LATCH_FREE, but was held all the same. */
        lease->lost = lease->mode != LATCH_FREE
                      && (op->mode_before != LATCH_FREE || lease->deadline_ns != LATCH_NEVER);
        lease->mode = LATCH_FREE;
    }
    if (status != LATCH_DONE && lease->mode == LATCH_FREE) {
        lease->fencing_token = 0; /* of no hold, or of one that an uncertain acquire has ended */
    }
    if (status != LATCH_DONE) {
        return;
    }
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            lease->mode = op->request.kind == LATCH_ACQUIRE ? LATCH_EXCLUSIVE : LATCH_SHARED;
            if (lease->mode == LATCH_SHARED) {
                lease->fencing_token = 0;
            }
            /* fall through */
        case LATCH_REFRESH:
            lease->deadline_ns = deadline_of(op);
            break;
        case LATCH_RELEASE:
            lease->mode = LATCH_FREE;
            lease->fencing_token = 0;
            break;
        case LATCH_PROBE:
        case LATCH_INSPECT:
        case LATCH_LIST:
        case LATCH_EVICT:
        case LATCH_CALL:
            break;
    }
}

static latch_status end(latch_op *op, latch_status status)
{
    update_lease(op, status);
    if (op->lease->observed) {
        op->lease->store->engine->observer->after(op, status);
    }
    return status;
}

/* Schedules the next poll of a store that cannot wait: 5 ms, doubled up to 100 ms, unless the store
 * has less, +-10 %. */
static latch_status want_poll(latch_op *op, int64_t now_ns)
{
    int64_t slowest_ms = op->lease->store->info->slowest_poll_ms;
    int64_t slowest_ns = (slowest_ms > 0 ? slowest_ms : SLOWEST_POLL_MS) * LATCH_NS_PER_MS;

    op->poll_ns = op->poll_ns == 0 ? FIRST_POLL_NS : op->poll_ns * 2;
    if (op->poll_ns > slowest_ns) {
        op->poll_ns = slowest_ns;
    }
    op->waiting = true;
    op->wake_ns = latch_add_ns(now_ns, latch_jittered_ns(op->lease->store->engine, op->poll_ns));
    if (op->expiry_ns != 0 && op->expiry_ns < op->wake_ns) {
        op->wake_ns = op->expiry_ns > now_ns ? op->expiry_ns : now_ns;
    }
    return LATCH_WANT_TIMER;
}

/*
 * Does a timed-out acquire end as an outage? So if no other holder is known: LATCH_CONFLICT is for
 * a known holder only, else the result is the error that the store has described.
 */
static bool is_outage(const latch_op *op)
{
    return op->first_response_deadline_ns != 0 && !op->contended
           && op->lease->store->class->outage != NULL;
}

/* Has the deadline passed? While the first reply is awaited it moves to the end of that. */
static bool is_over(latch_op *op, int64_t now_ns)
{
    if (now_ns < op->request.deadline_ns) {
        return false;
    }
    op->request.wait = false;
    op->request.deadline_ns = is_outage(op) && now_ns < op->first_response_deadline_ns
                                  ? op->first_response_deadline_ns
                                  : LATCH_NEVER;
    return op->request.deadline_ns == LATCH_NEVER;
}

/* Maps the store's result to the driver's: polls, outages, deadlines. */
static latch_status settle(latch_op *op, latch_status status, int64_t now_ns)
{
    if (status == LATCH_CONFLICT && (latch_op_acquires(op) || op->request.kind == LATCH_CALL)
        && op->request.wait && now_ns < op->request.deadline_ns) {
        op->state = NULL;
        status = want_poll(op, now_ns);
    }
    if (status == LATCH_CONFLICT && is_outage(op)) {
        status = op->error->status == LATCH_DONE
                     ? latch_fail(op->error, LATCH_ERROR_STORE, 0,
                                  "it has not been told in time whether the lock is free")
                     : LATCH_ERROR_STORE;
    }
    if (!latch_wants(status)) {
        return end(op, status);
    }
    if (op->wake_ns > op->request.deadline_ns) {
        op->wake_ns = op->request.deadline_ns;
    }
    return status;
}

static latch_status attempt(latch_op *op, int64_t now_ns)
{
    op->sent_ns = now_ns;
    op->wake_ns = LATCH_NEVER;
    op->expiry_ns = 0;
    if (op->lease->observed) {
        op->lease->store->engine->observer->before(op, now_ns);
    }
    return op->lease->store->class->begin(op);
}

bool latch_op_outage(latch_op *op, int64_t now_ns)
{
    const latch_store_class *class = op->lease->store->class;
    const latch_detached_op *detached = op->lease->detached;

    if (class->outage == NULL || (op->state == NULL && !op->waits_for_detached)) {
        return false;
    }
    class->outage(op->waits_for_detached ? &detached->op : op, now_ns);
    if (op->waits_for_detached) {
        *op->error = detached->error;
    }
    return true;
}

/* ---- From begin to end ----------------------------------------------------------------------- */

/* Checks a request on permits of a semaphore. */
static latch_status check_permits(const latch_op *op)
{
    const latch_store_info *info = op->lease->store->info;
    const latch_permits *permits = &op->request.permits;
    latch_op_kind kind = op->request.kind;

    if ((info->capabilities & LATCH_PERMITS) == 0) {
        return latch_fail(op->error, LATCH_ERROR_UNSUPPORTED, 0,
                          "the %s store has no counting semaphores", info->name);
    }
    if (kind == LATCH_LIST && (info->capabilities & LATCH_LISTING) == 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "the %s store cannot list its semaphores", info->name);
    }
    if (kind == LATCH_ACQUIRE_SHARED || kind == LATCH_EVICT) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "permits of a semaphore can be acquired, refreshed, released, probed, "
                          "inspected and listed, and nothing else");
    }
    if (kind != LATCH_ACQUIRE) {
        return LATCH_DONE;
    }
    if (permits->limit < 1 || permits->limit > LATCH_PERMITS_MAX) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "the limit of a semaphore must be from 1 to 2^53, and not %lld",
                          (long long) permits->limit);
    }
    if (permits->weight < 1 || permits->weight > permits->limit) {
        return latch_fail(
            op->error, LATCH_ERROR_ARGUMENT, 0,
            "the weight must be from 1 to the semaphore's limit of %lld, and not %lld",
            (long long) permits->limit, (long long) permits->weight);
    }
    return LATCH_DONE;
}

/* Checks the request against the capabilities of the store. */
static latch_status check(const latch_op *op)
{
    const latch_store_info *info = op->lease->store->info;

    if (op->request.kind == LATCH_CALL && (info->capabilities & LATCH_CALLS) == 0) {
        return latch_fail(op->error, LATCH_ERROR_UNSUPPORTED, 0,
                          "the %s store has no versions, throttles, count-downs, sequences and "
                          "debounces",
                          info->name);
    }
    if (op->request.kind == LATCH_CALL) {
        return LATCH_DONE;
    }
    if (op->request.ttl_ms < 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "the TTL must not be negative");
    }
    if (op->lease->is_permit) {
        return check_permits(op);
    }
    if (op->request.kind == LATCH_LIST && (info->capabilities & LATCH_LISTING) == 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "the %s store cannot list its locks",
                          info->name);
    }
    if (op->request.kind == LATCH_EVICT && (info->capabilities & LATCH_HOLDER_INFO) == 0) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "a lock in the %s store cannot be taken away: it ends with its holder",
                          info->name);
    }
    return LATCH_DONE;
}

/* Sends the request, unless it must wait for a detached operation on its lease. */
static latch_status op_start(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    bool is_release = op->request.kind == LATCH_RELEASE;

    if (lease->detached != NULL) {
        latch_status status;

        if (is_release && latch_detached_is_release(lease)) {
            return latch_detached_resume(op, now_ns);
        }
        status = latch_detached_await(op, now_ns);
        op->waits_for_detached = latch_wants(status);
        if (op->waits_for_detached) {
            if (op->wake_ns > op->request.deadline_ns) {
                op->wake_ns = op->request.deadline_ns;
            }
            return status;
        }
    }
    op->waits_for_detached = false;
    /* Skip the check of the descriptor or socket for a release, which does not depend on
     * mode_before, and for a lease that holds nothing. */
    op->mode_before = is_release || (lease->mode == LATCH_FREE && !lease->observed)
                              || latch_lease_held(lease, now_ns)
                          ? lease->mode
                          : LATCH_FREE;
    lease->lost = false;
    if (lease->busy && op->request.kind == LATCH_PROBE) {
        /* In flight: an acquire is not held yet; a renewal or release is held still. */
        return op->mode_before != LATCH_FREE ? LATCH_DONE : LATCH_CONFLICT;
    }
    if (lease->busy) {
        return latch_fail(op->error, LATCH_ERROR_BUSY, 0,
                          "another operation on this %s has not ended yet",
                          lease->is_permit ? "semaphore" : "lock");
    }
    lease->busy = true;
    return settle(op, attempt(op, now_ns), now_ns);
}

latch_status latch_op_begin(latch_op *op, latch_lease *lease, const latch_request *request,
                            latch_error *error)
{
    /* Hot path: reading the clock costs as much as a lock in memory, so only where needed. */
    bool timed = request->wait || lease->observed || lease->deadline_ns != LATCH_NEVER
                 || (lease->store->info->capabilities & LATCH_EXPIRING) != 0;
    int64_t now_ns = timed ? latch_engine_now_ns(lease->store->engine) : 0;
    latch_status status;

    *op = (latch_op){
        .lease = lease,
        .request = *request,
        .error = error,
        .fd = -1,
        .wake_ns = LATCH_NEVER,
    };
    if (request->wait && request->deadline_ns != LATCH_NEVER && latch_op_acquires(op)) {
        op->first_response_deadline_ns = latch_add_ns(now_ns, FIRST_ANSWER_NS);
        error->status = LATCH_DONE; /* settle() looks whether the store has described an outage */
    }
    if (!request->wait || now_ns >= request->deadline_ns) {
        op->request.wait = false;
        op->request.deadline_ns = LATCH_NEVER;
    }
    status = check(op);
    return status == LATCH_DONE ? op_start(op, now_ns) : status;
}

/* A step of an operation that waits for a detached one. At its deadline it has not begun, as the
 * server has not answered the detached one. */
static latch_status step_waiting_for_detached(latch_op *op, int64_t now_ns)
{
    latch_status status = op_start(op, now_ns);

    if (!op->waits_for_detached || !is_over(op, now_ns)) {
        return status;
    }
    if (!is_outage(op)) {
        return LATCH_CONFLICT;
    }
    latch_op_outage(op, now_ns);
    return LATCH_ERROR_STORE;
}

/*
 * Rollback of a cancelled acquire: a grant that crossed the cancel is released, or demoted to what
 * it was. A lease that was exclusive before can only have been demoted: no rollback.
 */
static latch_status roll_back_cancelled(latch_op *op, latch_status status, int64_t now_ns)
{
    if (status == LATCH_DONE && latch_op_acquires(op) && op->mode_before != LATCH_EXCLUSIVE
        && !op->rolling_back) {
        end(op, LATCH_DONE);
        op->lease->busy = true;
        op->rolling_back = true;
        op->request.kind = op->mode_before == LATCH_FREE ? LATCH_RELEASE : LATCH_ACQUIRE_SHARED;
        op->request.detach = op->request.kind == LATCH_RELEASE;
        status = attempt(op, now_ns);
    }
    if (latch_wants(status)) {
        return status;
    }
    status = end(op, status);
    return status == LATCH_DONE && op->rolling_back ? LATCH_CONFLICT : status;
}

latch_status latch_op_step(latch_op *op, int64_t now_ns)
{
    const latch_store_class *class = op->lease->store->class;
    latch_status status;

    if (op->waits_for_detached) {
        return step_waiting_for_detached(op, now_ns);
    }
    op->wake_ns = LATCH_NEVER;
    if (op->lease->observed) {
        latch_lease_sync_deadline(op->lease, now_ns);
    }
    status = op->state != NULL ? class->step(op, now_ns) : attempt(op, now_ns);
    if (op->cancelled) {
        return roll_back_cancelled(op, status, now_ns);
    }
    if (latch_wants(status) && is_over(op, now_ns)) {
        /* cancel() may find a last-moment grant: the acquire succeeds then. */
        if (is_outage(op)) {
            latch_op_outage(op, now_ns);
        }
        status = op->state != NULL ? class->cancel(op) : LATCH_CONFLICT;
    }
    return settle(op, status, now_ns);
}

/* The outcome of a renewal, a release, a probe or an eviction must be known: no cancel. */
static bool may_be_given_up(const latch_op *op)
{
    return op->request.kind != LATCH_REFRESH && op->request.kind != LATCH_RELEASE
           && op->request.kind != LATCH_PROBE && op->request.kind != LATCH_EVICT;
}

latch_status latch_op_cancel(latch_op *op, int64_t now_ns)
{
    if (op->cancelled || !may_be_given_up(op)) {
        return latch_op_step(op, now_ns);
    }
    op->cancelled = true;
    op->request.wait = false;
    op->request.deadline_ns = LATCH_NEVER;
    if (op->waits_for_detached) {
        return LATCH_CONFLICT;
    }
    if (op->state == NULL) {
        return end(op, LATCH_CONFLICT); /* between two attempts: nothing is in flight */
    }
    return roll_back_cancelled(op, op->lease->store->class->cancel(op), now_ns);
}

size_t latch_op_list_descriptors(const latch_op *op, struct pollfd *descriptors, size_t max)
{
    const latch_store_class *class = op->lease->store->class;

    if (op->fd >= 0 && max > 0) {
        descriptors[0] = (struct pollfd){.fd = op->fd, .events = op->events};
        return 1;
    }
    return op->fd < 0 && class->descriptors != NULL ? class->descriptors(op, descriptors, max) : 0;
}

size_t latch_op_descriptors(const latch_op *op, struct pollfd descriptors[LATCH_DESCRIPTORS_MAX])
{
    return latch_op_list_descriptors(op, descriptors, LATCH_DESCRIPTORS_MAX);
}
