/*
 * A PostgreSQL server of this test program's own: see sql_server.h. A test that cannot have it
 * fails.
 */
#ifndef POSTGRESQL_SERVER_H
#define POSTGRESQL_SERVER_H

#include "sql_server.h"

#include <libpq-fe.h>

typedef struct unit_postgresql_server {
    unit_sql_server server;
    PGconn *connection; /* the administrator's, by the socket */
    /* The user "latch" in the database "latch", password included. */
    char dsn[256], url[256];               /* by TCP */
    char socket_dsn[512], socket_url[512]; /* by the socket */
} unit_postgresql_server;

extern unit_postgresql_server unit_postgresql;

/* For cmocka's groups: starts it, and ends it. */
int unit_postgresql_group_setup(void **state);
int unit_postgresql_group_teardown(void **state);
/*
 * For cmocka's tests: the server as it was when it was new, whatever the test before has done to
 * it: running, without options, settings, and sessions of others.
 */
int unit_postgresql_setup(void **state);

/* Starts it with these options more, NULL at their end; returns when it answers. */
void unit_postgresql_start(const char *const *options);
/* As its operator ends it, with the sessions that there are, and as a crash does; returns when
 * all of its processes are gone. */
void unit_postgresql_stop(void);
void unit_postgresql_kill(void);
/* Halts all of its processes, until it thaws. */
void unit_postgresql_freeze(void);
void unit_postgresql_thaw(void);

/*
 * The server's answer to a statement of the administrator, formatted as for printf(): its first
 * value ("" for NULL; valid until the next one), as a number, or of no interest. An error is a
 * failed test.
 */
const char *unit_postgresql_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
long long unit_postgresql_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
void unit_postgresql_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How many advisory locks are held, and waited for, by all sessions. */
size_t unit_postgresql_count_held(void);
size_t unit_postgresql_count_waiting(void);
/* Sessions that are not the administrator's. */
size_t unit_postgresql_count_sessions(void);
/* Return when there are so many. */
void unit_postgresql_await_held(size_t count);
void unit_postgresql_await_waiting(size_t count);
void unit_postgresql_await_sessions(size_t count);
/* Ends all sessions that are not the administrator's; returns when they are gone. */
void unit_postgresql_end_sessions(void);

/* A session that locks with nothing of Latch in it, as any foreign program. */
typedef struct unit_postgresql_peer {
    PGconn *connection;
    int pid; /* of its process in the server */
} unit_postgresql_peer;

unit_postgresql_peer unit_postgresql_peer_open(void);
/* LOCK_EX, LOCK_SH, or LOCK_UN, which gives back one of either. */
bool unit_postgresql_peer_try(const unit_postgresql_peer *peer, int operation, int64_t number);
/* Asks, without awaiting it; awaits what was asked. */
void unit_postgresql_peer_wait(const unit_postgresql_peer *peer, int operation, int64_t number);
void unit_postgresql_peer_has(const unit_postgresql_peer *peer);
void unit_postgresql_peer_close(unit_postgresql_peer *peer);

#define UNIT_POSTGRESQL_TEST(test)                                                                 \
    cmocka_unit_test_setup_teardown(test, unit_postgresql_setup, NULL)

#endif
