/*
 * SQL runner: statements of the engine in a session of PHP code, by a \PDO object or a Doctrine
 * DBAL connection.
 */
#include "ext/store/sql/sql.h"

#include "zend_exceptions.h"

typedef struct php_sql_session {
    php_latch_sql_connection connection;
} php_sql_session;

/* ---- Statements ----------------------------------------------------------------------------- */

/*
 * Runs the statement in one round trip: an emulated prepare sends it as it is, and ours have no
 * parameters.
 */
static void run_by_pdo(zend_object *pdo, zend_string *statement, zval *value,
                       php_latch_sql_trouble *trouble)
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
            php_latch_sql_trouble_of_object(trouble, Z_OBJ(prepared));
        }
        zval_ptr_dtor(&executed);
    } else {
        php_latch_sql_trouble_of_object(trouble, pdo);
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
    bool is_value = Z_TYPE_P(answer) == IS_STRING || Z_TYPE_P(answer) == IS_LONG
                    || Z_TYPE_P(answer) == IS_NULL || Z_TYPE_P(answer) == IS_FALSE;

    if (Z_TYPE_P(answer) == IS_LONG) {
        snprintf(value, size, ZEND_LONG_FMT, Z_LVAL_P(answer));
    } else {
        snprintf(value, size, "%s", Z_TYPE_P(answer) == IS_STRING ? Z_STRVAL_P(answer) : "");
    }
    zval_ptr_dtor(answer);
    return is_value;
}

/*
 * Runs a statement that returns no rows. Only one that calls LAST_INSERT_ID() has an ID: other
 * servers are asked for theirs in a round trip, and PostgreSQL answers by an error.
 */
static bool execute_text(zend_object *connection, php_latch_sql_client kind, zend_string *text,
                         latch_sql_change *change, php_latch_sql_trouble *trouble)
{
    bool is_pdo = kind == PHP_LATCH_PDO;
    zval argument, affected;

    ZVAL_STR(&argument, text);
    php_latch_call_method(connection, is_pdo ? "exec" : "executestatement", &affected, 1,
                          &argument);
    if (EG(exception) != NULL || Z_TYPE(affected) == IS_FALSE || Z_TYPE(affected) == IS_UNDEF) {
        if (is_pdo) {
            php_latch_sql_trouble_of_object(trouble, connection);
        }
        zval_ptr_dtor(&affected);
        return false;
    }
    change->affected = zval_get_long(&affected);
    zval_ptr_dtor(&affected);
    if (strstr(ZSTR_VAL(text), "LAST_INSERT_ID(") != NULL) {
        change->insert_id = php_latch_sql_insert_id(connection, kind);
    }
    return EG(exception) == NULL;
}

/* A statement, and its result: a value, or what it has changed. */
typedef struct php_sql_statement {
    php_sql_session *session;
    const char *text;
    char *value; /* NULL: it returns no rows */
    size_t size;
    latch_sql_change *change;
    php_latch_sql_trouble trouble;
    bool is_answered;
} php_sql_statement;

static void run_statement(void *context)
{
    php_sql_statement *statement = context;
    php_latch_sql_connection *connection = &statement->session->connection;
    zend_object *object = php_latch_sql_connection_object(connection);
    zend_string *text;
    zval answer;

    if (object == NULL) {
        return;
    }
    text = zend_string_init(statement->text, strlen(statement->text), 0);
    ZVAL_UNDEF(&answer);
    if (statement->value == NULL) {
        statement->is_answered =
            execute_text(object, connection->kind, text, statement->change, &statement->trouble);
    } else if (connection->kind == PHP_LATCH_PDO) {
        run_by_pdo(object, text, &answer, &statement->trouble);
    } else {
        run_by_dbal(object, text, &answer);
    }
    zend_string_release(text);
    if (statement->value != NULL) {
        statement->is_answered = copy_value(&answer, statement->value, statement->size);
    }
}

/* Reads the exception: an Error is deferred, an Exception becomes the next exception's cause. False
 * for an Error. */
