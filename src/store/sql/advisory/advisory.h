/*
 * Advisory locks: locks that a database server holds for a session, until it is told to free them
 * or the session ends. The server compares a number or a name; it queues waiters, first in first
 * out; and it lets a session in twice, so that this process keeps a registry of its own.
 *
 *     advisory.c              requests of both stores, and the meaning of replies
 *     failure.c               messages of failed requests
 *     hold.c                  registry of this process's holds in the session
 *     session.c               a session: one statement at a time, its loss, the cancel of a wait
 *     watch.c                 liveness: detects the end of a session, for the renewal thread
 *     dialect.c               the statements of PostgreSQL and of MySQL
 *     runner.c                driver: statements that the caller runs (a PDO object)
 *     ../postgresql/driver.c  driver: libpq
 *     ../mysql/driver.c       driver: libmariadb
 */
#ifndef LATCH_ADVISORY_H
#define LATCH_ADVISORY_H

#include "src/base/hash.h"
#include "src/engine/op.h"
#include "src/engine/store.h"

/* ---- Statements (dialect.c) -------------------------------------------------------- */

typedef enum {
    ADVISORY_TRY = 0,
    ADVISORY_TRY_SHARED,
    ADVISORY_TRY_TO_PROMOTE,  /* a shared hold to an exclusive one */
    ADVISORY_POLL_TO_PROMOTE, /* the same in a transaction, which an error would abort */
    ADVISORY_WAIT,
    ADVISORY_WAIT_SHARED,
    ADVISORY_WAIT_TO_PROMOTE,
    ADVISORY_DEMOTE, /* an exclusive hold to a shared one */
    ADVISORY_RELEASE,
    ADVISORY_RELEASE_SHARED,
    ADVISORY_UNDO, /* releases a lock that a failed request may have been granted */
    ADVISORY_UNDO_SHARED,
    ADVISORY_UNDO_PROMOTION, /* to a shared hold */
    ADVISORY_PROBE,          /* does this session hold it? */
    ADVISORY_HOLDERS,        /* which sessions do? */
    ADVISORY_CANCEL,         /* ends the statement of another session, whose number is the key */
} advisory_statement;

#define ADVISORY_KEY_SIZE 65        /* with a NUL: a sha256 in hex */
#define ADVISORY_STATEMENT_MAX 1280 /* bytes of a statement, with its NUL */
#define ADVISORY_VALUE_MAX 1024     /* bytes of an answer that are kept, with a NUL */

/* Time-out of a wait whose time is over. */
#define ADVISORY_PROMPTLY_MS 1

/* Statement with its parameters. */
typedef struct advisory_request {
    advisory_statement statement;
    char key[ADVISORY_KEY_SIZE]; /* the number, in decimal, or the name */
    int64_t session;             /* expected session, 0: any */
    int64_t timeout_ms;          /* of a wait, > 0; LATCH_NEVER: none */
} advisory_request;

/*
 * Each statement returns one value: a verdict, and after a blank, unless it is known, the number of
 * the session. The verdict is "1" or "0"; or "2" from another session than the expected one, which
 * has changed nothing then. ADVISORY_HOLDERS: the sessions' numbers, each followed by "x" or, for a
 * shared lock, by "s", and separated by commas.
 */
typedef struct advisory_dialect {
    const char *server;        /* for messages */
    const char *key, *timeout; /* formats of literals */
    const char *self;          /* the session's own number */
    const char *answer;        /* format of a statement that returns verdict and number */
    const char *cancel;        /* format of that statement */
    bool names_locks;          /* a key is a sha256 in hex, not a number */
    bool ends_waits_by_error;  /* a wait that has timed out fails the transaction around it */
    /* Formats: %1$s is the key, %2$s the expected session, %3$s the time-out. NULL: none. */
    const char *verdicts[ADVISORY_CANCEL];
    /* Writes a time-out as the server counts it. */
    void (*write_timeout)(int64_t timeout_ms, char *text, size_t size);
} advisory_dialect;

extern const advisory_dialect latch_postgresql_dialect;
extern const advisory_dialect latch_mysql_dialect;

