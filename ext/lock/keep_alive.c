/*
 * Lock::keepAlive(), Lock::onLost() and latch.keep_alive: each Lock's request for renewal of its
 * lease. Records of the renewed leases: ext/key/renewed_lease.c; lost leases: lost_locks.c.
 */
#include "ext/lock/keep_alive.h"

#include "ext/key/key.h"
#include "ext/lock/multi_lock.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/store/engine_store.h"

#include "zend_closures.h"
#include "zend_exceptions.h"

#include <math.h>

ZEND_INI_MH(php_latch_update_max_hold)
{
    zend_long whole = 0;
    double seconds = 0;
    uint8_t type = IS_LONG; /* of nothing at all: 0 */

    if (new_value != NULL && ZSTR_LEN(new_value) > 0) {
        type = is_numeric_string(ZSTR_VAL(new_value), ZSTR_LEN(new_value), &whole, &seconds, false);
    }
    if (type == IS_LONG) {
        seconds = (double) whole;
    }
    if (type == 0 || !isfinite(seconds) || seconds < 0) {
        zend_error(E_WARNING, "latch.max_hold must be a number of seconds, 0 or more");
        return FAILURE;
    }
    LATCH_G(max_hold_ms) = php_latch_ttl_ms(seconds);
    return SUCCESS;
}

/* ---- Requests of Locks ---------------------------------------------------------------------- */

static php_latch_keep_alive *keep_alive_get(php_latch_lock *lock)
{
    php_latch_keep_alive *keep_alive = lock->keep_alive;

    if (keep_alive == NULL) {
        keep_alive = ecalloc(1, sizeof(*keep_alive));
        keep_alive->lock = lock;
        php_latch_loss_notice_init(&keep_alive->notice);
        lock->keep_alive = keep_alive;
    }
    return keep_alive;
}

static void join_renewal(php_latch_lock *lock, php_latch_lease *lease)
{
    php_latch_renewal_request *request = &lock->keep_alive->request;

    request->ttl_ms = php_latch_lock_ttl_ms(lock);
    request->auto_release = lock->auto_release;
    php_latch_renewal_join(request, lease);
}

/* Is a request made, by keepAlive() or onLost()? */
static bool is_requested(const php_latch_keep_alive *keep_alive)
{
    return keep_alive->request.renews || Z_TYPE(keep_alive->callbacks) == IS_ARRAY
           || (keep_alive->multi != NULL && Z_TYPE(keep_alive->multi->callbacks) == IS_ARRAY);
}

latch_status php_latch_lock_start_renewal(php_latch_lock *lock, php_latch_lease *lease,
                                          latch_error *error)
{
    bool by_setting = LATCH_G(keep_alive)
                      && (latch_store_describe(lease->lease.store)->capabilities & LATCH_EXPIRING)
                             != 0;
    php_latch_keep_alive *keep_alive;
    latch_status status;

    if (lock->keep_alive == NULL && !by_setting) {
        return LATCH_DONE;
    }
    keep_alive = keep_alive_get(lock);
    keep_alive->request.renews_by_setting = by_setting;
    if (!keep_alive->request.renews) {
        keep_alive->request.max_hold_ms = LATCH_G(max_hold_ms);
    }
    if (by_setting || is_requested(keep_alive)) {
        join_renewal(lock, lease);
        status = php_latch_renewed_lease_apply(keep_alive->request.renewed, error);
        if (!latch_failed(status) || keep_alive->request.renews) {
            return status;
        }
        /* A lease that cannot be renewed goes on without, if only the setting asked for renewal. */
        keep_alive->request.renews_by_setting = false;
    }
    if (is_requested(keep_alive)) {
        return php_latch_renewed_lease_apply(keep_alive->request.renewed, error);
    }
    php_latch_renewal_leave(&keep_alive->request);
    return LATCH_DONE;
}

void php_latch_lock_free_keep_alive(php_latch_lock *lock)
{
    php_latch_keep_alive *keep_alive = lock->keep_alive;

    if (keep_alive != NULL) {
        lock->keep_alive = NULL;
        php_latch_renewal_leave(&keep_alive->request);
        php_latch_loss_notice_drop(&keep_alive->notice);
        zval_ptr_dtor(&keep_alive->callbacks);
        efree(keep_alive);
    }
}

