/*
 * SQL runner: statements of the engine in a session of PHP code, by a \PDO object or a Doctrine
 * DBAL connection.
 */
#include "ext/store/sql/sql.h"

#include "zend_exceptions.h"

typedef struct php_sql_session {
    php_latch_client connection;
    php_latch_sql_client client;
} php_sql_session;

/* Error of a failed statement. */
typedef struct sql_trouble {
    bool is_known; /* it is of the server, or the connection, not of PHP code between */
    char state[6]; /* SQLSTATE */
    zend_long code;
    char message[256];
} sql_trouble;

/* ---- Failures ------------------------------------------------------------------------------- */

static void set_state(sql_trouble *trouble, zval *state)
{
    if (state != NULL && Z_TYPE_P(state) == IS_STRING) {
        snprintf(trouble->state, sizeof(trouble->state), "%s", Z_STRVAL_P(state));
        trouble->is_known = true;
    }
}

static void set_message(sql_trouble *trouble, zval *message)
{
    if (message != NULL && Z_TYPE_P(message) == IS_STRING) {
        snprintf(trouble->message, sizeof(trouble->message), "%s", Z_STRVAL_P(message));
    }
}

/* PDO's [SQLSTATE, code, message]. */
static void set_error_info(sql_trouble *trouble, zval *info)
{
    zval *code;

    ZVAL_DEREF(info);
    if (Z_TYPE_P(info) == IS_ARRAY) {
        set_state(trouble, zend_hash_index_find(Z_ARR_P(info), 0));
        code = zend_hash_index_find(Z_ARR_P(info), 1);
        trouble->code = code != NULL && Z_TYPE_P(code) == IS_LONG ? Z_LVAL_P(code) : 0;
        set_message(trouble, zend_hash_index_find(Z_ARR_P(info), 2));
    }
}

/* Reads the error of a \PDO or a \PDOStatement in an error mode without exceptions. */
static void read_error_info(sql_trouble *trouble, zend_object *object)
{
    zval info;

    php_latch_call_method(object, "errorinfo", &info, 0, NULL);
    set_error_info(trouble, &info);
    zval_ptr_dtor(&info);
}

typedef struct sql_exception_reader {
    zend_object *exception;
    sql_trouble *trouble;
} sql_exception_reader;

/* Reads an exception: PDO's, or one of Doctrine DBAL's, which has the SQLSTATE, too. */
static void read_sql_exception(void *context)
{
    const sql_exception_reader *reader = context;
    zend_object *exception = reader->exception;
    sql_trouble *trouble = reader->trouble;
    zend_class_entry *pdo_exception = php_latch_find_class("pdoexception");
    zval unused, *property;

    if (pdo_exception != NULL && instanceof_function(exception->ce, pdo_exception)) {
        property = zend_read_property(exception->ce, exception, ZEND_STRL("errorInfo"), 1, &unused);
        set_error_info(trouble, property);
    } else {
        zval state;

        php_latch_call_method(exception, "getsqlstate", &state, 0, NULL);
        set_state(trouble, &state);
        zval_ptr_dtor(&state);
        property = zend_read_property_ex(zend_ce_exception, exception, ZSTR_KNOWN(ZEND_STR_CODE), 1,
                                         &unused);
        trouble->code = Z_TYPE_P(property) == IS_LONG ? Z_LVAL_P(property) : 0;
    }
    set_message(trouble, zend_read_property_ex(zend_ce_exception, exception,
                                               ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused));
}

static bool has_state(const sql_trouble *trouble, const char *state)
{
    return strncmp(trouble->state, state, strlen(state)) == 0;
}

/* Is it a lost connection, by libpq's message? It has no SQLSTATE for that. */
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

static latch_status classify_trouble(const sql_trouble *trouble)
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

/*
 * Runs the statement in one round trip: an emulated prepare sends it as it is, and ours have no
 * parameters.
 */
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
            read_error_info(trouble, Z_OBJ(prepared));
        }
        zval_ptr_dtor(&executed);
    } else {
        read_error_info(trouble, pdo);
    }
    zval_ptr_dtor(&prepared); /* frees its result, too, which may be unbuffered */
}

static void run_by_dbal(zend_object *connection, zend_string *statement, zval *value)
{
    zval argument;

    ZVAL_STR(&argument, statement);
    php_latch_call_method(connection, "fetchone", value, 1, &argument);
}

