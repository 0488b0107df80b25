/* What the model's server has of a semaphore. See redis_model.h. */
#include "redis_model.h"
#include "redis_permits.h"
#include "redis_scripts.h"

#include <inttypes.h>
#include <stdlib.h>

#define MODEL_WEIGHTS "{model}:weight"
#define MODEL_TIMES "{model}:time"
#define MODEL_RECORD "latch:permits:{model}"
#define MODEL_PHASE "model:phase"
#define MODEL_NAME "{model}"
#define MODEL_QUEUE_KEY "latch:permit-queue:{model}"
#define MODEL_PEERS_KEY "latch:permit-peers:{model}"

/* The whole second from which on the phase counts: far ahead of the server's own clock. */
#define SECOND INT64_C(4102444800)
#define NOW                                                                                        \
    "local function now_us()\n"                                                                    \
    "    return 4102444800000000 + redis.call('GET', '" MODEL_PHASE "') * 1000\n"                  \
    "end\n"

static const char *const texts[MODEL_FLUSH] = {
    [MODEL_PERMIT_ACQUIRE] = NOW REDIS_LUA_PERMIT_ACQUIRE,
    [MODEL_PERMIT_REFRESH] = NOW REDIS_LUA_PERMIT_REFRESH,
    [MODEL_PERMIT_RELEASE] = NOW REDIS_LUA_PERMIT_RELEASE,
    [MODEL_PERMIT_LET_GO] = REDIS_LUA_PERMIT_LET_GO,
    [MODEL_PERMIT_PEER_TAKES] = SYMFONY_SEMAPHORE_SAVE,
    [MODEL_PERMIT_PEER_RELEASES] = SYMFONY_SEMAPHORE_DELETE,
};
static const char *const key_counts[MODEL_FLUSH] = {
    [MODEL_PERMIT_ACQUIRE] = "5",       [MODEL_PERMIT_REFRESH] = "3",
    [MODEL_PERMIT_RELEASE] = "5",       [MODEL_PERMIT_PEER_TAKES] = "1",
    [MODEL_PERMIT_PEER_RELEASES] = "1", [MODEL_PERMIT_LET_GO] = "3",
};

bool model_has_permits(void)
{
    return model_scenario_now != NULL && model_scenario_now->limit > 0;
}

int model_weight_of(int actor)
{
    char digit = actor < MODEL_WAITERS   ? model_scenario_now->wants[actor]
                 : actor == MODEL_HOLDER ? model_scenario_now->holder[0]
                                         : '1';

    if (digit >= 'a' && digit <= 'i') {
        return digit - 'a' + 1;
    }
    return digit >= '1' && digit <= '9' ? digit - '0' : 1;
}

bool model_may_overtake(int actor)
{
    return actor < MODEL_WAITERS && model_scenario_now->wants[actor] >= 'a'
           && model_scenario_now->wants[actor] <= 'i';
}

int64_t model_permit_now_ms(const model_server *server)
{
    return SECOND * 1000 + server->phase;
}

static const char *key_of(int script, int number)
{
    static const char *const keys[] = {MODEL_WEIGHTS, MODEL_TIMES, MODEL_RECORD, MODEL_QUEUE_KEY,
                                       MODEL_PEERS_KEY};

    return script == MODEL_PERMIT_PEER_TAKES || script == MODEL_PERMIT_PEER_RELEASES ? MODEL_NAME
                                                                                     : keys[number];
}

int model_permit_peer_words(const model_server *server, const model_call *call,
                            const char *words[4])
{
    static char numbers[4][24];

    (void) server;
    snprintf(numbers[0], sizeof(numbers[0]), "%" PRId64, SECOND); /* its clock has whole seconds */
    snprintf(numbers[1], sizeof(numbers[1]), "%d", (call->ttl_ms + 999) / 1000);
    snprintf(numbers[2], sizeof(numbers[2]), "%d", model_scenario_now->limit);
    snprintf(numbers[3], sizeof(numbers[3]), "%d", model_weight_of(MODEL_PEER));
    for (int at = 0; at < 4; at++) {
        words[at] = numbers[at];
    }
    return 4;
}

