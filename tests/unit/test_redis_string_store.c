/*
 * Locks in Redis whose key is a string, the owner: what the key has, who is another holder, and
 * holds without an end; beside programs that "SET key owner NX PX ttl", as Laravel does.
 */
#include "redis_inquiry.h"
#include "redis_store.h"

#define RECORD "latch:string:r"
#define LARAVEL_RELEASES                                                                           \
    "if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n"                                             \
    "    return redis.call(\"del\",KEYS[1])\n"                                                     \
    "else\n"                                                                                       \
    "    return 0\n"                                                                               \
    "end"

static latch_store *open_strings(void)
{
    return redis_open("redis+string://127.0.0.1:%d?read_timeout=10", unit_redis.port);
}

static latch_lease *string_lease(latch_store *store, const char *owner)
{
    latch_lease *lease = redis_lease_in(store, "r");

    if (owner != NULL) {
        redis_expect_done(latch_lease_set_owner(lease, owner, strlen(owner), &unit.error));
    }
    return lease;
}

/* In a store with connections of its own. */
static latch_lease *lease_of(const char *owner)
{
    return string_lease(open_strings(), owner);
}

static bool is_owner(const char *owner)
{
    return strcmp(unit_redis_text("GET r"), owner) == 0;
}

static bool release_tells(latch_lease *lease)
{
    bool was_held = true;
    latch_request request = redis_request(LATCH_RELEASE);

    request.was_held = &was_held;
    redis_expect_done(unit_run_request(lease, request));
    return was_held;
}

/* ---- What the key has */

static void the_key_has_the_owner_and_nothing_else(void **state)
{
    latch_lease *named = lease_of("user 7"), *unnamed = lease_of(NULL);

    (void) state;
    UNIT_CHECK(redis_run_for(named, LATCH_ACQUIRE, 30000) == LATCH_DONE);
    UNIT_CHECK(is_owner("user 7"));
    UNIT_CHECK(unit_redis_number("PTTL r") > 20000 && unit_redis_number("PTTL " RECORD) > 20000);
    UNIT_CHECK(release_tells(named) && !release_tells(named));
    assert_int_equal(unit_redis_number("DBSIZE"), 1); /* the fencing counter */
    UNIT_CHECK(redis_run(unnamed, LATCH_ACQUIRE) == LATCH_DONE);
    assert_int_equal(unit_redis_number("STRLEN r"), LATCH_TOKEN_LENGTH);
    UNIT_CHECK(is_owner(unnamed->token));
    unit_release(unnamed);
}

static void an_owner_is_any_bytes(void **state)
{
    latch_lease *lease = redis_lease_in(open_strings(), "r"), *waiter;
    char owner[LATCH_OWNER_MAX + 1];
    latch_op op;

    (void) state;
    for (size_t at = 0; at < sizeof(owner); at++) {
        owner[at] = (char) (at % 256);
    }
    UNIT_CHECK(latch_lease_set_owner(lease, owner, sizeof(owner), &unit.error)
               == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(latch_lease_set_owner(lease, owner, 0, &unit.error) == LATCH_ERROR_ARGUMENT);
    redis_expect_done(latch_lease_set_owner(lease, owner, LATCH_OWNER_MAX, &unit.error));
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_redis_number("EVAL %s 1 r %b",
                                 "return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0", owner,
                                 (size_t) LATCH_OWNER_MAX)
               == 1);
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
    waiter = redis_lease_in(open_strings(), "r");
    redis_expect_done(latch_lease_set_owner(waiter, owner, LATCH_OWNER_MAX, &unit.error));
    redis_begin_wait(&op, waiter, redis_wait_to_write());
    UNIT_CHECK(release_tells(lease));
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    assert_int_equal(unit_redis_number("STRLEN r"), LATCH_OWNER_MAX);
    unit_release(waiter);
}

