/* The list of semaphores in Redis of which permits are held, and what is none. */
#include "redis_inquiry.h"
#include "redis_permit_leases.h"

#include "src/store/redis/lock/redis.h"

#define TOKEN_OF_PEER "YW5vdGhlciBvbmUgd2hvIHdvdWxkIGxpa2UgdG8gaGE="
#define LATER "99999999999"

static int setup(void **state)
{
    redis_reports = NULL;
    return redis_store_setup(state);
}

static int teardown(void **state)
{
    redis_forget_reports();
    return redis_store_teardown(state);
}

#define LIST_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static latch_lease *permit_of(latch_store *store, const char *name, size_t length)
{
    latch_lease *lease = redis_lease_in(store, "s");

    latch_permit_lease_init(lease, store, name, length);
    return lease;
}

static void hold(latch_store *store, const char *name, int64_t weight, int64_t limit)
{
    redis_expect_done(redis_run_take(permit_of(store, name, strlen(name)), weight, limit));
}

static latch_status list(latch_store *store, bool foreign)
{
    latch_request request = redis_question(LATCH_LIST);

    request.include_peer_locks = foreign;
    return unit_run_request(permit_of(store, "", 0), request);
}

/* The listed semaphore of that name, or NULL; and how many there are. */
static const latch_lock_report *find(const char *name, size_t *count)
{
    const latch_lock_report *found = NULL;

    *count = 0;
    for (const latch_lock_report *at = redis_reports; at != NULL; at = at->next) {
        (*count)++;
        if (at->name_length == strlen(name) && memcmp(at->name, name, at->name_length) == 0) {
            found = at;
        }
    }
    return found;
}

static size_t count_listed(latch_store *store, bool foreign)
{
    size_t count;

    redis_expect_done(list(store, foreign));
    find("", &count);
    return count;
}

static void each_semaphore_is_listed_with_holders_weights_limits_and_waiters(void **state)
{
    latch_lease *waiter = permit_of(redis_open("redis://127.0.0.1:%d", unit_redis.port), "one", 3);
    const latch_lock_report *found;
    latch_op op;
    size_t count;

    (void) state;
    assert_int_equal(count_listed(unit.store, false), 0);
    hold(unit.store, "one", 2, 5);
    hold(unit.store, "one", 1, 4);
    hold(unit.store, "other", 7, 7);
    redis_expect_done(redis_run(redis_lease("lock"), LATCH_ACQUIRE));
    redis_begin_wait(&op, waiter, redis_wait_to_take(5, 5));
    redis_expect_done(list(unit.store, false));
    found = find("one", &count);
    assert_int_equal(count, 2);
    assert_non_null(found);
    assert_int_equal(found->mode, LATCH_SHARED);
    assert_int_equal(found->permits_used, 3);
    assert_int_equal(found->holder_count, 2);
    assert_int_equal(found->waiter_count, 1);
    for (const latch_holder *holder = found->holders; holder != NULL; holder = holder->next) {
        assert_int_equal(holder->permits.limit, holder->permits.weight == 2 ? 5 : 4);
        assert_in_range(holder->left_ms, 1, MINUTE + 1000);
    }
    found = find("other", &count);
    assert_non_null(found);
    assert_int_equal(found->permits_used, 7);
    assert_int_equal(found->waiter_count, 0);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
}

static void locks_are_not_listed_as_semaphores_nor_semaphores_as_locks(void **state)
{
    latch_lease *lock = redis_lease("s");
    size_t count;

    (void) state;
    redis_expect_done(redis_run(lock, LATCH_ACQUIRE));
    assert_int_equal(count_listed(unit.store, true), 0);
    redis_expect_done(redis_run(lock, LATCH_RELEASE));
    hold(unit.store, "s", 1, 1);
    for (int foreign = 0; foreign < 2; foreign++) {
        latch_request request = redis_question(LATCH_LIST);

        request.include_peer_locks = foreign;
        redis_expect_done(unit_run_request(redis_lease(""), request));
        find("", &count);
        assert_int_equal(count, 0);
    }
}

static void the_prefix_stands_for_itself(void **state)
{
    latch_store *store =
        redis_open("redis://127.0.0.1:%d?prefix=%%5Ba-z%%5D*%%5C:", unit_redis.port);
    size_t count;

    (void) state;
    hold(unit.store, "q:other", 1, 1);
    hold(store, "s", 1, 1);
    for (int foreign = 0; foreign < 2; foreign++) {
        redis_expect_done(list(store, foreign));
        assert_non_null(find("s", &count));
        assert_int_equal(count, 1);
    }
}

static void any_bytes_are_a_name(void **state)
{
    static char longest[100000];
    static const struct {
        const char *name;
        size_t length;
    } names[] = {{"", 0}, {"a\0b", 3}, {"}", 1}, {"{", 1}, {"}:weight", 8}, {longest, 100000}};
    const size_t all = sizeof(names) / sizeof(*names);

    (void) state;
    memset(longest, 'x', sizeof(longest));
    for (size_t at = 0; at < all; at++) {
        latch_lease *lease = permit_of(unit.store, names[at].name, names[at].length);

        redis_expect_done(redis_run_take(lease, 1, 1));
    }
    for (int foreign = 0; foreign < 2; foreign++) {
        assert_int_equal(count_listed(unit.store, foreign), all);
        for (size_t at = 0; at < all; at++) {
            const latch_lock_report *report = redis_reports;

            while (report->name_length != names[at].length
                   || memcmp(report->name, names[at].name, names[at].length) != 0) {
                report = report->next;
                assert_non_null(report);
            }
        }
    }
}

