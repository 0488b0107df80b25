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

/* At each sign of the holder: says that it will wait, waits, says when it had the lock. */
static void wait_again_and_again(int from_holder, int to_holder, char **file)
{
    int fd = open_file(*file, O_CREAT);
    char sign;

    while (read(from_holder, &sign, 1) == 1) {
        check(write(to_holder, &sign, 1) == 1, "announce");
        check(flock(fd, LOCK_EX) == 0, "flock");
        int64_t held_ns = now_ns();

        check(flock(fd, LOCK_UN) == 0, "unlock");
        check(write(to_holder, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: handoff COUNT FILE\n", stderr);
        return 64;
    }
    struct waiter waiter = start_waiter(wait_again_and_again, argv + 2);

    int fd = open_file(argv[2], O_CREAT);

    srand48(now_ns());
    for (long left = atol(argv[1]); left > 0; left--) {
        char sign = 0;
        int64_t held_ns;

        check(flock(fd, LOCK_EX) == 0, "flock");
        check(write(waiter.to, &sign, 1) == 1, "call");
        check(read(waiter.from, &sign, 1) == 1, "announcement");
        usleep((useconds_t) (1000 + lrand48() % 4000));

        int64_t released_ns = now_ns();

        check(flock(fd, LOCK_UN) == 0, "unlock");
        check(read(waiter.from, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
        printf("%lld\n", (long long) (held_ns - released_ns));
    }

    end_waiter(&waiter);
    return EXIT_SUCCESS;
}
