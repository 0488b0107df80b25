/*
 * The floor under a file lock: the bare system calls, in C.
 *
 *     flock open|kept ex|sh ITERATIONS FILE...
 *
 * open    open + flock + unlock + close, what a program does that keeps nothing between two locks
 * kept    flock + unlock on a descriptor that stays open (the first file's)
 *
 * The files take turns. Prints the nanoseconds of one lock and unlock.
 */
#include "common.h"

#include <string.h>

static void lock_and_unlock(int fd, int kind)
{
    check(flock(fd, kind | LOCK_NB) == 0, "flock");
    check(flock(fd, LOCK_UN) == 0, "unlock");
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: flock open|kept ex|sh ITERATIONS FILE...\n", stderr);
        return 64;
    }

    bool keep = strcmp(argv[1], "kept") == 0;
    int kind = strcmp(argv[2], "sh") == 0 ? LOCK_SH : LOCK_EX;
    long iterations = atol(argv[3]);
    char **files = argv + 4;
    int count = argc - 4;
    int kept = open_file(files[0], 0);
    int64_t begun_ns = now_ns();

    for (long i = 0, file = 0; i < iterations; i++) {
        int fd = keep ? kept : open_file(files[file], 0);

        lock_and_unlock(fd, kind);
        if (!keep) {
            close(fd);
        }
        if (++file == count) {
            file = 0;
        }
    }

    printf("%.1f\n", (double) (now_ns() - begun_ns) / (double) iterations);
    return EXIT_SUCCESS;
}
