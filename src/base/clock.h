/* Arithmetic on times and durations, which saturates at LATCH_NEVER; random jitter. */
#ifndef LATCH_CLOCK_H
#define LATCH_CLOCK_H

#include "src/latch.h"

static inline int64_t latch_add_ns(int64_t time_ns, int64_t duration_ns)
{
    int64_t sum;

    return __builtin_add_overflow(time_ns, duration_ns, &sum) ? LATCH_NEVER : sum;
}

static inline int64_t latch_ms_to_ns(int64_t ms)
{
    int64_t ns;

    return __builtin_mul_overflow(ms, LATCH_NS_PER_MS, &ns) ? LATCH_NEVER : ns;
}

/* Jitter: the duration +-10 %, at random, so that contenders do not meet again. */
int64_t latch_jittered_ns(const latch_engine *engine, int64_t duration_ns);

#endif
