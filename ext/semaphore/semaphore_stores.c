/*
 * Latch\Semaphore\Store: stores of the engine that have semaphores, as PHP objects like those of
 * locks (ext/store/engine_store.h), and the factory that makes them.
 */
#include "ext/semaphore/semaphore.h"

#include "ext/key/key.h"
#include "ext/lock/lock.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/inspection.h"
#include "ext/store/redis/client.h"
#include "ext/store/redis/redis_store.h"
#include "ext/store/semaphore_store.h"
#include "ext/store/store_class.h"

#include "zend_attributes.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/semaphore_stores_arginfo.h"

/* ---- Store methods -------------------------------------------------------------------------- */

/* Parses a key and a TTL; NULL after throwing. */
static zend_object *parse_key_and_ttl(zend_execute_data *execute_data, int64_t *ttl_ms)
{
    zend_object *key;
    double ttl;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        Z_PARAM_DOUBLE(ttl)
        ZEND_PARSE_PARAMETERS_END_EX(return NULL);
        if (!php_latch_check_ttl(&php_latch_semaphores, 2, ttl)) {
            return NULL;
        }
        *ttl_ms = php_latch_ttl_ms(ttl);
        return key;
}

static zend_object *parse_key_alone(zend_execute_data *execute_data)
{
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        ZEND_PARSE_PARAMETERS_END_EX(return NULL);
        return key;
}

/* May another process use a key that is held there? */
static bool has_portable_keys(zend_object *store)
{
    const latch_store_info *info = latch_store_describe(php_latch_store_of(store)->backend->store);

    return (info->capabilities & LATCH_SERIALIZABLE) != 0;
}

PHP_METHOD(Latch_Semaphore_Store_NativeStore, save)
{
    latch_request request = {.kind = LATCH_ACQUIRE};
    zend_object *key = parse_key_and_ttl(execute_data, &request.ttl_ms);

    if (key == NULL) {
        RETURN_THROWS();
    }
    request.permits = php_latch_key_permits(key);
    if (php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request)
        && !has_portable_keys(Z_OBJ_P(ZEND_THIS))) {
        php_latch_key_mark_owned(key, Z_OBJCE_P(ZEND_THIS)->name);
    }
}

PHP_METHOD(Latch_Semaphore_Store_NativeStore, putOffExpiration)
{
    latch_request request = {.kind = LATCH_REFRESH};
    zend_object *key = parse_key_and_ttl(execute_data, &request.ttl_ms);

    if (key != NULL) {
        php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request);
    }
}

PHP_METHOD(Latch_Semaphore_Store_NativeStore, delete)
{
    const latch_request request = {.kind = LATCH_RELEASE};
    zend_object *key = parse_key_alone(execute_data);

    if (key != NULL) {
        php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request);
    }
}

PHP_METHOD(Latch_Semaphore_Store_NativeStore, exists)
{
    const latch_request request = {.kind = LATCH_PROBE};
    zend_object *key = parse_key_alone(execute_data);

    if (key == NULL) {
        RETURN_THROWS();
    }
    RETURN_BOOL(php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request));
}

PHP_METHOD(Latch_Semaphore_Store_NativeStore, inspect)
{
    zend_object *key = parse_key_alone(execute_data);

    if (key != NULL) {
        php_latch_store_inspect_permits(Z_OBJ_P(ZEND_THIS), key, return_value);
    }
}

PHP_METHOD(Latch_Semaphore_Store_RedisStore, listHeld)
{
    bool foreign = false;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(foreign)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_store_list_permits(Z_OBJ_P(ZEND_THIS), foreign, return_value);
}

/* ---- Classes -------------------------------------------------------------------------------- */

PHP_METHOD(Latch_Semaphore_Store_RedisStore, __construct)
{
    zval *redis;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(redis)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_redis_store_construct(php_latch_store_of(Z_OBJ_P(ZEND_THIS)), "redis",
                                    &php_latch_semaphores, redis,
                                    latch_store_find("redis")->default_ttl_ms);
}

PHP_METHOD(Latch_Semaphore_Store_SemaphoreStore, __construct)
{
    (void) return_value;
    php_latch_semaphore_store_construct(&php_latch_semaphores, execute_data);
}

static zend_object *create_permit_memory(zend_class_entry *ce)
{
    php_latch_store *store = php_latch_store_create(ce);

    store->backend = php_latch_backend_open(&php_latch_semaphores, "in-memory", NULL);
    return &store->std;
}

static const php_latch_dsn_form in_memory_forms[] = {
    PHP_LATCH_DSN("in-memory", php_latch_make_store_plain),
    PHP_LATCH_DSN_END,
};

static const php_latch_store_class classes[] = {
    {
        .name = "Latch\\Semaphore\\Store\\RedisStore",
        .store = "redis",
        .forms = php_latch_redis_forms,
        .clients = PHP_LATCH_REDIS_CLASSES,
        .takes_clients = true,
    },
    {
        .name = "Latch\\Semaphore\\Store\\SemaphoreStore",
        .store = "semaphore",
        .forms = php_latch_semaphore_forms,
    },
    {
        .name = "Latch\\Semaphore\\Store\\InMemoryStore",
        .store = "in-memory",
        .forms = in_memory_forms,
    },
    PHP_LATCH_STORE_CLASS_END,
};

/* ---- StoreFactory --------------------------------------------------------------------------- */

