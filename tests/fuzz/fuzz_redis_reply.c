/*
 * A server that speaks something else: whatever it answers, into whatever pieces that is cut and
 * whenever it hangs up, there is no error of memory, no undefined behaviour, no endless loop, and
 *
 * - a lock counts as taken, renewed or held only after an answer that says so, to that very
 *   request, and no longer than from when the server heard of it;
 * - a message alone is no hold;
 * - a lock that may have been taken without its taker knowing is given back, and a queue is left
 *   that is waited in no longer; a held lock is not given back;
 * - errors are told in plain text, without password or token;
 * - the store works again as soon as the server does, or a while later if it was silent;
 * - nothing is left when it is closed.
 *
 * An input is a script of single letters; what they mean is in play(). There are two holders:
 * capital letters are the second one's requests. After each letter all that can go on does.
 */
#include "src/store/redis/lock/redis.h"
#include "support/expect.h"
#include "support/fake_env.h"
#include "support/reply_rules.h"

#include <poll.h>
#include <string.h>

#define WAIT_NS (20 * LATCH_NS_PER_S)
/* For an endless exchange of words. */
#define ROUNDS_MAX 10000

static reply_line *line; /* about which the script is */
static latch_engine *engine;
static latch_store *store;
static char long_name[120000];
static size_t name_length;

/* ---- Playing --------------------------------------------------------------------------------- */

/* A new attempt to acquire: what was known of the token before is over. */
static void begin_attempt(player *player)
{
    heard *heard = player->lease.token != NULL ? find_token(player->lease.token) : NULL;

    player->heard_count = 0;
    if (heard != NULL) {
        if (player->op.mode_before == LATCH_FREE) {
            EXPECT(!heard->owed || !heard->taken); /* the release would still have to come */
            heard->taken = false;
        }
        heard->owed = false;
    }
}

/* The server was not asked, as it had let somebody wait in vain. */
static bool was_refused_here(const player *player)
{
    return strstr(player->error.message, " let others wait in vain") != NULL;
}

static void conclude(player *player, latch_status status)
{
    if (latch_wants(status)) {
        player->in_flight = true;
        EXPECT(status == LATCH_WANT_IO || player->op.wake_ns != LATCH_NEVER);
        player->op.fd = status == LATCH_WANT_IO ? player->op.fd : -1;
        if (player->op.state == NULL) { /* the last one was answered */
            begin_attempt(player);
        }
    } else {
        end_request(player, status);
    }
}

static void ask(player *player, latch_op_kind kind, bool wait, bool detach)
{
    const latch_request request = {
        .kind = kind,
        .wait = wait,
        .deadline_ns = wait ? now_ns + WAIT_NS : LATCH_NEVER,
        .ttl_ms = TTL_MS,
        .detach = detach,
    };

    latch_status status;

    if (player->in_flight) { /* as from a signal handler */
        latch_op other;
        latch_error error;

        status = latch_op_begin(&other, &player->lease, &request, &error);
        EXPECT(kind == LATCH_PROBE ? status <= LATCH_CONFLICT : status == LATCH_ERROR_BUSY);
        return;
    }
    player->first_command = server.heard;
    memset(&player->error, 0, sizeof(player->error));
    status = latch_op_begin(&player->op, &player->lease, &request, &player->error);
    if (acquires(&player->op) && !was_refused_here(player)) {
        begin_attempt(player);
    }
    conclude(player, status);
}

static void cancel(player *player)
{
    if (player->in_flight) {
        conclude(player, latch_op_cancel(&player->op, now_ns));
    }
}

/* As a driver does that sleeps until something happens. */
static bool is_due(const player *player)
{
    struct pollfd descriptor = {.fd = player->op.fd, .events = player->op.events};

    return now_ns >= player->op.wake_ns || (descriptor.fd >= 0 && poll(&descriptor, 1, 0) > 0);
}

static void step(player *player)
{
    if (player->in_flight) {
        conclude(player, player->op.cancelled ? latch_op_cancel(&player->op, now_ns)
                                              : latch_op_step(&player->op, now_ns));
    }
}

