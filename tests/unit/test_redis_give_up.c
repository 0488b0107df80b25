/*
 * Waits for locks in Redis that are given up, at every moment: at their deadline or by a cancel, in
 * a forked child, by a key that was handed over, without memory. Nobody waits or holds afterwards
 * who should not, and the next in the queue has the lock.
 */
#include "redis_store.h"

static latch_request wait_for(latch_op_kind kind)
{
    return redis_waiting(kind, MINUTE, 10 * MINUTE);
}

typedef enum { AT_DEADLINE, BY_CANCEL, WAYS } way;

static latch_status give_up(latch_op *op, way how)
{
    return how == BY_CANCEL ? latch_op_cancel(op, unit_now_ns()) : redis_time_out(op);
}

/* Somebody is known to hold the lock as soon as the server has said so. */
static bool is_given_up(latch_status status, way how, bool is_told)
{
    return how == BY_CANCEL || is_told
               ? status == LATCH_CONFLICT
               : status == LATCH_ERROR_STORE
                     && (strstr(unit.error.message, " did not answer within ") != NULL
                         || strstr(unit.error.message, "cannot connect to Redis at ") != NULL);
}

/* A request on the store's connection: what the store owes is sent before, and what came is read.
 */
static void use(latch_store *store)
{
    latch_lease *lease = redis_lease_in(store, "s");

    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
}

/* A holder, one who waits for the lock, and one who waits behind it. */
typedef struct cast {
    latch_lease *holder, *leaver, *next;
    latch_op leaver_op, next_op;
} cast;

/* With a store for who leaves: it has waited before, or is new. */
static cast open_scene(bool subscribed)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d?read_timeout=10", unit_redis.port);
    cast scene = {
        .holder = redis_lease("r"),
        .leaver = redis_lease_in(store, "r"),
        .next = redis_other_lease("r"),
    };

    UNIT_CHECK(redis_run(scene.holder, LATCH_ACQUIRE) == LATCH_DONE);
    if (subscribed) {
        redis_begin_wait(&scene.leaver_op, scene.leaver, wait_for(LATCH_ACQUIRE));
        unit_release(scene.holder);
        UNIT_CHECK(unit_finish(&scene.leaver_op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(scene.leaver);
        UNIT_CHECK(redis_run(scene.holder, LATCH_ACQUIRE) == LATCH_DONE);
    }
    return scene;
}

/* The leaver has gone; the other one gets the lock, and then nothing is left. */
static void close_scene(cast *scene)
{
    UNIT_CHECK(!unit_held(scene->leaver) && !scene->leaver->busy);
    UNIT_CHECK(scene->leaver->mode == LATCH_FREE);
    if (scene->holder->mode != LATCH_FREE) {
        UNIT_CHECK(redis_run(scene->holder, LATCH_PROBE) == LATCH_DONE);
        redis_begin_wait(&scene->next_op, scene->next, wait_for(LATCH_ACQUIRE));
        redis_await_waiters("r", 1);
        unit_release(scene->holder);
        UNIT_CHECK(unit_finish(&scene->next_op, LATCH_WANT_IO) == LATCH_DONE);
    } else {
        UNIT_CHECK(unit_run_request(scene->next, wait_for(LATCH_ACQUIRE)) == LATCH_DONE);
    }
    unit_release(scene->next);
    UNIT_CHECK(unit_run_request(scene->leaver, wait_for(LATCH_ACQUIRE)) == LATCH_DONE);
    unit_release(scene->leaver);
    redis_expect_nothing_left();
    redis_store_forget();
}

/* ---- At every moment */

/* What is on its way then is not answered before it is given up, or has been answered unread. */
static void a_wait_that_is_given_up_leaves_the_queue_at_any_moment(void **state)
{
    static const struct {
        redis_moment moment;
        bool subscribed;
    } cases[] = {
        {AT_CONNECTING, false}, {AT_TRYING, false}, {AT_SUBSCRIBING, false},
        {AT_ASKING, false},     {AT_ASKING, true},  {AT_WAITING, true},
    };
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED};

    (void) state;
    for (size_t at = 0; at < 2 * WAYS * 2 * sizeof(cases) / sizeof(cases[0]); at++) {
        bool answered = at % 2 == 1, subscribed = cases[at / 4 / WAYS].subscribed, is_told;
        latch_op_kind kind = kinds[at / 2 % 2];
        way how = (way) (at / 4 % WAYS);
        redis_moment moment = cases[at / 4 / WAYS].moment;
        cast scene = open_scene(subscribed);
        latch_op *op = &scene.leaver_op;
        latch_status status = unit_begin(op, scene.leaver, wait_for(kind));

        status = redis_step_until(op, status, moment);
        UNIT_CHECK(status == LATCH_WANT_IO && redis_moment_of(op) == moment);
        if (answered && moment != AT_WAITING) {
            unit_await_grant(op);
        }
        status = give_up(op, how);
        if (latch_wants(status)) {
            print_message("case %zu: not given up at once\n", at);
        }
        /* Else the server may have been quick all the same; and where something is there to be read
         * it may be the answer to what was sent before the script. */
        is_told = moment == AT_SUBSCRIBING || moment == AT_WAITING
                  || (moment == AT_ASKING && !subscribed);
        UNIT_CHECK((!is_told && status == LATCH_CONFLICT) || is_given_up(status, how, is_told));
        close_scene(&scene);
    }
}

