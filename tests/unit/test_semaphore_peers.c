/*
 * The semaphore store beside peers that use PHP's sysvsem extension, at every point at which a
 * peer's calls may be interrupted.
 */
#include "semaphores.h"

#include <unistd.h>

#define R unit_semaphore_resource()
#define KEY unit_semaphore_key(R)

static latch_lease *lease;

static int setup(void **state)
{
    if (unit_setup_semaphore(state) != 0) {
        return -1;
    }
    lease = unit_lease(R);
    return 0;
}

static int teardown(void **state)
{
    if (unit_semaphore_set(R) >= 0) {
        semctl(unit_semaphore_set(R), 0, IPC_RMID);
        unit_teardown(state);
        return -1;
    }
    return unit_teardown(state);
}

static void expect_conflict(void)
{
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, 1) == LATCH_CONFLICT);
}

/* Acquires and releases, after which nothing is left. */
static void expect_free(void)
{
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(unit_semaphore_set(R) < 0);
}

/* ---- A peer, which does one step for each order */

static void obey(unit_process *self, void *unused)
{
    int set = -1;

    (void) unused;
    for (char order; (order = unit_hear(self)) != 0;) {
        struct sembuf enter[] = {{2, 0, 0}, {2, 1, SEM_UNDO}, {1, 1, SEM_UNDO}};
        bool yes = true;

        switch (order) {
            case 'm': /* the first half of sem_get(): makes the set */
                set = semget(KEY, 3, 0666 | IPC_CREAT);
                yes = set >= 0;
                break;
            case 's': /* the second: begins to set it up */
                yes = semop(set, enter, 3) == 0;
                break;
            case 'g':
                set = php_sem_get(KEY);
                break;
            case 'a':
                yes = php_sem_acquire(set, false);
                break;
            case 'A': /* Symfony's blocking save: until it has it */
                while (!php_sem_acquire(set, true)) {
                    set = php_sem_get(KEY);
                }
                break;
            case 'r':
                php_sem_remove(set);
                break;
            case 'f':
                php_sem_free(set, true);
                break;
            case 'u':
                php_sem_free(set, false);
                break;
            default:
                yes = false;
        }
        unit_say(self, yes ? 'y' : 'n');
    }
}

static unit_process peer(const char *orders)
{
    unit_process process = unit_fork(obey, NULL);

    for (; *orders != '\0'; orders++) {
        unit_say(&process, *orders);
        unit_expect(&process, 'y');
    }
    return process;
}

static bool order(const unit_process *process, char what)
{
    unit_say(process, what);
    return unit_hear(process) == 'y';
}

/* ---- Exclusion */

static void a_peer_that_holds_is_a_conflict_until_it_removes_its_set(void **state)
{
    unit_process other = peer("ga");

    (void) state;
    expect_conflict();
    UNIT_CHECK(order(&other, 'r'));
    expect_free();
    unit_join(&other);
}

static void a_peer_that_frees_its_set_without_removing_it_lets_us_in(void **state)
{
    unit_process other = peer("ga");

    (void) state;
    expect_conflict();
    UNIT_CHECK(order(&other, 'f'));
    expect_free();
    unit_join(&other);
}

static void a_peer_that_has_the_set_open_only_does_not_hold_it(void **state)
{
    unit_process other = peer("g");

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(!order(&other, 'a'));
    unit_release(lease);
    unit_join(&other);
}

static void a_peer_cannot_have_what_we_hold(void **state)
{
    unit_process other, third;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    other = peer("g");
    UNIT_CHECK(!order(&other, 'a'));
    UNIT_CHECK(order(&other, 'u')); /* as when its object goes */
    third = peer("g");
    UNIT_CHECK(!order(&third, 'a'));
    unit_release(lease);
    unit_join(&other);
    unit_join(&third);
}

static void a_peer_that_only_tried_leaves_our_lock(void **state)
{
    unit_process other;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    other = peer("g");
    unit_kill(&other);
    other = peer("gu");
    unit_join(&other);
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    other = peer("g");
    UNIT_CHECK(!order(&other, 'a'));
    unit_join(&other);
    unit_release(lease);
}

/* ---- Waits */

