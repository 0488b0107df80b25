/* Latch's scripts for semaphores and Symfony's, as functions: see redis_permits.h. */
#include "redis_permits.h"

#include "redis_scripts.h"

#include <inttypes.h>
#include <stdlib.h>

int64_t symfony_ahead_s;

/* It lets the weights stay for ever where it is refused. */
static bool has_symfony_asked;

int redis_permits_setup(void **state)
{
    symfony_ahead_s = 0;
    has_symfony_asked = false;
    return redis_waiters_setup(state);
}

static bool is_one(const redisReply *reply)
{
    UNIT_CHECK(reply->type == REDIS_REPLY_INTEGER);
    return reply->integer != 0;
}

int64_t permit_now_s(void)
{
    return clock_us / 1000000;
}

/* ---- Latch */

redisReply *try_take_permits(const char *token, int64_t ttl_ms, int64_t weight, int64_t limit)
{
    char term[96];

    snprintf(term, sizeof(term), "%" PRId64 " %" PRId64 " %" PRId64, ttl_ms, weight, limit);
    return unit_redis_try("EVAL %s 5 " PERMIT_KEYS " %s %s", on_clock(REDIS_LUA_PERMIT_ACQUIRE),
                          token, term);
}

bool take_permits_for(const char *token, int64_t ttl_ms, int64_t weight, int64_t limit)
{
    const redisReply *reply = no_error(try_take_permits(token, ttl_ms, weight, limit));
    bool is_taken = reply->type != REDIS_REPLY_NIL && is_one(reply);

    check_permits();
    return is_taken;
}

bool take_permits(const char *token, int64_t weight, int64_t limit)
{
    return take_permits_for(token, MINUTE, weight, limit);
}

static bool renew_permits(const char *token, int64_t ttl_ms, const char *how)
{
    const redisReply *reply = no_error(unit_redis_try(
        *how != '\0' ? "EVAL %s 3 " PERMIT_WEIGHTS " " PERMIT_TIMES " " PERMIT_RECORD " %s %lld %s"
                     : "EVAL %s 3 " PERMIT_WEIGHTS " " PERMIT_TIMES " " PERMIT_RECORD " %s %lld",
        on_clock(REDIS_LUA_PERMIT_REFRESH), token, (long long) ttl_ms, how));
    bool is_held = is_one(reply);

    UNIT_CHECK(reply->integer == 0 || reply->integer == 2);
    check_permits();
    return is_held;
}

bool refresh_permits(const char *token, int64_t ttl_ms)
{
    return renew_permits(token, ttl_ms, "");
}

bool extend_permits(const char *token, int64_t ttl_ms)
{
    return renew_permits(token, ttl_ms, "extend");
}

bool release_permits(const char *token)
{
    bool was_held = is_one(no_error(
        unit_redis_try("EVAL %s 5 " PERMIT_KEYS " %s", on_clock(REDIS_LUA_PERMIT_RELEASE), token)));

    check_permits();
    return was_held;
}

int64_t probe_permits(const char *token)
{
    const redisReply *reply =
        no_error(unit_redis_try("EVAL %s 2 " PERMIT_WEIGHTS " " PERMIT_TIMES " %s",
                                on_clock(REDIS_LUA_PERMIT_PROBE), token));

    if (reply->type == REDIS_REPLY_NIL) {
        return 0;
    }
    UNIT_CHECK(reply->type == REDIS_REPLY_ARRAY && reply->elements == 2);
    UNIT_CHECK(reply->element[1]->integer == 2);
    return reply->element[0]->integer;
}

redisReply *inspect_permits(void)
{
    return no_error(unit_redis_try("EVAL %s 4 " PERMIT_WEIGHTS " " PERMIT_TIMES " " PERMIT_RECORD
                                   " " PERMIT_QUEUE,
                                   on_clock(REDIS_LUA_PERMIT_INSPECT)));
}

/* ---- Waiters */

/* "TICKET LENGTH WEIGHT LIMIT TOKENCHANNEL" */
static void write_permit_entry(const waiter *one, int64_t weight, int64_t limit, char entry[256])
{
    char token[128];

    snprintf(token, sizeof(token), "%" PRId64 " %" PRId64 " %s", weight, limit, one->token);
    snprintf(entry, 256, "%d %zu %s%s", one->ticket, strlen(token), token, one->channel);
}

verdict ask_for_permits(waiter *one, int64_t weight, int64_t limit, const char *manner)
{
    char entry[256], term[160];
    const redisReply *reply;
    verdict answer = {.outcome = REFUSED};

    write_permit_entry(one, weight, limit, entry);
    snprintf(term, sizeof(term), "%lld %" PRId64 " %" PRId64 " " HOLDER_INFO,
             (long long) WAITER_TTL, weight, limit);
    reply = no_error(unit_redis_try("EVAL %s 5 " PERMIT_KEYS " %s %s %s %s %s latch:requeue",
                                    on_clock(REDIS_LUA_PERMIT_ACQUIRE), one->token, term, manner,
                                    peers_word, entry));
    if (reply->type == REDIS_REPLY_ARRAY) {
        UNIT_CHECK(reply->elements == 2);
        answer.outcome = PLACED;
        answer.place = (int) reply->element[0]->integer;
        answer.ms = (int) reply->element[1]->integer;
    } else if (reply->type != REDIS_REPLY_NIL) {
        answer.outcome = is_one(reply) ? TAKEN : REFUSED;
    }
    check_permits();
    return answer;
}

