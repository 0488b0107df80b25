/* The null store in the conformance suite. */
#include "conformance.h"

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: null",
        .store = "null",
        .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        .traits = CONFORMANCE_ALONE | CONFORMANCE_GRANTS_ALL | CONFORMANCE_INSPECTS,
        .fake_clock = true,
    };

    return conformance_run(&fixture);
}
