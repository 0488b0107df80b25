/* The scripts of the Redis store (lua/ *.lua), and the commands that run them: see script.h. */
#include "src/store/redis/script/script.h"
#include "redis_scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FENCING_KEY = REDIS_LAYOUT_KEYS - 1, /* one for all locks: without a resource */
    KEY_NAME_MAX = REDIS_OWN_SIZE + sizeof("permit-queue:"),
    /* A command begins with "EVAL", the script, and the number of its keys. */
    SCRIPT_ARGUMENTS = 3,
};

typedef struct {
    const char *text;
    size_t length;
    uint8_t key_count; /* as many of the names above */
    bool takes_ttl;    /* beside the token */
    bool takes_lock;   /* or permits */
    bool sets_key;     /* for the TTL and 1 ms, as Redis cuts a key's time to whole ones */
    bool leaves_queue;
} redis_script;

#define SCRIPT(lua, keys, ...)                                                                     \
    {                                                                                              \
        .text = lua, .length = sizeof(lua) - 1, .key_count = (keys), ##__VA_ARGS__                 \
    }
#define TAKES .takes_ttl = true, .takes_lock = true
#define RENEWS .takes_ttl = true
#define RELEASES .leaves_queue = true

static const redis_script scripts[REDIS_SCRIPT_COUNT] = {
    [REDIS_ACQUIRE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE, 5, TAKES),
    [REDIS_ACQUIRE_SHARED] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE_SHARED, 4, TAKES),
    [REDIS_REFRESH] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_REFRESH, 2, RENEWS),
    [REDIS_RELEASE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_RELEASE, 4, RELEASES),
    [REDIS_LET_GO] = SCRIPT(REDIS_LUA_LET_GO, 2),
    [REDIS_PROBE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PROBE, 1),
    [REDIS_INSPECT] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_INSPECT, 3),
    [REDIS_EVICT] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_EVICT, 4),
    [REDIS_PERMIT_ACQUIRE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PERMIT_ACQUIRE, 5, TAKES),
    [REDIS_PERMIT_REFRESH] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PERMIT_REFRESH, 3, RENEWS),
    [REDIS_PERMIT_RELEASE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PERMIT_RELEASE, 5, RELEASES),
    [REDIS_PERMIT_LET_GO] = SCRIPT(REDIS_LUA_PERMIT_LET_GO, 3),
    [REDIS_PERMIT_PROBE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PERMIT_PROBE, 2),
    [REDIS_PERMIT_INSPECT] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PERMIT_INSPECT, 4),
    [REDIS_STRING_ACQUIRE] =
        SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_STRING_ACQUIRE, 5, TAKES, .sets_key = true),
    [REDIS_STRING_REFRESH] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_STRING_REFRESH, 2, RENEWS),
    [REDIS_STRING_RELEASE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_STRING_RELEASE, 4, RELEASES),
    [REDIS_STRING_LET_GO] = SCRIPT(REDIS_LUA_STRING_LET_GO, 2),
    [REDIS_STRING_PROBE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_STRING_PROBE, 2),
    [REDIS_STRING_INSPECT] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_STRING_INSPECT, 3),
    [REDIS_STRING_EVICT] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_STRING_EVICT, 4),
};

void latch_redis_digest_scripts(redis_scripts *all)
{
    const latch_env *env = &all->engine->env;

    for (size_t at = 0; at < REDIS_SCRIPT_COUNT; at++) {
        const struct iovec text = {(void *) (uintptr_t) scripts[at].text, scripts[at].length};
        uint8_t digest[LATCH_DIGEST_MAX];

        env->digest(env->context, LATCH_SHA1, &text, 1, digest);
        for (size_t byte = 0; byte < 20; byte++) {
            snprintf(&all->digests[at][2 * byte], 3, "%02x", digest[byte]);
        }
    }
}

/* Writes the keys that the script works on: prefix, name and resource behind each other. */
static bool add_keys(redis_script_command *written, const redis_scripts *all,
                     const redis_keyspace *keys, const redis_script_target *target, size_t count)
{
    size_t most = REDIS_LAYOUT_KEYS * (keys->prefix_length + target->length + KEY_NAME_MAX);
    const redis_layout *layout = target->layout;
    char own[REDIS_OWN_SIZE] = REDIS_OWN_KEYS, *at;
    size_t own_length = keys->is_tagged
                            ? latch_redis_own_names(keys, target->resource, target->length, own)
                            : sizeof(REDIS_OWN_KEYS) - 1;

    written->keys = most <= sizeof(written->small_keys) ? written->small_keys
                                                        : latch_allocate(all->engine, most);
    if (written->keys == NULL) {
        return false;
    }
    at = written->keys;
    for (size_t key = 0; key < count; key++) {
        char *begin = at;

        at = mempcpy(at, keys->prefix, keys->prefix_length);
        if (key >= layout->peer_keys) {
            at = mempcpy(at, own, own_length);
            at = mempcpy(at, layout->keys[key].text, layout->keys[key].length);
        }
        if (key != FENCING_KEY || !layout->has_fencing) {
            at = mempcpy(at, target->resource, target->length);
        }
        if (key < layout->peer_keys) {
            at = mempcpy(at, layout->keys[key].text, layout->keys[key].length);
        }
        latch_redis_add(&written->command, begin, (size_t) (at - begin));
    }
    return true;
}

