/*
 * Memory, threads and descriptors that cannot be had when a lease is to be kept, or while it is:
 * it is said, nothing is left behind, and the lock is held for as long as it is certain. And what
 * the thread leaves alone: signals, and the processor.
 */
#include "keeping.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define TTL_MS INT64_C(1500)

/* ---- What cannot be kept ----------------------------------------------------------------------
 */

static latch_status try_to_keep(latch_lease *lease)
{
    const latch_renewal_spec spec = UNIT_KEEP;

    return latch_lease_start_renewal(lease, unit_mailbox, &spec, &unit.error);
}

static void expect_nothing_registered(void)
{
    const latch_renewer *renewer = unit.engine->renewer;

    assert_int_equal(renewer->table.count, 0);
    assert_ptr_equal(renewer->renewals.next, &renewer->renewals);
}

static void a_lease_without_a_thread_is_not_kept(void **state)
{
    latch_lease *lease = redis_lease("r");
    size_t descriptors = unit_count_descriptors();

    (void) state;
    for (int round = 0; round < 3; round++) {
        unit_calls.no_threads = round != 1;
        unit_calls.no_eventfd = round != 0;
        assert_int_equal(try_to_keep(lease), LATCH_ERROR_SYSTEM);
        assert_non_null(strstr(unit.error.message, "cannot start the thread that renews locks: "));
        assert_int_equal(unit.error.sys_errno, unit_calls.no_eventfd ? EMFILE : EAGAIN);
        assert_false(lease->observed);
        expect_nothing_registered();
        assert_int_equal(unit_count_descriptors(), descriptors);
    }
    unit_calls.no_threads = unit_calls.no_eventfd = false;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease);
}

static void a_store_without_a_thread_can_be_closed(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    unit_calls.no_threads = true;
    assert_int_equal(try_to_keep(lease), LATCH_ERROR_SYSTEM);
    unit_calls.no_threads = false;
}

/* The n-th allocation fails, or all from there on; returns whether it was kept. */
static bool keep_with_failing(size_t number, bool and_all_after)
{
    size_t live = unit.live;
    latch_store *store;
    latch_lease lease;
    latch_status status;
    char dsn[UNIT_PATH + 64];
    const latch_store_options options = {
        .dsn = dsn,
        .dsn_length = (size_t) snprintf(dsn, sizeof(dsn), "redis://u:p@%s?prefix=x&dbindex=3",
                                        unit_redis.socket),
    };

    store = latch_store_open(unit.engine, "redis", &options, &unit.error);
    assert_non_null(store);
    latch_lease_init(&lease, store, "r", 1);
    unit.fail_on = and_all_after;
    unit.fail_at = unit.allocations + number;
    status = try_to_keep(&lease);
    unit.fail_at = 0;
    if (status == LATCH_DONE) {
        assert_true(lease.observed);
    } else {
        assert_int_equal(status, LATCH_ERROR_MEMORY);
        assert_string_equal(unit.error.message, "out of memory");
        assert_false(lease.observed);
        expect_nothing_registered();
        assert_int_equal(try_to_keep(&lease), LATCH_DONE);
    }
    latch_lease_drop(&lease);
    latch_store_close(store);
    unit_turn(); /* closes the clone */
    assert_ptr_equal(unit.engine->renewer->clones.next, &unit.engine->renewer->clones);
    assert_true(unit.live <= live + 1); /* the table's buckets, the first time */
    return status == LATCH_DONE;
}

static void a_lease_without_memory_is_not_kept(void **state)
{
    size_t number = 1;

    (void) state;
    unit_stand_in_for_the_thread();
    while (!keep_with_failing(number, false) || !keep_with_failing(number, true)) {
        number++;
    }
    assert_in_range(number, 8, 40); /* a good part of them was met */
}

static void a_mailbox_without_memory_is_not_opened(void **state)
{
    size_t number = 1;
    latch_mailbox *mailbox = NULL;

    (void) state;
    for (; mailbox == NULL; number++) {
        latch_engine *engine = latch_engine_create(&unit.env, &unit.error);
        size_t live = unit.live;

        unit.fail_at = unit.allocations + number;
        mailbox = latch_mailbox_open(engine, NULL, NULL);
        unit.fail_at = 0;
        if (mailbox == NULL) {
            assert_true(unit.live <= live + 1); /* the renewer is the engine's */
        } else {
            latch_mailbox_close(mailbox);
        }
        latch_engine_destroy(engine);
    }
    assert_int_equal(number, 4);
}

