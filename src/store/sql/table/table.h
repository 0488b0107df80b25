/*
 * Locks in a table of a database, a row each, in the layout of Symfony's PdoStore and
 * DoctrineDbalStore, or of Laravel's DatabaseLock, with which they exclude each other. A row has a
 * name, the holder's token, and the time of the server's clock at which it expires: from then on it
 * is anybody's.
 *
 *     store.c       opening, clones for the renewal thread, the store's class
 *     options.c     the options of a table, checked and copied
 *     name.c        names of rows
 *     token.c       tokens of leases, and their owner after forks
 *     request.c     requests: from begin to end
 *     conclusion.c  the meaning of answers
 *     inspect.c     requests about other holders' rows
 *     queue.c       the queue of those that wait, where the server has one
 *     statement.c   texts of statements, and their outcome
 *     postgresql.c, mysql.c, sqlite.c   the dialects
 *
 * One statement acquires, with the final expiry, and one releases. All of them may be sent twice:
 * they name the token and a state, not a change. So the statement whose reply was lost is sent
 * again on a new connection.
 */
#ifndef LATCH_TABLE_H
#define LATCH_TABLE_H

#include "src/engine/op.h"
#include "src/engine/store.h"
#include "src/store/sql/session/session.h"

#define TABLE_NAMES_MAX 2        /* rows of a lock */
#define TABLE_NAME_MAX 255       /* bytes of a row's name */
#define TABLE_IDENTIFIER_MAX 130 /* bytes of the name of a table or a column */
/* Time in which a statement is answered whose request is given up, and in which the server ends a
 * wait by its own time-out. */
#define TABLE_GRACE_NS (250 * LATCH_NS_PER_MS)
#define TABLE_LITERAL_SIZE (4 * TABLE_NAME_MAX + 16)

/* ---- Dialects ------------------------------------------------------------------------------- */

typedef enum {
    TABLE_ACQUIRE = 0,
    TABLE_ACQUIRE_TIMED,   /* the same, which returns how long the other holder has; NULL: none */
    TABLE_ACQUIRE_IN_TURN, /* not before another waiter; NULL: there is no queue */
    TABLE_REFRESH,
    TABLE_EXTEND, /* a refresh that never shortens */
    TABLE_RELEASE,
    TABLE_PROBE, /* returns in how many rows the lock is this holder's, and for how long */
    TABLE_FENCE, /* returns a fencing token, drawn while the row is this holder's and locked */
    TABLE_LAST_FREQUENT = TABLE_FENCE,
    TABLE_PRUNE, /* removes some rows that have expired */
    /* Return rows that have not expired as one text, each as "30000 TOKEN NAME;": for how many
     * milliseconds, the token in hex unless it has more than LATCH_TOKEN_MAX bytes, the name in
     * hex. */
    TABLE_INSPECT, /* the lock's rows */
    TABLE_LIST,    /* the next rows in the order of names, 10 at most */
    TABLE_CREATE,
    TABLE_CREATE_IF_MISSING,
    TABLE_CREATE_INSIDE, /* the same, which cannot fail; NULL: it may in a transaction */
    /* Returns 1 if the table is there, 0 if not; NULL: a statement that misses it may be sent in a
     * transaction, and spoils nothing. */
    TABLE_FIND,
    TABLE_CREATE_FENCE, /* the source of these, unless it is there; NULL: the server has one */
    TABLE_ACTIONS,      /* their number */
} table_action;

/*
 * The statements of a kind of server. In formats, "$" and a letter stand for
 *
 *     t, i, k, e   the names of the table, and of its columns for name, token and expiry
 *     r            the rows to insert: (name, token, expiry), ...
 *     l            the names of the rows: 'a', 'b'
 *     f            the source of fencing tokens: the table's name with "_fence" behind it
 *     c            their number
 *     a            nothing, or a condition: behind that name in the order of names
 *     o            the token
 *     n            the time now
 *     x            the expiry of a TTL that begins now
 *     s            that TTL, in seconds
 *     d            the definition of the table
 *     $            itself
 *     q            the number of the lock's ticket
 *
 * How waiters queue: the first one has the ticket of the lock, an advisory lock of its session, and
 * is notified of releases; the others wait for the ticket in the server, first in, first out.
 */
typedef struct table_queue {
    const char *release; /* a TABLE_RELEASE that notifies the first waiter */
    /* Formats of printf(): %1$s is the ticket's number in hex, %2$s the session's number, %3$s the
     * milliseconds to wait. */
    const char *ask;       /* for notifications and the ticket */
    const char *give_back; /* both of them */
    const char *undo;      /* the same, where it is unknown whether they are there */
    /* The same, and ends the session that has the ticket if that has been idle for %3$s ms. */
    const char *undo_and_end_stalled;
} table_queue;

