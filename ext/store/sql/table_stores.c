/*
 * Latch\Store\PdoStore and DoctrineDbalStore: locks in a table. Their constructors check what
 * Symfony's check, in that order, with its messages; store methods that have nothing of their own
 * are in ext/store/store_methods.c.
 */
#include "ext/store/sql/table.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/store_class.h"

#include "zend_attributes.h"
#include "zend_closures.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_smart_str.h"

#include "stubs/pdo_store_arginfo.h"

#include <math.h>

/* The engine's stores. */
#define PDO_TABLE "pdo"
#define DBAL_TABLE "doctrine-dbal"

/* What a store keeps of its arguments, for the methods that are not the engine's. */
typedef struct table_arguments {
    php_latch_store_extra extra;
    php_latch_table_names names;
    zend_object *connection; /* a reference; NULL: `dsn` */
    zend_string *dsn;
    HashTable *options; /* a reference */
} table_arguments;

static table_arguments *arguments_of(zval *this_store)
{
    return (table_arguments *) php_latch_store_of(Z_OBJ_P(this_store))->extra;
}

static void free_arguments(php_latch_store_extra *extra)
{
    table_arguments *arguments = (table_arguments *) extra;

    php_latch_table_names_free(&arguments->names);
    if (arguments->connection != NULL) {
        OBJ_RELEASE(arguments->connection);
    }
    if (arguments->dsn != NULL) {
        zend_string_release(arguments->dsn);
    }
    zend_array_release(arguments->options);
    efree(arguments);
}

/* ---- Constructors --------------------------------------------------------------------------- */

/* The method of Symfony's that makes these checks, in whose name they speak; in our own mode there
 * is none. */
static zend_string *checking_method(const zend_class_entry *ce)
{
    return LATCH_G(symfony) ? zend_string_init(
               ZEND_STRL("Symfony\\Component\\Lock\\Store\\DatabaseTableTrait::init"), 0)
                            : strpprintf(0, "%s::__construct", ZSTR_VAL(ce->name));
}

/* The longest TTL: an expiry is a column of 31 bits, and 2^31 s are a year after that in 1970. */
static zend_long longest_ttl(void)
{
    return (zend_long) (INT32_MAX - latch_engine_wall_ns(php_latch_engine) / LATCH_NS_PER_S);
}

/* False after throwing. */
static bool check_numbers(const zend_class_entry *ce, double probability, zend_long ttl)
{
    zend_string *method = checking_method(ce);

    if (!(probability >= 0 && probability <= 1)) {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "\"%s\" requires gcProbability between 0 and 1, \"%F\" given.",
                                ZSTR_VAL(method), probability);
    } else if (ttl < 1) {
        zend_throw_exception_ex(php_latch_invalid_ttl_ce, 0,
                                "\"%s()\" expects a strictly positive TTL, \"" ZEND_LONG_FMT
                                "\" given.",
                                ZSTR_VAL(method), ttl);
    } else if (ttl > longest_ttl()) {
        zend_throw_exception_ex(php_latch_invalid_ttl_ce, 0,
                                "\"%s()\" expects a TTL that ends before 2038, \"" ZEND_LONG_FMT
                                "\" given.",
                                ZSTR_VAL(method), ttl);
    }
    zend_string_release(method);
    return EG(exception) == NULL;
}

typedef struct table_call {
    zval *connection;
    HashTable *options;
    double probability;
    zend_long ttl;
} table_call;

static bool parse_table_call(zend_execute_data *execute_data, table_call *call)
{
    *call = (table_call){
        .options = (HashTable *) &zend_empty_array,
        .probability = 0.01,
        .ttl = 300,
    };
    ZEND_PARSE_PARAMETERS_START(1, 4)
        Z_PARAM_ZVAL(call->connection)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT(call->options)
        Z_PARAM_DOUBLE(call->probability)
        Z_PARAM_LONG(call->ttl)
        ZEND_PARSE_PARAMETERS_END_EX(return false);
        return true;
}

/* Checks the arguments, and keeps them in the store. False after throwing. */
static bool construct_table(php_latch_store *store, php_latch_sql_client client,
                            const table_call *call)
{
    table_arguments *arguments;
    php_latch_table_names names;
    zend_string *dsn;

    if (store->backend != NULL || store->extra != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
        return false;
    }
    if (!php_latch_sql_parse_connection(client, call->connection, &dsn)
        || !check_numbers(store->std.ce, call->probability, call->ttl)) {
        return false;
    }
    if (!php_latch_table_names_read(&names, call->options)) {
        php_latch_table_names_free(&names);
        return false;
    }
    arguments = ecalloc(1, sizeof(*arguments));
    arguments->extra.free = free_arguments;
    arguments->names = names;
    arguments->dsn = dsn != NULL ? zend_string_copy(dsn) : NULL;
    arguments->options = call->options;
    GC_TRY_ADDREF(arguments->options);
    if (dsn == NULL) {
        arguments->connection = Z_OBJ_P(call->connection);
        GC_ADDREF(arguments->connection);
    }
    store->extra = &arguments->extra;
    store->least_ttl_ms = 1000;
    store->initial_ttl_ms = (int64_t) call->ttl * 1000;
    return true;
}

