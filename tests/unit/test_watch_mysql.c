/* What is known of a session with MySQL that ends while nobody asks it anything. */
#include "mysql_store.h"
#include "session_watches.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static void end_session_of(const char *resource)
{
    unit_mysql_run("KILL %lld", mysql_holder(resource));
}

static void disturb_session_of(const char *resource)
{
    unit_mysql_run("KILL QUERY %lld", mysql_holder(resource));
}

static const watched_server mysql = {
    .setup = mysql_store_setup,
    .teardown = mysql_store_teardown,
    .open = mysql_open,
    .lease_in = mysql_lease_in,
    .other_lease = mysql_other_lease,
    .close_last = mysql_store_forget,
    .ways = {{unit_mysql.dsn, ""},
             {unit_mysql.socket_dsn, ""},
             {unit_mysql.url, "?ssl_mode=required"}},
    .impatient = {{unit_mysql.url, "?read_timeout=1"},
                  {unit_mysql.url, "?read_timeout=1&ssl_mode=required"}},
    .frees_late = true,
    .end_session_of = end_session_of,
    .disturb_session_of = disturb_session_of,
    .end_sessions = unit_mysql_end_sessions,
    .stop = unit_mysql_stop,
    .kill = unit_mysql_kill,
    .start = unit_mysql_start,
    .freeze = unit_mysql_freeze,
    .thaw = unit_mysql_thaw,
    .await_held = unit_mysql_await_held,
    .await_sessions = unit_mysql_await_sessions,
};

static int option_of(int level, int name)
{
    socklen_t size = sizeof(int);
    int value = -1;

    UNIT_CHECK(getsockopt(session_watch.descriptor->fd, level, name, &value, &size) == 0);
    return value;
}

static void a_server_that_is_gone_for_good_is_known_after_some_probes(void **state)
{
    (void) state;
    for (size_t at = 0; at < WATCHED_WAYS; at++) {
        if (at == BY_SOCKET) {
            continue;
        }
        hold_and_watch(watched_stores[at]);
        assert_int_equal(option_of(SOL_SOCKET, SO_KEEPALIVE), 1);
        assert_int_equal(option_of(IPPROTO_TCP, TCP_KEEPIDLE), 15);
        assert_int_equal(option_of(IPPROTO_TCP, TCP_KEEPINTVL), 15);
        assert_int_equal(option_of(IPPROTO_TCP, TCP_KEEPCNT), 8);
        unit_watch_end(&session_watch);
        unit_release(session_lease);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_WATCH_TESTS,
        WATCH_TEST(a_server_that_is_gone_for_good_is_known_after_some_probes),
    };

    watched = &mysql;
    return cmocka_run_group_tests_name("watch mysql", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
