/*
 * Permits in the Redis store where answers are lost; kept by the renewal thread; and on a client
 * object.
 */
#include "keeping.h"
#include "redis_client.h"
#include "redis_permit_leases.h"

/* ---- Answers that are lost */

/* A lease on a wire that is connected, to a server that knows all scripts. */
static latch_lease *permit_on_wire(void)
{
    latch_lease *lease = redis_permit();
    latch_op op;

    UNIT_CHECK(redis_run_take(lease, 1, 3) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
    lease = redis_permit_in(redis_wire_open("?read_timeout=10"));
    redis_send(&op, lease, redis_take(1, 3));
    redis_wire_accept();
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    return lease;
}

/* Sends it, lets it be carried out, loses the answer, and lets the repetition pass. */
static latch_status lose_answer(latch_op *op, latch_lease *lease, latch_request request)
{
    latch_status status;

    redis_send(op, lease, request);
    redis_wire_pass_command();
    redis_wire_pass_reply(0);
    redis_wire_cut();
    status = redis_step_until_sent(op, latch_op_step(op, unit_now_ns()));
    redis_wire_accept();
    redis_wire_pass_all(50);
    return redis_wire_finish(op, status);
}

static void a_lost_answer_to_an_acquire_takes_nothing_twice(void **state)
{
    latch_lease *lease = permit_on_wire();
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_wire_exchange(lease, LATCH_RELEASE) == LATCH_DONE);
    assert_int_equal(redis_permits_used(), 0);
    UNIT_CHECK(lose_answer(&op, lease, redis_take(2, 3)) == LATCH_DONE);
    UNIT_CHECK(unit_held(lease));
    assert_int_equal(redis_permits_used(), 2);
    assert_int_equal(unit_redis_number("ZCARD " REDIS_PERMIT_WEIGHTS), 1);
}

static void a_lost_answer_to_a_renewal_or_a_release_is_asked_for_again(void **state)
{
    latch_lease *lease = permit_on_wire();
    latch_op op;

    (void) state;
    UNIT_CHECK(lose_answer(&op, lease, redis_request(LATCH_REFRESH)) == LATCH_DONE);
    UNIT_CHECK(unit_held(lease));
    assert_int_equal(redis_permits_used(), 1);
    UNIT_CHECK(lose_answer(&op, lease, redis_request(LATCH_RELEASE)) == LATCH_DONE);
    assert_int_equal(redis_permits_used(), 0);
}

static void an_acquire_that_may_have_been_granted_is_released_later(void **state)
{
    latch_lease *lease = permit_on_wire(), *other = redis_permit_elsewhere();
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_wire_exchange(lease, LATCH_RELEASE) == LATCH_DONE);
    redis_send(&op, lease, redis_take(3, 3));
    redis_wire_pass_command();
    redis_wire_pass_reply(0);
    assert_int_equal(redis_permits_used(), 3);
    UNIT_CHECK(latch_op_cancel(&op, unit_now_ns()) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease));
    redis_wire_pass_all(50); /* the release went right behind it */
    UNIT_AWAIT(redis_permits_used() == 0);
    UNIT_CHECK(redis_run_take(other, 3, 3) == LATCH_DONE);
}

