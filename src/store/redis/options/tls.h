/* TLS options of a DSN, and a store's TLS state. */
#ifndef LATCH_REDIS_OPTIONS_TLS_H
#define LATCH_REDIS_OPTIONS_TLS_H

#include "src/base/base.h"

#include <sys/stat.h>

/* Texts among the options; latch_redis_tls_name() has their names. */
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

/* The texts before this one are paths. */
#define REDIS_TLS_PATH_COUNT (REDIS_TLS_LOCAL_PK + 1)

/* The longest name that a certificate can be checked for: DNS has none that are longer. */
#define REDIS_TLS_NAME_MAX 253

/* TLS state of a store; a store clone has its own, as another thread uses it. */
typedef struct redis_tls {
    redis_tls_settings settings; /* its texts are behind this struct, of `size` bytes in all */
    size_t size;
    /* Frees the rest; NULL: there is none. */
    void (*drop)(struct redis_tls *tls);
    /* OpenSSL's; made when the first connection is. */
    struct ssl_ctx_st *context;
    struct bio_method_st *transport;
    struct ssl_session_st *session;            /* to be resumed by the next connection; or NULL */
    char session_name[REDIS_TLS_NAME_MAX + 1]; /* whose it is */
    struct stat files[REDIS_TLS_PATH_COUNT];   /* as they were when they were read */
} redis_tls;

/* The defaults. */
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

#endif
