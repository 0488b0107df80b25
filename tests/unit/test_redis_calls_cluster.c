/* Versions, throttles and count-downs in a cluster: each on the server that has its slot. */
#include "calls.h"
#include "redis_cluster.h"

#include <poll.h>

#define TELLS(expected, answer) assert_string_equal(answer, expected)

static size_t count_keys_of(redis_process *node)
{
    return (size_t) redis_process_number(node, "DBSIZE");
}

static void calls_go_where_the_locks_of_that_name_are(void **state)
{
    static const char *const prefixes[] = {"", "p:", "{shop}"};

    (void) state;
    for (size_t prefix = 0; prefix < 3; prefix++) {
        char options[32];

        snprintf(options, sizeof(options), "&prefix=%s", prefixes[prefix]);
        unit.store = redis_cluster_open(options);
        UNIT_CHECK(unit.store != NULL);
        for (int at = 0; at < 16; at++) {
            char name[16], key[64];
            redis_process *master;
            size_t before;

            snprintf(name, sizeof(name), "c%d", at);
            snprintf(key, sizeof(key), "%s%s", prefixes[prefix], name);
            master = redis_cluster_master_of(key);
            before = count_keys_of(master);
            TELLS("1", unit_call_run(name, LATCH_VERSION_ADVANCE, "60000", "1", "0", NULL));
            TELLS("1,0", unit_call_run(name, LATCH_THROTTLE_RESERVE, "9000000", "0", "0", NULL));
            TELLS("1", unit_call_run(name, LATCH_COUNT_DOWN_OPEN, "60000", "1 a", "p", NULL));
            TELLS("arrived,0,1,p",
                  unit_call_run(name, LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "0", "1000", NULL));
            assert_int_equal(count_keys_of(master), before + 4);
        }
    }
}

static void calls_follow_a_slot_that_moves(void **state)
{
    redis_process *from = redis_cluster_master_of("r");
    redis_process *to = redis_cluster_another_master(from);
    redis_move move;

    (void) state;
    unit.store = redis_cluster_open("");
    UNIT_CHECK(unit.store != NULL);
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "1", "0", NULL));
    move = redis_cluster_begin_move(redis_cluster_slot("r"), to);
    TELLS("1", unit_call_run("r", LATCH_VERSION_GET, NULL));
    TELLS("1,0",
          unit_call_run("r", LATCH_THROTTLE_RESERVE, "9000000", "0", "0", NULL)); /* by ASK */
    redis_cluster_end_move(&move);
    TELLS("1", unit_call_run("r", LATCH_VERSION_GET, NULL)); /* by MOVED */
    UNIT_CHECK(unit_call_run("r", LATCH_THROTTLE_RESERVE, "9000000", "0", "0", NULL)[0] == '0');
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "60000", "1 a", "p", NULL));
    TELLS("open", unit_call_run("r", LATCH_COUNT_DOWN_STATE, NULL));
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "2", "0", NULL));
}

static void calls_find_the_new_master(void **state)
{
    redis_process *master = redis_cluster_master_of("r");

    (void) state;
    unit.store = redis_cluster_open("");
    UNIT_CHECK(unit.store != NULL);
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "1", "0", NULL));
    redis_cluster_fail_over(master);
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "60000", "2", "0", NULL));
    TELLS("2", unit_call_run("r", LATCH_VERSION_GET, NULL));
}

/* How many are to be told, by what the server has. */
static long long count_waiters(redis_process *node)
{
    return redis_process_number(
        node, "EVAL %s 0",
        "local count = 0 for _, key in ipairs(redis.call('KEYS', '*:count:r')) do "
        "for _, field in ipairs(redis.call('HKEYS', key)) do "
        "if string.sub(field, 1, 2) == 'w ' then count = count + 1 end end end return count");
}

/* From the slot's server; without sharded messages by polls. */
static void waiters_are_told_where_the_slot_is(void **state)
{
    redis_process *master = redis_cluster_master_of("r");
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;
    const redisReply *known = redis_process_ask(master, "COMMAND INFO SPUBLISH");
    bool has_messages = known->element[0]->type == REDIS_REPLY_ARRAY; /* from Redis 7 on */
    latch_request request;
    latch_status status;
    latch_store *waits;
    unit_call made;
    latch_op op;

    (void) state;
    unit.store = redis_cluster_open("");
    waits = redis_cluster_open("&persistent_id=waits");
    UNIT_CHECK(unit.store != NULL && waits != NULL);
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, "60000", "1 a", NULL));
    unit_call_make(&made, waits, "r", LATCH_COUNT_DOWN_STATE, NULL);
    request = unit_call_request(&made);
    request.wait = true;
    status = unit_begin(&op, &made.lease, request);
    while (has_messages
           && (op.state != waits || count_waiters(master) != 1 || unit_is_due(&op, status))) {
        UNIT_CHECK(latch_wants(status) && unit_now_ns() < limit_ns);
        unit_await_wish(&op, status, limit_ns);
        status = latch_op_step(&op, unit_now_ns());
    }
    TELLS("done,0,0,",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, "60000", "a", "0", "1000", NULL));
    if (has_messages) {
        struct pollfd messages = {.fd = op.fd, .events = POLLIN};

        UNIT_CHECK(poll(&messages, 1, (int) (UNIT_TIMEOUT_NS / LATCH_NS_PER_MS)) == 1);
    }
    TELLS("done", unit_call_told(&made, unit_finish(&op, status)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_CLUSTER_TEST(calls_go_where_the_locks_of_that_name_are),
        REDIS_CLUSTER_TEST(calls_follow_a_slot_that_moves),
        REDIS_CLUSTER_TEST(calls_find_the_new_master),
        REDIS_CLUSTER_TEST(waiters_are_told_where_the_slot_is),
    };

    return cmocka_run_group_tests_name("redis calls cluster", tests, redis_cluster_group_setup,
                                       redis_cluster_group_teardown);
}
