/* The scripts of the Redis store (redis/ *.lua), and the commands that run them. */
#include "src/store/redis/lock/redis.h"
#include "redis_scripts.h"
#include "src/store/redis/script/slot.h"

#include <inttypes.h>
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
    [REDIS_ACQUIRE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE, 5, true),
    [REDIS_ACQUIRE_SHARED] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE_SHARED, 4, true),
    [REDIS_REFRESH] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_REFRESH, 2, true),
    [REDIS_RELEASE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_RELEASE, 4, false),
    [REDIS_PROBE] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_PROBE, 1, false),
    [REDIS_INSPECT] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_INSPECT, 3, false),
    [REDIS_EVICT] = SCRIPT(REDIS_LUA_CLOCK REDIS_LUA_EVICT, 4, false),
};

/* Of a TTL as a text, and of a note behind it. */
enum { TERM_SIZE = 24 + LATCH_NOTE_MAX + 1 };

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

const char *latch_redis_digest(redis_store *store, redis_script_id id)
{
    if (store->digests[id][0] == '\0') {
        digest_scripts(store);
    }
    return store->digests[id];
}

static char *append(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

/* In a cluster what is kept beside a lock has to be in its slot. */
void latch_redis_own_names(const redis_store *store, const char *resource, size_t length,
                           char own[REDIS_OWN_SIZE])
{
    const redis_object *object = store->node.connection.object;
    const char *prefix = object != NULL ? object->prefix : store->options.prefix;
    size_t prefix_length = object != NULL ? object->prefix_length : store->options.prefix_length;
    bool is_cluster = object != NULL ? object->runner.is_cluster : store->cluster != NULL;
    char *end = append(own, REDIS_OWN_KEYS, sizeof(REDIS_OWN_KEYS) - 1);

    if (is_cluster && latch_redis_prefix_kind(prefix, prefix_length) == REDIS_PREFIX_OPEN) {
        *end++ = '{';
        latch_redis_slot_tag(latch_redis_slot(prefix, prefix_length, resource, length), end);
        end = append(end + REDIS_SLOT_TAG_SIZE - 1, "}:", 2);
    }
    *end = '\0';
}

/* Writes prefix, name and resource behind each other, as one key. An empty name is the lock's. */
static char *add_key(redis_command *command, char *at, const redis_options *options,
                     const char *own, const char *name, const char *resource, size_t length)
{
    char *key = at;

    at = append(at, options->prefix, options->prefix_length);
    at = append(at, own, name[0] != '\0' ? strlen(own) : 0);
    at = append(at, name, strlen(name));
    at = append(at, resource, length);
    latch_redis_add(command, key, (size_t) (at - key));
    return at;
}

/* "TICKET LENGTH TOKENCHANNEL": the waiter, but for what it waits to be. NULL: memory ran out. */
static char *name_waiter(const redis_store *store, const redis_target *target, char *small,
                         size_t small_size)
{
    const char *channel = store->subscription.channel;
    size_t size = strlen(target->token) + strlen(channel) + 48;
    char *waiter = size <= small_size ? small : latch_allocate(store->store.engine, size);

    if (waiter != NULL) {
        snprintf(waiter, size, "%" PRIu64 " %zu %s%s", target->ticket, strlen(target->token),
                 target->token, channel);
    }
    return waiter;
}

/* What a script that takes a lock is told about waiting; nothing for a simple try. */
static void add_manner(redis_command *command, const redis_node *node, const redis_order *order,
                       const char *waiter, int64_t now_ns)
{
    const redis_store *store = node->store;
    static const char *const manners[] = {
        [REDIS_TRY] = "try",   [REDIS_WAIT] = "wait",   [REDIS_CHECK] = "check",
        [REDIS_POLL] = "poll", [REDIS_CLAIM] = "claim",
    };
    bool is_mute = latch_redis_is_mute(&store->subscription, now_ns);
    bool has_peers = store->options.peers == REDIS_PEERS_YES || node->has_peers;

    if (order->manner == REDIS_TRY && !is_mute && waiter == NULL) {
        return;
    }
    latch_redis_add_text(command, manners[order->manner]);
    latch_redis_add_text(command, is_mute ? "mute" : has_peers ? "peers" : "");
    if (waiter != NULL) {
        latch_redis_add_text(command, waiter);
        latch_redis_add_text(command, store->subscription.requeue_channel);
    }
}

static bool takes_lock(const redis_order *order)
{
    return order->id == REDIS_ACQUIRE || order->id == REDIS_ACQUIRE_SHARED;
}

/* The TTL, behind which who takes a lock leaves a note. */
static size_t write_term(const redis_store *store, const redis_order *order, char term[TERM_SIZE])
{
    const latch_env *env = &store->store.engine->env;
    const char *note = takes_lock(order) && env->note != NULL ? env->note(env->context) : NULL;
    int length = snprintf(term, TERM_SIZE, "%lld", (long long) order->ttl_ms);

    if (note != NULL) {
        length +=
            snprintf(term + length, TERM_SIZE - (size_t) length, " %.*s", LATCH_NOTE_MAX, note);
    }
    return (size_t) length;
}

static void add_arguments(redis_command *command, const redis_node *node, const redis_order *order,
                          const redis_target *target, const char *waiter, char term[TERM_SIZE],
                          int64_t now_ns)
{
    latch_redis_add_text(command, target->keep ? "" : target->token);
    if (scripts[order->id].takes_ttl) {
        latch_redis_add(command, term, write_term(node->store, order, term));
    }
    if (order->extend) {
        latch_redis_add_text(command, "extend");
    }
    if (takes_lock(order)) {
        add_manner(command, node, order, waiter, now_ns);
    } else if (order->id == REDIS_RELEASE && waiter != NULL) {
        latch_redis_add_text(command, waiter);
    }
}

/* The command begins with the script, and the number of its keys. */
enum { SCRIPT_ARGUMENTS = 3 };

/* By a client object. */
static redis_call *run_script(redis_store *store, const redis_order *order,
                              const redis_command *command, int64_t now_ns)
{
    const redis_script *script = &scripts[order->id];
    const latch_redis_script run = {
        .text = script->text,
        .text_length = script->length,
        .digest = latch_redis_digest(store, order->id),
        .digest_length = sizeof(store->digests[order->id]) - 1,
        .key_count = script->key_count,
        .count = command->count - SCRIPT_ARGUMENTS,
        .arguments = command->arguments + SCRIPT_ARGUMENTS,
        .lengths = command->lengths + SCRIPT_ARGUMENTS,
    };

    return latch_redis_object_run(&store->node.connection, &run, now_ns);
}

redis_call *latch_redis_send_script(redis_node *node, const redis_order *order,
                                    const redis_target *target, int64_t now_ns)
{
    redis_store *store = node->store;
    static const char *const names[] = {"", "holder:", "queue:", "peers:", "fencing"};
    enum { NAMES = sizeof(names) / sizeof(*names), NAME_MAX_LENGTH = REDIS_OWN_SIZE + 8 };
    const latch_engine *engine = store->store.engine;
    const redis_script *script = &scripts[order->id];
    const redis_options *options = &store->options;
    size_t size = NAMES * (options->prefix_length + target->length + NAME_MAX_LENGTH);
    char small_keys[512], small_waiter[256], term[TERM_SIZE], own[REDIS_OWN_SIZE], *at;
    char *keys = size <= sizeof(small_keys) ? small_keys : latch_allocate(engine, size);
    char *waiter =
        target->ticket != 0 ? name_waiter(store, target, small_waiter, sizeof(small_waiter)) : NULL;
    char key_count[2] = {(char) ('0' + script->key_count), '\0'};
    redis_command command = {.count = 0};
    redis_call *call = NULL;

    if (keys != NULL && (target->ticket == 0 || waiter != NULL)) {
        latch_redis_add_text(&command, order->as_text ? "EVAL" : "EVALSHA");
        if (order->as_text) {
            latch_redis_add(&command, script->text, script->length);
        } else {
            latch_redis_add_text(&command, latch_redis_digest(store, order->id));
        }
        latch_redis_add_text(&command, key_count);
        latch_redis_own_names(store, target->resource, target->length, own);
        at = keys;
        for (size_t key = 0; key < script->key_count; key++) {
            at = add_key(&command, at, options, own, names[key], target->resource,
                         key == NAMES - 1 ? 0 : target->length);
        }
        add_arguments(&command, node, order, target, waiter, term, now_ns);
        call = latch_redis_has_object(store)
                   ? run_script(store, order, &command, now_ns)
                   : latch_redis_send(&node->connection, &command, now_ns);
    }
    if (keys != small_keys) {
        latch_free(engine, keys);
    }
    if (waiter != small_waiter) {
        latch_free(engine, waiter);
    }
    return call;
}
