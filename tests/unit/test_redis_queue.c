/*
 * The queue of a lock in Redis, by its scripts, on a real server with real subscriptions: who is
 * served, in what order, and what those know who wait. docs/redis-queue.md has the rules.
 */
#include "redis_waiters.h"

/* ---- Order */

static void a_try_queues_nobody(void **state)
{
    waiter *b = new_waiter("b");

    (void) state;
    acquire("a", WAITER_TTL);
    is_refused(b, 'w', "try");
    is_refused(b, 'r', "try");
    UNIT_CHECK(!exists(QUEUE));
    hears_nothing(b);
}

static void who_waits_is_told_its_place_and_when_to_ask_again(void **state)
{
    waiter *b = new_waiter("b");

    (void) state;
    acquire("a", WAITER_TTL);
    assert_int_equal(is_placed(b, 'w', "wait", 0), SAFETY_MS);
    for (int place = 1; place < 35; place++) {
        b->ticket++;
        assert_int_equal(is_placed(b, place % 2 ? 'r' : 'w', "check", place),
                         place < 30 ? 2000 * place : 60000);
        UNIT_CHECK(unit_redis_number("PTTL " QUEUE) > 3 * MINUTE - 1000);
        UNIT_CHECK(unit_redis_number("PTTL " QUEUE) <= 3 * MINUTE);
    }
    assert_int_equal(is_placed(b, 'w', "poll", 34), 60000);
    b->ticket = 100;
    assert_int_equal(is_placed(b, 'w', "poll", 0), SAFETY_MS);
}

/* Its answer was lost, say: all that is asked for is a state. */
static void who_asks_twice_waits_once(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "check", 1);
    assert_int_equal(queue_length(), 2);
}

static void a_free_lock_is_taken_by_who_would_wait(void **state)
{
    static const char *const manners[] = {"wait", "check", "poll", "claim"};
    waiter *b = new_waiter("b");

    (void) state;
    for (size_t at = 0; at < sizeof(manners) / sizeof(manners[0]); at++) {
        takes(b, 'w', manners[at]);
        UNIT_CHECK(holds("b") && !exists(QUEUE) && give_up(b));
        takes(b, 'r', manners[at]);
        UNIT_CHECK(holds("b") && !exists(QUEUE) && give_up(b));
    }
    UNIT_CHECK(!exists(LOCK) && !exists(RECORD));
}

static void a_release_hands_the_lock_to_the_first(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d");
    int64_t fencing = acquire("a", WAITER_TTL);
    verdict claimed;

    (void) state;
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    is_placed(d, 'w', "wait", 2);
    UNIT_CHECK(release("a"));
    hears_granted(b);
    assert_int_equal(hears_first(c), CLAIM_MS);
    hears_nothing(d);
    UNIT_CHECK(holds("b") && count_members() == 2 && place_in_queue(b) == -1);
    assert_int_equal(expiry_of("b"), clock_us / 1000 + CLAIM_MS);
    assert_int_equal(expiry_of("__write__"), expiry_of("b"));
    assert_int_equal(lock_expiry(), expiry_of("b"));
    assert_string_equal(unit_redis_text("HGET " RECORD " b"), "");
    claimed = ask(b, 'w', "claim");
    UNIT_CHECK(claimed.outcome == TAKEN && claimed.fencing > fencing);
    assert_int_equal(expiry_of("b"), clock_us / 1000 + WAITER_TTL);
    assert_int_equal(expiry_of("__write__"), expiry_of("b"));
    assert_int_equal(ask(b, 'w', "claim").fencing, claimed.fencing);
    UNIT_CHECK(give_up(b));
    hears_granted(c);
    hears_first(d);
    UNIT_CHECK(give_up(c));
    hears_granted(d);
    UNIT_CHECK(give_up(d));
    assert_int_equal(unit_redis_number("DBSIZE"), 1); /* the counter */
}

static void a_try_overtakes_no_living_waiter(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", 1000);
    is_placed(b, 'w', "wait", 0);
    pass_ms(1000);
    is_refused(c, 'w', "try");
    hears_granted(b);
    takes(b, 'w', "claim");
    is_placed(c, 'r', "wait", 0);
    pass_ms(WAITER_TTL);
    b->ticket++;
    is_refused(b, 'w', "try");
    hears_granted(c);
}

