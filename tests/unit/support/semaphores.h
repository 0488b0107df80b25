/*
 * What the tests of the semaphore store share: the system's own view of its sets, and a peer that
 * speaks the protocol of PHP's sysvsem extension with nothing of Latch in it.
 */
#ifndef SEMAPHORES_H
#define SEMAPHORES_H

#include "unit.h"

#include <sys/ipc.h>
#include <sys/sem.h>

/* A resource of this process's alone: semaphores are the whole machine's. */
const char *unit_semaphore_resource(void);
/* A process that holds it until it is told; says 'r' when it has released, and is told to end. */
unit_process unit_semaphore_holder(void);
/* Its key, and that of any resource. */
key_t unit_semaphore_key(const char *resource);
/* Its set, or -1 when the system has none. */
int unit_semaphore_set(const char *resource);
/* The three values of the set: lock, users, setup. */
void unit_semaphore_values(int set, unsigned short values[3]);
/* Returns when so many processes sleep until the set's lock is free. */
void unit_await_semaphore_sleepers(int set, int count);

/* sem_get(), sem_acquire(), sem_remove() and the end of a SysvSemaphore object. */
int php_sem_get(key_t key);
int php_sem_get_counting(key_t key, int limit);
bool php_sem_acquire(int set, bool wait);
void php_sem_remove(int set);
void php_sem_free(int set, bool acquired);

#endif
