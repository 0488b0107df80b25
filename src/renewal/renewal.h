/*
 * Inside the renewal: renewal.c (what is kept, until when, and whether it is lost),
 * thread.c and tick.c (what its thread does) and store_clone.c (by which stores).
 *
 * Three kinds of threads meet here: those of the leases' users, who begin requests on them; the
 * renewal thread; and whoever forks. What they share is guarded by one mutex, which is held for
 * moments only: no request is sent under it.
 *
 * A renewal never makes a hold shorter (latch_request.extend). So it does not matter in which order
 * it and a request of the lease's user reach the server, and a renewal that comes late, behind a
 * release and an acquire by the same token, does no harm: of what a lease is certain is decided
 * here, by when each command was sent and with which TTL.
 */
#ifndef LATCH_RENEWAL_H
#define LATCH_RENEWAL_H

#include "src/base/hash.h"
#include "src/engine/observer.h"
#include "src/engine/store.h"

#include <semaphore.h>

/* A store that the renewal thread drives in the place of its users'. */
typedef struct latch_twin {
    latch_link link; /* in renewer->twins */
    latch_store *store;
    char *identity;      /* shared by the stores that have the same; NULL: one store's */
    size_t users;        /* stores and renewals; nobody: the thread closes it */
    unsigned generation; /* of the process whose it is */

    unsigned failures; /* pauses in a row */
    int64_t retry_ns;  /* when what has failed is tried again, together */

    /* The renewal thread's. */
    latch_link active;      /* in renewer->active */
    latch_link due, flight; /* renewals that are to be sent, and that were, in that order */
    bool is_active, is_due;
} latch_twin;

typedef enum {
    LATCH_RENEWAL_IDLE, /* not held */
    LATCH_RENEWAL_HELD,
    LATCH_RENEWAL_LOST, /* it was held, and is not any more: until it is acquired again */
} latch_renewal_state;

typedef struct latch_renewal {
    latch_node node; /* in renewer->table, by the lease's address */
    latch_link link; /* in renewer->renewals */
    latch_link mail; /* in mailbox->losses while the loss is to be read, else alone */
    struct latch_renewer *renewer;
    latch_lease *lease; /* not to be touched once it is removed */
    latch_mailbox *mailbox;
    latch_twin *twin; /* NULL: it is watched only */
    latch_keep keep;
    latch_renewal_state state;
    unsigned epoch;      /* what was sent in another one does not count */
    unsigned fork_count; /* of the engine when the hold began */
    bool inherit;        /* as the lease's then */
    bool is_removed;     /* the lease is gone; the thread frees it */
    bool is_in_flight;   /* the thread has it in hand */
    bool was_in_flight;  /* twin_lease is the thread's to free */
    int64_t deadline_ns; /* the hold is certain before it; lost: when it ended at the latest */
    int64_t ttl_ms;      /* of the last request; the shortest of those that may be on their way */
    int64_t due_ns;      /* when it is to be renewed next; LATCH_NEVER: not at all */
    int64_t begun_ns;    /* when the hold began, for all that is known */
    int64_t end_ns;      /* not to be held beyond it */
    unsigned failures;   /* in a row */
    char reason[sizeof(((latch_loss *) NULL)->reason)]; /* the last failure's, or the loss's */
    latch_watch watch;
    bool is_watched;

    /* The renewal thread's, while it is in flight. */
    latch_link flight; /* in twin->due, then in twin->flight */
    latch_lease *twin_lease;
    latch_op op;
    latch_status status;
    latch_error error;
    unsigned sent_epoch;
    int64_t sent_ttl_ms;

    size_t leaf_count;
    char tokens[][LATCH_TOKEN_MAX + 1]; /* of the lease, or of those that it is made of */
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
    /* The thread has it while it does anything but sleep: a fork comes between its turns, and finds
       neither its memory nor the allocator in the middle of something. Comes before: */
    pthread_mutex_t turn;
    pthread_mutex_t mutex; /* guards what follows, but for what is said to be the thread's */
    latch_table table;     /* of latch_renewal, by their leases' addresses */
    latch_link renewals, mailboxes, twins;
    latch_link removed;    /* renewals whose leases are gone, for the thread to free */
    latch_descriptor wake; /* an eventfd; -1: there is no thread */
    pthread_t thread;
    sem_t started; /* posted by the thread when it is there */
    bool is_stopping;
    int64_t wake_ns;       /* when the thread looks around by itself */
    int64_t next_watch_ns; /* when it looks after those that are watched: part of that */
    latch_link forgotten;  /* twins that a fork has copied, to which stores still point */

    /* The renewal thread's. */
    latch_link active; /* of latch_twin: those that have something due, or on its way */
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

/* The lease is held no more; the reason is a clause. */
void latch_renewal_lose(latch_renewal *renewal, int64_t now_ns, const char *reason);
/* The same if its time is over. */
void latch_renewal_lose_if_over(latch_renewal *renewal, int64_t now_ns);
/* Brings what its lease notes up to date. */
void latch_renewal_follow(latch_renewal *renewal, int64_t now_ns);
/* When it is to be renewed next, for all that is known now. */
void latch_renewal_plan(latch_renewal *renewal, int64_t now_ns);
/* When to look after it: at its renewal, or its end. */
int64_t latch_renewal_wake_ns(const latch_renewal *renewal);
void latch_renewal_free(latch_renewal *renewal);

/* ---- store_clone.c -------------------------------------------------------------------------- */

/* The store's twin, opened if need be, with a user more; with the mutex held. NULL on failure. */
latch_twin *latch_twin_get(latch_renewer *renewer, latch_store *store, latch_error *error);
/* The thread's: closes those that nobody uses. */
void latch_twins_close_unused(latch_renewer *renewer);
void latch_twin_close(latch_renewer *renewer, latch_twin *twin);
/* Has it the parts that its store asks for, and have they? */
bool latch_lease_has_parts(const latch_lease *lease);
/* The leases that one in a combined store is made of in the end, each once; or the lease itself. */
size_t latch_lease_leaves(latch_lease *lease, latch_lease **leaves, size_t max);
/* A lease in the twin that is made like `like`; NULL when memory ran out. */
latch_lease *latch_twin_lease_make(latch_twin *twin, const latch_lease *like);
void latch_twin_lease_free(latch_lease *lease);

/* ---- tick.c -------------------------------------------------------------------------- */

/* One turn of the thread. */
void latch_renewer_turn(latch_renewer *renewer, bool has_watch_ended);
void latch_renewals_free_removed(latch_renewer *renewer);
/* Frees what is on its way for leases that are gone: no turn will end it. */
void latch_renewals_abandon(latch_renewer *renewer);

/* ---- thread.c ------------------------------------------------------------------------ */

/* The engine's; its thread is started later. */
latch_status latch_renewer_make(latch_engine *engine, latch_error *error);
/* Sees that there is a thread; with the mutex held. */
latch_status latch_renewer_start(latch_renewer *renewer, latch_error *error);
/* Makes the thread look around. */
void latch_renewer_wake(latch_renewer *renewer);

#endif
