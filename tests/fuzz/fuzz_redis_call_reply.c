/*
 * A server that answers calls (src/latch_calls.h) with something else: whatever that is, into
 * whatever pieces it is cut and whenever the server hangs up, there is no error of memory, no
 * undefined behaviour, no endless loop, and
 *
 * - a call ends with an error, or with an answer that the server has given, of the documented form;
 * - it is sent a few times at most, always with the same identity;
 * - errors are told in plain text, without password and identity;
 * - the store works again as soon as the server does;
 * - nothing is left of a call that has ended, or was cancelled.
 *
 * An input is a script of single letters; what they mean is in play(). After each letter all that
 * can go on does.
 */
#include "src/store/redis/lock/redis.h"
#include "support/expect.h"
#include "support/fake_env.h"
#include "support/reply_server.h"

#include <poll.h>
#include <string.h>

#define PASSWORD "hUnT3r2"
#define LENGTH_MAX 4096
#define WAIT_NS (20 * LATCH_NS_PER_S)
/* For an endless exchange of words. */
#define ROUNDS_MAX 10000

/* Functions with their arguments; by letters, from "A" on. */
static const struct {
    latch_function function;
    bool waits;
    const char *parts; /* of the least answer: "." a text, "#" a number, "?" or none at all */
    const char *arguments[LATCH_CALL_ARGUMENTS_MAX];
} calls[] = {
    {LATCH_VERSION_ADVANCE, false, ".", {"60000", "17", "0"}},
    {LATCH_VERSION_REVERT, false, ".", {"60000", "17"}},
    {LATCH_VERSION_OUTDATED, false, ".", {"17"}},
    {LATCH_VERSION_GET, false, "", {NULL}},
    {LATCH_THROTTLE_RESERVE, false, ".#", {"1000000", "0", "0"}},
    {LATCH_THROTTLE_LOOK, false, "#", {"1000000", "0"}},
    {LATCH_COUNT_DOWN_OPEN, false, ".", {"60000", "1 a1 b", "last"}},
    {LATCH_COUNT_DOWN_ARRIVE, false, ".", {"60000", "a", "0", "1000"}},
    {LATCH_COUNT_DOWN_DONE, false, ".#", {"60000"}},
    {LATCH_COUNT_DOWN_CANCEL, false, ".", {NULL}},
    {LATCH_COUNT_DOWN_STATE, false, ".", {NULL}},
    {LATCH_COUNT_DOWN_STATE, true, ".", {NULL}},
    {LATCH_COUNT_DOWN_INSPECT, false, ".##.##", {NULL}},
    {LATCH_SEQUENCE_ENTER, false, "#.", {"60000", "a", "parked"}},
    {LATCH_SEQUENCE_RESUME, false, ".#", {"60000", "1700000000000000", "owner", "1000"}},
    {LATCH_SEQUENCE_NEXT, false, "?#.", {"60000", "1700000000000000", "owner", "1000"}},
    {LATCH_SEQUENCE_PUT_BACK, false, "", {"60000", "1700000000000000", "owner"}},
    {LATCH_SEQUENCE_ABANDON, false, "?#.", {"60000", "0", "owner", "1000"}},
    {LATCH_SEQUENCE_INSPECT, false, "..####", {NULL}},
    {LATCH_DEBOUNCE_REGISTER, false, "##", {"60000", "1000", "60000"}},
    {LATCH_DEBOUNCE_SENT, false, "", {"60000", "1000", "60000", "1700000000000000"}},
    {LATCH_DEBOUNCE_RESUME, false, ".#", {"60000", "1000", "60000", "1700000000000000"}},
    {LATCH_DEBOUNCE_DONE, false, "", {"60000", "1700000000000000"}},
};

#define CALLS (sizeof(calls) / sizeof(*calls))

static reply_server server = {.listener = -1};
static reply_line *line; /* about which the script is */
static latch_engine *engine;
static latch_store *store;

/* The call. */
static latch_lease lease;
static latch_op op;
static latch_call made;
static latch_error error;
static size_t asked; /* its place in `calls` */
static bool in_flight;
static char id[LATCH_TOKEN_MAX + 1]; /* of the request; "": not heard of yet */
static size_t heard_count;
static uint64_t ticket;    /* of the wait that was heard of last */
static bool was_cancelled; /* one before: its command may still come */

/* ---- What must hold -------------------------------------------------------------------------- */

static void hear(const reply_line *from, const command *command)
{
    (void) from;
    if (command->kind < COMMAND_VERSION || command->kind > COMMAND_DEBOUNCE) {
        return;
    }
    ticket = command->ticket;
    if (!calls[asked].waits
        && !was_cancelled) { /* one that waits asks as often as it takes, and each time anew */
        /* By its digest, as text, and again when the connection was lost. */
        EXPECT(++heard_count <= 3);
        EXPECT(id[0] == '\0' || strcmp(id, command->token) == 0);
    }
    strcpy(id, command->token);
}

