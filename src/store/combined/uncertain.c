/*
 * Conflict or outage? After a failed acquire: whether enough members report another holder, or too
 * many have not answered.
 */
#include "src/store/combined/combined.h"

/* Counts members that report another holder, or a lost hold. */
static size_t count_refusals(const latch_op *op)
{
    size_t refusals = 0;

    EACH_PART(combined_store_of(op->lease), (combined_hold *) op->lease->state, part)
    {
        if (part->status == LATCH_CONFLICT || part->status == LATCH_ERROR_LOST) {
            refusals += part->weight;
        }
    }
    return refusals;
}

bool latch_combined_is_in_doubt(const latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    size_t unanswered = 0;

    if (op->first_response_deadline_ns == 0 || op->contended || op->cancelled
        || !store->strategy.is_pure || (op->flags & HURRIES) != 0
        || now_ns - op->sent_ns >= LATCH_BREAKER_TIMEOUT_NS) {
        return false;
    }
    EACH_PART(store, (combined_hold *) op->lease->state, part)
    {
        if (part->in_flight || part->status == LATCH_NO_VOTE) {
            unanswered += part->weight;
        }
    }
    return combined_can_be_met(store, count_refusals(op))
           && !combined_can_be_met(store, count_refusals(op) + unanswered);
}

latch_status latch_combined_explain(const latch_op *op)
{
    const combined_store *store = combined_store_of(op->lease);
    const combined_part *silent = NULL;

    EACH_PART(store, (combined_hold *) op->lease->state, part)
    {
        if (latch_failed(part->status) && part->status != LATCH_ERROR_LOST) {
            silent = part;
        }
    }
    return silent == NULL || !combined_can_be_met(store, count_refusals(op))
               ? LATCH_CONFLICT
               : latch_fail(op->error, LATCH_ERROR_STORE, 0, "%s", silent->error.message);
}

void latch_combined_record_contention(latch_op *op)
{
    if (op->cancelled || op->first_response_deadline_ns == 0) {
        return;
    }
    if ((op->flags & HURRIES) != 0) {
        op->contended |= !combined_can_be_met(combined_store_of(op->lease), count_refusals(op));
    } else {
        op->contended |= latch_combined_explain(op) == LATCH_CONFLICT;
    }
}

void latch_combined_outage(const latch_op *op, int64_t now_ns)
{
    const combined_store *store = combined_store_of(op->lease);
    const combined_hold *hold = op->lease->state;
    const combined_part *silent = NULL;

    if (hold->rolls_back || (op->poll_ns != 0 && now_ns - op->sent_ns < LATCH_BREAKER_TIMEOUT_NS)) {
        return; /* latch_combined_record_contention() has told, of this attempt or of the one before
                 */
    }
    EACH_PART(store, (combined_hold *) hold, part)
    {
        if (part->in_flight ? latch_op_outage(&part->op, now_ns) : latch_failed(part->status)) {
            silent = part;
        }
    }
    latch_fail(op->error, LATCH_ERROR_STORE, 0, "%s",
               silent != NULL ? silent->error.message : "too few of its stores have answered");
}
