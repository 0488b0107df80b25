/* The MySQL store by itself, on a real server: who holds what, and in which session. */
#include "mysql_store.h"

#include <stdlib.h>

/* ---- Holding */

static void one_lease_holds_and_nothing_is_left(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_other_lease("r");

    (void) state;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_held(one) && one->mode == LATCH_EXCLUSIVE);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(two, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(two, LATCH_REFRESH) == LATCH_CONFLICT && !two->lost);
    UNIT_CHECK(unit_run(two, LATCH_RELEASE) == LATCH_DONE); /* of nothing */
    UNIT_CHECK(!unit_held(two));
    UNIT_CHECK(unit_run(one, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE); /* once more */
    UNIT_CHECK(unit_run(one, LATCH_REFRESH) == LATCH_DONE);
    assert_int_equal(unit_mysql_count_held(), 1);
    unit_release(one);
    assert_int_equal(mysql_holder("r"), 0);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(two);
    assert_int_equal(unit_mysql_count_held(), 0);
}

/* The server would let the session in twice. */
static void two_leases_of_one_session_exclude_each_other(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_lease("r"), *three = mysql_lease("s");

    (void) state;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(two, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(two, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_run_waiting(two, LATCH_ACQUIRE, 1) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(three, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(mysql_holder("r") == mysql_holder("s"));
    assert_int_equal(unit_mysql_count_sessions(), 1);
    unit_release(one);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_held(two) && unit_held(three) && !unit_held(one));
}

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

static void there_are_no_shared_locks(void **state)
{
    latch_lease *lease = mysql_lease("r");

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message, "MySQL has no shared locks");
    assert_int_equal(unit_mysql_count_sessions(), 0);
    mysql_expect_working(lease);
}

static void any_bytes_make_a_resource(void **state)
{
    static char bytes[20000];
    latch_lease *one, *two, *empty;

    (void) state;
    for (size_t at = 0; at < sizeof(bytes); at++) {
        bytes[at] = (char) at;
    }
    one = unit_lease_on(bytes, sizeof(bytes));
    two = unit_lease_on(bytes, sizeof(bytes));
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    two = unit_lease_on(bytes, sizeof(bytes) - 1);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_DONE);
    empty = mysql_lease("");
    UNIT_CHECK(unit_run(empty, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(mysql_holder("") != 0);
    assert_int_equal(unit_mysql_count_held(), 3);
}

/* ---- Sessions */

static long long count_connections(void)
{
    return unit_mysql_number("SELECT variable_value FROM information_schema.global_status"
                             " WHERE variable_name = 'Connections'");
}

static long long count_statements(void)
{
    return unit_mysql_number("SELECT variable_value FROM information_schema.global_status"
                             " WHERE variable_name = 'Questions'");
}

static void an_idle_session_is_used_on(void **state)
{
    latch_lease *lease = mysql_lease("r");
    long long count;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    count = count_connections();
    unit.ahead_ns = 3600 * LATCH_NS_PER_S;
    UNIT_CHECK(unit_run(lease, LATCH_REFRESH) == LATCH_DONE);
    unit_release(lease);
    assert_int_equal(count_connections(), count);
}

static void taking_and_giving_back_are_one_statement_each(void **state)
{
    latch_lease *lease = mysql_lease("r");
    long long count;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    count = count_statements();
    for (int round = 0; round < 5; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(lease);
    }
    assert_int_equal(count_statements(), count + 10 + 1); /* and that of counting */
}

/* Clouds set it to a minute, and a script may well compute for an hour. */
static void a_session_outlives_the_servers_time_outs(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_other_lease("r");
    latch_op op;

    (void) state;
    unit_mysql_run("SET GLOBAL wait_timeout = 1, GLOBAL max_statement_time = 0.1");
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(latch_wants(mysql_begin_wait(&op, two, LATCH_NEVER)));
    /* A session that is as idle, and one that is as busy. */
    for (unsigned looks = 0; unit_mysql_number("SELECT count(*) FROM information_schema.processlist"
                                               " WHERE user = 'latch' AND time_ms > 1500")
                             != 2;) {
        unit_sql_look_again(&looks);
    }
    UNIT_CHECK(unit_held(one));
    UNIT_CHECK(unit_run(one, LATCH_PROBE) == LATCH_DONE);
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    unit_mysql_run("SET GLOBAL wait_timeout = DEFAULT, GLOBAL max_statement_time = DEFAULT");
}

static void a_closed_store_ends_its_session_in_order(void **state)
{
    latch_lease *lease = mysql_lease_in(mysql_open("%s", unit_mysql.socket_dsn), "r");
    const char aborted[] = "SELECT variable_value FROM information_schema.global_status"
                           " WHERE variable_name = 'Aborted_clients'";
    long long count = unit_mysql_number(aborted);

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(mysql_holder("r") != 0);
    unit_release(lease);
    mysql_store_forget();
    unit_mysql_await_sessions(0);
    assert_int_equal(unit_mysql_number(aborted), count);
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

/* ---- Looking */

static void an_inspection_finds_the_session_that_holds(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_other_lease("r");
    latch_finding *findings = NULL;
    latch_request request = unit_request(LATCH_INSPECT);

    (void) state;
    request.findings = &findings;
    UNIT_CHECK(unit_run_request(two, request) == LATCH_DONE);
    UNIT_CHECK(findings != NULL && findings->mode == LATCH_FREE && findings->holders == NULL);
    latch_findings_free(unit.engine, findings);
    findings = NULL;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(two, request) == LATCH_DONE);
    UNIT_CHECK(findings != NULL && findings->mode == LATCH_EXCLUSIVE && findings->next == NULL);
    UNIT_CHECK(findings->holders != NULL && findings->holders->next == NULL);
    assert_int_equal(findings->holders->number, mysql_holder("r"));
    latch_findings_free(unit.engine, findings);
}

static void a_lease_that_is_dropped_lets_go(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_lease("r"), *three = mysql_other_lease("r");

    (void) state;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    latch_lease_drop(one);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_DONE); /* in its turn */
    latch_lease_drop(two);
    UNIT_CHECK(unit_run_waiting(three, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    latch_lease_init(one, unit.store, "r", 1);
    latch_lease_init(two, unit.store, "r", 1);
}

static void a_detached_release_is_not_awaited(void **state)
{
    latch_lease *one = mysql_lease("r"), *two = mysql_other_lease("r");
    latch_request request = unit_request(LATCH_RELEASE);
    latch_op op;

    (void) state;
    request.detach = true;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_begin(&op, one, request) == LATCH_DONE);
    UNIT_CHECK(!unit_held(one));
    UNIT_CHECK(unit_run_waiting(two, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(one, LATCH_PROBE) == LATCH_CONFLICT);
}

/* ---- Memory */

static void use(latch_lease *one, latch_lease *two)
{
    latch_op op;
    latch_status status;

    unit_run(one, LATCH_ACQUIRE);
    unit_run(one, LATCH_PROBE);
    status = mysql_begin_wait(&op, two, LATCH_NEVER);
    if (latch_wants(status)) {
        unit_cancel(&op); /* by a twin */
    }
    unit_run(one, LATCH_RELEASE);
    unit_run(two, LATCH_RELEASE);
}

static void every_allocation_may_fail(void **state)
{
    size_t count = 0;

    (void) state;
    for (unit.fail_at = 1; count == 0; unit.fail_at = count == 0 ? unit.fail_at + 1 : 0) {
        size_t at = unit.fail_at;
        latch_store *store;

        unit.allocations = 0;
        store = mysql_open("%s", unit_mysql.dsn);
        if (store == NULL) {
            assert_int_equal(unit.error.status, LATCH_ERROR_MEMORY);
            continue;
        }
        use(mysql_lease_in(store, "r"), mysql_lease_in(unit.store, "r"));
        count = unit.allocations < at ? unit.allocations : 0;
        unit.fail_at = 0;
        mysql_await_free("r"); /* of a wait that could not be cancelled, and was given up */
        mysql_expect_working(mysql_lease_in(store, "r"));
        mysql_store_forget();
        unit.fail_at = at;
        unit_mysql_await_held(0);
    }
    UNIT_CHECK(count > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(one_lease_holds_and_nothing_is_left),
        MYSQL_TEST(two_leases_of_one_session_exclude_each_other),
        MYSQL_TEST(a_lock_is_that_of_the_statements_of_symfony),
        MYSQL_TEST(there_are_no_shared_locks),
        MYSQL_TEST(any_bytes_make_a_resource),
        MYSQL_TEST(an_idle_session_is_used_on),
        MYSQL_TEST(taking_and_giving_back_are_one_statement_each),
        MYSQL_TEST(a_session_outlives_the_servers_time_outs),
        MYSQL_TEST(a_closed_store_ends_its_session_in_order),
        MYSQL_TEST(stores_are_reached_in_every_form_of_a_dsn),
        MYSQL_TEST(an_inspection_finds_the_session_that_holds),
        MYSQL_TEST(a_lease_that_is_dropped_lets_go),
        MYSQL_TEST(a_detached_release_is_not_awaited),
        MYSQL_TEST(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("mysql_store", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
