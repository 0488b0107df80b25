/*
 * The Redis store when the server says something else, or nothing: it talks nonsense, hangs or
 * refuses. After each: nobody holds by mistake, and the store works again.
 */
#include "redis_store.h"

/* ---- Answers that are none */

/* Answers with the same nonsense, also when the store asks once more on a new connection. */
static latch_status answer_nonsense(latch_op *op, const char *nonsense)
{
    latch_status status = LATCH_WANT_IO;

    redis_wire_answer(nonsense);
    while (latch_wants(status)) {
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
            latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
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
        latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
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
    latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);

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
        {"-ERR Error running script (call to f_0): @user_script:3: @user_script: 3: -OOM "
         "command\r\n",
         "answered: OOM command", false},
        {"-ERR Error running script (call to f_0): @user_script:3: WRONGTYPE Operation\r\n",
         "answered: WRONGTYPE Operation", false},
        {"-@user_script: 3: -OOM command\r\n", "answered: OOM command", false},
        {"-ERR \033[31mred\001\r\n", "answered: ERR ?[31mred?", false},
        {"-ERR is " FORTY FORTY FORTY FORTY FORTY FORTY "256 bytes\r\n", "ERR is xxx", false},
        {"+letmein\r\n", "makes no sense", true},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        latch_lease *lease = redis_lease_in(redis_wire_open(""), "r");
        latch_op op;

        latch_lease_set_token(lease, "letmein", 7, &unit.error);
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

/* What it says tells what is wrong; but it may say what it was asked. */
static void why_a_login_is_refused_is_told_without_the_password(void **state)
{
    static const struct {
        const char *answer, *told;
    } cases[] = {
        {"-ERR Client sent AUTH, but no password is set\r\n",
         "the server refused the user or the password (ERR Client sent AUTH, but no password is "
         "set)"},
        {"-ERR unknown command `AUTH`, with args beginning with: `letmein`, \r\n",
         "the server refused the user or the password (ERR unknown command `AUTH`)"},
        {"-WRONGPASS letmein is wrong.\r\n",
         "the server refused the user or the password (WRONGPASS)"},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        latch_lease *lease = redis_lease_in(redis_wire_open("?auth=letmein"), "r");
        latch_op op;
        latch_status status = unit_begin(&op, lease, redis_request(LATCH_ACQUIRE));

        redis_wire_accept();
        redis_wire_answer(cases[at].answer);
        UNIT_CHECK(redis_failed(unit_finish(&op, status), cases[at].told));
        assert_null(strstr(unit.error.message, "letmein"));
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
    redis_forget_calls();
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
    for (int answers = 0; latch_wants(status); answers++) {
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
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    latch_lease *lease = redis_lease_in(store, "r"), *held = redis_lease_in(store, "s");
    char token[LATCH_TOKEN_MAX + 1];

    (void) state;
    redis_expect_working(lease);
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    redis_hold_server();
    redis_set_command_timeout(store, 30);
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "did not answer within 0.03 s"));
    UNIT_CHECK(redis_failed(redis_run(held, LATCH_REFRESH), "did not answer within 0.03 s"));
    UNIT_CHECK(redis_failed(redis_run(held, LATCH_RELEASE), "and is asked again in "));
    UNIT_CHECK(!unit_held(lease) && !unit_held(held)); /* it may have been released */
    UNIT_CHECK(held->fencing_token == 0);
    redis_let_server_go();
    redis_set_command_timeout(store, 5000);
    unit.ahead_ns += LATCH_NS_PER_S;
    redis_expect_working(lease);
    UNIT_CHECK(redis_run(held, LATCH_RELEASE) == LATCH_DONE && redis_is_free("s"));
    /* The release that had no answer may come yet: another token for another hold. */
    snprintf(token, sizeof(token), "%s", held->token);
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(strcmp(held->token, token) != 0);
}

/* It may have gone for ever, and the network not have said so. */
static void a_connection_on_which_nothing_came_is_used_no_more(void **state)
{
    latch_lease *lease = redis_lease_on_wire(LATCH_EXCLUSIVE);
    latch_op op;

    (void) state;
    redis_send(&op, lease, redis_request(LATCH_PROBE));
    UNIT_CHECK(
        redis_failed(latch_op_step(&op, unit_now_ns() + 10 * LATCH_NS_PER_S), "did not answer"));
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
    if (unit_redis_is_before(6, 2)) {
        skip(); /* it cannot be told to go on */
    }
    redis_expect_working(lease);
    unit_redis_ask("CLIENT PAUSE 100000 WRITE");
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    unit_redis_ask("CLIENT UNPAUSE");
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(lease));
}

static void what_a_paused_server_did_too_late_is_undone(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);
    latch_lease *lease = redis_lease_in(store, "r"), *two = redis_lease_in(store, "s");

    (void) state;
    redis_expect_working(lease);
    redis_hold_server();
    redis_set_command_timeout(store, 30);
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "did not answer"));
    redis_let_server_go();
    redis_set_command_timeout(store, 5000);
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
    redis_expect_working(lease);
    unit_redis_ask("HSET r a 1");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "WRONGTYPE"));
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE_SHARED), "WRONGTYPE"));
    assert_string_equal(unit_redis_text("HGET r a"), "1");
    unit_redis_ask("DEL r");
    redis_expect_working(lease);
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
        latch_lease_set_token(lease, "letmein", 7, &unit.error);
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
    redis_expect_working(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(nonsense_is_an_error_and_ends_the_connection),
        REDIS_TEST(answers_that_no_script_gives_are_nonsense),
        REDIS_TEST(an_answer_before_the_question_ends_the_connection),
        REDIS_TEST(what_a_server_says_is_told_without_the_token),
        REDIS_TEST(why_a_login_is_refused_is_told_without_the_password),
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

    return cmocka_run_group_tests_name("redis answers", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
