/* Circuit breaker: see breaker.h. */
#include "src/engine/breaker.h"

/* How long a server is not asked: doubled with each further time-out. */
#define FIRST_PAUSE_NS LATCH_NS_PER_S
#define LONGEST_PAUSE_NS (16 * LATCH_NS_PER_S)

void latch_note_silence(latch_silence *silence, int64_t asked_ns, int64_t now_ns)
{
    if (silence->pause_ns > 0 && asked_ns < silence->avoided_until_ns - silence->pause_ns) {
        return; /* sent before the breaker opened: the same outage */
    }
    silence->pause_ns = silence->pause_ns == 0 ? FIRST_PAUSE_NS : 2 * silence->pause_ns;
    if (silence->pause_ns > LONGEST_PAUSE_NS) {
        silence->pause_ns = LONGEST_PAUSE_NS;
    }
    silence->avoided_until_ns = now_ns + silence->pause_ns;
}
