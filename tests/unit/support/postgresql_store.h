/* What the tests of the PostgreSQL store share: stores, each with a session of its own. */
#ifndef POSTGRESQL_STORE_H
#define POSTGRESQL_STORE_H

#include "postgresql_server.h"

#define MINUTE INT64_C(60000)

/* unit.store and another one on the test program's server, and their end, behind which nothing is
 * held or waited for. */
int postgresql_store_setup(void **state);
int postgresql_store_teardown(void **state);

/* A store of that DSN, with what is formatted behind it, closed at the test's end. NULL and
 * unit.error. */
latch_store *postgresql_open(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* In the middle of a test: drops all leases, and closes the store that was opened last, if it is
 * not one of those two. */
void postgresql_close_last(void);
/* A new lease in unit.store, in the other store, or in any. */
latch_lease *postgresql_lease(const char *resource);
latch_lease *postgresql_other_lease(const char *resource);
latch_lease *postgresql_lease_in(latch_store *store, const char *resource);

latch_request postgresql_detached_release(void);
/* The server's number for a resource, as Symfony's crc32(). */
uint32_t postgresql_number_of(const char *resource);
/* The number of the session that a store has: the only one besides `other`; 0 = none. */
long long postgresql_session(void);
/* Begins a wait, and returns when the server has queued it: there are so many then. */
latch_status postgresql_begin_wait(latch_op *op, latch_lease *lease, latch_request request,
                                   size_t waiting);
/* Did it fail as the store's server or its connection does, with this in its message? */
bool postgresql_failed(latch_status status, const char *message);

#define POSTGRESQL_TEST(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, postgresql_store_setup, postgresql_store_teardown)

#endif
