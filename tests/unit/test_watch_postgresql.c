/* What is known of a session with PostgreSQL that ends while nobody asks it anything. */
#include "postgresql_store.h"
#include "watches.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static latch_lease *lease;
static latch_watch watch;

/* By TCP, by a Unix socket, and by TLS. */
static latch_store *stores[3];

static int setup(void **state)
{
    if (postgresql_store_setup(state) != 0) {
        return -1;
    }
    stores[0] = unit.store;
    stores[1] = postgresql_open("%s", unit_postgresql.socket_dsn);
    stores[2] = postgresql_open("%s;sslmode=require", unit_postgresql.dsn);
    lease = postgresql_lease("r");
    return stores[1] != NULL && stores[2] != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    unit_watch_end(&watch);
    return postgresql_store_teardown(state);
}

#define WATCH_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void hold_and_watch(latch_store *store)
{
    lease = postgresql_lease_in(store, "r");
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    UNIT_CHECK(watch.is_gone == NULL && !unit_watch_tells(&watch));
}

static void end_session_of(const char *resource)
{
    unit_postgresql_run("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                        " AND granted AND objid = %u",
                        (unsigned) postgresql_number_of(resource));
}

static void a_session_in_use_is_no_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        latch_lease *other = postgresql_lease_in(stores[at], "s");
        latch_lease *rival = postgresql_other_lease("r");

        hold_and_watch(stores[at]);
        UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(other);
        UNIT_CHECK(unit_run(rival, LATCH_ACQUIRE) == LATCH_CONFLICT);
        /* Of what the server says by itself nothing is the end. */
        unit_postgresql_run("SELECT pg_reload_conf()");
        UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(!unit_watch_tells(&watch));
        unit_watch_end(&watch);
        unit_release(lease);
    }
}

static void a_session_that_is_ended_is_a_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        hold_and_watch(stores[at]);
        end_session_of("r");
        unit_watch_await(&watch); /* with the server's last words unread */
        UNIT_CHECK(!unit_held(lease));
        unit_watch_end(&watch);
        unit_release(lease);
    }
}

static void a_server_that_stops_is_a_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        hold_and_watch(stores[at]);
        if (at == 0) {
            unit_postgresql_stop();
        } else {
            unit_postgresql_kill();
        }
        unit_watch_await(&watch);
        unit_watch_end(&watch);
        UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
        unit_postgresql_start(NULL);
    }
}

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
    unit_watch_await(&watch);
    unit_watch_await(&second_watch);
    UNIT_CHECK(!unit_watch_tells(&foreign_watch));
    unit_watch_end(&second_watch);
    unit_watch_end(&foreign_watch);
    UNIT_CHECK(unit_held(foreign));
}

static void what_is_taken_anew_is_watched_anew(void **state)
{
    (void) state;
    hold_and_watch(unit.store);
    unit_postgresql_end_sessions();
    unit_watch_await(&watch);
    unit_watch_end(&watch);
    UNIT_CHECK(!unit_watch_begin(&watch, lease) || unit_watch_tells(&watch));
    unit_watch_end(&watch);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    hold_and_watch(unit.store);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(!unit_watch_tells(&watch));
}

/* ---- Sessions that this process ends */

static void give_session_up(void)
{
    unit_postgresql_freeze(); /* so that nothing of this is the server's doing */
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_watch_tells(&watch));
    unit_postgresql_thaw();
    unit_postgresql_await_held(0); /* though the watch goes on */
    UNIT_CHECK(unit_watch_tells(&watch));
}

static void a_session_that_is_given_up_is_a_loss_and_free_in_the_server(void **state)
{
    (void) state;
    hold_and_watch(postgresql_open("%s;read_timeout=1", unit_postgresql.socket_dsn));
    give_session_up();
    unit_watch_end(&watch);
    hold_and_watch(postgresql_open("%s;sslmode=require;read_timeout=1", unit_postgresql.dsn));
    give_session_up();
}

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
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    limit = limit_descriptors(1);
    UNIT_CHECK(!unit_watch_begin(&watch, lease));
    limit_descriptors(limit);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
}

