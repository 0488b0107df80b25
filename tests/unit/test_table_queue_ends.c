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

/* The server was slow to end the wait: the last attempt is made late, and its answer is awaited. */
static void a_turn_that_ends_late_loses_no_grant(void **state)
{
    const int64_t late_ns = TABLE_GRACE_NS * 4 / 5;
    latch_status status;
    bool is_sent = false;
    int64_t thaw_ns;

    (void) state;
    queue_come_first(LATCH_NEVER);
    status = queue_come_second(1000);
    unit_release(queue.holder);
    unit_postgresql_freeze();
    thaw_ns = queue.second_op.request.deadline_ns + late_ns;
    while (unit_now_ns() < thaw_ns) {
        unit_await_wish(&queue.second_op, status, thaw_ns);
        status = latch_op_step(&queue.second_op, unit_now_ns());
    }
    unit_postgresql_thaw();
    while (latch_wants(status)) {
        const table_hold *hold = queue.second_op.state;

        is_sent = hold->action == TABLE_ACQUIRE_TIMED && hold->statement.is_queued;
        if (!is_sent) {
            unit_await_wish(&queue.second_op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        }
        status = latch_op_step(&queue.second_op, unit_now_ns() + (is_sent ? late_ns : 0));
    }
    /* No attempt was made if the cancel has come before the server's time-out. */
    assert_int_equal(status, is_sent ? LATCH_DONE : LATCH_CONFLICT);
    UNIT_CHECK(unit_held(queue.second) == is_sent);
    unit_release(queue.second);
    UNIT_CHECK(unit_cancel(&queue.first_op) == LATCH_CONFLICT);
}

/* It is granted and cancelled at once. */
static void a_ticket_that_comes_with_the_cancel_is_given_back(void **state)
{
    (void) state;
    queue_come_first(LATCH_NEVER);
    queue_come_second(LATCH_NEVER);
    UNIT_CHECK(unit_cancel(&queue.first_op) == LATCH_CONFLICT);
    unit_postgresql_await_waiting(0);
    UNIT_CHECK(unit_cancel(&queue.second_op) == LATCH_CONFLICT);
    unit_postgresql_await_held(0);
    UNIT_CHECK(queue_session(queue.second)->age == 0);
    assert_int_equal(table_count("1 = 1"), 1);
}

static void queue_abandon(latch_op *op)
{
    op->lease->store->class->abandon(op);
    op->lease->busy = false;
}

static void a_wait_that_is_abandoned_leaves_nothing(void **state)
{
    (void) state;
    queue_come_first(LATCH_NEVER);
    queue_come_second(LATCH_NEVER);
    queue_abandon(&queue.second_op);
    assert_int_equal(queue_session(queue.second)->age, 1); /* nobody is there to drive a cancel */
    unit_postgresql_await_waiting(0);
    queue_abandon(&queue.first_op);
    unit_postgresql_await_held(0);
    unit_release(queue.holder);
    UNIT_CHECK(table_try(queue.first, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    unit_release(queue.first);
    UNIT_CHECK(table_try(queue.second, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

static void a_wait_without_memory_leaves_nothing(void **state)
{
    latch_status status = LATCH_ERROR_MEMORY;

    (void) state;
    for (size_t at = 1; status != LATCH_CONFLICT; at++) {
        latch_lease *lease = table_lease_in(queue.second->store, "r");

        unit.fail_at = unit.allocations + at;
        status = unit_run_request(lease, queue_to_wait(20));
        unit.fail_at = 0;
        UNIT_CHECK(status == LATCH_ERROR_MEMORY || status == LATCH_CONFLICT);
        unit_postgresql_await_held(0);
        UNIT_CHECK(at > 1 || status == LATCH_ERROR_MEMORY);
    }
    unit_release(queue.holder);
    assert_int_equal(table_count("1 = 1"), 0);
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
        second_status = latch_op_step(&queue.second_op, unit_now_ns()); /* behind the handler */
        second_status = queue_step_until(&queue.second_op, second_status, 1);
    }
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(queue.second);
    unit_postgresql_await_held(0);
}

/* The one that waits within the other cannot be overtaken by it. */
static void two_waits_of_one_session_for_one_lock_are_both_served(void **state)
{
    latch_lease *same = table_lease_in(queue.first->store, "r");
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_status inner_status = unit_begin(&queue.second_op, same, queue_to_wait(LATCH_NEVER));

    (void) state;
    inner_status = queue_step_to_front(&queue.second_op, inner_status);
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.second_op, inner_status) == LATCH_DONE);
    unit_release(same);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    unit_postgresql_await_held(0);
}

/* Whichever of them is stepped. */
static void two_waits_of_one_session_that_go_on_together_are_both_served(void **state)
{
    latch_lease *same = table_lease_in(queue.first->store, "r");
    latch_op *ops[] = {&queue.first_op, &queue.second_op};
    latch_status statuses[2];

    (void) state;
    statuses[0] = queue_come_first(LATCH_NEVER);
    statuses[1] = unit_begin(&queue.second_op, same, queue_to_wait(LATCH_NEVER));
    for (int steps = 0, served = 0; served < 2; steps++) {
        if (steps == 20) {
            unit_release(queue.holder);
        }
        for (int at = 0; at < 2; at++) {
            if (latch_wants(statuses[at])) {
                statuses[at] = latch_op_step(ops[at], unit_now_ns());
                UNIT_CHECK(latch_wants(statuses[at]) || statuses[at] == LATCH_DONE);
                served += statuses[at] == LATCH_DONE;
            }
            if (statuses[at] == LATCH_DONE) {
                unit_release(ops[at]->lease);
            }
        }
        UNIT_AWAIT(served > 0 || unit_is_due(ops[0], statuses[0])
                   || unit_is_due(ops[1], statuses[1]));
    }
    unit_postgresql_await_held(0);
}

/* A signal handler's: the request that it has interrupted cannot attend to its turn. */
static void a_wait_within_another_one_leaves_that_ones_turn_to_the_next(void **state)
{
    latch_lease *other = table_lease_in(unit.store, "other"),
                *inner = table_lease_in(queue.first->store, "other");
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_status second_status = queue_come_second(LATCH_NEVER);
    latch_status inner_status;
    latch_op inner_op;

    (void) state;
    UNIT_CHECK(table_try(other, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    inner_status = unit_begin(&inner_op, inner, queue_to_wait(LATCH_NEVER));
    inner_status = queue_step_to_front(&inner_op, inner_status);
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(other);
    UNIT_CHECK(unit_finish(&inner_op, inner_status) == LATCH_DONE);
    unit_release(inner);
    unit_release(queue.second);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
    assert_int_equal(queue_session(queue.first)->age, 0); /* nobody has ended it for that */
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

/* ---- First waiters that were stopped -------------------------------------------------------- */

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

static void a_waiter_that_is_out_of_time_attempts_out_of_turn(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);

    (void) state;
    UNIT_CHECK(unit_run_request(queue.second, queue_to_wait(30)) == LATCH_CONFLICT);
    unit_postgresql_run("DELETE FROM lock_keys");
    UNIT_CHECK(unit_run_request(queue.second, queue_to_wait(30)) == LATCH_DONE);
    unit_release(queue.second);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
}

static void a_first_waiter_that_was_stopped_loses_its_session(void **state)
{
    latch_status status = queue_come_first(LATCH_NEVER);
    latch_status second_status = queue_come_second(LATCH_NEVER);

    (void) state;
    queue_session(queue.second)->longest_wait_ms = 2000;
    UNIT_CHECK(unit_cancel(&queue.second_op) == LATCH_CONFLICT);
    second_status = unit_begin(&queue.second_op, queue.second, queue_to_wait(LATCH_NEVER));
    second_status = queue_step_to_front(&queue.second_op, second_status);
    unit_release(queue.holder);
    UNIT_CHECK(unit_finish(&queue.second_op, second_status) == LATCH_DONE);
    unit_release(queue.second);
    UNIT_CHECK(unit_finish(&queue.first_op, status) == LATCH_DONE);
    unit_release(queue.first);
}

/* ---- Forks ---------------------------------------------------------------------------------- */

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
        QUEUE_TEST(a_turn_that_ends_late_loses_no_grant),
        QUEUE_TEST(a_ticket_that_comes_with_the_cancel_is_given_back),
        QUEUE_TEST(a_wait_that_is_abandoned_leaves_nothing),
        QUEUE_TEST(a_wait_without_memory_leaves_nothing),
        QUEUE_TEST(a_statement_of_a_session_that_waits_comes_first_and_the_wait_goes_on),
        QUEUE_TEST(two_waits_of_one_session_for_one_lock_are_both_served),
        QUEUE_TEST(two_waits_of_one_session_that_go_on_together_are_both_served),
        QUEUE_TEST(a_wait_within_another_one_leaves_that_ones_turn_to_the_next),
        QUEUE_TEST(a_wait_goes_on_in_a_new_session),
        QUEUE_TEST(a_waiter_attempts_out_of_turn_after_a_time),
        QUEUE_TEST(a_waiter_that_is_out_of_time_attempts_out_of_turn),
        QUEUE_TEST(a_first_waiter_that_was_stopped_loses_its_session),
        QUEUE_TEST(a_child_leaves_its_parent_in_the_queue),
        QUEUE_TEST(a_session_that_changes_is_found_out_and_its_waits_poll),
        QUEUE_TEST(a_server_without_advisory_locks_is_found_out_and_waits_poll),
    };

    return cmocka_run_group_tests(tests, queue_group_setup, unit_postgresql_group_teardown);
}
