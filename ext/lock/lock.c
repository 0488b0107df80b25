/*
 * Latch\Lock: one holder's lock on one resource.
 *
 * The flow of each method is that of Symfony's Lock (7.4, Lock.php), or of its Semaphore where the
 * key is a semaphore's: the same log lines, exceptions and calls. The engine drives a native store,
 * in one request with the final TTL; a store written in PHP is called by its methods
 * (ext/store/callback_store.c).
 *
 * Fields and end of a Lock: lifecycle.c; requests to the store: lock_store.c; synchronized():
 * synchronized.c.
 */
#include "ext/lock/lock.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/log.h"
#include "ext/php/poll_loop.h"
#include "ext/php/statistics.h"
#include "ext/store/engine_store.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"

#include <math.h>

#include "stubs/lock_arginfo.h"

#define FAILED_TO_ACQUIRE "Failed to acquire the \""

#define THIS_LOCK php_latch_lock_from(Z_OBJ_P(ZEND_THIS))

/* The resource for messages: a logger, or the store, may have run since the key was checked. */
static zend_string *resource_of(const php_latch_lock *lock)
{
    return php_latch_key_name(lock->key);
}

/* The message is a format, as of php_latch_log(). */
static void log_simply(const php_latch_lock *lock, const char *level, const char *message)
{
    if (lock->logger != NULL) {
        php_latch_log(lock->logger, php_latch_lock_primitive(lock), level, message, lock->key, NULL,
                      NULL);
    }
}

/* Logs the outcome's exception and throws a LockAcquiringException in its place. */
static void throw_wrapped(const php_latch_lock *lock, php_latch_outcome *outcome,
                          const char *log_message, const char *before)
{
    const php_latch_primitive *primitive = php_latch_lock_primitive(lock);
    zval exception;

    ZVAL_OBJ(&exception, outcome->exception);
    php_latch_log(lock->logger, primitive, "notice", log_message, lock->key, "exception",
                  &exception);
    if (EG(exception) != NULL) { /* the logger's */
        php_latch_outcome_free(outcome);
        return;
    }
    if (outcome->status != LATCH_ERROR_DEADLOCK) { /* its message says what to do */
        outcome->exception = php_latch_new_failure(primitive, primitive->not_stored,
                                                   outcome->exception, before, resource_of(lock),
                                                   php_latch_reason(primitive, outcome, "."));
    }
    php_latch_throw_outcome(outcome);
}

/* Consumes the outcome's exception, or makes one: stores of the engine have none for a conflict. */
static void throw_conflict(const php_latch_lock *lock, php_latch_outcome *outcome,
                           latch_op_kind kind)
{
    if (EG(exception) == NULL) {
        if (outcome->exception == NULL) {
            outcome->exception = php_latch_new_conflict(php_latch_lock_primitive(lock), kind,
                                                        resource_of(lock),
                                                        php_latch_store_has_slots(lock->store));
        }
        php_latch_throw_outcome(outcome);
    }
    php_latch_outcome_free(outcome);
}

static void log_expiration(const php_latch_lock *lock, double ttl)
{
    const php_latch_primitive *primitive;
    zval value;

    if (lock->logger == NULL) {
        return;
    }
    primitive = php_latch_lock_primitive(lock);
    ZVAL_DOUBLE(&value, ttl);
    php_latch_log(lock->logger, primitive, "debug",
                  primitive->is_permit
                      ? "Expiration defined for \"{resource}\" %s for \"{ttlInSecond}\" seconds."
                      : "Expiration defined for \"{resource}\" %s for \"{ttl}\" seconds.",
                  lock->key, primitive->ttl, &value);
}

/* Releases a lock that expired during its acquire; ignores a failure of that. */
static void release_expired(php_latch_lock *lock, const char *before, const char *after,
                            php_latch_outcome *outcome)
{
    const php_latch_primitive *primitive = php_latch_lock_primitive(lock);

    php_latch_lock_release(lock);
    *outcome = php_latch_outcome_of_call(php_latch_lock_primitive(lock));
    if (outcome->status == LATCH_INTERRUPTED) {
        return;
    }
    php_latch_outcome_free(outcome);
    php_latch_lock_statistics(lock)->lost++;
    outcome->status = LATCH_ERROR_LOST;
    outcome->exception = php_latch_new_failure(primitive, primitive->expired, NULL, before,
                                               resource_of(lock), after);
    if (lock->native) { /* other stores have Symfony's messages */
        outcome->reason_at = (uint32_t) (strlen(before) + ZSTR_LEN(resource_of(lock)));
    }
}

