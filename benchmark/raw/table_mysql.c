/* Locks in a table of MariaDB or MySQL by libmariadb, blocking; see table.c. */
#include "table.h"

#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000)"
#define ACQUIRE_FORM                                                                               \
    "INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, LEAST(CEIL(" NOW      \
    " + ?), 4294967295)) ON DUPLICATE KEY UPDATE"                                                  \
    " key_token = IF(key_token = VALUES(key_token) OR key_expiration <= " NOW                      \
    ", VALUES(key_token), key_token), key_expiration = IF(key_token = VALUES(key_token),"          \
    " VALUES(key_expiration), key_expiration + 0 * LAST_INSERT_ID(1 + CEIL(1000 *"                 \
    " (key_expiration - " NOW "))))"
#define RELEASE_FORM "DELETE FROM lock_keys WHERE key_id IN (?) AND key_token = ?"

const char *const address_usage = "SOCKET USER DATABASE";
const int address_size = 3;

static const char *const forms[STATEMENTS] = {[ACQUIRE] = ACQUIRE_FORM, [RELEASE] = RELEASE_FORM};

static MYSQL *server;
static MYSQL_STMT *prepared[STATEMENTS];

static void expect(bool good)
{
    if (!good) {
        fprintf(stderr, "table_mysql: %s\n", mysql_error(server));
        exit(EXIT_FAILURE);
    }
}

/* As the store has them once they are prepared: all parameters are texts. */
static void prepare(int statement)
{
    static char name[] = ROW_NAME, token[] = ROW_TOKEN, ttl[] = ROW_TTL;
    MYSQL_BIND values[] = {
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = name, .buffer_length = sizeof(name) - 1},
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = token, .buffer_length = sizeof(token) - 1},
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = ttl, .buffer_length = sizeof(ttl) - 1},
    };
    const char *form = forms[statement];

    prepared[statement] = mysql_stmt_init(server);
    expect(prepared[statement] != NULL
           && mysql_stmt_prepare(prepared[statement], form, strlen(form)) == 0
           && mysql_stmt_bind_param(prepared[statement], values) == 0);
}

void open_session(char **address)
{
    server = mysql_init(NULL);
    expect(mysql_real_connect(server, NULL, address[1], NULL, address[2], 0, address[0], 0)
           != NULL);
    prepare(ACQUIRE);
    prepare(RELEASE);
}

void close_session(void)
{
    for (int at = 0; at < STATEMENTS; at++) {
        mysql_stmt_close(prepared[at]);
    }
    mysql_close(server);
}

void execute_least(int statement)
{
    expect(mysql_stmt_execute(prepared[statement]) == 0
           && mysql_stmt_affected_rows(prepared[statement]) == 1);
}

void execute_as_store(int statement)
{
    execute_least(statement);
}
