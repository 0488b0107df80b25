/* What the server hears, and what a request may say then: see reply_rules.h. */
#include "reply_rules.h"

#include "expect.h"
#include "fake_env.h"

#include <string.h>

reply_server server = {.listener = -1};
player players[2];
heard tokens[HEARD_MAX];
size_t token_count;

/* ---- What the server hears ------------------------------------------------------------------- */

bool acquires(const latch_op *op)
{
    return op->request.kind == LATCH_ACQUIRE || op->request.kind == LATCH_ACQUIRE_SHARED;
}

static command_kind kind_of(const latch_op *op)
{
    static const command_kind kinds[] = {
        [LATCH_ACQUIRE] = COMMAND_ACQUIRE, [LATCH_ACQUIRE_SHARED] = COMMAND_ACQUIRE_SHARED,
        [LATCH_REFRESH] = COMMAND_REFRESH, [LATCH_RELEASE] = COMMAND_RELEASE,
        [LATCH_PROBE] = COMMAND_PROBE,
    };

    return kinds[op->request.kind];
}

heard *find_token(const char *token)
{
    for (size_t at = 0; at < token_count; at++) {
        if (strcmp(tokens[at].token, token) == 0) {
            return &tokens[at];
        }
    }
    return NULL;
}

/* By its digest, again when the connection was lost, and as text. */
static void count_attempts(const command *command)
{
    for (size_t which = 0; which < 2; which++) {
        player *player = &players[which];

        /* One that waits asks as often as it takes. */
        if (player->in_flight && !player->op.rolling_back && kind_of(&player->op) == command->kind
            && command->ticket == 0 && strcmp(player->lease.token, command->token) == 0) {
            EXPECT(++player->heard_count <= 3);
        }
    }
}

void hear(const reply_line *from, const command *command)
{
    heard *heard = find_token(command->token);

    if (command->token[0] == '\0') {
        return; /* it is about no lock, or leaves a queue */
    }
    if (heard == NULL) {
        EXPECT(token_count < HEARD_MAX);
        heard = &tokens[token_count++];
        memset(heard, 0, sizeof(*heard));
        strcpy(heard->token, command->token);
    }
    heard->line = from;
    heard->connections = from->connections;
    heard->ticket = command->ticket;
    if (command->kind == COMMAND_ACQUIRE || command->kind == COMMAND_ACQUIRE_SHARED) {
        heard->taken = true;
        heard->asked = command->number;
        count_attempts(command);
    } else if (command->kind == COMMAND_RELEASE) {
        heard->taken = false;
        for (size_t which = 0; which < 2; which++) {
            const latch_lease *lease = &players[which].lease;

            EXPECT(!latch_lease_held(lease, now_ns) || strcmp(lease->token, command->token) != 0);
        }
    }
}

/* ---- What a request may say ------------------------------------------------------------------ */

static void check_error(latch_status status, const latch_error *error)
{
    EXPECT(status == error->status);
    EXPECT(*error->message != '\0' && strlen(error->message) < sizeof(error->message) - 1);
    for (const char *at = error->message; *at != '\0'; at++) {
        EXPECT(*at >= ' ' && *at <= '~');
    }
    EXPECT(strstr(error->message, PASSWORD) == NULL);
    for (size_t at = 0; at < token_count; at++) {
        EXPECT(strstr(error->message, tokens[at].token) == NULL);
    }
}

static bool is_number(const char *text, size_t length)
{
    return length > 0 && length <= 18 && strspn(text, "0123456789") == length;
}

/* "$4\r\n1234\r\n" has the number. hiredis takes as many bytes as are announced, and looks at no
 * more. */
static bool announces_number(const char *reply, size_t length, uint64_t number)
{
    const char *text = (const char *) memchr(reply, '\n', length) + 1;
    unsigned long announced = strtoul(reply + 1, NULL, 10);
    char digits[20] = "";

    if (*reply != '$' || announced > 18 || text + announced > reply + length) {
        return false;
    }
    memcpy(digits, text, announced);
    return is_number(digits, announced) && strtoull(digits, NULL, 10) == number;
}

/* An answer of the script that says yes. */
static bool says_yes(command_kind kind, const latch_lease *lease, const char *reply, size_t length)
{
    switch (kind) {
        case COMMAND_ACQUIRE:
            return announces_number(reply, length, lease->fencing_token);
        case COMMAND_ACQUIRE_SHARED:
            return length == 4 && memcmp(reply, ":1\r\n", 4) == 0;
        case COMMAND_RELEASE:
            return length == 4 && (reply[1] == '0' || reply[1] == '1');
        case COMMAND_REFRESH:
            return length == 4 && memcmp(reply, lease->mode == LATCH_SHARED ? ":1" : ":2", 2) == 0;
        case COMMAND_PROBE:
            return length > 10 && memcmp(reply, "*2\r\n:", 5) == 0
                   && is_number(reply + 5, length - 11)
                   && (memcmp(reply + length - 6, "\r\n:1\r\n", 6) == 0
                       || memcmp(reply + length - 6, "\r\n:2\r\n", 6) == 0);
        default:
            break;
    }
    return false;
}

