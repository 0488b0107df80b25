/*
 * Leases in combined stores: their parts (a lease in each member, owned by the caller), the
 * deadline and the shared tokens. And the strategies.
 */
#include "src/store/combined/combined.h"

#include <string.h>

#define DRIFT_PART 100
#define DRIFT_NS (2 * LATCH_NS_PER_MS)

/* ---- Strategies ------------------------------------------------------------------------------ */

static bool is_majority(void *context, size_t successes, size_t members)
{
    (void) context;
    return 2 * successes > members;
}

static bool leaves_majority(void *context, size_t failures, size_t members)
{
    (void) context;
    return 2 * failures < members;
}

static bool is_all(void *context, size_t successes, size_t members)
{
    (void) context;
    return successes == members;
}

static bool leaves_all(void *context, size_t failures, size_t members)
{
    (void) context;
    (void) members;
    return failures == 0;
}

const latch_strategy latch_consensus = {NULL, is_majority, leaves_majority, true};
const latch_strategy latch_unanimity = {NULL, is_all, leaves_all, true};

/* ---- Leases ---------------------------------------------------------------------------------- */

latch_status latch_lease_join(latch_lease *lease, const latch_lease_part *members,
                              latch_error *error)
{
    combined_store *store = combined_store_of(lease);
    size_t size = sizeof(combined_hold) + store->count * sizeof(combined_part);
    combined_hold *hold = latch_allocate(store->store.engine, size);

    if (hold == NULL) {
        return latch_fail_memory(error);
    }
    memset(hold, 0, size);
    for (size_t at = 0; at < store->count; at++) {
        size_t first = 0;

        while (members[first].lease != members[at].lease) {
            first++;
        }
        hold->parts[first].weight++;
        hold->parts[at].lease = members[at].lease;
        hold->parts[at].ttl_ms = members[at].ttl_ms;
        hold->parts[at].status = LATCH_NO_VOTE;
    }
    lease->state = hold;
    return LATCH_DONE;
}

latch_lease_part latch_combined_part(const latch_lease *lease, size_t index)
{
    const combined_hold *hold = lease->state;
    latch_lease_part part = {NULL, 0};

    if (hold != NULL && index < combined_store_of(lease)->count) {
        part = (latch_lease_part){hold->parts[index].lease, hold->parts[index].ttl_ms};
    }
    return part;
}

latch_vote latch_lease_vote(const latch_lease *lease, size_t index)
{
    const combined_hold *hold = lease->state;
    const combined_part *part = &hold->parts[index];

    for (size_t at = 0; part->weight == 0; at++) {
        if (hold->parts[at].lease == part->lease) {
            part = &hold->parts[at];
        }
    }
    return (latch_vote){part->status, latch_failed(part->status) ? &part->error : NULL};
}

size_t latch_combined_count_held(const combined_store *store, combined_hold *hold, int64_t now_ns)
{
    size_t count = 0;

    EACH_PART(store, hold, part)
    {
        if (latch_lease_held(part->lease, now_ns)) {
            count += part->weight;
        }
    }
    return count;
}

/* Does a quorum of members hold the lock at that time? */
static bool is_held_at(const combined_store *store, combined_hold *hold, int64_t time_ns)
{
    size_t count = latch_combined_count_held(store, hold, time_ns);

    return store->strategy.is_pure ? combined_is_met(store, count) : count >= hold->granted;
}

/* The parts' own deadlines count, too: a part may have been renewed alone, for less time. */
bool latch_combined_held(const latch_lease *lease)
{
    return lease->mode != LATCH_FREE && lease->state != NULL
           && is_held_at(combined_store_of(lease), lease->state,
                         latch_engine_now_ns(lease->store->engine));
}

void latch_combined_drop(latch_lease *lease)
{
    latch_free(lease->store->engine, lease->state);
}

/* Which members were renewed is unknown: extend each part that was held at its last reply. */
void latch_combined_sync_deadline(latch_lease *lease, int64_t deadline_ns)
{
    EACH_PART(combined_store_of(lease), (combined_hold *) lease->state, part)
    {
        latch_lease *part_lease = part->lease;

        if (part_lease->mode != LATCH_FREE && part_lease->deadline_ns < deadline_ns) {
            part_lease->deadline_ns = deadline_ns;
            if (part_lease->store->class->sync_deadline != NULL) {
                part_lease->store->class->sync_deadline(part_lease, deadline_ns);
            }
        }
    }
}

/*
 * The deadline of a member. A member whose reply is not awaited counts as if it had granted the
 * lock, so that the deadline does not depend on which members answer first.
 */
static int64_t part_deadline(const combined_part *part)
{
    if (latch_wants(part->status) && part->op.request.kind != LATCH_PROBE) {
        return latch_store_deadline(part->lease->store, part->asked_ns, part->op.request.ttl_ms);
    }
    return part->status == LATCH_DONE ? part->lease->deadline_ns : LATCH_NEVER;
}

