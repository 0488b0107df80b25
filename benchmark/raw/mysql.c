/* MariaDB's and MySQL's locks by name, by libmariadb, blocking; see advisory.c. */
#include "advisory.h"

#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As long as those of the stores: a sha256 in hex. */
#define LOCK "'7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed'"

const char *const address_usage = "SOCKET USER DATABASE";
const int address_size = 3;

static MYSQL *server;

static void expect(bool good)
{
    if (!good) {
        fprintf(stderr, "mysql: %s\n", mysql_error(server));
        exit(EXIT_FAILURE);
    }
}

/* Runs a statement, which is to answer 1. */
static void execute(const char *statement)
{
    expect(mysql_real_query(server, statement, strlen(statement)) == 0);

    MYSQL_RES *result = mysql_store_result(server);

    expect(result != NULL);

    MYSQL_ROW row = mysql_fetch_row(result);

    expect(row && row[0] && strcmp(row[0], "1") == 0);
    mysql_free_result(result);
}

void open_session(char **address)
{
    server = mysql_init(NULL);
    expect(mysql_real_connect(server, NULL, address[1], NULL, address[2], 0, address[0], 0)
           != NULL);
}

void close_session(void)
{
    mysql_close(server);
}

void try_lock(void)
{
    execute("SELECT GET_LOCK(" LOCK ", 0)");
}

void wait_for_lock(void)
{
    execute("SELECT GET_LOCK(" LOCK ", 31536000)");
}

void unlock(void)
{
    execute("SELECT RELEASE_LOCK(" LOCK ")");
}
