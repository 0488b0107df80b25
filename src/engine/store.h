/*
 * Plug-in interface of a store: a constant class of functions plus private state. A new back end is
 * a folder that defines a latch_store_class, and a line in src/store/stores.def.
 */
#ifndef LATCH_STORE_H
#define LATCH_STORE_H

#include "src/base/base.h"
#include "src/engine/breaker.h"
#include "src/engine/detached.h"
#include "src/engine/inspection.h"
#include "src/engine/lease.h"
#include "src/engine/op.h"

/*
 * Watch on a lease that does not expire, by which the renewal thread detects its loss: either a
 * descriptor that ends, or a function that is polled. Zeroed before class->watch() fills it.
 */
typedef struct latch_watch {
    /* Polled for its end (POLLRDHUP), never read; watches may share it. NULL: none. */
    const latch_descriptor *descriptor;
    /* Called each second, in the renewal thread; must not block. NULL: never. */
    bool (*is_gone)(const struct latch_watch *watch);
    void *state; /* for these two functions alone */
    /* Frees `state`, in any thread; NULL: latch_free() does. */
    void (*end)(latch_engine *engine, void *state);
} latch_watch;

/*
 * Composite: a store of stores, whose leases are made of leases in its members. Both functions
 * count the members from 0, in their order.
 */
typedef struct latch_composite {
    /* NULL past the last one. */
    latch_store *(*member)(const latch_store *store, size_t index);
    /* The part in that member, which other members may share; its lease is NULL past the last one,
     * and before join(). */
    latch_lease_part (*part)(const latch_lease *lease, size_t index);
    /* latch_lease_join() */
    latch_status (*join)(latch_lease *lease, const latch_lease_part *parts, latch_error *error);
    /* A deadline counted from `sent_ns`, less the allowance for the drift of the members'
     * clocks. */
    int64_t (*certain_until)(int64_t sent_ns, int64_t deadline_ns);
} latch_composite;