typedef struct table_dialect {
    const char *driver; /* PDO's name: "pgsql" */
    const char *server; /* for messages */
    const char *const *schemes;
    const char *missing_library; /* NULL: there is a driver for DSNs */
    sql_opener *open;
    const char *now[2], *expiry[2]; /* by the layout; an expiry is never early */
    const char *formats[TABLE_ACTIONS];
    const char *create[2];   /* the definition of the table, by the layout */
    int64_t last_expiry[2];  /* the latest one that the column can have; 0: any */
    const char *placeholder; /* of a form; a format of printf() for its number */
    char quote;              /* around names of Laravel's, of which "key" is a reserved word */
    /* Of a statement that acquires: MySQL counts rows that have changed, and has an insert ID of 1
     * more than the milliseconds that another holder has. */
    bool counts_changes;
    const table_queue *queue; /* NULL: none; not for runners */
    /* A missing table is created in a transaction of the caller's: it does not end by that. */
    bool creates_in_transaction;
    int64_t slowest_poll_ms; /* as in latch_store_info */
    /* Writes a text in quotes, or in place of them, so that the server reads it as it is, whatever
     * its settings. */
    void (*write_literal)(const char *text, size_t length, char literal[TABLE_LITERAL_SIZE]);
} table_dialect;

/* Is it a byte that stands for itself within quotes, in any encoding and any setting? */
static inline bool latch_table_is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')
           || (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '.'
           || byte == '+' || byte == '/' || byte == '=' || byte == ' ';
}

extern const table_dialect latch_table_postgresql, latch_table_mysql, latch_table_sqlite;

/* ---- Stores --------------------------------------------------------------------------------- */

/* What a store was opened with; its texts are in the same allocation. */
typedef struct table_options {
    size_t size;
    char *dsn; /* NULL: a runner's */
    size_t dsn_length;
    latch_setting *settings;
    size_t setting_count;
    latch_table_options table; /* none of its names is NULL */
} table_options;

typedef struct table_ticket table_ticket;

typedef struct table_store {
    latch_store store;
    latch_store_info info;
    table_options *options;
    const table_dialect *dialect;
    sql_session *session;
    char *identity; /* NULL: a runner's */
    sql_statement prune;
    bool has_table; /* it was there outside of a transaction, which might have been rolled back */
    /* As far as is known: the server has what a queue needs, so that releases notify a waiter; and
     * this store's waiters may queue, as there is no pooler. */
    bool has_notifications, has_queue;
    table_ticket *ticket;     /* the last one that a request of this session waits for, or NULL */
    char create_trouble[256]; /* of the last attempt to create the table */
} table_store;

static inline table_store *latch_table_store_of(const latch_lease *lease)
{
    return (table_store *) lease->store;
}

/* ---- Options (options.c) */

/* Checks and copies them. The caller frees *copy by latch_table_options_free(). */
latch_status latch_table_options_copy(latch_engine *engine, const latch_store_options *given,
                                      table_options **copy, latch_error *error);
/* Wipes and frees them; accepts NULL. */
void latch_table_options_free(latch_engine *engine, table_options *options);

/* ---- Holds ---------------------------------------------------------------------------------- */

/* The names of a lock's rows. */
typedef struct table_names {
    unsigned count;
    unsigned lengths[TABLE_NAMES_MAX];
    const char *texts[TABLE_NAMES_MAX];
} table_names;

/* A lease's rows, with its request. */
typedef struct table_hold {
    sql_statement statement;
    table_store *store;
    latch_lease *lease; /* NULL: dropped, or given up; the hold is freed with the last answer */
    table_action action;
    char token[LATCH_TOKEN_MAX + 1]; /* as the request has it */
    int64_t ttl_ms;
    unsigned generation; /* of the process whose token it is */
    unsigned fork_count; /* of the engine when the lock was acquired or renewed */
    int64_t ticket_number;
    table_ticket *ticket; /* NULL: it does not wait in the queue */
    bool is_uncertain;    /* the rows may be there, although no request has ended so */

    /* Of the request under way. */
    bool is_acquiring;
    sql_outcome outcome; /* SQL_UNANSWERED: to be sent, or it was */
    int64_t affected, insert_id;
    char value[SQL_NUMBER_SIZE];
    int64_t sent_ns;    /* when it was enqueued */
    unsigned tries;     /* in which the server has given it up for another */
    int64_t retry_ns;   /* earliest time to send it */
    int64_t give_up_ns; /* time at which an answer is no longer awaited, or LATCH_NEVER */
    bool has_created;   /* or tried to create the table */
    bool is_inside;     /* a transaction of the caller's, where the table was not seen yet */

    table_names names;
    char text[]; /* of the names */
} table_hold;

