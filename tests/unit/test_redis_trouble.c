/*
 * The Redis store when something goes wrong: servers that are gone, lost connections and replies.
 * After each: nobody holds by mistake, and the store works again.
 */
#include "redis_store.h"

#include <stdlib.h>

/* ---- Connections */

static void a_dead_idle_connection_is_replaced_in_silence(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_REFRESH, LATCH_PROBE,
                                          LATCH_ACQUIRE_SHARED, LATCH_RELEASE};
    latch_lease *lease = redis_lease("r");

    (void) state;
    for (size_t at = 0; at < sizeof(kinds) / sizeof(kinds[0]); at++) {
        unit_redis_ask("CLIENT KILL TYPE normal");
        UNIT_CHECK(redis_run(lease, kinds[at]) == LATCH_DONE);
    }
    UNIT_CHECK(redis_is_free("r"));
}

static void a_restarted_server_is_found_again_and_its_locks_are_lost(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_lease("s");

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    unit_redis_stop();
    unit_redis_start(NULL);
    UNIT_CHECK(redis_run(one, LATCH_REFRESH) == LATCH_CONFLICT && one->lost);
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_CONFLICT && two->lost);
    redis_expect_working(one);
    unit_redis_kill();
    unit_redis_start(NULL);
    redis_expect_working(one);
}

static void a_server_that_is_gone_is_an_error_until_it_is_back(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_REFRESH, LATCH_PROBE, LATCH_ACQUIRE_SHARED,
                                          LATCH_ACQUIRE, LATCH_RELEASE};
    latch_lease *held = redis_lease("r"), *lease = redis_other_lease("s");

    (void) state;
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_kill();
    for (size_t at = 0; at < sizeof(kinds) / sizeof(kinds[0]); at++) {
        char address[64];

        snprintf(address, sizeof(address), "cannot connect to Redis at 127.0.0.1:%d: Connection",
                 unit_redis.port);
        UNIT_CHECK(redis_failed(redis_run(held, kinds[at]), address));
        UNIT_CHECK(held->mode == LATCH_EXCLUSIVE && !held->busy && !held->lost);
    }
    UNIT_CHECK(unit_run_request(held, redis_detached_release()) == LATCH_ERROR_STORE);
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "cannot connect"));
    UNIT_CHECK(redis_failed(unit_run_request(lease, redis_waiting(LATCH_ACQUIRE, MINUTE, 10000)),
                            "cannot connect"));
    UNIT_CHECK(lease->mode == LATCH_FREE);
    unit_redis_start(NULL);
    redis_expect_working(lease);
    UNIT_CHECK(redis_run(held, LATCH_PROBE) == LATCH_CONFLICT);
    redis_expect_working(held);
}

static void a_wait_goes_on_when_its_connection_is_replaced(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_send(&op, two, redis_wait_to_write());
    unit_redis_ask("CLIENT KILL TYPE normal");
    unit_redis_ask("SCRIPT FLUSH");
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
}

static void a_connection_that_nobody_takes_ends_at_its_timeout(void **state)
{
    latch_store *store = redis_wire_open("?timeout=0.03&read_timeout=0.03");
    latch_lease *lease = redis_lease_in(store, "r");

    (void) state;
    /* The kernel connects on behalf of whoever listens; then nobody answers. */
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "did not answer within 0.03 s"));
    store = redis_open("redis://:secret@%s/wire?timeout=0.03", unit_redis.directory);
    UNIT_CHECK(redis_failed(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE), "within 0.03 s"));
    assert_null(strstr(unit.error.message, "secret"));
}

/* ---- Lost replies: the server has done it, and nobody knows */

/* Sends a request through the wire; its reply is swallowed after so many bytes, and the wire cut.
 */
static void send_and_lose_reply(latch_op *op, latch_lease *lease, latch_request request,
                                size_t passed)
{
    redis_send(op, lease, request);
    redis_wire_pass_command();
    redis_wire_pass_reply(passed);
    redis_wire_cut();
}

/* Steps until the request has been sent on a new connection, which the wire takes. */
static latch_status send_again(latch_op *op)
{
    latch_status status;

    do {
        unit_await_grant(op); /* what is left of the old connection */
        status = latch_op_step(op, unit_now_ns());
    } while (status == LATCH_WANT_IO && !redis_wire_is_wanted());
    status = redis_step_until_sent(op, status);
    UNIT_CHECK(status == LATCH_WANT_IO);
    redis_wire_accept();
    redis_wire_pass_command();
    return status;
}

static latch_status finish_on_new_connection(latch_op *op)
{
    latch_status status = send_again(op);

    redis_wire_pass_reply(SIZE_MAX >> 1);
    return unit_finish(op, status);
}

