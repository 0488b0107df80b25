/* Locks in a table of SQLite: what holds for any server, and what only they have to promise. */
#include "sqlite_file.h"
#include "table_stores.h"

#include "src/engine/store.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- The server of the tests for any ----------------------------------------------------------
 */

static int setup_file(void **state)
{
    (void) state;
    unit_sqlite_create("PRAGMA journal_mode=WAL");
    return 0;
}

static const char *run_formatted(const char *format, va_list arguments)
{
    char statement[1024];

    UNIT_CHECK(vsnprintf(statement, sizeof(statement), format, arguments)
               < (int) sizeof(statement));
    return unit_sqlite_run(unit_sqlite.path, statement);
}

__attribute__((format(printf, 1, 2))) static void run_statement(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    run_formatted(format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 1, 2))) static long long run_for_number(const char *format, ...)
{
    va_list arguments;
    long long number;

    va_start(arguments, format);
    number = strtoll(run_formatted(format, arguments), NULL, 10);
    va_end(arguments);
    return number;
}

/* The renewal thread closes its own after its last lease has ended. */
static void await_no_session(size_t count)
{
    UNIT_AWAIT(unit_sqlite_open_files() == count);
}

/* There is no server that could. */
static void end_nothing(void)
{
}

/* Another program's transaction, which does not end. */
static unit_process writer;

static void begin_to_write(void)
{
    writer = unit_sqlite_peer("BEGIN IMMEDIATE");
}

static void end_writing(void)
{
    unit_kill(&writer);
}

/* ---- Databases ------------------------------------------------------------------------------- */

static latch_store *open_store(const char *dsn)
{
    const latch_store_options options = {.dsn = dsn, .dsn_length = strlen(dsn)};
    latch_store *store = latch_store_open(unit.engine, "table", &options, &unit.error);

    if (store == NULL) {
        fail_msg("%s", unit.error.message);
    }
    return store;
}

static latch_status run(latch_lease *lease, latch_op_kind kind)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = 60000;
    return unit_run_request(lease, request);
}

/* Another store's lease, with the token of this one. */
static latch_lease *adopt(latch_store *store, const latch_lease *holder)
{
    latch_lease *lease = &unit.leases[unit.lease_count++];

    latch_lease_init(lease, store, holder->resource, holder->resource_length);
    UNIT_CHECK(latch_lease_set_token(lease, holder->token, holder->token_length, &unit.error)
               == LATCH_DONE);
    return lease;
}

