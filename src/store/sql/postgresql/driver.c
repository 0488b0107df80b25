/*
 * Sessions with PostgreSQL, by libpq's asynchronous functions. A statement is prepared at its first
 * use, in the same round trip, by SQL, under a name that contains the session's number, so that
 * only that session knows it. If a pooler changes sessions between statements, the new one replies
 * that the prepared statement does not exist, or exists already.
 */
#include "src/store/sql/postgresql/postgresql.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX (3 * ADVISORY_STATEMENT_MAX)
#define STATEMENT_NAME_MAX 48

/* OID in pg_type. */
#define BOOLEAN 16

postgresql_session *latch_postgresql_session_of(advisory_session *session)
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

/* Names of the prepared statements; the number of the session follows. */
static const char *const names[] = {
    [ADVISORY_TRY] = "latch_try_",
    [ADVISORY_TRY_SHARED] = "latch_try_shared_",
    [ADVISORY_TRY_TO_PROMOTE] = "latch_try_to_promote_",
    [ADVISORY_POLL_TO_PROMOTE] = "latch_poll_to_promote_",
    [ADVISORY_WAIT] = "latch_wait_",
    [ADVISORY_WAIT_SHARED] = "latch_wait_shared_",
    [ADVISORY_WAIT_TO_PROMOTE] = "latch_wait_to_promote_",
    [ADVISORY_DEMOTE] = "latch_demote_",
    [ADVISORY_RELEASE] = "latch_release_",
    [ADVISORY_RELEASE_SHARED] = "latch_release_shared_",
    [ADVISORY_UNDO] = "latch_undo_",
    [ADVISORY_UNDO_SHARED] = "latch_undo_shared_",
    [ADVISORY_UNDO_PROMOTION] = "latch_undo_promotion_",
    [ADVISORY_PROBE] = "latch_probe_",
};

/* Short forms of acquire and release: the statement's name alone identifies the session. */
static const char *const short_forms[ADVISORY_CANCEL] = {
    [ADVISORY_TRY] = "pg_try_advisory_lock($1)",
    [ADVISORY_TRY_SHARED] = "pg_try_advisory_lock_shared($1)",
    [ADVISORY_RELEASE] = "pg_advisory_unlock($1)",
    [ADVISORY_RELEASE_SHARED] = "pg_advisory_unlock_shared($1)",
};

/* A failure to send shows in the reply: the connection is broken. */
static void record_sent(postgresql_session *session, int sent)
{
    session->is_busy = session->is_just_sent = true;
    session->outcome = ADVISORY_LOST;
    session->value[0] = '\0';
    if (sent == 0) {
        postgresql_record_trouble(session, PQerrorMessage(session->connection));
        session->is_busy = session->is_just_sent = false;
        return;
    }
    session->is_unsent = PQflush(session->connection) == 1;
}

void latch_postgresql_send_text(postgresql_session *session, const char *text)
{
    record_sent(session, PQsendQuery(session->connection, text));
}

static void write_name(const postgresql_session *session, advisory_statement statement,
                       char name[STATEMENT_NAME_MAX])
{
    stpcpy(stpcpy(name, names[statement]), session->number);
}

/* Number of parameters: as few as possible, as each takes the server time. */
static int count_parameters(advisory_statement statement)
{
    bool is_wait = statement == ADVISORY_WAIT || statement == ADVISORY_WAIT_SHARED
                   || statement == ADVISORY_WAIT_TO_PROMOTE;

    return short_forms[statement] != NULL ? 1 : is_wait ? 3 : 2;
}

static void send_prepared(postgresql_session *session, const advisory_request *request)
{
    char name[STATEMENT_NAME_MAX], timeout[ADVISORY_TIMEOUT_SIZE];
    const char *const values[] = {request->key, session->number, timeout};
    int count = count_parameters(request->statement);

    write_name(session, request->statement, name);
    if (count == 3) {
        latch_postgresql_dialect.write_timeout(request->timeout_ms, timeout, sizeof(timeout));
    }
    record_sent(session,
                PQsendQueryPrepared(session->connection, name, count, values, NULL, NULL, 0));
}