static bool read_thrown(php_sql_session *session, zend_object *thrown,
                        php_latch_sql_trouble *trouble)
{
    if (!instanceof_function(thrown->ce, zend_ce_exception)) {
        php_latch_defer_throw(thrown);
        return false;
    }
    php_latch_sql_trouble_of_exception(&session->connection.client, thrown, trouble);
    php_latch_client_failure_set(thrown);
    return true;
}

/* ---- The runner ----------------------------------------------------------------------------- */

/* LATCH_DONE; LATCH_ERROR_STORE: statement->trouble says why; or another error. */
static latch_status call_statement(php_sql_session *session, php_sql_statement *statement,
                                   latch_error *error)
{
    zend_object *thrown;

    if (!php_latch_client_can_call(&session->connection.client)) {
        return LATCH_ERROR_MEMORY;
    }
    thrown = php_latch_client_call(&session->connection.client, run_statement, statement);
    if (LATCH_G(deferred_throw).bailed_out
        || (thrown != NULL && !read_thrown(session, thrown, &statement->trouble))) {
        return LATCH_INTERRUPTED;
    }
    if (thrown == NULL && statement->is_answered) {
        return LATCH_DONE;
    }
    if (session->connection.client.object == NULL) { /* it could not be made: nothing was sent */
        statement->trouble.is_known = true;
    }
    if (php_latch_sql_trouble_status(&statement->trouble) == LATCH_ERROR_LOST) {
        php_latch_sql_connection_lose(&session->connection);
    }
    snprintf(error->message, sizeof(error->message), "%s", statement->trouble.message);
    return LATCH_ERROR_STORE;
}

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
    latch_status status = call_statement(session, &statement, error);

    return status == LATCH_ERROR_STORE ? php_latch_sql_trouble_status(&statement.trouble) : status;
}

static latch_status execute_sql_statement(void *context, const char *text, latch_sql_change *change,
                                          latch_error *error)
{
    php_sql_session *session = context;
    php_sql_statement statement = {
        .session = session,
        .text = text,
        .change = change,
        .trouble = {.message = "it gave no answer"},
    };
    latch_status status = call_statement(session, &statement, error);

    if (status != LATCH_ERROR_STORE) {
        return status;
    }
    change->refusal = php_latch_sql_trouble_refusal(&statement.trouble);
    status = php_latch_sql_trouble_status(&statement.trouble);
    return status == LATCH_ERROR_LOST || status == LATCH_INTERRUPTED ? status : LATCH_ERROR_STORE;
}

typedef struct transaction_question {
    php_latch_sql_connection *connection;
    bool answer;
} transaction_question;

static void read_transaction_state(void *context)
{
    transaction_question *question = context;
    php_latch_sql_connection *connection = question->connection;
    zval result;

    if (connection->client.object == NULL) {
        question->answer = false;
        return;
    }
    php_latch_call_method(connection->client.object,
                          connection->kind == PHP_LATCH_PDO ? "intransaction"
                                                            : "istransactionactive",
                          &result, 0, NULL);
    question->answer = Z_TYPE(result) != IS_FALSE;
    zval_ptr_dtor(&result);
}

static bool is_runner_in_transaction(void *context)
{
    php_sql_session *session = context;
    transaction_question question = {&session->connection, true};

    if (php_latch_client_can_call(&session->connection.client)) {
        php_latch_client_call_quietly(&session->connection.client, read_transaction_state,
                                      &question);
    }
    return question.answer;
}

static void close_sql_session(void *context)
{
    php_sql_session *session = context;

    php_latch_sql_connection_end(&session->connection);
    free(session);
}

latch_sql_runner php_latch_sql_runner(php_latch_sql_connection connection)
{
    php_sql_session *session = pecalloc(1, sizeof(*session), 1);

    session->connection = connection;
    return (latch_sql_runner){
        .context = session,
        .run = run_sql_statement,
        .execute = execute_sql_statement,
        .is_in_transaction = is_runner_in_transaction,
        .close = close_sql_session,
    };
}
