/* A DSN for Redis as a whole: where the server is, who asks, and what makes a connection the same.
 */
#include "redis_reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static latch_status fail(const redis_reading *reading, const char *what)
{
    return latch_fail(reading->error, LATCH_ERROR_ARGUMENT, 0, REDIS_DSN_ERROR "%s", what);
}

static latch_status fail_not_yet(const redis_reading *reading, const char *what)
{
    return latch_fail(reading->error, LATCH_ERROR_UNSUPPORTED, 0, REDIS_DSN_ERROR "%s", what);
}

/* ---- What was given, put together */

static bool has_scheme(const char *text, size_t length, const char *scheme)
{
    size_t scheme_length = strlen(scheme);

    return length > scheme_length && memcmp(text, scheme, scheme_length) == 0
           && text[scheme_length] == ':';
}

/* Comes first: what is no DSN for Redis at all is not to be told how its host is written. */
static latch_status check_scheme(redis_reading *reading, const char *text, size_t length)
{
    reading->is_tls = has_scheme(text, length, "rediss") || has_scheme(text, length, "valkeys");
#ifndef LATCH_WITH_OPENSSL
    if (reading->is_tls) {
        return fail_not_yet(reading,
                            "\"rediss:\" and \"valkeys:\" ask for TLS, which this build of Latch "
                            "does not have: build it again where OpenSSL's development files "
                            "(libssl-dev) and pkg-config are installed");
    }
#endif
    return reading->is_tls || has_scheme(text, length, "redis")
                   || has_scheme(text, length, "valkey")
               ? LATCH_DONE
               : fail(reading, "it begins with \"redis:\" or \"valkey:\", or for TLS with "
                               "\"rediss:\" or \"valkeys:\", as in \"redis://localhost:6379\"");
}

/* Symfony's rule: what comes after the last slash of the path is the database, if it is a number or
 * nothing; before it is the path of a socket. */
static latch_status take_path(redis_reading *reading)
{
    const char *path = reading->dsn->path, *last = strrchr(path, '/');
    size_t length = strlen(path);

    if (last != NULL && last[strspn(last, "/0123456789")] == '\0') {
        size_t digits = strlen(last + 1);

        if (digits > 0) {
            reading->path_database = latch_redis_read_database(last + 1, digits);
            if (reading->path_database < 0) {
                return latch_redis_fail_database(reading);
            }
        }
        length -= digits + 1;
    }
    if (reading->dsn->host != NULL) {
        return length == 0 ? LATCH_DONE : latch_redis_fail_database(reading);
    }
    return length == 0 ? LATCH_DONE : latch_redis_take_socket(reading, path, length);
}

static latch_status take_place(redis_reading *reading)
{
    if (reading->dsn->host != NULL) {
        reading->host = reading->dsn->host;
        reading->place_length = strlen(reading->host);
        reading->options->port = reading->dsn->port;
        reading->place_count++;
    }
    return take_path(reading);
}

static latch_status check_place(redis_reading *reading)
{
    if (reading->place_count == 0) {
        return fail(reading, "it names no server, as \"redis://localhost:6379\" and "
                             "\"redis:///run/redis.sock\" do");
    }
    if (reading->place_count > 1) {
        return fail_not_yet(reading,
                            "it names several servers (by the option \"host\"), which this "
                            "version of Latch cannot use yet");
    }
    if (reading->host != NULL && reading->options->port == 0) {
        reading->options->port = REDIS_DEFAULT_PORT;
    }
    return LATCH_DONE;
}

static latch_status check_database(redis_reading *reading)
{
    int64_t path = reading->path_database, option = reading->option_database;

    if (path >= 0 && option >= 0 && path != option) {
        return fail(reading, "the database of the path and the option \"dbindex\" are different");
    }
    reading->options->database = (int) (path >= 0 ? path : option >= 0 ? option : 0);
    return LATCH_DONE;
}

static latch_status read_all(redis_reading *reading)
{
    latch_status status = take_place(reading);

    for (reading->option = reading->dsn->options; status == LATCH_DONE && reading->option != NULL;
         reading->option = reading->option->next) {
        status = latch_redis_take_option(reading);
    }
    if (status == LATCH_DONE && reading->auth_count == 1) {
        status = latch_redis_fail_auth(reading);
    }
    if (status == LATCH_DONE) {
        status = check_place(reading);
    }
    if (status == LATCH_DONE) {
        status = latch_redis_check_tls(reading);
    }
    return status == LATCH_DONE ? check_database(reading) : status;
}

/* ---- Texts */

/* The user that needs no name: Redis before 6 knows no other. */
static bool is_default_user(const char *user)
{
    return user == NULL || *user == '\0' || strcmp(user, "default") == 0;
}

/* Who asks: as with Symfony, the option "auth" has precedence over what stands before the "@". */
static void find_credentials(const redis_reading *reading, const char **user, const char **password)
{
    *user = reading->dsn->user;
    *password = reading->dsn->password;
    if (reading->auth_count > 0) {
        *user = reading->auth_list[0];
        *password = reading->auth_list[1];
    } else if (reading->auth != NULL) {
        *user = NULL;
        *password = reading->auth;
    }
    if (is_default_user(*user)) {
        *user = NULL;
        *password = *password != NULL && **password != '\0' ? *password : NULL;
    }
}

