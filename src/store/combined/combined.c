/*
 * Quorum store (composite, Redlock): a lock is held while as many members hold it as the strategy
 * demands, mostly a majority. Semantics of Symfony's CombinedStore; the members are asked
 * concurrently, each by an operation of its own on a lease of its own.
 *
 * - Early decision: once the outcome is certain the remaining replies are not awaited; a release
 *   succeeds when enough members for the next holder have released. Operations in flight are
 *   detached (latch_op_detach()), or awaited where the store cannot detach.
 * - Rollback: a lock that is not granted, or not renewed, is released in all members that have it.
 * - Deadline: the earliest of the members' that count, less the allowance for clock drift of
 *   Redlock, 1 % of the TTL and 2 ms
 *   (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
 * - Restarted servers may have forgotten a holder: a grant of one younger than the TTL may not
 *   count (server_age.c).
 * - Circuit breaker: a member that timed out is not asked for a while, if the others are enough.
 */
#include "src/store/combined/combined.h"

/* How long the acquire of a renewed lock waits for members beyond the quorum: at most so long, and
 * at most a tenth of the TTL. */
#define ALL_NS (100 * LATCH_NS_PER_MS)
#define ALL_PARTS 10

static bool promotes(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE && op->mode_before == LATCH_SHARED;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The stores without members that are asked for one of its locks; a store has one at least. */
static size_t count_leaves(const latch_store *store)
{
    const latch_composite *composite = store->class->composite;
    const latch_store *member;
    size_t count = 0;

    for (size_t at = 0; composite != NULL && (member = composite->member(store, at)) != NULL;
         at++) {
        count += count_leaves(member);
    }
    return count > 0 ? count : 1;
}

/* All that every member can; one expiring member makes the whole expire. */
static unsigned capabilities_of(const combined_store *store)
{
    unsigned any = 0, all = LATCH_SERIALIZABLE;

    for (size_t at = 0; at < store->count; at++) {
        any |= store->members[at]->info->capabilities;
        all &= store->members[at]->info->capabilities;
    }
    all &= ~(unsigned) LATCH_PERMITS; /* majorities of members would grant more than the limit */
    all &= ~(unsigned) LATCH_CALLS;   /* members would differ on what is the newest, or left */
    return (any & LATCH_EXPIRING) | all | LATCH_SHARED_LOCKS;
}

static latch_status combined_open(latch_store *base, const latch_store_options *options,
                                  latch_error *error)
{
    combined_store *store = (combined_store *) base;
    size_t leaves = 0;

    if (options == NULL || options->strategy == NULL) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0, "a combined store needs a strategy");
    }
    store->count = options->member_count;
    for (size_t at = 0; at < store->count; at++) {
        leaves += count_leaves(options->members[at]);
    }
    if (leaves > LATCH_DESCRIPTORS_MAX) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "a combined store can have %d members at most, and theirs",
                          LATCH_DESCRIPTORS_MAX);
    }
    store->members = latch_allocate(base->engine, (store->count + 1) * sizeof(latch_store *));
    if (store->members == NULL) {
        return latch_fail_memory(error);
    }
    for (size_t at = 0; at < store->count; at++) {
        store->members[at] = options->members[at];
    }
    for (size_t at = 0; at < store->count; at++) {
        if (store->members[at]->class->server_start_ns != NULL) {
            store->members[at]->class->server_start_ns(store->members[at]);
        }
    }
    store->strategy = *options->strategy;
    store->info = base->class->info;
    store->info.capabilities = capabilities_of(store);
    base->info = &store->info;
    return LATCH_DONE;
}

static void combined_close(latch_store *base)
{
    combined_store *store = (combined_store *) base;

    for (size_t at = 0; store->owns_members && at < store->count; at++) {
        latch_store_close(store->members[at]);
    }
    latch_free(base->engine, store->members);
}

/* ---- Votes ----------------------------------------------------------------------------------- */

