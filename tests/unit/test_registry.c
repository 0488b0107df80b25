/* Stores by name: which there are, how they are opened, what they say of themselves. */
#include "src/registry.h"
#include "unit.h"

#include <unistd.h>

static void the_stores_of_this_build_are_listed_in_order(void **state)
{
    static const char *const names[] = {"flock", "semaphore", "shm", "in-memory", "null"};
    size_t found = 0;

    (void) state;
    for (size_t at = 0; latch_store_at(at) != NULL; at++) {
        /* Others may come in between; these five are always there. */
        found += found < 5 && strcmp(latch_store_at(at)->name, names[found]) == 0;
    }
    assert_int_equal(found, 5);
    assert_null(latch_store_at(SIZE_MAX));
}

static void no_two_stores_share_a_name(void **state)
{
    (void) state;
    for (size_t at = 0; latch_store_at(at) != NULL; at++) {
        for (size_t other = 0; other < at; other++) {
            assert_string_not_equal(latch_store_at(at)->name, latch_store_at(other)->name);
        }
    }
}

static void a_store_describes_itself(void **state)
{
    (void) state;
    unit_make_directory();
    for (size_t at = 0; latch_store_at(at) != NULL; at++) {
        const latch_store_info *info = latch_store_at(at);
        latch_store *store = unit_open(info->name);

        assert_non_null(store);
        assert_string_equal(latch_store_describe(store)->name, info->name);
        latch_store_close(store);
        assert_ptr_equal(latch_store_find(info->name), info);
        assert_non_null(info->title);
        assert_null(info->missing_library);
        /* A hold that has an owner may be for ever. */
        assert_int_equal(info->default_ttl_ms > 0,
                         (info->capabilities & (LATCH_EXPIRING | LATCH_OWNERS)) == LATCH_EXPIRING);
    }
    assert_null(latch_store_find("callback"));
}

static void a_store_is_opened_by_a_dsn_of_each_of_its_schemes(void **state)
{
    (void) state;
    unit_make_directory();
    for (size_t at = 0; latch_store_at(at) != NULL; at++) {
        const latch_store_info *info = latch_store_at(at);
        const char *const *scheme = info->schemes;

        for (; scheme != NULL && *scheme != NULL; scheme++) {
            char dsn[UNIT_PATH + 64];
            latch_store_options options = {.dsn = dsn};
            latch_store *store;

            if (info->scope == LATCH_SCOPE_SERVER) {
                snprintf(dsn, sizeof(dsn), "%s://localhost", *scheme);
            } else {
                snprintf(dsn, sizeof(dsn), "%s://%s/locks", *scheme, unit.directory);
            }
            options.dsn_length = strlen(dsn);
            store = latch_store_open(unit.engine, info->name, &options, &unit.error);

            assert_non_null(store);
            latch_store_close(store);
        }
    }
}

/* By a program that is named after it: capabilities and promises are held there. */
static void each_store_has_a_fixture_for_the_conformance_suite(void **state)
{
    (void) state;
    for (size_t at = 0; latch_store_at(at) != NULL; at++) {
        const char *name = latch_store_at(at)->name;
        char path[512];

        snprintf(path, sizeof(path), "%stest_conformance_%s.c", UNIT_FOLDER, name);
        for (char *at_dash = path + strlen(UNIT_FOLDER);
             (at_dash = strchr(at_dash, '-')) != NULL;) {
            *at_dash = '_';
        }
        assert_int_equal(access(path, F_OK), 0);
    }
}

static const latch_store_info *info_of(const char *name)
{
    for (size_t at = 0; latch_store_at(at) != NULL; at++) {
        if (strcmp(latch_store_at(at)->name, name) == 0) {
            return latch_store_at(at);
        }
    }
    fail();
    return NULL;
}

/* What lies in this process's memory, or locks nothing, has no need to be watched. */
static void what_cannot_be_lost_is_neither_watched_nor_refused(void **state)
{
    (void) state;
    assert_null(latch_memory_store.watch);
    assert_null(latch_memory_store.renewal_unsupported_reason);
    assert_null(latch_null_store.watch);
    assert_null(latch_null_store.renewal_unsupported_reason);
}

static latch_status never_run(void *context, latch_lease *lease, const latch_request *request,
                              latch_error *error)
{
    (void) context;
    (void) lease;
    (void) request;
    return latch_fail(error, LATCH_ERROR_STORE, 0, "never");
}

static void no_thread_calls_the_functions_of_its_user(void **state)
{
    const latch_store_calls calls = {.run = never_run};
    const latch_store_options options = {.calls = &calls};
    latch_store *store = latch_store_open(unit.engine, "callback", &options, &unit.error);

    (void) state;
    assert_non_null(store);
    assert_non_null(
        strstr(store->class->renewal_unsupported_reason(store), "no other thread can call"));
    assert_null(store->class->watch);
    latch_store_close(store);
}

static void tokens_are_kept_under_symfonys_class_names(void **state)
{
    (void) state;
    assert_string_equal(info_of("in-memory")->state_name,
                        "Symfony\\Component\\Lock\\Store\\InMemoryStore");
    assert_string_equal(info_of("redis")->state_name,
                        "Symfony\\Component\\Lock\\Store\\RedisStore");
    assert_null(info_of("flock")->state_name); /* has no token */
    assert_null(info_of("null")->state_name);
    assert_null(info_of("semaphore")->state_name);
}

static void an_unknown_name_is_an_error_that_says_it(void **state)
{
    static const char *const names[] = {"", "Flock", "flock ", "memory", "redis:"};

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(names[0]); at++) {
        char expected[100];

        snprintf(expected, sizeof(expected), "there is no store called \"%s\"", names[at]);
        assert_null(unit_open(names[at]));
        assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
        assert_string_equal(unit.error.message, expected);
    }
}

static void a_flock_store_needs_a_path(void **state)
{
    static char long_path[5000];
    const latch_store_options none = {0}, empty = {.path = ""}, too_long = {.path = long_path};
    const latch_store_options *const wrong[] = {NULL, &none, &empty};

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        assert_null(latch_store_open(unit.engine, "flock", wrong[at], &unit.error));
        assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
        assert_string_equal(unit.error.message, "the lock directory's path is missing");
    }
    memset(long_path, '/', sizeof(long_path) - 1);
    assert_null(latch_store_open(unit.engine, "flock", &too_long, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message, "the lock directory's path is too long");
}

static void a_store_needs_random_bytes_for_its_table(void **state)
{
    (void) state;
    unit.random_broken = true;
    assert_null(unit_open("in-memory"));
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    unit_make_directory();
    assert_null(unit_open("flock"));
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(the_stores_of_this_build_are_listed_in_order, setup),
        UNIT_TEST(no_two_stores_share_a_name, setup),
        UNIT_TEST(a_store_describes_itself, setup),
        UNIT_TEST(a_store_is_opened_by_a_dsn_of_each_of_its_schemes, setup),
        UNIT_TEST(each_store_has_a_fixture_for_the_conformance_suite, setup),
        UNIT_TEST(what_cannot_be_lost_is_neither_watched_nor_refused, setup),
        UNIT_TEST(no_thread_calls_the_functions_of_its_user, setup),
        UNIT_TEST(tokens_are_kept_under_symfonys_class_names, setup),
        UNIT_TEST(an_unknown_name_is_an_error_that_says_it, setup),
        UNIT_TEST(a_flock_store_needs_a_path, setup),
        UNIT_TEST(a_store_needs_random_bytes_for_its_table, setup),
    };

    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
