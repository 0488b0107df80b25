/*
 * The floor under a semaphore lock: the bare system calls, in C.
 *
 *     semaphore php|fused ITERATIONS KEY
 *
 * php     the calls of PHP's sysvsem extension (php-src, ext/sysvsem/sysvsem.c) as Symfony makes
 *         them for one lock: sem_get(), sem_acquire(), sem_remove()
 * fused   the fewest that are exclusive with those: the set is made, taken in one semop(2), asked
 *         for waiters, removed
 *
 * Prints the nanoseconds of one lock and unlock.
 */
#include "common.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>

enum { LOCK, USERS, SETUP };

union semun {
    int value;
    struct semid_ds *status;
};

static int make(key_t key, int flags)
{
    int set = semget(key, 3, IPC_CREAT | 0666 | flags);

    check(set >= 0, "semget");
    return set;
}

static void operate(int set, struct sembuf *operations, size_t count)
{
    check(semop(set, operations, count) == 0, "semop");
}

static void lock_and_unlock_as_php(key_t key)
{
    struct sembuf enter[] = {{SETUP, 0, 0}, {SETUP, 1, SEM_UNDO}, {USERS, 1, SEM_UNDO}};
    struct sembuf leave[] = {{SETUP, -1, SEM_UNDO}};
    struct sembuf acquire[] = {{LOCK, -1, SEM_UNDO | IPC_NOWAIT}};
    struct semid_ds status;
    int set = make(key, 0);

    operate(set, enter, 3);
    if (semctl(set, USERS, GETVAL) == 1) {
        check(semctl(set, LOCK, SETVAL, (union semun){.value = 1}) == 0, "SETVAL");
    }
    operate(set, leave, 1);
    operate(set, acquire, 1);
    check(semctl(set, 0, IPC_STAT, (union semun){.status = &status}) == 0, "IPC_STAT");
    check(semctl(set, 0, IPC_RMID) == 0, "IPC_RMID");
}

static void lock_and_unlock_fused(key_t key)
{
    struct sembuf acquire[] = {
        {SETUP, 0, IPC_NOWAIT}, {USERS, 0, IPC_NOWAIT}, {LOCK, 0, IPC_NOWAIT},
        {LOCK, 1, IPC_NOWAIT},  {LOCK, -1, SEM_UNDO},   {USERS, 1, SEM_UNDO},
    };
    int set = make(key, IPC_EXCL);

    operate(set, acquire, 6);
    check(semctl(set, LOCK, GETNCNT) == 0, "GETNCNT");
    check(semctl(set, 0, IPC_RMID) == 0, "IPC_RMID");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: semaphore php|fused ITERATIONS KEY\n", stderr);
        return 64;
    }

    bool fused = strcmp(argv[1], "fused") == 0;
    long iterations = atol(argv[2]);
    key_t key = (key_t) atol(argv[3]);
    int64_t begun_ns = now_ns();

    for (long i = 0; i < iterations; i++) {
        fused ? lock_and_unlock_fused(key) : lock_and_unlock_as_php(key);
    }

    printf("%.1f\n", (double) (now_ns() - begun_ns) / (double) iterations);
    return EXIT_SUCCESS;
}
