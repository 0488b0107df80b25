/* TLS of one connection, on a non-blocking socket: see tls.h. */
#include "src/store/redis/wire/tls.h"
#include "src/store/redis/wire/tls_library.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/*
 * OpenSSL's queue of errors belongs to the thread: SSL_get_error() takes what others have left
 * there for ours, and PHP's own extension shall find none of ours. There is hardly ever one, which
 * is seen in less time than it takes to clear the queue.
 */
static void clear_openssl_errors(void)
{
    if (ERR_peek_error() != 0) {
        ERR_clear_error();
    }
}

/* ---- The socket, as OpenSSL sees it: its own way to write to one raises SIGPIPE ------------- */

static int set_name_option(BIO *bio, ssize_t count, int retry)
{
    BIO_clear_retry_flags(bio);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
    }
    return (int) count;
}

static int write_socket(BIO *bio, const char *data, int length)
{
    const latch_descriptor *descriptor = BIO_get_data(bio);

    return set_name_option(bio, send(descriptor->fd, data, (size_t) length, MSG_NOSIGNAL),
                           BIO_FLAGS_WRITE);
}

static int read_socket(BIO *bio, char *data, int size)
{
    const latch_descriptor *descriptor = BIO_get_data(bio);

    return set_name_option(bio, recv(descriptor->fd, data, (size_t) size, 0), BIO_FLAGS_READ);
}

static long control_socket(BIO *bio, int command, long number, void *pointer)
{
    (void) bio;
    (void) number;
    (void) pointer;
    return command == BIO_CTRL_FLUSH; /* there is nothing to be flushed */
}

static BIO *make_transport(redis_tls_stream *stream)
{
    redis_tls *tls = stream->tls;
    BIO *bio;

    if (tls->transport == NULL) {
        tls->transport = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "latch");
        if (tls->transport == NULL) {
            return NULL;
        }
        BIO_meth_set_write(tls->transport, write_socket);
        BIO_meth_set_read(tls->transport, read_socket);
        BIO_meth_set_ctrl(tls->transport, control_socket);
    }
    bio = BIO_new(tls->transport);
    if (bio != NULL) {
        BIO_set_data(bio, (void *) stream->descriptor);
        BIO_set_init(bio, 1);
    }
    return bio;
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

/*
 * Normalises the server's name as in certificates: without the dot that ends a whole name, and for
 * an address without the interface behind "%".
 */
static void set_expected_name(redis_tls_stream *stream, const char *host)
{
    const char *given = stream->tls->settings.texts[REDIS_TLS_PEER_NAME];
    size_t length;

    /* No server has a longer name. */
    snprintf(stream->name, sizeof(stream->name), "%s", given != NULL ? given : host);
    length = strlen(stream->name);
    if (strchr(stream->name, ':') != NULL) {
        stream->name[strcspn(stream->name, "%")] = '\0';
    } else if (length > 1 && stream->name[length - 1] == '.') {
        stream->name[length - 1] = '\0';
    }
}