static void model_put_permits(const model_server *server)
{
    model_command("DEL " MODEL_WEIGHTS " " MODEL_TIMES " " MODEL_RECORD " " MODEL_QUEUE_KEY
                  " " MODEL_PEERS_KEY);
    model_command("SET " MODEL_PHASE " %d", server->phase);
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        if (server->expiry[actor] != MODEL_NONE) {
            model_command("ZADD " MODEL_TIMES " %lld t%d",
                          (long long) (model_permit_now_ms(server) + server->expiry[actor]) / 1000,
                          actor);
            model_command("ZADD " MODEL_WEIGHTS " %d t%d", model_weight_of(actor), actor);
        }
        if (server->record[actor] != MODEL_NO_RECORD) {
            char value[16];

            snprintf(value, sizeof(value), "%d%s", model_scenario_now->limit,
                     server->record[actor] == MODEL_NO_TOKEN ? " ?" : "");
            model_command("HSET " MODEL_RECORD " t%d %s", actor, value);
        }
    }
    if (server->noted_sum != MODEL_NONE) {
        model_command("HSET " MODEL_RECORD " %b %d", "", (size_t) 0, server->noted_sum);
    }
    if (server->is_marked) {
        model_command("PEXPIREAT " MODEL_WEIGHTS " %lld", (long long) SECOND * 1000 + 60500);
    }
}

static void model_ask_for_permits(void)
{
    static const char expiry[] = UNIT_REDIS_LUA_EXPIRY "return expiry_of(KEYS[1])";

    model_command("ZRANGE " MODEL_TIMES " 0 -1 WITHSCORES");
    model_command("ZRANGE " MODEL_WEIGHTS " 0 -1 WITHSCORES");
    model_command("HGETALL " MODEL_RECORD);
    model_command("EVAL %s 1 " MODEL_WEIGHTS, expiry);
}

static void read_permit_record(model_server *after, const redisReply *fields)
{
    for (size_t at = 0; at < fields->elements; at += 2) {
        const char *token = fields->element[at]->str, *value = fields->element[at + 1]->str;

        if (*token == '\0') {
            after->noted_sum = (int16_t) atoi(value);
        } else {
            after->record[model_actor_of(token)] = strchr(value, '?') != NULL ? MODEL_NO_TOKEN
                                                                              : MODEL_LAST_TOKEN;
        }
    }
}

static void model_read_permits(model_server *after)
{
    redisReply *times = model_receive(), *weights = model_receive(), *record = model_receive();
    redisReply *ends = model_receive();

    for (size_t at = 0; at < times->elements; at += 2) {
        after->expiry[model_actor_of(times->element[at]->str)] =
            model_from_now(atoll(times->element[at + 1]->str) * 1000);
    }
    model_demand(weights->elements == times->elements, "the two sets have not the same holders");
    for (size_t at = 0; at < weights->elements; at += 2) {
        int actor = model_actor_of(weights->element[at]->str);

        model_demand(atoi(weights->element[at + 1]->str) == model_weight_of(actor),
                     "a holder has another weight than it wants");
    }
    read_permit_record(after, record);
    after->is_marked = ends->integer % 1000 == 500;
    freeReplyObject(ends);
    freeReplyObject(times);
    freeReplyObject(weights);
    freeReplyObject(record);
}

const model_kind model_permits = {
    .texts = texts,
    .key_counts = key_counts,
    .key = key_of,
    .name = MODEL_NAME,
    .queue = MODEL_QUEUE_KEY,
    .peers = MODEL_PEERS_KEY,
    .put = model_put_permits,
    .ask = model_ask_for_permits,
    .read = model_read_permits,
};
