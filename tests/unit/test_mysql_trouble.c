/* Sessions of MySQL that end, and servers that go: what was held is known to be lost, and who waits
 * goes on waiting. */
#include "mysql_store.h"

#include <arpa/inet.h>
#include <poll.h>
#include <unistd.h>

static latch_op op;

/* ---- Killed while it holds */

static latch_lease *lose(latch_lease *lease)
{
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    mysql_end_session(mysql_holder("r"));
    return lease;
}

static void a_lost_session_holds_nothing(void **state)
{
    latch_lease *lease = lose(mysql_lease("r"));

    (void) state;
    mysql_await_loss(lease); /* seen without a word to the server */
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT && lease->lost);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    mysql_expect_working(lease);
}

static void a_renewal_of_what_is_lost_says_so(void **state)
{
    latch_lease *lease = lose(mysql_lease("r"));

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_REFRESH) == LATCH_CONFLICT && lease->lost);
    mysql_expect_working(lease);
}

static void a_release_of_what_is_lost_is_silent(void **state)
{
    latch_lease *lease = lose(mysql_lease("r"));

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    mysql_expect_working(lease);
}

/* It would be held again, but somebody may have had it meanwhile. */
static void an_acquire_of_what_is_lost_tells_that_first(void **state)
{
    latch_lease *lease = lose(mysql_lease("r"));

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_ERROR_LOST && lease->lost);
    UNIT_CHECK(strstr(unit.error.message, "MySQL at 127.0.0.1:") != NULL);
    mysql_expect_working(lease);
}

static void all_leases_of_a_session_are_lost_with_it(void **state)
{
    latch_lease *one = mysql_lease("s"), *two = mysql_lease("r"), *three = mysql_other_lease("t");

    (void) state;
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(three, LATCH_ACQUIRE) == LATCH_DONE);
    lose(two);
    mysql_await_loss(one);
    UNIT_CHECK(!unit_held(two) && unit_held(three));
    UNIT_CHECK(unit_run(two, LATCH_PROBE) == LATCH_CONFLICT);
    mysql_expect_working(two); /* in the next session, which holds nothing of the first */
    UNIT_CHECK(!unit_held(one));
    UNIT_CHECK(unit_run(one, LATCH_PROBE) == LATCH_CONFLICT && one->lost);
    UNIT_CHECK(unit_run(three, LATCH_PROBE) == LATCH_DONE);
}

static void what_the_other_has_meanwhile_is_his(void **state)
{
    latch_lease *lease = lose(mysql_lease("r")), *other = mysql_other_lease("r");

    (void) state;
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_run(other, LATCH_PROBE) == LATCH_DONE);
}

/* A statement that was stopped by mistake, by somebody's KILL QUERY. */
static void a_stopped_query_costs_no_session(void **state)
{
    latch_lease *lease = mysql_lease("r");
    long long session;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    session = mysql_holder("r");
    for (int round = 0; round < 20; round++) {
        unit_mysql_run("KILL QUERY %lld", session);
        UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    }
    assert_int_equal(mysql_holder("r"), session);
}

static void a_wait_that_somebody_stops_is_told(void **state)
{
    latch_lease *holder = mysql_other_lease("r"), *lease = mysql_lease("r"),
                *own = mysql_lease("s");
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(own, LATCH_ACQUIRE) == LATCH_DONE);
    status = mysql_begin_wait(&op, lease, LATCH_NEVER);
    unit_mysql_run("KILL QUERY %lld", mysql_holder("s"));
    status = unit_finish(&op, status);
    UNIT_CHECK(mysql_failed(status, "the statement was cancelled by MySQL at 127.0.0.1:"));
    UNIT_CHECK(unit_held(own) && !unit_held(lease));
    assert_int_equal(unit_mysql_count_waiting(), 0);
}

/* ---- Lost while it waits */

static latch_status wait_for(latch_lease *holder, latch_lease *lease, int64_t timeout_ms)
{
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    return mysql_begin_wait(&op, lease, timeout_ms);
}

static long long waiting_session(void)
{
    return unit_mysql_number("SELECT id FROM information_schema.processlist"
                             " WHERE info LIKE '%%GET_LOCK%%' AND user = 'latch'");
}

static void a_wait_goes_on_in_the_next_session(void **state)
{
    latch_lease *holder = mysql_other_lease("r"), *lease = mysql_lease("r");
    latch_status status = wait_for(holder, lease, LATCH_NEVER);

    (void) state;
    for (int round = 0; round < 3; round++) {
        long long session = waiting_session();

        mysql_end_session(session);
        do {
            unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
            status = latch_op_step(&op, unit_now_ns());
            UNIT_CHECK(latch_wants(status));
        } while (unit_mysql_count_waiting() == 0);
        UNIT_CHECK(waiting_session() != session);
    }
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
}

