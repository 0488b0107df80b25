/*
 * Counting semaphores by System V semaphores: weights, limits, killed holders, forks, and scripts
 * that use sem_get($key, $limit) of PHP's sysvsem extension.
 */
#include "semaphores.h"
#include "watches.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define R unit_semaphore_resource()
#define MORE_THAN_A_SLICE_MS 30

enum { FREE, USERS, SETUP };

static key_t permit_key(void)
{
    const struct iovec parts[] = {{(void *) "\0permits\0", 9}, {(void *) R, strlen(R)}};
    uint8_t digest[LATCH_DIGEST_MAX];
    key_t key;

    unit_digest(NULL, LATCH_MD5, parts, 2, digest);
    memcpy(&key, digest, sizeof(key));
    return key;
}

static int permit_set(void)
{
    return semget(permit_key(), 0, 0);
}

static int free_permits(void)
{
    return semctl(permit_set(), FREE, GETVAL);
}

static latch_lease *permits(void)
{
    latch_lease *lease = unit_lease(R);

    latch_permit_lease_init(lease, unit.store, R, strlen(R));
    return lease;
}

static latch_request with(latch_request request, int64_t limit, int64_t weight)
{
    request.permits = (latch_permits){.limit = limit, .weight = weight};
    return request;
}

static latch_status take(latch_lease *lease, int64_t limit, int64_t weight)
{
    return unit_run_request(lease, with(unit_request(LATCH_ACQUIRE), limit, weight));
}

static latch_status await_permits(latch_lease *lease, int64_t limit, int64_t weight,
                                  int64_t timeout_ms)
{
    return unit_run_request(lease, with(unit_waiting(LATCH_ACQUIRE, timeout_ms), limit, weight));
}

static int teardown(void **state)
{
    int set = permit_set(), result = unit_teardown(state);

    if (set >= 0 && semctl(set, 0, IPC_RMID) == 0) {
        print_error("a set is left\n");
        return -1;
    }
    return result;
}

#define PERMITS_TEST(test) cmocka_unit_test_setup_teardown(test, unit_setup_semaphore, teardown)

/* ---- Weights and limits */

