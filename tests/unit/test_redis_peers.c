/*
 * Those who poll beside those who are told: Symfony's store in PHP, and our own clients where
 * messages are not allowed or not to be had. Nobody is starved, and nobody fails because of it.
 */
#include "redis_sides.h"
#include "redis_store.h"

#include "src/store/redis/lock/redis.h"

/* What is kept for peers may stay behind the last one who waits, but not for ever. */
static void forget_peers(void)
{
    long long left_ms = unit_redis_number("PTTL latch:peers:" LOCK);

    UNIT_CHECK(left_ms == -2 || (left_ms > 0 && left_ms <= MINUTE));
    unit_redis_ask("DEL latch:peers:" LOCK);
}

/* ---- A lock that goes from one to the other */

typedef struct pair {
    latch_lease *leases[2];
    int holder;
} pair;

static pair begin_relay(const char *options)
{
    pair relay = {.holder = 0};

    for (int at = 0; at < 2; at++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d%s", unit_redis.port, options);

        relay.leases[at] = redis_lease_in(store, LOCK);
    }
    UNIT_CHECK(redis_run(relay.leases[0], LATCH_ACQUIRE) == LATCH_DONE);
    return relay;
}

/*
 * Hands the lock over once, and looks before each step whether it was to be had meanwhile by who is
 * no part of this; true then, and the lock goes on afterwards.
 */
static bool hand_over(pair *relay, bool (*takes)(void *context), void *context)
{
    latch_lease *next = relay->leases[1 - relay->holder];
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;
    latch_status status = LATCH_WANT_IO;
    bool taken = false;
    latch_op op;

    redis_begin_wait(&op, next, redis_wait_to_write());
    UNIT_CHECK(!takes(context));
    unit_release(relay->leases[relay->holder]);
    while (latch_wants(status)) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        taken = taken || takes(context);
        if (unit_is_due(&op, status)) {
            status = latch_op_step(&op, unit_now_ns());
        }
    }
    UNIT_CHECK(status == LATCH_DONE && unit_held(next));
    relay->holder = 1 - relay->holder;
    return taken;
}

/* ---- Symfony's store */

static bool symfony_takes(void *context)
{
    (void) context;
    return symfony_side.acquire("peer", MINUTE) && symfony_side.release("peer");
}

/* Does it get the lock while two of ours hand it to each other for so long? */
static bool is_symfony_served(const char *options, int64_t longest_ns)
{
    pair relay = begin_relay(options);
    int64_t limit_ns = unit_now_ns() + longest_ns;

    while (unit_now_ns() < limit_ns) {
        if (hand_over(&relay, symfony_takes, NULL)) {
            return true;
        }
    }
    return false;
}

static void peers_get_the_lock_where_there_are_some(void **state)
{
    (void) state;
    UNIT_CHECK(is_symfony_served("?peers=yes", UNIT_TIMEOUT_NS));
    redis_store_forget();
    UNIT_CHECK(symfony_side.acquire("peer", MINUTE)); /* now the server knows its script */
    UNIT_CHECK(symfony_side.release("peer"));
    UNIT_CHECK(is_symfony_served("", UNIT_TIMEOUT_NS));
    forget_peers();
}

static void a_lock_is_never_free_where_there_shall_be_no_peers(void **state)
{
    (void) state;
    UNIT_CHECK(!is_symfony_served("?peers=no", 2500 * LATCH_NS_PER_MS));
    assert_int_equal(unit_redis_number("EXISTS latch:peers:" LOCK), 0);
}