static void a_wait_outlives_a_restart_of_the_server(void **state)
{
    latch_lease *holder = mysql_other_lease("r"), *lease = mysql_lease("r");
    latch_status status = wait_for(holder, lease, LATCH_NEVER);

    (void) state;
    unit_mysql_stop();
    /* It finds that there is no server, and tries again and again. */
    while (status != LATCH_WANT_TIMER) {
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
        UNIT_CHECK(latch_wants(status));
    }
    unit_mysql_start(NULL);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(!unit_held(holder));
    UNIT_CHECK(unit_run(holder, LATCH_PROBE) == LATCH_CONFLICT && holder->lost);
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_CONFLICT);
}

static void a_wait_ends_when_the_server_does_not_come_back(void **state)
{
    latch_store *store = mysql_open("%s?timeout=1", unit_mysql.url);
    latch_lease *holder = mysql_other_lease("r"), *lease = mysql_lease_in(store, "r");
    latch_status status = wait_for(holder, lease, LATCH_NEVER);

    (void) state;
    unit_mysql_kill();
    UNIT_CHECK(mysql_failed(unit_finish(&op, status), "Connection refused"));
    UNIT_CHECK(unit_run(holder, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(!unit_held(lease) && !unit_held(holder));
    unit_mysql_start(NULL);
}

/* And it is no conflict where the server has not told that the lock is held: MySQL has, at first.
 */
static void a_time_out_of_a_wait_holds_where_there_is_no_server(void **state)
{
    latch_lease *holder = mysql_other_lease("r"), *lease = mysql_lease("r");
    latch_status status = wait_for(holder, lease, 500);

    (void) state;
    unit_mysql_kill();
    status = unit_finish(&op, status);
    UNIT_CHECK(unit_mysql.is_mariadb ? mysql_failed(status, "Connection refused")
                                     : status == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(unit_run(holder, LATCH_RELEASE) == LATCH_DONE);
    unit_mysql_start(NULL);
}

/* ---- A server that stands still */

static void a_server_that_stands_still_is_not_waited_for(void **state)
{
    latch_store *store = mysql_open("%s?timeout=1&read_timeout=1", unit_mysql.url);
    latch_lease *lease = mysql_lease_in(store, "r"), *free = mysql_lease_in(store, "s");

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_mysql_freeze();
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT && lease->lost);
    UNIT_CHECK(mysql_failed(unit_run(free, LATCH_ACQUIRE), "cannot connect to MySQL"));
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    unit_mysql_thaw();
    mysql_await_free("r"); /* its session was given up */
}

static void a_wait_in_a_server_that_stands_still_is_given_up(void **state)
{
    latch_store *store = mysql_open("%s?timeout=1&read_timeout=1", unit_mysql.url);
    latch_lease *holder = mysql_other_lease("r"), *lease = mysql_lease_in(store, "r");
    latch_status status = wait_for(holder, lease, LATCH_NEVER);

    (void) state;
    unit_mysql_freeze();
    UNIT_CHECK(latch_wants(status));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    unit_mysql_thaw();
    unit_mysql_await_waiting(0);
    unit_release(holder);
    mysql_await_free("r"); /* also of a grant to who has gone */
}

/* Its process is not there to be told. */
static void die_waiting(unit_process *self, void *argument)
{
    latch_lease *lease = mysql_lease("r");
    latch_op wait;

    (void) argument;
    unit_begin(&wait, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    unit_finish(&wait, latch_op_step(&wait, unit_now_ns()));
    unit_say(self, 'h'); /* never */
}

static void a_waiter_that_has_died_does_not_keep_the_lock(void **state)
{
    latch_lease *holder = mysql_other_lease("r"), *lease = mysql_lease("r");
    unit_process child;

    (void) state;
    UNIT_CHECK(unit_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(holder, LATCH_PROBE) == LATCH_DONE);
    child = unit_fork(die_waiting, NULL);
    unit_mysql_await_waiting(1);
    unit_kill(&child);
    unit_release(holder);
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
}

/* ---- A cluster that has no such locks, and forbids to ask for them */

/* On the way to the server, where the answer to GET_LOCK() is another one. */
static struct {
    int listener, client, server;
    unsigned code;
    const char *message;
} wire;

static latch_store *open_wire(void)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(place);

    wire.client = wire.server = -1;
    wire.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(bind(wire.listener, (const struct sockaddr *) &place, sizeof(place)) == 0);
    UNIT_CHECK(listen(wire.listener, 1) == 0);
    UNIT_CHECK(getsockname(wire.listener, (struct sockaddr *) &place, &size) == 0);
    return mysql_open("mysql://latch:" UNIT_SQL_PASSWORD "@127.0.0.1:%d/latch",
                      ntohs(place.sin_port));
}

static void close_wire(void)
{
    close(wire.listener);
    close(wire.client);
    close(wire.server);
}

static void accept_client(void)
{
    struct sockaddr_in place = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t) unit_mysql.server.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };

    wire.client = accept4(wire.listener, NULL, NULL, SOCK_CLOEXEC);
    wire.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(connect(wire.server, (const struct sockaddr *) &place, sizeof(place)) == 0);
}

