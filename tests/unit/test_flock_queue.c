/*
 * The queue of waiters for a lock file: first come, first served, whatever becomes of a waiter.
 * test_flock_turn.c has the exceptions.
 */
#include "queueing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define WAITERS 5

/* ---- Order ----------------------------------------------------------------------------------- */

static struct {
    _Atomic int served;
    int order[WAITERS];
} * common;

static void wait_once(unit_process *self, void *number)
{
    latch_lease *own = unit_lease("r");

    unit_hear(self);
    UNIT_CHECK(unit_run_waiting(own, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    common->order[common->served++] = *(int *) number;
    UNIT_CHECK(unit_run(own, LATCH_RELEASE) == LATCH_DONE);
}

static void who_comes_first_is_served_first(void **state)
{
    unit_process waiters[WAITERS];

    (void) state;
    common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(common != MAP_FAILED);
    assert_true(unit_peer_try(&peer, LOCK_EX));
    for (int at = 0; at < WAITERS; at++) {
        waiters[at] = unit_fork(wait_once, &at);
        unit_say(&waiters[at], 'g');
        unit_await_sleepers(queue_path(), (size_t) at + 1);
    }
    assert_true(unit_peer_try(&peer, LOCK_UN));
    for (int at = 0; at < WAITERS; at++) {
        unit_join(&waiters[at]);
    }
    for (int at = 0; at < WAITERS; at++) {
        assert_int_equal(common->order[at], at);
    }
    assert_true(queue_is_empty());
    munmap(common, sizeof(*common));
}

/* ---- Readers --------------------------------------------------------------------------------- */

static void a_reader_waits_behind_a_writer_that_waits(void **state)
{
    unit_process writer;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_SH));
    writer = make_waiter('W', 1);
    join_queue(LATCH_ACQUIRE_SHARED, 2);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    unit_expect(&writer, 'y');
    assert_int_equal(latch_op_step(&op, unit_now_ns()), LATCH_WANT_IO);
    unit_say(&writer, 'u');
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
    unit_join(&writer);
}

static void readers_behind_a_writer_read_together(void **state)
{
    unit_process writer, reader;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    writer = make_waiter('W', 1);
    reader = make_waiter('S', 2);
    join_queue(LATCH_ACQUIRE_SHARED, 3);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    finish_waiter(&writer);
    unit_expect(&reader, 'y');
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE); /* both have it */
    unit_release(lease);
    unit_say(&reader, 'u');
    unit_join(&reader);
}

