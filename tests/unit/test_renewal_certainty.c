/*
 * Until when a hold is certain that is renewed, whatever its user asks for meanwhile and in which
 * order it is answered. Turn by turn, on a clock that the test moves.
 */
#include "keeping.h"

#define MS LATCH_NS_PER_MS
#define SECOND LATCH_NS_PER_S
#define TTL_NS (PUPPET_TTL_MS * MS)

static void a_renewal_counts_from_when_it_was_sent(void **state)
{
    latch_lease *lease = unit_keep_held();
    int64_t sent_ns = unit_send_late();

    (void) state;
    unit.now_ns = sent_ns + SECOND;
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + TTL_NS);
    unit_answer_now(PUPPET_YES);
    assert_int_equal(unit_deadline_of(lease), sent_ns + TTL_NS);
    unit_next_turn();
    assert_int_equal(unit.now_ns, sent_ns + SECOND + (TTL_NS - SECOND) / 3);
}

static void an_answer_after_the_end_is_none(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit.now_ns = unit_send_late() + TTL_NS;
    unit_answer_now(PUPPET_YES);
    assert_int_equal(unit_clone()->requests, 1);
    unit_expect_loss(lease, "its time is over");
}

static void what_was_found_lost_remains_so(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit_send_late();
    unit.now_ns = unit_begun_ns + TTL_NS - 1;
    assert_true(unit_held(lease));
    unit.now_ns++;
    assert_false(unit_held(lease));
    unit_answer_now(PUPPET_YES);
    assert_false(unit_held(lease));
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + TTL_NS);
    unit_expect_loss(lease, "it could not be renewed in time: its store has not answered");
    assert_int_equal(unit_turns_for(60000), 0);
    assert_int_equal(unit_clone()->requests, 1);
}

static void an_answer_just_in_time_that_nobody_has_missed_counts(void **state)
{
    latch_lease *lease = unit_keep_held();
    int64_t sent_ns = unit_send_late();

    (void) state;
    unit.now_ns = unit_begun_ns + TTL_NS + SECOND;
    unit_answer_now(PUPPET_YES);
    assert_true(unit_held(lease));
    assert_int_equal(unit_deadline_of(lease), sent_ns + TTL_NS);
    unit_expect_no_loss();
}

static void a_shorter_ttl_counts_for_what_is_on_its_way(void **state)
{
    latch_lease *lease = unit_keep_held();
    int64_t sent_ns = unit_send_late(), refreshed_ns;

    (void) state;
    refreshed_ns = unit.now_ns += SECOND;
    assert_int_equal(puppet_run_for(lease, LATCH_REFRESH, 2000), LATCH_DONE);
    assert_int_equal(unit_deadline_of(lease), refreshed_ns + 2 * SECOND);
    unit_answer_now(PUPPET_YES);
    assert_true(sent_ns + TTL_NS > refreshed_ns + 2 * SECOND);
    assert_int_equal(unit_deadline_of(lease), refreshed_ns + 2 * SECOND);
    unit_next_turn();
    assert_int_equal(unit.now_ns, refreshed_ns + 2 * SECOND / 3);
    assert_int_equal(unit_clone()->request.ttl_ms, 2000);
    assert_int_equal(unit_deadline_of(lease), unit.now_ns + 2 * SECOND);
}

static void a_shorter_ttl_that_may_come_counts_for_what_is_on_its_way(void **state)
{
    latch_lease *lease = unit_keep_held();
    latch_request request = unit_request(LATCH_REFRESH);
    int64_t sent_ns = unit_send_late();
    latch_op op;

    (void) state;
    unit.now_ns += 100 * MS;
    puppets[0].late = true;
    request.ttl_ms = 2000;
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_IO);
    unit.now_ns += 100 * MS;
    unit_answer_now(PUPPET_YES);
    assert_int_equal(unit_deadline_of(lease), sent_ns + 2100 * MS); /* by the refresh */
    puppets[0].late = false;
    puppets[0].answer = PUPPET_FAILS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_ERROR_STORE);
    assert_int_equal(unit_deadline_of(lease), sent_ns + 2100 * MS);
    assert_int_equal(unit_turns_for(0), 0);
}

static void a_shorter_ttl_counts_though_nobody_hears_of_it(void **state)
{
    latch_lease *lease = unit_keep_held();
    latch_op op;
    latch_request request = unit_request(LATCH_REFRESH);

    (void) state;
    unit_turn();
    puppets[0].late = true;
    request.ttl_ms = 1500;
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_IO);
    assert_int_equal(lease->deadline_ns, unit_begun_ns + 1500 * MS);
    assert_true(unit_is_woken());
    unit_turn();
    unit_next_turn();
    assert_int_equal(unit.now_ns, unit_begun_ns + 500 * MS);
    assert_int_equal(unit_clone()->request.ttl_ms, 1500);
    puppets[0].late = false;
    puppets[0].answer = PUPPET_FAILS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_ERROR_STORE);
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + 2000 * MS);
    unit_turns_for(20000);
    assert_int_equal(unit_clone()->request.ttl_ms, 1500);
    assert_true(unit_held(lease));
}

/* Less than it was acquired for, but not less than it was said to be kept for. */
static void a_refresh_makes_it_shorter_whatever_it_was_kept_for(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_keep_as(lease, (latch_renewal_spec){.renew = true, .ttl_ms = 2000});
    assert_int_equal(puppet_run_for(lease, LATCH_REFRESH, 4000), LATCH_DONE);
    assert_true(unit_held(lease));
    assert_int_equal(lease->deadline_ns, unit.now_ns + 4 * SECOND);
}

