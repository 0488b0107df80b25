/*
 * Queues of those that wait for a lock in a table, where the server has advisory locks and
 * notifications, and the session is this process's alone. First come, first served.
 *
 * The ticket is an advisory lock of the session: the server queues sessions for it, and frees it
 * with the session of a process that dies. The holder of the ticket is the first waiter: it
 * attempts to acquire, sleeps until a release notifies it or the row expires, and attempts again.
 * While it sleeps, the session is free for other statements.
 *
 * A session carries out one statement at a time, and has one ticket at most. So a request that
 * waits for the ticket makes room for another statement of its session, and one that has the ticket
 * makes room for another request that waits: that is a signal handler's, in which the first one
 * cannot attend to its turn. It polls then, by which it queues anew.
 */
#include "src/store/sql/table/table.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Pause of the first waiter between two attempts: other programs' releases notify nobody. */
#define FOREIGN_RELEASE_NS (100 * LATCH_NS_PER_MS)
/* Time after which a request attempts without the ticket, and queues anew. */
#define LONGEST_MS 10000
/* A first waiter that has not attempted for so long was stopped: its session is ended, which frees
 * the ticket. */
#define STALLED_MS 2000
/* Time in which the server obeys a cancel. */
#define CANCEL_GRACE_NS (3 * LATCH_NS_PER_S)

struct table_ticket {
    sql_statement statement; /* asks for it, or gives it back */
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
            .stage = TICKET_OVER,
        };
        hold->ticket = ticket;
    }
    return ticket;
}

