/*
 * Begin and end of a session with PostgreSQL. libpq connects without blocking, except that it
 * resolves names by getaddrinfo(3): so this file resolves them, and tries the addresses in turn,
 * each for a share of the time.
 */
#include "src/store/sql/postgresql/postgresql.h"

#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Ending --------------------------------------------------------------------------------- */

static void unregister_descriptor(postgresql_session *session)
{
    if (session->has_descriptor) {
        latch_descriptor_unregister(session->session.engine, &session->descriptor);
        session->has_descriptor = false;
    }
}

/* PQfinish() tells the server, which must not happen in a forked child: it would end the parent's
 * session. */
static void close_connection(postgresql_session *session)
{
    unregister_descriptor(session);
    if (session->connection != NULL) {
        PQfinish(session->connection);
        session->connection = NULL;
    }
}

static void end_resolution(postgresql_session *session)
{
    latch_resolve_end(session->resolution);
    session->resolution = NULL;
    session->address = NULL;
}

void latch_postgresql_disconnect(sql_session *base)
{
    postgresql_session *session = latch_postgresql_session_of(base);

    close_connection(session);
    end_resolution(session);
    session->stage = POSTGRESQL_CLOSED;
    session->prepared = 0;
    session->is_busy = session->is_unsent = session->is_just_sent = false;
}

/* ---- Addresses ------------------------------------------------------------------------------ */

static const postgresql_host *host_of(const postgresql_session *session)
{
    return &session->options->hosts[session->host];
}

static bool is_last(const postgresql_session *session)
{
    return session->is_clone
           || (session->host + 1 == session->options->host_count
               && (session->address == NULL || session->address->ai_next == NULL));
}

/* The remaining addresses share the remaining time. */
static void share_time(postgresql_session *session, int64_t now_ns)
{
    int64_t left = session->is_clone ? 1 : (int64_t) (session->options->host_count - session->host);

    for (const struct addrinfo *one = session->address; one != NULL && one->ai_next != NULL;
         one = one->ai_next) {
        left++;
    }
    session->attempt_ns = now_ns + (session->session.connect_ns - now_ns) / left;
}

/* Begins to resolve the host; LATCH_DONE: resolved. */
static latch_status postgresql_start(postgresql_session *session, latch_op *op, int64_t now_ns)
{
    const postgresql_host *host = host_of(session);

    session->stage = POSTGRESQL_CONNECTING;
    share_time(session, now_ns);
    if (!host->resolve || session->is_clone) {
        return LATCH_DONE;
    }
    session->resolution = latch_resolve_begin(session->session.engine, host->name, 0, op->error);
    session->stage = POSTGRESQL_RESOLVING;
    return session->resolution != NULL ? LATCH_DONE : op->error->status;
}

/* ---- Connecting ----------------------------------------------------------------------------- */

static void postgresql_set(const char **keywords, const char **values, size_t *count,
                           const char *keyword, const char *value)
{
    if (value != NULL) {
        keywords[*count] = keyword;
        values[(*count)++] = value;
    }
}

static bool names_a_host(const char *keyword)
{
    return strcmp(keyword, "host") == 0 || strcmp(keyword, "hostaddr") == 0
           || strcmp(keyword, "port") == 0;
}

/* NULL when memory ran out; a connection that has failed already is one, too. */
static PGconn *start_connection(const postgresql_session *session)
{
    const postgresql_options *options = session->options;
    const postgresql_host *host = host_of(session);
    char number[NI_MAXHOST];
    const char *address = session->peer[0] != '\0' ? session->peer : host->address;
    const char **keywords = latch_allocate(session->session.engine,
                                           2 * (options->parameter_count + 4) * sizeof(char *));
    const char **values = keywords + options->parameter_count + 4;
    size_t count = 0;
    PGconn *connection;

    if (keywords == NULL) {
        return NULL;
    }
    for (size_t at = 0; at < options->parameter_count; at++) {
        if (!names_a_host(options->keywords[at])) {
            postgresql_set(keywords, values, &count, options->keywords[at], options->values[at]);
        }
    }
    if (session->address != NULL
        && getnameinfo(session->address->ai_addr, session->address->ai_addrlen, number,
                       sizeof(number), NULL, 0, NI_NUMERICHOST)
               == 0) {
        address = number;
    }
    postgresql_set(keywords, values, &count, "host", host->name);
    postgresql_set(keywords, values, &count, "hostaddr", address);
    postgresql_set(keywords, values, &count, "port", host->port);
    keywords[count] = values[count] = NULL;
    connection = PQconnectStartParams(keywords, values, 0);
    latch_free(session->session.engine, keywords);
    return connection;
}

