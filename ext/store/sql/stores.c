/*
 * Latch\Store\PostgreSqlStore, MysqlStore and their like for Doctrine DBAL: their constructors,
 * with the messages of Symfony's classes. The store methods are in ext/store/store_methods.c.
 */
#include "ext/store/sql/sql.h"
#include "ext/store/store_class.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/store_class.h"

#include "zend_attributes.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/mysql_store_arginfo.h"
#include "stubs/postgresql_store_arginfo.h"

/* A kind of server. */
typedef struct php_latch_sql_server {
    const char *store;    /* of the engine */
    const char *driver;   /* PDO's name of it */
    const char *platform; /* the class of Doctrine DBAL's platforms for it */
} php_latch_sql_server;

static const php_latch_sql_server postgresql = {
    .store = "postgresql",
    .driver = "pgsql",
    .platform = "doctrine\\dbal\\platforms\\postgresqlplatform",
};

static const php_latch_sql_server mysql = {
    .store = "mysql",
    .driver = "mysql",
    .platform = "doctrine\\dbal\\platforms\\abstractmysqlplatform",
};

/* A class of stores. */
typedef struct sql_store_class {
    zend_class_entry *ce;
    const php_latch_sql_server *server;
    php_latch_sql_client client;
} sql_store_class;

static sql_store_class postgresql_store = {.server = &postgresql, .client = PHP_LATCH_PDO};
static sql_store_class dbal_postgresql_store = {.server = &postgresql, .client = PHP_LATCH_DBAL};
static sql_store_class mysql_store = {.server = &mysql, .client = PHP_LATCH_PDO};
static sql_store_class dbal_mysql_store = {.server = &mysql, .client = PHP_LATCH_DBAL};

static zend_object *create_sql_store(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

/* ---- Connections of PHP code ---------------------------------------------------------------- */

static void throw_unsupported_adapter(const sql_store_class *class, const char *what,
                                      const char *name, size_t length)
{
    zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                            "The adapter \"%s\" does not support the \"%.*s\" %s.",
                            ZSTR_VAL(class->ce->name), (int) length, name, what);
}

/* False after throwing. */
static bool check_pdo(const sql_store_class *class, zend_object *pdo)
{
    bool is_usable = false;
    zval value;

    if (!php_latch_check_error_mode(class->ce, pdo)) {
        return false;
    }
    php_latch_pdo_attribute(pdo, PHP_LATCH_PDO_ATTR_DRIVER_NAME, &value);
    if (Z_TYPE(value) == IS_STRING) {
        is_usable = zend_string_equals_cstr(Z_STR(value), class->server->driver,
                                            strlen(class->server->driver));
        if (!is_usable) {
            throw_unsupported_adapter(class, "driver", Z_STRVAL(value), Z_STRLEN(value));
        }
    }
    zval_ptr_dtor(&value);
    return is_usable;
}

static bool check_dbal(const sql_store_class *class, zend_object *connection)
{
    zend_class_entry *platform = php_latch_find_class(class->server->platform);
    bool is_usable = false;
    zval value;

    php_latch_call_method(connection, "getdatabaseplatform", &value, 0, NULL);
    platform = php_latch_find_class(class->server->platform); /* the call may have loaded it */
    if (Z_TYPE(value) == IS_OBJECT) {
        is_usable = platform != NULL && instanceof_function(Z_OBJCE(value), platform);
        if (!is_usable) {
            throw_unsupported_adapter(class, "platform", ZSTR_VAL(Z_OBJCE(value)->name),
                                      ZSTR_LEN(Z_OBJCE(value)->name));
        }
    }
    zval_ptr_dtor(&value);
    return is_usable;
}

static void open_on_connection(const sql_store_class *class, php_latch_store *store,
                               zend_object *connection)
{
    latch_store_options options = {.dsn = NULL};
    latch_sql_runner runner;
    latch_store *opened;
    latch_error error;

    if (class->client == PHP_LATCH_PDO ? !check_pdo(class, connection)
                                       : !check_dbal(class, connection)) {
        return;
    }
    store->backend = php_latch_backend_find_on_connection(class->server->store, connection);
    if (store->backend != NULL) {
        return;
    }
    runner = php_latch_sql_runner(php_latch_sql_connection_of(connection, class->client));
    options.runner = &runner;
    opened = latch_store_open(php_latch_engine, class->server->store, &options, &error);
    if (opened == NULL) {
        runner.close(runner.context);
        zend_throw_exception(php_latch_storage_ce, error.message, 0);
        return;
    }
    store->backend = php_latch_backend_share_on_connection(opened, connection);
}

