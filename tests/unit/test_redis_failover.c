/* Another server becomes the master, while locks are held, waited for and given back. */
#include "redis_sentinel.h"

#include "src/store/redis/lock/redis.h"

/* Long enough for every failover, on a machine with much to do. */
#define PATIENT "&timeout=20&read_timeout=20"

static bool has(redis_process *node, const char *resource)
{
    return redis_process_number(node, "EXISTS %s", resource) == 1;
}

/* By another store, which asks the Sentinels anew. */
static latch_status try_elsewhere(const char *resource)
{
    return redis_run(redis_lease_in(redis_trio_open(PATIENT), resource), LATCH_ACQUIRE);
}

static void a_hold_goes_on_at_the_new_master(void **state)
{
    latch_lease *lease;
    redis_process *master;

    (void) state;
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    redis_trio_await_replicas(&trio.servers[0]);
    master = redis_trio_fail_over(&trio.servers[0]);
    redis_expect_done(redis_run(lease, LATCH_REFRESH));
    UNIT_CHECK(unit_held(lease));
    UNIT_CHECK(try_elsewhere("r") == LATCH_CONFLICT);
    unit_release(lease);
    UNIT_CHECK(!has(master, "r"));
    UNIT_CHECK(try_elsewhere("r") == LATCH_DONE && has(master, "r"));
}

static void a_master_that_dies_is_followed_too(void **state)
{
    uint64_t token;
    latch_lease *lease;
    redis_process *master;

    (void) state;
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    token = lease->fencing_token;
    redis_trio_await_replicas(&trio.servers[0]);
    redis_process_kill(&trio.servers[0]);
    /* Before anybody knows who is the next: it is awaited. */
    redis_expect_done(redis_run(lease, LATCH_REFRESH));
    UNIT_CHECK(try_elsewhere("r") == LATCH_CONFLICT);
    unit_release(lease);
    master = redis_trio_await_another(&trio.servers[0]);
    UNIT_CHECK(!has(master, "r"));
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && lease->fencing_token > token);
}

static void a_release_finds_the_new_master(void **state)
{
    latch_lease *lease, *detached;
    redis_process *master;

    (void) state;
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    detached = redis_lease("s");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(detached, LATCH_ACQUIRE) == LATCH_DONE);
    redis_trio_await_replicas(&trio.servers[0]);
    redis_process_hold(&trio.servers[0]);
    /* Nobody awaits this one, which is lost with the connection, and sent again. */
    UNIT_CHECK(unit_run_request(detached, redis_detached_release()) == LATCH_DONE);
    unit_release(lease);
    master = redis_trio_await_another(&trio.servers[0]);
    UNIT_CHECK(!has(master, "r") && !has(master, "s"));
    redis_process_let_go(&trio.servers[0]);
}

static void expect_handover(redis_process *master, latch_lease *holder, latch_op *wait)
{
    latch_status status = latch_op_step(wait, unit_now_ns());

    /* It queues again, at the new one. */
    for (unsigned looks = 0; redis_process_number(master, "ZCARD latch:queue:r") == 0;) {
        if (!latch_wants(status)) {
            fail_msg("the wait ended with %d: %s", status, unit.error.message);
        }
        status = latch_op_step(wait, unit_now_ns());
        unit_redis_look_again(&looks);
    }
    unit_release(holder);
    UNIT_CHECK(unit_finish(wait, status) == LATCH_DONE);
    UNIT_CHECK(has(master, "r"));
    unit_release(wait->lease);
    UNIT_CHECK(!has(master, "r"));
}

static void who_waits_queues_again_at_the_new_master(void **state)
{
    latch_lease *holder, *waiter;
    latch_op wait;

    (void) state;
    redis_trio_open(PATIENT);
    holder = redis_lease("r");
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_trio_open(PATIENT);
    waiter = redis_lease("r");
    redis_begin_wait(&wait, waiter, redis_wait_to_write());
    redis_trio_await_replicas(&trio.servers[0]);
    expect_handover(redis_trio_fail_over(&trio.servers[0]), holder, &wait);
}

static void and_when_the_master_dies(void **state)
{
    latch_lease *holder, *waiter;
    latch_op wait;

    (void) state;
    redis_trio_open(PATIENT);
    holder = redis_lease("r");
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_trio_open(PATIENT);
    waiter = redis_lease("r");
    redis_begin_wait(&wait, waiter, redis_wait_to_write());
    redis_trio_await_replicas(&trio.servers[0]);
    redis_process_kill(&trio.servers[0]);
    expect_handover(redis_trio_await_another(&trio.servers[0]), holder, &wait);
}

/* ---- A stale master, which thinks that it still is one */

