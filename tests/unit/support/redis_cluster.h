/*
 * A Redis Cluster of three masters with a replica each, real ones, of this test program's own, on
 * loopback ports that the kernel chose. It starts once for a program, in about three seconds, and
 * anew after a test that has killed, held or failed over a node, or moved a slot.
 */
#ifndef REDIS_CLUSTER_SUPPORT_H
#define REDIS_CLUSTER_SUPPORT_H

#include "redis_process.h"
#include "redis_store.h"

enum { CLUSTER_MASTERS = 3, CLUSTER_NODES = 6, CLUSTER_SLOTS = 16384 };

typedef struct redis_test_cluster {
    char directory[UNIT_PATH]; /* with the certificates, where it speaks TLS */
    bool tls;                  /* to everybody, but on the nodes' sockets */
    /* The masters in the beginning, in the order of their slots; then the replica of each. */
    redis_process nodes[CLUSTER_NODES];
    int bus_keepers[CLUSTER_NODES];
} redis_test_cluster;

extern redis_test_cluster cluster;

/* For cmocka's groups: starts it, without TLS or with, and ends it. */
int redis_cluster_group_setup(void **state);
int redis_cluster_group_setup_tls(void **state);
int redis_cluster_group_teardown(void **state);
/* The cluster as it was when it was new; for cmocka's tests also an engine on a real clock, and no
 * store. */
int redis_cluster_reset(void **state);
int redis_cluster_setup(void **state);

/* The end of its stores; and of what it has done to the cluster. */
int redis_cluster_teardown(void **state);

#define REDIS_CLUSTER_TEST(test)                                                                   \
    cmocka_unit_test_setup_teardown(test, redis_cluster_setup, redis_cluster_teardown)

/* Its DSN, which names the masters of the beginning; valid until the next call. */
const char *redis_cluster_dsn(void);
/* A store of it. `options` go behind the DSN: "&timeout=1". */
latch_store *redis_cluster_open(const char *options);

/* ---- Who has what, by the word of the nodes that run */

unsigned redis_cluster_slot(const char *key);
redis_process *redis_cluster_master(unsigned slot);
redis_process *redis_cluster_master_of(const char *key);
/* That runs; NULL if it has none. */
redis_process *redis_cluster_replica(redis_process *master);
/* Any master that runs but this one. */
redis_process *redis_cluster_another_master(const redis_process *master);
/* Returns when so many replicas have all that the master has. */
void redis_cluster_await_replicas(redis_process *master, int count);

/* ---- Failover. A node is killed, held and let go by redis_process_kill() and so on. */

/* Returns when all nodes that run know another master of the slot than this one; that master. */
redis_process *redis_cluster_await_another(unsigned slot, const redis_process *old);
/* Its replica takes over at once, without asking anybody; the same. */
redis_process *redis_cluster_take_over(redis_process *master);
/* Its replica takes over with its consent, and without any loss; the same. */
redis_process *redis_cluster_fail_over(redis_process *master);
/* Starts a node that was killed, empty. */
void redis_cluster_start(redis_process *node);
/* The same, and returns when it is a replica again. */
void redis_cluster_restart(redis_process *node);
/* Returns when it is a replica, in step with its master: after it was let go. */
void redis_cluster_await_return(redis_process *node);

/* ---- Moving a slot */

typedef struct redis_move {
    unsigned slot;
    redis_process *from, *to;
} redis_move;

/* From now on what it has not answers ASK, and scripts that have not all their keys TRYAGAIN. */
redis_move redis_cluster_begin_move(unsigned slot, redis_process *to);
void redis_cluster_move_key(const redis_move *move, const char *key);
/* Moves all keys that are left, and returns when all nodes know it. */
void redis_cluster_end_move(const redis_move *move);

#endif
