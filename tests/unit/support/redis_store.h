/*
 * What the tests of the Redis store share: stores on the test program's server, and a wire between
 * a store and the server that a test can cut where it likes.
 */
#ifndef REDIS_STORE_H
#define REDIS_STORE_H

#include "redis_server.h"

#define MINUTE INT64_C(60000)

/* ---- Stores */

/* unit.store and another one, each with a connection of its own; and their end. */
int redis_store_setup(void **state);
int redis_store_teardown(void **state);

/*
 * The same end for a test of waits, behind which no lock, no queue and nothing else may be left
 * when who holds has released. (But where its stores are on a wire: who would pass it?)
 */
int redis_wait_teardown(void **state);

/* In the middle of a test: drops all leases, closes all stores but those two and the wire, and
 * removes what the server has. */
void redis_store_forget(void);
/* The same with all stores, and whatever server they have. */
void redis_store_close_all(void);

/* A store of that DSN, formatted as by printf(), closed at the test's end. NULL and unit.error. */
latch_store *redis_open(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A new lease in unit.store, in the other store, or in any. */
latch_lease *redis_lease(const char *resource);
latch_lease *redis_other_lease(const char *resource);
latch_lease *redis_lease_in(latch_store *store, const char *resource);

/* With a TTL of a minute, or of so much. */
latch_request redis_request(latch_op_kind kind);
latch_request redis_request_for(latch_op_kind kind, int64_t ttl_ms);
latch_request redis_detached_release(void);
/* An acquire that waits so long at most. */
latch_request redis_waiting(latch_op_kind kind, int64_t ttl_ms, int64_t timeout_ms);
/* The same with a TTL of a minute, for as long as it takes. */
latch_request redis_wait_to_write(void);
latch_request redis_wait_to_read(void);
latch_status redis_run(latch_lease *lease, latch_op_kind kind);
latch_status redis_run_for(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms);

/* Begins a request and returns when it has been sent, before any step that could see an answer. */
void redis_send(latch_op *op, latch_lease *lease, latch_request request);
/* The same for an operation that has to connect anew. */
latch_status redis_step_until_sent(latch_op *op, latch_status status);
/* The store can be used, and nothing stands in the way of whoever wants the lock. */
void redis_expect_working(latch_lease *lease);
/* Else the test fails, with the request's own error. */
void redis_expect_done(latch_status status);
/* Did it fail as the store's server or its connection does, with this in its message? */
bool redis_failed(latch_status status, const char *message);

/* ---- Waits */

/* What a request that waits is about, as far as this process knows. */
typedef enum {
    AT_CONNECTING,
    AT_TRYING,      /* the first try is on its way */
    AT_SUBSCRIBING, /* the second connection is being made, or SUBSCRIBE is on its way */
    AT_ASKING,      /* "wait" or "check" is on its way */
    AT_WAITING,     /* it knows its place; nothing is on its way */
    AT_POLLING,
    AT_CLAIMING,
    AT_PAUSING, /* between two tries, as it is not to be told */
} redis_moment;

redis_moment redis_moment_of(const latch_op *op);
/* Steps until that moment, or until the operation has ended. */
latch_status redis_step_until(latch_op *op, latch_status status, redis_moment moment);
/* Begins a wait, and returns when the lease has its place in the queue and knows it. */
void redis_begin_wait(latch_op *op, latch_lease *lease, latch_request request);
/*
 * Steps first: another request of the store may have read what this one waits for, so that the
 * socket will not tell of it.
 */
latch_status redis_finish_outer(latch_op *op);
/* The step that finds that the deadline of a wait has come. */
latch_status redis_time_out(latch_op *op);
/* How many wait, by what the server has. */
long long redis_count_waiters(const char *resource);
/* Returns when so many do; fails when there are others for long. */
void redis_await_waiters(const char *resource, long long count);
/* Returns when nobody holds the lock; fails when somebody does for long. */
void redis_await_free(const char *resource);
/* Returns when the server has so many keys; fails when it has others for long. */
void redis_await_keys(long long count);
/* Nobody holds or waits, and nothing is left in the server but the fencing counter. */
void redis_expect_nothing_left(void);

/* Lets nothing happen in the server for a while, and lets it happen. */
void redis_hold_server(void);
void redis_let_server_go(void);
/* From now on the store awaits each answer for so long. Where a server is to answer that is much,
 * as a machine may stand still; so nothing that is meant to time out does it before its time. */
void redis_set_command_timeout(latch_store *store, int64_t ms);
/* Whether anybody holds the lock, by what the server has. */
bool redis_is_free(const char *resource);
/* How often a command was carried out, also by scripts, since what was before is forgotten. */
void redis_forget_calls(void);
long long redis_count_calls(const char *command);

#define REDIS_TEST(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, redis_store_setup, redis_store_teardown)

#define REDIS_WAIT_TEST(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, redis_store_setup, redis_wait_teardown)

/* ---- The wire: nothing passes it but by these calls */

/*
 * A store makes two connections: for its commands, and for the messages to it. The calls below are
 * about the first one, until redis_wire_use() says otherwise.
 */
typedef enum { REDIS_COMMANDS, REDIS_MESSAGES, REDIS_LINES } redis_line;

void redis_wire_use(redis_line line);

/* Listens on a socket for a store, which is opened on it. */
latch_store *redis_wire_open(const char *options);
latch_store *redis_wire_open_as(const char *scheme, const char *options);
/* Has the store made a connection that was not taken yet? */
bool redis_wire_is_wanted(void);
/* Takes the connection that the store has made, and makes one to the server. */
void redis_wire_accept(void);
/* Awaits what the store sends, and passes it on. */
void redis_wire_pass_command(void);
/* Awaits what the store sends, and keeps it. */
void redis_wire_take_command(void);
/* Awaits what the server answers, and passes so much of it on, or none. */
void redis_wire_pass_reply(size_t most);
/* Carries a whole request out. */
latch_status redis_wire_exchange(latch_lease *lease, latch_op_kind kind);
/* A lease in a store on a wire that is connected, to a server that knows all scripts; it holds in
 * that mode. */
latch_lease *redis_lease_on_wire(latch_mode mode);
/* Lets everything pass for so long, and takes connections as they are made. */
void redis_wire_pass_all(int ms);
/* Answers in the place of the server. */
void redis_wire_answer(const char *text);
/*
 * Lets everything pass, and takes connections as they are made, until the operation has come to
 * that moment, or to its end. Connections are taken for commands first.
 */
latch_status redis_wire_step_until(latch_op *op, latch_status status, redis_moment moment);
/* The same until its end. */
latch_status redis_wire_finish(latch_op *op, latch_status status);
/* Hangs up on both sides. */
void redis_wire_cut(void);
/* Listens no longer. */
void redis_wire_close(void);

#endif
