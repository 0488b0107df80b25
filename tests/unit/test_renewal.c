/* Leases in Redis that are kept: for how long they are held, and what is said when they are lost.
 */
#include "keeping.h"

#include <stdlib.h>

/* Much longer than the time in which a quiet machine renews, short enough for tests. */
#define TTL_MS INT64_C(1500)
#define MANY 1000

/* In the server it is held for at least as long as is certain here. */
static void expect_certain(latch_lease *lease)
{
    static const char left[] = "local time = redis.call('TIME')\n"
                               "local score = redis.call('ZSCORE', KEYS[1], ARGV[1])\n"
                               "return score and score * 1000 - time[1] * 1000000 - time[2]";
    int64_t deadline_ns, left_us;

    latch_lease_sync_deadline(lease, unit_now_ns());
    deadline_ns = lease->deadline_ns;
    left_us = unit_redis_number("EVAL %s 1 %s %s", left, lease->resource, lease->token);
    assert_true(deadline_ns <= unit_now_ns() + left_us * 1000);
}

static void a_kept_lease_outlives_its_ttl(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");
    int64_t end_ns;

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    end_ns = unit_now_ns() + 2 * TTL_MS * LATCH_NS_PER_MS;
    while (unit_now_ns() < end_ns) {
        assert_true(unit_held(lease));
        expect_certain(lease);
        assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
        unit_pass_ms(20);
    }
    unit_expect_no_loss();
    unit_release(lease);
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
}

static void one_that_is_held_already_can_be_kept(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_keep(lease);
    unit_pass_ms(3 * TTL_MS / 2);
    assert_true(unit_held(lease));
    unit_release(lease);
}

static void one_that_was_handed_over_is_renewed_once_it_is_known_to_be_held(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");

    (void) state;
    assert_int_equal(redis_run_for(other, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    assert_int_equal(latch_lease_set_token(lease, other->token, strlen(other->token),
                                             &unit.error),
                     LATCH_DONE);
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_PROBE, 0), LATCH_DONE); /* which names no TTL */
    assert_true(unit_held(lease));
    unit_await_renewal(lease);
    assert_true(unit_redis_number("PTTL r") > MINUTE - 5000); /* as it was to be kept */
    unit_expect_no_loss();
    unit_release(lease);
}

static void one_that_somebody_took_away_is_told(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_loss loss;

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_redis_ask("DEL r");
    loss = unit_await_loss();
    assert_ptr_equal(loss.lease, lease);
    assert_false(unit_held(lease));
    unit_expect_no_loss();
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    assert_true(unit_held(lease));
    unit_release(lease);
}

static void one_whose_server_is_silent_is_lost_in_time(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_loss loss;

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    redis_hold_server();
    loss = unit_await_loss();
    assert_ptr_equal(loss.lease, lease);
    assert_non_null(strstr(loss.reason, "did not answer within"));
    assert_false(unit_held(lease));
    redis_let_server_go();
    assert_false(unit_held(lease));
}

static void of_one_that_was_granted_after_its_end_no_loss_is_told(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_status status;
    latch_op op;

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    redis_hold_server();
    status = unit_begin(&op, lease, redis_request_for(LATCH_ACQUIRE, 50));
    unit_pass_ms(100);
    redis_let_server_go();
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_false(unit_held(lease));
    unit_expect_no_loss();
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease);
    unit_release(lease);
}

/* ---- What its user does meanwhile -------------------------------------------------------------
 */

static void no_refresh_makes_more_certain_than_there_is(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 5000), LATCH_DONE);
    for (int round = 0; round < 300; round++) {
        int64_t ttl_ms = 3000 + random() % 10 * 500;

        assert_int_equal(redis_run_for(lease, LATCH_REFRESH, ttl_ms), LATCH_DONE);
        expect_certain(lease);
        unit_pass_ms(random() % 10);
        expect_certain(lease);
    }
    unit_expect_no_loss();
    unit_release(lease);
}

static void it_is_kept_through_promotion_and_demotion(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");

    (void) state;
    unit_keep(lease);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE_SHARED, TTL_MS), LATCH_DONE);
        unit_await_renewal(lease);
        assert_true(unit_held(lease) && lease->mode == LATCH_SHARED);
        expect_certain(lease);
        assert_int_equal(redis_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
        assert_int_equal(redis_run(other, LATCH_RELEASE), LATCH_DONE);
        assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
        unit_await_renewal(lease);
        assert_true(unit_held(lease) && lease->mode == LATCH_EXCLUSIVE);
        expect_certain(lease);
        assert_int_equal(redis_run(other, LATCH_ACQUIRE_SHARED), LATCH_CONFLICT);
    }
    unit_expect_no_loss();
    unit_release(lease);
}

