/* The flock store without waiting: who may hold what beside whom. */
#include "src/store/flock/flock.h"
#include "unit.h"

#include <errno.h>
#include <unistd.h>

static void an_exclusive_lock_excludes_leases_and_processes(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r"), *elsewhere = unit_lease("s");
    unit_process peer = unit_peer(unit_lock_path("r"));

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_CONFLICT);
    assert_false(unit_peer_try(&peer, LOCK_EX));
    assert_false(unit_peer_try(&peer, LOCK_SH));
    assert_int_equal(unit_run(elsewhere, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(unit_held(holder));
    assert_false(unit_held(other));
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_PROBE), LATCH_CONFLICT);
    unit_release(holder);
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_CONFLICT);
    unit_kill(&peer); /* the kernel frees a dead process's locks */
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(other);
    unit_release(elsewhere);
}

static void readers_share_between_leases_and_processes(void **state)
{
    latch_lease *one = unit_lease("r"), *two = unit_lease("r"), *writer = unit_lease("r");
    unit_process peer = unit_peer(unit_lock_path("r"));

    (void) state;
    assert_int_equal(unit_run(one, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_true(unit_peer_try(&peer, LOCK_SH));
    assert_int_equal(one->mode, LATCH_SHARED);
    unit_release(one);
    assert_int_equal(unit_run(writer, LATCH_ACQUIRE), LATCH_CONFLICT);
    unit_release(two);
    assert_int_equal(unit_run(writer, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_run(writer, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(writer);
    unit_join(&peer);
}

static void a_promotion_that_conflicts_keeps_the_shared_lock(void **state)
{
    latch_lease *lease = unit_lease("r");
    unit_process peer = unit_peer(unit_lock_path("r"));

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_true(unit_peer_try(&peer, LOCK_SH));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_true(unit_held(lease));
    assert_false(unit_peer_try(&peer, LOCK_EX));
    assert_true(unit_peer_try(&peer, LOCK_UN)); /* its failed promotion had lost its lock */
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    unit_join(&peer);
}

static unit_process quicker;

/* The kernel gave up the shared lock for the promotion; before it is taken again, somebody comes.
 */
static int be_quicker(int fd, int operation)
{
    (void) fd;
    if (operation == (LOCK_SH | LOCK_NB)) {
        unit_calls.on_flock = NULL;
        assert_true(unit_peer_try(&quicker, LOCK_EX));
    }
    return UNIT_GO_ON;
}

static void a_promotion_that_lost_the_shared_lock_says_so(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    quicker = unit_peer(unit_lock_path("r"));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_true(unit_peer_try(&quicker, LOCK_SH));
    unit_calls.on_flock = be_quicker;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_int_equal(unit.error.status, LATCH_ERROR_LOST);
    assert_string_equal(unit.error.message,
                        "the lock was lost while it was being promoted; another process was quicker");
    assert_false(unit_held(lease));
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    unit_release(lease); /* frees nobody's lock */
    assert_false(unit_is_free("r", LOCK_SH));
    unit_join(&quicker);
}

static size_t kernel_calls;

static int count_call(int fd, int operation)
{
    (void) fd;
    (void) operation;
    kernel_calls++;
    return UNIT_GO_ON;
}

static void acquiring_again_asks_the_kernel_nothing(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    unit_calls.on_flock = count_call;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_ACQUIRE_SHARED; kind++) {
        assert_int_equal(unit_run(lease, kind), LATCH_DONE);
        kernel_calls = 0;
        assert_int_equal(unit_run(lease, kind), LATCH_DONE);
        assert_int_equal(unit_run_waiting(lease, kind, LATCH_NEVER), LATCH_DONE);
        assert_int_equal(kernel_calls, 0);
    }
    unit_calls.on_flock = NULL;
    unit_release(lease); /* once is enough */
    assert_true(unit_is_free("r", LOCK_EX));
    unit_release(lease); /* and again does nothing */
}

static int fail_to_lock(int fd, int operation)
{
    (void) fd;
    (void) operation;
    errno = ENOLCK;
    return -1;
}

static int interrupt_once(int fd, int operation)
{
    (void) fd;
    (void) operation;
    unit_calls.on_flock = NULL;
    errno = EINTR;
    return -1;
}

static void an_error_of_the_kernel_holds_nothing(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    unit_calls.on_flock = fail_to_lock;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.sys_errno, ENOLCK);
    assert_string_equal(unit.error.message, "flock() failed: No locks available");
    unit_calls.on_flock = NULL;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_calls.on_flock = fail_to_lock;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_SYSTEM);
    unit_calls.on_flock = NULL;
    assert_false(unit_held(lease)); /* nobody knows what is left: so nothing is left */
    assert_true(unit_is_free("r", LOCK_EX));
    unit_calls.on_flock = interrupt_once;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(an_exclusive_lock_excludes_leases_and_processes, setup_flock),
        UNIT_TEST(readers_share_between_leases_and_processes, setup_flock),
        UNIT_TEST(a_promotion_that_conflicts_keeps_the_shared_lock, setup_flock),
        UNIT_TEST(a_promotion_that_lost_the_shared_lock_says_so, setup_flock),
        UNIT_TEST(acquiring_again_asks_the_kernel_nothing, setup_flock),
        UNIT_TEST(an_error_of_the_kernel_holds_nothing, setup_flock),
    };

    return cmocka_run_group_tests_name("flock: holds", tests, NULL, NULL);
}
