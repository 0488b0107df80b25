/*
 * Inside Latch\Store\CombinedStore: combined_store.c (the class), members.c (its members
 * that are written in PHP), leases.c (what a key holds in it), log.c (what it
 * logs) and strategies.c.
 */
#ifndef PHP_LATCH_COMBINED_H
#define PHP_LATCH_COMBINED_H

#include "ext/php_latch.h"

/* A store in a combined store. */
typedef struct php_latch_member {
    php_latch_backend *backend; /* a reference */
    zend_object *store;         /* the CombinedStore's reference; NULL when it has gone */
    /* Where the pointer to a store stands that is called by its PHP methods; NULL: by the engine */
    zend_object **called;
    int64_t initial_ttl_ms;
    bool remove_on_release, pass_on;
} php_latch_member;

/* What a CombinedStore's back end is made of. It outlives the object while keys use it. */
typedef struct php_latch_combination {
    const latch_strategy *own; /* NULL: the strategy is PHP code's */
    zend_object *strategy;     /* the CombinedStore's reference; NULL when it has gone */
    bool is_native;            /* nothing in it is asked by PHP methods */
    size_t count;
    php_latch_member members[];
} php_latch_combination;

/* What a lease in a combined store is made of. */
typedef struct php_latch_part {
    php_latch_lease *lease; /* a reference; the key's in the member */
    /* Of a member that is called by its PHP methods, for the request under way: */
    zend_object *key;
    int64_t begun_ns;
    zend_object *failure;         /* what it threw when it was asked */
    zend_object *release_failure; /* what it threw when it was told to give back */
    bool is_asked;
    bool is_late; /* a renewal was not even begun: its time had passed */
} php_latch_part;

/* ---- strategies.c */

/* The engine's, of an object of exactly one of our classes; or NULL. */
const latch_strategy *php_latch_own_strategy(const zend_object *strategy);

/* ---- combined_store.c */

/* Lets its PHP objects go: nothing can be asked of it any more. */
void php_latch_combination_leave(php_latch_combination *combination);
void php_latch_combination_free(php_latch_combination *combination);
/* Tells the cycle collector what it holds on to. */
void php_latch_combination_collect(const php_latch_combination *combination,
                                   zend_get_gc_buffer *buffer);

/* ---- members.c */

/*
 * A back end whose requests go to the methods of a store, as Symfony's CombinedStore calls them.
 * Whoever lets the store go sets *called to NULL before. NULL after throwing.
 */
php_latch_backend *php_latch_called_backend_open(zend_object *store, zend_object ***called);
/* By which it decides. Where the calls under way are to end, nothing is met. */
latch_strategy php_latch_combined_strategy(php_latch_combination *combination);

/* ---- leases.c */

/* How many parts a lease in a combined store has. */
size_t php_latch_lease_count(const php_latch_lease *lease);
/* Makes the parts of a new lease; false after throwing. */
bool php_latch_lease_join(php_latch_lease *lease, zend_object *key);
/* Gives the parts back. */
void php_latch_lease_disjoin(php_latch_lease *lease);
/* Is `part` one of the lease's, or theirs? */
bool php_latch_lease_has_part(const php_latch_lease *lease, const php_latch_lease *part);
/* Does a member hold it that the engine drives, whether that is enough or not? */
bool php_latch_lease_holds_in_part(const php_latch_lease *lease);
/* Gives it back in these; `detach` as in requests. */
void php_latch_lease_release_parts(php_latch_lease *lease, bool detach);
/* Says to the parts what is to be known before a request. */
void php_latch_lease_configure_parts(php_latch_lease *lease, zend_object *key);
/* What PHP code threw goes: it may hold on to the key, and so to the lease. */
void php_latch_lease_forget_failures(php_latch_lease *lease);

#endif