static void a_lost_reply_is_resolved_by_asking_again(void **state)
{
    static const struct {
        latch_mode held;
        latch_op_kind kind;
    } cases[] = {{LATCH_FREE, LATCH_ACQUIRE},      {LATCH_FREE, LATCH_ACQUIRE_SHARED},
                 {LATCH_SHARED, LATCH_ACQUIRE},    {LATCH_EXCLUSIVE, LATCH_ACQUIRE_SHARED},
                 {LATCH_EXCLUSIVE, LATCH_REFRESH}, {LATCH_EXCLUSIVE, LATCH_PROBE},
                 {LATCH_EXCLUSIVE, LATCH_RELEASE}, {LATCH_SHARED, LATCH_RELEASE}};

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        for (size_t passed = 0; passed < 2; passed++) {
            latch_lease *lease = redis_lease_on_wire(cases[at].held);
            latch_lease *other = redis_other_lease("r");
            latch_op op;

            send_and_lose_reply(&op, lease, redis_request(cases[at].kind), passed);
            UNIT_CHECK(finish_on_new_connection(&op) == LATCH_DONE);
            UNIT_CHECK(unit_held(lease) == (cases[at].kind != LATCH_RELEASE));
            UNIT_CHECK(redis_run(other, LATCH_ACQUIRE)
                       == (cases[at].kind != LATCH_RELEASE ? LATCH_CONFLICT : LATCH_DONE));
            redis_store_forget();
        }
    }
}

/* It was granted, for a short time, in the place of a long one. */
static void a_promotion_that_ended_unheard_leaves_no_reader(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_SHARED), *other = redis_lease("r");
    latch_op op;

    (void) state;
    send_and_lose_reply(&op, lease, redis_request_for(LATCH_ACQUIRE, 20), 0);
    UNIT_CHECK(unit_run_request(other, redis_wait_to_write()) == LATCH_DONE);
    UNIT_CHECK(finish_on_new_connection(&op) == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(other) && !unit_held(lease));
}

static void a_repeated_acquire_has_the_first_ones_fencing_token(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_FREE);
    uint64_t issued;
    latch_op op;

    (void) state;
    send_and_lose_reply(&op, lease, redis_request(LATCH_ACQUIRE), 0);
    issued = (uint64_t) strtoull(unit_redis_text("GET latch:fencing"), NULL, 10);
    UNIT_CHECK(finish_on_new_connection(&op) == LATCH_DONE);
    UNIT_CHECK(lease->fencing_token == issued);
}

/* The second time as well: the request fails, and what it may have taken is given back. */
static void what_a_failed_acquire_may_have_taken_is_given_back(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};

    (void) state;
    for (int at = 0; at < 2; at++) {
        latch_lease *lease = redis_lease_on_wire(LATCH_FREE), *other;
        latch_op op;
        latch_status status;

        send_and_lose_reply(&op, lease, redis_request(kinds[at]), 0);
        status = send_again(&op);
        redis_wire_pass_reply(0);
        redis_wire_cut();
        UNIT_CHECK(redis_failed(unit_finish(&op, status), ": the server closed the connection"));
        UNIT_CHECK(lease->mode == LATCH_FREE && !unit_held(lease) && !lease->busy);
        UNIT_CHECK(!redis_is_free("r"));

        /* The next command on a connection, for any resource, comes after it. */
        other = redis_lease_in(lease->store, "s");
        redis_send(&op, other, redis_request(LATCH_ACQUIRE));
        redis_wire_accept();
        redis_wire_pass_command();
        redis_wire_pass_reply(SIZE_MAX >> 1);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        UNIT_CHECK(redis_is_free("r"));
        redis_store_forget();
    }
}

/* Two releases that never arrive, then any command; `release` is awaited or detached. */
static void lose_release(latch_lease *lease, latch_request release)
{
    latch_lease *other = redis_lease_in(lease->store, "s");
    latch_op op;

    if (release.detach) {
        UNIT_CHECK(unit_begin(&op, lease, release) == LATCH_DONE);
        redis_wire_cut();
    } else {
        redis_send(&op, lease, release);
        redis_wire_cut();
        do {
            unit_await_grant(&op);
        } while (latch_op_step(&op, unit_now_ns()) == LATCH_WANT_IO && !redis_wire_is_wanted());
        UNIT_CHECK(redis_step_until_sent(&op, LATCH_WANT_IO) == LATCH_WANT_IO);
        redis_wire_accept();
        redis_wire_cut();
        UNIT_CHECK(
            redis_failed(unit_finish(&op, LATCH_WANT_IO), ": the server closed the connection"));
    }
    UNIT_CHECK(!unit_held(lease) && !lease->busy);
    UNIT_CHECK(!redis_is_free("r"));
    /* Nor can it be taken for held, or renewed: it is being given back. */
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_CONFLICT && !unit_held(lease));
    redis_send(&op, other, redis_request(LATCH_ACQUIRE));
    while (!redis_wire_is_wanted()) {
        unit_await_grant(&op);
        UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_IO);
    }
    UNIT_CHECK(redis_step_until_sent(&op, LATCH_WANT_IO) == LATCH_WANT_IO);
    redis_wire_accept();
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

