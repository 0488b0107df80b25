/*
 * Slots of Redis Cluster: which of the 16384 parts of the key space a key is in. A script works on
 * keys of one slot alone, so that what is kept beside a lock has to be in the lock's.
 */
#ifndef LATCH_REDIS_SLOT_H
#define LATCH_REDIS_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#define REDIS_SLOTS 16384

/* Of the key that is made of the two. */
unsigned latch_redis_slot(const char *prefix, size_t prefix_length, const char *resource,
                          size_t length);

/* Of a tag, with its NUL. */
enum { REDIS_SLOT_TAG_SIZE = 5 };

/*
 * A text that is in the slot, and so is each key whose first braces are around it: "{TAG}". It is
 * part of what is kept in servers: always the same for a slot.
 */
void latch_redis_slot_tag(unsigned slot, char tag[REDIS_SLOT_TAG_SIZE]);

/* What a prefix means for the slots of the keys behind it. */
typedef enum {
    REDIS_PREFIX_OPEN,   /* nothing: what follows may have a tag */
    REDIS_PREFIX_TAGGED, /* it has the tag: all keys are in one slot */
    REDIS_PREFIX_UNFIT,  /* no tag behind it counts as one */
} redis_prefix_kind;

/* Message for an unfit prefix. */
#define REDIS_PREFIX_ADVICE                                                                        \
    "in a cluster a prefix of keys cannot have a \"{\" without a whole hash tag, such as "         \
    "\"{shop}\": leave it out, or complete it"

redis_prefix_kind latch_redis_prefix_kind(const char *prefix, size_t length);

#endif
