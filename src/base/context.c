/* Context: clocks and random numbers of the environment, and fork counters. */
#include "src/base/context.h"

int64_t latch_engine_now_ns(const latch_engine *engine)
{
    return engine->env.monotonic_ns(engine->env.context);
}

int64_t latch_engine_wall_ns(const latch_engine *engine)
{
    return engine->env.wall_ns(engine->env.context);
}

uint64_t latch_engine_random(const latch_engine *engine, uint64_t bound)
{
    uint64_t number;

    if (!engine->env.random(engine->env.context, &number, sizeof(number))) {
        return bound / 2; /* it only spreads contenders: no reason to fail */
    }
    return number % bound;
}

unsigned latch_engine_generation(const latch_engine *engine)
{
    return engine->generation;
}

unsigned latch_engine_fork_count(const latch_engine *engine)
{
    return engine->fork_count;
}
