/*
 * A master, two replicas and three Sentinels, real ones, of this test program's own, on loopback
 * ports that the kernel chose. They are new for each test.
 */
#ifndef REDIS_SENTINEL_SUPPORT_H
#define REDIS_SENTINEL_SUPPORT_H

#include "redis_process.h"
#include "redis_store.h"

#define TRIO_MASTER "my-master"

typedef struct redis_trio {
    char directory[UNIT_PATH];
    redis_process servers[3]; /* the first is the master in the beginning */
    redis_process sentinels[3];
    const redis_process *cut_off; /* one of these, from the others and from the servers; or NULL */
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

/*
 * From now on this Sentinel knows what it was told in the beginning, and no more: it is started
 * anew, without the passwords of others, and takes no messages. For a trio with passwords.
 */
void redis_trio_cut_off(redis_process *sentinel);
/* From now on this server stays a master if it is one, whatever Sentinels want. */
void redis_trio_keep_master(redis_process *server);

/* Who the master is by what this Sentinel says. */
redis_process *redis_trio_named_by(redis_process *sentinel);
/* Returns when another server is the master by what all Sentinels say that run, but for the one
 * that is cut off; that server. */
redis_process *redis_trio_await_another(const redis_process *old);
/* SENTINEL FAILOVER, and the same. */
redis_process *redis_trio_fail_over(const redis_process *old);
/* Returns when the replicas have all that the master has. */
void redis_trio_await_replicas(redis_process *master);

#endif
