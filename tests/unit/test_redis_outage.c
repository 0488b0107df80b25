/*
 * Waits with a deadline for a Redis that does not answer: an error, as nobody is known to hold the
 * lock, and in time. What may have been granted is given back.
 */
#include "redis_store.h"

#include "src/engine/store.h"

#define SHORT_MS 200

static latch_status wait_for(latch_lease *lease)
{
    return unit_run_request(lease, redis_waiting(LATCH_ACQUIRE, MINUTE, SHORT_MS));
}

/* One that has waited before asks for its place at once. */
static void a_server_that_does_not_queue_is_an_error(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(lease);
    redis_hold_server();
    UNIT_CHECK(redis_failed(wait_for(lease), " did not answer within "));
    redis_let_server_go();
    redis_await_free("r");
    redis_expect_nothing_left();
}

static void a_server_that_has_told_who_has_the_lock_may_be_silent_then(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_waiting(LATCH_ACQUIRE, MINUTE, SHORT_MS));
    redis_hold_server();
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_CONFLICT && !unit_held(lease));
    redis_let_server_go();
    unit_release(holder);
}

/* A quorum leaves what its members have not answered to their leases. */
static void who_comes_behind_what_is_not_answered_never_began(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_op left;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    redis_hold_server();
    redis_send(&left, lease, redis_request(LATCH_REFRESH));
    UNIT_CHECK(latch_op_detach(&left));
    UNIT_CHECK(redis_failed(wait_for(lease), " did not answer within "));
    redis_let_server_go();
    UNIT_CHECK(unit_held(lease));
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(a_server_that_does_not_queue_is_an_error),
        REDIS_WAIT_TEST(a_server_that_has_told_who_has_the_lock_may_be_silent_then),
        REDIS_WAIT_TEST(who_comes_behind_what_is_not_answered_never_began),
    };

    return cmocka_run_group_tests_name("redis outage", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
