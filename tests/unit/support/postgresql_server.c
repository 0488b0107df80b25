/* A real PostgreSQL server, started, asked and ended by the test program: see postgresql_server.h.
 */
#include "postgresql_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/shm.h>

#define SERVER_TIMEOUT_S (UNIT_TIMEOUT_NS / LATCH_NS_PER_S)
#define SQL_BYTES 4096
#define OTHERS "usename <> 'admin' AND backend_type = 'client backend'"

unit_postgresql_server unit_postgresql;

static PGresult *answer; /* to the administrator */

static void ignore_notice(void *context, const PGresult *notice)
{
    (void) context;
    (void) notice;
}

/* By TCP, with a password, for "latch"; by the socket, without one, for "admin". */
static PGconn *connect_as(const char *user)
{
    bool is_admin = strcmp(user, "admin") == 0;
    char text[512];
    PGconn *connection;

    snprintf(text, sizeof(text),
             "host=%s port=%d dbname=latch user=%s password=" UNIT_SQL_PASSWORD
             " connect_timeout=%d gssencmode=disable sslmode=disable application_name=test",
             is_admin ? unit_postgresql.server.directory : "127.0.0.1", unit_postgresql.server.port,
             user, (int) SERVER_TIMEOUT_S);
    connection = PQconnectdb(text);
    UNIT_CHECK(connection != NULL);
    PQsetNoticeReceiver(connection, ignore_notice, NULL);
    return connection;
}

static bool is_answering(void)
{
    PGconn *connection = connect_as("admin");

    if (PQstatus(connection) != CONNECTION_OK) {
        PQfinish(connection);
        return false;
    }
    unit_postgresql.connection = connection;
    return true;
}

void unit_postgresql_start(const char *const *options)
{
    unit_sql_launch(&unit_postgresql.server, options);
    for (unsigned looks = 0; !is_answering();) {
        unit_sql_expect_life(&unit_postgresql.server);
        unit_sql_look_again(&looks);
    }
}

static void disconnect(void)
{
    PQclear(answer);
    answer = NULL;
    PQfinish(unit_postgresql.connection);
    unit_postgresql.connection = NULL;
}

void unit_postgresql_stop(void)
{
    disconnect();
    unit_sql_end(&unit_postgresql.server, SIGINT);
}

/*
 * A crash leaves processes for a moment and shared memory for ever. Both have one identifier, by
 * which the next server would find out that it is not alone.
 */
static int shared_memory(void)
{
    char path[UNIT_PATH + 32], line[128];
    int id = -1;
    FILE *file;

    snprintf(path, sizeof(path), "%s/data/postmaster.pid", unit_postgresql.server.directory);
    file = fopen(path, "re");
    UNIT_CHECK(file != NULL);
    for (int at = 1; fgets(line, sizeof(line), file) != NULL; at++) {
        if (at == 7) {
            UNIT_CHECK(sscanf(line, "%*u %d", &id) == 1);
        }
    }
    fclose(file);
    return id;
}

void unit_postgresql_kill(void)
{
    int memory = shared_memory();
    struct shmid_ds status;

    disconnect();
    unit_sql_end(&unit_postgresql.server, SIGKILL);
    UNIT_CHECK(memory >= 0 && shmctl(memory, IPC_RMID, NULL) == 0);
    /* It is there until the last process has gone. */
    for (unsigned looks = 0; shmctl(memory, IPC_STAT, &status) == 0;) {
        unit_sql_look_again(&looks);
    }
}

void unit_postgresql_freeze(void)
{
    unit_sql_freeze(&unit_postgresql.server);
}

void unit_postgresql_thaw(void)
{
    unit_sql_thaw(&unit_postgresql.server);
}

int unit_postgresql_group_setup(void **state)
{
    unit_sql_server *server = &unit_postgresql.server;
    unit_postgresql_server *it = &unit_postgresql;

    (void) state;
    *it = (unit_postgresql_server){0};
    unit_sql_prepare(server, "postgresql");
    snprintf(it->dsn, sizeof(it->dsn),
             "pgsql+advisory:host=127.0.0.1;port=%d;dbname=latch;user=latch"
             ";password=" UNIT_SQL_PASSWORD,
             server->port);
    snprintf(it->url, sizeof(it->url),
             "postgresql+advisory://latch:" UNIT_SQL_PASSWORD "@127.0.0.1:%d/latch", server->port);
    snprintf(it->socket_dsn, sizeof(it->socket_dsn),
             "pgsql+advisory:host=%s;port=%d;dbname=latch;user=latch"
             ";password=" UNIT_SQL_PASSWORD,
             server->directory, server->port);
    snprintf(it->socket_url, sizeof(it->socket_url),
             "postgresql+advisory://latch:" UNIT_SQL_PASSWORD "@/latch?host=%s&port=%d",
             server->directory, server->port);
    unit_postgresql_start(NULL);
    return 0;
}

int unit_postgresql_group_teardown(void **state)
{
    (void) state;
    if (unit_postgresql.server.pid != 0) {
        disconnect();
        unit_sql_end(&unit_postgresql.server, SIGQUIT); /* it has nothing to save */
    }
    unit_sql_dispose(&unit_postgresql.server);
    return 0;
}

