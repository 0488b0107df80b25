/* Latch\Lease: a key's hold in one store. */
#ifndef PHP_LATCH_LEASE_H
#define PHP_LATCH_LEASE_H

#include "ext/key/backend.h"
#include "ext/php/primitive.h"

extern zend_class_entry *php_latch_lease_ce;

void php_latch_register_lease(void);

/* Small, because there is one for each held lock. */
struct php_latch_lease {
    latch_lease lease; /* its resource is within a zend_string */
    union {
        php_latch_backend *backend; /* of a store of the engine, which the lease names, too */
        zend_object *store; /* driven by its PHP methods; no reference, the Locks that use it have;
                               NULL when none does */
    };
    zend_object *next; /* the key's lease in another store, or NULL */
    union {
        struct php_latch_part *parts; /* with backend->ops, in the members; or NULL */
        size_t users;                 /* Locks that use it with `store` */
    };
    zend_object std;
};

/* Is it in a store that the engine drives? */
bool php_latch_lease_is_native(const php_latch_lease *lease);
/* The primitive that it is a hold on. */
static inline const php_latch_primitive *php_latch_lease_primitive(const php_latch_lease *lease)
{
    return lease->lease.is_permit ? &php_latch_semaphores : &php_latch_locks;
}

/* The name of its token in a key's state, of a native lease; NULL when there is none. */
const char *php_latch_lease_state_name(const php_latch_lease *lease);
/* Is it in a store that is made of others (php_latch_backend_ops)? */
bool php_latch_lease_has_parts(const php_latch_lease *lease);
/* The next lease of the thread; from *handle, 0 at first, which it moves on. NULL: no more. */
php_latch_lease *php_latch_leases_next(uint32_t *handle);
/* Records an acquire; to be called after each. */
void php_latch_lease_record_acquired(php_latch_lease *lease);
/* Is the lease's hold this process's alone, so that no other process can end it before its TTL? */
bool php_latch_lease_is_ours_alone(const php_latch_lease *lease);
/* Drops the leases in sessions of PHP objects. */
void php_latch_leases_drop_sessions(void);
/* Not a new reference. */
zend_string *php_latch_lease_resource(const php_latch_lease *lease);
/* The key's leases, in no order; NULL past the last one. */
php_latch_lease *php_latch_lease_first(zend_object *key);
php_latch_lease *php_latch_lease_next(const php_latch_lease *lease);
/* Has the key been used with one store at most, be that a combined one? */
bool php_latch_lease_is_alone(zend_object *key);
/*
 * Count a loss in lease.losses: the lease was held before a request, and is not any more, though it
 * was not released. To be called before and after the request; the first returns the mode. The loss
 * of a renewed lease is counted when it is reported (ext/lock/lost_locks.c).
 */
latch_mode php_latch_lease_before_request(php_latch_lease *lease);
void php_latch_lease_after_request(php_latch_lease *lease, latch_mode before, latch_op_kind kind);
/* Removes a lease from its key. */
void php_latch_key_remove_lease(zend_object *key, php_latch_lease *lease);
/*
 * The key's lease in an engine's store, or in one that is driven by its PHP methods: one of
 * `backend` and `store` is NULL. NULL when the key has none.
 */
php_latch_lease *php_latch_lease_find(zend_object *key, const php_latch_backend *backend,
                                      const zend_object *store);
/* The same, made when it is missing; NULL after throwing. */
php_latch_lease *php_latch_lease_get(zend_object *key, php_latch_backend *backend,
                                     zend_object *store);

#endif
