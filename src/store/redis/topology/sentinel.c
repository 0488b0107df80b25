/* Sentinels as address source: see sentinel.h. */
#include "src/store/redis/topology/sentinel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Channels of a Sentinel that has heard of another master, and of the one that has promoted it. */
#define SWITCHED "+switch-master"
#define PROMOTED "+promoted-slave"

/* Interval of routine queries, as a Sentinel may hang, or forbid subscriptions. */
#define QUERY_INTERVAL_NS (5 * LATCH_NS_PER_S)
/* Time-out of a Sentinel when another one has answered already. */
#define OPINION_NS (LATCH_NS_PER_S / 2)
/* Pause before the next round, after too few answers or none. */
#define RETRY_NS (50 * LATCH_NS_PER_MS)
/* Pause before the next round, after they named a replica or an unreachable server. */
#define QUERY_PAUSE_NS (50 * LATCH_NS_PER_MS)
/* Interval at which a waiter for the master's reply re-checks the master. */
#define RECHECK_NS (100 * LATCH_NS_PER_MS)
/* ROLE has an element for each replica. */
#define REPLICAS_MAX 256

static void receive_announcement(void *context, const redisReply *message);

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
    sentinel->connection.elements_max = REDIS_LONG_ELEMENTS_MAX; /* SENTINEL MASTER: many fields */
    sentinel->connection.push = receive_announcement;
    sentinel->connection.push_context = sentinel;
    sentinel->master = (redis_place){.address = sentinel->address, .host = sentinel->host};
}

static void free_sentinel_call(redis_sentinel *sentinel, redis_call **call)
{
    if (*call != NULL) {
        latch_redis_call_free(&sentinel->connection, *call);
        *call = NULL;
    }
}

static void free_question(redis_sentinel *sentinel)
{
    free_sentinel_call(sentinel, &sentinel->epoch_question);
    free_sentinel_call(sentinel, &sentinel->question);
}

static void disconnect_sentinel(redis_sentinel *sentinel)
{
    latch_redis_close(&sentinel->connection);
    free_question(sentinel);
}

void latch_redis_sentinel_end(redis_sentinel *sentinel)
{
    disconnect_sentinel(sentinel);
}

/* ---- Which of them -------------------------------------------------------------------------- */

static uint32_t bit(size_t which)
{
    return UINT32_C(1) << which;
}

static size_t count_of(uint32_t bits)
{
    return (size_t) __builtin_popcount(bits);
}

/* Majority: a failover takes one, so Sentinels cut off from it are fewer. */
static bool is_sentinel_majority(const redis_sentinel *sentinel)
{
    return count_of(sentinel->answered) > sentinel->options.place_count / 2;
}

/* Advances to the next one that is not in the set; false: there is none. */
static bool advance_to_next(redis_sentinel *sentinel, uint32_t but)
{
    for (size_t step = 1; step <= sentinel->options.place_count; step++) {
        size_t which = (sentinel->current + step) % sentinel->options.place_count;

        if ((but & bit(which)) == 0) {
            sentinel->current = which;
            return true;
        }
    }
    return false;
}

/* Chooses the next one of this round; false: the round is over. */
static bool choose_next(redis_sentinel *sentinel)
{
    if (!is_sentinel_majority(sentinel)
        && (advance_to_next(sentinel, sentinel->queried | sentinel->unresponsive)
            || advance_to_next(sentinel, sentinel->queried))) {
        return true;
    }
    if (sentinel->answered == 0 || sentinel->current == sentinel->newest_from
        || sentinel->has_returned) {
        return false;
    }
    sentinel->current = sentinel->newest_from;
    sentinel->has_returned = true;
    return true;
}

static void begin_round(redis_sentinel *sentinel)
{
    sentinel->queried = sentinel->answered = 0;
    sentinel->has_returned = false;
}

/* ---- What is known -------------------------------------------------------------------------- */

static bool is_known_master(const redis_sentinel *sentinel, const char *host, int port)
{
    return sentinel->master.port == port && strcmp(sentinel->host, host) == 0;
}

