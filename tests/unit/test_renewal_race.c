/*
 * Renewals on their way while their leases are released, acquired again, let go and dropped, while
 * stores and mailboxes are closed, and while the engine ends: no renewal outlives its lock.
 */
#include "keeping.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 4

/* Nobody holds the lock, as far as whoever wants it can tell, and nobody else can have it. */
static void expect_free_for(latch_lease *other, latch_lease *lease)
{
    assert_false(unit_held(lease));
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_redis_number("ZCARD r"), 2); /* the token, and that it is a writer's */
    assert_int_equal(redis_run(other, LATCH_RELEASE), LATCH_DONE);
}

static void no_renewal_outlives_its_lock(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");
    int rounds = UNIT_TSAN ? 10000 : 2000, round = 0, in_flight = 0;
    int64_t end_ns = unit_now_ns() + 60 * LATCH_NS_PER_S;
    long long renewals;

    (void) state;
    unit_keep(lease);
    redis_forget_calls();
    /* On a busy machine few come in time: until there are enough, within reason. */
    for (; round < rounds || (in_flight <= rounds / 20 && unit_now_ns() < end_ns); round++) {
        int64_t until_ns = unit_now_ns() + 1200000, pause_ns = random() % 500000;

        assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 3), LATCH_DONE);
        if (round % 2 == 0) { /* when its renewal is sent, or is about to be */
            while (!unit_is_renewing() && unit_now_ns() < until_ns) {
            }
            in_flight += unit_is_renewing();
        } else { /* at any time, or when it is answered */
            until_ns -= pause_ns;
            while (unit_now_ns() < until_ns && unit_held(lease)) {
            }
        }
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
        if (round % 100 == 0) {
            expect_free_for(other, lease);
        } else {
            assert_false(unit_held(lease));
            assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
            assert_int_equal(redis_run(other, LATCH_RELEASE), LATCH_DONE);
        }
    }
    renewals = redis_count_calls("evalsha") + redis_count_calls("eval") - INT64_C(4) * round;
    print_message("%lld renewals, %d of them on their way at the release\n", renewals, in_flight);
    assert_true(renewals > 0 && in_flight > 0);
    assert_true(in_flight > rounds / 20 || unit_now_ns() >= end_ns);
    redis_expect_nothing_left();
}

static void what_is_acquired_again_at_once_is_renewed_as_itself(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_loss loss;

    (void) state;
    unit_keep(lease);
    for (int round = 0; round < 500; round++) {
        assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 3), LATCH_DONE);
        UNIT_AWAIT(unit_is_renewing() || !unit_held(lease));
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
        assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 20000), LATCH_DONE);
        UNIT_AWAIT(!unit_is_renewing());
        assert_true(unit_held(lease));
        assert_true(unit_redis_number("PTTL r") > 10000);
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    }
    assert_false(latch_mailbox_read(unit_mailbox, &loss)); /* of the first ones */
    redis_expect_nothing_left();
}

/* ---- Threads ----------------------------------------------------------------------------------
 */

typedef struct worker {
    pthread_t thread;
    unsigned seed;
    latch_store *store;
    latch_mailbox *mailbox;
    const char *complaint; /* what went wrong, NULL = nothing */
} worker;

static void ignore_notice(void *context)
{
    (void) context;
}

static latch_status run_one(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms)
{
    const latch_request request = redis_request_for(kind, ttl_ms);
    latch_error error;
    latch_op op;

    return unit_finish(&op, latch_op_begin(&op, lease, &request, &error));
}

static bool keep_one(latch_lease *lease, latch_mailbox *mailbox)
{
    const latch_renewal_spec spec = UNIT_KEEP;
    latch_error error;

    return latch_lease_start_renewal(lease, mailbox, &spec, &error) == LATCH_DONE;
}

static void pause_us(int us)
{
    const struct timespec time = {.tv_nsec = us * 1000L};

    nanosleep(&time, NULL);
}

/* Holds for a moment, and ends that in one of the ways that there are. */
static const char *hold_one(worker *self, const char *name)
{
    latch_lease lease;
    const char *complaint = NULL;
    latch_loss loss;

    latch_lease_init(&lease, self->store, name, strlen(name));
    if (!keep_one(&lease, self->mailbox)) {
        complaint = "it cannot be kept";
    } else if (run_one(&lease, LATCH_ACQUIRE, 6) != LATCH_DONE) {
        complaint = "it is held by somebody";
    }
    pause_us(rand_r(&self->seed) % 3000);
    switch (rand_r(&self->seed) % 4) {
        case 0: /* at once: what may be in flight finds it gone */
            break;
        case 1:
            latch_lease_stop_renewal(&lease);
            break;
        case 2:
            run_one(&lease, LATCH_REFRESH, 4);
            pause_us(1500);
            break;
        default:
            latch_mailbox_read(self->mailbox, &loss);
            break;
    }
    if (run_one(&lease, LATCH_RELEASE, 0) != LATCH_DONE || latch_lease_held(&lease, 0)) {
        complaint = "it cannot be released";
    }
    latch_lease_drop(&lease);
    return complaint;
}

