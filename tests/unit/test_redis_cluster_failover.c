/* A server of the cluster dies, hangs, or hands its slots to its replica, while locks are held,
 * waited for and given back. */
#include "redis_cluster.h"

#include "src/store/redis/lock/redis.h"

#include <string.h>

/* Long enough for every failover, on a machine with much to do. */
#define PATIENT "&timeout=20&read_timeout=20"

static bool has(redis_process *node, const char *resource)
{
    return redis_process_number(node, "EXISTS %s", resource) == 1;
}

/* By another store, which may ask anybody first. */
static latch_status try_elsewhere(const char *resource)
{
    return redis_run(redis_lease_in(redis_cluster_open(PATIENT), resource), LATCH_ACQUIRE);
}

/* In a store of its own, held. */
static latch_lease *hold(const char *resource)
{
    latch_lease *lease = redis_lease_in(redis_cluster_open(PATIENT), resource);

    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    return lease;
}

static void a_hold_goes_on_at_the_new_master(void **state)
{
    redis_process *old = redis_cluster_master_of("r"), *master;
    latch_lease *lease = hold("r");
    uint64_t token = lease->fencing_token;

    (void) state;
    redis_cluster_await_replicas(old, 1);
    master = redis_cluster_fail_over(old);
    redis_expect_done(redis_run(lease, LATCH_REFRESH));
    UNIT_CHECK(unit_held(lease));
    UNIT_CHECK(try_elsewhere("r") == LATCH_CONFLICT);
    unit_release(lease);
    UNIT_CHECK(!has(master, "r"));
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    UNIT_CHECK(lease->fencing_token > token && has(master, "r"));
}

static void a_master_that_dies_is_followed_too(void **state)
{
    redis_process *old = redis_cluster_master_of("r"), *master;
    latch_lease *lease = hold("r"), *free_one;

    (void) state;
    redis_cluster_await_replicas(old, 1);
    redis_process_kill(old);
    /* Before anybody knows who is the next: it is awaited. */
    redis_expect_done(redis_run(lease, LATCH_REFRESH));
    UNIT_CHECK(try_elsewhere("r") == LATCH_CONFLICT);
    master = redis_cluster_await_another(redis_cluster_slot("r"), old);
    unit_release(lease);
    UNIT_CHECK(!has(master, "r"));
    free_one = redis_lease_in(redis_cluster_open(PATIENT), "r");
    redis_expect_done(redis_run(free_one, LATCH_ACQUIRE));
    UNIT_CHECK(has(master, "r"));
}

static void a_release_finds_the_new_master(void **state)
{
    redis_process *old = redis_cluster_master_of("{r}"), *master;
    latch_lease *lease = hold("{r}1"), *detached = redis_lease_in(lease->store, "{r}2");

    (void) state;
    redis_expect_done(redis_run(detached, LATCH_ACQUIRE));
    redis_cluster_await_replicas(old, 1);
    redis_process_kill(old);
    /* Nobody awaits this one: it is owed, and told with the next. */
    redis_expect_done(unit_run_request(detached, redis_detached_release()));
    unit_release(lease);
    master = redis_cluster_await_another(redis_cluster_slot("{r}"), old);
    UNIT_CHECK(!has(master, "{r}1"));
    UNIT_AWAIT(redis_run(redis_lease_in(lease->store, "{r}3"), LATCH_PROBE) == LATCH_CONFLICT
               && !has(master, "{r}2"));
}

/* The others serve theirs meanwhile, without any delay. */
static void locks_of_other_servers_do_not_suffer(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    latch_store *store;
    redis_process *dead = redis_cluster_master_of("a");
    unsigned served = 0;

    (void) state;
    store = redis_cluster_open("&timeout=1");
    redis_process_kill(dead);
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        latch_lease *lease = redis_lease_in(store, names[at]);
        latch_status status = redis_run(lease, LATCH_ACQUIRE);

        UNIT_CHECK(status == LATCH_DONE || redis_failed(status, "cannot connect to Redis at"));
        served += status == LATCH_DONE;
    }
    UNIT_CHECK(served >= 3);
}

/* One that hangs lets a request wait in vain, and the next ones not: others are asked first. */
static void a_server_that_hangs_is_passed_by_when_it_has_a_successor(void **state)
{
    redis_process *old = redis_cluster_master_of("r");
    latch_lease *lease = redis_lease_in(redis_cluster_open("&timeout=20&read_timeout=1"), "r");

    (void) state;
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    redis_cluster_await_replicas(old, 1);
    redis_process_hold(old);
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_REFRESH), "did not answer within 1 s"));
    redis_cluster_await_another(redis_cluster_slot("r"), old);
    redis_set_command_timeout(lease->store, 20000);
    redis_expect_done(redis_run(lease, LATCH_REFRESH));
    UNIT_CHECK(try_elsewhere("r") == LATCH_CONFLICT);
    redis_process_let_go(old);
    redis_cluster_await_return(old); /* which was master once, and grants nothing */
    UNIT_CHECK(try_elsewhere("r") == LATCH_CONFLICT);
    unit_release(lease);
    UNIT_CHECK(try_elsewhere("r") == LATCH_DONE);
}

