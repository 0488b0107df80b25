/*
 * Inside the Redis store: store.c (the class: begin and end of requests), request.c (state machine
 * of a request), rollback.c (compensation for requests of unknown outcome), token.c (tokens; holds
 * after a fork), wait.c (the wait queue's client side), subscription.c (channel on which waiters
 * are woken), pending_release.c (releases whose replies are not awaited), inspect.c (inspection),
 * quorum_probe.c (server age for combined stores), client_object.c (a PHP client as transport).
 */
#ifndef LATCH_REDIS_H
#define LATCH_REDIS_H

#include "src/engine/op.h"
#include "src/store/redis/function/function.h"
#include "src/store/redis/lock/client_object.h"
#include "src/store/redis/lock/info.h"
#include "src/store/redis/lock/subscription.h"
#include "src/store/redis/script/errors.h"
#include "src/store/redis/script/reply.h"
#include "src/store/redis/script/script.h"
#include "src/store/redis/topology/route.h"
#include "src/store/redis/topology/sentinel.h"

typedef struct redis_store {
    latch_store store;
    const redis_layout *layout; /* of locks */
    redis_options options;
    redis_keyspace keys;
    redis_scripts scripts;
    redis_functions functions; /* of versions, throttles and count-downs */
    redis_topology topology;
    redis_object object; /* the transport of the only server, in a store on a client object */
    redis_subscription subscription;
    redis_sentinel sentinel; /* for both connections, if the DSN names Sentinels */
    bool is_quorum_part;     /* of a combined store */
    int64_t started_ns;      /* latest possible start of its server; INT64_MIN: unknown */
    latch_link pending;      /* queued releases; those in flight belong to their calls */
    unsigned generation;     /* of the process that owes them */
    int64_t last_flush_ns;   /* while the store drains before it is closed */
    size_t failed_flushes;   /* flushes in a row without a server, in a cluster */
} redis_store;

/* lease->state: which process owns the token, and its wait and route. */
typedef struct redis_hold {
    unsigned generation; /* of the process that owns the token */
    unsigned fork_count; /* of the engine when the lock was acquired or renewed */
    bool imported;       /* token of a key that was handed over: may be holding already */
    bool retired;        /* token of a release that may be in flight: not to be used again */
    int64_t deadline_ns; /* the lease's, before the last command was sent */
    redis_wait wait;
    redis_route route;                     /* of the request that is on its way, in a cluster */
    struct redis_pending_release *pending; /* the last one, unless it is done */
    /* The lock's name in Redis: the resource, or "{RESOURCE}" of a semaphore, as Symfony has it. */
    const char *name;
    size_t name_length;
    latch_permits permits; /* of the last acquire */
    char text[];           /* of a semaphore's name */
} redis_hold;

/* op->flags */
enum {
    REDIS_SENT = 1,
    REDIS_LOST_BEFORE = 2,
    REDIS_AS_TEXT = 4,
    REDIS_RETIRED_BEFORE = 8,
    REDIS_TRIED = 16,    /* a waiting request: its first try, without waiting, is over */
    REDIS_TROUBLE = 32,  /* transient failure of the connection or the server */
    REDIS_OWN_HOLD = 64, /* of a call that waits: its hold was made for it */
};

static inline redis_store *latch_redis_store_of(const latch_op *op)
{
    return (redis_store *) op->lease->store;
}

static inline redis_store *latch_redis_store_at(const redis_node *node)
{
    return LATCH_CONTAINER(node->topology, redis_store, topology);
}

/* Server of the request. NULL: none was chosen yet. */
static inline redis_node *latch_redis_node_of(const latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    const redis_hold *hold = op->lease->state;

    return store->topology.cluster == NULL ? &store->topology.single
           : hold != NULL                  ? hold->route.node
                                           : NULL;
}

/* Are its locks strings, whose owner the caller may name? */
static inline bool latch_redis_has_owners(const redis_store *store)
{
    return store->store.class->renew_token != NULL;
}

static inline bool latch_redis_has_object(const redis_store *store)
{
    return store->object.runner.run != NULL;
}

/* ---- request.c */

/* op->state of a request that is not sent yet. */
static inline void *latch_redis_unsent(redis_store *store)
{
    return store;
}

static inline bool latch_redis_is_sent(const latch_op *op)
{
    return op->state != latch_redis_unsent(latch_redis_store_of(op));
}

