/* The options of a DSN for Redis, one by one: a function for each, and a table of them. */
#include "src/store/redis/options/parser.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define SOCKET_MAX (sizeof(((struct sockaddr_un *) NULL)->sun_path) - 1)

static latch_status fail_parse(const redis_dsn_parser *parser, const char *what)
{
    return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0, REDIS_DSN_ERROR "%s", what);
}

static latch_status fail_option(const redis_dsn_parser *parser, const char *what)
{
    return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                      REDIS_DSN_ERROR "the option \"%s\" %s", parser->name, what);
}

static latch_status fail_option_not_yet(const redis_dsn_parser *parser, const char *what)
{
    return latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0,
                      REDIS_DSN_ERROR
                      "the option \"%s\" asks for %s, which this version of Latch does not "
                      "have yet",
                      parser->name, what);
}

/* ---- Options: each function takes reading->option */

static latch_status ignore_option(redis_dsn_parser *parser)
{
    (void) parser;
    return LATCH_DONE;
}

/* 0 is the default, as it is one or none at all elsewhere: a wait without end is not to be had. */
static latch_status parse_seconds(redis_dsn_parser *parser, int64_t default_ns, int64_t *timeout_ns)
{
    int64_t ns = latch_dsn_read_seconds(parser->option->value, REDIS_MAX_TIMEOUT_S);

    if (ns == 0) {
        ns = default_ns;
    }
    if (ns < LATCH_NS_PER_MS || ns > REDIS_MAX_TIMEOUT_S * LATCH_NS_PER_S) {
        return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                          REDIS_DSN_ERROR
                          "the option \"%s\" is a number of seconds from 0.001 to %d, such "
                          "as \"2.5\"",
                          parser->name, REDIS_MAX_TIMEOUT_S);
    }
    *timeout_ns = ns;
    return LATCH_DONE;
}

static latch_status parse_timeout(redis_dsn_parser *parser)
{
    return parse_seconds(parser, REDIS_DEFAULT_CONNECT_TIMEOUT_NS,
                         &parser->options->connect_timeout_ns);
}

static latch_status parse_read_timeout(redis_dsn_parser *parser)
{
    return parse_seconds(parser, REDIS_DEFAULT_COMMAND_TIMEOUT_NS,
                         &parser->options->command_timeout_ns);
}

static latch_status parse_keepalive(redis_dsn_parser *parser)
{
    const char *value = parser->option->value;
    int64_t seconds = latch_dsn_read_number(value, strlen(value), REDIS_MAX_KEEPALIVE_S);

    if (seconds < 0) {
        return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                          REDIS_DSN_ERROR
                          "the option \"%s\" is a whole number of seconds from 0 (off) to %d",
                          parser->name, REDIS_MAX_KEEPALIVE_S);
    }
    parser->options->keepalive_s = (int) seconds;
    return LATCH_DONE;
}

int64_t latch_redis_read_database(const char *text, size_t length)
{
    return latch_dsn_read_number(text, length, INT_MAX);
}

latch_status latch_redis_fail_database(const redis_dsn_parser *parser)
{
    return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                      REDIS_DSN_ERROR
                      "the database, at the end of the path or as the option \"dbindex\", is "
                      "a number from 0 to %d",
                      INT_MAX);
}

static latch_status parse_database(redis_dsn_parser *parser)
{
    const char *value = parser->option->value;

    parser->option_database = latch_redis_read_database(value, strlen(value));
    return parser->option_database >= 0 ? LATCH_DONE : latch_redis_fail_database(parser);
}

latch_status latch_redis_fail_auth(const redis_dsn_parser *parser)
{
    return fail_parse(parser, "the option \"auth\" is a password, \"auth=...\", or a user and a "
                              "password, \"auth[]=...&auth[]=...\"");
}

