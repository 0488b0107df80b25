/*
 * One connection to a Redis server, driven without blocking. Commands are sent one after the other
 * without awaiting each other's replies, which come back in the same order: so a signal handler may
 * use a connection in the middle of somebody's wait, and a command whose reply nobody needs is
 * abandoned, not awaited.
 */
#ifndef LATCH_REDIS_CONNECTION_H
#define LATCH_REDIS_CONNECTION_H

#include "src/base/resolve.h"
#include "src/store/redis/options/options.h"
#include "src/store/redis/wire/address_source.h"
#include "src/store/redis/wire/library.h"
#include "src/store/redis/wire/tls.h"
#include "src/store/redis/wire/transport.h"

#include <sys/un.h>

typedef enum {
    REDIS_CLOSED,
    REDIS_DISCOVERING, /* the address source, where the server is */
    REDIS_RESOLVING,   /* the host's name */
    REDIS_CONNECTING,  /* to one of its addresses */
    REDIS_ENCRYPTING,  /* the TLS handshake is on its way */
    REDIS_HANDSHAKE,   /* AUTH, SELECT and ROLE are on their way */
    REDIS_READY,
} redis_stage;

/* No reply to a script of ours is longer, nor has it more elements. */
enum { REDIS_REPLY_MAX = 64 * 1024, REDIS_ELEMENTS_MAX = 8 };
/* But to what is asked about other locks: a name may be as long as Redis lets it be, and there are
 * 500 holders (inspect.lua), or a page of names, of which Redis may send more than asked for; or
 * the map of a cluster (CLUSTER SLOTS), at worst a range for each slot. */
enum { REDIS_LONG_REPLY_MAX = 513 * 1024 * 1024, REDIS_LONG_ELEMENTS_MAX = 16384 };

typedef struct redis_connection {
    latch_engine *engine;
    const redis_options *options;
    const redis_transport *transport;
    void *transport_context;
    const redis_address_source *source;
    void *source_context;
    const redis_place *place; /* the server; NULL: the source was not asked yet */
    unsigned generation;      /* of the place, as its source counts */
    size_t elements_max;      /* of a reply: the owner's to set */
    redis_stage stage;
    unsigned established; /* how often it has become READY */
    bool has_socket;
    latch_descriptor descriptor;                    /* the socket; a fork closes it in the child */
    redisContext *context;                          /* from GREETING on */
    redisReplyObjectFunctions reply_functions;      /* of `context` */
    const redisReplyObjectFunctions *own_functions; /* hiredis's, which they go by */
    redis_tls_stream *tls; /* on the socket, from ENCRYPTING on; NULL: without TLS */
    latch_resolution *resolution;
    const struct addrinfo *address;       /* that is being tried, and those after it */
    int64_t begun_ns;                     /* when it was begun */
    int64_t connecting_ns;                /* when an address was known */
    int64_t deadline_ns;                  /* by which it must be READY */
    int64_t address_deadline_ns;          /* by which the next address is tried */
    int64_t retry_ns;                     /* without a socket: when to try the address, or to ask */
    struct redis_call *login, *selection; /* AUTH and SELECT, while GREETING; or NULL */
    struct redis_call *role;              /* ROLE of what shall be a master; or NULL */
    latch_link calls;                     /* sent and unanswered, in their order */
    /* Gets what comes unasked, on a connection that is subscribed; NULL: nothing may. */
    void (*push)(void *context, const redisReply *message);
    void *push_context;
    char *unsent; /* what the socket did not take yet */
    size_t unsent_length, unsent_size;
    bool is_batching;             /* what is sent is kept back, to go together */
    latch_error failure;          /* while gathering: why it could not be connected, or DONE */
    bool is_heard;                /* the server has answered something on it */
    bool was_slow;                /* the last reply that was lost must not be asked for again */
    unsigned long_replies;        /* in flight: calls whose replies are longer than others */
    char trouble[256];            /* why it was closed last */
    struct addrinfo unix_address; /* of a Unix socket, as if it had been resolved */
    struct sockaddr_un unix_name;
} redis_connection;

/* A command that was sent. */
typedef struct redis_call {
    latch_link link; /* in connection->calls until it is answered or lost */
    enum { REDIS_UNANSWERED, REDIS_ANSWERED, REDIS_LOST } state;
    bool abandoned; /* its sender is gone: freed when it is answered or lost */
    void (*settle)(void *context, const redisReply *reply);
    void *context;
    redisReply *reply;
    bool owns_reply;     /* which hiredis has made */
    int64_t deadline_ns; /* when the reply is overdue */
} redis_call;

/*
 * A socket to the first place of `options`, which outlive the connection; the owner may give it
 * another transport or address source. Ended by latch_redis_close(). Nothing is connected yet.
 */
void latch_redis_connection_init(redis_connection *connection, latch_engine *engine,
                                 const redis_options *options);