static redis_process *become_stale(void)
{
    redis_process *master;

    redis_process_hold(&trio.servers[0]);
    master = redis_trio_await_another(&trio.servers[0]);
    redis_process_let_go(&trio.servers[0]);
    return master;
}

static void a_stale_master_is_left_before_it_is_asked(void **state)
{
    latch_lease *lease;
    redis_process *master;

    (void) state;
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    master = become_stale();
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(has(master, "r") && unit_held(lease));
}

static void what_a_stale_master_grants_does_not_count(void **state)
{
    latch_lease *lease;
    redis_process *master;
    latch_op op;

    (void) state;
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_process_hold(&trio.servers[0]);
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    master = redis_trio_await_another(&trio.servers[0]);
    redis_process_let_go(&trio.servers[0]);
    unit_await_wish(&op, LATCH_WANT_IO, unit_now_ns() + UNIT_TIMEOUT_NS);
    UNIT_CHECK(redis_finish_outer(&op) == LATCH_DONE && has(master, "r"));
}

static void nobody_waits_for_a_master_that_hangs(void **state)
{
    latch_lease *lease;
    redis_process *master;

    (void) state;
    redis_trio_open("&timeout=20&read_timeout=600");
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_process_hold(&trio.servers[0]);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    master = redis_trio_await_another(&trio.servers[0]);
    UNIT_CHECK(has(master, "r"));
    redis_process_let_go(&trio.servers[0]);
}

static void another_sentinel_is_listened_to_when_one_goes(void **state)
{
    const redis_sentinel *sentinel;
    latch_lease *lease;
    redis_process *master;
    size_t old;

    (void) state;
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    sentinel = &((redis_store *) unit.store)->sentinel;
    old = sentinel->current;
    redis_process_kill(&trio.sentinels[old]);
    /* In the background of these. */
    for (unsigned looks = 0; sentinel->current == old || sentinel->is_querying;) {
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(lease);
        unit_redis_look_again(&looks);
    }
    master = become_stale();
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(has(master, "r"));
}

/*
 * What was its predecessor's trouble is not the new one's: while that one is connected to, a
 * Sentinel tells that there is another, or names it when it is asked anew.
 */
static void expect_no_trouble_of_the_old_one(bool is_told)
{
    redis_store *store = (redis_store *) redis_trio_open(PATIENT);
    latch_op op;
    latch_status status;
    unsigned term;

    redis_process_hold(&trio.servers[0]);
    status = unit_begin(&op, redis_lease("r"), redis_request(LATCH_ACQUIRE));
    while (store->topology.single.connection.stage <= REDIS_CONNECTING) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
    }
    term = store->sentinel.master_generation;
    redis_trio_await_another(&trio.servers[0]);
    if (!is_told) {
        latch_redis_close(&store->sentinel.connection); /* with what it has told meanwhile */
        store->sentinel.next_query_ns = 0;
    }
    while (store->sentinel.master_generation == term) {
        UNIT_CHECK(latch_wants(status));
        status = latch_op_step(&op, unit_now_ns());
    }
    /* On a slow machine the Sentinel is asked anew before what it told is read. */
    UNIT_CHECK(
        store->sentinel.trouble[0] == '\0'
        || (is_told && strcmp(store->sentinel.trouble, "another one has become the master") == 0));
    redis_expect_done(unit_finish(&op, status));
    assert_string_equal(store->sentinel.trouble, "");
    redis_process_let_go(&trio.servers[0]);
}

static void a_new_master_that_is_told_has_no_trouble_of_the_old_one(void **state)
{
    (void) state;
    expect_no_trouble_of_the_old_one(true);
}

static void nor_has_one_that_is_asked_for(void **state)
{
    (void) state;
    expect_no_trouble_of_the_old_one(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TRIO_TEST(a_hold_goes_on_at_the_new_master),
        UNIT_TRIO_TEST(a_master_that_dies_is_followed_too),
        UNIT_TRIO_TEST(a_release_finds_the_new_master),
        UNIT_TRIO_TEST(who_waits_queues_again_at_the_new_master),
        UNIT_TRIO_TEST(and_when_the_master_dies),
        UNIT_TRIO_TEST(a_stale_master_is_left_before_it_is_asked),
        UNIT_TRIO_TEST(what_a_stale_master_grants_does_not_count),
        UNIT_TRIO_TEST(nobody_waits_for_a_master_that_hangs),
        UNIT_TRIO_TEST(another_sentinel_is_listened_to_when_one_goes),
        UNIT_TRIO_TEST(a_new_master_that_is_told_has_no_trouble_of_the_old_one),
        UNIT_TRIO_TEST(nor_has_one_that_is_asked_for),
    };

    return cmocka_run_group_tests_name("redis_failover", tests, NULL, NULL);
}
