/* Names of keys: see keys.h. */
#include "src/store/redis/script/keys.h"

#include <string.h>

void latch_redis_keyspace_init(redis_keyspace *keys, const char *prefix, size_t length,
                               bool is_cluster)
{
    *keys = (redis_keyspace){
        .prefix = prefix,
        .prefix_length = length,
        .slot_prefix = prefix,
        .slot_prefix_length = length,
        .is_tagged = is_cluster && latch_redis_prefix_kind(prefix, length) == REDIS_PREFIX_OPEN,
    };
}

void latch_redis_keyspace_init_added(redis_keyspace *keys, const char *prefix, size_t length,
                                     bool is_cluster)
{
    latch_redis_keyspace_init(keys, prefix, length, is_cluster);
    keys->prefix = "";
    keys->prefix_length = 0;
}

unsigned latch_redis_slot_of(const redis_keyspace *keys, const char *resource, size_t length)
{
    return latch_redis_slot(keys->slot_prefix, keys->slot_prefix_length, resource, length);
}

static char *write_tag(const redis_keyspace *keys, const char *resource, size_t length, char *at)
{
    *at++ = '{';
    latch_redis_slot_tag(latch_redis_slot_of(keys, resource, length), at);
    at += REDIS_SLOT_TAG_SIZE - 1;
    *at++ = '}';
    *at++ = ':';
    return at;
}

size_t latch_redis_own_names(const redis_keyspace *keys, const char *resource, size_t length,
                             char own[REDIS_OWN_SIZE])
{
    char *end = own + sizeof(REDIS_OWN_KEYS) - 1;

    memcpy(own, REDIS_OWN_KEYS, sizeof(REDIS_OWN_KEYS));
    if (keys->is_tagged) {
        end = write_tag(keys, resource, length, end);
        *end = '\0';
    }
    return (size_t) (end - own);
}
