/* The model's server: a state is put into a real one, and a script is run there. See redis_model.h.
 */
#include "redis_model.h"

#include <stdlib.h>

#define REQUEUE "latch:requeue"
#define MARK "model:mark"

static const char *const manners[] = {"try", "check", "wait", "poll", "claim"};

static const model_kind *const kinds[] = {&model_locks, &model_strings, &model_permits};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static char digests[KINDS][MODEL_FLUSH][48];
static redisContext *subscriber;
static int64_t now_ms; /* of the state that is there */

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

    for (size_t kind = 0; kind < KINDS; kind++) {
        for (size_t script = 0; script < MODEL_FLUSH; script++) {
            const char *whole = kinds[kind]->texts[script];
            char *text = whole != NULL ? mutate(whole, mutation, &found) : NULL;

            if (text != NULL) {
                snprintf(digests[kind][script], sizeof(digests[kind][script]), "%s",
                         unit_redis_text("SCRIPT LOAD %s", text));
            }
            free(text);
        }
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
    char token[16], holder[8];

    snprintf(token, sizeof(token), "%s", model_holder(actor, holder));
    if (model_has_permits()) {
        snprintf(token, sizeof(token), "%s%d %d t%d", model_may_overtake(actor) ? "0" : "",
                 model_weight_of(actor), model_scenario_now->limit, actor);
    }
    snprintf(text, 64, "%d%d %zu %slatch:wake:%c%d", ticket, actor, strlen(token), token,
             server->hears[actor] ? 'L' : 'D', actor);
    return text;
}

/* ---- Putting a state there */

static size_t pending; /* commands whose answers were not read */

void model_command(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    UNIT_CHECK(redisvAppendCommand(unit_redis.connection, format, arguments) == REDIS_OK);
    va_end(arguments);
    pending++;
}

redisReply *model_receive(void)
{
    void *reply;

    if (redisGetReply(unit_redis.connection, &reply) != REDIS_OK) {
        fail_msg("no answer: %s", unit_redis.connection->errstr);
    }
    pending--;
    return reply;
}

static size_t kind_now(void)
{
    return model_has_permits()                                                            ? 2
           : model_scenario_now != NULL && model_scenario_now->layout != MODEL_SORTED_SET ? 1
                                                                                          : 0;
}

const model_kind *model_kind_now(void)
{
    return kinds[kind_now()];
}

static const char *queue_key(void)
{
    return model_kind_now()->queue;
}

static const char *peers_key(void)
{
    return model_kind_now()->peers;
}

static void put(const model_server *server)
{
    char text[64];

    now_ms = model_has_permits() ? model_permit_now_ms(server) : MODEL_EPOCH_MS;
    model_kind_now()->put(server);
    for (int at = 0; at < server->queue_length; at++) {
        char mode[2] = {server->queue[at].mode, '\0'};

        mode[0] = mode[0] == 'w' ? model_kind_now()->writer : mode[0];
        waiter_text(server, server->queue[at].actor, server->queue[at].ticket, text);
        if (mode[0] == 'p') {
            model_command("ZADD %s -inf %s%s", queue_key(), mode, text);
        } else {
            model_command("ZADD %s %d %s%s", queue_key(), at + 1, mode, text);
        }
    }
    if (server->queue_length > 0) {
        model_command("PEXPIRE %s 170000", queue_key());
    }
    if (server->due != MODEL_NONE) {
        model_command("HSET %s due %lld", peers_key(), (long long) now_ms + server->due);
    }
    if (server->until != MODEL_NONE) {
        model_command("HSET %s until %lld", peers_key(), (long long) now_ms + server->until);
    }
    if (server->free_for != MODEL_NONE) {
        model_command("HSET %s free %lld", peers_key(), (long long) now_ms - server->free_for);
    }
    if (server->has_peers) {
        model_command("HSET %s about 1", peers_key());
    }
    model_command("PEXPIRE %s 50000", peers_key());
}

