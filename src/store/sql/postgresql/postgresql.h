/* Session of libpq, shared by driver.c, prepared.c and connection.c. */
#ifndef LATCH_POSTGRESQL_H
#define LATCH_POSTGRESQL_H

#include "src/base/resolve.h"
#include "src/store/sql/session/session.h"
#include "src/store/sql/postgresql/library.h"
#include "src/store/sql/postgresql/options.h"

typedef enum {
    POSTGRESQL_CLOSED = 0,
    POSTGRESQL_RESOLVING,
    POSTGRESQL_CONNECTING,
    POSTGRESQL_SETTING_UP,
    POSTGRESQL_READY,
} postgresql_stage;

#define POSTGRESQL_FORMS_MAX 16

typedef struct postgresql_session {
    sql_session session;
    postgresql_options *options; /* those of a clone belong to the first session */
    bool is_clone; /* goes to the same server, which has `host` and `peer` from the first one */
    char peer[64]; /* an address in digits; "": there is none, as of a Unix socket */

    postgresql_stage stage;
    size_t host; /* index in options->hosts of the host being tried */
    latch_resolution *resolution;
    const struct addrinfo *address; /* of that host; NULL: it needs none */
    int64_t attempt_ns;             /* end of the attempt at this address */
    PGconn *connection;
    latch_descriptor descriptor; /* the connection's socket */
    bool has_descriptor;
    unsigned settings_sent; /* number of attempts to set the session up */

    char number[24];                   /* the session's, as text */
    unsigned prepared;                 /* bits: which templates or forms the server knows */
    unsigned preparing;                /* the bit of the one that was sent last */
    char *forms[POSTGRESQL_FORMS_MAX]; /* those that were met; NULL: no more */
    bool has_moved;      /* a statement has met another session: there is a pooler all the same */
    bool is_just_sent;   /* no reply can have come yet */
    bool is_busy;        /* the answer is not complete */
    bool is_unsent;      /* the socket has not taken all of the statement */
    sql_outcome outcome; /* of the reply so far */
    sql_result result;
} postgresql_session;

postgresql_session *latch_postgresql_session_of(sql_session *session);

/* ---- connection.c */

latch_status latch_postgresql_connect(sql_session *base, latch_op *op, int64_t now_ns);
void latch_postgresql_disconnect(sql_session *base);

/* ---- prepared.c */

/* Sends a statement that is worth preparing, or prepared. False: it is to be sent as a text. */
bool latch_postgresql_send_prepared(postgresql_session *session, const sql_statement *statement);
void latch_postgresql_free_forms(postgresql_session *session);

/* ---- driver.c */

/* Records that libpq has taken a statement; `sent` is its answer. A failure shows in the reply: the
 * connection is broken. */
void latch_postgresql_record_sent(postgresql_session *session, int sent);
/* Sends a text of one statement or more, of which the last one answers. */
void latch_postgresql_send_text(postgresql_session *session, const char *text);
sql_outcome latch_postgresql_receive(sql_session *base, sql_result *result);
void latch_postgresql_want(const sql_session *base, latch_op *op);
/* Copies the first line of a message of libpq or the server into `text`. */
void latch_postgresql_quote(char *text, size_t size, const char *message);

#endif
