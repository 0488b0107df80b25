/*
 * A connection to a MySQL or MariaDB server, through those functions of libmariadb that do not
 * wait: each is a coroutine of the library's, that stops where it would have to.
 *
 *     mysql_connection.c  the way to a session
 *     mysql_call.c        a statement at a time, and the session's end
 *     mysql_handshake.c   TLS, whose handshake does wait: in a thread
 *     mysql.c             advisory_driver: what is said, and what an answer means
 */
#ifndef LATCH_MYSQL_CONNECTION_H
#define LATCH_MYSQL_CONNECTION_H

#include "../resolve.h"
#include "advisory.h"
#include "mysql_options.h"

#include <mysql.h>
#include <netdb.h>

/* A call of libmariadb in a thread, until it returns; see mysql_handshake.c. */
typedef struct mysql_handshake {
    bool is_running; /* or to be joined */
    pthread_t thread;
    latch_descriptor wake; /* an eventfd, closed by a fork: there is no thread in the child */
    int helpers_fd;        /* the same, where no fork changes it */
    _Atomic bool is_over;
    MYSQL *handle;
    int wish;         /* MYSQL_WAIT_*: what the call has waited for */
    MYSQL *connected; /* what it has returned */
} mysql_handshake;

typedef struct mysql_connection {
    latch_engine *engine;
    const mysql_store_options *options;
    bool is_passing; /* for a word only: nothing is set for its session, nor asked */

    enum {
        MYSQL_CLOSED = 0,
        MYSQL_RESOLVING,
        MYSQL_CONNECTING,
        MYSQL_GREETING,
        MYSQL_CONNECTED,
    } stage;
    int64_t deadline_ns;
    latch_resolution *resolution;
    const struct addrinfo *address; /* that is tried; NULL: a socket, or libmariadb's to choose */
    int64_t address_deadline_ns;    /* when the next one is */
    char digits[NI_MAXHOST];        /* the same in writing, for a call that goes on with it */
    mysql_handshake handshake;
    unsigned greeting; /* which of its statements */

    MYSQL *handle;
    int fd;                      /* of its socket; -1: it has none */
    latch_descriptor descriptor; /* the same, registered; fd is -1 in a forked child */
    /* The call that was begun last. */
    enum { MYSQL_NO_CALL = 0, MYSQL_CONNECT, MYSQL_QUERY, MYSQL_RESULT } call;
    int wish;      /* MYSQL_WAIT_*: what it waits for; 0: it has returned */
    bool is_fresh; /* it has just begun to wait */
    MYSQL *connected;
    int failed;
    MYSQL_RES *result;
    char statement[ADVISORY_STATEMENT_MAX];

    /* Of a connected one. */
    bool is_mariadb;
    int64_t number; /* the session's; 0 for one that is passing */
} mysql_connection;

void latch_mysql_connection_init(mysql_connection *connection, latch_engine *engine,
                                 const mysql_store_options *options, bool is_passing);
/* As advisory_driver.connect. */
latch_status latch_mysql_connect(mysql_connection *connection, latch_op *op, int64_t now_ns);
/* Says good-bye where nothing is in flight, unless in a forked child; never waits. */
void latch_mysql_close(mysql_connection *connection);

/* Sends a statement, on a connected connection that has no other one in flight. */
void latch_mysql_ask(mysql_connection *connection, const char *statement);
/* Reads what can be without waiting. True when the statement is answered: with mysql_errno(), or
 * with a result, which stays until the next statement, or with neither. */
bool latch_mysql_is_answered(mysql_connection *connection);
/* What to poll for until it may be. */
void latch_mysql_want(const mysql_connection *connection, latch_op *op);

/* Copies what a server says into a message: plain text, of what fits. */
void latch_mysql_quote(char *quoted, size_t size, const char *text);

/* ---- Between mysql_connection.c and mysql_call.c */

/* Goes on with the call that is in flight; true when it has returned. */
bool latch_mysql_go_on(mysql_connection *connection, int ready);
/* POLLIN and so on, for what it waits. */
short latch_mysql_wished_events(const mysql_connection *connection);
/* libmariadb opens and closes its socket within its calls. */
void latch_mysql_note_socket(mysql_connection *connection);
/* It is of no use any more once there is a session. */
void latch_mysql_wipe_password(MYSQL *handle);
/* Gives up what is in flight, and all of libmariadb's. */
void latch_mysql_close_handle(mysql_connection *connection);

/* ---- mysql_handshake.c */

/* Goes on with mysql_real_connect() in a thread, now that there is what it has waited for. False:
 * errno says why there is none. */
bool latch_mysql_handshake_begin(mysql_handshake *handshake, latch_engine *engine, MYSQL *handle,
                                 int wish);
/*
 * Awaits its end, which must be near: it is over, or its socket was shut down. False in a forked
 * child, where the handle is lost to a thread that is not there.
 */
bool latch_mysql_handshake_end(mysql_handshake *handshake, latch_engine *engine);

#endif
