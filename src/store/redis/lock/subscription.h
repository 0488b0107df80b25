/*
 * Pub/sub connection of a store: its waiters are woken by messages to a channel of this process
 * (thread), beside the connection for commands. It is made at the store's first wait, and kept.
 * docs/redis-queue.md is the protocol.
 *
 * In a cluster the channel is a sharded one, in the slot of the lock, on the slot's owner: the
 * subscription follows the lock that is waited for, one slot at a time.
 */
#ifndef LATCH_REDIS_SUBSCRIPTION_H
#define LATCH_REDIS_SUBSCRIPTION_H

#include "src/store/redis/topology/server.h"

typedef struct redis_subscription {
    redis_connection connection;
    const redis_keyspace *keys;
    redis_call *call;       /* SUBSCRIBE in flight, or NULL */
    unsigned subscribed;    /* connection.established at its acknowledgement */
    unsigned checked;       /* connection.established when a message to itself had arrived */
    int64_t pause_end_ns;   /* shortest time from one subscription to the next */
    int64_t retry_ns;       /* after a failure: not to be tried before */
    int64_t retry_pause_ns; /* the last pause, 0 after success */
    redis_node *node;       /* in a cluster: owner of the slot; NULL: none yet */
    unsigned slot;
    int64_t redirected_ns; /* start of redirections; 0: none */
    bool is_moved;         /* ended by the server, as the slot has moved */
    unsigned generation;   /* of the process that owns the channel */
    uint64_t last_ticket;  /* of the last wait; tickets are unique */
    const latch_lease
        *subscriber;       /* lease that makes the subscription, without a ticket yet; or NULL */
    latch_link waits;      /* redis_wait with a ticket */
    char *channel;         /* of this process; "" before the first wait */
    char *requeue_channel; /* announces lost queues */
} redis_subscription;

#define REDIS_NO_PLACE (-1)

/* First pause after a failed subscription; doubled in a row. */
#define REDIS_RETRY_NS LATCH_NS_PER_S

/* Wait for one lock. */
typedef struct redis_wait {
    latch_link link; /* in subscription->waits while it has a ticket */
    const latch_lease *lease;
    uint8_t step;        /* of redis_acquire_step: the next command */
    uint64_t ticket;     /* 0: never in the queue */
    unsigned subscribed; /* the subscription's, by which messages reach it */
    bool granted;        /* message: the lock is granted; not confirmed yet */
    bool lost;           /* message: the queue was lost; not asked again yet */
    int64_t place;       /* last position in the queue, from 0; or REDIS_NO_PLACE */
    int64_t poll_ns;     /* when to ask again */
    int64_t trouble_ns;  /* start of failures in a row; 0: none */
} redis_wait;

/* False when memory ran out; latch_redis_subscription_end() frees what there is also then. */
bool latch_redis_subscription_init(redis_subscription *subscription, latch_engine *engine,
                                   const redis_options *options, const redis_keyspace *keys);
void latch_redis_subscription_end(redis_subscription *subscription);

/*
 * Moves the subscription to the slot of the lease's lock, on `node`, in a cluster. False: other
 * leases wait for locks in another slot.
 */
bool latch_redis_resubscribe_for(redis_subscription *subscription, redis_node *node,
                                 const latch_lease *lease);
/* Subscribed for messages about the lease's lock? */
bool latch_redis_is_subscribed_for(const redis_subscription *subscription,
                                   const latch_lease *lease);
/* Subscribed? */
bool latch_redis_is_subscribed(const redis_subscription *subscription);

/*
 * Subscribes unless subscribed, and reads messages. LATCH_WANT_*: again when `op` says.
 * LATCH_CONFLICT: no pub/sub here, not to be tried for a while. Errors as for
 * latch_redis_connect().
 */
latch_status latch_redis_subscribe(redis_subscription *subscription, latch_op *op, int64_t now_ns);
/* Before a new request: aborts an attempt to subscribe that is not driven any more. */
void latch_redis_abort_subscribing(redis_subscription *subscription);
/* Suspends pub/sub for a while, after a failure or a refusal. */
void latch_redis_suspend_pubsub(redis_subscription *subscription, bool refused, int64_t now_ns);
/* Disables pub/sub for good, where there is no connection for it. */
void latch_redis_disable_pubsub(redis_subscription *subscription);
/* Pub/sub suspended, and not only for a moment? Then waiters poll. */
static inline bool latch_redis_has_no_pubsub(const redis_subscription *subscription, int64_t now_ns)
{
    return now_ns < subscription->retry_ns && subscription->retry_pause_ns > REDIS_RETRY_NS;
}

#endif
