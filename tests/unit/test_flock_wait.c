/* Waiting for a lock file: a wait is granted, ends in time, or is given up with nothing taken. */
#include "waiting.h"

#include <unistd.h>

/* ---- Granted -------------------------------------------------------------------------------- */

static void a_wait_is_granted_when_another_process_releases(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        begin_wait_for_peer(kinds[at], LATCH_NEVER);
        assert_false(unit_held(lease));
        assert_int_equal(latch_op_step(&op, unit_now_ns()), LATCH_WANT_IO);
        assert_true(unit_peer_try(&peer, LOCK_UN));
        assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
        assert_true(unit_held(lease));
        unit_await_threads(1); /* kept for the next wait */
        assert_false(unit_peer_try(&peer, LOCK_EX));
        assert_int_equal(unit_peer_try(&peer, LOCK_SH), kinds[at] == LATCH_ACQUIRE_SHARED);
        assert_true(unit_peer_try(&peer, LOCK_UN));
        unit_release(lease);
    }
}

static void a_wait_is_granted_when_the_holder_is_killed(void **state)
{
    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    unit_kill(&peer);
    peer.pid = 0;
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

static void one_helper_serves_one_wait_after_the_other(void **state)
{
    (void) state;
    for (int round = 0; round < 5; round++) {
        begin_wait_for_peer(round % 2 == 0 ? LATCH_ACQUIRE : LATCH_ACQUIRE_SHARED, LATCH_NEVER);
        assert_true(unit_peer_try(&peer, LOCK_UN));
        assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
        assert_int_equal(unit_calls.started, 1);
        unit_release(lease);
        assert_true(unit_is_free("r", LOCK_EX));
    }
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_int_equal(unit_calls.started, 1);
    unit_await_threads(0); /* it cannot be called back otherwise */
    begin_wait(LATCH_ACQUIRE, LATCH_NEVER);
    assert_int_equal(unit_calls.started, 2);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

static void several_waits_are_granted_one_after_the_other(void **state)
{
    latch_lease *leases[3] = {unit_lease("r"), unit_lease("r"), unit_lease("r")};
    latch_op ops[3];

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    for (size_t at = 0; at < 3; at++) { /* with a deadline: without, the second is refused */
        assert_int_equal(unit_begin(&ops[at], leases[at], unit_waiting(LATCH_ACQUIRE, 10000)),
                         LATCH_WANT_IO);
        unit_await_sleepers(unit_lock_path("r"), at + 1);
    }
    assert_true(unit_peer_try(&peer, LOCK_UN));
    for (size_t at = 0; at < 3; at++) { /* the kernel's queue is first in, first out */
        assert_int_equal(unit_finish(&ops[at], LATCH_WANT_IO), LATCH_DONE);
        unit_release(leases[at]);
    }
    unit_await_threads(1); /* of three, no more than one is kept */
}

static void a_wait_may_be_moved_in_memory(void **state)
{
    latch_op copy;

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    copy = op;
    memset(&op, 0xff, sizeof(op));
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&copy, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

/* ---- Removed files -------------------------------------------------------------------------- */

static void a_waiter_follows_a_removed_file_to_its_successor(void **state)
{
    unit_process successor;

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    assert_int_equal(unlink(unit_lock_path("r")), 0);
    successor = unit_peer(unit_lock_path("r")); /* creates it anew */
    assert_true(unit_peer_try(&successor, LOCK_EX));
    let_the_grant_come(); /* on the removed file, which is no lock */
    assert_int_equal(latch_op_step(&op, unit_now_ns()), LATCH_WANT_IO);
    unit_await_sleepers(unit_lock_path("r"), 1);
    assert_false(unit_held(lease));
    assert_true(unit_peer_try(&successor, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_false(unit_is_free("r", LOCK_SH));
    unit_release(lease);
    unit_join(&successor);
}

static void a_wait_for_a_removed_file_ends_in_time_too(void **state)
{
    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, 10);
    assert_int_equal(unlink(unit_lock_path("r")), 0);
    let_the_grant_come();
    assert_int_equal(latch_op_cancel(&op, unit_now_ns()), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_int_equal(access(unit_lock_path("r"), F_OK), -1); /* no need to look for another */
}

/* ---- Ended in time, or given up ------------------------------------------------------------- */

static void a_timeout_ends_the_wait_with_nothing_taken(void **state)
{
    size_t descriptors = unit_count_descriptors();
    int64_t start_ns = unit_now_ns();

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, 30);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_CONFLICT);
    assert_true(unit_now_ns() - start_ns >= 30 * LATCH_NS_PER_MS);
    unit_await_threads(0);
    assert_false(lease->busy);
    assert_false(unit_held(lease));
    assert_true(unit_count_descriptors() <= descriptors + 1); /* the idle file */
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_true(unit_peer_try(&peer, LOCK_EX)); /* at once: nobody came in between */
}

static void a_cancel_ends_the_wait_with_nothing_taken(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_ACQUIRE_SHARED; kind++) {
        begin_wait_for_peer(kind, LATCH_NEVER);
        assert_int_equal(latch_op_cancel(&op, unit_now_ns()), LATCH_CONFLICT);
        unit_await_threads(0);
        assert_false(lease->busy);
        assert_true(unit_peer_try(&peer, LOCK_UN));
        assert_true(unit_peer_try(&peer, LOCK_EX));
    }
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE); /* nothing is broken */
    unit_release(lease);
}

static void a_grant_that_crosses_the_deadline_counts(void **state)
{
    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, 1000);
    let_the_grant_come();
    assert_int_equal(latch_op_step(&op, op.wake_ns + LATCH_NS_PER_S), LATCH_DONE);
    assert_true(unit_held(lease));
    unit_release(lease);
}

static void a_thousand_cancels_that_race_a_grant_never_leave_the_lock_held(void **state)
{
    latch_lease *holder = unit_lease("r");

    (void) state;
    for (int round = 0; round < 1000; round++) {
        int64_t until_ns;

        assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, UNIT_TIMEOUT_NS)),
                         LATCH_WANT_IO);
        if (round % 4 != 0) { /* else the helper has hardly begun to live */
            unit_await_sleepers(unit_lock_path("r"), 1);
        }
        unit_release(holder);
        until_ns = unit_now_ns() + round % 50 * 2000;
        while (unit_now_ns() < until_ns) { /* 0 to 100 us for the grant */
        }
        assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
        assert_true(unit_is_free("r", LOCK_EX));
    }
    unit_await_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(a_wait_is_granted_when_another_process_releases),
        WAIT_TEST(a_wait_is_granted_when_the_holder_is_killed),
        WAIT_TEST(one_helper_serves_one_wait_after_the_other),
        WAIT_TEST(several_waits_are_granted_one_after_the_other),
        WAIT_TEST(a_wait_may_be_moved_in_memory),
        WAIT_TEST(a_waiter_follows_a_removed_file_to_its_successor),
        WAIT_TEST(a_wait_for_a_removed_file_ends_in_time_too),
        WAIT_TEST(a_timeout_ends_the_wait_with_nothing_taken),
        WAIT_TEST(a_cancel_ends_the_wait_with_nothing_taken),
        WAIT_TEST(a_grant_that_crosses_the_deadline_counts),
        WAIT_TEST(a_thousand_cancels_that_race_a_grant_never_leave_the_lock_held),
    };

    return cmocka_run_group_tests_name("flock: waits", tests, NULL, NULL);
}