static void a_watch_does_without_memory(void **state)
{
    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit.fail_at = unit.allocations + 1;
    UNIT_CHECK(!unit_watch_begin(&watch, lease));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
}

static void all_watches_of_a_session_take_one_descriptor(void **state)
{
    static const char *const resources[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    latch_watch watches[8];
    size_t descriptors;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
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
    UNIT_CHECK(!unit_held(lease)); /* and the session has left it */
    for (size_t at = 1; at < 8; at++) {
        assert_int_equal(unit_count_descriptors(), descriptors);
        unit_watch_end(&watches[at]);
    }
    assert_int_equal(unit_count_descriptors(), descriptors - 1);
}

/* The renewal thread may be about to end the watch when the store is closed. */
static void a_store_that_is_closed_ends_its_session_despite_a_watch(void **state)
{
    latch_store *store = postgresql_open("%s", unit_postgresql.dsn);

    (void) state;
    hold_and_watch(store);
    postgresql_close_last();
    unit_watch_await(&watch);
    unit_postgresql_await_sessions(0);
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
    UNIT_CHECK(!unit_watch_tells(&watch) && unit_held(lease));
}

/* ---- Forks */

static void exit_in_child(unit_process *self, void *orderly)
{
    latch_watch own;

    (void) self;
    UNIT_CHECK(watch.descriptor->fd < 0);
    UNIT_CHECK(!unit_watch_begin(&own, lease));
    if (orderly != NULL) {
        unit_watch_end(&watch);
        latch_lease_drop(lease);
        latch_store_close(lease->store);
    }
}

static void the_exit_of_a_child_is_no_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        hold_and_watch(stores[at]);
        for (int orderly = 0; orderly < 2; orderly++) {
            unit_process child = unit_fork(exit_in_child, orderly ? lease : NULL);

            unit_join(&child);
            UNIT_CHECK(!unit_watch_tells(&watch));
            UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
        }
        end_session_of("r");
        unit_watch_await(&watch); /* the parent's watch goes on */
        unit_watch_end(&watch);
        UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    }
}

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
    UNIT_CHECK(getsockname(watch.descriptor->fd, (struct sockaddr *) &client, &size) == 0);
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
    UNIT_CHECK(getsockopt(watch.descriptor->fd, SOL_SOCKET, SO_KEEPALIVE, &on, &size) == 0 && on);
    latest_s = option_of(watch.descriptor->fd, TCP_KEEPIDLE)
               + option_of(watch.descriptor->fd, TCP_KEEPINTVL)
                     * option_of(watch.descriptor->fd, TCP_KEEPCNT);
    server = copy_server_end((pid_t) postgresql_session());
    UNIT_CHECK(latest_s < option_of(server, TCP_KEEPINTVL) * option_of(server, TCP_KEEPCNT));
    close(server);
}

/* ---- By the renewal thread */

static int setup_kept(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    unit_losses_open();
    return 0;
}

static int teardown_kept(void **state)
{
    unit_losses_close();
    return postgresql_store_teardown(state);
}

#define KEPT_TEST(test) cmocka_unit_test_setup_teardown(test, setup_kept, teardown_kept)

static void hold_and_keep(latch_store *store)
{
    lease = postgresql_lease_in(store, "r");
    unit_losses_keep(lease);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
}

/* The loss of a lease in a session of its own tells that the thread has looked after the others. */
static void expect_no_other_loss(void)
{
    latch_lease *sentinel = postgresql_other_lease("sentinel");

    unit_losses_keep(sentinel);
    UNIT_CHECK(unit_run(sentinel, LATCH_ACQUIRE) == LATCH_DONE);
    end_session_of("sentinel");
    unit_losses_expect(sentinel);
}

