/*
 * Inside Latch\Lock: lock.c (its methods), synchronized.c (one of them), lock_store.c (requests to
 * its store), lifecycle.c (its end), keep_alive.c and lost_locks.c (its renewal), deadlock.c; and
 * Latch\MultiLock (multi_lock.h), which consists of Locks.
 *
 * An object of Latch\Semaphore\Semaphore is a php_latch_lock as well, and has these methods: its
 * key says what it is (php_latch_lock_primitive()). What is said of a lock here holds for the
 * permits of a semaphore.
 */
#ifndef PHP_LATCH_LOCK_H
#define PHP_LATCH_LOCK_H

#include "ext/key/key.h"
#include "ext/key/lease.h"

typedef struct php_latch_keep_alive php_latch_keep_alive; /* keep_alive.h */
typedef struct php_latch_multi_lock php_latch_multi_lock; /* multi_lock.h */

typedef struct php_latch_lock {
    zend_object *key, *store; /* NULL until constructed */
    zend_object *logger;      /* may be NULL */
    union {
        php_latch_lease *lease; /* of a store written in PHP, once there is one: a reference */
        php_latch_keep_alive *keep_alive; /* of a store of the engine; NULL: no renewal requested */
    };
    struct lock_clones *clones; /* shared with its original and clones; NULL: it has none */
    double ttl;                 /* seconds; 0 = none */
    unsigned generation;        /* of the process that made or acquired it */
    bool native;                /* the engine drives the store */
    bool auto_release;
    bool dirty;                   /* acquired, as far as this object knows (Symfony's word) */
    bool overtakes : 1;           /* a Semaphore: latch_permits.overtakes of its acquires */
    unsigned char counted_as : 2; /* of php_latch_counted */
    zend_object std;
} php_latch_lock;

static inline php_latch_lock *php_latch_lock_from(zend_object *object)
{
    return LATCH_CONTAINER(object, php_latch_lock, std);
}

/* The primitive that the Lock is, once it is constructed. */
static inline const php_latch_primitive *php_latch_lock_primitive(const php_latch_lock *lock)
{
    return php_latch_key_primitive(lock->key);
}

/* Its counters. */
static inline php_latch_statistics *php_latch_lock_statistics(const php_latch_lock *lock)
{
    return &LATCH_G(statistics)[lock->counted_as];
}

void php_latch_register_lock(void);
void php_latch_register_no_lock(void);
void php_latch_register_lock_factory(void);
void php_latch_register_multi_lock(void);

/* A new Lock, or Semaphore, on `key` in `store`; the logger may be NULL; TTL 0 = none. */
void php_latch_lock_make(zval *return_value, zend_object *key, zend_object *store, double ttl,
                         bool auto_release, zend_object *logger);

/* ---- lock_factory.c */

/* The product of a factory for a key, which was made by its createLock() or the like; or an
 * exception. */
void php_latch_factory_make(zval *return_value, zend_object *factory, zend_object *key, double ttl,
                            bool ttl_is_null, bool auto_release);
/*
 * The same for a new key, which it consumes: by the method `from_key` of a subclass of the factory,
 * as Symfony's do.
 */
void php_latch_factory_make_new(zval *return_value, zend_object *factory, zval *key, double ttl,
                                bool ttl_is_null, bool auto_release, const char *from_key);
/* The store of a factory of that primitive, not a new reference; NULL after throwing. */
zend_object *php_latch_factory_store(zend_object *factory, const php_latch_primitive *primitive);
/* Sets the factory's store: its constructor. */
void php_latch_factory_set_store(zend_object *factory, zend_object *store);

/* ---- lock.c */

/* False after throwing: a Lock that ReflectionClass made without its constructor. */
bool php_latch_lock_check_constructed(const php_latch_lock *lock);
/* False after throwing: the constructor has been called before. */
bool php_latch_lock_check_new(const php_latch_lock *lock);
/* The end of a wait; LATCH_NEVER without timeout. False after throwing: argument `number` is bad.
 */
bool php_latch_lock_deadline(const php_latch_lock *lock, uint32_t number, bool blocking,
                             double timeout, bool timeout_is_null, int64_t *deadline_ns);
/* LATCH_DONE when the lock is acquired; else it is not, and an exception may be pending. */
latch_status php_latch_lock_acquire(php_latch_lock *lock, latch_op_kind kind, bool blocking,
                                    int64_t deadline_ns);
