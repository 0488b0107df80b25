/* TLS to Redis: who is trusted, and who is told what when somebody is not. */
#include "redis_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <unistd.h>

#define CA "ssl[cafile]=@ca.crt"

static void whom_the_ca_has_signed_is_trusted(void **state)
{
    (void) state;
    redis_tls_expect("localhost:PORT?" CA);
    redis_tls_expect("LOCALHOST:PORT?" CA);
    redis_tls_expect("127.0.0.1:PORT?" CA);
    redis_tls_expect("127.0.0.1:PORT?ssl[capath]=@ca");
    redis_tls_expect("127.0.0.1:PORT?" CA "&ssl[peer_name]=localhost."); /* a whole name */
}

static void nobody_else_is(void **state)
{
    static const char untrusted[] = "the server's certificate cannot be trusted: ";

    (void) state;
    redis_tls_expect_failure("localhost:PORT", untrusted); /* by those that the system knows */
    redis_tls_expect_failure("localhost:PORT", "by \"ssl[cafile]\"");
    redis_tls_expect_failure("localhost:PORT?ssl[cafile]=@stranger.crt", untrusted);
    redis_tls_expect("localhost:PORT?ssl[cafile]=@stranger.crt&ssl[verify_peer]=0");
    redis_tls_expect("localhost:PORT?ssl[verify_peer]=no");
}

static void a_certificate_that_has_expired_is_refused(void **state)
{
    (void) state;
    redis_tls_show("expired");
    redis_tls_expect_failure("localhost:PORT?" CA, "certificate has expired");
    redis_tls_expect("localhost:PORT?" CA "&ssl[verify_peer]=0");
}

static void one_that_is_signed_by_itself_has_to_be_named_or_allowed(void **state)
{
    (void) state;
    redis_tls_show("loner");
    redis_tls_expect_failure("localhost:PORT?" CA, "name the file with that certificate by");
    redis_tls_expect("localhost:PORT?ssl[cafile]=@loner.crt");
    redis_tls_expect("localhost:PORT?ssl[allow_self_signed]=1");
    redis_tls_expect_failure("127.0.0.1:PORT?ssl[allow_self_signed]=1&ssl[peer_name]=redis.example",
                             "is not for \"redis.example\"");
    redis_tls_show("server");
    redis_tls_expect_failure("localhost:PORT?ssl[allow_self_signed]=1", "cannot be trusted");
}

static void a_certificate_must_have_the_servers_name(void **state)
{
    (void) state;
    redis_tls_show("elsewhere");
    redis_tls_expect_failure("localhost:PORT?" CA, "is not for \"localhost\"; if it is the right");
    redis_tls_expect_failure("127.0.0.1:PORT?" CA, "is not for \"127.0.0.1\"");
    redis_tls_expect("localhost:PORT?" CA "&ssl[peer_name]=redis.example");
    redis_tls_expect("localhost:PORT?" CA "&ssl[verify_peer_name]=0");
    /* Two questions, as with PHP. */
    redis_tls_expect_failure("localhost:PORT?ssl[verify_peer]=0", "is not for \"localhost\"");
    redis_tls_expect("localhost:PORT?ssl[verify_peer]=0&ssl[peer_name]=redis.example");
    redis_tls_expect("localhost:PORT?ssl[verify_peer]=0&ssl[verify_peer_name]=0");
    redis_tls_expect_failure("localhost:PORT?ssl[verify_peer_name]=0", "cannot be trusted");
}

