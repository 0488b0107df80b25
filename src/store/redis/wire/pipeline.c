/*
 * Pipeline: the socket transport's commands and replies. The first unanswered command has the next
 * reply, which hiredis parses.
 */
#include "src/store/redis/wire/connection.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Size of a read, and reads in a row while TLS has more. */
#define READ_MAX (16 * 1024)
#define READINGS_MAX 64

#if HIREDIS_MAJOR == 0
typedef int element_count;
#else
typedef size_t element_count;
#endif

/* ---- Calls ---------------------------------------------------------------------------------- */

void latch_redis_call_destroy(redis_connection *connection, redis_call *call)
{
    if (call->reply != NULL && call->owns_reply) {
        freeReplyObject(call->reply);
    }
    latch_free(connection->engine, call->block);
    latch_free(connection->engine, call);
}

void latch_redis_call_complete(redis_connection *connection, redis_call *call, int state,
                               redisReply *reply)
{
    latch_list_remove(&call->link);
    call->state = state;
    call->reply = reply;
    if (call->abandoned) {
        if (call->settle != NULL) {
            call->settle(call->context, reply);
        }
        latch_redis_call_destroy(connection, call);
    }
}

void latch_redis_calls_lost(redis_connection *connection)
{
    while (connection->calls.next != &connection->calls) {
        latch_redis_call_complete(connection,
                                  LATCH_CONTAINER(connection->calls.next, redis_call, link),
                                  REDIS_LOST, NULL);
    }
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* Longest line with a size_t. */
#define LINE_MAX_LENGTH sizeof("$18446744073709551615\r\n")

/* Writes a line such as "$12\r\n" and returns its end. */
static char *write_line(char *at, char kind, size_t number)
{
    char digits[LINE_MAX_LENGTH], *first = digits + sizeof(digits);

    do {
        *--first = (char) ('0' + number % 10);
        number /= 10;
    } while (number > 0);
    *at++ = kind;
    while (first < digits + sizeof(digits)) {
        *at++ = *first++;
    }
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

/*
 * Formats a command, as redisFormatCommandArgv(), which goes by sprintf() and takes longer than all
 * the rest of us.
 */
static size_t format_command(char *text, const redis_command *command)
{
    char *at = write_line(text, '*', command->count);

    for (size_t argument = 0; argument < command->count; argument++) {
        at = write_line(at, '$', command->lengths[argument]);
        memcpy(at, command->arguments[argument], command->lengths[argument]);
        at += command->lengths[argument];
        *at++ = '\r';
        *at++ = '\n';
    }
    return (size_t) (at - text);
}

static size_t formatted_size(const redis_command *command)
{
    size_t size = LINE_MAX_LENGTH;

    for (size_t argument = 0; argument < command->count; argument++) {
        size += LINE_MAX_LENGTH + command->lengths[argument] + sizeof("\r\n");
    }
    return size;
}

/* Writes as much as the socket takes now. A broken one shows at the next read. */
static size_t write_to_socket(const redis_connection *connection, const char *text, size_t length)
{
    ssize_t count;

    if (connection->tls != NULL) {
        return latch_redis_tls_write(connection->tls, text, length);
    }
    count = send(connection->descriptor.fd, text, length, MSG_NOSIGNAL);

    return count > 0 ? (size_t) count : 0;
}

static void write_unsent(redis_connection *connection)
{
    size_t count;

    if (connection->unsent_length == 0 || connection->is_batching) {
        return;
    }
    count = write_to_socket(connection, connection->unsent, connection->unsent_length);
    connection->unsent_length -= count;
    memmove(connection->unsent, connection->unsent + count, connection->unsent_length);
    if (connection->unsent_length == 0) {
        latch_free(connection->engine, connection->unsent);
        connection->unsent = NULL;
    }
}

static bool append_unsent(redis_connection *connection, const char *text, size_t length)
{
    size_t needed = connection->unsent_length + length;

    /* Twice as much, as a server that is silent may be sent very many commands. */
    if (connection->unsent == NULL || needed > connection->unsent_size) {
        char *longer = latch_allocate(connection->engine, 2 * needed);

        if (longer == NULL) {
            return false;
        }
        if (connection->unsent_length > 0) {
            memcpy(longer, connection->unsent, connection->unsent_length);
            latch_free(connection->engine, connection->unsent);
        }
        connection->unsent = longer;
        connection->unsent_size = 2 * needed;
    }
    memcpy(connection->unsent + connection->unsent_length, text, length);
    connection->unsent_length = needed;
    return true;
}

/* Writes a command, or buffers it; false when memory ran out. */
static bool write_command(redis_connection *connection, const redis_command *command)
{
    char small[1024], *text = small;
    size_t size = formatted_size(command), length, written = 0;
    bool kept = true;

    if (size > sizeof(small)) {
        text = latch_allocate(connection->engine, size);
        if (text == NULL) {
            return false;
        }
    }
    length = format_command(text, command);
    if (connection->unsent_length == 0 && !connection->is_batching) {
        written = write_to_socket(connection, text, length);
    }
    if (written < length) {
        kept = append_unsent(connection, text + written, length - written);
    }
    if (text != small) {
        latch_free(connection->engine, text);
    }
    if (!kept && (written > 0 || (connection->tls != NULL && connection->tls->is_writing))) {
        latch_redis_close(connection); /* in the middle of a command */
    }
    return kept;
}

redis_call *latch_redis_send(redis_connection *connection, const redis_command *command,
                             int64_t now_ns)
{
    redis_call *call;

    if (connection->context == NULL) {
        return NULL; /* the last command broke it */
    }
    call = latch_allocate(connection->engine, sizeof(*call));
    if (call == NULL) {
        return NULL;
    }
    if (!write_command(connection, command)) {
        latch_free(connection->engine, call);
        return NULL;
    }
    call->state = REDIS_UNANSWERED;
    call->abandoned = false;
    call->reply = NULL;
    call->owns_reply = true;
    call->block = NULL;
    call->deadline_ns = now_ns + connection->options->command_timeout_ns;
    latch_list_append(&connection->calls, &call->link);
    return call;
}

void latch_redis_batch(redis_connection *connection, bool on)
{
    connection->is_batching = on;
    connection->failure.status = LATCH_DONE;
    if (!on && connection->context != NULL) {
        write_unsent(connection);
    }
}

/* ---- Replies -------------------------------------------------------------------------------- */

/*
 * Limits arrays: hiredis allocates as many elements as are announced, before one of them has come,
 * which may be more than there is memory.
 */
static void *create_array(const redisReadTask *task, element_count count)
{
    const redis_connection *connection = task->privdata;
    size_t most = connection->long_replies > 0 ? REDIS_LONG_ELEMENTS_MAX : connection->elements_max;

    return (size_t) count <= most ? connection->own_functions->createArray(task, count) : NULL;
}

bool latch_redis_make_context(redis_connection *connection)
{
    redisContext *context = redisConnectFd(connection->descriptor.fd);

    if (context != NULL) {
        context->flags &= ~REDIS_BLOCK;
        connection->reply_functions = *context->reader->fn;
        connection->reply_functions.createArray = create_array;
        connection->own_functions = context->reader->fn;
        context->reader->privdata = connection;
        context->reader->fn = &connection->reply_functions;
    }
    connection->context = context;
    connection->has_replied = false;
    return context != NULL;
}

void latch_redis_quote(char *quoted, size_t size, const char *text, size_t length)
{
    size_t count = length < size ? length : size - 1;

    for (size_t at = 0; at < count; at++) {
        quoted[at] = text[at] >= ' ' && text[at] <= '~' ? text[at] : '?';
    }
    quoted[count] = '\0';
}

void latch_redis_quote_error(char *quoted, size_t size, const char *text, const char *secret)
{
    const char *arguments = strstr(text, ", with args");
    size_t length = arguments != NULL ? (size_t) (arguments - text) : strcspn(text, "\r\n");

    while (length > 0 && text[length - 1] == '.') {
        length--;
    }
    if (secret != NULL && *secret != '\0' && memmem(text, length, secret, strlen(secret)) != NULL) {
        length = strcspn(text, " ");
    }
    latch_redis_quote(quoted, size, text, length);
}

/* Closes the connection, with a reason for messages. */
static bool close_for(redis_connection *connection, const char *trouble)
{
    snprintf(connection->trouble, sizeof(connection->trouble), "%.*s",
             (int) sizeof(connection->trouble) - 1, trouble);
    latch_redis_close(connection);
    return false;
}

/*
 * Guess why a server has closed the connection without a word. One that expects TLS does so at the
 * first command.
 */
static const char *guess_close_reason(const redis_connection *connection)
{
    return connection->has_replied || connection->tls != NULL || connection->place->host == NULL
               ? "the server closed the connection"
               : "the server closed the connection, without an answer to anything; if it expects "
                 "TLS there, that is \"rediss:\"";
}

/* Feeds the reader. False at the connection's end, with the reason in `why`. */
static bool read_from_socket(redis_connection *connection, latch_error *why)
{
    char text[READ_MAX];
    ssize_t count;

    if (connection->tls == NULL) {
        if (redisBufferRead(connection->context) != REDIS_OK) {
            latch_fail(why, LATCH_ERROR_STORE, 0, "%s", guess_close_reason(connection));
            return false;
        }
        return true;
    }
    count = latch_redis_tls_read(connection->tls, text, sizeof(text), why);
    if (count > 0
        && redisReaderFeed(connection->context->reader, text, (size_t) count) != REDIS_OK) {
        latch_fail_memory(why);
        return false;
    }
    return count >= 0;
}

/* Completes calls with their replies; false when the replies make no sense. */
static bool dispatch_replies(redis_connection *connection)
{
    void *reply = NULL;
    size_t most = connection->long_replies > 0 ? REDIS_LONG_REPLY_MAX : REDIS_REPLY_MAX;

    while (redisGetReplyFromReader(connection->context, &reply) == REDIS_OK) {
        if (reply == NULL) {
            return connection->context->reader->len <= most;
        }
        connection->has_replied = true;
        if (connection->calls.next == &connection->calls) {
            bool wanted = connection->push != NULL;

            if (wanted) {
                connection->push(connection->push_context, reply);
            }
            freeReplyObject(reply);
            if (!wanted) {
                return false; /* unexpected push message */
            }
            continue;
        }
        latch_redis_call_complete(connection,
                                  LATCH_CONTAINER(connection->calls.next, redis_call, link),
                                  REDIS_ANSWERED, reply);
    }
    return false;
}

bool latch_redis_receive(redis_connection *connection)
{
    latch_error why;
    bool is_open = true;

    latch_redis_close_if_forked(connection);
    if (connection->context == NULL) {
        return connection->stage != REDIS_CLOSED;
    }
    if (connection->source->is_current != NULL && !connection->source->is_current(connection)) {
        return close_for(connection, "another server has become the master");
    }
    if (connection->unsent_length > 0) {
        write_unsent(connection);
    }
    for (int reading = 0; reading < READINGS_MAX && is_open; reading++) {
        is_open = read_from_socket(connection, &why);
        /* Replies before the end count: "max number of clients reached" is said and then done. */
        if (!dispatch_replies(connection)) {
            return close_for(connection, "the server does not speak Redis's protocol");
        }
        if (connection->tls == NULL || !connection->tls->has_more) {
            break;
        }
    }
    return is_open || close_for(connection, why.message);
}

/* ---- The transport --------------------------------------------------------------------------- */

/* Reads first: what is there before a command is sent is no reply to it. */
static latch_status prepare_socket(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    bool is_kept_back = connection->is_batching && connection->unsent_length > 0;

    return connection->stage == REDIS_READY && !is_kept_back && latch_redis_receive(connection)
               ? LATCH_DONE
               : latch_redis_connect(connection, op, now_ns);
}

const redis_transport latch_redis_socket = {
    .prepare = prepare_socket,
    .send = latch_redis_send,
    .receive = latch_redis_receive,
};
