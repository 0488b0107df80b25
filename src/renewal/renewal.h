/*
 * Inside the renewal: renewal.c (a record per renewed lease, its state machine and losses),
 * thread.c (lifecycle and event loop of the thread), tick.c (one run of it) and store_clone.c (the
 * stores that it drives).
 *
 * Three kinds of threads meet here: PHP threads, which begin requests on their leases; the renewal
 * thread; and a thread that forks. One mutex guards their common data, and is held for moments
 * only: no request is sent under it.
 *
 * Renewals are idempotent and never shorten a hold (latch_request.extend). So their order with
 * requests of a PHP thread does not matter, and a late renewal, behind a release and an acquire by
 * the same token, does no harm: the certain deadline is computed here, from the time at which each
 * command was sent and from its TTL.
 */
#ifndef LATCH_RENEWAL_H
#define LATCH_RENEWAL_H

#include "src/base/hash.h"
#include "src/engine/observer.h"
#include "src/engine/store.h"

#include <semaphore.h>

/* Clone of a store, driven by the renewal thread in the place of the original. */
typedef struct latch_renewal_store {
    latch_link link; /* in renewer->clones */
    latch_store *store;
    char *identity;      /* shared by all stores of this identity; NULL: by one store */
    size_t users;        /* reference count, of stores and renewals; at 0 the thread closes it */
    unsigned generation; /* of the process that opened it */

    unsigned failures; /* pauses in a row */
    int64_t retry_ns;  /* end of the current pause: all that failed are retried then */

    /* The renewal thread's. */
    latch_link active;      /* in renewer->active */
    latch_link due, flight; /* renewals that are to be sent, and in flight in order of sending */
    bool is_active, is_due;
} latch_renewal_store;

typedef enum {
    LATCH_RENEWAL_IDLE, /* not held */
    LATCH_RENEWAL_HELD,
    LATCH_RENEWAL_LOST, /* until it is acquired again */
} latch_renewal_state;

typedef struct latch_renewal {
    latch_hash_node node; /* in renewer->table, by the lease's address */
    latch_link link;      /* in renewer->renewals */
    latch_link mail;      /* in mailbox->losses while the loss is to be read, else alone */
    struct latch_renewer *renewer;
    latch_lease *lease; /* not to be touched once it is removed */
    latch_mailbox *mailbox;
    latch_renewal_store *clone; /* NULL: it is watched only */
    latch_renewal_spec spec;
    latch_renewal_state state;
    unsigned epoch;      /* number of the hold: outcomes of other epochs are ignored */
    unsigned fork_count; /* of the engine when the hold began */
    bool inherit;        /* of the lease, when the hold began */
    bool is_removed;     /* the lease is gone; the thread frees the record */
    bool is_in_flight;   /* queued or sent by the thread */
    bool was_in_flight;  /* clone_lease is the thread's to free */
    int64_t deadline_ns; /* the hold is certain before it; lost: the latest end of the hold */
    int64_t ttl_ms;      /* of the last request; the shortest of those in flight */
    int64_t due_ns;      /* next renewal; LATCH_NEVER: none */
    int64_t begun_ns;    /* start of the hold, as far as is known */
    int64_t end_ns;      /* no renewal beyond it: begun_ns and max_hold_ms */
    unsigned failures;   /* in a row */
    char reason[sizeof(((latch_loss *) NULL)->reason)]; /* the last failure's, or the loss's */
    latch_watch watch;
    bool is_watched;

    /* The renewal thread's, while in flight. */
    latch_link flight; /* in clone->due, then in clone->flight */
    latch_lease *clone_lease;
    latch_op op;
    latch_status status;
    latch_error error;
    unsigned sent_epoch;
    int64_t sent_ttl_ms;

    size_t leaf_count, token_room;
    /* Tokens of the lease, or of its leaves: for each the length, an uint16_t, and token_room
     * bytes. */
    char tokens[];
} latch_renewal;

struct latch_mailbox {
    latch_link link; /* in renewer->mailboxes */
    latch_engine *engine;
    void (*notify)(void *context);
    void *context;
    latch_link losses; /* of latch_renewal */
};

