/*
 * The Lua scripts of locks whose key is a string, by themselves on a real server: paths that their
 * model does not take, and when a lock is left free for programs that poll, as Laravel does. With a
 * clock of the test's.
 */
#include "redis_waiters.h"

#include "redis_scripts.h"

#include <stdlib.h>

#define STRING_PEERS "latch:string-peers:lock"
#define STRING_KEYS LOCK " latch:string:lock latch:string-queue:lock " STRING_PEERS
#define TTL "600001 " HOLDER_INFO
#define RECORD_KEY "latch:string:lock"

#define UNBROKEN_MS 500
#define GAP_MS 260

static waiter *b, *c;

/* "TICKET LENGTH TOKENCHANNEL" */
static const char *entry_of(const waiter *one)
{
    static char entry[128];

    snprintf(entry, sizeof(entry), "%d %zu %s%s", one->ticket, one->token_length, one->token,
             one->channel);
    return entry;
}

static bool try_string(const char *token)
{
    return no_error(unit_redis_try("EVAL %s 5 " STRING_KEYS " " COUNTER " %s %s",
                                   on_clock(REDIS_LUA_STRING_ACQUIRE), token, TTL))
               ->type
           == REDIS_REPLY_STRING;
}

/* 0: it has the lock. Else in how many ms it has to ask again, being the first. */
static int ask_for_string_for(const waiter *one, const char *manner, const char *ttl)
{
    const redisReply *reply = no_error(
        unit_redis_try("EVAL %s 5 " STRING_KEYS " " COUNTER " %s %s %s %s %s latch:requeue",
                       on_clock(REDIS_LUA_STRING_ACQUIRE), one->token, ttl, manner, peers_word,
                       entry_of(one)));

    if (reply->type == REDIS_REPLY_STRING) {
        return 0;
    }
    UNIT_CHECK(reply->type == REDIS_REPLY_ARRAY && reply->element[0]->integer == 0);
    return (int) reply->element[1]->integer;
}

static int ask_for_string(const waiter *one, const char *manner)
{
    return ask_for_string_for(one, manner, TTL);
}

static void release_string(const waiter *one)
{
    UNIT_CHECK(
        no_error(unit_redis_try("EVAL %s 4 " STRING_KEYS " %s %s",
                                on_clock(REDIS_LUA_STRING_RELEASE), one->token, entry_of(one)))
            ->integer
        == 1);
}

static bool is_held_by(const char *owner)
{
    return strcmp(unit_redis_text("GET " LOCK), owner) == 0;
}

/* In how many ms from now; 0: it is not kept. */
static int64_t kept_for_peers(const char *field)
{
    const char *text = unit_redis_text("HGET " STRING_PEERS " %s", field);

    return *text != '\0' ? atoll(text) - clock_us / 1000 : 0;
}

/* b waits, and has it from one to whom it belonged before. */
static void hand_over_to_b(void)
{
    static const waiter a = {.token = "a", .token_length = 1, .ticket = 1, .channel = "none"};

    peers_word = "peers";
    b = new_waiter("b");
    c = new_waiter("c");
    UNIT_CHECK(try_string("a"));
    UNIT_CHECK(ask_for_string(b, "wait") > 0);
    release_string(&a);
    UNIT_CHECK(is_held_by("b") && ask_for_string(b, "claim") == 0);
    assert_int_equal(kept_for_peers("due"), UNBROKEN_MS);
}

static bool try_mute(const char *token)
{
    return no_error(unit_redis_try("EVAL %s 5 " STRING_KEYS " " COUNTER " %s %s try mute",
                                   on_clock(REDIS_LUA_STRING_ACQUIRE), token, TTL))
               ->type
           == REDIS_REPLY_STRING;
}

static void a_lock_is_left_free_for_a_poll_after_half_a_second_of_hand_overs(void **state)
{
    (void) state;
    hand_over_to_b();
    UNIT_CHECK(ask_for_string(c, "wait") > 0);
    pass_ms(UNBROKEN_MS - 1);
    release_string(b);
    UNIT_CHECK(is_held_by("c") && ask_for_string(c, "claim") == 0);
    b->ticket++;
    UNIT_CHECK(ask_for_string(b, "wait") > 0);
    pass_ms(1);
    release_string(c);
    UNIT_CHECK(is_held_by("") && kept_for_peers("until") == GAP_MS);
    pass_ms(GAP_MS - 1);
    assert_int_equal(ask_for_string(b, "poll"), 1);
    pass_ms(1);
    assert_int_equal(ask_for_string(b, "poll"), 0);
    UNIT_CHECK(unit_redis_number("EXISTS " STRING_PEERS) == 0);
}

