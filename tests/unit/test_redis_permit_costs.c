/*
 * What the scripts of semaphores cost, in commands, and that their short ways leave behind what the
 * long ones do; on a real server.
 */
#include "redis_permits.h"

#include "redis_scripts.h"

#include <stdio.h>
#include <string.h>

static void keys_end_at(int64_t end_s)
{
    assert_int_equal(unit_redis_expiry_of(PERMIT_WEIGHTS), end_s * 1000 + 10500);
    assert_int_equal(unit_redis_expiry_of(PERMIT_TIMES), end_s * 1000 + 10500);
    assert_int_equal(unit_redis_expiry_of(PERMIT_RECORD), end_s * 1000 + 10500);
}

static void keys_end_with_the_last_holder_whoever_came_last(void **state)
{
    int64_t last_s;

    (void) state;
    UNIT_CHECK(take_permits_for("a", 2000, 1, 5));
    UNIT_CHECK(take_permits_for("b", 3000, 1, 5)); /* within the time that keys are kept */
    keys_end_at(permit_end_of("b"));
    UNIT_CHECK(release_permits("b") && take_permits_for("b", 5 * MINUTE, 1, 5));
    last_s = permit_end_of("b");
    keys_end_at(last_s);
    UNIT_CHECK(take_permits("c", 1, 5));
    keys_end_at(last_s);
    UNIT_CHECK(take_permits("c", 1, 5)); /* renewed */
    keys_end_at(last_s);
    UNIT_CHECK(release_permits("b") && take_permits("d", 1, 5));
    keys_end_at(last_s); /* later than needed */
    UNIT_CHECK(take_permits_for("e", 9 * MINUTE, 2, 5) && !take_permits("f", 1, 5));
    keys_end_at(permit_end_of("e"));
    UNIT_CHECK(take_permits_for("c", 10 * MINUTE, 1, 5));
    keys_end_at(permit_end_of("c"));
}

/* Keys that are made anew end, too, and not with those before them. */
static void so_do_keys_that_are_made_anew(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits_for("a", 1000, 1, 5));
    pass_ms(2000);
    UNIT_CHECK(take_permits_for("b", 1000, 1, 5)); /* a is dropped first */
    keys_end_at(permit_end_of("b"));
    pass_ms(2000);
    UNIT_CHECK(take_permits("c", 1, 5));
    keys_end_at(permit_end_of("c"));
    UNIT_CHECK(take_permits_for("d", 1000, 1, 5));
    UNIT_CHECK(release_permits("c")); /* its end is kept */
    pass_ms(2000);
    UNIT_CHECK(take_permits_for("e", 1000, 1, 5));
    keys_end_at(permit_end_of("e"));
}

static void an_acquire_that_is_sent_again_beside_others_counts_once(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("a", 1, 3) && take_permits("b", 1, 3));
    UNIT_CHECK(take_permits("b", 1, 3));
    assert_int_equal(permits_used(), 2);
    UNIT_CHECK(take_permits("c", 1, 3) && !take_permits("d", 1, 3));
    unit_redis_ask("HDEL " PERMIT_RECORD " a"); /* as if a peer had made it a holder */
    UNIT_CHECK(take_permits("a", 1, 3));
    assert_int_equal(permits_used(), 3);
    UNIT_CHECK(release_permits("b") && take_permits("d", 1, 3) && !take_permits("e", 1, 3));
}

static long long count_commands(void)
{
    return unit_redis_number("EVAL %s 0", "local all = 0\n"
                                          "local stats = redis.call('INFO', 'commandstats')\n"
                                          "for calls in string.gmatch(stats, 'calls=(%d+)') do\n"
                                          "    all = all + calls\n"
                                          "end\n"
                                          "return all");
}

/* Of an acquire and a release, with the two calls; the server's own clock would be one more. */
static long long commands_of_a_pair(void)
{
    long long before;

    unit_redis_ask("CONFIG RESETSTAT");
    before = count_commands();
    UNIT_CHECK(no_error(try_take_permits("a", MINUTE, 1, 3))->integer == 1);
    UNIT_CHECK(
        no_error(unit_redis_try("EVAL %s 5 " PERMIT_KEYS " a", on_clock(REDIS_LUA_PERMIT_RELEASE)))
            ->integer
        == 1);
    return count_commands() - before;
}

static void permits_that_nobody_else_asks_for_cost_few_commands(void **state)
{
    (void) state;
    UNIT_CHECK(commands_of_a_pair() <= 15 + 2);
    UNIT_CHECK(unit_redis_number("DBSIZE") == 0);
}

static void so_do_permits_beside_a_holder_that_stays_longer(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits_for("z", 5 * MINUTE, 1, 3));
    UNIT_CHECK(commands_of_a_pair() <= 20 + 2);
    assert_int_equal(permits_used(), 1);
}

static void take_one_of_many(int number)
{
    char token[24];

    snprintf(token, sizeof(token), "token-%d", number);
    UNIT_CHECK(no_error(try_take_permits(token, MINUTE, 1, 20000))->integer == 1);
}

static long long commands_of(int number)
{
    long long before;

    unit_redis_ask("CONFIG RESETSTAT");
    before = count_commands();
    take_one_of_many(number);
    return count_commands() - before;
}

/* In commands, whatever their number; that none of them is a long one is seen by their names. */
static void ten_thousand_holders_cost_no_more_than_ten(void **state)
{
    long long at_ten = 0;

    (void) state;
    for (int at = 0; at < 10000; at++) {
        if (at == 10) {
            at_ten = commands_of(at);
        } else {
            take_one_of_many(at);
        }
    }
    assert_int_equal(commands_of(10000), at_ten);
    UNIT_CHECK(strstr(unit_redis_text("INFO commandstats"), "cmdstat_hexists") == NULL);
    check_permits();
    assert_int_equal(permits_used(), 10001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PERMITS_TEST(keys_end_with_the_last_holder_whoever_came_last),
        PERMITS_TEST(so_do_keys_that_are_made_anew),
        PERMITS_TEST(an_acquire_that_is_sent_again_beside_others_counts_once),
        PERMITS_TEST(permits_that_nobody_else_asks_for_cost_few_commands),
        PERMITS_TEST(so_do_permits_beside_a_holder_that_stays_longer),
        PERMITS_TEST(ten_thousand_holders_cost_no_more_than_ten),
    };

    return cmocka_run_group_tests_name("redis permit costs", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
