/* Servers of a store: the only one, or the nodes of a cluster. */
#ifndef LATCH_REDIS_SERVER_H
#define LATCH_REDIS_SERVER_H

#include "src/store/redis/script/keys.h"
#include "src/store/redis/script/layout.h"
#include "src/store/redis/wire/connection.h"
#include "src/engine/store.h"

struct redis_cluster;

/* Size of a cluster node's ID in hex, with its NUL. */
enum { REDIS_NODE_ID_SIZE = 41 };

/* Node of a cluster. */
typedef struct redis_cluster_node_info {
    uint16_t number;   /* from 1 */
    redis_place place; /* its address; owns its texts */
    char *announced;   /* address by which other nodes announce it: "host:port"; or NULL */
    char id[REDIS_NODE_ID_SIZE]; /* as told on its connection ... */
    unsigned id_established;     /* ... with that connection.established */
    bool is_away;                /* unreachable or silent at the last try */
    latch_breaker breaker;
} redis_cluster_node_info;

/* Server, with its connection and circuit breaker. */
typedef struct redis_node {
    struct redis_topology *topology;
    redis_connection connection;
    latch_breaker *breaker;               /* circuit breaker; the store's own for the only server */
    int64_t last_reply_ns;                /* time of the last reply to a request */
    redis_cluster_node_info cluster_info; /* in a cluster */
    /* State of lock/wait.c, per server. */
    bool has_polling_clients[REDIS_PEER_KINDS]; /* at the last probe */
    int64_t last_queue_length;                  /* waiters before the store's last wait */
    int64_t next_probe_ns;                      /* time of the next probe */
    unsigned probed; /* state of lock/quorum_probe.c: connection.established at the probe */
    /* connection.established when the script of releases was known, by the kind of its layout. */
    unsigned has_release[REDIS_PEER_KINDS];
} redis_node;

/* Topology: all servers of a store. */
typedef struct redis_topology {
    latch_engine *engine;
    const redis_options *options;
    const redis_keyspace *keys;
    redis_node single;             /* the server, without a cluster */
    struct redis_cluster *cluster; /* NULL: no cluster */
    bool is_batching;              /* for new connections */
    bool has_no_breaker;           /* a combined store skips silent members by itself */
} redis_topology;

/*
 * Initialises it with what outlives it: options, names of keys, the breaker of the only server.
 * False: memory ran out; latch_redis_topology_end() frees what there is also then.
 */
bool latch_redis_topology_init(redis_topology *topology, latch_engine *engine,
                               const redis_options *options, const redis_keyspace *keys,
                               latch_breaker *breaker);
/* Closes all connections. */
void latch_redis_topology_end(redis_topology *topology);

/* Next node of a cluster; the first one for NULL; NULL behind the last. */
redis_node *latch_redis_next_cluster_node(const struct redis_cluster *cluster,
                                          const redis_node *node);

/* Next server; the first one for NULL; NULL behind the last. */
static inline redis_node *latch_redis_next_node(redis_topology *topology, const redis_node *node)
{
    if (topology->cluster != NULL) {
        return latch_redis_next_cluster_node(topology->cluster, node);
    }
    return node == NULL ? &topology->single : NULL;
}

/* Begins or ends a batch on all connections. */
void latch_redis_batch_all(redis_topology *topology, bool on);

/* Server of the key's slot; without a cluster the only one. NULL: unknown. */
redis_node *latch_redis_slot_owner(redis_topology *topology, const char *resource, size_t length);
/*
 * Server of the key's slot, or, if it is away or unknown, another one that can redirect. Never
 * NULL.
 */
redis_node *latch_redis_choose_node(redis_topology *topology, const char *resource, size_t length);
/*
 * Record that a node was unreachable, silent, or lost its connection: it is avoided, and the slot
 * map is stale.
 */
void latch_redis_record_node_failure(redis_node *node);

#endif
