/*
 * Hand-off in Redis when the server is in trouble: it restarts, forgets, loads, hangs or is gone.
 * Who waits is served all the same, in bounded time, and nothing is left of it.
 */
#include "redis_store.h"

#include "src/store/redis/lock/redis.h"

#include <unistd.h>

/* ---- Several waiters */

enum { WAITERS = 4 };

typedef struct waiters {
    latch_lease *leases[WAITERS];
    latch_op ops[WAITERS];
    latch_status statuses[WAITERS];
} waiters;

/* Each in a store of its own; the lock is somebody's. */
static void begin_waits(waiters *all)
{
    for (int at = 0; at < WAITERS; at++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);

        all->leases[at] = redis_lease_in(store, "r");
        redis_begin_wait(&all->ops[at], all->leases[at], redis_wait_to_write());
        all->statuses[at] = LATCH_WANT_IO;
    }
}

/* All of them get the lock, each releases it, and only one has it at a time. */
static void serve_all(waiters *all)
{
    int64_t limit_ns = unit_now_ns() + UNIT_TIMEOUT_NS;
    int served = 0;

    while (served < WAITERS) {
        UNIT_CHECK(unit_now_ns() < limit_ns);
        for (int at = 0; at < WAITERS; at++) {
            latch_status *status = &all->statuses[at];

            if (latch_wants(*status) && unit_is_due(&all->ops[at], *status)) {
                *status = latch_op_step(&all->ops[at], unit_now_ns());
                if (!latch_wants(*status)) {
                    if (*status != LATCH_DONE) {
                        print_message("waiter %d: status %d: %s\n", at, *status,
                                      unit.error.message);
                    }
                    UNIT_CHECK(*status == LATCH_DONE && unit_held(all->leases[at]));
                    assert_int_equal(unit_redis_number("ZCARD r"), 2); /* it alone */
                    unit_release(all->leases[at]);
                    served++;
                }
            }
        }
    }
    redis_expect_nothing_left();
}

/* ---- Servers that restart, are gone, or forget */

static void who_waits_is_served_by_a_server_that_was_restarted(void **state)
{
    for (int killed = 0; killed < 2; killed++) {
        latch_lease *holder = redis_lease("r");
        waiters all;

        (void) state;
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        begin_waits(&all);
        if (killed) {
            unit_redis_kill();
        } else {
            unit_redis_stop();
        }
        for (int at = 0; at < WAITERS; at++) { /* they try in vain */
            unit_await_grant(&all.ops[at]);
            all.statuses[at] = latch_op_step(&all.ops[at], unit_now_ns());
            UNIT_CHECK(latch_wants(all.statuses[at]));
        }
        unit_redis_start(NULL);
        serve_all(&all);
        redis_store_forget();
    }
}

static void a_wait_outlives_its_server_for_no_longer_than_one_may_connect(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    int64_t *connect_ns = &((redis_store *) store)->options.connect_timeout_ns;
    int64_t long_ns = *connect_ns;
    latch_lease *holder = redis_lease("r"), *lease = redis_lease_in(store, "r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    *connect_ns = 200 * LATCH_NS_PER_MS;
    unit_redis_kill();
    UNIT_CHECK(redis_failed(unit_finish(&op, LATCH_WANT_IO), "cannot connect"));
    UNIT_CHECK(!unit_held(lease) && !lease->busy);
    unit_redis_start(NULL);
    *connect_ns = long_ns;
    UNIT_CHECK(unit_run_request(lease, redis_wait_to_write()) == LATCH_DONE);
    unit_release(lease);
    redis_expect_nothing_left();
}

/* Its connection for commands alone, as its password is another for a while. */
static void who_cannot_ask_waits_on_and_asks_again(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease;
    latch_status status = LATCH_WANT_IO;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run_for(holder, LATCH_ACQUIRE, 2000) == LATCH_DONE);
    unit_redis_ask("CONFIG SET requirepass secret");
    lease = redis_lease_in(redis_open("redis://:secret@127.0.0.1:%d", unit_redis.port), "r");
    redis_begin_wait(&op, lease, redis_wait_to_write());
    unit_redis_ask("CONFIG SET requirepass another");
    unit_redis_ask("CLIENT KILL TYPE normal");
    while (status == LATCH_WANT_IO) {
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
    }
    UNIT_CHECK(status == LATCH_WANT_TIMER && op.poll_ns == 0);
    unit_redis_ask("CONFIG SET requirepass secret");
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(lease));
    unit_redis_ask("CONFIG SET requirepass %s", "");
}

