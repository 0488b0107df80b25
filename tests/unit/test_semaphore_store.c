/* The semaphore store by itself: keys, hand-overs, and that nothing stays in the system. */
#include "semaphores.h"

#include <errno.h>
#include <time.h>

#define R unit_semaphore_resource()

static bool exists(void)
{
    return unit_semaphore_set(R) >= 0;
}

static void only_the_digests_of_symfony_will_do(void **state)
{
    const latch_store_options options = {.digest = LATCH_SHA256};

    (void) state;
    assert_null(latch_store_open(unit.engine, "semaphore", NULL, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
    assert_null(latch_store_open(unit.engine, "semaphore", &options, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_ARGUMENT);
}

static void a_project_goes_before_the_resource(void **state)
{
    const latch_store_options options = {.project = "pro\0ject",
                                         .project_length = 8,
                                         .digest = LATCH_MD5};
    latch_store *store = latch_store_open(unit.engine, "semaphore", &options, &unit.error);
    const struct iovec part = {(void *) "pro\0jectlatch r", 15};
    uint8_t digest[LATCH_DIGEST_MAX];
    latch_lease lease, *same_name = unit_lease("latch r");
    key_t key;

    (void) state;
    assert_non_null(store);
    latch_lease_init(&lease, store, "latch r", 7);
    UNIT_CHECK(unit_run(&lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_digest(NULL, LATCH_MD5, &part, 1, digest);
    memcpy(&key, digest, sizeof(key));
    UNIT_CHECK(semget(key, 3, 0) >= 0);
    UNIT_CHECK(unit_run(same_name, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(same_name);
    latch_lease_drop(&lease);
    UNIT_CHECK(semget(key, 3, 0) < 0);
    latch_store_close(store);
}

static void digest_of_zeros(void *context, latch_digest kind, const struct iovec *parts,
                            int part_count, uint8_t digest[LATCH_DIGEST_MAX])
{
    (void) context;
    (void) kind;
    (void) parts;
    (void) part_count;
    memset(digest, 0, LATCH_DIGEST_MAX);
}

/* The key 0 is IPC_PRIVATE: semget(2) would make a new set each time, and nobody be excluded. */
static void a_digest_of_zeros_is_no_private_set(void **state)
{
    latch_env env = unit.env;
    latch_engine *engine;
    latch_lease *one, *two;

    (void) state;
    env.digest = digest_of_zeros;
    engine = unit.engine;
    unit.engine = latch_engine_create(&env, &unit.error);
    latch_engine_destroy(engine);
    unit.store = unit_open("semaphore");
    one = unit_lease(R);
    two = unit_lease(R);
    UNIT_CHECK(unit_run(one, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(two, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_release(one);
}

/* ---- Waits */

static void wait_and_hold(unit_process *self, void *unused)
{
    latch_lease *lease = unit_lease(R);

    (void) unused;
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
    unit_release(lease);
}

static void a_release_hands_the_set_to_who_waits(void **state)
{
    latch_lease *lease = unit_lease(R);
    unit_process waiter;
    int set;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    set = unit_semaphore_set(R);
    waiter = unit_fork(wait_and_hold, NULL);
    unit_await_semaphore_sleepers(set, 1);
    unit_release(lease);
    unit_expect(&waiter, 'h');
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_say(&waiter, 'g');
    unit_join(&waiter);
    UNIT_CHECK(!exists());
}

static void a_killed_holder_lets_the_waiter_in(void **state)
{
    latch_lease *lease = unit_lease(R);
    unit_process other = unit_semaphore_holder();
    latch_op op;
    latch_status status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));

    (void) state;
    UNIT_CHECK(status == LATCH_WANT_TIMER);
    unit_kill(&other);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(!exists());
}

static void a_wait_that_is_given_up_takes_nothing(void **state)
{
    latch_lease *lease = unit_lease(R);
    unit_process other = unit_semaphore_holder();
    latch_op op;

    (void) state;
    UNIT_CHECK(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER))
               == LATCH_WANT_TIMER);
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_TIMER);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease));
    unit_kill(&other);
    UNIT_CHECK(exists()); /* left by the kill */
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(!exists());
}

/* A set that was handed over to a waiter who gave up in that moment is nobody's to remove. */
static void who_gives_up_removes_the_set_that_was_handed_to_him(void **state)
{
    latch_lease *lease = unit_lease(R);
    unit_process other = unit_semaphore_holder();
    latch_op op;

    (void) state;
    UNIT_CHECK(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER))
               == LATCH_WANT_TIMER);
    unit_kill(&other); /* leaves the set free, as a hand-over does */
    UNIT_CHECK(exists());
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT);
    UNIT_CHECK(!exists());
}