/* The same, after php_latch_lock_save() with that outcome. */
latch_status php_latch_lock_after_save(php_latch_lock *lock, latch_op_kind kind, bool blocking,
                                       int64_t deadline_ns, php_latch_outcome outcome);
/* Leaves an exception when the release failed. */
void php_latch_lock_release(php_latch_lock *lock);
/* The same, after a request to the store. */
void php_latch_lock_after_release(php_latch_lock *lock, php_latch_outcome outcome);
/* Sends a probe to the store; false also after throwing. */
bool php_latch_lock_is_acquired(php_latch_lock *lock);
/* The TTL of a refresh(), the first argument of the active function; NULL: the Lock's own. False
 * after throwing. */
bool php_latch_lock_refresh_ttl(const php_latch_lock *lock, double *ttl, bool ttl_is_null);
/* Leaves an exception when the lock was not renewed for so many seconds. */
void php_latch_lock_refresh(php_latch_lock *lock, double ttl);

/* ---- lock_store.c */

/* A native Lock's request that is about to be carried out. */
typedef struct php_latch_prepared {
    php_latch_lease *lease; /* a reference */
    latch_mode before;
} php_latch_prepared;

/*
 * The two halves of each request of a native Lock: what comes before php_latch_run_request(), and
 * what comes after it; for requests side by side. False with the outcome: it cannot be carried out.
 */
bool php_latch_lock_prepare_request(php_latch_lock *lock, const latch_request *request,
                                    php_latch_prepared *prepared, php_latch_outcome *outcome);
php_latch_outcome php_latch_lock_complete_request(php_latch_lock *lock,
                                                  const latch_request *request,
                                                  const php_latch_prepared *prepared,
                                                  latch_status status, const latch_error *error);
/* The request of php_latch_lock_save(), and what it records of a success. */
latch_request php_latch_lock_save_request(const php_latch_lock *lock, latch_op_kind kind,
                                          bool blocking, int64_t deadline_ns);
void php_latch_lock_record_saved(php_latch_lock *lock);
php_latch_outcome php_latch_lock_save(php_latch_lock *lock, latch_op_kind kind, bool blocking,
                                      int64_t deadline_ns);
php_latch_outcome php_latch_lock_put_off(php_latch_lock *lock, double ttl);
/* `detach`: without awaiting the answer, where the store can do that safely. `was_held`: a store
 * with a server that tells sets it; may be NULL. */
php_latch_outcome php_latch_lock_delete(php_latch_lock *lock, bool detach, bool *was_held);
php_latch_outcome php_latch_lock_exists(php_latch_lock *lock, bool *exists);
/*
 * Do some members of a combined store, as far as is known, still hold a lock that is lost because
 * they are too few? Without members written in PHP.
 */
bool php_latch_lock_holds_in_members(const php_latch_lock *lock);
/* Releases it in these members, without a log line. */
void php_latch_lock_release_in_members(php_latch_lock *lock);
/* May a renewal take the TTL away from it? */
bool php_latch_lock_may_be_endless(const php_latch_lock *lock);
/* TTL of its requests; 0 = none. */
int64_t php_latch_lock_ttl_ms(const php_latch_lock *lock);
/* The last known mode of the lock, be it ours alone or not. */
latch_mode php_latch_lock_mode(const php_latch_lock *lock);
/* Is the lock held, as far as is known, without a request? */
bool php_latch_lock_is_held(const php_latch_lock *lock);
/* Hold from an acquire on: detects whether it was lost meanwhile. */
typedef struct php_latch_hold {
    php_latch_lease *lease; /* a reference; NULL: nothing is known of the lock */
    uint8_t losses;         /* of the lease, at the beginning */
    bool is_certain;        /* it was held then, as far as is known; never in a NullStore */
} php_latch_hold;

void php_latch_lock_begin_hold(const php_latch_lock *lock, php_latch_hold *hold);
/* Was the lock lost? Sends a request if need be. A lock that was released was not lost. */
bool php_latch_lock_lost_hold(php_latch_lock *lock, const php_latch_hold *hold);
void php_latch_lock_end_hold(php_latch_hold *hold);
/* 0 when there is none. */
uint64_t php_latch_lock_fencing_token(const php_latch_lock *lock);

