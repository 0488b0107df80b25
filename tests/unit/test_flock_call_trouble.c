/* Calls of versions and the like in files: processes that die, disks, damage and rights. */
#include "flock_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void nothing_is_left(void)
{
    assert_int_equal(flock_calls_count_files("s", ""), 0);
}

/* ---- Trouble --------------------------------------------------------------------------------- */

static int die_at_rename(void)
{
    return raise(SIGKILL);
}

static void die_at_write(int fd)
{
    (void) fd;
    raise(SIGKILL);
}

static int die_at_open(const char *path, int flags)
{
    (void) flags;
    return strstr(path, ".state.new") != NULL ? raise(SIGKILL) : UNIT_GO_ON;
}

static int die_at_second_read(const char *path, int flags)
{
    static int reads;

    (void) flags;
    return strstr(path, ".state") != NULL && ++reads == 2 ? raise(SIGKILL) : UNIT_GO_ON;
}

static void advance_and_die(unit_process *self, void *step)
{
    (void) self;
    switch (*(int *) step) {
        case 0:
            unit_calls.on_open = die_at_second_read;
            break;
        case 1:
            unit_calls.on_open = die_at_open;
            break;
        case 2:
            unit_calls.before_write = die_at_write;
            break;
        default:
            unit_calls.on_rename = die_at_rename;
            break;
    }
    flock_calls_advance("6");
}

static void a_killed_writer_leaves_the_record_as_it_was(void **state)
{
    (void) state;
    for (int is_there = 0; is_there < 2; is_there++) {
        for (int step = 0; step < 4; step++) {
            unit_process child = unit_fork(advance_and_die, &step);

            unit_expect(&child, 0);
            unit_kill(&child);
            TELLS(is_there ? "5" : "", flock_calls_newest());
            UNIT_CHECK(flock_calls_count_files("sl.", ".new") <= 1);
        }
        TELLS("1", flock_calls_advance(is_there ? "6" : "5"));
        assert_int_equal(flock_calls_count_files("sl.", ".new"), 0);
    }
    assert_int_equal(flock_calls_count_files("s", ""), 2);
}

static int fail_rename(void)
{
    errno = ENOSPC;
    return -1;
}

static void a_failed_write_leaves_the_record_as_it_was(void **state)
{
    (void) state;
    unit_calls.on_rename = fail_rename;
    assert_true(flock_calls_fails_with(flock_calls_advance("5"),
                                       "cannot be written: No space left on device"));
    unit_calls.on_rename = NULL;
    nothing_is_left();
    TELLS("1", flock_calls_advance("5"));
    unit_calls.on_rename = fail_rename;
    assert_true(flock_calls_fails_with(flock_calls_advance("6"),
                                       "cannot be written: No space left on device"));
    unit_calls.on_rename = NULL;
    TELLS("5", flock_calls_newest());
    assert_int_equal(flock_calls_count_files("s", ""), 2);
}

static void a_full_disk_leaves_the_record_as_it_was(void **state)
{
    struct rlimit before, little = {.rlim_cur = 100};
    static char payload[1000];

    (void) state;
    memset(payload, 'p', sizeof(payload) - 1);
    signal(SIGXFSZ, SIG_IGN);
    UNIT_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    little.rlim_max = before.rlim_max;
    UNIT_CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
    assert_true(
        flock_calls_fails_with(unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", payload, NULL),
                               "cannot be written: File too large"));
    nothing_is_left();
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
    UNIT_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, SIG_DFL);
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL));
}

