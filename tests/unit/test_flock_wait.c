/* Waiting for a lock file: a wait is granted, ends in time, or is given up with nothing taken. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static latch_lease *lease;
static latch_op op;
static unit_process peer;

static int setup(void **state)
{
    if (unit_setup_flock(state) != 0) {
        return -1;
    }
    lease = unit_lease("r");
    peer = unit_peer(unit_lock_path("r"));
    return 0;
}

static int teardown(void **state)
{
    if (peer.pid != 0) {
        unit_join(&peer);
    }
    return unit_teardown(state);
}

/* The lease waits in the kernel, for a lock that the peer has. */
static void begin_wait(latch_op_kind kind, int64_t timeout_ms)
{
    assert_int_equal(unit_begin(&op, lease, unit_waiting(kind, timeout_ms)), LATCH_WANT_IO);
    unit_await_sleepers(unit_lock_path("r"), 1);
}

static void begin_wait_for_peer(latch_op_kind kind, int64_t timeout_ms)
{
    assert_true(unit_peer_try(&peer, LOCK_EX));
    begin_wait(kind, timeout_ms);
}

/* The peer gives way, and the wait knows it; its operation has not been stepped yet. */
static void let_the_grant_come(void)
{
    assert_true(unit_peer_try(&peer, LOCK_UN));
    unit_await_grant(&op);
}

/* ---- Granted -------------------------------------------------------------------------------- */

static void a_wait_is_granted_when_another_process_releases(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        begin_wait_for_peer(kinds[at], LATCH_NEVER);
        assert_false(unit_held(lease));
        assert_int_equal(latch_op_step(&op, latch_engine_now_ns(unit.engine)), LATCH_WANT_IO);
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
    int64_t patience = latch_engine_now_ns(unit.engine) + UNIT_PATIENCE_NS;
    latch_op ops[3];

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    for (size_t at = 0; at < 3; at++) { /* with a deadline: without, the second is refused */
        assert_int_equal(unit_begin(&ops[at], leases[at], unit_waiting(LATCH_ACQUIRE, patience)),
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
    assert_int_equal(latch_op_step(&op, latch_engine_now_ns(unit.engine)), LATCH_WANT_IO);
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
    assert_int_equal(latch_op_cancel(&op, latch_engine_now_ns(unit.engine)), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_int_equal(access(unit_lock_path("r"), F_OK), -1); /* no need to look for another */
}

/* ---- Ended in time, or given up ------------------------------------------------------------- */

static void a_timeout_ends_the_wait_with_nothing_taken(void **state)
{
    size_t descriptors = unit_count_descriptors();
    int64_t start_ns = latch_engine_now_ns(unit.engine);

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, 30);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_CONFLICT);
    assert_true(latch_engine_now_ns(unit.engine) - start_ns >= 30 * LATCH_NS_PER_MS);
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
        assert_int_equal(latch_op_cancel(&op, latch_engine_now_ns(unit.engine)), LATCH_CONFLICT);
        unit_await_threads(0);
        assert_false(lease->busy);
        assert_true(unit_peer_try(&peer, LOCK_UN));
        assert_true(unit_peer_try(&peer, LOCK_EX));
    }
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE); /* nothing is broken */
    unit_release(lease);
}

static void a_grant_that_crosses_the_cancel_is_given_back(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_ACQUIRE_SHARED; kind++) {
        begin_wait_for_peer(kind, LATCH_NEVER);
        let_the_grant_come();
        assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
        assert_false(unit_held(lease));
        assert_true(unit_is_free("r", LOCK_EX));
    }
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
        assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, UNIT_PATIENCE_NS)),
                         LATCH_WANT_IO);
        if (round % 4 != 0) { /* else the helper has hardly begun to live */
            unit_await_sleepers(unit_lock_path("r"), 1);
        }
        unit_release(holder);
        until_ns = latch_engine_now_ns(unit.engine) + round % 50 * 2000;
        while (latch_engine_now_ns(unit.engine) < until_ns) { /* 0 to 100 us for the grant */
        }
        assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
        assert_true(unit_is_free("r", LOCK_EX));
    }
    unit_await_threads(0);
}

/* ---- Waits that this thread alone could end -------------------------------------------------- */

static void an_endless_wait_for_oneself_is_a_deadlock_that_is_named(void **state)
{
    latch_lease *holder = unit_lease("r");

    (void) state;
    for (latch_op_kind held = LATCH_ACQUIRE; held <= LATCH_ACQUIRE_SHARED; held++) {
        assert_int_equal(unit_run(holder, held), LATCH_DONE);
        assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_DEADLOCK);
        assert_int_equal(unit.error.status, LATCH_ERROR_DEADLOCK);
        assert_string_equal(unit.error.message,
                            "the lock is held by this very thread, through another key");
        assert_false(lease->busy);
        assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, 1), LATCH_CONFLICT); /* ends */
        assert_true(unit_held(holder));
    }
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE); /* both share now */
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_DEADLOCK);
    assert_true(unit_held(lease));
    assert_int_equal(lease->mode, LATCH_SHARED);
    unit_release(holder);
    assert_false(unit_is_free("r", LOCK_EX));
    unit_release(lease);
}

static void a_wait_behind_ones_own_wait_is_a_deadlock(void **state)
{
    latch_lease *inner = unit_lease("r");

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER); /* and a signal handler runs meanwhile */
    assert_int_equal(unit_run_waiting(inner, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_DEADLOCK);
    assert_int_equal(unit_run_waiting(inner, LATCH_ACQUIRE, 1), LATCH_CONFLICT);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(unit_run_waiting(inner, LATCH_ACQUIRE, LATCH_NEVER), LATCH_DONE);
    unit_release(inner);
}

