/*
 * Latch\Key: the name of a resource, with the state that proves that its lock is held.
 *
 * A plain object with real properties and no create_object, because Symfony's LockKeyNormalizer
 * makes it by ReflectionClass::newInstanceWithoutConstructor(), which a final internal class only
 * allows then. What native stores hold hangs off the property `lease` (lease.c); their tokens
 * appear under Symfony's names in hasState(), getState() and __serialize() all the same.
 */
#include "php_latch.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include <math.h>

#include "stubs/key_arginfo.h"

zend_class_entry *php_latch_key_ce;

enum { KEY_RESOURCE, KEY_EXPIRING_TIME, KEY_STATE, KEY_SERIALIZABLE, KEY_LEASE };

/* array_walk() and the like turn properties into references. */
static zval *key_slot(zend_object *key, int index)
{
    zval *slot = OBJ_PROP_NUM(key, index);

    ZVAL_DEREF(slot);
    return slot;
}

/* ArrayObject can write anything into a property: what is no array is no state. */
static HashTable *state_of(zend_object *key)
{
    zval *state = key_slot(key, KEY_STATE);

    return Z_TYPE_P(state) == IS_ARRAY ? Z_ARR_P(state) : (HashTable *) &zend_empty_array;
}

static double wall_seconds(void)
{
    return (double) latch_engine_wall_ns(php_latch_engine) / 1e9;
}

zend_string *php_latch_key_resource(zend_object *key)
{
    zval *resource = key_slot(key, KEY_RESOURCE);

    if (Z_TYPE_P(resource) != IS_STRING) {
        zend_throw_error(NULL,
                         "Typed property %s::$resource must not be accessed before "
                         "initialization",
                         ZSTR_VAL(php_latch_key_ce->name));
        return NULL;
    }
    return Z_STR_P(resource);
}

zval *php_latch_key_lease_slot(zend_object *key)
{
    return key_slot(key, KEY_LEASE);
}

zval *php_latch_key_find_state(zend_object *key, const char *name)
{
    if (zend_hash_num_elements(state_of(key)) == 0) {
        return NULL;
    }
    return zend_hash_str_find_deref(state_of(key), name, strlen(name));
}

/* What was there goes last: it may be an object that ArrayObject put there, with a destructor. */
static void replace(zval *slot, zval *value)
{
    zval old;

    ZVAL_COPY_VALUE(&old, slot);
    ZVAL_COPY_VALUE(slot, value);
    zval_ptr_dtor(&old);
}

/* Writable; separated from other holders of the array. */
static HashTable *writable_state(zend_object *key)
{
    zval *state = key_slot(key, KEY_STATE);

    if (Z_TYPE_P(state) != IS_ARRAY) {
        zval empty;

        ZVAL_EMPTY_ARRAY(&empty);
        replace(state, &empty);
        state = key_slot(key, KEY_STATE);
    }
    SEPARATE_ARRAY(state);
    return Z_ARR_P(state);
}

void php_latch_key_forget_state(zend_object *key, const char *name)
{
    zend_hash_str_del(writable_state(key), name, strlen(name));
}

void php_latch_key_reset_lifetime(zend_object *key)
{
    zval none;

    ZVAL_NULL(&none);
    replace(key_slot(key, KEY_EXPIRING_TIME), &none);
}

void php_latch_key_set_lifetime(zend_object *key, double seconds)
{
    zval time;

    ZVAL_DOUBLE(&time, wall_seconds() + seconds);
    replace(key_slot(key, KEY_EXPIRING_TIME), &time);
}

void php_latch_key_reduce_lifetime(zend_object *key, double seconds)
{
    if (!(php_latch_key_remaining_lifetime(key) <= seconds)) { /* also when there is none: NAN */
        php_latch_key_set_lifetime(key, seconds);
    }
}

/* The property's value, unless it is nothing that a key could expire by. */
static void add_expiring_time(zval *array, zend_object *key)
{
    zval *time;

    php_latch_key_follow(key);
    time = key_slot(key, KEY_EXPIRING_TIME);
    if (Z_TYPE_P(time) == IS_DOUBLE) {
        add_assoc_double(array, "expiringTime", Z_DVAL_P(time));
    } else {
        add_assoc_null(array, "expiringTime");
    }
}

