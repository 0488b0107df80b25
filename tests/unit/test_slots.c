/* Counting semaphores as slots: permits that are slots_locks, in memory and in files. */
#include "slots.h"

#include <unistd.h>

static int setup_memory(void **state)
{
    return unit_setup(state) != 0 ? -1 : unit_setup_slots(unit_open("in-memory"));
}

static int setup_flock(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit_make_directory();
    unit.real_clock = true;
    return unit_setup_slots(unit_open("flock"));
}

#define MEMORY_TEST(test) cmocka_unit_test_setup_teardown(test, setup_memory, unit_teardown_slots)
#define FLOCK_TEST(test) cmocka_unit_test_setup_teardown(test, setup_flock, unit_teardown_slots)

static bool is_lock_free(const char *name)
{
    latch_lease *lease = lock_lease(name);
    bool is_free = unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE;

    unit_release(lease);
    unit.lease_count--;
    latch_lease_drop(lease);
    return is_free;
}

static int count_free(int limit)
{
    int count = 0;

    for (int at = 0; at < limit; at++) {
        char name[16];

        snprintf(name, sizeof(name), "s_%d", at);
        count += is_lock_free(name);
    }
    return count;
}

/* The lock file of a slot. */
static const char *slot_path(const char *name)
{
    latch_store *slots = unit.store;
    const char *path;

    unit.store = slots_locks;
    path = unit_lock_path(name);
    unit.store = slots;
    return path;
}

static bool is_file_free(const char *name)
{
    return unit_is_free_at(slot_path(name), LOCK_EX);
}

/* ---- Permits --------------------------------------------------------------------------------- */

