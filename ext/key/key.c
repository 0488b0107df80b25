/*
 * Latch\Key: the name of a resource, with the state that proves that its lock is held.
 *
 * A plain object with real properties and no create_object, because Symfony's LockKeyNormalizer
 * makes it by ReflectionClass::newInstanceWithoutConstructor(), which a final internal class only
 * allows then. The property `lease` has the leases in native stores (lease.c); their tokens appear
 * under Symfony's names in hasState(), getState() and __serialize() all the same. Serialised and
 * dumped forms: forms.c.
 */
#include "ext/key/properties.h"

#include "ext/key/renewed_lease.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include "zend_attributes.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include <math.h>

#include "stubs/key_arginfo.h"

zend_class_entry *php_latch_key_ce;

HashTable *php_latch_key_state(zend_object *key)
{
    zval *state = php_latch_key_slot(key, KEY_STATE);

    return Z_TYPE_P(state) == IS_ARRAY ? Z_ARR_P(state) : (HashTable *) &zend_empty_array;
}

static double wall_seconds(void)
{
    return (double) latch_engine_wall_ns(php_latch_engine) / 1e9;
}

zend_string *php_latch_key_resource(zend_object *key)
{
    zval *resource = php_latch_key_slot(key, KEY_RESOURCE);

    if (Z_TYPE_P(resource) != IS_STRING) {
        zend_throw_error(NULL,
                         "Typed property %s::$resource must not be accessed before "
                         "initialization",
                         ZSTR_VAL(key->ce->name));
        return NULL;
    }
    return Z_STR_P(resource);
}

zend_string *php_latch_key_name(zend_object *key)
{
    const zval *resource = php_latch_key_slot(key, KEY_RESOURCE);
    const php_latch_lease *lease = php_latch_lease_first(key);

    if (Z_TYPE_P(resource) == IS_STRING) {
        return Z_STR_P(resource);
    }
    return lease != NULL ? php_latch_lease_resource(lease) : ZSTR_EMPTY_ALLOC();
}

zval *php_latch_key_lease_slot(zend_object *key)
{
    return php_latch_key_slot(key, KEY_LEASE);
}

zval *php_latch_key_find_state(zend_object *key, const char *name)
{
    if (zend_hash_num_elements(php_latch_key_state(key)) == 0) {
        return NULL;
    }
    return zend_hash_str_find_deref(php_latch_key_state(key), name, strlen(name));
}

/*
 * Releases the old value last: it may be an object that ArrayObject put there, with a destructor.
 */
static void replace_slot(zval *slot, zval *value)
{
    zval old;

    ZVAL_COPY_VALUE(&old, slot);
    ZVAL_COPY_VALUE(slot, value);
    zval_ptr_dtor(&old);
}

/* The state, writable: separated from other references to the array. */
static HashTable *writable_state(zend_object *key)
{
    zval *state = php_latch_key_slot(key, KEY_STATE);

    if (Z_TYPE_P(state) != IS_ARRAY) {
        zval empty;

        ZVAL_EMPTY_ARRAY(&empty);
        replace_slot(state, &empty);
        state = php_latch_key_slot(key, KEY_STATE);
    }
    SEPARATE_ARRAY(state);
    return Z_ARR_P(state);
}

void php_latch_key_remove_state(zend_object *key, const char *name)
{
    zend_hash_str_del(writable_state(key), name, strlen(name));
}

void php_latch_key_set_state(zend_object *key, zend_string *name, zval *state)
{
    zend_hash_update(writable_state(key), name, state);
}

void php_latch_key_reset_lifetime(zend_object *key)
{
    zval none;

    ZVAL_NULL(&none);
    replace_slot(php_latch_key_slot(key, KEY_EXPIRING_TIME), &none);
}

void php_latch_key_set_lifetime(zend_object *key, double seconds)
{
    zval time;

    ZVAL_DOUBLE(&time, wall_seconds() + seconds);
    replace_slot(php_latch_key_slot(key, KEY_EXPIRING_TIME), &time);
}

void php_latch_key_reduce_lifetime(zend_object *key, double seconds)
{
    if (!(php_latch_key_remaining_lifetime(key) <= seconds)) { /* also when there is none: NAN */
        php_latch_key_set_lifetime(key, seconds);
    }
}

