/*
 * Pipelined, non-blocking connection to a Redis server. Commands are sent without awaiting earlier
 * replies, which come back in the same order: so a signal handler may use a connection in the
 * middle of a wait, and a command whose reply is not needed is abandoned, not awaited.
 */
#ifndef LATCH_REDIS_CONNECTION_H
#define LATCH_REDIS_CONNECTION_H

#include "src/base/resolve.h"
#include "src/store/redis/options/options.h"
#include "src/store/redis/wire/address_source.h"
#include "src/store/redis/wire/library.h"
#include "src/store/redis/wire/tls.h"
#include "src/store/redis/wire/transport.h"

#include <poll.h>
#include <sys/un.h>

typedef enum {
    REDIS_CLOSED,
    REDIS_DISCOVERING, /* asking the address source for the server */
    REDIS_RESOLVING,   /* looking up the host's name */
    REDIS_CONNECTING,  /* connecting to one of its addresses */
    REDIS_ENCRYPTING,  /* TLS handshake */
    REDIS_HANDSHAKE,   /* AUTH, SELECT and ROLE in flight */
    REDIS_READY,
} redis_stage;

/* Limits of the parser: replies of our scripts. */
enum { REDIS_REPLY_MAX = 64 * 1024, REDIS_ELEMENTS_MAX = 8 };
/*
 * The same for inspections: a name may be as long as Redis allows, with 500 holders (inspect.lua),
 * or a page of names, of which Redis may send more than asked for; and for CLUSTER SLOTS, at worst
 * a range for each slot.
 */
enum { REDIS_LONG_REPLY_MAX = 513 * 1024 * 1024, REDIS_LONG_ELEMENTS_MAX = 16384 };

typedef struct redis_connection {
    latch_engine *engine;
    const redis_options *options;
    const redis_transport *transport;
    void *transport_context;
    const redis_address_source *source;
    void *source_context;
    const redis_place *place; /* the server; NULL: not discovered yet */
    unsigned generation;      /* version of the place, counted by its source */
    size_t elements_max;      /* limit of a reply; set by the owner */
    redis_stage stage;
    unsigned established; /* count of times that it became READY */
    bool has_socket;
    latch_descriptor descriptor;                    /* the socket; a fork closes it in the child */
    redisContext *context;                          /* from HANDSHAKE on */
    redisReplyObjectFunctions reply_functions;      /* of `context` */
    const redisReplyObjectFunctions *own_functions; /* hiredis's, which they go by */
    redis_tls_stream *tls; /* on the socket, from ENCRYPTING on; NULL: without TLS */
    latch_resolution *resolution;
    const struct addrinfo *address;       /* tried now; its list has the next ones */
    int64_t begun_ns;                     /* start of the attempt */
    int64_t connecting_ns;                /* start of connecting to addresses */
    int64_t deadline_ns;                  /* end of the attempt */
    int64_t address_deadline_ns;          /* end of the attempt at this address */
    int64_t retry_ns;                     /* without a socket: time of the next try */
    struct redis_call *login, *selection; /* AUTH and SELECT in HANDSHAKE; or NULL */
    struct redis_call *role;              /* ROLE, where a master is meant; or NULL */
    latch_link calls;                     /* unanswered calls, in order */
    /* Receives pub/sub messages on a subscribed connection; NULL: unexpected. */
    void (*push)(void *context, const redisReply *message);
    void *push_context;
    char *unsent; /* output buffer */
    size_t unsent_length, unsent_size;
    bool is_batching;             /* output is buffered until the batch ends */
    latch_error failure;          /* of a batch: why the connection failed, or DONE */
    bool has_replied;             /* the server has sent a reply on it */
    bool was_slow;                /* the last lost command must not be sent again */
    unsigned long_replies;        /* count of calls in flight with the higher limits */
    char trouble[256];            /* reason of the last close */
    struct addrinfo unix_address; /* of a Unix socket, as if it had been resolved */
    struct sockaddr_un unix_name;
} redis_connection;

/* Command in flight, or answered. */
typedef struct redis_call {
    latch_link link; /* in connection->calls until it is answered or lost */
    enum { REDIS_UNANSWERED, REDIS_ANSWERED, REDIS_LOST } state;
    bool abandoned; /* without a sender: freed when it is answered or lost */
    void (*settle)(void *context, const redisReply *reply);
    void *context;
    redisReply *reply;
    bool owns_reply;     /* made by hiredis */
    void *block;         /* freed with the call: of a reply that is not hiredis's; or NULL */
    int64_t deadline_ns; /* time-out of the reply */
} redis_call;

/*
 * Initialises a socket to the first place of `options`, which outlive the connection; the owner may
 * set another transport or address source. Ended by latch_redis_close(). Nothing is connected yet.
 */
void latch_redis_connection_init(redis_connection *connection, latch_engine *engine,
                                 const redis_options *options);

/* The socket's redis_transport.prepare: connects and logs in, unless that has been done. */
latch_status latch_redis_connect(redis_connection *connection, latch_op *op, int64_t now_ns);

/* Fail a request with a description of the attempt to connect, after `seconds`. */
latch_status latch_redis_fail_unconnected(redis_connection *connection, latch_op *op,
                                          double seconds, int64_t now_ns);

