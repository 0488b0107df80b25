/*
 * The queue of a semaphore in Redis, by its scripts, on a real server with real subscriptions: the
 * rules are those of locks (test_redis_queue.c), with weights.
 */
#include "redis_permits.h"

static void waiters_are_served_in_their_order(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 1));
    assert_int_equal(is_placed_for_permits(b, 1, 1, "wait", 0), SAFETY_MS);
    assert_int_equal(is_placed_for_permits(c, 1, 1, "wait", 1), 2000);
    assert_int_equal(is_placed_for_permits(d, 1, 1, "check", 2), 4000);
    hears_test(d);
    UNIT_CHECK(release_permits("a"));
    hears_granted(b);
    hears_first(c);
    takes_permits(b, 1, 1, "claim");
    assert_int_equal(is_placed_for_permits(c, 1, 1, "poll", 0), SAFETY_MS);
    UNIT_CHECK(gives_permits_up(b, 1, 1));
    hears_granted(c);
    hears_first(d);
    takes_permits(c, 1, 1, "claim");
    UNIT_CHECK(release_permits("c"));
    hears_granted(d);
    takes_permits(d, 1, 1, "claim");
    UNIT_CHECK(release_permits("d"));
    UNIT_CHECK(unit_redis_number("DBSIZE") == 0);
}

static void one_release_serves_all_that_fit(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d"), *e = new_waiter("e");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 4, 5));
    UNIT_CHECK(take_permits_for("x", WAITER_TTL, 1, 5));
    is_placed_for_permits(b, 1, 5, "wait", 0);
    is_placed_for_permits(c, 2, 5, "wait", 1);
    is_placed_for_permits(d, 2, 5, "wait", 2); /* one too many */
    is_placed_for_permits(e, 1, 5, "wait", 3);
    UNIT_CHECK(release_permits("a"));
    hears_granted(b);
    hears_granted(c);
    hears_first(d);
    hears_nothing(e); /* it would fit, and overtakes nobody */
    assert_int_equal(permits_used(), 4);
    takes_permits(b, 1, 5, "claim");
    takes_permits(c, 2, 5, "claim");
    UNIT_CHECK(release_permits("x"));
    hears_granted(d);
    hears_first(e);
    takes_permits(d, 2, 5, "claim");
}

static void a_heavy_waiter_is_not_overtaken(void **state)
{
    waiter *heavy = new_waiter("heavy"), *light = new_waiter("light");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 3));
    is_placed_for_permits(heavy, 3, 3, "wait", 0);
    is_placed_for_permits(light, 1, 3, "wait", 1);
    UNIT_CHECK(!take_permits("b", 1, 3)); /* not by a try, either */
    assert_int_equal(permits_used(), 1);
    UNIT_CHECK(release_permits("a"));
    hears_granted(heavy);
    hears_first(light);
    takes_permits(heavy, 3, 3, "claim");
    UNIT_CHECK(release_permits("heavy"));
    hears_granted(light);
    takes_permits(light, 1, 3, "claim");
}

static void who_waits_is_served_when_a_heavy_waiter_gives_up(void **state)
{
    waiter *heavy = new_waiter("heavy"), *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 3));
    is_placed_for_permits(heavy, 3, 3, "wait", 0);
    is_placed_for_permits(b, 1, 3, "wait", 1);
    is_placed_for_permits(c, 1, 3, "wait", 2);
    UNIT_CHECK(!gives_permits_up(heavy, 3, 3));
    hears_granted(b);
    hears_granted(c);
    takes_permits(b, 1, 3, "claim");
    takes_permits(c, 1, 3, "claim");
    UNIT_CHECK(permit_queue_length() == 0);
}

/* Its answer was lost, say: all that is asked for is a state. */
static void who_asks_twice_waits_and_takes_once(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 2, 2));
    is_placed_for_permits(b, 1, 2, "wait", 0);
    is_placed_for_permits(c, 1, 2, "wait", 1);
    is_placed_for_permits(b, 1, 2, "wait", 0);
    is_placed_for_permits(c, 1, 2, "wait", 1);
    assert_int_equal(permit_queue_length(), 2);
    UNIT_CHECK(release_permits("a"));
    takes_permits(b, 1, 2, "claim");
    takes_permits(b, 1, 2, "claim");
    takes_permits(b, 1, 2, "wait");
    takes_permits(c, 1, 2, "poll");
    assert_int_equal(permits_used(), 2);
    UNIT_CHECK(gives_permits_up(b, 1, 2) && !gives_permits_up(b, 1, 2));
    assert_int_equal(permits_used(), 1);
}

