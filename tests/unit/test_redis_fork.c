/* The Redis store and fork(2): a child disturbs neither its parent's connection nor its locks. */
#include "redis_store.h"

static latch_lease *lease;

static int64_t connection_count(void)
{
    return unit_redis_number("EVAL %s 0",
                             "return tonumber(string.match(redis.call('INFO', 'clients'),"
                             " 'connected_clients:(%d+)'))");
}

static void exit_at_once(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    latch_lease_drop(lease);
    latch_store_close(unit.store);
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

/* Reads the answer to in_flight without a step of it: it comes before that to another request. */
static void read_its_answer(void)
{
    latch_lease *other = redis_lease_in(unit.store, "other");

    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(other, LATCH_RELEASE) == LATCH_DONE);
}

static void cancel_in_child(unit_process *self, void *argument)
{
    latch_status status;

    (void) self;
    (void) argument;
    redis_expect_working(redis_lease_in(unit.store, "child")); /* it has a connection of its own */
    status = latch_op_cancel(&in_flight, unit_now_ns());
    while (latch_wants(status)) {
        unit_await_wish(&in_flight, status, LATCH_NEVER);
        status = latch_op_cancel(&in_flight, unit_now_ns());
    }
    UNIT_CHECK(status == LATCH_CONFLICT);
    latch_lease_drop(lease);
    latch_store_close(unit.store);
}

static void send_and_read(latch_op_kind kind)
{
    UNIT_CHECK(redis_run(lease, kind) == LATCH_DONE); /* the server knows the script from now on */
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
    redis_send(&in_flight, lease, redis_request(kind));
    read_its_answer();
}

/* Whatever the child does with the request, its parent has what it was granted. */
static void acquire_beside_a_child(void (*run)(unit_process *, void *))
{
    for (int inherits = 0; inherits < 2; inherits++) {
        unit_process child;

        lease = redis_lease("r");
        lease->inherit = inherits > 0;
        send_and_read(LATCH_ACQUIRE);
        child = unit_fork(run, NULL);
        unit_join(&child);
        UNIT_CHECK(unit_finish(&in_flight, LATCH_WANT_IO) == LATCH_DONE);
        UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
    }
}

static void an_answer_that_was_read_before_a_fork_is_the_parents(void **state)
{
    (void) state;
    acquire_beside_a_child(step_in_child);
}

static void a_child_gives_back_nothing_that_its_parent_was_granted(void **state)
{
    (void) state;
    acquire_beside_a_child(cancel_in_child);
}

static void a_child_demotes_nothing_that_its_parent_promotes(void **state)
{
    latch_lease *reader;
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    for (int is_answered = 0; is_answered < 2; is_answered++) {
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        redis_send(&in_flight, lease, redis_request(LATCH_ACQUIRE));
        if (is_answered) {
            read_its_answer();
        }
        child = unit_fork(cancel_in_child, NULL);
        unit_join(&child);
        UNIT_CHECK(unit_finish(&in_flight, LATCH_WANT_IO) == LATCH_DONE);
        reader = redis_other_lease("r");
        UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
        UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
    }
}

static void a_child_leaves_its_parents_place_in_the_queue(void **state)
{
    latch_lease *reader = redis_other_lease("r");
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    redis_begin_wait(&in_flight, lease, redis_wait_to_write());
    child = unit_fork(cancel_in_child, NULL);
    unit_join(&child);
    assert_int_equal(unit_redis_number("ZCARD latch:queue:r"), 1);
    UNIT_CHECK(redis_run(reader, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&in_flight, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

/* Its first request: what it owes is not taken for the parent's. The next reply follows the
 * release's. */
static void leave_release_in_child(unit_process *self, void *argument)
{
    latch_lease *other = redis_lease_in(unit.store, "child");

    (void) self;
    (void) argument;
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(other, LATCH_RELEASE) == LATCH_DONE);
}

static void a_child_may_leave_the_release_of_what_it_inherits(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(leave_release_in_child, NULL);
    unit_join(&child);
    UNIT_CHECK(redis_is_free("r"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_child_that_exits_ends_no_connection),
        REDIS_TEST(a_request_on_its_way_is_its_process_own),
        REDIS_TEST(an_answer_that_was_read_before_a_fork_is_the_parents),
        REDIS_TEST(a_child_gives_back_nothing_that_its_parent_was_granted),
        REDIS_TEST(a_child_demotes_nothing_that_its_parent_promotes),
        REDIS_TEST(a_child_leaves_its_parents_place_in_the_queue),
        REDIS_TEST(a_child_may_leave_the_release_of_what_it_inherits),
    };

    return cmocka_run_group_tests_name("redis and fork", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
