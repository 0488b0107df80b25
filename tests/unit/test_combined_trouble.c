/*
 * Combined stores: what is believed of a lock when requests were given up or have failed, when a
 * process was forked meanwhile, and when the members are used without the combined store.
 */
#include "puppet_store.h"

#define MS LATCH_NS_PER_MS
#define TTL INT64_C(10000)

static latch_request request(latch_op_kind kind, int64_t ttl_ms)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = ttl_ms;
    return request;
}

static latch_status run(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms)
{
    return unit_run_request(lease, request(kind, ttl_ms));
}

static int64_t less_drift(int64_t ttl_ms)
{
    return ttl_ms * MS - ttl_ms * MS / 100 - 2 * MS;
}

static int unit_setup_four(void **state)
{
    (void) state;
    return unit_setup_puppets(4, &latch_consensus);
}

/* ---- How long it is held */

static void a_reader_counts_on_no_more_than_a_failed_promotion_has_left(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE_SHARED, TTL), LATCH_DONE);
    puppets[2].answer = puppets[3].answer = PUPPET_NO;
    assert_int_equal(run(lease, LATCH_ACQUIRE, 1000), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_int_equal(lease->deadline_ns, unit.now_ns + less_drift(1000)); /* two are too few */
}

static void a_promotion_that_most_refuse_makes_no_reader_any_poorer(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE_SHARED, TTL), LATCH_DONE);
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    assert_int_equal(run(lease, LATCH_ACQUIRE, 1000), LATCH_CONFLICT);
    assert_int_equal(lease->deadline_ns, unit.now_ns + less_drift(TTL));
}

static void a_lock_that_members_hold_for_less_is_held_for_less(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    assert_int_equal(run(puppet_part(lease, 0), LATCH_REFRESH, 1000), LATCH_DONE);
    unit.now_ns += 1000 * MS;
    assert_true(unit_held(lease));
    assert_int_equal(run(puppet_part(lease, 1), LATCH_REFRESH, 1000), LATCH_DONE);
    unit.now_ns += 1000 * MS - 1;
    assert_true(unit_held(lease));
    unit.now_ns++;
    assert_false(unit_held(lease));
}

/* ---- Waits and cancels */

static void a_wait_that_has_lost_its_hold_relies_on_no_server_that_was_started_lately(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_request waiting = unit_waiting(LATCH_ACQUIRE, 1000);
    latch_status status;
    latch_op op;

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    waiting.ttl_ms = TTL;
    status = unit_begin(&op, lease, waiting);
    assert_int_equal(status, LATCH_WANT_TIMER);
    puppets[0].started_ns = unit.now_ns;
    puppets[1].answer = PUPPET_YES;
    assert_int_equal(unit_finish(&op, status), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
}

static void a_cancel_of_an_acquire_again_leaves_what_was_held(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    puppets[1].late = puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, request(LATCH_ACQUIRE, TTL)), LATCH_WANT_IO);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_true(unit_held(lease) && !lease->lost);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
    assert_int_equal(puppet_count_held(), 3);
}

static void a_cancel_of_a_demotion_leaves_a_reader(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    puppets[1].late = puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, request(LATCH_ACQUIRE_SHARED, TTL)), LATCH_WANT_IO);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_true(unit_held(lease));
    assert_int_equal(lease->mode, LATCH_SHARED); /* the first member lets readers in already */
    assert_int_equal(puppet_count_held(), 3);
}

static void a_cancel_after_which_too_few_hold_it_is_a_loss(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    puppets[2].late = true;
    puppets[0].answer = PUPPET_LOSES;
    puppet_part(lease, 1)->deadline_ns = unit.now_ns;
    puppets[1].late = true;
    assert_int_equal(unit_begin(&op, lease, request(LATCH_ACQUIRE, TTL)), LATCH_WANT_IO);
    assert_int_equal(unit_cancel(&op), LATCH_ERROR_LOST);
    assert_false(unit_held(lease));
    assert_true(lease->lost);
    assert_int_equal(puppet_count_held(), 0);
}

static void who_waits_behind_a_slow_request_waits_no_longer_than_it_may(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    puppets[2].late = true;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    assert_int_equal(unit_begin(&op, puppet_part(lease, 2), unit_waiting(LATCH_ACQUIRE, 100)),
                     LATCH_WANT_IO);
    assert_int_equal(op.wake_ns, unit.now_ns + 100 * MS);
    unit.now_ns = op.wake_ns;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
}

/* ---- Forks, and servers that are silent */

static void a_release_that_was_left_is_its_processs_own(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    puppets[2].late = true;
    assert_int_equal(run(lease, LATCH_RELEASE, 0), LATCH_DONE);
    unit.engine->generation++; /* as in a forked child */
    latch_lease_drop(puppet_part(lease, 2));
    assert_true(puppets[2].is_held); /* the parent brings it about, and the parent alone */
}

static void a_breaker_does_not_close_because_a_release_was_sent(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_request release = unit_request(LATCH_RELEASE);

    (void) state;
    assert_int_equal(run(lease, LATCH_ACQUIRE, TTL), LATCH_DONE);
    latch_breaker_record_timeout(&puppets[2].store.breaker, unit.now_ns, unit.now_ns);
    release.detach = true;
    assert_int_equal(unit_run_request(lease, release), LATCH_DONE);
    assert_int_equal(puppets[2].last, LATCH_RELEASE);
    assert_int_equal(puppets[2].store.breaker.pause_ns, LATCH_NS_PER_S);
}

static void many_that_wait_for_one_answer_are_silent_once(void **state)
{
    latch_store *store = &puppets[2].store;

    (void) state;
    for (int at = 0; at < 10; at++) {
        latch_breaker_record_timeout(&store->breaker, unit.now_ns - MS, unit.now_ns + at);
    }
    assert_int_equal(store->breaker.pause_ns, LATCH_NS_PER_S);
    latch_breaker_record_timeout(&store->breaker, unit.now_ns + MS, unit.now_ns + 2 * MS);
    assert_int_equal(store->breaker.pause_ns, 2 * LATCH_NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(a_reader_counts_on_no_more_than_a_failed_promotion_has_left, four),
        PUPPET_TEST(a_promotion_that_most_refuse_makes_no_reader_any_poorer, three),
        PUPPET_TEST(a_lock_that_members_hold_for_less_is_held_for_less, three),
        PUPPET_TEST(a_wait_that_has_lost_its_hold_relies_on_no_server_that_was_started_lately,
                    three),
        PUPPET_TEST(a_cancel_of_an_acquire_again_leaves_what_was_held, three),
        PUPPET_TEST(a_cancel_of_a_demotion_leaves_a_reader, three),
        PUPPET_TEST(a_cancel_after_which_too_few_hold_it_is_a_loss, three),
        PUPPET_TEST(who_waits_behind_a_slow_request_waits_no_longer_than_it_may, three),
        PUPPET_TEST(a_release_that_was_left_is_its_processs_own, three),
        PUPPET_TEST(a_breaker_does_not_close_because_a_release_was_sent, three),
        PUPPET_TEST(many_that_wait_for_one_answer_are_silent_once, three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
