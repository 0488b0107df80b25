/*
 * Latch\Key: the name of a resource, with the state that proves that its lock is held; and
 * Latch\Semaphore\Key, the same of permits of a semaphore, whose object begins with the same
 * properties (properties.h). All functions take either.
 */
#ifndef PHP_LATCH_KEY_H
#define PHP_LATCH_KEY_H

#include "ext/php/primitive.h"

extern zend_class_entry *php_latch_key_ce;

void php_latch_register_key(void);
/* Completes a class of keys; hides tokens from backtraces: a token is enough to release. */
void php_latch_key_finish_class(zend_class_entry *ce);

/* Makes a new key. */
void php_latch_key_make(zval *return_value, zend_string *resource);
/* The primitive that the key is for. */
static inline const php_latch_primitive *php_latch_key_primitive(const zend_object *key)
{
    return key->ce == php_latch_key_ce ? &php_latch_locks : &php_latch_semaphores;
}

/* The permits that a semaphore's key is for; 0 of 0 where PHP code (ArrayObject) has put no
 * numbers. */
latch_permits php_latch_key_permits(zend_object *key);
void php_latch_key_set_permits(zend_object *key, latch_permits permits);
/* Throws with Symfony's message, and returns false, unless they are in their ranges. */
bool php_latch_check_permits(zend_long limit, zend_long weight);
/* Throws and returns false for an empty resource, the first argument of the active function. */
bool php_latch_check_resource(const php_latch_primitive *primitive, const zend_string *resource);
/* The resource, or NULL and an Error when the key was never constructed. Not a new reference. */
zend_string *php_latch_key_resource(zend_object *key);
/*
 * The resource for a message, where PHP code that ran meanwhile may have overwritten it
 * (ArrayObject can): then the locked resource, or "". Never NULL; not a new reference.
 */
zend_string *php_latch_key_name(zend_object *key);
/* Adds the value of the property to a dump, or null. */
void php_latch_key_add_resource(zval *info, zend_object *key);
/* The slot of the key's first lease: IS_NULL, or an object of php_latch_lease_ce. */
zval *php_latch_key_lease_slot(zend_object *key);
/* Finds the state that a store or an earlier process has set; NULL when there is none. */
zval *php_latch_key_find_state(zend_object *key, const char *name);
void php_latch_key_remove_state(zend_object *key, const char *name);
/* Sets it, and takes the value over. */
void php_latch_key_set_state(zend_object *key, zend_string *name, zval *state);
void php_latch_key_reset_lifetime(zend_object *key);
void php_latch_key_set_lifetime(zend_object *key, double seconds);
/* The same, unless it is to expire before that. */
void php_latch_key_reduce_lifetime(zend_object *key, double seconds);
/* NAN when the key does not expire. */
double php_latch_key_remaining_lifetime(zend_object *key);
bool php_latch_key_is_expired(zend_object *key);
void php_latch_key_mark_unserializable(zend_object *key);
/* The same of a semaphore's; `owner`: the class of the store whose state keeps it from that, or
 * NULL.
 */
void php_latch_key_mark_owned(zend_object *key, zend_string *owner);

#endif
