/* What a DSN for Redis asks for when it asks for TLS, in the words of PHP's SSL contexts. */
#include "src/store/redis/options/options.h"
#include "src/store/redis/wire/tls.h"
#include "unit.h"

static latch_status parse(const char *text, redis_options *options)
{
    memset(&unit.error, 0, sizeof(unit.error));
    return latch_redis_options_parse(unit.engine, text, strlen(text), options, &unit.error);
}

static void refuse(latch_status status, const char *text, const char *why)
{
    redis_options options;

    if (parse(text, &options) != status || strstr(unit.error.message, why) == NULL) {
        fail_msg("%s: \"%s\", not \"%s\"", text, unit.error.message, why);
    }
    assert_int_equal(strncmp(unit.error.message, "invalid Redis DSN: ", 19), 0);
    assert_null(options.identity);
    assert_null(options.tls);
}

/* The settings that "rediss://h?TEXT" asks for; their texts are gone. */
static redis_tls_settings settings_of(const char *text)
{
    redis_options options;
    redis_tls_settings settings;
    char dsn[300];

    snprintf(dsn, sizeof(dsn), "rediss://h?%s", text);
    if (parse(dsn, &options) != LATCH_DONE) {
        fail_msg("%s: %s", dsn, unit.error.message);
    }
    assert_non_null(options.tls);
    settings = options.tls->settings;
    latch_redis_options_free(unit.engine, &options);
    return settings;
}

static void expect_text(const char *name, redis_tls_text text)
{
    redis_options options;
    char dsn[100];

    snprintf(dsn, sizeof(dsn), "valkeys://h?ssl[%s]=old&ssl[%s]=%%20v+%%26", name, name);
    if (text == REDIS_TLS_LOCAL_PK) {
        strcat(dsn, "&ssl[local_cert]=c");
    }
    assert_int_equal(parse(dsn, &options), LATCH_DONE);
    assert_string_equal(options.tls->settings.texts[text], " v &");
    snprintf(dsn, sizeof(dsn), "ssl[%s]", name);
    assert_string_equal(latch_redis_tls_name(text), dsn);
    latch_redis_options_free(unit.engine, &options);
}

static void it_is_the_scheme_that_asks_for_it(void **state)
{
    redis_options options;

    (void) state;
    assert_int_equal(parse("rediss://Host:1/2?prefix=p", &options), LATCH_DONE);
    assert_non_null(options.tls);
    assert_string_equal(options.address, "host:1");
    assert_int_equal(options.database, 2);
    latch_redis_options_free(unit.engine, &options);
    assert_int_equal(parse("valkeys:?host[[::1]:7]", &options), LATCH_DONE);
    assert_non_null(options.tls);
    assert_string_equal(options.address, "[::1]:7");
    latch_redis_options_free(unit.engine, &options);
    assert_int_equal(parse("redis://h", &options), LATCH_DONE);
    assert_null(options.tls);
    latch_redis_options_free(unit.engine, &options);
}

/* Others speak plain text there, without a word. */
static void what_would_not_be_encrypted_is_refused(void **state)
{
    static const char elsewhere[] =
        "the option \"ssl\" asks for TLS, which is to be had by \"rediss:\"";
    static const char socket[] = "TLS is not spoken on a Unix socket";

    (void) state;
    refuse(LATCH_ERROR_UNSUPPORTED, "redis://h?ssl[verify_peer]=0", elsewhere);
    refuse(LATCH_ERROR_UNSUPPORTED, "valkey://h?ssl[cafile]=x", elsewhere);
    refuse(LATCH_ERROR_UNSUPPORTED, "redis://h?ssl[capture_peer_cert]=1", elsewhere);
    refuse(LATCH_ERROR_UNSUPPORTED, "rediss:///run/redis.sock", socket);
    refuse(LATCH_ERROR_UNSUPPORTED, "valkeys:?host[/run/redis.sock:]", socket);
}

