/* Threads of the engine. */
#ifndef LATCH_THREAD_H
#define LATCH_THREAD_H

#include <pthread.h>

/*
 * Starts a thread with all signals blocked, as PHP's handlers touch its interpreter, and pins this
 * library in memory to the process's end. `thread` is to be joined; NULL: the thread is detached.
 * Returns an errno.
 */
int latch_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
