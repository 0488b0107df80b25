/* Store methods of the engine's stores, the same for all of them. */
#include "ext/store/engine_store.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/php/statistics.h"
#include "ext/store/callback_store.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* The lease that a store method works on; NULL after throwing. */
static php_latch_lease *call_lease(zend_object *this_store, zend_object *key)
{
    php_latch_backend *backend = php_latch_store_backend(this_store);
    php_latch_lease *lease = backend != NULL ? php_latch_lease_get(key, backend, NULL) : NULL;

    if (lease != NULL) {
        php_latch_store_configure(php_latch_store_of(this_store), key, lease);
    }
    return lease;
}

static void throw_expired(const php_latch_lease *lease)
{
    zval exception;

    ZVAL_OBJ(&exception,
             php_latch_new_exception(php_latch_expired_ce, NULL, "Failed to store the \"",
                                     php_latch_lease_resource(lease), "\" lock."));
    zend_throw_exception_object(&exception);
}

/* Releases what is of no use any more; false when there is an exception. */
static bool release_unusable(zend_object *store, zend_object *key, php_latch_lease *lease)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = true};
    latch_error error;
    latch_status status = php_latch_run_request(&lease->lease, &release, &error);

    return php_latch_store_log_outcome(store, key, lease, &release, status, false)
           && EG(exception) == NULL;
}

/*
 * Sets the key's expiry after a call that took or renewed a lock for a time, as Symfony's stores
 * do; false after throwing, when that time has passed already. Members of a combined store may have
 * set it themselves.
 */
static bool apply_expiry(zend_object *store, zend_object *key, php_latch_lease *lease)
{
    if (lease->lease.deadline_ns != LATCH_NEVER) {
        php_latch_key_reduce_lifetime(key, (double) (lease->lease.deadline_ns - php_latch_now_ns())
                                               / LATCH_NS_PER_S);
    } else if (lease->parts == NULL) {
        return true;
    }
    if (!php_latch_key_is_expired(key)) {
        return true;
    }
    if (release_unusable(store, key, lease)) {
        throw_expired(lease);
    }
    return false;
}

/* Throws the exception for a request, unless it was carried out. */
static void throw_unless_done(latch_op_kind kind, latch_status status, const latch_error *error,
                              zend_object *key, const php_latch_lease *lease)
{
    const php_latch_primitive *primitive = php_latch_lease_primitive(lease);
    bool is_probe = kind == LATCH_PROBE;
    php_latch_outcome outcome;

    if (is_probe && !latch_failed(status)) {
        return;
    }
    if (lease->parts != NULL && status == LATCH_CONFLICT && php_latch_key_is_expired(key)) {
        throw_expired(lease); /* Symfony's checks the time before it counts */
        return;
    }
    outcome =
        php_latch_outcome_of_status(primitive, status, error, php_latch_lease_resource(lease));
    if (status == LATCH_CONFLICT && primitive->is_permit) {
        outcome.exception = php_latch_new_conflict(primitive, kind, php_latch_lease_resource(lease),
                                                   lease->backend->locks != NULL);
    } else if (status == LATCH_CONFLICT) { /* without message, as those of Symfony's stores */
        outcome.exception =
            php_latch_new_exception(php_latch_conflicted_ce, NULL, "", ZSTR_EMPTY_ALLOC(), "");
    }
    php_latch_throw_outcome(&outcome);
}

/*
 * Renewal for less than a millisecond: in a combined store the lock ends at once, as in Symfony's.
 */
static void expire_at_once(zend_object *store, zend_object *key, const latch_request *request)
{
    php_latch_lease *lease = call_lease(store, key);

    if (lease == NULL) {
        return;
    }
    GC_ADDREF(&lease->std);
    php_latch_key_reduce_lifetime(key, 0);
    lease->backend->ops->log_too_late(store, key, lease, request);
    if (EG(exception) == NULL) {
        apply_expiry(store, key, lease);
    }
    OBJ_RELEASE(&lease->std);
}

