/*
 * Kept leases in a combined store of combined stores of Redis stores: databases of one server, as
 * servers are.
 */
#include "keeping.h"

#define TTL_MS INT64_C(600)
#define MEMBERS 3

/* A combined store whose first member is one, too. */
static struct {
    latch_store *members[MEMBERS], *inner_members[MEMBERS], *inner, *outer;
    latch_lease lease, parts[MEMBERS], inner_parts[MEMBERS];
} world;

static latch_store *combine(latch_store **members)
{
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = members,
                                         .member_count = MEMBERS};

    return latch_store_open(unit.engine, "combined", &options, &unit.error);
}

static void join(latch_lease *lease, latch_lease *parts)
{
    latch_lease_part members[MEMBERS];

    for (size_t at = 0; at < MEMBERS; at++) {
        members[at] = (latch_lease_part){&parts[at], MINUTE};
    }
    UNIT_CHECK(latch_lease_join(lease, members, &unit.error) == LATCH_DONE);
}

static int setup(void **state)
{
    if (redis_store_setup(state) != 0) {
        return -1;
    }
    for (int at = 0; at < MEMBERS; at++) {
        world.inner_members[at] = redis_open("redis://127.0.0.1:%d/%d", unit_redis.port, at);
        latch_lease_init(&world.inner_parts[at], world.inner_members[at], "r", 1);
    }
    world.inner = world.members[0] = combine(world.inner_members);
    for (int at = 1; at < MEMBERS; at++) {
        world.members[at] = redis_open("redis://127.0.0.1:%d/%d", unit_redis.port, MEMBERS + at);
    }
    for (int at = 0; at < MEMBERS; at++) {
        latch_lease_init(&world.parts[at], world.members[at], "r", 1);
    }
    world.outer = combine(world.members);
    latch_lease_init(&world.lease, world.outer, "r", 1);
    join(&world.parts[0], world.inner_parts);
    join(&world.lease, world.parts);
    return unit_open_mailbox();
}

static int teardown(void **state)
{
    latch_lease_drop(&world.lease);
    for (int at = 0; at < MEMBERS; at++) {
        latch_lease_drop(&world.parts[at]);
    }
    for (int at = 0; at < MEMBERS; at++) {
        latch_lease_drop(&world.inner_parts[at]);
    }
    latch_store_close(world.outer);
    latch_store_close(world.inner);
    unit_close_mailbox();
    return redis_store_teardown(state);
}

static void one_in_combined_stores_of_combined_stores_outlives_its_ttl(void **state)
{
    (void) state;
    unit_keep(&world.lease);
    assert_int_equal(redis_run_for(&world.lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_pass_ms(3 * TTL_MS);
    /* Without the others it is held no longer, if the inner one is not. */
    latch_lease_sync_deadline(&world.lease, unit_now_ns());
    assert_true(unit_held(&world.parts[0]));
    assert_true(unit_held(&world.lease));
    assert_int_equal(redis_run(&world.lease, LATCH_RELEASE), LATCH_DONE);
}

/* Its clock and theirs may run apart, in the time that it is held for. */
static void a_promotion_that_failed_leaves_a_reader_less_than_its_ttl(void **state)
{
    static const int64_t ttl_ms = 10000;

    (void) state;
    assert_int_equal(redis_run(&world.lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    for (int at = 1; at < MEMBERS; at++) {
        latch_lease *reader = redis_lease_in(world.members[at], "r");

        assert_int_equal(redis_run(reader, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    }
    unit_keep(&world.lease);
    assert_int_equal(redis_run_for(&world.lease, LATCH_ACQUIRE, ttl_ms), LATCH_CONFLICT);
    assert_true(unit_held(&world.lease));
    assert_true(world.lease.deadline_ns
                <= unit_now_ns() + (ttl_ms - ttl_ms / 100 - 2) * LATCH_NS_PER_MS);
    assert_int_equal(redis_run(&world.lease, LATCH_RELEASE), LATCH_DONE);
}

static void one_without_parts_cannot_be_kept(void **state)
{
    const latch_renewal_spec how = UNIT_KEEP;
    latch_lease lease;

    (void) state;
    latch_lease_init(&lease, world.outer, "r", 1);
    assert_int_equal(latch_lease_start_renewal(&lease, unit_mailbox, &how, &unit.error),
                     LATCH_ERROR_ARGUMENT);
    assert_non_null(strstr(unit.error.message, "has no parts"));
}

static void one_whose_parts_have_none_cannot_be_kept(void **state)
{
    const latch_renewal_spec how = UNIT_KEEP;
    latch_lease lease, parts[MEMBERS];

    (void) state;
    for (int at = 0; at < MEMBERS; at++) {
        latch_lease_init(&parts[at], world.members[at], "r", 1);
    }
    latch_lease_init(&lease, world.outer, "r", 1);
    join(&lease, parts);
    assert_int_equal(latch_lease_start_renewal(&lease, unit_mailbox, &how, &unit.error),
                     LATCH_ERROR_ARGUMENT);
    assert_non_null(strstr(unit.error.message, "has no parts"));
    latch_lease_drop(&lease);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_in_combined_stores_of_combined_stores_outlives_its_ttl),
        TEST(a_promotion_that_failed_leaves_a_reader_less_than_its_ttl),
        TEST(one_without_parts_cannot_be_kept),
        TEST(one_whose_parts_have_none_cannot_be_kept),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
