/* The PostgreSQL store and fork(2): a child disturbs neither its parent's session nor its locks. */
#include "postgresql_store.h"

static latch_lease *lease, *reader;
static latch_op op;
static latch_status status;

static void use_in_child(unit_process *self, void *argument)
{
    latch_lease *other = postgresql_lease("child");

    (void) argument;
    UNIT_CHECK(!unit_held(lease) && !unit_held(reader));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(lease, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE); /* of nothing */
    UNIT_CHECK(unit_run_request(reader, postgresql_detached_release()) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* a session like any other */
    UNIT_CHECK(unit_run(reader, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'y');
    unit_expect(self, 'g'); /* the parent has used its session */
    UNIT_CHECK(unit_run(other, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run(other, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(lease);
    latch_lease_drop(reader);
    latch_lease_drop(other);
    latch_store_close(unit.store);
}

static void use_with_child(void)
{
    unit_process child;

    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    child = unit_fork(use_in_child, NULL);
    unit_expect(&child, 'y');
    UNIT_CHECK(unit_held(lease) && unit_held(reader));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run(reader, LATCH_PROBE) == LATCH_DONE);
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run(reader, LATCH_REFRESH) == LATCH_DONE);
    unit_release(lease);
    unit_release(reader);
    UNIT_CHECK(unit_postgresql_count_held() == 0);
}

static void a_child_has_neither_the_locks_nor_the_session(void **state)
{
    (void) state;
    lease = postgresql_lease("r");
    reader = postgresql_lease("s");
    use_with_child();
}

static void a_child_has_neither_with_tls(void **state)
{
    latch_store *plain = unit.store;

    (void) state;
    unit.store = postgresql_open("%s;sslmode=require", unit_postgresql.dsn);
    lease = postgresql_lease("r");
    reader = postgresql_lease("s");
    use_with_child();
    unit.store = plain;
}

static void exit_at_once(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    latch_lease_drop(lease);
    latch_store_close(unit.store);
}

static void the_exit_of_a_child_keeps_the_parents_lock(void **state)
{
    (void) state;
    lease = postgresql_lease("r");
    for (int at = 0; at < 3; at++) {
        unit_process child;

        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        child = unit_fork(exit_at_once, NULL);
        unit_join(&child);
        assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_DONE);
        unit_release(lease);
    }
}

static void wait_on_in_child(unit_process *self, void *argument)
{
    (void) argument;
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    UNIT_CHECK(unit_held(lease));
    unit_say(self, 'h');
    unit_expect(self, 'r');
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    latch_lease_drop(lease);
    latch_store_close(unit.store);
}

/* A signal handler may fork while the script waits. */
static void a_child_of_one_that_waits_waits_in_a_session_of_its_own(void **state)
{
    latch_lease *holder = postgresql_other_lease("r");
    unit_process child;

    (void) state;
    lease = postgresql_lease("r");
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    child = unit_fork(wait_on_in_child, NULL);
    unit_postgresql_await_waiting(2);
    unit_release(holder);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    unit_release(lease);
    unit_expect(&child, 'h');
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_CONFLICT);
    unit_say(&child, 'r');
    unit_join(&child);
    unit_postgresql_await_held(0);
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
        POSTGRESQL_TEST(a_child_has_neither_the_locks_nor_the_session),
        POSTGRESQL_TEST(a_child_has_neither_with_tls),
        POSTGRESQL_TEST(the_exit_of_a_child_keeps_the_parents_lock),
        POSTGRESQL_TEST(a_child_of_one_that_waits_waits_in_a_session_of_its_own),
        POSTGRESQL_TEST(a_killed_process_holds_nothing_even_if_it_was_waiting),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
