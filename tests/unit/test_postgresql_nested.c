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

int main(void)
{
    const struct CMUnitTest tests[] = {
        NESTED_TEST(a_grant_that_another_operation_has_read_counts_once),
        NESTED_TEST(a_grant_that_another_operation_has_read_is_given_back_by_a_cancel),
        NESTED_TEST(a_grant_that_another_operation_has_read_is_lost_with_the_session),
        NESTED_TEST(a_wait_that_is_interrupted_takes_nothing_from_who_interrupts),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