static void a_reader_is_kept_that_waits_in_vain_to_be_a_writer(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE_SHARED, TTL_MS), LATCH_DONE);
    assert_int_equal(unit_run_request(lease, redis_waiting(LATCH_ACQUIRE, TTL_MS, 2 * TTL_MS)),
                     LATCH_CONFLICT);
    assert_true(unit_held(lease) && lease->mode == LATCH_SHARED);
    assert_int_equal(redis_run(lease, LATCH_PROBE), LATCH_DONE);
    unit_await_renewal(lease);
    assert_true(unit_held(lease));
    expect_certain(lease);
    unit_expect_no_loss();
    unit_release(lease);
    unit_release(other);
}

static void a_reader_is_kept_until_it_is_a_writer(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");
    latch_op op;
    int64_t end_ns;

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE_SHARED, TTL_MS), LATCH_DONE);
    redis_begin_wait(&op, lease, redis_waiting(LATCH_ACQUIRE, TTL_MS, LATCH_NEVER));
    end_ns = unit_now_ns() + 2 * TTL_MS * LATCH_NS_PER_MS;
    while (unit_now_ns() < end_ns) {
        assert_true(latch_wants(latch_op_step(&op, unit_now_ns())));
        assert_true(unit_held(lease) && lease->mode == LATCH_SHARED);
        expect_certain(lease);
        unit_pass_ms(10);
    }
    unit_release(other);
    assert_int_equal(redis_finish_outer(&op), LATCH_DONE);
    assert_true(unit_held(lease) && lease->mode == LATCH_EXCLUSIVE);
    unit_await_renewal(lease);
    assert_true(unit_held(lease));
    expect_certain(lease);
    unit_expect_no_loss();
    unit_release(lease);
}

static void a_cancelled_wait_is_kept_no_longer(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");
    latch_op op;

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    redis_begin_wait(&op, lease, redis_waiting(LATCH_ACQUIRE, TTL_MS, LATCH_NEVER));
    unit_pass_ms(TTL_MS);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    redis_begin_wait(&op, lease, redis_waiting(LATCH_ACQUIRE, TTL_MS, LATCH_NEVER));
    unit_release(other);
    unit_await_grant(&op);
    unit_cancel(&op);
    assert_false(unit_held(lease));
    redis_await_free("r");
    unit_expect_no_loss();
}

/* ---- What a renewal is at the server ----------------------------------------------------------
 */

static void no_renewal_makes_a_hold_shorter(void **state)
{
    const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};
    latch_request renewal = redis_request_for(LATCH_REFRESH, 1000);

    (void) state;
    renewal.extend = true;
    for (size_t at = 0; at < 2; at++) {
        latch_lease *lease = redis_lease("r");
        int64_t sent_ns;

        assert_int_equal(redis_run(lease, kinds[at]), LATCH_DONE);
        unit_redis_snapshot();
        sent_ns = unit_now_ns();
        assert_int_equal(unit_run_request(lease, renewal), LATCH_DONE);
        assert_true(unit_redis_is_unchanged());
        assert_true(lease->deadline_ns >= sent_ns + 1000 * LATCH_NS_PER_MS);
        assert_int_equal(redis_run_for(lease, LATCH_REFRESH, 1000), LATCH_DONE);
        assert_true(unit_redis_number("PTTL r") <= 1001);
        renewal.ttl_ms = MINUTE;
        assert_int_equal(unit_run_request(lease, renewal), LATCH_DONE);
        assert_true(unit_redis_number("PTTL r") > MINUTE - 1000);
        assert_true(atoll(unit_redis_text("ZSCORE r %s", lease->token)) * 1000
                    > unit_redis_now_us() + 59000000);
        renewal.ttl_ms = 1000;
        unit_release(lease);
    }
}

static void a_writer_is_a_writer_for_as_long_as_it_is_renewed(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_request renewal = redis_request(LATCH_REFRESH);

    (void) state;
    renewal.extend = true;
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 1000), LATCH_DONE);
    assert_int_equal(unit_run_request(lease, renewal), LATCH_DONE);
    assert_string_equal(unit_redis_text("EVAL %s 1 r %s",
                                        "return redis.call('ZSCORE', KEYS[1], '__write__') =="
                                        " redis.call('ZSCORE', KEYS[1], ARGV[1]) and 'same' or ''",
                                        lease->token),
                        "same");
}

