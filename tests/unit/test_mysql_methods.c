/*
 * The password is nobody's who only answers at a MySQL server's address. The server in these tests is the attacker: it
 * asks for the password by each method that libmariadb knows, and keeps all that it is sent.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PASSWORD "hUnT3r2-secret"

enum { HAS_TLS = 0x800, CAPABILITIES = 0x1 | 0x8 | 0x200 | 0x8000 | 0x80000 };

typedef struct attacker {
    const char *method;    /* of its greeting */
    const char *switch_to; /* what it asks for behind the client's answer; NULL: nothing */
    const char *more;      /* and what it says behind the next one; NULL: nothing */
    uint32_t capabilities;
    struct sockaddr_un socket; /* its path; "": it listens at 127.0.0.1 */
    int listener, port;
    pthread_t thread;
    char heard[4096];
    size_t length;
} attacker;

/* ---- The attacker --------------------------------------------------------------------------- */

static void send_packet(int fd, uint8_t number, const char *payload, size_t length)
{
    char packet[512] = {(char) length, (char) (length >> 8), 0, (char) number};

    UNIT_CHECK(length <= sizeof(packet) - 4);
    memcpy(packet + 4, payload, length);
    (void) !send(fd, packet, length + 4, MSG_NOSIGNAL);
}

static size_t add(char *payload, size_t length, const void *bytes, size_t size)
{
    memcpy(payload + length, bytes, size);
    return length + size;
}

#define NONCE "abcdefghijklmnopqrst" /* 20 bytes, and NUL */

static void greet(const attacker *self, int fd)
{
    uint32_t capabilities = CAPABILITIES | self->capabilities;
    char payload[256];
    size_t length = 0;

    length = add(payload, length, "\x0a" "8.0.36", 8);
    length = add(payload, length, "\1\0\0\0", 4);
    length = add(payload, length, NONCE, 8);
    length = add(payload, length, "", 1);
    length = add(payload, length, &capabilities, 2);
    length = add(payload, length, "\x2d\2\0", 3);
    length = add(payload, length, (char *) &capabilities + 2, 2);
    length = add(payload, length, "\x15\0\0\0\0\0\0\0\0\0\0", 11);
    length = add(payload, length, NONCE + 8, 13);
    length = add(payload, length, self->method, strlen(self->method) + 1);
    send_packet(fd, 0, payload, length);
}

static void ask_to_switch(const attacker *self, int fd, uint8_t number)
{
    char payload[128] = {(char) 0xfe};
    size_t length = add(payload, 1, self->switch_to, strlen(self->switch_to) + 1);

    send_packet(fd, number, payload, add(payload, length, NONCE, sizeof(NONCE)));
}

/* Takes a packet in; its number, or -1 when the client has gone. */
static int hear(attacker *self, int fd)
{
    size_t begin = self->length, need = 4;

    while (self->length - begin < need) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        ssize_t count;

        UNIT_CHECK(poll(&wait, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
        count = recv(fd, self->heard + self->length, sizeof(self->heard) - self->length, 0);
        if (count <= 0) {
            return -1;
        }
        self->length += (size_t) count;
        if (self->length - begin >= 4) {
            need = 4 + (uint8_t) self->heard[begin] + 256U * (uint8_t) self->heard[begin + 1];
        }
    }
    return (uint8_t) self->heard[begin + 3];
}

static void *attack(void *argument)
{
    attacker *self = argument;
    int fd = accept4(self->listener, NULL, NULL, SOCK_CLOEXEC), number;

    greet(self, fd);
    number = hear(self, fd);
    if (number >= 0 && self->switch_to != NULL) {
        ask_to_switch(self, fd, (uint8_t) (number + 1));
        number = hear(self, fd);
    }
    if (number >= 0 && self->more != NULL) {
        send_packet(fd, (uint8_t) (number + 1), self->more, strlen(self->more));
        number = hear(self, fd);
    }
    if (number >= 0) {
        send_packet(fd, (uint8_t) (number + 1), "\xff\x15\x04#28000Access denied", 23);
    }
    while (hear(self, fd) >= 0) {
    }
    close(fd);
    return NULL;
}

static void begin_attack(attacker *self)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool by_path = self->socket.sun_path[0] != '\0';
    socklen_t size = by_path ? sizeof(self->socket) : sizeof(place);

    self->socket.sun_family = AF_UNIX;
    self->listener = socket(by_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    UNIT_CHECK(bind(self->listener, by_path ? (struct sockaddr *) &self->socket
                                            : (struct sockaddr *) &place, size) == 0);
    UNIT_CHECK(listen(self->listener, 1) == 0);
    UNIT_CHECK(by_path || getsockname(self->listener, (struct sockaddr *) &place, &size) == 0);
    self->port = ntohs(place.sin_port);
    UNIT_CHECK(pthread_create(&self->thread, NULL, attack, self) == 0);
}

/* ---- The victim ----------------------------------------------------------------------------- */

/* Connects to the attacker by a DSN with these options; what the attacker has heard is complete then. */
static void connect_to(attacker *self, const char *options)
{
    char dsn[512];
    latch_store_options given = {.dsn = dsn};
    latch_lease lease;
    latch_store *store;
    latch_op op;
    latch_request request = {.kind = LATCH_ACQUIRE};
    latch_status status;

    begin_attack(self);
    if (self->port != 0) {
        snprintf(dsn, sizeof(dsn), "mysql://u:" PASSWORD "@127.0.0.1:%d/d?%s", self->port, options);
    } else {
        snprintf(dsn, sizeof(dsn), "mysql://u:" PASSWORD "@localhost/d?unix_socket=%s&%s",
                 self->socket.sun_path, options);
    }
    given.dsn_length = strlen(dsn);
    store = latch_store_open(unit.engine, "mysql", &given, &unit.error);
    UNIT_CHECK(store != NULL);
    latch_lease_init(&lease, store, "r", 1);
    status = latch_op_begin(&op, &lease, &request, &unit.error);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_ERROR_STORE);
    latch_lease_drop(&lease);
    latch_store_close(store);
    UNIT_CHECK(pthread_join(self->thread, NULL) == 0);
    close(self->listener);
    unit_await_threads(0);
}

