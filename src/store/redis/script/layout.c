/* Layouts of locks and semaphores: see layout.h. */
#include "src/store/redis/script/layout.h"

#include "src/store/redis/script/keys.h"

#define KEY_PART(text)                                                                             \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

const redis_layout latch_redis_locks = {
    .keys = {KEY_PART(""), KEY_PART("holder:"), KEY_PART("queue:"), KEY_PART("peers:"),
             KEY_PART("fencing")},
    .peer_keys = 1,
    .has_fencing = true,
    .scripts =
        {
            [LATCH_ACQUIRE] = REDIS_ACQUIRE,
            [LATCH_ACQUIRE_SHARED] = REDIS_ACQUIRE_SHARED,
            [LATCH_REFRESH] = REDIS_REFRESH,
            [LATCH_RELEASE] = REDIS_RELEASE,
            [LATCH_PROBE] = REDIS_PROBE,
            [LATCH_INSPECT] = REDIS_INSPECT,
            [LATCH_LIST] = REDIS_INSPECT,
            [LATCH_EVICT] = REDIS_EVICT,
        },
    .let_go = REDIS_LET_GO,
    .peers = REDIS_LOCK_PEERS,
    .listed = {"holder:", ""},
    .listed_type = "hash",
    .listed_of_peers = {"", ""},
    .listed_type_of_peers = "zset",
};

const redis_layout latch_redis_strings = {
    .keys = {KEY_PART(""), KEY_PART("string:"), KEY_PART("string-queue:"),
             KEY_PART("string-peers:"), KEY_PART("fencing")},
    .peer_keys = 1,
    .has_fencing = true,
    .has_owners = true,
    .scripts =
        {
            [LATCH_ACQUIRE] = REDIS_STRING_ACQUIRE,
            [LATCH_REFRESH] = REDIS_STRING_REFRESH,
            [LATCH_RELEASE] = REDIS_STRING_RELEASE,
            [LATCH_PROBE] = REDIS_STRING_PROBE,
            [LATCH_INSPECT] = REDIS_STRING_INSPECT,
            [LATCH_LIST] = REDIS_STRING_INSPECT,
            [LATCH_EVICT] = REDIS_STRING_EVICT,
        },
    .let_go = REDIS_STRING_LET_GO,
    .peers = REDIS_STRING_PEERS,
    .listed = {"string:", ""},
    .listed_type = "string",
};

const redis_layout latch_redis_permits = {
    .keys = {KEY_PART(":weight"), KEY_PART(":time"), KEY_PART("permits:"),
             KEY_PART("permit-queue:"), KEY_PART("permit-peers:")},
    .peer_keys = 2,
    .scripts =
        {
            [LATCH_ACQUIRE] = REDIS_PERMIT_ACQUIRE,
            [LATCH_REFRESH] = REDIS_PERMIT_REFRESH,
            [LATCH_RELEASE] = REDIS_PERMIT_RELEASE,
            [LATCH_PROBE] = REDIS_PERMIT_PROBE,
            [LATCH_INSPECT] = REDIS_PERMIT_INSPECT,
            [LATCH_LIST] = REDIS_PERMIT_INSPECT,
        },
    .let_go = REDIS_PERMIT_LET_GO,
    .peers = REDIS_PERMIT_PEERS,
    .listed = {"permits:{", "}"},
    .listed_type = "hash",
    .listed_of_peers = {"{", "}:weight"},
    .listed_type_of_peers = "zset",
};

bool latch_redis_is_layout_key(const char *name, size_t length)
{
    static const redis_layout *const layouts[] = {&latch_redis_locks, &latch_redis_strings,
                                                  &latch_redis_permits};

    for (size_t at = 0; at < sizeof(layouts) / sizeof(*layouts); at++) {
        for (size_t key = layouts[at]->peer_keys; key < REDIS_LAYOUT_KEYS; key++) {
            if (latch_redis_is_of_kind(name, length, layouts[at]->keys[key].text)) {
                return true;
            }
        }
    }
    return false;
}
