/* The end of a store, or of its program, which has locks that are to be given back. */
#include "redis_store.h"

#include "src/engine/store.h"

#include <stdlib.h>

#define LOCKS 200 /* more than are sent to a server that does not answer */
#define PAUSE_MS 240

static latch_store *store;
static latch_lease leases[LOCKS];
static char names[LOCKS][24];

/* Which the test closes. */
static latch_store *open_store(void)
{
    char dsn[64];
    latch_store_options options = {.dsn = dsn};

    options.dsn_length =
        (size_t) snprintf(dsn, sizeof(dsn), "redis://127.0.0.1:%d", unit_redis.port);
    return latch_store_open(unit.engine, "redis", &options, &unit.error);
}

static int setup(void **state)
{
    if (redis_store_setup(state) != 0) {
        return -1;
    }
    store = open_store();
    return store != NULL ? 0 : -1;
}

static void acquire_in(latch_store *opened, size_t at)
{
    snprintf(names[at], sizeof(names[at]), "r%zu", at);
    latch_lease_init(&leases[at], opened, names[at], strlen(names[at]));
    assert_int_equal(redis_run(&leases[at], LATCH_ACQUIRE), LATCH_DONE);
}

static void acquire(size_t count)
{
    for (size_t at = 0; at < count; at++) {
        acquire_in(store, at);
    }
}

/* As at a program's end: without awaiting anything. */
static void leave(size_t first, size_t count)
{
    for (size_t at = first; at < count; at++) {
        latch_op op;
        latch_status status = unit_begin(&op, &leases[at], redis_detached_release());

        assert_true(status == LATCH_DONE || (latch_wants(status) && latch_op_detach(&op)));
        latch_lease_drop(&leases[at]);
    }
}

static void expect_all_free(size_t count)
{
    for (size_t at = 0; at < count; at++) {
        assert_true(redis_is_free(names[at]));
    }
}

static void what_is_to_be_released_while_the_store_connects_anew_is_released(void **state)
{
    (void) state;
    acquire(1);
    unit_redis_ask("CLIENT KILL TYPE normal SKIPME yes");
    leave(0, 1);
    latch_store_close(store);
    expect_all_free(1);
}

/* As the last member of a quorum, whose others have decided, is left. */
static void a_release_that_was_left_is_sent_again_to_a_server_that_does_not_know_the_script(
    void **state)
{
    latch_op op;

    (void) state;
    acquire(1);
    unit_redis_ask("SCRIPT FLUSH");
    redis_send(&op, &leases[0], redis_request(LATCH_RELEASE));
    assert_true(latch_op_detach(&op));
    latch_lease_drop(&leases[0]);
    latch_store_close(store);
    expect_all_free(1);
}

static void a_server_that_is_silent_for_a_while_is_told_of_all_releases(void **state)
{
    (void) state;
    acquire(LOCKS);
    unit_redis_ask("CLIENT PAUSE %d", PAUSE_MS);
    leave(0, 1);
    unit.ahead_ns += PAUSE_MS * LATCH_NS_PER_MS / 2; /* it has not answered for so long */
    leave(1, LOCKS);
    latch_store_close(store);
    expect_all_free(LOCKS);
}

/* Runs a script for so long, behind which others hear that the server is busy. */
static redisContext *keep_server_busy(void)
{
    redisContext *context = unit_redis_connect();
    int is_sent = 0;

    unit_redis_ask("CONFIG SET lua-time-limit 5");
    redisAppendCommand(context, "EVAL %s 0",
                       "local function now() local t = redis.call('TIME') "
                       "return t[1] * 1000 + t[2] / 1000 end "
                       "local start = now() while now() < start + 500 do end return 1");
    while (is_sent == 0) {
        assert_int_equal(redisBufferWrite(context, &is_sent), REDIS_OK);
    }
    return context;
}

static void a_server_that_is_busy_is_told_until_it_has_time(void **state)
{
    redisContext *other;
    redisReply *reply;
    unsigned looks = 0;

    (void) state;
    acquire(2);
    other = keep_server_busy();
    while (!unit_redis_is_error(unit_redis_try("GET x"), "BUSY")) {
        unit_redis_look_again(&looks);
    }
    leave(0, 2);
    latch_store_close(store);
    assert_int_equal(redisGetReply(other, (void **) &reply), REDIS_OK);
    freeReplyObject(reply);
    redisFree(other);
    expect_all_free(2);
    unit_redis_ask("CONFIG SET lua-time-limit 5000");
}

/* More stores than anybody would wait for one after the other. */
static void stores_of_a_silent_server_are_closed_in_the_time_of_one(void **state)
{
    enum { STORES = 30 };
    latch_store *stores[STORES];
    int64_t begun_ns;

    (void) state;
    for (size_t at = 0; at < STORES; at++) {
        stores[at] = open_store();
        acquire_in(stores[at], at);
    }
    redis_hold_server();
    leave(0, STORES);
    begun_ns = unit_now_ns();
    latch_stores_settle(stores, STORES);
    for (size_t at = 0; at < STORES; at++) {
        latch_store_close(stores[at]);
    }
    assert_true(unit_now_ns() - begun_ns < UNIT_TIMEOUT_NS);
    redis_let_server_go();
    for (size_t at = 0; at < STORES; at++) {
        redis_await_free(names[at]);
    }
    latch_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_is_to_be_released_while_the_store_connects_anew_is_released, setup,
            redis_store_teardown),
        cmocka_unit_test_setup_teardown(
            a_release_that_was_left_is_sent_again_to_a_server_that_does_not_know_the_script, setup,
            redis_store_teardown),
        cmocka_unit_test_setup_teardown(a_server_that_is_silent_for_a_while_is_told_of_all_releases,
                                        setup, redis_store_teardown),
        cmocka_unit_test_setup_teardown(a_server_that_is_busy_is_told_until_it_has_time, setup,
                                        redis_store_teardown),
        cmocka_unit_test_setup_teardown(stores_of_a_silent_server_are_closed_in_the_time_of_one,
                                        setup, redis_store_teardown),
    };

    return cmocka_run_group_tests_name("redis close", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
