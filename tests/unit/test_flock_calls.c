/* Versions, throttles and the like in files: what they keep, and what is left of them. */
#include "calls.h"
#include "order_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TTL "60000"
#define TELLS(expected, answer) assert_string_equal(answer, expected)

static const char *advance(const char *version)
{
    return unit_call_run("r", LATCH_VERSION_ADVANCE, TTL, version, "0", NULL);
}

static const char *newest(void)
{
    return unit_call_run("r", LATCH_VERSION_GET, NULL);
}

static bool fails_with(const char *answer, const char *problem)
{
    bool fails = strncmp(answer, "error ", 6) == 0 && strstr(answer, problem) != NULL;

    if (!fails) {
        print_message("told: %s\n", answer);
    }
    return fails;
}

static void pass(int64_t ms)
{
    unit.wall_ns += ms * LATCH_NS_PER_MS;
    unit.now_ns += ms * LATCH_NS_PER_MS;
}

/* No time but the test's. */
static int setup_clock(void **state)
{
    int result = unit_setup_flock(state);

    unit.real_clock = false;
    return result;
}

/* Number of files whose names begin and end so. */
static size_t count_files(const char *begin, const char *end)
{
    DIR *directory = opendir(unit.directory);
    size_t count = 0;

    UNIT_CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);

        count += strncmp(entry->d_name, begin, strlen(begin)) == 0 && length >= strlen(end)
                 && strcmp(entry->d_name + length - strlen(end), end) == 0;
    }
    closedir(directory);
    return count;
}

/* The one file whose name begins and ends so. */
static const char *find_file(const char *begin, const char *end)
{
    static char path[PATH_MAX];
    DIR *directory = opendir(unit.directory);

    path[0] = '\0';
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);

        if (strncmp(entry->d_name, begin, strlen(begin)) == 0 && length >= strlen(end)
            && strcmp(entry->d_name + length - strlen(end), end) == 0) {
            UNIT_CHECK(path[0] == '\0');
            snprintf(path, sizeof(path), "%s/%s", unit.directory, entry->d_name);
        }
    }
    closedir(directory);
    UNIT_CHECK(path[0] != '\0');
    return path;
}

static const char *state_file(void)
{
    return find_file("sl.", ".state");
}

static void nothing_is_left(void)
{
    assert_int_equal(count_files("s", ""), 0);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void records_outlive_their_store(void **state)
{
    (void) state;
    TELLS("1", advance("5"));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a1 b", "p\nq", NULL));
    TELLS("open,1,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "1", "1000", NULL));
    TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "60000000", "0", "0", NULL));
    latch_store_close(unit.store);
    unit.store = unit_open("flock");
    TELLS("5", newest());
    TELLS("0", advance("5"));
    TELLS("60000000", unit_call_run("r", LATCH_THROTTLE_LOOK, "60000000", "0", NULL));
    TELLS("arrived,0,1,p\nq,a",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "b", "0", "1000", NULL));
}

static void a_record_ends_with_its_files(void **state)
{
    (void) state;
    TELLS("1", advance("5"));
    assert_int_equal(count_files("sl.version-r.", ".state"), 1);
    assert_int_equal(count_files("sf.sl.version-r.", ".lock"), 1);
    assert_int_equal(count_files("s", ""), 2);
    pass(59999);
    TELLS("5", newest());
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "1", "6", "0", NULL)); /* not sooner */
    TELLS("6", newest());
    pass(1);
    TELLS("", newest());
    nothing_is_left();
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, "1000", "x", "0", NULL));
}

static void the_clock_is_that_of_the_wall(void **state)
{
    (void) state;
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL));
    unit.now_ns -= 4000 * LATCH_NS_PER_S; /* another boot of the machine */
    TELLS("arrived,0,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL));
    pass(1000);
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL));
}

static void times_may_be_endless(void **state)
{
    static const char endless[] = "9223372036854775807";

    (void) state;
    TELLS("1", unit_call_run("r", LATCH_VERSION_ADVANCE, endless, "5", "0", NULL));
    TELLS("5", newest());
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, endless, "1 a", "p", NULL));
    TELLS("arrived,0,1,p",
          unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, endless, "a", "0", endless, NULL));
    TELLS("arrived,0,0,", unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1", NULL));
}

static void slots_come_with_the_clock(void **state)
{
    (void) state;
    for (int at = 0; at < 4; at++) {
        TELLS("1,0", unit_call_run("r", LATCH_THROTTLE_RESERVE, "60000000", "0", "0", NULL));
        unit.now_ns += 1234567891; /* of another boot */
        TELLS("60000000", unit_call_run("r", LATCH_THROTTLE_LOOK, "60000000", "0", NULL));
        pass(60000);
    }
}

