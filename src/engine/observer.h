/*
 * Observer of leases: how the engine tells the layer above, which renews leases and learns of their
 * loss (renewal/), what happens to a lease that is `observed`, and to a store that has a
 * `renewal_store`.
 */
#ifndef LATCH_OBSERVER_H
#define LATCH_OBSERVER_H

#include "src/base/base.h"

typedef struct latch_lease_observer {
    /* The operation's request is about to be sent. */
    void (*before)(latch_op *op, int64_t now_ns);
    /* The operation has ended, and its outcome is recorded on the lease. */
    void (*after)(const latch_op *op, latch_status status);
    /* The engine is about to read the lease's deadline: bring it up to date. */
    void (*sync)(latch_lease *lease, int64_t now_ns);
    /* The lease is about to be dropped. */
    void (*drop)(latch_lease *lease);
    /* The store is about to be closed. */
    void (*close_store)(latch_store *store);
} latch_lease_observer;

#endif