/* Step of a request: sends it unless it was sent, and applies its reply. */
latch_status latch_redis_advance(latch_op *op, int64_t now_ns);
/*
 * Step of a detached release: a pending release that is flushed at once. If the server cannot be
 * reached the caller gets the error, and the release stays pending.
 */
latch_status latch_redis_detach(latch_op *op, int64_t now_ns);
/* Record a lost command. True, once per request: send it again, as all commands ask for a state. */
bool latch_redis_may_resend(latch_op *op);
/* Fail a request that was lost twice, or not answered in time. */
latch_status latch_redis_fail_lost(latch_op *op, const redis_node *node);
latch_status latch_redis_fail_overdue(latch_op *op, redis_node *node);
/* Fail a request with the error that the server answered. */
latch_status latch_redis_fail_with_reply(latch_op *op, redis_node *node, const char *answer);
/* Fail a request whose reply is none of the script's. */
latch_status latch_redis_fail_protocol_error(latch_op *op, redis_node *node);
/* Sends a script on a READY connection. NULL when memory ran out. */
redis_call *latch_redis_send_script(redis_node *node, const redis_command_spec *spec,
                                    const redis_script_target *target, int64_t now_ns);
/* For the store's class. */
void latch_redis_describe_outage(const latch_op *op, int64_t now_ns);

/* ---- rollback.c */

/* Layout of the lease's lock, or semaphore. */
static inline const redis_layout *latch_redis_layout_of(const latch_lease *lease)
{
    const redis_store *store = (const redis_store *) lease->store;

    return lease->is_permit ? &latch_redis_permits : store->layout;
}
/* Script target: the holder's lock, and its place in the queue. */
static inline redis_script_target latch_redis_target_of(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return (redis_script_target){
        .layout = latch_redis_layout_of(lease),
        .resource = hold->name,
        .length = hold->name_length,
        .token = lease->token,
        .token_length = lease->token_length,
        .ticket = hold->wait.ticket,
        .permits = hold->permits,
    };
}
/*
 * Compensation for a request of unknown outcome: the reply is lost or unread, the script failed in
 * its middle, or the wait is over. A lock that may have been granted, or may not have been
 * released, gets a pending release; one that may have been demoted counts as shared.
 */
void latch_redis_compensate(latch_op *op, int64_t now_ns);
/* Promotion of a shared hold that is still held? */
bool latch_redis_promotes(const latch_op *op, int64_t now_ns);
/*
 * Send a demotion behind the command that may have promoted the hold. False: it could not be sent.
 */
bool latch_redis_send_demotion(latch_op *op, int64_t now_ns);
/* Queue a pending release of the lock. False when memory ran out. */
bool latch_redis_pending_add_release(latch_op *op, int64_t now_ns);
/* Time by which the lock has expired without a release. */
int64_t latch_redis_release_deadline(const latch_lease *lease, int64_t now_ns);

/* ---- token.c */

/* What a semaphore's name has around the resource. */
enum { REDIS_BRACES = 2 };

/* Length of a semaphore's name: it may exceed the 32 bits of the resource's. */
static inline size_t latch_redis_permit_name_length(const latch_lease *lease)
{
    return (size_t) lease->resource_length + REDIS_BRACES;
}

/* Writes a semaphore's name, without a NUL, and returns its length. */
static inline size_t latch_redis_write_permit_name(const latch_lease *lease, char *name)
{
    size_t length = latch_redis_permit_name_length(lease);

    name[0] = '{';
    memcpy(name + 1, lease->resource, lease->resource_length);
    name[length - 1] = '}';
    return length;
}

/* Member of the lock's sorted set that marks a writer: no holder's token. */
#define REDIS_WRITER "__write__"

/* Record the TTL of a command in flight: assume the shorter one, as its reply may be lost. */
static inline void latch_redis_record_ttl(latch_op *op, int64_t now_ns)
{
    latch_lease *lease = op->lease;
    redis_hold *hold = lease->state;
    int64_t deadline_ns = latch_store_deadline(lease->store, now_ns, op->request.ttl_ms);

    hold->deadline_ns = lease->deadline_ns;
    if (lease->mode != LATCH_FREE && deadline_ns < lease->deadline_ns) {
        lease->deadline_ns = deadline_ns;
    }
}

