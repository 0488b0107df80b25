/* Parser of Redis DSNs: shared by options.c, table.c and tls.c. */
#ifndef LATCH_REDIS_DSN_PARSER_H
#define LATCH_REDIS_DSN_PARSER_H

#include "src/store/redis/options/options.h"
#include "src/store/redis/options/tls.h"
#include "src/base/dsn.h"

#define REDIS_DSN_ERROR "invalid Redis DSN: "

#define REDIS_PLACES_MAX 32 /* for each of them redis/topology/sentinel.c has a bit */

/* State of the parser. The texts are the DSN's. */
typedef struct redis_dsn_parser {
    const latch_dsn *dsn;
    redis_options *options; /* numbers at once; the texts when all is parsed */
    latch_error *error;
    const latch_dsn_option *option; /* the current option, and its name */
    const char *name;

    struct {
        const char *host, *path; /* one of them */
        size_t length;
        int port; /* 0: not given */
    } places[REDIS_PLACES_MAX];
    size_t place_count;
    const char *auth;         /* the password that the option "auth" gives */
    const char *auth_list[2]; /* user and password of "auth[]" */
    int auth_count;
    const char *prefix, *persistent_id, *sentinel;
    bool is_tls, has_tls_options;
    redis_tls_settings tls;
    int64_t path_database, option_database; /* -1: not given */
} redis_dsn_parser;

/* Parses parser->option, or describes its error. */
latch_status latch_redis_parse_option(redis_dsn_parser *parser);

/* ---- tls.c */

/* Parses parser->option, "ssl[...]". */
latch_status latch_redis_parse_tls_option(redis_dsn_parser *parser);
/* When all options are parsed: are the TLS options consistent with them? */
latch_status latch_redis_check_tls(const redis_dsn_parser *parser);
/* Writes the TLS options other than texts, for the identity of a connection. */
void latch_redis_describe_tls(const redis_dsn_parser *parser, char *text, size_t size);

/* ---- table.c */

/* Adds a server: by host and port, or by the path of its socket. */
latch_status latch_redis_add_host(redis_dsn_parser *parser, const char *host, size_t length,
                                  int port);
latch_status latch_redis_add_socket(redis_dsn_parser *parser, const char *path, size_t length);

/* Parses the number of a database; -1: not a number. */
int64_t latch_redis_read_database(const char *text, size_t length);
latch_status latch_redis_fail_database(const redis_dsn_parser *parser);
latch_status latch_redis_fail_auth(const redis_dsn_parser *parser);

#endif
