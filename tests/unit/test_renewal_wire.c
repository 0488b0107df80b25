/*
 * The connection of a renewal's clone in trouble, on a wire that the test answers itself: whatever is
 * answered, and whatever is not, the lease is renewed in time.
 */
#include "keeping.h"

#define TTL_MS INT64_C(4500) /* of leases that are to survive something */

/* On a wire, whose second line is the clone's. */
static latch_lease *keep_on_wire(const char *options)
{
    latch_lease *lease = redis_lease_in(redis_wire_open(options), "r");
    latch_op op;

    unit_keep(lease);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, lease,
                                                       redis_request_for(LATCH_ACQUIRE, TTL_MS))),
                     LATCH_DONE);
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_accept();
    return lease;
}

/* Lets everything pass until it is renewed. */
static void await_renewal_by_wire(latch_lease *lease)
{
    int64_t deadline_ns = lease->deadline_ns, limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (lease->deadline_ns == deadline_ns) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        redis_wire_pass_all(5);
        assert_true(unit_held(lease));
    }
    unit_expect_no_loss();
}

static void whatever_is_answered_is_tried_again(void **state)
{
    const char *const answers[] = {
        "-LOADING Redis is loading the dataset in memory\r\n",
        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL.\r\n",
        "-READONLY You can't write against a read only replica.\r\n",
        "-MASTERDOWN Link with MASTER is down.\r\n",
        "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
        "-ERR unknown command 'EVALSHA'\r\n",
        ":7\r\n",
        "$-1\r\n",
        "*0\r\n",
        "+OK\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
    };
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    for (size_t at = 0; at < sizeof(answers) / sizeof(*answers); at++) {
        redis_wire_take_command();
        redis_wire_answer(answers[at]);
        unit_await_failure(lease);
        await_renewal_by_wire(lease);
    }
}

static void a_connection_that_ends_while_it_is_asked_is_made_anew(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    for (int round = 0; round < 3; round++) {
        redis_wire_take_command();
        redis_wire_cut();
        await_renewal_by_wire(lease);
    }
}

static void half_an_answer_is_none(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    redis_wire_take_command();
    redis_wire_answer(":"); /* the rest never comes */
    assert_non_null(strstr(unit_await_failure(lease), "did not answer within 1.5 s"));
    await_renewal_by_wire(lease);
}

static void an_answer_is_awaited_no_longer_than_by_the_store_itself(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=0.1");

    (void) state;
    redis_wire_take_command();
    assert_non_null(strstr(unit_await_failure(lease), "did not answer within"));
    await_renewal_by_wire(lease);
}

static void the_connection_of_its_user_does_not_matter(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    redis_wire_use(REDIS_COMMANDS);
    redis_wire_cut();
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_take_command();
    redis_wire_answer(":2\r\n");
    unit_await_renewal(lease);
}

static void a_hold_is_not_held_up_by_a_renewal_of_the_one_before(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=60");
    latch_op op;

    (void) state;
    redis_wire_take_command();
    redis_wire_use(REDIS_COMMANDS);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, lease, redis_request(LATCH_RELEASE))),
                     LATCH_DONE);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, lease,
                                                       redis_request_for(LATCH_ACQUIRE, TTL_MS))),
                     LATCH_DONE);
    await_renewal_by_wire(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_RENEWAL_TEST(whatever_is_answered_is_tried_again),
        UNIT_RENEWAL_TEST(a_connection_that_ends_while_it_is_asked_is_made_anew),
        UNIT_RENEWAL_TEST(half_an_answer_is_none),
        UNIT_RENEWAL_TEST(an_answer_is_awaited_no_longer_than_by_the_store_itself),
        UNIT_RENEWAL_TEST(the_connection_of_its_user_does_not_matter),
        UNIT_RENEWAL_TEST(a_hold_is_not_held_up_by_a_renewal_of_the_one_before),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
