/* Lock files: names, modes, what stands in their place, descriptors that run out. */
#include "src/store/flock/flock.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TIMES_10(text) text text text text text text text text text text
#define TIMES_20(text) TIMES_10(text) TIMES_10(text)
#define TIMES_50(text) TIMES_20(text) TIMES_20(text) TIMES_10(text)
#define TIMES_60(text) TIMES_50(text) TIMES_10(text)

static void lock_files_have_symfonys_names(void **state)
{
    /* Made by symfony/lock 7.4's FlockStore. */
    static const struct {
        const char *resource;
        size_t length;
        const char *name;
    } known[] = {
        {"foo", 3, "sf.foo.LCa0a2j.lock"},
        {"invoice", 7, "sf.invoice.Utbj3k+.lock"},
        {"a b", 3, "sf.a-b.yGh6CKp.lock"},
        {"a/../b", 6, "sf.a-..-b.kA6ot+D.lock"},
        {"../../etc/passwd", 16, "sf...-..-etc-passwd.N1TWyzo.lock"},
        {"Prüfung", 8, "sf.Pr-fung._9yimKN.lock"},
        {".", 1, "sf...zbTuKup.lock"},
        {"..", 2, "sf....XsH35wD.lock"},
        {"--", 2, "sf.--.2BVrrgx.lock"},
        {"a--b  c//d", 10, "sf.a--b-c-d.7ZxzPwA.lock"},
        {"tab\tnul\0x", 9, "sf.tab-nul-x.66lIATE.lock"},
        {TIMES_50("x"), 50, "sf." TIMES_50("x") ".d88SBg1.lock"},
        {TIMES_50("x") "x", 51, "sf." TIMES_50("x") ".Ps1QKvc.lock"},
        {TIMES_20("long resource "), 280,
         "sf.long-resource-long-resource-long-resource-long-res.imO+NnY.lock"},
        {"UPPER_lower.0-9", 15, "sf.UPPER_lower.0-9.GOi+pLH.lock"},
        {" lead", 5, "sf.-lead.4+PEDNo.lock"},
        {"trail ", 6, "sf.trail-.WUE+kI8.lock"},
        {TIMES_60("é"), 120, "sf.-.+Ymq9SJ.lock"},
        {"*", 1, "sf.-.aEiIwOu.lock"},
        {"r2", 2, "sf.r2.23f9Aa+.lock"},
        {"r52", 3, "sf.r52._cHWPO_.lock"},
    };

    (void) state;
    for (size_t at = 0; at < sizeof(known) / sizeof(known[0]); at++) {
        latch_lease *lease = unit_lease_on(known[at].resource, known[at].length);
        char path[300];

        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
        snprintf(path, sizeof(path), "%s/%s", unit.directory, known[at].name);
        assert_int_equal(access(path, F_OK), 0);
        assert_false(unit_is_free_at(path, LOCK_SH));
        unit_release(lease);
    }
}

