/* Kept leases of a quorum of Redis servers: three databases of one server, as three servers are. */
#include "keeping.h"

#define MS LATCH_NS_PER_MS
#define GONE "it has another holder, or none any more"
#define TTL_MS INT64_C(1500)

static struct {
    latch_store *members[3], *store;
    latch_lease lease, parts[3];
} quorum;

static int open_quorum(latch_store *third)
{
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = quorum.members,
                                         .member_count = 3};
    latch_lease_part members[3];

    quorum.members[0] = redis_open("redis://127.0.0.1:%d/0", unit_redis.port);
    quorum.members[1] = redis_open("redis://127.0.0.1:%d/1", unit_redis.port);
    quorum.members[2] = third != NULL ? third
                                      : redis_open("redis://127.0.0.1:%d/2", unit_redis.port);
    quorum.store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    latch_lease_init(&quorum.lease, quorum.store, "r", 1);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_init(&quorum.parts[at], quorum.members[at], "r", 1);
        members[at] = (latch_lease_part){&quorum.parts[at], MINUTE};
    }
    return latch_lease_join(&quorum.lease, members, &unit.error) == LATCH_DONE ? 0 : -1;
}

static int setup(void **state)
{
    return unit_renewal_setup(state) == 0 ? open_quorum(NULL) : -1;
}

static int setup_with_a_silent_one(void **state)
{
    return unit_renewal_setup(state) == 0 ? open_quorum(redis_wire_open("?read_timeout=0.1")) : -1;
}

static int teardown(void **state)
{
    redis_let_server_go();
    latch_lease_drop(&quorum.lease);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_drop(&quorum.parts[at]);
    }
    latch_store_close(quorum.store);
    return unit_renewal_teardown(state);
}

static latch_lease *keep_quorum(void)
{
    unit_keep(&quorum.lease);
    assert_int_equal(redis_run_for(&quorum.lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    return &quorum.lease;
}

static void delete_in(int database)
{
    unit_redis_ask("SELECT %d", database);
    unit_redis_ask("DEL r");
    unit_redis_ask("SELECT 0");
}

static bool is_free_in(int database)
{
    bool is_free;

    unit_redis_ask("SELECT %d", database);
    is_free = redis_is_free("r");
    unit_redis_ask("SELECT 0");
    return is_free;
}

static void a_quorum_outlives_its_ttl_in_all_servers(void **state)
{
    latch_lease *lease = keep_quorum();
    int64_t end_ns = unit_now_ns() + 2 * TTL_MS * MS;

    (void) state;
    while (unit_now_ns() < end_ns) {
        assert_true(unit_held(lease));
        unit_pass_ms(20);
    }
    for (int at = 0; at < 3; at++) {
        assert_false(is_free_in(at));
    }
    unit_expect_no_loss();
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    for (int at = 0; at < 3; at++) {
        UNIT_AWAIT(is_free_in(at));
    }
    unit_pass_ms(TTL_MS / 2);
    for (int at = 0; at < 3; at++) {
        assert_true(is_free_in(at));
    }
}

static void a_server_that_never_answers_does_not_matter(void **state)
{
    latch_lease *lease = keep_quorum();

    (void) state;
    for (int round = 0; round < 6; round++) {
        unit_await_renewal(lease);
    }
    unit_expect_no_loss();
}

static void one_server_that_has_forgotten_does_not_matter_but_two_do(void **state)
{
    latch_lease *lease = keep_quorum();
    latch_loss loss;

    (void) state;
    delete_in(1);
    unit_await_renewal(lease);
    unit_await_renewal(lease);
    unit_expect_no_loss();
    delete_in(2);
    loss = unit_await_loss();
    assert_ptr_equal(loss.lease, lease);
    assert_string_equal(loss.reason, GONE);
    assert_false(unit_held(lease));
}

static void servers_that_are_silent_are_a_loss_in_time(void **state)
{
    latch_lease *lease = keep_quorum();
    int64_t deadline_ns;
    latch_loss loss;

    (void) state;
    unit_await_renewal(lease);
    deadline_ns = lease->deadline_ns;
    redis_hold_server();
    loss = unit_await_loss();
    assert_true(unit_now_ns() >= deadline_ns);
    assert_non_null(strstr(loss.reason, "did not answer within"));
    redis_let_server_go();
    assert_false(unit_held(lease));
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease);
}

static void servers_that_are_silent_for_a_while_do_not_matter(void **state)
{
    latch_lease *lease = &quorum.lease;

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 4 * TTL_MS), LATCH_DONE);
    redis_hold_server();
    unit_await_failure(lease);
    redis_let_server_go();
    unit_await_renewal(lease);
    unit_expect_no_loss();
}

static void the_engine_ends_with_a_renewal_of_a_quorum_in_flight(void **state)
{
    (void) state;
    unit_await_renewal(keep_quorum());
    redis_hold_server();
    UNIT_AWAIT(unit_is_renewing());
    latch_lease_drop(&quorum.lease);
}

#define REDIS_QUORUM_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_QUORUM_TEST(a_quorum_outlives_its_ttl_in_all_servers),
        cmocka_unit_test_setup_teardown(a_server_that_never_answers_does_not_matter,
                                        setup_with_a_silent_one, teardown),
        REDIS_QUORUM_TEST(one_server_that_has_forgotten_does_not_matter_but_two_do),
        REDIS_QUORUM_TEST(servers_that_are_silent_are_a_loss_in_time),
        REDIS_QUORUM_TEST(servers_that_are_silent_for_a_while_do_not_matter),
        REDIS_QUORUM_TEST(the_engine_ends_with_a_renewal_of_a_quorum_in_flight),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
