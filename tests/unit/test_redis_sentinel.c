/* A master under Sentinels: who is asked for it, and what is said when nobody can tell. */
#include "redis_sentinel.h"

#include "src/store/redis/lock/redis.h"

/* Long enough for every failover, on a machine with much to do. */
#define PATIENT "&timeout=20&read_timeout=20"

static bool has(redis_process *node, const char *resource)
{
    return redis_process_number(node, "EXISTS %s", resource) == 1;
}

static void expect_message(const char *text)
{
    if (strstr(unit.error.message, text) == NULL) {
        fail_msg("\"%s\", not \"%s\"", unit.error.message, text);
    }
}

/* By another store, which asks the Sentinels anew. */
static latch_status try_elsewhere(const char *resource)
{
    return redis_run(redis_lease_in(redis_trio_open(PATIENT), resource), LATCH_ACQUIRE);
}

/* ---- Asking */

static void the_master_is_asked_for(void **state)
{
    latch_lease *lease;

    (void) state;
    redis_trio_open(PATIENT);
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(lease->fencing_token > 0);
    UNIT_CHECK(has(&trio.servers[0], "r"));
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(try_elsewhere("r") == LATCH_CONFLICT);
    unit_release(lease);
    UNIT_CHECK(!has(&trio.servers[0], "r"));
}

/* Its key has the owner on whatever server is the master, and its record goes with it. */
static void a_lock_that_is_a_string_goes_with_the_master(void **state)
{
    redis_process *master = &trio.servers[0];
    latch_lease *lease, *other;
    uint64_t fencing;

    (void) state;
    unit.store =
        redis_open("redis+string:?%s&sentinel=" TRIO_MASTER PATIENT, redis_trio_hosts());
    lease = redis_lease("r");
    other = redis_lease("r");
    UNIT_CHECK(latch_lease_set_owner(lease, "user 7", 6, &unit.error) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && has(master, "r"));
    fencing = lease->fencing_token;
    redis_trio_await_replicas(master);
    master = redis_trio_fail_over(master);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && lease->fencing_token == fencing);
    UNIT_CHECK(has(master, "r") && has(master, "latch:string:r"));
    unit_release(lease);
    UNIT_CHECK(!has(master, "r") && !has(master, "latch:string:r"));
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE && other->fencing_token > fencing);
    unit_release(other);
}

/* With two seconds for each of them, more or less. */
static void a_sentinel_that_hangs_or_is_gone_is_passed_over(void **state)
{
    (void) state;
    redis_process_hold(&trio.sentinels[0]);
    redis_process_kill(&trio.sentinels[1]);
    redis_trio_open("&timeout=8");
    UNIT_CHECK(redis_run(redis_lease("r"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(has(&trio.servers[0], "r"));
    redis_process_let_go(&trio.sentinels[0]);
}

/* So it costs time once. */
static void a_sentinel_that_hangs_is_asked_after_the_others(void **state)
{
    const redis_sentinel *sentinel;
    latch_lease *lease;
    unsigned looks = 0;

    (void) state;
    redis_process_hold(&trio.sentinels[1]);
    redis_trio_open(PATIENT);
    sentinel = &((redis_store *) unit.store)->sentinel;
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    assert_int_not_equal(1, sentinel->current);
    for (int round = 0; round < 2; round++) {
        unit.ahead_ns += 6 * LATCH_NS_PER_S; /* it is time to ask again, in the background */
        do {
            UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
            assert_int_not_equal(1, sentinel->current);
            unit_redis_look_again(&looks);
        } while (sentinel->is_querying);
    }
    redis_process_let_go(&trio.sentinels[1]);
}

static void what_is_connected_works_without_sentinels(void **state)
{
    latch_lease *lease;
    char where[200];

    (void) state;
    redis_trio_open("&timeout=1");
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    for (size_t at = 0; at < 3; at++) {
        redis_process_kill(&trio.sentinels[at]);
    }
    for (int count = 0; count < 3; count++) {
        UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
        unit_release(lease);
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        unit.ahead_ns += 6 * LATCH_NS_PER_S; /* it is time to ask again */
    }
    UNIT_CHECK(try_elsewhere("s") == LATCH_ERROR_STORE);
    snprintf(where, sizeof(where),
             "no Sentinel of 127.0.0.1:%d, 127.0.0.1:%d, 127.0.0.1:%d tells where the master "
             "\"my-master\" is; the last one: cannot connect to Redis at 127.0.0.1:",
             trio.sentinels[0].port, trio.sentinels[1].port, trio.sentinels[2].port);
    expect_message(where);
    expect_message("Connection refused");
}

static void a_name_that_nobody_knows_is_an_error(void **state)
{
    latch_store *store;

    (void) state;
    store = redis_open("redis:?%s&sentinel=other", redis_trio_hosts());
    UNIT_CHECK(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE) == LATCH_ERROR_STORE);
    expect_message("where the master \"other\" is");
    expect_message("knows no master of that name");
}

static void a_server_that_is_no_sentinel_is_an_error(void **state)
{
    latch_store *store;

    (void) state;
    store = redis_open("redis://127.0.0.1:%d?sentinel=m", trio.servers[0].port);
    UNIT_CHECK(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE) == LATCH_ERROR_STORE);
    expect_message("answered: ERR unknown command");
}

/* By hand: the Sentinels go on naming it for a while. */
static void demote(void)
{
    redis_process_ask(&trio.servers[0], "REPLICAOF 127.0.0.1 %d", trio.servers[1].port);
    redis_process_ask(&trio.servers[0], "CONFIG SET replica-read-only no");
}

static void a_server_that_is_no_master_grants_nothing(void **state)
{
    latch_lease *lease;
    unsigned looks = 0;

    (void) state;
    demote();
    redis_trio_open("&timeout=1");
    lease = redis_lease("r");
    do {
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_ERROR_STORE);
        unit_redis_look_again(&looks); /* the machine may stand still for all of the time */
    } while (strstr(unit.error.message, ": it is no master") == NULL);
    expect_message("no connection to the master \"my-master\" within 1 s; the server that "
                   "Sentinels name last, 127.0.0.1:");
    UNIT_CHECK(!has(&trio.servers[0], "r"));
}

