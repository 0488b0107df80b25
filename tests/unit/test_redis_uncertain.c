/*
 * The Redis store where nobody knows what a command has done, or whose a hold is: what is certain
 * counts, and no more.
 */
#include "redis_store.h"

#include "src/store/redis/lock/redis.h"

/* ---- How long a hold is certain */

static void a_hold_that_may_have_become_shorter_counts_as_shorter(void **state)
{
    static const struct {
        latch_mode held;
        latch_op_kind kind;
    } cases[] = {{LATCH_EXCLUSIVE, LATCH_REFRESH},
                 {LATCH_EXCLUSIVE, LATCH_ACQUIRE},
                 {LATCH_EXCLUSIVE, LATCH_ACQUIRE_SHARED},
                 {LATCH_SHARED, LATCH_REFRESH},
                 {LATCH_SHARED, LATCH_ACQUIRE}};

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        latch_lease *lease = redis_lease_on_wire(cases[at].held);
        int64_t end_ns;
        latch_op op;

        redis_send(&op, lease, redis_request_for(cases[at].kind, MINUTE / 2));
        end_ns = op.sent_ns + MINUTE / 2 * LATCH_NS_PER_MS;
        UNIT_CHECK(lease->deadline_ns == end_ns); /* already on its way */
        redis_wire_pass_command();
        redis_wire_pass_reply(0);
        UNIT_CHECK(unit_redis_number("PTTL r") <= MINUTE / 2 + 1); /* rounded up */
        redis_wire_cut();
        redis_wire_close(); /* nobody listens any more */
        UNIT_CHECK(redis_failed(unit_finish(&op, LATCH_WANT_IO), "cannot connect"));
        UNIT_CHECK(unit_held(lease) && lease->deadline_ns == end_ns);
        redis_store_forget();
    }
}

static void a_refused_promotion_leaves_the_time_of_the_reader(void **state)
{
    latch_lease *one = redis_lease("r"), *two = redis_other_lease("r");
    int64_t end_ns;

    (void) state;
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    end_ns = one->deadline_ns;
    UNIT_CHECK(redis_run_for(one, LATCH_ACQUIRE, MINUTE / 2) == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(one) && one->deadline_ns == end_ns);
}

/* A key may be serialised, and acquired elsewhere: a pending release must not end that hold. */
static void a_token_that_is_being_given_back_is_handed_over_to_nobody(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
    char token[LATCH_TOKEN_MAX + 1];
    latch_error error;
    latch_op op;

    (void) state;
    strcpy(token, lease->token);
    UNIT_CHECK(lease->fencing_token > 0);
    unit.ahead_ns += lease->deadline_ns - unit_now_ns(); /* it has expired, for all that is known */
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    redis_wire_pass_command();
    redis_wire_cut();
    redis_wire_close();
    UNIT_CHECK(redis_failed(unit_finish(&op, LATCH_WANT_IO), "cannot connect"));
    UNIT_CHECK(lease->mode == LATCH_FREE && lease->fencing_token == 0);
    UNIT_CHECK(latch_lease_make_token(lease, &error) == LATCH_DONE);
    UNIT_CHECK(strcmp(lease->token, token) != 0);
    UNIT_CHECK(latch_lease_shared_token(lease) == lease->token);
    redis_store_forget();
}

/* ---- Without memory */

/* A key that was handed over, which this process releases without having asked for it. */
static void a_release_without_memory_is_an_error(void **state)
{
    static const char token[] = "a token from elsewhere";
    latch_lease *lease = redis_lease("r");

    (void) state;
    for (size_t call = 1; call <= 3; call++) {
        latch_status status;

        UNIT_CHECK(latch_lease_set_token(lease, token, sizeof(token) - 1, &unit.error)
                   == LATCH_DONE);
        unit.fail_at = unit.allocations + call;
        status = unit_run_request(lease, redis_detached_release());
        UNIT_CHECK(status == LATCH_ERROR_MEMORY || status == LATCH_DONE);
        UNIT_CHECK(call > 1 || status == LATCH_ERROR_MEMORY);
        unit.fail_at = 0;
    }
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

/* ---- Releases that the server refuses, for a time */

static void a_release_that_nobody_awaits_is_repeated_when_it_is_refused(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_lease("s");

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("ACL SETUSER default -zrem");
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE); /* reads the refusal */
    UNIT_CHECK(!redis_is_free("r"));
    unit_redis_ask("ACL SETUSER default +zrem");
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_is_free("r"));
}

