/* Tests of locks in tables that are waited for, given up, pruned and renewed, for each server: see
 * table_stores.h. */
#include "keeping.h"
#include "sql_server.h"
#include "table_stores.h"

#define SERVER table_server_under_test

static latch_op op;

/* ---- Many at once --------------------------------------------------------------------------- */

enum { CONTENDERS = 6, ROUNDS = 60, RESOURCES = 3 };

/* Two rows for each lock, and expired rows that each grant removes: what deadlocks are made of. */
static void contend(unit_process *self, void *argument)
{
    const latch_table_options table = {.names = LATCH_TABLE_BOTH, .prune_probability = 1};
    latch_store *store = table_open_dsn(&table, "%s", "");
    latch_lease *leases[RESOURCES];
    static const char *const names[RESOURCES] = {"a", "b", "c"};

    (void) argument;
    UNIT_CHECK(store != NULL);
    for (int at = 0; at < RESOURCES; at++) {
        leases[at] = table_lease_in(store, names[at]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        latch_lease *lease = leases[round % RESOURCES];
        latch_status status = table_try(lease, LATCH_ACQUIRE, round % 7 == 0 ? 1 : MINUTE);

        UNIT_CHECK(status == LATCH_DONE || status == LATCH_CONFLICT);
        if (round % 5 != 0) { /* others expire, or are renewed by the next round */
            UNIT_CHECK(table_try(lease, LATCH_RELEASE, 0) == LATCH_DONE);
        }
    }
    for (int at = 0; at < RESOURCES; at++) {
        UNIT_CHECK(table_try(leases[at], LATCH_RELEASE, 0) == LATCH_DONE);
        latch_lease_drop(leases[at]);
    }
    unit.lease_count = 0;
    latch_store_close(store);
    (void) self;
}

void contenders_meet_no_error(void **state)
{
    unit_process processes[CONTENDERS];
    char name[32];

    (void) state;
    table_create();
    for (int at = 0; at < 300; at++) {
        snprintf(name, sizeof(name), "expired %d", at);
        table_insert(name, "peer", -10);
    }
    for (int at = 0; at < CONTENDERS; at++) {
        processes[at] = unit_fork(contend, NULL);
    }
    for (int at = 0; at < CONTENDERS; at++) {
        unit_join(&processes[at]);
    }
    assert_int_equal(table_count("key_token <> 'peer'"), 0);
}

/* ---- Pruning, waits, renewal ---------------------------------------------------------------- */

void rows_that_have_expired_are_pruned_behind_a_grant(void **state)
{
    latch_table_options table = {.prune_probability = 1};
    latch_lease *lease = table_lease_in(table_store_with(table), "r");
    char name[32];

    (void) state;
    table_create();
    for (int at = 0; at < 130; at++) {
        snprintf(name, sizeof(name), "expired %d", at);
        table_insert(name, "peer", -10);
    }
    table_insert("held", "peer", 60);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_DONE); /* behind it */
    assert_int_equal(table_count("key_id LIKE 'expired%'"), 30);
    unit_release(lease);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_DONE);
    assert_int_equal(table_count("1 = 1"), 2);
    assert_int_equal(table_count("key_id = 'held'"), 1);
}

/* So the poll that is granted comes at the expiry, and the one before it has known when that is. */
void a_poll_comes_no_later_than_the_expiry(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    latch_request request = unit_waiting(LATCH_ACQUIRE, MINUTE);
    latch_status status;
    const sql_session *session = ((table_store *) unit.store)->session;
    int polls = 0; /* or sleeps at the head of a queue */

    (void) state;
    table_create();
    table_insert(table_hash("r"), "peer", 1);
    request.ttl_ms = MINUTE;
    status = unit_begin(&op, lease, request);
    while (latch_wants(status)) {
        if (latch_sql_session_is_idle(session) && polls++ > 0) { /* the first one may not know */
            assert_true(op.expiry_ns != 0 && op.wake_ns <= op.expiry_ns);
        }
        unit_await_wish(&op, status, LATCH_NEVER);
        status = latch_op_step(&op, unit_now_ns());
    }
    UNIT_CHECK(status == LATCH_DONE && polls > 1 && unit_held(lease));
}