/* It is no master; and then it has no time to say so again, or nobody answers, or it does not. */
static void why_there_is_no_master_is_told_at_the_end(void **state)
{
    enum { HAS_NO_TIME, NO_SENTINEL_ANSWERS, IS_SILENT };

    (void) state;
    demote();
    for (int then = HAS_NO_TIME; then <= IS_SILENT; then++) {
        redis_store *store = (redis_store *) redis_trio_open("&timeout=2");
        redis_connection *connection = &store->topology.single.connection;
        latch_op op;
        latch_status status = unit_begin(&op, redis_lease("r"), redis_request(LATCH_ACQUIRE));

        while (store->sentinel.trouble[0] == '\0'
               || (then == HAS_NO_TIME && connection->stage <= REDIS_DISCOVERING)) {
            UNIT_CHECK(latch_wants(status));
            unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
            status = latch_op_step(&op, unit_now_ns());
        }
        if (then == HAS_NO_TIME) {
            connection->deadline_ns = connection->connecting_ns;
            status = latch_op_step(&op, connection->connecting_ns);
        }
        for (size_t at = 0; then == NO_SENTINEL_ANSWERS && at < 3; at++) {
            redis_process_hold(&trio.sentinels[at]);
        }
        if (then == IS_SILENT) {
            redis_process_hold(&trio.servers[0]);
        }
        UNIT_CHECK(unit_finish(&op, status) == LATCH_ERROR_STORE);
        expect_message(then == IS_SILENT ? ": it does not answer" : ": it is no master");
        for (size_t at = 0; then == NO_SENTINEL_ANSWERS && at < 3; at++) {
            redis_process_let_go(&trio.sentinels[at]);
        }
    }
    redis_process_let_go(&trio.servers[0]);
}

static void each_has_its_password(void **state)
{
    static const char *const wrong[][2] = {
        {"redis:server-pw@?%s&auth=hUnT3r2&sentinel=my-master", "WRONGPASS"},
        {"redis:server-pw@?%s&sentinel=my-master", "NOAUTH"},
        {"redis:hUnT3r2@?%s&auth=sentinel-pw&sentinel=my-master", "WRONGPASS"},
        {"redis:?%s&auth=sentinel-pw&sentinel=my-master", "WRONGPASS"},
    };
    char dsn[300];
    latch_store *store;

    (void) state;
    store = redis_open("redis:server-pw@?%s&auth=sentinel-pw&sentinel=my-master" PATIENT,
                       redis_trio_hosts());
    UNIT_CHECK(redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(has(&trio.servers[0], "r"));
    for (size_t at = 0; at < sizeof(wrong) / sizeof(*wrong); at++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(dsn, sizeof(dsn), wrong[at][0], redis_trio_hosts());
#pragma GCC diagnostic pop
        store = redis_open("%s" PATIENT, dsn);
        UNIT_CHECK(redis_run(redis_lease_in(store, "s"), LATCH_ACQUIRE) == LATCH_ERROR_STORE);
        expect_message(wrong[at][1]);
        UNIT_CHECK(strstr(unit.error.message, "hUnT3r2") == NULL
                   && strstr(unit.error.message, "-pw") == NULL);
    }
}

static void every_allocation_may_fail(void **state)
{
    latch_status status = LATCH_ERROR_MEMORY;
    latch_store *store;

    (void) state;
    for (size_t number = 1; status != LATCH_DONE; number++) {
        UNIT_CHECK(number < 60);
        store = redis_trio_open(PATIENT);
        redis_process_ask(&trio.servers[0], "FLUSHALL");
        unit.fail_at = unit.allocations + number;
        status = redis_run(redis_lease_in(store, "r"), LATCH_ACQUIRE);
        unit.fail_at = 0;
        UNIT_CHECK(status == LATCH_DONE || status == LATCH_ERROR_MEMORY);
        redis_store_close_all();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TRIO_TEST(the_master_is_asked_for),
        UNIT_TRIO_TEST(a_lock_that_is_a_string_goes_with_the_master),
        UNIT_TRIO_TEST(a_sentinel_that_hangs_or_is_gone_is_passed_over),
        UNIT_TRIO_TEST(a_sentinel_that_hangs_is_asked_after_the_others),
        UNIT_TRIO_TEST(what_is_connected_works_without_sentinels),
        UNIT_TRIO_TEST(a_name_that_nobody_knows_is_an_error),
        UNIT_TRIO_TEST(a_server_that_is_no_sentinel_is_an_error),
        UNIT_TRIO_TEST(a_server_that_is_no_master_grants_nothing),
        UNIT_TRIO_TEST(why_there_is_no_master_is_told_at_the_end),
        cmocka_unit_test_setup_teardown(each_has_its_password, redis_trio_setup_secret,
                                        redis_trio_teardown),
        UNIT_TRIO_TEST(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("redis_sentinel", tests, NULL, NULL);
}
