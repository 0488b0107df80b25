/* Tests of inspections, lists and evictions in tables, for each server: see table_stores.h. */
#include "table_stores.h"

#define SERVER table_server_under_test

static latch_op op;
static latch_lock_report *reports;

static void ask_for_reports(latch_lease *lease, latch_op_kind kind)
{
    latch_request request = unit_request(kind);

    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
    request.reports = &reports;
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
}

static void forget_table_reports(void)
{
    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
}

static uint64_t take_from(latch_lease *lease, const char *identities)
{
    latch_request request = unit_request(LATCH_EVICT);
    uint64_t count = 99;

    request.evicted = identities;
    request.evicted_count = &count;
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
    return count;
}

static const latch_lock_report *listed_of(const char *name)
{
    for (const latch_lock_report *report = reports; report != NULL; report = report->next) {
        if (strcmp(report->name, name) == 0) {
            return report;
        }
    }
    return NULL;
}

static size_t count_table_reports(void)
{
    size_t count = 0;

    for (const latch_lock_report *report = reports; report != NULL; report = report->next) {
        count++;
    }
    return count;
}

void a_row_tells_for_how_long_its_lock_is_held(void **state)
{
    latch_lease *from = table_lease_in(unit.store, "r");
    const latch_holder *holder;
    char identity[LATCH_IDENTITY_LENGTH + 1];

    (void) state;
    ask_for_reports(from, LATCH_INSPECT); /* there is no table */
    UNIT_CHECK(reports->mode == LATCH_FREE && reports->holders == NULL);
    table_create();
    table_insert(table_hash("r"), "peer", -1);
    ask_for_reports(from, LATCH_INSPECT);
    UNIT_CHECK(reports->mode == LATCH_FREE && reports->holder_count == 0);
    SERVER.run("UPDATE lock_keys SET key_expiration = %s + 100", SERVER.now);
    ask_for_reports(from, LATCH_INSPECT);
    assert_string_equal(reports->name, "r");
    holder = reports->holders;
    UNIT_CHECK(reports->mode == LATCH_EXCLUSIVE && reports->holder_count == 1);
    UNIT_CHECK(holder->left_ms > 40000 && holder->left_ms <= 101000);
    UNIT_CHECK(holder->host == NULL && holder->since_us == 0 && holder->next == NULL);
    snprintf(identity, sizeof(identity), "%.16s", table_hash("peer"));
    assert_string_equal(holder->identity, identity);
    forget_table_reports();
}

/* Pages end where a value is full, or a page; some names are as long as they can be. */
void a_list_has_each_row_that_has_not_expired(void **state)
{
    latch_store *given = SERVER.runner != NULL ? table_client_store()
                                               : table_store_with((latch_table_options){0});
    latch_lease *from = table_lease_in(given, "");
    char name[65];

    (void) state;
    table_create();
    ask_for_reports(from, LATCH_LIST);
    UNIT_CHECK(reports == NULL);
    for (int row = 0; row < 45; row++) {
        snprintf(name, sizeof(name), "%c%d %0*d", row % 2 == 0 ? 'a' : 'B', row, row, 7);
        table_insert(name, row % 3 == 0 ? "a token of 44 characters, as are of Symfony" : "peer",
                     60);
    }
    table_insert(table_hash("r"), "peer", 60);
    table_insert("", "peer", 60);
    table_insert("expired", "peer", -1);
    ask_for_reports(from, LATCH_LIST);
    assert_int_equal(count_table_reports(), 47);
    for (int row = 0; row < 45; row++) {
        snprintf(name, sizeof(name), "%c%d %0*d", row % 2 == 0 ? 'a' : 'B', row, row, 7);
        UNIT_CHECK(listed_of(name) != NULL && !listed_of(name)->is_hashed);
        UNIT_CHECK(listed_of(name)->mode == LATCH_EXCLUSIVE
                   && listed_of(name)->holders->left_ms > 30000);
    }
    UNIT_CHECK(listed_of(table_hash("r")) != NULL && listed_of(table_hash("r"))->is_hashed);
    UNIT_CHECK(listed_of("") != NULL && listed_of("expired") == NULL);
    forget_table_reports();
}

