/* Versions, throttles and count-downs in Redis, by the store: one request each, and its troubles.
 */
#include "calls.h"
#include "redis_client.h"
#include "redis_store.h"

#include <stdlib.h>

#define TELLS(expected, answer) assert_string_equal(answer, expected)

/* ---- What is in the server */

static void each_call_is_one_request_and_each_key_expires(void **state)
{
    static const struct {
        latch_function function;
        const char *arguments[4];
    } calls[] = {
        {LATCH_VERSION_ADVANCE, {"60000", "5", "0"}},
        {LATCH_VERSION_REVERT, {"60000", "5"}},
        {LATCH_VERSION_OUTDATED, {"5"}},
        {LATCH_VERSION_GET, {NULL}},
        {LATCH_THROTTLE_RESERVE, {"9000000", "0", "0"}},
        {LATCH_THROTTLE_LOOK, {"9000000", "0"}},
        {LATCH_COUNT_DOWN_OPEN, {"60000", "1 a", "p"}},
        {LATCH_COUNT_DOWN_ARRIVE, {"60000", "a", "0", "1000"}},
        {LATCH_COUNT_DOWN_DONE, {"60000"}},
        {LATCH_COUNT_DOWN_CANCEL, {NULL}},
        {LATCH_COUNT_DOWN_STATE, {NULL}},
        {LATCH_COUNT_DOWN_INSPECT, {NULL}},
    };
    char script[256];

    (void) state;
    snprintf(
        script, sizeof(script),
        "local lost = 0 for _, key in ipairs(redis.call('KEYS', '*')) do "
        "local left = redis.call('PTTL', key) if left < 1 or left > 60000 then lost = lost + 1 "
        "end end return lost");
    for (int round = 0; round < 2; round++) { /* in the second the server knows the scripts */
        redis_forget_calls();
        for (size_t at = 0; at < sizeof(calls) / sizeof(*calls); at++) {
            const char *const *arguments = calls[at].arguments;
            const char *answer = unit_call_run("r", calls[at].function, arguments[0], arguments[1],
                                               arguments[2], arguments[3], NULL);

            UNIT_CHECK(strncmp(answer, "error", 5) != 0);
            assert_int_equal(unit_redis_number("EVAL %s 0", script), 0);
        }
        if (round == 1) {
            assert_int_equal(redis_count_calls("evalsha"), sizeof(calls) / sizeof(*calls));
        }
    }
    UNIT_CHECK(unit_redis_number("EXISTS latch:version:r latch:throttle:r latch:count:r") == 3);
}

static void a_prefix_stands_before_all_keys(void **state)
{
    (void) state;
    unit.store = redis_open("redis://127.0.0.1:%d?prefix=p%%3A", unit_redis.port);
    UNIT_CHECK(unit.store != NULL);
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "60000", "1 a", "p", NULL));
    assert_int_equal(unit_redis_number("EXISTS p:latch:count:r p:latch:count-members:r"), 2);
    assert_int_equal(unit_redis_number("DBSIZE"), 2);
}

static void a_key_of_another_type_is_an_error_and_stays(void **state)
{
    static const struct {
        const char *key;
        latch_function function;
        const char *arguments[4];
    } calls[] = {
        {"latch:version:r", LATCH_VERSION_ADVANCE, {"60000", "5", "0"}},
        {"latch:version:r", LATCH_VERSION_REVERT, {"60000", "5"}},
        {"latch:version:r", LATCH_VERSION_OUTDATED, {"5"}},
        {"latch:version:r", LATCH_VERSION_GET, {NULL}},
        {"latch:throttle:r", LATCH_THROTTLE_RESERVE, {"9000000", "0", "0"}},
        {"latch:throttle:r", LATCH_THROTTLE_LOOK, {"9000000", "0"}},
        {"latch:count:r", LATCH_COUNT_DOWN_OPEN, {"60000", "1 a", "p"}},
        {"latch:count:r", LATCH_COUNT_DOWN_ARRIVE, {"60000", "a", "0", "1000"}},
        {"latch:count:r", LATCH_COUNT_DOWN_DONE, {"60000"}},
        {"latch:count:r", LATCH_COUNT_DOWN_CANCEL, {NULL}},
        {"latch:count:r", LATCH_COUNT_DOWN_STATE, {NULL}},
        {"latch:count:r", LATCH_COUNT_DOWN_INSPECT, {NULL}},
        {"latch:count-members:r", LATCH_COUNT_DOWN_OPEN, {"60000", "1 a", "p"}},
        {"latch:count-members:r", LATCH_COUNT_DOWN_ARRIVE, {"60000", "a", "0", "1000"}},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(calls) / sizeof(*calls); at++) {
        const char *const *arguments = calls[at].arguments;
        const char *answer;

        unit_redis_ask("FLUSHALL");
        unit_redis_ask("RPUSH %s x", calls[at].key);
        unit_redis_snapshot();
        answer = unit_call_run("r", calls[at].function, arguments[0], arguments[1], arguments[2],
                               arguments[3], NULL);
        UNIT_CHECK(strstr(answer, "answered: WRONGTYPE ") != NULL);
        UNIT_CHECK(unit_redis_is_unchanged());
    }
}

