#include "reply_server.h"
#include "expect.h"
#include "redis_scripts.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void append(bytes *to, const char *text, size_t length)
{
    if (to->size <= to->length + length) {
        to->size = 2 * (to->length + length) + 1024;
        to->text = realloc(to->text, to->size);
        EXPECT(to->text != NULL);
    }
    if (length > 0) {
        memcpy(to->text + to->length, text, length);
    }
    to->length += length;
    to->text[to->length] = '\0';
}

static void clear(bytes *which)
{
    which->length = 0;
    append(which, "", 0);
}

static void remove_first(bytes *from, size_t length)
{
    from->length -= length;
    memmove(from->text, from->text + length, from->length + 1);
}

/* ---- Scripts -------------------------------------------------------------------------------- */

void reply_server_digest(void *context, latch_digest kind, const struct iovec *parts,
                         int part_count, uint8_t digest[LATCH_DIGEST_MAX])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    (void) context;
    (void) kind;
    for (int part = 0; part < part_count; part++) {
        for (size_t at = 0; at < parts[part].iov_len; at++) {
            hash = (hash ^ ((const uint8_t *) parts[part].iov_base)[at]) * UINT64_C(0x100000001b3);
        }
    }
    for (size_t at = 0; at < LATCH_DIGEST_MAX; at++) {
        digest[at] = (uint8_t) (hash >> at % 8 * 8);
    }
}

static const char *const scripts[] = {
    [COMMAND_ACQUIRE] = REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE,
    [COMMAND_ACQUIRE_SHARED] = REDIS_LUA_CLOCK REDIS_LUA_ACQUIRE_SHARED,
    [COMMAND_REFRESH] = REDIS_LUA_CLOCK REDIS_LUA_REFRESH,
    [COMMAND_RELEASE] = REDIS_LUA_CLOCK REDIS_LUA_RELEASE,
    [COMMAND_LET_GO] = REDIS_LUA_LET_GO,
    [COMMAND_PROBE] = REDIS_LUA_CLOCK REDIS_LUA_PROBE,
    [COMMAND_VERSION] = REDIS_LUA_CLOCK REDIS_LUA_REQUESTS REDIS_LUA_VERSION,
    [COMMAND_THROTTLE] = REDIS_LUA_CLOCK REDIS_LUA_REQUESTS REDIS_LUA_THROTTLE,
    [COMMAND_COUNT_DOWN] = REDIS_LUA_CLOCK REDIS_LUA_REQUESTS REDIS_LUA_COUNT_DOWN,
    [COMMAND_SEQUENCE] = REDIS_LUA_CLOCK REDIS_LUA_REQUESTS REDIS_LUA_SEQUENCE,
    [COMMAND_DEBOUNCE] = REDIS_LUA_CLOCK REDIS_LUA_REQUESTS REDIS_LUA_DEBOUNCE,
};

#define SCRIPTS_END (sizeof(scripts) / sizeof(*scripts))

static command_kind find_script(const char *text, size_t length)
{
    for (size_t kind = COMMAND_ACQUIRE; kind < SCRIPTS_END; kind++) {
        if (strlen(scripts[kind]) == length && memcmp(scripts[kind], text, length) == 0) {
            return (command_kind) kind;
        }
    }
    EXPECT(!"a script of ours");
    return COMMAND_LOGIN;
}

