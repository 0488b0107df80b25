/* The in-memory store in the conformance suite. */
#include "conformance.h"

static latch_store *open_store(conformance_variant variant)
{
    return variant == CONFORMANCE_PLAIN ? unit_open("in-memory") : NULL;
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: in-memory",
        .store = "in-memory",
        .capabilities = LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        .traits = CONFORMANCE_ALONE | CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS,
        .rounds = 20000,
        .setup = unit_setup,
        .open = open_store,
    };

    return conformance_run(&fixture);
}