/* As the renewal thread has it. */
static void expect_a_clone_to_renew(const char *dsn)
{
    latch_lease *lease, *copy;
    latch_store *clone;

    unit.real_clock = true;
    unit.store = open_store(dsn);
    lease = unit_lease("r");
    UNIT_CHECK(run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(chdir("/") == 0);
    clone = unit.store->class->clone(unit.store, &unit.error);
    UNIT_CHECK(clone != NULL);
    copy = adopt(clone, lease);
    UNIT_CHECK(run(copy, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(strcmp(clone->class->identity(clone), clone->class->identity(unit.store)) == 0);
    unit_release(lease);
    UNIT_CHECK(run(copy, LATCH_REFRESH) == LATCH_CONFLICT);
    latch_lease_drop(copy);
    unit.lease_count--;
    latch_store_close(clone);
}

static void a_clone_has_the_same_database_in_memory(void **state)
{
    (void) state;
    expect_a_clone_to_renew("sqlite::memory:");
}

static void a_clone_has_the_same_file_by_a_relative_path(void **state)
{
    char before[UNIT_SQLITE_TEXT];

    (void) state;
    UNIT_CHECK(getcwd(before, sizeof(before)) != NULL && chdir(unit_sqlite.directory) == 0);
    expect_a_clone_to_renew("sqlite:locks.db");
    UNIT_CHECK(chdir(before) == 0);
}

/* Another database in memory is none of theirs. */
static void a_lock_in_memory_is_the_stores(void **state)
{
    latch_lease *lease, other;
    latch_store *store;

    (void) state;
    unit.real_clock = true;
    unit.store = open_store("sqlite::memory:");
    store = open_store("sqlite::memory:");
    lease = unit_lease("r");
    latch_lease_init(&other, store, "r", 1);
    UNIT_CHECK(run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(run(&other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(strcmp(store->class->identity(store), store->class->identity(unit.store)) != 0);
    latch_lease_drop(&other);
    latch_store_close(store);
}

static void look_for_it(unit_process *self, void *argument)
{
    latch_lease *lease = unit_lease("r");

    (void) argument;
    UNIT_CHECK(run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_say(self, 'c');
    unit_expect(self, 'g');
    UNIT_CHECK(run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
}

static void a_child_finds_its_parents_lock(void **state)
{
    latch_lease *lease;
    unit_process child;

    (void) state;
    unit.real_clock = true;
    unit_sqlite_create("PRAGMA journal_mode=WAL");
    unit.store = open_store(unit_sqlite.dsn);
    lease = unit_lease("r");
    UNIT_CHECK(run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(look_for_it, NULL);
    unit_expect(&child, 'c');
    UNIT_CHECK(run(lease, LATCH_REFRESH) == LATCH_DONE);
    unit_release(lease);
    unit_say(&child, 'g');
    unit_join(&child);
}

/* At once, when the time-out of a statement has passed: it is not begun anew. */
static void a_database_that_stays_locked_is_an_error(void **state)
{
    latch_lease *lease;
    latch_request request = unit_request(LATCH_ACQUIRE);
    latch_status status;
    latch_op op;

    (void) state;
    unit.real_clock = true;
    unit_sqlite_create("PRAGMA journal_mode=WAL");
    unit.store = open_store(unit_sqlite.dsn);
    lease = unit_lease("r");
    UNIT_CHECK(run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    begin_to_write();
    request.ttl_ms = MINUTE;
    status = unit_begin(&op, lease, request);
    UNIT_CHECK(status == LATCH_WANT_TIMER);
    unit.ahead_ns += 5 * LATCH_NS_PER_S;
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_ERROR_STORE);
    assert_non_null(strstr(unit.error.message, "has waited too long for other programs in SQLite"));
    assert_non_null(strstr(unit.error.message, unit_sqlite.path));
    assert_non_null(strstr(unit.error.message, "database is locked"));
    UNIT_CHECK(!unit_held(lease));
    end_writing();
    UNIT_CHECK(run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(a_row_has_the_name_the_token_and_an_expiry_that_is_not_early),
        TABLE_TEST(a_row_that_has_expired_is_taken_over),
        TABLE_TEST(a_hold_that_may_have_become_shorter_counts_as_shorter),
        TABLE_TEST(a_release_tells_whether_anything_was_held),
        TABLE_TEST(a_missing_table_holds_nothing_and_is_created),
        TABLE_TEST(a_table_is_created_on_demand_once),
        TABLE_TEST(either_name_is_locked_where_both_are_asked_for),
        TABLE_TEST(a_lock_of_two_rows_is_held_by_both),
        TABLE_TEST(plain_names_are_stored_as_they_are),
        TABLE_TEST(what_no_column_can_have_is_hashed),
        TABLE_TEST(laravels_layout_counts_whole_seconds),
        TABLE_TEST(prefixes_matter_in_hashed_names),
        TABLE_TEST(names_of_tables_and_columns_are_checked),
        TABLE_TEST(a_table_may_be_in_quotes),
        TABLE_TEST(rows_that_have_expired_are_pruned_behind_a_grant),
        TABLE_TEST(what_a_cancelled_request_has_acquired_is_released),
        TABLE_TEST(a_lease_is_renewed_by_the_thread),
        TABLE_TEST(fencing_tokens_grow_with_each_holder),
        TABLE_TEST(a_table_without_a_source_has_no_fencing_tokens),
        TABLE_TEST(the_source_of_a_table_in_quotes_has_its_name),
        TABLE_TEST(a_row_tells_for_how_long_its_lock_is_held),
        TABLE_TEST(a_list_has_each_row_that_has_not_expired),
        TABLE_TEST(a_lock_of_two_rows_is_listed_once),
        TABLE_TEST(of_laravels_rows_those_with_the_prefix_are_listed),
        TABLE_TEST(a_lock_is_taken_away_from_the_holder_that_was_shown),
        TABLE_TEST(an_inspection_that_is_given_up_leaves_nothing),
        UNIT_TEST(a_clone_has_the_same_database_in_memory, setup),
        UNIT_TEST(a_clone_has_the_same_file_by_a_relative_path, setup),
        UNIT_TEST(a_lock_in_memory_is_the_stores, setup),
        UNIT_TEST(a_child_finds_its_parents_lock, setup),
        UNIT_TEST(a_database_that_stays_locked_is_an_error, setup),
    };

    table_server_under_test = (table_server){
        .dsn = unit_sqlite.dsn,
        .driver = "sqlite",
        .setup = setup_file,
        .run = run_statement,
        .number = run_for_number,
        .end_sessions = end_nothing,
        .await_sessions = await_no_session,
        .freeze = begin_to_write,
        .thaw = end_writing,
        .now = "(julianday('now') - 2440587.5) * 86400.0",
        .is_hex = "CAST(%s AS BLOB) = x'%s'",
        .quoted = "\"The Locks?\"",
    };
    return cmocka_run_group_tests(tests, unit_sqlite_group_setup, unit_sqlite_group_teardown);
}