void php_latch_lock_refresh(php_latch_lock *lock, double ttl)
{
    php_latch_outcome outcome;

    php_latch_key_reset_lifetime(lock->key);
    outcome = php_latch_lock_put_off(lock, ttl);
    if (outcome.status == LATCH_DONE) {
        php_latch_lock_set_dirty(lock, true);
        if (php_latch_key_is_expired(lock->key)) {
            release_expired(lock, "Failed to put off the expiration of the \"",
                            " within the specified time.", &outcome);
        } else {
            if (ttl > 0) {
                log_expiration(lock, ttl);
            }
            outcome = php_latch_outcome_of_store_call(php_latch_lock_primitive(lock)->lost);
        }
    }
    if (outcome.status == LATCH_CONFLICT) {
        php_latch_lock_set_dirty(lock, false);
        log_simply(lock, "notice",
                   php_latch_lock_primitive(lock)->is_permit
                       ? "Failed to define an expiration for the \"{resource}\" %s, the %s has "
                         "expired."
                       : "Failed to define an expiration for the \"{resource}\" %s, someone else "
                         "acquired the %s.");
        throw_conflict(lock, &outcome, LATCH_REFRESH);
    } else if (latch_failed(outcome.status)) {
        throw_wrapped(lock, &outcome, "Failed to define an expiration for the \"{resource}\" %s.",
                      "Failed to define an expiration for the \"");
    }
}

/* Completes an acquire: logs it, sets the TTL, and checks that it has not expired meanwhile. */
static php_latch_outcome after_acquire(php_latch_lock *lock, latch_op_kind kind)
{
    php_latch_outcome outcome;

    log_simply(lock, "debug",
               kind == LATCH_ACQUIRE ? "Successfully acquired the \"{resource}\" %s."
                                     : "Successfully acquired the \"{resource}\" %s for reading.");
    outcome = php_latch_outcome_of_call(php_latch_lock_primitive(lock));
    /* Symfony's stores of semaphores get the TTL with the acquire. */
    if (outcome.status == LATCH_DONE && lock->ttl > 0
        && !php_latch_lock_primitive(lock)->is_permit) {
        if (lock->native) {
            log_expiration(lock, lock->ttl); /* the acquire has set the TTL */
        } else {
            php_latch_lock_refresh(lock, lock->ttl);
        }
        outcome = php_latch_outcome_of_call(php_latch_lock_primitive(lock));
    }
    if (outcome.status == LATCH_DONE && php_latch_key_is_expired(lock->key)) {
        release_expired(lock, "Failed to store the \"",
                        lock->native ? ": its time was over before it was taken." : ".", &outcome);
    }
    return outcome;
}

/* Logs a failed acquire, and throws where that is to be an exception. */
static latch_status end_acquire(php_latch_lock *lock, bool blocking, int64_t deadline_ns,
                                php_latch_outcome outcome)
{
    if (outcome.status == LATCH_CONFLICT) {
        log_simply(lock, php_latch_lock_primitive(lock)->conflict_level,
                   "Failed to acquire the \"{resource}\" %s. Someone else already acquired the "
                   "%s.");
        if (blocking && deadline_ns == LATCH_NEVER) {
            throw_conflict(lock, &outcome, LATCH_ACQUIRE);
        }
        php_latch_outcome_free(&outcome);
    } else if (latch_failed(outcome.status)) {
        throw_wrapped(lock, &outcome, "Failed to acquire the \"{resource}\" %s.",
                      FAILED_TO_ACQUIRE);
    }
    return outcome.status;
}

latch_status php_latch_lock_after_save(php_latch_lock *lock, latch_op_kind kind, bool blocking,
                                       int64_t deadline_ns, php_latch_outcome outcome)
{
    if (outcome.status == LATCH_DONE) {
        php_latch_lock_set_dirty(lock, true);
        outcome = after_acquire(lock, kind);
    }
    return end_acquire(lock, blocking, deadline_ns, outcome);
}

