/*
 * Context: struct latch_engine, opaque to the engine's users, that each layer hands on to the one
 * below. Base knows the environment, the registered descriptors, the fork hooks and the fork
 * counters in it, and declares one slot each for two layers above, whose types are opaque here.
 */
#ifndef LATCH_CONTEXT_H
#define LATCH_CONTEXT_H

#include "src/base/descriptor.h"
#include "src/base/fork_hook.h"
#include "src/latch.h"

#include <pthread.h>
#include <stdatomic.h>

struct latch_engine {
    latch_env env;
    latch_descriptors descriptors;
    latch_fork_hooks fork_hooks;
    unsigned generation;         /* written only in a child that has one thread */
    _Atomic unsigned fork_count; /* forks seen, as parent or as child */

    /* The slots. engine/observer.h: set before the first lease that is `observed`. */
    const struct latch_lease_observer *observer;
    /* renewal/renewal.h: NULL before the first mailbox; its creation is guarded by the mutex. */
    struct latch_renewer *renewer;
    pthread_mutex_t renewer_mutex;
};

/* Uninitialised memory of the environment's allocator; NULL on failure. */
static inline void *latch_allocate(const latch_engine *engine, size_t size)
{
    return engine->env.allocate(engine->env.context, size);
}

/* Frees it; accepts NULL. */
static inline void latch_free(const latch_engine *engine, void *pointer)
{
    engine->env.deallocate(engine->env.context, pointer);
}

#endif
