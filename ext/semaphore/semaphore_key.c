/* Latch\Semaphore\Key: what it has beyond Latch\Key, whose methods it has (ext/key/key.c). */
#include "ext/semaphore/semaphore.h"

#include "ext/key/properties.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/semaphore_key_arginfo.h"

zend_class_entry *php_latch_semaphore_key_ce;

static bool fill_key(zend_object *key, zend_string *resource, zend_long limit, zend_long weight)
{
    if (!php_latch_check_resource(&php_latch_semaphores, resource)
        || !php_latch_check_permits(limit, weight)) {
        return false;
    }
    ZVAL_STR_COPY(php_latch_key_slot(key, KEY_RESOURCE), resource);
    php_latch_key_set_permits(key, (latch_permits){.limit = limit, .weight = weight});
    return true;
}

bool php_latch_semaphore_key_make(zval *return_value, zend_string *resource, zend_long limit,
                                  zend_long weight)
{
    object_init_ex(return_value, php_latch_semaphore_key_ce);
    if (!fill_key(Z_OBJ_P(return_value), resource, limit, weight)) {
        zval_ptr_dtor(return_value);
        ZVAL_UNDEF(return_value);
        return false;
    }
    return true;
}

PHP_METHOD(Latch_Semaphore_Key, __construct)
{
    zend_object *key = Z_OBJ_P(ZEND_THIS);
    zend_string *resource;
    zend_long limit, weight = 1;

    ZEND_PARSE_PARAMETERS_START(2, 3)
        Z_PARAM_STR(resource) /* calls __toString() of an object: what it does to the slot counts */
        Z_PARAM_LONG(limit)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(weight)
    ZEND_PARSE_PARAMETERS_END();
    if (Z_TYPE_P(php_latch_key_slot(key, KEY_RESOURCE)) != IS_UNDEF) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(key->ce->name));
        RETURN_THROWS();
    }
    fill_key(key, resource, limit, weight);
}

/* Throws and returns false where the key was never constructed. */
static bool read_permits_of(zval *key, latch_permits *permits)
{
    if (php_latch_key_resource(Z_OBJ_P(key)) == NULL) {
        return false;
    }
    *permits = php_latch_key_permits(Z_OBJ_P(key));
    return true;
}

PHP_METHOD(Latch_Semaphore_Key, getLimit)
{
    latch_permits permits;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!read_permits_of(ZEND_THIS, &permits)) {
        RETURN_THROWS();
    }
    RETURN_LONG((zend_long) permits.limit);
}

PHP_METHOD(Latch_Semaphore_Key, getWeight)
{
    latch_permits permits;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!read_permits_of(ZEND_THIS, &permits)) {
        RETURN_THROWS();
    }
    RETURN_LONG((zend_long) permits.weight);
}

PHP_METHOD(Latch_Semaphore_Key, markUnserializable)
{
    zend_string *owner = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(owner)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_key_mark_owned(Z_OBJ_P(ZEND_THIS), owner);
}

void php_latch_register_semaphore_key(void)
{
    php_latch_semaphore_key_ce = register_class_Latch_Semaphore_Key(zend_ce_stringable);
    php_latch_key_finish_class(php_latch_semaphore_key_ce);
}
