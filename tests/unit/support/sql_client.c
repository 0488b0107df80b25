/* Statements on connections of the libraries: see sql_client.h. */
#include "sql_client.h"

#include "mysql_server.h"
#include "postgresql_server.h"

#include <errmsg.h>
#include <stdlib.h>
#include <mysqld_error.h>

static latch_status fail_with(latch_error *error, latch_status status, const char *message)
{
    error->status = status;
    snprintf(error->message, sizeof(error->message), "%s", message);
    return status;
}

latch_status postgresql_client_run(void *connection, const char *statement, char *value,
                                   size_t size, latch_error *error)
{
    PGresult *result = PQexec(connection, statement);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    latch_status status = LATCH_DONE;

    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
        snprintf(value, size, "%s", PQgetvalue(result, 0, 0));
    } else {
        status = PQstatus(connection) != CONNECTION_OK        ? LATCH_ERROR_LOST
                 : code != NULL && strcmp(code, "55P03") == 0 ? LATCH_CONFLICT
                                                              : LATCH_ERROR_STORE;
        fail_with(error, status, PQerrorMessage(connection));
    }
    PQclear(result);
    return status;
}

latch_status postgresql_client_execute(void *connection, const char *statement,
                                       latch_sql_change *change, latch_error *error)
{
    PGresult *result = PQexec(connection, statement);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    latch_status status = LATCH_DONE;

    if (PQresultStatus(result) == PGRES_COMMAND_OK) {
        change->affected = strtoll(PQcmdTuples(result), NULL, 10);
    } else {
        status = PQstatus(connection) != CONNECTION_OK        ? LATCH_ERROR_LOST
                 : code != NULL && strcmp(code, "55P03") == 0 ? LATCH_CONFLICT
                                                              : LATCH_ERROR_STORE;
        change->refusal = code == NULL                 ? LATCH_SQL_REFUSED
                          : strcmp(code, "40001") == 0 ? LATCH_SQL_CLASHED
                          : strcmp(code, "42P01") == 0 ? LATCH_SQL_NO_TABLE
                                                       : LATCH_SQL_REFUSED;
        fail_with(error, status, PQerrorMessage(connection));
    }
    PQclear(result);
    return status;
}

bool postgresql_client_is_in_transaction(void *connection)
{
    return PQtransactionStatus(connection) != PQTRANS_IDLE;
}

latch_status mysql_client_run(void *connection, const char *statement, char *value, size_t size,
                              latch_error *error)
{
    MYSQL_RES *result;
    MYSQL_ROW row;

    if (mysql_query(connection, statement) != 0) {
        unsigned code = mysql_errno(connection);

        return fail_with(error,
                         code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST ? LATCH_ERROR_LOST
                         : code == ER_LOCK_DEADLOCK ? LATCH_ERROR_DEADLOCK
                                                    : LATCH_ERROR_STORE,
                         mysql_error(connection));
    }
    result = mysql_store_result(connection);
    row = result != NULL ? mysql_fetch_row(result) : NULL;
    snprintf(value, size, "%s", row != NULL && row[0] != NULL ? row[0] : "");
    mysql_free_result(result);
    return LATCH_DONE;
}

latch_status mysql_client_execute(void *connection, const char *statement, latch_sql_change *change,
                                  latch_error *error)
{
    unsigned code;

    if (mysql_query(connection, statement) == 0) {
        change->affected = (int64_t) mysql_affected_rows(connection);
        change->insert_id = (int64_t) mysql_insert_id(connection);
        return LATCH_DONE;
    }
    code = mysql_errno(connection);
    change->refusal = code == ER_NO_SUCH_TABLE ? LATCH_SQL_NO_TABLE
                      : code == ER_LOCK_DEADLOCK || code == ER_LOCK_WAIT_TIMEOUT
                          ? LATCH_SQL_CLASHED
                          : LATCH_SQL_REFUSED;
    return fail_with(error,
                     code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST ? LATCH_ERROR_LOST
                                                                            : LATCH_ERROR_STORE,
                     mysql_error(connection));
}

bool mysql_client_is_in_transaction(void *connection)
{
    const MYSQL *mysql = connection;

    return (mysql->server_status & SERVER_STATUS_IN_TRANS) != 0;
}

static latch_store *open_store(const char *name, const latch_sql_runner *runner)
{
    const latch_store_options options = {.runner = runner};
    latch_store *store = latch_store_open(unit.engine, name, &options, &unit.error);

    if (store == NULL) {
        runner->close(runner->context);
    }
    return store;
}

static void close_postgresql(void *connection)
{
    PQfinish(connection);
}

latch_sql_runner postgresql_client_runner(void)
{
    return (latch_sql_runner){
        .context = unit_postgresql_peer_open().connection,
        .run = postgresql_client_run,
        .is_in_transaction = postgresql_client_is_in_transaction,
        .close = close_postgresql,
        .execute = postgresql_client_execute,
    };
}

latch_store *postgresql_client_open(void)
{
    latch_sql_runner runner = postgresql_client_runner();

    return open_store("postgresql", &runner);
}

static void close_mysql(void *connection)
{
    mysql_close(connection);
}

latch_sql_runner mysql_client_runner(void)
{
    return (latch_sql_runner){
        .context = unit_mysql_peer_open().connection,
        .run = mysql_client_run,
        .is_in_transaction = mysql_client_is_in_transaction,
        .close = close_mysql,
        .execute = mysql_client_execute,
    };
}

latch_store *mysql_client_open(void)
{
    latch_sql_runner runner = mysql_client_runner();

    return open_store("mysql", &runner);
}
