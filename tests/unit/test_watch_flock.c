/* What is known of a held lock file that somebody removes, or replaces. */
#include "watches.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static latch_lease *lease;
static latch_watch watch;
static char path[PATH_MAX], elsewhere[PATH_MAX];

static int setup(void **state)
{
    if (unit_setup_flock(state) != 0) {
        return -1;
    }
    lease = unit_lease("r");
    snprintf(path, sizeof(path), "%s", unit_lock_path("r"));
    snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", unit.directory);
    return 0;
}

static int teardown(void **state)
{
    unit_watch_end(&watch);
    return unit_teardown(state);
}

#define WATCH_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void hold_and_watch(latch_op_kind kind)
{
    UNIT_CHECK(unit_run(lease, kind) == LATCH_DONE);
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    UNIT_CHECK(!unit_watch_tells(&watch));
}

static void make_file(const char *name)
{
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);

    UNIT_CHECK(fd >= 0);
    close(fd);
}

static void a_held_file_that_is_there_is_no_loss(void **state)
{
    unit_process peer;

    (void) state;
    hold_and_watch(LATCH_ACQUIRE);
    peer = unit_peer(path);
    UNIT_CHECK(!unit_peer_try(&peer, LOCK_EX));
    UNIT_CHECK(chmod(path, 0600) == 0);
    UNIT_CHECK(truncate(path, 10) == 0);
    make_file(elsewhere);
    UNIT_CHECK(!unit_watch_tells(&watch));
    unit_kill(&peer);
}

static void a_removed_file_is_a_loss(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_ACQUIRE_SHARED; kind++) {
        hold_and_watch(kind);
        UNIT_CHECK(unlink(path) == 0);
        UNIT_CHECK(unit_watch_tells(&watch));
        UNIT_CHECK(unit_is_free_at(path, LOCK_EX)); /* others lock a new one */
        UNIT_CHECK(unit_watch_tells(&watch));
        unit_watch_end(&watch);
        unit_release(lease);
    }
}

static void a_replaced_file_is_a_loss(void **state)
{
    (void) state;
    hold_and_watch(LATCH_ACQUIRE);
    make_file(elsewhere);
    UNIT_CHECK(rename(elsewhere, path) == 0);
    UNIT_CHECK(unit_watch_tells(&watch));
}

static void a_symbolic_link_in_its_place_is_a_loss(void **state)
{
    (void) state;
    hold_and_watch(LATCH_ACQUIRE);
    UNIT_CHECK(rename(path, elsewhere) == 0);
    UNIT_CHECK(symlink(elsewhere, path) == 0); /* which nobody follows */
    UNIT_CHECK(unit_watch_tells(&watch));
}

static void a_file_that_is_put_back_is_the_lock_again(void **state)
{
    (void) state;
    hold_and_watch(LATCH_ACQUIRE);
    UNIT_CHECK(rename(path, elsewhere) == 0);
    UNIT_CHECK(unit_watch_tells(&watch));
    UNIT_CHECK(rename(elsewhere, path) == 0);
    UNIT_CHECK(!unit_watch_tells(&watch));
    UNIT_CHECK(!unit_is_free("r", LOCK_SH));
}

static void a_directory_that_is_gone_is_a_loss(void **state)
{
    char moved[UNIT_PATH + 8];

    (void) state;
    hold_and_watch(LATCH_ACQUIRE);
    snprintf(moved, sizeof(moved), "%s.moved", unit.directory);
    UNIT_CHECK(rename(unit.directory, moved) == 0);
    UNIT_CHECK(unit_watch_tells(&watch));
    make_file(unit.directory); /* now it is no directory */
    UNIT_CHECK(unit_watch_tells(&watch));
    UNIT_CHECK(unlink(unit.directory) == 0 && mkdir(unit.directory, 0777) == 0);
    UNIT_CHECK(unit_watch_tells(&watch));
    UNIT_CHECK(rmdir(unit.directory) == 0 && rename(moved, unit.directory) == 0);
    UNIT_CHECK(!unit_watch_tells(&watch));
}

