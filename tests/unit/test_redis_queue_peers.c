/*
 * The queue of a lock in Redis beside those who know nothing of it: Symfony and others who poll,
 * users who may not publish, a server that is full. By the scripts, on a real server.
 */
#include "redis_waiters.h"

#include <stdlib.h>

#define WINDOW_MS 110

static waiter *b, *c, *d;

static void make_waiters(void)
{
    b = new_waiter("b");
    c = new_waiter("c");
    d = new_waiter("d");
}

static long long kept_for_peers(const char *field)
{
    const char *text = unit_redis_text("HGET " PEERS " %s", field);

    return *text != '\0' ? atoll(text) - clock_us / 1000 : 0;
}

/* ---- When the first has to ask again */

static void the_first_asks_soon_while_a_peer_holds(void **state)
{
    int least = 1000, most = 0;

    (void) state;
    make_waiters();
    UNIT_CHECK(symfony_side.acquire("s", WAITER_TTL));
    is_placed(b, 'w', "wait", 0);
    for (int round = 0; round < 40; round++) {
        int ms = is_placed(b, 'w', "poll", 0);

        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
        clock_us++;
    }
    UNIT_CHECK(least == 90 && most == 110);
}

static void a_reader_of_a_peer_counts_as_a_peer(void **state)
{
    (void) state;
    make_waiters();
    share("a", WAITER_TTL);
    assert_int_equal(is_placed(b, 'w', "wait", 0), SAFETY_MS);
    UNIT_CHECK(symfony_side.share("s", WAITER_TTL));
    assert_in_range(is_placed(b, 'w', "poll", 0), 90, 110);
    UNIT_CHECK(symfony_side.release("s"));
    assert_int_equal(is_placed(b, 'w', "poll", 0), SAFETY_MS);
}

static void the_first_asks_when_the_lease_ends(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", 300);
    assert_int_equal(is_placed(b, 'w', "wait", 0), 300);
    pass_ms(299);
    assert_int_equal(is_placed(b, 'w', "poll", 0), 1);
    clock_us += 999; /* it has less than a ms, but has it */
    assert_int_equal(is_placed(b, 'w', "poll", 0), 1);
    clock_us++;
    takes(b, 'w', "poll");
}

/* ---- Symfony */

static void what_a_peer_releases_is_free_until_the_first_asks(void **state)
{
    (void) state;
    make_waiters();
    UNIT_CHECK(symfony_side.acquire("s", WAITER_TTL));
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    UNIT_CHECK(symfony_side.release("s"));
    hears_nothing(b);
    UNIT_CHECK(symfony_side.acquire("t", WAITER_TTL)); /* so another can have it */
    assert_in_range(is_placed(b, 'w', "poll", 0), 90, 110);
    UNIT_CHECK(symfony_side.release("t"));
    takes(b, 'w', "poll");
    hears_first(c);
    UNIT_CHECK(give_up(b));
    hears_granted(c);
}

/* Who asks first is not the one that waits first. */
static void what_a_peer_released_is_handed_to_the_first_by_who_asks(void **state)
{
    (void) state;
    make_waiters();
    UNIT_CHECK(symfony_side.acquire("s", WAITER_TTL));
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    UNIT_CHECK(symfony_side.release("s"));
    assert_int_equal(is_placed(c, 'w', "poll", 0), CLAIM_MS);
    hears_granted(b);
    UNIT_CHECK(holds("b"));
}

static void what_is_handed_over_is_never_free_for_peers(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    UNIT_CHECK(release("a"));
    UNIT_CHECK(!symfony_side.acquire("s", WAITER_TTL) && !symfony_side.share("s", WAITER_TTL));
    takes(b, 'w', "claim");
    UNIT_CHECK(give_up(b));
    UNIT_CHECK(!symfony_side.acquire("s", WAITER_TTL));
    UNIT_CHECK(symfony_side.share("s", WAITER_TTL)); /* beside c */
    takes(c, 'r', "claim");
}

static void the_hold_of_a_peer_that_is_released_here_is_handed_over(void **state)
{
    (void) state;
    make_waiters();
    UNIT_CHECK(symfony_side.acquire("s", WAITER_TTL));
    is_placed(b, 'w', "wait", 0);
    UNIT_CHECK(release("s"));
    hears_granted(b);
}

