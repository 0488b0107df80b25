/*
 * The connection to a Redis server. The socket is ours, hiredis writes and reads its protocol: its
 * own ways to connect resolve names with blocking, or take only the first address of a name.
 */
#include "redis_connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A Unix socket whose queue is full says so at once; the server empties it in no time. */
#define BUSY_PAUSE_NS (2 * LATCH_NS_PER_MS)

/* No reply to a script of ours is nearly as long. */
#define REPLY_MAX (64 * 1024)
#define REPLY_ELEMENTS_MAX 16

#if HIREDIS_MAJOR == 0
typedef int element_count;
#else
typedef size_t element_count;
#endif

void latch_redis_connection_init(redis_connection *connection, latch_engine *engine,
                                 const redis_options *options)
{
    memset(connection, 0, sizeof(*connection));
    connection->engine = engine;
    connection->options = options;
    latch_link_init(&connection->calls);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void free_call(redis_connection *connection, redis_call *call)
{
    if (call->reply != NULL) {
        freeReplyObject(call->reply);
    }
    latch_free(connection->engine, call);
}

/* The call's end: its sender finds it in this state, if there still is one. */
static void settle_call(redis_connection *connection, redis_call *call, int state,
                        redisReply *reply)
{
    latch_link_remove(&call->link);
    call->state = state;
    call->reply = reply;
    if (call->abandoned) {
        if (call->settle != NULL) {
            call->settle(call->context, state == REDIS_ANSWERED);
        }
        free_call(connection, call);
    }
}

void latch_redis_call_leave(redis_call *call, void (*settle)(void *context, bool answered),
                            void *context)
{
    call->abandoned = true;
    call->settle = settle;
    call->context = context;
}

void latch_redis_call_free(redis_connection *connection, redis_call *call)
{
    if (call->state == REDIS_UNANSWERED) {
        latch_redis_call_leave(call, NULL, NULL);
    } else {
        free_call(connection, call);
    }
}

/* ---- Closing -------------------------------------------------------------------------------- */

/* Without a word to the server, which for a forked child is the parent's. */
static void close_socket(redis_connection *connection)
{
    if (connection->context != NULL) {
        redisFreeKeepFd(connection->context);
        connection->context = NULL;
    }
    if (connection->has_socket) {
        latch_descriptor_close(connection->engine, &connection->descriptor);
        connection->has_socket = false;
    }
    latch_free(connection->engine, connection->unsent);
    connection->unsent = NULL;
    connection->unsent_length = 0;
}

static void free_greeting(redis_connection *connection)
{
    if (connection->login != NULL) {
        latch_redis_call_free(connection, connection->login);
    }
    if (connection->selection != NULL) {
        latch_redis_call_free(connection, connection->selection);
    }
    connection->login = connection->selection = NULL;
}

void latch_redis_close(redis_connection *connection)
{
    close_socket(connection);
    if (connection->resolution != NULL) {
        latch_resolve_end(connection->resolution);
        connection->resolution = NULL;
    }
    connection->stage = REDIS_CLOSED;
    while (connection->calls.next != &connection->calls) {
        settle_call(connection, LATCH_CONTAINER(connection->calls.next, redis_call, link),
                    REDIS_LOST, NULL);
    }
    free_greeting(connection);
}

/* A connection is its process's: in a forked child the engine has closed the descriptor. */
static void close_if_forked(redis_connection *connection)
{
    if (connection->has_socket && connection->descriptor.fd < 0) {
        latch_redis_close(connection);
    }
}

void latch_redis_forget_stale(redis_connection *connection, int64_t now_ns)
{
    if (connection->stage != REDIS_READY && now_ns >= connection->deadline_ns) {
        latch_redis_close(connection);
    }
}

/* ---- Connecting ----------------------------------------------------------------------------- */

static latch_status fail_to_connect(redis_connection *connection, latch_op *op, int sys_errno,
                                    const char *why)
{
    latch_redis_close(connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, sys_errno, "cannot connect to Redis at %s: %s",
                      connection->options->address, why);
}

static latch_status time_out(redis_connection *connection, latch_op *op)
{
    latch_redis_close(connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                      "cannot connect to Redis at %s within %g s", connection->options->address,
                      (double) connection->options->connect_timeout_ns / (double) LATCH_NS_PER_S);
}

static latch_status want(latch_op *op, int fd, short events, int64_t wake_ns)
{
    op->fd = fd;
    op->events = events;
    op->wake_ns = wake_ns;
    return LATCH_WANT_IO;
}

/* Those that are left share what time is left: one that does not answer must not take it all. */
static void choose_address(redis_connection *connection, const struct addrinfo *address,
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

static latch_status start(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    const redis_options *options = connection->options;

    connection->deadline_ns = now_ns + options->connect_timeout_ns;
    if (options->host != NULL) {
        connection->resolution =
            latch_resolve_begin(connection->engine, options->host, options->port, op->error);
        if (connection->resolution == NULL) {
            return op->error->status;
        }
        connection->stage = REDIS_RESOLVING;
        return LATCH_DONE;
    }
    connection->unix_name.sun_family = AF_UNIX;
    snprintf(connection->unix_name.sun_path, sizeof(connection->unix_name.sun_path), "%s",
             options->path);
    connection->unix_address = (struct addrinfo){
        .ai_family = AF_UNIX,
        .ai_addr = (struct sockaddr *) &connection->unix_name,
        .ai_addrlen = sizeof(connection->unix_name),
    };
    choose_address(connection, &connection->unix_address, now_ns);
    connection->retry_ns = now_ns;
    connection->stage = REDIS_CONNECTING;
    return LATCH_DONE;
}

static latch_status resolve(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    const struct addrinfo *addresses;
    latch_status status = latch_resolve_check(connection->resolution, &addresses, op->error);

    if (status == LATCH_WANT_IO) {
        return want(op, latch_resolve_fd(connection->resolution), POLLIN, connection->deadline_ns);
    }
    if (status != LATCH_DONE) {
        latch_redis_close(connection);
        return status;
    }
    choose_address(connection, addresses, now_ns);
    connection->retry_ns = now_ns;
    connection->stage = REDIS_CONNECTING;
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

/* EINPROGRESS when the socket is being connected now, or why it cannot be. */
static int open_socket(redis_connection *connection)
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

/* 0 when the open socket is connected, EINPROGRESS, or why that failed. */
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

/*
 * Of an array hiredis allocates, and clears, as many elements as are announced, before one of them
 * has come: of a server that is none they may be more than there is memory.
 */
static void *create_array(const redisReadTask *task, element_count count)
{
    const redisReplyObjectFunctions *functions = task->privdata;

    return count <= REPLY_ELEMENTS_MAX ? functions->createArray(task, count) : NULL;
}

static redisContext *create_context(redis_connection *connection)
{
    redisContext *context = redisConnectFd(connection->descriptor.fd);

    if (context != NULL) {
        context->flags &= ~REDIS_BLOCK;
        connection->reply_functions = *context->reader->fn;
        connection->reply_functions.createArray = create_array;
        context->reader->privdata = context->reader->fn;
        context->reader->fn = &connection->reply_functions;
    }
    return context;
}

/* Sends AUTH and SELECT. What is to be done in the database must wait until it is selected. */
static latch_status greet(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    const redis_options *options = connection->options;
    const char *login[] = {"AUTH", options->user, options->password};
    const char *password[] = {"AUTH", options->password};
    char database[16];
    const char *selection[] = {"SELECT", database};

    connection->context = create_context(connection);
    if (connection->context == NULL) {
        latch_redis_close(connection);
        return latch_fail_memory(op->error);
    }
    connection->stage = REDIS_GREETING;
    if (options->password != NULL) {
        connection->login = options->user != NULL
                                ? latch_redis_send(connection, 3, login, NULL, now_ns)
                                : latch_redis_send(connection, 2, password, NULL, now_ns);
    }
    if (options->database != 0) {
        snprintf(database, sizeof(database), "%d", options->database);
        connection->selection = latch_redis_send(connection, 2, selection, NULL, now_ns);
    }
    if ((options->password != NULL && connection->login == NULL)
        || (options->database != 0 && connection->selection == NULL)) {
        latch_redis_close(connection);
        return latch_fail_memory(op->error);
    }
    return LATCH_DONE;
}

/* Opens the socket to the address, or looks how that went; the next address when it failed. */
static latch_status connect_socket(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    int why;

    if (connection->has_socket) {
        why = check_socket(connection, now_ns);
    } else if (now_ns < connection->retry_ns) {
        op->wake_ns = connection->retry_ns;
        return LATCH_WANT_TIMER;
    } else {
        why = open_socket(connection);
    }
    if (why == 0) {
        return greet(connection, op, now_ns);
    }
    if (why == EINPROGRESS) {
        return want(op, connection->descriptor.fd, POLLOUT, connection->address_deadline_ns);
    }
    close_socket(connection);
    connection->retry_ns = now_ns;
    if (why == EAGAIN && connection->address->ai_family == AF_UNIX) {
        connection->retry_ns += BUSY_PAUSE_NS;
    } else if (connection->address->ai_next != NULL) {
        choose_address(connection, connection->address->ai_next, now_ns);
    } else {
        return fail_to_connect(connection, op, why, strerror(why));
    }
    return LATCH_DONE;
}

/*
 * A refused login is told in our own words. What the server says may have the arguments in it, as
 * "unknown command 'AUTH', with args beginning with" has.
 */
static latch_status refuse(redis_connection *connection, latch_op *op, const char *what,
                           const char *answer)
{
    char why[96];

    snprintf(why, sizeof(why), "the server refused %s (%.*s)", what, (int) strcspn(answer, " \r\n"),
             answer);
    return fail_to_connect(connection, op, 0, why);
}

static bool is_error(const redis_call *call)
{
    return call != NULL && call->state == REDIS_ANSWERED && call->reply->type == REDIS_REPLY_ERROR;
}

static bool is_unanswered(const redis_call *call)
{
    return call != NULL && call->state == REDIS_UNANSWERED;
}

static latch_status await_greeting(redis_connection *connection, latch_op *op)
{
    redis_call *login = connection->login, *selection = connection->selection;

    if (!latch_redis_receive(connection)) {
        return fail_to_connect(connection, op, 0, connection->trouble);
    }
    if (is_error(login)) {
        return refuse(connection, op, "the user or the password", login->reply->str);
    }
    if (is_error(selection)) {
        return refuse(connection, op, "the database", selection->reply->str);
    }
    if (is_unanswered(login) || is_unanswered(selection)) {
        return latch_redis_want(connection, connection->deadline_ns, op);
    }
    free_greeting(connection);
    connection->stage = REDIS_READY;
    return LATCH_DONE;
}

latch_status latch_redis_connect(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    latch_status status = LATCH_DONE;

    close_if_forked(connection);
    while (status == LATCH_DONE && connection->stage != REDIS_READY) {
        if (connection->stage != REDIS_CLOSED && now_ns >= connection->deadline_ns) {
            return time_out(connection, op);
        }
        switch (connection->stage) {
            case REDIS_CLOSED:
                status = start(connection, op, now_ns);
                break;
            case REDIS_RESOLVING:
                status = resolve(connection, op, now_ns);
                break;
            case REDIS_CONNECTING:
                status = connect_socket(connection, op, now_ns);
                break;
            case REDIS_GREETING:
                status = await_greeting(connection, op);
                break;
            case REDIS_READY:
                break;
        }
    }
    return status;
}

/* ---- Commands and replies ------------------------------------------------------------------- */

/* How much of it the socket takes now. If it is broken, the reading will tell. */
static size_t write_some(const redis_connection *connection, const char *text, size_t length)
{
    ssize_t count = send(connection->descriptor.fd, text, length, MSG_NOSIGNAL);

    return count > 0 ? (size_t) count : 0;
}

static void write_unsent(redis_connection *connection)
{
    size_t count;

    if (connection->unsent_length == 0) {
        return;
    }
    count = write_some(connection, connection->unsent, connection->unsent_length);
    connection->unsent_length -= count;
    memmove(connection->unsent, connection->unsent + count, connection->unsent_length);
    if (connection->unsent_length == 0) {
        latch_free(connection->engine, connection->unsent);
        connection->unsent = NULL;
    }
}

static bool keep_unsent(redis_connection *connection, const char *text, size_t length)
{
    char *longer = latch_allocate(connection->engine, connection->unsent_length + length);

    if (longer == NULL) {
        return false;
    }
    if (connection->unsent_length > 0) {
        memcpy(longer, connection->unsent, connection->unsent_length);
        latch_free(connection->engine, connection->unsent);
    }
    memcpy(longer + connection->unsent_length, text, length);
    connection->unsent = longer;
    connection->unsent_length += length;
    return true;
}

/* False when memory ran out. */
static bool write_command(redis_connection *connection, int count, const char **arguments,
                          const size_t *lengths)
{
    char *text = NULL;
    long long length = redisFormatCommandArgv(&text, count, arguments, lengths);
    size_t written = 0;
    bool kept = true;

    if (length < 0) {
        return false;
    }
    if (connection->unsent_length == 0) {
        written = write_some(connection, text, (size_t) length);
    }
    if (written < (size_t) length) {
        kept = keep_unsent(connection, text + written, (size_t) length - written);
    }
    redisFreeCommand(text);
    if (!kept && written > 0) {
        latch_redis_close(connection); /* in the middle of a command */
    }
    return kept;
}

redis_call *latch_redis_send(redis_connection *connection, int count, const char **arguments,
                             const size_t *lengths, int64_t now_ns)
{
    redis_call *call;

    if (connection->context == NULL) {
        return NULL; /* the last command broke it */
    }
    call = latch_allocate(connection->engine, sizeof(*call));
    if (call == NULL) {
        return NULL;
    }
    if (!write_command(connection, count, arguments, lengths)) {
        latch_free(connection->engine, call);
        return NULL;
    }
    call->state = REDIS_UNANSWERED;
    call->abandoned = false;
    call->reply = NULL;
    call->deadline_ns = now_ns + connection->options->command_timeout_ns;
    latch_link_append(&connection->calls, &call->link);
    return call;
}

/* Why the connection cannot be used any more, for an error message. */
static bool give_up(redis_connection *connection, const char *trouble)
{
    snprintf(connection->trouble, sizeof(connection->trouble), "%s", trouble);
    latch_redis_close(connection);
    return false;
}

/* Gives the replies that are complete to their calls; false when they make no sense. */
static bool deal_out(redis_connection *connection)
{
    void *reply = NULL;

    while (redisGetReplyFromReader(connection->context, &reply) == REDIS_OK) {
        if (reply == NULL) {
            return connection->context->reader->len <= REPLY_MAX;
        }
        if (connection->calls.next == &connection->calls) {
            freeReplyObject(reply); /* nobody has asked for it */
            return false;
        }
        settle_call(connection, LATCH_CONTAINER(connection->calls.next, redis_call, link),
                    REDIS_ANSWERED, reply);
    }
    return false;
}

bool latch_redis_receive(redis_connection *connection)
{
    int result;

    close_if_forked(connection);
    if (connection->context == NULL) {
        return connection->stage != REDIS_CLOSED;
    }
    write_unsent(connection);
    result = redisBufferRead(connection->context);
    /* What came before the end counts: "max number of clients reached" is said and then done. */
    if (!deal_out(connection)) {
        return give_up(connection, "the server does not speak Redis's protocol");
    }
    if (result != REDIS_OK) {
        return give_up(connection, "the server closed the connection");
    }
    return true;
}

latch_status latch_redis_want(const redis_connection *connection, int64_t wake_ns, latch_op *op)
{
    return want(op, connection->descriptor.fd,
                connection->unsent_length > 0 ? POLLIN | POLLOUT : POLLIN, wake_ns);
}