/* Two processes with copies of one key. */
static void a_grant_leaves_a_hold_of_its_token_as_it_is(void **state)
{
    waiter *one = new_waiter("b"), *other = new_waiter("b");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 2));
    UNIT_CHECK(take_permits_for("c", WAITER_TTL, 1, 2));
    is_placed_for_permits(one, 1, 2, "wait", 0);
    is_placed_for_permits(other, 1, 2, "wait", 1);
    UNIT_CHECK(release_permits("a"));
    hears_granted(one);
    takes_permits(one, 1, 2, "claim");
    UNIT_CHECK(release_permits("c"));
    hears_first(other);
    hears_granted(other);
    UNIT_CHECK(permit_end_of("b") >= permit_now_s() + WAITER_TTL / 1000);
    UNIT_CHECK(strstr(unit_redis_text("HGET " PERMIT_RECORD " b"), HOLDER_INFO) != NULL);
    UNIT_CHECK(extend_permits("b", 2 * WAITER_TTL));
    takes_permits(other, 1, 2, "claim");
    assert_int_equal(permits_used(), 1);
}

static void a_dead_waiter_is_passed_over(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 1));
    is_placed_for_permits(b, 1, 1, "wait", 0);
    is_placed_for_permits(c, 1, 1, "wait", 1);
    die(b);
    UNIT_CHECK(release_permits("a"));
    hears_granted(c);
    assert_int_equal(permits_of("b"), 0);
    takes_permits(c, 1, 1, "claim");
    UNIT_CHECK(permit_queue_length() == 0);
}

static void a_dead_heavy_waiter_blocks_nobody_for_longer_than_a_request(void **state)
{
    waiter *heavy = new_waiter("heavy"), *b = new_waiter("b");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 3));
    is_placed_for_permits(heavy, 3, 3, "wait", 0);
    is_placed_for_permits(b, 1, 3, "wait", 1);
    die(heavy);
    UNIT_CHECK(take_permits("c", 1, 3)); /* whoever asks, b is served first */
    hears_granted(b);
    takes_permits(b, 1, 3, "claim");
    assert_int_equal(permits_used(), 3);
}

static void a_killed_holder_is_followed_when_its_time_is_over(void **state)
{
    waiter *b = new_waiter("b");
    int ms;

    (void) state;
    UNIT_CHECK(take_permits_for("a", 900, 1, 1));
    ms = is_placed_for_permits(b, 1, 1, "wait", 0);
    UNIT_CHECK(ms <= SAFETY_MS);
    pass_ms(1900);
    takes_permits(b, 1, 1, "poll");
    UNIT_CHECK(permit_queue_length() == 0);
}

static void whoever_renews_serves_who_waits_for_a_hold_that_has_ended(void **state)
{
    waiter *b = new_waiter("b");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 2));
    UNIT_CHECK(take_permits_for("c", 900, 1, 2));
    is_placed_for_permits(b, 1, 2, "wait", 0);
    pass_ms(1900);
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 2));
    hears_granted(b);
    takes_permits(b, 1, 2, "claim");
}

static void the_first_asks_when_the_next_hold_ends(void **state)
{
    waiter *b = new_waiter("b");

    (void) state;
    clock_us -= clock_us % 1000000;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 2));
    UNIT_CHECK(take_permits_for("c", 1000, 1, 2));
    assert_int_equal(is_placed_for_permits(b, 2, 2, "wait", 0), 1000);
    pass_ms(400);
    assert_int_equal(is_placed_for_permits(b, 2, 2, "poll", 0), 600);
    pass_ms(600);
    assert_int_equal(is_placed_for_permits(b, 2, 2, "poll", 0), SAFETY_MS);
}

static void who_comes_too_late_to_claim_is_first_again(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c"), *d = new_waiter("d");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 1));
    is_placed_for_permits(b, 1, 1, "wait", 0);
    is_placed_for_permits(c, 1, 1, "wait", 1);
    is_placed_for_permits(d, 1, 1, "wait", 2);
    UNIT_CHECK(release_permits("a"));
    hears_granted(b);
    hears_first(c);
    pass_ms(2000);
    is_placed_for_permits(d, 1, 1, "poll", 0); /* c is granted it */
    hears_granted(c);
    is_placed_for_permits(b, 1, 1, "claim", 0);
    takes_permits(c, 1, 1, "claim");
    UNIT_CHECK(release_permits("c"));
    hears_granted(b);
    takes_permits(b, 1, 1, "claim");
}

static void a_lost_queue_is_made_again(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");
    redisReply *reply;

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 1));
    is_placed_for_permits(b, 1, 1, "wait", 0);
    is_placed_for_permits(c, 1, 1, "wait", 1);
    unit_redis_ask("DEL " PERMIT_QUEUE);
    is_placed_for_permits(b, 1, 1, "poll", 0);
    assert_int_equal(redisGetReply(c->subscription, (void **) &reply), REDIS_OK);
    assert_string_equal(reply->element[1]->str, "latch:requeue");
    assert_string_equal(reply->element[2]->str, "{sem}"); /* as the engine calls it */
    freeReplyObject(reply);
    is_placed_for_permits(c, 1, 1, "wait", 1);
}