/* The successes, with those of young servers if they count. */
static size_t count_successes(const latch_op *op, int64_t now_ns)
{
    const combined_hold *hold = op->lease->state;

    return hold->successes + (latch_combined_counts_young(op, now_ns) ? hold->young : 0);
}

/* The counter for the vote of a member. */
static size_t *count_for(const latch_op *op, const combined_part *part, int64_t now_ns)
{
    combined_hold *hold = op->lease->state;

    if (part->status != LATCH_DONE) {
        return &hold->failures;
    }
    return latch_op_acquires(op) && op->mode_before == LATCH_FREE
                   && combined_store_of(op->lease)->strategy.is_pure
                   && latch_combined_is_young(op, part, now_ns)
               ? &hold->young
               : &hold->successes;
}

/* Records the vote of a member, feeds its circuit breaker, and decides if the outcome is certain.
 */
static void record_vote(latch_op *op, combined_part *part, latch_status status, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;
    latch_store *asked = part->lease->store;

    part->status = status;
    part->in_flight = false;
    if (status == LATCH_ERROR_STORE && now_ns - part->asked_ns >= LATCH_BREAKER_TIMEOUT_NS) {
        latch_breaker_record_timeout(&asked->breaker, part->asked_ns, now_ns);
    } else if (status != LATCH_ERROR_STORE && !part->was_skipped && !part->op.request.detach) {
        asked->breaker.pause_ns = 0;
    }
    for (size_t vote = 0; vote < part->weight && hold->verdict == UNDECIDED; vote++) {
        *count_for(op, part, now_ns) += 1;
        if ((store->strategy.is_pure || op->request.kind == LATCH_PROBE)
            && combined_is_met(store, count_successes(op, now_ns))) {
            hold->verdict = MET;
        } else if (op->request.kind != LATCH_RELEASE
                   && !combined_can_be_met(store, hold->failures)) {
            hold->verdict = HOPELESS;
        }
    }
}

/* Is the circuit breaker of a member open, or its back-pressure on? */
static bool is_unavailable(const combined_part *part, int64_t now_ns)
{
    return part->is_throttled || now_ns < part->lease->store->breaker.open_until_ns;
}

/* Are the other members enough? Only a pure strategy may be asked that. */
static bool can_skip(const latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    size_t skipped = 0;

    EACH_PART(store, (combined_hold *) op->lease->state, part)
    {
        skipped += is_unavailable(part, now_ns) ? part->weight : 0;
    }
    return store->strategy.is_pure && combined_can_be_met(store, skipped);
}

static latch_status begin_part(combined_part *part, const latch_request *request, int64_t now_ns)
{
    latch_status status = latch_op_begin(&part->op, part->lease, request, &part->error);

    part->asked_ns = now_ns;
    part->in_flight = latch_wants(status);
    part->wish = status;
    return status;
}

static void send_to_member(latch_op *op, combined_part *part, bool skip, int64_t now_ns)
{
    latch_request request = {
        .kind = op->request.kind,
        .ttl_ms = op->request.ttl_ms > 0 ? op->request.ttl_ms : part->ttl_ms,
        .extend = op->request.extend,
        .response_timeout_ms = op->request.response_timeout_ms,
        .detach = op->request.detach || skip,
    };
    latch_status status;

    if (request.kind == LATCH_ACQUIRE_SHARED
        && (part->lease->store->info->capabilities & LATCH_SHARED_LOCKS) == 0) {
        request.kind = LATCH_ACQUIRE; /* as Symfony's CombinedStore */
    }
    if (request.kind == LATCH_RELEASE && part->was_skipped) {
        record_vote(op, part, LATCH_DONE, now_ns);
        return;
    }
    if (latch_op_acquires(op)) {
        part->was_skipped = skip && (part->was_skipped || op->mode_before == LATCH_FREE);
    }
    if (skip && request.kind != LATCH_RELEASE) {
        part->asked_ns = now_ns;
        record_vote(op, part,
                    latch_fail(&part->error, LATCH_ERROR_STORE, 0,
                               "not asked, as it has not answered in time before"),
                    now_ns);
        return;
    }
    part->lease->inherit = op->lease->inherit;
    status = begin_part(part, &request, now_ns);
    part->status = status;
    if (part->in_flight && request.detach && latch_op_detach(&part->op)) {
        status = LATCH_DONE; /* a pending release of the store from now on */
    }
    if (!latch_wants(status)) {
        record_vote(op, part, status, latch_engine_now_ns(op->lease->store->engine));
    }
}

