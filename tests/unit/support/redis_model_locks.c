/* What the model's server has of a lock in Symfony's layout. See redis_model.h. */
#include "redis_model.h"
#include "redis_scripts.h"

#include <inttypes.h>
#include <stdlib.h>

#define RECORD "latch:holder:model"
#define QUEUE "latch:queue:model"
#define PEERS "latch:peers:model"
#define COUNTER "latch:fencing"
#define EPOCH_US (MODEL_EPOCH_MS * 1000)

#define AHEAD "local function now_us() return 4102444800010000, '4102444800010000' end\n"

/* What Symfony's RedisStore::save() and delete() do, by the same clock. */
#define PEER_SAVE                                                                                  \
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', 4102444800010)\n"                             \
    "if redis.call('ZCOUNT', KEYS[1], '-inf', '+inf') > 0 then return false end\n"                 \
    "local expiry = string.format('%.0f', 4102444800010 + ARGV[2])\n"                              \
    "redis.call('ZADD', KEYS[1], expiry, ARGV[1], expiry, '__write__')\n"                          \
    "redis.call('PEXPIREAT', KEYS[1], expiry)\n"                                                   \
    "return 1"
#define PEER_DELETE                                                                                \
    "if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return false end\n"                        \
    "redis.call('ZREM', KEYS[1], ARGV[1], '__write__')\n"                                          \
    "local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]\n"                       \
    "if last then redis.call('PEXPIREAT', KEYS[1], last) end\n"                                    \
    "return 1"

static const char *const texts[MODEL_FLUSH] = {
    [MODEL_ACQUIRE] = AHEAD REDIS_LUA_ACQUIRE, [MODEL_SHARE] = AHEAD REDIS_LUA_ACQUIRE_SHARED,
    [MODEL_RELEASE] = AHEAD REDIS_LUA_RELEASE, [MODEL_LET_GO] = REDIS_LUA_LET_GO,
    [MODEL_REFRESH] = AHEAD REDIS_LUA_REFRESH, [MODEL_PEER_TAKES] = PEER_SAVE,
    [MODEL_PEER_RELEASES] = PEER_DELETE,
};
static const char *const key_counts[MODEL_FLUSH] = {
    [MODEL_ACQUIRE] = "5",       [MODEL_SHARE] = "4",   [MODEL_RELEASE] = "4",
    [MODEL_LET_GO] = "2",        [MODEL_REFRESH] = "2", [MODEL_PEER_TAKES] = "1",
    [MODEL_PEER_RELEASES] = "1",
};

static const char *key_of(int script, int number)
{
    static const char *const keys[] = {MODEL_LOCK, RECORD, QUEUE, PEERS, COUNTER};

    (void) script;
    return keys[number];
}

const char *model_fencing_of(model_token token, char text[24])
{
    snprintf(text, 24, "%" PRId64, token == MODEL_LAST_TOKEN ? MODEL_FENCING : MODEL_FENCING - 1);
    return token == MODEL_NO_TOKEN ? "" : text;
}

model_token model_token_of(const char *fencing, int64_t last_fencing)
{
    return fencing[0] == '\0'               ? MODEL_NO_TOKEN
           : atoll(fencing) == last_fencing ? MODEL_LAST_TOKEN
                                            : MODEL_OLDER_TOKEN;
}

int64_t model_last_fencing(const redisReply *counter)
{
    return counter->type != REDIS_REPLY_NIL && atoll(counter->str) == EPOCH_US ? EPOCH_US
                                                                               : MODEL_FENCING;
}

static void put_lock(const model_server *server)
{
    long long now_ms = MODEL_EPOCH_MS;

    model_command("DEL " MODEL_LOCK " " RECORD " " QUEUE " " PEERS " " COUNTER);
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        if (server->expiry[actor] != MODEL_NONE) {
            model_command("ZADD " MODEL_LOCK " %lld t%d", now_ms + server->expiry[actor], actor);
        }
        if (server->record[actor] != MODEL_NO_RECORD) {
            char text[24];

            model_command("HSET " RECORD " t%d %s", actor,
                          model_fencing_of(server->record[actor], text));
        }
    }
    if (server->write_expiry != MODEL_NONE) {
        model_command("ZADD " MODEL_LOCK " %lld __write__", now_ms + server->write_expiry);
    }
    if (server->lock_ends != MODEL_NONE) {
        model_command("PEXPIREAT " MODEL_LOCK " %lld", now_ms + server->lock_ends);
    }
    if (server->record_ends != MODEL_NONE) {
        model_command("PEXPIREAT " RECORD " %lld", now_ms + server->record_ends);
    }
    if (server->has_counter) {
        model_command("SET " COUNTER " %lld", (long long) MODEL_FENCING);
    }
}

static void ask_for_lock(void)
{
    static const char expiry[] = UNIT_REDIS_LUA_EXPIRY "return expiry_of(KEYS[1])";

    model_command("GET " COUNTER);
    model_command("ZRANGE " MODEL_LOCK " 0 -1 WITHSCORES");
    model_command("EVAL %s 1 " MODEL_LOCK, expiry);
    model_command("HGETALL " RECORD);
    model_command("EVAL %s 1 " RECORD, expiry);
}

static void read_members(model_server *after, const redisReply *members, const redisReply *ends)
{
    int64_t last = 0;

    for (size_t at = 0; at < members->elements; at += 2) {
        const char *member = members->element[at]->str;
        int64_t expiry = atoll(members->element[at + 1]->str);

        if (strcmp(member, "__write__") == 0) {
            after->write_expiry = model_from_now(expiry);
        } else {
            after->expiry[model_actor_of(member)] = model_from_now(expiry);
        }
        last = expiry > last ? expiry : last;
    }
    if (members->elements > 0) {
        model_demand(ends->integer == last, "the lock does not expire with its last member");
        after->lock_ends = model_from_now(ends->integer);
    }
}

static void read_lock_record(model_server *after, const redisReply *fields, const redisReply *ends,
                             int64_t last_fencing)
{
    for (size_t at = 0; at < fields->elements; at += 2) {
        after->record[model_actor_of(fields->element[at]->str)] =
            (uint8_t) model_token_of(fields->element[at + 1]->str, last_fencing);
    }
    if (fields->elements > 0) {
        model_demand(ends->integer > 0, "the record is there for ever");
        after->record_ends = model_from_now(ends->integer);
    }
}

static void read_lock(model_server *after)
{
    redisReply *replies[5];

    for (size_t at = 0; at < 5; at++) {
        replies[at] = model_receive();
    }
    after->has_counter = replies[0]->type != REDIS_REPLY_NIL;
    read_members(after, replies[1], replies[2]);
    read_lock_record(after, replies[3], replies[4], model_last_fencing(replies[0]));
    for (size_t at = 0; at < 5; at++) {
        freeReplyObject(replies[at]);
    }
}

const model_kind model_locks = {
    .texts = texts,
    .key_counts = key_counts,
    .key = key_of,
    .name = MODEL_LOCK,
    .queue = QUEUE,
    .writer = 'w',
    .peers = PEERS,
    .put = put_lock,
    .ask = ask_for_lock,
    .read = read_lock,
};
