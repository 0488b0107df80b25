/* The Redis store by itself, on a real server: who holds what, for how long, and under which keys.
 */
#include "redis_store.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Holding */

static long long count_connections(void)
{
    static const char name[] = "total_connections_received:";
    const char *found = strstr(unit_redis_text("INFO stats"), name);

    UNIT_CHECK(found != NULL);
    return atoll(found + strlen(name));
}

/* One round trip each, from the second time on. */
static void taking_and_giving_back_are_one_command_each(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_forget_calls();
    for (int round = 0; round < 5; round++) {
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        unit_release(lease);
    }
    assert_int_equal(redis_count_calls("evalsha"), 10);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    assert_int_equal(redis_count_calls("eval"), 0);
}

static void an_idle_connection_is_used_on(void **state)
{
    latch_lease *lease = redis_lease("r");
    long long count;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    count = count_connections();
    unit.ahead_ns = 3600 * LATCH_NS_PER_S;
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
    unit_release(lease);
    assert_int_equal(count_connections(), count);
}

static void scripts_that_the_server_has_forgotten_are_sent_again(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_REFRESH, LATCH_PROBE,
                                          LATCH_ACQUIRE_SHARED, LATCH_RELEASE};
    latch_lease *lease = redis_lease("r");

    (void) state;
    for (int round = 0; round < 2; round++) {
        for (size_t at = 0; at < sizeof(kinds) / sizeof(kinds[0]); at++) {
            unit_redis_ask("SCRIPT FLUSH");
            UNIT_CHECK(redis_run(lease, kinds[at]) == LATCH_DONE);
        }
        UNIT_CHECK(redis_is_free("r"));
    }
}

/* ---- Fencing */

static void the_fencing_token_is_the_servers_and_grows(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    uint64_t last = 0;

    (void) state;
    for (int round = 0; round < 20; round++) {
        latch_lease *lease = round % 2 == 0 ? one : two;
        uint64_t fencing;

        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        fencing = lease->fencing_token;
        UNIT_CHECK(fencing > last);
        UNIT_CHECK(fencing == strtoull(unit_redis_text("GET latch:fencing"), NULL, 10));
        UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(lease->fencing_token == fencing);
        UNIT_CHECK(redis_run(round % 2 == 0 ? two : one, LATCH_ACQUIRE) == LATCH_CONFLICT);
        last = fencing;
        unit_release(lease);
        UNIT_CHECK(lease->fencing_token == 0);
    }
}

/* ---- Time */

/* The lease must think itself free before the server does. */
static void the_server_holds_as_long_as_the_lease_at_least(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_REFRESH, LATCH_ACQUIRE_SHARED};
    latch_lease *lease = redis_lease("r");

    (void) state;
    for (int round = 0; round < 30; round++) {
        int64_t before_ns = unit_now_ns(), server_us, expiry_ms;

        UNIT_CHECK(redis_run(lease, kinds[round % 3]) == LATCH_DONE);
        UNIT_CHECK(lease->deadline_ns >= before_ns + MINUTE * LATCH_NS_PER_MS);
        UNIT_CHECK(lease->deadline_ns <= unit_now_ns() + MINUTE * LATCH_NS_PER_MS);
        expiry_ms = atoll(unit_redis_text("ZSCORE r %s", lease->token));
        server_us = unit_redis_now_us();
        /* The engine's clock is read after the server's: so much the less is left there. */
        UNIT_CHECK(lease->deadline_ns - unit_now_ns() <= (expiry_ms * 1000 - server_us) * 1000);
    }
}

static void a_lock_that_somebody_removed_is_lost(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("FLUSHALL");
    UNIT_CHECK(unit_held(lease)); /* as far as is known here */
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(lease->lost && !unit_held(lease));
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(!lease->lost);
}

static void a_lock_that_somebody_else_has_is_lost(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");

    (void) state;
    for (int at = 0; at < 4; at++) {
        latch_op_kind before = kinds[at % 2], kind = kinds[at / 2];
        /* One reader of several may be that yet. */
        bool is_known = before == LATCH_ACQUIRE || kind == LATCH_ACQUIRE_SHARED;

        UNIT_CHECK(redis_run(one, before) == LATCH_DONE);
        unit_redis_ask("DEL r");
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(redis_run(one, kind) == LATCH_CONFLICT);
        UNIT_CHECK(one->lost == is_known && unit_held(one) == !is_known);
        UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_CONFLICT && !unit_held(one));
        UNIT_CHECK(one->fencing_token == 0);
        unit_release(two);
    }
}

/* ---- Tokens */

/* A key that was handed over, to a process that knows nothing but its token. */
static void a_token_proves_the_hold(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    uint64_t fencing;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    fencing = one->fencing_token;
    latch_lease_set_token(two, one->token, strlen(one->token), &unit.error);
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(two->mode == LATCH_EXCLUSIVE && unit_held(two));
    UNIT_CHECK(two->deadline_ns <= unit_now_ns() + MINUTE * LATCH_NS_PER_MS);
    UNIT_CHECK(redis_run(two, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE && two->fencing_token == fencing);
    unit_release(two);
    UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_CONFLICT && one->lost);

    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    two = redis_other_lease("r");
    latch_lease_set_token(two, one->token, strlen(one->token), &unit.error);
    UNIT_CHECK(redis_run(two, LATCH_REFRESH) == LATCH_DONE && two->mode == LATCH_SHARED);
    two = redis_other_lease("r");
    latch_lease_set_token(two, one->token, strlen(one->token), &unit.error);
    unit_release(two); /* without having asked before */
    UNIT_CHECK(redis_is_free("r"));
}

