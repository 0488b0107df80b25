/*
 * Inside the stores of database servers: stores.c (classes of advisory locks), connection.c and
 * settings.c (the arguments of all constructors) and runner.c (statements in sessions of PHP code).
 * table.h has what is of tables alone.
 */
#ifndef PHP_LATCH_SQL_H
#define PHP_LATCH_SQL_H

#include "ext/php/client_object.h"

/* PDO's constants, part of its interface: its headers need not be installed. */
enum {
    PHP_LATCH_PDO_ATTR_TIMEOUT = 2,
    PHP_LATCH_PDO_ATTR_ERRMODE = 3,
    PHP_LATCH_PDO_ATTR_DRIVER_NAME = 16,
    PHP_LATCH_PDO_ATTR_EMULATE_PREPARES = 20,
    PHP_LATCH_PDO_ERRMODE_EXCEPTION = 2,
};

/* Kinds of client objects. */
typedef enum { PHP_LATCH_PDO = 0, PHP_LATCH_DBAL } php_latch_sql_client;

/* A \PDO object or a Doctrine DBAL connection, or a DSN of which a \PDO is made at its first use.
 */
typedef struct php_latch_sql_connection {
    php_latch_client client; /* no object yet: it is to be made */
    php_latch_sql_client kind;
    zend_string *dsn;   /* NULL: the object was given */
    HashTable *options; /* beside the DSN, as Symfony's; else NULL */
} php_latch_sql_connection;

/* Makes a runner of statements by the connection, which it takes over. */
latch_sql_runner php_latch_sql_runner(php_latch_sql_connection connection);

/* latch.lock_names (table_place.c) */
ZEND_INI_MH(php_latch_update_lock_names);

/* ---- Connections of PHP code (connection.c) -------------------------------------------------- */

/*
 * Class of the connections that a store takes in place of a DSN: by name, as it need not be loaded.
 */
typedef struct php_latch_sql_client_class {
    const char *name, *lower_name;
    const char *argument; /* the constructor's */
} php_latch_sql_client_class;

extern const php_latch_sql_client_class php_latch_sql_client_classes[];

/* A connection by that object, with a reference to it. */
php_latch_sql_connection php_latch_sql_connection_of(zend_object *object,
                                                     php_latch_sql_client kind);
/* A connection by a \PDO that is to be made of them, with references to both. */
php_latch_sql_connection php_latch_sql_connection_to(zend_string *dsn, HashTable *options);
/* Gives back its references. */
void php_latch_sql_connection_end(php_latch_sql_connection *connection);
/* The object, made if it is missing; NULL after throwing. */
zend_object *php_latch_sql_connection_object(php_latch_sql_connection *connection);
/* It is lost: one of a DSN is made anew when it is used again. */
void php_latch_sql_connection_lose(php_latch_sql_connection *connection);

/* Reads a constructor's first argument: a text is *dsn, NULL for a connection. False after
 * throwing. */
bool php_latch_sql_parse_connection(php_latch_sql_client client, zval *argument, zend_string **dsn);
/* The last insert ID: 0 where there is none, by DBAL 4 as well, which throws. Leaves what else is
 * thrown. */
zend_long php_latch_sql_insert_id(zend_object *connection, php_latch_sql_client client);
/* Reads an attribute of a \PDO; leaves what is thrown. */
void php_latch_pdo_attribute(zend_object *pdo, zend_long attribute, zval *value);
/* False after throwing, as a store of that class: the \PDO throws no exceptions. */
bool php_latch_check_error_mode(const zend_class_entry *ce, zend_object *pdo);

/* ---- Errors (trouble.c) ---------------------------------------------------------------------- */

/* Error of a failed statement. */
typedef struct php_latch_sql_trouble {
    bool is_known;         /* it is of the server, or the connection, not of PHP code between */
    bool is_missing_table; /* by the class of DBAL's exception */
    char state[6];         /* SQLSTATE */
    zend_long code;
    char message[256];
} php_latch_sql_trouble;

/* Reads the error of a \PDO or a \PDOStatement in an error mode without exceptions. */
void php_latch_sql_trouble_of_object(php_latch_sql_trouble *trouble, zend_object *object);
/* Reads an exception that a call of the connection has thrown. */
void php_latch_sql_trouble_of_exception(php_latch_client *connection, zend_object *exception,
                                        php_latch_sql_trouble *trouble);
/* What a runner's run() answers for it. */
latch_status php_latch_sql_trouble_status(const php_latch_sql_trouble *trouble);
/* What its execute() answers for it, where that is LATCH_ERROR_STORE. */
latch_sql_refusal php_latch_sql_trouble_refusal(const php_latch_sql_trouble *trouble);

/* ---- Settings beside a DSN (settings.c) ------------------------------------------------------ */

/* Settings as texts. */
typedef struct php_latch_sql_settings {
    latch_setting *list;
    zend_string **texts; /* two for each of them */
    size_t count;
} php_latch_sql_settings;

/* Collects them from the options of a constructor; false after throwing. They are to be freed
 * anyway. */
bool php_latch_sql_settings_collect(php_latch_sql_settings *settings, HashTable *options);
void php_latch_sql_settings_free(php_latch_sql_settings *settings);
/* Throws: the constructor's second argument "has an option NAME that" is no good. */
void php_latch_throw_option(const char *name, const char *problem);

#endif
