/*
 * libmariadb waits within TLS handshakes, even in the functions that do not wait otherwise. So a
 * thread goes on with the call when the server is reached; whoever gives it up shuts its socket
 * down, which ends it at once. (Should a server have greeted before it was first looked at, the
 * handshake is over before there could be a thread.)
 */
#include "mysql_connection.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* For the server's greeting. */
static void await(MYSQL *handle, int wish)
{
    struct pollfd descriptor = {
        .fd = mysql_get_socket(handle),
        .events = (short) (((wish & MYSQL_WAIT_READ) != 0 ? POLLIN : 0)
                           | ((wish & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0)),
    };

    while (poll(&descriptor, 1, -1) < 0 && errno == EINTR) {
    }
}

static void *shake_hands(void *argument)
{
    static const uint64_t one = 1;
    mysql_handshake *handshake = argument;
    int wish = handshake->wish;

    do {
        await(handshake->handle, wish);
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
    errno = latch_thread_start(&handshake->thread, shake_hands, handshake);
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
