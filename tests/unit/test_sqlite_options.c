/* DSNs of SQLite, in PDO's form and in Doctrine's. */
#include "src/store/sql/sqlite/options.h"
#include "unit.h"

#include <unistd.h>

#define LONG_PATH_MAX 4096

static latch_setting beside[2];
static size_t beside_count;

static latch_status parse(const char *dsn, size_t length, sqlite_options *options)
{
    const latch_store_options given = {.dsn = dsn,
                                       .dsn_length = length,
                                       .settings = beside,
                                       .setting_count = beside_count};

    return latch_sqlite_options_parse(unit.engine, &given, options, &unit.error);
}

static sqlite_options accept(const char *dsn)
{
    sqlite_options options;

    if (parse(dsn, strlen(dsn), &options) != LATCH_DONE) {
        fail_msg("%s: %s", dsn, unit.error.message);
    }
    return options;
}

static void expect_path(const char *dsn, const char *path)
{
    sqlite_options options = accept(dsn);

    assert_string_equal(options.path, path);
    assert_int_equal(options.memory != 0, strcmp(path, ":memory:") == 0);
    assert_int_equal(options.is_uri, strncmp(path, "file:", 5) == 0);
    latch_sqlite_options_free(unit.engine, &options);
    latch_sqlite_options_free(unit.engine, &options);
}

static void refuse(const char *dsn, const char *why)
{
    sqlite_options options;

    assert_int_equal(parse(dsn, strlen(dsn), &options), LATCH_ERROR_ARGUMENT);
    if (strstr(unit.error.message, why) == NULL
        || strstr(unit.error.message, "invalid ") != unit.error.message) {
        fail_msg("\"%s\" is not in \"%s\"", why, unit.error.message);
    }
    assert_int_equal(unit.live, 1);
}

static void paths_are_those_of_pdo_and_doctrine(void **state)
{
    static const char *const pairs[][2] = {
        {"sqlite:/var/locks.db", "/var/locks.db"},
        {"sqlite:/a b;c=d?e=f#g@h%41&", "/a b;c=d?e=f#g@h%41&"},
        {"sqlite:/a//b", "/a//b"},
        {"sqlite::memory:", ":memory:"},
        {"sqlite:file:/var/locks.db?mode=ro", "file:/var/locks.db?mode=ro"},
        {"sqlite:////var/locks.db", "/var/locks.db"},
        {"sqlite3:////var/locks.db", "/var/locks.db"},
        {"pdo-sqlite:////var/locks.db", "/var/locks.db"},
        {"pdo-sqlite3:////var/locks.db", "/var/locks.db"},
        {"sqlite://localhost//var/locks.db", "/var/locks.db"},
        {"sqlite3://user:pass@word@host:1//var/locks.db", "/var/locks.db"},
        {"sqlite:////var/a%20b%3F%23%25@c.db?charset=utf8", "/var/a b?#%@c.db"},
        {"sqlite:///:memory:", ":memory:"},
        {"sqlite3://localhost/:memory:", ":memory:"},
        {"sqlite:///?memory=1", ":memory:"},
        {"sqlite:////a?path=/b", "/b"},
        {"sqlite:////a?driverOptions[1]=2&serverVersion=3&driver=pdo_sqlite", "/a"},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(pairs) / sizeof(*pairs); at++) {
        expect_path(pairs[at][0], pairs[at][1]);
    }
}

static void a_relative_path_is_in_the_current_folder(void **state)
{
    char before[LONG_PATH_MAX], folder[UNIT_PATH], path[UNIT_PATH + 16];

    (void) state;
    unit_make_temporary(folder);
    UNIT_CHECK(getcwd(before, sizeof(before)) != NULL && chdir(folder) == 0);
    snprintf(path, sizeof(path), "%s/a/b.db", folder);
    expect_path("sqlite:a/b.db", path);
    expect_path("sqlite:///a/b.db", path);
    expect_path("sqlite://localhost/a/b.db", path);
    unit_remove_temporary(folder);
    refuse("sqlite:a/b.db", "the current folder is not to be found");
    expect_path("sqlite:/a/b.db", "/a/b.db");
    UNIT_CHECK(chdir(before) == 0);
}

