/*
 * Clients as the user of the engine has them, for its SQL stores: they run statements as a \PDO
 * object would, on a connection that the caller opens and closes.
 */
#ifndef SQL_CLIENT_H
#define SQL_CLIENT_H

#include "unit.h"

/* latch_sql_runner.run() and .is_in_transaction(); the context is a PGconn, or a MYSQL. */
latch_status postgresql_client_run(void *connection, const char *statement, char *value,
                                   size_t size, latch_error *error);
bool postgresql_client_is_in_transaction(void *connection);
latch_status mysql_client_run(void *connection, const char *statement, char *value, size_t size,
                              latch_error *error);
bool mysql_client_is_in_transaction(void *connection);

/* latch_sql_runner.execute() */
latch_status postgresql_client_execute(void *connection, const char *statement,
                                       latch_sql_change *change, latch_error *error);
latch_status mysql_client_execute(void *connection, const char *statement, latch_sql_change *change,
                                  latch_error *error);

/* A runner on a new connection to the test program's server, which is closed with it. */
latch_sql_runner postgresql_client_runner(void);
latch_sql_runner mysql_client_runner(void);

/* A store on a new connection to the test program's server, which is closed with it. */
latch_store *postgresql_client_open(void);
latch_store *mysql_client_open(void);

#endif
