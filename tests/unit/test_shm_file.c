/*
 * Files of the shared memory store: options and DSNs, files that cannot be used, files that are
 * made anew, and files with anything in them.
 */
#include "unit.h"

#include "src/store/shm/protocol/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[UNIT_PATH + 16];

/* In the file's header: see header.c. */
enum { AT_FORMAT = 8, AT_PARTICIPANTS = 28, AT_EPOCH = 40, AT_BOOT_ID = 48, HEADER = 4096 };

static latch_store *open_at(const char *where)
{
    latch_store_options options = {.path = where, .capacity = 100};

    return latch_store_open(unit.engine, "shm", &options, &unit.error);
}

static int setup(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    unit_make_directory();
    snprintf(path, sizeof(path), "%s/locks", unit.directory);
    return 0;
}

static void expect_failure(const char *where, const char *message)
{
    latch_store *store = open_at(where);

    if (store != NULL || strstr(unit.error.message, message) == NULL) {
        fail_msg("not \"%s\" but \"%s\"", message, unit.error.message);
    }
}

static void write_file(const void *bytes, size_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t) size && close(fd) == 0);
}

static void change_file(off_t at, const void *bytes, size_t size)
{
    int fd = open(path, O_RDWR);

    assert_true(fd >= 0 && pwrite(fd, bytes, size, at) == (ssize_t) size && close(fd) == 0);
}

/* A file with nothing in it but what its first user leaves. */
static void make_file(void)
{
    latch_store *store = open_at(path);

    assert_non_null(store);
    latch_store_close(store);
}

/* ---- Options */

static latch_status try_dsn(const char *dsn)
{
    latch_store_options options = {.dsn = dsn, .dsn_length = strlen(dsn)};
    latch_store *store = latch_store_open(unit.engine, "shm", &options, &unit.error);

    if (store == NULL) {
        return unit.error.status;
    }
    latch_store_close(store);
    return LATCH_DONE;
}

static void expect_dsn(const char *options, const char *message)
{
    char dsn[2 * UNIT_PATH];

    snprintf(dsn, sizeof(dsn), "shm://%s%s", path, options);
    if (try_dsn(dsn) != LATCH_ERROR_ARGUMENT || strstr(unit.error.message, message) == NULL) {
        fail_msg("%s: not \"%s\" but \"%s\"", dsn, message, unit.error.message);
    }
}

static void a_dsn_names_path_capacity_and_mode(void **state)
{
    struct stat status;
    char dsn[2 * UNIT_PATH];

    (void) state;
    snprintf(dsn, sizeof(dsn), "shm://%s?capacity=4096&mode=0660", path);
    assert_int_equal(try_dsn(dsn), LATCH_DONE);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0660); /* whatever the umask is */
    assert_true(status.st_size > 4096 * 128);
    expect_dsn("?capacity=0", "capacity");
    expect_dsn("?capacity=2147483648", "capacity");
    expect_dsn("?capacity=-1", "capacity");
    expect_dsn("?mode=0860", "mode");
    expect_dsn("?mode=0066", "mode");
    expect_dsn("?mode=4600", "mode");
    expect_dsn("?mode=", "mode");
    expect_dsn("?size=1", "unknown option \"size\"");
    assert_int_equal(try_dsn("shm://host/path"), LATCH_ERROR_ARGUMENT);
    assert_int_equal(try_dsn("shn:///path"), LATCH_ERROR_ARGUMENT);
    expect_failure("relative/path", "absolute");
}

