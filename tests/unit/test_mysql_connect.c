/* The way to a session of MySQL: addresses, time-outs, TLS, and who is turned away. */
#include "mysql_store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses);

static latch_status acquire_by(latch_store *store)
{
    UNIT_CHECK(store != NULL);
    return unit_run(mysql_lease_in(store, "r"), LATCH_ACQUIRE);
}

/* ---- Addresses */

static const char *const addresses_of_two[] = {"127.0.0.2",
                                               "127.0.0.1"}; /* the server is at the second */

static int answer_two(const char *host, const char *service, const struct addrinfo *hints,
                      struct addrinfo **addresses)
{
    const struct addrinfo digits = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};

    (void) host;
    (void) hints;
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(__real_getaddrinfo(addresses_of_two[at], service, &digits, addresses) == 0);
        addresses = &(*addresses)->ai_next; /* glibc's lists can be joined */
    }
    return 0;
}

static latch_status acquire_by_name(const char *more)
{
    latch_store *store = mysql_open("mysql://latch:" UNIT_SQL_PASSWORD
                                    "@two.example:%d?timeout=12%s", /* half of it for a handshake */
                                    unit_mysql.server.port, more);
    latch_status status;

    unit_calls.on_getaddrinfo = answer_two;
    status = acquire_by(store);
    unit_calls.on_getaddrinfo = NULL;
    return status;
}

static void an_address_that_refuses_is_passed_over(void **state)
{
    (void) state;
    UNIT_CHECK(acquire_by_name("") == LATCH_DONE);
    UNIT_CHECK(mysql_holder("r") != 0);
}

/* The kernel takes connections for the listener, which says nothing. */
static int listen_at(const char *address)
{
    struct sockaddr_in place = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t) unit_mysql.server.port),
    };
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    inet_pton(AF_INET, address, &place.sin_addr);
    UNIT_CHECK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0);
    UNIT_CHECK(bind(listener, (const struct sockaddr *) &place, sizeof(place)) == 0);
    UNIT_CHECK(listen(listener, 8) == 0);
    return listener;
}

static void an_address_that_does_not_answer_leaves_time_for_the_next(void **state)
{
    int listener = listen_at(addresses_of_two[0]);

    (void) state;
    UNIT_CHECK(acquire_by_name("") == LATCH_DONE);
    mysql_store_forget();
    UNIT_CHECK(acquire_by_name("&ssl_mode=required") == LATCH_DONE);
    close(listener);
}

/* ---- Who is not let in */

static void nobody_listens(void **state)
{
    latch_store *store = mysql_open("%s", unit_mysql.dsn);
    char message[256];

    (void) state;
    unit_mysql_kill();
    snprintf(message, sizeof(message),
             "cannot connect to MySQL at 127.0.0.1:%d: Connection refused", unit_mysql.server.port);
    UNIT_CHECK(acquire_by(store) == LATCH_ERROR_STORE);
    assert_string_equal(unit.error.message, message);
    UNIT_CHECK(unit.error.sys_errno == ECONNREFUSED);
    snprintf(message, sizeof(message), "cannot connect to MySQL at %s: No such file or directory",
             unit_mysql.socket);
    store = mysql_open("%s", unit_mysql.socket_dsn);
    unlink(unit_mysql.socket);
    UNIT_CHECK(acquire_by(store) == LATCH_ERROR_STORE);
    assert_string_equal(unit.error.message, message);
    unit_mysql_start(NULL);
    mysql_expect_working(mysql_lease_in(store, "r"));
}

static void a_wrong_password_is_told_without_a_word_of_it(void **state)
{
    latch_store *store =
        mysql_open("mysql://latch:guessed-1357@127.0.0.1:%d/latch", unit_mysql.server.port);

    (void) state;
    UNIT_CHECK(mysql_failed(acquire_by(store), "Access denied for user 'latch'"));
    UNIT_CHECK(strstr(unit.error.message, "guessed") == NULL);
    store = mysql_open("mysql://%s@127.0.0.1:%d/latch", "latch", unit_mysql.server.port);
    UNIT_CHECK(mysql_failed(acquire_by(store), "(using password: NO)"));
    store = mysql_open("%s;dbname=none", unit_mysql.dsn);
    UNIT_CHECK(mysql_failed(acquire_by(store), "denied"));
}

static void a_server_that_is_full_can_be_asked_again(void **state)
{
    latch_lease *lease = mysql_lease("r");
    unit_mysql_peer peers[9];

    (void) state;
    unit_mysql_run("SET GLOBAL max_connections = 10"); /* the least; the administrator has one */
    for (size_t at = 0; at < 9; at++) {
        peers[at] = unit_mysql_peer_open();
    }
    UNIT_CHECK(mysql_failed(unit_run(lease, LATCH_ACQUIRE), "Too many connections"));
    unit_mysql_peer_close(&peers[0]);
    unit_mysql_await_sessions(8);
    mysql_expect_working(lease);
    for (size_t at = 1; at < 9; at++) {
        unit_mysql_peer_close(&peers[at]);
    }
}

