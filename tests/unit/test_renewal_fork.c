/*
 * Forks of a process that keeps leases: the parent's thread goes on, the child has none until it
 * keeps a lease of its own, and neither disturbs the other.
 */
#include "keeping.h"

#include <stdlib.h>
#include <unistd.h>

#define TTL_MS INT64_C(1500)
#define FORKS (UNIT_SANITIZED ? 60 : 200)
#define MOMENT_MS ((int64_t) (UNIT_TSAN ? 300 : 90))

static latch_lease *lease;

static latch_lease *keep_held(const char *resource, int64_t ttl_ms)
{
    latch_lease *one = redis_lease(resource);

    unit_keep(one);
    UNIT_CHECK(redis_run_for(one, LATCH_ACQUIRE, ttl_ms) == LATCH_DONE);
    return one;
}

static void look_around_in_child(unit_process *self, void *argument)
{
    latch_loss loss;

    (void) self;
    (void) argument;
    UNIT_CHECK(unit_count_threads() <= unit.threads); /* TSan's may be there */
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(!lease->observed);
    unit_pass_ms(TTL_MS);
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(!latch_mailbox_read(unit_mailbox, &loss));
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* it is the parent's */
    UNIT_CHECK(!lease->observed);
    latch_lease_stop_renewal(lease);
}

static void a_child_keeps_nothing(void **state)
{
    unit_process child;

    (void) state;
    lease = keep_held("r", TTL_MS);
    child = unit_fork(look_around_in_child, NULL);
    unit_join(&child);
    assert_true(unit_held(lease));
    unit_await_renewal(lease);
    unit_expect_no_loss();
    unit_release(lease);
}

static size_t count(const latch_link *head)
{
    size_t number = 0;

    for (const latch_link *link = head->next; link != head; link = link->next) {
        number++;
    }
    return number;
}

/* The thread has this lease to look after, and a clone of its own process. */
static void expect_alone(const latch_lease *own)
{
    latch_renewer *renewer = unit.engine->renewer;

    pthread_mutex_lock(&renewer->mutex);
    UNIT_CHECK(count(&renewer->renewals) == 1);
    UNIT_CHECK(count(&renewer->clones) == 1);
    UNIT_CHECK(own->store->renewal_store->generation == latch_engine_generation(unit.engine));
    UNIT_CHECK(own->store->renewal_store->users == 2);
    pthread_mutex_unlock(&renewer->mutex);
}

static void keep_in_child(unit_process *self, void *argument)
{
    latch_lease *own;
    size_t started = unit_calls.started;

    (void) self;
    (void) argument;
    own = keep_held("child", TTL_MS);
    UNIT_CHECK(unit_calls.started == started + 1);
    expect_alone(own);
    unit_await_renewal(own);
    unit_await_renewal(own);
    unit_redis.connection = unit_redis_connect(); /* the other one is the parent's */
    unit_redis_ask("DEL child");
    UNIT_CHECK(unit_await_loss().lease == own);
    UNIT_CHECK(!unit_held(own));
    /* What was kept before can be kept again, as another holder's. */
    unit_keep(lease);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_say(self, 'y');
    unit_expect(self, 'g');
    UNIT_CHECK(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS) == LATCH_DONE);
    unit_await_renewal(lease);
    unit_release(lease);
    for (size_t at = 0; at < unit.lease_count; at++) {
        latch_lease_drop(&unit.leases[at]);
    }
    latch_mailbox_close(unit_mailbox);
    latch_store_close(redis_other_lease("x")->store);
    latch_store_close(unit.store);
    unit_await_threads(1);
    latch_engine_destroy(unit.engine);
    unit_await_threads(0);
    UNIT_CHECK(unit.live == 0);
}

static void a_child_can_keep_leases_of_its_own(void **state)
{
    unit_process child;

    (void) state;
    if (UNIT_TSAN) {
        skip(); /* it takes a child's thread for the parent's, whose address it has */
    }
    lease = keep_held("r", TTL_MS);
    child = unit_fork(keep_in_child, NULL);
    unit_expect(&child, 'y');
    assert_true(unit_held(lease));
    unit_await_renewal(lease);
    unit_release(lease);
    unit_say(&child, 'g');
    unit_join(&child);
    unit_expect_no_loss();
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease);
}

/* Every other child ends while a renewal of its own is on its way. */
static void keep_for_a_moment(unit_process *self, void *round)
{
    latch_lease *own;
    char name[16];

    (void) self;
    UNIT_CHECK(!unit_held(lease) && !lease->observed);
    latch_lease_drop(lease);
    if (!UNIT_TSAN) {
        snprintf(name, sizeof(name), "child%d", *(int *) round);
        own = keep_held(name, MOMENT_MS);
        if (*(int *) round % 2 == 0) {
            UNIT_AWAIT(unit_is_renewing() || !unit_held(own));
        }
        latch_lease_drop(own);
    }
    latch_mailbox_close(unit_mailbox);
    latch_store_close(unit.store);
    latch_engine_destroy(unit.engine);
}

