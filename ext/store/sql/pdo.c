/* PDO for PdoStore: connections to DSNs, and the table for each kind of database. */
#include "ext/store/sql/table.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"

/* ---- Connections ---------------------------------------------------------------------------- */

/* Options of Symfony's that go to PDO's constructor, in its order, and their types. */
static const struct {
    const char *name;
    uint8_t type;
    const char *problem;
} pdo_options[] = {
    {"db_username", IS_STRING, "is not a text"},
    {"db_password", IS_STRING, "is not a text"},
    {"db_connection_options", IS_ARRAY, "is not an array"},
};

#define PDO_OPTION_COUNT (sizeof(pdo_options) / sizeof(*pdo_options))

static zval *find_pdo_option(HashTable *options, size_t at)
{
    return zend_hash_str_find_deref(options, pdo_options[at].name, strlen(pdo_options[at].name));
}

/* What is wrong with it; NULL: nothing that can be seen without the driver. */
static const char *find_dsn_problem(const zend_string *dsn)
{
    const char *colon = strchr(ZSTR_VAL(dsn), ':');

    if (strlen(ZSTR_VAL(dsn)) != ZSTR_LEN(dsn)) {
        return "has a NUL byte";
    }
    if (colon == NULL || colon == ZSTR_VAL(dsn)) {
        return "is no DSN of PDO's, as in \"mysql:host=localhost;dbname=test\"";
    }
    return strncmp(colon, "://", 3) == 0 && strncmp(ZSTR_VAL(dsn), "sqlite:", 7) != 0
               ? "is a URL, which DoctrineDbalStore takes; PDO's DSNs are written as in "
                 "\"mysql:host=localhost;dbname=test\""
               : NULL;
}

bool php_latch_pdo_check_dsn(zend_string *dsn, HashTable *options)
{
    const char *problem = find_dsn_problem(dsn);

    if (problem != NULL) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "connOrDsn", problem);
        return false;
    }
    for (size_t at = 0; at < PDO_OPTION_COUNT; at++) {
        zval *option = find_pdo_option(options, at);

        if (option != NULL && Z_TYPE_P(option) != IS_NULL
            && Z_TYPE_P(option) != pdo_options[at].type) {
            php_latch_throw_option(pdo_options[at].name, pdo_options[at].problem);
            return false;
        }
    }
    return true;
}

/* PDO's constructor takes no secret in its DSN, where there may be a password. */
static void hide_arguments(zend_object *exception)
{
    zval trace;

    if (instanceof_function(exception->ce, zend_ce_exception)) {
        array_init(&trace);
        zend_update_property(zend_ce_exception, exception, ZEND_STRL("trace"), &trace);
        zval_ptr_dtor(&trace);
    }
}

void php_latch_pdo_make(zend_string *dsn, HashTable *options, zval *pdo)
{
    zend_class_entry *ce = php_latch_find_class("pdo");
    zval arguments[1 + PDO_OPTION_COUNT], result;

    ZVAL_UNDEF(pdo);
    if (ce == NULL) {
        zend_throw_exception(php_latch_storage_ce,
                             "a DSN needs PHP's extension pdo, which is not loaded", 0);
        return;
    }
    ZVAL_STR(&arguments[0], dsn);
    for (size_t at = 0; at < PDO_OPTION_COUNT; at++) {
        zval *option = find_pdo_option(options, at);

        ZVAL_NULL(&arguments[at + 1]);
        if (option != NULL) {
            ZVAL_COPY_VALUE(&arguments[at + 1], option);
        }
    }
    object_init_ex(pdo, ce);
    zend_call_known_instance_method(ce->constructor, Z_OBJ_P(pdo), NULL, 1 + PDO_OPTION_COUNT,
                                    arguments);
    ZVAL_LONG(&arguments[0], PHP_LATCH_PDO_ATTR_ERRMODE);
    ZVAL_LONG(&arguments[1], PHP_LATCH_PDO_ERRMODE_EXCEPTION);
    php_latch_call_method(Z_OBJ_P(pdo), "setattribute", &result, 2, arguments);
    if (EG(exception) != NULL) {
        hide_arguments(EG(exception));
        zval_ptr_dtor(pdo);
        ZVAL_UNDEF(pdo);
    }
}

/* ---- The table ------------------------------------------------------------------------------ */

typedef struct table_columns {
    const char *driver;                  /* PDO's name of it */
    const char *id, *token, *expiration; /* types of the columns */
    const char *rest;                    /* behind them */
} table_columns;

/*
 * In MySQL by bytes: names in clear text that a collation takes for the same would be one lock.
 */
static const table_columns columns[] = {
    {"mysql", "VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "VARCHAR(44)",
     "INTEGER UNSIGNED NOT NULL", " ENGINE = InnoDB"},
    {"sqlite", "TEXT", "TEXT", "INTEGER", ""},
    {"pgsql", "VARCHAR(64)", "VARCHAR(64)", "INTEGER", ""},
    {"oci", "VARCHAR2(64)", "VARCHAR2(64)", "INTEGER", ""},
    {"sqlsrv", "VARCHAR(64)", "VARCHAR(64)", "INTEGER", ""},
};

static const table_columns *find_columns(zend_string *driver)
{
    for (size_t at = 0; at < sizeof(columns) / sizeof(*columns); at++) {
        if (zend_string_equals_cstr(driver, columns[at].driver, strlen(columns[at].driver))) {
            return &columns[at];
        }
    }
    return NULL;
}

void php_latch_pdo_create_table(zend_object *pdo, const php_latch_table_names *names)
{
    const table_columns *found;
    zval argument, driver, result;

    php_latch_pdo_attribute(pdo, PHP_LATCH_PDO_ATTR_DRIVER_NAME, &driver);
    if (EG(exception) != NULL || !try_convert_to_string(&driver)) {
        zval_ptr_dtor(&driver);
        return;
    }
    found = find_columns(Z_STR(driver));
    if (found == NULL) {
        zend_throw_exception_ex(spl_ce_DomainException, 0,
                                "Creating the lock table is currently not implemented for platform "
                                "\"%s\".",
                                Z_STRVAL(driver));
    } else {
        ZVAL_STR(&argument,
                 strpprintf(0,
                            "CREATE TABLE %s (%s %s NOT NULL PRIMARY KEY, %s %s NOT NULL, %s %s)%s",
                            ZSTR_VAL(names->table), ZSTR_VAL(names->id), found->id,
                            ZSTR_VAL(names->token), found->token, ZSTR_VAL(names->expiration),
                            found->expiration, found->rest));
        php_latch_call_method(pdo, "exec", &result, 1, &argument);
        zval_ptr_dtor(&result);
        zval_ptr_dtor(&argument);
    }
    zval_ptr_dtor(&driver);
}
