/*
 * Operations: one request in flight. A store carries a request out; what is the same for all stores
 * stands here: the argument checks, the deadline of a wait, the polls of stores that cannot wait by
 * themselves, the way back when a wait is given up, and what an outcome means for the lease.
 */
#include "store/store.h"

/* Polls start quickly, for locks that are held briefly, and settle at Symfony's 100 ms. */
#define FIRST_POLL_NS (5 * LATCH_NS_PER_MS)
#define SLOWEST_POLL_NS (100 * LATCH_NS_PER_MS)

static bool acquires(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED;
}

static int64_t add_ns(int64_t time_ns, int64_t duration_ns)
{
    int64_t sum;

    return __builtin_add_overflow(time_ns, duration_ns, &sum) ? LATCH_NEVER : sum;
}

/* Notes on the lease what the outcome of its operation means. */
static latch_status end(latch_op *op, latch_status status)
{
    latch_lease *lease = op->lease;
    bool expires = op->request.ttl_ms > 0
                   && (lease->store->class->info.capabilities & LATCH_EXPIRING) != 0;
    int64_t ttl_ns;

    lease->busy = false;
    op->state = NULL;
    if (status == LATCH_ERROR_LOST
        || (status == LATCH_CONFLICT && !acquires(op) && !op->cancelled)) {
        /* Once its deadline has passed a lease counts as not held, and yet it was. */
        lease->lost = lease->mode != LATCH_FREE
                      && (op->mode_before != LATCH_FREE || lease->deadline_ns != LATCH_NEVER);
        lease->mode = LATCH_FREE;
    }
    if (status == LATCH_CONFLICT && lease->mode == LATCH_FREE) {
        lease->fencing_token = 0;
    }
    if (status != LATCH_DONE) {
        return status;
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
            if (__builtin_mul_overflow(op->request.ttl_ms, LATCH_NS_PER_MS, &ttl_ns)) {
                ttl_ns = LATCH_NEVER;
            }
            lease->deadline_ns = expires ? add_ns(op->sent_ns, ttl_ns) : LATCH_NEVER;
            break;
        case LATCH_RELEASE:
            lease->mode = LATCH_FREE;
            lease->fencing_token = 0;
            break;
        case LATCH_PROBE:
        case LATCH_INSPECT:
        case LATCH_LIST:
            break;
    }
    return status;
}

/* When to ask a store again that cannot wait by itself: 5 ms, doubled up to 100 ms, +-10 %. */
static latch_status want_poll(latch_op *op, int64_t now_ns)
{
    const latch_env *env = &op->lease->store->engine->env;
    uint16_t random;

    op->poll_ns = op->poll_ns == 0 ? FIRST_POLL_NS : op->poll_ns * 2;
    if (op->poll_ns > SLOWEST_POLL_NS) {
        op->poll_ns = SLOWEST_POLL_NS;
    }
    if (!env->random(env->context, &random, sizeof(random))) {
        random = UINT16_MAX / 2; /* jitter only spreads contenders: no reason to fail */
    }
    op->waiting = true;
    op->wake_ns = add_ns(now_ns, op->poll_ns / 10 * 9 + op->poll_ns / 5 * random / UINT16_MAX);
    return LATCH_WANT_TIMER;
}