/*
 * Before a new request: closes an abandoned attempt to connect whose time is over, and a connection
 * with an overdue reply that has no reader. True: the server was silent there.
 */
bool latch_redis_close_stale(redis_connection *connection, int64_t now_ns);

/* Neither an attempt to connect nor a call in flight? */
static inline bool latch_redis_is_idle(const redis_connection *connection)
{
    return connection->stage == REDIS_CLOSED
           || (connection->stage == REDIS_READY && connection->calls.next == &connection->calls);
}

/* Age of the oldest unanswered call; 0: there is none. */
int64_t latch_redis_reply_age_ns(const redis_connection *connection, int64_t now_ns);

/* Address for messages. */
const char *latch_redis_address(const redis_connection *connection);

/* The socket's redis_transport.send; latch_redis_receive() goes on when the socket does not take
 * all of the command. */
redis_call *latch_redis_send(redis_connection *connection, const redis_command *command,
                             int64_t now_ns);
/*
 * Batch: commands are buffered while it is on, and sent together at its end. A failure to connect
 * counts for the whole batch.
 */
void latch_redis_batch(redis_connection *connection, bool on);
/* The socket's redis_transport.receive. It closes the connection, before anything is read, when
 * the address source names another server by now. */
bool latch_redis_receive(redis_connection *connection);
/* Schedules a re-check of the address source while waiting. */
void latch_redis_wake_to_recheck(const redis_connection *connection, latch_op *op);
/* LATCH_WANT_IO: sets what to poll for until calls may be answered, or `wake_ns`. */
static inline latch_status latch_redis_want(const redis_connection *connection, int64_t wake_ns,
                                            latch_op *op)
{
    bool has_unsent = connection->unsent_length > 0;

    op->fd = connection->descriptor.fd;
    op->events = has_unsent ? POLLIN | POLLOUT : POLLIN;
    op->wake_ns = wake_ns;
    if (connection->tls != NULL) {
        op->events = latch_redis_tls_events(connection->tls, has_unsent);
        op->wake_ns = connection->tls->has_more ? 0 : wake_ns;
    }
    if (connection->source->recheck_ns > 0) {
        latch_redis_wake_to_recheck(connection, op);
    }
    return LATCH_WANT_IO;
}
/* Abandons a call in flight; `settle`, unless NULL, gets its reply, or NULL if it is lost. */
static inline void latch_redis_call_abandon(redis_call *call,
                                            void (*settle)(void *context, const redisReply *reply),
                                            void *context)
{
    call->abandoned = true;
    call->settle = settle;
    call->context = context;
}
/* Frees a call that is not in flight, with its reply. */
void latch_redis_call_destroy(redis_connection *connection, redis_call *call);
/* Frees an answered or lost call; abandons one in flight. */
static inline void latch_redis_call_free(redis_connection *connection, redis_call *call)
{
    if (call->state == REDIS_UNANSWERED) {
        latch_redis_call_abandon(call, NULL, NULL);
    } else {
        latch_redis_call_destroy(connection, call);
    }
}

/* Copies a server's text into a message: printable, truncated. */
void latch_redis_quote(char *quoted, size_t size, const char *text, size_t length);

/*
 * The same for a server's error: one line, without its full stop, and without the arguments that it
 * may repeat ("unknown command 'AUTH', with args beginning with"). An error with `secret` in it
 * (NULL: none) is reduced to its code.
 */
void latch_redis_quote_error(char *quoted, size_t size, const char *text, const char *secret);

/* Closes the socket; unanswered calls are lost. */
void latch_redis_close(redis_connection *connection);

/* ---- Between connection.c, handshake.c and pipeline.c */

/*
 * Sends AUTH, SELECT and ROLE on a connected socket. Commands for the database must wait until it
 * is selected.
 */
latch_status latch_redis_start_handshake(redis_connection *connection, latch_op *op,
                                         int64_t now_ns);
/* READY when all are answered. */
latch_status latch_redis_await_handshake(redis_connection *connection, latch_op *op,
                                         int64_t now_ns);
void latch_redis_end_handshake(redis_connection *connection);
/* Closes the connection and describes why. */
latch_status latch_redis_fail_to_connect(redis_connection *connection, latch_op *op, int sys_errno,
                                         const char *why);
/* Shortens the attempt to the request's response time-out. */
void latch_redis_tighten_deadline(redis_connection *connection, const latch_op *op);
/* Reason that fits a server without TLS. */
#define REDIS_NO_HANDSHAKE                                                                         \
    "the TLS handshake did not end, as with a server that speaks no TLS there"
/* Attempt without any answer for longer than a network error takes? */
bool latch_redis_is_connect_silent(const redis_connection *connection, int64_t now_ns);
/* Closes the connection in a forked child, where the engine has closed the parent's descriptor. */
static inline void latch_redis_close_if_forked(redis_connection *connection)
{
    if (connection->has_socket && connection->descriptor.fd < 0) {
        latch_redis_close(connection);
    }
}

/* Makes hiredis' reader for the open socket; false when memory ran out. */
bool latch_redis_make_context(redis_connection *connection);
void latch_redis_calls_lost(redis_connection *connection);
/* Completes a call: sets its state, or calls `settle` and frees it if it was abandoned. */
void latch_redis_call_complete(redis_connection *connection, redis_call *call, int state,
                               redisReply *reply);

#endif
