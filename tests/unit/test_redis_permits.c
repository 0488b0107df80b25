/* The Lua scripts of semaphores by themselves, on a real server: every path of each. */
#include "redis_permits.h"

#include "redis_scripts.h"

#include <stdlib.h>

#define MOST LATCH_PERMITS_MAX

static void nothing_is_left(void)
{
    UNIT_CHECK(unit_redis_number("DBSIZE") == 0);
}

/* ---- Acquire */

static void permits_are_taken_with_all_that_belongs_to_them(void **state)
{
    int64_t end_s;

    (void) state;
    clock_us += 250000 - clock_us % 1000000;
    end_s = permit_now_s() + 61; /* rounded up */
    UNIT_CHECK(take_permits("a", 2, 5));
    assert_int_equal(permits_of("a"), 2);
    assert_int_equal(permit_end_of("a"), end_s);
    assert_string_equal(unit_redis_text("HGET " PERMIT_RECORD " a"), "5");
    assert_int_equal(unit_redis_expiry_of(PERMIT_WEIGHTS), end_s * 1000 + 10500);
    assert_int_equal(unit_redis_expiry_of(PERMIT_TIMES), end_s * 1000 + 10500);
    assert_int_equal(unit_redis_expiry_of(PERMIT_RECORD), end_s * 1000 + 10500);
    assert_int_equal(unit_redis_number("DBSIZE"), 3);
    UNIT_CHECK(release_permits("a"));
    nothing_is_left();
}

static void a_whole_second_is_not_rounded(void **state)
{
    (void) state;
    clock_us -= clock_us % 1000000;
    UNIT_CHECK(take_permits_for("a", 1000, 1, 1));
    assert_int_equal(permit_end_of("a"), permit_now_s() + 1);
    clock_us += 1;
    UNIT_CHECK(refresh_permits("a", 1000));
    assert_int_equal(permit_end_of("a"), permit_now_s() + 2);
}

static void no_more_is_taken_than_the_limit(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("a", 2, 5));
    UNIT_CHECK(take_permits("b", 2, 5));
    unit_redis_snapshot();
    UNIT_CHECK(!take_permits("c", 2, 5));
    UNIT_CHECK(!take_permits("c", 5, 5));
    UNIT_CHECK(unit_redis_is_unchanged());
    UNIT_CHECK(take_permits("c", 1, 5));
    UNIT_CHECK(!take_permits("d", 1, 5));
    assert_int_equal(permits_used(), 5);
    UNIT_CHECK(take_permits("d", 1, 6)); /* each caller's limit is its own */
    UNIT_CHECK(release_permits("d") && release_permits("a"));
    UNIT_CHECK(!take_permits("d", 3, 5) && take_permits("d", 2, 5));
}

static void the_largest_numbers_are_exact(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("a", MOST, MOST));
    UNIT_CHECK(!take_permits("b", 1, MOST)); /* 2^53 + 1 is 2^53 in floating point */
    UNIT_CHECK(release_permits("a"));
    UNIT_CHECK(take_permits("a", MOST - 1, MOST));
    UNIT_CHECK(take_permits("b", 1, MOST));
    UNIT_CHECK(!take_permits("c", 1, MOST));
    assert_string_equal(unit_redis_text("HGET " PERMIT_RECORD " %b", "", (size_t) 0),
                        "9007199254740992");
    UNIT_CHECK(release_permits("b"));
    assert_string_equal(unit_redis_text("HGET " PERMIT_RECORD " %b", "", (size_t) 0),
                        "9007199254740991");
}

/* The answer to the first one was lost, say. */
static void a_repeated_acquire_renews_and_takes_nothing_more(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("a", 2, 3));
    UNIT_CHECK(take_permits_for("a", 10 * MINUTE, 2, 3));
    assert_int_equal(permits_used(), 2);
    UNIT_CHECK(permit_end_of("a") >= permit_now_s() + 600);
    UNIT_CHECK(take_permits("a", 3, 3)); /* who holds keeps its weight */
    assert_int_equal(permits_used(), 2);
    UNIT_CHECK(permit_end_of("a") >= permit_now_s() + 600); /* and its end, as it was told */
    UNIT_CHECK(take_permits("b", 1, 3));
    UNIT_CHECK(take_permits("a", 2, 2)); /* though others have come */
    UNIT_CHECK(take_permits("a", 1, 1));
    assert_int_equal(permits_used(), 3);
}

