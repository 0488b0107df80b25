/*
 * Combined stores: for how long a hold is certain, and how members count that were silent or have
 * been started but lately.
 */
#include "puppet_store.h"

#define MS LATCH_NS_PER_MS
#define TTL PUPPET_TTL_MS

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

static void a_failure_in_no_time_is_no_time_out(void **state)
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
    puppets[0].store.breaker.open_until_ns = puppets[1].store.breaker.open_until_ns = unit.now_ns + 1000 * MS;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUPPET_TEST(the_hold_ends_with_the_first_member_less_the_drift, three),
        PUPPET_TEST(how_long_it_lasts_does_not_depend_on_who_answers_first, three),
        PUPPET_TEST(without_a_ttl_each_member_has_its_own, three),
        PUPPET_TEST(who_was_silent_is_not_asked_for_a_while, three),
        PUPPET_TEST(a_failure_in_no_time_is_no_time_out, three),
        PUPPET_TEST(those_who_are_needed_are_asked_though_they_were_silent, three),
        PUPPET_TEST(a_server_that_was_started_lately_is_not_relied_on, three),
        PUPPET_TEST(servers_that_were_started_together_are_relied_on, three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
