/*
 * TLS context of a store's connections: trusted CAs, client certificate, versions, ciphers, and a
 * session to resume. Its files may be replaced while a program runs, as certificates expire: a new
 * connection reads them anew.
 */
#include "src/store/redis/wire/tls.h"
#include "src/store/redis/wire/tls_library.h"

#include <errno.h>
#include <string.h>

#if OPENSSL_VERSION_NUMBER < 0x10101000L
#error "Latch's TLS needs OpenSSL 1.1.1 or later"
#endif

/* Shown part of a path. */
#define SHOWN_PATH "%.160s"

/* ---- Files ---------------------------------------------------------------------------------- */

static const char *path_of(const redis_tls *tls, redis_tls_text text)
{
    /* One file may have both. */
    return text == REDIS_TLS_LOCAL_PK && tls->settings.texts[text] == NULL
               ? tls->settings.texts[REDIS_TLS_LOCAL_CERT]
               : tls->settings.texts[text];
}

static latch_status fail_tls_file(const redis_tls *tls, redis_tls_text text, latch_error *error,
                                  const char *why)
{
    return latch_fail(error, LATCH_ERROR_STORE, 0,
                      "the option \"%s\" names \"" SHOWN_PATH "\", which is not usable: %s",
                      latch_redis_tls_name(text), path_of(tls, text), why);
}

/* Checks the files: opening anything else might block without end. */
static latch_status stat_files(const redis_tls *tls, struct stat files[REDIS_TLS_PATH_COUNT],
                               latch_error *error)
{
    memset(files, 0, REDIS_TLS_PATH_COUNT * sizeof(*files));
    for (redis_tls_text text = 0; text < REDIS_TLS_PATH_COUNT; text++) {
        const char *path = tls->settings.texts[text];

        if (path == NULL) {
            continue;
        }
        if (stat(path, &files[text]) != 0) {
            return fail_tls_file(tls, text, error, strerror(errno));
        }
        if (text == REDIS_TLS_CAPATH ? !S_ISDIR(files[text].st_mode)
                                     : !S_ISREG(files[text].st_mode)) {
            return fail_tls_file(tls, text, error,
                                 text == REDIS_TLS_CAPATH ? "it is no directory" : "it is no file");
        }
    }
    return LATCH_DONE;
}

static bool are_unchanged(const struct stat before[REDIS_TLS_PATH_COUNT],
                          const struct stat now[REDIS_TLS_PATH_COUNT])
{
    for (size_t at = 0; at < REDIS_TLS_PATH_COUNT; at++) {
        if (before[at].st_dev != now[at].st_dev || before[at].st_ino != now[at].st_ino
            || before[at].st_size != now[at].st_size
            || before[at].st_mtim.tv_sec != now[at].st_mtim.tv_sec
            || before[at].st_mtim.tv_nsec != now[at].st_mtim.tv_nsec) {
            return false;
        }
    }
    return true;
}

/* OpenSSL's first error, as text. */
static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_error());

    return text != NULL ? text : "OpenSSL cannot read it";
}

/* ---- Callbacks ------------------------------------------------------------------------------ */

/* Answers OpenSSL's question for a passphrase, which else goes to the terminal. */
static int give_passphrase(char *buffer, int size, int is_writing, void *context)
{
    const redis_tls *tls = context;
    const char *passphrase = tls->settings.texts[REDIS_TLS_PASSPHRASE];
    size_t length = passphrase != NULL ? strlen(passphrase) : 0;

    (void) is_writing;
    if (length == 0 || length > (size_t) size) {
        return -1;
    }
    memcpy(buffer, passphrase, length);
    return (int) length;
}

/* Verification as PHP's: name and issuer separately, either may be waived. */
static int judge_certificate(int is_good, X509_STORE_CTX *store)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const redis_tls_stream *stream = SSL_get_app_data(ssl);
    const redis_tls_settings *settings = &stream->tls->settings;
    int trouble = X509_STORE_CTX_get_error(store);

    if (is_good || trouble == X509_V_ERR_HOSTNAME_MISMATCH
        || trouble == X509_V_ERR_IP_ADDRESS_MISMATCH) {
        return is_good;
    }
    return !settings->verify_peer
           || (settings->allow_self_signed && trouble == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
}

static int record_certificate_request(SSL *ssl, void *context)
{
    redis_tls_stream *stream = SSL_get_app_data(ssl);

    (void) context;
    stream->wants_certificate = true;
    return 1;
}

/* Stores the session for resumption by the next connection. 1: it is ours to free. */
static int store_session(SSL *ssl, SSL_SESSION *session)
{
    const redis_tls_stream *stream = SSL_get_app_data(ssl);
    redis_tls *tls = stream->tls;

    if (SSL_get_SSL_CTX(ssl) != tls->context) {
        return 0; /* of files that were replaced since */
    }
    SSL_SESSION_free(tls->session);
    tls->session = session;
    memcpy(tls->session_name, stream->name, sizeof(tls->session_name));
    return 1;
}

/* ---- The context ---------------------------------------------------------------------------- */