static void call(const model_server *server, const model_call *asking)
{
    bool is_permit = model_has_permits();
    bool acquires = asking->script == MODEL_ACQUIRE || asking->script == MODEL_SHARE
                    || asking->script == MODEL_PERMIT_ACQUIRE;
    bool releases = asking->script == MODEL_RELEASE || asking->script == MODEL_PERMIT_RELEASE
                    || asking->script == MODEL_LET_GO || asking->script == MODEL_PERMIT_LET_GO;
    const char *words[16] = {"EVALSHA"};
    int count = 1;
    char holder[8], term[32], waiter[64];

    if (asking->script == MODEL_FLUSH) {
        model_command("FLUSHALL");
        return;
    }
    words[count++] = digests[kind_now()][asking->script];
    words[count++] = model_kind_now()->key_counts[asking->script];
    for (int key = 0; key < atoi(words[2]); key++) {
        words[count++] = model_kind_now()->key(asking->script, key);
    }
    words[count++] = model_holder(asking->actor, holder);
    if (is_permit && acquires) {
        snprintf(term, sizeof(term), "%d %s%d %d", asking->ttl_ms,
                 model_may_overtake(asking->actor) ? "0" : "", model_weight_of(asking->actor),
                 model_scenario_now->limit);
        words[count++] = term;
    } else if (asking->script == MODEL_PERMIT_PEER_TAKES) {
        count += model_permit_peer_words(server, asking, words + count);
    } else if (!releases) {
        snprintf(term, sizeof(term), "%d", asking->ttl_ms);
        words[count++] = term;
    }
    if (acquires) {
        words[count++] = manners[asking->manner];
        words[count++] = asking->peer == 'p' ? "peers" : asking->peer == 'm' ? "mute" : "";
    }
    if (asking->ticket != 0) {
        words[count++] = waiter_text(server, asking->actor, asking->ticket, waiter);
    }
    if (asking->ticket != 0 && !releases) {
        words[count++] = REQUEUE;
    }
    UNIT_CHECK(redisAppendCommandArgv(unit_redis.connection, count, words, NULL) == REDIS_OK);
    pending++;
}

/* ---- Reading what has become of it */

static const char *violation;

void model_demand(bool holds, const char *text)
{
    if (!holds && violation == NULL) {
        violation = text;
    }
}

int model_actor_of(const char *token)
{
    UNIT_CHECK(token[0] == 't' && token[1] >= '0' && token[1] < '0' + MODEL_ACTORS);
    return token[1] - '0';
}

/* In ms from now; what is over is over now. */
int16_t model_from_now(int64_t ms)
{
    int64_t left = ms - now_ms;

    UNIT_CHECK(left < INT16_MAX);
    return left > 0 ? (int16_t) left : 0;
}

static void read_queue(model_server *after, const redisReply *entries, const redisReply *left)
{
    UNIT_CHECK(entries->elements <= MODEL_QUEUE);
    for (size_t at = 0; at < entries->elements; at++) {
        const char *entry = entries->element[at]->str;

        after->queue[at].mode = entry[0] == model_kind_now()->writer ? 'w' : entry[0];
        after->queue[at].ticket = (uint8_t) (entry[1] - '0');
        after->queue[at].actor = (uint8_t) (entry[2] - '0');
    }
    after->queue_length = (uint8_t) entries->elements;
    model_demand(entries->elements == 0 || left->integer > 0, "the queue is there for ever");
}

static void read_peers(model_server *after, const redisReply *fields, const redisReply *left)
{
    for (size_t at = 0; at < fields->elements; at += 2) {
        const char *field = fields->element[at]->str;
        int64_t ms = atoll(fields->element[at + 1]->str);

        if (strcmp(field, "about") == 0) {
            after->has_peers = 1;
        } else if (strcmp(field, "due") == 0) {
            after->due = model_from_now(ms);
        } else if (strcmp(field, "free") == 0) {
            model_demand(ms <= now_ms, "a lock is free from a time that is to come");
            after->free_for = (int16_t) (now_ms - ms);
        } else {
            UNIT_CHECK(strcmp(field, "until") == 0);
            after->until = model_from_now(ms);
        }
    }
    model_demand(fields->elements == 0 || left->integer > 0,
                 "what is kept for peers is there for ever");
}

