/* Operations: what they are told, and what their outcome means for the lease. */
#include "scripted_store.h"

#include <poll.h>

#define MS LATCH_NS_PER_MS

static void an_acquire_that_is_carried_out_at_once_is_done(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, unit_request(LATCH_ACQUIRE)), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
    assert_false(lease->busy);
    assert_null(op.state);
    assert_true(unit_held(lease));
}

static void a_shared_acquire_holds_shared_and_demotes(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE_SHARED, LATCH_DONE), BEGIN(LATCH_ACQUIRE, LATCH_DONE),
           BEGIN(LATCH_ACQUIRE_SHARED, LATCH_DONE));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_EXCLUSIVE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_SHARED);
}

static void a_conflict_without_waiting_ends_at_once_with_nothing_changed(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_FREE);
    assert_false(lease->busy);
    SCRIPT(BEGIN(LATCH_ACQUIRE_SHARED, LATCH_DONE), BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_SHARED);
}

/* What is asked is often a step itself: `latch_wants(latch_op_begin(...))`. */
static void asking_what_a_status_means_begins_nothing_twice(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_RELEASE, LATCH_WANT_TIMER));
    assert_true(latch_wants(unit_begin(&op, lease, unit_request(LATCH_RELEASE))));
    SCRIPT(STEP(LATCH_RELEASE, LATCH_ERROR_STORE));
    assert_true(latch_failed(latch_op_step(&op, unit.now_ns)));
}

static void every_error_of_the_store_ends_the_operation_and_is_handed_on(void **state)
{
    static const latch_status errors[] = {
        LATCH_ERROR_MEMORY,
        LATCH_ERROR_ARGUMENT,
        LATCH_ERROR_SYSTEM,
        LATCH_ERROR_DEADLOCK,
    };

    (void) state;
    for (size_t at = 0; at < sizeof(errors) / sizeof(errors[0]); at++) {
        for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_PROBE; kind++) {
            latch_lease *lease = unit_lease("r");
            const scripted_line lines[] = {BEGIN(kind, errors[at]), BEGIN(kind, LATCH_WANT_IO),
                                           STEP(kind, errors[at])};
            latch_op op;

            lease->mode = LATCH_SHARED;
            scripted_play(lines, 3);
            assert_int_equal(unit_run_waiting(lease, kind, LATCH_NEVER), errors[at]);
            assert_int_equal(unit.error.status, errors[at]);
            assert_int_equal(unit_begin(&op, lease, unit_waiting(kind, LATCH_NEVER)),
                             LATCH_WANT_IO);
            assert_true(lease->busy);
            assert_int_equal(latch_op_step(&op, unit.now_ns), errors[at]);
            assert_int_equal(lease->mode, LATCH_SHARED);
            assert_false(lease->busy);
        }
    }
}

static void a_lost_lease_is_free_whatever_was_asked(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_PROBE; kind++) {
        latch_lease *lease = unit_lease("r");
        const scripted_line lines[] = {BEGIN(kind, LATCH_ERROR_LOST)};

        lease->mode = LATCH_EXCLUSIVE;
        scripted_play(lines, 1);
        assert_int_equal(unit_run(lease, kind), LATCH_ERROR_LOST);
        assert_int_equal(lease->mode, LATCH_FREE);
        assert_false(unit_held(lease));
        assert_false(lease->busy);
    }
}

static void what_the_store_waits_for_is_told_to_the_driver(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    SCRIPT(BEGIN(LATCH_RELEASE, LATCH_WANT_IO, .wake_ns = unit.now_ns + 3),
           STEP(LATCH_RELEASE, LATCH_WANT_TIMER, .wake_ns = unit.now_ns + 5),
           STEP(LATCH_RELEASE, LATCH_WANT_IO), STEP(LATCH_RELEASE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, unit_request(LATCH_RELEASE)), LATCH_WANT_IO);
    assert_int_equal(op.fd, 7);
    assert_int_equal(op.events, POLLIN);
    assert_int_equal(op.wake_ns, unit.now_ns + 3);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_TIMER);
    assert_int_equal(op.wake_ns, unit.now_ns + 5);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    assert_int_equal(op.wake_ns, LATCH_NEVER); /* not the last answer's */
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static void a_negative_ttl_is_refused_before_anything_is_sent(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_request(LATCH_ACQUIRE);

    (void) state;
    request.ttl_ms = -1;
    assert_int_equal(unit_run_request(lease, request), LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message, "the TTL must not be negative");
    assert_int_equal(scripted_calls(), 0);
    assert_false(lease->busy);
}

