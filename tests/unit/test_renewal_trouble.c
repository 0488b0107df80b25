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
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
