/* Transport over a client of the engine's user: see client_object.h. */
#include "src/store/redis/lock/client_object.h"

#include "src/store/redis/lock/redis.h"

#include <stdio.h>
#include <string.h>

/* Call with its answer, in hiredis' form. */
typedef struct answered_call {
    redis_call call;
    redisReply reply, numbers[2];
    redisReply *elements[2];
    latch_redis_answer answer;
} answered_call;

static char *copy_option(const latch_engine *engine, const char *text)
{
    char *copied = latch_allocate(engine, strlen(text) + 1);

    return copied != NULL ? strcpy(copied, text) : NULL;
}

latch_status latch_redis_object_options(latch_engine *engine, redis_options *options,
                                        latch_error *error)
{
    *options = (redis_options){
        .address = copy_option(engine, "the given connection"),
        .prefix = copy_option(engine, ""), /* the client's own goes before all keys */
        .connect_timeout_ns = REDIS_DEFAULT_CONNECT_TIMEOUT_NS,
        .command_timeout_ns = REDIS_DEFAULT_COMMAND_TIMEOUT_NS,
        .peers = REDIS_PEERS_NO, /* a store on a client object has no queue that peers could join */
    };
    if (options->address == NULL || options->prefix == NULL) {
        latch_redis_options_free(engine, options);
        return latch_fail_memory(error);
    }
    return LATCH_DONE;
}

/*
 * The transport's prepare(), for op->lease, or, without a lease, for pending releases. After an
 * error the connection is as it was: the client may be in use, above us.
 */
static latch_status object_prepare(redis_connection *connection, latch_op *op, int64_t now_ns)
{
    redis_object *object = connection->transport_context;
    const latch_redis_runner *runner = &object->runner;
    const redis_hold *hold = op->lease != NULL ? op->lease->state : NULL;
    const char *prefix;
    size_t length;
    latch_status status = runner->prepare(runner->context, hold != NULL ? hold->name : NULL,
                                          hold != NULL ? hold->name_length : 0, &prefix, &length,
                                          op->error);

    (void) now_ns;
    if (status == LATCH_DONE && runner->is_cluster
        && latch_redis_prefix_kind(prefix, length) == REDIS_PREFIX_UNFIT) {
        status = latch_fail(op->error, LATCH_ERROR_ARGUMENT, 0, "%s", REDIS_PREFIX_ADVICE);
    }
    if (status == LATCH_DONE) {
        latch_redis_keyspace_init_added(object->keys, prefix, length, runner->is_cluster);
        if (op->lease != NULL && op->lease->is_permit
            && !latch_redis_has_permit_slot(object->keys, op)) {
            return op->error->status;
        }
        connection->stage = REDIS_READY;
    }
    return status;
}

/* Of stores on a client object. */
static const latch_store_info object_info = {REDIS_INFO, .capabilities = REDIS_CAPABILITIES};
static const latch_store_info string_object_info = {REDIS_STRING_INFO,
                                                    .capabilities = REDIS_STRING_CAPABILITIES};

void latch_redis_use_object(redis_store *store, const latch_redis_runner *runner)
{
    latch_redis_object_attach(&store->object, runner, &store->keys,
                              &store->topology.single.connection);
    store->store.info = latch_redis_has_owners(store) ? &string_object_info : &object_info;
    latch_redis_disable_pubsub(&store->subscription);
}

void latch_redis_object_flush_pending(redis_store *store)
{
    latch_error error;
    latch_op background_op = {.error = &error};

    if (!latch_redis_pending_is_empty(store)
        && object_prepare(&store->topology.single.connection, &background_op, 0) == LATCH_DONE) {
        latch_redis_pending_flush(store, NULL, latch_engine_now_ns(store->store.engine));
    }
}

const char *latch_redis_renewal_unsupported_reason(const latch_store *base)
{
    return !latch_redis_has_object((const redis_store *) base)
               ? NULL
               : "its server is reached by a given connection, which only the thread that has the "
                 "connection can use; give the store a DSN";
}

/* ---- Scripts and their answers -------------------------------------------------------------- */

/*
 * Copies the list of an answer into a block of its own: hiredis's elements, the pointers to them,
 * and their texts. Frees the answer's. False: memory ran out.
 */
static bool write_list(const latch_engine *engine, answered_call *made)
{
    latch_answer *list = made->answer.list;
    size_t size = list->count * (sizeof(redisReply) + sizeof(redisReply *) + 1);
    redisReply *elements;
    char *text;

    for (size_t at = 0; at < list->count; at++) {
        size += list->parts[at].length;
    }
    elements = latch_allocate(engine, size + 1);
    if (elements != NULL) {
        made->call.block = elements;
        memset(elements, 0, list->count * sizeof(*elements));
        made->reply.element = (redisReply **) (elements + list->count);
        text = (char *) (made->reply.element + list->count);
        for (size_t at = 0; at < list->count; at++) {
            elements[at].type = REDIS_REPLY_STRING;
            elements[at].str = text;
            elements[at].len = list->parts[at].length;
            made->reply.element[at] = &elements[at];
            text = (char *) mempcpy(text, list->parts[at].text, list->parts[at].length + 1);
        }
        made->reply.elements = list->count;
        made->reply.type = REDIS_REPLY_ARRAY;
    }
    latch_answer_free(engine, list);
    made->answer.list = NULL;
    return elements != NULL;
}

