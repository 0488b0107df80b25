/* What a session with PostgreSQL prepares: templates and forms. */
#include "postgresql_server.h"
#include "sql_statements.h"

#include "src/store/sql/postgresql/driver.h"
#include "src/store/sql/postgresql/postgresql.h"

/* The names of what is prepared, without the session's number. */
#define NAMES                                                                                      \
    "SELECT string_agg(regexp_replace(name, '[0-9]+$', ''), ' ' ORDER BY name)"                    \
    " FROM pg_prepared_statements"

/* ---- Templates ------------------------------------------------------------------------------- */

enum { SUM, TEXT, STEPS };

static const sql_template templates[] = {
    [SUM] = {"sum_", "integer, integer", 2},
    [TEXT] = {"text_", "text, text, text", 3},
    [STEPS] = {"names_", "text", 1},
};

static void write_template(unsigned index, int64_t number, char text[SQL_TEXT_MAX])
{
    static const char *const texts[] = {
        [SUM] = "SELECT $1 + $2",
        [TEXT] = "SELECT $1 || $2 || $3",
        [STEPS] = "SELECT name FROM steps WHERE name = $1",
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
    sql_step names = sql_step_of(NAMES);

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
    sql_step name = step_with(STEPS, "SELECT 'text'"),
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

/* ---- Forms ----------------------------------------------------------------------------------- */

/* The text's answer is another one than the form's. */
static sql_step sum_of(const char *first, const char *second)
{
    return sql_form_of("SELECT 'text'", "SELECT $1::integer + $2", first, second);
}

static void a_form_is_prepared_at_its_second_use(void **state)
{
    sql_step sum = sum_of("20", "3"), names = sql_step_of(NAMES);
    sql_step quote = sql_form_of("SELECT 'text'", "SELECT concat($1::text)", "it's $1 \\ ?", NULL);

    (void) state;
    assert_string_equal(sql_run(&sum), "text");
    assert_string_equal(sql_run(&names), "");
    assert_string_equal(sql_run(&sum), "text"); /* once more, behind what prepares */
    assert_string_equal(sql_run(&names), "latch_form_0_");
    assert_string_equal(sql_run(&sum), "23");
    sum.values[0] = "40";
    assert_string_equal(sql_run(&sum), "43");
    sql_run(&quote);
    sql_run(&quote);
    assert_string_equal(sql_run(&quote), "it's $1 \\ ?");
    assert_string_equal(sql_run(&names), "latch_form_0_ latch_form_1_");
}

/* Where it is prepared at once, as it was met before. */
static void the_next_session_has_nothing_prepared(void **state)
{
    sql_step sum = sum_of("20", "3"), names = sql_step_of(NAMES);

    (void) state;
    for (unsigned use = 0; use < 3; use++) {
        sql_run(&sum);
    }
    sql_server.end_sessions();
    assert_false(latch_sql_session_is_alive(sql_under_test));
    assert_string_equal(sql_run(&names), "");
    assert_string_equal(sql_run(&sum), "text");
    assert_string_equal(sql_run(&sum), "23");
}

static void what_is_rare_is_not_prepared(void **state)
{
    sql_step sum = sum_of("20", "3"), names = sql_step_of(NAMES);

    (void) state;
    sum.statement.is_frequent = false;
    for (unsigned use = 0; use < 3; use++) {
        assert_string_equal(sql_run(&sum), "text");
    }
    assert_string_equal(sql_run(&names), "");
}

/* A literal's bytes are the database's; a parameter's are the connection's. */
static void values_beyond_ascii_stay_in_the_text(void **state)
{
    sql_step umlaut = sql_form_of("SELECT 'text'", "SELECT length($1)", "\xc3\xa4", NULL);

    (void) state;
    for (unsigned use = 0; use < 3; use++) {
        assert_string_equal(sql_run(&umlaut), "text");
    }
    umlaut.values[0] = "ae";
    assert_string_equal(sql_run(&umlaut), "text");
    assert_string_equal(sql_run(&umlaut), "text");
    assert_string_equal(sql_run(&umlaut), "2");
}

static void there_is_room_for_some_forms(void **state)
{
    sql_step count = sql_step_of("SELECT count(*) FROM pg_prepared_statements");
    char form[32];

    (void) state;
    for (unsigned use = 0; use < 3; use++) {
        for (int number = 0; number <= POSTGRESQL_FORMS_MAX; number++) {
            bool is_prepared = use == 2 && number < POSTGRESQL_FORMS_MAX;
            sql_step step = sql_form_of("SELECT 7", form, "1", NULL);

            snprintf(form, sizeof(form), "SELECT $1 + %d", number);
            sql_run(&step);
            assert_int_equal(atoi(step.value), is_prepared ? number + 1 : 7);
        }
    }
    assert_int_equal(atoi(sql_run(&count)), POSTGRESQL_FORMS_MAX);
}

/* As when another session answers, by a pooler that pretends to be none. */
static void a_form_that_is_gone_costs_the_session_once(void **state)
{
    sql_step sum = sum_of("20", "3"), names = sql_step_of(NAMES);
    sql_step forget = sql_step_of("DEALLOCATE ALL");

    (void) state;
    sql_run(&sum);
    sql_run(&sum);
    sql_run(&forget);
    sql_enqueue(&sum);
    sql_await(&sum);
    assert_int_equal(sum.outcome, SQL_MOVED);
    for (unsigned use = 0; use < 3; use++) {
        assert_string_equal(sql_run(&sum), "text");
    }
    assert_string_equal(sql_run(&names), "");
}

/* Another program's table has taken the place of the first one. */
static void a_form_follows_its_table(void **state)
{
    sql_step create = sql_step_of("CREATE TEMPORARY TABLE steps (name text)");
    sql_step drop = sql_step_of("DROP TABLE steps");
    sql_step again = sql_step_of("CREATE TEMPORARY TABLE steps (number integer, name varchar(9))");
    sql_step insert = sql_form_of("INSERT INTO steps (name) VALUES ('text')",
                                  "INSERT INTO steps (name) VALUES ($1)", "x", NULL);
    sql_step names = sql_step_of("SELECT string_agg(name, ' ') FROM steps");

    (void) state;
    sql_enqueue(&insert);
    sql_await(&insert);
    assert_int_equal(insert.outcome, SQL_NO_TABLE);
    sql_run(&create);
    for (unsigned use = 0; use < 3; use++) {
        sql_run(&insert);
    }
    assert_string_equal(sql_run(&names), "text x x");
    sql_run(&drop);
    sql_enqueue(&insert);
    sql_await(&insert);
    assert_int_equal(insert.outcome, SQL_NO_TABLE);
    sql_run(&again);
    sql_run(&insert);
    assert_string_equal(sql_run(&names), "x");
}

/* It is sent as a text then. */
static void memory_that_runs_out_prepares_nothing(void **state)
{
    sql_step first = sql_step_of("SELECT 1"), sum = sum_of("20", "3");

    (void) state;
    sql_run(&first);
    unit.fail_at = unit.allocations + 1;
    assert_string_equal(sql_run(&sum), "text");
    assert_true(unit.allocations >= unit.fail_at);
    assert_string_equal(sql_run(&sum), "text");
    assert_string_equal(sql_run(&sum), "text");
    assert_string_equal(sql_run(&sum), "23");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQL_TEST(a_template_is_prepared_at_its_first_use),
        SQL_TEST(what_could_not_be_prepared_is_not_taken_for_prepared),
        SQL_TEST(a_form_is_prepared_at_its_second_use),
        SQL_TEST(the_next_session_has_nothing_prepared),
        SQL_TEST(what_is_rare_is_not_prepared),
        SQL_TEST(values_beyond_ascii_stay_in_the_text),
        SQL_TEST(there_is_room_for_some_forms),
        SQL_TEST(a_form_that_is_gone_costs_the_session_once),
        SQL_TEST(a_form_follows_its_table),
        SQL_TEST(memory_that_runs_out_prepares_nothing),
    };

    sql_server = (sql_statements_server){
        .setup = unit_postgresql_setup,
        .open = latch_postgresql_open,
        .dsn = unit_postgresql.dsn,
        .create_table = "CREATE TEMPORARY TABLE steps (name text)",
        .end_sessions = unit_postgresql_end_sessions,
        .await_sessions = unit_postgresql_await_sessions,
    };
    return cmocka_run_group_tests(tests, unit_postgresql_group_setup,
                                  unit_postgresql_group_teardown);
}
