/*
 * Who holds a lock in Redis, which locks are held, and an end to that: what the store makes of the
 * server's answers, of what others have written there, and of a server that says something else.
 */
#include "redis_inquiry.h"
#include "src/store/redis/lock/redis.h"

#include <stdlib.h>

static const char *holder_info_of(void *context)
{
    (void) context;
    return "web-1 4711 /srv/shop/bin/con sole";
}

static int setup(void **state)
{
    redis_reports = NULL;
    if (redis_store_setup(state) != 0) {
        return -1;
    }
    unit.engine->env.holder_info = holder_info_of;
    return 0;
}

static int teardown(void **state)
{
    redis_forget_reports();
    return redis_store_teardown(state);
}

#define INSPECT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static latch_status look(latch_store *store, const char *resource)
{
    return unit_run_request(redis_lease_in(store, resource), redis_question(LATCH_INSPECT));
}

static latch_status list_all(latch_store *store, bool foreign)
{
    latch_request request = redis_question(LATCH_LIST);

    request.include_peer_locks = foreign;
    return unit_run_request(redis_lease_in(store, ""), request);
}

static size_t count_reports(void)
{
    size_t count = 0;

    for (latch_lock_report *report = redis_reports; report != NULL; report = report->next) {
        count++;
    }
    return count;
}

static void take(latch_store *store, const char *resource)
{
    UNIT_CHECK(redis_run(redis_lease_in(store, resource), LATCH_ACQUIRE) == LATCH_DONE);
}

/* ---- What is found */

static void a_free_lock_has_no_holders(void **state)
{
    (void) state;
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    assert_int_equal(count_reports(), 1);
    assert_string_equal(redis_reports->name, "r");
    assert_int_equal(redis_reports->mode, LATCH_FREE);
    assert_null(redis_reports->holders);
    UNIT_CHECK(list_all(unit.store, false) == LATCH_DONE);
    assert_int_equal(count_reports(), 0);
    assert_int_equal(unit_redis_number("DBSIZE"), 0);
}

static void a_holder_is_known_by_its_holder_info(void **state)
{
    latch_lease *lease = redis_lease("r");
    const latch_holder *holder;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    assert_int_equal(redis_reports->mode, LATCH_EXCLUSIVE);
    assert_int_equal(redis_reports->holder_count, 1);
    assert_int_equal(redis_reports->waiter_count, 0);
    holder = redis_reports->holders;
    assert_string_equal(holder->host, "web-1");
    assert_int_equal(holder->number, 4711);
    assert_string_equal(holder->script, "/srv/shop/bin/con sole");
    assert_int_equal(holder->fencing_token, lease->fencing_token);
    assert_int_equal(holder->since_us, lease->fencing_token);
    assert_in_range(holder->left_ms, 1, MINUTE + 1);
    assert_null(holder->next);
    /* And not by what would give the lock back. */
    assert_int_equal(strlen(holder->identity), LATCH_IDENTITY_LENGTH);
    assert_null(strstr(lease->token, holder->identity));
}

static void readers_are_told_in_the_order_in_which_they_end(void **state)
{
    latch_lease *one = redis_lease("r"), *other = redis_other_lease("r");

    (void) state;
    UNIT_CHECK(redis_run_for(one, LATCH_ACQUIRE_SHARED, MINUTE) == LATCH_DONE);
    UNIT_CHECK(redis_run_for(other, LATCH_ACQUIRE_SHARED, 3 * MINUTE) == LATCH_DONE);
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    assert_int_equal(redis_reports->mode, LATCH_SHARED);
    assert_int_equal(redis_reports->holder_count, 2);
    UNIT_CHECK(redis_reports->holders->left_ms > 2 * MINUTE);
    UNIT_CHECK(redis_reports->holders->next->left_ms <= MINUTE + 1);
    assert_int_equal(redis_reports->holders->fencing_token, 0);
    assert_null(redis_reports->holders->next->next);
}

