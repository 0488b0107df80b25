/* What a session with MySQL prepares of the forms of its statements. */
#include "mysql_server.h"
#include "sql_statements.h"

#include "src/store/sql/mysql/connection.h"
#include "src/store/sql/mysql/driver.h"

#include <poll.h>

/* Statements that are prepared now, in all sessions. */
static long long prepared(void)
{
    return unit_mysql_status("Prepared_stmt_count");
}

/* The text's answer is another one than the form's. */
static sql_step pair_of(const char *first, const char *second)
{
    return sql_form_of("SELECT 'text'", "SELECT CONCAT(?, '-', ?)", first, second);
}

static void expect_texts(sql_step *step)
{
    for (unsigned use = 0; use < 3; use++) {
        assert_string_equal(sql_run(step), "text");
    }
}

static sql_outcome outcome_of(sql_step *step)
{
    sql_enqueue(step);
    sql_await(step);
    return step->outcome;
}

/* Fails with that error of the server's when it is executed, but not as a text. */
static sql_step failure_of(const char *number)
{
    unit_mysql_run("DROP FUNCTION IF EXISTS fail");
    unit_mysql_run("CREATE FUNCTION fail(number INT) RETURNS INT NO SQL BEGIN"
                   " SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = number; RETURN 0; END");
    return sql_form_of("SELECT 'text'", "SELECT fail(?)", number, NULL);
}

static void create_steps(const char *columns)
{
    unit_mysql_run("CREATE TABLE steps (%s)", columns);
}

static void drop_steps(void)
{
    unit_mysql_run("DROP TABLE IF EXISTS steps");
}

/* ---- Use */

static void a_form_is_prepared_at_its_second_use(void **state)
{
    sql_step pair = pair_of("20", "3");
    sql_step quote =
        sql_form_of("SELECT 'text'", "SELECT CONCAT('<', ?, '>')", "it's \\ ? $1", NULL);
    sql_step row =
        sql_form_of("SELECT 'text'", "SELECT 1 FROM (SELECT 1) AS a WHERE ? = 'b'", "a", NULL);

    (void) state;
    assert_string_equal(sql_run(&pair), "text");
    assert_int_equal(prepared(), 0);
    assert_string_equal(sql_run(&pair), "text"); /* once more, before it is prepared */
    assert_int_equal(prepared(), 1);
    assert_string_equal(sql_run(&pair), "20-3");
    pair.values[0] = "";
    pair.values[1] = "a longer one";
    assert_string_equal(sql_run(&pair), "-a longer one");
    sql_run(&quote);
    sql_run(&quote);
    assert_string_equal(sql_run(&quote), "<it's \\ ? $1>");
    sql_run(&row);
    sql_run(&row);
    assert_string_equal(sql_run(&row), "");
    row.values[0] = "b";
    assert_string_equal(sql_run(&row), "1");
    assert_string_equal(sql_run(&pair), "-a longer one");
    assert_int_equal(prepared(), 3);
}

static void the_next_session_has_nothing_prepared(void **state)
{
    sql_step pair = pair_of("20", "3");

    (void) state;
    sql_run(&pair);
    sql_run(&pair);
    unit_mysql_end_sessions();
    assert_false(latch_sql_session_is_alive(sql_under_test));
    assert_int_equal(prepared(), 0);
    assert_string_equal(sql_run(&pair), "text"); /* which was met before */
    assert_int_equal(prepared(), 1);
    assert_string_equal(sql_run(&pair), "20-3");
}

/* The session is ended so many looks after the statement was sent. True: that was answered before.
 */
static bool ends_after(sql_step *step, unsigned looks)
{
    latch_op op = {.error = &unit.error};
    latch_status status;

    sql_enqueue(step);
    for (status = LATCH_WANT_IO; looks > 0 && latch_wants(status); looks--) {
        struct pollfd descriptor;

        status = latch_sql_session_drive(sql_under_test, &step->statement, &op, unit_now_ns());
        descriptor = (struct pollfd){.fd = op.fd, .events = op.events};
        UNIT_CHECK(!latch_wants(status) || poll(&descriptor, 1, 1000) > 0);
    }
    unit_mysql_end_sessions();
    sql_await(step);
    assert_true(step->outcome == SQL_ANSWERED || step->outcome == SQL_LOST);
    return status == LATCH_DONE;
}