/* By a key that was handed over a peer has taken what its other owner waits for. */
static void who_holds_by_a_peer_waits_no_longer(void **state)
{
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        make_waiters();
        acquire("a", WAITER_TTL);
        is_placed(b, *mode, "wait", 0);
        is_placed(c, 'w', "wait", 1);
        UNIT_CHECK(symfony_side.release("a"));
        UNIT_CHECK(*mode == 'w' ? symfony_side.acquire("b", WAITER_TTL)
                                : symfony_side.share("b", WAITER_TTL));
        takes(b, *mode, "poll");
        assert_int_equal(hears_first(c), SAFETY_MS);
        UNIT_CHECK(place_in_queue(b) == -1 && give_up(b) && give_up(c));
        redis_waiters_teardown(state);
    }
}

/* ---- What is left free for peers */

/* Somebody holds, c and d wait, and it was handed over for a second. */
static void hand_over_for_a_second(void)
{
    peers_word = "peers";
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    is_placed(d, 'r', "wait", 2);
    pass_ms(5000); /* that one may hold so long */
    UNIT_CHECK(release("a"));
    hears_granted(b);
    hears_first(c);
    assert_int_equal(kept_for_peers("due"), 1000);
    assert_int_equal(unit_redis_number("HEXISTS " PEERS " free"), 0);
    takes(b, 'w', "claim");
    pass_ms(1000);
}

static void a_lock_is_left_free_for_peers_after_a_second(void **state)
{
    (void) state;
    hand_over_for_a_second();
    UNIT_CHECK(give_up(b));
    UNIT_CHECK(!exists(LOCK));
    assert_int_equal(hears_first(c), WINDOW_MS);
    assert_int_equal(kept_for_peers("until"), WINDOW_MS);
    pass_ms(50);
    is_refused(b, 'w', "try");
    is_placed(d, 'r', "poll", 1);
    assert_int_equal(hears_first(c), WINDOW_MS - 50);
    assert_int_equal(is_placed(c, 'w', "poll", 0), WINDOW_MS - 50);
    UNIT_CHECK(symfony_side.acquire("s", WAITER_TTL));
    assert_in_range(is_placed(c, 'w', "poll", 0), 90, 110);
    UNIT_CHECK(symfony_side.release("s"));
    takes(c, 'w', "poll"); /* the peer has had its turn */
    UNIT_CHECK(!exists(PEERS));
}

static void a_lock_that_no_peer_wanted_is_handed_over_again(void **state)
{
    (void) state;
    hand_over_for_a_second();
    UNIT_CHECK(give_up(b));
    hears_first(c);
    pass_ms(WINDOW_MS);
    is_placed(d, 'r', "poll", 0);
    hears_granted(c);
    assert_int_equal(unit_redis_number("HEXISTS " PEERS " until"), 0);
    assert_int_equal(kept_for_peers("due"), 1000);
    takes(c, 'w', "claim");
    pass_ms(999);
    UNIT_CHECK(give_up(c));
    hears_granted(d); /* a second without a break is not over yet */
    takes(d, 'r', "claim");
    b->ticket++;
    is_placed(b, 'w', "wait", 0);
    pass_ms(1);
    UNIT_CHECK(give_up(d));
    assert_int_equal(hears_first(b), WINDOW_MS);
}

/* It has been the first for long, and would ask much later. */
static void who_finds_that_a_lock_is_left_free_tells_the_first(void **state)
{
    (void) state;
    hand_over_for_a_second();
    pass_ms(WAITER_TTL);
    b->ticket++;
    is_refused(b, 'w', "try");
    assert_int_equal(hears_first(c), WINDOW_MS);
    is_refused(b, 'w', "try");
    hears_nothing(c);
}

static void a_lock_that_was_free_begins_a_new_second(void **state)
{
    (void) state;
    hand_over_for_a_second();
    UNIT_CHECK(symfony_side.release("b"));
    UNIT_CHECK(unit_redis_number("HEXISTS " PEERS " due") == 1);
    is_placed(c, 'w', "poll", 0); /* a window, as it was due */
    pass_ms(WINDOW_MS);
    takes(c, 'w', "poll");
    b->ticket++;
    is_placed(b, 'w', "wait", 1);
    pass_ms(5000);
    UNIT_CHECK(give_up(c));
    hears_first(d);
    hears_granted(d);
    assert_int_equal(kept_for_peers("due"), 1000);
}