double php_latch_key_remaining_lifetime(zend_object *key)
{
    zval *time;

    php_latch_key_follow(key);
    time = key_slot(key, KEY_EXPIRING_TIME);
    return Z_TYPE_P(time) == IS_DOUBLE ? Z_DVAL_P(time) - wall_seconds() : NAN;
}

bool php_latch_key_is_expired(zend_object *key)
{
    return php_latch_key_remaining_lifetime(key) <= 0; /* false for NAN */
}

void php_latch_key_mark_unserializable(zend_object *key)
{
    ZVAL_FALSE(key_slot(key, KEY_SERIALIZABLE));
}

/* The name of the lease's token in a key's state; NULL when it has none. */
static const char *state_name(const php_latch_lease *lease)
{
    return php_latch_lease_is_native(lease) ? latch_store_describe(lease->lease.store)->state_name
                                            : NULL;
}

static php_latch_lease *find_token_lease(zend_object *key, zend_string *name)
{
    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        if (state_name(lease) != NULL && strcmp(state_name(lease), ZSTR_VAL(name)) == 0) {
            return lease;
        }
    }
    return NULL;
}

/* The lease's token, made now if need be; NULL after throwing. */
static zend_string *token_of(php_latch_lease *lease)
{
    latch_error error;

    if (latch_lease_make_token(&lease->lease, &error) != LATCH_DONE) {
        zend_throw_exception(php_latch_storage_ce, error.message, 0);
        return NULL;
    }
    return zend_string_init(lease->lease.token, strlen(lease->lease.token), 0);
}

/* Throws and returns false while an operation on one of the key's leases is in flight. */
static bool check_idle(zend_object *key)
{
    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        if (lease->lease.busy && lease->lease.left == NULL) {
            zend_throw_error(NULL,
                             "The state of %s cannot be changed while its lock is being "
                             "acquired",
                             ZSTR_VAL(php_latch_key_ce->name));
            return false;
        }
    }
    return true;
}

/* The same, but for what lies in stores that do not keep that state. */
static bool check_state_idle(zend_object *key, zend_string *name)
{
    return find_token_lease(key, name) == NULL || check_idle(key);
}

/* A state that is set or removed by hand is from then on the truth, also for our own stores. */
static void forget_token(zend_object *key, zend_string *name)
{
    php_latch_lease *lease;

    while ((lease = find_token_lease(key, name)) != NULL) {
        php_latch_lease_forget(key, lease);
    }
}

/* A copy of the state array with the tokens of our own stores; NULL after throwing. */
static HashTable *complete_state(zend_object *key)
{
    HashTable *state = zend_array_dup(state_of(key));

    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        zend_string *token;
        zval value;

        if (state_name(lease) == NULL) {
            continue;
        }
        token = token_of(lease);
        if (token == NULL) {
            zend_array_release(state);
            return NULL;
        }
        ZVAL_STR(&value, token);
        zend_hash_str_update(state, state_name(lease), strlen(state_name(lease)), &value);
    }
    return state;
}

void php_latch_key_make(zval *return_value, zend_string *resource)
{
    object_init_ex(return_value, php_latch_key_ce);
    ZVAL_STR_COPY(key_slot(Z_OBJ_P(return_value), KEY_RESOURCE), resource);
}

/* An empty resource is a variable that nobody has set, most likely, and then a lock that many
 * programs share by mistake. Symfony's component takes it, and so does the drop-in mode. */
bool php_latch_check_resource(const zend_string *resource)
{
    if (ZSTR_LEN(resource) > 0 || LATCH_G(symfony)) {
        return true;
    }
    php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "resource",
                             "must not be empty: give the lock a name");
    return false;
}

