/* The Redis store and fork(2): a child disturbs neither its parent's connection nor its locks. */
#include "redis_store.h"

static latch_lease *lease, *reader;

static int64_t connection_count(void)
{
    return unit_redis_number("EVAL %s 0",
                             "return tonumber(string.match(redis.call('INFO', 'clients'),"
                             " 'connected_clients:(%d+)'))");
}

static void use_in_child(unit_process *self, void *argument)
{
    latch_lease *other = redis_lease_in(unit.store, "child");

    (void) argument;
    UNIT_CHECK(!unit_held(lease) && !unit_held(reader));
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE); /* of nothing */
    UNIT_CHECK(unit_run_request(reader, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* a holder like any other */
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'y');
    unit_expect(self, 'g'); /* the parent has used its connection */
    UNIT_CHECK(redis_run(other, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(lease);
    latch_lease_drop(reader);
    latch_store_close(unit.store);
}

static void a_child_has_neither_the_locks_nor_the_connection(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    reader = redis_lease("s");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    child = unit_fork(use_in_child, NULL);
    unit_expect(&child, 'y');
    UNIT_CHECK(unit_held(lease) && unit_held(reader));
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(reader, LATCH_PROBE) == LATCH_DONE);
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    unit_release(lease);
    unit_release(reader);
    UNIT_CHECK(redis_is_free("r") && redis_is_free("s"));
}

static void acquire_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(lease->mode == LATCH_FREE && !unit_held(lease));
    UNIT_CHECK(unit_run_request(reader, redis_waiting(LATCH_ACQUIRE, MINUTE, 1)) == LATCH_CONFLICT);
    UNIT_CHECK(reader->mode == LATCH_FREE && !unit_held(reader));
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE); /* one more */
    UNIT_CHECK(redis_run(reader, LATCH_PROBE) == LATCH_DONE && unit_held(reader));
    UNIT_CHECK(unit_run_request(reader, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* after it */
}

static void exit_at_once(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    latch_lease_drop(lease);
    latch_store_close(unit.store);
}

static void a_child_that_acquires_is_another_holder(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    reader = redis_lease("s");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    child = unit_fork(acquire_in_child, NULL);
    unit_join(&child);
    assert_int_equal(unit_redis_number("ZCARD s"), 1); /* the parent's */
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(reader, LATCH_PROBE) == LATCH_DONE);
}

/* No good-bye, which the server would take for the parent's. */
static void a_child_that_exits_ends_no_connection(void **state)
{
    unit_process child;
    int64_t count;

    (void) state;
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    count = connection_count();
    child = unit_fork(exit_at_once, NULL);
    unit_join(&child);
    assert_int_equal(connection_count(), count);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    assert_int_equal(connection_count(), count);
}

/* The answer is the parent's: the child has sent nothing, and reads nothing. */
static latch_op in_flight;

static void step_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    redis_let_server_go();
    UNIT_CHECK(unit_finish(&in_flight, latch_op_step(&in_flight, unit_now_ns())) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease));
}

static void a_request_on_its_way_is_its_process_own(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_hold_server();
    redis_send(&in_flight, lease, redis_request(LATCH_ACQUIRE));
    child = unit_fork(step_in_child, NULL);
    unit_join(&child);
    UNIT_CHECK(unit_finish(&in_flight, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
}

static void release_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

/* How programs daemonise: the parent takes the lock, the child gives it back. */
static void a_child_may_release_what_was_meant_to_be_inherited(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(release_in_child, NULL);
    unit_join(&child);
    UNIT_CHECK(redis_is_free("r"));
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
}

static void die_with_the_lock(unit_process *self, void *argument)
{
    latch_lease *mine = redis_lease_in(unit.store, "r");

    (void) argument;
    UNIT_CHECK(redis_run_for(mine, LATCH_ACQUIRE, 300) == LATCH_DONE);
    unit_say(self, 'y');
    unit_hear(self);
}

static void the_lock_of_a_killed_process_ends_with_its_ttl(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    child = unit_fork(die_with_the_lock, NULL);
    unit_expect(&child, 'y');
    unit_kill(&child);
    UNIT_CHECK(unit_run_request(lease, redis_wait_to_write()) == LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_child_has_neither_the_locks_nor_the_connection),
        REDIS_TEST(a_child_that_acquires_is_another_holder),
        REDIS_TEST(a_child_that_exits_ends_no_connection),
        REDIS_TEST(a_request_on_its_way_is_its_process_own),
        REDIS_TEST(a_child_may_release_what_was_meant_to_be_inherited),
        REDIS_TEST(the_lock_of_a_killed_process_ends_with_its_ttl),
    };

    return cmocka_run_group_tests_name("redis and fork", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
