/* Combined stores: how the members' answers make an outcome, and that nothing is left of a failure.
 */
#include "puppet_store.h"

#include <poll.h>

#define MS LATCH_NS_PER_MS
#define TTL PUPPET_TTL_MS

/* ---- What most say counts */

static void a_lock_is_held_when_most_members_grant_it(void **state)
{
    static const puppet_answer all[] = {PUPPET_YES, PUPPET_NO, PUPPET_FAILS};

    (void) state;
    for (int code = 0; code < 27; code++) {
        latch_lease *lease = puppet_lease("r");
        const puppet_answer answers[] = {all[code % 3], all[code / 3 % 3], all[code / 9]};
        size_t yes = 0;

        for (size_t at = 0; at < 3; at++) {
            puppets[at].answer = answers[at];
            yes += answers[at] == PUPPET_YES;
        }
        assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), yes >= 2 ? LATCH_DONE : LATCH_CONFLICT);
        assert_int_equal(unit_held(lease), yes >= 2);
        for (size_t at = 0; at < 3; at++) {
            puppets[at].answer = PUPPET_YES;
        }
        assert_int_equal(puppet_count_held(), yes >= 2 ? yes : 0);
        unit_release(lease);
        assert_int_equal(puppet_count_held(), 0);
    }
}

static void all_are_asked_though_most_have_granted_at_once(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 3);
}

static void nobody_is_asked_in_vain(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppets[2].requests, 0);
    assert_int_equal(latch_lease_vote(lease, 0).status, LATCH_CONFLICT);
    assert_int_equal(latch_lease_vote(lease, 2).status, LATCH_INTERRUPTED);
}

static void unanimity_takes_all_of_them(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
    puppets[2].answer = PUPPET_YES;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 3);
    puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_false(unit_held(lease));
}

static void a_member_that_stands_there_twice_is_asked_once_and_counts_twice(void **state)
{
    latch_store *const members[] = {&puppets[0].store, &puppets[1].store, &puppets[0].store};
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = members,
                                         .member_count = 3};
    latch_store *store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    latch_lease parts[2], lease;

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        latch_lease_init(&parts[at], &puppets[at].store, "r", 1);
    }
    latch_lease_init(&lease, store, "r", 1);
    assert_false(latch_lease_is_joined(&lease));
    assert_int_equal(latch_lease_join(&lease,
                                      (latch_member[]){{parts, 0}, {parts + 1, 0}, {parts, 0}},
                                      &unit.error),
                     LATCH_DONE);
    assert_true(latch_lease_is_joined(&lease));
    puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(&lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppets[0].requests, 1);
    assert_int_equal(latch_lease_vote(&lease, 2).status, LATCH_DONE);
    unit_release(&lease);
    puppets[1].answer = PUPPET_YES;
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(&lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
    latch_lease_drop(&lease);
    latch_lease_drop(&parts[0]);
    latch_lease_drop(&parts[1]);
    latch_store_close(store);
}

static void the_errors_of_members_are_told(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_null(latch_lease_vote(lease, 0).error);
    assert_int_equal(latch_lease_vote(lease, 1).status, LATCH_ERROR_STORE);
    assert_string_equal(latch_lease_vote(lease, 1).error->message, "as the puppet says");
}

static void a_renewal_that_most_refuse_ends_the_hold_everywhere(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_true(unit_held(lease));
    puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_true(lease->lost);
    assert_int_equal(puppets[2].requests, 3); /* the failed renewal did not come to it */
    assert_int_equal(puppets[2].last, LATCH_RELEASE);
    assert_false(puppets[2].is_held);
}

static void a_lock_that_most_have_lost_is_not_held(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_held(lease));
    puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_true(lease->lost);
}

static void an_acquire_again_that_fails_gives_up_what_is_left(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = puppets[1].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_false(unit_held(lease));
    assert_true(lease->lost);
    assert_int_equal(puppet_count_held(), 0);
}

static void a_release_is_done_though_members_fail(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[0].answer = puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(latch_lease_vote(lease, 0).status, LATCH_ERROR_STORE);
    assert_false(unit_held(lease));
    assert_false(puppets[2].is_held);
}

/* ---- Readers and writers */

static void a_promotion_that_fails_leaves_the_reader_what_it_had(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    puppets[1].answer = puppets[2].answer = PUPPET_NO;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_true(unit_held(lease));
    assert_int_equal(puppet_part(lease, 0)->mode, LATCH_SHARED);
    assert_int_equal(puppets[0].last, LATCH_ACQUIRE_SHARED);
    assert_int_equal(puppet_count_held(), 3);
    puppets[1].answer = puppets[2].answer = PUPPET_YES;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
}

