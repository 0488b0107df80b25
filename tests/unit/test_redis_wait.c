/* Waits for a lock in Redis, cancels, and several requests at once on one connection. */
#include "redis_store.h"

#include <poll.h>
#include <sys/socket.h>

static bool is_held_by(const latch_lease *lease)
{
    return unit_redis_text("ZSCORE %s %s", lease->resource, lease->token)[0] != '\0';
}

/* ---- Waits */

static void a_wait_ends_with_the_holders_time(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");

    (void) state;
    UNIT_CHECK(redis_run_for(one, LATCH_ACQUIRE, 50) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(two, redis_wait_to_write()) == LATCH_DONE);
    UNIT_CHECK(!unit_held(one) && unit_held(two));
}

/* The TTL counts from the attempt that was granted: Symfony's wait ends expired here. */
static void a_wait_may_be_longer_than_the_ttl(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    int64_t begun_ns = unit_now_ns();

    (void) state;
    UNIT_CHECK(redis_run_for(one, LATCH_ACQUIRE, 2500) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(two, redis_waiting(LATCH_ACQUIRE, 1000, LATCH_NEVER))
               == LATCH_DONE);
    UNIT_CHECK(two->deadline_ns >= begun_ns + 3400 * LATCH_NS_PER_MS);
}

static void a_wait_ends_at_its_deadline_with_nothing_taken(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    int64_t begun_ns = unit_now_ns();

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_snapshot();
    UNIT_CHECK(unit_run_request(two, redis_waiting(LATCH_ACQUIRE, MINUTE, 30)) == LATCH_CONFLICT);
    UNIT_CHECK(unit_now_ns() - begun_ns >= 30 * LATCH_NS_PER_MS);
    UNIT_AWAIT(unit_redis_is_unchanged()); /* it may have been asked late, to wait and to leave */
    UNIT_CHECK(unit_run_request(two, redis_waiting(LATCH_ACQUIRE, MINUTE, 0)) == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(one) && !unit_held(two));
}

static void a_reader_that_waits_for_its_promotion_reads_on(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(two, redis_waiting(LATCH_ACQUIRE, MINUTE, 20)) == LATCH_CONFLICT);
    UNIT_CHECK(two->mode == LATCH_SHARED && unit_held(two));
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    UNIT_CHECK(unit_held(two));
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && two->mode == LATCH_EXCLUSIVE);
}

/* ---- Deadlines and cancels while a command is on its way */

static void a_deadline_does_not_wait_for_a_server_that_hangs(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE); /* the server knows the script */
    unit_release(lease);
    unit_redis_ask("DEL latch:fencing");
    redis_hold_server();
    redis_send(&op, lease, redis_waiting(LATCH_ACQUIRE, MINUTE, 30));
    UNIT_CHECK(redis_failed(unit_finish(&op, LATCH_WANT_IO), "did not answer within "));
    UNIT_CHECK(!unit_held(lease) && !lease->busy);
    redis_let_server_go();
    /* What was on its way was carried out, and then undone, before this is. */
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_is_free("r"));
    assert_int_equal(unit_redis_number("EXISTS latch:fencing"), 1); /* it was carried out */
}

static void a_cancelled_acquire_leaves_nothing(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};
    latch_lease *lease = redis_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    for (int at = 0; at < 4; at++) {
        bool arrives = at >= 2; /* the answer, before the cancel */

        redis_hold_server();
        redis_send(&op, lease, redis_request(kinds[at % 2]));
        if (arrives) {
            redis_let_server_go();
            unit_await_grant(&op);
        }
        UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
        UNIT_CHECK(lease->mode == LATCH_FREE && !lease->busy);
        redis_let_server_go();
        UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
        UNIT_CHECK(redis_is_free("r"));
    }
}

/* The process may do nothing else with Redis for long. */
static void a_cancelled_acquire_is_undone_at_once(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE); /* the server knows the script */
    unit_release(lease);
    unit_redis_ask("DEL latch:fencing");
    redis_hold_server();
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    redis_let_server_go();
    UNIT_AWAIT(unit_redis_number("EXISTS latch:fencing") == 1 && redis_is_free("r"));
}

/* Somebody else may hold the lock by that token: it is not to be given back for him. */
static void a_cancelled_acquire_by_a_token_that_was_handed_over_releases_nothing(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT); /* connected */
    two = redis_lease_in(two->store, "r");
    latch_lease_set_token(two, one->token, strlen(one->token), &unit.error);
    redis_hold_server();
    redis_send(&op, two, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT && !unit_held(two));
    redis_let_server_go();
    UNIT_CHECK(redis_run(redis_lease_in(two->store, "s"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_DONE && is_held_by(one));
}

static void a_cancelled_wait_leaves_nothing(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_snapshot();
    redis_begin_wait(&op, two, redis_wait_to_write());
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    redis_await_waiters("r", 0);
    UNIT_CHECK(unit_redis_is_unchanged());
    unit_release(one);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE);
}