static void who_did_not_hold_makes_no_break(void **state)
{
    (void) state;
    hand_over_to_b();
    assert_int_equal(unit_redis_number("HEXISTS " STRING_PEERS " free"), 0);
    assert_int_equal(no_error(unit_redis_try("EVAL %s 4 " STRING_KEYS " x",
                                             on_clock(REDIS_LUA_STRING_RELEASE)))
                         ->integer,
                     0);
    assert_int_equal(unit_redis_number("HEXISTS " STRING_PEERS " free"), 0);
}

static void a_short_break_puts_that_off_by_its_share_of_a_poll(void **state)
{
    (void) state;
    hand_over_to_b();
    pass_ms(100);
    release_string(b);
    pass_ms(13);
    UNIT_CHECK(try_string("c"));
    assert_int_equal(kept_for_peers("due"), UNBROKEN_MS - 113 + 25);
    pass_ms(100); /* what it holds is no break */
    release_string(c);
    UNIT_CHECK(try_string("b")); /* nor is no time */
    assert_int_equal(kept_for_peers("due"), UNBROKEN_MS - 213 + 25);
    release_string(b);
    pass_ms(GAP_MS - 1);
    UNIT_CHECK(try_string("c"));
    assert_int_equal(kept_for_peers("due"), UNBROKEN_MS); /* never later */
    UNIT_CHECK(unit_redis_number("PTTL " STRING_PEERS) > 0);
}

static void a_lock_that_is_busy_but_for_short_breaks_is_left_free(void **state)
{
    int rounds = 0;

    (void) state;
    hand_over_to_b();
    while (kept_for_peers("due") > 0) {
        UNIT_CHECK(++rounds < 100);
        pass_ms(10);
        release_string(b);
        pass_ms(1);
        UNIT_CHECK(try_string("b"));
    }
    UNIT_CHECK(ask_for_string(c, "wait") > 0);
    release_string(b);
    UNIT_CHECK(is_held_by("") && kept_for_peers("until") == GAP_MS);
}

static void a_break_as_long_as_a_poll_begins_all_anew(void **state)
{
    (void) state;
    hand_over_to_b();
    release_string(b);
    pass_ms(GAP_MS);
    UNIT_CHECK(try_string("c"));
    UNIT_CHECK(unit_redis_number("EXISTS " STRING_PEERS) == 0);
}

/* Nobody knows for how long it was free. */
static void a_lock_that_nobody_has_released_here_begins_all_anew(void **state)
{
    (void) state;
    hand_over_to_b();
    unit_redis_ask("DEL " LOCK);
    UNIT_CHECK(try_string("c"));
    UNIT_CHECK(unit_redis_number("EXISTS " STRING_PEERS) == 0);
}

static void a_break_by_a_clock_that_was_set_back_begins_all_anew(void **state)
{
    (void) state;
    hand_over_to_b();
    release_string(b);
    pass_ms(-1000);
    UNIT_CHECK(try_string("c"));
    UNIT_CHECK(unit_redis_number("EXISTS " STRING_PEERS) == 0);
}

static void a_peer_that_is_seen_has_had_its_turn(void **state)
{
    (void) state;
    hand_over_to_b();
    release_string(b);
    unit_redis_ask("SET " LOCK " laravel PX 60000");
    UNIT_CHECK(ask_for_string(c, "wait") <= 110);
    UNIT_CHECK(kept_for_peers("due") == 0);
    assert_int_equal(unit_redis_number("HLEN " STRING_PEERS), 1); /* that there are peers */
}

