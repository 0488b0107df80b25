/*
 * Locks in a table, in a server of the test program's own: what is the same for PostgreSQL and
 * MySQL, by DSN or on a connection of the caller's; and what holds for both of them
 * (table_tests.c).
 */
#ifndef TABLE_STORES_H
#define TABLE_STORES_H

#include "conformance.h"

#include "src/store/sql/table/table.h"

typedef struct table_server {
    const char *dsn;
    const char *driver; /* PDO's name */
    int (*setup)(void **state);
    void (*run)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    long long (*number)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    void (*end_sessions)(void);
    void (*await_sessions)(size_t count);
    void (*freeze)(void), (*thaw)(void);
    latch_sql_runner (*runner)(void);
    const char *now;    /* the server's time since 1970, in seconds */
    const char *is_hex; /* format of a condition: that column has the bytes of that hex text */
    const char *quoted; /* a name that needs quotes */
    const char *short_waits, *long_waits; /* for locks on rows, by the sessions to come */
} table_server;

extern table_server table_server_under_test; /* filled in before the first test */

/* The server as it was when it was new, without a table. */
int table_reset(void **state);
/* A store by the DSN, with what is formatted behind it; by a new connection of the caller's. NULL
 * and unit.error. */
latch_store *table_open_dsn(const latch_table_options *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
latch_store *table_open_client(void);
/* Ends when no session is left. */
void table_expect_nothing_left(void);

/* ---- Tests ---------------------------------------------------------------------------------- */

/* unit.store and another one; and their end. */
int table_tests_setup(void **state);
int table_tests_teardown(void **state);

/* A lease in any store; a store until the end of the test. */
latch_lease *table_lease_in(latch_store *store, const char *resource);
latch_store *table_store_with(latch_table_options table);
void table_close_stores(void); /* all of the test's */
latch_store *table_client_store(void);
latch_store *table_runner_store(const latch_sql_runner *runner);
latch_status table_try(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms);
latch_status table_begin(latch_op *op, latch_lease *lease, latch_op_kind kind, int64_t ttl_ms);
void table_create(void);                      /* by a request of its own */
const char *table_hash(const char *resource); /* valid until the next call */
/* Rows of the table of locks, with a condition. */
long long table_count(const char *condition);
/* A row of a peer's, that expires so many seconds from now. */
void table_insert(const char *name, const char *token, double seconds);

#define TABLE_TEST(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, table_tests_setup, table_tests_teardown)

#define TABLE_TEST_NAMES(X)                                                                        \
    X(a_row_has_the_name_the_token_and_an_expiry_that_is_not_early)                                \
    X(a_row_that_has_expired_is_taken_over)                                                        \
    X(acquire_and_release_are_one_statement_each)                                                  \
    X(a_lost_reply_is_resolved_by_the_token)                                                       \
    X(a_hold_that_may_have_become_shorter_counts_as_shorter)                                       \
    X(a_refresh_takes_a_key_over)                                                                  \
    X(a_release_tells_whether_anything_was_held)                                                   \
    X(a_missing_table_holds_nothing_and_is_created)                                                \
    X(a_table_is_created_on_demand_once)                                                           \
    X(a_table_that_cannot_be_created_is_an_error)                                                  \
    X(a_missing_table_ends_no_transaction_of_the_callers)                                          \
    X(a_read_only_transaction_of_the_callers_goes_on)                                              \
    X(a_statement_that_waits_for_a_row_is_sent_again)                                              \
    X(a_row_that_stays_locked_is_an_error)                                                         \
    X(either_name_is_locked_where_both_are_asked_for)                                              \
    X(a_lock_of_two_rows_is_held_by_both)                                                          \
    X(plain_names_are_stored_as_they_are)                                                          \
    X(what_no_column_can_have_is_hashed)                                                           \
    X(laravels_layout_counts_whole_seconds)                                                        \
    X(prefixes_matter_in_hashed_names)                                                             \
    X(names_of_tables_and_columns_are_checked)                                                     \
    X(a_table_may_be_in_quotes)                                                                    \
    X(contenders_meet_no_error)                                                                    \
    X(rows_that_have_expired_are_pruned_behind_a_grant)                                            \
    X(a_poll_comes_no_later_than_the_expiry)                                                       \
    X(what_a_cancelled_request_has_acquired_is_released)                                           \
    X(a_holder_that_cancels_a_request_holds_on)                                                    \
    X(a_release_that_nobody_awaits_outlives_its_connection)                                        \
    X(a_release_that_nobody_awaits_outlives_its_store)                                             \
    X(a_token_that_is_being_released_is_handed_over_to_nobody)                                     \
    X(a_child_asks_by_itself_for_what_is_on_its_way)                                               \
    X(a_lease_is_renewed_by_the_thread)                                                            \
    X(a_given_connection_is_not_renewed_by_a_thread)                                               \
    X(a_row_tells_for_how_long_its_lock_is_held)                                                   \
    X(a_list_has_each_row_that_has_not_expired)                                                    \
    X(a_lock_of_two_rows_is_listed_once)                                                           \
    X(of_laravels_rows_those_with_the_prefix_are_listed)                                           \
    X(a_lock_is_taken_away_from_the_holder_that_was_shown)                                         \
    X(an_inspection_that_is_given_up_leaves_nothing)                                               \
    X(fencing_tokens_grow_with_each_holder)                                                        \
    X(a_table_without_a_source_has_no_fencing_tokens)                                              \
    X(the_source_of_a_table_in_quotes_has_its_name)                                                \
    X(a_cancel_behind_the_grant_releases_the_lock)                                                 \
    X(other_databases_are_refused)

#define TABLE_DECLARE(test) void test(void **state);
TABLE_TEST_NAMES(TABLE_DECLARE)
#define TABLE_ITEM(test) TABLE_TEST(test),
#define TABLE_TESTS TABLE_TEST_NAMES(TABLE_ITEM)

#endif