static void a_waiting_peer_is_handed_the_set(void **state)
{
    unit_process other;
    int set;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    other = peer("g");
    unit_say(&other, 'A');
    set = unit_semaphore_set(R);
    unit_await_semaphore_sleepers(set, 1);
    unit_release(lease);
    unit_expect(&other, 'y');
    assert_int_equal(unit_semaphore_set(R), set); /* not a new one, for which others had raced */
    expect_conflict();
    UNIT_CHECK(order(&other, 'r'));
    expect_free();
    unit_join(&other);
}

static void hold_until_killed(unit_process *self, void *unused)
{
    (void) unused;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
}

static unit_process holder(void)
{
    unit_process process = unit_fork(hold_until_killed, NULL);

    unit_expect(&process, 'h');
    return process;
}

/* The peer's use keeps the set from looking like a new one: the kernel alone frees the lock. */
static void our_death_lets_a_waiting_peer_in(void **state)
{
    unit_process ours = holder(), other = peer("g");

    (void) state;
    unit_say(&other, 'A');
    unit_await_semaphore_sleepers(unit_semaphore_set(R), 1);
    unit_kill(&ours);
    unit_expect(&other, 'y');
    UNIT_CHECK(order(&other, 'r'));
    unit_join(&other);
}

static void our_death_frees_a_set_that_was_there_before(void **state)
{
    unit_process other = peer("ga"), ours, third;

    (void) state;
    unit_kill(&other); /* leaves it free */
    ours = holder();
    third = peer("g");
    unit_kill(&ours);
    UNIT_CHECK(order(&third, 'a'));
    UNIT_CHECK(order(&third, 'r'));
    unit_join(&third);
}

static void release_late(unit_process *self, void *unused)
{
    (void) unused;
    unit_hear(self);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

static void a_childs_late_release_leaves_the_set_to_whom_it_was_handed(void **state)
{
    unit_process other, child;

    (void) state;
    lease->inherit = true;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(release_late, NULL);
    other = peer("g");
    unit_say(&other, 'A');
    unit_await_semaphore_sleepers(unit_semaphore_set(R), 1);
    unit_release(lease);
    unit_expect(&other, 'y');
    unit_say(&child, 'g');
    unit_join(&child);
    expect_conflict();
    UNIT_CHECK(order(&other, 'r'));
    unit_join(&other);
}

static void we_wait_until_a_peer_removes_its_set(void **state)
{
    unit_process other = peer("ga");
    latch_op op;
    latch_status status;

    (void) state;
    status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    UNIT_CHECK(status == LATCH_WANT_TIMER);
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_TIMER);
    UNIT_CHECK(order(&other, 'r'));
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(unit_semaphore_set(R) < 0);
    unit_join(&other);
}

/* The set most likely goes while we sleep in it, not between two slices. */
static void we_are_woken_by_a_removal(void **state)
{
    unit_process other = peer("ga");
    unit_process remover = peer("m");

    (void) state;
    unit_say(&remover, 'r');
    UNIT_CHECK(unit_run_waiting(lease, LATCH_ACQUIRE, LATCH_NEVER) == LATCH_DONE);
    unit_expect(&remover, 'y');
    unit_release(lease);
    unit_join(&other);
    unit_join(&remover);
}

/* ---- A peer that sets a set up */

static void a_set_that_was_made_and_not_set_up_is_free(void **state)
{
    unit_process other = peer("m");
    unsigned short values[3];

    (void) state;
    unit_semaphore_values(unit_semaphore_set(R), values);
    UNIT_CHECK(values[0] == 0 && values[1] == 0 && values[2] == 0);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    /* The peer goes on, sees that it is not alone, and leaves our lock as it is. */
    UNIT_CHECK(order(&other, 'g'));
    UNIT_CHECK(!order(&other, 'a'));
    unit_release(lease);
    unit_join(&other);
}

static void nobody_comes_between_the_steps_of_a_peer_that_sets_it_up(void **state)
{
    unit_process other = peer("ms");

    (void) state;
    expect_conflict();
    unit_kill(&other); /* in the middle: the kernel takes its steps back */
    expect_free();
}

/* The set is free; the peer has seen that it is alone, and is about to make LOCK 1 once more. */
static void nobody_takes_a_free_set_that_a_peer_sets_up_anew(void **state)
{
    unit_process other = peer("ga");

    (void) state;
    unit_kill(&other);
    other = peer("ms");
    expect_conflict();
    unit_kill(&other);
    expect_free();
}

