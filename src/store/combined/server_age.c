/*
 * Recently started servers. Redis without persistence forgets its locks at a restart: another
 * process may then find a majority free while the holder still relies on its own. So the grant of a
 * server that is younger than the TTL counts only
 * - if there is no quorum without it, as when two of three were restarted, or
 * - if every server of known age is as young: a new installation, which has forgotten nothing.
 */
#include "src/store/combined/combined.h"

/* INT64_MIN: not known yet; LATCH_NEVER: the store does not tell. */
static int64_t server_start_of(const combined_part *part)
{
    latch_store *store = part->lease->store;

    return store->class->server_start_ns != NULL ? store->class->server_start_ns(store)
                                                 : LATCH_NEVER;
}

bool latch_combined_is_young(const latch_op *op, const combined_part *part, int64_t now_ns)
{
    int64_t started_ns = server_start_of(part);
    int64_t ttl_ms = op->request.ttl_ms > 0 ? op->request.ttl_ms : part->ttl_ms;

    return started_ns != INT64_MIN && started_ns != LATCH_NEVER
           && now_ns - started_ns < latch_ms_to_ns(ttl_ms);
}

/* Members of unknown age (files, databases, client objects) prove nothing. */
static bool has_old_server(const latch_op *op, int64_t now_ns)
{
    EACH_PART(combined_store_of(op->lease), (combined_hold *) op->lease->state, part)
    {
        if (server_start_of(part) != LATCH_NEVER && !latch_combined_is_young(op, part, now_ns)) {
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
