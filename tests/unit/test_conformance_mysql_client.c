/* The MySQL store on connections of its user's in the conformance suite. */
#include "conformance.h"
#include "mysql_store.h"
#include "sql_client.h"

static int setup(void **state)
{
    unit_mysql_setup(state);
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    return 0;
}

static void close_connection(void *connection)
{
    mysql_close(connection);
}

static latch_store *open_store(conformance_variant variant)
{
    latch_sql_runner runner = {NULL, mysql_client_run, mysql_client_is_in_transaction,
                               close_connection};
    const latch_store_options options = {.runner = &runner};
    latch_store *store;

    if (variant != CONFORMANCE_PLAIN) {
        return NULL;
    }
    runner.context = unit_mysql_peer_open().connection;
    store = latch_store_open(unit.engine, "mysql", &options, &unit.error);
    if (store == NULL) {
        close_connection(runner.context);
    }
    return store;
}

static void expect_nothing_left(void)
{
    unit_mysql_await_held(0);
    unit_mysql_await_sessions(0);
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: mysql by a client",
        .store = "mysql",
        .capabilities = LATCH_BLOCKING | LATCH_PUSH | LATCH_SESSIONS,
        .traits = CONFORMANCE_CLIENT | CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS,
        .rounds = 50,
        .group_setup = unit_mysql_group_setup,
        .group_teardown = unit_mysql_group_teardown,
        .setup = setup,
        .open = open_store,
        .expect_nothing_left = expect_nothing_left,
        .holder = mysql_holder,
    };

    return conformance_run(&fixture);
}
