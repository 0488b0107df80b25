/* Slots in a store of slots_locks that answers late, loses slots_locks, fails or stays silent. */
#include "slots.h"

/* ---- A store of slots_locks that answers when the test likes
 * --------------------------------------- */

typedef struct late_store {
    latch_store store;
    latch_store_info info;
} late_store;

static struct {
    bool is_late, late_again; /* after the next answer */
    latch_status failure;     /* answers every request so, from request `fails_at` on */
    size_t fails_at, requests, cancels;
    const latch_lease *held[16];
} server;

static size_t find_held(const latch_lease *lease)
{
    for (size_t at = 0; at < 16; at++) {
        const latch_lease *held = server.held[at];

        if (held != NULL && held->resource_length == lease->resource_length
            && memcmp(held->resource, lease->resource, lease->resource_length) == 0) {
            return at;
        }
    }
    return 16;
}

static size_t count_held(void)
{
    size_t count = 0;

    for (size_t at = 0; at < 16; at++) {
        count += server.held[at] != NULL;
    }
    return count;
}

static latch_status late_answer(latch_op *op)
{
    size_t at = find_held(op->lease);
    bool is_ours = at < 16 && server.held[at] == op->lease;

    if (++server.requests >= server.fails_at && server.failure != LATCH_DONE) {
        return latch_fail(op->error, server.failure, 0, "the server said no");
    }
    switch (op->request.kind) {
        case LATCH_ACQUIRE:
            for (size_t place = 0; place < 16 && at == 16; place++) {
                if (server.held[place] == NULL) {
                    server.held[place] = op->lease;
                    return LATCH_DONE;
                }
            }
            return is_ours ? LATCH_DONE : LATCH_CONFLICT;
        case LATCH_RELEASE:
            if (is_ours) {
                server.held[at] = NULL;
            }
            return LATCH_DONE;
        default:
            return is_ours ? LATCH_DONE : LATCH_CONFLICT;
    }
}

static latch_status late_begin(latch_op *op)
{
    if (!server.is_late) {
        return late_answer(op);
    }
    op->state = &server;
    op->fd = 7;
    op->events = POLLIN;
    op->wake_ns = unit.now_ns + LATCH_NS_PER_S;
    return LATCH_WANT_IO;
}

static latch_status late_step(latch_op *op, int64_t now_ns)
{
    (void) now_ns;
    op->wake_ns = unit.now_ns + LATCH_NS_PER_S;
    if (server.is_late) {
        return LATCH_WANT_IO;
    }
    server.is_late = server.late_again;
    return late_answer(op);
}

static latch_status late_cancel(latch_op *op)
{
    (void) op;
    server.cancels++;
    return LATCH_CONFLICT;
}

static void late_drop(latch_lease *lease)
{
    for (size_t at = 0; at < 16; at++) {
        server.held[at] = server.held[at] == lease ? NULL : server.held[at];
    }
}

static void late_outage(const latch_op *op, int64_t now_ns)
{
    (void) now_ns;
    latch_fail(op->error, LATCH_ERROR_STORE, 0, "no answer from the server");
}

static const latch_store_class late_class = {
    .info = {.name = "late", .title = "late", .scope = LATCH_SCOPE_SERVER},
    .size = sizeof(late_store),
    .begin = late_begin,
    .step = late_step,
    .cancel = late_cancel,
    .outage = late_outage,
    .drop = late_drop,
};

/* ---- Setup ----------------------------------------------------------------------------------- */

static int setup_late(void **state)
{
    memset(&server, 0, sizeof(server));
    return unit_setup(state) != 0
               ? -1
               : unit_setup_slots(latch_store_open_as(unit.engine, &late_class, NULL, &unit.error));
}

#define LATE_TEST(test) cmocka_unit_test_setup_teardown(test, setup_late, unit_teardown_slots)

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_slot_that_was_lost_is_replaced_or_ends_the_hold(void **state)
{
    latch_lease *holder = permit_lease("s"), *lock = lock_lease("s_1"), *other = lock_lease("s_0");

    (void) state;
    slots_begin_at(0);
    assert_int_equal(take(holder, 3, 2), LATCH_DONE);
    server.held[1] = lock; /* the server has given s_1 to somebody else */
    assert_int_equal(take(holder, 3, 2), LATCH_DONE);
    assert_true(unit_held(holder));
    assert_int_equal(count_held(), 3); /* it has s_2 now */

    server.held[find_held(other)] = NULL;
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_CONFLICT);
    assert_true(holder->lost);
    assert_int_equal(count_held(), 1); /* the rest is given back */
    assert_int_equal(take(holder, 3, 2), LATCH_DONE);
    server.held[find_held(other)] = NULL;
    assert_int_equal(unit_run(holder, LATCH_REFRESH), LATCH_CONFLICT);
    assert_int_equal(count_held(), 1);
    assert_false(unit_held(holder));
    assert_int_equal(unit_run(holder, LATCH_REFRESH), LATCH_CONFLICT);

    /* Lost, and there are not enough any more. */
    assert_int_equal(take(holder, 3, 2), LATCH_DONE);
    server.held[find_held(other)] = other;
    assert_int_equal(take(holder, 3, 2), LATCH_CONFLICT);
    assert_true(holder->lost);
    assert_false(unit_held(holder));
    assert_int_equal(count_held(), 2); /* both are the other's */
}

