/* Context: clocks of the environment, and fork counters. */
#include "src/base/context.h"

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
