/* Connects to a MySQL or MariaDB server, and sets the session up. */
#include "src/store/sql/mysql/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stack of libmariadb's coroutine. OpenSSL and the resolver need more than its default of 60 KiB,
 * and an overflow would go unnoticed. */
#define STACK_SIZE (256 * 1024)

#define NO_TLS "TLS was asked for, but the server has none"

/* Authentication methods: names of libmariadb's plugins. */
#define METHODS                                                                                    \
    "mysql_native_password,caching_sha2_password,sha256_password,client_ed25519,parsec,"           \
    "auth_gssapi_client"
/* "dialog" is never allowed: it prompts at the terminal. */
#define CLEARTEXT_METHOD "mysql_clear_password"
#define METHOD_MAX 40 /* bytes of a name that are shown */

/* ---- Connecting ----------------------------------------------------------------------------- */

static latch_status fail_to_connect(mysql_connection *connection, latch_op *op, int sys_errno,
                                    const char *why)
{
    char quoted[256];

    latch_mysql_quote(quoted, sizeof(quoted), why);
    latch_mysql_close(connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, sys_errno, "cannot connect to MySQL at %s: %s",
                      connection->options->address, quoted);
}

static latch_status mysql_want(latch_op *op, int fd, short events, int64_t wake_ns)
{
    op->fd = fd;
    op->events = events;
    op->wake_ns = wake_ns;
    return LATCH_WANT_IO;
}

static void set_tls(MYSQL *handle, const mysql_store_options *options)
{
    static const my_bool on = 1;
    my_bool verify = options->verify;

    if (!options->tls) {
        return;
    }
    mysql_optionsv(handle, MYSQL_OPT_SSL_ENFORCE, &on);
    mysql_optionsv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
    if (options->ssl_key != NULL) {
        mysql_optionsv(handle, MYSQL_OPT_SSL_KEY, options->ssl_key);
    }
    if (options->ssl_cert != NULL) {
        mysql_optionsv(handle, MYSQL_OPT_SSL_CERT, options->ssl_cert);
    }
    if (options->ssl_ca != NULL) {
        mysql_optionsv(handle, MYSQL_OPT_SSL_CA, options->ssl_ca);
    }
    if (options->ssl_capath != NULL) {
        mysql_optionsv(handle, MYSQL_OPT_SSL_CAPATH, options->ssl_capath);
    }
    if (options->ssl_cipher != NULL) {
        mysql_optionsv(handle, MYSQL_OPT_SSL_CIPHER, options->ssl_cipher);
    }
}

/*
 * The server chooses the authentication method, and libmariadb follows: it would even send the
 * plain password, with or without TLS, to any server. So only the methods that prove knowledge of
 * the password, or encrypt it, are allowed. False: this libmariadb has no such option.
 */
static bool restrict_methods(MYSQL *handle, const mysql_store_options *options)
{
    return mysql_optionsv(handle, MARIADB_OPT_RESTRICTED_AUTH,
                          options->cleartext ? METHODS "," CLEARTEXT_METHOD : METHODS)
           == 0;
}

