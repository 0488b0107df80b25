/*
 * Redis Cluster: which of several servers has a lock. Each has some of 16384 slots
 * (redis/script/slot.h), and says "MOVED" to who asks it for others, with the server that has them.
 * So every server can be asked for every lock, and what it answers is learned; the map of all slots
 * ("CLUSTER SLOTS") is asked for in front of a request, when the map that there is has turned out
 * to be wrong, and nobody awaits that by itself. A server that cannot be reached is left out:
 * another one is asked, which knows who has taken its place, or that nobody has, yet.
 *
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */
#ifndef LATCH_REDIS_CLUSTER_H
#define LATCH_REDIS_CLUSTER_H

#include "src/store/redis/wire/connection.h"
#include "src/store/redis/script/slot.h"
#include "src/engine/store.h"

struct redis_node;
struct redis_store;

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
    latch_silence silence;
} redis_membership;

typedef struct redis_cluster {
    struct redis_node **nodes; /* whoever was named; the DSN's are the first */
    size_t count, size;
    size_t turn;                  /* who is asked next by those who may ask anybody */
    bool is_stale;                /* the map is to be asked for ... */
    int64_t asked_ns;             /* ... unless that was done just now */
    uint16_t owners[REDIS_SLOTS]; /* the number of a node, from 1; 0: nobody knows */
} redis_cluster;

/* The way of one request to the server that has its lock. All zero at its beginning. */
typedef struct redis_route {
    struct redis_node *node; /* where it is, or was sent last; NULL: nobody was chosen yet */
    bool is_told;            /* as a node has named it: it is tried whatever happened before */
    bool asks;               /* the slot is on its way to it: it answers to who says "ASKING" */
    bool has_forgiven;       /* those that were away: they are tried once more */
    uint8_t redirections;
    int64_t since_ns; /* when it was begun to look for the server; 0: it is found */
    int64_t leave_ns; /* until then the node is tried that is being connected; 0: it is not yet */
    int64_t retry_ns; /* nobody is to be asked before */
} redis_route;

/* Makes store->cluster, of the places of its options. False when memory ran out. */
bool latch_redis_cluster_open(struct redis_store *store);
/* Closes all connections; store->cluster may be NULL. */
void latch_redis_cluster_close(struct redis_store *store);

/*
 * For each node of the store, be it a cluster's or the only one: the next one behind `node`, the
 * first one for NULL; NULL behind the last.
 */
struct redis_node *latch_redis_next_node(struct redis_store *store, const struct redis_node *node);

/*
 * Connects to the server that has the key, or the nearest one that may know. As
 * latch_redis_connect(); LATCH_DONE: route->node is READY. Without a cluster, it is the only one.
 * Whether the server can be found is tried for as long as it takes to connect to one.
 */
latch_status latch_redis_reach(struct redis_store *store, redis_route *route, const char *resource,
                               size_t length, latch_op *op, int64_t now_ns);
/*
 * The error that route->node answered with says that another one is to be asked, or the same one
 * later: true, and latch_redis_reach() does so. False: it is an error like others.
 */
bool latch_redis_redirect(redis_route *route, const latch_op *op, const char *text, int64_t now_ns);
/* Is it such an error, whoever is to be asked? Learns of it who that is. */
bool latch_redis_learn(struct redis_node *node, const char *text);
/* route->node has answered for the key: it has the slot. What was sent is over. */
void latch_redis_note_owner(redis_route *route, const char *resource, size_t length);
/* What was sent to route->node is over: where the next request goes is to be found out anew. */
void latch_redis_start_over(redis_route *route);
/* It could not be reached, or its connection was lost, or it does not answer. */
void latch_redis_note_trouble(struct redis_node *node);

/* Who has the key, as far as is known; without a cluster the only one. NULL: nobody knows. */
struct redis_node *latch_redis_owner(struct redis_store *store, const char *resource,
                                     size_t length);
/* The same, or, if that one is away or not known, another one that may know. Never NULL. */
struct redis_node *latch_redis_choose(struct redis_store *store, const char *resource,
                                      size_t length);
/* Has it any slots? */
bool latch_redis_owns(const struct redis_node *node);
/* Whom others call so, or who is reached so; a new one if it is unheard of. NULL: it cannot be. */
struct redis_node *latch_redis_node_at(struct redis_store *store, const char *host, int port);
/* On a READY connection: asks for the map, if that is to be done. */
void latch_redis_ask_for_slots(struct redis_node *node, int64_t now_ns);
/* Sends "CLUSTER SLOTS", on a READY connection; NULL when memory ran out. */
redis_call *latch_redis_send_slots(struct redis_node *node, int64_t now_ns);
/* Takes what the node has answered. False: it is no map. */
bool latch_redis_take_slots(struct redis_node *node, const redisReply *reply);

#endif
