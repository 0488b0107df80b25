/*
 * Redis Cluster: map of the 16384 slots (redis/options/slot.h) to nodes. Any node can be asked for
 * any key: it answers MOVED with the slot's owner, which is recorded. When the map has turned out
 * to be stale, CLUSTER SLOTS is sent in front of a request, without awaiting it. A node that cannot
 * be reached is skipped: another one knows its successor.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */
#ifndef LATCH_REDIS_CLUSTER_H
#define LATCH_REDIS_CLUSTER_H

#include "src/store/redis/topology/server.h"

typedef struct redis_cluster {
    redis_node **nodes; /* all known nodes; the DSN's are the first */
    size_t count, size;
    size_t next_node;             /* round robin, where any node will do */
    bool is_stale;                /* the map is to be refreshed ... */
    int64_t asked_ns;             /* ... unless it was just then */
    uint16_t owners[REDIS_SLOTS]; /* number of a node, from 1; 0: unknown */
} redis_cluster;

/* Makes topology->cluster of the options' places. False when memory ran out. */
bool latch_redis_cluster_open(redis_topology *topology);
/* Closes all connections; topology->cluster may be NULL. */
void latch_redis_cluster_close(redis_topology *topology);

/* Owner of the slot; NULL: unknown. */
redis_node *latch_redis_cluster_node_of(const redis_cluster *cluster, unsigned slot);
/* The owner, or, if it is away or NULL, another node that can redirect. */
redis_node *latch_redis_choose_cluster_node(redis_cluster *cluster, redis_node *owner);
/* Another node that is not away, a connected one first. NULL: there is none. */
redis_node *latch_redis_other_cluster_node(redis_cluster *cluster, const redis_node *but);
/* Marks no node as away any more. */
void latch_redis_retry_all_cluster_nodes(redis_cluster *cluster);
/* Owner of any slot? */
bool latch_redis_owns_slots(const redis_node *node);
/*
 * Node with that address, announced or used; made if it is unknown. NULL: the address is invalid,
 * or memory ran out.
 */
redis_node *latch_redis_node_at(redis_topology *topology, const char *host, int port);
/* Refreshes a stale slot map, on a READY connection. */
void latch_redis_refresh_slot_map(redis_node *node, int64_t now_ns);
/* Sends "CLUSTER SLOTS", on a READY connection; NULL when memory ran out. */
redis_call *latch_redis_request_slot_map(redis_node *node, int64_t now_ns);
/* Applies the node's answer to CLUSTER SLOTS. False: it is no map. */
bool latch_redis_apply_slot_map(redis_node *node, const redisReply *reply);

#endif