static void the_sum_of_weights_reaches_the_limit_and_no_more(void **state)
{
    latch_lease *first = permit_lease("s"), *second = permit_lease("s"), *third = permit_lease("s");

    (void) state;
    assert_int_equal(take(first, 3, 2), LATCH_DONE);
    assert_int_equal(first->mode, LATCH_EXCLUSIVE);
    assert_true(unit_held(first));
    assert_int_equal(take(second, 3, 2), LATCH_CONFLICT);
    assert_false(unit_held(second));
    assert_int_equal(count_free(3), 1); /* what it had taken is given back */
    assert_int_equal(take(second, 3, 1), LATCH_DONE);
    assert_int_equal(take(third, 3, 1), LATCH_CONFLICT);
    assert_int_equal(take(third, 4, 1), LATCH_DONE); /* the limit is each caller's own */
    unit_release(third);
    unit_release(first);
    assert_int_equal(unit_run(first, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(take(third, 3, 2), LATCH_DONE);
    assert_true(unit_held(second));
    assert_int_equal(unit_run(third, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_run(third, LATCH_REFRESH), LATCH_DONE);
    assert_int_equal(count_free(3), 0);
}

static void permits_are_locks_with_the_names_of_symfonys_class(void **state)
{
    static const char odd[] = "a\0b";
    latch_lease *one = permit_lease("s"), *two = permit_lease("s"), *lock = lock_lease("s_1");
    latch_lease *named = unit_lease_on(odd, 3), *its_lock = unit_lease_on("a\0b_0", 5);

    (void) state;
    latch_permit_lease_init(named, unit.store, odd, 3);
    latch_lease_init(its_lock, slots_locks, "a\0b_0", 5);
    assert_int_equal(unit_run(lock, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(take(one, 2, 2), LATCH_CONFLICT);
    assert_int_equal(take(one, 2, 1), LATCH_DONE);
    assert_false(is_lock_free("s_0"));
    assert_int_equal(take(two, 2, 1), LATCH_CONFLICT);
    unit_release(lock);
    assert_int_equal(take(two, 2, 1), LATCH_DONE);
    assert_int_equal(unit_run(lock, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_true(is_lock_free("s"));
    assert_int_equal(take(named, 1, 1), LATCH_DONE);
    assert_int_equal(unit_run(its_lock, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void the_first_slot_that_is_tried_is_a_random_one(void **state)
{
    latch_lease *one = permit_lease("s"), *two = permit_lease("s"), *three = permit_lease("s");

    (void) state;
    slots_begin_at(1003);
    assert_int_equal(take(one, 5, 1), LATCH_DONE);
    assert_false(is_lock_free("s_3"));
    slots_begin_at(3);
    assert_int_equal(take(two, 5, 2), LATCH_DONE);
    assert_false(is_lock_free("s_4"));
    assert_false(is_lock_free("s_0"));
    slots_begin_at(4);
    assert_int_equal(take(three, 5, 2), LATCH_DONE);
    assert_int_equal(count_free(5), 0);
    unit.random_broken = true;
    unit_release(two);
    assert_int_equal(take(two, 5, 1), LATCH_DONE); /* from the middle on */
    assert_false(is_lock_free("s_4"));
    assert_true(is_lock_free("s_0"));
}

static void a_holder_that_asks_again_takes_nothing_more(void **state)
{
    latch_lease *holder = permit_lease("s"), *other = permit_lease("s");

    (void) state;
    assert_int_equal(take(holder, 4, 2), LATCH_DONE);
    assert_int_equal(take(holder, 4, 3), LATCH_DONE); /* the weight stays */
    assert_int_equal(count_free(4), 2);
    assert_int_equal(take(other, 4, 2), LATCH_DONE);
    unit_release(holder); /* once is enough */
    assert_int_equal(count_free(4), 2);
    assert_int_equal(take(holder, 4, 1), LATCH_DONE); /* and a new one counts from then on */
    assert_int_equal(count_free(4), 1);
}

static void without_enough_slots_a_wait_polls_and_holds_nothing_meanwhile(void **state)
{
    latch_lease *holder = permit_lease("s"), *waiter = permit_lease("s");
    int64_t begun_ns, pauses[6];
    latch_status status;
    latch_op op;

    (void) state;
    assert_int_equal(take(holder, 3, 2), LATCH_DONE);
    status = unit_begin(&op, waiter, for_permits(unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 3, 2));
    for (int at = 0; at < 6; at++) {
        assert_int_equal(status, LATCH_WANT_TIMER);
        assert_true(op.waiting);
        assert_int_equal(count_free(3), 1);
        pauses[at] = op.wake_ns - unit.now_ns;
        unit.now_ns = op.wake_ns;
        status = latch_op_step(&op, unit.now_ns);
    }
    assert_in_range(pauses[0], 4500000, 5500000);
    assert_in_range(pauses[1], 9000000, 11000000);
    assert_in_range(pauses[5], 90000000, 110000000);
    unit_release(holder);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_true(unit_held(waiter));
    unit_release(waiter);

    assert_int_equal(take(holder, 3, 2), LATCH_DONE);
    begun_ns = unit.now_ns;
    assert_int_equal(unit_run_request(waiter, for_permits(unit_waiting(LATCH_ACQUIRE, 1000), 3, 2)),
                     LATCH_CONFLICT);
    assert_int_equal(unit.now_ns - begun_ns, 1000 * LATCH_NS_PER_MS);
    assert_int_equal(count_free(3), 1);
}

/* ---- Many slots, memory, inspection ---------------------------------------------------------- */

static void among_many_slots_the_caller_can_look_after_other_things(void **state)
{
    latch_lease *all = permit_lease("s"), *none = permit_lease("s");
    latch_status status;
    size_t steps = 0;
    latch_op op;

    (void) state;
    assert_int_equal(take(all, 1000, 1000), LATCH_DONE);
    status = unit_begin(&op, none, for_permits(unit_request(LATCH_ACQUIRE), 1000, 1));
    for (; latch_wants(status); steps++) {
        assert_int_equal(status, LATCH_WANT_TIMER);
        assert_int_equal(op.wake_ns, unit.now_ns + 1);
        assert_false(op.waiting);
        status = latch_op_step(&op, unit.now_ns);
    }
    assert_int_equal(status, LATCH_CONFLICT);
    assert_in_range(steps, 10, 20);
    status = unit_begin(&op, none, for_permits(unit_waiting(LATCH_ACQUIRE, 10), 1000, 1));
    assert_int_equal(status, LATCH_WANT_TIMER);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    unit_release(all);
    assert_int_equal(take(none, 1000, 1000), LATCH_DONE);
}

static latch_lock_report *inspect(latch_lease *lease, int64_t limit)
{
    latch_request request = for_permits(unit_request(LATCH_INSPECT), limit, 1);
    latch_lock_report *report = NULL;

    request.reports = &report;
    assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
    assert_non_null(report);
    assert_null(report->next);
    return report;
}

static void an_inspection_counts_the_slots_of_the_limit(void **state)
{
    latch_lease *one = permit_lease("s"), *two = permit_lease("s"), *nobody = permit_lease("s");
    latch_request request = unit_request(LATCH_INSPECT);
    latch_lock_report *report = inspect(nobody, 5), *none = NULL;

    (void) state;
    assert_int_equal(report->mode, LATCH_FREE);
    assert_int_equal(report->permits_used, 0);
    assert_null(report->holders);
    latch_lock_reports_free(unit.engine, report);
    slots_begin_at(0);
    assert_int_equal(take(one, 5, 3), LATCH_DONE);
    assert_int_equal(take(two, 5, 1), LATCH_DONE);
    report = inspect(nobody, 5);
    assert_int_equal(report->mode, LATCH_SHARED);
    assert_int_equal(report->permits_used, 4);
    assert_int_equal(report->holder_count, 1); /* this process */
    assert_int_equal(report->holders->number, getpid());
    assert_int_equal(report->holders->permits.weight, 4);
    assert_int_equal(report->holders->permits.limit, 0);
    assert_null(report->holders->next);
    latch_lock_reports_free(unit.engine, report);
    report = inspect(nobody, 2);
    assert_int_equal(report->permits_used, 2);
    latch_lock_reports_free(unit.engine, report);
    assert_true(unit_held(one) && unit_held(two));

    request.reports = &none;
    assert_int_equal(unit_run_request(nobody, request), LATCH_ERROR_ARGUMENT); /* without a limit */
    latch_lock_reports_free(unit.engine, none);
}

static void without_memory_nothing_is_taken_or_left_behind(void **state)
{
    latch_lease *lease = permit_lease("s");
    latch_status status = LATCH_ERROR_MEMORY;

    (void) state; /* unit_teardown() finds what leaked */
    for (size_t at = 1; status == LATCH_ERROR_MEMORY; at++) {
        unit.fail_at = unit.allocations + at;
        status = take(lease, 3, 3);
        unit.fail_at = 0;
        if (status == LATCH_ERROR_MEMORY) {
            assert_false(unit_held(lease));
            assert_int_equal(count_free(3), 3);
        }
        assert_true(at < 100);
    }
    assert_int_equal(status, LATCH_DONE);
}

static void slots_in_several_stores_or_in_none_are_refused(void **state)
{
    latch_store *member = unit_open("in-memory");
    const latch_store_options combined = {.strategy = &latch_consensus,
                                          .members = &member,
                                          .member_count = 1};
    const latch_store_options nothing = {.member_count = 0};
    latch_store *quorum = latch_store_open(unit.engine, "combined", &combined, &unit.error);

    (void) state;
    assert_non_null(quorum);
    assert_null(unit_open_slots(quorum));
    assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
    assert_non_null(strstr(unit.error.message, "combined"));
    assert_null(latch_store_open(unit.engine, "slots", &nothing, &unit.error));
    assert_null(latch_store_open(unit.engine, "slots", NULL, &unit.error));
    latch_store_close(quorum);
    latch_store_close(member);
}

static void what_the_locks_are_the_permits_are(void **state)
{
    (void) state;
    assert_int_equal(latch_store_describe(unit.store)->capabilities, LATCH_PERMITS);
    assert_int_equal(latch_store_describe(unit.store)->scope, LATCH_SCOPE_MACHINE);
    assert_null(latch_store_find("slots")); /* nobody opens it by name alone */
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void hold_until_told(unit_process *self, void *argument)
{
    latch_lease *lease = permit_lease("s");

    (void) argument;
    UNIT_CHECK(take(lease, 3, 2) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self); /* until it is killed */
}

static void processes_share_the_slots_and_the_kernel_frees_those_of_the_dead(void **state)
{
    latch_lease *ours = permit_lease("s");
    unit_process child = unit_fork(hold_until_told, NULL);

    (void) state;
    unit_expect(&child, 'h');
    assert_int_equal(take(ours, 3, 2), LATCH_CONFLICT);
    assert_int_equal(take(ours, 3, 1), LATCH_DONE);
    unit_kill(&child);
    unit_release(ours);
    assert_int_equal(unit_run_request(ours, for_permits(unit_waiting(LATCH_ACQUIRE, 5000), 3, 3)),
                     LATCH_DONE);
}

static void find_what_a_child_has(unit_process *self, void *argument)
{
    latch_lease *parents = argument;

    UNIT_CHECK(!latch_lease_held(parents, unit_now_ns()));
    UNIT_CHECK(unit_run(parents, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(parents, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(take(parents, 3, 2) == LATCH_CONFLICT); /* they are the parent's */
    UNIT_CHECK(take(parents, 3, 1) == LATCH_DONE);
    unit_say(self, 'h');
    unit_expect(self, 'e');
}

static void a_child_has_none_of_its_parents_slots(void **state)
{
    latch_lease *lease = permit_lease("s");
    unit_process child;

    (void) state;
    assert_int_equal(take(lease, 3, 2), LATCH_DONE);
    child = unit_fork(find_what_a_child_has, lease);
    unit_expect(&child, 'h');
    assert_true(unit_held(lease));
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_DONE);
    unit_say(&child, 'e');
    unit_join(&child);
    assert_true(unit_held(lease));
    unit_release(lease);
    assert_true(is_file_free("s_0") && is_file_free("s_1") && is_file_free("s_2"));
}

static void a_foreign_lock_on_a_slots_file_counts(void **state)
{
    latch_lease *lease = permit_lease("s");
    unit_process peer;

    (void) state;
    assert_int_equal(take(lease, 2, 2), LATCH_DONE); /* makes the files */
    unit_release(lease);
    peer = unit_peer(slot_path("s_1"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(take(lease, 2, 2), LATCH_CONFLICT);
    assert_int_equal(take(lease, 2, 1), LATCH_DONE);
    assert_false(is_file_free("s_0"));
    unit_release(lease);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    assert_int_equal(take(lease, 2, 2), LATCH_DONE);
    assert_false(unit_peer_try(&peer, LOCK_EX));
    unit_kill(&peer);
}

static void a_watch_tells_when_a_slots_file_is_removed(void **state)
{
    latch_lease *lease = permit_lease("s");
    latch_watch watch = {0};

    (void) state;
    assert_false(unit.store->class->watch(lease, &watch));
    assert_int_equal(take(lease, 3, 3), LATCH_DONE);
    assert_true(unit.store->class->watch(lease, &watch));
    assert_false(watch.is_gone(&watch));
    assert_int_equal(unlink(slot_path("s_2")), 0);
    assert_true(watch.is_gone(&watch));
    watch.end(unit.engine, watch.state);
    assert_int_equal(unit_run(lease, LATCH_REFRESH), LATCH_CONFLICT);
    assert_true(lease->lost);
    assert_int_equal(take(lease, 3, 3), LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(the_sum_of_weights_reaches_the_limit_and_no_more),
        FLOCK_TEST(the_sum_of_weights_reaches_the_limit_and_no_more),
        MEMORY_TEST(permits_are_locks_with_the_names_of_symfonys_class),
        MEMORY_TEST(the_first_slot_that_is_tried_is_a_random_one),
        MEMORY_TEST(a_holder_that_asks_again_takes_nothing_more),
        MEMORY_TEST(without_enough_slots_a_wait_polls_and_holds_nothing_meanwhile),
        MEMORY_TEST(among_many_slots_the_caller_can_look_after_other_things),
        MEMORY_TEST(an_inspection_counts_the_slots_of_the_limit),
        MEMORY_TEST(without_memory_nothing_is_taken_or_left_behind),
        FLOCK_TEST(without_memory_nothing_is_taken_or_left_behind),
        MEMORY_TEST(slots_in_several_stores_or_in_none_are_refused),
        FLOCK_TEST(what_the_locks_are_the_permits_are),
        FLOCK_TEST(processes_share_the_slots_and_the_kernel_frees_those_of_the_dead),
        FLOCK_TEST(a_child_has_none_of_its_parents_slots),
        FLOCK_TEST(a_foreign_lock_on_a_slots_file_counts),
        FLOCK_TEST(a_watch_tells_when_a_slots_file_is_removed),
    };

    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
