/* The Lua scripts of the Redis store by themselves, on a real server: every path of each. */
#include "redis_sides.h"

#include <stdlib.h>

#define MINUTE INT64_C(60000)

/* Has the record a field of this reader, which has no fencing token? */
static bool is_recorded_reader(const char *token)
{
    return unit_redis_number("HEXISTS " RECORD " %s", token) == 1
           && unit_redis_number("HSTRLEN " RECORD " %s", token) == 0;
}

/* Do the lock and its record end with the last holder? */
static bool expires_with_its_last_member(void)
{
    return lock_expiry() == last_member_expiry() && record_expiry() == lock_expiry();
}

/* ---- Acquire */

static void a_free_lock_is_taken_with_all_that_belongs_to_it(void **state)
{
    int64_t before_us = unit_redis_now_us();
    int64_t fencing = acquire("a", MINUTE);
    int64_t after_us = unit_redis_now_us();

    (void) state;
    assert_in_range(fencing, before_us, after_us); /* it begins with the server's time */
    assert_in_range(expiry_of("a") * 1000, before_us + MINUTE * 1000,
                    after_us + MINUTE * 1000 + 999);
    assert_int_equal(expiry_of("__write__"), expiry_of("a"));
    assert_int_equal(count_members(), 2);
    assert_int_equal(lock_expiry(), expiry_of("a"));
    UNIT_CHECK(record_is("a", fencing));
    assert_int_equal(record_expiry(), expiry_of("a"));
    assert_int_equal(atoll(unit_redis_text("GET " COUNTER)), fencing);
    assert_int_equal(unit_redis_number("PTTL " COUNTER), -1); /* it stays */
    assert_int_equal(unit_redis_number("DBSIZE"), 3);
}

static void a_lock_that_another_holds_is_not_had(void **state)
{
    (void) state;
    acquire("a", MINUTE);
    unit_redis_snapshot();
    UNIT_CHECK(acquire("b", MINUTE) == 0);
    UNIT_CHECK(!share("b", MINUTE));
    UNIT_CHECK(unit_redis_is_unchanged());
    release("a");
    UNIT_CHECK(share("a", MINUTE) && share("c", MINUTE));
    unit_redis_snapshot();
    UNIT_CHECK(acquire("b", MINUTE) == 0);
    UNIT_CHECK(unit_redis_is_unchanged());
}

/* The answer to the first one was lost, say. */
static void a_repeated_acquire_renews(void **state)
{
    int64_t fencing = acquire("a", MINUTE);

    (void) state;
    assert_int_equal(acquire("a", 10 * MINUTE), fencing);
    UNIT_CHECK(expiry_of("a") > unit_redis_now_us() / 1000 + 9 * MINUTE);
    assert_int_equal(expiry_of("__write__"), expiry_of("a"));
    assert_int_equal(lock_expiry(), expiry_of("a"));
    UNIT_CHECK(record_is("a", fencing));
    assert_int_equal(record_expiry(), expiry_of("a"));
    assert_int_equal(acquire("a", MINUTE), fencing); /* also for less */
    UNIT_CHECK(expiry_of("a") <= unit_redis_now_us() / 1000 + MINUTE + 1);
    assert_int_equal(expiry_of("__write__"), expiry_of("a"));
    assert_int_equal(lock_expiry(), expiry_of("a"));
    assert_int_equal(record_expiry(), expiry_of("a"));
}

static void who_has_expired_holds_nothing(void **state)
{
    (void) state;
    acquire("a", MINUTE);
    expire("a");
    UNIT_CHECK(acquire("b", MINUTE) != 0);
    assert_int_equal(count_members(), 2); /* b and the mark of a writer */
    expire("b");
    UNIT_CHECK(share("c", MINUTE));
    assert_int_equal(count_members(), 1);
    UNIT_CHECK(share("d", 2 * MINUTE));
    expire("d");
    UNIT_CHECK(share("e", MINUTE));
    assert_int_equal(count_members(), 2); /* c and e */
    expire("c");
    expire("e");
    UNIT_CHECK(acquire("f", MINUTE) != 0);
    assert_int_equal(count_members(), 2);
    UNIT_CHECK(expires_with_its_last_member());
}

static void a_lone_reader_is_promoted(void **state)
{
    int64_t fencing;

    (void) state;
    share("a", MINUTE);
    fencing = acquire("a", 2 * MINUTE);
    UNIT_CHECK(fencing != 0 && record_is("a", fencing));
    assert_int_equal(count_members(), 2);
    assert_int_equal(expiry_of("__write__"), expiry_of("a"));
    assert_int_equal(lock_expiry(), expiry_of("a"));
    UNIT_CHECK(!share("b", MINUTE));
}

