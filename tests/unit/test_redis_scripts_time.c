/*
 * The Lua scripts of the Redis store and time, the server's: when holds end; and fencing tokens,
 * which are made of it.
 */
#include "redis_sides.h"

#define MINUTE INT64_C(60000)
#define CENTURY (100 * 365 * 24 * 60 * MINUTE)

/* ---- Time */

static void a_lock_and_its_record_end_by_themselves(void **state)
{
    int64_t begun_us = unit_redis_now_us();

    (void) state;
    acquire("a", 30);
    while (exists(LOCK) || exists(RECORD)) {
        UNIT_CHECK(unit_redis_now_us() - begun_us < UNIT_TIMEOUT_NS / 1000);
    }
    UNIT_CHECK(unit_redis_now_us() - begun_us >= 30000);
    UNIT_CHECK(exists(COUNTER));
    UNIT_CHECK(!release("a"));
    assert_int_equal(refresh("a", MINUTE), 0);
    UNIT_CHECK(acquire("b", MINUTE) != 0);
}

static void a_ttl_may_be_long(void **state)
{
    int64_t left_ms = 0;

    (void) state;
    acquire("a", CENTURY);
    assert_int_equal(refresh("a", CENTURY), 2);
    assert_int_equal(probe("a", &left_ms), 2);
    UNIT_CHECK(left_ms > CENTURY - MINUTE && left_ms <= CENTURY);
    assert_int_equal(lock_expiry(), expiry_of("a"));
    share("a", CENTURY);
    assert_int_equal(refresh("a", CENTURY), 1);
    assert_int_equal(lock_expiry(), expiry_of("a"));
}

/* From here on the time is what the test says. */
static void stop_clock(void)
{
    clock_us = (unit_redis_now_us() / 1000 + MINUTE) * 1000;
}

/* Clients whose clocks differ would let two in: there is no other time to go by than the server's.
 */
static void nothing_is_done_where_the_servers_time_is_forbidden(void **state)
{
    int64_t expiry;

    (void) state;
    unit_redis_let_tester("-time");
    acquire("a", MINUTE);
    expiry = expiry_of("a");
    unit_redis_ask("AUTH tester secret");
    UNIT_CHECK(try_acquire("b", MINUTE)->type == REDIS_REPLY_ERROR);
    UNIT_CHECK(try_share("b", MINUTE)->type == REDIS_REPLY_ERROR);
    UNIT_CHECK(try_refresh("a", 2 * MINUTE)->type == REDIS_REPLY_ERROR);
    UNIT_CHECK(try_probe("a")->type == REDIS_REPLY_ERROR);
    assert_int_equal(count_members(), 2);
    assert_int_equal(expiry_of("a"), expiry);
    UNIT_CHECK(release("a"));
}

/* The holder counts its TTL from when it sent the command: the server must not count less. */
static void an_expiry_is_rounded_up(void **state)
{
    int64_t ms;

    (void) state;
    stop_clock();
    ms = clock_us / 1000;
    acquire("a", MINUTE);
    assert_int_equal(expiry_of("a"), ms + MINUTE);
    clock_us++;
    acquire("a", MINUTE);
    assert_int_equal(expiry_of("a"), ms + MINUTE + 1);
    assert_int_equal(expiry_of("__write__"), ms + MINUTE + 1);
    refresh("a", 2 * MINUTE);
    assert_int_equal(expiry_of("a"), ms + 2 * MINUTE + 1);
    assert_int_equal(expiry_of("__write__"), ms + 2 * MINUTE + 1);
    share("a", MINUTE);
    assert_int_equal(expiry_of("a"), ms + MINUTE + 1);
    refresh("a", 2 * MINUTE);
    assert_int_equal(expiry_of("a"), ms + 2 * MINUTE + 1);
}

static void a_hold_ends_to_the_millisecond(void **state)
{
    int64_t left_ms = 0;

    (void) state;
    stop_clock();
    acquire("a", 1000);
    clock_us += 999 * 1000;
    assert_int_equal(probe("a", &left_ms), 2);
    assert_int_equal(left_ms, 1);
    UNIT_CHECK(acquire("b", 1000) == 0 && !share("b", 1000));
    clock_us += 999;
    assert_int_equal(probe("a", NULL), 0); /* less than 1 ms is left, which nobody should use */
    UNIT_CHECK(acquire("b", 1000) == 0 && !share("b", 1000));
    clock_us++;
    assert_int_equal(probe("a", NULL), 0);
    UNIT_CHECK(share("b", 1000));
    clock_us += 1000 * 1000;
    UNIT_CHECK(acquire("c", 1000) != 0);
    assert_int_equal(count_members(), 2);
}