static void whose_time_is_over_holds_nothing(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits_for("a", 1000, 1, 2));
    UNIT_CHECK(take_permits("b", 1, 2));
    pass_ms(999);
    UNIT_CHECK(!take_permits("c", 1, 2)); /* to the end */
    UNIT_CHECK(probe_permits("a") > 0);
    pass_ms(1001);
    assert_int_equal(probe_permits("a"), 0);
    UNIT_CHECK(take_permits("c", 1, 2));
    assert_int_equal(unit_redis_number("HLEN " PERMIT_RECORD), 3); /* b, c and the sum */
    UNIT_CHECK(!refresh_permits("a", MINUTE));
    UNIT_CHECK(!release_permits("a"));
    pass_ms(2 * MINUTE);
    UNIT_CHECK(take_permits("d", 2, 2)); /* of all that were there */
    assert_int_equal(unit_redis_number("ZCARD " PERMIT_WEIGHTS), 1);
}

static void a_note_is_recorded_with_the_time_of_the_first_acquire(void **state)
{
    waiter *a = new_waiter("a");
    char expected[128];

    (void) state;
    snprintf(expected, sizeof(expected), "3 %lld " HOLDER_INFO, (long long) clock_us);
    takes_permits(a, 1, 3, "try");
    assert_string_equal(unit_redis_text("HGET " PERMIT_RECORD " a"), expected);
    pass_ms(500);
    takes_permits(a, 1, 3, "try");
    UNIT_CHECK(refresh_permits("a", MINUTE));
    assert_string_equal(unit_redis_text("HGET " PERMIT_RECORD " a"), expected);
}

/* ---- Refresh, release, probe */

static void a_renewal_is_of_a_hold_alone(void **state)
{
    (void) state;
    UNIT_CHECK(!refresh_permits("a", MINUTE) && !extend_permits("a", MINUTE));
    nothing_is_left();
    UNIT_CHECK(take_permits("a", 1, 2) && take_permits("b", 1, 2));
    UNIT_CHECK(refresh_permits("a", 5 * MINUTE));
    UNIT_CHECK(permit_end_of("a") >= permit_now_s() + 300);
    assert_int_equal(unit_redis_expiry_of(PERMIT_TIMES), permit_end_of("a") * 1000 + 10500);
    UNIT_CHECK(refresh_permits("a", 1000)); /* also for less */
    UNIT_CHECK(permit_end_of("a") <= permit_now_s() + 2);
    assert_int_equal(unit_redis_expiry_of(PERMIT_TIMES), permit_end_of("b") * 1000 + 10500);
    assert_int_equal(permits_used(), 2);
    UNIT_CHECK(!take_permits("c", 1, 2)); /* and the record knows the sum still */
}

static void an_extension_shortens_nothing(void **state)
{
    int64_t end_s;

    (void) state;
    UNIT_CHECK(take_permits("a", 1, 1));
    end_s = permit_end_of("a");
    UNIT_CHECK(extend_permits("a", 1000));
    assert_int_equal(permit_end_of("a"), end_s);
    UNIT_CHECK(extend_permits("a", 2 * MINUTE));
    UNIT_CHECK(permit_end_of("a") > end_s);
}

static void an_extension_does_not_claim_a_grant(void **state)
{
    waiter *b = new_waiter("b");
    int64_t end_s;

    (void) state;
    UNIT_CHECK(take_permits("a", 1, 1));
    is_placed_for_permits(b, 1, 1, "wait", 0);
    UNIT_CHECK(release_permits("a"));
    hears_granted(b);
    end_s = permit_end_of("b");
    UNIT_CHECK(!extend_permits("b", 10 * MINUTE));
    assert_int_equal(permit_end_of("b"), end_s);
    takes_permits(b, 1, 1, "claim");
    UNIT_CHECK(extend_permits("b", 20 * MINUTE) && permit_end_of("b") > end_s);
}

/* The script's name, say. */
static void a_note_that_ends_in_a_question_mark_is_no_grant(void **state)
{
    (void) state;
    UNIT_CHECK(no_error(unit_redis_try("EVAL %s 5 " PERMIT_KEYS " a %s",
                                       on_clock(REDIS_LUA_PERMIT_ACQUIRE),
                                       "60000 1 3 web 7 /srv/what now ?"))
                   ->integer
               == 1);
    UNIT_CHECK(extend_permits("a", 2 * MINUTE));
}

