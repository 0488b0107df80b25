/* Digests of PHP's hash extension, for the engine. */
#ifndef PHP_LATCH_DIGEST_H
#define PHP_LATCH_DIGEST_H

#include "ext/php_latch.h"

/* False when this PHP has not all of the algorithms. */
bool php_latch_digests_startup(void);
/* latch_env.digest */
void php_latch_digest(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                      uint8_t digest[LATCH_DIGEST_MAX]);
/* Finds an algorithm by PHP's name of it; false when there is none. */
bool php_latch_digest_by_name(const char *name, latch_digest *kind);

#endif
