/* A server that lets everybody wait in vain costs not each of them its time-out. */
#include "redis_store.h"

#include "src/store/redis/lock/redis.h"

#define FIRST_PAUSE_NS LATCH_NS_PER_S
#define LONGEST_PAUSE_NS (16 * LATCH_NS_PER_S)

static latch_store *store;
static latch_lease *lease;

static int setup(void **state)
{
    if (redis_store_setup(state) != 0) {
        return -1;
    }
    store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    lease = redis_lease_in(store, "r");
    return 0;
}

/* While it hangs it is not awaited for long. */
static void hold(void)
{
    redis_hold_server();
    redis_set_command_timeout(store, 200);
}

static void let_go(void)
{
    redis_set_command_timeout(store, 5000);
    redis_let_server_go();
}

static bool is_avoided(latch_lease *one, latch_op_kind kind)
{
    return redis_failed(redis_run(one, kind), "let others wait in vain, and is asked again in ");
}

static bool is_silent(latch_op_kind kind)
{
    return redis_failed(redis_run(lease, kind), "did not answer within 0.2 s");
}

/* On a connection that nothing has come on yet. */
static void let_it_be_avoided(void)
{
    hold();
    UNIT_CHECK(is_silent(LATCH_ACQUIRE));
}

static void who_comes_after_one_that_waited_in_vain_is_told_at_once(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED, LATCH_REFRESH,
                                          LATCH_PROBE};
    latch_lease *held = redis_lease_in(store, "s");

    (void) state;
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    latch_redis_close(&((redis_store *) store)->topology.single.connection);
    let_it_be_avoided();
    for (size_t at = 0; at < sizeof(kinds) / sizeof(kinds[0]); at++) {
        UNIT_CHECK(is_avoided(held, kinds[at]));
        UNIT_CHECK(unit_held(held) && !unit_held(lease) && !lease->busy);
    }
    let_go();
}

/* A router that has forgotten a connection says nothing either. */
static void one_connection_that_fell_silent_says_nothing_of_the_next(void **state)
{
    (void) state;
    redis_expect_working(lease);
    hold();
    UNIT_CHECK(is_silent(LATCH_ACQUIRE));
    let_go();
    redis_expect_working(lease);
}

static void a_server_that_is_back_is_found_at_the_pauses_end(void **state)
{
    (void) state;
    let_it_be_avoided();
    let_go();
    UNIT_CHECK(is_avoided(lease, LATCH_ACQUIRE));
    unit.ahead_ns += FIRST_PAUSE_NS;
    redis_expect_working(lease);
    redis_expect_working(lease);
}

static void the_pauses_grow_to_an_end(void **state)
{
    int64_t pause_ns = FIRST_PAUSE_NS;

    (void) state;
    let_it_be_avoided();
    for (int round = 0; round < 6; round++) {
        UNIT_CHECK(is_avoided(lease, LATCH_ACQUIRE));
        UNIT_CHECK(store->breaker.pause_ns == pause_ns);
        unit.ahead_ns += pause_ns;
        UNIT_CHECK(is_silent(LATCH_ACQUIRE));
        pause_ns = 2 * pause_ns < LONGEST_PAUSE_NS ? 2 * pause_ns : LONGEST_PAUSE_NS;
    }
    let_go();
    unit.ahead_ns += pause_ns;
    redis_expect_working(lease);
    UNIT_CHECK(store->breaker.pause_ns == 0);
}

/* It costs nobody anything to be refused. */
static void a_server_that_is_not_there_is_asked_each_time(void **state)
{
    (void) state;
    unit_redis_kill();
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "Connection refused"));
    }
    unit_redis_start(NULL);
    redis_expect_working(lease);
}

static void what_is_released_meanwhile_is_given_back_later(void **state)
{
    latch_lease *two[] = {redis_lease_in(store, "s"), redis_lease_in(store, "t")};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(redis_run(two[at], LATCH_ACQUIRE) == LATCH_DONE);
    }
    latch_redis_close(&((redis_store *) store)->topology.single.connection);
    let_it_be_avoided();
    UNIT_CHECK(is_avoided(two[0], LATCH_RELEASE) && !unit_held(two[0]));
    UNIT_CHECK(redis_failed(unit_run_request(two[1], redis_detached_release()), "in vain"));
    let_go();
    unit.ahead_ns += FIRST_PAUSE_NS;
    redis_expect_working(lease);
    UNIT_CHECK(redis_is_free("s") && redis_is_free("t"));
}

static size_t count_pending(void)
{
    const latch_link *list = &((redis_store *) store)->pending;
    size_t count = 0;

    for (const latch_link *link = list->next; link != list; link = link->next) {
        count++;
    }
    return count;
}

/* Else thousands of them would keep the server from everything else when it is back. */
static void what_is_released_again_and_again_is_sent_once(void **state)
{
    latch_lease *two[] = {redis_lease_in(store, "s"), redis_lease_in(store, "t")};
    /* What was sent in vain for "r" a server may carry out after all that follows (Redis 8). */
    latch_lease *other = redis_lease_in(store, "u");
    size_t before;

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(redis_run(two[at], LATCH_ACQUIRE) == LATCH_DONE);
    }
    latch_redis_close(&((redis_store *) store)->topology.single.connection);
    let_it_be_avoided();
    before = count_pending();
    for (int round = 0; round < 50; round++) {
        UNIT_CHECK(is_avoided(two[0], LATCH_RELEASE));
        UNIT_CHECK(redis_failed(unit_run_request(two[1], redis_detached_release()), "in vain"));
    }
    UNIT_CHECK(count_pending() == before + 2);
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(((redis_hold *) two[at]->state)->pending != NULL);
    }
    unit.ahead_ns += FIRST_PAUSE_NS;
    for (int round = 0; round < 3; round++) { /* in flight, lost with the connection, and again */
        UNIT_CHECK(is_silent(LATCH_ACQUIRE));
        unit.ahead_ns += LONGEST_PAUSE_NS;
    }
    let_go();
    unit.ahead_ns += LONGEST_PAUSE_NS;
    redis_expect_working(other);
    redis_expect_working(other);
    UNIT_CHECK(store->unacknowledged == 0 && count_pending() == 0);
    UNIT_CHECK(redis_is_free("s") && redis_is_free("t"));
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(((redis_hold *) two[at]->state)->pending == NULL);
        redis_expect_working(two[at]);
    }
}

/* It has pauses of its own, and a lease to lose. */
static void a_renewal_is_sent_all_the_same(void **state)
{
    latch_request renewal = redis_request(LATCH_REFRESH);
    latch_lease *held = redis_lease_in(store, "s");

    (void) state;
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    latch_redis_close(&((redis_store *) store)->topology.single.connection);
    let_it_be_avoided();
    let_go();
    renewal.response_timeout_ms = 1000;
    UNIT_CHECK(unit_run_request(held, renewal) == LATCH_DONE);
}

#define SILENCE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, redis_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SILENCE_TEST(who_comes_after_one_that_waited_in_vain_is_told_at_once),
        SILENCE_TEST(one_connection_that_fell_silent_says_nothing_of_the_next),
        SILENCE_TEST(a_server_that_is_back_is_found_at_the_pauses_end),
        SILENCE_TEST(the_pauses_grow_to_an_end),
        SILENCE_TEST(a_server_that_is_not_there_is_asked_each_time),
        SILENCE_TEST(what_is_released_meanwhile_is_given_back_later),
        SILENCE_TEST(what_is_released_again_and_again_is_sent_once),
        SILENCE_TEST(a_renewal_is_sent_all_the_same),
    };

    return cmocka_run_group_tests_name("redis circuit breaker", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
