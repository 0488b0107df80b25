/* Processes that wait for a lock in Redis: see redis_waiters.h. */
#include "redis_waiters.h"

#include "redis_scripts.h"

#include <stdlib.h>

#define REQUEUE "latch:requeue"

const char *peers_word;

static waiter waiters[16];
static size_t waiter_count;

/* The lock, its record, its queue and what is kept for its peers. */
static char keys[4][64];
static size_t key_lengths[4];

static void end_all(void)
{
    while (waiter_count > 0) {
        redisFree(waiters[--waiter_count].subscription);
    }
}

int redis_waiters_setup(void **state)
{
    peers_word = "";
    use_lock(LOCK, strlen(LOCK));
    redis_sides_setup(state);
    clock_us = (unit_redis_now_us() / 1000 + MINUTE) * 1000;
    return 0;
}

int redis_waiters_teardown(void **state)
{
    (void) state;
    end_all();
    return 0;
}

void use_lock(const void *name, size_t length)
{
    static const char *const prefixes[] = {"", "latch:holder:", "latch:queue:", "latch:peers:"};

    for (int key = 0; key < 4; key++) {
        size_t prefix_length = strlen(prefixes[key]);

        memcpy(keys[key], prefixes[key], prefix_length);
        memcpy(keys[key] + prefix_length, name, length);
        key_lengths[key] = prefix_length + length;
    }
}

void pass_ms(int64_t ms)
{
    clock_us += ms * 1000;
}

/* ---- Who waits */

static void subscribe(waiter *one)
{
    redisReply *reply;

    one->subscription = unit_redis_connect();
    reply = redisCommand(one->subscription, "SUBSCRIBE %s " REQUEUE, one->channel);
    UNIT_CHECK(reply != NULL && reply->type == REDIS_REPLY_ARRAY);
    freeReplyObject(reply);
    UNIT_CHECK(redisGetReply(one->subscription, (void **) &reply) == REDIS_OK);
    freeReplyObject(reply);
}

waiter *new_waiter_on(const void *token, size_t token_length, const char *channel)
{
    waiter *one = &waiters[waiter_count];

    UNIT_CHECK(waiter_count < sizeof(waiters) / sizeof(waiters[0]));
    *one = (waiter){.token = token,
                    .token_length = token_length,
                    .ticket = 100 * (int) ++waiter_count};
    snprintf(one->channel, sizeof(one->channel), "%s", channel);
    subscribe(one);
    return one;
}

waiter *new_waiter(const char *token)
{
    char channel[32];

    snprintf(channel, sizeof(channel), "latch:wake:%zu", waiter_count);
    return new_waiter_on(token, strlen(token), channel);
}

void die(waiter *one)
{
    int64_t begun_us = unit_redis_now_us();

    redisFree(one->subscription);
    one->subscription = NULL;
    while (unit_redis_ask("PUBSUB NUMSUB %s", one->channel)->element[1]->integer > 0) {
        UNIT_CHECK(unit_redis_now_us() - begun_us < UNIT_TIMEOUT_NS / 1000);
    }
}

/* "TICKET LENGTH TOKENCHANNEL": the waiter, but for what it waits to be. */
static size_t write_entry(const waiter *one, char *entry, size_t size)
{
    size_t length = (size_t) snprintf(entry, size, "%d %zu ", one->ticket, one->token_length);

    UNIT_CHECK(length + one->token_length + strlen(one->channel) < size);
    memcpy(entry + length, one->token, one->token_length);
    strcpy(entry + length + one->token_length, one->channel);
    return length + one->token_length + strlen(one->channel);
}

/* ---- What they ask */

redisReply *try_ask(waiter *one, char mode, const char *manner)
{
    const char *script = on_clock(mode == 'w' ? REDIS_LUA_ACQUIRE : REDIS_LUA_ACQUIRE_SHARED);
    char entry[256];
    size_t length = write_entry(one, entry, sizeof(entry));
    char term[64];
    size_t term_length =
        (size_t) snprintf(term, sizeof(term), "%lld " HOLDER_INFO, (long long) WAITER_TTL);

    return unit_redis_try("EVAL %s 5 %b %b %b %b " COUNTER " %b %b %s %s %b " REQUEUE, script,
                          keys[0], key_lengths[0], keys[1], key_lengths[1], keys[2], key_lengths[2],
                          keys[3], key_lengths[3], one->token, one->token_length, term, term_length,
                          manner, peers_word, entry, length);
}

verdict ask(waiter *one, char mode, const char *manner)
{
    const redisReply *reply = no_error(try_ask(one, mode, manner));
    verdict answer = {.outcome = REFUSED};

    if (reply->type == REDIS_REPLY_ARRAY) {
        UNIT_CHECK(reply->elements == 2);
        answer.outcome = PLACED;
        answer.place = (int) reply->element[0]->integer;
        answer.ms = (int) reply->element[1]->integer;
    } else if (reply->type != REDIS_REPLY_NIL) {
        UNIT_CHECK(reply->type == (mode == 'w' ? REDIS_REPLY_STRING : REDIS_REPLY_INTEGER));
        answer.outcome = TAKEN;
        answer.fencing = mode == 'w' ? atoll(reply->str) : reply->integer;
    }
    check_keys();
    return answer;
}

