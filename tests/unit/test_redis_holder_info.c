/*
 * What those who hold a lock in Redis leave behind about themselves, how it is told, and how a lock
 * is taken away from them: the scripts by themselves, on a real server.
 */
#include "redis_scripts.h"
#include "redis_waiters.h"

#include <stdlib.h>

#define SCRIPT_INFO "web 8 /srv/an other.php"

static waiter *a, *b, *c;

static int setup(void **state)
{
    redis_waiters_setup(state);
    a = new_waiter("a");
    b = new_waiter("b");
    c = new_waiter("c");
    return 0;
}

#define HOLDER_INFO_TEST(test) cmocka_unit_test_setup_teardown(test, setup, redis_waiters_teardown)

/* ---- What is written down */

static int64_t acquire_with(const char *token, const char *info)
{
    char term[128];
    const redisReply *reply;

    snprintf(term, sizeof(term), "60000%s%s", *info != '\0' ? " " : "", info);
    reply = no_error(unit_redis_try("EVAL %s 5 " QUEUE_KEYS " " COUNTER " %s %s",
                                    on_clock(REDIS_LUA_ACQUIRE), token, term));
    return reply->type == REDIS_REPLY_STRING ? atoll(reply->str) : 0;
}

static void share_with(const char *token, const char *info)
{
    char term[128];

    snprintf(term, sizeof(term), "60000 %s", info);
    no_error(unit_redis_try("EVAL %s 4 " QUEUE_KEYS " %s %s", on_clock(REDIS_LUA_ACQUIRE_SHARED),
                            token, term));
}

/* Is that recorded of it, and this holder information? A fencing token of 0 is none. */
static bool is_recorded(const char *token, int64_t fencing, int64_t since_us, const char *info)
{
    char expected[256], number[24] = "";

    if (fencing != 0) {
        snprintf(number, sizeof(number), "%lld", (long long) fencing);
    }
    snprintf(expected, sizeof(expected), "%s %lld %s", number, (long long) since_us, info);
    return strcmp(unit_redis_text("HGET " RECORD " %s", token), expected) == 0;
}

static void a_holder_leaves_its_holder_info(void **state)
{
    int64_t fencing = acquire_with("a", SCRIPT_INFO);

    (void) state;
    assert_int_equal(fencing, clock_us);
    UNIT_CHECK(is_recorded("a", fencing, clock_us, SCRIPT_INFO));
    UNIT_CHECK(release("a"));
    acquire_with("a", "");
    UNIT_CHECK(strchr(unit_redis_text("HGET " RECORD " a"), ' ') == NULL);
    UNIT_CHECK(release("a"));
    share_with("a", SCRIPT_INFO);
    UNIT_CHECK(is_recorded("a", 0, clock_us, SCRIPT_INFO));
    pass_ms(5);
    share_with("b", HOLDER_INFO);
    UNIT_CHECK(is_recorded("a", 0, clock_us - 5000, SCRIPT_INFO));
    UNIT_CHECK(is_recorded("b", 0, clock_us, HOLDER_INFO));
}

static void holder_info_takes_no_further_command(void **state)
{
    int commands[2];

    (void) state;
    for (int with = 0; with < 2; with++) {
        const char *at;

        unit_redis_ask("CONFIG RESETSTAT");
        acquire_with("a", with ? SCRIPT_INFO : "");
        at = unit_redis_text("INFO commandstats");
        for (commands[with] = 0; (at = strstr(at, ":calls=")) != NULL; at++) {
            commands[with] += atoi(at + sizeof(":calls=") - 1);
        }
        release("a");
        pass_ms(5); /* else the fencing token would be counted on */
    }
    assert_int_equal(commands[1], commands[0]);
    UNIT_CHECK(commands[0] > 5);
}

