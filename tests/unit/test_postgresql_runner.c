/*
 * The PostgreSQL store in a session that its user has: here a connection of libpq, on which a
 * runner runs the store's statements as a PDO object would.
 */
#include "postgresql_store.h"
#include "sql_client.h"
#include "src/engine/store.h"

static PGconn *connection;
static const char *forged; /* is answered in place of the server, so many times */
static int forgeries;
static latch_lease *lease, *other;
static latch_store *store;

static latch_status run(void *context, const char *statement, char *value, size_t size,
                        latch_error *error)
{
    latch_status status = postgresql_client_run(connection, statement, value, size, error);

    (void) context;
    if (status == LATCH_DONE && forgeries-- > 0) {
        snprintf(value, size, "%s", forged);
    }
    return status;
}

static bool is_in_transaction(void *context)
{
    (void) context;
    return postgresql_client_is_in_transaction(connection);
}

static void close_runner(void *context)
{
    (void) context;
}

static int setup(void **state)
{
    const latch_sql_runner runner = {.run = run,
                                     .is_in_transaction = is_in_transaction,
                                     .close = close_runner};
    latch_store_options options = {.runner = &runner};

    if (postgresql_store_setup(state) != 0) {
        return -1;
    }
    forgeries = 0;
    connection = unit_postgresql_peer_open().connection;
    store = latch_store_open(unit.engine, "postgresql", &options, &unit.error);
    lease = postgresql_lease_in(store, "r");
    other = postgresql_other_lease("r");
    return store != NULL ? 0 : -1;
}

static void drop_leases(void)
{
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
}

static int teardown(void **state)
{
    drop_leases();
    if (store != NULL) {
        latch_store_close(store);
    }
    PQfinish(connection);
    return postgresql_store_teardown(state);
}

#define RUNNER_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void execute(const char *statement)
{
    PQclear(PQexec(connection, statement));
}

static void a_lock_is_held_by_the_given_session(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(unit_held(lease));
    assert_int_equal(postgresql_session(), PQbackendPID(connection));
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void no_thread_looks_after_the_given_session(void **state)
{
    latch_watch watch = {.state = NULL};

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(store->class->watch(lease, &watch));
    assert_non_null(strstr(store->class->renewal_unsupported_reason(store),
                           "which only the thread that has the connection"));
    assert_null(
        unit.store->class->renewal_unsupported_reason(unit.store)); /* a session of its own */
    unit_release(lease);
}

static void a_conflict_spoils_no_transaction(void **state)
{
    latch_lease *reader = postgresql_lease_in(store, "s"),
                *other_reader = postgresql_other_lease("s");

    (void) state;
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(other_reader, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    execute("BEGIN");
    assert_int_equal(unit_run(reader, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, 20), LATCH_CONFLICT);
    assert_int_equal(unit_run(reader, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(PQtransactionStatus(connection), PQTRANS_INTRANS);
    unit_release(other_reader);
    assert_int_equal(unit_run(reader, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(reader);
    unit_release(other);
    assert_int_equal(unit_postgresql_count_held(), 0);
}

/* Each would wait for the other. */
static void a_lone_reader_in_a_transaction_is_promoted_ahead_of_a_waiter(void **state)
{
    unit_postgresql_peer peer = unit_postgresql_peer_open();

    (void) state;
    execute("BEGIN");
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_postgresql_peer_wait(&peer, LOCK_EX, postgresql_number_of("r"));
    unit_postgresql_await_waiting(1);
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, 1000), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
    assert_int_equal(PQtransactionStatus(connection), PQTRANS_INTRANS);
    unit_release(lease);
    unit_postgresql_peer_has(&peer);
    unit_postgresql_peer_close(&peer);
}

/* A statement is refused in a transaction that has failed. */
static void a_release_that_is_refused_can_be_made_again(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    execute("BEGIN");
    execute("SELECT 1/0");
    assert_true(postgresql_failed(unit_run(lease, LATCH_RELEASE), "transaction is aborted"));
    assert_true(unit_held(lease));
    execute("ROLLBACK");
    unit_release(lease);
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void a_release_for_nobody_that_is_refused_is_made_later(void **state)
{
    latch_lease *second = postgresql_lease_in(store, "s"), *again;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(second, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    execute("BEGIN");
    execute("SELECT 1/0");
    assert_int_equal(unit_run_request(lease, postgresql_detached_release()), LATCH_DONE);
    latch_lease_drop(second);
    assert_true(postgresql_failed(unit_run(postgresql_lease_in(store, "t"), LATCH_ACQUIRE),
                                  "transaction is aborted"));
    execute("ROLLBACK");
    assert_int_equal(unit_postgresql_count_held(), 2);
    again = postgresql_lease_in(store, "r");
    assert_int_equal(unit_run(again, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_postgresql_count_held(), 1);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    unit_release(again);
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void a_release_that_was_refused_is_made_at_the_stores_end_at_the_latest(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    execute("BEGIN");
    execute("SELECT 1/0");
    drop_leases();
    execute("ROLLBACK");
    assert_int_equal(unit_postgresql_count_held(), 1);
    latch_store_close(store);
    store = NULL;
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void a_lock_that_somebody_else_has_released_is_lost(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    execute("SELECT pg_advisory_unlock_all()");
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    execute("SELECT pg_advisory_unlock_all()");
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

static void another_session_under_the_runner_has_lost_the_locks(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    PQreset(connection);
    UNIT_AWAIT(unit_postgresql_count_held() == 0); /* the server ends the old session by and by */
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_ERROR_STORE);
    assert_non_null(strstr(unit.error.message, "is in another session"));
    assert_false(unit_held(lease));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

static void answers_that_make_no_sense_end_the_inspection(void **state)
{
    static const char *const answers[] = {"what", "12", "12x,", "12x,13", "x,s", "-", "9x9x"};

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    for (size_t at = 0; at < sizeof(answers) / sizeof(*answers); at++) {
        latch_request request = unit_request(LATCH_INSPECT);
        latch_lock_report *report = NULL;

        forged = answers[at];
        forgeries = 1;
        request.reports = &report;
        assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
        for (const latch_holder *one = report->holders; one != NULL; one = one->next) {
            assert_true(one->number == 12 || one->number == 9);
        }
        latch_lock_reports_free(unit.engine, report);
    }
}

static void a_try_whose_answer_makes_no_sense_leaves_nothing_behind(void **state)
{
    (void) state;
    forged = "";
    forgeries = 1;
    assert_true(postgresql_failed(unit_run(lease, LATCH_ACQUIRE), "its answer was NULL"));
    assert_int_equal(unit_postgresql_count_held(), 0);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNNER_TEST(a_lock_is_held_by_the_given_session),
        RUNNER_TEST(no_thread_looks_after_the_given_session),
        RUNNER_TEST(a_conflict_spoils_no_transaction),
        RUNNER_TEST(a_lone_reader_in_a_transaction_is_promoted_ahead_of_a_waiter),
        RUNNER_TEST(a_release_that_is_refused_can_be_made_again),
        RUNNER_TEST(a_release_for_nobody_that_is_refused_is_made_later),
        RUNNER_TEST(a_release_that_was_refused_is_made_at_the_stores_end_at_the_latest),
        RUNNER_TEST(a_lock_that_somebody_else_has_released_is_lost),
        RUNNER_TEST(another_session_under_the_runner_has_lost_the_locks),
        RUNNER_TEST(answers_that_make_no_sense_end_the_inspection),
        RUNNER_TEST(a_try_whose_answer_makes_no_sense_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
