/*
 * Hash slots of Redis Cluster. A script's keys must be in one slot, so companion keys must be in
 * the lock's slot.
 */
#ifndef LATCH_REDIS_SLOT_H
#define LATCH_REDIS_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#define REDIS_SLOTS 16384

/* Slot of the key that is made of prefix and resource. */
unsigned latch_redis_slot(const char *prefix, size_t prefix_length, const char *resource,
                          size_t length);

/* Bytes of a tag, with its NUL. */
enum { REDIS_SLOT_TAG_SIZE = 5 };

/*
 * Hash tag of a slot: each key whose first braces contain it, "{TAG}", is in that slot. Part of the
 * format in servers: always the same for a slot.
 */
void latch_redis_slot_tag(unsigned slot, char tag[REDIS_SLOT_TAG_SIZE]);

/* Effect of a prefix on the slots of its keys. */
typedef enum {
    REDIS_PREFIX_OPEN,   /* none: the rest of the key may have a tag */
    REDIS_PREFIX_TAGGED, /* the prefix has the tag: all keys are in one slot */
    REDIS_PREFIX_UNFIT,  /* a "{" without "}": no later tag counts */
} redis_prefix_kind;

/* Message for an unfit prefix. */
#define REDIS_PREFIX_ADVICE                                                                        \
    "in a cluster a prefix of keys cannot have a \"{\" without a whole hash tag, such as "         \
    "\"{shop}\": leave it out, or complete it"

redis_prefix_kind latch_redis_prefix_kind(const char *prefix, size_t length);

#endif
