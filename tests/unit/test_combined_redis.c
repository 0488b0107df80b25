/*
 * Combined stores of Redis stores: three databases of one server, as three servers are; the third
 * one at the end of a wire where a test wants it to be silent.
 */
#include "redis_store.h"

#include "src/store/redis/lock/redis.h"

#include <stdlib.h>

static struct {
    latch_store *members[3], *store, *memory;
    latch_lease parts[16][3];
} quorum;

static int open_quorum(latch_store *third)
{
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = quorum.members,
                                         .member_count = 3};

    quorum.members[0] = redis_open("redis://127.0.0.1:%d/0", unit_redis.port);
    quorum.members[1] = redis_open("redis://127.0.0.1:%d/1", unit_redis.port);
    quorum.members[2] = third != NULL ? third
                                      : redis_open("redis://127.0.0.1:%d/2", unit_redis.port);
    quorum.store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    return quorum.store != NULL ? 0 : -1;
}

static int setup(void **state)
{
    return redis_store_setup(state) == 0 ? open_quorum(NULL) : -1;
}

static int setup_wired(void **state)
{
    return redis_store_setup(state) == 0 ? open_quorum(redis_wire_open("?read_timeout=2")) : -1;
}

static int teardown(void **state)
{
    for (size_t at = 0; at < unit.lease_count; at++) {
        if (unit.leases[at].store == quorum.store) {
            latch_lease_drop(&unit.leases[at]);
            unit.leases[at].store = NULL;
            for (size_t part = 0; part < 3; part++) {
                latch_lease_drop(&quorum.parts[at][part]);
            }
        }
    }
    latch_store_close(quorum.store);
    if (quorum.memory != NULL) {
        latch_store_close(quorum.memory);
        quorum.memory = NULL;
    }
    return redis_store_teardown(state);
}

static latch_lease *make_lease(const char *resource)
{
    latch_lease *lease = redis_lease_in(quorum.store, resource);
    latch_lease *parts = quorum.parts[lease - unit.leases];
    latch_lease_part members[3];

    for (size_t at = 0; at < 3; at++) {
        latch_lease_init(&parts[at], quorum.members[at], resource, strlen(resource));
        members[at] = (latch_lease_part){&parts[at], MINUTE};
    }
    UNIT_CHECK(latch_lease_join(lease, members, &unit.error) == LATCH_DONE);
    return lease;
}

static latch_lease *part_of(const latch_lease *lease, size_t member)
{
    return &quorum.parts[lease - unit.leases][member];
}

/* Is the lock held in that database, by the lease's token? */
static bool is_held_in(size_t database, const latch_lease *lease)
{
    bool is_held;

    unit_redis_ask("SELECT %d", (int) database);
    is_held = unit_redis_try("ZSCORE %s %s", lease->resource, part_of(lease, database)->token)->type
              == REDIS_REPLY_STRING;
    unit_redis_ask("SELECT 0");
    return is_held;
}

static bool is_free_in(size_t database, const char *resource)
{
    bool is_free;

    unit_redis_ask("SELECT %d", (int) database);
    is_free = redis_is_free(resource);
    unit_redis_ask("SELECT 0");
    return is_free;
}

static void await_free_everywhere(const char *resource)
{
    for (size_t at = 0; at < 3; at++) {
        UNIT_AWAIT(is_free_in(at, resource));
    }
}

/* What is left in flight for the third one has arrived. */
static void await_third(const latch_lease *lease)
{
    assert_int_equal(redis_run(part_of(lease, 2), LATCH_PROBE), LATCH_DONE);
}

