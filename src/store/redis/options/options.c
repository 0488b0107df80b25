/* DSN for Redis as a whole: the server's place, the credentials, and the identity of a
 * connection. */
#include "src/store/redis/options/parser.h"
#include "src/store/redis/options/slot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static latch_status fail_dsn(const redis_dsn_parser *parser, const char *what)
{
    return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0, REDIS_DSN_ERROR "%s", what);
}

static latch_status fail_dsn_not_yet(const redis_dsn_parser *parser, const char *what)
{
    return latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0, REDIS_DSN_ERROR "%s", what);
}

/* ---- What was given, put together */

static bool has_scheme(const char *text, size_t length, const char *scheme)
{
    size_t scheme_length = strlen(scheme);

    return length > scheme_length && memcmp(text, scheme, scheme_length) == 0
           && text[scheme_length] == ':';
}

/* Comes first: what is no DSN for Redis at all is not to be told how its host is written. */
static latch_status check_scheme(redis_dsn_parser *parser, const char *text, size_t length)
{
    parser->is_tls = has_scheme(text, length, "rediss") || has_scheme(text, length, "valkeys");
#ifndef LATCH_WITH_OPENSSL
    if (parser->is_tls) {
        return fail_dsn_not_yet(
            parser, "\"rediss:\" and \"valkeys:\" ask for TLS, which this build of Latch "
                    "does not have: build it again where OpenSSL's development files "
                    "(libssl-dev) and pkg-config are installed");
    }
#endif
    return parser->is_tls || has_scheme(text, length, "redis") || has_scheme(text, length, "valkey")
               ? LATCH_DONE
               : fail_dsn(parser, "it begins with \"redis:\" or \"valkey:\", or for TLS with "
                                  "\"rediss:\" or \"valkeys:\", as in \"redis://localhost:6379\"");
}

/* Symfony's rule: what comes after the last slash of the path is the database, if it is a number or
 * nothing; before it is the path of a socket. */
static latch_status parse_path(redis_dsn_parser *parser)
{
    const char *path = parser->dsn->path, *last = strrchr(path, '/');
    size_t length = strlen(path);

    if (last != NULL && last[strspn(last, "/0123456789")] == '\0') {
        size_t digits = strlen(last + 1);

        if (digits > 0) {
            parser->path_database = latch_redis_read_database(last + 1, digits);
            if (parser->path_database < 0) {
                return latch_redis_fail_database(parser);
            }
        }
        length -= digits + 1;
    }
    if (parser->dsn->host != NULL) {
        return length == 0 ? LATCH_DONE : latch_redis_fail_database(parser);
    }
    return length == 0 ? LATCH_DONE : latch_redis_add_socket(parser, path, length);
}

static latch_status parse_place(redis_dsn_parser *parser)
{
    const latch_dsn *dsn = parser->dsn;
    latch_status status = LATCH_DONE;

    if (dsn->host != NULL) {
        status = latch_redis_add_host(parser, dsn->host, strlen(dsn->host), dsn->port);
    }
    return status == LATCH_DONE ? parse_path(parser) : status;
}

static latch_status check_places(redis_dsn_parser *parser)
{
    if (parser->place_count == 0) {
        return fail_dsn(parser, "it names no server, as \"redis://localhost:6379\" and "
                                "\"redis:///run/redis.sock\" do");
    }
    if (parser->place_count > 1 && parser->sentinel == NULL && !parser->options->is_cluster) {
        return fail_dsn_not_yet(
            parser, "it names several servers; if they are of a cluster, give it the option "
                    "\"redis_cluster=1\"; if they are Sentinels, the option \"sentinel\" "
                    "names the master; if each is to have locks of its own, make a store "
                    "for each, and a CombinedStore of them");
    }
    return LATCH_DONE;
}

static latch_status check_cluster(redis_dsn_parser *parser)
{
    if (!parser->options->is_cluster) {
        return LATCH_DONE;
    }
    if (parser->sentinel != NULL) {
        return fail_dsn(parser, "a cluster has no Sentinels: leave out \"sentinel\", or "
                                "\"redis_cluster\"");
    }
    if (parser->options->database != 0) {
        return fail_dsn_not_yet(parser, "a cluster has no database but 0"); /* others ignore it */
    }
    if (latch_redis_prefix_kind(parser->prefix, strlen(parser->prefix)) == REDIS_PREFIX_UNFIT) {
        return fail_dsn(parser, REDIS_PREFIX_ADVICE);
    }
    for (size_t at = 0; at < parser->place_count; at++) {
        if (parser->places[at].host == NULL) {
            return fail_dsn(parser,
                            "the servers of a cluster are named by host and port, not by the "
                            "path of a socket");
        }
    }
    return LATCH_DONE;
}

