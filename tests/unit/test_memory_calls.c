/* Versions, throttles and count-downs in memory. */
#include "calls.h"
#include "order_calls.h"

#define TELLS(expected, answer) assert_string_equal(answer, expected)

static void pass(int64_t ms)
{
    unit.now_ns += ms * LATCH_NS_PER_MS;
}

static void a_version_is_forgotten_after_its_time(void **state)
{
    (void) state;
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "1000", "5", "0", NULL));
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "10", "55", "0", NULL)); /* not sooner */
    pass(999);
    TELLS("55", unit_call_run("r", LATCH_VERSION_GET, NULL));
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "1", "66", "0", NULL));
    pass(1);
    TELLS("", unit_call_run("r", LATCH_VERSION_GET, NULL));
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "1000", "x", "0", NULL));
}

static void slots_come_with_the_clock(void **state)
{
    (void) state;
    for (int at = 0; at < 4; at++) {
        TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "200000", "0", "0", NULL));
        TELLS("0,200000", unit_call_run("r", LATCH_THROTTLE_RESERVE, "200000", "0", "0", NULL));
        pass(199);
        TELLS("1000", unit_call_run("r", LATCH_THROTTLE_LOOK, "200000", "0", NULL));
        TELLS("0,1000", unit_call_run("r", LATCH_THROTTLE_RESERVE, "200000", "0", "0", NULL));
        pass(1);
    }
    pass(10000);
    for (int at = 0; at < 3; at++) { /* no more than the burst, after however long a pause */
        TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "200000", "400000", "0", NULL));
    }
    TELLS("0,200000", unit_call_run("r", LATCH_THROTTLE_RESERVE, "200000", "400000", "0", NULL));
}

static void a_claim_ends_and_goes_to_the_next_arrival(void **state)
{
    (void) state;
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "60000", "1 a", "p", NULL));
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "0", "1000", NULL));
    pass(400);
    TELLS("arrived,1,0,1,600000,0", unit_call_run("r", LATCH_COUNT_DOWN_INSPECT, NULL));
    pass(599);
    TELLS("arrived,0,0,",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "0", "1000", NULL));
    pass(1);
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "0", "1000", NULL));
    TELLS("arrived,0,0,",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "0", "1000", NULL));
    pass(60000);
    TELLS("none", unit_call_run("r", LATCH_COUNT_DOWN_STATE, NULL));
}

