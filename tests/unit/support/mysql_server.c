/* A real MariaDB or MySQL server, started, asked and ended by the test program: see mysql_server.h.
 */
#include "mysql_server.h"

#include <mysqld_error.h>
#include <signal.h>
#include <stdlib.h>

#define SQL_BYTES 4096

unit_mysql_server unit_mysql;

static MYSQL_RES *answer; /* to the administrator */

/* By TCP, with a password, for "latch"; by the socket, without one, for "admin". */
static MYSQL *connect_as(const char *user, const char *host, const char *socket)
{
    unsigned timeout_s = UNIT_TIMEOUT_NS / LATCH_NS_PER_S;
    MYSQL *connection = mysql_init(NULL);

    UNIT_CHECK(connection != NULL);
    mysql_options(connection, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s);
    mysql_options(connection, MYSQL_OPT_READ_TIMEOUT, &timeout_s);
    mysql_options(connection, MYSQL_OPT_WRITE_TIMEOUT, &timeout_s);
    if (mysql_real_connect(connection, host, user, socket == NULL ? UNIT_SQL_PASSWORD : "", "latch",
                           socket == NULL ? (unsigned) unit_mysql.server.port : 0, socket, 0)
        == NULL) {
        mysql_close(connection);
        return NULL;
    }
    return connection;
}

static bool is_answering(void)
{
    unit_mysql.connection = connect_as("admin", "localhost", unit_mysql.socket);
    return unit_mysql.connection != NULL;
}

void unit_mysql_start(const char *const *options)
{
    unit_sql_launch(&unit_mysql.server, options);
    for (unsigned looks = 0; !is_answering();) {
        unit_sql_expect_life(&unit_mysql.server);
        unit_sql_look_again(&looks);
    }
}

static void disconnect(void)
{
    mysql_free_result(answer);
    answer = NULL;
    mysql_close(unit_mysql.connection);
    unit_mysql.connection = NULL;
}

static void end(int signal)
{
    disconnect();
    unit_sql_end(&unit_mysql.server, signal);
}

void unit_mysql_stop(void)
{
    end(SIGTERM);
}

void unit_mysql_kill(void)
{
    end(SIGKILL);
}

void unit_mysql_freeze(void)
{
    unit_sql_freeze(&unit_mysql.server);
}

void unit_mysql_thaw(void)
{
    unit_sql_thaw(&unit_mysql.server);
}

int unit_mysql_group_setup(void **state)
{
    unit_sql_server *server = &unit_mysql.server;
    unit_mysql_server *it = &unit_mysql;
    const char *mysql = getenv("LATCH_MYSQL_SERVER");

    (void) state;
    *it = (unit_mysql_server){.is_mariadb = mysql == NULL || *mysql == '\0'};
    unit_sql_prepare(server, "mysql");
    snprintf(it->socket, sizeof(it->socket), "%s/mysql.sock", server->directory);
    snprintf(it->dsn, sizeof(it->dsn),
             "mysql+advisory:host=127.0.0.1;port=%d;dbname=latch;user=latch"
             ";password=" UNIT_SQL_PASSWORD,
             server->port);
    snprintf(it->url, sizeof(it->url),
             "mysql+advisory://latch:" UNIT_SQL_PASSWORD "@127.0.0.1:%d/latch", server->port);
    snprintf(it->socket_dsn, sizeof(it->socket_dsn),
             "mysql+advisory:unix_socket=%s/"
             "mysql.sock;dbname=latch;user=latch;password=" UNIT_SQL_PASSWORD,
             server->directory);
    snprintf(it->socket_url, sizeof(it->socket_url),
             "mysql+advisory://latch:" UNIT_SQL_PASSWORD
             "@localhost/latch?unix_socket=%s/mysql.sock",
             server->directory);
    unit_mysql_start(NULL);
    return 0;
}

int unit_mysql_group_teardown(void **state)
{
    (void) state;
    if (unit_mysql.server.pid != 0) {
        unit_mysql_kill(); /* it has nothing to save */
    }
    unit_sql_dispose(&unit_mysql.server);
    mysql_library_end();
    return 0;
}

int unit_mysql_setup(void **state)
{
    (void) state;
    unit_mysql_thaw();
    if (unit_mysql.server.pid != 0 && unit_mysql.server.has_options) {
        unit_mysql_kill();
    }
    if (unit_mysql.server.pid == 0) {
        unit_mysql_start(NULL);
    }
    unit_mysql_run("SET GLOBAL wait_timeout = DEFAULT, GLOBAL interactive_timeout = DEFAULT,"
                   " GLOBAL lock_wait_timeout = DEFAULT, GLOBAL max_connections = DEFAULT,"
                   " GLOBAL max_prepared_stmt_count = DEFAULT");
    unit_mysql_limit_statements(0);
    unit_mysql_run("ALTER USER latch ACCOUNT UNLOCK");
    unit_mysql_end_sessions();
    return 0;
}

/* The result of a statement that was sent, NULL when it has none. */
static MYSQL_RES *receive(MYSQL *connection)
{
    MYSQL_RES *result = NULL;

    if (mysql_read_query_result(connection) == 0) {
        result = mysql_store_result(connection);
    }
    if (mysql_errno(connection) != 0) {
        fail_msg("the server has refused: %s", mysql_error(connection));
    }
    return result;
}

/* Its first value. To be called once, as it reads on. */
static const char *value_of(MYSQL_RES *result)
{
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;

    return row != NULL && row[0] != NULL ? row[0] : "";
}

static void begin(MYSQL *connection, const char *format, va_list arguments)
{
    char sql[SQL_BYTES];
    int length = vsnprintf(sql, sizeof(sql), format, arguments);

    UNIT_CHECK(length >= 0 && length < SQL_BYTES);
    UNIT_CHECK(mysql_send_query(connection, sql, (unsigned long) length) == 0);
}

