/*
 * The stores by which a thread renews: opened as those in which the locks were taken were, by
 * options of their own.
 */
#include "keeping.h"

#include "src/store/redis/options/options.h"
#include "src/store/redis/wire/tls.h"

#include <stdlib.h>

#define TTL_MS INT64_C(1500)
#define MANY 500

/* ---- Options ----------------------------------------------------------------------------------
 */

static void expect_own_text(const char *copy, const char *original)
{
    if (original == NULL) {
        assert_null(copy);
    } else {
        assert_string_equal(copy, original);
        assert_ptr_not_equal(copy, original);
    }
}

static void expect_copy(const redis_options *copy, const redis_options *original)
{
    expect_own_text(copy->identity, original->identity);
    expect_own_text(copy->address, original->address);
    expect_own_text(copy->user, original->user);
    expect_own_text(copy->password, original->password);
    expect_own_text(copy->sentinel, original->sentinel);
    expect_own_text(copy->sentinel_user, original->sentinel_user);
    expect_own_text(copy->sentinel_password, original->sentinel_password);
    expect_own_text(copy->prefix, original->prefix);
    assert_int_equal(copy->place_count, original->place_count);
    for (size_t at = 0; at < original->place_count; at++) {
        expect_own_text(copy->places[at].address, original->places[at].address);
        expect_own_text(copy->places[at].host, original->places[at].host);
        expect_own_text(copy->places[at].path, original->places[at].path);
        assert_int_equal(copy->places[at].port, original->places[at].port);
    }
    assert_int_equal(copy->prefix_length, original->prefix_length);
    assert_int_equal(copy->database, original->database);
    assert_int_equal(copy->connect_timeout_ns, original->connect_timeout_ns);
    assert_int_equal(copy->command_timeout_ns, original->command_timeout_ns);
    assert_int_equal(copy->keepalive_s, original->keepalive_s);
    assert_int_equal(copy->peers, original->peers);
    assert_int_equal(copy->tls != NULL, original->tls != NULL);
    for (int text = 0; original->tls != NULL && text < REDIS_TLS_TEXT_COUNT; text++) {
        expect_own_text(copy->tls->settings.texts[text], original->tls->settings.texts[text]);
    }
    assert_true(original->tls == NULL || !copy->tls->settings.verify_peer);
}

static void options_are_copied_whole_or_not_at_all(void **state)
{
    static const char *const dsns[] = {
        "redis://localhost",
        "redis://user:pass%20word@example.com:7000/5?timeout=1.5&read_timeout=2&tcp_keepalive=9",
        "redis://secret@/run/redis.sock?prefix=app:&dbindex=3",
        "redis://[::1]:6380",
        "rediss://h?ssl[cafile]=/ca&ssl[passphrase]=secret&ssl[verify_peer]=0",
        "redis://u:p@h:1?host[i:2]&host[/run/s:]&sentinel=m&auth[]=su&auth[]=sp",
    };

    (void) state;
    for (size_t at = 0; at < sizeof(dsns) / sizeof(*dsns); at++) {
        redis_options original, copy;
        bool is_copied = false;
        size_t live;

        assert_int_equal(latch_redis_options_parse(unit.engine, dsns[at], strlen(dsns[at]),
                                                   &original, &unit.error),
                         LATCH_DONE);
        live = unit.live;
        for (size_t number = 1; !is_copied; number++) {
            unit.fail_at = unit.allocations + number;
            is_copied = latch_redis_options_copy(unit.engine, &original, &copy);
            unit.fail_at = 0;
            assert_true(is_copied || unit.live == live);
            assert_true(number < 30);
        }
        expect_copy(&copy, &original);
        latch_redis_options_free(unit.engine, &original);
        latch_redis_options_free(unit.engine, &copy);
        latch_redis_options_free(unit.engine, &copy);
    }
}

/* ---- Where it is renewed ----------------------------------------------------------------------
 */

static void expect_kept_in(latch_store *store, int database, const char *key)
{
    latch_lease *lease = redis_lease_in(store, "r");

    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_await_renewal(lease);
    unit_await_renewal(lease);
    unit_redis_ask("SELECT %d", database);
    assert_true(unit_redis_number("PTTL %s", key) > 0);
    unit_redis_ask("SELECT 0");
    unit_release(lease);
    latch_lease_stop_renewal(lease);
}

static void a_database_and_a_prefix(void **state)
{
    (void) state;
    expect_kept_in(redis_open("redis://127.0.0.1:%d/4?prefix=app:", unit_redis.port), 4, "app:r");
}

