/*
 * Representations of a Key: serialised, in the forms of every release of Symfony's component, and
 * dumped, without the tokens.
 */
#include "ext/key/properties.h"

#include "ext/key/renewed_lease.h"
#include "ext/php/interfaces.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"

#include <math.h>

/*
 * Finds an entry of a serialised key: under its plain name (Symfony 7.4), or as a mangled private
 * property of Symfony's class or of ours (older releases, and serialisers that cast to an array).
 * Entries of the other primitive's classes are none of this key.
 */
static zval *find_entry(const zend_object *key, HashTable *data, const char *name)
{
    static const char *const classes[][2] = {
        {"Symfony\\Component\\Lock\\Key", "Latch\\Key"},
        {"Symfony\\Component\\Semaphore\\Key", "Latch\\Semaphore\\Key"},
    };
    const char *const *of_key = classes[php_latch_key_primitive(key)->is_permit];
    zval *entry = zend_hash_str_find_deref(data, name, strlen(name));

    for (size_t at = 0; entry == NULL && at < 2; at++) {
        zend_string *mangled =
            zend_mangle_property_name(of_key[at], strlen(of_key[at]), name, strlen(name), 0);

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

static bool refuse_entry(const zend_object *key, const char *name, const char *type, zval *entry)
{
    zend_throw_exception_ex(php_latch_key_primitive(key)->invalid_argument, 0,
                            "Cannot unserialize %s: \"%s\" must be %s, %s given.",
                            ZSTR_VAL(key->ce->name), name, type,
                            entry != NULL ? zend_zval_type_name(entry) : "nothing");
    return false;
}

/*
 * Throws and returns false unless the three entries have their types. A number may be a text, as in
 * Symfony's Key: formats like XML do not distinguish them. Calls no object.
 */
static bool check_entries(const zend_object *key, zval *resource, zval *expiring_time, zval *state)
{
    double seconds;

    if (resource != NULL && Z_TYPE_P(resource) == IS_OBJECT) {
        zend_throw_exception_ex(spl_ce_BadMethodCallException, 0, "Cannot unserialize %s",
                                ZSTR_VAL(key->ce->name));
        return false;
    }
    if (resource == NULL
        || (Z_TYPE_P(resource) != IS_STRING && Z_TYPE_P(resource) != IS_LONG
            && Z_TYPE_P(resource) != IS_DOUBLE)) {
        return refuse_entry(key, "resource", "a string", resource);
    }
    if (expiring_time != NULL && Z_TYPE_P(expiring_time) != IS_NULL
        && !(number_of(expiring_time, &seconds) && isfinite(seconds))) {
        return refuse_entry(key, "expiringTime", "null or a finite number of seconds",
                            expiring_time);
    }
    if (state != NULL && Z_TYPE_P(state) != IS_NULL && Z_TYPE_P(state) != IS_ARRAY) {
        return refuse_entry(key, "state", "an array", state);
    }
    return true;
}

/* Reads limit or weight: a whole number, which may be a text. */
static bool read_count(const zend_object *key, HashTable *data, const char *name, zend_long *count)
{
    zval *entry = find_entry(key, data, name);
    double number;

    if (entry != NULL && Z_TYPE_P(entry) == IS_LONG) {
        *count = Z_LVAL_P(entry);
        return true;
    }
    if (entry == NULL || !number_of(entry, &number) || !(fabs(number) < 1e18)
        || floor(number) != number) {
        return refuse_entry(key, name, "a whole number", entry);
    }
    *count = (zend_long) number;
    return true;
}

/* Throws and returns false unless limit and weight of a semaphore's key are what they must be. */
static bool read_permits(const zend_object *key, HashTable *data, latch_permits *permits)
{
    zend_long limit, weight;

    if (!php_latch_key_primitive(key)->is_permit) {
        return true;
    }
    if (!read_count(key, data, "limit", &limit) || !read_count(key, data, "weight", &weight)
        || !php_latch_check_permits(limit, weight)) {
        return false;
    }
    *permits = (latch_permits){.limit = limit, .weight = weight};
    return true;
}

PHP_METHOD(Latch_Key, __unserialize)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zval *resource, *expiring_time, *state;
    latch_permits permits = {.limit = 0};
    zval old[4];
    HashTable *data;
    double seconds;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(data)
    ZEND_PARSE_PARAMETERS_END();
    resource = find_entry(key, data, "resource");
    expiring_time = find_entry(key, data, "expiringTime");
    state = find_entry(key, data, "state");
    if (!check_entries(key, resource, expiring_time, state) || !read_permits(key, data, &permits)
        || !php_latch_key_check_idle(key)) {
        RETURN_THROWS();
    }

    /* The old values are released last: their destructors may run PHP code. */
    ZVAL_COPY_VALUE(&old[0], php_latch_key_slot(key, KEY_STATE));
    ZVAL_COPY_VALUE(&old[1], php_latch_key_lease_slot(key));
    ZVAL_COPY_VALUE(&old[2], php_latch_key_slot(key, KEY_RESOURCE));
    ZVAL_COPY_VALUE(&old[3], php_latch_key_slot(key, KEY_EXPIRING_TIME));
    ZVAL_STR(php_latch_key_slot(key, KEY_RESOURCE), zval_get_string(resource));
    if (expiring_time != NULL && number_of(expiring_time, &seconds)) {
        ZVAL_DOUBLE(php_latch_key_slot(key, KEY_EXPIRING_TIME), seconds);
    } else {
        ZVAL_NULL(php_latch_key_slot(key, KEY_EXPIRING_TIME));
    }
    if (state != NULL && Z_TYPE_P(state) == IS_ARRAY) {
        ZVAL_COPY(php_latch_key_slot(key, KEY_STATE), state);
    } else {
        ZVAL_EMPTY_ARRAY(php_latch_key_slot(key, KEY_STATE));
    }
    ZVAL_NULL(php_latch_key_lease_slot(key));
    if (php_latch_key_primitive(key)->is_permit) {
        php_latch_key_set_permits(key, permits);
    }
    for (size_t at = 0; at < sizeof(old) / sizeof(*old); at++) {
        zval_ptr_dtor(&old[at]);
    }
}

/* A copy of the state array with the tokens of our own stores; NULL after throwing. */
static HashTable *complete_state(zend_object *key)
{
    HashTable *state = zend_array_dup(php_latch_key_state(key));

    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        const char *name = php_latch_key_state_name(lease);
        zend_string *token;
        zval value;

        if (name == NULL) {
            continue;
        }
        token = php_latch_key_token(lease);
        if (token == NULL) {
            zend_array_release(state);
            return NULL;
        }
        ZVAL_STR(&value, token);
        zend_hash_str_update(state, name, strlen(name), &value);
    }
    return state;
}

