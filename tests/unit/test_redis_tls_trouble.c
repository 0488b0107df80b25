/* TLS to Redis where connections break, stall and are shared: nothing is lost, and nobody waits for
 * ever. */
#include "redis_tls.h"

#include "keeping.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses);

/* ---- Connecting */

static int listen_on(const char *host, int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t) *port)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    UNIT_CHECK(inet_pton(AF_INET, host, &address.sin_addr) == 1);
    UNIT_CHECK(bind(listener, (const struct sockaddr *) &address, sizeof(address)) == 0);
    UNIT_CHECK(listen(listener, 8) == 0);
    UNIT_CHECK(getsockname(listener, (struct sockaddr *) &address, &size) == 0);
    *port = ntohs(address.sin_port);
    return listener;
}

static void plain_text_meets_tls(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", redis_tls_server.port);

    (void) state;
    UNIT_CHECK(redis_failed(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE),
                            "if it expects TLS there, that is \"rediss:\""));
    /* Redis takes what it is sent for the beginning of a long line. */
    store = redis_open("rediss://127.0.0.1:%d?timeout=0.1", unit_redis.port);
    UNIT_CHECK(redis_failed(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE),
                            "within 0.1 s: the TLS handshake did not end, as with a server that"));
}

/* In a child: whoever connects is answered that, after something was heard, and hung up on. */
static void answer(unit_process *self, void *argument)
{
    const char *const *words = argument;
    char heard[4096];

    for (int caller; (caller = accept(atoi(words[0]), NULL, NULL)) >= 0; close(caller)) {
        UNIT_CHECK(read(caller, heard, sizeof(heard)) > 0);
        UNIT_CHECK(write(caller, words[1], strlen(words[1])) == (ssize_t) strlen(words[1]));
    }
    (void) self;
}

static void expect_after(const char *answered, const char *message)
{
    int port = 0, listener = listen_on("127.0.0.1", &port);
    char number[12];
    const char *words[] = {number, answered};
    unit_process child;
    latch_store *store = redis_open("rediss://127.0.0.1:%d", port);

    snprintf(number, sizeof(number), "%d", listener);
    child = unit_fork(answer, words);
    UNIT_CHECK(redis_failed(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE), message));
    unit_kill(&child);
    close(listener);
}

static void what_is_no_tls_is_told(void **state)
{
    (void) state;
    expect_after("HTTP/1.1 400 Bad Request\r\n\r\n", "the server does not speak TLS there");
    expect_after("-ERR unknown command\r\n", "the server does not speak TLS there");
    expect_after("", "the server closed the connection in the TLS handshake");
}

/* The first one listens, and says nothing. */
static int answer_two(const char *host, const char *service, const struct addrinfo *hints,
                      struct addrinfo **addresses)
{
    const struct addrinfo digits = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};

    (void) host;
    (void) hints;
    UNIT_CHECK(__real_getaddrinfo("127.0.0.2", service, &digits, addresses) == 0);
    return __real_getaddrinfo("127.0.0.1", service, &digits, &(*addresses)->ai_next);
}

static void a_handshake_that_stalls_leaves_time_for_the_next_address(void **state)
{
    int port = redis_tls_server.port, listener = listen_on("127.0.0.2", &port);
    latch_store *store =
        redis_tls_open("two.example:PORT?timeout=4&ssl[cafile]=@ca.crt&ssl[peer_name]=localhost");
    latch_lease *lease = redis_lease_in(store, "r");

    (void) state;
    unit_calls.on_getaddrinfo = answer_two;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && !redis_is_free("r"));
    unit_calls.on_getaddrinfo = NULL;
    close(listener);
}

/* ---- Connections that break */

static void what_was_lost_with_the_connection_is_sent_once_more(void **state)
{
    latch_lease *lease = redis_lease_in(redis_tls_open_with("timeout=20"), "r");
    latch_op op;

    (void) state;
    redis_expect_working(lease);
    redis_hold_server();
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    unit_redis_kill();
    unit_redis_start(NULL);
    redis_tls_serve();
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
}

static void raise_alarm(int number)
{
    (void) number;
    _exit(3);
}

