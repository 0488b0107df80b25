/* Sessions with SQLite where the file is not as it should be: places, rights, contents. */
#include "sql_statements.h"
#include "sqlite_file.h"

#include "src/store/sql/sqlite/driver.h"
#include "src/store/sql/sqlite/library.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static sql_session *open_session(const char *dsn)
{
    const latch_store_options options = {.dsn = dsn, .dsn_length = strlen(dsn)};
    sql_session *session;

    UNIT_CHECK(latch_sqlite_open(unit.engine, &options, &session, &unit.error) == LATCH_DONE);
    return session;
}

static void begin(const char *dsn)
{
    unit.real_clock = true;
    sql_under_test = open_session(dsn);
}

static void end(void)
{
    latch_sql_session_end(sql_under_test);
    sql_under_test = NULL;
}

static sql_step run_once(const char *text)
{
    sql_step step = sql_step_of(text);

    sql_enqueue(&step);
    sql_await(&step);
    return step;
}

static void expect_trouble(const char *text, sql_outcome outcome, const char *trouble)
{
    sql_step step = run_once(text);

    assert_int_equal(step.outcome, outcome);
    if (strstr(sql_under_test->trouble, trouble) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", trouble, sql_under_test->trouble);
    }
}

/* ---- Places ---------------------------------------------------------------------------------- */

static void a_name_of_any_characters_is_the_files(void **state)
{
    static const char *const names[] = {
        "a b",   "it's \"x\"",           "100%25", "a?mode=ro", "a#b",  "u:p@h",
        "a;b=c", "\xc3\xa4\xe2\x82\xac", "file:x", ":memory:",  "a\\b", "-",
        "a&b",
    };

    (void) state;
    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        char dsn[UNIT_SQLITE_TEXT], *path = dsn + strlen("sqlite:");
        struct stat status;

        snprintf(dsn, sizeof(dsn), "sqlite:%s/%s", unit_sqlite.directory, names[at]);
        begin(dsn);
        assert_int_equal(run_once("CREATE TABLE names (name TEXT)").outcome, SQL_ANSWERED);
        assert_string_equal(sql_under_test->address, path);
        end();
        UNIT_CHECK(stat(path, &status) == 0 && status.st_size > 0);
        UNIT_CHECK(unlink(path) == 0);
    }
}

static void expect_no_connection(const char *dsn, int sys_errno, const char *why)
{
    sql_step step;
    latch_op op = {.error = &unit.error};

    begin(dsn);
    step = sql_step_of("SELECT 1");
    sql_enqueue(&step);
    assert_int_equal(latch_sql_session_drive(sql_under_test, &step.statement, &op, unit_now_ns()),
                     LATCH_ERROR_STORE);
    assert_int_equal(unit.error.sys_errno, sys_errno);
    assert_string_equal(unit.error.message, why);
    assert_int_equal(step.outcome, SQL_UNANSWERED);
    end();
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    char dsn[UNIT_SQLITE_TEXT], why[2 * UNIT_SQLITE_TEXT];

    (void) state;
    snprintf(dsn, sizeof(dsn), "sqlite:%s/none/locks.db", unit_sqlite.directory);
    snprintf(why, sizeof(why),
             "cannot open the SQLite database %s/none/locks.db: unable to open database file: "
             "No such file or directory",
             unit_sqlite.directory);
    expect_no_connection(dsn, ENOENT, why);
    snprintf(dsn, sizeof(dsn), "sqlite:%s", unit_sqlite.directory);
    snprintf(why, sizeof(why),
             "cannot open the SQLite database %s: unable to open database file: Is a directory",
             unit_sqlite.directory);
    expect_no_connection(dsn, EISDIR, why);
}

static void a_folder_that_is_made_later_is_found(void **state)
{
    char dsn[UNIT_SQLITE_TEXT], folder[UNIT_SQLITE_TEXT];
    sql_step step;
    latch_op op = {.error = &unit.error};

    (void) state;
    snprintf(folder, sizeof(folder), "%s/later", unit_sqlite.directory);
    snprintf(dsn, sizeof(dsn), "sqlite:%.200s/locks.db", folder);
    begin(dsn);
    step = sql_step_of("SELECT 1");
    sql_enqueue(&step);
    assert_int_equal(latch_sql_session_drive(sql_under_test, &step.statement, &op, unit_now_ns()),
                     LATCH_ERROR_STORE);
    UNIT_CHECK(mkdir(folder, 0700) == 0);
    assert_string_equal(sql_run(&step), "1");
    end();
}

/* Where the process was when the store was made. */
static void a_relative_path_stays_what_it_was(void **state)
{
    char before[UNIT_SQLITE_TEXT];
    struct stat status;

    (void) state;
    UNIT_CHECK(getcwd(before, sizeof(before)) != NULL && chdir(unit_sqlite.directory) == 0);
    begin("sqlite3:///locks.db");
    UNIT_CHECK(chdir("/") == 0);
    assert_int_equal(run_once("CREATE TABLE names (name TEXT)").outcome, SQL_ANSWERED);
    UNIT_CHECK(stat(unit_sqlite.path, &status) == 0 && chdir(before) == 0);
    end();
    unit_sqlite_remove();
}

/* ---- Rights ---------------------------------------------------------------------------------- */

/* What another user finds, to whom not all is open. */
static void begin_as_nobody(mode_t folder, mode_t file)
{
    UNIT_CHECK(chmod(unit_sqlite.directory, folder) == 0);
    UNIT_CHECK(chmod(unit_sqlite.path, file) == 0);
    UNIT_CHECK(geteuid() != 0 || seteuid(65534) == 0);
    begin(unit_sqlite.dsn);
}