PHP_METHOD(Latch_Key, __construct)
{
    zend_string *resource;
    zval *slot = key_slot(Z_OBJ_P(ZEND_THIS), KEY_RESOURCE);

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(resource)
    ZEND_PARSE_PARAMETERS_END();
    if (Z_TYPE_P(slot) != IS_UNDEF) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(php_latch_key_ce->name));
        RETURN_THROWS();
    }
    if (!php_latch_check_resource(resource)) {
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
    state = zend_symtable_find(state_of(key), name);
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
    forget_token(key, name);
    /* The old value goes last: its destructor may come back here. */
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
    forget_token(key, name);
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
    state = zend_symtable_find(state_of(key), name);
    if (state != NULL) {
        RETURN_COPY_DEREF(state);
    }
    lease = find_token_lease(key, name);
    if (lease != NULL) {
        token = token_of(lease);
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
        php_latch_throw_argument(php_latch_invalid_ttl_ce, 1, "ttl", "must be a finite number");
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

/*
 * An entry of a serialised key: under its plain name (Symfony 7.4), or as a mangled private
 * property of Symfony's class or of ours (older releases, and serialisers that cast to an array).
 */
static zval *find_entry(HashTable *data, const char *name)
{
    static const char *const classes[] = {"Symfony\\Component\\Lock\\Key", "Latch\\Key"};
    zval *entry = zend_hash_str_find_deref(data, name, strlen(name));

    for (size_t at = 0; entry == NULL && at < sizeof(classes) / sizeof(classes[0]); at++) {
        zend_string *mangled =
            zend_mangle_property_name(classes[at], strlen(classes[at]), name, strlen(name), 0);

        entry = zend_hash_find_deref(data, mangled);
        zend_string_release(mangled);
    }
    return entry;
}

static bool number_of(zval *entry, double *number)
{
    zend_long integer;
    uint8_t type;

    switch (Z_TYPE_P(entry)) {
        case IS_LONG:
            *number = (double) Z_LVAL_P(entry);
            return true;
        case IS_DOUBLE:
            *number = Z_DVAL_P(entry);
            return true;
        case IS_STRING:
            type = is_numeric_string(Z_STRVAL_P(entry), Z_STRLEN_P(entry), &integer, number, false);
            if (type == IS_LONG) {
                *number = (double) integer;
            }
            return type != 0;
        default:
            return false;
    }
}

static bool refuse_entry(const char *name, const char *type, zval *entry)
{
    zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                            "Cannot unserialize %s: \"%s\" must be %s, %s given.",
                            ZSTR_VAL(php_latch_key_ce->name), name, type,
                            entry != NULL ? zend_zval_type_name(entry) : "nothing");
    return false;
}

/*
 * Throws and returns false unless the three entries have their types. Numbers and texts may stand
 * for each other, as in Symfony's Key: formats like XML do not tell them apart. No object is
 * called.
 */
static bool check_entries(zval *resource, zval *expiring_time, zval *state)
{
    double seconds;

    if (resource != NULL && Z_TYPE_P(resource) == IS_OBJECT) {
        zend_throw_exception_ex(spl_ce_BadMethodCallException, 0, "Cannot unserialize %s",
                                ZSTR_VAL(php_latch_key_ce->name));
        return false;
    }
    if (resource == NULL
        || (Z_TYPE_P(resource) != IS_STRING && Z_TYPE_P(resource) != IS_LONG
            && Z_TYPE_P(resource) != IS_DOUBLE)) {
        return refuse_entry("resource", "a string", resource);
    }
    if (expiring_time != NULL && Z_TYPE_P(expiring_time) != IS_NULL
        && !(number_of(expiring_time, &seconds) && isfinite(seconds))) {
        return refuse_entry("expiringTime", "null or a finite number of seconds", expiring_time);
    }
    if (state != NULL && Z_TYPE_P(state) != IS_NULL && Z_TYPE_P(state) != IS_ARRAY) {
        return refuse_entry("state", "an array", state);
    }
    return true;
}

PHP_METHOD(Latch_Key, __unserialize)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zval *resource, *expiring_time, *state;
    zval old[4];
    HashTable *data;
    double seconds;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(data)
    ZEND_PARSE_PARAMETERS_END();
    resource = find_entry(data, "resource");
    expiring_time = find_entry(data, "expiringTime");
    state = find_entry(data, "state");
    if (!check_entries(resource, expiring_time, state) || !check_idle(key)) {
        RETURN_THROWS();
    }

    /* What was there goes last: destroying it may run PHP code. */
    ZVAL_COPY_VALUE(&old[0], key_slot(key, KEY_STATE));
    ZVAL_COPY_VALUE(&old[1], php_latch_key_lease_slot(key));
    ZVAL_COPY_VALUE(&old[2], key_slot(key, KEY_RESOURCE));
    ZVAL_COPY_VALUE(&old[3], key_slot(key, KEY_EXPIRING_TIME));
    ZVAL_STR(key_slot(key, KEY_RESOURCE), zval_get_string(resource));
    if (expiring_time != NULL && number_of(expiring_time, &seconds)) {
        ZVAL_DOUBLE(key_slot(key, KEY_EXPIRING_TIME), seconds);
    } else {
        ZVAL_NULL(key_slot(key, KEY_EXPIRING_TIME));
    }
    if (state != NULL && Z_TYPE_P(state) == IS_ARRAY) {
        ZVAL_COPY(key_slot(key, KEY_STATE), state);
    } else {
        ZVAL_EMPTY_ARRAY(key_slot(key, KEY_STATE));
    }
    ZVAL_NULL(php_latch_key_lease_slot(key));
    for (size_t at = 0; at < sizeof(old) / sizeof(*old); at++) {
        zval_ptr_dtor(&old[at]);
    }
}

