/* Servers of a store: see server.h. */
#include "src/store/redis/topology/server.h"
#include "src/store/redis/topology/cluster.h"

#include <string.h>

bool latch_redis_topology_init(redis_topology *topology, latch_engine *engine,
                               const redis_options *options, const redis_keyspace *keys,
                               latch_breaker *breaker)
{
    *topology = (redis_topology){.engine = engine, .options = options, .keys = keys};
    topology->single.topology = topology;
    topology->single.breaker = breaker;
    latch_redis_connection_init(&topology->single.connection, engine, options);
    return !options->is_cluster || latch_redis_cluster_open(topology);
}

void latch_redis_topology_end(redis_topology *topology)
{
    latch_redis_close(&topology->single.connection);
    latch_redis_cluster_close(topology);
}

void latch_redis_batch_all(redis_topology *topology, bool on)
{
    topology->is_batching = on;
    for (redis_node *node = latch_redis_next_node(topology, NULL); node != NULL;
         node = latch_redis_next_node(topology, node)) {
        latch_redis_batch(&node->connection, on);
    }
}

redis_node *latch_redis_slot_owner(redis_topology *topology, const char *resource, size_t length)
{
    return topology->cluster == NULL
               ? &topology->single
               : latch_redis_cluster_node_of(topology->cluster,
                                             latch_redis_slot_of(topology->keys, resource, length));
}

redis_node *latch_redis_choose_node(redis_topology *topology, const char *resource, size_t length)
{
    return topology->cluster == NULL
               ? &topology->single
               : latch_redis_choose_cluster_node(topology->cluster,
                                                 latch_redis_slot_owner(topology, resource,
                                                                        length));
}

void latch_redis_record_node_failure(redis_node *node)
{
    if (node->topology->cluster != NULL) {
        node->cluster_info.is_away = true;
        node->topology->cluster->is_stale = true;
    }
}
