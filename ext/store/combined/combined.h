/*
 * Inside Latch\Store\CombinedStore: combined_store.c (the class, and its operations as a back end),
 * members.c (members and strategies written in PHP), leases.c (leases and their parts), log.c (its
 * log) and strategies.c.
 */
#ifndef PHP_LATCH_COMBINED_H
#define PHP_LATCH_COMBINED_H

#include "ext/store/engine_store.h"

/* A store in a combined store. */
typedef struct php_latch_member {
    php_latch_backend *backend; /* a reference */
    zend_object *store;         /* the CombinedStore's reference; NULL when it has gone */
    /* The pointer to a store that is called by its PHP methods; NULL: the engine drives it */
    zend_object **called;
    int64_t initial_ttl_ms;
    bool remove_on_release, pass_on;
} php_latch_member;

/* A CombinedStore's part of its back end. It outlives the object while keys use it. */
typedef struct php_latch_combined_backend {
    const latch_strategy *own; /* NULL: the strategy is PHP code's */
    zend_object *strategy;     /* the CombinedStore's reference; NULL when it has gone */
    bool calls_php;            /* of a member, or of the strategy; also without any member */
    size_t count;
    php_latch_member members[];
} php_latch_combined_backend;

/* Part of a lease in a combined store: what the key holds in one member. */
typedef struct php_latch_part {
    php_latch_lease *lease; /* a reference; the key's in the member */
    /* State of the request under way, of a member that is called by its PHP methods: */
    zend_object *key;
    int64_t begun_ns;
    zend_object *failure;         /* thrown by the request */
    zend_object *release_failure; /* thrown by the release */
    bool is_asked;
    bool is_late; /* a renewal was not even begun: its time had passed */
} php_latch_part;

/* ---- strategies.c */

extern zend_class_entry *php_latch_strategy_ce; /* the interface */
/* The engine's, of an object of exactly one of our classes; or NULL. */
const latch_strategy *php_latch_own_strategy(const zend_object *strategy);

/* ---- combined_store.c */

/* The store's logger, not a new reference; NULL when there is none. */
zend_object *php_latch_combined_store_logger(zend_object *store);

/* ---- members.c */

/*
 * A back end whose requests go to the methods of a store, as Symfony's CombinedStore calls them.
 * Before the store is released, *called is to be set to NULL. NULL after throwing.
 */
php_latch_backend *php_latch_called_backend_open(zend_object *store, zend_object ***called);
/* The strategy in the engine's form. It is never met while the calls under way are to end. */
latch_strategy php_latch_combined_strategy(php_latch_combined_backend *combined);

/* ---- leases.c: php_latch_backend_ops on leases */

php_latch_combined_backend *php_latch_combined_backend_of(const php_latch_lease *lease);
bool php_latch_combined_join(php_latch_lease *lease, zend_object *key);
void php_latch_combined_detach_members(php_latch_lease *lease);
bool php_latch_combined_contains(const php_latch_lease *lease, const php_latch_lease *part);
void php_latch_combined_for_each_part(php_latch_lease *lease, void (*visit)(php_latch_lease *part));
bool php_latch_combined_holds_in_part(const php_latch_lease *lease);
void php_latch_combined_release_parts(php_latch_lease *lease, bool detach);
void php_latch_combined_configure(php_latch_lease *lease, zend_object *key);
latch_status php_latch_combined_find_deadlock(php_latch_lease *wanted, latch_op_kind kind,
                                              bool verifies);
/* Releases the exceptions of the last request: they may refer to the key, and so to the lease. */
void php_latch_combined_clear_failures(php_latch_lease *lease);

/* ---- log.c: php_latch_backend_ops */

bool php_latch_combined_logs(zend_object *store);
bool php_latch_combined_log_outcome(zend_object *store, zend_object *key, php_latch_lease *lease,
                                    const latch_request *request, latch_status status,
                                    bool was_free);
void php_latch_combined_log_too_late(zend_object *store, zend_object *key, php_latch_lease *lease,
                                     const latch_request *request);

/* ---- strategies.c */

void php_latch_register_strategies(void);

#endif