#define ADVISORY_TIMEOUT_SIZE 24

/* Writes the statement with its parameters: numbers and hex digits only, nothing to escape. */
void latch_advisory_write(const advisory_dialect *dialect, const advisory_request *request,
                          char text[ADVISORY_STATEMENT_MAX]);

/* ---- Sessions (session.c, and the drivers) ----------------------------------------- */

typedef enum {
    ADVISORY_UNANSWERED = 0,
    ADVISORY_ANSWERED,
    ADVISORY_TIMED_OUT, /* the time-out of a wait has passed */
    ADVISORY_CANCELLED,
    ADVISORY_DEADLOCKED, /* the wait would never have ended */
    ADVISORY_NO_MEMORY,  /* for what was answered */
    ADVISORY_REFUSED,    /* the session goes on; session->trouble says why */
    ADVISORY_LOST,       /* the session, and all that it held; session->trouble says why */
    ADVISORY_MOVED,      /* lost too: another session of the server has answered */
    ADVISORY_UNKNOWN,    /* the session goes on, but the effect of the statement is unknown */
} advisory_outcome;

typedef struct advisory_session advisory_session;
typedef struct advisory_liveness advisory_liveness;
typedef struct advisory_hold advisory_hold;

/* A client library. None of its functions sleeps, but for a runner's send(). */
typedef struct advisory_driver {
    /* Starts or continues to connect: LATCH_DONE when a statement can be sent, LATCH_WANT_*, or an
     * error, after which the session is disconnected. Of `op` only the wish and the error are
     * used. */
    latch_status (*connect)(advisory_session *session, latch_op *op, int64_t now_ns);
    /* Ends the session, or an attempt to connect; in a forked child without a byte to the
     * server. */
    void (*disconnect)(advisory_session *session);
    /* Sends a statement on a connected session. False when that cannot be done now, as memory ran
     * out: nothing was sent. */
    bool (*send)(advisory_session *session, const advisory_request *request);
    /* Reads the reply; ADVISORY_ANSWERED: the value, "" for NULL. */
    advisory_outcome (*receive)(advisory_session *session, char value[ADVISORY_VALUE_MAX]);
    /* Sets op->fd and op->events, to poll for a reply. */
    void (*want)(const advisory_session *session, latch_op *op);
    /* Is an idle session alive? False: it is known to have ended. Checks the socket only. */
    bool (*is_alive)(advisory_session *session);
    /* Are statements allowed that wait in the server, which end by an error? NULL: always. */
    bool (*can_wait)(advisory_session *session);
    /* A second session to the same server, not connected; NULL: memory ran out. NULL for drivers
     * whose waits cannot be cancelled, as nothing ever is unanswered. */
    advisory_session *(*clone)(const advisory_session *session);
    /* The connection's socket; -1: there is none, as in a forked child. NULL for drivers whose
     * sessions belong to PHP code, which may do anything with them. */
    int (*socket)(const advisory_session *session);
    /* Disconnects and frees it. */
    void (*close)(advisory_session *session);
} advisory_driver;

/* State of a cancel. */
typedef enum {
    ADVISORY_NO_CANCEL = 0,
    ADVISORY_CANCEL_WANTED,    /* the cancel session is connecting */
    ADVISORY_CANCEL_SENT,      /* no statement may be sent before it is answered */
    ADVISORY_CANCEL_DELIVERED, /* the wait must end now, or the cancel is repeated */
} advisory_cancel;

/* Common part of all drivers' sessions. The driver fills in the first fields. */
struct advisory_session {
    const advisory_driver *driver;
    const advisory_dialect *dialect;
    latch_engine *engine;
    const char *address; /* for messages; lives as long as the session */
    int64_t command_timeout_ns;
    int64_t connect_timeout_ns;
    bool exact_timeouts; /* the server ends waits to the millisecond */
    int64_t number;      /* the server's; 0 until it is known */
    char trouble[256];   /* why a statement was refused, or the session lost */

