/* Circuit breaker: see breaker.h. */
#include "src/engine/breaker.h"

/* How long a server is not asked: doubled with each further time-out. */
#define FIRST_PAUSE_NS LATCH_NS_PER_S
#define LONGEST_PAUSE_NS (16 * LATCH_NS_PER_S)

void latch_breaker_record_timeout(latch_breaker *breaker, int64_t asked_ns, int64_t now_ns)
{
    if (breaker->pause_ns > 0 && asked_ns < breaker->open_until_ns - breaker->pause_ns) {
        return; /* sent before the breaker opened: the same outage */
    }
    breaker->pause_ns = breaker->pause_ns == 0 ? FIRST_PAUSE_NS : 2 * breaker->pause_ns;
    if (breaker->pause_ns > LONGEST_PAUSE_NS) {
        breaker->pause_ns = LONGEST_PAUSE_NS;
    }
    breaker->open_until_ns = now_ns + breaker->pause_ns;
}