/* A process on Latch that no messages reach. */
static void who_polls_of_ours_is_a_peer(void **state)
{
    (void) state;
    b = new_waiter("b");
    UNIT_CHECK(try_string("a"));
    UNIT_CHECK(!try_mute("m") && unit_redis_number("EXISTS " STRING_PEERS) == 0); /* nobody waits */
    UNIT_CHECK(ask_for_string(b, "wait") > 0);
    UNIT_CHECK(unit_redis_number("EXISTS " STRING_PEERS) == 0);
    UNIT_CHECK(!try_mute("m") && unit_redis_number("HEXISTS " STRING_PEERS " about") == 1);
    UNIT_CHECK(unit_redis_number("PTTL " STRING_PEERS) > 0);
}

static void who_polls_of_ours_has_what_is_left_free(void **state)
{
    (void) state;
    hand_over_to_b();
    UNIT_CHECK(ask_for_string(c, "wait") > 0);
    pass_ms(UNBROKEN_MS);
    release_string(b);
    UNIT_CHECK(is_held_by("") && !try_string("d") && try_mute("m"));
    UNIT_CHECK(unit_redis_number("EXISTS " STRING_PEERS) == 0);
}

/* The server has lost its data: others may have waited, too. */
static void who_waited_and_finds_nothing_tells_the_others(void **state)
{
    (void) state;
    b = new_waiter("b");
    c = new_waiter("c");
    assert_int_equal(ask_for_string(b, "poll"), 0);
    hears_requeue(c);
}

/* ---- What is granted, and what is recorded */

static void grant_to_b(void)
{
    static const waiter a = {.token = "a", .token_length = 1, .ticket = 1, .channel = "none"};

    b = new_waiter("b");
    c = new_waiter("c");
    UNIT_CHECK(try_string("a"));
    UNIT_CHECK(ask_for_string(b, "wait") > 0);
    release_string(&a);
    UNIT_CHECK(is_held_by("b"));
}

static void a_grant_that_a_peer_has_taken_away_is_not_claimed(void **state)
{
    (void) state;
    grant_to_b();
    unit_redis_ask("SET " LOCK " laravel PX 60000");
    UNIT_CHECK(ask_for_string(b, "claim") > 0);
    UNIT_CHECK(is_held_by("laravel"));
}

/* They were told to ask when the claim window ends. */
static void who_claims_for_shorter_tells_those_that_wait(void **state)
{
    (void) state;
    grant_to_b();
    UNIT_CHECK(no_error(unit_redis_try("EVAL %s 5 " STRING_KEYS " " COUNTER
                                       " c %s wait peers %s latch:requeue",
                                       on_clock(REDIS_LUA_STRING_ACQUIRE), TTL, entry_of(c)))
                   ->type
               == REDIS_REPLY_ARRAY);
    assert_int_equal(ask_for_string_for(b, "claim", "301"), 0);
    assert_in_range(hears_first(c), 1, 301);
}

static void who_acquires_again_keeps_its_token_and_the_time_since_when_it_holds(void **state)
{
    char before[128];

    (void) state;
    UNIT_CHECK(try_string("a"));
    snprintf(before, sizeof(before), "%s", unit_redis_text("GET " RECORD_KEY));
    UNIT_CHECK(strstr(before, " " HOLDER_INFO "\na") != NULL);
    pass_ms(5);
    UNIT_CHECK(try_string("a"));
    assert_string_equal(unit_redis_text("GET " RECORD_KEY), before);
}

static void a_hold_whose_record_was_lost_is_its_tokens_that_has_no_owner_beside_it(void **state)
{
    (void) state;
    UNIT_CHECK(try_string("a"));
    unit_redis_ask("DEL " RECORD_KEY);
    pass_ms(5);
    UNIT_CHECK(try_string("a"));
    UNIT_CHECK(unit_redis_number("EXISTS " RECORD_KEY) == 1);
    unit_redis_ask("DEL " RECORD_KEY);
    UNIT_CHECK(!try_string("n a")); /* a namesake's, on Laravel */
}

static bool release_token(const char *token)
{
    return no_error(unit_redis_try("EVAL %s 4 " STRING_KEYS " %s",
                                   on_clock(REDIS_LUA_STRING_RELEASE), token))
               ->integer
           == 1;
}

