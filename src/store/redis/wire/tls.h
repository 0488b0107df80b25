/*
 * TLS between a store and its server: the certificates and rules that a store keeps for its
 * connections (tls_context.c), and the stream of one connection (tls.c). By OpenSSL itself:
 * hiredis's part for it checks no name, older releases have none, and Latch does its own writing
 * and reading. What a DSN asks for is read by redis/options/tls.c, which builds without OpenSSL
 * have alone: it refuses what asks for TLS.
 */
#ifndef LATCH_REDIS_TLS_H
#define LATCH_REDIS_TLS_H

#include "src/store/redis/options/tls.h"

/* TLS of one connection. */
typedef struct redis_tls_stream {
    redis_tls *tls;
    const latch_descriptor *descriptor; /* the socket */
    struct ssl_st *ssl;
    short read_events, write_events; /* what the last read, or write, waits for */
    bool is_writing;        /* a record is half sent: the next write must repeat its text */
    bool wants_certificate; /* the server has requested a client certificate */
    bool has_received;      /* data has come after the handshake */
    bool has_more;          /* data is left in OpenSSL's buffer */
    char name[REDIS_TLS_NAME_MAX + 1]; /* expected name in the server's certificate */
} redis_tls_stream;

#ifdef LATCH_WITH_OPENSSL

/* ---- tls_context.c */

/* Opens OpenSSL: before the functions below. */
latch_status latch_redis_tls_open_library(latch_error *error);
/*
 * Makes the context of the files as they are now, unless it is current. The errors of this and of
 * the functions below are clauses, to go behind "cannot connect: "; LATCH_ERROR_MEMORY is none.
 */
latch_status latch_redis_tls_prepare(redis_tls *tls, latch_error *error);

/* ---- tls.c */

/* A stream on a connected socket to `host`: a name, or an address in digits. */
latch_status latch_redis_tls_begin(redis_tls *tls, latch_engine *engine,
                                   const latch_descriptor *descriptor, const char *host,
                                   redis_tls_stream **stream, latch_error *error);
/* Frees the stream without a word to the server, which for a forked child is the parent's. */
void latch_redis_tls_end(latch_engine *engine, redis_tls_stream *stream);
/*
 * TLS handshake, with verification of the server's certificate. LATCH_WANT_IO: poll for
 * latch_redis_tls_events(), and call again. LATCH_ERROR_STORE: why not.
 */
latch_status latch_redis_tls_handshake(redis_tls_stream *stream, latch_error *error);
/* Events to poll for: input, or room for unsent output. */
short latch_redis_tls_events(const redis_tls_stream *stream, bool has_unsent);
/*
 * Writes; returns the length that was sent. If `is_writing`, the next call must begin with the
 * rest. A broken connection shows at the next read.
 */
size_t latch_redis_tls_write(redis_tls_stream *stream, const char *text, size_t length);
/*
 * Reads; returns the length, 0 when there is nothing yet, -1 at the connection's end, with the
 * reason.
 */
ssize_t latch_redis_tls_read(redis_tls_stream *stream, char *text, size_t size, latch_error *error);

#else /* There are no streams: a redis_tls cannot be made. */

#define latch_redis_tls_open_library(error) latch_fail_memory(error)
#define latch_redis_tls_begin(tls, engine, descriptor, host, stream, error)                        \
    ((void) (tls), (void) (stream), latch_fail_memory(error))
#define latch_redis_tls_end(engine, stream) ((void) (stream))
#define latch_redis_tls_handshake(stream, error) ((void) (stream), latch_fail_memory(error))
#define latch_redis_tls_events(stream, has_unsent) ((void) (stream), (void) (has_unsent), (short) 0)
#define latch_redis_tls_write(stream, text, length) ((void) (stream), (size_t) 0)
#define latch_redis_tls_read(stream, text, size, error)                                            \
    ((void) (stream), (void) (text), (void) (error), (ssize_t) -1)

#endif

#endif
