/* Class entries of the interfaces and the exceptions. */
#ifndef PHP_LATCH_INTERFACES_H
#define PHP_LATCH_INTERFACES_H

#include "ext/php_latch.h"

extern zend_class_entry *php_latch_lock_interface_ce;
extern zend_class_entry *php_latch_shared_lock_interface_ce;
extern zend_class_entry *php_latch_persisting_store_ce;
extern zend_class_entry *php_latch_blocking_store_ce;
extern zend_class_entry *php_latch_shared_store_ce;
extern zend_class_entry *php_latch_blocking_shared_store_ce;
extern zend_class_entry *php_latch_logger_aware_ce; /* NULL outside drop-in mode */

extern zend_class_entry *php_latch_exception_ce; /* the interface */
extern zend_class_entry *php_latch_invalid_argument_ce;
extern zend_class_entry *php_latch_invalid_ttl_ce;
extern zend_class_entry *php_latch_acquiring_ce;
extern zend_class_entry *php_latch_conflicted_ce;
extern zend_class_entry *php_latch_expired_ce;
extern zend_class_entry *php_latch_releasing_ce;
extern zend_class_entry *php_latch_storage_ce;
extern zend_class_entry *php_latch_unserializable_key_ce;

void php_latch_register_interfaces(void); /* and exceptions */

#endif
