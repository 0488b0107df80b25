/* Circuit breaker of one server: after a time-out it is not asked for a while; zeroed: closed. */
#ifndef LATCH_BREAKER_H
#define LATCH_BREAKER_H

#include "src/base/base.h"

typedef struct latch_breaker {
    int64_t open_until_ns; /* open: requests fail fast until then */
    int64_t pause_ns;      /* the last pause; doubled by the next time-out */
} latch_breaker;

/* Errors that took as long as this, or longer, were time-outs. */
#define LATCH_BREAKER_TIMEOUT_NS (50 * LATCH_NS_PER_MS)

/* Records the time-out of a request that was sent at `asked_ns`. Concurrent reports of one outage
 * count once. */
void latch_breaker_record_timeout(latch_breaker *breaker, int64_t asked_ns, int64_t now_ns);

#endif
