/*
 * Redis Cluster: which of several servers has a lock. Each has some of 16384 slots
 * (redis/options/slot.h), and says "MOVED" to who asks it for others, with the server that has
 * them. So every server can be asked for every lock, and what it answers is learned; the map of all
 * slots
 * ("CLUSTER SLOTS") is asked for in front of a request, when the map that there is has turned out
 * to be wrong, and nobody awaits that by itself. A server that cannot be reached is left out:
 * another one is asked, which knows who has taken its place, or that nobody has, yet.
 *
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */
#ifndef LATCH_REDIS_CLUSTER_H
#define LATCH_REDIS_CLUSTER_H

#include "src/store/redis/topology/server.h"

typedef struct redis_cluster {
    redis_node **nodes; /* whoever was named; the DSN's are the first */
    size_t count, size;
    size_t next_node;             /* who is asked next by those who may ask anybody */
    bool is_stale;                /* the map is to be asked for ... */
    int64_t asked_ns;             /* ... unless that was done just now */
    uint16_t owners[REDIS_SLOTS]; /* the number of a node, from 1; 0: nobody knows */
} redis_cluster;

/* Makes topology->cluster, of the places of its options. False when memory ran out. */
bool latch_redis_cluster_open(redis_topology *topology);
/* Closes all connections; topology->cluster may be NULL. */
void latch_redis_cluster_close(redis_topology *topology);

/* Who has the slot; NULL: nobody knows. */
redis_node *latch_redis_cluster_node_of(const redis_cluster *cluster, unsigned slot);
/* The owner, who may be NULL; or, if it is away or not known, another one that may know. */
redis_node *latch_redis_choose_cluster_node(redis_cluster *cluster, redis_node *owner);
/* Another one, which is not away: connected, if there is such a one. NULL: there is none. */
redis_node *latch_redis_other_cluster_node(redis_cluster *cluster, const redis_node *but);
/* All are to be tried once more. */
void latch_redis_retry_all_cluster_nodes(redis_cluster *cluster);
/* Has it any slots? */
bool latch_redis_owns_slots(const redis_node *node);
/* Whom others call so, or who is reached so; a new one if it is unheard of. NULL: it cannot be. */
redis_node *latch_redis_node_at(redis_topology *topology, const char *host, int port);
/* On a READY connection: asks for the map, if that is to be done. */
void latch_redis_refresh_slot_map(redis_node *node, int64_t now_ns);
/* Sends "CLUSTER SLOTS", on a READY connection; NULL when memory ran out. */
redis_call *latch_redis_request_slot_map(redis_node *node, int64_t now_ns);
/* Takes what the node has answered. False: it is no map. */
bool latch_redis_apply_slot_map(redis_node *node, const redisReply *reply);

#endif
