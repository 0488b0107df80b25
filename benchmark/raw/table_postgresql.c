/* Locks in a table of PostgreSQL by libpq, blocking; see table.c. */
#include "table.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW "extract(epoch FROM clock_timestamp())"
#define ACQUIRE_TEXT(name, token, ttl)                                                             \
    "INSERT INTO lock_keys AS held (key_id, key_token, key_expiration) VALUES (" name ", " token   \
    ", least(ceil(" NOW " + " ttl " + 0.5), 2147483647)) ON CONFLICT (key_id) DO UPDATE"           \
    " SET key_token = excluded.key_token, key_expiration = excluded.key_expiration"                \
    " WHERE held.key_token = excluded.key_token OR held.key_expiration <= " NOW
#define RELEASE_TEXT(name, token)                                                                  \
    "DELETE FROM lock_keys WHERE key_id IN (" name ") AND key_token = " token
/* Notifies a waiter, if there is one, and does not await the disk. */
#define TICKET "2c624232cdd22177"
#define RELEASE_AND_NOTIFY_TEXT(name, token)                                                       \
    RELEASE_TEXT(name, token)                                                                      \
    " RETURNING CASE WHEN set_config('synchronous_commit', 'off', true) IS NULL"                   \
    " OR pg_try_advisory_xact_lock(x'" TICKET "'::bigint) THEN NULL"                               \
    " ELSE pg_notify('latch_" TICKET "', '') END"

const char *const address_usage = "CONNINFO";
const int address_size = 1;

static const struct {
    const char *name, *text, *form;
    int parameters;
} statements[STATEMENTS] = {
    [ACQUIRE] = {"acquire", ACQUIRE_TEXT("E'" ROW_NAME "'", "E'" ROW_TOKEN "'", ROW_TTL),
                 ACQUIRE_TEXT("$1", "$2", "$3::numeric"), 3},
    [RELEASE] = {"release", RELEASE_AND_NOTIFY_TEXT("E'" ROW_NAME "'", "E'" ROW_TOKEN "'"),
                 RELEASE_TEXT("$1",
                              "$2") " RETURNING set_config('synchronous_commit', 'off', true)",
                 2},
};

static PGconn *server;

static void expect(bool good)
{
    if (!good) {
        fprintf(stderr, "table_postgresql: %s\n", PQerrorMessage(server));
        exit(EXIT_FAILURE);
    }
}

static void expect_row(PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    expect((status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
           && strcmp(PQcmdTuples(result), "1") == 0);
    PQclear(result);
}

void open_session(char **address)
{
    server = PQconnectdb(*address);
    expect(PQstatus(server) == CONNECTION_OK);
    for (int at = 0; at < STATEMENTS; at++) {
        PGresult *result = PQprepare(server, statements[at].name, statements[at].form,
                                     statements[at].parameters, NULL);

        expect(PQresultStatus(result) == PGRES_COMMAND_OK);
        PQclear(result);
    }
}

void close_session(void)
{
    PQfinish(server);
}

void execute_as_store(int statement)
{
    expect_row(PQexec(server, statements[statement].text));
}

void execute_prepared(int statement)
{
    const char *const values[] = {ROW_NAME, ROW_TOKEN, ROW_TTL};

    expect_row(PQexecPrepared(server, statements[statement].name, statements[statement].parameters,
                              values, NULL, NULL, 0));
}