/* Carries calls out with each allocation failing in turn: an error has changed nothing. */
static void without_memory_nothing_is_changed(void **state)
{
    static const struct {
        latch_function function;
        const char *arguments[4];
        const char *answer;
    } calls[] = {
        {LATCH_VERSION_ADVANCE, {TTL, "1", "0"}, "1"},
        {LATCH_VERSION_ADVANCE, {TTL, "2", "0"}, "1"},
        {LATCH_VERSION_REVERT, {TTL, "2"}, "1"},
        {LATCH_VERSION_GET, {NULL}, "1"},
        {LATCH_THROTTLE_RESERVE, {"60000000", "0", "0"}, "1,0"},
        {LATCH_THROTTLE_LOOK, {"60000000", "0"}, "60000000"},
        {LATCH_COUNT_DOWN_OPEN, {TTL, "1 a1 b", "p"}, "1"},
        {LATCH_COUNT_DOWN_ARRIVE, {TTL, "a", "1", "1000"}, "open,1,0,"},
        {LATCH_COUNT_DOWN_INSPECT, {NULL}, "open,2,1,1,0,1,a,b"},
        {LATCH_COUNT_DOWN_ARRIVE, {TTL, "b", "0", "1000"}, "arrived,0,1,p,a"},
        {LATCH_COUNT_DOWN_DONE, {TTL}, "done,0"},
    };

    (void) state; /* unit_teardown() finds what leaked */
    for (size_t at = 0; at < sizeof(calls) / sizeof(*calls); at++) {
        const char *const *arguments = calls[at].arguments;
        bool is_done = false;

        for (size_t call = 1; !is_done; call++) {
            const char *answer;

            UNIT_CHECK(call < 60);
            unit.fail_at = unit.allocations + call;
            answer = unit_call_run("r", calls[at].function, arguments[0], arguments[1],
                                   arguments[2], arguments[3], NULL);
            unit.fail_at = 0;
            is_done = strncmp(answer, "error ", 6) != 0;
            if (is_done) {
                TELLS(calls[at].answer, answer);
            } else {
                UNIT_CHECK(flock_calls_fails_with(answer, "memory"));
            }
        }
    }
}

static const char *inspect(void)
{
    return unit_call_run("r", LATCH_COUNT_DOWN_INSPECT, NULL);
}

static void a_damaged_record_is_an_error(void **state)
{
    static const char problem[] = "is no record, is damaged, or is of another release; remove it";
    char path[PATH_MAX], text[1000], broken[1001];
    size_t length;

    (void) state;
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a1 b2 cc", "p\n", NULL));
    snprintf(path, sizeof(path), "%s", flock_calls_state_file());
    length = flock_calls_read_file(path, text, sizeof(text));
    for (size_t cut = 0; cut < length; cut++) {
        flock_calls_write_file(path, text, cut);
        UNIT_CHECK(flock_calls_fails_with(inspect(), problem));
        UNIT_CHECK(flock_calls_fails_with(unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0",
                                                        "1000", NULL),
                                          problem));
    }
    for (size_t at = 0; at < length; at++) { /* any answer, or an error: but within the memory */
        for (int byte = 0; byte < 256; byte++) {
            memcpy(broken, text, length);
            broken[at] = (char) byte;
            flock_calls_write_file(path, broken, length);
            inspect();
            broken[at] = text[at];
        }
        memmove(broken + at + 1, text + at, length - at); /* and one byte more */
        broken[at] = '7';
        flock_calls_write_file(path, broken, length + 1);
        inspect();
    }
    flock_calls_write_file(path, text, length);
    TELLS("open,3,3,1,0,0,a,b,cc", inspect());
}

static const char *ask_sequence(void)
{
    return unit_call_run("s", LATCH_SEQUENCE_ABANDON, TTL, "0", "w", "1000", NULL);
}

/* A sequence has a list, whose length is in the record, and numbers that are added up. */
static void a_damaged_sequence_is_an_error(void **state)
{
    static const char problem[] = "is no record, is damaged, or is of another release; remove it";
    static const char *const ids[] = {"a", "b", "c"};
    char path[PATH_MAX], text[1000], broken[1001];
    size_t length;

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        UNIT_CHECK(atoll(unit_call_run("s", LATCH_SEQUENCE_ENTER, TTL, ids[at], "p", NULL)) > 0);
    }
    snprintf(path, sizeof(path), "%s", flock_calls_state_file());
    length = flock_calls_read_file(path, text, sizeof(text));
    for (size_t cut = 0; cut < length; cut++) {
        flock_calls_write_file(path, text, cut);
        UNIT_CHECK(flock_calls_fails_with(ask_sequence(), problem));
    }
    for (size_t at = 0; at < length; at++) { /* any answer, or an error: but within the memory */
        for (const char *byte = "0123456789- \nx"; *byte != '\0'; byte++) {
            memcpy(broken, text, length);
            broken[at] = *byte;
            flock_calls_write_file(path, broken, length);
            ask_sequence();
            memmove(broken + at + 1, text + at, length - at); /* and one byte more */
            flock_calls_write_file(path, broken, length + 1);
            ask_sequence();
        }
    }
    flock_calls_write_file(path, text, length);
    UNIT_CHECK(strstr(ask_sequence(), ",p") != NULL);
}

