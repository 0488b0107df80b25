/*
 * Hand-off in Redis when something goes wrong: connections that are cut, servers that restart,
 * forget, load, hang or forbid. Who waits is served all the same, in bounded time, and nothing is
 * left of it.
 */
#include "redis_store.h"

#include "store/redis.h"

#include <unistd.h>

#define ALL (SIZE_MAX >> 1)

/* ---- Several waiters */

enum { WAITERS = 4 };

typedef struct waiters {
    latch_lease *leases[WAITERS];
    latch_op ops[WAITERS];
    latch_status statuses[WAITERS];
} waiters;

/* Each in a store of its own; the lock is somebody's. */
static void begin_waits(waiters *all, const char *options)
{
    for (int at = 0; at < WAITERS; at++) {
        latch_store *store = redis_open("redis://127.0.0.1:%d%s", unit_redis.port, options);

        all->leases[at] = redis_lease_in(store, "r");
        redis_begin_wait(&all->ops[at], all->leases[at], redis_wait_to_write());
        all->statuses[at] = LATCH_WANT_IO;
    }
}

/* All of them get the lock, each releases it, and only one has it at a time. */
static void serve_all(waiters *all)
{
    int64_t limit_ns = unit_now_ns() + UNIT_PATIENCE_NS;
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

/* ---- The subscription */

static void a_subscription_that_is_cut_is_made_anew_and_keeps_the_place(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r"), *three = redis_lease("r");
    latch_op two_op, three_op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&two_op, two, redis_wait_to_write());
    redis_begin_wait(&three_op, three, redis_wait_to_write());
    for (int round = 0; round < 3; round++) {
        unit_redis_ask("CLIENT KILL TYPE pubsub");
        UNIT_CHECK(redis_step_until(&two_op, latch_op_step(&two_op, unit_now_ns()), AT_ASKING)
                   == LATCH_WANT_IO);
        UNIT_CHECK(redis_step_until(&two_op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
        UNIT_CHECK(redis_step_until(&three_op, latch_op_step(&three_op, unit_now_ns()), AT_WAITING)
                   == LATCH_WANT_IO);
        assert_int_equal(redis_count_waiters("r"), 2);
    }
    unit_release(one);
    UNIT_CHECK(unit_finish(&two_op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    unit_release(two);
    UNIT_CHECK(redis_finish_outer(&three_op) == LATCH_DONE && unit_held(three));
}

/* The release finds nobody who hears it, and takes the waiter for dead. */
static void who_was_taken_for_dead_is_served_all_the_same(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    unit_redis_ask("CLIENT KILL TYPE pubsub");
    unit_release(one);
    UNIT_CHECK(redis_is_free("r") && redis_count_waiters("r") == 0);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    unit_release(two);
    redis_expect_nothing_left();
}

/* A store that waits by the wire, and the holder that it waits for. */
static latch_lease *begin_wait_on_wire(latch_op *op, latch_lease *holder, const char *options)
{
    latch_lease *lease = redis_lease_in(redis_wire_open(options), "r");
    latch_status status;

    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    status = redis_wire_step_until(op, unit_begin(op, lease, redis_wait_to_write()), AT_WAITING);
    UNIT_CHECK(status == LATCH_WANT_IO);
    return lease;
}

static void a_message_that_is_cut_is_none(void **state)
{
    static const size_t lengths[] = {0, 1, 20, 60};

    (void) state;
    for (size_t at = 0; at < sizeof(lengths) / sizeof(lengths[0]); at++) {
        latch_lease *holder = redis_lease("r"), *lease;
        latch_op op;

        lease = begin_wait_on_wire(&op, holder, "");
        unit_release(holder);
        redis_wire_use(REDIS_MESSAGES);
        redis_wire_pass_reply(lengths[at]);
        redis_wire_cut();
        UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
        redis_store_forget();
    }
}

/* Half a connection: what the server says on it is lost, and nobody hears of that. */
static void a_message_that_never_comes_costs_no_more_than_the_safety_net(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease;
    latch_op op;

    (void) state;
    lease = begin_wait_on_wire(&op, holder, "");
    unit_release(holder);
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_pass_reply(0);
    UNIT_CHECK(redis_wire_step_until(&op, LATCH_WANT_IO, AT_POLLING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

/* Old ones, and those of nobody. */
static void messages_about_other_waits_change_nothing(void **state)
{
    static const char *const words[] = {"granted 999", "granted", "granted -1", "first 999 1",
                                        "first",       "test 1",  "",           "what is this"};
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    char channel[64];
    int64_t wake_ns;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    snprintf(channel, sizeof(channel), "%s",
             unit_redis_ask("PUBSUB CHANNELS latch:wake:*")->element[0]->str);
    for (size_t at = 0; at < sizeof(words) / sizeof(words[0]); at++) {
        assert_int_equal(unit_redis_number("PUBLISH %s %s", channel, words[at]), 1);
        assert_int_equal(unit_redis_number("PUBLISH latch:requeue %s", words[at]), 1);
    }
    /* That it is the first it knows by now, and is to ask sooner than in a minute. */
    wake_ns = op.wake_ns;
    unit_redis_ask("PUBLISH %s %s", channel, "first 1 60000");
    unit_await_grant(&op);
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_IO && op.wake_ns <= wake_ns);
    UNIT_CHECK(redis_moment_of(&op) == AT_WAITING && !unit_held(lease));
    /* A message is no hold: the answer counts. */
    unit_redis_ask("PUBLISH %s %s", channel, "granted 1");
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_CLAIMING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    UNIT_CHECK(!unit_held(lease) && redis_count_waiters("r") == 1);
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

/* ---- The connection for commands */

static void a_wait_does_not_need_its_connection_until_it_asks(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, two, redis_wait_to_write());
    unit_redis_ask("CLIENT KILL TYPE normal");
    unit_redis_ask("SCRIPT FLUSH");
    assert_int_equal(redis_count_waiters("r"), 1);
    unit_release(one);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(two));
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE);
}

/* Lets what is on its way arrive, and its answer be lost but for so many bytes. */
static latch_status lose_answer(latch_op *op, latch_status status, size_t passed)
{
    redis_moment moment = redis_moment_of(op);

    redis_wire_pass_command();
    redis_wire_pass_reply(passed);
    redis_wire_cut();
    do {
        unit_await_wish(op, status, unit_now_ns() + UNIT_PATIENCE_NS);
        status = latch_op_step(op, unit_now_ns());
    } while (latch_wants(status) && redis_moment_of(op) == moment);
    UNIT_CHECK(latch_wants(status));
    return status;
}

/* The server has done it, and nobody knows: it is asked until an answer comes. */
static void lost_answers_are_asked_for_until_they_come(void **state)
{
    static const redis_moment moments[] = {AT_POLLING, AT_CLAIMING};

    (void) state;
    for (int at = 0; at < 2; at++) {
        latch_lease *holder = redis_lease("r"), *lease;
        latch_status status = LATCH_WANT_IO;
        latch_op op;

        lease = begin_wait_on_wire(&op, holder, "");
        if (moments[at] == AT_CLAIMING) {
            unit_release(holder);
        }
        for (int lost = 0; lost < 3; lost++) {
            status = redis_wire_step_until(&op, status, moments[at]);
            UNIT_CHECK(status == LATCH_WANT_IO);
            status = lose_answer(&op, status, lost == 1 ? 3 : 0);
        }
        if (moments[at] == AT_POLLING) {
            unit_release(holder);
        }
        UNIT_CHECK(redis_wire_finish(&op, status) == LATCH_DONE && unit_held(lease));
        assert_int_equal(unit_redis_number("ZCARD r"), 2);
        redis_store_forget();
    }
}

/* It was granted, for a short time in the place of a long one; its answers were lost, and more. */
static void a_promotion_that_ended_unheard_leaves_no_reader(void **state)
{
    latch_lease *reader = redis_lease("r"), *other = redis_other_lease("r"), *lease;
    latch_store *store = redis_wire_open("");
    latch_status status;
    latch_op op;

    (void) state;
    lease = redis_lease_in(store, "r");
    UNIT_CHECK(redis_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_wire_finish(&op, unit_begin(&op, lease, redis_request(LATCH_ACQUIRE_SHARED)))
               == LATCH_DONE);
    status = unit_begin(&op, lease, redis_waiting(LATCH_ACQUIRE, 20, LATCH_NEVER));
    status = redis_wire_step_until(&op, status, AT_WAITING);
    UNIT_CHECK(status == LATCH_WANT_IO && unit_held(lease));
    unit_release(reader);
    for (int lost = 0; lost < 2; lost++) {
        status = redis_wire_step_until(&op, status, AT_CLAIMING);
        UNIT_CHECK(status == LATCH_WANT_IO);
        status = lose_answer(&op, status, 0);
    }
    UNIT_CHECK(unit_run_request(other, redis_wait_to_write()) == LATCH_DONE);
    status = redis_wire_step_until(&op, status, AT_WAITING);
    UNIT_CHECK(status == LATCH_WANT_IO && unit_held(other) && !unit_held(lease));
}

/* ---- Servers that restart, are gone, or forget */

static void who_waits_is_served_by_a_server_that_was_restarted(void **state)
{
    for (int killed = 0; killed < 2; killed++) {
        latch_lease *holder = redis_lease("r");
        waiters all;

        (void) state;
        UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
        begin_waits(&all, "");
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
        unit_await_wish(&op, status, unit_now_ns() + UNIT_PATIENCE_NS);
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
        begin_waits(&all, "");
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
        redis_be_patient(store, cases[at].command_ms);
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
        redis_be_patient(store, 5000);
        *connect_ns = long_ns;
        /* It may not be asked at once. */
        UNIT_AWAIT(unit_run_request(lease, redis_wait_to_write()) == LATCH_DONE);
        unit_release(lease);
        redis_expect_nothing_left();
        redis_store_forget();
    }
}

/* How ever often that happens. */
static void a_place_is_kept_until_the_subscription_is_made_anew(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease;
    latch_op op;

    (void) state;
    lease = begin_wait_on_wire(&op, holder, "");
    for (int round = 0; round < 2; round++) {
        int64_t step_ns;

        redis_wire_use(REDIS_MESSAGES);
        redis_wire_cut();
        UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_SUBSCRIBING) == LATCH_WANT_IO);
        redis_wire_accept();
        redis_wire_cut(); /* once more, before anything is answered */
        unit_await_grant(&op);
        step_ns = unit_now_ns();
        UNIT_CHECK(latch_op_step(&op, step_ns) == LATCH_WANT_TIMER);
        UNIT_CHECK(op.wake_ns
                   > step_ns + 20 * LATCH_NS_PER_MS); /* a server that is gone is let be */
        UNIT_CHECK(redis_wire_step_until(&op, LATCH_WANT_TIMER, AT_WAITING) == LATCH_WANT_IO);
        UNIT_CHECK(redis_count_waiters("r") == 1 && op.poll_ns == 0);
        unit.ahead_ns += 10 * LATCH_NS_PER_S;
    }
    unit_release(holder);
    UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

/* What it began to make, and cannot be told of, is forgotten. */
static void who_gives_up_while_it_subscribes_anew_is_told_the_next_time(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease;
    const redis_subscription *subscription;
    latch_status status = LATCH_WANT_IO;
    latch_op op;

    (void) state;
    lease = begin_wait_on_wire(&op, holder, "");
    subscription = &((redis_store *) lease->store)->subscription;
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_cut();
    while (subscription->call == NULL) { /* SUBSCRIBE is to be sent */
        unit_await_wish(&op, status, unit_now_ns() + UNIT_PATIENCE_NS);
        status = latch_op_step(&op, unit_now_ns());
        UNIT_CHECK(latch_wants(status));
    }
    redis_wire_use(REDIS_COMMANDS);
    redis_wire_cut();
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    status = unit_begin(&op, lease, redis_wait_to_write());
    UNIT_CHECK(redis_wire_step_until(&op, status, AT_WAITING) == LATCH_WANT_IO && op.poll_ns == 0);
    unit_release(holder);
    UNIT_CHECK(redis_wire_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

/* However long it takes to find that out: what counts is how long it could not be told. */
static void who_cannot_be_subscribed_again_polls_in_time(void **state)
{
    latch_op op;

    (void) state;
    begin_wait_on_wire(&op, redis_lease("r"), "?timeout=5&read_timeout=5");
    redis_wire_use(REDIS_MESSAGES);
    redis_wire_cut();
    /* Now nobody answers. */
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_SUBSCRIBING) == LATCH_WANT_IO);
    unit.ahead_ns += 6 * LATCH_NS_PER_S;
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_TIMER);
    UNIT_CHECK(redis_moment_of(&op) == AT_PAUSING);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

static void who_hears_that_the_queue_was_lost_asks_once(void **state)
{
    latch_lease *holder = redis_lease("r"), *lease = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    unit_redis_ask("PUBLISH latch:requeue r");
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_ASKING) == LATCH_WANT_IO);
    UNIT_CHECK(redis_step_until(&op, LATCH_WANT_IO, AT_WAITING) == LATCH_WANT_IO);
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

/* A signal handler's, say, however often it comes. */
static void a_request_leaves_a_subscription_alone_that_another_makes(void **state)
{
    latch_store *store = redis_wire_open("");
    const redis_connection *connection = &((redis_store *) store)->subscription.connection;
    latch_lease *holder = redis_lease("r"), *lease = redis_lease_in(store, "r");
    latch_lease *other = redis_lease_in(store, "s");
    latch_status status, other_status;
    latch_op op, other_op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    status =
        redis_wire_step_until(&op, unit_begin(&op, lease, redis_wait_to_write()), AT_SUBSCRIBING);
    other_status = unit_begin(&other_op, other, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(connection->stage != REDIS_CLOSED);
    UNIT_CHECK(redis_wire_finish(&other_op, other_status) == LATCH_DONE);
    unit_release(holder);
    UNIT_CHECK(redis_wire_finish(&op, status) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(connection->established == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(a_request_leaves_a_subscription_alone_that_another_makes),
        REDIS_WAIT_TEST(a_place_is_kept_until_the_subscription_is_made_anew),
        REDIS_WAIT_TEST(who_gives_up_while_it_subscribes_anew_is_told_the_next_time),
        REDIS_WAIT_TEST(who_cannot_be_subscribed_again_polls_in_time),
        REDIS_WAIT_TEST(who_hears_that_the_queue_was_lost_asks_once),
        REDIS_WAIT_TEST(a_subscription_that_is_cut_is_made_anew_and_keeps_the_place),
        REDIS_WAIT_TEST(who_was_taken_for_dead_is_served_all_the_same),
        REDIS_WAIT_TEST(a_message_that_is_cut_is_none),
        REDIS_WAIT_TEST(a_message_that_never_comes_costs_no_more_than_the_safety_net),
        REDIS_WAIT_TEST(messages_about_other_waits_change_nothing),
        REDIS_WAIT_TEST(a_wait_does_not_need_its_connection_until_it_asks),
        REDIS_WAIT_TEST(lost_answers_are_asked_for_until_they_come),
        REDIS_WAIT_TEST(a_promotion_that_ended_unheard_leaves_no_reader),
        REDIS_WAIT_TEST(who_waits_is_served_by_a_server_that_was_restarted),
        REDIS_WAIT_TEST(a_wait_outlives_its_server_for_no_longer_than_one_may_connect),
        REDIS_WAIT_TEST(who_cannot_ask_waits_on_and_asks_again),
        REDIS_WAIT_TEST(a_server_that_loads_its_data_is_awaited),
        REDIS_WAIT_TEST(all_who_wait_are_served_when_the_server_has_lost_its_data),
        REDIS_WAIT_TEST(who_waits_is_told_though_the_server_has_forgotten_the_scripts),
        REDIS_WAIT_TEST(the_time_of_a_wait_is_kept_where_the_server_hangs),
    };

    return cmocka_run_group_tests_name("redis hand-off in trouble", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
