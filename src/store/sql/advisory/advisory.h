/*
 * Advisory locks: locks that a database server holds for a session, until it is told to free them
 * or the session ends. The server compares a number or a name; it queues waiters, first in first
 * out; and it lets a session in twice, so that this process keeps a registry of its own.
 *
 *     advisory.c    requests of both stores, and the meaning of answers
 *     failure.c     messages of failed requests
 *     hold.c        registry of this process's holds in the session
 *     statement.c   statement of a hold: its text, its outcome, and what undoes it
 *     postgresql.c  the store "postgresql": its dialect
 *     mysql.c       the store "mysql": its dialect
 *
 * ../session/session.h has the session, ../postgresql and ../mysql have the drivers.
 */
#ifndef LATCH_ADVISORY_H
#define LATCH_ADVISORY_H

#include "src/base/hash.h"
#include "src/engine/op.h"
#include "src/engine/store.h"
#include "src/store/sql/session/session.h"

/* ---- Statements (statement.c, and each dialect) ---------------------------------------------- */

typedef struct advisory_hold advisory_hold;

/* What a statement does with the lock of its key. */
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
    ADVISORY_ACTIONS,        /* their number */
} advisory_action;

#define ADVISORY_KEY_SIZE SQL_PARAMETER_SIZE /* a sha256 in hex */
#define ADVISORY_TIMEOUT_SIZE SQL_NUMBER_SIZE

/* Time-out of a wait whose time is over. */
#define ADVISORY_PROMPTLY_MS 1

typedef struct advisory_request {
    advisory_action action;
    char key[ADVISORY_KEY_SIZE]; /* the number, in decimal, or the name */
    int64_t timeout_ms;          /* of a wait, > 0; LATCH_NEVER: none */
    bool is_unknown;             /* no holder has been seen yet, and there is a deadline */
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
    const char *given_timeout; /* on a given connection, whose server is unknown; NULL: the same */
    const char *self;          /* the session's own number */
    const char *answer;        /* format of a statement that returns verdict and number */
    const char *interrupted_wait; /* what NULL as a wait's answer means; NULL: nothing */
    bool names_locks;             /* a key is a sha256 in hex, not a number */
    bool ends_waits_by_error;     /* a wait that has timed out fails the transaction around it */
    /* Formats, at the action's index: %1$s is the key, %2$s the expected session, %3$s the
     * time-out. NULL: none. */
    const char *const *verdicts;
    /* At the action's index. Their parameters are the same, in that order, as many as each has. */
    sql_templates templates;
    /* Writes a time-out as the server counts it. */
    void (*write_timeout)(int64_t timeout_ms, bool whole_seconds, char text[ADVISORY_TIMEOUT_SIZE]);
    /* Adds to session->trouble, after a refusal, what the server does not say. NULL: nothing. */
    void (*explain_refusal)(sql_session *session);
} advisory_dialect;

/* Of holds' statements. */
extern const sql_statement_class latch_advisory_statement;

/* ---- Holds (hold.c) ---------------------------------------------------------------- */

/* Hold of a lease in the session, with its request. */
struct advisory_hold {
    latch_hash_node node;    /* in the store's registry, by request.key */
    sql_statement statement; /* in the session's queue: carries out the request */
    struct advisory_store *store;
    latch_lease *lease; /* NULL: dropped; the hold is freed with the reply to its release */
    advisory_request request;
    uint8_t mode;   /* of latch_mode: what it holds, in the session of this age */
    uint8_t wanted; /* of latch_mode: the requested mode, if it differs */
    unsigned age;
    unsigned generation; /* of the process that took it */
    sql_outcome outcome;
    char verdict;
    sql_outcome failure;         /* of the statement that ADVISORY_UNDO undoes */
    latch_lock_report **reports; /* for the answer to ADVISORY_HOLDERS */
    int64_t retry_ns;            /* earliest time of a retry */
    int64_t cancel_ns;           /* time at which the wait is cancelled, or LATCH_NEVER */
    int64_t give_up_ns;          /* time at which a session without holds is ended, with the wait */
    int64_t trouble_ns; /* begin of the time without a session to wait in; 0: there is one */
};

typedef struct advisory_store {
    latch_store store;
    const advisory_dialect *dialect;
    sql_session *session;
    latch_hash registry; /* of advisory_hold */
    bool by_sha256; /* PostgreSQL: the number is of the digest of the resource, not its crc32 */
} advisory_store;

advisory_store *latch_advisory_store_of(const latch_lease *lease);

/* The lease's hold, made on demand; NULL when memory ran out. */
advisory_hold *latch_advisory_hold_get(latch_lease *lease);
/* Sets what its next statement does. */
void latch_advisory_hold_set_action(advisory_hold *hold, advisory_action action,
                                    int64_t timeout_ms);
/* Applies the answer to its request, and frees a hold whose lease is gone. */
void latch_advisory_hold_end_request(advisory_hold *hold, sql_outcome outcome);
/* Frees a hold without a statement in the queue. */
void latch_advisory_hold_free(advisory_hold *hold);
/* Does it hold something, as far as is known here? */
bool latch_advisory_hold_is_live(const advisory_hold *hold);
/* Does the session hold nothing, and has it no request but this hold's? */
bool latch_advisory_hold_is_alone(const advisory_hold *hold);
/* Does another hold of this session conflict with that mode? */
bool latch_advisory_hold_conflicts(const advisory_hold *hold, latch_mode mode);

/* latch_store_class.watch and renewal_unsupported_reason */
bool latch_advisory_watch(const latch_lease *lease, latch_watch *watch);
const char *latch_advisory_renewal_unsupported_reason(const latch_store *store);

/* ---- Failures (failure.c) ----------------------------------------------------------- */

/* Message: what failed, at which server, and the session's trouble. */
latch_status latch_advisory_fail_at(latch_op *op, const char *what);
/* The session that held the lock has ended. */
latch_status latch_advisory_fail_held(latch_op *op);
/* Another session has answered. */
latch_status latch_advisory_fail_moved(latch_op *op);
/* For the store's class. An attempt to connect anew was described when it failed. */
void latch_advisory_outage(const latch_op *op, int64_t now_ns);

/* ---- Store classes (advisory.c): their functions, for LATCH_ADVISORY_CLASS ------------------- */

/* Opens a store by options->runner, else by the driver, which is NULL in builds without its
 * library. */
latch_status latch_advisory_open(latch_store *base, const latch_store_options *options,
                                 const advisory_dialect *dialect, sql_opener *open_driver,
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
