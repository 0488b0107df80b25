/*
 * What the renewal thread does, turn by turn, on a clock that the test moves: when it renews, which
 * hold, and what it makes of answers that are wrong or missing.
 */
#include "keeping.h"

#define MS LATCH_NS_PER_MS
#define SECOND LATCH_NS_PER_S
#define TTL_NS (PUPPET_TTL_MS * MS)

/* ---- When -------------------------------------------------------------------------------------
 */

static void a_third_of_the_ttl_passes_between_renewals(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit_turn();
    assert_int_equal(unit_clone()->requests, 0);
    for (size_t count = 1; count <= 10; count++) {
        unit_next_turn();
        assert_int_equal(unit.now_ns, unit_begun_ns + (int64_t) count * (TTL_NS / 3));
        assert_int_equal(unit_clone()->requests, count);
        assert_int_equal(unit_deadline_of(lease), unit.now_ns + TTL_NS);
    }
    assert_int_equal(unit_clone()->last, LATCH_REFRESH);
    assert_int_equal(unit_clone()->request.ttl_ms, PUPPET_TTL_MS);
    assert_int_equal(unit_clone()->request.response_timeout_ms, PUPPET_TTL_MS / 3);
    assert_true(unit_clone()->request.extend);
    assert_int_equal(puppets[0].requests, 1);
    unit_expect_no_loss();
}

static void nothing_is_renewed_a_moment_before_its_time(void **state)
{
    unit_keep_held();
    (void) state;
    unit_turn();
    unit.now_ns = unit_begun_ns + TTL_NS / 3 - 1;
    unit_turn();
    assert_int_equal(unit_clone()->requests, 0);
    unit.now_ns++;
    unit_turn();
    assert_int_equal(unit_clone()->requests, 1);
}

static void even_the_shortest_ttl_has_some_response_timeout(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    unit_keep(lease);
    assert_int_equal(puppet_run_for(lease, LATCH_ACQUIRE, 30), LATCH_DONE);
    unit_next_turn();
    assert_int_equal(unit_clone()->request.ttl_ms, 30);
    assert_int_equal(unit_clone()->request.response_timeout_ms, 250);
}

static void a_ttl_without_end_is_not_renewed(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    unit_keep(lease);
    assert_int_equal(puppet_run_for(lease, LATCH_ACQUIRE, INT64_MAX), LATCH_DONE);
    unit_turn();
    assert_int_equal(unit_turns_for(INT64_C(1000) * 86400 * 1000), 0);
    assert_int_equal(unit_clone()->requests, 0);
    assert_true(unit_held(lease));
}

