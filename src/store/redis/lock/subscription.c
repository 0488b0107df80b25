/* Pub/sub connection of a store: see subscription.h. */
#include "src/store/redis/lock/subscription.h"

#include "src/store/redis/lock/redis.h"

#include <stdlib.h>
#include <string.h>

#define WAKE_CHANNEL "wake:"
#define REQUEUE_CHANNEL "requeue"
/* The end of a sharded channel, by which the scripts know it (queue.lua). */
#define SHARD ":shard"

/* Unique part of a process's channel: random bytes, in base64. */
enum { ID_BYTES = 12, ID_LENGTH = 16 };

/* Pause after a refusal by the server; and the longest pause after failures in a row. */
#define REFUSED_NS (60 * LATCH_NS_PER_S)
#define SLOWEST_RETRY_NS (10 * LATCH_NS_PER_S)
/* From one subscription to the next: it may be ended as soon as it is made. */
#define PAUSE_NS (50 * LATCH_NS_PER_MS)

static void receive_message(void *context, const redisReply *message);

bool latch_redis_subscription_init(redis_subscription *subscription, latch_engine *engine,
                                   const redis_options *options, const redis_keyspace *keys)
{
    size_t size = options->prefix_length + REDIS_OWN_SIZE + sizeof(REQUEUE_CHANNEL SHARD)
                  + ID_LENGTH;

    memset(subscription, 0, sizeof(*subscription));
    latch_redis_connection_init(&subscription->connection, engine, options);
    subscription->keys = keys;
    subscription->connection.push = receive_message;
    subscription->connection.push_context = subscription;
    latch_list_init(&subscription->waits);
    subscription->channel = latch_allocate(engine, size);
    subscription->requeue_channel = latch_allocate(engine, size);
    if (subscription->channel == NULL || subscription->requeue_channel == NULL) {
        return false;
    }
    subscription->channel[0] = '\0';
    return true;
}

static void free_subscribe_call(redis_subscription *subscription)
{
    if (subscription->call != NULL) {
        latch_redis_call_free(&subscription->connection, subscription->call);
        subscription->call = NULL;
    }
}

void latch_redis_subscription_end(redis_subscription *subscription)
{
    const latch_engine *engine = subscription->connection.engine;

    latch_redis_close(&subscription->connection);
    free_subscribe_call(subscription);
    latch_free(engine, subscription->channel);
    latch_free(engine, subscription->requeue_channel);
}

/* ---- Messages ------------------------------------------------------------------------------- */

static int64_t subscription_now_ns(const redis_subscription *subscription)
{
    return latch_engine_now_ns(subscription->connection.engine);
}

/* Moves the next poll forward, never back: messages may be older than the last answer. */
static void poll_no_later_than(redis_wait *wait, int64_t poll_ns)
{
    wait->poll_ns = poll_ns < wait->poll_ns ? poll_ns : wait->poll_ns;
}

/* Applies "granted TICKET" or "first TICKET MS"; tickets of ended waits are ignored. */
static void apply_wakeup(redis_subscription *subscription, const char *text)
{
    const char *number = strchr(text, ' ');
    char *end;
    uint64_t ticket = number != NULL ? strtoull(number, &end, 10) : 0;

    for (latch_link *link = subscription->waits.next; link != &subscription->waits;
         link = link->next) {
        redis_wait *wait = LATCH_CONTAINER(link, redis_wait, link);

        if (wait->ticket != ticket) {
            continue;
        }
        if (strncmp(text, "granted ", 8) == 0) {
            wait->granted = true;
        } else if (strncmp(text, "first ", 6) == 0) {
            long long ms = strtoll(end, NULL, 10);

            wait->place = 0;
            poll_no_later_than(wait,
                               subscription_now_ns(subscription)
                                   + (ms > 0 && ms < REDIS_TTL_MAX_MS ? ms : 0) * LATCH_NS_PER_MS);
        }
    }
}

/* Applies a lost queue: waiters for this lock ask again, about in their old order. */
static void apply_requeue(redis_subscription *subscription, const redisReply *key)
{
    size_t prefix = subscription->keys->prefix_length;

    for (latch_link *link = subscription->waits.next; link != &subscription->waits;
         link = link->next) {
        redis_wait *wait = LATCH_CONTAINER(link, redis_wait, link);
        const redis_hold *hold = wait->lease->state;

        if (key->len == prefix + hold->name_length
            && memcmp(key->str + prefix, hold->name, hold->name_length) == 0) {
            wait->lost = true;
            poll_no_later_than(wait, subscription_now_ns(subscription)
                                         + (wait->place > 0 ? wait->place : 0) * LATCH_NS_PER_MS);
        }
    }
}

