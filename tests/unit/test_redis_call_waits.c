/* Waits for the end of a count-down in Redis: by messages, and without. */
#include "calls.h"
#include "redis_client.h"
#include "redis_store.h"

#include <poll.h>

#define TELLS(expected, answer) assert_string_equal(answer, expected)
#define TTL "60000"

/* ---- Waiters */

/* How many are to be told, by what the server has. */
static const char waiter_script[] =
    "local count = 0 for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do "
    "if string.sub(field, 1, 2) == 'w ' then count = count + 1 end end return count";

static long long count_waiters(void)
{
    return unit_redis_number("EVAL %s 1 latch:count:r", waiter_script);
}

static latch_request waiting(unit_call *made)
{
    latch_request request = unit_call_request(made);

    request.wait = true;
    return request;
}

/* Steps until the server knows so many waiters, and there is nothing to do. */
static void step_until_registered(latch_op *op, latch_status status, long long count)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    /* While nothing is in flight the store itself is the state. */
    while (op->state != op->lease->store || count_waiters() != count || unit_is_due(op, status)) {
        UNIT_CHECK(latch_wants(status) && unit_now_ns() < limit_ns);
        unit_await_wish(op, status, limit_ns);
        status = latch_op_step(op, unit_now_ns());
    }
    UNIT_CHECK(status == LATCH_WANT_IO && op->waiting);
}

static void begin_waiting(unit_call *made, latch_op *op, latch_store *store, long long count)
{
    unit_call_make(made, store, "r", LATCH_COUNT_DOWN_STATE, NULL);
    step_until_registered(op, unit_begin(op, &made->lease, waiting(made)), count);
}

/* A message comes, and no poll. */
static const char *is_told(unit_call *made, latch_op *op)
{
    struct pollfd messages = {.fd = op->fd, .events = POLLIN};

    UNIT_CHECK(poll(&messages, 1, (int) (UNIT_TIMEOUT_NS / LATCH_NS_PER_MS)) == 1);
    return unit_call_told(made, unit_finish(op, LATCH_WANT_IO));
}

static void open_count(const char *payload)
{
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", payload, NULL));
}

static void arrive(const char *answer)
{
    TELLS(answer, unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "30000", NULL));
}

/* ---- Messages */

static void waiters_are_told_of_the_end(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    unit_call one, two;
    latch_op first, second;

    (void) state;
    open_count(NULL); /* the last arrival ends it */
    begin_waiting(&one, &first, store, 1);
    begin_waiting(&two, &second, store, 2);
    arrive("done,0,0,");
    assert_int_equal(count_waiters(), 0);
    TELLS("done", is_told(&one, &first));
    TELLS("done", unit_call_told(&two, unit_finish(&second, LATCH_WANT_IO)));
}

static void waiters_are_told_of_done_and_of_cancel(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    unit_call made;
    latch_op op;

    (void) state;
    open_count("p");
    begin_waiting(&made, &op, store, 1);
    arrive("arrived,0,1,p");
    assert_int_equal(count_waiters(), 1); /* the last step is still to be done */
    TELLS("done,0", unit_call_run("r", LATCH_COUNT_DOWN_DONE, TTL, NULL));
    TELLS("done", is_told(&made, &op));
    unit_redis_ask("FLUSHALL");
    open_count("p");
    begin_waiting(&made, &op, store, 1);
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_CANCEL, NULL));
    TELLS("cancelled", is_told(&made, &op));
}

static void what_has_ended_is_not_waited_for(void **state)
{
    unit_call made;
    latch_op op;

    (void) state;
    unit_call_make(&made, unit.store, "r", LATCH_COUNT_DOWN_STATE, NULL);
    TELLS("none",
          unit_call_told(&made, unit_finish(&op, unit_begin(&op, &made.lease, waiting(&made)))));
    open_count(NULL);
    arrive("done,0,0,");
    unit_call_make(&made, unit.store, "r", LATCH_COUNT_DOWN_STATE, NULL);
    TELLS("done",
          unit_call_told(&made, unit_finish(&op, unit_begin(&op, &made.lease, waiting(&made)))));
}

static void a_lost_message_costs_a_poll(void **state)
{
    unit_call made;
    latch_op op;

    (void) state;
    open_count(NULL);
    begin_waiting(&made, &op, unit.store, 1);
    UNIT_CHECK(op.wake_ns < unit_now_ns() + 2 * LATCH_NS_PER_S);
    unit_redis_ask("HSET latch:count:r state done");
    TELLS("done", unit_call_told(&made, unit_finish(&op, LATCH_WANT_IO)));
}

