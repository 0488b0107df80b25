/* Calls to a PSR-3 logger, with Symfony's messages. */
#include "ext/php/log.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

bool php_latch_is_logger(zend_object *logger)
{
    zend_class_entry *ce = php_latch_find_class("psr\\log\\loggerinterface");

    return ce != NULL && instanceof_function(logger->ce, ce);
}

bool php_latch_check_logger(zend_object *logger)
{
    zend_string *name = zend_string_init(ZEND_STRL("Psr\\Log\\LoggerInterface"), 0);
    zend_class_entry *ce = zend_lookup_class(name);

    zend_string_release(name);
    if (ce != NULL && instanceof_function(logger->ce, ce)) {
        return true;
    }
    if (EG(exception) == NULL) {
        zend_argument_type_error(1, "must be of type Psr\\Log\\LoggerInterface, %s given",
                                 ZSTR_VAL(logger->ce->name));
    }
    return false;
}

void php_latch_log(zend_object *logger, const php_latch_primitive *primitive, const char *level,
                   const char *format, zend_object *key, const char *name, zval *value)
{
    char message[160];
    zval context;

    if (logger == NULL) {
        return;
    }
    array_init(&context);
    if (value != NULL) {
        Z_TRY_ADDREF_P(value);
        add_assoc_zval(&context, name, value);
    }
    snprintf(message, sizeof(message), format, primitive->noun, primitive->noun);
    php_latch_log_context(logger, level, message, key, &context);
}

void php_latch_log_context(zend_object *logger, const char *level, const char *message,
                           zend_object *key, zval *context)
{
    /* LoggerInterface has the method, but ArrayObject can put anything in its place. */
    zend_function *method =
        logger != NULL ? zend_hash_str_find_ptr(&logger->ce->function_table, level, strlen(level))
                       : NULL;
    zval arguments[2], resource;

    if (method == NULL) {
        zval_ptr_dtor(context);
        return;
    }
    ZVAL_STRING(&arguments[0], message);
    array_init(&arguments[1]);
    ZVAL_OBJ_COPY(&resource, key);
    add_assoc_zval(&arguments[1], "resource", &resource);
    zend_hash_copy(Z_ARR(arguments[1]), Z_ARR_P(context), zval_add_ref);
    zval_ptr_dtor(context);
    GC_ADDREF(logger); /* its method may replace the logger */
    zend_call_known_instance_method_with_2_params(method, logger, NULL, &arguments[0],
                                                  &arguments[1]);
    OBJ_RELEASE(logger);
    zval_ptr_dtor(&arguments[0]);
    zval_ptr_dtor(&arguments[1]);
}
