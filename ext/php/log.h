/* Calls to a PSR-3 logger. */
#ifndef PHP_LATCH_LOG_H
#define PHP_LATCH_LOG_H

#include "ext/php/primitive.h"

/*
 * Calls $logger->$level($message, ['resource' => $key, $name => $value]); no logger, no call. The
 * message is the format with the primitive's noun for each "%s", of which there are two at most.
 */
void php_latch_log(zend_object *logger, const php_latch_primitive *primitive, const char *level,
                   const char *format, zend_object *key, const char *name, zval *value);
/* The same with ['resource' => $key] + $context, which it consumes. */
void php_latch_log_context(zend_object *logger, const char *level, const char *message,
                           zend_object *key, zval *context);
/* Is it a Psr\Log\LoggerInterface? Loads no class: an object of one has loaded it. */
bool php_latch_is_logger(zend_object *logger);
/* Checks that `logger` is one, as the argument of a method; false after throwing a TypeError. */
bool php_latch_check_logger(zend_object *logger);

#endif