/* ---- Trouble */

static void a_set_that_was_removed_is_a_lost_lock(void **state)
{
    latch_lease *lease = unit_lease(R);

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(semctl(unit_semaphore_set(R), 0, IPC_RMID) == 0);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(!unit_held(lease));

    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(semctl(unit_semaphore_set(R), 0, IPC_RMID) == 0);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(exists());
    UNIT_CHECK(semctl(unit_semaphore_set(R), 0, IPC_RMID) == 0);
    unit_release(lease);
}

static void a_lost_lock_that_somebody_else_has_is_not_held_in_any_mode(void **state)
{
    latch_lease *lease = unit_lease(R);
    unit_process other;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(semctl(unit_semaphore_set(R), 0, IPC_RMID) == 0);
    other = unit_semaphore_holder();
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    assert_int_equal(lease->mode, LATCH_FREE);
    UNIT_CHECK(!unit_held(lease));
    unit_kill(&other);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
}

static void another_programs_set_is_an_error_that_names_the_key(void **state)
{
    key_t key = unit_semaphore_key(R);
    int set = semget(key, 1, IPC_CREAT | 0600);
    char expected[64];

    (void) state;
    UNIT_CHECK(set >= 0);
    UNIT_CHECK(unit_run(unit_lease(R), LATCH_ACQUIRE) == LATCH_ERROR_SYSTEM);
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
    snprintf(expected, sizeof(expected), "for the System V key 0x%08x", (unsigned) key);
    assert_non_null(strstr(unit.error.message, expected));
    assert_non_null(strstr(unit.error.message, "another program uses the key"));
    assert_int_equal(unit.error.sys_errno, EINVAL);
}

static int failing_errno;

static int fail_semget(key_t key, int flags)
{
    (void) key;
    (void) flags;
    errno = failing_errno;
    return -1;
}

static void a_failing_semget_is_an_error_with_the_reason(void **state)
{
    static const struct {
        int sys_errno;
        const char *hint;
    } cases[] = {
        {ENOSPC, "sysctl kernel.sem"},
        {EACCES, "belongs to another user"},
        {ENOMEM, "Cannot allocate memory"},
    };

    (void) state;
    unit_calls.on_semget = fail_semget;
    for (size_t at = 0; at < 3; at++) {
        failing_errno = cases[at].sys_errno;
        UNIT_CHECK(unit_run(unit_lease(R), LATCH_ACQUIRE) == LATCH_ERROR_SYSTEM);
        assert_int_equal(unit.error.sys_errno, failing_errno);
        assert_non_null(strstr(unit.error.message, cases[at].hint));
    }
    /* It comes and goes under our hands: the acquire ends. */
    failing_errno = ENOENT;
    UNIT_CHECK(unit_run(unit_lease(R), LATCH_ACQUIRE) == LATCH_CONFLICT);
}

/* ---- What kills leave behind */

static void set_wall_clock(int64_t ahead_s)
{
    unit.wall_ns = ((int64_t) time(NULL) + ahead_s) * LATCH_NS_PER_S;
}

static void open_another_store(void)
{
    latch_store *store = unit_open("semaphore");

    assert_non_null(store);
    latch_store_close(store);
}

