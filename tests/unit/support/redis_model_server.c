/* The model's server: a state is put into a real one, and a script is run there. See redis_model.h.
 */
#include "redis_model.h"

#include "redis_scripts.h"

#include <inttypes.h>
#include <stdlib.h>

#define LOCK "model"
#define RECORD "latch:holder:model"
#define QUEUE "latch:queue:model"
#define PEERS "latch:peers:model"
#define COUNTER "latch:fencing"
#define REQUEUE "latch:requeue"
#define MARK "model:mark"

/*
 * Now, in the scripts: far ahead of the server's own clock, by which it ends keys, so that none
 * ends by itself. The jitter of polls is none then.
 */
#define EPOCH_MS INT64_C(4102444800010)
#define EPOCH_US (EPOCH_MS * 1000)
/* The last fencing token before now. */
#define FENCING (EPOCH_US - 1000000)

#define AHEAD "local function now_us() return 4102444800010000 end\n"

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

static const char *const texts[] = {
    [MODEL_ACQUIRE] = AHEAD REDIS_LUA_ACQUIRE,
    [MODEL_SHARE] = AHEAD REDIS_LUA_ACQUIRE_SHARED,
    [MODEL_RELEASE] = AHEAD REDIS_LUA_RELEASE,
    [MODEL_REFRESH] = AHEAD REDIS_LUA_REFRESH,
    [MODEL_PEER_TAKES] = PEER_SAVE,
    [MODEL_PEER_RELEASES] = PEER_DELETE,
};
static const char *const key_counts[] = {"5", "4", "4", "2", "1", "1"};
static const char *const keys[] = {LOCK, RECORD, QUEUE, PEERS, COUNTER};
static const char *const manners[] = {"try", "check", "wait", "poll", "claim"};

static char digests[MODEL_FLUSH][48];
static redisContext *subscriber;

/* ---- What was asked before */

typedef struct {
    model_server server;
    model_call call;
} question;

static struct {
    question question;
    model_outcome outcome;
    bool is_there;
} * answers;
static size_t answer_count, answer_room;
static size_t asked;

uint64_t model_hash(const void *bytes, size_t size)
{
    const char *at = bytes;
    uint64_t hash = size;

    while (size > 0) {
        size_t length = size < sizeof(uint64_t) ? size : sizeof(uint64_t);
        uint64_t word = 0;

        memcpy(&word, at, length);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
        at += length;
        size -= length;
    }
    return hash;
}

size_t model_asked(void)
{
    return asked;
}

static size_t place_of(const question *asking)
{
    size_t at = model_hash(asking, sizeof(*asking)) % answer_room;

    while (answers[at].is_there && memcmp(&answers[at].question, asking, sizeof(*asking)) != 0) {
        at = (at + 1) % answer_room;
    }
    return at;
}

/* ---- Loading */

/* `text` with what is to be changed in it, allocated; counts how often it was there. */
static char *mutate(const char *text, const model_mutation *mutation, size_t *found)
{
    char *changed = NULL;
    size_t size;
    FILE *out = open_memstream(&changed, &size);
    const char *at;

    UNIT_CHECK(out != NULL);
    while (mutation != NULL && (at = strstr(text, mutation->text)) != NULL) {
        fprintf(out, "%.*s%s", (int) (at - text), text, mutation->other);
        text = at + strlen(mutation->text);
        (*found)++;
    }
    fputs(text, out);
    fclose(out);
    return changed;
}

