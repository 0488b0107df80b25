/* Locks in a table of MySQL, on connections of the caller's, in the conformance suite. */
#include "mysql_server.h"
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
        .name = "conformance: table in MySQL by a client",
        .store = "table",
        .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_CLIENT | CONFORMANCE_TOKENS,
        .rounds = 300,
        .group_setup = unit_mysql_group_setup,
        .group_teardown = unit_mysql_group_teardown,
        .reset = table_reset,
        .open = open_store,
        .expect_nothing_left = table_expect_nothing_left,
    };

    table_server_under_test = (table_server){
        .driver = "mysql",
        .setup = unit_mysql_setup,
        .run = unit_mysql_run,
        .await_sessions = unit_mysql_await_sessions,
        .runner = mysql_client_runner,
    };
    return conformance_run(&fixture);
}
