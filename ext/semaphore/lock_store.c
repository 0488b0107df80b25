/*
 * Latch\Semaphore\Store\LockStore: semaphores whose permits are locks, NAME_0, NAME_1 … in any
 * store of locks, as in Symfony's class of that name (8.1, LockStore.php), which it excludes.
 *
 * Locks in a store of the engine are leases that the engine takes (src/store/slots), without a Lock
 * for each of them. Where only PHP code can take them they are made by the factory and kept in the
 * key's state: slot_locks.c.
 */
#include "ext/semaphore/semaphore.h"

#include "ext/key/key.h"
#include "ext/lock/lock.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/inspection.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/semaphore_lock_store_arginfo.h"

static zend_class_entry *slots_ce;

static zend_object *create_slots_store(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

/* ---- Making --------------------------------------------------------------------------------- */

/* Does the factory make plain Locks, of which a Semaphore would see no more than the engine? */
static bool makes_plain_locks(const zend_object *factory)
{
    static const char *const methods[] = {"createlock", "createlockfromkey"};

    for (size_t at = 0; at < sizeof(methods) / sizeof(*methods); at++) {
        const zend_function *method =
            zend_hash_str_find_ptr(&factory->ce->function_table, methods[at], strlen(methods[at]));

        if (method != NULL && method->type == ZEND_USER_FUNCTION) {
            return false;
        }
    }
    return true;
}

/* An application that Symfony's class served so has Lock objects there, as with that. */
static bool is_combined(zend_object *locks)
{
    const php_latch_store *store = php_latch_store_of(locks);

    return store != NULL && store->backend != NULL && store->backend->ops != NULL;
}

/* Opens the slots in the locks' store; false after throwing. */
static bool open_slots(php_latch_store *slots, zend_object *locks)
{
    const php_latch_store *store = php_latch_store_of(locks);
    php_latch_backend *backend = php_latch_store_backend(locks);

    slots->backend = backend != NULL ? php_latch_backend_of_slots(backend) : NULL;
    slots->remove_on_release = store->remove_on_release;
    slots->pass_on = store->pass_on;
    return slots->backend != NULL;
}

static void construct_slots(php_latch_store *slots, zend_object *factory)
{
    zend_object *locks = php_latch_factory_store(factory, &php_latch_locks);
    zval *slot = OBJ_PROP_NUM(&slots->std, SLOTS_FACTORY);

    if (locks == NULL) {
        return;
    }
    if (is_combined(locks) && !LATCH_G(symfony)) {
        zend_throw_exception(php_latch_semaphores.invalid_argument,
                             "Semaphores are not on a CombinedStore: give LockStore a factory of a "
                             "single store, such as one of its members, the same in all processes.",
                             0);
        return;
    }
    if (!php_latch_store_is_native(locks) || !makes_plain_locks(factory) || is_combined(locks)) {
        slots->is_called = true;
    } else if (!open_slots(slots, locks)) {
        return;
    }
    ZVAL_OBJ_COPY(slot, factory);
}

PHP_METHOD(Latch_Semaphore_Store_LockStore, __construct)
{
    php_latch_store *slots = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    zend_object *factory;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(factory, php_latch_locks.factory)
    ZEND_PARSE_PARAMETERS_END();
    if (slots->backend != NULL || slots->is_called) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(slots->std.ce->name));
        RETURN_THROWS();
    }
    construct_slots(slots, factory);
}

void php_latch_make_slots(zend_object *factory, zval *store)
{
    object_init_ex(store, slots_ce);
    construct_slots(php_latch_store_of(Z_OBJ_P(store)), factory);
    if (EG(exception) != NULL) {
        zend_object_store_ctor_failed(Z_OBJ_P(store));
        zval_ptr_dtor(store);
        ZVAL_UNDEF(store);
    }
}

/* ---- Methods -------------------------------------------------------------------------------- */

static bool calls_slot_locks(const zval *store)
{
    return php_latch_store_of(Z_OBJ_P(store))->is_called;
}

PHP_METHOD(Latch_Semaphore_Store_LockStore, save)
{
    zend_object *key;
    double ttl;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_ttl(&php_latch_semaphores, 2, ttl)) {
        RETURN_THROWS();
    }
    if (calls_slot_locks(ZEND_THIS)) {
        php_latch_slot_locks_save(Z_OBJ_P(ZEND_THIS), key, ttl);
    } else {
        const latch_request request = {
            .kind = LATCH_ACQUIRE,
            .ttl_ms = php_latch_ttl_ms(ttl),
            .permits = php_latch_key_permits(key),
        };

        if (php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request)) {
            php_latch_key_mark_owned(key, Z_OBJCE_P(ZEND_THIS)->name);
        }
    }
}

PHP_METHOD(Latch_Semaphore_Store_LockStore, putOffExpiration)
{
    zend_object *key;
    double ttl;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_ttl(&php_latch_semaphores, 2, ttl)) {
        RETURN_THROWS();
    }
    if (calls_slot_locks(ZEND_THIS)) {
        php_latch_slot_locks_refresh(Z_OBJ_P(ZEND_THIS), key, ttl);
    } else {
        const latch_request request = {.kind = LATCH_REFRESH, .ttl_ms = php_latch_ttl_ms(ttl)};

        php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request);
    }
}

static zend_object *parse_key_of_slots(zend_execute_data *execute_data)
{
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        ZEND_PARSE_PARAMETERS_END_EX(return NULL);
        return key;
}

PHP_METHOD(Latch_Semaphore_Store_LockStore, delete)
{
    const latch_request request = {.kind = LATCH_RELEASE};
    zend_object *key = parse_key_of_slots(execute_data);

    if (key == NULL) {
        RETURN_THROWS();
    }
    if (calls_slot_locks(ZEND_THIS)) {
        php_latch_slot_locks_delete(Z_OBJ_P(ZEND_THIS), key);
    } else {
        php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request);
    }
}

PHP_METHOD(Latch_Semaphore_Store_LockStore, exists)
{
    const latch_request request = {.kind = LATCH_PROBE};
    zend_object *key = parse_key_of_slots(execute_data);

    if (key == NULL) {
        RETURN_THROWS();
    }
    RETURN_BOOL(calls_slot_locks(ZEND_THIS)
                    ? php_latch_slot_locks_exist(Z_OBJ_P(ZEND_THIS), key)
                    : php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request));
}

PHP_METHOD(Latch_Semaphore_Store_LockStore, inspect)
{
    zend_object *key = parse_key_of_slots(execute_data);

    if (key == NULL) {
        RETURN_THROWS();
    }
    if (calls_slot_locks(ZEND_THIS)) {
        zend_throw_exception(php_latch_semaphores.storage,
                             "The holders are unknown: the locks are taken by PHP code, which has "
                             "no method for that.",
                             0);
        RETURN_THROWS();
    }
    php_latch_store_inspect_permits(Z_OBJ_P(ZEND_THIS), key, return_value);
}

void php_latch_register_lock_store(void)
{
    slots_ce = register_class_Latch_Semaphore_Store_LockStore(php_latch_semaphores.store);
    slots_ce->create_object = create_slots_store;
}
