/*
 * Inside Latch\Key: its properties, for key.c (methods), permits.c and forms.c (serialised and
 * dumped).
 */
#ifndef PHP_LATCH_KEY_PROPERTIES_H
#define PHP_LATCH_KEY_PROPERTIES_H

#include "ext/key/key.h"
#include "ext/key/lease.h"

/* The order of the declarations in stubs/key.stub.php and stubs/semaphore_key.stub.php. */
enum {
    KEY_RESOURCE,
    KEY_EXPIRING_TIME,
    KEY_STATE,
    KEY_SERIALIZABLE,
    KEY_LEASE,
    /* Of a semaphore's alone */
    KEY_LIMIT,
    KEY_WEIGHT,
    KEY_OWNER,
};

/* array_walk() and the like turn properties into references. */
static inline zval *php_latch_key_slot(zend_object *key, int index)
{
    zval *slot = OBJ_PROP_NUM(key, index);

    ZVAL_DEREF(slot);
    return slot;
}

/* The state, read-only; empty where PHP code (ArrayObject) has overwritten it with no array. */
HashTable *php_latch_key_state(zend_object *key);
/* The name of the lease's token in a key's state; NULL when it has none. */
const char *php_latch_key_state_name(const php_latch_lease *lease);
/* The lease's token, made now if need be; NULL after throwing. */
zend_string *php_latch_key_token(php_latch_lease *lease);
/* Throws and returns false while an operation on one of the key's leases is in flight. */
bool php_latch_key_check_idle(zend_object *key);

#endif
