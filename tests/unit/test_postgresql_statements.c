/*
 * Statements of the PostgreSQL store that end in the middle. Functions of the tests stand in front
 * of the server's: an end at a chosen moment, in place of one that is a matter of microseconds.
 */
#include "postgresql_store.h"

static latch_lease *lease, *other;

static int setup(void **state)
{
    if (postgresql_store_setup(state) != 0) {
        return -1;
    }
    lease = postgresql_lease("r");
    other = postgresql_other_lease("r");
    unit_postgresql_run("ALTER ROLE latch SET search_path = front, pg_catalog");
    unit_postgresql_run("CREATE SCHEMA front");
    unit_postgresql_run("GRANT USAGE ON SCHEMA front TO latch");
    return 0;
}

static int teardown(void **state)
{
    int outcome = postgresql_store_teardown(state);

    unit_postgresql_run("DROP SCHEMA front CASCADE");
    unit_postgresql_run("ALTER ROLE latch RESET search_path");
    return outcome;
}

#define STATEMENT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* The function does what the server's does, and waits then for the lock 1. */
static void hang_behind(const char *function, const char *type)
{
    unit_postgresql_run("CREATE FUNCTION front.%s(bigint) RETURNS %s LANGUAGE plpgsql AS $$"
                        " BEGIN PERFORM pg_catalog.%s($1); PERFORM pg_catalog.pg_advisory_lock(1);"
                        " RETURN%s; END $$",
                        function, type, function, strcmp(type, "void") == 0 ? "" : " true");
}

/* Runs a request to the middle of it, where an administrator cancels it. */
static latch_status run_to_the_middle(latch_op *op, latch_lease *one, latch_request request)
{
    unit_postgresql_peer peer = unit_postgresql_peer_open();
    latch_status status;

    assert_true(unit_postgresql_peer_try(&peer, LOCK_EX, 1));
    status = postgresql_begin_wait(op, one, request, 1);
    unit_postgresql_run("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted");
    status = unit_finish(op, status);
    unit_postgresql_peer_close(&peer);
    UNIT_AWAIT(unit_postgresql_number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                      " AND objid = 1")
               == 0);
    return status;
}

