/* The PostgreSQL store in the conformance suite. */
#include "conformance.h"
#include "postgresql_store.h"

static latch_store *open_store(conformance_variant variant)
{
    static const char *const options_of[] = {"", ";read_timeout=300;timeout=300",
                                             ";sslmode=require"};

    return conformance_open_dsn("%s%s", unit_postgresql.dsn, options_of[variant]);
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
        .name = "conformance: postgresql",
        .store = "postgresql",
        .capabilities = LATCH_BLOCKING | LATCH_PUSH | LATCH_SESSIONS | LATCH_SHARED_LOCKS,
        .traits = CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS,
        .rounds = 1000,
        .group_setup = unit_postgresql_group_setup,
        .group_teardown = unit_postgresql_group_teardown,
        .reset = unit_postgresql_setup,
        .open = open_store,
        .has_other = true,
        .expect_nothing_left = expect_nothing_left,
        .holder = holder,
        .silence = unit_postgresql_freeze,
        .resume = unit_postgresql_thaw,
        .silent = "it does not answer, nor does it end a wait",
        .unreachable = "cannot connect to PostgreSQL at ",
        .cut = unit_postgresql_end_sessions,
    };

    return conformance_run(&fixture);
}
