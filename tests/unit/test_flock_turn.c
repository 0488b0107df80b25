/*
 * Processes that go before the waiters for a lock file: for a turn, or by an attempt that does not
 * wait, and never more often than so.
 */
#include "queueing.h"

#define MANY 200
/* flock/turn.c: a turn. flock/queue.c: so many acquires may go without a look, and a try may go
 * before it. */
#define TURN_NS (8 * LATCH_NS_PER_MS)
#define TURN_ACQUIRES 32
/* flock/turn.c: returns at once that a process has to make that has stayed away so long. */
#define SOON_NS (5 * LATCH_NS_PER_MS)
#define RETURNS_AFTER_MISTAKE 14
#define OVERTAKEN_MAX (32 + TURN_ACQUIRES + 2)
/* The clock is put back by it where a turn shall go on, however slow this machine is. */
#define LONG_NS (1000 * LATCH_NS_PER_S)

/* How often this process gets the lock, of MANY times, while a waiter that is stopped waits. */
static int count_overtaking(bool wait)
{
    unit_process waiter;
    int overtaken = 0;

    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    waiter = make_waiter('W', 1);
    stop_waiter(&waiter);
    unit_release(lease);
    for (int round = 0; round < MANY; round++) {
        latch_status status = wait
                                  ? unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER))
                                  : unit_run(lease, LATCH_ACQUIRE);

        if (status == LATCH_DONE) {
            overtaken++;
            unit_release(lease);
        } else if (wait) {
            assert_int_equal(status, LATCH_WANT_IO);
            assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
        } else {
            assert_int_equal(status, LATCH_CONFLICT);
        }
    }
    finish_waiter(&waiter);
    assert_true(queue_is_empty());
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    return overtaken;
}

static void who_comes_back_at_once_gives_way_to_a_waiter(void **state)
{
    (void) state;
    assert_true(count_overtaking(true) <= OVERTAKEN_MAX);
}

static void attempts_without_a_wait_do_not_starve_a_waiter(void **state)
{
    (void) state;
    assert_true(count_overtaking(false) <= OVERTAKEN_MAX);
}

static void a_single_attempt_takes_a_lock_that_is_free(void **state)
{
    unit_process waiter;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    waiter = make_waiter('W', 1);
    stop_waiter(&waiter);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT); /* not again so soon */
    unit.ahead_ns += 2 * LATCH_NS_PER_S;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    finish_waiter(&waiter);
}

/* This process waits and is granted the lock, a waiter that is stopped behind it. */
static unit_process begin_turn(void)
{
    unit_process waiter;

    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    waiter = make_waiter('W', 2);
    stop_waiter(&waiter);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
    return waiter;
}

/* Both end then. */
static void have_a_turn(void (*use_it)(void))
{
    unit_process waiter = begin_turn();

    use_it();
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    assert_false(queue_has_number(0)); /* the waiter would wait for it */
    finish_waiter(&waiter);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

static void let_it_pass(void)
{
    unit.ahead_ns += TURN_NS;
}

static void who_has_waited_gives_way_after_its_turn(void **state)
{
    (void) state;
    for (int round = 0; round < 20; round++) {
        have_a_turn(let_it_pass);
    }
}

static void take_it_so_often(void)
{
    unit.ahead_ns -= LONG_NS;
    for (int taken = 0; taken < TURN_ACQUIRES; taken++) {
        assert_int_equal(taken % 2 == 0 ? unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER)
                                        : unit_run(lease, LATCH_ACQUIRE),
                         LATCH_DONE);
        unit_release(lease);
    }
}

static void a_turn_is_so_many_acquires_in_so_short_a_time(void **state)
{
    (void) state;
    have_a_turn(take_it_so_often);
}

/* However slow this machine is, the store's clock shows that time. */
static void set_clock(int64_t now_ns)
{
    unit.ahead_ns += now_ns - unit_now_ns();
}

static void a_turn_ends_when_another_process_has_the_lock(void **state)
{
    unit_process holder, waiter;
    int64_t released_ns;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit.ahead_ns -= LONG_NS; /* the turn would go on */
    holder = make_waiter('W', 1);
    unit_release(lease);
    released_ns = unit_now_ns();
    unit_expect(&holder, 'y');
    set_clock(released_ns + TURN_NS / 4); /* soon enough for a look at the queue */
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    waiter = make_waiter('W', 1);
    stop_waiter(&waiter);
    unit_say(&holder, 'u');
    unit_join(&holder);
    set_clock(released_ns + TURN_NS / 2);
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    finish_waiter(&waiter);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

static void take_it_with_its_number(void)
{
    unit.ahead_ns -= LONG_NS;
    assert_false(queue_has_number(0));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(
        queue_has_number(0)); /* the waiter sleeps until it is given back, not in flock(2) */
    unit_release(lease);
    assert_false(queue_has_number(0));
    unit.ahead_ns += LONG_NS + TURN_NS;
}

static void in_its_turn_a_process_has_its_number_again(void **state)
{
    (void) state;
    have_a_turn(take_it_with_its_number);
}

/* Number of rounds in which the number outlived a release. */
static int rounds_with_kept_number;

/* Comes back at once until the number outlives a release, in a turn that lasts until end_turn().
 * The machine may be too slow for "at once" now and then, but not each time. */
static bool keep_number(void)
{
    bool is_kept = false;

    unit.ahead_ns -= LONG_NS;
    for (int taken = 0; taken < TURN_ACQUIRES / 2 && !is_kept; taken++) {
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        unit_release(lease);
        is_kept = queue_has_number(0);
    }
    rounds_with_kept_number += is_kept;
    return is_kept;
}

static void end_turn(void)
{
    unit.ahead_ns += LONG_NS + TURN_NS;
}

static void have_turns_with_kept_number(void (*use_it)(void))
{
    rounds_with_kept_number = 0;
    for (int round = 0; round < 50 && rounds_with_kept_number < 3; round++) {
        have_a_turn(use_it);
    }
    assert_int_equal(rounds_with_kept_number, 3);
}

static void come_back_with_kept_number(void)
{
    if (keep_number()) {
        assert_int_equal(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER), LATCH_DONE);
        assert_true(queue_has_number(0));
        unit_release(lease);
    }
    end_turn();
}

