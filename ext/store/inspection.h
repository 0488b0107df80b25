/* Inspection: holders of locks as PHP arrays, and eviction of holders. */
#ifndef PHP_LATCH_INSPECTION_H
#define PHP_LATCH_INSPECTION_H

#include "ext/php_latch.h"

/* Lists the held locks; `foreign`: also those of peers, as far as they can be recognised. */
void php_latch_store_list_held(zend_object *store, bool foreign, zval *return_value);
/* Takes the lock from these holders, and returns how many of them held it. */
void php_latch_store_evict(zend_object *store, zend_string *resource, zend_string *identities,
                           zval *return_value);
/* In stores with LATCH_OWNERS. Takes the lock from its holder; false: it has none, or after
 * throwing. */
bool php_latch_store_evict_all(zend_object *store, zend_string *resource);
/* The owner that holds the lock; null: nobody does, or after throwing. */
void php_latch_store_tell_owner(zend_object *store, zend_string *resource, zval *return_value);
/*
 * The holders of the key's semaphore in a store of the engine, as an array; leaves it after
 * throwing. Of slots the key's limit tells how many there are.
 */
void php_latch_store_inspect_permits(zend_object *store, zend_object *key, zval *return_value);
/* Lists the semaphores of which permits are held, each as the array above; `foreign`: also those of
 * peers alone. */
void php_latch_store_list_permits(zend_object *store, bool foreign, zval *return_value);
/* Number of permits that are held of the key's semaphore; false after throwing. */
bool php_latch_store_count_permits(zend_object *store, zend_object *key, zend_long *used);

#endif