/* Records why the server ends an idle session, which it says in a notice. */
static void record_notice(void *context, const PGresult *notice)
{
    postgresql_session *session = context;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)) {
        latch_postgresql_quote(session->session.trouble, sizeof(session->session.trouble),
                               PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY));
    }
}

/* Registers the socket, which libpq replaces for each attempt of its own, such as one without
 * TLS. */
static void register_socket(postgresql_session *session)
{
    int fd = PQsocket(session->connection);

    if (session->has_descriptor && session->descriptor.fd == fd) {
        return;
    }
    unregister_descriptor(session);
    if (fd >= 0) {
        latch_descriptor_shadow(session->session.engine, &session->descriptor, fd);
        session->has_descriptor = true;
    }
}

/*
 * Asks for the session's number, and sets what the session must not be subject to, whatever the
 * role or the database say: time-outs that end waits, but for that of its user's, or that end the
 * session while it holds. The server
 * is to notice, too, that the process or its machine is gone, also while it waits. Servers on
 * systems that cannot do that refuse it: it is asked for at first only. Behind a pooler, which has
 * a number of its own for us, nothing is set: the session may be another's in a moment.
 */
static void send_session_settings(postgresql_session *session)
{
    int version = PQserverVersion(session->connection);
    char text[768];

    snprintf(text, sizeof(text),
             "SELECT concat('1 ', pg_backend_pid()), CASE WHEN pg_backend_pid() = %d THEN concat("
             "set_config('statement_timeout', '0', false),"
             "set_config('lock_timeout', '%" PRId64 "', false),"
             "set_config('tcp_keepalives_idle', '15', false),"
             "set_config('tcp_keepalives_interval', '5', false),"
             "set_config('tcp_keepalives_count', '3', false)%s%s) END",
             PQbackendPID(session->connection), session->session.lock_timeout_ms,
             version >= 140000 ? ", set_config('idle_session_timeout', '0', false)" : "",
             version >= 140000 && session->settings_sent == 0
                 ? ", set_config('client_connection_check_interval', '1s', false)"
                 : "");
    session->settings_sent++;
    session->stage = POSTGRESQL_SETTING_UP;
    latch_postgresql_send_text(session, text);
}

static latch_status postgresql_fail(postgresql_session *session, latch_op *op, const char *why)
{
    return latch_fail(op->error, LATCH_ERROR_STORE, 0, "cannot connect to PostgreSQL at %s: %s",
                      session->session.address, why);
}

/* Without "connection to server at "127.0.0.1", port 5432 failed: FATAL:  ", of which we say the
 * first half ourselves. */
static const char *skip_preamble(const char *why)
{
    static const char failed[] = " failed: ", fatal[] = "FATAL:  ";
    const char *found = strncmp(why, "connection to server", 20) == 0 ? strstr(why, failed) : NULL;

    why = found != NULL ? found + sizeof(failed) - 1 : why;
    return strncmp(why, fatal, sizeof(fatal) - 1) == 0 ? why + sizeof(fatal) - 1 : why;
}

/* The attempt has failed: starts the next one, if there is any. */
static latch_status continue_postgresql_connect(postgresql_session *session, latch_op *op,
                                                int64_t now_ns, const char *why)
{
    char text[sizeof(op->error->message)];
    latch_status status = LATCH_DONE;

    latch_postgresql_quote(text, sizeof(text), skip_preamble(why));
    if (is_last(session)) {
        return postgresql_fail(session, op, text);
    }
    close_connection(session);
    if (session->address != NULL && session->address->ai_next != NULL) {
        session->address = session->address->ai_next;
        session->stage = POSTGRESQL_CONNECTING;
    } else {
        end_resolution(session);
        session->host++;
        status = postgresql_start(session, op, now_ns);
    }
    return status;
}

