/* Slots of Redis Cluster; the rules are those of its specification, "Hash tags". */
#include "src/store/redis/options/slot.h"

#include <stdint.h>

/* CRC-16/XMODEM, four bits at a time: what the upper four of the sum do to the rest. */
static uint16_t add_byte(uint16_t crc, char byte)
{
    static const uint16_t changes[] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
        0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef,
    };
    uint8_t bits = (uint8_t) byte;

    crc = (uint16_t) (crc << 4 ^ changes[crc >> 12 ^ bits >> 4]);
    return (uint16_t) (crc << 4 ^ changes[crc >> 12 ^ (bits & 15)]);
}

/* A key in two parts. */
typedef struct split_key {
    const char *parts[2];
    size_t lengths[2];
} split_key;

static char at(const split_key *key, size_t position)
{
    return position < key->lengths[0] ? key->parts[0][position]
                                      : key->parts[1][position - key->lengths[0]];
}

/* Where it is from there on; the key's length if it is not. */
static size_t find_brace(const split_key *key, char wanted, size_t position)
{
    size_t length = key->lengths[0] + key->lengths[1];

    while (position < length && at(key, position) != wanted) {
        position++;
    }
    return position;
}

unsigned latch_redis_slot(const char *prefix, size_t prefix_length, const char *resource,
                          size_t length)
{
    const split_key key = {{prefix, resource}, {prefix_length, length}};
    size_t begin = 0, end = prefix_length + length;
    size_t open = find_brace(&key, '{', 0), shut = find_brace(&key, '}', open);
    uint16_t crc = 0;

    if (shut < end && shut > open + 1) {
        begin = open + 1;
        end = shut;
    }
    for (size_t position = begin; position < end; position++) {
        crc = add_byte(crc, at(&key, position));
    }
    return crc % REDIS_SLOTS;
}

/*
 * A CRC is linear: that of texts of one length changes by the same bits wherever the same bits of
 * the text are changed. Tags are "@@@@" with the low four bits of each letter changed ("@" to "O"):
 * for each bit of the slot, the changes that change that bit alone. They were computed once, by
 * elimination; the unit test goes through all slots.
 */
void latch_redis_slot_tag(unsigned slot, char tag[REDIS_SLOT_TAG_SIZE])
{
    static const uint16_t changes[] = {
        0x88d4, 0x808a, 0x9007, 0x9efb, 0x19a2, 0x0c93, 0x1184,
        0x8eed, 0x1efb, 0x8022, 0x89c4, 0x82aa, 0x9447, 0x967b,
    };
    enum { SLOT_OF_NO_CHANGES = 0x3639 }; /* "@@@@" */
    unsigned wanted = slot ^ SLOT_OF_NO_CHANGES, changed = 0;

    for (unsigned bit = 0; bit < sizeof(changes) / sizeof(*changes); bit++) {
        changed ^= (wanted >> bit & 1) != 0 ? changes[bit] : 0;
    }
    for (unsigned letter = 0; letter < REDIS_SLOT_TAG_SIZE - 1; letter++) {
        tag[letter] = (char) ('@' | (changed >> 4 * letter & 15));
    }
    tag[REDIS_SLOT_TAG_SIZE - 1] = '\0';
}

redis_prefix_kind latch_redis_prefix_kind(const char *prefix, size_t length)
{
    const split_key key = {{prefix, ""}, {length, 0}};
    size_t open = find_brace(&key, '{', 0), shut = find_brace(&key, '}', open);

    if (open == length) {
        return REDIS_PREFIX_OPEN;
    }
    return shut < length && shut > open + 1 ? REDIS_PREFIX_TAGGED : REDIS_PREFIX_UNFIT;
}