static void a_wait_that_was_given_up_stands_in_nobodys_way(void **state)
{
    latch_lease *other = unit_lease("r");
    latch_op wait;

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_int_equal(unit_begin(&wait, other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&wait, LATCH_WANT_IO), LATCH_DONE);
    unit_release(other);
}

static void a_reader_may_wait_for_a_foreign_writer_whatever_this_thread_holds(void **state)
{
    latch_lease *other = unit_lease("another");

    (void) state;
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    begin_wait_for_peer(LATCH_ACQUIRE_SHARED, LATCH_NEVER);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(other);
    unit_release(lease);
}

/* ---- What helps to wait, and what can go wrong with it ----------------------------------------
 */

static void without_a_thread_or_descriptor_a_wait_polls(void **state)
{
    (void) state;
    for (int round = 0; round < 2; round++) {
        unit_calls.no_threads = round == 0;
        unit_calls.no_eventfd = round == 1;
        assert_true(unit_peer_try(&peer, LOCK_EX));
        assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                         LATCH_WANT_TIMER);
        assert_int_equal(latch_op_step(&op, latch_engine_now_ns(unit.engine)), LATCH_WANT_TIMER);
        assert_true(unit_peer_try(&peer, LOCK_UN));
        assert_int_equal(unit_finish(&op, LATCH_WANT_TIMER), LATCH_DONE);
        unit_release(lease);
    }
}

static int fail_in_helper(int fd, int operation)
{
    (void) fd;
    if ((operation & LOCK_NB) != 0) {
        return UNIT_GO_ON;
    }
    errno = ENOLCK;
    return -1;
}

static void an_error_that_crosses_the_cancel_is_told(void **state)
{
    (void) state;
    unit_calls.on_flock = fail_in_helper;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    unit_await_grant(&op);
    assert_int_equal(unit_cancel(&op), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.sys_errno, ENOLCK);
    assert_false(lease->busy);
}

static _Atomic bool granted_in_helper;

/* The kernel's answer has come, but the helper is cancelled before it can note it. */
static int linger_in_helper(int fd, int operation)
{
    if ((operation & LOCK_NB) != 0) {
        return UNIT_GO_ON;
    }
    if (syscall(SYS_flock, fd, operation) == 0) {
        granted_in_helper = true;
        for (;;) {
            pause();
        }
    }
    return -1;
}

static void a_grant_that_the_helper_could_not_note_is_given_back(void **state)
{
    int64_t limit_ns = latch_engine_now_ns(unit.engine) + UNIT_PATIENCE_NS;

    (void) state;
    unit_calls.on_flock = linger_in_helper;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    while (!granted_in_helper) {
        assert_true(latch_engine_now_ns(unit.engine) < limit_ns);
        sched_yield();
    }
    assert_false(unit_is_free("r", LOCK_SH));
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_true(unit_is_free("r", LOCK_EX));
}

static int interrupt_helper_once(int fd, int operation)
{
    static _Atomic bool interrupted;

    (void) fd;
    if ((operation & LOCK_NB) != 0 || interrupted) {
        return UNIT_GO_ON;
    }
    interrupted = true;
    errno = EINTR;
    return -1;
}

static void an_error_of_the_kernel_ends_the_wait(void **state)
{
    size_t descriptors = unit_count_descriptors();

    (void) state;
    unit_calls.on_flock = fail_in_helper;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.sys_errno, ENOLCK);
    assert_string_equal(unit.error.message, "flock() failed: No locks available");
    assert_true(unit_count_descriptors() <= descriptors + 1); /* the helper's */
    assert_false(lease->busy);
}

static void an_interrupted_call_is_made_again(void **state)
{
    (void) state;
    unit_calls.on_flock = interrupt_helper_once;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

static volatile sig_atomic_t signalled;
static pthread_t signalled_thread;

static void note_thread(int number)
{
    (void) number;
    signalled_thread = pthread_self();
    signalled = 1;
}

static void no_signal_handler_runs_in_the_helper(void **state)
{
    struct sigaction action = {.sa_handler = note_thread}, before;
    sigset_t usr1, pending, mask;

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    assert_false(sigismember(&mask, SIGUSR1)); /* they go on running here */
    assert_false(sigismember(&mask, SIGTERM));
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    assert_int_equal(sigpending(&pending), 0);
    assert_true(sigismember(&pending, SIGUSR1)); /* no thread would take it */
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
    assert_true(signalled);
    assert_true(pthread_equal(signalled_thread, pthread_self()));
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
}

#define WAIT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

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
        WAIT_TEST(a_grant_that_crosses_the_cancel_is_given_back),
        WAIT_TEST(a_grant_that_crosses_the_deadline_counts),
        WAIT_TEST(a_thousand_cancels_that_race_a_grant_never_leave_the_lock_held),
        WAIT_TEST(an_endless_wait_for_oneself_is_a_deadlock_that_is_named),
        WAIT_TEST(a_wait_behind_ones_own_wait_is_a_deadlock),
        WAIT_TEST(a_wait_that_was_given_up_stands_in_nobodys_way),
        WAIT_TEST(a_reader_may_wait_for_a_foreign_writer_whatever_this_thread_holds),
        WAIT_TEST(without_a_thread_or_descriptor_a_wait_polls),
        WAIT_TEST(an_error_of_the_kernel_ends_the_wait),
        WAIT_TEST(an_error_that_crosses_the_cancel_is_told),
        WAIT_TEST(a_grant_that_the_helper_could_not_note_is_given_back),
        WAIT_TEST(an_interrupted_call_is_made_again),
        WAIT_TEST(no_signal_handler_runs_in_the_helper),
    };

    return cmocka_run_group_tests_name("flock: waits", tests, NULL, NULL);
}