static bool is_address(const char *name)
{
    struct in6_addr address;

    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* Sets the expected name, and tells it to a server that may have several certificates (SNI). */
static bool expect_name(const redis_tls_stream *stream)
{
    const redis_tls_settings *settings = &stream->tls->settings;
    X509_VERIFY_PARAM *rules = SSL_get0_param(stream->ssl);
    bool by_address = is_address(stream->name), is_set = true;

    if (settings->verify_peer_name) {
        X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        is_set = by_address ? X509_VERIFY_PARAM_set1_ip_asc(rules, stream->name) == 1
                            : X509_VERIFY_PARAM_set1_host(rules, stream->name, 0) == 1;
    }
    return is_set
           && (!settings->send_name || by_address
               || SSL_set_tlsext_host_name(stream->ssl, stream->name) == 1);
}

static bool make_ssl(redis_tls_stream *stream)
{
    redis_tls *tls = stream->tls;
    BIO *bio;

    stream->ssl = SSL_new(tls->context);
    bio = stream->ssl != NULL ? make_transport(stream) : NULL;
    if (bio == NULL) {
        return false;
    }
    SSL_set_bio(stream->ssl, bio, bio);
    SSL_set_app_data(stream->ssl, stream);
    SSL_set_connect_state(stream->ssl);
    if (tls->session != NULL && strcmp(tls->session_name, stream->name) == 0) {
        SSL_set_session(stream->ssl, tls->session);
    }
    return expect_name(stream);
}

latch_status latch_redis_tls_begin(redis_tls *tls, latch_engine *engine,
                                   const latch_descriptor *descriptor, const char *host,
                                   redis_tls_stream **stream, latch_error *error)
{
    latch_status status = latch_redis_tls_prepare(tls, error);
    redis_tls_stream *made;
    bool is_made;

    if (status != LATCH_DONE) {
        return status;
    }
    made = latch_allocate(engine, sizeof(*made));
    if (made == NULL) {
        return latch_fail_memory(error);
    }
    memset(made, 0, sizeof(*made));
    made->tls = tls;
    made->descriptor = descriptor;
    made->read_events = POLLIN;
    made->write_events = POLLOUT;
    set_expected_name(made, host);
    is_made = make_ssl(made);
    clear_openssl_errors();
    if (!is_made) {
        latch_redis_tls_end(engine, made);
        return latch_fail_memory(error);
    }
    *stream = made;
    return LATCH_DONE;
}

void latch_redis_tls_end(latch_engine *engine, redis_tls_stream *stream)
{
    if (stream->ssl != NULL) {
        /* As if both had said good-bye: else its session would be thought of as broken. */
        SSL_set_shutdown(stream->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        SSL_free(stream->ssl);
    }
    latch_free(engine, stream);
}

/* ---- What went wrong, in words -------------------------------------------------------------- */

static latch_status fail_tls(latch_error *error, const char *what)
{
    return latch_fail(error, LATCH_ERROR_STORE, 0, "%s", what);
}

static latch_status explain_distrust(const redis_tls_stream *stream, latch_error *error)
{
    long trouble = SSL_get_verify_result(stream->ssl);
    const char *advice = "";

    switch (trouble) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return latch_fail(error, LATCH_ERROR_STORE, 0,
                              "the server's certificate is not for \"%s\"; if it is the right "
                              "server, give the name in its certificate by \"ssl[peer_name]\"",
                              stream->name);
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            advice = "; name the file with the certificate of its CA by \"ssl[cafile]\"";
            break;
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            advice = "; name the file with that certificate by \"ssl[cafile]\"";
            break;
        default:
            break;
    }
    return latch_fail(error, LATCH_ERROR_STORE, 0,
                      "the server's certificate cannot be trusted: %s%s",
                      X509_verify_cert_error_string(trouble), advice);
}

/*
 * Explain an end of the connection. A server may refuse a client certificate after the client's
 * part of the handshake, with or without a word.
 */
static latch_status explain_end(const redis_tls_stream *stream, latch_error *error)
{
    bool is_established = SSL_is_init_finished(stream->ssl);

    if (stream->wants_certificate && !stream->has_received) {
        return fail_tls(error,
                        stream->tls->settings.texts[REDIS_TLS_LOCAL_CERT] != NULL
                            ? "the server closed the connection, as one that does not trust the "
                              "certificate of \"ssl[local_cert]\""
                            : "the server closed the connection; it has asked for a certificate "
                              "of ours, which \"ssl[local_cert]\" names");
    }
    return fail_tls(error, is_established
                               ? "the server closed the connection"
                               : "the server closed the connection in the TLS handshake");
}

static latch_status explain_protocol(const redis_tls_stream *stream, latch_error *error)
{
    unsigned long number = ERR_peek_error();
    const char *text = ERR_reason_error_string(number);

    switch (ERR_GET_REASON(number)) {
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return explain_distrust(stream, error);
        case SSL_R_WRONG_VERSION_NUMBER:
            return fail_tls(error,
                            "the server does not speak TLS there; without TLS it is \"redis:\"");
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            return explain_end(stream, error);
#endif
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            return fail_tls(error, "the server demands a certificate of ours, which "
                                   "\"ssl[local_cert]\" names");
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
            return latch_fail(error, LATCH_ERROR_STORE, 0,
                              "the server refused the certificate of \"ssl[local_cert]\": %s",
                              text);
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
            return fail_tls(error, "the server has no version of TLS that is allowed; "
                                   "\"ssl[crypto_method]\" allows others");
        default:
            return latch_fail(error, LATCH_ERROR_STORE, 0, "TLS failed: %s%s",
                              text != NULL ? text : "for an unknown reason",
                              stream->wants_certificate && !stream->has_received
                                  ? "; the server has asked for a certificate of ours"
                                  : "");
    }
}

/* Interprets the result of an OpenSSL call: LATCH_WANT_IO with *events, or an error. */
static latch_status interpret_result(redis_tls_stream *stream, int result, short *events,
                                     latch_error *error)
{
    int what = SSL_get_error(stream->ssl, result);
    latch_status status = LATCH_WANT_IO;

    if (what == SSL_ERROR_WANT_READ) {
        *events = POLLIN;
    } else if (what == SSL_ERROR_WANT_WRITE) {
        *events = POLLOUT;
    } else {
        status = what == SSL_ERROR_SSL ? explain_protocol(stream, error)
                                       : explain_end(stream, error);
    }
    clear_openssl_errors();
    return status;
}

/* ---- Talking -------------------------------------------------------------------------------- */

latch_status latch_redis_tls_handshake(redis_tls_stream *stream, latch_error *error)
{
    int result;

    clear_openssl_errors();
    result = SSL_do_handshake(stream->ssl);
    if (result != 1) {
        return interpret_result(stream, result, &stream->read_events, error);
    }
    stream->read_events = POLLIN;
    clear_openssl_errors();
    return LATCH_DONE;
}

short latch_redis_tls_events(const redis_tls_stream *stream, bool has_unsent)
{
    return (short) (stream->read_events | (has_unsent ? stream->write_events : 0));
}

size_t latch_redis_tls_write(redis_tls_stream *stream, const char *text, size_t length)
{
    latch_error ignored;
    size_t written = 0;

    stream->is_writing = false;
    while (written < length) {
        size_t left = length - written;
        int result;

        clear_openssl_errors();
        result = SSL_write(stream->ssl, text + written, left < INT_MAX ? (int) left : INT_MAX);
        if (result <= 0) {
            stream->is_writing = interpret_result(stream, result, &stream->write_events, &ignored)
                                 == LATCH_WANT_IO;
            break;
        }
        written += (size_t) result;
    }
    return written;
}

ssize_t latch_redis_tls_read(redis_tls_stream *stream, char *text, size_t size, latch_error *error)
{
    int result;

    clear_openssl_errors();
    result = SSL_read(stream->ssl, text, size < INT_MAX ? (int) size : INT_MAX);
    /* Of a record whose rest is still to come the socket will tell. */
    stream->has_more = result > 0 && SSL_has_pending(stream->ssl) == 1;
    if (result > 0) {
        stream->has_received = true;
        stream->read_events = POLLIN;
        return result;
    }
    return interpret_result(stream, result, &stream->read_events, error) == LATCH_WANT_IO ? 0 : -1;
}
