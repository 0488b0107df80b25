/* A Sentinel that is cut off from the others names an old master, which is one still: who follows?
 */
#include "redis_sentinel.h"

#include "src/store/redis/lock/redis.h"

/* Long enough for every failover, on a machine with much to do. */
#define PATIENT "&timeout=20&read_timeout=20"

static const redis_sentinel *sentinel_of(const latch_store *store)
{
    return &((const redis_store *) store)->sentinel;
}

static bool has(redis_process *node, const char *resource)
{
    return redis_process_number(node, "EXISTS %s", resource) == 1;
}

static latch_store *open_secret(const char *options)
{
    latch_store *store = redis_open("redis:server-pw@?%s&auth=sentinel-pw&sentinel=" TRIO_MASTER
                                    "%s",
                                    redis_trio_hosts(), options);

    UNIT_CHECK(store != NULL);
    unit.store = store;
    return store;
}

/* All connections to a server end; the test's own come back by themselves. */
static void end_connections(redis_process *server)
{
    redis_process_ask(server, "CLIENT KILL TYPE normal SKIPME yes");
}

/* This Sentinel hears nothing of the failover, nor does the old master. */
static redis_process *fail_over_behind_the_back_of(redis_process *sentinel)
{
    redis_process *master;

    redis_trio_cut_off(sentinel);
    redis_trio_keep_master(&trio.servers[0]);
    master = redis_trio_fail_over(&trio.servers[0]);
    assert_string_equal("master", redis_process_ask(&trio.servers[0], "ROLE")->element[0]->str);
    assert_ptr_equal(&trio.servers[0], redis_trio_named_by(sentinel));
    return master;
}

/* They are asked in their order, until two have answered. */
static void expect_disbelief(size_t cut_off)
{
    redis_process *master = fail_over_behind_the_back_of(&trio.sentinels[cut_off]);

    open_secret(PATIENT);
    assert_int_equal(0, sentinel_of(unit.store)->current);
    redis_expect_done(redis_run(redis_lease("r"), LATCH_ACQUIRE));
    UNIT_CHECK(has(master, "r") && !has(&trio.servers[0], "r"));
    assert_int_not_equal(cut_off, sentinel_of(unit.store)->current); /* who is listened to */
    assert_int_equal(REDIS_READY, sentinel_of(unit.store)->connection.stage);
}

static void the_first_answer_is_not_the_last_word(void **state)
{
    (void) state;
    expect_disbelief(0);
}

static void nor_is_the_last_one(void **state)
{
    (void) state;
    expect_disbelief(1);
}

/* As it does every five seconds, in the background of this. */
static void schedule_retry(latch_lease *lease)
{
    unsigned looks = 0;

    unit.ahead_ns += 6 * LATCH_NS_PER_S;
    do {
        redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
        unit_release(lease);
        unit_redis_look_again(&looks);
    } while (sentinel_of(unit.store)->is_querying);
}

static void who_listens_to_one_that_is_cut_off_asks_others_too(void **state)
{
    latch_lease *lease;
    redis_process *master;

    (void) state;
    redis_trio_cut_off(&trio.sentinels[0]);
    open_secret(PATIENT);
    lease = redis_lease("r");
    do {
        schedule_retry(lease);
    } while (sentinel_of(unit.store)->current != 0);
    redis_trio_keep_master(&trio.servers[0]);
    master = redis_trio_fail_over(&trio.servers[0]);
    schedule_retry(lease);
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    UNIT_CHECK(has(master, "r") && unit_held(lease));
    assert_int_not_equal(0, sentinel_of(unit.store)->current);
}

static void expect_few_and_outdated(void)
{
    if (strstr(unit.error.message, "answer, and these know of fewer failovers") == NULL) {
        fail_msg("%s", unit.error.message);
    }
}

static void what_others_have_told_is_not_forgotten(void **state)
{
    latch_lease *lease;
    redis_process *master;
    latch_op op;
    latch_status status;

    (void) state;
    master = fail_over_behind_the_back_of(&trio.sentinels[0]);
    open_secret("&timeout=4");
    lease = redis_lease("r");
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    unit_release(lease);
    redis_process_hold(&trio.sentinels[1]);
    redis_process_hold(&trio.sentinels[2]);
    end_connections(master);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_ERROR_STORE);
    expect_few_and_outdated();
    unit.ahead_ns += LATCH_NS_PER_S; /* until it is asked again */
    status = unit_begin(&op, lease, redis_request(LATCH_ACQUIRE));
    while (!sentinel_of(unit.store)->is_outdated) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
    }
    redis_process_hold(&trio.sentinels[0]); /* nobody answers any more */
    UNIT_CHECK(unit_finish(&op, status) == LATCH_ERROR_STORE);
    expect_few_and_outdated();
    redis_process_let_go(&trio.sentinels[0]);
    UNIT_CHECK(!has(&trio.servers[0], "r") && !has(master, "r"));
    redis_process_let_go(&trio.sentinels[1]);
    redis_process_let_go(&trio.sentinels[2]);
    for (unsigned looks = 0; redis_run(lease, LATCH_ACQUIRE) != LATCH_DONE;) {
        unit_redis_look_again(&looks);
    }
    UNIT_CHECK(has(master, "r") && !has(&trio.servers[0], "r"));
}

static void sentinels_that_were_set_up_anew_are_believed(void **state)
{
    latch_lease *lease;
    redis_process *master;

    (void) state;
    redis_trio_keep_master(&trio.servers[0]);
    master = redis_trio_fail_over(&trio.servers[0]);
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    UNIT_CHECK(has(master, "r") && sentinel_of(unit.store)->epoch > 0);
    unit_release(lease);
    for (size_t at = 0; at < 3; at++) {
        redis_process_ask(&trio.sentinels[at], "SENTINEL REMOVE " TRIO_MASTER);
    }
    for (size_t at = 0; at < 3; at++) {
        redis_process_ask(&trio.sentinels[at], "SENTINEL MONITOR " TRIO_MASTER " 127.0.0.1 %d 2",
                          trio.servers[0].port);
    }
    end_connections(master);
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    UNIT_CHECK(has(&trio.servers[0], "r") && !has(master, "r"));
    assert_int_equal(0, sentinel_of(unit.store)->epoch);
}

static void epochs_need_not_be_told(void **state)
{
    latch_lease *lease;
    redis_process *master;

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        redis_process_ask(&trio.sentinels[at], "ACL SETUSER default -sentinel|master");
    }
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    redis_trio_await_replicas(&trio.servers[0]);
    master = redis_trio_fail_over(&trio.servers[0]);
    redis_expect_done(redis_run(lease, LATCH_REFRESH));
    unit_release(lease);
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    UNIT_CHECK(has(master, "r"));
    assert_int_equal(0, sentinel_of(unit.store)->epoch);
}

#define SECRET_TEST(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, redis_trio_setup_secret, redis_trio_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SECRET_TEST(the_first_answer_is_not_the_last_word),
        SECRET_TEST(nor_is_the_last_one),
        SECRET_TEST(who_listens_to_one_that_is_cut_off_asks_others_too),
        SECRET_TEST(what_others_have_told_is_not_forgotten),
        UNIT_TRIO_TEST(sentinels_that_were_set_up_anew_are_believed),
        UNIT_TRIO_TEST(epochs_need_not_be_told),
    };

    return cmocka_run_group_tests_name("redis_sentinel_epoch", tests, NULL, NULL);
}
