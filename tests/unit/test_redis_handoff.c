/*
 * Locks in Redis that are handed over: who waits stands in a queue and is told. What each process
 * asks, in which order they get the lock, and how readers, promotions and renewals fit in.
 */
#include "redis_store.h"

/* Whatever it may have been told meanwhile: it has nothing to ask. */
static bool waits_still(latch_op *op)
{
    return latch_op_step(op, unit_now_ns()) == LATCH_WANT_IO && redis_moment_of(op) == AT_WAITING;
}

/* A message says that the lock is its, and it is. */
static bool is_handed_over(latch_op *op)
{
    latch_status status = redis_step_until(op, latch_op_step(op, unit_now_ns()), AT_CLAIMING);

    return status == LATCH_WANT_IO && unit_finish(op, status) == LATCH_DONE;
}

/* A store that has waited before: it is subscribed, and knows that messages arrive. */
static latch_store *subscribed_store(const char *options)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d%s", unit_redis.port, options);
    latch_lease *holder = redis_lease("for subscribing"), *lease;
    latch_op op;

    lease = redis_lease_in(store, "for subscribing");
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(lease);
    redis_expect_nothing_left();
    return store;
}

/* ---- What is asked */

static void who_waits_asks_nothing_and_is_told(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    int64_t begun_ns = unit_now_ns();
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    UNIT_CHECK(op.wake_ns >= begun_ns + LATCH_NS_PER_S); /* a safety net, and no poll */
    UNIT_CHECK(waits_still(&op) && redis_count_waiters("r") == 1);
    unit_release(one);
    UNIT_CHECK(is_handed_over(&op));
    UNIT_CHECK(unit_held(two) && two->mode == LATCH_EXCLUSIVE);
    UNIT_CHECK(two->fencing_token > one->fencing_token && redis_count_waiters("r") == 0);
    unit_release(two);
    redis_expect_nothing_left();
}

