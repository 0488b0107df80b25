/* What the model's server has of a lock whose key is a string, its owner. See redis_model.h. */
#include "redis_model.h"
#include "redis_scripts.h"

#include <stdlib.h>

#define RECORD "latch:string:model"
#define QUEUE "latch:string-queue:model"
#define PEERS "latch:string-peers:model"
#define COUNTER "latch:fencing"
#define ONE_OWNER "o"

#define AHEAD                                                                                      \
    UNIT_REDIS_LUA_EXPIRY                                                                          \
    "local server, now_ms = redis, 4102444800010\n"                                                \
    "local function now_us() return 4102444800010000, '4102444800010000' end\n"                    \
    "local redis = {pcall = server.pcall, sha1hex = server.sha1hex}\n"                             \
    "function redis.call(command, key, ...)\n"                                                     \
    "  local value, px, ms = ...\n"                                                                \
    "  if command == 'PTTL' then\n"                                                                \
    "    local expiry = expiry_of(key)\n"                                                          \
    "    return expiry < 0 and expiry or expiry - now_ms\n"                                        \
    "  elseif command == 'SET' and px then\n"                                                      \
    "    server.call('SET', key, value)\n"                                                         \
    "    return server.call('PEXPIREAT', key, string.format('%.0f', now_ms + ms))\n"               \
    "  end\n"                                                                                      \
    "  return server.call(command, key, ...)\n"                                                    \
    "end\n"

/* What Laravel's RedisLock::acquire() and release() do, by the same clock. */
#define PEER_ACQUIRE                                                                               \
    "if not redis.call('SET', KEYS[1], ARGV[1], 'NX') then return false end\n"                     \
    "redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', 4102444800010 + ARGV[2]))\n"           \
    "return 1"
#define PEER_RELEASE                                                                               \
    "if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n"                                             \
    "    return redis.call(\"del\",KEYS[1])\n"                                                     \
    "else\n"                                                                                       \
    "    return 0\n"                                                                               \
    "end"

static const char *const texts[MODEL_FLUSH] = {
    [MODEL_ACQUIRE] = AHEAD REDIS_LUA_STRING_ACQUIRE,
    [MODEL_RELEASE] = AHEAD REDIS_LUA_STRING_RELEASE,
    [MODEL_LET_GO] = REDIS_LUA_STRING_LET_GO,
    [MODEL_REFRESH] = AHEAD REDIS_LUA_STRING_REFRESH,
    [MODEL_PEER_TAKES] = PEER_ACQUIRE,
    [MODEL_PEER_RELEASES] = PEER_RELEASE,
};
static const char *const key_counts[MODEL_FLUSH] = {
    [MODEL_ACQUIRE] = "5",    [MODEL_RELEASE] = "4",       [MODEL_REFRESH] = "2",
    [MODEL_PEER_TAKES] = "1", [MODEL_PEER_RELEASES] = "1", [MODEL_LET_GO] = "2",
};

static const char *key_of(int script, int number)
{
    static const char *const keys[] = {MODEL_LOCK, RECORD, QUEUE, PEERS, COUNTER};

    (void) script;
    return keys[number];
}

const char *model_holder(int actor, char text[8])
{
    bool has_one_owner = model_scenario_now != NULL
                         && model_scenario_now->layout == MODEL_STRING_OF_ONE_OWNER
                         && actor != MODEL_PEER;

    snprintf(text, 8, "t%d%s", actor, has_one_owner ? " " ONE_OWNER : "");
    return text;
}

/* What the key has of a holder. */
static const char *owner_of(const char *holder)
{
    const char *owner = strchr(holder, ' ');

    return owner != NULL ? owner + 1 : holder;
}

static void put_string(const model_server *server)
{
    long long now_ms = MODEL_EPOCH_MS;
    char holder[8], fencing[24];

    model_command("DEL " MODEL_LOCK " " RECORD " " QUEUE " " PEERS " " COUNTER);
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        model_holder(actor, holder);
        if (server->expiry[actor] != MODEL_NONE) {
            model_command("SET " MODEL_LOCK " %s", owner_of(holder));
        }
        if (server->record[actor] != MODEL_NO_RECORD) {
            char text[48];

            snprintf(text, sizeof(text), "%s\n%s", model_fencing_of(server->record[actor], fencing),
                     holder);
            model_command("SET " RECORD " %s", text);
        }
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

static void ask_for_string(void)
{
    static const char expiry[] = UNIT_REDIS_LUA_EXPIRY "return expiry_of(KEYS[1])";

    model_command("GET " COUNTER);
    model_command("GET " MODEL_LOCK);
    model_command("EVAL %s 1 " MODEL_LOCK, expiry);
    model_command("GET " RECORD);
    model_command("EVAL %s 1 " RECORD, expiry);
}

/* Reads the record; returns whose it is, -1: there is none. */
static int read_string_record(model_server *after, const redisReply *record, const redisReply *ends,
                              int64_t last_fencing)
{
    char expected[8], *holder;
    int actor;

    if (record->type == REDIS_REPLY_NIL) {
        return -1;
    }
    holder = strchr(record->str, '\n');
    *holder++ = '\0';
    actor = model_actor_of(holder);
    UNIT_CHECK(strcmp(holder, model_holder(actor, expected)) == 0);
    after->record[actor] = (uint8_t) model_token_of(record->str, last_fencing);
    model_demand(ends->integer > 0, "the record is there for ever");
    after->record_ends = model_from_now(ends->integer);
    return actor;
}

static void read_owner(model_server *after, const redisReply *owner, const redisReply *ends,
                       int recorded)
{
    int actor;

    if (owner->type == REDIS_REPLY_NIL) {
        return;
    }
    actor = strcmp(owner->str, ONE_OWNER) == 0 ? recorded : model_actor_of(owner->str);
    model_demand(actor >= 0, "a hold of the one owner has no record");
    model_demand(ends->integer > 0, "the lock is there for ever");
    after->lock_ends = after->write_expiry = model_from_now(ends->integer);
    if (actor >= 0) {
        after->expiry[actor] = after->lock_ends;
    }
}

static void read_string(model_server *after)
{
    redisReply *replies[5];
    int recorded;

    for (size_t at = 0; at < 5; at++) {
        replies[at] = model_receive();
    }
    after->has_counter = replies[0]->type != REDIS_REPLY_NIL;
    recorded = read_string_record(after, replies[3], replies[4], model_last_fencing(replies[0]));
    read_owner(after, replies[1], replies[2], recorded);
    for (size_t at = 0; at < 5; at++) {
        freeReplyObject(replies[at]);
    }
}

const model_kind model_strings = {
    .texts = texts,
    .key_counts = key_counts,
    .key = key_of,
    .name = MODEL_LOCK,
    .queue = QUEUE,
    .writer = 'o',
    .peers = PEERS,
    .put = put_string,
    .ask = ask_for_string,
    .read = read_string,
};