static void a_client_may_have_to_show_a_certificate(void **state)
{
    (void) state;
    redis_tls_demand();
    for (int version = 33; version <= 65; version += 32) {
        char place[200];

        snprintf(place, sizeof(place), "localhost:PORT?" CA "&ssl[crypto_method]=%d&", version);
        redis_tls_expect_failure(place, version == 65 ? "the server demands a certificate of ours"
                                                      : "has asked for a certificate of ours");
        strcat(place, "ssl[local_cert]=@client.crt&ssl[local_pk]=@client.key");
        redis_tls_expect(place);
    }
    redis_tls_expect("localhost:PORT?" CA "&ssl[local_cert]=@client-both.pem"
                     "&ssl[passphrase]=open%20sesame");
    redis_tls_expect("localhost:PORT?" CA "&ssl[local_cert]=@client.crt"
                     "&ssl[local_pk]=@client-locked.key&ssl[passphrase]=open+sesame");
    redis_tls_expect_failure("localhost:PORT?" CA "&ssl[local_cert]=@stranger-client.crt"
                             "&ssl[local_pk]=@stranger-client.key",
                             "the server refused the certificate of \"ssl[local_cert]\"");
}

static void files_that_are_of_no_use_are_named(void **state)
{
    static const char *const locked = "localhost:PORT?" CA "&ssl[local_cert]=@client.crt"
                                      "&ssl[local_pk]=@client-locked.key";
    char place[200];

    (void) state;
    redis_tls_expect_failure("localhost:PORT?ssl[cafile]=@none",
                             "the option \"ssl[cafile]\" names");
    redis_tls_expect_failure("localhost:PORT?ssl[cafile]=@none", "none\", which is not usable: No");
    redis_tls_expect_failure("localhost:PORT?ssl[cafile]=@ca.key", "\"ssl[cafile]\" names");
    redis_tls_expect_failure("localhost:PORT?ssl[cafile]=@", "it is no file");
    redis_tls_expect_failure("localhost:PORT?ssl[cafile]=/dev/zero", "it is no file");
    redis_tls_expect_failure("localhost:PORT?ssl[capath]=@ca.crt", "it is no directory");
    redis_tls_expect_failure("localhost:PORT?" CA "&ssl[local_cert]=@ca.key",
                             "the option \"ssl[local_cert]\" names");
    redis_tls_expect_failure("localhost:PORT?" CA "&ssl[local_cert]=@client.crt",
                             "(the option \"ssl[local_cert]\") cannot be used");
    redis_tls_expect_failure("localhost:PORT?" CA "&ssl[local_cert]=@client.crt"
                             "&ssl[local_pk]=@ca.key",
                             "(the option \"ssl[local_pk]\") cannot be used: key values mismatch");
    /* Without a passphrase nobody is asked for it at the terminal. */
    redis_tls_expect_failure(locked, "one that is encrypted needs \"ssl[passphrase]\"");
    snprintf(place, sizeof(place), "%s&ssl[passphrase]=never-told", locked);
    redis_tls_expect_failure(place, "its passphrase may be another than \"ssl[passphrase]\"");
    assert_null(strstr(unit.error.message, "never-told"));
}

static void versions_and_ciphers_can_be_chosen(void **state)
{
    (void) state;
    unit_redis_ask("CONFIG SET tls-protocols TLSv1.2");
    redis_tls_expect("localhost:PORT?" CA);
    redis_tls_expect("localhost:PORT?" CA "&ssl[crypto_method]=33");
    redis_tls_expect("localhost:PORT?" CA "&ssl[crypto_method]=121&ssl[security_level]=0");
    redis_tls_expect("localhost:PORT?" CA "&ssl[ciphers]=ECDHE-ECDSA-AES256-GCM-SHA384");
    redis_tls_expect_failure("localhost:PORT?" CA "&ssl[crypto_method]=65",
                             "the server has no version of TLS that is allowed");
    redis_tls_expect_failure("localhost:PORT?" CA "&ssl[ciphers]=ECDHE-RSA-AES256-GCM-SHA384",
                             "TLS failed: ");
    redis_tls_expect_failure("localhost:PORT?" CA "&ssl[ciphers]=nonsense", "names no cipher");
    unit_redis_ask("CONFIG SET tls-protocols %s", "");
    redis_tls_expect("localhost:PORT?" CA "&ssl[crypto_method]=65");
}

