/* Forks: a child never ends its parent's lock, nor keeps it, unless the lock shall be inherited. */
#include "unit.h"

#include <unistd.h>

static latch_lease *lease;

static int setup(void **state)
{
    if (unit_setup_flock(state) != 0) {
        return -1;
    }
    lease = unit_lease("r");
    return 0;
}

static void acquire(bool inherit)
{
    lease->inherit = inherit;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
}

/* Lives until it is told to go on. */
static void live(unit_process *self, void *unused)
{
    (void) unused;
    unit_say(self, 'l');
    unit_hear(self);
}

static unit_process living_child(void)
{
    unit_process child = unit_fork(live, NULL);

    unit_expect(&child, 'l');
    return child;
}

/* ---- Ordinary locks ------------------------------------------------------------------------- */

static void hold_and_be_killed(unit_process *self, void *unused)
{
    unit_process grandchild;

    (void) unused;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    grandchild = living_child();
    unit_say(self, 'h');
    unit_hear(self);
    unit_join(&grandchild);
}

static void a_killed_parents_lock_is_not_kept_by_its_children(void **state)
{
    unit_process parent = unit_fork(hold_and_be_killed, NULL);

    (void) state;
    unit_expect(&parent, 'h');
    assert_false(unit_is_free("r", LOCK_SH));
    unit_kill(&parent);
    assert_true(unit_is_free("r", LOCK_EX)); /* the grandchild may live on for a moment */
}

static void acquire_in_child(unit_process *self, void *unused)
{
    latch_lease *own = unit_lease("r");

    (void) unused;
    UNIT_CHECK(unit_run(own, LATCH_ACQUIRE) == LATCH_DONE);
    unit_say(self, 'a');
    unit_hear(self);
    UNIT_CHECK(unit_run(own, LATCH_RELEASE) == LATCH_DONE);
    UNIT_CHECK(unit_run(own, LATCH_ACQUIRE) == LATCH_DONE); /* its own idle file */
    UNIT_CHECK(unit_run(own, LATCH_RELEASE) == LATCH_DONE);
}

static void parent_and_child_exclude_each_other_despite_a_common_idle_file(void **state)
{
    unit_process child;

    (void) state;
    acquire(false);
    unit_release(lease); /* leaves an idle file */
    child = unit_fork(acquire_in_child, NULL);
    unit_expect(&child, 'a');
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_CONFLICT);
    unit_join(&child);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
}

/* ---- Inherited locks ------------------------------------------------------------------------ */

static void hold_on(unit_process *self, void *unused)
{
    (void) unused;
    UNIT_CHECK(!unit_held(lease)); /* not for certain: the parent may release it */
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    unit_say(self, 'h');
    unit_hear(self);
}

static void an_inherited_lock_lives_as_long_as_any_process_has_it(void **state)
{
    unit_process child;

    (void) state;
    acquire(true);
    child = unit_fork(hold_on, NULL);
    unit_expect(&child, 'h');
    latch_lease_drop(lease); /* the parent of a daemon leaves */
    assert_false(unit_is_free("r", LOCK_SH));
    unit_join(&child);
    assert_true(unit_is_free("r", LOCK_EX));
}

static void what_others_may_unlock_is_not_called_held_without_a_look(void **state)
{
    unit_process child;

    (void) state;
    acquire(true);
    assert_true(unit_held(lease));
    child = living_child();
    assert_false(unit_held(lease)); /* the child could have released it in this very moment */
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_DONE);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(unit_is_free("r", LOCK_SH));
    unit_join(&child);
    unit_release(lease);
    acquire(true); /* since the fork */
    assert_true(unit_held(lease));
}

static void release_later(unit_process *self, void *unused)
{
    (void) unused;
    unit_hear(self);
    UNIT_CHECK(unit_run(lease, LATCH_RELEASE) == LATCH_DONE);
}

static void a_file_that_was_inherited_is_not_used_for_another_lock(void **state)
{
    unit_process child;

    (void) state;
    acquire(true);
    child = unit_fork(release_later, NULL);
    unit_release(lease);
    acquire(false);
    unit_say(&child, 'g'); /* its release is of the old lock, not of this one */
    unit_join(&child);
    assert_false(unit_is_free("r", LOCK_SH));
    unit_release(lease);
}

static void a_file_that_was_ever_inherited_is_not_used_for_another_lock(void **state)
{
    unit_process child;

    (void) state;
    acquire(true);
    child = unit_fork(release_later, NULL);
    acquire(false); /* as if by another lock object on the same key */
    unit_release(lease);
    acquire(false);
    unit_say(&child, 'g');
    unit_join(&child);
    assert_false(unit_is_free("r", LOCK_SH));
    unit_release(lease);
}

static void let_parents_file_go(unit_process *self, void *unused)
{
    acquire(false);
    unit_release(lease);
    acquire_in_child(self, unused);
}

static void a_child_does_not_keep_an_inherited_file_for_later(void **state)
{
    unit_process child;

    (void) state;
    acquire(true);
    child = unit_fork(let_parents_file_go, NULL);
    unit_expect(&child, 'a');
    /* Through the description that both have, the parent could lock along with its child. */
    unit_release(lease);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    unit_join(&child);
}

#define FORK_TEST(test) cmocka_unit_test_setup_teardown(test, setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FORK_TEST(a_killed_parents_lock_is_not_kept_by_its_children),
        FORK_TEST(parent_and_child_exclude_each_other_despite_a_common_idle_file),
        FORK_TEST(an_inherited_lock_lives_as_long_as_any_process_has_it),
        FORK_TEST(what_others_may_unlock_is_not_called_held_without_a_look),
        FORK_TEST(a_file_that_was_inherited_is_not_used_for_another_lock),
        FORK_TEST(a_file_that_was_ever_inherited_is_not_used_for_another_lock),
        FORK_TEST(a_child_does_not_keep_an_inherited_file_for_later),
    };

    return cmocka_run_group_tests_name("flock: forks", tests, NULL, NULL);
}
