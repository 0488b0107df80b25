/*
 * The floor under a hand-off: flock(2) itself, blocking, in C.
 *
 *     handoff COUNT FILE
 *
 * Two processes: the holder lets the waiter block in flock(), releases, and the waiter says when
 * it came back. Prints, for each of COUNT hand-offs, the nanoseconds in between. The same steps as
 * in parts/handoff.php.
 */
#include "common.h"

#include <sys/wait.h>

/* At each sign of the holder: says that it will wait, waits, says when it had the lock. */
static void wait_again_and_again(int from_holder, int to_holder, const char *file)
{
    int fd = open_file(file, O_CREAT);
    char sign;

    while (read(from_holder, &sign, 1) == 1) {
        check(write(to_holder, &sign, 1) == 1, "announce");
        check(flock(fd, LOCK_EX) == 0, "flock");
        int64_t held_ns = now_ns();

        check(flock(fd, LOCK_UN) == 0, "unlock");
        check(write(to_holder, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
    }
    exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
    int to_waiter[2];
    int from_waiter[2];

    if (argc != 3) {
        fputs("usage: handoff COUNT FILE\n", stderr);
        return 64;
    }
    check(pipe(to_waiter) == 0 && pipe(from_waiter) == 0, "pipe");

    pid_t waiter = fork();

    check(waiter >= 0, "fork");
    if (waiter == 0) {
        close(to_waiter[1]);
        close(from_waiter[0]);
        wait_again_and_again(to_waiter[0], from_waiter[1], argv[2]);
    }
    close(to_waiter[0]);
    close(from_waiter[1]);

    int fd = open_file(argv[2], O_CREAT);

    srand48(now_ns());
    for (long left = atol(argv[1]); left > 0; left--) {
        char sign = 0;
        int64_t held_ns;

        check(flock(fd, LOCK_EX) == 0, "flock");
        check(write(to_waiter[1], &sign, 1) == 1, "call");
        check(read(from_waiter[0], &sign, 1) == 1, "announcement");
        usleep((useconds_t) (1000 + lrand48() % 4000));

        int64_t released_ns = now_ns();

        check(flock(fd, LOCK_UN) == 0, "unlock");
        check(read(from_waiter[0], &held_ns, sizeof held_ns) == sizeof held_ns, "report");
        printf("%lld\n", (long long) (held_ns - released_ns));
    }

    close(to_waiter[1]);
    check(waitpid(waiter, NULL, 0) == waiter, "wait");
    return EXIT_SUCCESS;
}
