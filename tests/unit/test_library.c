/* Client libraries that are opened at run time: what is told when one cannot be, and that a later
 * call tries anew. */
#include "unit.h"

#include "src/base/library.h"
#include "src/store/sql/mysql/library.h"
#include "src/store/sql/postgresql/library.h"
#include "src/store/sql/sqlite/library.h"
#include "src/store/redis/wire/library.h"
#include "src/store/redis/wire/tls_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void *pointers[sizeof(latch_hiredis) / sizeof(void *)];

/* hiredis once more, in a file of that path, with pointers of the test's own. */
static latch_library make_library(const char *file)
{
    latch_library library = latch_hiredis_library;

    memset(pointers, 0, sizeof(pointers));
    library.file = file;
    library.pointers = pointers;
    library.is_open = false;
    return library;
}

static void expect_failure(latch_library *library, const char *part)
{
    assert_int_equal(latch_library_open(library, &unit.error), LATCH_ERROR_SYSTEM);
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    if (strstr(unit.error.message, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, unit.error.message);
    }
    assert_false(library->is_open);
}

/* A path in the test's directory; valid until the next call. */
static const char *path_of(const char *name)
{
    static char path[UNIT_PATH + 64];

    snprintf(path, sizeof(path), "%s/%s", unit.directory, name);
    return path;
}

/* The real file that hiredis is in. */
static const char *hiredis_path(void)
{
    Dl_info info;

    assert_int_not_equal(dladdr((void *) redisConnectFd, &info), 0);
    return info.dli_fname;
}

static void open_hiredis(void)
{
    assert_int_equal(latch_library_open(&latch_hiredis_library, &unit.error), LATCH_DONE);
}

/* ---- Opening -------------------------------------------------------------------------------- */

static void all_functions_of_a_library_are_found(void **state)
{
    latch_library *const libraries[] = {&latch_hiredis_library, &latch_openssl_library,
                                        &latch_libpq_library, &latch_libmariadb_library,
                                        &latch_libsqlite3_library};

    (void) state;
    for (size_t at = 0; at < sizeof(libraries) / sizeof(*libraries); at++) {
        void *const *found = libraries[at]->pointers;

        for (int round = 0; round < 2; round++) {
            assert_int_equal(latch_library_open(libraries[at], &unit.error), LATCH_DONE);
            assert_true(libraries[at]->is_open);
        }
        for (size_t symbol = 0; symbol < libraries[at]->count; symbol++) {
            /* This program is linked with the same libraries. */
            assert_non_null(found[symbol]);
            assert_ptr_equal(found[symbol], dlsym(RTLD_DEFAULT, libraries[at]->symbols[symbol]));
        }
    }
}

static void *open_in_thread(void *argument)
{
    latch_error error;

    return latch_library_open(argument, &error) == LATCH_DONE && pointers[0] != NULL ? argument
                                                                                     : NULL;
}

static void threads_may_open_it_at_the_same_time(void **state)
{
    latch_library library = make_library(latch_hiredis_library.file);
    pthread_t threads[4];

    (void) state;
    for (size_t at = 0; at < 4; at++) {
        assert_int_equal(pthread_create(&threads[at], NULL, open_in_thread, &library), 0);
    }
    for (size_t at = 0; at < 4; at++) {
        void *opened;

        assert_int_equal(pthread_join(threads[at], &opened), 0);
        assert_ptr_equal(opened, &library);
    }
}

/* ---- What cannot be opened ------------------------------------------------------------------ */

static void a_missing_library_is_told_with_the_package_to_install(void **state)
{
    latch_library library = make_library("libmissing.so.7");

    (void) state;
    expect_failure(&library, "cannot open the client library hiredis: libmissing.so.7: cannot open "
                             "shared object file: No such file or directory; install the package "
                             "with libmissing.so.7 (Debian, Ubuntu: libmissing7, Alpine: hiredis)");
    library.file = "/nowhere/libmissing2.so.0";
    expect_failure(&library, "install the package with libmissing2.so.0 (Debian, Ubuntu: "
                             "libmissing2-0, Alpine: hiredis)");
}

static void a_library_that_is_installed_later_is_found_then(void **state)
{
    latch_library library = make_library(path_of("libhiredis.so"));

    (void) state;
    open_hiredis();
    expect_failure(&library, "No such file");
    assert_int_equal(symlink(hiredis_path(), library.file), 0);
    assert_int_equal(latch_library_open(&library, &unit.error), LATCH_DONE);
    assert_memory_equal(pointers, &latch_hiredis, sizeof(pointers));
}

static void a_broken_file_is_told(void **state)
{
    latch_library library = make_library(path_of("libhiredis.so"));
    FILE *file = fopen(library.file, "w");

    (void) state;
    assert_non_null(file);
    assert_true(fputs("no library", file) >= 0);
    assert_int_equal(fclose(file), 0);
    expect_failure(&library, "file too short");
}

/* An older version may lack one. The rest of it must not stay loaded for nothing. */
static void a_missing_function_is_told(void **state)
{
    latch_library library = make_library(path_of("libcopy.so"));
    const char *symbols[sizeof(pointers) / sizeof(*pointers)];
    char command[3 * UNIT_PATH];

    (void) state;
    open_hiredis();
    snprintf(command, sizeof(command), "cp -L '%s' '%s'", hiredis_path(), library.file);
    assert_int_equal(system(command), 0);
    memcpy(symbols, library.symbols, sizeof(symbols));
    symbols[library.count - 1] = "redisOfTheFuture";
    library.symbols = symbols;
    expect_failure(&library, "undefined symbol: redisOfTheFuture; install");
    assert_null(dlopen(library.file, RTLD_NOW | RTLD_NOLOAD));
}