/* Does a wait keep something for peers, when it has asked twice? */
static bool expects_peers_in(latch_store *store)
{
    latch_lease *holder = redis_lease(LOCK), *lease = redis_lease_in(store, LOCK);
    bool expects;
    latch_op op;

    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    UNIT_CHECK(redis_step_until(&op, latch_op_step(&op, op.wake_ns), AT_POLLING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    expects = unit_redis_number("EXISTS latch:peers:" LOCK) == 1;
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(lease);
    forget_peers();
    return expects;
}

static bool expects_peers(const char *options)
{
    return expects_peers_in(redis_open("redis://127.0.0.1:%d%s", unit_redis.port, options));
}

static void peers_that_have_gone_are_forgotten(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);

    (void) state;
    UNIT_CHECK(symfony_side.acquire("peer", MINUTE) && symfony_side.release("peer"));
    UNIT_CHECK(expects_peers_in(store));
    unit_redis_ask("SCRIPT FLUSH");
    unit.ahead_ns += 5 * LATCH_NS_PER_S;
    expects_peers_in(store); /* asks, and is told after its wait was sent */
    UNIT_CHECK(!expects_peers_in(store));
}

/* Each script of Symfony's that takes a lock or gives it back is known by its digest. */
static void symfony_is_known_by_its_scripts(void **state)
{
    (void) state;
    UNIT_CHECK(!expects_peers(""));
    for (int script = 0; script < 3; script++) {
        redis_store_forget();
        unit_redis_ask("SCRIPT FLUSH");
        if (script == 0) {
            UNIT_CHECK(symfony_side.acquire("peer", 1));
        } else if (script == 1) {
            UNIT_CHECK(symfony_side.share("peer", 1));
        } else {
            UNIT_CHECK(!symfony_side.release("peer"));
        }
        unit_redis_ask("DEL " LOCK);
        UNIT_CHECK(expects_peers(""));
        redis_store_forget();
        UNIT_CHECK(!expects_peers("?peers=no"));
    }
    unit_redis_ask("SCRIPT FLUSH");
    redis_store_forget();
    UNIT_CHECK(expects_peers("?peers=yes"));
}

/* Waits so often in the store; how often was the server asked for peers? */
static long long count_questions(latch_store *store, int waits)
{
    latch_lease *holder = redis_lease(LOCK), *lease = redis_lease_in(store, LOCK);
    latch_op op;

    redis_forget_calls();
    for (int at = 0; at < waits; at++) {
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&op, lease, redis_wait_to_write());
        unit_release(holder);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(lease);
    }
    return redis_count_calls("script|exists");
}

static void the_server_is_asked_for_peers_now_and_then(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);

    (void) state;
    assert_in_range(count_questions(store, 20), 1, 5);
    unit.ahead_ns += 5 * LATCH_NS_PER_S; /* it is after 4 s at the latest */
    assert_in_range(count_questions(store, 20), 1, 5);
    store = redis_open("redis://127.0.0.1:%d?peers=yes", unit_redis.port);
    assert_int_equal(count_questions(store, 2), 0);
    unit_redis_ask("DEL latch:peers:" LOCK); /* it outlives breaks that are short */
    store = redis_open("redis://127.0.0.1:%d?peers=no", unit_redis.port);
    assert_int_equal(count_questions(store, 2), 0);
}

/* How often does who waits behind another ask for peers? */
static long long count_questions_behind(latch_lease *holder, latch_lease *first,
                                        latch_lease *second)
{
    latch_op first_op, second_op;

    redis_forget_calls();
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&first_op, first, redis_wait_to_write());
    redis_begin_wait(&second_op, second, redis_wait_to_write());
    unit_release(holder);
    UNIT_CHECK(redis_finish_outer(&first_op) == LATCH_DONE);
    unit_release(first);
    UNIT_CHECK(redis_finish_outer(&second_op) == LATCH_DONE);
    unit_release(second);
    return redis_count_calls("script|exists");
}

