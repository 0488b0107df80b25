/* Turns of the renewal thread, on a clock that the test moves. */
#include "keeping.h"
#include "puppet_store.h"

static latch_lease *keep_held(void)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    unit_keep(lease);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    return lease;
}

/* It was gone from the server for a moment, in which nobody has taken it. */
static void what_a_renewal_found_before_it_was_acquired_anew_is_no_loss(void **state)
{
    latch_lease *lease = keep_held();

    (void) state;
    puppet_twins[0]->late = true;
    puppet_twins[0]->answer = PUPPET_NO;
    unit_next_turn();
    assert_int_equal(puppet_twins[0]->requests, 1);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppet_twins[0]->late = false;
    unit_turn();
    assert_true(unit_held(lease));
    unit_expect_no_loss();
    puppet_twins[0]->answer = PUPPET_YES;
    unit_next_turn();
    assert_int_equal(puppet_twins[0]->requests, 2);
    assert_true(unit_held(lease));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TURNS_TEST(what_a_renewal_found_before_it_was_acquired_anew_is_no_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
