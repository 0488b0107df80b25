/*
 * The inside of the Redis store: store.c (the store, and where requests begin and end), request.c
 * (a request, step by step), rollback.c (compensation for requests of unknown outcome), token.c
 * (whose hold it is), wait.c (when those who wait ask), subscription.c (messages to them),
 * pending_release.c (releases that nobody awaits), inspect.c (who holds), quorum_probe.c (what
 * combined stores have to know), client_object.c (a client of the user's as transport).
 */
#ifndef LATCH_REDIS_H
#define LATCH_REDIS_H

#include "src/store/redis/lock/client_object.h"
#include "src/store/redis/lock/info.h"
#include "src/store/redis/lock/subscription.h"
#include "src/store/redis/script/errors.h"
#include "src/store/redis/script/reply.h"
#include "src/store/redis/script/script.h"
#include "src/store/redis/topology/route.h"
#include "src/store/redis/topology/sentinel.h"

extern const char latch_redis_state_name[];

typedef struct redis_store {
    latch_store store;
    redis_options options;
    redis_keyspace keys;
    redis_scripts scripts;
    redis_topology topology;
    redis_object object; /* the transport of the only server, in a store on a client object */
    redis_subscription subscription;
    redis_sentinel sentinel; /* for both connections, if the DSN names Sentinels */
    bool is_member;          /* of a combined store */
    int64_t started_ns;      /* a server, at the latest; INT64_MIN: nobody knows */
    latch_link debts;        /* unpaid: those that are on their way are their calls' */
    unsigned generation;     /* of the process whose debts they are */
    int64_t last_payment_ns; /* before the store is closed; */
    size_t vain_payments;    /* and how often there was no server for it, in a cluster */
} redis_store;

/* lease->state: whose the token is. */
typedef struct redis_hold {
    unsigned generation; /* of the process that may use it */
    unsigned fork_count; /* of the engine when the lock was acquired or renewed */
    bool adopted;        /* it came with a key: the lock may be held by it already */
    bool spent;          /* a release by it may still be on its way: for no other hold */
    int64_t deadline_ns; /* the lease's, before the last command was sent */
    redis_wait wait;
    redis_route route; /* of the request that is on its way, in a cluster */
} redis_hold;

/* op->flags */
enum {
    REDIS_SENT = 1,
    REDIS_LOST_BEFORE = 2,
    REDIS_AS_TEXT = 4,
    REDIS_SPENT_BEFORE = 8,
    REDIS_TRIED = 16,   /* a request that waits: without waiting, first */
    REDIS_TROUBLE = 32, /* the connection or the server failed, as they may for a while */
};

static inline redis_store *latch_redis_store_of(const latch_op *op)
{
    return (redis_store *) op->lease->store;
}

static inline redis_store *latch_redis_store_at(const redis_node *node)
{
    return LATCH_CONTAINER(node->topology, redis_store, topology);
}

static inline bool latch_redis_acquires(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED;
}

/* The server that the request is sent to. NULL: none was chosen yet. */
static inline redis_node *latch_redis_node_of(const latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    const redis_hold *hold = op->lease->state;

    return store->topology.cluster == NULL ? &store->topology.single
           : hold != NULL                  ? hold->route.node
                                           : NULL;
}

static inline bool latch_redis_has_object(const redis_store *store)
{
    return store->object.runner.run != NULL;
}

/* ---- request.c */

/* op->state of a request of which nothing is on its way yet. */
static inline void *latch_redis_unsent(redis_store *store)
{
    return store;
}

static inline bool latch_redis_is_sent(const latch_op *op)
{
    return op->state != latch_redis_unsent(latch_redis_store_of(op));
}

/* Sends the request, unless that has been done, and looks after its reply. */
latch_status latch_redis_advance(latch_op *op, int64_t now_ns);
/*
 * A release that nobody awaits is a debt. If it cannot be sent now its caller hears of that, and it
 * stays a debt.
 */
