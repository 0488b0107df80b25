/* The PostgreSQL store where memory runs out: an error, and nothing is lost or left behind. */
#include "postgresql_store.h"

static bool failed;

/* Did it go as it should? It may have failed for want of memory. */
static bool went(latch_status status, latch_status expected)
{
    if (status == LATCH_ERROR_MEMORY) {
        failed = true;
        return false;
    }
    assert_int_equal(status, expected);
    return true;
}

static void use(latch_store *store)
{
    latch_lease *lease = postgresql_lease_in(store, "r"), *second = postgresql_lease_in(store, "r"),
                *held = postgresql_lease_in(store, "held");
    latch_request inspect = unit_request(LATCH_INSPECT);
    latch_finding *finding = NULL;

    inspect.findings = &finding;
    if (went(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE)) {
        went(unit_run(second, LATCH_ACQUIRE), LATCH_CONFLICT);
        went(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        went(unit_run_request(second, inspect), LATCH_DONE);
        went(unit_run(lease, LATCH_RELEASE), LATCH_DONE);
    }
    latch_findings_free(unit.engine, finding);
    went(unit_run_waiting(held, LATCH_ACQUIRE, 3), LATCH_CONFLICT);
    if (went(unit_run(second, LATCH_ACQUIRE), LATCH_DONE)) {
        assert_true(unit_held(second));
    }
}

/* Of a wait, when a session was lost for want of memory it is CONFLICT all the same. */
static void cancel(latch_store *store)
{
    latch_lease *held = postgresql_lease_in(store, "held");
    latch_op op;
    latch_status status = unit_begin(&op, held, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));

    if (latch_wants(status)) {
        status = latch_op_step(&op, unit_now_ns());
    }
    if (latch_wants(status)) {
        status = unit_cancel(&op);
    }
    went(status, LATCH_CONFLICT);
    assert_false(unit_held(held));
}

static void run(void (*scenario)(latch_store *store))
{
    unit_postgresql_peer peer = unit_postgresql_peer_open();

    assert_true(unit_postgresql_peer_try(&peer, LOCK_EX, postgresql_number_of("held")));
    for (int fail_on = 0; fail_on < 2; fail_on++) {
        size_t number = 0;

        do {
            latch_store *store;

            failed = false;
            unit.fail_at = unit.allocations + ++number;
            unit.fail_on = fail_on == 1;
            store = postgresql_open("%s", unit_postgresql.socket_dsn);
            if (store == NULL) {
                went(unit.error.status, LATCH_DONE);
            } else {
                scenario(store);
            }
            failed |= unit.allocations >= unit.fail_at;
            unit.fail_at = 0;
            postgresql_close_last();
            unit_postgresql_await_waiting(0);
            unit_postgresql_await_held(1);
            assert_true(number < 500);
        } while (failed);
        assert_true(number > 1); /* something was allocated at all */
    }
    unit_postgresql_peer_close(&peer);
}

static void locks_survive_every_failed_allocation(void **state)
{
    (void) state;
    run(use);
}

static void waits_survive_every_failed_allocation(void **state)
{
    (void) state;
    run(cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        POSTGRESQL_TEST(locks_survive_every_failed_allocation),
        POSTGRESQL_TEST(waits_survive_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
