/*
 * Versions, throttles, count-downs, sequences and debounces: functions of a store that are called
 * by LATCH_CALL. sync.c has what their objects share, sync_factory.c makes them.
 */
#ifndef PHP_LATCH_SYNC_H
#define PHP_LATCH_SYNC_H

#include "ext/php_latch.h"

/* Object of Latch\SyncFactory, or of a class that it makes. */
typedef struct php_latch_sync {
    zend_object *store;    /* a reference; NULL until constructed */
    zend_string *resource; /* a reference; NULL of a factory */
    int64_t ttl_ms;
    int64_t step_us, burst_us; /* of a throttle */
    int64_t lease_ms;          /* of a sequence */
    zend_string *owner;        /* a reference; of a sequence; NULL: none yet */
    bool is_owner_given;
    unsigned owner_generation; /* else: latch_engine_generation() where it was made */
    int64_t quiet_us, max_us;  /* of a debounce */
    zend_object std;
} php_latch_sync;

/* create_object of the classes. */
zend_object *php_latch_sync_create(zend_class_entry *ce);
php_latch_sync *php_latch_sync_of(zend_object *object);
void php_latch_sync_startup(void);

/* Makes the result of a PHP method of an answer, which has as many parts as were asked for. */
typedef void (*php_latch_sync_maker)(void *context, const latch_answer *answer);

/* A call, and what becomes of its answer. */
typedef struct php_latch_sync_task {
    latch_call call;
    php_latch_sync_maker make; /* or NULL: no result */
    void *context;
    int64_t deadline_ns; /* monotonic end of a call that waits; 0: it does not */
} php_latch_sync_task;

/* Task of a function, without arguments yet. */
php_latch_sync_task php_latch_sync_task_of(latch_function function, php_latch_sync_maker make,
                                           void *context);

/*
 * Carries it out. False after throwing; an exception of `make` counts, too. `make` is not called
 * when a wait has ended at its deadline.
 */
bool php_latch_sync_run(const php_latch_sync *sync, php_latch_sync_task *task);

/* Adds an argument to the call: a text that outlives it, a number in `digits`, a truth. */
void php_latch_sync_add(latch_call *call, const char *text, size_t length);
void php_latch_sync_add_number(latch_call *call, char digits[24], int64_t number);
void php_latch_sync_add_truth(latch_call *call, bool truth);

/* Parts of an answer. */
bool php_latch_sync_is(const latch_answer *answer, size_t part, const char *text);
zend_long php_latch_sync_number(const latch_answer *answer, size_t part);

/*
 * Deadline of a wait in monotonic ns, LATCH_NEVER without one. False after throwing: the time-out,
 * argument `number`, is no number of seconds.
 */
bool php_latch_sync_deadline(uint32_t number, double timeout, bool is_null, int64_t *deadline_ns);

/* Throws an InvalidArgumentException: "The "RESOURCE" REST". */
void php_latch_sync_throw(const php_latch_sync *sync, const char *rest);

/* False after throwing: no ticket, or token, is that low. It is the first argument. */
bool php_latch_sync_check_ticket(zend_long ticket, const char *name);
/* A Latch\Turn of an answer {turn, retry_us}, as a maker whose context is a zval. */
void php_latch_sync_make_turn(void *context, const latch_answer *answer);

void php_latch_register_sync(void);
extern zend_class_entry *php_latch_arrival_ce, *php_latch_place_ce, *php_latch_turn_ce,
    *php_latch_entry_ce, *php_latch_occurrence_ce;

#endif