/* All who wait share the questions: who stands behind one other asks half as often. */
static void the_more_wait_the_more_seldom_each_asks_for_peers(void **state)
{
    latch_store *silent = redis_open("redis://127.0.0.1:%d?peers=no", unit_redis.port);
    latch_lease *holder = redis_lease_in(silent, LOCK), *first = redis_lease_in(silent, LOCK);
    latch_lease *second = redis_lease(LOCK);

    (void) state;
    assert_int_equal(count_questions_behind(holder, first, second), 1);
    unit.ahead_ns += 5 * LATCH_NS_PER_S;
    unit.random_broken = true; /* the mean, from now on: 4 s */
    assert_int_equal(count_questions_behind(holder, first, second), 1);
    unit.ahead_ns += 3 * LATCH_NS_PER_S;
    assert_int_equal(count_questions_behind(holder, first, second), 0);
    unit.ahead_ns += 3 * LATCH_NS_PER_S;
    assert_int_equal(count_questions_behind(holder, first, second), 1);
}

/* That it must not be asked is no reason to fail. */
static void a_server_that_tells_nothing_of_its_scripts_has_no_peers(void **state)
{
    (void) state;
    if (unit_redis_is_before(7, 0)) {
        skip(); /* a part of a command cannot be forbidden */
    }
    unit_redis_ask("ACL SETUSER default -script|exists");
    UNIT_CHECK(!expects_peers(""));
}

/* ---- Where messages are not to be had */

static void a_wait_without_messages_is_a_poll(void **state)
{
    static const char *const rules[] = {"-publish",
                                        "-subscribe",
                                        "-@pubsub",
                                        "resetchannels",
                                        "resetchannels &latch:requeue",
                                        "resetchannels &latch:wake:*"};

    (void) state;
    for (size_t at = 0; at < sizeof(rules) / sizeof(rules[0]); at++) {
        latch_lease *holder, *lease;
        latch_store *store;
        latch_op op;

        if (strstr(rules[at], "resetchannels") != NULL && unit_redis_is_before(6, 2)) {
            break; /* all may use all channels */
        }
        unit_redis_let_tester(rules[at]);
        store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);
        holder = redis_lease_in(store, "r");
        lease = redis_lease_in(store, "r");
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(redis_step_until(&op, unit_begin(&op, lease, redis_wait_to_write()), AT_PAUSING)
                   == LATCH_WANT_TIMER);
        UNIT_CHECK(op.waiting && redis_count_waiters("r") == 0);
        UNIT_CHECK(op.wake_ns <= unit_now_ns() + 110 * LATCH_NS_PER_MS);
        /* That is known for a minute. */
        UNIT_CHECK(
            latch_redis_has_no_pubsub(&((redis_store *) store)->subscription, unit_now_ns()));
        redis_forget_calls();
        unit.ahead_ns += 55 * LATCH_NS_PER_S;
        UNIT_CHECK(redis_step_until(&op, latch_op_step(&op, unit_now_ns()), AT_PAUSING)
                   == LATCH_WANT_TIMER);
        UNIT_CHECK(redis_count_calls("evalsha") > 0 && redis_count_calls("subscribe") == 0);
        unit_release(holder);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_TIMER) == LATCH_DONE && unit_held(lease));
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_CONFLICT);
        /* By and by it is looked whether they are allowed now. */
        unit_redis_let_tester("");
        unit_release(lease);
        unit.ahead_ns += 61 * LATCH_NS_PER_S;
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&op, lease, redis_wait_to_write());
        unit_release(holder);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(lease);
        redis_expect_nothing_left();
        redis_store_forget();
    }
}

/* Who finds a lock free does not learn whether messages reach it. */
static void a_lock_that_was_free_meanwhile_says_nothing_of_messages(void **state)
{
    latch_store *store;
    latch_lease *one, *two;
    latch_status status;
    latch_op op;

    (void) state;
    unit_redis_let_tester("-publish");
    store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);
    one = redis_lease_in(store, "r");
    two = redis_lease_in(store, "r");
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    status = redis_step_until(&op, unit_begin(&op, two, redis_wait_to_write()), AT_SUBSCRIBING);
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    UNIT_CHECK(redis_step_until(&op, unit_begin(&op, one, redis_wait_to_write()), AT_PAUSING)
               == LATCH_WANT_TIMER);
    UNIT_CHECK(redis_count_waiters("r") == 0);
    unit_release(two);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_TIMER) == LATCH_DONE && unit_held(one));
}