/* ---- DSNs ----------------------------------------------------------------------------------- */

/* Rejects the scheme of another kind of server; before any other check, as Symfony's does. */
static bool check_driver_scheme(const sql_store_class *class, const char *dsn)
{
    const char *const *scheme = latch_store_find(class->server->store)->schemes;
    size_t length = strspn(dsn, "abcdefghijklmnopqrstuvwxyz0123456789-_");

    if (length == 0 || (dsn[length] != ':' && dsn[length] != '+')) {
        return true; /* the engine says what is wrong with it */
    }
    for (; *scheme != NULL; scheme++) {
        if (strlen(*scheme) == length && strncmp(*scheme, dsn, length) == 0) {
            return true;
        }
    }
    throw_unsupported_adapter(class, "driver", dsn, length);
    return false;
}

static bool check_dsn(const sql_store_class *class, const char *dsn)
{
    const char *library = latch_store_find(class->server->store)->missing_library;

    if (class->client == PHP_LATCH_DBAL && strstr(dsn, "://") == NULL) {
        zend_throw_exception(php_latch_invalid_argument_ce, "DSN is invalid for Doctrine DBAL.", 0);
        return false;
    }
    if (!check_driver_scheme(class, dsn)) {
        return false;
    }
    if (library != NULL) {
        zend_throw_exception_ex(
            php_latch_invalid_argument_ce, 0,
            "This build of Latch takes a %s object here, but no DSN: build it again "
            "where %s and pkg-config are installed",
            php_latch_sql_client_classes[class->client].name, library);
        return false;
    }
    return true;
}

static void open_dsn(const sql_store_class *class, php_latch_store *store, zend_string *dsn,
                     HashTable *options)
{
    latch_store_options store_options = {.dsn = ZSTR_VAL(dsn), .dsn_length = ZSTR_LEN(dsn)};
    php_latch_sql_settings settings;
    latch_store *opened;
    latch_error error;

    if (!check_dsn(class, ZSTR_VAL(dsn))) {
        return;
    }
    if (php_latch_sql_settings_collect(&settings, options)) {
        store_options.settings = settings.list;
        store_options.setting_count = settings.count;
        opened = latch_store_open(php_latch_engine, class->server->store, &store_options, &error);
        if (opened != NULL) {
            store->backend = php_latch_backend_share(opened);
        } else {
            php_latch_throw_dsn(&php_latch_locks, &error,
                                php_latch_sql_client_classes[class->client].argument);
        }
    }
    php_latch_sql_settings_free(&settings);
}

/* ---- Constructors --------------------------------------------------------------------------- */

static void construct_sql_store(const sql_store_class *class, zend_object *this_store,
                                zval *argument, HashTable *options)
{
    php_latch_store *store = php_latch_store_of(this_store);
    zend_string *dsn;

    if (store->backend != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
    } else if (php_latch_sql_parse_connection(class->client, argument, &dsn)) {
        if (dsn == NULL) {
            open_on_connection(class, store, Z_OBJ_P(argument));
        } else {
            open_dsn(class, store, dsn, options);
        }
    }
}

static void construct_with_options(INTERNAL_FUNCTION_PARAMETERS, const sql_store_class *class)
{
    HashTable *options = (HashTable *) &zend_empty_array;
    zval *connection;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ZVAL(connection)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(options)
    ZEND_PARSE_PARAMETERS_END();
    (void) return_value;
    construct_sql_store(class, Z_OBJ_P(ZEND_THIS), connection, options);
}

static void construct_without(INTERNAL_FUNCTION_PARAMETERS, const sql_store_class *class)
{
    zval *connection;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(connection)
    ZEND_PARSE_PARAMETERS_END();
    (void) return_value;
    construct_sql_store(class, Z_OBJ_P(ZEND_THIS), connection, (HashTable *) &zend_empty_array);
}

PHP_METHOD(Latch_Store_PostgreSqlStore, __construct)
{
    construct_with_options(INTERNAL_FUNCTION_PARAM_PASSTHRU, &postgresql_store);
}