static void a_lock_is_taken_in_all_servers_by_one_token(void **state)
{
    latch_lease *lease = make_lease("r"), *other = make_lease("r");

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    for (size_t at = 0; at < 3; at++) {
        assert_int_equal(redis_run(part_of(lease, at), LATCH_PROBE), LATCH_DONE);
        assert_true(is_held_in(at, lease));
        assert_string_equal(part_of(lease, at)->token, part_of(lease, 0)->token);
    }
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    await_free_everywhere("r");
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_minority_that_somebody_else_holds_does_not_matter(void **state)
{
    latch_lease *lease = make_lease("r");
    latch_lease *stranger = redis_lease_in(quorum.members[1], "r");

    (void) state;
    assert_int_equal(redis_run(stranger, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_false(is_free_in(1, "r")); /* the stranger's is not given back */
    assert_int_equal(redis_run(stranger, LATCH_PROBE), LATCH_DONE);
}

static void what_a_minority_granted_is_given_back(void **state)
{
    latch_lease *lease = make_lease("r");
    latch_lease *strangers[2] = {redis_lease_in(quorum.members[1], "r"),
                                 redis_lease_in(quorum.members[2], "r")};

    (void) state;
    for (int round = 0; round < 3; round++) {
        for (size_t at = 0; at < 2; at++) {
            assert_int_equal(redis_run(strangers[at], LATCH_ACQUIRE), LATCH_DONE);
        }
        assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
        UNIT_AWAIT(is_free_in(0, "r"));
        for (size_t at = 0; at < 2; at++) {
            assert_int_equal(redis_run(strangers[at], LATCH_RELEASE), LATCH_DONE);
        }
        assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        await_third(lease);
        assert_string_equal(part_of(lease, 1)->token, part_of(lease, 0)->token);
        assert_string_equal(part_of(lease, 2)->token, part_of(lease, 0)->token);
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
        await_free_everywhere("r");
    }
}

static void a_key_that_was_handed_over_holds_in_all_servers(void **state)
{
    latch_lease *lease = make_lease("r"), *taker = make_lease("r");

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_set_token(part_of(taker, at), part_of(lease, 0)->token, LATCH_TOKEN_LENGTH,
                                &unit.error);
    }
    assert_int_equal(redis_run(taker, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_held(taker));
    assert_int_equal(taker->mode, LATCH_EXCLUSIVE);
    assert_in_range(taker->deadline_ns, unit_now_ns(), lease->deadline_ns + 5 * LATCH_NS_PER_S);
    assert_int_equal(redis_run(taker, LATCH_ACQUIRE), LATCH_DONE);
    assert_string_equal(part_of(taker, 1)->token, part_of(lease, 1)->token);
    assert_int_equal(redis_run(taker, LATCH_RELEASE), LATCH_DONE);
    await_free_everywhere("r");
}

static void a_key_that_was_handed_over_is_held_when_it_is_renewed(void **state)
{
    latch_lease *lease = make_lease("r"), *taker = make_lease("r");

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    await_third(lease);
    for (size_t at = 0; at < 3; at++) {
        latch_lease_set_token(part_of(taker, at), part_of(lease, 0)->token, LATCH_TOKEN_LENGTH,
                                &unit.error);
    }
    assert_int_equal(redis_run_for(taker, LATCH_REFRESH, MINUTE), LATCH_DONE);
    assert_true(unit_held(taker));
    assert_int_equal(taker->mode, LATCH_SHARED);
    assert_int_equal(redis_run(taker, LATCH_RELEASE), LATCH_DONE);
    await_free_everywhere("r");
}

static void parts_that_are_held_by_themselves_keep_their_tokens(void **state)
{
    latch_lease *lease = make_lease("r");
    char tokens[2][LATCH_TOKEN_MAX + 1];

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        assert_int_equal(redis_run(part_of(lease, at), LATCH_ACQUIRE), LATCH_DONE);
        strcpy(tokens[at], part_of(lease, at)->token);
    }
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    for (size_t at = 0; at < 2; at++) {
        assert_string_equal(part_of(lease, at)->token, tokens[at]);
    }
}

static void a_part_that_was_released_by_itself_comes_back_to_the_common_token(void **state)
{
    latch_lease *lease = make_lease("r"), *third = part_of(lease, 2);

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    assert_int_equal(unit_run_request(third, redis_detached_release()), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    assert_string_not_equal(third->token, part_of(lease, 0)->token); /* its release may be late */
    unit_redis_ask("SELECT 2");
    unit_redis_ask("DEL r");
    unit_redis_ask("SELECT 0");
    assert_int_equal(redis_run(third, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    assert_string_equal(third->token, part_of(lease, 0)->token);
}

static void a_release_that_nobody_awaits_goes_to_all(void **state)
{
    latch_lease *lease = make_lease("r");

    (void) state;
    for (int round = 0; round < 100; round++) {
        assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(unit_run_request(lease, redis_detached_release()), LATCH_DONE);
    }
    await_free_everywhere("r");
}

/* What the third one has not answered yet needs no release of its own, which would be sent as text.
 */
static void a_release_is_sent_once(void **state)
{
    latch_lease *lease = make_lease("r");

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    redis_forget_calls();
    for (int round = 0; round < 100; round++) {
        assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    }
    assert_in_range(redis_count_calls("evalsha"), 2 * 2 * 100, 3 * 2 * 100);
    assert_in_range(redis_count_calls("eval"), 0, 50); /* where it was too far behind */
}

/* Sends a release in the third one that nobody looks after any more. */
static void leave_release(latch_lease *lease)
{
    latch_op op;

    redis_send(&op, part_of(lease, 2), redis_request(LATCH_RELEASE));
    assert_true(latch_op_detach(&op));
}

/* The lease stays, and nobody asks for anything by it. */
static void a_release_that_was_left_arrives_at_a_server_that_does_not_know_the_script(void **state)
{
    latch_lease *lease = make_lease("r"), *other = make_lease("s");

    (void) state;
    unit_redis_ask("SCRIPT FLUSH");
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    redis_forget_calls();
    leave_release(lease);
    UNIT_AWAIT(is_free_in(2, "r"));
    assert_int_equal(redis_count_calls("eval"), 1);

    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    await_third(other);
    assert_int_equal(redis_run(part_of(other, 2), LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(redis_run(other, LATCH_ACQUIRE), LATCH_DONE);
    await_third(other);
    redis_forget_calls();
    leave_release(other);
    UNIT_AWAIT(is_free_in(2, "s"));
    assert_int_equal(redis_count_calls("eval"), 0); /* it is known to know it by now */
}

static void a_script_that_a_server_has_is_not_sent_to_it(void **state)
{
    latch_lease *lease = make_lease("r"), *stranger = redis_lease("s");

    (void) state;
    assert_int_equal(redis_run(stranger, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_run(stranger, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    redis_forget_calls();
    leave_release(lease);
    UNIT_AWAIT(is_free_in(2, "r"));
    assert_int_equal(redis_count_calls("eval"), 0);
}

static int64_t uptime_ns(void)
{
    const char *field = strstr(unit_redis_text("INFO server"), "uptime_in_seconds:");

    return strtoll(field + strlen("uptime_in_seconds:"), NULL, 10) * LATCH_NS_PER_S;
}

static void servers_tell_how_old_they_are(void **state)
{
    latch_lease *lease = make_lease("r");
    int64_t age_ns, least_ns;

    (void) state;
    assert_int_equal(quorum.members[0]->class->server_start_ns(quorum.members[0]), INT64_MIN);
    UNIT_AWAIT((least_ns = uptime_ns()) > 0);
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_run(part_of(lease, 0), LATCH_PROBE), LATCH_DONE);
    age_ns = unit_now_ns() - quorum.members[0]->class->server_start_ns(quorum.members[0]);
    assert_in_range(age_ns, least_ns, uptime_ns() + LATCH_NS_PER_S);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    redis_forget_calls();
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_count_calls("info"), 0); /* once is enough */
}

static void servers_of_a_quorum_tell_it_on_each_connection_before_they_are_relied_on(void **state)
{
    latch_lease *lease = make_lease("r"), *alone = redis_lease("s");

    (void) state;
    redis_forget_calls();
    assert_int_equal(redis_run(alone, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_count_calls("info"), 0); /* where it does not matter */
    redis_forget_calls();
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(redis_count_calls("info") >= 2);
    await_third(lease);
    redis_forget_calls();
    unit_redis_ask("CLIENT KILL TYPE normal");
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(redis_count_calls("info") >= 2);
}

/* Each server is asked for its age on its first connection; from then on it is what a test says. */
static void set_ages(bool first_is_old, bool second_is_old, bool third_is_old)
{
    const bool is_old[3] = {first_is_old, second_is_old, third_is_old};

    for (size_t at = 0; at < 3; at++) {
        ((redis_store *) quorum.members[at])->started_ns =
            is_old[at] ? unit_now_ns() - 2 * MINUTE * LATCH_NS_PER_MS : unit_now_ns();
    }
}

static void meet_servers(void)
{
    latch_lease *lease = make_lease("meeting");

    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    await_third(lease);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
}

static latch_status acquire_beside_a_stranger_in(size_t member)
{
    latch_lease *lease = make_lease("r");
    latch_lease *stranger = redis_lease_in(quorum.members[member], "r");
    latch_status status;

    assert_int_equal(redis_run(stranger, LATCH_ACQUIRE), LATCH_DONE);
    status = redis_run(lease, LATCH_ACQUIRE);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_int_equal(redis_run(stranger, LATCH_RELEASE), LATCH_DONE);
    latch_lease_drop(stranger);
    stranger->store = NULL;
    await_free_everywhere("r");
    return status;
}

/* Its grant would complete a majority beside that of a holder who relies on what it has forgotten.
 */
static void a_server_that_was_restarted_alone_does_not_count(void **state)
{
    (void) state;
    meet_servers();
    set_ages(true, true, false);
    assert_int_equal(acquire_beside_a_stranger_in(1), LATCH_CONFLICT);
    assert_int_equal(acquire_beside_a_stranger_in(2), LATCH_DONE);
    set_ages(true, false, false);
    assert_int_equal(acquire_beside_a_stranger_in(0), LATCH_DONE);
    set_ages(false, false, false);
    assert_int_equal(acquire_beside_a_stranger_in(1), LATCH_DONE);
}

/* Of two servers and a store that tells no age; the second one is a stranger's. */
static void beside_other_members_new_servers_count_unless_one_is_old(void **state)
{
    const latch_store_options options = {.strategy = &latch_consensus,
                                         .members = quorum.members,
                                         .member_count = 3};

    (void) state;
    latch_store_close(quorum.store);
    quorum.memory = latch_store_open(unit.engine, "in-memory", NULL, &unit.error);
    assert_non_null(quorum.memory);
    quorum.members[1] = quorum.memory;
    quorum.store = latch_store_open(unit.engine, "combined", &options, &unit.error);
    assert_non_null(quorum.store);
    /* new servers, and one is taken */
    assert_int_equal(acquire_beside_a_stranger_in(0), LATCH_DONE);
    ((redis_store *) quorum.members[0])->started_ns = unit_now_ns() - 2 * MINUTE * LATCH_NS_PER_MS;
    assert_int_equal(acquire_beside_a_stranger_in(0), LATCH_CONFLICT);
    assert_int_equal(acquire_beside_a_stranger_in(2), LATCH_DONE);
}

/* The third server takes what is sent, and says nothing. */
static void a_silent_server_is_not_waited_for(void **state)
{
    latch_lease *lease = make_lease("r");

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_true(latch_wants(latch_lease_vote(lease, 2).status));
    assert_int_equal(redis_run_for(lease, LATCH_REFRESH, MINUTE), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    assert_true(is_free_in(0, "r") && is_free_in(1, "r"));
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
}

static void a_server_that_stays_silent_is_not_asked_without_end(void **state)
{
    latch_lease *lease = make_lease("r");
    int64_t give_up_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    (void) state;
    while (quorum.members[2]->breaker.open_until_ns
           == 0) { /* its time-out has come, though nobody waits */
        UNIT_CHECK(unit_now_ns() < give_up_ns);
        assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    }
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_non_null(strstr(latch_lease_vote(lease, 2).error->message, "not asked"));
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
}

/* By which a key goes from process to process: each server must know it by the same. */
static void expect_one_token(const latch_lease *lease)
{
    UNIT_CHECK(strcmp(part_of(lease, 1)->token, part_of(lease, 0)->token) == 0);
    UNIT_CHECK(strcmp(part_of(lease, 2)->token, part_of(lease, 0)->token) == 0);
}

static void acquire_in_child(unit_process *self, void *argument)
{
    (void) self;
    UNIT_CHECK(redis_run(argument, LATCH_ACQUIRE) == LATCH_CONFLICT);
    expect_one_token(argument);
}

static void a_child_has_one_token_of_its_own(void **state)
{
    latch_lease *lease = make_lease("r");
    unit_process child;

    (void) state;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(part_of(lease, 2)->detached != NULL);
    child = unit_fork(acquire_in_child, lease);
    unit_join(&child);
    expect_one_token(lease);
}

static void a_server_that_is_silent_does_not_keep_an_old_token(void **state)
{
    latch_lease *lease = make_lease("r");

    (void) state;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    quorum.members[2]->unacknowledged += 1000;
    assert_int_equal(redis_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    expect_one_token(lease);
    quorum.members[2]->unacknowledged -= 1000;
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
}

/* Nobody awaits it any more, as the lock object is gone, too. */
static void a_release_that_is_lost_is_sent_again(void **state)
{
    latch_lease *lease = make_lease("r"), *third = part_of(lease, 2);
    latch_lease *other = part_of(make_lease("s"), 2);
    latch_op op;

    (void) state;
    redis_send(&op, third, redis_request(LATCH_ACQUIRE));
    assert_int_equal(redis_wire_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_int_equal(redis_run(lease, LATCH_RELEASE), LATCH_DONE);
    latch_lease_drop(third);
    redis_wire_cut();
    assert_false(is_free_in(0, "r"));
    redis_send(&op, other, redis_request(LATCH_ACQUIRE));
    assert_int_equal(redis_wire_finish(&op, LATCH_WANT_IO), LATCH_DONE);
    assert_true(is_free_in(0, "r"));
}

int main(void)
{
#define QUORUM_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define WIRED_TEST(test) cmocka_unit_test_setup_teardown(test, setup_wired, teardown)
    const struct CMUnitTest tests[] = {
        QUORUM_TEST(a_lock_is_taken_in_all_servers_by_one_token),
        QUORUM_TEST(a_minority_that_somebody_else_holds_does_not_matter),
        QUORUM_TEST(what_a_minority_granted_is_given_back),
        QUORUM_TEST(a_key_that_was_handed_over_holds_in_all_servers),
        QUORUM_TEST(a_key_that_was_handed_over_is_held_when_it_is_renewed),
        QUORUM_TEST(parts_that_are_held_by_themselves_keep_their_tokens),
        QUORUM_TEST(a_part_that_was_released_by_itself_comes_back_to_the_common_token),
        QUORUM_TEST(a_release_that_nobody_awaits_goes_to_all),
        QUORUM_TEST(a_release_is_sent_once),
        QUORUM_TEST(a_release_that_was_left_arrives_at_a_server_that_does_not_know_the_script),
        QUORUM_TEST(a_script_that_a_server_has_is_not_sent_to_it),
        QUORUM_TEST(servers_tell_how_old_they_are),
        QUORUM_TEST(servers_of_a_quorum_tell_it_on_each_connection_before_they_are_relied_on),
        QUORUM_TEST(a_server_that_was_restarted_alone_does_not_count),
        QUORUM_TEST(beside_other_members_new_servers_count_unless_one_is_old),
        WIRED_TEST(a_silent_server_is_not_waited_for),
        WIRED_TEST(a_child_has_one_token_of_its_own),
        WIRED_TEST(a_server_that_is_silent_does_not_keep_an_old_token),
        WIRED_TEST(a_release_that_is_lost_is_sent_again),
        WIRED_TEST(a_server_that_stays_silent_is_not_asked_without_end),
    };

    return cmocka_run_group_tests(tests, unit_redis_group_setup, unit_redis_group_teardown);
}