static void a_promotion_that_cannot_be_undone_is_a_loss(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    for (size_t at = 0; at < 2; at++) {
        puppets[at].answer = PUPPET_LOSES;
    }
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_int_equal(lease->mode, LATCH_FREE);
    assert_true(lease->lost);
    assert_int_equal(puppet_count_held(), 0);
}

static void members_without_shared_locks_are_locked_exclusively(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[1].info = *puppets[1].store.info;
    puppets[1].info.capabilities = LATCH_EXPIRING;
    puppets[1].store.info = &puppets[1].info;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(puppets[0].last, LATCH_ACQUIRE_SHARED);
    assert_int_equal(puppets[1].last, LATCH_ACQUIRE);
    assert_int_equal(lease->mode, LATCH_SHARED);
}

/* ---- Side by side */

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
    assert_true(LATCH_WANTS(latch_lease_vote(lease, 2).status));
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
    puppets[2].store.avoided_until_ns = unit.now_ns + LATCH_NS_PER_S;
    puppets[2].store.pause_ns = LATCH_NS_PER_S;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, 0);
    assert_int_equal(puppets[2].store.pause_ns, LATCH_NS_PER_S);
    puppets[2].store.avoided_until_ns = unit.now_ns;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[2].store.avoided_until_ns = unit.now_ns + LATCH_NS_PER_S;
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
    puppets[2].store.unheard = 1000;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE),
                     LATCH_DONE); /* by the others, as it is silent */
    assert_int_equal(puppet_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(puppets[2].requests, requests);
    puppets[2].store.unheard = 0;
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
        assert_int_equal(latch_lease_vote(lease, 2).status, LATCH_INTERRUPTED);
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

/* ---- Time */

static void the_hold_ends_with_the_first_member_less_the_drift(void **state)
{
    latch_lease *lease = puppet_lease("r");
    const int64_t drift_ns = TTL * MS / 100 + 2 * MS, begun_ns = unit.now_ns;
    latch_op op;

    (void) state;
    puppets[0].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, begun_ns + TTL * MS - drift_ns);
    unit.now_ns += 1000 * MS;
    puppet_speak(0);
    puppets[1].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, begun_ns + 1000 * MS + TTL * MS - drift_ns);
    unit.now_ns = lease->deadline_ns - 1;
    assert_true(unit_held(lease));
    unit.now_ns++;
    assert_false(unit_held(lease));
}

static void how_long_it_lasts_does_not_depend_on_who_answers_first(void **state)
{
    static const latch_store_info lasting = {.name = "lasting", .capabilities = LATCH_SHARED_LOCKS};
    latch_lease *lease = puppet_lease("r");
    const int64_t drift_ns = TTL * MS / 100 + 2 * MS;
    latch_op op;

    (void) state;
    puppets[1].store.info = puppets[2].store.info = &lasting;
    for (int late = 0; late < 2; late++) {
        puppets[0].late = late;
        assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_DONE);
        assert_int_equal(lease->deadline_ns, unit.now_ns + TTL * MS - drift_ns);
        puppet_speak(0);
        unit.now_ns += 1000 * MS;
        puppets[0].late = late;
        assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_REFRESH)), LATCH_DONE);
        assert_int_equal(lease->deadline_ns, unit.now_ns + TTL * MS - drift_ns);
        puppet_speak(0);
        unit_release(lease);
    }
}

static void without_a_ttl_each_member_has_its_own(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppets[0].request.ttl_ms, 300000);
    assert_int_equal(lease->deadline_ns, unit.now_ns + 300000 * MS - 3002 * MS);
}

static void who_was_silent_is_not_asked_for_a_while(void **state)
{
    latch_lease *lease = puppet_lease("r");
    latch_op op;

    (void) state;
    puppets[0].answer = PUPPET_FAILS;
    puppets[1].late = puppets[2].late = puppets[0].late = true;
    assert_int_equal(unit_begin(&op, lease, puppet_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    unit.now_ns += 1000 * MS;
    puppet_speak(0);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    puppet_speak(1);
    puppet_speak(2);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(puppets[0].requests, 2);
    assert_true(puppets[0].request.detach);

    puppets[0].answer = PUPPET_YES;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppets[0].requests, 2);
    assert_non_null(strstr(latch_lease_vote(lease, 0).error->message, "not asked"));
    unit_release(lease);
    puppets[1].answer = PUPPET_NO; /* but when it is needed it is asked */
    unit.now_ns += 1000 * MS;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(puppets[0].is_held);
}

static void a_failure_in_no_time_is_no_silence(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(puppets[0].requests, 2);
}

static void those_who_are_needed_are_asked_though_they_were_silent(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].store.avoided_until_ns = puppets[1].store.avoided_until_ns = unit.now_ns + 1000 * MS;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(puppet_count_held(), 3);
}

