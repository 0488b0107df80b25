/*
 * The engine, above all its layers: creation and destruction, and what each layer does around a
 * fork. The order of the locks: renewer_mutex, the renewer's, those of the fork hooks, the
 * descriptors', the libraries'.
 */
#include "src/base/library.h"
#include "src/renewal/renewal.h"

latch_engine *latch_engine_create(const latch_env *env, latch_error *error)
{
    latch_engine *engine = env->allocate(env->context, sizeof(*engine));

    if (engine == NULL) {
        latch_fail_memory(error);
        return NULL;
    }
    engine->env = *env;
    latch_descriptors_init(&engine->descriptors);
    latch_fork_hooks_init(&engine->fork_hooks);
    engine->generation = 0;
    engine->fork_count = 0;
    engine->observer = NULL;
    pthread_mutex_init(&engine->renewer_mutex, NULL);
    engine->renewer = NULL;
    return engine;
}

void latch_engine_destroy(latch_engine *engine)
{
    if (engine->renewer != NULL && !latch_renewer_destroy(engine->renewer)) {
        return; /* its thread is still at work with it */
    }
    pthread_mutex_destroy(&engine->renewer_mutex);
    latch_fork_hooks_destroy(&engine->fork_hooks);
    latch_descriptors_destroy(&engine->descriptors);
    engine->env.deallocate(engine->env.context, engine);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

void latch_engine_before_fork(latch_engine *engine)
{
    /* A fork copies memory at one instant: no other thread may be changing these lists then. */
    pthread_mutex_lock(&engine->renewer_mutex);
    if (engine->renewer != NULL) {
        latch_renewer_before_fork(engine->renewer);
    }
    latch_fork_hooks_before(&engine->fork_hooks);
    latch_descriptors_before_fork(&engine->descriptors);
    latch_library_before_fork();
}

void latch_engine_after_fork_in_parent(latch_engine *engine)
{
    engine->fork_count++;
    latch_library_after_fork();
    latch_descriptors_after_fork(&engine->descriptors);
    latch_fork_hooks_after(&engine->fork_hooks);
    if (engine->renewer != NULL) {
        latch_renewer_after_fork_in_parent(engine->renewer);
    }
    pthread_mutex_unlock(&engine->renewer_mutex);
}

void latch_engine_after_fork_in_child(latch_engine *engine)
{
    latch_descriptors_close_in_child(&engine->descriptors);
    engine->generation++;
    engine->fork_count++;
    if (engine->renewer != NULL) {
        latch_renewer_after_fork_in_child(engine->renewer);
    }
    latch_library_after_fork();
    latch_descriptors_after_fork(&engine->descriptors);
    latch_fork_hooks_after(&engine->fork_hooks);
    pthread_mutex_unlock(&engine->renewer_mutex);
}
