/* Combined stores: what is left in flight when an outcome is certain, and what comes behind it. */
#include "puppet_store.h"

#define MS LATCH_NS_PER_MS

/* Held, while the third one has not answered. */
static latch_lease *lease_with_a_slow_part(void)
{
    latch_lease *lease = puppet_lease("r");

    puppets[2].late = true;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    return lease;
}

/* ---- Requests that fail */

static void a_renewal_that_is_refused_waits_for_nobody(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].late = true;
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_REFRESH)), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
}

static void a_renewal_that_fails_takes_back_what_a_slow_member_was_asked(void **state)
{
    latch_lease *lease = lease_with_a_slow_part();

    (void) state;
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_CONFLICT);
    assert_int_equal(puppets[2].last, LATCH_RELEASE);
    assert_int_equal(puppet_count_held(), 0);
    assert_null(puppet_part(lease, 2)->detached);
}

static void a_cancel_waits_for_no_release(void **state)
{
    (void) state;
    for (int cut_off = 0; cut_off < 2; cut_off++) {
        latch_lease *lease = puppet_lease("r");
        latch_op op;

        puppet_speak(0);
        puppets[1].late = puppets[2].late = true;
        assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
        puppets[0].late = true;
        puppets[0].is_cut_off = cut_off == 1;
        assert_int_equal(latch_op_cancel(&op, unit.now_ns), LATCH_CONFLICT);
        assert_int_equal(puppets[0].last, LATCH_RELEASE);
        assert_int_equal(puppet_part(lease, 0)->detached != NULL, cut_off);
        assert_int_equal(puppet_count_held(), 0);
    }
}

static void the_way_back_of_a_promotion_is_awaited(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    for (int fails = 0; fails < 2; fails++) {
        latch_op op;

        puppets[0].answer = PUPPET_YES;
        puppets[2].late = true;
        assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
        puppets[0].late = true;
        puppet_speak(2);
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
        puppets[0].answer = fails ? PUPPET_FAILS : PUPPET_YES;
        puppet_speak(0);
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
        assert_int_equal(latch_lease_vote(lease, 0).status, LATCH_DONE); /* to the promotion */
        assert_int_equal(puppet_part(lease, 0)->mode, fails ? LATCH_EXCLUSIVE : LATCH_SHARED);
        assert_int_equal(lease->mode, LATCH_SHARED);
        assert_true(unit_held(lease));
    }
}

static void a_promotion_that_is_refused_is_called_off_where_it_is_slow(void **state)
{
    latch_lease *lease = puppet_lease("r"), *slow = puppet_part(lease, 0);

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    puppets[0].late = true;
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    puppet_speak(0);
    assert_int_equal(puppet_run(slow, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(slow->mode, LATCH_SHARED);
}

static void a_grant_at_the_last_moment_counts(void **state)
{
    latch_request waiting = unit_waiting(LATCH_ACQUIRE, 100);
    latch_lease *lease;
    latch_op op;

    (void) state;
    waiting.ttl_ms = PUPPET_TTL_MS;
    puppets[2].late = puppets[2].is_clingy = true; /* so that the others' grants do not end it */
    lease = puppet_lease("r");
    assert_int_equal(unit_begin(&op, lease, waiting), LATCH_WANT_IO);
    unit.now_ns += 100 * MS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_true(unit_held(lease));
}

/* ---- Who comes behind */

static void a_release_that_nobody_awaits_waits_for_no_connection(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_request release = puppet_request(LATCH_RELEASE);
    latch_op op;

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    for (size_t at = 0; at < 3; at++) {
        puppets[at].late = puppets[at].is_cut_off = true;
    }
    release.detach = true;
    assert_int_equal(unit_begin(&op, lease, release), LATCH_DONE);
    assert_false(unit_held(lease));
    for (size_t at = 0; at < 3; at++) {
        latch_lease_drop(puppet_part(lease, at)); /* and it is the stores' to send */
    }
    assert_int_equal(puppet_count_held(), 0);
}

static void nothing_is_sent_behind_an_acquire_before_its_end(void **state)
{
    latch_lease *lease = lease_with_a_slow_part();

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 1);
    puppet_speak(2);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 2);
}

static void a_wait_behind_what_was_left_ends_in_time(void **state)
{
    latch_lease *part = puppet_part(lease_with_a_slow_part(), 2);
    latch_request waiting = unit_waiting(LATCH_ACQUIRE, 100);
    const int64_t end_ns = unit.now_ns + 100 * MS;
    latch_op op;

    (void) state;
    waiting.ttl_ms = PUPPET_TTL_MS;
    assert_int_equal(unit_begin(&op, part, waiting), LATCH_WANT_IO);
    assert_int_equal(op.wake_ns, end_ns);
    unit.now_ns = end_ns - 1;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    assert_int_equal(op.wake_ns, end_ns);
    unit.now_ns = end_ns;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
    assert_int_equal(puppets[2].requests, 1);
    assert_true(part->busy); /* with what was left */
}