static void a_hold_may_have_no_end(void **state)
{
    latch_lease *lease = lease_of("job"), *again = lease_of("job");

    (void) state;
    UNIT_CHECK(redis_run_for(lease, LATCH_ACQUIRE, 0) == LATCH_DONE);
    UNIT_CHECK(lease->deadline_ns == LATCH_NEVER && unit_held(lease));
    assert_int_equal(unit_redis_number("PTTL r"), -1);
    UNIT_CHECK(unit_redis_number("PTTL " RECORD) > 6 * 24 * 60 * MINUTE);
    UNIT_CHECK(redis_run(again, LATCH_PROBE) == LATCH_DONE && again->deadline_ns == LATCH_NEVER);
    UNIT_CHECK(redis_run_for(lease, LATCH_REFRESH, 5000) == LATCH_DONE);
    UNIT_CHECK(unit_redis_number("PTTL r") <= 5001 && lease->deadline_ns != LATCH_NEVER);
    UNIT_CHECK(redis_run_for(lease, LATCH_REFRESH, 0) == LATCH_DONE);
    assert_int_equal(unit_redis_number("PTTL r"), -1);
    UNIT_CHECK(release_tells(lease));
    UNIT_CHECK(redis_run(again, LATCH_PROBE) == LATCH_CONFLICT);
}

/* Redis cuts a key's time to whole milliseconds. */
static void a_key_is_there_for_as_long_as_its_holder_counts_on(void **state)
{
    latch_lease *lease = lease_of("job");

    (void) state;
    for (int round = 0; round < 50; round++) {
        int64_t before_us = unit_redis_now_us();

        UNIT_CHECK(redis_run_for(lease, LATCH_ACQUIRE, 30000) == LATCH_DONE);
        UNIT_CHECK(unit_redis_expiry_of("r") * 1000 >= before_us + 30000000);
        UNIT_CHECK(unit_redis_expiry_of(RECORD) * 1000 >= before_us + 30000000);
        unit_release(lease);
    }
}

static void a_full_server_or_a_counter_that_is_none_leaves_no_lock(void **state)
{
    latch_lease *lease = lease_of("job");

    (void) state;
    unit_redis_ask("CONFIG SET maxmemory 1");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "OOM"));
    assert_int_equal(unit_redis_number("DBSIZE"), 0);
    unit_redis_ask("CONFIG SET maxmemory 0");
    unit_redis_ask("RPUSH latch:fencing 1");
    UNIT_CHECK(redis_failed(redis_run(lease, LATCH_ACQUIRE), "WRONGTYPE"));
    assert_int_equal(unit_redis_number("DBSIZE"), 1);
    unit_redis_ask("DEL latch:fencing");
}

/* Memory may be short from the grant on. */
static void what_was_granted_is_claimed_on_a_full_server(void **state)
{
    latch_lease *holder = lease_of("a"), *next = lease_of("b");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, next, redis_wait_to_write());
    UNIT_CHECK(release_tells(holder) && is_owner("b"));
    unit_redis_ask("CONFIG SET maxmemory 1");
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE && unit_held(next));
    UNIT_CHECK(release_tells(next) && redis_is_free("r"));
    unit_redis_ask("CONFIG SET maxmemory 0");
}