latch_status php_latch_lock_acquire(php_latch_lock *lock, latch_op_kind kind, bool blocking,
                                    int64_t deadline_ns)
{
    php_latch_outcome outcome;
    latch_status status;

    php_latch_key_reset_lifetime(lock->key);
    if (kind != LATCH_ACQUIRE_SHARED
        || instanceof_function(lock->store->ce, php_latch_shared_store_ce)) {
        outcome = php_latch_lock_save(lock, kind, blocking, deadline_ns);
        return php_latch_lock_after_save(lock, kind, blocking, deadline_ns, outcome);
    }
    log_simply(lock, "debug", "Store does not support ReadLocks, fallback to WriteLock.");
    if (EG(exception) == NULL) {
        status = php_latch_lock_acquire(lock, LATCH_ACQUIRE, blocking, deadline_ns);
        if (EG(exception) == NULL || status == LATCH_INTERRUPTED) {
            return status;
        }
    }
    /* Wrapped once more, as by Symfony's. */
    outcome = php_latch_outcome_of_call(php_latch_lock_primitive(lock));
    if (lock->native) {
        outcome.reason_at = (uint32_t) (strlen(FAILED_TO_ACQUIRE) + ZSTR_LEN(resource_of(lock)));
    }
    return end_acquire(lock, blocking, deadline_ns, outcome);
}

void php_latch_lock_release(php_latch_lock *lock)
{
    php_latch_lock_after_release(lock, php_latch_lock_delete(lock, false, NULL));
}

static bool is_releasing_failure(const php_latch_primitive *primitive,
                                 const php_latch_outcome *outcome)
{
    return outcome->exception != NULL
           && instanceof_function(outcome->exception->ce, primitive->releasing);
}

void php_latch_lock_after_release(php_latch_lock *lock, php_latch_outcome outcome)
{
    const php_latch_primitive *primitive = php_latch_lock_primitive(lock);
    bool exists = false;

    if (outcome.status == LATCH_INTERRUPTED) {
        return;
    }
    if (outcome.status == LATCH_DONE) {
        php_latch_lock_set_dirty(lock, false);
        if (!lock->native && !primitive->is_permit) {
            outcome = php_latch_lock_exists(lock, &exists);
            if (outcome.status == LATCH_INTERRUPTED) {
                return;
            }
            if (outcome.status != LATCH_DONE && !is_releasing_failure(primitive, &outcome)) {
                php_latch_throw_outcome(&outcome); /* unchanged and unlogged, as by Symfony's */
                return;
            }
        }
        if (exists) {
            outcome.status = LATCH_ERROR_SYSTEM;
            outcome.exception = php_latch_new_failure(primitive, primitive->not_released, NULL,
                                                      "Failed to release the \"", resource_of(lock),
                                                      ", the resource is still locked.");
        }
    } else if (!is_releasing_failure(primitive, &outcome)) {
        outcome.exception = php_latch_new_failure(primitive, primitive->not_released,
                                                  outcome.exception, "Failed to release the \"",
                                                  resource_of(lock),
                                                  php_latch_reason(primitive, &outcome, "."));
    } else if (primitive->is_permit) {
        php_latch_throw_outcome(&outcome); /* unlogged, as by Symfony's */
        return;
    }

    if (outcome.status == LATCH_DONE) {
        if (php_latch_lock_clear_loss(lock)) {
            log_simply(lock, "notice",
                       "Released the \"{resource}\" %s, which had been lost before.");
        } else if (!primitive->is_permit) {
            log_simply(lock, "debug", "Successfully released the \"{resource}\" %s.");
        }
        outcome = php_latch_outcome_of_call(php_latch_lock_primitive(lock));
        if (outcome.status != LATCH_DONE) {
            php_latch_throw_outcome(&outcome);
        }
        return;
    }
    log_simply(lock, "notice", "Failed to release the \"{resource}\" %s.");
    if (EG(exception) == NULL) {
        php_latch_throw_outcome(&outcome);
    }
    php_latch_outcome_free(&outcome);
}