static void a_set_whose_maker_was_killed_is_free(void **state)
{
    unit_process other = peer("m");

    (void) state;
    unit_kill(&other);
    expect_free();
    other = peer("g");
    unit_kill(&other);
    expect_free();
    other = peer("ga");
    unit_kill(&other);
    expect_free();
}

static void we_wait_for_a_peer_that_is_killed_while_it_sets_up(void **state)
{
    unit_process other = peer("ms");
    latch_op op;
    latch_status status = unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));

    (void) state;
    UNIT_CHECK(status == LATCH_WANT_TIMER);
    unit_kill(&other);
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(unit_semaphore_set(R) < 0);
}

/* ---- Who holds it */

static void expect_report(latch_mode mode, pid_t pid)
{
    latch_lock_report *reports = NULL;
    latch_request request = unit_request(LATCH_INSPECT);
    char name[16];

    request.reports = &reports;
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
    snprintf(name, sizeof(name), "0x%08x", (unsigned) KEY);
    assert_non_null(reports);
    assert_string_equal(reports->name, name);
    assert_int_equal(reports->mode, mode);
    if (pid == 0) {
        assert_null(reports->holders);
    } else {
        assert_non_null(reports->holders);
        assert_int_equal(reports->holders->number, pid);
        assert_null(reports->holders->next);
    }
    assert_null(reports->next);
    latch_lock_reports_free(unit.engine, reports);
}

static void an_inspection_tells_who_holds_it(void **state)
{
    unit_process other, third;

    (void) state;
    expect_report(LATCH_FREE, 0);
    UNIT_CHECK(unit_semaphore_set(R) < 0); /* it made none */
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    expect_report(LATCH_EXCLUSIVE, getpid());
    third = peer("ms");
    expect_report(LATCH_EXCLUSIVE, getpid());
    unit_kill(&third);
    unit_release(lease);

    other = peer("m");
    expect_report(LATCH_FREE, 0);
    UNIT_CHECK(order(&other, 's'));
    expect_report(LATCH_FREE, 0);
    unit_kill(&other);
    expect_report(LATCH_FREE, 0);
    other = peer("g");
    expect_report(LATCH_FREE, 0);
    UNIT_CHECK(order(&other, 'a'));
    expect_report(LATCH_EXCLUSIVE, other.pid);
    unit_kill(&other);
    expect_report(LATCH_FREE, 0);
    expect_free();
}

static void a_set_of_another_program_cannot_be_inspected(void **state)
{
    int set = semget(KEY, 1, IPC_CREAT | 0600);
    latch_lock_report *reports = NULL;
    latch_request request = unit_request(LATCH_INSPECT);

    (void) state;
    request.reports = &reports;
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_ERROR_SYSTEM);
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
    assert_non_null(strstr(unit.error.message, "another program uses the key"));
    assert_null(reports);
}

#define PEER_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PEER_TEST(a_peer_that_holds_is_a_conflict_until_it_removes_its_set),
        PEER_TEST(a_peer_that_frees_its_set_without_removing_it_lets_us_in),
        PEER_TEST(a_peer_that_has_the_set_open_only_does_not_hold_it),
        PEER_TEST(a_peer_cannot_have_what_we_hold),
        PEER_TEST(a_peer_that_only_tried_leaves_our_lock),
        PEER_TEST(a_waiting_peer_is_handed_the_set),
        PEER_TEST(our_death_lets_a_waiting_peer_in),
        PEER_TEST(our_death_frees_a_set_that_was_there_before),
        PEER_TEST(a_childs_late_release_leaves_the_set_to_whom_it_was_handed),
        PEER_TEST(we_wait_until_a_peer_removes_its_set),
        PEER_TEST(we_are_woken_by_a_removal),
        PEER_TEST(a_set_that_was_made_and_not_set_up_is_free),
        PEER_TEST(nobody_comes_between_the_steps_of_a_peer_that_sets_it_up),
        PEER_TEST(nobody_takes_a_free_set_that_a_peer_sets_up_anew),
        PEER_TEST(a_set_whose_maker_was_killed_is_free),
        PEER_TEST(we_wait_for_a_peer_that_is_killed_while_it_sets_up),
        PEER_TEST(an_inspection_tells_who_holds_it),
        PEER_TEST(a_set_of_another_program_cannot_be_inspected),
    };

    return cmocka_run_group_tests_name("semaphore peers", tests, NULL, NULL);
}
