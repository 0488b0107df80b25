/*
 * Sessions with MySQL and MariaDB by libmariadb. connection.c calls its functions; this file has
 * MySQL's statements, and maps the server's errors.
 */
#include "src/store/sql/mysql/connection.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct mysql_session {
    advisory_session session;
    mysql_store_options own_options; /* of the first session; a clone uses those */
    mysql_connection connection;
    bool has_waited; /* by the statement that was sent last */
} mysql_session;

static mysql_session *mysql_of(const advisory_session *session)
{
    return (mysql_session *) session;
}

static latch_status connect_session(advisory_session *session, latch_op *op, int64_t now_ns)
{
    mysql_connection *connection = &mysql_of(session)->connection;
    latch_status status = latch_mysql_connect(connection, op, now_ns);

    if (status == LATCH_DONE) {
        session->number = connection->number;
        session->exact_timeouts = connection->is_mariadb;
    }
    return status;
}

static void mysql_disconnect(advisory_session *session)
{
    latch_mysql_close(&mysql_of(session)->connection);
}

/* MySQL counts in seconds, and rounds 0.4 down to no wait. */
static int64_t to_whole_seconds(int64_t timeout_ms)
{
    return timeout_ms > LATCH_NEVER - 999 ? timeout_ms : (timeout_ms + 999) / 1000 * 1000;
}

