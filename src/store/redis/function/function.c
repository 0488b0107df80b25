/*
 * Requests of LATCH_CALL, step by step: connect, send, await, apply the reply. A command whose
 * answer is lost is sent once more: by the request's identity the script knows it again.
 */
#include "src/store/redis/function/function.h"

#include "src/store/redis/script/errors.h"
#include "src/store/redis/topology/breaker.h"
#include "src/store/redis/topology/route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Longest time from a request to its repetition: the scripts know a request again for a minute
 * (lua/calls/requests.lua).
 */
#define RESEND_NS (30 * LATCH_NS_PER_S)

/* op->state */
typedef struct function_request {
    redis_topology *topology;
    redis_functions *functions;
    redis_route route;
    redis_node *asked;            /* the server of `call` */
    redis_call *call;             /* in flight, or answered; NULL: to be sent */
    bool as_text;                 /* the server has forgotten the script */
    bool was_lost;                /* sent again already */
    redis_function_waiter waiter; /* a channel of NULL: none */
    char id[REDIS_FUNCTION_ID_LENGTH + 1];
} function_request;

/* Frees the call, or abandons it while it is in flight. */
static void drop_call(function_request *request)
{
    if (request->call != NULL) {
        request->asked->connection.long_replies--;
        latch_redis_call_free(&request->asked->connection, request->call);
        request->call = NULL;
    }
}

void latch_redis_function_abandon(latch_op *op)
{
    function_request *request = op->state;

    if (request != NULL) {
        drop_call(request);
        latch_free(op->lease->store->engine, request);
        op->state = NULL;
    }
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* Sends ASKING before a command for a slot that is migrating to the server. */
static bool send_asking_before(redis_node *node, int64_t now_ns)
{
    redis_command command = {.count = 0};
    redis_call *call;

    latch_redis_add_text(&command, "ASKING");
    call = latch_redis_send(&node->connection, &command, now_ns);
    if (call != NULL) {
        latch_redis_call_abandon(call, NULL, NULL);
    }
    return call != NULL;
}

static latch_status send_function(function_request *request, latch_op *op, int64_t now_ns)
{
    const latch_lease *lease = op->lease;
    const latch_engine *engine = lease->store->engine;
    redis_node *node;
    redis_function_command written;
    latch_status status = latch_redis_route_connect(request->topology, &request->route,
                                                    lease->resource, lease->resource_length, op,
                                                    now_ns);

    if (status != LATCH_DONE) {
        return status;
    }
    node = request->route.node;
    if (latch_redis_write_function(&written, engine, request->functions, request->topology->keys,
                                   op->request.call, lease->resource, lease->resource_length,
                                   request->id,
                                   request->waiter.channel != NULL ? &request->waiter : NULL,
                                   request->as_text)
        && (!request->route.needs_asking || send_asking_before(node, now_ns))) {
        request->call =
            node->connection.transport->send(&node->connection, &written.command, now_ns);
    }
    latch_redis_function_command_end(&written, engine);
    if (request->call == NULL) {
        return latch_fail_memory(op->error);
    }
    request->asked = node;
    node->connection.long_replies++;
    op->sent_ns = now_ns;
    return LATCH_DONE;
}

/* ---- Replies -------------------------------------------------------------------------------- */

static latch_status fail_senseless(latch_op *op, redis_node *node)
{
    latch_redis_close(&node->connection);
    return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                      "Redis at %s gave an answer that makes no sense",
                      latch_redis_address(&node->connection));
}

static bool is_whole_number(const redisReply *text)
{
    const char *digits = text->str + (text->str[0] == '-');

    return digits[0] != '\0'
           && strspn(digits, "0123456789") == (size_t) (text->str + text->len - digits);
}