static void a_release_is_of_its_own_permits_and_once(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("a", 2, 3) && take_permits("b", 1, 3));
    UNIT_CHECK(!release_permits("c") && permits_used() == 3);
    UNIT_CHECK(release_permits("a") && !release_permits("a"));
    assert_int_equal(permits_used(), 1);
    UNIT_CHECK(release_permits("b"));
    nothing_is_left();
}

static void a_probe_tells_what_is_left(void **state)
{
    (void) state;
    clock_us -= clock_us % 1000000;
    assert_int_equal(probe_permits("a"), 0);
    UNIT_CHECK(take_permits_for("a", 5000, 1, 1));
    assert_int_equal(probe_permits("a"), 5000);
    pass_ms(4999);
    assert_int_equal(probe_permits("a"), 1);
    pass_ms(1);
    assert_int_equal(probe_permits("a"), 0);
    assert_int_equal(probe_permits("b"), 0);
}

/* Field of an inspection's reply; of a holder behind the head of four. */
static const char *told(const redisReply *reply, size_t at)
{
    UNIT_CHECK(at < reply->elements && reply->element[at]->type == REDIS_REPLY_STRING);
    return reply->element[at]->str;
}

static const char *told_of(const redisReply *reply, size_t holder, size_t field)
{
    return told(reply, 4 + 5 * holder + field);
}

static void an_inspection_tells_each_holder(void **state)
{
    waiter *b = new_waiter("b"), *c = new_waiter("c");
    const redisReply *reply;

    (void) state;
    UNIT_CHECK(inspect_permits()->type == REDIS_REPLY_NIL);
    clock_us -= clock_us % 1000000;
    UNIT_CHECK(take_permits_for("a", 30000, 2, 5));
    UNIT_CHECK(symfony_takes_permits("s", 20, 1, 4));
    takes_permits(b, 1, 6, "try");
    UNIT_CHECK(take_permits_for("x", 1000, 1, 9));
    is_placed_for_permits(c, 4, 6, "wait", 0);
    pass_ms(1000);
    unit_redis_snapshot();
    reply = inspect_permits();
    assert_int_equal(reply->elements, 4 + 3 * 5); /* the longest first: b, a, s */
    assert_string_equal(told(reply, 0), "1");
    assert_string_equal(told(reply, 1), "3");
    assert_string_equal(told(reply, 2), "1");
    assert_string_equal(told(reply, 3), "4");
    UNIT_CHECK(strstr(told_of(reply, 0, 2), HOLDER_INFO) != NULL);
    assert_string_equal(told_of(reply, 0, 3), "1");
    assert_string_equal(told_of(reply, 0, 4), "6");
    assert_int_equal(strlen(told_of(reply, 1, 0)), LATCH_IDENTITY_LENGTH);
    assert_string_equal(told_of(reply, 1, 1), "29000");
    assert_string_equal(told_of(reply, 1, 2), "");
    assert_string_equal(told_of(reply, 1, 3), "2");
    assert_string_equal(told_of(reply, 1, 4), "5");
    assert_string_equal(told_of(reply, 2, 2), ""); /* a peer leaves nothing */
    assert_string_equal(told_of(reply, 2, 3), "1");
    assert_string_equal(told_of(reply, 2, 4), "0");
    UNIT_CHECK(unit_redis_is_unchanged());
}

/* ---- Keys that are something else */

static void numbers_that_are_too_large_are_told_as_none(void **state)
{
    const redisReply *reply;
    char most[24];

    (void) state;
    snprintf(most, sizeof(most), "%lld", (long long) MOST);
    UNIT_CHECK(take_permits_for("a", 3 * MINUTE, MOST, MOST));
    UNIT_CHECK(take_permits_for("b", 2 * MINUTE, 1, MOST) == false);
    unit_redis_ask("HSET " PERMIT_RECORD " b %s", "18446744073709551617 5 web 7 /srv/a");
    unit_redis_ask("ZADD " PERMIT_WEIGHTS " 1e300 b");
    unit_redis_ask("ZADD " PERMIT_TIMES " inf b");
    reply = inspect_permits();
    assert_int_equal(reply->elements, 4 + 2 * 5);
    assert_string_equal(told(reply, 3), most);
    assert_string_equal(told_of(reply, 0, 1), most);
    assert_string_equal(told_of(reply, 0, 2), "");
    assert_string_equal(told_of(reply, 0, 3), "0");
    assert_string_equal(told_of(reply, 0, 4), "0");
    assert_string_equal(told_of(reply, 1, 3), most);
    assert_string_equal(told_of(reply, 1, 4), most);
}