static void one_of_two_readers_is_promoted_when_the_other_has_gone(void **state)
{
    (void) state;
    share("a", MINUTE);
    share("b", MINUTE);
    unit_redis_snapshot();
    UNIT_CHECK(acquire("a", MINUTE) == 0);
    UNIT_CHECK(acquire("b", MINUTE) == 0);
    UNIT_CHECK(unit_redis_is_unchanged()); /* both read on */
    release("b");
    UNIT_CHECK(acquire("a", MINUTE) != 0);
    release("a");
    share("a", MINUTE);
    share("b", MINUTE);
    expire("b");
    UNIT_CHECK(acquire("a", MINUTE) != 0);
    UNIT_CHECK(expiry_of("b") == 0);
}

/* ---- Acquire, shared */

static void readers_share(void **state)
{
    int64_t before_us = unit_redis_now_us();

    (void) state;
    UNIT_CHECK(share("a", MINUTE));
    assert_in_range(expiry_of("a") * 1000, before_us + MINUTE * 1000,
                    unit_redis_now_us() + MINUTE * 1000 + 999);
    UNIT_CHECK(share("b", MINUTE) && share("c", MINUTE));
    assert_int_equal(count_members(), 3);
    UNIT_CHECK(is_recorded_reader("a") && is_recorded_reader("b") && is_recorded_reader("c"));
    UNIT_CHECK(expires_with_its_last_member());
    assert_int_equal(unit_redis_number("DBSIZE"), 2); /* no fencing counter */
}

static void a_writer_is_demoted(void **state)
{
    (void) state;
    acquire("a", MINUTE);
    UNIT_CHECK(share("a", 2 * MINUTE));
    assert_int_equal(count_members(), 1);
    UNIT_CHECK(expiry_of("a") > unit_redis_now_us() / 1000 + MINUTE);
    assert_int_equal(lock_expiry(), expiry_of("a"));
    UNIT_CHECK(is_recorded_reader("a")); /* it has no fencing token any more */
    UNIT_CHECK(share("b", MINUTE));
    UNIT_CHECK(expires_with_its_last_member());
    UNIT_CHECK(acquire("a", MINUTE) == 0);
}

static void the_lock_expires_with_its_last_reader(void **state)
{
    (void) state;
    share("a", 3 * MINUTE);
    share("b", 9 * MINUTE);
    assert_int_equal(lock_expiry(), expiry_of("b"));
    share("c", 6 * MINUTE);
    assert_int_equal(lock_expiry(), expiry_of("b"));
    share("b", 2 * MINUTE); /* renewed for less */
    assert_int_equal(lock_expiry(), expiry_of("c"));
    assert_int_equal(refresh("c", MINUTE), 1);
    assert_int_equal(lock_expiry(), expiry_of("a"));
    release("a");
    assert_int_equal(lock_expiry(), expiry_of("b"));
    release("c");
    assert_int_equal(lock_expiry(), expiry_of("b"));
    release("b");
    assert_int_equal(unit_redis_number("DBSIZE"), 0);
}

/* ---- Refresh */

static void a_writer_is_renewed_with_its_record(void **state)
{
    int64_t fencing = acquire("a", MINUTE);

    (void) state;
    assert_int_equal(refresh("a", 10 * MINUTE), 2);
    UNIT_CHECK(expiry_of("a") > unit_redis_now_us() / 1000 + 9 * MINUTE);
    assert_int_equal(expiry_of("__write__"), expiry_of("a"));
    assert_int_equal(lock_expiry(), expiry_of("a"));
    assert_int_equal(record_expiry(), expiry_of("a"));
    UNIT_CHECK(record_is("a", fencing));
    assert_int_equal(acquire("a", MINUTE), fencing);
}

static void a_reader_is_renewed_alone(void **state)
{
    int64_t expiry;

    (void) state;
    share("a", MINUTE);
    share("b", MINUTE);
    expiry = expiry_of("a");
    assert_int_equal(refresh("b", 10 * MINUTE), 1);
    UNIT_CHECK(expiry_of("b") > unit_redis_now_us() / 1000 + 9 * MINUTE);
    assert_int_equal(expiry_of("a"), expiry);
    assert_int_equal(count_members(), 2);
    UNIT_CHECK(expires_with_its_last_member());
    UNIT_CHECK(is_recorded_reader("a") && is_recorded_reader("b"));
}

static void who_holds_nothing_renews_nothing(void **state)
{
    (void) state;
    assert_int_equal(refresh("a", MINUTE), 0);
    assert_int_equal(unit_redis_number("DBSIZE"), 0);
    acquire("a", MINUTE);
    unit_redis_snapshot();
    assert_int_equal(refresh("b", MINUTE), 0);
    UNIT_CHECK(unit_redis_is_unchanged());
    release("a");
    assert_int_equal(refresh("a", MINUTE), 0);
    UNIT_CHECK(!exists(LOCK) && !exists(RECORD));
}