static void what_changes_nothing_needs_no_lock(void **state)
{
    unit_process peer;

    (void) state;
    TELLS("1", advance("5"));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
    peer = unit_peer(find_file("sf.sl.version-r.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    TELLS("0", advance("4"));
    TELLS("5", newest());
    TELLS("0", unit_call_run("r", LATCH_VERSION_OUTDATED, "5", NULL));
    TELLS("open", unit_call_run("r", LATCH_COUNT_DOWN_STATE, NULL));
    TELLS("0", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", "p", NULL));
    TELLS("none,0", unit_call_run("other", LATCH_COUNT_DOWN_DONE, TTL, NULL));
    unit_join(&peer);
}

static void a_lock_of_that_name_is_another_thing(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    TELLS("1", advance("5"));
    TELLS("1", unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", NULL));
    assert_true(unit_held(lease));
    unit_release(lease);
}

/* Names whose readable parts are alike are told apart. */
static void names_are_told_apart(void **state)
{
    static const char *const names[] = {"r",        "r ",       "r  ",  "r/",        "R",
                                        "\xc3\xa4", "\xc3\xb6", "../r", "version-r", "."};
    char lengthy[2][1000];

    (void) state;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
            char version[24];

            snprintf(version, sizeof(version), "%zu", at);
            TELLS(pass == 0 ? "1" : "0",
                  unit_call_run(names[at], LATCH_VERSION_ADVANCE, TTL, version, "0", NULL));
            TELLS(version, unit_call_run(names[at], LATCH_VERSION_GET, NULL));
        }
    }
    memset(lengthy, 'x', sizeof(lengthy));
    lengthy[0][999] = lengthy[1][998] = '\0';
    TELLS("1", unit_call_run(lengthy[0], LATCH_VERSION_ADVANCE, TTL, "1", "0", NULL));
    TELLS("1", unit_call_run(lengthy[1], LATCH_VERSION_ADVANCE, TTL, "1", "0", NULL));
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
    advance("6");
}

static void a_killed_writer_leaves_the_record_as_it_was(void **state)
{
    (void) state;
    for (int is_there = 0; is_there < 2; is_there++) {
        for (int step = 0; step < 4; step++) {
            unit_process child = unit_fork(advance_and_die, &step);

            unit_expect(&child, 0);
            unit_kill(&child);
            TELLS(is_there ? "5" : "", newest());
            UNIT_CHECK(count_files("sl.", ".new") <= 1);
        }
        TELLS("1", advance(is_there ? "6" : "5"));
        assert_int_equal(count_files("sl.", ".new"), 0);
    }
    assert_int_equal(count_files("s", ""), 2);
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
    assert_true(fails_with(advance("5"), "cannot be written: No space left on device"));
    unit_calls.on_rename = NULL;
    nothing_is_left();
    TELLS("1", advance("5"));
    unit_calls.on_rename = fail_rename;
    assert_true(fails_with(advance("6"), "cannot be written: No space left on device"));
    unit_calls.on_rename = NULL;
    TELLS("5", newest());
    assert_int_equal(count_files("s", ""), 2);
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
    assert_true(fails_with(unit_call_run("r", LATCH_COUNT_DOWN_OPEN, TTL, "1 a", payload, NULL),
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
                UNIT_CHECK(fails_with(answer, "memory"));
            }
        }
    }
}

/* Reads a whole file, or writes it. */
static size_t read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t length;

    UNIT_CHECK(file != NULL);
    length = fread(text, 1, size, file);
    fclose(file);
    UNIT_CHECK(length < size);
    return length;
}

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "we");

    UNIT_CHECK(file != NULL && fwrite(text, 1, length, file) == length);
    fclose(file);
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
    snprintf(path, sizeof(path), "%s", state_file());
    length = read_file(path, text, sizeof(text));
    for (size_t cut = 0; cut < length; cut++) {
        write_file(path, text, cut);
        UNIT_CHECK(fails_with(inspect(), problem));
        UNIT_CHECK(
            fails_with(unit_call_run("r", LATCH_COUNT_DOWN_ARRIVE, TTL, "a", "0", "1000", NULL),
                       problem));
    }
    for (size_t at = 0; at < length; at++) { /* any answer, or an error: but within the memory */
        for (int byte = 0; byte < 256; byte++) {
            memcpy(broken, text, length);
            broken[at] = (char) byte;
            write_file(path, broken, length);
            inspect();
            broken[at] = text[at];
        }
        memmove(broken + at + 1, text + at, length - at); /* and one byte more */
        broken[at] = '7';
        write_file(path, broken, length + 1);
        inspect();
    }
    write_file(path, text, length);
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
    snprintf(path, sizeof(path), "%s", state_file());
    length = read_file(path, text, sizeof(text));
    for (size_t cut = 0; cut < length; cut++) {
        write_file(path, text, cut);
        UNIT_CHECK(fails_with(ask_sequence(), problem));
    }
    for (size_t at = 0; at < length; at++) { /* any answer, or an error: but within the memory */
        for (const char *byte = "0123456789- \nx"; *byte != '\0'; byte++) {
            memcpy(broken, text, length);
            broken[at] = *byte;
            write_file(path, broken, length);
            ask_sequence();
            memmove(broken + at + 1, text + at, length - at); /* and one byte more */
            write_file(path, broken, length + 1);
            ask_sequence();
        }
    }
    write_file(path, text, length);
    UNIT_CHECK(strstr(ask_sequence(), ",p") != NULL);
}

