/* Queues for a lock in a table of PostgreSQL: waits that end, or go on, in another way. */
#include "table_queues.h"

/* ---- Ends of waits -------------------------------------------------------------------------- */

static void a_wait_that_is_cancelled_or_over_leaves_nothing(void **state)
{
    (void) state;
    queue_come_first(LATCH_NEVER);
    queue_come_second(LATCH_NEVER);
    UNIT_CHECK(unit_cancel(&queue.second_op) == LATCH_CONFLICT);
    assert_int_equal(unit_postgresql_count_waiting(), 0);
    UNIT_CHECK(unit_run_request(queue.second, queue_to_wait(30)) == LATCH_CONFLICT);
    assert_int_equal(unit_postgresql_count_waiting(), 0);
    UNIT_CHECK(unit_cancel(&queue.first_op) == LATCH_CONFLICT);
    unit_postgresql_await_held(0);
    UNIT_CHECK(unit_run_request(queue.first, queue_to_wait(30)) == LATCH_CONFLICT);
    unit_postgresql_await_held(0);
    assert_int_equal(table_count("1 = 1"), 1);
    unit_release(queue.holder);
    UNIT_CHECK(table_try(queue.second, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

/* A signal handler uses the store while the script waits. */
static void a_statement_of_a_session_that_waits_comes_first_and_the_wait_goes_on(void **state)
{
    latch_lease *inner = table_lease_in(queue.second->store, "inner");
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_status second_status = queue_come_second(LATCH_NEVER);

    (void) state;
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(table_try(inner, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        unit_release(inner);
        assert_int_equal(unit_postgresql_count_held(), 1);
        second_status = queue_step_until(&queue.second_op, second_status, 1);
    }
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(queue.second);
    unit_postgresql_await_held(0);
}

/* The session is free while its first waiter sleeps. */
static void two_waits_of_one_session_for_one_lock_are_both_served(void **state)
{
    latch_lease *same = table_lease_in(queue.first->store, "r");
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_status second_status = unit_begin(&queue.second_op, same, queue_to_wait(LATCH_NEVER));

    (void) state;
    while (second_status != LATCH_WANT_TIMER) { /* it polls */
        UNIT_CHECK(latch_wants(second_status));
        unit_await_wish(&queue.second_op, second_status, unit_now_ns() + UNIT_TIMEOUT_NS);
        second_status = latch_op_step(&queue.second_op, unit_now_ns());
    }
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(same);
    unit_postgresql_await_held(0);
}

static void a_wait_goes_on_in_a_new_session(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_status second_status = queue_come_second(LATCH_NEVER);

    (void) state;
    unit_postgresql_end_sessions();
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(queue.second);
}

/* Nothing is ever heard from the first one. */
static void a_waiter_attempts_out_of_turn_after_a_time(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);

    (void) state;
    unit_postgresql_run("DELETE FROM lock_keys");
    queue_session(queue.second)->longest_wait_ms = 20;
    UNIT_CHECK(unit_run_request(queue.second, queue_to_wait(LATCH_NEVER)) == LATCH_DONE);
    unit_release(queue.second);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
}

static void leave_to_parent(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(unit_cancel(&queue.first_op) == LATCH_CONFLICT);
    UNIT_CHECK(unit_finish(&queue.second_op, LATCH_WANT_IO) == LATCH_CONFLICT);
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    table_close_stores();
}

static void a_child_leaves_its_parent_in_the_queue(void **state)
{
    latch_status status = queue_come_first(MINUTE);
    latch_status second_status = queue_come_second(1500);
    unit_process child = unit_fork(leave_to_parent, NULL);

    (void) state;
    unit_join(&child);
    assert_int_equal(unit_postgresql_count_held(), 1);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_CONFLICT);
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
}

/* ---- Poolers -------------------------------------------------------------------------------- */

/* As if another session of the server answered. Nothing is left in that one. */
static void a_session_that_changes_is_found_out_and_its_waits_poll(void **state)
{
    latch_status status;

    (void) state;
    UNIT_CHECK(table_try(queue.first, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    queue_session(queue.first)->number++;
    status = unit_begin(&queue.first_op, queue.first, queue_to_wait(LATCH_NEVER));
    while (latch_table_store_of(queue.first)->has_queue || status != LATCH_WANT_TIMER) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&queue.first_op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&queue.first_op, unit_now_ns());
    }
    assert_int_equal(unit_postgresql_count_held(), 0);
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
}

/* As in servers that only speak PostgreSQL's protocol. */
static void a_server_without_advisory_locks_is_found_out_and_waits_poll(void **state)
{
    latch_lease *lease = queue_lease(), *other = queue_lease();
    latch_op op;
    latch_status status;

    (void) state;
    unit_release(queue.holder);
    unit_postgresql_run("REVOKE EXECUTE ON FUNCTION pg_try_advisory_xact_lock(bigint) FROM PUBLIC");
    UNIT_CHECK(unit_run_request(lease, queue_to_wait(LATCH_NEVER)) == LATCH_DONE);
    status = unit_begin(&op, other, queue_to_wait(LATCH_NEVER));
    while (status != LATCH_WANT_TIMER) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
    }
    unit_release(lease);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_release(other);
    UNIT_CHECK(table_try(queue.first, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    unit_release(queue.first);
    assert_int_equal(table_count("1 = 1"), 0);
    unit_postgresql_run("GRANT EXECUTE ON FUNCTION pg_try_advisory_xact_lock(bigint) TO PUBLIC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(a_wait_that_is_cancelled_or_over_leaves_nothing),
        QUEUE_TEST(a_statement_of_a_session_that_waits_comes_first_and_the_wait_goes_on),
        QUEUE_TEST(two_waits_of_one_session_for_one_lock_are_both_served),
        QUEUE_TEST(a_wait_goes_on_in_a_new_session),
        QUEUE_TEST(a_waiter_attempts_out_of_turn_after_a_time),
        QUEUE_TEST(a_child_leaves_its_parent_in_the_queue),
        QUEUE_TEST(a_session_that_changes_is_found_out_and_its_waits_poll),
        QUEUE_TEST(a_server_without_advisory_locks_is_found_out_and_waits_poll),
    };

    return cmocka_run_group_tests(tests, queue_group_setup, unit_postgresql_group_teardown);
}
