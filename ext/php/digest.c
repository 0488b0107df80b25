/* Digests for the engine, by PHP's hash extension, which every PHP has. */
#include "ext/php/digest.h"

#include "ext/hash/php_hash.h"

#include <stdalign.h>

/* The largest state is that of xxh128, with some 600 bytes. */
#define STATE_MAX 1024

static const char *const algorithm_names[] = {
    [LATCH_SHA256] = "sha256", [LATCH_SHA1] = "sha1",     [LATCH_MD5] = "md5",
    [LATCH_XXH64] = "xxh64",   [LATCH_XXH128] = "xxh128", [LATCH_CRC32] = "crc32b",
};

#define DIGEST_COUNT (sizeof(algorithm_names) / sizeof(*algorithm_names))

static const php_hash_ops *algorithms[DIGEST_COUNT];

bool php_latch_digests_startup(void)
{
    for (size_t at = 0; at < DIGEST_COUNT; at++) {
        zend_string *name = zend_string_init(algorithm_names[at], strlen(algorithm_names[at]), 0);

        algorithms[at] = php_hash_fetch_ops(name);
        zend_string_release(name);
        if (algorithms[at] == NULL || algorithms[at]->context_size > STATE_MAX
            || algorithms[at]->digest_size > LATCH_DIGEST_MAX) {
            return false;
        }
    }
    return true;
}

bool php_latch_digest_by_name(const char *name, latch_digest *kind)
{
    for (size_t at = 0; at < DIGEST_COUNT; at++) {
        if (strcmp(algorithm_names[at], name) == 0) {
            *kind = (latch_digest) at;
            return true;
        }
    }
    return false;
}

void php_latch_digest(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                      uint8_t digest[LATCH_DIGEST_MAX])
{
    const php_hash_ops *algorithm = algorithms[kind];
    alignas(64) char state[STATE_MAX]; /* alignment of xxHash's vectors */

    (void) context;
    algorithm->hash_init(state, NULL);
    for (int at = 0; at < part_count; at++) {
        algorithm->hash_update(state, parts[at].iov_base, parts[at].iov_len);
    }
    algorithm->hash_final(digest, state);
}
