/*
 * Sessions with a database server: one statement at a time, in turn. The user of a session embeds
 * an sql_statement in each of its requests, and is called for the text, and with the outcome.
 *
 *     session.c               the turn, time-outs, cancels, the loss of the session, forks
 *     liveness.c              detects the end of a session, for the renewal thread
 *     runner.c                driver: statements that the caller runs (a PDO object)
 *     ../postgresql/driver.c  driver: libpq
 *     ../mysql/driver.c       driver: libmariadb
 *     ../sqlite/driver.c      driver: libsqlite3
 */
#ifndef LATCH_SQL_SESSION_H
#define LATCH_SQL_SESSION_H

#include "src/base/list.h"
#include "src/engine/op.h"
#include "src/engine/store.h"

#define SQL_TEXT_MAX 6144     /* bytes of a statement, with its NUL */
#define SQL_VALUE_MAX 1024    /* bytes of a value that are kept, with a NUL */
#define SQL_PARAMETER_MAX 3   /* parameters of a statement */
#define SQL_PARAMETER_SIZE 65 /* bytes of a parameter, with its NUL */
#define SQL_NUMBER_SIZE 24    /* bytes of a number as text, with its NUL */
#define SQL_VALUES_MAX 16     /* values of a form */

typedef enum {
    SQL_UNANSWERED = 0, /* dequeued */
    SQL_ANSWERED,
    SQL_TIMED_OUT, /* the server's time-out of a wait has passed */
    SQL_CANCELLED,
    SQL_DEADLOCKED, /* the wait would never have ended */
    SQL_NO_MEMORY,  /* for what was answered */
    SQL_REFUSED,    /* the session goes on; session->trouble says why */
    SQL_CLASHED,    /* refused, but not when it is sent again: another transaction came first */
    SQL_BUSY,       /* refused, but not when it is sent again later: the database is in use */
    SQL_NO_TABLE,   /* refused: there is no table of that name */
    SQL_LOST,       /* the session, with its state in the server; session->trouble says why */
    SQL_MOVED,      /* lost too: another session of the server has answered */
    SQL_UNKNOWN,    /* the session goes on, but the effect of the statement is unknown */
} sql_outcome;

/* Answer to a statement. */
typedef struct sql_result {
    char value[SQL_VALUE_MAX]; /* the first one of the first row; "": NULL, or no row */
    int64_t affected;  /* number of rows, in PostgreSQL also of those that are returned; in MySQL of
                          those that have another content than before */
    int64_t insert_id; /* MySQL's LAST_INSERT_ID(number), if the statement has called that; 0 */
} sql_result;

typedef struct sql_session sql_session;
typedef struct sql_statement sql_statement;
typedef struct sql_liveness sql_liveness;

/* ---- Statements ------------------------------------------------------------------------------ */

/* Statement for the server to prepare, with placeholders for its parameters. */
typedef struct sql_template {
    const char *name;         /* begin of its name in the server, for servers that need one */
    const char *types;        /* of the parameters, for servers that need them: "bigint, text" */
    unsigned parameter_count; /* 0: there is no template at this index */
} sql_template;

/*
 * The templates of a session's user. A server that is to prepare in a round trip of its own
 * prepares them all when the first one is used for the second time; others each at its first use.
 */
typedef struct sql_templates {
    const sql_template *all;
    unsigned count; /* 32 at most */
    /* Writes the template of this index, for a session of this number. */
    void (*write)(unsigned index, int64_t number, char text[SQL_TEXT_MAX]);
} sql_templates;

/* Values of a template's parameters, as text. */
typedef struct sql_parameters {
    const char *values[SQL_PARAMETER_MAX];
    char numbers[SQL_PARAMETER_MAX][SQL_NUMBER_SIZE]; /* space for values that are written here */
} sql_parameters;

/* Values of a form, in the order of its placeholders: texts, which live as long as the statement,
 * and have a NUL behind them. The server converts one that is to be a number. */
typedef struct sql_values {
    unsigned count;
    struct {
        const char *text;
        size_t length;
    } all[SQL_VALUES_MAX];
    char numbers[SQL_VALUES_MAX][SQL_NUMBER_SIZE]; /* space for values that are written here */
} sql_values;

/* Functions of a user. When it is asked for a text, the session is connected, and its number known
 * unless it is a runner's. */