double php_latch_key_remaining_lifetime(zend_object *key)
{
    zval *time;

    php_latch_key_sync_lifetime(key);
    time = php_latch_key_slot(key, KEY_EXPIRING_TIME);
    return Z_TYPE_P(time) == IS_DOUBLE ? Z_DVAL_P(time) - wall_seconds() : NAN;
}

bool php_latch_key_is_expired(zend_object *key)
{
    return php_latch_key_remaining_lifetime(key) <= 0; /* false for NAN */
}

void php_latch_key_mark_unserializable(zend_object *key)
{
    zval no;

    ZVAL_FALSE(&no);
    replace_slot(php_latch_key_slot(key, KEY_SERIALIZABLE), &no);
}

const char *php_latch_key_state_name(const php_latch_lease *lease)
{
    return php_latch_lease_is_native(lease) ? php_latch_lease_state_name(lease) : NULL;
}

static php_latch_lease *find_token_lease(zend_object *key, zend_string *name)
{
    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        if (php_latch_key_state_name(lease) != NULL
            && strcmp(php_latch_key_state_name(lease), ZSTR_VAL(name)) == 0) {
            return lease;
        }
    }
    return NULL;
}

zend_string *php_latch_key_token(php_latch_lease *lease)
{
    latch_error error;

    if (latch_lease_make_token(&lease->lease, &error) != LATCH_DONE) {
        zend_throw_exception(php_latch_lease_primitive(lease)->storage, error.message, 0);
        return NULL;
    }
    return zend_string_init(lease->lease.token, lease->lease.token_length, 0);
}

bool php_latch_key_check_idle(zend_object *key)
{
    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        if (lease->lease.busy && lease->lease.detached == NULL) {
            zend_throw_error(NULL,
                             "The state of %s cannot be changed while its %s is being acquired",
                             ZSTR_VAL(key->ce->name), php_latch_key_primitive(key)->noun);
            return false;
        }
    }
    return true;
}

/* The same, for state that a store's token appears as; other state may change at any time. */
static bool check_state_idle(zend_object *key, zend_string *name)
{
    return find_token_lease(key, name) == NULL || php_latch_key_check_idle(key);
}

/* Drops the leases of that token: a state set or removed by hand counts for our own stores, too. */
static void drop_token(zend_object *key, zend_string *name)
{
    php_latch_lease *lease;

    while ((lease = find_token_lease(key, name)) != NULL) {
        php_latch_key_remove_lease(key, lease);
    }
}

void php_latch_key_make(zval *return_value, zend_string *resource)
{
    object_init_ex(return_value, php_latch_key_ce);
    ZVAL_STR_COPY(php_latch_key_slot(Z_OBJ_P(return_value), KEY_RESOURCE), resource);
}

/*
 * Refused, because an empty resource is most likely a variable that was never set, and a lock that
 * many programs would share by mistake. Symfony's component accepts it, and so does the drop-in
 * mode.
 */
bool php_latch_check_resource(const php_latch_primitive *primitive, const zend_string *resource)
{
    char problem[64];

    if (ZSTR_LEN(resource) > 0 || php_latch_has_symfony_names(primitive)) {
        return true;
    }
    snprintf(problem, sizeof(problem), "must not be empty: give the %s a name", primitive->noun);
    php_latch_throw_argument(primitive->invalid_argument, 1, "resource", problem);
    return false;
}

PHP_METHOD(Latch_Key, __construct)
{
    zend_string *resource;
    zval *slot;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(resource) /* calls __toString() of an object: what it does to the slot counts */
    ZEND_PARSE_PARAMETERS_END();
    slot = php_latch_key_slot(Z_OBJ_P(ZEND_THIS), KEY_RESOURCE);
    if (Z_TYPE_P(slot) != IS_UNDEF) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(php_latch_key_ce->name));
        RETURN_THROWS();
    }
    if (!php_latch_check_resource(&php_latch_locks, resource)) {
        RETURN_THROWS();
    }
    ZVAL_STR_COPY(slot, resource);
}