static bool mysql_send_request(advisory_session *session, const advisory_request *request)
{
    mysql_connection *connection = &mysql_of(session)->connection;
    char text[ADVISORY_STATEMENT_MAX];
    advisory_request rounded = *request;

    mysql_of(session)->has_waited = request->statement == ADVISORY_WAIT;
    if (latch_mysql_execute(connection, request)) {
        return true;
    }
    if (!session->exact_timeouts) {
        rounded.timeout_ms = to_whole_seconds(request->timeout_ms);
    }
    latch_advisory_write(session->dialect, &rounded, text);
    if (!latch_mysql_prepare(connection, request, text)) {
        latch_mysql_send(connection, text);
    }
    return true;
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* MariaDB's and MySQL's, by number: neither's headers know the other's. */
enum {
    LOCK_WAIT_TIMEOUT = 1205,
    LOCK_DEADLOCK = 1213,
    USER_LOCK_DEADLOCK = 3058,
    QUERY_INTERRUPTED = 1317,
    STATEMENT_TIMEOUT = 1969, /* MariaDB's max_statement_time */
    QUERY_TIMEOUT = 3024,     /* MySQL's max_execution_time */
    SERVER_SHUTDOWN = 1053,
    CONNECTION_KILLED = 1927,
    CLIENT_INTERACTION_TIMEOUT = 4031,
    UNKNOWN_ERROR = 1105,     /* what clusters and proxies say of their own */
    UNKNOWN_STATEMENT = 1243, /* it was prepared in another session */
    NOT_SUPPORTED_YET = 1235,
    NO_SUCH_FUNCTION = 1305,
};

static advisory_outcome mysql_outcome_of(unsigned code)
{
    switch (code) {
        case QUERY_INTERRUPTED:
            return ADVISORY_CANCELLED;
        case LOCK_WAIT_TIMEOUT:
        case STATEMENT_TIMEOUT:
        case QUERY_TIMEOUT:
            return ADVISORY_TIMED_OUT;
        case LOCK_DEADLOCK:
        case USER_LOCK_DEADLOCK:
            return ADVISORY_DEADLOCKED;
        case UNKNOWN_STATEMENT:
            return ADVISORY_MOVED;
        case SERVER_SHUTDOWN:
        case CONNECTION_KILLED:
        case CLIENT_INTERACTION_TIMEOUT:
            return ADVISORY_LOST;
        default:
            return code >= CR_MIN_ERROR && code <= CR_MAX_ERROR ? ADVISORY_LOST : ADVISORY_REFUSED;
    }
}

/* Galera, Percona XtraDB Cluster and the like have no locks of this kind. */
static bool has_no_locks(unsigned code, const char *message)
{
    return (code == NOT_SUPPORTED_YET || code == UNKNOWN_ERROR || code == NO_SUCH_FUNCTION)
           && strcasestr(message, "_LOCK") != NULL;
}

static advisory_outcome outcome_of_error(mysql_session *mysql)
{
    const mysql_connection *connection = &mysql->connection;
    advisory_session *session = &mysql->session;
    unsigned code = latch_mysql_errno(connection);
    char quoted[150];

    latch_mysql_quote(quoted, sizeof(quoted), latch_mysql_error(connection));
    if (has_no_locks(code, quoted)) {
        snprintf(session->trouble, sizeof(session->trouble),
                 "%s; a cluster that has no such locks needs another store, such as Redis", quoted);
    } else {
        snprintf(session->trouble, sizeof(session->trouble), "%s", quoted);
    }
    /* The socket is closed when libmariadb has lost the server, whatever it calls that. */
    return connection->fd < 0 ? ADVISORY_LOST : mysql_outcome_of(code);
}

static advisory_outcome receive_answer(advisory_session *session, char value[ADVISORY_VALUE_MAX])
{
    mysql_session *mysql = mysql_of(session);
    mysql_connection *connection = &mysql->connection;
    MYSQL_ROW row;

    if (!latch_mysql_is_answered(connection)) {
        return ADVISORY_UNANSWERED;
    }
    if (latch_mysql_errno(connection) != 0) {
        return outcome_of_error(mysql);
    }
    if (connection->asked != NULL) {
        latch_mysql_read_verdict(connection, value);
        return ADVISORY_ANSWERED;
    }
    if (connection->result == NULL) {
        snprintf(value, ADVISORY_VALUE_MAX, "1 %" PRId64, session->number); /* KILL QUERY */
        return ADVISORY_ANSWERED;
    }
    row = mysql_fetch_row(connection->result);
    snprintf(value, ADVISORY_VALUE_MAX, "%s", row != NULL && row[0] != NULL ? row[0] : "");
    if (value[0] == '\0' && mysql->has_waited) {
        /* MariaDB's result of a killed wait, or of a failure without details. */
        snprintf(session->trouble, sizeof(session->trouble), "GET_LOCK() was interrupted");
        return ADVISORY_CANCELLED;
    }
    return ADVISORY_ANSWERED;
}

static void want_answer(const advisory_session *session, latch_op *op)
{
    latch_mysql_want(&mysql_of(session)->connection, op);
}

/* An idle connection receives nothing but the server's last error. */
static bool is_alive(advisory_session *session)
{
    struct pollfd descriptor = {.fd = mysql_of(session)->connection.fd, .events = POLLIN};

    if (poll(&descriptor, 1, 0) <= 0) {
        return true;
    }
    snprintf(session->trouble, sizeof(session->trouble), "it has ended the session");
    return false;
}

/* ---- Sessions ------------------------------------------------------------------------------- */

static void close_session(advisory_session *session)
{
    latch_engine *engine = session->engine;

    mysql_disconnect(session);
    latch_mysql_options_free(engine, &mysql_of(session)->own_options);
    latch_free(engine, session);
}

static advisory_session *make_cancel_session(const advisory_session *session);

static int socket_of(const advisory_session *session)
{
    const mysql_connection *connection = &mysql_of(session)->connection;

    return connection->fd >= 0 ? connection->descriptor.fd : -1;
}

static const advisory_driver driver = {
    .connect = connect_session,
    .disconnect = mysql_disconnect,
    .send = mysql_send_request,
    .receive = receive_answer,
    .want = want_answer,
    .is_alive = is_alive,
    .clone = make_cancel_session,
    .socket = socket_of,
    .close = close_session,
};

static mysql_session *mysql_make_session(latch_engine *engine)
{
    mysql_session *mysql = latch_allocate(engine, sizeof(*mysql));

    if (mysql != NULL) {
        memset(mysql, 0, sizeof(*mysql));
        mysql->session.driver = &driver;
        mysql->session.dialect = &latch_mysql_dialect;
        mysql->session.engine = engine;
    }
    return mysql;
}

static void begin_session(mysql_session *mysql, const mysql_store_options *options,
                          bool is_one_shot)
{
    mysql->session.address = options->address;
    mysql->session.command_timeout_ns = options->command_timeout_ns;
    mysql->session.connect_timeout_ns = options->connect_timeout_ns;
    latch_mysql_connection_init(&mysql->connection, mysql->session.engine, options, is_one_shot);
    latch_advisory_session_init(&mysql->session);
}

static advisory_session *make_cancel_session(const advisory_session *session)
{
    mysql_session *clone = mysql_make_session(session->engine);

    if (clone == NULL) {
        return NULL;
    }
    begin_session(clone, mysql_of(session)->connection.options, true);
    return &clone->session;
}

latch_status latch_mysql_open(latch_engine *engine, const latch_store_options *options,
                              advisory_store *store, latch_error *error)
{
    mysql_session *mysql = mysql_make_session(engine);
    latch_status status;

    if (mysql == NULL) {
        return latch_fail_memory(error);
    }
    status = latch_mysql_options_parse(engine, options, &mysql->own_options, error);
    if (status == LATCH_DONE) {
        status = latch_library_open(&latch_libmariadb_library, error);
        if (status != LATCH_DONE) {
            latch_mysql_options_free(engine, &mysql->own_options);
        }
    }
    if (status != LATCH_DONE) {
        latch_free(engine, mysql);
        return status;
    }
    store->identity = mysql->own_options.identity;
    begin_session(mysql, &mysql->own_options, false);
    store->session = &mysql->session;
    return LATCH_DONE;
}
