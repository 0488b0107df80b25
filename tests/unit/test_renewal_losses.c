/*
 * What is kept, and how: the longest hold, holds that others may end, what is told and what is not,
 * and that what is let go is over. Turn by turn, on a clock that the test moves.
 */
#include "keeping.h"

#define MS LATCH_NS_PER_MS
#define SECOND LATCH_NS_PER_S
#define TTL_NS (PUPPET_TTL_MS * MS)

#define OVER "its time is over"

static latch_renewal_spec for_at_most(int64_t max_hold_ms)
{
    return (latch_renewal_spec){.renew = true, .ttl_ms = MINUTE, .max_hold_ms = max_hold_ms};
}

/* The next renewal is answered like that. */
static void renew(puppet_answer answer)
{
    unit_clone()->answer = answer;
    unit_next_turn();
}

/* ---- The longest hold -------------------------------------------------------------------------
 */

/* Renews until the end; returns how often. */
static size_t hold_on(latch_lease *lease, int64_t end_ns)
{
    size_t before = unit_clone()->requests;

    while (unit_held(lease)) {
        assert_true(lease->deadline_ns <= end_ns);
        unit_next_turn();
    }
    return unit_clone()->requests - before;
}

static void a_hold_ends_when_it_has_lasted_for_longest(void **state)
{
    latch_lease *lease = unit_keep_held_as(for_at_most(25000));

    (void) state;
    for (int round = 0; round < 3; round++) {
        int64_t end_ns = unit_begun_ns + 25 * SECOND;

        assert_in_range(hold_on(lease, end_ns), 5, 6);
        assert_true(unit.now_ns <= end_ns && unit.now_ns > end_ns - MS);
        unit_expect_loss(lease, OVER);
        assert_int_equal(unit_turns_for(60000), 0);
        unit_begun_ns = unit.now_ns;
        assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    }
}

static void near_its_end_it_is_renewed_for_what_is_left(void **state)
{
    latch_lease *lease = unit_keep_held_as(for_at_most(12000));

    (void) state;
    unit_next_turn(); /* at 3.33 s, for 8.66 s */
    assert_int_equal(unit_clone()->requests, 1);
    assert_int_equal(unit_clone()->request.ttl_ms, 8666);
    assert_true(unit_deadline_of(lease) <= unit_begun_ns + 12 * SECOND);
    assert_true(unit_deadline_of(lease) > unit_begun_ns + 12 * SECOND - MS);
    unit_next_turn();
    assert_int_equal(unit_clone()->requests, 1);
    assert_true(unit.now_ns > unit_begun_ns + 12 * SECOND - MS);
    unit_expect_loss(lease, OVER);
}

static void a_failure_near_the_end_is_retried_no_longer_than_it_is_worth_while(void **state)
{
    latch_lease *lease = unit_keep_held_as(for_at_most(10500));

    (void) state;
    assert_int_equal(unit_turns_for(9999), 0); /* half a second would be gained */
    assert_true(unit_held(lease));
    unit_next_turn();
    assert_int_equal(unit.now_ns, unit_begun_ns + TTL_NS);
    assert_int_equal(unit_clone()->requests, 0);
    unit_expect_loss(lease, OVER);
}

static void the_longest_hold_can_be_changed(void **state)
{
    latch_lease *lease = unit_keep_held_as(for_at_most(25000));

    (void) state;
    unit_turns_for(20000);
    unit_keep_as(lease, for_at_most(40000));
    unit_turns_for(19998);
    assert_true(unit_held(lease));
    unit_turns_for(2);
    unit_expect_loss(lease, OVER);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_keep_as(lease, for_at_most(0));
    unit_turns_for(100000);
    assert_true(unit_held(lease));
    unit_keep_as(lease, for_at_most(1)); /* no more renewals */
    unit_turns_for(PUPPET_TTL_MS);
    unit_expect_loss(lease, OVER);
}

static void the_longest_hold_may_be_of_any_length(void **state)
{
    latch_lease *lease = unit_keep_held_as(for_at_most(INT64_MAX));

    (void) state;
    unit_turns_for(60000);
    assert_true(unit_held(lease));
}

/* ---- Watched only, or renewed -----------------------------------------------------------------
 */

static void what_is_not_to_be_renewed_is_lost_at_its_end(void **state)
{
    latch_lease *lease = unit_keep_held_as((latch_renewal_spec){.renew = false, .ttl_ms = MINUTE});

    (void) state;
    assert_null(unit_clone());
    assert_int_equal(unit_turns_for(PUPPET_TTL_MS - 1), 0);
    assert_true(unit_held(lease));
    assert_int_equal(unit_turns_for(1), 1);
    assert_false(unit_held(lease));
    unit_expect_loss(lease, OVER);
}

