/*
 * What the C programs send to Redis is as long as what Latch sends: tokens, keys, and the scripts,
 * which benchmark/run makes from src/store/redis/script/lua.
 */
#ifndef LATCH_BENCHMARK_REDIS_KEYS_H
#define LATCH_BENCHMARK_REDIS_KEYS_H

#include "common.h"
#include "redis_scripts.h"

#include <hiredis/hiredis.h>
#include <string.h>

#define TOKEN "dGhlIG93bmVyIG9mIHRoaXMgbG9jayBpcyByYXcgQyE="
#define OTHER_TOKEN "YW5vdGhlciBvbmUgd2hvIHdvdWxkIGxpa2UgdG8gaGE="
#define TTL_MS "30000"
/* With a note of 72 bytes, to acquire: lib/RedisCounters.php. */
#define TERM TTL_MS " " NOTE
#define NOTE "a-host 12345 /srv/www/application-with-a-usual-name/releases/1/public.ph"

/* The keys of one resource. */
struct keys {
    char lock[32];
    char record[48];
    char queue[48];
    char peers[48];
    char counter[32];
};

/* `tag`: what puts keys into the lock's slot, "{TAG}:"; nothing where there are no slots. */
static inline void set_keys(struct keys *keys, const char *lock, const char *tag)
{
    snprintf(keys->lock, sizeof keys->lock, "%s", lock);
    snprintf(keys->record, sizeof keys->record, "latch:%sholder:%s", tag, lock);
    snprintf(keys->queue, sizeof keys->queue, "latch:%squeue:%s", tag, lock);
    snprintf(keys->peers, sizeof keys->peers, "latch:%speers:%s", tag, lock);
    snprintf(keys->counter, sizeof keys->counter, "latch:%sfencing", tag);
}

/* A script as it is called: by its digest, or with its text. */
struct script {
    const char *text;
    char digest[41];
};

/* Has a server keep the script, on a connection whose functions block. */
static inline void load_script(redisContext *server, struct script *script)
{
    redisReply *reply = redisCommand(server, "SCRIPT LOAD %s", script->text);

    check(reply && reply->type == REDIS_REPLY_STRING && reply->len == 40, "SCRIPT LOAD");
    memcpy(script->digest, reply->str, 41);
    freeReplyObject(reply);
}

#endif
