/* Locks in Redis by TLS in the conformance suite: those whose key is a string. */
#include "conformance.h"
#include "redis_tls.h"

/* With a database to be selected a connection has a greeting, which can be waited for in vain. */
static latch_store *open_store(conformance_variant variant)
{
    return conformance_open_dsn("rediss+string://127.0.0.1:%d%s?ssl[cafile]=%s/ca.crt",
                                redis_tls_server.port, variant == CONFORMANCE_PATIENT ? "/1" : "",
                                redis_tls_server.directory);
}

static int reset(void **state)
{
    int result = unit_redis_setup(state);

    redis_tls_serve();
    return result;
}

static void cut(void)
{
    unit_redis_ask("CLIENT KILL TYPE normal");
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: redis-string by TLS",
        .store = "redis-string",
        .capabilities = LATCH_EXPIRING | LATCH_BLOCKING | LATCH_PUSH | LATCH_FENCING
                        | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO | LATCH_OWNERS,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS | CONFORMANCE_OWN_TTLS,
        .rounds = 300,
        .group_setup = redis_tls_group_setup,
        .group_teardown = redis_tls_group_teardown,
        .reset = reset,
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
