/*
 * Kept leases in combined stores: what some of the members say, or do not say. On puppets, turn by
 * turn.
 */
#include "keeping.h"

#define MS LATCH_NS_PER_MS

/* For so long a hold of a TTL of 10 s is certain. */
#define CERTAIN_NS (PUPPET_TTL_MS * MS - PUPPET_TTL_MS * MS / 100 - 2 * MS)

static int64_t begun_ns;

static latch_lease *keep_held(const char *resource)
{
    latch_lease *lease = puppet_lease(resource);

    for (size_t at = 0; at < 3; at++) {
        assert_int_equal(latch_lease_make_token(puppet_part(lease, at), &unit.error), LATCH_DONE);
    }
    unit_keep(lease);
    begun_ns = unit.now_ns;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    return lease;
}

static void answer_by(puppet_answer first, puppet_answer second, puppet_answer third)
{
    puppet_clones[0]->answer = first;
    puppet_clones[1]->answer = second;
    puppet_clones[2]->answer = third;
}

/* ---- Acquiring --------------------------------------------------------------------------------
 */

static latch_status begin_kept(latch_op *op, int64_t timeout_ms)
{
    latch_lease *lease = puppet_lease("r");
    latch_request request = puppet_request(LATCH_ACQUIRE);

    if (timeout_ms > 0) {
        request.wait = true;
        request.deadline_ns = unit.now_ns + timeout_ms * MS;
    }
    unit_keep(lease);
    puppets[2].late = true;
    return unit_begin(op, lease, request);
}

static void all_members_are_awaited_for_a_lock_that_is_kept(void **state)
{
    latch_op op;

    (void) state;
    assert_true(latch_wants(begin_kept(&op, 0)));
    assert_int_equal(op.wake_ns, unit.now_ns + 100 * MS);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 3);
    assert_true(unit_held(op.lease));
}

static void nobody_is_awaited_for_long_who_is_not_needed(void **state)
{
    latch_op op;

    (void) state;
    assert_true(latch_wants(begin_kept(&op, 0)));
    unit.now_ns += 100 * MS - 1;
    assert_true(latch_wants(latch_op_step(&op, unit.now_ns)));
    unit.now_ns += 1;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_true(unit_held(op.lease));
}

static void nor_beyond_the_time_of_the_wait(void **state)
{
    latch_op op;

    (void) state;
    assert_true(latch_wants(begin_kept(&op, 40)));
    unit.now_ns += 40 * MS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_true(unit_held(op.lease));
}

static void nor_for_more_than_a_part_of_a_short_ttl(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_request request = puppet_request(LATCH_ACQUIRE);
    latch_op op;

    (void) state;
    request.ttl_ms = 200;
    unit_keep(lease);
    puppets[2].late = true;
    assert_true(latch_wants(unit_begin(&op, lease, request)));
    assert_int_equal(op.wake_ns, unit.now_ns + 20 * MS);
    unit.now_ns += 20 * MS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
}

/* ---- Puppets ----------------------------------------------------------------------------------
 */

static void all_members_are_renewed_by_clones(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    for (size_t count = 1; count <= 5; count++) {
        unit_next_turn();
        assert_int_equal(unit.now_ns, begun_ns + (int64_t) count * (CERTAIN_NS / 3));
        assert_int_equal(unit_deadline_of(lease), unit.now_ns + CERTAIN_NS);
        for (size_t at = 0; at < 3; at++) {
            assert_int_equal(puppet_clones[at]->requests, count);
            assert_int_equal(puppet_clones[at]->last, LATCH_REFRESH);
            assert_true(puppet_clones[at]->request.extend);
            assert_int_equal(puppet_clones[at]->request.ttl_ms, PUPPET_TTL_MS);
            assert_int_equal(puppet_clones[at]->request.response_timeout_ms, PUPPET_TTL_MS / 3);
            assert_int_equal(puppets[at].requests, 1);
            assert_true(puppet_part(lease, at)->deadline_ns >= lease->deadline_ns);
        }
    }
    unit.now_ns += CERTAIN_NS - 1;
    assert_true(unit_held(lease));
    unit.now_ns++;
    assert_false(unit_held(lease));
}

static void a_member_that_does_not_renew_it_does_not_matter(void **state)
{
    const puppet_answer answers[] = {PUPPET_NO, PUPPET_LOSES, PUPPET_FAILS};
    latch_lease *lease = keep_held("r");

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        answer_by(at == 0 ? answers[at] : PUPPET_YES, at == 1 ? answers[at] : PUPPET_YES,
                  at == 2 ? answers[at] : PUPPET_YES);
        unit_turns_for(3 * PUPPET_TTL_MS);
        assert_true(unit_held(lease));
    }
    unit_expect_no_loss();
}

