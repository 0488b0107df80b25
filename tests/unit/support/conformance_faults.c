/* Promises about faults: allocations that fail, servers that do not answer, lost connections. */
#include "conformance.h"

/* ---- Memory */

static bool failed;    /* an injected failure was met */
static size_t failing; /* the number of the first allocation that fails */

/* An outcome that there may be behind a failed allocation. Without one: did it go as it should? */
static latch_status expect(latch_status status, latch_status expected)
{
    if (status == LATCH_ERROR_MEMORY) {
        UNIT_CHECK(unit.allocations >= failing);
        UNIT_CHECK(unit.error.status == LATCH_ERROR_MEMORY);
        assert_string_equal(unit.error.message, "out of memory");
        failed = true;
    } else if (!failed && unit.allocations < failing) {
        assert_int_equal(status, expected);
    }
    return status;
}

/* A request that fails for want of memory changes nothing where no connection was lost for it. */
static latch_status request_once(latch_lease *lease, latch_op_kind kind, latch_status expected)
{
    latch_mode before = lease->mode;
    bool was_held = unit_held(lease);
    latch_status status = expect(conformance_try(lease, kind), expected);

    if (status == LATCH_ERROR_MEMORY && !conformance_has(CONFORMANCE_CUTS)) {
        assert_int_equal(lease->mode, before);
        assert_int_equal(unit_held(lease), was_held);
    }
    UNIT_CHECK(!lease->busy);
    return status;
}

static void inspect_once(latch_lease *lease, latch_op_kind kind)
{
    latch_request request = conformance_request(kind);
    latch_lock_report *reports = NULL;

    request.reports = &reports;
    expect(unit_run_request(lease, request), LATCH_DONE);
    latch_lock_reports_free(unit.engine, reports);
}

static void use_shared(latch_lease *one, latch_lease *two)
{
    request_once(one, LATCH_ACQUIRE_SHARED, LATCH_DONE);
    request_once(two, LATCH_ACQUIRE_SHARED, LATCH_DONE);
    request_once(one, LATCH_ACQUIRE, LATCH_CONFLICT);
    expect(conformance_wait(one, LATCH_ACQUIRE, 1), LATCH_CONFLICT);
    request_once(two, LATCH_RELEASE, LATCH_DONE);
    request_once(one, LATCH_ACQUIRE, LATCH_DONE);
}

/* One wait is given up, one is granted. */
static void use_waits(latch_lease *one, latch_lease *two)
{
    latch_op op;
    latch_status status;

    request_once(two, LATCH_ACQUIRE, LATCH_CONFLICT);
    expect(conformance_wait(two, LATCH_ACQUIRE, 1), LATCH_CONFLICT);
    if (conformance_has(CONFORMANCE_CLIENT | LATCH_SESSIONS)) {
        return; /* each wait would block for a second */
    }
    request_once(two, LATCH_RELEASE, LATCH_DONE);
    status = conformance_begin_wait(&op, two, LATCH_ACQUIRE, MINUTE);
    expect(latch_wants(status) ? unit_cancel(&op) : status, LATCH_CONFLICT);
    request_once(two, LATCH_RELEASE, LATCH_DONE);
    status = conformance_begin_wait(&op, two, LATCH_ACQUIRE, MINUTE);
    if (request_once(one, LATCH_RELEASE, LATCH_DONE) != LATCH_DONE || unit.fail_on) {
        unit.fail_at = 0; /* else the wait would last as long as there is no memory */
        unit_release(one);
    }
    expect(latch_wants(status) ? conformance_finish(&op) : status, LATCH_DONE);
    request_once(two, LATCH_RELEASE, LATCH_DONE);
}

static void use(latch_store *store)
{
    latch_lease *one = conformance_lease_in(store, scene.r, strlen(scene.r)),
                *same = conformance_lease_in(store, scene.r, strlen(scene.r)),
                *two = conformance_other_lease(scene.r), *dropped = conformance_lease(scene.s);

    if (scene.another == unit.store) { /* which exclude each other in one store alone */
        latch_lease_init(two, store, scene.r, strlen(scene.r));
    }
    request_once(one, LATCH_ACQUIRE, LATCH_DONE);
    if (conformance_has(CONFORMANCE_GRANTS_ALL)) {
        inspect_once(one, LATCH_INSPECT);
        return;
    }
    UNIT_CHECK(!unit_held(one) || request_once(same, LATCH_ACQUIRE, LATCH_CONFLICT) != LATCH_DONE
               || !unit_held(one));
    request_once(one, LATCH_REFRESH, LATCH_DONE);
    request_once(one, LATCH_PROBE, LATCH_DONE);
    if (conformance_has(LATCH_SHARED_LOCKS)) {
        use_shared(one, same);
        use_shared(one, two);
    }
    request_once(same, LATCH_RELEASE, LATCH_DONE);
    if (conformance_has(CONFORMANCE_INSPECTS)) {
        inspect_once(two, LATCH_INSPECT);
        inspect_once(dropped, LATCH_INSPECT);
    }
    if (conformance_has(LATCH_LISTING) && !conformance_has(CONFORMANCE_NO_HOLDERS)) {
        inspect_once(two, LATCH_LIST);
    }
    use_waits(one, two);
    request_once(one, LATCH_ACQUIRE, LATCH_DONE);
    expect(conformance_detach(one), LATCH_DONE);
    if (!conformance_has(LATCH_SERIALIZABLE)) {
        request_once(dropped, LATCH_ACQUIRE, LATCH_DONE);
        latch_lease_drop(dropped);
    }
}

