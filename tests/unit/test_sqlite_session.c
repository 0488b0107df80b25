/* Sessions with SQLite, by statements that have nothing to do with locks. */
#include "sql_statements.h"
#include "sqlite_file.h"

#include "src/store/sql/sqlite/driver.h"

#include <sqlite3.h>
#include <unistd.h>

#define CREATE "CREATE TABLE names (name TEXT PRIMARY KEY); "
#define WAL "PRAGMA journal_mode=WAL; "
#define HOLD "BEGIN IMMEDIATE; INSERT INTO names VALUES ('peer')"

/* Of statements that wait: it has begun to write, and goes on until the test's end. */
static unit_process writer;

/* ---- What is so in any session --------------------------------------------------------------- */

static int setup_nothing(void **state)
{
    (void) state;
    return 0;
}

static latch_status open_beside_a_writer(latch_engine *engine, const latch_store_options *given,
                                         sql_session **session, latch_error *error)
{
    writer = unit_sqlite_peer(CREATE HOLD);
    return latch_sqlite_open(engine, given, session, error);
}

static void await_no_session(size_t count)
{
    UNIT_CHECK(unit_sqlite_open_files() == count);
    if (writer.pid != 0) {
        unit_kill(&writer);
        writer.pid = 0;
    }
    unit_sqlite_remove();
}

/* ---- Busy ------------------------------------------------------------------------------------ */

static const char *const journals[] = {CREATE, WAL CREATE};

static void expect_trouble(const sql_step *step, sql_outcome outcome, const char *trouble)
{
    assert_int_equal(step->outcome, outcome);
    if (strstr(sql_under_test->trouble, trouble) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", trouble, sql_under_test->trouble);
    }
}

static void a_statement_waits_for_another_programs_transaction(void **state)
{
    (void) state;
    for (size_t at = 0; at < 2; at++) {
        sql_step insert = sql_step_of("INSERT INTO names VALUES ('mine')");
        sql_step count = sql_step_of("SELECT count(*) FROM names");
        unit_process peer;

        unit_sqlite_create(journals[at]);
        peer = unit_sqlite_peer(HOLD);
        sql_enqueue(&insert);
        sql_await_sent(&insert);
        unit_sqlite_commit(&peer);
        sql_await(&insert);
        assert_int_equal(insert.outcome, SQL_ANSWERED);
        assert_string_equal(sql_run(&count), "2");
        unit_join(&peer);
    }
}

/* By which the caller sleeps: the calls of the library do not. */
static void the_pauses_between_two_attempts_grow(void **state)
{
    static const int64_t pauses_ms[] = {1, 2, 5, 10, 10};
    sql_step insert = sql_step_of("INSERT INTO names VALUES ('mine')");
    latch_op op = {.error = &unit.error};
    unit_process peer;

    (void) state;
    unit_sqlite_create(CREATE);
    peer = unit_sqlite_peer(HOLD);
    unit.real_clock = false;
    sql_enqueue(&insert);
    for (size_t at = 0; at < 5; at++) {
        assert_int_equal(latch_sql_session_drive(sql_under_test, &insert.statement, &op,
                                                 unit_now_ns()),
                         LATCH_WANT_TIMER);
        assert_int_equal(op.wake_ns - unit_now_ns(), pauses_ms[at] * LATCH_NS_PER_MS);
        unit.now_ns = op.wake_ns - 1;
        assert_int_equal(latch_sql_session_drive(sql_under_test, &insert.statement, &op,
                                                 unit_now_ns()),
                         LATCH_WANT_TIMER);
        assert_int_equal(op.wake_ns - unit_now_ns(), 1);
        unit.now_ns = op.wake_ns;
    }
    unit_sqlite_commit(&peer);
    sql_await(&insert);
    assert_int_equal(insert.outcome, SQL_ANSWERED);
    unit_join(&peer);
}

static void a_statement_is_given_up_in_the_end_and_the_session_stays(void **state)
{
    (void) state;
    for (size_t at = 0; at < 2; at++) {
        sql_step insert = sql_step_of("INSERT INTO names VALUES ('mine')");
        sql_step count = sql_step_of("SELECT count(*) FROM names");
        unit_process peer;
        int64_t number;
        unsigned age;

        unit_sqlite_create(journals[at]);
        sql_run(&count);
        number = sql_under_test->number;
        age = sql_under_test->age;
        peer = unit_sqlite_peer(HOLD);
        sql_enqueue(&insert);
        sql_await_sent(&insert);
        unit.ahead_ns += sql_under_test->command_timeout_ns;
        sql_await(&insert);
        expect_trouble(&insert, SQL_BUSY, "database is locked");
        assert_int_equal(sql_under_test->trouble_code, SQLITE_BUSY);
        unit_sqlite_commit(&peer);
        assert_string_equal(sql_run(&count), "1");
        assert_true(sql_under_test->number == number && sql_under_test->age == age);
        unit_join(&peer);
    }
}

/* It commits at the statement's end, after its first row. */
static void a_row_is_not_answered_before_it_is_committed(void **state)
{
    sql_step insert = sql_step_of("INSERT INTO names VALUES ('mine') RETURNING name");
    unit_process peer;

    (void) state;
    unit_sqlite_create(CREATE);
    peer = unit_sqlite_peer("BEGIN; SELECT count(*) FROM names");
    sql_enqueue(&insert);
    sql_await_sent(&insert);
    unit_sqlite_commit(&peer);
    sql_await(&insert);
    assert_int_equal(insert.outcome, SQL_ANSWERED);
    assert_string_equal(insert.value, "mine");
    assert_string_equal(unit_sqlite_run(unit_sqlite.path, "SELECT count(*) FROM names"), "1");
    unit_join(&peer);
}

