/*
 * A user of SQL sessions that has nothing to do with locks: statements of a text, whose outcomes
 * are recorded, and what holds for them in a session with any server.
 */
#ifndef SQL_STATEMENTS_H
#define SQL_STATEMENTS_H

#include "unit.h"

#include "src/store/sql/session/session.h"

/* What becomes of a statement that the server has refused, the first time. */
typedef enum { ENDS, IS_REPEATED, IS_POSTPONED, IS_COMPENSATED } sql_remedy;

typedef struct sql_step {
    sql_statement statement;
    const char *text;                      /* with all values */
    const char *form;                      /* NULL: it has none */
    const char *values[SQL_PARAMETER_MAX]; /* of the parameters of its template or form */
    sql_remedy remedy;
    const char *remedy_text; /* its text then */
    sql_outcome outcome;     /* of the last time it was settled, */
    unsigned turn;           /* which was the so manieth time that a statement was, in this test */
    char value[SQL_VALUE_MAX];
    int64_t affected, insert_id;
} sql_step;

/* The server of a test program, and its statements. */
typedef struct sql_statements_server {
    int (*setup)(void **state); /* as for cmocka's tests */
    sql_opener *open;
    const char *dsn;
    const char *sleep;        /* a statement that takes a minute */
    const char *create_table; /* which ends with the session */
    void (*end_sessions)(void);
    void (*await_sessions)(size_t count);
} sql_statements_server;

extern sql_statements_server sql_server; /* filled in before the first test */
extern sql_session *sql_under_test;      /* the test's; opened by the setup */

int sql_statements_setup(void **state);
int sql_statements_teardown(void **state);

/* A statement of that text, which is not enqueued. */
sql_step sql_step_of(const char *text);
/* The same with a form, whose values those are; NULL: it has none or only one. */
sql_step sql_form_of(const char *text, const char *form, const char *first, const char *second);
sql_step sql_sleep(void); /* for a minute, as a wait */
void sql_enqueue(sql_step *step);
/* Drives the session until that statement is settled. */
void sql_await(sql_step *step);
/* Both; returns the value of a statement that must be answered. */
const char *sql_run(sql_step *step);
/* Drives the session until a statement is on its way, while that one is queued. */
void sql_await_sent(sql_step *step);

void statements_are_carried_out_in_turn(void **state);
void a_statement_without_rows_is_answered(void **state);
void rows_that_were_changed_are_counted(void **state);
void a_missing_table_is_told(void **state);
void a_refused_statement_leaves_the_session(void **state);
void a_wait_is_cancelled_for_the_next_statement(void **state);
void what_is_no_wait_is_waited_for(void **state);
void a_statement_that_takes_too_long_costs_the_session(void **state);
void the_end_of_a_session_settles_all_its_statements(void **state);
void what_was_not_sent_can_be_dequeued(void **state);
void what_is_repeated_goes_before_all_others(void **state);
void what_is_postponed_goes_before_what_comes_next(void **state);
void a_compensation_cannot_be_dequeued(void **state);

#define SQL_TEST(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, sql_statements_setup, sql_statements_teardown)
#define SQL_TESTS                                                                                  \
    SQL_TEST(statements_are_carried_out_in_turn), SQL_TEST(a_statement_without_rows_is_answered),  \
        SQL_TEST(rows_that_were_changed_are_counted), SQL_TEST(a_missing_table_is_told),           \
        SQL_TEST(a_refused_statement_leaves_the_session),                                          \
        SQL_TEST(a_wait_is_cancelled_for_the_next_statement),                                      \
        SQL_TEST(what_is_no_wait_is_waited_for),                                                   \
        SQL_TEST(a_statement_that_takes_too_long_costs_the_session),                               \
        SQL_TEST(the_end_of_a_session_settles_all_its_statements),                                 \
        SQL_TEST(what_was_not_sent_can_be_dequeued),                                               \
        SQL_TEST(what_is_repeated_goes_before_all_others),                                         \
        SQL_TEST(what_is_postponed_goes_before_what_comes_next),                                   \
        SQL_TEST(a_compensation_cannot_be_dequeued)

#endif
