/* Statements of SQLite: forms, texts, and their answers. */
#include "sql_statements.h"
#include "sqlite_file.h"

#include "src/store/sql/sqlite/driver.h"
#include "src/store/sql/sqlite/library.h"

#define CREATE "CREATE TABLE names (name TEXT PRIMARY KEY); "

static int setup_nothing(void **state)
{
    (void) state;
    return 0;
}

static void await_no_session(size_t count)
{
    UNIT_CHECK(unit_sqlite_open_files() == count);
    unit_sqlite_remove();
}

static void expect_trouble(const sql_step *step, sql_outcome outcome, const char *trouble)
{
    assert_int_equal(step->outcome, outcome);
    if (strstr(sql_under_test->trouble, trouble) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", trouble, sql_under_test->trouble);
    }
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static sql_step form_of(const char *form, const char *first, const char *second)
{
    return sql_form_of("SELECT 'the text'", form, first, second);
}

static void a_forms_values_are_bound(void **state)
{
#define INSERT "INSERT INTO names VALUES (?)"
#define NAMES "SELECT name || ? FROM names WHERE name = ?"
    sql_step quote = form_of(INSERT, "it's ? \"x\"", NULL), plain = form_of(INSERT, "a", NULL);
    sql_step names = form_of(NAMES, "!", "it's ? \"x\""), other = form_of(NAMES, "?", "a");
    sql_step sum = form_of("SELECT 1.5 + ?", "30.250", NULL);

    (void) state;
    sql_enqueue(&plain);
    sql_await(&plain);
    expect_trouble(&plain, SQL_NO_TABLE, "no such table: names");
    unit_sqlite_create(CREATE);
    assert_string_equal(sql_run(&quote), "");
    assert_string_equal(sql_run(&plain), "");
    assert_string_equal(sql_run(&names), "it's ? \"x\"!");
    assert_string_equal(sql_run(&other), "a?");
    assert_string_equal(sql_run(&sum), "31.75");
    sql_enqueue(&plain);
    sql_await(&plain);
    expect_trouble(&plain, SQL_REFUSED, "UNIQUE constraint failed");
    assert_string_equal(sql_run(&other), "a?");
}

static unsigned prepared;
static __typeof__(sqlite3_prepare_v2) real_prepare;

static int count_and_prepare(sqlite3 *handle, const char *text, int size, sqlite3_stmt **statement,
                             const char **end)
{
    prepared++;
    return real_prepare(handle, text, size, statement, end);
}

static void expect_sum(int number, unsigned preparations)
{
    char text[32], expected[16];
    sql_step step;

    prepared = 0;
    snprintf(text, sizeof(text), "SELECT %d + ?", number);
    snprintf(expected, sizeof(expected), "%d", number + 1);
    step = form_of(text, "1", NULL);
    assert_string_equal(sql_run(&step), expected);
    assert_int_equal(prepared, preparations);
}

/* The oldest ones are replaced. */
static void a_form_is_prepared_once(void **state)
{
    enum { ROOM = 12 };

    (void) state;
    real_prepare = sqlite3_prepare_v2;
    sqlite3_prepare_v2 = count_and_prepare;
    for (int round = 0; round < 2; round++) {
        for (int number = 0; number < ROOM; number++) {
            expect_sum(number, round == 0);
        }
    }
    for (int number = ROOM; number < 2 * ROOM; number++) {
        expect_sum(number, 1);
        expect_sum(number, 0);
        expect_sum(number - ROOM + 1, 0);
    }
    expect_sum(0, 1);
    latch_sql_session_lose(sql_under_test, SQL_LOST, "for the test");
    expect_sum(0, 1);
    sqlite3_prepare_v2 = real_prepare;
}

/* Whose columns are others, where there are any. */
static void a_form_follows_its_table(void **state)
{
    sql_step names = form_of("SELECT * FROM names WHERE ? = 'x'", "x", NULL);

    (void) state;
    unit_sqlite_create(CREATE "; INSERT INTO names VALUES ('a')");
    assert_string_equal(sql_run(&names), "a");
    unit_sqlite_run(unit_sqlite.path, "DROP TABLE names");
    sql_enqueue(&names);
    sql_await(&names);
    expect_trouble(&names, SQL_NO_TABLE, "no such table: names");
    unit_sqlite_run(unit_sqlite.path, "CREATE TABLE names (other, name); "
                                      "INSERT INTO names VALUES ('b', 'a')");
    assert_string_equal(sql_run(&names), "b");
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void a_text_of_several_statements_is_all_or_nothing(void **state)
{
    sql_step good = sql_step_of("BEGIN IMMEDIATE; INSERT INTO names VALUES ('a'); "
                                "INSERT INTO names VALUES ('b') RETURNING name; COMMIT; ");
    sql_step bad = sql_step_of("BEGIN IMMEDIATE; INSERT INTO names VALUES ('c'); "
                               "INSERT INTO names VALUES ('a'); COMMIT");
    sql_step names = sql_step_of("SELECT group_concat(name) FROM names");

    (void) state;
    unit_sqlite_create(CREATE);
    sql_run(&good);
    sql_enqueue(&bad);
    sql_await(&bad);
    expect_trouble(&bad, SQL_REFUSED, "UNIQUE constraint failed");
    assert_string_equal(sql_run(&names), "a,b");
    unit_sqlite_run(unit_sqlite.path, "INSERT INTO names VALUES ('d')"); /* nothing is locked */
}

static void a_written_row_is_answered_and_committed(void **state)
{
    sql_step insert = sql_step_of("INSERT INTO names VALUES ('a'), ('b') RETURNING name");

    (void) state;
    unit_sqlite_create(CREATE);
    assert_string_equal(sql_run(&insert), "a");
    assert_string_equal(unit_sqlite_run(unit_sqlite.path, "SELECT count(*) FROM names"), "2");
}

/* The library goes on to tell the number of the statement before. */
static void a_statement_that_changes_nothing_affects_no_rows(void **state)
{
#define UPSERT "INSERT INTO names VALUES ('a') ON CONFLICT DO UPDATE SET name = 'b' WHERE "
    sql_step steps[] = {sql_step_of(UPSERT "true"),
                        sql_step_of(UPSERT "false"),
                        sql_step_of("INSERT INTO names VALUES ('c'), ('d')"),
                        sql_step_of("CREATE TABLE others (name)"),
                        sql_step_of("SELECT 1"),
                        sql_step_of("DELETE FROM others"),
                        sql_step_of("UPDATE names SET name = name"),
                        sql_step_of("DELETE FROM names")};
    static const int64_t affected[] = {1, 0, 2, 0, 0, 0, 3, 3};

    (void) state;
    unit_sqlite_create(CREATE);
    for (size_t at = 0; at < sizeof(affected) / sizeof(*affected); at++) {
        sql_run(&steps[at]);
        assert_int_equal(steps[at].affected, affected[at]);
        assert_int_equal(steps[at].insert_id, 0);
    }
}

static void a_long_value_is_cut_off(void **state)
{
    sql_step step = sql_step_of("SELECT printf('%*s', 2000, 'x')");

    (void) state;
    assert_int_equal(strlen(sql_run(&step)), SQL_VALUE_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQL_TEST(a_forms_values_are_bound),
        SQL_TEST(a_form_is_prepared_once),
        SQL_TEST(a_form_follows_its_table),
        SQL_TEST(a_text_of_several_statements_is_all_or_nothing),
        SQL_TEST(a_written_row_is_answered_and_committed),
        SQL_TEST(a_statement_that_changes_nothing_affects_no_rows),
        SQL_TEST(a_long_value_is_cut_off),
    };

    sql_server = (sql_statements_server){
        .setup = setup_nothing,
        .open = latch_sqlite_open,
        .dsn = unit_sqlite.dsn,
        .await_sessions = await_no_session,
    };
    return cmocka_run_group_tests(tests, unit_sqlite_group_setup, unit_sqlite_group_teardown);
}