/* Laravel has taken the lock for an owner that is shared, and writes no record. */
static void a_hold_without_a_record_of_its_own_is_released_by_its_owner(void **state)
{
    (void) state;
    unit_redis_ask("SET " LOCK " o PX 60000");
    UNIT_CHECK(!release_token("n other") && is_held_by("o"));
    UNIT_CHECK(release_token("n o") && is_held_by(""));
    UNIT_CHECK(try_string("m earlier"));
    unit_redis_ask("SET " LOCK " o PX 60000"); /* the record is left behind */
    UNIT_CHECK(release_token("n o") && is_held_by(""));
    UNIT_CHECK(try_string("m o"));
    UNIT_CHECK(!release_token("n o") && is_held_by("o"));
}

/* By a peer that its owner was handed to. */
static void who_holds_by_a_peer_waits_no_longer(void **state)
{
    (void) state;
    b = new_waiter("b");
    UNIT_CHECK(try_string("a"));
    UNIT_CHECK(ask_for_string(b, "wait") > 0);
    unit_redis_ask("SET " LOCK " b PX 60000");
    assert_int_equal(ask_for_string(b, "poll"), 0);
    UNIT_CHECK(unit_redis_number("EXISTS latch:string-queue:lock") == 0);
}

/* What a peer has released: the first takes it, and the next is the first. */
static void who_takes_a_free_lock_in_turn_tells_the_next(void **state)
{
    (void) state;
    b = new_waiter("b");
    c = new_waiter("c");
    unit_redis_ask("SET " LOCK " laravel PX 60000");
    UNIT_CHECK(ask_for_string(b, "wait") > 0);
    UNIT_CHECK(no_error(unit_redis_try("EVAL %s 5 " STRING_KEYS " " COUNTER
                                       " c %s wait peers %s latch:requeue",
                                       on_clock(REDIS_LUA_STRING_ACQUIRE), TTL, entry_of(c)))
                   ->type
               == REDIS_REPLY_ARRAY);
    unit_redis_ask("DEL " LOCK);
    assert_int_equal(ask_for_string(b, "poll"), 0);
    assert_in_range(hears_first(c), 1, 1100);
}

/* It would wait for a message that nobody can send. */
static void a_free_lock_is_taken_where_messages_are_not_allowed(void **state)
{
    (void) state;
    b = new_waiter("b");
    UNIT_CHECK(try_string("a"));
    UNIT_CHECK(ask_for_string(b, "wait") > 0);
    unit_redis_ask("DEL " LOCK);
    unit_redis_let_tester(unit_redis_is_before(6, 2) ? "-publish" : "resetchannels");
    unit_redis_ask("AUTH tester secret");
    UNIT_CHECK(try_string("d"));
    unit_redis_ask("AUTH default %s", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAITERS_TEST(a_lock_is_left_free_for_a_poll_after_half_a_second_of_hand_overs),
        WAITERS_TEST(who_did_not_hold_makes_no_break),
        WAITERS_TEST(a_short_break_puts_that_off_by_its_share_of_a_poll),
        WAITERS_TEST(a_lock_that_is_busy_but_for_short_breaks_is_left_free),
        WAITERS_TEST(a_break_as_long_as_a_poll_begins_all_anew),
        WAITERS_TEST(a_lock_that_nobody_has_released_here_begins_all_anew),
        WAITERS_TEST(a_break_by_a_clock_that_was_set_back_begins_all_anew),
        WAITERS_TEST(a_peer_that_is_seen_has_had_its_turn),
        WAITERS_TEST(a_grant_that_a_peer_has_taken_away_is_not_claimed),
        WAITERS_TEST(who_claims_for_shorter_tells_those_that_wait),
        WAITERS_TEST(who_acquires_again_keeps_its_token_and_the_time_since_when_it_holds),
        WAITERS_TEST(a_hold_whose_record_was_lost_is_its_tokens_that_has_no_owner_beside_it),
        WAITERS_TEST(a_hold_without_a_record_of_its_own_is_released_by_its_owner),
        WAITERS_TEST(who_holds_by_a_peer_waits_no_longer),
        WAITERS_TEST(who_takes_a_free_lock_in_turn_tells_the_next),
        WAITERS_TEST(a_free_lock_is_taken_where_messages_are_not_allowed),
        WAITERS_TEST(who_polls_of_ours_is_a_peer),
        WAITERS_TEST(who_polls_of_ours_has_what_is_left_free),
        WAITERS_TEST(who_waited_and_finds_nothing_tells_the_others),
    };

    return cmocka_run_group_tests_name("redis string scripts", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