static void a_reader_does_not_wait_for_a_writer(void **state)
{
    (void) state;
    for (size_t at = 0; at < 2; at++) {
        sql_step count = sql_step_of("SELECT count(*) FROM names");
        unit_process peer;

        unit_sqlite_create(journals[at]);
        peer = unit_sqlite_peer(HOLD);
        assert_string_equal(sql_run(&count), "0");
        unit_kill(&peer);
    }
}

/* ---- The file -------------------------------------------------------------------------------- */

static void a_statement_goes_to_the_file_that_is_there_now(void **state)
{
    (void) state;
    for (size_t at = 0; at < 2; at++) {
        sql_step insert = sql_step_of("INSERT INTO names VALUES ('mine')");
        char other[UNIT_SQLITE_TEXT + 8];

        unit_sqlite_create(journals[at]);
        sql_run(&insert);
        snprintf(other, sizeof(other), "%s.new", unit_sqlite.path);
        unit_sqlite_run(other, journals[at]);
        unit_sqlite_remove();
        UNIT_CHECK(rename(other, unit_sqlite.path) == 0);
        sql_run(&insert);
        assert_string_equal(unit_sqlite_run(unit_sqlite.path, "SELECT count(*) FROM names"), "1");
        unit_sqlite_create(journals[at]);
        assert_false(latch_sql_session_is_alive(sql_under_test));
        assert_string_equal(sql_under_test->trouble, "the file was removed or replaced");
        sql_run(&insert);
        assert_string_equal(unit_sqlite_run(unit_sqlite.path, "SELECT count(*) FROM names"), "1");
        assert_true(latch_sql_session_is_alive(sql_under_test));
    }
}

static void a_statement_is_lost_when_its_file_is_removed_before_it_could_write(void **state)
{
    sql_step insert = sql_step_of("INSERT INTO names VALUES ('mine')");
    unit_process peer;

    (void) state;
    unit_sqlite_create(CREATE);
    peer = unit_sqlite_peer(HOLD);
    sql_enqueue(&insert);
    sql_await_sent(&insert);
    unit_sqlite_create(CREATE);
    sql_await(&insert);
    expect_trouble(&insert, SQL_LOST, "the file was removed or replaced");
    assert_string_equal(unit_sqlite_run(unit_sqlite.path, "SELECT count(*) FROM names"), "0");
    unit_join(&peer);
}

static void remove_and_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    (void) statement;
    unit_sqlite_create(CREATE); /* the connection is found to be in order by now */
    snprintf(text, SQL_TEXT_MAX, "INSERT INTO names VALUES ('mine')");
}

/* Else it would be a grant that nobody else can see. */
static void a_statement_is_lost_when_its_file_is_removed_while_it_writes(void **state)
{
    sql_step insert = sql_step_of(""), count = sql_step_of("SELECT count(*) FROM names");
    sql_statement_class class = *insert.statement.class;

    (void) state;
    for (size_t at = 0; at < 2; at++) {
        unit_sqlite_create(journals[at]);
        class.write = remove_and_write;
        insert.statement.class = &class;
        sql_run(&count);
        sql_enqueue(&insert);
        sql_await(&insert);
        expect_trouble(&insert, SQL_LOST, "the file was removed or replaced");
        assert_string_equal(sql_run(&count), "0");
    }
}

int main(void)
{
    const struct CMUnitTest beside_a_writer[] = {
        SQL_TEST(statements_are_carried_out_in_turn),
        SQL_TEST(a_statement_without_rows_is_answered),
        SQL_TEST(rows_that_were_changed_are_counted),
        SQL_TEST(a_missing_table_is_told),
        SQL_TEST(a_refused_statement_leaves_the_session),
        SQL_TEST(a_wait_is_cancelled_for_the_next_statement),
        SQL_TEST(what_is_no_wait_is_waited_for),
        SQL_TEST(the_end_of_a_session_settles_all_its_statements),
        SQL_TEST(what_was_not_sent_can_be_dequeued),
        SQL_TEST(what_is_repeated_goes_before_all_others),
        SQL_TEST(what_is_postponed_goes_before_what_comes_next),
        SQL_TEST(a_compensation_cannot_be_dequeued),
    };
    const struct CMUnitTest tests[] = {
        SQL_TEST(a_statement_waits_for_another_programs_transaction),
        SQL_TEST(the_pauses_between_two_attempts_grow),
        SQL_TEST(a_statement_is_given_up_in_the_end_and_the_session_stays),
        SQL_TEST(a_row_is_not_answered_before_it_is_committed),
        SQL_TEST(a_reader_does_not_wait_for_a_writer),
        SQL_TEST(a_statement_goes_to_the_file_that_is_there_now),
        SQL_TEST(a_statement_is_lost_when_its_file_is_removed_before_it_could_write),
        SQL_TEST(a_statement_is_lost_when_its_file_is_removed_while_it_writes),
    };
    int failed;

    sql_server = (sql_statements_server){
        .setup = setup_nothing,
        .open = open_beside_a_writer,
        .dsn = unit_sqlite.dsn,
        .sleep = "INSERT INTO names VALUES ('mine')",
        .create_table = "CREATE TEMPORARY TABLE steps (name text)",
        .end_sessions = unit_sqlite_remove,
        .await_sessions = await_no_session,
    };
    failed = cmocka_run_group_tests(beside_a_writer, unit_sqlite_group_setup,
                                    unit_sqlite_group_teardown);
    sql_server.open = latch_sqlite_open;
    return failed
           + cmocka_run_group_tests(tests, unit_sqlite_group_setup, unit_sqlite_group_teardown);
}
