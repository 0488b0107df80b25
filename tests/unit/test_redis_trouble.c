/*
 * The Redis store when something goes wrong: lost connections and replies, servers that are gone,
 * hang, refuse or talk nonsense. After each: nobody holds by mistake, and the store works again.
 */
#include "redis_store.h"

#include <stdlib.h>

/* The store can be used, and nothing stands in the way of whoever wants the lock. */
static void expect_working(latch_lease *lease)
{
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
    unit_release(lease);
    UNIT_CHECK(redis_is_free(lease->resource));
}

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
    expect_working(one);
    unit_redis_kill();
    unit_redis_start(NULL);
    expect_working(one);
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
    expect_working(lease);
    UNIT_CHECK(redis_run(held, LATCH_PROBE) == LATCH_CONFLICT);
    expect_working(held);
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

static latch_status exchange(latch_lease *lease, latch_op_kind kind)
{
    latch_op op;

    redis_send(&op, lease, redis_request(kind));
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    return unit_finish(&op, LATCH_WANT_IO);
}

/* A lease on a wire that is connected, to a server that knows all scripts; `mode` is what it holds.
 */
static latch_lease *lease_on_wire(latch_mode mode)
{
    latch_lease *lease = redis_lease("other");
    latch_op op;

    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    unit_release(lease);
    lease = redis_lease_in(redis_wire_open("?read_timeout=10"), "r");
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    redis_wire_accept();
    redis_wire_pass_command();
    redis_wire_pass_reply(SIZE_MAX >> 1);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    if (mode != LATCH_EXCLUSIVE) {
        UNIT_CHECK(exchange(lease, mode == LATCH_FREE ? LATCH_RELEASE : LATCH_ACQUIRE_SHARED)
                   == LATCH_DONE);
    }
    UNIT_CHECK(lease->mode == mode);
    return lease;
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
            latch_lease *lease = lease_on_wire(cases[at].held);
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
    latch_lease *lease = lease_on_wire(LATCH_SHARED), *other = redis_lease("r");
    latch_op op;

    (void) state;
    send_and_lose_reply(&op, lease, redis_request_for(LATCH_ACQUIRE, 20), 0);
    UNIT_CHECK(unit_run_request(other, redis_wait_to_write())
               == LATCH_DONE);
    UNIT_CHECK(finish_on_new_connection(&op) == LATCH_CONFLICT);
    UNIT_CHECK(unit_held(other) && !unit_held(lease));
}

static void a_repeated_acquire_has_the_first_ones_fencing_token(void **state)
{
    latch_lease *lease = lease_on_wire(LATCH_FREE);
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
        latch_lease *lease = lease_on_wire(LATCH_FREE), *other;
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
        lose_release(lease_on_wire(modes[at % 2]),
                     at < 2 ? redis_detached_release() : redis_request(LATCH_RELEASE));
        UNIT_CHECK(redis_is_free("r"));
        redis_store_forget();
    }
}

