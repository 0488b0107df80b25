/*
 * Inside Latch\Semaphore: semaphore.c (Semaphore, SemaphoreFactory), semaphore_key.c,
 * semaphore_stores.c, semaphore_exceptions.c. What they share with locks, which is nearly all, is
 * in ext/key, ext/store and ext/lock.
 */
#ifndef PHP_LATCH_SEMAPHORE_H
#define PHP_LATCH_SEMAPHORE_H

#include "ext/php/primitive.h"

/* Latch\Semaphore\Key */
extern zend_class_entry *php_latch_semaphore_key_ce;

/* Registers all classes; to be called when those of locks are registered. */
void php_latch_register_semaphores(void);

void php_latch_register_semaphore_exceptions(void);
void php_latch_register_semaphore_key(void);
void php_latch_register_semaphore_stores(void);

/* Makes a new key; false after throwing: an argument is out of its range. */
bool php_latch_semaphore_key_make(zval *return_value, zend_string *resource, zend_long limit,
                                  zend_long weight);
/*
 * The store that is argument `number` of the active function; NULL after throwing a TypeError,
 * which names the stores with semaphores where it is a store of locks.
 */
zend_object *php_latch_semaphore_store_argument(uint32_t number, zval *store);

#endif
