/*
 * Sessions with MySQL and MariaDB by libmariadb. connection.c calls its functions; this file maps
 * the server's errors.
 */
#include "src/store/sql/mysql/driver.h"

#include "src/store/sql/mysql/connection.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

typedef struct mysql_session {
    sql_session session;
    mysql_store_options own_options; /* of the first session; a clone uses those */
    mysql_connection connection;
} mysql_session;

static mysql_session *mysql_of(const sql_session *session)
{
    return (mysql_session *) session;
}

static latch_status connect_session(sql_session *session, latch_op *op, int64_t now_ns)
{
    mysql_connection *connection = &mysql_of(session)->connection;
    latch_status status;

    connection->lock_timeout_ms = session->lock_timeout_ms;
    status = latch_mysql_connect(connection, op, now_ns);
    if (status == LATCH_DONE) {
        session->number = connection->number;
        session->whole_seconds = !connection->is_mariadb;
    }
    return status;
}

static void mysql_disconnect(sql_session *session)
{
    latch_mysql_close(&mysql_of(session)->connection);
}

static bool mysql_send_statement(sql_session *session, const sql_statement *statement)
{
    mysql_connection *connection = &mysql_of(session)->connection;
    char text[SQL_TEXT_MAX];

    if (!latch_mysql_execute(connection, statement)
        && !latch_mysql_send_form(connection, statement)) {
        statement->class->write(statement, text);
        if (!latch_mysql_prepare(connection, session->templates, statement, text)) {
            latch_mysql_send(connection, text);
        }
    }
    return true;
}

static void mysql_send_cancel(sql_session *clone, int64_t number)
{
    char text[48];

    snprintf(text, sizeof(text), "KILL QUERY %" PRId64, number);
    latch_mysql_send(&mysql_of(clone)->connection, text);
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
    RECORD_CHANGED = 1020, /* MariaDB's, since the transaction's first look */
    NO_SUCH_TABLE = 1146,
    UNKNOWN_STATEMENT = 1243, /* it was prepared in another session */
    NEEDS_PREPARATION = 1615, /* its tables have changed, again and again */
};

sql_outcome latch_mysql_outcome_of(unsigned code)
{
    switch (code) {
        case QUERY_INTERRUPTED:
            return SQL_CANCELLED;
        case LOCK_WAIT_TIMEOUT:
        case STATEMENT_TIMEOUT:
        case QUERY_TIMEOUT:
            return SQL_TIMED_OUT;
        case LOCK_DEADLOCK:
        case USER_LOCK_DEADLOCK:
            return SQL_DEADLOCKED;
        case RECORD_CHANGED:
        case NEEDS_PREPARATION:
            return SQL_CLASHED;
        case NO_SUCH_TABLE:
            return SQL_NO_TABLE;
        case UNKNOWN_STATEMENT:
            return SQL_MOVED;
        case SERVER_SHUTDOWN:
        case CONNECTION_KILLED:
        case CLIENT_INTERACTION_TIMEOUT:
            return SQL_LOST;
        default:
            return code >= CR_MIN_ERROR && code <= CR_MAX_ERROR ? SQL_LOST : SQL_REFUSED;
    }
}

static sql_outcome outcome_of_error(mysql_session *mysql)
{
    mysql_connection *connection = &mysql->connection;
    char quoted[150];
    sql_outcome outcome;

    latch_mysql_quote(quoted, sizeof(quoted), latch_mysql_error(connection));
    snprintf(mysql->session.trouble, sizeof(mysql->session.trouble), "%s", quoted);
    mysql->session.trouble_code = latch_mysql_errno(connection);
    /* The socket is closed when libmariadb has lost the server, whatever it calls that. */
    outcome = connection->fd < 0 ? SQL_LOST : latch_mysql_outcome_of(mysql->session.trouble_code);
    connection->has_moved |= outcome == SQL_MOVED;
    if (mysql->session.trouble_code == NEEDS_PREPARATION) {
        connection->use = MYSQL_PREPARE_UNSUPPORTED;
    }
    return outcome;
}

