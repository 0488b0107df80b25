/*
 * Statements that PHP code runs for the engine, in a session that PHP code has: by a \PDO object or
 * a Doctrine DBAL connection.
 *
 * The engine stands above on the stack, in the middle of an operation, and cannot be left by
 * longjmp() nor be called for the same session. So PHP's signal handlers wait until the statement
 * has ended, and what ends a script (a fatal error, exit()) or is no matter of the store (an Error)
 * is put aside until the engine has returned: php_latch_end_statements().
 */
#include "sql.h"

#include "zend_exceptions.h"

#include <signal.h>

typedef struct sql_session {
    zend_object *connection; /* a reference */
    php_latch_sql_client client;
    bool is_running; /* a statement */
} sql_session;

/* What is put aside while a statement runs. */
typedef struct sql_call {
    zend_execute_data frame; /* exceptions stop here */
    zend_object *exception;  /* pending, when a destructor releases */
    const zend_op *opline_before_exception;
    bool interrupt;
    sigset_t signals;
} sql_call;

/* How the server says that a statement has failed. */
typedef struct sql_trouble {
    bool is_known; /* it was the server, or the connection, and nobody in between */
    char state[6]; /* SQLSTATE */
    zend_long code;
    char message[256];
} sql_trouble;

zend_class_entry *php_latch_find_class(const char *lower_name)
{
    zend_string *name = zend_string_init(lower_name, strlen(lower_name), 0);
    zend_class_entry *ce =
        zend_lookup_class_ex(name, NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD | ZEND_FETCH_CLASS_SILENT);

    zend_string_release(name);
    return ce;
}

void php_latch_call_method(zend_object *object, const char *lower_name, zval *result,
                           uint32_t argument_count, zval *arguments)
{
    zend_function *method =
        zend_hash_str_find_ptr(&object->ce->function_table, lower_name, strlen(lower_name));

    ZVAL_UNDEF(result);
    if (method != NULL && EG(exception) == NULL) {
        zend_call_known_instance_method(method, object, result, argument_count, arguments);
    }
}

/* ---- Calls of PHP code ---------------------------------------------------------------------- */