/* While somebody waits already, who cannot be told any more. */
static void messages_that_are_forbidden_later_stop_nobody(void **state)
{
    static const char *const rules[] = {"-publish", "-subscribe", "-@pubsub"};

    (void) state;
    for (size_t at = 0; at < sizeof(rules) / sizeof(rules[0]); at++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
        latch_store *other = redis_open("redis://127.0.0.1:%d", unit_redis.port);
        latch_lease *holder = redis_lease("r"), *one = redis_lease_in(store, "r");
        latch_lease *two = redis_lease_in(other, "r");
        char rule[64];
        latch_op one_op, two_op;

        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        redis_begin_wait(&one_op, one, redis_wait_to_write());
        redis_begin_wait(&two_op, two, redis_wait_to_write());
        snprintf(rule, sizeof(rule), "ACL SETUSER default %s", rules[at]);
        unit_redis_ask(rule);
        unit_redis_ask("CLIENT KILL TYPE pubsub");
        unit_release(holder);
        UNIT_CHECK(redis_finish_outer(&one_op) == LATCH_DONE);
        unit_release(one);
        UNIT_CHECK(redis_finish_outer(&two_op) == LATCH_DONE);
        unit_release(two);
        redis_expect_nothing_left();
        unit_redis_let_default();
        redis_store_forget();
    }
}

/* The second connection is one too many. */
static void a_wait_where_no_second_connection_is_to_be_had_is_a_poll(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    const redis_subscription *subscription = &((redis_store *) lease->store)->subscription;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT); /* connected */
    for (int round = 0; round < 2; round++) {
        unit_redis_ask("CONFIG SET maxclients 1");
        UNIT_CHECK(redis_step_until(&op, unit_begin(&op, lease, redis_wait_to_write()), AT_PAUSING)
                   == LATCH_WANT_TIMER);
        UNIT_CHECK(redis_count_waiters("r") == 0);
        /* Once it was to be had, that it is not is no habit. */
        UNIT_CHECK(!latch_redis_has_no_pubsub(subscription, unit_now_ns()));
        unit_release(holder);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_TIMER) == LATCH_DONE && unit_held(lease));
        unit_redis_ask("CONFIG SET maxclients 1000");
        unit_release(lease);
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        unit.ahead_ns += 2 * LATCH_NS_PER_S;
        redis_begin_wait(&op, lease, redis_wait_to_write());
        unit_release(holder);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
        unit_release(lease);
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        unit_redis_ask("CLIENT KILL TYPE pubsub");
    }
}

/* ---- Who polls is not starved by those who are told */

typedef struct polling {
    latch_op op;
    latch_lease *lease;
    latch_status status;
} polling;

static bool poller_takes(void *context)
{
    polling *poller = context;

    if (latch_wants(poller->status) && unit_is_due(&poller->op, poller->status)) {
        poller->status = latch_op_step(&poller->op, unit_now_ns());
        if (poller->status == LATCH_DONE) {
            UNIT_CHECK(unit_held(poller->lease));
            unit_release(poller->lease);
            return true;
        }
    }
    return false;
}

static void one_of_ours_that_polls_gets_the_lock_too(void **state)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;
    pair relay = begin_relay("");
    latch_store *store;
    polling poller;

    (void) state;
    unit_redis_let_tester("-publish");
    store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);
    poller.lease = redis_lease_in(store, LOCK);
    poller.status = unit_begin(&poller.op, poller.lease, redis_wait_to_write());
    while (!hand_over(&relay, poller_takes, &poller)) {
        if (!latch_wants(poller.status)) {
            print_message("status %d: %s\n", poller.status, unit.error.message);
        }
        UNIT_CHECK(unit_now_ns() < limit_ns && latch_wants(poller.status));
    }
    unit_release(relay.leases[relay.holder]);
    forget_peers();
}

