/* What is known of a session with PostgreSQL that ends while nobody asks it anything. */
#include "postgresql_store.h"
#include "session_watches.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void end_session_of(const char *resource)
{
    unit_postgresql_run("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                        " AND granted AND objid = %u",
                        (unsigned) postgresql_number_of(resource));
}

/* Of what the server says by itself nothing is the end. */
static void disturb_session_of(const char *resource)
{
    (void) resource;
    unit_postgresql_run("SELECT pg_reload_conf()");
}

static const watched_server postgresql = {
    .setup = postgresql_store_setup,
    .teardown = postgresql_store_teardown,
    .open = postgresql_open,
    .lease_in = postgresql_lease_in,
    .other_lease = postgresql_other_lease,
    .close_last = postgresql_close_last,
    .ways = {{unit_postgresql.dsn, ""},
             {unit_postgresql.socket_dsn, ""},
             {unit_postgresql.dsn, ";sslmode=require"}},
    .impatient = {{unit_postgresql.socket_dsn, ";read_timeout=1"},
                  {unit_postgresql.dsn, ";sslmode=require;read_timeout=1"}},
    .end_session_of = end_session_of,
    .disturb_session_of = disturb_session_of,
    .end_sessions = unit_postgresql_end_sessions,
    .stop = unit_postgresql_stop,
    .kill = unit_postgresql_kill,
    .start = unit_postgresql_start,
    .freeze = unit_postgresql_freeze,
    .thaw = unit_postgresql_thaw,
    .await_held = unit_postgresql_await_held,
    .await_sessions = unit_postgresql_await_sessions,
};

