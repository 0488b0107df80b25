/*
 * A master, two replicas and three Sentinels, real ones, of this test program's own, on loopback
 * ports that the kernel chose. They are new for each test.
 */
#ifndef REDIS_SENTINEL_SUPPORT_H
#define REDIS_SENTINEL_SUPPORT_H

#include "redis_store.h"

#define TRIO_MASTER "my-master"

typedef struct redis_node {
    pid_t pid; /* 0 while it does not run */
    int port, keeper;
    const char *password;
    redisContext *connection; /* the test's own */
} redis_node;

typedef struct redis_trio {
    char directory[UNIT_PATH];
    redis_node servers[3]; /* the first is the master in the beginning */
    redis_node sentinels[3];
    redisReply *answer;
} redis_trio;

extern redis_trio trio;

/* For cmocka's tests: with the trio, an engine on a real clock, and no store; and their end. */
int redis_trio_setup(void **state);
/* The same where servers and Sentinels have passwords: "server-pw" and "sentinel-pw". */
int redis_trio_setup_secret(void **state);
int redis_trio_teardown(void **state);

#define UNIT_TRIO_TEST(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, redis_trio_setup, redis_trio_teardown)

/* A store of these Sentinels' master. `options` go behind it: "&timeout=1". */
latch_store *redis_trio_open(const char *options);
/* "host[127.0.0.1:1]&host[127.0.0.1:2]&host[127.0.0.1:3]" */
const char *redis_trio_hosts(void);

/* The answer of a server or a Sentinel, valid until the next one. */
redisReply *redis_node_ask(redis_node *node, const char *format, ...);
long long redis_node_number(redis_node *node, const char *format, ...);
/* SIGKILL, SIGSTOP, which return when it has happened, and SIGCONT. */
void redis_node_kill(redis_node *node);
void redis_node_hold(redis_node *node);
void redis_node_let_go(redis_node *node);

/* Returns when another server is the master by what all Sentinels say that run; that server. */
redis_node *redis_trio_await_another(const redis_node *old);
/* SENTINEL FAILOVER, and the same. */
redis_node *redis_trio_fail_over(const redis_node *old);
/* Returns when the replicas have all that the master has. */
void redis_trio_await_replicas(redis_node *master);

#endif