bool php_latch_store_run(zend_object *store, zend_object *key, const latch_request *request)
{
    php_latch_lease *lease = call_lease(store, key);
    bool takes = request->kind == LATCH_ACQUIRE || request->kind == LATCH_ACQUIRE_SHARED;
    bool done = false;
    latch_mode before;
    latch_error error;
    latch_status status;

    if (lease == NULL) {
        return false;
    }
    if (takes) {
        /* True for a call by hand: nothing releases the lock automatically, a daemon may inherit
           it. In a PHP store that wraps this one the Lock above decides (php_latch_lock_save()). */
        lease->lease.inherit = php_latch_store_call_inherits();
    }
    GC_ADDREF(&lease->std); /* a signal handler may take it away from the key */
    before = php_latch_lease_before_request(lease);
    status = php_latch_run_request(&lease->lease, request, &error);
    php_latch_lease_after_request(lease, before, request->kind);
    if (status == LATCH_DONE && takes) {
        php_latch_lease_record_acquired(lease);
    }
    /* Requests of a PHP-written store are one request of the Lock above, which counts it. */
    if (!php_latch_in_store_call()) {
        php_latch_statistics_count_request(&lease->lease, request->kind, status, true);
    }
    if (php_latch_store_log_outcome(store, key, lease, request, status, before == LATCH_FREE)) {
        throw_unless_done(request->kind, status, &error, key, lease);
        done = status == LATCH_DONE;
    }
    /* Of permits a Semaphore sets the expiry, and no store: as in Symfony's component. */
    if (done && (takes || request->kind == LATCH_REFRESH) && !lease->lease.is_permit) {
        done = apply_expiry(store, key, lease);
    }
    OBJ_RELEASE(&lease->std);
    return done;
}

static void store_acquire(INTERNAL_FUNCTION_PARAMETERS, latch_op_kind kind, bool wait)
{
    const latch_request request = {
        .kind = kind,
        .wait = wait,
        .deadline_ns = LATCH_NEVER,
        .ttl_ms = php_latch_store_of(Z_OBJ_P(ZEND_THIS))->initial_ttl_ms,
    };
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    if (php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request)
        && (latch_store_describe(php_latch_store_of(Z_OBJ_P(ZEND_THIS))->backend->store)
                ->capabilities
            & LATCH_SERIALIZABLE)
               == 0) {
        php_latch_key_mark_unserializable(key);
    }
}

PHP_METHOD(Latch_Store_NativeStore, save)
{
    store_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE, false);
}

PHP_METHOD(Latch_Store_NativeStore, saveRead)
{
    store_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE_SHARED, false);
}

PHP_METHOD(Latch_Store_NativeStore, waitAndSave)
{
    store_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE, true);
}

PHP_METHOD(Latch_Store_NativeStore, waitAndSaveRead)
{
    store_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE_SHARED, true);
}

static bool has_members(zend_object *store)
{
    const php_latch_backend *backend = php_latch_store_of(store)->backend;

    return backend != NULL && backend->member_count > 0;
}

PHP_METHOD(Latch_Store_NativeStore, putOffExpiration)
{
    latch_request request = {.kind = LATCH_REFRESH};
    zend_object *key;
    double ttl;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_ttl(&php_latch_locks, 2, ttl)) {
        RETURN_THROWS();
    }
    if (ttl == 0 && php_latch_store_of(Z_OBJ_P(ZEND_THIS))->initial_ttl_ms > 0) {
        php_latch_throw_argument(php_latch_invalid_ttl_ce, 2, "ttl",
                                 "must be more than 0 seconds: locks of this store expire");
        RETURN_THROWS();
    }
    request.ttl_ms = php_latch_ttl_ms(ttl);
    if (ttl < 0.001 && has_members(Z_OBJ_P(ZEND_THIS))) {
        expire_at_once(Z_OBJ_P(ZEND_THIS), key, &request);
        return;
    }
    if (ttl > 0 && ttl < 0.001) { /* stores count whole milliseconds */
        php_latch_key_reduce_lifetime(key, ttl);
    }
    php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request);
}

PHP_METHOD(Latch_Store_NativeStore, delete)
{
    const latch_request request = {.kind = LATCH_RELEASE};
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request);
}

PHP_METHOD(Latch_Store_NativeStore, exists)
{
    const latch_request request = {.kind = LATCH_PROBE};
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL(php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request));
}