/* An error as the protocol has it, in answer to a first packet. */
static void refuse(void)
{
    uint8_t packet[256] = {0, 0, 0, 1, 0xff, (uint8_t) wire.code, (uint8_t) (wire.code >> 8)};
    int length = snprintf((char *) packet + 7, sizeof(packet) - 7, "#42000%s", wire.message) + 3;

    packet[0] = (uint8_t) length;
    UNIT_CHECK(write(wire.client, packet, (size_t) length + 4) == length + 4);
}

static bool is_readable(int fd)
{
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};

    return poll(&descriptor, 1, 0) == 1;
}

static void pass(int from, int to)
{
    char bytes[4096];
    ssize_t length;

    if (!is_readable(from)) {
        return;
    }
    length = read(from, bytes, sizeof(bytes));
    UNIT_CHECK(length > 0);
    if (from == wire.client && memmem(bytes, (size_t) length, "GET_LOCK", 8) != NULL) {
        refuse();
    } else {
        UNIT_CHECK(write(to, bytes, (size_t) length) == length);
    }
}

static latch_status run_on_wire(latch_lease *lease, latch_request request)
{
    latch_status status = unit_begin(&op, lease, request);

    while (latch_wants(status)) {
        if (wire.client < 0 && is_readable(wire.listener)) {
            accept_client();
        }
        if (wire.client >= 0) {
            pass(wire.client, wire.server);
            pass(wire.server, wire.client);
        }
        status = unit_is_due(&op, status) ? latch_op_step(&op, unit_now_ns()) : status;
    }
    return status;
}

static void a_cluster_that_forbids_such_locks_is_told(void **state)
{
    static const struct {
        unsigned code;
        const char *message;
    } known[] = {
        {1235, "This version of MariaDB doesn't yet support 'GET_LOCK in cluster (WSREP_ON=ON)'"},
        {1105, "Percona-XtraDB-Cluster prohibits use of GET_LOCK with pxc_strict_mode = ENFORCING"},
        {1305, "FUNCTION test.GET_LOCK does not exist"},
    };
    latch_lease *lease = mysql_lease_in(open_wire(), "r");

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        wire.code = known[at].code;
        wire.message = known[at].message;
        UNIT_CHECK(mysql_failed(run_on_wire(lease, unit_request(LATCH_ACQUIRE)), "another store"));
        UNIT_CHECK(strstr(unit.error.message, known[at].message) != NULL);
        UNIT_CHECK(mysql_failed(run_on_wire(lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                                "another store"));
    }
    wire.code = 1105;
    wire.message = "something else";
    UNIT_CHECK(mysql_failed(run_on_wire(lease, unit_request(LATCH_ACQUIRE)), "something else"));
    UNIT_CHECK(strstr(unit.error.message, "another store") == NULL);
    close_wire();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(a_lost_session_holds_nothing),
        MYSQL_TEST(a_renewal_of_what_is_lost_says_so),
        MYSQL_TEST(a_release_of_what_is_lost_is_silent),
        MYSQL_TEST(an_acquire_of_what_is_lost_tells_that_first),
        MYSQL_TEST(all_leases_of_a_session_are_lost_with_it),
        MYSQL_TEST(what_the_other_has_meanwhile_is_his),
        MYSQL_TEST(a_stopped_query_costs_no_session),
        MYSQL_TEST(a_wait_that_somebody_stops_is_told),
        MYSQL_TEST(a_wait_goes_on_in_the_next_session),
        MYSQL_TEST(a_wait_outlives_a_restart_of_the_server),
        MYSQL_TEST(a_wait_ends_when_the_server_does_not_come_back),
        MYSQL_TEST(a_time_out_of_a_wait_holds_where_there_is_no_server),
        MYSQL_TEST(a_server_that_stands_still_is_not_waited_for),
        MYSQL_TEST(a_wait_in_a_server_that_stands_still_is_given_up),
        MYSQL_TEST(a_waiter_that_has_died_does_not_keep_the_lock),
        MYSQL_TEST(a_cluster_that_forbids_such_locks_is_told),
    };

    return cmocka_run_group_tests_name("mysql trouble", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
