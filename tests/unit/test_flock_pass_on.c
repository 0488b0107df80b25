/* Locks that are passed on to started programs: what is open across exec, and when. */
#include "src/store/flock/flock.h"
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

static int fd_of(const latch_lease *lease)
{
    return ((flock_file *) lease->state)->descriptor.fd;
}

static bool is_closed_on_exec(int fd)
{
    int flags = fcntl(fd, F_GETFD);

    assert_int_not_equal(flags, -1);
    return (flags & FD_CLOEXEC) != 0;
}

static void a_held_file_is_passed_on_and_closed_at_the_release(void **state)
{
    latch_lease *lease = unit_lease("r");
    size_t descriptors = unit_count_descriptors();

    (void) state;
    lease->pass_on = true;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        assert_false(is_closed_on_exec(fd_of(lease)));
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
        assert_false(is_closed_on_exec(fd_of(lease)));
        assert_true(unit_held(lease));
        unit_release(lease);
        /* Not kept for the next lock: a program may have it, which that one would lock along. */
        assert_int_equal(unit_count_descriptors(), descriptors);
        assert_true(unit_is_free("r", LOCK_EX));
    }
}

static void other_files_are_not_passed_on(void **state)
{
    latch_lease *lease = unit_lease("r"), *other = unit_lease("other");

    (void) state;
    other->pass_on = true;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(is_closed_on_exec(fd_of(lease)));
    unit_release(other);
    /* As it is when the lock is taken: a lease without the option keeps its file as ever. */
    other->pass_on = false;
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(is_closed_on_exec(fd_of(other)));
}

static void a_refused_or_waiting_file_is_not_passed_on(void **state)
{
    unit_process peer = unit_peer(unit_lock_path("r"));
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    lease->pass_on = true;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    for (int fd = STDERR_FILENO + 1; fd < 64; fd++) {
        char path[64], target[256];
        ssize_t length;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        length = readlink(path, target, sizeof(target) - 1);
        if (length > 0) {
            target[length] = '\0';
            assert_true(strcmp(target, unit_lock_path("r")) != 0 || is_closed_on_exec(fd));
        }
    }
    assert_true(unit_peer_try(&peer, LOCK_UN));
    unit_await_grant(&op);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_false(is_closed_on_exec(fd_of(lease)));
    unit_join(&peer);
}

static void hold_on(unit_process *self, void *argument)
{
    (void) argument;
    unit_say(self, 'h');
    unit_expect(self, 'e');
}

static void a_forked_child_keeps_it_too(void **state)
{
    latch_lease *lease = unit_lease("r");
    unit_process child;

    (void) state;
    lease->pass_on = true;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    child = unit_fork(hold_on, NULL);
    unit_expect(&child, 'h');
    latch_lease_drop(lease); /* as when the process dies: nothing is unlocked */
    assert_false(unit_is_free("r", LOCK_SH));
    unit_say(&child, 'e');
    unit_join(&child);
    assert_true(unit_is_free("r", LOCK_EX));
}

static void a_release_frees_it_though_a_child_has_it(void **state)
{
    latch_lease *lease = unit_lease("r");
    unit_process child;

    (void) state;
    lease->pass_on = true;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    child = unit_fork(hold_on, NULL);
    unit_expect(&child, 'h');
    unit_release(lease);
    assert_true(unit_is_free("r", LOCK_EX));
    unit_say(&child, 'e');
    unit_join(&child);
}

/* A program knows nothing of the queue: it may unlock the file, and live on. */
static void a_number_in_the_queue_is_not_passed_on(void **state)
{
    unit_process peer = unit_peer(unit_lock_path("r"));
    latch_lease *lease = unit_lease("r");
    struct flock number = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    latch_op op;
    int fd;

    (void) state;
    lease->pass_on = true;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    fd = open(unit_lock_path("r"), O_RDWR | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_OFD_GETLK, &number), 0);
    close(fd);
    assert_int_equal(number.l_type, F_UNLCK);
    unit_release(lease);
    unit_join(&peer);
}

/* A process that was started with its standard streams closed would print into it. */
static void a_lock_file_is_never_a_standard_stream(void **state)
{
    int saved[3];
    int fds[2];

    (void) state;
    for (int fd = 0; fd < 3; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        close(fd);
    }
    assert_int_equal(unit_run(unit_lease("r"), LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(unit_lease("s"), LATCH_ACQUIRE), LATCH_DONE);
    for (int at = 0; at < 2; at++) {
        fds[at] = fd_of(&unit.leases[at]);
    }
    for (int fd = 0; fd < 3; fd++) {
        dup2(saved[fd], fd);
        close(saved[fd]);
    }
    for (int at = 0; at < 2; at++) {
        assert_true(fds[at] > STDERR_FILENO);
        assert_true(is_closed_on_exec(fds[at]));
    }
    assert_false(unit_is_free("r", LOCK_SH) || unit_is_free("s", LOCK_SH));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_held_file_is_passed_on_and_closed_at_the_release, setup_flock),
        UNIT_TEST(other_files_are_not_passed_on, setup_flock),
        UNIT_TEST(a_refused_or_waiting_file_is_not_passed_on, setup_flock),
        UNIT_TEST(a_forked_child_keeps_it_too, setup_flock),
        UNIT_TEST(a_release_frees_it_though_a_child_has_it, setup_flock),
        UNIT_TEST(a_number_in_the_queue_is_not_passed_on, setup_flock),
        UNIT_TEST(a_lock_file_is_never_a_standard_stream, setup_flock),
    };

    return cmocka_run_group_tests_name("flock: passed on", tests, NULL, NULL);
}
