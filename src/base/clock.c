/* Jitter: see clock.h. */
#include "src/base/clock.h"

#include "src/base/context.h"

int64_t latch_jittered_ns(const latch_engine *engine, int64_t duration_ns)
{
    uint16_t random;

    if (!engine->env.random(engine->env.context, &random, sizeof(random))) {
        random = UINT16_MAX / 2; /* jitter only spreads contenders: no reason to fail */
    }
    return duration_ns / 10 * 9 + duration_ns / 5 * random / UINT16_MAX;
}
