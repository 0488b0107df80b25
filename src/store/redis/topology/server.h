/*
 * The servers that a store asks for locks: the only one, or those of a cluster.
 */
#ifndef LATCH_REDIS_SERVER_H
#define LATCH_REDIS_SERVER_H

#include "src/store/redis/script/keys.h"
#include "src/store/redis/wire/connection.h"
#include "src/engine/store.h"

struct redis_cluster;

/* Try again, at once. Answered by no step of a request. */
#define REDIS_AGAIN LATCH_INTERRUPTED

/* Of a node's name, which is random, in hex, with its NUL. */
enum { REDIS_NODE_ID_SIZE = 41 };

/* What a node is in a cluster. */
typedef struct redis_membership {
    uint16_t number;             /* from 1 */
    redis_place place;           /* how it is reached; its texts are the node's own */
    char *announced;             /* how others call it, if that is known: "host:port" */
    char id[REDIS_NODE_ID_SIZE]; /* as it has said on its connection ... */
    unsigned id_established;     /* ... when that was established so often */
    bool is_away; /* it could not be reached, or was silent, when it was tried last */
    latch_breaker breaker;
} redis_membership;

/* A server. */
typedef struct redis_node {
    struct redis_topology *topology;
    redis_connection connection;
    latch_breaker *breaker;  /* its circuit breaker */
    int64_t heard_ns;        /* when a request was answered last */
    redis_membership member; /* in a cluster */
    /* What lock/wait.c remembers of it. */
    bool has_peers;   /* who wait by polling, when it was asked last */
    int64_t crowd;    /* how many stood before the store when it began to wait last */
    int64_t peers_ns; /* when to ask again */
    /* What lock/quorum_probe.c does: connection.established when it was asked, and when the script
     * of releases was there. */
    unsigned probed, has_release;
} redis_node;

/* The servers of a store. */
typedef struct redis_topology {
    latch_engine *engine;
    const redis_options *options;
    const redis_keyspace *keys;
    redis_node single;             /* without a cluster: the server */
    struct redis_cluster *cluster; /* which has the servers; NULL: there is none */
    bool is_gathering;             /* new connections are, too */
    bool is_unbroken; /* no circuit breaker: who has several stores leaves one out by itself */
} redis_topology;

/* The options, the names and the breaker of the single server outlive it. False: memory ran out;
 * latch_redis_topology_end() frees what there is also then. */
bool latch_redis_topology_init(redis_topology *topology, latch_engine *engine,
                               const redis_options *options, const redis_keyspace *keys,
                               latch_breaker *breaker);
/* Closes all connections. */
void latch_redis_topology_end(redis_topology *topology);

/* Of a cluster: the next one behind `node`, the first one for NULL; NULL behind the last. */
redis_node *latch_redis_next_member(const struct redis_cluster *cluster, const redis_node *node);

/* For each node, be it a cluster's or the only one. */
static inline redis_node *latch_redis_next_node(redis_topology *topology, const redis_node *node)
{
    if (topology->cluster != NULL) {
        return latch_redis_next_member(topology->cluster, node);
    }
    return node == NULL ? &topology->single : NULL;
}

/* Has all connections keep commands back, or send them together. */
void latch_redis_gather_all(redis_topology *topology, bool on);

/* Who has the key, as far as is known; without a cluster the only one. NULL: nobody knows. */
redis_node *latch_redis_owner(redis_topology *topology, const char *resource, size_t length);
/* The same, or, if that one is away or not known, another one that may know. Never NULL. */
redis_node *latch_redis_choose(redis_topology *topology, const char *resource, size_t length);
/* It could not be reached, or its connection was lost, or it does not answer. */
void latch_redis_note_trouble(redis_node *node);

#endif
