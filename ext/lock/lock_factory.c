/*
 * Latch\LockFactory: makes locks of one store. A plain object with Symfony's properties, because
 * applications extend it and read $this->logger. Latch\Semaphore\SemaphoreFactory has the same, and
 * the same code.
 */
#include "ext/lock/lock.h"

#include "ext/key/key.h"
#include "ext/lock/multi_lock.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/log.h"

#include "ext/spl/spl_iterators.h"
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

/* ---- createMultiLock() ----------------------------------------------------------------------- */

/* The resources of a MultiLock, as they are read; names are references. */
typedef struct resource_list {
    php_latch_multi_resource *items;
    size_t count, capacity;
    bool is_list; /* keys are positions, so that a name beside one may not be a mode */
} resource_list;

static void resource_list_free(resource_list *list)
{
    for (size_t at = 0; at < list->count; at++) {
        zend_string_release(list->items[at].name);
    }
    if (list->items != NULL) {
        efree(list->items);
    }
}

/* Throws, and returns false; consumes the text. */
static bool refuse_resources(zend_string *problem)
{
    php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "resources", ZSTR_VAL(problem));
    zend_string_release(problem);
    return false;
}

/* Consumes the name; false after throwing. */
static bool add_resource_item(resource_list *list, zend_string *name, bool is_shared)
{
    if (ZSTR_LEN(name) == 0) {
        zend_string_release(name);
        return refuse_resources(zend_strpprintf(0, "must not have an empty name: give each "
                                                   "resource a name"));
    }
    if (list->count == PHP_LATCH_MULTI_LOCK_MAX) {
        zend_string_release(name);
        return refuse_resources(zend_strpprintf(0,
                                                "must have %d resources at most: lock something "
                                                "that stands for all of them",
                                                PHP_LATCH_MULTI_LOCK_MAX));
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        list->items = safe_erealloc(list->items, list->capacity, sizeof(*list->items), 0);
    }
    list->items[list->count++] = (php_latch_multi_resource){name, is_shared};
    return true;
}

static bool is_mode(const zval *value, bool *is_shared)
{
    *is_shared = Z_TYPE_P(value) == IS_STRING && zend_string_equals_literal(Z_STR_P(value), "read");
    return *is_shared
           || (Z_TYPE_P(value) == IS_STRING && zend_string_equals_literal(Z_STR_P(value), "write"));
}

/* 'NAME' => 'read' */
static bool read_named_item(resource_list *list, zend_string *name, const zval *value)
{
    bool is_shared;

    if (is_mode(value, &is_shared)) {
        return add_resource_item(list, zend_string_copy(name), is_shared);
    }
    return Z_TYPE_P(value) == IS_STRING
               ? refuse_resources(zend_strpprintf(
                   0, "must have \"read\" or \"write\" as the mode of \"%.64s\", \"%.64s\" given",
                   ZSTR_VAL(name), Z_STRVAL_P(value)))
               : refuse_resources(zend_strpprintf(
                   0, "must have \"read\" or \"write\" as the mode of \"%.64s\", %s given",
                   ZSTR_VAL(name), zend_zval_type_name(value)));
}

/* NAME => 'read', where PHP has made a number of a name, or just 'NAME'. */
static bool read_numbered_item(resource_list *list, zend_ulong number, const zval *value)
{
    bool is_shared;

    if (Z_TYPE_P(value) != IS_STRING) {
        return refuse_resources(
            zend_strpprintf(0, "must have names of resources, strings; %s given at " ZEND_LONG_FMT,
                            zend_zval_type_name(value), (zend_long) number));
    }
    if (!is_mode(value, &is_shared)) {
        return add_resource_item(list, zend_string_copy(Z_STR_P(value)), false);
    }
    if (!list->is_list) {
        return add_resource_item(list, zend_long_to_str((zend_long) number), is_shared);
    }
    return refuse_resources(
        zend_strpprintf(0,
                        "has \"%s\" at " ZEND_LONG_FMT ", which may be a name or a mode: write "
                        "[\"%s\" => \"write\"] for a resource of that name",
                        Z_STRVAL_P(value), (zend_long) number, Z_STRVAL_P(value)));
}

