/* Calls to a PSR-3 logger, with Symfony's messages. */
#include "php_latch.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

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

void php_latch_log(zend_object *logger, const char *level, const char *message, zend_object *key,
                   const char *name, zval *value)
{
    zval arguments[2], resource;
    zend_function *method;

    if (logger == NULL) {
        return;
    }
    method = zend_hash_str_find_ptr(&logger->ce->function_table, level, strlen(level));
    if (method
        == NULL) { /* LoggerInterface has it, but ArrayObject can put anything in its place */
        return;
    }
    ZVAL_STRING(&arguments[0], message);
    array_init(&arguments[1]);
    ZVAL_OBJ_COPY(&resource, key);
    add_assoc_zval(&arguments[1], "resource", &resource);
    if (value != NULL) {
        Z_TRY_ADDREF_P(value);
        add_assoc_zval(&arguments[1], name, value);
    }
    GC_ADDREF(logger); /* it may have itself replaced */
    zend_call_known_instance_method_with_2_params(method, logger, NULL, &arguments[0],
                                                  &arguments[1]);
    OBJ_RELEASE(logger);
    zval_ptr_dtor(&arguments[0]);
    zval_ptr_dtor(&arguments[1]);
}