/* Nobody waits for a server that does not answer. */
static void a_hung_server_holds_up_nobody_who_gives_up(void **state)
{
    static const redis_moment moments[] = {AT_TRYING, AT_ASKING, AT_WAITING, AT_CLAIMING,
                                           AT_POLLING};

    (void) state;
    for (size_t at = 0; at < WAYS * sizeof(moments) / sizeof(moments[0]); at++) {
        redis_moment moment = moments[at / WAYS];
        cast scene = open_scene(moment != AT_TRYING);
        latch_op *op = &scene.leaver_op;
        latch_status status = LATCH_WANT_IO;

        if (moment == AT_TRYING || moment == AT_ASKING) {
            use(scene.leaver->store); /* it is connected */
            redis_hold_server();
            status = unit_begin(op, scene.leaver, wait_for(LATCH_ACQUIRE));
        } else {
            redis_begin_wait(op, scene.leaver, wait_for(LATCH_ACQUIRE));
            if (moment == AT_CLAIMING) {
                unit_release(scene.holder);
                unit_await_grant(op);
            }
            redis_hold_server();
        }
        if (moment == AT_POLLING) {
            status = latch_op_step(op, op->wake_ns);
        }
        status = redis_step_until(op, status, moment);
        UNIT_CHECK(status == LATCH_WANT_IO && redis_moment_of(op) == moment);
        status = give_up(op, (way) (at % WAYS));
        UNIT_CHECK(
            is_given_up(status, (way) (at % WAYS), moment != AT_TRYING && moment != AT_ASKING));
        UNIT_CHECK(!unit_held(scene.leaver));
        redis_let_server_go();
        close_scene(&scene);
    }
}