static void who_waits_is_counted(void **state)
{
    latch_lease *held = redis_lease("r"), *lease = redis_other_lease("r");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(held, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, lease, redis_wait_to_write());
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    assert_int_equal(redis_reports->waiter_count, 1);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

/* Anybody who may write there may have written anything. */
static void a_record_that_makes_no_sense_tells_nothing(void **state)
{
    static const struct {
        const char *record, *host, *script;
        uint64_t fencing;
    } cases[] = {
        {"", NULL, NULL, 0},
        {" ", NULL, NULL, 0},
        {"12", NULL, NULL, 12},
        {"12 ", NULL, NULL, 12},
        {"12x 13 web 1 /a", NULL, NULL, 0},
        {"12 13", NULL, NULL, 12},
        {"12 13 ", NULL, NULL, 12},
        {"12 13 web", NULL, NULL, 12},
        {"12 13 web ", NULL, NULL, 12},
        {"12 13 web 1", NULL, NULL, 12},
        {"12 13 web x /a", NULL, NULL, 12},
        {"12 13x web 1 /a", NULL, NULL, 12},
        {"12 1234567890123456789 web 1 /a", NULL, NULL, 12},
        {"1234567890123456789 13 web 1 /a", NULL, NULL, 0},
        {"-1 13 web 1 /a", NULL, NULL, 0},
        {"12 13 web 1 ", "web", "", 12},
        {"12 13  1 /a", "", "/a", 12},
        {" 13 web 1 /a", "web", "/a", 0},
        {"12 13 we\033[1mb 1 /a\r\n\177b", "we?[1mb", "/a???b", 12},
    };

    (void) state;
    take(unit.store, "r");
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        unit_redis_ask("EVAL %s 2 r latch:holder:r %s",
                       "for _, token in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do\n"
                       "redis.call('HSET', KEYS[2], token, ARGV[1]) end",
                       cases[at].record);
        UNIT_CHECK(look(unit.store, "r") == LATCH_DONE && redis_reports->holders != NULL);
        if (cases[at].host == NULL) {
            assert_null(redis_reports->holders->host);
            assert_null(redis_reports->holders->script);
            assert_int_equal(redis_reports->holders->since_us, 0);
        } else {
            assert_string_equal(redis_reports->holders->host, cases[at].host);
            assert_string_equal(redis_reports->holders->script, cases[at].script);
        }
        assert_int_equal(redis_reports->holders->fencing_token, cases[at].fencing);
    }
}

static void foreign_holders_are_unknown(void **state)
{
    (void) state;
    unit_redis_ask("SET r owner");
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    assert_int_equal(redis_reports->mode, LATCH_EXCLUSIVE);
    assert_null(redis_reports->holders->host);
    UNIT_CHECK(redis_reports->holders->left_ms == LATCH_NEVER);
    unit_redis_ask("DEL r");
    unit_redis_ask("RPUSH r a");
    UNIT_CHECK(redis_failed(look(unit.store, "r"), "WRONGTYPE"));
    UNIT_CHECK(look(unit.store, "latch:queue:x") == LATCH_ERROR_ARGUMENT);
}

/* ---- Lists */

