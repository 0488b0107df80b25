/* Advisory locks in PostgreSQL when sessions, servers and connections end. */
#include "postgresql_store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static latch_lease *lease, *other;

static int setup(void **state)
{
    if (postgresql_store_setup(state) != 0) {
        return -1;
    }
    lease = postgresql_lease("r");
    other = postgresql_other_lease("r");
    return 0;
}

#define TROUBLE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, postgresql_store_teardown)

static void a_lock_is_lost_with_its_session(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_postgresql_end_sessions();
    UNIT_AWAIT(!unit_held(lease)); /* without a question to the server */
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(unit_run(lease, LATCH_REFRESH), LATCH_CONFLICT);
    assert_int_equal(unit_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_PROBE), LATCH_DONE); /* it was not released by that */
    unit_release(other);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_probe_tells_that_the_session_has_ended(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_postgresql_end_sessions();
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_true(lease->lost);
    assert_false(unit_held(lease));
}

static void a_lock_that_is_lost_is_not_taken_for_one_that_is_held(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_postgresql_end_sessions();
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_int_equal(lease->mode, LATCH_FREE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE); /* from the start */
    unit_postgresql_end_sessions();
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
}

static void what_is_lost_stands_in_the_way_of_no_other_lease(void **state)
{
    latch_lease *second = postgresql_lease("r");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(second, LATCH_ACQUIRE), LATCH_CONFLICT);
    unit_postgresql_end_sessions();
    /* The end of the connection may arrive a moment later. */
    UNIT_AWAIT(unit_run(second, LATCH_ACQUIRE) == LATCH_DONE);
    assert_false(unit_held(lease));
    assert_int_equal(unit_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(unit_run(second, LATCH_PROBE), LATCH_DONE);
}

static void a_session_that_ended_while_it_held_nothing_is_replaced_silently(void **state)
{
    (void) state;
    for (int at = 0; at < 3; at++) {
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        unit_release(lease);
        unit_postgresql_end_sessions();
    }
}

static void a_wait_outlives_its_session(void **state)
{
    unit_postgresql_peer peer;
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    unit_postgresql_end_sessions();
    peer = unit_postgresql_peer_open();
    assert_true(unit_postgresql_peer_try(&peer, LOCK_EX, postgresql_number_of("r")));
    while (unit_postgresql_count_waiting() != 1) {
        UNIT_CHECK(latch_wants(status));
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
    }
    assert_false(unit_held(lease));
    unit_postgresql_peer_close(&peer);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_true(unit_held(other));
}

static void a_wait_outlives_a_restart_of_the_server(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    unit_postgresql_kill();
    for (int at = 0; at < 3; at++) { /* it tries in vain */
        unit_await_wish(&op, status, LATCH_NEVER);
        status = latch_op_step(&op, unit_now_ns());
        assert_true(latch_wants(status));
    }
    unit_postgresql_start(NULL);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE); /* nobody holds it any more */
    assert_false(unit_held(lease));
    assert_true(unit_held(other));
    assert_int_equal(unit_postgresql_count_held(), 1);
}

static void a_wait_ends_when_the_server_stays_away(void **state)
{
    latch_store *store = postgresql_open("%s;timeout=1", unit_postgresql.dsn);
    latch_lease *waiter = postgresql_lease_in(store, "r");
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    unit_postgresql_stop();
    assert_true(postgresql_failed(unit_finish(&op, status), "cannot connect to PostgreSQL at"));
    assert_int_equal(waiter->mode, LATCH_FREE);
    unit_postgresql_start(NULL);
}

