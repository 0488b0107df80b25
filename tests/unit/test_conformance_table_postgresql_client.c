/* Locks in a table of PostgreSQL, on connections of the caller's, in the conformance suite. */
#include "postgresql_server.h"
#include "sql_client.h"
#include "table_stores.h"

static latch_store *open_store(conformance_variant variant)
{
    (void) variant;
    return table_open_client();
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: table in PostgreSQL by a client",
        .store = "table",
        .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_CLIENT | CONFORMANCE_TOKENS,
        .rounds = 300,
        .group_setup = unit_postgresql_group_setup,
        .group_teardown = unit_postgresql_group_teardown,
        .reset = table_reset,
        .open = open_store,
        .expect_nothing_left = table_expect_nothing_left,
    };

    table_server_under_test = (table_server){
        .driver = "pgsql",
        .setup = unit_postgresql_setup,
        .run = unit_postgresql_run,
        .await_sessions = unit_postgresql_await_sessions,
        .runner = postgresql_client_runner,
    };
    return conformance_run(&fixture);
}
