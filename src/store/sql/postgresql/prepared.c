/*
 * Prepared statements of a session with PostgreSQL. They are prepared by SQL, in the round trip of
 * the use at which they are, under a name that contains the session's number, so that only that
 * session knows it: a template at its first use, a form at its second.
 *
 * If a pooler changes sessions between statements, the new one replies that the prepared statement
 * does not exist, or exists already. Templates are of users that have to know it, as what they have
 * is the session's. Forms are of users to whom all sessions are alike: they are not prepared behind
 * a pooler.
 */
#include "src/store/sql/postgresql/postgresql.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (3 * SQL_TEXT_MAX)
#define STATEMENT_NAME_MAX 48

/* ---- Both ----------------------------------------------------------------------------------- */

/*
 * A text that prepares, and carries out once, as one transaction, which goes to one session. It
 * begins with a division by zero in any but the expected session, so that nothing is prepared there
 * under this session's name.
 */
static void prepare_and_send(postgresql_session *session, unsigned index, const char *signature,
                             const char *form, const sql_statement *statement)
{
    char once[SQL_TEXT_MAX], text[TEXT_MAX];

    statement->class->write(statement, once);
    snprintf(text, sizeof(text), "SELECT 1 / (pg_backend_pid() = %s)::int; PREPARE %s AS %s; %s",
             session->number, signature, form, once);
    session->preparing = 1U << index;
    latch_postgresql_send_text(session, text);
}

static bool is_prepared(const postgresql_session *session, unsigned index)
{
    return (session->prepared & 1U << index) != 0;
}

/* ---- Templates ------------------------------------------------------------------------------ */

static void prepare_template(postgresql_session *session, unsigned index, const char *name,
                             const sql_statement *statement)
{
    char signature[2 * STATEMENT_NAME_MAX], form[SQL_TEXT_MAX];

    session->session.templates->write(index, session->session.number, form);
    snprintf(signature, sizeof(signature), "%s(%s)", name, statement->template->types);
    prepare_and_send(session, index, signature, form, statement);
}

static void send_template(postgresql_session *session, const sql_statement *statement)
{
    const sql_template *template = statement->template;
    unsigned index = (unsigned) (template - session->session.templates->all);
    char name[STATEMENT_NAME_MAX];
    sql_parameters parameters;

    snprintf(name, sizeof(name), "%s%s", template->name, session->number);
    if (!is_prepared(session, index)) {
        prepare_template(session, index, name, statement);
        return;
    }
    statement->class->bind(statement, &parameters);
    latch_postgresql_record_sent(session, PQsendQueryPrepared(session->connection, name,
                                                              (int) template->parameter_count,
                                                              parameters.values, NULL, NULL, 0));
}

/* ---- Forms ---------------------------------------------------------------------------------- */

/* A parameter is converted from the encoding of the connection, which a literal is not. */
static bool are_ascii(const sql_values *values)
{
    for (unsigned at = 0; at < values->count; at++) {
        for (size_t byte = 0; byte < values->all[at].length; byte++) {
            if ((unsigned char) values->all[at].text[byte] > 0x7f) {
                return false;
            }
        }
    }
    return true;
}

/* The index of a form that was met before. False: it is remembered for the next time, if there is
 * room. */
static bool find_postgresql_form(postgresql_session *session, const char *form, unsigned *index)
{
    size_t size = strlen(form) + 1;

    for (*index = 0; *index < POSTGRESQL_FORMS_MAX; ++*index) {
        char **met = &session->forms[*index];

        if (*met != NULL && strcmp(*met, form) == 0) {
            return true;
        }
        if (*met == NULL) {
            *met = latch_allocate(session->session.engine, size);
            if (*met != NULL) {
                memcpy(*met, form, size);
            }
            return false;
        }
    }
    return false;
}

static void execute_form(postgresql_session *session, const char *name, const sql_values *values)
{
    const char *texts[SQL_VALUES_MAX];

    for (unsigned at = 0; at < values->count; at++) {
        texts[at] = values->all[at].text;
    }
    latch_postgresql_record_sent(session,
                                 PQsendQueryPrepared(session->connection, name, (int) values->count,
                                                     texts, NULL, NULL, 0));
}

static bool send_form(postgresql_session *session, const sql_statement *statement)
{
    char name[STATEMENT_NAME_MAX], form[SQL_TEXT_MAX];
    sql_values values = {.count = 0};
    unsigned index;

    statement->class->write_form(statement, form, &values);
    if (!are_ascii(&values) || !find_postgresql_form(session, form, &index)) {
        return false;
    }
    snprintf(name, sizeof(name), "latch_form_%u_%s", index, session->number);
    if (is_prepared(session, index)) {
        execute_form(session, name, &values);
    } else {
        prepare_and_send(session, index, name, form, statement);
    }
    return true;
}

void latch_postgresql_free_forms(postgresql_session *session)
{
    for (unsigned at = 0; at < POSTGRESQL_FORMS_MAX; at++) {
        latch_free(session->session.engine, session->forms[at]);
    }
}

bool latch_postgresql_send_prepared(postgresql_session *session, const sql_statement *statement)
{
    if (statement->template != NULL) {
        send_template(session, statement);
        return true;
    }
    return statement->is_frequent && session->session.is_direct && !session->has_moved
           && send_form(session, statement);
}
