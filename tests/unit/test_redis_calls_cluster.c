/* Versions, throttles and count-downs in a cluster: each on the server that has its slot. */
#include "calls.h"
#include "redis_cluster.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_CLUSTER_TEST(calls_go_where_the_locks_of_that_name_are),
        REDIS_CLUSTER_TEST(calls_follow_a_slot_that_moves),
        REDIS_CLUSTER_TEST(calls_find_the_new_master),
    };

    return cmocka_run_group_tests_name("redis calls cluster", tests, redis_cluster_group_setup,
                                       redis_cluster_group_teardown);
}
