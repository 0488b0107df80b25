/*
 * What a store is to the engine: a constant class of functions plus private state. A new back end
 * is one file that defines a latch_store_class, and one line in registry.c.
 */
#ifndef LATCH_STORE_H
#define LATCH_STORE_H

#include "../internal.h"

typedef struct latch_store_class {
    latch_store_info info;
    size_t size; /* of the private structure, which begins with a latch_store */

    /* Fills the zeroed private part. On failure nothing stays allocated. May be NULL. */
    latch_status (*open)(latch_store *store, const latch_store_options *options,
                         latch_error *error);
    void (*close)(latch_store *store); /* may be NULL */
    /* latch_store_identity(); may be NULL */
    const char *(*identity)(const latch_store *store);

    /*
     * Starts op->request on op->lease, once for each attempt: op.c repeats it when it polls. The
     * outcome's effect on lease->mode and deadline is noted by op.c. A store that waits by itself
     * answers LATCH_WANT_* and sets op->state; one that does not answers LATCH_CONFLICT.
     * LATCH_INSPECT and LATCH_LIST take nothing, look at no hold of the lease, and answer
     * LATCH_DONE with *op->request.findings set; LATCH_LIST comes to those with LATCH_LISTING.
     */
    latch_status (*begin)(latch_op *op);
    /* Moves it on; called only after begin() or step() answered LATCH_WANT_*. NULL if never. */
    latch_status (*step)(latch_op *op, int64_t now_ns);
    /*
     * Gives up what is in flight: LATCH_CONFLICT when nothing was taken, LATCH_DONE when the
     * grant had come already (the lease is held then), LATCH_WANT_* when it takes more steps.
     */
    latch_status (*cancel)(latch_op *op);

    /* Is the lease held, but for its deadline, without I/O? NULL: while it has a mode. */
    bool (*held)(const latch_lease *lease);
    /* May another lease of the same holder have the lease's token? NULL: always. */
    bool (*shares_token)(const latch_lease *lease);
    /* Frees lease->state without releasing; may take lease->token over. May be NULL. */
    void (*drop)(latch_lease *lease);
} latch_store_class;

struct latch_store {
    const latch_store_class *class;
    latch_engine *engine;
};

extern const latch_store_class latch_flock_store;
extern const latch_store_class latch_memory_store;
extern const latch_store_class latch_mysql_store;
extern const latch_store_class latch_null_store;
extern const latch_store_class latch_postgresql_store;
extern const latch_store_class latch_redis_store; /* in builds with hiredis */
extern const latch_store_class latch_semaphore_store;

#endif