/* ---- Answers that are lost */

/* A store on a wire that is connected, to a server that knows the scripts. */
static latch_store *store_on_wire(void)
{
    latch_store *store;
    unit_call first;
    latch_op op;

    UNIT_CHECK(*unit_call_run("o", LATCH_VERSION_GET, NULL) == '\0');
    TELLS("0", unit_call_run("o", LATCH_THROTTLE_LOOK, "1", "0", NULL));
    TELLS("none", unit_call_run("o", LATCH_COUNT_DOWN_STATE, NULL));
    store = redis_wire_open("?read_timeout=10");
    unit_call_make(&first, store, "o", LATCH_COUNT_DOWN_STATE, NULL);
    redis_send(&op, &first.lease, unit_call_request(&first));
    redis_wire_accept();
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    TELLS("none", unit_call_told(&first, unit_finish(&op, LATCH_WANT_IO)));
    return store;
}

typedef struct lost_call {
    latch_function function;
    const char *arguments[4];
    const char *answer;
} lost_call;

static const char *call_directly(const lost_call *call)
{
    const char *const *a = call->arguments;

    return unit_call_run("r", call->function, a[0], a[1], a[2], a[3], NULL);
}

/*
 * Sends it, lets it be carried out, loses the answer, and lets the repetition pass, after another
 * call, unless that is NULL.
 */
static const char *lose_answer(latch_store *store, const lost_call *lost,
                               const lost_call *meanwhile)
{
    const char *const *a = lost->arguments;
    latch_status status;
    unit_call made;
    latch_op op;

    unit_call_make(&made, store, "r", lost->function, a[0], a[1], a[2], a[3], NULL);
    redis_send(&op, &made.lease, unit_call_request(&made));
    redis_wire_pass_command();
    redis_wire_pass_reply(0);
    redis_wire_cut();
    if (meanwhile != NULL) {
        TELLS(meanwhile->answer, call_directly(meanwhile));
    }
    status = redis_step_until_sent(&op, latch_op_step(&op, unit_now_ns()));
    redis_wire_accept();
    redis_wire_pass_all(50);
    return unit_call_told(&made, redis_wire_finish(&op, status));
}

static void a_lost_answer_changes_nothing_twice(void **state)
{
    static const lost_call calls[] = {
        {LATCH_VERSION_ADVANCE, {"60000", "5", "0"}, "1"},
        {LATCH_VERSION_ADVANCE, {"60000", "6", "0"}, "1"},
        {LATCH_VERSION_REVERT, {"60000", "6"}, "1"},
        {LATCH_VERSION_GET, {NULL}, "5"},
        {LATCH_THROTTLE_RESERVE, {"60000000", "60000000", "0"}, "1,0"},
        {LATCH_COUNT_DOWN_OPEN, {"60000", "1 a1 b", "p"}, "1"},
        {LATCH_COUNT_DOWN_ARRIVE, {"60000", "a", "0", "1000"}, "open,1,0,"},
        {LATCH_COUNT_DOWN_ARRIVE, {"60000", "b", "0", "60000"}, "arrived,0,1,p"},
        {LATCH_COUNT_DOWN_DONE, {"60000"}, "done,0"},
    };
    latch_store *store = store_on_wire();

    (void) state;
    for (size_t at = 0; at < sizeof(calls) / sizeof(*calls); at++) {
        TELLS(calls[at].answer, lose_answer(store, &calls[at], NULL));
    }
    TELLS("5", unit_call_run("r", LATCH_VERSION_GET, NULL));
    TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "60000000", "60000000", "0", NULL));
    UNIT_CHECK(unit_call_run("r", LATCH_THROTTLE_RESERVE, "60000000", "60000000", "0", NULL)[0]
               == '0');
}