static void a_reader_whose_promotion_fails_behind_its_grant_is_a_reader_still(void **state)
{
    latch_op op;

    (void) state;
    hang_behind("pg_advisory_unlock_shared", "boolean");
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_true(
        postgresql_failed(run_to_the_middle(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                          "cancelled"));
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_int_equal(unit_postgresql_count_held(), 1);
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
}

static void a_reader_whose_promotion_fails_before_its_grant_is_a_reader_still(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    status = postgresql_begin_wait(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    unit_postgresql_run("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted");
    assert_true(postgresql_failed(unit_finish(&op, status), "cancelled"));
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_int_equal(unit_postgresql_count_held(), 2);
}

/* Another reader comes after the look for other holders: there was only a waiter, who is gone. */
static void a_promotion_that_does_not_wait_ends_though_another_reader_comes_in_the_middle(
    void **state)
{
    unit_postgresql_peer peer = unit_postgresql_peer_open(), waiter = unit_postgresql_peer_open();
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_release(other);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_postgresql_run("CREATE FUNCTION front.set_config(text, text, boolean) RETURNS text"
                        " LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.pg_advisory_lock(1);"
                        " PERFORM pg_catalog.pg_advisory_unlock(1);"
                        " RETURN pg_catalog.set_config($1, $2, $3); END $$");
    assert_true(unit_postgresql_peer_try(&peer, LOCK_EX, 1));
    unit_postgresql_peer_wait(&waiter, LOCK_EX, postgresql_number_of("r"));
    unit_postgresql_await_waiting(1);
    status = postgresql_begin_wait(&op, lease, unit_request(LATCH_ACQUIRE), 2);
    unit_postgresql_run("SELECT pg_cancel_backend(pid) FROM pg_locks"
                        " WHERE NOT granted AND objid <> 1");
    unit_postgresql_await_waiting(1);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_postgresql_peer_close(&peer);
    unit_postgresql_peer_close(&waiter);
    assert_int_equal(unit_finish(&op, status), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
    unit_postgresql_await_held(2);
}

static void a_wait_that_fails_behind_its_grant_leaves_nothing_behind(void **state)
{
    latch_op op;

    (void) state;
    hang_behind("pg_advisory_lock", "void");
    assert_true(
        postgresql_failed(run_to_the_middle(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                          "cancelled"));
    assert_int_equal(unit_postgresql_count_held(), 0);
    hang_behind("pg_advisory_lock_shared", "void");
    assert_true(
        postgresql_failed(run_to_the_middle(&op, lease,
                                            unit_waiting(LATCH_ACQUIRE_SHARED, LATCH_NEVER)),
                          "cancelled"));
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void a_try_that_fails_behind_its_grant_leaves_nothing_behind(void **state)
{
    latch_op op;

    (void) state;
    hang_behind("pg_try_advisory_lock", "boolean");
    assert_true(
        postgresql_failed(run_to_the_middle(&op, lease, unit_request(LATCH_ACQUIRE)), "cancelled"));
    assert_int_equal(unit_postgresql_count_held(), 0);
    hang_behind("pg_try_advisory_lock_shared", "boolean");
    assert_true(postgresql_failed(run_to_the_middle(&op, lease, unit_request(LATCH_ACQUIRE_SHARED)),
                                  "cancelled"));
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void a_try_that_fails_takes_nothing_from_another_reader_of_the_session(void **state)
{
    latch_lease *reader = postgresql_lease("r");

    (void) state;
    assert_int_equal(unit_run_waiting(reader, LATCH_ACQUIRE_SHARED, MINUTE), LATCH_DONE);
    unit_postgresql_run("CREATE FUNCTION front.pg_try_advisory_lock_shared(bigint) RETURNS boolean"
                        " LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$");
    assert_true(postgresql_failed(unit_run(lease, LATCH_ACQUIRE_SHARED), "refused by"));
    assert_int_equal(unit_run(reader, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_postgresql_count_held(), 1);
}

/* The cancel of a wait hangs, until the lock 1 is free. */
static void hang_before_cancel(unit_postgresql_peer *peer)
{
    unit_postgresql_run("CREATE FUNCTION front.pg_cancel_backend(integer) RETURNS boolean LANGUAGE"
                        " plpgsql AS $$ BEGIN PERFORM pg_catalog.pg_advisory_lock(1);"
                        " RETURN pg_catalog.pg_cancel_backend($1); END $$");
    *peer = unit_postgresql_peer_open();
    assert_true(unit_postgresql_peer_try(peer, LOCK_EX, 1));
}

static void nothing_is_sent_that_a_cancel_under_way_might_hit(void **state)
{
    latch_op waiting, next;
    latch_status waiting_status, status;
    unit_postgresql_peer peer;

    (void) state;
    hang_before_cancel(&peer);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    waiting_status =
        postgresql_begin_wait(&waiting, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    status = postgresql_begin_wait(&next, postgresql_lease("s"), unit_request(LATCH_ACQUIRE), 2);
    unit_release(other);
    unit_await_grant(&waiting);
    for (int at = 0; at < 20; at++) {
        status = latch_op_step(&next, unit_now_ns());
        assert_true(latch_wants(status));
        unit_await_wish(&next, status, unit_now_ns() + 10 * LATCH_NS_PER_MS);
    }
    unit_postgresql_peer_close(&peer);
    assert_int_equal(unit_finish(&next, status), LATCH_DONE);
    assert_int_equal(latch_op_step(&waiting, unit_now_ns()), LATCH_DONE);
    assert_true(latch_wants(waiting_status) && unit_held(lease));
    unit_postgresql_await_held(2);
}

static void what_is_no_wait_is_not_cancelled_by_the_next(void **state)
{
    latch_lease *held = postgresql_lease("s");
    unit_postgresql_peer peer = unit_postgresql_peer_open();
    latch_op op;
    latch_status status;

    (void) state;
    assert_true(unit_postgresql_peer_try(&peer, LOCK_EX, 1));
    hang_behind("pg_advisory_unlock", "boolean");
    assert_int_equal(unit_run(held, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run_request(lease, postgresql_detached_release()), LATCH_DONE);
    status = unit_begin(&op, postgresql_lease("t"), unit_request(LATCH_ACQUIRE));
    for (int at = 0; at < 20; at++) {
        assert_true(latch_wants(status));
        unit_await_wish(&op, status, unit_now_ns() + 10 * LATCH_NS_PER_MS);
        status = latch_op_step(&op, unit_now_ns());
    }
    unit_postgresql_peer_close(&peer);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_true(unit_held(held));
    unit_postgresql_run("DROP FUNCTION front.pg_advisory_unlock(bigint)");
}

/* Its rolling_back waits for the cancel that another operation has asked for. */
static void a_wait_that_is_to_be_undone_is_not_taken_back(void **state)
{
    latch_op waiting, next;
    unit_postgresql_peer peer;

    (void) state;
    hang_before_cancel(&peer);
    hang_behind("pg_advisory_lock", "void");
    postgresql_begin_wait(&waiting, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    postgresql_begin_wait(&next, postgresql_lease("s"), unit_request(LATCH_ACQUIRE), 2);
    unit_postgresql_run("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted AND pid IN"
                        " (SELECT pid FROM pg_locks WHERE granted AND objid = %u)",
                        postgresql_number_of("r"));
    unit_await_grant(&waiting);
    while (unit_is_due(&waiting, LATCH_WANT_IO)) {
        assert_true(latch_wants(latch_op_step(&next, unit_now_ns())));
    }
    assert_int_equal(unit_cancel(&next), LATCH_CONFLICT);
    assert_true(latch_wants(latch_op_cancel(&waiting, unit_now_ns())));
    unit_postgresql_peer_close(&peer);
    assert_int_equal(unit_cancel(&waiting), LATCH_CONFLICT);
    unit_postgresql_await_held(0);
}

/* Cancels, and sees at each step that the next one comes, whatever the server does. */
static latch_status cancel_in_time(latch_op *op)
{
    latch_status status = latch_op_cancel(op, unit_now_ns());

    while (latch_wants(status)) {
        assert_true(op->wake_ns < LATCH_NEVER);
        unit_await_wish(op, status, LATCH_NEVER);
        status = latch_op_step(op, unit_now_ns());
    }
    return status;
}

static void a_cancel_that_hangs_ends_with_the_session(void **state)
{
    latch_store *store = postgresql_open("%s;read_timeout=2", unit_postgresql.dsn);
    latch_lease *waiter = postgresql_lease_in(store, "r");
    unit_postgresql_peer peer;
    latch_op op;

    (void) state;
    hang_before_cancel(&peer);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    postgresql_begin_wait(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    assert_int_equal(cancel_in_time(&op), LATCH_CONFLICT);
    unit_postgresql_peer_close(&peer);
    unit_release(other);
    unit_postgresql_await_held(0);
}

static void a_cancel_without_effect_ends_with_the_session(void **state)
{
    latch_store *store = postgresql_open("%s;read_timeout=2", unit_postgresql.dsn);
    latch_lease *waiter = postgresql_lease_in(store, "r");
    latch_op op;

    (void) state;
    unit_postgresql_run("CREATE FUNCTION front.pg_cancel_backend(integer) RETURNS boolean"
                        " LANGUAGE sql AS 'SELECT true'");
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    postgresql_begin_wait(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    assert_int_equal(cancel_in_time(&op), LATCH_CONFLICT);
    unit_release(other);
    unit_postgresql_await_held(0);
}

static void a_try_that_costs_its_session_is_made_twice(void **state)
{
    (void) state;
    unit_postgresql_run("CREATE FUNCTION front.pg_try_advisory_lock(bigint) RETURNS boolean"
                        " LANGUAGE sql AS 'SELECT pg_terminate_backend(pg_backend_pid())'");
    assert_true(postgresql_failed(unit_run(lease, LATCH_ACQUIRE), "lost the connection to"));
    assert_non_null(strstr(unit.error.message, "terminating connection"));
}

static void a_release_that_fails_ends_the_session_with_what_it_holds(void **state)
{
    latch_lease *second = postgresql_lease("s");
    latch_op op;

    (void) state;
    assert_int_equal(unit_run(second, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_postgresql_run("CREATE FUNCTION front.pg_advisory_unlock(bigint) RETURNS boolean"
                        " LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$");
    assert_int_equal(unit_begin(&op, lease, unit_request(LATCH_RELEASE)), LATCH_WANT_IO);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_false(unit_held(second));
    unit_postgresql_await_held(0);
}

static void a_wait_that_cannot_be_undone_ends_with_its_session(void **state)
{
    latch_op op;

    (void) state;
    hang_behind("pg_advisory_lock", "void");
    unit_postgresql_run("CREATE FUNCTION front.pg_advisory_unlock(bigint) RETURNS boolean"
                        " LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$");
    assert_true(
        postgresql_failed(run_to_the_middle(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                          "cancelled"));
    unit_postgresql_await_held(0);
}

static void a_statement_that_could_not_be_prepared_is_prepared_again(void **state)
{
    latch_lease *second = postgresql_lease("s");

    (void) state;
    assert_int_equal(unit_run_waiting(second, LATCH_ACQUIRE_SHARED, MINUTE), LATCH_DONE);
    unit_postgresql_run("CREATE PROCEDURE front.pg_try_advisory_lock(bigint)"
                        " LANGUAGE sql AS 'SELECT 1'");
    assert_true(postgresql_failed(unit_run(lease, LATCH_ACQUIRE), "is a procedure"));
    unit_postgresql_run("DROP PROCEDURE front.pg_try_advisory_lock(bigint)");
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(second, LATCH_PROBE), LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STATEMENT_TEST(a_reader_whose_promotion_fails_behind_its_grant_is_a_reader_still),
        STATEMENT_TEST(a_reader_whose_promotion_fails_before_its_grant_is_a_reader_still),
        STATEMENT_TEST(a_promotion_that_does_not_wait_ends_though_another_reader_comes_in_the_middle),
        STATEMENT_TEST(a_wait_that_fails_behind_its_grant_leaves_nothing_behind),
        STATEMENT_TEST(a_try_that_fails_behind_its_grant_leaves_nothing_behind),
        STATEMENT_TEST(a_try_that_fails_takes_nothing_from_another_reader_of_the_session),
        STATEMENT_TEST(nothing_is_sent_that_a_cancel_under_way_might_hit),
        STATEMENT_TEST(what_is_no_wait_is_not_cancelled_by_the_next),
        STATEMENT_TEST(a_wait_that_is_to_be_undone_is_not_taken_back),
        STATEMENT_TEST(a_cancel_that_hangs_ends_with_the_session),
        STATEMENT_TEST(a_cancel_without_effect_ends_with_the_session),
        STATEMENT_TEST(a_try_that_costs_its_session_is_made_twice),
        STATEMENT_TEST(a_release_that_fails_ends_the_session_with_what_it_holds),
        STATEMENT_TEST(a_wait_that_cannot_be_undone_ends_with_its_session),
        STATEMENT_TEST(a_statement_that_could_not_be_prepared_is_prepared_again),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
