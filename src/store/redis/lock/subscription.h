/*
 * The connection on which a store hears that a lock is its own now: subscribed to a channel of this
 * process's (thread's), beside the connection on which commands are sent. It is made when the
 * store waits for the first time, and stays for the next. docs/redis-queue.md is the protocol.
 *
 * In a cluster the channel is a sharded one, in the slot of the lock, on the server that has it:
 * the subscription goes after the lock that is waited for. It is one slot's at a time.
 */
#ifndef LATCH_REDIS_SUBSCRIPTION_H
#define LATCH_REDIS_SUBSCRIPTION_H

#include "src/store/redis/topology/server.h"

typedef struct redis_subscription {
    redis_connection connection;
    const redis_keyspace *keys;
    redis_call *call;       /* SUBSCRIBE, until it is answered, or NULL */
    unsigned subscribed;    /* connection.established when that was acknowledged */
    unsigned checked;       /* the same when a message to itself had arrived */
    int64_t pause_end_ns;   /* after it was acknowledged, before it is made anew */
    int64_t retry_ns;       /* it cannot be had; not to be tried before */
    int64_t retry_pause_ns; /* for so long, the last time; 0: it could be had */
    redis_node *node;       /* in a cluster: the server of the slot; NULL: none yet */
    unsigned slot;
    int64_t redirected_ns; /* since when it is to be made elsewhere, or later; 0: it is not */
    bool is_moved;         /* it has ended, as the slot is moved elsewhere */
    unsigned generation;   /* of the process whose channel it is */
    uint64_t last_ticket;  /* of a wait; none is given twice */
    const latch_lease *subscriber; /* who is making it, before it has a ticket; or NULL */
    latch_link waits;              /* of redis_wait, those that have a ticket */
    char *channel;                 /* that of this process; "" before the first wait */
    char *requeue_channel;         /* that of those whose queue was lost */
} redis_subscription;

#define REDIS_NO_PLACE (-1)

/* For so long nobody tries to subscribe after a failure; and the longer, the oftener in a row. */
#define REDIS_RETRY_NS LATCH_NS_PER_S

/* A wait for one lock. */
typedef struct redis_wait {
    latch_link link; /* in subscription->waits while it has a ticket */
    const latch_lease *lease;
    uint8_t step;        /* of redis_acquire_step: how it asks next */
    uint64_t ticket;     /* 0: it is not in the queue, and never was */
    unsigned subscribed; /* as of the subscription: by which messages reach it */
    bool granted;        /* it was told that the lock is its, and has not asked yet */
    bool lost;           /* it was told that the queue was lost, and has not asked yet */
    int64_t place;       /* in the queue, 0 the first, when it has asked last; or none yet */
    int64_t poll_ns;     /* when to ask again */
    int64_t trouble_ns;  /* since when it could not ask; 0: it could */
} redis_wait;

/* False when memory ran out; latch_redis_subscription_end() frees what there is also then. */
bool latch_redis_subscription_init(redis_subscription *subscription, latch_engine *engine,
                                   const redis_options *options, const redis_keyspace *keys);
void latch_redis_subscription_end(redis_subscription *subscription);

/*
 * In a cluster: has it for the slot of the lease's lock, which `node` has; it is connected anew for
 * that if need be. False: others wait for locks in another slot.
 */
bool latch_redis_resubscribe_for(redis_subscription *subscription, redis_node *node,
                                 const latch_lease *lease);
/* Whether messages about the lease's lock reach this process, as far as is known. */
bool latch_redis_is_subscribed_for(const redis_subscription *subscription,
                                   const latch_lease *lease);
/* Whether messages reach this process, as far as is known. */
bool latch_redis_is_subscribed(const redis_subscription *subscription);

/*
 * Sees that they do, and reads what has come. LATCH_WANT_*: again when `op` says. LATCH_CONFLICT:
 * this server has no messages for us, not to be tried again for a while. Errors as for
 * latch_redis_connect().
 */
latch_status latch_redis_subscribe(redis_subscription *subscription, latch_op *op, int64_t now_ns);
/* To be called by a new request: forgets an attempt to subscribe that nobody drives to its end. */
void latch_redis_abort_subscribing(redis_subscription *subscription);
/* It cannot be had, or the server has refused it: for a while nobody shall try. */
void latch_redis_suspend_pubsub(redis_subscription *subscription, bool refused, int64_t now_ns);
/* The same for ever, where there is no connection of ours. */
void latch_redis_disable_pubsub(redis_subscription *subscription);
/* Does who would wait here have to ask again and again, and not only for a moment? */
static inline bool latch_redis_has_no_pubsub(const redis_subscription *subscription, int64_t now_ns)
{
    return now_ns < subscription->retry_ns && subscription->retry_pause_ns > REDIS_RETRY_NS;
}

#endif
