/* Who holds a lock file: what the kernel says, the try that has the last word, the list of all. */
#include "src/store/flock/flock.h"
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static latch_lock_report *reports;
static int tries;          /* calls of flock() while we looked */
static int refused_shared; /* what the kernel is to answer to them, or UNIT_GO_ON */
static int refused_exclusive;

static int count_tries(int fd, int operation)
{
    int answer = (operation & LOCK_SH) != 0 ? refused_shared : refused_exclusive;

    (void) fd;
    tries++;
    errno = answer == -1 ? EWOULDBLOCK : 0;
    return answer;
}

static int setup(void **state)
{
    reports = NULL;
    refused_shared = refused_exclusive = UNIT_GO_ON;
    return unit_setup_flock(state);
}

static int teardown(void **state)
{
    latch_lock_reports_free(unit.engine, reports);
    return unit_teardown(state);
}

#define INSPECT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static latch_status ask(latch_lease *lease, latch_op_kind kind)
{
    latch_request request = unit_request(kind);

    latch_lock_reports_free(unit.engine, reports);
    reports = NULL;
    request.reports = &reports;
    return unit_run_request(lease, request);
}

/* The same, watched: no other thread may call flock() meanwhile. */
static latch_status look(latch_lease *lease, latch_op_kind kind)
{
    latch_status status;

    tries = 0;
    unit_calls.on_flock = count_tries;
    status = ask(lease, kind);
    unit_calls.on_flock = NULL;
    return status;
}

static size_t count_reports(void)
{
    size_t count = 0;

    for (latch_lock_report *report = reports; report != NULL; report = report->next) {
        count++;
    }
    return count;
}

static size_t count_holders(const latch_lock_report *report)
{
    size_t count = 0;

    for (latch_holder *holder = report->holders; holder != NULL; holder = holder->next) {
        count++;
    }
    return count;
}

static bool has_holder(const latch_lock_report *report, pid_t pid)
{
    for (latch_holder *holder = report->holders; holder != NULL; holder = holder->next) {
        if (holder->number == pid) {
            return true;
        }
    }
    return false;
}

static void expect(const char *resource, latch_mode mode, size_t holders)
{
    assert_int_equal(look(unit_lease(resource), LATCH_INSPECT), LATCH_DONE);
    assert_int_equal(count_reports(), 1);
    assert_string_equal(reports->name, unit_lock_path(resource));
    assert_int_equal(reports->mode, mode);
    assert_int_equal(count_holders(reports), holders);
}

static void a_lock_without_a_file_is_free_and_gets_none(void **state)
{
    struct stat status;

    (void) state;
    expect("r", LATCH_FREE, 0);
    assert_int_equal(tries, 0);
    assert_int_not_equal(lstat(unit_lock_path("r"), &status), 0);
}