/* True when anything went on. */
static bool go_on(void)
{
    bool any = reply_server_turn(&server, now_ns);

    for (size_t which = 0; which < 2; which++) {
        if (players[which].in_flight && is_due(&players[which])) {
            step(&players[which]);
            step(&players[1 - which]); /* whose handler that was */
            any = true;
        }
    }
    return reply_server_turn(&server, now_ns) || any;
}

/* To when the first one gives up waiting. */
static void pass_time(void)
{
    int64_t wake_ns = LATCH_NEVER;

    for (size_t which = 0; which < 2; which++) {
        if (players[which].in_flight && players[which].op.wake_ns < wake_ns) {
            wake_ns = players[which].op.wake_ns;
        }
    }
    if (wake_ns == LATCH_NEVER) {
        now_ns += LATCH_NS_PER_S;
    } else if (wake_ns > now_ns) {
        now_ns = wake_ns;
    }
}

static void start_player(player *player)
{
    latch_lease_init(&player->lease, store, long_name, name_length);
    player->imported = false;
}

static void forget(player *player)
{
    if (!player->in_flight) {
        latch_lease_drop(&player->lease);
        start_player(player);
    }
}

/* A key is handed over: another lease goes on with the token. */
static void hand_over(player *player)
{
    char token[LATCH_TOKEN_MAX + 1] = "";

    if (!player->in_flight && player->lease.token != NULL && player->lease.mode != LATCH_FREE) {
        strcpy(token, player->lease.token);
        forget(player);
        EXPECT(latch_lease_set_token(&player->lease, token, strlen(token), &player->error)
               == LATCH_DONE);
        player->imported = true;
    }
}

/* A message on the connection that is subscribed, if one is. */
static void send_message(const char *channel, const char *text, size_t length)
{
    for (size_t at = 0; at < REPLY_LINES; at++) {
        reply_line *to = &server.lines[at];
        char head[128];

        if (to->channel[0] != '\0' && to->answered > 0 && to->answered == to->count) {
            channel = channel != NULL ? channel : to->channel;
            reply_line_say(to, head,
                           (size_t) snprintf(head, sizeof(head),
                                             "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n",
                                             strlen(channel), channel, length));
            reply_line_say(to, text, length);
            reply_line_say(to, "\r\n", 2);
        }
    }
}

/* About the wait that the player's token came with last. */
static void tell(const player *player, const char *format)
{
    const heard *heard = player->lease.token != NULL ? find_token(player->lease.token) : NULL;
    char text[64];

    if (heard != NULL) {
        send_message(NULL, text,
                     (size_t) snprintf(text, sizeof(text), format,
                                       (unsigned long long) heard->ticket));
    }
}

static void tell_of_loss(void)
{
    send_message("latch:requeue", long_name, name_length);
}

