/*
 * The module: its version, its globals and the engine behind it (src/latch.h). Each folder of the
 * glue has headers of its own; the folders are layers, of which each calls itself and those before:
 * php, key, store, store/redis, store/sql and store/combined, lock, semaphore, module.
 */
#ifndef PHP_LATCH_H
#define PHP_LATCH_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "ext/php/compat.h"
#include "ext/php/names.h"
#include "src/latch.h"
#include "src/base/list.h"

#define PHP_LATCH_VERSION "0.1.0-dev"

extern zend_module_entry latch_module_entry;
#define phpext_latch_ptr &latch_module_entry

/* What is counted: each request of a lock counts in one of them. */
typedef enum php_latch_counted {
    PHP_LATCH_COUNTED_LOCKS,
    PHP_LATCH_COUNTED_SEMAPHORES,
    PHP_LATCH_COUNTED_MULTI_LOCKS, /* acquired and conflicts, of the whole */
    PHP_LATCH_COUNTED_MEMBERS,     /* of MultiLocks: the other counters are shown */
    PHP_LATCH_COUNTED_MAX,
} php_latch_counted;

/* Counters of getStatistics(), explained in stubs/lock.stub.php. */
typedef struct php_latch_statistics {
    uint64_t acquired, conflicts;
    uint64_t waits, wait_ns;
    uint64_t released_at_shutdown;
    uint64_t lost;
} php_latch_statistics;

/*
 * Outcome of a call to a store, with the cases that Symfony's Lock tells apart. Two words: such a
 * structure is returned in registers.
 */
typedef struct php_latch_outcome {
    /* DONE; CONFLICT; an error: `exception` says which; INTERRUPTED: just return to PHP. */
    latch_status status;
    /* Offset of the reason in the exception's message, behind a resource of up to 4 GiB; 0: none */
    uint32_t reason_at;
    zend_object *exception; /* owned; may be NULL for a conflict */
} php_latch_outcome;

/* Throw or bailout of PHP code that the engine has called, kept until the engine has returned:
 * ext/php/call.h. */
typedef struct php_latch_deferred_throw {
    zend_object *thrown; /* an Error or an exit(), to be thrown on; or NULL */
    bool bailed_out;
} php_latch_deferred_throw;

/* The thread's mailbox, and the flags by which it interrupts the VM: other threads write them. */
typedef struct php_latch_mail {
    latch_mailbox *box; /* NULL until the thread renews a lock */
    _Atomic bool is_there;
    zend_atomic_bool *vm_interrupt; /* the thread's */
} php_latch_mail;

ZEND_BEGIN_MODULE_GLOBALS(latch)
    bool symfony;                  /* latch.symfony */
    bool symfony_semaphore;        /* latch.symfony_semaphore */
    bool keep_alive;               /* latch.keep_alive */
    bool throw_on_lost;            /* latch.throw_on_lost */
    int64_t max_hold_ms;           /* latch.max_hold */
    bool holder_note;              /* latch.holder_note */
    latch_digest semaphore_digest; /* latch.semaphore_digest */
    latch_table_names lock_names;  /* latch.lock_names */
    bool shutting_down;            /* RSHUTDOWN has begun: no interrupts any more */
    bool all_released;             /* RSHUTDOWN has released all: no PHP code can be called */
    latch_link shared_backends;    /* of php_latch_backend */
    size_t dirty_locks;            /* number of Locks to be released at the end of the request */
    latch_link orphans; /* locks of PHP-written stores that a fatal error freed unreleased */
    struct php_latch_lock *failed_lock; /* a Lock whose destructor could not release it, */
    php_latch_outcome failed_release;   /* and why */
    latch_link
        store_calls; /* methods of PHP-written stores under way: ext/store/callback_store.c */
    uint64_t grants; /* number of leases acquired */
    unsigned lease_generation, lease_fork_count; /* the forks that leases are marked for:
                                                    ext/key/lease.c */
    char holder_info[LATCH_HOLDER_INFO_MAX + 1]; /* ext/module/holder_info.c; "": to be made */
    unsigned holder_info_generation;             /* of the process that it describes */
    /* Since the thread, or the forked process, started: */
    php_latch_statistics statistics[PHP_LATCH_COUNTED_MAX];
    php_latch_deferred_throw deferred_throw;
    HashTable renewed_leases;    /* of php_latch_renewed_lease, by their leases' handles */
    latch_link loss_notices;     /* of php_latch_loss_notice: ext/lock/lost_locks.c */
    php_latch_mail mail;         /* of lost leases */
    zend_object *client_failure; /* the exception of the last failed call of a client object: cause
                                    of the next exception */
ZEND_END_MODULE_GLOBALS(latch)

ZEND_EXTERN_MODULE_GLOBALS(latch)
#define LATCH_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(latch, v)
#if defined(ZTS) && defined(COMPILE_DL_LATCH)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* The process's engine: made at MINIT, shared by all threads. */
extern latch_engine *php_latch_engine;

#endif
