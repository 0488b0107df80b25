/*
 * Clones of combined stores for the renewal thread, made of clones of the members. Only for pure
 * strategies, and members that a thread can renew.
 */
#include "src/store/combined/combined.h"

const char *latch_combined_renewal_unsupported_reason(const latch_store *base)
{
    const combined_store *store = (const combined_store *) base;
    const char *reason = NULL;

    if (!store->strategy.is_pure) {
        return "only PHP's own thread can ask its strategy";
    }
    for (size_t at = 0; at < store->count && reason == NULL; at++) {
        const latch_store *member = store->members[at];

        if (member->class->renewal_unsupported_reason != NULL) {
            reason = member->class->renewal_unsupported_reason(member);
        }
        if (reason == NULL && member->class->clone == NULL) {
            reason = "not all of the stores in it have locks that expire and can be renewed by a "
                     "thread";
        }
    }
    return reason;
}

latch_store *latch_combined_member(const latch_store *base, size_t index)
{
    const combined_store *store = (const combined_store *) base;

    return index < store->count ? store->members[index] : NULL;
}

void latch_combined_cork(latch_store *base, bool on)
{
    const combined_store *store = (const combined_store *) base;

    for (size_t at = 0; at < store->count; at++) {
        if (store->members[at]->class->cork != NULL) {
            store->members[at]->class->cork(store->members[at], on);
        }
    }
}

latch_store *latch_combined_clone(const latch_store *base, latch_error *error)
{
    const combined_store *store = (const combined_store *) base;
    latch_store *members[LATCH_DESCRIPTORS_MAX];
    const latch_store_options options = {.strategy = &store->strategy,
                                         .members = members,
                                         .member_count = store->count};
    latch_store *clone = NULL;
    size_t count = 0;

    while (count < store->count) {
        members[count] = store->members[count]->class->clone(store->members[count], error);
        if (members[count] == NULL) {
            break;
        }
        count++;
    }
    if (count == store->count) {
        clone = latch_store_open_as(base->engine, base->class, &options, error);
    }
    if (clone != NULL) {
        ((combined_store *) clone)->owns_members = true;
        return clone;
    }
    while (count > 0) {
        latch_store_close(members[--count]);
    }
    return NULL;
}

void latch_combined_abandon(latch_op *op)
{
    EACH_PART(combined_store_of(op->lease), (combined_hold *) op->lease->state, part)
    {
        if (part->in_flight && !part->op.waits_for_detached) {
            part->lease->store->class->abandon(&part->op);
            part->in_flight = false;
        }
    }
}
