/*
 * Readers that want to write, and writers that go on reading, while others wait for the lock in
 * Redis: by the scripts, on a real server with real subscriptions.
 */
#include "redis_waiters.h"

#include <stdlib.h>

static waiter *a, *b, *c, *d;

/* a and b read; nobody waits yet. */
static void let_two_read(void)
{
    a = new_waiter("a");
    b = new_waiter("b");
    c = new_waiter("c");
    d = new_waiter("d");
    takes(a, 'r', "try");
    takes(b, 'r', "try");
}

/* ---- Promotion */

static void a_promotion_goes_before_all_who_wait_for_its_hold(void **state)
{
    verdict promoted;

    (void) state;
    let_two_read();
    is_placed(c, 'w', "wait", 0);
    is_placed(d, 'r', "wait", 1);
    assert_int_equal(is_placed(a, 'w', "wait", 0), SAFETY_MS);
    is_placed(c, 'w', "poll", 1);
    hears_first(a);
    UNIT_CHECK(give_up(b));
    hears_granted(a);
    assert_int_equal(hears_first(c), SAFETY_MS); /* if a does not claim it reads on */
    promoted = ask(a, 'w', "claim");
    UNIT_CHECK(promoted.outcome == TAKEN && promoted.fencing > 1);
    assert_int_equal(atoll(unit_redis_text("HGET " RECORD " a")), promoted.fencing);
    assert_int_equal(unit_redis_number("HLEN " RECORD), 1);
    UNIT_CHECK(give_up(a));
    hears_granted(c);
    hears_first(d);
}

static void late_claims_stand_behind_a_promotion(void **state)
{
    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    is_placed(c, 'w', "claim", 1);
    is_placed(d, 'w', "claim", 1);
    assert_int_equal(place_in_queue(a), 0);
    assert_int_equal(place_in_queue(c), 2);
}

/* Each would wait for the hold of the other. */
static void of_two_promotions_the_second_is_refused(void **state)
{
    verdict refused;

    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    unit_redis_snapshot();
    refused = ask(b, 'w', "wait");
    UNIT_CHECK(refused.outcome == PLACED && refused.place == -2 && refused.ms == 0);
    UNIT_CHECK(unit_redis_is_unchanged());
    hears_test(a); /* it was asked whether it lives */
    is_refused(b, 'w', "try");
    is_placed(a, 'w', "poll", 0);
    UNIT_CHECK(holds("a") && holds("b"));
}

static void a_dead_promoter_is_in_nobodys_way(void **state)
{
    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    die(a);
    is_placed(b, 'w', "wait", 0);
    assert_int_equal(queue_length(), 1);
    UNIT_CHECK(release("a"));
    hears_granted(b);
}