static latch_status check_database(redis_dsn_parser *parser)
{
    int64_t path = parser->path_database, option = parser->option_database;

    if (path >= 0 && option >= 0 && path != option) {
        return fail_dsn(parser,
                        "the database of the path and the option \"dbindex\" are different");
    }
    parser->options->database = (int) (path >= 0 ? path : option >= 0 ? option : 0);
    return LATCH_DONE;
}

static latch_status parse_whole_dsn(redis_dsn_parser *parser)
{
    latch_status status = parse_place(parser);

    for (parser->option = parser->dsn->options; status == LATCH_DONE && parser->option != NULL;
         parser->option = parser->option->next) {
        status = latch_redis_parse_option(parser);
    }
    if (status == LATCH_DONE && parser->auth_count == 1) {
        status = latch_redis_fail_auth(parser);
    }
    if (status == LATCH_DONE) {
        status = check_places(parser);
    }
    if (status == LATCH_DONE) {
        status = latch_redis_check_tls(parser);
    }
    if (status == LATCH_DONE) {
        status = check_database(parser);
    }
    return status == LATCH_DONE ? check_cluster(parser) : status;
}

/* ---- Texts */

/* The user that needs no name: Redis before 6 knows no other. */
static bool is_default_user(const char *user)
{
    return user == NULL || *user == '\0' || strcmp(user, "default") == 0;
}

/* Credentials: texts of the DSN, or NULL. */
typedef struct login {
    const char *user, *password;
} login;

static login tidy(login given)
{
    if (is_default_user(given.user)) {
        given.user = NULL;
        given.password = given.password != NULL && *given.password != '\0' ? given.password : NULL;
    }
    return given;
}

/* Credentials of the option "auth", or none. */
static login login_of_option(const redis_dsn_parser *parser)
{
    if (parser->auth_count > 0) {
        return (login){parser->auth_list[0], parser->auth_list[1]};
    }
    return (login){NULL, parser->auth};
}

/*
 * Credentials, as with Symfony: the option "auth" has precedence over the user information before
 * the "@"; but with Sentinels the option is for these, and for the server only without user
 * information.
 */
static void find_logins(const redis_dsn_parser *parser, login *server, login *sentinel)
{
    const login option = login_of_option(parser);
    const login front = tidy((login){parser->dsn->user, parser->dsn->password});
    bool is_given = option.password != NULL;

    *sentinel = parser->sentinel != NULL ? tidy(option) : (login){NULL, NULL};
    if (parser->sentinel != NULL) {
        *server = front.password != NULL ? front : tidy(option);
    } else {
        *server = is_given ? tidy(option) : front;
    }
}

/* *copy stays NULL for NULL. False when memory ran out. */
static bool copy_dsn_text(const latch_engine *engine, char **copy, const char *text, size_t length)
{
    if (text == NULL) {
        return true;
    }
    *copy = latch_allocate(engine, length + 1);
    if (*copy == NULL) {
        return false;
    }
    memcpy(*copy, text, length);
    (*copy)[length] = '\0';
    return true;
}

static bool copy_whole(const latch_engine *engine, char **copy, const char *text)
{
    return copy_dsn_text(engine, copy, text, text != NULL ? strlen(text) : 0);
}

static bool copy_texts(const latch_engine *engine, const redis_dsn_parser *parser)
{
    redis_options *options = parser->options;
    login server, sentinel;

    find_logins(parser, &server, &sentinel);
    if (!copy_whole(engine, &options->user, server.user)
        || !copy_whole(engine, &options->password, server.password)
        || !copy_whole(engine, &options->sentinel, parser->sentinel)
        || !copy_whole(engine, &options->sentinel_user, sentinel.user)
        || !copy_whole(engine, &options->sentinel_password, sentinel.password)
        || !copy_whole(engine, &options->prefix, parser->prefix)) {
        return false;
    }
    options->prefix_length = strlen(options->prefix);
    return true;
}

/* Room for so many, with nothing in them. */
static bool make_places(const latch_engine *engine, redis_options *options, size_t count)
{
    options->places = latch_allocate(engine, count * sizeof(*options->places));
    if (options->places == NULL) {
        return false;
    }
    memset(options->places, 0, count * sizeof(*options->places));
    options->place_count = count;
    return true;
}