PHP_METHOD(Latch_Key, __serialize)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zend_string *resource;
    HashTable *state;
    zval entry;

    ZEND_PARSE_PARAMETERS_NONE();
    if (Z_TYPE_P(key_slot(key, KEY_SERIALIZABLE)) == IS_FALSE) {
        zend_throw_exception(php_latch_unserializable_key_ce, "The key cannot be serialized.", 0);
        RETURN_THROWS();
    }
    resource = php_latch_key_resource(key);
    state = resource != NULL ? complete_state(key) : NULL;
    if (state == NULL) {
        RETURN_THROWS();
    }
    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        php_latch_lease_hand_over(lease);
    }
    array_init(return_value);
    add_assoc_str(return_value, "resource", zend_string_copy(resource));
    add_expiring_time(return_value, key);
    ZVAL_ARR(&entry, state);
    add_assoc_zval(return_value, "state", &entry);
}

PHP_METHOD(Latch_Key, __debugInfo)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    HashTable *state;
    zend_string *name;
    zend_ulong number;
    zval entry;

    ZEND_PARSE_PARAMETERS_NONE();
    state = complete_state(key);
    if (state == NULL) {
        RETURN_THROWS();
    }
    array_init(return_value);
    ZVAL_COPY(&entry, key_slot(key, KEY_RESOURCE)); /* may be undefined: shown as null */
    if (Z_TYPE(entry) == IS_UNDEF) {
        ZVAL_NULL(&entry);
    }
    add_assoc_zval(return_value, "resource", &entry);
    add_expiring_time(return_value, key);

    array_init(&entry);
    ZEND_HASH_FOREACH_KEY(state, number, name) {
        if (name != NULL) {
            add_assoc_string_ex(&entry, ZSTR_VAL(name), ZSTR_LEN(name), "***");
        } else {
            add_index_string(&entry, number, "***");
        }
    }
    ZEND_HASH_FOREACH_END();
    zend_array_release(state);
    add_assoc_zval(return_value, "state", &entry);
    add_assoc_bool(return_value, "serializable",
                   Z_TYPE_P(key_slot(key, KEY_SERIALIZABLE)) != IS_FALSE);
}

/* Who knows a token can release the lock: backtraces shall not show it. */
static void mark_sensitive(const char *method, uint32_t parameter)
{
    zend_add_parameter_attribute(zend_hash_str_find_ptr(&php_latch_key_ce->function_table, method,
                                                        strlen(method)),
                                 parameter, zend_ce_sensitive_parameter->name, 0);
}

void php_latch_register_key(void)
{
    php_latch_key_ce = register_class_Latch_Key(zend_ce_stringable);
    php_latch_drop_guards(php_latch_key_ce);
    mark_sensitive("setstate", 1);
    mark_sensitive("__unserialize", 0);
}
