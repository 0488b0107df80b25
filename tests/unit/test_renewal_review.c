/*
 * Kept leases in Redis, where what their users do and what the thread does meet: of no lease more
 * is believed than is certain, nor less.
 */
#include "keeping.h"

#include <stdatomic.h>

#define TTL_MS INT64_C(600)

static latch_mailbox *mailbox;
static _Atomic bool is_told;

static void note(void *context)
{
    (void) context;
    is_told = true;
}

static int setup(void **state)
{
    is_told = false;
    if (redis_store_setup(state) != 0) {
        return -1;
    }
    mailbox = latch_mailbox_open(unit.engine, note, NULL);
    return mailbox != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    for (size_t at = 0; at < unit.lease_count; at++) {
        latch_lease_let_go(&unit.leases[at]);
    }
    latch_mailbox_close(mailbox);
    return redis_store_teardown(state);
}

static void keep(latch_lease *lease, int64_t ttl_ms)
{
    const latch_keep how = {.renew = true, .ttl_ms = ttl_ms};

    UNIT_CHECK(latch_lease_keep(lease, mailbox, &how, &unit.error) == LATCH_DONE);
}

/* Less than it was acquired for, but not less than it was said to be kept for. */
static void a_refresh_makes_it_shorter_whatever_it_was_kept_for(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, MINUTE), LATCH_DONE);
    keep(lease, MINUTE / 6);
    assert_int_equal(redis_run_for(lease, LATCH_REFRESH, MINUTE / 3), LATCH_DONE);
    assert_true(unit_held(lease));
    assert_true(lease->deadline_ns <= unit_now_ns() + MINUTE / 3 * LATCH_NS_PER_MS);
}

static void one_that_is_lost_stays_so_when_it_is_kept_no_longer(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    keep(lease, TTL_MS);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_redis_ask("DEL r");
    UNIT_AWAIT(is_told);
    latch_lease_let_go(lease);
    assert_false(unit_held(lease));
}

static void what_was_renewed_stays_so_when_it_is_kept_no_longer(void **state)
{
    latch_lease *lease = redis_lease("r");
    int64_t acquired_for_ns;

    (void) state;
    keep(lease, TTL_MS);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    acquired_for_ns = lease->deadline_ns;
    unit_pass_ms(TTL_MS);
    latch_lease_let_go(lease);
    assert_true(lease->deadline_ns > acquired_for_ns);
}

static void try_to_renew(unit_process *self, void *lease)
{
    latch_status status = redis_run_for(lease, LATCH_ACQUIRE, TTL_MS);

    unit_say(self, status == LATCH_DONE && unit_held(lease) ? 'y' : 'n');
}

/* It would be another holder once it had expired. */
static void a_child_knows_what_was_renewed_before_it_was_forked(void **state)
{
    latch_lease *lease = redis_lease("r");
    unit_process child;

    (void) state;
    lease->inherit = true;
    keep(lease, TTL_MS);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_pass_ms(TTL_MS);
    child = unit_fork(try_to_renew, lease);
    unit_expect(&child, 'y');
    unit_join(&child);
}

/* Its connection takes longer to be made than the lease lasts. */
static void why_one_was_lost_whose_first_renewal_has_not_ended_is_told(void **state)
{
    latch_lease *lease = redis_lease_in(redis_open("redis://127.0.0.1:%d/1", unit_redis.port), "r");
    latch_loss loss;

    (void) state;
    keep(lease, TTL_MS);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    redis_hold_server();
    UNIT_AWAIT(is_told);
    assert_true(latch_mailbox_read(mailbox, &loss));
    assert_non_null(strstr(loss.reason, "could not be renewed in time"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_refresh_makes_it_shorter_whatever_it_was_kept_for),
        TEST(one_that_is_lost_stays_so_when_it_is_kept_no_longer),
        TEST(what_was_renewed_stays_so_when_it_is_kept_no_longer),
        TEST(why_one_was_lost_whose_first_renewal_has_not_ended_is_told),
        TEST(a_child_knows_what_was_renewed_before_it_was_forked),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