/* "wait" and "claim"; the third is the release. */
static void a_contended_lock_costs_three_requests(void **state)
{
    enum { ROUNDS = 5 };
    latch_lease *one = redis_lease("r"), *two = redis_lease_in(subscribed_store("?peers=no"), "r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_forget_calls();
    for (int round = 0; round < ROUNDS; round++) {
        redis_begin_wait(&op, two, redis_wait_to_write());
        unit_release(one);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(two);
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    }
    assert_int_equal(redis_count_calls("evalsha"), 5 * ROUNDS);
    assert_int_equal(redis_count_calls("publish"), ROUNDS); /* that the lock is its */
    assert_int_equal(redis_count_calls("subscribe"), 0);
}

/* The first wait: the try, the check by a message to itself, the claim; and one SUBSCRIBE. */
static void a_first_wait_subscribes_once(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    for (int round = 0; round < 3; round++) {
        redis_begin_wait(&op, two, redis_wait_to_write());
        unit_release(one);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(two);
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    }
    assert_int_equal(redis_count_calls("subscribe"), 1);
}

/* A lock that is free costs a wait no more than a try: nothing is subscribed to. */
static void a_wait_for_a_free_lock_is_one_request(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_forget_calls();
    UNIT_CHECK(unit_run_request(lease, redis_wait_to_write()) == LATCH_DONE);
    assert_int_equal(redis_count_calls("evalsha"), 1);
    UNIT_CHECK(unit_redis_number("PUBSUB NUMPAT") == 0);
    assert_int_equal(unit_redis_ask("PUBSUB CHANNELS")->elements, 0);
}

static void who_is_first_asks_before_the_holders_time_ends(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run_for(one, LATCH_ACQUIRE, 1000) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    UNIT_CHECK(op.wake_ns <= unit_now_ns() + 1001 * LATCH_NS_PER_MS);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
}

/* A peer releases without a word. */
static void who_waits_for_a_peer_asks_now_and_then(void **state)
{
    latch_lease *lease = redis_lease("r");
    long long end_ms = unit_redis_now_us() / 1000 + MINUTE;
    latch_op op;

    (void) state;
    unit_redis_ask("ZADD r %lld peer %lld __write__", end_ms, end_ms);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    UNIT_CHECK(op.wake_ns <= unit_now_ns() + 111 * LATCH_NS_PER_MS);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_POLLING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    unit_redis_ask("DEL r");
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

/* ---- In which order */

static void locks_are_handed_over_in_the_order_of_the_waits(void **state)
{
    enum { WAITERS = 5 };
    latch_lease *holder = redis_lease("r"), *leases[WAITERS];
    latch_op ops[WAITERS];

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    for (int at = 0; at < WAITERS; at++) {
        leases[at] = redis_lease_in(redis_open("redis://127.0.0.1:%d", unit_redis.port), "r");
        redis_begin_wait(&ops[at], leases[at], redis_wait_to_write());
    }
    assert_int_equal(redis_count_waiters("r"), WAITERS);
    for (int at = 0; at < WAITERS; at++) {
        unit_release(at == 0 ? holder : leases[at - 1]);
        UNIT_CHECK(is_handed_over(&ops[at]) && unit_held(leases[at]));
        assert_int_equal(redis_count_waiters("r"), WAITERS - 1 - at);
    }
    unit_release(leases[WAITERS - 1]);
    redis_expect_nothing_left();
}

static void a_try_overtakes_nobody_and_waits_not(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r"), *three = redis_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    UNIT_CHECK(redis_run(three, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_count_waiters("r") == 1);
    unit_release(one);
    UNIT_CHECK(redis_run(three, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(three, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
}

static void readers_in_a_row_read_together(void **state)
{
    latch_lease *writer = redis_lease("r"), *readers[3], *last;
    latch_op ops[3], last_op;

    (void) state;
    UNIT_CHECK(redis_run(writer, LATCH_ACQUIRE) == LATCH_DONE);
    for (int at = 0; at < 3; at++) {
        readers[at] = redis_other_lease("r");
        redis_begin_wait(&ops[at], readers[at], redis_wait_to_read());
    }
    last = redis_other_lease("r");
    redis_begin_wait(&last_op, last, redis_wait_to_write());
    unit_release(writer);
    for (int at = 0; at < 3; at++) {
        UNIT_CHECK(is_handed_over(&ops[at]));
        UNIT_CHECK(readers[at]->mode == LATCH_SHARED && readers[at]->fencing_token == 0);
    }
    UNIT_CHECK(unit_held(readers[0]) && unit_held(readers[1]) && unit_held(readers[2]));
    UNIT_CHECK(waits_still(&last_op));
    for (int at = 0; at < 3; at++) {
        UNIT_CHECK(!unit_held(last));
        unit_release(readers[at]);
    }
    UNIT_CHECK(unit_finish(&last_op, LATCH_WANT_IO) == LATCH_DONE && unit_held(last));
    unit_release(last);
    redis_expect_nothing_left();
}

static void a_reader_stands_behind_a_writer_that_waits(void **state)
{
    latch_lease *first = redis_lease("r"), *writer = redis_other_lease("r");
    latch_lease *reader = redis_lease("r");
    latch_op write_op, read_op;

    (void) state;
    UNIT_CHECK(redis_run(first, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    redis_begin_wait(&write_op, writer, redis_wait_to_write());
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
    redis_begin_wait(&read_op, reader, redis_wait_to_read());
    unit_release(first);
    UNIT_CHECK(unit_finish(&write_op, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(waits_still(&read_op));
    unit_release(writer);
    UNIT_CHECK(unit_finish(&read_op, LATCH_WANT_IO) == LATCH_DONE && unit_held(reader));
}

/* ---- Of one process */

/* As by a signal handler in the middle of a wait that waits for another lock. */
static void a_wait_in_a_wait_gets_its_message_and_leaves_the_other_its_own(void **state)
{
    for (int outer_first = 0; outer_first < 2; outer_first++) {
        latch_lease *one = redis_lease("r"), *two = redis_lease("s");
        latch_lease *outer = redis_other_lease("r"), *inner = redis_other_lease("s");
        latch_op outer_op, inner_op;

        (void) state;
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&outer_op, outer, redis_wait_to_write());
        redis_begin_wait(&inner_op, inner, redis_wait_to_write());
        unit_release(outer_first ? one : two);
        unit_release(outer_first ? two : one); /* the inner wait reads both messages */
        UNIT_CHECK(unit_finish(&inner_op, LATCH_WANT_IO) == LATCH_DONE);
        UNIT_CHECK(redis_finish_outer(&outer_op) == LATCH_DONE);
        UNIT_CHECK(unit_held(outer) && unit_held(inner));
        unit_release(outer);
        unit_release(inner);
        redis_expect_nothing_left();
    }
}

static void two_waits_of_one_process_for_one_lock_are_two_waiters(void **state)
{
    latch_lease *holder = redis_lease("r"), *one = redis_other_lease("r");
    latch_lease *two = redis_other_lease("r");
    latch_op ops[2];

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&ops[0], one, redis_wait_to_write());
    redis_begin_wait(&ops[1], two, redis_wait_to_write());
    assert_int_equal(redis_count_waiters("r"), 2);
    unit_release(holder);
    /* The second reads the first one's message. */
    UNIT_CHECK(waits_still(&ops[1]));
    UNIT_CHECK(redis_finish_outer(&ops[0]) == LATCH_DONE && unit_held(one) && !unit_held(two));
    unit_release(one);
    UNIT_CHECK(redis_finish_outer(&ops[1]) == LATCH_DONE && unit_held(two));
}

/* Told at the grant to ask when the claim window ends, though the claim is for less. */
static void who_is_first_asks_when_a_brief_hold_ends(void **state)
{
    for (int shared = 0; shared < 2; shared++) {
        latch_lease *one = redis_lease("r"), *brief = redis_other_lease("r");
        latch_lease *next = redis_lease_in(subscribed_store(""), "r");
        latch_op brief_op, next_op;

        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&brief_op, brief,
                         redis_waiting(shared ? LATCH_ACQUIRE_SHARED : LATCH_ACQUIRE, 300, MINUTE));
        redis_begin_wait(&next_op, next, redis_wait_to_write());
        unit_release(one);
        UNIT_CHECK(is_handed_over(&brief_op));
        do {
            unit_await_wish(&next_op, LATCH_WANT_IO, unit_now_ns() + UNIT_TIMEOUT_NS);
            UNIT_CHECK(waits_still(&next_op)); /* it was told, and asks for nothing yet */
        } while (next_op.wake_ns > brief->deadline_ns + 450 * LATCH_NS_PER_MS);
        UNIT_CHECK(unit_finish(&next_op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(next);
        redis_store_forget();
    }
    (void) state;
}

/* Its claim window is over, and the next one has the lock: it is the next again after that. */
static void who_comes_too_late_to_claim_is_first_again(void **state)
{
    latch_lease *holder = redis_lease("r"), *late = redis_other_lease("r");
    latch_lease *next = redis_lease("r"), *last = redis_lease("r");
    latch_op late_op, next_op, last_op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&late_op, late, redis_wait_to_write());
    redis_begin_wait(&next_op, next, redis_wait_to_write());
    redis_begin_wait(&last_op, last, redis_wait_to_write());
    unit_release(holder); /* and `late` does not move */
    UNIT_CHECK(redis_finish_outer(&next_op) == LATCH_DONE && unit_held(next));
    UNIT_CHECK(redis_step_until(&late_op, latch_op_step(&late_op, unit_now_ns()), AT_CLAIMING)
               == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&late_op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    UNIT_CHECK(!unit_held(late));
    unit_release(next);
    UNIT_CHECK(unit_finish(&late_op, LATCH_WANT_IO) == LATCH_DONE && unit_held(late));
    unit_release(late);
    UNIT_CHECK(redis_finish_outer(&last_op) == LATCH_DONE);
    unit_release(last);
    redis_expect_nothing_left();
}

/* ---- Promotion, demotion, renewal */

static void a_promotion_goes_before_those_who_wait_for_its_own_hold(void **state)
{
    latch_lease *reader = redis_lease("r"), *other = redis_other_lease("r");
    latch_lease *writer = redis_other_lease("r");
    latch_op writer_op, op;

    (void) state;
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    redis_begin_wait(&writer_op, writer, redis_wait_to_write());
    redis_begin_wait(&op, reader, redis_wait_to_write());
    UNIT_CHECK(unit_held(reader) && reader->mode == LATCH_SHARED);
    unit_release(other);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && reader->mode == LATCH_EXCLUSIVE);
    unit_release(reader);
    UNIT_CHECK(redis_finish_outer(&writer_op) == LATCH_DONE);
    UNIT_CHECK(writer->fencing_token > reader->fencing_token);
    unit_release(writer);
    redis_expect_nothing_left();
}

/* They would wait for each other. */
static void of_two_that_promote_the_second_is_refused_at_once(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    redis_begin_wait(&op, one, redis_wait_to_write());
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE); /* the server knows the script */
    redis_forget_calls();
    UNIT_CHECK(unit_run_request(two, redis_wait_to_write()) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE);
    assert_int_equal(redis_count_calls("eval"), 0); /* there is nothing to be undone */
    UNIT_CHECK(unit_held(two) && two->mode == LATCH_SHARED && redis_count_waiters("r") == 1);
    unit_release(two);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && one->mode == LATCH_EXCLUSIVE);
    unit_release(one);
    redis_expect_nothing_left();
}

static void a_promotion_that_is_given_up_reads_on_for_its_time(void **state)
{
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
        latch_op op;

        (void) state;
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        redis_begin_wait(&op, one, redis_waiting(LATCH_ACQUIRE, 10 * MINUTE, MINUTE));
        UNIT_CHECK((cancelled ? unit_cancel(&op) : redis_time_out(&op)) == LATCH_CONFLICT);
        UNIT_CHECK(unit_held(one) && one->mode == LATCH_SHARED && one->fencing_token == 0);
        redis_await_waiters("r", 0);
        UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_DONE);
        assert_int_equal(unit_redis_number("ZCARD r"), 2);
        unit_release(two);
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
        unit_release(one);
        redis_expect_nothing_left();
    }
}

/* It has been promoted meanwhile, and does not know. */
static void a_promotion_that_is_given_up_too_late_is_undone_at_once(void **state)
{
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
        latch_op op;

        (void) state;
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        redis_begin_wait(&op, one, redis_waiting(LATCH_ACQUIRE, MINUTE, MINUTE));
        unit_release(two);
        assert_string_not_equal(unit_redis_text("ZSCORE r __write__"), "");
        UNIT_CHECK((cancelled ? latch_op_cancel(&op, unit_now_ns()) : redis_time_out(&op))
                   == LATCH_CONFLICT);
        UNIT_AWAIT(*unit_redis_text("ZSCORE r __write__") == '\0');
        UNIT_CHECK(unit_held(one) && one->mode == LATCH_SHARED);
        UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        unit_release(one);
        unit_release(two);
        redis_expect_nothing_left();
    }
}

static void a_demotion_lets_readers_in_that_wait(void **state)
{
    latch_lease *writer = redis_lease("r"), *reader = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(writer, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, reader, redis_wait_to_read());
    UNIT_CHECK(redis_run(writer, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(is_handed_over(&op));
    UNIT_CHECK(unit_held(writer) && unit_held(reader));
}

static void a_holder_that_asks_again_does_not_wait_behind_others(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};

    (void) state;
    for (int at = 0; at < 2; at++) {
        latch_lease *holder = redis_lease_in(subscribed_store(""), "r");
        latch_lease *other = redis_other_lease("r");
        latch_op op;

        UNIT_CHECK(redis_run(holder, kinds[at]) == LATCH_DONE);
        redis_begin_wait(&op, other, redis_wait_to_write());
        UNIT_CHECK(unit_run_request(holder, redis_waiting(kinds[at], MINUTE, LATCH_NEVER))
                   == LATCH_DONE);
        assert_int_equal(redis_count_waiters("r"), 1);
        unit_release(holder);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(other);
        redis_expect_nothing_left();
    }
}

static void detached_releases_hand_over_too(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    UNIT_CHECK(unit_run_request(one, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(is_handed_over(&op) && unit_held(two));
}

/* ---- Names */

static void names_of_any_bytes_and_any_length_wait_under_their_prefix(void **state)
{
    static char names[3][3000] = {"\0\r\n \" '\xff wait", "*? [a-z] {tag}", ""};
    static const size_t lengths[] = {14, 14, sizeof(names[2])};
    latch_store *store = redis_open("redis://127.0.0.1:%d/1?prefix=p%%20%%ffq:", unit_redis.port);

    (void) state;
    UNIT_CHECK(store != NULL);
    memset(names[2], 'n', sizeof(names[2]));
    for (size_t at = 0; at < 3; at++) {
        latch_lease *one = unit_lease(""), *two = unit_lease("");
        latch_op op;

        latch_lease_init(one, store, names[at], lengths[at]);
        latch_lease_init(two, store, names[at], lengths[at]);
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&op, two, redis_wait_to_write());
        unit_release(one);
        UNIT_CHECK(redis_finish_outer(&op) == LATCH_DONE && unit_held(two));
        unit_release(two);
        unit_redis_ask("SELECT 1");
        redis_await_keys(1);
        unit_redis_ask("SELECT 0");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(who_waits_asks_nothing_and_is_told),
        REDIS_WAIT_TEST(a_contended_lock_costs_three_requests),
        REDIS_WAIT_TEST(a_first_wait_subscribes_once),
        REDIS_WAIT_TEST(a_wait_for_a_free_lock_is_one_request),
        REDIS_WAIT_TEST(who_is_first_asks_before_the_holders_time_ends),
        REDIS_WAIT_TEST(who_waits_for_a_peer_asks_now_and_then),
        REDIS_WAIT_TEST(locks_are_handed_over_in_the_order_of_the_waits),
        REDIS_WAIT_TEST(a_try_overtakes_nobody_and_waits_not),
        REDIS_WAIT_TEST(readers_in_a_row_read_together),
        REDIS_WAIT_TEST(a_reader_stands_behind_a_writer_that_waits),
        REDIS_WAIT_TEST(a_wait_in_a_wait_gets_its_message_and_leaves_the_other_its_own),
        REDIS_WAIT_TEST(two_waits_of_one_process_for_one_lock_are_two_waiters),
        REDIS_WAIT_TEST(who_is_first_asks_when_a_brief_hold_ends),
        REDIS_WAIT_TEST(who_comes_too_late_to_claim_is_first_again),
        REDIS_WAIT_TEST(a_promotion_goes_before_those_who_wait_for_its_own_hold),
        REDIS_WAIT_TEST(of_two_that_promote_the_second_is_refused_at_once),
        REDIS_WAIT_TEST(a_promotion_that_is_given_up_reads_on_for_its_time),
        REDIS_WAIT_TEST(a_promotion_that_is_given_up_too_late_is_undone_at_once),
        REDIS_WAIT_TEST(a_demotion_lets_readers_in_that_wait),
        REDIS_WAIT_TEST(a_holder_that_asks_again_does_not_wait_behind_others),
        REDIS_WAIT_TEST(detached_releases_hand_over_too),
        REDIS_WAIT_TEST(names_of_any_bytes_and_any_length_wait_under_their_prefix),
    };

    return cmocka_run_group_tests_name("redis hand-off", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
