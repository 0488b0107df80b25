/* libmariadb's non-blocking calls: start, continue and cancel. */
#include "src/store/sql/mysql/connection.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- The library ---------------------------------------------------------------------------- */

/*
 * Clears OpenSSL's error queue of this thread; NULL where libmariadb does not use OpenSSL. A query
 * of the queue returns the oldest error, whichever connection it came from, and libmariadb does not
 * clear the queue between two connections.
 */
static void (*clear_tls_errors)(void);

static void find_openssl(void)
{
    Dl_info info;
    void *library = dladdr((void *) mysql_init, &info) != 0 && info.dli_fname != NULL
                        ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;

    if (library != NULL) {
        clear_tls_errors = (void (*)(void)) dlsym(library, "ERR_clear_error");
        dlclose(library);
    }
}

/* libmariadb ignores SIGPIPE for good: restore the handler of a program that has one. */
static void begin_library(void)
{
    struct sigaction before;
    bool is_known = sigaction(SIGPIPE, NULL, &before) == 0;

    find_openssl();
    mysql_library_init(0, NULL, NULL);
    if (is_known && ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL)) {
        sigaction(SIGPIPE, &before, NULL);
    }
}

void latch_mysql_connection_init(mysql_connection *connection, latch_engine *engine,
                                 const mysql_store_options *options, bool is_one_shot)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, begin_library);
    memset(connection, 0, sizeof(*connection));
    connection->engine = engine;
    connection->options = options;
    connection->is_one_shot = is_one_shot;
    connection->fd = -1;
}

void latch_mysql_quote(char *quoted, size_t size, const char *text)
{
    size_t length = strlen(text), at;

    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char) text[length] & 0xc0) == 0x80) {
            length--; /* not within a character */
        }
    }
    for (at = 0; at < length; at++) {
        quoted[at] = (char) ((unsigned char) text[at] < ' ' || text[at] == 0x7f ? ' ' : text[at]);
    }
    quoted[at] = '\0';
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void unregister_socket(mysql_connection *connection)
{
    if (connection->fd >= 0) {
        latch_descriptor_unregister(connection->engine, &connection->descriptor);
        connection->fd = -1;
    }
}

void latch_mysql_register_socket(mysql_connection *connection)
{
    int fd = connection->wish != 0 || connection->handle->net.pvio != NULL
                 ? (int) mysql_get_socket(connection->handle)
                 : -1;

    if (fd == connection->fd) {
        return;
    }
    unregister_socket(connection);
    if (fd >= 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        latch_descriptor_shadow(connection->engine, &connection->descriptor, fd);
        connection->fd = fd;
    }
}

/* Called before a call that reads or writes, and after it for the sake of other users of
 * OpenSSL. */
static void clear_tls_queue(const mysql_connection *connection)
{
    if (connection->options->tls && clear_tls_errors != NULL) {
        clear_tls_errors();
    }
}

bool latch_mysql_continue(mysql_connection *connection, int ready)
{
    clear_tls_queue(connection);
    switch (connection->call) {
        case MYSQL_CONNECT:
            connection->wish =
                mysql_real_connect_cont(&connection->connected, connection->handle, ready);
            break;
        case MYSQL_QUERY:
            connection->wish =
                mysql_real_query_cont(&connection->failed, connection->handle, ready);
            break;
        case MYSQL_RESULT:
            connection->wish =
                mysql_store_result_cont(&connection->result, connection->handle, ready);
            break;
        case MYSQL_PREPARE:
            connection->wish =
                mysql_stmt_prepare_cont(&connection->failed, connection->asked->handle, ready);
            break;
        case MYSQL_EXECUTE:
            connection->wish =
                mysql_stmt_execute_cont(&connection->failed, connection->asked->handle, ready);
            break;
        case MYSQL_STORE:
            connection->wish =
                mysql_stmt_store_result_cont(&connection->failed, connection->asked->handle, ready);
            break;
        case MYSQL_NO_CALL:
            break;
    }
    latch_mysql_register_socket(connection);
    return connection->wish == 0;
}

