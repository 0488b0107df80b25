/*
 * The two who share a counting semaphore in a Redis server: Latch's scripts as they are embedded in
 * the engine, and those of Symfony's Semaphore. Both at work on one semaphore, "sem", of the test
 * program's server, by the clock of redis_sides.h; those who wait are those of redis_waiters.h.
 */
#ifndef REDIS_PERMITS_H
#define REDIS_PERMITS_H

#include "redis_waiters.h"

#define PERMIT_WEIGHTS "{sem}:weight"
#define PERMIT_TIMES "{sem}:time"
#define PERMIT_RECORD "latch:permits:{sem}"
#define PERMIT_QUEUE "latch:permit-queue:{sem}"
#define PERMIT_PEERS "latch:permit-peers:{sem}"
#define PERMIT_KEYS                                                                                \
    PERMIT_WEIGHTS " " PERMIT_TIMES " " PERMIT_RECORD " " PERMIT_QUEUE " " PERMIT_PEERS

/* As redis_waiters_setup(), with Symfony's scripts loaded; and the end. */
int redis_permits_setup(void **state);

#define PERMITS_TEST(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, redis_permits_setup, redis_waiters_teardown)

/* Latch's scripts, with the server's answer; without a note. */
redisReply *try_take_permits(const char *token, int64_t ttl_ms, int64_t weight, int64_t limit);
/* The same where errors fail the test, and where what must hold is looked at behind each. */
bool take_permits(const char *token, int64_t weight, int64_t limit); /* for a minute */
bool take_permits_for(const char *token, int64_t ttl_ms, int64_t weight, int64_t limit);
bool refresh_permits(const char *token, int64_t ttl_ms);
bool extend_permits(const char *token, int64_t ttl_ms);
bool release_permits(const char *token);
/* The ms that are left; 0: it holds nothing. */
int64_t probe_permits(const char *token);
redisReply *inspect_permits(void);

/* Waiters: their answers are those of ask(). */
verdict ask_for_permits(waiter *one, int64_t weight, int64_t limit, const char *manner);
void takes_permits(waiter *one, int64_t weight, int64_t limit, const char *manner);
/* The milliseconds after which it has to ask again. */
int is_placed_for_permits(waiter *one, int64_t weight, int64_t limit, const char *manner,
                          int place);
/* Releases, and waits no longer; was it a holder? */
bool gives_permits_up(waiter *one, int64_t weight, int64_t limit);
size_t permit_queue_length(void);

/*
 * Symfony's scripts of save(), putOffExpiration() and delete(), as
 * src/Symfony/Component/Semaphore/Store/RedisStore.php of 5.4 has them, to the letter.
 */
#define SYMFONY_SEMAPHORE_SAVE                                                                     \
    "\n"                                                                                           \
    "            local key = KEYS[1]\n"                                                            \
    "            local weightKey = key .. \":weight\"\n"                                           \
    "            local timeKey = key .. \":time\"\n"                                               \
    "            local identifier = ARGV[1]\n"                                                     \
    "            local now = tonumber(ARGV[2])\n"                                                  \
    "            local ttlInSecond = tonumber(ARGV[3])\n"                                          \
    "            local limit = tonumber(ARGV[4])\n"                                                \
    "            local weight = tonumber(ARGV[5])\n"                                               \
    "\n"                                                                                           \
    "            -- Remove expired values\n"                                                       \
    "            redis.call(\"ZREMRANGEBYSCORE\", timeKey, \"-inf\", now)\n"                       \
    "            redis.call(\"ZINTERSTORE\", weightKey, 2, weightKey, timeKey, \"WEIGHTS\", 1, "   \
    "0)\n"                                                                                         \
    "\n"                                                                                           \
    "            -- Semaphore already acquired?\n"                                                 \
    "            if redis.call(\"ZSCORE\", timeKey, identifier) then\n"                            \
    "                return true\n"                                                                \
    "            end\n"                                                                            \
    "\n"                                                                                           \
    "            -- Try to get a semaphore\n"                                                      \
    "            local semaphores = redis.call(\"ZRANGE\", weightKey, 0, -1, \"WITHSCORES\")\n"    \
    "            local count = 0\n"                                                                \
    "\n"                                                                                           \
    "            for i = 1, #semaphores, 2 do\n"                                                   \
    "                count = count + semaphores[i+1]\n"                                            \
    "            end\n"                                                                            \
    "\n"                                                                                           \
    "            -- Could we get the semaphore ?\n"                                                \
    "            if count + weight > limit then\n"                                                 \
    "                return false\n"                                                               \
    "            end\n"                                                                            \
    "\n"                                                                                           \
    "            -- Acquire the semaphore\n"                                                       \
    "            redis.call(\"ZADD\", timeKey, now + ttlInSecond, identifier)\n"                   \
    "            redis.call(\"ZADD\", weightKey, weight, identifier)\n"                            \
    "\n"                                                                                           \
    "            -- Extend the TTL\n"                                                              \
    "            local maxExpiration = redis.call(\"ZREVRANGE\", timeKey, 0, 0, "                  \
    "\"WITHSCORES\")[2]\n"                                                                         \
    "            redis.call(\"EXPIREAT\", weightKey, maxExpiration + 10)\n"                        \
    "            redis.call(\"EXPIREAT\", timeKey, maxExpiration + 10)\n"                          \
    "\n"                                                                                           \
    "            return true\n"                                                                    \
    "        "
