/*
 * Locks in a table, in a server of the test program's own: what is the same for PostgreSQL and
 * MySQL, by DSN or on a connection of the caller's.
 */
#ifndef TABLE_STORES_H
#define TABLE_STORES_H

#include "conformance.h"

typedef struct table_server {
    const char *dsn;
    const char *driver; /* PDO's name */
    int (*setup)(void **state);
    void (*run)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    long long (*number)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    const char *(*text)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    void (*end_sessions)(void);
    void (*await_sessions)(size_t count);
    latch_sql_runner (*runner)(void);
    const char *now; /* the server's time in seconds since 1970 */
} table_server;

extern table_server table_server_under_test; /* filled in before the first test */

/* The server as it was when it was new, without a table. */
int table_reset(void **state);
/* A store by the DSN, with what is formatted behind it; by a new connection of the caller's. NULL
 * and unit.error. */
latch_store *table_open_dsn(const latch_table_options *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
latch_store *table_open_client(const latch_table_options *table);
/* Ends when no session is left. */
void table_expect_nothing_left(void);

#endif