static void a_release_is_not_repeated_for_ever(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_lease("s");

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("ACL SETUSER default -zrem");
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    redis_forget_calls();
    for (int round = 0; round < 20; round++) {
        UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    }
    UNIT_CHECK(redis_count_calls("eval") < 10);
    unit_redis_ask("ACL SETUSER default +zrem");
}

/* However often it is asked meanwhile. */
static void a_release_is_owed_for_as_long_as_the_server_is_busy(void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_lease("s");
    redisContext *busy = unit_redis_connect();
    int is_sent;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("CONFIG SET lua-time-limit 1");
    redisAppendCommand(busy, "EVAL %s 0", "while true do end");
    UNIT_CHECK(redisBufferWrite(busy, &is_sent) == REDIS_OK && is_sent);
    UNIT_AWAIT(unit_redis_is_error(unit_redis_try("GET r"), "BUSY"));
    UNIT_CHECK(unit_run_request(lease, redis_detached_release()) == LATCH_DONE);
    for (int round = 0; round < 20; round++) {
        UNIT_CHECK(redis_failed(redis_run(other, LATCH_ACQUIRE), "BUSY"));
    }
    unit_redis_ask("SCRIPT KILL");
    UNIT_AWAIT(!unit_redis_is_error(unit_redis_try("GET r"), "BUSY"));
    redisFree(busy);
    unit_redis_ask("CONFIG SET lua-time-limit 5000");
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_is_free("r"));
}

static size_t descriptors;

/* Has the store a descriptor more than before it was connected? */
static bool is_connected(void)
{
    return unit_count_descriptors() > descriptors;
}

/* Acquires that are given up while the server is silent: what they may have taken is owed. */
static struct {
    latch_lease leases[100];
    char names[100][16];
    size_t unheard; /* releases, at most */
} given_up;

static void give_up_while_it_is_silent(void)
{
    const redis_store *store = (redis_store *) unit.store;

    given_up.unheard = 0;
    for (size_t at = 0; at < 100; at++) {
        latch_lease *lease = &given_up.leases[at];
        char *name = given_up.names[at];
        latch_op op;

        if (at == 1) {
            unit.ahead_ns += 100 * LATCH_NS_PER_MS; /* so long has there been no answer */
        }
        snprintf(name, sizeof(given_up.names[at]), "r%zu", at);
        latch_lease_init(lease, unit.store, name, strlen(name));
        redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
        assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
        if (store->store.unacknowledged > given_up.unheard) {
            given_up.unheard = store->store.unacknowledged;
        }
        latch_lease_drop(lease);
    }
}