/* ---- Who listens to everything is no waiter */

static void wait_and_be_killed(unit_process *self, void *argument)
{
    latch_lease *lease = redis_other_lease("r");
    latch_op op;

    (void) argument;
    unit.random_state += 1;
    redis_begin_wait(&op, lease, redis_wait_to_write());
    unit_say(self, 'w');
    unit_hear(self);
}

static void a_dead_waiter_is_skipped_though_somebody_listens_to_all_channels(void **state)
{
    redisContext *monitor = unit_redis_connect();
    latch_lease *holder = redis_lease("r"), *lease;
    unit_process child;

    (void) state;
    freeReplyObject(redisCommand(monitor, "PSUBSCRIBE *"));
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(wait_and_be_killed, NULL);
    unit_expect(&child, 'w');
    unit_kill(&child);
    UNIT_AWAIT(unit_redis_ask("PUBSUB CHANNELS latch:wake:*")->elements == 0);
    assert_int_equal(redis_count_waiters("r"), 1);
    unit_release(holder);
    lease = redis_other_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_expect_nothing_left();
    redisFree(monitor);
}

/* As if the second connection led to another server: it is subscribed there, and heard here by
 * nobody. */
static void who_is_subscribed_elsewhere_polls_as_a_peer(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    redis_subscription *subscription = &((redis_store *) lease->store)->subscription;
    latch_status status;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    status = unit_begin(&op, lease, redis_wait_to_write());
    for (int round = 0; round < 6; round++) {
        int64_t pause_s = round < 4 ? 1 << round : 10;

        status = redis_step_until(&op, status, AT_SUBSCRIBING);
        while (subscription->call == NULL) { /* it is being connected */
            unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
            status = latch_op_step(&op, unit_now_ns());
        }
        subscription->channel[strlen(subscription->channel) - 1] ^= 1;
        status = redis_step_until(&op, status, AT_PAUSING);
        UNIT_CHECK(latch_wants(status) && !latch_redis_is_subscribed(subscription));
        /* Once may be by chance. */
        UNIT_CHECK(latch_redis_has_no_pubsub(subscription, unit_now_ns()) == (round > 0));
        UNIT_CHECK(subscription->retry_ns <= unit_now_ns() + pause_s * LATCH_NS_PER_S);
        unit.ahead_ns += pause_s * LATCH_NS_PER_S;
    }
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(peers_get_the_lock_where_there_are_some),
        REDIS_WAIT_TEST(a_lock_is_never_free_where_there_shall_be_no_peers),
        REDIS_WAIT_TEST(symfony_is_known_by_its_scripts),
        REDIS_WAIT_TEST(peers_that_have_gone_are_forgotten),
        REDIS_WAIT_TEST(the_server_is_asked_for_peers_now_and_then),
        REDIS_WAIT_TEST(the_more_wait_the_more_seldom_each_asks_for_peers),
        REDIS_WAIT_TEST(a_server_that_tells_nothing_of_its_scripts_has_no_peers),
        REDIS_WAIT_TEST(a_wait_without_messages_is_a_poll),
        REDIS_WAIT_TEST(a_lock_that_was_free_meanwhile_says_nothing_of_messages),
        REDIS_WAIT_TEST(messages_that_are_forbidden_later_stop_nobody),
        REDIS_WAIT_TEST(a_wait_where_no_second_connection_is_to_be_had_is_a_poll),
        REDIS_WAIT_TEST(who_is_subscribed_elsewhere_polls_as_a_peer),
        REDIS_WAIT_TEST(one_of_ours_that_polls_gets_the_lock_too),
        REDIS_WAIT_TEST(a_dead_waiter_is_skipped_though_somebody_listens_to_all_channels),
    };

    return cmocka_run_group_tests_name("redis and those who poll", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