static void a_wait_behind_what_was_left_can_be_given_up(void **state)
{
    latch_lease *part = puppet_part(lease_with_a_slow_part(), 2);
    latch_op op;

    (void) state;
    assert_int_equal(unit_begin(&op, part, unit_waiting(LATCH_ACQUIRE, 1000)), LATCH_WANT_IO);
    assert_int_equal(latch_op_cancel(&op, unit.now_ns), LATCH_CONFLICT);
    assert_true(part->busy);
    puppet_speak(2);
    assert_int_equal(puppet_run(part, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_held(part));
}

static void who_waits_behind_what_a_release_has_ended_begins_once(void **state)
{
    latch_lease *part = puppet_part(lease_with_a_slow_part(), 2);
    latch_op op;

    (void) state;
    assert_int_equal(unit_begin(&op, part, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    assert_int_equal(puppet_run(part, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 3);
    assert_true(unit_held(part));
}

static void what_was_left_does_not_need_the_lease_that_it_was_asked_for(void **state)
{
    latch_lease *lease = lease_with_a_slow_part();

    (void) state;
    latch_lease_drop(lease);
    puppets[2].answer = PUPPET_FAILS;
    puppet_speak(2);
    assert_int_equal(puppet_run(puppet_part(lease, 2), LATCH_PROBE), LATCH_ERROR_STORE);
}

/* Releases the lease; the third one's answer is still to come. */
static latch_lease *part_that_is_being_released(void)
{
    latch_lease *lease = puppet_lease("r");

    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[2].late = true;
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    puppet_speak(2);
    assert_int_equal(puppets[2].requests, 2);
    return puppet_part(lease, 2);
}

static void a_release_that_was_left_goes_on_with_the_next_one(void **state)
{
    latch_lease *part = part_that_is_being_released();

    (void) state;
    puppets[2].answer = PUPPET_FAILS;
    memset(&unit.error, 0, sizeof(unit.error));
    assert_int_equal(puppet_run(part, LATCH_RELEASE), LATCH_ERROR_STORE);
    assert_string_equal(unit.error.message, "as the puppet says");
    assert_int_equal(puppets[2].requests, 2);
}

static void a_release_of_another_process_is_not_gone_on_with(void **state)
{
    latch_lease *part = part_that_is_being_released();

    (void) state;
    unit.engine->generation++; /* as in a forked child */
    assert_int_equal(puppet_run(part, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 3);
}

/* ---- Who lets others wait in vain */

static void who_failed_unheard_after_a_while_is_left_out_until_it_answers(void **state)
{
    latch_lease *lease = lease_with_a_slow_part();
    const latch_store *slow = &puppets[2].store;
    int64_t until_ns;

    (void) state;
    puppets[2].answer = PUPPET_FAILS;
    unit.now_ns += 1000 * MS;
    puppet_speak(2);
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    until_ns = slow->breaker.open_until_ns;
    assert_true(until_ns > unit.now_ns);
    unit.now_ns = until_ns - 1;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 2);
    assert_int_equal(slow->breaker.open_until_ns, until_ns); /* as it was not asked */
    unit.now_ns = until_ns;
    puppets[2].answer = PUPPET_YES;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 3);
    assert_int_equal(slow->breaker.pause_ns, 0); /* the next time it will be for a short while again */
}

static void who_failed_unheard_at_once_is_asked_again(void **state)
{
    latch_lease *lease = lease_with_a_slow_part();

    (void) state;
    puppets[2].answer = PUPPET_FAILS;
    puppet_speak(2);
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(puppets[2].store.breaker.open_until_ns, 0);
    assert_int_equal(puppets[2].requests, 2);
}

static void who_was_never_asked_is_not_given_back_to_however_often_it_is_acquired(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[2].store.breaker.open_until_ns = unit.now_ns + LATCH_NS_PER_S;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 0);
}

static void who_has_granted_is_given_back_to_though_it_was_left_out_since(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[2].store.breaker.open_until_ns = unit.now_ns + LATCH_NS_PER_S;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 1);
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(a_renewal_that_is_refused_waits_for_nobody, three),
        PUPPET_TEST(a_renewal_that_fails_takes_back_what_a_slow_member_was_asked, three),
        PUPPET_TEST(a_cancel_waits_for_no_release, three),
        PUPPET_TEST(the_way_back_of_a_promotion_is_awaited, three),
        PUPPET_TEST(a_promotion_that_is_refused_is_called_off_where_it_is_slow, three),
        PUPPET_TEST(a_grant_at_the_last_moment_counts, three),
        PUPPET_TEST(a_release_that_nobody_awaits_waits_for_no_connection, three),
        PUPPET_TEST(nothing_is_sent_behind_an_acquire_before_its_end, three),
        PUPPET_TEST(a_wait_behind_what_was_left_ends_in_time, three),
        PUPPET_TEST(a_wait_behind_what_was_left_can_be_given_up, three),
        PUPPET_TEST(who_waits_behind_what_a_release_has_ended_begins_once, three),
        PUPPET_TEST(what_was_left_does_not_need_the_lease_that_it_was_asked_for, three),
        PUPPET_TEST(a_release_that_was_left_goes_on_with_the_next_one, three),
        PUPPET_TEST(a_release_of_another_process_is_not_gone_on_with, three),
        PUPPET_TEST(who_failed_unheard_after_a_while_is_left_out_until_it_answers, three),
        PUPPET_TEST(who_failed_unheard_at_once_is_asked_again, three),
        PUPPET_TEST(who_was_never_asked_is_not_given_back_to_however_often_it_is_acquired, three),
        PUPPET_TEST(who_has_granted_is_given_back_to_though_it_was_left_out_since, three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