/* A key that was handed over, say. */
static void a_holder_is_recorded_anew_and_has_held_since_then(void **state)
{
    int64_t since_us = clock_us, fencing = acquire_with("a", SCRIPT_INFO);

    (void) state;
    pass_ms(7);
    assert_int_equal(acquire_with("a", HOLDER_INFO), fencing);
    UNIT_CHECK(is_recorded("a", fencing, since_us, HOLDER_INFO));
    refresh("a", MINUTE);
    UNIT_CHECK(is_recorded("a", fencing, since_us, HOLDER_INFO));
    share_with("a", HOLDER_INFO); /* it was no reader until now */
    UNIT_CHECK(is_recorded("a", 0, clock_us, HOLDER_INFO));
    pass_ms(7);
    share_with("a", SCRIPT_INFO);
    UNIT_CHECK(is_recorded("a", 0, clock_us - 7000, SCRIPT_INFO));
    fencing = acquire_with("a", HOLDER_INFO); /* nor a writer */
    UNIT_CHECK(is_recorded("a", fencing, clock_us, HOLDER_INFO));
    /* Left by a holder without holder information, or by an unknown program. */
    unit_redis_ask("HSET " RECORD " a 17");
    assert_int_equal(acquire_with("a", HOLDER_INFO), 17);
    UNIT_CHECK(is_recorded("a", 17, clock_us, HOLDER_INFO));
    unit_redis_ask("HSET " RECORD " a nonsense");
    fencing = acquire_with("a", HOLDER_INFO);
    UNIT_CHECK(fencing >= clock_us && is_recorded("a", fencing, clock_us, HOLDER_INFO));
}

static void a_waiter_granted_the_lock_is_recorded_when_it_claims_it(void **state)
{
    static const char modes[] = "wr";

    (void) state;
    for (const char *mode = modes; *mode != '\0'; mode++) {
        takes(a, 'w', "try");
        is_placed(b, *mode, "wait", 0);
        UNIT_CHECK(give_up(a));
        hears_granted(b);
        assert_string_equal(unit_redis_text("HGET " RECORD " b"), "");
        pass_ms(1);
        takes(b, *mode, "claim");
        UNIT_CHECK(is_recorded("b", *mode == 'w' ? atoll(unit_redis_text("GET " COUNTER)) : 0,
                               clock_us, HOLDER_INFO));
        UNIT_CHECK(give_up(b));
    }
}

/* ---- What is told */

static redisReply *inspect(const char *how)
{
    return unit_redis_try("EVAL %s 3 " LOCK " " RECORD " " QUEUE " %s", on_clock(REDIS_LUA_INSPECT),
                          how);
}

/* How others call the one that has this token. */
static const char *identity_of(const char *token)
{
    static char identity[17];

    snprintf(identity, sizeof(identity), "%s",
             unit_redis_text("EVAL %s 0 %s", "return redis.sha1hex(ARGV[1])", token));
    return identity;
}

/* What stands before the holders, and for each of them: its identity, the ms left, its record. */
enum { HEAD = 3, EACH = 3 };

static long long number_at(const redisReply *told, size_t at)
{
    UNIT_CHECK(at < told->elements && told->element[at]->type == REDIS_REPLY_STRING);
    return atoll(told->element[at]->str);
}

/* What is told of the lock: "2 1 0", its mode, its holders and who wait; and of so many holders. */
static bool is_told(const redisReply *told, long long mode, long long count, long long waiters,
                    size_t listed)
{
    return told->type == REDIS_REPLY_ARRAY && told->elements == HEAD + listed * EACH
           && number_at(told, 0) == mode && number_at(told, 1) == count
           && number_at(told, 2) == waiters;
}

static void a_lock_tells_its_holders_and_who_waits(void **state)
{
    const redisReply *told;
    char identity[17];

    (void) state;
    assert_int_equal(inspect("")->type, REDIS_REPLY_NIL);
    takes(a, 'w', "try");
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'r', "wait", 1);
    snprintf(identity, sizeof(identity), "%s", identity_of("a"));
    told = no_error(inspect(""));
    UNIT_CHECK(is_told(told, 2, 1, 2, 1));
    assert_string_equal(told->element[HEAD]->str, identity);
    assert_int_equal(number_at(told, HEAD + 1), WAITER_TTL);
    UNIT_CHECK(strstr(told->element[HEAD + 2]->str, " " HOLDER_INFO) != NULL);
}

