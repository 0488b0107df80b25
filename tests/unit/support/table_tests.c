/* Tests of locks in tables that hold for each server: see table_stores.h; of names in
 * table_names.c. */
#include "sql_client.h"
#include "sql_server.h"
#include "table_stores.h"

#include <poll.h>
#include <sys/socket.h>

#define SERVER table_server_under_test

static latch_op op;

/* ---- Rows ----------------------------------------------------------------------------------- */

void a_row_has_the_name_the_token_and_an_expiry_that_is_not_early(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    char condition[512];

    (void) state;
    for (int64_t ttl_ms = 700; ttl_ms < 2000; ttl_ms += 101) {
        long long before = SERVER.number("SELECT floor(1000 * (%s))", SERVER.now), expiry;

        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, ttl_ms) == LATCH_DONE);
        expiry = SERVER.number("SELECT floor(1000.0 * key_expiration) FROM lock_keys");
        assert_true(expiry >= before + ttl_ms);
        UNIT_CHECK(table_try(lease, LATCH_REFRESH, ttl_ms + 1000) == LATCH_DONE);
        expiry = SERVER.number("SELECT floor(1000.0 * key_expiration) FROM lock_keys");
        assert_true(expiry >= before + ttl_ms + 1000);
    }
    snprintf(condition, sizeof(condition), "key_id = '%s' AND key_token = '%s'", table_hash("r"),
             lease->token);
    assert_int_equal(table_count(condition), 1);
    unit_release(lease);
    assert_int_equal(table_count("1 = 1"), 0);
}

