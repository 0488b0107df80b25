/*
 * TLS handshakes of libmariadb block, even in its non-blocking functions. So a thread continues the
 * call once the server is connected; a cancel shuts the socket down, which ends the call at once.
 * (If the greeting comes before the first poll, the handshake ends before a thread is started.)
 */
#include "src/store/sql/mysql/connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* For the server's greeting. */
static void mysql_await(MYSQL *handle, int wish)
{
    struct pollfd descriptor = {
        .fd = mysql_get_socket(handle),
        .events = (short) (((wish & MYSQL_WAIT_READ) != 0 ? POLLIN : 0)
                           | ((wish & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0)),
    };

    while (poll(&descriptor, 1, -1) < 0 && errno == EINTR) {
    }
}

#define PACKET_HEADER 4
#define GREETING_SHOWN 512 /* bytes within which its capabilities are */

/*
 * -1: more of the greeting is needed. Behind its header and the protocol's version, 10, are the
 * server's version, a NUL, the session's number, 8 bytes of the nonce, a NUL, and 16 capabilities.
 */
static int mysql_greeting_offers_tls(const char *greeting, size_t length)
{
    const char *version = greeting + PACKET_HEADER + 1, *end;

    if (length > PACKET_HEADER && greeting[PACKET_HEADER] != 10) {
        return 1; /* an error, say, which needs no password */
    }
    end = length > PACKET_HEADER + 1 ? memchr(version, '\0', length - (size_t) (version - greeting))
                                     : NULL;
    if (end == NULL || length - (size_t) (end - greeting) < 1 + 4 + 8 + 1 + 2) {
        return length < GREETING_SHOWN ? -1 : 0;
    }
    return (end[1 + 4 + 8 + 1 + 1] & CLIENT_SSL >> 8) != 0;
}

/*
 * Awaits the greeting, and looks whether the server has TLS, before libmariadb does: unless it is
 * to verify the server, it would go on without TLS, and take the connection for an encrypted one,
 * on which a password may be sent as it is.
 */
static bool has_tls(int fd)
{
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};
    char greeting[GREETING_SHOWN];
    int answer = -1, needed = 1;

    while (answer < 0) {
        ssize_t length;

        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &needed, sizeof(needed));
        while (poll(&descriptor, 1, -1) < 0 && errno == EINTR) {
        }
        length = recv(fd, greeting, sizeof(greeting), MSG_PEEK | MSG_DONTWAIT);
        if (length < needed) {
            answer = 0; /* the connection has ended */
        } else {
            answer = mysql_greeting_offers_tls(greeting, (size_t) length);
            needed = (int) length + 1;
        }
    }
    needed = 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &needed, sizeof(needed));
    return answer != 0;
}

static void *mysql_run_handshake(void *argument)
{
    static const uint64_t one = 1;
    mysql_handshake *handshake = argument;
    int wish = handshake->wish;

    if (handshake->handle->server_capabilities == 0 /* no greeting yet */
        && !has_tls(mysql_get_socket(handshake->handle))) {
        shutdown(mysql_get_socket(handshake->handle), SHUT_RDWR);
    }
    do {
        mysql_await(handshake->handle, wish);
        wish = mysql_real_connect_cont(&handshake->connected, handshake->handle,
                                       wish & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE));
    } while (wish != 0);
    handshake->is_over = true;
    while (write(handshake->helpers_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    return NULL;
}

bool latch_mysql_handshake_begin(mysql_handshake *handshake, latch_engine *engine, MYSQL *handle,
                                 int wish)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0) {
        return false;
    }
    latch_descriptor_register(engine, &handshake->wake, fd);
    handshake->helpers_fd = fd;
    handshake->is_over = false;
    handshake->handle = handle;
    handshake->wish = wish;
    errno = latch_thread_start(&handshake->thread, mysql_run_handshake, handshake);
    if (errno != 0) {
        int why = errno;

        latch_descriptor_close(engine, &handshake->wake);
        errno = why;
        return false;
    }
    handshake->is_running = true;
    return true;
}

bool latch_mysql_handshake_end(mysql_handshake *handshake, latch_engine *engine)
{
    bool is_here = handshake->wake.fd >= 0;

    if (is_here) {
        pthread_join(handshake->thread, NULL);
    }
    latch_descriptor_close(engine, &handshake->wake);
    handshake->is_running = false;
    return is_here;
}
