/* Redis Cluster: see cluster.h. */
#include "src/store/redis/topology/cluster.h"
#include "src/store/redis/topology/route.h"

#include <stdio.h>
#include <string.h>

/* Shortest time between refreshes of the map. */
#define MAP_PAUSE_NS LATCH_NS_PER_S
/* Limit of known nodes: Redis allows a thousand, and more come and go. */
#define NODES_MAX 4096

/* ---- Nodes ---------------------------------------------------------------------------------- */

redis_node *latch_redis_next_cluster_node(const redis_cluster *cluster, const redis_node *node)
{
    size_t next = node == NULL ? 0 : node->cluster_info.number;

    return next < cluster->count ? cluster->nodes[next] : NULL;
}

static void free_node(redis_node *node)
{
    latch_engine *engine = node->topology->engine;

    latch_redis_close(&node->connection);
    latch_free(engine, node->cluster_info.place.address);
    latch_free(engine, node->cluster_info.place.host);
    latch_free(engine, node->cluster_info.announced);
    latch_free(engine, node);
}

static char *copy_address(const latch_engine *engine, const char *text)
{
    char *copied = latch_allocate(engine, strlen(text) + 1);

    return copied != NULL ? strcpy(copied, text) : NULL;
}

/* Makes room for one more node. */
static bool grow_nodes(const latch_engine *engine, redis_cluster *cluster)
{
    size_t size = cluster->size == 0 ? 8 : 2 * cluster->size;
    redis_node **nodes;

    if (cluster->count < cluster->size) {
        return true;
    }
    nodes = cluster->size < NODES_MAX ? latch_allocate(engine, size * sizeof(*nodes)) : NULL;
    if (nodes == NULL) {
        return false;
    }
    if (cluster->count > 0) {
        memcpy(nodes, cluster->nodes, cluster->count * sizeof(*nodes));
    }
    latch_free(engine, cluster->nodes);
    cluster->nodes = nodes;
    cluster->size = size;
    return true;
}

/* Adds a node; NULL when memory ran out, or there are too many. */
static redis_node *add_node(redis_topology *topology, const char *host, int port,
                            const char *address)
{
    latch_engine *engine = topology->engine;
    redis_cluster *cluster = topology->cluster;
    redis_node *node = grow_nodes(engine, cluster) ? latch_allocate(engine, sizeof(*node)) : NULL;

    if (node == NULL) {
        return NULL;
    }
    memset(node, 0, sizeof(*node));
    node->topology = topology;
    node->breaker = &node->cluster_info.breaker;
    latch_redis_connection_init(&node->connection, engine, topology->options);
    node->connection.place = &node->cluster_info.place;
    node->connection.is_batching = topology->is_batching;
    node->cluster_info.place = (redis_place){.address = copy_address(engine, address),
                                             .host = copy_address(engine, host),
                                             .port = port};
    if (node->cluster_info.place.address == NULL || node->cluster_info.place.host == NULL) {
        free_node(node);
        return NULL;
    }
    cluster->nodes[cluster->count++] = node;
    node->cluster_info.number = (uint16_t) cluster->count;
    return node;
}

/* Node with that address; made if it is unknown. */
redis_node *latch_redis_node_at(redis_topology *topology, const char *host, int port)
{
    const redis_cluster *cluster = topology->cluster;
    char address[300];

    if (*host == '\0' || strlen(host) > 255 || port < 1 || port > 65535) {
        return NULL;
    }
    latch_redis_write_address(address, sizeof(address), host, port);
    for (size_t at = 0; at < cluster->count; at++) {
        const redis_cluster_node_info *member = &cluster->nodes[at]->cluster_info;

        if (strcmp(member->place.address, address) == 0
            || (member->announced != NULL && strcmp(member->announced, address) == 0)) {
            return cluster->nodes[at];
        }
    }
    return add_node(topology, host, port, address);
}

/*
 * Node with that ID, told on its connection: its address may differ from the announced one, as the
 * DSN's hosts do.
 */
static redis_node *node_with_id(const redis_cluster *cluster, const char *id)
{
    for (size_t at = 0; at < cluster->count; at++) {
        redis_node *node = cluster->nodes[at];

        if (node->connection.stage == REDIS_READY && strcmp(node->cluster_info.id, id) == 0
            && node->cluster_info.id_established == node->connection.established) {
            return node;
        }
    }
    return NULL;
}

