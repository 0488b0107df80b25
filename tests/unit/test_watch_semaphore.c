/* What is known of a held semaphore that somebody removes, or takes away. */
#include "semaphores.h"
#include "watches.h"

#include <unistd.h>

#define R unit_semaphore_resource()

enum { LOCK };

static latch_lease *lease;
static latch_watch watch;
static int set;

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
    unit_watch_end(&watch);
    return unit_teardown(state);
}

#define WATCH_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void hold_and_watch(void)
{
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    UNIT_CHECK(!unit_watch_tells(&watch));
    set = unit_semaphore_set(R);
}

static void wait_for_it(unit_process *self, void *argument)
{
    latch_lease *own = unit_lease(R);

    (void) argument;
    unit_run_waiting(own, LATCH_ACQUIRE, LATCH_NEVER);
    unit_say(self, 'h'); /* never */
}

static void those_who_want_it_are_no_loss(void **state)
{
    unit_process child;

    (void) state;
    hold_and_watch();
    UNIT_CHECK(unit_run(unit_lease(R), LATCH_ACQUIRE) == LATCH_CONFLICT);
    UNIT_CHECK(!php_sem_acquire(set, false));
    child = unit_fork(wait_for_it, NULL);
    unit_await_semaphore_sleepers(set, 1);
    UNIT_CHECK(!unit_watch_tells(&watch));
    unit_kill(&child);
    UNIT_CHECK(!unit_watch_tells(&watch));
    unit_release(lease);
}

static void a_removed_set_is_a_loss(void **state)
{
    (void) state;
    hold_and_watch();
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
    UNIT_CHECK(unit_watch_tells(&watch));
}

static void a_set_in_its_place_is_another_one(void **state)
{
    unit_process other;

    (void) state;
    hold_and_watch();
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
    other = unit_semaphore_holder();
    UNIT_CHECK(unit_semaphore_set(R) != set);
    UNIT_CHECK(unit_watch_tells(&watch));
    unit_say(&other, 'g');
    unit_expect(&other, 'r');
    unit_join(&other);
}

static void take_by_force(unit_process *self, void *argument)
{
    (void) argument;
    UNIT_CHECK(php_sem_acquire(set, false));
    unit_say(self, 'h');
    unit_hear(self);
}

static void one_that_is_freed_by_force_is_a_loss(void **state)
{
    unit_process other;

    (void) state;
    hold_and_watch();
    UNIT_CHECK(semctl(set, LOCK, SETVAL, 1) == 0);
    UNIT_CHECK(unit_watch_tells(&watch));
    other = unit_fork(take_by_force, NULL);
    unit_expect(&other, 'h');
    UNIT_CHECK(unit_watch_tells(&watch)); /* somebody holds it, but not we */
    unit_release(lease);
    UNIT_CHECK(unit_semaphore_set(R) == set && semctl(set, LOCK, GETVAL) == 0); /* he still does */
    unit_kill(&other);
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
}

/* By somebody else, who will give it back. */
static void who_has_lost_it_may_wait_for_it(void **state)
{
    latch_lease *second = unit_lease(R);
    unit_process other;
    latch_status status;
    latch_op op;

    (void) state;
    hold_and_watch();
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
    other = unit_semaphore_holder();
    status = unit_begin(&op, second, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER));
    UNIT_CHECK(latch_wants(status));
    unit_say(&other, 'g');
    unit_expect(&other, 'r');
    UNIT_CHECK(unit_finish(&op, status) == LATCH_DONE && unit_held(second));
    unit_join(&other);
    unit_release(second);
}

static void change_mode(unsigned short mode)
{
    struct semid_ds status;

    UNIT_CHECK(semctl(set, 0, IPC_STAT, &status) == 0);
    status.sem_perm.mode = mode;
    UNIT_CHECK(semctl(set, 0, IPC_SET, &status) == 0);
}

