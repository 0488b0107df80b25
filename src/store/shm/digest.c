/*
 * MurmurHash3, 128 bits, of Austin Appleby's (public domain): two resources with the same digest
 * would exclude each other, which is no more than a nuisance; so it need not be a cryptographic
 * one.
 */
#include "src/store/shm/store.h"

#include <string.h>

#define FACTOR_1 UINT64_C(0x87c37b91114253d5)
#define FACTOR_2 UINT64_C(0x4cf5ad432745937f)

static uint64_t shm_rotate(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

static uint64_t shm_finish(uint64_t value)
{
    value = (value ^ value >> 33) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ value >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

void latch_shm_digest(const char *bytes, size_t length, uint64_t digest[2])
{
    uint64_t first = 0, second = 0, part[2];
    size_t left = length;

    for (; left >= sizeof(part); left -= sizeof(part), bytes += sizeof(part)) {
        memcpy(part, bytes, sizeof(part));
        first ^= shm_rotate(part[0] * FACTOR_1, 31) * FACTOR_2;
        first = (shm_rotate(first, 27) + second) * 5 + 0x52dce729;
        second ^= shm_rotate(part[1] * FACTOR_2, 33) * FACTOR_1;
        second = (shm_rotate(second, 31) + first) * 5 + 0x38495ab5;
    }
    memset(part, 0, sizeof(part));
    memcpy(part, bytes, left);
    second ^= shm_rotate(part[1] * FACTOR_2, 33) * FACTOR_1;
    first ^= shm_rotate(part[0] * FACTOR_1, 31) * FACTOR_2;
    first ^= length;
    second ^= length;
    first += second;
    second += first;
    first = shm_finish(first);
    second = shm_finish(second);
    digest[0] = first + second;
    digest[1] = second + digest[0];
}