PHP_METHOD(Latch_Store_PdoStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    const table_arguments *arguments;
    table_call call;

    if (!parse_table_call(execute_data, &call) || !construct_table(store, PHP_LATCH_PDO, &call)) {
        RETURN_THROWS();
    }
    arguments = arguments_of(ZEND_THIS);
    if (arguments->connection != NULL
            ? php_latch_check_error_mode(store->std.ce, arguments->connection)
            : php_latch_pdo_check_dsn(arguments->dsn, arguments->options)) {
        php_latch_table_open(store, &(php_latch_table_place){.names = &arguments->names,
                                                             .name = PDO_TABLE,
                                                             .client = PHP_LATCH_PDO,
                                                             .connection = arguments->connection,
                                                             .dsn = arguments->dsn,
                                                             .options = arguments->options,
                                                             .probability = call.probability});
    }
}

PHP_METHOD(Latch_Store_DoctrineDbalStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    table_arguments *arguments;
    table_call call;

    if (!parse_table_call(execute_data, &call) || !construct_table(store, PHP_LATCH_DBAL, &call)) {
        RETURN_THROWS();
    }
    arguments = arguments_of(ZEND_THIS);
    if (arguments->connection == NULL && !php_latch_table_is_native(arguments->dsn)) {
        zval connection;

        php_latch_dbal_connect(arguments->dsn, &connection);
        if (EG(exception) != NULL) {
            zval_ptr_dtor(&connection);
            RETURN_THROWS();
        }
        arguments->connection = Z_OBJ(connection);
    }
    php_latch_table_open(store, &(php_latch_table_place){.names = &arguments->names,
                                                         .name = DBAL_TABLE,
                                                         .client = PHP_LATCH_DBAL,
                                                         .connection = arguments->connection,
                                                         .dsn = arguments->dsn,
                                                         .options = arguments->options,
                                                         .probability = call.probability});
}

/* ---- Methods -------------------------------------------------------------------------------- */

/* False after throwing: the constructor was not called. */
static bool is_constructed(zval *this_store)
{
    return php_latch_store_backend(Z_OBJ_P(this_store)) != NULL;
}

/* Is the table created by the engine: in its session of a DSN, in Laravel's layout, or with a
 * source of fencing tokens? */
static bool is_created_by_engine(const table_arguments *arguments)
{
    return arguments->names.layout == LATCH_TABLE_LARAVEL || arguments->names.fencing
           || (arguments->connection == NULL && php_latch_table_is_native(arguments->dsn));
}

static void create_by_engine(zval *this_store)
{
    const latch_request request = {.kind = LATCH_PROBE, .create = true};
    zval key;

    php_latch_key_make(&key, arguments_of(this_store)->names.table);
    php_latch_store_run(Z_OBJ_P(this_store), Z_OBJ(key), &request);
    zval_ptr_dtor(&key);
}

PHP_METHOD(Latch_Store_PdoStore, createTable)
{
    const table_arguments *arguments;
    zval pdo;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!is_constructed(ZEND_THIS)) {
        RETURN_THROWS();
    }
    arguments = arguments_of(ZEND_THIS);
    if (is_created_by_engine(arguments)) {
        create_by_engine(ZEND_THIS);
    } else if (arguments->connection != NULL) {
        php_latch_pdo_create_table(arguments->connection, &arguments->names);
    } else {
        php_latch_pdo_make(arguments->dsn, arguments->options, &pdo);
        if (Z_TYPE(pdo) == IS_OBJECT) {
            php_latch_pdo_create_table(Z_OBJ(pdo), &arguments->names);
        }
        zval_ptr_dtor(&pdo);
    }
}

PHP_METHOD(Latch_Store_DoctrineDbalStore, createTable)
{
    const table_arguments *arguments;
    zval connection;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!is_constructed(ZEND_THIS)) {
        RETURN_THROWS();
    }
    arguments = arguments_of(ZEND_THIS);
    if (is_created_by_engine(arguments)) {
        create_by_engine(ZEND_THIS);
        return;
    }
    ZVAL_OBJ(&connection, arguments->connection);
    php_latch_dbal_create_table(&connection, &arguments->names);
}

/* A connection of DBAL's to the store's database; the caller frees it. */
static void connect_by_dbal(const table_arguments *arguments, zval *connection)
{
    if (arguments->connection != NULL) {
        ZVAL_OBJ_COPY(connection, arguments->connection);
    } else {
        php_latch_dbal_connect(arguments->dsn, connection);
    }
}

