/*
 * Inside the stores of database servers: stores.c (their classes) and runner.c (statements in
 * sessions of PHP code).
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

/*
 * Makes a runner of statements by a \PDO object or a Doctrine DBAL connection, of which it keeps a
 * reference.
 */
latch_sql_runner php_latch_sql_runner(zend_object *connection, php_latch_sql_client client);

#endif
