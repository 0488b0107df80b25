/* Latch's scripts and Symfony's, as functions: see redis_sides.h. */
#include "redis_sides.h"

#include "redis_scripts.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Latch */

int64_t clock_us;

bool is_under_test(const char *script)
{
    const char *from = getenv("LATCH_MUTANT_FROM");

    return from == NULL || strstr(script, from) != NULL;
}

/* The script behind a clock. */
static const char *behind(const char *clock, const char *script)
{
    static char text[16384];
    const char *from = getenv("LATCH_MUTANT_FROM");
    const char *fault = from != NULL ? strstr(script, from) : NULL;
    int before = fault != NULL ? (int) (fault - script) : 0;

    UNIT_CHECK((size_t) snprintf(text, sizeof(text), "%s%.*s%s%s", clock, before, script,
                                 fault != NULL ? getenv("LATCH_MUTANT_TO") : "",
                                 fault != NULL ? fault + strlen(from) : script)
               < sizeof(text));
    return text;
}

const char *on_clock(const char *script)
{
    char clock[96];

    snprintf(clock, sizeof(clock),
             "local function now_us() return %" PRId64 ", '%" PRId64 "' end\n", clock_us, clock_us);
    return behind(clock_us != 0 ? clock : REDIS_LUA_CLOCK, script);
}

#define CLOCK_KEY "unit:clock"

void load_on_clock(const char *script, char digest[48])
{
    static const char clock[] = "local function now_us() "
                                "local us = redis.call('GET', '" CLOCK_KEY "') "
                                "return tonumber(us), us end\n";

    snprintf(digest, 48, "%s", unit_redis_text("SCRIPT LOAD %s", behind(clock, script)));
}

redisReply *run_on_clock(size_t count, const char **arguments)
{
    void *reply;

    UNIT_CHECK(
        redisAppendCommand(unit_redis.connection, "SET " CLOCK_KEY " %lld", (long long) clock_us)
        == REDIS_OK);
    UNIT_CHECK(redisAppendCommandArgv(unit_redis.connection, (int) count, arguments, NULL)
               == REDIS_OK);
    UNIT_CHECK(redisGetReply(unit_redis.connection, &reply) == REDIS_OK);
    freeReplyObject(reply);
    UNIT_CHECK(redisGetReply(unit_redis.connection, &reply) == REDIS_OK);
    return reply;
}

redisReply *try_acquire(const char *token, int64_t ttl_ms)
{
    return unit_redis_try("EVAL %s 5 " QUEUE_KEYS " " COUNTER " %s %lld",
                          on_clock(REDIS_LUA_ACQUIRE), token, (long long) ttl_ms);
}

redisReply *try_share(const char *token, int64_t ttl_ms)
{
    return unit_redis_try("EVAL %s 4 " QUEUE_KEYS " %s %lld", on_clock(REDIS_LUA_ACQUIRE_SHARED),
                          token, (long long) ttl_ms);
}

redisReply *try_refresh(const char *token, int64_t ttl_ms)
{
    return unit_redis_try("EVAL %s 2 " LOCK " " RECORD " %s %lld", on_clock(REDIS_LUA_REFRESH),
                          token, (long long) ttl_ms);
}

redisReply *try_release(const char *token)
{
    return unit_redis_try("EVAL %s 4 " QUEUE_KEYS " %s", on_clock(REDIS_LUA_RELEASE), token);
}

redisReply *try_probe(const char *token)
{
    return unit_redis_try("EVAL %s 1 " LOCK " %s", on_clock(REDIS_LUA_PROBE), token);
}

redisReply *no_error(redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        fail_msg("a script failed: %s", reply->str);
    }
    return reply;
}

static int number(const redisReply *reply)
{
    UNIT_CHECK(reply->type == REDIS_REPLY_INTEGER);
    return (int) reply->integer;
}

int64_t acquire(const char *token, int64_t ttl_ms)
{
    const redisReply *reply = no_error(try_acquire(token, ttl_ms));

    if (reply->type == REDIS_REPLY_NIL) {
        return 0;
    }
    UNIT_CHECK(reply->type == REDIS_REPLY_STRING);
    UNIT_CHECK(strspn(reply->str, "0123456789") == reply->len); /* no 1.79e15 */
    return atoll(reply->str);
}

bool share(const char *token, int64_t ttl_ms)
{
    const redisReply *reply = no_error(try_share(token, ttl_ms));

    UNIT_CHECK(reply->type == REDIS_REPLY_NIL || number(reply) == 1);
    return reply->type != REDIS_REPLY_NIL;
}

int refresh(const char *token, int64_t ttl_ms)
{
    return number(no_error(try_refresh(token, ttl_ms)));
}