static void a_lost_answer_is_told_after_what_others_did(void **state)
{
    /* What was there before, what is lost, what another did, and what is there then. */
    static const lost_call cases[][4] = {
        {{LATCH_VERSION_GET, {NULL}, ""},
         {LATCH_VERSION_ADVANCE, {"60000", "5", "0"}, "1"},
         {LATCH_VERSION_ADVANCE, {"60000", "6", "0"}, "1"},
         {LATCH_VERSION_GET, {NULL}, "6"}},
        {{LATCH_VERSION_ADVANCE, {"60000", "7", "0"}, "1"},
         {LATCH_VERSION_REVERT, {"60000", "7"}, "1"},
         {LATCH_VERSION_ADVANCE, {"60000", "7", "0"}, "1"},
         {LATCH_VERSION_GET, {NULL}, "7"}},
        {{LATCH_THROTTLE_LOOK, {"60000000", "60000000"}, "0"},
         {LATCH_THROTTLE_RESERVE, {"60000000", "60000000", "0"}, "1,0"},
         {LATCH_THROTTLE_RESERVE, {"60000000", "60000000", "0"}, "1,0"},
         {LATCH_VERSION_GET, {NULL}, "7"}},
        {{LATCH_COUNT_DOWN_STATE, {NULL}, "none"},
         {LATCH_COUNT_DOWN_OPEN, {"60000", "1 a", "p"}, "1"},
         {LATCH_COUNT_DOWN_CANCEL, {NULL}, "1"},
         {LATCH_COUNT_DOWN_STATE, {NULL}, "cancelled"}},
        {{LATCH_COUNT_DOWN_OPEN, {"60000", "1 a", "p"}, "1"},
         {LATCH_COUNT_DOWN_CANCEL, {NULL}, "1"},
         {LATCH_COUNT_DOWN_OPEN, {"60000", "1 b", "p"}, "1"},
         {LATCH_COUNT_DOWN_STATE, {NULL}, "open"}},
        {{LATCH_COUNT_DOWN_STATE, {NULL}, "open"},
         {LATCH_COUNT_DOWN_ARRIVE, {"60000", "b", "0", "60000"}, "arrived,0,1,p"},
         {LATCH_COUNT_DOWN_ARRIVE, {"60000", "b", "0", "60000"}, "arrived,0,0,"},
         {LATCH_COUNT_DOWN_STATE, {NULL}, "arrived"}},
    };
    latch_store *store = store_on_wire();

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(*cases); at++) {
        TELLS(cases[at][0].answer, call_directly(&cases[at][0]));
        TELLS(cases[at][1].answer, lose_answer(store, &cases[at][1], &cases[at][2]));
        TELLS(cases[at][3].answer, call_directly(&cases[at][3]));
    }
}

static void a_repetition_that_comes_too_late_is_not_sent(void **state)
{
    latch_store *store = store_on_wire();
    const char *told;
    unit_call made;
    latch_op op;

    (void) state;
    unit_call_make(&made, store, "r", LATCH_VERSION_ADVANCE, "60000", "5", "0", NULL);
    redis_send(&op, &made.lease, unit_call_request(&made));
    redis_wire_take_command();
    redis_wire_cut();
    op.sent_ns -= 31 * LATCH_NS_PER_S; /* as with a long read_timeout */
    told = unit_call_told(&made, unit_finish(&op, LATCH_WANT_IO));
    UNIT_CHECK(strstr(told, "lost the connection to Redis") != NULL);
    TELLS("", unit_call_run("r", LATCH_VERSION_GET, NULL));
}

static void a_call_that_is_lost_twice_fails(void **state)
{
    latch_store *store = store_on_wire();
    const char *told;
    unit_call made;
    latch_op op;

    (void) state;
    unit_call_make(&made, store, "r", LATCH_VERSION_ADVANCE, "60000", "5", "0", NULL);
    redis_send(&op, &made.lease, unit_call_request(&made));
    redis_wire_take_command();
    redis_wire_cut();
    redis_step_until_sent(&op, latch_op_step(&op, unit_now_ns()));
    redis_wire_accept();
    redis_wire_take_command();
    redis_wire_cut();
    told = unit_call_told(&made, redis_wire_finish(&op, LATCH_WANT_IO));
    UNIT_CHECK(strstr(told, "lost the connection to Redis") != NULL);
    TELLS("", unit_call_run("r", LATCH_VERSION_GET, NULL));
}

