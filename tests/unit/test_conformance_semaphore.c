/* The semaphore store in the conformance suite. */
#include "conformance.h"
#include "semaphores.h"

static int setup(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    return 0;
}

static latch_store *open_store(conformance_variant variant)
{
    return variant == CONFORMANCE_PLAIN ? unit_open("semaphore") : NULL;
}

static void expect_nothing_left(void)
{
    UNIT_CHECK(unit_semaphore_set(scene.r) < 0 && unit_semaphore_set(scene.s) < 0);
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: semaphore",
        .store = "semaphore",
        .capabilities = LATCH_BLOCKING | LATCH_PUSH,
        .traits = CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS,
        .rounds = 1000,
        .setup = setup,
        .open = open_store,
        .expect_nothing_left = expect_nothing_left,
    };

    return conformance_run(&fixture);
}
