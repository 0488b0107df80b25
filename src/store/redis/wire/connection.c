/*
 * Connecting: address, socket, TLS, handshake, time-outs. The socket is ours: hiredis' own ways to
 * connect resolve names with blocking, or take only the first address of a name.
 */
#include "src/store/redis/wire/connection.h"
#include "src/engine/store.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Pause for a Unix socket whose accept queue is full; the server empties it in no time. */
#define BUSY_PAUSE_NS (2 * LATCH_NS_PER_MS)

void latch_redis_connection_init(redis_connection *connection, latch_engine *engine,
                                 const redis_options *options)
{
    memset(connection, 0, sizeof(*connection));
    connection->engine = engine;
    connection->options = options;
    connection->transport = &latch_redis_socket;
    connection->source = &latch_redis_fixed_address;
    connection->place = options->places;
    connection->elements_max = REDIS_ELEMENTS_MAX;
    latch_list_init(&connection->calls);
}

/* ---- Closing -------------------------------------------------------------------------------- */

/* Closes the socket without a word to the server, which for a forked child is the parent's. */
static void close_socket(redis_connection *connection)
{
    if (connection->context != NULL) {
        redisFreeKeepFd(connection->context);
        connection->context = NULL;
    }
    if (connection->tls != NULL) {
        latch_redis_tls_end(connection->engine, connection->tls);
        connection->tls = NULL;
    }
    if (connection->has_socket) {
        latch_descriptor_close(connection->engine, &connection->descriptor);
        connection->has_socket = false;
    }
    latch_free(connection->engine, connection->unsent);
    connection->unsent = NULL;
    connection->unsent_length = 0;
}

void latch_redis_close(redis_connection *connection)
{
    close_socket(connection);
    if (connection->resolution != NULL) {
        latch_resolve_end(connection->resolution);
        connection->resolution = NULL;
    }
    if (connection->stage > REDIS_DISCOVERING) {
        connection->source->suspect(connection);
    }
    connection->stage = REDIS_CLOSED;
    latch_redis_calls_lost(connection);
    latch_redis_end_handshake(connection);
}

int64_t latch_redis_reply_age_ns(const redis_connection *connection, int64_t now_ns)
{
    const redis_call *first = LATCH_CONTAINER(connection->calls.next, redis_call, link);

    if (connection->stage != REDIS_READY || connection->calls.next == &connection->calls) {
        return 0;
    }
    return now_ns - (first->deadline_ns - connection->options->command_timeout_ns);
}

static bool is_reply_overdue(const redis_connection *connection, int64_t now_ns)
{
    return latch_redis_reply_age_ns(connection, now_ns) >= connection->options->command_timeout_ns;
}

bool latch_redis_close_stale(redis_connection *connection, int64_t now_ns)
{
    /* The reply may have come long ago, unread. */
    if (is_reply_overdue(connection, now_ns) && connection->transport->receive(connection)
        && is_reply_overdue(connection, now_ns)) {
        latch_redis_close(connection);
        return true;
    }
    if (connection->stage != REDIS_READY && connection->stage != REDIS_CLOSED
        && now_ns >= connection->deadline_ns) {
        latch_redis_close(connection);
    }
    return false;
}

/* ---- Which server --------------------------------------------------------------------------- */

const char *latch_redis_address(const redis_connection *connection)
{
    return connection->place != NULL ? connection->place->address : connection->options->address;
}

/* ---- Connecting ----------------------------------------------------------------------------- */

latch_status latch_redis_fail_to_connect(redis_connection *connection, latch_op *op, int sys_errno,
                                         const char *why)
{
    latch_redis_close(connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, sys_errno, "cannot connect to Redis at %s: %s",
                      latch_redis_address(connection), why);
}

/* Time-out of an attempt to connect, for this request. */
static int64_t connect_timeout_ns_for(const redis_connection *connection, const latch_op *op)
{
    int64_t timeout_ns = connection->options->connect_timeout_ns;
    int64_t response_timeout_ms = op->request.response_timeout_ms;

    return response_timeout_ms > 0 && response_timeout_ms < timeout_ns / LATCH_NS_PER_MS
               ? response_timeout_ms * LATCH_NS_PER_MS
               : timeout_ns;
}