static void a_request_without_a_ttl_that_fails_changes_none(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    puppets[0].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run_for(lease, LATCH_REFRESH, 0), LATCH_ERROR_STORE);
    unit_next_turn();
    assert_int_equal(unit_clone()->request.ttl_ms, PUPPET_TTL_MS);
}

static void a_longer_ttl_counts_when_it_is_granted(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    puppets[0].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run_for(lease, LATCH_REFRESH, 30000), LATCH_ERROR_STORE);
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + TTL_NS);
    unit_next_turn();
    assert_int_equal(unit_clone()->request.ttl_ms, PUPPET_TTL_MS);
    puppets[0].answer = PUPPET_YES;
    unit_begun_ns = unit.now_ns;
    assert_int_equal(puppet_run_for(lease, LATCH_ACQUIRE, 30000), LATCH_DONE);
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + 30 * SECOND);
    unit_turns_for(9999);
    assert_int_equal(unit_clone()->requests, 1);
    unit_next_turn();
    assert_int_equal(unit_clone()->request.ttl_ms, 30000);
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + 40 * SECOND);
}

static void the_users_answer_makes_nothing_shorter_that_was_renewed_since(void **state)
{
    latch_lease *lease = unit_keep_held();
    latch_op op;

    (void) state;
    unit_turn();
    puppets[0].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_REFRESH)), LATCH_WANT_IO);
    unit_next_turn();
    puppets[0].late = false;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(unit_deadline_of(lease), unit.now_ns + TTL_NS);
}

static void questions_change_no_ttl(void **state)
{
    const latch_op_kind questions[] = {LATCH_PROBE, LATCH_INSPECT};
    latch_lease *lease = unit_keep_held(); /* kept for a minute, but acquired for ten seconds */

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        assert_int_equal(puppet_run_for(lease, questions[at], 0), LATCH_DONE);
        unit_next_turn();
        assert_int_equal(unit_clone()->requests, at + 1);
        assert_int_equal(unit_clone()->request.ttl_ms, PUPPET_TTL_MS);
        assert_int_equal(unit_deadline_of(lease), unit.now_ns + TTL_NS);
    }
}

static void a_hold_that_was_there_before_is_renewed_by_its_end(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");
    latch_renewal_spec spec = {.renew = true, .ttl_ms = 2000};

    (void) state;
    unit_begun_ns = unit.now_ns;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit.now_ns += 4 * SECOND;
    unit_keep_as(lease, spec);
    unit_next_turn();
    assert_int_equal(unit.now_ns, unit_begun_ns + 6 * SECOND);
    assert_int_equal(unit_clone()->request.ttl_ms, 2000);
    assert_int_equal(unit_deadline_of(lease), unit_begun_ns + TTL_NS); /* and no earlier */
    unit_turns_for(20000);
    assert_true(unit_held(lease));
    assert_true(unit_deadline_of(lease) <= unit.now_ns + 2 * SECOND);
}

static void a_ttl_of_any_length_can_be_renewed_for(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_keep_as(lease, (latch_renewal_spec){.renew = true, .ttl_ms = INT64_MAX});
    unit_next_turn();
    assert_int_equal(unit_clone()->request.ttl_ms, INT64_MAX);
    assert_true(unit_clone()->request.response_timeout_ms < INT64_MAX / MS);
    assert_true(unit_held(lease));
}

static void what_had_run_out_before_it_was_kept_is_no_loss(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit.now_ns += TTL_NS;
    unit_keep(lease);
    assert_int_equal(unit_turns_for(60000), 0);
    unit_expect_no_loss();
    assert_false(unit_held(lease));
}

/* For so long the server may hold it: a store counts on that when it gives it back later. */
static void a_release_finds_until_when_it_was_renewed(void **state)
{
    latch_lease *lease = unit_keep_held();
    latch_op op;

    (void) state;
    unit_next_turn();
    puppets[0].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_RELEASE)), LATCH_WANT_IO);
    assert_int_equal(lease->deadline_ns, unit.now_ns + TTL_NS);
    puppet_speak(0);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TURNS_TEST(a_renewal_counts_from_when_it_was_sent),
        UNIT_TURNS_TEST(an_answer_after_the_end_is_none),
        UNIT_TURNS_TEST(what_was_found_lost_remains_so),
        UNIT_TURNS_TEST(an_answer_just_in_time_that_nobody_has_missed_counts),
        UNIT_TURNS_TEST(a_shorter_ttl_counts_for_what_is_on_its_way),
        UNIT_TURNS_TEST(a_shorter_ttl_that_may_come_counts_for_what_is_on_its_way),
        UNIT_TURNS_TEST(a_shorter_ttl_counts_though_nobody_hears_of_it),
        UNIT_TURNS_TEST(a_refresh_makes_it_shorter_whatever_it_was_kept_for),
        UNIT_TURNS_TEST(a_request_without_a_ttl_that_fails_changes_none),
        UNIT_TURNS_TEST(a_longer_ttl_counts_when_it_is_granted),
        UNIT_TURNS_TEST(the_users_answer_makes_nothing_shorter_that_was_renewed_since),
        UNIT_TURNS_TEST(questions_change_no_ttl),
        UNIT_TURNS_TEST(a_hold_that_was_there_before_is_renewed_by_its_end),
        UNIT_TURNS_TEST(a_ttl_of_any_length_can_be_renewed_for),
        UNIT_TURNS_TEST(what_had_run_out_before_it_was_kept_is_no_loss),
        UNIT_TURNS_TEST(a_release_finds_until_when_it_was_renewed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
