/*
 * Statements with parameters in a connection of PHP code: a \PDO or a Doctrine DBAL connection,
 * which may be one that is made at its first use.
 */
#include "ext/store/sql/table.h"

#include "zend_exceptions.h"

struct php_latch_table_session {
    php_latch_sql_connection connection;
    unsigned generation; /* of the process whose connection it is */
};

php_latch_table_session *php_latch_table_session_open(php_latch_sql_connection connection)
{
    php_latch_table_session *session = emalloc(sizeof(*session));

    session->connection = connection;
    session->generation = latch_engine_generation(php_latch_engine);
    return session;
}

void php_latch_table_session_close(php_latch_table_session *session)
{
    php_latch_sql_connection_end(&session->connection);
    efree(session);
}

/* ---- Statements: in php_latch_client_call() -------------------------------------------------- */

typedef struct table_call {
    php_latch_table_session *session;
    const php_latch_table_statement *statement;
    php_latch_table_answer *answer;
    bool is_answered;
} table_call;

static void read_number(zval *value, zend_long *number)
{
    *number = Z_TYPE_P(value) == IS_LONG || Z_TYPE_P(value) == IS_STRING ? zval_get_long(value) : 0;
    zval_ptr_dtor(value);
}

static void read_truth(zval *value, php_latch_table_answer *answer)
{
    answer->is_true = zend_is_true(value);
    zval_ptr_dtor(value);
}

static void add_parameters(const php_latch_table_statement *statement, zval *parameters)
{
    array_init(parameters);
    for (size_t at = 0; at < statement->count; at++) {
        add_next_index_string(parameters, statement->parameters[at]);
    }
}

/* Fetches what was asked for of an executed statement. */
static void fetch_from_pdo(table_call *call, zend_object *prepared)
{
    zval value;

    if (call->statement->asks) {
        php_latch_call_method(prepared, "fetchcolumn", &value, 0, NULL);
        read_truth(&value, call->answer);
    } else {
        php_latch_call_method(prepared, "rowcount", &value, 0, NULL);
        read_number(&value, &call->answer->affected);
    }
    call->is_answered = true;
}

static void execute_by_pdo(table_call *call, zend_object *pdo)
{
    zval argument, prepared, executed;

    ZVAL_STR(&argument, call->statement->text);
    php_latch_call_method(pdo, "prepare", &prepared, 1, &argument);
    if (Z_TYPE(prepared) != IS_OBJECT) { /* also in an error mode without exceptions */
        php_latch_sql_trouble_of_object(&call->answer->trouble, pdo);
        zval_ptr_dtor(&prepared);
        return;
    }
    add_parameters(call->statement, &argument);
    php_latch_call_method(Z_OBJ(prepared), "execute", &executed, 1, &argument);
    zval_ptr_dtor(&argument);
    if (Z_TYPE(executed) == IS_TRUE) {
        fetch_from_pdo(call, Z_OBJ(prepared));
    } else {
        php_latch_sql_trouble_of_object(&call->answer->trouble, Z_OBJ(prepared));
    }
    zval_ptr_dtor(&executed);
    zval_ptr_dtor(&prepared); /* frees its result, too, which may be unbuffered */
}

static void execute_by_dbal(table_call *call, zend_object *connection)
{
    bool asks = call->statement->asks;
    zval arguments[2], value;

    ZVAL_STR(&arguments[0], call->statement->text);
    add_parameters(call->statement, &arguments[1]);
    php_latch_call_method(connection, asks ? "fetchone" : "executestatement", &value, 2, arguments);
    zval_ptr_dtor(&arguments[1]);
    call->is_answered = EG(exception) == NULL;
    if (asks) {
        read_truth(&value, call->answer);
    } else {
        read_number(&value, &call->answer->affected);
    }
}

static void execute_table_statement(void *context)
{
    table_call *call = context;
    zend_object *connection = php_latch_sql_connection_object(&call->session->connection);

    if (connection != NULL && call->session->connection.kind == PHP_LATCH_PDO) {
        execute_by_pdo(call, connection);
    } else if (connection != NULL) {
        execute_by_dbal(call, connection);
    }
}

/* ---- Questions: the same -------------------------------------------------------------------- */

typedef struct table_question {
    php_latch_table_session *session;
    zval answer;
} table_question;

/* PDO's name of the driver, or DBAL's platform. */
static void ask_driver(void *context)
{
    table_question *question = context;
    zend_object *connection = php_latch_sql_connection_object(&question->session->connection);

    if (connection == NULL) {
        return;
    }
    if (question->session->connection.kind == PHP_LATCH_PDO) {
        php_latch_pdo_attribute(connection, PHP_LATCH_PDO_ATTR_DRIVER_NAME, &question->answer);
    } else {
        php_latch_call_method(connection, "getdatabaseplatform", &question->answer, 0, NULL);
    }
}

