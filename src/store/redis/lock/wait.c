/*
 * Wait for a lock in Redis, between two commands: whether to ask, how, and when.
 * docs/redis-queue.md is the protocol. Sending, and the meaning of answers, are as for every other
 * request (request.c).
 */
#include "src/store/redis/lock/redis.h"

#include <string.h>

/* Pause after a failure, and up to that much more at random. */
#define PAUSE_NS (25 * LATCH_NS_PER_MS)
/* Interval of a waiting call's requests: a message may be lost. */
#define CALL_POLL_NS LATCH_NS_PER_S
/* Interval of probes for polling clients, by all waiters for a lock together. */
#define PROBE_INTERVAL_NS (2 * LATCH_NS_PER_S)

static redis_wait *wait_of(const latch_op *op)
{
    redis_hold *hold = op->lease->state;

    return &hold->wait;
}

void latch_redis_leave_wait(latch_lease *lease)
{
    redis_subscription *subscription = &((redis_store *) lease->store)->subscription;
    redis_hold *hold = lease->state;

    if (subscription->subscriber == lease) {
        subscription->subscriber = NULL;
    }
    if (latch_redis_is_queued(lease)) {
        latch_list_remove(&hold->wait.link);
        hold->wait.ticket = 0;
    }
}

static void begin_wait(latch_op *op, int64_t now_ns)
{
    redis_subscription *subscription = &latch_redis_store_of(op)->subscription;
    redis_wait *wait = wait_of(op);

    *wait = (redis_wait){
        .lease = op->lease,
        .ticket = ++subscription->last_ticket,
        .subscribed = subscription->subscribed,
        .step = subscription->checked == subscription->subscribed ? REDIS_WAIT : REDIS_CHECK,
        .place = REDIS_NO_PLACE,
        .poll_ns = now_ns,
    };
    latch_list_append(&subscription->waits, &wait->link);
}

/* Chooses the next step of a queued wait: send it now, or wait. */
static latch_status next_wait_step(latch_op *op, int64_t now_ns)
{
    redis_subscription *subscription = &latch_redis_store_of(op)->subscription;
    redis_wait *wait = wait_of(op);

    if (wait->granted) {
        wait->step = REDIS_CLAIM;
    } else if (wait->subscribed != subscription->subscribed) {
        wait->step = REDIS_CHECK; /* messages may have been lost, and our place with them */
    } else if ((op->flags & REDIS_SENT) != 0) {
        return LATCH_DONE; /* once more: it was not answered */
    } else if (now_ns < wait->poll_ns) {
        op->waiting = true;
        return latch_redis_want(&subscription->connection, wait->poll_ns, op);
    } else if (wait->lost) {
        wait->step = REDIS_WAIT; /* and not as one whose queue must be there */
    }
    return LATCH_DONE;
}

void latch_redis_wait_sent(latch_op *op)
{
    redis_wait *wait = wait_of(op);

    /* Messages from now on are news. */
    wait->granted = wait->lost = false;
    wait->subscribed = latch_redis_store_of(op)->subscription.subscribed;
}

/* Moves the subscription to the lock's server. False: waiting for messages is impossible. */
static bool resubscribe(latch_op *op)
{
    redis_store *store = latch_redis_store_of(op);
    const redis_hold *hold = op->lease->state;
    redis_node *owner = latch_redis_slot_owner(&store->topology, hold->name, hold->name_length);

    return store->topology.cluster == NULL
           || (owner != NULL
               && latch_redis_resubscribe_for(&store->subscription, owner, op->lease));
}

latch_status latch_redis_wait(latch_op *op, int64_t now_ns)
{
    redis_subscription *subscription = &latch_redis_store_of(op)->subscription;
    bool is_queued = latch_redis_is_queued(op->lease);
    latch_status status;

    if (!is_queued && (op->flags & REDIS_TRIED) == 0
        && !latch_redis_is_subscribed_for(subscription, op->lease)) {
        return LATCH_DONE;
    }
    if (!resubscribe(op)) {
        return LATCH_CONFLICT;
    }
    if (!is_queued && subscription->subscriber == NULL) {
        subscription->subscriber = op->lease;
    }
    status = latch_redis_subscribe(subscription, op, now_ns);
    if (is_queued && !latch_redis_is_subscribed(subscription)) {
        latch_redis_wait_fails_since(op, now_ns);
    }
    if (latch_wants(status)) {
        op->waiting = op->waiting || (op->flags & REDIS_TRIED) != 0;
        return status;
    }
    if (latch_failed(status) && is_queued && subscription->node != NULL) {
        /* In a cluster another server may have its lock now: the request finds that out. */
        latch_redis_record_node_failure(subscription->node);
        wait_of(op)->step = REDIS_CHECK;
        return LATCH_DONE;
    }
    if (latch_failed(status)) {
        if (latch_redis_retries_wait(op, now_ns)) {
            return LATCH_WANT_TIMER;
        }
        latch_redis_suspend_pubsub(subscription, false, now_ns);
        status = LATCH_CONFLICT;
    }
    if (status == LATCH_DONE && is_queued) {
        return next_wait_step(op, now_ns);
    }
    if (status == LATCH_DONE) {
        begin_wait(op, now_ns);
    }
    return status;
}

