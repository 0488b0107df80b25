/* Latch\Store\SemaphoreStore: its setting in php.ini, and what the class of semaphores shares. */
#ifndef PHP_LATCH_SEMAPHORE_STORE_H
#define PHP_LATCH_SEMAPHORE_STORE_H

#include "ext/store/store_class.h"

#include "ext/php_latch.h"

ZEND_INI_MH(php_latch_update_semaphore_digest);

/* create_object, and the constructor, which is of locks or of semaphores by what it throws. */
zend_object *php_latch_semaphore_store_create(zend_class_entry *ce);
void php_latch_semaphore_store_construct(const php_latch_primitive *primitive,
                                         zend_execute_data *execute_data);
extern const php_latch_dsn_form php_latch_semaphore_forms[];

#endif
