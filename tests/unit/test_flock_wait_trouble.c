/* Waits that only this thread could end, and what else can go wrong while one waits. */
#include "waiting.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

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
        assert_int_equal(latch_op_step(&op, unit_now_ns()), LATCH_WANT_TIMER);
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

static void a_grant_that_the_helper_could_not_record_is_given_back(void **state)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    (void) state;
    unit_calls.on_flock = linger_in_helper;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    while (!granted_in_helper) {
        assert_true(unit_now_ns() < limit_ns);
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

/* The signals that a thread of this process blocks, a bit for each. */
static unsigned long long blocked_by(const char *task)
{
    unsigned long long mask = 0;
    char line[256];
    FILE *file;

    snprintf(line, sizeof(line), "/proc/self/task/%s/status", task);
    file = fopen(line, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        sscanf(line, "SigBlk: %llx", &mask);
    }
    fclose(file);
    return mask;
}

static void no_signal_handler_runs_in_the_helper(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF};
    DIR *tasks = opendir("/proc/self/task");
    size_t others = 0;

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
        bool is_helper = task->d_name[0] != '.' && atoi(task->d_name) != getpid();

        others += is_helper;
        for (size_t at = 0; at < 6 && task->d_name[0] != '.'; at++) {
            unsigned long long bit = 1ULL << (signals[at] - 1);

            /* They go on running in the thread that waits. */
            assert_int_equal((blocked_by(task->d_name) & bit) != 0, is_helper);
        }
    }
    closedir(tasks);
    assert_true(others > 0);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(an_endless_wait_for_oneself_is_a_deadlock_that_is_named),
        WAIT_TEST(a_wait_behind_ones_own_wait_is_a_deadlock),
        WAIT_TEST(a_wait_that_was_given_up_stands_in_nobodys_way),
        WAIT_TEST(a_reader_may_wait_for_a_foreign_writer_whatever_this_thread_holds),
        WAIT_TEST(without_a_thread_or_descriptor_a_wait_polls),
        WAIT_TEST(an_error_that_crosses_the_cancel_is_told),
        WAIT_TEST(a_grant_that_the_helper_could_not_record_is_given_back),
        WAIT_TEST(an_error_of_the_kernel_ends_the_wait),
        WAIT_TEST(an_interrupted_call_is_made_again),
        WAIT_TEST(no_signal_handler_runs_in_the_helper),
    };

    return cmocka_run_group_tests_name("flock: trouble with waits", tests, NULL, NULL);
}
