/* The first argument of the stores of databases: a DSN, a \PDO or a connection of Doctrine DBAL. */
#include "ext/store/sql/table.h"

#include "ext/php/interfaces.h"

#include "zend_exceptions.h"

const php_latch_sql_client_class php_latch_sql_client_classes[] = {
    [PHP_LATCH_PDO] = {"PDO", "pdo", "connOrDsn"},
    [PHP_LATCH_DBAL] = {"Doctrine\\DBAL\\Connection", "doctrine\\dbal\\connection", "connOrUrl"},
};

bool php_latch_sql_parse_connection(php_latch_sql_client client, zval *argument, zend_string **dsn)
{
    const php_latch_sql_client_class *class = &php_latch_sql_client_classes[client];
    zend_class_entry *ce = php_latch_find_class(class->lower_name);

    *dsn = NULL;
    if ((Z_TYPE_P(argument) == IS_OBJECT && ce != NULL
         && instanceof_function(Z_OBJCE_P(argument), ce))
        || (Z_TYPE_P(argument) != IS_NULL && zend_parse_arg_str(argument, dsn, false, 1))) {
        return true;
    }
    if (EG(exception) == NULL) {
        zend_argument_type_error(1, "must be of type %s|string, %s given", class->name,
                                 zend_zval_type_name(argument));
    }
    return false;
}

php_latch_sql_connection php_latch_sql_connection_of(zend_object *object, php_latch_sql_client kind)
{
    GC_ADDREF(object);
    return (php_latch_sql_connection){.client.object = object, .kind = kind};
}

php_latch_sql_connection php_latch_sql_connection_to(zend_string *dsn, HashTable *options)
{
    GC_TRY_ADDREF(options);
    return (php_latch_sql_connection){
        .kind = PHP_LATCH_PDO,
        .dsn = zend_string_copy(dsn),
        .options = options,
    };
}

void php_latch_sql_connection_end(php_latch_sql_connection *connection)
{
    if (connection->dsn != NULL) {
        zend_string_release(connection->dsn);
        zend_array_release(connection->options);
    }
    if (connection->client.object != NULL) {
        php_latch_object_release_deferred(connection->client.object);
    }
}

zend_object *php_latch_sql_connection_object(php_latch_sql_connection *connection)
{
    if (connection->client.object == NULL) {
        zval pdo;

        php_latch_pdo_make(connection->dsn, connection->options, &pdo);
        connection->client.object = Z_TYPE(pdo) == IS_OBJECT ? Z_OBJ(pdo) : NULL;
    }
    return connection->client.object;
}

void php_latch_sql_connection_lose(php_latch_sql_connection *connection)
{
    if (connection->dsn != NULL && connection->client.object != NULL) {
        php_latch_object_release_deferred(connection->client.object);
        connection->client.object = NULL;
    }
}

void php_latch_pdo_attribute(zend_object *pdo, zend_long attribute, zval *value)
{
    zval argument;

    ZVAL_LONG(&argument, attribute);
    php_latch_call_method(pdo, "getattribute", value, 1, &argument);
}

bool php_latch_check_error_mode(const zend_class_entry *ce, zend_object *pdo)
{
    zval value;
    zend_long mode;

    php_latch_pdo_attribute(pdo, PHP_LATCH_PDO_ATTR_ERRMODE, &value);
    if (EG(exception) != NULL) {
        return false;
    }
    mode = zval_get_long(&value);
    zval_ptr_dtor(&value);
    if (mode == PHP_LATCH_PDO_ERRMODE_EXCEPTION) {
        return true;
    }
    zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                            "\"%s::__construct\" requires PDO error mode attribute be set to "
                            "throw Exceptions (i.e. $pdo->setAttribute(PDO::ATTR_ERRMODE, "
                            "PDO::ERRMODE_EXCEPTION)).",
                            ZSTR_VAL(ce->name));
    return false;
}

zend_long php_latch_sql_insert_id(zend_object *connection, php_latch_sql_client client)
{
    zend_class_entry *none;
    zend_long number;
    zval value;

    php_latch_call_method(connection, "lastinsertid", &value, 0, NULL);
    none = client == PHP_LATCH_DBAL
               ? php_latch_find_class("doctrine\\dbal\\exception\\noidentityvalue")
               : NULL;
    if (EG(exception) != NULL && none != NULL && instanceof_function(EG(exception)->ce, none)) {
        zend_clear_exception();
    }
    number = EG(exception) == NULL ? zval_get_long(&value) : 0;
    zval_ptr_dtor(&value);
    return number;
}