static void a_second_operation_on_a_busy_lease_is_refused(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op first, second;

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO));
    assert_int_equal(unit_begin(&first, lease, unit_request(LATCH_ACQUIRE)), LATCH_WANT_IO);
    for (latch_op_kind kind = LATCH_ACQUIRE; kind < LATCH_PROBE; kind++) {
        assert_int_equal(unit_begin(&second, lease, unit_request(kind)), LATCH_ERROR_BUSY);
        assert_int_equal(unit.error.status, LATCH_ERROR_BUSY);
        assert_true(lease->busy);
    }
    /* To ask is no second operation: what is being acquired is not held yet. */
    assert_int_equal(unit_begin(&second, lease, unit_request(LATCH_PROBE)), LATCH_CONFLICT);
    assert_true(lease->busy);
    SCRIPT(STEP(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(latch_op_step(&first, unit.now_ns), LATCH_DONE);
    assert_false(lease->busy);
}

static void a_lease_that_is_being_renewed_is_held_meanwhile(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op first, second;

    (void) state;
    lease->mode = LATCH_EXCLUSIVE;
    SCRIPT(BEGIN(LATCH_REFRESH, LATCH_WANT_IO));
    assert_int_equal(unit_begin(&first, lease, unit_request(LATCH_REFRESH)), LATCH_WANT_IO);
    assert_int_equal(unit_begin(&second, lease, unit_request(LATCH_PROBE)), LATCH_DONE);
    SCRIPT(STEP(LATCH_REFRESH, LATCH_DONE));
    assert_int_equal(latch_op_step(&first, unit.now_ns), LATCH_DONE);
}

/* ---- What an outcome means for the lease ---------------------------------------------------- */

static void a_lease_ends_a_ttl_after_the_command_was_sent(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_request(LATCH_ACQUIRE);
    const int64_t start_ns = unit.now_ns;
    latch_op op;

    (void) state;
    request.ttl_ms = 300;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_IO);
    unit.now_ns += 299 * MS; /* the answer comes late */
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, start_ns + 300 * MS);
    assert_true(unit_held(lease));
    unit.now_ns += MS;
    assert_false(unit_held(lease));
}

static void a_lease_whose_answer_came_after_its_ttl_is_not_held(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_request(LATCH_ACQUIRE);
    latch_op op;

    (void) state;
    request.ttl_ms = 10;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO), STEP(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_IO);
    unit.now_ns += 10 * MS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_false(unit_held(lease));
}

static void a_command_that_was_sent_later_counts_from_then(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_request(LATCH_ACQUIRE);
    const int64_t start_ns = unit.now_ns;
    latch_op op;

    (void) state;
    request.ttl_ms = 300;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_WANT_IO),
           STEP(LATCH_ACQUIRE, LATCH_DONE, .sent_ns = start_ns + 50 * MS));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_IO);
    unit.now_ns += 100 * MS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, start_ns + 350 * MS);
}

static void a_repeated_attempt_counts_from_its_own_start(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_waiting(LATCH_ACQUIRE, LATCH_NEVER);
    latch_op op;

    (void) state;
    request.ttl_ms = 300;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT), BEGIN(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_begin(&op, lease, request), LATCH_WANT_TIMER);
    unit.now_ns += 7 * MS;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, unit.now_ns + 300 * MS);
}

static void a_refresh_moves_the_deadline_and_keeps_the_mode(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_request(LATCH_REFRESH);

    (void) state;
    lease->mode = LATCH_SHARED;
    lease->deadline_ns = unit.now_ns + 1;
    request.ttl_ms = 20;
    SCRIPT(BEGIN(LATCH_REFRESH, LATCH_DONE), BEGIN(LATCH_REFRESH, LATCH_DONE));
    assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, unit.now_ns + 20 * MS);
    assert_int_equal(lease->mode, LATCH_SHARED);
    request.ttl_ms = 0;
    assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, LATCH_NEVER);
}

static void a_refresh_that_finds_another_holder_leaves_nothing_held(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_request(LATCH_REFRESH);

    (void) state;
    lease->mode = LATCH_EXCLUSIVE;
    lease->deadline_ns = unit.now_ns + 100;
    request.ttl_ms = 20;
    SCRIPT(BEGIN(LATCH_REFRESH, LATCH_CONFLICT));
    assert_int_equal(unit_run_request(lease, request), LATCH_CONFLICT);
    assert_false(unit_held(lease));
}

static void a_ttl_beyond_the_end_of_time_is_no_expiry(void **state)
{
    static const int64_t ttls_ms[] = {INT64_MAX, INT64_MAX / MS, INT64_MAX / MS + 1,
                                      INT64_MAX / MS - 1000};

    (void) state;
    for (size_t at = 0; at < sizeof(ttls_ms) / sizeof(ttls_ms[0]); at++) {
        latch_lease *lease = unit_lease("r");
        latch_request request = unit_request(LATCH_ACQUIRE);

        request.ttl_ms = ttls_ms[at];
        SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_DONE));
        assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
        assert_int_equal(lease->deadline_ns, LATCH_NEVER);
        assert_true(unit_held(lease));
    }
}

static void a_ttl_of_zero_and_a_store_without_expiry_have_no_deadline(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_request request = unit_request(LATCH_ACQUIRE);

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_DONE), BEGIN(LATCH_ACQUIRE, LATCH_DONE));
    lease->deadline_ns = 1;
    assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, LATCH_NEVER);
    scripted_claim(LATCH_SHARED_LOCKS);
    lease->deadline_ns = 1;
    request.ttl_ms = 5;
    assert_int_equal(unit_run_request(lease, request), LATCH_DONE);
    assert_int_equal(lease->deadline_ns, LATCH_NEVER);
}

