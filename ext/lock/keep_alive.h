/* Inside Lock::keepAlive() and Lock::onLost(): keep_alive.c (what is kept), ext/key/lost_locks.c
 * (who is told).
 */
#ifndef PHP_LATCH_KEEP_ALIVE_H
#define PHP_LATCH_KEEP_ALIVE_H

#include "ext/lock/lock.h"

/* A lease of which Locks want something; several may share it: clones, Locks on one key. */
typedef struct php_latch_kept {
    php_latch_lease *lease; /* not a reference: the end of the lease is the end of this */
    latch_link keepings;    /* of the Locks */
    latch_keep keep;        /* what the engine was told, */
    unsigned generation;    /* in that process */
    bool is_lost;           /* and was not acquired since */
} php_latch_kept;

/* A loss of which a Lock has to be told. */
typedef struct php_latch_notice {
    latch_link link;     /* in LATCH_G(notices), else alone */
    zend_string *reason; /* NULL: none */
    bool logs, throws;   /* of the Locks that share the lease, one does */
} php_latch_notice;

/* What a Lock wants of the renewal. */
struct php_latch_keeping {
    php_latch_lock *lock;
    php_latch_kept *kept; /* NULL: it has no lease yet, or not any more */
    latch_link link;      /* in kept->keepings */
    bool renews;          /* by keepAlive() */
    bool renews_by_setting;
    int64_t max_hold_ms; /* 0: for ever */
    zval callbacks;      /* an array of closures; or undefined */
    php_latch_notice notice;
};

/* ---- keep_alive.c */

/* NULL when no Lock wants anything of it. */
php_latch_kept *php_latch_kept_find(const php_latch_lease *lease);

/* ---- ext/key/lost_locks.c */

/* The thread's; NULL when memory ran out. */
latch_mailbox *php_latch_mailbox_get(void);
void php_latch_notice_init(php_latch_notice *notice);
/* Nobody need be told any more. */
void php_latch_notice_drop(php_latch_notice *notice);

#endif