latch_status latch_redis_apply_queue_position(latch_op *op, int64_t place, int64_t ms,
                                              int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    redis_wait *wait = wait_of(op);

    if (place == REDIS_NO_MESSAGES) {
        latch_redis_suspend_pubsub(&store->subscription, ms == 0, now_ns);
        return LATCH_CONFLICT;
    }
    if (place == REDIS_BOTH_PROMOTE) {
        latch_redis_wait_end(op->lease);
        op->request.wait = false; /* it would be for ever */
        return LATCH_CONFLICT;
    }
    if (wait->step == REDIS_CHECK) { /* and the message to itself has arrived */
        store->subscription.checked = wait->subscribed;
        store->subscription.retry_pause_ns = 0;
    }
    op->flags = REDIS_TRIED;
    wait->step = REDIS_POLL;
    if (wait->place == REDIS_NO_PLACE) {
        latch_redis_node_of(op)->last_queue_length = place;
    }
    wait->place = place;
    wait->poll_ns = now_ns + (wait->lost ? 0 : ms * LATCH_NS_PER_MS);
    wait->trouble_ns = 0;
    return op->request.wait ? LATCH_AGAIN : LATCH_CONFLICT;
}

void latch_redis_wait_fails_since(latch_op *op, int64_t since_ns)
{
    redis_wait *wait = wait_of(op);

    if (wait->trouble_ns == 0) {
        wait->trouble_ns = since_ns;
    }
}

bool latch_redis_retries_wait(latch_op *op, int64_t now_ns)
{
    redis_hold *hold = op->lease->state;
    redis_wait *wait = &hold->wait;

    if (!latch_redis_is_queued(op->lease) || wait->place == REDIS_NO_PLACE || !op->request.wait) {
        return false;
    }
    latch_redis_wait_fails_since(op, now_ns);
    hold->deadline_ns = op->lease->deadline_ns; /* what was lost may have made it shorter */
    op->flags &= (uint8_t) ~(REDIS_LOST_BEFORE | REDIS_TROUBLE);
    op->wake_ns = now_ns + PAUSE_NS + now_ns % PAUSE_NS;
    op->waiting = true;
    return now_ns - wait->trouble_ns < latch_redis_store_of(op)->options.connect_timeout_ns;
}

/* ---- Calls that wait ------------------------------------------------------------------------ */

void latch_redis_end_call(latch_op *op)
{
    latch_lease *lease = op->lease;

    if (op->state != NULL && latch_redis_is_sent(op)) {
        latch_redis_function_abandon(op);
    }
    op->state = NULL;
    if ((op->flags & REDIS_TRIED) != 0) {
        latch_redis_wait_end(lease);
    }
    if ((op->flags & REDIS_OWN_HOLD) != 0) {
        latch_redis_drop(lease);
        lease->state = NULL;
    }
    op->flags = 0;
}

/*
 * As latch_redis_wait(), whose queue in the server is none here, as all are told at once.
 * LATCH_CONFLICT: messages do not reach the caller.
 */
static latch_status join_waiters(latch_op *op, int64_t now_ns)
{
    latch_status status;

    if (latch_redis_has_object(latch_redis_store_of(op))) {
        return LATCH_CONFLICT;
    }
    op->flags |= REDIS_TRIED;
    if (op->lease->state == NULL) {
        status = latch_redis_make_hold(op->lease, op->error);
        if (status != LATCH_DONE) {
            return status;
        }
        op->flags |= REDIS_OWN_HOLD;
    }
    status = latch_redis_wait(op, now_ns);
    if (status == LATCH_CONFLICT) {
        latch_redis_wait_end(op->lease);
    }
    return status;
}

/* Asks when it is time to. */
static latch_status send_waiting_call(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_status status = join_waiters(op, now_ns);
    redis_function_waiter waiter = {.channel = NULL};

    if (status == LATCH_DONE) {
        waiter = (redis_function_waiter){wait_of(op)->ticket, store->subscription.channel};
        latch_redis_wait_sent(op);
        wait_of(op)->poll_ns = now_ns + latch_jittered_ns(store->store.engine, CALL_POLL_NS);
    } else if (status != LATCH_CONFLICT) {
        return status;
    }
    return latch_redis_function_begin(op, &store->topology, &store->functions,
                                      status == LATCH_DONE ? &waiter : NULL);
}

static bool is_part(const latch_answer *answer, size_t part, const char *text)
{
    return part < answer->count && strcmp(answer->parts[part].text, text) == 0;
}