static void arrivals_keep_a_count_down(void **state)
{
    (void) state;
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "1000", "1 a1 b", "p", NULL));
    pass(900);
    TELLS("open,1,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "1000", "a", "0", "9", NULL));
    pass(900);
    TELLS("open,1,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "1000", "a", "0", "9", NULL));
    pass(100);
    TELLS("none,0,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "1000", "b", "0", "9", NULL));
}

/* Nobody asks for these again. */
static void what_has_expired_is_freed(void **state)
{
    size_t before = 0;

    (void) state;
    for (int round = 0; round < 8; round++) {
        for (int at = 0; at < 64; at++) {
            char resource[24];

            snprintf(resource, sizeof(resource), "r%d.%d", round, at);
            TELLS("1", unit_call_run(resource, LATCH_VERSION_ADVANCE, "1000", "1", "0", NULL));
        }
        if (round == 0) {
            before = unit.live;
        }
        pass(1000);
    }
    UNIT_CHECK(unit.live <= 2 * before);
}

static void without_memory_nothing_is_changed(void **state)
{
    static const struct {
        latch_function function;
        const char *arguments[4];
        const char *answer;
    } calls[] = {
        {LATCH_VERSION_ADVANCE, {"60000", "1", "0"}, "1"},
        {LATCH_VERSION_ADVANCE, {"60000", "2", "0"}, "1"},
        {LATCH_VERSION_REVERT, {"60000", "2"}, "1"},
        {LATCH_VERSION_REVERT, {"60000", "1"}, "1"},
        {LATCH_VERSION_GET, {NULL}, "1"},
        {LATCH_THROTTLE_LOOK, {"1000000", "0"}, "0"},
        {LATCH_COUNT_DOWN_OPEN, {"60000", "1 a1 b", "p"}, "1"},
        {LATCH_COUNT_DOWN_INSPECT, {NULL}, "open,2,2,1,0,0,"},
        {LATCH_COUNT_DOWN_CANCEL, {NULL}, "1"},
        {LATCH_SEQUENCE_ENTER, {"60000", "a"}, "1700000000000000,1"},
        {LATCH_SEQUENCE_ENTER, {"60000", "b", "p"}, "1700000000000001,0"},
        {LATCH_SEQUENCE_RESUME, {"60000", "1700000000000000", "w", "1000"}, "go,0"},
        {LATCH_SEQUENCE_NEXT, {"60000", "1700000000000000", "w", "1000"}, "1700000000000001,p"},
        {LATCH_SEQUENCE_INSPECT, {NULL}, "1700000000000001,1,1000000,0,0,"},
        {LATCH_SEQUENCE_PUT_BACK, {"60000", "1700000000000001", "w"}, ""},
        {LATCH_SEQUENCE_ABANDON, {"60000", "0", "w", "1000"}, ""},
        {LATCH_DEBOUNCE_REGISTER, {"60000", "1000", "5000"}, "1700000000000000,1000"},
        {LATCH_DEBOUNCE_SENT, {"60000", "1000", "5000", "1700000000000000"}, ""},
        {LATCH_DEBOUNCE_RESUME, {"60000", "1000", "5000", "1700000000000000"}, "held,1000"},
        {LATCH_DEBOUNCE_DONE, {"60000", "1700000000000000"}, ""},
    };

    (void) state; /* unit_teardown() finds what leaked */
    for (size_t at = 0; at < sizeof(calls) / sizeof(*calls); at++) {
        const char *const *arguments = calls[at].arguments;
        bool is_done = false;

        for (size_t call = 1; !is_done; call++) {
            const char *answer;

            UNIT_CHECK(call < 40);
            unit.fail_at = unit.allocations + call;
            answer = unit_call_run("r", calls[at].function, arguments[0], arguments[1],
                                   arguments[2], arguments[3], NULL);
            unit.fail_at = 0;
            is_done = strncmp(answer, "error ", 6) != 0;
            /* The answer itself may find no memory: then the call has had its effect. */
            if (is_done && call == 1) {
                UNIT_CHECK(strncmp(answer, calls[at].answer, strlen(calls[at].answer)) == 0);
            }
        }
    }
}

static void stores_without_them_refuse_calls(void **state)
{
    static const char message[] = "error 9: the null store has no versions, throttles, "
                                  "count-downs, sequences and debounces";

    (void) state;
    UNIT_CHECK(LATCH_ERROR_UNSUPPORTED == 9);
    TELLS(message, unit_call_run("r", LATCH_VERSION_GET, NULL));
    TELLS(message, unit_call_run("r", LATCH_COUNT_DOWN_STATE, NULL));
}

#define MEMORY_TEST(test) UNIT_TEST(test, setup_memory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALL_RULES(MEMORY_TEST),
        ORDER_RULES(MEMORY_TEST),
        MEMORY_TEST(a_version_is_forgotten_after_its_time),
        MEMORY_TEST(slots_come_with_the_clock),
        MEMORY_TEST(a_claim_ends_and_goes_to_the_next_arrival),
        MEMORY_TEST(arrivals_keep_a_count_down),
        MEMORY_TEST(what_has_expired_is_freed),
        MEMORY_TEST(without_memory_nothing_is_changed),
        UNIT_TEST(stores_without_them_refuse_calls, setup_null),
    };

    return cmocka_run_group_tests_name("memory calls", tests, NULL, NULL);
}
