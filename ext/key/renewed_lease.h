/*
 * Renewed leases: leases that the engine extends, or watches, for Locks. Several Locks may share
 * one lease, clones or Locks on one key: the most demanding of their requests counts.
 */
#ifndef PHP_LATCH_RENEWED_LEASE_H
#define PHP_LATCH_RENEWED_LEASE_H

#include "ext/key/lease.h"

typedef struct php_latch_renewed_lease {
    php_latch_lease *lease;  /* not a reference: the end of the lease is the end of this */
    latch_link requests;     /* of php_latch_renewal_request, of the Locks */
    latch_renewal_spec spec; /* as the engine was told last, */
    unsigned generation;     /* in that process */
    bool is_lost;            /* and was not acquired since */
} php_latch_renewed_lease;

/* Renewal that one Lock asks for; part of php_latch_keep_alive (ext/lock/keep_alive.h). */
typedef struct php_latch_renewal_request {
    latch_link link;                  /* in renewed->requests */
    php_latch_renewed_lease *renewed; /* NULL: the Lock has no lease yet, or not any more */
    bool renews;                      /* by keepAlive() */
    bool renews_by_setting;           /* by latch.keep_alive */
    bool auto_release;                /* the Lock's */
    int64_t ttl_ms;                   /* of the Lock's requests; 0: none */
    int64_t max_hold_ms;              /* 0: for ever */
} php_latch_renewal_request;

/* NULL when no Lock asks for anything. */
php_latch_renewed_lease *php_latch_renewed_lease_find(const php_latch_lease *lease);
/* Tells the engine the sum of the requests; it renews the lease from then on. */
latch_status php_latch_renewed_lease_apply(php_latch_renewed_lease *renewed, latch_error *error);
/*
 * Tells the engine a change, if it renews the lease: a forked child renews its parent's lock no
 * sooner than the child has acquired it or called keepAlive().
 */
void php_latch_renewed_lease_update(php_latch_renewed_lease *renewed);

/* Adds the request to the lease's requests; removes it from another lease's. */
void php_latch_renewal_join(php_latch_renewal_request *request, php_latch_lease *lease);
void php_latch_renewal_leave(php_latch_renewal_request *request);

/* Updates the key's lifetime from the renewal thread's deadlines, without I/O. */
void php_latch_key_sync_lifetime(zend_object *key);
/* Records that its token is known elsewhere from now on: it may be released there. */
void php_latch_lease_share_token(php_latch_lease *lease);
/* Ends renewal of a lease that is about to be freed. */
void php_latch_lease_end_renewal(const php_latch_lease *lease);
void php_latch_stop_all_renewals(void);

#endif