static void opening_a_store_removes_what_killed_holders_left(void **state)
{
    unit_process other = unit_semaphore_holder();

    (void) state;
    unit_kill(&other);
    UNIT_CHECK(exists());
    set_wall_clock(0);
    open_another_store();
    UNIT_CHECK(exists()); /* too young: somebody may be about to use it */
    set_wall_clock(10);
    open_another_store();
    UNIT_CHECK(!exists());
}

/* The second holder took the set that the first one had left. */
static void sets_of_several_killed_holders_are_removed(void **state)
{
    unit_process other;

    (void) state;
    for (int at = 0; at < 2; at++) {
        other = unit_semaphore_holder();
        unit_kill(&other);
    }
    set_wall_clock(10);
    open_another_store();
    UNIT_CHECK(!exists());
}

static void a_long_lived_process_removes_them_now_and_then(void **state)
{
    unit_process other = unit_semaphore_holder();
    latch_lease *lease = unit_lease("latch other");

    (void) state;
    unit_kill(&other);
    set_wall_clock(10);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(exists());
    unit.ahead_ns += 61 * LATCH_NS_PER_S;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(!exists());
}

static void held_sets_and_those_of_others_stay(void **state)
{
    latch_lease *lease = unit_lease("latch held");
    int set = php_sem_get(unit_semaphore_key(R));

    (void) state;
    php_sem_free(set, false); /* nobody uses it, but who knows what it is for */
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    set_wall_clock(10);
    open_another_store();
    UNIT_CHECK(exists());
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    unit_release(lease);
    php_sem_remove(set);
}

/* Any program may have three semaphores, free to all, and nothing in them for the moment. */
static void an_idle_set_of_another_program_stays_as_it_is(void **state)
{
    static const unsigned short idle[][3] = {{0, 0, 0}, {1, 0, 0}, {5, 0, 0}};

    (void) state;
    set_wall_clock(10);
    for (size_t at = 0; at < sizeof(idle) / sizeof(*idle); at++) {
        int set = semget(unit_semaphore_key(R), 3, IPC_CREAT | IPC_EXCL | 0777);
        unsigned short values[3];

        UNIT_CHECK(set >= 0);
        for (int number = 0; number < 3; number++) {
            UNIT_CHECK(semctl(set, number, SETVAL, (int) idle[at][number]) == 0);
        }
        open_another_store();
        UNIT_CHECK(unit_semaphore_set(R) == set);
        unit_semaphore_values(set, values);
        assert_memory_equal(values, idle[at], sizeof(values));
        UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(only_the_digests_of_symfony_will_do, setup),
        UNIT_TEST(a_project_goes_before_the_resource, setup_semaphore),
        UNIT_TEST(a_digest_of_zeros_is_no_private_set, setup),
        UNIT_TEST(a_release_hands_the_set_to_who_waits, setup_semaphore),
        UNIT_TEST(a_killed_holder_lets_the_waiter_in, setup_semaphore),
        UNIT_TEST(a_wait_that_is_given_up_takes_nothing, setup_semaphore),
        UNIT_TEST(who_gives_up_removes_the_set_that_was_handed_to_him, setup_semaphore),
        UNIT_TEST(a_set_that_was_removed_is_a_lost_lock, setup_semaphore),
        UNIT_TEST(a_lost_lock_that_somebody_else_has_is_not_held_in_any_mode, setup_semaphore),
        UNIT_TEST(another_programs_set_is_an_error_that_names_the_key, setup_semaphore),
        UNIT_TEST(a_failing_semget_is_an_error_with_the_reason, setup_semaphore),
        UNIT_TEST(opening_a_store_removes_what_killed_holders_left, setup_semaphore),
        UNIT_TEST(sets_of_several_killed_holders_are_removed, setup_semaphore),
        UNIT_TEST(a_long_lived_process_removes_them_now_and_then, setup_semaphore),
        UNIT_TEST(held_sets_and_those_of_others_stay, setup_semaphore),
        UNIT_TEST(an_idle_set_of_another_program_stays_as_it_is, setup_semaphore),
    };

    return cmocka_run_group_tests_name("semaphore store", tests, NULL, NULL);
}
