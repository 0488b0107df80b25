/* A connection to a database of SQLite: see database.h. */
#include "src/store/sql/sqlite/database.h"

#include <stdio.h>
#include <string.h>

#define URI_MAX 96

/* ---- Opening and closing --------------------------------------------------------------------- */

static void forget_prepared(sqlite_database *database, sqlite_prepared *prepared, bool finalizes)
{
    if (finalizes) {
        sqlite3_finalize(prepared->stmt);
    }
    latch_free(database->engine, prepared->text);
    *prepared = (sqlite_prepared){.text = NULL};
}

/* In a child the copy of a database in memory is leaked: SQLite closes no copies. */
static void sqlite_close(sqlite_database *database)
{
    bool closes = database->generation == database->engine->generation;

    if (database->handle == NULL) {
        return;
    }
    for (unsigned at = 0; at < SQLITE_PREPARED_MAX; at++) {
        forget_prepared(database, &database->prepared[at], closes);
    }
    if (closes) {
        sqlite3_close(database->handle);
    }
    database->handle = NULL;
}

/* Clones share a database in memory by its name; a child makes one of its own. */
static void write_memory_uri(const sqlite_database *database, char uri[URI_MAX])
{
    snprintf(uri, URI_MAX, "file:latch-%u-%u?mode=memory&cache=shared", database->options->memory,
             database->engine->generation);
}

/* One thread at a time uses a connection. A new one has no busy handler, which would sleep. */
static bool sqlite_open(sqlite_database *database, sqlite_reply *reply)
{
    const sqlite_options *options = database->options;
    const char *path = options->path;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    char uri[URI_MAX];

    if (options->memory != 0) {
        write_memory_uri(database, uri);
        path = uri;
    }
    flags |= options->is_uri || options->memory != 0 ? SQLITE_OPEN_URI : 0;
    if (sqlite3_open_v2(path, &database->handle, flags, NULL) != SQLITE_OK) {
        latch_sqlite_fail(database->handle, reply);
        sqlite3_close(database->handle);
        database->handle = NULL;
        return false;
    }
    database->has_file = *sqlite3_db_filename(database->handle, "main") != '\0';
    database->generation = database->engine->generation;
    return true;
}

/* Compares the file's inode with that of its path. */
static bool is_moved(const sqlite_database *database)
{
    int moved = 0;

    return sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
               == SQLITE_OK
           && moved != 0;
}

bool latch_sqlite_database_open(sqlite_database *database, sqlite_reply *reply)
{
    bool is_open;

    pthread_mutex_lock(&database->mutex);
    is_open = database->handle != NULL || sqlite_open(database, reply);
    pthread_mutex_unlock(&database->mutex);
    return is_open;
}

void latch_sqlite_database_close(sqlite_database *database)
{
    pthread_mutex_lock(&database->mutex);
    sqlite_close(database);
    pthread_mutex_unlock(&database->mutex);
}