/* It is the mark of a writer, not a holder. */
static void the_mark_of_a_writer_is_no_token(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    latch_lease_set_token(two, "__write__", 9, &unit.error);
    unit_redis_snapshot();
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(two, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(two, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_CONFLICT);
    UNIT_CHECK(unit_redis_is_unchanged());
    unit_release(one);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE);
    assert_int_equal(strlen(two->token), LATCH_TOKEN_LENGTH);
    assert_int_equal(unit_redis_number("ZCARD r"), 2);
}

/* ---- What a DSN asks for */

static void acquires_by(latch_store *store)
{
    latch_lease *lease;

    UNIT_CHECK(store != NULL);
    lease = redis_lease_in(store, "r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
}

static void a_server_is_found_by_socket_and_by_name(void **state)
{
    (void) state;
    acquires_by(redis_open("redis://%s", unit_redis.socket));
    UNIT_CHECK(!redis_is_free("r"));
    unit_redis_ask("FLUSHALL");
    acquires_by(redis_open("valkey://localhost:%d", unit_redis.port));
    UNIT_CHECK(!redis_is_free("r"));
}

static void a_database_is_selected(void **state)
{
    (void) state;
    acquires_by(redis_open("redis://127.0.0.1:%d/3", unit_redis.port));
    UNIT_CHECK(redis_run(redis_lease("r"), LATCH_ACQUIRE) == LATCH_DONE); /* another lock */
    unit_redis_ask("FLUSHDB");
    unit_redis_ask("SELECT 3");
    assert_int_equal(unit_redis_number("DBSIZE"), 3);
    unit_redis_ask("SELECT 0");
    UNIT_CHECK(redis_failed(
        redis_run(redis_lease_in(redis_open("redis://127.0.0.1:%d/99", unit_redis.port), "r"),
                  LATCH_ACQUIRE),
        "the server refused the database (ERR DB index is out of range)"));
}

static void a_prefix_goes_before_every_key(void **state)
{
    (void) state;
    acquires_by(redis_open("redis://127.0.0.1:%d?prefix=shop:", unit_redis.port));
    assert_int_equal(unit_redis_number("EXISTS shop:r shop:latch:holder:r shop:latch:fencing"), 3);
    assert_int_equal(unit_redis_number("DBSIZE"), 3);
    UNIT_CHECK(redis_run(redis_lease("shop:r"), LATCH_ACQUIRE) == LATCH_CONFLICT);
}

static void who_logs_in_is_let_in(void **state)
{
    (void) state;
    unit_redis_ask("ACL SETUSER tester on >se%%cret ~* +@all");
    unit_redis_ask("CONFIG SET requirepass pass:word");
    acquires_by(redis_open("redis://:pass:word@127.0.0.1:%d", unit_redis.port));
    unit_redis_ask("FLUSHALL");
    acquires_by(redis_open("redis://tester:se%%25cret@127.0.0.1:%d/2", unit_redis.port));
    UNIT_CHECK(redis_is_free("r"));
}

static void who_logs_in_wrongly_is_told_without_the_password(void **state)
{
    static const char *const dsns[] = {"redis://:topsecret@127.0.0.1:%d",
                                       "redis://tester:topsecret@127.0.0.1:%d/1",
                                       "redis://nobody:topsecret@127.0.0.1:%d"};

    (void) state;
    unit_redis_ask("ACL SETUSER tester on >other ~* +@all");
    unit_redis_ask("CONFIG SET requirepass other");
    for (size_t at = 0; at < sizeof(dsns) / sizeof(dsns[0]); at++) {
        char dsn[128];

        snprintf(dsn, sizeof(dsn), dsns[at], unit_redis.port);
        UNIT_CHECK(
            redis_failed(redis_run(redis_lease_in(redis_open("%s", dsn), "r"), LATCH_ACQUIRE),
                         "the server refused the user or the password (WRONGPASS invalid "
                         "username-password pair"));
        assert_null(strstr(unit.error.message, "topsecret"));
    }
    UNIT_CHECK(redis_failed(redis_run(redis_lease("r"), LATCH_ACQUIRE), "NOAUTH"));
    UNIT_CHECK(redis_is_free("r"));
    unit_redis_ask("CONFIG SET requirepass %s", "");
    UNIT_CHECK(redis_run(redis_lease("r"), LATCH_ACQUIRE) == LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(taking_and_giving_back_are_one_command_each),
        REDIS_TEST(an_idle_connection_is_used_on),
        REDIS_TEST(scripts_that_the_server_has_forgotten_are_sent_again),
        REDIS_TEST(the_fencing_token_is_the_servers_and_grows),
        REDIS_TEST(the_server_holds_as_long_as_the_lease_at_least),
        REDIS_TEST(a_lock_that_somebody_removed_is_lost),
        REDIS_TEST(a_lock_that_somebody_else_has_is_lost),
        REDIS_TEST(a_token_proves_the_hold),
        REDIS_TEST(the_mark_of_a_writer_is_no_token),
        REDIS_TEST(a_server_is_found_by_socket_and_by_name),
        REDIS_TEST(a_database_is_selected),
        REDIS_TEST(a_prefix_goes_before_every_key),
        REDIS_TEST(who_logs_in_is_let_in),
        REDIS_TEST(who_logs_in_wrongly_is_told_without_the_password),
    };

    return cmocka_run_group_tests_name("redis store", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