typedef struct sql_statement_class {
    /* Writes the statement with all its values, properly escaped. */
    void (*write)(const sql_statement *statement, char text[SQL_TEXT_MAX]);
    /* Writes it as a form, with a placeholder in place of each value: "?1" for SQLite, "$1" for
     * PostgreSQL, "?" for MySQL. They have what they have prepared by the text of the form. NULL:
     * write() is good enough. */
    void (*write_form)(const sql_statement *statement, char text[SQL_TEXT_MAX], sql_values *values);
    /* Fills in the values of its template's parameters. NULL for users without templates. */
    void (*bind)(const sql_statement *statement, sql_parameters *parameters);
    /*
     * Applies the outcome of a statement that has just left the queue; `result` only if that is
     * SQL_ANSWERED. May free the statement, or have it repeated or postponed, unless the outcome
     * is SQL_UNANSWERED, SQL_LOST or SQL_MOVED.
     */
    void (*settle)(sql_statement *statement, sql_outcome outcome, const sql_result *result);
} sql_statement_class;

struct sql_statement {
    latch_link link; /* in one of the session's lists */
    const sql_statement_class *class;
    const sql_template *template; /* one of the session's; NULL: it is not worth it */
    bool is_frequent;             /* its form is worth preparing in a server */
    bool returns_nothing;         /* no rows: runners and SQLite carry it out in another way */
    bool is_wait;                 /* in the server; is cancelled when another statement comes */
    int64_t timeout_ns;           /* in which it is answered; 0: the session's command time-out */
    bool is_unbounded;            /* has no command time-out, unless it is cancelled */
    bool is_compensation; /* undoes an effect: it cannot be dequeued, and a session that cannot send
                             it is lost */

    /* Set by session.c. */
    bool is_queued;
    bool is_cancelled; /* the server was asked to end it */
};

/* ---- Drivers --------------------------------------------------------------------------------- */

/* A client library. None of its functions sleeps, but for a runner's send(). */
typedef struct sql_driver {
    /* Starts or continues to connect: LATCH_DONE when a statement can be sent, LATCH_WANT_*, or an
     * error, after which the session is disconnected. Of `op` only the wish and the error are
     * used. */
    latch_status (*connect)(sql_session *session, latch_op *op, int64_t now_ns);
    /* Ends the session, or an attempt to connect; in a forked child without a byte to the
     * server. */
    void (*disconnect)(sql_session *session);
    /* Sends a statement on a connected session. False when that cannot be done now, as memory ran
     * out: nothing was sent. */
    bool (*send)(sql_session *session, const sql_statement *statement);
    /* Reads the reply; `result` if that is SQL_ANSWERED. */
    sql_outcome (*receive)(sql_session *session, sql_result *result);
    /* Sets op->fd and op->events, to poll for a reply; an op->fd of -1: there is nothing to be
     * polled. Either way it may set op->wake_ns to an earlier time. */
    void (*want)(const sql_session *session, latch_op *op);
    /* Is an idle session alive? False: it is known to have ended. Checks the socket only. */
    bool (*is_alive)(sql_session *session);
    /* Is a transaction open, which an error would abort? NULL: never. */
    bool (*is_in_transaction)(sql_session *session);
    /* A second session to the same server, not connected; NULL: memory ran out. NULL for drivers
     * whose waits cannot be cancelled, as nothing ever is unanswered. */
    sql_session *(*clone)(const sql_session *session);
    /* May a clone live longer than its origin, and in another thread? It is the session of a
     * store's clone then, which would not find the same database by the DSN alone: a relative path
     * begins in the folder of another time, and each ":memory:" is another one. */
    bool clones_are_independent;
    /* Sends on a clone a statement that ends the one of the session of that number. NULL: as
     * clone(). */
    void (*send_cancel)(sql_session *clone, int64_t number);
    /* The connection's socket; -1: there is none, as in a forked child. NULL for drivers whose
     * sessions belong to PHP code, which may do anything with them. */
    int (*socket)(const sql_session *session);
    /* Disconnects and frees it. */
    void (*close)(sql_session *session);
} sql_driver;

/* Opens a session by the options of a store; it is not connected yet. */
typedef latch_status sql_opener(latch_engine *engine, const latch_store_options *options,
                                sql_session **session, latch_error *error);

/* ---- Sessions (session.c) -------------------------------------------------------------------- */

/* State of a cancel. */
typedef enum {
    SQL_NO_CANCEL = 0,
    SQL_CANCEL_WANTED,    /* the cancel session is connecting */
    SQL_CANCEL_SENT,      /* no statement may be sent before it is answered */
    SQL_CANCEL_DELIVERED, /* the wait must end now, or the cancel is repeated */
} sql_cancel;