static void who_comes_to_wait_does_not_overtake_either(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", 1000);
    is_placed(b, 'w', "wait", 0);
    pass_ms(1000);
    assert_int_equal(is_placed(c, 'w', "wait", 0), CLAIM_MS);
    hears_granted(b);
    pass_ms(CLAIM_MS);
    takes(c, 'w', "poll"); /* the claim window is over */
}

static void readers_in_a_row_are_served_together(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d"), *e = new_waiter("e");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'r', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    is_placed(d, 'w', "wait", 2);
    is_placed(e, 'r', "wait", 3);
    UNIT_CHECK(release("a"));
    hears_granted(b);
    hears_granted(c);
    assert_int_equal(hears_first(d), CLAIM_MS);
    hears_nothing(e);
    UNIT_CHECK(holds("b") && holds("c") && count_members() == 2);
    takes(b, 'r', "claim");
    takes(c, 'r', "claim");
    assert_int_equal(expiry_of("c"), clock_us / 1000 + WAITER_TTL);
    UNIT_CHECK(give_up(b));
    hears_first(d); /* what it waits for may end earlier now */
    UNIT_CHECK(give_up(c));
    hears_granted(d);
    hears_first(e);
    UNIT_CHECK(give_up(d));
    hears_granted(e);
}

static void a_reader_stands_behind_a_writer_that_waits(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    share("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    is_refused(c, 'r', "try"); /* and who tries waits no longer */
    assert_int_equal(place_in_queue(c), -1);
    hears_first(b);
    UNIT_CHECK(!share("d", WAITER_TTL)); /* who never waited is no news to the first */
    UNIT_CHECK(share("a", WAITER_TTL));  /* a hold is renewed all the same */
    UNIT_CHECK(!holds("c") && !holds("d"));
    hears_nothing(b);
}

static void a_reader_that_comes_takes_the_lock_with_those_that_wait(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", 1000);
    is_placed(b, 'r', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    pass_ms(1000);
    takes(b, 'r', "poll");
    hears_granted(c);
    UNIT_CHECK(share("d", WAITER_TTL));
    takes(c, 'r', "claim");
    assert_int_equal(count_members(), 3);
}

/* ---- The dead */

static void the_dead_are_passed_over(void **state)
{
    (void) state;
    for (int dead = 1; dead < 8; dead++) { /* a bit for each */
        waiter *waiters[3];
        int next = 0;

        redis_waiters_setup(state);
        acquire("a", WAITER_TTL);
        for (int at = 0; at < 3; at++) {
            static const char *const tokens[] = {"b", "c", "d"};

            waiters[at] = new_waiter(tokens[at]);
            is_placed(waiters[at], 'w', "wait", at);
        }
        for (int at = 0; at < 3; at++) {
            if (dead & 1 << at) {
                die(waiters[at]);
            }
        }
        UNIT_CHECK(release("a"));
        while (next < 3) {
            if (dead & 1 << next) {
                next++;
                continue;
            }
            hears_granted_at_last(waiters[next]);
            UNIT_CHECK(give_up(waiters[next++]));
        }
        UNIT_CHECK(!exists(LOCK) && !exists(QUEUE) && !exists(RECORD));
        redis_waiters_teardown(state);
    }
}

static void a_dead_first_is_found_out_by_who_asks(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    die(b);
    assert_int_equal(is_placed(c, 'w', "poll", 0), SAFETY_MS);
    assert_int_equal(queue_length(), 1);
}

static void a_dead_writer_keeps_no_reader_out(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    share("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    die(b);
    takes(c, 'r', "try");
    UNIT_CHECK(!exists(QUEUE));
}

static void a_dead_waiter_keeps_nobody_from_a_free_lock(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        acquire("a", 1000);
        is_placed(b, 'w', "wait", 0);
        pass_ms(1000);
        die(b);
        takes(c, *mode, "try");
        UNIT_CHECK(!exists(QUEUE) && give_up(c));
        b = new_waiter("b");
    }
}

/* The next one is told by whoever finds out that the first is gone. */
static void who_becomes_the_first_by_a_death_is_told(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    is_placed(d, 'w', "wait", 2);
    die(b);
    is_placed(d, 'w', "poll", 1);
    assert_int_equal(hears_first(c), SAFETY_MS);
    assert_int_equal(queue_length(), 2);
}

/* Somebody else listens to a channel of the dead, or listens to all: no more than time is lost. */
static void foreign_listeners_make_nobody_live_for_long(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");
    waiter *spy = new_waiter_on("spy", 3, b->channel);
    redisContext *monitor = unit_redis_connect();

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    freeReplyObject(redisCommand(monitor, "PSUBSCRIBE *"));
    redisFree(b->subscription);
    b->subscription = NULL;
    UNIT_CHECK(release("a"));
    assert_int_equal(hears_first(c), CLAIM_MS);
    pass_ms(CLAIM_MS);
    takes(c, 'w', "poll");
    b->ticket++;
    is_placed(b, 'w', "wait", 0);
    die(spy);
    UNIT_CHECK(give_up(c));
    UNIT_CHECK(!exists(LOCK) && !exists(QUEUE)); /* patterns do not count */
    redisFree(monitor);
}

/* ---- Late and lost */

static void who_claims_too_late_stands_in_front(void **state)
{
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d");

        acquire("a", WAITER_TTL);
        is_placed(b, *mode, "wait", 0);
        is_placed(c, 'w', "wait", 1);
        is_placed(d, 'w', "wait", 2);
        UNIT_CHECK(release("a"));
        pass_ms(CLAIM_MS);
        takes(c, 'w', "poll");
        is_placed(b, *mode, "claim", 0);
        assert_int_equal(place_in_queue(d), 1);
        UNIT_CHECK(give_up(c));
        hears_granted(b);
        hears_granted(b);
        takes(b, *mode, "claim");
        UNIT_CHECK(give_up(b) && give_up(d));
        UNIT_CHECK(!exists(LOCK));
        redis_waiters_teardown(state);
    }
}

static void who_claims_too_late_has_a_lock_that_is_free(void **state)
{
    waiter *b = new_waiter("b");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    UNIT_CHECK(release("a"));
    pass_ms(CLAIM_MS);
    takes(b, 'w', "claim");
    UNIT_CHECK(holds("b") && !exists(QUEUE));
}

/* It asks before it has read that it was granted. */
static void a_poll_claims_as_well(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    UNIT_CHECK(release("a"));
    takes(b, 'w', "poll");
    assert_int_equal(expiry_of("b"), clock_us / 1000 + WAITER_TTL);
    UNIT_CHECK(give_up(b));
    takes(c, 'r', "wait"); /* after a reconnection */
}

static void who_is_lost_from_the_queue_tells_the_others(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    unit_redis_ask("DEL " QUEUE);
    is_placed(c, 'r', "poll", 0);
    hears_requeue(b);
    hears_requeue(c);
    is_placed(b, 'w', "wait", 1);
    hears_nothing(b);
    UNIT_CHECK(release("a"));
    hears_granted(c);
}

static void who_waited_and_finds_nothing_tells_the_others(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        takes(b, *mode, "poll");
        hears_requeue(b);
        hears_requeue(c);
        UNIT_CHECK(give_up(b));
    }
}

