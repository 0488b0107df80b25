/* Waits for advisory locks in PostgreSQL: in the server's queue, bounded, and without a trace. */
#include "postgresql_store.h"

static latch_lease *lease, *second, *other;

static int setup(void **state)
{
    if (postgresql_store_setup(state) != 0) {
        return -1;
    }
    lease = postgresql_lease("r");
    second = postgresql_lease("s");
    other = postgresql_other_lease("r");
    return 0;
}

#define WAIT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, postgresql_store_teardown)

static void a_waiter_is_told_by_the_server(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    status = latch_op_step(&op, unit_now_ns());
    assert_int_equal(status, LATCH_WANT_IO);
    assert_true(op.waiting);
    unit_release(lease);
    unit_await_grant(&op);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_true(unit_held(other));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void wait_in_child(unit_process *self, void *argument)
{
    latch_lease *mine =
        postgresql_lease_in(postgresql_open("%s;application_name=%s", unit_postgresql.dsn,
                                            (const char *) argument),
                            "r");

    UNIT_CHECK(unit_run_waiting(mine, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    unit_say(self, 'h');
    unit_expect(self, 'r');
    unit_release(mine);
    unit_say(self, 'd');
    latch_lease_drop(mine);
}

static void processes_are_served_in_their_order(void **state)
{
    static char names[3][8] = {"one", "two", "three"};
    unit_process waiters[3];

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    for (size_t at = 0; at < 3; at++) {
        waiters[at] = unit_fork(wait_in_child, names[at]);
        unit_postgresql_await_waiting(at + 1);
    }
    unit_release(lease);
    for (size_t at = 0; at < 3; at++) {
        unit_expect(&waiters[at], 'h');
        assert_int_equal(unit_postgresql_count_waiting(), 2 - at);
        unit_say(&waiters[at], 'r');
        unit_expect(&waiters[at], 'd');
        unit_join(&waiters[at]);
    }
}

static void a_wait_ends_with_its_time(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run_waiting(other, LATCH_ACQUIRE, 30), LATCH_CONFLICT);
    assert_int_equal(unit_run_waiting(other, LATCH_ACQUIRE_SHARED, 30), LATCH_CONFLICT);
    assert_int_equal(unit_postgresql_count_waiting(), 0);
    assert_int_equal(unit_postgresql_count_sessions(), 2); /* no other was needed */
    unit_release(lease);
    assert_int_equal(unit_run_waiting(other, LATCH_ACQUIRE, 30), LATCH_DONE);
}

static void a_cancelled_wait_leaves_nothing_behind(void **state)
{
    latch_op op;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_int_equal(unit_postgresql_count_waiting(), 0);
    unit_postgresql_await_sessions(2); /* the one that carried the cancel is gone */
    unit_release(lease);
    assert_int_equal(unit_postgresql_count_held(), 0);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE); /* in the same session */
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void who_holds_goes_before_those_who_wait(void **state)
{
    unit_postgresql_peer peer = unit_postgresql_peer_open();

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_postgresql_peer_wait(&peer, LOCK_EX, postgresql_number_of("r"));
    unit_postgresql_await_waiting(1);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);        /* promoted */
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE); /* demoted */
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_postgresql_count_waiting(), 1);
    unit_release(lease);
    unit_postgresql_peer_has(&peer);
    unit_postgresql_peer_close(&peer);
}

/* Its own session asks to write, two others read: one for long, one again and again. */
static void a_promotion_that_does_not_wait_keeps_no_reader_out(void **state)
{
    latch_lease *reader =
        postgresql_lease_in(postgresql_open("%s", unit_postgresql.dsn), "r");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    for (int at = 0; at < 100; at++) {
        latch_op op;
        latch_status status = unit_begin(&op, lease, unit_request(LATCH_ACQUIRE));

        for (int tries = 0; tries < 5; tries++) {
            assert_int_equal(unit_run(reader, LATCH_ACQUIRE_SHARED), LATCH_DONE);
            unit_release(reader);
        }
        assert_int_equal(unit_finish(&op, status), LATCH_CONFLICT);
        assert_int_equal(lease->mode, LATCH_SHARED);
    }
    assert_int_equal(unit_postgresql_count_held(), 2);
}

/* Steps both, as two processes would, until one has ended: which is the server's choice. */
static latch_op *await_first(latch_op *op, latch_status *status, latch_op *other_op,
                             latch_status *other_status)
{
    int64_t give_up_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (latch_wants(*status) && latch_wants(*other_status)) {
        UNIT_CHECK(unit_now_ns() < give_up_ns);
        unit_await_wish(op, *status, unit_now_ns() + LATCH_NS_PER_MS);
        if (unit_is_due(op, *status)) {
            *status = latch_op_step(op, unit_now_ns());
        }
        if (unit_is_due(other_op, *other_status)) {
            *other_status = latch_op_step(other_op, unit_now_ns());
        }
    }
    return latch_wants(*status) ? other_op : op;
}