bool php_latch_lock_is_acquired(php_latch_lock *lock)
{
    bool exists = false;
    php_latch_outcome outcome = php_latch_lock_exists(lock, &exists);

    if (outcome.status == LATCH_DONE) {
        /* A hold in too few members of a quorum is no lock, but is to be released at the end. */
        php_latch_lock_set_dirty(lock,
                                 exists || (lock->dirty && php_latch_lock_holds_in_members(lock)));
    }
    php_latch_throw_outcome(&outcome);
    return exists;
}

bool php_latch_lock_check_new(const php_latch_lock *lock)
{
    if (lock->key != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(lock->std.ce->name));
    }
    return lock->key == NULL;
}

PHP_METHOD(Latch_Lock, __construct)
{
    php_latch_lock *lock = THIS_LOCK;
    zend_object *key, *store;
    double ttl = 0;
    bool ttl_is_null = true, auto_release = true;

    ZEND_PARSE_PARAMETERS_START(2, 4)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
        Z_PARAM_OBJ_OF_CLASS(store, php_latch_persisting_store_ce)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
        Z_PARAM_BOOL(auto_release)
    ZEND_PARSE_PARAMETERS_END();
    if ((!ttl_is_null && !php_latch_check_ttl(&php_latch_locks, 3, ttl))
        || !php_latch_lock_check_new(lock)) {
        RETURN_THROWS();
    }
    php_latch_lock_init(lock, key, store, ttl_is_null ? 0 : ttl, auto_release, NULL);
}

PHP_METHOD(Latch_Lock, __serialize)
{
    ZEND_PARSE_PARAMETERS_NONE();
    zend_throw_exception_ex(spl_ce_BadMethodCallException, 0, "Cannot serialize %s",
                            ZSTR_VAL(Z_OBJCE_P(ZEND_THIS)->name));
}

PHP_METHOD(Latch_Lock, __unserialize)
{
    HashTable *data;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(data)
    ZEND_PARSE_PARAMETERS_END();
    (void) data;
    zend_throw_exception_ex(spl_ce_BadMethodCallException, 0, "Cannot unserialize %s",
                            ZSTR_VAL(Z_OBJCE_P(ZEND_THIS)->name));
}

PHP_METHOD(Latch_Lock, __destruct)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_lock_destruct(THIS_LOCK);
}

PHP_METHOD(Latch_Lock, setLogger)
{
    php_latch_lock *lock = THIS_LOCK;
    zend_object *logger, *old;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ(logger)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_logger(logger)) {
        RETURN_THROWS();
    }
    old = lock->logger;
    GC_ADDREF(logger);
    lock->logger = logger;
    if (old != NULL) {
        OBJ_RELEASE(old);
    }
}

bool php_latch_lock_check_constructed(const php_latch_lock *lock)
{
    if (lock->key == NULL) {
        zend_throw_error(NULL, "%s::__construct() was not called", ZSTR_VAL(lock->std.ce->name));
        return false;
    }
    return php_latch_key_resource(lock->key) != NULL;
}

bool php_latch_lock_deadline(const php_latch_lock *lock, uint32_t number, bool blocking,
                             double timeout, bool timeout_is_null, int64_t *deadline_ns)
{
    *deadline_ns = LATCH_NEVER;
    if (timeout_is_null) {
        return true;
    }
    if (!blocking) {
        php_latch_throw_argument(php_latch_lock_primitive(lock)->invalid_argument, number,
                                 "timeout", "must be null unless $blocking is true");
        return false;
    }
    if (isnan(timeout) || timeout < 0) {
        php_latch_throw_argument(php_latch_lock_primitive(lock)->invalid_argument, number,
                                 "timeout", "must be a number of seconds, 0 or more");
        return false;
    }
    if (timeout < 1e9) { /* 32 years: for ever */
        *deadline_ns = php_latch_now_ns() + (int64_t) (timeout * 1e9);
    }
    return true;
}

static void lock_acquire(INTERNAL_FUNCTION_PARAMETERS, latch_op_kind kind)
{
    php_latch_lock *lock = THIS_LOCK;
    bool blocking = false, timeout_is_null = true;
    double timeout = 0;
    int64_t deadline_ns;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(blocking)
        Z_PARAM_DOUBLE_OR_NULL(timeout, timeout_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_lock_check_constructed(lock)
        || !php_latch_lock_deadline(lock, 2, blocking, timeout, timeout_is_null, &deadline_ns)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(php_latch_lock_acquire(lock, kind, blocking, deadline_ns) == LATCH_DONE);
}

PHP_METHOD(Latch_Lock, acquire)
{
    lock_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE);
}