void a_lock_of_two_rows_is_listed_once(void **state)
{
    latch_store *both = table_store_with((latch_table_options){.names = LATCH_TABLE_BOTH});
    latch_lease *lease = table_lease_in(both, "r"), *from = table_lease_in(both, "");

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    table_insert(table_hash("known by its hash alone"), "peer", 60);
    table_insert("s", "peer", 60);
    table_insert(table_hash("s"), "another peer", 60); /* as Symfony's versions do */
    ask_for_reports(from, LATCH_LIST);
    assert_int_equal(count_table_reports(), 4);
    UNIT_CHECK(listed_of("r") != NULL && listed_of(table_hash("r")) == NULL);
    UNIT_CHECK(listed_of("s") != NULL && listed_of(table_hash("s")) != NULL);
    ask_for_reports(lease, LATCH_INSPECT);
    UNIT_CHECK(reports->holder_count == 1);
    ask_for_reports(table_lease_in(both, "s"), LATCH_INSPECT);
    UNIT_CHECK(reports->holder_count == 2);
    forget_table_reports();
}

void of_laravels_rows_those_with_the_prefix_are_listed(void **state)
{
    latch_table_options table = {.layout = LATCH_TABLE_LARAVEL, .prefix = "app:"};
    latch_lease *lease = table_lease_in(table_store_with(table), "r");

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    SERVER.run("INSERT INTO cache_locks VALUES ('other:r', 'theirs', floor(%s) + 60)", SERVER.now);
    SERVER.run("INSERT INTO cache_locks VALUES ('app:s', 'theirs', floor(%s) + 60)", SERVER.now);
    SERVER.run("INSERT INTO cache_locks VALUES ('app:t', 'theirs', floor(%s))", SERVER.now);
    ask_for_reports(lease, LATCH_LIST);
    assert_int_equal(count_table_reports(), 2);
    UNIT_CHECK(listed_of("r") != NULL && listed_of("s") != NULL);
    forget_table_reports();
}

void a_lock_is_taken_away_from_the_holder_that_was_shown(void **state)
{
    latch_store *both = table_store_with((latch_table_options){.names = LATCH_TABLE_BOTH});
    latch_lease *holder = table_lease_in(both, "r"), *from = table_lease_in(both, "r");
    char shown[2 * LATCH_IDENTITY_LENGTH + 2];

    (void) state;
    assert_int_equal(take_from(from, "0123456789abcdef"), 0); /* there is no table */
    UNIT_CHECK(table_try(holder, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    ask_for_reports(from, LATCH_INSPECT);
    snprintf(shown, sizeof(shown), "0123456789abcdef %s", reports->holders->identity);
    assert_int_equal(take_from(from, "0123456789abcdef"), 0);
    assert_int_equal(table_count("1 = 1"), 2);
    assert_int_equal(take_from(from, shown), 1);
    assert_int_equal(table_count("1 = 1"), 0);
    UNIT_CHECK(table_try(holder, LATCH_PROBE, 0) == LATCH_CONFLICT && holder->lost);
    UNIT_CHECK(table_try(from, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    assert_int_equal(take_from(holder, shown), 0); /* one that came later keeps it */
    UNIT_CHECK(table_try(from, LATCH_PROBE, 0) == LATCH_DONE);
    unit_release(from);
    table_insert("r", "peer", 60);
    table_insert(table_hash("r"), "another peer", 60);
    ask_for_reports(from, LATCH_INSPECT);
    snprintf(shown, sizeof(shown), "%s %s", reports->holders->identity,
             reports->holders->next->identity);
    assert_int_equal(take_from(from, shown), 2);
    assert_int_equal(table_count("1 = 1"), 0);
    forget_table_reports();
}

void an_inspection_that_is_given_up_leaves_nothing(void **state)
{
    latch_lease *from = table_lease_in(unit.store, "r");
    latch_request request = unit_request(LATCH_LIST);
    latch_status status;

    (void) state;
    UNIT_CHECK(table_try(from, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    request.reports = &reports;
    SERVER.freeze();
    status = unit_begin(&op, table_lease_in(unit.store, ""), request);
    if (latch_wants(status)) {
        UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    }
    SERVER.thaw();
    UNIT_CHECK(table_try(from, LATCH_PROBE, 0) == LATCH_DONE); /* behind it */
    forget_table_reports();
}