/* ---- Names (name.c) */

#define TABLE_NAMES_SIZE (TABLE_NAMES_MAX * (TABLE_NAME_MAX + 1))

/* Writes the names of the lease's rows into `text`; returns the bytes that they take. */
size_t latch_table_write_names(const latch_lease *lease, table_names *names,
                               char text[TABLE_NAMES_SIZE]);

/* ---- Tokens (token.c) */

/*
 * Sees to it that the lease has a hold, and a token of this process where the request needs one.
 * LATCH_CONFLICT: there is no token by which the request could find anything.
 */
latch_status latch_table_prepare_token(latch_op *op);
/* The lease's hold, made on demand; NULL when memory ran out. */
table_hold *latch_table_hold_get(latch_lease *lease);
/* Records that the lock was acquired or renewed by this process. */
void latch_table_hold_confirm(table_hold *hold);
/* latch_store_class.held and .shares_token */
bool latch_table_held(const latch_lease *lease);
bool latch_table_shares_token(const latch_lease *lease);

/* ---- Statements (statement.c) */

extern const sql_statement_class latch_table_statement, latch_table_pruning, latch_table_ticket;

/* Writes a statement with its values: of that hold, or NULL for one of no lock. */
void latch_table_write(const table_store *store, const table_hold *hold, table_action action,
                       char text[SQL_TEXT_MAX]);
/* A statement of the queue was refused: servers that only speak PostgreSQL's protocol may have no
 * advisory locks. True: it is to be sent again, as it is written without them. */
bool latch_table_stop_notifying(table_store *store);
/* What creates the table for a request: its source of fencing tokens comes first. */
table_action latch_table_to_create(const latch_op *op);
/* Is the session in a transaction of the caller's? */
bool latch_table_is_in_transaction(const table_store *store);
/* Has the table to be looked for first? Where a statement that misses it spoils the transaction
 * around it, until it was seen. */
bool latch_table_is_to_be_found(const table_store *store);
/* The first statement of a request. */
table_action latch_table_to_begin(const latch_op *op);
/* Sets what the hold's next statement does. */
void latch_table_hold_set_action(table_hold *hold, table_action action);
void latch_table_hold_free(table_hold *hold);
/* May the rows of a request that acquires be there, for all that the last answer tells? */
bool latch_table_may_have_rows(const table_hold *hold);

/* ---- Conclusions (conclusion.c) */

/* The statement by which a request acquires: one that polls has the server tell when to ask again.
 * Not by a runner, which does not say of a statement with a result why it was refused. */
table_action latch_table_to_acquire(const latch_op *op);
/* What the answer means; LATCH_AGAIN: the hold's next statement is to be sent. */
latch_status latch_table_conclude(latch_op *op, int64_t now_ns);

/* ---- Inspections (inspect.c): the same functions, for requests about other holders */

bool latch_table_is_inspection(const latch_op *op);
latch_status latch_table_inspect_begin(latch_op *op);
latch_status latch_table_inspect_step(latch_op *op, int64_t now_ns);
void latch_table_inspect_abandon(latch_op *op);

/* ---- Queues (queue.c) */

/* The number of the lock's ticket: the same in all programs, whatever the names of its rows are. */
int64_t latch_table_ticket_number(const latch_lease *lease);
/* May the request stand in the queue, as far as is known? */
bool latch_table_may_queue(const latch_op *op);
/* An attempt was refused. LATCH_AGAIN: the next one is made in the queue; LATCH_CONFLICT: none. */
latch_status latch_table_queue(latch_op *op, int64_t now_ns);
/* Of a hold with a ticket, before an attempt. LATCH_AGAIN: it is to be made now; LATCH_WANT_*;
 * anything else is the end of the request. */
latch_status latch_table_await_turn(latch_op *op, int64_t now_ns);
/* Cancels the wait for the ticket. False: there is none in the server; latch_table_await_turn()
 * awaits its end otherwise. */
bool latch_table_cancel_turn(latch_op *op, int64_t now_ns);
/* The end of the wait, if there is one: the ticket is given back, without awaiting the answer. */
void latch_table_leave_queue(table_hold *hold, int64_t now_ns);

/* ---- Requests (request.c): functions of the store's class */

latch_status latch_table_begin(latch_op *op);
latch_status latch_table_step(latch_op *op, int64_t now_ns);
latch_status latch_table_cancel(latch_op *op);
void latch_table_abandon(latch_op *op);
void latch_table_outage(const latch_op *op, int64_t now_ns);
void latch_table_drop(latch_lease *lease);

#endif