PHP_METHOD(Latch_Lock, acquireRead)
{
    lock_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE_SHARED);
}

bool php_latch_lock_refresh_ttl(const php_latch_lock *lock, double *ttl, bool ttl_is_null)
{
    if (ttl_is_null) {
        *ttl = lock->ttl;
    }
    if (*ttl == 0 && php_latch_lock_may_be_endless(lock)) {
        return true;
    }
    if (*ttl == 0) {
        zend_throw_exception(php_latch_lock_primitive(lock)->invalid_argument,
                             "You have to define an expiration duration.", 0);
        return false;
    }
    return php_latch_check_ttl(php_latch_lock_primitive(lock), 1, *ttl);
}

PHP_METHOD(Latch_Lock, refresh)
{
    php_latch_lock *lock = THIS_LOCK;
    double ttl = 0;
    bool ttl_is_null = true;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_lock_check_constructed(lock)
        || !php_latch_lock_refresh_ttl(lock, &ttl, ttl_is_null)) {
        RETURN_THROWS();
    }
    php_latch_lock_refresh(lock, ttl);
}

PHP_METHOD(Latch_Lock, isAcquired)
{
    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(THIS_LOCK)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(php_latch_lock_is_acquired(THIS_LOCK));
}

PHP_METHOD(Latch_Lock, isHeld)
{
    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(THIS_LOCK)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(php_latch_lock_is_held(THIS_LOCK));
}

PHP_METHOD(Latch_Lock, getFencingToken)
{
    uint64_t token;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(THIS_LOCK)) {
        RETURN_THROWS();
    }
    token = php_latch_lock_fencing_token(THIS_LOCK);
    if (token == 0) {
        RETURN_NULL();
    }
    RETURN_LONG((zend_long) token);
}

PHP_METHOD(Latch_Lock, release)
{
    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(THIS_LOCK)) {
        RETURN_THROWS();
    }
    php_latch_lock_release(THIS_LOCK);
}

PHP_METHOD(Latch_Lock, releaseIfHeld)
{
    php_latch_lock *lock = THIS_LOCK;
    bool was_held;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(lock)) {
        RETURN_THROWS();
    }
    was_held = php_latch_lock_is_held(lock); /* for stores that do not tell */
    php_latch_lock_after_release(lock, php_latch_lock_delete(lock, false, &was_held));
    RETURN_BOOL(was_held);
}

PHP_METHOD(Latch_Lock, isExpired)
{
    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(THIS_LOCK)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(php_latch_key_is_expired(THIS_LOCK->key));
}

PHP_METHOD(Latch_Lock, getRemainingLifetime)
{
    double remaining;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(THIS_LOCK)) {
        RETURN_THROWS();
    }
    remaining = php_latch_key_remaining_lifetime(THIS_LOCK->key);
    if (isnan(remaining)) {
        RETURN_NULL();
    }
    RETURN_DOUBLE(remaining);
}

PHP_METHOD(Latch_Lock, __debugInfo)
{
    php_latch_lock *lock = THIS_LOCK;

    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    if (lock->key == NULL) {
        return;
    }
    /* An exception in here would be a fatal error. */
    php_latch_key_add_resource(return_value, lock->key);
    add_assoc_string(return_value, "store", ZSTR_VAL(lock->store->ce->name));
    if (lock->ttl > 0) {
        add_assoc_double(return_value, "ttl", lock->ttl);
    } else {
        add_assoc_null(return_value, "ttl");
    }
    add_assoc_bool(return_value, "autoRelease", lock->auto_release);
    add_assoc_bool(return_value, "held", php_latch_lock_is_held(lock));
}

PHP_METHOD(Latch_Lock, getStatistics)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_statistics_return(PHP_LATCH_COUNTED_LOCKS, return_value);
}

void php_latch_register_lock(void)
{
    php_latch_locks.product = register_class_Latch_Lock(php_latch_shared_lock_interface_ce);
    php_latch_lock_finish_class(php_latch_locks.product);
}
