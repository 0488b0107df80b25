/*
 * Doctrine DBAL for DoctrineDbalStore: connections to URLs, and the table in a schema. What is
 * thrown stays pending, and nothing is called any more then.
 */
#include "ext/store/sql/table.h"

#include "ext/php/interfaces.h"

#include "zend_closures.h"
#include "zend_exceptions.h"

#define DBAL "Doctrine\\DBAL\\"

/* Lengths of the columns, as Symfony's store declares them. */
enum { ID_LENGTH = 64, TOKEN_LENGTH = 44 };

/* ---- Calls ---------------------------------------------------------------------------------- */

static void free_dbal_arguments(uint32_t count, zval *arguments)
{
    for (uint32_t at = 0; at < count; at++) {
        zval_ptr_dtor(&arguments[at]);
    }
}

/* Makes an object by its constructor; consumes the arguments. */
static void make_dbal_object(const char *class, zval *object, uint32_t count, zval *arguments)
{
    zend_class_entry *ce = EG(exception) == NULL ? php_latch_load_class(class) : NULL;

    ZVAL_UNDEF(object);
    if (ce != NULL && object_init_ex(object, ce) == SUCCESS && ce->constructor != NULL) {
        zend_call_known_instance_method(ce->constructor, Z_OBJ_P(object), NULL, count, arguments);
    }
    free_dbal_arguments(count, arguments);
}

/* Calls a static method; consumes the arguments. */
static void call_dbal_class(const char *class, const char *lower_method, zval *result,
                            uint32_t count, zval *arguments)
{
    zend_class_entry *ce = EG(exception) == NULL ? php_latch_load_class(class) : NULL;
    zend_function *method =
        ce != NULL ? zend_hash_str_find_ptr(&ce->function_table, lower_method, strlen(lower_method))
                   : NULL;

    ZVAL_UNDEF(result);
    if (method != NULL) {
        zend_call_known_function(method, NULL, ce, result, count, arguments, NULL);
    }
    free_dbal_arguments(count, arguments);
}

/* Calls a method; consumes the arguments. */
static void call_dbal_object(zval *object, const char *lower_method, zval *result, uint32_t count,
                             zval *arguments)
{
    ZVAL_UNDEF(result);
    if (Z_TYPE_P(object) == IS_OBJECT) {
        php_latch_call_method(Z_OBJ_P(object), lower_method, result, count, arguments);
    }
    free_dbal_arguments(count, arguments);
}

/* The same, where what the method returns takes the object's place: a step of a builder. */
static void step_builder(zval *object, const char *lower_method, uint32_t count, zval *arguments)
{
    zval result;

    call_dbal_object(object, lower_method, &result, count, arguments);
    zval_ptr_dtor(object);
    ZVAL_COPY_VALUE(object, &result);
}

static void step_builder_by_text(zval *object, const char *lower_method, zend_string *text)
{
    zval argument;

    ZVAL_STR_COPY(&argument, text);
    step_builder(object, lower_method, 1, &argument);
}

static bool dbal_class_has(zend_object *object, const char *lower_method)
{
    return zend_hash_str_exists(&object->ce->function_table, lower_method, strlen(lower_method));
}

/* ---- Connections ---------------------------------------------------------------------------- */

/* Drivers by the schemes of URLs, as Symfony's store knows them. */
static void add_schemes(zval *schemes)
{
    static const char *const drivers[][2] = {
        {"db2", "ibm_db2"},      {"mssql", "pdo_sqlsrv"},   {"mysql", "pdo_mysql"},
        {"mysql2", "pdo_mysql"}, {"postgres", "pdo_pgsql"}, {"postgresql", "pdo_pgsql"},
        {"pgsql", "pdo_pgsql"},  {"sqlite", "pdo_sqlite"},  {"sqlite3", "pdo_sqlite"},
    };

    array_init(schemes);
    for (size_t at = 0; at < sizeof(drivers) / sizeof(*drivers); at++) {
        add_assoc_string(schemes, drivers[at][0], drivers[at][1]);
    }
}

