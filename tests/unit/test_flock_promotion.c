/* Promotion: a reader that wants to write waits for the other readers, or keeps what it had. */
#include "waiting.h"

#include <unistd.h>

/* The lease has a shared lock, as the peer has, and waits for the exclusive one. */
static void begin_promotion(int64_t timeout_ms)
{
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_true(unit_peer_try(&peer, LOCK_SH));
    begin_wait(LATCH_ACQUIRE, timeout_ms);
    assert_false(unit_held(lease)); /* the kernel gave the shared lock up */
}

static void a_promotion_that_lost_the_shared_lock_says_so(void **state)
{
    (void) state;
    begin_promotion(LATCH_NEVER);
    assert_true(unit_peer_try(&peer, LOCK_EX)); /* a reader that was quicker */
    assert_int_equal(unit_cancel(&op), LATCH_ERROR_LOST);
    assert_int_equal(unit.error.status, LATCH_ERROR_LOST);
    assert_false(unit_held(lease));
    assert_int_equal(lease->mode, LATCH_FREE);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    unit_release(lease); /* nothing: succeeds */
}

static void a_promotion_on_a_removed_file_is_a_loss(void **state)
{
    (void) state;
    begin_promotion(LATCH_NEVER);
    assert_int_equal(unlink(unit_lock_path("r")), 0);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_ERROR_LOST);
    assert_false(unit_held(lease));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
}

static void a_shared_lock_on_a_removed_file_is_not_kept(void **state)
{
    (void) state;
    begin_promotion(LATCH_NEVER);
    assert_int_equal(unlink(unit_lock_path("r")), 0);
    assert_int_equal(unit_cancel(&op), LATCH_ERROR_LOST); /* what is taken again is no lock */
    assert_false(unit_held(lease));
}

static void a_promotion_that_polls_keeps_the_shared_lock_meanwhile(void **state)
{
    (void) state;
    unit_calls.no_threads = true;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_true(unit_peer_try(&peer, LOCK_SH));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_TIMER);
    assert_true(unit_held(lease));
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_false(unit_is_free("r", LOCK_EX));
    assert_int_equal(unit_finish(&op, LATCH_WANT_TIMER), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(a_promotion_that_lost_the_shared_lock_says_so),
        WAIT_TEST(a_promotion_on_a_removed_file_is_a_loss),
        WAIT_TEST(a_shared_lock_on_a_removed_file_is_not_kept),
        WAIT_TEST(a_promotion_that_polls_keeps_the_shared_lock_meanwhile),
    };

    return cmocka_run_group_tests_name("flock: promotion", tests, NULL, NULL);
}