/* Copies the value, "" for NULL or no row; false for any other answer. */
static bool copy_value(zval *answer, char *value, size_t size)
{
    bool is_text = Z_TYPE_P(answer) == IS_STRING;
    bool is_value = is_text || Z_TYPE_P(answer) == IS_NULL || Z_TYPE_P(answer) == IS_FALSE;

    snprintf(value, size, "%s", is_text ? Z_STRVAL_P(answer) : "");
    zval_ptr_dtor(answer);
    return is_value;
}

/* A statement, and its result. */
typedef struct php_sql_statement {
    const php_sql_session *session;
    const char *text;
    char *value;
    size_t size;
    sql_trouble trouble;
    bool is_answered;
} php_sql_statement;

static void run_statement(void *context)
{
    php_sql_statement *statement = context;
    zend_string *text = zend_string_init(statement->text, strlen(statement->text), 0);
    zval answer;

    ZVAL_UNDEF(&answer);
    if (statement->session->client == PHP_LATCH_PDO) {
        run_by_pdo(statement->session->connection.object, text, &answer, &statement->trouble);
    } else {
        run_by_dbal(statement->session->connection.object, text, &answer);
    }
    zend_string_release(text);
    statement->is_answered = copy_value(&answer, statement->value, statement->size);
}

static latch_status classify_exception(php_sql_session *session, zend_object *exception,
                                       latch_error *error)
{
    sql_trouble trouble = {.message = ""};
    sql_exception_reader reader = {exception, &trouble};

    php_latch_client_call_quietly(&session->connection, read_sql_exception, &reader);
    snprintf(error->message, sizeof(error->message), "%s", trouble.message);
    return classify_trouble(&trouble);
}

/* Handles the exception: an Error is deferred, an Exception becomes the next exception's cause. */
static latch_status handle_sql_exception(php_sql_session *session, zend_object *thrown,
                                         latch_error *error)
{
    latch_status status;

    if (!instanceof_function(thrown->ce, zend_ce_exception)) {
        php_latch_defer_throw(thrown);
        return LATCH_INTERRUPTED;
    }
    status = classify_exception(session, thrown, error);
    php_latch_client_failure_set(thrown);
    return status;
}

/* ---- The runner ----------------------------------------------------------------------------- */

static latch_status run_sql_statement(void *context, const char *text, char *value, size_t size,
                                      latch_error *error)
{
    php_sql_session *session = context;
    php_sql_statement statement = {
        .session = session,
        .text = text,
        .value = value,
        .size = size,
        .trouble = {.message = "it gave no answer"},
    };
    zend_object *thrown;

    if (!php_latch_client_can_call(&session->connection)) {
        return LATCH_ERROR_MEMORY;
    }
    thrown = php_latch_client_call(&session->connection, run_statement, &statement);
    if (LATCH_G(deferred_throw).bailed_out) {
        return LATCH_INTERRUPTED;
    }
    if (thrown != NULL) {
        return handle_sql_exception(session, thrown, error);
    }
    if (statement.is_answered) {
        return LATCH_DONE;
    }
    snprintf(error->message, sizeof(error->message), "%s", statement.trouble.message);
    return classify_trouble(&statement.trouble);
}

typedef struct transaction_question {
    const php_sql_session *session;
    bool answer;
} transaction_question;

static void read_transaction_state(void *context)
{
    transaction_question *question = context;
    zval result;

    php_latch_call_method(question->session->connection.object,
                          question->session->client == PHP_LATCH_PDO ? "intransaction"
                                                                     : "istransactionactive",
                          &result, 0, NULL);
    question->answer = Z_TYPE(result) != IS_FALSE;
    zval_ptr_dtor(&result);
}

static bool is_in_transaction(void *context)
{
    php_sql_session *session = context;
    transaction_question question = {session, true};

    if (php_latch_client_can_call(&session->connection)) {
        php_latch_client_call_quietly(&session->connection, read_transaction_state, &question);
    }
    return question.answer;
}

static void close_sql_session(void *context)
{
    php_sql_session *session = context;

    OBJ_RELEASE(session->connection.object);
    free(session);
}

latch_sql_runner php_latch_sql_runner(zend_object *connection, php_latch_sql_client client)
{
    php_sql_session *session = pecalloc(1, sizeof(*session), 1);

    GC_ADDREF(connection);
    session->connection.object = connection;
    session->client = client;
    return (latch_sql_runner){
        .context = session,
        .run = run_sql_statement,
        .is_in_transaction = is_in_transaction,
        .close = close_sql_session,
    };
}