PHP_METHOD(Latch_Store_DoctrineDbalPostgreSqlStore, __construct)
{
    construct_without(INTERNAL_FUNCTION_PARAM_PASSTHRU, &dbal_postgresql_store);
}

PHP_METHOD(Latch_Store_MysqlStore, __construct)
{
    construct_with_options(INTERNAL_FUNCTION_PARAM_PASSTHRU, &mysql_store);
}

PHP_METHOD(Latch_Store_DoctrineDbalMysqlStore, __construct)
{
    construct_without(INTERNAL_FUNCTION_PARAM_PASSTHRU, &dbal_mysql_store);
}

/* ---- Classes -------------------------------------------------------------------------------- */

static void register_postgresql(void)
{
    postgresql_store.ce =
        register_class_Latch_Store_PostgreSqlStore(php_latch_blocking_shared_store_ce,
                                                   php_latch_blocking_store_ce);
    postgresql_store.ce->create_object = create_sql_store;
}

static void register_dbal_postgresql(void)
{
    dbal_postgresql_store.ce =
        register_class_Latch_Store_DoctrineDbalPostgreSqlStore(php_latch_blocking_shared_store_ce,
                                                               php_latch_blocking_store_ce);
    dbal_postgresql_store.ce->create_object = create_sql_store;
}

static void register_mysql(void)
{
    mysql_store.ce = register_class_Latch_Store_MysqlStore(php_latch_blocking_store_ce);
    mysql_store.ce->create_object = create_sql_store;
}

static void register_dbal_mysql(void)
{
    dbal_mysql_store.ce =
        register_class_Latch_Store_DoctrineDbalMysqlStore(php_latch_blocking_store_ce);
    dbal_mysql_store.ce->create_object = create_sql_store;
}

#define WITHOUT_LIBRARY "by PDO and Doctrine DBAL only"

static const php_latch_dsn_form postgresql_forms[] = {
    PHP_LATCH_DSN_OFFERED("pgsql+advisory:", php_latch_make_store_of_dsn, "pgsql+advisory:…",
                          "PostgreSQL, as PDO has it"),
    PHP_LATCH_DSN_END,
};
static const php_latch_dsn_form dbal_postgresql_forms[] = {
    PHP_LATCH_DSN("pgsql+advisory://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN("postgres+advisory://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_OFFERED("postgresql+advisory://", php_latch_make_store_of_dsn,
                          "postgresql+advisory://…", "PostgreSQL, as a URL"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_postgresql_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "PostgreSqlStore",
        .store = "postgresql",
        .register_class = register_postgresql,
        .forms = postgresql_forms,
        .clients = "PDO",
        .without = WITHOUT_LIBRARY,
    },
    {
        .name = LATCH_STORE_NAMESPACE "DoctrineDbalPostgreSqlStore",
        .store = "postgresql",
        .register_class = register_dbal_postgresql,
        .forms = dbal_postgresql_forms,
        .clients = "Doctrine\\DBAL\\Connection",
        .without = WITHOUT_LIBRARY,
    },
    PHP_LATCH_STORE_CLASS_END,
};

static const php_latch_dsn_form mysql_forms[] = {
    PHP_LATCH_DSN_OFFERED("mysql+advisory:", php_latch_make_store_of_dsn, "mysql+advisory:…",
                          "MySQL or MariaDB, as PDO has it"),
    PHP_LATCH_DSN_END,
};
static const php_latch_dsn_form dbal_mysql_forms[] = {
    PHP_LATCH_DSN_OFFERED("mysql+advisory://", php_latch_make_store_of_dsn, "mysql+advisory://…",
                          "MySQL or MariaDB, as a URL"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_mysql_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "MysqlStore",
        .store = "mysql",
        .register_class = register_mysql,
        .forms = mysql_forms,
        .clients = "PDO",
        .without = WITHOUT_LIBRARY,
    },
    {
        .name = LATCH_STORE_NAMESPACE "DoctrineDbalMysqlStore",
        .store = "mysql",
        .register_class = register_dbal_mysql,
        .forms = dbal_mysql_forms,
        .clients = "Doctrine\\DBAL\\Connection",
        .without = WITHOUT_LIBRARY,
    },
    PHP_LATCH_STORE_CLASS_END,
};
