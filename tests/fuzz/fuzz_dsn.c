/*
 * DSNs for Redis, whatever is in them: no error of memory, no undefined behaviour, and
 *
 * - a DSN that is read has what every connection needs, the same each time;
 * - however its options are percent-encoded, it asks for the same connection;
 * - one that is refused is told why, in plain text without the password.
 */
#include "src/base/dsn.h"
#include "src/store/redis/options/options.h"
#include "src/store/redis/wire/tls.h"
#include "support/expect.h"

#include <string.h>
#include <strings.h>

/* In place of a password. The input must not have it by itself. */
#define MARKER "hUnT3r2"

static latch_engine *get_engine(void)
{
    static latch_engine *engine;

    if (engine == NULL) {
        latch_env env = latch_env_system();
        latch_error error;

        engine = latch_engine_create(&env, &error);
        EXPECT(engine != NULL);
    }
    return engine;
}

static void check_error(const latch_error *error)
{
    EXPECT(error->status == LATCH_ERROR_ARGUMENT || error->status == LATCH_ERROR_UNSUPPORTED);
    EXPECT(strncmp(error->message, "invalid ", 8) == 0);
    for (const char *at = error->message; *at != '\0'; at++) {
        EXPECT(*at >= ' ' && *at <= '~');
    }
    /* Nothing was cut off. */
    EXPECT(strlen(error->message) < sizeof(error->message) - 1);
}

static void check_options(const redis_options *options)
{
    EXPECT(options->place_count >= 1);
    EXPECT(options->place_count == 1 || options->sentinel != NULL || options->is_cluster);
    EXPECT(!options->is_cluster || (options->sentinel == NULL && options->database == 0));
    for (size_t at = 0; at < options->place_count; at++) {
        const redis_place *place = &options->places[at];

        EXPECT((place->host != NULL) != (place->path != NULL));
        if (place->host != NULL) {
            EXPECT(*place->host != '\0' && place->port >= 1 && place->port <= 65535);
        } else {
            EXPECT(*place->path == '/' && strlen(place->path) < 108 && place->port == 0);
            EXPECT(options->tls == NULL && !options->is_cluster);
        }
        EXPECT(*place->address != '\0');
    }
    EXPECT(options->sentinel == NULL || *options->sentinel != '\0');
    EXPECT(options->sentinel_user == NULL || options->sentinel_password != NULL);
    EXPECT(*options->address != '\0' && *options->identity != '\0');
    EXPECT(options->user == NULL || options->password != NULL);
    EXPECT(options->database >= 0);
    EXPECT(options->prefix_length == strlen(options->prefix));
    EXPECT(options->connect_timeout_ns >= LATCH_NS_PER_MS);
    EXPECT(options->connect_timeout_ns <= REDIS_MAX_TIMEOUT_S * LATCH_NS_PER_S);
    EXPECT(options->command_timeout_ns >= LATCH_NS_PER_MS);
    EXPECT(options->command_timeout_ns <= REDIS_MAX_TIMEOUT_S * LATCH_NS_PER_S);
    if (options->tls != NULL) {
        const redis_tls_settings *tls = &options->tls->settings;

        EXPECT(tls->oldest >= 0 && tls->oldest <= tls->newest && tls->newest <= 3);
        EXPECT(tls->verify_depth >= 0 && tls->security_level >= -1 && tls->security_level <= 5);
    }
    EXPECT(options->keepalive_s >= 0 && options->keepalive_s <= REDIS_MAX_KEEPALIVE_S);
}

/* Reads `text`, which ends where its memory ends, so that ASan sees who reads on. */
static bool parse(const char *text, size_t length, redis_options *options, latch_error *error)
{
    char *copy = malloc(length + (length == 0));
    latch_status status;

    EXPECT(copy != NULL);
    memcpy(copy, text, length);
    memset(error, 0, sizeof(*error));
    status = latch_redis_options_parse(get_engine(), copy, length, options, error);
    free(copy);
    EXPECT(status == LATCH_DONE || status == error->status);
    if (status == LATCH_DONE) {
        check_options(options);
    } else {
        check_error(error);
    }
    return status == LATCH_DONE;
}