static bool name_place(const latch_engine *engine, redis_place *place)
{
    size_t size;

    if (place->host == NULL) {
        return copy_whole(engine, &place->address, place->path);
    }
    size = strlen(place->host) + sizeof("[]:65535");
    place->address = latch_allocate(engine, size);
    if (place->address == NULL) {
        return false;
    }
    latch_redis_write_address(place->address, size, place->host, place->port);
    return true;
}

static bool copy_places(const latch_engine *engine, const redis_dsn_parser *parser)
{
    redis_options *options = parser->options;

    if (!make_places(engine, options, parser->place_count)) {
        return false;
    }
    for (size_t at = 0; at < options->place_count; at++) {
        redis_place *place = &options->places[at];

        place->port = parser->places[at].port;
        if (parser->places[at].host != NULL && place->port == 0) {
            place->port = REDIS_DEFAULT_PORT;
        }
        if (!copy_dsn_text(engine, &place->host, parser->places[at].host, parser->places[at].length)
            || !copy_dsn_text(engine, &place->path, parser->places[at].path,
                              parser->places[at].length)) {
            return false;
        }
        for (char *byte = place->host; byte != NULL && *byte != '\0'; byte++) {
            *byte = (char) (*byte >= 'A' && *byte <= 'Z' ? *byte - 'A' + 'a' : *byte);
        }
        if (!name_place(engine, place)) {
            return false;
        }
    }
    if (parser->is_tls) {
        options->tls = latch_redis_tls_make(engine, &parser->tls);
    }
    return (options->tls != NULL) == parser->is_tls;
}

void latch_redis_write_address(char *text, size_t size, const char *host, int port)
{
    snprintf(text, size, strchr(host, ':') != NULL ? "[%s]:%d" : "%s:%d", host, port);
}

/* "a:1, b:2, c:3" */
static bool make_address(const latch_engine *engine, redis_options *options)
{
    size_t size = 1;
    char *end;

    for (size_t at = 0; at < options->place_count; at++) {
        size += strlen(options->places[at].address) + 2;
    }
    options->address = end = latch_allocate(engine, size);
    for (size_t at = 0; at < options->place_count && end != NULL; at++) {
        end = stpcpy(at > 0 ? stpcpy(end, ", ") : end, options->places[at].address);
    }
    return end != NULL;
}

/* All that tells connections from each other. The lengths keep the texts apart, whatever is in
 * them.
 */
static bool make_identity(const latch_engine *engine, const redis_dsn_parser *parser)
{
    enum { NUMBER = sizeof("-9223372036854775808 "), OTHERS = 8 };
    redis_options *options = parser->options;
    char tls[100];
    const char *texts[2 * REDIS_PLACES_MAX + REDIS_TLS_TEXT_COUNT + OTHERS] = {
        options->user,
        options->password,
        options->sentinel,
        options->sentinel_user,
        options->sentinel_password,
        options->prefix,
        parser->persistent_id,
        tls};
    size_t count = OTHERS, size = (7 + options->place_count) * NUMBER, length;

    latch_redis_describe_tls(parser, tls, sizeof(tls));
    for (size_t at = 0; at < REDIS_TLS_TEXT_COUNT; at++) {
        texts[count++] = parser->tls.texts[at];
    }
    for (size_t at = 0; at < options->place_count; at++) {
        texts[count++] = options->places[at].host;
        texts[count++] = options->places[at].path;
    }
    for (size_t at = 0; at < count; at++) {
        size += NUMBER + (texts[at] != NULL ? strlen(texts[at]) : 0);
    }
    options->identity = latch_allocate(engine, size);
    if (options->identity == NULL) {
        return false;
    }
    length = (size_t) snprintf(options->identity, size, "%d %d %" PRId64 " %" PRId64 " %d %d",
                               (int) options->is_cluster, options->database,
                               options->connect_timeout_ns, options->command_timeout_ns,
                               options->keepalive_s, (int) options->peers);
    for (size_t at = 0; at < options->place_count; at++) {
        length += (size_t) snprintf(options->identity + length, size - length, " %d",
                                    options->places[at].port);
    }
    for (size_t at = 0; at < count; at++) {
        length += texts[at] == NULL
                      ? (size_t) snprintf(options->identity + length, size - length, " -")
                      : (size_t) snprintf(options->identity + length, size - length, " %zu:%s",
                                          strlen(texts[at]), texts[at]);
    }
    return true;
}

