/* Statements in an SQL session: see sql_statements.h. */
#include "sql_statements.h"

#include <poll.h>

sql_statements_server sql_server;
sql_session *sql_under_test;

static unsigned settled;

/* ---- A user of sessions --------------------------------------------------------------------- */

static sql_step *step_of(const sql_statement *statement)
{
    return LATCH_CONTAINER(statement, sql_step, statement);
}

static void step_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    snprintf(text, SQL_TEXT_MAX, "%s", step_of(statement)->text);
}

static void step_write_form(const sql_statement *statement, char text[SQL_TEXT_MAX],
                            sql_values *values)
{
    const sql_step *step = step_of(statement);

    snprintf(text, SQL_TEXT_MAX, "%s", step->form);
    for (; values->count < SQL_PARAMETER_MAX && step->values[values->count] != NULL;
         values->count++) {
        values->all[values->count].text = step->values[values->count];
        values->all[values->count].length = strlen(step->values[values->count]);
    }
}

static void step_bind(const sql_statement *statement, sql_parameters *parameters)
{
    memcpy(parameters->values, step_of(statement)->values, sizeof(parameters->values));
}

static void step_settle(sql_statement *statement, sql_outcome outcome, const sql_result *result)
{
    sql_step *step = step_of(statement);
    sql_remedy remedy = outcome == SQL_REFUSED ? step->remedy : ENDS;

    assert_false(statement->is_queued);
    step->outcome = outcome;
    step->turn = ++settled;
    if (outcome == SQL_ANSWERED) {
        snprintf(step->value, sizeof(step->value), "%s", result->value);
        step->affected = result->affected;
        step->insert_id = result->insert_id;
    }
    step->text = remedy != ENDS ? step->remedy_text : step->text;
    step->remedy = ENDS;
    if (remedy == IS_REPEATED || remedy == IS_COMPENSATED) {
        statement->is_compensation = remedy == IS_COMPENSATED;
        latch_sql_session_repeat(sql_under_test, statement);
        if (statement->is_compensation) {
            assert_false(latch_sql_session_dequeue(sql_under_test, statement));
        }
    } else if (remedy == IS_POSTPONED) {
        latch_sql_session_postpone(sql_under_test, statement);
    }
}

static const sql_statement_class step_class = {
    .write = step_write,
    .bind = step_bind,
    .settle = step_settle,
};

sql_step sql_step_of(const char *text)
{
    return (sql_step){.statement.class = &step_class, .text = text};
}

sql_step sql_form_of(const char *text, const char *form, const char *first, const char *second)
{
    static const sql_statement_class class = {
        .write = step_write,
        .write_form = step_write_form,
        .settle = step_settle,
    };

    return (sql_step){.statement = {.class = &class, .is_frequent = true},
                      .text = text,
                      .form = form,
                      .values = {first, second}};
}

sql_step sql_sleep(void)
{
    sql_step step = sql_step_of(sql_server.sleep);

    step.statement.is_wait = step.statement.is_unbounded = true;
    return step;
}

void sql_enqueue(sql_step *step)
{
    step->outcome = SQL_UNANSWERED;
    latch_sql_session_enqueue(sql_under_test, &step->statement, unit_now_ns());
}

/* Drives the session until the statement is settled, or until any has to be waited for. */
static void drive(sql_step *step, bool until_sent)
{
    latch_op op = {.error = &unit.error};
    int64_t give_up_ns = unit_now_ns() + UNIT_TIMEOUT_NS;
    latch_status status;

    do {
        struct pollfd descriptor;

        status = latch_sql_session_drive(sql_under_test, &step->statement, &op, unit_now_ns());
        if (latch_failed(status)) {
            fail_msg("%s", unit.error.message);
        }
        if (!latch_wants(status) || (until_sent && sql_under_test->is_sent)) {
            break;
        }
        UNIT_CHECK(unit_now_ns() < give_up_ns);
        descriptor = (struct pollfd){.fd = op.fd, .events = op.events};
        UNIT_CHECK(poll(&descriptor, 1, status == LATCH_WANT_IO ? 100 : 1) >= 0);
    } while (true);
}

void sql_await(sql_step *step)
{
    drive(step, false);
    assert_false(step->statement.is_queued);
}

void sql_await_sent(sql_step *step)
{
    drive(step, true);
    assert_true(step->statement.is_queued && sql_under_test->is_sent);
}

const char *sql_run(sql_step *step)
{
    sql_enqueue(step);
    sql_await(step);
    if (step->outcome != SQL_ANSWERED) {
        fail_msg("outcome %d: %s", (int) step->outcome, sql_under_test->trouble);
    }
    return step->value;
}