/* ---- Fencing */

static void every_writer_has_a_greater_fencing_token(void **state)
{
    int64_t last = 0;

    (void) state;
    for (int round = 0; round < 200; round++) {
        const char *token = round % 2 == 0 ? "a" : "b";
        int64_t fencing = acquire(token, MINUTE);

        UNIT_CHECK(fencing > last);
        assert_int_equal(acquire(token, MINUTE), fencing);
        last = fencing;
        release(token);
    }
}

static void a_promotion_has_a_new_fencing_token(void **state)
{
    int64_t first, second;

    (void) state;
    first = acquire("a", MINUTE);
    share("a", MINUTE);
    second = acquire("a", MINUTE);
    UNIT_CHECK(second > first);
    assert_int_equal(acquire("a", MINUTE), second);
}

/* A record stays when its holder was released by Symfony; it counts for nobody else. */
static void a_left_record_gives_no_fencing_token(void **state)
{
    int64_t first = acquire("a", MINUTE), second;

    (void) state;
    unit_redis_ask("DEL " LOCK);
    second = acquire("ab", MINUTE);
    UNIT_CHECK(second > first && record_is("ab", second));
    unit_redis_ask("DEL " LOCK);
    UNIT_CHECK(acquire("a", MINUTE) > second);
    unit_redis_ask("DEL " RECORD);
    UNIT_CHECK(acquire("a", MINUTE) > second);
}

static void fencing_survives_the_loss_of_the_data(void **state)
{
    int64_t last = 0;

    (void) state;
    for (int round = 0; round < 50; round++) {
        int64_t fencing = acquire("a", MINUTE);

        UNIT_CHECK(fencing > last);
        last = fencing;
        unit_redis_ask("FLUSHALL");
    }
    unit_redis_kill();
    unit_redis_start(NULL);
    UNIT_CHECK(acquire("a", MINUTE) > last);
}

/* A clock may have been set back; also to a time with fewer digits, as at the start of a machine
 * without a clock that goes on. */
static void fencing_goes_on_from_a_counter_that_is_ahead(void **state)
{
    static const int64_t clocks_us[] = {50123456, INT64_C(2999999999999998),
                                        INT64_C(2999999999999999), INT64_C(3000000000000000)};

    (void) state;
    for (size_t at = 0; at < sizeof(clocks_us) / sizeof(*clocks_us); at++) {
        clock_us = clocks_us[at];
        unit_redis_ask("SET " COUNTER " 2999999999999999");
        UNIT_CHECK(acquire("a", MINUTE) == INT64_C(3000000000000000));
        assert_string_equal(unit_redis_text("GET " COUNTER), "3000000000000000");
        release("a");
    }
    clock_us = 0;
    unit_redis_ask("SET " COUNTER " 2999999999999999");
    UNIT_CHECK(acquire("a", MINUTE) == INT64_C(3000000000000000));
    UNIT_CHECK(record_is("a", INT64_C(3000000000000000)));
    assert_string_equal(unit_redis_text("GET " COUNTER), "3000000000000000");
    release("a");
    UNIT_CHECK(acquire("a", MINUTE) == INT64_C(3000000000000001));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIDES_TEST(a_lock_and_its_record_end_by_themselves),
        SIDES_TEST(a_ttl_may_be_long),
        SIDES_TEST(nothing_is_done_where_the_servers_time_is_forbidden),
        SIDES_TEST(an_expiry_is_rounded_up),
        SIDES_TEST(a_hold_ends_to_the_millisecond),
        SIDES_TEST(every_writer_has_a_greater_fencing_token),
        SIDES_TEST(a_promotion_has_a_new_fencing_token),
        SIDES_TEST(a_left_record_gives_no_fencing_token),
        SIDES_TEST(fencing_survives_the_loss_of_the_data),
        SIDES_TEST(fencing_goes_on_from_a_counter_that_is_ahead),
    };

    return cmocka_run_group_tests_name("redis scripts and time", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
