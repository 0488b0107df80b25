/*
 * Hand-off in Redis when something goes wrong on its connections: they are cut, or forbidden, or
 * answers and messages are lost. Who waits is served all the same, in bounded time, and nothing is
 * left of it.
 */
#include "redis_store.h"

#include "src/store/redis/lock/redis.h"

/* ---- The subscription */

static void a_subscription_that_is_cut_is_made_anew_and_keeps_the_place(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r"), *three = redis_lease("r");
    latch_op two_op, three_op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&two_op, two, redis_wait_to_write());
    redis_begin_wait(&three_op, three, redis_wait_to_write());
    for (int round = 0; round < 3; round++) {
        unit_redis_ask("CLIENT KILL TYPE pubsub");
        UNIT_CHECK(redis_step_until(&two_op, latch_op_step(&two_op, unit_now_ns()), AT_ASKING)
                   == LATCH_WANT_IO);
        UNIT_CHECK(redis_step_until(&two_op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
        UNIT_CHECK(redis_step_until(&three_op, latch_op_step(&three_op, unit_now_ns()), AT_WAITING)
                   == LATCH_WANT_IO);
        assert_int_equal(redis_count_waiters("r"), 2);
    }
    unit_release(one);
    UNIT_CHECK(unit_finish(&two_op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    unit_release(two);
    UNIT_CHECK(redis_finish_outer(&three_op) == LATCH_DONE && unit_held(three));
}

/* The release finds nobody who hears it, and takes the waiter for dead. */
static void who_was_taken_for_dead_is_served_all_the_same(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    unit_redis_ask("CLIENT KILL TYPE pubsub");
    unit_release(one);
    UNIT_CHECK(redis_is_free("r") && redis_count_waiters("r") == 0);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    unit_release(two);
    redis_expect_nothing_left();
}

/* A store that waits by the wire, and the holder that it waits for. */
static latch_lease *begin_wait_on_wire(latch_op *op, latch_lease *holder, const char *options)
{
    latch_lease *lease = redis_lease_in(redis_wire_open(options), "r");
    latch_status status;

    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    status = redis_wire_step_until(op, unit_begin(op, lease, redis_wait_to_write()), AT_WAITING);
    UNIT_CHECK(status == LATCH_WANT_IO);
    return lease;
}

static void a_message_that_is_cut_is_none(void **state)
{
    static const size_t lengths[] = {0, 1, 20, 60};

    (void) state;
    for (size_t at = 0; at < sizeof(lengths) / sizeof(lengths[0]); at++) {
        latch_lease *holder = redis_lease("r"), *lease;
        latch_op op;

        lease = begin_wait_on_wire(&op, holder, "");
        unit_release(holder);
        redis_wire_use(REDIS_MESSAGES);
        redis_wire_pass_reply(lengths[at]);
        redis_wire_cut();
        UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
        redis_store_forget();
    }
}

/* Half a connection: what the server says on it is lost, and nobody hears of that. */
static void a_message_that_never_comes_costs_no_more_than_the_safety_net(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease;
    latch_op op;

    (void) state;
    lease = begin_wait_on_wire(&op, holder, "");
    unit_release(holder);
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_pass_reply(0);
    UNIT_CHECK(redis_wire_step_until(&op, LATCH_WANT_IO, AT_POLLING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

/* Old ones, and those of nobody. */
static void messages_about_other_waits_change_nothing(void **state)
{
    static const char *const words[] = {"granted 999", "granted", "granted -1", "first 999 1",
                                        "first",       "test 1",  "",           "what is this"};
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    char channel[64];
    int64_t wake_ns;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    snprintf(channel, sizeof(channel), "%s",
             unit_redis_ask("PUBSUB CHANNELS latch:wake:*")->element[0]->str);
    for (size_t at = 0; at < sizeof(words) / sizeof(words[0]); at++) {
        assert_int_equal(unit_redis_number("PUBLISH %s %s", channel, words[at]), 1);
        assert_int_equal(unit_redis_number("PUBLISH latch:requeue %s", words[at]), 1);
    }
    /* That it is the first it knows by now, and is to ask sooner than in a minute. */
    wake_ns = op.wake_ns;
    unit_redis_ask("PUBLISH %s %s", channel, "first 1 60000");
    unit_await_grant(&op);
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_IO && op.wake_ns <= wake_ns);
    UNIT_CHECK(redis_moment_of(&op) == AT_WAITING && !unit_held(lease));
    /* A message is no hold: the answer counts. */
    unit_redis_ask("PUBLISH %s %s", channel, "granted 1");
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_CLAIMING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    UNIT_CHECK(!unit_held(lease) && redis_count_waiters("r") == 1);
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

/* ---- The connection for commands */

static void a_wait_does_not_need_its_connection_until_it_asks(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    unit_redis_ask("CLIENT KILL TYPE normal");
    unit_redis_ask("SCRIPT FLUSH");
    assert_int_equal(redis_count_waiters("r"), 1);
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE);
}

/* Lets what is on its way arrive, and its answer be lost but for so many bytes. */
static latch_status lose_answer(latch_op *op, latch_status status, size_t passed)
{
    redis_moment moment = redis_moment_of(op);

    redis_wire_pass_command();
    redis_wire_pass_reply(passed);
    redis_wire_cut();
    do {
        unit_await_wish(op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(op, unit_now_ns());
    } while (latch_wants(status) && redis_moment_of(op) == moment);
    UNIT_CHECK(latch_wants(status));
    return status;
}

/* The server has done it, and nobody knows: it is asked until an answer comes. */
static void lost_answers_are_asked_for_until_they_come(void **state)
{
    static const redis_moment moments[] = {AT_POLLING, AT_CLAIMING};

    (void) state;
    for (int at = 0; at < 2; at++) {
        latch_lease *holder = redis_lease("r"), *lease;
        latch_status status = LATCH_WANT_IO;
        latch_op op;

        lease = begin_wait_on_wire(&op, holder, "");
        if (moments[at] == AT_CLAIMING) {
            unit_release(holder);
        }
        for (int lost = 0; lost < 3; lost++) {
            status = redis_wire_step_until(&op, status, moments[at]);
            UNIT_CHECK(status == LATCH_WANT_IO);
            status = lose_answer(&op, status, lost == 1 ? 3 : 0);
        }
        if (moments[at] == AT_POLLING) {
            unit_release(holder);
        }
        UNIT_CHECK(redis_wire_finish(&op, status) == LATCH_DONE && unit_held(lease));
        assert_int_equal(unit_redis_number("ZCARD r"), 2);
        redis_store_forget();
    }
}

/* It was granted, for a short time in the place of a long one; its answers were lost, and more. */
static void a_promotion_that_ended_unheard_leaves_no_reader(void **state)
{
    latch_lease *reader = redis_lease("r"), *other = redis_other_lease("r"), *lease;
    latch_store *store = redis_wire_open("");
    latch_status status;
    latch_op op;

    (void) state;
    lease = redis_lease_in(store, "r");
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_wire_finish(&op, unit_begin(&op, lease, redis_request(LATCH_ACQUIRE_SHARED)))
               == LATCH_DONE);
    status = unit_begin(&op, lease, redis_waiting(LATCH_ACQUIRE, 20, LATCH_NEVER));
    status = redis_wire_step_until(&op, status, AT_WAITING);
    UNIT_CHECK(status == LATCH_WANT_IO && unit_held(lease));
    unit_release(reader);
    for (int lost = 0; lost < 2; lost++) {
        status = redis_wire_step_until(&op, status, AT_CLAIMING);
        UNIT_CHECK(status == LATCH_WANT_IO);
        status = lose_answer(&op, status, 0);
    }
    UNIT_CHECK(unit_run_request(other, redis_wait_to_write()) == LATCH_DONE);
    status = redis_wire_step_until(&op, status, AT_WAITING);
    UNIT_CHECK(status == LATCH_WANT_IO && unit_held(other) && !unit_held(lease));
}

/* How ever often that happens. */
static void a_place_is_kept_until_the_subscription_is_made_anew(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease;
    latch_op op;

    (void) state;
    lease = begin_wait_on_wire(&op, holder, "");
    for (int round = 0; round < 2; round++) {
        int64_t step_ns;

        redis_wire_use(REDIS_MESSAGES);
        redis_wire_cut();
        UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_SUBSCRIBING) == LATCH_WANT_IO);
        redis_wire_accept();
        redis_wire_cut(); /* once more, before anything is answered */
        unit_await_grant(&op);
        step_ns = unit_now_ns();
        UNIT_CHECK(latch_op_step(&op, step_ns) == LATCH_WANT_TIMER);
        UNIT_CHECK(op.wake_ns
                   > step_ns + 20 * LATCH_NS_PER_MS); /* a server that is gone is let be */
        UNIT_CHECK(redis_wire_step_until(&op, LATCH_WANT_TIMER, AT_WAITING) == LATCH_WANT_IO);
        UNIT_CHECK(redis_count_waiters("r") == 1 && op.poll_ns == 0);
        unit.ahead_ns += 10 * LATCH_NS_PER_S;
    }
    unit_release(holder);
    UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

/* What it began to make, and cannot be told of, is forgotten. */
static void who_gives_up_while_it_subscribes_anew_is_told_the_next_time(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease;
    const redis_subscription *subscription;
    latch_status status = LATCH_WANT_IO;
    latch_op op;

    (void) state;
    lease = begin_wait_on_wire(&op, holder, "");
    subscription = &((redis_store *) lease->store)->subscription;
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_cut();
    while (subscription->call == NULL) { /* SUBSCRIBE is to be sent */
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
        UNIT_CHECK(latch_wants(status));
    }
    redis_wire_use(REDIS_COMMANDS);
    redis_wire_cut();
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    status = unit_begin(&op, lease, redis_wait_to_write());
    UNIT_CHECK(redis_wire_step_until(&op, status, AT_WAITING) == LATCH_WANT_IO && op.poll_ns == 0);
    unit_release(holder);
    UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

/* However long it takes to find that out: what counts is how long it could not be told. */
static void who_cannot_be_subscribed_again_polls_in_time(void **state)
{
    latch_op op;

    (void) state;
    begin_wait_on_wire(&op, redis_lease("r"), "?timeout=5&read_timeout=5");
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_cut();
    /* Now nobody answers. */
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_SUBSCRIBING) == LATCH_WANT_IO);
    unit.ahead_ns += 6 * LATCH_NS_PER_S;
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_TIMER);
    UNIT_CHECK(redis_moment_of(&op) == AT_PAUSING);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

static void who_hears_that_the_queue_was_lost_asks_once(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    unit_redis_ask("PUBLISH latch:requeue r");
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_ASKING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

/* A signal handler's, say, however often it comes. */
static void a_request_leaves_a_subscription_alone_that_another_makes(void **state)
{
    latch_store *store = redis_wire_open("");
    const redis_connection *connection = &((redis_store *) store)->subscription.connection;
    latch_lease *holder = redis_lease("r"), *lease = redis_lease_in(store, "r");
    latch_lease *other = redis_lease_in(store, "s");
    latch_status status, other_status;
    latch_op op, other_op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    status =
        redis_wire_step_until(&op, unit_begin(&op, lease, redis_wait_to_write()), AT_SUBSCRIBING);
    other_status = unit_begin(&other_op, other, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(connection->stage != REDIS_CLOSED);
    UNIT_CHECK(redis_wire_finish(&other_op, other_status) == LATCH_DONE);
    unit_release(holder);
    UNIT_CHECK(redis_wire_finish(&op, status) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(connection->established == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(a_request_leaves_a_subscription_alone_that_another_makes),
        REDIS_WAIT_TEST(a_place_is_kept_until_the_subscription_is_made_anew),
        REDIS_WAIT_TEST(who_gives_up_while_it_subscribes_anew_is_told_the_next_time),
        REDIS_WAIT_TEST(who_cannot_be_subscribed_again_polls_in_time),
        REDIS_WAIT_TEST(who_hears_that_the_queue_was_lost_asks_once),
        REDIS_WAIT_TEST(a_subscription_that_is_cut_is_made_anew_and_keeps_the_place),
        REDIS_WAIT_TEST(who_was_taken_for_dead_is_served_all_the_same),
        REDIS_WAIT_TEST(a_message_that_is_cut_is_none),
        REDIS_WAIT_TEST(a_message_that_never_comes_costs_no_more_than_the_safety_net),
        REDIS_WAIT_TEST(messages_about_other_waits_change_nothing),
        REDIS_WAIT_TEST(a_wait_does_not_need_its_connection_until_it_asks),
        REDIS_WAIT_TEST(lost_answers_are_asked_for_until_they_come),
        REDIS_WAIT_TEST(a_promotion_that_ended_unheard_leaves_no_reader),
    };

    return cmocka_run_group_tests_name("redis hand-off in trouble", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
