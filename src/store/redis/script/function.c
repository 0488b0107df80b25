/* Functions of versions, throttles, count-downs, sequences and debounces: see function.h. */
#include "src/store/redis/script/function.h"
#include "redis_scripts.h"

#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 3, KIND_MAX = sizeof("sequence-payloads:") };

enum { VERSION, THROTTLE, COUNT_DOWN, SEQUENCE, DEBOUNCE };

#define SCRIPT(own)                                                                                \
    REDIS_LUA_CLOCK REDIS_LUA_REQUESTS own, sizeof(REDIS_LUA_CLOCK REDIS_LUA_REQUESTS own) - 1

/* Script, and the kinds of its keys, which stand before the resource in their names. */
static const struct {
    const char *text;
    size_t length;
    const char *kinds[KEYS_MAX];
} scripts[REDIS_FUNCTION_SCRIPTS] = {
    [VERSION] = {SCRIPT(REDIS_LUA_VERSION), {"version:"}},
    [THROTTLE] = {SCRIPT(REDIS_LUA_THROTTLE), {"throttle:"}},
    [COUNT_DOWN] = {SCRIPT(REDIS_LUA_COUNT_DOWN), {"count:", "count-members:"}},
    [SEQUENCE] = {SCRIPT(REDIS_LUA_SEQUENCE),
                  {"sequence:", "sequence-tickets:", "sequence-payloads:"}},
    [DEBOUNCE] = {SCRIPT(REDIS_LUA_DEBOUNCE), {"debounce:", "debounce-ended:"}},
};

static const struct {
    uint8_t script;
    const char *name;  /* to the script */
    const char *parts; /* see latch_redis_function_parts() */
} functions_of_scripts[LATCH_FUNCTION_COUNT] = {
    [LATCH_VERSION_ADVANCE] = {VERSION, "advance", "."},
    [LATCH_VERSION_REVERT] = {VERSION, "revert", "."},
    [LATCH_VERSION_OUTDATED] = {VERSION, "outdated", "."},
    [LATCH_VERSION_GET] = {VERSION, "get", ""},
    [LATCH_THROTTLE_RESERVE] = {THROTTLE, "reserve", ".#"},
    [LATCH_THROTTLE_LOOK] = {THROTTLE, "look", "#"},
    [LATCH_COUNT_DOWN_OPEN] = {COUNT_DOWN, "open", "."},
    [LATCH_COUNT_DOWN_ARRIVE] = {COUNT_DOWN, "arrive", "."},
    [LATCH_COUNT_DOWN_DONE] = {COUNT_DOWN, "done", ".#"},
    [LATCH_COUNT_DOWN_CANCEL] = {COUNT_DOWN, "cancel", "."},
    [LATCH_COUNT_DOWN_STATE] = {COUNT_DOWN, "state", "."},
    [LATCH_COUNT_DOWN_INSPECT] = {COUNT_DOWN, "inspect", ".##.##"},
    [LATCH_SEQUENCE_ENTER] = {SEQUENCE, "enter", "#."},
    [LATCH_SEQUENCE_RESUME] = {SEQUENCE, "resume", ".#"},
    [LATCH_SEQUENCE_NEXT] = {SEQUENCE, "next", "?#."},
    [LATCH_SEQUENCE_PUT_BACK] = {SEQUENCE, "put_back", ""},
    [LATCH_SEQUENCE_ABANDON] = {SEQUENCE, "abandon", "?#."},
    [LATCH_SEQUENCE_INSPECT] = {SEQUENCE, "inspect", "..####"},
    [LATCH_DEBOUNCE_REGISTER] = {DEBOUNCE, "register", "##"},
    [LATCH_DEBOUNCE_SENT] = {DEBOUNCE, "sent", ""},
    [LATCH_DEBOUNCE_RESUME] = {DEBOUNCE, "resume", ".#"},
    [LATCH_DEBOUNCE_DONE] = {DEBOUNCE, "done", ""},
};

const char *latch_redis_function_parts(latch_function function)
{
    return functions_of_scripts[function].parts;
}