/* Is it a list of byte strings, of those at least that the function answers with? */
static bool is_answer(latch_function function, const redisReply *reply)
{
    const char *parts = latch_redis_function_parts(function);

    if (reply->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    if (parts[0] == '?') {
        parts = reply->elements > 0 ? parts + 1 : "";
    }
    if (reply->elements < strlen(parts)) {
        return false;
    }
    for (size_t at = 0; at < reply->elements; at++) {
        const redisReply *part = reply->element[at];

        if (part->type != REDIS_REPLY_STRING
            || (at < strlen(parts) && parts[at] == '#' && !is_whole_number(part))) {
            return false;
        }
    }
    return true;
}

static latch_status apply_list(latch_op *op, redis_node *node, const redisReply *reply)
{
    latch_answer *answer;
    size_t bytes = 0;

    if (!is_answer(op->request.call->function, reply)) {
        return fail_senseless(op, node);
    }
    for (size_t at = 0; at < reply->elements; at++) {
        bytes += reply->element[at]->len;
    }
    answer = latch_answer_make(op->lease->store->engine, reply->elements, bytes);
    if (answer == NULL) {
        return latch_fail_memory(op->error);
    }
    for (size_t at = 0; at < reply->elements; at++) {
        latch_answer_add(answer, reply->element[at]->str, reply->element[at]->len);
    }
    op->request.call->answer = answer;
    return LATCH_DONE;
}

/* LATCH_AGAIN: send it once more. */
static latch_status apply_function_error(function_request *request, latch_op *op, const char *text,
                                         int64_t now_ns)
{
    redis_node *node = request->asked;
    bool is_readonly = latch_redis_is_readonly_error(text);
    char quoted[256];

    if (latch_redis_route_redirect(&request->route, op, text, now_ns)) {
        return LATCH_AGAIN;
    }
    if (latch_redis_is_noscript_error(text) && !request->as_text) {
        request->as_text = true;
        return LATCH_AGAIN;
    }
    latch_redis_quote_error(quoted, sizeof(quoted), latch_redis_skip_place(text), NULL);
    latch_fail(op->error, LATCH_ERROR_STORE, 0, "Redis at %s answered: %s",
               latch_redis_address(&node->connection), quoted);
    if (is_readonly) { /* it was the master once: the name may lead to another by now */
        latch_redis_close(&node->connection);
        if (node->connection.source->wants_master && !request->was_lost) {
            request->was_lost = true;
            return LATCH_AGAIN;
        }
    }
    return LATCH_ERROR_STORE;
}

static latch_status apply_function_reply(function_request *request, latch_op *op, int64_t now_ns)
{
    const redisReply *reply = request->call->reply;

    latch_redis_breaker_record_reply(request->asked, now_ns);
    if (reply->type == REDIS_REPLY_ERROR) {
        return apply_function_error(request, op, reply->str, now_ns);
    }
    latch_redis_route_confirm(&request->route, op->lease->resource, op->lease->resource_length);
    return apply_list(op, request->asked, reply);
}

/* The connection has ended, and the reply with it: sent once more, as it is idempotent. */
static latch_status retry_function(function_request *request, latch_op *op, int64_t now_ns)
{
    redis_node *node = request->asked;

    latch_redis_record_node_failure(node);
    latch_redis_route_reset(&request->route);
    if (!request->was_lost && !node->connection.was_slow && now_ns - op->sent_ns < RESEND_NS) {
        request->was_lost = true;
        return LATCH_AGAIN;
    }
    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "lost the connection to Redis at %s: %s",
                      latch_redis_address(&node->connection), node->connection.trouble);
}

static latch_status fail_silent(const function_request *request, latch_op *op)
{
    redis_node *node = request->asked;

    latch_redis_close(&node->connection);
    latch_redis_record_node_failure(node);
    return latch_fail(op->error, LATCH_ERROR_STORE, ETIMEDOUT,
                      "Redis at %s did not answer within %g s",
                      latch_redis_address(&node->connection),
                      (double) node->connection.options->command_timeout_ns
                          / (double) LATCH_NS_PER_S);
}

/* LATCH_AGAIN: send it once more. */
static latch_status await_function(function_request *request, latch_op *op, bool was_sent,
                                   int64_t now_ns)
{
    redis_connection *connection = &request->asked->connection;
    redis_call *call = request->call;
    latch_status status;

    if (call->state == REDIS_UNANSWERED && (was_sent || connection->transport->is_synchronous)) {
        connection->transport->receive(connection);
    }
    if (call->state == REDIS_UNANSWERED && now_ns < call->deadline_ns) {
        return latch_redis_want(connection, call->deadline_ns, op);
    }
    status = call->state == REDIS_ANSWERED     ? apply_function_reply(request, op, now_ns)
             : call->state == REDIS_UNANSWERED ? fail_silent(request, op)
                                               : retry_function(request, op, now_ns);
    drop_call(request);
    return status;
}

/* ---- From begin to end ---------------------------------------------------------------------- */

latch_status latch_redis_function_step(latch_op *op, int64_t now_ns)
{
    function_request *request = op->state;
    latch_status status;

    if (op->generation != op->lease->store->engine->generation) {
        /* Its answer is the parent's, and its identity, too. */
        latch_redis_function_abandon(op);
        return latch_fail(op->error, LATCH_ERROR_STORE, 0,
                          "the process was forked in the middle of the call, which its parent "
                          "goes on with");
    }
    do {
        bool was_sent = request->call != NULL;

        status = was_sent ? LATCH_DONE : send_function(request, op, now_ns);
        if (status == LATCH_DONE) {
            status = await_function(request, op, was_sent, now_ns);
        }
    } while (status == LATCH_AGAIN);
    if (latch_wants(status)) {
        return status;
    }
    if (latch_failed(status)) {
        latch_redis_breaker_record_timeout(op, request->route.node, now_ns);
    }
    latch_redis_function_abandon(op);
    return status;
}

static bool make_id(const latch_engine *engine, char id[REDIS_FUNCTION_ID_LENGTH + 1])
{
    uint8_t bytes[REDIS_FUNCTION_ID_LENGTH / 2];

    if (!engine->env.random(engine->env.context, bytes, sizeof(bytes))) {
        return false;
    }
    for (size_t at = 0; at < sizeof(bytes); at++) {
        snprintf(id + 2 * at, 3, "%02x", bytes[at]);
    }
    return true;
}

latch_status latch_redis_function_begin(latch_op *op, redis_topology *topology,
                                        redis_functions *functions,
                                        const redis_function_waiter *waiter)
{
    latch_engine *engine = op->lease->store->engine;
    function_request *request = latch_allocate(engine, sizeof(*request));

    if (request == NULL) {
        return latch_fail_memory(op->error);
    }
    *request = (function_request){
        .topology = topology,
        .functions = functions,
        .waiter = waiter != NULL ? *waiter : (redis_function_waiter){0},
    };
    if (!make_id(engine, request->id)) {
        latch_free(engine, request);
        return latch_fail(op->error, LATCH_ERROR_SYSTEM, 0, "the random source gave no bytes");
    }
    op->state = request;
    op->generation = engine->generation;
    return latch_redis_function_step(op, op->sent_ns);
}