int extend(const char *token, int64_t ttl_ms)
{
    return number(no_error(unit_redis_try("EVAL %s 2 " LOCK " " RECORD " %s %lld extend",
                                          on_clock(REDIS_LUA_REFRESH), token, (long long) ttl_ms)));
}

bool release(const char *token)
{
    return number(no_error(try_release(token))) == 1;
}

int probe(const char *token, int64_t *left_ms)
{
    const redisReply *reply = no_error(try_probe(token));

    if (reply->type == REDIS_REPLY_NIL) {
        return 0;
    }
    UNIT_CHECK(reply->type == REDIS_REPLY_ARRAY && reply->elements == 2);
    if (left_ms != NULL) {
        *left_ms = reply->element[0]->integer;
    }
    return number(reply->element[1]);
}

static bool latch_acquires(const char *token, int64_t ttl_ms)
{
    return acquire(token, ttl_ms) != 0;
}

static bool latch_refreshes(const char *token, int64_t ttl_ms)
{
    return refresh(token, ttl_ms) != 0;
}

static bool latch_sees(const char *token)
{
    return probe(token, NULL) != 0;
}

const redis_side latch_side = {
    .name = "Latch",
    .acquire = latch_acquires,
    .share = share,
    .refresh = latch_refreshes,
    .release = release,
    .exists = latch_sees,
};

/* ---- Symfony: src/Symfony/Component/Lock/Store/RedisStore.php of 7.4.23, to the letter */

#define NOT_A_STRING                                                                               \
    "            -- asserts the KEY is compatible with current version (old Symfony <5.2 BC)\n"    \
    "            if redis.call(\"TYPE\", key).ok == \"string\" then\n"                             \
    "                return false\n"                                                               \
    "            end\n"                                                                            \
    "\n"

/* getNowCode(), where TIME is allowed. */
#define NOW                                                                                        \
    "            \n"                                                                               \
    "                local now = redis.call(\"TIME\")\n"                                           \
    "                now = now[1] * 1000 + math.floor(now[2] / 1000)\n"                            \
    "            \n"                                                                               \
    "\n"

#define REMOVE_EXPIRED                                                                             \
    "            -- Remove expired values\n"                                                       \
    "            redis.call(\"ZREMRANGEBYSCORE\", key, \"-inf\", now)\n"                           \
    "\n"

#define EXTEND_AND_RETURN                                                                          \
    "            -- Extend the TTL of the key\n"                                                   \
    "            local maxExpiration = redis.call(\"ZREVRANGE\", key, 0, 0, \"WITHSCORES\")[2]\n"  \
    "            redis.call(\"PEXPIREAT\", key, maxExpiration)\n"                                  \
    "\n"                                                                                           \
    "            return true\n        "

#define WITH_TTL                                                                                   \
    "\n"                                                                                           \
    "            local key = KEYS[1]\n"                                                            \
    "            local uniqueToken = ARGV[2]\n"                                                    \
    "            local ttl = tonumber(ARGV[3])\n"                                                  \
    "\n" NOT_A_STRING

static const char *const save = WITH_TTL NOW REMOVE_EXPIRED
    "            -- is already acquired\n"
    "            if redis.call(\"ZSCORE\", key, uniqueToken) then\n"
    "                -- is not WRITE lock and cannot be promoted\n"
    "                if not redis.call(\"ZSCORE\", key, \"__write__\") and redis.call(\"ZCOUNT\", "
    "key, \"-inf\", \"+inf\") > 1  then\n"
    "                    return false\n"
    "                end\n"
    "            elseif redis.call(\"ZCOUNT\", key, \"-inf\", \"+inf\") > 0  then\n"
    "                return false\n"
    "            end\n"
    "\n"
    "            redis.call(\"ZADD\", key, now + ttl, uniqueToken)\n"
    "            redis.call(\"ZADD\", key, now + ttl, \"__write__\")\n"
    "\n" EXTEND_AND_RETURN;

static const char *const save_read = WITH_TTL NOW REMOVE_EXPIRED
    "            -- lock not already acquired and a WRITE lock exists?\n"
    "            if not redis.call(\"ZSCORE\", key, uniqueToken) and redis.call(\"ZSCORE\", key, "
    "\"__write__\") then\n"
    "                return false\n"
    "            end\n"
    "\n"
    "            redis.call(\"ZADD\", key, now + ttl, uniqueToken)\n"
    "            redis.call(\"ZREM\", key, \"__write__\")\n"
    "\n" EXTEND_AND_RETURN;