/*
 * The first time a text is sent, as one transaction, which goes to one session. It begins with a
 * division by zero in any but the expected session, so that nothing is prepared there under this
 * session's name.
 */
static void prepare_and_send(postgresql_session *session, const advisory_request *request)
{
    static const char *const types[] = {"bigint", "bigint, integer", "bigint, integer, text"};
    char name[STATEMENT_NAME_MAX], form[ADVISORY_STATEMENT_MAX], statement[ADVISORY_STATEMENT_MAX],
        text[TEXT_MAX];
    int count = count_parameters(request->statement);

    write_name(session, request->statement, name);
    snprintf(form, sizeof(form),
             count == 1 ? short_forms[request->statement]
                        : latch_postgresql_dialect.verdicts[request->statement],
             "$1", "$2", "$3");
    latch_advisory_write(&latch_postgresql_dialect, request, statement);
    snprintf(text, sizeof(text),
             "SELECT 1 / (pg_backend_pid() = %s)::int; PREPARE %s(%s) AS SELECT %s; %s",
             session->number, name, types[count - 1], form, statement);
    session->preparing = 1U << request->statement;
    latch_postgresql_send_text(session, text);
}

static bool postgresql_send(advisory_session *base, const advisory_request *request)
{
    postgresql_session *session = latch_postgresql_session_of(base);
    char text[ADVISORY_STATEMENT_MAX];

    if (request->statement == ADVISORY_CANCEL || request->statement == ADVISORY_HOLDERS) {
        latch_advisory_write(base->dialect, request, text);
        latch_postgresql_send_text(session, text);
    } else if ((session->prepared & 1U << request->statement) != 0) {
        send_prepared(session, request);
    } else {
        prepare_and_send(session, request);
    }
    return true;
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* https://www.postgresql.org/docs/current/errcodes-appendix.html */
static advisory_outcome postgresql_outcome_of(const PGresult *result)
{
    static const struct {
        const char *code;
        advisory_outcome outcome;
    } known[] = {
        {"55P03", ADVISORY_TIMED_OUT},  /* lock_not_available */
        {"57014", ADVISORY_CANCELLED},  /* query_canceled */
        {"40P01", ADVISORY_DEADLOCKED}, /* deadlock_detected */
        {"26000", ADVISORY_MOVED},      /* invalid_sql_statement_name */
        {"42P05", ADVISORY_MOVED},      /* duplicate_prepared_statement */
        {"22012", ADVISORY_MOVED},      /* division_by_zero: see prepare_and_send() */
    };
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (code == NULL || severity == NULL || strcmp(severity, "ERROR") != 0) {
        return ADVISORY_LOST; /* libpq's own error, or the server's last one */
    }
    for (size_t at = 0; at < sizeof(known) / sizeof(*known); at++) {
        if (strcmp(code, known[at].code) == 0) {
            return known[at].outcome;
        }
    }
    return ADVISORY_REFUSED;
}

/* Result of a text, which may have several; the last one counts, and an error is the last. */
static void record_result(postgresql_session *session, const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    if (status == PGRES_TUPLES_OK && PQntuples(result) == 1) {
        size_t length = (size_t) PQgetlength(result, 0, 0);

        length = length < sizeof(session->value) ? length : sizeof(session->value) - 1;
        memcpy(session->value, PQgetvalue(result, 0, 0), length);
        session->value[length] = '\0';
        if (PQftype(result, 0) == BOOLEAN) {
            session->value[0] = session->value[0] == 't' ? '1' : '0';
        }
        session->outcome = ADVISORY_ANSWERED;
    } else if (status == PGRES_COMMAND_OK) {
        session->prepared |= session->preparing;
    } else {
        session->outcome = postgresql_outcome_of(result);
        if (session->outcome != ADVISORY_LOST || session->session.trouble[0] == '\0') {
            const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

            postgresql_record_trouble(session,
                                      message != NULL ? message : PQresultErrorMessage(result));
        }
    }
}

advisory_outcome latch_postgresql_receive(advisory_session *base, char value[ADVISORY_VALUE_MAX])
{
    postgresql_session *session = latch_postgresql_session_of(base);
    PGresult *result;

    if (session->is_just_sent) {
        session->is_just_sent = false;
        return ADVISORY_UNANSWERED;
    }
    if (session->is_busy && session->is_unsent) {
        session->is_unsent = PQflush(session->connection) == 1;
    }
    if (session->is_busy && PQconsumeInput(session->connection) == 0) {
        session->outcome = ADVISORY_LOST;
        postgresql_record_trouble(session, PQerrorMessage(session->connection));
        session->is_busy = false;
    }
    while (session->is_busy) {
        if (PQisBusy(session->connection)) {
            return ADVISORY_UNANSWERED;
        }
        result = PQgetResult(session->connection);
        session->is_busy = result != NULL;
        if (result != NULL) {
            record_result(session, result);
            PQclear(result);
        }
    }
    memcpy(value, session->value, strlen(session->value) + 1);
    return session->outcome;
}

void latch_postgresql_want(const advisory_session *base, latch_op *op)
{
    const postgresql_session *session = (const postgresql_session *) base;

    op->fd = session->descriptor.fd;
    op->events = session->is_unsent ? POLLIN | POLLOUT : POLLIN;
}

/* An idle session receives its end, or notices that do not matter. */
static bool postgresql_is_alive(advisory_session *base)
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
        PQisBusy(session->connection); /* reads what has come */
    }
    return true;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