void takes(waiter *one, char mode, const char *manner)
{
    assert_int_equal(ask(one, mode, manner).outcome, TAKEN);
}

void is_refused(waiter *one, char mode, const char *manner)
{
    assert_int_equal(ask(one, mode, manner).outcome, REFUSED);
}

int is_placed(waiter *one, char mode, const char *manner, int place)
{
    verdict answer = ask(one, mode, manner);

    assert_int_equal(answer.outcome, PLACED);
    assert_int_equal(answer.place, place);
    return answer.ms;
}

static redisReply *try_release_of(const waiter *one, const char *token, size_t token_length)
{
    char entry[256];
    size_t length = write_entry(one, entry, sizeof(entry));

    return unit_redis_try("EVAL %s 4 %b %b %b %b %b %b", on_clock(REDIS_LUA_RELEASE), keys[0],
                          key_lengths[0], keys[1], key_lengths[1], keys[2], key_lengths[2], keys[3],
                          key_lengths[3], token, token_length, entry, length);
}

redisReply *try_give_up(waiter *one)
{
    return try_release_of(one, one->token, one->token_length);
}

bool give_up(waiter *one)
{
    bool held = no_error(try_give_up(one))->integer == 1;

    check_keys();
    return held;
}

void leave_queue(waiter *one)
{
    UNIT_CHECK(no_error(try_release_of(one, "", 0))->integer == 0);
    check_keys();
}

/* ---- What they hear */

/* The channel and the text of the next message. */
static void read_message(waiter *one, char channel[64], char text[64])
{
    redisReply *reply;

    if (redisGetReply(one->subscription, (void **) &reply) != REDIS_OK) {
        fail_msg("\"%s\" hears nothing", one->channel);
    }
    UNIT_CHECK(reply->type == REDIS_REPLY_ARRAY && reply->elements == 3);
    snprintf(channel, 64, "%s", reply->element[1]->str);
    snprintf(text, 64, "%s", reply->element[2]->str);
    freeReplyObject(reply);
}

static void hears(waiter *one, const char *channel, const char *text)
{
    char heard_channel[64], heard_text[64];

    read_message(one, heard_channel, heard_text);
    assert_string_equal(heard_channel, channel);
    assert_string_equal(heard_text, text);
}

void hears_granted(waiter *one)
{
    char text[64];

    snprintf(text, sizeof(text), "granted %d", one->ticket);
    hears(one, one->channel, text);
}

void hears_granted_at_last(waiter *one)
{
    char channel[64], text[64], expected[64];

    snprintf(expected, sizeof(expected), "granted %d", one->ticket);
    do {
        read_message(one, channel, text);
    } while (strncmp(text, "first ", 6) == 0);
    assert_string_equal(text, expected);
}

int hears_first(waiter *one)
{
    char channel[64], text[64], rest[2] = "";
    int ticket = 0, ms = 0;

    read_message(one, channel, text);
    if (sscanf(text, "first %d %d%1s", &ticket, &ms, rest) != 2) {
        fail_msg("not \"first\" but \"%s\"", text);
    }
    assert_string_equal(channel, one->channel);
    assert_int_equal(ticket, one->ticket);
    return ms;
}

void hears_requeue(waiter *one)
{
    hears(one, REQUEUE, LOCK);
}

void hears_test(waiter *one)
{
    char text[64];

    snprintf(text, sizeof(text), "test %d", one->ticket);
    hears(one, one->channel, text);
}

/* Messages come in their order: so the next one is the test's own. */
void hears_nothing(waiter *one)
{
    UNIT_CHECK(unit_redis_number("PUBLISH %s nothing", one->channel) == 1);
    hears(one, one->channel, "nothing");
}

/* ---- What the server has */

bool holds(const char *token)
{
    return expiry_of(token) * 1000 > clock_us;
}

int place_in_queue(const waiter *one)
{
    char entry[256];
    size_t length = write_entry(one, entry + 1, sizeof(entry) - 1) + 1;

    for (const char *mode = "rwp"; *mode != '\0'; mode++) {
        const redisReply *reply;

        entry[0] = *mode;
        reply = unit_redis_ask("ZRANK " QUEUE " %b", entry, length);
        if (reply->type == REDIS_REPLY_INTEGER) {
            return (int) reply->integer;
        }
    }
    return -1;
}

size_t queue_length(void)
{
    return (size_t) unit_redis_number("ZCARD " QUEUE);
}

void check_keys(void)
{
    const redisReply *wrong = no_error(unit_redis_try(
        "EVAL %s 0",
        "for _, key in ipairs(redis.call('KEYS', '*')) do\n"
        "    if redis.call('PTTL', key) < 0 and not string.find(key, 'fencing', 1, true) then\n"
        "        return key .. ' stays for ever'\n"
        "    end\n"
        "    if redis.call('TYPE', key).ok == 'zset' and redis.call('ZSCORE', key, '__write__')\n"
        "        and redis.call('ZCARD', key) ~= 2 then\n"
        "        return key .. ' has others beside its writer'\n"
        "    end\n"
        "end\n"
        "return false"));

    if (wrong->type == REDIS_REPLY_STRING) {
        fail_msg("%s", wrong->str);
    }
}