static void a_lock_file_is_everybodys_whatever_the_umask(void **state)
{
    latch_lease *lease = unit_lease("r");
    mode_t before = umask(077);
    struct stat status;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    umask(before);
    assert_int_equal(stat(unit_lock_path("r"), &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0666);
    unit_release(lease);
}

static void a_lock_file_that_is_there_is_used_as_it_is(void **state)
{
    latch_lease *lease = unit_lease("r");
    FILE *file = fopen(unit_lock_path("r"), "we");
    struct stat status;

    (void) state;
    assert_non_null(file);
    fputs("somebody's notes", file);
    assert_int_equal(fchmod(fileno(file), 0640), 0);
    fclose(file);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(stat(unit_lock_path("r"), &status), 0);
    assert_int_equal(status.st_size, 16);
    assert_int_equal(status.st_mode & 07777, 0640);
    unit_release(lease);
}

static void a_started_command_does_not_inherit_the_lock(void **state)
{
    latch_lease *lease = unit_lease("r");
    const flock_file *file;

    (void) state;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    file = lease->state;
    assert_true((fcntl(file->descriptor.fd, F_GETFD) & FD_CLOEXEC) != 0);
    unit_release(lease);
}

/* ---- What stands in the lock file's place --------------------------------------------------- */

static void expect_refusal(latch_op_kind kind, int sys_errno, const char *message)
{
    latch_lease *lease = unit_lease("r");
    size_t descriptors = unit_count_descriptors();
    char expected[512];

    snprintf(expected, sizeof(expected), message, unit_lock_path("r"));
    assert_int_equal(unit_run_waiting(lease, kind, 100), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.sys_errno, sys_errno);
    assert_string_equal(unit.error.message, expected);
    assert_false(unit_held(lease));
    assert_false(lease->busy);
    assert_int_equal(unit_count_descriptors(), descriptors);
}

static void a_symbolic_link_is_refused_and_not_followed(void **state)
{
    char target[200];

    (void) state;
    snprintf(target, sizeof(target), "%s/target", unit.directory);
    assert_int_equal(symlink(target, unit_lock_path("r")), 0); /* dangling */
    expect_refusal(LATCH_ACQUIRE, ELOOP, "the lock file \"%s\" is a symbolic link; remove it");
    assert_int_equal(access(target, F_OK), -1);
    close(open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    expect_refusal(LATCH_ACQUIRE_SHARED, ELOOP,
                   "the lock file \"%s\" is a symbolic link; remove it");
    assert_true(unit_is_free_at(target, LOCK_EX));
}

static void a_fifo_is_refused_without_hanging(void **state)
{
    (void) state;
    assert_int_equal(mkfifo(unit_lock_path("r"), 0666), 0);
    expect_refusal(LATCH_ACQUIRE, EISDIR, "the lock file \"%s\" is not a regular file; remove it");
}

static void a_directory_is_refused(void **state)
{
    (void) state;
    assert_int_equal(mkdir(unit_lock_path("r"), 0777), 0);
    expect_refusal(LATCH_ACQUIRE, EISDIR, "the lock file \"%s\" is not a regular file; remove it");
}

static void a_socket_is_refused(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void) state;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", unit_lock_path("r"));
    assert_int_equal(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
    close(fd);
    expect_refusal(LATCH_ACQUIRE, ENXIO,
                   "the lock file \"%s\" cannot be opened: No such device or address");
}

/* ---- Files that are removed while they are held ---------------------------------------------- */

static void a_held_lock_whose_file_is_removed_is_lost(void **state)
{
    static const latch_op_kind questions[] = {LATCH_PROBE, LATCH_REFRESH};
    latch_lease *lease = unit_lease("r");

    (void) state;
    for (size_t at = 0; at < 4; at++) {
        unit_process other;

        assert_int_equal(unit_run(lease, at < 2 ? LATCH_ACQUIRE : LATCH_ACQUIRE_SHARED),
                         LATCH_DONE);
        assert_int_equal(unit_run(lease, questions[at % 2]), LATCH_DONE);
        assert_int_equal(unlink(unit_lock_path("r")), 0);
        other = unit_peer(unit_lock_path("r")); /* makes it anew */
        assert_true(unit_peer_try(&other, LOCK_EX));
        assert_true(unit_held(lease)); /* for all that is known without a look */
        assert_int_equal(unit_run(lease, questions[at % 2]), LATCH_CONFLICT);
        assert_true(lease->lost);
        assert_false(unit_held(lease));
        assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
        unit_release(lease);
        assert_false(unit_is_free("r", LOCK_SH)); /* the other one's is what it was */
        unit_kill(&other);
    }
}

static void a_held_lock_whose_directory_was_moved_is_lost(void **state)
{
    latch_lease *lease = unit_lease("r");
    char elsewhere[UNIT_PATH + 8];

    (void) state;
    snprintf(elsewhere, sizeof(elsewhere), "%s.moved", unit.directory);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(rename(unit.directory, elsewhere), 0);
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_CONFLICT);
    assert_true(lease->lost);
    assert_int_equal(rename(elsewhere, unit.directory), 0);
    assert_int_equal(unit_run(lease, LATCH_PROBE), LATCH_CONFLICT); /* once and for all */
}

static void a_missing_directory_is_an_error_that_names_the_file(void **state)
{
    (void) state;
    assert_int_equal(rmdir(unit.directory), 0);
    expect_refusal(LATCH_ACQUIRE, ENOENT,
                   "the lock file \"%s\" cannot be opened: No such file or directory");
    assert_int_equal(mkdir(unit.directory, 0700), 0);
}

static void a_path_that_is_too_long_is_an_error(void **state)
{
    char *path = malloc(4090);
    const latch_store_options options = {.path = path};
    latch_lease *lease;

    (void) state;
    memset(path, '/', 4089);
    path[4089] = '\0';
    latch_store_close(unit.store);
    unit.store = latch_store_open(unit.engine, "flock", &options, &unit.error);
    free(path);
    assert_non_null(unit.store);
    lease = unit_lease("r");
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_ERROR_ARGUMENT);
    assert_string_equal(unit.error.message, "the path of the lock directory is too long");
}

/* ---- Opening in a directory that others use too --------------------------------------------- */

