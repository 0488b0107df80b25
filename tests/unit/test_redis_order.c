/* Sequences and debounces in Redis, by the store: one request each, and its troubles. */
#include "order_calls.h"
#include "redis_store.h"

#include <stdlib.h>

#define TELLS(expected, answer) assert_string_equal(answer, expected)

/* Every function, with arguments that have no effect, or one that is known. */
static const struct {
    latch_function function;
    const char *arguments[4];
} calls[] = {
    {LATCH_SEQUENCE_ENTER, {"60000", "a"}},
    {LATCH_SEQUENCE_ENTER, {"60000", "b", "p"}},
    {LATCH_SEQUENCE_RESUME, {"60000", "5", "w", "1000"}},
    {LATCH_SEQUENCE_NEXT, {"60000", "5", "w", "1000"}},
    {LATCH_SEQUENCE_PUT_BACK, {"60000", "5", "w"}},
    {LATCH_SEQUENCE_INSPECT, {NULL}},
    {LATCH_SEQUENCE_ABANDON, {"60000", "0", "w", "1000"}},
    {LATCH_DEBOUNCE_REGISTER, {"60000", "1000", "5000"}},
    {LATCH_DEBOUNCE_SENT, {"60000", "1000", "5000", "5"}},
    {LATCH_DEBOUNCE_RESUME, {"60000", "1000", "5000", "50000"}},
    {LATCH_DEBOUNCE_DONE, {"60000", "50000"}},
};

enum { CALLS = sizeof(calls) / sizeof(*calls), SEQUENCE_CALLS = 7 };

static const char *run_call(size_t at)
{
    const char *const *arguments = calls[at].arguments;

    return unit_call_run("r", calls[at].function, arguments[0], arguments[1], arguments[2],
                         arguments[3], NULL);
}

static void each_call_is_one_request_and_each_key_expires(void **state)
{
    static const char script[] =
        "local lost = 0 for _, key in ipairs(redis.call('KEYS', '*')) do "
        "local left = redis.call('PTTL', key) if left < 1 or left > 60000 then lost = lost + 1 "
        "end end return lost";

    (void) state;
    for (int round = 0; round < 2; round++) { /* in the second the server knows the scripts */
        unit_redis_ask("FLUSHALL");
        redis_forget_calls();
        for (size_t at = 0; at < CALLS; at++) {
            UNIT_CHECK(strncmp(run_call(at), "error", 5) != 0);
            assert_int_equal(unit_redis_number("EVAL %s 0", script), 0);
        }
        if (round == 1) {
            assert_int_equal(redis_count_calls("evalsha"), CALLS);
        }
    }
    UNIT_CHECK(unit_redis_number("EXISTS latch:sequence:r latch:sequence-tickets:r "
                                 "latch:sequence-payloads:r latch:debounce:r")
               == 4);
}

static void a_prefix_stands_before_all_keys(void **state)
{
    (void) state;
    unit.store = redis_open("redis://127.0.0.1:%d?prefix=p%%3A", unit_redis.port);
    UNIT_CHECK(unit.store != NULL);
    run_call(0);
    run_call(1);
    assert_int_equal(unit_redis_number("EXISTS p:latch:sequence:r p:latch:sequence-tickets:r "
                                       "p:latch:sequence-payloads:r"),
                     3);
    assert_int_equal(unit_redis_number("DBSIZE"), 3);
}

static void a_key_of_another_type_is_an_error_and_stays(void **state)
{
    static const char *const keys[] = {"latch:sequence:r", "latch:sequence-tickets:r",
                                       "latch:sequence-payloads:r", "latch:debounce:r",
                                       "latch:debounce-ended:r"};

    (void) state;
    for (size_t key = 0; key < sizeof(keys) / sizeof(*keys); key++) {
        for (size_t at = key < 3 ? 0 : SEQUENCE_CALLS; at < (key < 3 ? SEQUENCE_CALLS : CALLS);
             at++) {
            unit_redis_ask("FLUSHALL");
            unit_redis_ask("RPUSH %s x", keys[key]);
            unit_redis_snapshot();
            UNIT_CHECK(strstr(run_call(at), "answered: WRONGTYPE ") != NULL);
            UNIT_CHECK(unit_redis_is_unchanged());
        }
    }
}

static void the_documented_rights_are_enough(void **state)
{
    (void) state;
    unit_redis_let_tester("-@all");
    unit_redis_ask(
        "ACL SETUSER tester +eval +evalsha +del +exists +get +getset +hdel +hexists +hget +hkeys "
        "+hlen +hmget +hset +pexpire +pexpireat +set +time +type +zadd +zcard +zrange "
        "+zrangebyscore +zrank +zrem +zremrangebyscore +zrevrange +zrevrangebyscore +zscore "
        "+pttl +zcount");
    unit.store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);
    UNIT_CHECK(unit.store != NULL);
    entries_are_handled_one_after_the_other(state);
    unit_redis_ask("FLUSHALL");
    a_head_that_never_comes_is_abandoned(state);
    unit_redis_ask("FLUSHALL");
    a_thousand_tickets_are_remembered(state);
    of_a_burst_the_last_goes(state);
    unit_redis_ask("FLUSHALL");
    sixty_four_bursts_wait_to_be_done(state);
}

/* The server's data are lost: the order is, too, but no message that travels. */
static void what_the_server_has_forgotten_is_handled(void **state)
{
    char old[32], new[32];

    (void) state;
    snprintf(old, sizeof(old), "%lld", atoll(run_call(0)));
    unit_redis_ask("FLUSHALL");
    TELLS("late,0", unit_call_run("r", LATCH_SEQUENCE_RESUME, "60000", old, "w", "1000", NULL));
    snprintf(new, sizeof(new), "%lld", atoll(run_call(0)));
    UNIT_CHECK(atoll(new) > atoll(old)); /* no ticket is given out twice */
    TELLS("late,0", unit_call_run("r", LATCH_SEQUENCE_RESUME, "60000", old, "w", "1000", NULL));
    TELLS("go,0", unit_call_run("r", LATCH_SEQUENCE_RESUME, "60000", new, "w", "1000", NULL));
    snprintf(old, sizeof(old), "%lld", atoll(run_call(SEQUENCE_CALLS)));
    unit_redis_ask("FLUSHALL");
    UNIT_CHECK(*unit_call_run("r", LATCH_DEBOUNCE_RESUME, "60000", "0", "5000", old, NULL) == 'g');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ORDER_RULES(REDIS_TEST),
        REDIS_TEST(each_call_is_one_request_and_each_key_expires),
        REDIS_TEST(a_prefix_stands_before_all_keys),
        REDIS_TEST(a_key_of_another_type_is_an_error_and_stays),
        REDIS_TEST(the_documented_rights_are_enough),
        REDIS_TEST(what_the_server_has_forgotten_is_handled),
    };

    return cmocka_run_group_tests_name("redis order", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
