/* The Redis store, on a cluster, in the conformance suite. */
#include "conformance.h"
#include "redis_cluster.h"

static latch_store *open_store(conformance_variant variant)
{
    const latch_store_options options = {.dsn = redis_cluster_dsn(),
                                         .dsn_length = strlen(redis_cluster_dsn())};

    return variant == CONFORMANCE_PLAIN
               ? latch_store_open(unit.engine, "redis", &options, &unit.error)
               : NULL;
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: redis cluster",
        .store = "redis",
        .capabilities = LATCH_EXPIRING | LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_PUSH
                        | LATCH_FENCING | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_NOTES,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS,
        .rounds = 300,
        .group_setup = redis_cluster_group_setup,
        .group_teardown = redis_cluster_group_teardown,
        .setup = redis_cluster_setup,
        .open = open_store,
    };

    return conformance_run(&fixture);
}