static void a_record_that_is_lost_costs_time_and_no_permits(void **state)
{
    waiter *b = new_waiter("b");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 2, 3));
    unit_redis_ask("DEL " PERMIT_RECORD);
    UNIT_CHECK(!take_permits("c", 2, 3));
    UNIT_CHECK(is_placed_for_permits(b, 2, 3, "wait", 0) <= 110); /* as behind a peer */
    UNIT_CHECK(refresh_permits("a", WAITER_TTL));
    UNIT_CHECK(take_permits("a", 2, 3)); /* now it is recorded again */
    assert_int_equal(is_placed_for_permits(b, 2, 3, "poll", 0), SAFETY_MS);
    UNIT_CHECK(release_permits("a"));
    hears_granted(b);
}

static void where_messages_are_not_allowed_nobody_queues(void **state)
{
    waiter *b = new_waiter("b");
    verdict answer;

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 1));
    die(b);
    answer = ask_for_permits(b, 1, 1, "check");
    UNIT_CHECK(answer.outcome == PLACED && answer.place == -1 && answer.ms == 1);
    UNIT_CHECK(permit_queue_length() == 0);
}

static void a_mute_client_gets_its_turn_while_permits_are_handed_over(void **state)
{
    waiter *mute = new_waiter("mute"), *all[3] = {new_waiter("b"), new_waiter("c"), NULL};
    bool has_had_it = false;

    (void) state;
    UNIT_CHECK(take_permits_for("b", WAITER_TTL, 1, 1));
    peers_word = "";
    is_placed_for_permits(all[1], 1, 1, "wait", 0);
    for (int turn = 0; turn < 60 && !has_had_it; turn++) {
        waiter *holder = all[turn % 2], *next = all[(turn + 1) % 2];

        peers_word = "mute";
        has_had_it = ask_for_permits(mute, 1, 1, "try").outcome == TAKEN;
        peers_word = "";
        if (!has_had_it) {
            pass_ms(50);
            UNIT_CHECK(release_permits(holder->token) || permits_of(next->token) == 0);
            holder->ticket++;
            ask_for_permits(holder, 1, 1, "wait");
            ask_for_permits(next, 1, 1, "poll");
        }
    }
    UNIT_CHECK(has_had_it);
    assert_int_equal(permits_used(), 1);
}

static void a_mute_client_does_not_overtake_a_heavy_waiter(void **state)
{
    waiter *mute = new_waiter("mute"), *heavy = new_waiter("heavy");

    (void) state;
    UNIT_CHECK(take_permits_for("a", WAITER_TTL, 1, 3));
    is_placed_for_permits(heavy, 3, 3, "wait", 0);
    peers_word = "mute";
    for (int turn = 0; turn < 60; turn++) {
        assert_int_equal(ask_for_permits(mute, 1, 3, "try").outcome, REFUSED);
        pass_ms(50);
    }
    UNIT_CHECK(release_permits("a"));
    peers_word = "";
    pass_ms(200); /* its turn is over */
    takes_permits(heavy, 3, 3, "poll");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PERMITS_TEST(waiters_are_served_in_their_order),
        PERMITS_TEST(one_release_serves_all_that_fit),
        PERMITS_TEST(a_heavy_waiter_is_not_overtaken),
        PERMITS_TEST(who_waits_is_served_when_a_heavy_waiter_gives_up),
        PERMITS_TEST(who_asks_twice_waits_and_takes_once),
        PERMITS_TEST(a_grant_leaves_a_hold_of_its_token_as_it_is),
        PERMITS_TEST(a_dead_waiter_is_passed_over),
        PERMITS_TEST(a_dead_heavy_waiter_blocks_nobody_for_longer_than_a_request),
        PERMITS_TEST(a_killed_holder_is_followed_when_its_time_is_over),
        PERMITS_TEST(whoever_renews_serves_who_waits_for_a_hold_that_has_ended),
        PERMITS_TEST(the_first_asks_when_the_next_hold_ends),
        PERMITS_TEST(who_comes_too_late_to_claim_is_first_again),
        PERMITS_TEST(a_lost_queue_is_made_again),
        PERMITS_TEST(a_record_that_is_lost_costs_time_and_no_permits),
        PERMITS_TEST(where_messages_are_not_allowed_nobody_queues),
        PERMITS_TEST(a_mute_client_gets_its_turn_while_permits_are_handed_over),
        PERMITS_TEST(a_mute_client_does_not_overtake_a_heavy_waiter),
    };

    return cmocka_run_group_tests_name("redis permit queue", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