bool latch_sqlite_database_is_moved(sqlite_database *database)
{
    bool moved;

    pthread_mutex_lock(&database->mutex);
    moved = database->handle != NULL && is_moved(database);
    pthread_mutex_unlock(&database->mutex);
    return moved;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static sqlite_database *database_of(latch_fork_hook *hook)
{
    return LATCH_CONTAINER(hook, sqlite_database, hook);
}

/* Without the checkpoint of the last connection that is closed: it will soon be opened again. */
static void close_before_fork(latch_fork_hook *hook)
{
    sqlite_database *database = database_of(hook);

    pthread_mutex_lock(&database->mutex);
    if (database->handle != NULL && database->has_file) {
        sqlite3_db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite_close(database);
    }
}

static void unlock_after_fork(latch_fork_hook *hook)
{
    pthread_mutex_unlock(&database_of(hook)->mutex);
}

void latch_sqlite_database_init(sqlite_database *database, latch_engine *engine,
                                const sqlite_options *options)
{
    memset(database, 0, sizeof(*database));
    database->engine = engine;
    database->options = options;
    database->hook.before = close_before_fork;
    database->hook.after = unlock_after_fork;
    pthread_mutex_init(&database->mutex, NULL);
    latch_fork_hook_add(engine, &database->hook);
}

void latch_sqlite_database_destroy(sqlite_database *database)
{
    latch_fork_hook_remove(database->engine, &database->hook);
    sqlite_close(database);
    pthread_mutex_destroy(&database->mutex);
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* The value of the first row, whose end the caller steps to unless nothing was written. */
static void keep_value(sqlite3_stmt *stmt, char value[SQL_VALUE_MAX])
{
    const char *text = (const char *) sqlite3_column_text(stmt, 0);
    size_t length = text != NULL ? (size_t) sqlite3_column_bytes(stmt, 0) : 0;

    length = length < SQL_VALUE_MAX ? length : SQL_VALUE_MAX - 1;
    if (length > 0) {
        memcpy(value, text, length);
    }
    value[length] = '\0';
}

/* Steps to the end: what is written is committed there. */
static bool execute_statement(sqlite_database *database, sqlite3_stmt *stmt, sqlite_reply *reply)
{
    int before = sqlite3_total_changes(database->handle), code = sqlite3_step(stmt);

    reply->result.value[0] = '\0';
    if (code == SQLITE_ROW) {
        keep_value(stmt, reply->result.value);
        while (code == SQLITE_ROW && !sqlite3_stmt_readonly(stmt)) {
            code = sqlite3_step(stmt);
        }
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        latch_sqlite_fail(database->handle, reply);
    }
    /* The number of changes is an earlier statement's after one that writes no rows. */
    reply->result.affected =
        sqlite3_total_changes(database->handle) != before ? sqlite3_changes(database->handle) : 0;
    reply->result.insert_id = 0;
    sqlite3_reset(stmt);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/* The statement at the beginning of a text; *end is behind it. *stmt is NULL for a blank. */
static bool prepare_first(sqlite_database *database, const char *text, sqlite3_stmt **stmt,
                          const char **end, sqlite_reply *reply)
{
    if (sqlite3_prepare_v2(database->handle, text, -1, stmt, end) == SQLITE_OK) {
        return true;
    }
    latch_sqlite_fail(database->handle, reply);
    return false;
}

/* A text of one statement or more, of which the last one answers. */
static bool run_text(sqlite_database *database, const char *text, sqlite_reply *reply)
{
    bool is_done = true;

    while (is_done && *text != '\0') {
        sqlite3_stmt *stmt;

        is_done = prepare_first(database, text, &stmt, &text, reply);
        if (is_done && stmt != NULL) {
            is_done = execute_statement(database, stmt, reply);
            sqlite3_finalize(stmt);
        }
    }
    if (!is_done && sqlite3_get_autocommit(database->handle) == 0) {
        sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
    }
    return is_done;
}

/* The place of the form, which is empty unless it was prepared. */
static sqlite_prepared *find_sqlite_prepared(sqlite_database *database, const char *text)
{
    sqlite_prepared *replaced;

    for (unsigned at = 0; at < SQLITE_PREPARED_MAX; at++) {
        sqlite_prepared *prepared = &database->prepared[at];

        if (prepared->text == NULL || strcmp(prepared->text, text) == 0) {
            return prepared;
        }
    }
    replaced = &database->prepared[database->replaced++ % SQLITE_PREPARED_MAX];
    forget_prepared(database, replaced, true);
    return replaced;
}

/* NULL: `reply` says why. */
static sqlite3_stmt *prepare_form(sqlite_database *database, const char *text, sqlite_reply *reply)
{
    sqlite_prepared *prepared = find_sqlite_prepared(database, text);
    const char *end;
    size_t size = strlen(text) + 1;

    if (prepared->text != NULL) {
        return prepared->stmt;
    }
    prepared->text = latch_allocate(database->engine, size);
    if (prepared->text == NULL) {
        reply->outcome = SQL_NO_MEMORY;
        return NULL;
    }
    memcpy(prepared->text, text, size);
    if (!prepare_first(database, text, &prepared->stmt, &end, reply)) {
        forget_prepared(database, prepared, true);
    }
    return prepared->stmt;
}

static bool run_form(sqlite_database *database, const sql_statement *statement, sqlite_reply *reply)
{
    char text[SQL_TEXT_MAX];
    sql_values values = {.count = 0};
    sqlite3_stmt *stmt;

    statement->class->write_form(statement, text, &values);
    stmt = prepare_form(database, text, reply);
    if (stmt == NULL) {
        return false;
    }
    for (unsigned at = 0; at < values.count; at++) {
        if (sqlite3_bind_text(stmt, (int) at + 1, values.all[at].text, (int) values.all[at].length,
                              SQLITE_STATIC)
            != SQLITE_OK) {
            latch_sqlite_fail(database->handle, reply);
            return false;
        }
    }
    return execute_statement(database, stmt, reply);
}

static bool run_any(sqlite_database *database, const sql_statement *statement, sqlite_reply *reply)
{
    char text[SQL_TEXT_MAX];

    if (statement->class->write_form != NULL) {
        return run_form(database, statement, reply);
    }
    statement->class->write(statement, text);
    return run_text(database, text, reply);
}

/* False: `reply` says why. */
static bool make_ready(sqlite_database *database, bool is_retry, sqlite_reply *reply)
{
    if (database->handle != NULL && is_moved(database)) {
        if (is_retry) {
            latch_sqlite_fail_moved(reply);
            return false;
        }
        sqlite_close(database);
    }
    return database->handle != NULL || sqlite_open(database, reply);
}

void latch_sqlite_database_run(sqlite_database *database, const sql_statement *statement,
                               bool is_retry, sqlite_reply *reply)
{
    reply->outcome = SQL_ANSWERED;
    pthread_mutex_lock(&database->mutex);
    if (make_ready(database, is_retry, reply) && run_any(database, statement, reply)
        && is_moved(database)) {
        latch_sqlite_fail_moved(reply); /* meanwhile: what was written, nobody else will see */
    }
    pthread_mutex_unlock(&database->mutex);
}