/* A server that reads its data refuses until it has them. */
static void a_server_that_loads_its_data_is_awaited(void **state)
{
    enum { FILLERS = 60 }; /* it answers now and then while it loads them */
    static const char *const slowly[] = {"--key-load-delay", "20000",
                                         "--loading-process-events-interval-bytes", "1024", NULL};
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    char path[UNIT_PATH + 16];
    latch_status status;
    latch_op op;

    (void) state;
    if (unit_redis_is_before(7, 0)) {
        skip(); /* it does not load that slowly */
    }
    for (int at = 0; at < FILLERS; at++) {
        unit_redis_ask("SET filler%d %b", at, path, sizeof(path));
    }
    UNIT_CHECK(redis_run_for(holder, LATCH_ACQUIRE, 2000) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    unit_redis_ask("SAVE");
    unit_redis_kill();
    unit_redis_start(slowly);
    UNIT_CHECK(unit_redis_is_error(unit_redis_try("GET filler0"), "LOADING"));
    status = unit_finish(&op, LATCH_WANT_IO);
    snprintf(path, sizeof(path), "%s/dump.rdb", unit_redis.directory);
    unlink(path);
    UNIT_CHECK(status == LATCH_DONE && unit_held(lease));
    for (int at = 0; at < FILLERS; at++) {
        unit_redis_ask("DEL filler%d", at);
    }
}

/* Lock, record and queue are gone: whoever asks first tells the others. */
static void all_who_wait_are_served_when_the_server_has_lost_its_data(void **state)
{
    for (int holder_stays = 0; holder_stays < 2; holder_stays++) {
        latch_lease *holder = redis_lease("r"), *other = redis_lease("r");
        waiters all;

        (void) state;
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        begin_waits(&all);
        unit_redis_ask("FLUSHALL");
        if (holder_stays) { /* another one, who was quicker than all who wait */
            UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
            all.statuses[0] = redis_step_until(&all.ops[0], LATCH_WANT_IO, AT_POLLING);
            for (int at = 0; at < WAITERS; at++) {
                all.statuses[at] = redis_step_until(&all.ops[at],
                                                    latch_op_step(&all.ops[at], unit_now_ns()),
                                                    AT_WAITING);
            }
            unit_release(other);
        }
        serve_all(&all);
        redis_store_forget();
    }
}

static void who_waits_is_told_though_the_server_has_forgotten_the_scripts(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    unit_redis_ask("SCRIPT FLUSH");
    unit_release(one);
    unit_redis_ask("SCRIPT FLUSH");
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
}

/* ---- Servers that hang */

/* However long a command may take: no wait lasts longer than it was to. */
static void the_time_of_a_wait_is_kept_where_the_server_hangs(void **state)
{
    static const struct {
        int64_t command_ms, connect_ms; /* from when it waits: its time-outs; */
        int64_t wait_ms;                /* and for how long it does, which is until it asks again */
        latch_status ends;              /* a server that has not answered for long is an error */
    } cases[] = {{20, 5000, 1500, LATCH_CONFLICT},
                 {20, 100, 20000, LATCH_ERROR_STORE},
                 {60000, 5000, 1500, LATCH_CONFLICT},
                 {5000, 5000, 1500, LATCH_CONFLICT}};

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
        int64_t *connect_ns = &((redis_store *) store)->options.connect_timeout_ns;
        int64_t long_ns = *connect_ns, deadline_ns, step_ns = 0;
        latch_lease *holder = redis_lease("r"), *lease = redis_lease_in(store, "r");
        latch_status status = LATCH_WANT_IO;
        latch_op op;

        UNIT_CHECK(redis_run_for(holder, LATCH_ACQUIRE, 1000) == LATCH_DONE);
        redis_begin_wait(&op, lease, redis_wait_to_write());
        redis_hold_server();
        redis_set_command_timeout(store, cases[at].command_ms);
        *connect_ns = cases[at].connect_ms * LATCH_NS_PER_MS;
        deadline_ns = unit_now_ns() + cases[at].wait_ms * LATCH_NS_PER_MS;
        op.request.deadline_ns = deadline_ns;
        while (latch_wants(status)) {
            UNIT_CHECK(step_ns < deadline_ns);
            unit_await_wish(&op, status, deadline_ns);
            step_ns = unit_now_ns();
            status = latch_op_step(&op, step_ns);
        }
        UNIT_CHECK(status == cases[at].ends && !unit_held(lease));
        UNIT_CHECK((step_ns >= deadline_ns) == (status == LATCH_CONFLICT));
        redis_let_server_go();
        redis_set_command_timeout(store, 5000);
        *connect_ns = long_ns;
        /* It may not be asked at once. */
        UNIT_AWAIT(unit_run_request(lease, redis_wait_to_write()) == LATCH_DONE);
        unit_release(lease);
        redis_expect_nothing_left();
        redis_store_forget();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(who_waits_is_served_by_a_server_that_was_restarted),
        REDIS_WAIT_TEST(a_wait_outlives_its_server_for_no_longer_than_one_may_connect),
        REDIS_WAIT_TEST(who_cannot_ask_waits_on_and_asks_again),
        REDIS_WAIT_TEST(a_server_that_loads_its_data_is_awaited),
        REDIS_WAIT_TEST(all_who_wait_are_served_when_the_server_has_lost_its_data),
        REDIS_WAIT_TEST(who_waits_is_told_though_the_server_has_forgotten_the_scripts),
        REDIS_WAIT_TEST(the_time_of_a_wait_is_kept_where_the_server_hangs),
    };

    return cmocka_run_group_tests_name("redis hand-off, servers", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
