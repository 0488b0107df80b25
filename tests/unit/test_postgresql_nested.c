/*
 * Several operations at a time in one session with PostgreSQL: a signal handler that uses the store
 * while the script waits.
 */
#include "postgresql_store.h"

static latch_lease *holder, *waiter;
static latch_op op;
static latch_status status;

static int setup(void **state)
{
    if (postgresql_store_setup(state) != 0) {
        return -1;
    }
    holder = postgresql_other_lease("r");
    waiter = postgresql_lease("r");
    return 0;
}

#define NESTED_TEST(test) cmocka_unit_test_setup_teardown(test, setup, postgresql_store_teardown)

/* The waiter's wait is in the server's queue. */
static void begin_wait(void)
{
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
}

/* The waiter is granted the lock, and the answer is read by another operation. */
static void be_granted_unnoticed(void)
{
    begin_wait();
    unit_release(holder);
    unit_await_grant(&op);
    assert_int_equal(unit_run(postgresql_lease("inner"), LATCH_ACQUIRE), LATCH_DONE);
}

/* The signal handler has returned: what was polled for may have been read by it. */
static latch_status step_on(void)
{
    return unit_finish(&op, latch_op_step(&op, unit_now_ns()));
}

static void a_grant_that_another_operation_has_read_counts_once(void **state)
{
    (void) state;
    be_granted_unnoticed();
    assert_int_equal(unit_run(postgresql_lease("r"), LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(postgresql_lease("r"), LATCH_ACQUIRE_SHARED), LATCH_CONFLICT);
    assert_int_equal(step_on(), LATCH_DONE);
    assert_true(unit_held(waiter));
    unit_release(waiter);
    assert_int_equal(unit_postgresql_count_held(), 1);
}

static void a_grant_that_another_operation_has_read_is_given_back_by_a_cancel(void **state)
{
    (void) state;
    be_granted_unnoticed();
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_false(unit_held(waiter));
    unit_postgresql_await_held(1);
}

static void a_grant_that_another_operation_has_read_is_lost_with_the_session(void **state)
{
    latch_lease *inner = postgresql_lease("s");

    (void) state;
    be_granted_unnoticed();
    unit_postgresql_end_sessions();
    assert_int_equal(unit_run(inner, LATCH_ACQUIRE), LATCH_DONE); /* in the next session */
    assert_int_equal(step_on(), LATCH_DONE);                      /* it has waited again */
    assert_true(unit_held(waiter) && unit_held(inner));
    assert_int_equal(unit_postgresql_count_held(), 2);
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void a_wait_that_is_interrupted_takes_nothing_from_who_interrupts(void **state)
{
    latch_lease *inner = postgresql_lease("r");

    (void) state;
    begin_wait();
    assert_int_equal(unit_run(inner, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(inner, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(unit_run(postgresql_lease("inner"), LATCH_ACQUIRE), LATCH_DONE);
    unit_release(holder);
    assert_int_equal(unit_run(inner, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(step_on(), LATCH_ERROR_DEADLOCK); /* only we could release it */
    assert_int_equal(unit_run(inner, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_CONFLICT);
}

/* Interrupts what waits in the session, by a wait that the server has queued at the return. */
static void begin_nested_wait(latch_op *nested, latch_lease *lease, latch_op_kind kind)
{
    latch_status nested_status = unit_begin(nested, lease, unit_waiting(kind, LATCH_NEVER));

    while (unit_postgresql_number("SELECT count(*) FROM pg_locks WHERE NOT granted AND objid = %u",
                                  postgresql_number_of(lease->resource))
           == 0) {
        assert_true(latch_wants(nested_status));
        if (unit_is_due(nested, nested_status)) {
            nested_status = latch_op_step(nested, unit_now_ns());
        }
    }
}

static void waits_are_nested_three_deep(void **state)
{
    latch_lease *second_holder = postgresql_other_lease("s"), *second = postgresql_lease("s"),
                *third_holder = postgresql_other_lease("t"), *third = postgresql_lease("t");
    latch_op second_op, third_op;

    (void) state;
    assert_int_equal(unit_run(second_holder, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(third_holder, LATCH_ACQUIRE), LATCH_DONE);
    begin_wait();
    begin_nested_wait(&second_op, second, LATCH_ACQUIRE);
    begin_nested_wait(&third_op, third, LATCH_ACQUIRE_SHARED);
    unit_release(holder);
    unit_release(second_holder);
    unit_release(third_holder);
    assert_int_equal(unit_finish(&third_op, latch_op_step(&third_op, unit_now_ns())), LATCH_DONE);
    assert_int_equal(unit_finish(&second_op, latch_op_step(&second_op, unit_now_ns())), LATCH_DONE);
    assert_int_equal(step_on(), LATCH_DONE);
    assert_int_equal(unit_postgresql_count_held(), 3);
    unit_release(second);
    unit_release(waiter);
    unit_release(third);
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void a_wait_that_was_interrupted_once_can_be_cancelled_by_an_administrator(void **state)
{
    (void) state;
    begin_wait();
    assert_int_equal(unit_run(postgresql_lease("inner"), LATCH_ACQUIRE), LATCH_DONE);
    status = latch_op_step(&op, unit_now_ns());
    while (unit_postgresql_count_waiting() == 0) {
        assert_true(latch_wants(status));
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
    }
    unit_postgresql_run("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted");
    assert_true(postgresql_failed(unit_finish(&op, status), "cancelled by PostgreSQL at"));
}

/* A signal handler that throws ends the wait which it has interrupted. */
static void a_wait_that_is_interrupted_and_cancelled_leaves_nothing_behind(void **state)
{
    latch_lease *inner = postgresql_lease("inner");

    (void) state;
    begin_wait();
    assert_int_equal(unit_run(inner, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_int_equal(unit_postgresql_count_waiting(), 0);
    unit_release(holder);
    assert_int_equal(unit_postgresql_count_held(), 1);
    assert_int_equal(unit_run(waiter, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_promotion_that_is_interrupted_goes_on_and_its_reader_reads_meanwhile(void **state)
{
    latch_lease *inner = postgresql_lease("inner"), *second = postgresql_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(waiter, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    status = postgresql_begin_wait(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    assert_int_equal(unit_run(inner, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_postgresql_count_held(), 3);
    assert_int_equal(unit_run(second, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_true(unit_held(waiter));
    unit_release(holder);
    assert_int_equal(step_on(), LATCH_DONE);
    assert_int_equal(waiter->mode, LATCH_EXCLUSIVE);
    unit_release(waiter);
    assert_int_equal(unit_postgresql_count_held(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NESTED_TEST(a_grant_that_another_operation_has_read_counts_once),
        NESTED_TEST(a_grant_that_another_operation_has_read_is_given_back_by_a_cancel),
        NESTED_TEST(a_grant_that_another_operation_has_read_is_lost_with_the_session),
        NESTED_TEST(a_wait_that_is_interrupted_takes_nothing_from_who_interrupts),
        NESTED_TEST(a_wait_that_was_interrupted_once_can_be_cancelled_by_an_administrator),
        NESTED_TEST(a_wait_that_is_interrupted_and_cancelled_leaves_nothing_behind),
        NESTED_TEST(a_promotion_that_is_interrupted_goes_on_and_its_reader_reads_meanwhile),
        NESTED_TEST(waits_are_nested_three_deep),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
