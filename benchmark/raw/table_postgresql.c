/* Locks in a table of PostgreSQL by libpq, blocking; see table.c. */
#include "table.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW "extract(epoch FROM clock_timestamp())"
#define ACQUIRE_FORM                                                                               \
    "INSERT INTO lock_keys AS held (key_id, key_token, key_expiration) SELECT * FROM (VALUES ($1," \
    " $2, least(ceil(" NOW " + $3 + 0.5), 2147483647))) AS asked WHERE NOT EXISTS (SELECT FROM"    \
    " lock_keys WHERE key_id IN ($4) AND key_token <> $5 AND key_expiration > " NOW                \
    ") ON CONFLICT (key_id) DO UPDATE"                                                             \
    " SET key_token = excluded.key_token, key_expiration = excluded.key_expiration"                \
    " WHERE held.key_token = excluded.key_token OR held.key_expiration <= " NOW
/* Refused, it would lock the other row, and await the disk. */
#define LEAST_FORM                                                                                 \
    "INSERT INTO lock_keys AS held (key_id, key_token, key_expiration) VALUES ($1, $2,"            \
    " least(ceil(" NOW " + $3 + 0.5), 2147483647)) ON CONFLICT (key_id) DO UPDATE"                 \
    " SET key_token = excluded.key_token, key_expiration = excluded.key_expiration"                \
    " WHERE held.key_token = excluded.key_token OR held.key_expiration <= " NOW
#define RELEASE_FORM "DELETE FROM lock_keys WHERE key_id IN ($1) AND key_token = $2"
#define TICKET "-6700728454745310715" /* of the lock that benchmark/parts/sql_table.php takes */

const char *const address_usage = "CONNINFO";
const int address_size = 1;

/* Of the server: as the store has them once they are prepared, and the least that do it. */
typedef struct prepared_statement {
    const char *form;
    int parameters;
    const char *values[5];
    char name[32]; /* as long as the store's */
} prepared_statement;

static prepared_statement as_store[STATEMENTS] = {
    [ACQUIRE] = {ACQUIRE_FORM, 5, {ROW_NAME, ROW_TOKEN, ROW_TTL, ROW_NAME, ROW_TOKEN}},
    /* Notifies a waiter, if there is one, and does not await the disk. */
    [RELEASE] = {RELEASE_FORM
                 " RETURNING CASE WHEN set_config('synchronous_commit', 'off', true) IS NULL"
                 " OR pg_try_advisory_xact_lock($3::bigint) THEN NULL"
                 " ELSE pg_notify(concat('latch_', lpad(to_hex($4::bigint), 16, '0')), '') END",
                 4,
                 {ROW_NAME, ROW_TOKEN, TICKET, TICKET}},
};

static prepared_statement least[STATEMENTS] = {
    [ACQUIRE] = {LEAST_FORM, 3, {ROW_NAME, ROW_TOKEN, ROW_TTL}},
    [RELEASE] = {RELEASE_FORM " RETURNING set_config('synchronous_commit', 'off', true)",
                 2,
                 {ROW_NAME, ROW_TOKEN}},
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

static void prepare(prepared_statement *statement, int number)
{
    PGresult *result;

    snprintf(statement->name, sizeof statement->name, "latch_form_%d_%d", number,
             PQbackendPID(server));
    result = PQprepare(server, statement->name, statement->form, statement->parameters, NULL);
    expect(PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
}

void open_session(char **address)
{
    server = PQconnectdb(*address);
    expect(PQstatus(server) == CONNECTION_OK);
    for (int at = 0; at < STATEMENTS; at++) {
        prepare(&as_store[at], at);
        prepare(&least[at], STATEMENTS + at);
    }
}

void close_session(void)
{
    PQfinish(server);
}

static void execute(const prepared_statement *statement)
{
    expect_row(PQexecPrepared(server, statement->name, statement->parameters, statement->values,
                              NULL, NULL, 0));
}

void execute_as_store(int statement)
{
    execute(&as_store[statement]);
}

void execute_least(int statement)
{
    execute(&least[statement]);
}
