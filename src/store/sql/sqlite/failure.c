/* Errors of SQLite: the outcomes of statements, and their messages. */
#include "src/store/sql/sqlite/database.h"

#include <stdio.h>
#include <string.h>

#define PRIMARY(code) ((code) &0xff)

/* It has no code of its own. */
static bool is_no_table(unsigned code, const char *message)
{
    return code == SQLITE_ERROR && strncmp(message, "no such table: ", 15) == 0;
}

static sql_outcome sqlite_outcome_of(unsigned code)
{
    switch (PRIMARY(code)) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL: /* a race for the locks of the write-ahead log */
            return SQL_BUSY;
        case SQLITE_NOMEM:
            return SQL_NO_MEMORY;
        case SQLITE_CANTOPEN:
        case SQLITE_IOERR:
            return SQL_LOST;
        default:
            return SQL_REFUSED;
    }
}

static const char *advice_on(unsigned code)
{
    switch (PRIMARY(code)) {
        case SQLITE_READONLY:
            return "; this process must be able to write to the file and to its folder";
        case SQLITE_CORRUPT:
            return "; the file is damaged: restore it, or remove it while nothing uses it";
        case SQLITE_NOTADB:
            return "; it is another program's file, or encrypted";
        case SQLITE_FULL:
            return "; there is no room for it on the disk";
        default:
            return "";
    }
}

void latch_sqlite_fail(sqlite3 *handle, sqlite_reply *reply)
{
    unsigned code = (unsigned) sqlite3_extended_errcode(handle);
    const char *message = sqlite3_errmsg(handle);
    int sys_errno = PRIMARY(code) == SQLITE_CANTOPEN || PRIMARY(code) == SQLITE_IOERR
                        ? sqlite3_system_errno(handle)
                        : 0;
    const char *why = sys_errno != 0 ? strerror(sys_errno) : "";

    if (code == SQLITE_READONLY_DBMOVED) {
        latch_sqlite_fail_moved(reply);
        return;
    }
    reply->code = code;
    reply->sys_errno = sys_errno;
    reply->outcome = is_no_table(code, message) ? SQL_NO_TABLE : sqlite_outcome_of(code);
    snprintf(reply->trouble, sizeof(reply->trouble), "%.150s%s%s%s", message,
             *why != '\0' ? ": " : "", why, advice_on(code));
}

void latch_sqlite_fail_moved(sqlite_reply *reply)
{
    reply->outcome = SQL_LOST;
    reply->code = SQLITE_READONLY_DBMOVED;
    snprintf(reply->trouble, sizeof(reply->trouble), "the file was removed or replaced");
}