static void a_directory_that_cannot_be_read_is_no_loss(void **state)
{
    uid_t user = geteuid();
    struct stat status;
    bool tells;

    (void) state;
    hold_and_watch(LATCH_ACQUIRE);
    UNIT_CHECK(chmod(unit.directory, 0) == 0);
    UNIT_CHECK(user != 0 || seteuid(65534) == 0); /* to root all is open */
    UNIT_CHECK(stat(path, &status) != 0 && errno == EACCES);
    tells = unit_watch_tells(&watch);
    UNIT_CHECK(seteuid(user) == 0 && chmod(unit.directory, 0700) == 0);
    UNIT_CHECK(!tells);
}

static void a_watch_keeps_neither_the_file_nor_the_lock(void **state)
{
    size_t descriptors;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    descriptors = unit_count_descriptors();
    UNIT_CHECK(unit_watch_begin(&watch, lease));
    UNIT_CHECK(unit_count_descriptors() == descriptors);
    latch_lease_drop(lease);
    UNIT_CHECK(unit_is_free("r", LOCK_EX));
    UNIT_CHECK(unit_count_descriptors() == descriptors - 1);
}

/* A server that does not answer would hold the thread up. */
static void nothing_is_watched_on_a_network_file_system(void **state)
{
    (void) state;
    latch_store_close(unit.store);
    unit_calls.file_system = 0x6969; /* NFS */
    unit.store = unit_open("flock");
    UNIT_CHECK(unit.store != NULL);
    latch_lease_init(lease, unit.store, "r", 1);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(!unit_watch_begin(&watch, lease));
}

/* ---- By the renewal thread */

static latch_lease *sentinel; /* whose loss tells that the thread has looked after the others */

static int setup_kept(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    unit_losses_open();
    sentinel = unit_lease("sentinel");
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

static void expect_nothing_but_the_sentinels_loss(void)
{
    UNIT_CHECK(unlink(unit_lock_path("sentinel")) == 0);
    unit_losses_expect(sentinel);
}

static void a_loss_is_told_each_time(void **state)
{
    (void) state;
    for (int round = 0; round < 3; round++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(unlink(path) == 0);
        unit_losses_expect(lease);
        UNIT_CHECK(unit_is_free_at(path, LOCK_EX));
        unit_release(lease);
    }
    expect_nothing_but_the_sentinels_loss();
}

/* Not that of the file that nobody else would lock. */
static void what_was_lost_can_be_taken_anew(void **state)
{
    (void) state;
    for (latch_op_kind kind = LATCH_ACQUIRE; kind <= LATCH_ACQUIRE_SHARED; kind++) {
        UNIT_CHECK(unit_run(lease, kind) == LATCH_DONE);
        UNIT_CHECK(rename(path, elsewhere) == 0);
        unit_losses_expect(lease);
        UNIT_CHECK(unit_run(lease, kind) == LATCH_DONE);
        UNIT_CHECK(unit_held(lease) && !unit_is_free_at(path, LOCK_EX));
        UNIT_CHECK(unit_is_free_at(elsewhere, LOCK_EX));
    }
    expect_nothing_but_the_sentinels_loss();
    UNIT_CHECK(unit_held(lease));
}

static void what_was_lost_is_neither_found_nor_renewed(void **state)
{
    static const latch_op_kind kinds[] = {LATCH_PROBE, LATCH_REFRESH};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        UNIT_CHECK(unit_run(lease, kinds[at]) == LATCH_DONE);
        UNIT_CHECK(rename(path, elsewhere) == 0);
        unit_losses_expect(lease);
        UNIT_CHECK(unit_run(lease, kinds[at]) == LATCH_CONFLICT && !unit_held(lease));
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
        UNIT_CHECK(!unit_is_free_at(path, LOCK_EX));
        unit_release(lease);
    }
}

