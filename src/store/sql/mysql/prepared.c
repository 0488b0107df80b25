/*
 * Prepared statements of a MySQL or MariaDB session. Parsing a statement takes the server as long
 * as all the rest. A server or proxy that does not prepare gets texts.
 *
 * The templates of the session's user are prepared when the first one is used for the second time:
 * all at once, as a statement of another may have no caller that would step it. A form is prepared
 * behind the text of its own second use, which leaves at once for the same reason.
 */
#include "src/store/sql/mysql/connection.h"

#include <stdio.h>
#include <string.h>

/* ---- Both ----------------------------------------------------------------------------------- */

static bool bind_buffers(mysql_connection *connection, const mysql_prepared *prepared)
{
    mysql_buffers *buffers = &connection->buffers;
    MYSQL_BIND parameters[SQL_VALUES_MAX] = {{0}};
    MYSQL_BIND value = {
        .buffer_type = MYSQL_TYPE_STRING,
        .buffer = buffers->value,
        .buffer_length = sizeof(buffers->value) - 1,
        .length = &buffers->value_length,
        .is_null = &buffers->is_null,
    };

    for (unsigned at = 0; at < prepared->parameter_count; at++) {
        parameters[at].buffer_type = MYSQL_TYPE_STRING;
        parameters[at].buffer = buffers->parameters[at];
        parameters[at].buffer_length = sizeof(buffers->parameters[at]);
        parameters[at].length = &buffers->lengths[at];
    }
    return mysql_stmt_param_count(prepared->handle) == prepared->parameter_count
           && mysql_stmt_field_count(prepared->handle) <= 1
           && mysql_stmt_bind_param(prepared->handle, parameters) == 0
           && (mysql_stmt_field_count(prepared->handle) == 0
               || mysql_stmt_bind_result(prepared->handle, &value) == 0);
}

/* Copies a parameter, whose text may end with the statement. */
static void set_parameter(mysql_connection *connection, unsigned at, const char *text,
                          size_t length)
{
    memcpy(connection->buffers.parameters[at], text, length);
    connection->buffers.lengths[at] = length;
}

/* Its parameters are in the buffers. */
static void mysql_execute(mysql_connection *connection, mysql_prepared *prepared)
{
    latch_mysql_free_result(connection);
    connection->has_answer = false;
    connection->asked = prepared;
    latch_mysql_begin(connection, MYSQL_EXECUTE);
}

/* ---- Templates ------------------------------------------------------------------------------ */

static bool add_prepared(mysql_connection *connection, const sql_templates *templates,
                         unsigned index)
{
    mysql_template *added = &connection->templates[connection->template_count];

    added->template = &templates->all[index];
    templates->write(index, connection->number, added->text);
    added->prepared = (mysql_prepared){
        .handle = mysql_stmt_init(connection->handle),
        .text = added->text,
        .parameter_count = added->template->parameter_count,
    };
    connection->template_count += added->prepared.handle != NULL;
    return added->prepared.handle != NULL;
}

