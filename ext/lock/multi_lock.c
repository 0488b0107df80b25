/*
 * Latch\MultiLock: locks on several resources, held all together or not at all. What it consists
 * of: multi_lock.h; how it acquires them: multi_acquire.c. LockFactory::createMultiLock() makes it.
 *
 * A method calls the same of each member. Automatic release is the members' own, as is all that
 * ends with the script or the process: lifecycle.c. Only the destructor goes before theirs.
 */
#include "ext/lock/multi_lock.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/php/statistics.h"

#include "zend_exceptions.h"

#include <math.h>

#include "stubs/multi_lock_arginfo.h"

static zend_class_entry *multi_lock_ce;
static zend_object_handlers handlers;

php_latch_multi_lock *php_latch_multi_lock_from(zend_object *object)
{
    return LATCH_CONTAINER(object, php_latch_multi_lock, std);
}

#define THIS_MULTI_LOCK php_latch_multi_lock_from(Z_OBJ_P(ZEND_THIS))

/* What is the same in all members. */
static const php_latch_lock *first_member(const php_latch_multi_lock *multi)
{
    return multi->members[0].lock;
}

/*
 * Removes the pending exception: returns the first one, or an exit, of it and `first`, and drops
 * the other: there may be thousands, of members in a server that is down.
 */
static zend_object *keep_first_exception(zend_object *first)
{
    zend_object *thrown = EG(exception);

    EG(exception) = NULL;
    if (thrown == NULL || first == NULL) {
        return thrown != NULL ? thrown : first;
    }
    if (php_latch_is_exit(thrown)) {
        php_latch_chain_exceptions(first, thrown);
        first = EG(exception);
        EG(exception) = NULL;
    } else {
        OBJ_RELEASE(thrown);
    }
    return first;
}

void php_latch_multi_lock_for_each(php_latch_multi_lock *multi, void (*call)(php_latch_lock *lock))
{
    zend_object *thrown = NULL;

    for (size_t at = 0; at < multi->count; at++) {
        call(multi->members[at].lock);
        thrown = keep_first_exception(thrown);
    }
    EG(exception) = thrown;
}

/* ---- Its life -------------------------------------------------------------------------------- */

static zend_object *multi_lock_create(zend_class_entry *ce)
{
    php_latch_multi_lock *multi = zend_object_alloc(sizeof(*multi), ce);

    memset(multi, 0, offsetof(php_latch_multi_lock, std));
    zend_object_std_init(&multi->std, ce);
    object_properties_init(&multi->std, ce);
    multi->std.handlers = &handlers;
    return &multi->std;
}

static void destruct_members(void *context)
{
    php_latch_multi_lock *multi = context;
    zend_object *thrown = NULL;
    bool reports = true;

    for (size_t at = 0; at < multi->count; at++) {
        reports &= php_latch_lock_destruct_member(multi->members[at].lock, reports);
        thrown = keep_first_exception(thrown);
    }
    EG(exception) = thrown;
}

/* Releases all members, so that a server that is down is reported once. */
static void multi_lock_destruct(zend_object *object)
{
    php_latch_lock_call_aside(destruct_members, php_latch_multi_lock_from(object));
}

static void multi_lock_free(zend_object *object)
{
    php_latch_multi_lock *multi = php_latch_multi_lock_from(object);
    php_latch_multi_member *members = multi->members;
    size_t count = multi->count;

    for (size_t at = 0; at < count; at++) {
        if (members[at].lock->native) {
            php_latch_lock_join_multi_lock(members[at].lock, NULL);
        }
    }
    multi->count = 0;
    multi->members = NULL;
    for (size_t at = 0; at < count; at++) {
        OBJ_RELEASE(&members[at].lock->std); /* releases the lock, if it is to */
    }
    if (members != NULL) {
        efree(members);
    }
    zval_ptr_dtor(&multi->callbacks);
    ZVAL_UNDEF(&multi->callbacks);
    zend_object_std_dtor(object);
}