/* The first of the two may arrive late, and would release what was taken since. */
static void a_token_whose_release_was_sent_twice_takes_no_lock(void **state)
{
    latch_lease *lease = lease_on_wire(LATCH_EXCLUSIVE);
    char token[LATCH_TOKEN_MAX + 1];
    latch_op op;

    (void) state;
    snprintf(token, sizeof(token), "%s", lease->token);
    UNIT_CHECK(exchange(lease, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(exchange(lease, LATCH_ACQUIRE) == LATCH_DONE);
    assert_string_equal(lease->token, token); /* Symfony's, too, is the key's for good */
    send_and_lose_reply(&op, lease, redis_request(LATCH_RELEASE), 0);
    UNIT_CHECK(finish_on_new_connection(&op) == LATCH_DONE);
    UNIT_CHECK(exchange(lease, LATCH_ACQUIRE) == LATCH_DONE);
    assert_string_not_equal(lease->token, token);
}

/* A hold is not given up because nobody knows whether it could be renewed. */
static void what_was_held_before_stays_held_when_a_renewal_fails(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_REFRESH};

    (void) state;
    for (int at = 0; at < 2; at++) {
        latch_lease *lease = lease_on_wire(LATCH_EXCLUSIVE);
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
    latch_lease *lease = lease_on_wire(LATCH_FREE);
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
    latch_lease *lease = lease_on_wire(LATCH_EXCLUSIVE);
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

/* ---- Answers that are none */

/* Answers with the same nonsense, also when the store asks once more on a new connection. */
static latch_status answer_nonsense(latch_op *op, const char *nonsense)
{
    latch_status status = LATCH_WANT_IO;

    redis_wire_answer(nonsense);
    while (LATCH_WANTS(status)) {
        if (redis_wire_is_wanted()) {
            redis_wire_accept();
            redis_wire_answer(nonsense);
        }
        unit_await_grant(op);
        status = latch_op_step(op, unit_now_ns());
    }
    return status;
}

static void nonsense_is_an_error_and_ends_the_connection(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 400 Bad Request\r\n\r\n", /* no protocol of Redis's */
        "*-7\r\n",
        "+OK\r\n", /* protocol, but no answer to that */
        "*0\r\n",
        "*2\r\n:1\r\n:7\r\n",
        "$3\r\nabc\r\n",
        ":-1\r\n",
        "*3\r\n:1\r\n:1\r\n:1\r\n", /* no script of ours has as many */
        "*17\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
    };
    static const latch_op_kind kinds[] = {LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED, LATCH_REFRESH,
                                          LATCH_PROBE, LATCH_RELEASE};
    /* What a writer can be certain of then: it may have been demoted, or released. */
    static const latch_mode modes[] = {LATCH_EXCLUSIVE, LATCH_SHARED, LATCH_EXCLUSIVE,
                                       LATCH_EXCLUSIVE, LATCH_FREE};

    (void) state;
    for (size_t at = 0; at < sizeof(answers) / sizeof(answers[0]); at++) {
        for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
            latch_lease *lease = lease_on_wire(LATCH_EXCLUSIVE);
            latch_status status;
            latch_op op;

            redis_send(&op, lease, redis_request(kinds[kind]));
            status = answer_nonsense(&op, answers[at]);
            if (status != LATCH_ERROR_STORE) {
                print_message("answer %zu to request %d: status %d\n", at, (int) kinds[kind],
                              (int) status);
            }
            UNIT_CHECK(status == LATCH_ERROR_STORE);
            UNIT_CHECK(lease->mode == modes[kind] && !lease->busy);
            UNIT_CHECK((lease->fencing_token != 0) == (lease->mode == LATCH_EXCLUSIVE));
            redis_store_forget();
        }
    }
}

static void answers_that_no_script_gives_are_nonsense(void **state)
{
    static const struct {
        latch_op_kind kind;
        const char *answer;
    } cases[] = {
        {LATCH_ACQUIRE, "$1\r\n0\r\n"},      {LATCH_ACQUIRE, "$19\r\n1234567890123456789\r\n"},
        {LATCH_ACQUIRE_SHARED, ":0\r\n"},    {LATCH_ACQUIRE_SHARED, ":2\r\n"},
        {LATCH_REFRESH, ":3\r\n"},           {LATCH_RELEASE, ":2\r\n"},
        {LATCH_PROBE, "*2\r\n:0\r\n:1\r\n"}, {LATCH_PROBE, "*2\r\n:1\r\n:0\r\n"},
        {LATCH_PROBE, "*2\r\n:1\r\n$-1\r\n"}};

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        latch_lease *lease = lease_on_wire(LATCH_EXCLUSIVE);
        latch_op op;

        redis_send(&op, lease, redis_request(cases[at].kind));
        UNIT_CHECK(redis_failed(answer_nonsense(&op, cases[at].answer), "makes no sense"));
        redis_store_forget();
    }
}

/* Does the store make a new connection for what is asked next? */
static bool connects_anew(latch_store *store)
{
    latch_op op;
    bool wanted;

    redis_send(&op, redis_lease_in(store, "another"), redis_request(LATCH_ACQUIRE));
    wanted = redis_wire_is_wanted();
    UNIT_CHECK(latch_op_step(&op, unit_now_ns() + MINUTE * LATCH_NS_PER_MS) == LATCH_ERROR_STORE);
    return wanted;
}

static void an_answer_before_the_question_ends_the_connection(void **state)
{
    latch_lease *lease = lease_on_wire(LATCH_EXCLUSIVE);

    (void) state;
    redis_wire_answer(":1\r\n");
    UNIT_CHECK(connects_anew(lease->store));
}

#define FORTY "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void what_a_server_says_is_told_without_the_token(void **state)
{
    static const struct {
        const char *answer, *told;
        bool parts; /* with the server */
    } cases[] = {
        {"-ERR unknown command 'EVALSHA', with args beginning with: '3' 'letmein' \r\n",
         "answered: ERR unknown command 'EVALSHA'", false},
        {"-ERR is letmein a token?\r\n", "answered: ERR", false},
        {"-BUSY Redis is busy...\r\n", "answered: BUSY Redis is busy", false},
        {"-ERR Error running script: @user_script:1: -READONLY You can't write\r\n", "READONLY",
         true}, /* as before Redis 7 */
        {"-ERR \033[31mred\001\r\n", "answered: ERR ?[31mred?", false},
        {"-ERR is " FORTY FORTY FORTY FORTY FORTY FORTY "256 bytes\r\n", "ERR is xxx", false},
        {"+letmein\r\n", "makes no sense", true},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        latch_lease *lease = redis_lease_in(redis_wire_open(""), "r");
        latch_op op;

        latch_lease_adopt_token(lease, "letmein", 7, &unit.error);
        redis_send(&op, lease, redis_request(LATCH_PROBE));
        redis_wire_accept();
        redis_wire_answer(cases[at].answer);
        UNIT_CHECK(redis_failed(unit_finish(&op, LATCH_WANT_IO), cases[at].told));
        assert_null(strstr(unit.error.message, "letmein"));
        assert_null(strstr(unit.error.message, "with args"));
        assert_int_equal(unit.error.message[strlen(unit.error.message) - 1] == '.', 0);
        UNIT_CHECK(connects_anew(lease->store) == cases[at].parts);
        redis_store_forget();
    }
}

