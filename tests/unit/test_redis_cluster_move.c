/* A slot is moved from one server to another, while its lock is held, waited for and given back. */
#include "redis_cluster.h"

#include "src/store/redis/lock/redis.h"

#include <string.h>

static unsigned slot;
static redis_process *from, *to;
static latch_lease *holder;

static bool has(redis_process *node, const char *resource)
{
    return redis_process_number(node, "EXISTS %s", resource) == 1;
}

static int setup(void **state)
{
    if (redis_cluster_setup(state) != 0) {
        return -1;
    }
    slot = redis_cluster_slot("r");
    from = redis_cluster_master(slot);
    to = redis_cluster_another_master(from);
    redis_cluster_open("");
    holder = redis_lease("r");
    redis_expect_done(redis_run(holder, LATCH_ACQUIRE));
    return 0;
}

#define MOVE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, redis_cluster_teardown)

static void move(void)
{
    redis_move moving = redis_cluster_begin_move(slot, to);

    redis_cluster_end_move(&moving);
}

static void a_hold_goes_with_its_slot(void **state)
{
    uint64_t token = holder->fencing_token;

    (void) state;
    move();
    redis_expect_done(redis_run(holder, LATCH_PROBE));
    redis_expect_done(redis_run(holder, LATCH_REFRESH));
    UNIT_CHECK(redis_run(redis_lease("r"), LATCH_ACQUIRE) == LATCH_CONFLICT && has(to, "r"));
    unit_release(holder);
    UNIT_CHECK(!has(to, "r"));
    redis_expect_done(redis_run(holder, LATCH_ACQUIRE));
    UNIT_CHECK(holder->fencing_token > token);
}

static void a_release_goes_after_it(void **state)
{
    (void) state;
    move();
    unit_release(holder);
    UNIT_CHECK(!has(to, "r"));
}

static void so_does_one_that_nobody_awaits(void **state)
{
    (void) state;
    move();
    redis_expect_done(unit_run_request(holder, redis_detached_release()));
    redis_store_close_all();
    UNIT_CHECK(!has(to, "r"));
}

/* Renewals and probes work on keys that are together; what needs others too is repeated. */
static void while_it_moves_the_holder_can_renew(void **state)
{
    redis_move moving = redis_cluster_begin_move(slot, to);
    char record[64], tag[REDIS_SLOT_TAG_SIZE];

    (void) state;
    latch_redis_slot_tag(slot, tag);
    snprintf(record, sizeof(record), "latch:{%s}:holder:r", tag);
    redis_expect_done(redis_run(holder, LATCH_REFRESH));
    redis_cluster_move_key(&moving, "r");
    redis_cluster_move_key(&moving, record);
    redis_expect_done(redis_run(holder, LATCH_PROBE)); /* ASK */
    redis_expect_done(redis_run(holder, LATCH_REFRESH));
    /* Who answers to ASKING has not got the slot yet. */
    UNIT_CHECK(latch_redis_slot_owner(&((redis_store *) holder->store)->topology, "r", 1)
                   ->cluster_info.place.port
               == from->port);
    redis_cluster_end_move(&moving);
    redis_expect_done(redis_run(holder, LATCH_REFRESH));
}

static void what_cannot_be_done_in_its_middle_is_done_behind_it(void **state)
{
    redis_move moving = redis_cluster_begin_move(slot, to);
    latch_op op;
    latch_status status;

    (void) state;
    redis_cluster_move_key(&moving, "r");
    status = unit_begin(&op, redis_lease("r"), redis_request(LATCH_ACQUIRE));
    for (unsigned looks = 0; looks < 40; looks++) { /* TRYAGAIN, again and again */
        UNIT_CHECK(latch_wants(status));
        status = latch_op_step(&op, unit_now_ns());
        unit_redis_look_again(&looks);
    }
    redis_cluster_end_move(&moving);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_CONFLICT);
    unit_release(holder);
    UNIT_CHECK(!has(to, "r"));
}

