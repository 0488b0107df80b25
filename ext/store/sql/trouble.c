/* Errors of statements in sessions of PHP code: as PDO and Doctrine DBAL tell of them. */
#include "ext/store/sql/sql.h"

#include "zend_exceptions.h"

static void set_state(php_latch_sql_trouble *trouble, zval *state)
{
    if (state != NULL && Z_TYPE_P(state) == IS_STRING) {
        snprintf(trouble->state, sizeof(trouble->state), "%s", Z_STRVAL_P(state));
        trouble->is_known = true;
    }
}

static void set_message(php_latch_sql_trouble *trouble, zval *message)
{
    if (message != NULL && Z_TYPE_P(message) == IS_STRING) {
        snprintf(trouble->message, sizeof(trouble->message), "%s", Z_STRVAL_P(message));
    }
}

/* PDO's [SQLSTATE, code, message]. */
static void set_error_info(php_latch_sql_trouble *trouble, zval *info)
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

void php_latch_sql_trouble_of_object(php_latch_sql_trouble *trouble, zend_object *object)
{
    zval info;

    php_latch_call_method(object, "errorinfo", &info, 0, NULL);
    set_error_info(trouble, &info);
    zval_ptr_dtor(&info);
}

typedef struct sql_exception_reader {
    zend_object *exception;
    php_latch_sql_trouble *trouble;
} sql_exception_reader;

/* Reads an exception: PDO's, or one of Doctrine DBAL's, which has the SQLSTATE, too. */
static void read_sql_exception(void *context)
{
    const sql_exception_reader *reader = context;
    zend_object *exception = reader->exception;
    php_latch_sql_trouble *trouble = reader->trouble;
    zend_class_entry *pdo_exception = php_latch_find_class("pdoexception");
    zend_class_entry *missing =
        php_latch_find_class("doctrine\\dbal\\exception\\tablenotfoundexception");
    zval unused, *property;

    trouble->is_missing_table = missing != NULL && instanceof_function(exception->ce, missing);
    trouble->is_known = trouble->is_missing_table; /* an old driver may tell no SQLSTATE */
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

static bool has_state(const php_latch_sql_trouble *trouble, const char *state)
{
    return strncmp(trouble->state, state, strlen(state)) == 0;
}

/* Is it a lost connection, by libpq's message? It has no SQLSTATE for that. */
static bool tells_of_loss(const php_latch_sql_trouble *trouble)
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

latch_status php_latch_sql_trouble_status(const php_latch_sql_trouble *trouble)
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

latch_sql_refusal php_latch_sql_trouble_refusal(const php_latch_sql_trouble *trouble)
{
    enum {
        SQLITE_CODE_BUSY = 5,
        SQLITE_CODE_LOCKED = 6,
        MYSQL_NO_SUCH_TABLE = 1146,
        MYSQL_LOCK_WAIT_TIMEOUT = 1205,
        MYSQL_DEADLOCK = 1213,
    };

    if (trouble->is_missing_table || has_state(trouble, "42P01") || has_state(trouble, "42S02")
        || trouble->code == MYSQL_NO_SUCH_TABLE
        || strstr(trouble->message, "no such table: ") != NULL) {
        return LATCH_SQL_NO_TABLE;
    }
    if (has_state(trouble, "40001") || has_state(trouble, "40P01")
        || trouble->code == MYSQL_LOCK_WAIT_TIMEOUT || trouble->code == MYSQL_DEADLOCK) {
        return LATCH_SQL_CLASHED;
    }
    return has_state(trouble, "HY000")
                   && (trouble->code == SQLITE_CODE_BUSY || trouble->code == SQLITE_CODE_LOCKED)
               ? LATCH_SQL_BUSY
               : LATCH_SQL_REFUSED;
}

void php_latch_sql_trouble_of_exception(php_latch_client *connection, zend_object *exception,
                                        php_latch_sql_trouble *trouble)
{
    sql_exception_reader reader = {exception, trouble};

    *trouble = (php_latch_sql_trouble){.message = ""};
    php_latch_client_call_quietly(connection, read_sql_exception, &reader);
}
