/* Locks in a table of PostgreSQL in the conformance suite. */
#include "postgresql_server.h"
#include "sql_client.h"
#include "table_stores.h"

static latch_store *open_store(conformance_variant variant)
{
    static const char *const options_of[] = {"", ";read_timeout=300;timeout=300",
                                             ";sslmode=require"};

    return table_open_dsn(NULL, "%s", options_of[variant]);
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: table in PostgreSQL",
        .store = "table",
        .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_BLOCKING | LATCH_PUSH
                        | LATCH_LISTING | LATCH_HOLDER_INFO,
        .traits = CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS | CONFORMANCE_TOKENS,
        .rounds = 300,
        .group_setup = unit_postgresql_group_setup,
        .group_teardown = unit_postgresql_group_teardown,
        .reset = table_reset,
        .open = open_store,
        .has_other = true,
        .expect_nothing_left = table_expect_nothing_left,
        .silence = unit_postgresql_freeze,
        .resume = unit_postgresql_thaw,
        .silent = " did not answer within ",
        .unreachable = "cannot connect to PostgreSQL at ",
        .cut = unit_postgresql_end_sessions,
    };

    table_server_under_test = (table_server){
        .dsn = unit_postgresql.dsn,
        .driver = "pgsql",
        .setup = unit_postgresql_setup,
        .run = unit_postgresql_run,
        .await_sessions = unit_postgresql_await_sessions,
    };
    return conformance_run(&fixture);
}