/* As Symfony's: nobody else has come meanwhile, or the member would be gone. */
static void who_has_expired_unnoticed_is_renewed(void **state)
{
    (void) state;
    acquire("a", MINUTE);
    expire("a");
    assert_int_equal(refresh("a", MINUTE), 2);
    UNIT_CHECK(acquire("b", MINUTE) == 0);
    assert_int_equal(probe("a", NULL), 2);
}

/* ---- Release */

static void a_writer_leaves_nothing_but_the_counter(void **state)
{
    (void) state;
    acquire("a", MINUTE);
    UNIT_CHECK(release("a"));
    UNIT_CHECK(!exists(LOCK) && !exists(RECORD) && exists(COUNTER));
    UNIT_CHECK(!release("a"));
    UNIT_CHECK(acquire("b", MINUTE) != 0);
}

static void a_reader_leaves_the_others_as_they_are(void **state)
{
    int64_t expiry;

    (void) state;
    share("a", 2 * MINUTE);
    share("b", MINUTE);
    share("c", MINUTE);
    expiry = expiry_of("b");
    UNIT_CHECK(release("a"));
    assert_int_equal(count_members(), 2);
    assert_int_equal(expiry_of("b"), expiry);
    UNIT_CHECK(expires_with_its_last_member());
    UNIT_CHECK(acquire("b", MINUTE) == 0);
}

static void who_holds_nothing_gives_nothing_back(void **state)
{
    (void) state;
    UNIT_CHECK(!release("a"));
    acquire("a", MINUTE);
    unit_redis_snapshot();
    UNIT_CHECK(!release("b"));
    UNIT_CHECK(unit_redis_is_unchanged());
    share("a", MINUTE);
    unit_redis_snapshot();
    UNIT_CHECK(!release("b"));
    UNIT_CHECK(unit_redis_is_unchanged());
}

/* ---- Probe */

static void a_probe_tells_a_hold_and_changes_nothing(void **state)
{
    int64_t left_ms = 0;

    (void) state;
    assert_int_equal(probe("a", NULL), 0);
    acquire("a", MINUTE);
    unit_redis_snapshot();
    assert_int_equal(probe("a", &left_ms), 2);
    UNIT_CHECK(left_ms > 0 && left_ms <= MINUTE);
    assert_int_equal(probe("b", NULL), 0);
    UNIT_CHECK(unit_redis_is_unchanged());
    expire("a");
    unit_redis_snapshot();
    assert_int_equal(probe("a", NULL), 0);
    UNIT_CHECK(unit_redis_is_unchanged());
    share("a", MINUTE);
    share("b", 10 * MINUTE);
    unit_redis_snapshot();
    assert_int_equal(probe("a", &left_ms), 1);
    UNIT_CHECK(left_ms > 0 && left_ms <= MINUTE);
    assert_int_equal(probe("b", &left_ms), 1);
    UNIT_CHECK(left_ms > 9 * MINUTE && left_ms <= 10 * MINUTE);
    assert_int_equal(probe("c", NULL), 0);
    UNIT_CHECK(unit_redis_is_unchanged());
}

/* ---- What is not ours */

/* Of Laravel, or of Symfony before 5.2. */
static void a_string_is_held_by_somebody_else(void **state)
{
    (void) state;
    unit_redis_ask("SET " LOCK " a PX 60000");
    unit_redis_snapshot();
    UNIT_CHECK(acquire("a", MINUTE) == 0);
    UNIT_CHECK(!share("a", MINUTE));
    assert_int_equal(refresh("a", MINUTE), 0);
    UNIT_CHECK(!release("a"));
    assert_int_equal(probe("a", NULL), 0);
    UNIT_CHECK(unit_redis_is_unchanged());
    unit_redis_ask("DEL " LOCK);
    UNIT_CHECK(acquire("a", MINUTE) != 0);
}

static void all_fail(const char *error)
{
    unit_redis_snapshot();
    UNIT_CHECK(unit_redis_is_error(try_acquire("a", MINUTE), error));
    UNIT_CHECK(unit_redis_is_error(try_share("a", MINUTE), error));
    UNIT_CHECK(unit_redis_is_error(try_refresh("a", MINUTE), error));
    UNIT_CHECK(unit_redis_is_error(try_release("a"), error));
    UNIT_CHECK(unit_redis_is_error(try_probe("a"), error));
    UNIT_CHECK(unit_redis_is_unchanged());
}

