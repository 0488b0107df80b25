/* What the replies of the Redis store's scripts mean. */
#include "src/store/redis/lock/redis.h"

#include <stdlib.h>
#include <string.h>

bool latch_redis_passes(const char *text)
{
    static const char *const words[] = {"LOADING ",    "BUSY ",        "READONLY ", "MASTERDOWN ",
                                        "NOREPLICAS ", "CLUSTERDOWN ", "TRYAGAIN "};

    for (size_t at = 0; at < sizeof(words) / sizeof(*words); at++) {
        if (strstr(text, words[at]) != NULL) { /* before Redis 7 it stands in the middle */
            return true;
        }
    }
    return false;
}

bool latch_redis_disowns(const latch_op *op, const char *text)
{
    redis_connection *connection = &latch_redis_node_of(op)->connection;
    bool disowns = connection->sentinel != NULL && strstr(text, "READONLY") != NULL;

    if (disowns) {
        latch_redis_close(connection);
    }
    return disowns;
}

latch_status latch_redis_fail_confused(latch_op *op, redis_node *node)
{
    latch_redis_close(&node->connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "Redis at %s gave an answer that makes no sense",
                      latch_redis_address(&node->connection));
}

static latch_status fail_confused(latch_op *op)
{
    return latch_redis_fail_confused(op, latch_redis_node_of(op));
}

/*
 * What a command in a script was answered. Before Redis 7 that stands behind where it is in the
 * script, as in "ERR Error running script (call to f_...): @user_script:3: @user_script: 3: -OOM
 * command not allowed".
 */
static const char *skip_place(const char *text)
{
    static const char place[] = "@user_script:", failed[] = "ERR Error running script";
    const char *at = strncmp(text, failed, sizeof(failed) - 1) == 0 ? strstr(text, place) : text;

    while (at != NULL && strncmp(at, place, sizeof(place) - 1) == 0) {
        at += sizeof(place) - 1;
        at += strspn(at, "0123456789: ");
        text = *at == '-' ? at + 1 : at;
    }
    return text;
}

latch_status latch_redis_fail_with_reply(latch_op *op, redis_node *node, const char *answer)
{
    const char *text = skip_place(answer);
    char quoted[256];

    latch_redis_quote_error(quoted, sizeof(quoted), text, op->lease->token);
    latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s answered: %s",
               latch_redis_address(&node->connection), quoted);
    /* The key is no lock: nothing was done, or is to be made good. */
    if (strncmp(text, "WRONGTYPE", 9) == 0 && (op->attempts & REDIS_LOST_BEFORE) == 0) {
        op->attempts &= (uint8_t) ~REDIS_SENT;
    }
    /* It was the master once: the name may lead to another by now. */
    if (strstr(text, "READONLY") != NULL) {
        latch_redis_close(&node->connection);
    }
    return LATCH_ERROR_STORE;
}

/* A key that was handed over brings a hold of which this process has not heard yet. */
static void note_mode(latch_lease *lease, long long writer)
{
    redis_hold *hold = lease->state;

    lease->mode = writer ? LATCH_EXCLUSIVE : LATCH_SHARED;
    hold->fork_count = lease->store->engine->fork_count;
}

static bool is_integer(const redisReply *reply, long long least, long long most)
{
    return reply->type == REDIS_REPLY_INTEGER && reply->integer >= least && reply->integer <= most;
}

/* Digits, of a number that PHP can hold. */
static bool read_number(const redisReply *reply, uint64_t *number)
{
    if (reply->type != REDIS_REPLY_STRING || reply->len == 0 || reply->len > 18
        || strspn(reply->str, "0123456789") != reply->len) {
        return false;
    }
    *number = strtoull(reply->str, NULL, 10);
    return *number > 0;
}

static latch_status understand_acquired(latch_op *op, const redisReply *reply)
{
    bool exclusive = op->request.kind == LATCH_ACQUIRE;
    uint64_t fencing_token = 0;

    if (exclusive ? !read_number(reply, &fencing_token) : !is_integer(reply, 1, 1)) {
        return fail_confused(op);
    }
    op->lease->fencing_token = fencing_token;
    note_mode(op->lease, exclusive);
    return LATCH_DONE;
}

