/*
 * Servers and connections in trouble while leases are kept: what passes in time is survived, and
 * what does not is a loss at the deadline, with its reason.
 */
#include "keeping.h"

#include <stdlib.h>
#include <unistd.h>

#define TTL_MS INT64_C(4500) /* of leases that are to survive something */
#define SHORT_TTL_MS INT64_C(450)
#define LOST_TTL_MS INT64_C(1500) /* who is not answered knows half a second before its end */
#define ALL (SIZE_MAX >> 1)

static latch_lease *keep_held(latch_store *store, int64_t ttl_ms)
{
    latch_lease *lease = redis_lease_in(store, "r");

    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, ttl_ms), LATCH_DONE);
    return lease;
}

/* ---- The server -------------------------------------------------------------------------------
 */

static void be_replica(void)
{
    unit_redis_ask("REPLICAOF 127.0.0.1 1");
}

static void be_master(void)
{
    unit_redis_ask("REPLICAOF NO ONE");
}

static void be_full(void)
{
    unit_redis_ask("CONFIG SET maxmemory 1");
}

static void be_spacious(void)
{
    unit_redis_ask("CONFIG SET maxmemory 0");
}

static void be_strict(void)
{
    unit_redis_ask("ACL SETUSER default -zadd");
}

static void be_lenient(void)
{
    unit_redis_ask("ACL SETUSER default +@all");
}

static void pause_all(void)
{
    unit_redis_ask("CLIENT PAUSE 60000 WRITE");
}

static void go_on(void)
{
    unit_redis_ask("CLIENT UNPAUSE");
}

static void die(void)
{
    unit_redis_ask("SAVE");
    unit_redis_kill();
}

static void rise(void)
{
    char path[UNIT_PATH + 16];

    unit_redis_start(NULL);
    snprintf(path, sizeof(path), "%s/dump.rdb", unit_redis.directory);
    unlink(path);
}

static const struct {
    void (*begin)(void), (*end)(void);
    const char *reason; /* is in what is said of a loss */
} troubles[] = {
    {be_replica, be_master, "READONLY"},
    {be_full, be_spacious, "OOM"},
    {be_strict, be_lenient, " command"},
    {redis_hold_server, redis_let_server_go, "did not answer within 0.5 s"},
    {die, rise, "Connection refused"},
    {pause_all, go_on, "did not answer within 0.5 s"},
};

/* Before Redis 6.2 a pause cannot be ended. */
static size_t count_troubles(void)
{
    return sizeof(troubles) / sizeof(*troubles) - unit_redis_is_before(6, 2);
}

static void what_passes_before_the_deadline_is_survived(void **state)
{
    (void) state;
    for (size_t at = 0; at < count_troubles(); at++) {
        latch_lease *lease = keep_held(unit.store, TTL_MS);

        troubles[at].begin();
        unit_await_failure(lease);
        troubles[at].end();
        unit_await_renewal(lease);
        unit_expect_no_loss();
        unit_release(lease);
        assert_true(redis_is_free("r"));
    }
}

static void what_does_not_is_a_loss_at_the_deadline_with_its_reason(void **state)
{
    (void) state;
    for (size_t at = 0; at < count_troubles(); at++) {
        latch_lease *lease = keep_held(unit.store, LOST_TTL_MS);
        int64_t deadline_ns = lease->deadline_ns;
        latch_loss loss;

        troubles[at].begin();
        loss = unit_await_loss();
        assert_ptr_equal(loss.lease, lease);
        if (strstr(loss.reason, troubles[at].reason) == NULL) {
            fail_msg("\"%s\" says nothing of \"%s\"", loss.reason, troubles[at].reason);
        }
        assert_memory_equal(loss.reason, "it could not be renewed in time: ", 33);
        assert_true(unit_now_ns() >= deadline_ns);
        assert_false(unit_held(lease));
        troubles[at].end();
        unit_expect_no_loss();
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
        assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, LOST_TTL_MS), LATCH_DONE);
        unit_await_renewal(lease);
        unit_release(lease);
    }
}

/* Its connection takes longer to be made than the lease lasts. */
static void why_one_was_lost_whose_first_renewal_has_not_ended_is_told(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d/1", unit_redis.port);

    (void) state;
    keep_held(store, SHORT_TTL_MS);
    redis_hold_server();
    assert_non_null(strstr(unit_await_loss().reason, "could not be renewed in time"));
    redis_let_server_go();
}

static void a_server_that_forgets_its_scripts_is_told_again(void **state)
{
    latch_lease *lease = keep_held(unit.store, TTL_MS);

    (void) state;
    for (int round = 0; round < 5; round++) {
        unit_redis_ask("SCRIPT FLUSH");
        unit_await_renewal(lease);
    }
    unit_expect_no_loss();
}

static void connections_that_are_cut_are_made_anew(void **state)
{
    latch_lease *lease = keep_held(unit.store, TTL_MS);

    (void) state;
    for (int round = 0; round < 5; round++) {
        unit_redis_ask("CLIENT KILL TYPE normal");
        unit_await_renewal(lease);
    }
    unit_expect_no_loss();
}