PHP_METHOD(Latch_Key, __toString)
{
    zend_string *resource;

    ZEND_PARSE_PARAMETERS_NONE();
    resource = php_latch_key_resource(Z_OBJ_P(ZEND_THIS));
    if (resource == NULL) {
        RETURN_THROWS();
    }
    RETURN_STR_COPY(resource);
}

PHP_METHOD(Latch_Key, hasState)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zend_string *name;
    zval *state;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    state = zend_symtable_find(php_latch_key_state(key), name);
    if (state != NULL) {
        ZVAL_DEREF(state);
    }
    RETURN_BOOL((state != NULL && Z_TYPE_P(state) != IS_NULL)
                || find_token_lease(key, name) != NULL);
}

PHP_METHOD(Latch_Key, setState)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zend_string *name;
    zval *state, *slot, old;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_STR(name)
        Z_PARAM_ZVAL(state)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_state_idle(key, name)) {
        RETURN_THROWS();
    }
    drop_token(key, name);
    /* The old value is released last: its destructor may call this method. */
    ZVAL_UNDEF(&old);
    slot = zend_symtable_find(writable_state(key), name);
    if (slot != NULL) {
        ZVAL_COPY_VALUE(&old, slot);
        ZVAL_COPY(slot, state);
    } else {
        Z_TRY_ADDREF_P(state);
        zend_symtable_update(writable_state(key), name, state);
    }
    zval_ptr_dtor(&old);
}

PHP_METHOD(Latch_Key, removeState)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zend_string *name;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_state_idle(key, name)) {
        RETURN_THROWS();
    }
    drop_token(key, name);
    zend_symtable_del(writable_state(key), name);
}

PHP_METHOD(Latch_Key, getState)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    php_latch_lease *lease;
    zend_string *name, *token;
    zval *state;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    state = zend_symtable_find(php_latch_key_state(key), name);
    if (state != NULL) {
        RETURN_COPY_DEREF(state);
    }
    lease = find_token_lease(key, name);
    if (lease != NULL) {
        token = php_latch_key_token(lease);
        if (token == NULL) {
            RETURN_THROWS();
        }
        RETURN_STR(token);
    }
    zend_error(E_WARNING, "Undefined array key \"%s\"", ZSTR_VAL(name));
}

PHP_METHOD(Latch_Key, markUnserializable)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_key_mark_unserializable(Z_OBJ_P(ZEND_THIS));
}

PHP_METHOD(Latch_Key, resetLifetime)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_key_reset_lifetime(Z_OBJ_P(ZEND_THIS));
}

PHP_METHOD(Latch_Key, reduceLifetime)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    double ttl;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!isfinite(ttl)) {
        php_latch_throw_argument(php_latch_key_primitive(key)->invalid_ttl, 1,
                                 key->ce == php_latch_key_ce ? "ttl" : "ttlInSeconds",
                                 "must be a finite number");
        RETURN_THROWS();
    }
    php_latch_key_reduce_lifetime(key, ttl);
}

PHP_METHOD(Latch_Key, getRemainingLifetime)
{
    double remaining;

    ZEND_PARSE_PARAMETERS_NONE();
    remaining = php_latch_key_remaining_lifetime(Z_OBJ_P(ZEND_THIS));
    if (isnan(remaining)) {
        RETURN_NULL();
    }
    RETURN_DOUBLE(remaining);
}

PHP_METHOD(Latch_Key, isExpired)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(php_latch_key_is_expired(Z_OBJ_P(ZEND_THIS)));
}

static void mark_sensitive(zend_class_entry *ce, const char *method, uint32_t parameter)
{
    zend_add_parameter_attribute(zend_hash_str_find_ptr(&ce->function_table, method,
                                                        strlen(method)),
                                 parameter, zend_ce_sensitive_parameter->name, 0);
}

void php_latch_key_finish_class(zend_class_entry *ce)
{
    php_latch_drop_guards(ce);
    mark_sensitive(ce, "setstate", 1);
    mark_sensitive(ce, "__unserialize", 0);
}

void php_latch_register_key(void)
{
    php_latch_key_ce = register_class_Latch_Key(zend_ce_stringable);
    php_latch_key_finish_class(php_latch_key_ce);
}