static void a_detached_release_gives_the_permits_to_who_waits(void **state)
{
    latch_lease *holder = redis_permit(), *waiter = redis_permit_elsewhere();
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run_take(holder, 2, 2) == LATCH_DONE);
    redis_begin_permit_wait(&op, waiter, redis_wait_to_take(1, 2), 1);
    UNIT_CHECK(unit_run_request(holder, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_AWAIT(redis_permits_used() == 1);
}

/* ---- Without memory */

static void without_memory_nothing_is_taken_or_left_behind(void **state)
{
    latch_lease *other = redis_permit_elsewhere();
    latch_status status = LATCH_ERROR_MEMORY;

    (void) state; /* unit_teardown() finds what leaked */
    UNIT_CHECK(redis_run_take(other, 1, 3) == LATCH_DONE);
    for (size_t at = 1; status != LATCH_DONE; at++) {
        latch_lease *lease = redis_permit();

        unit.fail_at = unit.allocations + at;
        status = redis_run_take(lease, 2, 3);
        unit.fail_at = 0;
        UNIT_CHECK(status == LATCH_DONE || status == LATCH_ERROR_MEMORY
                   || status == LATCH_ERROR_STORE);
        UNIT_CHECK(unit_held(lease) == (status == LATCH_DONE));
        if (status == LATCH_DONE) {
            UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
        }
        latch_lease_drop(lease);
        unit.lease_count--;
        UNIT_CHECK(at < 40);
    }
    UNIT_AWAIT(redis_permits_used() == 1);
    status = LATCH_ERROR_MEMORY;
    for (size_t at = 1; status != LATCH_DONE; at++) {
        latch_request request = unit_request(LATCH_INSPECT);
        latch_lock_report *report = NULL;

        request.reports = &report;
        unit.fail_at = unit.allocations + at;
        status = unit_run_request(other, request);
        unit.fail_at = 0;
        UNIT_CHECK((status == LATCH_DONE) == (report != NULL));
        latch_lock_reports_free(unit.engine, report);
        UNIT_CHECK(at < 40);
    }
}

/* ---- Renewal */

static void a_kept_permit_outlives_its_ttl(void **state)
{
    latch_lease *lease = redis_permit(), *other = redis_permit_elsewhere();
    latch_request request = redis_with_permits(redis_request_for(LATCH_ACQUIRE, 1000), 1, 1);
    int64_t end_ns;

    (void) state;
    unit_keep(lease);
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
    end_ns = unit_now_ns() + 2500 * LATCH_NS_PER_MS;
    while (unit_now_ns() < end_ns) {
        unit_await_renewal(lease);
        UNIT_CHECK(redis_run_take(other, 1, 1) == LATCH_CONFLICT && unit_held(lease));
    }
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
    unit_expect_no_loss();
    UNIT_CHECK(redis_run_take(other, 1, 1) == LATCH_DONE);
}

static void the_loss_of_a_kept_permit_is_told(void **state)
{
    latch_lease *lease = redis_permit();

    (void) state;
    unit_keep(lease);
    UNIT_CHECK(
        unit_run_request(lease, redis_with_permits(redis_request_for(LATCH_ACQUIRE, 900), 1, 1))
        == LATCH_DONE);
    unit_redis_ask("FLUSHALL");
    UNIT_CHECK(unit_await_loss().lease == lease);
    UNIT_CHECK(!unit_held(lease));
}

/* ---- A client object */

static redisContext *client;
static char prepared_for[64];
static bool loses_next;

static latch_status prepare(void *context, const char *resource, size_t length, const char **prefix,
                            size_t *prefix_length, latch_error *error)
{
    (void) context;
    (void) error;
    snprintf(prepared_for, sizeof(prepared_for), "%.*s", (int) length,
             resource != NULL ? resource : "");
    *prefix = "app:";
    *prefix_length = 4;
    return LATCH_DONE;
}

static latch_status run_script(void *context, const latch_redis_script *script,
                               latch_redis_answer *answer, latch_error *error)
{
    (void) context;
    redis_client_run(client, "app:", script, answer);
    if (loses_next) {
        loses_next = false;
        error->status = LATCH_ERROR_LOST;
        snprintf(error->message, sizeof(error->message), "the line is dead");
        return LATCH_ERROR_LOST;
    }
    return LATCH_DONE;
}

static void close_runner(void *context)
{
    (void) context;
    redisFree(client);
}

static latch_store *open_object(bool is_cluster)
{
    const latch_redis_runner runner = {NULL, is_cluster, prepare, run_script, close_runner};
    const latch_store_options options = {.redis_runner = &runner};

    client = unit_redis_connect();
    return latch_store_open(unit.engine, "redis", &options, &unit.error);
}

static void a_client_object_takes_and_waits_for_permits(void **state)
{
    latch_store *store = open_object(false);
    latch_lease *one = redis_permit_in(store), *two = redis_permit_in(store);
    latch_lease *dsn =
        redis_permit_in(redis_open("redis://127.0.0.1:%d?prefix=app:", unit_redis.port));
    latch_status status;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run_take(one, 2, 3) == LATCH_DONE);
    assert_string_equal(prepared_for, "{s}"); /* as Symfony chooses a server by it */
    UNIT_CHECK(redis_run_take(dsn, 2, 3) == LATCH_CONFLICT
               && redis_run_take(dsn, 1, 3) == LATCH_DONE);
    loses_next = true;
    UNIT_CHECK(redis_run(one, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_DONE);
    status = unit_begin(&op, two, redis_wait_to_take(2, 3));
    UNIT_CHECK(status == LATCH_WANT_TIMER); /* it polls */
    UNIT_CHECK(redis_run(one, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    loses_next = true;
    UNIT_CHECK(redis_run(two, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(redis_run(dsn, LATCH_RELEASE) == LATCH_DONE);
    redis_expect_nothing_left();
    latch_lease_drop(one);
    latch_lease_drop(two);
    unit.lease_count = 0;
    latch_lease_drop(dsn);
    latch_store_close(store);
}

static void in_a_cluster_a_name_without_a_slot_is_refused(void **state)
{
    static const char *const names[] = {"", "}", "}x"};
    latch_store *store = open_object(true);
    latch_lease lease;

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        latch_permit_lease_init(&lease, store, names[at], strlen(names[at]));
        assert_int_equal(redis_run_take(&lease, 1, 1), LATCH_ERROR_ARGUMENT);
        UNIT_CHECK(strstr(unit.error.message, "in a cluster") != NULL);
        latch_lease_drop(&lease);
    }
    latch_permit_lease_init(&lease, store, "s", 1);
    UNIT_CHECK(redis_run_take(&lease, 1, 1) == LATCH_DONE);
    latch_lease_drop(&lease);
    latch_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_lost_answer_to_an_acquire_takes_nothing_twice),
        REDIS_TEST(a_lost_answer_to_a_renewal_or_a_release_is_asked_for_again),
        REDIS_TEST(an_acquire_that_may_have_been_granted_is_released_later),
        REDIS_TEST(a_detached_release_gives_the_permits_to_who_waits),
        REDIS_TEST(without_memory_nothing_is_taken_or_left_behind),
        UNIT_RENEWAL_TEST(a_kept_permit_outlives_its_ttl),
        UNIT_RENEWAL_TEST(the_loss_of_a_kept_permit_is_told),
        REDIS_TEST(a_client_object_takes_and_waits_for_permits),
        REDIS_TEST(in_a_cluster_a_name_without_a_slot_is_refused),
    };

    return cmocka_run_group_tests_name("redis permit trouble", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