static void the_default_file_is_the_users_own(void **state)
{
    struct stat status;
    char directory[64], file[80];
    bool was_there;

    (void) state;
    snprintf(directory, sizeof(directory), "/dev/shm/latch-%u", (unsigned) geteuid());
    snprintf(file, sizeof(file), "%s/locks", directory);
    was_there = access(file, F_OK) == 0; /* programs of this user may be using it */
    assert_int_equal(try_dsn("shm"), LATCH_DONE);
    assert_int_equal(try_dsn("shm://"), LATCH_DONE);
    if (access("/dev/shm", W_OK) == 0) {
        assert_int_equal(stat(directory, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0700);
        if (!was_there) {
            assert_int_equal(unlink(file), 0);
        }
    }
}

static void the_first_one_decides_the_capacity(void **state)
{
    latch_store *one = open_at(path), *two;
    struct stat before, after;
    latch_store_options larger = {.path = path, .capacity = 100000};

    (void) state;
    assert_non_null(one);
    stat(path, &before);
    two = latch_store_open(unit.engine, "shm", &larger, &unit.error);
    assert_non_null(two);
    stat(path, &after);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(before.st_ino, after.st_ino);
    latch_store_close(two);
    latch_store_close(one);
}

/* ---- Files that cannot be used */

static void a_path_that_is_no_file_is_an_error(void **state)
{
    char other[UNIT_PATH + 32];

    (void) state;
    expect_failure(unit.directory, "directory");
    snprintf(other, sizeof(other), "%s/none/locks", unit.directory);
    expect_failure(other, "its directory is missing");
    make_file();
    snprintf(other, sizeof(other), "%s/link", unit.directory);
    assert_int_equal(symlink(path, other), 0);
    expect_failure(other, "symbolic link");
    snprintf(other, sizeof(other), "%s/fifo", unit.directory);
    assert_int_equal(mkfifo(other, 0600), 0);
    expect_failure(other, "not a regular file");
}

static void a_file_of_something_else_stays_as_it_is(void **state)
{
    static char bytes[10000];
    struct stat status;

    (void) state;
    write_file("x", 1);
    expect_failure(path, "is not one of Latch's");
    for (size_t at = 0; at < sizeof(bytes); at++) {
        bytes[at] = (char) (at * 7 + 1);
    }
    write_file(bytes, sizeof(bytes));
    expect_failure(path, "is not one of Latch's");
    assert_true(stat(path, &status) == 0 && status.st_size == sizeof(bytes));
}

static void a_file_of_another_version_is_an_error(void **state)
{
    uint32_t format = 2;

    (void) state;
    make_file();
    change_file(AT_FORMAT, &format, sizeof(format));
    expect_failure(path, "another version of Latch");
}

static void a_truncated_file_or_a_wrong_number_is_an_error(void **state)
{
    (void) state;
    make_file();
    assert_int_equal(truncate(path, HEADER), 0);
    expect_failure(path, "is corrupt");
    for (int at = 0; at < 7; at++) {
        uint32_t wrong[] = {0, 1, 4097, UINT32_MAX};

        for (size_t value = 0; value < 4; value++) {
            assert_int_equal(unlink(path), 0);
            make_file();
            change_file(AT_PARTICIPANTS - 16 + at * 4, &wrong[value], sizeof(wrong[value]));
            expect_failure(path, "is corrupt");
        }
    }
}

static void a_network_file_system_is_refused(void **state)
{
    (void) state;
    unit_calls.file_system = 0x6969;
    expect_failure(path, "NFS");
    unit_calls.file_system = 0x65735546;
    expect_failure(path, "FUSE");
}

/* By a limit of the process, which the kernel answers as it does on a full disk. */
static void fill_disk(unit_process *self, void *argument)
{
    const struct rlimit limit = {100000, 100000};
    struct stat status;

    (void) self;
    (void) argument;
    signal(SIGXFSZ, SIG_IGN);
    UNIT_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    UNIT_CHECK(open_at(path) == NULL);
    UNIT_CHECK(strstr(unit.error.message, "as large as it has to be") != NULL);
    UNIT_CHECK(stat(path, &status) == 0 && status.st_size == 0); /* nothing is left in it */
}

static void a_file_that_has_no_room_is_an_error(void **state)
{
    unit_process child = unit_fork(fill_disk, NULL);

    (void) state;
    unit_join(&child);
    make_file();
}

static void use_as_another_user(unit_process *self, void *argument)
{
    (void) self;
    (void) argument;
    UNIT_CHECK(setuid(65534) == 0);
    UNIT_CHECK(open_at(path) == NULL);
    UNIT_CHECK(strstr(unit.error.message, "another user") != NULL);
}

static void a_file_of_another_user_is_closed_unless_its_mode_lets_in(void **state)
{
    unit_process child;

    (void) state;
    if (geteuid() != 0) {
        print_message("only root can become another user\n");
        skip();
    }
    make_file();
    assert_int_equal(chmod(unit.directory, 0755), 0);
    child = unit_fork(use_as_another_user, NULL);
    unit_join(&child);
    /* In a directory like /tmp anybody may have put it there. */
    assert_int_equal(chmod(unit.directory, 01777), 0);
    assert_int_equal(chown(unit.directory, 65534, 0), 0);
    assert_int_equal(chown(path, 65533, 0), 0);
    expect_failure(path, "use a directory of your own");
}

/* ---- Files that are made anew */

static void expect_new_epoch(uint64_t before)
{
    uint64_t after = 0;
    int fd;

    make_file();
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && pread(fd, &after, sizeof(after), AT_EPOCH) == sizeof(after));
    close(fd);
    assert_true(after > before);
}

static void a_file_from_before_the_boot_is_made_anew(void **state)
{
    static const char boot_id[] = "00000000-0000-0000-0000-000000000000";

    (void) state;
    unit.wall_ns = 1000;
    make_file();
    change_file(AT_BOOT_ID, boot_id, strlen(boot_id));
    unit.wall_ns = 2000;
    expect_new_epoch(1000);
}

static void a_file_whose_maker_died_is_made_anew(void **state)
{
    (void) state;
    unit.wall_ns = 1000;
    make_file();
    change_file(0, "LATCHNEW", 8);
    unit.wall_ns = 2000;
    expect_new_epoch(1000);
    write_file("", 0);
    unit.wall_ns = 3000;
    expect_new_epoch(2000);
}