PHP_METHOD(Latch_Store_DoctrineDbalStore, configureSchema)
{
    const table_arguments *arguments;
    zend_class_entry *schema_ce = php_latch_find_class("doctrine\\dbal\\schema\\schema");
    zval *schema, *is_same_database, connection;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJECT(schema)
        Z_PARAM_OBJECT_OF_CLASS(is_same_database, zend_ce_closure)
    ZEND_PARSE_PARAMETERS_END();
    if (schema_ce == NULL || !instanceof_function(Z_OBJCE_P(schema), schema_ce)) {
        zend_argument_type_error(1, "must be of type Doctrine\\DBAL\\Schema\\Schema, %s given",
                                 zend_zval_type_name(schema));
        RETURN_THROWS();
    }
    if (!is_constructed(ZEND_THIS)) {
        RETURN_THROWS();
    }
    arguments = arguments_of(ZEND_THIS);
    if (arguments->names.layout == LATCH_TABLE_LARAVEL) { /* Laravel's migrations create it */
        RETURN_COPY(schema);
    }
    connect_by_dbal(arguments, &connection);
    if (EG(exception) == NULL && !php_latch_dbal_has_table(schema, &arguments->names)
        && EG(exception) == NULL
        && php_latch_dbal_is_same_database(&connection, is_same_database)) {
        php_latch_dbal_add_table(schema, &arguments->names, return_value);
    } else if (EG(exception) == NULL) {
        RETVAL_COPY(schema);
    }
    zval_ptr_dtor(&connection);
}

/* With Symfony's message, and before anything is sent. */
static void put_off_expiration(INTERNAL_FUNCTION_PARAMETERS)
{
    latch_request request = {.kind = LATCH_REFRESH};
    zend_object *key;
    double ttl;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    (void) return_value;
    if (!(ttl >= 1) || ttl > (double) longest_ttl()) {
        smart_str given = {0};

        smart_str_append_double(&given, ttl, (int) EG(precision), false);
        smart_str_0(&given);
        zend_throw_exception_ex(php_latch_invalid_ttl_ce, 0,
                                "\"%s::putOffExpiration()\" expects a TTL %s. Got \"%s\".",
                                ZSTR_VAL(Z_OBJCE_P(ZEND_THIS)->name),
                                ttl > 1 ? "that ends before 2038" : "greater or equals to 1 second",
                                ZSTR_VAL(given.s));
        smart_str_free(&given);
        RETURN_THROWS();
    }
    request.ttl_ms = php_latch_ttl_ms(ttl);
    php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request);
}

PHP_METHOD(Latch_Store_PdoStore, putOffExpiration)
{
    put_off_expiration(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

PHP_METHOD(Latch_Store_DoctrineDbalStore, putOffExpiration)
{
    put_off_expiration(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/* ---- Classes -------------------------------------------------------------------------------- */

static zend_object *create_table_store(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

static void register_pdo_store(void)
{
    register_class_Latch_Store_PdoStore(php_latch_persisting_store_ce)->create_object =
        create_table_store;
}

static void register_dbal_store(void)
{
    register_class_Latch_Store_DoctrineDbalStore(php_latch_persisting_store_ce)->create_object =
        create_table_store;
}

static const php_latch_dsn_form pdo_forms[] = {
    PHP_LATCH_DSN_OFFERED("mysql:", php_latch_make_store_of_dsn, "mysql:…",
                          "a table in MySQL or MariaDB, as PDO has it"),
    PHP_LATCH_DSN("oci:", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_OFFERED("pgsql:", php_latch_make_store_of_dsn, "pgsql:…",
                          "a table in PostgreSQL, as PDO has it"),
    PHP_LATCH_DSN("sqlsrv:", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_OFFERED("sqlite:", php_latch_make_store_of_dsn, "sqlite:/FILE",
                          "a table in SQLite, as PDO has it"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_pdo_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "PdoStore",
        .store = PDO_TABLE,
        .register_class = register_pdo_store,
        .forms = pdo_forms,
        .clients = "PDO",
        .takes_clients = true,
    },
    PHP_LATCH_STORE_CLASS_END,
};

static const php_latch_dsn_form dbal_forms[] = {
    PHP_LATCH_DSN("mssql://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_OFFERED("mysql://", php_latch_make_store_of_dsn, "mysql://…",
                          "a table in MySQL or MariaDB, by Doctrine DBAL"),
    PHP_LATCH_DSN("mysql2://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN("oci8://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN("pdo_oci://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN("pgsql://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN("postgres://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_OFFERED("postgresql://", php_latch_make_store_of_dsn, "postgresql://…",
                          "a table in PostgreSQL, by Doctrine DBAL"),
    PHP_LATCH_DSN_OFFERED("sqlite://", php_latch_make_store_of_dsn, "sqlite:///FILE",
                          "a table in SQLite, by Doctrine DBAL"),
    PHP_LATCH_DSN("sqlite3://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_doctrine_dbal_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "DoctrineDbalStore",
        .store = DBAL_TABLE,
        .register_class = register_dbal_store,
        .forms = dbal_forms,
        .clients = "Doctrine\\DBAL\\Connection",
        .takes_clients = true,
    },
    PHP_LATCH_STORE_CLASS_END,
};
