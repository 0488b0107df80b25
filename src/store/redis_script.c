/* The scripts of the Redis store (redis/ *.lua), and the commands that run them. */
#include "redis.h"
#include "redis_scripts.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t length;
    uint8_t key_count; /* as many of the names below */
    bool takes_ttl;    /* beside the token */
} redis_script;

#define SCRIPT(text, key_count, takes_ttl)                                                         \
    {                                                                                              \
        text, sizeof(text) - 1, key_count, takes_ttl                                               \
    }

static const redis_script scripts[REDIS_SCRIPT_COUNT] = {
    [REDIS_ACQUIRE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_QUEUE REDIS_LUA_ACQUIRE, 5, true),
    [REDIS_ACQUIRE_SHARED] =
        SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_QUEUE REDIS_LUA_ACQUIRE_SHARED, 4, true),
    [REDIS_REFRESH] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_REFRESH, 2, true),
    [REDIS_RELEASE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_QUEUE REDIS_LUA_RELEASE, 4, false),
    [REDIS_PROBE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PROBE, 1, false),
};

static void digest_scripts(redis_store *store)
{
    const latch_env *env = &store->store.engine->env;

    for (size_t at = 0; at < REDIS_SCRIPT_COUNT; at++) {
        const struct iovec text = {(void *) (uintptr_t) scripts[at].text, scripts[at].length};
        uint8_t digest[LATCH_DIGEST_MAX];

        env->digest(env->context, LATCH_SHA1, &text, 1, digest);
        for (size_t byte = 0; byte < 20; byte++) {
            snprintf(&store->digests[at][2 * byte], 3, "%02x", digest[byte]);
        }
    }
}

/* Writes prefix, name and resource behind each other, as one key. */
static char *add_key(redis_command *command, char *at, const redis_options *options,
                     const char *name, const char *resource, size_t length)
{
    char *key = at;

    memcpy(at, options->prefix, options->prefix_length);
    at += options->prefix_length;
    memcpy(at, name, strlen(name));
    at += strlen(name);
    memcpy(at, resource, length);
    at += length;
    latch_redis_add(command, key, (size_t) (at - key));
    return at;
}

redis_call *latch_redis_send_script(redis_store *store, redis_script_id id, bool as_text,
                                    const redis_target *target, int64_t ttl_ms, int64_t now_ns)
{
    static const char *const names[] = {"", REDIS_OWN_KEYS "holder:", REDIS_OWN_KEYS "fencing"};
    const latch_engine *engine = store->store.engine;
    const redis_script *script = &scripts[id];
    const redis_options *options = &store->options;
    size_t size = 3 * options->prefix_length + 2 * target->length + 64;
    char small[512], *keys = size <= sizeof(small) ? small : latch_allocate(engine, size);
    char key_count[2] = {(char) ('0' + script->key_count), '\0'}, ttl[24], *at = keys;
    redis_command command = {.count = 0};
    redis_call *call;

    if (keys == NULL) {
        return NULL;
    }
    if (store->digests[id][0] == '\0') {
        digest_scripts(store);
    }
    latch_redis_add_text(&command, as_text ? "EVAL" : "EVALSHA");
    latch_redis_add(&command, as_text ? script->text : store->digests[id],
                    as_text ? script->length : sizeof(store->digests[id]) - 1);
    latch_redis_add_text(&command, key_count);
    for (size_t key = 0; key < script->key_count; key++) {
        at = add_key(&command, at, options, names[key], target->resource,
                     key == 2 ? 0 : target->length);
    }
    latch_redis_add_text(&command, target->token);
    if (script->takes_ttl) {
        latch_redis_add(&command, ttl,
                        (size_t) snprintf(ttl, sizeof(ttl), "%lld", (long long) ttl_ms));
    }
    call = latch_redis_send(&store->connection, &command, now_ns);
    if (keys != small) {
        latch_free(engine, keys);
    }
    return call;
}