/* The message has come, and was not read; or the claim is on its way, or was answered. */
static void a_lock_that_was_handed_over_to_who_gives_up_is_handed_on(void **state)
{
    (void) state;
    for (int at = 0; at < 3 * WAYS; at++) {
        cast scene = open_scene(true);
        latch_op *op = &scene.leaver_op;
        latch_status status = LATCH_WANT_IO;
        way how = (way) (at % WAYS);

        redis_begin_wait(op, scene.leaver, wait_for(LATCH_ACQUIRE));
        redis_begin_wait(&scene.next_op, scene.next, wait_for(LATCH_ACQUIRE));
        unit_release(scene.holder);
        if (at / WAYS == 0) {
            redis_await_waiters("r", 1);
        } else {
            status = redis_step_until(op, status, AT_CLAIMING);
            UNIT_CHECK(status == LATCH_WANT_IO);
        }
        if (at / WAYS == 2) {
            unit_await_grant(op);
        }
        status = unit_finish(op, give_up(op, how));
        if (status == LATCH_DONE) { /* the answer came at the last moment: that counts */
            UNIT_CHECK(at / WAYS != 0 && how == AT_DEADLINE && unit_held(scene.leaver));
            unit_release(scene.leaver);
        } else {
            UNIT_CHECK(status == LATCH_CONFLICT && !unit_held(scene.leaver));
        }
        UNIT_CHECK(unit_finish(&scene.next_op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(scene.next);
        close_scene(&scene);
    }
}

/* Who stands behind it learns that it is first, and does not wait for its place's time. */
static void who_stands_behind_one_who_leaves_is_told(void **state)
{
    for (int how = 0; how < WAYS; how++) {
        cast scene = open_scene(true);
        int64_t begun_ns;

        (void) state;
        redis_begin_wait(&scene.leaver_op, scene.leaver, wait_for(LATCH_ACQUIRE));
        redis_begin_wait(&scene.next_op, scene.next, wait_for(LATCH_ACQUIRE));
        begun_ns = unit_now_ns();
        UNIT_CHECK(scene.next_op.wake_ns > begun_ns + 1500 * LATCH_NS_PER_MS);
        UNIT_CHECK(give_up(&scene.leaver_op, (way) how) == LATCH_CONFLICT);
        redis_await_waiters("r", 1);
        UNIT_CHECK(redis_step_until(&scene.next_op, latch_op_step(&scene.next_op, unit_now_ns()),
                                    AT_WAITING)
                   == LATCH_WANT_IO);
        unit_release(scene.holder);
        UNIT_CHECK(unit_finish(&scene.next_op, LATCH_WANT_IO) == LATCH_DONE);
        unit_release(scene.next);
        close_scene(&scene);
    }
}

/* Its connection for commands has ended meanwhile: who cannot say so must not be heard either. */
static void who_gives_up_when_its_connection_has_ended_is_handed_nothing(void **state)
{
    for (int how = 0; how < WAYS; how++) {
        cast scene = open_scene(true);

        (void) state;
        redis_begin_wait(&scene.leaver_op, scene.leaver, wait_for(LATCH_ACQUIRE));
        unit_redis_ask("CLIENT KILL TYPE normal");
        UNIT_CHECK(give_up(&scene.leaver_op, (way) how) == LATCH_CONFLICT);
        UNIT_AWAIT(unit_redis_ask("PUBSUB CHANNELS latch:wake:*")->elements == 0);
        unit_release(scene.holder);
        UNIT_CHECK(redis_is_free("r") && redis_count_waiters("r") == 0);
        close_scene(&scene);
    }
}

/* An error that came as the answer, and was read by another request: it is not asked once more. */
static void a_cancelled_wait_that_was_refused_ends_at_once(void **state)
{
    cast scene = open_scene(true);
    latch_op *op = &scene.leaver_op;
    latch_status status;

    (void) state;
    redis_begin_wait(op, scene.leaver, wait_for(LATCH_ACQUIRE));
    unit_redis_ask("ACL SETUSER default -pexpire");
    status = redis_step_until(op, latch_op_step(op, op->wake_ns), AT_POLLING);
    UNIT_CHECK(status == LATCH_WANT_IO);
    use(scene.leaver->store); /* reads both answers */
    status = latch_op_cancel(op, unit_now_ns());
    for (int steps = 0; latch_wants(status) && steps < 3; steps++) {
        unit_await_wish(op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_cancel(op, unit_now_ns());
    }
    UNIT_CHECK(status == LATCH_CONFLICT || redis_failed(status, " answered: "));
    unit_redis_ask("ACL SETUSER default +pexpire");
    close_scene(&scene);
}

/* A subscription that was given up half-way does not spoil a later wait. */
static void who_gave_up_while_it_subscribed_is_told_the_next_time(void **state)
{
    latch_store *store = redis_open("redis://:secret@127.0.0.1:%d/1?timeout=10", unit_redis.port);
    latch_lease *holder = redis_lease_in(store, "r"), *lease = redis_lease_in(store, "r");
    latch_op op;

    (void) state;
    unit_redis_ask("CONFIG SET requirepass secret");
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(
        redis_step_until(&op, unit_begin(&op, lease, wait_for(LATCH_ACQUIRE)), AT_SUBSCRIBING)
        == LATCH_WANT_IO);
    UNIT_CHECK(op.waiting);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    unit.ahead_ns += 11 * LATCH_NS_PER_S;
    redis_begin_wait(&op, lease, wait_for(LATCH_ACQUIRE));
    UNIT_CHECK(op.poll_ns == 0); /* it did not poll before */
    unit_release(holder);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
}

/* ---- Tokens that were handed over, and inherited holds */

/* A lease in the other store that goes on with the token of another. */
static latch_lease *hand_over(const latch_lease *lease)
{
    latch_lease *other = redis_other_lease("r");

    UNIT_CHECK(latch_lease_set_token(other, lease->token, strlen(lease->token), &unit.error)
               == LATCH_DONE);
    return other;
}

/* Somebody else may hold by it: here two readers, one of them by the same key. */
static void a_key_that_was_handed_over_leaves_the_queue_and_releases_nothing(void **state)
{
    for (int how = 0; how < WAYS; how++) {
        latch_lease *one = redis_lease("r"), *two = redis_lease("r"), *imported;
        latch_op op;

        (void) state;
        UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
        imported = hand_over(one);
        redis_begin_wait(&op, imported, wait_for(LATCH_ACQUIRE)); /* promotes it */
        UNIT_CHECK(give_up(&op, (way) how) == LATCH_CONFLICT && !unit_held(imported));
        redis_await_waiters("r", 0);
        UNIT_CHECK(redis_run(one, LATCH_PROBE) == LATCH_DONE);
        assert_int_equal(unit_redis_number("ZCARD r"), 2);
        unit_release(one);
        unit_release(two);
        redis_expect_nothing_left();
    }
}

/* Its own hold is over, and another has the lock: the one who imported it waits like anybody. */
static void a_key_that_was_handed_over_waits_and_holds(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_lease("r"), *imported;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    imported = hand_over(one);
    unit_release(one);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, imported, wait_for(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    redis_await_waiters("r", 0);
    UNIT_CHECK(redis_run(two, LATCH_PROBE) == LATCH_DONE);
    redis_begin_wait(&op, imported, wait_for(LATCH_ACQUIRE));
    unit_release(two);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(imported));
    unit_release(imported);
    redis_expect_nothing_left();
}

static latch_lease *lease, *holder;
static latch_op in_flight;

/* One who inherited a reader's hold asks to write, and gives that up. */
static void promote_in_child(unit_process *self, void *argument)
{
    latch_op op;

    (void) self;
    (void) argument;
    redis_begin_wait(&op, lease, wait_for(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    redis_await_waiters("r", 0);
}

static void an_inherited_hold_outlives_a_childs_wait(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(redis_other_lease("r"), LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    child = unit_fork(promote_in_child, NULL);
    unit_join(&child);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE && unit_held(lease));
}

/* ---- Forks while somebody waits */

/* The child goes on with the operation as another waiter, which comes after its parent. */
static void wait_in_child(unit_process *self, void *argument)
{
    latch_status status;

    (void) argument;
    unit.random_state += 1; /* what processes really draw differs */
    UNIT_CHECK(unit_redis_ask("PING") != NULL);
    status = redis_step_until(&in_flight, latch_op_step(&in_flight, unit_now_ns()), AT_WAITING);
    UNIT_CHECK(status == LATCH_WANT_IO);
    unit_say(self, 'w');
    UNIT_CHECK(unit_finish(&in_flight, status) == LATCH_DONE && unit_held(lease));
    unit_say(self, 'h');
    unit_expect(self, 'r');
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

static void cancel_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(unit_cancel(&in_flight) == LATCH_CONFLICT && !unit_held(lease));
    latch_lease_drop(lease);
    latch_store_close(lease->store);
}

static void exit_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
}

static void begin_wait_to_fork(void)
{
    holder = redis_other_lease("r");
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&in_flight, lease, wait_for(LATCH_ACQUIRE));
}

static void a_child_that_waits_on_is_a_waiter_of_its_own(void **state)
{
    unit_process child;

    (void) state;
    begin_wait_to_fork();
    child = unit_fork(wait_in_child, NULL);
    unit_expect(&child, 'w');
    assert_int_equal(redis_count_waiters("r"), 2);
    assert_int_equal(unit_redis_ask("PUBSUB CHANNELS latch:wake:*")->elements, 2);
    unit_release(holder);
    UNIT_CHECK(unit_finish(&in_flight, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    unit_release(lease);
    unit_expect(&child, 'h');
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_say(&child, 'r');
    unit_join(&child);
    redis_expect_nothing_left();
}

static void a_child_that_gives_up_or_ends_leaves_its_parents_place(void **state)
{
    static void (*const bodies[])(unit_process *, void *) = {cancel_in_child, exit_in_child};

    (void) state;
    for (int at = 0; at < 2; at++) {
        unit_process child;

        begin_wait_to_fork();
        child = unit_fork(bodies[at], NULL);
        unit_join(&child);
        assert_int_equal(redis_count_waiters("r"), 1);
        unit_release(holder);
        UNIT_CHECK(
            redis_step_until(&in_flight, latch_op_step(&in_flight, unit_now_ns()), AT_CLAIMING)
            == LATCH_WANT_IO);
        UNIT_CHECK(unit_finish(&in_flight, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
        unit_release(lease);
        redis_expect_nothing_left();
    }
}

/* ---- Without memory */

/* Each allocation of a wait and its end fails once, and once all from there on. */
static void a_wait_without_memory_leaves_no_lock_and_no_waiter(void **state)
{
    static char name[2000]; /* its keys are allocated */
    size_t failures = 0;

    (void) state;
    memset(name, 'r', sizeof(name) - 1);
    for (int fail_on = 0; fail_on < 2; fail_on++) {
        bool failed = true;

        for (size_t call = 1; failed; call++) {
            latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
            latch_lease *one = redis_lease(name), *two = redis_lease_in(store, name);
            latch_lease *three = redis_other_lease(name);
            latch_status status;
            latch_op op;

            UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
            unit.fail_on = fail_on;
            unit.fail_at = unit.allocations + call;
            status =
                redis_step_until(&op, unit_begin(&op, two, wait_for(LATCH_ACQUIRE)), AT_WAITING);
            if (latch_wants(status) && call % 2 == 0) {
                status = unit_cancel(&op);
                UNIT_CHECK(status == LATCH_CONFLICT || status == LATCH_ERROR_MEMORY);
            } else if (latch_wants(status)) {
                size_t fail_at = unit.fail_at;

                unit.fail_at = 0;
                unit_release(one);
                unit.fail_at = fail_at;
                status = unit_finish(&op, status);
                UNIT_CHECK(status == LATCH_DONE || status == LATCH_ERROR_MEMORY);
            } else {
                UNIT_CHECK(status == LATCH_ERROR_MEMORY);
            }
            failed = unit.allocations >= unit.fail_at;
            failures += failed;
            unit.fail_at = 0;
            UNIT_CHECK(!two->busy && unit_held(two) == (status == LATCH_DONE));
            use(store);
            if (one->mode != LATCH_FREE) { /* else it may have been handed over */
                UNIT_CHECK(redis_run(one, LATCH_RELEASE) == LATCH_DONE);
                UNIT_CHECK(redis_is_free(name));
            }
            UNIT_CHECK(redis_run(two, LATCH_RELEASE) == LATCH_DONE);
            UNIT_CHECK(unit_run_request(three, wait_for(LATCH_ACQUIRE)) == LATCH_DONE);
            unit_release(three);
            redis_expect_nothing_left();
            redis_store_forget();
        }
    }
    UNIT_CHECK(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(a_wait_that_is_given_up_leaves_the_queue_at_any_moment),
        REDIS_WAIT_TEST(a_hung_server_holds_up_nobody_who_gives_up),
        REDIS_WAIT_TEST(a_lock_that_was_handed_over_to_who_gives_up_is_handed_on),
        REDIS_WAIT_TEST(who_stands_behind_one_who_leaves_is_told),
        REDIS_WAIT_TEST(who_gives_up_when_its_connection_has_ended_is_handed_nothing),
        REDIS_WAIT_TEST(a_cancelled_wait_that_was_refused_ends_at_once),
        REDIS_WAIT_TEST(who_gave_up_while_it_subscribed_is_told_the_next_time),
        REDIS_WAIT_TEST(a_key_that_was_handed_over_leaves_the_queue_and_releases_nothing),
        REDIS_WAIT_TEST(a_key_that_was_handed_over_waits_and_holds),
        REDIS_WAIT_TEST(an_inherited_hold_outlives_a_childs_wait),
        REDIS_WAIT_TEST(a_child_that_waits_on_is_a_waiter_of_its_own),
        REDIS_WAIT_TEST(a_child_that_gives_up_or_ends_leaves_its_parents_place),
        REDIS_WAIT_TEST(a_wait_without_memory_leaves_no_lock_and_no_waiter),
    };

    return cmocka_run_group_tests_name("redis waits that are given up", tests,
                                       unit_redis_group_setup, unit_redis_group_teardown);
}
