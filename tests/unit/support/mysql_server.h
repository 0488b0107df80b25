/*
 * A MariaDB server of this test program's own, or one of the MySQL that LATCH_MYSQL_SERVER of the
 * environment names: see sql_server.h. A test that cannot have it fails.
 */
#ifndef MYSQL_SERVER_H
#define MYSQL_SERVER_H

#include "sql_server.h"

#include <mysql.h>

typedef struct unit_mysql_server {
    unit_sql_server server;
    bool is_mariadb;
    MYSQL *connection; /* the administrator's, by the socket */
    char socket[UNIT_PATH + 16];
    /* The user "latch" in the database "latch", password included. */
    char dsn[256], url[256];               /* by TCP */
    char socket_dsn[512], socket_url[512]; /* by the socket */
} unit_mysql_server;

extern unit_mysql_server unit_mysql;

/* For cmocka's groups: starts it, and ends it. */
int unit_mysql_group_setup(void **state);
int unit_mysql_group_teardown(void **state);
/*
 * For cmocka's tests: the server as it was when it was new, whatever the test before has done to
 * it: running, without options, time-outs, and sessions of others.
 */
int unit_mysql_setup(void **state);

/* Starts it with these options more, NULL at their end; returns when it answers. */
void unit_mysql_start(const char *const *options);
/* As its operator ends it, with the sessions that there are, and as a crash does; returns when it
 * is gone. */
void unit_mysql_stop(void);
void unit_mysql_kill(void);
/* Halts it, until it thaws. */
void unit_mysql_freeze(void);
void unit_mysql_thaw(void);

/*
 * The server's answer to a statement of the administrator, formatted as for printf(): its first
 * value ("" for NULL; valid until the next one), as a number, or of no interest. An error is a
 * failed test.
 */
const char *unit_mysql_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
long long unit_mysql_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
void unit_mysql_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Limits the statements of sessions to come to so many milliseconds, but for 0. */
void unit_mysql_limit_statements(int ms);
/* A status variable of the whole server. */
long long unit_mysql_status(const char *name);

/* How many locks by name are held, and waited for, by all sessions. */
size_t unit_mysql_count_held(void);
size_t unit_mysql_count_waiting(void);
/* Sessions that are not the administrator's. */
size_t unit_mysql_count_sessions(void);
/* Return when there are so many. */
void unit_mysql_await_held(size_t count);
void unit_mysql_await_waiting(size_t count);
void unit_mysql_await_sessions(size_t count);
/* Ends all sessions that are not the administrator's; returns when they are gone. */
void unit_mysql_end_sessions(void);

/* A session that locks with nothing of Latch in it, as any foreign program. */
typedef struct unit_mysql_peer {
    MYSQL *connection;
    unsigned long id; /* of the connection, in the server */
} unit_mysql_peer;

unit_mysql_peer unit_mysql_peer_open(void);
bool unit_mysql_peer_try(const unit_mysql_peer *peer, const char *name);
/* Gives it back; was it this session's? */
bool unit_mysql_peer_give(const unit_mysql_peer *peer, const char *name);
/* Asks, without awaiting it; awaits what was asked. */
void unit_mysql_peer_begin_to_give(const unit_mysql_peer *peer, const char *name);
void unit_mysql_peer_wait(const unit_mysql_peer *peer, const char *name);
void unit_mysql_peer_has(const unit_mysql_peer *peer);
void unit_mysql_peer_close(unit_mysql_peer *peer);

#define UNIT_MYSQL_TEST(test) cmocka_unit_test_setup_teardown(test, unit_mysql_setup, NULL)

#endif