typedef struct latch_store_class {
    latch_store_info info;
    size_t size; /* of the private structure, which begins with a latch_store */

    /* Fills the zeroed private part. On failure nothing stays allocated. May be NULL. */
    latch_status (*open)(latch_store *store, const latch_store_options *options,
                         latch_error *error);
    void (*close)(latch_store *store); /* may be NULL */
    /*
     * Drains the store before close(): pending releases are flushed, and their replies read.
     * LATCH_WANT_*: `op` says when to call it again (its error is ignored); anything else: drained,
     * or nothing can be done. NULL: nothing is ever pending.
     */
    latch_status (*settle)(latch_store *store, latch_op *op, int64_t now_ns);
    /* latch_store_identity(); may be NULL */
    const char *(*identity)(const latch_store *store);

    /*
     * Starts op->request on op->lease; called for each attempt, as op.c repeats it when polling.
     * op.c applies the outcome to lease->mode and deadline. A store that waits by itself returns
     * LATCH_WANT_* and sets op->state; others return LATCH_CONFLICT. LATCH_INSPECT and LATCH_LIST
     * acquire nothing, ignore the hold of the lease, and return LATCH_DONE with
     * *op->request.reports set; LATCH_LIST comes only with the capability LATCH_LISTING,
     * LATCH_EVICT with LATCH_HOLDER_INFO, LATCH_CALL with LATCH_CALLS: it sets
     * op->request.call->answer, and ignores the lease but for its resource.
     */
    latch_status (*begin)(latch_op *op);
    /* The next step; called only after begin() or step() returned LATCH_WANT_*. NULL if never. */
    latch_status (*step)(latch_op *op, int64_t now_ns);
    /*
     * Cancels the request in flight: LATCH_CONFLICT when nothing was granted, LATCH_DONE when the
     * grant had come already (the lease is held then), LATCH_WANT_* when more steps are needed.
     */
    latch_status (*cancel)(latch_op *op);
    /*
     * Describes an outage in op->error, before cancel(): the deadline of an acquire has passed, and
     * the store has not set op->contended. A store with this function sets op->contended whenever
     * it learns of another holder; without that an acquire with a deadline never ends in
     * LATCH_CONFLICT. NULL: a wait in this store proves another holder.
     */
    void (*outage)(const latch_op *op, int64_t now_ns);
    /*
     * Abandons what is in flight at once, whatever its outcome; a hold counts on. A release in
     * flight becomes a pending release of the store. NULL: impossible, so that the operation must
     * be stepped to its end.
     */
    void (*abandon)(latch_op *op);
    /* abandon() is for the renewal thread alone: other operations are awaited to their end, and
     * latch_op_detach() says false. */
    bool is_awaited;
    /* latch_op_descriptors(), for LATCH_WANT_IO with an fd of -1; NULL: never. */
    size_t (*descriptors)(const latch_op *op, struct pollfd *descriptors, size_t max);
    /* The certain deadline after an acquire or a renewal. NULL: sent_ns and the TTL. */
    int64_t (*deadline)(const latch_op *op);

    /* Is the lease held, apart from its deadline, without I/O? NULL: while it has a mode. */
    bool (*held)(const latch_lease *lease);
    /* Only the caller knows the state of this store: a lease may be held, whatever its mode. */
    bool may_hold_unknown;
    /* May another lease of the same holder have the lease's token? NULL: always. */
    bool (*shares_token)(const latch_lease *lease);
    /*
     * Latest possible start of the store's server; INT64_MIN: not known yet; LATCH_NEVER: never
     * known. The first call makes the store query it. NULL: as LATCH_NEVER.
     */
    int64_t (*server_start_ns)(latch_store *store);
    /*
     * Assigns a fresh or shared token to a lease that is not held. NULL: latch_lease_set_token()
     * will do.
     */
    latch_status (*assign_token)(latch_lease *lease, const char *token, latch_error *error);
    /* Replaces a spent token: the owner stays. Given by stores with LATCH_OWNERS, else NULL. */
    latch_status (*renew_token)(latch_lease *lease, latch_error *error);
    /* Frees lease->state without releasing; may take lease->token over. May be NULL. */
    void (*drop)(latch_lease *lease);

    /*
     * Clones the store, with connections of its own, for the renewal thread, which drives leases in
     * it by LATCH_REFRESH and their tokens alone. NULL: no renewal by a thread.
     */
    latch_store *(*clone)(const latch_store *store, latch_error *error);
    /* Corks the store: while on, requests may be held back, to be sent in one batch. May be NULL.
     */
    void (*cork)(latch_store *store, bool on);
    /* The renewal thread has renewed the lease. NULL: lease->deadline_ns is all to update. */
    void (*sync_deadline)(latch_lease *lease, int64_t deadline_ns);
    /*
     * Fills `watch` for a held lease of a store whose locks do not expire; the watch ends before
     * the lease is released or dropped. False: it cannot be lost, or the loss cannot be detected.
     * NULL: no lease of this store can be lost.
     */
    bool (*watch)(const latch_lease *lease, latch_watch *watch);
    /* Why its leases can neither be renewed nor watched by a thread; NULL: they can. */
    const char *(*renewal_unsupported_reason)(const latch_store *store);
    const latch_composite *composite; /* NULL: its leases have no parts */
} latch_store_class;

struct latch_store {
    const latch_store_class *class;
    const latch_store_info *info; /* the class's, or the store's own */
    latch_engine *engine;
    latch_breaker breaker;
    bool is_settled;                           /* drained: about to be closed */
    size_t unacknowledged;                     /* releases in flight without a waiting operation */
    struct latch_renewal_store *renewal_store; /* the renewal thread's clone; NULL: none yet */
};

/*
 * Allocates a store of that class, zeroed but for the common part. Closed by latch_store_close()
 * once it is opened, else freed by latch_free(). NULL when memory ran out.
 */
latch_store *latch_store_make(latch_engine *engine, const latch_store_class *class,
                              latch_error *error);

/*
 * The same, opened with options: the class's open() is called. Closed by latch_store_close(). NULL
 * and `error` on failure.
 */
latch_store *latch_store_open_as(latch_engine *engine, const latch_store_class *class,
                                 const latch_store_options *options, latch_error *error);

/* Deadline of a request that was sent at `sent_ns`; LATCH_NEVER: the store's locks do not expire.
 */
static inline int64_t latch_store_deadline(const latch_store *store, int64_t sent_ns,
                                           int64_t ttl_ms)
{
    return ttl_ms == 0 || (store->info->capabilities & LATCH_EXPIRING) == 0
               ? LATCH_NEVER
               : latch_add_ns(sent_ns, latch_ms_to_ns(ttl_ms));
}

#endif
