/*
 * Fork hooks: functions that are called around fork(2), for resources that a child must not have a
 * copy of, or not one that is in the middle of a change. No hook is added or removed meanwhile.
 */
#ifndef LATCH_FORK_HOOK_H
#define LATCH_FORK_HOOK_H

#include "src/base/list.h"
#include "src/latch.h"

#include <pthread.h>

/* Member of a resource. Its functions may be called in any thread that forks, and call nothing that
 * registers a hook or a descriptor. */
typedef struct latch_fork_hook {
    latch_link link;
    void (*before)(struct latch_fork_hook *hook);
    void (*after)(struct latch_fork_hook *hook); /* in the parent, and in the child */
} latch_fork_hook;

/* All hooks of an engine. */
typedef struct latch_fork_hooks {
    pthread_mutex_t mutex; /* guards the list; held across fork() */
    latch_link list;       /* of latch_fork_hook */
} latch_fork_hooks;

void latch_fork_hooks_init(latch_fork_hooks *hooks);
void latch_fork_hooks_destroy(latch_fork_hooks *hooks);
void latch_fork_hooks_before(latch_fork_hooks *hooks);
void latch_fork_hooks_after(latch_fork_hooks *hooks);

void latch_fork_hook_add(latch_engine *engine, latch_fork_hook *hook);
void latch_fork_hook_remove(latch_engine *engine, latch_fork_hook *hook);

#endif