/* Record a release in flight: not held from now on, whatever its outcome. */
static inline void latch_redis_record_release(latch_lease *lease)
{
    redis_hold *hold = lease->state;

    lease->mode = LATCH_FREE;
    lease->fencing_token = 0;
    hold->generation = lease->store->engine->generation;
    hold->imported = false;
    hold->retired = true;
}

/*
 * Record the mode in which the server says that the lease is held. A key that was handed over
 * brings a hold unknown to this process.
 */
static inline void latch_redis_record_mode(latch_lease *lease, latch_mode mode)
{
    redis_hold *hold = lease->state;

    lease->mode = mode;
    hold->fork_count = lease->store->engine->fork_count;
}

/*
 * Are all keys of the operation's semaphore in one slot? Describes in op->error if not: in a
 * cluster "{}:weight" has no hash tag.
 */
bool latch_redis_has_permit_slot(const redis_keyspace *keys, latch_op *op);
/* The lease's token, in a layout with owners: has it no nonce, by which an acquire is known? */
static inline bool latch_redis_lacks_nonce(const latch_lease *lease)
{
    return latch_redis_layout_of(lease)->has_owners && lease->token != NULL
           && lease->token[0] == ' ';
}
/* Makes the state of a lease that has none. */
latch_status latch_redis_make_hold(latch_lease *lease, latch_error *error);
/* Token of another process? */
bool latch_redis_is_other_process(const latch_lease *lease);
/* latch_redis_ensure_token() for a lease without a usable token. */
latch_status latch_redis_prepare_token(latch_op *op);
/*
 * Make a token unless the lease has a usable one of this process. LATCH_CONFLICT: it has none, and
 * the request needs the one it had before.
 */
static inline latch_status latch_redis_ensure_token(latch_op *op)
{
    const latch_lease *lease = op->lease;
    const redis_hold *hold = lease->state;
    bool is_usable = hold != NULL && hold->generation == lease->store->engine->generation
                     && !hold->retired && lease->token != NULL
                     && strcmp(lease->token, REDIS_WRITER) != 0
                     && !(latch_redis_lacks_nonce(lease) && latch_op_acquires(op));

    return is_usable ? LATCH_DONE : latch_redis_prepare_token(op);
}
/*
 * Resolve a hold that a fork has shared (`inherit`). While it lasts, another process may own it: a
 * failed request must not release it. Once it has expired, each process is a holder of its own.
 */
void latch_redis_resolve_forked_hold(latch_op *op);
/* For the store's class. */
bool latch_redis_held(const latch_lease *lease);
bool latch_redis_shares_token(const latch_lease *lease);
latch_status latch_redis_import_token(latch_lease *lease, const char *token, latch_error *error);
latch_status latch_redis_renew_nonce(latch_lease *lease, latch_error *error);
void latch_redis_drop(latch_lease *lease);

/* ---- wait.c */

/*
 * Next step of a waiting request without a command in flight. LATCH_DONE: send it. LATCH_WANT_*:
 * wait. LATCH_CONFLICT: waiting is impossible here.
 */
latch_status latch_redis_wait(latch_op *op, int64_t now_ns);
/* Apply a queue position. As latch_redis_wait(); LATCH_AGAIN: wait. */
latch_status latch_redis_apply_queue_position(latch_op *op, int64_t place, int64_t ms,
                                              int64_t now_ns);
/* Record that the waiting request was sent. */
void latch_redis_wait_sent(latch_op *op);
/* Possibly in the server's queue? */
static inline bool latch_redis_is_queued(const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return hold != NULL && hold->wait.ticket != 0;
}
/* End a wait; the server may need a pending release of the place in the queue. */
void latch_redis_leave_wait(latch_lease *lease);
/* End the wait, if there is one. */
static inline void latch_redis_wait_end(latch_lease *lease)
{
    const redis_store *store = (const redis_store *) lease->store;

    if (store->subscription.subscriber == lease || latch_redis_is_queued(lease)) {
        latch_redis_leave_wait(lease);
    }
}
/* Record since when the waiter has had no answer, unless recorded. */
void latch_redis_wait_fails_since(latch_op *op, int64_t since_ns);
/* After a failure: wait and try again, at op->wake_ns, as for a limited time? */
bool latch_redis_retries_wait(latch_op *op, int64_t now_ns);
/*
 * Ask the server for polling clients (peers), on a READY connection; the rarer the longer the queue
 * is.
 */