static void semaphores_of_peers_are_listed_when_they_are_asked_for(void **state)
{
    const latch_lock_report *found;
    size_t count;

    (void) state;
    hold(unit.store, "ours", 1, 1);
    unit_redis_ask("ZADD {theirs}:weight 3 " TOKEN_OF_PEER);
    unit_redis_ask("ZADD {theirs}:time " LATER " " TOKEN_OF_PEER);
    assert_int_equal(count_listed(unit.store, false), 1);
    redis_expect_done(list(unit.store, true));
    found = find("theirs", &count);
    assert_int_equal(count, 2);
    assert_non_null(found);
    assert_int_equal(found->permits_used, 3);
    assert_int_equal(found->holders->permits.limit, 0);
    assert_null(found->holders->host);
}

/* And without an error, as any client may have written it. */
static void what_is_no_semaphore_is_not_listed(void **state)
{
    (void) state;
    hold(unit.store, "s", 1, 1);
    unit_redis_ask("ZADD {scores}:weight 3 player");
    unit_redis_ask("ZADD {scores}:time " LATER " player");
    unit_redis_ask("ZADD {alone}:weight 3 " TOKEN_OF_PEER);
    unit_redis_ask("ZADD {text}:weight 3 " TOKEN_OF_PEER);
    unit_redis_ask("SET {text}:time text");
    unit_redis_ask("SET {word}:weight text");
    unit_redis_ask("HSET latch:permits:{word} a 1");
    unit_redis_ask("HSET latch:permits:{gone} a 1");
    unit_redis_ask("SET latch:permits:{string} 1");
    unit_redis_ask("ZADD {over}:weight 3 " TOKEN_OF_PEER);
    unit_redis_ask("ZADD {over}:time 1 " TOKEN_OF_PEER);
    for (int foreign = 0; foreign < 2; foreign++) {
        assert_int_equal(count_listed(unit.store, foreign), 1);
    }
}

static void many_semaphores_are_listed_some_at_a_time(void **state)
{
    (void) state;
    unit_redis_ask("EVAL %s 0",
                   "for at = 1, 3000 do\n"
                   "redis.call('ZADD', '{s' .. at .. '}:weight', at, 't')\n"
                   "redis.call('ZADD', '{s' .. at .. '}:time', " LATER ", 't')\n"
                   "redis.call('HSET', 'latch:permits:{s' .. at .. '}', 't', '9999') end");
    redis_forget_calls();
    assert_int_equal(count_listed(unit.store, false), 3000);
    for (const latch_lock_report *report = redis_reports; report != NULL; report = report->next) {
        assert_int_equal(report->permits_used, atoi(report->name + 1));
    }
    assert_int_equal(redis_count_calls("keys"), 0);
    assert_in_range(redis_count_calls("eval") + redis_count_calls("evalsha"), 3000, 3300);
    UNIT_CHECK(redis_count_calls("eval") < 300); /* the rest by its digest */
}

static void a_server_that_forbids_it_says_so(void **state)
{
    latch_store *store = redis_open("redis://tester:secret@127.0.0.1:%d", unit_redis.port);

    (void) state;
    hold(unit.store, "s", 1, 1);
    unit_redis_let_tester("-scan");
    UNIT_CHECK(redis_failed(list(store, false), "NOPERM"));
}

static void a_page_without_such_names_is_nonsense(void **state)
{
    latch_store *store = redis_wire_open("");
    latch_op op;

    (void) state;
    redis_send(&op, permit_of(store, "", 0), redis_question(LATCH_LIST));
    redis_wire_accept();
    redis_wire_answer("*2\r\n$1\r\n0\r\n*1\r\n$15\r\nlatch:permits:{\r\n");
    unit_await_grant(&op);
    UNIT_CHECK(redis_failed(latch_op_step(&op, unit_now_ns()), "makes no sense"));
}

static void each_allocation_may_fail(void **state)
{
    latch_status status = LATCH_ERROR_MEMORY;

    (void) state;
    hold(unit.store, "one", 1, 1);
    hold(unit.store, "two", 1, 1);
    for (size_t number = 1; status == LATCH_ERROR_MEMORY; number++) {
        latch_lease *lease = permit_of(unit.store, "", 0);
        latch_request request = redis_question(LATCH_LIST);

        unit.allocations = 0;
        unit.fail_at = number;
        status = unit_run_request(lease, request);
        unit.fail_at = 0;
        UNIT_CHECK(status == LATCH_DONE || status == LATCH_ERROR_MEMORY);
        UNIT_CHECK(number < 200);
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(each_semaphore_is_listed_with_holders_weights_limits_and_waiters),
        LIST_TEST(locks_are_not_listed_as_semaphores_nor_semaphores_as_locks),
        LIST_TEST(the_prefix_stands_for_itself),
        LIST_TEST(any_bytes_are_a_name),
        LIST_TEST(semaphores_of_peers_are_listed_when_they_are_asked_for),
        LIST_TEST(what_is_no_semaphore_is_not_listed),
        LIST_TEST(many_semaphores_are_listed_some_at_a_time),
        LIST_TEST(a_server_that_forbids_it_says_so),
        LIST_TEST(a_page_without_such_names_is_nonsense),
        LIST_TEST(each_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("redis permit list", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