static void expect_handover(redis_process *master, latch_lease *holder, latch_op *wait)
{
    latch_status status = latch_op_step(wait, unit_now_ns());
    char queue[64];
    unsigned slot = redis_cluster_slot("r");
    char tag[REDIS_SLOT_TAG_SIZE];

    latch_redis_slot_tag(slot, tag);
    snprintf(queue, sizeof(queue), "latch:{%s}:queue:r", tag);
    /* It waits at the new one, and is subscribed there: it would not be told otherwise. */
    for (unsigned looks = 0; redis_process_number(master, "ZCARD %s", queue) == 0
                             || redis_process_ask(master, "PUBSUB SHARDCHANNELS")->elements == 0;) {
        if (!latch_wants(status)) {
            fail_msg("the wait ended with %d: %s", status, unit.error.message);
        }
        status = latch_op_step(wait, unit_now_ns());
        unit_redis_look_again(&looks);
    }
    unit_release(holder);
    redis_expect_done(unit_finish(wait, status));
    UNIT_CHECK(has(master, "r"));
    unit_release(wait->lease);
    UNIT_CHECK(!has(master, "r"));
}

/* Behind a holder, for a lock that the master's replica knows of. */
static latch_lease *wait_behind_holder(redis_process *master, latch_op *wait)
{
    latch_lease *holder = hold("r");

    redis_begin_wait(wait, redis_lease_in(redis_cluster_open(PATIENT), "r"), redis_wait_to_write());
    redis_cluster_await_replicas(master, 1);
    return holder;
}

static void who_waits_goes_on_at_the_new_master(void **state)
{
    redis_process *old = redis_cluster_master_of("r");
    latch_op wait;
    latch_lease *holder = wait_behind_holder(old, &wait);

    (void) state;
    expect_handover(redis_cluster_fail_over(old), holder, &wait);
}

static void and_when_the_master_dies(void **state)
{
    redis_process *old = redis_cluster_master_of("r");
    latch_op wait;
    latch_lease *holder = wait_behind_holder(old, &wait);

    (void) state;
    redis_process_kill(old);
    expect_handover(redis_cluster_await_another(redis_cluster_slot("r"), old), holder, &wait);
}

/* Where nobody takes over, there is an error within the time-out, and not later. */
static void a_lock_without_a_server_is_an_error(void **state)
{
    redis_process *old = redis_cluster_master_of("r");
    latch_lease *lease = redis_lease_in(redis_cluster_open("&timeout=2"), "r");

    (void) state;
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    redis_process_kill(redis_cluster_replica(old));
    redis_process_kill(old);
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_REFRESH), "Redis at 127.0.0.1:"));
    lease = redis_lease_in(redis_cluster_open("&timeout=0.5"), "r");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "Redis at 127.0.0.1:"));
}

static void all_servers_may_be_gone(void **state)
{
    latch_lease *lease = redis_lease_in(redis_cluster_open(PATIENT), "r");

    (void) state;
    redis_expect_done(redis_run(lease, LATCH_ACQUIRE));
    for (unsigned at = 0; at < CLUSTER_NODES; at++) {
        redis_process_kill(&cluster.nodes[at]);
    }
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_REFRESH), "Redis at 127.0.0.1:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_CLUSTER_TEST(a_hold_goes_on_at_the_new_master),
        REDIS_CLUSTER_TEST(a_master_that_dies_is_followed_too),
        REDIS_CLUSTER_TEST(a_release_finds_the_new_master),
        REDIS_CLUSTER_TEST(locks_of_other_servers_do_not_suffer),
        REDIS_CLUSTER_TEST(a_server_that_hangs_is_passed_by_when_it_has_a_successor),
        REDIS_CLUSTER_TEST(who_waits_goes_on_at_the_new_master),
        REDIS_CLUSTER_TEST(and_when_the_master_dies),
        REDIS_CLUSTER_TEST(a_lock_without_a_server_is_an_error),
        REDIS_CLUSTER_TEST(all_servers_may_be_gone),
    };

    return cmocka_run_group_tests(tests, redis_cluster_group_setup, redis_cluster_group_teardown);
}
