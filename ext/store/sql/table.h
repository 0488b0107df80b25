/*
 * Inside the stores of tables:
 *
 *     table_stores.c    the classes
 *     table_place.c     where a table is: by the engine's session or by PHP code
 *     table_names.c     names in a database
 *     table_requests.c  requests of the engine, and their statements in each dialect
 *     table_session.c   statements in a connection of PHP code
 *     pdo.c             the table by PDO, and connections to its DSNs
 *     dbal.c            the table by Doctrine DBAL, and connections to its URLs
 */
#ifndef PHP_LATCH_TABLE_H
#define PHP_LATCH_TABLE_H

#include "ext/store/engine_store.h"
#include "ext/store/sql/sql.h"

/* Names in the database, as they go into statements. */
typedef struct php_latch_table_names {
    latch_table_layout layout;
    zend_string *table, *id, *token, *expiration;
    zend_string *prefix; /* of rows' names, in Laravel's layout; NULL: none */
    bool fencing;        /* locks have fencing tokens */
} php_latch_table_names;

/*
 * Reads them from the options of a constructor; the caller frees them. False after throwing: one
 * cannot be a name, and might be read as something else, or does not go with the layout.
 */
bool php_latch_table_names_read(php_latch_table_names *names, HashTable *options);
/* Frees them; zeroed ones are allowed. */
void php_latch_table_names_free(php_latch_table_names *names);

/* ---- Opening (table_place.c) ---------------------------------------------------------------- */

typedef struct php_latch_table_place {
    const php_latch_table_names *names;
    const char *name; /* of the engine's store where the engine has no statements */
    php_latch_sql_client client;
    zend_object *connection; /* NULL: `dsn` */
    zend_string *dsn;
    HashTable *options;
    double probability; /* that a grant deletes expired rows */
} php_latch_table_place;

/* Has the engine a client library for that DSN or URL, and statements? */
bool php_latch_table_is_native(zend_string *dsn);
/* Opens the store's back end; after throwing it has none. */
void php_latch_table_open(php_latch_store *store, const php_latch_table_place *place);

/* ---- Requests (table_requests.c) ------------------------------------------------------------ */

typedef struct php_latch_table_session php_latch_table_session;

/* Makes the functions of a store that has that session, which ends with it. The names are copied.
 */
latch_store_calls php_latch_table_calls(php_latch_table_session *session,
                                        const php_latch_table_names *names, double probability);

/* ---- Statements (table_session.c) ----------------------------------------------------------- */

typedef struct php_latch_table_statement {
    zend_string *text; /* with "?" for each parameter */
    const char *parameters[4];
    size_t count;
    bool asks; /* for a value; else it changes rows */
} php_latch_table_statement;

typedef struct php_latch_table_answer {
    bool is_true;                  /* the value that was asked for */
    zend_long affected;            /* number of rows that were changed */
    php_latch_sql_trouble trouble; /* of a failed statement */
} php_latch_table_answer;

typedef enum {
    PHP_LATCH_ASKED_DRIVER,      /* PDO's name of the driver, or DBAL's platform */
    PHP_LATCH_ASKED_TRANSACTION, /* is one open? */
} php_latch_table_asked;

/* A session by the connection, which it takes over. */
php_latch_table_session *php_latch_table_session_open(php_latch_sql_connection connection);
void php_latch_table_session_close(php_latch_table_session *session);
/*
 * LATCH_DONE; LATCH_ERROR_STORE: the connection or the server has refused, as `error` and
 * answer->trouble say; LATCH_INTERRUPTED: a throw is deferred; or any error of its own.
 */
latch_status php_latch_table_session_run(php_latch_table_session *session,
                                         const php_latch_table_statement *statement,
                                         php_latch_table_answer *answer, latch_error *error);
/* The same; the caller frees `answer`. */
latch_status php_latch_table_session_ask(php_latch_table_session *session,
                                         php_latch_table_asked asked, zval *answer,
                                         latch_error *error);
/* Creates the table. */
latch_status php_latch_table_session_create(php_latch_table_session *session,
                                            const php_latch_table_names *names, latch_error *error);

/* ---- PDO (pdo.c) ---------------------------------------------------------------------------- */

/*
 * Checks a DSN, and the options beside it, as far as that is possible without the driver. False
 * after throwing.
 */
bool php_latch_pdo_check_dsn(zend_string *dsn, HashTable *options);
/* Makes a \PDO of them; leaves what is thrown. */
void php_latch_pdo_make(zend_string *dsn, HashTable *options, zval *pdo);
/* Creates the table by the \PDO object; leaves what is thrown. */
void php_latch_pdo_create_table(zend_object *pdo, const php_latch_table_names *names);

/* ---- Doctrine DBAL (dbal.c) ----------------------------------------------------------------- */

/* Makes a connection, which connects at its first use; leaves what is thrown. */
void php_latch_dbal_connect(zend_string *url, zval *connection);
/* Has the schema the table? */
bool php_latch_dbal_has_table(zval *schema, const php_latch_table_names *names);
/* Calls the closure with a function that executes a statement on the connection. */
bool php_latch_dbal_is_same_database(zval *connection, zval *is_same_database);
/* `result`: the schema with the table in it, a new one where DBAL makes new ones. */
void php_latch_dbal_add_table(zval *schema, const php_latch_table_names *names, zval *result);
/* Creates the table; leaves what is thrown. */
void php_latch_dbal_create_table(zval *connection, const php_latch_table_names *names);

#endif
