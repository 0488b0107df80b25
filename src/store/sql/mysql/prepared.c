/*
 * Prepared statements of a MySQL or MariaDB session. Parsing a statement takes the server as long
 * as all the rest; so acquire and release are prepared when a session acquires for the second time.
 * Both at once, as a release may have no caller that would step it. A server or proxy that does not
 * prepare gets texts.
 */
#include "src/store/sql/mysql/connection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The session's number is part of the statement, as a proxy may know the statement in another
 * session, too. */
static bool make_prepared(const mysql_connection *connection, mysql_prepared *prepared,
                          advisory_statement statement)
{
    char verdict[ADVISORY_STATEMENT_MAX - 8], number[24];

    snprintf(number, sizeof(number), "%" PRId64, connection->number);
    snprintf(verdict, sizeof(verdict), latch_mysql_dialect.verdicts[statement], "?", number);
    snprintf(prepared->text, sizeof(prepared->text), "SELECT %s", verdict);
    prepared->handle = mysql_stmt_init(connection->handle);
    return prepared->handle != NULL;
}

bool latch_mysql_prepare(mysql_connection *connection, const advisory_request *request,
                         const char *text)
{
    if (request->statement != ADVISORY_TRY || connection->use > MYSQL_USED_ONCE) {
        return false;
    }
    if (connection->use == MYSQL_UNUSED) {
        connection->use = MYSQL_USED_ONCE;
        return false;
    }
    connection->use = MYSQL_PREPARE_UNSUPPORTED; /* unless both are */
    if (!make_prepared(connection, &connection->release, ADVISORY_RELEASE)
        || !make_prepared(connection, &connection->acquire, ADVISORY_TRY)) {
        return false;
    }
    latch_mysql_free_result(connection);
    snprintf(connection->statement, sizeof(connection->statement), "%s", text);
    connection->asked = &connection->release;
    latch_mysql_begin(connection, MYSQL_PREPARE);
    return true;
}

static bool bind_values(mysql_prepared *prepared)
{
    MYSQL_BIND key = {
        .buffer_type = MYSQL_TYPE_STRING,
        .buffer = prepared->key,
        .buffer_length = sizeof(prepared->key),
        .length = &prepared->key_length,
    };
    MYSQL_BIND verdict = {
        .buffer_type = MYSQL_TYPE_LONG,
        .buffer = &prepared->verdict,
        .is_null = &prepared->is_null,
    };

    return mysql_stmt_param_count(prepared->handle) == 1
           && mysql_stmt_field_count(prepared->handle) == 1
           && mysql_stmt_bind_param(prepared->handle, &key) == 0
           && mysql_stmt_bind_result(prepared->handle, &verdict) == 0;
}

/* The next call after a prepare: the second prepare, or the text after that or a failure. */
static mysql_call next_prepared_call(mysql_connection *connection)
{
    bool is_prepared = connection->failed == 0 && bind_values(connection->asked);

    if (is_prepared && connection->asked == &connection->release) {
        connection->asked = &connection->acquire;
        return MYSQL_PREPARE;
    }
    connection->use = is_prepared ? MYSQL_PREPARED : MYSQL_PREPARE_UNSUPPORTED;
    connection->asked = NULL;
    return MYSQL_QUERY;
}

mysql_call latch_mysql_next_call(mysql_connection *connection)
{
    bool is_good = connection->failed == 0;

    switch (connection->call) {
        case MYSQL_QUERY:
            return is_good && mysql_field_count(connection->handle) > 0 ? MYSQL_RESULT
                                                                        : MYSQL_NO_CALL;
        case MYSQL_PREPARE:
            return next_prepared_call(connection);
        case MYSQL_EXECUTE:
            return is_good ? MYSQL_STORE : MYSQL_NO_CALL;
        default:
            return MYSQL_NO_CALL;
    }
}

bool latch_mysql_execute(mysql_connection *connection, const advisory_request *request)
{
    mysql_prepared *asked = request->statement == ADVISORY_TRY       ? &connection->acquire
                            : request->statement == ADVISORY_RELEASE ? &connection->release
                                                                     : NULL;

    if (asked == NULL || connection->use != MYSQL_PREPARED) {
        return false;
    }
    latch_mysql_free_result(connection);
    asked->key_length = strlen(request->key);
    memcpy(asked->key, request->key, asked->key_length + 1);
    connection->asked = asked;
    latch_mysql_begin(connection, MYSQL_EXECUTE);
    return true;
}

unsigned latch_mysql_errno(const mysql_connection *connection)
{
    return connection->asked != NULL ? mysql_stmt_errno(connection->asked->handle)
                                     : mysql_errno(connection->handle);
}

const char *latch_mysql_error(const mysql_connection *connection)
{
    return connection->asked != NULL ? mysql_stmt_error(connection->asked->handle)
                                     : mysql_error(connection->handle);
}

void latch_mysql_read_verdict(mysql_connection *connection, char value[ADVISORY_VALUE_MAX])
{
    mysql_prepared *asked = connection->asked;

    value[0] = '\0';
    if (mysql_stmt_fetch(asked->handle) == 0 && !asked->is_null) {
        snprintf(value, ADVISORY_VALUE_MAX, "%d", asked->verdict);
    }
}

/* The handle was closed: the statements have no session, and send nothing. */
void latch_mysql_reset_prepared(mysql_connection *connection)
{
    if (connection->acquire.handle != NULL) {
        mysql_stmt_close(connection->acquire.handle);
    }
    if (connection->release.handle != NULL) {
        mysql_stmt_close(connection->release.handle);
    }
    connection->acquire.handle = connection->release.handle = NULL;
    connection->asked = NULL;
    connection->use = MYSQL_UNUSED;
}