static void the_documented_rights_are_enough(void **state)
{
    latch_lease *holder, *next;
    latch_op op;

    (void) state;
    unit_redis_let_tester("-@all");
    unit_redis_ask(
        "ACL SETUSER tester +eval +evalsha +del +exists +get +getset +hdel +hexists +hget "
        "+hkeys +hlen +hmget +hset +pexpire +pexpireat +set +time +type +zadd +zcard "
        "+zrange +zrangebyscore +zrank +zrem +zremrangebyscore +zrevrange "
        "+zrevrangebyscore +zscore +subscribe +publish +pubsub +mget +pttl +persist");
    holder = string_lease(redis_open("redis+string://tester:secret@127.0.0.1:%d?peers=yes",
                                     unit_redis.port),
                          "a");
    next = string_lease(redis_open("redis+string://tester:secret@127.0.0.1:%d?peers=yes",
                                   unit_redis.port),
                        "b");
    unit_redis_ask("SET latch:fencing 2999999999999999");
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(next, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(holder, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(redis_run_for(holder, LATCH_REFRESH, 0) == LATCH_DONE);
    redis_begin_wait(&op, next, redis_wait_to_write());
    UNIT_CHECK(release_tells(holder));
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(next);
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE); /* peers are known by now */
    unit_release(holder);
    unit_redis_ask("DEL latch:string-peers:r");
}

static void a_name_may_begin_as_companion_keys_but_not_be_one(void **state)
{
    static const char *const refused[] = {
        "latch:string:r",  "latch:string-queue:r",  "latch:string-peers:r", "latch:fencing",
        "latch:holder:r",  "latch:queue:r",         "latch:peers:r",        "latch:permits:r",
        "latch:version:r", "latch:debounce-ended:", "latch:{AAAA}:queue:r",
    };
    static const char *const allowed[] = {"latch:", "latch:r", "latch:string", "latch:queued:r"};
    latch_store *strings = open_strings();

    (void) state;
    for (size_t at = 0; at < sizeof(refused) / sizeof(*refused); at++) {
        UNIT_CHECK(redis_run(redis_lease_in(strings, refused[at]), LATCH_ACQUIRE)
                   == LATCH_ERROR_ARGUMENT);
    }
    for (size_t at = 0; at < sizeof(allowed) / sizeof(*allowed); at++) {
        latch_lease *lease = redis_lease_in(strings, allowed[at]);

        UNIT_CHECK(redis_run(redis_lease(allowed[at]), LATCH_ACQUIRE) == LATCH_ERROR_ARGUMENT);
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(unit_redis_number("EXISTS %s", allowed[at]) == 1);
        unit_release(lease);
    }
}

/* ---- Who is another holder */

static void the_same_owner_again_is_another_holder(void **state)
{
    latch_lease *first = lease_of("user 7"), *second = lease_of("user 7");
    uint64_t fencing;

    (void) state;
    UNIT_CHECK(redis_run(first, LATCH_ACQUIRE) == LATCH_DONE);
    fencing = first->fencing_token;
    UNIT_CHECK(redis_run(second, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(!release_tells(second)); /* it has tried with a nonce of its own */
    UNIT_CHECK(redis_run(first, LATCH_ACQUIRE) == LATCH_DONE && first->fencing_token == fencing);
    UNIT_CHECK(release_tells(first));
    UNIT_CHECK(redis_run(second, LATCH_ACQUIRE) == LATCH_DONE && second->fencing_token > fencing);
    UNIT_CHECK(redis_run(first, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(first, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(!release_tells(first) && is_owner("user 7"));
    unit_release(second);
}

static void a_lease_that_has_only_an_owner_stands_for_any_of_its_holds(void **state)
{
    latch_lease *holder = lease_of("job 1"), *restored = lease_of("job 1"),
                *other = lease_of("job 2");

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(other, LATCH_PROBE) == LATCH_CONFLICT && !release_tells(other));
    UNIT_CHECK(redis_run(other, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(restored, LATCH_PROBE) == LATCH_DONE && unit_held(restored));
    UNIT_CHECK(redis_run_for(restored, LATCH_REFRESH, 2 * MINUTE) == LATCH_DONE);
    UNIT_CHECK(unit_redis_number("PTTL r") > MINUTE);
    UNIT_CHECK(release_tells(restored) && redis_is_free("r"));
    unit_release(holder);
}

static void a_wait_that_is_given_up_leaves_the_lock_of_a_namesake(void **state)
{
    latch_lease *holder = lease_of("user 7"), *waiter = lease_of("user 7");
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    redis_begin_wait(&op, waiter, redis_wait_to_write());
    UNIT_CHECK(latch_op_cancel(&op, unit_now_ns()) == LATCH_CONFLICT);
    UNIT_AWAIT(unit_redis_number("EXISTS latch:string-queue:r") == 0);
    UNIT_CHECK(redis_run(holder, LATCH_PROBE) == LATCH_DONE && release_tells(holder));
}

/* The answer to an acquire is lost: the command is sent once more, and finds its own nonce. */
static void an_acquire_whose_answer_was_lost_is_granted_once(void **state)
{
    latch_lease *lease = string_lease(redis_wire_open_as("redis+string", "?read_timeout=10"), "u"),
                *namesake = lease_of("u");
    uint64_t fencing;
    latch_op op;

    (void) state;
    UNIT_CHECK(redis_run(namesake, LATCH_ACQUIRE) == LATCH_DONE && release_tells(namesake));
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    redis_wire_accept();
    redis_wire_pass_command();
    redis_wire_pass_reply(0);
    UNIT_AWAIT(unit_redis_number("EXISTS r") == 1);
    fencing = (uint64_t) atoll(unit_redis_text("GET latch:fencing"));
    redis_wire_cut();
    UNIT_CHECK(redis_run(namesake, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_wire_finish(&op, latch_op_step(&op, unit_now_ns())) == LATCH_DONE);
    UNIT_CHECK(unit_held(lease) && lease->fencing_token == fencing);
    UNIT_CHECK(redis_run(namesake, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_wire_exchange(lease, LATCH_RELEASE) == LATCH_DONE && redis_is_free("r"));
    assert_int_equal(unit_redis_number("DBSIZE"), 1); /* the fencing counter */
}

/* ---- Peers */

static void laravel_and_latch_exclude_and_release_each_other(void **state)
{
    latch_lease *lease = lease_of("ours"), *theirs = lease_of("theirs");

    (void) state;
    unit_redis_ask("SET r theirs NX PX 60000");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(!release_tells(lease) && redis_run(theirs, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(release_tells(theirs) && redis_is_free("r"));
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    assert_int_equal(unit_redis_number("EVAL %s 1 r theirs", LARAVEL_RELEASES), 0);
    assert_int_equal(unit_redis_number("EVAL %s 1 r ours", LARAVEL_RELEASES), 1);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(theirs, LATCH_ACQUIRE) == LATCH_DONE); /* a record was left behind */
    UNIT_CHECK(!release_tells(lease) && release_tells(theirs));
}

static void a_lock_in_the_other_layout_is_held(void **state)
{
    latch_lease *string = lease_of("o"), *sorted = redis_lease("r");

    (void) state;
    UNIT_CHECK(redis_run(sorted, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(string, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(redis_run(string, LATCH_PROBE) == LATCH_CONFLICT && !release_tells(string));
    unit_release(sorted);
    UNIT_CHECK(redis_run(string, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(redis_run(sorted, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(string);
}

static void waiters_follow_a_peer_and_are_handed_what_is_ours(void **state)
{
    latch_lease *first = lease_of("a"), *second = lease_of("b");
    latch_op wait, other;
    int64_t begun_ns;

    (void) state;
    unit_redis_ask("SET r peer");
    redis_begin_wait(&wait, first, redis_wait_to_write());
    redis_begin_wait(&other, second, redis_wait_to_write());
    begun_ns = unit_now_ns();
    assert_int_equal(unit_redis_number("EVAL %s 1 r peer", LARAVEL_RELEASES), 1);
    UNIT_CHECK(unit_finish(&wait, LATCH_WANT_IO) == LATCH_DONE && is_owner("a"));
    UNIT_CHECK(unit_now_ns() - begun_ns < LATCH_NS_PER_S);
    UNIT_CHECK(release_tells(first));
    UNIT_CHECK(is_owner("b")); /* by that very script */
    UNIT_CHECK(unit_finish(&other, LATCH_WANT_IO) == LATCH_DONE);
    unit_release(second);
    unit_redis_ask("DEL latch:string-peers:r");
}

/* Laravel's script is known by its digest: a lock is left free for it now and then. */
static void laravel_is_known_by_its_script(void **state)
{
    latch_lease *one = lease_of("a"), *two = lease_of("b");
    latch_op op;

    (void) state;
    unit_redis_ask("SCRIPT FLUSH");
    unit_redis_ask("EVAL %s 1 r x", LARAVEL_RELEASES);
    UNIT_CHECK(redis_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    for (int round = 0; round < 50; round++) {
        latch_lease *held = round % 2 == 0 ? one : two, *next = round % 2 == 0 ? two : one;

        redis_begin_wait(&op, next, redis_wait_to_write());
        unit_release(held);
        UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
        if (unit_redis_number("HEXISTS latch:string-peers:r about") == 1) {
            unit_release(next);
            unit_redis_ask("DEL latch:string-peers:r");
            assert_int_equal(unit_redis_number("EXISTS latch:peers:r"), 0);
            return;
        }
    }
    fail_msg("nobody has seen Laravel's script");
}

/* ---- Inspection */

static void holders_are_told_and_evicted(void **state)
{
    latch_lease *holder = lease_of("user 7"), *next = lease_of("user 7"), *from;
    latch_request evict = redis_question(LATCH_EVICT);
    char identity[LATCH_IDENTITY_LENGTH + 1];
    latch_op op;

    (void) state;
    from = redis_lease_in(holder->store, "r");
    UNIT_CHECK(redis_run(holder, LATCH_ACQUIRE) == LATCH_DONE);
    unit_redis_ask("SET foreign owner");
    UNIT_CHECK(unit_run_request(from, redis_question(LATCH_LIST)) == LATCH_DONE);
    UNIT_CHECK(redis_reports != NULL && redis_reports->next == NULL);
    UNIT_CHECK(strcmp(redis_reports->name, "r") == 0 && redis_reports->mode == LATCH_EXCLUSIVE);
    UNIT_CHECK(redis_reports->holders->fencing_token == holder->fencing_token);
    strcpy(identity, redis_reports->holders->identity);
    redis_begin_wait(&op, next, redis_wait_to_write());
    evict.evicted = identity;
    UNIT_CHECK(unit_run_request(from, evict) == LATCH_DONE && redis_evicted == 1);
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(unit_run_request(from, evict) == LATCH_DONE && redis_evicted == 0); /* a namesake */
    UNIT_CHECK(redis_run(holder, LATCH_REFRESH) == LATCH_CONFLICT);
    unit_release(next);
    unit_redis_ask("SET r peer");
    UNIT_CHECK(unit_run_request(from, redis_question(LATCH_INSPECT)) == LATCH_DONE);
    UNIT_CHECK(redis_reports->holders->left_ms == LATCH_NEVER);
    strcpy(identity, redis_reports->holders->identity);
    UNIT_CHECK(unit_run_request(from, evict) == LATCH_DONE && redis_evicted == 1);
    redis_forget_reports();
    unit_redis_ask("DEL foreign");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_WAIT_TEST(the_key_has_the_owner_and_nothing_else),
        REDIS_WAIT_TEST(an_owner_is_any_bytes),
        REDIS_WAIT_TEST(a_hold_may_have_no_end),
        REDIS_WAIT_TEST(a_key_is_there_for_as_long_as_its_holder_counts_on),
        REDIS_WAIT_TEST(a_full_server_or_a_counter_that_is_none_leaves_no_lock),
        REDIS_WAIT_TEST(what_was_granted_is_claimed_on_a_full_server),
        REDIS_WAIT_TEST(the_documented_rights_are_enough),
        REDIS_WAIT_TEST(a_name_may_begin_as_companion_keys_but_not_be_one),
        REDIS_WAIT_TEST(the_same_owner_again_is_another_holder),
        REDIS_WAIT_TEST(a_lease_that_has_only_an_owner_stands_for_any_of_its_holds),
        REDIS_WAIT_TEST(a_wait_that_is_given_up_leaves_the_lock_of_a_namesake),
        REDIS_TEST(an_acquire_whose_answer_was_lost_is_granted_once),
        REDIS_WAIT_TEST(laravel_and_latch_exclude_and_release_each_other),
        REDIS_WAIT_TEST(a_lock_in_the_other_layout_is_held),
        REDIS_WAIT_TEST(waiters_follow_a_peer_and_are_handed_what_is_ours),
        REDIS_WAIT_TEST(laravel_is_known_by_its_script),
        REDIS_WAIT_TEST(holders_are_told_and_evicted),
    };

    return cmocka_run_group_tests_name("redis string store", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