static void a_process_that_comes_back_at_once_keeps_its_number(void **state)
{
    (void) state;
    have_turns_with_kept_number(come_back_with_kept_number);
}

static void do_not_come_back(void)
{
    if (keep_number()) {
        UNIT_AWAIT(!queue_has_number(0));
        unit.ahead_ns += SOON_NS;
        for (int taken = 1; taken < RETURNS_AFTER_MISTAKE; taken++) {
            assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
            unit_release(lease);
            assert_false(queue_has_number(0));
        }
    }
    end_turn();
}

static void a_number_that_is_kept_in_vain_is_given_back(void **state)
{
    (void) state;
    have_turns_with_kept_number(do_not_come_back);
}

static void keep_number_to_the_end(void)
{
    keep_number();
    end_turn();
}

/* Each of two processes would wait for the other's number. */
static void a_kept_number_is_given_back_when_the_turn_ends(void **state)
{
    (void) state;
    have_turns_with_kept_number(keep_number_to_the_end);
}

static void come_back_late(void)
{
    if (keep_number()) {
        unit.ahead_ns += SOON_NS;
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        unit_release(lease);
        assert_false(queue_has_number(0));
    }
    end_turn();
}

static void a_process_that_comes_back_late_keeps_no_number(void **state)
{
    (void) state;
    have_turns_with_kept_number(come_back_late);
}

static void hold_beyond_turn(void)
{
    if (keep_number()) {
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        end_turn();
        unit_release(lease);
        assert_false(queue_has_number(0));
    } else {
        end_turn();
    }
}

static void a_number_is_not_kept_beyond_the_turn(void **state)
{
    (void) state;
    have_turns_with_kept_number(hold_beyond_turn);
}

static void a_number_is_kept_for_waiters_only(void **state)
{
    (void) state;
    rounds_with_kept_number = 0;
    for (int round = 0; round < 50 && rounds_with_kept_number < 3; round++) {
        unit_process waiter = begin_turn();
        bool is_kept = keep_number();

        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        assert_true(queue_has_number(0));
        unit_kill(&waiter);
        unit_release(lease);
        assert_true(queue_is_empty() || !is_kept);
        end_turn();
    }
    assert_int_equal(rounds_with_kept_number, 3);
}

static void use_lock_in_child(unit_process *self, void *unused)
{
    latch_status status = unit_run(lease, LATCH_ACQUIRE);

    (void) self;
    (void) unused;
    UNIT_CHECK(status == LATCH_DONE || status == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
    latch_lease_drop(lease);
    latch_store_close(unit.store); /* it has no thread to end */
}

static void fork_with_kept_number(void)
{
    if (keep_number()) {
        unit_process child = unit_fork(use_lock_in_child, NULL);

        unit_join(&child);
        UNIT_AWAIT(!queue_has_number(0));
    }
    end_turn();
}

static void a_forked_child_leaves_its_parents_number_alone(void **state)
{
    (void) state;
    have_turns_with_kept_number(fork_with_kept_number);
}

static void keep_number_without_thread(void)
{
    unit_calls.no_threads = true;
    assert_false(keep_number());
    unit_calls.no_threads = false;
    end_turn();
}

static void without_a_thread_no_number_is_kept(void **state)
{
    (void) state;
    have_a_turn(keep_number_without_thread);
}

/* Each of two processes would wait for the other's number. */
static void a_process_whose_turn_ends_gives_its_number_back(void **state)
{
    unit_process waiter;

    (void) state;
    begin_wait_for_peer(LATCH_ACQUIRE, LATCH_NEVER);
    waiter = make_waiter('W', 2);
    stop_waiter(&waiter);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit.ahead_ns -= LONG_NS;
    unit_release(lease);
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    assert_false(queue_has_number(0));
    assert_true(unit_peer_try(&peer, LOCK_UN));
    finish_waiter(&waiter);
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(who_comes_back_at_once_gives_way_to_a_waiter),
        WAIT_TEST(attempts_without_a_wait_do_not_starve_a_waiter),
        WAIT_TEST(a_single_attempt_takes_a_lock_that_is_free),
        WAIT_TEST(who_has_waited_gives_way_after_its_turn),
        WAIT_TEST(a_turn_is_so_many_acquires_in_so_short_a_time),
        WAIT_TEST(a_turn_ends_when_another_process_has_the_lock),
        WAIT_TEST(in_its_turn_a_process_has_its_number_again),
        WAIT_TEST(a_process_that_comes_back_at_once_keeps_its_number),
        WAIT_TEST(a_number_that_is_kept_in_vain_is_given_back),
        WAIT_TEST(a_kept_number_is_given_back_when_the_turn_ends),
        WAIT_TEST(a_process_that_comes_back_late_keeps_no_number),
        WAIT_TEST(a_number_is_not_kept_beyond_the_turn),
        WAIT_TEST(a_number_is_kept_for_waiters_only),
        WAIT_TEST(a_forked_child_leaves_its_parents_number_alone),
        WAIT_TEST(without_a_thread_no_number_is_kept),
        WAIT_TEST(a_process_whose_turn_ends_gives_its_number_back),
    };

    return cmocka_run_group_tests_name("flock: turns", tests, NULL, NULL);
}