void a_refresh_takes_a_key_over(void **state)
{
    latch_lease *first = table_lease_in(unit.store, "r"), *second = table_lease_in(unit.store, "r");

    (void) state;
    UNIT_CHECK(table_try(first, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    UNIT_CHECK(latch_lease_set_token(second, first->token, first->token_length, &unit.error)
               == LATCH_DONE);
    UNIT_CHECK(table_try(second, LATCH_REFRESH, 2 * MINUTE) == LATCH_DONE);
    assert_true(unit_held(second));
    unit_release(second);
    assert_int_equal(table_count("1 = 1"), 0);
    UNIT_CHECK(table_try(second, LATCH_REFRESH, MINUTE) == LATCH_CONFLICT && !unit_held(second));
}

void a_row_that_has_expired_is_taken_over(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");

    (void) state;
    table_create();
    table_insert(table_hash("r"), "peer", 60);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    SERVER.run("UPDATE lock_keys SET key_expiration = %s - 1", SERVER.now);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    assert_int_equal(table_count("key_token <> 'peer'"), 1);
    assert_int_equal(table_count("1 = 1"), 1);
}

typedef struct counted_runner {
    latch_sql_runner runner;
    int count; /* of statements */
} counted_runner;

static counted_runner counted;

static latch_status count_run(void *context, const char *statement, char *value, size_t size,
                              latch_error *error)
{
    (void) context;
    counted.count++;
    return counted.runner.run(counted.runner.context, statement, value, size, error);
}

static latch_status count_execute(void *context, const char *statement, latch_sql_change *change,
                                  latch_error *error)
{
    (void) context;
    counted.count++;
    return counted.runner.execute(counted.runner.context, statement, change, error);
}

static bool counted_transaction(void *context)
{
    (void) context;
    return counted.runner.is_in_transaction(counted.runner.context);
}

static void close_counted(void *context)
{
    (void) context;
    counted.runner.close(counted.runner.context);
}

void acquire_and_release_are_one_statement_each(void **state)
{
    const latch_sql_runner runner = {.context = &counted,
                                     .run = count_run,
                                     .execute = count_execute,
                                     .is_in_transaction = counted_transaction,
                                     .close = close_counted};
    latch_store *store = table_runner_store(&runner);
    latch_lease *lease = table_lease_in(store, "r"), *peer = table_lease_in(store, "r");

    (void) state;
    counted = (counted_runner){SERVER.runner(), 0};
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    unit_release(lease);
    counted.count = 0;
    for (int round = 1; round < 4; round++) {
        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        UNIT_CHECK(table_try(peer, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
        UNIT_CHECK(table_try(lease, LATCH_RELEASE, 0) == LATCH_DONE);
        assert_int_equal(counted.count, 3 * round);
    }
}

/* ---- Lost replies --------------------------------------------------------------------------- */

/* The statement arrives, and its reply does not. */
static void lose_reply(latch_lease *lease, latch_op_kind kind)
{
    char reply[4096];
    struct pollfd socket = {.events = POLLIN};

    SERVER.freeze(); /* else the reply may be here already */
    UNIT_CHECK(table_begin(&op, lease, kind, MINUTE) == LATCH_WANT_IO);
    SERVER.thaw();
    socket.fd = op.fd;
    UNIT_CHECK(poll(&socket, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
    UNIT_CHECK(recv(op.fd, reply, sizeof(reply), 0) > 0);
    UNIT_CHECK(shutdown(op.fd, SHUT_RDWR) == 0);
}

void a_lost_reply_is_resolved_by_the_token(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_REFRESH, LATCH_PROBE, LATCH_RELEASE};
    latch_lease *lease = table_lease_in(unit.store, "r"), *peer = table_lease_in(unit.store, "r");
    const sql_session *session = ((table_store *) unit.store)->session;

    (void) state;
    UNIT_CHECK(table_try(peer, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    unit_release(peer);
    for (size_t at = 0; at < sizeof(kinds) / sizeof(*kinds); at++) {
        unsigned age = session->age;

        lose_reply(lease, kinds[at]);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        assert_int_equal(session->age, age + 1);
        UNIT_CHECK(unit_held(lease) == (kinds[at] != LATCH_RELEASE));
        assert_int_equal(table_count("1 = 1"), kinds[at] != LATCH_RELEASE);
    }
    UNIT_CHECK(table_try(peer, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

void a_hold_that_may_have_become_shorter_counts_as_shorter(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    latch_status status;

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    status = table_begin(&op, lease, LATCH_REFRESH, MINUTE / 2);
    assert_true(lease->deadline_ns <= unit_now_ns() + MINUTE / 2 * LATCH_NS_PER_MS);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
}

void a_release_tells_whether_anything_was_held(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    latch_request request = unit_request(LATCH_RELEASE);
    bool was_held;

    (void) state;
    request.was_held = &was_held;
    for (int round = 0; round < 3; round++) {
        was_held = round != 1;
        if (round == 1) {
            UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        }
        UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
        assert_int_equal(was_held, round == 1);
    }
}

/* ---- The table ------------------------------------------------------------------------------ */

void a_missing_table_holds_nothing_and_is_created(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    latch_request release = unit_request(LATCH_RELEASE);
    bool was_held = true;

    (void) state;
    UNIT_CHECK(latch_lease_set_token(lease, "token", 5, &unit.error) == LATCH_DONE);
    UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_CONFLICT);
    UNIT_CHECK(table_try(lease, LATCH_REFRESH, MINUTE) == LATCH_CONFLICT);
    UNIT_CHECK(table_try(lease, LATCH_RELEASE, 0) == LATCH_DONE);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    SERVER.run("DROP TABLE lock_keys");
    release.was_held = &was_held;
    UNIT_CHECK(unit_run_request(lease, release) == LATCH_DONE && !was_held);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    SERVER.run("DROP TABLE lock_keys");
    UNIT_CHECK(table_try(lease, LATCH_REFRESH, MINUTE) == LATCH_CONFLICT && lease->lost);
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, MINUTE) == LATCH_ERROR_ARGUMENT); /* no TTL */
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

void a_table_is_created_on_demand_once(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "");
    latch_request request = unit_request(LATCH_PROBE);

    (void) state;
    request.create = true;
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
    assert_int_equal(table_count("1 = 1"), 0);
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_ERROR_STORE);
    assert_non_null(strstr(unit.error.message, "lock_keys"));
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

void a_table_that_cannot_be_created_is_an_error(void **state)
{
    latch_table_options table = {.table = "missing.missing"}; /* servers name one or both */
    latch_lease *lease = table_lease_in(table_store_with(table), "r");

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_ERROR_STORE);
    assert_non_null(strstr(unit.error.message, "missing"));
    UNIT_CHECK(!unit_held(lease) && !lease->busy);
}

static void in_transaction(const latch_sql_runner *runner, const char *statement)
{
    latch_sql_change change;

    UNIT_CHECK(runner->execute(runner->context, statement, &change, &unit.error) == LATCH_DONE);
}

static void expect_whole_transaction(const latch_sql_runner *runner)
{
    UNIT_CHECK(runner->is_in_transaction(runner->context));
    in_transaction(runner, strcmp(SERVER.driver, "pgsql") == 0 ? "SET LOCAL lock_timeout = 1000"
                                                               : "SET @latch = 1");
}

/* MySQL would end the transaction. */
void a_missing_table_ends_no_transaction_of_the_callers(void **state)
{
    const latch_sql_runner runner = SERVER.runner();
    latch_lease *lease = table_lease_in(table_runner_store(&runner), "r");
    bool can_create = strcmp(SERVER.driver, "pgsql") == 0;
    latch_request release = unit_request(LATCH_RELEASE), inspection = unit_request(LATCH_INSPECT);
    latch_lock_report *reports = NULL;

    (void) state;
    inspection.reports = &reports;
    in_transaction(&runner, "BEGIN");
    UNIT_CHECK(table_try(lease, LATCH_REFRESH, MINUTE) == LATCH_CONFLICT);
    UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_CONFLICT);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE)
               == (can_create ? LATCH_DONE : LATCH_ERROR_STORE));
    assert_true(can_create || strstr(unit.error.message, "before a transaction begins") != NULL);
    expect_whole_transaction(&runner);
    in_transaction(&runner, "ROLLBACK");
    /* What was created is gone with the transaction; its holder may be a destructor. */
    in_transaction(&runner, "BEGIN");
    release.detach = true;
    UNIT_CHECK(unit_run_request(lease, release) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(lease, inspection) == LATCH_DONE && reports->mode == LATCH_FREE);
    latch_lock_reports_free(unit.engine, reports);
    expect_whole_transaction(&runner);
    in_transaction(&runner, "ROLLBACK");
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

/* Nor does one that cannot be created. */
void a_read_only_transaction_of_the_callers_goes_on(void **state)
{
    const latch_sql_runner runner = SERVER.runner();
    latch_lease *lease = table_lease_in(table_runner_store(&runner), "r");

    (void) state;
    in_transaction(&runner, "START TRANSACTION READ ONLY");
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_ERROR_STORE);
    if (strcmp(SERVER.driver, "pgsql") == 0) {
        assert_non_null(strstr(unit.error.message, "could not be created in the transaction"));
    }
    expect_whole_transaction(&runner);
    in_transaction(&runner, "COMMIT");
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

/* ---- Transactions of others ----------------------------------------------------------------- */

static unsigned tries_of(const latch_lease *lease)
{
    return ((const table_hold *) lease->state)->tries;
}

void a_statement_that_waits_for_a_row_is_sent_again(void **state)
{
    latch_sql_runner peer = SERVER.runner();
    latch_lease *lease;
    latch_sql_change change;
    latch_status status;

    (void) state;
    table_create();
    table_insert(table_hash("r"), "peer", -10);
    lease = table_lease_in(unit.store, "r");
    UNIT_CHECK(peer.execute(peer.context, "BEGIN", &change, &unit.error) == LATCH_DONE);
    UNIT_CHECK(
        peer.execute(peer.context, "UPDATE lock_keys SET key_token = 'other'", &change, &unit.error)
        == LATCH_DONE);
    status = table_begin(&op, lease, LATCH_ACQUIRE, MINUTE);
    while (latch_wants(status) && tries_of(lease) == 0) {
        unit_await_wish(&op, status, LATCH_NEVER);
        status = latch_op_step(&op, unit_now_ns());
    }
    UNIT_CHECK(latch_wants(status));
    UNIT_CHECK(peer.execute(peer.context, "COMMIT", &change, &unit.error) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
    peer.close(peer.context);
}

void a_row_that_stays_locked_is_an_error(void **state)
{
    latch_sql_runner peer = SERVER.runner();
    latch_lease *lease;
    latch_sql_change change;

    (void) state;
    table_create();
    table_insert(table_hash("r"), "peer", -10);
    SERVER.run("%s", SERVER.short_waits);
    lease = table_lease_in(table_client_store(), "r");
    UNIT_CHECK(peer.execute(peer.context, "BEGIN", &change, &unit.error) == LATCH_DONE);
    UNIT_CHECK(
        peer.execute(peer.context, "UPDATE lock_keys SET key_token = 'other'", &change, &unit.error)
        == LATCH_DONE);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_ERROR_STORE);
    assert_non_null(strstr(unit.error.message, "was given up for another one's"));
    UNIT_CHECK(!unit_held(lease) && !lease->busy);
    UNIT_CHECK(peer.execute(peer.context, "COMMIT", &change, &unit.error) == LATCH_DONE);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    peer.close(peer.context);
    SERVER.run("%s", SERVER.long_waits);
}
