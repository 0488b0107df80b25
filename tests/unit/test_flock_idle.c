/* Lock files between two locks: which stay open, and what happens when somebody removes them. */
#include "src/store/flock/flock.h"
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#define NFS 0x6969

/* ---- Files that stay open ------------------------------------------------------------------- */

static void a_released_file_stays_open_and_is_used_again(void **state)
{
    latch_lease *lease = unit_lease("r"), *next = unit_lease("r");
    size_t descriptors = unit_count_descriptors(), opened;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    opened = unit_calls.opened;
    unit_release(lease);
    assert_int_equal(unit_count_descriptors(), descriptors + 1);
    for (int at = 0; at < 5; at++) {
        assert_int_equal(unit_run(next, LATCH_ACQUIRE), LATCH_DONE);
        unit_release(next);
    }
    assert_int_equal(unit_calls.opened, opened);
    assert_int_equal(unit_count_descriptors(), descriptors + 1);
}

static void a_conflict_keeps_the_file_for_the_next_try(void **state)
{
    latch_lease *lease = unit_lease("r");
    unit_process peer = unit_peer(unit_lock_path("r"));
    size_t descriptors = unit_count_descriptors();

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    for (int at = 0; at < 5; at++) {
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
        assert_int_equal(unit_count_descriptors(), descriptors + 1);
    }
    unit_join(&peer);
}

static void one_idle_file_is_kept_for_a_resource(void **state)
{
    latch_lease *leases[3] = {unit_lease("r"), unit_lease("r"), unit_lease("r")};
    size_t descriptors = unit_count_descriptors();

    (void) state;
    for (int at = 0; at < 3; at++) {
        assert_int_equal(unit_run(leases[at], LATCH_ACQUIRE_SHARED), LATCH_DONE);
    }
    assert_int_equal(unit_count_descriptors(), descriptors + 3);
    for (int at = 0; at < 3; at++) {
        unit_release(leases[at]);
    }
    assert_int_equal(unit_count_descriptors(), descriptors + 1);
}