static int refuse_writing(const char *path, int flags)
{
    (void) path;
    if ((flags & O_ACCMODE) == O_RDWR) {
        errno = EACCES;
        return -1;
    }
    return UNIT_GO_ON;
}

static void a_file_that_cannot_be_written_is_locked_all_the_same(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    close(open(unit_lock_path("r"), O_CREAT | O_WRONLY | O_CLOEXEC, 0444));
    unit_calls.on_open = refuse_writing;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_calls.on_open = NULL;
    assert_false(unit_is_free("r", LOCK_SH));
    unit_release(lease);
}

static void a_fifo_that_cannot_be_written_is_refused_without_hanging(void **state)
{
    (void) state;
    assert_int_equal(mkfifo(unit_lock_path("r"), 0666), 0);
    unit_calls.on_open = refuse_writing; /* to read from it would wait for a writer */
    expect_refusal(LATCH_ACQUIRE, EISDIR, "the lock file \"%s\" is not a regular file; remove it");
}

static size_t creations;

static int check_creation(const char *path, int flags)
{
    if ((flags & O_CREAT) != 0) {
        assert_true((flags & O_EXCL) != 0); /* fs.protected_regular refuses all else */
        assert_int_equal(access(path, F_OK), -1);
        creations++;
    }
    return UNIT_GO_ON;
}

static void only_a_file_that_is_not_there_is_created(void **state)
{
    latch_lease *lease = unit_lease("r");

    (void) state;
    creations = 0;
    unit_calls.on_open = check_creation;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(creations, 1);
    latch_lease_drop(lease);
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    assert_int_equal(creations, 1);
    unit_release(lease);
}

static size_t failing_opens;

static int refuse_for_a_while(const char *path, int flags)
{
    (void) path;
    (void) flags;
    if (failing_opens == 0) {
        return UNIT_GO_ON;
    }
    failing_opens--;
    errno = EACCES;
    return -1;
}

static void a_file_that_is_being_created_is_tried_again_in_a_moment(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    failing_opens = 4; /* two attempts, for writing and for reading */
    unit_calls.on_open = refuse_for_a_while;
    assert_int_equal(unit_begin(&op, lease, unit_request(LATCH_ACQUIRE)), LATCH_WANT_TIMER);
    assert_true(op.wake_ns - unit_now_ns() < LATCH_NS_PER_MS);
    assert_int_equal(unit_finish(&op, LATCH_WANT_TIMER), LATCH_DONE);
    unit_release(lease);
}

static void a_file_that_stays_unreadable_is_an_error_soon(void **state)
{
    (void) state;
    failing_opens = SIZE_MAX;
    unit_calls.on_open = refuse_for_a_while;
    expect_refusal(LATCH_ACQUIRE, EACCES,
                   "the lock file \"%s\" cannot be opened: Permission denied");
}

/* Somebody else creates the file between our look and our own creation, or removes it again. */
static int lose_the_race(const char *path, int flags)
{
    if (failing_opens > 0) {
        failing_opens--;
        errno = (flags & O_CREAT) != 0 ? EEXIST : ENOENT;
        return -1;
    }
    if ((flags & O_CREAT) != 0) {
        unit_calls.on_open = NULL;
        assert_true(unit_is_free_at(path, LOCK_EX)); /* creates it */
    }
    return UNIT_GO_ON;
}

static void a_file_that_somebody_else_creates_meanwhile_is_used(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    failing_opens = 0;
    unit_calls.on_open = lose_the_race;
    assert_int_equal(unit_begin(&op, lease, unit_request(LATCH_ACQUIRE)), LATCH_DONE);
    assert_false(unit_is_free("r", LOCK_SH));
    unit_release(lease);
}

static void a_file_that_comes_and_goes_is_in_use_and_no_error(void **state)
{
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    failing_opens = SIZE_MAX;
    unit_calls.on_open = lose_the_race;
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_CONFLICT);
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_TIMER);
    for (int at = 0; at < 30; at++) {
        assert_int_equal(latch_op_step(&op, unit_now_ns()), LATCH_WANT_TIMER);
    }
    unit_calls.on_open = NULL;
    assert_int_equal(unit_finish(&op, LATCH_WANT_TIMER), LATCH_DONE);
    unit_release(lease);
}