void model_load(const model_mutation *mutation)
{
    size_t found = 0;

    for (size_t script = 0; script < MODEL_FLUSH; script++) {
        char *text = mutate(texts[script], mutation, &found);

        snprintf(digests[script], sizeof(digests[script]), "%s",
                 unit_redis_text("SCRIPT LOAD %s", text));
        free(text);
    }
    UNIT_CHECK(mutation == NULL || found > 0);
    answer_count = answer_room = asked = 0;
    subscriber = redisConnectUnix(unit_redis.socket);
    UNIT_CHECK(subscriber != NULL && subscriber->err == 0);
    UNIT_CHECK(redisSetTimeout(subscriber, (struct timeval){.tv_sec = 20}) == REDIS_OK);
    for (int actor = 0; actor <= MODEL_ACTORS + 1; actor++) {
        void *reply =
            actor < MODEL_ACTORS
                ? redisCommand(subscriber, "SUBSCRIBE latch:wake:L%d", actor)
                : redisCommand(subscriber, "SUBSCRIBE %s", actor == MODEL_ACTORS ? REQUEUE : MARK);

        UNIT_CHECK(reply != NULL);
        freeReplyObject(reply);
    }
}

void model_unload(void)
{
    free(answers);
    answers = NULL;
    redisFree(subscriber);
    subscriber = NULL;
}

/* ---- Names */

/* A process that is gone, or that has not subscribed, has a channel that nobody hears. */
static const char *waiter_text(const model_server *server, int actor, int ticket, char text[64])
{
    snprintf(text, 64, "%d%d 2 t%dlatch:wake:%c%d", ticket, actor, actor,
             server->hears[actor] ? 'L' : 'D', actor);
    return text;
}

static const char *fencing_of(model_token token, char text[24])
{
    snprintf(text, 24, "%" PRId64, token == MODEL_LAST_TOKEN ? FENCING : FENCING - 1);
    return token == MODEL_NO_TOKEN ? "" : text;
}

/* ---- Putting a state there */

static size_t pending; /* commands whose answers were not read */

static void command(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    UNIT_CHECK(redisvAppendCommand(unit_redis.connection, format, arguments) == REDIS_OK);
    va_end(arguments);
    pending++;
}

static redisReply *receive(void)
{
    void *reply;

    if (redisGetReply(unit_redis.connection, &reply) != REDIS_OK) {
        fail_msg("no answer: %s", unit_redis.connection->errstr);
    }
    pending--;
    return reply;
}

static void put_holders(const model_server *server)
{
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        if (server->expiry[actor] != MODEL_NONE) {
            command("ZADD " LOCK " %lld t%d", (long long) EPOCH_MS + server->expiry[actor], actor);
        }
        if (server->record[actor] != MODEL_NO_RECORD) {
            char text[24];

            command("HSET " RECORD " t%d %s", actor, fencing_of(server->record[actor], text));
        }
    }
    if (server->write_expiry != MODEL_NONE) {
        command("ZADD " LOCK " %lld __write__", (long long) EPOCH_MS + server->write_expiry);
    }
    if (server->lock_ends != MODEL_NONE) {
        command("PEXPIREAT " LOCK " %lld", (long long) EPOCH_MS + server->lock_ends);
    }
    if (server->record_ends != MODEL_NONE) {
        command("PEXPIREAT " RECORD " %lld", (long long) EPOCH_MS + server->record_ends);
    }
}

static void put(const model_server *server)
{
    char text[64];

    command("DEL " LOCK " " RECORD " " QUEUE " " PEERS " " COUNTER);
    put_holders(server);
    for (int at = 0; at < server->queue_length; at++) {
        char mode[2] = {server->queue[at].mode, '\0'};

        waiter_text(server, server->queue[at].actor, server->queue[at].ticket, text);
        if (mode[0] == 'p') {
            command("ZADD " QUEUE " -inf %s%s", mode, text);
        } else {
            command("ZADD " QUEUE " %d %s%s", at + 1, mode, text);
        }
    }
    if (server->queue_length > 0) {
        command("PEXPIRE " QUEUE " 170000");
    }
    if (server->due != MODEL_NONE) {
        command("HSET " PEERS " due %lld", (long long) EPOCH_MS + server->due);
    }
    if (server->until != MODEL_NONE) {
        command("HSET " PEERS " until %lld", (long long) EPOCH_MS + server->until);
    }
    if (server->has_peers) {
        command("HSET " PEERS " about 1");
    }
    command("PEXPIRE " PEERS " 50000");
    if (server->has_counter) {
        command("SET " COUNTER " %lld", (long long) FENCING);
    }
}