static void a_key_of_another_type_is_an_error_and_stays(void **state)
{
    static const char *const keys[] = {PERMIT_WEIGHTS, PERMIT_TIMES, PERMIT_RECORD};

    (void) state;
    for (size_t at = 0; at < sizeof(keys) / sizeof(*keys); at++) {
        unit_redis_ask("FLUSHALL");
        unit_redis_ask("SET %s text", keys[at]);
        unit_redis_snapshot();
        UNIT_CHECK(unit_redis_is_error(try_take_permits("a", MINUTE, 1, 1), "WRONGTYPE"));
        UNIT_CHECK(unit_redis_is_unchanged());
    }
}

static void without_memory_nothing_is_taken_and_all_can_be_given_back(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("a", 1, 3));
    unit_redis_ask("CONFIG SET maxmemory 1");
    UNIT_CHECK(unit_redis_is_error(try_take_permits("b", MINUTE, 1, 3), "OOM"));
    assert_int_equal(permits_of("b"), 0);
    UNIT_CHECK(release_permits("a"));
    unit_redis_ask("CONFIG SET maxmemory 0");
    nothing_is_left();
}

/* ---- Rights */

/* Those of docs/redis.md, and PTTL, without which the record is not trusted. */
static void the_documented_rights_are_enough(void **state)
{
    (void) state;
    for (int has_pttl = 0; has_pttl < 2; has_pttl++) {
        unit_redis_let_tester("-@all");
        unit_redis_ask(
            "ACL SETUSER tester +eval +evalsha +del +exists +get +getset +hdel +hexists +hget "
            "+hkeys +hlen +hmget +hset +pexpire +pexpireat +set +time +type +zadd +zcard "
            "+zrange +zrangebyscore +zrank +zrem +zremrangebyscore +zrevrange "
            "+zrevrangebyscore +zscore %s",
            has_pttl ? "+pttl" : "-pttl");
        unit_redis_ask("AUTH tester secret");
        UNIT_CHECK(no_error(try_take_permits("a", MINUTE, 2, 3))->integer == 1);
        UNIT_CHECK(no_error(try_take_permits("b", MINUTE, 2, 3))->type == REDIS_REPLY_NIL);
        UNIT_CHECK(no_error(try_take_permits("b", 1000, 1, 3))->integer == 1);
        pass_ms(2000);
        UNIT_CHECK(no_error(try_take_permits("c", MINUTE, 1, 3))->integer == 1);
        UNIT_CHECK(no_error(try_take_permits("d", MINUTE, 1, 3))->type == REDIS_REPLY_NIL);
        UNIT_CHECK(probe_permits("a") > 0);
        unit_redis_ask("AUTH default %s", "");
        check_permits();
        UNIT_CHECK(release_permits("a") && release_permits("c"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PERMITS_TEST(permits_are_taken_with_all_that_belongs_to_them),
        PERMITS_TEST(a_whole_second_is_not_rounded),
        PERMITS_TEST(no_more_is_taken_than_the_limit),
        PERMITS_TEST(the_largest_numbers_are_exact),
        PERMITS_TEST(a_repeated_acquire_renews_and_takes_nothing_more),
        PERMITS_TEST(whose_time_is_over_holds_nothing),
        PERMITS_TEST(a_note_is_recorded_with_the_time_of_the_first_acquire),
        PERMITS_TEST(a_renewal_is_of_a_hold_alone),
        PERMITS_TEST(an_extension_shortens_nothing),
        PERMITS_TEST(an_extension_does_not_claim_a_grant),
        PERMITS_TEST(a_note_that_ends_in_a_question_mark_is_no_grant),
        PERMITS_TEST(a_release_is_of_its_own_permits_and_once),
        PERMITS_TEST(a_probe_tells_what_is_left),
        PERMITS_TEST(an_inspection_tells_each_holder),
        PERMITS_TEST(numbers_that_are_too_large_are_told_as_none),
        PERMITS_TEST(a_key_of_another_type_is_an_error_and_stays),
        PERMITS_TEST(without_memory_nothing_is_taken_and_all_can_be_given_back),
        PERMITS_TEST(the_documented_rights_are_enough),
    };

    return cmocka_run_group_tests_name("redis permits", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