latch_status latch_redis_detach(latch_op *op, int64_t now_ns);
/* What was sent is lost. Once it is sent again: all that it asks for is a state. */
bool latch_redis_count_loss(latch_op *op);
/* The end of a request that was lost twice, or not answered in time, by that server. */
latch_status latch_redis_fail_lost(latch_op *op, const redis_node *node);
latch_status latch_redis_fail_overdue(latch_op *op, redis_node *node);
/* The error of a request that the server has answered by that one. */
latch_status latch_redis_fail_with_reply(latch_op *op, redis_node *node, const char *answer);
/* The server answered, but not as our script does. */
latch_status latch_redis_fail_confused(latch_op *op, redis_node *node);
/* Sends a script on a READY connection. NULL when memory ran out. */
redis_call *latch_redis_send_script(redis_node *node, const redis_order *order,
                                    const redis_target *target, int64_t now_ns);
/* For the store's class. */
void latch_redis_outage(const latch_op *op, int64_t now_ns);

/* ---- rollback.c */

/* The holder's lock, and its place in the queue. */
static inline redis_target latch_redis_target_of(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return (redis_target){
        .resource = lease->resource,
        .length = lease->resource_length,
        .token = lease->token,
        .ticket = hold->wait.ticket,
    };
}
/*
 * The request is over, and nobody knows whether the server has carried it out: the reply is lost,
 * or will be heard by nobody, or the script failed in its middle; or it waits for a lock no longer.
 * A lock that may have been granted, or may not have been released, is given back; one that may
 * have been demoted counts as shared.
 */
void latch_redis_make_good(latch_op *op, int64_t now_ns);
/* It was to make a writer of a reader, who is that still. */
bool latch_redis_promotes(const latch_op *op, int64_t now_ns);
/* Makes a writer a reader again, behind the command that may have promoted it. False: it could not
 * be sent. */
bool latch_redis_send_demotion(latch_op *op, int64_t now_ns);
/* The lock is to be given back, whenever that can be. False when memory ran out. */
bool latch_redis_owe_release(latch_op *op, int64_t now_ns);
/* Until when a lock is to be given back: it has expired by itself then. */
int64_t latch_redis_debt_end(const latch_lease *lease, int64_t now_ns);

/* ---- token.c */

/* A command is on its way that may make the hold shorter as soon as it arrives. */
void latch_redis_note_ttl(latch_op *op, int64_t now_ns);
/* Not held from the moment at which the command may arrive, whatever comes of it. */
void latch_redis_note_release(latch_lease *lease);
/* The server has said that the lease is held in that mode. */
void latch_redis_note_mode(latch_lease *lease, latch_mode mode);
/* Is the lease's token another process's? */
bool latch_redis_is_foreign(const latch_lease *lease);
/*
 * Sees that the lease has a token of this process's. LATCH_CONFLICT: it has none, and the request
 * needs one that it had before.
 */
latch_status latch_redis_claim_token(latch_op *op);
/*
 * What a fork has left of a hold that was meant to be handed on. While it lasts, it may be another
 * process's by now: a request that fails must not give it back. When it has expired, each process
 * is a holder of its own.
 */
void latch_redis_sort_out_inheritance(latch_op *op);
/* For the store's class. */
bool latch_redis_held(const latch_lease *lease);
bool latch_redis_shares_token(const latch_lease *lease);
latch_status latch_redis_take_token(latch_lease *lease, const char *token, latch_error *error);
void latch_redis_drop(latch_lease *lease);

/* ---- wait.c */

/*
 * What a request that waits has to do next, while nothing is on its way. LATCH_DONE: be sent, in
 * its manner. LATCH_WANT_*: wait. LATCH_CONFLICT: it cannot wait here.
 */
