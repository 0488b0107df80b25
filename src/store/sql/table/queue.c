/*
 * Queues of those that wait for a lock in a table, where the server has advisory locks and
 * notifications, and the session is this process's alone. First come, first served.
 *
 * The ticket is an advisory lock of the session: the server queues sessions for it, and frees it
 * with the session of a process that dies. The holder of the ticket is the first waiter: it
 * attempts to acquire, sleeps until a release notifies it or the row expires, and attempts again.
 * While it sleeps, the session is free for other statements.
 *
 * A session carries out one statement at a time. So a request that waits for the ticket makes room
 * for another statement of its session, and then queues anew, behind those that have come since.
 */
#include "src/store/sql/table/table.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Pause of the first waiter between two attempts: other programs' releases notify nobody. */
#define FOREIGN_RELEASE_NS (100 * LATCH_NS_PER_MS)
/* Time after which a request attempts without the ticket, and queues anew: the first waiter may be
 * a process that was stopped, or whose machine is gone. */
#define LONGEST_MS 30000
/* Time in which the server ends a wait by its own time-out, and in which it obeys a cancel. */
#define TIMEOUT_GRACE_NS (250 * LATCH_NS_PER_MS)
#define CANCEL_GRACE_NS (3 * LATCH_NS_PER_S)

struct table_ticket {
    sql_statement statement; /* asks for it, or gives it back */
    latch_link link;         /* in store->tickets */
    table_store *store;
    int64_t number;
    table_hold *waiter; /* NULL: it has left the queue; the ticket is freed with the last answer */
    enum { TICKET_ASKED = 0, TICKET_HELD, TICKET_UNDONE, TICKET_GIVEN_BACK, TICKET_OVER } stage;
    sql_outcome outcome; /* why it is over; SQL_UNANSWERED: it has made room */
    unsigned age;        /* of the session that has it */
    int64_t timeout_ms;
    unsigned notifications; /* that the session had when the last attempt was made */
    int64_t cancel_ns;      /* when the wait is cancelled, or LATCH_NEVER */
    int64_t give_up_ns;     /* when the session is ended, with the wait; or LATCH_NEVER */
};

int64_t latch_table_ticket_number(const latch_lease *lease)
{
    const table_store *store = latch_table_store_of(lease);
    const latch_env *env = &store->store.engine->env;
    const latch_table_options *table = &store->options->table;
    const struct iovec parts[] = {
        {"latch-queue:", strlen("latch-queue:")},
        {(void *) table->table, strlen(table->table) + 1}, /* with its NUL */
        {(void *) table->prefix, strlen(table->prefix)},
        {(void *) lease->resource, lease->resource_length},
    };
    uint8_t digest[LATCH_DIGEST_MAX];
    int64_t number;

    env->digest(env->context, LATCH_SHA256, parts, sizeof(parts) / sizeof(*parts), digest);
    memcpy(&number, digest, sizeof(number));
    return (int64_t) be64toh((uint64_t) number);
}

/* ---- Tickets -------------------------------------------------------------------------------- */

static table_ticket *ticket_make(table_hold *hold)
{
    table_ticket *ticket = latch_allocate(hold->store->store.engine, sizeof(*ticket));

    if (ticket != NULL) {
        *ticket = (table_ticket){
            .statement = {.class = &latch_table_ticket},
            .store = hold->store,
            .number = hold->ticket_number,
            .waiter = hold,
        };
        latch_list_append(&hold->store->tickets, &ticket->link);
        hold->ticket = ticket;
    }
    return ticket;
}

static void ticket_free(table_ticket *ticket)
{
    latch_list_remove(&ticket->link);
    latch_free(ticket->store->store.engine, ticket);
}

static void ticket_ask(table_ticket *ticket, const latch_op *op, int64_t now_ns)
{
    sql_session *session = ticket->store->session;
    int64_t longest_ms = session->longest_wait_ms < LONGEST_MS ? session->longest_wait_ms
                                                               : LONGEST_MS;
    int64_t left_ns = op->request.deadline_ns - now_ns;
    int64_t left_ms = left_ns / LATCH_NS_PER_MS + 1;

    ticket->stage = TICKET_ASKED;
    ticket->timeout_ms = left_ms < longest_ms ? left_ms : longest_ms;
    ticket->cancel_ns = ticket->give_up_ns = LATCH_NEVER;
    ticket->statement.is_wait = true;
    ticket->statement.is_compensation = false;
    ticket->statement.timeout_ns = latch_ms_to_ns(ticket->timeout_ms) + session->command_timeout_ns;
    latch_sql_session_enqueue(session, &ticket->statement, now_ns);
}

/* Has this very session the ticket? */
static bool ticket_is_held(const table_ticket *ticket)
{
    const sql_session *session = ticket->store->session;

    return ticket->stage == TICKET_HELD && ticket->age == session->age
           && session->generation == session->engine->generation;
}