typedef struct latch_renewer {
    latch_engine *engine;
    /* Locked by the thread except while it sleeps, so that a fork comes between two runs and finds
       neither these data nor the allocator half changed. Locked before `mutex`. */
    pthread_mutex_t run_mutex;
    pthread_mutex_t mutex; /* guards what follows, except the thread's own part */
    latch_hash table;      /* of latch_renewal, by their leases' addresses */
    latch_link renewals, mailboxes, clones;
    latch_link removed;    /* renewals whose leases are gone, for the thread to free */
    latch_descriptor wake; /* an eventfd; -1: there is no thread */
    pthread_t thread;
    sem_t started; /* posted by the thread once it runs */
    bool is_stopping;
    int64_t wake_ns;       /* next run of the thread, if nothing wakes it before */
    int64_t next_watch_ns; /* next poll of watches without a descriptor; wake_ns counts it in */
    latch_link forgotten;  /* copies that a fork has left; stores may still point to them */

    /* The renewal thread's. */
    latch_link active; /* of latch_renewal_store, with renewals due or in flight */
    struct pollfd *polled;
    size_t polled_count, polled_size;
} latch_renewer;

/* ---- For src/engine.c ------------------------------------------------------------------------ */

void latch_renewer_before_fork(latch_renewer *renewer);
void latch_renewer_after_fork_in_parent(latch_renewer *renewer);
/* To be called after the descriptors were closed. */
void latch_renewer_after_fork_in_child(latch_renewer *renewer);
/* False when its thread does not end, and all must stay as it is. */
bool latch_renewer_destroy(latch_renewer *renewer);

/* ---- renewal.c ------------------------------------------------------------------------------- */

/* The engine's; it takes the mutex itself, as the public functions do. */
extern const latch_lease_observer latch_renewal_observer;

/* All of these with the mutex held. */

/* Transition to lost; the reason is a clause. */
void latch_renewal_lose(latch_renewal *renewal, int64_t now_ns, const char *reason);
/* The same, if the deadline has passed. */
void latch_renewal_lose_if_over(latch_renewal *renewal, int64_t now_ns);
/* Copies the deadline to the lease. */
void latch_renewal_sync_deadline(latch_renewal *renewal, int64_t now_ns);
/* Computes due_ns. */
void latch_renewal_schedule_next(latch_renewal *renewal, int64_t now_ns);
/* The next event of the record: its renewal, or its end. */
int64_t latch_renewal_wake_ns(const latch_renewal *renewal);
void latch_renewal_free(latch_renewal *renewal);
/* The place of a leaf's token. */
static inline char *latch_renewal_token(latch_renewal *renewal, size_t leaf)
{
    return renewal->tokens + leaf * (sizeof(uint16_t) + renewal->token_room);
}

/* ---- store_clone.c -------------------------------------------------------------------------- */

/* The store's clone, opened if need be, with its reference count raised; with the mutex held. NULL
 * on failure. */
latch_renewal_store *latch_renewal_store_get(latch_renewer *renewer, latch_store *store,
                                             latch_error *error);
/* For the thread: closes clones whose reference count is 0. */
void latch_renewal_stores_close_unused(latch_renewer *renewer);
void latch_renewal_store_close(latch_renewer *renewer, latch_renewal_store *clone);
/* Has the lease been joined to its parts, and they to theirs, if its store is a composite? */
bool latch_lease_has_parts(const latch_lease *lease);
/* The leaves of a composite lease, each once; or the lease itself. */
size_t latch_lease_leaves(latch_lease *lease, latch_lease **leaves, size_t max);
/* A lease in the clone with the structure of `like`; NULL when memory ran out. */
latch_lease *latch_clone_lease_make(latch_renewal_store *clone, const latch_lease *like);
void latch_clone_lease_free(latch_lease *lease);

/* ---- tick.c -------------------------------------------------------------------------- */

/* One run of the thread. */
void latch_renewer_run_once(latch_renewer *renewer, bool has_watch_ended);
void latch_renewals_free_removed(latch_renewer *renewer);
/* Frees the records in flight: no run will end their requests. */
void latch_renewals_abandon(latch_renewer *renewer);

/* ---- thread.c ------------------------------------------------------------------------ */

/* Creates the engine's renewer; its thread is started later. */
latch_status latch_renewer_make(latch_engine *engine, latch_error *error);
/* Starts the thread unless it runs; with the mutex held. */
latch_status latch_renewer_start(latch_renewer *renewer, latch_error *error);
/* Wakes the thread for a run. */
void latch_renewer_wake(latch_renewer *renewer);

#endif
