/* The PostgreSQL store on connections of its user's in the conformance suite. */
#include "conformance.h"
#include "postgresql_store.h"
#include "sql_client.h"

static int setup(void **state)
{
    if (unit_postgresql_setup(state) != 0 || unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    return 0;
}

static void close_connection(void *connection)
{
    PQfinish(connection);
}

static latch_store *open_store(conformance_variant variant)
{
    latch_sql_runner runner = {NULL, postgresql_client_run, postgresql_client_is_in_transaction,
                               close_connection};
    const latch_store_options options = {.runner = &runner};
    latch_store *store;

    if (variant != CONFORMANCE_PLAIN) {
        return NULL;
    }
    runner.context = unit_postgresql_peer_open().connection;
    store = latch_store_open(unit.engine, "postgresql", &options, &unit.error);
    if (store == NULL) {
        close_connection(runner.context);
    }
    return store;
}

static void expect_nothing_left(void)
{
    unit_postgresql_await_sessions(0);
    UNIT_CHECK(unit_postgresql_count_held() == 0);
}

static long long holder(const char *resource)
{
    (void) resource;
    return postgresql_session();
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: postgresql by a client",
        .store = "postgresql",
        .capabilities = LATCH_BLOCKING | LATCH_PUSH | LATCH_SESSIONS | LATCH_SHARED_LOCKS,
        .traits = CONFORMANCE_CLIENT | CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS,
        .rounds = 50,
        .group_setup = unit_postgresql_group_setup,
        .group_teardown = unit_postgresql_group_teardown,
        .setup = setup,
        .open = open_store,
        .expect_nothing_left = expect_nothing_left,
        .holder = holder,
    };

    return conformance_run(&fixture);
}
