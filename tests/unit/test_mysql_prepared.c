/* What the MySQL store has the server prepare, and the sessions and servers that have nothing of
 * it. */
#include "mysql_store.h"

static latch_op op;

/* Statements of all sessions. */
static long long prepared_count(void)
{
    return unit_mysql_status("Prepared_stmt_count");
}

static void acquire_and_release(latch_lease *lease, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
        UNIT_CHECK(mysql_holder("r") != 0);
        unit_release(lease);
        UNIT_CHECK(mysql_holder("r") == 0);
    }
}

/* A lease, in a session in which all is prepared. */
static latch_lease *prepared_lease(void)
{
    latch_lease *lease = mysql_lease("r");

    acquire_and_release(lease, 2);
    UNIT_CHECK(prepared_count() == 2);
    return lease;
}

static latch_status release_detached(latch_lease *lease)
{
    latch_request request = unit_request(LATCH_RELEASE);

    request.detach = true;
    return unit_begin(&op, lease, request);
}

/* ---- Use */

static void what_is_used_once_is_not_prepared(void **state)
{
    latch_lease *lease = mysql_lease("r");

    (void) state;
    acquire_and_release(lease, 1);
    assert_int_equal(prepared_count(), 0);
    acquire_and_release(lease, 1);
    assert_int_equal(prepared_count(), 2);
}

static void what_is_prepared_acquires_and_releases(void **state)
{
    latch_lease *lease = prepared_lease(), *same = mysql_lease("r"),
                *other = mysql_other_lease("r"), *another = mysql_lease("a longer name");
    long long before = unit_mysql_status("Com_stmt_execute");

    (void) state;
    acquire_and_release(lease, 5);
    assert_int_equal(unit_mysql_status("Com_stmt_execute"), before + 10);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(another, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(mysql_holder("r") == mysql_holder("a longer name"));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run(same, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(another);
    UNIT_CHECK(mysql_holder("r") != 0 && mysql_holder("a longer name") == 0);
    unit_release(lease);
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT && !unit_held(lease));
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, 1) == LATCH_CONFLICT);
    unit_release(other);
    acquire_and_release(lease, 1);
    assert_int_equal(prepared_count(), 2);
}

/* Whichever acquire it follows, and whatever that has prepared. */
static void a_detached_release_leaves_at_once(void **state)
{
    latch_lease *lease = mysql_lease("r");

    (void) state;
    for (int round = 0; round < 4; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(release_detached(lease) == LATCH_DONE);
        mysql_await_free("r"); /* nobody goes on with it */
    }
}

/* ---- Sessions that end */

static void the_next_session_prepares_its_own(void **state)
{
    latch_lease *lease = prepared_lease();

    (void) state;
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        mysql_end_session(mysql_holder("r"));
        mysql_await_loss(lease);
        UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
        assert_int_equal(prepared_count(), 0);
        acquire_and_release(lease, 3);
        assert_int_equal(prepared_count(), 2);
    }
}

/* At each look at it. */
static void a_session_may_end_while_it_prepares(void **state)
{
    bool is_done = false;

    (void) state;
    for (int steps = 0; !is_done; steps++) {
        latch_lease *lease = mysql_lease("r");
        latch_status status;

        mysql_expect_working(lease);
        status = unit_begin(&op, lease, unit_request(LATCH_ACQUIRE));
        for (int step = 0; step < steps && latch_wants(status); step++) {
            unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
            status = latch_op_step(&op, unit_now_ns());
        }
        is_done = status == LATCH_DONE;
        unit_mysql_end_sessions();
        if (!is_done) {
            unit_finish(&op, status); /* in the next session, or not at all */
        }
        unit_run(lease, LATCH_RELEASE);
        mysql_expect_working(lease);
        unit_mysql_end_sessions();
        mysql_await_free("r");
    }
}

static void a_prepared_statement_is_not_waited_for_where_the_server_stands_still(void **state)
{
    latch_store *store = mysql_open("%s?timeout=2&read_timeout=2", unit_mysql.url);
    latch_lease *lease = mysql_lease_in(store, "r");

    (void) state;
    acquire_and_release(lease, 3);
    unit_mysql_freeze();
    UNIT_CHECK(latch_failed(unit_run(lease, LATCH_ACQUIRE)));
    unit_mysql_thaw();
    acquire_and_release(lease, 3);
}

static void leave_in_child(unit_process *self, void *argument)
{
    latch_lease *lease = mysql_lease("child");

    (void) self;
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    for (int round = 0; round < 3; round++) {
        mysql_expect_working(lease);
    }
    latch_lease_drop(argument);
    latch_lease_drop(lease);
    latch_store_close(unit.store);
}

/* While it is prepared, and when it is. */
static void a_child_leaves_the_statements_to_its_parent(void **state)
{
    latch_lease *lease = mysql_lease("r");

    (void) state;
    mysql_expect_working(lease);
    for (int round = 0; round < 2; round++) {
        latch_status status = unit_begin(&op, lease, unit_request(LATCH_ACQUIRE));
        unit_process child = unit_fork(leave_in_child, lease);

        unit_join(&child);
        UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
        unit_release(lease);
    }
    acquire_and_release(lease, 1);
    assert_int_equal(prepared_count(), 2);
}

/* ---- Servers that prepare nothing, or not enough */

static void a_server_that_does_not_prepare_is_asked_by_texts(void **state)
{
    (void) state;
    for (int count = 0; count < 2; count++) {
        latch_lease *lease = mysql_lease("r"), *other = mysql_other_lease("r");

        unit_mysql_run("SET GLOBAL max_prepared_stmt_count = %d", count);
        acquire_and_release(lease, 4);
        assert_int_equal(prepared_count(), count);
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
        UNIT_CHECK(release_detached(lease) == LATCH_DONE);
        mysql_await_free("r");
        unit_mysql_end_sessions();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(what_is_used_once_is_not_prepared),
        MYSQL_TEST(what_is_prepared_acquires_and_releases),
        MYSQL_TEST(a_detached_release_leaves_at_once),
        MYSQL_TEST(the_next_session_prepares_its_own),
        MYSQL_TEST(a_session_may_end_while_it_prepares),
        MYSQL_TEST(a_prepared_statement_is_not_waited_for_where_the_server_stands_still),
        MYSQL_TEST(a_child_leaves_the_statements_to_its_parent),
        MYSQL_TEST(a_server_that_does_not_prepare_is_asked_by_texts),
    };

    return cmocka_run_group_tests_name("mysql prepared", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