/* ---- It gives up */

static void who_gives_up_hands_its_place_on(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d");

    (void) state;
    share("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    is_placed(d, 'w', "wait", 2);
    UNIT_CHECK(!give_up(b));
    hears_granted(c);
    hears_first(d);
    UNIT_CHECK(!give_up(d));
    hears_nothing(d);
    UNIT_CHECK(!exists(QUEUE) && holds("a") && holds("c"));
}

static void who_gives_up_what_it_was_granted_hands_it_on(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    UNIT_CHECK(release("a"));
    UNIT_CHECK(give_up(b)); /* before or after it has heard of it */
    hears_first(c);
    hears_granted(c);
    UNIT_CHECK(holds("c"));
}

/* The key was handed over: by its token another process may hold. */
static void who_leaves_the_queue_may_keep_its_hold(void **state)
{
    waiter *a = new_waiter("a"), *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    takes(a, 'r', "try");
    takes(b, 'r', "try");
    is_placed(a, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    leave_queue(a);
    hears_granted(c);
    UNIT_CHECK(holds("a") && holds("b") && !exists(QUEUE));
}

static void a_release_by_who_does_not_hold_repairs_alone(void **state)
{
    waiter *b = new_waiter("b");

    (void) state;
    acquire("a", 1000);
    is_placed(b, 'w', "wait", 0);
    unit_redis_snapshot();
    UNIT_CHECK(!release("x"));
    UNIT_CHECK(unit_redis_is_unchanged());
    hears_nothing(b);
    pass_ms(1000);
    UNIT_CHECK(!release("x"));
    hears_granted(b);
}

/* ---- Any bytes */

static void tokens_and_channels_are_any_bytes(void **state)
{
    static const char odd[] = "1 2 r\0 3";
    char longest[64];
    waiter *a, *b, *c;

    (void) state;
    memset(longest, '7', 63);
    longest[63] = '\0';
    a = new_waiter_on(odd, sizeof(odd) - 1, "my app:latch:wake:1 2");
    b = new_waiter_on(longest, 63, "9 channel");
    c = new_waiter_on("12 ", 3, " ");
    acquire("a", WAITER_TTL);
    is_placed(a, 'w', "check", 0);
    is_placed(b, 'r', "check", 1);
    is_placed(c, 'w', "check", 2);
    UNIT_CHECK(release("a"));
    for (waiter **next = (waiter *[]){a, b, c, NULL}; *next != NULL; next++) {
        hears_test(*next);
        hears_granted_at_last(*next);
        UNIT_CHECK(give_up(*next));
    }
    UNIT_CHECK(!exists(LOCK));
}

static void locks_are_any_bytes(void **state)
{
    static const char *const names[] = {"a b\0 c", "\xff\xfe latch", "{1} \r\n 2"};
    static const size_t lengths[] = {6, 8, 9};

    for (size_t at = 0; at < 3; at++) {
        waiter *a = new_waiter("a"), *b = new_waiter("b");

        use_lock(names[at], lengths[at]);
        takes(a, 'w', "try");
        is_placed(b, 'w', "wait", 0);
        UNIT_CHECK(give_up(a));
        hears_granted(b);
        UNIT_CHECK(unit_redis_number("ZCARD %b", names[at], lengths[at]) == 2);
        takes(b, 'w', "claim");
        UNIT_CHECK(give_up(b));
        assert_int_equal(unit_redis_number("DBSIZE"), 1);
        redis_waiters_teardown(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAITERS_TEST(a_try_queues_nobody),
        WAITERS_TEST(who_waits_is_told_its_place_and_when_to_ask_again),
        WAITERS_TEST(who_asks_twice_waits_once),
        WAITERS_TEST(a_free_lock_is_taken_by_who_would_wait),
        WAITERS_TEST(a_release_hands_the_lock_to_the_first),
        WAITERS_TEST(a_try_overtakes_no_living_waiter),
        WAITERS_TEST(who_comes_to_wait_does_not_overtake_either),
        WAITERS_TEST(readers_in_a_row_are_served_together),
        WAITERS_TEST(a_reader_stands_behind_a_writer_that_waits),
        WAITERS_TEST(a_reader_that_comes_takes_the_lock_with_those_that_wait),
        WAITERS_TEST(the_dead_are_passed_over),
        WAITERS_TEST(a_dead_first_is_found_out_by_who_asks),
        WAITERS_TEST(a_dead_writer_keeps_no_reader_out),
        WAITERS_TEST(a_dead_waiter_keeps_nobody_from_a_free_lock),
        WAITERS_TEST(who_becomes_the_first_by_a_death_is_told),
        WAITERS_TEST(foreign_listeners_make_nobody_live_for_long),
        WAITERS_TEST(who_claims_too_late_stands_in_front),
        WAITERS_TEST(who_claims_too_late_has_a_lock_that_is_free),
        WAITERS_TEST(a_poll_claims_as_well),
        WAITERS_TEST(who_is_lost_from_the_queue_tells_the_others),
        WAITERS_TEST(who_waited_and_finds_nothing_tells_the_others),
        WAITERS_TEST(who_gives_up_hands_its_place_on),
        WAITERS_TEST(who_gives_up_what_it_was_granted_hands_it_on),
        WAITERS_TEST(who_leaves_the_queue_may_keep_its_hold),
        WAITERS_TEST(a_release_by_who_does_not_hold_repairs_alone),
        WAITERS_TEST(tokens_and_channels_are_any_bytes),
        WAITERS_TEST(locks_are_any_bytes),
    };

    return cmocka_run_group_tests_name("redis queue", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
