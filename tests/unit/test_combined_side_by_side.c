/* Combined stores: their members are asked side by side, and who is slow holds nobody up. */
#include "puppet_store.h"

#include <poll.h>

#define TTL PUPPET_TTL_MS

static void all_are_asked_before_any_has_answered(void **state)
{
    latch_lease *lease = puppet_lease("r");
    struct pollfd descriptors[LATCH_DESCRIPTORS_MAX];
    latch_op op;

    (void) state;
    puppets[0].late = puppets[1].late = puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    assert_int_equal(op.wake_ns, unit.now_ns + LATCH_NS_PER_S);
    assert_int_equal(latch_op_descriptors(&op, descriptors), 3);
    for (size_t at = 0; at < 3; at++) {
        assert_int_equal(puppets[at].requests, 1);
        assert_int_equal(descriptors[at].fd, 10 + at);
        assert_int_equal(descriptors[at].events, POLLIN);
    }
    puppet_speak(1);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    assert_int_equal(latch_op_descriptors(&op, descriptors), 2);
    assert_int_equal(descriptors[1].fd, 12);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_true(unit_held(lease));
}

static void who_is_slow_is_not_waited_for_and_locks_all_the_same(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_DONE);
    assert_true(unit_held(lease));
    assert_false(unit_held(puppet_part(lease, 2)));
    assert_true(latch_wants(latch_lease_vote(lease, 2).status));
    /* Whoever looks at the member finds the request's end, when it has come. */
    assert_int_equal(unit_begin(&op, puppet_part(lease, 2), puppet_request(LATCH_PROBE)),
                     LATCH_WANT_IO);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_true(unit_held(puppet_part(lease, 2)));
    unit_release(lease);
    assert_int_equal(puppet_count_held(), 0);
}

static void what_a_slow_member_was_asked_is_called_off_by_the_release(void **state)
{
    latch_lease *lease = puppet_lease("r");
    size_t requests;

    (void) state;
    puppets[2].late = true;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    requests = puppets[2].requests;
    puppet_speak(2);
    assert_int_equal(requests, 1); /* the renewal did not wait for it either */
    puppets[2].late = true;
    unit_release(lease);
    assert_int_equal(puppet_count_held(), 0);
    assert_false(puppet_part(lease, 2)->busy);
}

static void a_member_that_was_left_out_has_nothing_to_give_back(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[2].store.breaker.open_until_ns = unit.now_ns + LATCH_NS_PER_S;
    puppets[2].store.breaker.pause_ns = LATCH_NS_PER_S;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 0);
    assert_int_equal(puppets[2].store.breaker.pause_ns, LATCH_NS_PER_S);
    puppets[2].store.breaker.open_until_ns = unit.now_ns;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[2].store.breaker.open_until_ns = unit.now_ns + LATCH_NS_PER_S;
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 2);
    assert_int_equal(puppet_count_held(), 0);
}

static void a_release_waits_for_no_more_than_a_quorum(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;
    size_t requests;

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[1].late = puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_RELEASE)), LATCH_WANT_IO);
    puppet_speak(1);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_false(unit_held(lease));
    requests = puppets[2].requests;
    puppets[2].store.unacknowledged = 1000;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE),
                     LATCH_DONE); /* by the others, as it is silent */
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, requests);
    puppets[2].store.unacknowledged = 0;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE); /* behind the release */
    assert_int_equal(puppets[2].requests, requests + 1);
    puppet_speak(2);
    assert_int_equal(puppet_run(puppet_part(lease, 2), LATCH_PROBE), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 3);
}

static void a_slow_member_is_asked_again_by_the_next_request(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[2].late = true;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppet_speak(2);
    puppets[0].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(puppets[2].last, LATCH_REFRESH);
    assert_true(unit_held(puppet_part(lease, 2)));
}

static void who_cannot_be_left_is_waited_for(void **state)
{
    latch_lease *lease;
    latch_op op;

    (void) state;
    puppets[2].late = puppets[2].is_clingy = true;
    lease = puppet_lease("r");
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    puppets[2].answer = PUPPET_FAILS;
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
}