/* As after a failover, when the name of the server has gone to the new master. */
static void a_server_that_is_silent_is_not_sent_releases_without_end(void **state)
{
    const redis_store *store = (redis_store *) unit.store;
    latch_lease *other = redis_lease("other");

    (void) state;
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    redis_hold_server();
    give_up_while_it_is_silent();
    assert_int_equal(given_up.unheard, 64);
    redis_let_server_go();
    assert_int_equal(redis_run(other, LATCH_PROBE), LATCH_DONE); /* the rest is sent before it */
    assert_int_equal(redis_run(other, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(store->store.unacknowledged, 0);
    redis_await_free("r99");
    redis_expect_nothing_left();
}

/*
 * Destructors of many locks: whose release finds many in flight waits a moment for answers. Else it
 * would stay unsent until the process's next request.
 */
static void a_release_behind_many_in_flight_waits_for_answers_but_not_for_a_silent_server(
    void **state)
{
    enum { IN_FLIGHT = 64 };
    const redis_store *store = (redis_store *) unit.store;
    static latch_lease leases[2 * IN_FLIGHT + 1];
    static char names[2 * IN_FLIGHT + 1][16];
    latch_op op;
    int at = 0;

    (void) state;
    for (int number = 0; number <= 2 * IN_FLIGHT; number++) {
        snprintf(names[number], sizeof(names[number]), "r%d", number);
        latch_lease_init(&leases[number], unit.store, names[number], strlen(names[number]));
        assert_int_equal(redis_run(&leases[number], LATCH_ACQUIRE), LATCH_DONE);
    }
    redis_hold_server();
    for (; at < IN_FLIGHT - 1; at++) {
        assert_int_equal(unit_run_request(&leases[at], redis_detached_release()), LATCH_DONE);
    }
    assert_true(latch_wants(unit_begin(&op, &leases[at++], redis_detached_release())));
    assert_true(op.wake_ns <= unit_now_ns() + 100 * LATCH_NS_PER_MS);
    redis_let_server_go();
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_true(store->store.unacknowledged < IN_FLIGHT);
    redis_await_free(names[at - 1]);

    assert_int_equal(redis_run(&leases[at++], LATCH_RELEASE), LATCH_DONE); /* all is answered */
    redis_hold_server();
    for (int sent = 0; sent < IN_FLIGHT; sent++, at++) {
        assert_int_equal(unit_begin(&op, &leases[at], redis_detached_release()), LATCH_DONE);
        unit.ahead_ns += sent == 0 ? 100 * LATCH_NS_PER_MS : 0;
    }
    assert_int_equal(store->store.unacknowledged, IN_FLIGHT);
    assert_int_equal(at, 2 * IN_FLIGHT + 1);
    redis_let_server_go();
    redis_expect_working(&leases[0]);
    redis_expect_nothing_left();
    for (int number = 0; number <= 2 * IN_FLIGHT; number++) {
        latch_lease_drop(&leases[number]);
    }
}

static void what_is_owed_is_sent_in_any_case_before_the_lock_is_asked_for_again(void **state)
{
    latch_lease *other = redis_lease("other"), *again = redis_lease("r99");
    latch_op op;

    (void) state;
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    redis_hold_server();
    give_up_while_it_is_silent();
    redis_send(&op, again, redis_request(LATCH_ACQUIRE));
    redis_let_server_go();
    assert_int_equal(unit_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_int_equal(redis_run(again, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(redis_run(other, LATCH_RELEASE), LATCH_DONE);
    redis_expect_nothing_left();
}

static void the_answer_to_a_release_that_was_left_counts_for_no_other(void **state)
{
    latch_lease *other = redis_lease("other"), *last = redis_lease("last");
    latch_op op;

    (void) state;
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    redis_hold_server();
    give_up_while_it_is_silent();
    redis_send(&op, other, redis_request(LATCH_RELEASE));
    assert_true(latch_op_detach(&op));
    latch_lease_drop(other);
    redis_let_server_go();
    for (int round = 0; round < 2; round++) { /* reads the answers, then sends what is due */
        assert_int_equal(redis_run(last, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(redis_run(last, LATCH_RELEASE), LATCH_DONE);
    }
    redis_expect_nothing_left();
}

static void a_server_that_leaves_a_release_unanswered_for_long_counts_as_silent(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_op op;

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    redis_hold_server();
    assert_int_equal(unit_run_request(lease, redis_detached_release()), LATCH_DONE);
    assert_int_equal(unit.store->breaker.open_until_ns, 0);
    unit.ahead_ns += REDIS_DEFAULT_COMMAND_TIMEOUT_NS;
    assert_true(latch_wants(unit_begin(&op, redis_lease("s"), redis_request(LATCH_ACQUIRE))));
    assert_true(unit.store->breaker.open_until_ns > unit_now_ns());
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    redis_let_server_go();
}

/* ---- Requests that were left, and whose connection is lost */

/* Another request on the wire. */
static void use_wire_again(latch_store *store)
{
    latch_lease *other = redis_lease_in(store, "other");
    latch_op op;

    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, other, redis_request(LATCH_ACQUIRE))),
                     LATCH_DONE);
    assert_int_equal(redis_wire_finish(&op, unit_begin(&op, other, redis_request(LATCH_RELEASE))),
                     LATCH_DONE);
}

static void a_renewal_that_was_left_is_no_release(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
    latch_store *store = lease->store;
    latch_op op;

    (void) state;
    redis_send(&op, lease, redis_request(LATCH_REFRESH));
    assert_true(latch_op_detach(&op));
    latch_detached_drop(lease);
    redis_wire_cut();
    use_wire_again(store);
    assert_false(redis_is_free("r"));
}

static void a_release_that_was_left_before_it_could_be_sent_is_sent(void **state)
{
    latch_store *store = redis_wire_open("?dbindex=1"); /* which has to be selected first */
    latch_lease *lease = redis_lease_in(store, "r");
    latch_status status;
    latch_op op;

    (void) state;
    status = unit_begin(&op, lease, redis_request(LATCH_ACQUIRE));
    assert_int_equal(redis_wire_finish(&op, status), LATCH_DONE);
    redis_wire_cut();
    status = unit_begin(&op, lease, redis_request(LATCH_RELEASE));
    while (((redis_store *) store)->topology.single.connection.stage != REDIS_HANDSHAKE) {
        assert_int_equal(status, LATCH_WANT_IO);
        unit_await_wish(&op, status, unit_now_ns() + UNIT_TIMEOUT_NS);
        status = latch_op_step(&op, unit_now_ns());
    }
    assert_true(latch_op_detach(&op));
    latch_detached_drop(lease);
    assert_false(unit_held(lease));
    assert_null(latch_lease_shared_token(lease)); /* the release is by it */
    use_wire_again(store);
    unit_redis_ask("SELECT 1");
    assert_true(redis_is_free("r"));
    unit_redis_ask("SELECT 0");
}

/* Its answer, that the script is unknown, is read by the request of another lease. */
static void a_release_that_was_left_is_sent_again_to_a_server_that_did_not_know_the_script(
    void **state)
{
    latch_lease *lease = redis_lease("r"), *other = redis_lease("other");
    latch_op op;

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_redis_ask("SCRIPT FLUSH");
    redis_send(&op, lease, redis_request(LATCH_RELEASE));
    assert_true(latch_op_detach(&op));
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(redis_is_free("r"));
    latch_detached_drop(lease);
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(redis_is_free("r"));
}

/* Another request has found that it is lost, and made the connection anew. */
static void a_release_that_was_left_is_sent_again_on_the_next_connection(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
    latch_store *store = lease->store;
    latch_op op;

    (void) state;
    redis_send(&op, lease, redis_request(LATCH_RELEASE));
    assert_true(latch_op_detach(&op));
    redis_wire_cut();
    use_wire_again(store);
    assert_false(redis_is_free("r"));
    latch_detached_drop(lease);
    use_wire_again(store);
    assert_true(redis_is_free("r"));
}

static void a_server_that_is_a_replica_now_is_asked_on_no_old_connection(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    descriptors = unit_count_descriptors();
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && is_connected());
    unit_release(lease);
    unit_redis_ask("REPLICAOF 127.0.0.1 1");
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "READONLY"));
        UNIT_CHECK(!unit_held(lease) && !is_connected());
    }
    unit_redis_ask("REPLICAOF NO ONE");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && is_connected());
}

