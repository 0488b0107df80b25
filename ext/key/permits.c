/* Permits: the limit and the weight of a semaphore's key. */
#include "ext/key/properties.h"

#include "zend_exceptions.h"

latch_permits php_latch_key_permits(zend_object *key)
{
    const zval *limit = php_latch_key_slot(key, KEY_LIMIT);
    const zval *weight = php_latch_key_slot(key, KEY_WEIGHT);
    latch_permits permits = {0};

    if (Z_TYPE_P(limit) == IS_LONG && Z_TYPE_P(weight) == IS_LONG) {
        permits.limit = Z_LVAL_P(limit);
        permits.weight = Z_LVAL_P(weight);
    }
    return permits;
}

static void set_number(zval *slot, int64_t number)
{
    zval old;

    ZVAL_COPY_VALUE(&old, slot); /* whatever ArrayObject put there */
    ZVAL_LONG(slot, (zend_long) number);
    zval_ptr_dtor(&old);
}

void php_latch_key_set_permits(zend_object *key, latch_permits permits)
{
    set_number(php_latch_key_slot(key, KEY_LIMIT), permits.limit);
    set_number(php_latch_key_slot(key, KEY_WEIGHT), permits.weight);
}

void php_latch_key_mark_owned(zend_object *key, zend_string *owner)
{
    zval *slot = php_latch_key_slot(key, KEY_OWNER);
    zval old;

    php_latch_key_mark_unserializable(key);
    ZVAL_COPY_VALUE(&old, slot);
    if (owner != NULL) {
        ZVAL_STR_COPY(slot, owner);
    } else {
        ZVAL_NULL(slot);
    }
    zval_ptr_dtor(&old);
}

static bool refuse_permits(const char *format, zend_long first, zend_long second)
{
    zend_throw_exception_ex(php_latch_semaphores.invalid_argument, 0, format, first, second);
    return false;
}

bool php_latch_check_permits(zend_long limit, zend_long weight)
{
    if (limit < 1) {
        return refuse_permits("The limit (" ZEND_LONG_FMT ") should be greater than 0.", limit, 0);
    }
    if (weight < 1) {
        return refuse_permits("The weight (" ZEND_LONG_FMT ") should be greater than 0.", weight,
                              0);
    }
    if (weight > limit) {
        return refuse_permits("The weight (" ZEND_LONG_FMT ") should be lower or equals to the "
                              "limit (" ZEND_LONG_FMT ").",
                              weight, limit);
    }
    if (limit > LATCH_PERMITS_MAX) {
        return refuse_permits("The limit (" ZEND_LONG_FMT
                              ") should be lower or equals to " ZEND_LONG_FMT ".",
                              limit, LATCH_PERMITS_MAX);
    }
    return true;
}
