/*
 * Lock::synchronized(), and MultiLock's: acquires, calls, and restores the lock's mode, as try and
 * finally would; throws when the lock was lost during the callback.
 */
#include "ext/lock/multi_lock.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include "zend_exceptions.h"

/* What is to be restored after the callback. */
typedef struct lock_and_mode {
    php_latch_lock *lock;
    latch_mode mode;
} lock_and_mode;

static void release_or_demote(void *context)
{
    const lock_and_mode *before = context;

    if (before->mode == LATCH_SHARED) {
        php_latch_lock_acquire(before->lock, LATCH_ACQUIRE_SHARED, false, LATCH_NEVER);
    } else {
        php_latch_lock_release(before->lock);
    }
}

void php_latch_lock_call_aside(void (*call)(void *context), void *context)
{
    zend_object *thrown = EG(exception);
    const zend_op *opline = EG(opline_before_exception);

    if (thrown == NULL) {
        call(context);
        return;
    }
    EG(exception) = NULL;
    call(context);
    if (EG(exception) != NULL && php_latch_is_exit(thrown) && !php_latch_is_exit(EG(exception))) {
        php_latch_warn_of_exception();
    }
    EG(opline_before_exception) = opline;
    if (EG(exception) != NULL) {
        php_latch_chain_exceptions(EG(exception), thrown);
    } else {
        EG(exception) = thrown;
    }
}

static void restore_mode(php_latch_lock *lock, latch_mode mode_before)
{
    lock_and_mode before = {lock, mode_before};

    if (php_latch_is_out_of_memory()) {
        php_latch_lock_free(lock);
    } else {
        php_latch_lock_call_aside(release_or_demote, &before);
    }
}

#define LOST_MEANWHILE                                                                             \
    " was lost before the callback of synchronized() returned, so that another holder may have "   \
    "had "
#define AND_RESULT " meanwhile; getResult() has what the callback returned."

/* Throws with the callback's result, which the caller may still have use for. */
static void throw_with_result(const php_latch_primitive *primitive, zend_object *exception,
                              zval *result)
{
    zval thrown;

    zend_update_property(primitive->expired, exception, ZEND_STRL("result"), result);
    zval_ptr_dtor(result);
    ZVAL_NULL(result);
    ZVAL_OBJ(&thrown, exception);
    zend_throw_exception_object(&thrown);
}

static void throw_loss(const php_latch_lock *lock, zval *result)
{
    const php_latch_primitive *primitive = php_latch_lock_primitive(lock);

    throw_with_result(primitive,
                      php_latch_new_failure(primitive, primitive->expired, NULL, "The \"",
                                            php_latch_key_name(lock->key),
                                            LOST_MEANWHILE "it" AND_RESULT),
                      result);
}

static void call_synchronized(php_latch_lock *lock, zend_fcall_info *callback,
                              zend_fcall_info_cache *cache, latch_mode mode_before)
{
    zval *result = callback->retval;
    php_latch_hold hold;

    php_latch_lock_begin_hold(lock, &hold);
    zend_call_function(callback, cache);
    if (Z_ISREF_P(result)) {
        zend_unwrap_reference(result);
    }
    /* A child that was forked in the callback leaves the lock to its parent. */
    if (php_latch_lock_is_ours(lock)) {
        bool was_lost = EG(exception) == NULL && php_latch_lock_lost_hold(lock, &hold);

        if (was_lost) {
            throw_loss(lock, result);
        }
        if (mode_before != LATCH_EXCLUSIVE) {
            restore_mode(lock, was_lost ? LATCH_FREE : mode_before);
        }
    }
    php_latch_lock_end_hold(&hold);
}

PHP_METHOD(Latch_Lock, synchronized)
{
    php_latch_lock *lock = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    zend_fcall_info callback;
    zend_fcall_info_cache cache;
    bool timeout_is_null = true;
    latch_mode mode_before;
    double timeout = 0;
    int64_t deadline_ns;
    latch_status status;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_FUNC(callback, cache)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(timeout, timeout_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_lock_check_constructed(lock)
        || !php_latch_lock_deadline(lock, 2, true, timeout, timeout_is_null, &deadline_ns)) {
        RETURN_THROWS();
    }
    mode_before = php_latch_lock_mode(lock);
    status = php_latch_lock_acquire(lock, LATCH_ACQUIRE, true, deadline_ns);
    if (status != LATCH_DONE) {
        if (EG(exception) == NULL && status == LATCH_CONFLICT) {
            zend_throw_exception_ex(php_latch_lock_primitive(lock)->conflicted, 0,
                                    "The \"%s\" %s was not free within %g seconds.",
                                    ZSTR_VAL(php_latch_key_name(lock->key)),
                                    php_latch_lock_primitive(lock)->noun, timeout);
        }
        RETURN_THROWS();
    }
    callback.retval = return_value;
    call_synchronized(lock, &callback, &cache, mode_before);
}