static void forget(const reply_line *from)
{
    (void) from;
}

static void check_error(latch_status status)
{
    EXPECT(status == error.status && made.answer == NULL);
    EXPECT(*error.message != '\0' && strlen(error.message) < sizeof(error.message) - 1);
    for (const char *at = error.message; *at != '\0'; at++) {
        EXPECT(*at >= ' ' && *at <= '~');
    }
    EXPECT(strstr(error.message, PASSWORD) == NULL);
    EXPECT(id[0] == '\0' || strstr(error.message, id) == NULL);
}

static bool was_said(const latch_bytes *part)
{
    for (size_t at = 0; at < REPLY_LINES; at++) {
        const bytes *sent = &server.lines[at].sent;

        if (memmem(sent->text, sent->length, part->text, part->length) != NULL) {
            return true;
        }
    }
    return false;
}

static void check_answer(void)
{
    const latch_answer *answer = made.answer;
    const char *parts = calls[asked].parts;

    EXPECT(answer != NULL);
    if (parts[0] == '?') {
        parts = answer->count > 0 ? parts + 1 : "";
    }
    EXPECT(answer->count >= strlen(parts));
    for (size_t at = 0; at < answer->count; at++) {
        const latch_bytes *part = &answer->parts[at];

        EXPECT(part->text[part->length] == '\0' && was_said(part));
        if (at < strlen(parts) && parts[at] == '#') {
            size_t sign = part->text[0] == '-';

            EXPECT(part->length > sign);
            EXPECT(strspn(part->text + sign, "0123456789") == part->length - sign);
        }
    }
}

/* ---- Playing --------------------------------------------------------------------------------- */

static void conclude(latch_status status)
{
    in_flight = latch_wants(status);
    if (in_flight) {
        EXPECT(status == LATCH_WANT_IO || op.wake_ns != LATCH_NEVER);
        op.fd = status == LATCH_WANT_IO ? op.fd : -1;
        return;
    }
    EXPECT(!lease.busy && lease.state == NULL);
    if (latch_failed(status)) {
        check_error(status);
    } else if (status == LATCH_DONE) {
        check_answer();
    } else { /* it was cancelled, or its time is over */
        EXPECT(status == LATCH_CONFLICT && made.answer == NULL);
        EXPECT(op.cancelled || calls[asked].waits);
    }
    latch_answer_free(engine, made.answer);
    made.answer = NULL;
}

static void ask(size_t which)
{
    const latch_request request = {
        .kind = LATCH_CALL,
        .call = &made,
        .wait = calls[which].waits,
        .deadline_ns = calls[which].waits ? now_ns + WAIT_NS : 0,
    };

    if (in_flight) {
        return;
    }
    asked = which;
    made = (latch_call){.function = calls[which].function};
    for (; made.count < LATCH_CALL_ARGUMENTS_MAX && calls[which].arguments[made.count] != NULL;
         made.count++) {
        const char *argument = calls[which].arguments[made.count];

        made.arguments[made.count] = (latch_bytes){argument, strlen(argument)};
    }
    id[0] = '\0';
    heard_count = 0;
    memset(&error, 0, sizeof(error));
    conclude(latch_op_begin(&op, &lease, &request, &error));
}

/* As a driver does that sleeps until something happens. */
static bool is_due(void)
{
    struct pollfd descriptor = {.fd = op.fd, .events = op.events};

    return now_ns >= op.wake_ns || (descriptor.fd >= 0 && poll(&descriptor, 1, 0) > 0);
}

/* True when anything went on. */
static bool go_on(void)
{
    bool any = reply_server_turn(&server, now_ns);

    if (in_flight && is_due()) {
        conclude(op.cancelled ? latch_op_cancel(&op, now_ns) : latch_op_step(&op, now_ns));
        any = true;
    }
    return reply_server_turn(&server, now_ns) || any;
}

/* To when the caller gives up waiting. */
static void pass_time(void)
{
    if (!in_flight || op.wake_ns == LATCH_NEVER) {
        now_ns += LATCH_NS_PER_S;
    } else if (op.wake_ns > now_ns) {
        now_ns = op.wake_ns;
    }
}

/* A message about the wait, on the connection that is subscribed, if one is. */
static void send_message(void)
{
    for (size_t at = 0; at < REPLY_LINES; at++) {
        reply_line *to = &server.lines[at];
        char text[200], word[40];

        if (to->channel[0] != '\0' && to->answered > 0 && to->answered == to->count) {
            snprintf(word, sizeof(word), "granted %llu", (unsigned long long) ticket);
            reply_line_say(to, text,
                           (size_t) snprintf(text, sizeof(text),
                                             "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n",
                                             strlen(to->channel), to->channel, strlen(word), word));
        }
    }
}

