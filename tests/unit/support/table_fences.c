/* Tests of fencing tokens in tables, for each server: see table_stores.h. */
#include "table_stores.h"

#define SERVER table_server_under_test

static latch_op op;

static latch_store *fencing_store(const char *table)
{
    return table_store_with((latch_table_options){.table = table, .fencing = true});
}

void fencing_tokens_grow_with_each_holder(void **state)
{
    latch_store *store = fencing_store(NULL);
    latch_lease *one = table_lease_in(store, "r"), *two = table_lease_in(fencing_store(NULL), "r");
    uint64_t last = 0;

    (void) state;
    assert_true((latch_store_describe(store)->capabilities & LATCH_FENCING) != 0);
    for (int round = 0; round < 20; round++) {
        latch_lease *lease = round % 2 == 0 ? one : two, *other = round % 2 == 0 ? two : one;
        uint64_t fencing;

        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        fencing = lease->fencing_token;
        assert_true(fencing > last && fencing <= INT64_MAX);
        UNIT_CHECK(table_try(lease, LATCH_REFRESH, MINUTE) == LATCH_DONE);
        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        assert_int_equal(lease->fencing_token, fencing);
        UNIT_CHECK(table_try(other, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
        last = fencing;
        if (round % 4 < 2) {
            unit_release(lease);
            continue;
        }
        SERVER.run("UPDATE lock_keys SET key_expiration = %s - 1", SERVER.now);
        UNIT_CHECK(table_try(other, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        assert_true(other->fencing_token > last);
        last = other->fencing_token;
        UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_CONFLICT);
        assert_int_equal(lease->fencing_token, 0);
        unit_release(other);
    }
}

/* The lock is held all the same. The server itself is MySQL's source. */
void a_table_without_a_source_has_no_fencing_tokens(void **state)
{
    latch_lease *lease;
    latch_request request = unit_request(LATCH_PROBE);
    bool has_own = strcmp(SERVER.driver, "mysql") == 0;

    (void) state;
    table_create();
    lease = table_lease_in(fencing_store(NULL), "r");
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE && unit_held(lease));
    assert_int_equal(lease->fencing_token != 0, has_own);
    unit_release(lease);
    request.create = true;
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_ERROR_STORE); /* the table is there */
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE && lease->fencing_token != 0);
    assert_null(
        table_open_dsn(&(latch_table_options){.table = "\"it's\"", .fencing = true}, "%s", ""));
    assert_non_null(strstr(unit.error.message, "apostrophe"));
}

void the_source_of_a_table_in_quotes_has_its_name(void **state)
{
    latch_lease *lease = table_lease_in(fencing_store(SERVER.quoted), "r");
    uint64_t first;

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    first = lease->fencing_token;
    unit_release(lease);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    assert_true(first > 0 && lease->fencing_token > first);
    unit_release(lease);
    SERVER.run("DROP TABLE %s", SERVER.quoted);
}

void a_cancel_behind_the_grant_releases_the_lock(void **state)
{
    latch_lease *lease = table_lease_in(fencing_store(NULL), "r"),
                *next = table_lease_in(lease->store, "s");
    latch_request request = unit_waiting(LATCH_ACQUIRE, MINUTE);
    const table_hold *hold;
    latch_status status;

    (void) state;
    table_create();
    UNIT_CHECK(table_try(next, LATCH_ACQUIRE, MINUTE) == LATCH_DONE); /* it is connected, then */
    unit_release(next);
    request.ttl_ms = MINUTE;
    SERVER.freeze(); /* at each step: else the next answer may be here already */
    status = unit_begin(&op, lease, request);
    hold = lease->state;
    while (latch_wants(status) && hold->action != TABLE_FENCE) {
        SERVER.thaw();
        unit_await_wish(&op, status, LATCH_NEVER);
        SERVER.freeze();
        status = latch_op_step(&op, unit_now_ns());
    }
    UNIT_CHECK(latch_wants(status));
    SERVER.thaw();
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease) && lease->fencing_token == 0);
    UNIT_CHECK(table_try(next, LATCH_ACQUIRE, MINUTE) == LATCH_DONE); /* behind the release */
    assert_int_equal(table_count("1 = 1"), 1);
}