/* The first writing is answered by a reset, and the second would raise the signal. */
static void writing_to_a_server_that_is_gone_raises_no_signal(void **state)
{
    latch_store *store = redis_tls_open_with("");
    latch_lease *lease = redis_lease_in(store, "r");
    redis_connection *connection = &((redis_store *) store)->topology.single.connection;
    redis_command command = {.count = 0};
    struct pollfd end = {.events = POLLRDHUP};
    void (*before)(int) = signal(SIGPIPE, raise_alarm);

    (void) state;
    latch_redis_add_text(&command, "PING");
    redis_expect_working(lease);
    unit_redis_ask("CLIENT KILL TYPE normal");
    end.fd = connection->descriptor.fd;
    UNIT_CHECK(poll(&end, 1, (int) (UNIT_TIMEOUT_NS / LATCH_NS_PER_MS)) == 1);
    for (int at = 0; at < 2; at++) {
        redis_call *call = latch_redis_send(connection, &command, unit_now_ns());

        UNIT_CHECK(call != NULL);
        latch_redis_call_free(connection, call);
        end.events = 0; /* the reset: POLLERR or POLLHUP */
        poll(&end, 1, 1000);
    }
    redis_expect_working(lease);
    signal(SIGPIPE, before);
}

/* ---- More than a socket takes */

enum { CROWD = 40 };

/* Keys so long that each command is a record or more. */
static latch_store *open_wide(latch_lease *leases[CROWD])
{
    static char name[CROWD][4000];
    latch_store *store = redis_tls_open_with("read_timeout=60");

    for (int at = 0; at < CROWD; at++) {
        memset(name[at], 'a' + at % 26, sizeof(name[at]) - 1);
        name[at][0] = (char) ('0' + at);
        leases[at] = redis_lease_in(store, name[at]);
    }
    redis_expect_working(leases[0]);
    setsockopt(((redis_store *) store)->topology.single.connection.descriptor.fd, SOL_SOCKET,
               SO_SNDBUF, &(int){4096}, sizeof(int));
    return store;
}

static void what_the_socket_does_not_take_goes_later(void **state)
{
    latch_lease *leases[CROWD];
    latch_op ops[CROWD], wish;
    latch_status status[CROWD];

    (void) state;
    for (int gathered = 0; gathered < 2; gathered++) {
        latch_store *store = open_wide(leases);
        redis_connection *connection = &((redis_store *) store)->topology.single.connection;

        redis_hold_server();
        latch_redis_batch(connection, gathered == 1);
        for (int at = 0; at < CROWD; at++) {
            status[at] = unit_begin(&ops[at], leases[at], redis_request(LATCH_ACQUIRE));
        }
        latch_redis_batch(connection, false);
        UNIT_CHECK(connection->unsent_length > 0 && connection->tls->is_writing);
        UNIT_CHECK(latch_redis_want(connection, 0, &wish) == LATCH_WANT_IO
                   && (wish.events & POLLOUT) != 0);
        redis_let_server_go();
        for (int at = 0; at < CROWD; at++) {
            UNIT_CHECK(unit_finish(&ops[at], latch_op_step(&ops[at], unit_now_ns())) == LATCH_DONE);
        }
        for (int at = 0; at < CROWD; at++) {
            UNIT_CHECK(latch_wants(status[at]));
            UNIT_CHECK(redis_run(leases[at], LATCH_PROBE) == LATCH_DONE);
        }
        UNIT_CHECK(connection->established == 1);
        redis_store_forget();
    }
}

/* OpenSSL has begun a record with it, and would go on with whatever came next. */
static void a_command_that_was_begun_and_cannot_be_kept_ends_the_connection(void **state)
{
    latch_lease *leases[CROWD];
    latch_store *store = open_wide(leases);
    redis_connection *connection = &((redis_store *) store)->topology.single.connection;
    static char text[12000]; /* less than a record */
    redis_command command = {.count = 0};
    redis_call *call;
    bool is_begun = false;

    (void) state;
    latch_redis_add_text(&command, "ECHO");
    latch_redis_add(&command, text, sizeof(text));
    redis_hold_server();
    while (!is_begun) {
        /* The call, its text; and what cannot be sent. */
        unit.fail_at = unit.allocations + 3;
        call = latch_redis_send(connection, &command, unit_now_ns());
        is_begun = call == NULL;
        unit.fail_at = 0;
        if (call != NULL) {
            latch_redis_call_free(connection, call);
        }
    }
    UNIT_CHECK(connection->stage == REDIS_CLOSED);
    redis_let_server_go();
    redis_expect_working(leases[1]);
}