static HashTable *multi_lock_get_gc(zend_object *object, zval **table, int *count)
{
    const php_latch_multi_lock *multi = php_latch_multi_lock_from(object);
    zend_get_gc_buffer *buffer = zend_get_gc_buffer_create();

    for (size_t at = 0; at < multi->count; at++) {
        zend_get_gc_buffer_add_obj(buffer, &multi->members[at].lock->std);
    }
    zend_get_gc_buffer_add_zval(buffer, (zval *) &multi->callbacks);
    zend_get_gc_buffer_use(buffer, table, count);
    return object->properties;
}

/* False after throwing. */
static bool add_resource(php_latch_multi_lock *multi, zend_object *factory,
                         const php_latch_multi_resource *resource, double ttl, bool ttl_is_null,
                         bool auto_release)
{
    zval key, lock;

    ZVAL_UNDEF(&lock);
    php_latch_key_make(&key, resource->name);
    php_latch_factory_make(&lock, factory, Z_OBJ(key), ttl, ttl_is_null, auto_release);
    zval_ptr_dtor(&key);
    if (Z_TYPE(lock) != IS_OBJECT) {
        return false;
    }
    php_latch_lock_from(Z_OBJ(lock))->counted_as = PHP_LATCH_COUNTED_MEMBERS;
    multi->members[multi->count++] = (php_latch_multi_member){
        .lock = php_latch_lock_from(Z_OBJ(lock)),
        .is_shared = resource->is_shared,
    };
    return true;
}

void php_latch_multi_lock_make(zval *return_value, zend_object *factory,
                               const php_latch_multi_resource *resources, size_t count, double ttl,
                               bool ttl_is_null, bool auto_release)
{
    php_latch_multi_lock *multi = php_latch_multi_lock_from(multi_lock_create(multi_lock_ce));

    multi->members = safe_emalloc(count, sizeof(*multi->members), 0);
    while (multi->count < count) {
        if (!add_resource(multi, factory, &resources[multi->count], ttl, ttl_is_null,
                          auto_release)) {
            OBJ_RELEASE(&multi->std);
            return;
        }
    }
    ZVAL_OBJ(return_value, &multi->std);
}

zend_string *php_latch_multi_lock_describe(const php_latch_multi_lock *multi)
{
    static const char before[] = "multi-lock of \"";
    zend_string *name = php_latch_key_name(first_member(multi)->key);
    zend_string *after = multi->count == 1
                             ? zend_strpprintf(0, "\"")
                             : zend_strpprintf(0, "\" and %zu more", multi->count - 1);
    zend_string *whole = zend_string_concat3(before, sizeof(before) - 1, ZSTR_VAL(name),
                                             ZSTR_LEN(name), ZSTR_VAL(after), ZSTR_LEN(after));

    zend_string_release(after);
    return whole;
}

bool php_latch_multi_lock_is_held(const php_latch_multi_lock *multi)
{
    if (multi->mode == LATCH_FREE) {
        return false;
    }
    for (size_t at = 0; at < multi->count; at++) {
        if (!php_latch_lock_is_held(multi->members[at].lock)) {
            return false;
        }
    }
    return true;
}

/* ---- Its methods ----------------------------------------------------------------------------- */

bool php_latch_multi_lock_check_made(const php_latch_multi_lock *multi)
{
    if (multi->count > 0) {
        return true;
    }
    zend_throw_error(NULL, "%s has no members: make it by createMultiLock() of %s",
                     ZSTR_VAL(multi->std.ce->name), ZSTR_VAL(php_latch_locks.factory->name));
    return false;
}

/* Begins a method that sends requests; false after throwing: another one is under way, which a
 * signal handler or a fiber has interrupted. In a shutdown function after a fatal error there is
 * none any more. */
static bool begin_method(php_latch_multi_lock *multi)
{
    zend_string *name;
    zval exception;

    if (!php_latch_multi_lock_check_made(multi)) {
        return false;
    }
    if (!multi->is_busy || CG(unclean_shutdown)) {
        multi->is_busy = true;
        return true;
    }
    name = php_latch_multi_lock_describe(multi);
    ZVAL_OBJ(&exception, php_latch_new_exception(php_latch_locks.not_stored, NULL, "The ", name,
                                                 " is busy: another operation on it has not ended "
                                                 "yet."));
    zend_string_release(name);
    zend_throw_exception_object(&exception);
    return false;
}

