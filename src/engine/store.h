/*
 * What a store is to the engine: a constant class of functions plus private state. A new back end
 * is a folder that defines a latch_store_class, and one line in src/store/stores.def.
 */
#ifndef LATCH_STORE_H
#define LATCH_STORE_H

#include "src/engine/internal.h"

/*
 * What tells the renewal thread that a lease is lost that does not expire: either a descriptor that
 * ends, or a question. Zeroed before class->watch() fills it.
 */
typedef struct latch_watch {
    /* Polled for its end (POLLRDHUP), never read; other watches may have the same. NULL: none. */
    const latch_descriptor *descriptor;
    /* Asked each second, in the renewal thread; NULL: never. It must not block. */
    bool (*is_gone)(const struct latch_watch *watch);
    void *state; /* touched by these two functions alone */
    /* Frees it, in any thread; NULL: latch_free() does. */
    void (*end)(latch_engine *engine, void *state);
} latch_watch;

typedef struct latch_store_class {
    latch_store_info info;
    size_t size; /* of the private structure, which begins with a latch_store */

    /* Fills the zeroed private part. On failure nothing stays allocated. May be NULL. */
    latch_status (*open)(latch_store *store, const latch_store_options *options,
                         latch_error *error);
    void (*close)(latch_store *store); /* may be NULL */
    /*
     * Before close(): moves on what the store owes its server, releases that nobody has awaited.
     * LATCH_WANT_*: `op` says when to call it again (its error is of no interest); anything else:
     * nothing is owed any more, or nothing can be done about it. NULL: nothing ever is owed.
     */
    latch_status (*settle)(latch_store *store, latch_op *op, int64_t now_ns);
    /* latch_store_identity(); may be NULL */
    const char *(*identity)(const latch_store *store);

    /*
     * Starts op->request on op->lease, once for each attempt: op.c repeats it when it polls. The
     * outcome's effect on lease->mode and deadline is noted by op.c. A store that waits by itself
     * answers LATCH_WANT_* and sets op->state; one that does not answers LATCH_CONFLICT.
     * LATCH_INSPECT and LATCH_LIST take nothing, look at no hold of the lease, and answer
     * LATCH_DONE with *op->request.findings set; LATCH_LIST comes to those with LATCH_LISTING, and
     * LATCH_EVICT to those with LATCH_NOTES.
     */
    latch_status (*begin)(latch_op *op);
    /* Moves it on; called only after begin() or step() answered LATCH_WANT_*. NULL if never. */
    latch_status (*step)(latch_op *op, int64_t now_ns);
    /*
     * Gives up what is in flight: LATCH_CONFLICT when nothing was taken, LATCH_DONE when the
     * grant had come already (the lease is held then), LATCH_WANT_* when it takes more steps.
     */
    latch_status (*cancel)(latch_op *op);
    /*
     * The deadline of an acquire has come, and the store has not set op->contended: describes in
     * op->error what the server has failed to do, before cancel() is called. A store with an outage
     * sets op->contended whenever it learns that another holder has the lock; without that no
     * conflict counts as one for an acquire that has a deadline. NULL: whoever waits in this store
     * knows that the lock is held.
     */
    void (*outage)(const latch_op *op, int64_t now_ns);
    /*
     * Forgets what is in flight, at once, whatever comes of it; what is held counts on. But a
     * release is the store's to bring about. NULL: that cannot be, and so nobody may go away before
     * the operation has ended.
     */
    void (*abandon)(latch_op *op);
    /* latch_op_descriptors(), for LATCH_WANT_IO with an fd of -1; NULL: never. */
    size_t (*descriptors)(const latch_op *op, struct pollfd *descriptors, size_t max);
    /* Until when the lease is held for certain that was acquired or renewed. NULL: for its TTL. */
    int64_t (*deadline)(const latch_op *op);

    /* Is the lease held, but for its deadline, without I/O? NULL: while it has a mode. */
    bool (*held)(const latch_lease *lease);
    /* May another lease of the same holder have the lease's token? NULL: always. */
    bool (*shares_token)(const latch_lease *lease);
    /*
     * When the store's server was started, at the latest; INT64_MIN: not known yet; LATCH_NEVER: it
     * does not tell. The store finds out from the first call on. NULL: as LATCH_NEVER.
     */
    int64_t (*started)(latch_store *store);
    /*
     * Gives a lease that is not held a token that is nobody's yet but other leases' of the same
     * holder. NULL: latch_lease_adopt_token() will do.
     */
    latch_status (*take_token)(latch_lease *lease, const char *token, latch_error *error);
    /* Frees lease->state without releasing; may take lease->token over. May be NULL. */
    void (*drop)(latch_lease *lease);

    /*
     * A store of its own, opened as this one was, for the renewal thread, which drives its leases
     * by LATCH_REFRESH and their tokens alone. NULL: its leases cannot be renewed by a thread.
     */
    latch_store *(*twin)(const latch_store *store, latch_error *error);
    /* While it is on, what is begun may be kept back, to be sent together. May be NULL. */
    void (*gather)(latch_store *store, bool on);
    /* The lease was renewed until then, by its twin. NULL: lease->deadline_ns is all there is. */
    void (*follow)(latch_lease *lease, int64_t deadline_ns);
    /*
     * Fills `watch` for a lease that is held, in a store whose locks do not expire; it will end
     * before the lease is released or dropped. False: it cannot be lost, or that cannot be known.
     * NULL: a lease of this store cannot be lost.
     */
    bool (*watch)(const latch_lease *lease, latch_watch *watch);
    /* Why its leases can neither be renewed nor watched by a thread; NULL: they can. */
    const char *(*refusal)(const latch_store *store);
} latch_store_class;

/* Of a server that lets those wait in vain who ask it: all zero of one that does not. */
typedef struct latch_silence {
    int64_t avoided_until_ns; /* it is not asked until then */
    int64_t pause_ns;         /* for so long */
} latch_silence;

struct latch_store {
    const latch_store_class *class;
    const latch_store_info *info; /* the class's, or the store's own */
    latch_engine *engine;
    latch_silence silence;
    bool is_settled;         /* it is about to be closed, and has had its time to settle */
    size_t unheard;          /* releases on their way whose answers nobody awaits */
    struct latch_twin *twin; /* by which the renewal thread renews; NULL: by none yet */
};

/* The server has let somebody wait in vain, who had asked then. Of one silence many may tell. */
void latch_note_silence(latch_silence *silence, int64_t asked_ns, int64_t now_ns);

/*
 * A store of that class, with nothing but the part that all have. Closed by latch_store_close() if
 * its opening goes well, else freed by latch_free(). NULL when memory ran out.
 */
latch_store *latch_store_make(latch_engine *engine, const latch_store_class *class,
                              latch_error *error);

/* An error that took that long was a time-out. */
#define LATCH_SILENCE_NS (50 * LATCH_NS_PER_MS)

/* Until when the store holds what it was asked for then; LATCH_NEVER: its locks do not expire. */
int64_t latch_store_deadline(const latch_store *store, int64_t sent_ns, int64_t ttl_ms);

/* Of a lease in a store whose locks do not expire: was it held, until the watch on it told that it
 * is lost? It may be acquired anew then. */
bool latch_lease_was_lost(const latch_lease *lease);

#define LATCH_STORE(store) extern const latch_store_class latch_##store##_store;
#include "src/store/stores.def"
/* Not listed: functions of the engine's user. */
extern const latch_store_class latch_callback_store;

#endif
