/*
 * Options of DSNs for SQLite, as PDO and Doctrine understand them:
 *
 *     sqlite:/path/of/file          all behind the colon is the path; sqlite::memory:
 *     sqlite:file:/path?mode=ro     SQLite's own form of a URI
 *     sqlite:////path/of/file       the path begins behind the third slash: this one is absolute
 *     sqlite:///file?option=value   and this one relative; sqlite:///:memory:
 *
 * The last two also with sqlite3:, pdo-sqlite: and pdo-sqlite3:, and with a user and a host, which
 * mean nothing. A relative path begins in the folder that is the process's when the store is made.
 * The options are
 *
 *     path            the path of the file
 *     memory          1: a database in memory
 *     read_timeout    seconds that a statement waits for another program's transaction, 0.001 to
 *                     86400; 0 is the default, 5
 *     persistent_id   connections are shared by stores with the same name
 *
 * timeout and connect_timeout, charset, default_dbname, defaultTableOptions, driver, driverClass,
 * driverOptions, keepReplica, keepSlave, persistent, platform, serverVersion and wrapperClass,
 * which Doctrine or the other servers' stores know, have no meaning here and are accepted.
 */
#ifndef LATCH_SQLITE_OPTIONS_H
#define LATCH_SQLITE_OPTIONS_H

#include "src/base/base.h"

/* Schemes of DSNs; the first one is PDO's. NULL-terminated. */
#define LATCH_SQLITE_SCHEMES                                                                       \
    (const char *const[])                                                                          \
    {                                                                                              \
        "sqlite", "sqlite3", "pdo-sqlite", "pdo-sqlite3", NULL                                     \
    }

typedef struct sqlite_options {
    char *identity;  /* normal form: one connection for each */
    char *path;      /* absolute, a URI, or ":memory:"; also for messages */
    bool is_uri;     /* the path is a URI */
    unsigned memory; /* number of the database in memory; 0: it is in a file */
    int64_t connect_timeout_ns;
    int64_t command_timeout_ns;
} sqlite_options;

/*
 * Parses a DSN and its settings. Identities are equal exactly if the connection is the same; each
 * database in memory is one of its own. On success the caller frees the options by
 * latch_sqlite_options_free(); on failure there is nothing to free.
 */
latch_status latch_sqlite_options_parse(latch_engine *engine, const latch_store_options *given,
                                        sqlite_options *options, latch_error *error);

/* Frees the texts. May be called again, and on zeroed options. */
void latch_sqlite_options_free(latch_engine *engine, sqlite_options *options);

#endif