static void a_unix_socket(void **state)
{
    (void) state;
    expect_kept_in(redis_open("redis://%s?prefix=x&dbindex=2", unit_redis.socket), 2, "xr");
}

static void a_name(void **state)
{
    (void) state;
    expect_kept_in(redis_open("redis://localhost:%d", unit_redis.port), 0, "r");
}

static void a_password(void **state)
{
    (void) state;
    unit_redis_ask("CONFIG SET requirepass secret");
    unit_redis_ask("AUTH secret");
    expect_kept_in(redis_open("redis://secret@127.0.0.1:%d/1", unit_redis.port), 1, "r");
}

static void a_user(void **state)
{
    (void) state;
    unit_redis_ask("ACL SETUSER tester on >p:%%@ss ~* +@all");
    expect_kept_in(redis_open("redis://tester:p%%3A%%25%%40ss@127.0.0.1:%d", unit_redis.port), 0,
                   "r");
}

static void a_user_who_may_not_renew_loses_it_and_the_secret_is_not_told(void **state)
{
    latch_lease *lease;
    latch_loss loss;

    (void) state;
    unit_redis_ask("ACL SETUSER tester on >hUnT3r2 ~* +@all");
    lease = redis_lease_in(redis_open("redis://tester:hUnT3r2@127.0.0.1:%d", unit_redis.port), "r");
    unit_keep(lease);
    assert_int_equal(redis_run_for(lease, LATCH_ACQUIRE, TTL_MS), LATCH_DONE);
    unit_redis_ask("ACL SETUSER tester resetpass >other");
    loss = unit_await_loss();
    assert_non_null(strstr(loss.reason, "the server refused the user or the password"));
    assert_null(strstr(loss.reason, "hUnT3r2"));
    assert_false(unit_held(lease));
}

/* All of them go together, though the connection has to be made, and the script to be told. */
static void what_waits_for_a_connection_goes_together(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d/1", unit_redis.port);
    static latch_lease leases[MANY];
    static char names[MANY][16];
    static int64_t deadlines[MANY];
    const char *reads;
    long long before;

    (void) state;
    for (int at = 0; at < MANY; at++) {
        snprintf(names[at], sizeof(names[at]), "r%d", at);
        latch_lease_init(&leases[at], store, names[at], strlen(names[at]));
        assert_int_equal(redis_run_for(&leases[at], LATCH_ACQUIRE, 6000), LATCH_DONE);
    }
    for (int at = 0; at < MANY; at++) {
        unit_keep(&leases[at]);
        deadlines[at] = leases[at].deadline_ns;
    }
    reads = strstr(unit_redis_text("INFO stats"), "total_reads_processed:");
    before = atoll(reads + strlen("total_reads_processed:"));
    for (int at = 0; at < MANY; at++) {
        UNIT_AWAIT((latch_lease_sync_deadline(&leases[at], unit_now_ns()),
                    leases[at].deadline_ns > deadlines[at]));
    }
    reads = strstr(unit_redis_text("INFO stats"), "total_reads_processed:");
    assert_true(atoll(reads + strlen("total_reads_processed:")) < before + 100);
    for (int at = 0; at < MANY; at++) {
        latch_lease_drop(&leases[at]);
    }
}

/* Nothing that a clone has sent is worth a wait at its end; the clock that stands still would let it
 * wait for ever. */
static void the_end_of_a_clone_waits_for_nobody(void **state)
{
    latch_store *clone = unit.store->class->clone(unit.store, &unit.error);
    latch_request renewal = redis_request(LATCH_REFRESH);
    latch_lease lease;
    latch_op op;

    (void) state;
    assert_non_null(clone);
    latch_lease_init(&lease, clone, "r", 1);
    assert_int_equal(latch_lease_make_token(&lease, &unit.error), LATCH_DONE);
    redis_hold_server();
    redis_send(&op, &lease, renewal);
    clone->class->abandon(&op);
    latch_lease_drop(&lease);
    unit.real_clock = false;
    latch_store_close(clone);
    unit.real_clock = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(options_are_copied_whole_or_not_at_all, setup),
        UNIT_RENEWAL_TEST(a_database_and_a_prefix),
        UNIT_RENEWAL_TEST(a_unix_socket),
        UNIT_RENEWAL_TEST(a_name),
        UNIT_RENEWAL_TEST(a_password),
        UNIT_RENEWAL_TEST(a_user),
        UNIT_RENEWAL_TEST(a_user_who_may_not_renew_loses_it_and_the_secret_is_not_told),
        UNIT_RENEWAL_TEST(the_end_of_a_clone_waits_for_nobody),
        UNIT_RENEWAL_TEST(what_waits_for_a_connection_goes_together),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