static void what_is_no_file_of_a_record_is_an_error(void **state)
{
    char path[PATH_MAX];

    (void) state;
    TELLS("1", advance("5"));
    snprintf(path, sizeof(path), "%s", state_file());
    UNIT_CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
    assert_true(fails_with(newest(), "is a symbolic link; remove it"));
    assert_true(fails_with(advance("6"), "is a symbolic link; remove it"));
    UNIT_CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    assert_true(fails_with(newest(), "is not a regular file; remove it"));
    UNIT_CHECK(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    assert_true(fails_with(advance("6"), "is not a regular file; remove it"));
    UNIT_CHECK(unlink(path) == 0);
    TELLS("", newest());
}

static void a_directory_that_is_gone_is_an_error(void **state)
{
    char path[PATH_MAX];

    (void) state;
    snprintf(path, sizeof(path), "%s.away", unit.directory);
    TELLS("1", advance("5"));
    UNIT_CHECK(rename(unit.directory, path) == 0);
    assert_true(fails_with(newest(), "cannot be found: No such file or directory"));
    assert_true(fails_with(advance("6"), "cannot be found: No such file or directory"));
    UNIT_CHECK(rename(path, unit.directory) == 0);
    TELLS("5", newest());
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
    TELLS("1", advance("5"));
    unit_calls.on_open = fail_once;
    TELLS("5", newest());
}

/* ---- Rights ---------------------------------------------------------------------------------- */

static mode_t mode_in(mode_t directory)
{
    struct stat status;

    UNIT_CHECK(chmod(unit.directory, directory) == 0);
    advance("5");
    UNIT_CHECK(stat(state_file(), &status) == 0 && unlink(state_file()) == 0);
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
    TELLS("1", advance("5"));
    UNIT_CHECK(chown(state_file(), 65534, 65534) == 0);
    assert_true(fails_with(newest(), "belongs to another user"));
    assert_true(fails_with(advance("6"), "belongs to another user"));
    UNIT_CHECK(chmod(unit.directory, 0777) == 0);
    TELLS("5", newest());
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void another_writer_is_waited_for(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;
    latch_status status;

    (void) state;
    TELLS("1", advance("5"));
    peer = unit_peer(find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    status = unit_begin(&op, &made.lease, unit_call_request(&made));
    assert_int_equal(status, LATCH_WANT_IO);
    unit_await_sleepers(find_file("sf.sl.", ".lock"), 1);
    TELLS("5", newest());
    assert_true(unit_peer_try(&peer, LOCK_UN));
    TELLS("1", unit_call_told(&made, unit_finish(&op, status)));
    TELLS("6", newest());
    unit_join(&peer);
}

static void a_stopped_writer_is_an_error_in_the_end(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;
    latch_status status;

    (void) state;
    TELLS("1", advance("5"));
    peer = unit_peer(find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    status = unit_begin(&op, &made.lease, unit_call_request(&made));
    assert_int_equal(status, LATCH_WANT_IO);
    assert_true(op.wake_ns <= unit_now_ns() + 10 * LATCH_NS_PER_S);
    unit.ahead_ns += 10 * LATCH_NS_PER_S;
    assert_true(
        fails_with(unit_call_told(&made, unit_finish(&op, latch_op_step(&op, unit_now_ns()))),
                   "locked for 10 s; is it stopped?"));
    unit_join(&peer);
    TELLS("5", newest());
    TELLS("1", advance("6"));
}

static void a_wait_can_be_given_up(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;

    (void) state;
    TELLS("1", advance("5"));
    peer = unit_peer(find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    assert_int_equal(unit_begin(&op, &made.lease, unit_call_request(&made)), LATCH_WANT_IO);
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    assert_null(made.call.answer);
    latch_lease_drop(&made.lease);
    unit_join(&peer);
    TELLS("5", newest());
}

static void without_threads_it_polls(void **state)
{
    unit_process peer;
    unit_call made;
    latch_op op;
    latch_status status;

    (void) state;
    TELLS("1", advance("5"));
    unit_calls.no_threads = true;
    peer = unit_peer(find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    status = unit_begin(&op, &made.lease, unit_call_request(&made));
    assert_int_equal(status, LATCH_WANT_TIMER);
    unit_join(&peer);
    TELLS("1", unit_call_told(&made, unit_finish(&op, status)));
}

static void goes_on_in_a_child(unit_process *self, void *op)
{
    latch_op *mine = op;

    UNIT_CHECK(unit_finish(mine, LATCH_WANT_IO) == LATCH_DONE);
    unit_say(self, mine->request.call->answer->parts[0].text[0]);
}

static void a_forked_wait_goes_on_in_both(void **state)
{
    unit_process peer, child;
    unit_call made;
    latch_op op;

    (void) state;
    if (UNIT_TSAN) {
        skip(); /* it takes the child's threads for the parent's */
    }
    TELLS("1", advance("5"));
    peer = unit_peer(find_file("sf.sl.", ".lock"));
    assert_true(unit_peer_try(&peer, LOCK_EX));
    unit_call_make(&made, unit.store, "r", LATCH_VERSION_ADVANCE, TTL, "6", "0", NULL);
    assert_int_equal(unit_begin(&op, &made.lease, unit_call_request(&made)), LATCH_WANT_IO);
    unit_await_sleepers(find_file("sf.sl.", ".lock"), 1);
    child = unit_fork(goes_on_in_a_child, &op);
    assert_true(unit_peer_try(&peer, LOCK_UN));
    UNIT_CHECK(unit_finish(&op, LATCH_WANT_IO) == LATCH_DONE);
    /* one of them is the first */
    assert_int_equal(made.call.answer->parts[0].text[0] + unit_hear(&child), '0' + '1');
    unit_call_told(&made, LATCH_DONE);
    unit_join(&child);
    unit_join(&peer);
}

/* ---- Contention ------------------------------------------------------------------------------ */

#define GROUPS 60
#define WORKERS 4

/* Each worker arrives for both members of each group, and tells how often it was the last. */
static void arrive_everywhere(unit_process *self, void *argument)
{
    char lasts = 0;

    (void) argument;
    unit_hear(self);
    for (int at = 0; at < GROUPS; at++) {
        char resource[16];

        snprintf(resource, sizeof(resource), "g%d", at);
        for (int member = 0; member < 2; member++) {
            const char *answer = unit_call_run(resource, LATCH_COUNT_DOWN_ARRIVE, TTL,
                                               member == 0 ? "a" : "b", "0", "60000", NULL);

            UNIT_CHECK(strncmp(answer, "error", 5) != 0);
            lasts += (char) (strncmp(answer, "arrived,0,1", 11) == 0);
        }
    }
    unit_say(self, (char) (lasts + 1));
    unit_hear(self);
}

static void exactly_one_arrival_is_the_last(void **state)
{
    unit_process workers[WORKERS];
    int lasts = 0;

    (void) state;
    for (int at = 0; at < GROUPS; at++) {
        char resource[16];

        snprintf(resource, sizeof(resource), "g%d", at);
        TELLS("1", unit_call_run(resource, LATCH_COUNT_DOWN_OPEN, TTL, "1 a1 b", "p", NULL));
    }
    for (int at = 0; at < WORKERS; at++) {
        workers[at] = unit_fork(arrive_everywhere, NULL);
    }
    for (int at = 0; at < WORKERS; at++) {
        unit_say(&workers[at], 'g');
    }
    for (int at = 0; at < WORKERS; at++) {
        lasts += unit_hear(&workers[at]) - 1;
        unit_say(&workers[at], 'e');
        unit_join(&workers[at]);
    }
    assert_int_equal(lasts, GROUPS);
}

/* ---- Sweep ----------------------------------------------------------------------------------- */

static void fill(const char *prefix, int count, const char *ttl)
{
    for (int at = 0; at < count; at++) {
        char resource[32];

        snprintf(resource, sizeof(resource), "%s%d", prefix, at);
        TELLS("1", unit_call_run(resource, LATCH_VERSION_ADVANCE, ttl, "1", "0", NULL));
    }
}

static void what_has_expired_is_swept(void **state)
{
    char path[PATH_MAX];

    (void) state;
    fill("short", 50, "1000");
    fill("long", 50, "1000000");
    snprintf(path, sizeof(path), "%s/sl.version-killed.AAAAAAAAAAAAAAAAAAAAAA.state.new",
             unit.directory);
    write_file(path, "", 0);
    unit.wall_ns = (int64_t) time(NULL) * LATCH_NS_PER_S; /* that file's clock */
    TELLS("1", unit_call_run("kept", LATCH_VERSION_ADVANCE, "10000000", "1", "0", NULL));
    fill("long", 50, "10000000");
    pass(999);
    fill("now", 3000, "1000");
    assert_int_equal(count_files("sl.version-short", ".state"), 0);
    assert_int_equal(count_files("sf.sl.version-short", ".lock"), 0);
    assert_int_equal(count_files("sl.version-long", ".state"), 50);
    assert_int_equal(count_files("sl.version-now", ".state"), 3000);
    assert_int_equal(count_files("sl.version-killed", ".new"), 1);
    pass(3601 * 1000);
    fill("later", 1000, "1000");
    assert_int_equal(count_files("sl.version-now", ".state"), 0);
    assert_int_equal(count_files("sf.sl.version-now", ".lock"), 0);
    assert_int_equal(count_files("sl.version-long", ".state"), 50);
    assert_int_equal(count_files("sl.version-killed", ".new"), 0);
    TELLS("1", unit_call_run("kept", LATCH_VERSION_GET, NULL));
}

/* Its time of modification is no proof. */
static void a_touched_record_is_not_swept(void **state)
{
    struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    (void) state;
    fill("touched", 1, "1000000");
    UNIT_CHECK(utimensat(AT_FDCWD, state_file(), past, 0) == 0);
    fill("r", 1000, TTL);
    assert_int_equal(count_files("sl.version-touched", ".state"), 1);
    assert_int_equal(count_files("sf.sl.version-touched", ".lock"), 1);
}

#define FLOCK_TEST(test) UNIT_TEST(test, setup_flock)
#define CLOCK_TEST(test) cmocka_unit_test_setup_teardown(test, setup_clock, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALL_RULES(FLOCK_TEST),
        ORDER_RULES(FLOCK_TEST),
        FLOCK_TEST(records_outlive_their_store),
        CLOCK_TEST(a_record_ends_with_its_files),
        CLOCK_TEST(the_clock_is_that_of_the_wall),
        CLOCK_TEST(times_may_be_endless),
        CLOCK_TEST(slots_come_with_the_clock),
        FLOCK_TEST(what_changes_nothing_needs_no_lock),
        FLOCK_TEST(a_lock_of_that_name_is_another_thing),
        FLOCK_TEST(names_are_told_apart),
        FLOCK_TEST(a_killed_writer_leaves_the_record_as_it_was),
        FLOCK_TEST(a_failed_write_leaves_the_record_as_it_was),
        FLOCK_TEST(a_full_disk_leaves_the_record_as_it_was),
        FLOCK_TEST(without_memory_nothing_is_changed),
        FLOCK_TEST(a_damaged_record_is_an_error),
        FLOCK_TEST(a_damaged_sequence_is_an_error),
        FLOCK_TEST(what_is_no_file_of_a_record_is_an_error),
        FLOCK_TEST(a_directory_that_is_gone_is_an_error),
        FLOCK_TEST(files_of_locks_make_room),
        FLOCK_TEST(those_that_may_replace_a_record_may_read_it),
        FLOCK_TEST(a_record_of_another_user_is_refused),
        FLOCK_TEST(another_writer_is_waited_for),
        FLOCK_TEST(a_stopped_writer_is_an_error_in_the_end),
        FLOCK_TEST(a_wait_can_be_given_up),
        FLOCK_TEST(without_threads_it_polls),
        FLOCK_TEST(a_forked_wait_goes_on_in_both),
        FLOCK_TEST(exactly_one_arrival_is_the_last),
        CLOCK_TEST(what_has_expired_is_swept),
        FLOCK_TEST(a_touched_record_is_not_swept),
    };

    return cmocka_run_group_tests_name("flock calls", tests, NULL, NULL);
}