static void a_member_that_is_silent_does_not_matter(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    puppet_clones[1]->late = true;
    unit_turns_for(5 * PUPPET_TTL_MS);
    assert_true(unit_held(lease));
    assert_int_equal(puppet_clones[1]->requests, 1); /* the rest waits behind it */
    assert_true(puppet_clones[2]->requests > 10);
    puppet_clones[1]->late = false;
    puppet_clones[1]->requests = 0;
    unit_turns_for(5 * PUPPET_TTL_MS);
    assert_true(puppet_clones[1]->requests > 10);
    assert_string_equal(puppet_clones[1]->token, puppet_part(lease, 1)->token);
    unit_expect_no_loss();
}

/* What it was asked for an old hold is left alone: nothing has to wait behind that. */
static void a_new_hold_is_renewed_by_a_member_that_was_silent(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    puppet_clones[1]->late = true;
    unit_next_turn();
    unit_release(lease);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_set_token(puppet_part(lease, at), "new", 3, &unit.error);
    }
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_next_turn();
    for (size_t at = 0; at < 3; at++) {
        assert_int_equal(puppet_clones[at]->requests, 2);
        assert_string_equal(puppet_clones[at]->token, "new");
    }
}

static void it_is_certain_for_as_long_as_the_earliest_member(void **state)
{
    latch_lease *lease = keep_held("r");
    int64_t sent_ns;

    (void) state;
    puppet_clones[0]->late = puppet_clones[1]->late = true;
    unit_next_turn();
    sent_ns = unit.now_ns;
    unit.now_ns += 1000 * MS;
    puppet_clones[1]->late = false;
    unit_turn();
    assert_int_equal(unit_deadline_of(lease), sent_ns + CERTAIN_NS);
}

static void two_that_fail_are_asked_again_until_the_end(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    answer_by(PUPPET_FAILS, PUPPET_YES, PUPPET_FAILS);
    unit_turns_for(CERTAIN_NS / MS - 1);
    assert_true(unit_held(lease));
    assert_true(puppet_clones[0]->requests > 10);
    assert_int_equal(puppet_clones[1]->last, LATCH_REFRESH); /* and nothing was given back */
    unit_turns_for(1);
    unit_expect_loss(lease, "it could not be renewed in time: as the puppet says");
    assert_int_equal(unit_turns_for(60000), 0);
    assert_int_equal(puppet_clones[1]->last, LATCH_REFRESH);
    assert_int_equal(puppet_count_held(), 3);
}

static void two_that_fail_for_a_while_do_not_matter(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    answer_by(PUPPET_FAILS, PUPPET_FAILS, PUPPET_YES);
    unit_turns_for(8000);
    answer_by(PUPPET_YES, PUPPET_FAILS, PUPPET_YES);
    unit_next_turn();
    assert_int_equal(unit_deadline_of(lease), unit.now_ns + CERTAIN_NS);
    unit_turns_for(60000);
    assert_true(unit_held(lease));
    unit_expect_no_loss();
}

static void two_that_refuse_are_a_loss_at_once(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    answer_by(PUPPET_LOSES, PUPPET_YES, PUPPET_NO);
    puppet_clones[1]->late = true;
    unit_next_turn();
    unit_expect_loss(lease, UNIT_GONE);
    puppet_clones[1]->late = false;
    answer_by(PUPPET_YES, PUPPET_YES, PUPPET_YES);
    unit_turn();
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_turns_for(60000);
    assert_true(unit_held(lease));
    unit_expect_no_loss();
}

static void one_that_refuses_and_one_that_fails_are_no_loss_yet(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    answer_by(PUPPET_YES, PUPPET_LOSES, PUPPET_FAILS);
    unit_turns_for(8000);
    assert_true(unit_held(lease));
    answer_by(PUPPET_YES, PUPPET_LOSES, PUPPET_YES);
    unit_turns_for(60000);
    assert_true(unit_held(lease));
    unit_expect_no_loss();
    answer_by(PUPPET_YES, PUPPET_LOSES, PUPPET_FAILS);
    unit_turns_for(60000);
    unit_expect_loss(lease, "it could not be renewed in time: as the puppet says");
}

