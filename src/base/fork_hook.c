/* Fork hooks: see fork_hook.h. */
#include "src/base/fork_hook.h"

#include "src/base/context.h"

void latch_fork_hooks_init(latch_fork_hooks *hooks)
{
    latch_list_init(&hooks->list);
    pthread_mutex_init(&hooks->mutex, NULL);
}

void latch_fork_hooks_destroy(latch_fork_hooks *hooks)
{
    pthread_mutex_destroy(&hooks->mutex);
}

void latch_fork_hooks_before(latch_fork_hooks *hooks)
{
    pthread_mutex_lock(&hooks->mutex);
    for (latch_link *link = hooks->list.next; link != &hooks->list; link = link->next) {
        latch_fork_hook *hook = LATCH_CONTAINER(link, latch_fork_hook, link);

        hook->before(hook);
    }
}

void latch_fork_hooks_after(latch_fork_hooks *hooks)
{
    for (latch_link *link = hooks->list.next; link != &hooks->list; link = link->next) {
        latch_fork_hook *hook = LATCH_CONTAINER(link, latch_fork_hook, link);

        hook->after(hook);
    }
    pthread_mutex_unlock(&hooks->mutex);
}

void latch_fork_hook_add(latch_engine *engine, latch_fork_hook *hook)
{
    pthread_mutex_lock(&engine->fork_hooks.mutex);
    latch_list_append(&engine->fork_hooks.list, &hook->link);
    pthread_mutex_unlock(&engine->fork_hooks.mutex);
}

void latch_fork_hook_remove(latch_engine *engine, latch_fork_hook *hook)
{
    pthread_mutex_lock(&engine->fork_hooks.mutex);
    latch_list_remove(&hook->link);
    pthread_mutex_unlock(&engine->fork_hooks.mutex);
}