static void end_as_nobody(void)
{
    UNIT_CHECK(getuid() != 0 || seteuid(0) == 0);
    UNIT_CHECK(chmod(unit_sqlite.directory, 0700) == 0);
    end();
}

#define CREATE "CREATE TABLE names (name TEXT); INSERT INTO names VALUES ('a')"
#define ADVICE "; this process must be able to write to the file and to its folder"

static void a_file_that_cannot_be_written_to_is_refused(void **state)
{
    (void) state;
    unit_sqlite_create(CREATE);
    begin_as_nobody(0755, 0444);
    assert_string_equal(run_once("SELECT name FROM names").value, "a");
    expect_trouble("DELETE FROM names", SQL_REFUSED, "attempt to write a readonly database" ADVICE);
    assert_string_equal(run_once("SELECT name FROM names").value, "a");
    end_as_nobody();
}

static void a_folder_that_cannot_be_written_to_is_refused(void **state)
{
    static const char *const files[] = {CREATE, "PRAGMA journal_mode=WAL; " CREATE};

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        unit_sqlite_create(files[at]);
        begin_as_nobody(0755, 0666);
        expect_trouble("DELETE FROM names", SQL_REFUSED,
                       "attempt to write a readonly database" ADVICE);
        end_as_nobody();
    }
}

/* ---- Contents -------------------------------------------------------------------------------- */

static void overwrite(off_t offset, size_t length)
{
    char junk[8192];
    int file = open(unit_sqlite.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    memset(junk, 'x', sizeof(junk));
    UNIT_CHECK(file >= 0 && pwrite(file, junk, length, offset) == (ssize_t) length);
    close(file);
}

static void a_file_of_another_kind_is_refused(void **state)
{
    (void) state;
    unit_sqlite_remove();
    overwrite(0, 8192);
    begin(unit_sqlite.dsn);
    expect_trouble("INSERT INTO names VALUES ('b')", SQL_REFUSED,
                   "file is not a database; it is another program's file, or encrypted");
    end();
}

static void a_damaged_file_is_refused(void **state)
{
    (void) state;
    unit_sqlite_create(CREATE);
    overwrite(100, 8092);
    begin(unit_sqlite.dsn);
    expect_trouble("INSERT INTO names VALUES ('b')", SQL_REFUSED,
                   "database disk image is malformed; the file is damaged: restore it, or remove "
                   "it while nothing uses it");
    unit_sqlite_create(CREATE);
    assert_int_equal(run_once("INSERT INTO names VALUES ('b')").outcome, SQL_ANSWERED);
    end();
}

/* ---- What there is no memory or no library for ----------------------------------------------- */

static void a_session_that_cannot_be_made_leaves_nothing(void **state)
{
    const latch_store_options options = {.dsn = unit_sqlite.dsn,
                                         .dsn_length = strlen(unit_sqlite.dsn)};
    size_t live = unit.live, failures = 0;
    sql_session *session;
    const char *file = latch_libsqlite3_library.file;

    (void) state;
    while (true) {
        unit.fail_at = unit.allocations + failures + 1;
        if (latch_sqlite_open(unit.engine, &options, &session, &unit.error) == LATCH_DONE) {
            break;
        }
        assert_int_equal(unit.error.status, LATCH_ERROR_MEMORY);
        assert_int_equal(unit.live, live);
        failures++;
    }
    unit.fail_at = 0;
    assert_true(failures >= 4);
    latch_sql_session_end(session);
    latch_libsqlite3_library.file = "libmissing.so.1";
    latch_libsqlite3_library.is_open = false;
    assert_int_equal(latch_sqlite_open(unit.engine, &options, &session, &unit.error),
                     LATCH_ERROR_SYSTEM);
    assert_non_null(strstr(unit.error.message, "cannot open the client library libsqlite3"));
    latch_libsqlite3_library.file = file;
    assert_int_equal(unit.live, live);
}

static void a_form_that_cannot_be_kept_is_not_carried_out(void **state)
{
    sql_step first = sql_step_of("SELECT 1"), step = sql_form_of("SELECT 1", "SELECT 2", NULL, NULL);

    (void) state;
    begin("sqlite::memory:");
    sql_run(&first);
    unit.fail_at = unit.allocations + 1;
    sql_enqueue(&step);
    sql_await(&step);
    assert_int_equal(step.outcome, SQL_NO_MEMORY);
    assert_string_equal(sql_run(&step), "2");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_name_of_any_characters_is_the_files, setup),
        UNIT_TEST(a_folder_that_is_not_there_is_named, setup),
        UNIT_TEST(a_folder_that_is_made_later_is_found, setup),
        UNIT_TEST(a_relative_path_stays_what_it_was, setup),
        UNIT_TEST(a_file_that_cannot_be_written_to_is_refused, setup),
        UNIT_TEST(a_folder_that_cannot_be_written_to_is_refused, setup),
        UNIT_TEST(a_file_of_another_kind_is_refused, setup),
        UNIT_TEST(a_damaged_file_is_refused, setup),
        UNIT_TEST(a_session_that_cannot_be_made_leaves_nothing, setup),
        UNIT_TEST(a_form_that_cannot_be_kept_is_not_carried_out, setup),
    };

    return cmocka_run_group_tests(tests, unit_sqlite_group_setup, unit_sqlite_group_teardown);
}
