/* What Sentinels are asked, and what they tell: see redis_sentinel.h. */
#include "redis_sentinel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a Sentinel says that has heard of another master, and the one that has made it. */
#define SWITCHED "+switch-master"
#define PROMOTED "+promoted-slave"

/* How often it is asked again all the same: a Sentinel that hangs tells nothing, nor does one that
 * may not be listened to. */
#define ASK_AGAIN_NS (5 * LATCH_NS_PER_S)

static void take_message(void *context, const redisReply *message);

void latch_redis_sentinel_init(redis_sentinel *sentinel, latch_engine *engine,
                               const redis_options *options)
{
    memset(sentinel, 0, sizeof(*sentinel));
    sentinel->name = options->sentinel;
    sentinel->options = *options;
    sentinel->options.sentinel = NULL;
    sentinel->options.user = options->sentinel_user;
    sentinel->options.password = options->sentinel_password;
    sentinel->options.database = 0;
    latch_redis_connection_init(&sentinel->connection, engine, &sentinel->options);
    sentinel->connection.push = take_message;
    sentinel->connection.push_context = sentinel;
    sentinel->master = (redis_place){.address = sentinel->address, .host = sentinel->host};
}

void latch_redis_sentinel_lead(redis_sentinel *sentinel, redis_connection *connection)
{
    if (sentinel->name != NULL) {
        connection->sentinel = sentinel;
        connection->place = NULL;
    }
}

static void forget_question(redis_sentinel *sentinel)
{
    if (sentinel->question != NULL) {
        latch_redis_call_free(&sentinel->connection, sentinel->question);
        sentinel->question = NULL;
    }
}

static void hang_up(redis_sentinel *sentinel)
{
    latch_redis_close(&sentinel->connection);
    forget_question(sentinel);
}

void latch_redis_sentinel_end(redis_sentinel *sentinel)
{
    hang_up(sentinel);
}

/* ---- What is known -------------------------------------------------------------------------- */

static bool is_master(const redis_sentinel *sentinel, const char *host, int port)
{
    return sentinel->master.port == port && strcmp(sentinel->host, host) == 0;
}

static void note_master(redis_sentinel *sentinel, const char *host, int port)
{
    if (!is_master(sentinel, host, port)) {
        snprintf(sentinel->host, sizeof(sentinel->host), "%s", host);
        sentinel->master.port = port;
        latch_redis_write_address(sentinel->address, sizeof(sentinel->address), sentinel->host,
                                  port);
        sentinel->term++;
    }
}

void latch_redis_sentinel_doubt(redis_sentinel *sentinel)
{
    sentinel->is_known = false;
}

void latch_redis_sentinel_note_trouble(redis_sentinel *sentinel, const char *why)
{
    snprintf(sentinel->trouble, sizeof(sentinel->trouble), "%s", why);
    sentinel->is_known = false;
    /* The next one may know better. */
    sentinel->current = (sentinel->current + 1) % sentinel->options.place_count;
}

latch_status latch_redis_sentinel_fail(const redis_sentinel *sentinel, latch_op *op, double seconds)
{
    if (sentinel->trouble[0] == '\0') {
        return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                          "the Sentinels at %s did not tell within %g s where the master \"%s\" is",
                          sentinel->options.address, seconds, sentinel->name);
    }
    return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                      "no connection to the master \"%s\" within %g s; the server that Sentinels "
                      "name last, %s: %s",
                      sentinel->name, seconds, sentinel->address, sentinel->trouble);
}

/* ---- What is told --------------------------------------------------------------------------- */

/*
 * "NAME OLD-HOST OLD-PORT HOST PORT" of a switch, or "slave ID HOST PORT @ NAME OLD-HOST OLD-PORT"
 * of a promotion: who connects then is named the new one, by this Sentinel at least.
 */
