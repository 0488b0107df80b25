/* The scene of the tests that wait: see waiting.h. */
#include "waiting.h"

latch_lease *lease;
latch_op op;
unit_process peer;

int waiting_setup(void **state)
{
    if (unit_setup_flock(state) != 0) {
        return -1;
    }
    lease = unit_lease("r");
    peer = unit_peer(unit_lock_path("r"));
    return 0;
}

int waiting_teardown(void **state)
{
    if (peer.pid != 0) {
        unit_join(&peer);
    }
    return unit_teardown(state);
}

void begin_wait(latch_op_kind kind, int64_t timeout_ms)
{
    UNIT_CHECK(unit_begin(&op, lease, unit_waiting(kind, timeout_ms)) == LATCH_WANT_IO);
    unit_await_sleepers(unit_lock_path("r"), 1);
}

void begin_wait_for_peer(latch_op_kind kind, int64_t timeout_ms)
{
    UNIT_CHECK(unit_peer_try(&peer, LOCK_EX));
    begin_wait(kind, timeout_ms);
}

void let_the_grant_come(void)
{
    UNIT_CHECK(unit_peer_try(&peer, LOCK_UN));
    unit_await_grant(&op);
}