static const char *ask(const char *format, va_list arguments)
{
    mysql_free_result(answer);
    answer = NULL;
    begin(unit_mysql.connection, format, arguments);
    answer = receive(unit_mysql.connection);
    return value_of(answer);
}

const char *unit_mysql_text(const char *format, ...)
{
    va_list arguments;
    const char *text;

    va_start(arguments, format);
    text = ask(format, arguments);
    va_end(arguments);
    return text;
}

long long unit_mysql_number(const char *format, ...)
{
    va_list arguments;
    const char *text;
    long long number;
    char *rest;

    va_start(arguments, format);
    text = ask(format, arguments);
    va_end(arguments);
    number = strtoll(text, &rest, 10);
    UNIT_CHECK(rest != text && *rest == '\0');
    return number;
}

void unit_mysql_run(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ask(format, arguments);
    va_end(arguments);
}

long long unit_mysql_status(const char *name)
{
    MYSQL_ROW row;

    unit_mysql_run("SHOW GLOBAL STATUS LIKE '%s'", name);
    mysql_data_seek(answer, 0);
    row = mysql_fetch_row(answer);
    UNIT_CHECK(row != NULL);
    return strtoll(row[1], NULL, 10);
}

void unit_mysql_limit_statements(int ms)
{
    if (unit_mysql.is_mariadb) {
        unit_mysql_run("SET GLOBAL max_statement_time = %d / 1000", ms);
    } else {
        unit_mysql_run("SET GLOBAL max_execution_time = %d", ms);
    }
}

size_t unit_mysql_count_held(void)
{
    return (size_t) unit_mysql_number(
        unit_mysql.is_mariadb
            ? "SELECT count(*) FROM information_schema.metadata_lock_info"
              " WHERE lock_type = 'User lock'"
            : "SELECT count(*) FROM performance_schema.metadata_locks"
              " WHERE object_type = 'USER LEVEL LOCK' AND lock_status = 'GRANTED'");
}

size_t unit_mysql_count_waiting(void)
{
    return (size_t) unit_mysql_number("SELECT count(*) FROM information_schema.processlist"
                                      " WHERE state = 'User lock'");
}

size_t unit_mysql_count_sessions(void)
{
    return (size_t) unit_mysql_number("SELECT count(*) FROM information_schema.processlist"
                                      " WHERE user NOT IN ('admin', 'system user')");
}

void unit_mysql_await_held(size_t count)
{
    for (unsigned looks = 0; unit_mysql_count_held() != count;) {
        unit_sql_look_again(&looks);
    }
}

void unit_mysql_await_waiting(size_t count)
{
    for (unsigned looks = 0; unit_mysql_count_waiting() != count;) {
        unit_sql_look_again(&looks);
    }
}

void unit_mysql_await_sessions(size_t count)
{
    for (unsigned looks = 0; unit_mysql_count_sessions() != count;) {
        unit_sql_look_again(&looks);
    }
}

/* One that has ended by itself meanwhile is no error. */
static void kill_each(char *numbers)
{
    char sql[48], *rest;

    for (char *number = strtok_r(numbers, ",", &rest); number != NULL;
         number = strtok_r(NULL, ",", &rest)) {
        snprintf(sql, sizeof(sql), "KILL %s", number);
        UNIT_CHECK(mysql_query(unit_mysql.connection, sql) == 0
                   || mysql_errno(unit_mysql.connection) == ER_NO_SUCH_THREAD);
    }
}

void unit_mysql_end_sessions(void)
{
    char numbers[SQL_BYTES];

    snprintf(numbers, sizeof(numbers), "%s",
             unit_mysql_text("SELECT GROUP_CONCAT(id) FROM information_schema.processlist"
                             " WHERE user = 'latch'"));
    kill_each(numbers);
    unit_mysql_await_sessions(0);
}

unit_mysql_peer unit_mysql_peer_open(void)
{
    MYSQL *connection = connect_as("latch", "127.0.0.1", NULL);

    UNIT_CHECK(connection != NULL);
    return (unit_mysql_peer){connection, mysql_thread_id(connection)};
}

static void peer_begin(const unit_mysql_peer *peer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    begin(peer->connection, format, arguments);
    va_end(arguments);
}

/* Is the answer 1? Otherwise it is 0, or NULL. */
static bool peer_hears_yes(const unit_mysql_peer *peer)
{
    MYSQL_RES *result = receive(peer->connection);
    bool yes = strcmp(value_of(result), "1") == 0;

    mysql_free_result(result);
    return yes;
}

bool unit_mysql_peer_try(const unit_mysql_peer *peer, const char *name)
{
    peer_begin(peer, "SELECT GET_LOCK('%s', 0)", name);
    return peer_hears_yes(peer);
}

void unit_mysql_peer_begin_to_give(const unit_mysql_peer *peer, const char *name)
{
    peer_begin(peer, "SELECT RELEASE_LOCK('%s')", name);
}

bool unit_mysql_peer_give(const unit_mysql_peer *peer, const char *name)
{
    unit_mysql_peer_begin_to_give(peer, name);
    return peer_hears_yes(peer);
}

void unit_mysql_peer_wait(const unit_mysql_peer *peer, const char *name)
{
    peer_begin(peer, "SELECT GET_LOCK('%s', 3600)", name);
}

void unit_mysql_peer_has(const unit_mysql_peer *peer)
{
    UNIT_CHECK(peer_hears_yes(peer));
}

void unit_mysql_peer_close(unit_mysql_peer *peer)
{
    mysql_close(peer->connection);
    *peer = (unit_mysql_peer){0};
}
