/*
 * Inside the combined store: combined.c (requests), server_age.c (servers that may have forgotten
 * locks), uncertain.c (who holds what could not be had), lease.c (what a lease in it
 * is made of, and the strategies), clone.c (for the renewal thread).
 */
#ifndef LATCH_COMBINED_H
#define LATCH_COMBINED_H

#include "src/engine/store.h"

typedef enum { UNDECIDED, MET, HOPELESS } combined_verdict;

typedef struct combined_member {
    latch_lease *lease;
    int64_t ttl_ms;
    size_t weight; /* how many members share the lease; 0: it is asked on behalf of another one */
    latch_status status;
    bool in_flight;
    bool is_mute;      /* too many releases have not been answered to acquire behind them */
    bool left_out;     /* it was not asked for the lock, and has nothing to give back */
    latch_status wish; /* LATCH_WANT_*, while it is in flight */
    int64_t asked_ns;
    latch_op op;
    latch_error error;
} combined_member;

/* lease->state */
typedef struct combined_hold {
    size_t successes, failures;
    size_t young;   /* grants by servers that were started lately */
    size_t granted; /* successes of the request by which it is held */
    combined_verdict verdict;
    bool gives_back;
    combined_member members[];
} combined_hold;

typedef struct combined_store {
    latch_store store;
    latch_store_info info;
    latch_strategy strategy;
    latch_store **members;
    size_t count;
    bool owns_members; /* it is a twin, and so are they */
} combined_store;

/* Calls for each member that is asked on its own. */
#define EACH_MEMBER(store, hold, member)                                                           \
    for (combined_member *member = (hold)->members; member < (hold)->members + (store)->count;     \
         member++)                                                                                 \
        if (member->weight > 0)

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
bool latch_combined_is_young(const latch_op *op, const combined_member *member, int64_t now_ns);
/* Do the grants of young servers count? */
bool latch_combined_counts_young(const latch_op *op, int64_t now_ns);

/* op->attempts */
enum {
    IS_LOST = 1, /* a promotion has failed, and so has the way back: nothing is held any more */
    HURRIES = 2, /* its time is over */
};

/* ---- uncertain.c */

/*
 * An acquire with a deadline has failed, but not for certain because others hold the lock: those
 * that have not answered yet may say so. As members that answer at all do at once, they have a
 * moment for that.
 */
bool latch_combined_is_in_doubt(const latch_op *op, int64_t now_ns);
/* A renewal in the background that failed may be tried again, unless too many say that it is gone.
 */
latch_status latch_combined_explain(const latch_op *op);
/*
 * Has an acquire failed because others hold the lock, as enough members say? If not, op->error
 * tells why, should its time be over; of members that have not answered latch_combined_outage()
 * does.
 */
void latch_combined_note_contention(latch_op *op);
/* For the store's class. */
void latch_combined_outage(const latch_op *op, int64_t now_ns);

/* ---- clone.c */

/* For the store's class. */
const char *latch_combined_refusal(const latch_store *base);
void latch_combined_gather(latch_store *base, bool on);
latch_store *latch_combined_twin(const latch_store *base, latch_error *error);
void latch_combined_abandon(latch_op *op);
latch_store *latch_combined_member(const latch_store *base, size_t index);

/* ---- lease.c */

/* How many members hold it, by what they have granted last. */
size_t latch_combined_count_held(const combined_store *store, combined_hold *hold, int64_t now_ns);
/*
 * A request that failed leaves the lease as it was; but some members may hold it for less time than
 * before.
 */
void latch_combined_keep(const latch_op *op, int64_t now_ns);
/* A key that was handed over brings a hold of which the members have just told. */
void latch_combined_note_hold(const latch_op *op);
/*
 * Sees that all parts have one token that keep it under one name in a key, as Symfony's stores of a
 * class have: by it the key is known elsewhere, too.
 */
latch_status latch_combined_share_tokens(latch_op *op);
/* For the store's class. */
bool latch_combined_held(const latch_lease *lease);
int64_t latch_combined_deadline(const latch_op *op);
latch_member latch_combined_part(const latch_lease *lease, size_t index);
/* Less what clocks may run apart between the request and then. */
int64_t latch_combined_less_drift(int64_t asked_ns, int64_t deadline_ns);
void latch_combined_drop(latch_lease *lease);
void latch_combined_follow(latch_lease *lease, int64_t deadline_ns);

#endif