void php_latch_lock_clone_keep_alive(php_latch_lock *to, const php_latch_lock *from)
{
    const php_latch_keep_alive *model = from->keep_alive;
    php_latch_keep_alive *keep_alive;

    if (model == NULL) {
        return;
    }
    keep_alive = keep_alive_get(to);
    keep_alive->request.renews = model->request.renews;
    keep_alive->request.renews_by_setting = model->request.renews_by_setting;
    keep_alive->request.max_hold_ms = model->request.max_hold_ms;
    ZVAL_COPY(&keep_alive->callbacks, &model->callbacks);
    if (model->request.renewed != NULL) {
        join_renewal(to, model->request.renewed->lease);
    }
}

zval *php_latch_lock_callbacks(const php_latch_lock *lock)
{
    return lock->keep_alive != NULL ? &lock->keep_alive->callbacks : NULL;
}

/* ---- Losses --------------------------------------------------------------------------------- */

void php_latch_lock_record_acquired(const php_latch_lock *lock)
{
    if (lock->keep_alive != NULL && lock->keep_alive->request.renewed != NULL) {
        lock->keep_alive->request.renewed->is_lost = false;
    }
}

void php_latch_lock_collect_loss(const php_latch_lock *lock)
{
    if (lock->keep_alive != NULL && lock->keep_alive->request.renewed != NULL) {
        latch_lease_sync_deadline(&lock->keep_alive->request.renewed->lease->lease,
                                  php_latch_now_ns());
        php_latch_lost_locks_collect();
    }
}

bool php_latch_lock_clear_loss(const php_latch_lock *lock)
{
    bool is_lost = false;

    if (lock->native && lock->keep_alive != NULL && lock->keep_alive->request.renewed != NULL) {
        is_lost = lock->keep_alive->request.renewed->is_lost;
        lock->keep_alive->request.renewed->is_lost = false;
    }
    return is_lost;
}

/* ---- The methods ---------------------------------------------------------------------------- */

/* Alternatives for the caller. */
static const char *suggest_alternative(const php_latch_lock *lock)
{
    unsigned capabilities =
        lock->native
            ? latch_store_describe(php_latch_store_of(lock->store)->backend->store)->capabilities
            : LATCH_EXPIRING;

    return (capabilities & LATCH_EXPIRING) != 0 ? "call refresh() in time"
                                                : "make the store of a DSN, or ask isAcquired() "
                                                  "when it matters";
}

static void throw_refusal(const php_latch_lock *lock, bool renews, latch_status status,
                          const char *reason)
{
    const php_latch_primitive *primitive = php_latch_lock_primitive(lock);
    bool is_unsupported = status == LATCH_ERROR_UNSUPPORTED;
    const char *what = renews ? "cannot be kept alive" : "cannot be watched";
    zend_string *after = is_unsupported ? zend_strpprintf(0, " %s in a %s: %s; %s.", what,
                                                          ZSTR_VAL(lock->store->ce->name), reason,
                                                          suggest_alternative(lock))
                                        : zend_strpprintf(0, " %s: %s.", what, reason);
    zval exception;

    ZVAL_OBJ(&exception,
             php_latch_new_failure(primitive,
                                   is_unsupported ? primitive->invalid_argument
                                                  : primitive->storage,
                                   NULL, "The \"", php_latch_key_name(lock->key), ZSTR_VAL(after)));
    zend_string_release(after);
    zend_throw_exception_object(&exception);
}

/* False after throwing, with nothing changed. */
static bool check_native(const php_latch_lock *lock, bool renews)
{
    if (lock->native) {
        return true;
    }
    throw_refusal(lock, renews, LATCH_ERROR_UNSUPPORTED,
                  php_latch_store_of(lock->store) != NULL
                      ? "PHP code has a part in it, which only this thread can run"
                      : "it is written in PHP, which only this thread can run");
    return false;
}

/* Requests renewal of the lease that the Lock has, or will have; false after throwing. */
static bool begin_keep_alive(php_latch_lock *lock, bool renews)
{
    php_latch_backend *backend = php_latch_store_backend(lock->store);
    php_latch_lease *lease = backend != NULL ? php_latch_lease_get(lock->key, backend, NULL) : NULL;
    latch_error error;
    latch_status status;

    if (lease == NULL) {
        return false;
    }
    join_renewal(lock, lease);
    status = php_latch_renewed_lease_apply(lock->keep_alive->request.renewed, &error);
    if (latch_failed(status)) {
        throw_refusal(lock, renews, status, error.message);
    }
    return !latch_failed(status);
}

/* Undoes begin_keep_alive(), after the earlier settings were restored. */
static void restore_request(php_latch_keep_alive *keep_alive)
{
    if (!is_requested(keep_alive) && !keep_alive->request.renews_by_setting) {
        php_latch_renewal_leave(&keep_alive->request);
    } else if (keep_alive->request.renewed != NULL) {
        php_latch_renewed_lease_update(keep_alive->request.renewed);
    }
}

