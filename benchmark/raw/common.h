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
#include <sys/wait.h>
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

/* A process beside this one that waits for what this one holds, and pipes to and from it. */
struct waiter {
    pid_t pid;
    int to;
    int from;
};

/* Starts one, in which `wait` runs until its first descriptor ends, from which it hears, and says
 * on its second what there is to say. */
static inline struct waiter start_waiter(void (*wait)(int from_holder, int to_holder,
                                                      char **arguments),
                                         char **arguments)
{
    struct waiter waiter;
    int to[2], from[2];

    check(pipe(to) == 0 && pipe(from) == 0, "pipe");
    waiter = (struct waiter){fork(), to[1], from[0]};
    check(waiter.pid >= 0, "fork");
    if (waiter.pid == 0) {
        close(to[1]);
        close(from[0]);
        wait(to[0], from[1], arguments);
        exit(EXIT_SUCCESS);
    }
    close(to[0]);
    close(from[1]);
    return waiter;
}

static inline void end_waiter(const struct waiter *waiter)
{
    close(waiter->to);
    check(waitpid(waiter->pid, NULL, 0) == waiter->pid, "wait");
}

#endif