/* Nor when what was to take it out of the queue is lost. */
static void a_promotion_that_is_given_up_stays_in_no_queue(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    unit_redis_ask("CLIENT KILL TYPE normal");
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE && two->mode == LATCH_SHARED);
    UNIT_CHECK(redis_count_waiters("r") == 0);
}

/*
 * By a command right behind the one that promotes it: nobody waits for a server that hangs. Or the
 * answer is there, as another request on the connection has read it.
 */
static void a_cancelled_promotion_reads_on(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE); /* the server knows the script */
    for (int answered = 0; answered < 2; answered++) {
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        if (!answered) {
            redis_hold_server();
        }
        redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
        if (answered) {
            UNIT_CHECK(redis_run(redis_lease("s"), LATCH_ACQUIRE) == LATCH_DONE);
            UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
        } else {
            UNIT_CHECK(latch_op_cancel(&op, unit_now_ns()) == LATCH_CONFLICT);
            redis_let_server_go();
        }
        UNIT_CHECK(lease->mode == LATCH_SHARED && unit_held(lease) && lease->fencing_token == 0);
        UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
        UNIT_CHECK(redis_run(other, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        unit_release(other);
    }
}

static void a_cancelled_acquire_whose_answer_is_there_leaves_nothing(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(redis_run(redis_lease("s"), LATCH_ACQUIRE) == LATCH_DONE); /* has read it */
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT && !unit_held(lease));
    UNIT_CHECK(redis_run(redis_lease("t"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_is_free("r"));
}

static void a_renewal_is_not_given_up(void **state)
{
    latch_lease *lease = redis_lease("r");
    int64_t deadline_ns;
    latch_op op;
    latch_status status;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    deadline_ns = lease->deadline_ns;
    redis_hold_server();
    redis_send(&op, lease, redis_request_for(LATCH_REFRESH, 2 * MINUTE));
    status = latch_op_cancel(&op, unit_now_ns());
    UNIT_CHECK(latch_wants(status));
    redis_let_server_go();
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    UNIT_CHECK(lease->deadline_ns > deadline_ns && unit_held(lease));
}

/* ---- Releases whose answer nobody awaits */

static void a_detached_release_does_not_wait_and_is_carried_out(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_lease("s");
    latch_op op;

    (void) state;
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        unit_redis_ask("SCRIPT FLUSH"); /* which nobody would see */
        redis_hold_server();
        UNIT_CHECK(unit_begin(&op, one, redis_detached_release()) == LATCH_DONE);
        UNIT_CHECK(unit_begin(&op, two, redis_detached_release()) == LATCH_DONE);
        UNIT_CHECK(!unit_held(one) && !unit_held(two));
        redis_let_server_go();
        UNIT_CHECK(redis_run(redis_lease("t"), LATCH_ACQUIRE_SHARED) == LATCH_DONE); /* after it */
        UNIT_CHECK(redis_is_free("r") && redis_is_free("s"));
    }
}

static void a_detached_release_finds_a_new_connection(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("CLIENT KILL TYPE normal");
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(redis_run(redis_lease("t"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_is_free("r"));
}

/* The process may do nothing else with Redis for long. */
static void a_detached_release_is_sent_at_once_and_once(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    latch_lease_set_token(two, one->token, strlen(one->token), &unit.error);
    redis_forget_calls();
    /* Its store has to connect first, which takes some steps. */
    UNIT_CHECK(unit_run_request(two, redis_detached_release()) == LATCH_DONE);
    redis_await_free("r");
    UNIT_CHECK(redis_run(redis_lease_in(two->store, "s"), LATCH_ACQUIRE) == LATCH_DONE);
    assert_int_equal(redis_count_calls("eval"), 1);
}

static void a_detached_release_of_what_is_lost_changes_nothing(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("DEL r");
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(one, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(is_held_by(two));
}

/* ---- Several requests at once on one connection */

/* As by signal handlers that use locks in the middle of a wait. */
static void requests_on_one_connection_may_be_nested(void **state)
{
    latch_lease *leases[4];
    latch_op ops[4];

    (void) state;
    for (int at = 0; at < 4; at++) {
        leases[at] = redis_lease(at < 2 ? "r" : at < 3 ? "s" : "t");
    }
    UNIT_CHECK(redis_run(leases[3], LATCH_ACQUIRE) == LATCH_DONE);
    redis_hold_server();
    redis_send(&ops[0], leases[0], redis_request(LATCH_ACQUIRE));
    redis_send(&ops[1], leases[1], redis_request(LATCH_ACQUIRE));
    redis_send(&ops[2], leases[2], redis_request(LATCH_ACQUIRE_SHARED));
    redis_send(&ops[3], leases[3], redis_request(LATCH_RELEASE));
    redis_let_server_go();
    /* The innermost ends first; it reads the answers of the others, too. */
    UNIT_CHECK(unit_finish(&ops[3], LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(redis_finish_outer(&ops[2]) == LATCH_DONE);
    UNIT_CHECK(redis_finish_outer(&ops[1]) == LATCH_CONFLICT);
    UNIT_CHECK(redis_finish_outer(&ops[0]) == LATCH_DONE);
    UNIT_CHECK(unit_held(leases[0]) && !unit_held(leases[1]));
    UNIT_CHECK(leases[2]->mode == LATCH_SHARED && unit_held(leases[2]));
    UNIT_CHECK(redis_is_free("t") && is_held_by(leases[0]) && is_held_by(leases[2]));
}

/* Also before the connection stands: the inner request finds one that is half made. */
static void requests_may_be_nested_while_connecting(void **state)
{
    latch_store *store = redis_open("redis://:secret@localhost:%d/1", unit_redis.port);
    latch_lease *outer = redis_lease_in(store, "r"), *inner = redis_lease_in(store, "s");
    latch_op op;

    (void) state;
    unit_redis_ask("CONFIG SET requirepass secret");
    UNIT_CHECK(unit_begin(&op, outer, redis_request(LATCH_ACQUIRE)) == LATCH_WANT_IO);
    UNIT_CHECK(redis_run(inner, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_finish_outer(&op) == LATCH_DONE);
    UNIT_CHECK(unit_held(outer) && unit_held(inner));
}

/*
 * More than sockets take at once: the rest follows when there is room, before what comes after. The
 * socket is made to take little: with megabytes the test would take minutes on a busy machine.
 */
static void what_the_socket_does_not_take_at_once_follows(void **state)
{
    static char resource[400000];
    latch_lease *large, *small = redis_lease("s");
    latch_op ops[2];
    int little = 8192, much = 1 << 20;

    (void) state;
    memset(resource, 'r', sizeof(resource));
    large = unit_lease_on(resource, sizeof(resource));
    UNIT_CHECK(unit_begin(&ops[0], small, redis_request(LATCH_ACQUIRE)) == LATCH_WANT_IO);
    UNIT_CHECK(unit_finish(&ops[0], LATCH_WANT_IO) == LATCH_DONE); /* connected */
    UNIT_CHECK(setsockopt(ops[0].fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof(little)) == 0);
    redis_hold_server();
    UNIT_CHECK(unit_begin(&ops[0], large, redis_request(LATCH_ACQUIRE)) == LATCH_WANT_IO);
    UNIT_CHECK((ops[0].events & POLLOUT) != 0);
    UNIT_CHECK(setsockopt(ops[0].fd, SOL_SOCKET, SO_SNDBUF, &much, sizeof(much)) == 0);
    UNIT_CHECK(unit_begin(&ops[1], small, redis_request(LATCH_RELEASE)) == LATCH_WANT_IO);
    redis_let_server_go();
    UNIT_CHECK(unit_finish(&ops[1], LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(redis_finish_outer(&ops[0]) == LATCH_DONE && unit_held(large));
    assert_int_equal(unit_redis_number("ZCARD %b", resource, sizeof(resource)), 2);
    UNIT_CHECK(redis_is_free("s"));
    unit_release(large);
    assert_int_equal(unit_redis_number("DBSIZE"), 1);
}

static void a_lease_has_one_request_at_a_time(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_op op, another;

    (void) state;
    redis_hold_server();
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(unit_begin(&another, lease, redis_request(LATCH_REFRESH)) == LATCH_ERROR_BUSY);
    redis_let_server_go();
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_wait_ends_with_the_holders_time),
        REDIS_TEST(a_wait_may_be_longer_than_the_ttl),
        REDIS_TEST(a_wait_ends_at_its_deadline_with_nothing_taken),
        REDIS_TEST(a_reader_that_waits_for_its_promotion_reads_on),
        REDIS_TEST(a_deadline_does_not_wait_for_a_server_that_hangs),
        REDIS_TEST(a_cancelled_acquire_leaves_nothing),
        REDIS_TEST(a_cancelled_acquire_is_undone_at_once),
        REDIS_TEST(a_cancelled_acquire_by_a_token_that_was_handed_over_releases_nothing),
        REDIS_TEST(a_cancelled_wait_leaves_nothing),
        REDIS_TEST(a_promotion_that_is_given_up_stays_in_no_queue),
        REDIS_TEST(a_cancelled_promotion_reads_on),
        REDIS_TEST(a_cancelled_acquire_whose_answer_is_there_leaves_nothing),
        REDIS_TEST(a_renewal_is_not_given_up),
        REDIS_TEST(a_detached_release_does_not_wait_and_is_carried_out),
        REDIS_TEST(a_detached_release_finds_a_new_connection),
        REDIS_TEST(a_detached_release_is_sent_at_once_and_once),
        REDIS_TEST(a_detached_release_of_what_is_lost_changes_nothing),
        REDIS_TEST(requests_on_one_connection_may_be_nested),
        REDIS_TEST(requests_may_be_nested_while_connecting),
        REDIS_TEST(what_the_socket_does_not_take_at_once_follows),
        REDIS_TEST(a_lease_has_one_request_at_a_time),
    };

    return cmocka_run_group_tests_name("redis waits", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