int sql_statements_setup(void **state)
{
    latch_store_options options = {.dsn = sql_server.dsn, .dsn_length = strlen(sql_server.dsn)};

    if (sql_server.setup(state) != 0 || unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    settled = 0;
    return sql_server.open(unit.engine, &options, &sql_under_test, &unit.error) == LATCH_DONE ? 0
                                                                                              : -1;
}

int sql_statements_teardown(void **state)
{
    if (sql_under_test != NULL) {
        latch_sql_session_end(sql_under_test);
        sql_under_test = NULL;
    }
    sql_server.await_sessions(0);
    return unit_teardown(state);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

void statements_are_carried_out_in_turn(void **state)
{
    sql_step steps[] = {sql_step_of("SELECT 1"), sql_step_of("SELECT 'two'"),
                        sql_step_of("SELECT 3")};

    (void) state;
    for (size_t at = 0; at < 3; at++) {
        sql_enqueue(&steps[at]);
    }
    assert_false(latch_sql_session_is_idle(sql_under_test));
    sql_await(&steps[2]);
    assert_true(latch_sql_session_is_idle(sql_under_test));
    assert_string_equal(steps[0].value, "1");
    assert_string_equal(steps[1].value, "two");
    assert_string_equal(steps[2].value, "3");
    for (unsigned at = 0; at < 3; at++) {
        assert_int_equal(steps[at].turn, at + 1);
    }
    assert_true(sql_under_test->number != 0);
}

void a_statement_without_rows_is_answered(void **state)
{
    sql_step create = sql_step_of(sql_server.create_table);
    sql_step insert = sql_step_of("INSERT INTO steps VALUES ('a'), (NULL)");
    sql_step none = sql_step_of("SELECT name FROM steps WHERE name = 'b'");
    sql_step null = sql_step_of("SELECT name FROM steps WHERE name IS NULL");
    sql_step two = sql_step_of("SELECT name FROM steps WHERE name = 'a' UNION ALL SELECT 'z'");

    (void) state;
    assert_string_equal(sql_run(&create), "");
    assert_string_equal(sql_run(&insert), "");
    assert_string_equal(sql_run(&none), "");
    assert_string_equal(sql_run(&null), "");
    assert_string_equal(sql_run(&two), "a");
}

void rows_that_were_changed_are_counted(void **state)
{
    sql_step create = sql_step_of(sql_server.create_table);
    sql_step insert = sql_step_of("INSERT INTO steps VALUES ('a'), ('b')");
    sql_step update = sql_step_of("UPDATE steps SET name = 'c' WHERE name = 'a'");
    sql_step delete = sql_step_of("DELETE FROM steps");

    (void) state;
    sql_run(&create);
    sql_run(&insert);
    assert_int_equal(insert.affected, 2);
    sql_run(&update);
    assert_int_equal(update.affected, 1);
    sql_run(&update);
    assert_int_equal(update.affected, 0);
    sql_run(&delete);
    assert_int_equal(delete.affected, 2);
}

void a_missing_table_is_told(void **state)
{
    sql_step insert = sql_step_of("INSERT INTO steps VALUES ('a')");

    (void) state;
    sql_enqueue(&insert);
    sql_await(&insert);
    assert_int_equal(insert.outcome, SQL_NO_TABLE);
    assert_non_null(strstr(sql_under_test->trouble, "steps"));
}

void a_refused_statement_leaves_the_session(void **state)
{
    sql_step wrong = sql_step_of("SELECT nothing_of_that_name"), right = sql_step_of("SELECT 1");
    int64_t number;

    (void) state;
    sql_run(&right);
    number = sql_under_test->number;
    sql_enqueue(&wrong);
    sql_await(&wrong);
    assert_int_equal(wrong.outcome, SQL_REFUSED);
    assert_non_null(strstr(sql_under_test->trouble, "nothing_of_that_name"));
    sql_run(&right);
    assert_int_equal(sql_under_test->number, number);
}

void a_wait_is_cancelled_for_the_next_statement(void **state)
{
    sql_step wait = sql_sleep(), next = sql_step_of("SELECT 1");
    int64_t number;

    (void) state;
    sql_enqueue(&wait);
    sql_await_sent(&wait);
    number = sql_under_test->number;
    assert_string_equal(sql_run(&next), "1");
    assert_int_equal(wait.outcome, SQL_CANCELLED);
    assert_true(wait.statement.is_cancelled && !next.statement.is_cancelled);
    assert_int_equal(wait.turn, 1);
    assert_int_equal(sql_under_test->number, number);
}

void what_is_no_wait_is_waited_for(void **state)
{
    sql_step first = sql_sleep(), next = sql_step_of("SELECT 1");

    (void) state;
    first.statement.is_wait = false;
    sql_enqueue(&first);
    sql_enqueue(&next);
    sql_await_sent(&next);
    assert_int_equal(sql_under_test->cancel, SQL_NO_CANCEL);
    assert_false(latch_sql_session_dequeue(sql_under_test, &first.statement));
    sql_server.end_sessions();
    sql_await(&next);
    assert_int_equal(first.outcome, SQL_LOST);
}

void a_statement_that_takes_too_long_costs_the_session(void **state)
{
    sql_step slow = sql_sleep(), next = sql_step_of("SELECT 1");
    unsigned age;

    (void) state;
    slow.statement.is_wait = slow.statement.is_unbounded = false;
    sql_enqueue(&slow);
    sql_await_sent(&slow);
    age = sql_under_test->age;
    unit.ahead_ns += sql_under_test->command_timeout_ns;
    sql_await(&slow);
    assert_int_equal(slow.outcome, SQL_LOST);
    assert_non_null(strstr(sql_under_test->trouble, "did not answer within"));
    assert_int_equal(sql_under_test->age, age + 1);
    sql_run(&next);
    sql_server.end_sessions(); /* also the one that sleeps on */
}

void the_end_of_a_session_settles_all_its_statements(void **state)
{
    sql_step first = sql_sleep(), second = sql_step_of("SELECT 1"), again = sql_step_of("SELECT 2");
    int64_t number;
    unsigned age;

    (void) state;
    first.statement.is_wait = false;
    sql_enqueue(&first);
    sql_enqueue(&second);
    sql_await_sent(&first);
    number = sql_under_test->number;
    age = sql_under_test->age;
    sql_server.end_sessions();
    sql_await(&second);
    assert_int_equal(first.outcome, SQL_LOST);
    assert_int_equal(second.outcome, SQL_LOST);
    assert_true(first.turn == 1 && second.turn == 2);
    assert_int_equal(sql_under_test->number, 0);
    assert_int_equal(sql_under_test->age, age + 1);
    assert_false(latch_sql_session_is_alive(sql_under_test));
    assert_string_equal(sql_run(&again), "2");
    assert_true(sql_under_test->number != number);
    assert_true(latch_sql_session_is_alive(sql_under_test));
}

void what_was_not_sent_can_be_dequeued(void **state)
{
    sql_step sent = sql_sleep(), waiting = sql_step_of("SELECT 1"), next = sql_step_of("SELECT 2");

    (void) state;
    sql_enqueue(&sent);
    sql_await_sent(&sent);
    sql_enqueue(&waiting);
    assert_false(latch_sql_session_dequeue(sql_under_test, &sent.statement));
    assert_true(latch_sql_session_dequeue(sql_under_test, &waiting.statement));
    assert_int_equal(waiting.turn, 1);
    assert_int_equal(waiting.outcome, SQL_UNANSWERED);
    assert_string_equal(sql_run(&next), "2");
    assert_int_equal(sent.outcome, SQL_CANCELLED);
    assert_int_equal(waiting.turn, 1);
}

void what_is_repeated_goes_before_all_others(void **state)
{
    sql_step first = sql_step_of("SELECT nothing_of_that_name"), next = sql_step_of("SELECT 2");

    (void) state;
    first.remedy = IS_REPEATED;
    first.remedy_text = "SELECT 1";
    sql_enqueue(&first);
    sql_enqueue(&next);
    sql_await(&next);
    assert_string_equal(first.value, "1");
    assert_int_equal(first.turn, 2);
    assert_int_equal(next.turn, 3);
}

void what_is_postponed_goes_before_what_comes_next(void **state)
{
    sql_step first = sql_step_of("SELECT nothing_of_that_name"), second = sql_step_of("SELECT 2"),
             third = sql_step_of("SELECT 3");

    (void) state;
    first.remedy = IS_POSTPONED;
    first.remedy_text = "SELECT 1";
    sql_enqueue(&first);
    sql_enqueue(&second);
    sql_await(&second);
    assert_true(first.statement.is_queued && first.turn == 1 && second.turn == 2);
    assert_true(latch_sql_session_is_idle(sql_under_test));
    sql_run(&third);
    assert_string_equal(first.value, "1");
    assert_true(first.turn == 3 && third.turn == 4);
}

/* Its request may have had an effect, which is there until it is undone. */
void a_compensation_cannot_be_dequeued(void **state)
{
    sql_step first = sql_step_of("SELECT nothing_of_that_name"), next = sql_step_of("SELECT 2");

    (void) state;
    first.remedy = IS_COMPENSATED;
    first.remedy_text = "SELECT 1";
    sql_enqueue(&first);
    sql_enqueue(&next);
    sql_await(&next);
    assert_int_equal(first.outcome, SQL_ANSWERED);
    assert_string_equal(first.value, "1");
    assert_true(first.turn == 2 && next.turn == 3);
}
