/*
 * The options of a DSN about TLS, "ssl[name]=value": those of PHP's SSL contexts, which Symfony's
 * connections hand on to phpredis, Relay and Predis.
 */
#include "src/store/redis/options/parser.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const text_names[REDIS_TLS_TEXT_COUNT] = {
    [REDIS_TLS_CAFILE] = "ssl[cafile]",         [REDIS_TLS_CAPATH] = "ssl[capath]",
    [REDIS_TLS_LOCAL_CERT] = "ssl[local_cert]", [REDIS_TLS_LOCAL_PK] = "ssl[local_pk]",
    [REDIS_TLS_PASSPHRASE] = "ssl[passphrase]", [REDIS_TLS_PEER_NAME] = "ssl[peer_name]",
    [REDIS_TLS_CIPHERS] = "ssl[ciphers]",
};

const char *latch_redis_tls_name(redis_tls_text text)
{
    return text_names[text];
}

/* ---- Options: each function takes reading->option */

static latch_status fail_tls_option(const redis_dsn_parser *parser, const char *what)
{
    return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                      REDIS_DSN_ERROR "the option \"%s\" %s", parser->option->name, what);
}

static latch_status parse_tls_boolean(redis_dsn_parser *parser, size_t offset)
{
    int value = latch_dsn_read_boolean(parser->option->value);

    if (value < 0) {
        return fail_tls_option(parser, "is 0 or 1");
    }
    *(bool *) ((char *) &parser->tls + offset) = value == 1;
    return LATCH_DONE;
}

static latch_status parse_tls_number(redis_dsn_parser *parser, size_t offset, int max,
                                     const char *rule)
{
    const char *value = parser->option->value;
    int64_t number = latch_dsn_read_number(value, strlen(value), max);

    if (number < 0) {
        return fail_tls_option(parser, rule);
    }
    *(int *) ((char *) &parser->tls + offset) = (int) number;
    return LATCH_DONE;
}

static latch_status parse_tls_depth(redis_dsn_parser *parser, size_t offset)
{
    return parse_tls_number(parser, offset, 100, "is a number of certificates from 0 to 100");
}

static latch_status parse_tls_level(redis_dsn_parser *parser, size_t offset)
{
    return parse_tls_number(parser, offset, 5, "is a number from 0 to 5");
}

/*
 * PHP's STREAM_CRYPTO_METHOD_*_CLIENT, some of them joined by "|": each version has a bit, 1.0 the
 * fourth. OpenSSL knows the oldest and the newest version; what lies between is meant, too.
 */
static latch_status parse_tls_method(redis_dsn_parser *parser, size_t offset)
{
    const char *value = parser->option->value;
    int64_t bits = latch_dsn_read_number(value, strlen(value), INT_MAX);
    int versions = bits < 0 ? 0 : (int) (bits >> 3) & 0xf;

    (void) offset;
    if (versions == 0) {
        return fail_tls_option(
            parser,
            "is the number of one of PHP's constants STREAM_CRYPTO_METHOD_TLSv*_CLIENT, such as "
            "33 for TLS 1.2, 65 for TLS 1.3, or 97 for both");
    }
    parser->tls.oldest = __builtin_ctz((unsigned) versions);
    parser->tls.newest = 31 - __builtin_clz((unsigned) versions);
    return LATCH_DONE;
}

static latch_status parse_tls_text(redis_dsn_parser *parser, size_t offset)
{
    const char *value = parser->option->value;

    *(const char **) ((char *) &parser->tls + offset) = *value != '\0' ? value : NULL;
    return LATCH_DONE;
}

static latch_status parse_tls_path(redis_dsn_parser *parser, size_t offset)
{
    return latch_dsn_is_path(parser->option->value)
               ? parse_tls_text(parser, offset)
               : fail_tls_option(parser, "is the path of a file, not what is in the file");
}

static latch_status parse_tls_name(redis_dsn_parser *parser, size_t offset)
{
    if (strlen(parser->option->value) > REDIS_TLS_NAME_MAX) {
        return fail_tls_option(parser, "is a host's name, or an address in digits");
    }
    return parse_tls_text(parser, offset);
}

static latch_status ignore_tls_option(redis_dsn_parser *parser, size_t offset)
{
    (void) parser;
    (void) offset;
    return LATCH_DONE;
}

#define FIELD(field) offsetof(redis_tls_settings, field)
#define TEXT(text) (FIELD(texts) + (text) * sizeof(const char *))