static void who_is_trusted_is_not_left_to_chance(void **state)
{
    redis_tls_settings settings = settings_of("");

    (void) state;
    assert_true(settings.verify_peer && settings.verify_peer_name && settings.send_name);
    assert_false(settings.allow_self_signed);
    assert_int_equal(settings.verify_depth, 9);
    assert_int_equal(settings.security_level, -1);
    assert_int_equal(settings.oldest, 2); /* TLS 1.2 */
    assert_int_equal(settings.newest, 3);
    for (int text = 0; text < REDIS_TLS_TEXT_COUNT; text++) {
        assert_null(settings.texts[text]);
    }
}

static void each_option_is_taken(void **state)
{
    (void) state;
    expect_text("cafile", REDIS_TLS_CAFILE);
    expect_text("capath", REDIS_TLS_CAPATH);
    expect_text("local_cert", REDIS_TLS_LOCAL_CERT);
    expect_text("local_pk", REDIS_TLS_LOCAL_PK);
    expect_text("passphrase", REDIS_TLS_PASSPHRASE);
    expect_text("peer_name", REDIS_TLS_PEER_NAME);
    expect_text("ciphers", REDIS_TLS_CIPHERS);
    assert_false(settings_of("ssl[verify_peer]=0").verify_peer);
    assert_true(settings_of("ssl[verify_peer]=0").verify_peer_name);
    assert_false(settings_of("ssl[verify_peer]=0&ssl[verify_peer]=false").verify_peer);
    assert_true(settings_of("ssl[verify_peer]=0&ssl[verify_peer]=on").verify_peer);
    assert_false(settings_of("ssl[verify_peer_name]=off").verify_peer_name);
    assert_true(settings_of("ssl[verify_peer_name]=off").verify_peer);
    assert_true(settings_of("ssl[allow_self_signed]=true").allow_self_signed);
    assert_false(settings_of("ssl[SNI_enabled]=no").send_name);
    assert_int_equal(settings_of("ssl[verify_depth]=0").verify_depth, 0);
    assert_int_equal(settings_of("ssl[security_level]=5").security_level, 5);
    settings_of("ssl[capture_peer_cert]=1&ssl[capture_peer_cert_chain]=1"
                "&ssl[disable_compression]=1");
}

static void the_versions_are_those_of_phps_constants(void **state)
{
    static const struct {
        const char *method;
        int oldest, newest;
    } methods[] = {{"9", 0, 0},  {"17", 1, 1},  {"33", 2, 2},  {"65", 3, 3},
                   {"97", 2, 3}, {"121", 0, 3}, {"127", 0, 3}, {"57", 0, 2}};
    static const char *const bad[] = {"0", "1", "3", "7", "", "x", "-1", "1.2", "TLSv1_2", "129"};
    char text[100];

    (void) state;
    for (size_t at = 0; at < sizeof(methods) / sizeof(*methods); at++) {
        redis_tls_settings settings;

        snprintf(text, sizeof(text), "ssl[crypto_method]=%s", methods[at].method);
        settings = settings_of(text);
        assert_int_equal(settings.oldest, methods[at].oldest);
        assert_int_equal(settings.newest, methods[at].newest);
    }
    for (size_t at = 0; at < sizeof(bad) / sizeof(*bad); at++) {
        snprintf(text, sizeof(text), "rediss://h?ssl[crypto_method]=%s", bad[at]);
        refuse(LATCH_ERROR_ARGUMENT, text, "STREAM_CRYPTO_METHOD_TLSv*_CLIENT, such as 33");
    }
}

