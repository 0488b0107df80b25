/* The MySQL store by itself, on a real server: who holds what, and in which session. */
#include "mysql_store.h"
#include "sql_client.h"

#include <stdlib.h>

/* ---- Holding */

static void a_lock_is_that_of_the_statements_of_symfony(void **state)
{
    unit_mysql_peer peer = unit_mysql_peer_open();
    latch_lease *lease = mysql_lease("r");

    (void) state;
    UNIT_CHECK(unit_mysql_peer_try(&peer, mysql_name("r")));
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_mysql_peer_give(&peer, mysql_name("r")));
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(!unit_mysql_peer_try(&peer, mysql_name("r")));
    unit_release(lease);
    UNIT_CHECK(unit_mysql_peer_try(&peer, mysql_name("r")));
    unit_mysql_peer_close(&peer);
}

/* ---- Sessions */

static void an_idle_session_is_used_on(void **state)
{
    latch_lease *lease = mysql_lease("r"), *other = mysql_lease("s");
    long long count;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    count = unit_mysql_status("Connections");
    unit.ahead_ns = 3600 * LATCH_NS_PER_S;
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(mysql_holder("r") == mysql_holder("s"));
    UNIT_CHECK(unit_run(lease, LATCH_REFRESH) == LATCH_DONE);
    unit_release(lease);
    assert_int_equal(unit_mysql_status("Connections"), count);
}

static void taking_and_giving_back_are_one_statement_each(void **state)
{
    latch_lease *lease = mysql_lease("r");
    long long count;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    count = unit_mysql_status("Questions");
    for (int round = 0; round < 5; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(lease);
    }
    assert_int_equal(unit_mysql_status("Questions"), count + 10 + 1); /* and that of counting */
}

/* Clouds set it to a minute, and a script may well compute for an hour. */
static void a_session_outlives_the_servers_time_outs(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_other_lease("r");
    latch_op op;

    (void) state;
    unit_mysql_run("SET GLOBAL wait_timeout = 1");
    unit_mysql_limit_statements(100);
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(latch_wants(mysql_begin_wait(&op, two, LATCH_NEVER)));
    /* A session that is as idle, and one that is as busy. */
    for (unsigned looks = 0; unit_mysql_number("SELECT count(*) FROM information_schema.processlist"
                                               " WHERE user = 'latch' AND time > 1")
                             != 2;) {
        unit_sql_look_again(&looks);
    }
    UNIT_CHECK(unit_held(one));
    UNIT_CHECK(unit_run(one, LATCH_PROBE) == LATCH_DONE);
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
}

static void a_closed_store_ends_its_session_in_order(void **state)
{
    latch_lease *lease = mysql_lease_in(mysql_open("%s", unit_mysql.socket_dsn), "r");
    long long count = unit_mysql_status("Aborted_clients");

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(mysql_holder("r") != 0);
    unit_release(lease);
    mysql_store_forget();
    unit_mysql_await_sessions(0);
    assert_int_equal(unit_mysql_status("Aborted_clients"), count);
}

static void stores_are_reached_in_every_form_of_a_dsn(void **state)
{
    const char *const dsns[] = {unit_mysql.dsn, unit_mysql.url, unit_mysql.socket_dsn,
                                unit_mysql.socket_url};

    (void) state;
    for (size_t at = 0; at < 4; at++) {
        latch_store *store = mysql_open("%s", dsns[at]);

        UNIT_CHECK(store != NULL);
        mysql_expect_working(mysql_lease_in(store, "r"));
        mysql_store_forget();
    }
    mysql_expect_working(
        mysql_lease_in(mysql_open("%s&charset=latin1", unit_mysql.socket_url), "r"));
    mysql_expect_working(
        mysql_lease_in(mysql_open("mysql:host=localhost;unix_socket=%s;user=latch;password=%s",
                                  unit_mysql.socket, UNIT_SQL_PASSWORD),
                       "r"));
}

/* ---- A given connection */

static latch_status run_interrupted(void *connection, const char *statement, char *value,
                                    size_t size, latch_error *error)
{
    latch_status status = mysql_client_run(connection, statement, value, size, error);

    if (strstr(statement, "GET_LOCK") != NULL) {
        *value = '\0'; /* NULL, as when an administrator has ended the wait */
    }
    return status;
}

static void close_nothing(void *connection)
{
    (void) connection;
}

static void a_wait_of_a_given_connection_that_answers_null_is_refused(void **state)
{
    unit_mysql_peer peer = unit_mysql_peer_open();
    const latch_sql_runner runner = {.context = peer.connection,
                                     .run = run_interrupted,
                                     .is_in_transaction = mysql_client_is_in_transaction,
                                     .close = close_nothing};
    latch_store_options options = {.runner = &runner};
    latch_store *store = latch_store_open(unit.engine, "mysql", &options, &unit.error);
    latch_lease *lease;

    (void) state;
    UNIT_CHECK(store != NULL);
    lease = mysql_lease_in(store, "r");
    UNIT_CHECK(mysql_failed(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER),
                            "a statement was refused by MySQL at the given connection: its answer "
                            "was NULL"));
    assert_int_equal(mysql_holder("r"), 0);
    mysql_store_forget();
    latch_store_close(store);
    unit_mysql_peer_close(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(a_lock_is_that_of_the_statements_of_symfony),
        MYSQL_TEST(an_idle_session_is_used_on),
        MYSQL_TEST(taking_and_giving_back_are_one_statement_each),
        MYSQL_TEST(a_session_outlives_the_servers_time_outs),
        MYSQL_TEST(a_closed_store_ends_its_session_in_order),
        MYSQL_TEST(stores_are_reached_in_every_form_of_a_dsn),
        MYSQL_TEST(a_wait_of_a_given_connection_that_answers_null_is_refused),
    };

    return cmocka_run_group_tests_name("mysql_store", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