short latch_mysql_wished_events(const mysql_connection *connection)
{
    return (short) (((connection->wish & MYSQL_WAIT_READ) != 0 ? POLLIN : 0)
                    | ((connection->wish & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0)
                    | ((connection->wish & MYSQL_WAIT_EXCEPT) != 0 ? POLLPRI : 0));
}

void latch_mysql_free_result(mysql_connection *connection)
{
    if (connection->result != NULL) {
        mysql_free_result(connection->result);
        connection->result = NULL;
    }
}

static int mysql_begin(mysql_connection *connection)
{
    mysql_prepared *asked = connection->asked;

    switch (connection->call) {
        case MYSQL_QUERY:
            return mysql_real_query_start(&connection->failed, connection->handle,
                                          connection->statement, strlen(connection->statement));
        case MYSQL_RESULT:
            return mysql_store_result_start(&connection->result, connection->handle);
        case MYSQL_PREPARE:
            return mysql_stmt_prepare_start(&connection->failed, asked->handle, asked->text,
                                            strlen(asked->text));
        case MYSQL_EXECUTE:
            return mysql_stmt_execute_start(&connection->failed, asked->handle);
        case MYSQL_STORE:
            return mysql_stmt_store_result_start(&connection->failed, asked->handle);
        case MYSQL_CONNECT: /* connection.c does */
        case MYSQL_NO_CALL:
            break;
    }
    return 0;
}

void latch_mysql_begin(mysql_connection *connection, mysql_call call)
{
    clear_tls_queue(connection);
    connection->call = call;
    connection->wish = mysql_begin(connection);
    connection->is_fresh = connection->wish != 0;
    latch_mysql_register_socket(connection);
}

void latch_mysql_send(mysql_connection *connection, const char *statement)
{
    latch_mysql_free_result(connection);
    snprintf(connection->statement, sizeof(connection->statement), "%s", statement);
    connection->asked = NULL;
    connection->has_answer = false;
    latch_mysql_begin(connection, MYSQL_QUERY);
}

bool latch_mysql_is_answered(mysql_connection *connection)
{
    mysql_call next;

    if (connection->is_fresh) {
        connection->is_fresh = false; /* it has looked itself */
        return false;
    }
    if (connection->wish != 0
        && !latch_mysql_continue(connection, connection->wish & ~MYSQL_WAIT_TIMEOUT)) {
        return false;
    }
    while (connection->wish == 0) {
        next = latch_mysql_next_call(connection);
        if (next == MYSQL_NO_CALL) {
            return true;
        }
        latch_mysql_begin(connection, next);
        connection->is_fresh = false; /* set again by the next poll */
    }
    return false;
}

void latch_mysql_want(const mysql_connection *connection, latch_op *op)
{
    op->fd = connection->fd;
    op->events = latch_mysql_wished_events(connection);
}

/* ---- Closing -------------------------------------------------------------------------------- */

/*
 * A call keeps state on its own stack until it returns: a simulated time-out ends it. Within TLS
 * libmariadb ignores that, but finds the connection closed.
 */
static void give_call_up(mysql_connection *connection)
{
    bool is_lost = false;

    if (connection->wish == 0) {
        return;
    }
    if (connection->descriptor.fd >= 0) {
        shutdown(connection->descriptor.fd, SHUT_RDWR);
    }
    if (connection->handshake.is_running) {
        is_lost = !latch_mysql_handshake_end(&connection->handshake, connection->engine);
        connection->wish = 0;
        connection->connected = connection->handshake.connected;
    }
    if (is_lost) {
        /* The state of the copy is unknown: it is leaked in the child. */
        close(connection->fd);
        unregister_socket(connection);
        connection->handle = NULL;
        return;
    }
    latch_mysql_register_socket(connection);
    while (connection->wish != 0) {
        latch_mysql_continue(connection, MYSQL_WAIT_TIMEOUT);
    }
}

void latch_mysql_wipe_password(MYSQL *handle)
{
    if (handle->passwd != NULL) {
        explicit_bzero(handle->passwd, strlen(handle->passwd));
    }
}

/* The socket buffer of an idle connection takes COM_QUIT; in a child the socket leads nowhere. */
void latch_mysql_close_handle(mysql_connection *connection)
{
    if (connection->handle == NULL) {
        return;
    }
    give_call_up(connection);
    latch_mysql_free_result(connection);
    unregister_socket(connection);
    if (connection->handle != NULL) {
        latch_mysql_wipe_password(connection->handle);
        mysql_close(connection->handle);
        connection->handle = NULL;
        clear_tls_queue(connection);
    }
    latch_mysql_reset_prepared(connection);
    connection->call = MYSQL_NO_CALL;
    connection->is_fresh = false;
}

void latch_mysql_close(mysql_connection *connection)
{
    latch_mysql_close_handle(connection);
    latch_resolve_end(connection->resolution);
    connection->resolution = NULL;
    connection->stage = MYSQL_CLOSED;
    connection->number = 0;
}