static void record_master(redis_sentinel *sentinel, const char *host, int port)
{
    if (!is_known_master(sentinel, host, port)) {
        snprintf(sentinel->host, sizeof(sentinel->host), "%s", host);
        sentinel->master.port = port;
        latch_redis_write_address(sentinel->address, sizeof(sentinel->address), sentinel->host,
                                  port);
        sentinel->trouble[0] = '\0'; /* it was another server's */
        sentinel->master_generation++;
    }
}

/* Record why the named server cannot be used. */
static void record_reason(redis_sentinel *sentinel, const char *why)
{
    snprintf(sentinel->trouble, sizeof(sentinel->trouble), "%s", why);
}

/* Record that the named server cannot be used: another one may be named soon. */
static void record_master_failure(redis_sentinel *sentinel, const char *why)
{
    record_reason(sentinel, why);
    sentinel->is_known = false;
    if (!sentinel->is_querying) {
        advance_to_next(sentinel, sentinel->unresponsive); /* the next one may know better */
    }
}

/* Fail a request without a master for so long. */
static latch_status fail_master(const redis_sentinel *sentinel, latch_op *op, double seconds)
{
    if (sentinel->is_outdated) {
        return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                          "no connection to the master \"%s\" within %g s: too few of the "
                          "Sentinels at %s answer, and these know of fewer failovers than others "
                          "have told",
                          sentinel->name, seconds, sentinel->options.address);
    }
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
 * of a promotion: from then on this Sentinel, at least, names the new one.
 */
static void receive_announcement(void *context, const redisReply *message)
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
        && (sentinel->question != NULL || !is_known_master(sentinel, host, port))) {
        if (!is_known_master(sentinel, host, port)) {
            record_reason(sentinel, "another one has become the master");
        }
        sentinel->is_known = false;
        sentinel->is_told = true;
        sentinel->master_generation++;
    }
}

/* ---- The question --------------------------------------------------------------------------- */

/* Begins a query: the remaining Sentinels, and the connection to the master, share the time. */
static void begin_sentinel_query(redis_sentinel *sentinel, int64_t deadline_ns, int64_t now_ns)
{
    int64_t parts = (int64_t) (sentinel->options.place_count - count_of(sentinel->queried)) + 1;
    int64_t part_ns = (deadline_ns - now_ns) / parts;

    if (sentinel->answered != 0 && part_ns > OPINION_NS) {
        part_ns = OPINION_NS;
    }
    disconnect_sentinel(sentinel);
    sentinel->connection.place = &sentinel->options.places[sentinel->current];
    sentinel->options.connect_timeout_ns = part_ns > LATCH_NS_PER_MS ? part_ns : LATCH_NS_PER_MS;
    sentinel->is_querying = true;
    sentinel->is_told = false;
}

static redis_call *send_about(redis_sentinel *sentinel, const char *what, int64_t now_ns)
{
    redis_command command = {.count = 0};

    latch_redis_add_text(&command, "SENTINEL");
    latch_redis_add_text(&command, what);
    latch_redis_add_text(&command, sentinel->name);
    return latch_redis_send(&sentinel->connection, &command, now_ns);
}

/*
 * Sends query and subscription in one packet: later changes are announced. A subscribed connection
 * can query no more. The epoch comes from another command, as that one names the old master until a
 * failover is over; and first, so that no old name goes with a new epoch.
 */
static latch_status send_sentinel_question(redis_sentinel *sentinel, latch_op *op, int64_t now_ns)
{
    redis_command subscription = {.count = 0};
    redis_call *call;

    latch_redis_add_text(&subscription, "SUBSCRIBE");
    latch_redis_add_text(&subscription, SWITCHED);
    latch_redis_add_text(&subscription, PROMOTED);
    latch_redis_batch(&sentinel->connection, true);
    sentinel->epoch_question = send_about(sentinel, "master", now_ns);
    sentinel->question = send_about(sentinel, "get-master-addr-by-name", now_ns);
    call = latch_redis_send(&sentinel->connection, &subscription, now_ns);
    if (call != NULL) {
        latch_redis_call_free(&sentinel->connection, call); /* refused, it changes nothing */
    }
    latch_redis_batch(&sentinel->connection, false);
    return sentinel->epoch_question != NULL && sentinel->question != NULL && call != NULL
               ? LATCH_DONE
               : latch_fail_memory(op->error);
}