/* Words in quotes are what the server says. The length of what was taken. */
static size_t play(const char *script, size_t length)
{
    const char *end;

    if (*script >= 'A' && *script < 'A' + (int) CALLS) {
        ask((size_t) (*script - 'A'));
        return 1;
    }
    switch (*script) {
        case 'c':
            if (in_flight) {
                was_cancelled = true;
                conclude(latch_op_cancel(&op, now_ns));
            }
            break;
        case '.':
            pass_time();
            break;
        case ',': /* what follows is about the other connection */
            line = line == server.lines ? server.lines + 1 : server.lines;
            break;
        case '=': /* the server answers a command as it should */
            reply_line_answer(line);
            break;
        case 'o': /* or that the count-down goes on */
            reply_line_answer_with(line, "*1\r\n$4\r\nopen\r\n");
            break;
        case 'n': /* or has not got the script */
            reply_line_answer_with(line, "-NOSCRIPT No matching script. Please use EVAL.\r\n");
            break;
        case '?': /* or has never heard of it */
            reply_line_echo(line);
            break;
        case '!': /* it says to who waits that it is over */
            send_message();
            break;
        case '|':
            reply_line_hang_up(line);
            break;
        case '"':
            end = memchr(script + 1, '"', length - 1);
            end = end != NULL ? end : script + length;
            reply_line_say(line, script + 1, (size_t) (end - script - 1));
            return (size_t) (end - script) + (end < script + length);
        case '9':
            line->piece = SIZE_MAX;
            break;
        default: /* how much of its words it sends at once */
            if (*script >= '0' && *script < '9') {
                line->piece = (size_t) (*script - '0');
            }
    }
    return 1;
}

/* The server answers each command as it should, until the call has ended. */
static void finish(void)
{
    for (size_t round = 0; in_flight; round++) {
        EXPECT(round < ROUNDS_MAX);
        for (size_t at = 0; at < REPLY_LINES; at++) {
            reply_line_answer(&server.lines[at]);
        }
        if (!go_on()) {
            pass_time();
        }
    }
}

static bool works(size_t which)
{
    ask(which);
    finish();
    return error.status == LATCH_DONE;
}

static void check_recovery(void)
{
    reply_server_recover(&server);
    finish();
    if (now_ns < store->breaker.open_until_ns) {
        now_ns = store->breaker.open_until_ns; /* it had let somebody wait in vain */
    }
    for (size_t which = 0; which < CALLS; which++) {
        /* What stood in the socket may have spoiled one more, and in that of the waiters likewise. */
        EXPECT(works(which) || ((which == 0 || calls[which].waits) && works(which)));
    }
}

static void set_up(void)
{
    const latch_env env = fake_env(reply_server_digest);

    server.notice = hear;
    server.forget = forget;
    engine = latch_engine_create(&env, &error);
    EXPECT(engine != NULL);
}

static void open_store(void)
{
    char dsn[200];
    latch_store_options options = {.dsn = dsn};

    options.dsn_length =
        (size_t) sprintf(dsn, "redis://user:" PASSWORD "@%s/3", server.address.sun_path);
    store = latch_store_open(engine, "redis", &options, &error);
    EXPECT(store != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *script = (const char *) data;
    const struct iovec all = {(void *) (uintptr_t) data, size};
    uint8_t seed[LATCH_DIGEST_MAX];
    size_t descriptors, allocations_before;

    if (size > LENGTH_MAX || memmem(script, size, PASSWORD, strlen(PASSWORD)) != NULL) {
        return 0;
    }
    if (engine == NULL) {
        set_up();
    }
    reply_server_start(&server);
    descriptors = count_descriptors();
    allocations_before = allocations;
    now_ns = LATCH_NS_PER_S;
    was_cancelled = false;
    line = server.lines;
    /* Identities that the input cannot know. */
    reply_server_digest(NULL, LATCH_SHA1, &all, 1, seed);
    memcpy(&random_state, seed, sizeof(random_state));

    open_store();
    latch_lease_init(&lease, store, "name", 4);
    while (size > 0) {
        size_t length = play(script, size);

        script += length;
        size -= length;
        go_on();
    }
    check_recovery();
    latch_lease_drop(&lease);
    latch_store_close(store);
    while (reply_server_turn(&server, now_ns)) {
    }
    EXPECT(server.lines[0].socket < 0 && server.lines[1].socket < 0);
    EXPECT(count_descriptors() == descriptors);
    EXPECT(allocations == allocations_before);
    reply_server_stop(&server);
    return 0;
}