/* A server from before locks by name were many; MariaDB can be told to say so. */
static void a_server_that_holds_one_lock_at_a_time_is_refused(void **state)
{
    static const char *const old[] = {"--version=5.6.51-log", NULL};

    (void) state;
    if (!unit_mysql.is_mariadb) {
        skip(); /* MySQL cannot be told to say so */
    }
    unit_mysql_stop();
    unit_mysql_start(old);
    UNIT_CHECK(mysql_failed(unit_run(mysql_lease("r"), LATCH_ACQUIRE), "version 5.6.51-log holds"));
    unit_mysql_await_sessions(0);
}

/* ---- Time-outs */

static void a_server_that_does_not_answer_is_given_up(void **state)
{
    latch_store *plain = mysql_open("%s?timeout=0.2", unit_mysql.url);
    latch_store *tls = mysql_open("%s?timeout=0.2&ssl_mode=required", unit_mysql.url);

    (void) state;
    unit_mysql_freeze();
    UNIT_CHECK(mysql_failed(acquire_by(plain), "within 0.2 s"));
    UNIT_CHECK(mysql_failed(acquire_by(tls), "within 0.2 s"));
    unit_mysql_thaw();
    mysql_expect_working(mysql_lease("r"));
    mysql_expect_working(mysql_lease_in(mysql_open("%s?ssl_mode=required", unit_mysql.url), "r"));
}

/* ---- TLS */

static long long count_handshakes(void)
{
    return unit_mysql_status("Ssl_finished_accepts");
}

static void a_session_by_tls_does_all_that_others_do(void **state)
{
    latch_store *store = mysql_open("%s?ssl_ca=%s", unit_mysql.url, unit_mysql.server.certificate);
    latch_lease *one = mysql_lease_in(store, "r"), *two = mysql_lease("r"),
                *three = mysql_lease_in(store, "s");
    long long count = count_handshakes();
    latch_op op;
    latch_status status;

    (void) state;
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_CONFLICT);
    assert_int_equal(count_handshakes(), count + 1);
    UNIT_CHECK(unit_run_waiting(one, LATCH_ACQUIRE, 20) == LATCH_CONFLICT);
    status = mysql_begin_wait(&op, one, LATCH_NEVER);
    UNIT_CHECK(latch_wants(status));
    UNIT_CHECK(unit_run(three, LATCH_ACQUIRE) == LATCH_DONE); /* by a twin */
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    status = mysql_begin_wait(&op, one, LATCH_NEVER);
    unit_release(two);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(one));
    mysql_end_session(mysql_holder("r"));
    mysql_await_loss(one);
    UNIT_CHECK(unit_run(one, LATCH_PROBE) == LATCH_CONFLICT);
    mysql_expect_working(one);
}

static void a_server_that_is_not_the_one_by_its_certificate_is_refused(void **state)
{
    const unit_sql_server *server = &unit_mysql.server;
    const char *const at = "mysql://latch:" UNIT_SQL_PASSWORD "@127.0.0.1:%d/latch?ssl_ca=%s";
    const char *const elsewhere = "mysql://latch:" UNIT_SQL_PASSWORD "@127.1:%d/latch?ssl_ca=%s";
    latch_store *store = mysql_open("%s?ssl_mode=verify_identity", unit_mysql.url);

    (void) state;
    UNIT_CHECK(
        mysql_failed(acquire_by(mysql_open(at, server->port, server->stranger)), "certificate"));
    UNIT_CHECK(mysql_failed(acquire_by(mysql_open(elsewhere, server->port, server->certificate)),
                            "certificate"));
    UNIT_CHECK(mysql_failed(acquire_by(store), "certificate")); /* none of the machine's */
    UNIT_CHECK(acquire_by(mysql_open("%s?ssl_mode=required", unit_mysql.url)) == LATCH_DONE);
    UNIT_CHECK(acquire_by(mysql_open(at, server->port, server->certificate)) == LATCH_CONFLICT);
    UNIT_CHECK(acquire_by(mysql_open("%s&ssl_ca=%s", unit_mysql.socket_url, server->certificate))
               == LATCH_CONFLICT);
}

static void no_session_is_had_without_the_tls_that_was_asked_for(void **state)
{
    const char *const without[] = {unit_mysql.is_mariadb ? "--skip-ssl" : "--tls-version=", NULL};

    (void) state;
    unit_mysql_stop();
    unit_mysql_start(without);
    UNIT_CHECK(mysql_failed(acquire_by(mysql_open("%s?ssl_mode=required", unit_mysql.url)), "TLS"));
    UNIT_CHECK(mysql_failed(acquire_by(mysql_open("%s?ssl_ca=%s", unit_mysql.url,
                                                  unit_mysql.server.certificate)),
                            "TLS"));
    mysql_expect_working(mysql_lease("r"));
}

/* A server of which one hears the first word only: it stands in a handshake. */
static struct {
    int listener, client, server;
} wire;

