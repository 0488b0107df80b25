/* PHP objects of the engine's stores, and what a store logs of its requests. */
#ifndef PHP_LATCH_ENGINE_STORE_H
#define PHP_LATCH_ENGINE_STORE_H

#include "ext/key/lease.h"

/* What a class of stores keeps beside: begins its own structure. */
typedef struct php_latch_store_extra {
    void (*free)(struct php_latch_store_extra *extra);
} php_latch_store_extra;

typedef struct php_latch_store {
    php_latch_backend *backend; /* NULL until constructed */
    bool remove_on_release;
    bool pass_on;                 /* the locks, to started programs */
    bool is_called;               /* a LockStore, whose methods call Locks; it has no back end */
    int64_t initial_ttl_ms;       /* of locks that name none, where locks expire; else 0 */
    int64_t least_ttl_ms;         /* of locks; 0: any */
    php_latch_store_extra *extra; /* NULL: the class has none, or it is not constructed */
    zend_object std;
} php_latch_store;

/* create_object for store classes; the back end is still missing. */
php_latch_store *php_latch_store_create(zend_class_entry *ce);
/* The object's store; NULL when it is not one of Latch's. */
php_latch_store *php_latch_store_of(zend_object *object);
/* The back end of such an object; NULL after throwing: it was never constructed. */
php_latch_backend *php_latch_store_backend(zend_object *object);
/* Sets the store's options in a lease of the key; to be called before its requests. */
void php_latch_store_configure(const php_latch_store *store, zend_object *key,
                               php_latch_lease *lease);
/*
 * True when the engine does all: no PHP subclass overrides a store method, and no part of a
 * combined store is written in PHP.
 */
bool php_latch_store_is_native(zend_object *object);
/* What is wrong with the TTL of a lock in that store, as a clause; NULL: nothing. */
const char *php_latch_store_ttl_problem(const php_latch_store *store, int64_t ttl_ms);
/* Can it tell who holds something? */
bool php_latch_store_has_inspect(zend_object *object);
/* Are its permits locks in another store? */
bool php_latch_store_has_slots(zend_object *object);
void php_latch_engine_store_startup(void);
/*
 * Runs a request of a store's method, of which PHP code is the caller: false after throwing, and
 * for a probe also when nothing is held.
 */
bool php_latch_store_run(zend_object *store, zend_object *key, const latch_request *request);

/* Does the store log its requests, and has it a logger? */
bool php_latch_store_logs(zend_object *store);

/*
 * Logs the answers of a combined store's members; to be called after each request. False when the
 * logger has thrown: a lock that the request took is released then, if the lease was free before.
 */
static inline bool php_latch_store_log_outcome(zend_object *store, zend_object *key,
                                               php_latch_lease *lease, const latch_request *request,
                                               latch_status status, bool was_free)
{
    return lease->parts == NULL
           || lease->backend->ops->log_outcome(store, key, lease, request, status, was_free);
}

#endif