static void take_message(void *context, const redisReply *message)
{
    redis_sentinel *sentinel = context;
    const redisReply *channel, *text;
    char name[256], host[256];
    int port, count;

    if (message->type != REDIS_REPLY_ARRAY || message->elements != 3) {
        return;
    }
    channel = message->element[1];
    text = message->element[2];
    if (channel->type != REDIS_REPLY_STRING || text->type != REDIS_REPLY_STRING) {
        return; /* that it is subscribed, to the second channel */
    }
    count = strcmp(channel->str, SWITCHED) == 0
                ? sscanf(text->str, "%255s %*s %*s %255s %d", name, host, &port)
                : sscanf(text->str, "%*s %*s %255s %d @ %255s", host, &port, name);
    if (count == 3 && strcmp(name, sentinel->name) == 0
        && (sentinel->question != NULL || !is_master(sentinel, host, port))) {
        sentinel->is_known = false;
        sentinel->is_told = true;
        sentinel->term++;
    }
}

/* ---- The question --------------------------------------------------------------------------- */

/* Each of those that are left has its part of the time, and so has the way to the master. */
static void begin_question(redis_sentinel *sentinel, int64_t deadline_ns, int64_t now_ns)
{
    int64_t parts = (int64_t) (sentinel->options.place_count - sentinel->failures) + 1;
    int64_t part_ns = (deadline_ns - now_ns) / parts;

    hang_up(sentinel);
    sentinel->connection.place = &sentinel->options.places[sentinel->current];
    sentinel->options.connect_timeout_ns = part_ns > LATCH_NS_PER_MS ? part_ns : LATCH_NS_PER_MS;
    sentinel->is_asking = true;
    sentinel->is_told = false;
}

/*
 * Both in one packet: what happens behind the answer is told. A connection that is subscribed can
 * ask no more.
 */
static latch_status send_question(redis_sentinel *sentinel, latch_op *op, int64_t now_ns)
{
    redis_command question = {.count = 0}, subscription = {.count = 0};
    redis_call *call;

    latch_redis_add_text(&question, "SENTINEL");
    latch_redis_add_text(&question, "get-master-addr-by-name");
    latch_redis_add_text(&question, sentinel->name);
    latch_redis_add_text(&subscription, "SUBSCRIBE");
    latch_redis_add_text(&subscription, SWITCHED);
    latch_redis_add_text(&subscription, PROMOTED);
    latch_redis_gather(&sentinel->connection, true);
    sentinel->question = latch_redis_send(&sentinel->connection, &question, now_ns);
    call = latch_redis_send(&sentinel->connection, &subscription, now_ns);
    if (call != NULL) {
        latch_redis_call_free(&sentinel->connection, call); /* refused, it changes nothing */
    }
    latch_redis_gather(&sentinel->connection, false);
    return sentinel->question != NULL && call != NULL ? LATCH_DONE : latch_fail_memory(op->error);
}

static latch_status fail(const redis_sentinel *sentinel, latch_op *op, const char *what)
{
    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "%s %s",
                      latch_redis_address(&sentinel->connection), what);
}

static latch_status understand(redis_sentinel *sentinel, latch_op *op, const redisReply *reply)
{
    const redisReply *host, *port;
    char said[128], what[160];
    long number;

    if (reply->type == REDIS_REPLY_NIL) {
        return fail(sentinel, op, "knows no master of that name");
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        latch_redis_quote(said, sizeof(said), reply->str, strcspn(reply->str, ",\r\n"));
        snprintf(what, sizeof(what), "answered: %s", said);
        return fail(sentinel, op, what);
    }
    host = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 ? reply->element[0] : NULL;
    port = host != NULL ? reply->element[1] : NULL;
    if (host == NULL || host->type != REDIS_REPLY_STRING || port->type != REDIS_REPLY_STRING) {
        return fail(sentinel, op, "gave an answer that makes no sense");
    }
    number = strtol(port->str, NULL, 10);
    if (host->len == 0 || host->len >= sizeof(sentinel->host) || number <= 0 || number > 65535) {
        return fail(sentinel, op, "gave an answer that makes no sense");
    }
    note_master(sentinel, host->str, (int) number);
    sentinel->is_known = !sentinel->is_told; /* behind this answer */
    return LATCH_DONE;
}