/* Nobody who uses OpenSSL in this thread afterwards is told of what went wrong here. */
static void the_errors_of_openssl_are_not_left_to_others(void **state)
{
    latch_lease *lease;

    (void) state;
    redis_tls_expect_failure("localhost:PORT", "cannot be trusted");
    assert_int_equal(ERR_peek_error(), 0);
    redis_tls_expect_failure("localhost:PORT?ssl[cafile]=@ca.key", "ssl[cafile]");
    assert_int_equal(ERR_peek_error(), 0);
    /* Nor is what others have left taken for our own. */
    lease = redis_lease_in(redis_tls_open_with(""), "r");
    for (int kind = 0; kind < 2; kind++) {
        ERR_put_error(ERR_LIB_USER, 0, 1, __FILE__, __LINE__);
        UNIT_CHECK(redis_run(lease, kind == 0 ? LATCH_ACQUIRE : LATCH_RELEASE) == LATCH_DONE);
    }
    UNIT_CHECK(((redis_store *) lease->store)->topology.single.connection.established == 1);
    ERR_clear_error();
}

/* ---- Certificates are replaced while programs run */

static void replace(const char *file, const char *by)
{
    char command[4 * UNIT_PATH];

    snprintf(command, sizeof(command), "cd %s && cp %s new && mv new %s",
             redis_tls_server.directory, by, file);
    UNIT_CHECK(system(command) == 0);
}

static void files_are_read_anew_when_they_were_replaced(void **state)
{
    latch_lease *lease;

    (void) state;
    replace("current.crt", "ca.crt");
    lease = redis_lease_in(redis_tls_open("localhost:PORT?ssl[cafile]=@current.crt"), "r");
    redis_expect_working(lease);
    replace("current.crt", "stranger.crt");
    redis_expect_working(lease); /* the connection that there is */
    unit_redis_ask("CLIENT KILL TYPE normal");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "cannot be trusted"));
    replace("current.crt", "ca.crt");
    redis_expect_working(lease);
}

static bool is_resumed(latch_store *store)
{
    return SSL_session_reused(((redis_store *) store)->topology.single.connection.tls->ssl) == 1;
}

static void a_session_is_gone_on_with(void **state)
{
    static const char *const versions[] = {"ssl[crypto_method]=33", "ssl[crypto_method]=65"};

    (void) state;
    for (int version = 0; version < 2; version++) {
        latch_store *store = redis_tls_open_with(versions[version]);
        latch_lease *lease = redis_lease_in(store, "r");

        redis_expect_working(lease);
        UNIT_CHECK(!is_resumed(store));
        for (int again = 0; again < 3; again++) {
            unit_redis_ask("CLIENT KILL TYPE normal");
            redis_expect_working(lease);
            UNIT_CHECK(is_resumed(store));
        }
        redis_tls_show("renewed"); /* the server has forgotten all of them */
        unit_redis_ask("CLIENT KILL TYPE normal");
        redis_expect_working(lease);
        UNIT_CHECK(!is_resumed(store));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TLS_TEST(whom_the_ca_has_signed_is_trusted),
        REDIS_TLS_TEST(nobody_else_is),
        REDIS_TLS_TEST(a_certificate_that_has_expired_is_refused),
        REDIS_TLS_TEST(one_that_is_signed_by_itself_has_to_be_named_or_allowed),
        REDIS_TLS_TEST(a_certificate_must_have_the_servers_name),
        REDIS_TLS_TEST(a_client_may_have_to_show_a_certificate),
        REDIS_TLS_TEST(files_that_are_of_no_use_are_named),
        REDIS_TLS_TEST(versions_and_ciphers_can_be_chosen),
        REDIS_TLS_TEST(the_errors_of_openssl_are_not_left_to_others),
        REDIS_TLS_TEST(files_are_read_anew_when_they_were_replaced),
        REDIS_TLS_TEST(a_session_is_gone_on_with),
    };

    return cmocka_run_group_tests_name("redis tls", tests, redis_tls_group_setup,
                                       redis_tls_group_teardown);
}
