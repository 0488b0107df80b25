/*
 * The callback store in the conformance suite. The user's functions lock in an in-memory store,
 * which has a lease of its own for each lease of the callback store.
 */
#include "conformance.h"

static latch_store *inner;
static latch_lease inner_leases[sizeof(unit.leases) / sizeof(unit.leases[0])];

static latch_lease *inner_of(const latch_lease *lease)
{
    return &inner_leases[lease - unit.leases];
}

/* Without a wait: a callback store leaves that to the engine's polls. */
static latch_status run(void *context, latch_lease *lease, const latch_request *request,
                        latch_error *error)
{
    latch_request at_once = *request;
    latch_op op;

    (void) context;
    at_once.wait = false;
    return latch_op_begin(&op, inner_of(lease), &at_once, error);
}

static void join(latch_lease *lease)
{
    latch_lease_init(inner_of(lease), inner, lease->resource, lease->resource_length);
}

static void leave(latch_lease *lease)
{
    latch_lease_drop(inner_of(lease));
}

static latch_store *open_store(conformance_variant variant)
{
    static const latch_store_calls calls = {.run = run};
    const latch_store_options options = {.calls = &calls};

    (void) variant;
    if (inner == NULL) {
        inner = unit_open("in-memory");
    }
    return inner == NULL ? NULL : latch_store_open(unit.engine, "callback", &options, &unit.error);
}

static void close_inner(void)
{
    latch_store_close(inner);
    inner = NULL;
}

int main(void)
{
    static const conformance_fixture fixture = {
        .name = "conformance: callback",
        .store = "callback",
        .capabilities = LATCH_SHARED_LOCKS | LATCH_SERIALIZABLE,
        .traits = CONFORMANCE_ALONE,
        .rounds = 2000,
        .fake_clock = true,
        .open = open_store,
        .join = join,
        .leave = leave,
        .expect_nothing_left = close_inner,
    };

    return conformance_run(&fixture);
}