static void call(const model_server *server, const model_call *asking)
{
    const char *words[16] = {"EVALSHA"};
    int count = 1;
    char token[8], ttl[8], waiter[64];

    if (asking->script == MODEL_FLUSH) {
        command("FLUSHALL");
        return;
    }
    words[count++] = digests[asking->script];
    words[count++] = key_counts[asking->script];
    for (int key = 0; key < atoi(key_counts[asking->script]); key++) {
        words[count++] = keys[key];
    }
    snprintf(token, sizeof(token), "t%d", asking->actor);
    words[count++] = token;
    if (asking->script != MODEL_RELEASE) {
        snprintf(ttl, sizeof(ttl), "%d", asking->ttl_ms);
        words[count++] = ttl;
    }
    if (asking->script == MODEL_ACQUIRE || asking->script == MODEL_SHARE) {
        words[count++] = manners[asking->manner];
        words[count++] = asking->peer == 'p' ? "peers" : asking->peer == 'm' ? "mute" : "";
    }
    if (asking->ticket != 0) {
        words[count++] = waiter_text(server, asking->actor, asking->ticket, waiter);
    }
    if (asking->ticket != 0 && asking->script != MODEL_RELEASE) {
        words[count++] = REQUEUE;
    }
    UNIT_CHECK(redisAppendCommandArgv(unit_redis.connection, count, words, NULL) == REDIS_OK);
    pending++;
}

/* ---- Reading what has become of it */

static const char *violation;

static void demand(bool holds, const char *text)
{
    if (!holds && violation == NULL) {
        violation = text;
    }
}

static int actor_of(const char *token)
{
    UNIT_CHECK(token[0] == 't' && token[1] >= '0' && token[1] < '0' + MODEL_ACTORS);
    return token[1] - '0';
}

/* In ms from now; what is over is over now. */
static int16_t from_now(int64_t ms)
{
    int64_t left = ms - EPOCH_MS;

    UNIT_CHECK(left < INT16_MAX);
    return left > 0 ? (int16_t) left : 0;
}

static void read_lock(model_server *after, const redisReply *members, const redisReply *ends)
{
    int64_t last = 0;

    for (size_t at = 0; at < members->elements; at += 2) {
        const char *member = members->element[at]->str;
        int64_t expiry = atoll(members->element[at + 1]->str);

        if (strcmp(member, "__write__") == 0) {
            after->write_expiry = from_now(expiry);
        } else {
            after->expiry[actor_of(member)] = from_now(expiry);
        }
        last = expiry > last ? expiry : last;
    }
    if (members->elements > 0) {
        demand(ends->integer == last, "the lock does not expire with its last member");
        after->lock_ends = from_now(ends->integer);
    }
}

static void read_record(model_server *after, const redisReply *fields, const redisReply *ends)
{
    for (size_t at = 0; at < fields->elements; at += 2) {
        const char *fencing = fields->element[at + 1]->str;

        after->record[actor_of(fields->element[at]->str)] =
            fencing[0] == '\0'                                                 ? MODEL_NO_TOKEN
            : atoll(fencing) == (after->has_counter == 2 ? EPOCH_US : FENCING) ? MODEL_LAST_TOKEN
                                                                               : MODEL_OLDER_TOKEN;
    }
    if (fields->elements > 0) {
        demand(ends->integer > 0, "the record is there for ever");
        after->record_ends = from_now(ends->integer);
    }
}

static void read_queue(model_server *after, const redisReply *entries, const redisReply *left)
{
    UNIT_CHECK(entries->elements <= MODEL_QUEUE);
    for (size_t at = 0; at < entries->elements; at++) {
        const char *entry = entries->element[at]->str;

        after->queue[at].mode = entry[0];
        after->queue[at].ticket = (uint8_t) (entry[1] - '0');
        after->queue[at].actor = (uint8_t) (entry[2] - '0');
    }
    after->queue_length = (uint8_t) entries->elements;
    demand(entries->elements == 0 || left->integer > 0, "the queue is there for ever");
}