static void locks_are_listed_by_resource_under_the_prefix(void **state)
{
    latch_store *store =
        redis_open("redis://127.0.0.1:%d?prefix=%%5Ba-z%%5D*%%5C:", unit_redis.port);
    latch_lease *binary;

    (void) state;
    take(unit.store, "q:other");
    take(store, "r");
    binary = unit_lease_on("a\0b", 3);
    binary->store = store;
    UNIT_CHECK(redis_run(binary, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    unit_redis_ask("SET [a-z]*\\:latch:holder:string nonsense");
    unit_redis_ask("HSET [a-z]*\\:latch:holder:free a 1");
    for (int foreign = 0; foreign < 2; foreign++) {
        const latch_lock_report *shared;

        UNIT_CHECK(list_all(store, foreign) == LATCH_DONE);
        assert_int_equal(count_reports(), 2);
        shared = redis_reports->mode == LATCH_SHARED ? redis_reports : redis_reports->next;
        assert_int_equal(shared->name_length, 3);
        assert_memory_equal(shared->name, "a\0b", 4);
        assert_string_equal((shared == redis_reports ? redis_reports->next : redis_reports)->name,
                            "r");
    }
}

static void locks_of_peers_are_listed_when_they_are_asked_for(void **state)
{
    (void) state;
    take(unit.store, "ours");
    unit_redis_ask("ZADD theirs 99999999999999 %s 99999999999999 __write__",
                   "YW5vdGhlciBvbmUgd2hvIHdvdWxkIGxpa2UgdG8gaGE=");
    unit_redis_ask("ZADD scores 99999999999999 player");
    unit_redis_ask("SET text YW5vdGhlciBvbmUgd2hvIHdvdWxkIGxpa2UgdG8gaGE=");
    UNIT_CHECK(list_all(unit.store, false) == LATCH_DONE);
    assert_int_equal(count_reports(), 1);
    UNIT_CHECK(list_all(unit.store, true) == LATCH_DONE);
    assert_int_equal(count_reports(), 2);
}

static void many_locks_are_listed_some_at_a_time(void **state)
{
    (void) state;
    unit_redis_ask(
        "EVAL %s 0",
        "for at = 1, 10000 do\n"
        "redis.call('ZADD', 'r' .. at, 99999999999999, 't', 99999999999999, '__write__')\n"
        "redis.call('HSET', 'latch:holder:r' .. at, 't', at .. ' 5 web 7 /srv/a') end");
    redis_forget_calls();
    UNIT_CHECK(list_all(unit.store, false) == LATCH_DONE);
    assert_int_equal(count_reports(), 10000);
    for (const latch_lock_report *report = redis_reports; report != NULL; report = report->next) {
        assert_int_equal(report->holders->fencing_token, atoi(report->name + 1));
    }
    assert_int_equal(redis_count_calls("keys"), 0);
    UNIT_CHECK(redis_count_calls("scan") > 20000 / 512 / 2);
    assert_in_range(redis_count_calls("eval") + redis_count_calls("evalsha"), 10000, 11000);
    UNIT_CHECK(redis_count_calls("eval") < 1000); /* the rest by its digest */
}

/* ---- Taking away */

static latch_status evict(latch_lease *lease, const char *identities)
{
    latch_request request = redis_question(LATCH_EVICT);

    request.evicted = identities;
    redis_evicted = 99;
    return unit_run_request(lease, request);
}

static void a_long_name_is_listed_among_the_others(void **state)
{
    static char name[1000 * 1000];

    (void) state;
    memset(name, 'x', sizeof(name) - 1);
    take(unit.store, name);
    take(unit.store, "r");
    for (int foreign = 0; foreign < 2; foreign++) {
        UNIT_CHECK(list_all(unit.store, foreign == 1) == LATCH_DONE);
        assert_int_equal(count_reports(), 2);
        assert_int_equal(redis_reports->name_length + redis_reports->next->name_length,
                         sizeof(name));
    }
}

static void a_lock_can_be_taken_away(void **state)
{
    latch_lease *victim = redis_lease("r"), *other = redis_other_lease("r");
    char identity[LATCH_IDENTITY_LENGTH + 1];

    (void) state;
    UNIT_CHECK(redis_run(victim, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    strcpy(identity, redis_reports->holders->identity);
    UNIT_CHECK(evict(redis_lease("r"), "0123456789abcdef") == LATCH_DONE && redis_evicted == 0);
    UNIT_CHECK(evict(redis_lease("r"), identity) == LATCH_DONE && redis_evicted == 1);
    UNIT_CHECK(redis_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(evict(redis_lease("r"), identity) == LATCH_DONE && redis_evicted == 0);
    UNIT_CHECK(redis_run(victim, LATCH_REFRESH) == LATCH_CONFLICT && victim->lost);
    UNIT_CHECK(redis_run(other, LATCH_PROBE) == LATCH_DONE);
}

/* Nobody would know what came of it. */
static void taking_away_is_carried_out_to_its_end(void **state)
{
    latch_lease *victim = redis_lease("r");
    latch_request request;
    char identity[LATCH_IDENTITY_LENGTH + 1];
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(victim, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    strcpy(identity, redis_reports->holders->identity);
    request = redis_question(LATCH_EVICT);
    request.evicted = identity;
    redis_evicted = 0;
    redis_hold_server();
    UNIT_CHECK(latch_wants(unit_begin(&op, redis_lease("r"), request)));
    redis_let_server_go();
    UNIT_CHECK(unit_cancel(&op) == LATCH_DONE && redis_evicted == 1);
}

/* ---- Trouble */

static void a_server_that_forbids_it_says_so(void **state)
{
    latch_store *store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);

    (void) state;
    take(unit.store, "r");
    unit_redis_let_tester("-scan");
    UNIT_CHECK(redis_failed(list_all(store, false), "NOPERM"));
    UNIT_CHECK(look(store, "r") == LATCH_DONE);
    unit_redis_ask("ACL SETUSER tester +scan -eval");
    UNIT_CHECK(redis_failed(look(store, "r"), "NOPERM"));
    UNIT_CHECK(redis_failed(list_all(store, false), "NOPERM"));
    unit_redis_ask("ACL SETUSER tester +eval -pubsub");
    UNIT_CHECK(list_all(store, false) == LATCH_DONE && count_reports() == 1);
}

static void a_lost_connection_is_made_anew_once(void **state)
{
    latch_op op;

    (void) state;
    for (int at = 0; at < 100; at++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", at);
        take(unit.store, name);
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    for (int steps = 0; steps < 6; steps++) {
        latch_status status = unit_begin(&op, redis_lease(""), redis_question(LATCH_LIST));

        for (int step = 0; step < steps && latch_wants(status); step++) {
            unit_await_grant(&op);
            status = latch_op_step(&op, unit_now_ns());
        }
        unit_redis_ask("CLIENT KILL TYPE normal");
        UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
        assert_int_equal(count_reports(), 100);
    }
}

static void a_list_that_is_given_up_leaves_nothing(void **state)
{
    latch_op op;

    (void) state;
    take(unit.store, "r");
    for (int steps = 0; steps < 3; steps++) {
        latch_status status = unit_begin(&op, redis_lease(""), redis_question(LATCH_LIST));

        for (int step = 0; step < steps && latch_wants(status); step++) {
            unit_await_grant(&op);
            status = latch_op_step(&op, unit_now_ns());
        }
        if (latch_wants(status)) {
            UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT && redis_reports == NULL);
        }
        UNIT_CHECK(look(unit.store, "r") == LATCH_DONE && redis_reports->mode == LATCH_EXCLUSIVE);
    }
}

static void a_server_that_hangs_is_an_error_at_the_time_limit(void **state)
{
    latch_store *store = redis_open("redis://127.0.0.1:%d", unit_redis.port);

    (void) state;
    redis_expect_working(redis_lease_in(store, "r"));
    redis_hold_server();
    redis_set_command_timeout(store, 30);
    UNIT_CHECK(redis_failed(look(store, "r"), "did not answer within 0.03 s"));
    redis_let_server_go();
    redis_set_command_timeout(store, 5000);
    UNIT_CHECK(list_all(store, false) == LATCH_DONE);
    redis_hold_server();
    redis_set_command_timeout(store, 30);
    UNIT_CHECK(redis_failed(list_all(store, false), "did not answer within 0.03 s"));
    UNIT_CHECK(redis_failed(look(store, "r"), "did not answer within 0.03 s"));
    UNIT_CHECK(
        redis_failed(look(store, "r"), "let others wait in vain")); /* nobody asks just now */
    redis_let_server_go();
}

/* Answers one after the other, in place of the server, each to what was asked last. */
static latch_status answer(latch_op_kind kind, const char *const *answers)
{
    latch_store *store = redis_wire_open("");
    latch_status status = LATCH_WANT_IO;
    latch_request request = redis_question(kind);
    latch_op op;

    request.evicted = "0123456789abcdef";
    redis_send(&op, redis_lease_in(store, kind == LATCH_LIST ? "" : "r"), request);
    redis_wire_accept();
    for (; *answers != NULL && latch_wants(status); answers++) {
        redis_wire_answer(*answers);
        unit_await_grant(&op);
        status = latch_op_step(&op, unit_now_ns());
    }
    if (latch_wants(status)) {
        fail_msg("it waits for more");
    }
    return status;
}

#define PAGE(cursor, keys) "*2\r\n$1\r\n" cursor "\r\n" keys
#define ONE_KEY "*1\r\n$14\r\nlatch:holder:r\r\n"
#define TWO_KEYS "*2\r\n$14\r\nlatch:holder:r\r\n$14\r\nlatch:holder:s\r\n"
#define ONE "$1\r\n1\r\n"
#define HEAD "$1\r\n2\r\n" ONE "$1\r\n0\r\n"
#define IDENTITY "$16\r\n0123456789abcdef\r\n"
#define NO_RECORD "$0\r\n\r\n"
#define FOUND "*6\r\n" HEAD IDENTITY "$1\r\n5\r\n" NO_RECORD

static void answers_that_no_script_gives_are_nonsense(void **state)
{
    static const struct {
        latch_op_kind kind;
        const char *answers[3];
    } cases[] = {
        {LATCH_INSPECT, {":1\r\n"}},
        {LATCH_INSPECT, {"*0\r\n"}},
        {LATCH_INSPECT, {"*2\r\n" ONE ONE}},
        {LATCH_INSPECT, {"*3\r\n$1\r\n0\r\n" ONE ONE}},
        {LATCH_INSPECT, {"*3\r\n$1\r\n3\r\n" ONE ONE}},
        {LATCH_INSPECT, {"*3\r\n$-1\r\n" ONE ONE}},
        {LATCH_INSPECT, {"*3\r\n" ONE "$2\r\n-1\r\n" ONE}},
        {LATCH_INSPECT, {"*3\r\n" ONE ONE "$0\r\n\r\n"}},
        {LATCH_INSPECT, {"*3\r\n" ONE ONE "$2\r\n1x\r\n"}},
        {LATCH_INSPECT, {"*3\r\n" ONE ONE "$19\r\n9223372036854775807\r\n"}},
        {LATCH_INSPECT, {"*3\r\n" ONE ONE ":0\r\n"}},
        {LATCH_INSPECT, {"*4\r\n" HEAD "*0\r\n"}},
        {LATCH_INSPECT, {"*5\r\n" HEAD IDENTITY ONE}},
        {LATCH_INSPECT, {"*6\r\n" HEAD ONE ONE NO_RECORD}},
        {LATCH_INSPECT, {"*6\r\n" HEAD "$16\r\n0123456789ABCDEF\r\n" ONE NO_RECORD}},
        {LATCH_INSPECT, {"*6\r\n" HEAD IDENTITY "$2\r\n-2\r\n" NO_RECORD}},
        {LATCH_INSPECT, {"*6\r\n" HEAD IDENTITY ":5\r\n" NO_RECORD}},
        {LATCH_INSPECT, {"*6\r\n" HEAD IDENTITY ONE "$-1\r\n"}},
        {LATCH_LIST, {":1\r\n"}},
        {LATCH_LIST, {"*1\r\n$1\r\n0\r\n"}},
        {LATCH_LIST, {PAGE("0", ":1\r\n")}},
        {LATCH_LIST, {PAGE("0", "*1\r\n:1\r\n")}},
        {LATCH_LIST, {PAGE("0", "*1\r\n$6\r\nlatch:\r\n")}},
        {LATCH_LIST, {"*2\r\n:0\r\n" ONE_KEY}},
        {LATCH_LIST, {"*2\r\n$30\r\n123456789012345678901234567890\r\n" ONE_KEY}},
        {LATCH_LIST, {PAGE("0", ONE_KEY), ":1\r\n"}},
        {LATCH_EVICT, {"$1\r\n1\r\n"}},
        {LATCH_EVICT, {":-1\r\n"}},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        UNIT_CHECK(redis_failed(answer(cases[at].kind, cases[at].answers), "makes no sense"));
        redis_store_forget();
    }
}

static void what_older_servers_and_forgetful_ones_say_is_no_error(void **state)
{
    static const char *const old[] = {"-ERR syntax error\r\n", PAGE("0", ONE_KEY), FOUND, NULL};
    static const char *const forgetful[] = {PAGE("0", TWO_KEYS), FOUND "-NOSCRIPT gone\r\n", FOUND,
                                            NULL};
    static const char *const twice[] = {PAGE("7", TWO_KEYS), FOUND FOUND, PAGE("0", ONE_KEY), FOUND,
                                        NULL};

    (void) state;
    UNIT_CHECK(answer(LATCH_LIST, old) == LATCH_DONE && count_reports() == 1);
    redis_store_forget();
    UNIT_CHECK(answer(LATCH_LIST, forgetful) == LATCH_DONE && count_reports() == 2);
    redis_store_forget();
    UNIT_CHECK(answer(LATCH_LIST, twice) == LATCH_DONE && count_reports() == 2);
}

/* Of a server that is none they may be more than there is memory. */
static void arrays_are_as_long_as_they_may_be(void **state)
{
    latch_store *store = redis_wire_open("");
    latch_status status = LATCH_WANT_IO;
    latch_op op;

    (void) state;
    redis_send(&op, redis_lease_in(store, ""), redis_question(LATCH_LIST));
    redis_wire_accept();
    redis_wire_answer("*20000\r\n");
    while (latch_wants(status)) {
        unit_await_grant(&op);
        status = latch_op_step(&op, unit_now_ns());
        if (redis_wire_is_wanted()) { /* once more */
            redis_wire_accept();
            redis_wire_answer("*20000\r\n");
        }
    }
    UNIT_CHECK(redis_failed(status, "does not speak Redis's protocol"));
}

static void each_allocation_may_fail(void **state)
{
    char identity[LATCH_IDENTITY_LENGTH + 1];
    bool failed = true;

    (void) state;
    take(unit.store, "r");
    take(unit.store, "s");
    UNIT_CHECK(look(unit.store, "r") == LATCH_DONE);
    strcpy(identity, redis_reports->holders->identity);
    for (size_t number = 1; failed; number++) {
        latch_lease *leases[] = {redis_lease("r"), redis_lease(""), redis_lease("r")};

        unit.allocations = 0;
        unit.fail_at = number;
        failed = false;
        for (int at = 0; at < 3; at++) {
            static const latch_op_kind kinds[] = {LATCH_INSPECT, LATCH_LIST, LATCH_EVICT};
            latch_request request = redis_question(kinds[at]);
            latch_status status;

            request.evicted = "0000000000000000";
            status = unit_run_request(leases[at], request);
            UNIT_CHECK(status == LATCH_DONE || status == LATCH_ERROR_MEMORY);
            failed = failed || status == LATCH_ERROR_MEMORY;
            if (status == LATCH_DONE && at < 2) {
                assert_int_equal(count_reports(), at + 1);
            }
        }
        unit.fail_at = 0;
        for (int at = 0; at < 3; at++) {
            latch_lease_drop(&unit.leases[--unit.lease_count]);
        }
        UNIT_CHECK(number < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        INSPECT_TEST(a_free_lock_has_no_holders),
        INSPECT_TEST(a_holder_is_known_by_its_holder_info),
        INSPECT_TEST(readers_are_told_in_the_order_in_which_they_end),
        INSPECT_TEST(who_waits_is_counted),
        INSPECT_TEST(a_record_that_makes_no_sense_tells_nothing),
        INSPECT_TEST(foreign_holders_are_unknown),
        INSPECT_TEST(locks_are_listed_by_resource_under_the_prefix),
        INSPECT_TEST(locks_of_peers_are_listed_when_they_are_asked_for),
        INSPECT_TEST(many_locks_are_listed_some_at_a_time),
        INSPECT_TEST(a_long_name_is_listed_among_the_others),
        INSPECT_TEST(a_lock_can_be_taken_away),
        INSPECT_TEST(taking_away_is_carried_out_to_its_end),
        INSPECT_TEST(a_server_that_forbids_it_says_so),
        INSPECT_TEST(a_lost_connection_is_made_anew_once),
        INSPECT_TEST(a_list_that_is_given_up_leaves_nothing),
        INSPECT_TEST(a_server_that_hangs_is_an_error_at_the_time_limit),
        INSPECT_TEST(answers_that_no_script_gives_are_nonsense),
        INSPECT_TEST(what_older_servers_and_forgetful_ones_say_is_no_error),
        INSPECT_TEST(arrays_are_as_long_as_they_may_be),
        INSPECT_TEST(each_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("redis inspect", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