static void a_move_that_does_not_end_is_an_error(void **state)
{
    redis_move moving;
    latch_lease *other;

    (void) state;
    other = redis_lease_in(redis_cluster_open("&timeout=0.3"), "r");
    moving = redis_cluster_begin_move(slot, to);
    redis_cluster_move_key(&moving, "r");
    UNIT_CHECK(redis_failed(redis_run(other, LATCH_ACQUIRE), "TRYAGAIN"));
    redis_cluster_end_move(&moving);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
}

/* In their order, and told by messages of the server that has the slot now. */
static void who_waits_goes_with_the_slot(void **state)
{
    latch_lease *waiters[2];
    latch_op waits[2];
    redis_move moving;
    latch_status status[2];

    (void) state;
    for (unsigned at = 0; at < 2; at++) {
        redis_cluster_open("");
        waiters[at] = redis_lease("r");
        redis_begin_wait(&waits[at], waiters[at], redis_wait_to_write());
    }
    moving = redis_cluster_begin_move(slot, to);
    redis_cluster_end_move(&moving);
    for (unsigned at = 0; at < 2; at++) {
        status[at] = latch_op_step(&waits[at], unit_now_ns());
    }
    for (unsigned looks = 0;
         redis_process_ask(to, "PUBSUB SHARDCHANNELS")->elements < 3;) { /* one is for both */
        for (unsigned at = 0; at < 2; at++) {
            UNIT_CHECK(latch_wants(status[at]));
            status[at] = latch_op_step(&waits[at], unit_now_ns());
        }
        unit_redis_look_again(&looks);
    }
    unit_release(holder);
    redis_expect_done(unit_finish(&waits[0], latch_op_step(&waits[0], unit_now_ns())));
    UNIT_CHECK(!unit_held(waiters[1]));
    unit_release(waiters[0]);
    redis_expect_done(unit_finish(&waits[1], latch_op_step(&waits[1], unit_now_ns())));
    UNIT_CHECK(has(to, "r"));
    unit_release(waiters[1]);
}

/* The lock moves while somebody waits for it, who may ask for it by himself, too, or not. */
static void expect_grant_behind_move(bool asks)
{
    latch_op wait;
    latch_lease *waiter;

    redis_cluster_open("");
    waiter = redis_lease("r");
    redis_begin_wait(&wait, waiter, redis_wait_to_write());
    if (!asks) {
        ((redis_hold *) waiter->state)->wait.poll_ns = LATCH_NEVER;
    }
    move();
    unit_release(holder);
    redis_expect_done(unit_finish(&wait, latch_op_step(&wait, unit_now_ns())));
    UNIT_CHECK(has(to, "r"));
    unit_release(waiter);
}

/* It is at its new server already when nobody has noticed: the release hands it over there. */
static void and_is_granted_the_lock_at_the_new_server(void **state)
{
    (void) state;
    expect_grant_behind_move(true);
}

/* The server ends its subscription: it does not find out by asking, which may be a minute later. */
static void it_hears_of_the_move_from_the_old_server(void **state)
{
    (void) state;
    expect_grant_behind_move(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MOVE_TEST(a_hold_goes_with_its_slot),
        MOVE_TEST(a_release_goes_after_it),
        MOVE_TEST(so_does_one_that_nobody_awaits),
        MOVE_TEST(while_it_moves_the_holder_can_renew),
        MOVE_TEST(what_cannot_be_done_in_its_middle_is_done_behind_it),
        MOVE_TEST(a_move_that_does_not_end_is_an_error),
        MOVE_TEST(who_waits_goes_with_the_slot),
        MOVE_TEST(and_is_granted_the_lock_at_the_new_server),
        MOVE_TEST(it_hears_of_the_move_from_the_old_server),
    };

    return cmocka_run_group_tests(tests, redis_cluster_group_setup, redis_cluster_group_teardown);
}
