/* Waits for locks in MySQL: who is served, and that a wait leaves nothing behind however it ends.
 */
#include "mysql_store.h"

#define MINUTE INT64_C(60000)

static unit_mysql_peer peer;
static latch_lease *lease;
static latch_op op;

static int wait_setup(void **state)
{
    if (mysql_store_setup(state) != 0) {
        return -1;
    }
    peer = unit_mysql_peer_open();
    lease = mysql_lease("r");
    return 0;
}

static int wait_teardown(void **state)
{
    unit_mysql_peer_close(&peer);
    return mysql_store_teardown(state);
}

#define WAIT_TEST(test) cmocka_unit_test_setup_teardown(test, wait_setup, wait_teardown)

/* The peer has the lock, for which the lease waits in the server. */
static latch_status wait_for_peer(int64_t timeout_ms)
{
    latch_status status;

    UNIT_CHECK(unit_mysql_peer_try(&peer, mysql_name("r")));
    status = mysql_begin_wait(&op, lease, timeout_ms);
    UNIT_CHECK(latch_wants(status));
    return status;
}

static void let_peer_give(void)
{
    UNIT_CHECK(unit_mysql_peer_give(&peer, mysql_name("r")));
}

/* Steps first: another operation of the session may have read what this one waits for. */
static latch_status finish(void)
{
    return unit_finish(&op, latch_op_step(&op, unit_now_ns()));
}

/* ---- In turn */

static void wait_in_child(unit_process *self, void *argument)
{
    latch_lease *own = mysql_lease("r");

    (void) argument;
    UNIT_CHECK(unit_run_waiting(own, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    unit_say(self, 'h');
    unit_expect(self, 'g');
    UNIT_CHECK(unit_held(own));
    unit_release(own);
    latch_store_close(unit.store);
}

static void waiters_are_served_in_the_order_of_their_arrival(void **state)
{
    unit_process children[3];

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE); /* its session is not seen to wait */
    for (size_t at = 0; at < 3; at++) {
        children[at] = unit_fork(wait_in_child, NULL);
        unit_mysql_await_waiting(at + 1);
    }
    unit_release(lease);
    for (size_t at = 0; at < 3; at++) {
        unit_expect(&children[at], 'h');
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
        unit_say(&children[at], 'g');
        unit_join(&children[at]);
    }
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
}

/* ---- Time-outs */

static void a_wait_ends_when_its_time_is_over(void **state)
{
    latch_status status = wait_for_peer(50);
    int64_t begun_ns = unit_now_ns();

    (void) state;
    UNIT_CHECK(unit_finish(&op, status) == LATCH_CONFLICT && !unit_held(lease));
    UNIT_CHECK(unit_now_ns() - begun_ns < UNIT_TIMEOUT_NS / 2);
    assert_int_equal(unit_mysql_count_waiting(), 0);
    let_peer_give();
    assert_int_equal(mysql_holder("r"), 0);
    mysql_expect_working(lease);
}

static void a_grant_at_the_last_moment_counts(void **state)
{
    wait_for_peer(MINUTE);
    (void) state;
    let_peer_give();
    unit_await_grant(&op);
    unit.ahead_ns = 2 * MINUTE * LATCH_NS_PER_MS;
    UNIT_CHECK(finish() == LATCH_DONE && unit_held(lease));
    unit_release(lease);
}

/* Our clock is over before the server's: it is asked to end the wait. */
static void a_wait_that_the_server_would_go_on_with_is_ended(void **state)
{
    latch_status status = wait_for_peer(MINUTE);

    (void) state;
    unit.ahead_ns = 2 * MINUTE * LATCH_NS_PER_MS;
    status = latch_op_step(&op, unit_now_ns());
    UNIT_CHECK(latch_wants(status));
    UNIT_CHECK(unit_finish(&op, status) == LATCH_CONFLICT && !unit_held(lease));
    assert_int_equal(unit_mysql_count_waiting(), 0);
    let_peer_give();
    mysql_expect_working(lease);
}

/* ---- Cancels */

static void a_cancelled_wait_leaves_nothing(void **state)
{
    latch_lease *other = mysql_lease("s");
    long long session;

    wait_for_peer(LATCH_NEVER);
    (void) state;
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT && !unit_held(lease));
    assert_int_equal(unit_mysql_count_waiting(), 0);
    let_peer_give();
    assert_int_equal(mysql_holder("r"), 0);
    /* Of many statements behind it none is hit by the cancel. */
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    session = mysql_holder("s");
    for (int round = 0; round < 50; round++) {
        mysql_expect_working(lease);
    }
    assert_int_equal(mysql_holder("s"), session);
}

