/*
 * When the server was started, for combined stores: a server that keeps nothing on disk has
 * forgotten its locks then. It is asked by INFO, on each connection once, in front of the first
 * request, and nobody awaits the answer by itself. Who may not ask does not know.
 */
#include "redis.h"

#include <stdlib.h>
#include <string.h>

#define FIELD "uptime_in_seconds:"

static void note(void *context, const redisReply *reply)
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

void latch_redis_ask_age(redis_node *node, int64_t now_ns)
{
    redis_command command = {.count = 0};
    redis_call *call;

    if (!node->store->is_member || node->connection.age_asked) {
        return;
    }
    latch_redis_add_text(&command, "INFO");
    latch_redis_add_text(&command, "server");
    call = latch_redis_send(&node->connection, &command, now_ns);
    if (call != NULL) {
        latch_redis_call_leave(call, note, node->store);
        node->connection.age_asked = true;
    }
}

int64_t latch_redis_started(latch_store *base)
{
    redis_store *store = (redis_store *) base;

    if (!store->is_member) {
        store->is_member = true;
        store->started_ns = INT64_MIN;
    }
    return store->started_ns;
}