static void receive_message(void *context, const redisReply *message)
{
    redis_subscription *subscription = context;
    const redisReply *channel, *text;

    if (message->type != REDIS_REPLY_ARRAY || message->elements != 3) {
        return;
    }
    channel = message->element[1];
    text = message->element[2];
    if (message->element[0]->type == REDIS_REPLY_STRING
        && strcmp(message->element[0]->str, "sunsubscribe") == 0) {
        subscription->is_moved = true;
        return;
    }
    if (channel->type != REDIS_REPLY_STRING || text->type != REDIS_REPLY_STRING) {
        return; /* that it is subscribed, as often as there are channels */
    }
    if (strcmp(channel->str, subscription->requeue_channel) == 0) {
        apply_requeue(subscription, text);
    } else {
        apply_wakeup(subscription, text->str);
    }
}

/* ---- Subscribing ---------------------------------------------------------------------------- */

static bool has_channel(const redis_subscription *subscription)
{
    return subscription->channel[0] != '\0'
           && subscription->generation == subscription->connection.engine->generation;
}

static char *append(char *at, const char *text)
{
    return strcpy(at, text) + strlen(text);
}

/* Names the channel: one for each process, kept over reconnects. */
static latch_status name_channel(redis_subscription *subscription, latch_op *op)
{
    const latch_engine *engine = subscription->connection.engine;
    const redis_keyspace *keys = subscription->keys;
    const redis_hold *hold = op->lease->state;
    const char *end = subscription->node != NULL ? SHARD : "";
    char own[REDIS_OWN_SIZE], *wake = subscription->channel;
    char *requeue = subscription->requeue_channel;
    uint8_t id[ID_BYTES];

    if (!engine->env.random(engine->env.context, id, sizeof(id))) {
        return latch_fail(op->error, LATCH_ERROR_SYSTEM, 0, "no random numbers to be had");
    }
    latch_redis_own_names(keys, hold->name, hold->name_length, own);
    wake = append(append(append(wake, keys->prefix), own), WAKE_CHANNEL);
    latch_base64(id, sizeof(id), wake);
    append(wake + ID_LENGTH, end);
    append(append(append(append(requeue, keys->prefix), own), REQUEUE_CHANNEL), end);
    subscription->generation = engine->generation;
    return LATCH_DONE;
}

bool latch_redis_resubscribe_for(redis_subscription *subscription, redis_node *node,
                                 const latch_lease *lease)
{
    const redis_hold *hold = lease->state;
    unsigned slot = latch_redis_slot_of(subscription->keys, hold->name, hold->name_length);
    bool is_idle = subscription->subscriber == NULL || subscription->subscriber == lease;

    for (latch_link *link = subscription->waits.next; link != &subscription->waits;
         link = link->next) {
        is_idle = is_idle && link == &hold->wait.link;
    }
    if (slot != subscription->slot && !is_idle) {
        return false;
    }
    if (slot != subscription->slot || node != subscription->node) {
        latch_redis_close(&subscription->connection);
        free_subscribe_call(subscription);
        subscription->connection.place = &node->cluster_info.place;
        subscription->node = node;
        subscription->pause_end_ns = 0;
    }
    if (slot != subscription->slot) {
        subscription->redirected_ns = 0;
        subscription->slot = slot;
        subscription->channel[0] = '\0';
    }
    return true;
}

bool latch_redis_is_subscribed_for(const redis_subscription *subscription, const latch_lease *lease)
{
    const redis_hold *hold = lease->state;

    return latch_redis_is_subscribed(subscription)
           && (subscription->node == NULL
               || subscription->slot
                      == latch_redis_slot_of(subscription->keys, hold->name, hold->name_length));
}

bool latch_redis_is_subscribed(const redis_subscription *subscription)
{
    return has_channel(subscription) && subscription->connection.stage == REDIS_READY
           && subscription->subscribed == subscription->connection.established;
}

void latch_redis_abort_subscribing(redis_subscription *subscription)
{
    bool is_begun = subscription->connection.stage != REDIS_CLOSED || subscription->call != NULL;

    if (is_begun && subscription->subscriber == NULL
        && subscription->waits.next == &subscription->waits
        && !latch_redis_is_subscribed(subscription)) {
        latch_redis_close(&subscription->connection);
        free_subscribe_call(subscription);
    }
}

void latch_redis_suspend_pubsub(redis_subscription *subscription, bool refused, int64_t now_ns)
{
    int64_t pause_ns = refused                             ? REFUSED_NS
                       : subscription->retry_pause_ns == 0 ? REDIS_RETRY_NS
                                                           : 2 * subscription->retry_pause_ns;

    latch_redis_close(&subscription->connection);
    free_subscribe_call(subscription);
    subscription->redirected_ns = 0;
    if (!refused && pause_ns > SLOWEST_RETRY_NS) {
        pause_ns = SLOWEST_RETRY_NS;
    }
    subscription->retry_pause_ns = pause_ns;
    subscription->retry_ns = now_ns + pause_ns;
}

