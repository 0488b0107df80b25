/*
 * Client objects that run the scripts of a Redis store: phpredis (\Redis, \RedisArray,
 * \RedisCluster), Relay, which has the same methods, and Predis.
 *
 * Their settings are their user's. A client adds its prefix to the names of keys by itself;
 * serialisers and compression concern neither a script's arguments nor its answer.
 */
#include "ext/store/redis/call.h"

#include "zend_exceptions.h"

static const php_latch_redis_kind kinds[] = {
    {.class = "redis"},
    {.class = "relay\\relay"},
    {.class = "redisarray", .is_array = true},
    {.class = "rediscluster", .is_cluster = true},
    {.class = "relay\\cluster", .is_cluster = true},
    {.class = "predis\\clientinterface", .is_predis = true},
};

/*
 * Classes of Predis for connections to a cluster, and to servers among which Predis chooses
 * (sharding). Its first version has other names for them.
 */
static const char *const predis_clusters[] = {
    "predis\\connection\\cluster\\clusterinterface",
    "predis\\connection\\aggregate\\clusterinterface",
};
static const char *const predis_shards[] = {
    "predis\\connection\\cluster\\prediscluster",
    "predis\\connection\\aggregate\\prediscluster",
};

/* ---- Where scripts are run ------------------------------------------------------------------ */

/* Finds the array's object for the key. NULL: none, or after throwing. */
static zend_object *find_in_array(zend_object *array, zend_string *key)
{
    zval argument, host, node;

    ZVAL_STR(&argument, key);
    php_latch_redis_call_typed(array, "_target", &argument, IS_STRING, &host);
    if (Z_ISUNDEF(host)) {
        return NULL;
    }
    php_latch_redis_call_typed(array, "_instance", &host, IS_OBJECT, &node);
    zval_ptr_dtor(&host);
    return Z_ISUNDEF(node) ? NULL : Z_OBJ(node);
}

/* A new reference, or NULL. */
static zend_object *find_node(const php_latch_redis_session *session, zend_string *key)
{
    if (session->kind->is_array) {
        return find_in_array(session->client.object, key);
    }
    GC_ADDREF(session->client.object);
    return session->client.object;
}

/* Is it in a transaction, or a pipeline, where phpredis only queues commands? */
static bool collects(zend_object *node)
{
    zval mode;

    php_latch_redis_call_typed(node, "getmode", NULL, IS_LONG, &mode);
    return Z_TYPE(mode) == IS_LONG && Z_LVAL(mode) != 0;
}

/* Sets call->node, and call->trouble if it cannot be called. */
static void choose_node(php_latch_redis_call *call, zend_string *key)
{
    const php_latch_redis_kind *kind = call->session->kind;

    call->node = find_node(call->session, key);
    if (call->node == NULL) {
        call->trouble = "the array has no server for it";
    } else if (!kind->is_predis && collects(call->node)) {
        call->trouble = "the client is in a transaction or a pipeline, where commands are only "
                        "collected; call its exec() or discard() first";
    }
}

static void release_node(void *context)
{
    php_latch_redis_call *call = context;
    zend_object *node = call->node;

    call->node = NULL;
    if (node != NULL) {
        OBJ_RELEASE(node);
    }
}

/* ---- Running scripts ------------------------------------------------------------------------ */

static void add_list_text(zval *list, const char *text, size_t length)
{
    zval value;

    ZVAL_STRINGL(&value, text, length);
    zend_hash_next_index_insert_new(Z_ARRVAL_P(list), &value);
}

/* Adds the script's text, or its digest. */
static void name_script(const php_latch_redis_call *call, zval *name)
{
    const latch_redis_script *script = call->script;

    if (call->as_text) {
        ZVAL_STRINGL(name, script->text, script->text_length);
    } else {
        ZVAL_STRINGL(name, script->digest, script->digest_length);
    }
}

static void add_script_arguments(zval *list, const latch_redis_script *script)
{
    for (size_t at = 0; at < script->count; at++) {
        add_list_text(list, script->arguments[at], script->lengths[at]);
    }
}