static void a_wait_is_cancelled_before_it_has_begun(void **state)
{
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_mysql_peer_try(&peer, mysql_name("r")));
    status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    UNIT_CHECK(latch_wants(status)); /* it connects */
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    let_peer_give();
    mysql_expect_working(lease);
}

/* ---- Races */

#define ROUNDS 250

/* Drives the wait for so long. */
static latch_status drive_for(latch_status status, int64_t duration_ns)
{
    int64_t until_ns = unit_now_ns() + duration_ns;

    while (latch_wants(status) && unit_now_ns() < until_ns) {
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
    }
    return status;
}

/* One round: the peer has the lock, and gives it back about when the wait is cancelled. */
static void race(int round)
{
    int64_t moment_ns = (round * 7919 % 400) * (LATCH_NS_PER_MS / 100); /* within 4 ms */
    latch_status status;

    UNIT_CHECK(unit_mysql_peer_try(&peer, mysql_name("r")));
    status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    status = drive_for(status, moment_ns);
    unit_mysql_peer_begin_to_give(&peer, mysql_name("r"));
    status = latch_wants(status) ? unit_cancel(&op) : status;
    unit_mysql_peer_has(&peer);
    UNIT_CHECK(status == LATCH_DONE || status == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(lease) == (status == LATCH_DONE));
    unit_release(lease);
}

static void cancels_that_race_grants_leave_no_lock(void **state)
{
    (void) state;
    mysql_expect_working(lease);
    for (int round = 0; round < ROUNDS; round++) {
        race(round);
        mysql_await_free("r");
    }
    unit_mysql_await_held(0);
    UNIT_CHECK(unit_mysql_peer_try(&peer, mysql_name("r")));
}

/* ---- Others in the same session */

static void another_operation_of_the_session_need_not_wait_too(void **state)
{
    latch_lease *other = mysql_lease("s"), *held = mysql_lease("t");
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    status = wait_for_peer(LATCH_NEVER);
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(unit_run(held, LATCH_PROBE) == LATCH_DONE);
        unit_release(other);
        status = drive_for(latch_op_step(&op, unit_now_ns()), LATCH_NS_PER_MS);
        UNIT_CHECK(latch_wants(status));
    }
    unit_release(held);
    let_peer_give();
    UNIT_CHECK(finish() == LATCH_DONE && unit_held(lease));
    assert_int_equal(unit_mysql_count_held(), 1);
}

/* The lease's wait is granted, which another operation of the session is the first to read. */
static void let_another_read_the_grant(void)
{
    wait_for_peer(LATCH_NEVER);
    let_peer_give();
    unit_await_grant(&op);
    mysql_expect_working(mysql_lease("s"));
}