static void what_is_wrong_is_said(void **state)
{
    static const char known[] = "the names that Latch knows are allow_self_signed, cafile, capath,";
    char text[400] = "rediss://h?ssl[peer_name]=";

    (void) state;
    refuse(LATCH_ERROR_ARGUMENT, "rediss://h?ssl[verify_peer]=maybe",
           "\"ssl[verify_peer]\" is 0 or 1");
    refuse(LATCH_ERROR_ARGUMENT, "rediss://h?ssl[verify_depth]=-1", "\"ssl[verify_depth]\" is a");
    refuse(LATCH_ERROR_ARGUMENT, "rediss://h?ssl[verify_depth]=101", "from 0 to 100");
    refuse(LATCH_ERROR_ARGUMENT, "rediss://h?ssl[security_level]=6", "from 0 to 5");
    refuse(LATCH_ERROR_ARGUMENT, "rediss://h?ssl[local_pk]=k", "which \"ssl[local_cert]\" names");
    refuse(LATCH_ERROR_ARGUMENT, "rediss://h?ssl[local_pk]=-----BEGIN+PRIVATE+KEY-----",
           "the option \"ssl[local_pk]\" is the path of a file, not what is in the file");
    refuse(LATCH_ERROR_UNSUPPORTED, "rediss://h?ssl[peer_fingerprint]=x", known);
    assert_non_null(strstr(unit.error.message, ", verify_peer, verify_peer_name")); /* all */
    refuse(LATCH_ERROR_UNSUPPORTED, "rediss://h?ssl=1", known);
    refuse(LATCH_ERROR_UNSUPPORTED, "rediss://h?ssl[]=1", known);
    refuse(LATCH_ERROR_UNSUPPORTED, "rediss://h?ssl[CAFILE]=1", known);
    refuse(LATCH_ERROR_UNSUPPORTED, "rediss://h?ssl[cafile][x]=1", known);
    memset(text + strlen(text), 'x', 254);
    refuse(LATCH_ERROR_ARGUMENT, text, "\"ssl[peer_name]\" is a host's name");
}

static void each_setting_makes_another_connection(void **state)
{
    static const char *const dsns[] = {"redis://h",
                                       "rediss://h",
                                       "rediss://h?ssl[verify_peer]=0",
                                       "rediss://h?ssl[verify_peer_name]=0",
                                       "rediss://h?ssl[allow_self_signed]=1",
                                       "rediss://h?ssl[SNI_enabled]=0",
                                       "rediss://h?ssl[verify_depth]=1",
                                       "rediss://h?ssl[security_level]=1",
                                       "rediss://h?ssl[crypto_method]=33",
                                       "rediss://h?ssl[crypto_method]=65",
                                       "rediss://h?ssl[cafile]=x",
                                       "rediss://h?ssl[capath]=x",
                                       "rediss://h?ssl[local_cert]=x",
                                       "rediss://h?ssl[local_cert]=x&ssl[local_pk]=x",
                                       "rediss://h?ssl[passphrase]=x",
                                       "rediss://h?ssl[passphrase]=y",
                                       "rediss://h?ssl[peer_name]=x",
                                       "rediss://h?ssl[ciphers]=x"};
    enum { COUNT = sizeof(dsns) / sizeof(*dsns) };
    redis_options options[COUNT], same;

    (void) state;
    for (size_t at = 0; at < COUNT; at++) {
        assert_int_equal(parse(dsns[at], &options[at]), LATCH_DONE);
        for (size_t other = 0; other < at; other++) {
            assert_string_not_equal(options[at].identity, options[other].identity);
        }
    }
    assert_int_equal(parse("valkeys://h?ssl[cafile]=&ssl[verify_peer]=1&ssl[crypto_method]=97",
                           &same),
                     LATCH_DONE);
    assert_string_equal(same.identity, options[1].identity);
    latch_redis_options_free(unit.engine, &same);
    for (size_t at = 0; at < COUNT; at++) {
        latch_redis_options_free(unit.engine, &options[at]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(it_is_the_scheme_that_asks_for_it, setup),
        UNIT_TEST(what_would_not_be_encrypted_is_refused, setup),
        UNIT_TEST(who_is_trusted_is_not_left_to_chance, setup),
        UNIT_TEST(each_option_is_taken, setup),
        UNIT_TEST(the_versions_are_those_of_phps_constants, setup),
        UNIT_TEST(what_is_wrong_is_said, setup),
        UNIT_TEST(each_setting_makes_another_connection, setup),
    };

    return cmocka_run_group_tests_name("redis tls options", tests, NULL, NULL);
}
