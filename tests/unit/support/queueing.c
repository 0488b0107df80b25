/* Waiters in the queue of a lock file: see queueing.h. */
#include "queueing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const char *queue_path(void)
{
    return unit_lock_path("r");
}

bool queue_is_empty(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(queue_path(), O_RDWR | O_CLOEXEC);

    UNIT_CHECK(fd >= 0);
    UNIT_CHECK(fcntl(fd, F_OFD_GETLK, &lock) == 0);
    close(fd);
    return lock.l_type == F_UNLCK;
}

bool queue_has_number(off_t number)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = number, .l_len = 1};
    int fd = open(queue_path(), O_RDWR | O_CLOEXEC);

    UNIT_CHECK(fd >= 0);
    UNIT_CHECK(fcntl(fd, F_OFD_GETLK, &lock) == 0);
    close(fd);
    return lock.l_type == F_WRLCK;
}

/* Takes orders: W, S wait to write, to read, and are answered y; u releases. */
static void obey(unit_process *self, void *unused)
{
    latch_lease *own = unit_lease("r");

    (void) unused;
    for (char order; (order = unit_hear(self)) != 0;) {
        if (order == 'u') {
            UNIT_CHECK(unit_run(own, LATCH_RELEASE) == LATCH_DONE);
            continue;
        }
        UNIT_CHECK(
            unit_run_waiting(own, order == 'W' ? LATCH_ACQUIRE : LATCH_ACQUIRE_SHARED, LATCH_NEVER)
            == LATCH_DONE);
        unit_say(self, 'y');
    }
}

unit_process make_waiter(char order, size_t sleepers)
{
    unit_process waiter = unit_fork(obey, NULL);

    unit_say(&waiter, order);
    unit_await_sleepers(queue_path(), sleepers);
    return waiter;
}

void stop_waiter(const unit_process *waiter)
{
    int status;

    UNIT_CHECK(kill(waiter->pid, SIGSTOP) == 0);
    UNIT_CHECK(waitpid(waiter->pid, &status, WUNTRACED) == waiter->pid && WIFSTOPPED(status));
}

void join_queue(latch_op_kind kind, size_t sleepers)
{
    assert_int_equal(unit_begin(&op, lease, unit_waiting(kind, LATCH_NEVER)), LATCH_WANT_IO);
    unit_await_sleepers(queue_path(), sleepers);
}

void finish_waiter(unit_process *waiter)
{
    UNIT_CHECK(kill(waiter->pid, SIGCONT) == 0);
    unit_expect(waiter, 'y');
    unit_say(waiter, 'u');
    unit_join(waiter);
}