/* ---- Of a MultiLock -------------------------------------------------------------------------- */

static void throw_not_free(const php_latch_multi_lock *multi, double timeout)
{
    zend_string *name = php_latch_multi_lock_describe(multi);
    zend_string *after = zend_strpprintf(0, " was not free within %g seconds.", timeout);
    zval exception;

    ZVAL_OBJ(&exception, php_latch_new_exception(php_latch_locks.conflicted, NULL, "The ", name,
                                                 ZSTR_VAL(after)));
    zend_string_release(after);
    zend_string_release(name);
    zend_throw_exception_object(&exception);
}

static void throw_multi_loss(const php_latch_multi_lock *multi, zval *result)
{
    zend_string *name = php_latch_multi_lock_describe(multi);

    throw_with_result(&php_latch_locks,
                      php_latch_new_exception(php_latch_locks.expired, NULL, "The ", name,
                                              LOST_MEANWHILE "a member" AND_RESULT),
                      result);
    zend_string_release(name);
}

/* A MultiLock, and the mode that it had before synchronized(). */
typedef struct multi_and_mode {
    php_latch_multi_lock *multi;
    latch_mode mode;
} multi_and_mode;

static void release_or_demote_all(void *context)
{
    const multi_and_mode *before = context;

    if (before->mode == LATCH_SHARED) {
        php_latch_multi_lock_call_acquire(before->multi, LATCH_ACQUIRE_SHARED, false, LATCH_NEVER);
    } else {
        php_latch_multi_lock_call_release(before->multi);
    }
}

static void restore_all(php_latch_multi_lock *multi, latch_mode mode_before)
{
    multi_and_mode before = {multi, mode_before};

    if (php_latch_is_out_of_memory()) {
        php_latch_multi_lock_for_each(multi, php_latch_lock_free);
        multi->mode = LATCH_FREE;
    } else if (mode_before != LATCH_EXCLUSIVE) {
        php_latch_lock_call_aside(release_or_demote_all, &before);
    }
}

static void call_with_all(php_latch_multi_lock *multi, zend_fcall_info *callback,
                          zend_fcall_info_cache *cache, latch_mode mode_before)
{
    php_latch_hold *holds = safe_emalloc(multi->count, sizeof(*holds), 0);
    zval *result = callback->retval;
    bool was_lost = false;

    for (size_t at = 0; at < multi->count; at++) {
        php_latch_lock_begin_hold(multi->members[at].lock, &holds[at]);
    }
    zend_call_function(callback, cache);
    if (Z_ISREF_P(result)) {
        zend_unwrap_reference(result);
    }
    /* A child that was forked in the callback leaves the locks to its parent. */
    if (php_latch_lock_is_ours(multi->members[0].lock)) {
        for (size_t at = 0; at < multi->count && EG(exception) == NULL; at++) {
            was_lost |= php_latch_lock_lost_hold(multi->members[at].lock, &holds[at]);
        }
        if (was_lost && EG(exception) == NULL) {
            throw_multi_loss(multi, result);
        }
        restore_all(multi, was_lost ? LATCH_FREE : mode_before);
    }
    for (size_t at = 0; at < multi->count; at++) {
        php_latch_lock_end_hold(&holds[at]);
    }
    efree(holds);
}

PHP_METHOD(Latch_MultiLock, synchronized)
{
    php_latch_multi_lock *multi = php_latch_multi_lock_from(Z_OBJ_P(ZEND_THIS));
    zend_fcall_info callback;
    zend_fcall_info_cache cache;
    bool timeout_is_null = true;
    latch_mode mode_before;
    double timeout = 0;
    int64_t deadline_ns;
    latch_status status;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_FUNC(callback, cache)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(timeout, timeout_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_multi_lock_check_made(multi)
        || !php_latch_lock_deadline(multi->members[0].lock, 2, true, timeout, timeout_is_null,
                                    &deadline_ns)) {
        RETURN_THROWS();
    }
    mode_before = php_latch_multi_lock_is_held(multi) ? multi->mode : LATCH_FREE;
    status = php_latch_multi_lock_call_acquire(multi, LATCH_ACQUIRE, true, deadline_ns);
    if (status != LATCH_DONE) {
        if (EG(exception) == NULL && status == LATCH_CONFLICT) {
            throw_not_free(multi, timeout);
        }
        RETURN_THROWS();
    }
    callback.retval = return_value;
    call_with_all(multi, &callback, &cache, mode_before);
}