static void a_loss_is_told_each_time(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        hold_and_keep(stores[at]);
        for (int round = 0; round < 3; round++) {
            end_session_of("r");
            unit_losses_expect(lease);
            if (round == 0) {
                UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
            } /* else it is taken anew as it is: of its loss it was told */
            UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        }
        UNIT_CHECK(unit_held(lease));
        unit_release(lease);
    }
    expect_no_other_loss();
}

static void what_was_released_is_not_lost(void **state)
{
    latch_lease *other = postgresql_lease("s");

    (void) state;
    hold_and_keep(unit.store);
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    end_session_of("s");
    expect_no_other_loss();
}

static void a_store_that_is_closed_loses_nothing(void **state)
{
    (void) state;
    for (int released = 0; released < 2; released++) {
        hold_and_keep(postgresql_open("%s", unit_postgresql.dsn));
        if (released) {
            unit_release(lease);
        }
        postgresql_close_last();
        expect_no_other_loss();
    }
}

static void all_that_a_session_held_is_lost_when_we_end_it(void **state)
{
    latch_store *store = postgresql_open("%s;read_timeout=1", unit_postgresql.dsn);
    latch_lease *second = postgresql_lease_in(store, "s");

    (void) state;
    hold_and_keep(store);
    unit_losses_keep(second);
    UNIT_CHECK(unit_run(second, LATCH_ACQUIRE) == LATCH_DONE);
    unit_postgresql_freeze(); /* so that nothing of this is the server's doing */
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    unit_losses_expect(lease);
    unit_losses_expect(second);
    unit_postgresql_thaw();
    unit_postgresql_await_held(0);
}

static void use_in_child(unit_process *self, void *orderly)
{
    (void) self;
    UNIT_CHECK(!unit_held(lease));
    if (orderly != NULL) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* in a session of its own */
        latch_lease_drop(lease);
        latch_store_close(lease->store);
    }
}

static void a_child_that_exits_is_no_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        hold_and_keep(stores[at]);
        for (int orderly = 0; orderly < 2; orderly++) {
            unit_process child = unit_fork(use_in_child, orderly ? lease : NULL);

            unit_join(&child);
        }
        expect_no_other_loss();
        UNIT_CHECK(unit_held(lease));
        UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
        end_session_of("r");
        unit_losses_expect(lease); /* the parent's watch goes on */
        UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(a_session_in_use_is_no_loss),
        WATCH_TEST(a_session_that_is_ended_is_a_loss),
        WATCH_TEST(a_server_that_stops_is_a_loss),
        WATCH_TEST(all_locks_of_a_session_are_lost_and_no_other_ones),
        WATCH_TEST(what_is_taken_anew_is_watched_anew),
        WATCH_TEST(a_session_that_is_given_up_is_a_loss_and_free_in_the_server),
        WATCH_TEST(all_watches_of_a_session_take_one_descriptor),
        WATCH_TEST(a_watch_does_without_memory),
        WATCH_TEST(a_watch_does_without_a_descriptor),
        WATCH_TEST(a_store_that_is_closed_ends_its_session_despite_a_watch),
        WATCH_TEST(a_cancelled_wait_costs_the_watched_nothing),
        WATCH_TEST(the_exit_of_a_child_is_no_loss),
        WATCH_TEST(a_killed_process_leaves_nothing_though_its_child_lives),
        WATCH_TEST(a_cut_network_is_known_before_the_server_frees_the_lock),
        KEPT_TEST(a_loss_is_told_each_time),
        KEPT_TEST(what_was_released_is_not_lost),
        KEPT_TEST(a_store_that_is_closed_loses_nothing),
        KEPT_TEST(all_that_a_session_held_is_lost_when_we_end_it),
        KEPT_TEST(a_child_that_exits_is_no_loss),
    };

    return cmocka_run_group_tests_name("watch postgresql", tests, unit_postgresql_group_setup,
                                       unit_postgresql_group_teardown);
}
