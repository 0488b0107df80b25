/*
 * Processes that wait for the lock of redis_sides.h, as the queue's scripts see them: a token, a
 * ticket and a channel, to which a real connection is subscribed for as long as they live. After
 * each request the keys are looked at: all expire, and a writer holds alone.
 */
#ifndef REDIS_WAITERS_H
#define REDIS_WAITERS_H

#include "redis_sides.h"

#define MINUTE INT64_C(60000)
#define WAITER_TTL (10 * MINUTE) /* of what they ask for */
#define CLAIM_MS 1000
#define SAFETY_MS 1100
#define HOLDER_INFO "web 7 /srv/a" /* that they leave when they hold */

typedef struct waiter {
    const char *token;
    size_t token_length;
    char channel[32];
    int ticket;                 /* of its wait */
    redisContext *subscription; /* NULL: it is dead */
} waiter;

typedef enum { REFUSED, PLACED, TAKEN } outcome;

typedef struct verdict {
    outcome outcome;
    int64_t fencing; /* 1 for a reader */
    int place, ms;
} verdict;

/* What the waiters say of peers: "", "peers" or "mute". */
extern const char *peers_word;

/* Also ends the waiters of the test before. The clock stands still, ahead of the server's. */
int redis_waiters_setup(void **state);
int redis_waiters_teardown(void **state);

#define WAITERS_TEST(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, redis_waiters_setup, redis_waiters_teardown)

waiter *new_waiter(const char *token);
waiter *new_waiter_on(const void *token, size_t token_length, const char *channel);
/* Its process ends; returns when the server knows that. */
void die(waiter *one);
void pass_ms(int64_t ms);

/* From here on all these ask for this lock; LOCK is that of each test's beginning. */
void use_lock(const void *name, size_t length);
/* Asks for the lock, as a writer ('w') or a reader ('r'). */
redisReply *try_ask(waiter *one, char mode, const char *manner);
verdict ask(waiter *one, char mode, const char *manner);
/* What is expected of that. */
void takes(waiter *one, char mode, const char *manner);
void is_refused(waiter *one, char mode, const char *manner);
/* The milliseconds after which it has to ask again. */
int is_placed(waiter *one, char mode, const char *manner, int place);
/* Releases, and waits no longer; was it a holder? */
redisReply *try_give_up(waiter *one);
bool give_up(waiter *one);
/* Waits no longer, and keeps what it holds. */
void leave_queue(waiter *one);

/* The next message is this one. */
void hears_granted(waiter *one);
void hears_granted_at_last(waiter *one); /* behind any number of "first" */
int hears_first(waiter *one);            /* the milliseconds */
void hears_requeue(waiter *one);         /* of LOCK */
void hears_test(waiter *one);
void hears_nothing(waiter *one);

bool holds(const char *token);
/* Its place in the queue, whatever it waits to be there; -1: it is not in it. */
int place_in_queue(const waiter *one);
size_t queue_length(void);

/* What must hold at any time. */
void check_keys(void);

#endif
