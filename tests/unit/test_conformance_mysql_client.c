/* The MySQL store on connections of its user's in the conformance suite. */
#include "conformance.h"
#include "mysql_store.h"
#include "sql_client.h"

static latch_store *open_store(conformance_variant variant)
{
    (void) variant;
    return mysql_client_open();
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
        .rounds = 20,
        .group_setup = unit_mysql_group_setup,
        .group_teardown = unit_mysql_group_teardown,
        .reset = unit_mysql_setup,
        .open = open_store,
        .expect_nothing_left = expect_nothing_left,
        .holder = mysql_holder,
    };

    return conformance_run(&fixture);
}
