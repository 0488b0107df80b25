/*
 * Inside the combined store: combined.c (the voting state machine), server_age.c (restarted servers
 * that may have forgotten locks), uncertain.c (conflict or outage?), lease.c (the parts of a lease,
 * deadlines, tokens, the strategies), clone.c (clones for the renewal thread).
 */
#ifndef LATCH_COMBINED_H
#define LATCH_COMBINED_H

#include "src/engine/store.h"

typedef enum { UNDECIDED, MET, HOPELESS } combined_verdict;

typedef struct combined_part {
    latch_lease *lease;
    int64_t ttl_ms;
    size_t weight; /* members that share the lease; 0: another one of them is asked */
    latch_status status;
    bool in_flight;
    bool is_throttled; /* back-pressure: too many of its releases have not been answered */
    bool was_skipped;  /* it was not asked for the lock: nothing to release */
    latch_status wish; /* LATCH_WANT_*, while it is in flight */
    int64_t asked_ns;
    latch_op op;
    latch_error error;
} combined_part;

/* lease->state */
typedef struct combined_hold {
    size_t successes, failures;
    size_t young;   /* grants by recently started servers */
    size_t granted; /* successes of the request by which it is held */
    combined_verdict verdict;
    bool rolls_back;
    combined_part parts[];
} combined_hold;

typedef struct combined_store {
    latch_store store;
    latch_store_info info;
    latch_strategy strategy;
    latch_store **members;
    size_t count;
    bool owns_members; /* a clone, whose members are clones, too */
} combined_store;

/* Loops over the members with a lease of their own: a shared lease comes once. */
#define EACH_PART(store, hold, part)                                                               \
    for (combined_part *part = (hold)->parts; part < (hold)->parts + (store)->count; part++)       \
        if (part->weight > 0)

static inline combined_store *combined_store_of(const latch_lease *lease)
{
    return (combined_store *) lease->store;
}

static inline bool combined_is_met(const combined_store *store, size_t successes)
{
    return store->strategy.is_met(store->strategy.context, successes, store->count);
}

static inline bool combined_can_be_met(const combined_store *store, size_t failures)
{
    return store->strategy.can_be_met(store->strategy.context, failures, store->count);
}

/* ---- server_age.c */

/* Was the member's server started so lately that it may have forgotten a lock with this TTL? */
bool latch_combined_is_young(const latch_op *op, const combined_part *part, int64_t now_ns);
/* Do the grants of young servers count? */
bool latch_combined_counts_young(const latch_op *op, int64_t now_ns);

/* op->flags */
enum {
    IS_LOST = 1, /* a promotion and its rollback have failed: nothing is held any more */
    HURRIES = 2, /* the deadline has passed */
};

/* ---- uncertain.c */

/*
 * A failed acquire with a deadline: members that have not answered yet decide between conflict and
 * outage. They get LATCH_BREAKER_TIMEOUT_NS for that, as a member that works answers at once.
 */
bool latch_combined_is_in_doubt(const latch_op *op, int64_t now_ns);
/* Result of a failed renewal by the thread: an error, to be retried, or LATCH_CONFLICT if too many
 * members have lost the hold. */
latch_status latch_combined_explain(const latch_op *op);
/*
 * Sets op->contended if enough members report another holder. Else op->error is set, for the end of
 * the wait; latch_combined_outage() describes members that have not answered.
 */
void latch_combined_record_contention(latch_op *op);
/* For the store's class. */
void latch_combined_outage(const latch_op *op, int64_t now_ns);

/* ---- clone.c */

/* For the store's class. */
const char *latch_combined_renewal_unsupported_reason(const latch_store *base);
void latch_combined_cork(latch_store *base, bool on);
latch_store *latch_combined_clone(const latch_store *base, latch_error *error);
void latch_combined_abandon(latch_op *op);
latch_store *latch_combined_member(const latch_store *base, size_t index);

/* ---- lease.c */

/* Counts the members that hold the lock, by their last grants. */
size_t latch_combined_count_held(const combined_store *store, combined_hold *hold, int64_t now_ns);
/* Updates the deadline after a failed request that leaves the lease held: some members may hold it
 * for less time than before. */
void latch_combined_shorten_deadline(const latch_op *op, int64_t now_ns);
/* Records the hold of an imported key, which the members have just confirmed. */
void latch_combined_record_hold(const latch_op *op);
/*
 * Assigns one token to all parts whose stores keep it under the same name in a serialised key, as
 * Symfony's stores of one class do.
 */
latch_status latch_combined_share_tokens(latch_op *op);
/* For the store's class. */
bool latch_combined_held(const latch_lease *lease);
int64_t latch_combined_deadline(const latch_op *op);
latch_lease_part latch_combined_part(const latch_lease *lease, size_t index);
/* The deadline less the allowance for clock drift since the request. */
int64_t latch_combined_less_drift(int64_t asked_ns, int64_t deadline_ns);
void latch_combined_drop(latch_lease *lease);
void latch_combined_sync_deadline(latch_lease *lease, int64_t deadline_ns);

#endif