/* $redis->evalSha($digest, [...$keys, ...$arguments], $keyCount) */
static void run_by_phpredis(php_latch_redis_call *call)
{
    zval arguments[3], value;

    php_latch_call_method(call->node, "clearlasterror", &value, 0, NULL);
    zval_ptr_dtor(&value);
    name_script(call, &arguments[0]);
    array_init(&arguments[1]);
    add_script_arguments(&arguments[1], call->script);
    ZVAL_LONG(&arguments[2], (zend_long) call->script->key_count);
    php_latch_call_method(call->node, call->as_text ? "eval" : "evalsha", &value, 3, arguments);
    zval_ptr_dtor(&arguments[0]);
    zval_ptr_dtor(&arguments[1]);
    if (EG(exception) == NULL
        && !(Z_TYPE(value) == IS_FALSE && php_latch_redis_read_last_error(call))) {
        php_latch_redis_parse_answer(call, &value);
    }
    zval_ptr_dtor(&value);
}

/* Consumes the arguments. The command is undefined if it is no object, or something was thrown. */
static void create_command(zend_object *client, const char *name, zval *list, zval *command)
{
    zval arguments[2];

    ZVAL_STRING(&arguments[0], name);
    ZVAL_COPY_VALUE(&arguments[1], list);
    php_latch_call_method(client, "createcommand", command, 2, arguments);
    zval_ptr_dtor(&arguments[0]);
    zval_ptr_dtor(&arguments[1]);
    if (Z_TYPE_P(command) != IS_OBJECT) {
        zval_ptr_dtor(command);
        ZVAL_UNDEF(command);
    }
}

/* An argument of the command as it is sent: keys with their prefix. */
static void get_argument(zval *command, zend_long position, zval *argument)
{
    zval number;

    ZVAL_LONG(&number, position);
    php_latch_redis_call_typed(Z_OBJ_P(command), "getargument", &number, IS_STRING, argument);
}

/* $client->createCommand('EVALSHA', [$digest, $keyCount, ...$keys, ...$arguments]) */
static void make_command(const php_latch_redis_call *call, zval *command)
{
    zval list, value;

    array_init(&list);
    name_script(call, &value);
    zend_hash_next_index_insert_new(Z_ARRVAL(list), &value);
    ZVAL_LONG(&value, (zend_long) call->script->key_count);
    zend_hash_next_index_insert_new(Z_ARRVAL(list), &value);
    add_script_arguments(&list, call->script);
    create_command(call->node, call->as_text ? "EVAL" : "EVALSHA", &list, command);
}

/*
 * Runs the command on the server of the lock's key, not on the one that Predis would choose by all
 * keys.
 */
static void run_on_shard(const php_latch_redis_call *call, zval *command, zval *value)
{
    enum { FIRST_KEY = 2 };
    zval key, shard;

    ZVAL_UNDEF(value);
    get_argument(command, FIRST_KEY, &key);
    if (Z_ISUNDEF(key)) {
        return;
    }
    php_latch_redis_call_typed(call->session->shards, "getconnectionbykey", &key, IS_OBJECT,
                               &shard);
    zval_ptr_dtor(&key);
    if (!Z_ISUNDEF(shard)) {
        php_latch_call_method(Z_OBJ(shard), "executecommand", value, 1, command);
        zval_ptr_dtor(&shard);
    }
}

static void run_by_predis(php_latch_redis_call *call)
{
    zval command, value;

    make_command(call, &command);
    if (Z_ISUNDEF(command)) {
        return;
    }
    if (call->session->shards != NULL) {
        run_on_shard(call, &command, &value);
    } else {
        php_latch_call_method(call->node, "executecommand", &value, 1, &command);
    }
    zval_ptr_dtor(&command);
    if (EG(exception) == NULL) {
        php_latch_redis_parse_answer(call, &value);
    }
    zval_ptr_dtor(&value);
}

static void call_script(void *context)
{
    php_latch_redis_call *call = context;
    zend_string *key = zend_string_init(call->script->arguments[0], call->script->lengths[0], 0);

    choose_node(call, key);
    zend_string_release(key);
    if (call->trouble != NULL || EG(exception) != NULL) {
        return;
    }
    if (call->session->kind->is_predis) {
        run_by_predis(call);
    } else {
        run_by_phpredis(call);
    }
}

typedef struct redis_exception_reader {
    php_latch_redis_call *call;
    zend_object *exception;
    char *message;
    size_t size;
    bool is_answer; /* the server's */
} redis_exception_reader;

/*
 * Separates errors of the server from those of the client: phpredis throws some of the first,
 * Predis all.
 */
static void read_redis_exception(void *context)
{
    redis_exception_reader *reader = context;
    zval unused, *message;

    message = zend_read_property_ex(zend_ce_exception, reader->exception,
                                    ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused);
    php_latch_copy_text(reader->message, reader->size, message);
    if (php_latch_is_predis_error(reader->exception)) {
        reader->is_answer = true;
        php_latch_redis_set_error(reader->call->answer, message);
    } else if (reader->call->node != NULL && !reader->call->session->kind->is_predis) {
        reader->is_answer = php_latch_redis_read_last_error(reader->call)
                            && reader->call->failure[0] == '\0';
    }
}