latch_status latch_redis_wait(latch_op *op, int64_t now_ns);
/* It has to wait, as a script says. The same; REDIS_AGAIN: it does. */
latch_status latch_redis_wait_on(latch_op *op, int64_t place, int64_t ms, int64_t now_ns);
/* The request was sent. */
void latch_redis_wait_sent(latch_op *op);
/* How its next request asks. */
uint8_t latch_redis_manner(const latch_lease *lease);
/* May it be in the queue? */
static inline bool latch_redis_is_queued(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return hold != NULL && hold->wait.ticket != 0;
}
/* It waits no longer; the server may have to be told (latch_redis_owe()). */
void latch_redis_leave_wait(latch_lease *lease);
/* The same, if it does wait. */
static inline void latch_redis_wait_end(latch_lease *lease)
{
    const redis_store *store = (const redis_store *) lease->store;

    if (store->subscription.subscriber == lease || latch_redis_is_queued(lease)) {
        latch_redis_leave_wait(lease);
    }
}
/* It could not ask, as from then on, or for longer. */
void latch_redis_wait_fails_since(latch_op *op, int64_t since_ns);
/* It could not ask: whether it shall try again, at op->wake_ns, as it shall for a while. */
bool latch_redis_outlives(latch_op *op, int64_t now_ns);
/* On a READY connection, now and then, the more seldom the more wait: are there peers? */
void latch_redis_ask_for_peers(redis_node *node, int64_t now_ns);

/* ---- client_object.c */

/* The store is on that client from now on, which is the store's to close. */
void latch_redis_use_object(redis_store *store, const latch_redis_runner *runner);
/* Before the store is closed, by such a client. */
void latch_redis_pay_at_last(redis_store *store);
/* For the store's class. */
const char *latch_redis_renewal_unsupported_reason(const latch_store *base);

/* ---- quorum_probe.c */

/* On a READY connection: asks what a combined store has to know of its server, if it is its. */
void latch_redis_ask_member(redis_node *node, int64_t now_ns);
/* The server has the script of releases. */
void latch_redis_note_script(redis_node *node);
/* Nobody may be there to send it once more, as text. */
bool latch_redis_may_lack_script(const redis_node *node, redis_script_id id);
/* For the store's class: when was the server started? */
int64_t latch_redis_server_start_ns(latch_store *base);

/* ---- inspect.c */

/* Is it a request about other holders, which has an `op->state` of its own? */
static inline bool latch_redis_is_inquiry(const latch_op *op)
{
    return op->request.kind == LATCH_INSPECT || op->request.kind == LATCH_LIST
           || op->request.kind == LATCH_EVICT;
}
/* For the store's class, of those. */
latch_status latch_redis_inquire(latch_op *op, int64_t now_ns);
void latch_redis_inquiry_end(latch_op *op);

/* ---- pending_release.c */

void latch_redis_debts_init(redis_store *store);
/*
 * For the store's class: pays what is owed and awaits the answers. A server that cannot write its
 * answers gives a client up, with all that it has not read yet.
 */
latch_status latch_redis_settle_debts(latch_store *base, latch_op *op, int64_t now_ns);
/* To be called when the connection has ended. */
void latch_redis_debts_end(redis_store *store);
/*
 * Takes it upon the store to give a lock back, if it is held by that token, and to wait for it no
 * longer: as soon as it is connected, and anew whenever a connection was lost before the server has
 * answered, or the server could not just then. By `end_ns` the lock has expired by itself. The
 * token must not be used for anything else any more. False when memory ran out.
 */
bool latch_redis_owe(redis_store *store, const redis_target *target, int64_t end_ns);
/* The same of a release that was sent, and is not answered yet. */
bool latch_redis_owe_answer(redis_node *node, redis_call *call, const redis_target *target,
                            int64_t end_ns);
/* Is all on its way that was owed? */
static inline bool latch_redis_is_debtless(const redis_store *store)
{
    return store->debts.next == &store->debts;
}
/*
 * Sends what is owed, without awaiting answers, if there is a READY connection: as much as a server
 * that does not answer can be sent, and what concerns the lease's lock in any case; NULL: none.
 */
void latch_redis_pay(redis_store *store, const latch_lease *lease, int64_t now_ns);

#endif