static void a_lease_can_be_kept_otherwise_from_now_on(void **state)
{
    latch_lease *lease = unit_keep_held_as((latch_renewal_spec){.renew = false, .ttl_ms = MINUTE});

    (void) state;
    unit_turns_for(5000);
    unit_keep(lease);
    unit_turns_for(15000);
    assert_true(unit_held(lease));
    assert_true(unit_clone()->requests > 0);
    unit_clone()->requests = 0;
    unit_keep_as(lease, (latch_renewal_spec){.renew = false, .ttl_ms = MINUTE});
    unit_turns_for(2 * PUPPET_TTL_MS);
    assert_int_equal(unit_clone()->requests, 0);
    unit_expect_loss(lease, OVER);
}

static void nothing_is_tried_again_that_is_not_to_be_renewed_any_more(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit_clone()->late = true;
    unit_next_turn();
    unit_keep_as(lease, (latch_renewal_spec){.renew = false, .ttl_ms = MINUTE});
    unit_clone()->answer = PUPPET_FAILS;
    unit_clone()->late = false;
    unit_turn();
    unit_turns_for(2 * PUPPET_TTL_MS);
    assert_int_equal(unit_clone()->requests, 1);
    unit_expect_loss(lease, "it could not be renewed in time: as the puppet says");
}

/* ---- Holds that others may end ----------------------------------------------------------------
 */

static void pass_a_fork(void)
{
    latch_engine_before_fork(unit.engine);
    latch_engine_after_fork_in_parent(unit.engine);
}

static void who_has_shared_its_key_has_not_lost_what_is_gone(void **state)
{
    latch_lease *lease =
        unit_keep_held_as((latch_renewal_spec){.renew = true, .ttl_ms = MINUTE, .is_shared_out = true});

    (void) state;
    renew(PUPPET_LOSES);
    assert_int_equal(unit_clone()->requests, 1);
    assert_false(unit_held(lease));
    unit_expect_no_loss();
    assert_int_equal(unit_turns_for(60000), 0);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    renew(PUPPET_YES);
    assert_true(unit_held(lease));
    unit_keep(lease); /* by now it is the only one that has the key */
    renew(PUPPET_LOSES);
    unit_expect_loss(lease, UNIT_GONE);
}

static void what_a_child_may_have_released_is_not_lost(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    lease->inherit = true;
    unit_keep(lease);
    pass_a_fork();
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    renew(PUPPET_LOSES); /* no child has it: it was forked before */
    unit_expect_loss(lease, UNIT_GONE);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    pass_a_fork();
    renew(PUPPET_LOSES);
    assert_false(unit_held(lease));
    unit_expect_no_loss();
}

static void a_child_that_cannot_release_it_is_no_excuse(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    pass_a_fork();
    renew(PUPPET_LOSES);
    unit_expect_loss(lease, UNIT_GONE);
}

/* ---- What is told -----------------------------------------------------------------------------
 */

static void lose(latch_lease *lease)
{
    renew(PUPPET_LOSES);
    unit_expect_notices(1);
    assert_false(unit_held(lease));
    unit_clone()->answer = PUPPET_YES;
}

static void a_loss_is_forgotten_when_it_is_acquired_again(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    lose(lease);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_expect_no_loss();
    assert_true(unit_held(lease));
    unit_turns_for(60000);
    assert_true(unit_held(lease));
}

static void the_reason_of_an_old_loss_is_forgotten(void **state)
{
    latch_lease *lease = unit_keep_held();
    latch_loss loss;

    (void) state;
    unit_clone()->answer = PUPPET_FAILS;
    unit_turns_for(PUPPET_TTL_MS);
    unit_expect_notices(1);
    assert_true(latch_mailbox_read(unit_mailbox, &loss));
    unit_keep_as(lease, (latch_renewal_spec){.renew = false, .ttl_ms = MINUTE});
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_turns_for(PUPPET_TTL_MS);
    unit_expect_loss(lease, OVER);
}

static void a_loss_is_forgotten_when_it_is_released(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    lose(lease);
    unit_release(lease);
    unit_expect_no_loss();
}

static void a_loss_is_forgotten_when_it_is_dropped_or_let_go(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    lose(lease);
    latch_lease_drop(lease);
    unit_expect_no_loss();
    assert_false(lease->observed);
    lease = unit_keep_held();
    lose(lease);
    latch_lease_stop_renewal(lease);
    unit_expect_no_loss();
    assert_false(lease->observed);
}

