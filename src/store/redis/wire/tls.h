/*
 * TLS between a store and its server: what a DSN asks for (redis/options/tls.c), the certificates
 * and rules that a store keeps for its connections (tls_context.c), and the stream of one
 * connection (tls.c). By OpenSSL itself: hiredis's part for it checks no name, older releases
 * have none, and Latch does its own writing and reading.
 *
 * Builds without OpenSSL have redis/options/tls.c alone, which refuses what asks for TLS.
 */
#ifndef LATCH_REDIS_TLS_H
#define LATCH_REDIS_TLS_H

#include "src/base/base.h"

#include <sys/stat.h>

/* The texts that may be given; each is named as its option, by latch_redis_tls_name(). */
typedef enum {
    REDIS_TLS_CAFILE,
    REDIS_TLS_CAPATH,
    REDIS_TLS_LOCAL_CERT,
    REDIS_TLS_LOCAL_PK,
    REDIS_TLS_PASSPHRASE,
    REDIS_TLS_PEER_NAME,
    REDIS_TLS_CIPHERS,
    REDIS_TLS_TEXT_COUNT,
} redis_tls_text;

typedef struct redis_tls_settings {
    const char *texts[REDIS_TLS_TEXT_COUNT]; /* NULL: not given */
    bool verify_peer, verify_peer_name, allow_self_signed, send_name;
    int verify_depth;   /* certificates between the server's and the CA's */
    int security_level; /* -1: OpenSSL's own */
    int oldest, newest; /* versions of TLS: 0 for 1.0, to 3 for 1.3 */
} redis_tls_settings;

/* Those up to there are paths. */
#define REDIS_TLS_PATH_COUNT (REDIS_TLS_LOCAL_PK + 1)

/* The longest name that a certificate can be checked for: DNS has none that are longer. */
#define REDIS_TLS_NAME_MAX 253

/* A store's; the twin of a store has one of its own, as it is used by another thread. */
typedef struct redis_tls {
    redis_tls_settings settings; /* its texts are behind this struct, of `size` bytes in all */
    size_t size;
    /* OpenSSL's; made when the first connection is. */
    struct ssl_ctx_st *context;
    struct bio_method_st *transport;
    struct ssl_session_st *session; /* with which the next connection may go on; or NULL */
    char session_name[REDIS_TLS_NAME_MAX + 1]; /* whose it is */
    struct stat files[REDIS_TLS_PATH_COUNT];   /* as they were when they were read */
} redis_tls;

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

/* ---- redis/options/tls.c */

/* As it is when nothing is given. */
#define REDIS_TLS_DEFAULTS                                                                         \
    ((redis_tls_settings){.verify_peer = true,                                                     \
                          .verify_peer_name = true,                                                \
                          .send_name = true,                                                       \
                          .verify_depth = 9,                                                       \
                          .security_level = -1,                                                    \
                          .oldest = 2,                                                             \
                          .newest = 3})

/* "ssl[cafile]" and its like, for messages. */
const char *latch_redis_tls_name(redis_tls_text text);
/* Copies the settings and their texts. NULL when memory ran out. */
redis_tls *latch_redis_tls_make(const latch_engine *engine, const redis_tls_settings *settings);
/* Ends it, after all of its streams, and wipes its texts; accepts NULL. */
void latch_redis_tls_free(const latch_engine *engine, redis_tls *tls);

#ifdef LATCH_WITH_OPENSSL

/* ---- tls_context.c */

/* Opens OpenSSL: before the functions below. */
latch_status latch_redis_tls_open_library(latch_error *error);
/*
 * Sees that there is a context, made of the files as they are now. The errors of this and of the
 * functions below are clauses, to go behind "cannot connect: "; LATCH_ERROR_MEMORY is none.
 */
latch_status latch_redis_tls_prepare(redis_tls *tls, latch_error *error);
/* Drops what was made of the settings, after all streams. */
void latch_redis_tls_drop(redis_tls *tls);

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
latch_status latch_redis_tls_shake_hands(redis_tls_stream *stream, latch_error *error);
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
#define latch_redis_tls_drop(tls) ((void) (tls))
#define latch_redis_tls_begin(tls, engine, descriptor, host, stream, error)                        \
    ((void) (tls), (void) (stream), latch_fail_memory(error))
#define latch_redis_tls_end(engine, stream) ((void) (stream))
#define latch_redis_tls_shake_hands(stream, error) ((void) (stream), latch_fail_memory(error))
#define latch_redis_tls_events(stream, has_unsent) ((void) (stream), (void) (has_unsent), (short) 0)
#define latch_redis_tls_write(stream, text, length) ((void) (stream), (size_t) 0)
#define latch_redis_tls_read(stream, text, size, error)                                            \
    ((void) (stream), (void) (text), (void) (error), (ssize_t) -1)

#endif

#endif
