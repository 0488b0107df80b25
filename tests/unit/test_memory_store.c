/* The in-memory store: who may hold what beside whom, by token; and the null store. */
#include "unit.h"

#include <stdlib.h>

static void an_exclusive_lock_excludes_everybody_else(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_CONFLICT);
    assert_true(unit_held(holder));
    assert_false(unit_held(other));
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_run(other, LATCH_PROBE), LATCH_CONFLICT);
    unit_release(holder);
    assert_false(unit_held(holder));
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
}

static void resources_are_bytes_and_do_not_touch_each_other(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } resources[] = {
        {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"a\0c", 3}, {"", 0}, {"A", 1},
    };

    (void) state;
    for (int at = 0; at < 6; at++) {
        latch_lease *lease = unit_lease_on(resources[at].bytes, resources[at].length);

        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    }
}

static void readers_share_and_keep_a_writer_out(void **state)
{
    latch_lease *readers[3] = {unit_lease("r"), unit_lease("r"), unit_lease("r")};
    latch_lease *writer = unit_lease("r");

    (void) state;
    for (int at = 0; at < 3; at++) {
        assert_int_equal(unit_run(readers[at], LATCH_ACQUIRE_SHARED), LATCH_DONE);
        assert_int_equal(readers[at]->mode, LATCH_SHARED);
    }
    for (int at = 0; at < 3; at++) { /* from the middle, the end, the beginning */
        assert_int_equal(unit_run(writer, LATCH_ACQUIRE), LATCH_CONFLICT);
        assert_int_equal(unit_run(readers[(at + 1) % 3], LATCH_RELEASE), LATCH_DONE);
        assert_false(unit_held(readers[(at + 1) % 3]));
    }
    assert_int_equal(unit_run(writer, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_lone_reader_is_promoted_others_conflict(void **state)
{
    latch_lease *one = unit_lease("r"), *two = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(one, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(one, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(one->mode, LATCH_SHARED); /* and keeps what it had */
    assert_true(unit_held(one));
    unit_release(two);
    assert_int_equal(unit_run(one, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(one->mode, LATCH_EXCLUSIVE);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE_SHARED), LATCH_CONFLICT);
}

static void a_writer_is_demoted_and_lets_readers_in(void **state)
{
    latch_lease *one = unit_lease("r"), *two = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(one, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(one, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(one->mode, LATCH_SHARED);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void acquiring_again_changes_nothing(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");
    size_t live;

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    live = unit.live;
    for (int at = 0; at < 3; at++) {
        assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    }
    assert_int_equal(unit.live, live);
    unit_release(holder); /* once is enough */
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    live = unit.live;
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit.live, live);
    unit_release(other);
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
}

static void adopt(latch_lease *lease, const char *token, size_t length)
{
    assert_int_equal(latch_lease_adopt_token(lease, token, length, &unit.error), LATCH_DONE);
}

static void who_has_the_token_has_the_lock(void **state)
{
    latch_lease *holder = unit_lease("r"), *copy = unit_lease("r"), *thief = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(latch_lease_make_token(holder, &unit.error), LATCH_DONE);
    adopt(copy, holder->token, LATCH_TOKEN_LENGTH);
    adopt(thief, holder->token, LATCH_TOKEN_LENGTH - 1);
    assert_int_equal(unit_run(copy, LATCH_PROBE), LATCH_DONE);
    assert_true(unit_held(copy));
    assert_int_equal(unit_run(copy, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(thief, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(unit_run(thief, LATCH_RELEASE), LATCH_DONE);
    assert_true(unit_held(holder));
    unit_release(copy);
    assert_false(unit_held(holder)); /* released by its copy */
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(unit_run(thief, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(holder); /* frees nobody else's lock */
    assert_true(unit_held(thief));
}

static void a_release_of_nothing_succeeds(void **state)
{
    latch_lease *holder = unit_lease("r");

    (void) state;
    unit_release(holder); /* of nothing: succeeds */
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(holder);
    unit_release(holder);
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_CONFLICT);
}

static void a_token_is_made_on_demand_and_an_empty_one_owns_nothing(void **state)
{
    latch_lease *holder = unit_lease("r"), *thief = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_null(holder->token); /* most keys are never handed over */
    assert_int_equal(unit_run(thief, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(latch_lease_adopt_token(thief, "", 0, &unit.error), LATCH_ERROR_ARGUMENT);
    assert_int_equal(unit_run(thief, LATCH_RELEASE), LATCH_DONE);
    assert_true(unit_held(holder));
}

static void a_dropped_lease_leaves_the_lock_to_copies_of_its_key(void **state)
{
    latch_lease *holder = unit_lease("r"), *copy = unit_lease("r"), *other = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(latch_lease_make_token(holder, &unit.error), LATCH_DONE);
    adopt(copy, holder->token, LATCH_TOKEN_LENGTH);
    latch_lease_drop(holder);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_true(unit_held(copy));
    unit_release(copy);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
}

static void a_dropped_lease_without_a_copy_locks_for_ever(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    latch_lease_drop(holder);                     /* as with Symfony's InMemoryStore */
    latch_lease_init(holder, unit.store, "r", 1); /* another one that happens to lie there */
    assert_int_equal(latch_lease_make_token(holder, &unit.error), LATCH_DONE);
    assert_int_equal(unit_run(holder, LATCH_PROBE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_release(other);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_CONFLICT);
}

static void holds_never_expire(void **state)
{
    latch_lease *holder = unit_lease("r");
    latch_request request = unit_request(LATCH_ACQUIRE);

    (void) state;
    request.ttl_ms = 10;
    assert_int_equal(unit_run_request(holder, request), LATCH_DONE);
    assert_int_equal(holder->deadline_ns, LATCH_NEVER);
    unit.now_ns += 1000 * LATCH_NS_PER_S;
    assert_true(unit_held(holder));
    request.kind = LATCH_REFRESH;
    assert_int_equal(unit_run_request(holder, request), LATCH_DONE);
    assert_int_equal(holder->deadline_ns, LATCH_NEVER);
}

static void an_endless_wait_for_oneself_is_a_deadlock_that_is_named(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run_waiting(other, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_DEADLOCK);
    assert_int_equal(unit.error.status, LATCH_ERROR_DEADLOCK);
    assert_string_equal(unit.error.message,
                        "the lock is held by this very thread, through another key");
    assert_false(other->busy);
    assert_int_equal(unit_run(other, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run_waiting(other, LATCH_ACQUIRE, LATCH_NEVER), LATCH_ERROR_DEADLOCK);
    assert_true(unit_held(other)); /* the shared lock is kept */
    unit_release(holder);
    assert_int_equal(unit_run_waiting(other, LATCH_ACQUIRE, LATCH_NEVER), LATCH_DONE);
}

static void a_timed_wait_ends_at_its_deadline(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");
    int64_t start_ns = unit.now_ns;

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run_waiting(other, LATCH_ACQUIRE, 250), LATCH_CONFLICT);
    assert_int_equal(unit.now_ns, start_ns + 250 * LATCH_NS_PER_MS);
}

static void a_timed_wait_ends_when_the_holder_releases(void **state)
{
    latch_lease *holder = unit_lease("r"), *other = unit_lease("r");
    latch_op op;

    (void) state;
    assert_int_equal(unit_run(holder, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_begin(&op, other, unit_waiting(LATCH_ACQUIRE, 250)), LATCH_WANT_TIMER);
    unit_release(holder);
    assert_int_equal(unit_finish(&op, LATCH_WANT_TIMER), LATCH_DONE);
    assert_true(unit_held(other));
}

static void two_stores_know_nothing_of_each_other(void **state)
{
    latch_lease *here = unit_lease("r"), there;
    latch_store *store = unit_open("in-memory");

    (void) state;
    latch_lease_init(&there, store, "r", 1);
    assert_int_equal(unit_run(here, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run(&there, LATCH_ACQUIRE), LATCH_DONE);
    latch_lease_drop(&there);
    latch_store_close(store); /* with a lock in it: unit_teardown() finds what it leaves */
}

/* Symfony's rules in four lines, beside which the store is run with random requests. */
static void random_requests_are_answered_as_a_model_says(void **state)
{
    enum { COUNT = 4 };
    latch_lease *leases[COUNT];
    latch_mode modes[COUNT] = {LATCH_FREE};

    (void) state;
    for (int at = 0; at < COUNT; at++) {
        leases[at] = unit_lease("r");
    }
    srand(3);
    for (int round = 0; round < 20000; round++) {
        int who = rand() % COUNT;
        latch_op_kind kind = (latch_op_kind[]){LATCH_ACQUIRE, LATCH_ACQUIRE_SHARED, LATCH_RELEASE,
                                               LATCH_PROBE}[rand() % 4];
        bool others_hold = false, others_write = false;
        latch_status expected = LATCH_DONE;

        for (int at = 0; at < COUNT; at++) {
            others_hold |= at != who && modes[at] != LATCH_FREE;
            others_write |= at != who && modes[at] == LATCH_EXCLUSIVE;
        }
        if ((kind == LATCH_ACQUIRE && others_hold) || (kind == LATCH_ACQUIRE_SHARED && others_write)
            || (kind == LATCH_PROBE && modes[who] == LATCH_FREE)) {
            expected = LATCH_CONFLICT;
        } else if (kind != LATCH_PROBE) {
            modes[who] = kind == LATCH_ACQUIRE          ? LATCH_EXCLUSIVE
                         : kind == LATCH_ACQUIRE_SHARED ? LATCH_SHARED
                                                        : LATCH_FREE;
        }
        assert_int_equal(unit_run(leases[who], kind), expected);
        for (int at = 0; at < COUNT; at++) {
            assert_int_equal(leases[at]->mode, modes[at]);
            assert_int_equal(unit_held(leases[at]), modes[at] != LATCH_FREE);
        }
    }
}

/* ---- The null store ------------------------------------------------------------------------- */

static void the_null_store_grants_everything_and_holds_nothing(void **state)
{
    latch_lease *one = unit_lease("r"), *two = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(one, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unit_run_waiting(two, LATCH_ACQUIRE, LATCH_NEVER), LATCH_DONE);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(two, LATCH_REFRESH), LATCH_DONE);
    assert_false(unit_held(one));
    assert_false(unit_held(two));
    assert_int_equal(unit_run(one, LATCH_PROBE), LATCH_CONFLICT);
    assert_false(one->lost);
    unit_release(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(an_exclusive_lock_excludes_everybody_else, setup_memory),
        UNIT_TEST(resources_are_bytes_and_do_not_touch_each_other, setup_memory),
        UNIT_TEST(readers_share_and_keep_a_writer_out, setup_memory),
        UNIT_TEST(a_lone_reader_is_promoted_others_conflict, setup_memory),
        UNIT_TEST(a_writer_is_demoted_and_lets_readers_in, setup_memory),
        UNIT_TEST(acquiring_again_changes_nothing, setup_memory),
        UNIT_TEST(who_has_the_token_has_the_lock, setup_memory),
        UNIT_TEST(a_release_of_nothing_succeeds, setup_memory),
        UNIT_TEST(a_token_is_made_on_demand_and_an_empty_one_owns_nothing, setup_memory),
        UNIT_TEST(a_dropped_lease_leaves_the_lock_to_copies_of_its_key, setup_memory),
        UNIT_TEST(a_dropped_lease_without_a_copy_locks_for_ever, setup_memory),
        UNIT_TEST(holds_never_expire, setup_memory),
        UNIT_TEST(an_endless_wait_for_oneself_is_a_deadlock_that_is_named, setup_memory),
        UNIT_TEST(a_timed_wait_ends_at_its_deadline, setup_memory),
        UNIT_TEST(a_timed_wait_ends_when_the_holder_releases, setup_memory),
        UNIT_TEST(two_stores_know_nothing_of_each_other, setup_memory),
        UNIT_TEST(random_requests_are_answered_as_a_model_says, setup_memory),
        UNIT_TEST(the_null_store_grants_everything_and_holds_nothing, setup_null),
    };

    return cmocka_run_group_tests_name("memory and null store", tests, NULL, NULL);
}