/* ---- Records that come in pieces */

static struct {
    int listener, store, server;
} relay;

static latch_store *open_by_relay(void)
{
    char options[64];
    int port = 0;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t) redis_tls_server.port)};

    relay.listener = listen_on("127.0.0.1", &port);
    relay.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    relay.store = -1;
    UNIT_CHECK(inet_pton(AF_INET, "127.0.0.1", &address.sin_addr) == 1);
    UNIT_CHECK(connect(relay.server, (struct sockaddr *) &address, sizeof(address)) == 0);
    snprintf(options, sizeof(options), "127.0.0.1:%d?timeout=20&ssl[cafile]=@ca.crt", port);
    return redis_tls_open(options);
}

static void close_relay(void)
{
    close(relay.listener);
    close(relay.store);
    close(relay.server);
}

/* Passes on what has come, so much at most; how much it was. */
static size_t pass(int from, int to, size_t most)
{
    char text[16 * 1024];
    ssize_t count = recv(from, text, most < sizeof(text) ? most : sizeof(text), MSG_DONTWAIT);

    UNIT_CHECK(count <= 0 || send(to, text, (size_t) count, MSG_NOSIGNAL) == count);
    return count > 0 ? (size_t) count : 0;
}

/* Steps, and passes everything, until the operation has ended. */
static latch_status finish_by_relay(latch_op *op, latch_status status)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (latch_wants(status)) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        if (relay.store < 0) {
            relay.store = accept(relay.listener, NULL, NULL);
        }
        pass(relay.store, relay.server, SIZE_MAX);
        pass(relay.server, relay.store, SIZE_MAX);
        status = latch_op_step(op, unit_now_ns());
    }
    return status;
}

