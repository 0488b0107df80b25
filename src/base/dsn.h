/*
 * DSN parser, compatible with Symfony's:
 * "scheme:[//][[user:]password@][host[:port]][/path][?name=value&...]".
 *
 * A lone user name is the password. User and password end at the first "@", so that "/", "?" and
 * "#" need no encoding there. After it "@", "#" and control characters have to be percent-encoded:
 * Symfony would drop what follows them, or, where they are part of a password, take the rest of it
 * for a host or an option.
 */
#ifndef LATCH_DSN_H
#define LATCH_DSN_H

#include "src/base/base.h"

/* The longest DSN, in bytes. */
#define LATCH_DSN_MAX 4096

typedef struct latch_dsn_option {
    struct latch_dsn_option *next;
    const char *name;  /* decoded; "host[a:1]" keeps its brackets, which are balanced */
    const char *value; /* decoded, "+" is a space; "" when not given */
} latch_dsn_option;

/* All texts are decoded, none has a NUL within. */
typedef struct latch_dsn {
    const char *scheme;
    const char *user, *password; /* NULL when not given */
    const char *host;            /* NULL when none; an IPv6 address without its brackets */
    int port;                    /* 0 when not given */
    const char *path;            /* "" or with a leading slash */
    latch_dsn_option *options;   /* in their order */
    size_t size;                 /* of the one allocation that all is in */
} latch_dsn;

/*
 * Parses a DSN; the caller frees *dsn by latch_dsn_free(). The message of LATCH_ERROR_ARGUMENT
 * quotes nothing of the text, which may contain credentials anywhere.
 */
latch_status latch_dsn_parse(latch_engine *engine, const char *text, size_t length, latch_dsn **dsn,
                             latch_error *error);

/* Wipes and frees it; accepts NULL. */
void latch_dsn_free(latch_engine *engine, latch_dsn *dsn);

/*
 * Splits "host", "host:port", "[::1]" or "[::1]:port", decoded already. *host points into `text`
 * and is *host_length bytes long; *port is 0 when not given. A text with several colons and no
 * brackets is split at the last colon.
 */
latch_status latch_dsn_split_host(const char *text, size_t length, const char **host,
                                  size_t *host_length, int *port, latch_error *error);

/* Is it an IPv4 address, or an IPv6 address without brackets, with or without a zone? */
bool latch_dsn_is_address(const char *host, size_t length);

/*
 * May an error show the name of this unknown option? A name that is no word, or has no value
 * ("?password", "?cGFzc3dvcmQ=="), may be a misplaced password.
 */
bool latch_dsn_may_show(const char *name, const char *value);

/* False for the text of a key or a certificate (PEM) in the place of a file's name, which errors
 * show. */
bool latch_dsn_is_path(const char *value);

/* ---- Values of options. Not by strtod() and the like, which depend on the locale. */

/* Digits alone, `max` at most; -1: something else, or too many. */
int64_t latch_dsn_read_number(const char *text, size_t length, int64_t max);

/* Seconds such as "5", "0.25" and ".5", in nanoseconds; parts of one count as one. -1: something
 * else, or more than `max_s` whole ones. */
int64_t latch_dsn_read_seconds(const char *text, int64_t max_s);

/* As PHP reads a boolean: 0, 1, or -1 for something else. */
int latch_dsn_read_boolean(const char *text);

#endif