static void own_holds_are_found_and_kept(void **state)
{
    latch_lease *one = unit_lease("r"), *two = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(one, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(look(one, LATCH_INSPECT), LATCH_DONE);
    assert_int_equal(reports->mode, LATCH_EXCLUSIVE);
    assert_true(unit_held(one));
    expect("r", LATCH_EXCLUSIVE, 1);
    assert_true(has_holder(reports, getpid()));

    /* Two descriptors of one process are one holder. */
    assert_int_equal(unit_run(one, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(two, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    expect("r", LATCH_SHARED, 1);
    unit_release(one);
    expect("r", LATCH_SHARED, 1);
    unit_release(two);
    expect("r", LATCH_FREE, 0);
}

static void other_processes_are_found_without_touching_the_file(void **state)
{
    unit_process one = unit_peer(unit_lock_path("r")), two = unit_peer(unit_lock_path("r"));

    (void) state;
    assert_true(unit_peer_try(&one, LOCK_SH));
    assert_true(unit_peer_try(&two, LOCK_SH));
    expect("r", LATCH_SHARED, 2);
    assert_true(has_holder(reports, one.pid) && has_holder(reports, two.pid));
    assert_int_equal(tries, 0);
    assert_true(unit_peer_try(&one, LOCK_UN));
    assert_true(unit_peer_try(&two, LOCK_EX));
    expect("r", LATCH_EXCLUSIVE, 1);
    assert_true(has_holder(reports, two.pid));
    assert_int_equal(tries, 0);

    /* One that waits does not hold. */
    unit_peer_wait(&one, LOCK_EX);
    unit_await_sleepers(unit_lock_path("r"), 1);
    expect("r", LATCH_EXCLUSIVE, 1);
    assert_true(has_holder(reports, two.pid));
    assert_true(unit_peer_try(&two, LOCK_UN));
    unit_peer_has(&one);
    unit_join(&one);
    unit_join(&two);
    expect("r", LATCH_FREE, 0);
}

/* A holder in another container, or one that was handed the lock by a process that is dead. */
static void where_nobody_is_seen_a_try_has_the_last_word(void **state)
{
    (void) state;
    assert_int_equal(unit_run(unit_lease("r"), LATCH_ACQUIRE), LATCH_DONE);
    unit_release(&unit.leases[0]);
    expect("r", LATCH_FREE, 0);
    assert_int_equal(tries, 2);
    assert_true(unit_is_free("r", LOCK_EX));
    refused_exclusive = -1;
    expect("r", LATCH_SHARED, 0);
    refused_shared = -1;
    expect("r", LATCH_EXCLUSIVE, 0);
    assert_int_equal(tries, 1);
}

static void what_cannot_be_a_lock_file_is_an_error(void **state)
{
    (void) state;
    assert_int_equal(symlink("/dev/null", unit_lock_path("link")), 0);
    assert_int_equal(look(unit_lease("link"), LATCH_INSPECT), LATCH_ERROR_SYSTEM);
    assert_non_null(strstr(unit.error.message, "is a symbolic link"));
    assert_null(reports);
    assert_int_equal(mkdir(unit_lock_path("directory"), 0700), 0);
    assert_int_equal(look(unit_lease("directory"), LATCH_INSPECT), LATCH_ERROR_SYSTEM);
    assert_non_null(strstr(unit.error.message, "is not a regular file"));
    assert_int_equal(look(unit_lease(""), LATCH_LIST), LATCH_DONE);
    assert_null(reports);
    assert_int_equal(rmdir(unit_lock_path("directory")), 0);
}

static void the_list_has_what_is_held(void **state)
{
    latch_lease *mine = unit_lease("mine"), *released = unit_lease("released");
    unit_process peer = unit_peer(unit_lock_path("theirs"));
    char other_name[256];

    (void) state;
    assert_int_equal(look(unit_lease(""), LATCH_LIST), LATCH_DONE);
    assert_null(reports);
    assert_int_equal(unit_run(mine, LATCH_ACQUIRE_SHARED), LATCH_DONE);
    assert_int_equal(unit_run(released, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(released);
    assert_true(unit_peer_try(&peer, LOCK_EX));
    /* Another name of the same file is no second lock; nor is a file of another name one. */
    snprintf(other_name, sizeof(other_name), "%s/sf.other.ABCDEFG.lock", unit.directory);
    assert_int_equal(link(unit_lock_path("mine"), other_name), 0);
    snprintf(other_name, sizeof(other_name), "%s/other", unit.directory);
    assert_int_equal(link(unit_lock_path("theirs"), other_name), 0);

    assert_int_equal(look(unit_lease(""), LATCH_LIST), LATCH_DONE);
    assert_int_equal(count_reports(), 2);
    for (latch_lock_report *report = reports; report != NULL; report = report->next) {
        bool is_theirs = strcmp(report->name, unit_lock_path("theirs")) == 0;

        assert_int_equal(report->mode, is_theirs ? LATCH_EXCLUSIVE : LATCH_SHARED);
        assert_int_equal(count_holders(report), 1);
        assert_true(has_holder(report, is_theirs ? peer.pid : getpid()));
    }
    unit_join(&peer);
}

static void file_names_are_told_from_others(void **state)
{
    char longest[] = "sf.12345678901234567890123456789012345678901234567890.a+_1234.lock";

    (void) state;
    assert_true(latch_flock_is_file_name("sf.job.XoyZAiB.lock"));
    assert_true(latch_flock_is_file_name("sf..47DEQpj.lock")); /* the empty resource */
    assert_true(latch_flock_is_file_name("sf.a.b.c.1234567.lock"));
    assert_true(latch_flock_is_file_name(longest));
    longest[4] = '/';
    assert_false(latch_flock_is_file_name(longest));
    assert_false(latch_flock_is_file_name(
        "sf.123456789012345678901234567890123456789012345678901.a+_1234.lock"));
    for (const char *const *name =
             (const char *const[]){"", ".", "sf.lock", "sf.1234567.lock", "sf.a.123456.lock",
                                   "sf.a.12345678.lock", "sf.a+.1234567.lock", "sf.a.12 4567.lock",
                                   "sg.a.1234567.lock", "sf.a.1234567.lock2", "sf.a.1234567_lock",
                                   NULL};
         *name != NULL; name++) {
        assert_false(latch_flock_is_file_name(*name));
    }
}

static void a_busy_lease_cannot_be_looked_at(void **state)
{
    unit_process peer = unit_peer(unit_lock_path("r"));
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_IO);
    unit_await_sleepers(unit_lock_path("r"), 1);
    assert_int_equal(ask(lease, LATCH_INSPECT), LATCH_ERROR_BUSY);
    assert_int_equal(ask(unit_lease("r"), LATCH_INSPECT), LATCH_DONE);
    assert_int_equal(count_holders(reports), 1);
    assert_true(has_holder(reports, peer.pid));
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    unit_join(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        INSPECT_TEST(a_lock_without_a_file_is_free_and_gets_none),
        INSPECT_TEST(own_holds_are_found_and_kept),
        INSPECT_TEST(other_processes_are_found_without_touching_the_file),
        INSPECT_TEST(where_nobody_is_seen_a_try_has_the_last_word),
        INSPECT_TEST(what_cannot_be_a_lock_file_is_an_error),
        INSPECT_TEST(the_list_has_what_is_held),
        INSPECT_TEST(file_names_are_told_from_others),
        INSPECT_TEST(a_busy_lease_cannot_be_looked_at),
    };

    return cmocka_run_group_tests_name("flock: who holds", tests, NULL, NULL);
}