/* The TTL, the weight and the limit of permits, and behind them the holder information. */
static void add_ttl(redis_script_command *written, const redis_scripts *all,
                    const redis_command_spec *spec, const redis_script_target *target)
{
    const latch_env *env = &all->engine->env;
    const char *info = scripts[spec->id].takes_lock && env->holder_info != NULL
                           ? env->holder_info(env->context)
                           : NULL;
    int64_t ttl_ms = spec->ttl_ms + (scripts[spec->id].sets_key && spec->ttl_ms > 0 ? 1 : 0);
    int length = snprintf(written->ttl, REDIS_TTL_SIZE, "%lld", (long long) ttl_ms);

    if (target->permits.limit > 0 && scripts[spec->id].takes_lock) {
        length += snprintf(written->ttl + length, REDIS_TTL_SIZE - (size_t) length, " %s%lld %lld",
                           target->permits.overtakes ? "0" : "", (long long) target->permits.weight,
                           (long long) target->permits.limit);
    }
    if (info != NULL) {
        length += snprintf(written->ttl + length, REDIS_TTL_SIZE - (size_t) length, " %.*s",
                           LATCH_HOLDER_INFO_MAX, info);
    }
    latch_redis_add(&written->command, written->ttl, (size_t) length);
}

/*
 * Writes "TICKET LENGTH TOKENCHANNEL": the waiter, but for its mode. A waiter for permits has
 * "WEIGHT LIMIT TOKEN" in the place of the token; a leading zero of the weight says that it may
 * overtake.
 */
static bool write_waiter(redis_script_command *written, const redis_scripts *all,
                         const redis_command_spec *spec, const redis_script_target *target)
{
    size_t size = target->token_length + strlen(spec->channel) + 96;
    char permits[40] = "", *at;

    written->waiter = size <= sizeof(written->small_waiter) ? written->small_waiter
                                                            : latch_allocate(all->engine, size);
    if (written->waiter == NULL) {
        return false;
    }
    if (target->permits.limit > 0) {
        snprintf(permits, sizeof(permits), "%s%lld %lld ", target->permits.overtakes ? "0" : "",
                 (long long) target->permits.weight, (long long) target->permits.limit);
    }
    at = written->waiter
         + snprintf(written->waiter, size, "%" PRIu64 " %zu %s", target->ticket,
                    strlen(permits) + target->token_length, permits);
    at = mempcpy(at, target->token, target->token_length);
    written->waiter_length = (size_t) (stpcpy(at, spec->channel) - written->waiter);
    return true;
}

/* Arguments of an acquire about waiting. */
static void add_acquire_step(redis_script_command *written, const redis_command_spec *spec)
{
    static const char *const step_names[] = {
        [REDIS_TRY] = "try",   [REDIS_WAIT] = "wait",   [REDIS_CHECK] = "check",
        [REDIS_POLL] = "poll", [REDIS_CLAIM] = "claim",
    };

    latch_redis_add_text(&written->command, step_names[spec->step]);
    latch_redis_add_text(&written->command, spec->has_no_pubsub         ? "mute"
                                            : spec->has_polling_clients ? "peers"
                                                                        : "");
    if (written->waiter != NULL) {
        latch_redis_add(&written->command, written->waiter, written->waiter_length);
        latch_redis_add_text(&written->command, spec->requeue_channel);
    }
}

bool latch_redis_write_script(redis_script_command *written, redis_scripts *all,
                              const redis_keyspace *keys, const redis_command_spec *spec,
                              const redis_script_target *target)
{
    const redis_script *script = &scripts[spec->id];
    const char *digest = latch_redis_digest(all, spec->id);
    redis_command *command = &written->command;

    command->count = 0;
    written->keys = written->waiter = NULL;
    if (target->ticket != 0 && !write_waiter(written, all, spec, target)) {
        return false;
    }
    written->key_count[0] = (char) ('0' + script->key_count);
    if (spec->as_text) {
        latch_redis_add(command, "EVAL", 4);
        latch_redis_add(command, script->text, script->length);
    } else {
        latch_redis_add(command, "EVALSHA", 7);
        latch_redis_add(command, digest, sizeof(*all->digests) - 1);
    }
    latch_redis_add(command, written->key_count, 1);
    if (!add_keys(written, all, keys, target, script->key_count)) {
        return false;
    }
    latch_redis_add(command, target->token, target->keep ? 0 : target->token_length);
    if (script->takes_ttl) {
        add_ttl(written, all, spec, target);
    }
    if (spec->extend) {
        latch_redis_add_text(command, "extend");
    }
    if (script->takes_lock) {
        if (spec->step != REDIS_TRY || spec->has_no_pubsub || written->waiter != NULL) {
            add_acquire_step(written, spec);
        } /* else it is a simple try */
    } else if (script->leaves_queue && written->waiter != NULL) {
        latch_redis_add(command, written->waiter, written->waiter_length);
    }
    written->script = (latch_redis_script){
        .text = script->text,
        .text_length = script->length,
        .digest = digest,
        .digest_length = sizeof(*all->digests) - 1,
        .key_count = script->key_count,
        .count = command->count - SCRIPT_ARGUMENTS,
        .arguments = command->arguments + SCRIPT_ARGUMENTS,
        .lengths = command->lengths + SCRIPT_ARGUMENTS,
    };
    command->script = &written->script;
    return true;
}
