/* The in-memory store: what it does with memory and tokens, beside the conformance suite. */
#include "unit.h"

static void acquiring_again_changes_nothing(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");
    size_t live;

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    live = unit.live;
    for (int at = 0; at < 3; at++) {
        assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    }
    assert_int_equal(unit.live, live);
    unit_release(holder); /* once is enough */
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    live = unit.live;
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit.live, live);
    unit_release(other);
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_token_is_made_on_demand_and_an_empty_one_owns_nothing(void **state)
{
    latch_lease *holder = unit_lease("r"), *thief = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_null(holder->token); /* most keys are never handed over */
    assert_int_equal(unit_run(thief, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(latch_lease_set_token(thief, "", 0, &unit.error), LATCH_ERROR_ARGUMENT);
    assert_int_equal(unit_run(thief, LATCH_RELEASE), LATCH_DONE);
    assert_true(unit_held(holder));
}

static void a_dropped_lease_without_a_copy_locks_for_ever(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    latch_lease_drop(holder);                     /* as with Symfony's InMemoryStore */
    latch_lease_init(holder, unit.store, "r", 1); /* another one that happens to lie there */
    assert_int_equal(latch_lease_make_token(holder, &unit.error), LATCH_DONE);
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_release(other);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void two_stores_know_nothing_of_each_other(void **state)
{
    latch_lease *here = unit_lease("r"), there;
    latch_store *store = unit_open("in-memory");

    (void) state;
    latch_lease_init(&there, store, "r", 1);
    assert_int_equal(unit_run(here, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(&there, LATCH_ACQUIRE), LATCH_DONE);
    latch_lease_drop(&there);
    latch_store_close(store); /* with a lock in it: unit_teardown() finds what it leaves */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(acquiring_again_changes_nothing, setup_memory),
        UNIT_TEST(a_token_is_made_on_demand_and_an_empty_one_owns_nothing, setup_memory),
        UNIT_TEST(a_dropped_lease_without_a_copy_locks_for_ever, setup_memory),
        UNIT_TEST(two_stores_know_nothing_of_each_other, setup_memory),
    };

    return cmocka_run_group_tests_name("memory store", tests, NULL, NULL);
}
