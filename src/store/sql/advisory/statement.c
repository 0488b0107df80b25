/* Statements of holds: their text in the dialect of the server, and what is made of their outcome.
 */
#include "src/store/sql/advisory/advisory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static advisory_hold *advisory_hold_of(const sql_statement *statement)
{
    return LATCH_CONTAINER(statement, advisory_hold, statement);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static void write_timeout(const advisory_hold *hold, char text[ADVISORY_TIMEOUT_SIZE])
{
    const sql_session *session = hold->store->session;
    int64_t timeout_ms = hold->request.timeout_ms;

    timeout_ms = timeout_ms < session->longest_wait_ms ? timeout_ms : session->longest_wait_ms;
    if (session->whole_seconds && hold->request.is_unknown) {
        /* It would not answer before the deadline, by which it must be known that the lock is
         * held. */
        timeout_ms = 0;
    }
    hold->store->dialect->write_timeout(timeout_ms, session->whole_seconds, text);
}

/* Numbers and hex digits only: nothing to escape. */
static void advisory_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    const advisory_hold *hold = advisory_hold_of(statement);
    const advisory_dialect *dialect = hold->store->dialect;
    int64_t number = hold->store->session->number;
    char key[ADVISORY_KEY_SIZE + 16], session[24], timeout[ADVISORY_TIMEOUT_SIZE],
        literal[2 * ADVISORY_TIMEOUT_SIZE + 48], verdict[SQL_TEXT_MAX];
    bool is_given = hold->store->session->driver->clone == NULL;

    snprintf(key, sizeof(key), dialect->key, hold->request.key);
    if (number != 0) {
        snprintf(session, sizeof(session), "%" PRId64, number);
    } else {
        snprintf(session, sizeof(session), "%s", dialect->self);
    }
    write_timeout(hold, timeout);
    snprintf(literal, sizeof(literal),
             is_given && dialect->given_timeout != NULL ? dialect->given_timeout : dialect->timeout,
             timeout);
    snprintf(verdict, sizeof(verdict), dialect->verdicts[hold->request.action], key, session,
             literal);
    snprintf(text, SQL_TEXT_MAX, dialect->answer, verdict);
}

static void advisory_bind(const sql_statement *statement, sql_parameters *parameters)
{
    const advisory_hold *hold = advisory_hold_of(statement);
    unsigned count = statement->template->parameter_count;

    parameters->values[0] = hold->request.key;
    if (count > 1) {
        snprintf(parameters->numbers[1], SQL_NUMBER_SIZE, "%" PRId64, hold->store->session->number);
        parameters->values[1] = parameters->numbers[1];
    }
    if (count > 2) {
        write_timeout(hold, parameters->numbers[2]);
        parameters->values[2] = parameters->numbers[2];
    }
}

/* ---- Failures ------------------------------------------------------------------------------- */

/* A release that is refused would leave a lock in the session. Its end frees it: not a runner's,
 * which is not ours to end. In a failed transaction it refuses all statements: a release without a
 * caller is postponed then. */
static bool is_stuck(const advisory_hold *hold)
{
    return hold->store->session->driver->clone != NULL && hold->request.action >= ADVISORY_RELEASE
           && hold->request.action <= ADVISORY_UNDO_PROMOTION;
}

/* The action that undoes the request, if that may have been granted a lock; else the request's
 * own. The server does not tell how often a lock is shared: where another lease has it, too,
 * nothing is undone. */
static advisory_action undoing_action(const advisory_hold *hold)
{
    advisory_action action = hold->request.action;

    if (action >= ADVISORY_DEMOTE || latch_advisory_hold_conflicts(hold, LATCH_EXCLUSIVE)) {
        return action;
    }
    return action == ADVISORY_TRY_TO_PROMOTE || action == ADVISORY_POLL_TO_PROMOTE
                   || action == ADVISORY_WAIT_TO_PROMOTE
               ? ADVISORY_UNDO_PROMOTION
           : action == ADVISORY_TRY_SHARED || action == ADVISORY_WAIT_SHARED ? ADVISORY_UNDO_SHARED
                                                                             : ADVISORY_UNDO;
}

/*
 * A lock of a session may be granted at the very moment at which its statement ends by an error,
 * and is held then: so it is given back, whether there is one or not, before the session does
 * anything else. False when there is nothing to be undone.
 * https://github.com/postgres/postgres/blob/master/src/backend/storage/lmgr/proc.c,
 * LockErrorCleanup
 */
