/* Scripts on a connection of hiredis: see redis_client.h. */
#include "redis_client.h"

enum { COMMAND = 3, ARGUMENTS = 16, KEYS = 5 };

static redisReply *run_as(redisContext *client, const char *prefix, const char *name,
                          const char *text, size_t length, const latch_redis_script *script)
{
    char count[24], keys[KEYS][128];
    const char *arguments[ARGUMENTS] = {name, text, count};
    size_t lengths[ARGUMENTS] = {strlen(name), length};

    lengths[2] = (size_t) snprintf(count, sizeof(count), "%zu", script->key_count);
    for (size_t at = 0; at < script->count; at++) {
        arguments[COMMAND + at] = script->arguments[at];
        lengths[COMMAND + at] = script->lengths[at];
        if (at < script->key_count && prefix[0] != '\0') {
            lengths[COMMAND + at] = (size_t) snprintf(keys[at], sizeof(keys[at]), "%s%.*s", prefix,
                                                      (int) script->lengths[at],
                                                      script->arguments[at]);
            arguments[COMMAND + at] = keys[at];
        }
    }
    return redisCommandArgv(client, (int) (COMMAND + script->count), arguments, lengths);
}

static void read_list(const redisReply *reply, latch_redis_answer *answer)
{
    size_t bytes = 0;

    for (size_t at = 0; at < reply->elements; at++) {
        bytes += reply->element[at]->len;
    }
    answer->list = latch_answer_make(unit.engine, reply->elements, bytes);
    answer->kind = answer->list != NULL ? LATCH_REDIS_LIST : LATCH_REDIS_UNEXPECTED;
    for (size_t at = 0; answer->list != NULL && at < reply->elements; at++) {
        latch_answer_add(answer->list, reply->element[at]->str, reply->element[at]->len);
    }
}

static void read_reply(const redisReply *reply, latch_redis_answer *answer)
{
    snprintf(answer->text, sizeof(answer->text), "%s", reply->str != NULL ? reply->str : "");
    answer->integers[0] = reply->integer;
    switch (reply->type) {
        case REDIS_REPLY_NIL:
            answer->kind = LATCH_REDIS_NIL;
            break;
        case REDIS_REPLY_INTEGER:
            answer->kind = LATCH_REDIS_INTEGER;
            break;
        case REDIS_REPLY_STRING:
            answer->kind = LATCH_REDIS_TEXT;
            break;
        case REDIS_REPLY_ERROR:
            answer->kind = LATCH_REDIS_ERROR;
            break;
        default:
            if (reply->elements == 0 || reply->element[0]->type == REDIS_REPLY_STRING) {
                read_list(reply, answer);
                return;
            }
            answer->kind = LATCH_REDIS_PAIR;
            answer->integers[0] = reply->element[0]->integer;
            answer->integers[1] = reply->element[1]->integer;
    }
}

void redis_client_run(redisContext *client, const char *prefix, const latch_redis_script *script,
                      latch_redis_answer *answer)
{
    redisReply *reply =
        run_as(client, prefix, "EVALSHA", script->digest, script->digest_length, script);

    if (reply != NULL && reply->type == REDIS_REPLY_ERROR
        && strncmp(reply->str, "NOSCRIPT", 8) == 0) {
        freeReplyObject(reply);
        reply = run_as(client, prefix, "EVAL", script->text, script->text_length, script);
    }
    UNIT_CHECK(reply != NULL);
    read_reply(reply, answer);
    freeReplyObject(reply);
}