/* A writer and a reader take it in turn. */
static void a_short_break_puts_off_when_a_lock_is_left_free(void **state)
{
    (void) state;
    hand_over_for_a_second();
    UNIT_CHECK(give_up(c) == false && give_up(d) == false);
    unit_redis_ask("HSET " PEERS " due %lld", (long long) (clock_us / 1000 + 500));
    UNIT_CHECK(give_up(b));
    pass_ms(11);
    UNIT_CHECK(acquire("e", WAITER_TTL) != 0);
    assert_int_equal(kept_for_peers("due"), 500 - 11 + 100);
    UNIT_CHECK(release("e"));
    pass_ms(11);
    UNIT_CHECK(share("f", WAITER_TTL));
    assert_int_equal(kept_for_peers("due"), 589 - 11 + 100);
    UNIT_CHECK(release("f"));
    UNIT_CHECK(acquire("e", WAITER_TTL) != 0); /* nobody knows when the last reader had gone */
    UNIT_CHECK(!exists(PEERS));
}

static void a_peer_that_is_seen_ends_a_break(void **state)
{
    (void) state;
    hand_over_for_a_second();
    UNIT_CHECK(give_up(c) == false && give_up(d) == false);
    UNIT_CHECK(give_up(b));
    UNIT_CHECK(symfony_side.acquire("s", WAITER_TTL));
    c->ticket++;
    is_placed(c, 'w', "wait", 0);
    assert_int_equal(unit_redis_number("HLEN " PEERS), 1); /* that there are peers */
}

static void a_break_as_long_as_a_poll_of_peers_begins_all_anew(void **state)
{
    (void) state;
    hand_over_for_a_second();
    UNIT_CHECK(give_up(c) == false && give_up(d) == false);
    UNIT_CHECK(give_up(b));
    pass_ms(WINDOW_MS);
    UNIT_CHECK(acquire("e", WAITER_TTL) != 0);
    UNIT_CHECK(!exists(PEERS));
}

static void nothing_is_left_free_where_there_are_no_peers(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    pass_ms(5000);
    UNIT_CHECK(release("a"));
    hears_granted(b);
    UNIT_CHECK(!exists(PEERS));
}

static void what_is_kept_for_peers_ends_a_minute_after_them(void **state)
{
    (void) state;
    hand_over_for_a_second();
    UNIT_CHECK(unit_redis_number("PTTL " PEERS) <= MINUTE);
    unit_redis_ask("PEXPIRE " PEERS " 1000");
    is_placed(c, 'w', "poll", 0);
    UNIT_CHECK(unit_redis_number("PTTL " PEERS) > MINUTE - 1000);
}

/* ---- Who polls, of ours */

static void who_polls_is_a_peer_itself(void **state)
{
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        make_waiters();
        acquire("a", WAITER_TTL);
        peers_word = "mute";
        is_refused(d, *mode, "try");
        UNIT_CHECK(!exists(PEERS)); /* nobody waits */
        peers_word = "";
        is_placed(b, 'w', "wait", 0);
        is_placed(c, 'w', "wait", 1);
        peers_word = "mute";
        is_refused(d, *mode, "try");
        peers_word = "";
        UNIT_CHECK(release("a"));
        hears_granted_at_last(b);
        takes(b, 'w', "claim");
        pass_ms(1000);
        UNIT_CHECK(give_up(b));
        hears_first(c);
        assert_int_equal(hears_first(c), WINDOW_MS);
        is_refused(b, *mode, "try");
        peers_word = "mute";
        takes(d, *mode, "try");
        peers_word = "";
        UNIT_CHECK(!exists(PEERS) && give_up(d));
        hears_granted_at_last(c);
        UNIT_CHECK(give_up(c));
        redis_waiters_teardown(state);
    }
}

static void who_polls_overtakes_nobody_otherwise(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", 1000);
    is_placed(b, 'w', "wait", 0);
    pass_ms(1000);
    peers_word = "mute";
    is_refused(d, 'w', "try");
    hears_granted(b);
}

/* ---- Who may not publish */

static void as_one_who_may_not_publish(void)
{
    unit_redis_let_tester(unit_redis_is_before(6, 2) ? "-publish" : "resetchannels");
    unit_redis_ask("AUTH tester secret");
}

static void as_anybody(void)
{
    unit_redis_ask("AUTH default %s", "");
}

static void where_no_message_passes_nobody_waits(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    die(d);
    unit_redis_snapshot();
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        assert_int_equal(is_placed(d, *mode, "check", -1), 1); /* it does not hear itself */
        as_one_who_may_not_publish();
        assert_int_equal(is_placed(c, *mode, "check", -1), 0);
        as_anybody();
    }
    UNIT_CHECK(unit_redis_is_unchanged());
}

