/*
 * Options of DSNs for advisory locks in MySQL or MariaDB:
 *
 *     mysql:host=localhost;port=3306;dbname=test;user=u;password=p
 *     mysql://[user[:password]@][host[:port]][/dbname][?option=value&...]
 *
 * or the same with "+advisory" behind the scheme; as a URL also with mysql2:, mysqli:, mariadb: and
 * pdo-mysql:. In the first form, PDO's, a ";" within a value is written twice. The options are
 *
 *     host, port, user, password, dbname
 *     unix_socket     the socket, where the host is localhost or not given; for another host it
 *                     has no meaning, as in PDO
 *     charset         of messages; utf8mb4 is the default
 *     ssl_ca, ssl_capath, ssl_cert, ssl_key, ssl_cipher
 *                     any of them asks for TLS; also as driverOptions[1009], [1010], [1008], [1007]
 *                     and [1011], which is how PDO numbers them
 *     ssl_mode        disabled, required or verify_identity
 *     ssl_verify_server_cert
 *                     whether the server's certificate has to be right; also as
 *                     driverOptions[1014]. By default it has to with TLS, unless ssl_mode=required
 *                     stands without ssl_ca and ssl_capath
 *     enable_cleartext_plugin
 *                     whether the server may have the password as it is, by the method
 *                     mysql_clear_password (PAM, LDAP): only where its certificate is verified,
 *                     or over a socket
 *     program_name    for the server's list of attributes; latch is the default
 *     timeout         seconds to connect in, 0.001 to 86400; 0 is the default; connect_timeout is
 *                     the same
 *     read_timeout    seconds for a statement, the same
 *     persistent_id   connections are shared by stores with the same name
 *
 * default_dbname, defaultTableOptions, driver, driverClass, driverOptions, keepReplica, keepSlave,
 * persistent, platform, serverVersion and wrapperClass, which Doctrine knows, have no meaning here
 * and are accepted.
 */
#ifndef LATCH_MYSQL_OPTIONS_H
#define LATCH_MYSQL_OPTIONS_H

#include "src/base/base.h"

/* Schemes of DSNs; the first one is PDO's. NULL-terminated. */
#define LATCH_MYSQL_SCHEMES                                                                        \
    (const char *const[])                                                                          \
    {                                                                                              \
        "mysql", "mysql2", "mysqli", "pdo-mysql", "mariadb", NULL                                  \
    }

#define MYSQL_DEFAULT_PORT 3306

/* libmariadb has a function mysql_options(). */

typedef struct mysql_store_options {
    char *identity;     /* normal form: one connection for each; holds credentials, never to be
                           shown */
    char *address;      /* for messages: "127.0.0.1:3306", "[::1]:3306", "/run/mysqld.sock" or "the
                           default socket" */
    const char *host;   /* in lower case; NULL: a socket. localhost is one, whatever the port */
    int port;           /* 0 for a socket */
    const char *socket; /* NULL: a host, or libmariadb's default socket */
    const char *user;   /* NULL: none */
    const char *password; /* NULL: none */
    const char *database; /* NULL: none */
    bool tls;             /* no connection without it */
    bool verify;          /* nor with a server whose certificate names another host */
    bool cleartext;       /* the server may ask for the password as it is */
    /* NULL: not given, or no TLS */
    const char *ssl_key, *ssl_cert, *ssl_ca, *ssl_capath, *ssl_cipher;
    const char *charset;
    const char *program_name;
    int64_t connect_timeout_ns;
    int64_t command_timeout_ns;
    struct sql_dsn *dsn; /* where the texts are */
} mysql_store_options;

/*
 * Parses a DSN and its settings. Identities are equal exactly if the connection is the same,
 * however the DSNs are written. On success the caller frees the options by
 * latch_mysql_options_free(); on failure there is nothing to free, and the message names no
 * credential.
 */
latch_status latch_mysql_options_parse(latch_engine *engine, const latch_store_options *given,
                                       mysql_store_options *options, latch_error *error);

/* Wipes and frees the texts. May be called again, and on zeroed options. */
void latch_mysql_options_free(latch_engine *engine, mysql_store_options *options);

#endif
