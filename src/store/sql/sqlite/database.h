/*
 * A connection to a database: what driver.c makes a session of.
 *
 * SQLite's state of a file is the process's, and is wrong in a forked child: it counts locks that
 * the child does not have, so that the child would write to a file that others take for theirs. So
 * no connection to a file is carried over a fork: it is closed before, and opened again when it is
 * needed, in both processes. A database in memory stays open; the child leaks its copy.
 */
#ifndef LATCH_SQLITE_DATABASE_H
#define LATCH_SQLITE_DATABASE_H

#include "src/base/context.h"
#include "src/store/sql/session/session.h"
#include "src/store/sql/sqlite/library.h"
#include "src/store/sql/sqlite/options.h"

#define SQLITE_PREPARED_MAX 12

/* A form that was prepared. */
typedef struct sqlite_prepared {
    char *text; /* NULL: none */
    sqlite3_stmt *stmt;
} sqlite_prepared;

typedef struct sqlite_database {
    latch_engine *engine;
    const sqlite_options *options;
    latch_fork_hook hook;
    pthread_mutex_t mutex; /* guards what follows, and each call of the library; held over a fork */
    sqlite3 *handle;       /* NULL: closed */
    bool has_file;         /* else it is in memory */
    unsigned generation;   /* of the process that has opened it */
    sqlite_prepared prepared[SQLITE_PREPARED_MAX];
    unsigned replaced; /* the place of the next one that is prepared when there is no room */
} sqlite_database;

/* What became of a statement. */
typedef struct sqlite_reply {
    sql_outcome outcome; /* SQL_BUSY: another connection has locked the database */
    sql_result result;   /* SQL_ANSWERED */
    unsigned code;       /* SQLite's extended result code */
    int sys_errno;       /* of a file that cannot be opened, read or written; 0: none */
    char trouble[256];   /* any other outcome */
} sqlite_reply;

void latch_sqlite_database_init(sqlite_database *database, latch_engine *engine,
                                const sqlite_options *options);
void latch_sqlite_database_destroy(sqlite_database *database);

/* Opens the file, without reading it; what is open already, stays so. False: `reply` says why. */
bool latch_sqlite_database_open(sqlite_database *database, sqlite_reply *reply);
void latch_sqlite_database_close(sqlite_database *database);
/* Was its file removed or replaced? */
bool latch_sqlite_database_is_moved(sqlite_database *database);

/*
 * Carries out a statement, which is all or nothing, without waiting. What was closed or has moved
 * is opened anew, but for a `retry`: then it is lost.
 */
void latch_sqlite_database_run(sqlite_database *database, const sql_statement *statement,
                               bool is_retry, sqlite_reply *reply);

/* ---- failure.c */

/* Fills in the outcome of a call that has failed, with the reason. */
void latch_sqlite_fail(sqlite3 *handle, sqlite_reply *reply);
/* The file was removed or replaced. */
void latch_sqlite_fail_moved(sqlite_reply *reply);

#endif