int unit_postgresql_setup(void **state)
{
    (void) state;
    unit_postgresql_thaw();
    if (unit_postgresql.server.pid != 0 && unit_postgresql.server.has_options) {
        unit_postgresql_stop();
    }
    if (unit_postgresql.server.pid == 0) {
        unit_postgresql_start(NULL);
    }
    unit_postgresql_run("ALTER SYSTEM RESET ALL");
    unit_postgresql_run("ALTER ROLE latch RESET ALL");
    unit_postgresql_run("ALTER ROLE latch LOGIN CONNECTION LIMIT -1");
    unit_postgresql_run("ALTER DATABASE latch RESET ALL");
    unit_postgresql_run("SELECT pg_reload_conf()");
    unit_postgresql_end_sessions();
    return 0;
}

/* The result of the statement that was sent; never waits for ever, as PQgetResult() would. */
static PGresult *receive(PGconn *connection)
{
    PGresult *result, *more;

    while (PQisBusy(connection)) {
        struct pollfd socket = {.fd = PQsocket(connection), .events = POLLIN};

        UNIT_CHECK(poll(&socket, 1, UNIT_TIMEOUT_NS / LATCH_NS_PER_MS) == 1);
        if (PQconsumeInput(connection) == 0) {
            break;
        }
    }
    result = PQgetResult(connection);
    while ((more = PQgetResult(connection)) != NULL) {
        PQclear(more);
    }
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK) {
        PQclear(result);
        fail_msg("PostgreSQL has refused: %s", PQerrorMessage(connection));
    }
    return result;
}

static const char *value_of(const PGresult *result)
{
    return PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
}

static void ask(const char *format, va_list arguments)
{
    char sql[SQL_BYTES];

    UNIT_CHECK(vsnprintf(sql, sizeof(sql), format, arguments) < SQL_BYTES);
    PQclear(answer);
    answer = NULL;
    UNIT_CHECK(PQsendQuery(unit_postgresql.connection, sql) == 1);
    answer = receive(unit_postgresql.connection);
}

const char *unit_postgresql_text(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ask(format, arguments);
    va_end(arguments);
    return value_of(answer);
}

long long unit_postgresql_number(const char *format, ...)
{
    va_list arguments;
    long long number;
    char *end;

    va_start(arguments, format);
    ask(format, arguments);
    va_end(arguments);
    number = strtoll(value_of(answer), &end, 10);
    UNIT_CHECK(end != value_of(answer) && *end == '\0');
    return number;
}

void unit_postgresql_run(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ask(format, arguments);
    va_end(arguments);
}

static size_t count_locks(bool granted)
{
    return (size_t) unit_postgresql_number("SELECT count(*) FROM pg_locks"
                                           " WHERE locktype = 'advisory' AND granted = %s",
                                           granted ? "true" : "false");
}

size_t unit_postgresql_count_held(void)
{
    return count_locks(true);
}

size_t unit_postgresql_count_waiting(void)
{
    return count_locks(false);
}

size_t unit_postgresql_count_sessions(void)
{
    return (size_t) unit_postgresql_number("SELECT count(*) FROM pg_stat_activity WHERE " OTHERS);
}

void unit_postgresql_await_held(size_t count)
{
    for (unsigned looks = 0; unit_postgresql_count_held() != count;) {
        unit_sql_look_again(&looks);
    }
}

void unit_postgresql_await_waiting(size_t count)
{
    for (unsigned looks = 0; unit_postgresql_count_waiting() != count;) {
        unit_sql_look_again(&looks);
    }
}

void unit_postgresql_await_sessions(size_t count)
{
    for (unsigned looks = 0; unit_postgresql_count_sessions() != count;) {
        unit_sql_look_again(&looks);
    }
}

void unit_postgresql_end_sessions(void)
{
    unit_postgresql_run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE " OTHERS);
    unit_postgresql_await_sessions(0);
}

unit_postgresql_peer unit_postgresql_peer_open(void)
{
    PGconn *connection = connect_as("latch");

    if (PQstatus(connection) != CONNECTION_OK) {
        fail_msg("no connection for a peer: %s", PQerrorMessage(connection));
    }
    return (unit_postgresql_peer){connection, PQbackendPID(connection)};
}

static void begin(const unit_postgresql_peer *peer, const char *format, int64_t number)
{
    char sql[256];

    snprintf(sql, sizeof(sql), format, (long long) number, (long long) number);
    UNIT_CHECK(PQsendQuery(peer->connection, sql) == 1);
}

bool unit_postgresql_peer_try(const unit_postgresql_peer *peer, int operation, int64_t number)
{
    PGresult *result;
    bool yes;

    begin(peer,
          operation == LOCK_EX   ? "SELECT pg_try_advisory_lock(%lld)"
          : operation == LOCK_SH ? "SELECT pg_try_advisory_lock_shared(%lld)"
                                 : "SELECT pg_advisory_unlock(%lld)"
                                   " OR pg_advisory_unlock_shared(%lld)",
          number);
    result = receive(peer->connection);
    yes = *value_of(result) == 't';
    PQclear(result);
    return yes;
}

void unit_postgresql_peer_wait(const unit_postgresql_peer *peer, int operation, int64_t number)
{
    begin(peer,
          operation == LOCK_EX ? "SELECT pg_advisory_lock(%lld)"
                               : "SELECT pg_advisory_lock_shared(%lld)",
          number);
}

void unit_postgresql_peer_has(const unit_postgresql_peer *peer)
{
    PQclear(receive(peer->connection));
}

void unit_postgresql_peer_close(unit_postgresql_peer *peer)
{
    PQfinish(peer->connection);
    *peer = (unit_postgresql_peer){0};
}