    /* Private to session.c. */
    enum { ADVISORY_CLOSED = 0, ADVISORY_CONNECTING, ADVISORY_CONNECTED } stage;
    int64_t connect_ns;  /* when it must be connected; connect() may divide the time by it */
    unsigned generation; /* of the process whose session it is */
    unsigned age;        /* counts sessions: what was held in an earlier one is lost */
    advisory_liveness *liveness; /* NULL unless the session is watched */
    latch_link queue;            /* of advisory_hold: requests in turn */
    latch_link pending_releases; /* of advisory_hold: releases that were refused; go before what
                                    comes next */
    bool is_sent;                /* the first one's */
    int64_t answer_ns;           /* when it must be answered; LATCH_NEVER for a wait */
    advisory_cancel cancel;
    int64_t cancel_ns;                /* when that must have come one step further */
    advisory_session *cancel_session; /* that the cancel is sent on */
};

/* Initialises the session, whose driver has filled in the first fields. */
void latch_advisory_session_init(advisory_session *session);
/* Closes it; requests in its queue are dropped. */
void latch_advisory_session_end(advisory_session *session);
/* Is it connected, as far as is known without a request? Handles the loss when it is not. */
bool latch_advisory_session_is_alive(advisory_session *session);
/* In a forked child: the session is the parent's, and the child has none. */
void latch_advisory_session_abandon_in_child(advisory_session *session);
/* Enqueues the hold's request, which latch_advisory_session_drive() carries out. */
void latch_advisory_session_enqueue(advisory_session *session, advisory_hold *hold, int64_t now_ns);
/* Removes a request from the queue; false when it was sent already. */
bool latch_advisory_session_dequeue(advisory_session *session, advisory_hold *hold);
/* Cancels the wait in the server. */
void latch_advisory_session_cancel(advisory_session *session, int64_t now_ns);
/* Ends the session, and the wait with it: the server frees what it may grant to it. */
void latch_advisory_session_abort(advisory_session *session);
/*
 * Drives the session until the hold's request is answered: LATCH_DONE. Otherwise LATCH_WANT_*, or
 * an error of the session, after which the request is dequeued.
 */
latch_status latch_advisory_session_drive(advisory_session *session, advisory_hold *hold,
                                          latch_op *op, int64_t now_ns);
/* Drives queued requests as far as possible without waiting. */
void latch_advisory_session_flush(advisory_session *session, int64_t now_ns);

/* ---- Watching (watch.c) ------------------------------------------------------------ */

/* driver->disconnect(), also of a session that has a liveness. */
void latch_advisory_session_disconnect(advisory_session *session);
/* latch_store_class.watch and renewal_unsupported_reason */
bool latch_advisory_watch(const latch_lease *lease, latch_watch *watch);
const char *latch_advisory_renewal_unsupported_reason(const latch_store *store);

/* ---- Holds (hold.c) ---------------------------------------------------------------- */

/* Hold of a lease in the session, with its request. */
struct advisory_hold {
    latch_hash_node node; /* in the store's registry, by request.key */
    latch_link link;      /* in the session's queue */
    struct advisory_store *store;
    latch_lease *lease; /* NULL: dropped; the hold is freed with the reply to its release */
    advisory_request request;
    bool is_queued;
    bool is_cancelled; /* the server was asked to end the wait */
    uint8_t mode;      /* of latch_mode: what it holds, in the session of this age */
    uint8_t wanted;    /* of latch_mode: the requested mode, if it differs */
    unsigned age;
    unsigned generation; /* of the process that took it */
    advisory_outcome outcome;
    char verdict;
    advisory_outcome failure;    /* of the statement that ADVISORY_UNDO undoes */
    latch_lock_report **reports; /* for the answer to ADVISORY_HOLDERS */
    int64_t retry_ns;            /* earliest time of a retry */
    int64_t cancel_ns;           /* time at which the wait is cancelled, or LATCH_NEVER */
    int64_t give_up_ns;          /* time at which a session without holds is ended, with the wait */
    int64_t trouble_ns; /* begin of the time without a session to wait in; 0: there is one */
};