/* But for those that a fault in the statement itself raises. */
static void block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t at = 0; at < sizeof(faults) / sizeof(*faults); at++) {
        sigdelset(&blocked, faults[at]);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

static bool can_call(const sql_session *session)
{
    return !session->is_running && !LATCH_G(all_released) && !LATCH_G(sql_bailed_out)
           && !php_latch_is_out_of_memory();
}

static void begin_call(sql_session *session, sql_call *call)
{
    session->is_running = true;
    block_signals(&call->signals);
    call->interrupt = zend_atomic_bool_load_ex(&EG(vm_interrupt));
    zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
    call->exception = EG(exception);
    call->opline_before_exception = EG(opline_before_exception);
    EG(exception) = NULL;
    memset(&call->frame, 0, sizeof(call->frame));
    call->frame.func = (zend_function *) &zend_pass_function;
    call->frame.prev_execute_data = EG(current_execute_data);
    EG(current_execute_data) = &call->frame;
}

/* Returns what was thrown. */
static zend_object *end_call(sql_session *session, const sql_call *call)
{
    zend_object *thrown = EG(exception);

    EG(current_execute_data) = call->frame.prev_execute_data;
    EG(exception) = call->exception;
    EG(opline_before_exception) = call->opline_before_exception;
    if (call->interrupt) {
        zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
    }
    pthread_sigmask(SIG_SETMASK, &call->signals, NULL);
    session->is_running = false;
    return thrown;
}

/* ---- Failures ------------------------------------------------------------------------------- */

static void note_state(sql_trouble *trouble, zval *state)
{
    if (state != NULL && Z_TYPE_P(state) == IS_STRING) {
        snprintf(trouble->state, sizeof(trouble->state), "%s", Z_STRVAL_P(state));
        trouble->is_known = true;
    }
}

static void note_message(sql_trouble *trouble, zval *message)
{
    if (message != NULL && Z_TYPE_P(message) == IS_STRING) {
        snprintf(trouble->message, sizeof(trouble->message), "%s", Z_STRVAL_P(message));
    }
}

/* PDO's [SQLSTATE, code, message]. */
static void note_error_info(sql_trouble *trouble, zval *info)
{
    zval *code;

    ZVAL_DEREF(info);
    if (Z_TYPE_P(info) == IS_ARRAY) {
        note_state(trouble, zend_hash_index_find(Z_ARR_P(info), 0));
        code = zend_hash_index_find(Z_ARR_P(info), 1);
        trouble->code = code != NULL && Z_TYPE_P(code) == IS_LONG ? Z_LVAL_P(code) : 0;
        note_message(trouble, zend_hash_index_find(Z_ARR_P(info), 2));
    }
}

/* Of a \PDO or a \PDOStatement, when its error mode was changed: errors are no exceptions then. */
static void note_error_of(sql_trouble *trouble, zend_object *object)
{
    zval info;

    php_latch_call_method(object, "errorinfo", &info, 0, NULL);
    note_error_info(trouble, &info);
    zval_ptr_dtor(&info);
}

/* Of an Exception: PDO's, or one of Doctrine DBAL's, which know their SQLSTATE, too. */
static void read_exception(zend_object *exception, sql_trouble *trouble)
{
    zend_class_entry *pdo_exception = php_latch_find_class("pdoexception");
    zval unused, *property;

    if (pdo_exception != NULL && instanceof_function(exception->ce, pdo_exception)) {
        property = zend_read_property(exception->ce, exception, ZEND_STRL("errorInfo"), 1, &unused);
        note_error_info(trouble, property);
    } else {
        zval state;

        php_latch_call_method(exception, "getsqlstate", &state, 0, NULL);
        note_state(trouble, &state);
        zval_ptr_dtor(&state);
        property = zend_read_property_ex(zend_ce_exception, exception, ZSTR_KNOWN(ZEND_STR_CODE), 1,
                                         &unused);
        trouble->code = Z_TYPE_P(property) == IS_LONG ? Z_LVAL_P(property) : 0;
    }
    note_message(trouble, zend_read_property_ex(zend_ce_exception, exception,
                                                ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused));
}

static bool has_state(const sql_trouble *trouble, const char *state)
{
    return strncmp(trouble->state, state, strlen(state)) == 0;
}

/* libpq has no SQLSTATE for a connection that is gone, only words. */
static bool tells_of_loss(const sql_trouble *trouble)
{
    static const char *const words[] = {
        "server closed the connection",
        "no connection to the server",
        "connection not open",
        "connection has been closed unexpectedly",
        "could not receive data from server",
        "could not send data to server",
    };

    for (size_t at = 0; at < sizeof(words) / sizeof(*words); at++) {
        if (strstr(trouble->message, words[at]) != NULL) {
            return true;
        }
    }
    return false;
}

static latch_status judge(const sql_trouble *trouble)
{
    enum {
        MYSQL_SERVER_SHUTDOWN = 1053,
        MYSQL_DEADLOCK = 1213,
        MARIADB_CONNECTION_KILLED = 1927,
        MYSQL_SERVER_GONE = 2006,
        MYSQL_SERVER_LOST = 2013,
        MYSQL_USER_LOCK_DEADLOCK = 3058,
        MYSQL_CLIENT_WAS_INACTIVE = 4031,
    };

    if (!trouble->is_known) {
        return LATCH_INTERRUPTED;
    }
    if (has_state(trouble, "55P03")) {
        return LATCH_CONFLICT;
    }
    if (has_state(trouble, "40P01")) {
        return LATCH_ERROR_DEADLOCK;
    }
    if (has_state(trouble, "08") || has_state(trouble, "57P01") || has_state(trouble, "57P02")) {
        return LATCH_ERROR_LOST;
    }
    switch (trouble->code) {
        case MYSQL_DEADLOCK:
        case MYSQL_USER_LOCK_DEADLOCK:
            return LATCH_ERROR_DEADLOCK;
        case MYSQL_SERVER_SHUTDOWN:
        case MARIADB_CONNECTION_KILLED:
        case MYSQL_SERVER_GONE:
        case MYSQL_SERVER_LOST:
        case MYSQL_CLIENT_WAS_INACTIVE:
            return LATCH_ERROR_LOST;
        default:
            return tells_of_loss(trouble) ? LATCH_ERROR_LOST : LATCH_ERROR_STORE;
    }
}

/* ---- Statements ----------------------------------------------------------------------------- */

/* One round trip: an emulated statement is sent as it is, and ours have nothing to be filled in. */
static void run_by_pdo(zend_object *pdo, zend_string *statement, zval *value, sql_trouble *trouble)
{
    zval arguments[2], prepared, executed;

    ZVAL_STR(&arguments[0], statement);
    array_init(&arguments[1]);
    add_index_bool(&arguments[1], PHP_LATCH_PDO_ATTR_EMULATE_PREPARES, true);
    php_latch_call_method(pdo, "prepare", &prepared, 2, arguments);
    zval_ptr_dtor(&arguments[1]);
    if (Z_TYPE(prepared) == IS_OBJECT) {
        php_latch_call_method(Z_OBJ(prepared), "execute", &executed, 0, NULL);
        if (Z_TYPE(executed) == IS_TRUE) {
            php_latch_call_method(Z_OBJ(prepared), "fetchcolumn", value, 0, NULL);
        } else {
            note_error_of(trouble, Z_OBJ(prepared));
        }
        zval_ptr_dtor(&executed);
    } else {
        note_error_of(trouble, pdo);
    }
    zval_ptr_dtor(&prepared); /* frees its result, too, which may be unbuffered */
}

static void run_by_dbal(zend_object *connection, zend_string *statement, zval *value)
{
    zval argument;

    ZVAL_STR(&argument, statement);
    php_latch_call_method(connection, "fetchone", value, 1, &argument);
}

/* True when there was a value, or NULL, or no row. */
static bool take_value(zval *answer, char *value, size_t size)
{
    bool is_text = Z_TYPE_P(answer) == IS_STRING;
    bool is_value = is_text || Z_TYPE_P(answer) == IS_NULL || Z_TYPE_P(answer) == IS_FALSE;

    snprintf(value, size, "%s", is_text ? Z_STRVAL_P(answer) : "");
    zval_ptr_dtor(answer);
    return is_value;
}

static bool run_statement(const sql_session *session, const char *statement, char *value,
                          size_t size, sql_trouble *trouble)
{
    zend_string *text = zend_string_init(statement, strlen(statement), 0);
    zval answer;

    ZVAL_UNDEF(&answer);
    if (session->client == PHP_LATCH_PDO) {
        run_by_pdo(session->connection, text, &answer, trouble);
    } else {
        run_by_dbal(session->connection, text, &answer);
    }
    zend_string_release(text);
    return take_value(&answer, value, size);
}

/* What is thrown while we ask about an exception is of no use to anybody. */
static void forget_thrown(sql_session *session, const sql_call *call)
{
    zend_object *thrown = end_call(session, call);

    if (thrown != NULL) {
        OBJ_RELEASE(thrown);
    }
}

static latch_status judge_exception(sql_session *session, zend_object *exception,
                                    latch_error *error)
{
    sql_trouble trouble = {.message = ""};
    sql_call call;

    begin_call(session, &call);
    zend_try
    {
        read_exception(exception, &trouble);
    }
    zend_catch
    {
        LATCH_G(sql_bailed_out) = true;
    }
    zend_end_try();
    forget_thrown(session, &call);
    snprintf(error->message, sizeof(error->message), "%s", trouble.message);
    return judge(&trouble);
}

void php_latch_forget_sql_failure(void)
{
    zend_object *failure = LATCH_G(sql_failure);

    LATCH_G(sql_failure) = NULL;
    if (failure != NULL) {
        OBJ_RELEASE(failure);
    }
}

zend_object *php_latch_take_sql_failure(void)
{
    zend_object *failure = LATCH_G(sql_failure);

    LATCH_G(sql_failure) = NULL;
    return failure;
}

/* Keeps what was thrown, for one or the other. */
static latch_status take_thrown(sql_session *session, zend_object *thrown, latch_error *error)
{
    latch_status status;

    if (!instanceof_function(thrown->ce, zend_ce_exception)) {
        LATCH_G(sql_thrown) = thrown;
        return LATCH_INTERRUPTED;
    }
    status = judge_exception(session, thrown, error);
    php_latch_forget_sql_failure();
    LATCH_G(sql_failure) = thrown;
    return status;
}

/* ---- The runner ----------------------------------------------------------------------------- */

static latch_status run(void *context, const char *statement, char *value, size_t size,
                        latch_error *error)
{
    sql_session *session = context;
    sql_trouble trouble = {.message = "it gave no answer"};
    volatile bool is_answered = false;
    zend_object *thrown;
    sql_call call;

    if (!can_call(session)) {
        return LATCH_ERROR_MEMORY;
    }
    begin_call(session, &call);
    zend_try
    {
        is_answered = run_statement(session, statement, value, size, &trouble);
    }
    zend_catch
    {
        LATCH_G(sql_bailed_out) = true;
    }
    zend_end_try();
    thrown = end_call(session, &call);
    if (LATCH_G(sql_bailed_out)) {
        return LATCH_INTERRUPTED;
    }
    if (thrown != NULL) {
        return take_thrown(session, thrown, error);
    }
    if (is_answered) {
        return LATCH_DONE;
    }
    snprintf(error->message, sizeof(error->message), "%s", trouble.message);
    return judge(&trouble);
}

static bool is_in_transaction(void *context)
{
    sql_session *session = context;
    volatile bool answer = true;
    sql_call call;

    if (!can_call(session)) {
        return true;
    }
    begin_call(session, &call);
    zend_try
    {
        zval result;

        php_latch_call_method(session->connection,
                              session->client == PHP_LATCH_PDO ? "intransaction"
                                                               : "istransactionactive",
                              &result, 0, NULL);
        answer = Z_TYPE(result) != IS_FALSE;
        zval_ptr_dtor(&result);
    }
    zend_catch
    {
        LATCH_G(sql_bailed_out) = true;
    }
    zend_end_try();
    forget_thrown(session, &call);
    return answer;
}

static void close_session(void *context)
{
    sql_session *session = context;

    OBJ_RELEASE(session->connection);
    free(session);
}

latch_sql_runner php_latch_sql_runner(zend_object *connection, php_latch_sql_client client)
{
    sql_session *session = pecalloc(1, sizeof(*session), 1);

    GC_ADDREF(connection);
    session->connection = connection;
    session->client = client;
    return (latch_sql_runner){
        .context = session,
        .run = run,
        .is_in_transaction = is_in_transaction,
        .close = close_session,
    };
}

/* ---- After the engine has returned ---------------------------------------------------------- */

/* It was thrown before: nobody need be told of it anew. */
static void rethrow(zend_object *thrown)
{
    zend_execute_data *frame = EG(current_execute_data);
    zend_object *pending = EG(exception);

    if (pending != NULL && (zend_is_unwind_exit(pending) || zend_is_graceful_exit(pending))) {
        OBJ_RELEASE(thrown);
        return;
    }
    if (pending != NULL && (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown))) {
        OBJ_RELEASE(pending);
    } else if (pending != NULL) {
        zend_exception_set_previous(thrown, pending);
    }
    EG(exception) = thrown;
    if (frame->func != NULL && ZEND_USER_CODE(frame->func->common.type)
        && frame->opline->opcode != ZEND_HANDLE_EXCEPTION) {
        EG(opline_before_exception) = frame->opline;
        frame->opline = EG(exception_op);
    }
}

/* Where no PHP code runs any more that it could be thrown to. */
static void warn_of(zend_object *thrown)
{
    zend_execute_data frame = {.func = (zend_function *) &zend_pass_function};

    EG(current_execute_data) = &frame;
    EG(exception) = thrown;
    if (zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown)) {
        zend_clear_exception();
    } else {
        php_latch_warn_of_exception();
    }
    EG(current_execute_data) = NULL;
}

latch_status php_latch_end_statements(latch_status status)
{
    zend_object *thrown = LATCH_G(sql_thrown);

    LATCH_G(sql_thrown) = NULL;
    if (LATCH_G(sql_bailed_out)) {
        LATCH_G(sql_bailed_out) = false;
        zend_bailout();
    }
    if (thrown == NULL) {
        return status;
    }
    if (EG(current_execute_data) != NULL) {
        rethrow(thrown);
    } else {
        warn_of(thrown);
    }
    return LATCH_INTERRUPTED;
}