/* Through another store, too: the writer waits for what the thread has, and would not go on. */
static void a_reader_in_a_thread_that_reads_waits_for_no_writer(void **state)
{
    latch_store *stores[2] = {unit.store, unit_open("flock")};
    unit_process writer;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    writer = make_waiter('W', 1);
    for (int at = 0; at < 2; at++) {
        latch_lease more;

        latch_lease_init(&more, stores[at], "r", 1);
        assert_int_equal(unit_run_waiting(&more, LATCH_ACQUIRE_SHARED, LATCH_NEVER), LATCH_DONE);
        unit_release(&more);
        assert_int_equal(unit_run(&more, LATCH_ACQUIRE_SHARED), LATCH_DONE);
        unit_release(&more);
        assert_int_equal(unit_run_waiting(&more, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_DEADLOCK);
        latch_lease_drop(&more);
    }
    latch_store_close(stores[1]);
    unit_release(lease);
    finish_waiter(&writer);
}

/* ---- Waiters that are no more, or cannot go on ----------------------------------------------- */

static void waiters_that_are_killed_keep_nobody_waiting(void **state)
{
    unit_process waiters[3];

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    for (size_t at = 0; at < 3; at++) {
        waiters[at] = make_waiter('W', at + 1);
    }
    join_queue(LATCH_ACQUIRE, 4);
    unit_kill(&waiters[2]);
    unit_kill(&waiters[0]);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    finish_waiter(&waiters[1]);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
    assert_true(queue_is_empty());
}

/* The peer has the lock; two waiters that are stopped are first in the queue. */
static void begin_wait_behind_stopped(unit_process waiters[2])
{
    assert_true(unit_peer_try(&peer, LOCK_EX));
    for (size_t at = 0; at < 2; at++) {
        waiters[at] = make_waiter('W', at + 1);
    }
    join_queue(LATCH_ACQUIRE, 3);
    for (size_t at = 0; at < 2; at++) {
        stop_waiter(&waiters[at]);
    }
}

static void a_lock_that_stopped_waiters_leave_free_goes_to_the_next(void **state)
{
    unit_process waiters[2];
    int64_t now_ns;

    (void) state;
    begin_wait_behind_stopped(waiters);
    now_ns = op.wake_ns;
    assert_int_equal(latch_op_step(&op, now_ns), LATCH_WANT_IO); /* it is held */
    assert_int_equal(latch_op_step(&op, now_ns = op.wake_ns), LATCH_WANT_IO);
    assert_int_equal(latch_op_step(&op, now_ns = op.wake_ns), LATCH_WANT_IO);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(latch_op_step(&op, now_ns), LATCH_WANT_IO); /* too soon */
    assert_int_equal(latch_op_step(&op, now_ns = op.wake_ns),
                     LATCH_WANT_IO); /* once is not enough */
    assert_true(unit_is_free("r", LOCK_EX));
    assert_int_equal(latch_op_step(&op, op.wake_ns), LATCH_DONE);
    assert_true(unit_held(lease));
    assert_false(unit_is_free("r", LOCK_SH));
    unit_await_threads(0);
    unit_release(lease);
    finish_waiter(&waiters[0]);
    finish_waiter(&waiters[1]);
    assert_true(queue_is_empty());
}

/* The process before it may take its number again, and be stopped then. */
static void a_waiter_for_the_file_goes_on_to_look(void **state)
{
    unit_process waiter;
    int64_t now_ns;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    waiter = make_waiter('W', 1);
    join_queue(LATCH_ACQUIRE, 2);
    unit_kill(&waiter);
    UNIT_AWAIT(!queue_has_number(0));
    unit_await_sleepers(queue_path(), 1);
    for (int look = 0; look < 3; look++) {
        now_ns = op.wake_ns;
        assert_true(now_ns < LATCH_NEVER);
        assert_int_equal(latch_op_step(&op, now_ns), LATCH_WANT_IO);
        assert_true(op.wake_ns >= now_ns + LATCH_NS_PER_S); /* not at once again, and again */
    }
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

static int have_no_proc(const char *file, int flags)
{
    (void) flags;
    if (strncmp(file, "/proc/", 6) == 0) {
        errno = ENOENT;
        return -1;
    }
    return UNIT_GO_ON;
}

static void it_does_so_in_a_chroot_without_proc(void **state)
{
    unit_calls.on_open = have_no_proc;
    a_lock_that_stopped_waiters_leave_free_goes_to_the_next(state);
}

/* As flock(2) itself: nobody knows who is stopped. */
static void a_lock_is_not_taken_from_its_holder(void **state)
{
    unit_process waiters[2];

    (void) state;
    begin_wait_behind_stopped(waiters);
    for (int look = 0; look < 10; look++) {
        assert_int_equal(latch_op_step(&op, op.wake_ns), LATCH_WANT_IO);
    }
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    finish_waiter(&waiters[0]);
    finish_waiter(&waiters[1]);
}

static void a_wait_that_ends_in_vain_leaves_the_queue(void **state)
{
    unit_process waiter;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    waiter = make_waiter('W', 1);
    join_queue(LATCH_ACQUIRE, 2);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, 10), LATCH_CONFLICT);
    unit_kill(&waiter);
    assert_true(queue_is_empty());
}

/* A signal handler runs meanwhile, perhaps for long. */
static void a_reader_leaves_the_queue_before_it_knows_of_its_grant(void **state)
{
    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE_SHARED, LATCH_NEVER);
    assert_false(queue_is_empty());
    let_the_grant_come();
    assert_true(queue_is_empty());
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

static void a_writer_leaves_the_queue_when_it_gives_the_lock_back_or_reads_only(void **state)
{
    (void) state;
    for (int round = 0; round < 2; round++) {
        unit_process reader;

        begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
        reader = make_waiter('S', 2);
        assert_true(unit_peer_try(&peer, LOCK_UN));
        assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
        assert_false(queue_is_empty());
        assert_int_equal(unit_run(lease, round == 0 ? LATCH_RELEASE : LATCH_ACQUIRE_SHARED),
                         LATCH_DONE);
        finish_waiter(&reader);
        assert_true(queue_is_empty());
        unit_release(lease);
    }
}

/* ---- Files without a queue ------------------------------------------------------------------- */