static latch_status fail_by_sentinel(const redis_sentinel *sentinel, latch_op *op, const char *what)
{
    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "%s %s",
                      latch_redis_address(&sentinel->connection), what);
}

/* Epoch, or 0: a Sentinel may forbid the command. */
static uint64_t read_epoch(const redisReply *fields)
{
    for (size_t at = 0; fields->type == REDIS_REPLY_ARRAY && at + 1 < fields->elements; at += 2) {
        const redisReply *field = fields->element[at], *value = fields->element[at + 1];

        if (field->type == REDIS_REPLY_STRING && value->type == REDIS_REPLY_STRING
            && strcmp(field->str, "config-epoch") == 0) {
            return strtoull(value->str, NULL, 10);
        }
    }
    return 0;
}

/*
 * Record an answer. A newer epoch counts at once, also during a round. Of equal ones the last is
 * subscribed to: its Sentinel is connected already.
 */
static void record_answer(redis_sentinel *sentinel, const char *host, int port, uint64_t epoch)
{
    if (epoch > sentinel->epoch) {
        record_master(sentinel, host, port);
        sentinel->epoch = epoch;
    }
    if (sentinel->answered == 0 || epoch >= sentinel->newest.epoch) {
        snprintf(sentinel->newest.host, sizeof(sentinel->newest.host), "%s", host);
        sentinel->newest.port = port;
        sentinel->newest.epoch = epoch;
        sentinel->newest_from = sentinel->current;
    }
    sentinel->answered |= bit(sentinel->current);
}

static latch_status parse_answer(redis_sentinel *sentinel, latch_op *op, const redisReply *reply)
{
    const redisReply *host, *port;
    char said[128], what[160];
    long number;

    if (reply->type == REDIS_REPLY_NIL) {
        return fail_by_sentinel(sentinel, op, "knows no master of that name");
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        latch_redis_quote(said, sizeof(said), reply->str, strcspn(reply->str, ",\r\n"));
        snprintf(what, sizeof(what), "answered: %s", said);
        return fail_by_sentinel(sentinel, op, what);
    }
    host = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 ? reply->element[0] : NULL;
    port = host != NULL ? reply->element[1] : NULL;
    if (host == NULL || host->type != REDIS_REPLY_STRING || port->type != REDIS_REPLY_STRING) {
        return fail_by_sentinel(sentinel, op, "gave an answer that makes no sense");
    }
    number = strtol(port->str, NULL, 10);
    if (host->len == 0 || host->len >= sizeof(sentinel->host) || number <= 0 || number > 65535) {
        return fail_by_sentinel(sentinel, op, "gave an answer that makes no sense");
    }
    record_answer(sentinel, host->str, (int) number, read_epoch(sentinel->epoch_question->reply));
    return LATCH_DONE;
}

static latch_status await_sentinel(redis_sentinel *sentinel, latch_op *op)
{
    latch_redis_receive(&sentinel->connection);
    switch (sentinel->question->state) {
        case REDIS_ANSWERED:
            return parse_answer(sentinel, op, sentinel->question->reply);
        case REDIS_LOST:
            return fail_by_sentinel(sentinel, op, "closed the connection");
        case REDIS_UNANSWERED:
            break;
    }
    return latch_redis_want(&sentinel->connection, sentinel->connection.deadline_ns, op);
}

/* Queries the current one. LATCH_DONE: answered. */
static latch_status query_sentinel(redis_sentinel *sentinel, latch_op *op, int64_t deadline_ns,
                                   int64_t now_ns)
{
    const redis_connection *connection = &sentinel->connection;
    latch_status status = LATCH_DONE;
    bool is_late;

    if (!sentinel->is_querying) {
        begin_sentinel_query(sentinel, deadline_ns, now_ns);
    }
    is_late = connection->stage != REDIS_CLOSED && now_ns >= connection->deadline_ns;
    if (sentinel->question == NULL) {
        /* Its reply may have come long ago, while no request read it. */
        status = latch_redis_connect(&sentinel->connection, op,
                                     is_late ? connection->deadline_ns - 1 : now_ns);
        if (status == LATCH_DONE) {
            status = send_sentinel_question(sentinel, op, now_ns);
        }
    }
    if (status == LATCH_DONE) {
        status = await_sentinel(sentinel, op);
    }
    if (latch_wants(status) && is_late) {
        status = fail_by_sentinel(sentinel, op, "did not answer in time");
    }
    if (latch_wants(status)) {
        return status;
    }
    sentinel->is_querying = false;
    free_question(sentinel);
    if (status != LATCH_DONE) {
        disconnect_sentinel(sentinel);
    }
    return status;
}

