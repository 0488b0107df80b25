/* Exceptions of semaphores: their constructors have Symfony's parameters and messages. */
#include "ext/semaphore/semaphore.h"

#include "ext/key/key.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"

#include "stubs/semaphore_exceptions_arginfo.h"

static void construct_exception(INTERNAL_FUNCTION_PARAMETERS, const char *middle)
{
    zend_object *key, *previous = NULL;
    zend_string *reason, *resource, *text;
    zval message;

    ZEND_PARSE_PARAMETERS_START(2, 3)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_semaphore_key_ce)
        Z_PARAM_STR(reason)
        Z_PARAM_OPTIONAL
        Z_PARAM_OBJ_OF_CLASS_OR_NULL(previous, zend_ce_throwable)
    ZEND_PARSE_PARAMETERS_END();
    resource = php_latch_key_resource(key);
    if (resource == NULL) {
        RETURN_THROWS();
    }
    /* Both may have NUL bytes. */
    text = zend_string_concat3(ZEND_STRL("The semaphore \""), ZSTR_VAL(resource),
                               ZSTR_LEN(resource), middle, strlen(middle));
    ZVAL_STR(&message, zend_string_concat3(ZSTR_VAL(text), ZSTR_LEN(text), ZSTR_VAL(reason),
                                           ZSTR_LEN(reason), ZEND_STRL(".")));
    zend_string_release(text);
    zend_update_property_ex(zend_ce_exception, Z_OBJ_P(ZEND_THIS), ZSTR_KNOWN(ZEND_STR_MESSAGE),
                            &message);
    zval_ptr_dtor(&message);
    if (previous != NULL) {
        GC_ADDREF(previous);
        zend_exception_set_previous(Z_OBJ_P(ZEND_THIS), previous);
    }
}

PHP_METHOD(Latch_Semaphore_Exception_SemaphoreAcquiringException, __construct)
{
    construct_exception(INTERNAL_FUNCTION_PARAM_PASSTHRU, "\" could not be acquired: ");
}

PHP_METHOD(Latch_Semaphore_Exception_SemaphoreExpiredException, __construct)
{
    construct_exception(INTERNAL_FUNCTION_PARAM_PASSTHRU, "\" has expired: ");
}

PHP_METHOD(Latch_Semaphore_Exception_SemaphoreReleasingException, __construct)
{
    construct_exception(INTERNAL_FUNCTION_PARAM_PASSTHRU, "\" could not be released: ");
}

void php_latch_register_semaphore_exceptions(void)
{
    php_latch_primitive *semaphores = &php_latch_semaphores;
    zend_class_entry *base =
        register_class_Latch_Semaphore_Exception_ExceptionInterface(zend_ce_throwable);
    zend_class_entry *runtime =
        register_class_Latch_Semaphore_Exception_RuntimeException(spl_ce_RuntimeException, base);

    semaphores->invalid_argument =
        register_class_Latch_Semaphore_Exception_InvalidArgumentException(
            spl_ce_InvalidArgumentException, base);
    semaphores->invalid_ttl = semaphores->invalid_argument;
    semaphores->conflicted = register_class_Latch_Semaphore_Exception_SemaphoreAcquiringException(
        spl_ce_RuntimeException, base);
    semaphores->expired =
        register_class_Latch_Semaphore_Exception_SemaphoreExpiredException(spl_ce_RuntimeException,
                                                                           base);
    semaphores->lost = semaphores->expired;
    semaphores->not_stored = runtime;
    semaphores->releasing = register_class_Latch_Semaphore_Exception_SemaphoreReleasingException(
        spl_ce_RuntimeException, base);
    semaphores->not_released = runtime;
    semaphores->storage =
        register_class_Latch_Semaphore_Exception_SemaphoreStorageException(spl_ce_RuntimeException,
                                                                           base);
    semaphores->unserializable =
        register_class_Latch_Semaphore_Exception_UnserializableKeyException(spl_ce_RuntimeException,
                                                                            base);
}
