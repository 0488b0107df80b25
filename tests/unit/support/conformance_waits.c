/* Promises about waits: how they end, and that nothing is left of those that were given up. */
#include "conformance.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

/* ---- Ends of a wait */

/* A wait that cannot end blocks for a second on a session of its user's. */
static int few_waits(int count)
{
    return conformance_has(CONFORMANCE_CLIENT | LATCH_SESSIONS) ? 1 : count;
}

static void wait_for_release(latch_op_kind held, latch_op_kind wanted)
{
    latch_lease *holder = conformance_lease(scene.r), *waiter = conformance_other_lease(scene.r);
    latch_op op;

    UNIT_CHECK(conformance_try(holder, held) == LATCH_DONE);
    UNIT_CHECK(latch_wants(conformance_begin_wait(&op, waiter, wanted, MINUTE)));
    UNIT_CHECK(op.waiting && waiter->busy && !unit_held(waiter));
    unit_release(holder);
    UNIT_CHECK(conformance_finish(&op) == LATCH_DONE && unit_held(waiter));
    UNIT_CHECK(waiter->mode == (wanted == LATCH_ACQUIRE ? LATCH_EXCLUSIVE : LATCH_SHARED));
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(waiter);
}

static void a_wait_ends_with_the_release(void **state)
{
    (void) state;
    wait_for_release(LATCH_ACQUIRE, LATCH_ACQUIRE);
    if (conformance_has(LATCH_SHARED_LOCKS)) {
        wait_for_release(LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED);
        wait_for_release(LATCH_ACQUIRE_SHARED, LATCH_ACQUIRE);
    }
}

static void a_lease_that_need_not_wait_has_not_waited(void **state)
{
    latch_lease *lease = conformance_lease(scene.r);
    latch_op op;

    (void) state;
    for (int round = 0; round < 3; round++) {
        latch_status status =
            unit_begin(&op, lease, conformance_waiting(LATCH_ACQUIRE, LATCH_NEVER));

        UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && !op.waiting);
        unit_release(lease);
    }
}

/* A short wait is not enough for a connection to be made, on a machine that is busy. */
static void hold_and_connect(latch_lease *holder, latch_lease *waiter)
{
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(waiter, LATCH_ACQUIRE) == LATCH_CONFLICT);
}

static void a_wait_ends_at_its_deadline_with_nothing_taken(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *waiter = conformance_other_lease(scene.r);
    int64_t begun_ns;

    (void) state;
    hold_and_connect(holder, waiter);
    begun_ns = unit_now_ns();
    UNIT_CHECK(conformance_wait(waiter, LATCH_ACQUIRE, 30) == LATCH_CONFLICT);
    UNIT_CHECK(unit_now_ns() - begun_ns >= 30 * LATCH_NS_PER_MS);
    UNIT_CHECK(unit_now_ns() - begun_ns < UNIT_TIMEOUT_NS / 2);
    UNIT_CHECK(waiter->mode == LATCH_FREE && !unit_held(waiter) && !waiter->busy);
    UNIT_CHECK(unit_held(holder) && conformance_try(holder, LATCH_PROBE) == LATCH_DONE);
    unit_release(holder);
    UNIT_CHECK(conformance_wait(waiter, LATCH_ACQUIRE, 30) == LATCH_DONE);
}

static void no_time_at_all_is_enough_for_one_try(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *waiter = conformance_other_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_wait(holder, LATCH_ACQUIRE, 0) == LATCH_DONE && unit_held(holder));
    UNIT_CHECK(conformance_wait(waiter, LATCH_ACQUIRE, 0) == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(holder) && !unit_held(waiter));
}