static void one_that_is_closed_to_us_is_no_loss(void **state)
{
    uid_t user = geteuid();
    bool can_read, tells;

    (void) state;
    if (user != 0) {
        skip(); /* nobody but root can see the mode of such a set in order to open it again */
    }
    hold_and_watch();
    change_mode(0);
    UNIT_CHECK(seteuid(65534) == 0);
    can_read = semctl(set, LOCK, GETVAL) >= 0;
    tells = unit_watch_tells(&watch);
    UNIT_CHECK(seteuid(user) == 0);
    change_mode(0676);
    UNIT_CHECK(!can_read && !tells);
    UNIT_CHECK(!unit_watch_tells(&watch));
}

/* ---- By the renewal thread */

static latch_lease *sentinel; /* whose loss tells that the thread has looked after the others */
static char sentinel_resource[64];

static int setup_kept(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    unit_losses_open();
    snprintf(sentinel_resource, sizeof(sentinel_resource), "%s, sentinel", R);
    sentinel = unit_lease(sentinel_resource);
    unit_losses_keep(lease);
    unit_losses_keep(sentinel);
    return unit_run(sentinel, LATCH_ACQUIRE) == LATCH_DONE ? 0 : -1;
}

static int teardown_kept(void **state)
{
    unit_losses_close();
    return unit_teardown(state);
}

#define KEPT_TEST(test) cmocka_unit_test_setup_teardown(test, setup_kept, teardown_kept)

static void remove_set(const char *resource)
{
    UNIT_CHECK(semctl(unit_semaphore_set(resource), 0, IPC_RMID) == 0);
}

static void expect_nothing_but_the_sentinels_loss(void)
{
    remove_set(sentinel_resource);
    unit_losses_expect(sentinel);
}

static void a_loss_is_told_each_time(void **state)
{
    (void) state;
    for (int round = 0; round < 2; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        remove_set(R);
        unit_losses_expect(lease);
        if (round == 0) {
            unit_release(lease);
        } /* else it is taken anew as it is: of its loss it was told */
    }
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
    expect_nothing_but_the_sentinels_loss();
}

static void what_was_lost_is_neither_found_nor_renewed(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_PROBE, LATCH_REFRESH};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        remove_set(R);
        unit_losses_expect(lease);
        UNIT_CHECK(unit_run(lease, kinds[at]) == LATCH_CONFLICT && !unit_held(lease));
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
        unit_release(lease);
    }
}

static void what_was_released_is_not_lost(void **state)
{
    unit_process other;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    other = unit_semaphore_holder();
    expect_nothing_but_the_sentinels_loss();
    unit_say(&other, 'g');
    unit_expect(&other, 'r');
    unit_join(&other);
}

/* Before the thread has looked, most of the time. */
static void what_is_taken_anew_is_held_whatever_it_was_before(void **state)
{
    (void) state;
    for (int round = 0; round < 20; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        remove_set(R);
    }
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_held(lease));
    expect_nothing_but_the_sentinels_loss();
    UNIT_CHECK(unit_held(lease));
    remove_set(R);
    unit_losses_expect(lease);
}

static void drop_in_child(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(!unit_held(lease));
    latch_lease_drop(lease);
}

static void a_child_that_exits_is_no_loss(void **state)
{
    unit_process child;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(drop_in_child, NULL);
    unit_join(&child);
    expect_nothing_but_the_sentinels_loss();
    UNIT_CHECK(unit_held(lease));
    remove_set(R);
    unit_losses_expect(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(those_who_want_it_are_no_loss),
        WATCH_TEST(a_removed_set_is_a_loss),
        WATCH_TEST(a_set_in_its_place_is_another_one),
        WATCH_TEST(one_that_is_freed_by_force_is_a_loss),
        WATCH_TEST(one_that_is_closed_to_us_is_no_loss),
        WATCH_TEST(who_has_lost_it_may_wait_for_it),
        WATCH_TEST(what_is_not_held_is_not_watched),
        WATCH_TEST(a_child_watches_nothing_of_its_parents),
        WATCH_TEST(a_watch_does_without_memory),
        KEPT_TEST(a_loss_is_told_each_time),
        KEPT_TEST(what_was_lost_is_neither_found_nor_renewed),
        KEPT_TEST(what_was_released_is_not_lost),
        KEPT_TEST(what_is_taken_anew_is_held_whatever_it_was_before),
        KEPT_TEST(a_child_that_exits_is_no_loss),
    };

    return cmocka_run_group_tests_name("watch semaphore", tests, NULL, NULL);
}