static void those_that_are_due_soon_go_along(void **state)
{
    latch_lease *soon, *later, *elsewhere;

    (void) state;
    unit_keep_held();
    unit.now_ns += SECOND;
    soon = puppet_own_lease(0, "soon");
    elsewhere = puppet_own_lease(1, "soon");
    unit_keep(soon);
    unit_keep(elsewhere);
    assert_int_equal(puppet_run(soon, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(elsewhere, LATCH_ACQUIRE), LATCH_DONE);
    unit.now_ns += SECOND;
    later = puppet_own_lease(0, "later");
    unit_keep(later);
    assert_int_equal(puppet_run(later, LATCH_ACQUIRE), LATCH_DONE);
    unit_next_turn();
    assert_int_equal(unit.now_ns, unit_begun_ns + TTL_NS / 3);
    assert_int_equal(unit_clone()->requests, 2);
    assert_int_equal(puppet_clones[1]->requests, 0);
    assert_int_equal(unit_deadline_of(soon), unit.now_ns + TTL_NS);
    assert_int_equal(unit_deadline_of(later), unit_begun_ns + 2 * SECOND + TTL_NS);
    unit_next_turn();
    assert_int_equal(unit.now_ns, unit_begun_ns + SECOND + TTL_NS / 3);
    assert_int_equal(puppet_clones[1]->requests, 1);
    unit_next_turn();
    assert_int_equal(unit.now_ns, unit_begun_ns + 2 * SECOND + TTL_NS / 3);
    assert_int_equal(unit_clone()->requests, 5); /* by now they are all due, or soon */
}

static void the_thread_is_woken_only_for_what_is_earlier(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r"), *other = puppet_own_lease(0, "o");

    (void) state;
    unit_keep(lease);
    unit_keep(other);
    assert_false(unit_is_woken());
    unit_begun_ns = unit.now_ns;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(unit_is_woken());
    unit_turn();
    for (int round = 0; round < 10; round++) {
        assert_int_equal(puppet_run(other, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(puppet_run(other, LATCH_RELEASE), LATCH_DONE);
    }
    assert_false(unit_is_woken());
    assert_int_equal(puppet_run_for(other, LATCH_ACQUIRE, PUPPET_TTL_MS / 2), LATCH_DONE);
    assert_true(unit_is_woken());
    unit_turn();
    unit_next_turn();
    assert_int_equal(unit.now_ns, unit_begun_ns + TTL_NS / 6);
}

/* ---- Holds, one after the other ---------------------------------------------------------------
 */

static void an_outcome_for_an_old_hold_does_not_count(void **state)
{
    const puppet_answer answers[] = {PUPPET_YES, PUPPET_NO, PUPPET_LOSES, PUPPET_FAILS};
    latch_lease *lease = unit_keep_held();

    (void) state;
    for (size_t at = 0; at < sizeof(answers) / sizeof(*answers); at++) {
        unit_clone()->requests = 0;
        unit_send_late();
        unit_release(lease);
        unit_begun_ns = unit.now_ns;
        assert_int_equal(puppet_run_for(lease, LATCH_ACQUIRE, 2000), LATCH_DONE);
        unit_answer_now(answers[at]);
        assert_int_equal(unit_deadline_of(lease), unit_begun_ns + 2 * SECOND);
        assert_true(unit_held(lease));
        unit_expect_no_loss();
        unit_clone()->answer = PUPPET_YES;
        unit_next_turn();
        assert_int_equal(unit.now_ns, unit_begun_ns + 2 * SECOND / 3);
        assert_int_equal(unit_clone()->requests, 2);
        assert_int_equal(unit_deadline_of(lease), unit.now_ns + 2 * SECOND);
    }
}

static void nothing_is_renewed_after_its_release(void **state)
{
    latch_lease *lease = unit_keep_held();
    latch_op op;

    (void) state;
    unit_turns_for(10000);
    unit_clone()->requests = 0;
    puppets[0].late = true; /* from when it is on its way */
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_RELEASE)), LATCH_WANT_IO);
    unit_turns_for(60000);
    assert_int_equal(unit_clone()->requests, 0);
    puppet_speak(0);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    unit_turns_for(60000);
    assert_int_equal(unit_clone()->requests, 0);
    unit_expect_no_loss();
}

static void each_hold_is_renewed_by_its_own_token(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    unit_keep(lease);
    for (const char *token = "zyxw"; *token != '\0'; token++) {
        assert_int_equal(latch_lease_set_token(lease, token, strlen(token), &unit.error),
                         LATCH_DONE);
        assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        unit_turns_for(PUPPET_TTL_MS);
        assert_string_equal(unit_clone()->token, token);
        unit_release(lease);
    }
}