/* Asks all members; first those with asynchronous I/O, so that the others run meanwhile. */
static void send_to_members(latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;
    bool skips = op->request.kind == LATCH_RELEASE || can_skip(op, now_ns);

    for (int later = 1; later >= 0; later--) {
        EACH_PART(store, hold, part)
        {
            bool is_vain = (hold->verdict == HOPELESS && !latch_combined_is_in_doubt(op, now_ns))
                           || (hold->verdict == MET && op->request.kind == LATCH_PROBE);

            if ((part->lease->store->class->step != NULL) == later && !is_vain) {
                send_to_member(op, part, skips && is_unavailable(part, now_ns), now_ns);
            }
        }
    }
}

/* Merges what the members wait for; false when nothing is in flight. */
static bool want(latch_op *op, latch_status *status)
{
    const combined_store *store = combined_store_of(op->lease);
    bool wants = false;

    *status = LATCH_WANT_TIMER;
    op->fd = -1;
    op->wake_ns = LATCH_NEVER;
    EACH_PART(store, (combined_hold *) op->lease->state, part)
    {
        if (!part->in_flight) {
            continue;
        }
        wants = true;
        if (part->wish == LATCH_WANT_IO) {
            *status = LATCH_WANT_IO;
        }
        if (part->op.wake_ns < op->wake_ns) {
            op->wake_ns = part->op.wake_ns;
        }
    }
    return wants;
}

/* Cancels the operation of a member: whatever it took is released. */
static void cancel_part(combined_part *part, int64_t now_ns)
{
    part->wish = latch_op_cancel(&part->op, now_ns);
    part->in_flight = latch_wants(part->wish);
    part->status = part->wish == LATCH_CONFLICT ? LATCH_NO_VOTE : part->wish;
}

static int64_t end_of_all(const latch_op *op)
{
    int64_t part_ns = op->request.ttl_ms > ALL_PARTS * ALL_NS / LATCH_NS_PER_MS
                          ? ALL_NS
                          : op->request.ttl_ms * LATCH_NS_PER_MS / ALL_PARTS;

    return op->sent_ns + part_ns;
}

/*
 * A renewed lock is held for long, and renewals do not acquire it in members that lack it: so its
 * acquire waits a moment for all members.
 */
static bool waits_for_all(const latch_op *op, int64_t now_ns)
{
    const combined_hold *hold = op->lease->state;

    return hold->verdict == MET && op->lease->observed && latch_op_acquires(op)
           && (op->flags & HURRIES) == 0 && now_ns < end_of_all(op);
}

/* The outcome is certain: cancels or detaches the operations in flight. */
static void end_remaining(latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;

    if (waits_for_all(op, now_ns)) {
        return;
    }
    EACH_PART(store, hold, part)
    {
        if (hold->verdict == HOPELESS && latch_op_acquires(op)) {
            if (part->in_flight && !part->op.cancelled && !latch_combined_is_in_doubt(op, now_ns)) {
                cancel_part(part, now_ns);
            }
        } else if (part->in_flight) {
            part->in_flight = !latch_op_detach(&part->op);
        }
    }
}

static bool was_promoted(const combined_part *part)
{
    return part->status == LATCH_DONE && part->lease->mode == LATCH_EXCLUSIVE
           && (part->lease->store->info->capabilities & LATCH_SHARED_LOCKS) != 0;
}

