/*
 * A connection to a MySQL or MariaDB server, through those functions of libmariadb that do not
 * wait: each is a coroutine of the library's, that stops where it would have to.
 *
 *     connection.c  the way to a session
 *     call.c        a statement at a time, and the session's end
 *     prepared.c    what the server prepares, as it is asked again and again
 *     tls_handshake.c  TLS, whose handshake does wait: in a thread
 *     driver.c      sql_driver: what an error means
 */
#ifndef LATCH_MYSQL_CONNECTION_H
#define LATCH_MYSQL_CONNECTION_H

#include "src/base/resolve.h"
#include "src/store/sql/session/session.h"
#include "src/store/sql/mysql/library.h"
#include "src/store/sql/mysql/options.h"

#include <netdb.h>

/* A call of libmariadb in a thread, until it returns; see tls_handshake.c. */
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

/* A function of libmariadb's. */
typedef enum {
    MYSQL_NO_CALL = 0,
    MYSQL_CONNECT,
    MYSQL_QUERY, /* a text, and its result */
    MYSQL_RESULT,
    MYSQL_PREPARE, /* a prepared statement, and its result */
    MYSQL_EXECUTE,
    MYSQL_STORE,
} mysql_call;

#define MYSQL_FORMS_MAX 16
#define MYSQL_PARAMETER_MAX 255 /* bytes of a parameter */

/* A statement that the server prepares, or has prepared. */
typedef struct mysql_prepared {
    MYSQL_STMT *handle; /* NULL: it was not prepared in this session */
    const char *text;
    unsigned parameter_count;
    bool is_form;
    bool is_ready;
} mysql_prepared;

typedef struct mysql_template {
    mysql_prepared prepared;
    const sql_template *template;
    char text[SQL_TEXT_MAX];
} mysql_template;

_Static_assert(SQL_PARAMETER_SIZE - 1 <= MYSQL_PARAMETER_MAX, "a template's parameters fit");

/* What libmariadb reads and writes when a prepared statement is executed, one at a time. */
typedef struct mysql_buffers {
    char parameters[SQL_VALUES_MAX][MYSQL_PARAMETER_MAX];
    unsigned long lengths[SQL_VALUES_MAX];
    char value[SQL_VALUE_MAX]; /* the first one of the result */
    unsigned long value_length;
    my_bool is_null;
} mysql_buffers;

typedef struct mysql_connection {
    latch_engine *engine;
    const mysql_store_options *options;
    bool is_one_shot;        /* for a single statement: the session is not set up */
    int64_t lock_timeout_ms; /* of the session */

    enum {
        MYSQL_CLOSED = 0,
        MYSQL_RESOLVING,
        MYSQL_CONNECTING,
        MYSQL_SETTING_UP,
        MYSQL_CONNECTED,
    } stage;
    int64_t deadline_ns;
    latch_resolution *resolution;
    const struct addrinfo *address; /* being tried; NULL: a socket, or libmariadb's choice */
    int64_t address_deadline_ns;    /* when the next one is */
    char digits[NI_MAXHOST];        /* the same as text, for the call in flight */
    mysql_handshake handshake;
    unsigned setup_step; /* which of its statements */

    MYSQL *handle;
    int fd;                      /* of its socket; -1: it has none */
    latch_descriptor descriptor; /* the same, registered; fd is -1 in a forked child */
    mysql_call call;             /* that was begun last */
    int wish;                    /* MYSQL_WAIT_*: what it waits for; 0: it has returned */
    bool is_fresh;               /* it has just begun to wait */
    MYSQL *connected;
    int failed;
    MYSQL_RES *result;
    char statement[SQL_TEXT_MAX];
    /* State of the templates. */
    enum {
        MYSQL_UNUSED = 0,
        MYSQL_USED_ONCE,
        MYSQL_PREPARED,
        MYSQL_PREPARE_UNSUPPORTED, /* for the rest of the session */
    } use;
    mysql_template *templates; /* `template_count` of them; NULL: none */
    unsigned template_count;
    mysql_prepared *forms[MYSQL_FORMS_MAX]; /* those that were met, in any session; NULL: no more */
    bool has_moved;       /* a statement has met another session: no form is prepared any more */
    mysql_prepared *form; /* to be prepared behind the text that is sent; NULL: none */
    bool has_answer;      /* the text has, whatever becomes of its form */
    int64_t affected, insert_id; /* of the text */
    mysql_prepared *asked; /* the statement that is prepared or executed; NULL: a text was sent */
    mysql_buffers buffers;

    /* While connected: */
    bool is_mariadb;
    int64_t number; /* the session's; 0: one-shot */
} mysql_connection;