/* ---- A fixed address ------------------------------------------------------------------------- */

bool latch_redis_is_connect_silent(const redis_connection *connection, int64_t now_ns)
{
    return connection->stage >= REDIS_CONNECTING
           && now_ns - connection->connecting_ns >= LATCH_BREAKER_TIMEOUT_NS;
}

static void fixed_begin(redis_connection *connection, const latch_op *op, int64_t now_ns)
{
    (void) connection;
    (void) op;
    (void) now_ns;
}

static latch_status fixed_find(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    (void) connection;
    (void) op;
    (void) now_ns;
    return LATCH_DONE;
}

static void fixed_suspect(redis_connection *connection)
{
    (void) connection;
}

static latch_status fixed_record_failure(redis_connection *connection, latch_op *op, int sys_errno,
                                         const char *why, int64_t now_ns)
{
    (void) now_ns;
    return latch_redis_fail_to_connect(connection, op, sys_errno, why);
}

static latch_status fixed_describe_timeout(redis_connection *connection, latch_op *op,
                                           double seconds, int64_t now_ns)
{
    (void) now_ns;
    return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                      "cannot connect to Redis at %s within %g s%s",
                      latch_redis_address(connection), seconds,
                      connection->stage == REDIS_ENCRYPTING ? ": " REDIS_NO_HANDSHAKE : "");
}

const redis_address_source latch_redis_fixed_address = {
    .begin = fixed_begin,
    .find = fixed_find,
    .suspect = fixed_suspect,
    .record_failure = fixed_record_failure,
    .describe_timeout = fixed_describe_timeout,
};

/* ---- Waiting --------------------------------------------------------------------------------- */

latch_status latch_redis_fail_unconnected(redis_connection *connection, latch_op *op,
                                          double seconds, int64_t now_ns)
{
    return connection->source->describe_timeout(connection, op, seconds, now_ns);
}

static latch_status fail_connect_timeout(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    double seconds = (double) connect_timeout_ns_for(connection, op) / (double) LATCH_NS_PER_S;
    latch_status status = latch_redis_fail_unconnected(connection, op, seconds, now_ns);

    latch_redis_close(connection);
    return status;
}

static latch_status want_connection(latch_op *op, int fd, short events, int64_t wake_ns)
{
    op->fd = fd;
    op->events = events;
    op->wake_ns = wake_ns;
    return LATCH_WANT_IO;
}

void latch_redis_wake_to_recheck(const redis_connection *connection, latch_op *op)
{
    int64_t recheck_ns;

    if (connection->source->recheck_ns > 0) {
        recheck_ns = latch_engine_now_ns(connection->engine) + connection->source->recheck_ns;
        op->wake_ns = recheck_ns < op->wake_ns ? recheck_ns : op->wake_ns;
    }
}

/* Addresses left share the time left: one that does not answer must not take it all. */
static void start_address(redis_connection *connection, const struct addrinfo *address,
                          int64_t now_ns)
{
    int64_t left = 0;

    connection->address = address;
    for (const struct addrinfo *one = address; one != NULL; one = one->ai_next) {
        left++;
    }
    if (left > 0) {
        connection->address_deadline_ns = now_ns + (connection->deadline_ns - now_ns) / left;
    }
}

/* Not to be called while a name is looked up, which may take as long as the store has time. */
void latch_redis_tighten_deadline(redis_connection *connection, const latch_op *op)
{
    int64_t since_ns = op->sent_ns > connection->connecting_ns ? op->sent_ns
                                                               : connection->connecting_ns;
    int64_t end_ns = since_ns + connect_timeout_ns_for(connection, op);

    if (end_ns < connection->deadline_ns) {
        connection->deadline_ns = end_ns;
    }
}

static void start_addresses(redis_connection *connection, const latch_op *op,
                            const struct addrinfo *addresses, int64_t now_ns)
{
    connection->connecting_ns = now_ns;
    latch_redis_tighten_deadline(connection, op);
    start_address(connection, addresses, now_ns);
    connection->retry_ns = now_ns;
    connection->stage = REDIS_CONNECTING;
}