static latch_status understand_refreshed(latch_op *op, const redisReply *reply)
{
    if (!is_integer(reply, 0, 2)) {
        return fail_confused(op);
    }
    if (reply->integer == 0) {
        return LATCH_CONFLICT;
    }
    note_mode(op->lease, reply->integer == 2);
    return LATCH_DONE;
}

static latch_status understand_released(latch_op *op, const redisReply *reply)
{
    redis_hold *hold = op->lease->state;

    if (!is_integer(reply, 0, 1)) {
        return fail_confused(op);
    }
    /* Else an earlier release by the token may still come, or is owed. */
    hold->spent = (op->attempts & (REDIS_LOST_BEFORE | REDIS_SPENT_BEFORE)) != 0;
    return LATCH_DONE;
}

static latch_status understand_probed(latch_op *op, const redisReply *reply)
{
    latch_lease *lease = op->lease;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2
        || !is_integer(reply->element[0], 1, INT64_MAX) || !is_integer(reply->element[1], 1, 2)) {
        return fail_confused(op);
    }
    if (lease->mode == LATCH_FREE) {
        long long left_ms = reply->element[0]->integer;

        left_ms = left_ms < REDIS_TTL_MAX_MS ? left_ms : REDIS_TTL_MAX_MS;
        lease->deadline_ns = op->sent_ns + left_ms * LATCH_NS_PER_MS;
        note_mode(lease, reply->element[1]->integer == 2);
    }
    return LATCH_DONE;
}

/*
 * Somebody else holds the lock. So a hold is gone that we thought we had; but a reader that wants
 * to be a writer may still be one reader of several.
 */
static latch_status understand_refused(latch_op *op)
{
    latch_lease *lease = op->lease;
    const redis_hold *hold = lease->state;

    op->contended = true;
    if ((op->attempts & REDIS_LOST_BEFORE) == 0) {
        lease->deadline_ns = hold->deadline_ns; /* else it may have been granted, and have ended */
    }
    if (op->mode_before == LATCH_EXCLUSIVE
        || (op->mode_before == LATCH_SHARED && op->request.kind == LATCH_ACQUIRE_SHARED)) {
        lease->lost = true;
        lease->mode = op->mode_before = LATCH_FREE;
    }
    return LATCH_CONFLICT;
}

/* It was refused without waiting. One that would wait does so next. */
static latch_status understand_tried(latch_op *op)
{
    latch_status status = understand_refused(op);

    if (!op->request.wait || (op->attempts & REDIS_TRIED) != 0) {
        return status;
    }
    op->attempts = REDIS_TRIED;
    return REDIS_AGAIN;
}

/* Its place in the queue, and in how many ms it is to ask again. */
static latch_status understand_place(latch_op *op, const redisReply *reply, int64_t now_ns)
{
    if (!latch_redis_is_queued(op->lease) || reply->elements != 2
        || !is_integer(reply->element[0], REDIS_BOTH_PROMOTE, INT32_MAX)
        || !is_integer(reply->element[1], 0, INT32_MAX)) {
        return fail_confused(op);
    }
    understand_refused(op);
    return latch_redis_wait_on(op, reply->element[0]->integer, reply->element[1]->integer, now_ns);
}

latch_status latch_redis_understand(latch_op *op, const redisReply *reply, int64_t now_ns)
{
    if (reply->type == REDIS_REPLY_NIL && latch_redis_acquires(op)) {
        return understand_tried(op);
    }
    if (reply->type == REDIS_REPLY_ARRAY && latch_redis_acquires(op)) {
        return understand_place(op, reply, now_ns);
    }
    if (reply->type == REDIS_REPLY_NIL && op->request.kind == LATCH_PROBE) {
        return LATCH_CONFLICT;
    }
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            return understand_acquired(op, reply);
        case LATCH_REFRESH:
            return understand_refreshed(op, reply);
        case LATCH_RELEASE:
            return understand_released(op, reply);
        case LATCH_PROBE:
            return understand_probed(op, reply);
        case LATCH_INSPECT:
        case LATCH_LIST:
        case LATCH_EVICT:
            break; /* never come here: redis/lock/inspect.c */
    }
    return fail_confused(op);
}