static void who_may_not_publish_any_more_leaves_the_queue(void **state)
{
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        make_waiters();
        acquire("a", 1000);
        is_placed(b, 'w', "wait", 0);
        is_placed(c, *mode, "wait", 1);
        as_one_who_may_not_publish();
        pass_ms(1000);
        assert_int_equal(is_placed(c, *mode, "poll", -1), 0);
        UNIT_CHECK(place_in_queue(c) == -1 && place_in_queue(b) == 0);
        as_anybody();
        takes(b, 'w', "poll");
        UNIT_CHECK(give_up(b));
        redis_waiters_teardown(state);
    }
}

/* It could hand it to nobody. */
static void who_may_not_publish_takes_what_is_free(void **state)
{
    for (const char *mode = "wr"; *mode != '\0'; mode++) {
        make_waiters();
        acquire("a", 1000);
        is_placed(b, 'w', "wait", 0);
        pass_ms(1000);
        as_one_who_may_not_publish();
        peers_word = "mute";
        takes(c, *mode, "try");
        UNIT_CHECK(holds("c") && place_in_queue(b) == 0);
        peers_word = "";
        as_anybody();
        UNIT_CHECK(give_up(c));
        hears_granted(b);
        UNIT_CHECK(give_up(b));
        redis_waiters_teardown(state);
    }
}

static void what_cannot_be_handed_over_is_free_until_the_first_asks(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    as_one_who_may_not_publish();
    UNIT_CHECK(release("a"));
    check_keys();
    UNIT_CHECK(!exists(LOCK) && place_in_queue(b) == 0 && place_in_queue(c) == 1);
    as_anybody();
    hears_nothing(b);
    takes(b, 'w', "poll");
}

/* That takes no message. */
static void who_may_not_publish_passes_over_the_dead(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    die(b);
    as_one_who_may_not_publish();
    UNIT_CHECK(release("a"));
    UNIT_CHECK(!exists(QUEUE) && !exists(LOCK));
    as_anybody();
}

/* ---- Keys of others */

static void a_string_is_waited_for(void **state)
{
    (void) state;
    make_waiters();
    unit_redis_ask("SET " LOCK " laravel PX 60000");
    assert_in_range(is_placed(b, 'w', "wait", 0), 90, 110);
    is_placed(c, 'r', "wait", 1);
    is_refused(d, 'w', "try");
    is_refused(d, 'r', "try");
    UNIT_CHECK(!give_up(b));
    assert_in_range(hears_first(c), 90, 110);
    is_placed(b, 'w', "wait", 1);
    unit_redis_ask("DEL " LOCK);
    takes(c, 'r', "poll");
    assert_int_equal(hears_first(b), SAFETY_MS);
}

static void a_key_of_another_type_is_an_error_and_can_be_given_up(void **state)
{
    static const char *const manners[] = {"try", "wait", "check", "poll", "claim"};

    (void) state;
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    unit_redis_ask("DEL " LOCK);
    unit_redis_ask("RPUSH " LOCK " x");
    unit_redis_snapshot();
    for (size_t at = 0; at < sizeof(manners) / sizeof(manners[0]); at++) {
        UNIT_CHECK(unit_redis_is_error(try_ask(c, 'w', manners[at]), "WRONGTYPE"));
        UNIT_CHECK(unit_redis_is_error(try_ask(c, 'r', manners[at]), "WRONGTYPE"));
    }
    UNIT_CHECK(unit_redis_is_unchanged());
    UNIT_CHECK(unit_redis_is_error(try_give_up(b), "WRONGTYPE"));
    UNIT_CHECK(place_in_queue(b) == -1 && exists(LOCK));
}

/* ---- A full server */

static void fill_server(void)
{
    unit_redis_ask("CONFIG SET maxmemory 1");
}

