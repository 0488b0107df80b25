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

/* A connection's. */
typedef struct redis_tls_stream {
    redis_tls *tls;
    const latch_descriptor *descriptor; /* the socket */
    struct ssl_st *ssl;
    short read_events, write_events; /* what the last reading, or writing, waits for */
    bool is_writing; /* a record is half sent, and its text must be given once more */
    bool is_asked;   /* the server has asked for a certificate of ours */
    bool is_heard;   /* it has sent something behind the handshake */
    bool has_more;   /* the last reading has left some of what it has taken from the socket */
    char name[REDIS_TLS_NAME_MAX + 1]; /* whose certificate the server must have */
} redis_tls_stream;

#ifdef LATCH_WITH_OPENSSL

/* ---- tls_context.c */

/* Opens OpenSSL: before the functions below. */
latch_status latch_redis_tls_open_library(latch_error *error);
/*
 * Sees that there is a context, made of the files as they are now. The errors of this and of the
 * functions below are clauses, to go behind "cannot connect: "; LATCH_ERROR_MEMORY is none.
 */
latch_status latch_redis_tls_prepare(redis_tls *tls, latch_error *error);

/* ---- tls.c */

/* A stream on a connected socket to `host`: a name, or an address in digits. */
latch_status latch_redis_tls_begin(redis_tls *tls, latch_engine *engine,
                                   const latch_descriptor *descriptor, const char *host,
                                   redis_tls_stream **stream, latch_error *error);
/* Without a word to the server, which for a forked child is the parent's. */
void latch_redis_tls_end(latch_engine *engine, redis_tls_stream *stream);
/*
 * Agrees on keys, and sees who the server is. LATCH_WANT_IO: poll for latch_redis_tls_events(), and
 * call again. LATCH_ERROR_STORE: why not.
 */
latch_status latch_redis_tls_handshake(redis_tls_stream *stream, latch_error *error);
/* What to poll for, until there is something to be read, or something unsent can be sent. */
short latch_redis_tls_events(const redis_tls_stream *stream, bool has_unsent);
/*
 * How much of the text was sent. If `is_writing`, the next call must begin with what was not. If
 * the connection is broken, the reading will tell.
 */
size_t latch_redis_tls_write(redis_tls_stream *stream, const char *text, size_t length);
/* How much was read, 0 when there is nothing yet; -1 when the connection has ended, and why. */
ssize_t latch_redis_tls_read(redis_tls_stream *stream, char *text, size_t size, latch_error *error);

#else /* There are no streams, as nobody gets a redis_tls. */

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