static void expect_same(const redis_options *options, const char *text, size_t length)
{
    redis_options others;
    latch_error error;

    EXPECT(parse(text, length, &others, &error));
    EXPECT(strcmp(options->identity, others.identity) == 0);
    EXPECT(strcmp(options->address, others.address) == 0);
    latch_redis_options_free(get_engine(), &others);
}

/* The same DSN, with each letter and digit of its options percent-encoded that is not yet. */
static size_t encode_options(const char *text, size_t length, char *encoded)
{
    const char *end = text + length, *at_sign = memchr(text, '@', length);
    const char *from = at_sign != NULL ? at_sign : text;
    const char *options = memchr(from, '?', (size_t) (end - from));
    char *out = encoded;

    for (const char *at = text; at < end; at++) {
        bool is_plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z')
                        || (*at >= 'A' && *at <= 'Z');

        if (*at == '%' && end - at > 2) {
            memcpy(out, at, 3);
            out += 3;
            at += 2;
        } else if (is_plain && options != NULL && at > options) {
            out += sprintf(out, "%%%02X", (unsigned char) *at);
        } else {
            *out++ = *at;
        }
    }
    return (size_t) (out - encoded);
}

static void check_dsn(const char *text, size_t length)
{
    char encoded[3 * LATCH_DSN_MAX + 1];
    redis_options options;
    latch_error error;

    if (!parse(text, length, &options, &error)) {
        return;
    }
    EXPECT(length <= LATCH_DSN_MAX);
    expect_same(&options, text, length);
    length = encode_options(text, length, encoded);
    if (length <= LATCH_DSN_MAX) {
        expect_same(&options, encoded, length);
    }
    latch_redis_options_free(get_engine(), &options);
}

/* In any case: hosts are made lower. */
static bool has_marker(const char *text, size_t length)
{
    for (size_t at = 0; at + strlen(MARKER) <= length; at++) {
        if (strncasecmp(text + at, MARKER, strlen(MARKER)) == 0) {
            return true;
        }
    }
    return false;
}

/* The marker is a password here, between what the input is cut into. */
static void check_secrecy(const char *before, const char *after, const char *text, size_t length)
{
    char dsn[LATCH_DSN_MAX + 100];
    size_t before_length = strlen(before), after_length = strlen(after);
    redis_options options;
    latch_error error;

    if (length > LATCH_DSN_MAX || has_marker(text, length)) {
        return;
    }
    memcpy(dsn, before, before_length);
    memcpy(dsn + before_length, text, length);
    memcpy(dsn + before_length + length, after, after_length);
    if (parse(dsn, before_length + length + after_length, &options, &error)) {
        EXPECT(strcasestr(options.address, MARKER) == NULL);
        latch_redis_options_free(get_engine(), &options);
    } else {
        EXPECT(strcasestr(error.message, MARKER) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *) data : "";

    check_dsn(text, size);
    check_secrecy("redis://" MARKER "@", "", text, size);
    check_secrecy("redis://user:" MARKER "@", "", text, size);
    check_secrecy("redis:///" MARKER "?#@", "", text, size);
    check_secrecy("redis://user:" MARKER, "", text, size);
    check_secrecy("redis://[user:" MARKER, "]", text, size);
    check_secrecy("redis:?host[user:" MARKER ":", "]", text, size);
    check_secrecy("redis:?auth=" MARKER "&", "", text, size);
    check_secrecy("redis://host?" MARKER, "", "", 0);
    check_secrecy("redis://host?" MARKER "==", "", "", 0);
    check_secrecy("redis://host?auth=pass&" MARKER "&", "", text, size);
    check_secrecy("redis:?auth[]=user&auth[]=" MARKER "&", "", text, size);
    if (memchr(text, '@', size) == NULL) { /* which would make a password of all before it */
        check_secrecy("redis://host?", "&auth=" MARKER, text, size);
    }
    return 0;
}
