/* Locks in a table of PostgreSQL. */
#include "postgresql_server.h"
#include "sql_client.h"
#include "table_stores.h"

static latch_op op;

/* The row has changed since the statement began, which such a transaction may not see. */
static void a_clash_of_transactions_is_no_error(void **state)
{
    latch_lease *lease;
    latch_sql_runner peer = postgresql_client_runner();
    latch_request request = unit_request(LATCH_ACQUIRE);
    latch_sql_change change;
    latch_status status;

    (void) state;
    UNIT_CHECK(table_try(table_lease_in(unit.store, "other"), LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    table_insert(table_hash("r"), "peer", -10);
    unit_postgresql_run("ALTER ROLE latch SET default_transaction_isolation = 'repeatable read'");
    lease = table_lease_in(table_store_with((latch_table_options){.prune_probability = 0}), "r");
    UNIT_CHECK(peer.execute(peer.context, "BEGIN", &change, &unit.error) == LATCH_DONE);
    UNIT_CHECK(
        peer.execute(peer.context, "UPDATE lock_keys SET key_token = 'other'", &change, &unit.error)
        == LATCH_DONE);
    request.ttl_ms = MINUTE;
    status = unit_begin(&op, lease, request);
    for (unsigned looks = 0; unit_postgresql_number("SELECT count(*) FROM pg_stat_activity"
                                                    " WHERE wait_event_type = 'Lock'")
                             == 0;) {
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
        unit_sql_look_again(&looks);
    }
    UNIT_CHECK(peer.execute(peer.context, "COMMIT", &change, &unit.error) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
    peer.close(peer.context);
}

/* "E" and backslashes mean the same, whatever the settings. */
static void settings_of_literals_do_not_matter(void **state)
{
    latch_table_options table = {.names = LATCH_TABLE_PLAIN};
    latch_lease *lease;

    (void) state;
    unit_postgresql_run("ALTER ROLE latch SET standard_conforming_strings = off");
    unit_postgresql_run("ALTER ROLE latch SET client_encoding = 'LATIN1'");
    lease = table_lease_in(table_store_with(table), "\\ ' \xc3\xa4");
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    assert_int_equal(table_count("key_id = U&'\\005c \\0027 \\00e4'"), 1);
}

/* Symfony 5.4 takes a row from half a second before its expiry on. */
static void a_clock_that_rounds_takes_no_row_early(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    char condition[128];

    (void) state;
    for (int64_t ttl_ms = 1000; ttl_ms < 2100; ttl_ms += 101) {
        long long before =
            unit_postgresql_number("SELECT floor(1000 * extract(epoch FROM clock_timestamp()))");

        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, ttl_ms) == LATCH_DONE);
        snprintf(condition, sizeof(condition), "key_expiration <= CAST(%lld / 1000.0 AS INT)",
                 before + ttl_ms);
        assert_int_equal(table_count(condition), 0);
    }
}

/* A row that is locked is one that the disk has to be awaited for, and its holder's release has to
 * wait. */
static void what_is_refused_locks_no_row(void **state)
{
    latch_store *const stores[] = {unit.store, table_client_store()};

    (void) state;
    UNIT_CHECK(table_try(table_lease_in(unit.store, "r"), LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    for (int is_client = 0; is_client <= 1; is_client++) {
        for (int64_t timeout_ms = 0; timeout_ms < 30; timeout_ms += 20) {
            latch_request request = unit_waiting(LATCH_ACQUIRE, timeout_ms);

            request.ttl_ms = MINUTE;
            UNIT_CHECK(unit_run_request(table_lease_in(stores[is_client], "r"), request)
                       == LATCH_CONFLICT);
            assert_int_equal(unit_postgresql_number("SELECT xmax::text FROM lock_keys"), 0);
        }
    }
}

/* What a crash forgets of it is a lock that stays until it expires. On a connection of the caller's
 * the transaction may be the caller's, too. */
static void a_release_by_a_dsn_does_not_await_the_disk(void **state)
{
    latch_store *const stores[] = {unit.store, table_client_store()};

    (void) state;
    for (int is_client = 0; is_client <= 1; is_client++) {
        latch_lease *lease = table_lease_in(stores[is_client], "r");

        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        UNIT_CHECK(table_try(lease, LATCH_RELEASE, 0) == LATCH_DONE);
        assert_int_equal(unit_postgresql_number(
                             "SELECT count(*) FROM pg_stat_activity WHERE query"
                             " LIKE 'DELETE%%''synchronous\\_commit'', ''off'', true%%'"),
                         1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TESTS TABLE_TEST(a_clock_that_rounds_takes_no_row_early),
        TABLE_TEST(a_clash_of_transactions_is_no_error),
        TABLE_TEST(settings_of_literals_do_not_matter),
        TABLE_TEST(what_is_refused_locks_no_row),
        TABLE_TEST(a_release_by_a_dsn_does_not_await_the_disk),
    };

    table_server_under_test = (table_server){
        .dsn = unit_postgresql.dsn,
        .driver = "pgsql",
        .setup = unit_postgresql_setup,
        .run = unit_postgresql_run,
        .number = unit_postgresql_number,
        .end_sessions = unit_postgresql_end_sessions,
        .await_sessions = unit_postgresql_await_sessions,
        .freeze = unit_postgresql_freeze,
        .thaw = unit_postgresql_thaw,
        .runner = postgresql_client_runner,
        .now = "extract(epoch FROM clock_timestamp())",
        .short_waits = "ALTER ROLE latch SET lock_timeout = '20ms'",
        .long_waits = "ALTER ROLE latch RESET lock_timeout",
        .is_hex = "%s = convert_from(decode('%s', 'hex'), 'UTF8')",
        .quoted = "\"The Locks?\"",
    };
    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