/* A callback store's state is unknown to the engine: release it, as Symfony's CombinedStore does.
 */
static bool may_hold(const combined_part *part)
{
    const latch_lease *lease = part->lease;

    return lease->mode != LATCH_FREE || lease->detached != NULL
           || lease->store->class->may_hold_unknown;
}

/* Must a failed request restore the hold that there was before? */
static bool restores_hold(const latch_op *op)
{
    return promotes(op)
           || (op->cancelled && latch_op_acquires(op) && op->mode_before != LATCH_FREE);
}

/* Rollback: releases what was taken, or demotes what was promoted. */
static void roll_back_parts(latch_op *op, bool keep, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;

    hold->rolls_back = true;
    EACH_PART(store, hold, part)
    {
        latch_request request = {
            .kind = keep ? LATCH_ACQUIRE_SHARED : LATCH_RELEASE,
            .ttl_ms = op->request.ttl_ms > 0 ? op->request.ttl_ms : part->ttl_ms,
            .detach = !keep,
        };

        if (keep ? !(promotes(op) && was_promoted(part)) : !may_hold(part)) {
            continue;
        }
        begin_part(part, &request, now_ns);
        if (part->in_flight && request.detach && latch_op_detach(&part->op)) {
            part->in_flight = false;
        }
    }
}

/* End of a failed request, after the rollback. */
static latch_status combined_fail(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    combined_store *store = combined_store_of(lease);
    latch_status status;

    if (restores_hold(op) && (op->flags & IS_LOST) == 0) {
        if (combined_is_met(store, latch_combined_count_held(store, lease->state, now_ns))) {
            latch_combined_shorten_deadline(op, now_ns);
            return LATCH_CONFLICT; /* the shared hold remains */
        }
        op->flags |= IS_LOST;
        roll_back_parts(op, false, now_ns);
        if (want(op, &status)) {
            return status;
        }
    }
    if ((op->flags & IS_LOST) != 0) {
        return latch_fail(op->error, LATCH_ERROR_LOST, 0,
                          "too few of the combined stores hold it still, after an acquire that "
                          "failed");
    }
    if (latch_op_acquires(op) && lease->mode != LATCH_FREE) {
        lease->lost = true;
        lease->mode = LATCH_FREE;
    }
    return LATCH_CONFLICT;
}

/* Evaluates the votes so far: wait on, decide, or roll back. */
static latch_status judge(latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;
    latch_status status;

    if (!hold->rolls_back) {
        if (hold->verdict == MET) {
            op->first_response_deadline_ns = 0; /* replies have come: the deadline counts */
        }
        if (hold->verdict != UNDECIDED) {
            end_remaining(op, now_ns);
        }
        if (want(op, &status)) {
            if (waits_for_all(op, now_ns) && op->wake_ns > end_of_all(op)) {
                op->wake_ns = end_of_all(op);
            }
            if (hold->verdict == HOPELESS && op->wake_ns > op->sent_ns + LATCH_BREAKER_TIMEOUT_NS
                && latch_combined_is_in_doubt(op, now_ns)) {
                op->wake_ns = op->sent_ns + LATCH_BREAKER_TIMEOUT_NS;
            }
            return status;
        }
        if (op->request.kind == LATCH_RELEASE) {
            return LATCH_DONE; /* as Symfony's: a hold in an unreachable member expires */
        }
        if (op->cancelled) {
            hold->verdict = HOPELESS;
        } else if (op->request.kind != LATCH_PROBE
                   && (hold->verdict == UNDECIDED || !store->strategy.is_pure)) {
            hold->verdict = combined_is_met(store, count_successes(op, now_ns)) ? MET : HOPELESS;
        }
        if (hold->verdict == MET) {
            if (op->request.kind != LATCH_PROBE) {
                hold->granted = hold->successes;
            }
            if (!latch_op_acquires(op)) {
                latch_combined_record_hold(op);
            }
            return LATCH_DONE;
        }
        if (op->request.kind == LATCH_PROBE) {
            return LATCH_CONFLICT;
        }
        if (op->request.extend) {
            return latch_combined_explain(op);
        }
        latch_combined_record_contention(op);
        roll_back_parts(op, restores_hold(op), now_ns);
    }
    return want(op, &status) ? status : combined_fail(op, now_ns);
}

