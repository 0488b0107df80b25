/* Sessions with PostgreSQL, by libpq's asynchronous functions. */
#include "src/store/sql/postgresql/driver.h"

#include "src/store/sql/postgresql/postgresql.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OID in pg_type. */
#define BOOLEAN 16

postgresql_session *latch_postgresql_session_of(sql_session *session)
{
    return (postgresql_session *) session;
}

void latch_postgresql_quote(char *text, size_t size, const char *message)
{
    size_t length = message != NULL ? strcspn(message, "\n") : 0;

    snprintf(text, size, "%.*s", (int) (length < size ? length : size - 1),
             length > 0 ? message : "no reason was given");
}

static void postgresql_record_trouble(postgresql_session *session, const char *message)
{
    latch_postgresql_quote(session->session.trouble, sizeof(session->session.trouble), message);
}

/* ---- Statements ----------------------------------------------------------------------------- */

void latch_postgresql_record_sent(postgresql_session *session, int sent)
{
    session->is_busy = session->is_just_sent = true;
    session->outcome = SQL_LOST;
    session->result = (sql_result){.value = ""};
    if (sent == 0) {
        postgresql_record_trouble(session, PQerrorMessage(session->connection));
        session->is_busy = session->is_just_sent = false;
        return;
    }
    session->is_unsent = PQflush(session->connection) == 1;
}

void latch_postgresql_send_text(postgresql_session *session, const char *text)
{
    latch_postgresql_record_sent(session, PQsendQuery(session->connection, text));
}

static bool postgresql_send(sql_session *base, const sql_statement *statement)
{
    postgresql_session *session = latch_postgresql_session_of(base);
    char text[SQL_TEXT_MAX];

    session->preparing = 0;
    if (!latch_postgresql_send_prepared(session, statement)) {
        statement->class->write(statement, text);
        latch_postgresql_send_text(session, text);
    }
    return true;
}