static void read_peers(model_server *after, const redisReply *fields, const redisReply *left)
{
    for (size_t at = 0; at < fields->elements; at += 2) {
        const char *field = fields->element[at]->str;
        int64_t ms = atoll(fields->element[at + 1]->str);

        if (strcmp(field, "about") == 0) {
            after->has_peers = 1;
        } else if (strcmp(field, "due") == 0) {
            after->due = from_now(ms);
        } else {
            UNIT_CHECK(strcmp(field, "until") == 0);
            after->until = from_now(ms);
        }
    }
    demand(fields->elements == 0 || left->integer > 0, "what is kept for peers is there for ever");
}

static void read_all(model_server *after)
{
    redisReply *replies[9];

    for (size_t at = 0; at < 9; at++) {
        replies[at] = receive();
    }
    /* Which token is the last one has to be known before the record is read. */
    after->has_counter = replies[0]->type == REDIS_REPLY_NIL  ? 0
                         : atoll(replies[0]->str) == EPOCH_US ? 2
                                                              : 1;
    read_lock(after, replies[1], replies[2]);
    read_record(after, replies[3], replies[4]);
    read_queue(after, replies[5], replies[6]);
    read_peers(after, replies[7], replies[8]);
    after->has_counter = after->has_counter != 0;
    for (size_t at = 0; at < 9; at++) {
        freeReplyObject(replies[at]);
    }
}

static void read_answer(model_outcome *outcome, const model_server *before,
                        const model_call *asking, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        fail_msg("a script failed: %s", reply->str);
    }
    outcome->answer = MODEL_HAS;
    if (reply->type == REDIS_REPLY_NIL
        || (reply->type == REDIS_REPLY_INTEGER && reply->integer == 0)) {
        outcome->answer = MODEL_REFUSED;
    } else if (reply->type == REDIS_REPLY_ARRAY) {
        int64_t place = reply->element[0]->integer, delay = reply->element[1]->integer;

        outcome->answer = place == -1   ? MODEL_UNREACHABLE
                          : place == -2 ? MODEL_CONFLICT
                                        : MODEL_HAS_PLACE;
        if (outcome->answer == MODEL_HAS_PLACE) {
            demand(delay > 0 && delay <= 60000, "who has to wait is told no time to ask again");
            outcome->place = (uint8_t) place;
            outcome->delay_ms = (int16_t) delay;
        }
    } else if (asking->script == MODEL_ACQUIRE) {
        /* A token that it has already is one of a writer that has claimed before. */
        int64_t fencing = atoll(reply->str);
        model_token had = before->expiry[asking->actor] > 0 ? before->record[asking->actor] : 0;

        demand(strspn(reply->str, "0123456789") == reply->len, "a fencing token is no number");
        demand((had == MODEL_LAST_TOKEN && fencing == FENCING)
                   || (had == MODEL_OLDER_TOKEN && fencing == FENCING - 1) || fencing > FENCING,
               "a fencing token does not rise");
    }
}

static void read_message(model_outcome *outcome, const char *channel, const char *text)
{
    model_message *message = &outcome->messages[outcome->message_count];
    const char *ticket;

    if (strncmp(text, "test ", 5) == 0) {
        return;
    }
    UNIT_CHECK(outcome->message_count < MODEL_MESSAGES);
    outcome->message_count++;
    *message = (model_message){.word = MODEL_REQUEUE, .actor = MODEL_ACTORS};
    if (strcmp(channel, REQUEUE) == 0) {
        demand(strcmp(text, LOCK) == 0, "a message to all does not name the lock");
        return;
    }
    message->word = strncmp(text, "granted ", 8) == 0 ? MODEL_GRANTED : MODEL_FIRST;
    message->actor = (uint8_t) (channel[strlen(channel) - 1] - '0');
    ticket = strchr(text, ' ') + 1;
    message->ticket = (uint8_t) (ticket[0] - '0');
    demand(ticket[1] - '0' == message->actor, "a message is of another's wait");
    if (message->word == MODEL_FIRST) {
        message->ms = (int16_t) atoi(strrchr(text, ' ') + 1);
        demand(message->ms > 0 && message->ms <= 1100, "the first is told no time to ask again");
    }
}

