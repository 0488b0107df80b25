/* Renewals of combined stores that have failed: whether they may be tried again. */
#include "puppet_store.h"

static latch_status renew(latch_lease *lease)
{
    latch_request request = puppet_request(LATCH_REFRESH);

    request.extend = true;
    return unit_run_request(lease, request);
}

static int unit_setup_four(void **state)
{
    (void) state;
    return unit_setup_puppets(4, &latch_consensus);
}

/* The others are not asked then, which says nothing of them. */
static void one_server_that_is_away_is_no_loss_where_all_must_agree(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = PUPPET_FAILS;
    assert_int_equal(renew(lease), LATCH_ERROR_STORE);
    assert_true(unit_held(lease));
    puppets[0].answer = PUPPET_YES;
    assert_int_equal(renew(lease), LATCH_DONE);
}

static void two_of_four_that_are_away_are_no_loss(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(renew(lease), LATCH_ERROR_STORE);
    assert_true(unit_held(lease));
}

static void two_of_four_that_refuse_are_a_loss(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[1].answer = PUPPET_NO;
    puppets[2].answer = PUPPET_LOSES;
    assert_int_equal(renew(lease), LATCH_CONFLICT);
    assert_false(unit_held(lease));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(one_server_that_is_away_is_no_loss_where_all_must_agree, all_of_three),
        PUPPET_TEST(two_of_four_that_are_away_are_no_loss, four),
        PUPPET_TEST(two_of_four_that_refuse_are_a_loss, four),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