bool php_latch_lock_max_hold(const php_latch_lock *lock, double max_hold, bool max_hold_is_null,
                             int64_t *max_hold_ms)
{
    if (!max_hold_is_null && !(isfinite(max_hold) && max_hold > 0)) {
        php_latch_throw_argument(php_latch_lock_primitive(lock)->invalid_argument, 1, "maxHold",
                                 "must be null or a finite number of seconds, more than 0");
        return false;
    }
    *max_hold_ms = max_hold_is_null ? LATCH_G(max_hold_ms) : php_latch_ttl_ms(max_hold);
    return true;
}

bool php_latch_lock_keep_alive(php_latch_lock *lock, int64_t max_hold_ms)
{
    php_latch_keep_alive *keep_alive;
    php_latch_renewal_request before;

    if (!check_native(lock, true)) {
        return false;
    }
    keep_alive = keep_alive_get(lock);
    before = keep_alive->request;
    keep_alive->request.renews = true;
    keep_alive->request.max_hold_ms = max_hold_ms;
    if (begin_keep_alive(lock, true)) {
        return true;
    }
    keep_alive->request.renews = before.renews;
    keep_alive->request.max_hold_ms = before.max_hold_ms;
    restore_request(keep_alive);
    return false;
}

PHP_METHOD(Latch_Lock, keepAlive)
{
    php_latch_lock *lock = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    double max_hold = 0;
    bool max_hold_is_null = true;
    int64_t max_hold_ms;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(max_hold, max_hold_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_lock_check_constructed(lock)
        || !php_latch_lock_max_hold(lock, max_hold, max_hold_is_null, &max_hold_ms)
        || !php_latch_lock_keep_alive(lock, max_hold_ms)) {
        RETURN_THROWS();
    }
    RETURN_OBJ_COPY(&lock->std);
}

void php_latch_lock_join_multi_lock(php_latch_lock *lock, php_latch_multi_lock *multi)
{
    if (multi != NULL) {
        keep_alive_get(lock)->multi = multi;
    } else if (lock->keep_alive != NULL) {
        lock->keep_alive->multi = NULL;
    }
}

/* Watches the lock, for callbacks that are added after this; false after throwing. */
static bool lock_begin_watch(php_latch_lock *lock)
{
    if (begin_keep_alive(lock, false)) {
        return true;
    }
    restore_request(lock->keep_alive);
    return false;
}

bool php_latch_lock_watch(php_latch_lock *lock, php_latch_multi_lock *multi)
{
    if (!check_native(lock, false)) {
        return false;
    }
    php_latch_lock_join_multi_lock(lock, multi);
    return lock_begin_watch(lock);
}

/* A closure: a callable of the caller's scope may not be called from where the loss is reported. */
void php_latch_lock_parse_callback(INTERNAL_FUNCTION_PARAMETERS, zval *closure)
{
    zend_function *from_callable =
        zend_hash_str_find_ptr(&zend_ce_closure->function_table, ZEND_STRL("fromcallable"));
    zend_fcall_info call;
    zend_fcall_info_cache cache;

    (void) return_value;
    ZVAL_UNDEF(closure);
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_FUNC(call, cache)
    ZEND_PARSE_PARAMETERS_END();
    zend_call_known_function(from_callable, NULL, zend_ce_closure, closure, 1, &call.function_name,
                             NULL);
}

void php_latch_lock_add_callback(zval *callbacks, zval *closure)
{
    if (Z_TYPE_P(callbacks) != IS_ARRAY) {
        array_init(callbacks);
    }
    SEPARATE_ARRAY(callbacks);
    add_next_index_zval(callbacks, closure);
}

PHP_METHOD(Latch_Lock, onLost)
{
    php_latch_lock *lock = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    zval closure;

    php_latch_lock_parse_callback(INTERNAL_FUNCTION_PARAM_PASSTHRU, &closure);
    if (Z_TYPE(closure) != IS_OBJECT) {
        RETURN_THROWS();
    }
    if (!php_latch_lock_check_constructed(lock) || !check_native(lock, false)) {
        zval_ptr_dtor(&closure);
        RETURN_THROWS();
    }
    keep_alive_get(lock);
    if (!lock_begin_watch(lock)) {
        zval_ptr_dtor(&closure);
        RETURN_THROWS();
    }
    php_latch_lock_add_callback(&lock->keep_alive->callbacks, &closure);
    RETURN_OBJ_COPY(&lock->std);
}