static latch_status combined_begin(latch_op *op)
{
    latch_lease *lease = op->lease;
    combined_store *store = combined_store_of(lease);
    combined_hold *hold = lease->state;
    int64_t now_ns = latch_engine_now_ns(lease->store->engine);
    latch_status status = LATCH_DONE;

    if (op->request.kind == LATCH_INSPECT) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "a combined store cannot tell who holds a lock");
    }
    if (hold == NULL) {
        return latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0,
                          "the lease has no parts: latch_lease_join()");
    }
    if (latch_op_acquires(op) && !latch_lease_held(lease, now_ns)) {
        op->mode_before = LATCH_FREE; /* it may have expired during a long wait */
    }
    hold->successes = hold->failures = hold->young = 0;
    hold->verdict = UNDECIDED;
    hold->rolls_back = false;
    EACH_PART(store, hold, part)
    {
        part->status = LATCH_NO_VOTE;
        part->is_throttled = latch_op_acquires(op) && !latch_detached_reap(part->lease);
    }
    if (latch_op_acquires(op)) {
        status = latch_combined_share_tokens(op);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    op->state = hold;
    send_to_members(op, now_ns);
    return judge(op, now_ns);
}

static latch_status combined_step(latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;

    EACH_PART(store, hold, part)
    {
        if (!part->in_flight) {
            continue;
        }
        if (hold->verdict == HOPELESS && latch_op_acquires(op) && !hold->rolls_back
            && !latch_combined_is_in_doubt(op, now_ns)) {
            cancel_part(part, now_ns);
            continue;
        }
        part->wish = latch_op_step(&part->op, now_ns);
        part->in_flight = latch_wants(part->wish);
        if (!part->in_flight && !hold->rolls_back) {
            record_vote(op, part, part->wish, now_ns);
        }
    }
    return judge(op, now_ns);
}

static latch_status combined_cancel(latch_op *op)
{
    combined_hold *hold = op->lease->state;

    op->flags |= HURRIES;
    if (hold->verdict != MET || op->cancelled) {
        hold->verdict = HOPELESS;
    }
    return judge(op, latch_engine_now_ns(op->lease->store->engine));
}

static size_t combined_descriptors(const latch_op *op, struct pollfd *descriptors, size_t max)
{
    const combined_store *store = combined_store_of(op->lease);
    size_t count = 0;

    EACH_PART(store, (combined_hold *) op->lease->state, part)
    {
        if (part->in_flight && part->wish == LATCH_WANT_IO) {
            count += latch_op_list_descriptors(&part->op, descriptors + count, max - count);
        }
    }
    return count;
}

static const latch_composite composite = {
    .member = latch_combined_member,
    .part = latch_combined_part,
    .join = latch_lease_join,
    .certain_until = latch_combined_less_drift,
};

const latch_store_class latch_combined_store = {
    .info = {.name = "combined", .title = "several stores", .scope = LATCH_SCOPE_MEMBERS},
    .size = sizeof(combined_store),
    .open = combined_open,
    .close = combined_close,
    .begin = combined_begin,
    .step = combined_step,
    .cancel = combined_cancel,
    .outage = latch_combined_outage,
    .abandon = latch_combined_abandon,
    .is_awaited = true,
    .descriptors = combined_descriptors,
    .deadline = latch_combined_deadline,
    .held = latch_combined_held,
    .drop = latch_combined_drop,
    .clone = latch_combined_clone,
    .cork = latch_combined_cork,
    .sync_deadline = latch_combined_sync_deadline,
    .renewal_unsupported_reason = latch_combined_renewal_unsupported_reason,
    .composite = &composite,
};
