/* Promises about inspections: who holds a lock, and which locks are held. */
#include "conformance.h"

#include <unistd.h>

static latch_lock_report *reports;

static latch_status ask(latch_lease *lease, latch_op_kind kind)
{
    latch_request request = conformance_request(kind);
    uint64_t evicted = 0;

    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
    request.reports = &reports;
    request.evicted = "0123456789abcdef";
    request.evicted_count = &evicted;
    return unit_run_request(lease, request);
}

static void forget_reports(void)
{
    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
}

static void expect_report(latch_lease *from, latch_mode mode, size_t holders)
{
    size_t count = 0;

    UNIT_CHECK(ask(from, LATCH_INSPECT) == LATCH_DONE);
    UNIT_CHECK(reports != NULL && reports->next == NULL && reports->mode == mode);
    for (const latch_holder *holder = reports->holders; holder != NULL; holder = holder->next) {
        count++;
    }
    UNIT_CHECK(count == holders);
    UNIT_CHECK(unit_held(from) == (from->mode != LATCH_FREE) && !from->busy);
}

static void expect_holder(const char *resource)
{
    const conformance_fixture *fixture = scene.fixture;

    if (fixture->holder != NULL) {
        assert_int_equal(reports->holders->number, fixture->holder(resource));
    } else if (!conformance_has(LATCH_HOLDER_INFO)) {
        assert_int_equal(reports->holders->number, getpid());
    }
}

static void an_inspection_finds_who_holds_and_changes_nothing(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *other = conformance_other_lease(scene.r),
                *third = conformance_lease(scene.r);

    (void) state;
    expect_report(other, LATCH_FREE, 0);
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    expect_report(other, LATCH_EXCLUSIVE, 1);
    expect_holder(scene.r);
    expect_report(third, LATCH_EXCLUSIVE, 1);
    expect_report(one, LATCH_EXCLUSIVE, 1); /* by the holder itself */
    UNIT_CHECK(conformance_try(one, LATCH_PROBE) == LATCH_DONE);
    if (conformance_has(LATCH_SHARED_LOCKS)) {
        UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        UNIT_CHECK(ask(third, LATCH_INSPECT) == LATCH_DONE && reports->mode == LATCH_SHARED);
        UNIT_CHECK(reports->holders != NULL);
        /* Two sessions, or two records; but this process is one process. */
        UNIT_CHECK((reports->holders->next != NULL)
                   == conformance_has_any(LATCH_SESSIONS | LATCH_HOLDER_INFO));
        unit_release(other);
    }
    unit_release(one);
    expect_report(other, LATCH_FREE, 0);
    forget_reports();
}

static void the_list_has_what_is_held(void **state)
{
    latch_lease *one = conformance_lease(scene.r), *two = conformance_other_lease(scene.s),
                *released = conformance_lease(scene.t), *from = conformance_lease("");
    size_t exclusive = 0, count = 0;
    bool shares = conformance_has(LATCH_SHARED_LOCKS);

    (void) state;
    UNIT_CHECK(ask(from, LATCH_LIST) == LATCH_DONE && reports == NULL);
    UNIT_CHECK(conformance_try(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(two, shares ? LATCH_ACQUIRE_SHARED : LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(released, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(released);
    UNIT_CHECK(ask(from, LATCH_LIST) == LATCH_DONE);
    for (const latch_lock_report *report = reports; report != NULL; report = report->next) {
        exclusive += report->mode == LATCH_EXCLUSIVE;
        count++;
        UNIT_CHECK(report->mode != LATCH_FREE && report->holders != NULL);
    }
    UNIT_CHECK(count == 2 && exclusive == (shares ? 1 : 2));
    forget_reports();
}

static void expect_refusal(latch_lease *lease, latch_op_kind kind)
{
    UNIT_CHECK(ask(lease, kind) == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(strstr(unit.error.message, "cannot") != NULL);
    UNIT_CHECK(reports == NULL && !lease->busy);
}

static void a_store_that_cannot_tell_who_holds_says_so(void **state)
{
    (void) state;
    expect_refusal(conformance_lease(scene.r), LATCH_INSPECT);
}

static void a_store_that_cannot_list_its_locks_says_so(void **state)
{
    (void) state;
    expect_refusal(conformance_lease(scene.r), LATCH_LIST);
}

static void a_store_that_cannot_take_a_lock_away_says_so(void **state)
{
    (void) state;
    expect_refusal(conformance_lease(scene.r), LATCH_EVICT);
}

static void a_database_that_cannot_tell_of_holders_says_so(void **state)
{
    (void) state;
    expect_refusal(conformance_lease(scene.r), LATCH_LIST);
    expect_refusal(conformance_lease(scene.r), LATCH_EVICT);
}

const conformance_promise conformance_inspections[] = {
    PROMISE(an_inspection_finds_who_holds_and_changes_nothing, CONFORMANCE_INSPECTS,
            CONFORMANCE_GRANTS_ALL),
    PROMISE(the_list_has_what_is_held, LATCH_LISTING, CONFORMANCE_NO_HOLDERS),
    PROMISE(a_store_that_cannot_tell_who_holds_says_so, 0,
            CONFORMANCE_INSPECTS | CONFORMANCE_GRANTS_ALL),
    PROMISE(a_store_that_cannot_list_its_locks_says_so, 0, LATCH_LISTING),
    PROMISE(a_store_that_cannot_take_a_lock_away_says_so, 0, LATCH_HOLDER_INFO),
    PROMISE(a_database_that_cannot_tell_of_holders_says_so, CONFORMANCE_NO_HOLDERS, 0),
    NO_MORE_PROMISES,
};
