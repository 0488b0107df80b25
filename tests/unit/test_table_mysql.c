/* Locks in a table of MySQL. */
#include "mysql_server.h"
#include "sql_client.h"
#include "table_stores.h"

/* What the server says of its own row, which has not changed, is no conflict. */
static void a_row_that_has_not_changed_is_held(void **state)
{
    latch_lease *lease = table_lease_in(unit.store, "r");

    (void) state;
    for (int round = 0; round < 20; round++) {
        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        UNIT_CHECK(table_try(lease, LATCH_REFRESH, MINUTE) == LATCH_DONE);
    }
}

/* Neither the time zone of the session nor its mode: the clock is UTC's. */
static void settings_of_the_server_do_not_matter(void **state)
{
    latch_table_options table = {.names = LATCH_TABLE_PLAIN};
    latch_lease *lease;

    (void) state;
    unit_mysql_run("SET GLOBAL time_zone = '-11:30'");
    unit_mysql_run("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'");
    lease = table_lease_in(table_store_with(table), "\\ ' \xc3\xa4");
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    assert_int_equal(table_count("key_id = _utf8mb4 x'5C202720C3A4'"), 1);
    assert_int_equal(table_count("key_expiration BETWEEN UNIX_TIMESTAMP() + 55 AND"
                                 " UNIX_TIMESTAMP() + 62"),
                     1);
    unit_mysql_run("SET GLOBAL time_zone = DEFAULT");
    unit_mysql_run("SET GLOBAL sql_mode = DEFAULT");
}

/* Whatever a statement is, a text, one that is prepared, or one that was: each fraction of a second
 * is rounded up, and none is added. */
static void an_expiry_is_exact(void **state)
{
    static const struct {
        const char *now;
        int64_t ttl_ms;
        int expiry;
    } times[] = {{"1764240000", 30000, 1764240030},     {"1764240000.999", 30001, 1764240031},
                 {"1764240000.999", 30002, 1764240032}, {"1764240000.9999", 30000, 1764240031},
                 {"1764240000.1", 30900, 1764240031},   {"1764240000.0001", 30000, 1764240031},
                 {"1764240000.7", 86400300, 1764326401}};
    char is_exact[48];

    (void) state;
    for (size_t at = 0; at < sizeof(times) / sizeof(*times); at++) {
        latch_lease *lease;

        unit_mysql_run("SET GLOBAL init_connect = 'SET timestamp = %s'", times[at].now);
        lease = table_lease_in(table_store_with((latch_table_options){0}), "r");
        snprintf(is_exact, sizeof(is_exact), "key_expiration = %d", times[at].expiry);
        for (int use = 0; use < 4; use++) {
            UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, times[at].ttl_ms) == LATCH_DONE);
            assert_int_equal(table_count(is_exact), 1);
            UNIT_CHECK(table_try(lease, LATCH_RELEASE, 0) == LATCH_DONE);
        }
    }
    unit_mysql_run("SET GLOBAL init_connect = DEFAULT");
}

/* The table that Latch makes tells them apart, whatever the server's collation is. */
static void case_and_accents_matter_in_plain_names(void **state)
{
    static const char *const names[] = {"a", "A", "\xc3\xa4"};
    latch_store *store = table_store_with((latch_table_options){.names = LATCH_TABLE_PLAIN});

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        UNIT_CHECK(table_try(table_lease_in(store, names[at]), LATCH_ACQUIRE, MINUTE)
                   == LATCH_DONE);
    }
    assert_int_equal(table_count("1 = 1"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TESTS TABLE_TEST(a_row_that_has_not_changed_is_held),
        TABLE_TEST(settings_of_the_server_do_not_matter),
        TABLE_TEST(an_expiry_is_exact),
        TABLE_TEST(case_and_accents_matter_in_plain_names),
    };

    table_server_under_test = (table_server){
        .dsn = unit_mysql.url,
        .driver = "mysql",
        .setup = unit_mysql_setup,
        .run = unit_mysql_run,
        .number = unit_mysql_number,
        .end_sessions = unit_mysql_end_sessions,
        .await_sessions = unit_mysql_await_sessions,
        .freeze = unit_mysql_freeze,
        .thaw = unit_mysql_thaw,
        .runner = mysql_client_runner,
        .now = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000)",
        .short_waits = "SET GLOBAL innodb_lock_wait_timeout = 1",
        .long_waits = "SET GLOBAL innodb_lock_wait_timeout = 50",
        .is_hex = "CAST(%s AS BINARY) = x'%s'",
        .quoted = "`The Locks?`",
    };
    return cmocka_run_group_tests(tests, unit_mysql_group_setup, unit_mysql_group_teardown);
}