static void what_is_no_file_of_a_record_is_an_error(void **state)
{
    char path[PATH_MAX];

    (void) state;
    TELLS("1", flock_calls_advance("5"));
    snprintf(path, sizeof(path), "%s", flock_calls_state_file());
    UNIT_CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
    assert_true(flock_calls_fails_with(flock_calls_newest(), "is a symbolic link; remove it"));
    assert_true(flock_calls_fails_with(flock_calls_advance("6"), "is a symbolic link; remove it"));
    UNIT_CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    assert_true(flock_calls_fails_with(flock_calls_newest(), "is not a regular file; remove it"));
    UNIT_CHECK(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    assert_true(
        flock_calls_fails_with(flock_calls_advance("6"), "is not a regular file; remove it"));
    UNIT_CHECK(unlink(path) == 0);
    TELLS("", flock_calls_newest());
}

static void a_directory_that_is_gone_is_an_error(void **state)
{
    char path[PATH_MAX];

    (void) state;
    snprintf(path, sizeof(path), "%s.away", unit.directory);
    TELLS("1", flock_calls_advance("5"));
    UNIT_CHECK(rename(unit.directory, path) == 0);
    assert_true(
        flock_calls_fails_with(flock_calls_newest(), "cannot be found: No such file or directory"));
    assert_true(flock_calls_fails_with(flock_calls_advance("6"),
                                       "cannot be found: No such file or directory"));
    UNIT_CHECK(rename(path, unit.directory) == 0);
    TELLS("5", flock_calls_newest());
}

static int fail_once(const char *path, int flags)
{
    static bool has_failed;

    (void) flags;
    if (strstr(path, ".state") == NULL || has_failed) {
        return UNIT_GO_ON;
    }
    has_failed = true;
    errno = EMFILE;
    return -1;
}

static void files_of_locks_make_room(void **state)
{
    (void) state;
    TELLS("1", flock_calls_advance("5"));
    unit_calls.on_open = fail_once;
    TELLS("5", flock_calls_newest());
}

/* ---- Rights ---------------------------------------------------------------------------------- */

static mode_t mode_in(mode_t directory)
{
    struct stat status;

    UNIT_CHECK(chmod(unit.directory, directory) == 0);
    flock_calls_advance("5");
    UNIT_CHECK(stat(flock_calls_state_file(), &status) == 0
               && unlink(flock_calls_state_file()) == 0);
    return status.st_mode & 07777;
}

static void those_that_may_replace_a_record_may_read_it(void **state)
{
    mode_t before = umask(077);

    (void) state;
    assert_int_equal(mode_in(0700), 0600);
    assert_int_equal(mode_in(0755), 0600);
    assert_int_equal(mode_in(0770), 0660);
    assert_int_equal(mode_in(0775), 0660);
    assert_int_equal(mode_in(0777), 0666);
    assert_int_equal(mode_in(01777), 0600);
    umask(before);
}

/* In a directory such as /tmp. */
static void a_record_of_another_user_is_refused(void **state)
{
    (void) state;
    if (geteuid() != 0) {
        skip();
    }
    UNIT_CHECK(chmod(unit.directory, 01777) == 0);
    TELLS("1", flock_calls_advance("5"));
    UNIT_CHECK(chown(flock_calls_state_file(), 65534, 65534) == 0);
    assert_true(flock_calls_fails_with(flock_calls_newest(), "belongs to another user"));
    assert_true(flock_calls_fails_with(flock_calls_advance("6"), "belongs to another user"));
    UNIT_CHECK(chmod(unit.directory, 0777) == 0);
    TELLS("5", flock_calls_newest());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_killed_writer_leaves_the_record_as_it_was, setup_flock),
        UNIT_TEST(a_failed_write_leaves_the_record_as_it_was, setup_flock),
        UNIT_TEST(a_full_disk_leaves_the_record_as_it_was, setup_flock),
        UNIT_TEST(without_memory_nothing_is_changed, setup_flock),
        UNIT_TEST(a_damaged_record_is_an_error, setup_flock),
        UNIT_TEST(a_damaged_sequence_is_an_error, setup_flock),
        UNIT_TEST(what_is_no_file_of_a_record_is_an_error, setup_flock),
        UNIT_TEST(a_directory_that_is_gone_is_an_error, setup_flock),
        UNIT_TEST(files_of_locks_make_room, setup_flock),
        UNIT_TEST(those_that_may_replace_a_record_may_read_it, setup_flock),
        UNIT_TEST(a_record_of_another_user_is_refused, setup_flock),
    };

    return cmocka_run_group_tests_name("flock call trouble", tests, NULL, NULL);
}