static void a_cancelled_call_is_not_awaited(void **state)
{
    latch_store *store = store_on_wire();
    unit_call made, next;
    latch_op op;

    (void) state;
    unit_call_make(&made, store, "r", LATCH_VERSION_ADVANCE, "60000", "5", "0", NULL);
    redis_send(&op, &made.lease, unit_call_request(&made));
    UNIT_CHECK(latch_op_cancel(&op, unit_now_ns()) == LATCH_CONFLICT);
    unit_call_told(&made, LATCH_CONFLICT);
    unit_call_make(&next, store, "r", LATCH_VERSION_GET, NULL);
    redis_send(&op, &next.lease, unit_call_request(&next)); /* behind it */
    TELLS("5", unit_call_told(&next, redis_wire_finish(&op, LATCH_WANT_IO)));
}

static void senseless_answers_are_errors(void **state)
{
    static const struct {
        latch_function function;
        const char *answer;
    } cases[] = {
        {LATCH_VERSION_GET, ":1\r\n"},
        {LATCH_VERSION_GET, "$1\r\nx\r\n"},
        {LATCH_VERSION_GET, "*1\r\n:1\r\n"},
        {LATCH_VERSION_GET, "*2\r\n$1\r\nx\r\n$-1\r\n"},
        {LATCH_VERSION_GET, "+OK\r\n"},
        {LATCH_VERSION_GET, "$-1\r\n"},
        /* Of another form than the function's. */
        {LATCH_COUNT_DOWN_STATE, "*0\r\n"},
        {LATCH_SEQUENCE_NEXT, "*1\r\n$1\r\n7\r\n"},
        {LATCH_SEQUENCE_ABANDON, "*2\r\n$1\r\nx\r\n$1\r\np\r\n"},
        {LATCH_SEQUENCE_INSPECT, "*2\r\n$1\r\n7\r\n$1\r\n0\r\n"},
        {LATCH_SEQUENCE_INSPECT,
         "*6\r\n$0\r\n\r\n$1\r\n0\r\n$1\r\n0\r\n$1\r\n0\r\n$2\r\n1x\r\n$1\r\n0\r\n"},
        {LATCH_SEQUENCE_INSPECT,
         "*6\r\n$0\r\n\r\n$1\r\n0\r\n$0\r\n\r\n$1\r\n0\r\n$1\r\n0\r\n$1\r\n0\r\n"},
        {LATCH_SEQUENCE_INSPECT,
         "*6\r\n$0\r\n\r\n$1\r\n0\r\n$1\r\n-\r\n$1\r\n0\r\n$1\r\n0\r\n$1\r\n0\r\n"},
    };
    latch_store *store;

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(*cases); at++) {
        const char *told;
        unit_call made;
        latch_op op;

        store = store_on_wire();
        unit_call_make(&made, store, "r", cases[at].function, NULL);
        redis_send(&op, &made.lease, unit_call_request(&made));
        redis_wire_take_command();
        redis_wire_answer(cases[at].answer);
        told = unit_call_told(&made, unit_finish(&op, LATCH_WANT_IO));
        UNIT_CHECK(strstr(told, "gave an answer that makes no sense") != NULL);
        redis_store_forget();
    }
}

static void an_error_of_the_server_is_told(void **state)
{
    (void) state;
    unit_redis_let_tester("~* +@all -hset");
    unit.store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);
    UNIT_CHECK(unit.store != NULL);
    UNIT_CHECK(
        strstr(unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "5", "0", NULL), "answered: ")
        != NULL);
    TELLS("", unit_call_run("r", LATCH_VERSION_GET, NULL));
}

static void the_documented_rights_are_enough(void **state)
{
    (void) state;
    unit_redis_let_tester("-@all");
    unit_redis_ask(
        "ACL SETUSER tester +eval +evalsha +del +exists +get +getset +hdel +hexists +hget +hkeys "
        "+hlen +hmget +hset +pexpire +pexpireat +set +time +type +pttl +hgetall "
        "+hincrby");
    unit.store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);
    UNIT_CHECK(unit.store != NULL);
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "5", "0", NULL));
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "6", "0", NULL));
    TELLS("1", unit_call_run("r", LATCH_VERSION_REVERT, "60000", "6", NULL));
    TELLS("5", unit_call_run("r", LATCH_VERSION_GET, NULL));
    TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "9000000", "0", "0", NULL));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "60000", "1 a1 b", "p", NULL));
    TELLS("open,1,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "1", "9", NULL));
    TELLS("open,2,1,1,0,1,a,b", unit_call_run("r", LATCH_COUNT_DOWN_INSPECT, NULL));
    TELLS("arrived,0,1,p,a",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "b", "0", "9", NULL));
    TELLS("done,0", unit_call_run("r", LATCH_COUNT_DOWN_DONE, "60000", NULL));
    TELLS("0", unit_call_run("r", LATCH_COUNT_DOWN_CANCEL, NULL));
}

