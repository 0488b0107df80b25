/* Locks in a table of SQLite by its library; see table.c. */
#include "table.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define BUSY_MS 10000

#define NOW "((julianday('now') - 2440587.5) * 86400.0)"

/* Prepared once, as the store does it, which binds texts. */
static const char *const texts[STATEMENTS] = {
    [ACQUIRE] = "INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES (?, ?, " NOW
                " + ? + 0.001) ON CONFLICT (key_id) DO UPDATE"
                " SET key_token = excluded.key_token, key_expiration = excluded.key_expiration"
                " WHERE key_token = excluded.key_token OR key_expiration <= " NOW,
    [RELEASE] = "DELETE FROM lock_keys WHERE key_id IN (?) AND key_token = ?",
};

static const int parameters[STATEMENTS] = {[ACQUIRE] = 3, [RELEASE] = 2};

const char *const address_usage = "FILE";
const int address_size = 1;

static sqlite3 *database;
static sqlite3_stmt *prepared[STATEMENTS];

static void expect(bool good)
{
    if (!good) {
        fprintf(stderr, "table_sqlite: %s\n", sqlite3_errmsg(database));
        exit(EXIT_FAILURE);
    }
}

void open_session(char **address)
{
    expect(sqlite3_open(*address, &database) == SQLITE_OK);
    sqlite3_busy_timeout(database, BUSY_MS); /* others are at work while this begins */
    for (int at = 0; at < STATEMENTS; at++) {
        expect(sqlite3_prepare_v2(database, texts[at], -1, &prepared[at], NULL) == SQLITE_OK);
    }
}

void close_session(void)
{
    for (int at = 0; at < STATEMENTS; at++) {
        sqlite3_finalize(prepared[at]);
    }
    sqlite3_close(database);
}

void execute_least(int statement)
{
    static const char *const values[] = {ROW_NAME, ROW_TOKEN, ROW_TTL};
    sqlite3_stmt *made = prepared[statement];

    for (int at = 0; at < parameters[statement]; at++) {
        sqlite3_bind_text(made, at + 1, values[at], -1, SQLITE_STATIC);
    }
    expect(sqlite3_step(made) == SQLITE_DONE && sqlite3_changes(database) == 1);
    sqlite3_reset(made);
}

void execute_as_store(int statement)
{
    execute_least(statement);
}