static void a_release_that_was_lost_is_sent_again(void **state)
{
    static const latch_mode modes[] = {LATCH_SHARED, LATCH_EXCLUSIVE};

    (void) state;
    for (int at = 0; at < 4; at++) {
        lose_release(redis_lease_on_wire(modes[at % 2]),
                     at < 2 ? redis_detached_release() : redis_request(LATCH_RELEASE));
        UNIT_CHECK(redis_is_free("r"));
        redis_store_forget();
    }
}

/* The first of the two may arrive late, and would release what was taken since. */
static void a_token_whose_release_was_sent_twice_takes_no_lock(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
    char token[LATCH_TOKEN_MAX + 1];
    latch_op op;

    (void) state;
    snprintf(token, sizeof(token), "%s", lease->token);
    UNIT_CHECK(redis_wire_exchange(lease, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(redis_wire_exchange(lease, LATCH_ACQUIRE) == LATCH_DONE);
    assert_string_equal(lease->token, token); /* Symfony's, too, is the key's for good */
    send_and_lose_reply(&op, lease, redis_request(LATCH_RELEASE), 0);
    UNIT_CHECK(finish_on_new_connection(&op) == LATCH_DONE);
    UNIT_CHECK(redis_wire_exchange(lease, LATCH_ACQUIRE) == LATCH_DONE);
    assert_string_not_equal(lease->token, token);
}

/* A hold is not given up because nobody knows whether it could be renewed. */
static void what_was_held_before_stays_held_when_a_renewal_fails(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_REFRESH};

    (void) state;
    for (int at = 0; at < 2; at++) {
        latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
        int64_t deadline_ns = lease->deadline_ns;
        latch_op op;

        send_and_lose_reply(&op, lease, redis_request_for(kinds[at], 2 * MINUTE), 0);
        redis_wire_close(); /* nobody listens any more */
        UNIT_CHECK(redis_failed(unit_finish(&op, LATCH_WANT_IO), "cannot connect"));
        UNIT_CHECK(unit_held(lease) && lease->deadline_ns == deadline_ns);
        UNIT_CHECK(!redis_is_free("r"));
        redis_store_forget();
    }
}

/* What is granted is certain from the time at which it was asked for at last. */
static void what_is_sent_again_holds_from_then_on(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_FREE);
    int64_t lost_ns;
    latch_op op;

    (void) state;
    send_and_lose_reply(&op, lease, redis_request(LATCH_ACQUIRE), 0);
    lost_ns = unit_now_ns();
    UNIT_CHECK(finish_on_new_connection(&op) == LATCH_DONE);
    UNIT_CHECK(lease->deadline_ns >= lost_ns + MINUTE * LATCH_NS_PER_MS);
}

/* The server may have renewed the lock without anybody hearing of that. */
static void a_release_is_owed_for_longer_than_the_hold_was_certain(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
    latch_op op;

    (void) state;
    redis_send(&op, lease, redis_request_for(LATCH_REFRESH, 10 * MINUTE));
    redis_wire_pass_command();
    redis_wire_pass_reply(0);
    unit.ahead_ns += 2 * MINUTE * LATCH_NS_PER_MS; /* beyond the time limit as well */
    UNIT_CHECK(redis_failed(latch_op_step(&op, unit_now_ns()), "did not answer"));
    UNIT_CHECK(!unit_held(lease) && !redis_is_free("r"));
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    redis_wire_accept();
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    UNIT_CHECK(redis_is_free("r"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_dead_idle_connection_is_replaced_in_silence),
        REDIS_TEST(a_restarted_server_is_found_again_and_its_locks_are_lost),
        REDIS_TEST(a_server_that_is_gone_is_an_error_until_it_is_back),
        REDIS_TEST(a_wait_goes_on_when_its_connection_is_replaced),
        REDIS_TEST(a_connection_that_nobody_takes_ends_at_its_timeout),
        REDIS_TEST(a_lost_reply_is_resolved_by_asking_again),
        REDIS_TEST(a_promotion_that_ended_unheard_leaves_no_reader),
        REDIS_TEST(a_repeated_acquire_has_the_first_ones_fencing_token),
        REDIS_TEST(what_a_failed_acquire_may_have_taken_is_given_back),
        REDIS_TEST(a_release_that_was_lost_is_sent_again),
        REDIS_TEST(a_token_whose_release_was_sent_twice_takes_no_lock),
        REDIS_TEST(what_was_held_before_stays_held_when_a_renewal_fails),
        REDIS_TEST(what_is_sent_again_holds_from_then_on),
        REDIS_TEST(a_release_is_owed_for_longer_than_the_hold_was_certain),
    };

    return cmocka_run_group_tests_name("redis trouble", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
