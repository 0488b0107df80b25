/* PostgreSQL's advisory locks by libpq, blocking; see advisory.c. */
#include "advisory.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LOCK "2915038113"

const char *const address_usage = "CONNINFO";
const int address_size = 1;

static PGconn *server;

static void expect(bool good)
{
    if (!good) {
        fprintf(stderr, "postgresql: %s\n", PQerrorMessage(server));
        exit(EXIT_FAILURE);
    }
}

static void prepare(const char *name, const char *statement)
{
    PGresult *result = PQprepare(server, name, statement, 1, NULL);

    expect(PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
}

/* Runs a prepared statement, whose answer is to be that. */
static void execute(const char *name, const char *answer)
{
    PGresult *result = PQexecPrepared(server, name, 1, (const char *[]){LOCK}, NULL, NULL, 0);

    expect(PQresultStatus(result) == PGRES_TUPLES_OK && *PQgetvalue(result, 0, 0) == *answer);
    PQclear(result);
}

void open_session(char **address)
{
    server = PQconnectdb(*address);
    expect(PQstatus(server) == CONNECTION_OK);
    prepare("try", "SELECT pg_try_advisory_lock($1)");
    prepare("wait", "SELECT pg_advisory_lock($1)");
    prepare("unlock", "SELECT pg_advisory_unlock($1)");
}

void close_session(void)
{
    PQfinish(server);
}

void try_lock(void)
{
    execute("try", "t");
}

void wait_for_lock(void)
{
    execute("wait", "");
}

void unlock(void)
{
    execute("unlock", "t");
}