static void a_failed_acquire_leaves_a_loss_to_be_read(void **state)
{
    latch_lease *lease = unit_keep_held();
    latch_loss loss;

    (void) state;
    lose(lease);
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_true(latch_mailbox_read(unit_mailbox, &loss));
    assert_string_equal(loss.reason, UNIT_GONE);
    unit_expect_no_loss();
}

static void losses_are_read_in_their_order(void **state)
{
    latch_lease *leases[5];
    latch_loss loss;

    (void) state;
    for (size_t at = 0; at < 5; at++) {
        leases[at] = unit_keep_held();
        unit.now_ns += 2 * SECOND;
    }
    unit_clone()->answer = PUPPET_FAILS;
    unit_turns_for(60000);
    unit_expect_notices(5);
    for (size_t at = 0; at < 5; at++) {
        assert_true(latch_mailbox_read(unit_mailbox, &loss));
        assert_ptr_equal(loss.lease, leases[at]);
    }
    unit_expect_no_loss();
}

static void set_flag(void *flag)
{
    *(bool *) flag = true;
}

static void each_mailbox_gets_its_own_losses(void **state)
{
    const latch_renewal_spec spec = UNIT_KEEP;
    bool is_told = false;
    latch_mailbox *own = latch_mailbox_open(unit.engine, set_flag, &is_told);
    latch_lease *lease = unit_keep_held(), *other = puppet_own_lease(0, "o");
    latch_loss loss;

    (void) state;
    assert_int_equal(latch_lease_start_renewal(other, own, &spec, &unit.error), LATCH_DONE);
    assert_int_equal(puppet_run(other, LATCH_ACQUIRE), LATCH_DONE);
    renew(PUPPET_LOSES);
    assert_true(is_told);
    unit_expect_loss(lease, UNIT_GONE);
    assert_true(latch_mailbox_read(own, &loss));
    assert_ptr_equal(loss.lease, other);
    assert_false(latch_mailbox_read(own, &loss));
    latch_lease_stop_renewal(other);
    latch_mailbox_close(own);
    latch_mailbox_close(NULL);
}

static void a_loss_goes_to_the_mailbox_that_was_named_last(void **state)
{
    const latch_renewal_spec spec = UNIT_KEEP;
    bool is_told = false;
    latch_mailbox *old = latch_mailbox_open(unit.engine, set_flag, &is_told);
    latch_lease *lease = puppet_own_lease(0, "r");
    latch_loss loss;

    (void) state;
    assert_int_equal(latch_lease_start_renewal(lease, old, &spec, &unit.error), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    renew(PUPPET_LOSES);
    assert_true(is_told);
    unit_keep(lease);
    assert_false(latch_mailbox_read(old, &loss));
    latch_mailbox_close(old);
    unit_expect_loss(lease, UNIT_GONE);
}

/* ---- What is let go ---------------------------------------------------------------------------
 */

static void what_was_let_go_is_held_until_its_own_end(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit_next_turn();
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + TTL_NS / 3 + TTL_NS);
    latch_lease_stop_renewal(lease);
    assert_false(lease->observed);
    unit_turns_for(9999);
    assert_int_equal(unit_clone()->requests, 1);
    assert_true(unit_held(lease));
    unit_turns_for(1);
    assert_false(unit_held(lease));
    unit_expect_no_loss();
    latch_lease_stop_renewal(lease);
}

/* Of neither its user had asked before. */
static void one_that_is_lost_stays_so_when_it_is_kept_no_longer(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    renew(PUPPET_LOSES);
    latch_lease_stop_renewal(lease);
    assert_false(unit_held(lease));
}

static void what_was_renewed_stays_so_when_it_is_kept_no_longer(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    renew(PUPPET_YES);
    latch_lease_stop_renewal(lease);
    assert_int_equal(lease->deadline_ns, unit.now_ns + TTL_NS);
}

static void what_was_let_go_at_once_leaves_nothing(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");
    size_t live;

    (void) state;
    unit_keep(lease);
    live = unit.live;
    for (int round = 0; round < 20; round++) {
        latch_lease_stop_renewal(lease);
        unit_keep(lease);
        assert_int_equal(unit.live, live);
    }
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_next_turn();
    latch_lease_stop_renewal(lease);
    unit_is_woken();
    unit_keep(lease);
    unit_turn();
    assert_int_equal(unit.live, live);
}

