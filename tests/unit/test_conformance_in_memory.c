/* The in-memory store in the conformance suite. */
#include "conformance.h"

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: in-memory",
        .store = "in-memory",
        .capabilities = LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE | LATCH_PERMITS | LATCH_CALLS,
        .traits = CONFORMANCE_ALONE | CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS,
        .rounds = 20000,
        .fake_clock = true,
    };

    return conformance_run(&fixture);
}