static void of_two_readers_that_want_to_write_one_gives_way(void **state)
{
    latch_op op, other_op;
    latch_status status, other_status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    status = postgresql_begin_wait(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    other_status = unit_begin(&other_op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    if (await_first(&op, &status, &other_op, &other_status) == &op) {
        assert_int_equal(status, LATCH_CONFLICT);
        unit_release(lease);
        assert_int_equal(unit_finish(&other_op, other_status), LATCH_DONE);
    } else {
        assert_int_equal(other_status, LATCH_CONFLICT);
        unit_release(other);
        assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    }
    assert_int_equal(unit_postgresql_count_held(), 1);
}

static void a_reader_that_waits_to_write_does_not_give_way_to_one_that_is_gone_at_once(void **state)
{
    latch_op op, other_op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    postgresql_begin_wait(&other_op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    while (status == LATCH_WANT_IO) {
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
    }
    assert_int_equal(status, LATCH_WANT_TIMER); /* it was told that both would wait for ever */
    assert_int_equal(unit_cancel(&other_op), LATCH_CONFLICT);
    unit_release(other);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
    assert_int_equal(unit_postgresql_count_held(), 1);
}

static void a_circle_of_waits_is_a_deadlock(void **state)
{
    latch_lease *second_of_other = postgresql_other_lease("s");
    latch_op op, other_op;
    latch_status status, other_status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(second_of_other, LATCH_ACQUIRE), LATCH_DONE);
    other_status =
        postgresql_begin_wait(&other_op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    status = unit_begin(&op, second, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    if (await_first(&op, &status, &other_op, &other_status) == &op) {
        assert_int_equal(status, LATCH_ERROR_DEADLOCK);
        unit_release(lease);
        assert_int_equal(unit_finish(&other_op, other_status), LATCH_DONE);
    } else {
        assert_int_equal(other_status, LATCH_ERROR_DEADLOCK);
        unit_release(second_of_other);
        assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    }
}

/* A signal handler uses the store while the script waits. */
static void a_request_in_a_session_that_waits_comes_first_and_the_wait_goes_on(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(postgresql_other_lease("t"), LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    for (int at = 0; at < 3; at++) {
        latch_lease *inner = postgresql_other_lease("inner");

        assert_int_equal(unit_run(inner, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(unit_run(inner, LATCH_PROBE), LATCH_DONE);
        unit_release(inner);
        assert_int_equal(unit_run(postgresql_other_lease("r"), LATCH_ACQUIRE), LATCH_CONFLICT);
        status = latch_op_step(&op, unit_now_ns());
        assert_true(latch_wants(status));
        while (unit_postgresql_count_waiting() != 1) {
            if (unit_is_due(&op, status)) {
                status = latch_op_step(&op, unit_now_ns());
            }
        }
    }
    unit_release(lease);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_true(unit_held(other));
}

static void a_lease_that_is_dropped_in_a_session_that_waits_is_released_at_once(void **state)
{
    latch_lease *inner = postgresql_other_lease("inner");
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(inner, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    latch_lease_drop(inner);
    status = latch_op_step(&op, unit_now_ns()); /* the signal handler has returned */
    while (unit_postgresql_count_held() != 1 || unit_postgresql_count_waiting() != 1) {
        assert_true(latch_wants(status));
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
    }
    unit_release(lease);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    unit_release(other);
    unit_postgresql_await_held(0);
}

static void a_wait_for_what_this_session_waits_for_is_a_deadlock(void **state)
{
    latch_lease *twice = postgresql_other_lease("r");
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    assert_int_equal(unit_run_waiting(twice, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_DEADLOCK);
    assert_int_equal(unit_run_waiting(twice, LATCH_ACQUIRE, 5), LATCH_CONFLICT);
    unit_release(lease);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
}

static void hold_until_killed(unit_process *self, void *argument)
{
    latch_lease *mine = postgresql_lease("r"), *next = postgresql_lease("s");

    (void) argument;
    UNIT_CHECK(unit_run(mine, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'h');
    unit_run_waiting(next, LATCH_ACQUIRE, LATCH_NEVER);
}

static void a_killed_process_holds_nothing_even_if_it_was_waiting(void **state)
{
    /* In two sessions: the server might see a deadlock before it sees that the child is gone. */
    latch_lease *holder = postgresql_other_lease("s"), *waiter = postgresql_lease("r");
    unit_process child;

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    child = unit_fork(hold_until_killed, NULL);
    unit_expect(&child, 'h');
    unit_postgresql_await_waiting(1);
    unit_kill(&child);
    assert_int_equal(unit_run_waiting(waiter, LATCH_ACQUIRE, LATCH_NEVER), LATCH_DONE);
    unit_postgresql_await_waiting(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(a_waiter_is_told_by_the_server),
        WAIT_TEST(processes_are_served_in_their_order),
        WAIT_TEST(a_wait_ends_with_its_time),
        WAIT_TEST(a_cancelled_wait_leaves_nothing_behind),
        WAIT_TEST(who_holds_goes_before_those_who_wait),
        WAIT_TEST(a_promotion_that_does_not_wait_keeps_no_reader_out),
        WAIT_TEST(of_two_readers_that_want_to_write_one_gives_way),
        WAIT_TEST(a_reader_that_waits_to_write_does_not_give_way_to_one_that_is_gone_at_once),
        WAIT_TEST(a_circle_of_waits_is_a_deadlock),
        WAIT_TEST(a_request_in_a_session_that_waits_comes_first_and_the_wait_goes_on),
        WAIT_TEST(a_lease_that_is_dropped_in_a_session_that_waits_is_released_at_once),
        WAIT_TEST(a_wait_for_what_this_session_waits_for_is_a_deadlock),
        WAIT_TEST(a_killed_process_holds_nothing_even_if_it_was_waiting),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
