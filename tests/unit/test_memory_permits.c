/* Counting semaphores in memory, and what the engine demands of a request on permits. */
#include "unit.h"

/* A permit lease in unit.store. */
static latch_lease *permit_lease(const char *name)
{
    latch_lease *lease = unit_lease(name);

    latch_permit_lease_init(lease, unit.store, lease->resource, lease->resource_length);
    return lease;
}

static latch_status take(latch_lease *lease, int64_t limit, int64_t weight)
{
    latch_request request = unit_request(LATCH_ACQUIRE);

    request.permits = (latch_permits){.limit = limit, .weight = weight};
    return unit_run_request(lease, request);
}

static latch_lock_report *inspect(latch_lease *lease)
{
    latch_request request = unit_request(LATCH_INSPECT);
    latch_lock_report *report = NULL;

    request.reports = &report;
    assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
    assert_non_null(report);
    assert_null(report->next);
    return report;
}

static void the_sum_of_weights_reaches_the_limit_and_no_more(void **state)
{
    latch_lease *first = permit_lease("s"), *second = permit_lease("s"), *third = permit_lease("s");

    (void) state;
    assert_int_equal(take(first, 3, 2), LATCH_DONE);
    assert_int_equal(first->mode, LATCH_EXCLUSIVE);
    assert_true(unit_held(first));
    assert_int_equal(take(second, 3, 2), LATCH_CONFLICT);
    assert_false(unit_held(second));
    assert_int_equal(take(second, 3, 1), LATCH_DONE);
    assert_int_equal(take(third, 3, 1), LATCH_CONFLICT);
    assert_int_equal(take(third, 4, 1), LATCH_DONE); /* the limit is each caller's own */
    unit_release(third);
    unit_release(first);
    assert_int_equal(take(third, 3, 2), LATCH_DONE);
    assert_true(unit_held(second));
}

static void the_largest_limit_is_counted_exactly(void **state)
{
    latch_lease *all = permit_lease("s"), *one = permit_lease("s");

    (void) state;
    assert_int_equal(take(all, LATCH_PERMITS_MAX, LATCH_PERMITS_MAX), LATCH_DONE);
    assert_int_equal(take(one, LATCH_PERMITS_MAX, 1), LATCH_CONFLICT);
    unit_release(all);
    assert_int_equal(take(one, LATCH_PERMITS_MAX, 1), LATCH_DONE);
    assert_int_equal(take(all, LATCH_PERMITS_MAX, LATCH_PERMITS_MAX), LATCH_CONFLICT);
    assert_int_equal(take(all, LATCH_PERMITS_MAX, LATCH_PERMITS_MAX - 1), LATCH_DONE);
}

