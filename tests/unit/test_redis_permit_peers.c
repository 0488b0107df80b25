/*
 * Semaphores that Latch shares with Symfony's Semaphore in PHP: one and the same sets, on a real
 * server, by the scripts of both. Together they never take more than the limit.
 */
#include "redis_permits.h"

#include <stdlib.h>

static void each_counts_what_the_other_has(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("l", 2, 4));
    UNIT_CHECK(!symfony_takes_permits("s", 60, 3, 4) && symfony_takes_permits("s", 60, 2, 4));
    UNIT_CHECK(!take_permits("m", 1, 4));
    UNIT_CHECK(release_permits("l") && take_permits("m", 2, 4));
    symfony_releases_permits("s");
    UNIT_CHECK(!symfony_takes_permits("t", 60, 3, 4) && take_permits("n", 2, 4));
    assert_int_equal(permits_used(), 4);
}

static void each_sees_when_the_others_time_is_over(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits_for("l", 2000, 1, 1));
    pass_ms(1999);
    UNIT_CHECK(!symfony_takes_permits("s", 5, 1, 1)); /* no earlier than its holder */
    pass_ms(1001);
    UNIT_CHECK(symfony_takes_permits("s", 5, 1, 1));
    UNIT_CHECK(!take_permits("l", 1, 1) && !refresh_permits("l", MINUTE));
    pass_ms(3999);
    UNIT_CHECK(!take_permits("l", 1, 1)); /* no earlier than another peer */
    pass_ms(1001);
    UNIT_CHECK(take_permits("l", 1, 1) && !symfony_takes_permits("s", 5, 1, 1));
    UNIT_CHECK(!symfony_refreshes_permits("s", 5)); /* it has lost them */
    assert_int_equal(permits_used(), 1);
}

/* A key that Symfony has serialised, say. */
static void a_token_of_symfonys_is_renewed_and_released_here_and_the_other_way_round(void **state)
{
    (void) state;
    UNIT_CHECK(symfony_takes_permits("s", 60, 2, 3));
    UNIT_CHECK(probe_permits("s") > 0 && refresh_permits("s", 5 * MINUTE));
    UNIT_CHECK(permit_end_of("s") >= permit_now_s() + 300);
    UNIT_CHECK(take_permits("s", 2, 3)); /* now it is recorded, too */
    UNIT_CHECK(take_permits("l", 1, 3) && !take_permits("m", 1, 3));
    UNIT_CHECK(symfony_refreshes_permits("s", 60) && symfony_has_permits("l"));
    UNIT_CHECK(release_permits("s") && !symfony_has_permits("s"));
    UNIT_CHECK(symfony_takes_permits("l", 60, 1, 3));
    symfony_releases_permits("l");
    UNIT_CHECK(!release_permits("l") && take_permits("m", 3, 3));
    UNIT_CHECK(release_permits("m"));
    assert_int_equal(unit_redis_number("DBSIZE"), 0);
}

/* As many holders as before, and of other weights. */
static void a_peer_in_the_place_of_one_of_ours_is_counted(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits_for("l", 1000, 1, 6) && take_permits("m", 1, 6));
    pass_ms(2000);
    UNIT_CHECK(symfony_takes_permits("s", 60, 5, 6)); /* it has removed l */
    UNIT_CHECK(!take_permits("n", 1, 6));
    assert_int_equal(permits_used(), 6);
}

static void so_is_a_peer_whose_clock_is_ahead(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits_for("l", 10000, 1, 6) && take_permits("m", 1, 6));
    symfony_ahead_s = 20;
    UNIT_CHECK(
        symfony_takes_permits("s", 60, 5, 6)); /* it has removed l, which believes it holds */
    UNIT_CHECK(!take_permits("n", 1, 6));
    UNIT_CHECK(!refresh_permits("l", MINUTE));
    UNIT_CHECK(take_permits("m", 1, 6)); /* all is recorded as it is */
    symfony_releases_permits("s");
    UNIT_CHECK(take_permits("n", 5, 6) && !take_permits("o", 1, 6));
}

/* A key that was handed over to it, and which Latch has recorded. */
static void so_is_a_peer_when_another_has_released_one_of_ours(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("l", 1, 6) && take_permits("m", 1, 6));
    symfony_releases_permits("l");
    UNIT_CHECK(refresh_permits("m", MINUTE));
    UNIT_CHECK(symfony_takes_permits("s", 60, 5, 6));
    UNIT_CHECK(!take_permits("n", 1, 6));
    symfony_releases_permits("m");
    UNIT_CHECK(take_permits("l", 1, 6) && !take_permits("n", 1, 6));
    symfony_releases_permits("l"); /* while another one is there */
    UNIT_CHECK(symfony_takes_permits("t", 60, 1, 6) && !take_permits("n", 1, 6));
    assert_int_equal(permits_used(), 6);
}