static void expect_deadlock(latch_lease *lease)
{
    latch_mode before = lease->mode;

    UNIT_CHECK(conformance_wait(lease, LATCH_ACQUIRE, 20)
               == LATCH_CONFLICT); /* it ends by itself */
    UNIT_CHECK(conformance_wait(lease, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_ERROR_DEADLOCK);
    assert_string_equal(unit.error.message,
                        "the lock is held by this very thread, through another key");
    UNIT_CHECK(lease->mode == before && unit_held(lease) == (before != LATCH_FREE) && !lease->busy);
}

static void a_wait_that_only_its_own_thread_could_end_is_a_deadlock(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *same = conformance_lease(scene.r);

    (void) state;
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
    expect_deadlock(same);
    if (conformance_has(LATCH_SHARED_LOCKS)) {
        UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        expect_deadlock(same);
        UNIT_CHECK(conformance_try(same, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        expect_deadlock(same); /* a promotion, which keeps the shared lock */
    }
    UNIT_CHECK(unit_held(holder));
    unit_release(holder);
    UNIT_CHECK(conformance_wait(same, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
}

/* ---- Waits that are given up */

static void a_cancelled_wait_leaves_nothing(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *waiter = conformance_other_lease(scene.r),
                *other = conformance_other_lease(scene.s);
    latch_op op;

    (void) state;
    UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
    for (int round = 0; round < few_waits(4); round++) {
        latch_status status =
            round < 2 ? conformance_begin_wait(&op, waiter, LATCH_ACQUIRE, MINUTE)
                      : unit_begin(&op, waiter, conformance_waiting(LATCH_ACQUIRE, MINUTE));

        UNIT_CHECK(latch_wants(status)); /* in the last rounds it has hardly begun */
        UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
        UNIT_CHECK(waiter->mode == LATCH_FREE && !unit_held(waiter) && !waiter->busy);
        conformance_expect_free(other); /* what comes behind it is not hit by the cancel */
    }
    UNIT_CHECK(unit_held(holder) && conformance_try(holder, LATCH_PROBE) == LATCH_DONE);
    unit_release(holder);
    conformance_expect_free(holder);
}

static void a_grant_that_crosses_the_cancel_is_given_back(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *waiter = conformance_other_lease(scene.r);
    latch_op op;

    (void) state;
    for (int round = 0; round < few_waits(30); round++) {
        UNIT_CHECK(conformance_try(holder, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(latch_wants(conformance_begin_wait(&op, waiter, LATCH_ACQUIRE, MINUTE)));
        unit_release(holder);
        UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
        UNIT_CHECK(!unit_held(waiter) && !waiter->busy);
        conformance_expect_free(holder);
    }
}

/* Behind a deadline: a server of databases is slow, as one processor may be on a busy machine. */
#define SLOW_NS (100 * LATCH_NS_PER_MS)

/* At every moment: the deadline comes a little before the grant, with it, or behind it. */
static void time_outs_that_race_a_grant_leave_no_lock(void **state)
{
    latch_lease *holder = conformance_lease(scene.r), *waiter = conformance_other_lease(scene.r);
    size_t granted = 0;

    (void) state;
    hold_and_connect(holder, waiter);
    for (size_t round = 0; round < scene.fixture->rounds; round++) {
        int64_t timeout_ms = 1 + (int64_t) round % 3, ahead_ns = (int64_t) round % 50 * 10000;
        int64_t slow_ns;
        latch_op op;
        latch_status status;

        UNIT_CHECK(conformance_wait(holder, LATCH_ACQUIRE, MINUTE) == LATCH_DONE);
        slow_ns = unit_now_ns() + timeout_ms * LATCH_NS_PER_MS + SLOW_NS;
        status = conformance_begin_wait(&op, waiter, LATCH_ACQUIRE, timeout_ms);
        while (latch_wants(status) && unit_now_ns() < op.request.deadline_ns - ahead_ns) {
            unit_await_wish(&op, status, op.request.deadline_ns - ahead_ns);
            if (unit_is_due(&op, status)) {
                status = latch_op_step(&op, unit_now_ns());
            }
        }
        UNIT_CHECK(conformance_detach(holder) == LATCH_DONE);
        status = unit_finish(&op, status);
        UNIT_CHECK(status == LATCH_DONE || status == LATCH_CONFLICT);
        UNIT_CHECK(unit_held(waiter) == (status == LATCH_DONE));
        if (status == LATCH_DONE) {
            granted++;
            unit_release(waiter);
        } else if (unit_now_ns() > slow_ns) {
            /* It may be granted by an answer that nobody has awaited: the next request gives that
             * back. */
            UNIT_CHECK(conformance_try(waiter, LATCH_PROBE) == LATCH_CONFLICT);
        }
    }
    conformance_expect_free(holder);
    print_message("%zu of %zu were granted\n", granted, scene.fixture->rounds);
}

static void on_alarm(int number)
{
    (void) number;
}

/* A signal each millisecond, whose handler returns: as pcntl_async_signals() has it. */
static void signals_interrupt_a_wait_without_an_error(void **state)
{
    const struct itimerval each = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    const struct sigaction handled = {.sa_handler = on_alarm};
    latch_lease *holder = conformance_lease(scene.r), *waiter = conformance_other_lease(scene.r);
    struct sigaction before;
    latch_op op;

    (void) state;
    UNIT_CHECK(sigaction(SIGALRM, &handled, &before) == 0);
    UNIT_CHECK(setitimer(ITIMER_REAL, &each, NULL) == 0);
    for (int round = 0; round < few_waits(5); round++) {
        hold_and_connect(holder, waiter);
        UNIT_CHECK(conformance_wait(waiter, LATCH_ACQUIRE, 20) == LATCH_CONFLICT);
        UNIT_CHECK(latch_wants(conformance_begin_wait(&op, waiter, LATCH_ACQUIRE, MINUTE)));
        unit_release(holder);
        UNIT_CHECK(conformance_finish(&op) == LATCH_DONE && unit_held(waiter));
        unit_release(waiter);
    }
    UNIT_CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    UNIT_CHECK(sigaction(SIGALRM, &before, NULL) == 0);
}

/* ---- Promotions that wait */

static void expect_reader(latch_lease *lease, latch_lease *other)
{
    UNIT_CHECK(lease->mode == LATCH_SHARED && unit_held(lease) && !lease->busy);
    UNIT_CHECK(conformance_try(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(conformance_try(other, LATCH_PROBE) == LATCH_DONE);
}

static void a_promotion_waits_for_the_other_readers_or_keeps_what_it_had(void **state)
{
    latch_lease *lease = conformance_lease(scene.r), *other = conformance_other_lease(scene.r),
                *writer = conformance_other_lease(scene.r);
    latch_op op;

    (void) state;
    UNIT_CHECK(conformance_try(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_try(other, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(conformance_wait(lease, LATCH_ACQUIRE, 20) == LATCH_CONFLICT);
    expect_reader(lease, other);
    UNIT_CHECK(latch_wants(conformance_begin_wait(&op, lease, LATCH_ACQUIRE, MINUTE)));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    expect_reader(lease, other);
    UNIT_CHECK(latch_wants(conformance_begin_wait(&op, lease, LATCH_ACQUIRE, MINUTE)));
    unit_release(other);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT); /* though it may have been granted */
    UNIT_CHECK(lease->mode == LATCH_SHARED && unit_held(lease));
    UNIT_CHECK(conformance_wait(other, LATCH_ACQUIRE_SHARED, MINUTE) == LATCH_DONE);
    expect_reader(lease, other);
    UNIT_CHECK(latch_wants(conformance_begin_wait(&op, lease, LATCH_ACQUIRE, MINUTE)));
    unit_release(other);
    UNIT_CHECK(conformance_finish(&op) == LATCH_DONE && lease->mode == LATCH_EXCLUSIVE);
    UNIT_CHECK(conformance_try(writer, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
    unit_release(lease); /* nothing of the hold before is left */
    UNIT_CHECK(conformance_try(writer, LATCH_ACQUIRE) == LATCH_DONE);
}

/* ---- Many at once */

typedef struct ledger {
    int64_t balance;
    _Atomic int inside;
} ledger;

enum { BOOKKEEPERS = 4 };

static size_t count_bookings(void)
{
    return scene.fixture->rounds / 10;
}

static void book(unit_process *self, void *argument)
{
    latch_store *store = conformance_open(CONFORMANCE_PLAIN); /* not its parent's connection */
    latch_lease *lease;
    ledger *common = argument;

    (void) self;
    UNIT_CHECK(store != NULL);
    lease = conformance_lease_in(store, scene.r, strlen(scene.r));
    for (size_t at = 0; at < count_bookings(); at++) {
        UNIT_CHECK(conformance_wait(lease, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
        UNIT_CHECK(common->inside++ == 0);
        common->balance++;
        common->inside--;
        unit_release(lease);
    }
    latch_lease_drop(lease);
    conformance_close(store);
}

static void processes_contend_and_each_has_the_lock_alone(void **state)
{
    ledger *common =
        mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unit_process processes[BOOKKEEPERS];

    (void) state;
    UNIT_CHECK(common != MAP_FAILED);
    for (size_t at = 0; at < BOOKKEEPERS; at++) {
        processes[at] = unit_fork(book, common);
    }
    for (size_t at = 0; at < BOOKKEEPERS; at++) {
        unit_join(&processes[at]);
    }
    assert_int_equal(common->balance, BOOKKEEPERS * count_bookings());
    munmap(common, sizeof(*common));
}

const conformance_promise conformance_waits[] = {
    PROMISE(a_wait_ends_with_the_release, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(a_lease_that_need_not_wait_has_not_waited, 0, 0),
    PROMISE(a_wait_ends_at_its_deadline_with_nothing_taken, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(no_time_at_all_is_enough_for_one_try, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(a_wait_that_only_its_own_thread_could_end_is_a_deadlock, CONFORMANCE_DEADLOCKS, 0),
    PROMISE(a_cancelled_wait_leaves_nothing, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(a_grant_that_crosses_the_cancel_is_given_back, 0, CONFORMANCE_GRANTS_ALL),
    PROMISE(time_outs_that_race_a_grant_leave_no_lock, 0,
            CONFORMANCE_GRANTS_ALL | CONFORMANCE_ALONE),
    PROMISE(signals_interrupt_a_wait_without_an_error, 0,
            CONFORMANCE_GRANTS_ALL | CONFORMANCE_ALONE),
    PROMISE(a_promotion_waits_for_the_other_readers_or_keeps_what_it_had, LATCH_SHARED_LOCKS,
            CONFORMANCE_GRANTS_ALL),
    PROMISE(processes_contend_and_each_has_the_lock_alone, 0,
            CONFORMANCE_GRANTS_ALL | CONFORMANCE_ALONE),
    NO_MORE_PROMISES,
};