/* Handles the exception: an Error is deferred, an Exception becomes the next exception's cause. */
static latch_status handle_redis_exception(php_latch_redis_call *call, zend_object *thrown,
                                           latch_error *error)
{
    redis_exception_reader reader = {call, thrown, error->message, sizeof(error->message), false};

    if (!instanceof_function(thrown->ce, zend_ce_exception)) {
        php_latch_defer_throw(thrown);
        return LATCH_INTERRUPTED;
    }
    php_latch_client_call_quietly(&call->session->client, read_redis_exception, &reader);
    php_latch_client_failure_set(thrown);
    return reader.is_answer && call->answer != NULL ? LATCH_DONE : LATCH_ERROR_LOST;
}

/*
 * Closes a phpredis connection with an overdue answer: the client would take it for the answer to
 * the next command, and a lock for held that is not. It reconnects by itself.
 */
static void close_phpredis(void *context)
{
    const php_latch_redis_call *call = context;
    zval result;

    if (call->node != NULL && !call->session->kind->is_predis) {
        php_latch_call_method(call->node, "close", &result, 0, NULL);
        zval_ptr_dtor(&result);
    }
}

/* ---- The runner ----------------------------------------------------------------------------- */

static latch_status attempt_script(php_latch_redis_call *call, latch_error *error)
{
    php_latch_client *client = &call->session->client;
    zend_object *thrown = php_latch_client_call(client, call_script, call);
    latch_status status = LATCH_DONE;

    snprintf(error->message, sizeof(error->message), "the script has ended");
    if (LATCH_G(deferred_throw).bailed_out) {
        return LATCH_INTERRUPTED; /* the request's memory is freed */
    }
    if (thrown != NULL) {
        status = handle_redis_exception(call, thrown, error);
    } else if (call->failure[0] != '\0') {
        snprintf(error->message, sizeof(error->message), "%s", call->failure);
        status = LATCH_ERROR_LOST;
    } else if (call->trouble != NULL || call->is_queued) {
        snprintf(error->message, sizeof(error->message), "%s",
                 call->trouble != NULL ? call->trouble
                                       : "it is in a transaction, and has queued the command");
        status = LATCH_INTERRUPTED;
    }
    if (status != LATCH_DONE && call->trouble == NULL && !call->is_queued) {
        php_latch_client_call_quietly(client, close_phpredis, call);
    }
    php_latch_client_call_quietly(client, release_node, call);
    return status;
}

static latch_status run_redis_script(void *context, const latch_redis_script *script,
                                     latch_redis_answer *answer, latch_error *error)
{
    php_latch_redis_call call = {.session = context, .script = script, .answer = answer};
    latch_status status;

    if (!php_latch_client_can_call(&call.session->client)) {
        return LATCH_INTERRUPTED;
    }
    status = attempt_script(&call, error);
    if (status == LATCH_DONE && answer->kind == LATCH_REDIS_ERROR
        && strncmp(answer->text, "NOSCRIPT", 8) == 0) {
        call = (php_latch_redis_call){.session = context,
                                      .script = script,
                                      .answer = answer,
                                      .as_text = true};
        status = attempt_script(&call, error);
    }
    return status;
}

/* ---- Whether they can be run ---------------------------------------------------------------- */

/* Reads the client's prefix of keys, a new string; or undefined. */
static void read_prefix(const php_latch_redis_call *call, zval *prefix)
{
    zval list, command, empty;

    if (!call->session->kind->is_predis) {
        ZVAL_EMPTY_STRING(&empty);
        php_latch_redis_call_typed(call->node, "_prefix", &empty, IS_STRING, prefix);
        return;
    }
    ZVAL_UNDEF(prefix);
    array_init(&list);
    add_list_text(&list, "", 0);
    create_command(call->node, "EXISTS", &list, &command);
    if (!Z_ISUNDEF(command)) {
        get_argument(&command, 0, prefix);
        zval_ptr_dtor(&command);
    }
}

static void free_prefix(php_latch_redis_session *session)
{
    if (session->prefix != NULL) {
        zend_string_release(session->prefix);
        session->prefix = NULL;
    }
}

