/*
 * Probe of a combined store's member: start of its server, as one without persistence forgets its
 * locks at a restart; and whether it knows the script of releases, as no operation would repeat as
 * text a release that a quorum does not await. Sent once per connection in front of the first
 * request; the answers are not awaited. Where the commands are forbidden both stay unknown.
 */
#include "src/store/redis/lock/redis.h"

#include <stdlib.h>
#include <string.h>

#define FIELD "uptime_in_seconds:"

static void record_server_age(void *context, const redisReply *reply)
{
    redis_store *store = context;
    int64_t started_ns;
    const char *field = reply != NULL && reply->str != NULL ? strstr(reply->str, FIELD) : NULL;
    int64_t seconds;

    if (field == NULL) {
        return;
    }
    seconds = strtoll(field + sizeof(FIELD) - 1, NULL, 10);
    if (seconds >= 0 && seconds < INT64_MAX / LATCH_NS_PER_S) {
        /* Not before that: the server counts whole seconds. */
        started_ns = latch_engine_now_ns(store->store.engine) - seconds * LATCH_NS_PER_S;
        /* In a cluster the youngest server counts. */
        store->started_ns = started_ns > store->started_ns ? started_ns : store->started_ns;
    }
}

static void record_script_reply(void *context, const redisReply *reply)
{
    if (reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 1
        && reply->element[0]->integer == 1) {
        redis_node *node = context;

        latch_redis_record_release_script(node, latch_redis_store_at(node)->layout, true);
    }
}

/* Sends a command of the probe; false when memory ran out. */
static bool send_probe(redis_node *node, const redis_command *command,
                       void (*record)(void *context, const redisReply *reply), void *context,
                       int64_t now_ns)
{
    redis_call *call = node->connection.transport->send(&node->connection, command, now_ns);

    if (call != NULL) {
        latch_redis_call_abandon(call, record, context);
    }
    return call != NULL;
}

void latch_redis_probe_quorum_part(redis_node *node, int64_t now_ns)
{
    redis_store *store = latch_redis_store_at(node);
    redis_command age = {.count = 0}, script = {.count = 0};

    if (!store->is_quorum_part || node->probed == node->connection.established) {
        return;
    }
    latch_redis_add_text(&age, "INFO");
    latch_redis_add_text(&age, "server");
    latch_redis_add_text(&script, "SCRIPT");
    latch_redis_add_text(&script, "EXISTS");
    latch_redis_add_text(&script, latch_redis_digest(&store->scripts,
                                                     store->layout->scripts[LATCH_RELEASE]));
    if (send_probe(node, &age, record_server_age, store, now_ns)
        && send_probe(node, &script, record_script_reply, node, now_ns)) {
        node->probed = node->connection.established;
    }
}

int64_t latch_redis_server_start_ns(latch_store *base)
{
    redis_store *store = (redis_store *) base;

    if (!store->is_quorum_part) {
        store->is_quorum_part = store->topology.has_no_breaker = true;
        store->started_ns = INT64_MIN;
    }
    /* By a client of its user's nothing but locks is asked. */
    return latch_redis_has_object(store) ? LATCH_NEVER : store->started_ns;
}