static void a_renewal_without_memory_is_tried_again(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");

    (void) state;
    unit_keep(lease);
    assert_int_equal(latch_lease_make_token(lease, &unit.error), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_turn();
    unit.fail_on = true;
    unit.fail_at = unit.allocations + 1;
    unit_next_turn();
    assert_int_equal(unit_clone()->requests, 0);
    unit.fail_at = 0;
    unit_next_turn();
    assert_int_equal(unit_clone()->requests, 1);
    assert_string_equal(unit_clone()->token, lease->token);
    assert_int_equal(unit_deadline_of(lease), unit.now_ns + TTL_NS);
}

/* It was gone from the server for a moment, in which nobody has taken it. */
static void what_a_renewal_found_before_it_was_acquired_anew_is_no_loss(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    puppet_clones[0]->late = true;
    puppet_clones[0]->answer = PUPPET_NO;
    unit_next_turn();
    assert_int_equal(puppet_clones[0]->requests, 1);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppet_clones[0]->late = false;
    unit_turn();
    assert_true(unit_held(lease));
    unit_expect_no_loss();
    puppet_clones[0]->answer = PUPPET_YES;
    unit_next_turn();
    assert_int_equal(puppet_clones[0]->requests, 2);
    assert_true(unit_held(lease));
}

/* ---- Failures ---------------------------------------------------------------------------------
 */

/* Twice as long each time, up to a second. */
static int64_t pause_after(size_t failures)
{
    int64_t pause_ns = 20 * MS;

    while (--failures > 0 && pause_ns < SECOND) {
        pause_ns = 2 * pause_ns < SECOND ? 2 * pause_ns : SECOND;
    }
    return pause_ns;
}

/* The longest that it can afford: a quarter of what is left. */
static int64_t quarter_ns(void)
{
    int64_t left_ns = unit_begun_ns + TTL_NS - unit.now_ns;

    return left_ns / 4 > 20 * MS ? left_ns / 4 : 20 * MS;
}

static void failures_are_retried_until_the_end(void **state)
{
    latch_lease *lease = unit_keep_held();
    size_t tries = 0;

    (void) state;
    unit_clone()->answer = PUPPET_FAILS;
    unit_next_turn();
    for (;;) {
        int64_t before_ns = unit.now_ns, longest_ns = quarter_ns(), pause_ns;

        assert_int_equal(unit_clone()->requests, ++tries);
        pause_ns = pause_after(tries);
        unit_next_turn();
        if (unit.now_ns == unit_begun_ns + TTL_NS) {
            break;
        }
        assert_true(unit_held(lease));
        if (pause_ns * 11 / 10 <= longest_ns) {
            assert_in_range(unit.now_ns - before_ns, pause_ns * 9 / 10, pause_ns * 11 / 10);
        }
        assert_in_range(unit.now_ns - before_ns, 1, longest_ns);
    }
    assert_in_range(tries, 15, 40);
    assert_int_equal(unit_clone()->requests, tries);
    unit_expect_loss(lease, "it could not be renewed in time: as the puppet says");
    assert_int_equal(unit_turns_for(60000), 0);
}

static void after_a_success_the_pauses_are_short_again(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit_clone()->answer = PUPPET_FAILS;
    unit_turn();
    unit_turns_for(8000);
    assert_true(unit_clone()->requests > 5);
    unit_clone()->answer = PUPPET_YES;
    unit_next_turn();
    assert_int_equal(unit_deadline_of(lease), unit.now_ns + TTL_NS);
    unit_clone()->answer = PUPPET_FAILS;
    unit_next_turn();
    unit_begun_ns = unit.now_ns;
    unit_next_turn();
    assert_true(unit.now_ns - unit_begun_ns <= 22 * MS);
    unit_clone()->answer = PUPPET_YES;
    unit_turns_for(60000);
    assert_true(unit_held(lease));
    unit_expect_no_loss();
}

/* Also when it came so soon that it might be the same trouble still. */
static void after_a_success_at_once_the_pauses_are_short_again(void **state)
{
    latch_lease *lease = puppet_own_lease(0, "r");
    int64_t failed_ns;

    (void) state;
    unit_keep(lease);
    assert_int_equal(puppet_run_for(lease, LATCH_ACQUIRE, 2000), LATCH_DONE);
    unit_clone()->answer = PUPPET_FAILS;
    for (int tries = 0; tries < 5; tries++) {
        unit_next_turn();
    }
    unit_clone()->answer = PUPPET_YES;
    unit_next_turn();
    assert_int_equal(unit_deadline_of(lease), unit.now_ns + 2 * SECOND);
    unit_clone()->answer = PUPPET_FAILS;
    unit_next_turn();
    failed_ns = unit.now_ns;
    unit_next_turn();
    assert_true(unit.now_ns - failed_ns <= 22 * MS);
    unit_clone()->answer = PUPPET_YES;
}

static void one_that_fails_has_a_pause_of_its_own(void **state)
{
    latch_lease *lease = unit_keep_held(), *other = puppet_own_lease(0, "o");

    (void) state;
    unit_clone()->answer = PUPPET_FAILS;
    unit_next_turn();
    unit_keep(other);
    assert_int_equal(puppet_run_for(other, LATCH_ACQUIRE, 3), LATCH_DONE); /* due in 1 ms */
    unit_turn();
    unit_clone()->answer = PUPPET_YES;
    unit_next_turn();
    assert_int_equal(unit_clone()->requests, 2); /* and not the one that failed but now */
    unit_release(other);
    unit_release(lease);
}

static void a_refusal_is_a_loss_at_once(void **state)
{
    const puppet_answer answers[] = {PUPPET_NO, PUPPET_LOSES};

    (void) state;
    for (size_t at = 0; at < sizeof(answers) / sizeof(*answers); at++) {
        latch_lease *lease = unit_keep_held();

        unit_clone()->answer = answers[at];
        unit_turn();
        unit_next_turn();
        assert_false(unit_held(lease));
        unit_expect_loss(lease, UNIT_GONE);
        assert_int_equal(unit_deadline_of(lease), unit.now_ns);
        unit_clone()->answer = PUPPET_YES;
        assert_int_equal(unit_turns_for(60000), 0);
    }
}

static void what_the_user_finds_out_is_told_as_well(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    puppets[0].answer = PUPPET_LOSES;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_ERROR_LOST);
    unit_expect_loss(lease, UNIT_GONE);
    puppets[0].answer = PUPPET_YES;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_CONFLICT);
    unit_expect_loss(lease, UNIT_GONE);
    unit_turns_for(60000);
    unit_expect_no_loss();
}