static void ticket_free(table_ticket *ticket)
{
    latch_free(ticket->store->store.engine, ticket);
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

static void ticket_give_back(table_ticket *ticket, int64_t now_ns)
{
    ticket_prepare_end(ticket, true);
    latch_sql_session_enqueue(ticket->store->session, &ticket->statement, now_ns);
}

/* For another ticket of the session. A wait in the server is cancelled when that is asked for. */
static void ticket_make_room(table_ticket *ticket, int64_t now_ns)
{
    if (ticket->statement.is_queued) {
        latch_sql_session_dequeue(ticket->store->session, &ticket->statement);
    } else if (ticket_is_held(ticket)) {
        ticket->outcome = SQL_UNANSWERED;
        ticket_give_back(ticket, now_ns);
    }
}

static void ticket_ask(table_ticket *ticket, const latch_op *op, int64_t now_ns)
{
    table_store *store = ticket->store;
    sql_session *session = store->session;
    int64_t longest_ms = session->longest_wait_ms < LONGEST_MS ? session->longest_wait_ms
                                                               : LONGEST_MS;
    int64_t left_ns = op->request.deadline_ns - now_ns;
    int64_t left_ms = left_ns / LATCH_NS_PER_MS + 1;

    if (store->ticket != NULL && store->ticket != ticket) {
        ticket_make_room(store->ticket, now_ns);
    }
    store->ticket = ticket;
    ticket->stage = TICKET_ASKED;
    ticket->timeout_ms = left_ms < longest_ms ? left_ms : longest_ms;
    ticket->cancel_ns = ticket->give_up_ns = LATCH_NEVER;
    ticket->statement.is_wait = true;
    ticket->statement.is_compensation = false;
    ticket->statement.timeout_ns = latch_ms_to_ns(ticket->timeout_ms) + session->command_timeout_ns;
    latch_sql_session_enqueue(session, &ticket->statement, now_ns);
}

static void ticket_write(const sql_statement *statement, char text[SQL_TEXT_MAX])
{
    const table_ticket *ticket = LATCH_CONTAINER(statement, const table_ticket, statement);
    const table_queue *queue = ticket->store->dialect->queue;
    const sql_session *session = ticket->store->session;
    bool was_in_vain = ticket->stage == TICKET_UNDONE && ticket->outcome == SQL_TIMED_OUT
                       && ticket->timeout_ms >= STALLED_MS;
    char number[SQL_NUMBER_SIZE], self[SQL_NUMBER_SIZE], time[SQL_NUMBER_SIZE];

    snprintf(number, sizeof(number), "%016" PRIx64, (uint64_t) ticket->number);
    /* A session that was found to be behind a pooler when it was connected again refuses it. */
    snprintf(self, sizeof(self), "%" PRId64, session->is_direct ? session->number : 0);
    snprintf(time, sizeof(time), "%" PRId64,
             ticket->stage == TICKET_ASKED ? ticket->timeout_ms : STALLED_MS);
    snprintf(text, SQL_TEXT_MAX,
             ticket->stage == TICKET_ASKED        ? queue->ask
             : ticket->stage == TICKET_GIVEN_BACK ? queue->give_back
             : was_in_vain                        ? queue->undo_and_end_stalled
                                                  : queue->undo,
             number, self, time);
}

/* ---- Outcomes ------------------------------------------------------------------------------- */

static void settle_asked(table_ticket *ticket, sql_outcome outcome)
{
    table_store *store = ticket->store;

    if (outcome == SQL_MOVED || outcome == SQL_REFUSED) {
        store->has_queue = false;
    }
    if (outcome == SQL_ANSWERED) {
        ticket->stage = TICKET_HELD;
        ticket->age = store->session->age;
        return;
    }
    ticket->outcome = outcome;
    if (outcome == SQL_UNANSWERED || outcome == SQL_LOST || outcome == SQL_MOVED) {
        ticket->stage = TICKET_OVER; /* nothing can be left in the server */
        return;
    }
    if (ticket->statement.is_cancelled) {
        ticket->outcome = SQL_UNANSWERED;
    }
    /* It may be granted at the very moment at which the wait ends by an error. */
    ticket_prepare_end(ticket, false);
    latch_sql_session_repeat(store->session, &ticket->statement);
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
        is_stuck = outcome != SQL_ANSWERED && outcome != SQL_LOST && outcome != SQL_MOVED;
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
    } else if (hold->ticket != NULL && hold->ticket->statement.is_queued) {
        return LATCH_CONFLICT; /* it has made room during the attempt */
    } else {
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

static latch_status go_on_without_ticket(latch_op *op, const table_ticket *ticket, int64_t now_ns)
{
    table_hold *hold = op->state;

    switch (ticket->outcome) {
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
    table_ticket *ticket = ((table_hold *) op->state)->ticket;
    latch_status status;

    if (ticket->statement.is_queued) {
        status = drive_ticket(op, ticket, now_ns);
        if (status != LATCH_DONE) {
            return status;
        }
    }
    if (op->cancelled) {
        return LATCH_CONFLICT;
    }
    return ticket->stage == TICKET_HELD ? await_release(op, ticket, now_ns)
                                        : go_on_without_ticket(op, ticket, now_ns);
}

/* ---- Ends of waits -------------------------------------------------------------------------- */

/* The time-out of the server is that of the request. Out of time, it attempts once more: the first
 * waiter may be a process that was stopped. */
bool latch_table_cancel_turn(latch_op *op, int64_t now_ns)
{
    table_hold *hold = op->state;
    table_ticket *ticket = hold->ticket;

    if (ticket == NULL || !ticket->statement.is_queued
        || latch_sql_session_dequeue(ticket->store->session, &ticket->statement)) {
        return false;
    }
    ticket->cancel_ns = op->cancelled ? now_ns : now_ns + TABLE_GRACE_NS;
    ticket->give_up_ns = now_ns + CANCEL_GRACE_NS;
    hold->give_up_ns = now_ns + TABLE_GRACE_NS;
    return true;
}

void latch_table_leave_queue(table_hold *hold, int64_t now_ns)
{
    table_ticket *ticket = hold->ticket;
    table_store *store = hold->store;

    if (ticket == NULL) {
        return;
    }
    hold->ticket = NULL;
    ticket->waiter = NULL;
    store->ticket = store->ticket == ticket ? NULL : store->ticket;
    if (ticket_is_held(ticket)) {
        ticket_give_back(ticket, now_ns);
        latch_sql_session_flush(store->session, now_ns);
    } else if (!ticket->statement.is_queued) {
        ticket_free(ticket);
    } else if (ticket->stage == TICKET_ASKED
               && !latch_sql_session_dequeue(store->session, &ticket->statement)) {
        latch_sql_session_lose(store->session, SQL_LOST, "a wait in it was abandoned");
    } /* else it is freed with its answer */
}
