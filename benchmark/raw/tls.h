/* TLS for the C programs, blocking: as hiredis's own part for it does, which older releases lack. */
#ifndef LATCH_BENCHMARK_TLS_H
#define LATCH_BENCHMARK_TLS_H

#include "common.h"

#include <openssl/ssl.h>
#include <stddef.h>

/* On a connected socket, to a server whose CA is in that file. */
static inline SSL *tls_connect(int fd, const char *cafile)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *tls;

    check(context != NULL && SSL_CTX_load_verify_locations(context, cafile, NULL) == 1, "CA");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    tls = SSL_new(context);
    check(tls != NULL && SSL_set_fd(tls, fd) == 1 && SSL_connect(tls) == 1, "TLS handshake");
    return tls;
}

static inline void tls_write(SSL *tls, const char *text, size_t length)
{
    check(length == 0 || SSL_write(tls, text, (int) length) == (int) length, "TLS write");
}

static inline size_t tls_read(SSL *tls, char *text, size_t size)
{
    int count = SSL_read(tls, text, (int) size);

    check(count > 0, "TLS read");
    return (size_t) count;
}

#endif
