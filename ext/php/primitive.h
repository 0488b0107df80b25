/*
 * Synchronisation primitives: locks and counting semaphores, which are one and the same code
 * (ext/lock). What PHP is told of them differs, as Symfony's two components do: nouns, classes,
 * texts and levels of log lines. A Key says which of the two it is for (ext/key/key.h).
 */
#ifndef PHP_LATCH_PRIMITIVE_H
#define PHP_LATCH_PRIMITIVE_H

#include "ext/php_latch.h"

/* What stands before and behind the resource in a message. */
typedef struct php_latch_message {
    const char *before, *after;
} php_latch_message;

typedef struct php_latch_primitive {
    bool is_permit;   /* leases are holds on permits of a semaphore */
    const char *noun; /* "lock": in messages and log lines, behind the resource */
    const char *ttl;  /* the name of a TTL in log lines and arguments */
    /* PSR-3 level of the log line about an acquire that has ended in a conflict. */
    const char *conflict_level;
    const char *not_refreshed;    /* why, at the end of the log line about a refresh() */
    const char *servers_by_cache; /* those whose clients symfony/cache makes: "Redis" */
    php_latch_message not_acquired, not_held; /* of exceptions: conflict of acquire(), refresh() */
    php_latch_message slots_not_acquired, slots_not_held; /* the same where permits are locks */

    /* Classes, set at MINIT */
    zend_class_entry *product; /* Latch\Lock */
    zend_class_entry *factory; /* Latch\LockFactory */
    zend_class_entry *store;   /* Latch\PersistingStoreInterface */
    zend_class_entry *invalid_argument, *invalid_ttl;
    zend_class_entry *conflicted;     /* acquire(): somebody else holds */
    zend_class_entry *lost;           /* refresh(): it is not held */
    zend_class_entry *expired;        /* its time was over before the call could end */
    zend_class_entry *not_stored;     /* acquire(), refresh(): any other failure */
    zend_class_entry *releasing;      /* of stores: it cannot be released */
    zend_class_entry *not_released;   /* release(): any other failure */
    zend_class_entry *storage;        /* the store has failed */
    zend_class_entry *unserializable; /* of a key */
} php_latch_primitive;

extern php_latch_primitive php_latch_locks, php_latch_semaphores;

/* Drop-in mode: are the classes of the primitive registered under Symfony's names? */
static inline bool php_latch_has_symfony_names(const php_latch_primitive *primitive)
{
    return primitive == &php_latch_semaphores ? LATCH_G(symfony_semaphore) : LATCH_G(symfony);
}

#endif
