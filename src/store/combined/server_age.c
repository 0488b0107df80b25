/*
 * Servers that were started lately. Redis without its data on disk forgets its locks when it is
 * restarted: somebody else may then find a majority free while the holder still counts on its own.
 * So the grant of a server that is younger than the TTL counts only
 * - if the others could not do without it, as when two of three were restarted, or
 * - if every server that tells its age is as young: the set-up is new, and has forgotten nothing.
 */
#include "src/store/combined/combined.h"

/* INT64_MIN: not known yet; LATCH_NEVER: the store does not tell. */
static int64_t started_of(const combined_member *member)
{
    latch_store *store = member->lease->store;

    return store->class->started != NULL ? store->class->started(store) : LATCH_NEVER;
}

bool latch_combined_is_young(const latch_op *op, const combined_member *member, int64_t now_ns)
{
    int64_t started_ns = started_of(member);
    int64_t ttl_ms = op->request.ttl_ms > 0 ? op->request.ttl_ms : member->ttl_ms;

    return started_ns != INT64_MIN && started_ns != LATCH_NEVER
           && now_ns - started_ns < latch_ms_to_ns(ttl_ms);
}

/* Members of other kinds (files, databases, client objects) tell nothing, and prove nothing. */
static bool has_old_server(const latch_op *op, int64_t now_ns)
{
    EACH_MEMBER(combined_store_of(op->lease), (combined_hold *) op->lease->state, member)
    {
        if (started_of(member) != LATCH_NEVER && !latch_combined_is_young(op, member, now_ns)) {
            return true;
        }
    }
    return false;
}

bool latch_combined_counts_young(const latch_op *op, int64_t now_ns)
{
    const combined_hold *hold = op->lease->state;

    return hold->young > 0
           && (!combined_can_be_met(combined_store_of(op->lease), hold->young)
               || !has_old_server(op, now_ns));
}
