/* The semaphore store and forks: whose a lock is, and who may release it. */
#include "semaphores.h"

#include <unistd.h>

#define R unit_semaphore_resource()

static latch_lease *parents;

static void release_late(unit_process *self, void *unused)
{
    (void) unused;
    unit_hear(self);
    UNIT_CHECK(unit_run(parents, LATCH_RELEASE) == LATCH_DONE);
}

static void a_child_that_releases_too_late_hits_nobody_else(void **state)
{
    unit_process child, other;

    (void) state;
    parents = unit_lease(R);
    parents->inherit = true;
    UNIT_CHECK(unit_run(parents, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(release_late, NULL);
    unit_release(parents);
    other = unit_semaphore_holder();
    unit_say(&child, 'g');
    unit_join(&child);
    UNIT_CHECK(unit_run(parents, LATCH_ACQUIRE) == LATCH_CONFLICT);
    unit_say(&other, 'g');
    unit_expect(&other, 'r');
    unit_join(&other);
}

static void release_as_nobody(unit_process *self, void *unused)
{
    (void) self;
    (void) unused;
    UNIT_CHECK(setuid(65534) == 0);
    UNIT_CHECK(unit_run(parents, LATCH_RELEASE) == LATCH_ERROR_SYSTEM);
    UNIT_CHECK(strstr(unit.error.message, "belongs to another user") != NULL);
}

static void a_child_that_may_not_release_is_told_so(void **state)
{
    unit_process child;

    (void) state;
    if (geteuid() != 0) {
        skip(); /* nobody else can become another user */
    }
    parents = unit_lease(R);
    parents->inherit = true;
    UNIT_CHECK(unit_run(parents, LATCH_ACQUIRE) == LATCH_DONE);
    child = unit_fork(release_as_nobody, NULL);
    unit_join(&child);
    UNIT_CHECK(unit_run(parents, LATCH_PROBE) == LATCH_DONE);
    unit_release(parents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_child_that_releases_too_late_hits_nobody_else, setup_semaphore),
        UNIT_TEST(a_child_that_may_not_release_is_told_so, setup_semaphore),
    };

    return cmocka_run_group_tests_name("semaphore fork", tests, NULL, NULL);
}
