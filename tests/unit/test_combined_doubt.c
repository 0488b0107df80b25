/*
 * Combined stores whose acquire ends at its deadline: in a conflict if enough members say that
 * others hold the lock, else in an error, since nobody is known to hold it.
 */
#include "puppet_store.h"

#define MS LATCH_NS_PER_MS

static latch_request waiting(int64_t timeout_ms)
{
    latch_request request = unit_waiting(LATCH_ACQUIRE, timeout_ms);

    request.ttl_ms = PUPPET_TTL_MS;
    return request;
}

/* What nobody says is awaited until the operation's own time. */
static latch_status finish(latch_op *op, latch_status status)
{
    while (latch_wants(status)) {
        assert_true(op->wake_ns > unit.now_ns && op->wake_ns < LATCH_NEVER);
        unit.now_ns = op->wake_ns;
        status = latch_op_step(op, unit.now_ns);
    }
    return status;
}

static latch_status run_waiting(latch_lease *lease, int64_t timeout_ms)
{
    latch_op op;

    return finish(&op, unit_begin(&op, lease, waiting(timeout_ms)));
}

static void expect_failed(latch_status status, const char *message)
{
    assert_int_equal(status, LATCH_ERROR_STORE);
    assert_string_equal(unit.error.message, message);
    assert_int_equal(puppet_count_held(), 0);
}

static void members_that_are_silent_hold_nothing(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].late = puppets[1].late = puppets[2].late = true;
    expect_failed(run_waiting(lease, 1000), "too few of its stores have answered");
    assert_false(unit_held(lease));
}

static void members_that_fail_hold_nothing(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].answer = puppets[1].answer = PUPPET_FAILS;
    expect_failed(run_waiting(lease, 1000), "as the puppet says");
    assert_true(puppets[0].requests > 2); /* it was tried again and again */
    puppets[2].answer = PUPPET_NO;
    expect_failed(run_waiting(lease, 1000), "as the puppet says");
    expect_failed(run_waiting(lease, 0), "as the puppet says");
    /* Without a deadline it is as Symfony has it. */
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void refusals_that_decide_are_a_conflict(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].answer = PUPPET_FAILS;
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    assert_int_equal(run_waiting(lease, 1000), LATCH_CONFLICT);
    assert_int_equal(run_waiting(lease, 0), LATCH_CONFLICT);
}

static void one_refusal_decides_where_all_are_needed(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].answer = puppets[1].answer = PUPPET_FAILS;
    puppets[2].answer = PUPPET_NO;
    assert_int_equal(run_waiting(lease, 0), LATCH_CONFLICT);
}

/* It has decided that the lock is not to be had, but not whether somebody has it. */
static void after_a_failure_a_refusal_is_awaited(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    puppets[0].answer = PUPPET_FAILS;
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    puppets[1].late = puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, waiting(0)), LATCH_WANT_IO);
    puppet_speak(1);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    unit.now_ns += 20 * MS;
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
}

static void a_refusal_is_not_awaited_for_long(void **state)
{
    latch_lease *lease = puppet_lease("r");
    int64_t begun_ns = unit.now_ns;

    (void) state;
    puppets[0].answer = PUPPET_FAILS;
    puppets[1].answer = PUPPET_NO;
    puppets[2].late = true;
    expect_failed(run_waiting(lease, 0), "as the puppet says");
    assert_int_equal(unit.now_ns, begun_ns + 50 * MS);
}

static void what_was_known_once_is_known_at_the_deadline(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;
    latch_status status;

    (void) state;
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    status = unit_begin(&op, lease, waiting(1000));
    assert_int_equal(status, LATCH_WANT_TIMER);
    puppets[0].late = puppets[1].late = puppets[2].late = true;
    assert_int_equal(finish(&op, status), LATCH_CONFLICT);
}

/* Else a wait that is shorter than a round trip would be an outage. */
static void a_first_answer_is_awaited_for_a_moment_however_short_the_wait(void **state)
{
    static const puppet_answer answers[] = {PUPPET_NO, PUPPET_YES};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        latch_lease *lease = puppet_lease("r");
        latch_op op;

        for (size_t puppet = 0; puppet < 3; puppet++) {
            puppets[puppet].late = true;
            puppets[puppet].answer = answers[at];
        }
        assert_int_equal(unit_begin(&op, lease, waiting(1)), LATCH_WANT_IO);
        unit.now_ns += 499 * MS;
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
        assert_true(op.wake_ns == unit.now_ns + MS);
        for (size_t puppet = 0; puppet < 3; puppet++) {
            puppet_speak(puppet);
        }
        assert_int_equal(latch_op_step(&op, unit.now_ns), at == 0 ? LATCH_CONFLICT : LATCH_DONE);
        unit_release(lease);
    }
}

static void a_first_answer_is_not_awaited_for_longer(void **state)
{
    latch_lease *lease = puppet_lease("r");
    int64_t begun_ns = unit.now_ns;

    (void) state;
    puppets[0].late = puppets[1].late = puppets[2].late = true;
    expect_failed(run_waiting(lease, 1), "too few of its stores have answered");
    assert_int_equal(unit.now_ns, begun_ns + 500 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(members_that_are_silent_hold_nothing, three),
        PUPPET_TEST(members_that_fail_hold_nothing, three),
        PUPPET_TEST(refusals_that_decide_are_a_conflict, three),
        PUPPET_TEST(one_refusal_decides_where_all_are_needed, all_of_three),
        PUPPET_TEST(after_a_failure_a_refusal_is_awaited, three),
        PUPPET_TEST(a_refusal_is_not_awaited_for_long, three),
        PUPPET_TEST(what_was_known_once_is_known_at_the_deadline, three),
        PUPPET_TEST(a_first_answer_is_awaited_for_a_moment_however_short_the_wait, three),
        PUPPET_TEST(a_first_answer_is_not_awaited_for_longer, three),
    };

    return cmocka_run_group_tests_name("combined, in doubt", tests, NULL, NULL);
}