static void ask_transaction(void *context)
{
    table_question *question = context;
    zend_object *connection = php_latch_sql_connection_object(&question->session->connection);

    if (connection != NULL) {
        php_latch_call_method(connection,
                              question->session->connection.kind == PHP_LATCH_PDO
                                  ? "intransaction"
                                  : "istransactionactive",
                              &question->answer, 0, NULL);
    }
}

typedef struct table_creation {
    php_latch_table_session *session;
    const php_latch_table_names *names;
} table_creation;

static void create_table(void *context)
{
    const table_creation *creation = context;
    zval connection;

    ZVAL_OBJ(&connection, creation->session->connection.client.object);
    if (creation->session->connection.kind == PHP_LATCH_PDO) {
        php_latch_pdo_create_table(Z_OBJ(connection), creation->names);
    } else {
        php_latch_dbal_create_table(&connection, creation->names);
    }
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static latch_status fail_session(latch_error *error, latch_status status, const char *message)
{
    *error = (latch_error){.status = status};
    snprintf(error->message, sizeof(error->message), "%s", message);
    return status;
}

/* Can the connection be used now? */
static latch_status check_session(php_latch_table_session *session, latch_error *error)
{
    if (session->generation != latch_engine_generation(php_latch_engine)) {
        if (session->connection.dsn == NULL) {
            return fail_session(
                error, LATCH_ERROR_STORE,
                "the given connection is the parent process's: a forked child needs "
                "one of its own");
        }
        if (session->connection.client.object
            != NULL) { /* its end would be that of the parent's session */
            GC_ADD_FLAGS(session->connection.client.object, IS_OBJ_FREE_CALLED);
            session->connection.client.object = NULL;
        }
        session->generation = latch_engine_generation(php_latch_engine);
    }
    return php_latch_client_can_call(&session->connection.client)
               ? LATCH_DONE
               : fail_session(error, LATCH_ERROR_BUSY,
                              "the connection is in the middle of another call");
}

/* LATCH_INTERRUPTED: an Error, or the end of the script, is thrown when the engine has returned. */
static latch_status handle_thrown(php_latch_table_session *session, zend_object *thrown,
                                  php_latch_sql_trouble *trouble)
{
    if (LATCH_G(deferred_throw).bailed_out) {
        return LATCH_INTERRUPTED;
    }
    if (thrown == NULL) {
        return LATCH_DONE;
    }
    if (!instanceof_function(thrown->ce, zend_ce_exception)) {
        php_latch_defer_throw(thrown);
        return LATCH_INTERRUPTED;
    }
    php_latch_sql_trouble_of_exception(&session->connection.client, thrown, trouble);
    php_latch_client_failure_set(thrown);
    if (php_latch_sql_trouble_status(trouble) == LATCH_ERROR_LOST) {
        php_latch_sql_connection_lose(&session->connection);
    }
    return LATCH_ERROR_STORE;
}

latch_status php_latch_table_session_ask(php_latch_table_session *session,
                                         php_latch_table_asked asked, zval *answer,
                                         latch_error *error)
{
    table_question question = {.session = session};
    php_latch_sql_trouble trouble = {.message = ""};
    latch_status status = check_session(session, error);

    ZVAL_UNDEF(&question.answer);
    if (status == LATCH_DONE) {
        status =
            handle_thrown(session,
                          php_latch_client_call(&session->connection.client,
                                                asked == PHP_LATCH_ASKED_DRIVER ? ask_driver
                                                                                : ask_transaction,
                                                &question),
                          &trouble);
        if (status != LATCH_DONE) {
            fail_session(error, status, trouble.message);
        }
    }
    ZVAL_COPY_VALUE(answer, &question.answer);
    return status;
}

latch_status php_latch_table_session_run(php_latch_table_session *session,
                                         const php_latch_table_statement *statement,
                                         php_latch_table_answer *answer, latch_error *error)
{
    table_call call = {.session = session, .statement = statement, .answer = answer};
    latch_status status = check_session(session, error);

    *answer = (php_latch_table_answer){.trouble.message = "it gave no answer"};
    if (status != LATCH_DONE) {
        return status;
    }
    status = handle_thrown(session,
                           php_latch_client_call(&session->connection.client,
                                                 execute_table_statement, &call),
                           &answer->trouble);
    if (status == LATCH_DONE && !call.is_answered) {
        status = LATCH_ERROR_STORE;
    }
    return status != LATCH_DONE ? fail_session(error, status, answer->trouble.message) : LATCH_DONE;
}

latch_status php_latch_table_session_create(php_latch_table_session *session,
                                            const php_latch_table_names *names, latch_error *error)
{
    table_creation creation = {session, names};
    php_latch_sql_trouble trouble = {.message = ""};
    latch_status status = check_session(session, error);

    if (status == LATCH_DONE) {
        status = handle_thrown(session,
                               php_latch_client_call(&session->connection.client, create_table,
                                                     &creation),
                               &trouble);
    }
    return status != LATCH_DONE ? fail_session(error, status, trouble.message) : LATCH_DONE;
}