/* "auth=password" or a list of two: "auth[]=user&auth[]=password", or with "auth[0]", "auth[1]". */
static latch_status parse_auth(redis_dsn_parser *parser)
{
    const char *key = parser->option->name + strlen(parser->name);
    const char numbered[] = {'[', (char) ('0' + parser->auth_count), ']', '\0'};

    if (*key == '\0' && parser->auth_count == 0) {
        parser->auth = parser->option->value;
        return LATCH_DONE;
    }
    if (parser->auth == NULL && parser->auth_count < 2
        && (strcmp(key, "[]") == 0 || strcmp(key, numbered) == 0)) {
        parser->auth_list[parser->auth_count++] = parser->option->value;
        return LATCH_DONE;
    }
    return latch_redis_fail_auth(parser);
}

static latch_status parse_prefix(redis_dsn_parser *parser)
{
    parser->prefix = parser->option->value;
    return LATCH_DONE;
}

static latch_status parse_peers(redis_dsn_parser *parser)
{
    static const char *const names[] = {
        [REDIS_PEERS_AUTO] = "auto", [REDIS_PEERS_YES] = "yes", [REDIS_PEERS_NO] = "no"};

    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        if (strcmp(parser->option->value, names[at]) == 0) {
            parser->options->peers = (redis_peers) at;
            return LATCH_DONE;
        }
    }
    return fail_option(parser, "is auto, yes or no");
}

static latch_status parse_persistent_id(redis_dsn_parser *parser)
{
    parser->persistent_id = parser->option->value;
    return LATCH_DONE;
}

static latch_status add_place(redis_dsn_parser *parser, const char *host, const char *path,
                              size_t length, int port)
{
    size_t at = parser->place_count++;

    if (at >= REDIS_PLACES_MAX) {
        return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                          REDIS_DSN_ERROR "it names more than %d servers", REDIS_PLACES_MAX);
    }
    parser->places[at].host = host;
    parser->places[at].path = path;
    parser->places[at].length = length;
    parser->places[at].port = port;
    return LATCH_DONE;
}

latch_status latch_redis_add_host(redis_dsn_parser *parser, const char *host, size_t length,
                                  int port)
{
    return add_place(parser, host, NULL, length, port);
}

/* Symfony's rule: the place of a socket is written with a colon behind it, and no port. */
latch_status latch_redis_add_socket(redis_dsn_parser *parser, const char *path, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if ((unsigned char) path[at] < 0x20 || path[at] == 0x7f) {
            return fail_parse(parser, "the path of the socket has a control character in it");
        }
    }
    if (length > SOCKET_MAX) {
        return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                          REDIS_DSN_ERROR "the path of a socket is no longer than %zu bytes",
                          SOCKET_MAX);
    }
    return add_place(parser, NULL, path, length, 0);
}

/* "host[example.com:6379]", "host[[::1]:6379]", "host[::1:6379]", "host[/path/of/socket:]". */
static latch_status parse_host(redis_dsn_parser *parser)
{
    const char *place = parser->option->name + strlen(parser->name), *host;
    size_t length = strlen(place), open = 0, closed = 0;
    latch_status status;
    int port;

    while (closed < length && (open > 0 || closed == 0)) {
        open += place[closed] == '[';
        open -= place[closed] == ']';
        closed++;
    }
    if (length <= 2) {
        return fail_option(parser, "names a server in brackets and has no value, as in "
                                   "\"redis:?host[localhost:6379]\"");
    }
    if (closed < length || *parser->option->value != '\0') {
        return fail_option_not_yet(parser, "parameters of a server");
    }
    place++;
    length -= 2;
    if (*place == '/') {
        return latch_redis_add_socket(parser, place, length - (place[length - 1] == ':'));
    }
    status = latch_dsn_split_host(place, length, &host, &length, &port, parser->error);
    if (status == LATCH_DONE && host[length - 1] == ':') {
        return fail_option(parser, "takes an IPv6 address in brackets, as in "
                                   "\"redis:?host[[::1]:6379]\"");
    }
    return status == LATCH_DONE ? latch_redis_add_host(parser, host, length, port) : status;
}

