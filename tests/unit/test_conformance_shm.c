/* The store of shared memory in the conformance suite. */
#include "conformance.h"

static latch_store *open_in_directory(conformance_variant variant)
{
    (void) variant;
    return conformance_open_dsn("shm://%s/locks?capacity=1000", unit.directory);
}

static void expect_nothing_left(void)
{
    latch_lock_report *reports = NULL;
    latch_request request = unit_request(LATCH_LIST);

    unit.store = open_in_directory(CONFORMANCE_PLAIN);
    UNIT_CHECK(unit.store != NULL);
    request.reports = &reports;
    UNIT_CHECK(unit_run_request(unit_lease(""), request) == LATCH_DONE && reports == NULL);
    conformance_drop_leases(0);
    latch_store_close(unit.store);
    unit.store = NULL;
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: shm",
        .store = "shm",
        .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_PUSH | LATCH_FENCING
                        | LATCH_LISTING | LATCH_HOLDER_INFO,
        .traits = CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS,
        .rounds = 300,
        .open = open_in_directory,
        .prepare = unit_make_directory,
        .expect_nothing_left = expect_nothing_left,
    };

    return conformance_run(&fixture);
}
