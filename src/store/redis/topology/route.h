/*
 * Routing of a request to the server of its lock: choice of the node, MOVED and ASK redirections,
 * pauses and time limit. Without a cluster it leads to the only server.
 */
#ifndef LATCH_REDIS_ROUTE_H
#define LATCH_REDIS_ROUTE_H

#include "src/store/redis/topology/server.h"

/* Route of one request. All zero at its beginning. */
typedef struct redis_route {
    redis_node *node;     /* current node; NULL: none was chosen yet */
    bool is_redirected;   /* named by a redirection: tried even if it was away */
    bool needs_asking;    /* the slot is migrating to it: "ASKING" goes before the command */
    bool has_retried_all; /* nodes that were away are tried again, once */
    uint8_t redirections;
    int64_t since_ns; /* start of the search; 0: found */
    int64_t leave_ns; /* end of the attempt at this node; 0: not begun */
    int64_t retry_ns; /* pause until then */
} redis_route;

/* latch_redis_route_connect() in a cluster. */
latch_status latch_redis_route_connect_in_cluster(redis_topology *topology, redis_route *route,
                                                  const char *resource, size_t length, latch_op *op,
                                                  int64_t now_ns);
/*
 * Connects to the server of the key, or to one that can redirect. As redis_transport.prepare;
 * LATCH_DONE: route->node is READY. The search lasts as long as the connect time-out.
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
 * Applies an error of route->node. True: it is a redirection, or asks for a later try, which
 * latch_redis_route_connect() follows. False: any other error.
 */
bool latch_redis_route_redirect(redis_route *route, const latch_op *op, const char *text,
                                int64_t now_ns);
/* Is it a redirection? Updates the slot map by MOVED. */
bool latch_redis_apply_redirect(redis_node *node, const char *text);
/* Resets the route, but for its node, after a command. */
static inline void latch_redis_route_reset(redis_route *route)
{
    *route = (redis_route){.node = route->node};
}

/* latch_redis_route_confirm() in a cluster. */
void latch_redis_record_slot_owner(redis_node *node, const char *resource, size_t length);
/* Confirms route->node as the slot's owner after its reply, and resets the route. */
static inline void latch_redis_route_confirm(redis_route *route, const char *resource,
                                             size_t length)
{
    if (route->node->topology->cluster != NULL && !route->needs_asking) {
        latch_redis_record_slot_owner(route->node, resource, length);
    }
    latch_redis_route_reset(route);
}

#endif
