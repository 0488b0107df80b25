/*
 * A database of SQLite in a directory of the test's own, and other programs that use it: by the
 * library alone, without anything of Latch.
 */
#ifndef UNIT_SQLITE_FILE_H
#define UNIT_SQLITE_FILE_H

#include "unit.h"

#define UNIT_SQLITE_TEXT 256 /* bytes of a path or a value */

typedef struct unit_sqlite_file {
    char directory[UNIT_PATH];
    char path[UNIT_SQLITE_TEXT];
    char dsn[UNIT_SQLITE_TEXT + 8];
} unit_sqlite_file;

extern unit_sqlite_file unit_sqlite;

/* For cmocka's groups: the directory. */
int unit_sqlite_group_setup(void **state);
int unit_sqlite_group_teardown(void **state);
/* Removes the database with its log and its journal. */
void unit_sqlite_remove(void);
/* Makes it anew by these statements. */
void unit_sqlite_create(const char *statements);

/* Executes statements in this process, on a connection that is closed again; returns the value of
 * the last row, which is valid until the next call. */
const char *unit_sqlite_run(const char *path, const char *statements);
/* Another process with a connection of its own executes these statements. At each word it executes
 * COMMIT and says 'y'; it ends with its parent's end of the pipe. */
unit_process unit_sqlite_peer(const char *statements);
void unit_sqlite_commit(const unit_process *peer);
/* How many descriptors of this process are of files in the directory? */
size_t unit_sqlite_open_files(void);

#endif