/* ---- The whole */

latch_status latch_redis_options_parse(latch_engine *engine, const char *dsn, size_t length,
                                       redis_options *options, latch_error *error)
{
    redis_dsn_parser parser = {
        .options = options,
        .error = error,
        .tls = REDIS_TLS_DEFAULTS,
        .prefix = "",
        .persistent_id = "",
        .path_database = -1,
        .option_database = -1,
    };
    latch_dsn *parsed;
    latch_status status;

    *options = (redis_options){
        .connect_timeout_ns = REDIS_DEFAULT_CONNECT_TIMEOUT_NS,
        .command_timeout_ns = REDIS_DEFAULT_COMMAND_TIMEOUT_NS,
    };
    status = check_scheme(&parser, dsn, length);
    if (status == LATCH_DONE) {
        status = latch_dsn_parse(engine, dsn, length, &parsed, error);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    parser.dsn = parsed;
    status = parse_whole_dsn(&parser);
    if (status == LATCH_DONE
        && !(copy_texts(engine, &parser) && copy_places(engine, &parser)
             && make_address(engine, options) && make_identity(engine, &parser))) {
        latch_redis_options_free(engine, options);
        status = latch_fail_memory(error);
    }
    latch_dsn_free(engine, parsed);
    return status;
}

enum { TEXT_COUNT = 8, PLACE_TEXT_COUNT = 3 };

static void find_texts(redis_options *options, char **texts[TEXT_COUNT])
{
    char **const found[TEXT_COUNT] = {&options->identity, &options->address,
                                      &options->user,     &options->password,
                                      &options->sentinel, &options->sentinel_user,
                                      &options->prefix,   &options->sentinel_password};

    memcpy(texts, found, sizeof(found));
}

static void find_place_texts(redis_place *place, char **texts[PLACE_TEXT_COUNT])
{
    char **const found[PLACE_TEXT_COUNT] = {&place->address, &place->host, &place->path};

    memcpy(texts, found, sizeof(found));
}

/* Of texts that `copies` still share with their originals. When memory ran out the rest is NULL. */
static bool copy_all(const latch_engine *engine, char **const *copies, size_t count)
{
    bool is_copied = true;

    for (size_t at = 0; at < count; at++) {
        const char *text = *copies[at];

        *copies[at] = NULL;
        is_copied = is_copied && copy_whole(engine, copies[at], text);
    }
    return is_copied;
}

static bool duplicate_places(const latch_engine *engine, const redis_options *from,
                             redis_options *to)
{
    char **texts[PLACE_TEXT_COUNT];
    bool is_copied = make_places(engine, to, from->place_count);

    for (size_t at = 0; at < from->place_count && is_copied; at++) {
        to->places[at] = from->places[at];
        find_place_texts(&to->places[at], texts);
        is_copied = copy_all(engine, texts, PLACE_TEXT_COUNT);
    }
    return is_copied;
}

bool latch_redis_options_copy(latch_engine *engine, const redis_options *from, redis_options *to)
{
    char **texts[TEXT_COUNT];
    bool is_copied;

    *to = *from;
    to->tls = NULL;
    to->places = NULL;
    to->place_count = 0;
    find_texts(to, texts);
    is_copied = copy_all(engine, texts, TEXT_COUNT) && duplicate_places(engine, from, to);
    if (is_copied && from->tls != NULL) {
        to->tls = latch_redis_tls_make(engine, &from->tls->settings);
        is_copied = to->tls != NULL;
    }
    if (!is_copied) {
        latch_redis_options_free(engine, to);
    }
    return is_copied;
}

static void free_all(latch_engine *engine, char **const *texts, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (*texts[at] != NULL) {
            explicit_bzero(*texts[at], strlen(*texts[at]));
            latch_free(engine, *texts[at]);
            *texts[at] = NULL;
        }
    }
}

void latch_redis_options_free(latch_engine *engine, redis_options *options)
{
    char **texts[TEXT_COUNT], **place_texts[PLACE_TEXT_COUNT];

    latch_redis_tls_free(engine, options->tls);
    options->tls = NULL;
    find_texts(options, texts);
    free_all(engine, texts, TEXT_COUNT);
    for (size_t at = 0; at < options->place_count; at++) {
        find_place_texts(&options->places[at], place_texts);
        free_all(engine, place_texts, PLACE_TEXT_COUNT);
    }
    latch_free(engine, options->places);
    options->places = NULL;
    options->place_count = 0;
}
