/* Locks in a table of MariaDB or MySQL by libmariadb, blocking; see table.c. */
#include "table.h"

#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000)"
#define ACQUIRE_TEXT(name, token, ttl)                                                             \
    "INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (" name ", " token           \
    ", LEAST(CEIL(" NOW " + " ttl "), 4294967295)) ON DUPLICATE KEY UPDATE"                        \
    " key_token = IF(key_token = VALUES(key_token) OR key_expiration <= " NOW                      \
    ", VALUES(key_token), key_token), key_expiration = IF(key_token = VALUES(key_token),"          \
    " VALUES(key_expiration), key_expiration + 0 * LAST_INSERT_ID(1 + CEIL(1000 *"                 \
    " (key_expiration - " NOW "))))"
#define RELEASE_TEXT(name, token)                                                                  \
    "DELETE FROM lock_keys WHERE key_id IN (" name ") AND key_token = " token

const char *const address_usage = "SOCKET USER DATABASE";
const int address_size = 3;

static const struct {
    const char *text, *form;
} statements[STATEMENTS] = {
    [ACQUIRE] = {ACQUIRE_TEXT("'" ROW_NAME "'", "'" ROW_TOKEN "'", ROW_TTL),
                 ACQUIRE_TEXT("?", "?", "?")},
    [RELEASE] = {RELEASE_TEXT("'" ROW_NAME "'", "'" ROW_TOKEN "'"), RELEASE_TEXT("?", "?")},
};

static MYSQL *server;
static MYSQL_STMT *prepared[STATEMENTS];

static void expect(bool good)
{
    if (!good) {
        fprintf(stderr, "table_mysql: %s\n", mysql_error(server));
        exit(EXIT_FAILURE);
    }
}

static void prepare(int statement)
{
    static char name[] = ROW_NAME, token[] = ROW_TOKEN;
    static double ttl = 30;
    MYSQL_BIND values[] = {
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = name, .buffer_length = sizeof(name) - 1},
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = token, .buffer_length = sizeof(token) - 1},
        {.buffer_type = MYSQL_TYPE_DOUBLE, .buffer = &ttl},
    };
    const char *form = statements[statement].form;

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

void execute_as_store(int statement)
{
    const char *text = statements[statement].text;

    expect(mysql_real_query(server, text, strlen(text)) == 0 && mysql_affected_rows(server) == 1);
}

void execute_least(int statement)
{
    expect(mysql_stmt_execute(prepared[statement]) == 0
           && mysql_stmt_affected_rows(prepared[statement]) == 1);
}