static void what_names_no_file_is_refused(void **state)
{
    static const char *const texts[][2] = {
        {"sqlite:", "it names no file; it is written as in \"sqlite:/path/of/file\" or "},
        {"sqlite://", "it names no file"},
        {"sqlite://locks.db", "it names no file"},
        {"sqlite://:memory:", "it names no file"},
        {"sqlite:///", "it names no file"},
        {"sqlite3:/var/locks.db", "it is written as in"},
        {"sqlitex:/var/locks.db", "it is written as in"},
        {"", "it is written as in"},
        {"/var/locks.db", "it is written as in"},
        {"sqlite:/a\nb", "a control character"},
        {"sqlite:////a%0Ab", "a control character"},
        {"sqlite:////a%00b", "NUL"},
        {"sqlite:////a#b", "\"#\" is written as \"%23\""},
        {"sqlite:////a?x=y", "the option \"x\" is unknown; known are memory, path, "},
        {"sqlite:////a?read_timeout=x", "the option \"read_timeout\" is a number of seconds"},
        {"sqlite:////a?memory=x", "the option \"memory\" is 0 or 1"},
    };
    char text[2 * LONG_PATH_MAX];
    sqlite_options options;

    (void) state;
    for (size_t at = 0; at < sizeof(texts) / sizeof(*texts); at++) {
        refuse(texts[at][0], texts[at][1]);
    }
    assert_int_equal(parse("sqlite:/a\0b", 11, &options), LATCH_ERROR_ARGUMENT);
    assert_non_null(strstr(unit.error.message, "NUL byte"));
    for (size_t length = LONG_PATH_MAX + 1; length < sizeof(text); length += 1000) {
        memset(text, '@', sizeof(text));
        memcpy(text, "sqlite:////", 11);
        text[length] = '\0';
        refuse(text, "longer than 4096 bytes");
    }
}

static void times_are_those_of_the_other_servers(void **state)
{
    sqlite_options options = accept("sqlite:/a");

    (void) state;
    assert_int_equal(options.command_timeout_ns, 5 * LATCH_NS_PER_S);
    latch_sqlite_options_free(unit.engine, &options);
    options = accept("sqlite:////a?read_timeout=0.25&timeout=2");
    assert_int_equal(options.command_timeout_ns, LATCH_NS_PER_S / 4);
    assert_int_equal(options.connect_timeout_ns, 2 * LATCH_NS_PER_S);
    latch_sqlite_options_free(unit.engine, &options);
    beside[0] = (latch_setting){.name = "read_timeout", .value = "1.5"};
    beside_count = 1;
    options = accept("sqlite:/a");
    beside_count = 0;
    assert_int_equal(options.command_timeout_ns, 3 * LATCH_NS_PER_S / 2);
    latch_sqlite_options_free(unit.engine, &options);
}

static void expect_identities(const char *one, const char *other, bool are_equal)
{
    sqlite_options first = accept(one), second = accept(other);

    assert_int_equal(strcmp(first.identity, second.identity) == 0, are_equal);
    latch_sqlite_options_free(unit.engine, &first);
    latch_sqlite_options_free(unit.engine, &second);
}

static void a_file_is_the_same_however_it_is_written(void **state)
{
    (void) state;
    expect_identities("sqlite:/a/b", "sqlite3://u:p@h//a/b?charset=x", true);
    expect_identities("sqlite:/a/b", "sqlite:/a/c", false);
    expect_identities("sqlite:////a", "sqlite:////a?read_timeout=1", false);
    expect_identities("sqlite:////a", "sqlite:////a?persistent_id=1", false);
    expect_identities("sqlite::memory:", "sqlite::memory:", false);
}

static void memory_that_runs_out_leaves_nothing(void **state)
{
    const char *dsn = "sqlite3://h/a@b?persistent_id=1";
    sqlite_options options;
    size_t failures = 0;

    (void) state;
    unit.fail_at = unit.allocations + 1;
    while (parse(dsn, strlen(dsn), &options) == LATCH_ERROR_MEMORY) {
        assert_int_equal(unit.live, 1);
        unit.fail_at = unit.allocations + ++failures + 1;
    }
    unit.fail_at = 0;
    assert_true(failures >= 4);
    latch_sqlite_options_free(unit.engine, &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(paths_are_those_of_pdo_and_doctrine, setup),
        UNIT_TEST(a_relative_path_is_in_the_current_folder, setup),
        UNIT_TEST(what_names_no_file_is_refused, setup),
        UNIT_TEST(times_are_those_of_the_other_servers, setup),
        UNIT_TEST(a_file_is_the_same_however_it_is_written, setup),
        UNIT_TEST(memory_that_runs_out_leaves_nothing, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
