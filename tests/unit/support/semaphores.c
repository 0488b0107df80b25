/* Semaphores as the system sees them, and as PHP's sysvsem extension uses them (sysvsem.c). */
#include "semaphores.h"

#include <errno.h>
#include <unistd.h>

enum { LOCK, USERS, SETUP };

const char *unit_semaphore_resource(void)
{
    static char resource[64];

    if (resource[0] == '\0') {
        snprintf(resource, sizeof(resource), "latch unit test %d", (int) getpid());
    }
    return resource;
}

static void hold_until_told(unit_process *self, void *unused)
{
    latch_lease *lease = unit_lease(unit_semaphore_resource());

    (void) unused;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
    unit_release(lease);
    unit_say(self, 'r');
    unit_hear(self);
}

unit_process unit_semaphore_holder(void)
{
    unit_process process = unit_fork(hold_until_told, NULL);

    unit_expect(&process, 'h');
    return process;
}

key_t unit_semaphore_key(const char *resource)
{
    const struct iovec part = {(void *) resource, strlen(resource)};
    uint8_t digest[LATCH_DIGEST_MAX];
    key_t key;

    unit_digest(NULL, LATCH_MD5, &part, 1, digest);
    memcpy(&key, digest, sizeof(key));
    return key;
}

int unit_semaphore_set(const char *resource)
{
    return semget(unit_semaphore_key(resource), 0, 0);
}

void unit_semaphore_values(int set, unsigned short values[3])
{
    UNIT_CHECK(semctl(set, 0, GETALL, values) == 0);
}

void unit_await_semaphore_sleepers(int set, int count)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (semctl(set, LOCK, GETNCNT) != count) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        usleep(200);
    }
}

static void operate(int set, struct sembuf *operations, size_t count)
{
    while (semop(set, operations, count) != 0) {
        UNIT_CHECK(errno == EINTR);
    }
}

int php_sem_get(key_t key)
{
    return php_sem_get_counting(key, 1);
}

int php_sem_get_counting(key_t key, int limit)
{
    int set = semget(key, 3, 0666 | IPC_CREAT);
    struct sembuf enter[] = {{SETUP, 0, 0}, {SETUP, 1, SEM_UNDO}, {USERS, 1, SEM_UNDO}};
    struct sembuf leave[] = {{SETUP, -1, SEM_UNDO}};

    UNIT_CHECK(set >= 0);
    operate(set, enter, 3);
    if (semctl(set, USERS, GETVAL) == 1) {
        UNIT_CHECK(semctl(set, LOCK, SETVAL, limit) == 0);
    }
    operate(set, leave, 1);
    return set;
}

bool php_sem_acquire(int set, bool wait)
{
    struct sembuf operation = {LOCK, -1, (short) (SEM_UNDO | (wait ? 0 : IPC_NOWAIT))};
    int result;

    do {
        result = semop(set, &operation, 1);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

void php_sem_remove(int set)
{
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
}

void php_sem_free(int set, bool acquired)
{
    struct sembuf operations[] = {{USERS, -1, SEM_UNDO}, {LOCK, 1, SEM_UNDO}};

    operate(set, operations, acquired ? 2 : 1);
}
