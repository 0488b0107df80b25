/*
 * Latch\LockFactory: makes locks of one store. A plain object with Symfony's properties, because
 * applications extend it and read $this->logger. Latch\Semaphore\SemaphoreFactory has the same, and
 * the same code.
 */
#include "ext/lock/lock.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/log.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/lock_factory_arginfo.h"

/* As declared in stubs/lock_factory.stub.php and stubs/semaphore.stub.php. */
enum { FACTORY_STORE, FACTORY_LOGGER };

/* array_walk() turns properties into references, and ArrayObject writes what it likes into them. */
static zval *factory_slot(zend_object *factory, int index)
{
    zval *slot = OBJ_PROP_NUM(factory, index);

    ZVAL_DEREF(slot);
    return slot;
}

static void factory_replace(zend_object *factory, int index, zend_object *value)
{
    zval *slot = factory_slot(factory, index);
    zval old;

    ZVAL_COPY_VALUE(&old, slot);
    ZVAL_OBJ_COPY(slot, value);
    zval_ptr_dtor(&old);
}

void php_latch_factory_set_store(zend_object *factory, zend_object *store)
{
    factory_replace(factory, FACTORY_STORE, store);
}

PHP_METHOD(Latch_LockFactory, __construct)
{
    zend_object *store;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(store, php_latch_persisting_store_ce)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_factory_set_store(Z_OBJ_P(ZEND_THIS), store);
}

PHP_METHOD(Latch_LockFactory, setLogger)
{
    zend_object *logger;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ(logger)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_logger(logger)) {
        RETURN_THROWS();
    }
    factory_replace(Z_OBJ_P(ZEND_THIS), FACTORY_LOGGER, logger);
}

static void throw_overwritten(const php_latch_primitive *primitive, const char *property,
                              zend_string *type, const zval *value)
{
    zend_type_error("%s::$%s must be of type %s, %s found: something has overwritten it",
                    ZSTR_VAL(primitive->factory->name), property,
                    type != NULL ? ZSTR_VAL(type) : "?Psr\\Log\\LoggerInterface",
                    zend_zval_type_name(value));
}

zend_object *php_latch_factory_store(zend_object *factory, const php_latch_primitive *primitive)
{
    const zval *store = factory_slot(factory, FACTORY_STORE);

    if (Z_TYPE_P(store) == IS_UNDEF) {
        zend_throw_error(NULL,
                         "Typed property %s::$store must not be accessed before "
                         "initialization",
                         ZSTR_VAL(primitive->factory->name));
        return NULL;
    }
    if (Z_TYPE_P(store) != IS_OBJECT || !instanceof_function(Z_OBJCE_P(store), primitive->store)) {
        throw_overwritten(primitive, "store", primitive->store->name, store);
        return NULL;
    }
    return Z_OBJ_P(store);
}

void php_latch_factory_make(zval *return_value, zend_object *factory, zend_object *key, double ttl,
                            bool ttl_is_null, bool auto_release)
{
    const php_latch_primitive *primitive = php_latch_key_primitive(key);
    zend_object *store = php_latch_factory_store(factory, primitive);
    const zval *logger = factory_slot(factory, FACTORY_LOGGER);

    if (store == NULL) {
        return;
    }
    if (Z_TYPE_P(logger) > IS_NULL
        && !(Z_TYPE_P(logger) == IS_OBJECT && php_latch_is_logger(Z_OBJ_P(logger)))) {
        throw_overwritten(primitive, "logger", NULL, logger);
        return;
    }
    if (!ttl_is_null && !php_latch_check_ttl(primitive, 2, ttl)) {
        return;
    }
    php_latch_lock_make(return_value, key, store, ttl_is_null ? 0 : ttl, auto_release,
                        Z_TYPE_P(logger) == IS_OBJECT ? Z_OBJ_P(logger) : NULL);
}

void php_latch_factory_make_new(zval *return_value, zend_object *factory, zval *key, double ttl,
                                bool ttl_is_null, bool auto_release, const char *from_key)
{
    zval arguments[3];

    if (factory->ce == php_latch_key_primitive(Z_OBJ_P(key))->factory) {
        php_latch_factory_make(return_value, factory, Z_OBJ_P(key), ttl, ttl_is_null, auto_release);
        /* Not OBJ_RELEASE(), which would add a possible root to the cycle collector, and start
           it every 10,000th time. The key is new, and the Lock's alone. */
        if (GC_DELREF(Z_OBJ_P(key)) == 0) {
            zend_objects_store_del(Z_OBJ_P(key));
        }
        return;
    }
    ZVAL_COPY_VALUE(&arguments[0], key);
    if (ttl_is_null) {
        ZVAL_NULL(&arguments[1]);
    } else {
        ZVAL_DOUBLE(&arguments[1], ttl);
    }
    ZVAL_BOOL(&arguments[2], auto_release);
    zend_call_known_instance_method(zend_hash_str_find_ptr(&factory->ce->function_table, from_key,
                                                           strlen(from_key)),
                                    factory, return_value, 3, arguments);
    zval_ptr_dtor(key);
}

PHP_METHOD(Latch_LockFactory, createLock)
{
    zend_string *resource;
    double ttl = 300.0;
    bool ttl_is_null = false, auto_release = true;
    zval key;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(resource)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
        Z_PARAM_BOOL(auto_release)
    ZEND_PARSE_PARAMETERS_END();

    if (!php_latch_check_resource(&php_latch_locks, resource)) {
        RETURN_THROWS();
    }
    php_latch_key_make(&key, resource);
    php_latch_factory_make_new(return_value, Z_OBJ_P(ZEND_THIS), &key, ttl, ttl_is_null,
                               auto_release, "createlockfromkey");
}

PHP_METHOD(Latch_LockFactory, createLockFromKey)
{
    zend_object *key;
    double ttl = 300.0;
    bool ttl_is_null = false, auto_release = true;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
        Z_PARAM_BOOL(auto_release)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_factory_make(return_value, Z_OBJ_P(ZEND_THIS), key, ttl, ttl_is_null, auto_release);
}

void php_latch_register_lock_factory(void)
{
    php_latch_locks.factory = register_class_Latch_LockFactory();
    if (php_latch_logger_aware_ce != NULL) {
        zend_class_implements(php_latch_locks.factory, 1, php_latch_logger_aware_ce);
    }
}