/* At each look at the text, at what prepares, and at what was prepared. */
static void a_session_may_end_with_a_form_in_flight(void **state)
{
    sql_step pair = pair_of("20", "3"), first = sql_step_of("SELECT 1");

    (void) state;
    for (unsigned uses = 0; uses < 4; uses++) {
        bool is_answered = false;

        for (unsigned looks = 0; !is_answered; looks++) {
            assert_string_equal(sql_run(&first), "1");
            for (unsigned use = 0; use < uses; use++) {
                sql_run(&pair);
            }
            is_answered = ends_after(&pair, looks);
            assert_false(latch_sql_session_is_alive(sql_under_test));
        }
    }
    sql_run(&pair);
    assert_string_equal(sql_run(&pair), "20-3");
    assert_int_equal(prepared(), 1);
}

static void what_is_rare_is_not_prepared(void **state)
{
    sql_step pair = pair_of("20", "3");

    (void) state;
    pair.statement.is_frequent = false;
    expect_texts(&pair);
    assert_int_equal(prepared(), 0);
}

static void there_is_room_for_some_forms(void **state)
{
    char form[32], expected[16];

    (void) state;
    for (unsigned use = 0; use < 3; use++) {
        for (int number = 0; number <= MYSQL_FORMS_MAX; number++) {
            bool is_prepared = use > 1 && number < MYSQL_FORMS_MAX;
            sql_step step = sql_form_of("SELECT 'text'", form, "a", NULL);

            snprintf(form, sizeof(form), "SELECT CONCAT(?, %d)", number);
            snprintf(expected, sizeof(expected), "a%d", number);
            assert_string_equal(sql_run(&step), is_prepared ? expected : "text");
        }
    }
    assert_int_equal(prepared(), MYSQL_FORMS_MAX);
}

/* ---- Values */

/* A literal in hex says what its bytes are; a parameter's are the connection's. */
static void values_beyond_ascii_stay_in_the_text(void **state)
{
    sql_step umlaut = sql_form_of("SELECT 'text'", "SELECT LENGTH(?)", "\xc3\xa4", NULL);

    (void) state;
    expect_texts(&umlaut);
    umlaut.values[0] = "ae";
    assert_string_equal(sql_run(&umlaut), "text");
    assert_string_equal(sql_run(&umlaut), "text");
    assert_string_equal(sql_run(&umlaut), "2");
    umlaut.values[0] = "\xc3\xa4";
    expect_texts(&umlaut);
}

/* In this one "[" is a letter. */
static void where_the_character_set_has_no_ascii_all_values_stay(void **state)
{
    char dsn[512];
    latch_store_options options = {.dsn = dsn};
    sql_step pair = pair_of("20", "3");

    (void) state;
    options.dsn_length = (size_t) snprintf(dsn, sizeof(dsn), "%s;charset=swe7", unit_mysql.dsn);
    latch_sql_session_end(sql_under_test);
    assert_int_equal(latch_mysql_open(unit.engine, &options, &sql_under_test, &unit.error),
                     LATCH_DONE);
    expect_texts(&pair);
}

static void a_value_has_255_bytes_at_most(void **state)
{
    char value[MYSQL_PARAMETER_MAX + 2] = "";
    sql_step same = sql_form_of("SELECT 'text'", "SELECT CONCAT('', ?)", value, NULL);

    (void) state;
    memset(value, 'v', sizeof(value));
    value[MYSQL_PARAMETER_MAX + 1] = '\0';
    expect_texts(&same);
    value[MYSQL_PARAMETER_MAX] = '\0';
    assert_string_equal(sql_run(&same), "text");
    assert_string_equal(sql_run(&same), "text");
    assert_string_equal(sql_run(&same), value);
    value[1] = '\0';
    assert_string_equal(sql_run(&same), "v");
}

/* ---- Results */

static void expect_same_results(const char *text, const char *form, const char *value)
{
    sql_step with_text = sql_step_of(text);
    sql_step with_form = sql_form_of(text, form, value, NULL);

    sql_run(&with_form); /* as a text */
    sql_run(&with_text);
    for (unsigned use = 0; use < 3; use++) {
        sql_run(&with_form);
        assert_string_equal(with_form.value, with_text.value);
        assert_int_equal(with_form.affected, with_text.affected);
        assert_int_equal(with_form.insert_id, with_text.insert_id);
    }
}

