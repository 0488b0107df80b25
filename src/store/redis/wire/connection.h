/*
 * One connection to a Redis server, driven without blocking. Commands are sent one after the other
 * without awaiting each other's replies, which come back in the same order: so a signal handler may
 * use a connection in the middle of somebody's wait, and a command whose reply nobody needs is
 * abandoned, not awaited.
 */
#ifndef LATCH_REDIS_CONNECTION_H
#define LATCH_REDIS_CONNECTION_H

#include "src/base/resolve.h"
#include "src/store/redis/wire/library.h"
#include "src/store/redis/options/options.h"
#include "src/store/redis/wire/tls.h"

#include <sys/un.h>

typedef enum {
    REDIS_CLOSED,
    REDIS_ASKING,     /* Sentinels, where the server is */
    REDIS_RESOLVING,  /* the host's name */
    REDIS_CONNECTING, /* to one of its addresses */
    REDIS_ENCRYPTING, /* the TLS handshake is on its way */
    REDIS_GREETING,   /* AUTH, SELECT and ROLE are on their way */
    REDIS_READY,
} redis_stage;

struct redis_object;

typedef struct redis_connection {
    latch_engine *engine;
    const redis_options *options;
    struct redis_object
        *object; /* by which scripts are run: redis/lock/client_object.h; NULL: the socket */
    const redis_place *place;        /* the server; NULL: Sentinels are to be asked first */
    struct redis_sentinel *sentinel; /* who is asked; NULL: nobody */
    unsigned term;                   /* of the master that it goes to */
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
    bool is_gathering;            /* what is sent is kept back, to go together */
    latch_error failure;          /* while gathering: why it could not be connected, or DONE */
    bool is_asked;                /* what redis/lock/quorum_probe.c asks */
    bool has_release;             /* the server knows the script of releases */
    bool is_heard;                /* the server has answered something on it */
    unsigned inspections;         /* in flight: calls whose answers are longer than others */
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
 * To the first place of `options`, which outlive the connection; latch_redis_sentinel_lead() has it
 * ask for another. Ended by latch_redis_close(). Nothing is connected yet.
 */
void latch_redis_connection_init(redis_connection *connection, latch_engine *engine,
                                 const redis_options *options);

/*
 * Connects and logs in, unless that has been done. LATCH_DONE: READY. LATCH_WANT_*: again, when
 * op->fd or op->wake_ns says. Errors are in op->error; the next call begins anew then.
 */
latch_status latch_redis_connect(redis_connection *connection, latch_op *op, int64_t now_ns);

/* Describes the attempt to connect, which has been under way for so long. */
latch_status latch_redis_fail_unconnected(const redis_connection *connection, latch_op *op,
                                          double seconds, int64_t now_ns);

/*
 * To be called by a new request: forgets an attempt to connect that nobody drove to its end, and a
 * connection on which an answer is overdue that nobody awaited. True: the server was silent there.
 */
bool latch_redis_forget_stale(redis_connection *connection, int64_t now_ns);

/* How long the first answer has been due, for all that was read; 0: none is. */
int64_t latch_redis_silence_ns(const redis_connection *connection, int64_t now_ns);

/* Where it goes to, for messages. */
const char *latch_redis_address(const redis_connection *connection);

#define REDIS_ARGUMENTS_MAX 16

/* A command's arguments, the first of which is its name; they are not copied. */
typedef struct redis_command {
    size_t count; /* 0 at the beginning */
    const char *arguments[REDIS_ARGUMENTS_MAX];
    size_t lengths[REDIS_ARGUMENTS_MAX];
} redis_command;

void latch_redis_add(redis_command *command, const char *argument, size_t length);
void latch_redis_add_text(redis_command *command, const char *text);

/*
 * Sends a command, on a READY connection; latch_redis_receive() goes on when the socket does not
 * take all of it. NULL when memory ran out. The call is the caller's until latch_redis_call_free().
 */
redis_call *latch_redis_send(redis_connection *connection, const redis_command *command,
                             int64_t now_ns);
/*
 * While it is on, commands are kept back; then they go together. And so do those who cannot be
 * connected: there is one attempt for all.
 */
void latch_redis_gather(redis_connection *connection, bool on);
/*
 * Writes and reads what can be without waiting, tells the calls. False when it is closed now; so it
 * is, before anything is read, when another server has become the master.
 */
bool latch_redis_receive(redis_connection *connection);
/* LATCH_WANT_IO: what `op` has to poll for until calls may be answered, or `wake_ns`. */
latch_status latch_redis_want(const redis_connection *connection, int64_t wake_ns, latch_op *op);
/* Frees a call that was answered or lost; abandons one that was not. */
void latch_redis_call_free(redis_connection *connection, redis_call *call);
/*
 * Abandons an unanswered call; `settle`, unless NULL, is told when it is answered, or lost (NULL).
 */
void latch_redis_call_leave(redis_call *call,
                            void (*settle)(void *context, const redisReply *reply), void *context);

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
latch_status latch_redis_greet(redis_connection *connection, latch_op *op, int64_t now_ns);
/* Makes it READY when they have been answered. */
latch_status latch_redis_await_greeting(redis_connection *connection, latch_op *op, int64_t now_ns);
void latch_redis_forget_greeting(redis_connection *connection);
/* Closes it, and says why. */
latch_status latch_redis_fail_to_connect(redis_connection *connection, latch_op *op, int sys_errno,
                                         const char *why);
/* The same for what may pass, where Sentinels may name another server soon: LATCH_DONE, they are to
 * be asked. */
latch_status latch_redis_leave_server(redis_connection *connection, latch_op *op, int sys_errno,
                                      const char *why, int64_t now_ns);

/* A connection is its process's: the parent's is closed in a forked child. */
void latch_redis_close_if_forked(redis_connection *connection);
/* What reads from the open socket; false when memory ran out. */
bool latch_redis_make_context(redis_connection *connection);
void latch_redis_lose_calls(redis_connection *connection);
/* The call's end: its sender finds it in this state, if there still is one. */
void latch_redis_settle(redis_connection *connection, redis_call *call, int state,
                        redisReply *reply);

#endif
