/*
 * Prepared statements of a MySQL or MariaDB session. Parsing a statement takes the server as long
 * as all the rest; so the templates of the session's user are prepared when the first one is used
 * for the second time. All at once, as a statement of another may have no caller that would step
 * it. A server or proxy that does not prepare gets texts.
 */
#include "src/store/sql/mysql/connection.h"

#include <stdio.h>
#include <string.h>

static bool add_prepared(mysql_connection *connection, const sql_templates *templates,
                         unsigned index)
{
    mysql_prepared *prepared = &connection->prepared[connection->prepared_count];

    prepared->template = &templates->all[index];
    templates->write(index, connection->number, prepared->text);
    prepared->handle = mysql_stmt_init(connection->handle);
    connection->prepared_count += prepared->handle != NULL;
    return prepared->handle != NULL;
}

static bool make_prepared(mysql_connection *connection, const sql_templates *templates)
{
    bool is_made = true;

    connection->prepared =
        latch_allocate(connection->engine, templates->count * sizeof(*connection->prepared));
    if (connection->prepared == NULL) {
        return false;
    }
    for (unsigned index = 0; is_made && index < templates->count; index++) {
        is_made = templates->all[index].parameter_count == 0
                  || add_prepared(connection, templates, index);
    }
    return is_made;
}

bool latch_mysql_prepare(mysql_connection *connection, const sql_templates *templates,
                         const sql_statement *statement, const char *text)
{
    if (statement->template == NULL || statement->template != templates->all
        || connection->use > MYSQL_USED_ONCE) {
        return false;
    }
    if (connection->use == MYSQL_UNUSED) {
        connection->use = MYSQL_USED_ONCE;
        return false;
    }
    connection->use = MYSQL_PREPARE_UNSUPPORTED; /* unless all are */
    if (!make_prepared(connection, templates)) {
        return false;
    }
    latch_mysql_free_result(connection);
    snprintf(connection->statement, sizeof(connection->statement), "%s", text);
    connection->asked = connection->prepared;
    latch_mysql_begin(connection, MYSQL_PREPARE);
    return true;
}

static bool bind_buffers(mysql_prepared *prepared)
{
    MYSQL_BIND parameters[SQL_PARAMETER_MAX] = {{0}};
    MYSQL_BIND value = {
        .buffer_type = MYSQL_TYPE_STRING,
        .buffer = prepared->value,
        .buffer_length = sizeof(prepared->value) - 1,
        .length = &prepared->value_length,
        .is_null = &prepared->is_null,
    };

    for (unsigned at = 0; at < prepared->template->parameter_count; at++) {
        parameters[at].buffer_type = MYSQL_TYPE_STRING;
        parameters[at].buffer = prepared->parameters[at];
        parameters[at].buffer_length = sizeof(prepared->parameters[at]);
        parameters[at].length = &prepared->lengths[at];
    }
    return mysql_stmt_param_count(prepared->handle) == prepared->template->parameter_count
           && mysql_stmt_field_count(prepared->handle) == 1
           && mysql_stmt_bind_param(prepared->handle, parameters) == 0
           && mysql_stmt_bind_result(prepared->handle, &value) == 0;
}

/* The next call after a prepare: the next prepare, or the text after the last one or a failure. */
static mysql_call next_prepared_call(mysql_connection *connection)
{
    bool is_prepared = connection->failed == 0 && bind_buffers(connection->asked);

    if (is_prepared && ++connection->asked < connection->prepared + connection->prepared_count) {
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

static mysql_prepared *find_prepared(const mysql_connection *connection,
                                     const sql_template *template)
{
    for (unsigned at = 0; at < connection->prepared_count; at++) {
        if (connection->prepared[at].template == template) {
            return &connection->prepared[at];
        }
    }
    return NULL;
}

bool latch_mysql_execute(mysql_connection *connection, const sql_statement *statement)
{
    mysql_prepared *asked =
        connection->use == MYSQL_PREPARED ? find_prepared(connection, statement->template) : NULL;
    sql_parameters parameters;

    if (asked == NULL) {
        return false;
    }
    latch_mysql_free_result(connection);
    statement->class->bind(statement, &parameters);
    for (unsigned at = 0; at < asked->template->parameter_count; at++) {
        snprintf(asked->parameters[at], sizeof(asked->parameters[at]), "%s", parameters.values[at]);
        asked->lengths[at] = strlen(asked->parameters[at]);
    }
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

static void read_prepared_value(mysql_prepared *asked, char value[SQL_VALUE_MAX])
{
    int fetched = mysql_stmt_fetch(asked->handle);

    if ((fetched == 0 || fetched == MYSQL_DATA_TRUNCATED) && !asked->is_null) {
        size_t length = asked->value_length < SQL_VALUE_MAX ? asked->value_length
                                                            : SQL_VALUE_MAX - 1;

        memcpy(value, asked->value, length);
        value[length] = '\0';
    }
}

void latch_mysql_read_result(mysql_connection *connection, sql_result *result)
{
    MYSQL_ROW row;

    result->value[0] = '\0';
    result->affected = (int64_t) mysql_affected_rows(connection->handle);
    result->insert_id = (int64_t) mysql_insert_id(connection->handle);
    if (connection->asked != NULL) {
        read_prepared_value(connection->asked, result->value);
    } else if (connection->result != NULL) {
        row = mysql_fetch_row(connection->result);
        snprintf(result->value, SQL_VALUE_MAX, "%s", row != NULL && row[0] != NULL ? row[0] : "");
    }
}

/* The handle was closed: the statements have no session, and send nothing. */
void latch_mysql_reset_prepared(mysql_connection *connection)
{
    for (unsigned at = 0; at < connection->prepared_count; at++) {
        mysql_stmt_close(connection->prepared[at].handle);
    }
    latch_free(connection->engine, connection->prepared);
    connection->prepared = NULL;
    connection->prepared_count = 0;
    connection->asked = NULL;
    connection->use = MYSQL_UNUSED;
}