static void all_locks_of_a_session_are_lost_and_no_other_ones(void **state)
{
    latch_lease *second = postgresql_lease("s"), *foreign = postgresql_other_lease("t");
    latch_watch second_watch, foreign_watch;

    (void) state;
    hold_and_watch(unit.store);
    UNIT_CHECK(unit_run(second, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(unit_run(foreign, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&second_watch, second));
    UNIT_CHECK(unit_watch_begin(&foreign_watch, foreign));
    end_session_of("r");
    unit_watch_await(&session_watch);
    unit_watch_await(&second_watch);
    UNIT_CHECK(!unit_watch_tells(&foreign_watch));
    unit_watch_end(&second_watch);
    unit_watch_end(&foreign_watch);
    UNIT_CHECK(unit_held(foreign));
}

/* ---- What a watch costs */

/* At least 1: poll(2) takes no more descriptors than a process may have. */
static rlim_t limit_descriptors(rlim_t limit)
{
    struct rlimit now;
    rlim_t before;

    UNIT_CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0);
    before = now.rlim_cur;
    now.rlim_cur = limit;
    UNIT_CHECK(setrlimit(RLIMIT_NOFILE, &now) == 0);
    return before;
}

static void a_watch_does_without_a_descriptor(void **state)
{
    rlim_t limit;

    (void) state;
    UNIT_CHECK(unit_run(session_lease, LATCH_ACQUIRE) == LATCH_DONE);
    limit = limit_descriptors(1);
    UNIT_CHECK(!unit_watch_begin(&session_watch, session_lease));
    limit_descriptors(limit);
    UNIT_CHECK(unit_run(session_lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&session_watch, session_lease));
}

static void all_watches_of_a_session_take_one_descriptor(void **state)
{
    static const char *const resources[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    latch_watch watches[8];
    size_t descriptors;

    (void) state;
    UNIT_CHECK(unit_run(session_lease, LATCH_ACQUIRE) == LATCH_DONE);
    descriptors = unit_count_descriptors();
    for (size_t at = 0; at < 8; at++) {
        latch_lease *one = postgresql_lease(resources[at]);

        UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(unit_watch_begin(&watches[at], one));
        assert_int_equal(unit_count_descriptors(), descriptors + 1);
    }
    unit_watch_end(&watches[0]);
    end_session_of("r");
    for (size_t at = 1; at < 8; at++) {
        unit_watch_await(&watches[at]);
    }
    UNIT_CHECK(!unit_held(session_lease)); /* and the session has left it */
    for (size_t at = 1; at < 8; at++) {
        assert_int_equal(unit_count_descriptors(), descriptors);
        unit_watch_end(&watches[at]);
    }
    assert_int_equal(unit_count_descriptors(), descriptors - 1);
}

static void a_cancelled_wait_costs_the_watched_nothing(void **state)
{
    latch_lease *holder = postgresql_other_lease("s"), *waiter = postgresql_lease("s");
    latch_op op;

    (void) state;
    hold_and_watch(unit.store);
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    postgresql_begin_wait(&op, waiter, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 1);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_watch_tells(&session_watch) && unit_held(session_lease));
}

/* ---- Forks */

static int lifeline[2]; /* whose end the test has in hand */

static void live_on(unit_process *self, void *argument)
{
    char nothing;

    (void) self;
    (void) argument;
    UNIT_CHECK(read(lifeline[0], &nothing, 1) == 0);
}

static void hold_until_killed(unit_process *self, void *argument)
{
    (void) argument;
    close(lifeline[1]);
    hold_and_watch(unit.store);
    unit_fork(live_on, NULL);
    unit_say(self, 'h');
    unit_hear(self);
}

static void a_killed_process_leaves_nothing_though_its_child_lives(void **state)
{
    unit_process child;

    (void) state;
    UNIT_CHECK(pipe2(lifeline, O_CLOEXEC) == 0);
    child = unit_fork(hold_until_killed, NULL);
    unit_expect(&child, 'h');
    unit_kill(&child);
    unit_postgresql_await_held(0);
    unit_postgresql_await_sessions(0);
    close(lifeline[0]);
    close(lifeline[1]);
}

/* ---- Networks that are cut */

static int option_of(int fd, int name)
{
    socklen_t size = sizeof(int);
    int value = -1;

    UNIT_CHECK(getsockopt(fd, IPPROTO_TCP, name, &value, &size) == 0);
    return value;
}

/* A descriptor of the server's end of the watched connection. */
static int copy_server_end(pid_t server)
{
    struct sockaddr_in client, peer;
    socklen_t size = sizeof(client);
    int process = (int) syscall(SYS_pidfd_open, server, 0);

    UNIT_CHECK(process >= 0);
    UNIT_CHECK(getsockname(session_watch.descriptor->fd, (struct sockaddr *) &client, &size) == 0);
    for (int fd = 0; fd < 1024; fd++) {
        int copy = (int) syscall(SYS_pidfd_getfd, process, fd, 0);

        size = sizeof(peer);
        if (copy >= 0 && getpeername(copy, (struct sockaddr *) &peer, &size) == 0
            && peer.sin_family == AF_INET && peer.sin_port == client.sin_port) {
            close(process);
            return copy;
        }
        close(copy);
    }
    fail_msg("process %d has no such connection", (int) server);
    return -1;
}

/* The server sends its probes, and hears nothing, when it has heard nothing else for a time: so it
 * may begin with them the moment after the cut. We are the last to begin. */
static void a_cut_network_is_known_before_the_server_frees_the_lock(void **state)
{
    int on = 0, server, latest_s;
    socklen_t size = sizeof(on);

    (void) state;
    hold_and_watch(unit.store);
    UNIT_CHECK(getsockopt(session_watch.descriptor->fd, SOL_SOCKET, SO_KEEPALIVE, &on, &size) == 0
               && on);
    latest_s = option_of(session_watch.descriptor->fd, TCP_KEEPIDLE)
               + option_of(session_watch.descriptor->fd, TCP_KEEPINTVL)
                     * option_of(session_watch.descriptor->fd, TCP_KEEPCNT);
    server = copy_server_end((pid_t) postgresql_session());
    UNIT_CHECK(latest_s < option_of(server, TCP_KEEPINTVL) * option_of(server, TCP_KEEPCNT));
    close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_WATCH_TESTS,
        WATCH_TEST(all_locks_of_a_session_are_lost_and_no_other_ones),
        WATCH_TEST(all_watches_of_a_session_take_one_descriptor),
        WATCH_TEST(a_watch_does_without_memory),
        WATCH_TEST(a_watch_does_without_a_descriptor),
        WATCH_TEST(a_cancelled_wait_costs_the_watched_nothing),
        WATCH_TEST(a_killed_process_leaves_nothing_though_its_child_lives),
        WATCH_TEST(a_cut_network_is_known_before_the_server_frees_the_lock),
    };

    watched = &postgresql;
    return cmocka_run_group_tests_name("watch postgresql", tests, unit_postgresql_group_setup,
                                       unit_postgresql_group_teardown);
}
