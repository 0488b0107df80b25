#include "fake_env.h"

#include <fcntl.h>
#include <stdlib.h>

int64_t now_ns;
uint64_t random_state;
size_t allocations;

static void *allocate(void *context, size_t size)
{
    (void) context;
    allocations++;
    return malloc(size + (size == 0));
}

static void deallocate(void *context, void *pointer)
{
    (void) context;
    allocations -= pointer != NULL;
    free(pointer);
}

static int64_t tell_time(void *context)
{
    (void) context;
    return now_ns;
}

static bool make_random(void *context, void *bytes, size_t size)
{
    (void) context;
    for (size_t at = 0; at < size; at++) {
        random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
        ((uint8_t *) bytes)[at] = (uint8_t) (random_state >> 56);
    }
    return true;
}

latch_env fake_env(void (*digest)(void *context, latch_digest kind, const struct iovec *parts,
                                  int part_count, uint8_t digest[LATCH_DIGEST_MAX]))
{
    return (latch_env){
        .allocate = allocate,
        .deallocate = deallocate,
        .monotonic_ns = tell_time,
        .wall_ns = tell_time,
        .coarse_ns = tell_time,
        .random = make_random,
        .digest = digest,
    };
}

size_t count_descriptors(void)
{
    size_t count = 0;

    for (int fd = 0; fd < 64; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}