static bool undo_request(advisory_hold *hold, sql_outcome failure)
{
    advisory_action action = undoing_action(hold);

    if (action == hold->request.action) {
        return false;
    }
    hold->failure = failure;
    latch_advisory_hold_set_action(hold, action, LATCH_NEVER);
    latch_sql_session_repeat(hold->store->session, &hold->statement);
    return true;
}

/* The session goes on. */
static void handle_failed_request(advisory_hold *hold, sql_outcome outcome)
{
    const advisory_dialect *dialect = hold->store->dialect;
    sql_session *session = hold->store->session;
    bool stuck = is_stuck(hold);

    if (outcome == SQL_REFUSED && dialect->explain_refusal != NULL) {
        dialect->explain_refusal(session);
    }
    if (hold->statement.is_cancelled) { /* by us: it was given up, or another operation needed the
                                         * session */
        outcome = SQL_TIMED_OUT;
    }
    if (outcome != SQL_UNKNOWN && undo_request(hold, outcome)) {
        return;
    }
    if (outcome != SQL_UNKNOWN && hold->lease == NULL && !stuck) {
        latch_sql_session_postpone(session, &hold->statement);
        return;
    }
    latch_advisory_hold_end_request(hold, hold->statement.is_compensation ? hold->failure
                                          : stuck                         ? SQL_LOST
                                                                          : outcome);
    if (stuck) {
        latch_sql_session_lose(session, SQL_LOST, session->trouble);
    }
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* "123x,456s" */
static bool report_holders(advisory_hold *hold, const char *value)
{
    latch_engine *engine = hold->store->store.engine;
    latch_mode mode = *value == ' '                ? LATCH_FREE
                      : strchr(value, 's') != NULL ? LATCH_SHARED
                                                   : LATCH_EXCLUSIVE;
    latch_lock_report *report =
        latch_lock_reports_add(engine, hold->reports, hold->request.key, mode);
    bool is_recorded = report != NULL;

    while (is_recorded && *value != ' ' && *value != '\0') {
        char *end;
        int64_t number = strtoll(value, &end, 10);

        if (end == value || (*end != 'x' && *end != 's')) {
            break; /* the reply was truncated, or makes no sense */
        }
        is_recorded = latch_lock_report_add_holder(engine, report, number);
        value = end + strspn(end, "xs,");
    }
    return is_recorded;
}

/* NULL in place of a verdict. Of a given connection no more than that is told. */
static void handle_null(advisory_hold *hold)
{
    sql_session *session = hold->store->session;
    bool may_be_interrupted = hold->statement.is_wait && session->driver->clone != NULL;
    const char *interrupted = may_be_interrupted ? hold->store->dialect->interrupted_wait : NULL;

    snprintf(session->trouble, sizeof(session->trouble), "%s",
             interrupted != NULL ? interrupted : "its answer was NULL");
    session->trouble_code = 0;
    handle_failed_request(hold, interrupted != NULL ? SQL_CANCELLED : SQL_REFUSED);
}

static void apply_value(advisory_hold *hold, const char *value)
{
    sql_session *session = hold->store->session;
    const char *number = strrchr(value, ' ');

    if (hold->request.action == ADVISORY_HOLDERS) {
        if (!report_holders(hold, value)) {
            latch_advisory_hold_end_request(hold, SQL_NO_MEMORY);
            return;
        }
    } else if (*value == '\0') {
        handle_null(hold);
        return;
    } else if (*value == '2') {
        latch_sql_session_repeat(session, &hold->statement); /* settled with the others */
        latch_sql_session_lose(session, SQL_MOVED, "another session answered");
        return;
    }
    if (session->number == 0 && number != NULL) {
        session->number = strtoll(number, NULL, 10);
    }
    hold->verdict = *value;
    latch_advisory_hold_end_request(hold,
                                    hold->statement.is_compensation ? hold->failure : SQL_ANSWERED);
}

static void advisory_settle(sql_statement *statement, sql_outcome outcome, const sql_result *result)
{
    advisory_hold *hold = advisory_hold_of(statement);

    switch (outcome) {
        case SQL_ANSWERED:
            apply_value(hold, result->value);
            break;
        case SQL_UNANSWERED:
        case SQL_LOST:
        case SQL_MOVED:
            latch_advisory_hold_end_request(hold, outcome);
            break;
        default:
            handle_failed_request(hold, outcome);
    }
}

const sql_statement_class latch_advisory_statement = {
    .write = advisory_write,
    .bind = advisory_bind,
    .settle = advisory_settle,
};