static int refuse_to_write(const char *file, int flags)
{
    (void) file;
    if ((flags & O_ACCMODE) == O_RDWR) {
        errno = EACCES;
        return -1;
    }
    return UNIT_GO_ON;
}

static void who_may_only_read_the_file_waits_behind_the_queue(void **state)
{
    unit_process waiter;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    waiter = make_waiter('W', 1);
    unit_calls.on_open = refuse_to_write;
    join_queue(LATCH_ACQUIRE, 2);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    unit_expect(&waiter, 'y');
    assert_int_equal(latch_op_step(&op, unit_now_ns()), LATCH_WANT_IO);
    unit_say(&waiter, 'u');
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
    unit_join(&waiter);
}

/* What it waited for would keep the number from others for as long as its file stays open. */
static void who_has_waited_without_a_number_leaves_the_queue(void **state)
{
    unit_process waiter;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    waiter = make_waiter('W', 1);
    unit_calls.on_open = refuse_to_write;
    join_queue(LATCH_ACQUIRE, 2);
    unit_calls.on_open = NULL;
    assert_true(unit_peer_try(&peer, LOCK_UN));
    finish_waiter(&waiter);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_true(queue_is_empty());
    unit_release(lease);
}

static void a_file_system_where_flock_may_lock_bytes_has_no_queue(void **state)
{
    latch_store *store;
    latch_lease other;

    (void) state;
    unit_calls.file_system = 0x6969; /* NFS */
    store = unit_open("flock");
    latch_lease_init(&other, store, "r", 1);
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_begin(&op, &other, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    unit_await_sleepers(queue_path(), 1);
    assert_true(queue_is_empty());
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(&other);
    latch_lease_drop(&other);
    latch_store_close(store);
}

/* The one before it has the lock and its number, in which case it would else wait for the number.
 */
static void who_cannot_wait_for_a_number_waits_for_the_file(void **state)
{
    unit_process holder;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    holder = make_waiter('W', 1);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    unit_expect(&holder, 'y');
    assert_true(queue_has_number(0));
    unit_calls.no_byte_waits = true;
    join_queue(LATCH_ACQUIRE, 1);
    assert_true(queue_has_number(1));
    unit_say(&holder, 'u');
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
    unit_join(&holder);
}

static void lock_all_bytes(unit_process *self, void *unused)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(queue_path(), O_RDWR | O_CLOEXEC);

    (void) unused;
    UNIT_CHECK(fcntl(fd, F_SETLK, &lock) == 0);
    unit_say(self, 'y');
    unit_hear(self);
    close(fd);
}

static void what_other_programs_lock_is_no_queue(void **state)
{
    unit_process other;

    (void) state;
    other = unit_fork(lock_all_bytes, NULL);
    unit_expect(&other, 'y');
    assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER), LATCH_DONE);
    unit_release(lease);
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
    unit_join(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(who_comes_first_is_served_first),
        WAIT_TEST(a_reader_waits_behind_a_writer_that_waits),
        WAIT_TEST(readers_behind_a_writer_read_together),
        WAIT_TEST(a_reader_in_a_thread_that_reads_waits_for_no_writer),
        WAIT_TEST(waiters_that_are_killed_keep_nobody_waiting),
        WAIT_TEST(a_lock_that_stopped_waiters_leave_free_goes_to_the_next),
        WAIT_TEST(a_waiter_for_the_file_goes_on_to_look),
        WAIT_TEST(it_does_so_in_a_chroot_without_proc),
        WAIT_TEST(a_lock_is_not_taken_from_its_holder),
        WAIT_TEST(a_wait_that_ends_in_vain_leaves_the_queue),
        WAIT_TEST(a_reader_leaves_the_queue_before_it_knows_of_its_grant),
        WAIT_TEST(a_writer_leaves_the_queue_when_it_gives_the_lock_back_or_reads_only),
        WAIT_TEST(who_may_only_read_the_file_waits_behind_the_queue),
        WAIT_TEST(who_has_waited_without_a_number_leaves_the_queue),
        WAIT_TEST(who_cannot_wait_for_a_number_waits_for_the_file),
        WAIT_TEST(a_file_system_where_flock_may_lock_bytes_has_no_queue),
        WAIT_TEST(what_other_programs_lock_is_no_queue),
    };

    return cmocka_run_group_tests_name("flock: the queue", tests, NULL, NULL);
}