/* What is asked for at last, in both kinds: the queue, what is kept for peers, and their ends. */
static void read_rest(model_server *after)
{
    redisReply *replies[4];

    for (size_t at = 0; at < 4; at++) {
        replies[at] = model_receive();
    }
    read_queue(after, replies[0], replies[1]);
    read_peers(after, replies[2], replies[3]);
    for (size_t at = 0; at < 4; at++) {
        freeReplyObject(replies[at]);
    }
}

static void read_answer(model_outcome *outcome, const model_server *before,
                        const model_call *asking, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        static char failure[256];

        snprintf(failure, sizeof(failure), "a script failed: %s", reply->str);
        model_demand(false, failure);
        return;
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
            model_demand(delay > 0 && delay <= 60000,
                         "who has to wait is told no time to ask again");
            outcome->place = (uint8_t) place;
            outcome->delay_ms = (int16_t) delay;
        }
    } else if (asking->script == MODEL_ACQUIRE) {
        /* A token that it has already is one of a writer that has claimed before. */
        int64_t fencing = atoll(reply->str);
        model_token had = before->expiry[asking->actor] > 0 ? before->record[asking->actor] : 0;

        model_demand(strspn(reply->str, "0123456789") == reply->len,
                     "a fencing token is no number");
        model_demand((had == MODEL_LAST_TOKEN && fencing == MODEL_FENCING)
                         || (had == MODEL_OLDER_TOKEN && fencing == MODEL_FENCING - 1)
                         || fencing > MODEL_FENCING,
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
        model_demand(strcmp(text, model_kind_now()->name) == 0,
                     "a message to all does not name the lock");
        return;
    }
    message->word = strncmp(text, "granted ", 8) == 0 ? MODEL_GRANTED : MODEL_FIRST;
    message->actor = (uint8_t) (channel[strlen(channel) - 1] - '0');
    ticket = strchr(text, ' ') + 1;
    message->ticket = (uint8_t) (ticket[0] - '0');
    model_demand(ticket[1] - '0' == message->actor, "a message is of another's wait");
    if (message->word == MODEL_FIRST) {
        message->ms = (int16_t) atoi(strrchr(text, ' ') + 1);
        model_demand(message->ms > 0 && message->ms <= 1100,
                     "the first is told no time to ask again");
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
    redisReply *reply = NULL;
    model_server *after = &outcome->after;
    size_t called;

    memset(outcome, 0, sizeof(*outcome));
    violation = NULL;
    memcpy(after->hears, asking->server.hears, sizeof(after->hears));
    after->write_expiry = after->lock_ends = after->record_ends = MODEL_NONE;
    after->due = after->until = after->free_for = MODEL_NONE;
    after->noted_sum = MODEL_NONE;
    after->phase = asking->server.phase;
    for (int actor = 0; actor < MODEL_ACTORS; actor++) {
        after->expiry[actor] = MODEL_NONE;
    }
    put(&asking->server);
    call(&asking->server, &asking->call);
    called = pending;
    model_kind_now()->ask();
    model_command("ZRANGE %s 0 -1", queue_key());
    model_command("PTTL %s", queue_key());
    model_command("HGETALL %s", peers_key());
    model_command("PTTL %s", peers_key());
    model_command("PUBLISH " MARK " .");
    for (size_t left = called; left > 0; left--) {
        freeReplyObject(reply);
        reply = model_receive();
    }
    read_answer(outcome, &asking->server, &asking->call, reply);
    freeReplyObject(reply);
    model_kind_now()->read(after);
    read_rest(after);
    model_end_keys(after);
    freeReplyObject(model_receive());
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

bool model_answers_alike(const model_scenario *other)
{
    const model_scenario *searched = model_scenario_now;
    bool is_alike = true;

    model_scenario_now = other;
    for (size_t at = 0; at < answer_room && is_alike; at++) {
        model_outcome outcome;

        if (answers[at].is_there) {
            find_out(&answers[at].question, &outcome);
            is_alike = memcmp(&outcome, &answers[at].outcome, sizeof(outcome)) == 0;
        }
    }
    model_scenario_now = searched;
    return is_alike;
}
