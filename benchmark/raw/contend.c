/*
 * Endless contention on one flock(2), in C.
 *
 *     contend PROCESSES SECONDS FILE
 *
 * Every process locks (blocking), counts and unlocks, again and again. Prints how often each one
 * held the lock. The same steps as in parts/contend.php.
 */
#include "common.h"

#include <sys/wait.h>

static void contend(const char *file, int64_t until_ns, int result)
{
    int fd = open_file(file, O_CREAT);
    long count = 0;

    while (now_ns() < until_ns) {
        check(flock(fd, LOCK_EX) == 0, "flock");
        count++;
        check(flock(fd, LOCK_UN) == 0, "unlock");
    }
    check(write(result, &count, sizeof count) == sizeof count, "report");
    exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
    int result[2];

    if (argc != 4) {
        fputs("usage: contend PROCESSES SECONDS FILE\n", stderr);
        return 64;
    }

    int processes = atoi(argv[1]);
    int64_t until_ns = now_ns() + (int64_t) (atof(argv[2]) * 1e9);

    check(pipe(result) == 0, "pipe");
    for (int i = 0; i < processes; i++) {
        pid_t pid = fork();

        check(pid >= 0, "fork");
        if (pid == 0) {
            contend(argv[3], until_ns, result[1]);
        }
    }
    for (int i = 0; i < processes; i++) {
        long count;

        check(read(result[0], &count, sizeof count) == sizeof count, "report");
        printf("%ld\n", count);
    }
    while (wait(NULL) > 0) {
    }
    return EXIT_SUCCESS;
}