void latch_redis_probe_polling_clients(redis_node *node, int64_t now_ns);
/*
 * Step of a call that waits (LATCH_COUNT_DOWN_STATE), the first one, too. As latch_op_step();
 * LATCH_CONFLICT: not yet, and no message will tell.
 */
latch_status latch_redis_await_call(latch_op *op, int64_t now_ns);
/* Ends a call, whether it waits or not. */
void latch_redis_end_call(latch_op *op);

/* ---- client_object.c */

/* Put the store on a client object, which it closes in the end. */
void latch_redis_use_object(redis_store *store, const latch_redis_runner *runner);
/* Flush pending releases by the client object, before the store is closed. */
void latch_redis_object_flush_pending(redis_store *store);
/* For the store's class. */
const char *latch_redis_renewal_unsupported_reason(const latch_store *base);

/* ---- quorum_probe.c */

/* Probe the server of a combined store's member, once per READY connection. */
void latch_redis_probe_quorum_part(redis_node *node, int64_t now_ns);
/* For the store's class: start of the server. */
int64_t latch_redis_server_start_ns(latch_store *base);

/* ---- inspect.c */

/* Request about other holders, with an op->state of its own? */
static inline bool latch_redis_is_inspection(const latch_op *op)
{
    return op->request.kind == LATCH_INSPECT || op->request.kind == LATCH_LIST
           || op->request.kind == LATCH_EVICT;
}
/* For the store's class, of those. */
latch_status latch_redis_inspect_step(latch_op *op, int64_t now_ns);
void latch_redis_inspect_end(latch_op *op);

/* ---- pending_release.c */

/* Record that the server knows the layout's script of releases, or has forgotten it. */
static inline void latch_redis_record_release_script(redis_node *node, const redis_layout *layout,
                                                     bool is_known)
{
    node->has_release[layout->peers] = is_known ? node->connection.established : 0;
}
/* Did the server know it when it answered last, on this connection? */
static inline bool latch_redis_knows_release_script(const redis_node *node,
                                                    const redis_layout *layout)
{
    return node->has_release[layout->peers] == node->connection.established;
}

void latch_redis_pending_init(redis_store *store);
/*
 * For the store's class: flush pending releases and await the answers. A server that cannot write
 * its answers drops the client with all that is unread.
 */
latch_status latch_redis_pending_drain(latch_store *base, latch_op *op, int64_t now_ns);
/* Drops the parent's pending releases and connections, in a forked child. */
void latch_redis_pending_drop_inherited(redis_store *store);
/* Drop all pending releases, after the connection has ended. */
void latch_redis_pending_clear(redis_store *store);
/*
 * Queue a release of a lock, if the token holds it, and of its place in the queue: sent once
 * connected, and again after a lost connection or a transient error, until `end_ns`, when the lock
 * has expired. The token must not be used again. It is queued once, however often it is added.
 * False when memory ran out.
 */
bool latch_redis_pending_add(const latch_lease *lease, const redis_script_target *target,
                             int64_t end_ns);
/*
 * Queue a release that is in flight already, as `call`, which becomes the queue's. False: it does
 * not, as memory ran out, or as the same release is in flight already.
 */
bool latch_redis_pending_add_sent(const latch_lease *lease, redis_node *node, redis_call *call,
                                  const redis_script_target *target, int64_t end_ns);
/* Part the hold, which ends, from its pending release, which stays. */
void latch_redis_pending_forget(redis_hold *hold);
/* No pending release that is unsent? */
static inline bool latch_redis_pending_is_empty(const redis_store *store)
{
    return store->pending.next == &store->pending;
}
/*
 * Send pending releases on READY connections, without awaiting answers: a limited number to a
 * silent server, and always those of the lease's lock (NULL: none).
 */
void latch_redis_pending_flush(redis_store *store, const latch_lease *lease, int64_t now_ns);
/*
 * How long the next release is to wait for answers from the node, as many releases are in flight:
 * those of a program that drops thousands of locks at once would else stay unsent until its next
 * request. 0: not at all, also when the node has been silent for long.
 */
int64_t latch_redis_pending_wait_ns(const redis_store *store, const redis_node *node,
                                    int64_t now_ns);

#endif