static void a_promoter_whose_hold_has_ended_stays_in_front(void **state)
{
    (void) state;
    let_two_read();
    unit_redis_ask("ZADD " LOCK " XX %lld a", (long long) clock_us / 1000 + 500);
    is_placed(a, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    pass_ms(500);
    is_placed(a, 'w', "poll", 0);
    UNIT_CHECK(!holds("a") && holds("b"));
    assert_int_equal(queue_length(), 2);
    UNIT_CHECK(give_up(b));
    hears_granted(a);
    assert_int_equal(expiry_of("a"), clock_us / 1000 + CLAIM_MS);
    takes(a, 'w', "claim");
    UNIT_CHECK(holds("a") && give_up(a));
    hears_first(c);
    hears_granted(c);
}

static void a_promoter_whose_hold_has_ended_takes_what_is_free(void **state)
{
    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    pass_ms(WAITER_TTL);
    takes(a, 'w', "poll");
    UNIT_CHECK(!holds("b") && !exists(QUEUE));
}

static void the_claim_window_leaves_the_readers_hold_as_it_was(void **state)
{
    int64_t expiry;

    (void) state;
    let_two_read();
    expiry = expiry_of("a");
    is_placed(a, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    UNIT_CHECK(give_up(b));
    hears_granted(a);
    assert_int_equal(expiry_of("a"), expiry);
    assert_int_equal(expiry_of("__write__"), clock_us / 1000 + CLAIM_MS);
    UNIT_CHECK(lock_expiry() == expiry && record_expiry() == expiry);
    pass_ms(CLAIM_MS);
    UNIT_CHECK(share("x", MINUTE)); /* and so has c */
    hears_first(c);
    hears_granted(c);
    UNIT_CHECK(holds("a") && holds("c") && expiry_of("__write__") == 0);
}

static void a_renewal_in_the_background_leaves_the_claim_window_as_it_is(void **state)
{
    int64_t window_end;

    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    UNIT_CHECK(give_up(b));
    hears_granted(a);
    window_end = expiry_of("__write__");
    assert_int_equal(extend("a", 10 * MINUTE), 1); /* a reader still */
    assert_int_equal(expiry_of("a"), clock_us / 1000 + 10 * MINUTE);
    assert_int_equal(expiry_of("__write__"), window_end);
    UNIT_CHECK(lock_expiry() == expiry_of("a") && record_expiry() == expiry_of("a"));
    takes(a, 'w', "claim");
    assert_int_equal(extend("a", 20 * MINUTE), 2);
    assert_int_equal(expiry_of("__write__"), clock_us / 1000 + 20 * MINUTE);
    assert_int_equal(expiry_of("a"), expiry_of("__write__"));
}

static void a_window_that_is_over_is_not_opened_by_a_renewal(void **state)
{
    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    UNIT_CHECK(give_up(b));
    hears_granted(a);
    pass_ms(CLAIM_MS);
    assert_int_equal(extend("a", 10 * MINUTE), 1);
    UNIT_CHECK(share("x", MINUTE));
    UNIT_CHECK(holds("a") && holds("x") && expiry_of("__write__") == 0);
}

static void the_claim_window_may_be_longer_than_the_readers_hold(void **state)
{
    (void) state;
    let_two_read();
    unit_redis_ask("ZADD " LOCK " XX %lld a", (long long) clock_us / 1000 + 500);
    is_placed(a, 'w', "wait", 0);
    UNIT_CHECK(give_up(b));
    hears_granted(a);
    assert_int_equal(expiry_of("a"), clock_us / 1000 + CLAIM_MS);
    assert_int_equal(expiry_of("__write__"), expiry_of("a"));
    assert_int_equal(lock_expiry(), expiry_of("a"));
}

static void a_promotion_that_is_claimed_too_late_is_in_front_again(void **state)
{
    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    UNIT_CHECK(give_up(b));
    hears_granted(a);
    pass_ms(CLAIM_MS);
    takes(c, 'r', "poll");
    is_placed(a, 'w', "claim", 0);
    is_placed(d, 'w', "claim", 1);
    UNIT_CHECK(give_up(c));
    hears_granted(a);
    takes(a, 'w', "claim");
}

static void a_lone_reader_does_not_wait_for_its_promotion(void **state)
{
    (void) state;
    let_two_read();
    is_placed(c, 'w', "wait", 0);
    UNIT_CHECK(give_up(b));
    hears_first(c);
    takes(a, 'w', "wait");
    UNIT_CHECK(expiry_of("__write__") == expiry_of("a") && place_in_queue(c) == 0);
}

/* It finds out by itself that the other reader's time is over. */
static void who_leaves_the_queue_by_a_promotion_tells_the_next(void **state)
{
    (void) state;
    let_two_read();
    unit_redis_ask("ZADD " LOCK " XX %lld b", (long long) clock_us / 1000 + 500);
    assert_int_equal(is_placed(a, 'w', "wait", 0), 500); /* not when its own hold ends */
    is_placed(c, 'w', "wait", 1);
    pass_ms(500);
    takes(a, 'w', "poll");
    assert_int_equal(hears_first(c), SAFETY_MS);
}

/* ---- Demotion */

static void a_demotion_lets_the_readers_in_that_wait(void **state)
{
    (void) state;
    let_two_read();
    UNIT_CHECK(give_up(b));
    takes(a, 'w', "try");
    is_placed(b, 'r', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    is_placed(d, 'w', "wait", 2);
    UNIT_CHECK(share("a", WAITER_TTL));
    hears_granted(b);
    hears_granted(c);
    UNIT_CHECK(hears_first(d) > 0);
    UNIT_CHECK(holds("a") && holds("b") && holds("c") && count_members() == 3);
    assert_string_equal(unit_redis_text("HGET " RECORD " a"), ""); /* no fencing token any more */
}

static void a_promotion_is_given_up_by_reading_on(void **state)
{
    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    takes(a, 'r', "try");
    assert_int_equal(place_in_queue(a), -1);
    hears_granted(c);
    UNIT_CHECK(holds("a") && holds("b"));
    hears_nothing(a);
}

static void a_granted_promotion_is_given_up_by_reading_on(void **state)
{
    (void) state;
    let_two_read();
    is_placed(a, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    UNIT_CHECK(give_up(b));
    takes(a, 'r', "try");
    hears_first(c);
    hears_granted(c);
    UNIT_CHECK(holds("a") && holds("c") && expiry_of("__write__") == 0);
}

/* ---- The record */

static void the_record_loses_what_is_nobodys(void **state)
{
    (void) state;
    let_two_read();
    UNIT_CHECK(symfony_side.release("b"));
    takes(c, 'r', "try");
    assert_int_equal(unit_redis_number("HEXISTS " RECORD " b"), 0);
    assert_int_equal(unit_redis_number("HLEN " RECORD), 2);
    UNIT_CHECK(symfony_side.release("c"));
    takes(a, 'w', "try");
    assert_int_equal(unit_redis_number("HLEN " RECORD), 1);
    UNIT_CHECK(symfony_side.release("a"));
    UNIT_CHECK(exists(RECORD));
    takes(b, 'r', "try");
    assert_int_equal(unit_redis_number("HLEN " RECORD), 1);
    UNIT_CHECK(symfony_side.release("b"));
    takes(c, 'w', "try");
    assert_int_equal(unit_redis_number("HLEN " RECORD), 1);
    UNIT_CHECK(give_up(c) && !exists(RECORD));
}

/* The key of one that peers have released, taken by them again: it must have a new token. */
static void a_fencing_token_that_others_have_passed_is_not_given_again(void **state)
{
    int64_t first, second;

    (void) state;
    first = acquire("w", WAITER_TTL);
    UNIT_CHECK(symfony_side.share("w", WAITER_TTL) && symfony_side.share("y", WAITER_TTL));
    UNIT_CHECK(symfony_side.release("w") && share("x", WAITER_TTL) && symfony_side.release("y"));
    second = acquire("x", WAITER_TTL);
    UNIT_CHECK(second > first);
    UNIT_CHECK(symfony_side.release("x") && symfony_side.acquire("w", WAITER_TTL));
    UNIT_CHECK(acquire("w", WAITER_TTL) > second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAITERS_TEST(a_promotion_goes_before_all_who_wait_for_its_hold),
        WAITERS_TEST(late_claims_stand_behind_a_promotion),
        WAITERS_TEST(of_two_promotions_the_second_is_refused),
        WAITERS_TEST(a_dead_promoter_is_in_nobodys_way),
        WAITERS_TEST(a_promoter_whose_hold_has_ended_stays_in_front),
        WAITERS_TEST(a_promoter_whose_hold_has_ended_takes_what_is_free),
        WAITERS_TEST(the_claim_window_leaves_the_readers_hold_as_it_was),
        WAITERS_TEST(a_renewal_in_the_background_leaves_the_claim_window_as_it_is),
        WAITERS_TEST(a_window_that_is_over_is_not_opened_by_a_renewal),
        WAITERS_TEST(the_claim_window_may_be_longer_than_the_readers_hold),
        WAITERS_TEST(a_promotion_that_is_claimed_too_late_is_in_front_again),
        WAITERS_TEST(a_lone_reader_does_not_wait_for_its_promotion),
        WAITERS_TEST(who_leaves_the_queue_by_a_promotion_tells_the_next),
        WAITERS_TEST(a_demotion_lets_the_readers_in_that_wait),
        WAITERS_TEST(a_promotion_is_given_up_by_reading_on),
        WAITERS_TEST(a_granted_promotion_is_given_up_by_reading_on),
        WAITERS_TEST(the_record_loses_what_is_nobodys),
        WAITERS_TEST(a_fencing_token_that_others_have_passed_is_not_given_again),
    };

    return cmocka_run_group_tests_name("redis promotion", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