void php_latch_dbal_connect(zend_string *url, zval *connection)
{
    zval parser, arguments[2], factory, result;

    ZVAL_UNDEF(connection);
    if (php_latch_load_class(DBAL "DriverManager") == NULL) {
        if (EG(exception) == NULL) {
            zend_throw_exception(php_latch_invalid_argument_ce,
                                 "Failed to parse the DSN. Try running \"composer require "
                                 "doctrine/dbal\".",
                                 0);
        }
        return;
    }
    add_schemes(&arguments[0]);
    make_dbal_object(DBAL "Tools\\DsnParser", &parser, 1, arguments);
    ZVAL_STR_COPY(&arguments[0], url);
    call_dbal_object(&parser, "parse", &result, 1, arguments);
    zval_ptr_dtor(&parser);
    ZVAL_COPY_VALUE(&arguments[0], &result);

    make_dbal_object(DBAL "Configuration", &arguments[1], 0, NULL);
    make_dbal_object(DBAL "Schema\\DefaultSchemaManagerFactory", &factory, 0, NULL);
    call_dbal_object(&arguments[1], "setschemamanagerfactory", &result, 1, &factory);
    zval_ptr_dtor(&result);
    call_dbal_class(DBAL "DriverManager", "getconnection", connection, 2, arguments);
}

/* ---- Schema --------------------------------------------------------------------------------- */

/* The constraint without a name, clustered, on the column of resources. */
static void make_primary_key(const php_latch_table_names *names, zval *constraint)
{
    zval identifier, column, arguments[3];

    ZVAL_STR_COPY(&identifier, names->id);
    call_dbal_class(DBAL "Schema\\Name\\Identifier", "unquoted", &column, 1, &identifier);
    make_dbal_object(DBAL "Schema\\Name\\UnqualifiedName", &identifier, 1, &column);
    ZVAL_NULL(&arguments[0]);
    array_init(&arguments[1]);
    add_next_index_zval(&arguments[1], &identifier);
    ZVAL_TRUE(&arguments[2]);
    make_dbal_object(DBAL "Schema\\PrimaryKeyConstraint", constraint, 3, arguments);
}

/* Makes a column by DBAL 4.5's editor; `length` 0: an unsigned integer. */
static void edit_column(zend_string *name, zend_long length, zval *column)
{
    zval argument;

    call_dbal_class(DBAL "Schema\\Column", "editor", column, 0, NULL);
    step_builder_by_text(column, "setunquotedname", name);
    ZVAL_STRING(&argument, length > 0 ? "string" : "integer");
    step_builder(column, "settypename", 1, &argument);
    if (length > 0) {
        ZVAL_LONG(&argument, length);
        step_builder(column, "setlength", 1, &argument);
    } else {
        ZVAL_TRUE(&argument);
        step_builder(column, "setunsigned", 1, &argument);
    }
    step_builder(column, "create", 0, NULL);
}

/* Makes the table by DBAL 4.5's editor. */
static void edit_table(const php_latch_table_names *names, zval *table)
{
    zval argument;

    call_dbal_class(DBAL "Schema\\Table", "editor", table, 0, NULL);
    step_builder_by_text(table, "setunquotedname", names->table);
    edit_column(names->id, ID_LENGTH, &argument);
    step_builder(table, "addcolumn", 1, &argument);
    edit_column(names->token, TOKEN_LENGTH, &argument);
    step_builder(table, "addcolumn", 1, &argument);
    edit_column(names->expiration, 0, &argument);
    step_builder(table, "addcolumn", 1, &argument);
    make_primary_key(names, &argument);
    step_builder(table, "addprimarykeyconstraint", 1, &argument);
    step_builder(table, "create", 0, NULL);
}