static void a_full_server_takes_no_waiter_and_no_lock(void **state)
{
    static const char *const manners[] = {"wait", "poll", "claim"};

    (void) state;
    make_waiters();
    fill_server();
    UNIT_CHECK(unit_redis_is_error(try_acquire("b", MINUTE), "OOM"));
    UNIT_CHECK(unit_redis_is_error(try_share("b", MINUTE), "OOM"));
    for (size_t at = 0; at < sizeof(manners) / sizeof(manners[0]); at++) {
        UNIT_CHECK(unit_redis_is_error(try_ask(b, 'w', manners[at]), "OOM"));
        UNIT_CHECK(unit_redis_is_error(try_ask(b, 'r', manners[at]), "OOM"));
        assert_int_equal(unit_redis_number("DBSIZE"), 0);
    }
    unit_redis_ask("CONFIG SET maxmemory 0");
    unit_redis_ask("SET " LOCK " laravel PX 60000");
    fill_server();
    unit_redis_snapshot();
    for (int peers = 0; peers < 2; peers++) {
        peers_word = peers ? "peers" : "";
        UNIT_CHECK(unit_redis_is_error(try_ask(b, 'w', "wait"), "OOM"));
        UNIT_CHECK(unit_redis_is_error(try_ask(b, 'r', "wait"), "OOM"));
    }
    UNIT_CHECK(unit_redis_is_unchanged());
}

static void a_full_server_hands_over_all_the_same(void **state)
{
    (void) state;
    make_waiters();
    acquire("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    is_placed(d, 'w', "wait", 2);
    fill_server();
    UNIT_CHECK(release("a"));
    check_keys();
    hears_granted(b);
    hears_first(c);
    takes(b, 'w', "claim");
    takes(b, 'r', "try"); /* a demotion */
    hears_granted(c);
    hears_first(d);
    takes(c, 'r', "claim");
    is_placed(d, 'w', "poll", 0);
    UNIT_CHECK(give_up(b) && give_up(c));
    hears_first(d);
    hears_granted(d);
    UNIT_CHECK(holds("d") && count_members() == 2 && give_up(d));
    UNIT_CHECK(!exists(LOCK) && !exists(RECORD) && !exists(QUEUE));
}

static void a_full_server_lets_waiters_give_up(void **state)
{
    (void) state;
    make_waiters();
    share("a", WAITER_TTL);
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    fill_server();
    UNIT_CHECK(!give_up(b));
    hears_granted(c);
    UNIT_CHECK(holds("c") && !exists(QUEUE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAITERS_TEST(the_first_asks_soon_while_a_peer_holds),
        WAITERS_TEST(a_reader_of_a_peer_counts_as_a_peer),
        WAITERS_TEST(the_first_asks_when_the_lease_ends),
        WAITERS_TEST(what_a_peer_releases_is_free_until_the_first_asks),
        WAITERS_TEST(what_a_peer_released_is_handed_to_the_first_by_who_asks),
        WAITERS_TEST(what_is_handed_over_is_never_free_for_peers),
        WAITERS_TEST(the_hold_of_a_peer_that_is_released_here_is_handed_over),
        WAITERS_TEST(who_holds_by_a_peer_waits_no_longer),
        WAITERS_TEST(a_lock_is_left_free_for_peers_after_a_second),
        WAITERS_TEST(a_lock_that_no_peer_wanted_is_handed_over_again),
        WAITERS_TEST(who_finds_that_a_lock_is_left_free_tells_the_first),
        WAITERS_TEST(a_lock_that_was_free_begins_a_new_second),
        WAITERS_TEST(a_short_break_puts_off_when_a_lock_is_left_free),
        WAITERS_TEST(a_peer_that_is_seen_ends_a_break),
        WAITERS_TEST(a_break_as_long_as_a_poll_of_peers_begins_all_anew),
        WAITERS_TEST(nothing_is_left_free_where_there_are_no_peers),
        WAITERS_TEST(what_is_kept_for_peers_ends_a_minute_after_them),
        WAITERS_TEST(who_polls_is_a_peer_itself),
        WAITERS_TEST(who_polls_overtakes_nobody_otherwise),
        WAITERS_TEST(where_no_message_passes_nobody_waits),
        WAITERS_TEST(who_may_not_publish_any_more_leaves_the_queue),
        WAITERS_TEST(who_may_not_publish_takes_what_is_free),
        WAITERS_TEST(what_cannot_be_handed_over_is_free_until_the_first_asks),
        WAITERS_TEST(who_may_not_publish_passes_over_the_dead),
        WAITERS_TEST(a_string_is_waited_for),
        WAITERS_TEST(a_key_of_another_type_is_an_error_and_can_be_given_up),
        WAITERS_TEST(a_full_server_takes_no_waiter_and_no_lock),
        WAITERS_TEST(a_full_server_hands_over_all_the_same),
        WAITERS_TEST(a_full_server_lets_waiters_give_up),
    };

    return cmocka_run_group_tests_name("redis queue and peers", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
