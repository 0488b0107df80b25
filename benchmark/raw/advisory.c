/*
 * The floor under an advisory lock: the statements alone, by the server's client library, in C.
 *
 *     postgresql CONNINFO                    mysql SOCKET USER DATABASE
 *     postgresql handoff COUNT CONNINFO      mysql handoff COUNT SOCKET USER DATABASE
 *
 * The first form reads lines "pair ITERATIONS" until its input ends, and answers each with a line:
 * the nanoseconds of one lock and unlock. The second one prints, for each of COUNT hand-offs, the
 * nanoseconds from just before an unlock until a process that waits in the server has the lock, by
 * the same steps and pauses as in parts/drain.php with one waiter.
 */
#include "advisory.h"
#include "common.h"

#include <string.h>

#define SETTLED_US 20000
#define PHASES_US 100000

static void measure_pairs(void)
{
    long iterations;

    while (scanf(" pair %ld", &iterations) == 1) {
        int64_t begun_ns = now_ns();

        for (long i = 0; i < iterations; i++) {
            try_lock();
            unlock();
        }
        printf("%.1f\n", (double) (now_ns() - begun_ns) / (double) iterations);
        fflush(stdout);
    }
}

/* At each sign of the holder: says that it will wait, waits, says when it had the lock. */
static void wait_again_and_again(int from_holder, int to_holder, char **address)
{
    char sign;

    open_session(address);
    while (read(from_holder, &sign, 1) == 1) {
        check(write(to_holder, &sign, 1) == 1, "announce");
        wait_for_lock();
        int64_t held_ns = now_ns();

        unlock();
        check(write(to_holder, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
    }
    close_session();
}

static void measure_handoffs(const struct waiter *waiter, long count)
{
    srand48(now_ns());
    for (; count > 0; count--) {
        char sign = 0;
        int64_t held_ns;

        /* The waiter has released it, which the server knew before we were told. */
        try_lock();
        check(write(waiter->to, &sign, 1) == 1, "call");
        check(read(waiter->from, &sign, 1) == 1, "announcement");
        usleep((useconds_t) (SETTLED_US + lrand48() % PHASES_US));

        int64_t released_ns = now_ns();

        unlock();
        check(read(waiter->from, &held_ns, sizeof held_ns) == sizeof held_ns, "report");
        if (held_ns < released_ns) {
            fputs("The waiter did not wait.\n", stderr);
            exit(EXIT_FAILURE);
        }
        printf("%lld\n", (long long) (held_ns - released_ns));
    }
}

int main(int argc, char **argv)
{
    if (argc == address_size + 1) {
        open_session(argv + 1);
        measure_pairs();
        close_session();
    } else if (argc == address_size + 3 && strcmp(argv[1], "handoff") == 0) {
        struct waiter waiter = start_waiter(wait_again_and_again, argv + 3);

        open_session(argv + 3);
        measure_handoffs(&waiter, atol(argv[2]));
        end_waiter(&waiter);
        close_session();
    } else {
        fprintf(stderr, "usage: %s [handoff COUNT] %s\n", argv[0], address_usage);
        return 64;
    }
    return EXIT_SUCCESS;
}