/* Adds a column to a table of an older DBAL. */
static void add_column(zval *table, zend_string *name, zend_long length)
{
    zval arguments[3], result;

    ZVAL_STR_COPY(&arguments[0], name);
    ZVAL_STRING(&arguments[1], length > 0 ? "string" : "integer");
    array_init(&arguments[2]);
    if (length > 0) {
        add_assoc_long(&arguments[2], "length", length);
    } else {
        add_assoc_bool(&arguments[2], "unsigned", true);
    }
    call_dbal_object(table, "addcolumn", &result, 3, arguments);
    zval_ptr_dtor(&result);
}

/* Adds the table to a schema of an older DBAL, which is changed. */
static void add_table(zval *schema, const php_latch_table_names *names)
{
    zval table, argument, result;

    ZVAL_STR_COPY(&argument, names->table);
    call_dbal_object(schema, "createtable", &table, 1, &argument);
    add_column(&table, names->id, ID_LENGTH);
    add_column(&table, names->token, TOKEN_LENGTH);
    add_column(&table, names->expiration, 0);
    if (EG(exception) == NULL
        && php_latch_load_class(DBAL "Schema\\PrimaryKeyConstraint") != NULL) {
        make_primary_key(names, &argument);
        call_dbal_object(&table, "addprimarykeyconstraint", &result, 1, &argument);
    } else {
        array_init(&argument);
        add_next_index_str(&argument, zend_string_copy(names->id));
        call_dbal_object(&table, "setprimarykey", &result, 1, &argument);
    }
    zval_ptr_dtor(&result);
    zval_ptr_dtor(&table);
}

void php_latch_dbal_add_table(zval *schema, const php_latch_table_names *names, zval *result)
{
    zval table;

    if (!dbal_class_has(Z_OBJ_P(schema), "edit")) {
        add_table(schema, names);
        ZVAL_COPY(result, schema);
        return;
    }
    call_dbal_object(schema, "edit", result, 0, NULL);
    edit_table(names, &table);
    step_builder(result, "addtable", 1, &table);
    step_builder(result, "create", 0, NULL);
}

bool php_latch_dbal_has_table(zval *schema, const php_latch_table_names *names)
{
    zval argument, result;
    bool has;

    ZVAL_STR_COPY(&argument, names->table);
    call_dbal_object(schema, "hastable", &result, 1, &argument);
    has = Z_TYPE(result) == IS_TRUE;
    zval_ptr_dtor(&result);
    return has;
}

bool php_latch_dbal_is_same_database(zval *connection, zval *is_same_database)
{
    zend_function *execute = zend_hash_str_find_ptr(&Z_OBJCE_P(connection)->function_table,
                                                    ZEND_STRL("executestatement"));
    zval argument, result;
    bool is_same;

    ZVAL_UNDEF(&result);
    zend_create_fake_closure(&argument, execute, execute->common.scope, Z_OBJCE_P(connection),
                             connection);
    call_user_function(NULL, NULL, is_same_database, &result, 1, &argument);
    is_same = EG(exception) == NULL && zend_is_true(&result);
    zval_ptr_dtor(&argument);
    zval_ptr_dtor(&result);
    return is_same;
}

void php_latch_dbal_create_table(zval *connection, const php_latch_table_names *names)
{
    zval schema, filled, platform, statements, *statement, argument, result;

    make_dbal_object(DBAL "Schema\\Schema", &schema, 0, NULL);
    ZVAL_UNDEF(&filled);
    if (Z_TYPE(schema) == IS_OBJECT && EG(exception) == NULL) {
        php_latch_dbal_add_table(&schema, names, &filled);
    }
    call_dbal_object(connection, "getdatabaseplatform", &platform, 0, NULL);
    call_dbal_object(&filled, "tosql", &statements, 1, &platform);
    if (Z_TYPE(statements) == IS_ARRAY) {
        ZEND_HASH_FOREACH_VAL(Z_ARR(statements), statement)
        {
            ZVAL_COPY(&argument, statement);
            call_dbal_object(connection, "executestatement", &result, 1, &argument);
            zval_ptr_dtor(&result);
        }
        ZEND_HASH_FOREACH_END();
    }
    zval_ptr_dtor(&statements);
    zval_ptr_dtor(&filled);
    zval_ptr_dtor(&schema);
}