/* ---- Files with anything in them */

static void use_corrupt_file(void)
{
    latch_store *store = open_at(path);
    latch_lock_report *reports = NULL;
    latch_lease leases[4];
    latch_request request;

    if (store == NULL) {
        return;
    }
    for (int at = 0; at < 4; at++) {
        static const char *const names[] = {"a", "b", "a", "c"};

        latch_lease_init(&leases[at], store, names[at], 1);
        unit_run(&leases[at], at % 2 == 0 ? LATCH_ACQUIRE_SHARED : LATCH_ACQUIRE);
        unit_run_waiting(&leases[at], LATCH_ACQUIRE, 1);
    }
    request = unit_request(LATCH_LIST);
    request.reports = &reports;
    unit_run_request(&leases[0], request);
    latch_lock_reports_free(unit.engine, reports);
    for (int at = 0; at < 4; at++) {
        latch_lease_drop(&leases[at]);
    }
    latch_store_close(store);
}

/* In a child: neither a crash nor an endless loop, whatever the numbers are. */
static void use_corrupt_files(unit_process *self, void *argument)
{
    struct stat status;
    size_t rounds = UNIT_SANITIZED ? 20 : 200;

    (void) self;
    (void) argument;
    srand(5);
    for (size_t round = 0; round < rounds; round++) {
        unsigned char *bytes;
        int fd;

        unlink(path);
        make_file();
        fd = open(path, O_RDWR);
        UNIT_CHECK(fstat(fd, &status) == 0);
        bytes = mmap(NULL, (size_t) status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        UNIT_CHECK(bytes != MAP_FAILED);
        for (size_t at = HEADER; at + 4 <= (size_t) status.st_size; at += 4) {
            if ((unsigned) rand() % (2 + round % 40) == 0) {
                uint32_t value = (uint32_t) rand() % (round % 3 == 0 ? 8 : UINT32_MAX);

                memcpy(bytes + at, &value, sizeof(value));
            }
        }
        munmap(bytes, (size_t) status.st_size);
        close(fd);
        use_corrupt_file();
    }
}

static void a_file_with_anything_in_it_is_survived(void **state)
{
    unit_process child = unit_fork(use_corrupt_files, NULL);

    (void) state;
    unit_join(&child);
}

/* A chain that leads back into itself, or out of the file. */
static void a_chain_without_an_end_is_an_error(void **state)
{
    latch_lease *lease = unit_lease("a"), *other = unit_lease("a");
    static const uint32_t heads[] = {0, UINT32_MAX};

    (void) state;
    for (size_t round = 0; round < 2; round++) {
        struct stat status;
        char *bytes;
        int fd;

        unit.store = open_at(path);
        latch_lease_init(lease, unit.store, "a", 1);
        latch_lease_init(other, unit.store, "a", 1);
        UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE);
        fd = open(path, O_RDWR);
        assert_int_equal(fstat(fd, &status), 0);
        bytes = mmap(NULL, (size_t) status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_true(bytes != MAP_FAILED);
        for (shm_record *record = (shm_record *) (void *) (bytes + status.st_size) - 2048;
             (void *) record < (void *) (bytes + status.st_size); record++) {
            if (record->state != SHM_FREE) {
                shm_record *first = (shm_record *) (void *) (bytes + status.st_size) - 2048;

                record->next = heads[round] != 0 ? heads[round] : (uint32_t) (record - first) + 1;
            }
        }
        UNIT_CHECK(unit_run(other, LATCH_ACQUIRE) == LATCH_ERROR_STORE);
        assert_non_null(strstr(unit.error.message, "is corrupt"));
        munmap(bytes, (size_t) status.st_size);
        close(fd);
        latch_lease_drop(lease);
        latch_lease_drop(other);
        latch_store_close(unit.store);
        unit.store = NULL;
        assert_int_equal(unlink(path), 0);
    }
    unit.lease_count = 0; /* of stores that are closed */
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_dsn_names_path_capacity_and_mode),
        TEST(the_default_file_is_the_users_own),
        TEST(the_first_one_decides_the_capacity),
        TEST(a_path_that_is_no_file_is_an_error),
        TEST(a_file_of_something_else_stays_as_it_is),
        TEST(a_file_of_another_version_is_an_error),
        TEST(a_truncated_file_or_a_wrong_number_is_an_error),
        TEST(a_network_file_system_is_refused),
        TEST(a_file_that_has_no_room_is_an_error),
        TEST(a_file_of_another_user_is_closed_unless_its_mode_lets_in),
        TEST(a_file_from_before_the_boot_is_made_anew),
        TEST(a_file_whose_maker_died_is_made_anew),
        TEST(a_chain_without_an_end_is_an_error),
        TEST(a_file_with_anything_in_it_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
