/* Who holds locks of a cluster, and an end to that: all servers are asked. */
#include "redis_cluster.h"
#include "redis_inquiry.h"

#include "src/store/redis/lock/redis.h"

#include <string.h>

#define LOCKS 40

static latch_store *holding, *asking;

static void take_all(const char *options)
{
    char name[64];

    holding = redis_cluster_open(options);
    for (unsigned at = 0; at < LOCKS; at++) {
        snprintf(name, sizeof(name), "lock %u", at);
        redis_expect_done(redis_run(redis_lease_in(holding, name), LATCH_ACQUIRE));
    }
    asking = redis_cluster_open(options);
}

static int setup(void **state)
{
    redis_reports = NULL;
    return redis_cluster_setup(state);
}

static int teardown(void **state)
{
    redis_forget_reports();
    return redis_cluster_teardown(state);
}

#define INSPECT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void expect_all_listed(bool foreign)
{
    latch_request request = redis_question(LATCH_LIST);
    bool seen[LOCKS] = {false};
    unsigned count = 0, number;

    request.include_peer_locks = foreign;
    redis_expect_done(unit_run_request(redis_lease_in(asking, ""), request));
    for (latch_lock_report *report = redis_reports; report != NULL; report = report->next) {
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int) report->name_length, report->name);
        UNIT_CHECK(sscanf(name, "lock %u", &number) == 1 && number < LOCKS && !seen[number]);
        UNIT_CHECK(report->mode == LATCH_EXCLUSIVE && report->holder_count == 1);
        seen[number] = true;
        count++;
    }
    UNIT_CHECK(count == LOCKS);
}

static void all_locks_are_listed_wherever_they_are(void **state)
{
    (void) state;
    take_all("");
    expect_all_listed(false);
    expect_all_listed(true);
}

static void also_with_a_prefix(void **state)
{
    (void) state;
    take_all("&prefix=a*?:");
    expect_all_listed(false);
    redis_store_close_all();
    take_all("&prefix={shop}");
    expect_all_listed(false);
}

static void a_list_knows_of_slots_that_have_moved(void **state)
{
    unsigned slot = redis_cluster_slot("lock 0");
    redis_process *from = redis_cluster_master(slot);
    redis_move move;

    (void) state;
    take_all("");
    expect_all_listed(false);
    move = redis_cluster_begin_move(slot, redis_cluster_another_master(from));
    redis_cluster_end_move(&move);
    expect_all_listed(false);
}

/* It begins anew until the move has ended, and says so if it does not. */
static void a_list_in_the_middle_of_a_move_waits_for_its_end(void **state)
{
    unsigned slot = redis_cluster_slot("lock 0");
    redis_move move;
    latch_op op;
    latch_status status;

    (void) state;
    take_all("");
    move = redis_cluster_begin_move(slot, redis_cluster_another_master(redis_cluster_master(slot)));
    redis_cluster_move_key(&move, "lock 0");
    UNIT_CHECK(
        redis_failed(unit_run_request(redis_lease_in(asking, ""), redis_question(LATCH_LIST)),
                     "TRYAGAIN"));
    status = unit_begin(&op, redis_lease_in(asking, ""), redis_question(LATCH_LIST));
    for (unsigned looks = 0; looks < 4; looks++) {
        UNIT_CHECK(latch_wants(status));
        status = latch_op_step(&op, unit_now_ns());
    }
    redis_cluster_end_move(&move);
    redis_expect_done(unit_finish(&op, status));
    expect_all_listed(false);
}

static void a_lock_is_found_where_it_is(void **state)
{
    char identity[LATCH_IDENTITY_LENGTH + 1];
    unsigned slot = redis_cluster_slot("lock 7");
    redis_move move;
    latch_request request;

    (void) state;
    take_all("");
    redis_expect_done(
        unit_run_request(redis_lease_in(asking, "lock 7"), redis_question(LATCH_INSPECT)));
    UNIT_CHECK(redis_reports->holder_count == 1);
    strcpy(identity, redis_reports->holders->identity);
    move = redis_cluster_begin_move(slot, redis_cluster_another_master(redis_cluster_master(slot)));
    redis_cluster_end_move(&move);
    redis_expect_done(
        unit_run_request(redis_lease_in(asking, "lock 7"), redis_question(LATCH_INSPECT)));
    UNIT_CHECK(redis_reports->holder_count == 1);
    request = redis_question(LATCH_EVICT);
    request.evicted = identity;
    redis_expect_done(unit_run_request(redis_lease_in(asking, "lock 7"), request));
    UNIT_CHECK(redis_evicted == 1);
    redis_expect_done(redis_run(redis_lease_in(asking, "lock 7"), LATCH_ACQUIRE));
}

static void a_server_that_dies_is_named(void **state)
{
    (void) state;
    take_all("");
    asking = redis_cluster_open("&timeout=0.5");
    redis_process_kill(redis_cluster_replica(&cluster.nodes[1]));
    redis_process_kill(&cluster.nodes[1]);
    UNIT_CHECK(
        redis_failed(unit_run_request(redis_lease_in(asking, ""), redis_question(LATCH_LIST)),
                     "cannot connect to Redis at"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        INSPECT_TEST(all_locks_are_listed_wherever_they_are),
        INSPECT_TEST(also_with_a_prefix),
        INSPECT_TEST(a_list_knows_of_slots_that_have_moved),
        INSPECT_TEST(a_list_in_the_middle_of_a_move_waits_for_its_end),
        INSPECT_TEST(a_lock_is_found_where_it_is),
        INSPECT_TEST(a_server_that_dies_is_named),
    };

    return cmocka_run_group_tests(tests, redis_cluster_group_setup, redis_cluster_group_teardown);
}
