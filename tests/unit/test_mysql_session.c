/* Sessions with MySQL, by statements that have nothing to do with locks. */
#include "mysql_server.h"
#include "sql_statements.h"

#include "src/store/sql/mysql/driver.h"

#include <inttypes.h>

#define LONGEST "0123456789 0123456789 0123456789 0123456789 0123456789 012345678"

/* The second one is none. */
static const sql_template templates[] = {{.parameter_count = 2},
                                         {.parameter_count = 0},
                                         {.parameter_count = 1}};

static void write_template(unsigned index, int64_t number, char text[SQL_TEXT_MAX])
{
    snprintf(text, SQL_TEXT_MAX, index == 0 ? "SELECT CONCAT(?, ?)" : "SELECT %" PRId64 " + ?",
             number);
}

static const sql_templates all_templates = {templates, 3, write_template};

static long long executed(void)
{
    return unit_mysql_status("Com_stmt_execute");
}

static void all_templates_are_prepared_at_the_second_use_of_the_first(void **state)
{
    sql_step text = sql_step_of("SELECT 'text'"), sum = sql_step_of("SELECT 'sum'");
    long long before = executed();
    char expected[24];

    (void) state;
    _Static_assert(sizeof(LONGEST) == SQL_PARAMETER_SIZE, "as long as can be");
    sql_under_test->templates = &all_templates;
    text.statement.template = &templates[0];
    text.values[0] = LONGEST;
    text.values[1] = "it's \\ ?";
    sum.statement.template = &templates[2];
    sum.values[0] = "2";
    assert_string_equal(sql_run(&sum), "sum");
    assert_string_equal(sql_run(&sum), "sum");
    assert_string_equal(sql_run(&text), "text");
    assert_string_equal(sql_run(&text), "text");
    assert_int_equal(executed(), before);
    assert_string_equal(sql_run(&text), LONGEST "it's \\ ?");
    snprintf(expected, sizeof(expected), "%" PRId64, sql_under_test->number + 2);
    assert_string_equal(sql_run(&sum), expected);
    assert_int_equal(executed(), before + 2);
    text.values[1] = "";
    assert_string_equal(sql_run(&text), LONGEST);
}

static void the_insert_id_of_a_statement_is_its_own(void **state)
{
    sql_step create = sql_step_of(sql_server.create_table);
    sql_step insert = sql_step_of("INSERT INTO steps VALUES ('a')");
    sql_step update = sql_step_of("UPDATE steps SET name = IF(LAST_INSERT_ID(7) > 0, 'b', 'c')");

    (void) state;
    sql_run(&create);
    sql_run(&insert);
    assert_int_equal(insert.insert_id, 0);
    sql_run(&update);
    assert_int_equal(update.insert_id, 7);
    sql_run(&insert);
    assert_int_equal(insert.insert_id, 0);
    sql_run(&update); /* of two rows one was as it is now */
    assert_true(update.affected == 1 && update.insert_id == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQL_TESTS,
        SQL_TEST(all_templates_are_prepared_at_the_second_use_of_the_first),
        SQL_TEST(the_insert_id_of_a_statement_is_its_own),
    };

    sql_server = (sql_statements_server){
        .setup = unit_mysql_setup,
        .open = latch_mysql_open,
        .dsn = unit_mysql.dsn,
        /* MySQL's SLEEP() is the answer when it is interrupted and is all that there is. */
        .sleep = "SELECT 1 FROM information_schema.schemata WHERE SLEEP(60)",
        .create_table = "CREATE TEMPORARY TABLE steps (name varchar(9))",
        .end_sessions = unit_mysql_end_sessions,
        .await_sessions = unit_mysql_await_sessions,
    };
    return cmocka_run_group_tests(tests, unit_mysql_group_setup, unit_mysql_group_teardown);
}