static void a_lost_subscription_is_made_again(void **state)
{
    unit_call made;
    latch_op op;

    (void) state;
    open_count(NULL);
    begin_waiting(&made, &op, unit.store, 1);
    unit_redis_ask("CLIENT KILL TYPE pubsub");
    UNIT_CHECK(latch_wants(latch_op_step(&op, unit_now_ns())));
    unit_redis_ask("EVAL %s 1 latch:count:r",
                   "for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do "
                   "if string.sub(field, 1, 2) == 'w ' then redis.call('HDEL', KEYS[1], field) "
                   "end end");
    step_until_registered(&op, latch_op_step(&op, unit_now_ns()), 1);
    arrive("done,0,0,");
    TELLS("done", is_told(&made, &op));
}

/* Whatever the outage hits: the subscription, a poll, or both. */
static void a_wait_outlives_a_restart(void **state)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;
    latch_status status;
    unit_call made;
    latch_op op;

    (void) state;
    open_count(NULL);
    begin_waiting(&made, &op, unit.store, 1);
    unit_redis_stop();
    for (int failures = 0; failures < 3;) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        status = latch_op_step(&op, unit_now_ns());
        UNIT_CHECK(latch_wants(status));
        failures += status == LATCH_WANT_TIMER;
        unit_await_wish(&op, status, limit_ns);
    }
    unit_redis_start(NULL);
    open_count(NULL); /* it was without data */
    step_until_registered(&op, latch_op_step(&op, unit_now_ns()), 1);
    arrive("done,0,0,");
    TELLS("done", is_told(&made, &op));
}

static void dead_waiters_are_forgotten(void **state)
{
    unit_call made;
    latch_op op;

    (void) state;
    open_count(NULL);
    unit_redis_ask("HSET latch:count:r %s 1", "w 7 latch:wake:dead");
    unit_redis_ask("HSET latch:count:r %s 9000000000000000", "w 8 latch:wake:deaf");
    begin_waiting(&made, &op, unit.store, 2);
    arrive("done,0,0,");
    TELLS("done", is_told(&made, &op));
}

/* ---- The end of a wait */

static void a_wait_ends_at_its_deadline(void **state)
{
    unit_call made;
    latch_request request;

    (void) state;
    open_count(NULL);
    for (int64_t ms = 0; ms < 60; ms += 20) {
        unit_call_make(&made, unit.store, "r", LATCH_COUNT_DOWN_STATE, NULL);
        request = waiting(&made);
        request.deadline_ns = unit_now_ns() + ms * LATCH_NS_PER_MS;
        if (ms == 0) { /* it does not wait */
            TELLS("open", unit_call_told(&made, unit_run_request(&made.lease, request)));
            continue;
        }
        UNIT_CHECK(unit_run_request(&made.lease, request) == LATCH_CONFLICT);
        UNIT_CHECK(made.call.answer == NULL && made.lease.state == NULL);
        latch_lease_drop(&made.lease);
    }
}

/* At each step; unit_teardown() finds what leaked. */
static void a_wait_can_be_cancelled_at_any_time(void **state)
{
    (void) state;
    open_count(NULL);
    for (int steps = 0; steps < 12; steps++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
        latch_status status;
        unit_call made;
        latch_op op;

        unit_call_make(&made, store, "r", LATCH_COUNT_DOWN_STATE, NULL);
        status = unit_begin(&op, &made.lease, waiting(&made));
        for (int at = 0; at < steps; at++) {
            UNIT_CHECK(latch_wants(status));
            unit_await_wish(&op, status, unit_now_ns() + 20 * LATCH_NS_PER_MS);
            status = latch_op_step(&op, unit_now_ns());
        }
        UNIT_CHECK(latch_op_cancel(&op, unit_now_ns()) == LATCH_CONFLICT);
        UNIT_CHECK(made.call.answer == NULL && made.lease.state == NULL);
        latch_lease_drop(&made.lease);
        redis_store_forget();
        open_count(NULL);
    }
}

static void without_memory_nothing_is_left(void **state)
{
    (void) state;
    open_count(NULL);
    arrive("done,0,0,");
    for (size_t at = 1;; at++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
        latch_status status;
        unit_call made;
        latch_op op;

        UNIT_CHECK(at < 100);
        unit_call_make(&made, store, "r", LATCH_COUNT_DOWN_STATE, NULL);
        unit.fail_at = unit.allocations + at;
        status = unit_finish(&op, unit_begin(&op, &made.lease, waiting(&made)));
        unit.fail_at = 0;
        UNIT_CHECK(made.lease.state == NULL);
        if (strncmp(unit_call_told(&made, status), "error ", 6) != 0) {
            break;
        }
    }
}

/* ---- Without messages */