#define SYMFONY_SEMAPHORE_PUT_OFF                                                                  \
    "\n"                                                                                           \
    "            local key = KEYS[1]\n"                                                            \
    "            local weightKey = key .. \":weight\"\n"                                           \
    "            local timeKey = key .. \":time\"\n"                                               \
    "\n"                                                                                           \
    "            local added = redis.call(\"ZADD\", timeKey, ARGV[1], ARGV[2])\n"                  \
    "            if added == 1 then\n"                                                             \
    "                redis.call(\"ZREM\", timeKey, ARGV[2])\n"                                     \
    "                redis.call(\"ZREM\", weightKey, ARGV[2])\n"                                   \
    "            end\n"                                                                            \
    "\n"                                                                                           \
    "            -- Extend the TTL\n"                                                              \
    "            local maxExpiration = redis.call(\"ZREVRANGE\", timeKey, 0, 0, "                  \
    "\"WITHSCORES\")[2]\n"                                                                         \
    "            if nil == maxExpiration then\n"                                                   \
    "                return 1\n"                                                                   \
    "            end\n"                                                                            \
    "\n"                                                                                           \
    "            redis.call(\"EXPIREAT\", weightKey, maxExpiration + 10)\n"                        \
    "            redis.call(\"EXPIREAT\", timeKey, maxExpiration + 10)\n"                          \
    "\n"                                                                                           \
    "            return added\n"                                                                   \
    "        "
#define SYMFONY_SEMAPHORE_DELETE                                                                   \
    "\n"                                                                                           \
    "            local key = KEYS[1]\n"                                                            \
    "            local weightKey = key .. \":weight\"\n"                                           \
    "            local timeKey = key .. \":time\"\n"                                               \
    "            local identifier = ARGV[1]\n"                                                     \
    "\n"                                                                                           \
    "            redis.call(\"ZREM\", timeKey, identifier)\n"                                      \
    "            return redis.call(\"ZREM\", weightKey, identifier)\n"                             \
    "        "

/* Symfony's scripts, by a client whose clock is that of Latch's scripts. */
bool symfony_takes_permits(const char *token, int64_t ttl_s, int64_t weight, int64_t limit);
/* False: the semaphore has expired, for Symfony an exception. */
bool symfony_refreshes_permits(const char *token, int64_t ttl_s);
void symfony_releases_permits(const char *token);
bool symfony_has_permits(const char *token);
/* How much its clock is ahead, in s. */
extern int64_t symfony_ahead_s;

/* The sum of weights of all whose time is not over; 0 of a token that has none. */
int64_t permits_used(void);
int64_t permits_of(const char *token);
/* The second in which its time is over, since 1970. */
int64_t permit_end_of(const char *token);
/* The scripts' clock, in s, rounded down. */
int64_t permit_now_s(void);

/*
 * What must hold at any time behind a script of Latch's: each key expires; the record has the sum
 * of those that are in it, all of whom hold; nobody holds for longer than the keys are there.
 */
void check_permits(void);

#endif
