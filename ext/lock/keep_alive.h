/*
 * Inside Lock::keepAlive() and Lock::onLost(): keep_alive.c (the methods), lost_locks.c
 * (callbacks).
 */
#ifndef PHP_LATCH_KEEP_ALIVE_H
#define PHP_LATCH_KEEP_ALIVE_H

#include "ext/key/renewed_lease.h"
#include "ext/lock/lock.h"

/* A lost lease that is still to be reported to a Lock. */
typedef struct php_latch_loss_notice {
    latch_link link;     /* in LATCH_G(loss_notices), else alone */
    zend_string *reason; /* NULL: none */
    bool logs, throws;   /* one of the Locks that share the lease does */
    uint64_t hold;       /* of the MultiLock, in which the loss was posted */
} php_latch_loss_notice;

/* Settings of one Lock, by its methods and by latch.keep_alive. */
struct php_latch_keep_alive {
    php_latch_renewal_request request;
    php_latch_lock *lock;
    php_latch_multi_lock *multi; /* reports losses in place of the Lock, a member of it; or NULL */
    zval callbacks;              /* an array of closures; or undefined */
    php_latch_loss_notice notice;
};

/* ---- lost_locks.c */

void php_latch_loss_notice_init(php_latch_loss_notice *notice);
/* Drops the notice: the Lock ends, or was lost anew. */
void php_latch_loss_notice_drop(php_latch_loss_notice *notice);
/* Reads the mailbox: counts the lost leases, and queues a notice for each Lock. */
void php_latch_lost_locks_collect(void);

#endif