/* ---- Signals, and the processor */

static _Atomic pid_t handled_by;

static void record_thread(int number)
{
    (void) number;
    handled_by = gettid();
}

static void no_signal_is_handled_in_the_thread(void **state)
{
    struct sigaction before, action = {.sa_handler = record_thread};
    sigset_t blocked, pending, mask_before;
    latch_lease *lease = redis_lease("r");

    (void) state;
    unit_keep(lease);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, &mask_before), 0);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease); /* the thread has run since */
    assert_int_equal(sigpending(&pending), 0);
    assert_true(sigismember(&pending, SIGUSR1)); /* nobody has taken it */
    assert_int_equal(handled_by, 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &mask_before, NULL), 0);
    UNIT_AWAIT(handled_by != 0);
    assert_int_equal(handled_by, getpid());
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static bool is_woken(void)
{
    struct pollfd polled = {.fd = unit.engine->renewer->wake.fd, .events = POLLIN};

    return poll(&polled, 1, 0) > 0;
}

static void while_nothing_is_due_it_sleeps(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    unit_keep(lease);
    for (int round = 0; round < 3; round++) { /* it is woken, and has nothing to do then */
        assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
        UNIT_AWAIT(!is_woken());
    }
}

/* ---- What is kept, without memory -------------------------------------------------------------
 */

/* Takes turns until it is renewed; returns false when it is lost before. */
static bool turn_until_renewed(latch_lease *lease)
{
    int64_t deadline_ns = lease->deadline_ns;

    while (unit_held(lease)) {
        unit_turn();
        latch_lease_sync_deadline(lease, unit_now_ns());
        if (lease->deadline_ns > deadline_ns) {
            return true;
        }
        unit_pass_ms(1);
    }
    return false;
}

static void any_allocation_of_a_renewal_may_fail(void **state)
{
    bool is_renewed;
    size_t before, lost = 0;

    (void) state;
    unit_stand_in_for_the_thread();
    for (size_t number = 1; number < 30; number++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d/%d", unit_redis.port, 1);
        latch_lease *lease = redis_lease_in(store, "r");

        unit_keep(lease);
        assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 900), LATCH_DONE);
        before = unit.allocations;
        unit.fail_at = before + number;
        is_renewed = turn_until_renewed(lease);
        unit.fail_at = 0;
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
        redis_store_forget();
        unit_turn();
        if (!is_renewed) {
            assert_true(++lost < 5); /* the machine may stand still for so long */
            number--;
            continue;
        }
        if (unit.allocations - before < number) {
            assert_true(number > 5);
            return;
        }
    }
}

/* The thread has no memory from its first breath on, and then has some. */
static void a_thread_without_memory_works_when_there_is_some(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("o");
    latch_loss loss;
    size_t own = 0;

    (void) state;
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_stand_in_for_the_thread();
    for (int round = 0; round < 2; round++) { /* the first one makes the clone, too */
        own = unit.allocations;
        unit_keep(lease);
        own = unit.allocations - own;
        latch_lease_stop_renewal(lease);
    }
    unit_dismiss_the_stand_in();
    unit.fail_on = true;
    unit.fail_at = unit.allocations + own + 1;
    unit_keep(lease);
    loss = unit_await_loss();
    assert_ptr_equal(loss.lease, lease);
    assert_non_null(strstr(loss.reason, "out of memory"));
    unit.fail_at = 0;
    unit_keep(other);
    assert_int_equal(redis_run_for(other, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_RENEWAL_TEST(a_lease_without_a_thread_is_not_kept),
        UNIT_RENEWAL_TEST(a_store_without_a_thread_can_be_closed),
        UNIT_RENEWAL_TEST(a_lease_without_memory_is_not_kept),
        UNIT_RENEWAL_TEST(a_mailbox_without_memory_is_not_opened),
        UNIT_RENEWAL_TEST(no_signal_is_handled_in_the_thread),
        UNIT_RENEWAL_TEST(while_nothing_is_due_it_sleeps),
        UNIT_RENEWAL_TEST(any_allocation_of_a_renewal_may_fail),
        UNIT_RENEWAL_TEST(a_thread_without_memory_works_when_there_is_some),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
