/* Combined stores: how the members' answers make an outcome, and that nothing is left of a failure.
 */
#include "puppet_store.h"

/* ---- What most say counts */

static void a_lock_is_held_when_most_members_grant_it(void **state)
{
    static const puppet_answer all[] = {PUPPET_YES, PUPPET_NO, PUPPET_FAILS};

    (void) state;
    for (int code = 0; code < 27; code++) {
        latch_lease *lease = puppet_lease("r");
        const puppet_answer answers[] = {all[code % 3], all[code / 3 % 3], all[code / 9]};
        size_t yes = 0;

        for (size_t at = 0; at < 3; at++) {
            puppets[at].answer = answers[at];
            yes += answers[at] == PUPPET_YES;
        }
        assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), yes >= 2 ? LATCH_DONE : LATCH_CONFLICT);
        assert_int_equal(unit_held(lease), yes >= 2);
        for (size_t at = 0; at < 3; at++) {
            puppets[at].answer = PUPPET_YES;
        }
        assert_int_equal(puppet_count_held(), yes >= 2 ? yes : 0);
        unit_release(lease);
        assert_int_equal(puppet_count_held(), 0);
    }
}

static void all_are_asked_though_most_have_granted_at_once(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 3);
}

static void nobody_is_asked_in_vain(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppets[2].requests, 0);
    assert_int_equal(latch_lease_vote(lease, 0).status, LATCH_CONFLICT);
    assert_int_equal(latch_lease_vote(lease, 2).status, LATCH_NO_VOTE);
}

static void unanimity_takes_all_of_them(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
    puppets[2].answer = PUPPET_YES;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 3);
    puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_false(unit_held(lease));
}

static void a_member_that_stands_there_twice_is_asked_once_and_counts_twice(void **state)
{
    latch_store *const members[] = {&puppets[0].store, &puppets[1].store, &puppets[0].store};
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = members,
                                         .member_count = 3};
    latch_store *store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    latch_lease parts[2], lease;

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        latch_lease_init(&parts[at], &puppets[at].store, "r", 1);
    }
    latch_lease_init(&lease, store, "r", 1);
    assert_int_equal(latch_lease_join(&lease,
                                      (latch_lease_part[]){{parts, 0}, {parts + 1, 0}, {parts, 0}},
                                      &unit.error),
                     LATCH_DONE);
    puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(&lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppets[0].requests, 1);
    assert_int_equal(latch_lease_vote(&lease, 2).status, LATCH_DONE);
    unit_release(&lease);
    puppets[1].answer = PUPPET_YES;
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(&lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
    latch_lease_drop(&lease);
    latch_lease_drop(&parts[0]);
    latch_lease_drop(&parts[1]);
    latch_store_close(store);
}

static void the_errors_of_members_are_told(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_null(latch_lease_vote(lease, 0).error);
    assert_int_equal(latch_lease_vote(lease, 1).status, LATCH_ERROR_STORE);
    assert_string_equal(latch_lease_vote(lease, 1).error->message, "as the puppet says");
}

static void a_renewal_that_most_refuse_ends_the_hold_everywhere(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_true(unit_held(lease));
    puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_true(lease->lost);
    assert_int_equal(puppets[2].requests, 3); /* the failed renewal did not come to it */
    assert_int_equal(puppets[2].last, LATCH_RELEASE);
    assert_false(puppets[2].is_held);
}

static void a_lock_that_most_have_lost_is_not_held(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_held(lease));
    puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_true(lease->lost);
}

static void an_acquire_again_that_fails_gives_up_what_is_left(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_true(lease->lost);
    assert_int_equal(puppet_count_held(), 0);
}

static void a_release_is_done_though_members_fail(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(latch_lease_vote(lease, 0).status, LATCH_ERROR_STORE);
    assert_false(unit_held(lease));
    assert_false(puppets[2].is_held);
}

/* ---- Readers and writers */

static void a_promotion_that_fails_leaves_the_reader_what_it_had(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_true(unit_held(lease));
    assert_int_equal(puppet_part(lease, 0)->mode, LATCH_SHARED);
    assert_int_equal(puppets[0].last, LATCH_ACQUIRE_SHARED);
    assert_int_equal(puppet_count_held(), 3);
    puppets[1].answer = puppets[2].answer = PUPPET_YES;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
}

