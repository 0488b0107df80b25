/* What is known of a session with MySQL that ends while nobody asks it anything. */
#include "mysql_store.h"
#include "watches.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static latch_lease *lease;
static latch_watch watch;

/* By TCP, by a Unix socket, and by TLS. */
static latch_store *stores[3];

static int setup(void **state)
{
    if (mysql_store_setup(state) != 0) {
        return -1;
    }
    stores[0] = unit.store;
    stores[1] = mysql_open("%s", unit_mysql.socket_dsn);
    stores[2] = mysql_open("%s?ssl_mode=required", unit_mysql.url);
    return stores[1] != NULL && stores[2] != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    unit_watch_end(&watch);
    return mysql_store_teardown(state);
}

#define WATCH_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* The server closes the connection of a session that it ends before it frees the lock. */
static void acquire_after_its_end(latch_lease *its)
{
    UNIT_CHECK(unit_run_waiting(its, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
}

static void hold_and_watch(latch_store *store)
{
    lease = mysql_lease_in(store, "r");
    acquire_after_its_end(lease);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    UNIT_CHECK(watch.is_gone == NULL && !unit_watch_tells(&watch));
}

static void end_session_of(const char *resource)
{
    unit_mysql_run("KILL %lld", mysql_holder(resource));
}

static void a_session_in_use_is_no_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        latch_lease *other = mysql_lease_in(stores[at], "s"), *rival = mysql_other_lease("r");

        hold_and_watch(stores[at]);
        UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(other);
        UNIT_CHECK(unit_run(rival, LATCH_ACQUIRE) == LATCH_CONFLICT);
        unit_mysql_run("KILL QUERY %lld", mysql_holder("r"));
        UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(!unit_watch_tells(&watch));
        unit_watch_end(&watch);
        unit_release(lease);
    }
}

static void a_session_that_is_killed_is_a_loss(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at++) {
        hold_and_watch(stores[at]);
        end_session_of("r");
        unit_watch_await(&watch);
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
            unit_mysql_stop();
        } else {
            unit_mysql_kill();
        }
        unit_watch_await(&watch);
        unit_watch_end(&watch);
        UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
        unit_mysql_start(NULL);
    }
}

static void what_is_taken_anew_is_watched_anew(void **state)
{
    (void) state;
    hold_and_watch(unit.store);
    unit_mysql_end_sessions();
    unit_watch_await(&watch);
    unit_watch_end(&watch);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(!unit_watch_begin(&watch, lease)); /* it is not held */
    hold_and_watch(unit.store);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(!unit_watch_tells(&watch));
}

static void a_session_that_is_given_up_is_a_loss_and_free_in_the_server(void **state)
{
    static const char *const options[] = {"", "&ssl_mode=required"};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        hold_and_watch(mysql_open("%s?read_timeout=1%s", unit_mysql.url, options[at]));
        unit_mysql_freeze(); /* so that nothing of this is the server's doing */
        UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
        UNIT_CHECK(unit_watch_tells(&watch));
        unit_mysql_thaw();
        mysql_await_free("r"); /* though the watch goes on */
        UNIT_CHECK(unit_watch_tells(&watch));
        unit_watch_end(&watch);
    }
}

static void a_store_that_is_closed_ends_its_session_despite_a_watch(void **state)
{
    latch_store *store = mysql_open("%s", unit_mysql.dsn);

    (void) state;
    hold_and_watch(store);
    mysql_store_forget();
    unit_watch_await(&watch);
    unit_mysql_await_sessions(0);
}

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

static int option_of(int level, int name)
{
    socklen_t size = sizeof(int);
    int value = -1;

    UNIT_CHECK(getsockopt(watch.descriptor->fd, level, name, &value, &size) == 0);
    return value;
}

static void a_server_that_is_gone_for_good_is_known_after_some_probes(void **state)
{
    (void) state;
    for (size_t at = 0; at < 3; at += 2) { /* by TCP */
        hold_and_watch(stores[at]);
        assert_int_equal(option_of(SOL_SOCKET, SO_KEEPALIVE), 1);
        assert_int_equal(option_of(IPPROTO_TCP, TCP_KEEPIDLE), 15);
        assert_int_equal(option_of(IPPROTO_TCP, TCP_KEEPINTVL), 15);
        assert_int_equal(option_of(IPPROTO_TCP, TCP_KEEPCNT), 8);
        unit_watch_end(&watch);
        unit_release(lease);
    }
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
    return mysql_store_teardown(state);
}

#define KEPT_TEST(test) cmocka_unit_test_setup_teardown(test, setup_kept, teardown_kept)

static void hold_and_keep(latch_store *store)
{
    lease = mysql_lease_in(store, "r");
    unit_losses_keep(lease);
    acquire_after_its_end(lease);
}

/* The loss of a lease in a session of its own tells that the thread has looked after the others. */
static void expect_no_other_loss(void)
{
    latch_lease *sentinel = mysql_other_lease("sentinel");

    unit_losses_keep(sentinel);
    acquire_after_its_end(sentinel);
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
            acquire_after_its_end(lease);
        }
        UNIT_CHECK(unit_held(lease));
        unit_release(lease);
    }
    expect_no_other_loss();
}

static void what_was_released_is_not_lost(void **state)
{
    latch_lease *other = mysql_lease("s");

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
        hold_and_keep(mysql_open("%s", unit_mysql.dsn));
        if (released) {
            unit_release(lease);
        }
        mysql_store_forget();
        expect_no_other_loss();
    }
}

static void all_that_a_session_held_is_lost_when_we_end_it(void **state)
{
    latch_store *store = mysql_open("%s?read_timeout=1", unit_mysql.url);
    latch_lease *second = mysql_lease_in(store, "s");

    (void) state;
    hold_and_keep(store);
    unit_losses_keep(second);
    UNIT_CHECK(unit_run(second, LATCH_ACQUIRE) == LATCH_DONE);
    unit_mysql_freeze(); /* so that nothing of this is the server's doing */
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    unit_losses_expect(lease);
    unit_losses_expect(second);
    unit_mysql_thaw();
    unit_mysql_await_held(0);
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
        WATCH_TEST(a_session_that_is_killed_is_a_loss),
        WATCH_TEST(a_server_that_stops_is_a_loss),
        WATCH_TEST(what_is_taken_anew_is_watched_anew),
        WATCH_TEST(a_session_that_is_given_up_is_a_loss_and_free_in_the_server),
        WATCH_TEST(a_store_that_is_closed_ends_its_session_despite_a_watch),
        WATCH_TEST(the_exit_of_a_child_is_no_loss),
        WATCH_TEST(a_server_that_is_gone_for_good_is_known_after_some_probes),
        KEPT_TEST(a_loss_is_told_each_time),
        KEPT_TEST(what_was_released_is_not_lost),
        KEPT_TEST(a_store_that_is_closed_loses_nothing),
        KEPT_TEST(all_that_a_session_held_is_lost_when_we_end_it),
        KEPT_TEST(a_child_that_exits_is_no_loss),
    };

    return cmocka_run_group_tests_name("watch mysql", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
