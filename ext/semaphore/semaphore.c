/*
 * Latch\Semaphore\Semaphore: one holder's permits of one counting semaphore, and the factory of
 * such objects. A Semaphore is a php_latch_lock on a semaphore's key: all of its methods but the
 * constructor are Lock's (ext/lock/lock.h).
 */
#include "ext/semaphore/semaphore.h"

#include "ext/key/key.h"
#include "ext/lock/lock.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/statistics.h"
#include "ext/store/engine_store.h"
#include "ext/store/inspection.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/semaphore_arginfo.h"

/* Seconds: of permits for which no TTL is given, as in Symfony's component. */
#define DEFAULT_TTL 300.0

zend_object *php_latch_semaphore_store_argument(uint32_t number, zval *store)
{
    bool is_object = Z_TYPE_P(store) == IS_OBJECT;

    if (is_object && instanceof_function(Z_OBJCE_P(store), php_latch_semaphores.store)) {
        return Z_OBJ_P(store);
    }
    zend_argument_type_error(
        number, "must be of type %s, %s given%s", ZSTR_VAL(php_latch_semaphores.store->name),
        is_object ? ZSTR_VAL(Z_OBJCE_P(store)->name) : zend_zval_type_name(store),
        is_object && instanceof_function(Z_OBJCE_P(store), php_latch_locks.store)
            ? ": that store has locks and no semaphores; RedisStore and InMemoryStore of the "
              "namespace Latch\\Semaphore\\Store have them, and LockStore there makes them of "
              "locks"
            : "");
    return NULL;
}

PHP_METHOD(Latch_Semaphore_Semaphore, __construct)
{
    php_latch_lock *semaphore = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    zend_object *key, *store;
    double ttl = DEFAULT_TTL;
    bool auto_release = true;
    zval *given;

    ZEND_PARSE_PARAMETERS_START(2, 4)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        Z_PARAM_ZVAL(given)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE(ttl)
        Z_PARAM_BOOL(auto_release)
    ZEND_PARSE_PARAMETERS_END();
    store = php_latch_semaphore_store_argument(2, given);
    if (store == NULL || !php_latch_check_ttl(&php_latch_semaphores, 3, ttl)
        || !php_latch_lock_check_new(semaphore)) {
        RETURN_THROWS();
    }
    php_latch_lock_init(semaphore, key, store, ttl, auto_release, NULL);
}

PHP_METHOD(Latch_Semaphore_Semaphore, available)
{
    php_latch_lock *semaphore = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    zend_long limit, used;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!php_latch_lock_check_constructed(semaphore)) {
        RETURN_THROWS();
    }
    if (!php_latch_store_has_inspect(semaphore->store)) {
        zend_throw_exception_ex(php_latch_semaphores.not_stored, 0,
                                "The permits of the \"%s\" semaphore cannot be counted: %s is "
                                "written in PHP, and has no method for that.",
                                ZSTR_VAL(php_latch_key_name(semaphore->key)),
                                ZSTR_VAL(semaphore->store->ce->name));
        RETURN_THROWS();
    }
    limit = (zend_long) php_latch_key_permits(semaphore->key).limit;
    if (!php_latch_store_count_permits(semaphore->store, semaphore->key, &used)) {
        RETURN_THROWS();
    }
    RETURN_LONG(used < limit ? limit - used : 0); /* others may have named a higher limit */
}

PHP_METHOD(Latch_Semaphore_Semaphore, getStatistics)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_statistics_return(PHP_LATCH_COUNTED_SEMAPHORES, return_value);
}

PHP_METHOD(Latch_Semaphore_Semaphore, overtaking)
{
    php_latch_lock *semaphore = php_latch_lock_from(Z_OBJ_P(ZEND_THIS));
    bool overtakes = true;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(overtakes)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_lock_check_constructed(semaphore)) {
        RETURN_THROWS();
    }
    semaphore->overtakes = overtakes;
    RETURN_OBJ_COPY(Z_OBJ_P(ZEND_THIS));
}

PHP_METHOD(Latch_Semaphore_SemaphoreFactory, __construct)
{
    zend_object *store;
    zval *given;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(given)
    ZEND_PARSE_PARAMETERS_END();
    store = php_latch_semaphore_store_argument(1, given);
    if (store == NULL) {
        RETURN_THROWS();
    }
    php_latch_factory_set_store(Z_OBJ_P(ZEND_THIS), store);
}

PHP_METHOD(Latch_Semaphore_SemaphoreFactory, createSemaphore)
{
    zend_string *resource;
    zend_long limit, weight = 1;
    double ttl = DEFAULT_TTL;
    bool ttl_is_null = false, auto_release = true;
    zval key;

    ZEND_PARSE_PARAMETERS_START(2, 5)
        Z_PARAM_STR(resource)
        Z_PARAM_LONG(limit)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(weight)
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
        Z_PARAM_BOOL(auto_release)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_semaphore_key_make(&key, resource, limit, weight)) {
        RETURN_THROWS();
    }
    php_latch_factory_make_new(return_value, Z_OBJ_P(ZEND_THIS), &key,
                               ttl_is_null ? DEFAULT_TTL : ttl, false, auto_release,
                               "createsemaphorefromkey");
}

PHP_METHOD(Latch_Semaphore_SemaphoreFactory, createSemaphoreFromKey)
{
    zend_object *key;
    double ttl = DEFAULT_TTL;
    bool ttl_is_null = false, auto_release = true;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
        Z_PARAM_BOOL(auto_release)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_factory_make(return_value, Z_OBJ_P(ZEND_THIS), key, ttl_is_null ? DEFAULT_TTL : ttl,
                           false, auto_release);
}

void php_latch_register_semaphores(void)
{
    zend_class_entry *base;

    php_latch_register_semaphore_exceptions();
    php_latch_register_semaphore_key();
    base = register_class_Latch_Semaphore_SemaphoreInterface();
    php_latch_semaphores.store = register_class_Latch_Semaphore_PersistingStoreInterface();
    php_latch_semaphores.product = register_class_Latch_Semaphore_Semaphore(base);
    php_latch_lock_finish_class(php_latch_semaphores.product);
    php_latch_semaphores.factory = register_class_Latch_Semaphore_SemaphoreFactory();
    if (php_latch_logger_aware_ce != NULL) {
        zend_class_implements(php_latch_semaphores.factory, 1, php_latch_logger_aware_ce);
    }
    php_latch_register_semaphore_stores();
}
