/*
 * The end of a wait for a lock in Redis that races the release: whichever comes first, afterwards
 * nobody holds or waits without knowing, and the lock is to be had.
 */
#include "redis_store.h"

#include <stdlib.h>

enum { RACES = 10000, WAITERS = 3 };
/* For the server to come to it. */
#define STEP_NS (100 * INT64_C(1000))

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 33) % limit;
}

static void seed(void)
{
    const char *given = getenv("LATCH_TEST_SEED");

    random_state = given != NULL ? strtoull(given, NULL, 10)
                                 : (uint64_t) unit_now_ns() % 1000000000;
    print_message("seed %llu\n", (unsigned long long) random_state);
}

/* Whoever has the lock gives it back, and the waiters behind get it one after the other. */
static void pass_on(latch_lease *lease, latch_status status)
{
    UNIT_CHECK(status == LATCH_DONE || status == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(lease) == (status == LATCH_DONE) && !lease->busy);
    if (status == LATCH_DONE) {
        UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    }
}

/*
 * The time of a wait is over so many microseconds after the release was sent, or before: from
 * before the server has heard of it to after the claim was answered.
 */
static void a_time_out_that_races_a_grant_leaves_nothing(void **state)
{
    enum { SPREAD_US = 400 };
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};
    latch_lease *holder = redis_lease("r"), *waiter = redis_other_lease("r");
    latch_lease *behind = redis_lease("r");
    unsigned granted = 0;
    latch_op op, behind_op;

    (void) state;
    seed();
    for (int race = 0; race < RACES; race++) {
        bool by_cancel = random_below(4) == 0, somebody_behind = random_below(4) == 0;
        latch_op_kind kind = kinds[random_below(2)];
        latch_status status = LATCH_WANT_IO;
        int64_t end_ns;

        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&op, waiter, redis_waiting(kind, MINUTE, LATCH_NEVER));
        if (somebody_behind) {
            redis_begin_wait(&behind_op, behind, redis_waiting(kind, MINUTE, LATCH_NEVER));
        }
        UNIT_CHECK(unit_run_request(holder, redis_detached_release()) == LATCH_DONE);
        end_ns = unit_now_ns() + (int64_t) random_below(SPREAD_US) * 1000;
        if (by_cancel) {
            while (latch_wants(status) && unit_now_ns() < end_ns) {
                unit_await_wish(&op, status, end_ns);
                status = latch_op_step(&op, unit_now_ns());
            }
            status = latch_wants(status) ? unit_cancel(&op) : status;
        } else {
            op.request.deadline_ns = op.wake_ns = end_ns;
            status = unit_finish(&op, LATCH_WANT_IO);
        }
        granted += status == LATCH_DONE;
        pass_on(waiter, status);
        if (somebody_behind) {
            pass_on(behind, redis_finish_outer(&behind_op));
        }
        UNIT_CHECK(unit_run_request(holder, redis_wait_to_write()) == LATCH_DONE);
        assert_int_equal(unit_redis_number("ZCARD r"), 2);
        UNIT_CHECK(redis_run(holder, LATCH_RELEASE) == LATCH_DONE);
        redis_expect_nothing_left();
    }
    print_message("%u of %d were granted\n", granted, RACES);
    UNIT_CHECK(granted > 0 && granted < RACES);
}

/* Three give up and begin anew at random, while the lock goes round among them. */
static void waits_that_come_and_go_lose_no_grant(void **state)
{
    latch_lease *leases[WAITERS];
    latch_op ops[WAITERS];
    latch_status statuses[WAITERS];
    unsigned held[WAITERS] = {0};

    (void) state;
    seed();
    for (int at = 0; at < WAITERS; at++) {
        leases[at] = redis_lease_in(redis_open("redis://127.0.0.1:%d", unit_redis.port), "r");
        statuses[at] = LATCH_CONFLICT;
    }
    for (int turn = 0; turn < 2 * RACES; turn++) {
        int at = (int) random_below(WAITERS);
        latch_lease *lease = leases[at];

        if (unit_held(lease)) {
            for (int other = 0; other < WAITERS; other++) {
                UNIT_CHECK(other == at || !unit_held(leases[other]));
            }
            held[at]++;
            UNIT_CHECK((random_below(2) == 0 ? redis_run(lease, LATCH_RELEASE)
                                             : unit_run_request(lease, redis_detached_release()))
                       == LATCH_DONE);
        } else if (!latch_wants(statuses[at])) {
            statuses[at] = unit_begin(&ops[at], lease, redis_wait_to_write());
        } else if (random_below(8) == 0) {
            statuses[at] = random_below(2) == 0 ? unit_cancel(&ops[at]) : redis_time_out(&ops[at]);
            statuses[at] = unit_finish(&ops[at], statuses[at]);
        } else {
            unit_await_wish(&ops[at], statuses[at], unit_now_ns() + STEP_NS);
            statuses[at] = latch_op_step(&ops[at], unit_now_ns());
        }
        UNIT_CHECK(!latch_failed(statuses[at]));
    }
    for (int at = 0; at < WAITERS; at++) {
        if (latch_wants(statuses[at])) {
            unit_cancel(&ops[at]);
        }
        UNIT_CHECK(redis_run(leases[at], LATCH_RELEASE) == LATCH_DONE);
        UNIT_CHECK(held[at] > 0);
        print_message("%u ", held[at]);
    }
    print_message("times held\n");
    redis_expect_nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(a_time_out_that_races_a_grant_leaves_nothing),
        REDIS_WAIT_TEST(waits_that_come_and_go_lose_no_grant),
    };

    return cmocka_run_group_tests_name("redis hand-off that races", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