static void set_path(attacker *self, size_t number)
{
    size_t size = sizeof(self->socket.sun_path);

    UNIT_CHECK(snprintf(self->socket.sun_path, size, "%s/%zu", unit.directory, number) < (int) size);
}

static bool has_password(const attacker *self)
{
    return memmem(self->heard, self->length, PASSWORD, strlen(PASSWORD)) != NULL;
}

static void expect_message(const char *part)
{
    if (strstr(unit.error.message, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, unit.error.message);
    }
    assert_null(strstr(unit.error.message, PASSWORD));
}

#define ALLOWED                                                                                    \
    " which is not allowed; the option \"enable_cleartext_plugin=1\" allows mysql_clear_password, "    \
    "over a socket or with ssl_mode=verify_identity"

static void no_server_gets_the_password_as_it_is(void **state)
{
    static const char *const methods[] = {"mysql_clear_password", "dialog"};
    char expected[256];

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        attacker at_once = {.method = methods[at], .more = "\4Password:"};
        attacker later = {.method = "mysql_native_password", .switch_to = methods[at],
                          .more = "\4Password:"};
        attacker by_path = later;

        snprintf(expected, sizeof(expected),
                 "the server asks for the password by the method \"%s\"," ALLOWED, methods[at]);
        connect_to(&at_once, "");
        expect_message(expected);
        assert_false(has_password(&at_once));
        connect_to(&later, "ssl_mode=disabled");
        expect_message(ALLOWED);
        assert_false(has_password(&later));
        set_path(&by_path, at);
        connect_to(&by_path, "enable_cleartext_plugin=0");
        expect_message(ALLOWED);
        assert_false(has_password(&by_path));
    }
}

static void by_a_socket_the_option_allows_it(void **state)
{
    attacker at_once = {.method = "mysql_clear_password"};
    attacker later = {.method = "mysql_native_password", .switch_to = "mysql_clear_password"};
    attacker dialog = {.method = "dialog", .more = "\4Password:"};

    (void) state;
    set_path(&at_once, 1);
    connect_to(&at_once, "enable_cleartext_plugin=1");
    expect_message("Access denied");
    assert_true(has_password(&at_once));
    set_path(&later, 2);
    connect_to(&later, "enable_cleartext_plugin=1");
    expect_message("Access denied");
    assert_true(has_password(&later));
    set_path(&dialog, 3);
    connect_to(&dialog, "enable_cleartext_plugin=1"); /* it would ask at the terminal */
    expect_message("\"dialog\"," ALLOWED);
    assert_false(has_password(&dialog));
}

/* Nor what is as good as the password: the digest of long ago can be undone. */
static void other_methods_are_none_of_ours(void **state)
{
    attacker old = {.method = "mysql_old_password"}, unknown = {.method = "mysql_native_password",
                                                                .switch_to = "no_such_method"};

    (void) state;
    connect_to(&old, "");
    expect_message("\"mysql_old_password\"," ALLOWED);
    connect_to(&unknown, "");
    expect_message(ALLOWED);
    assert_false(has_password(&unknown));
}

/* Where TLS is asked for, but no certificate, libmariadb goes on without it, and believes to have it. */
static void without_the_tls_that_was_asked_for_there_is_no_password(void **state)
{
    attacker first = {.method = "caching_sha2_password", .more = "\1\4"};
    attacker second = {.method = "mysql_native_password", .switch_to = "caching_sha2_password",
                       .more = "\1\4"};
    attacker verified = first;

    (void) state;
    connect_to(&first, "ssl_mode=required");
    assert_false(has_password(&first));
    expect_message("TLS was asked for, but the server has none");
    connect_to(&second, "ssl_mode=required");
    assert_false(has_password(&second));
    expect_message("TLS was asked for, but the server has none");
    connect_to(&verified, "ssl_mode=verify_identity");
    assert_false(has_password(&verified));
    expect_message("TLS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(no_server_gets_the_password_as_it_is, setup_flock),
        UNIT_TEST(by_a_socket_the_option_allows_it, setup_flock),
        UNIT_TEST(other_methods_are_none_of_ours, setup_flock),
        UNIT_TEST(without_the_tls_that_was_asked_for_there_is_no_password, setup_flock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