/* Queries it again while another master is announced behind its answer. */
static latch_status query_until_stable(redis_sentinel *sentinel, latch_op *op, int64_t deadline_ns,
                                       int64_t now_ns)
{
    latch_status status;

    do {
        status = query_sentinel(sentinel, op, deadline_ns, now_ns);
    } while (status == LATCH_DONE && sentinel->is_told);
    return status;
}

/* Fail a request when no Sentinel has answered; op->error is the last one's. */
static latch_status fail_all_sentinels(const redis_sentinel *sentinel, latch_op *op)
{
    latch_error last = *op->error;

    return latch_fail(op->error, LATCH_ERROR_STORE, last.sys_errno,
                      "no Sentinel of %s tells where the master \"%s\" is; the last one: %.200s",
                      sentinel->options.address, sentinel->name, last.message);
}

/*
 * Concludes a round. Few Sentinels may be cut off from the others, and do not undo newer answers.
 * But a majority does, also with an older epoch: epochs restart with Sentinels that were set up
 * anew.
 */
static void conclude_round(redis_sentinel *sentinel, int64_t now_ns)
{
    const redis_sentinel_reply *newest = &sentinel->newest;
    bool is_older = newest->epoch < sentinel->epoch && !is_sentinel_majority(sentinel);

    sentinel->is_outdated = is_older && !is_known_master(sentinel, newest->host, newest->port);
    if (sentinel->is_outdated) {
        sentinel->retry_ns = now_ns + RETRY_NS;
        return;
    }
    record_master(sentinel, newest->host, newest->port);
    sentinel->epoch = is_older ? sentinel->epoch : newest->epoch;
    sentinel->is_known = true;
}

/* Queries as many as it takes. LATCH_DONE: the round is concluded. */
static latch_status query_sentinels(redis_sentinel *sentinel, latch_op *op, int64_t deadline_ns,
                                    int64_t now_ns)
{
    latch_status status;

    do {
        status = query_until_stable(sentinel, op, deadline_ns, now_ns);
        if (latch_wants(status)) {
            return status;
        }
        sentinel->next_query_ns = now_ns + QUERY_INTERVAL_NS;
        sentinel->queried |= bit(sentinel->current);
        sentinel->unresponsive = status == LATCH_DONE
                                     ? sentinel->unresponsive & ~bit(sentinel->current)
                                     : sentinel->unresponsive | bit(sentinel->current);
    } while (status != LATCH_ERROR_MEMORY && choose_next(sentinel));
    if (sentinel->answered != 0 && status != LATCH_ERROR_MEMORY) {
        conclude_round(sentinel, now_ns);
        status = LATCH_DONE;
    } else if (status != LATCH_ERROR_MEMORY) {
        advance_to_next(sentinel, 0);
        status = fail_all_sentinels(sentinel, op);
    }
    begin_round(sentinel);
    return status;
}

/* Reason from an earlier answer? It is better than a time-out in the little time left. */
static bool has_reason(const redis_sentinel *sentinel)
{
    return sentinel->is_outdated || sentinel->trouble[0] != '\0';
}

/*
 * Finds the master, with some of the time until `deadline_ns` left; asks until then once it is
 * known why there is none.
 */
static latch_status find_master(redis_sentinel *sentinel, latch_op *op, int64_t deadline_ns,
                                int64_t now_ns)
{
    latch_status status = LATCH_DONE;

    while (status == LATCH_DONE && !sentinel->is_known) {
        if (now_ns < sentinel->retry_ns) {
            op->wake_ns = sentinel->retry_ns < deadline_ns ? sentinel->retry_ns : deadline_ns;
            return LATCH_WANT_TIMER;
        }
        status = query_sentinels(sentinel, op, deadline_ns, now_ns);
        if (status == LATCH_ERROR_STORE && has_reason(sentinel)) {
            sentinel->retry_ns = now_ns + RETRY_NS; /* until the time is over */
            status = LATCH_DONE;
        }
    }
    return status;
}

