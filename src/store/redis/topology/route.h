/*
 * The way of a request to the server that has its lock: who is asked, what redirections say, and
 * for how long that goes on. Without a cluster it leads to the only server.
 */
#ifndef LATCH_REDIS_ROUTE_H
#define LATCH_REDIS_ROUTE_H

#include "src/store/redis/topology/server.h"

/* The way of one request to the server that has its lock. All zero at its beginning. */
typedef struct redis_route {
    redis_node *node;     /* where it is, or was sent last; NULL: nobody was chosen yet */
    bool is_redirected;   /* as a node has named it: it is tried whatever happened before */
    bool needs_asking;    /* the slot is on its way to it: it answers to who says "ASKING" */
    bool has_retried_all; /* those that were away: they are tried once more */
    uint8_t redirections;
    int64_t since_ns; /* when it was begun to look for the server; 0: it is found */
    int64_t leave_ns; /* until then the node is tried that is being connected; 0: it is not yet */
    int64_t retry_ns; /* nobody is to be asked before */
} redis_route;

/* latch_redis_route_connect() in a cluster. */
latch_status latch_redis_route_connect_in_cluster(redis_topology *topology, redis_route *route,
                                                  const char *resource, size_t length, latch_op *op,
                                                  int64_t now_ns);
/*
 * Connects to the server that has the key, or the nearest one that may know. As
 * redis_transport.prepare; LATCH_DONE: route->node is READY. Whether the server can be found is
 * tried for as long as it takes to connect to one.
 */
static inline latch_status latch_redis_route_connect(redis_topology *topology, redis_route *route,
                                                     const char *resource, size_t length,
                                                     latch_op *op, int64_t now_ns)
{
    if (topology->cluster != NULL) {
        return latch_redis_route_connect_in_cluster(topology, route, resource, length, op, now_ns);
    }
    route->node = &topology->single;
    return route->node->connection.transport->prepare(&route->node->connection, op, now_ns);
}

/*
 * The error that route->node answered with says that another one is to be asked, or the same one
 * later: true, and latch_redis_route_connect() does so. False: it is an error like others.
 */
bool latch_redis_route_redirect(redis_route *route, const latch_op *op, const char *text,
                                int64_t now_ns);
/* Is it such an error, whoever is to be asked? Learns of it who that is. */
bool latch_redis_apply_redirect(redis_node *node, const char *text);
/* What was sent to route->node is over: where the next request goes is to be found out anew. */
static inline void latch_redis_route_reset(redis_route *route)
{
    *route = (redis_route){.node = route->node};
}

/* latch_redis_route_confirm() in a cluster. */
void latch_redis_record_slot_owner(redis_node *node, const char *resource, size_t length);
/* route->node has answered for the key: it has the slot. What was sent is over. */
static inline void latch_redis_route_confirm(redis_route *route, const char *resource,
                                             size_t length)
{
    if (route->node->topology->cluster != NULL && !route->needs_asking) {
        latch_redis_record_slot_owner(route->node, resource, length);
    }
    latch_redis_route_reset(route);
}

#endif
