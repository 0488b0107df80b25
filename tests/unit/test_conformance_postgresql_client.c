/* The PostgreSQL store on connections of its user's in the conformance suite. */
#include "conformance.h"
#include "postgresql_store.h"
#include "sql_client.h"

static latch_store *open_store(conformance_variant variant)
{
    (void) variant;
    return postgresql_client_open();
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
        .rounds = 20,
        .group_setup = unit_postgresql_group_setup,
        .group_teardown = unit_postgresql_group_teardown,
        .reset = unit_postgresql_setup,
        .open = open_store,
        .expect_nothing_left = expect_nothing_left,
        .holder = holder,
    };

    return conformance_run(&fixture);
}
