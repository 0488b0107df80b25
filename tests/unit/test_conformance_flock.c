/* The flock store in the conformance suite. */
#include "conformance.h"

static void expect_nothing_left(void)
{
    unit.store = unit_open("flock"); /* it knows the paths */
    UNIT_CHECK(unit_is_free(scene.r, LOCK_EX) && unit_is_free(scene.s, LOCK_EX));
    latch_store_close(unit.store);
    unit.store = NULL;
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: flock",
        .store = "flock",
        .capabilities = LATCH_BLOCKING | LATCH_SHARED_LOCKS | LATCH_PUSH | LATCH_LISTING
                        | LATCH_CALLS,
        .traits = CONFORMANCE_DEADLOCKS | CONFORMANCE_INSPECTS | CONFORMANCE_INHERITS,
        .rounds = 300,
        .prepare = unit_make_directory,
        .expect_nothing_left = expect_nothing_left,
    };

    return conformance_run(&fixture);
}