static command_kind find_digest(const char *text, size_t length)
{
    static char digests[SCRIPTS_END][41];

    EXPECT(length == 40);
    for (size_t kind = COMMAND_ACQUIRE; kind < SCRIPTS_END; kind++) {
        if (digests[kind][0] == '\0') {
            const struct iovec part = {(void *) (uintptr_t) scripts[kind], strlen(scripts[kind])};
            uint8_t digest[LATCH_DIGEST_MAX];

            reply_server_digest(NULL, LATCH_SHA1, &part, 1, digest);
            for (size_t at = 0; at < 20; at++) {
                sprintf(&digests[kind][2 * at], "%02x", digest[at]);
            }
        }
        if (memcmp(digests[kind], text, 40) == 0) {
            return (command_kind) kind;
        }
    }
    EXPECT(!"the digest of a script of ours");
    return COMMAND_LOGIN;
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* Reads a line of a sign and a number. False when it is not complete. */
static bool read_count(const bytes *from, size_t *at, char sign, size_t *count)
{
    const char *start = from->text + *at;
    const char *line_end = memmem(start, from->length - *at, "\r\n", 2);
    char *number_end;

    if (line_end == NULL) {
        return false;
    }
    EXPECT(*start == sign && start[1] >= '0' && start[1] <= '9');
    *count = strtoul(start + 1, &number_end, 10);
    EXPECT(number_end == line_end);
    *at = (size_t) (line_end + 2 - from->text);
    return true;
}

typedef struct {
    const char *text;
    size_t length;
} argument;

#define ARGUMENTS_MAX 16

/* Reads the command that begins at *at; the number of its arguments, 0 when it is not complete. */
static size_t read_arguments(const bytes *from, size_t *at, argument arguments[ARGUMENTS_MAX])
{
    size_t next = *at, count, length;

    if (!read_count(from, &next, '*', &count)) {
        return 0;
    }
    EXPECT(count >= 2 && count <= ARGUMENTS_MAX);
    for (size_t which = 0; which < count; which++) {
        if (!read_count(from, &next, '$', &length) || from->length - next < length + 2) {
            return 0;
        }
        arguments[which] = (argument){from->text + next, length};
        EXPECT(memcmp(from->text + next + length, "\r\n", 2) == 0);
        next += length + 2;
    }
    *at = next;
    return count;
}

static bool is_named(const argument *arguments, const char *name)
{
    return arguments->length == strlen(name) && memcmp(arguments->text, name, strlen(name)) == 0;
}

static void subscribe(reply_line *line, const argument *channel)
{
    EXPECT(channel->length > 0 && channel->length < sizeof(line->channel));
    memcpy(line->channel, channel->text, channel->length);
    line->channel[channel->length] = '\0';
}

static command understand(reply_line *line, const argument *arguments, size_t count)
{
    command command = {.kind = COMMAND_LOGIN};
    size_t token, waiter;

    if (is_named(arguments, "AUTH") || is_named(arguments, "SELECT")) {
        return command;
    }
    if (is_named(arguments, "SCRIPT")) {
        EXPECT(count == 9 && is_named(&arguments[1], "EXISTS"));
        command.kind = COMMAND_PEERS;
        return command;
    }
    if (is_named(arguments, "SUBSCRIBE")) {
        EXPECT(count == 3 && line->channel[0] == '\0');
        subscribe(line, &arguments[1]);
        command.kind = COMMAND_SUBSCRIBE;
        return command;
    }
    EXPECT(line->channel[0] == '\0'); /* where messages come nothing else does */
    command.by_digest = is_named(arguments, "EVALSHA");
    EXPECT(command.by_digest || is_named(arguments, "EVAL"));
    command.kind = command.by_digest ? find_digest(arguments[1].text, arguments[1].length)
                                     : find_script(arguments[1].text, arguments[1].length);
    EXPECT(count > 3);
    token = 3 + (size_t) (arguments[2].text[0] - '0'); /* behind the keys */
    EXPECT(token < count && arguments[token].length < sizeof(command.token));
    memcpy(command.token, arguments[token].text, arguments[token].length);
    waiter = token + (command.kind == COMMAND_RELEASE ? 1 : 4);
    if (command.kind <= COMMAND_RELEASE && command.kind != COMMAND_REFRESH && waiter < count) {
        command.ticket = strtoull(arguments[waiter].text, NULL, 10);
        EXPECT(command.ticket > 0);
    }
    if (command.kind == COMMAND_COUNT_DOWN && is_named(&arguments[token + 1], "state")
        && count > token + 2) {
        command.ticket = strtoull(arguments[token + 2].text, NULL, 10);
        EXPECT(command.ticket > 0);
    }
    EXPECT(command.token[0] != '\0' || command.ticket > 0);
    return command;
}

static void read_commands(reply_server *server, reply_line *line, int64_t now_ns)
{
    argument arguments[ARGUMENTS_MAX];
    size_t at = line->understood, count;

    while ((count = read_arguments(&line->received, &at, arguments)) > 0) {
        command command = understand(line, arguments, count);

        command.arrival_ns = now_ns;
        command.number = ++server->heard;
        command.at = line->understood;
        if (line->count == line->room) {
            line->room = 2 * line->room + 16;
            line->commands = realloc(line->commands, line->room * sizeof(command));
            EXPECT(line->commands != NULL);
        }
        line->commands[line->count++] = command;
        line->understood = at;
        server->notice(line, &command);
    }
}

/* ---- Replies -------------------------------------------------------------------------------- */

/* Where the reply ends that begins at `at`; NULL when it is incomplete, or none at all. */
static const char *skip_reply(const char *at, const char *end, int depth)
{
    const char *next = memmem(at, (size_t) (end - at), "\r\n", 2);
    long long count;

    if (next == NULL || depth > 8) {
        return NULL;
    }
    next += 2;
    count = strtoll(at + 1, NULL, 10);
    switch (*at) {
        case '+':
        case '-':
        case ':':
            return next;
        case '$':
            if (count < 0) {
                return next;
            }
            return count <= end - next - 2 ? next + count + 2 : NULL;
        case '*':
            for (; count > 0 && next != NULL; count--) {
                next = skip_reply(next, end, depth + 1);
            }
            return next;
        default:
            return NULL;
    }
}

const char *reply_line_reply(const reply_line *line, size_t command, size_t *length)
{
    const char *at = line->sent.text, *end = at + line->sent.length, *next = at;

    for (size_t reply = 0; next != NULL && reply <= command; reply++) {
        at = next;
        next = skip_reply(at, end, 0);
    }
    *length = next != NULL ? (size_t) (next - at) : 0;
    return next != NULL ? at : NULL;
}

void reply_line_say(reply_line *line, const char *text, size_t length)
{
    append(&line->outbox, text, length);
}

/* As often as there are channels; all but the first are no answers any more. */
static const char *acknowledge(const char *channel)
{
    static char text[200];

    snprintf(text, sizeof(text),
             "*3\r\n$9\r\nsubscribe\r\n$%zu\r\n%s\r\n:1\r\n"
             "*3\r\n$9\r\nsubscribe\r\n$13\r\nlatch:requeue\r\n:2\r\n",
             strlen(channel), channel);
    return text;
}

static const char *proper_answer(const reply_line *line, const command *command)
{
    static char fencing[64];
    static long long counter = 1795289619100037;

    if (command->by_digest && command->kind == COMMAND_ACQUIRE_SHARED) {
        return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    }
    switch (command->kind) {
        case COMMAND_LOGIN:
            return "+OK\r\n";
        case COMMAND_ACQUIRE:
            sprintf(fencing, "$16\r\n%lld\r\n", counter++);
            return fencing;
        case COMMAND_ACQUIRE_SHARED:
        case COMMAND_RELEASE:
            return ":1\r\n";
        case COMMAND_REFRESH:
            return ":2\r\n";
        case COMMAND_LET_GO:
            return "$-1\r\n";
        case COMMAND_PROBE:
            return "*2\r\n:5000\r\n:2\r\n";
        case COMMAND_VERSION:
        case COMMAND_THROTTLE:
        case COMMAND_COUNT_DOWN:
        case COMMAND_SEQUENCE:
        case COMMAND_DEBOUNCE: /* a truth or a number in each place: right for any function */
            return "*6\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n";
        case COMMAND_PEERS:
            return "*7\r\n:0\r\n:1\r\n:0\r\n:0\r\n:0\r\n:1\r\n:0\r\n";
        case COMMAND_SUBSCRIBE:
            return acknowledge(line->channel);
    }
    return NULL;
}

void reply_line_answer(reply_line *line)
{
    if (line->answered < line->count) {
        reply_line_answer_with(line, proper_answer(line, &line->commands[line->answered]));
    }
}

void reply_line_answer_with(reply_line *line, const char *text)
{
    if (line->answered < line->count) {
        line->answered++;
        reply_line_say(line, text, strlen(text));
    }
}

void reply_line_echo(reply_line *line)
{
    argument arguments[ARGUMENTS_MAX];
    size_t at, count;

    if (line->answered == line->count) {
        return;
    }
    at = line->commands[line->answered++].at;
    count = read_arguments(&line->received, &at, arguments);
    reply_line_say(line, "-ERR unknown command `", 22);
    reply_line_say(line, arguments[0].text, arguments[0].length);
    reply_line_say(line, "`, with args beginning with: ", 29);
    for (size_t which = 1; which < count; which++) {
        size_t length = arguments[which].length < 128 ? arguments[which].length : 128;

        reply_line_say(line, "`", 1);
        for (size_t byte = 0; byte < length; byte++) {
            char plain = arguments[which].text[byte];

            plain = plain == '\r' || plain == '\n' ? ' ' : plain;
            reply_line_say(line, &plain, 1);
        }
        reply_line_say(line, "` ", 2);
    }
    reply_line_say(line, "\r\n", 2);
}

/* ---- The connections ------------------------------------------------------------------------ */

static void clear_all(reply_line *line)
{
    line->count = line->understood = line->answered = 0;
    line->channel[0] = '\0';
    clear(&line->received);
    clear(&line->sent);
    clear(&line->outbox);
}

void reply_server_start(reply_server *server)
{
    char *path = server->address.sun_path;

    server->address.sun_family = AF_UNIX;
    strcpy(path, "/tmp/latch-fuzz-XXXXXX");
    EXPECT(mkdtemp(path) != NULL);
    strcat(path, "/socket");
    for (size_t line = 0; line < REPLY_LINES; line++) {
        clear_all(&server->lines[line]);
        server->lines[line].piece = SIZE_MAX;
        server->lines[line].socket = -1;
    }
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    EXPECT(server->listener >= 0);
    EXPECT(bind(server->listener, (struct sockaddr *) &server->address, sizeof(server->address))
           == 0);
    EXPECT(listen(server->listener, 8) == 0);
}

void reply_server_stop(reply_server *server)
{
    char *path = server->address.sun_path;

    close(server->listener);
    unlink(path);
    *strrchr(path, '/') = '\0';
    EXPECT(rmdir(path) == 0);
}

void reply_line_hang_up(reply_line *line)
{
    if (line->socket >= 0) {
        close(line->socket);
        line->socket = -1;
    }
}

static bool receive(reply_server *server, reply_line *line, int64_t now_ns)
{
    static char some[65536];
    ssize_t length;
    bool any = false;

    while (line->socket >= 0
           && ((length = recv(line->socket, some, sizeof(some), 0)) >= 0 || errno != EAGAIN)) {
        any = true;
        if (length <= 0) {
            reply_line_hang_up(line);
        } else {
            append(&line->received, some, (size_t) length);
        }
    }
    read_commands(server, line, now_ns);
    return any;
}

static bool transmit(reply_line *line)
{
    size_t length = line->outbox.length < line->piece ? line->outbox.length : line->piece;
    ssize_t count = -1;

    /* Nobody answers half a command. */
    if (line->socket >= 0 && length > 0 && line->understood == line->received.length) {
        count = send(line->socket, line->outbox.text, length, MSG_NOSIGNAL);
    }
    if (count <= 0) {
        return false;
    }
    append(&line->sent, line->outbox.text, (size_t) count);
    remove_first(&line->outbox, (size_t) count);
    return true;
}

/* On the first line that has none. */
static bool accept_connection(reply_server *server, int64_t now_ns)
{
    int socket = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    reply_line *line = server->lines;

    if (socket < 0) {
        return false;
    }
    while (line->socket >= 0) {
        line++;
        EXPECT(line < server->lines + REPLY_LINES); /* no more at a time */
    }
    line->socket = socket;
    line->connections++;
    server->forget(line);
    clear_all(line);
    receive(server, line, now_ns);
    return true;
}

bool reply_server_turn(reply_server *server, int64_t now_ns)
{
    bool any = false;

    for (size_t line = 0; line < REPLY_LINES; line++) {
        any = receive(server, &server->lines[line], now_ns) || any;
    }
    any = accept_connection(server, now_ns) || any;
    for (size_t line = 0; line < REPLY_LINES; line++) {
        any = transmit(&server->lines[line]) || any;
    }
    return any;
}

static void recover(reply_line *line)
{
    const char *at, *end;
    size_t replies = 0;

    line->piece = SIZE_MAX;
    if (line->socket < 0) {
        return;
    }
    append(&line->sent, line->outbox.text, line->outbox.length); /* as if */
    at = line->sent.text;
    end = at + line->sent.length;
    while (at != NULL && at < end) {
        at = skip_reply(at, end, 0);
        replies++;
    }
    line->sent.length -= line->outbox.length;
    line->sent.text[line->sent.length] = '\0';
    if (at == NULL || replies > line->count || line->channel[0] != '\0') {
        reply_line_hang_up(line);
    }
    line->answered = replies;
}

void reply_server_recover(reply_server *server)
{
    for (size_t line = 0; line < REPLY_LINES; line++) {
        recover(&server->lines[line]);
    }
}