static void a_grant_that_another_operation_has_read_is_its_waiters(void **state)
{
    (void) state;
    let_another_read_the_grant();
    UNIT_CHECK(unit_run(mysql_lease("r"), LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(finish() == LATCH_DONE && unit_held(lease));
    unit_release(lease);
    assert_int_equal(mysql_holder("r"), 0);
}

static void a_grant_that_another_operation_has_read_may_come_too_late(void **state)
{
    (void) state;
    let_another_read_the_grant();
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT && !unit_held(lease));
    mysql_await_free("r");
}

static void a_grant_that_another_operation_has_read_can_be_lost_since(void **state)
{
    (void) state;
    let_another_read_the_grant();
    mysql_end_session(mysql_holder("r"));
    mysql_expect_working(mysql_lease("s"));
    assert_int_equal(mysql_holder("r"), 0);
    UNIT_CHECK(finish() == LATCH_DONE && unit_held(lease)); /* in the next session */
    UNIT_CHECK(mysql_holder("r") != 0);
}

static void two_waits_of_one_session_take_turns(void **state)
{
    latch_lease *other = mysql_lease("s");
    latch_op second;
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_mysql_peer_try(&peer, mysql_name("s")));
    wait_for_peer(LATCH_NEVER);
    status = unit_begin(&second, other, unit_waiting(LATCH_ACQUIRE, 50));
    UNIT_CHECK(unit_finish(&second, status) == LATCH_CONFLICT);
    let_peer_give();
    UNIT_CHECK(finish() == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(unit_mysql_peer_give(&peer, mysql_name("s")));
}

/* Each is looked after by itself, so that both may be told. */
static void of_two_who_wait_for_each_other_one_is_told(void **state)
{
    latch_lease *mine[2] = {mysql_lease("r"), mysql_other_lease("s")};
    latch_lease *wanted[2] = {mysql_lease("s"), mysql_other_lease("r")};
    latch_op ops[2];
    latch_status statuses[2];
    int told = -1;

    (void) state;
    for (int at = 0; at < 2; at++) {
        UNIT_CHECK(unit_run(mine[at], LATCH_ACQUIRE) == LATCH_DONE);
    }
    for (int at = 0; at < 2; at++) {
        statuses[at] = unit_begin(&ops[at], wanted[at], unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    }
    for (unsigned looks = 0; told < 0;) {
        for (int at = 0; at < 2; at++) {
            statuses[at] = unit_is_due(&ops[at], statuses[at])
                               ? latch_op_step(&ops[at], unit_now_ns())
                               : statuses[at];
            told = latch_wants(statuses[at]) ? told : at;
        }
        unit_sql_look_again(&looks);
    }
    UNIT_CHECK(statuses[told] == LATCH_ERROR_DEADLOCK);
    UNIT_CHECK(unit_held(mine[0]) && unit_held(mine[1]) && !unit_held(wanted[told]));
    unit_release(mine[told]);
    statuses[1 - told] = unit_finish(&ops[1 - told], statuses[1 - told]);
    UNIT_CHECK(statuses[1 - told] == LATCH_DONE || statuses[1 - told] == LATCH_ERROR_DEADLOCK);
    UNIT_CHECK(unit_held(wanted[1 - told]) == (statuses[1 - told] == LATCH_DONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(waiters_are_served_in_the_order_of_their_arrival),
        WAIT_TEST(a_wait_ends_when_its_time_is_over),
        WAIT_TEST(a_grant_at_the_last_moment_counts),
        WAIT_TEST(a_wait_that_the_server_would_go_on_with_is_ended),
        WAIT_TEST(a_cancelled_wait_leaves_nothing),
        WAIT_TEST(a_wait_is_cancelled_before_it_has_begun),
        WAIT_TEST(cancels_that_race_grants_leave_no_lock),
        WAIT_TEST(another_operation_of_the_session_need_not_wait_too),
        WAIT_TEST(a_grant_that_another_operation_has_read_is_its_waiters),
        WAIT_TEST(a_grant_that_another_operation_has_read_may_come_too_late),
        WAIT_TEST(a_grant_that_another_operation_has_read_can_be_lost_since),
        WAIT_TEST(two_waits_of_one_session_take_turns),
        WAIT_TEST(of_two_who_wait_for_each_other_one_is_told),
    };

    return cmocka_run_group_tests_name("mysql waits", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