/* The socket's redis_transport.prepare: connects and logs in, unless that has been done. */
latch_status latch_redis_connect(redis_connection *connection, latch_op *op, int64_t now_ns);

/* Describes the attempt to connect, which has been under way for so long. */
latch_status latch_redis_fail_unconnected(redis_connection *connection, latch_op *op,
                                          double seconds, int64_t now_ns);

/*
 * To be called by a new request: forgets an attempt to connect that nobody drove to its end, and a
 * connection on which an answer is overdue that nobody awaited. True: the server was silent there.
 */
bool latch_redis_close_stale(redis_connection *connection, int64_t now_ns);

/* Is nothing under way on it, so that there is nothing stale? */
static inline bool latch_redis_is_idle(const redis_connection *connection)
{
    return connection->stage == REDIS_CLOSED
           || (connection->stage == REDIS_READY && connection->calls.next == &connection->calls);
}

/* How long the first answer has been due, for all that was read; 0: none is. */
int64_t latch_redis_reply_age_ns(const redis_connection *connection, int64_t now_ns);

/* Where it goes to, for messages. */
const char *latch_redis_address(const redis_connection *connection);

/* The socket's redis_transport.send; latch_redis_receive() goes on when the socket does not take
 * all of the command. */
redis_call *latch_redis_send(redis_connection *connection, const redis_command *command,
                             int64_t now_ns);
/*
 * While it is on, commands are kept back; then they go together. And so do those who cannot be
 * connected: there is one attempt for all.
 */
void latch_redis_batch(redis_connection *connection, bool on);
/* The socket's redis_transport.receive. It closes the connection, before anything is read, when
 * the address source names another server by now. */
bool latch_redis_receive(redis_connection *connection);
/* LATCH_WANT_IO: what `op` has to poll for until calls may be answered, or `wake_ns`. */
latch_status latch_redis_want(const redis_connection *connection, int64_t wake_ns, latch_op *op);
/* Frees a call that was answered or lost; abandons one that was not. */
void latch_redis_call_free(redis_connection *connection, redis_call *call);
/*
 * Abandons an unanswered call; `settle`, unless NULL, is told when it is answered, or lost (NULL).
 */
void latch_redis_call_abandon(redis_call *call,
                              void (*settle)(void *context, const redisReply *reply),
                              void *context);

/* Copies what a server says into a message: plain text, of what fits. */
void latch_redis_quote(char *quoted, size_t size, const char *text, size_t length);

/*
 * The same of the error that a server answers: one line, without the full stop that ends it, and
 * without the arguments that it may repeat ("unknown command 'AUTH', with args beginning with"). An
 * answer that has `secret` in it (NULL: there is none) is told by its code alone.
 */
void latch_redis_quote_error(char *quoted, size_t size, const char *text, const char *secret);

/* Closes the socket; unanswered calls are lost. */
void latch_redis_close(redis_connection *connection);

/* ---- Between connection.c, handshake.c and pipeline.c */

/* A socket is connected: sends AUTH, SELECT and ROLE. What is to be done in the database must wait
 * until it is selected. */
latch_status latch_redis_start_handshake(redis_connection *connection, latch_op *op,
                                         int64_t now_ns);
/* Makes it READY when they have been answered. */
latch_status latch_redis_await_handshake(redis_connection *connection, latch_op *op,
                                         int64_t now_ns);
void latch_redis_end_handshake(redis_connection *connection);
/* Closes it, and says why. */
latch_status latch_redis_fail_to_connect(redis_connection *connection, latch_op *op, int sys_errno,
                                         const char *why);
/* Of those who wait for the connection the least patient one decides. */
void latch_redis_tighten_deadline(redis_connection *connection, const latch_op *op);
/* What a server may have that speaks no TLS. */
#define REDIS_NO_HANDSHAKE                                                                         \
    "the TLS handshake did not end, as with a server that speaks no TLS there"
/* Has the server let a connection attempt wait without an answer? */
bool latch_redis_is_connect_silent(const redis_connection *connection, int64_t now_ns);
/* A connection is its process's: in a forked child the engine has closed the parent's descriptor.
 */
static inline void latch_redis_close_if_forked(redis_connection *connection)
{
    if (connection->has_socket && connection->descriptor.fd < 0) {
        latch_redis_close(connection);
    }
}

/* Re-checks now and then, while waiting, that the server is still the one that is meant. */
void latch_redis_wake_to_recheck(const redis_connection *connection, latch_op *op);
/* What reads from the open socket; false when memory ran out. */
bool latch_redis_make_context(redis_connection *connection);
void latch_redis_calls_lost(redis_connection *connection);
/* The call's end: its sender finds it in this state, if there still is one. */
void latch_redis_call_complete(redis_connection *connection, redis_call *call, int state,
                               redisReply *reply);

#endif
