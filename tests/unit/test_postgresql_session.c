/* Sessions with PostgreSQL, by statements that have nothing to do with locks. */
#include "postgresql_server.h"
#include "sql_statements.h"

#include "src/store/sql/postgresql/driver.h"

enum { SUM, TEXT, NAMES };

static const sql_template templates[] = {
    [SUM] = {"sum_", "integer, integer", 2},
    [TEXT] = {"text_", "text, text, text", 3},
    [NAMES] = {"names_", "text", 1},
};

static void write_template(unsigned index, int64_t number, char text[SQL_TEXT_MAX])
{
    static const char *const texts[] = {
        [SUM] = "SELECT $1 + $2",
        [TEXT] = "SELECT $1 || $2 || $3",
        [NAMES] = "SELECT name FROM steps WHERE name = $1",
    };

    (void) number;
    snprintf(text, SQL_TEXT_MAX, "%s", texts[index]);
}

static const sql_templates all_templates = {templates, 3, write_template};

static sql_step step_with(unsigned index, const char *text)
{
    sql_step step = sql_step_of(text);

    sql_under_test->templates = &all_templates;
    step.statement.template = &templates[index];
    return step;
}

static void a_template_is_prepared_at_its_first_use(void **state)
{
    sql_step sum = step_with(SUM, "SELECT 1 + 2"), text = step_with(TEXT, "SELECT 'it''s'");
    sql_step names = sql_step_of("SELECT string_agg(regexp_replace(name, '[0-9]+$', ''), ' '"
                                 " ORDER BY name) FROM pg_prepared_statements");

    (void) state;
    sum.values[0] = "20";
    sum.values[1] = "3";
    text.values[0] = text.values[2] = "'";
    text.values[1] = "\\; --";
    assert_string_equal(sql_run(&sum), "3"); /* the text's */
    assert_string_equal(sql_run(&names), "sum_");
    assert_string_equal(sql_run(&sum), "23"); /* the parameters' */
    assert_string_equal(sql_run(&text), "it's");
    assert_string_equal(sql_run(&names), "sum_ text_");
    assert_string_equal(sql_run(&text), "'\\; --'");
    sql_server.end_sessions();
    assert_false(latch_sql_session_is_alive(sql_under_test));
    assert_string_equal(sql_run(&sum), "3");
    assert_string_equal(sql_run(&sum), "23");
}

/* What follows tells of success as PREPARE does. */
static void what_could_not_be_prepared_is_not_taken_for_prepared(void **state)
{
    sql_step name = step_with(NAMES, "SELECT 'text'"),
             create = sql_step_of(sql_server.create_table);

    (void) state;
    name.values[0] = "parameter";
    sql_enqueue(&name);
    sql_await(&name);
    assert_int_equal(name.outcome, SQL_NO_TABLE);
    assert_string_equal(sql_run(&create), "");
    assert_string_equal(sql_run(&name), "text");
    assert_string_equal(sql_run(&name), ""); /* no row */
}

/* Under this isolation a row that another transaction has changed since the first look is not to be
 * changed. */
static void a_clash_of_transactions_is_told(void **state)
{
    sql_step begin = sql_step_of("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
    sql_step look = sql_step_of("SELECT number FROM shared");
    sql_step change = sql_step_of("UPDATE shared SET number = 3");
    sql_step end = sql_step_of("ROLLBACK");

    (void) state;
    unit_postgresql_run("CREATE TABLE shared (number integer)");
    unit_postgresql_run("INSERT INTO shared VALUES (1)");
    unit_postgresql_run("GRANT ALL ON shared TO latch");
    sql_run(&begin);
    sql_run(&look);
    unit_postgresql_run("UPDATE shared SET number = 2");
    sql_enqueue(&change);
    sql_await(&change);
    assert_int_equal(change.outcome, SQL_CLASHED);
    sql_run(&end);
    unit_postgresql_run("DROP TABLE shared");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQL_TESTS,
        SQL_TEST(a_template_is_prepared_at_its_first_use),
        SQL_TEST(what_could_not_be_prepared_is_not_taken_for_prepared),
        SQL_TEST(a_clash_of_transactions_is_told),
    };

    sql_server = (sql_statements_server){
        .setup = unit_postgresql_setup,
        .open = latch_postgresql_open,
        .dsn = unit_postgresql.dsn,
        .sleep = "SELECT pg_sleep(60)",
        .create_table = "CREATE TEMPORARY TABLE steps (name text)",
        .end_sessions = unit_postgresql_end_sessions,
        .await_sessions = unit_postgresql_await_sessions,
    };
    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