/* Polls: reads announcements without waiting; queries again now and then, in the background. */
static void poll_sentinel(redis_sentinel *sentinel)
{
    int64_t now_ns = latch_engine_now_ns(sentinel->connection.engine);
    latch_error ignored;
    latch_op background_op = {.error = &ignored, .sent_ns = now_ns};

    if (!sentinel->is_querying && sentinel->connection.stage == REDIS_READY
        && !latch_redis_receive(&sentinel->connection)) {
        sentinel->next_query_ns = now_ns; /* another one */
    }
    if (sentinel->is_querying || now_ns >= sentinel->next_query_ns) {
        query_sentinels(sentinel, &background_op,
                        now_ns + sentinel->connection.options->command_timeout_ns, now_ns);
    }
}

/* ---- The address source ---------------------------------------------------------------------- */

static void source_begin(redis_connection *connection, const latch_op *op, int64_t now_ns)
{
    redis_sentinel *sentinel = connection->source_context;

    begin_round(sentinel);
    sentinel->is_outdated = false;
    sentinel->trouble[0] = '\0';
    sentinel->retry_ns = 0;
    connection->connecting_ns = now_ns;
    latch_redis_tighten_deadline(connection, op);
}

static latch_status source_find(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    redis_sentinel *sentinel = connection->source_context;
    latch_status status = find_master(sentinel, op, connection->deadline_ns, now_ns);

    if (status == LATCH_DONE) {
        connection->place = &sentinel->master;
        connection->generation = sentinel->master_generation;
    }
    return status;
}

static bool source_is_current(redis_connection *connection)
{
    redis_sentinel *sentinel = connection->source_context;

    poll_sentinel(sentinel);
    return connection->generation == sentinel->master_generation;
}

static void source_suspect(redis_connection *connection)
{
    redis_sentinel *sentinel = connection->source_context;

    if (connection->generation
        == sentinel->master_generation) { /* another one is not known by now */
        sentinel->is_known = false;
    }
}

static latch_status source_record_failure(redis_connection *connection, latch_op *op, int sys_errno,
                                          const char *why, int64_t now_ns)
{
    redis_sentinel *sentinel = connection->source_context;

    (void) op;
    (void) sys_errno;
    if (connection->generation
        == sentinel->master_generation) { /* another one is not known by now */
        record_master_failure(sentinel, why);
    }
    latch_redis_close(connection);
    connection->stage = REDIS_DISCOVERING;
    connection->retry_ns = now_ns + QUERY_PAUSE_NS;
    return LATCH_DONE;
}

static latch_status source_describe_timeout(redis_connection *connection, latch_op *op,
                                            double seconds, int64_t now_ns)
{
    redis_sentinel *sentinel = connection->source_context;
    bool is_silent = latch_redis_is_connect_silent(connection, now_ns);

    /* An earlier reason says more than a server that had no time to answer. */
    if (connection->stage > REDIS_DISCOVERING && (is_silent || sentinel->trouble[0] == '\0')) {
        record_master_failure(sentinel, connection->stage == REDIS_ENCRYPTING
                                            ? REDIS_NO_HANDSHAKE
                                            : "it does not answer");
    }
    return fail_master(sentinel, op, seconds);
}

static const redis_address_source sentinel_source = {
    .begin = source_begin,
    .find = source_find,
    .is_current = source_is_current,
    .suspect = source_suspect,
    .record_failure = source_record_failure,
    .describe_timeout = source_describe_timeout,
    .recheck_ns = RECHECK_NS,
    .wants_master = true,
};

void latch_redis_sentinel_attach(redis_sentinel *sentinel, redis_connection *connection)
{
    if (sentinel->name != NULL) {
        connection->source = &sentinel_source;
        connection->source_context = sentinel;
        connection->elements_max = REPLICAS_MAX;
        connection->place = NULL;
    }
}