static void readers_are_told_but_those_that_have_expired(void **state)
{
    const redisReply *told;
    char identity[17];

    (void) state;
    share("a", MINUTE);
    share("b", 3 * MINUTE);
    share("c", 2 * MINUTE);
    pass_ms(MINUTE);
    snprintf(identity, sizeof(identity), "%s", identity_of("b"));
    unit_redis_snapshot();
    told = no_error(inspect(""));
    UNIT_CHECK(is_told(told, 1, 2, 0, 2));
    assert_string_equal(told->element[HEAD]->str, identity);
    UNIT_CHECK(unit_redis_is_unchanged());
    pass_ms(2 * MINUTE);
    assert_int_equal(inspect("")->type, REDIS_REPLY_NIL);
}

static void of_very_many_holders_some_are_told(void **state)
{
    const redisReply *told;

    (void) state;
    unit_redis_ask("EVAL %s 1 " LOCK " %lld",
                   "for at = 1, 600 do redis.call('ZADD', KEYS[1], "
                   "string.format('%.0f', ARGV[1] + at), 'token' .. at) end",
                   (long long) (clock_us / 1000));
    told = no_error(inspect(""));
    UNIT_CHECK(is_told(told, 1, 600, 0, 500));
    assert_int_equal(number_at(told, HEAD + 1), 600);
    assert_string_equal(told->element[HEAD + 2]->str, "");
}

static void a_peers_lock_is_told_if_it_looks_like_one(void **state)
{
    static const char *const token = "YW5vdGhlciBvbmUgd2hvIHdvdWxkIGxpa2UgdG8gaGE=";

    (void) state;
    clock_us = 0;
    UNIT_CHECK(symfony_side.acquire(token, MINUTE));
    UNIT_CHECK(is_told(no_error(inspect("")), 2, 1, 0, 1));
    UNIT_CHECK(is_told(no_error(inspect("list")), 2, 1, 0, 1));
    unit_redis_ask("ZADD " LOCK " 99999999999999 somebody");
    UNIT_CHECK(is_told(no_error(inspect("")), 2, 2, 0, 2));
    assert_int_equal(no_error(inspect("list"))->type, REDIS_REPLY_NIL); /* who knows what it is */
    unit_redis_ask("HSET " RECORD " somebody ''");
    UNIT_CHECK(is_told(no_error(inspect("list")), 2, 2, 0, 2));
}

static void a_string_is_a_lock_unless_it_was_found_somewhere(void **state)
{
    const redisReply *told;

    (void) state;
    unit_redis_ask("SET " LOCK " owner");
    told = no_error(inspect(""));
    UNIT_CHECK(is_told(told, 2, 1, 0, 1));
    assert_int_equal(number_at(told, HEAD + 1), -1);
    unit_redis_ask("PEXPIRE " LOCK " 90000");
    told = no_error(inspect(""));
    assert_in_range(number_at(told, HEAD + 1), 1, 90000);
    assert_int_equal(no_error(inspect("list"))->type, REDIS_REPLY_NIL);
}

static void what_is_no_lock_is_told_or_left_out(void **state)
{
    (void) state;
    unit_redis_ask("HSET " LOCK " a 1");
    UNIT_CHECK(unit_redis_is_error(inspect(""), "WRONGTYPE"));
    assert_int_equal(no_error(inspect("list"))->type, REDIS_REPLY_NIL);
    unit_redis_ask("DEL " LOCK);
    acquire("a", MINUTE);
    unit_redis_ask("DEL " RECORD);
    unit_redis_ask("SET " RECORD " nonsense");
    unit_redis_ask("SET " QUEUE " nonsense");
    UNIT_CHECK(is_told(no_error(inspect("")), 2, 1, 0, 1));
}

/* ---- An end to that */