static void what_is_let_go_in_flight_ends_with_its_answer(void **state)
{
    latch_lease *lease = unit_keep_held();
    size_t live;

    (void) state;
    unit_clone()->late = true;
    unit_next_turn();
    live = unit.live;
    latch_lease_stop_renewal(lease);
    assert_int_equal(unit.live, live);
    unit_keep(lease); /* anew, and not the same */
    assert_true(unit.live > live);
    unit_clone()->answer = PUPPET_LOSES;
    unit_clone()->late = false;
    unit_turn();
    assert_int_equal(unit.live, live);
    unit_expect_no_loss();
    assert_true(unit_held(lease));
}

static void a_clone_ends_with_all_that_use_it(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit_next_turn();
    assert_non_null(unit_clone());
    latch_lease_drop(lease);
    unit_turn();
    assert_non_null(unit_clone()); /* its store may have leases yet */
    lease = unit_keep_held();
    unit_clone()->late = true;
    unit_next_turn();
    unit_is_woken();
    latch_lease_drop(lease);
    unit_leave_renewal(&puppets[0].store);
    unit_turn();
    assert_non_null(unit_clone()); /* something is on its way */
    unit_clone()->late = false;
    unit_turn();
    assert_null(unit_clone());
}

static void who_leaves_the_store_last_has_its_clone_closed(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    latch_lease_drop(lease);
    unit_is_woken();
    unit_leave_renewal(&puppets[0].store);
    assert_true(unit_is_woken());
    unit_turn();
    assert_null(unit_clone());
    unit_leave_renewal(&puppets[0].store);
}

static void what_is_in_flight_ends_with_the_engine(void **state)
{
    latch_lease *lease = unit_keep_held(), *other = puppet_own_lease(1, "o");

    (void) state;
    unit_clone()->late = true;
    unit_keep(other);
    puppet_clones[1]->late = true;
    assert_int_equal(puppet_run(other, LATCH_ACQUIRE), LATCH_DONE);
    unit_next_turn();
    assert_int_equal(unit_clone()->requests + puppet_clones[1]->requests, 2);
    latch_lease_drop(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TURNS_TEST(a_hold_ends_when_it_has_lasted_for_longest),
        UNIT_TURNS_TEST(near_its_end_it_is_renewed_for_what_is_left),
        UNIT_TURNS_TEST(a_failure_near_the_end_is_retried_no_longer_than_it_is_worth_while),
        UNIT_TURNS_TEST(the_longest_hold_can_be_changed),
        UNIT_TURNS_TEST(the_longest_hold_may_be_of_any_length),
        UNIT_TURNS_TEST(what_is_not_to_be_renewed_is_lost_at_its_end),
        UNIT_TURNS_TEST(a_lease_can_be_kept_otherwise_from_now_on),
        UNIT_TURNS_TEST(nothing_is_tried_again_that_is_not_to_be_renewed_any_more),
        UNIT_TURNS_TEST(who_has_shared_its_key_has_not_lost_what_is_gone),
        UNIT_TURNS_TEST(what_a_child_may_have_released_is_not_lost),
        UNIT_TURNS_TEST(a_child_that_cannot_release_it_is_no_excuse),
        UNIT_TURNS_TEST(a_loss_is_forgotten_when_it_is_acquired_again),
        UNIT_TURNS_TEST(the_reason_of_an_old_loss_is_forgotten),
        UNIT_TURNS_TEST(a_loss_is_forgotten_when_it_is_released),
        UNIT_TURNS_TEST(a_loss_is_forgotten_when_it_is_dropped_or_let_go),
        UNIT_TURNS_TEST(a_failed_acquire_leaves_a_loss_to_be_read),
        UNIT_TURNS_TEST(losses_are_read_in_their_order),
        UNIT_TURNS_TEST(each_mailbox_gets_its_own_losses),
        UNIT_TURNS_TEST(a_loss_goes_to_the_mailbox_that_was_named_last),
        UNIT_TURNS_TEST(what_was_let_go_is_held_until_its_own_end),
        UNIT_TURNS_TEST(one_that_is_lost_stays_so_when_it_is_kept_no_longer),
        UNIT_TURNS_TEST(what_was_renewed_stays_so_when_it_is_kept_no_longer),
        UNIT_TURNS_TEST(what_was_let_go_at_once_leaves_nothing),
        UNIT_TURNS_TEST(what_is_let_go_in_flight_ends_with_its_answer),
        UNIT_TURNS_TEST(a_clone_ends_with_all_that_use_it),
        UNIT_TURNS_TEST(who_leaves_the_store_last_has_its_clone_closed),
        UNIT_TURNS_TEST(what_is_in_flight_ends_with_the_engine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
