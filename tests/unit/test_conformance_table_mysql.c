/* Locks in a table of MySQL in the conformance suite. */
#include "mysql_server.h"
#include "sql_client.h"
#include "table_stores.h"

static latch_store *open_store(conformance_variant variant)
{
    static const char *const options_of[] = {"", "?read_timeout=300&timeout=300",
                                             "?ssl_mode=required"};

    return table_open_dsn(NULL, "%s", options_of[variant]);
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: table in MySQL",
        .store = "table",
        .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_LISTING | LATCH_HOLDER_INFO,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS | CONFORMANCE_TOKENS,
        .rounds = 300,
        .group_setup = unit_mysql_group_setup,
        .group_teardown = unit_mysql_group_teardown,
        .reset = table_reset,
        .open = open_store,
        .has_other = true,
        .expect_nothing_left = table_expect_nothing_left,
        .silence = unit_mysql_freeze,
        .resume = unit_mysql_thaw,
        .silent = " did not answer within ",
        .unreachable = "cannot connect to MySQL at ",
        .cut = unit_mysql_end_sessions,
    };

    table_server_under_test = (table_server){
        .dsn = unit_mysql.url,
        .driver = "mysql",
        .setup = unit_mysql_setup,
        .run = unit_mysql_run,
        .await_sessions = unit_mysql_await_sessions,
    };
    return conformance_run(&fixture);
}
