/* What the tests of the MySQL store share: stores on the test program's server, and leases. */
#ifndef MYSQL_STORE_H
#define MYSQL_STORE_H

#include "mysql_server.h"

/* unit.store and another one, each with a session of its own; and their end. */
int mysql_store_setup(void **state);
/* The same on the server as it is, for a test that has started it with options. */
int mysql_store_setup_on_server(void **state);
/* Behind which no lock and no session may be left in the server, if it runs. */
int mysql_store_teardown(void **state);

/* A store of that DSN, formatted as by printf(), closed at the test's end. NULL and unit.error. */
latch_store *mysql_open(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A new lease in unit.store, in the other store, or in any. */
latch_lease *mysql_lease(const char *resource);
latch_lease *mysql_other_lease(const char *resource);
latch_lease *mysql_lease_in(latch_store *store, const char *resource);
/* In the middle of a test: drops all leases, and closes all stores but those two. */
void mysql_store_forget(void);

/* The lock's name in the server: valid until the next call. */
const char *mysql_name(const char *resource);
/* The session that holds it, by what the server has; 0: nobody does. */
long long mysql_holder(const char *resource);
/* Returns when nobody does. */
void mysql_await_free(const char *resource);
/* Ends a session, as its administrator does; returns when it is gone. */
void mysql_end_session(long long number);
/* Has the session known that it was ended, which takes the kernel a moment? */
void mysql_await_loss(latch_lease *lease);

/* Begins an acquire that waits, and returns when it does in the server, or has ended. */
latch_status mysql_begin_wait(latch_op *op, latch_lease *lease, int64_t timeout_ms);
/* Did it fail as the store's server or its connection does, with this in its message? */
bool mysql_failed(latch_status status, const char *message);
/* The store can be used, and nothing stands in the way of whoever wants the lock. */
void mysql_expect_working(latch_lease *lease);

#define MYSQL_TEST(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, mysql_store_setup, mysql_store_teardown)

#endif