static latch_status parse_cluster(redis_dsn_parser *parser)
{
    int cluster = latch_dsn_read_boolean(parser->option->value);

    if (cluster < 0) {
        return fail_option(parser, "is 0 or 1");
    }
    parser->options->is_cluster = cluster == 1;
    return LATCH_DONE;
}

static latch_status parse_sentinel(redis_dsn_parser *parser)
{
    const char *name = parser->option->value;

    for (const char *at = name; *at != '\0'; at++) {
        if ((unsigned char) *at <= ' ' || *at == 0x7f) {
            return fail_option(parser, "is the name of a master, as in sentinel.conf, which has "
                                       "no blank and no control character in it");
        }
    }
    parser->sentinel = *name != '\0' ? name : NULL;
    return LATCH_DONE;
}

static const struct {
    const char *name;
    latch_status (*parse)(redis_dsn_parser *parser);
    bool brackets; /* may stand behind the name */
} known[] = {
    {"auth", parse_auth, true},
    {"class", ignore_option, false},
    {"cluster", parse_cluster, false},
    {"cluster_command_timeout", ignore_option, false},
    {"cluster_relay_context", ignore_option, true},
    {"dbindex", parse_database, false},
    {"failover", ignore_option, false},
    {"host", parse_host, true},
    {"lazy", ignore_option, false},
    {"peers", parse_peers, false},
    {"persistent", ignore_option, false},
    {"persistent_id", parse_persistent_id, false},
    {"prefix", parse_prefix, false},
    {"read_timeout", parse_read_timeout, false},
    {"redis_cluster", parse_cluster, false},
    {"redis_sentinel", parse_sentinel, false},
    {"retry_interval", ignore_option, false},
    {"sentinel", parse_sentinel, false},
    {"sentinel_master", parse_sentinel, false},
    {"ssl", latch_redis_parse_tls_option, true},
    {"tcp_keepalive", parse_keepalive, false},
    {"timeout", parse_timeout, false},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(*known))

/*
 * What comes after a password may be the rest of it, with a raw "&" in it, and is not shown.
 * Others may know the option: Symfony's connections take whatever is given.
 */
static latch_status fail_unknown_option(const redis_dsn_parser *parser)
{
    const char *secret = parser->auth != NULL || parser->auth_count > 0 ? "auth"
                         : parser->tls.texts[REDIS_TLS_PASSPHRASE] != NULL
                             ? latch_redis_tls_name(REDIS_TLS_PASSPHRASE)
                             : NULL;
    char names[384];
    size_t length = 0;

    for (size_t at = 0; at < KNOWN_COUNT; at++) {
        length += (size_t) snprintf(names + length, sizeof(names) - length, "%s%s",
                                    at > 0 ? ", " : "", known[at].name);
    }
    if (secret != NULL) {
        return latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0,
                          REDIS_DSN_ERROR
                          "an option after \"%s\" is unknown (is a \"&\" in the password "
                          "not written as \"%%26\"?); known are %s",
                          secret, names);
    }
    if (!latch_dsn_may_show(parser->option->name, parser->option->value)) {
        return latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0,
                          REDIS_DSN_ERROR
                          "it has an option that is unknown, and not shown as it may be a "
                          "part of a password; known are %s",
                          names);
    }
    return latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0,
                      REDIS_DSN_ERROR "the option \"%s\" is unknown; known are %s",
                      parser->option->name, names);
}

latch_status latch_redis_parse_option(redis_dsn_parser *parser)
{
    size_t length = strcspn(parser->option->name, "[");

    for (size_t at = 0; at < KNOWN_COUNT; at++) {
        if (strlen(known[at].name) == length
            && memcmp(known[at].name, parser->option->name, length) == 0) {
            parser->name = known[at].name;
            return known[at].brackets || parser->option->name[length] == '\0'
                       ? known[at].parse(parser)
                       : fail_option(parser, "has one value and no brackets");
        }
    }
    return fail_unknown_option(parser);
}