/* Nothing was done that a release could undo. */
static void what_is_no_lock_is_not_released(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE); /* the server knows the script */
    unit_release(lease);
    unit_redis_ask("HSET r a 1");
    redis_count_calls("eval");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "WRONGTYPE"));
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "WRONGTYPE"));
    assert_int_equal(redis_count_calls("eval"), 0);
}

static void a_script_that_is_never_known_is_an_error(void **state)
{
    latch_store *store = redis_wire_open("");
    latch_lease *lease = redis_lease_in(store, "r");
    latch_status status = LATCH_WANT_IO;
    latch_op op;

    (void) state;
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    redis_wire_accept();
    for (int answers = 0; LATCH_WANTS(status); answers++) {
        UNIT_CHECK(answers < 2);
        redis_wire_answer("-NOSCRIPT No matching script. Please use EVAL.\r\n");
        unit_await_grant(&op);
        status = latch_op_step(&op, unit_now_ns());
    }
    UNIT_CHECK(redis_failed(status, "NOSCRIPT"));
}

static void half_an_answer_is_none(void **state)
{
    latch_store *store = redis_wire_open("?read_timeout=0.03");
    latch_lease *lease = redis_lease_in(store, "r");
    latch_op op;

    (void) state;
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    redis_wire_accept();
    redis_wire_answer("$16\r\n12345678");
    UNIT_CHECK(redis_failed(unit_finish(&op, LATCH_WANT_IO), "did not answer within 0.03 s"));
    UNIT_CHECK(lease->mode == LATCH_FREE);
}

/* ---- Servers that hang or refuse */

static void a_server_that_hangs_is_an_error_at_the_time_limit(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d?read_timeout=0.03", unit_redis.port);
    latch_lease *lease = redis_lease_in(store, "r"), *held = redis_lease_in(store, "s");
    char token[LATCH_TOKEN_MAX + 1];

    (void) state;
    expect_working(lease);
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    redis_hold_server();
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "did not answer within 0.03 s"));
    UNIT_CHECK(redis_failed(redis_run(held, LATCH_REFRESH), "did not answer within 0.03 s"));
    UNIT_CHECK(redis_failed(redis_run(held, LATCH_RELEASE), "did not answer within 0.03 s"));
    UNIT_CHECK(!unit_held(lease) && !unit_held(held)); /* it may have been released */
    UNIT_CHECK(held->fencing_token == 0);
    redis_let_server_go();
    expect_working(lease);
    UNIT_CHECK(redis_run(held, LATCH_RELEASE) == LATCH_DONE && redis_is_free("s"));
    /* The release that had no answer may come yet: another token for another hold. */
    snprintf(token, sizeof(token), "%s", held->token);
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(strcmp(held->token, token) != 0);
}

/* It may have gone for ever, and the network not have said so. */
static void a_connection_on_which_nothing_came_is_used_no_more(void **state)
{
    latch_lease *lease = lease_on_wire(LATCH_EXCLUSIVE);
    latch_op op;

    (void) state;
    redis_send(&op, lease, redis_request(LATCH_PROBE));
    UNIT_CHECK(redis_failed(latch_op_step(&op, unit_now_ns() + 10 * LATCH_NS_PER_S), "did not answer"));
    UNIT_CHECK(!redis_wire_is_wanted());
    redis_send(&op, lease, redis_request(LATCH_PROBE));
    UNIT_CHECK(redis_wire_is_wanted());
    UNIT_CHECK(latch_op_step(&op, unit_now_ns() + 10 * LATCH_NS_PER_S) == LATCH_ERROR_STORE);
}