/* Words in quotes are what the server says. The length of what was taken. */
static size_t play(const char *script, size_t length)
{
    bool is_capital = *script >= 'A' && *script <= 'Z';
    player *player = &players[is_capital];
    const char *end;

    switch (is_capital ? *script - 'A' + 'a' : *script) {
        case 'a':
            ask(player, LATCH_ACQUIRE, false, false);
            break;
        case 'w':
            ask(player, LATCH_ACQUIRE, true, false);
            break;
        case 'v':
            ask(player, LATCH_ACQUIRE_SHARED, true, false);
            break;
        case 's':
            ask(player, LATCH_ACQUIRE_SHARED, false, false);
            break;
        case 'r':
            ask(player, LATCH_REFRESH, false, false);
            break;
        case 'p':
            ask(player, LATCH_PROBE, false, false);
            break;
        case 'u':
            ask(player, LATCH_RELEASE, false, false);
            break;
        case 'd':
            ask(player, LATCH_RELEASE, false, true);
            break;
        case 'c':
            cancel(player);
            break;
        case 'f':
            forget(player);
            break;
        case 'k':
            hand_over(player);
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
        case '_': /* or that somebody else holds the lock */
            reply_line_answer_with(line, "$-1\r\n");
            break;
        case '#': /* or with a place in the queue */
            reply_line_answer_with(line, "*2\r\n:0\r\n:900\r\n");
            break;
        case '-': /* or that messages do not pass */
            reply_line_answer_with(line, "*2\r\n:-1\r\n:0\r\n");
            break;
        case '%': /* or that both would wait for ever */
            reply_line_answer_with(line, "*2\r\n:-2\r\n:0\r\n");
            break;
        case '?': /* or has never heard of it */
            reply_line_echo(line);
            break;
        case '!': /* it says to who waits that the lock is its, */
            tell(player, "granted %llu");
            break;
        case '^': /* that it is the first, */
            tell(player, "first %llu 5");
            break;
        case '*': /* or that the queue was lost */
            tell_of_loss();
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

static void answer_all(void)
{
    for (size_t at = 0; at < REPLY_LINES; at++) {
        reply_line_answer(&server.lines[at]);
    }
}

/* Is there anything to be said to somebody? */
static bool is_busy(void)
{
    bool any = false;

    for (size_t at = 0; at < REPLY_LINES; at++) {
        const reply_line *to = &server.lines[at];

        any = any || (to->socket >= 0 && (to->answered < to->count || to->outbox.length > 0));
    }
    return any;
}

/* Somebody asks while the server answers each command as it should. */
static bool works(player *player, latch_op_kind kind)
{
    size_t rounds = 0;

    ask(player, kind, false, false);
    while (players[0].in_flight || players[1].in_flight || is_busy()) {
        EXPECT(++rounds < ROUNDS_MAX);
        answer_all();
        if (!go_on() && !is_busy()) {
            pass_time();
        }
    }
    return player->error.status == LATCH_DONE;
}

static void finish(player *player)
{
    size_t rounds = 0;

    while (player->in_flight) {
        EXPECT(++rounds < ROUNDS_MAX);
        answer_all();
        if (!go_on()) {
            pass_time();
        }
    }
}

static void check_recovery(void)
{
    reply_server_recover(&server);
    finish(&players[0]);
    finish(&players[1]);
    forget(&players[0]);
    if (now_ns < store->breaker.open_until_ns) {
        now_ns = store->breaker.open_until_ns; /* it had let somebody wait in vain */
    }
    /* What stood in the socket may have spoiled one more. */
    EXPECT(works(&players[0], LATCH_ACQUIRE) || works(&players[0], LATCH_ACQUIRE));
    EXPECT(players[0].lease.mode == LATCH_EXCLUSIVE);
    EXPECT(works(&players[0], LATCH_RELEASE));
    for (size_t at = 0; at < token_count; at++) {
        EXPECT(!tokens[at].owed || !tokens[at].taken);
    }
}

static void set_up(void)
{
    const latch_env env = fake_env(reply_server_digest);
    latch_error error;

    memset(long_name, 'n', sizeof(long_name));
    server.notice = hear;
    server.forget = remember_refusals;
    engine = latch_engine_create(&env, &error);
    EXPECT(engine != NULL);
}

static void open_store(void)
{
    char dsn[200];
    latch_store_options options = {.dsn = dsn};
    latch_error error;

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
    token_count = 0;
    line = server.lines;
    /* Tokens that the input cannot know. */
    reply_server_digest(NULL, LATCH_SHA1, &all, 1, seed);
    memcpy(&random_state, seed, sizeof(random_state));

    /* The socket does not take a command about the long one at once. */
    name_length = size > 0 && *data == '~' ? sizeof(long_name) : 4;
    open_store();
    start_player(&players[0]);
    start_player(&players[1]);
    while (size > 0) {
        size_t length = play(script, size);

        script += length;
        size -= length;
        go_on();
    }
    check_recovery();
    latch_lease_drop(&players[0].lease);
    latch_lease_drop(&players[1].lease);
    latch_store_close(store);
    while (reply_server_turn(&server, now_ns)) {
    }
    EXPECT(server.lines[0].socket < 0 && server.lines[1].socket < 0);
    EXPECT(count_descriptors() == descriptors);
    EXPECT(allocations == allocations_before);
    reply_server_stop(&server);
    return 0;
}