/* Adds the property's value, or null where it is no time. */
static void add_expiring_time(zval *array, zend_object *key)
{
    zval *time;

    php_latch_key_sync_lifetime(key);
    time = php_latch_key_slot(key, KEY_EXPIRING_TIME);
    if (Z_TYPE_P(time) == IS_DOUBLE) {
        add_assoc_double(array, "expiringTime", Z_DVAL_P(time));
    } else {
        add_assoc_null(array, "expiringTime");
    }
}

static void throw_unserializable(zend_object *key)
{
    const php_latch_primitive *primitive = php_latch_key_primitive(key);
    const zval *owner = primitive->is_permit ? php_latch_key_slot(key, KEY_OWNER) : NULL;

    if (owner != NULL && Z_TYPE_P(owner) == IS_STRING) {
        zend_throw_exception_ex(primitive->unserializable, 0,
                                "The key cannot be serialized: state owned by \"%s\" is not "
                                "portable.",
                                Z_STRVAL_P(owner));
    } else {
        zend_throw_exception(primitive->unserializable, "The key cannot be serialized.", 0);
    }
}

/* Adds limit and weight of a semaphore's key. */
static void add_permits(zval *array, zend_object *key)
{
    if (php_latch_key_primitive(key)->is_permit) {
        latch_permits permits = php_latch_key_permits(key);

        add_assoc_long(array, "limit", (zend_long) permits.limit);
        add_assoc_long(array, "weight", (zend_long) permits.weight);
    }
}

PHP_METHOD(Latch_Key, __serialize)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zend_string *resource;
    HashTable *state;
    zval entry;

    ZEND_PARSE_PARAMETERS_NONE();
    if (Z_TYPE_P(php_latch_key_slot(key, KEY_SERIALIZABLE)) == IS_FALSE) {
        throw_unserializable(key);
        RETURN_THROWS();
    }
    resource = php_latch_key_resource(key);
    state = resource != NULL ? complete_state(key) : NULL;
    if (state == NULL) {
        RETURN_THROWS();
    }
    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        php_latch_lease_share_token(lease);
    }
    array_init(return_value);
    add_assoc_str(return_value, "resource", zend_string_copy(resource));
    add_permits(return_value, key);
    add_expiring_time(return_value, key);
    ZVAL_ARR(&entry, state);
    add_assoc_zval(return_value, "state", &entry);
}

/*
 * Adds the state's names, with masks in place of the values. Makes no token: that could fail, and
 * PHP turns an exception of __debugInfo() into a fatal error.
 */
static void add_masked_state(zval *info, zend_object *key)
{
    zend_string *name;
    zend_ulong number;
    zval masked;

    array_init(&masked);
    ZEND_HASH_FOREACH_KEY(php_latch_key_state(key), number, name) {
        if (name != NULL) {
            add_assoc_string_ex(&masked, ZSTR_VAL(name), ZSTR_LEN(name), "***");
        } else {
            add_index_string(&masked, number, "***");
        }
    }
    ZEND_HASH_FOREACH_END();
    for (const php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        const char *state = php_latch_key_state_name(lease);

        if (state != NULL) {
            add_assoc_string(&masked, state, "***");
        }
    }
    add_assoc_zval(info, "state", &masked);
}

void php_latch_key_add_resource(zval *info, zend_object *key)
{
    zval resource;

    ZVAL_COPY(&resource, php_latch_key_slot(key, KEY_RESOURCE));
    if (Z_TYPE(resource) == IS_UNDEF) {
        ZVAL_NULL(&resource);
    }
    add_assoc_zval(info, "resource", &resource);
}

PHP_METHOD(Latch_Key, __debugInfo)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);

    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    php_latch_key_add_resource(return_value, key);
    add_permits(return_value, key);
    add_expiring_time(return_value, key);
    add_masked_state(return_value, key);
    add_assoc_bool(return_value, "serializable",
                   Z_TYPE_P(php_latch_key_slot(key, KEY_SERIALIZABLE)) != IS_FALSE);
}