static void digest_functions(const latch_engine *engine, redis_functions *functions)
{
    const latch_env *env = &engine->env;

    for (size_t at = 0; at < REDIS_FUNCTION_SCRIPTS; at++) {
        const struct iovec text = {(void *) (uintptr_t) scripts[at].text, scripts[at].length};
        uint8_t digest[LATCH_DIGEST_MAX];

        env->digest(env->context, LATCH_SHA1, &text, 1, digest);
        for (size_t byte = 0; byte < 20; byte++) {
            snprintf(&functions->digests[at][2 * byte], 3, "%02x", digest[byte]);
        }
    }
}

static size_t count_keys(size_t script)
{
    size_t count = 1;

    while (count < KEYS_MAX && scripts[script].kinds[count] != NULL) {
        count++;
    }
    return count;
}

bool latch_redis_is_function_key(const char *name, size_t length)
{
    for (size_t script = 0; script < REDIS_FUNCTION_SCRIPTS; script++) {
        for (size_t key = 0; key < count_keys(script); key++) {
            if (latch_redis_is_of_kind(name, length, scripts[script].kinds[key])) {
                return true;
            }
        }
    }
    return false;
}

/* Writes the keys: prefix, "latch:" with the slot's tag, kind and resource behind each other. */
static bool add_function_keys(redis_function_command *written, const latch_engine *engine,
                              const redis_keyspace *keys, size_t script, const char *resource,
                              size_t length)
{
    char own[REDIS_OWN_SIZE];
    size_t own_length = latch_redis_own_names(keys, resource, length, own);
    size_t most = KEYS_MAX * (keys->prefix_length + own_length + KIND_MAX + length);
    char *at;

    if (most > sizeof(written->small_keys)) {
        written->keys = latch_allocate(engine, most);
    }
    if (written->keys == NULL) {
        return false;
    }
    at = written->keys;
    for (size_t key = 0; key < count_keys(script); key++) {
        char *begin = at;

        at = mempcpy(at, keys->prefix, keys->prefix_length);
        at = mempcpy(at, own, own_length);
        at = stpcpy(at, scripts[script].kinds[key]);
        at = mempcpy(at, resource, length);
        latch_redis_add(&written->command, begin, (size_t) (at - begin));
    }
    return true;
}

bool latch_redis_write_function(redis_function_command *written, const latch_engine *engine,
                                redis_functions *functions, const redis_keyspace *keys,
                                const latch_call *call, const char *resource, size_t length,
                                const char *id, const redis_function_waiter *waiter, bool as_text)
{
    enum { HEAD = 3 }; /* "EVAL", the script, the number of its keys */
    size_t script = functions_of_scripts[call->function].script;
    redis_command *command = &written->command;

    if (functions->digests[0][0] == '\0') {
        digest_functions(engine, functions);
    }
    command->count = 0;
    written->keys = written->small_keys;
    written->key_count[0] = (char) ('0' + count_keys(script));
    latch_redis_add_text(command, as_text ? "EVAL" : "EVALSHA");
    if (as_text) {
        latch_redis_add(command, scripts[script].text, scripts[script].length);
    } else {
        latch_redis_add_text(command, functions->digests[script]);
    }
    latch_redis_add(command, written->key_count, 1);
    if (!add_function_keys(written, engine, keys, script, resource, length)) {
        return false;
    }
    latch_redis_add(command, id, REDIS_FUNCTION_ID_LENGTH);
    latch_redis_add_text(command, functions_of_scripts[call->function].name);
    for (size_t at = 0; at < call->count; at++) {
        latch_redis_add(command, call->arguments[at].text, call->arguments[at].length);
    }
    if (waiter != NULL) {
        latch_redis_add(command, written->ticket,
                        (size_t) snprintf(written->ticket, sizeof(written->ticket), "%llu",
                                          (unsigned long long) waiter->ticket));
        latch_redis_add_text(command, waiter->channel);
    }
    written->script = (latch_redis_script){
        .text = scripts[script].text,
        .text_length = scripts[script].length,
        .digest = functions->digests[script],
        .digest_length = sizeof(*functions->digests) - 1,
        .key_count = count_keys(script),
        .count = command->count - HEAD,
        .arguments = command->arguments + HEAD,
        .lengths = command->lengths + HEAD,
    };
    command->script = &written->script;
    return true;
}