/* ---- Whose a hold is after a fork, of those that are meant to be handed on */

static latch_lease *inherited;

static void cancel_in_child(unit_process *self, void *argument)
{
    latch_op op;

    (void) self;
    (void) argument;
    redis_send(&op, inherited, redis_wait_to_write());
    unit_cancel(&op);
    /* What it owes, if it did, is paid before this. */
    UNIT_CHECK(redis_run(redis_lease("other"), LATCH_ACQUIRE) == LATCH_DONE);
}

static void an_acquire_that_is_given_up_does_not_release_for_the_other_process(void **state)
{
    unit_process child;

    (void) state;
    inherited = redis_lease("r");
    inherited->inherit = true;
    UNIT_CHECK(redis_run(inherited, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(cancel_in_child, NULL);
    unit_join(&child);
    UNIT_CHECK(redis_run(inherited, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(inherited, LATCH_REFRESH) == LATCH_DONE && unit_held(inherited));
}

static void acquire_in_child(unit_process *self, void *argument)
{
    (void) argument;
    UNIT_CHECK(unit_run_request(inherited, redis_wait_to_write()) == LATCH_DONE);
    unit_say(self, 'y');
    unit_expect(self, 'g');
    UNIT_CHECK(unit_held(inherited) && redis_run(inherited, LATCH_RELEASE) == LATCH_DONE);
}

static void compete_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(redis_run(inherited, LATCH_ACQUIRE) == LATCH_CONFLICT && !unit_held(inherited));
}

static void an_expired_hold_is_handed_on_to_nobody(void **state)
{
    unit_process child, competitor;

    (void) state;
    inherited = redis_lease("r");
    inherited->inherit = true;
    UNIT_CHECK(redis_run_for(inherited, LATCH_ACQUIRE, 20) == LATCH_DONE);
    UNIT_AWAIT(!unit_held(inherited));
    child = unit_fork(acquire_in_child, NULL);
    unit_expect(&child, 'y');
    competitor = unit_fork(compete_in_child, NULL);
    unit_join(&competitor);
    UNIT_CHECK(redis_run(inherited, LATCH_ACQUIRE) == LATCH_CONFLICT && !unit_held(inherited));
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(redis_run(inherited, LATCH_ACQUIRE) == LATCH_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_release_without_memory_is_an_error),
        REDIS_TEST(a_release_that_nobody_awaits_is_repeated_when_it_is_refused),
        REDIS_TEST(a_release_is_not_repeated_for_ever),
        REDIS_TEST(a_release_is_owed_for_as_long_as_the_server_is_busy),
        REDIS_TEST(a_server_that_is_silent_is_not_sent_releases_without_end),
        REDIS_TEST(a_release_behind_many_in_flight_waits_for_answers_but_not_for_a_silent_server),
        REDIS_TEST(what_is_owed_is_sent_in_any_case_before_the_lock_is_asked_for_again),
        REDIS_TEST(the_answer_to_a_release_that_was_left_counts_for_no_other),
        REDIS_TEST(a_server_that_leaves_a_release_unanswered_for_long_counts_as_silent),
        REDIS_TEST(a_renewal_that_was_left_is_no_release),
        REDIS_TEST(a_release_that_was_left_before_it_could_be_sent_is_sent),
        REDIS_TEST(a_release_that_was_left_is_sent_again_to_a_server_that_did_not_know_the_script),
        REDIS_TEST(a_release_that_was_left_is_sent_again_on_the_next_connection),
        REDIS_TEST(a_server_that_is_a_replica_now_is_asked_on_no_old_connection),
        REDIS_TEST(a_hold_that_may_have_become_shorter_counts_as_shorter),
        REDIS_TEST(a_refused_promotion_leaves_the_time_of_the_reader),
        REDIS_TEST(a_token_that_is_being_given_back_is_handed_over_to_nobody),
        REDIS_TEST(an_acquire_that_is_given_up_does_not_release_for_the_other_process),
        REDIS_TEST(an_expired_hold_is_handed_on_to_nobody),
    };

    return cmocka_run_group_tests_name("redis and what is uncertain", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