/* Throws the exception about a store of locks as one about a store of semaphores. */
static void rethrow_for_semaphores(void)
{
    zend_object *failure = EG(exception);
    const zval *message;
    zval exception, unused;

    if (failure == NULL || !instanceof_function(failure->ce, php_latch_exception_ce)) {
        return;
    }
    GC_ADDREF(failure);
    zend_clear_exception();
    message =
        zend_read_property_ex(zend_ce_exception, failure, ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused);
    object_init_ex(&exception, instanceof_function(failure->ce, php_latch_invalid_argument_ce)
                                   ? php_latch_semaphores.invalid_argument
                                   : php_latch_semaphores.storage);
    zend_update_property_ex(zend_ce_exception, Z_OBJ(exception), ZSTR_KNOWN(ZEND_STR_MESSAGE),
                            (zval *) message);
    zend_exception_set_previous(Z_OBJ(exception), failure);
    zend_throw_exception_object(&exception);
}

/*
 * Are the locks of that class permits, too, by its DSNs? They are where processes exclude each
 * other by locks that do not expire, and the store has no semaphores itself.
 */
static bool has_slots(const php_latch_store_class *class)
{
    const latch_store_info *info = latch_store_find(class->store);

    return info != NULL && info->scope >= LATCH_SCOPE_MACHINE && info->scope <= LATCH_SCOPE_SERVER
           && (info->capabilities & (LATCH_EXPIRING | LATCH_PERMITS)) == 0;
}

/* A LockStore on the store of locks that the DSN is for. */
static void make_slots_of_dsn(zend_string *dsn, zval *store)
{
    const php_latch_dsn_form *form = NULL;
    const php_latch_store_class *class = php_latch_find_store_class(dsn, &form);
    zval locks, factory;

    if (class == NULL || !has_slots(class)) {
        return;
    }
    ZVAL_UNDEF(&locks);
    form->make(class, form, dsn, &locks);
    if (Z_TYPE(locks) == IS_OBJECT) {
        object_init_ex(&factory, php_latch_locks.factory);
        php_latch_factory_set_store(Z_OBJ(factory), Z_OBJ(locks));
        php_latch_make_slots(Z_OBJ(factory), store);
        zval_ptr_dtor(&factory);
        zval_ptr_dtor(&locks);
    } else {
        rethrow_for_semaphores();
    }
}

static void make_semaphore_store_of_dsn(zend_string *dsn, zval *store)
{
    const php_latch_store_class *found = NULL;
    const php_latch_dsn_form *form = NULL;

    for (const php_latch_store_class *class = classes; class->name != NULL; class ++) {
        found = php_latch_find_longer_form(class, dsn, &form) ? class : found;
    }
    if (found != NULL) {
        form->make(found, form, dsn, store);
    } else {
        make_slots_of_dsn(dsn, store);
    }
}

static void make_semaphore_store_of_client(zval *client, zval *store)
{
    if (instanceof_function(Z_OBJCE_P(client), php_latch_locks.factory)) {
        php_latch_make_slots(Z_OBJ_P(client), store);
        return;
    }
    for (const php_latch_store_class *class = classes; class->name != NULL; class ++) {
        if (php_latch_store_class_takes(class, Z_OBJ_P(client))) {
            php_latch_make_store(class, 1, client, store);
            return;
        }
    }
}

/* Throws with Symfony's message, and says, under Latch's names, what there is. */
static void throw_no_semaphores(const zval *connection)
{
    zend_string *told = Z_TYPE_P(connection) == IS_OBJECT
                            ? zend_string_copy(Z_OBJCE_P(connection)->name)
                            : php_latch_tell_dsn(Z_STR_P(connection));

    zend_throw_exception_ex(
        php_latch_semaphores.invalid_argument, 0, "Unsupported Connection: \"%s\".%s",
        ZSTR_VAL(told),
        LATCH_G(symfony_semaphore)
            ? ""
            : " Semaphores are in stores of redis:, rediss:, valkey: and valkeys: DSNs, of their "
              "client objects, in \"semaphore\", \"semaphore://PROJECT\" and \"in-memory\"; as "
              "slots, by locks, in those of flock, pgsql+advisory:, postgresql+advisory:// and "
              "mysql+advisory: DSNs, and of a LockFactory.");
    zend_string_release(told);
}

PHP_METHOD(Latch_Semaphore_Store_StoreFactory, createStore)
{
    zend_string *dsn;
    zval *connection;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(connection)
    ZEND_PARSE_PARAMETERS_END();

    ZVAL_UNDEF(return_value);
    if (Z_TYPE_P(connection) == IS_OBJECT) {
        make_semaphore_store_of_client(connection, return_value);
    } else if (Z_TYPE_P(connection) != IS_NULL && zend_parse_arg_str(connection, &dsn, false, 1)) {
        make_semaphore_store_of_dsn(dsn, return_value);
    } else if (EG(exception) == NULL) {
        zend_argument_type_error(1, "must be of type object|string, %s given",
                                 zend_zval_type_name(connection));
    }
    if (EG(exception) == NULL && Z_ISUNDEF_P(return_value)) {
        throw_no_semaphores(connection);
    }
    if (Z_ISUNDEF_P(return_value)) {
        RETVAL_NULL();
    }
}

void php_latch_register_semaphore_stores(void)
{
    zend_class_entry *base = php_latch_semaphores.store;

    register_class_Latch_Semaphore_Store_RedisStore(base)->create_object =
        php_latch_redis_store_create;
    register_class_Latch_Semaphore_Store_SemaphoreStore(base)->create_object =
        php_latch_semaphore_store_create;
    register_class_Latch_Semaphore_Store_InMemoryStore(base)->create_object = create_permit_memory;
    php_latch_register_lock_store();
    register_class_Latch_Semaphore_Store_StoreFactory();
}