static void the_last_answer_may_decide(void **state)
{
    const puppet_answer last[] = {PUPPET_YES, PUPPET_FAILS, PUPPET_LOSES};

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        latch_lease *lease = keep_held("r");
        int64_t sent_ns;

        answer_by(PUPPET_YES, last[at], PUPPET_LOSES);
        puppet_clones[1]->late = true;
        unit_next_turn();
        sent_ns = unit.now_ns;
        unit.now_ns += 100 * MS;
        unit_turn();
        assert_int_equal(unit_deadline_of(lease), begun_ns + CERTAIN_NS);
        puppet_clones[1]->late = false;
        unit_turn();
        assert_int_equal(unit_held(lease), last[at] != PUPPET_LOSES);
        if (last[at] == PUPPET_YES) {
            assert_int_equal(unit_deadline_of(lease), sent_ns + CERTAIN_NS);
        } else if (last[at] == PUPPET_FAILS) {
            assert_int_equal(unit_deadline_of(lease), begun_ns + CERTAIN_NS);
        } else {
            unit_expect_loss(lease, UNIT_GONE);
        }
        answer_by(PUPPET_YES, PUPPET_YES, PUPPET_YES);
        unit_release(lease);
        latch_lease_stop_renewal(lease);
    }
}

static void two_that_are_silent_are_a_loss_in_time(void **state)
{
    latch_lease *lease = keep_held("r");

    (void) state;
    puppet_clones[0]->late = puppet_clones[1]->late = true;
    unit_turns_for(CERTAIN_NS / MS - 1);
    assert_true(unit_held(lease));
    unit_turns_for(1);
    unit_expect_loss(lease, "it could not be renewed in time: its store has not answered");
    puppet_clones[0]->late = puppet_clones[1]->late = false;
    unit_turn();
    assert_false(unit_held(lease));
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_turns_for(60000);
    assert_true(unit_held(lease));
    unit_expect_no_loss();
}

static void locks_of_a_combined_store_share_its_clone(void **state)
{
    latch_lease *lease = keep_held("r"), *other = keep_held("o");

    (void) state;
    assert_int_equal(unit.store->renewal_store->users, 3);
    unit_next_turn();
    for (size_t at = 0; at < 3; at++) {
        assert_int_equal(puppet_clones[at]->requests, 2);
    }
    answer_by(PUPPET_LOSES, PUPPET_LOSES, PUPPET_LOSES);
    unit_release(lease);
    unit_next_turn();
    unit_expect_loss(other, UNIT_GONE);
}

/* By one lease in the clone, as by one in the store: it has one token. */
static void a_member_that_stands_there_twice_is_renewed_once(void **state)
{
    latch_store *const members[] = {&puppets[0].store, &puppets[1].store, &puppets[0].store};
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = members,
                                         .member_count = 3};
    latch_store *store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    latch_lease lease, parts[2], *leaves[LATCH_DESCRIPTORS_MAX];
    const latch_renewal *renewal;

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        latch_lease_init(&parts[at], &puppets[at].store, "r", 1);
        assert_int_equal(latch_lease_make_token(&parts[at], &unit.error), LATCH_DONE);
    }
    latch_lease_init(&lease, store, "r", 1);
    assert_int_equal(latch_lease_join(&lease,
                                      (latch_lease_part[]){{parts, 0}, {parts + 1, 0}, {parts, 0}},
                                      &unit.error),
                     LATCH_DONE);
    unit_keep(&lease);
    renewal = LATCH_CONTAINER(unit.engine->renewer->renewals.next, latch_renewal, link);
    assert_int_equal(latch_lease_leaves(renewal->clone_lease, leaves, LATCH_DESCRIPTORS_MAX), 2);
    assert_int_equal(puppet_run(&lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_turns_for(3 * PUPPET_TTL_MS);
    assert_true(unit_held(&lease));
    assert_string_equal(leaves[0]->token, parts[0].token);
    assert_string_equal(leaves[1]->token, parts[1].token);
    unit_release(&lease);
    latch_lease_drop(&lease);
    latch_lease_drop(&parts[0]);
    latch_lease_drop(&parts[1]);
    latch_store_close(store);
}

/* Ends, by the teardown, with something in flight and something behind that. */
static void what_is_in_flight_ends_with_the_engine(void **state)
{
    latch_lease *lease = keep_held("r"), *other = keep_held("o");

    (void) state;
    puppet_clones[0]->late = true;
    unit_turns_for(PUPPET_TTL_MS);
    assert_true(unit_held(lease));
    puppet_clones[1]->late = true;
    unit_next_turn();
    assert_true(unit_is_renewing());
    latch_lease_drop(other);
}

static void a_strategy_that_is_no_constant_can_not_be_asked_by_a_thread(void **state)
{
    const latch_renewal_spec spec = UNIT_KEEP;
    latch_strategy strategy = latch_consensus;
    latch_store *members[] = {&puppets[0].store, &puppets[1].store};
    const latch_store_options options = {.strategy = &strategy,
                                         .members = members,
                                         .member_count = 2};
    latch_lease lease;
    latch_store *store;

    (void) state;
    strategy.is_pure = false;
    store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    assert_non_null(store);
    latch_lease_init(&lease, store, "r", 1);
    assert_int_equal(latch_lease_start_renewal(&lease, unit_mailbox, &spec, &unit.error),
                     LATCH_ERROR_UNSUPPORTED);
    assert_string_equal(unit.error.message, "the combined store cannot do that: only PHP's own "
                                            "thread can ask its strategy");
    assert_false(lease.observed);
    latch_store_close(store);
}

static void a_member_without_a_clone_cannot_be_kept(void **state)
{
    const latch_renewal_spec spec = UNIT_KEEP;
    latch_lease *lease;

    (void) state;
    puppets[1].is_clingy = true;
    lease = puppet_lease("r");
    assert_int_equal(latch_lease_start_renewal(lease, unit_mailbox, &spec, &unit.error),
                     LATCH_ERROR_UNSUPPORTED);
    assert_non_null(strstr(unit.error.message, "the combined store cannot do that: not all of"));
    assert_false(lease->observed);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_turns_for(60000), 0);
}

