/* The MySQL store and fork(2): a child disturbs neither its parent's session nor its locks. */
#include "mysql_store.h"

static latch_lease *lease;
static latch_op op;

static void use_in_child(unit_process *self, void *argument)
{
    latch_lease *own = mysql_lease_in(lease->store, "child");

    (void) argument;
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(lease, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);     /* of nothing */
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* a holder like any other */
    UNIT_CHECK(unit_run(own, LATCH_ACQUIRE) == LATCH_DONE && unit_held(own));
    unit_say(self, 'y');
    unit_expect(self, 'g'); /* the parent has used its session */
    UNIT_CHECK(unit_run(own, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run(own, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(own);
    latch_lease_drop(lease);
    latch_store_close(lease->store);
}

static void use_in_parent_and_child(latch_store *store)
{
    unit_process child;
    long long session;

    lease = mysql_lease_in(store, "r");
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    session = mysql_holder("r");
    child = unit_fork(use_in_child, NULL);
    unit_expect(&child, 'y');
    UNIT_CHECK(mysql_holder("child") != 0 && mysql_holder("child") != session);
    UNIT_CHECK(unit_held(lease));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    assert_int_equal(mysql_holder("r"), session);
    unit_release(lease);
    mysql_await_free("r");
}

static void a_child_has_neither_the_locks_nor_the_session(void **state)
{
    (void) state;
    use_in_parent_and_child(unit.store);
    use_in_parent_and_child(mysql_open("%s", unit_mysql.socket_dsn));
}

static void nor_where_it_is_by_tls(void **state)
{
    (void) state;
    use_in_parent_and_child(mysql_open("%s?ssl_mode=required", unit_mysql.url));
}

static void exit_in_child(unit_process *self, void *argument)
{
    (void) self;
    if (argument != NULL) { /* in an orderly way, or not */
        latch_lease_drop(lease);
        latch_store_close(lease->store);
    }
}

/* No good-bye, which the server would take for the parent's. */
static void a_child_that_exits_ends_no_session(void **state)
{
    latch_store *stores[] = {unit.store, mysql_open("%s?ssl_mode=required", unit_mysql.url)};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        lease = mysql_lease_in(stores[at], "r");
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        for (int orderly = 0; orderly < 2; orderly++) {
            unit_process child = unit_fork(exit_in_child, orderly ? lease : NULL);

            unit_join(&child);
            UNIT_CHECK(unit_held(lease));
            UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
        }
        unit_release(lease);
    }
}

static void hold_on(unit_process *self, void *argument)
{
    (void) argument;
    unit_expect(self, 'g');
}

/* What the child has of it must not keep the session alive. */
static void a_lock_ends_with_its_process_though_a_child_lives(void **state)
{
    unit_process child;

    (void) state;
    lease = mysql_lease_in(mysql_open("%s", unit_mysql.dsn), "r");
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(hold_on, NULL);
    mysql_store_forget();
    mysql_await_free("r");
    unit_say(&child, 'g');
    unit_join(&child);
}

/* The answer is the parent's: the child asks for itself. */
static void wait_in_child(unit_process *self, void *argument)
{
    latch_status status = latch_op_step(&op, unit_now_ns());

    (void) argument;
    UNIT_CHECK(latch_wants(status));
    unit_say(self, 'y');
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
    unit_say(self, 'h');
    unit_expect(self, 'g');
    unit_release(lease);
    latch_store_close(lease->store);
}

static void a_wait_that_was_begun_goes_on_in_both(void **state)
{
    latch_lease *holder = mysql_other_lease("r");
    latch_status status;
    unit_process child;

    (void) state;
    lease = mysql_lease("r");
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(holder, LATCH_PROBE) == LATCH_DONE);
    status = mysql_begin_wait(&op, lease, LATCH_NEVER);
    child = unit_fork(wait_in_child, NULL);
    unit_expect(&child, 'y');
    unit_mysql_await_waiting(2);
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease)); /* it came first */
    unit_release(lease);
    unit_expect(&child, 'h');
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_say(&child, 'g');
    unit_join(&child);
}

static void cancel_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    latch_store_close(lease->store);
}

static void a_child_ends_no_wait_of_its_parent(void **state)
{
    latch_lease *holder = mysql_other_lease("r");
    latch_store *stores[] = {unit.store, mysql_open("%s?ssl_mode=required", unit_mysql.url)};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        latch_status status;
        unit_process child;

        lease = mysql_lease_in(stores[at], "r");
        UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        status = mysql_begin_wait(&op, lease, LATCH_NEVER);
        child = unit_fork(cancel_in_child, NULL);
        unit_join(&child);
        unit_release(holder);
        UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
        unit_release(lease);
    }
}

/* At every moment of the way to a session. */
static void a_child_of_whom_connects_connects_itself(void **state)
{
    const char *const options[] = {"", "?ssl_mode=required"};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        bool is_done = false;

        for (int steps = 0; !is_done; steps++) {
            latch_status status;
            unit_process child;

            lease = mysql_lease_in(mysql_open("%s%s", unit_mysql.url, options[at]), "r");
            status = unit_begin(&op, lease, unit_request(LATCH_ACQUIRE));
            for (int step = 0; step < steps && latch_wants(status); step++) {
                unit_await_wish(&op, status, unit_now_ns() + UNIT_PATIENCE_NS);
                status = latch_op_step(&op, unit_now_ns());
            }
            is_done = !latch_wants(status);
            child = unit_fork(is_done ? exit_in_child : cancel_in_child, NULL);
            unit_join(&child);
            UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
            unit_release(lease);
            mysql_store_forget();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(a_child_has_neither_the_locks_nor_the_session),
        MYSQL_TEST(nor_where_it_is_by_tls),
        MYSQL_TEST(a_child_that_exits_ends_no_session),
        MYSQL_TEST(a_lock_ends_with_its_process_though_a_child_lives),
        MYSQL_TEST(a_wait_that_was_begun_goes_on_in_both),
        MYSQL_TEST(a_child_ends_no_wait_of_its_parent),
        MYSQL_TEST(a_child_of_whom_connects_connects_itself),
    };

    return cmocka_run_group_tests_name("mysql and fork", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