static void keys_of_other_types_are_errors(void **state)
{
    static const char *const makers[] = {"HSET " LOCK " a 1", "RPUSH " LOCK " a", "SADD " LOCK " a",
                                         "XADD " LOCK " * a 1"};

    (void) state;
    for (size_t at = 0; at < sizeof(makers) / sizeof(makers[0]); at++) {
        unit_redis_ask(makers[at]);
        all_fail("WRONGTYPE");
        unit_redis_ask("DEL " LOCK);
    }
}

static void a_counter_that_is_no_number_begins_anew(void **state)
{
    (void) state;
    unit_redis_ask("SET " COUNTER " nonsense");
    UNIT_CHECK(acquire("a", MINUTE) > 0);
    release("a");
    unit_redis_ask("DEL " COUNTER);
    unit_redis_ask("RPUSH " COUNTER " 1");
    UNIT_CHECK(unit_redis_is_error(try_acquire("a", MINUTE), "WRONGTYPE"));
    assert_int_equal(unit_redis_number("DBSIZE"), 1);
}

/* ---- A server that refuses */

static void a_full_server_refuses_without_half_a_lock_and_takes_back(void **state)
{
    (void) state;
    unit_redis_ask("CONFIG SET maxmemory 1");
    UNIT_CHECK(unit_redis_is_error(try_acquire("a", MINUTE), "OOM"));
    UNIT_CHECK(unit_redis_is_error(try_share("a", MINUTE), "OOM"));
    assert_int_equal(unit_redis_number("DBSIZE"), 0);
    unit_redis_ask("CONFIG SET maxmemory 0");
    acquire("a", MINUTE);
    unit_redis_ask("CONFIG SET maxmemory 1");
    assert_int_equal(probe("a", NULL), 2);
    UNIT_CHECK(release("a"));
    UNIT_CHECK(!exists(LOCK) && !exists(RECORD));
}

/* Whatever command an ACL forbids: what was not granted is nobody's once its time is over. */
static void a_forbidden_command_leaves_no_lock_for_ever(void **state)
{
    static const char *const commands[] = {"type",     "exists",    "zremrangebyscore",
                                           "zscore",   "zcard",     "getset",
                                           "set",      "del",       "zadd",
                                           "hset",     "hget",      "hlen",
                                           "zrem",     "pexpireat", "pexpire",
                                           "zrevrange"};

    (void) state;
    for (size_t at = 0; at < sizeof(commands) / sizeof(commands[0]); at++) {
        char rule[32];

        snprintf(rule, sizeof(rule), "-%s", commands[at]);
        unit_redis_let_tester(rule);
        unit_redis_ask("AUTH tester secret");
        try_acquire("a", MINUTE);
        try_share("b", MINUTE);
        unit_redis_ask("AUTH default %s", "");
        unit_redis_ask("ZREMRANGEBYSCORE " LOCK " -inf %lld",
                       (long long) unit_redis_now_us() / 1000 + 2 * MINUTE);
        UNIT_CHECK(acquire("c", MINUTE) != 0);
        UNIT_CHECK(expires_with_its_last_member());
        unit_redis_ask("FLUSHALL");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIDES_TEST(a_free_lock_is_taken_with_all_that_belongs_to_it),
        SIDES_TEST(a_lock_that_another_holds_is_not_had),
        SIDES_TEST(a_repeated_acquire_renews),
        SIDES_TEST(who_has_expired_holds_nothing),
        SIDES_TEST(a_lone_reader_is_promoted),
        SIDES_TEST(one_of_two_readers_is_promoted_when_the_other_has_gone),
        SIDES_TEST(readers_share),
        SIDES_TEST(a_writer_is_demoted),
        SIDES_TEST(the_lock_expires_with_its_last_reader),
        SIDES_TEST(a_writer_is_renewed_with_its_record),
        SIDES_TEST(a_reader_is_renewed_alone),
        SIDES_TEST(who_holds_nothing_renews_nothing),
        SIDES_TEST(who_has_expired_unnoticed_is_renewed),
        SIDES_TEST(a_writer_leaves_nothing_but_the_counter),
        SIDES_TEST(a_reader_leaves_the_others_as_they_are),
        SIDES_TEST(who_holds_nothing_gives_nothing_back),
        SIDES_TEST(a_probe_tells_a_hold_and_changes_nothing),
        SIDES_TEST(a_string_is_held_by_somebody_else),
        SIDES_TEST(keys_of_other_types_are_errors),
        SIDES_TEST(a_counter_that_is_no_number_begins_anew),
        SIDES_TEST(a_full_server_refuses_without_half_a_lock_and_takes_back),
        SIDES_TEST(a_forbidden_command_leaves_no_lock_for_ever),
    };

    return cmocka_run_group_tests_name("redis scripts", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
