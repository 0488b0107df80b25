/* The Redis stores, on a cluster, in the conformance suite. */
#include "conformance.h"
#include "redis_cluster.h"

static latch_store *open_store(conformance_variant variant)
{
    (void) variant;
    return conformance_open_dsn("%s", redis_cluster_dsn());
}

static latch_store *open_strings(conformance_variant variant)
{
    (void) variant;
    return conformance_open_dsn("redis+string%s", redis_cluster_dsn() + strlen("redis"));
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: redis cluster",
        .store = "redis",
        .capabilities = LATCH_EXPIRING | LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_PUSH
                        | LATCH_FENCING | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO
                        | LATCH_PERMITS | LATCH_CALLS,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS,
        .rounds = 100,
        .group_setup = redis_cluster_group_setup,
        .group_teardown = redis_cluster_group_teardown,
        .reset = redis_cluster_reset,
        .open = open_store,
    };
    conformance_fixture strings = fixture;

    strings.name = "conformance: redis-string cluster";
    strings.store = "redis-string";
    strings.capabilities = LATCH_EXPIRING | LATCH_BLOCKING | LATCH_PUSH | LATCH_FENCING
                           | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO | LATCH_OWNERS;
    strings.traits |= CONFORMANCE_OWN_TTLS;
    strings.open = open_strings;
    return conformance_run(&fixture) + conformance_run(&strings);
}