static void renewals_leave_readers_of_another_ttl_alone(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE_SHARED, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease);
    unit_await_renewal(lease);
    assert_true(unit_redis_number("PTTL r") > MINUTE - 20000);
    assert_int_equal(redis_run(other, LATCH_PROBE), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(redis_run(other, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_redis_number("PTTL r") > MINUTE - 20000);
    unit_release(other);
}

static void the_longest_hold_costs_few_requests(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_loss loss;

    (void) state;
    unit_keep_as(lease, (latch_renewal_spec){.renew = true, .ttl_ms = MINUTE, .max_hold_ms = 2 * TTL_MS});
    redis_forget_calls();
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    loss = unit_await_loss();
    assert_string_equal(loss.reason, "its time is over");
    assert_false(unit_held(lease));
    assert_in_range(redis_count_calls("evalsha") + redis_count_calls("eval"), 3, 14);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease);
    unit_release(lease);
}

/* ---- Many -------------------------------------------------------------------------------------
 */

static long long read_count(void)
{
    const char *found = strstr(unit_redis_text("INFO stats"), "total_reads_processed:");

    UNIT_CHECK(found != NULL);
    return atoll(found + strlen("total_reads_processed:"));
}

static long long connection_count(void)
{
    const char *found = strstr(unit_redis_text("INFO clients"), "connected_clients:");

    UNIT_CHECK(found != NULL);
    return atoll(found + strlen("connected_clients:"));
}

static long long script_count(void)
{
    return redis_count_calls("evalsha") + redis_count_calls("eval");
}

static void a_thousand_cost_one_thread_and_one_connection(void **state)
{
    static latch_lease leases[MANY];
    static char names[MANY][16];
    long long connections, reads, scripts;

    (void) state;
    for (int at = 0; at < MANY; at++) {
        snprintf(names[at], sizeof(names[at]), "r%d", at);
        latch_lease_init(&leases[at], unit.store, names[at], strlen(names[at]));
        assert_int_equal(redis_run_for(&leases[at], LATCH_ACQUIRE, 6000), LATCH_DONE);
    }
    connections = connection_count();
    for (int at = 0; at < MANY; at++) {
        unit_keep_as(&leases[at], (latch_renewal_spec){.renew = true, .ttl_ms = 6000});
    }
    unit_await_threads(1);
    scripts = script_count();
    reads = read_count();
    /* The first time each is sent twice, as the server does not know the script. */
    while (script_count() < scripts + 4 * MANY) {
        unit_pass_ms(100);
        reads += 2; /* the question, and the one below */
        assert_true(read_count() < reads + 4 * MANY / 10);
    }
    assert_true(read_count() < reads + 4 * MANY / 20);
    assert_int_equal(connection_count(), connections + 1);
    unit_await_threads(1);
    unit_expect_no_loss();
    for (int at = 0; at < MANY; at++) {
        assert_true(unit_held(&leases[at]));
        assert_int_equal(redis_run(&leases[at], LATCH_RELEASE), LATCH_DONE);
        latch_lease_drop(&leases[at]);
    }
    redis_expect_nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_RENEWAL_TEST(a_kept_lease_outlives_its_ttl),
        UNIT_RENEWAL_TEST(one_that_is_held_already_can_be_kept),
        UNIT_RENEWAL_TEST(one_that_was_handed_over_is_renewed_once_it_is_known_to_be_held),
        UNIT_RENEWAL_TEST(one_that_somebody_took_away_is_told),
        UNIT_RENEWAL_TEST(one_whose_server_is_silent_is_lost_in_time),
        UNIT_RENEWAL_TEST(of_one_that_was_granted_after_its_end_no_loss_is_told),
        UNIT_RENEWAL_TEST(no_refresh_makes_more_certain_than_there_is),
        UNIT_RENEWAL_TEST(it_is_kept_through_promotion_and_demotion),
        UNIT_RENEWAL_TEST(a_reader_is_kept_that_waits_in_vain_to_be_a_writer),
        UNIT_RENEWAL_TEST(a_reader_is_kept_until_it_is_a_writer),
        UNIT_RENEWAL_TEST(a_cancelled_wait_is_kept_no_longer),
        UNIT_RENEWAL_TEST(no_renewal_makes_a_hold_shorter),
        UNIT_RENEWAL_TEST(a_writer_is_a_writer_for_as_long_as_it_is_renewed),
        UNIT_RENEWAL_TEST(renewals_leave_readers_of_another_ttl_alone),
        UNIT_RENEWAL_TEST(the_longest_hold_costs_few_requests),
        UNIT_RENEWAL_TEST(a_thousand_cost_one_thread_and_one_connection),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