/* Waits until the lease is renewed, or lost. */
static bool is_renewed(void)
{
    int64_t deadline_ns = lease->deadline_ns;

    while (unit_held(lease)) {
        if (lease->deadline_ns > deadline_ns) {
            return true;
        }
        unit_pass_ms(1);
    }
    return false;
}

static void forks_in_the_middle_of_renewals_do_no_harm(void **state)
{
    int lost = 0;

    (void) state;
    lease = keep_held("r", MOMENT_MS);
    for (int round = 0; round < FORKS; round++) {
        unit_process child;

        UNIT_AWAIT(unit_is_renewing() || !unit_held(lease));
        child = unit_fork(keep_for_a_moment, &round);
        unit_join(&child);
        while (!is_renewed()) { /* the machine was busy for so long */
            lost++;
            assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, MOMENT_MS), LATCH_DONE);
        }
    }
    print_message("lost %d times\n", lost);
    assert_true(lost < FORKS / 4);
    assert_int_equal(unit_calls.started, 1);
    unit_release(lease);
    redis_expect_nothing_left(); /* what the children held has expired */
}

static void expect_nobody_allocates(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(unit.allocating == 0);
}

/* In the child whoever waits for the allocator would wait for ever. */
static void a_fork_waits_until_the_thread_has_done_its_turn(void **state)
{
    (void) state;
    lease = keep_held("r", TTL_MS);
    unit.allocates_slowly = true;
    for (int round = 0; round < FORKS / 10; round++) {
        unit_process child;

        redis_run_for(lease, LATCH_ACQUIRE, MOMENT_MS);
        UNIT_AWAIT(unit.allocating > 0 || !unit_held(lease));
        child = unit_fork(expect_nobody_allocates, NULL);
        unit_join(&child);
    }
    unit.allocates_slowly = false;
    unit_release(lease);
}

static void end_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    for (size_t at = 0; at < unit.lease_count; at++) {
        latch_lease_drop(&unit.leases[at]);
    }
    latch_mailbox_close(unit_mailbox);
    latch_store_close(redis_other_lease("x")->store);
    latch_store_close(unit.store);
    latch_engine_destroy(unit.engine);
    UNIT_CHECK(unit.live == 0);
}

static void a_child_may_end_what_was_in_flight(void **state)
{
    unit_process child;

    (void) state;
    lease = keep_held("r", TTL_MS);
    keep_held("s", MINUTE);
    latch_lease_stop_renewal(keep_held("t", TTL_MS));
    redis_hold_server();
    UNIT_AWAIT(unit_is_renewing());
    child = unit_fork(end_in_child, NULL);
    unit_join(&child);
    redis_let_server_go();
    unit_await_renewal(lease);
}

static void lose_in_parent(unit_process *self, void *argument)
{
    latch_loss loss;

    (void) argument;
    UNIT_CHECK(!latch_mailbox_read(unit_mailbox, &loss));
    unit_say(self, 'y');
    unit_expect(self, 'g');
    UNIT_CHECK(!latch_mailbox_read(unit_mailbox, &loss));
}

static void a_loss_is_the_parents_alone(void **state)
{
    unit_process child;

    (void) state;
    lease = keep_held("r", TTL_MS);
    unit_redis_ask("DEL r");
    UNIT_AWAIT(!unit_held(lease));
    child = unit_fork(lose_in_parent, NULL);
    unit_expect(&child, 'y');
    assert_ptr_equal(unit_await_loss().lease, lease);
    unit_say(&child, 'g');
    unit_join(&child);
}

static void acquire_in_child(unit_process *self, void *argument)
{
    latch_status status = redis_run_for(lease, LATCH_ACQUIRE, TTL_MS);

    (void) argument;
    unit_say(self, status == LATCH_DONE && unit_held(lease) ? 'y' : 'n');
}

/* It would be another holder once it had expired. */
static void a_child_knows_what_was_renewed_before_it_was_forked(void **state)
{
    unit_process child;
    int64_t acquired_for_ns;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    acquired_for_ns = lease->deadline_ns;
    while (unit_now_ns() < acquired_for_ns) {
        unit_pass_ms(1);
    }
    child = unit_fork(acquire_in_child, NULL);
    unit_expect(&child, 'y');
    unit_join(&child);
}

static void release_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

static void what_a_child_has_released_is_not_lost(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    child = unit_fork(release_in_child, NULL);
    unit_join(&child);
    redis_await_free("r");
    unit_pass_ms(2 * TTL_MS / 3); /* a renewal has found that */
    assert_false(unit_held(lease));
    unit_expect_no_loss();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_RENEWAL_TEST(a_child_keeps_nothing),
        UNIT_RENEWAL_TEST(a_child_can_keep_leases_of_its_own),
        UNIT_RENEWAL_TEST(forks_in_the_middle_of_renewals_do_no_harm),
        UNIT_RENEWAL_TEST(a_fork_waits_until_the_thread_has_done_its_turn),
        UNIT_RENEWAL_TEST(a_child_may_end_what_was_in_flight),
        UNIT_RENEWAL_TEST(a_loss_is_the_parents_alone),
        UNIT_RENEWAL_TEST(a_child_knows_what_was_renewed_before_it_was_forked),
        UNIT_RENEWAL_TEST(what_a_child_has_released_is_not_lost),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