static void a_semaphore_and_a_lock_of_one_name_are_apart(void **state)
{
    latch_lease *lock = unit_lease("s"), *permit = permit_lease("s"), *other = unit_lease("s");

    (void) state;
    assert_int_equal(unit_run(lock, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(take(permit, 1, 1), LATCH_DONE);
    unit_release(lock);
    assert_true(unit_held(permit));
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(permit);
    assert_true(unit_held(other));
}

static void who_holds_already_takes_nothing_more(void **state)
{
    latch_lease *holder = permit_lease("s"), *other = permit_lease("s");
    size_t live;

    (void) state;
    assert_int_equal(take(holder, 2, 1), LATCH_DONE);
    live = unit.live;
    assert_int_equal(take(holder, 2, 2), LATCH_DONE); /* the weight stays */
    assert_int_equal(unit.live, live);
    assert_int_equal(take(other, 2, 1), LATCH_DONE);
    unit_release(holder); /* once is enough */
    unit_release(other);
    assert_int_equal(take(other, 1, 1), LATCH_DONE);
}

static void a_key_that_was_copied_owns_the_permits_also_when_the_first_is_gone(void **state)
{
    latch_lease *holder = permit_lease("s"), *copy = permit_lease("s"), *other = permit_lease("s");

    (void) state;
    assert_int_equal(take(holder, 1, 1), LATCH_DONE);
    assert_int_equal(unit_run(copy, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(unit_run(copy, LATCH_REFRESH), LATCH_CONFLICT);
    assert_int_equal(latch_lease_make_token(holder, &unit.error), LATCH_DONE);
    assert_int_equal(latch_lease_set_token(copy, holder->token, strlen(holder->token), &unit.error),
                     LATCH_DONE);
    assert_int_equal(unit_run(copy, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_run(copy, LATCH_REFRESH), LATCH_DONE);
    latch_lease_drop(holder);
    latch_permit_lease_init(holder, unit.store, "s", 1);
    assert_int_equal(unit_run(copy, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(take(other, 1, 1), LATCH_CONFLICT);
    unit_release(copy);
    assert_int_equal(take(other, 1, 1), LATCH_DONE);
}

static void a_wait_ends_at_its_time_out_and_an_endless_one_is_a_deadlock(void **state)
{
    latch_lease *holder = permit_lease("s"), *waiter = permit_lease("s");
    latch_request request = unit_waiting(LATCH_ACQUIRE, 100);

    (void) state;
    assert_int_equal(take(holder, 1, 1), LATCH_DONE);
    request.permits = (latch_permits){.limit = 1, .weight = 1};
    assert_int_equal(unit_run_request(waiter, request), LATCH_CONFLICT);
    request.deadline_ns = LATCH_NEVER;
    assert_int_equal(unit_run_request(waiter, request), LATCH_ERROR_DEADLOCK);
    assert_non_null(strstr(unit.error.message, "permits"));
}

static void a_wait_gets_what_is_released_meanwhile(void **state)
{
    latch_lease *holder = permit_lease("s"), *waiter = permit_lease("s");
    latch_request request = unit_waiting(LATCH_ACQUIRE, 1000);
    latch_status status;
    latch_op op;

    (void) state;
    assert_int_equal(take(holder, 2, 1), LATCH_DONE);
    request.permits = (latch_permits){.limit = 2, .weight = 2};
    status = unit_begin(&op, waiter, request);
    assert_int_equal(status, LATCH_WANT_TIMER);
    unit_release(holder);
    assert_int_equal(unit_finish(&op, status), LATCH_DONE);
    assert_true(unit_held(waiter));
}

static void an_inspection_tells_each_holder_and_the_sum(void **state)
{
    latch_lease *first = permit_lease("s"), *second = permit_lease("s"),
                *nobody = permit_lease("s");
    latch_lock_report *report = inspect(nobody);

    (void) state;
    assert_int_equal(report->mode, LATCH_FREE);
    assert_int_equal(report->permits_used, 0);
    latch_lock_reports_free(unit.engine, report);
    assert_int_equal(take(first, 5, 2), LATCH_DONE);
    assert_int_equal(take(second, 6, 3), LATCH_DONE);
    report = inspect(nobody);
    assert_int_equal(report->mode, LATCH_SHARED);
    assert_int_equal(report->permits_used, 5);
    assert_int_equal(report->holder_count, 2);
    assert_int_equal(report->holders->permits.limit, 5);
    assert_int_equal(report->holders->permits.weight, 2);
    assert_int_equal(report->holders->next->permits.limit, 6);
    assert_int_equal(report->holders->next->permits.weight, 3);
    assert_null(report->holders->next->next);
    latch_lock_reports_free(unit.engine, report);
}

static void a_limit_or_a_weight_out_of_range_is_refused(void **state)
{
    static const struct {
        int64_t limit, weight;
    } bad[] = {
        {0, 0},         {0, 1},
        {-1, 1},        {INT64_MIN, 1},
        {1, 0},         {1, -1},
        {1, INT64_MIN}, {1, 2},
        {5, INT64_MAX}, {LATCH_PERMITS_MAX + 1, 1},
        {INT64_MAX, 1}, {INT64_MAX, INT64_MAX},
    };
    latch_lease *lease = permit_lease("s");

    (void) state;
    for (size_t at = 0; at < sizeof(bad) / sizeof(*bad); at++) {
        assert_int_equal(take(lease, bad[at].limit, bad[at].weight), LATCH_ERROR_ARGUMENT);
        assert_false(lease->busy);
        assert_false(unit_held(lease));
    }
    assert_int_equal(take(lease, 1, 2), LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message,
                        "the weight must be from 1 to the semaphore's limit of 1, and not 2");
    assert_int_equal(take(lease, 0, 1), LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message,
                        "the limit of a semaphore must be from 1 to 2^53, and not 0");
}

static void what_only_locks_have_is_refused(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE_SHARED, LATCH_LIST, LATCH_EVICT};
    latch_lease *lease = permit_lease("s");

    (void) state;
    for (size_t at = 0; at < sizeof(kinds) / sizeof(*kinds); at++) {
        assert_int_equal(unit_run(lease, kinds[at]), LATCH_ERROR_ARGUMENT);
    }
}

static void a_store_without_semaphores_says_so(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED, LATCH_REFRESH,
                                          LATCH_RELEASE, LATCH_PROBE,          LATCH_INSPECT};
    latch_lease *lease = permit_lease("s");

    (void) state;
    for (size_t at = 0; at < sizeof(kinds) / sizeof(*kinds); at++) {
        latch_request request = unit_request(kinds[at]);

        request.permits = (latch_permits){.limit = 1, .weight = 1};
        assert_int_equal(unit_run_request(lease, request), LATCH_ERROR_UNSUPPORTED);
        assert_string_equal(unit.error.message, "the null store has no counting semaphores");
    }
}

static void a_combined_store_has_no_semaphores(void **state)
{
    latch_store *members[] = {unit_open("in-memory"), unit_open("in-memory")};
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = members,
                                         .member_count = 2};
    latch_store *store = latch_store_open(unit.engine, "combined", &options, &unit.error);

    (void) state;
    assert_non_null(store);
    assert_int_equal(latch_store_describe(store)->capabilities & LATCH_PERMITS, 0);
    latch_store_close(store);
    latch_store_close(members[0]);
    latch_store_close(members[1]);
}

static void without_memory_nothing_is_taken_or_left_behind(void **state)
{
    latch_lease *lease = permit_lease("s");
    latch_status status = LATCH_ERROR_MEMORY;

    (void) state; /* unit_teardown() finds what leaked */
    for (size_t at = 1; status == LATCH_ERROR_MEMORY; at++) {
        unit.fail_at = unit.allocations + at;
        status = take(lease, 1, 1);
        if (status == LATCH_ERROR_MEMORY) {
            assert_false(unit_held(lease));
        }
        assert_true(at < 10);
    }
    unit.fail_at = 0;
    assert_int_equal(status, LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(the_sum_of_weights_reaches_the_limit_and_no_more, setup_memory),
        UNIT_TEST(the_largest_limit_is_counted_exactly, setup_memory),
        UNIT_TEST(a_semaphore_and_a_lock_of_one_name_are_apart, setup_memory),
        UNIT_TEST(who_holds_already_takes_nothing_more, setup_memory),
        UNIT_TEST(a_key_that_was_copied_owns_the_permits_also_when_the_first_is_gone, setup_memory),
        UNIT_TEST(a_wait_ends_at_its_time_out_and_an_endless_one_is_a_deadlock, setup_memory),
        UNIT_TEST(a_wait_gets_what_is_released_meanwhile, setup_memory),
        UNIT_TEST(an_inspection_tells_each_holder_and_the_sum, setup_memory),
        UNIT_TEST(a_limit_or_a_weight_out_of_range_is_refused, setup_memory),
        UNIT_TEST(what_only_locks_have_is_refused, setup_memory),
        UNIT_TEST(a_store_without_semaphores_says_so, setup_null),
        UNIT_TEST(a_combined_store_has_no_semaphores, setup_memory),
        UNIT_TEST(without_memory_nothing_is_taken_or_left_behind, setup_memory),
    };

    return cmocka_run_group_tests_name("memory permits", tests, NULL, NULL);
}
