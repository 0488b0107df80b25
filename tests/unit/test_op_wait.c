/* Operations that wait: polls, deadlines, and the grant that comes at the last moment. */
#include "scripted_store.h"

#define MS LATCH_NS_PER_MS

/* Deadline of the next tests: 8 ms from now, between the first poll and the second. */
static latch_request waits_8_ms(void)
{
    return unit_waiting(LATCH_ACQUIRE, 8);
}

/* ---- Polls ---------------------------------------------------------------------------------- */

static void polls_pause_for(const int64_t pauses_ms[8])
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_TIMER);
    for (size_t at = 0; at < 8; at++) {
        assert_in_range(op.wake_ns - unit.now_ns, pauses_ms[at] * MS / 10 * 9,
                        pauses_ms[at] * MS / 10 * 11);
        unit.now_ns = op.wake_ns;
        SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_TIMER);
    }
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(latch_op_step(&op, op.wake_ns), LATCH_DONE);
}

static void polls_back_off_from_5_to_100_ms(void **state)
{
    (void) state;
    polls_pause_for((const int64_t[8]){5, 10, 20, 40, 80, 100, 100, 100});
}

static void polls_pause_for_no_longer_than_the_store_says(void **state)
{
    (void) state;
    scripted_limit_pauses(25);
    polls_pause_for((const int64_t[8]){5, 10, 20, 25, 25, 25, 25, 25});
}

static void says_nothing(const latch_op *op, int64_t now_ns)
{
    (void) op;
    (void) now_ns;
}

/* The caller's error has not been written to by then. */
static void a_refusal_that_nobody_explains_has_a_message_all_the_same(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_status status;
    latch_op op;

    (void) state;
    scripted_describe_outages(says_nothing);
    memset(&unit.error, 0x7f, sizeof(unit.error));
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    status = unit_begin(&op, lease, waits_8_ms());
    while (latch_wants(status)) {
        unit.now_ns = op.wake_ns;
        SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
        status = latch_op_step(&op, unit.now_ns);
    }
    assert_int_equal(status, LATCH_ERROR_STORE);
    assert_string_equal(unit.error.message,
                        "it has not been told in time whether the lock is free");
    assert_false(lease->busy);
}

static int64_t first_pause_ns(const void *random)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    unit_script_random(random, 2);
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_TIMER);
    return op.wake_ns - unit.now_ns;
}

static void polls_are_spread_by_ten_percent_both_ways(void **state)
{
    (void) state;
    assert_int_equal(first_pause_ns("\x00\x00"), 5 * MS / 10 * 9);
    assert_int_equal(first_pause_ns("\xff\xff"), 5 * MS / 10 * 11);
    assert_in_range(first_pause_ns("\x80\x80"), 5 * MS - MS / 50, 5 * MS + MS / 50);
}

static void polls_go_on_without_a_random_source(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    unit.random_broken = true;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_TIMER);
    assert_in_range(op.wake_ns - unit.now_ns, 5 * MS / 10 * 9, 5 * MS / 10 * 11);
}

static void only_acquires_are_polled(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_REFRESH; kind <= LATCH_PROBE; kind++) {
        latch_lease *lease = unit_lease("r");
        const scripted_line lines[] = {BEGIN(kind, LATCH_CONFLICT)};

        scripted_play(lines, 1);
        assert_int_equal(unit_run_waiting(lease, kind, LATCH_NEVER), LATCH_CONFLICT);
    }
}

static void a_wait_in_the_store_may_turn_into_polls_and_back(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_CONFLICT),
           BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_TIMER);
    assert_int_equal(latch_op_step(&op, op.wake_ns), LATCH_WANT_IO);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
}

/* ---- Deadlines ------------------------------------------------------------------------------ */

static void polls_end_in_a_conflict_exactly_at_the_deadline(void **state)
{
    latch_lease *lease = unit_lease("r");
    const latch_request request = waits_8_ms();
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT), BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT),
           BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_TIMER);
    unit.now_ns = op.wake_ns;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_TIMER);
    assert_int_equal(op.wake_ns, request.deadline_ns); /* not the 10 ms of the second pause */
    unit.now_ns = op.wake_ns;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
    assert_false(lease->busy);
    assert_int_equal(lease->mode, LATCH_FREE);
}

static void the_last_poll_at_the_deadline_may_still_be_granted(void **state)
{
    latch_lease *lease = unit_lease("r");
    const latch_request request = waits_8_ms();
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT), BEGIN(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_TIMER);
    unit.now_ns = request.deadline_ns;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_true(unit_held(lease));
}

static void a_deadline_that_has_come_already_allows_one_attempt(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT), BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT),
           BEGIN(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, 0), LATCH_CONFLICT);
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, -1000), LATCH_CONFLICT);
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, 0), LATCH_DONE);
}