static void a_server_that_was_started_lately_is_not_relied_on(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].started_ns = unit.now_ns - TTL * MS + 1;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE); /* the others are enough */
    assert_int_equal(puppet_count_held(), 3);
    assert_int_equal(puppet_run(lease, LATCH_REFRESH), LATCH_DONE);
    unit_release(lease);
    puppets[1].answer = PUPPET_NO; /* who may have the lock by its grant of long ago */
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(puppet_count_held(), 0);
    unit.now_ns++;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

static void servers_that_were_started_together_are_relied_on(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    puppets[0].started_ns = puppets[1].started_ns = puppets[2].started_ns = unit.now_ns;
    puppets[2].answer = PUPPET_FAILS;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    puppets[2].late = true;
    unit_release(lease);
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE);
}

/* ---- Limits */

static void there_may_be_no_member_at_all(void **state)
{
    latch_lease *lease = puppet_lease("r");

    (void) state;
    assert_int_equal(puppet_run(lease, LATCH_ACQUIRE), LATCH_DONE); /* all of none */
    unit_release(lease);
}

static int unit_setup_none(void **state)
{
    (void) state;
    return unit_setup_puppets(0, &latch_unanimity);
}

static void too_many_members_are_refused(void **state)
{
    latch_store *members[LATCH_DESCRIPTORS_MAX + 1];
    latch_store_options options = {.strategy = &latch_consensus,
                                   .members = members,
                                   .member_count = LATCH_DESCRIPTORS_MAX};
    latch_store *store;

    (void) state;
    for (size_t at = 0; at < LATCH_DESCRIPTORS_MAX; at++) {
        members[at] = &puppets[0].store;
    }
    store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    assert_non_null(store);
    members[1] = store;
    assert_null(latch_store_open(unit.engine, "combined", &options, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
    latch_store_close(store);
    options.strategy = NULL;
    assert_null(latch_store_open(unit.engine, "combined", &options, &unit.error));
}

static void it_can_what_its_members_can(void **state)
{
    const latch_store_info *info = latch_store_describe(unit.store);

    (void) state;
    assert_string_equal(info->name, "combined");
    assert_int_equal(info->capabilities, LATCH_EXPIRING | LATCH_SHARED_LOCKS);
    assert_null(info->state_name);
    assert_int_equal(unit_run(puppet_lease("r"), LATCH_INSPECT), LATCH_ERROR_ARGUMENT);
}

static void a_lease_without_parts_is_refused(void **state)
{
    (void) state;
    assert_int_equal(unit_run(unit_lease("r"), LATCH_ACQUIRE), LATCH_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(a_lock_is_held_when_most_members_grant_it, three),
        PUPPET_TEST(all_are_asked_though_most_have_granted_at_once, three),
        PUPPET_TEST(nobody_is_asked_in_vain, three),
        PUPPET_TEST(unanimity_takes_all_of_them, all_of_three),
        PUPPET_TEST(a_member_that_stands_there_twice_is_asked_once_and_counts_twice, three),
        PUPPET_TEST(the_errors_of_members_are_told, three),
        PUPPET_TEST(a_renewal_that_most_refuse_ends_the_hold_everywhere, three),
        PUPPET_TEST(a_lock_that_most_have_lost_is_not_held, three),
        PUPPET_TEST(an_acquire_again_that_fails_gives_up_what_is_left, three),
        PUPPET_TEST(a_release_is_done_though_members_fail, three),
        PUPPET_TEST(a_promotion_that_fails_leaves_the_reader_what_it_had, three),
        PUPPET_TEST(a_promotion_that_cannot_be_undone_is_a_loss, three),
        PUPPET_TEST(members_without_shared_locks_are_locked_exclusively, three),
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
        PUPPET_TEST(the_hold_ends_with_the_first_member_less_the_drift, three),
        PUPPET_TEST(how_long_it_lasts_does_not_depend_on_who_answers_first, three),
        PUPPET_TEST(without_a_ttl_each_member_has_its_own, three),
        PUPPET_TEST(who_was_silent_is_not_asked_for_a_while, three),
        PUPPET_TEST(a_failure_in_no_time_is_no_silence, three),
        PUPPET_TEST(those_who_are_needed_are_asked_though_they_were_silent, three),
        PUPPET_TEST(a_server_that_was_started_lately_is_not_relied_on, three),
        PUPPET_TEST(servers_that_were_started_together_are_relied_on, three),
        PUPPET_TEST(there_may_be_no_member_at_all, none),
        PUPPET_TEST(too_many_members_are_refused, three),
        PUPPET_TEST(it_can_what_its_members_can, three),
        PUPPET_TEST(a_lease_without_parts_is_refused, three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