static void check_client(void *context)
{
    php_latch_redis_call *call = context;
    php_latch_redis_session *session = call->session;
    zval prefix;

    if (call->resource != NULL || !session->kind->is_array) {
        choose_node(call, call->resource);
    }
    if (call->trouble != NULL || EG(exception) != NULL || !session->is_cluster) {
        return;
    }
    free_prefix(session);
    read_prefix(call, &prefix);
    if (Z_ISUNDEF(prefix)) {
        call->trouble = "the client does not tell its prefix";
        return;
    }
    session->prefix = zend_string_init(Z_STRVAL(prefix), Z_STRLEN(prefix), 1);
    zval_ptr_dtor(&prefix);
}

static latch_status run_client_check(php_latch_redis_call *call, latch_error *error)
{
    php_latch_client *client = &call->session->client;
    zend_object *thrown = php_latch_client_call(client, check_client, call);

    if (LATCH_G(deferred_throw).bailed_out) {
        error->status = LATCH_ERROR_STORE;
    } else if (thrown != NULL) {
        handle_redis_exception(call, thrown, error);
        error->status = LATCH_ERROR_STORE;
    } else if (call->trouble != NULL) {
        snprintf(error->message, sizeof(error->message), "%s", call->trouble);
        error->status = LATCH_ERROR_ARGUMENT;
    } else {
        error->status = LATCH_DONE;
    }
    if (!LATCH_G(deferred_throw).bailed_out) {
        php_latch_client_call_quietly(client, release_node, call);
    }
    return error->status;
}

static latch_status prepare_redis_client(void *context, const char *resource, size_t length,
                                         const char **prefix, size_t *prefix_length,
                                         latch_error *error)
{
    php_latch_redis_session *session = context;
    php_latch_redis_call call = {.session = session};
    latch_redis_answer unused;

    *error = (latch_error){.status = LATCH_ERROR_STORE,
                           .message = "the client is in the middle of a call, or PHP code cannot "
                                      "be called any more"};
    if (!php_latch_client_can_call(&session->client)) {
        return error->status;
    }
    call.answer = &unused;
    call.resource = resource != NULL ? zend_string_init(resource, length, 0) : NULL;
    run_client_check(&call, error);
    if (call.resource != NULL) {
        zend_string_release(call.resource);
    }
    *prefix = session->prefix != NULL ? ZSTR_VAL(session->prefix) : "";
    *prefix_length = session->prefix != NULL ? ZSTR_LEN(session->prefix) : 0;
    return error->status;
}

static void close_redis_session(void *context)
{
    php_latch_redis_session *session = context;

    free_prefix(session);
    if (session->shards != NULL) {
        OBJ_RELEASE(session->shards);
    }
    OBJ_RELEASE(session->client.object);
    free(session);
}

/* ---- Opening -------------------------------------------------------------------------------- */

static const php_latch_redis_kind *kind_of(zend_object *object)
{
    for (size_t at = 0; at < sizeof(kinds) / sizeof(*kinds); at++) {
        if (php_latch_is_a(object, kinds[at].class)) {
            return &kinds[at];
        }
    }
    return NULL;
}

bool php_latch_is_redis_client(zend_object *object)
{
    return kind_of(object) != NULL;
}

static bool is_one_of(zend_object *object, const char *const names[2])
{
    return php_latch_is_a(object, names[0]) || php_latch_is_a(object, names[1]);
}

/* Finds out what a Predis client is connected to: its class does not say. */
static void detect_predis_connection(php_latch_redis_session *session)
{
    zval connection;

    php_latch_redis_call_typed(session->client.object, "getconnection", NULL, IS_OBJECT,
                               &connection);
    if (Z_ISUNDEF(connection)) {
        return;
    }
    if (is_one_of(Z_OBJ(connection), predis_shards)) {
        session->shards = Z_OBJ(connection);
        GC_ADDREF(session->shards);
    } else {
        session->is_cluster = is_one_of(Z_OBJ(connection), predis_clusters);
    }
    zval_ptr_dtor(&connection);
}

bool php_latch_redis_runner(zend_object *object, latch_redis_runner *runner)
{
    php_latch_redis_session *session = pecalloc(1, sizeof(*session), 1);

    GC_ADDREF(object);
    session->client.object = object;
    session->kind = kind_of(object);
    session->is_cluster = session->kind->is_cluster;
    if (session->kind->is_predis) {
        detect_predis_connection(session);
    }
    if (EG(exception) != NULL) {
        close_redis_session(session);
        return false;
    }
    *runner = (latch_redis_runner){
        .context = session,
        .is_cluster = session->is_cluster,
        .prepare = prepare_redis_client,
        .run = run_redis_script,
        .close = close_redis_session,
    };
    return true;
}