static void half_a_record_is_waited_for_by_the_socket(void **state)
{
    latch_lease *lease = redis_lease_in(open_by_relay(), "r");
    latch_op op;

    (void) state;
    UNIT_CHECK(unit_begin(&op, lease, redis_request(LATCH_ACQUIRE)) == LATCH_WANT_IO);
    UNIT_CHECK(finish_by_relay(&op, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(unit_begin(&op, lease, redis_request(LATCH_PROBE)) == LATCH_WANT_IO);
    UNIT_AWAIT(pass(relay.store, relay.server, SIZE_MAX) > 0);
    for (int piece = 0; piece < 20; piece++) { /* of the header of 5 bytes, and of the rest */
        UNIT_AWAIT(pass(relay.server, relay.store, 1) > 0);
        UNIT_CHECK(poll(&(struct pollfd){.fd = op.fd, .events = POLLIN}, 1, 20000) == 1);
        UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_IO);
        UNIT_CHECK(op.events == POLLIN && op.wake_ns > unit_now_ns());
    }
    UNIT_CHECK(finish_by_relay(&op, LATCH_WANT_IO) == LATCH_DONE);
    close_relay();
}

/* Answers to many requests, that are taken from the socket at once. */
static void many_records_are_read_as_long_as_there_are_any(void **state)
{
    latch_store *store = open_by_relay();
    redis_connection *connection = &((redis_store *) store)->topology.single.connection;
    latch_lease *lease = redis_lease_in(store, "r");
    latch_op op;
    redis_call *calls[50];
    redis_command command = {.count = 0};
    char answers[16 * 1024];
    size_t length = 0;

    (void) state;
    latch_redis_add_text(&command, "PING");
    UNIT_CHECK(unit_begin(&op, lease, redis_request(LATCH_ACQUIRE)) == LATCH_WANT_IO);
    UNIT_CHECK(finish_by_relay(&op, LATCH_WANT_IO) == LATCH_DONE);
    for (int at = 0; at < 50; at++) { /* each answered before the next one is passed on */
        ssize_t count;

        calls[at] = latch_redis_send(connection, &command, unit_now_ns());
        UNIT_CHECK(calls[at] != NULL);
        UNIT_AWAIT(pass(relay.store, relay.server, SIZE_MAX) > 0);
        count = recv(relay.server, answers + length, sizeof(answers) - length, 0);
        UNIT_CHECK(count > 0);
        length += (size_t) count;
    }
    UNIT_CHECK(send(relay.store, answers, length, MSG_NOSIGNAL) == (ssize_t) length);
    UNIT_CHECK(poll(&(struct pollfd){.fd = connection->descriptor.fd, .events = POLLIN}, 1, 20000)
               == 1);
    UNIT_CHECK(latch_redis_receive(connection) && !connection->tls->has_more);
    for (int at = 0; at < 50; at++) {
        UNIT_CHECK(calls[at]->state == REDIS_ANSWERED);
        latch_redis_call_free(connection, calls[at]);
    }
    close_relay();
}

/* ---- Processes, waits, renewals */

static void use_in_child(unit_process *self, void *argument)
{
    latch_lease *lease = argument;
    latch_lease *other = redis_lease_in(lease->store, "child");

    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'y');
    unit_expect(self, 'g'); /* the parent has used its connection */
    UNIT_CHECK(redis_run(other, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(other);
    latch_lease_drop(lease);
    latch_store_close(lease->store);
}

static void a_child_has_a_connection_of_its_own(void **state)
{
    latch_lease *lease = redis_lease_in(redis_tls_open_with(""), "r");
    redis_connection *connection = &((redis_store *) lease->store)->topology.single.connection;
    unit_process child;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(use_in_child, lease);
    unit_expect(&child, 'y');
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(connection->established == 1);
}

static void who_waits_is_told_by_tls_too(void **state)
{
    latch_lease *holder = redis_lease_in(redis_tls_open_with(""), "r");
    latch_lease *waiter = redis_lease_in(redis_tls_open_with(""), "r");
    redis_subscription *subscription = &((redis_store *) waiter->store)->subscription;
    latch_op op;

    (void) state;
    for (int at = 0; at < 5; at++) {
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&op, waiter, redis_wait_to_write());
        UNIT_CHECK(redis_run(holder, LATCH_RELEASE) == LATCH_DONE);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        UNIT_CHECK(redis_run(waiter, LATCH_RELEASE) == LATCH_DONE);
    }
    UNIT_CHECK(subscription->connection.tls != NULL && subscription->connection.established == 1);
}

static void what_is_kept_is_renewed_by_tls(void **state)
{
    latch_lease *lease = redis_lease_in(
        redis_tls_open_with("ssl[local_cert]=@client-both.pem&ssl[passphrase]=open+sesame"), "r");

    (void) state;
    redis_tls_demand();
    UNIT_CHECK(unit_open_mailbox() == 0);
    unit_keep(lease);
    UNIT_CHECK(redis_run_for(lease, LATCH_ACQUIRE, 4500) == LATCH_DONE);
    unit_await_renewal(lease);
    unit_redis_ask("CLIENT KILL TYPE normal");
    unit_await_renewal(lease);
    unit_release(lease);
    latch_lease_stop_renewal(lease);
    unit_close_mailbox();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TLS_TEST(plain_text_meets_tls),
        REDIS_TLS_TEST(what_is_no_tls_is_told),
        REDIS_TLS_TEST(a_handshake_that_stalls_leaves_time_for_the_next_address),
        REDIS_TLS_TEST(what_was_lost_with_the_connection_is_sent_once_more),
        REDIS_TLS_TEST(writing_to_a_server_that_is_gone_raises_no_signal),
        REDIS_TLS_TEST(what_the_socket_does_not_take_goes_later),
        REDIS_TLS_TEST(a_command_that_was_begun_and_cannot_be_kept_ends_the_connection),
        REDIS_TLS_TEST(half_a_record_is_waited_for_by_the_socket),
        REDIS_TLS_TEST(many_records_are_read_as_long_as_there_are_any),
        REDIS_TLS_TEST(a_child_has_a_connection_of_its_own),
        REDIS_TLS_TEST(who_waits_is_told_by_tls_too),
        REDIS_TLS_TEST(what_is_kept_is_renewed_by_tls),
    };

    return cmocka_run_group_tests_name("redis tls trouble", tests, redis_tls_group_setup,
                                       redis_tls_group_teardown);
}
