/* Sessions with PostgreSQL, by statements that have nothing to do with locks. */
#include "postgresql_server.h"
#include "sql_statements.h"

#include "src/store/sql/postgresql/driver.h"

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