static long long evict(const char *identities)
{
    return no_error(
               unit_redis_try("EVAL %s 4 " QUEUE_KEYS " %s", on_clock(REDIS_LUA_EVICT), identities))
        ->integer;
}

static void a_lock_that_is_taken_away_is_handed_over(void **state)
{
    (void) state;
    takes(a, 'w', "try");
    is_placed(b, 'w', "wait", 0);
    is_placed(c, 'w', "wait", 1);
    assert_int_equal(evict(identity_of("a")), 1);
    hears_granted(b);
    takes(b, 'w', "claim");
    assert_int_equal(refresh("a", MINUTE), 0);
    UNIT_CHECK(!give_up(a));
    UNIT_CHECK(holds("b"));
}

static void who_has_come_since_keeps_the_lock(void **state)
{
    char identity[17];

    (void) state;
    takes(a, 'w', "try");
    snprintf(identity, sizeof(identity), "%s", identity_of("a"));
    UNIT_CHECK(give_up(a));
    takes(b, 'w', "try");
    unit_redis_snapshot();
    assert_int_equal(evict(identity), 0);
    assert_int_equal(evict(""), 0);
    assert_int_equal(evict(identity_of("__write__")), 0);
    UNIT_CHECK(unit_redis_is_unchanged());
}

static void of_readers_those_that_are_named_lose_it(void **state)
{
    char identities[64];
    size_t length;

    (void) state;
    share("a", 3 * MINUTE);
    share("b", 2 * MINUTE);
    share("c", MINUTE);
    is_placed(new_waiter("d"), 'w', "wait", 0);
    length = (size_t) snprintf(identities, sizeof(identities), "%s ", identity_of("a"));
    snprintf(identities + length, sizeof(identities) - length, "%s", identity_of("c"));
    assert_int_equal(evict(identities), 2);
    UNIT_CHECK(holds("b") && count_members() == 1);
    assert_int_equal(lock_expiry(), expiry_of("b"));
    assert_int_equal(record_expiry(), expiry_of("b"));
    assert_int_equal(unit_redis_number("HLEN " RECORD), 1);
}

static void peers_lose_it_as_others_do(void **state)
{
    (void) state;
    clock_us = 0;
    UNIT_CHECK(symfony_side.acquire("s", MINUTE));
    is_placed(b, 'w', "wait", 0);
    assert_int_equal(evict(identity_of("s")), 1);
    hears_granted(b);
    UNIT_CHECK(give_up(b));
    unit_redis_ask("SET " LOCK " owner PX 90000");
    is_placed(b, 'w', "wait", 0);
    assert_int_equal(evict(identity_of("other")), 0);
    assert_int_equal(evict(identity_of("owner")), 1);
    hears_granted_at_last(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDER_INFO_TEST(a_holder_leaves_its_holder_info),
        HOLDER_INFO_TEST(holder_info_takes_no_further_command),
        HOLDER_INFO_TEST(a_holder_is_recorded_anew_and_has_held_since_then),
        HOLDER_INFO_TEST(a_waiter_granted_the_lock_is_recorded_when_it_claims_it),
        HOLDER_INFO_TEST(a_lock_tells_its_holders_and_who_waits),
        HOLDER_INFO_TEST(readers_are_told_but_those_that_have_expired),
        HOLDER_INFO_TEST(of_very_many_holders_some_are_told),
        HOLDER_INFO_TEST(a_peers_lock_is_told_if_it_looks_like_one),
        HOLDER_INFO_TEST(a_string_is_a_lock_unless_it_was_found_somewhere),
        HOLDER_INFO_TEST(what_is_no_lock_is_told_or_left_out),
        HOLDER_INFO_TEST(a_lock_that_is_taken_away_is_handed_over),
        HOLDER_INFO_TEST(who_has_come_since_keeps_the_lock),
        HOLDER_INFO_TEST(of_readers_those_that_are_named_lose_it),
        HOLDER_INFO_TEST(peers_lose_it_as_others_do),
    };

    return cmocka_run_group_tests_name("redis holder info", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
