/*
 * Every allocation of whole scenarios fails once, and once all from there on: nothing breaks. What
 * all stores do stands in the conformance suite.
 */
#include "redis_tls.h"

static bool failed; /* an injected failure was met */

/* Did the call what it should? If not, then because there was no memory, and it says so. */
static bool went(latch_status status, latch_status expected)
{
    if (status != LATCH_ERROR_MEMORY) {
        assert_int_equal(status, expected);
        return true;
    }
    assert_true(unit.fail_at != 0 && unit.allocations >= unit.fail_at);
    assert_int_equal(unit.error.status, LATCH_ERROR_MEMORY);
    assert_string_equal(unit.error.message, "out of memory");
    failed = true;
    return false;
}

static latch_status try(latch_lease *lease, latch_op_kind kind)
{
    latch_mode before = lease->mode;
    latch_status status = unit_run(lease, kind);

    if (status == LATCH_ERROR_MEMORY) {
        assert_int_equal(lease->mode, before);
        assert_int_equal(unit_held(lease), before != LATCH_FREE);
    }
    assert_false(lease->busy);
    return status;
}

/* Nothing stands in the way of a new holder once there is memory again. */
static void expect_free(const char *resource)
{
    size_t fail_at = unit.fail_at;
    latch_lease *lease = unit_lease(resource);

    unit.fail_at = 0;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_RELEASE), LATCH_DONE);
    unit.fail_at = fail_at;
}

static bool open_store(const char *name)
{
    unit.store = unit_open(name);
    return went(unit.store != NULL ? LATCH_DONE : unit.error.status, LATCH_DONE);
}

static void try_engine(void)
{
    latch_engine *engine = latch_engine_create(&unit.env, &unit.error);

    if (went(engine != NULL ? LATCH_DONE : unit.error.status, LATCH_DONE)) {
        latch_engine_destroy(engine);
    }
}

/* A table that grows, and a lock that outlives its lease. */
static void use_memory_store(void)
{
    latch_lease *one, *two, *copy;

    if (!open_store("in-memory")) {
        return;
    }
    one = unit_lease("r");
    two = unit_lease("r");
    for (int at = 0; at < 20; at++) { /* enough for the table to grow */
        static const char *const resources[20] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
                                                  "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
        latch_lease *lease = unit_lease(resources[at]);

        went(try(lease, LATCH_ACQUIRE), LATCH_DONE);
    }
    copy = unit_lease("r");
    if (went(try(one, LATCH_ACQUIRE_SHARED), LATCH_DONE)
        && went(latch_lease_make_token(one, &unit.error), LATCH_DONE)
        && went(latch_lease_set_token(copy, one->token, LATCH_TOKEN_LENGTH, &unit.error),
                LATCH_DONE)) {
        latch_lease_drop(one);
        assert_true(unit_held(copy)); /* the lock of a dropped lease is its copy's */
        went(try(two, LATCH_ACQUIRE), LATCH_CONFLICT);
        went(unit_run(copy, LATCH_RELEASE), LATCH_DONE);
        expect_free("r");
    }
}

static bool open_semaphore_project(void)
{
    const latch_store_options options = {.project = "project",
                                         .project_length = 7,
                                         .digest = LATCH_MD5};

    unit.store = latch_store_open(unit.engine, "semaphore", &options, &unit.error);
    return went(unit.store != NULL ? LATCH_DONE : unit.error.status, LATCH_DONE);
}

static void use_semaphore_project(void)
{
    if (open_semaphore_project()) {
        went(try(unit_lease("r"), LATCH_ACQUIRE), LATCH_DONE); /* left to the drop */
    }
}

