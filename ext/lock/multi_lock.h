/*
 * Inside Latch\MultiLock: multi_lock.c (the class), multi_acquire.c (all members or none).
 *
 * A MultiLock consists of Locks, its members, one for each resource: hidden objects, to which no
 * other PHP code has a reference. So each store, each ending of the script, renewal, logger and the
 * check for deadlocks works as for a Lock, and nothing below this folder knows of MultiLocks.
 */
#ifndef PHP_LATCH_MULTI_LOCK_H
#define PHP_LATCH_MULTI_LOCK_H

#include "ext/lock/keep_alive.h"
#include "ext/lock/lock.h"

/* Most members of a MultiLock. */
#define PHP_LATCH_MULTI_LOCK_MAX 10000

typedef struct php_latch_multi_member {
    php_latch_lock *lock; /* a reference; the same store, TTL and automatic release in all */
    bool is_shared;       /* acquire() takes it for reading, too */
} php_latch_multi_member;

struct php_latch_multi_lock {
    php_latch_multi_member *members; /* in the byte order of their names; NULL: none yet */
    size_t count;
    zval callbacks;  /* of onLost(): an array of closures; or undefined */
    latch_mode mode; /* SHARED: by acquireRead(); EXCLUSIVE: by acquire(), each in its own mode */
    bool is_busy;    /* one of its methods is under way */
    bool is_taking;  /* and has not taken all members yet */
    unsigned generation; /* of the process that has begun to acquire it */
    uint64_t hold;       /* number of the present hold, or attempt, from 1 on */
    uint64_t no_news;    /* of this hold, and earlier ones, no loss is to be reported any more */
    zend_object std;
};

/* A resource of a MultiLock that is to be made. */
typedef struct php_latch_multi_resource {
    zend_string *name;
    bool is_shared;
} php_latch_multi_resource;

/* ---- multi_lock.c */

php_latch_multi_lock *php_latch_multi_lock_from(zend_object *object);
/* False after throwing: it has no members, as unserialize() made it. */
bool php_latch_multi_lock_check_made(const php_latch_multi_lock *multi);
/* acquire() and release() */
latch_status php_latch_multi_lock_call_acquire(php_latch_multi_lock *multi, latch_op_kind kind,
                                               bool blocking, int64_t deadline_ns);
void php_latch_multi_lock_call_release(php_latch_multi_lock *multi);

/*
 * A new MultiLock of the factory's, for 1 to PHP_LATCH_MULTI_LOCK_MAX resources in their order; or
 * an exception.
 */
void php_latch_multi_lock_make(zval *return_value, zend_object *factory,
                               const php_latch_multi_resource *resources, size_t count, double ttl,
                               bool ttl_is_null, bool auto_release);
/* `multi-lock of "NAME" and N more`, for messages; a new reference. */
zend_string *php_latch_multi_lock_describe(const php_latch_multi_lock *multi);
/*
 * Calls for each member, whatever calls before it have thrown: the first exception, or an exit,
 * goes on. None may be pending before.
 */
void php_latch_multi_lock_for_each(php_latch_multi_lock *multi, void (*call)(php_latch_lock *lock));
/* Is each member held, as far as is known, without a request? */
bool php_latch_multi_lock_is_held(const php_latch_multi_lock *multi);

/* ---- multi_acquire.c */

/*
 * LATCH_DONE when all members are acquired. Else a hold from before goes on, as a promotion was
 * refused, or nothing is held; and an exception may be pending.
 */
latch_status php_latch_multi_lock_acquire(php_latch_multi_lock *multi, latch_op_kind kind,
                                          bool blocking, int64_t deadline_ns);
/* Releases all members; leaves the first exception. None may be pending before. */
void php_latch_multi_lock_release(php_latch_multi_lock *multi);

#endif