static void a_probe_revives_nothing(void **state)
{
    latch_lease *lease = unit_keep_held();

    (void) state;
    unit.now_ns += TTL_NS;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_DONE); /* as the puppet says */
    assert_false(unit_held(lease));
    unit_expect_loss(lease, "its time is over");
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE); /* but this is a new hold */
    assert_true(unit_held(lease));
    unit_turns_for(60000);
    assert_true(unit_held(lease));
    unit_expect_no_loss();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TURNS_TEST(a_third_of_the_ttl_passes_between_renewals),
        UNIT_TURNS_TEST(nothing_is_renewed_a_moment_before_its_time),
        UNIT_TURNS_TEST(even_the_shortest_ttl_has_some_response_timeout),
        UNIT_TURNS_TEST(a_ttl_without_end_is_not_renewed),
        UNIT_TURNS_TEST(those_that_are_due_soon_go_along),
        UNIT_TURNS_TEST(the_thread_is_woken_only_for_what_is_earlier),
        UNIT_TURNS_TEST(an_outcome_for_an_old_hold_does_not_count),
        UNIT_TURNS_TEST(nothing_is_renewed_after_its_release),
        UNIT_TURNS_TEST(each_hold_is_renewed_by_its_own_token),
        UNIT_TURNS_TEST(a_renewal_without_memory_is_tried_again),
        UNIT_TURNS_TEST(what_a_renewal_found_before_it_was_acquired_anew_is_no_loss),
        UNIT_TURNS_TEST(failures_are_retried_until_the_end),
        UNIT_TURNS_TEST(after_a_success_the_pauses_are_short_again),
        UNIT_TURNS_TEST(after_a_success_at_once_the_pauses_are_short_again),
        UNIT_TURNS_TEST(one_that_fails_has_a_pause_of_its_own),
        UNIT_TURNS_TEST(a_refusal_is_a_loss_at_once),
        UNIT_TURNS_TEST(what_the_user_finds_out_is_told_as_well),
        UNIT_TURNS_TEST(a_probe_revives_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
