/* Other processes: children of this one, and peers that lock files without Latch. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The parent's ends towards its children; a younger child must not keep them open. */
static int ends[64];
static size_t end_count;
static bool in_child;

static void remember_end(int fd)
{
    UNIT_CHECK(end_count < sizeof(ends) / sizeof(ends[0]));
    ends[end_count++] = fd;
}

static void forget_end(int fd)
{
    for (size_t at = 0; at < end_count; at++) {
        if (ends[at] == fd) {
            ends[at] = ends[--end_count];
        }
    }
    close(fd);
}

unit_process unit_fork(void (*body)(unit_process *self, void *argument), void *argument)
{
    int down[2], up[2];
    pid_t pid;

    UNIT_CHECK(pipe2(down, O_CLOEXEC) == 0);
    UNIT_CHECK(pipe2(up, O_CLOEXEC) == 0);
    fflush(NULL);
    signal(SIGPIPE, SIG_IGN); /* writing to a dead process is an error, not our end */
    latch_engine_before_fork(unit.engine);
    pid = fork();
    if (pid == 0) {
        unit_process self = {.to = up[1], .from = down[0]};

        in_child = true;
        unit.random_state ^= (uint64_t) getpid(); /* else it would make its parent's tokens */
        latch_engine_after_fork_in_child(unit.engine);
        close(down[1]);
        close(up[0]);
        while (end_count > 0) {
            forget_end(ends[0]);
        }
        body(&self, argument);
        _exit(0);
    }
    latch_engine_after_fork_in_parent(unit.engine);
    UNIT_CHECK(pid > 0);
    close(down[0]);
    close(up[1]);
    remember_end(down[1]);
    return (unit_process){.pid = pid, .to = down[1], .from = up[0]};
}

void unit_check(bool holds, const char *text, const char *file, int line)
{
    if (!holds && in_child) {
        fprintf(stderr, "%s:%d: in a child: %s does not hold; last error: %s\n", file, line, text,
                unit.error.message);
        _exit(1);
    }
    _assert_true(holds, text, file, line);
}

void unit_say(const unit_process *other, char word)
{
    UNIT_CHECK(write(other->to, &word, 1) == 1);
}

char unit_hear(const unit_process *other)
{
    struct pollfd poll_fd = {.fd = other->from, .events = POLLIN};
    /* A child waits for orders as long as its parent lives: the parent's test may take longer. */
    int timeout_ms = in_child ? -1 : (int) (UNIT_TIMEOUT_NS / LATCH_NS_PER_MS);
    char word = 0;

    UNIT_CHECK(poll(&poll_fd, 1, timeout_ms) == 1);
    UNIT_CHECK(read(other->from, &word, 1) >= 0);
    return word;
}

void unit_expect(const unit_process *other, char word)
{
    char heard = unit_hear(other);

    UNIT_CHECK(heard == word);
}

void unit_join(unit_process *other)
{
    int status;

    forget_end(other->to);
    UNIT_CHECK(unit_hear(other) == 0); /* the other end is closed when it exits */
    close(other->from);
    UNIT_CHECK(waitpid(other->pid, &status, 0) == other->pid);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "process %d died of signal %d\n", (int) other->pid, WTERMSIG(status));
    }
    UNIT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void unit_kill(unit_process *other)
{
    int status;

    UNIT_CHECK(kill(other->pid, SIGKILL) == 0);
    forget_end(other->to);
    close(other->from);
    UNIT_CHECK(waitpid(other->pid, &status, 0) == other->pid);
}

/* Takes orders: x, s, u try at once and are answered y or n; X, S wait and are answered y. */
static void obey(unit_process *self, void *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    UNIT_CHECK(fd >= 0);
    unit_say(self, 'y');
    for (char order; (order = unit_hear(self)) != 0;) {
        int operation = order == 'x' || order == 'X' ? LOCK_EX : order == 'u' ? LOCK_UN : LOCK_SH;

        operation |= order >= 'a' ? LOCK_NB : 0;
        unit_say(self, flock(fd, operation) == 0 ? 'y' : 'n');
    }
}

unit_process unit_peer(const char *path)
{
    char copy[4096];
    unit_process peer;

    snprintf(copy, sizeof(copy), "%s", path);
    peer = unit_fork(obey, copy);
    unit_expect(&peer, 'y');
    return peer;
}

static char order_for(int operation)
{
    return operation == LOCK_EX ? 'x' : operation == LOCK_SH ? 's' : 'u';
}

bool unit_peer_try(const unit_process *peer, int operation)
{
    unit_say(peer, order_for(operation));
    return unit_hear(peer) == 'y';
}

void unit_peer_wait(const unit_process *peer, int operation)
{
    unit_say(peer, (char) (order_for(operation) - 'a' + 'A'));
}

void unit_peer_has(const unit_process *peer)
{
    unit_expect(peer, 'y');
}