static bool read_array(resource_list *list, HashTable *array)
{
    zend_ulong number;
    zend_string *name;
    zval *value;

    list->is_list = zend_array_is_list(array);
    ZEND_HASH_FOREACH_KEY_VAL(array, number, name, value)
    {
        ZVAL_DEREF(value);
        if (!(name != NULL ? read_named_item(list, name, value)
                           : read_numbered_item(list, number, value))) {
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

static int read_current(zend_object_iterator *iterator, void *context)
{
    resource_list *list = context;
    zval *value = iterator->funcs->get_current_data(iterator);
    bool is_read = false;
    zval key;

    if (EG(exception) != NULL || value == NULL) {
        return ZEND_HASH_APPLY_STOP;
    }
    ZVAL_DEREF(value);
    ZVAL_LONG(&key, (zend_long) list->count);
    if (iterator->funcs->get_current_key != NULL) {
        iterator->funcs->get_current_key(iterator, &key);
    }
    if (EG(exception) == NULL) {
        is_read = Z_TYPE(key) == IS_STRING
                      ? read_named_item(list, Z_STR(key), value)
                      : read_numbered_item(list,
                                           Z_TYPE(key) == IS_LONG ? (zend_ulong) Z_LVAL(key)
                                                                  : (zend_ulong) list->count,
                                           value);
    }
    zval_ptr_dtor(&key);
    return is_read ? ZEND_HASH_APPLY_KEEP : ZEND_HASH_APPLY_STOP;
}

static int compare_resources(const void *first, const void *second)
{
    const zend_string *one = ((const php_latch_multi_resource *) first)->name;
    const zend_string *two = ((const php_latch_multi_resource *) second)->name;

    return zend_binary_strcmp(ZSTR_VAL(one), ZSTR_LEN(one), ZSTR_VAL(two), ZSTR_LEN(two));
}

/* In the byte order of the names; false after throwing. */
static bool read_resources(resource_list *list, zval *resources)
{
    if (Z_TYPE_P(resources) == IS_ARRAY) {
        if (!read_array(list, Z_ARR_P(resources))) {
            return false;
        }
    } else {
        list->is_list = true;
        spl_iterator_apply(resources, read_current, list);
        if (EG(exception) != NULL) {
            return false;
        }
    }
    if (list->count == 0) {
        return refuse_resources(
            zend_strpprintf(0, "must not be empty: name at least one resource"));
    }
    qsort(list->items, list->count, sizeof(*list->items), compare_resources);
    for (size_t at = 1; at < list->count; at++) {
        if (zend_string_equals(list->items[at - 1].name, list->items[at].name)) {
            return refuse_resources(zend_strpprintf(0,
                                                    "must name each resource once, and has "
                                                    "\"%.64s\" twice",
                                                    ZSTR_VAL(list->items[at].name)));
        }
    }
    return true;
}

PHP_METHOD(Latch_LockFactory, createMultiLock)
{
    resource_list list = {0};
    double ttl = 300.0;
    bool ttl_is_null = false, auto_release = true;
    zval *resources;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_ITERABLE(resources)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
        Z_PARAM_BOOL(auto_release)
    ZEND_PARSE_PARAMETERS_END();
    if (read_resources(&list, resources)) {
        php_latch_multi_lock_make(return_value, Z_OBJ_P(ZEND_THIS), list.items, list.count, ttl,
                                  ttl_is_null, auto_release);
    }
    resource_list_free(&list);
}

void php_latch_register_lock_factory(void)
{
    php_latch_locks.factory = register_class_Latch_LockFactory();
    if (php_latch_logger_aware_ce != NULL) {
        zend_class_implements(php_latch_locks.factory, 1, php_latch_logger_aware_ce);
    }
}