static void the_results_of_a_form_are_those_of_its_text(void **state)
{
    sql_step create = sql_step_of("CREATE TEMPORARY TABLE steps (name varchar(9))");

    (void) state;
    sql_run(&create);
    expect_same_results("INSERT INTO steps VALUES ('a'), ('b')",
                        "INSERT INTO steps VALUES (?), ('b')", "a");
    expect_same_results("UPDATE steps SET name = IF(LAST_INSERT_ID(7) > 0, 'c', 'd')",
                        "UPDATE steps SET name = IF(LAST_INSERT_ID(7) > 0, 'c', ?)", "d");
    expect_same_results("UPDATE steps SET name = 'c' WHERE name = 'c'",
                        "UPDATE steps SET name = 'c' WHERE name = ?", "c");
    expect_same_results("SELECT COUNT(*) FROM steps WHERE name = 'c'",
                        "SELECT COUNT(*) FROM steps WHERE name = ?", "c");
    expect_same_results("SELECT name FROM steps WHERE name = 'c'",
                        "SELECT name FROM steps WHERE name = ?", "c"); /* several rows */
    expect_same_results("SELECT NULL FROM steps WHERE name = 'c'",
                        "SELECT NULL FROM steps WHERE name = ?", "c");
    expect_same_results("SELECT name FROM steps WHERE name = 'e'",
                        "SELECT name FROM steps WHERE name = ?", "e");
    expect_same_results("SELECT 72057594037927935 & 18446744073709551615 + 0 * LENGTH('a')",
                        "SELECT 72057594037927935 & 18446744073709551615 + 0 * LENGTH(?)", "a");
    expect_same_results("DELETE FROM steps WHERE name = 'e'", "DELETE FROM steps WHERE name = ?",
                        "e");
}

static void affected_rows_and_the_insert_id_are_those_of_the_use(void **state)
{
    sql_step create = sql_step_of("CREATE TEMPORARY TABLE steps (name varchar(9))");
    sql_step insert =
        sql_form_of("INSERT INTO steps VALUES ('a')", "INSERT INTO steps VALUES (?)", "b", NULL);
    sql_step update = sql_form_of("UPDATE steps SET name = IF(LAST_INSERT_ID(7) > 0, 'a', 'a')",
                                  "UPDATE steps SET name = IF(LAST_INSERT_ID(7) > 0, ?, 'x')", "a",
                                  NULL);

    (void) state;
    sql_run(&create);
    for (unsigned use = 0; use < 4; use++) {
        sql_run(&insert);
        assert_true(insert.affected == 1 && insert.insert_id == 0);
        sql_run(&update);
        assert_true(update.affected == (use > 1 ? 1 : 0) && update.insert_id == 7);
    }
}

/* ---- Tables */

/* Another program's table has taken the place of the first one. */
static void a_form_follows_its_table(void **state)
{
    sql_step insert = sql_form_of("INSERT INTO steps (name) VALUES ('text')",
                                  "INSERT INTO steps (name) VALUES (?)", "x", NULL);
    sql_step name =
        sql_form_of("SELECT 'text'", "SELECT name FROM steps WHERE name = ?", "x", NULL);

    (void) state;
    drop_steps();
    for (unsigned use = 0; use < 3; use++) {
        assert_int_equal(outcome_of(&insert), SQL_NO_TABLE);
    }
    assert_non_null(strstr(sql_under_test->trouble, "steps"));
    create_steps("name varchar(9)");
    for (unsigned use = 0; use < 3; use++) {
        sql_run(&insert);
    }
    assert_int_equal(unit_mysql_number("SELECT COUNT(*) FROM steps WHERE name = 'x'"), 2);
    sql_run(&name);
    sql_run(&name);
    assert_string_equal(sql_run(&name), "x");
    drop_steps();
    assert_int_equal(outcome_of(&insert), SQL_NO_TABLE);
    create_steps("number int, name char(5) character set latin1");
    sql_run(&insert);
    assert_int_equal(insert.affected, 1);
    assert_string_equal(sql_run(&name), "x");
    drop_steps();
    assert_int_equal(prepared(), 2);
}

/* ---- Refusals */

static void what_is_refused_as_a_text_too_keeps_nothing_else_from_being_prepared(void **state)
{
    sql_step wrong = sql_form_of("SELECT nothing_of_that_name",
                                 "SELECT CONCAT(nothing_of_that_name, ?)", "a", NULL);
    sql_step pair = pair_of("20", "3");

    (void) state;
    for (unsigned use = 0; use < 3; use++) {
        assert_int_equal(outcome_of(&wrong), SQL_REFUSED);
        assert_non_null(strstr(sql_under_test->trouble, "nothing_of_that_name"));
    }
    sql_run(&pair);
    sql_run(&pair);
    assert_string_equal(sql_run(&pair), "20-3");
    assert_int_equal(prepared(), 1);
}