/* A list is written by write_list(). */
static redisReply *write_reply(answered_call *made)
{
    const latch_redis_answer *answer = &made->answer;
    redisReply *reply = &made->reply;

    reply->str = made->answer.text;
    reply->len = strlen(answer->text);
    for (size_t at = 0; at < 2; at++) {
        made->numbers[at].type = REDIS_REPLY_INTEGER;
        made->numbers[at].integer = answer->integers[at];
        made->elements[at] = &made->numbers[at];
    }
    reply->integer = answer->integers[0];
    switch (answer->kind) {
        case LATCH_REDIS_NIL:
            reply->type = REDIS_REPLY_NIL;
            break;
        case LATCH_REDIS_INTEGER:
            reply->type = REDIS_REPLY_INTEGER;
            break;
        case LATCH_REDIS_PAIR:
            reply->type = REDIS_REPLY_ARRAY;
            reply->elements = 2;
            reply->element = made->elements;
            break;
        case LATCH_REDIS_TEXT:
            reply->type = REDIS_REPLY_STRING;
            break;
        case LATCH_REDIS_ERROR:
            reply->type = REDIS_REPLY_ERROR;
            break;
        case LATCH_REDIS_LIST:
            break;
        case LATCH_REDIS_UNEXPECTED:
            reply->type = REDIS_REPLY_STATUS; /* which no script of ours gives */
            break;
    }
    return reply;
}

/* The reply; NULL: it is lost, and the connection is not READY any more. */
static redisReply *run_by_object(redis_connection *connection, const latch_redis_script *script,
                                 answered_call *made)
{
    const redis_object *object = connection->transport_context;
    int64_t begun_ns = latch_engine_now_ns(connection->engine);
    latch_error error = {.message = ""};
    latch_status status = object->runner.run(object->runner.context, script, &made->answer, &error);

    if (status == LATCH_DONE && made->answer.kind == LATCH_REDIS_LIST) {
        if (!write_list(connection->engine, made)) {
            made->answer.kind = LATCH_REDIS_UNEXPECTED;
        }
    } else if (made->answer.list != NULL) { /* lost behind it */
        latch_answer_free(connection->engine, made->answer.list);
        made->answer.list = NULL;
    }
    if (status == LATCH_DONE) {
        if (made->answer.kind == LATCH_REDIS_ERROR) {
            latch_redis_quote_error(connection->trouble, sizeof(connection->trouble),
                                    made->answer.text, script->arguments[script->key_count]);
        }
        return write_reply(made);
    }
    connection->was_slow = status == LATCH_INTERRUPTED
                           || latch_engine_now_ns(connection->engine) - begun_ns
                                  >= LATCH_BREAKER_TIMEOUT_NS;
    snprintf(connection->trouble, sizeof(connection->trouble), "%.*s",
             (int) sizeof(connection->trouble) - 1, error.message);
    connection->stage = REDIS_CLOSED;
    return NULL;
}

/* The transport's send(). After an answer that was lost nothing is run until the next request. */
static redis_call *object_send(redis_connection *connection, const redis_command *command,
                               int64_t now_ns)
{
    answered_call *made;

    if (command->script == NULL) {
        return NULL; /* nothing but scripts is run here */
    }
    made = latch_allocate(connection->engine, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    memset(made, 0, sizeof(*made));
    made->call.state = REDIS_UNANSWERED;
    made->call.deadline_ns = now_ns + connection->options->command_timeout_ns;
    if (connection->stage == REDIS_READY) {
        made->call.reply = run_by_object(connection, command->script, made);
    }
    latch_list_append(&connection->calls, &made->call.link); /* now it is no news to others */
    return &made->call;
}

static bool object_receive(redis_connection *connection)
{
    while (connection->calls.next != &connection->calls) {
        redis_call *call = LATCH_CONTAINER(connection->calls.next, redis_call, link);

        latch_redis_call_complete(connection, call,
                                  call->reply != NULL ? REDIS_ANSWERED : REDIS_LOST, call->reply);
    }
    return connection->stage == REDIS_READY;
}

void latch_redis_object_attach(redis_object *object, const latch_redis_runner *runner,
                               redis_keyspace *keys, redis_connection *connection)
{
    static const redis_transport transport = {
        .prepare = object_prepare,
        .send = object_send,
        .receive = object_receive,
        .is_synchronous = true,
    };

    object->runner = *runner;
    object->keys = keys;
    connection->transport = &transport;
    connection->transport_context = object;
}