static void what_was_lost_is_refused_while_somebody_has_it(void **state)
{
    unit_process peer;

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unlink(path) == 0);
    unit_losses_expect(lease);
    peer = unit_peer(path);
    UNIT_CHECK(unit_peer_try(&peer, LOCK_EX));
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_CONFLICT && !unit_held(lease));
    unit_kill(&peer);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
}

static void one_that_was_acquired_before_it_is_kept_is_watched_too(void **state)
{
    latch_lease *reader = unit_lease("reader");

    (void) state;
    UNIT_CHECK(unit_run(reader, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    unit_losses_keep(reader);
    UNIT_CHECK(unlink(unit_lock_path("reader")) == 0);
    unit_losses_expect(reader);
}

static void what_was_released_is_not_lost(void **state)
{
    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(unlink(path) == 0);
    lease->remove = true;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_release(lease);
    UNIT_CHECK(access(path, F_OK) != 0); /* we have removed it */
    expect_nothing_but_the_sentinels_loss();
}

static void what_was_dropped_or_let_go_is_not_lost(void **state)
{
    latch_lease *other = unit_lease("other");

    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    unit_losses_keep(other);
    UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_DONE);
    latch_lease_drop(lease);
    latch_lease_stop_renewal(other);
    UNIT_CHECK(unlink(path) == 0 && unlink(unit_lock_path("other")) == 0);
    expect_nothing_but_the_sentinels_loss();
    UNIT_CHECK(unit_held(other)); /* as far as anybody has looked */
}

static void what_is_promoted_and_demoted_is_watched_on(void **state)
{
    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE_SHARED) == LATCH_DONE);
    UNIT_CHECK(unlink(path) == 0);
    unit_losses_expect(lease);
}

static void use_in_child(unit_process *self, void *argument)
{
    (void) self;
    UNIT_CHECK(!unit_held(lease));
    if (argument != NULL) {
        latch_lease_drop(lease);
        latch_lease_drop(sentinel);
        latch_store_close(unit.store);
    }
}

static void a_child_that_exits_is_no_loss(void **state)
{
    (void) state;
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
    for (int orderly = 0; orderly < 2; orderly++) {
        unit_process child = unit_fork(use_in_child, orderly ? lease : NULL);

        unit_join(&child);
    }
    expect_nothing_but_the_sentinels_loss();
    UNIT_CHECK(unit_held(lease));
    UNIT_CHECK(unlink(path) == 0); /* the parent's watch goes on */
    unit_losses_expect(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(a_held_file_that_is_there_is_no_loss),
        WATCH_TEST(a_removed_file_is_a_loss),
        WATCH_TEST(a_replaced_file_is_a_loss),
        WATCH_TEST(a_symbolic_link_in_its_place_is_a_loss),
        WATCH_TEST(a_file_that_is_put_back_is_the_lock_again),
        WATCH_TEST(a_directory_that_is_gone_is_a_loss),
        WATCH_TEST(a_directory_that_cannot_be_read_is_no_loss),
        WATCH_TEST(a_watch_keeps_neither_the_file_nor_the_lock),
        WATCH_TEST(what_is_not_held_is_not_watched),
        WATCH_TEST(a_child_watches_nothing_of_its_parents),
        WATCH_TEST(nothing_is_watched_on_a_network_file_system),
        WATCH_TEST(a_watch_does_without_memory),
        KEPT_TEST(a_loss_is_told_each_time),
        KEPT_TEST(what_was_lost_can_be_taken_anew),
        KEPT_TEST(what_was_lost_is_neither_found_nor_renewed),
        KEPT_TEST(what_was_lost_is_refused_while_somebody_has_it),
        KEPT_TEST(one_that_was_acquired_before_it_is_kept_is_watched_too),
        KEPT_TEST(what_was_released_is_not_lost),
        KEPT_TEST(what_was_dropped_or_let_go_is_not_lost),
        KEPT_TEST(what_is_promoted_and_demoted_is_watched_on),
        KEPT_TEST(a_child_that_exits_is_no_loss),
    };

    return cmocka_run_group_tests_name("watch flock", tests, NULL, NULL);
}