static void a_failure_ends_the_acquire_with_nothing_taken(void **state)
{
    latch_lease *holder = permit_lease("s");

    (void) state;
    server.failure = LATCH_ERROR_STORE;
    server.fails_at = 3;
    assert_int_equal(take(holder, 3, 3), LATCH_ERROR_STORE);
    assert_string_equal(unit.error.message, "the server said no");
    assert_false(unit_held(holder));
    server.failure = LATCH_DONE;
    assert_int_equal(count_held(), 0);
    assert_int_equal(take(holder, 3, 3), LATCH_DONE);
    server.failure = LATCH_ERROR_STORE;
    assert_int_equal(unit_run(holder, LATCH_REFRESH), LATCH_ERROR_STORE);
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_ERROR_STORE);
    assert_int_equal(take(holder, 3, 3), LATCH_ERROR_STORE);
    assert_true(unit_held(holder)); /* for all that is known */
    assert_int_equal(unit_run(holder, LATCH_RELEASE), LATCH_ERROR_STORE);
    server.failure = LATCH_DONE;
    assert_int_equal(unit_run(holder, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(count_held(), 0);
}

static void each_request_waits_for_its_answers(void **state)
{
    latch_lease *holder = permit_lease("s");
    latch_status status;
    struct pollfd polled[LATCH_DESCRIPTORS_MAX];
    latch_op op;

    (void) state;
    server.is_late = true;
    status = unit_begin(&op, holder, for_permits(unit_request(LATCH_ACQUIRE), 2, 2));
    assert_int_equal(status, LATCH_WANT_IO);
    assert_int_equal(latch_op_descriptors(&op, polled), 1);
    assert_int_equal(polled[0].fd, 7);
    assert_false(op.waiting);
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
    server.is_late = false;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(count_held(), 2);
    server.is_late = true;
    status = unit_begin(&op, holder, unit_request(LATCH_RELEASE));
    assert_int_equal(status, LATCH_WANT_IO);
    server.is_late = false;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_DONE);
    assert_int_equal(count_held(), 0);
}

static void a_cancel_gives_back_what_was_taken(void **state)
{
    latch_lease *holder = permit_lease("s"), *other = permit_lease("s");
    latch_status status;
    latch_op op;

    (void) state;
    assert_int_equal(take(other, 3, 1), LATCH_DONE);
    for (int answers = 0; answers < 2; answers++) {
        server.is_late = true;
        server.cancels = 0;
        status =
            unit_begin(&op, holder, for_permits(unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 3, 2));
        assert_int_equal(status, LATCH_WANT_IO);
        if (answers > 0) { /* one slot is taken, or refused, and the next one is late again */
            server.is_late = false;
            server.late_again = true;
            assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_WANT_IO);
        }
        server.is_late = server.late_again = false;
        assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
        assert_int_equal(server.cancels, 1);
        assert_false(unit_held(holder));
        assert_int_equal(count_held(), 1);
    }
}

static void a_deadline_during_silence_is_an_outage_and_no_conflict(void **state)
{
    latch_lease *waiter = permit_lease("s");
    latch_status status;
    latch_op op;

    (void) state;
    server.is_late = true;
    status = unit_begin(&op, waiter, for_permits(unit_waiting(LATCH_ACQUIRE, 1000), 2, 1));
    assert_int_equal(status, LATCH_WANT_IO);
    unit.now_ns = op.wake_ns;
    assert_int_equal(latch_op_step(&op, unit.now_ns), LATCH_ERROR_STORE);
    assert_string_equal(unit.error.message, "no answer from the server");
    assert_int_equal(server.cancels, 1);
    assert_false(unit_held(waiter));
    assert_false(waiter->busy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LATE_TEST(a_slot_that_was_lost_is_replaced_or_ends_the_hold),
        LATE_TEST(a_failure_ends_the_acquire_with_nothing_taken),
        LATE_TEST(each_request_waits_for_its_answers),
        LATE_TEST(a_cancel_gives_back_what_was_taken),
        LATE_TEST(a_deadline_during_silence_is_an_outage_and_no_conflict),
    };

    return cmocka_run_group_tests_name("slots, late", tests, NULL, NULL);
}
