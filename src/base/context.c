/* Context: allocation, clocks and fork counters of the environment. */
#include "src/base/context.h"

void *latch_allocate(const latch_engine *engine, size_t size)
{
    return engine->env.allocate(engine->env.context, size);
}

void latch_free(const latch_engine *engine, void *pointer)
{
    engine->env.deallocate(engine->env.context, pointer);
}

int64_t latch_engine_now_ns(const latch_engine *engine)
{
    return engine->env.monotonic_ns(engine->env.context);
}

int64_t latch_engine_wall_ns(const latch_engine *engine)
{
    return engine->env.wall_ns(engine->env.context);
}

unsigned latch_engine_generation(const latch_engine *engine)
{
    return engine->generation;
}

unsigned latch_engine_fork_count(const latch_engine *engine)
{
    return engine->fork_count;
}
