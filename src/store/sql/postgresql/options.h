/*
 * Options of DSNs for advisory locks in PostgreSQL:
 *
 *     pgsql:host=localhost;port=5432;dbname=test;user=u;password=p
 *     postgresql://[user[:password]@][host[:port]][/dbname][?option=value&...]
 *
 * or the same with "+advisory" behind the scheme; as a URL also with postgres:, pgsql: and
 * pdo-pgsql:. In the first form, PDO's, a ";" is a blank wherever it stands, and values are quoted
 * as libpq has it: 'it\'s'. The options are libpq's own, those of the installed version, and
 *
 *     timeout         seconds to connect in, 0.001 to 86400; 0 is the default; libpq's
 *                     connect_timeout is the same
 *     read_timeout    seconds for a statement, the same
 *     digest          crc32, as Symfony's, or sha256: the number that stands for a resource
 *     persistent_id   connections are shared by stores with the same name
 *
 * charset, default_dbname, defaultTableOptions, driver, driverClass, driverOptions, keepReplica,
 * keepSlave, persistent, platform, serverVersion and wrapperClass, which Doctrine knows, have no
 * meaning here and are accepted. libpq supplies all other defaults, also from the environment.
 */
#ifndef LATCH_POSTGRESQL_OPTIONS_H
#define LATCH_POSTGRESQL_OPTIONS_H

#include "src/base/base.h"

/* Schemes of DSNs; the first one is PDO's. NULL-terminated. */
#define LATCH_POSTGRESQL_SCHEMES                                                                   \
    (const char *const[])                                                                          \
    {                                                                                              \
        "pgsql", "postgresql", "postgres", "pdo-pgsql", NULL                                       \
    }

typedef enum { POSTGRESQL_CRC32 = 0, POSTGRESQL_SHA256 } postgresql_digest;

/* Candidate server; libpq tries them in order. */
typedef struct postgresql_host {
    const char *name;    /* a name, an address or a socket's folder; NULL: libpq's default */
    const char *address; /* of the option "hostaddr"; NULL: none */
    const char *port;    /* NULL: libpq's default */
    bool resolve;        /* libpq would resolve the name, and block meanwhile */
} postgresql_host;

typedef struct postgresql_options {
    char *identity; /* normal form: one connection for each; holds credentials, never to be shown */
    char *address;  /* for messages: "127.0.0.1:5432", "[::1]:5432", "/run/.s.PGSQL.5432" or "the
                       default server"; several with ", " between them */
    /* NULL-terminated, for PQconnectStartParams() with expand_dbname 0. What comes after them, such
       as addresses for `host`, goes before them. Without connect_timeout. */
    const char **keywords, **values;
    size_t parameter_count;
    postgresql_host *hosts;
    size_t host_count; /* 1 at least */
    int64_t connect_timeout_ns;
    int64_t command_timeout_ns;
    postgresql_digest digest;
    struct sql_dsn *dsn; /* where the texts are */
} postgresql_options;

/*
 * Parses a DSN and its settings. Identities are equal exactly if connection and digest are the
 * same, however the DSNs are written. On success the caller frees the options by
 * latch_postgresql_options_free(); on failure there is nothing to free, and the message names no
 * credential.
 */
latch_status latch_postgresql_options_parse(latch_engine *engine, const latch_store_options *given,
                                            postgresql_options *options, latch_error *error);

/* Wipes and frees the texts. May be called again, and on zeroed options. */
void latch_postgresql_options_free(latch_engine *engine, postgresql_options *options);

#endif
