/*
 * A Redis server of this test program's own, a real one: on a loopback port that the kernel chose
 * and on a socket in a directory of its own. A test that cannot have it fails.
 */
#ifndef REDIS_SERVER_H
#define REDIS_SERVER_H

#include "unit.h"

#include <hiredis/hiredis.h>

typedef struct unit_redis_server {
    pid_t pid; /* 0 while there is none */
    int port;  /* on 127.0.0.1; the same after a restart */
    char directory[UNIT_PATH];
    char socket[UNIT_PATH + 8];
    redisContext *connection; /* the test's own, by the socket */
} unit_redis_server;

extern unit_redis_server unit_redis;

/* For cmocka's groups: starts it, and ends it. */
int unit_redis_group_setup(void **state);
int unit_redis_group_teardown(void **state);
/*
 * For cmocka's tests: the server as it was when it was new, whatever the test before has done to
 * it: running, without data, scripts, a user "tester", limits, pauses and other clients.
 */
int unit_redis_setup(void **state);

/* What is run as redis-server: LATCH_REDIS_SERVER of the environment, of another version. */
const char *unit_redis_program(void);
/* Is the server older than this Redis? By what it says; for Valkey that is 7.2. */
bool unit_redis_is_before(int major, int minor);
/* A free port of 127.0.0.1, which stays the server's until the socket is closed. */
int unit_redis_keep_port(int *keeper);
/* The same with the port 10000 above, by which a node of a cluster speaks with the others. */
int unit_redis_keep_ports(int keepers[2]);
/* Starts it with these options more, NULL at their end; returns when it answers. */
void unit_redis_start(const char *const *options);
/* As its operator ends it, and as a crash does; returns when it is gone. */
void unit_redis_stop(void);
void unit_redis_kill(void);

/* To be called in a loop until something has happened; fails when it never does. */
void unit_redis_look_again(unsigned *looks);
/* Another connection of the test's own, by TCP, to any server; NULL: nobody listens. */
redisContext *unit_redis_connect_to(int port);
/* The same by a socket. */
redisContext *unit_redis_connect_by(const char *path);

/*
 * The server's answer to a command, formatted as for redisCommand(); valid until the next one. An
 * error is a failed test for the first function, and an answer for the second.
 */
redisReply *unit_redis_ask(const char *format, ...);
redisReply *unit_redis_try(const char *format, ...);
/* The same for commands that answer with an integer, or with a text ("" when there is none). */
long long unit_redis_number(const char *format, ...);
const char *unit_redis_text(const char *format, ...);

/* Makes a user "tester", whose password is "secret", and who may do all but for these rules. */
void unit_redis_let_tester(const char *rules);
/* The default user may do all again. */
void unit_redis_let_default(void);

/* To begin a script with: expiry_of(key) is as PEXPIRETIME, which is not there before Redis 7. */
#define UNIT_REDIS_LUA_EXPIRY                                                                      \
    "local function now_ms()\n"                                                                    \
    "  local time = redis.call('TIME')\n"                                                          \
    "  return time[1] * 1000 + math.floor(time[2] / 1000)\n"                                       \
    "end\n"                                                                                        \
    "local function expiry_of(key)\n"                                                              \
    "  local expiry = redis.pcall('PEXPIRETIME', key)\n"                                           \
    "  while type(expiry) ~= 'number' do\n"                                                        \
    "    local now = now_ms()\n"                                                                   \
    "    local left = redis.call('PTTL', key)\n"                                                   \
    "    if left < 0 then\n"                                                                       \
    "      return left\n"                                                                          \
    "    end\n"                                                                                    \
    "    expiry = now_ms() == now and now + left\n" /* else the clock has ticked meanwhile */      \
    "  end\n"                                                                                      \
    "  return expiry\n"                                                                            \
    "end\n"
/* When a key expires, in ms since 1970; -1: never, -2: there is none. */
int64_t unit_redis_expiry_of(const char *key);
/* The server's clock, in microseconds since 1970. */
int64_t unit_redis_now_us(void);
/* Notes all keys, their contents and when they expire; are they the same as noted? */
void unit_redis_snapshot(void);
bool unit_redis_is_unchanged(void);
/* Is it an error that begins like this? */
bool unit_redis_is_error(const redisReply *reply, const char *error);
/* The same to this server; freed by redisFree(). */
redisContext *unit_redis_connect(void);

#define UNIT_REDIS_TEST(test) cmocka_unit_test_setup_teardown(test, unit_redis_setup, NULL)

#endif