static void pass_greeting(void)
{
    struct sockaddr_in place = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t) unit_mysql.server.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    char greeting[512];
    ssize_t length;

    wire.client = accept4(wire.listener, NULL, NULL, SOCK_CLOEXEC);
    wire.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(connect(wire.server, (const struct sockaddr *) &place, sizeof(place)) == 0);
    length = read(wire.server, greeting, sizeof(greeting));
    UNIT_CHECK(length > 0 && write(wire.client, greeting, (size_t) length) == length);
}

/* Begins an acquire by TLS, and returns when its handshake has begun. */
static latch_lease *begin_handshake(latch_op *op, const char *more)
{
    latch_store *store = mysql_open("mysql://latch:" UNIT_SQL_PASSWORD "@%s:%d?ssl_mode=required%s",
                                    addresses_of_two[0], unit_mysql.server.port, more);
    latch_lease *lease = mysql_lease_in(store, "r");
    latch_status status = unit_begin(op, lease, unit_request(LATCH_ACQUIRE));
    struct pollfd asked = {.events = POLLIN};

    pass_greeting();
    asked.fd = wire.client;
    while (poll(&asked, 1, 0) == 0) {
        UNIT_CHECK(status == LATCH_WANT_IO);
        status = unit_is_due(op, status) ? latch_op_step(op, unit_now_ns()) : status;
    }
    return lease;
}

static int wire_setup(void **state)
{
    if (mysql_store_setup(state) != 0) {
        return -1;
    }
    wire.listener = listen_at(addresses_of_two[0]);
    return 0;
}

static int wire_teardown(void **state)
{
    close(wire.client);
    close(wire.server);
    close(wire.listener);
    return mysql_store_teardown(state);
}

#define WIRE_TEST(test) cmocka_unit_test_setup_teardown(test, wire_setup, wire_teardown)

static void a_handshake_takes_no_longer_than_all_the_rest(void **state)
{
    latch_op op;

    (void) state;
    begin_handshake(&op, "&timeout=0.3");
    UNIT_CHECK(mysql_failed(unit_finish(&op, LATCH_WANT_IO), "within 0.3 s"));
}

static void a_handshake_can_be_given_up(void **state)
{
    latch_op op;

    (void) state;
    begin_handshake(&op, "");
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

static void a_handshake_that_the_server_ends_is_told(void **state)
{
    latch_op op;

    (void) state;
    begin_handshake(&op, "");
    UNIT_CHECK(shutdown(wire.client, SHUT_RDWR) == 0);
    UNIT_CHECK(mysql_failed(unit_finish(&op, LATCH_WANT_IO), "cannot connect to MySQL"));
}

static void leave_in_child(unit_process *self, void *argument)
{
    latch_op *op = argument;

    (void) self;
    UNIT_CHECK(unit_cancel(op) == LATCH_CONFLICT);
}

static void a_child_has_no_part_in_a_handshake(void **state)
{
    unit_process child;
    latch_op op;

    (void) state;
    begin_handshake(&op, "");
    child = unit_fork(leave_in_child, &op);
    unit_join(&child);
    UNIT_CHECK(latch_wants(latch_op_step(&op, unit_now_ns())));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

static void where_there_is_no_thread_there_is_no_tls(void **state)
{
    latch_store *store = mysql_open("%s?ssl_mode=required", unit_mysql.url);

    (void) state;
    unit_calls.no_threads = true;
    UNIT_CHECK(mysql_failed(acquire_by(store), "cannot connect to MySQL"));
    unit_calls.no_threads = false;
    unit_calls.no_eventfd = true;
    UNIT_CHECK(mysql_failed(acquire_by(store), "cannot connect to MySQL"));
    unit_calls.no_eventfd = false;
    UNIT_CHECK(acquire_by(store) == LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MYSQL_TEST(an_address_that_refuses_is_passed_over),
        MYSQL_TEST(an_address_that_does_not_answer_leaves_time_for_the_next),
        MYSQL_TEST(nobody_listens),
        MYSQL_TEST(a_wrong_password_is_told_without_a_word_of_it),
        MYSQL_TEST(a_server_that_is_full_can_be_asked_again),
        MYSQL_TEST(a_server_that_holds_one_lock_at_a_time_is_refused),
        MYSQL_TEST(a_server_that_does_not_answer_is_given_up),
        MYSQL_TEST(a_session_by_tls_does_all_that_others_do),
        MYSQL_TEST(a_server_that_is_not_the_one_by_its_certificate_is_refused),
        MYSQL_TEST(no_session_is_had_without_the_tls_that_was_asked_for),
        WIRE_TEST(a_handshake_takes_no_longer_than_all_the_rest),
        WIRE_TEST(a_handshake_can_be_given_up),
        WIRE_TEST(a_handshake_that_the_server_ends_is_told),
        WIRE_TEST(a_child_has_no_part_in_a_handshake),
        MYSQL_TEST(where_there_is_no_thread_there_is_no_tls),
    };

    return cmocka_run_group_tests_name("mysql connections", tests, unit_mysql_group_setup,
                                       unit_mysql_group_teardown);
}