/* A statement that gives it back. A session that cannot carry it out has to end. */
static void ticket_prepare_end(table_ticket *ticket, bool is_certain)
{
    ticket->stage = is_certain ? TICKET_GIVEN_BACK : TICKET_UNDONE;
    ticket->statement.is_wait = false;
    ticket->statement.is_compensation = true;
    ticket->statement.timeout_ns = 0;
}

static void ticket_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    const table_ticket *ticket = LATCH_CONTAINER(statement, const table_ticket, statement);
    const table_queue *queue = ticket->store->dialect->queue;
    const sql_session *session = ticket->store->session;
    char number[SQL_NUMBER_SIZE + 16], hex[SQL_NUMBER_SIZE], self[SQL_NUMBER_SIZE],
        timeout[SQL_NUMBER_SIZE];

    snprintf(number, sizeof(number), "'%" PRId64 "'::bigint", ticket->number);
    snprintf(hex, sizeof(hex), "%016" PRIx64, (uint64_t) ticket->number);
    /* A session that was found to be behind a pooler when it was connected again refuses it. */
    snprintf(self, sizeof(self), "%" PRId64, session->is_direct ? session->number : 0);
    snprintf(timeout, sizeof(timeout), "%" PRId64, ticket->timeout_ms);
    snprintf(text, SQL_TEXT_MAX,
             ticket->stage == TICKET_ASKED        ? queue->ask
             : ticket->stage == TICKET_GIVEN_BACK ? queue->give_back
                                                  : queue->undo,
             number, hex, self, timeout);
}

/* ---- Outcomes ------------------------------------------------------------------------------- */

/* Of the session, or of the place in its own queue: nothing can be left in the server. */
static bool is_end_of_session(sql_outcome outcome)
{
    return outcome == SQL_UNANSWERED || outcome == SQL_LOST || outcome == SQL_MOVED;
}

static void settle_asked(table_ticket *ticket, sql_outcome outcome)
{
    sql_session *session = ticket->store->session;

    if (outcome == SQL_MOVED || outcome == SQL_REFUSED) {
        ticket->store->has_queue = false;
    }
    if (outcome == SQL_ANSWERED) {
        ticket->stage = TICKET_HELD;
        ticket->age = session->age;
        if (ticket->waiter == NULL) {
            ticket_prepare_end(ticket, true);
            latch_sql_session_repeat(session, &ticket->statement);
        }
        return;
    }
    if (is_end_of_session(outcome)) {
        ticket->outcome = outcome;
        ticket->stage = TICKET_OVER;
        return;
    }
    /* It may be granted at the very moment at which the wait ends by an error. */
    ticket->outcome = ticket->statement.is_cancelled ? SQL_UNANSWERED : outcome;
    ticket_prepare_end(ticket, false);
    latch_sql_session_repeat(session, &ticket->statement);
}

static void ticket_settle(sql_statement *statement, sql_outcome outcome, const sql_result *result)
{
    table_ticket *ticket = LATCH_CONTAINER(statement, table_ticket, statement);
    sql_session *session = ticket->store->session;
    bool is_stuck = false;

    (void) result;
    if (ticket->stage == TICKET_ASKED) {
        settle_asked(ticket, outcome);
    } else {
        ticket->stage = TICKET_OVER;
        is_stuck = outcome != SQL_ANSWERED && !is_end_of_session(outcome);
    }
    if (ticket->waiter == NULL && ticket->stage == TICKET_OVER) {
        ticket_free(ticket);
    }
    if (is_stuck) {
        latch_sql_session_lose(session, SQL_LOST, session->trouble);
    }
}

const sql_statement_class latch_table_ticket = {.write = ticket_write, .settle = ticket_settle};

/* ---- Waits ---------------------------------------------------------------------------------- */

bool latch_table_may_queue(const latch_op *op)
{
    const table_store *store = latch_table_store_of(op->lease);
    const sql_session *session = store->session;

    return store->has_queue && (session->stage != SQL_CONNECTED || session->is_direct)
           && op->request.wait && latch_op_acquires(op) && op->lease->mode == LATCH_FREE;
}

/* A session has the same ticket as often as it asks for it. */
static bool has_rival_in_session(const table_hold *hold)
{
    const latch_link *tickets = &hold->store->tickets;

    for (const latch_link *link = tickets->next; link != tickets; link = link->next) {
        const table_ticket *ticket = LATCH_CONTAINER(link, const table_ticket, link);

        if (ticket->number == hold->ticket_number && ticket->waiter != NULL) {
            return true;
        }
    }
    return false;
}

