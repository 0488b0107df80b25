#include "src/store/redis/wire/tls_library.h"

/* libssl.so brings libcrypto.so along, whose functions are found by it, too. */
LATCH_LIBRARY_DEFINE(latch_openssl, OPENSSL_FUNCTIONS, .name = "OpenSSL",
                     .file = LATCH_OPENSSL_FILE, .alpine_package = "libssl3")