static latch_status load_trusted(redis_tls *tls, latch_error *error)
{
    const redis_tls_settings *settings = &tls->settings;
    const char *file = settings->texts[REDIS_TLS_CAFILE], *path = settings->texts[REDIS_TLS_CAPATH];

    if (!settings->verify_peer && !settings->verify_peer_name) {
        return LATCH_DONE;
    }
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, judge_certificate);
    SSL_CTX_set_verify_depth(tls->context, settings->verify_depth);
    if (!settings->verify_peer) {
        return LATCH_DONE;
    }
    if (file == NULL && path == NULL) {
        return SSL_CTX_set_default_verify_paths(tls->context) == 1 ? LATCH_DONE
                                                                   : latch_fail_memory(error);
    }
    if (file != NULL && SSL_CTX_load_verify_locations(tls->context, file, NULL) != 1) {
        return fail_tls_file(tls, REDIS_TLS_CAFILE, error, reason());
    }
    if (path != NULL && SSL_CTX_load_verify_locations(tls->context, NULL, path) != 1) {
        return fail_tls_file(tls, REDIS_TLS_CAPATH, error, reason());
    }
    return LATCH_DONE;
}

static latch_status load_certificate(redis_tls *tls, latch_error *error)
{
    const char *certificate = tls->settings.texts[REDIS_TLS_LOCAL_CERT];
    const char *key = path_of(tls, REDIS_TLS_LOCAL_PK);

    if (certificate == NULL) {
        return LATCH_DONE;
    }
    SSL_CTX_set_default_passwd_cb(tls->context, give_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(tls->context, tls);
    if (SSL_CTX_use_certificate_chain_file(tls->context, certificate) != 1) {
        return fail_tls_file(tls, REDIS_TLS_LOCAL_CERT, error, reason());
    }
    ERR_clear_error();
    if (SSL_CTX_use_PrivateKey_file(tls->context, key, SSL_FILETYPE_PEM) != 1) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the private key in \"" SHOWN_PATH "\" (the option \"%s\") cannot be "
                          "used: %s; %s \"%s\"",
                          key,
                          latch_redis_tls_name(tls->settings.texts[REDIS_TLS_LOCAL_PK] != NULL
                                                   ? REDIS_TLS_LOCAL_PK
                                                   : REDIS_TLS_LOCAL_CERT),
                          reason(),
                          tls->settings.texts[REDIS_TLS_PASSPHRASE] != NULL
                              ? "its passphrase may be another than"
                              : "one that is encrypted needs",
                          latch_redis_tls_name(REDIS_TLS_PASSPHRASE));
    }
    return LATCH_DONE;
}

static latch_status choose_algorithms(redis_tls *tls, latch_error *error)
{
    const redis_tls_settings *settings = &tls->settings;
    const char *ciphers = settings->texts[REDIS_TLS_CIPHERS];

    if (settings->security_level >= 0) {
        SSL_CTX_set_security_level(tls->context, settings->security_level);
    }
    if (SSL_CTX_set_min_proto_version(tls->context, TLS1_VERSION + settings->oldest) != 1
        || SSL_CTX_set_max_proto_version(tls->context, TLS1_VERSION + settings->newest) != 1) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "this OpenSSL does not have the versions of TLS that the option "
                          "\"ssl[crypto_method]\" asks for");
    }
    if (ciphers != NULL && SSL_CTX_set_cipher_list(tls->context, ciphers) != 1) {
        return latch_fail(error, LATCH_ERROR_STORE, 0,
                          "the option \"%s\" names no cipher that this OpenSSL has",
                          latch_redis_tls_name(REDIS_TLS_CIPHERS));
    }
    return LATCH_DONE;
}

static latch_status make_context(redis_tls *tls, latch_error *error)
{
    latch_status status;

    tls->context = SSL_CTX_new(TLS_client_method());
    if (tls->context == NULL) {
        return latch_fail_memory(error);
    }
    /* A retried write may pass its text at another address. */
    SSL_CTX_set_mode(tls->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* So that reading never has to wait for writing, nor writing for reading. */
    SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_read_ahead(tls->context, 1); /* one system call for a record, not two */
    SSL_CTX_set_session_cache_mode(tls->context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(tls->context, store_session);
    SSL_CTX_set_cert_cb(tls->context, record_certificate_request, NULL);
    status = choose_algorithms(tls, error);
    if (status == LATCH_DONE) {
        status = load_trusted(tls, error);
    }
    return status == LATCH_DONE ? load_certificate(tls, error) : status;
}

/* Frees the context, but not `transport`, which open streams go on using. */
static void free_context(redis_tls *tls)
{
    if (tls->context != NULL) { /* else OpenSSL may not have been opened */
        SSL_SESSION_free(tls->session);
        SSL_CTX_free(tls->context);
    }
    tls->session = NULL;
    tls->context = NULL;
}

static void drop_context(redis_tls *tls)
{
    free_context(tls);
    if (tls->transport != NULL) {
        BIO_meth_free(tls->transport);
    }
    tls->transport = NULL;
}

latch_status latch_redis_tls_open_library(latch_error *error)
{
    return latch_library_open(&latch_openssl_library, error);
}

latch_status latch_redis_tls_prepare(redis_tls *tls, latch_error *error)
{
    struct stat files[REDIS_TLS_PATH_COUNT];
    latch_status status = stat_files(tls, files, error);

    if (status != LATCH_DONE || (tls->context != NULL && are_unchanged(tls->files, files))) {
        return status;
    }
    free_context(tls);
    tls->drop = drop_context;
    memcpy(tls->files, files, sizeof(files));
    ERR_clear_error();
    status = make_context(tls, error);
    ERR_clear_error(); /* PHP's own extension shall find none of ours */
    if (status != LATCH_DONE) {
        free_context(tls);
    }
    return status;
}
