/* Slots: see slots.h. */
#include "slots.h"

latch_store *slots_locks;

latch_store *unit_open_slots(latch_store *in)
{
    const latch_store_options options = {.members = &in, .member_count = 1};

    return latch_store_open(unit.engine, "slots", &options, &unit.error);
}

int unit_setup_slots(latch_store *in)
{
    slots_locks = in;
    unit.store = slots_locks != NULL ? unit_open_slots(slots_locks) : NULL;
    return unit.store != NULL ? 0 : -1;
}

int unit_teardown_slots(void **state)
{
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    latch_store_close(unit.store);
    unit.store = slots_locks;
    return unit_teardown(state);
}

latch_lease *permit_lease(const char *name)
{
    latch_lease *lease = unit_lease(name);

    latch_permit_lease_init(lease, unit.store, lease->resource, lease->resource_length);
    return lease;
}

latch_lease *lock_lease(const char *name)
{
    latch_lease *lease = unit_lease(name);

    latch_lease_init(lease, slots_locks, lease->resource, lease->resource_length);
    return lease;
}

latch_request for_permits(latch_request request, int64_t limit, int64_t weight)
{
    request.permits = (latch_permits){.limit = limit, .weight = weight};
    return request;
}

latch_status take(latch_lease *lease, int64_t limit, int64_t weight)
{
    return unit_run_request(lease, for_permits(unit_request(LATCH_ACQUIRE), limit, weight));
}

void slots_begin_at(uint64_t number)
{
    static uint64_t bytes;

    bytes = number;
    unit_script_random(&bytes, sizeof(bytes));
}