/* Starts the lookup of the host's name, or takes the socket's path. */
static latch_status start_resolving(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    const redis_place *place = connection->place;

    if (place->host != NULL) {
        connection->resolution =
            latch_resolve_begin(connection->engine, place->host, place->port, op->error);
        if (connection->resolution == NULL) {
            latch_redis_close(connection);
            return op->error->status;
        }
        connection->stage = REDIS_RESOLVING;
        return LATCH_DONE;
    }
    connection->unix_name.sun_family = AF_UNIX;
    snprintf(connection->unix_name.sun_path, sizeof(connection->unix_name.sun_path), "%s",
             place->path);
    connection->unix_address = (struct addrinfo){
        .ai_family = AF_UNIX,
        .ai_addr = (struct sockaddr *) &connection->unix_name,
        .ai_addrlen = sizeof(connection->unix_name),
    };
    start_addresses(connection, op, &connection->unix_address, now_ns);
    return LATCH_DONE;
}

static latch_status start_connecting(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    connection->begun_ns = now_ns;
    connection->has_replied = false;
    connection->deadline_ns = now_ns + connection->options->connect_timeout_ns;
    connection->stage = REDIS_DISCOVERING;
    connection->retry_ns = now_ns;
    connection->source->begin(connection, op, now_ns);
    return LATCH_DONE;
}

/* Asks the address source. */
static latch_status discover(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    latch_status status;

    if (now_ns < connection->retry_ns) {
        op->wake_ns = connection->retry_ns < connection->deadline_ns ? connection->retry_ns
                                                                     : connection->deadline_ns;
        return LATCH_WANT_TIMER;
    }
    status = connection->source->find(connection, op, now_ns);
    if (latch_failed(status)) {
        latch_redis_close(connection);
    }
    return status == LATCH_DONE ? start_resolving(connection, op, now_ns) : status;
}

static latch_status resolve_host(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    const struct addrinfo *addresses;
    latch_status status = latch_resolve_check(connection->resolution, &addresses, op->error);

    if (status == LATCH_WANT_IO) {
        return want_connection(op, latch_resolve_fd(connection->resolution), POLLIN,
                               connection->deadline_ns);
    }
    if (status != LATCH_DONE) {
        latch_redis_close(connection);
        return status;
    }
    start_addresses(connection, op, addresses, now_ns);
    return LATCH_DONE;
}

static void set_socket_options(const redis_connection *connection, int fd)
{
    static const int on = 1;
    int seconds = connection->options->keepalive_s;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (seconds > 0) {
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
    }
}

/* Opens a socket: EINPROGRESS when it is connecting, or why it cannot. */
static int open_connection_socket(redis_connection *connection)
{
    const struct addrinfo *address = connection->address;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), why;

    if (fd < 0) {
        return errno;
    }
    if (address->ai_family != AF_UNIX) {
        set_socket_options(connection, fd);
    }
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS) {
        why = errno;
        close(fd);
        return why;
    }
    latch_descriptor_register(connection->engine, &connection->descriptor, fd);
    connection->has_socket = true;
    return EINPROGRESS;
}