void takes_permits(waiter *one, int64_t weight, int64_t limit, const char *manner)
{
    assert_int_equal(ask_for_permits(one, weight, limit, manner).outcome, TAKEN);
    assert_int_equal(permits_of(one->token), weight);
}

int is_placed_for_permits(waiter *one, int64_t weight, int64_t limit, const char *manner, int place)
{
    verdict answer = ask_for_permits(one, weight, limit, manner);

    assert_int_equal(answer.outcome, PLACED);
    assert_int_equal(answer.place, place);
    return answer.ms;
}

bool gives_permits_up(waiter *one, int64_t weight, int64_t limit)
{
    char entry[256];
    bool was_held;

    write_permit_entry(one, weight, limit, entry);
    was_held =
        is_one(no_error(unit_redis_try("EVAL %s 5 " PERMIT_KEYS " %s %s",
                                       on_clock(REDIS_LUA_PERMIT_RELEASE), one->token, entry)));
    check_permits();
    return was_held;
}

size_t permit_queue_length(void)
{
    return (size_t) unit_redis_number("ZCARD " PERMIT_QUEUE);
}

/* ---- Symfony: its scripts are in the header */

bool symfony_takes_permits(const char *token, int64_t ttl_s, int64_t weight, int64_t limit)
{
    const redisReply *reply;

    has_symfony_asked = true;
    reply =
        no_error(unit_redis_try("EVAL %s 1 {sem} %s %lld %lld %lld %lld", SYMFONY_SEMAPHORE_SAVE,
                                token, (long long) (permit_now_s() + symfony_ahead_s),
                                (long long) ttl_s, (long long) limit, (long long) weight));
    return reply->type != REDIS_REPLY_NIL && is_one(reply);
}

bool symfony_refreshes_permits(const char *token, int64_t ttl_s)
{
    return !is_one(
        no_error(unit_redis_try("EVAL %s 1 {sem} %lld %s", SYMFONY_SEMAPHORE_PUT_OFF,
                                (long long) (permit_now_s() + symfony_ahead_s + ttl_s), token)));
}

void symfony_releases_permits(const char *token)
{
    no_error(unit_redis_try("EVAL %s 1 {sem} %s", SYMFONY_SEMAPHORE_DELETE, token));
}

bool symfony_has_permits(const char *token)
{
    return unit_redis_ask("ZSCORE " PERMIT_WEIGHTS " %s", token)->type != REDIS_REPLY_NIL;
}

/* ---- What the server has */

int64_t permits_of(const char *token)
{
    int64_t end_s = permit_end_of(token);

    return end_s > permit_now_s() ? atoll(unit_redis_text("ZSCORE " PERMIT_WEIGHTS " %s", token))
                                  : 0;
}

int64_t permit_end_of(const char *token)
{
    return atoll(unit_redis_text("ZSCORE " PERMIT_TIMES " %s", token));
}

int64_t permits_used(void)
{
    return unit_redis_number(
        "EVAL %s 2 " PERMIT_WEIGHTS " " PERMIT_TIMES " (%lld",
        "local used = 0\n"
        "for _, holder in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[1], '+inf')) do\n"
        "    used = used + (redis.call('ZSCORE', KEYS[1], holder) or 0)\n"
        "end\n"
        "return used",
        (long long) permit_now_s());
}

void check_permits(void)
{
    static const char check[] =
        "for at, key in ipairs(KEYS) do\n"
        "    if redis.call('PTTL', key) == -1 and (at > 1 or ARGV[1] == '0') then return key .. ' "
        "stays for ever' end\n"
        "end\n"
        "local sum, count, last = 0, 0, 0\n"
        "local record = redis.call('HGETALL', KEYS[3])\n"
        "local noted, lost\n"
        "for at = 1, #record, 2 do\n"
        "    local weight = redis.call('ZSCORE', KEYS[1], record[at])\n"
        "    if record[at] == '' then noted = record[at + 1]\n"
        "    elseif not weight then lost = record[at]\n"
        "    else\n"
        "        sum, count = sum + weight, count + 1\n"
        "        last = math.max(last, redis.call('ZSCORE', KEYS[2], record[at]))\n"
        "    end\n"
        "end\n"
        "local time, rest = redis.call('TIME'), redis.call('PTTL', KEYS[1])\n"
        "local ends = time[1] * 1000 + time[2] / 1000 + rest\n"
        "if redis.call('ZCARD', KEYS[1]) ~= redis.call('HLEN', KEYS[3]) - 1\n"
        "    or rest < 0 or math.abs(ends % 1000 - 500) >= 20 then\n"
        "    noted = nil\n" /* nobody trusts it */
        "end\n"
        "if noted and lost then return lost .. ' is recorded and does not hold' end\n"
        "if noted and noted ~= string.format('%.0f', sum) then\n"
        "    return 'the record has ' .. noted .. ' for ' .. sum\n"
        "end\n"
        "if redis.call('EXISTS', KEYS[3]) == 1 and count == 0 and not lost then return 'an empty "
        "record' end\n"
        "for at = 1, 3 do\n"
        "    local left = redis.call('PTTL', KEYS[at])\n"
        "    if left >= 0 and redis.call('TIME')[1] * 1000 + left < last * 1000 then\n"
        "        return KEYS[at] .. ' ends before its last holder'\n"
        "    end\n"
        "end\n"
        "return false\n";
    const redisReply *wrong =
        no_error(unit_redis_try("EVAL %s 5 " PERMIT_KEYS " %d", check, has_symfony_asked));

    if (wrong->type == REDIS_REPLY_STRING) {
        fail_msg("%s", wrong->str);
    }
}
