/*
 * The floor under a lock in a table: one statement that acquires and one that releases, by the
 * database's client library, in C.
 *
 *     table_postgresql CONNINFO    table_mysql SOCKET USER DATABASE    table_sqlite FILE
 *
 * Each reads lines "store ITERATIONS" and "least ITERATIONS" until its input ends, and answers
 * each with a line: the nanoseconds of one acquire and release. The table is there already.
 */
#include "table.h"
#include "common.h"

#include <string.h>

static double measure(void (*execute)(int statement), long iterations)
{
    int64_t begun_ns = now_ns();

    for (long i = 0; i < iterations; i++) {
        execute(ACQUIRE);
        execute(RELEASE);
    }
    return (double) (now_ns() - begun_ns) / (double) iterations;
}

int main(int argc, char **argv)
{
    char how[16];
    long iterations;

    if (argc != address_size + 1) {
        fprintf(stderr, "usage: %s %s\n", argv[0], address_usage);
        return 64;
    }
    open_session(argv + 1);
    while (scanf(" %15s %ld", how, &iterations) == 2) {
        bool as_store = strcmp(how, "store") == 0;

        printf("%.1f\n", measure(as_store ? execute_as_store : execute_least, iterations));
        fflush(stdout);
    }
    close_session();
    return EXIT_SUCCESS;
}