static void a_server_that_has_forgotten_everything_has_lost_it(void **state)
{
    latch_lease *lease = keep_held(unit.store, TTL_MS);
    latch_loss loss;

    (void) state;
    unit_redis_kill();
    unit_redis_start(NULL);
    loss = unit_await_loss();
    assert_string_equal(loss.reason, "it has another holder, or none any more");
    assert_false(unit_held(lease));
}

static void a_key_that_is_no_lock_any_more_is_a_loss(void **state)
{
    latch_lease *lease = keep_held(unit.store, SHORT_TTL_MS);

    (void) state;
    unit_redis_ask("SET r somebody PX 60000");
    unit_await_loss();
    assert_false(unit_held(lease));
}

/* ---- The clone's connection --------------------------------------------------------------------
 */

/* On a wire, whose second line is the clone's. */
static latch_lease *keep_on_wire(const char *options)
{
    latch_lease *lease = redis_lease_in(redis_wire_open(options), "r");
    latch_op op;

    unit_keep(lease);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, lease,
                                                       redis_request_for(LATCH_ACQUIRE, TTL_MS))),
                     LATCH_DONE);
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_accept();
    return lease;
}

/* Lets everything pass until it is renewed. */
static void await_renewal_by_wire(latch_lease *lease)
{
    int64_t deadline_ns = lease->deadline_ns, limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (lease->deadline_ns == deadline_ns) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        redis_wire_pass_all(5);
        assert_true(unit_held(lease));
    }
    unit_expect_no_loss();
}

static void whatever_is_answered_is_tried_again(void **state)
{
    const char *const answers[] = {
        "-LOADING Redis is loading the dataset in memory\r\n",
        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL.\r\n",
        "-READONLY You can't write against a read only replica.\r\n",
        "-MASTERDOWN Link with MASTER is down.\r\n",
        "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
        "-ERR unknown command 'EVALSHA'\r\n",
        ":7\r\n",
        "$-1\r\n",
        "*0\r\n",
        "+OK\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
    };
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    for (size_t at = 0; at < sizeof(answers) / sizeof(*answers); at++) {
        redis_wire_take_command();
        redis_wire_answer(answers[at]);
        unit_await_failure(lease);
        await_renewal_by_wire(lease);
    }
}

static void a_connection_that_ends_while_it_is_asked_is_made_anew(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    for (int round = 0; round < 3; round++) {
        redis_wire_take_command();
        redis_wire_cut();
        await_renewal_by_wire(lease);
    }
}

static void half_an_answer_is_none(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    redis_wire_take_command();
    redis_wire_answer(":"); /* the rest never comes */
    assert_non_null(strstr(unit_await_failure(lease), "did not answer within 1.5 s"));
    await_renewal_by_wire(lease);
}

static void an_answer_is_awaited_no_longer_than_by_the_store_itself(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=0.1");

    (void) state;
    redis_wire_take_command();
    assert_non_null(strstr(unit_await_failure(lease), "did not answer within"));
    await_renewal_by_wire(lease);
}

static void the_connection_of_its_user_does_not_matter(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=10");

    (void) state;
    redis_wire_use(REDIS_COMMANDS);
    redis_wire_cut();
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_take_command();
    redis_wire_answer(":2\r\n");
    unit_await_renewal(lease);
}

static void a_hold_is_not_held_up_by_a_renewal_of_the_one_before(void **state)
{
    latch_lease *lease = keep_on_wire("?read_timeout=60");
    latch_op op;

    (void) state;
    redis_wire_take_command();
    redis_wire_use(REDIS_COMMANDS);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, lease, redis_request(LATCH_RELEASE))),
                     LATCH_DONE);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, lease,
                                                       redis_request_for(LATCH_ACQUIRE, TTL_MS))),
                     LATCH_DONE);
    await_renewal_by_wire(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_RENEWAL_TEST(what_passes_before_the_deadline_is_survived),
        UNIT_RENEWAL_TEST(what_does_not_is_a_loss_at_the_deadline_with_its_reason),
        UNIT_RENEWAL_TEST(why_one_was_lost_whose_first_renewal_has_not_ended_is_told),
        UNIT_RENEWAL_TEST(a_server_that_forgets_its_scripts_is_told_again),
        UNIT_RENEWAL_TEST(connections_that_are_cut_are_made_anew),
        UNIT_RENEWAL_TEST(a_server_that_has_forgotten_everything_has_lost_it),
        UNIT_RENEWAL_TEST(a_key_that_is_no_lock_any_more_is_a_loss),
        UNIT_RENEWAL_TEST(whatever_is_answered_is_tried_again),
        UNIT_RENEWAL_TEST(a_connection_that_ends_while_it_is_asked_is_made_anew),
        UNIT_RENEWAL_TEST(half_an_answer_is_none),
        UNIT_RENEWAL_TEST(an_answer_is_awaited_no_longer_than_by_the_store_itself),
        UNIT_RENEWAL_TEST(the_connection_of_its_user_does_not_matter),
        UNIT_RENEWAL_TEST(a_hold_is_not_held_up_by_a_renewal_of_the_one_before),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