static latch_status await_answer(redis_sentinel *sentinel, latch_op *op)
{
    latch_redis_receive(&sentinel->connection);
    switch (sentinel->question->state) {
        case REDIS_ANSWERED:
            return understand(sentinel, op, sentinel->question->reply);
        case REDIS_LOST:
            return fail(sentinel, op, "closed the connection");
        case REDIS_UNANSWERED:
            break;
    }
    return latch_redis_want(&sentinel->connection, sentinel->connection.deadline_ns, op);
}

/* Asks the current one. LATCH_DONE: it has answered. */
static latch_status ask(redis_sentinel *sentinel, latch_op *op, int64_t deadline_ns, int64_t now_ns)
{
    const redis_connection *connection = &sentinel->connection;
    latch_status status = LATCH_DONE;
    bool is_late;

    if (!sentinel->is_asking) {
        begin_question(sentinel, deadline_ns, now_ns);
    }
    is_late = connection->stage != REDIS_CLOSED && now_ns >= connection->deadline_ns;
    if (sentinel->question == NULL) {
        /* It may have answered long ago, with nobody there to see it. */
        status = latch_redis_connect(&sentinel->connection, op,
                                     is_late ? connection->deadline_ns - 1 : now_ns);
        if (status == LATCH_DONE) {
            status = send_question(sentinel, op, now_ns);
        }
    }
    if (status == LATCH_DONE) {
        status = await_answer(sentinel, op);
    }
    if (LATCH_WANTS(status) && is_late) {
        status = fail(sentinel, op, "did not answer in time");
    }
    if (LATCH_WANTS(status)) {
        return status;
    }
    sentinel->is_asking = false;
    forget_question(sentinel);
    if (status != LATCH_DONE) {
        hang_up(sentinel);
    }
    return status;
}

/* None of them could tell; op->error is the last one's. */
static latch_status fail_all(const redis_sentinel *sentinel, latch_op *op)
{
    latch_error last = *op->error;

    return latch_fail(op->error, LATCH_ERROR_STORE, last.sys_errno,
                      "no Sentinel of %s tells where the master \"%s\" is; the last one: %.200s",
                      sentinel->options.address, sentinel->name, last.message);
}

/* Asks all of them, until one can tell. */
static latch_status ask_all(redis_sentinel *sentinel, latch_op *op, int64_t deadline_ns,
                            int64_t now_ns)
{
    latch_status status;

    do {
        status = ask(sentinel, op, deadline_ns, now_ns);
        if (LATCH_WANTS(status)) {
            return status;
        }
        sentinel->ask_ns = now_ns + ASK_AGAIN_NS;
        if (status == LATCH_DONE) {
            sentinel->failures = 0;
            return status;
        }
        sentinel->current = (sentinel->current + 1) % sentinel->options.place_count;
        sentinel->failures++;
    } while (status != LATCH_ERROR_MEMORY && sentinel->failures < sentinel->options.place_count);
    sentinel->failures = 0;
    return status != LATCH_ERROR_MEMORY ? fail_all(sentinel, op) : status;
}

void latch_redis_sentinel_begin(redis_sentinel *sentinel)
{
    sentinel->failures = 0;
    sentinel->trouble[0] = '\0';
}

latch_status latch_redis_sentinel_find(redis_sentinel *sentinel, latch_op *op, int64_t deadline_ns,
                                       int64_t now_ns)
{
    latch_status status = LATCH_DONE;

    while (status == LATCH_DONE && !sentinel->is_known) {
        status = ask_all(sentinel, op, deadline_ns, now_ns);
    }
    return status;
}

unsigned latch_redis_sentinel_look(redis_sentinel *sentinel)
{
    int64_t now_ns = latch_engine_now_ns(sentinel->connection.engine);
    latch_error ignored;
    latch_op nobody = {.error = &ignored, .sent_ns = now_ns};

    if (!sentinel->is_asking && sentinel->connection.stage == REDIS_READY
        && !latch_redis_receive(&sentinel->connection)) {
        sentinel->ask_ns = now_ns; /* another one */
    }
    if (sentinel->is_asking || now_ns >= sentinel->ask_ns) {
        ask_all(sentinel, &nobody, now_ns + sentinel->connection.options->command_timeout_ns,
                now_ns);
    }
    return sentinel->term;
}