/* All that was published before the mark. */
static void read_messages(model_outcome *outcome)
{
    for (;;) {
        redisReply *reply;
        void *got;
        bool is_last;

        if (redisGetReply(subscriber, &got) != REDIS_OK) {
            fail_msg("no message: %s", subscriber->errstr);
        }
        reply = got;
        is_last = strcmp(reply->element[1]->str, MARK) == 0;
        if (!is_last) {
            read_message(outcome, reply->element[1]->str, reply->element[2]->str);
        }
        freeReplyObject(reply);
        if (is_last) {
            return;
        }
    }
}

void model_end_keys(model_server *after)
{
    if (after->lock_ends == 0) {
        for (int actor = 0; actor < MODEL_ACTORS; actor++) {
            after->expiry[actor] = MODEL_NONE;
        }
        after->write_expiry = after->lock_ends = MODEL_NONE;
    }
    if (after->record_ends == 0) {
        memset(after->record, MODEL_NO_RECORD, sizeof(after->record));
        after->record_ends = MODEL_NONE;
    }
}

static void find_out(const question *asking, model_outcome *outcome)
{
    static const char expiry[] = UNIT_REDIS_LUA_EXPIRY "return expiry_of(KEYS[1])";
    redisReply *reply = NULL;
    model_server *after = &outcome->after;

    memset(outcome, 0, sizeof(*outcome));
    violation = NULL;
    memcpy(after->hears, asking->server.hears, sizeof(after->hears));
    after->write_expiry = after->lock_ends = after->record_ends = MODEL_NONE;
    after->due = after->until = MODEL_NONE;
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        after->expiry[actor] = MODEL_NONE;
    }
    put(&asking->server);
    call(&asking->server, &asking->call);
    for (size_t left = pending; left > 0; left--) {
        freeReplyObject(reply);
        reply = receive();
    }
    read_answer(outcome, &asking->server, &asking->call, reply);
    freeReplyObject(reply);
    command("GET " COUNTER);
    command("ZRANGE " LOCK " 0 -1 WITHSCORES");
    command("EVAL %s 1 " LOCK, expiry);
    command("HGETALL " RECORD);
    command("EVAL %s 1 " RECORD, expiry);
    command("ZRANGE " QUEUE " 0 -1");
    command("PTTL " QUEUE);
    command("HGETALL " PEERS);
    command("PTTL " PEERS);
    read_all(after);
    model_end_keys(after);
    command("PUBLISH " MARK " .");
    freeReplyObject(receive());
    read_messages(outcome);
    outcome->violation = violation;
}

static void make_room(void)
{
    size_t old_room = answer_room;
    typeof(answers) old = answers;

    if (2 * answer_count < answer_room) {
        return;
    }
    answer_room = old_room == 0 ? 4096 : 4 * old_room;
    answers = calloc(answer_room, sizeof(*answers));
    UNIT_CHECK(answers != NULL);
    for (size_t at = 0; at < old_room; at++) {
        if (old[at].is_there) {
            answers[place_of(&old[at].question)] = old[at];
        }
    }
    free(old);
}

const model_outcome *model_ask(const model_server *server, const model_call *asking)
{
    question whole;
    size_t at;

    memset(&whole, 0, sizeof(whole));
    memcpy(&whole.server, server, sizeof(*server));
    memcpy(&whole.call, asking, sizeof(*asking));
    make_room();
    at = place_of(&whole);
    if (!answers[at].is_there) {
        answers[at].question = whole;
        find_out(&whole, &answers[at].outcome);
        answers[at].is_there = true;
        answer_count++;
        asked++;
    }
    return &answers[at].outcome;
}
