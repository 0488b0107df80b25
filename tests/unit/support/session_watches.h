/*
 * Sessions with a server of a database that hold locks which are watched: what holds for all such
 * servers. A test program names its own by `watched`, has the tests SESSION_WATCH_TESTS, and adds
 * those that are its server's alone, by WATCH_TEST.
 */
#ifndef SESSION_WATCHES_H
#define SESSION_WATCHES_H

#include "watches.h"

typedef struct watched_way {
    const char *dsn, *options; /* which go behind it */
} watched_way;

enum { BY_TCP, BY_SOCKET, BY_TLS, WATCHED_WAYS };

typedef struct watched_server {
    /* unit.store and another one, and their end: mysql_store.h, postgresql_store.h. */
    int (*setup)(void **state);
    int (*teardown)(void **state);
    latch_store *(*open)(const char *format, ...);
    latch_lease *(*lease_in)(latch_store *store, const char *resource);
    latch_lease *(*other_lease)(const char *resource);
    void (*close_last)(void); /* of the stores that a test has opened, with all leases */
    watched_way ways[WATCHED_WAYS];
    watched_way impatient[2]; /* who waits for an answer for a second: in plain, and by TLS */
    /* It closes the connection of a session that it ends before it frees the lock. */
    bool frees_late;

    void (*end_session_of)(const char *resource);
    void (*disturb_session_of)(const char *resource); /* which goes on */
    void (*end_sessions)(void);
    void (*stop)(void);
    void (*kill)(void);
    void (*start)(const char *const *options);
    void (*freeze)(void);
    void (*thaw)(void);
    void (*await_held)(size_t count);
    void (*await_sessions)(size_t count);
} watched_server;

extern const watched_server *watched; /* the program's own, before its first test */

extern latch_lease *session_lease; /* the test's, with a watch on it */
extern latch_watch session_watch;
extern latch_store *watched_stores[WATCHED_WAYS];

int session_watch_setup(void **state);
int session_watch_teardown(void **state);
/* The same with the renewal thread, for leases that are kept. */
int session_keep_setup(void **state);
int session_keep_teardown(void **state);

/* The lease holds "r" in that store, and is watched. */
void hold_and_watch(latch_store *store);

#define WATCH_TEST(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, session_watch_setup, session_watch_teardown)
#define KEPT_TEST(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, session_keep_setup, session_keep_teardown)

void a_session_in_use_is_no_loss(void **state);
void a_session_that_is_ended_is_a_loss(void **state);
void a_server_that_stops_is_a_loss(void **state);
void what_is_taken_anew_is_watched_anew(void **state);
void a_session_that_is_given_up_is_a_loss_and_free_in_the_server(void **state);
void a_store_that_is_closed_ends_its_session_despite_a_watch(void **state);
void the_exit_of_a_child_is_no_loss(void **state);
void a_loss_is_told_each_time(void **state);
void what_was_released_is_not_lost(void **state);
void a_store_that_is_closed_loses_nothing(void **state);
void all_that_a_session_held_is_lost_when_we_end_it(void **state);
void a_child_that_exits_is_no_loss(void **state);

#define SESSION_WATCH_TESTS                                                                        \
    WATCH_TEST(a_session_in_use_is_no_loss), WATCH_TEST(a_session_that_is_ended_is_a_loss),        \
        WATCH_TEST(a_server_that_stops_is_a_loss), WATCH_TEST(what_is_taken_anew_is_watched_anew), \
        WATCH_TEST(a_session_that_is_given_up_is_a_loss_and_free_in_the_server),                   \
        WATCH_TEST(a_store_that_is_closed_ends_its_session_despite_a_watch),                       \
        WATCH_TEST(the_exit_of_a_child_is_no_loss), KEPT_TEST(a_loss_is_told_each_time),           \
        KEPT_TEST(what_was_released_is_not_lost), KEPT_TEST(a_store_that_is_closed_loses_nothing), \
        KEPT_TEST(all_that_a_session_held_is_lost_when_we_end_it),                                 \
        KEPT_TEST(a_child_that_exits_is_no_loss)

#endif
