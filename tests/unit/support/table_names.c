/* Tests of the names of tables, columns and rows, for each server: see table_stores.h. */
#include "table_stores.h"

#define SERVER table_server_under_test

static latch_table_options with_names(latch_table_names names)
{
    return (latch_table_options){.names = names};
}

/* ---- Names ---------------------------------------------------------------------------------- */

void either_name_is_locked_where_both_are_asked_for(void **state)
{
    latch_store *plain = table_store_with(with_names(LATCH_TABLE_PLAIN)),
                *both = table_store_with(with_names(LATCH_TABLE_BOTH));
    latch_lease *by_hash = table_lease_in(unit.store, "r"), *by_plain = table_lease_in(plain, "r"),
                *by_both = table_lease_in(both, "r"), *other = table_lease_in(both, "r");

    (void) state;
    UNIT_CHECK(table_try(by_both, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    UNIT_CHECK(table_try(by_both, LATCH_ACQUIRE, MINUTE) == LATCH_DONE); /* once more */
    UNIT_CHECK(table_try(by_both, LATCH_REFRESH, MINUTE) == LATCH_DONE);
    UNIT_CHECK(table_try(by_both, LATCH_PROBE, 0) == LATCH_DONE);
    assert_int_equal(table_count("1 = 1"), 2);
    assert_int_equal(table_count("key_id = 'r'"), 1);
    UNIT_CHECK(table_try(by_hash, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    UNIT_CHECK(table_try(by_plain, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    UNIT_CHECK(table_try(other, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    unit_release(by_both);
    assert_int_equal(table_count("1 = 1"), 0);
    UNIT_CHECK(table_try(by_hash, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    UNIT_CHECK(table_try(by_both, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    assert_int_equal(table_count("1 = 1"), 1); /* nothing is left of the other row */
    unit_release(by_hash);
    UNIT_CHECK(table_try(by_plain, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    UNIT_CHECK(table_try(by_both, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    assert_int_equal(table_count("1 = 1"), 1);
    UNIT_CHECK(table_try(by_hash, LATCH_ACQUIRE, MINUTE) == LATCH_DONE); /* as Symfony's versions */
}

void a_lock_of_two_rows_is_held_by_both(void **state)
{
    latch_lease *lease = table_lease_in(table_store_with(with_names(LATCH_TABLE_BOTH)), "r");

    (void) state;
    for (int round = 0; round < 4; round++) {
        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        SERVER.run("DELETE FROM lock_keys WHERE key_id %s 'r'", round % 2 == 0 ? "=" : "<>");
        UNIT_CHECK(table_try(lease, round < 2 ? LATCH_PROBE : LATCH_REFRESH, MINUTE)
                   == LATCH_CONFLICT);
        UNIT_CHECK(lease->lost && !unit_held(lease));
        UNIT_CHECK(table_try(lease, LATCH_RELEASE, 0) == LATCH_DONE);
    }
}

void plain_names_are_stored_as_they_are(void **state)
{
    static const char *const names[] = {"r", "it's \\ \"?\" :x $t %s `",
                                        "\xc3\xa4 \xf0\x9f\x94\x92"};
    latch_store *store = table_store_with(with_names(LATCH_TABLE_PLAIN));

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        latch_lease *lease = table_lease_in(store, names[at]);
        char condition[512], hex[256] = "";

        for (size_t byte = 0; byte < strlen(names[at]); byte++) {
            snprintf(hex + 2 * byte, 3, "%02X", (unsigned char) names[at][byte]);
        }
        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        snprintf(condition, sizeof(condition), SERVER.is_hex, "key_id", hex);
        assert_int_equal(table_count(condition), 1);
        UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_DONE);
        unit_release(lease);
        assert_int_equal(table_count("1 = 1"), 0);
    }
}

void what_no_column_can_have_is_hashed(void **state)
{
    static const char *const names[] = {
        "\xff",
        "\xc0\x80",
        "\xed\xa0\x80",
        "a\xf5\x80\x80\x80",
        "0123456789012345678901234567890123456789012345678901234567890123+",
    };
    latch_store *store = table_store_with(with_names(LATCH_TABLE_PLAIN));
    char condition[128];

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        latch_lease *lease = table_lease_in(store, names[at]);

        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        snprintf(condition, sizeof(condition), "key_id = '%s'", table_hash(names[at]));
        assert_int_equal(table_count(condition), 1);
        unit_release(lease);
    }
}

void laravels_layout_counts_whole_seconds(void **state)
{
    latch_table_options table = {.layout = LATCH_TABLE_LARAVEL, .prefix = "app_"};
    latch_lease *lease = table_lease_in(table_store_with(table), "r");
    long long before, expiry;

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, 1) == LATCH_DONE);
    for (int64_t ttl_ms = 1000; ttl_ms < 3000; ttl_ms += 333) {
        before = SERVER.number("SELECT floor(1000 * (%s))", SERVER.now);
        UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, ttl_ms) == LATCH_DONE);
        expiry = SERVER.number("SELECT floor(1000.0 * expiration) FROM cache_locks");
        assert_true(expiry >= before + ttl_ms);
    }
    assert_int_equal(SERVER.number("SELECT count(*) FROM cache_locks WHERE owner = '%s'",
                                   lease->token),
                     1);
    SERVER.run("UPDATE cache_locks SET owner = 'laravel', expiration = floor(%s) + 1", SERVER.now);
    UNIT_CHECK(table_try(lease, LATCH_PROBE, 0) == LATCH_CONFLICT);
    SERVER.run("UPDATE cache_locks SET expiration = floor(%s) + 60", SERVER.now);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    SERVER.run("UPDATE cache_locks SET expiration = floor(%s)", SERVER.now);
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
}

/* Other prefixes are other applications, also where a name is too long to be one. */
void prefixes_matter_in_hashed_names(void **state)
{
    static const char *const prefixes[] = {"a:", "b:"};
    char name[TABLE_NAME_MAX + 1];

    (void) state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t at = 0; at < 2; at++) {
        latch_store *store = table_store_with(
            (latch_table_options){.layout = LATCH_TABLE_LARAVEL, .prefix = prefixes[at]});

        UNIT_CHECK(table_try(table_lease_in(store, name), LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        UNIT_CHECK(table_try(table_lease_in(store, name), LATCH_ACQUIRE, MINUTE) == LATCH_CONFLICT);
    }
}

/* ---- Options -------------------------------------------------------------------------------- */

void names_of_tables_and_columns_are_checked(void **state)
{
    static const char *const wrong[] = {"",    "a b",  "a;b", "a'b", "a\"b", "1a",   ".a",
                                        "a.",  "a..b", "a-b", "\"a", "\"\"", "`a\"", "\"a\\\"",
                                        "a()", "?",    ":a",  "$1",  "a\n",  "`a`b", "a,b"};
    char name[200];

    (void) state;
    for (size_t at = 0; at < sizeof(wrong) / sizeof(*wrong); at++) {
        const latch_table_options tables[] = {{.table = wrong[at]},
                                              {.id_column = wrong[at]},
                                              {.token_column = wrong[at]},
                                              {.expiration_column = wrong[at]}};

        for (size_t which = 0; which < 4; which++) {
            assert_null(table_open_dsn(&tables[which], "%s", ""));
            assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
            assert_non_null(strstr(unit.error.message, "can stand in a statement"));
        }
    }
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_null(table_open_dsn(&(latch_table_options){.table = name}, "%s", ""));
    assert_null(table_open_dsn(&(latch_table_options){.id_column = "a.b"}, "%s", ""));
    for (int at = 0; at < 3; at++) {
        const double probabilities[] = {-0.1, 1.1, __builtin_nan("")};
        const latch_table_options table = {.prune_probability = probabilities[at]};

        assert_null(table_open_dsn(&table, "%s", ""));
        assert_non_null(strstr(unit.error.message, "probability"));
    }
}

void a_table_may_be_in_quotes(void **state)
{
    latch_table_options table = {.table = SERVER.quoted, .id_column = "the_name"};
    latch_lease *lease = table_lease_in(table_store_with(table), "r");

    (void) state;
    UNIT_CHECK(table_try(lease, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
    assert_int_equal(SERVER.number("SELECT count(*) FROM %s WHERE the_name = '%s'", SERVER.quoted,
                                   table_hash("r")),
                     1);
    SERVER.run("DROP TABLE %s", SERVER.quoted);
}

void other_databases_are_refused(void **state)
{
    static const char dsn[] = "oci:dbname=test";
    const latch_store_options by_dsn = {.dsn = dsn, .dsn_length = strlen(dsn)};
    latch_sql_runner runner = {.context = NULL};
    latch_table_options table = {.driver = "sqlsrv"};
    const latch_store_options by_runner = {.runner = &runner, .table = &table};

    (void) state;
    assert_null(latch_store_open(unit.engine, "table", &by_dsn, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_UNSUPPORTED);
    assert_null(latch_store_open(unit.engine, "table", &by_runner, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_UNSUPPORTED);
    assert_non_null(strstr(unit.error.message, "sqlsrv"));
}