static void touch(int number)
{
    char resource[20];
    latch_lease lease;

    snprintf(resource, sizeof(resource), "r%d", number);
    latch_lease_init(&lease, unit.store, resource, strlen(resource));
    assert_int_equal(unit_run(&lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(&lease);
    latch_lease_drop(&lease);
}

static void idle_files_are_bounded_and_the_least_recent_goes_first(void **state)
{
    size_t descriptors = unit_count_descriptors(), opened;

    (void) state;
    for (int at = 0; at < LATCH_FLOCK_IDLE_MAX; at++) {
        touch(at);
    }
    assert_int_equal(unit_count_descriptors(), descriptors + LATCH_FLOCK_IDLE_MAX);
    touch(0); /* so that 1 is the oldest */
    for (int at = 0; at < 3; at++) {
        touch(LATCH_FLOCK_IDLE_MAX + at);
        assert_int_equal(unit_count_descriptors(), descriptors + LATCH_FLOCK_IDLE_MAX);
    }
    opened = unit_calls.opened;
    touch(0);
    touch(4);
    touch(LATCH_FLOCK_IDLE_MAX);
    assert_int_equal(unit_calls.opened, opened);
    touch(2);
    assert_int_equal(unit_calls.opened, opened + 1);
}

static void a_removed_idle_file_is_not_locked_in_vain(void **state)
{
    latch_lease *lease = unit_lease("r1");

    (void) state;
    touch(1);
    assert_int_equal(unlink(unit_lock_path("r1")), 0);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(unit_is_free("r1", LOCK_SH)); /* the new file, which others find */
    unit_release(lease);
}

static void a_replaced_file_is_noticed_where_links_cannot_be_trusted(void **state)
{
    latch_lease *lease = unit_lease("r1");
    char aside[200], second[200];

    (void) state;
    latch_store_close(unit.store);
    unit_calls.file_system = NFS;
    unit.store = unit_open("flock");
    assert_non_null(unit.store);
    lease->store = unit.store;
    touch(1);
    snprintf(aside, sizeof(aside), "%s/.nfs0001", unit.directory); /* as NFS removes open files */
    assert_int_equal(rename(unit_lock_path("r1"), aside), 0);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(unit_is_free("r1", LOCK_SH));
    unit_release(lease);
    snprintf(second, sizeof(second), "%s/.nfs0002", unit.directory);
    assert_int_equal(rename(unit_lock_path("r1"), second), 0);
    assert_int_equal(rename(aside, unit_lock_path("r1")), 0); /* another inode in its place */
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(unit_is_free("r1", LOCK_SH));
    unit_release(lease);
}

static void a_directory_that_was_replaced_is_noticed_within_a_second(void **state)
{
    latch_lease *lease = unit_lease("r1");
    char aside[200];

    (void) state;
    touch(1);
    snprintf(aside, sizeof(aside), "%s.old", unit.directory);
    assert_int_equal(rename(unit.directory, aside), 0);
    assert_int_equal(mkdir(unit.directory, 0700), 0);
    unit.ahead_ns += LATCH_NS_PER_S;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_false(unit_is_free("r1", LOCK_SH)); /* where newcomers look */
    unit_release(lease);
    unit_remove_directory();
    assert_int_equal(rename(aside, unit.directory), 0);
}

/* ---- Removal on release --------------------------------------------------------------------- */

static void the_lock_file_is_removed_on_release_if_asked(void **state)
{
    latch_lease *lease = unit_lease("r");
    size_t descriptors = unit_count_descriptors();

    (void) state;
    lease->remove = true;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(access(unit_lock_path("r"), F_OK), -1);
    assert_int_equal(unit_count_descriptors(), descriptors);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    lease->remove = false; /* read when it is released */
    unit_release(lease);
    assert_int_equal(access(unit_lock_path("r"), F_OK), 0);
}

static void a_shared_release_leaves_the_file_to_the_other_readers(void **state)
{
    latch_lease *one = unit_lease("r"), *two = unit_lease("r");

    (void) state;
    one->remove = true;
    assert_int_equal(unit_run(one, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    unit_release(one);
    assert_int_equal(access(unit_lock_path("r"), F_OK), 0);
    assert_false(unit_is_free("r", LOCK_EX));
    unit_release(two);
}

static void a_release_does_not_remove_somebody_elses_new_file(void **state)
{
    latch_lease *lease = unit_lease("r"), *other = unit_lease("r");

    (void) state;
    lease->remove = true;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(unlink(unit_lock_path("r")), 0); /* a foreign clean-up */
    assert_int_equal(unit_run(other, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
    assert_int_equal(access(unit_lock_path("r"), F_OK), 0);
    assert_false(unit_is_free("r", LOCK_SH));
    unit_release(other);
}

static void a_conversion_on_a_removed_file_is_a_loss(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unlink(unit_lock_path("r")), 0);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_LOST);
    assert_string_equal(unit.error.message,
                        "the lock was lost: its file was removed by another process");
    assert_false(unit_held(lease));
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_released_file_stays_open_and_is_used_again, setup_flock),
        UNIT_TEST(a_conflict_keeps_the_file_for_the_next_try, setup_flock),
        UNIT_TEST(one_idle_file_is_kept_for_a_resource, setup_flock),
        UNIT_TEST(idle_files_are_bounded_and_the_least_recent_goes_first, setup_flock),
        UNIT_TEST(a_removed_idle_file_is_not_locked_in_vain, setup_flock),
        UNIT_TEST(a_replaced_file_is_noticed_where_links_cannot_be_trusted, setup_flock),
        UNIT_TEST(a_directory_that_was_replaced_is_noticed_within_a_second, setup_flock),
        UNIT_TEST(the_lock_file_is_removed_on_release_if_asked, setup_flock),
        UNIT_TEST(a_shared_release_leaves_the_file_to_the_other_readers, setup_flock),
        UNIT_TEST(a_release_does_not_remove_somebody_elses_new_file, setup_flock),
        UNIT_TEST(a_conversion_on_a_removed_file_is_a_loss, setup_flock),
    };

    return cmocka_run_group_tests_name("flock: idle files", tests, NULL, NULL);
}