typedef struct advisory_store {
    latch_store store;
    advisory_session *session;
    latch_hash registry;  /* of advisory_hold */
    const char *identity; /* its session's; holds credentials; NULL: a runner's has none */
    bool by_sha256; /* PostgreSQL: the number is of the digest of the resource, not its crc32 */
} advisory_store;

advisory_store *latch_advisory_store_of(const latch_lease *lease);

/* The lease's hold, made on demand; NULL when memory ran out. */
advisory_hold *latch_advisory_hold_get(latch_lease *lease);
/* Applies the answer to its request, dequeues that, and frees a hold whose lease is gone. */
void latch_advisory_hold_end_request(advisory_hold *hold, advisory_outcome outcome);
/* Frees a hold without a request in the queue. */
void latch_advisory_hold_free(advisory_hold *hold);
/* Does it hold something, as far as is known here? */
bool latch_advisory_hold_is_live(const advisory_hold *hold);
/* Does the session hold nothing, and has it no request but this hold's? */
bool latch_advisory_hold_is_alone(const advisory_hold *hold);
/* Does another hold of this session conflict with that mode? */
bool latch_advisory_hold_conflicts(const advisory_hold *hold, latch_mode mode);

/* ---- Failures (failure.c) ----------------------------------------------------------- */

/* Message: what failed, at which server, and the session's trouble. */
latch_status latch_advisory_fail_at(latch_op *op, const char *what);
/* The session that held the lock has ended. */
latch_status latch_advisory_fail_held(latch_op *op);
/* Another session has answered. */
latch_status latch_advisory_fail_moved(latch_op *op);
/* For the store's class. An attempt to connect anew was described when it failed. */
void latch_advisory_outage(const latch_op *op, int64_t now_ns);

/* ---- Drivers --------------------------------------------------------------------------------- */

/* Opens a store by its driver: a session that is not connected yet, and its identity. */
typedef latch_status advisory_opener(latch_engine *engine, const latch_store_options *options,
                                     advisory_store *store, latch_error *error);

/* By libpq and libmariadb, in builds that have them. */
advisory_opener latch_postgresql_open, latch_mysql_open;

latch_status latch_advisory_runner_open(latch_engine *engine, const latch_sql_runner *runner,
                                        const advisory_dialect *dialect, advisory_store *store,
                                        latch_error *error);

/* ---- Store classes (advisory.c): their functions, for LATCH_ADVISORY_CLASS ------------------- */

/* Opens a store by options->runner, else by the driver, which is NULL in builds without its
 * library. */
latch_status latch_advisory_open(latch_store *base, const latch_store_options *options,
                                 const advisory_dialect *dialect, advisory_opener *open_driver,
                                 latch_error *error);
void latch_advisory_close(latch_store *base);
const char *latch_advisory_identity(const latch_store *base);
latch_status latch_advisory_begin(latch_op *op);
latch_status latch_advisory_step(latch_op *op, int64_t now_ns);
latch_status latch_advisory_cancel(latch_op *op);
bool latch_advisory_held(const latch_lease *lease);
void latch_advisory_drop(latch_lease *lease);

/*
 * The latch_store_class of a server with such locks: all but its open(). Behind that the rest of
 * its latch_store_info.
 */
#define LATCH_ADVISORY_CLASS(store_open, more_capabilities, ...)                                   \
    {                                                                                              \
        .info = {.capabilities = LATCH_BLOCKING | LATCH_PUSH | LATCH_SESSIONS                      \
                                 | (more_capabilities),                                            \
                 .scope = LATCH_SCOPE_SERVER,                                                      \
                 __VA_ARGS__},                                                                     \
        .size = sizeof(advisory_store), .open = store_open, .close = latch_advisory_close,         \
        .identity = latch_advisory_identity, .begin = latch_advisory_begin,                        \
        .step = latch_advisory_step, .cancel = latch_advisory_cancel,                              \
        .outage = latch_advisory_outage, .held = latch_advisory_held, .drop = latch_advisory_drop, \
        .watch = latch_advisory_watch,                                                             \
        .renewal_unsupported_reason = latch_advisory_renewal_unsupported_reason,                   \
    }

#endif
