/*
 * libsqlite3, opened at run time: in place of its own header. See library.h in src/base.
 *
 * It has to be the one that pdo_sqlite has, by the same soname: a process loses the locks of a file
 * when it closes any descriptor of the file, and a second copy of the library would not know of the
 * first one's.
 */
#ifndef LATCH_SQLITE_LIBRARY_H
#define LATCH_SQLITE_LIBRARY_H

#include "src/base/library.h"

#include <sqlite3.h>

/* clang-format off */
#define SQLITE_FUNCTIONS(X) \
    X(sqlite3_bind_text) X(sqlite3_changes) X(sqlite3_close) X(sqlite3_column_bytes) \
    X(sqlite3_column_text) X(sqlite3_db_config) X(sqlite3_db_filename) X(sqlite3_errmsg) \
    X(sqlite3_exec) X(sqlite3_extended_errcode) X(sqlite3_file_control) X(sqlite3_finalize) \
    X(sqlite3_get_autocommit) X(sqlite3_open_v2) X(sqlite3_prepare_v2) X(sqlite3_reset) \
    X(sqlite3_step) X(sqlite3_stmt_readonly) X(sqlite3_system_errno) X(sqlite3_total_changes)
/* clang-format on */

LATCH_LIBRARY_DECLARE(latch_libsqlite3, SQLITE_FUNCTIONS)

#define sqlite3_bind_text latch_libsqlite3.sqlite3_bind_text
#define sqlite3_changes latch_libsqlite3.sqlite3_changes
#define sqlite3_close latch_libsqlite3.sqlite3_close
#define sqlite3_column_bytes latch_libsqlite3.sqlite3_column_bytes
#define sqlite3_column_text latch_libsqlite3.sqlite3_column_text
#define sqlite3_db_config latch_libsqlite3.sqlite3_db_config
#define sqlite3_db_filename latch_libsqlite3.sqlite3_db_filename
#define sqlite3_errmsg latch_libsqlite3.sqlite3_errmsg
#define sqlite3_exec latch_libsqlite3.sqlite3_exec
#define sqlite3_extended_errcode latch_libsqlite3.sqlite3_extended_errcode
#define sqlite3_file_control latch_libsqlite3.sqlite3_file_control
#define sqlite3_finalize latch_libsqlite3.sqlite3_finalize
#define sqlite3_get_autocommit latch_libsqlite3.sqlite3_get_autocommit
#define sqlite3_open_v2 latch_libsqlite3.sqlite3_open_v2
#define sqlite3_prepare_v2 latch_libsqlite3.sqlite3_prepare_v2
#define sqlite3_reset latch_libsqlite3.sqlite3_reset
#define sqlite3_step latch_libsqlite3.sqlite3_step
#define sqlite3_stmt_readonly latch_libsqlite3.sqlite3_stmt_readonly
#define sqlite3_system_errno latch_libsqlite3.sqlite3_system_errno
#define sqlite3_total_changes latch_libsqlite3.sqlite3_total_changes

#endif
