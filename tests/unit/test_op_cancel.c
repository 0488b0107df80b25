/* Operations that are given up: nothing stays taken, whatever crossed the cancel. */
#include "scripted_store.h"

#define MS LATCH_NS_PER_MS

static latch_op op;

/* Begins a wait on a lease that has `mode`; the store answers LATCH_WANT_IO. */
static void begin_wait(latch_mode mode, latch_op_kind kind)
{
    latch_lease *lease = unit_lease("r");
    const scripted_line lines[] = {BEGIN(kind, LATCH_WANT_IO)};

    lease->mode = (uint8_t) mode;
    scripted_play(lines, 1);
    assert_int_equal(unit_begin(&op, lease, unit_waiting(kind, LATCH_NEVER)), LATCH_WANT_IO);
}

static latch_status cancel(void)
{
    return latch_op_cancel(&op, unit.now_ns);
}

static latch_status step(void)
{
    return latch_op_step(&op, unit.now_ns);
}

static void a_cancel_between_two_polls_asks_the_store_nothing(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    lease->mode = LATCH_SHARED;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_TIMER);
    assert_int_equal(cancel(), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_false(lease->busy);
}

static void a_cancel_in_flight_is_passed_on_to_the_store(void **state)
{
    (void) state;
    begin_wait(LATCH_FREE, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(cancel(), LATCH_CONFLICT);
    assert_int_equal(op.lease->mode, LATCH_FREE);
    assert_false(op.lease->busy);
    assert_null(op.state);
}

static void a_cancelled_conflict_is_not_polled_again(void **state)
{
    (void) state;
    begin_wait(LATCH_FREE, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(cancel(), LATCH_WANT_IO);
    assert_int_equal(step(), LATCH_CONFLICT);
}

static void a_cancel_may_take_several_steps(void **state)
{
    (void) state;
    begin_wait(LATCH_FREE, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_WANT_IO),
           STEP(LATCH_ACQUIRE, LATCH_WANT_TIMER, .wake_ns = unit.now_ns + 5),
           STEP(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(cancel(), LATCH_WANT_IO);
    assert_true(op.lease->busy);
    assert_int_equal(step(), LATCH_WANT_IO);
    assert_int_equal(cancel(), LATCH_WANT_TIMER); /* a second cancel is a step */
    assert_int_equal(op.wake_ns, unit.now_ns + 5);
    assert_int_equal(step(), LATCH_CONFLICT);
    assert_false(op.lease->busy);
}

static void a_cancel_outlives_the_deadline_of_the_wait(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), CANCEL(LATCH_ACQUIRE, LATCH_WANT_IO),
           STEP(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, 10)), LATCH_WANT_IO);
    assert_int_equal(cancel(), LATCH_WANT_IO);
    unit.now_ns += 20 * MS;
    assert_int_equal(step(), LATCH_WANT_IO); /* no second cancel of the store */
    assert_int_equal(step(), LATCH_CONFLICT);
}

static void a_grant_that_crosses_the_cancel_is_released(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        const scripted_line lines[] = {CANCEL(kinds[at], LATCH_DONE, .fencing = 9),
                                       BEGIN(LATCH_RELEASE, LATCH_DONE)};

        begin_wait(LATCH_FREE, kinds[at]);
        scripted_play(lines, 2);
        assert_int_equal(cancel(), LATCH_CONFLICT);
        assert_int_equal(op.lease->mode, LATCH_FREE);
        assert_int_equal(op.lease->fencing_token, 0);
        assert_false(op.lease->busy);
    }
}

static void a_promotion_that_crosses_the_cancel_is_taken_back(void **state)
{
    (void) state;
    begin_wait(LATCH_SHARED, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_DONE, .fencing = 9),
           BEGIN(LATCH_ACQUIRE_SHARED, LATCH_DONE));
    assert_int_equal(cancel(), LATCH_CONFLICT);
    assert_int_equal(op.lease->mode, LATCH_SHARED);
    assert_int_equal(op.lease->fencing_token, 0);
}

static void a_demotion_that_crosses_the_cancel_stands(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};

    (void) state;
    for (size_t at = 0; at < 2; at++) { /* nobody can promise to make it exclusive again */
        const scripted_line lines[] = {CANCEL(kinds[at], LATCH_DONE)};

        begin_wait(LATCH_EXCLUSIVE, kinds[at]);
        scripted_play(lines, 1);
        assert_int_equal(cancel(), LATCH_DONE);
        assert_int_equal(op.lease->mode, at == 0 ? LATCH_EXCLUSIVE : LATCH_SHARED);
        assert_false(op.lease->busy);
    }
}

static void giving_back_may_take_several_steps(void **state)
{
    (void) state;
    begin_wait(LATCH_FREE, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_DONE),
           BEGIN(LATCH_RELEASE, LATCH_WANT_IO), STEP(LATCH_RELEASE, LATCH_WANT_IO),
           STEP(LATCH_RELEASE, LATCH_DONE));
    assert_int_equal(cancel(), LATCH_WANT_IO);
    assert_int_equal(step(), LATCH_WANT_IO); /* granted: the release is on its way */
    assert_true(op.lease->busy);
    assert_int_equal(cancel(), LATCH_WANT_IO);
    assert_int_equal(step(), LATCH_CONFLICT);
    assert_int_equal(op.lease->mode, LATCH_FREE);
    assert_false(op.lease->busy);
}

