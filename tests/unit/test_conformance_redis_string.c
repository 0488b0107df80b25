/* Locks in Redis whose key is a string, on one server, in the conformance suite. */
#include "conformance.h"
#include "redis_store.h"

/* With a database to be selected a connection has a greeting, which can be waited for in vain. */
static latch_store *open_store(conformance_variant variant)
{
    return conformance_open_dsn("redis+string://127.0.0.1:%d%s", unit_redis.port,
                                variant == CONFORMANCE_PATIENT ? "/1" : "");
}

static void cut(void)
{
    unit_redis_ask("CLIENT KILL TYPE normal");
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: redis-string",
        .store = "redis-string",
        .capabilities = LATCH_EXPIRING | LATCH_BLOCKING | LATCH_PUSH | LATCH_FENCING
                        | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO | LATCH_OWNERS,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS | CONFORMANCE_OWN_TTLS,
        .rounds = 300,
        .group_setup = unit_redis_group_setup,
        .group_teardown = unit_redis_group_teardown,
        .reset = unit_redis_setup,
        .open = open_store,
        .expect_nothing_left = redis_expect_nothing_left,
        .silence = redis_hold_server,
        .resume = redis_let_server_go,
        .silent = " did not answer within ",
        .unreachable = "cannot connect to Redis at 127.0.0.1:",
        .cut = cut,
    };

    return conformance_run(&fixture);
}