bool latch_redis_cluster_open(redis_topology *topology)
{
    latch_engine *engine = topology->engine;
    uint16_t random = 0;

    topology->cluster = latch_allocate(engine, sizeof(*topology->cluster));
    if (topology->cluster == NULL) {
        return false;
    }
    memset(topology->cluster, 0, sizeof(*topology->cluster));
    topology->cluster->is_stale = true;
    topology->cluster->asked_ns = INT64_MIN;
    for (size_t at = 0; at < topology->options->place_count; at++) {
        const redis_place *place = &topology->options->places[at];

        if (latch_redis_node_at(topology, place->host, place->port) == NULL) {
            return false;
        }
    }
    /* Not everybody shall begin with the same one. */
    engine->env.random(engine->env.context, &random, sizeof(random));
    topology->cluster->next_node = random % topology->cluster->count;
    return true;
}

void latch_redis_cluster_close(redis_topology *topology)
{
    redis_cluster *cluster = topology->cluster;

    if (cluster == NULL) {
        return;
    }
    for (size_t at = 0; at < cluster->count; at++) {
        free_node(cluster->nodes[at]);
    }
    latch_free(topology->engine, cluster->nodes);
    latch_free(topology->engine, cluster);
    topology->cluster = NULL;
}

/* ---- The map -------------------------------------------------------------------------------- */

redis_node *latch_redis_cluster_node_of(const redis_cluster *cluster, unsigned slot)
{
    uint16_t number = cluster->owners[slot];

    return number > 0 ? cluster->nodes[number - 1] : NULL;
}

redis_node *latch_redis_other_cluster_node(redis_cluster *cluster, const redis_node *but)
{
    redis_node *found = NULL;

    for (size_t count = 0; count < cluster->count; count++) {
        redis_node *node = cluster->nodes[(cluster->next_node + count) % cluster->count];

        if (node != but && !node->cluster_info.is_away
            && (found == NULL
                || (node->connection.stage == REDIS_READY
                    && found->connection.stage != REDIS_READY))) {
            found = node;
        }
    }
    return found;
}

void latch_redis_retry_all_cluster_nodes(redis_cluster *cluster)
{
    for (size_t at = 0; at < cluster->count; at++) {
        cluster->nodes[at]->cluster_info.is_away = false;
    }
}

redis_node *latch_redis_choose_cluster_node(redis_cluster *cluster, redis_node *owner)
{
    redis_node *other;

    if (owner != NULL && !owner->cluster_info.is_away) {
        return owner;
    }
    other = latch_redis_other_cluster_node(cluster, owner);
    if (other != NULL) {
        return other;
    }
    latch_redis_retry_all_cluster_nodes(cluster);
    return owner != NULL ? owner : cluster->nodes[cluster->next_node++ % cluster->count];
}

void latch_redis_record_slot_owner(redis_node *node, const char *resource, size_t length)
{
    redis_topology *topology = node->topology;

    topology->cluster->owners[latch_redis_slot_of(topology->keys, resource, length)] =
        node->cluster_info.number;
}

bool latch_redis_owns_slots(const redis_node *node)
{
    const redis_cluster *cluster = node->topology->cluster;

    for (size_t slot = 0; slot < REDIS_SLOTS; slot++) {
        if (cluster->owners[slot] == node->cluster_info.number) {
            return true;
        }
    }
    return false;
}

/* For latch_redis_call_abandon(): reply to CLUSTER MYID. */
static void record_id(void *context, const redisReply *reply)
{
    redis_node *node = context;

    if (reply != NULL && reply->type == REDIS_REPLY_STRING && reply->len < REDIS_NODE_ID_SIZE) {
        memcpy(node->cluster_info.id, reply->str, reply->len + 1);
        node->cluster_info.id_established = node->connection.established;
    }
}

/* Record the node's announced address, and take it from any other node. */
static void record_announced(redis_node *node, const char *host, int port)
{
    latch_engine *engine = node->topology->engine;
    redis_cluster *cluster = node->topology->cluster;
    char address[300];

    latch_redis_write_address(address, sizeof(address), host, port);
    if (node->cluster_info.announced != NULL
        && strcmp(node->cluster_info.announced, address) == 0) {
        return;
    }
    for (size_t at = 0; at < cluster->count; at++) {
        redis_cluster_node_info *member = &cluster->nodes[at]->cluster_info;

        if (cluster->nodes[at] == node
            || (member->announced != NULL && strcmp(member->announced, address) == 0)) {
            latch_free(engine, member->announced);
            member->announced = NULL;
        }
    }
    node->cluster_info.announced = copy_address(engine, address);
}