void what_a_cancelled_request_has_acquired_is_released(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r"), *next = table_lease_in(unit.store, "s"),
                *other = table_lease_in(table_store_with(
                                            (latch_table_options){.names = LATCH_TABLE_HASH}),
                                        "r");
    latch_request request = unit_waiting(LATCH_ACQUIRE, MINUTE);
    latch_status status;

    (void) state;
    request.ttl_ms = MINUTE;
    UNIT_CHECK(table_try(next, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    SERVER.freeze();
    status = unit_begin(&op, lease, request);
    UNIT_CHECK(latch_wants(status));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease) && !lease->busy && lease->state == NULL);
    SERVER.thaw();
    UNIT_CHECK(table_try(next, LATCH_PROBE, 0) == LATCH_DONE); /* behind it */
    UNIT_CHECK(table_try(other, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    assert_int_equal(table_count("1 = 1"), 2);
}

/* Its token may be in a key that another process has. */
void a_holder_that_cancels_a_request_holds_on(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r"), *next = table_lease_in(unit.store, "s");
    char token[LATCH_TOKEN_MAX + 1];
    latch_status status;

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    strcpy(token, lease->token);
    SERVER.freeze();
    status = table_begin(&op, lease, LATCH_ACQUIRE, MINUTE);
    UNIT_CHECK(latch_wants(status) && unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(lease) && !lease->busy);
    assert_string_equal(latch_lease_shared_token(lease), token);
    SERVER.thaw();
    UNIT_CHECK(table_try(next, LATCH_ACQUIRE, MINUTE) == LATCH_DONE); /* behind it */
    UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_DONE);
    unit_release(lease);
    assert_int_equal(table_count("1 = 1"), 1);
}

/* As a destructor does at the end of a request. */
void a_release_that_nobody_awaits_outlives_its_store(void **state)
{
    latch_lease *other = table_lease_in(unit.store, "r");
    latch_request release = unit_request(LATCH_RELEASE), wait = unit_waiting(LATCH_ACQUIRE, 20000);

    (void) state;
    release.detach = true;
    wait.ttl_ms = MINUTE;
    for (int round = 0; round < 5; round++) {
        latch_store *store = table_open_dsn(NULL, "%s", "");
        latch_lease lease;

        UNIT_CHECK(store != NULL);
        latch_lease_init(&lease, store, "r", 1);
        UNIT_CHECK(table_try(&lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        UNIT_CHECK(unit_run_request(&lease, release) == LATCH_DONE);
        latch_lease_drop(&lease);
        latch_store_close(store);
        UNIT_CHECK(unit_run_request(other, wait) == LATCH_DONE);
        unit_release(other);
    }
}

/* Nor does it trust a session that has ended since: the row would stay for its TTL. */
void a_release_that_nobody_awaits_outlives_its_connection(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    latch_request release = unit_request(LATCH_RELEASE);

    (void) state;
    release.detach = true;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    SERVER.end_sessions();
    UNIT_CHECK(unit_run_request(lease, release) == LATCH_DONE);
    UNIT_AWAIT(table_count("1 = 1") == 0);
}

/* Else it would be in a key, by which another process acquires, while the release is under way. */
void a_token_that_is_being_released_is_handed_over_to_nobody(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    latch_request request = unit_request(LATCH_RELEASE);

    (void) state;
    request.detach = true;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    UNIT_CHECK(latch_lease_shared_token(lease) != NULL);
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
    assert_null(latch_lease_shared_token(lease));
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

static void acquire_in_child(unit_process *self, void *argument)
{
    latch_lease *lease = argument;

    (void) self;
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease) && op.contended);
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    table_close_stores();
}

/* The statement is the parent's, and so is its token. */
void a_child_asks_by_itself_for_what_is_on_its_way(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");
    unit_process child;

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    unit_release(lease);
    SERVER.freeze();
    UNIT_CHECK(table_begin(&op, lease, LATCH_ACQUIRE, MINUTE) == LATCH_WANT_IO);
    SERVER.thaw();
    for (unsigned looks = 0; table_count("1 = 1") == 0;) {
        unit_sql_look_again(&looks); /* the parent has it, and does not know yet */
    }
    child = unit_fork(acquire_in_child, lease);
    unit_join(&child);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
    unit_release(lease);
}

void a_lease_is_renewed_by_the_thread(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r"),
                *second = table_lease_in(unit.store, "second");

    (void) state;
    UNIT_CHECK(unit_open_mailbox() == 0);
    unit_keep(lease);
    unit_keep(second);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, 3000) == LATCH_DONE);
    UNIT_CHECK(table_try(second, LATCH_ACQUIRE, 3000) == LATCH_DONE);
    unit_await_renewal(lease);
    unit_await_renewal(second);
    SERVER.end_sessions();
    unit_await_renewal(lease); /* on a new connection */
    unit_expect_no_loss();
    SERVER.run("DELETE FROM lock_keys WHERE key_id = '%s'", table_hash("r"));
    assert_ptr_equal(unit_await_loss().lease, lease);
    UNIT_CHECK(unit_held(second));
    unit_expect_no_loss();
    unit_close_mailbox();
}

void a_given_connection_is_not_renewed_by_a_thread(void **state)
{
    latch_lease *lease = table_lease_in(table_client_store(), "r");
    const latch_renewal_spec spec = UNIT_KEEP;

    (void) state;
    UNIT_CHECK(unit_open_mailbox() == 0);
    UNIT_CHECK(latch_lease_start_renewal(lease, unit_mailbox, &spec, &unit.error)
               == LATCH_ERROR_UNSUPPORTED);
    assert_non_null(strstr(unit.error.message, "given connection"));
    unit_close_mailbox();
}