static void without_memory_to_leave_it_who_is_slow_is_waited_for(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    puppets[2].late = true;
    unit.fail_at = unit.allocations + 1;
    unit.fail_on = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    unit.fail_at = 0;
    unit.fail_on = false;
}

static void what_was_left_is_the_processs_own(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[2].late = true;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit.engine->generation++; /* as in a forked child */
    puppet_speak(2);
    assert_int_equal(unit_run(puppet_part(lease, 2), LATCH_PROBE), LATCH_DONE);
    assert_int_equal(puppets[2].last, LATCH_PROBE); /* the acquire is the parent's to end */
    assert_int_equal(puppet_part(lease, 2)->mode, LATCH_FREE);
}

static void when_it_is_hopeless_nobody_waits_and_nothing_stays(void **state)
{
    for (int clingy = 0; clingy < 2; clingy++) {
        latch_lease *lease;
        latch_op op;

        (void) state;
        puppets[2].late = true;
        puppets[2].is_clingy = clingy == 1;
        puppets[2].answer = PUPPET_YES;
        puppets[0].answer = puppets[1].answer = PUPPET_NO;
        puppets[1].late = true;
        lease = puppet_lease(clingy == 1 ? "s" : "r");
        assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
        puppet_speak(1);
        if (clingy == 1) {
            assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
        }
        assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_CONFLICT);
        assert_int_equal(puppet_count_held(), 0);
        assert_int_equal(latch_lease_vote(lease, 2).status, LATCH_NO_VOTE);
        assert_false(puppet_part(lease, 2)->busy);
    }
}

static void a_cancel_gives_back_what_was_granted(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    puppets[1].late = puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    assert_int_equal(puppet_count_held(), 1);
    assert_int_equal(latch_op_cancel(&op, unit.now_ns), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
    assert_false(lease->busy);
}

static void a_cancel_of_a_promotion_leaves_the_reader(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    puppets[1].late = puppets[2].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    puppets[0].late = false;
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_int_equal(puppet_part(lease, 0)->mode, LATCH_SHARED);
}

static void a_wait_asks_again_until_it_is_granted_or_over(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_request waiting = unit_waiting(LATCH_ACQUIRE, 1000);
    latch_op op;
    latch_status status;

    (void) state;
    waiting.ttl_ms = TTL;
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(unit_run_request(lease, waiting), LATCH_CONFLICT);
    assert_true(puppets[0].requests > 5);
    waiting = unit_waiting(LATCH_ACQUIRE, 1000);
    waiting.ttl_ms = TTL;
    status = unit_begin(&op, lease, waiting);
    assert_int_equal(status, LATCH_WANT_TIMER);
    puppets[0].answer = PUPPET_YES;
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_true(unit_held(lease));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(all_are_asked_before_any_has_answered, three),
        PUPPET_TEST(who_is_slow_is_not_waited_for_and_locks_all_the_same, three),
        PUPPET_TEST(what_a_slow_member_was_asked_is_called_off_by_the_release, three),
        PUPPET_TEST(a_member_that_was_left_out_has_nothing_to_give_back, three),
        PUPPET_TEST(a_release_waits_for_no_more_than_a_quorum, three),
        PUPPET_TEST(a_slow_member_is_asked_again_by_the_next_request, three),
        PUPPET_TEST(who_cannot_be_left_is_waited_for, three),
        PUPPET_TEST(without_memory_to_leave_it_who_is_slow_is_waited_for, three),
        PUPPET_TEST(what_was_left_is_the_processs_own, three),
        PUPPET_TEST(when_it_is_hopeless_nobody_waits_and_nothing_stays, three),
        PUPPET_TEST(a_cancel_gives_back_what_was_granted, three),
        PUPPET_TEST(a_cancel_of_a_promotion_leaves_the_reader, three),
        PUPPET_TEST(a_wait_asks_again_until_it_is_granted_or_over, three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