/* What is mapped stays, and nothing can be mapped; not even by TSan for itself. */
static void without_memory_it_is_an_error_and_with_it_again_none(void **state)
{
    latch_library library = make_library(path_of("libcopy.so"));
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    char command[3 * UNIT_PATH];
    latch_status status;

    (void) state;
    if (UNIT_TSAN) {
        return;
    }
    open_hiredis();
    snprintf(command, sizeof(command), "cp -L '%s' '%s'", hiredis_path(), library.file);
    assert_int_equal(system(command), 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    status = latch_library_open(&library, &unit.error);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, LATCH_ERROR_SYSTEM);
    assert_non_null(strstr(unit.error.message, "failed to map segment"));
    assert_int_equal(latch_library_open(&library, &unit.error), LATCH_DONE);
}

/* ---- Stores --------------------------------------------------------------------------------- */

static void expect_no_store(latch_library *library, const char *name, const char *dsn)
{
    const latch_store_options options = {.dsn = dsn, .dsn_length = strlen(dsn)};
    const char *file = library->file;
    bool was_open = library->is_open;
    latch_store *store;

    library->file = "libmissing.so.1";
    library->is_open = false;
    assert_null(latch_store_open(unit.engine, name, &options, &unit.error));
    assert_int_equal(unit.error.status, LATCH_ERROR_SYSTEM);
    assert_non_null(strstr(unit.error.message, "install the package with libmissing.so.1 (Debian"));
    assert_null(strstr(unit.error.message, "secret"));
    assert_int_equal(unit.live, 1); /* the engine */
    library->file = file;
    library->is_open = was_open;
    store = latch_store_open(unit.engine, name, &options, &unit.error);
    assert_non_null(store);
    latch_store_close(store);
}

static void no_store_is_made_without_its_library(void **state)
{
    (void) state;
    expect_no_store(&latch_hiredis_library, "redis", "redis://:secret@localhost");
    expect_no_store(&latch_hiredis_library, "redis",
                    "redis:?host[a:1]&host[b:2]&auth=secret&cluster=1");
    expect_no_store(&latch_openssl_library, "redis", "rediss://:secret@localhost");
    expect_no_store(&latch_libpq_library, "postgresql", "postgresql://u:secret@localhost/d");
    expect_no_store(&latch_libmariadb_library, "mysql", "mysql://u:secret@localhost/d");
}

/* ---- Forks ---------------------------------------------------------------------------------- */

static void open_in_child(unit_process *self, void *argument)
{
    latch_error error;

    alarm(10); /* ends a child that waits for a thread which it does not have */
    unit_say(self, latch_library_open(argument, &error) == LATCH_DONE ? 'y' : 'n');
}

typedef struct forker {
    latch_library *library;
    unit_process child;
    _Atomic pid_t id;
    _Atomic bool may_fork, is_done;
} forker;

static void *fork_in_thread(void *argument)
{
    forker *self = argument;

    self->id = gettid();
    UNIT_AWAIT(self->may_fork);
    self->child = unit_fork(open_in_child, self->library);
    self->is_done = true;
    return NULL;
}

/* A thread sleeps, in the kernel's eyes. */
static bool is_asleep(pid_t id)
{
    char path[64], state = '?';
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int) id);
    file = fopen(path, "r");
    if (file != NULL) {
        (void) !fscanf(file, "%*d %*s %c", &state);
        fclose(file);
    }
    return state == 'S';
}

/* The thread that opens a library is not in the child, where nobody would ever end what it has
 * begun. */
static void a_fork_waits_for_a_thread_that_opens_a_library(void **state)
{
    latch_library stuck = make_library(path_of("fifo")), library = latch_hiredis_library;
    forker self = {.library = &library};
    pthread_t opener, forking;
    int fd = -1;

    (void) state;
    library.is_open = false;
    assert_int_equal(mkfifo(stuck.file, 0600), 0);
    /* First: while a library is opened glibc makes no thread. */
    assert_int_equal(pthread_create(&forking, NULL, fork_in_thread, &self), 0);
    UNIT_AWAIT(self.id != 0);
    assert_int_equal(pthread_create(&opener, NULL, open_in_thread, &stuck), 0);
    UNIT_AWAIT((fd = open(stuck.file, O_WRONLY | O_NONBLOCK)) >= 0);
    self.may_fork = true;
    UNIT_AWAIT(self.is_done || is_asleep(self.id));
    close(fd); /* an empty file: no library */
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_int_equal(pthread_join(forking, NULL), 0);
    unit_expect(&self.child, 'y');
    unit_join(&self.child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(no_store_is_made_without_its_library, setup),
        UNIT_TEST(all_functions_of_a_library_are_found, setup),
        UNIT_TEST(threads_may_open_it_at_the_same_time, setup),
        UNIT_TEST(a_missing_library_is_told_with_the_package_to_install, setup),
        UNIT_TEST(a_library_that_is_installed_later_is_found_then, setup_flock),
        UNIT_TEST(a_broken_file_is_told, setup_flock),
        UNIT_TEST(a_missing_function_is_told, setup_flock),
        UNIT_TEST(without_memory_it_is_an_error_and_with_it_again_none, setup_flock),
        UNIT_TEST(a_fork_waits_for_a_thread_that_opens_a_library, setup_flock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