static latch_status postgresql_resolve(postgresql_session *session, latch_op *op, int64_t now_ns)
{
    latch_status status = latch_resolve_check(session->resolution, &session->address, op->error);

    if (status == LATCH_WANT_IO) {
        op->fd = latch_resolve_fd(session->resolution);
        op->events = POLLIN;
    }
    if (status == LATCH_DONE) {
        session->stage = POSTGRESQL_CONNECTING;
    }
    return latch_failed(status) && !is_last(session)
               ? continue_postgresql_connect(session, op, now_ns, op->error->message)
               : status;
}

static latch_status poll_connection(postgresql_session *session, latch_op *op, int64_t now_ns)
{
    PostgresPollingStatusType wish = PGRES_POLLING_WRITING;

    if (session->connection == NULL) {
        session->connection = start_connection(session);
        if (session->connection == NULL) {
            return latch_fail_memory(op->error);
        }
        PQsetNoticeReceiver(session->connection, record_notice, session); /* else it prints them */
        share_time(session, now_ns);
    } else {
        wish = PQconnectPoll(session->connection);
    }
    register_socket(session);
    if (PQstatus(session->connection) == CONNECTION_BAD) {
        return continue_postgresql_connect(session, op, now_ns,
                                           PQerrorMessage(session->connection));
    }
    if (wish == PGRES_POLLING_OK) {
        PQsetnonblocking(session->connection, 1);
        session->settings_sent = 0;
        send_session_settings(session);
        return LATCH_DONE;
    }
    op->fd = session->descriptor.fd;
    op->events = wish == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    return LATCH_WANT_IO;
}

static latch_status await_session_settings(postgresql_session *session, latch_op *op,
                                           int64_t now_ns)
{
    sql_result result;
    sql_outcome outcome = latch_postgresql_receive(&session->session, &result);

    if (outcome == SQL_REFUSED && session->settings_sent == 1) {
        send_session_settings(session);
        outcome = SQL_UNANSWERED;
    }
    if (outcome == SQL_UNANSWERED) {
        latch_postgresql_want(&session->session, op);
        return LATCH_WANT_IO;
    }
    if (outcome != SQL_ANSWERED) {
        return continue_postgresql_connect(session, op, now_ns, session->session.trouble);
    }
    session->session.number = strtoll(result.value + 2, NULL, 10);
    snprintf(session->number, sizeof(session->number), "%" PRId64, session->session.number);
    session->session.is_direct = session->session.number == PQbackendPID(session->connection);
    session->stage = POSTGRESQL_READY;
    return LATCH_DONE;
}

latch_status latch_postgresql_connect(sql_session *base, latch_op *op, int64_t now_ns)
{
    postgresql_session *session = latch_postgresql_session_of(base);
    latch_status status = LATCH_DONE;

    while (status == LATCH_DONE && session->stage != POSTGRESQL_READY) {
        switch (session->stage) {
            case POSTGRESQL_CLOSED:
                session->host = session->is_clone ? session->host : 0;
                status = postgresql_start(session, op, now_ns);
                break;
            case POSTGRESQL_RESOLVING:
                status = postgresql_resolve(session, op, now_ns);
                break;
            case POSTGRESQL_CONNECTING:
                status = poll_connection(session, op, now_ns);
                break;
            case POSTGRESQL_SETTING_UP:
                status = await_session_settings(session, op, now_ns);
                break;
            case POSTGRESQL_READY:
                break;
        }
        if (status == LATCH_WANT_IO && now_ns >= session->attempt_ns) {
            status = continue_postgresql_connect(session, op, now_ns, "it does not answer");
        }
    }
    if (status == LATCH_WANT_IO) {
        op->wake_ns = session->attempt_ns;
    }
    return status;
}
