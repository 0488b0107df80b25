/* Waits in a server that counts in whole seconds: MySQL, or a MariaDB that says to be one. */
#include "mysql_store.h"
#include "sql_client.h"

static latch_op op;

static int seconds_setup(void **state)
{
    static const char *const mysql[] = {"--version=8.0.36", NULL};

    unit_mysql_setup(state);
    if (unit_mysql.is_mariadb) {
        unit_mysql_stop();
        unit_mysql_start(mysql);
    }
    return mysql_store_setup_on_server(state);
}

#define SECONDS_TEST(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, seconds_setup, mysql_store_teardown)

/* ---- In a session of the store's */

static void a_wait_ends_when_its_time_is_over(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_other_lease("r");
    int64_t begun_ns;

    (void) state;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    begun_ns = unit_now_ns();
    UNIT_CHECK(unit_run_waiting(two, LATCH_ACQUIRE, 300) == LATCH_CONFLICT);
    UNIT_CHECK(unit_now_ns() - begun_ns >= 300 * LATCH_NS_PER_MS);
    assert_int_equal(unit_mysql_count_waiting(), 0);
    unit_release(one);
    mysql_expect_working(two);
}

/* Else its answer would be awaited beyond the deadline, for half a second. */
static void a_wait_knows_of_the_holder_before_its_deadline(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_other_lease("r");
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(one, LATCH_PROBE) == LATCH_DONE); /* its session is not seen to wait */
    status = mysql_begin_wait(&op, two, 60000);
    UNIT_CHECK(latch_wants(status) && op.contended);
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(two));
}

/* ---- On a given connection */

static unsigned statement_count;

static latch_status count_and_run(void *connection, const char *statement, char *value, size_t size,
                                  latch_error *error)
{
    statement_count++;
    return mysql_client_run(connection, statement, value, size, error);
}

/* For no time at all; polls are 5 to 100 ms apart. */
static void what_a_server_rounds_down_is_polled(void **state)
{
    latch_sql_runner runner = mysql_client_runner();
    latch_store_options options = {.runner = &runner};
    latch_lease *holder = mysql_lease("r"), *lease;
    latch_store *store;

    (void) state;
    runner.run = count_and_run;
    store = latch_store_open(unit.engine, "mysql", &options, &unit.error);
    UNIT_CHECK(store != NULL);
    lease = mysql_lease_in(store, "r");
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    statement_count = 0;
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, 400) == LATCH_CONFLICT);
    assert_in_range(statement_count, 1, 12);
    unit_release(holder);
    mysql_expect_working(lease);
    mysql_store_forget();
    latch_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SECONDS_TEST(a_wait_ends_when_its_time_is_over),
        SECONDS_TEST(a_wait_knows_of_the_holder_before_its_deadline),
        SECONDS_TEST(what_a_server_rounds_down_is_polled),
    };

    return cmocka_run_group_tests_name("mysql seconds", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