static void *work(void *argument)
{
    worker *self = argument;
    char name[16], dsn[64];
    const latch_store_options options = {.dsn = dsn,
                                         .dsn_length = (size_t) snprintf(dsn, sizeof(dsn),
                                                                         "redis://127.0.0.1:%d",
                                                                         unit_redis.port)};

    snprintf(name, sizeof(name), "r%u", self->seed);
    for (int round = 0; round < 40 && self->complaint == NULL; round++) {
        latch_error error;

        self->store = latch_store_open(unit.engine, "redis", &options, &error);
        self->mailbox = latch_mailbox_open(unit.engine, ignore_notice, NULL);
        for (int hold = 0; hold < 10 && self->complaint == NULL; hold++) {
            self->complaint = hold_one(self, name);
        }
        latch_mailbox_close(self->mailbox);
        latch_store_close(self->store);
    }
    return NULL;
}

static void threads_share_the_thread_that_renews(void **state)
{
    worker workers[THREADS] = {{.seed = 1}, {.seed = 2}, {.seed = 3}, {.seed = 4}};

    (void) state;
    for (int at = 0; at < THREADS; at++) {
        assert_int_equal(pthread_create(&workers[at].thread, NULL, work, &workers[at]), 0);
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(workers[at].thread, NULL);
    }
    for (int at = 0; at < THREADS; at++) {
        if (workers[at].complaint != NULL) {
            fail_msg("%s", workers[at].complaint);
        }
    }
    assert_int_equal(unit_calls.started, THREADS + 1);
    redis_expect_nothing_left();
}

static void stores_of_one_server_share_a_clone(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("o");
    latch_lease *elsewhere =
        redis_lease_in(redis_open("redis://127.0.0.1:%d/1", unit_redis.port), "e");

    (void) state;
    unit_keep(lease);
    unit_keep(other);
    unit_keep(elsewhere);
    assert_ptr_equal(lease->store->renewal_store, other->store->renewal_store);
    assert_ptr_not_equal(lease->store->renewal_store, elsewhere->store->renewal_store);
    assert_ptr_not_equal(lease->store->renewal_store->store, lease->store);
    assert_int_equal(lease->store->renewal_store->users, 4);
}

/* ---- The end of the engine --------------------------------------------------------------------
 */

/* Ends all, with nothing heard of what is in flight. */
static void end_in_flight(latch_lease *lease)
{
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 600), LATCH_DONE);
    redis_hold_server();
    UNIT_AWAIT(unit_is_renewing());
}

static void the_engine_ends_with_a_renewal_in_flight(void **state)
{
    end_in_flight(redis_lease("r"));
    (void) state;
}

static void it_ends_with_one_that_was_let_go_in_flight(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("o");

    (void) state;
    unit_keep(other);
    assert_int_equal(redis_run_for(other, LATCH_ACQUIRE, 600), LATCH_DONE);
    end_in_flight(lease);
    latch_lease_drop(lease);
    latch_lease_stop_renewal(other);
}

static void it_ends_while_the_server_is_away(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, 600), LATCH_DONE);
    unit_redis_kill();
    UNIT_AWAIT(unit_is_renewing() || !unit_held(lease));
    unit_redis_start(NULL);
}

static void it_ends_at_once_when_nothing_is_kept(void **state)
{
    (void) state;
    unit_keep(redis_lease("r"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_RENEWAL_TEST(no_renewal_outlives_its_lock),
        UNIT_RENEWAL_TEST(what_is_acquired_again_at_once_is_renewed_as_itself),
        UNIT_RENEWAL_TEST(threads_share_the_thread_that_renews),
        UNIT_RENEWAL_TEST(stores_of_one_server_share_a_clone),
        UNIT_RENEWAL_TEST(the_engine_ends_with_a_renewal_in_flight),
        UNIT_RENEWAL_TEST(it_ends_with_one_that_was_let_go_in_flight),
        UNIT_RENEWAL_TEST(it_ends_while_the_server_is_away),
        UNIT_RENEWAL_TEST(it_ends_at_once_when_nothing_is_kept),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
