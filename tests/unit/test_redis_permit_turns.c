/*
 * Permits that Latch's waiters hand to each other, beside Symfony's Semaphore, which knows of no
 * queue and polls: where it is at work it has its turn, and nowhere else are permits left free.
 */
#include "redis_permit_leases.h"
#include "redis_permits.h"

#include <time.h>

#define PEERS_KEY "latch:permit-peers:{s}"

/* ---- Symfony's store, by the real clock */

static bool symfony_takes(void)
{
    const redisReply *reply = unit_redis_ask("EVAL %s 1 {s} peer %lld 60 1 1",
                                             SYMFONY_SEMAPHORE_SAVE, (long long) time(NULL));

    return reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
}

static void symfony_releases(void)
{
    unit_redis_ask("EVAL %s 1 {s} peer", SYMFONY_SEMAPHORE_DELETE);
}

/* ---- What waiters find out about it */

/* Does a wait keep something for peers, when it has asked twice? */
static bool expects_peers_in(latch_store *store)
{
    latch_lease *holder = redis_permit(), *waiting = redis_permit_in(store);
    bool expects;
    latch_op op;

    UNIT_CHECK(redis_run_take(holder, 1, 1) == LATCH_DONE);
    redis_begin_permit_wait(&op, waiting, redis_wait_to_take(1, 1), 1);
    UNIT_CHECK(redis_step_until(&op, latch_op_step(&op, op.wake_ns), AT_POLLING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    expects = unit_redis_number("EXISTS " PEERS_KEY) == 1;
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(waiting);
    unit_redis_ask("DEL " PEERS_KEY);
    return expects;
}

static bool expects_peers(const char *options)
{
    return expects_peers_in(redis_open("redis://127.0.0.1:%d%s", unit_redis.port, options));
}

static void symfony_is_known_by_each_of_its_scripts(void **state)
{
    (void) state;
    UNIT_CHECK(!expects_peers(""));
    for (int script = 0; script < 3; script++) {
        redis_store_forget();
        unit_redis_ask("SCRIPT FLUSH");
        if (script == 0) {
            UNIT_CHECK(symfony_takes());
            unit_redis_ask("DEL " REDIS_PERMIT_WEIGHTS " " REDIS_PERMIT_TIMES);
        } else if (script == 1) {
            unit_redis_ask("EVAL %s 1 {s} 1 nobody", SYMFONY_SEMAPHORE_PUT_OFF);
        } else {
            symfony_releases();
        }
        UNIT_CHECK(expects_peers(""));
        redis_store_forget();
        UNIT_CHECK(!expects_peers("?peers=no"));
    }
    unit_redis_ask("SCRIPT FLUSH");
    redis_store_forget();
    UNIT_CHECK(!expects_peers("") && expects_peers("?peers=yes"));
}

/* Does a wait for a lock? */
static bool expects_peers_of_locks(void)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    latch_lease *holder = redis_lease("r"), *waiting = redis_lease_in(store, "r");
    bool expects;
    latch_op op;

    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, waiting, redis_wait_to_write());
    UNIT_CHECK(redis_step_until(&op, latch_op_step(&op, op.wake_ns), AT_POLLING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    expects = unit_redis_number("EXISTS latch:peers:r") == 1;
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(waiting);
    unit_redis_ask("DEL latch:peers:r");
    return expects;
}

static void programs_that_poll_for_locks_are_none_that_poll_for_permits(void **state)
{
    (void) state;
    UNIT_CHECK(symfony_side.acquire("peer", MINUTE) && symfony_side.release("peer"));
    UNIT_CHECK(!expects_peers("") && expects_peers_of_locks());
    unit_redis_ask("SCRIPT FLUSH");
    redis_store_forget();
    UNIT_CHECK(symfony_takes());
    symfony_releases();
    UNIT_CHECK(expects_peers("") && !expects_peers_of_locks());
}

/* ---- A permit that goes from one waiter to the other */

/* Does Symfony get it meanwhile, for so long at most? */
static bool is_symfony_served(const char *options, int64_t longest_ns)
{
    latch_lease *leases[2];
    int64_t end_ns = unit_now_ns() + longest_ns;
    int holder = 0;

    for (int at = 0; at < 2; at++) {
        leases[at] =
            redis_permit_in(redis_open("redis://127.0.0.1:%d%s", unit_redis.port, options));
    }
    UNIT_CHECK(redis_run_take(leases[0], 1, 1) == LATCH_DONE);
    while (unit_now_ns() < end_ns) {
        latch_status status = LATCH_WANT_IO;
        bool was_served = false;
        latch_op op;

        redis_begin_permit_wait(&op, leases[1 - holder], redis_wait_to_take(1, 1), 1);
        unit_release(leases[holder]);
        while (latch_wants(status)) {
            UNIT_CHECK(unit_now_ns() < end_ns + UNIT_TIMEOUT_NS);
            if (symfony_takes()) {
                was_served = true;
                symfony_releases();
            }
            if (unit_is_due(&op, status)) {
                status = latch_op_step(&op, unit_now_ns());
            }
        }
        holder = 1 - holder;
        UNIT_CHECK(status == LATCH_DONE && unit_held(leases[holder]));
        if (was_served) {
            return true;
        }
    }
    return false;
}

static void symfony_gets_permits_that_are_handed_over_without_a_break(void **state)
{
    (void) state;
    UNIT_CHECK(is_symfony_served("", UNIT_TIMEOUT_NS)); /* its script is known as it has tried */
    redis_store_forget();
    unit_redis_ask("DEL " PEERS_KEY);
    UNIT_CHECK(!is_symfony_served("?peers=no", 2500 * LATCH_NS_PER_MS));
    assert_int_equal(unit_redis_number("EXISTS " PEERS_KEY), 0);
}

/* ---- And the other way round */

/* Who waits first looks in time, and no other asks meanwhile. */
static void a_permit_that_symfony_gives_back_gets_to_the_first_waiter(void **state)
{
    latch_lease *one = redis_permit_elsewhere(), *two = redis_permit_elsewhere();
    int64_t begun_ns = unit_now_ns();
    latch_op first, second;

    (void) state;
    UNIT_CHECK(symfony_takes());
    redis_begin_permit_wait(&first, one, redis_wait_to_take(1, 1), 1);
    redis_begin_permit_wait(&second, two, redis_wait_to_take(1, 1), 2);
    UNIT_CHECK(redis_step_until(&first, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&second, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    UNIT_CHECK(first.wake_ns <= unit_now_ns() + 110 * LATCH_NS_PER_MS);
    UNIT_CHECK(second.wake_ns > begun_ns + 500 * LATCH_NS_PER_MS);
    symfony_releases();
    UNIT_CHECK(unit_finish(&first, LATCH_WANT_IO) == LATCH_DONE && unit_held(one));
    unit_release(one);
    UNIT_CHECK(unit_finish(&second, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    unit_release(two);
}

/* All of them are Latch's: who waits is told, and asks as seldom as can be. */
static void without_symfony_nobody_polls_at_its_pace(void **state)
{
    latch_lease *holder = redis_permit(), *one = redis_permit_elsewhere();
    int64_t begun_ns = unit_now_ns();
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run_take(holder, 1, 1) == LATCH_DONE);
    redis_begin_permit_wait(&op, one, redis_wait_to_take(1, 1), 1);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    UNIT_CHECK(op.wake_ns > begun_ns + 500 * LATCH_NS_PER_MS);
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(symfony_is_known_by_each_of_its_scripts),
        REDIS_TEST(programs_that_poll_for_locks_are_none_that_poll_for_permits),
        REDIS_TEST(symfony_gets_permits_that_are_handed_over_without_a_break),
        REDIS_TEST(a_permit_that_symfony_gives_back_gets_to_the_first_waiter),
        REDIS_TEST(without_symfony_nobody_polls_at_its_pace),
    };

    return cmocka_run_group_tests_name("redis permit turns", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