static const char *const put_off_expiration = WITH_TTL NOW
    "            -- lock already acquired acquired?\n"
    "            if not redis.call(\"ZSCORE\", key, uniqueToken) then\n"
    "                return false\n"
    "            end\n"
    "\n"
    "            redis.call(\"ZADD\", key, now + ttl, uniqueToken)\n"
    "            -- if the lock is also a WRITE lock, increase the TTL\n"
    "            if redis.call(\"ZSCORE\", key, \"__write__\") then\n"
    "                redis.call(\"ZADD\", key, now + ttl, \"__write__\")\n"
    "            end\n"
    "\n" EXTEND_AND_RETURN;

static const char *const delete =
    "\n"
    "            local key = KEYS[1]\n"
    "            local uniqueToken = ARGV[1]\n"
    "\n" NOT_A_STRING "            -- lock not already acquired\n"
    "            if not redis.call(\"ZSCORE\", key, uniqueToken) then\n"
    "                return false\n"
    "            end\n"
    "\n"
    "            redis.call(\"ZREM\", key, uniqueToken)\n"
    "            redis.call(\"ZREM\", key, \"__write__\")\n"
    "\n"
    "            local maxExpiration = redis.call(\"ZREVRANGE\", key, 0, 0, \"WITHSCORES\")[2]\n"
    "            if nil ~= maxExpiration then\n"
    "                redis.call(\"PEXPIREAT\", key, maxExpiration)\n"
    "            end\n"
    "\n"
    "            return true\n        ";

static const char *const look = "\n"
                                "            local key = KEYS[1]\n"
                                "            local uniqueToken = ARGV[2]\n"
                                "\n" NOT_A_STRING NOW REMOVE_EXPIRED
                                "            if redis.call(\"ZSCORE\", key, uniqueToken) then\n"
                                "                return true\n"
                                "            end\n"
                                "\n"
                                "            return false\n        ";

/* Of microtime(true), as PHP writes it; the scripts above take the server's time. */
#define MICROTIME "1763751635.1234"

static bool symfony(const char *script, const char *token, int64_t ttl_ms)
{
    const redisReply *reply = no_error(unit_redis_try("EVAL %s 1 " LOCK " " MICROTIME " %s %lld",
                                                      script, token, (long long) ttl_ms));

    UNIT_CHECK(reply->type == REDIS_REPLY_NIL || number(reply) == 1);
    return reply->type != REDIS_REPLY_NIL;
}

static bool symfony_acquires(const char *token, int64_t ttl_ms)
{
    return symfony(save, token, ttl_ms);
}

static bool symfony_shares(const char *token, int64_t ttl_ms)
{
    return symfony(save_read, token, ttl_ms);
}

static bool symfony_refreshes(const char *token, int64_t ttl_ms)
{
    return symfony(put_off_expiration, token, ttl_ms);
}

static bool symfony_releases(const char *token)
{
    const redisReply *reply = no_error(unit_redis_try("EVAL %s 1 " LOCK " %s", delete, token));

    return reply->type != REDIS_REPLY_NIL;
}

static bool symfony_sees(const char *token)
{
    return symfony(look, token, 0);
}

const redis_side symfony_side = {
    .name = "Symfony",
    .acquire = symfony_acquires,
    .share = symfony_shares,
    .refresh = symfony_refreshes,
    .release = symfony_releases,
    .exists = symfony_sees,
};

/* ---- What is in the server */

int64_t expiry_of(const char *token)
{
    return atoll(unit_redis_text("ZSCORE " LOCK " %s", token));
}

void expire(const char *token)
{
    long long past_ms = unit_redis_now_us() / 1000 - 1;

    UNIT_CHECK(unit_redis_number("ZADD " LOCK " XX CH %lld %s", past_ms, token) == 1);
    if (count_members() == 2) { /* the mark of a writer, if there is one */
        unit_redis_ask("ZADD " LOCK " XX %lld __write__", past_ms);
    }
}

size_t count_members(void)
{
    return (size_t) unit_redis_number("ZCARD " LOCK);
}

bool exists(const char *key)
{
    return unit_redis_number("EXISTS %s", key) == 1;
}

bool record_is(const char *token, int64_t fencing)
{
    return atoll(unit_redis_text("HGET " RECORD " %s", token)) == fencing
           && unit_redis_number("HLEN " RECORD) == 1;
}

int64_t lock_expiry(void)
{
    return unit_redis_expiry_of(LOCK);
}

int64_t record_expiry(void)
{
    return unit_redis_expiry_of(RECORD);
}

int64_t last_member_expiry(void)
{
    return atoll(unit_redis_ask("ZREVRANGE " LOCK " 0 0 WITHSCORES")->element[1]->str);
}

int redis_sides_setup(void **state)
{
    clock_us = 0;
    return unit_redis_setup(state);
}
