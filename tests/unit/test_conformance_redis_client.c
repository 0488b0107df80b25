/* The Redis stores on connections of their user's in the conformance suite. */
#include "conformance.h"
#include "redis_client.h"
#include "redis_store.h"

static latch_status prepare(void *context, const char *resource, size_t length, const char **prefix,
                            size_t *prefix_length, latch_error *error)
{
    (void) context;
    (void) resource;
    (void) length;
    (void) error;
    *prefix = "";
    *prefix_length = 0;
    return LATCH_DONE;
}

static latch_status run(void *context, const latch_redis_script *script, latch_redis_answer *answer,
                        latch_error *error)
{
    (void) error;
    redis_client_run(context, "", script, answer);
    return LATCH_DONE;
}

static void close_client(void *context)
{
    redisFree(context);
}

static latch_store *open_store(conformance_variant variant)
{
    latch_redis_runner runner = {NULL, false, prepare, run, close_client};
    const latch_store_options options = {.redis_runner = &runner};
    latch_store *store;

    (void) variant;
    runner.context = unit_redis_connect();
    store = latch_store_open(unit.engine, scene.fixture->store, &options, &unit.error);
    if (store == NULL) {
        close_client(runner.context);
    }
    return store;
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: redis by a client",
        .store = "redis",
        .capabilities = LATCH_EXPIRING | LATCH_SHARED_LOCKS | LATCH_FENCING | LATCH_SERIALIZABLE
                        | LATCH_HOLDER_INFO | LATCH_PERMITS | LATCH_CALLS,
        .traits = CONFORMANCE_CLIENT | CONFORMANCE_INSPECTS,
        .rounds = 100,
        .group_setup = unit_redis_group_setup,
        .group_teardown = unit_redis_group_teardown,
        .reset = unit_redis_setup,
        .open = open_store,
        .expect_nothing_left = redis_expect_nothing_left,
    };
    conformance_fixture strings = fixture;

    strings.name = "conformance: redis-string by a client";
    strings.store = "redis-string";
    strings.capabilities = LATCH_EXPIRING | LATCH_FENCING | LATCH_SERIALIZABLE | LATCH_HOLDER_INFO
                           | LATCH_OWNERS;
    strings.traits |= CONFORMANCE_OWN_TTLS;
    return conformance_run(&fixture) + conformance_run(&strings);
}