/* Checks a connecting socket: 0 when it is connected, EINPROGRESS, or why it failed. */
static int check_socket(const redis_connection *connection, int64_t now_ns)
{
    struct pollfd descriptor = {.fd = connection->descriptor.fd, .events = POLLOUT};
    socklen_t size = sizeof(int);
    int why = 0;

    if (poll(&descriptor, 1, 0) <= 0) {
        return now_ns < connection->address_deadline_ns ? EINPROGRESS : ETIMEDOUT;
    }
    return getsockopt(descriptor.fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 ? why : errno;
}

/* Tries the next address after a failure; or the same, if it was but busy. */
static latch_status retry_address(redis_connection *connection, latch_op *op, int sys_errno,
                                  const char *why, int64_t now_ns)
{
    const struct addrinfo *address = connection->address;

    close_socket(connection);
    connection->stage = REDIS_CONNECTING;
    connection->retry_ns = now_ns;
    if (sys_errno == EAGAIN && address->ai_family == AF_UNIX) {
        connection->retry_ns += BUSY_PAUSE_NS;
    } else if (address->ai_next != NULL) {
        start_address(connection, address->ai_next, now_ns);
    } else {
        return connection->source->record_failure(connection, op, sys_errno, why, now_ns);
    }
    return LATCH_DONE;
}

static latch_status encrypt(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    latch_error error;
    latch_status status = LATCH_DONE;

    if (connection->tls == NULL) {
        status = latch_redis_tls_begin(connection->options->tls, connection->engine,
                                       &connection->descriptor, connection->place->host,
                                       &connection->tls, &error);
    }
    if (status == LATCH_DONE) {
        status = latch_redis_tls_handshake(connection->tls, &error);
    }
    if (status == LATCH_DONE) {
        return latch_redis_start_handshake(connection, op, now_ns);
    }
    if (status == LATCH_WANT_IO && now_ns < connection->address_deadline_ns) {
        return want_connection(op, connection->descriptor.fd,
                               latch_redis_tls_events(connection->tls, false),
                               connection->address_deadline_ns);
    }
    if (status == LATCH_ERROR_MEMORY) {
        latch_redis_close(connection);
        return latch_fail_memory(op->error);
    }
    return status == LATCH_WANT_IO
               ? retry_address(connection, op, ETIMEDOUT, REDIS_NO_HANDSHAKE, now_ns)
               : retry_address(connection, op, 0, error.message, now_ns);
}

/* Opens the socket to the address, or checks it; the next address after a failure. */
static latch_status connect_socket(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    int why;

    if (connection->has_socket) {
        why = check_socket(connection, now_ns);
    } else if (now_ns < connection->retry_ns) {
        op->wake_ns = connection->retry_ns;
        return LATCH_WANT_TIMER;
    } else {
        why = open_connection_socket(connection);
    }
    if (why == 0 && connection->options->tls != NULL) {
        connection->stage = REDIS_ENCRYPTING;
        return LATCH_DONE;
    }
    if (why == 0) {
        return latch_redis_start_handshake(connection, op, now_ns);
    }
    if (why == EINPROGRESS) {
        return want_connection(op, connection->descriptor.fd, POLLOUT,
                               connection->address_deadline_ns);
    }
    return retry_address(connection, op, why, strerror(why), now_ns);
}

static bool is_current(redis_connection *connection)
{
    return connection->source->is_current == NULL || connection->source->is_current(connection);
}

static latch_status connect_until_ready(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    latch_status status = LATCH_DONE;

    if (connection->stage != REDIS_CLOSED && connection->stage != REDIS_RESOLVING) {
        latch_redis_tighten_deadline(connection, op);
    }
    if (connection->stage > REDIS_DISCOVERING && !is_current(connection)) {
        connection->source->record_failure(connection, op, 0, "another one has become the master",
                                           now_ns);
        connection->retry_ns = now_ns;
    }
    while (status == LATCH_DONE && connection->stage != REDIS_READY) {
        if (connection->stage != REDIS_CLOSED && now_ns >= connection->deadline_ns) {
            return fail_connect_timeout(connection, op, now_ns);
        }
        switch (connection->stage) {
            case REDIS_CLOSED:
                status = start_connecting(connection, op, now_ns);
                break;
            case REDIS_DISCOVERING:
                status = discover(connection, op, now_ns);
                break;
            case REDIS_RESOLVING:
                status = resolve_host(connection, op, now_ns);
                break;
            case REDIS_CONNECTING:
                status = connect_socket(connection, op, now_ns);
                break;
            case REDIS_ENCRYPTING:
                status = encrypt(connection, op, now_ns);
                break;
            case REDIS_HANDSHAKE:
                status = latch_redis_await_handshake(connection, op, now_ns);
                break;
            case REDIS_READY:
                break;
        }
    }
    if (latch_wants(status)) {
        latch_redis_wake_to_recheck(connection, op);
    }
    return status;
}

latch_status latch_redis_connect(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    latch_status status = LATCH_DONE;

    latch_redis_close_if_forked(connection);
    if (connection->stage == REDIS_READY
        && !(connection->is_batching && connection->unsent_length > 0)) {
        /* Before anything is sent: what is there already is no answer to it. */
        latch_redis_receive(connection);
    }
    if (connection->stage == REDIS_READY) {
        return LATCH_DONE;
    }
    if (connection->is_batching && latch_failed(connection->failure.status)) {
        *op->error = connection->failure;
        return op->error->status;
    }
    status = connect_until_ready(connection, op, now_ns);
    if (latch_failed(status)) {
        connection->failure = *op->error;
    }
    return status;
}