static void a_long_wait_may_meet_many_files_that_are_being_created(void **state)
{
    unit_process peer = unit_peer(unit_lock_path("r"));
    latch_lease *lease = unit_lease("r");
    latch_op op;

    (void) state;
    unit_calls.no_threads = true; /* it polls, and opens anew whenever the idle file is gone */
    unit_calls.on_open = refuse_for_a_while;
    failing_opens = 0;
    assert_true(unit_peer_try(&peer, LOCK_EX));
    assert_int_equal(unit_begin(&op, lease, unit_waiting(LATCH_ACQUIRE, LATCH_NEVER)),
                     LATCH_WANT_TIMER);
    for (int round = 0; round < 5; round++) { /* each with 6 of the 10 refusals that one may meet */
        failing_opens = 12;
        latch_flock_close_idle((flock_store *) unit.store);
        for (int steps = 0; steps < 7; steps++) {
            assert_int_equal(latch_op_step(&op, unit_now_ns()), LATCH_WANT_TIMER);
        }
        assert_int_equal(failing_opens, 0);
    }
    assert_int_equal(unit_cancel(&op), LATCH_CONFLICT);
    unit_join(&peer);
}

/* ---- Descriptors that run out --------------------------------------------------------------- */

static rlim_t limit_descriptors(rlim_t limit)
{
    struct rlimit limits;
    rlim_t before;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limits), 0);
    before = limits.rlim_cur;
    limits.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limits), 0);
    return before;
}

static rlim_t lowest_free_descriptor(void)
{
    int fd = dup(0);

    assert_true(fd >= 0);
    close(fd);
    return (rlim_t) fd;
}

static void without_a_free_descriptor_the_error_says_what_to_do(void **state)
{
    latch_lease *lease = unit_lease("r");
    rlim_t before = limit_descriptors(lowest_free_descriptor());
    latch_status status = unit_run(lease, LATCH_ACQUIRE);

    (void) state;
    limit_descriptors(before);
    assert_int_equal(status, LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.sys_errno, EMFILE);
    assert_string_equal(unit.error.message,
                        "too many open files, every held lock has one; raise ulimit -n");
    assert_int_equal(unit_run(lease, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(lease);
}

static void idle_files_make_room_when_descriptors_run_out(void **state)
{
    latch_lease *idle = unit_lease("idle"), *lease = unit_lease("r");
    latch_status status;
    rlim_t before;

    (void) state;
    assert_int_equal(unit_run(idle, LATCH_ACQUIRE), LATCH_DONE);
    unit_release(idle);
    before = limit_descriptors(lowest_free_descriptor());
    status = unit_run(lease, LATCH_ACQUIRE);
    limit_descriptors(before);
    assert_int_equal(status, LATCH_DONE);
    unit_release(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(lock_files_have_symfonys_names, setup_flock),
        UNIT_TEST(a_lock_file_is_everybodys_whatever_the_umask, setup_flock),
        UNIT_TEST(a_lock_file_that_is_there_is_used_as_it_is, setup_flock),
        UNIT_TEST(a_started_command_does_not_inherit_the_lock, setup_flock),
        UNIT_TEST(a_symbolic_link_is_refused_and_not_followed, setup_flock),
        UNIT_TEST(a_fifo_is_refused_without_hanging, setup_flock),
        UNIT_TEST(a_directory_is_refused, setup_flock),
        UNIT_TEST(a_socket_is_refused, setup_flock),
        UNIT_TEST(a_held_lock_whose_file_is_removed_is_lost, setup_flock),
        UNIT_TEST(a_held_lock_whose_directory_was_moved_is_lost, setup_flock),
        UNIT_TEST(a_missing_directory_is_an_error_that_names_the_file, setup_flock),
        UNIT_TEST(a_path_that_is_too_long_is_an_error, setup_flock),
        UNIT_TEST(a_file_that_cannot_be_written_is_locked_all_the_same, setup_flock),
        UNIT_TEST(a_fifo_that_cannot_be_written_is_refused_without_hanging, setup_flock),
        UNIT_TEST(only_a_file_that_is_not_there_is_created, setup_flock),
        UNIT_TEST(a_file_that_is_being_created_is_tried_again_in_a_moment, setup_flock),
        UNIT_TEST(a_file_that_stays_unreadable_is_an_error_soon, setup_flock),
        UNIT_TEST(a_file_that_somebody_else_creates_meanwhile_is_used, setup_flock),
        UNIT_TEST(a_file_that_comes_and_goes_is_in_use_and_no_error, setup_flock),
        UNIT_TEST(a_long_wait_may_meet_many_files_that_are_being_created, setup_flock),
        UNIT_TEST(without_a_free_descriptor_the_error_says_what_to_do, setup_flock),
        UNIT_TEST(idle_files_make_room_when_descriptors_run_out, setup_flock),
    };

    return cmocka_run_group_tests_name("flock: files", tests, NULL, NULL);
}