static void a_lease_that_had_expired_before_the_wait_is_not_restored(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    lease->mode = LATCH_EXCLUSIVE;
    lease->deadline_ns = unit.now_ns - 1;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), CANCEL(LATCH_ACQUIRE, LATCH_DONE),
           BEGIN(LATCH_RELEASE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    assert_int_equal(cancel(), LATCH_CONFLICT);
    assert_false(unit_held(lease));
}

static void a_grant_that_cannot_be_given_back_stays_recorded_as_held(void **state)
{
    (void) state;
    begin_wait(LATCH_FREE, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_DONE), BEGIN(LATCH_RELEASE, LATCH_ERROR_SYSTEM));
    assert_int_equal(cancel(), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    assert_int_equal(op.lease->mode, LATCH_EXCLUSIVE);
    assert_false(op.lease->busy);
}

static void a_hold_that_was_lost_in_the_cancel_is_reported(void **state)
{
    (void) state;
    begin_wait(LATCH_SHARED, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_ERROR_LOST));
    assert_int_equal(cancel(), LATCH_ERROR_LOST);
    assert_int_equal(op.lease->mode, LATCH_FREE);

    begin_wait(LATCH_SHARED, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_DONE), BEGIN(LATCH_ACQUIRE_SHARED, LATCH_ERROR_LOST));
    assert_int_equal(cancel(), LATCH_ERROR_LOST);
    assert_int_equal(op.lease->mode, LATCH_FREE);
    assert_false(op.lease->busy);
}

static void an_error_of_the_store_ends_a_cancel(void **state)
{
    (void) state;
    begin_wait(LATCH_SHARED, LATCH_ACQUIRE);
    SCRIPT(CANCEL(LATCH_ACQUIRE, LATCH_ERROR_SYSTEM));
    assert_int_equal(cancel(), LATCH_ERROR_SYSTEM);
    assert_int_equal(op.lease->mode, LATCH_SHARED);
    assert_false(op.lease->busy);
}

/* ---- What is no acquire --------------------------------------------------------------------- */

static void a_renewal_a_release_and_a_probe_are_carried_out_to_their_end(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_REFRESH; kind <= LATCH_PROBE; kind++) {
        const scripted_line lines[] = {STEP(kind, LATCH_WANT_IO), STEP(kind, LATCH_CONFLICT)};

        begin_wait(LATCH_EXCLUSIVE, kind);
        scripted_play(lines, 2);
        assert_int_equal(latch_op_cancel(&op, unit.now_ns), LATCH_WANT_IO);
        assert_true(op.lease->busy);
        assert_int_equal(latch_op_cancel(&op, unit.now_ns), LATCH_CONFLICT);
        assert_int_equal(op.lease->mode, LATCH_FREE);
        assert_true(op.lease->lost);
        assert_false(op.lease->busy);
    }
}

static void a_request_that_was_carried_out_before_its_cancel_is_not_undone(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_REFRESH; kind <= LATCH_PROBE; kind++) {
        for (latch_mode mode = LATCH_FREE; mode <= LATCH_EXCLUSIVE; mode++) {
            const scripted_line lines[] = {STEP(kind, LATCH_DONE)};

            begin_wait(mode, kind);
            scripted_play(lines, 1); /* and no acquire or release after it */
            assert_int_equal(cancel(), LATCH_DONE);
            assert_int_equal(op.lease->mode, kind == LATCH_RELEASE ? LATCH_FREE : mode);
            assert_false(op.lease->busy);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPTED_TEST(a_cancel_between_two_polls_asks_the_store_nothing),
        SCRIPTED_TEST(a_cancel_in_flight_is_passed_on_to_the_store),
        SCRIPTED_TEST(a_cancelled_conflict_is_not_polled_again),
        SCRIPTED_TEST(a_cancel_may_take_several_steps),
        SCRIPTED_TEST(a_cancel_outlives_the_deadline_of_the_wait),
        SCRIPTED_TEST(a_grant_that_crosses_the_cancel_is_released),
        SCRIPTED_TEST(a_promotion_that_crosses_the_cancel_is_taken_back),
        SCRIPTED_TEST(a_demotion_that_crosses_the_cancel_stands),
        SCRIPTED_TEST(giving_back_may_take_several_steps),
        SCRIPTED_TEST(a_lease_that_had_expired_before_the_wait_is_not_restored),
        SCRIPTED_TEST(a_grant_that_cannot_be_given_back_stays_recorded_as_held),
        SCRIPTED_TEST(a_hold_that_was_lost_in_the_cancel_is_reported),
        SCRIPTED_TEST(an_error_of_the_store_ends_a_cancel),
        SCRIPTED_TEST(a_renewal_a_release_and_a_probe_are_carried_out_to_their_end),
        SCRIPTED_TEST(a_request_that_was_carried_out_before_its_cancel_is_not_undone),
    };

    return cmocka_run_group_tests_name("op: cancel", tests, NULL, NULL);
}
