/* Replies of the scripts: see reply.h. */
#include "src/store/redis/script/reply.h"

#include <stdlib.h>
#include <string.h>

static const redis_outcome unexpected = {.kind = REDIS_UNEXPECTED};

static bool is_integer(const redisReply *reply, long long least, long long most)
{
    return reply->type == REDIS_REPLY_INTEGER && reply->integer >= least && reply->integer <= most;
}

/* Digits, of a number that PHP can hold; 0: something else. */
static uint64_t parse_number(const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_STRING || reply->len == 0 || reply->len > 18
        || strspn(reply->str, "0123456789") != reply->len) {
        return 0;
    }
    return strtoull(reply->str, NULL, 10);
}

/* The mode that scripts call 1 and 2. */
static latch_mode mode_of(long long number)
{
    return number == 2 ? LATCH_EXCLUSIVE : LATCH_SHARED;
}

/* Nil: another holder. A list: position in the queue, and milliseconds until the next question. */
static redis_outcome parse_acquired(latch_op_kind kind, bool has_fencing, const redisReply *reply)
{
    redis_outcome outcome = {.kind = REDIS_GRANTED};

    if (reply->type == REDIS_REPLY_NIL) {
        outcome.kind = REDIS_REFUSED;
        return outcome;
    }
    if (reply->type == REDIS_REPLY_ARRAY) {
        if (reply->elements != 2 || !is_integer(reply->element[0], REDIS_BOTH_PROMOTE, INT32_MAX)
            || !is_integer(reply->element[1], 0, INT32_MAX)) {
            return unexpected;
        }
        outcome.kind = REDIS_QUEUED;
        outcome.place = reply->element[0]->integer;
        outcome.retry_ms = reply->element[1]->integer;
        return outcome;
    }
    outcome.mode = kind == LATCH_ACQUIRE ? LATCH_EXCLUSIVE : LATCH_SHARED;
    if (kind == LATCH_ACQUIRE && has_fencing) {
        outcome.fencing_token = parse_number(reply);
        return outcome.fencing_token > 0 ? outcome : unexpected;
    }
    return is_integer(reply, 1, 1) ? outcome : unexpected;
}

static redis_outcome parse_renewed(const redisReply *reply)
{
    if (!is_integer(reply, 0, 2)) {
        return unexpected;
    }
    return reply->integer == 0
               ? (redis_outcome){.kind = REDIS_NOT_HELD}
               : (redis_outcome){.kind = REDIS_RENEWED, .mode = mode_of(reply->integer)};
}

static redis_outcome parse_probed(bool may_have_no_end, const redisReply *reply)
{
    long long left_ms;

    if (reply->type == REDIS_REPLY_NIL) {
        return (redis_outcome){.kind = REDIS_NOT_HELD};
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2
        || !is_integer(reply->element[0], may_have_no_end ? -1 : 1, INT64_MAX)
        || reply->element[0]->integer == 0 || !is_integer(reply->element[1], 1, 2)) {
        return unexpected;
    }
    left_ms = reply->element[0]->integer;
    return (redis_outcome){
        .kind = REDIS_PROBED,
        .mode = mode_of(reply->element[1]->integer),
        .left_ms = left_ms == -1                ? LATCH_NEVER
                   : left_ms < REDIS_TTL_MAX_MS ? left_ms
                                                : REDIS_TTL_MAX_MS,
    };
}

redis_outcome latch_redis_parse_reply(latch_op_kind kind, const redis_layout *layout,
                                      const redisReply *reply)
{
    switch (kind) {
        case LATCH_ACQUIRE:
        case LATCH_ACQUIRE_SHARED:
            return parse_acquired(kind, layout->has_fencing, reply);
        case LATCH_REFRESH:
            return parse_renewed(reply);
        case LATCH_RELEASE:
            return is_integer(reply, 0, 1)
                       ? (redis_outcome){.kind = REDIS_RELEASED, .was_held = reply->integer == 1}
                       : unexpected;
        case LATCH_PROBE:
            return parse_probed(layout->has_owners, reply);
        case LATCH_INSPECT:
        case LATCH_LIST:
        case LATCH_EVICT:
        case LATCH_CALL:
            break; /* answered in forms of their own: lock/inspect.c, function/function.c */
    }
    return unexpected;
}