static void permits_are_taken_together_or_not_at_all(void **state)
{
    latch_lease *two = permits(), *other = permits(), *third = permits();

    (void) state;
    UNIT_CHECK(take(two, 3, 2) == LATCH_DONE && unit_held(two));
    UNIT_CHECK(two->mode == LATCH_EXCLUSIVE && two->deadline_ns == LATCH_NEVER);
    UNIT_CHECK(take(other, 3, 2) == LATCH_CONFLICT && free_permits() == 1);
    UNIT_CHECK(take(third, 3, 1) == LATCH_DONE && free_permits() == 0);
    UNIT_CHECK(take(two, 3, 2) == LATCH_DONE && free_permits() == 0); /* it has them */
    UNIT_CHECK(unit_run(two, LATCH_PROBE) == LATCH_DONE);
    UNIT_CHECK(unit_run(two, LATCH_REFRESH) == LATCH_DONE);
    unit_release(two);
    UNIT_CHECK(unit_run(two, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(two, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(take(other, 3, 2) == LATCH_DONE);
    unit_release(other);
    UNIT_CHECK(permit_set() >= 0);
    unit_release(third);
    UNIT_CHECK(permit_set() < 0); /* the last one removes it */
    unit_release(third);
}

static void a_lock_of_that_name_is_apart(void **state)
{
    latch_lease *lock = unit_lease(R), *one = permits();

    (void) state;
    UNIT_CHECK(take(one, 1, 1) == LATCH_DONE);
    UNIT_CHECK(unit_run(lock, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_semaphore_set(R) != permit_set());
    unit_release(one);
    UNIT_CHECK(unit_run(lock, LATCH_PROBE) == LATCH_DONE);
    unit_release(lock);
}

static void the_first_user_names_the_limit(void **state)
{
    latch_lease *one = permits(), *other = permits();

    (void) state;
    UNIT_CHECK(take(one, 3, 1) == LATCH_DONE);
    UNIT_CHECK(take(other, 4, 1) == LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message,
                        "the processes that use the semaphore have named a limit of 3, and not of "
                        "4: name the same one everywhere");
    UNIT_CHECK(take(other, 2, 2) == LATCH_ERROR_ARGUMENT && !unit_held(other) && !other->busy);
    UNIT_CHECK(await_permits(other, 2, 1, LATCH_NEVER) == LATCH_ERROR_ARGUMENT);
    UNIT_CHECK(free_permits() == 2);
    unit_release(one);
    UNIT_CHECK(take(other, 4, 4) == LATCH_DONE);
    UNIT_CHECK(take(one, 3, 1) == LATCH_ERROR_ARGUMENT);
    unit_release(other);
}

static void the_kernel_has_a_largest_limit(void **state)
{
    latch_lease *one = permits(), *other = permits();

    (void) state;
    UNIT_CHECK(take(one, 32768, 1) == LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message,
                        "a System V semaphore has at most 32767 permits, and not 32768");
    UNIT_CHECK(permit_set() < 0);
    UNIT_CHECK(take(one, 32767, 32767) == LATCH_DONE && free_permits() == 0);
    UNIT_CHECK(take(other, 32767, 1) == LATCH_CONFLICT);
    unit_release(one);
}

/* ---- Inspection */

static void expect_report(int64_t limit, int64_t used, uint64_t users, uint64_t waiters)
{
    latch_request request = with(unit_request(LATCH_INSPECT), limit, 1);
    latch_lock_report *report = NULL;

    request.reports = &report;
    UNIT_CHECK(unit_run_request(permits(), request) == LATCH_DONE);
    UNIT_CHECK(report != NULL && report->next == NULL && report->holders == NULL);
    UNIT_CHECK(report->mode == (used > 0 ? LATCH_SHARED : LATCH_FREE));
    assert_int_equal(report->permits_used, used);
    assert_int_equal(report->holder_count, users);
    assert_int_equal(report->waiter_count, waiters);
    latch_lock_reports_free(unit.engine, report);
}

static void an_inspection_counts_permits_by_the_limit_that_was_named(void **state)
{
    latch_lease *one = permits(), *two = permits();

    (void) state;
    expect_report(9, 0, 0, 0);
    UNIT_CHECK(permit_set() < 0);
    UNIT_CHECK(take(one, 5, 1) == LATCH_DONE && take(two, 5, 2) == LATCH_DONE);
    expect_report(5, 3, 2, 0);
    expect_report(LATCH_PERMITS_MAX, 3, 2, 0);
    unit_release(two);
    expect_report(1, 1, 1, 0);
    unit_release(one);
}

/* ---- Other processes */

typedef struct share {
    int64_t limit, weight;
} share;

static void hold_a_share(unit_process *self, void *argument)
{
    const share *own = argument;
    latch_lease *lease = permits();

    UNIT_CHECK(await_permits(lease, own->limit, own->weight, LATCH_NEVER) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
    unit_release(lease);
}

static void permits_of_the_killed_are_free_at_once(void **state)
{
    latch_lease *lease = permits(), *other = permits();
    unit_process holder = unit_fork(hold_a_share, &(share){3, 2});

    (void) state;
    unit_expect(&holder, 'h');
    UNIT_CHECK(take(lease, 3, 2) == LATCH_CONFLICT);
    unit_kill(&holder);
    UNIT_AWAIT(take(lease, 3, 3) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(permit_set() < 0);
    /* The set that the last one leaves has no limit any more. */
    holder = unit_fork(hold_a_share, &(share){3, 1});
    unit_expect(&holder, 'h');
    unit_kill(&holder);
    UNIT_AWAIT(semctl(permit_set(), USERS, GETVAL) == 0);
    expect_report(3, 0, 0, 0);
    UNIT_CHECK(take(lease, 7, 3) == LATCH_DONE && take(other, 7, 4) == LATCH_DONE);
    UNIT_CHECK(free_permits() == 0);
    unit_release(lease);
    unit_release(other);
}

static void a_release_wakes_who_waits_for_that_many(void **state)
{
    latch_lease *one = permits(), *two = permits();
    unit_process heavy;

    (void) state;
    UNIT_CHECK(take(one, 3, 1) == LATCH_DONE && take(two, 3, 2) == LATCH_DONE);
    heavy = unit_fork(hold_a_share, &(share){3, 3});
    UNIT_AWAIT(semctl(permit_set(), FREE, GETNCNT) == 1);
    unit_release(two);
    UNIT_CHECK(free_permits() == 2); /* too few */
    unit_release(one);
    unit_expect(&heavy, 'h');
    UNIT_CHECK(take(one, 3, 1) == LATCH_CONFLICT);
    unit_say(&heavy, 'g');
    unit_join(&heavy);
    UNIT_CHECK(permit_set() < 0);
}

static void a_wait_ends_with_its_time_or_when_it_is_given_up(void **state)
{
    latch_lease *one = permits(), *two = permits();
    unit_process holder = unit_fork(hold_a_share, &(share){2, 2});
    latch_op op;

    (void) state;
    unit_expect(&holder, 'h');
    UNIT_CHECK(await_permits(one, 2, 1, MORE_THAN_A_SLICE_MS) == LATCH_CONFLICT);
    UNIT_CHECK(unit_begin(&op, two, with(unit_waiting(LATCH_ACQUIRE, LATCH_NEVER), 2, 1))
               == LATCH_WANT_TIMER);
    UNIT_CHECK(latch_op_step(&op, unit_now_ns()) == LATCH_WANT_TIMER);
    UNIT_CHECK(unit_cancel(&op) == LATCH_CONFLICT && !unit_held(two));
    unit_say(&holder, 'g');
    unit_join(&holder);
    UNIT_CHECK(permit_set() < 0);
}

static void a_wait_that_only_its_thread_could_end_is_a_deadlock(void **state)
{
    latch_lease *one = permits(), *two = permits();
    unit_process holder;

    (void) state;
    UNIT_CHECK(take(one, 3, 2) == LATCH_DONE);
    UNIT_CHECK(await_permits(two, 3, 2, LATCH_NEVER) == LATCH_ERROR_DEADLOCK);
    UNIT_CHECK(await_permits(two, 3, 2, MORE_THAN_A_SLICE_MS) == LATCH_CONFLICT);
    holder = unit_fork(hold_a_share, &(share){3, 1});
    unit_expect(&holder, 'h');
    unit_say(&holder, 'g'); /* who can, ends it */
    UNIT_CHECK(await_permits(two, 3, 1, LATCH_NEVER) == LATCH_DONE);
    unit_join(&holder);
    unit_release(one);
    unit_release(two);
}

/* ---- Forks */

static latch_lease *parents;

static void use_the_parents(unit_process *self, void *unused)
{
    (void) unused;
    UNIT_CHECK(!unit_held(parents) && unit_run(parents, LATCH_PROBE) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(parents, LATCH_REFRESH) == LATCH_CONFLICT);
    UNIT_CHECK(unit_run(parents, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(take(permits(), 2, 2) == LATCH_CONFLICT);
    unit_say(self, 'd');
}

static void a_child_has_no_permits_of_its_parents_and_gives_none_back(void **state)
{
    (void) state;
    for (int inherit = 0; inherit < 2; inherit++) {
        unit_process child;

        parents = permits();
        parents->inherit = inherit == 1;
        UNIT_CHECK(take(parents, 2, 1) == LATCH_DONE);
        child = unit_fork(use_the_parents, NULL);
        unit_expect(&child, 'd');
        unit_join(&child);
        UNIT_CHECK(unit_run(parents, LATCH_PROBE) == LATCH_DONE && free_permits() == 1);
        unit_release(parents);
        UNIT_CHECK(permit_set() < 0);
    }
}

static void the_end_of_a_lease_gives_its_permits_back(void **state)
{
    latch_lease *one = permits(), *two = permits();

    (void) state;
    UNIT_CHECK(take(one, 2, 1) == LATCH_DONE && take(two, 2, 1) == LATCH_DONE);
    latch_lease_drop(two);
    unit.lease_count--;
    UNIT_CHECK(free_permits() == 1);
    unit_release(one);
}

/* ---- What others do with the set */

static void permits_whose_set_is_removed_are_lost(void **state)
{
    latch_lease *one = permits(), *two = permits();
    latch_watch watch;

    (void) state;
    UNIT_CHECK(take(one, 2, 1) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, one) && !unit_watch_tells(&watch));
    UNIT_CHECK(take(two, 2, 1) == LATCH_DONE);
    UNIT_CHECK(!unit_watch_tells(&watch));
    UNIT_CHECK(semctl(permit_set(), 0, IPC_RMID) == 0);
    UNIT_CHECK(unit_watch_tells(&watch));
    unit_watch_end(&watch);
    UNIT_CHECK(unit_run(one, LATCH_REFRESH) == LATCH_CONFLICT && one->lost);
    UNIT_CHECK(unit_run(two, LATCH_PROBE) == LATCH_CONFLICT && !unit_held(two));
    UNIT_CHECK(take(one, 5, 5) == LATCH_DONE);
    unit_release(two); /* gives nothing back that is another's by now */
    UNIT_CHECK(free_permits() == 0);
    unit_release(one);
}

static void another_programs_set_is_an_error(void **state)
{
    latch_lease *one = permits();
    int set = semget(permit_key(), 7, 0600 | IPC_CREAT | IPC_EXCL);

    (void) state;
    UNIT_CHECK(set >= 0);
    UNIT_CHECK(take(one, 2, 1) == LATCH_ERROR_SYSTEM && unit.error.sys_errno == EINVAL);
    UNIT_CHECK(strstr(unit.error.message, "another program uses the key") != NULL);
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
    set = semget(permit_key(), 2, 0600 | IPC_CREAT | IPC_EXCL);
    UNIT_CHECK(take(one, 2, 1) == LATCH_ERROR_SYSTEM && unit.error.sys_errno == EINVAL);
    UNIT_CHECK(semctl(set, 0, IPC_RMID) == 0);
}

static void a_set_that_was_made_and_not_set_up_is_used(void **state)
{
    latch_lease *one = permits();

    (void) state;
    UNIT_CHECK(semget(permit_key(), 4, 0676 | IPC_CREAT | IPC_EXCL) >= 0);
    UNIT_CHECK(take(one, 3, 2) == LATCH_DONE && free_permits() == 1);
    unit_release(one);
    UNIT_CHECK(permit_set() < 0);
}

/* ---- Scripts on sem_get($key, $limit) */

static void scripts_count_with_us(void **state)
{
    latch_lease *two = permits(), *one = permits();
    int set;

    (void) state;
    UNIT_CHECK(take(two, 3, 2) == LATCH_DONE);
    set = php_sem_get_counting(permit_key(), 3);
    UNIT_CHECK(php_sem_acquire(set, false) && !php_sem_acquire(set, false));
    expect_report(3, 3, 2, 0);
    UNIT_CHECK(take(one, 3, 1) == LATCH_CONFLICT);
    php_sem_free(set, true);
    UNIT_CHECK(take(one, 3, 1) == LATCH_DONE);
    unit_release(one);
    set = php_sem_get_counting(permit_key(), 3);
    unit_release(two);
    UNIT_CHECK(permit_set() == set); /* a script has it */
    UNIT_CHECK(php_sem_acquire(set, false));
    UNIT_CHECK(take(two, 3, 3) == LATCH_CONFLICT && take(two, 3, 2) == LATCH_DONE);
    php_sem_free(set, true);
    unit_release(two);
    UNIT_CHECK(permit_set() < 0);
}

static void a_script_that_was_first_has_its_limit(void **state)
{
    int set = php_sem_get_counting(permit_key(), 2);
    latch_lease *one = permits(), *other = permits();

    (void) state;
    UNIT_CHECK(take(one, 2, 1) == LATCH_DONE && take(other, 2, 2) == LATCH_CONFLICT);
    UNIT_CHECK(take(other, 2, 1) == LATCH_DONE && !php_sem_acquire(set, false));
    expect_report(2, 2, 3, 0);
    unit_release(one);
    UNIT_CHECK(php_sem_acquire(set, false));
    UNIT_CHECK(take(one, 2, 1) == LATCH_CONFLICT);
    unit_release(other);
    php_sem_free(set, true);
    UNIT_CHECK(take(one, 5, 5) == LATCH_DONE); /* nobody is there any more */
    unit_release(one);
    UNIT_CHECK(permit_set() == set); /* as scripts leave theirs */
    php_sem_remove(set);
}

static void a_script_that_sets_it_up_is_waited_for(void **state)
{
    latch_lease *one = permits();
    struct sembuf enter[] = {{SETUP, 0, 0}, {SETUP, 1, 0}, {USERS, 1, 0}};
    struct sembuf leave[] = {{SETUP, -1, 0}};
    int set = semget(permit_key(), 3, 0666 | IPC_CREAT);

    (void) state;
    UNIT_CHECK(semop(set, enter, 3) == 0);
    expect_report(3, 0, 0, 0);
    UNIT_CHECK(take(one, 3, 1) == LATCH_CONFLICT);
    UNIT_CHECK(semctl(set, FREE, SETVAL, 3) == 0 && semop(set, leave, 1) == 0);
    UNIT_CHECK(take(one, 3, 3) == LATCH_DONE);
    unit_release(one);
    php_sem_remove(set);
}

/* ---- Crowds */

enum { CROWD = 6, CROWD_ROUNDS = 300, CROWD_LIMIT = 5 };

/* Counts, in a set of its own, how many permits are out: no more than there are. */
static void come_and_go(unit_process *self, void *argument)
{
    int counter = *(int *) argument;
    latch_lease *lease = permits();

    srand((unsigned) getpid());
    for (int round = 0; round < CROWD_ROUNDS; round++) {
        short weight = (short) (1 + rand() % 3);
        struct sembuf in = {0, (short) -weight, IPC_NOWAIT | SEM_UNDO};
        struct sembuf out = {0, weight, IPC_NOWAIT | SEM_UNDO};

        UNIT_CHECK(await_permits(lease, CROWD_LIMIT, weight, LATCH_NEVER) == LATCH_DONE);
        UNIT_CHECK(semop(counter, &in, 1) == 0);
        if (rand() % 8 == 0) {
            usleep((useconds_t) (rand() % 200));
        }
        UNIT_CHECK(semop(counter, &out, 1) == 0);
        unit_release(lease);
    }
    unit_say(self, 'd');
}

static void a_crowd_never_has_more_than_there_are(void **state)
{
    int counter = semget(IPC_PRIVATE, 1, 0600);
    unit_process others[CROWD];

    (void) state;
    UNIT_CHECK(counter >= 0 && semctl(counter, 0, SETVAL, CROWD_LIMIT) == 0);
    for (int at = 0; at < CROWD; at++) {
        others[at] = unit_fork(come_and_go, &counter);
    }
    for (int at = 0; at < CROWD; at++) {
        unit_expect(&others[at], 'd');
        unit_join(&others[at]);
    }
    UNIT_CHECK(semctl(counter, 0, GETVAL) == CROWD_LIMIT);
    UNIT_CHECK(semctl(counter, 0, IPC_RMID) == 0);
    UNIT_CHECK(permit_set() < 0);
}

static void each_allocation_may_fail(void **state)
{
    bool failed = true;

    (void) state;
    for (size_t number = 1; failed; number++) {
        latch_lease *lease = permits();
        latch_status status;

        unit.allocations = 0;
        unit.fail_at = number;
        status = take(lease, 2, 1);
        failed = status == LATCH_ERROR_MEMORY;
        UNIT_CHECK(failed || status == LATCH_DONE);
        unit.fail_at = 0;
        UNIT_CHECK(unit_held(lease) == !failed && (permit_set() >= 0) == !failed);
        unit_release(lease);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PERMITS_TEST(permits_are_taken_together_or_not_at_all),
        PERMITS_TEST(a_lock_of_that_name_is_apart),
        PERMITS_TEST(the_first_user_names_the_limit),
        PERMITS_TEST(the_kernel_has_a_largest_limit),
        PERMITS_TEST(an_inspection_counts_permits_by_the_limit_that_was_named),
        PERMITS_TEST(permits_of_the_killed_are_free_at_once),
        PERMITS_TEST(a_release_wakes_who_waits_for_that_many),
        PERMITS_TEST(a_wait_ends_with_its_time_or_when_it_is_given_up),
        PERMITS_TEST(a_wait_that_only_its_thread_could_end_is_a_deadlock),
        PERMITS_TEST(a_child_has_no_permits_of_its_parents_and_gives_none_back),
        PERMITS_TEST(the_end_of_a_lease_gives_its_permits_back),
        PERMITS_TEST(permits_whose_set_is_removed_are_lost),
        PERMITS_TEST(another_programs_set_is_an_error),
        PERMITS_TEST(a_set_that_was_made_and_not_set_up_is_used),
        PERMITS_TEST(scripts_count_with_us),
        PERMITS_TEST(a_script_that_was_first_has_its_limit),
        PERMITS_TEST(a_script_that_sets_it_up_is_waited_for),
        PERMITS_TEST(a_crowd_never_has_more_than_there_are),
        PERMITS_TEST(each_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("semaphore permits", tests, NULL, NULL);
}
