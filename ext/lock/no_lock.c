/* Latch\NoLock: a lock that locks nothing. */
#include "ext/lock/lock.h"

#include "ext/php/interfaces.h"

#include "stubs/no_lock_arginfo.h"

static void parse_blocking(INTERNAL_FUNCTION_PARAMETERS)
{
    bool blocking;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(blocking)
    ZEND_PARSE_PARAMETERS_END();
    (void) blocking;
    RETURN_TRUE;
}

PHP_METHOD(Latch_NoLock, acquire)
{
    parse_blocking(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

PHP_METHOD(Latch_NoLock, acquireRead)
{
    parse_blocking(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

PHP_METHOD(Latch_NoLock, refresh)
{
    double ttl;
    bool ttl_is_null;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
    ZEND_PARSE_PARAMETERS_END();
    (void) ttl;
    (void) ttl_is_null;
}

PHP_METHOD(Latch_NoLock, isAcquired)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_TRUE;
}

PHP_METHOD(Latch_NoLock, release)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

PHP_METHOD(Latch_NoLock, isExpired)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_FALSE;
}

PHP_METHOD(Latch_NoLock, getRemainingLifetime)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_NULL();
}

void php_latch_register_no_lock(void)
{
    register_class_Latch_NoLock(php_latch_shared_lock_interface_ce);
}
