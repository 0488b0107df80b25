/*
 * What the C programs share: a clock, and an end with a reason for calls that must not fail.
 */
#ifndef LATCH_BENCHMARK_COMMON_H
#define LATCH_BENCHMARK_COMMON_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* The clock of PHP's hrtime(true). */
static inline int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void check(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

static inline int open_file(const char *file, int flags)
{
    int fd = open(file, O_RDWR | O_CLOEXEC | flags, 0666);

    check(fd >= 0, file);
    return fd;
}

#endif