latch_status php_latch_multi_lock_call_acquire(php_latch_multi_lock *multi, latch_op_kind kind,
                                               bool blocking, int64_t deadline_ns)
{
    latch_status status;

    if (!begin_method(multi)) {
        return LATCH_INTERRUPTED;
    }
    status = php_latch_multi_lock_acquire(multi, kind, blocking, deadline_ns);
    php_latch_statistics_count(&LATCH_G(statistics)[PHP_LATCH_COUNTED_MULTI_LOCKS], kind, status,
                               false);
    multi->is_busy = false;
    return status;
}

void php_latch_multi_lock_call_release(php_latch_multi_lock *multi)
{
    if (begin_method(multi)) {
        php_latch_multi_lock_release(multi);
        multi->is_busy = false;
    }
}

static void multi_lock_acquire(INTERNAL_FUNCTION_PARAMETERS, latch_op_kind kind)
{
    php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    bool blocking = false, timeout_is_null = true;
    double timeout = 0;
    int64_t deadline_ns;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(blocking)
        Z_PARAM_DOUBLE_OR_NULL(timeout, timeout_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_multi_lock_check_made(multi)
        || !php_latch_lock_deadline(first_member(multi), 2, blocking, timeout, timeout_is_null,
                                    &deadline_ns)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(php_latch_multi_lock_call_acquire(multi, kind, blocking, deadline_ns)
                == LATCH_DONE);
}

PHP_METHOD(Latch_MultiLock, acquire)
{
    multi_lock_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE);
}

PHP_METHOD(Latch_MultiLock, acquireRead)
{
    multi_lock_acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE_SHARED);
}

PHP_METHOD(Latch_MultiLock, refresh)
{
    php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    double ttl = 0;
    bool ttl_is_null = true;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_multi_lock_check_made(multi)
        || !php_latch_lock_refresh_ttl(first_member(multi), &ttl, ttl_is_null)
        || !begin_method(multi)) {
        RETURN_THROWS();
    }
    for (size_t at = 0; at < multi->count && EG(exception) == NULL; at++) {
        php_latch_lock_refresh(multi->members[at].lock, ttl);
    }
    multi->is_busy = false;
}

PHP_METHOD(Latch_MultiLock, isAcquired)
{
    php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    bool is_acquired = true;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!begin_method(multi)) {
        RETURN_THROWS();
    }
    for (size_t at = 0; at < multi->count && is_acquired; at++) {
        is_acquired = php_latch_lock_is_acquired(multi->members[at].lock) && EG(exception) == NULL;
    }
    multi->is_busy = false;
    RETURN_BOOL(is_acquired);
}

PHP_METHOD(Latch_MultiLock, isHeld)
{
    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_multi_lock_check_made(THIS_MULTI_LOCK)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(php_latch_multi_lock_is_held(THIS_MULTI_LOCK));
}

PHP_METHOD(Latch_MultiLock, getFencingTokens)
{
    const php_latch_multi_lock *multi = THIS_MULTI_LOCK;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_multi_lock_check_made(multi)) {
        RETURN_THROWS();
    }
    array_init_size(return_value, (uint32_t) multi->count);
    for (size_t at = 0; at < multi->count; at++) {
        const php_latch_lock *lock = multi->members[at].lock;
        uint64_t token = php_latch_lock_fencing_token(lock);
        zval value;

        if (token != 0) {
            ZVAL_LONG(&value, (zend_long) token);
        } else {
            ZVAL_NULL(&value);
        }
        zend_symtable_update(Z_ARR_P(return_value), php_latch_key_name(lock->key), &value);
    }
}

PHP_METHOD(Latch_MultiLock, keepAlive)
{
    php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    double max_hold = 0;
    bool max_hold_is_null = true;
    int64_t max_hold_ms;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(max_hold, max_hold_is_null)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_multi_lock_check_made(multi)
        || !php_latch_lock_max_hold(first_member(multi), max_hold, max_hold_is_null,
                                    &max_hold_ms)) {
        RETURN_THROWS();
    }
    for (size_t at = 0; at < multi->count; at++) {
        php_latch_lock *lock = multi->members[at].lock;

        if (!php_latch_lock_keep_alive(lock, max_hold_ms)) {
            RETURN_THROWS();
        }
        php_latch_lock_join_multi_lock(lock, multi);
    }
    RETURN_OBJ_COPY(&multi->std);
}

