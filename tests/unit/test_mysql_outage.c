/*
 * Waits with a deadline for a MySQL server that does not answer: an error, as nobody is known to
 * hold the lock. A session that holds other locks is not given up for that at once.
 */
#include "mysql_store.h"

/* With time-outs that no test waits for. */
static latch_store *open_patient(void)
{
    return mysql_open("%s?read_timeout=300&timeout=300", unit_mysql.url);
}

static void a_server_that_is_silent_in_a_session_is_an_error(void **state)
{
    latch_lease *lease = mysql_lease_in(open_patient(), "r");

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    unit_mysql_freeze();
    UNIT_CHECK(mysql_failed(unit_run_waiting(lease, LATCH_ACQUIRE, 200),
                            "it does not answer, nor does it end a wait"));
    UNIT_CHECK(!unit_held(lease) && !lease->busy);
    unit_mysql_thaw();
    unit_mysql_await_held(0);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
}

static void a_server_that_does_not_greet_is_an_error(void **state)
{
    latch_lease *lease = mysql_lease_in(open_patient(), "r");

    (void) state;
    unit_mysql_freeze();
    UNIT_CHECK(
        mysql_failed(unit_run_waiting(lease, LATCH_ACQUIRE, 200), "cannot connect to MySQL at "));
    unit_mysql_thaw();
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
}

/* As soon as it answers the session goes on. */
static void other_locks_of_the_session_are_not_lost_for_that(void **state)
{
    latch_store *store = open_patient();
    latch_lease *lease = mysql_lease_in(store, "r"), *held = mysql_lease_in(store, "s");
    latch_lease *holder = mysql_lease("r");
    int64_t end_ns = unit_now_ns() + 2 * LATCH_NS_PER_S;
    latch_status status;
    latch_op op;

    (void) state;
    UNIT_CHECK(unit_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    unit_mysql_freeze();
    status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, 200));
    while (unit_now_ns() < end_ns) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&op, status, end_ns);
        status = latch_op_step(&op, unit_now_ns());
    }
    unit_mysql_thaw();
    UNIT_CHECK(unit_finish(&op, status) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(held, LATCH_PROBE) == LATCH_DONE && unit_held(held));
    unit_release(held);
    unit_release(holder);
}

static void no_time_at_all_is_enough_for_one_try(void **state)
{
    latch_lease *holder = mysql_lease("r"), *lease = mysql_other_lease("r");

    (void) state;
    UNIT_CHECK(unit_run_waiting(holder, LATCH_ACQUIRE, 0) == LATCH_DONE && unit_held(holder));
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, 0) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, 200) == LATCH_CONFLICT);
    unit_release(holder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(a_server_that_is_silent_in_a_session_is_an_error),
        MYSQL_TEST(a_server_that_does_not_greet_is_an_error),
        MYSQL_TEST(other_locks_of_the_session_are_not_lost_for_that),
        MYSQL_TEST(no_time_at_all_is_enough_for_one_try),
    };

    return cmocka_run_group_tests_name("mysql outage", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