/* *copy stays NULL for NULL. False when memory ran out. */
static bool copy_text(const latch_engine *engine, char **copy, const char *text, size_t length)
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

static bool copy_texts(const latch_engine *engine, const redis_reading *reading)
{
    redis_options *options = reading->options;
    const char *user, *password;

    find_credentials(reading, &user, &password);
    if (!copy_text(engine, &options->host, reading->host, reading->place_length)
        || !copy_text(engine, &options->path, reading->path, reading->place_length)
        || !copy_text(engine, &options->user, user, user != NULL ? strlen(user) : 0)
        || !copy_text(engine, &options->password, password, password != NULL ? strlen(password) : 0)
        || !copy_text(engine, &options->prefix, reading->prefix, strlen(reading->prefix))) {
        return false;
    }
    options->prefix_length = strlen(options->prefix);
    for (char *at = options->host; at != NULL && *at != '\0'; at++) {
        *at = (char) (*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    }
    if (reading->is_tls) {
        options->tls = latch_redis_tls_make(engine, &reading->tls);
    }
    return (options->tls != NULL) == reading->is_tls;
}

static bool make_address(const latch_engine *engine, redis_options *options)
{
    size_t size;

    if (options->host == NULL) {
        return copy_text(engine, &options->address, options->path, strlen(options->path));
    }
    size = strlen(options->host) + sizeof("[]:65535");
    options->address = latch_allocate(engine, size);
    if (options->address == NULL) {
        return false;
    }
    snprintf(options->address, size, strchr(options->host, ':') != NULL ? "[%s]:%d" : "%s:%d",
             options->host, options->port);
    return true;
}

/* All that tells connections from each other. The lengths keep the texts apart, whatever is in
 * them.
 */
static bool make_identity(const latch_engine *engine, const redis_reading *reading)
{
    redis_options *options = reading->options;
    enum { OWN = 7, TEXTS = OWN + REDIS_TLS_TEXT_COUNT, NUMBER = sizeof("-9223372036854775808 ") };
    char tls[100];
    const char *texts[TEXTS] = {options->host,
                                options->path,
                                options->user,
                                options->password,
                                options->prefix,
                                reading->persistent_id,
                                tls};
    size_t size = 6 * NUMBER, length;

    latch_redis_describe_tls(reading, tls, sizeof(tls));
    memcpy(texts + OWN, reading->tls.texts, sizeof(reading->tls.texts));
    for (int at = 0; at < TEXTS; at++) {
        size += NUMBER + (texts[at] != NULL ? strlen(texts[at]) : 0);
    }
    options->identity = latch_allocate(engine, size);
    if (options->identity == NULL) {
        return false;
    }
    length = (size_t) snprintf(options->identity, size, "%d %d %" PRId64 " %" PRId64 " %d %d",
                               options->port, options->database, options->connect_timeout_ns,
                               options->command_timeout_ns, options->keepalive_s,
                               (int) options->peers);
    for (int at = 0; at < TEXTS; at++) {
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
    redis_reading reading = {
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
    status = check_scheme(&reading, dsn, length);
    if (status == LATCH_DONE) {
        status = latch_dsn_parse(engine, dsn, length, &parsed, error);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    reading.dsn = parsed;
    status = read_all(&reading);
    if (status == LATCH_DONE
        && !(copy_texts(engine, &reading) && make_address(engine, options)
             && make_identity(engine, &reading))) {
        latch_redis_options_free(engine, options);
        status = latch_fail_memory(error);
    }
    latch_dsn_free(engine, parsed);
    return status;
}

enum { TEXT_COUNT = 7 };

static void find_texts(redis_options *options, char **texts[TEXT_COUNT])
{
    char **const found[TEXT_COUNT] = {&options->identity, &options->address, &options->host,
                                      &options->path,     &options->user,    &options->password,
                                      &options->prefix};

    memcpy(texts, found, sizeof(found));
}

bool latch_redis_options_copy(latch_engine *engine, const redis_options *from, redis_options *to)
{
    char **texts[TEXT_COUNT], *originals[TEXT_COUNT];
    bool is_copied = true;

    *to = *from;
    find_texts(to, texts);
    for (size_t at = 0; at < TEXT_COUNT; at++) {
        originals[at] = *texts[at];
        *texts[at] = NULL;
    }
    if (from->tls != NULL) {
        to->tls = latch_redis_tls_make(engine, &from->tls->settings);
        is_copied = to->tls != NULL;
    }
    for (size_t at = 0; at < TEXT_COUNT && is_copied; at++) {
        const char *text = originals[at];

        is_copied = copy_text(engine, texts[at], text, text != NULL ? strlen(text) : 0);
    }
    if (!is_copied) {
        latch_redis_options_free(engine, to);
    }
    return is_copied;
}

void latch_redis_options_free(latch_engine *engine, redis_options *options)
{
    char **texts[TEXT_COUNT];

    latch_redis_tls_free(engine, options->tls);
    options->tls = NULL;
    find_texts(options, texts);
    for (size_t at = 0; at < TEXT_COUNT; at++) {
        if (*texts[at] != NULL) {
            explicit_bzero(*texts[at], strlen(*texts[at]));
            latch_free(engine, *texts[at]);
            *texts[at] = NULL;
        }
    }
}