static void use_and_forget(void)
{
    size_t kept = unit.lease_count;
    latch_store *store = conformance_open(CONFORMANCE_PLAIN);

    if (store == NULL) {
        expect(unit.error.status, LATCH_DONE);
        return;
    }
    use(store);
    failed |= unit.allocations >= failing;
    unit.fail_at = 0;
    for (size_t at = kept; at < unit.lease_count; at++) { /* of whatever it may hold */
        UNIT_CHECK(conformance_try(&unit.leases[at], LATCH_RELEASE) == LATCH_DONE);
    }
    conformance_drop_leases(kept);
    conformance_close(store);
}

/* Each allocation fails once by itself, and once with all behind it. */
static void every_allocation_may_fail_and_nothing_is_lost_or_left(void **state)
{
    latch_lease *after = conformance_lease(scene.r);
    size_t stride = scene.fixture->stride != 0 ? scene.fixture->stride : 1;

    (void) state;
    for (int fail_on = 0; fail_on < 2; fail_on++) {
        size_t number = 0;

        do {
            failed = false;
            failing = unit.fail_at = unit.allocations + (number += stride);
            unit.fail_on = fail_on == 1;
            use_and_forget();
            unit.fail_at = 0;
            if (!conformance_has(CONFORMANCE_GRANTS_ALL)) {
                conformance_expect_free(after);
            }
            UNIT_CHECK(number < 1000);
        } while (failed);
        UNIT_CHECK(number > stride); /* something was allocated at all */
    }
}

/* ---- Servers that do not answer */

#define SHORT_MS 200

static void a_server_that_falls_silent_is_an_error(void **state)
{
    latch_store *store = conformance_open(CONFORMANCE_PATIENT);
    latch_lease *lease = conformance_lease_in(store, scene.r, strlen(scene.r));

    (void) state;
    conformance_expect_free(lease); /* connected */
    scene.fixture->silence();
    UNIT_CHECK(conformance_failed(conformance_wait(lease, LATCH_ACQUIRE, SHORT_MS),
                                  scene.fixture->silent));
    UNIT_CHECK(lease->mode == LATCH_FREE && !unit_held(lease) && !lease->busy);
    scene.fixture->resume();
    conformance_expect_free(conformance_lease_in(store, scene.r, strlen(scene.r)));
}

static void a_server_that_does_not_greet_is_an_error(void **state)
{
    latch_store *store = conformance_open(CONFORMANCE_PATIENT);
    latch_lease *lease = conformance_lease_in(store, scene.r, strlen(scene.r));

    (void) state;
    scene.fixture->silence();
    UNIT_CHECK(conformance_failed(conformance_wait(lease, LATCH_ACQUIRE, SHORT_MS),
                                  scene.fixture->unreachable));
    UNIT_CHECK(lease->mode == LATCH_FREE && !unit_held(lease) && !lease->busy);
    scene.fixture->resume();
    conformance_expect_free(lease);
}

/* As soon as the server answers the session goes on. */
static void other_locks_of_a_silent_session_are_not_lost(void **state)
{
    latch_store *store = conformance_open(CONFORMANCE_PATIENT);
    latch_lease *lease = conformance_lease_in(store, scene.r, strlen(scene.r)),
                *held = conformance_lease_in(store, scene.s, strlen(scene.s)),
                *holder = conformance_other_lease(scene.r);
    int64_t end_ns = unit_now_ns() + 2 * LATCH_NS_PER_S;
    latch_status status;
    latch_op op;

    (void) state;
    UNIT_CHECK(conformance_try(held, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
    scene.fixture->silence();
    status = unit_begin(&op, lease, conformance_waiting(LATCH_ACQUIRE, SHORT_MS));
    while (unit_now_ns() < end_ns) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&op, status, end_ns);
        status = latch_op_step(&op, unit_now_ns());
    }
    scene.fixture->resume();
    UNIT_CHECK(unit_finish(&op, status) == LATCH_CONFLICT);
    UNIT_CHECK(conformance_try(held, LATCH_PROBE) == LATCH_DONE && unit_held(held));
}

/* ---- Lost connections */

static void a_lost_connection_is_replaced(void **state)
{
    latch_lease *held = conformance_lease(scene.r), *other = conformance_other_lease(scene.s);
    bool is_sessions = conformance_has(LATCH_SESSIONS);

    (void) state;
    conformance_expect_free(other);
    UNIT_CHECK(conformance_try(held, LATCH_ACQUIRE) == LATCH_DONE);
    scene.fixture->cut();
    conformance_expect_free(other); /* an idle one, in silence */
    UNIT_CHECK(conformance_try(held, LATCH_PROBE) == (is_sessions ? LATCH_CONFLICT : LATCH_DONE));
    UNIT_CHECK(held->lost == is_sessions && unit_held(held) == !is_sessions);
    UNIT_CHECK(held->mode == (is_sessions ? LATCH_FREE : LATCH_EXCLUSIVE));
    unit_release(held);
    conformance_expect_free(conformance_other_lease(scene.r));
    conformance_expect_free(held);
}

const conformance_promise conformance_faults[] = {
    PROMISE(every_allocation_may_fail_and_nothing_is_lost_or_left, 0, 0),
    PROMISE(a_server_that_falls_silent_is_an_error, CONFORMANCE_SERVER, 0),
    PROMISE(a_server_that_does_not_greet_is_an_error, CONFORMANCE_SERVER, 0),
    PROMISE(other_locks_of_a_silent_session_are_not_lost, CONFORMANCE_SERVER | LATCH_SESSIONS, 0),
    PROMISE(a_lost_connection_is_replaced, CONFORMANCE_CUTS, 0),
    NO_MORE_PROMISES,
};