/* The last command of this request that the server has got, and its reply, if there is one yet. */
static const command *find_command(const player *player, const char **reply, size_t *length)
{
    const command *found = NULL;

    *reply = NULL;
    for (size_t at = 0; at < REPLY_LINES; at++) {
        const reply_line *from = &server.lines[at];

        for (size_t which = 0; which < from->count; which++) {
            const command *command = &from->commands[which];

            if (command->number > player->first_command && command->kind == kind_of(&player->op)
                && player->lease.token != NULL && strcmp(command->token, player->lease.token) == 0
                && (found == NULL || command->number > found->number)) {
                found = command;
                *reply = reply_line_reply(from, which, length);
            }
        }
    }
    return found;
}

/* Did the server say of any release by that token that it was done? It may be sent more than once.
 */
static bool was_released(const player *player)
{
    for (size_t at = 0; at < REPLY_LINES; at++) {
        const reply_line *from = &server.lines[at];

        for (size_t which = 0; which < from->count; which++) {
            size_t length;
            const char *reply = reply_line_reply(from, which, &length);

            if (reply != NULL && from->commands[which].kind == COMMAND_RELEASE
                && strcmp(from->commands[which].token, player->lease.token) == 0
                && says_yes(COMMAND_RELEASE, &player->lease, reply, length)) {
                return true;
            }
        }
    }
    return false;
}

/*
 * On an earlier connection? Its reply may have come with the other player's, who then closed the
 * connection; the server has forgotten what it said there.
 */
static bool was_heard_before(const player *player)
{
    const heard *heard = player->lease.token != NULL ? find_token(player->lease.token) : NULL;

    return heard != NULL && heard->line->connections != heard->connections;
}

static void check_done(const player *player)
{
    const latch_lease *lease = &player->lease;
    const char *reply;
    size_t length;
    const command *command = find_command(player, &reply, &length);

    if (player->op.request.kind == LATCH_RELEASE
        && (player->op.request.detach || command == NULL)) {
        EXPECT(lease->mode == LATCH_FREE);
        return;
    }
    if (player->op.request.kind == LATCH_RELEASE) {
        EXPECT(was_released(player));
        return;
    }
    if (command == NULL && was_heard_before(player)) {
        return;
    }
    EXPECT(reply != NULL);
    EXPECT(says_yes(command->kind, lease, reply, length));
    if (command->kind != COMMAND_RELEASE && command->kind != COMMAND_PROBE) {
        EXPECT(lease->mode != LATCH_FREE);
        EXPECT(lease->deadline_ns <= command->arrival_ns + TTL_MS * LATCH_NS_PER_MS);
    }
}

/* "Somebody else holds it", "you would wait for ever", or "that is no lock". */
static bool leaves_nothing(const char *reply, size_t length)
{
    static const char *const beginnings[] = {"$-1", "*-1", "*2\r\n:-2", "-WRONGTYPE"};

    for (size_t at = 0; at < sizeof(beginnings) / sizeof(*beginnings); at++) {
        size_t size = strlen(beginnings[at]);

        if (length >= size && memcmp(reply, beginnings[at], size) == 0) {
            return true;
        }
    }
    return false;
}

void remember_refusals(const reply_line *from)
{
    for (size_t at = 0; at < from->count; at++) {
        heard *heard = find_token(from->commands[at].token);
        size_t length;
        const char *reply = reply_line_reply(from, at, &length);

        if (heard != NULL && reply != NULL && leaves_nothing(reply, length)) {
            heard->refused = from->commands[at].number;
        }
    }
}

/* Must the token be given back, now that the request has come to this end? */
static bool leaves_debt(const player *player, latch_status status)
{
    const latch_op *op = &player->op;
    const heard *heard;
    size_t length;
    const char *reply;

    if (op->request.kind == LATCH_RELEASE) {
        /* Of a lease that ends soon, as the server has said, there is little to give back. */
        return op->request.detach && player->lease.deadline_ns > TTL_MS / 2 * LATCH_NS_PER_MS;
    }
    if (!acquires(op) || status == LATCH_DONE || op->mode_before != LATCH_FREE
        || player->imported) {
        return false;
    }
    heard = find_token(player->lease.token);
    if (heard == NULL || heard->asked <= player->first_command) {
        return false; /* not sent, as when the circuit breaker is open: the token is older */
    }
    find_command(player, &reply, &length);
    return reply != NULL ? !leaves_nothing(reply, length) : heard->refused != heard->asked;
}

void end_request(player *player, latch_status status)
{
    player->in_flight = false;
    EXPECT(!player->lease.busy);
    if (latch_failed(status)) {
        check_error(status, &player->error);
    } else if (status == LATCH_DONE && !player->op.cancelled) {
        check_done(player);
    }
    if (player->lease.token != NULL && leaves_debt(player, status)) {
        heard *heard = find_token(player->lease.token);

        if (heard != NULL) {
            heard->owed = true;
        }
    }
}