static void a_promotion_that_cannot_be_undone_is_a_loss(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    for (size_t at = 0; at < 2; at++) {
        puppets[at].answer = PUPPET_LOSES;
    }
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_int_equal(lease->mode, LATCH_FREE);
    assert_true(lease->lost);
    assert_int_equal(puppet_count_held(), 0);
}

static void members_without_shared_locks_are_locked_exclusively(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[1].info = *puppets[1].store.info;
    puppets[1].info.capabilities = LATCH_EXPIRING;
    puppets[1].store.info = &puppets[1].info;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(puppets[0].last, LATCH_ACQUIRE_SHARED);
    assert_int_equal(puppets[1].last, LATCH_ACQUIRE);
    assert_int_equal(lease->mode, LATCH_SHARED);
}

/* ---- Renewals that fail: whether they may be tried again */

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

/* ---- Limits */

static void there_may_be_no_member_at_all(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE); /* all of none */
    unit_release(lease);
}

static int unit_setup_none(void **state)
{
    (void) state;
    return unit_setup_puppets(0, &latch_unanimity);
}

static void too_many_members_are_refused(void **state)
{
    latch_store *members[LATCH_DESCRIPTORS_MAX + 1];
    latch_store_options options = {.strategy = &latch_consensus,
                                   .members = members,
                                   .member_count = LATCH_DESCRIPTORS_MAX};
    latch_store *store;

    (void) state;
    for (size_t at = 0; at < LATCH_DESCRIPTORS_MAX; at++) {
        members[at] = &puppets[0].store;
    }
    store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    assert_non_null(store);
    members[1] = store;
    assert_null(latch_store_open(unit.engine, "combined", &options, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
    latch_store_close(store);
    options.strategy = NULL;
    assert_null(latch_store_open(unit.engine, "combined", &options, &unit.error));
}

static void it_can_what_its_members_can(void **state)
{
    const latch_store_info *info = latch_store_describe(unit.store);

    (void) state;
    assert_string_equal(info->name, "combined");
    assert_int_equal(info->capabilities, LATCH_EXPIRING | LATCH_SHARED_LOCKS);
    assert_null(info->state_name);
    assert_int_equal(unit_run(puppet_lease("r"), LATCH_INSPECT), LATCH_ERROR_ARGUMENT);
}

static void a_lease_without_parts_is_refused(void **state)
{
    (void) state;
    assert_int_equal(unit_run(unit_lease("r"), LATCH_ACQUIRE), LATCH_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(a_lock_is_held_when_most_members_grant_it, three),
        PUPPET_TEST(all_are_asked_though_most_have_granted_at_once, three),
        PUPPET_TEST(nobody_is_asked_in_vain, three),
        PUPPET_TEST(unanimity_takes_all_of_them, all_of_three),
        PUPPET_TEST(a_member_that_stands_there_twice_is_asked_once_and_counts_twice, three),
        PUPPET_TEST(the_errors_of_members_are_told, three),
        PUPPET_TEST(a_renewal_that_most_refuse_ends_the_hold_everywhere, three),
        PUPPET_TEST(a_lock_that_most_have_lost_is_not_held, three),
        PUPPET_TEST(an_acquire_again_that_fails_gives_up_what_is_left, three),
        PUPPET_TEST(a_release_is_done_though_members_fail, three),
        PUPPET_TEST(a_promotion_that_fails_leaves_the_reader_what_it_had, three),
        PUPPET_TEST(a_promotion_that_cannot_be_undone_is_a_loss, three),
        PUPPET_TEST(members_without_shared_locks_are_locked_exclusively, three),
        PUPPET_TEST(one_server_that_is_away_is_no_loss_where_all_must_agree, all_of_three),
        PUPPET_TEST(two_of_four_that_are_away_are_no_loss, four),
        PUPPET_TEST(two_of_four_that_refuse_are_a_loss, four),
        PUPPET_TEST(there_may_be_no_member_at_all, none),
        PUPPET_TEST(too_many_members_are_refused, three),
        PUPPET_TEST(it_can_what_its_members_can, three),
        PUPPET_TEST(a_lease_without_parts_is_refused, three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