/* Turns what the store answered into what the driver is told. */
static latch_status settle(latch_op *op, latch_status status, int64_t now_ns)
{
    if (status == LATCH_CONFLICT && acquires(op) && op->request.wait
        && now_ns < op->request.deadline_ns) {
        op->state = NULL;
        status = want_poll(op, now_ns);
    }
    if (!LATCH_WANTS(status)) {
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
    return op->lease->store->class->begin(op);
}

latch_status latch_op_begin(latch_op *op, latch_lease *lease, const latch_request *request,
                            latch_error *error)
{
    /* Reading the clock costs as much as a lock in memory: only where time matters. */
    bool timed = request->wait || lease->deadline_ns != LATCH_NEVER
                 || (lease->store->class->info.capabilities & LATCH_EXPIRING) != 0;
    int64_t now_ns = timed ? latch_engine_now_ns(lease->store->engine) : 0;
    /* What is lost may be released as well: no look at a socket is needed. */
    bool is_release = request->kind == LATCH_RELEASE;

    *op = (latch_op){
        .lease = lease,
        .request = *request,
        .error = error,
        .fd = -1,
        .mode_before = is_release || latch_lease_held(lease, now_ns) ? lease->mode : LATCH_FREE,
        .wake_ns = LATCH_NEVER,
    };
    lease->lost = false;
    if (!request->wait || now_ns >= request->deadline_ns) {
        op->request.wait = false;
        op->request.deadline_ns = LATCH_NEVER;
    }
    if (lease->busy && request->kind == LATCH_PROBE) {
        /* Being acquired: not held yet. Being renewed, or released: held still. */
        return op->mode_before != LATCH_FREE ? LATCH_DONE : LATCH_CONFLICT;
    }
    if (lease->busy) {
        return latch_fail(error, LATCH_ERROR_BUSY, 0,
                          "another operation on this lock has not ended yet");
    }
    if (request->ttl_ms < 0) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "the TTL must not be negative");
    }
    if (request->kind == LATCH_LIST
        && (lease->store->class->info.capabilities & LATCH_LISTING) == 0) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "the %s store cannot list its locks",
                          lease->store->class->info.name);
    }
    lease->busy = true;
    return settle(op, attempt(op, now_ns), now_ns);
}

/*
 * The second half of a cancel: a grant that came too late is given back. A lease that was exclusive
 * before has been demoted at most, which nobody needs to undo.
 */
static latch_status undo(latch_op *op, latch_status status, int64_t now_ns)
{
    if (status == LATCH_DONE && acquires(op) && op->mode_before != LATCH_EXCLUSIVE
        && !op->undoing) {
        end(op, LATCH_DONE);
        op->lease->busy = true;
        op->undoing = true;
        op->request.kind = op->mode_before == LATCH_FREE ? LATCH_RELEASE : LATCH_ACQUIRE_SHARED;
        op->request.detach = op->request.kind == LATCH_RELEASE;
        status = attempt(op, now_ns);
    }
    if (LATCH_WANTS(status)) {
        return status;
    }
    status = end(op, status);
    return status == LATCH_DONE && op->undoing ? LATCH_CONFLICT : status;
}

latch_status latch_op_step(latch_op *op, int64_t now_ns)
{
    const latch_store_class *class = op->lease->store->class;
    latch_status status;

    op->wake_ns = LATCH_NEVER;
    status = op->state != NULL ? class->step(op, now_ns) : attempt(op, now_ns);
    if (op->cancelled) {
        return undo(op, status, now_ns);
    }
    if (LATCH_WANTS(status) && now_ns >= op->request.deadline_ns) {
        /* The wait is over. A grant that came at the last moment counts: it is held. */
        op->request.wait = false;
        op->request.deadline_ns = LATCH_NEVER;
        status = op->state != NULL ? class->cancel(op) : LATCH_CONFLICT;
    }
    return settle(op, status, now_ns);
}

/* Of a renewal, a release or a probe its caller has to know what came of it. */
static bool may_be_given_up(const latch_op *op)
{
    return op->request.kind != LATCH_REFRESH && op->request.kind != LATCH_RELEASE
           && op->request.kind != LATCH_PROBE;
}

latch_status latch_op_cancel(latch_op *op, int64_t now_ns)
{
    if (op->cancelled || !may_be_given_up(op)) {
        return latch_op_step(op, now_ns);
    }
    op->cancelled = true;
    op->request.wait = false;
    op->request.deadline_ns = LATCH_NEVER;
    if (op->state == NULL) {
        return end(op, LATCH_CONFLICT); /* between two attempts: nothing is in flight */
    }
    return undo(op, op->lease->store->class->cancel(op), now_ns);
}