/* LATCH_DONE: it has ended. LATCH_AGAIN: wait. */
static latch_status apply_waiting_answer(latch_op *op, int64_t now_ns)
{
    redis_store *store = latch_redis_store_of(op);
    latch_call *call = op->request.call;
    bool is_mute = is_part(call->answer, 1, "mute");

    op->state = latch_redis_unsent(store);
    if (!is_part(call->answer, 0, "open") && !is_part(call->answer, 0, "arrived")) {
        return LATCH_DONE;
    }
    if (is_mute || is_part(call->answer, 1, "deaf")) {
        latch_redis_suspend_pubsub(&store->subscription, is_mute, now_ns);
    }
    if (call->answer->count > 1) {
        latch_redis_wait_end(op->lease);
    }
    latch_answer_free(store->store.engine, call->answer);
    call->answer = NULL;
    if (!latch_redis_is_queued(op->lease)) {
        return LATCH_CONFLICT;
    }
    store->subscription.retry_pause_ns = 0;
    wait_of(op)->place = 0;
    wait_of(op)->trouble_ns = 0;
    return LATCH_AGAIN;
}

/* The server is away, or another is the master by now: as for waiters for a lock. */
static bool retries_call(latch_op *op, latch_status status, int64_t now_ns)
{
    if (status != LATCH_ERROR_STORE || op->lease->state == NULL
        || !latch_redis_retries_wait(op, now_ns)) {
        return false;
    }
    op->state = latch_redis_unsent(latch_redis_store_of(op));
    wait_of(op)->poll_ns = op->wake_ns;
    return true;
}

latch_status latch_redis_await_call(latch_op *op, int64_t now_ns)
{
    latch_status status;

    do {
        status = latch_redis_is_sent(op) ? latch_redis_function_step(op, now_ns)
                                         : send_waiting_call(op, now_ns);
        if (status == LATCH_DONE) {
            status = apply_waiting_answer(op, now_ns);
        }
    } while (status == LATCH_AGAIN);
    if (retries_call(op, status, now_ns)) {
        return LATCH_WANT_TIMER;
    }
    if (!latch_wants(status)) {
        latch_redis_end_call(op);
    }
    return status;
}

/* ---- Peers ---------------------------------------------------------------------------------- */

/*
 * Digests of peers' scripts. Symfony's Lock, 5.2 to 8.2: saves a lock for a writer, for a reader,
 * deletes it. Symfony's Semaphore, 5.2 to 8.1: saves permits, puts their end off, deletes them.
 * Laravel, 8 to 13, on phpredis and on Predis: releases a lock.
 */
static const struct {
    redis_peer_kind kind;
    char digest[2 * 20 + 1];
} peer_scripts[] = {
    {REDIS_LOCK_PEERS, "6fdee501a3714553b74c0d67687b921b90b05d18"},
    {REDIS_LOCK_PEERS, "b5745b5be27d9033eb5d3eb254df2faf502b88df"},
    {REDIS_LOCK_PEERS, "a70f7f5087a0cb2c2c9ca50d1f64e234c2628f0c"},
    {REDIS_PERMIT_PEERS, "00ab65d80305e35a4d392563a5a85fcc643d4935"},
    {REDIS_PERMIT_PEERS, "8f2d307bb83465ca0648117544a8d1edd77dfd95"},
    {REDIS_PERMIT_PEERS, "69a03be44c329f90cf2f5c09e3c41e240314304b"},
    {REDIS_STRING_PEERS, "647c65a442733a1aa440f99908d249d13b4d6c4a"},
};

enum { PEER_SCRIPTS = sizeof(peer_scripts) / sizeof(*peer_scripts) };

/* For latch_redis_call_abandon(): which of the peers' scripts the server has. */
static void record_polling_clients(void *context, const redisReply *reply)
{
    redis_node *node = context;
    bool *found = node->has_polling_clients;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        return;
    }
    memset(found, false, sizeof(node->has_polling_clients));
    for (size_t at = 0; at < reply->elements && at < PEER_SCRIPTS; at++) {
        bool *has = &found[peer_scripts[at].kind];

        *has = *has || reply->element[at]->integer == 1;
    }
}

/* Random pause of up to twice the average, so that waiters do not probe all at once. */
static int64_t probe_pause_ns(const redis_node *node)
{
    const latch_env *env = &node->topology->engine->env;
    uint16_t random;

    if (!env->random(env->context, &random, sizeof(random))) {
        random = UINT16_MAX / 2;
    }
    return PROBE_INTERVAL_NS * (node->last_queue_length + 1) / UINT16_MAX * 2 * random;
}

void latch_redis_probe_polling_clients(redis_node *node, int64_t now_ns)
{
    redis_command command = {.count = 0};
    redis_call *call;

    if (node->topology->options->peers != REDIS_PEERS_AUTO || now_ns < node->next_probe_ns) {
        return;
    }
    latch_redis_add_text(&command, "SCRIPT");
    latch_redis_add_text(&command, "EXISTS");
    for (size_t at = 0; at < PEER_SCRIPTS; at++) {
        latch_redis_add_text(&command, peer_scripts[at].digest);
    }
    call = latch_redis_send(&node->connection, &command, now_ns);
    if (call != NULL) {
        node->next_probe_ns = now_ns + probe_pause_ns(node);
        latch_redis_call_abandon(call, record_polling_clients, node);
    }
}