static const struct {
    const char *name;
    latch_status (*parse)(redis_dsn_parser *parser, size_t offset);
    size_t offset; /* in the settings */
} known[] = {
    {"allow_self_signed", parse_tls_boolean, FIELD(allow_self_signed)},
    {"cafile", parse_tls_path, TEXT(REDIS_TLS_CAFILE)},
    {"capath", parse_tls_path, TEXT(REDIS_TLS_CAPATH)},
    {"capture_peer_cert", ignore_tls_option, 0},
    {"capture_peer_cert_chain", ignore_tls_option, 0},
    {"ciphers", parse_tls_text, TEXT(REDIS_TLS_CIPHERS)},
    {"crypto_method", parse_tls_method, 0},
    {"disable_compression", ignore_tls_option, 0},
    {"local_cert", parse_tls_path, TEXT(REDIS_TLS_LOCAL_CERT)},
    {"local_pk", parse_tls_path, TEXT(REDIS_TLS_LOCAL_PK)},
    {"passphrase", parse_tls_text, TEXT(REDIS_TLS_PASSPHRASE)},
    {"peer_name", parse_tls_name, TEXT(REDIS_TLS_PEER_NAME)},
    {"security_level", parse_tls_level, FIELD(security_level)},
    {"SNI_enabled", parse_tls_boolean, FIELD(send_name)},
    {"verify_depth", parse_tls_depth, FIELD(verify_depth)},
    {"verify_peer", parse_tls_boolean, FIELD(verify_peer)},
    {"verify_peer_name", parse_tls_boolean, FIELD(verify_peer_name)},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(*known))

/* The name itself may be a part of a password, or of a passphrase, with a raw "&" in it. */
static latch_status fail_unknown_tls_option(const redis_dsn_parser *parser)
{
    char names[384];
    size_t length = 0;

    for (size_t at = 0; at < KNOWN_COUNT; at++) {
        length += (size_t) snprintf(names + length, sizeof(names) - length, "%s%s",
                                    at > 0 ? ", " : "", known[at].name);
    }
    return latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0,
                      REDIS_DSN_ERROR "the option \"ssl\" is written \"ssl[name]=value\", and the "
                                      "names that Latch knows are %s",
                      names);
}

latch_status latch_redis_parse_tls_option(redis_dsn_parser *parser)
{
    const char *name = parser->option->name + strlen("ssl");
    size_t length = strlen(name);

    for (size_t at = 0; at < KNOWN_COUNT; at++) {
        if (length == strlen(known[at].name) + 2 && name[0] == '[' && name[length - 1] == ']'
            && memcmp(name + 1, known[at].name, length - 2) == 0) {
            parser->has_tls_options = true;
            return known[at].parse(parser, known[at].offset);
        }
    }
    return fail_unknown_tls_option(parser);
}

/*
 * What asks for TLS in a way that other clients take in silence, without any encryption, is theirs:
 * options beside "redis:", and sockets of this machine.
 */
latch_status latch_redis_check_tls(const redis_dsn_parser *parser)
{
    const char *const *texts = parser->tls.texts;

    if (!parser->is_tls) {
        return parser->has_tls_options
                   ? latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0,
                                REDIS_DSN_ERROR "the option \"ssl\" asks for TLS, which is to be "
                                                "had by \"rediss:\" or \"valkeys:\"")
                   : LATCH_DONE;
    }
    for (size_t at = 0; at < parser->place_count; at++) {
        if (parser->places[at].path != NULL) {
            return latch_fail(parser->error, LATCH_ERROR_UNSUPPORTED, 0,
                              REDIS_DSN_ERROR "TLS is not spoken on a Unix socket, which is to be "
                                              "had by \"redis:\" or \"valkey:\"");
        }
    }
    if (texts[REDIS_TLS_LOCAL_PK] != NULL && texts[REDIS_TLS_LOCAL_CERT] == NULL) {
        return latch_fail(parser->error, LATCH_ERROR_ARGUMENT, 0,
                          REDIS_DSN_ERROR "the option \"ssl[local_pk]\" is the key of a "
                                          "certificate, which \"ssl[local_cert]\" names");
    }
    return LATCH_DONE;
}

void latch_redis_describe_tls(const redis_dsn_parser *parser, char *text, size_t size)
{
    const redis_tls_settings *tls = &parser->tls;

    snprintf(text, size, "%d %d %d %d %d %d %d %d %d", parser->is_tls, tls->verify_peer,
             tls->verify_peer_name, tls->allow_self_signed, tls->send_name, tls->verify_depth,
             tls->security_level, tls->oldest, tls->newest);
}

/* ---- What comes of them */

redis_tls *latch_redis_tls_make(const latch_engine *engine, const redis_tls_settings *settings)
{
    size_t size = sizeof(redis_tls);
    redis_tls *tls;
    char *end;

    for (size_t at = 0; at < REDIS_TLS_TEXT_COUNT; at++) {
        size += settings->texts[at] != NULL ? strlen(settings->texts[at]) + 1 : 0;
    }
    tls = latch_allocate(engine, size);
    if (tls == NULL) {
        return NULL;
    }
    memset(tls, 0, sizeof(*tls));
    tls->settings = *settings;
    tls->size = size;
    end = (char *) (tls + 1);
    for (size_t at = 0; at < REDIS_TLS_TEXT_COUNT; at++) {
        if (settings->texts[at] != NULL) {
            tls->settings.texts[at] = end;
            end = stpcpy(end, settings->texts[at]) + 1;
        }
    }
    return tls;
}

void latch_redis_tls_free(const latch_engine *engine, redis_tls *tls)
{
    if (tls != NULL) {
        if (tls->drop != NULL) {
            tls->drop(tls);
        }
        explicit_bzero(tls, tls->size);
        latch_free(engine, tls);
    }
}