static void without_memory_nothing_is_lost(void **state)
{
    (void) state; /* unit_teardown() finds what leaked */
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "60000", "1 a", "p", NULL));
    for (size_t at = 1;; at++) {
        const char *answer;

        UNIT_CHECK(at < 40);
        unit.fail_at = unit.allocations + at;
        answer = unit_call_run("r", LATCH_COUNT_DOWN_INSPECT, NULL);
        unit.fail_at = 0;
        if (strncmp(answer, "error ", 6) != 0) {
            TELLS("open,1,1,1,0,0,a", answer);
            break;
        }
    }
}

/* ---- A client object */

static redisContext *client;
static int unanswered; /* so many answers are lost */

static latch_status prepare(void *context, const char *resource, size_t length, const char **prefix,
                            size_t *prefix_length, latch_error *error)
{
    (void) context;
    (void) resource;
    (void) length;
    (void) error;
    *prefix = "p:";
    *prefix_length = 2;
    return LATCH_DONE;
}

static latch_status run(void *context, const latch_redis_script *script, latch_redis_answer *answer,
                        latch_error *error)
{
    (void) context;
    redis_client_run(client, "p:", script, answer);
    if (unanswered > 0) {
        unanswered--;
        snprintf(error->message, sizeof(error->message), "the line is dead");
        return LATCH_ERROR_LOST;
    }
    return LATCH_DONE;
}

static void close_runner(void *context)
{
    (void) context;
}

static void a_client_object_calls_as_well(void **state)
{
    const latch_redis_runner runner = {NULL, false, prepare, run, close_runner};
    const latch_store_options options = {.redis_runner = &runner};
    latch_store *direct = unit.store;

    (void) state;
    client = unit_redis_connect();
    unit.store = latch_store_open(unit.engine, "redis", &options, &unit.error);
    UNIT_CHECK(unit.store != NULL);
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "5", "0", NULL));
    TELLS("5", unit_call_run("r", LATCH_VERSION_GET, NULL));
    TELLS("", unit_call_run("other", LATCH_VERSION_GET, NULL));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "60000", "1 a1 b", "p", NULL));
    TELLS("open,1,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "1", "9", NULL));
    unanswered = 1;
    TELLS("arrived,0,1,p,a",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "b", "0", "60000", NULL));
    unanswered = 2;
    UNIT_CHECK(strstr(unit_call_run("r", LATCH_VERSION_GET, NULL), "the line is dead") != NULL);
    assert_int_equal(unit_redis_number("EXISTS p:latch:version:r"), 1);
    for (size_t at = 1;; at++) {
        const char *answer;

        UNIT_CHECK(at < 40);
        unit.fail_at = unit.allocations + at;
        answer = unit_call_run("r", LATCH_COUNT_DOWN_STATE, NULL);
        unit.fail_at = 0;
        if (strncmp(answer, "error ", 6) != 0) {
            TELLS("arrived", answer);
            break;
        }
    }
    latch_store_close(unit.store);
    unit.store = direct;
    redisFree(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALL_RULES(REDIS_TEST),
        REDIS_TEST(each_call_is_one_request_and_each_key_expires),
        REDIS_TEST(a_prefix_stands_before_all_keys),
        REDIS_TEST(a_key_of_another_type_is_an_error_and_stays),
        REDIS_TEST(a_lost_answer_changes_nothing_twice),
        REDIS_TEST(a_lost_answer_is_told_after_what_others_did),
        REDIS_TEST(a_repetition_that_comes_too_late_is_not_sent),
        REDIS_TEST(a_call_that_is_lost_twice_fails),
        REDIS_TEST(a_cancelled_call_is_not_awaited),
        REDIS_TEST(senseless_answers_are_errors),
        REDIS_TEST(an_error_of_the_server_is_told),
        REDIS_TEST(the_documented_rights_are_enough),
        REDIS_TEST(without_memory_nothing_is_lost),
        REDIS_TEST(a_client_object_calls_as_well),
    };

    return cmocka_run_group_tests_name("redis calls", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