static void a_weight_without_a_time_is_nobodys(void **state)
{
    (void) state;
    UNIT_CHECK(take_permits("l", 1, 2));
    unit_redis_ask("ZADD " PERMIT_WEIGHTS " 1 ghost");
    UNIT_CHECK(take_permits("m", 1, 2)); /* as Symfony's script sees it */
    assert_int_equal(unit_redis_number("ZCARD " PERMIT_WEIGHTS), 2);
    UNIT_CHECK(!take_permits("n", 1, 2));
}

/* Symfony's scripts write a fraction of a second before they fail on it. */
static void a_fraction_of_a_second_does_no_harm(void **state)
{
    (void) state;
    clock_us -= clock_us % 1000000;
    UNIT_CHECK(symfony_takes_permits("s", 1, 1, 1));
    unit_redis_ask("ZADD " PERMIT_TIMES " %lld.5 s", (long long) permit_now_s() + 1);
    UNIT_CHECK(!take_permits("l", 1, 1));
    UNIT_CHECK(take_permits_for("l", 1000, 1, 2));
    assert_int_equal(unit_redis_expiry_of(PERMIT_TIMES), permit_now_s() * 1000 + 12500);
    assert_int_equal(probe_permits("s"), 1500);
    pass_ms(2000);
    UNIT_CHECK(take_permits("l", 2, 2));
}

static void who_waits_behind_a_peer_asks_every_tenth_of_a_second(void **state)
{
    waiter *b = new_waiter("b");
    int ms;

    (void) state;
    UNIT_CHECK(symfony_takes_permits("s", 600, 1, 2));
    ms = is_placed_for_permits(b, 2, 2, "wait", 0);
    UNIT_CHECK(ms >= 90 && ms <= 110);
    symfony_releases_permits("s");
    pass_ms(ms);
    takes_permits(b, 2, 2, "poll");
}

/* Whatever both do, in any order: what was taken never exceeds the limit, as both see it. */
static void any_mixture_keeps_the_limit(void **state)
{
    enum { TOKENS = 8, LIMIT = 10, ROUNDS = 12000 };
    static const char *const tokens[TOKENS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct {
        int64_t weight, end_s;
    } held[TOKENS] = {{0, 0}};
    int taken = 0, refused = 0;

    (void) state;
    srand(20);
    for (int round = 0; round < ROUNDS; round++) {
        int at = rand() % TOKENS, what = rand() % 10;
        bool is_ours = at < TOKENS / 2; /* with now and then one of the others */
        int64_t weight = 1 + rand() % 5, ttl_s = 1 + rand() % 20, used = 0;

        for (int other = 0; other < TOKENS; other++) {
            if (held[other].end_s <= permit_now_s()) {
                held[other].weight = 0;
            }
            used += held[other].weight;
        }
        if (what < 4) {
            bool can = held[at].weight > 0 || used + weight <= LIMIT;
            bool done = is_ours ? take_permits_for(tokens[at], 1000 * ttl_s, weight, LIMIT)
                                : symfony_takes_permits(tokens[at], ttl_s, weight, LIMIT);

            UNIT_CHECK(done == can);
            taken += done && held[at].weight == 0;
            refused += !done;
            held[at].weight = held[at].weight > 0 ? held[at].weight : done ? weight : 0;
        } else if (what < 6) {
            UNIT_CHECK(is_ours
                           ? refresh_permits(tokens[at], 1000 * ttl_s) || held[at].weight == 0
                           : symfony_refreshes_permits(tokens[at], ttl_s) || held[at].weight == 0);
        } else if (what < 8) {
            if (is_ours ? rand() % 8 > 0 : rand() % 8 == 0) {
                release_permits(tokens[at]);
            } else {
                symfony_releases_permits(tokens[at]);
            }
            held[at].weight = 0;
        } else {
            pass_ms(rand() % 3000);
        }
        held[at].end_s = permit_end_of(tokens[at]);
        held[at].weight = permits_of(tokens[at]);
        UNIT_CHECK(permits_used() <= LIMIT);
    }
    UNIT_CHECK(taken > ROUNDS / 20 && refused > ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PERMITS_TEST(each_counts_what_the_other_has),
        PERMITS_TEST(each_sees_when_the_others_time_is_over),
        PERMITS_TEST(a_token_of_symfonys_is_renewed_and_released_here_and_the_other_way_round),
        PERMITS_TEST(a_peer_in_the_place_of_one_of_ours_is_counted),
        PERMITS_TEST(so_is_a_peer_whose_clock_is_ahead),
        PERMITS_TEST(so_is_a_peer_when_another_has_released_one_of_ours),
        PERMITS_TEST(a_weight_without_a_time_is_nobodys),
        PERMITS_TEST(a_fraction_of_a_second_does_no_harm),
        PERMITS_TEST(who_waits_behind_a_peer_asks_every_tenth_of_a_second),
        PERMITS_TEST(any_mixture_keeps_the_limit),
    };

    return cmocka_run_group_tests_name("redis permit peers", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