static void a_wait_in_the_store_is_cancelled_at_the_deadline(void **state)
{
    latch_lease *lease = unit_lease("r");
    const latch_request request = waits_8_ms();
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_WANT_IO));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_IO);
    assert_int_equal(op.wake_ns, request.deadline_ns);
    unit.now_ns = request.deadline_ns - 1;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    assert_int_equal(op.wake_ns, request.deadline_ns);
    unit.now_ns = request.deadline_ns;
    SCRIPT(STEP(LATCH_ACQUIRE, LATCH_WANT_IO), CANCEL(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_FREE);
    assert_false(lease->busy);
}

static void a_wait_of_the_store_for_a_timer_ends_at_the_deadline_too(void **state)
{
    latch_lease *lease = unit_lease("r");
    const latch_request request = waits_8_ms();
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_TIMER, .idle = true, .wake_ns = unit.now_ns + 50 * MS),
           BEGIN(LATCH_ACQUIRE, LATCH_WANT_TIMER, .idle = true, .wake_ns = unit.now_ns + 99 * MS));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_TIMER);
    assert_int_equal(op.wake_ns, request.deadline_ns);
    unit.now_ns = op.wake_ns;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
}

static void a_grant_that_crosses_the_deadline_counts(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_WANT_IO),
           CANCEL(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, waits_8_ms()), LATCH_WANT_IO);
    unit.now_ns += 8 * MS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_true(unit_held(lease));

    lease = unit_lease("r");
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, waits_8_ms()), LATCH_WANT_IO);
    unit.now_ns += 1000 * MS; /* the driver was late; no cancel is needed */
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
}

static void a_cancel_at_the_deadline_may_take_several_steps(void **state)
{
    static const latch_status ends[] = {LATCH_CONFLICT, LATCH_DONE, LATCH_ERROR_SYSTEM};

    (void) state;
    for (size_t at = 0; at < sizeof(ends) / sizeof(ends[0]); at++) {
        latch_lease *lease = unit_lease("r");
        const scripted_line last[] = {STEP(LATCH_ACQUIRE, ends[at])};
        latch_op op;

        SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_WANT_IO),
               CANCEL(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_WANT_IO));
        assert_int_equal(unit_begin(&op, lease, waits_8_ms()), LATCH_WANT_IO);
        unit.now_ns += 9 * MS;
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
        assert_int_equal(op.wake_ns, LATCH_NEVER); /* the deadline is behind: no busy loop */
        assert_true(lease->busy);
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
        scripted_play(last, 1);
        assert_int_equal(latch_op_step(&op, unit.now_ns), ends[at]);
        assert_int_equal(lease->mode, ends[at] == LATCH_DONE ? LATCH_EXCLUSIVE : LATCH_FREE);
        assert_false(lease->busy);
    }
}

static void an_operation_may_be_moved_between_its_steps(void **state)
{
    latch_lease *lease = unit_lease("r");
    const latch_request request = waits_8_ms();
    latch_op places[4];

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT), BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO),
           STEP(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&places[0], lease, request), LATCH_WANT_TIMER);
    for (int at = 0; at < 3; at++) {
        memcpy(&places[at + 1], &places[at], sizeof(latch_op));
        memset(&places[at], 0xff, sizeof(latch_op));
        assert_int_equal(latch_op_step(&places[at + 1], unit.now_ns),
                         at < 2 ? LATCH_WANT_IO : LATCH_DONE);
    }
    assert_true(unit_held(lease));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPTED_TEST(polls_back_off_from_5_to_100_ms),
        SCRIPTED_TEST(polls_pause_for_no_longer_than_the_store_says),
        SCRIPTED_TEST(a_refusal_that_nobody_explains_has_a_message_all_the_same),
        SCRIPTED_TEST(polls_are_spread_by_ten_percent_both_ways),
        SCRIPTED_TEST(polls_go_on_without_a_random_source),
        SCRIPTED_TEST(only_acquires_are_polled),
        SCRIPTED_TEST(a_wait_in_the_store_may_turn_into_polls_and_back),
        SCRIPTED_TEST(polls_end_in_a_conflict_exactly_at_the_deadline),
        SCRIPTED_TEST(the_last_poll_at_the_deadline_may_still_be_granted),
        SCRIPTED_TEST(a_deadline_that_has_come_already_allows_one_attempt),
        SCRIPTED_TEST(a_wait_in_the_store_is_cancelled_at_the_deadline),
        SCRIPTED_TEST(a_wait_of_the_store_for_a_timer_ends_at_the_deadline_too),
        SCRIPTED_TEST(a_grant_that_crosses_the_deadline_counts),
        SCRIPTED_TEST(a_cancel_at_the_deadline_may_take_several_steps),
        SCRIPTED_TEST(an_operation_may_be_moved_between_its_steps),
    };

    return cmocka_run_group_tests_name("op: waits", tests, NULL, NULL);
}