/* A wait is carried out by polls. */
static void polls(latch_store *store)
{
    latch_status status;
    unit_call made;
    latch_op op;

    unit_redis_ask("DEL latch:count:r p:latch:count:r");
    open_count(NULL);
    unit_call_make(&made, store, "r", LATCH_COUNT_DOWN_STATE, NULL);
    status = unit_begin(&op, &made.lease, waiting(&made));
    for (int pauses = 0; pauses < 3;) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
        pauses += status == LATCH_WANT_TIMER;
    }
    UNIT_CHECK(op.wake_ns < unit_now_ns() + LATCH_NS_PER_S / 2);
    assert_int_equal(count_waiters(), 0);
    arrive("done,0,0,");
    TELLS("done", unit_call_told(&made, unit_finish(&op, status)));
}

static void who_may_not_subscribe_or_publish_polls(void **state)
{
    static const char *const rights[] = {"-subscribe", "-publish", "resetchannels"};
    size_t count = unit_redis_is_before(6, 2) ? 2 : 3; /* no rules for channels before */

    (void) state;
    for (size_t at = 0; at < count; at++) {
        latch_store *store;

        unit_redis_let_tester(rights[at]);
        store =
            redis_open("redis://tester:secret@127.0.0.1:%d?persistent_id=%zu", unit_redis.port, at);
        UNIT_CHECK(store != NULL);
        polls(store);
    }
}

static void a_server_without_memory_is_polled(void **state)
{
    unit_call made;
    latch_op op;
    latch_status status;

    (void) state;
    open_count(NULL);
    unit_redis_ask("CONFIG SET maxmemory 1");
    unit_call_make(&made, unit.store, "r", LATCH_COUNT_DOWN_STATE, NULL);
    status = unit_begin(&op, &made.lease, waiting(&made));
    for (int pauses = 0; pauses < 3;) {
        UNIT_CHECK(latch_wants(status));
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
        pauses += status == LATCH_WANT_TIMER;
    }
    unit_redis_ask("CONFIG SET maxmemory 0");
    arrive("done,0,0,");
    TELLS("done", unit_call_told(&made, unit_finish(&op, status)));
}

static redisContext *client;

static latch_status prepare(void *context, const char *resource, size_t length, const char **prefix,
                            size_t *prefix_length, latch_error *error)
{
    (void) context;
    (void) length;
    (void) error;
    UNIT_CHECK(resource == NULL); /* as for other calls */
    *prefix = "";
    *prefix_length = 0;
    return LATCH_DONE;
}

static latch_status run(void *context, const latch_redis_script *script, latch_redis_answer *answer,
                        latch_error *error)
{
    (void) context;
    (void) error;
    redis_client_run(client, "", script, answer);
    return LATCH_DONE;
}

static void close_runner(void *context)
{
    (void) context;
}

static void a_client_object_polls(void **state)
{
    const latch_redis_runner runner = {NULL, false, prepare, run, close_runner};
    const latch_store_options options = {.redis_runner = &runner};
    latch_store *store;

    (void) state;
    client = unit_redis_connect();
    store = latch_store_open(unit.engine, "redis", &options, &unit.error);
    UNIT_CHECK(store != NULL);
    polls(store);
    latch_store_close(store);
    redisFree(client);
}

/* ---- Forks */

static void finish_in_child(unit_process *self, void *context)
{
    latch_op *op = context;

    (void) self;
    UNIT_CHECK(unit_finish(op, latch_op_step(op, unit_now_ns())) == LATCH_DONE);
    UNIT_CHECK(strcmp(op->request.call->answer->parts[0].text, "done") == 0);
}

static void a_forked_child_waits_by_itself(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    unit_process child;
    unit_call made;
    latch_op op;

    (void) state;
    open_count(NULL);
    begin_waiting(&made, &op, store, 1);
    child = unit_fork(finish_in_child, &op);
    UNIT_AWAIT(count_waiters() == 2);
    arrive("done,0,0,");
    TELLS("done", is_told(&made, &op));
    unit_join(&child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(waiters_are_told_of_the_end),
        REDIS_TEST(waiters_are_told_of_done_and_of_cancel),
        REDIS_TEST(what_has_ended_is_not_waited_for),
        REDIS_TEST(a_lost_message_costs_a_poll),
        REDIS_TEST(a_lost_subscription_is_made_again),
        REDIS_TEST(a_wait_outlives_a_restart),
        REDIS_TEST(dead_waiters_are_forgotten),
        REDIS_TEST(a_wait_ends_at_its_deadline),
        REDIS_TEST(a_wait_can_be_cancelled_at_any_time),
        REDIS_TEST(without_memory_nothing_is_left),
        REDIS_TEST(who_may_not_subscribe_or_publish_polls),
        REDIS_TEST(a_server_without_memory_is_polled),
        REDIS_TEST(a_client_object_polls),
        REDIS_TEST(a_forked_child_waits_by_itself),
    };

    return cmocka_run_group_tests_name("redis call waits", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
