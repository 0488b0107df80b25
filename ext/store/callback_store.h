/* Stores written in PHP: called by their methods, as Symfony's Lock and Semaphore call them. */
#ifndef PHP_LATCH_CALLBACK_STORE_H
#define PHP_LATCH_CALLBACK_STORE_H

#include "ext/php_latch.h"

/*
 * Symfony's calls, in its order and number. `inherit`: forked children may release what the store
 * takes in stores of Latch's. `ttl`: of a semaphore's permits, in seconds, > 0, which save() is
 * given; a lock's is set by php_latch_callback_refresh().
 */
php_latch_outcome php_latch_callback_acquire(zend_object *store, zend_object *key,
                                             latch_op_kind kind, bool blocking, int64_t deadline_ns,
                                             double ttl, bool inherit);
php_latch_outcome php_latch_callback_refresh(zend_object *store, zend_object *key, double ttl);
php_latch_outcome php_latch_callback_delete(zend_object *store, zend_object *key);
php_latch_outcome php_latch_callback_exists(zend_object *store, zend_object *key, bool *exists);
/* Is the running code called by a method of such a store, in this fiber or above it? */
bool php_latch_in_store_call(void);
/* May forked children release the lock that the running method acquires? True outside such methods,
 * as nothing releases automatically there. */
bool php_latch_store_call_inherits(void);

#endif
