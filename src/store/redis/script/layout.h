/*
 * Layouts: how a kind of hold is kept in Redis, so that other clients know it as a lock or a
 * semaphore. A layout has keys, and scripts that work on them (lua/ *.lua).
 */
#ifndef LATCH_REDIS_LAYOUT_H
#define LATCH_REDIS_LAYOUT_H

#include "src/latch.h"

typedef enum {
    REDIS_ACQUIRE,
    REDIS_ACQUIRE_SHARED,
    REDIS_REFRESH,
    REDIS_RELEASE,
    REDIS_LET_GO,
    REDIS_PROBE,
    REDIS_INSPECT,
    REDIS_EVICT,
    REDIS_PERMIT_ACQUIRE,
    REDIS_PERMIT_REFRESH,
    REDIS_PERMIT_RELEASE,
    REDIS_PERMIT_LET_GO,
    REDIS_PERMIT_PROBE,
    REDIS_PERMIT_INSPECT,
    REDIS_STRING_ACQUIRE,
    REDIS_STRING_REFRESH,
    REDIS_STRING_RELEASE,
    REDIS_STRING_LET_GO,
    REDIS_STRING_PROBE,
    REDIS_STRING_INSPECT,
    REDIS_STRING_EVICT,
    REDIS_SCRIPT_COUNT,
} redis_script_id;

/* Kinds of peers: clients that poll for what is in a layout. */
typedef enum {
    REDIS_LOCK_PEERS,
    REDIS_PERMIT_PEERS,
    REDIS_STRING_PEERS,
    REDIS_PEER_KINDS
} redis_peer_kind;

/* Part of a key's name. */
typedef struct redis_key_part {
    const char *text;
    size_t length;
} redis_key_part;

enum { REDIS_LAYOUT_KEYS = 5 };

typedef struct redis_layout {
    /*
     * Keys of the scripts, in their order: first those that peers know, the resource and this part
     * behind it; then companion keys, this part and the resource behind it.
     */
    redis_key_part keys[REDIS_LAYOUT_KEYS];
    uint8_t peer_keys;
    bool has_fencing;                         /* the last key is the database's counter */
    bool has_owners;                          /* tokens are "NONCE OWNER"; holds may have no end */
    redis_script_id scripts[LATCH_EVICT + 1]; /* by latch_op_kind; of those that it has */
    redis_script_id let_go;                   /* behind a release that nobody awaits */
    redis_peer_kind peers;
    /* What a list looks for: companion keys that begin and end with this, of that type; and keys
     * of peers, unless nothing tells these from other keys (NULL). */
    const char *listed[2], *listed_type;
    const char *listed_of_peers[2], *listed_type_of_peers;
} redis_layout;

/* Is a name that begins as Latch's own keys one of a companion key, in any layout? */
bool latch_redis_is_layout_key(const char *name, size_t length);

extern const redis_layout latch_redis_locks;   /* Symfony's Lock: a sorted set */
extern const redis_layout latch_redis_strings; /* Laravel's locks: a string, the owner */
extern const redis_layout latch_redis_permits; /* Symfony's Semaphore; resources are "{NAME}" */

#endif
