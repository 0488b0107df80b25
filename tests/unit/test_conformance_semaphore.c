/* The semaphore store in the conformance suite. */
#include "conformance.h"
#include "semaphores.h"

static void expect_nothing_left(void)
{
    UNIT_CHECK(unit_semaphore_set(scene.r) < 0 && unit_semaphore_set(scene.s) < 0);
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: semaphore",
        .store = "semaphore",
        .capabilities = LATCH_BLOCKING | LATCH_PUSH | LATCH_PERMITS,
        .traits = CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS,
        .rounds = 300,
        .expect_nothing_left = expect_nothing_left,
    };

    return conformance_run(&fixture);
}