static sql_outcome receive_answer(sql_session *session, sql_result *result)
{
    mysql_session *mysql = mysql_of(session);
    mysql_connection *connection = &mysql->connection;

    if (!latch_mysql_is_answered(connection)) {
        return SQL_UNANSWERED;
    }
    if (latch_mysql_errno(connection) != 0) {
        return outcome_of_error(mysql);
    }
    latch_mysql_read_result(connection, result);
    return SQL_ANSWERED;
}

static void want_answer(const sql_session *session, latch_op *op)
{
    latch_mysql_want(&mysql_of(session)->connection, op);
}

/* An idle connection receives nothing but the server's last error. libmariadb has closed the socket
 * if the session was lost behind an answer, while a form was prepared. */
static bool is_alive(sql_session *session)
{
    struct pollfd descriptor = {.fd = mysql_of(session)->connection.fd, .events = POLLIN};

    if (descriptor.fd >= 0 && poll(&descriptor, 1, 0) <= 0) {
        return true;
    }
    snprintf(session->trouble, sizeof(session->trouble), "it has ended the session");
    return false;
}

/* ---- Sessions ------------------------------------------------------------------------------- */

static void close_session(sql_session *session)
{
    latch_engine *engine = session->engine;

    mysql_disconnect(session);
    latch_mysql_free_forms(&mysql_of(session)->connection);
    latch_mysql_options_free(engine, &mysql_of(session)->own_options);
    latch_free(engine, session);
}

static sql_session *make_cancel_session(const sql_session *session);

static int socket_of(const sql_session *session)
{
    const mysql_connection *connection = &mysql_of(session)->connection;

    return connection->fd >= 0 ? connection->descriptor.fd : -1;
}

static const sql_driver driver = {
    .connect = connect_session,
    .disconnect = mysql_disconnect,
    .send = mysql_send_statement,
    .receive = receive_answer,
    .want = want_answer,
    .is_alive = is_alive,
    .clone = make_cancel_session,
    .send_cancel = mysql_send_cancel,
    .socket = socket_of,
    .close = close_session,
};

static mysql_session *mysql_make_session(latch_engine *engine)
{
    mysql_session *mysql = latch_allocate(engine, sizeof(*mysql));

    if (mysql != NULL) {
        memset(mysql, 0, sizeof(*mysql));
        mysql->session.driver = &driver;
        mysql->session.engine = engine;
        mysql->session.server = "MySQL";
        mysql->session.longest_wait_ms = LATCH_NEVER;
    }
    return mysql;
}

static void begin_session(mysql_session *mysql, const mysql_store_options *options,
                          bool is_one_shot)
{
    mysql->session.address = options->address;
    mysql->session.identity = options->identity;
    mysql->session.command_timeout_ns = options->command_timeout_ns;
    mysql->session.connect_timeout_ns = options->connect_timeout_ns;
    latch_mysql_connection_init(&mysql->connection, mysql->session.engine, options, is_one_shot);
    latch_sql_session_init(&mysql->session);
}

static sql_session *make_cancel_session(const sql_session *session)
{
    mysql_session *clone = mysql_make_session(session->engine);

    if (clone == NULL) {
        return NULL;
    }
    begin_session(clone, mysql_of(session)->connection.options, true);
    return &clone->session;
}

latch_status latch_mysql_open(latch_engine *engine, const latch_store_options *given,
                              sql_session **session, latch_error *error)
{
    mysql_session *mysql = mysql_make_session(engine);
    latch_status status;

    if (mysql == NULL) {
        return latch_fail_memory(error);
    }
    status = latch_mysql_options_parse(engine, given, &mysql->own_options, error);
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
    begin_session(mysql, &mysql->own_options, false);
    *session = &mysql->session;
    return LATCH_DONE;
}