/* Nothing is left of a try but the clone, which the next one finds, or is closed. */
static void any_allocation_may_fail_when_it_is_to_be_kept(void **state)
{
    const latch_renewal_spec spec = UNIT_KEEP;
    latch_lease *lease = puppet_lease("r");

    (void) state;
    for (int has_clone = 0; has_clone < 2; has_clone++) {
        latch_status status = LATCH_ERROR_MEMORY;

        for (size_t number = 1; status != LATCH_DONE; number++) {
            size_t live;

            unit_keep(lease); /* the table has its room from now on */
            latch_lease_stop_renewal(lease);
            if (!has_clone) {
                unit_leave_renewal(unit.store);
                unit_turn();
            }
            live = unit.live;
            unit.fail_at = unit.allocations + number;
            status = latch_lease_start_renewal(lease, unit_mailbox, &spec, &unit.error);
            unit.fail_at = 0;
            if (status != LATCH_DONE) {
                assert_int_equal(status, LATCH_ERROR_MEMORY);
                assert_false(lease->observed);
                if (!has_clone) {
                    unit_leave_renewal(unit.store);
                    unit_turn();
                }
                assert_int_equal(unit.live, live);
            }
        }
        latch_lease_stop_renewal(lease);
    }
    unit_keep(lease);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_turns_for(60000);
    assert_true(unit_held(lease));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TURNS_TEST(all_members_are_awaited_for_a_lock_that_is_kept),
        UNIT_TURNS_TEST(nobody_is_awaited_for_long_who_is_not_needed),
        UNIT_TURNS_TEST(nor_beyond_the_time_of_the_wait),
        UNIT_TURNS_TEST(nor_for_more_than_a_part_of_a_short_ttl),
        UNIT_TURNS_TEST(all_members_are_renewed_by_clones),
        UNIT_TURNS_TEST(a_member_that_does_not_renew_it_does_not_matter),
        UNIT_TURNS_TEST(a_member_that_is_silent_does_not_matter),
        UNIT_TURNS_TEST(a_new_hold_is_renewed_by_a_member_that_was_silent),
        UNIT_TURNS_TEST(it_is_certain_for_as_long_as_the_earliest_member),
        UNIT_TURNS_TEST(two_that_fail_are_asked_again_until_the_end),
        UNIT_TURNS_TEST(two_that_fail_for_a_while_do_not_matter),
        UNIT_TURNS_TEST(two_that_refuse_are_a_loss_at_once),
        UNIT_TURNS_TEST(one_that_refuses_and_one_that_fails_are_no_loss_yet),
        UNIT_TURNS_TEST(the_last_answer_may_decide),
        UNIT_TURNS_TEST(two_that_are_silent_are_a_loss_in_time),
        UNIT_TURNS_TEST(locks_of_a_combined_store_share_its_clone),
        UNIT_TURNS_TEST(a_member_that_stands_there_twice_is_renewed_once),
        UNIT_TURNS_TEST(what_is_in_flight_ends_with_the_engine),
        UNIT_TURNS_TEST(a_strategy_that_is_no_constant_can_not_be_asked_by_a_thread),
        UNIT_TURNS_TEST(a_member_without_a_clone_cannot_be_kept),
        UNIT_TURNS_TEST(any_allocation_may_fail_when_it_is_to_be_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
