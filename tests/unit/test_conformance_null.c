/* The null store in the conformance suite. */
#include "conformance.h"

static latch_store *open_store(conformance_variant variant)
{
    return variant == CONFORMANCE_PLAIN ? unit_open("null") : NULL;
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: null",
        .store = "null",
        .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        .traits = CONFORMANCE_ALONE | CONFORMANCE_GRANTS_ALL | CONFORMANCE_INSPECTS,
        .setup = unit_setup,
        .open = open_store,
    };

    return conformance_run(&fixture);
}