latch_status latch_table_queue(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;

    if (!latch_table_may_queue(op) || op->cancelled || now_ns >= op->request.deadline_ns) {
        return LATCH_CONFLICT;
    }
    if (hold->ticket != NULL && ticket_is_held(hold->ticket)) {
        hold->retry_ns = now_ns + FOREIGN_RELEASE_NS;
        if (op->expiry_ns != 0 && op->expiry_ns < hold->retry_ns) {
            hold->retry_ns = op->expiry_ns;
        }
    } else {
        if (hold->ticket == NULL && has_rival_in_session(hold)) {
            return LATCH_CONFLICT;
        }
        if (hold->ticket == NULL && ticket_make(hold) == NULL) {
            return latch_fail_memory(op->error);
        }
        ticket_ask(hold->ticket, op, now_ns);
        hold->retry_ns = 0;
    }
    latch_table_hold_set_action(hold, TABLE_ACQUIRE_TIMED);
    return LATCH_AGAIN;
}

/* LATCH_DONE: the server has answered. */
static latch_status drive_ticket(latch_op *op, table_ticket *ticket, int64_t now_ns)
{
    sql_session *session = ticket->store->session;
    latch_status status;

    op->waiting = true;
    if (now_ns >= ticket->give_up_ns) {
        latch_sql_session_lose(session, SQL_LOST, "it does not answer, nor does it end a wait");
    } else if (now_ns >= ticket->cancel_ns && ticket->statement.is_wait) {
        ticket->cancel_ns = LATCH_NEVER;
        latch_sql_session_cancel(session, now_ns);
    }
    status = latch_sql_session_drive(session, &ticket->statement, op, now_ns);
    if (latch_wants(status)) {
        op->wake_ns = op->wake_ns < ticket->cancel_ns ? op->wake_ns : ticket->cancel_ns;
        op->wake_ns = op->wake_ns < ticket->give_up_ns ? op->wake_ns : ticket->give_up_ns;
    }
    return status;
}

/* The first waiter, between two attempts. */
static latch_status await_release(latch_op *op, table_ticket *ticket, int64_t now_ns)
{
    table_hold *hold = op->state;
    sql_session *session = ticket->store->session;

    if (!latch_sql_session_is_alive(session) || !ticket_is_held(ticket)) {
        latch_table_leave_queue(hold, now_ns);
        return LATCH_AGAIN; /* on a new connection */
    }
    if (now_ns < hold->retry_ns && session->notifications == ticket->notifications) {
        session->driver->want(session, op);
        op->wake_ns = hold->retry_ns;
        return LATCH_WANT_IO;
    }
    hold->retry_ns = 0;
    ticket->notifications = session->notifications;
    return LATCH_AGAIN;
}

static latch_status go_on_without_ticket(latch_op *op, table_ticket *ticket, int64_t now_ns)
{
    table_hold *hold = op->state;

    switch (ticket->outcome) {
        case SQL_UNANSWERED:
            ticket_ask(ticket, op, now_ns);
            return latch_table_await_turn(op, now_ns);
        case SQL_TIMED_OUT:
            return LATCH_AGAIN;
        case SQL_NO_MEMORY:
        case SQL_CANCELLED: /* by somebody else */
            hold->outcome = ticket->outcome;
            return latch_table_conclude(op, now_ns);
        default:
            return LATCH_CONFLICT; /* it polls, by which it comes here again */
    }
}

latch_status latch_table_await_turn(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    table_ticket *ticket = hold->ticket;
    latch_status status;

    if (ticket->stage == TICKET_HELD) {
        return await_release(op, ticket, now_ns);
    }
    if (ticket->statement.is_queued) {
        status = drive_ticket(op, ticket, now_ns);
        if (status != LATCH_DONE) {
            return status;
        }
    }
    if (op->cancelled || !op->request.wait) {
        return LATCH_CONFLICT;
    }
    return ticket->stage == TICKET_HELD ? await_release(op, ticket, now_ns)
                                        : go_on_without_ticket(op, ticket, now_ns);
}

/* ---- Ends of waits -------------------------------------------------------------------------- */

bool latch_table_cancel_turn(latch_op *op, int64_t now_ns)
{
    const table_hold *hold = op->state;
    table_ticket *ticket = hold->ticket;

    if (ticket == NULL || !ticket->statement.is_queued
        || latch_sql_session_dequeue(ticket->store->session, &ticket->statement)) {
        return false;
    }
    ticket->cancel_ns = op->cancelled ? now_ns : now_ns + TIMEOUT_GRACE_NS;
    ticket->give_up_ns = now_ns + CANCEL_GRACE_NS;
    return true;
}

void latch_table_leave_queue(table_hold *hold, int64_t now_ns)
{
    table_ticket *ticket = hold->ticket;
    sql_session *session = hold->store->session;

    if (ticket == NULL) {
        return;
    }
    hold->ticket = NULL;
    ticket->waiter = NULL;
    if (ticket->statement.is_queued) {
        /* Freed when it is settled. */
        if (!latch_sql_session_dequeue(session, &ticket->statement) && ticket->statement.is_wait) {
            latch_sql_session_cancel(session, now_ns);
        }
    } else if (ticket_is_held(ticket)) {
        ticket_prepare_end(ticket, true);
        latch_sql_session_enqueue(session, &ticket->statement, now_ns);
        latch_sql_session_flush(session, now_ns);
    } else {
        ticket_free(ticket);
    }
}