static void a_server_that_is_not_there_is_an_error(void **state)
{
    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    unit_postgresql_stop();
    assert_true(postgresql_failed(unit_run(lease, LATCH_ACQUIRE), "Connection refused"));
    assert_true(postgresql_failed(unit_run(other, LATCH_ACQUIRE), "cannot connect"));
    unit_postgresql_start(NULL);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_server_that_does_not_answer_costs_its_time_out(void **state)
{
    latch_store *store = postgresql_open("%s;read_timeout=1;timeout=1", unit_postgresql.dsn);
    latch_lease *held = postgresql_lease_in(store, "s"), *patient = postgresql_lease_in(store, "r");

    (void) state;
    assert_int_equal(unit_run(held, LATCH_ACQUIRE), LATCH_DONE);
    unit_postgresql_freeze();
    assert_true(postgresql_failed(unit_run(patient, LATCH_ACQUIRE), "PostgreSQL at"));
    assert_false(unit_held(held)); /* with the session */
    assert_int_equal(unit_run(held, LATCH_PROBE), LATCH_CONFLICT);
    unit_postgresql_thaw();
    unit_postgresql_await_held(0);
    assert_int_equal(unit_run(patient, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_wait_that_cannot_be_cancelled_ends_all_the_same(void **state)
{
    latch_store *store = postgresql_open("%s;read_timeout=1;timeout=1", unit_postgresql.dsn);
    latch_lease *waiter = postgresql_lease_in(store, "r");
    latch_op op;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    postgresql_begin_wait(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    unit_postgresql_freeze();
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    unit_postgresql_thaw();
    unit_postgresql_await_waiting(0); /* the server looks whether its client is there */
    unit_release(lease);
    unit_postgresql_await_held(0);
}

/* It asks by a statement that may wait, for a moment. */
static void a_promotion_that_does_not_wait_costs_the_time_out_of_a_statement(void **state)
{
    latch_store *store = postgresql_open("%s;read_timeout=1;timeout=1", unit_postgresql.dsn);
    latch_lease *reader = postgresql_lease_in(store, "r");

    (void) state;
    assert_int_equal(unit_run(reader, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_postgresql_freeze();
    assert_int_equal(unit_run(reader, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    unit_postgresql_thaw();
    unit_postgresql_await_held(0);
}

/* The server forgets a cancel that comes when it has not read yet what is to be cancelled. */
static void a_cancel_that_comes_too_early_is_repeated(void **state)
{
    latch_lease *held = postgresql_other_lease("s");
    latch_op op;
    latch_status status;
    pid_t backend;

    (void) state;
    assert_int_equal(unit_run(held, LATCH_ACQUIRE), LATCH_DONE);
    backend = (pid_t) postgresql_session();
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(kill(backend, SIGSTOP), 0);
    status = unit_begin(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    assert_int_equal(status, LATCH_WANT_IO);
    status = latch_op_cancel(&op, unit_now_ns());
    while (unit_postgresql_count_sessions() < 3) { /* the one that carries the cancel is there */
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
    }
    while (unit_postgresql_count_sessions() == 3) { /* it has delivered it */
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
    }
    assert_int_equal(kill(backend, SIGCONT), 0);
    assert_int_equal(unit_finish(&op, status), LATCH_CONFLICT);
    assert_int_equal(unit_run(held, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_held(held));
}

static void what_an_administrator_cancels_is_an_error(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    unit_postgresql_run("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted");
    assert_true(postgresql_failed(unit_finish(&op, status), "cancelled by PostgreSQL at"));
    assert_int_equal(unit_postgresql_count_waiting(), 0);
    unit_release(lease);
    assert_int_equal(unit_postgresql_count_held(), 0);
}

static void time_outs_of_the_role_do_not_end_waits_or_sessions(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    unit_postgresql_run("ALTER ROLE latch SET statement_timeout = '1s'");
    unit_postgresql_run("ALTER ROLE latch SET lock_timeout = '1s'");
    unit_postgresql_run("ALTER ROLE latch SET idle_session_timeout = '1s'");
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    unit_await_wish(&op, status, unit_now_ns() + 2000 * LATCH_NS_PER_MS);
    unit_postgresql_run("ALTER ROLE latch RESET ALL");
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
}

static void a_wrong_password_is_told_without_it(void **state)
{
    latch_store *store = postgresql_open("pgsql:host=127.0.0.1;port=%d;dbname=latch;user=latch;"
                                         "password=not-" UNIT_SQL_PASSWORD,
                                         unit_postgresql.server.port);

    (void) state;
    assert_true(postgresql_failed(unit_run(postgresql_lease_in(store, "r"), LATCH_ACQUIRE),
                                  "password authentication failed for user \"latch\""));
}

static void a_name_is_resolved_without_blocking(void **state)
{
    latch_store *store =
        postgresql_open("pgsql:host=localhost;port=%d;dbname=latch;user=latch;"
                        "password=" UNIT_SQL_PASSWORD ";sslmode=verify-full;sslrootcert=%s",
                        unit_postgresql.server.port, unit_postgresql.server.certificate);
    latch_lease *by_name = postgresql_lease_in(store, "r");
    latch_op op;
    latch_status status;

    (void) state;
    status = unit_begin(&op, by_name, unit_request(LATCH_ACQUIRE));
    assert_int_equal(status, LATCH_WANT_IO);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_int_equal(unit_postgresql_number("SELECT count(*) FROM pg_stat_ssl WHERE ssl"), 1);
}

static void a_name_that_nobody_knows_is_an_error(void **state)
{
    latch_store *store = postgresql_open("pgsql:host=nobody.invalid;dbname=latch;user=latch");
    latch_status status = unit_run(postgresql_lease_in(store, "r"), LATCH_ACQUIRE);

    (void) state;
    assert_int_equal(status, LATCH_ERROR_SYSTEM);
    assert_non_null(strstr(unit.error.message, "cannot resolve \"nobody.invalid\""));
}

static void the_certificate_of_somebody_else_is_refused(void **state)
{
    latch_store *store =
        postgresql_open("pgsql:host=localhost;port=%d;dbname=latch;user=latch;"
                        "password=" UNIT_SQL_PASSWORD ";sslmode=verify-full;sslrootcert=%s",
                        unit_postgresql.server.port, unit_postgresql.server.stranger);

    (void) state;
    assert_true(postgresql_failed(unit_run(postgresql_lease_in(store, "r"), LATCH_ACQUIRE),
                                  "certificate verify failed"));
}

/* A wait for the lock of another session, whose time ends while the server hangs. */
static latch_status overstay_frozen(latch_op *op)
{
    latch_store *store = postgresql_open("%s;read_timeout=20;timeout=20", unit_postgresql.dsn);
    latch_status status;

    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    status = postgresql_begin_wait(op, postgresql_lease_in(store, "r"),
                                   unit_waiting(LATCH_ACQUIRE, MINUTE), 1);
    assert_true(latch_wants(status));
    unit_postgresql_freeze();
    unit.ahead_ns += MINUTE * LATCH_NS_PER_MS;
    status = latch_op_step(op, unit_now_ns());
    assert_true(latch_wants(status));
    return status;
}

static void a_server_that_ends_a_wait_late_is_awaited(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    status = overstay_frozen(&op);
    unit.ahead_ns += 2 * LATCH_NS_PER_S;
    status = latch_op_step(&op, unit_now_ns());
    unit_postgresql_thaw();
    assert_true(latch_wants(status));
    assert_int_equal(LATCH_CONFLICT, unit_finish(&op, status));
    unit_release(lease);
    unit_postgresql_await_held(0);
}

static void a_wait_whose_time_ends_while_the_server_hangs_is_an_error(void **state)
{
    latch_op op;
    latch_status status;

    (void) state;
    status = overstay_frozen(&op);
    assert_true(
        postgresql_failed(unit_finish(&op, status), "it does not answer, nor does it end a wait"));
    unit_postgresql_thaw();
    unit_release(lease);
    unit_postgresql_await_held(0);
}

static void a_connection_that_was_given_up_does_not_count_for_the_next(void **state)
{
    latch_op op;

    (void) state;
    assert_int_equal(unit_begin(&op, lease, unit_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    unit.ahead_ns += MINUTE * LATCH_NS_PER_MS;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

static void the_next_host_is_tried_when_a_name_is_unknown(void **state)
{
    latch_store *store = postgresql_open("pgsql:host=nobody.invalid,127.0.0.1;port=%d,%d;"
                                         "dbname=latch;user=latch;password=" UNIT_SQL_PASSWORD,
                                         unit_postgresql.server.port, unit_postgresql.server.port);

    (void) state;
    assert_int_equal(unit_run(postgresql_lease_in(store, "r"), LATCH_ACQUIRE), LATCH_DONE);
}

/* Another server might have a session of the same number. */
static void a_cancel_goes_to_the_server_of_the_session(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    latch_store *store;
    latch_op op;

    (void) state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *) &address, length), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *) &address, &length), 0);
    store = postgresql_open("pgsql:host=127.0.0.1,127.0.0.1;port=%d,%d;dbname=latch;user=latch;"
                            "password=" UNIT_SQL_PASSWORD,
                            ntohs(address.sin_port), unit_postgresql.server.port);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    postgresql_begin_wait(&op, postgresql_lease_in(store, "r"),
                          unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    assert_int_equal(listen(listener, 4), 0); /* the first host has come back */
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_int_equal(accept(listener, NULL, NULL), -1);
    close(listener);
    assert_int_equal(unit_postgresql_count_waiting(), 0);
}

static void the_next_host_is_tried(void **state)
{
    latch_store *store =
        postgresql_open("pgsql:host=127.0.0.1,127.0.0.1;port=1,%d;dbname=latch;user=latch;"
                        "password=" UNIT_SQL_PASSWORD,
                        unit_postgresql.server.port);

    (void) state;
    assert_int_equal(unit_run(postgresql_lease_in(store, "r"), LATCH_ACQUIRE), LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TROUBLE_TEST(a_lock_is_lost_with_its_session),
        TROUBLE_TEST(a_probe_tells_that_the_session_has_ended),
        TROUBLE_TEST(a_lock_that_is_lost_is_not_taken_for_one_that_is_held),
        TROUBLE_TEST(what_is_lost_stands_in_the_way_of_no_other_lease),
        TROUBLE_TEST(a_session_that_ended_while_it_held_nothing_is_replaced_silently),
        TROUBLE_TEST(a_wait_outlives_its_session),
        TROUBLE_TEST(a_wait_outlives_a_restart_of_the_server),
        TROUBLE_TEST(a_wait_ends_when_the_server_stays_away),
        TROUBLE_TEST(a_server_that_is_not_there_is_an_error),
        TROUBLE_TEST(a_server_that_does_not_answer_costs_its_time_out),
        TROUBLE_TEST(a_wait_that_cannot_be_cancelled_ends_all_the_same),
        TROUBLE_TEST(a_promotion_that_does_not_wait_costs_the_time_out_of_a_statement),
        TROUBLE_TEST(a_cancel_that_comes_too_early_is_repeated),
        TROUBLE_TEST(what_an_administrator_cancels_is_an_error),
        TROUBLE_TEST(time_outs_of_the_role_do_not_end_waits_or_sessions),
        TROUBLE_TEST(a_wrong_password_is_told_without_it),
        TROUBLE_TEST(a_name_is_resolved_without_blocking),
        TROUBLE_TEST(a_name_that_nobody_knows_is_an_error),
        TROUBLE_TEST(the_certificate_of_somebody_else_is_refused),
        TROUBLE_TEST(a_server_that_ends_a_wait_late_is_awaited),
        TROUBLE_TEST(a_wait_whose_time_ends_while_the_server_hangs_is_an_error),
        TROUBLE_TEST(a_connection_that_was_given_up_does_not_count_for_the_next),
        TROUBLE_TEST(the_next_host_is_tried),
        TROUBLE_TEST(the_next_host_is_tried_when_a_name_is_unknown),
        TROUBLE_TEST(a_cancel_goes_to_the_server_of_the_session),
    };

    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
