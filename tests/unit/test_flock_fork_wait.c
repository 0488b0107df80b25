/* Waits that are forked: parent and child each wait for themselves. */
#include "unit.h"

#include <unistd.h>

static latch_lease *lease;
static latch_op op;

static int setup(void **state)
{
    if (unit_setup_flock(state) != 0) {
        return -1;
    }
    lease = unit_lease("r");
    return 0;
}

static void acquire(bool inherit)
{
    lease->inherit = inherit;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
}

static void begin_wait(latch_op_kind kind)
{
    assert_int_equal(unit_begin(&op, lease, unit_waiting(kind, LATCH_NEVER)), LATCH_WANT_IO);
    unit_await_sleepers(unit_lock_path("r"), 1);
}

static void wait_anew(unit_process *self, void *unused)
{
    latch_status status;

    (void) unused;
    unit_calls.no_threads = UNIT_TSAN; /* it takes them for the parent's: same stack, same name */
    status = latch_op_step(&op, unit_now_ns());
    UNIT_CHECK(status == (UNIT_TSAN ? LATCH_WANT_TIMER : LATCH_WANT_IO));
    unit_say(self, 'w');
    unit_hear(self); /* a poll could be quicker than the parent's thread: polls do not queue */
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    UNIT_CHECK(unit_held(lease));
    unit_say(self, 'h');
    unit_hear(self);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

static void a_forked_wait_is_begun_anew_in_the_child(void **state)
{
    unit_process peer = unit_peer(unit_lock_path("r")), child;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    begin_wait(LATCH_ACQUIRE);
    child = unit_fork(wait_anew, NULL);
    unit_expect(&child, 'w');
    unit_await_sleepers(unit_lock_path("r"), UNIT_TSAN ? 1 : 2);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE); /* first come, first served */
    unit_say(&child, 'g');
    unit_release(lease);
    unit_expect(&child, 'h');
    assert_false(unit_is_free("r", LOCK_SH));
    unit_join(&child);
    assert_true(unit_is_free("r", LOCK_EX));
    unit_join(&peer);
}

static void lose_promotion(unit_process *self, void *unused)
{
    (void) self;
    (void) unused;
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_ERROR_LOST);
    UNIT_CHECK(!unit_held(lease));
}

static void a_forked_promotion_is_lost_in_the_child_alone(void **state)
{
    unit_process peer = unit_peer(unit_lock_path("r")), child;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_true(unit_peer_try(&peer, LOCK_SH));
    begin_wait(LATCH_ACQUIRE);
    child = unit_fork(lose_promotion, NULL);
    unit_join(&child);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
    unit_release(lease);
    unit_join(&peer);
}

static void release_when_told(unit_process *self, void *unused)
{
    (void) unused;
    unit_hear(self);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

static void a_wait_for_ones_own_lock_that_a_child_may_release_is_no_deadlock(void **state)
{
    latch_lease *other = unit_lease("r");
    unit_process child;

    (void) state;
    acquire(true);
    child = unit_fork(release_when_told, NULL);
    assert_int_equal(unit_begin(&op, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    unit_say(&child, 'g');
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_join(&child);
}

static void cancel_a_grant(unit_process *self, void *unused)
{
    (void) unused;
    UNIT_CHECK(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)) == LATCH_WANT_IO);
    unit_say(self, 'w');
    unit_await_grant(&op);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease));
    unit_say(self, 'c');
    unit_hear(self);
}

static void a_child_does_not_restore_what_only_its_parent_held(void **state)
{
    unit_process child;

    (void) state;
    acquire(false);
    child = unit_fork(cancel_a_grant, NULL); /* where the lease still says that it is exclusive */
    unit_expect(&child, 'w');
    unit_release(lease);
    unit_expect(&child, 'c');
    assert_true(unit_is_free("r", LOCK_EX));
    unit_join(&child);
}

static void wait_for_a_peer(void)
{
    unit_process peer = unit_peer(unit_lock_path("r"));
    latch_status status;

    UNIT_CHECK(unit_peer_try(&peer, LOCK_EX));
    status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    UNIT_CHECK(status == (unit_calls.no_threads ? LATCH_WANT_TIMER : LATCH_WANT_IO));
    UNIT_CHECK(unit_peer_try(&peer, LOCK_UN));
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_release(lease);
    unit_join(&peer);
}

static void wait_in_child(unit_process *self, void *unused)
{
    (void) self;
    (void) unused;
    unit_calls.no_threads = UNIT_TSAN; /* as above */
    wait_for_a_peer();
    wait_for_a_peer();
    latch_lease_drop(lease);
    latch_store_close(unit.store);
}

static void parent_and_child_each_have_helpers_of_their_own(void **state)
{
    (void) state;
    for (int round = 0; round < 2; round++) {
        unit_process child;

        wait_for_a_peer(); /* leaves a helper, which is not in the child */
        child = unit_fork(wait_in_child, NULL);
        unit_join(&child);
    }
    assert_int_equal(unit_calls.started, 1);
}

static void wait_for_parent(unit_process *self, void *unused)
{
    (void) unused;
    UNIT_CHECK(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)) == LATCH_WANT_IO);
    unit_say(self, 'w');
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

static void a_child_may_wait_for_its_parents_lock_through_the_same_lease(void **state)
{
    unit_process child;

    (void) state;
    acquire(false);
    child = unit_fork(wait_for_parent, NULL); /* no deadlock: the parent is somebody else */
    unit_expect(&child, 'w');
    lease->remove = true; /* nor a loss, when the file that it waits for is removed */
    unit_release(lease);
    unit_join(&child);
}

#define FORK_TEST(test) cmocka_unit_test_setup_teardown(test, setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FORK_TEST(a_forked_wait_is_begun_anew_in_the_child),
        FORK_TEST(a_forked_promotion_is_lost_in_the_child_alone),
        FORK_TEST(a_wait_for_ones_own_lock_that_a_child_may_release_is_no_deadlock),
        FORK_TEST(a_child_does_not_restore_what_only_its_parent_held),
        FORK_TEST(parent_and_child_each_have_helpers_of_their_own),
        FORK_TEST(a_child_may_wait_for_its_parents_lock_through_the_same_lease),
    };

    return cmocka_run_group_tests_name("flock: forked waits", tests, NULL, NULL);
}