void latch_redis_disable_pubsub(redis_subscription *subscription)
{
    subscription->retry_pause_ns = subscription->retry_ns = LATCH_NEVER;
}

static latch_status send_subscribe(redis_subscription *subscription, latch_op *op, int64_t now_ns)
{
    redis_command command = {.count = 0};

    latch_redis_add_text(&command, subscription->node != NULL ? "SSUBSCRIBE" : "SUBSCRIBE");
    latch_redis_add_text(&command, subscription->channel);
    latch_redis_add_text(&command, subscription->requeue_channel);
    subscription->call = latch_redis_send(&subscription->connection, &command, now_ns);
    if (subscription->call == NULL) {
        latch_redis_close(&subscription->connection);
        return latch_fail_memory(op->error);
    }
    return latch_redis_want(&subscription->connection, subscription->call->deadline_ns, op);
}

/* Redirected, and still within the time for redirections? */
static bool is_redirected(redis_subscription *subscription, int64_t now_ns)
{
    int64_t limit_ns = subscription->connection.options->connect_timeout_ns;

    if (subscription->redirected_ns == 0) {
        subscription->redirected_ns = now_ns;
    }
    return now_ns - subscription->redirected_ns < limit_ns;
}

static latch_status await_subscribed(redis_subscription *subscription, latch_op *op, int64_t now_ns)
{
    redis_call *call = subscription->call;
    bool is_acknowledged;

    if (call->state == REDIS_UNANSWERED && now_ns < call->deadline_ns) {
        return latch_redis_want(&subscription->connection, call->deadline_ns, op);
    }
    is_acknowledged = call->state == REDIS_ANSWERED && call->reply->type == REDIS_REPLY_ARRAY;
    if (!is_acknowledged && call->state == REDIS_ANSWERED && subscription->node != NULL
        && latch_redis_apply_redirect(subscription->node, call->reply->str)
        && is_redirected(subscription, now_ns)) {
        latch_redis_close(&subscription->connection); /* to where the slot is now, next time */
        free_subscribe_call(subscription);
        op->wake_ns = now_ns + PAUSE_NS / 2;
        return LATCH_WANT_TIMER;
    }
    if (!is_acknowledged && call->state == REDIS_ANSWERED) {
        /* Else the server cannot just now: it is being started, or has too many clients. */
        latch_redis_suspend_pubsub(subscription, latch_redis_is_permission_error(call->reply->str),
                                   now_ns);
        return LATCH_CONFLICT;
    }
    if (call->state == REDIS_UNANSWERED) {
        latch_redis_close(&subscription->connection);
    }
    free_subscribe_call(subscription);
    if (!is_acknowledged) {
        return latch_fail(op->error, LATCH_ERROR_STORE, 0, "cannot subscribe to messages of Redis");
    }
    subscription->redirected_ns = 0;
    subscription->pause_end_ns = now_ns + PAUSE_NS;
    subscription->subscribed = subscription->connection.established;
    return LATCH_DONE;
}

/* Reads messages, and reconnects unless connected. */
static latch_status reconnect(redis_subscription *subscription, latch_op *op, int64_t now_ns)
{
    redis_connection *connection = &subscription->connection;
    bool is_open = connection->stage == REDIS_READY && latch_redis_receive(connection);

    if (is_open && !subscription->is_moved) {
        return LATCH_DONE;
    }
    if (is_open) {
        latch_redis_close(connection);
    }
    subscription->is_moved = false;
    if (connection->stage == REDIS_CLOSED && now_ns < subscription->pause_end_ns) {
        op->wake_ns = subscription->pause_end_ns;
        return LATCH_WANT_TIMER;
    }
    return latch_redis_connect(connection, op, now_ns);
}

latch_status latch_redis_subscribe(redis_subscription *subscription, latch_op *op, int64_t now_ns)
{
    latch_status status = LATCH_DONE;

    if (now_ns < subscription->retry_ns) {
        return LATCH_CONFLICT;
    }
    if (!has_channel(subscription)) {
        latch_redis_close(&subscription->connection); /* of the parent process, if any */
        status = name_channel(subscription, op);
    }
    if (status == LATCH_DONE) {
        status = reconnect(subscription, op, now_ns);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    if (subscription->call != NULL) {
        return await_subscribed(subscription, op, now_ns);
    }
    return latch_redis_is_subscribed(subscription) ? LATCH_DONE
                                                   : send_subscribe(subscription, op, now_ns);
}