/* Who was about to connect gave up, and came back later: it is tried anew. */
static void a_connection_that_was_given_up_does_not_time_out_later(void **state)
{
    latch_store *store;
    latch_lease *lease;
    latch_op op;

    (void) state;
    redis_wire_open("");
    store = redis_open("redis://:secret@%s/wire?timeout=10", unit_redis.directory);
    lease = redis_lease_in(store, "r");
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    unit.ahead_ns += MINUTE * LATCH_NS_PER_MS;
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

static void a_paused_server_is_awaited(void **state)
{
    latch_lease *lease = redis_lease("r");
    latch_op op;

    (void) state;
    expect_working(lease);
    unit_redis_ask("CLIENT PAUSE 100000 WRITE");
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    unit_redis_ask("CLIENT UNPAUSE");
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

static void what_a_paused_server_did_too_late_is_undone(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d?read_timeout=0.03", unit_redis.port);
    latch_lease *lease = redis_lease_in(store, "r"), *two = redis_lease_in(store, "s");

    (void) state;
    expect_working(lease);
    redis_hold_server();
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "did not answer"));
    redis_let_server_go();
    UNIT_CHECK(redis_run(two, LATCH_ACQUIRE) == LATCH_DONE); /* anything on a new connection */
    UNIT_CHECK(redis_is_free("r"));
}

static void what_the_server_refuses_is_told(void **state)
{
    latch_lease *lease = redis_lease("r"), *held = redis_lease("s");

    (void) state;
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("CONFIG SET maxmemory 1");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "OOM"));
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE_SHARED), "OOM"));
    UNIT_CHECK(redis_run(held, LATCH_RELEASE) == LATCH_DONE); /* takes no memory */
    unit_redis_ask("CONFIG SET maxmemory 0");
    UNIT_CHECK(redis_is_free("r") && redis_is_free("s"));
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("REPLICAOF 127.0.0.1 1");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "READONLY"));
    UNIT_CHECK(redis_failed(redis_run(held, LATCH_REFRESH), "READONLY"));
    UNIT_CHECK(unit_held(held) && !unit_held(lease));
    UNIT_CHECK(redis_failed(redis_run(held, LATCH_RELEASE), "READONLY"));
    UNIT_CHECK(!unit_held(held) && !redis_is_free("s"));
    unit_redis_ask("REPLICAOF NO ONE");
    unit_release(held);
    expect_working(lease);
    unit_redis_ask("HSET r a 1");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "WRONGTYPE"));
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE_SHARED), "WRONGTYPE"));
    assert_string_equal(unit_redis_text("HGET r a"), "1");
    unit_redis_ask("DEL r");
    expect_working(lease);
}

/* Tokens give locks back, to whoever reads them in a log. */
static void a_refusal_does_not_show_the_token(void **state)
{
    latch_store *store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);
    latch_lease *lease = redis_lease_in(store, "r");
    static const char *const rules[] = {"+@all -evalsha", "+@all -eval", "+@all -zadd",
                                        "+@all resetkeys ~x*", "-@all +auth"};

    (void) state;
    for (size_t at = 0; at < sizeof(rules) / sizeof(rules[0]); at++) {
        char rule[128];

        snprintf(rule, sizeof(rule), "ACL SETUSER tester reset on >secret ~* %s", rules[at]);
        unit_redis_ask(rule);
        unit_redis_ask("CLIENT KILL TYPE normal");
        unit_redis_ask("SCRIPT FLUSH");
        latch_lease_adopt_token(lease, "letmein", 7, &unit.error);
        UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), " answered: "));
        assert_null(strstr(unit.error.message, "letmein"));
        assert_null(strstr(unit.error.message, "secret"));
    }
    unit_redis_ask("ACL SETUSER tester +@all ~*");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
}

static void a_server_with_too_many_clients_says_so(void **state)
{
    latch_lease *lease = redis_lease("r");

    (void) state;
    unit_redis_ask("CONFIG SET maxclients 1");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_ERROR_STORE);
    UNIT_CHECK(lease->mode == LATCH_FREE);
    unit_redis_ask("CONFIG SET maxclients 1000");
    expect_working(lease);
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
        REDIS_TEST(nonsense_is_an_error_and_ends_the_connection),
        REDIS_TEST(answers_that_no_script_gives_are_nonsense),
        REDIS_TEST(an_answer_before_the_question_ends_the_connection),
        REDIS_TEST(what_a_server_says_is_told_without_the_token),
        REDIS_TEST(what_is_no_lock_is_not_released),
        REDIS_TEST(a_script_that_is_never_known_is_an_error),
        REDIS_TEST(half_an_answer_is_none),
        REDIS_TEST(a_server_that_hangs_is_an_error_at_the_time_limit),
        REDIS_TEST(a_connection_on_which_nothing_came_is_used_no_more),
        REDIS_TEST(a_connection_that_was_given_up_does_not_time_out_later),
        REDIS_TEST(a_paused_server_is_awaited),
        REDIS_TEST(what_a_paused_server_did_too_late_is_undone),
        REDIS_TEST(what_the_server_refuses_is_told),
        REDIS_TEST(a_refusal_does_not_show_the_token),
        REDIS_TEST(a_server_with_too_many_clients_says_so),
    };

    return cmocka_run_group_tests_name("redis trouble", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
