/*
 * Inside Latch\Semaphore: semaphore.c (Semaphore, SemaphoreFactory), semaphore_key.c,
 * semaphore_stores.c, lock_store.c and slot_locks.c (permits as locks), semaphore_exceptions.c.
 * What they share with locks, which is nearly all, is in ext/key, ext/store and ext/lock.
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

/* ---- lock_store.c ---------------------------------------------------------------------------- */

/* As declared in stubs/semaphore_lock_store.stub.php. */
enum { SLOTS_FACTORY };

void php_latch_register_lock_store(void);
/* Makes a LockStore; leaves it undefined after throwing. */
void php_latch_make_slots(zend_object *factory, zval *store);

/* ---- slot_locks.c: the methods of a LockStore whose locks PHP code takes ----------------------
 */

void php_latch_slot_locks_save(zend_object *store, zend_object *key, double ttl);
void php_latch_slot_locks_delete(zend_object *store, zend_object *key);
bool php_latch_slot_locks_exist(zend_object *store, zend_object *key);
void php_latch_slot_locks_refresh(zend_object *store, zend_object *key, double ttl);

/* Makes a new key; false after throwing: an argument is out of its range. */
bool php_latch_semaphore_key_make(zval *return_value, zend_string *resource, zend_long limit,
                                  zend_long weight);
/*
 * The store that is argument `number` of the active function; NULL after throwing a TypeError,
 * which names the stores with semaphores where it is a store of locks.
 */
zend_object *php_latch_semaphore_store_argument(uint32_t number, zval *store);

#endif