PHP_METHOD(Latch_MultiLock, onLost)
{
    php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    zval closure;

    php_latch_lock_parse_callback(INTERNAL_FUNCTION_PARAM_PASSTHRU, &closure);
    if (Z_TYPE(closure) != IS_OBJECT) {
        RETURN_THROWS();
    }
    if (!php_latch_multi_lock_check_made(multi)) {
        zval_ptr_dtor(&closure);
        RETURN_THROWS();
    }
    for (size_t at = 0; at < multi->count; at++) {
        if (!php_latch_lock_watch(multi->members[at].lock, multi)) {
            zval_ptr_dtor(&closure);
            RETURN_THROWS();
        }
    }
    php_latch_lock_add_callback(&multi->callbacks, &closure);
    RETURN_OBJ_COPY(&multi->std);
}

PHP_METHOD(Latch_MultiLock, release)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_multi_lock_call_release(THIS_MULTI_LOCK);
}

PHP_METHOD(Latch_MultiLock, isExpired)
{
    const php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    bool is_expired = false;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_multi_lock_check_made(multi)) {
        RETURN_THROWS();
    }
    for (size_t at = 0; at < multi->count && !is_expired; at++) {
        is_expired = php_latch_key_is_expired(multi->members[at].lock->key);
    }
    RETURN_BOOL(is_expired);
}

PHP_METHOD(Latch_MultiLock, getRemainingLifetime)
{
    const php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    double first = NAN;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_multi_lock_check_made(multi)) {
        RETURN_THROWS();
    }
    for (size_t at = 0; at < multi->count; at++) {
        first = fmin(first, php_latch_key_remaining_lifetime(multi->members[at].lock->key));
    }
    if (isnan(first)) {
        RETURN_NULL();
    }
    RETURN_DOUBLE(first);
}

/* ---- As an object ---------------------------------------------------------------------------- */

PHP_METHOD(Latch_MultiLock, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE(); /* private: never called */
}

PHP_METHOD(Latch_MultiLock, __debugInfo)
{
    php_latch_multi_lock *multi = THIS_MULTI_LOCK;
    zval modes, mode;

    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    if (multi->count == 0) {
        return;
    }
    array_init_size(&modes, (uint32_t) multi->count);
    for (size_t at = 0; at < multi->count; at++) {
        const php_latch_multi_member *member = &multi->members[at];

        ZVAL_STRING(&mode, member->is_shared ? "read" : "write");
        zend_symtable_update(Z_ARR(modes), php_latch_key_name(member->lock->key), &mode);
    }
    add_assoc_zval(return_value, "resources", &modes);
    add_assoc_string(return_value, "store", ZSTR_VAL(first_member(multi)->store->ce->name));
    if (first_member(multi)->ttl > 0) {
        add_assoc_double(return_value, "ttl", first_member(multi)->ttl);
    } else {
        add_assoc_null(return_value, "ttl");
    }
    add_assoc_bool(return_value, "autoRelease", first_member(multi)->auto_release);
    add_assoc_bool(return_value, "held", php_latch_multi_lock_is_held(multi));
}

PHP_METHOD(Latch_MultiLock, getStatistics)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_statistics_return(PHP_LATCH_COUNTED_MULTI_LOCKS, return_value);
}

void php_latch_register_multi_lock(void)
{
    multi_lock_ce = register_class_Latch_MultiLock(php_latch_shared_lock_interface_ce);
    multi_lock_ce->create_object = multi_lock_create;
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(php_latch_multi_lock, std);
    handlers.dtor_obj = multi_lock_destruct;
    handlers.free_obj = multi_lock_free;
    handlers.clone_obj = NULL; /* a second holder of what is held once */
    handlers.get_gc = multi_lock_get_gc;
}