/* ---- keep_alive.c: of Locks in stores of the engine */

ZEND_INI_MH(php_latch_update_max_hold);
/* Starts renewal of the lease as the Lock requests; to be called before each acquire. */
latch_status php_latch_lock_start_renewal(php_latch_lock *lock, php_latch_lease *lease,
                                          latch_error *error);
/* False after throwing: the argument of keepAlive(). *max_hold_ms gets its value, or the setting's.
 */
bool php_latch_lock_max_hold(const php_latch_lock *lock, double max_hold, bool max_hold_is_null,
                             int64_t *max_hold_ms);
/* keepAlive(), with 0 = without a limit; false after throwing. */
bool php_latch_lock_keep_alive(php_latch_lock *lock, int64_t max_hold_ms);
/* onLost() of the MultiLock; false after throwing. */
bool php_latch_lock_watch(php_latch_lock *lock, php_latch_multi_lock *multi);
/* The MultiLock reports losses of this member in its place; NULL: not any more. */
void php_latch_lock_join_multi_lock(php_latch_lock *lock, php_latch_multi_lock *multi);
/* Parses the argument of onLost(); a closure, or undefined after throwing. */
void php_latch_lock_parse_callback(INTERNAL_FUNCTION_PARAMETERS, zval *closure);
/* Adds it to the array, which may be undefined. */
void php_latch_lock_add_callback(zval *callbacks, zval *closure);
void php_latch_lock_free_keep_alive(php_latch_lock *lock);
/* The clone has the same settings. */
void php_latch_lock_clone_keep_alive(php_latch_lock *to, const php_latch_lock *from);
/* The callbacks of onLost(), for the cycle collector; or NULL. */
zval *php_latch_lock_callbacks(const php_latch_lock *lock);
void php_latch_lock_record_acquired(const php_latch_lock *lock);
/* Counts a loss that was not reported yet: after a release it would never be. */
void php_latch_lock_collect_loss(const php_latch_lock *lock);
/* Was it lost, and not acquired or released since? */
bool php_latch_lock_clear_loss(const php_latch_lock *lock);

/* ---- synchronized.c */

/*
 * Calls with the pending exception set aside, as before a destructor. An exception of the call
 * comes on top, as from a finally block; but an exit() goes on.
 */
void php_latch_lock_call_aside(void (*call)(void *context), void *context);

/* ---- lifecycle.c */

void php_latch_lock_init(php_latch_lock *lock, zend_object *key, zend_object *store, double ttl,
                         bool auto_release, zend_object *logger);
void php_latch_lock_set_dirty(php_latch_lock *lock, bool dirty);
/* Keeps the lease in a store written in PHP for as long as a Lock uses it. */
void php_latch_lock_use_lease(php_latch_lock *lock, php_latch_lease *lease);
/* Records that this process acquired it, and is to release it. */
void php_latch_lock_claim(php_latch_lock *lock);
/* False in a child of the process that acquired it. */
bool php_latch_lock_is_ours(const php_latch_lock *lock);
/* __destruct() */
void php_latch_lock_destruct(php_latch_lock *lock);
/*
 * The same for a member of a MultiLock that ends: false: its store has failed. Without `reports`
 * such a failure, one of many, is neither thrown nor a warning.
 */
bool php_latch_lock_destruct_member(php_latch_lock *lock, bool reports);
/* Releases where no PHP code may run, if the engine can: else only an automatic release does. */
void php_latch_lock_free(php_latch_lock *lock);
/*
 * Releases after a fatal error, if it is held: at once if the engine can, else when the request
 * ends, whether it is to be released automatically or not.
 */
void php_latch_lock_abandon(php_latch_lock *lock);
/* Completes a class whose objects are php_latch_lock. */
void php_latch_lock_finish_class(zend_class_entry *ce);
/* Releases what is still locked at the end of the request, however it ended. */
void php_latch_release_all(void);

/* ---- lost_locks.c */

/* Hooks into the VM's interrupts. */
void php_latch_lost_locks_startup(void);
void php_latch_lost_locks_shutdown(void);
/* Drops the parent's notices, in a forked child. */
void php_latch_lost_locks_drop_notices(void);

/* ---- deadlock.c */

/* Sets the poll loop's deadlock detector. */
void php_latch_deadlock_startup(void);

#endif