static void free_session(postgresql_session *session)
{
    latch_engine *engine = session->session.engine;

    if (!session->is_clone) {
        latch_postgresql_options_free(engine, session->options);
        latch_free(engine, session->options);
    }
    latch_free(engine, session);
}

static void postgresql_close(advisory_session *base)
{
    latch_postgresql_disconnect(base);
    free_session(latch_postgresql_session_of(base));
}

static advisory_session *postgresql_clone(const advisory_session *base);

static int postgresql_socket(const advisory_session *base)
{
    const postgresql_session *session = (const postgresql_session *) base;

    return session->has_descriptor ? session->descriptor.fd : -1;
}

static const advisory_driver driver = {
    .connect = latch_postgresql_connect,
    .disconnect = latch_postgresql_disconnect,
    .send = postgresql_send,
    .receive = latch_postgresql_receive,
    .want = latch_postgresql_want,
    .is_alive = postgresql_is_alive,
    .clone = postgresql_clone,
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
    session->session = (advisory_session){
        .driver = &driver,
        .dialect = &latch_postgresql_dialect,
        .engine = engine,
        .address = options->address,
        .command_timeout_ns = options->command_timeout_ns,
        .connect_timeout_ns = options->connect_timeout_ns,
        .exact_timeouts = true,
    };
    latch_advisory_session_init(&session->session);
    return session;
}

/* Another server, of the same list or of the same name, might have a session of that number. */
static advisory_session *postgresql_clone(const advisory_session *base)
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

latch_status latch_postgresql_open(latch_engine *engine, const latch_store_options *given,
                                   advisory_store *store, latch_error *error)
{
    postgresql_options *options = latch_allocate(engine, sizeof(*options));
    postgresql_session *session;
    latch_status status;

    if (options == NULL) {
        return latch_fail_memory(error);
    }
    status = latch_postgresql_options_parse(engine, given, options, error);
    if (status != LATCH_DONE) {
        latch_free(engine, options);
        return status;
    }
    session = postgresql_make_session(engine, options);
    if (session == NULL) {
        latch_postgresql_options_free(engine, options);
        latch_free(engine, options);
        return latch_fail_memory(error);
    }
    store->session = &session->session;
    store->identity = options->identity;
    store->by_sha256 = options->digest == POSTGRESQL_SHA256;
    return LATCH_DONE;
}
