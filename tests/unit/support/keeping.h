/* What the tests of kept leases share: a mailbox, and bounded waits for what the thread does. */
#ifndef UNIT_KEEPING_H
#define UNIT_KEEPING_H

#include "puppet_store.h"
#include "redis_store.h"

#include "src/renewal/renewal.h"

/* The test's mailbox; opened by unit_renewal_setup(), as are two stores of redis_store.h. */
extern latch_mailbox *unit_mailbox;

int unit_open_mailbox(void); /* 0 on success */
/* Lets all leases go before. */
void unit_close_mailbox(void);
int unit_renewal_setup(void **state);
int unit_renewal_teardown(void **state);

/* What unit_keep() and its like have them kept as. */
#define UNIT_KEEP                                                                                  \
    {                                                                                              \
        .renew = true, .ttl_ms = MINUTE                                                            \
    }
void unit_keep_as(latch_lease *lease, latch_renewal_spec spec);
/* Keeps it, by renewal, and without an end of the hold; that must go well. */
void unit_keep(latch_lease *lease);
/* Returns when a loss is to be read, and reads it. */
latch_loss unit_await_loss(void);
/* None is to be read. */
void unit_expect_no_loss(void);
/* The loss of that lease is to be read, and is the only one. */
void unit_expect_loss(latch_lease *lease, const char *reason);
/* The reason where the store says so. */
#define UNIT_GONE "it has another holder, or none any more"
/* Has it been said so often since the last time that there is something to read? */
void unit_expect_notices(int count);
/* Until when it is held, as far as the thread knows. */
int64_t unit_deadline_of(latch_lease *lease);
/* Returns when a renewal has failed since the last one that did not, and why; it is held still. */
const char *unit_await_failure(latch_lease *lease);
/* Returns when it is held for longer than now, by a renewal; fails when it is lost. */
void unit_await_renewal(latch_lease *lease);
/* Is a renewal on its way, for any lease? */
bool unit_is_renewing(void);
/* Sleeps; for time that has to pass. */
void unit_pass_ms(int64_t ms);

/* ---- The thread's work, done by the test: turn by turn, on a clock that stands still */

/* The thread is not started, as the test takes its turns; and it may be started again. */
void unit_stand_in_for_the_thread(void);
void unit_dismiss_the_stand_in(void);
/* Three puppets, a mailbox, and no thread; and their end. */
int unit_turns_setup(void **state);
int unit_turns_teardown(void **state);
/* A turn now. */
void unit_turn(void);
/* The one that the thread takes next by itself, at its time, after those that it was woken for. */
void unit_next_turn(void);
/* All that it takes until so many ms have passed; returns how many it took by itself. */
int unit_turns_for(int64_t ms);
/* Was the thread woken since it was asked last? */
bool unit_is_woken(void);

/* A new lease in the first puppet, which holds for PUPPET_TTL_MS and is kept; and since when. */
latch_lease *unit_keep_held_as(latch_renewal_spec spec);
latch_lease *unit_keep_held(void);
extern int64_t unit_begun_ns;
/* By which it is renewed; NULL while there is none. */
puppet_store *unit_clone(void);
/* Lets its first renewal be sent, which is not answered yet; returns when that was. */
int64_t unit_send_late(void);
/* Has a renewal answered that was late, and those after it. */
void unit_answer_now(puppet_answer answer);

#define UNIT_TURNS_TEST(test)                                                                      \
    cmocka_unit_test_setup_teardown(test, unit_turns_setup, unit_turns_teardown)

#define UNIT_RENEWAL_TEST(test)                                                                    \
    cmocka_unit_test_setup_teardown(test, unit_renewal_setup, unit_renewal_teardown)

#endif