static void a_session_that_prepares_nothing_is_sent_texts(void **state)
{
    sql_step pair = pair_of("20", "3"), other = sql_form_of("SELECT 'text'", "SELECT ?", "a", NULL);

    (void) state;
    unit_mysql_run("SET GLOBAL max_prepared_stmt_count = 1");
    sql_run(&pair);
    sql_run(&pair);
    assert_string_equal(sql_run(&pair), "20-3");
    expect_texts(&other);
    unit_mysql_run("SET GLOBAL max_prepared_stmt_count = DEFAULT");
    expect_texts(&other);
    expect_texts(&pair);
    unit_mysql_end_sessions();
    assert_false(latch_sql_session_is_alive(sql_under_test));
    sql_run(&other);
    assert_string_equal(sql_run(&other), "a");
}

static void a_form_of_two_columns_is_sent_as_a_text(void **state)
{
    sql_step two = sql_form_of("SELECT 'text'", "SELECT ?, 2", "1", NULL);

    (void) state;
    expect_texts(&two);
}

/* As when another session answers, by a proxy. */
static void a_form_that_is_gone_costs_the_session_once(void **state)
{
    sql_step pair = pair_of("20", "3"), gone = failure_of("1243");

    (void) state;
    sql_run(&pair);
    sql_run(&pair);
    sql_run(&gone);
    sql_run(&gone);
    assert_int_equal(outcome_of(&gone), SQL_MOVED);
    expect_texts(&gone);
    expect_texts(&pair);
    assert_int_equal(prepared(), 0);
}

/* The server has prepared it again and again, as its tables have changed meanwhile. */
static void a_form_that_is_not_ready_in_the_end_is_sent_again_as_a_text(void **state)
{
    sql_step pair = pair_of("20", "3"), late = failure_of("1615");

    (void) state;
    sql_run(&pair);
    sql_run(&pair);
    sql_run(&late);
    sql_run(&late);
    assert_int_equal(outcome_of(&late), SQL_CLASHED);
    expect_texts(&late);
    expect_texts(&pair);
}

static void a_form_that_fails_is_prepared_all_the_same(void **state)
{
    sql_step failure = failure_of("1644");

    (void) state;
    sql_run(&failure);
    sql_run(&failure);
    for (unsigned use = 0; use < 2; use++) {
        assert_int_equal(outcome_of(&failure), SQL_REFUSED);
        assert_int_equal(prepared(), 1);
    }
    failure.values[0] = "1205";
    assert_int_equal(outcome_of(&failure), SQL_TIMED_OUT);
}

/* It is sent as a text then. */
static void memory_that_runs_out_prepares_nothing(void **state)
{
    sql_step first = sql_step_of("SELECT 1"), pair = pair_of("20", "3");
    size_t allocations;

    (void) state;
    sql_run(&first);
    unit.fail_at = unit.allocations + 1;
    assert_string_equal(sql_run(&pair), "text");
    assert_true(unit.allocations >= unit.fail_at);
    assert_string_equal(sql_run(&pair), "text");
    assert_string_equal(sql_run(&pair), "text");
    allocations = unit.allocations;
    assert_string_equal(sql_run(&pair), "20-3");
    assert_string_equal(sql_run(&pair), "20-3");
    assert_int_equal(unit.allocations, allocations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQL_TEST(a_form_is_prepared_at_its_second_use),
        SQL_TEST(the_next_session_has_nothing_prepared),
        SQL_TEST(a_session_may_end_with_a_form_in_flight),
        SQL_TEST(what_is_rare_is_not_prepared),
        SQL_TEST(there_is_room_for_some_forms),
        SQL_TEST(values_beyond_ascii_stay_in_the_text),
        SQL_TEST(where_the_character_set_has_no_ascii_all_values_stay),
        SQL_TEST(a_value_has_255_bytes_at_most),
        SQL_TEST(the_results_of_a_form_are_those_of_its_text),
        SQL_TEST(affected_rows_and_the_insert_id_are_those_of_the_use),
        SQL_TEST(a_form_follows_its_table),
        SQL_TEST(what_is_refused_as_a_text_too_keeps_nothing_else_from_being_prepared),
        SQL_TEST(a_session_that_prepares_nothing_is_sent_texts),
        SQL_TEST(a_form_of_two_columns_is_sent_as_a_text),
        SQL_TEST(a_form_that_is_gone_costs_the_session_once),
        SQL_TEST(a_form_that_is_not_ready_in_the_end_is_sent_again_as_a_text),
        SQL_TEST(a_form_that_fails_is_prepared_all_the_same),
        SQL_TEST(memory_that_runs_out_prepares_nothing),
    };

    sql_server = (sql_statements_server){
        .setup = unit_mysql_setup,
        .open = latch_mysql_open,
        .dsn = unit_mysql.dsn,
        .end_sessions = unit_mysql_end_sessions,
        .await_sessions = unit_mysql_await_sessions,
    };
    return cmocka_run_group_tests(tests, unit_mysql_group_setup, unit_mysql_group_teardown);
}