int64_t latch_combined_less_drift(int64_t asked_ns, int64_t deadline_ns)
{
    return deadline_ns == LATCH_NEVER
               ? LATCH_NEVER
               : deadline_ns - (deadline_ns - asked_ns) / DRIFT_PART - DRIFT_NS;
}

static int64_t less_drift(const combined_part *part, int64_t deadline_ns)
{
    return latch_combined_less_drift(part->asked_ns, deadline_ns);
}

int64_t latch_combined_deadline(const latch_op *op)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;
    int64_t first_ns = LATCH_NEVER;

    EACH_PART(store, hold, part)
    {
        int64_t deadline_ns = less_drift(part, part_deadline(part));

        first_ns = deadline_ns < first_ns ? deadline_ns : first_ns;
    }
    return first_ns;
}

void latch_combined_shorten_deadline(const latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    latch_lease *lease = op->lease;
    combined_hold *hold = lease->state;
    int64_t last_ns = now_ns;

    EACH_PART(store, hold, part)
    {
        int64_t deadline_ns = part->lease->deadline_ns;
        int64_t certain_ns = less_drift(part, deadline_ns);

        if (latch_lease_held(part->lease, INT64_MIN) && certain_ns > last_ns
            && is_held_at(store, hold, deadline_ns - 1)) {
            last_ns = certain_ns;
        }
    }
    lease->deadline_ns = last_ns < lease->deadline_ns ? last_ns : lease->deadline_ns;
    if (op->request.kind == LATCH_ACQUIRE_SHARED) {
        lease->mode = LATCH_SHARED; /* some members may have demoted it already */
    }
}

void latch_combined_record_hold(const latch_op *op)
{
    const combined_store *store = combined_store_of(op->lease);
    latch_lease *lease = op->lease;
    combined_hold *hold = lease->state;

    if (lease->mode != LATCH_FREE) {
        return;
    }
    EACH_PART(store, hold, part)
    {
        uint8_t mode = part->status == LATCH_DONE ? part->lease->mode : LATCH_FREE;

        if (mode != LATCH_FREE && (lease->mode == LATCH_FREE || mode < lease->mode)) {
            lease->mode = mode;
        }
    }
    lease->deadline_ns = latch_combined_deadline(op);
}

/* ---- Tokens: one for all members that keep it in the same place -------------------------------
 */

static bool is_relative(const latch_lease *lease, const latch_lease *other)
{
    const char *name = lease->store->info->state_name, *others = other->store->info->state_name;

    return lease->store->class->assign_token != NULL && others != NULL && strcmp(name, others) == 0;
}

/*
 * The token that all relatives of a lease can share, if one of them has one. NULL: none, as one of
 * the tokens may be known to another process.
 */
static const char *find_common_token(const combined_store *store, combined_hold *hold,
                                     const latch_lease *relative, bool is_held)
{
    const char *common = NULL;

    EACH_PART(store, hold, part)
    {
        const latch_lease *lease = part->lease;
        const char *token;

        if (!is_relative(lease, relative) || lease->token == NULL) {
            continue;
        }
        token = latch_lease_shared_token(lease);
        if (common == NULL) {
            common = token;
        }
        if (!is_held && (token == NULL || strcmp(common, token) != 0)) {
            return NULL;
        }
    }
    return common;
}

static latch_status give_token(const combined_store *store, combined_hold *hold,
                               const latch_lease *relative, const char *token, latch_error *error)
{
    EACH_PART(store, hold, part)
    {
        latch_lease *lease = part->lease;
        latch_status status = LATCH_DONE;

        if (is_relative(lease, relative) && !lease->busy && !latch_lease_held(lease, INT64_MIN)
            && (lease->token == NULL || strcmp(lease->token, token) != 0)) {
            status = lease->store->class->assign_token(lease, token, error);
        }
        if (status != LATCH_DONE) {
            return status;
        }
    }
    return LATCH_DONE;
}

latch_status latch_combined_share_tokens(latch_op *op)
{
    const combined_store *store = combined_store_of(op->lease);
    combined_hold *hold = op->lease->state;
    char token[LATCH_TOKEN_MAX + 1];
    latch_status status = LATCH_DONE;

    EACH_PART(store, hold, part)
    {
        const latch_lease *lease = part->lease;
        const char *common;
        bool is_first = lease->store->class->assign_token != NULL;

        for (combined_part *before = hold->parts; before < part; before++) {
            is_first = is_first && !is_relative(before->lease, lease);
        }
        if (!is_first || status != LATCH_DONE) {
            continue;
        }
        common = find_common_token(store, hold, lease, op->mode_before != LATCH_FREE);
        if (common != NULL) {
            memcpy(token, common, strlen(common) + 1);
        } else {
            status = latch_token_make(store->store.engine, token, op->error);
        }
        if (status == LATCH_DONE) {
            status = give_token(store, hold, lease, token, op->error);
        }
    }
    return status;
}
