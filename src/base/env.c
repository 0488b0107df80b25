/* The environment of a real process: malloc, the system's clocks and its random source. */
#include "src/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static void *system_allocate(void *context, size_t size)
{
    (void) context;
    return malloc(size);
}

static void system_deallocate(void *context, void *pointer)
{
    (void) context;
    free(pointer);
}

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (int64_t) time.tv_sec * LATCH_NS_PER_S + time.tv_nsec;
}

/* This clock counts while the machine is suspended, as the clock of a server with expiring leases
 * does. */
static int64_t system_monotonic_ns(void *context)
{
    (void) context;
    return read_clock_ns(CLOCK_BOOTTIME);
}

static int64_t system_wall_ns(void *context)
{
    (void) context;
    return read_clock_ns(CLOCK_REALTIME);
}

static int64_t system_coarse_ns(void *context)
{
    (void) context;
    return read_clock_ns(CLOCK_MONOTONIC_COARSE);
}

static bool system_random(void *context, void *bytes, size_t size)
{
    (void) context;
    for (size_t filled = 0; filled < size;) {
        ssize_t got = getrandom((char *) bytes + filled, size - filled, 0);

        if (got < 0 && errno != EINTR) {
            return false;
        }
        filled += got > 0 ? (size_t) got : 0;
    }
    return true;
}

latch_env latch_env_system(void)
{
    return (latch_env){
        .allocate = system_allocate,
        .deallocate = system_deallocate,
        .monotonic_ns = system_monotonic_ns,
        .wall_ns = system_wall_ns,
        .coarse_ns = system_coarse_ns,
        .random = system_random,
    };
}