static MYSQL *make_handle(const mysql_store_options *options)
{
    static const size_t stack_size = STACK_SIZE;
    static const unsigned off = 0;
    unsigned protocol = options->host != NULL ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
    /* Binding only where a handshake waits, and then of its thread. */
    unsigned timeout_s =
        (unsigned) ((options->connect_timeout_ns + LATCH_NS_PER_S - 1) / LATCH_NS_PER_S);
    MYSQL *handle = mysql_init(NULL);

    if (handle == NULL) {
        return NULL;
    }
    if (mysql_optionsv(handle, MYSQL_OPT_NONBLOCK, &stack_size) != 0) {
        mysql_close(handle);
        return NULL;
    }
    mysql_optionsv(handle, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s);
    mysql_optionsv(handle, MYSQL_OPT_PROTOCOL, &protocol);
    mysql_optionsv(handle, MYSQL_OPT_LOCAL_INFILE, &off);
    mysql_optionsv(handle, MYSQL_SET_CHARSET_NAME, options->charset);
    mysql_optionsv(handle, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", options->program_name);
    set_tls(handle, options);
    return handle;
}

/* The remaining addresses share the remaining time: a silent one must not use it all. */
static void mysql_choose_address(mysql_connection *connection, const struct addrinfo *address,
                                 int64_t now_ns)
{
    int64_t left = 0;

    /* A certificate is compared with the name, which libmariadb resolves again: the resolver
     * knows it by now. */
    connection->address = connection->options->verify ? NULL : address;
    for (const struct addrinfo *one = connection->address; one != NULL; one = one->ai_next) {
        left++;
    }
    connection->address_deadline_ns = left > 1 ? now_ns + (connection->deadline_ns - now_ns) / left
                                               : connection->deadline_ns;
}

static latch_status begin_to_connect(mysql_connection *connection, latch_op *op)
{
    const mysql_store_options *options = connection->options;
    const char *host = options->host;

    if (connection->address != NULL) {
        if (getnameinfo(connection->address->ai_addr, connection->address->ai_addrlen,
                        connection->digits, sizeof(connection->digits), NULL, 0, NI_NUMERICHOST)
            != 0) {
            return fail_to_connect(connection, op, 0, "its address cannot be written");
        }
        host = connection->digits;
    }
    connection->handle = make_handle(options);
    if (connection->handle == NULL) {
        latch_mysql_close(connection);
        return latch_fail_memory(op->error);
    }
    if (!restrict_methods(connection->handle, options)) {
        return fail_to_connect(connection, op, 0,
                               "libmariadb is too old: it cannot be told which methods of "
                               "authentication are allowed");
    }
    connection->stage = MYSQL_CONNECTING;
    connection->call = MYSQL_CONNECT;
    connection->wish = mysql_real_connect_start(&connection->connected, connection->handle, host,
                                                options->user, options->password, options->database,
                                                (unsigned) options->port, options->socket, 0);
    latch_mysql_register_socket(connection);
    return LATCH_DONE;
}

static latch_status mysql_start(mysql_connection *connection, latch_op *op, int64_t now_ns)
{
    const mysql_store_options *options = connection->options;

    connection->deadline_ns = now_ns + options->connect_timeout_ns;
    if (options->host == NULL) {
        mysql_choose_address(connection, NULL, now_ns);
        return begin_to_connect(connection, op);
    }
    connection->resolution =
        latch_resolve_begin(connection->engine, options->host, options->port, op->error);
    if (connection->resolution == NULL) {
        return op->error->status;
    }
    connection->stage = MYSQL_RESOLVING;
    return LATCH_DONE;
}

static latch_status mysql_resolve(mysql_connection *connection, latch_op *op, int64_t now_ns)
{
    const struct addrinfo *addresses;
    latch_status status = latch_resolve_check(connection->resolution, &addresses, op->error);

    if (status == LATCH_WANT_IO) {
        return mysql_want(op, latch_resolve_fd(connection->resolution), POLLIN, LATCH_NEVER);
    }
    if (status != LATCH_DONE) {
        latch_mysql_close(connection);
        return status;
    }
    mysql_choose_address(connection, addresses, now_ns);
    return begin_to_connect(connection, op);
}

/* "Can't connect to server on 'host' (111)" */
static int errno_of(const char *message)
{
    const char *number = strrchr(message, '(');

    return number != NULL ? atoi(number + 1) : 0;
}

static latch_status try_next_address(mysql_connection *connection, latch_op *op, int64_t now_ns)
{
    const struct addrinfo *next = connection->address->ai_next;

    latch_mysql_close_handle(connection);
    mysql_choose_address(connection, next, now_ns);
    return begin_to_connect(connection, op);
}

/*
 * "Authentication plugin 'name' couldn't be found in restricted_auth plugin list." Before version
 * 3.4 the name is garbage where the server has asked for another method than at first.
 */
static latch_status refuse_method(mysql_connection *connection, latch_op *op, const char *message)
{
    const char *name = strchr(message, '\'');
    size_t length = name != NULL ? strspn(++name, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    bool is_name = length > 0 && length <= METHOD_MAX && name[length] == '\'';
    char method[METHOD_MAX + sizeof("the method \"\",")] = "a method", why[256];

    if (is_name) {
        snprintf(method, sizeof(method), "the method \"%.*s\",", (int) length, name);
    }
    snprintf(why, sizeof(why),
             "the server asks for the password by %s which is not allowed; the option "
             "\"enable_cleartext_plugin=1\" allows mysql_clear_password, over a socket or with "
             "ssl_mode=verify_identity",
             method);
    return fail_to_connect(connection, op, 0, why);
}

/* The server's greeting offers no TLS, which the options require: see tls_handshake.c. */
static bool lacks_tls(const mysql_connection *connection)
{
    return connection->options->tls && connection->handle->server_capabilities != 0
           && (connection->handle->server_capabilities & CLIENT_SSL) == 0;
}

static latch_status handle_refused_connect(mysql_connection *connection, latch_op *op,
                                           int64_t now_ns)
{
    unsigned code = mysql_errno(connection->handle);
    const char *message = mysql_error(connection->handle);
    bool is_unreachable = code == CR_CONNECTION_ERROR || code == CR_CONN_HOST_ERROR;
    int why = is_unreachable ? errno_of(message) : 0;

    if (code == CR_OUT_OF_MEMORY) {
        latch_mysql_close(connection);
        return latch_fail_memory(op->error);
    }
    if (code == CR_PLUGIN_NOT_ALLOWED) {
        return refuse_method(connection, op, message);
    }
    if (lacks_tls(connection)) {
        return fail_to_connect(connection, op, 0, NO_TLS);
    }
    if ((is_unreachable || code == CR_SERVER_LOST) && connection->address != NULL
        && connection->address->ai_next != NULL) {
        return try_next_address(connection, op, now_ns);
    }
    return fail_to_connect(connection, op, why, why != 0 ? strerror(why) : message);
}

/* Such a server releases the first lock when it grants a second. */
static bool holds_several_locks(const mysql_connection *connection)
{
    return mysql_get_server_version(connection->handle)
           >= (connection->is_mariadb ? 100002 : 50705);
}

/*
 * The server frees the locks of a client that is gone when its administrator says, mostly after two
 * hours. So a cut of a minute or two costs no session; but a server that was started anew, or
 * another one in its place, is known within 15 s, and one that is gone for good within 135 s.
 */
static void probe_often(const mysql_connection *connection)
{
    static const int on = 1, seconds = 15, count = 8;

    if (connection->options->host != NULL) {
        setsockopt(connection->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
        setsockopt(connection->fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
        setsockopt(connection->fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
        setsockopt(connection->fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    }
}

static latch_status accept_connection(mysql_connection *connection, latch_op *op)
{
    char why[128];

    latch_mysql_wipe_password(connection->handle);
    connection->is_mariadb = mariadb_connection(connection->handle);
    if (!holds_several_locks(connection)) {
        snprintf(why, sizeof(why),
                 "version %.32s holds one lock at a time; MySQL 5.7.5 and MariaDB 10.0.2 hold more",
                 mysql_get_server_info(connection->handle));
        return fail_to_connect(connection, op, 0, why);
    }
    if (connection->options->tls && mysql_get_ssl_cipher(connection->handle) == NULL) {
        /* Without verification libmariadb may connect without TLS. */
        return fail_to_connect(connection, op, 0, NO_TLS);
    }
    if (connection->options->tls) {
        /* libmariadb believes that it blocks, and reads only what there is if it does not. */
        fcntl(connection->fd, F_SETFL, fcntl(connection->fd, F_GETFL) | O_NONBLOCK);
    }
    probe_often(connection);
    connection->setup_step = 0;
    connection->stage = connection->is_one_shot ? MYSQL_CONNECTED : MYSQL_SETTING_UP;
    connection->call = MYSQL_NO_CALL;
    return LATCH_DONE;
}

/* The events that the call waits for and that have come. */
static short poll_socket(const mysql_connection *connection)
{
    struct pollfd descriptor = {.fd = connection->fd,
                                .events = latch_mysql_wished_events(connection)};

    return (short) (poll(&descriptor, 1, 0) > 0 ? descriptor.revents : 0);
}

/* Step of a TLS handshake, once the server is connected. */
static latch_status mysql_handshake_step(mysql_connection *connection, latch_op *op)
{
    mysql_handshake *handshake = &connection->handshake;

    if (!handshake->is_running
        && !latch_mysql_handshake_begin(handshake, connection->engine, connection->handle,
                                        connection->wish)) {
        return fail_to_connect(connection, op, errno, strerror(errno));
    }
    if (!handshake->is_over) {
        return mysql_want(op, handshake->wake.fd, POLLIN, LATCH_NEVER);
    }
    latch_mysql_handshake_end(handshake, connection->engine);
    connection->connected = handshake->connected;
    connection->wish = 0;
    latch_mysql_register_socket(connection);
    return LATCH_DONE;
}

static latch_status continue_connect(mysql_connection *connection, latch_op *op)
{
    short events = connection->handshake.is_running ? 0 : poll_socket(connection);

    if (connection->handshake.is_running
        || (connection->options->tls && events != 0 && (events & (POLLERR | POLLHUP)) == 0)) {
        return mysql_handshake_step(connection, op);
    }
    if (events == 0) {
        return mysql_want(op, connection->fd, latch_mysql_wished_events(connection), LATCH_NEVER);
    }
    latch_mysql_continue(connection, connection->wish & ~MYSQL_WAIT_TIMEOUT);
    return LATCH_DONE;
}

static latch_status await_connection(mysql_connection *connection, latch_op *op, int64_t now_ns)
{
    bool is_next = connection->address != NULL && connection->address->ai_next != NULL;
    latch_status status;

    if (connection->wish == 0) {
        return connection->connected != NULL ? accept_connection(connection, op)
                                             : handle_refused_connect(connection, op, now_ns);
    }
    if (is_next && now_ns >= connection->address_deadline_ns) {
        return try_next_address(connection, op, now_ns);
    }
    status = continue_connect(connection, op);
    if (is_next && status == LATCH_WANT_IO) {
        op->wake_ns = connection->address_deadline_ns;
    }
    return status;
}

#define MYSQL_SETTINGS_SIZE 128

/* ---- Setting up the session ------------------------------------------------------------------ */

/*
 * Settings of a session: it must outlive the pauses of its script (365 days, the maximum), and no
 * time-out of the server may end a wait, but for the one of its user's. A server that refuses them
 * is accepted.
 */
static void write_settings(const mysql_connection *connection, char text[MYSQL_SETTINGS_SIZE])
{
    unsigned long version = mysql_get_server_version(connection->handle);
    bool is_mariadb = connection->is_mariadb;
    bool has_limit = version >= (is_mariadb ? 100101 : 50708);
    char *end = stpcpy(text, "SET SESSION wait_timeout = 31536000");

    if (has_limit) {
        end = stpcpy(end, is_mariadb ? ", max_statement_time = 0" : ", max_execution_time = 0");
    }
    if (connection->lock_timeout_ms > 0) {
        sprintf(end, ", innodb_lock_wait_timeout = %d",
                (int) ((connection->lock_timeout_ms + 999) / 1000));
    }
}

static int64_t first_number(const mysql_connection *connection)
{
    MYSQL_ROW row = connection->result != NULL ? mysql_fetch_row(connection->result) : NULL;

    return row != NULL && row[0] != NULL ? strtoll(row[0], NULL, 10) : 0;
}

/* Sets the session up, and reads its number, as a proxy may have told another one. */
static latch_status set_up_mysql_session(mysql_connection *connection, latch_op *op)
{
    char settings[MYSQL_SETTINGS_SIZE] = "SELECT CONNECTION_ID()";

    if (connection->call == MYSQL_NO_CALL) {
        if (connection->setup_step == 0) {
            write_settings(connection, settings);
        }
        latch_mysql_send(connection, settings);
    }
    if (!latch_mysql_is_answered(connection)) {
        latch_mysql_want(connection, op);
        op->wake_ns = LATCH_NEVER;
        return LATCH_WANT_IO;
    }
    if (connection->fd < 0) {
        return fail_to_connect(connection, op, 0, mysql_error(connection->handle));
    }
    connection->call = MYSQL_NO_CALL;
    if (connection->setup_step++ == 0) {
        return LATCH_DONE;
    }
    connection->number = first_number(connection);
    if (connection->number == 0) {
        return fail_to_connect(connection, op, 0,
                               mysql_errno(connection->handle) != 0
                                   ? mysql_error(connection->handle)
                                   : "it does not tell the session's number");
    }
    connection->stage = MYSQL_CONNECTED;
    return LATCH_DONE;
}

latch_status latch_mysql_connect(mysql_connection *connection, latch_op *op, int64_t now_ns)
{
    latch_status status = LATCH_DONE;

    while (status == LATCH_DONE && connection->stage != MYSQL_CONNECTED) {
        switch (connection->stage) {
            case MYSQL_CLOSED:
                status = mysql_start(connection, op, now_ns);
                break;
            case MYSQL_RESOLVING:
                status = mysql_resolve(connection, op, now_ns);
                break;
            case MYSQL_CONNECTING:
                status = await_connection(connection, op, now_ns);
                break;
            case MYSQL_SETTING_UP:
                status = set_up_mysql_session(connection, op);
                break;
            case MYSQL_CONNECTED:
                break;
        }
    }
    return status;
}