static bool make_prepared(mysql_connection *connection, const sql_templates *templates)
{
    bool is_made = true;

    connection->templates =
        latch_allocate(connection->engine, templates->count * sizeof(*connection->templates));
    if (connection->templates == NULL) {
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
    connection->has_answer = false;
    connection->asked = &connection->templates->prepared;
    latch_mysql_begin(connection, MYSQL_PREPARE);
    return true;
}

/* The next call after a prepare: the next prepare, or the text after the last one or a failure. */
static mysql_call next_template_call(mysql_connection *connection)
{
    mysql_template *next = LATCH_CONTAINER(connection->asked, mysql_template, prepared) + 1;
    bool is_prepared = connection->failed == 0 && bind_buffers(connection, connection->asked);

    if (is_prepared && next < connection->templates + connection->template_count) {
        connection->asked = &next->prepared;
        return MYSQL_PREPARE;
    }
    connection->use = is_prepared ? MYSQL_PREPARED : MYSQL_PREPARE_UNSUPPORTED;
    connection->asked = NULL;
    return MYSQL_QUERY;
}

static mysql_template *find_prepared(const mysql_connection *connection,
                                     const sql_template *template)
{
    for (unsigned at = 0; at < connection->template_count; at++) {
        if (connection->templates[at].template == template) {
            return &connection->templates[at];
        }
    }
    return NULL;
}

bool latch_mysql_execute(mysql_connection *connection, const sql_statement *statement)
{
    mysql_template *asked =
        connection->use == MYSQL_PREPARED ? find_prepared(connection, statement->template) : NULL;
    sql_parameters parameters;

    if (asked == NULL) {
        return false;
    }
    statement->class->bind(statement, &parameters);
    for (unsigned at = 0; at < asked->prepared.parameter_count; at++) {
        set_parameter(connection, at, parameters.values[at],
                      strnlen(parameters.values[at], SQL_PARAMETER_SIZE - 1));
    }
    mysql_execute(connection, &asked->prepared);
    return true;
}

/* ---- Forms ---------------------------------------------------------------------------------- */

/* The server converts a parameter from the connection's character set, but not a literal in hex;
 * only the bytes of ASCII are the same then, and not in all sets: swe7 has others there. */
static bool has_ascii(const mysql_connection *connection)
{
    return strncmp(connection->options->charset, "utf8", strlen("utf8")) == 0;
}

static bool can_be_parameters(const sql_values *values)
{
    for (unsigned at = 0; at < values->count; at++) {
        if (values->all[at].length > MYSQL_PARAMETER_MAX) {
            return false;
        }
        for (size_t byte = 0; byte < values->all[at].length; byte++) {
            if ((unsigned char) values->all[at].text[byte] > 0x7f) {
                return false;
            }
        }
    }
    return true;
}

static mysql_prepared *make_form(mysql_connection *connection, const char *text, unsigned count)
{
    size_t size = strlen(text) + 1;
    mysql_prepared *form = latch_allocate(connection->engine, sizeof(*form) + size);

    if (form == NULL) {
        return NULL;
    }
    *form = (mysql_prepared){
        .text = memcpy(form + 1, text, size),
        .parameter_count = count,
        .is_form = true,
    };
    return form;
}

/* A form that was met before. NULL: it is remembered for the next time, if there is room. */
static mysql_prepared *mysql_find_form(mysql_connection *connection, const char *text,
                                       unsigned count)
{
    for (unsigned at = 0; at < MYSQL_FORMS_MAX; at++) {
        if (connection->forms[at] == NULL) {
            connection->forms[at] = make_form(connection, text, count);
            return NULL;
        }
        if (strcmp(connection->forms[at]->text, text) == 0) {
            return connection->forms[at];
        }
    }
    return NULL;
}

bool latch_mysql_send_form(mysql_connection *connection, const sql_statement *statement)
{
    char text[SQL_TEXT_MAX];
    sql_values values = {.count = 0};
    mysql_prepared *form;

    connection->form = NULL;
    if (!statement->is_frequent || connection->has_moved
        || connection->use == MYSQL_PREPARE_UNSUPPORTED || !has_ascii(connection)) {
        return false;
    }
    statement->class->write_form(statement, text, &values);
    form = can_be_parameters(&values) ? mysql_find_form(connection, text, values.count) : NULL;
    if (form == NULL || !form->is_ready) {
        connection->form = form;
        return false;
    }
    for (unsigned at = 0; at < values.count; at++) {
        set_parameter(connection, at, values.all[at].text, values.all[at].length);
    }
    mysql_execute(connection, form);
    return true;
}

/* The next call after a text: its form is prepared unless it is refused like that. */
static mysql_call next_form_call(mysql_connection *connection)
{
    mysql_prepared *form = connection->form;

    connection->form = NULL;
    if (form == NULL || mysql_errno(connection->handle) != 0) {
        return MYSQL_NO_CALL;
    }
    if (form->handle == NULL) {
        form->handle = mysql_stmt_init(connection->handle);
    }
    if (form->handle == NULL) {
        return MYSQL_NO_CALL;
    }
    connection->has_answer = true;
    connection->asked = form;
    return MYSQL_PREPARE;
}

/* A text of the same content was carried out: it is the server that does not prepare, unless
 * something has come between. */
static void end_form_call(mysql_connection *connection)
{
    mysql_prepared *form = connection->asked;

    form->is_ready = connection->failed == 0 && bind_buffers(connection, form);
    if (!form->is_ready && latch_mysql_outcome_of(mysql_stmt_errno(form->handle)) == SQL_REFUSED) {
        connection->use = MYSQL_PREPARE_UNSUPPORTED;
    }
    connection->asked = NULL;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static mysql_call next_text_call(mysql_connection *connection)
{
    if (connection->call == MYSQL_QUERY && connection->failed == 0
        && mysql_field_count(connection->handle) > 0) {
        return MYSQL_RESULT;
    }
    connection->affected = (int64_t) mysql_affected_rows(connection->handle);
    connection->insert_id = (int64_t) mysql_insert_id(connection->handle);
    return next_form_call(connection);
}

static mysql_call next_prepare_call(mysql_connection *connection)
{
    if (!connection->asked->is_form) {
        return next_template_call(connection);
    }
    end_form_call(connection);
    return MYSQL_NO_CALL;
}

mysql_call latch_mysql_next_call(mysql_connection *connection)
{
    switch (connection->call) {
        case MYSQL_QUERY:
        case MYSQL_RESULT:
            return next_text_call(connection);
        case MYSQL_PREPARE:
            return next_prepare_call(connection);
        case MYSQL_EXECUTE:
            return connection->failed == 0 && mysql_stmt_field_count(connection->asked->handle) > 0
                       ? MYSQL_STORE
                       : MYSQL_NO_CALL;
        default:
            return MYSQL_NO_CALL;
    }
}

unsigned latch_mysql_errno(const mysql_connection *connection)
{
    if (connection->has_answer) {
        return 0;
    }
    return connection->asked != NULL ? mysql_stmt_errno(connection->asked->handle)
                                     : mysql_errno(connection->handle);
}

const char *latch_mysql_error(const mysql_connection *connection)
{
    return connection->asked != NULL ? mysql_stmt_error(connection->asked->handle)
                                     : mysql_error(connection->handle);
}

static void read_prepared_result(mysql_connection *connection, sql_result *result)
{
    MYSQL_STMT *handle = connection->asked->handle;
    const mysql_buffers *buffers = &connection->buffers;
    int fetched = mysql_stmt_field_count(handle) > 0 ? mysql_stmt_fetch(handle) : MYSQL_NO_DATA;

    result->affected = (int64_t) mysql_stmt_affected_rows(handle);
    result->insert_id = (int64_t) mysql_stmt_insert_id(handle);
    if ((fetched == 0 || fetched == MYSQL_DATA_TRUNCATED) && !buffers->is_null) {
        size_t length = buffers->value_length < SQL_VALUE_MAX ? buffers->value_length
                                                              : SQL_VALUE_MAX - 1;

        memcpy(result->value, buffers->value, length);
        result->value[length] = '\0';
    }
}

static void read_text_result(mysql_connection *connection, sql_result *result)
{
    MYSQL_ROW row = connection->result != NULL ? mysql_fetch_row(connection->result) : NULL;

    result->affected = connection->affected;
    result->insert_id = connection->insert_id;
    if (row != NULL && row[0] != NULL) {
        snprintf(result->value, SQL_VALUE_MAX, "%s", row[0]);
    }
}

void latch_mysql_read_result(mysql_connection *connection, sql_result *result)
{
    result->value[0] = '\0';
    if (connection->asked != NULL) {
        read_prepared_result(connection, result);
    } else {
        read_text_result(connection, result);
    }
}

/* The handle was closed: the statements have no session, and send nothing. */
void latch_mysql_reset_prepared(mysql_connection *connection)
{
    for (unsigned at = 0; at < connection->template_count; at++) {
        mysql_stmt_close(connection->templates[at].prepared.handle);
    }
    latch_free(connection->engine, connection->templates);
    connection->templates = NULL;
    connection->template_count = 0;
    for (unsigned at = 0; at < MYSQL_FORMS_MAX && connection->forms[at] != NULL; at++) {
        if (connection->forms[at]->handle != NULL) {
            mysql_stmt_close(connection->forms[at]->handle);
        }
        connection->forms[at]->handle = NULL;
        connection->forms[at]->is_ready = false;
    }
    connection->asked = NULL;
    connection->form = NULL;
    connection->has_answer = false;
    connection->use = MYSQL_UNUSED;
}

void latch_mysql_free_forms(mysql_connection *connection)
{
    for (unsigned at = 0; at < MYSQL_FORMS_MAX; at++) {
        latch_free(connection->engine, connection->forms[at]);
    }
}
