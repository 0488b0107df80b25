/*
 * Names of keys. A lock's key is the store's prefix and the resource. Its companion keys have names
 * of their own ("latch:queue:RESOURCE"), in a cluster with a hash tag for the lock's slot
 * ("latch:{TAG}:queue:RESOURCE").
 */
#ifndef LATCH_REDIS_KEYS_H
#define LATCH_REDIS_KEYS_H

#include "src/store/redis/options/slot.h"

#include <string.h>

/* Prefix of the names of companion keys, and of no lock but those that are strings. */
#define REDIS_OWN_KEYS "latch:"

/* "latch:" or "latch:{TAG}:", with its NUL. */
enum { REDIS_OWN_SIZE = sizeof(REDIS_OWN_KEYS) + sizeof("{}:") + REDIS_SLOT_TAG_SIZE };

/* Key names of a store. The texts are the owner's. */
typedef struct redis_keyspace {
    const char *prefix; /* written before each key; "" where a client object adds its own */
    size_t prefix_length;
    const char *slot_prefix; /* before each key as the server sees it */
    size_t slot_prefix_length;
    bool
        is_tagged; /* a cluster, and the prefix leaves the slot to each key: own names need a tag */
} redis_keyspace;

/* Names for a store that writes the prefix itself. */
void latch_redis_keyspace_init(redis_keyspace *keys, const char *prefix, size_t length,
                               bool is_cluster);
/* The same for one whose client adds the prefix. */
void latch_redis_keyspace_init_added(redis_keyspace *keys, const char *prefix, size_t length,
                                     bool is_cluster);

/* The resource's slot in a cluster. */
unsigned latch_redis_slot_of(const redis_keyspace *keys, const char *resource, size_t length);
/* Writes the beginning of the own names beside a lock, and returns its length. */
size_t latch_redis_own_names(const redis_keyspace *keys, const char *resource, size_t length,
                             char own[REDIS_OWN_SIZE]);
/* Does the name begin as those of Latch's own keys? */
static inline bool latch_redis_is_own_name(const char *resource, size_t length)
{
    return length >= sizeof(REDIS_OWN_KEYS) - 1
           && memcmp(resource, REDIS_OWN_KEYS, sizeof(REDIS_OWN_KEYS) - 1) == 0;
}
/* Has such a name this kind, or a cluster's tag, behind that? */
static inline bool latch_redis_is_of_kind(const char *name, size_t length, const char *kind)
{
    size_t size = strlen(kind);

    name += sizeof(REDIS_OWN_KEYS) - 1;
    length -= sizeof(REDIS_OWN_KEYS) - 1;
    return (length > 0 && *name == '{') || (length >= size && memcmp(name, kind, size) == 0);
}

#endif