static void postgresql_send_cancel(sql_session *clone, int64_t number)
{
    char text[64];

    snprintf(text, sizeof(text), "SELECT pg_cancel_backend(%" PRId64 ")", number);
    latch_postgresql_send_text(latch_postgresql_session_of(clone), text);
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* https://www.postgresql.org/docs/current/errcodes-appendix.html */
static sql_outcome postgresql_outcome_of(const PGresult *result)
{
    static const struct {
        const char *code;
        sql_outcome outcome;
    } known[] = {
        {"55P03", SQL_TIMED_OUT},  /* lock_not_available */
        {"57014", SQL_CANCELLED},  /* query_canceled */
        {"40P01", SQL_DEADLOCKED}, /* deadlock_detected */
        {"26000", SQL_MOVED},      /* invalid_sql_statement_name */
        {"42P05", SQL_MOVED},      /* duplicate_prepared_statement */
        {"22012", SQL_MOVED},      /* division_by_zero: see prepared.c */
        {"40001", SQL_CLASHED},    /* serialization_failure */
        {"42P01", SQL_NO_TABLE},   /* undefined_table */
    };
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (code == NULL || severity == NULL || strcmp(severity, "ERROR") != 0) {
        return SQL_LOST; /* libpq's own error, or the server's last one */
    }
    for (size_t at = 0; at < sizeof(known) / sizeof(*known); at++) {
        if (strcmp(code, known[at].code) == 0) {
            return known[at].outcome;
        }
    }
    return SQL_REFUSED;
}

/* The first value, of a statement that returns rows; a boolean as 1 or 0. */
static void record_value(postgresql_session *session, const PGresult *result)
{
    char *value = session->result.value;
    size_t length = PQntuples(result) > 0 ? (size_t) PQgetlength(result, 0, 0) : 0;

    length = length < SQL_VALUE_MAX ? length : SQL_VALUE_MAX - 1;
    if (length > 0) {
        memcpy(value, PQgetvalue(result, 0, 0), length);
    }
    value[length] = '\0';
    if (length > 0 && PQftype(result, 0) == BOOLEAN) {
        value[0] = value[0] == 't' ? '1' : '0';
    }
}

static void count_notifications(postgresql_session *session)
{
    PGnotify *notification;

    while ((notification = PQnotifies(session->connection)) != NULL) {
        session->session.notifications++;
        PQfreemem(notification);
    }
}

static void record_affected(postgresql_session *session, PGresult *result)
{
    session->result.affected = strtoll(PQcmdTuples(result), NULL, 10);
}

/* Result of a text, which may have several; the last one counts, and an error is the last. */
static void record_result(postgresql_session *session, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    if (status == PGRES_TUPLES_OK) {
        record_value(session, result);
        record_affected(session, result);
        session->outcome = SQL_ANSWERED;
    } else if (status == PGRES_COMMAND_OK) {
        session->result.value[0] = '\0';
        record_affected(session, result);
        session->outcome = SQL_ANSWERED;
        session->prepared |= session->preparing;
    } else {
        session->outcome = postgresql_outcome_of(result);
        session->has_moved |= session->outcome == SQL_MOVED;
        if (session->outcome != SQL_LOST || session->session.trouble[0] == '\0') {
            const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

            postgresql_record_trouble(session,
                                      message != NULL ? message : PQresultErrorMessage(result));
        }
    }
}

sql_outcome latch_postgresql_receive(sql_session *base, sql_result *result)
{
    postgresql_session *session = latch_postgresql_session_of(base);
    PGresult *part;

    if (session->is_just_sent) {
        session->is_just_sent = false;
        return SQL_UNANSWERED;
    }
    if (session->is_busy && session->is_unsent) {
        session->is_unsent = PQflush(session->connection) == 1;
    }
    if (session->is_busy && PQconsumeInput(session->connection) == 0) {
        session->outcome = SQL_LOST;
        postgresql_record_trouble(session, PQerrorMessage(session->connection));
        session->is_busy = false;
    }
    while (session->is_busy) {
        if (PQisBusy(session->connection)) {
            return SQL_UNANSWERED;
        }
        part = PQgetResult(session->connection);
        session->is_busy = part != NULL;
        if (part != NULL) {
            record_result(session, part);
            PQclear(part);
        }
    }
    count_notifications(session);
    memcpy(result->value, session->result.value, strlen(session->result.value) + 1);
    result->affected = session->result.affected;
    result->insert_id = 0;
    return session->outcome;
}

void latch_postgresql_want(const sql_session *base, latch_op *op)
{
    const postgresql_session *session = (const postgresql_session *) base;

    op->fd = session->descriptor.fd;
    op->events = session->is_unsent ? POLLIN | POLLOUT : POLLIN;
}

/* An idle session receives its end, notifications, or notices that do not matter. */
static bool postgresql_is_alive(sql_session *base)
{
    postgresql_session *session = latch_postgresql_session_of(base);
    struct pollfd descriptor = {.fd = session->descriptor.fd, .events = POLLIN};

    base->trouble[0] = '\0';
    while (poll(&descriptor, 1, 0) == 1) {
        if (PQconsumeInput(session->connection) == 0) {
            if (base->trouble[0] == '\0') {
                postgresql_record_trouble(session, PQerrorMessage(session->connection));
            }
            return false;
        }
        count_notifications(session);
    }
    return true;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

static void free_session(postgresql_session *session)
{
    latch_engine *engine = session->session.engine;

    latch_postgresql_free_forms(session);
    if (!session->is_clone) {
        latch_postgresql_options_free(engine, session->options);
        latch_free(engine, session->options);
    }
    latch_free(engine, session);
}

static void postgresql_close(sql_session *base)
{
    latch_postgresql_disconnect(base);
    free_session(latch_postgresql_session_of(base));
}

static sql_session *postgresql_clone(const sql_session *base);

static int postgresql_socket(const sql_session *base)
{
    const postgresql_session *session = (const postgresql_session *) base;

    return session->has_descriptor ? session->descriptor.fd : -1;
}

static const sql_driver driver = {
    .connect = latch_postgresql_connect,
    .disconnect = latch_postgresql_disconnect,
    .send = postgresql_send,
    .receive = latch_postgresql_receive,
    .want = latch_postgresql_want,
    .is_alive = postgresql_is_alive,
    .clone = postgresql_clone,
    .send_cancel = postgresql_send_cancel,
    .socket = postgresql_socket,
    .close = postgresql_close,
};

static postgresql_session *postgresql_make_session(latch_engine *engine,
                                                   postgresql_options *options)
{
    postgresql_session *session = latch_allocate(engine, sizeof(*session));

    if (session == NULL) {
        return NULL;
    }
    memset(session, 0, sizeof(*session));
    session->options = options;
    session->session = (sql_session){
        .driver = &driver,
        .engine = engine,
        .server = "PostgreSQL",
        .address = options->address,
        .identity = options->identity,
        .command_timeout_ns = options->command_timeout_ns,
        .connect_timeout_ns = options->connect_timeout_ns,
        .longest_wait_ms = LATCH_NEVER,
    };
    latch_sql_session_init(&session->session);
    return session;
}

/* Another server, of the same list or of the same name, might have a session of that number. */
static sql_session *postgresql_clone(const sql_session *base)
{
    const postgresql_session *first = (const postgresql_session *) base;
    postgresql_session *session = postgresql_make_session(base->engine, first->options);
    const char *peer = PQhostaddr(first->connection);

    if (session == NULL) {
        return NULL;
    }
    session->is_clone = true;
    session->host = first->host;
    snprintf(session->peer, sizeof(session->peer), "%s", peer != NULL ? peer : "");
    return &session->session;
}

const postgresql_options *latch_postgresql_session_options(const sql_session *session)
{
    return ((const postgresql_session *) session)->options;
}

latch_status latch_postgresql_open(latch_engine *engine, const latch_store_options *given,
                                   sql_session **session, latch_error *error)
{
    postgresql_options *options = latch_allocate(engine, sizeof(*options));
    postgresql_session *opened;
    latch_status status;

    if (options == NULL) {
        return latch_fail_memory(error);
    }
    status = latch_postgresql_options_parse(engine, given, options, error);
    if (status != LATCH_DONE) {
        latch_free(engine, options);
        return status;
    }
    opened = postgresql_make_session(engine, options);
    if (opened == NULL) {
        latch_postgresql_options_free(engine, options);
        latch_free(engine, options);
        return latch_fail_memory(error);
    }
    *session = &opened->session;
    return LATCH_DONE;
}