/* Both can give back what they have, and then nothing stands in the way. */
static void expect_free_in_redis(latch_lease *one, latch_lease *two)
{
    size_t fail_at = unit.fail_at;

    unit.fail_at = 0;
    assert_int_equal(redis_run(one, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(redis_run(two, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(redis_run(one, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_run(one, LATCH_RELEASE), LATCH_DONE);
    unit_redis_ask("SELECT 1");
    assert_int_equal(unit_redis_number("DBSIZE"), 1); /* the fencing counter */
    unit_redis_ask("SELECT 0");
    unit.fail_at = fail_at;
}

static latch_status try_in_redis(latch_lease *lease, latch_op_kind kind)
{
    latch_status status = redis_run(lease, kind);

    assert_false(lease->busy);
    return status;
}

static char redis_dsn[256];

static void use_redis_store(void)
{
    static char long_resource[2000] = "r"; /* its keys are allocated */
    latch_lease *one, *two;
    latch_op op;
    latch_status status;
    latch_store_options options = {.dsn = redis_dsn, .dsn_length = strlen(redis_dsn)};

    unit.store = latch_store_open(unit.engine, "redis", &options, &unit.error);
    if (!went(unit.store != NULL ? LATCH_DONE : unit.error.status, LATCH_DONE)) {
        return;
    }
    memset(long_resource, 'r', sizeof(long_resource) - 1);
    one = unit_lease(long_resource);
    two = unit_lease(long_resource);
    if (went(try_in_redis(one, LATCH_ACQUIRE), LATCH_DONE)) {
        went(try_in_redis(two, LATCH_ACQUIRE), LATCH_CONFLICT);
        went(try_in_redis(one, LATCH_REFRESH), LATCH_DONE);
        went(try_in_redis(one, LATCH_PROBE), LATCH_DONE);
        assert_true(unit_held(one));
        if (went(try_in_redis(one, LATCH_ACQUIRE_SHARED), LATCH_DONE)) {
            went(try_in_redis(two, LATCH_ACQUIRE_SHARED), LATCH_DONE);
        }
        assert_true(unit_held(one));
        went(unit_begin(&op, one, redis_detached_release()), LATCH_DONE);
        went(try_in_redis(two, LATCH_RELEASE), LATCH_DONE);
    }
    unit_redis_ask("CLIENT KILL TYPE normal");
    status = try_in_redis(two, LATCH_ACQUIRE); /* on a new connection */
    if (status != LATCH_CONFLICT || !unit_held(one)) {
        went(status, LATCH_DONE);
    }
    expect_free_in_redis(one, two);
}

/* Runs the scenario with the first allocation failing, the second ... until none fails. */
static void run(void (*scenario)(void), bool real)
{
    for (int fail_on = 0; fail_on < 2; fail_on++) {
        size_t number = 0;

        do {
            assert_int_equal(unit_setup(NULL), 0);
            if (real) {
                unit_make_directory();
                unit.real_clock = true;
            }
            failed = false;
            unit.fail_at = unit.allocations + ++number;
            unit.fail_on = fail_on == 1;
            scenario();
            failed |= unit.allocations >= unit.fail_at;
            unit_teardown(NULL);
            assert_true(number < 500);
        } while (failed);
        assert_true(number > 1); /* something was allocated at all */
    }
}

static void the_engine_survives_every_failed_allocation(void **state)
{
    (void) state;
    run(try_engine, false);
}

static void the_memory_store_survives_every_failed_allocation(void **state)
{
    (void) state;
    run(use_memory_store, false);
}

static void a_semaphore_store_with_a_project_survives_every_failed_allocation(void **state)
{
    (void) state;
    run(use_semaphore_project, true);
}

static void the_redis_store_survives_every_failed_allocation(void **state)
{
    (void) state;
    snprintf(redis_dsn, sizeof(redis_dsn), "redis://127.0.0.1:%d/1?prefix=p:", unit_redis.port);
    run(use_redis_store, true);
}

/* But for OpenSSL's own memory. */
static void tls_to_redis_survives_every_failed_allocation(void **state)
{
    (void) state;
    if (unit_redis_is_before(7, 0)) {
        skip(); /* redis_tls_serve() is not for these */
    }
    redis_tls_serve();
    snprintf(redis_dsn, sizeof(redis_dsn),
             "rediss://127.0.0.1:%d/1?prefix=p:&ssl[cafile]=%s/ca.crt", redis_tls_server.port,
             redis_tls_server.directory);
    run(use_redis_store, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_survives_every_failed_allocation),
        cmocka_unit_test(the_memory_store_survives_every_failed_allocation),
        cmocka_unit_test(a_semaphore_store_with_a_project_survives_every_failed_allocation),
        UNIT_REDIS_TEST(the_redis_store_survives_every_failed_allocation),
        UNIT_REDIS_TEST(tls_to_redis_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests_name("allocation", tests, redis_tls_group_setup,
                                       redis_tls_group_teardown);
}
