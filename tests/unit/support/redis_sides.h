/*
 * The two who share the locks in a Redis server: Latch's scripts as they are embedded in the
 * engine, and those of Symfony's RedisStore. Both at work on one lock, "lock", of the test
 * program's server.
 */
#ifndef REDIS_SIDES_H
#define REDIS_SIDES_H

#include "redis_server.h"

#define LOCK "lock"
#define RECORD "latch:holder:lock"
#define QUEUE "latch:queue:lock"
#define PEERS "latch:peers:lock"
#define COUNTER "latch:fencing"
#define QUEUE_KEYS LOCK " " RECORD " " QUEUE " " PEERS /* of the scripts that know the queue */

/* What both can do: true when it was done. */
typedef struct redis_side {
    const char *name;
    bool (*acquire)(const char *token, int64_t ttl_ms);
    bool (*share)(const char *token, int64_t ttl_ms);
    bool (*refresh)(const char *token, int64_t ttl_ms);
    bool (*release)(const char *token);
    bool (*exists)(const char *token);
} redis_side;

extern const redis_side latch_side, symfony_side;

/* The time in us at which Latch's scripts find the server's clock; 0 before each test: its own. */
extern int64_t clock_us;

/*
 * A script of Latch's behind the clock that it asks; valid until the next call. A text in it that
 * the environment's LATCH_MUTANT_FROM names is replaced by LATCH_MUTANT_TO (mutants/run).
 */
const char *on_clock(const char *script);
/* The same for very many calls, as on_clock() makes a script for each time: loads the script,
 * behind a clock in the server, which run_on_clock() sets for a command, "EVALSHA digest ...". The
 * reply is the caller's to free. */
void load_on_clock(const char *script, char digest[48]);
redisReply *run_on_clock(size_t count, const char **arguments);
/* False when it is another script that has such a text. */
bool is_under_test(const char *script);
/* Fails the test if a script has failed. */
redisReply *no_error(redisReply *reply);

/* Latch's scripts, with the server's answer. */
redisReply *try_acquire(const char *token, int64_t ttl_ms);
redisReply *try_share(const char *token, int64_t ttl_ms);
redisReply *try_refresh(const char *token, int64_t ttl_ms);
redisReply *try_release(const char *token);
redisReply *try_probe(const char *token);

/* The same where errors fail the test. The fencing token, 0 when somebody else holds the lock. */
int64_t acquire(const char *token, int64_t ttl_ms);
bool share(const char *token, int64_t ttl_ms);
/* 2 for a writer, 1 for a reader, 0 when it holds nothing. */
int refresh(const char *token, int64_t ttl_ms);
/* The same as the renewal thread asks. */
int extend(const char *token, int64_t ttl_ms);
bool release(const char *token);
/* The same as refresh(), and the milliseconds that are left in *left_ms, unless that is NULL. */
int probe(const char *token, int64_t *left_ms);

/* When a member of the lock expires, in ms since 1970; 0 when it is none. */
int64_t expiry_of(const char *token);
/* Lets a holder's time be over, as if it had passed. */
void expire(const char *token);
size_t count_members(void);
bool exists(const char *key);
/* Is the record that of this holder alone? */
bool record_is(const char *token, int64_t fencing);
/* When the keys of the lock and of its record expire; they always shall with the last member. */
int64_t lock_expiry(void);
int64_t record_expiry(void);
int64_t last_member_expiry(void);

int redis_sides_setup(void **state);

#define SIDES_TEST(test) cmocka_unit_test_setup_teardown(test, redis_sides_setup, NULL)

#endif