/* Parses a master of the map, {host, port, id, ...}. NULL: invalid, or memory ran out. */
static redis_node *slot_master(redis_node *answerer, const redisReply *reply)
{
    bool is_listed = reply->type == REDIS_REPLY_ARRAY && reply->elements >= 2
                     && reply->element[1]->type == REDIS_REPLY_INTEGER;
    const redisReply *host = is_listed ? reply->element[0] : NULL;
    const redisReply *id = is_listed && reply->elements > 2 ? reply->element[2] : NULL;
    redis_node *node = NULL;
    bool is_named;

    if (!is_listed) {
        return NULL;
    }
    if (id != NULL && id->type == REDIS_REPLY_STRING && id->len > 0) {
        node = node_with_id(answerer->topology->cluster, id->str);
    }
    /* Nothing, or "?": it does not know how it is called, and is where it was asked. */
    is_named = host->type == REDIS_REPLY_STRING && host->len > 0 && strcmp(host->str, "?") != 0;
    if (node != NULL && is_named) {
        record_announced(node, host->str, (int) reply->element[1]->integer);
    }
    return node != NULL
               ? node
               : latch_redis_node_at(answerer->topology,
                                     is_named ? host->str : answerer->cluster_info.place.host,
                                     (int) reply->element[1]->integer);
}

bool latch_redis_apply_slot_map(redis_node *node, const redisReply *reply)
{
    redis_cluster *cluster = node->topology->cluster;

    if (reply->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    for (size_t at = 0; at < reply->elements; at++) {
        const redisReply *range = reply->element[at];
        const redis_node *master;

        if (range->type != REDIS_REPLY_ARRAY || range->elements < 3
            || range->element[0]->type != REDIS_REPLY_INTEGER
            || range->element[1]->type != REDIS_REPLY_INTEGER || range->element[0]->integer < 0
            || range->element[1]->integer >= REDIS_SLOTS) {
            return false;
        }
        master = slot_master(node, range->element[2]);
        for (long long slot = range->element[0]->integer;
             master != NULL && slot <= range->element[1]->integer; slot++) {
            cluster->owners[slot] = master->cluster_info.number;
        }
    }
    return true;
}

/*
 * For latch_redis_call_abandon(): reply to CLUSTER SLOTS. Where it is forbidden, MOVED answers do.
 */
static void receive_slot_map(void *context, const redisReply *reply)
{
    redis_node *node = context;

    node->connection.long_replies--;
    if (reply == NULL) {
        node->topology->cluster->is_stale = true;
        node->topology->cluster->asked_ns = INT64_MIN;
    } else {
        latch_redis_apply_slot_map(node, reply);
    }
}

redis_call *latch_redis_request_slot_map(redis_node *node, int64_t now_ns)
{
    redis_command my_id = {.count = 0}, slots = {.count = 0};
    redis_call *call;

    latch_redis_add_text(&my_id, "CLUSTER");
    latch_redis_add_text(&my_id, "MYID");
    latch_redis_add_text(&slots, "CLUSTER");
    latch_redis_add_text(&slots, "SLOTS");
    call = latch_redis_send(&node->connection, &my_id, now_ns);
    if (call == NULL) {
        return NULL;
    }
    latch_redis_call_abandon(call, record_id, node);
    call = latch_redis_send(&node->connection, &slots, now_ns);
    if (call != NULL) {
        node->topology->cluster->is_stale = false;
        node->topology->cluster->asked_ns = now_ns;
    }
    return call;
}

void latch_redis_refresh_slot_map(redis_node *node, int64_t now_ns)
{
    redis_cluster *cluster = node->topology->cluster;
    redis_call *call;

    if (!cluster->is_stale
        || (cluster->asked_ns != INT64_MIN && now_ns < cluster->asked_ns + MAP_PAUSE_NS)) {
        return;
    }
    call = latch_redis_request_slot_map(node, now_ns);
    if (call != NULL) {
        node->connection.long_replies++;
        latch_redis_call_abandon(call, receive_slot_map, node);
    }
}