/* Common part of all drivers' sessions. The driver fills in the first fields. */
struct sql_session {
    const sql_driver *driver;
    latch_engine *engine;
    const char *server;   /* for messages: "PostgreSQL" */
    const char *address;  /* for messages; lives as long as the session */
    const char *identity; /* equal for equal options; holds credentials; NULL: a runner has none */
    int64_t command_timeout_ns;
    int64_t connect_timeout_ns;
    int64_t longest_wait_ms; /* of a statement; LATCH_NEVER: any */
    int64_t
        lock_timeout_ms;    /* set by its user before it is connected: a statement that waits longer
                               for a lock of another session is refused, SQL_TIMED_OUT; 0: never */
    bool whole_seconds;     /* the server rounds time-outs to them: known when it is connected */
    int64_t number;         /* the server's; 0 until it is known. A runner's user sets it */
    bool is_direct;         /* no pooler changes what is behind it, as far as is known: what is set
                               in the session stays there. Known when it is connected */
    unsigned notifications; /* PostgreSQL: counts those that have come */
    char trouble[256];      /* why a statement was refused, or the session lost */
    unsigned trouble_code;  /* the server's number of that error; 0: it gave none */

    const sql_templates *templates; /* set by its user; NULL: none */

    /* Set by session.c. */
    enum { SQL_CLOSED = 0, SQL_CONNECTING, SQL_CONNECTED } stage;
    int64_t connect_ns;     /* when it must be connected; connect() may divide the time by it */
    unsigned generation;    /* of the process whose session it is */
    unsigned age;           /* counts sessions: the server's state of an earlier one is lost */
    sql_liveness *liveness; /* NULL unless the session is watched */
    latch_link queue;       /* of sql_statement: in turn */
    latch_link postponed;   /* of sql_statement: they go before what comes next */
    bool is_sent;           /* the first one in the queue */
    int64_t timeout_ns;     /* of its answer */
    int64_t answer_ns;      /* when it must be answered; LATCH_NEVER: unbounded */
    sql_cancel cancel;
    int64_t cancel_ns;           /* when that must have come one step further */
    sql_session *cancel_session; /* that the cancel is sent on */
};

/* Initialises the session, whose driver has filled in the first fields. */
void latch_sql_session_init(sql_session *session);
/* Carries out what can be without waiting, and closes it: what is queued then is lost. */
void latch_sql_session_end(sql_session *session);
/* Is it connected, as far as is known without a statement? Handles the loss when it is not. */
bool latch_sql_session_is_alive(sql_session *session);
/* In a forked child: the session is the parent's, and the child has none. */
void latch_sql_session_abandon_in_child(sql_session *session);
/* Is no statement in its queue? */
bool latch_sql_session_is_idle(const sql_session *session);
/* Enqueues the statement, which latch_sql_session_drive() carries out. */
void latch_sql_session_enqueue(sql_session *session, sql_statement *statement, int64_t now_ns);
/* Removes a statement from the queue, and settles it as unanswered; false when it was sent already,
 * or is a compensation under way. */
bool latch_sql_session_dequeue(sql_session *session, sql_statement *statement);
/* From settle(): sends the statement again, or what its user has made of it, before all others. */
void latch_sql_session_repeat(sql_session *session, sql_statement *statement);
/* From settle(): sends it before the next statement that is enqueued, or at the session's end. */
void latch_sql_session_postpone(sql_session *session, sql_statement *statement);
/* Cancels the wait in the server: the first statement, which was sent. */
void latch_sql_session_cancel(sql_session *session, int64_t now_ns);
/* Ends the session with all statements of its queue: SQL_LOST or SQL_MOVED. */
void latch_sql_session_lose(sql_session *session, sql_outcome outcome, const char *trouble);
/*
 * Drives the session until the statement is settled: LATCH_DONE. Otherwise LATCH_WANT_*, or an
 * error of the session, after which the statement is dequeued.
 */
latch_status latch_sql_session_drive(sql_session *session, sql_statement *statement, latch_op *op,
                                     int64_t now_ns);
/* Drives queued statements as far as possible without waiting. */
void latch_sql_session_flush(sql_session *session, int64_t now_ns);

/* ---- Liveness (liveness.c) ------------------------------------------------------------------- */

/* driver->disconnect(), also of a session that has a liveness. */
void latch_sql_session_disconnect(sql_session *session);
/* Can a thread look after it? */
bool latch_sql_session_can_be_watched(const sql_session *session);
/* latch_store_class.watch for what is held in the session. */
bool latch_sql_session_watch(sql_session *session, latch_watch *watch);

/* ---- Runners (runner.c) ---------------------------------------------------------------------- */

/* Opens a session that the caller has, with a server of this name. */
latch_status latch_sql_runner_open(latch_engine *engine, const latch_sql_runner *runner,
                                   const char *server, sql_session **session, latch_error *error);

#endif