static void a_release_clears_mode_and_fencing_token(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_DONE, .fencing = 42), BEGIN(LATCH_RELEASE, LATCH_DONE));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(lease->fencing_token, 42);
    assert_int_equal(unit_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(lease->fencing_token, 0);
    assert_int_equal(lease->mode, LATCH_FREE);
}

static void a_shared_holder_has_no_fencing_token(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_DONE, .fencing = 42),
           BEGIN(LATCH_ACQUIRE_SHARED, LATCH_DONE));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(lease->fencing_token, 0);
}

static void a_release_that_failed_leaves_the_lease_held(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_DONE, .fencing = 42),
           BEGIN(LATCH_RELEASE, LATCH_ERROR_SYSTEM));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_RELEASE), LATCH_ERROR_SYSTEM);
    assert_int_equal(lease->fencing_token, 42);
    assert_true(unit_held(lease));
}

static void a_probe_tells_and_records_that_the_lease_is_gone(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    lease->mode = LATCH_SHARED;
    lease->deadline_ns = unit.now_ns + 77;
    SCRIPT(BEGIN(LATCH_PROBE, LATCH_DONE), BEGIN(LATCH_PROBE, LATCH_CONFLICT));
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(lease->mode, LATCH_SHARED);
    assert_int_equal(lease->deadline_ns, unit.now_ns + 77);
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_FREE);
}

static void what_was_held_and_is_gone_is_lost_once(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_PROBE, LATCH_REFRESH};
    latch_lease *lease = unit_lease("r");

    (void) state;
    for (size_t at = 0; at < sizeof(kinds) / sizeof(kinds[0]); at++) {
        /* Free; held; held until a moment ago. */
        for (int held = 0; held < 3; held++) {
            lease->mode = held > 0 ? LATCH_EXCLUSIVE : LATCH_FREE;
            lease->deadline_ns = held > 1 ? unit.now_ns : LATCH_NEVER;
            SCRIPT(BEGIN(kinds[at], LATCH_CONFLICT), BEGIN(kinds[at], LATCH_CONFLICT));
            assert_int_equal(unit_run(lease, kinds[at]), LATCH_CONFLICT);
            assert_int_equal(lease->lost, held > 0);
            assert_int_equal(unit_run(lease, kinds[at]), LATCH_CONFLICT);
            assert_false(lease->lost);
        }
    }
    lease->mode = LATCH_SHARED;
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_ERROR_LOST), BEGIN(LATCH_ACQUIRE, LATCH_DONE));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_true(lease->lost);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(lease->lost);
    SCRIPT(BEGIN(LATCH_ACQUIRE, LATCH_CONFLICT)); /* a promotion in vain loses nothing */
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_false(lease->lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPTED_TEST(an_acquire_that_is_carried_out_at_once_is_done),
        SCRIPTED_TEST(a_shared_acquire_holds_shared_and_demotes),
        SCRIPTED_TEST(a_conflict_without_waiting_ends_at_once_with_nothing_changed),
        SCRIPTED_TEST(asking_what_a_status_means_begins_nothing_twice),
        SCRIPTED_TEST(every_error_of_the_store_ends_the_operation_and_is_handed_on),
        SCRIPTED_TEST(a_lost_lease_is_free_whatever_was_asked),
        SCRIPTED_TEST(what_the_store_waits_for_is_told_to_the_driver),
        SCRIPTED_TEST(a_negative_ttl_is_refused_before_anything_is_sent),
        SCRIPTED_TEST(a_second_operation_on_a_busy_lease_is_refused),
        SCRIPTED_TEST(a_lease_that_is_being_renewed_is_held_meanwhile),
        SCRIPTED_TEST(a_lease_ends_a_ttl_after_the_command_was_sent),
        SCRIPTED_TEST(a_lease_whose_answer_came_after_its_ttl_is_not_held),
        SCRIPTED_TEST(a_command_that_was_sent_later_counts_from_then),
        SCRIPTED_TEST(a_repeated_attempt_counts_from_its_own_start),
        SCRIPTED_TEST(a_refresh_moves_the_deadline_and_keeps_the_mode),
        SCRIPTED_TEST(a_refresh_that_finds_another_holder_leaves_nothing_held),
        SCRIPTED_TEST(a_ttl_beyond_the_end_of_time_is_no_expiry),
        SCRIPTED_TEST(a_ttl_of_zero_and_a_store_without_expiry_have_no_deadline),
        SCRIPTED_TEST(a_release_clears_mode_and_fencing_token),
        SCRIPTED_TEST(a_shared_holder_has_no_fencing_token),
        SCRIPTED_TEST(a_release_that_failed_leaves_the_lease_held),
        SCRIPTED_TEST(a_probe_tells_and_records_that_the_lease_is_gone),
        SCRIPTED_TEST(what_was_held_and_is_gone_is_lost_once),
    };

    return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
