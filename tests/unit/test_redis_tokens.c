/*
 * The tokens of the Redis store: each is one process's, and is used for one hold at a time. Who has
 * another's would give back what is not his, or hold beside him.
 */
#include "redis_store.h"

static latch_lease *lease;
static latch_op in_flight;

static void connect_to_server(void)
{
    UNIT_CHECK(redis_run(redis_lease("other"), LATCH_ACQUIRE) == LATCH_DONE);
}

static void adopt(latch_lease *other, const char *token)
{
    UNIT_CHECK(latch_lease_set_token(other, token, strlen(token), &unit.error) == LATCH_DONE);
}

/* What was on its way, and what is owed, comes before this. */
static void await_all(void)
{
    redis_let_server_go();
    UNIT_CHECK(redis_run(redis_lease("another"), LATCH_ACQUIRE_SHARED) == LATCH_DONE);
}

/* ---- In one process */

static void a_token_whose_release_is_on_its_way_takes_no_lock(void **state)
{
    char token[LATCH_TOKEN_MAX + 1];
    latch_op op;

    (void) state;
    connect_to_server();
    lease = redis_lease("r");
    redis_hold_server();
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    snprintf(token, sizeof(token), "%s", lease->token);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    redis_let_server_go();
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(strcmp(lease->token, token) != 0);
}

/* The hold of whoever handed the key over has been released. What comes then is the lease's own. */
static void a_token_that_was_handed_over_is_ones_own_after_a_release(void **state)
{
    latch_op op;

    (void) state;
    connect_to_server();
    lease = redis_lease("r");
    adopt(lease, "a token from elsewhere");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    redis_hold_server();
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    await_all();
    UNIT_CHECK(redis_is_free("r"));
}

/* ---- In a forked process */

static void cancel_own_acquire(unit_process *self, void *argument)
{
    latch_op op;

    (void) argument;
    connect_to_server();
    unit_say(self, 'y');
    unit_expect(self, 'g'); /* the server does nothing now */
    redis_send(&op, lease, redis_request(LATCH_ACQUIRE));
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    await_all();
}

static void a_child_has_a_token_of_its_own_in_place_of_one_that_was_handed_over(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    adopt(lease, "a token from elsewhere");
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    child = unit_fork(cancel_own_acquire, NULL);
    unit_expect(&child, 'y');
    redis_hold_server();
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(redis_is_free("r"));
}

static void find_nothing_lost(unit_process *self, void *argument)
{
    static const latch_op_kind kinds[] = {LATCH_PROBE, LATCH_REFRESH};

    (void) self;
    UNIT_CHECK(redis_run(lease, kinds[*(int *) argument]) == LATCH_CONFLICT);
    UNIT_CHECK(!lease->lost && lease->mode == LATCH_FREE);
}

static void a_child_has_not_lost_what_its_parent_holds(void **state)
{
    (void) state;
    lease = redis_lease("r");
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    for (int kind = 0; kind < 2; kind++) {
        unit_process child = unit_fork(find_nothing_lost, &kind);

        unit_join(&child);
    }
}

static void cancel_in_flight(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    await_all(); /* with a connection of its own */
    UNIT_CHECK(unit_cancel(&in_flight) == LATCH_CONFLICT);
    await_all();
}

static void a_child_gives_up_nothing_of_its_parents(void **state)
{
    unit_process child;

    (void) state;
    connect_to_server();
    lease = redis_lease("r");
    redis_hold_server();
    redis_send(&in_flight, lease, redis_request(LATCH_ACQUIRE));
    child = unit_fork(cancel_in_flight, NULL);
    unit_join(&child);
    UNIT_CHECK(unit_finish(&in_flight, LATCH_WANT_IO) == LATCH_DONE);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE && unit_held(lease));
}

static void acquire_and_hold(unit_process *self, void *argument)
{
    (void) argument;
    unit.random_state += 1; /* what processes really draw differs */
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'y');
    unit_expect(self, 'g');
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE);
}

static void what_is_handed_on_is_a_hold_and_not_its_token_alone(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    child = unit_fork(acquire_and_hold, NULL);
    unit_expect(&child, 'y');
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT && !unit_held(lease));
    unit_say(&child, 'g');
    unit_join(&child);
}

static void release_later(unit_process *self, void *argument)
{
    (void) argument;
    unit_expect(self, 'g');
    unit.ahead_ns += MINUTE * LATCH_NS_PER_MS;
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

/* It cannot know for how long, but may give it back. */
static void what_was_handed_on_may_have_been_renewed_by_the_other_process(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(release_later, NULL);
    UNIT_CHECK(redis_run_for(lease, LATCH_REFRESH, 3 * MINUTE) == LATCH_DONE);
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(redis_is_free("r"));
}

static void hold_when_renewed(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE && unit_held(lease));
}

/* The other one may have released it. */
static void neither_process_is_certain_of_what_was_handed_on(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
    child = unit_fork(hold_when_renewed, NULL);
    unit_join(&child);
    UNIT_CHECK(!unit_held(lease));
    UNIT_CHECK(redis_run(lease, LATCH_REFRESH) == LATCH_DONE && unit_held(lease));
}

static void await_expiry(void)
{
    UNIT_AWAIT(!unit_held(lease) && redis_is_free("r"));
}

static void release_what_has_expired(unit_process *self, void *argument)
{
    (void) argument;
    unit_expect(self, 'g');
    UNIT_CHECK(redis_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

static void what_is_taken_after_an_expired_hold_is_the_other_processs_no_more(void **state)
{
    unit_process child;

    (void) state;
    lease = redis_lease("r");
    lease->inherit = true;
    UNIT_CHECK(redis_run_for(lease, LATCH_ACQUIRE, 20) == LATCH_DONE);
    child = unit_fork(release_what_has_expired, NULL);
    await_expiry();
    UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(redis_run(lease, LATCH_PROBE) == LATCH_DONE && unit_held(lease));
}

static void do_nothing(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
}

/* The server's clock may be behind: one's own hold, which it has yet, is in nobody's way. */
static void a_hold_that_has_expired_here_alone_is_taken_again(void **state)
{
    (void) state;
    for (int inherit = 0; inherit < 2; inherit++) {
        lease = redis_lease(inherit ? "r" : "s");
        lease->inherit = inherit;
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        if (!inherit) {
            unit_process child = unit_fork(do_nothing, NULL);

            unit_join(&child);
        }
        unit.ahead_ns += MINUTE * LATCH_NS_PER_MS;
        UNIT_CHECK(!unit_held(lease));
        UNIT_CHECK(redis_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(a_token_whose_release_is_on_its_way_takes_no_lock),
        REDIS_TEST(a_token_that_was_handed_over_is_ones_own_after_a_release),
        REDIS_TEST(a_child_has_a_token_of_its_own_in_place_of_one_that_was_handed_over),
        REDIS_TEST(a_child_has_not_lost_what_its_parent_holds),
        REDIS_TEST(a_child_gives_up_nothing_of_its_parents),
        REDIS_TEST(what_is_handed_on_is_a_hold_and_not_its_token_alone),
        REDIS_TEST(what_was_handed_on_may_have_been_renewed_by_the_other_process),
        REDIS_TEST(neither_process_is_certain_of_what_was_handed_on),
        REDIS_TEST(what_is_taken_after_an_expired_hold_is_the_other_processs_no_more),
        REDIS_TEST(a_hold_that_has_expired_here_alone_is_taken_again),
    };

    return cmocka_run_group_tests_name("redis tokens", tests, unit_redis_group_setup,
                                       unit_redis_group_teardown);
}