void latch_mysql_connection_init(mysql_connection *connection, latch_engine *engine,
                                 const mysql_store_options *options, bool is_one_shot);
/* As sql_driver.connect. */
latch_status latch_mysql_connect(mysql_connection *connection, latch_op *op, int64_t now_ns);
/* Says good-bye where nothing is in flight, unless in a forked child; never waits. */
void latch_mysql_close(mysql_connection *connection);

/* Sends a statement, on a connected connection that has no other one in flight. */
void latch_mysql_send(mysql_connection *connection, const char *statement);
/* Reads without waiting. True when the statement has a reply: an error, a result, which stays until
 * the next statement, or neither. */
bool latch_mysql_is_answered(mysql_connection *connection);
/* Sets op->fd and op->events, to poll for the reply. */
void latch_mysql_want(const mysql_connection *connection, latch_op *op);

/* Copies a server's text into a message: printable characters, as many as fit. */
void latch_mysql_quote(char *quoted, size_t size, const char *text);

/* ---- prepared.c */

/* Sends a statement whose template is prepared. False: it is not, send a text. */
bool latch_mysql_execute(mysql_connection *connection, const sql_statement *statement);
/* Prepares the templates at the second use of the first one, before the statement's text is sent.
 * False: nothing to prepare. */
bool latch_mysql_prepare(mysql_connection *connection, const sql_templates *templates,
                         const sql_statement *statement, const char *text);
/* Sends a statement whose form is prepared. False: it is not, send a text; behind that of its
 * second use it is. */
bool latch_mysql_send_form(mysql_connection *connection, const sql_statement *statement);
/* Frees the forms that were met, of a connection that is closed. */
void latch_mysql_free_forms(mysql_connection *connection);
/* Error of the last statement; 0: none. */
unsigned latch_mysql_errno(const mysql_connection *connection);
const char *latch_mysql_error(const mysql_connection *connection);
/* Reads the result of the last statement. */
void latch_mysql_read_result(mysql_connection *connection, sql_result *result);

/* ---- driver.c */

/* What an error of the server's or of libmariadb's means for the statement. */
sql_outcome latch_mysql_outcome_of(unsigned code);

/* ---- Between these files */

/* Begins a call, about connection->statement or connection->asked. */
void latch_mysql_begin(mysql_connection *connection, mysql_call call);
/* The call that follows one that has returned; MYSQL_NO_CALL: the statement is answered. */
mysql_call latch_mysql_next_call(mysql_connection *connection);
/* Resets the prepared statements after the handle was closed. */
void latch_mysql_reset_prepared(mysql_connection *connection);
/* Frees what the last statement has left. */
void latch_mysql_free_result(mysql_connection *connection);
/* Continues the call in flight; true when it has returned. */
bool latch_mysql_continue(mysql_connection *connection, int ready);
/* Events that the call waits for: POLLIN and the like. */
short latch_mysql_wished_events(const mysql_connection *connection);
/* libmariadb opens and closes its socket within its calls. */
void latch_mysql_register_socket(mysql_connection *connection);
/* Wipes the password, which is not needed after the login. */
void latch_mysql_wipe_password(MYSQL *handle);
/* Cancels the call in flight, and frees libmariadb's handle. */
void latch_mysql_close_handle(mysql_connection *connection);

/* ---- tls_handshake.c */

/* Continues mysql_real_connect() in a thread, once its socket is ready. False: no thread, see
 * errno. */
bool latch_mysql_handshake_begin(mysql_handshake *handshake, latch_engine *engine, MYSQL *handle,
                                 int wish);
/*
 * Joins the thread, whose end must be near: the call has returned, or its socket was shut down.
 * False in a forked child, which lacks the thread, and with it the handle.
 */
bool latch_mysql_handshake_end(mysql_handshake *handshake, latch_engine *engine);

#endif
