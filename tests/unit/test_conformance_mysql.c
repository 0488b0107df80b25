/* The MySQL store in the conformance suite. */
#include "conformance.h"
#include "mysql_store.h"

static latch_store *open_store(conformance_variant variant)
{
    static const char *const options_of[] = {"", "?read_timeout=300&timeout=300",
                                             "?ssl_mode=required"};

    return conformance_open_dsn("%s%s", unit_mysql.url, options_of[variant]);
}

static void expect_nothing_left(void)
{
    unit_mysql_await_held(0);
    unit_mysql_await_sessions(0);
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: mysql",
        .store = "mysql",
        .capabilities = LATCH_BLOCKING | LATCH_PUSH | LATCH_SESSIONS,
        .traits = CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS,
        .rounds = 1000,
        .group_setup = unit_mysql_group_setup,
        .group_teardown = unit_mysql_group_teardown,
        .reset = unit_mysql_setup,
        .open = open_store,
        .has_other = true,
        .expect_nothing_left = expect_nothing_left,
        .holder = mysql_holder,
        .silence = unit_mysql_freeze,
        .resume = unit_mysql_thaw,
        .silent = "it does not answer, nor does it end a wait",
        .unreachable = "cannot connect to MySQL at ",
        .cut = unit_mysql_end_sessions,
    };

    return conformance_run(&fixture);
}
