/*
 * What the files of the Zend glue share. Each class has a file of its own; the engine behind them
 * is src/latch.h.
 */
#ifndef PHP_LATCH_H
#define PHP_LATCH_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "ext/php/compat.h"
#include "src/latch.h"
#include "src/base/list.h"

#define PHP_LATCH_VERSION "0.1.0-dev"

extern zend_module_entry latch_module_entry;
#define phpext_latch_ptr &latch_module_entry

/* What Lock::getStatistics() tells, which stubs/lock.stub.php explains. */
typedef struct php_latch_statistics {
    uint64_t acquired, conflicts;
    uint64_t waits, wait_ns;
    uint64_t released_at_shutdown;
    uint64_t lost;
} php_latch_statistics;

/*
 * How a call to a store ended, as Symfony's Lock tells the cases apart. Two words: such a structure
 * is returned in registers.
 */
typedef struct php_latch_outcome {
    /* DONE; CONFLICT; an error: `exception` says which; INTERRUPTED: just return to PHP. */
    latch_status status;
    /* Where its message says why, behind a resource of up to 4 GiB; 0: it does not. */
    uint32_t reason_at;
    zend_object *exception; /* owned; may be NULL for a conflict */
} php_latch_outcome;

/* What PHP code wanted that the engine has called, until the engine has returned, see call.c. */
typedef struct php_latch_aside {
    zend_object *thrown; /* an Error or an exit(), which is to go on; or NULL */
    bool bailed_out;
} php_latch_aside;

/* What the thread's mailbox tells the VM by: written by other threads, too. */
typedef struct php_latch_mail {
    latch_mailbox *box; /* NULL until the thread keeps a lock */
    _Atomic bool is_there;
    zend_atomic_bool *vm_interrupt; /* the thread's */
} php_latch_mail;

ZEND_BEGIN_MODULE_GLOBALS(latch)
    bool symfony;                  /* latch.symfony */
    bool keep_alive;               /* latch.keep_alive */
    bool throw_on_lost;            /* latch.throw_on_lost */
    int64_t max_hold_ms;           /* latch.max_hold */
    bool holder_note;              /* latch.holder_note */
    latch_digest semaphore_digest; /* latch.semaphore_digest */
    bool shutting_down;            /* RSHUTDOWN has come: no interrupts any more */
    bool all_released;             /* and has done its work: no PHP code can be called any more */
    latch_link shared_backends;    /* of php_latch_backend */
    size_t dirty_locks;            /* how many Locks are to be released at the end of the request */
    latch_link orphans; /* locks of PHP-written stores that a fatal error freed unreleased */
    struct php_latch_lock *failed_lock; /* whose destructor has tried in vain to release it, */
    php_latch_outcome failed_release;   /* and why */
    latch_link store_calls; /* of methods of PHP-written stores, under way: callback_store.c */
    uint64_t grants;        /* how many leases were acquired */
    unsigned lease_generation, lease_fork_count; /* up to which forks leases know of: lease.c */
    char note[LATCH_NOTE_MAX + 1];               /* see ext/module/holder_info.c; "": to be made */
    unsigned note_generation;                    /* of the process that it tells of */
    php_latch_statistics statistics; /* since the thread, or the forked process, started */
    php_latch_aside aside;
    HashTable kept;              /* of php_latch_kept, by their leases' handles: keep_alive.h */
    latch_link notices;          /* of php_latch_keeping: whose loss is to be told */
    php_latch_mail mail;         /* of losses */
    zend_object *client_failure; /* the exception of the last call of a client object that failed:
                                    the next one's cause */
ZEND_END_MODULE_GLOBALS(latch)

ZEND_EXTERN_MODULE_GLOBALS(latch)
#define LATCH_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(latch, v)
#if defined(ZTS) && defined(COMPILE_DL_LATCH)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* The process's engine: made at MINIT, shared by all threads. */
extern latch_engine *php_latch_engine;

/* ---- Classes ----------------------------------------------------------------------------- */

extern zend_class_entry *php_latch_key_ce;
extern zend_class_entry *php_latch_lease_ce;
extern zend_class_entry *php_latch_lock_ce;
extern zend_class_entry *php_latch_no_lock_ce;
extern zend_class_entry *php_latch_lock_factory_ce;
extern zend_class_entry *php_latch_lock_interface_ce;
extern zend_class_entry *php_latch_shared_lock_interface_ce;
extern zend_class_entry *php_latch_persisting_store_ce;
extern zend_class_entry *php_latch_blocking_store_ce;
extern zend_class_entry *php_latch_shared_store_ce;
extern zend_class_entry *php_latch_blocking_shared_store_ce;
extern zend_class_entry *php_latch_strategy_ce;     /* the interface */
extern zend_class_entry *php_latch_logger_aware_ce; /* NULL outside drop-in mode */

extern zend_class_entry *php_latch_exception_ce; /* the interface */
extern zend_class_entry *php_latch_invalid_argument_ce;
extern zend_class_entry *php_latch_invalid_ttl_ce;
extern zend_class_entry *php_latch_acquiring_ce;
extern zend_class_entry *php_latch_conflicted_ce;
extern zend_class_entry *php_latch_expired_ce;
extern zend_class_entry *php_latch_releasing_ce;
extern zend_class_entry *php_latch_storage_ce;
extern zend_class_entry *php_latch_unserializable_key_ce;

void php_latch_register_interfaces(void); /* and exceptions */
void php_latch_register_key(void);
void php_latch_register_lease(void);
void php_latch_register_lock(void);
void php_latch_register_no_lock(void);
void php_latch_register_lock_factory(void);
void php_latch_register_strategies(void);
void php_latch_register_signals(int module_number);

/* ---- names.c: the naming seam ------------------------------------------------------------ */

/*
 * Initialises a class entry under the name of the current mode. Every class of Latch's passes here:
 * the generated register_class_…() functions use this macro.
 */
#undef INIT_NS_CLASS_ENTRY
#define INIT_NS_CLASS_ENTRY(ce, ns, name, functions)                                               \
    php_latch_init_class_entry(&(ce), ns "\\" name, functions)
void php_latch_init_class_entry(zend_class_entry *ce, const char *name,
                                const zend_function_entry *functions);

/* Drop-in mode: adds the aliases under Latch\, and lets reflection show Symfony's names. */
void php_latch_finish_names(void);

/* The class if it is loaded; of the name in lower case. */
zend_class_entry *php_latch_find_class(const char *lower_name);
/* The class, by autoload if need be; NULL where there is none, or the autoloader has thrown. */
zend_class_entry *php_latch_load_class(const char *name);

/* ---- drop_in.c: files that declare a class of Latch's ------------------------------------- */

/* Hooks into the compiler, in drop-in mode; to be called when all classes are registered. */
void php_latch_drop_in_startup(void);
void php_latch_drop_in_shutdown(void);

/* ---- key.c ------------------------------------------------------------------------------- */

/* A new key. */
void php_latch_key_make(zval *return_value, zend_string *resource);
/* Throws and returns false for an empty resource, the first argument of the active function. */
bool php_latch_check_resource(const zend_string *resource);
/* The resource, or NULL and an Error when the key was never constructed. Not a new reference. */
zend_string *php_latch_key_resource(zend_object *key);
/*
 * The resource for a message, where PHP code that ran meanwhile may have overwritten it
 * (ArrayObject can): then what is locked, or "". Never NULL; not a new reference.
 */
zend_string *php_latch_key_name(zend_object *key);
/* For a dump: whatever stands in the property, or null. */
void php_latch_key_add_resource(zval *info, zend_object *key);
/* The slot of the key's first lease: IS_NULL, or an object of php_latch_lease_ce. */
zval *php_latch_key_lease_slot(zend_object *key);
/* What a store or an older process noted; NULL when nothing. */
zval *php_latch_key_find_state(zend_object *key, const char *name);
void php_latch_key_forget_state(zend_object *key, const char *name);
void php_latch_key_reset_lifetime(zend_object *key);
void php_latch_key_set_lifetime(zend_object *key, double seconds);
/* The same, unless it is to expire before that. */
void php_latch_key_reduce_lifetime(zend_object *key, double seconds);
/* NAN when the key does not expire. */
double php_latch_key_remaining_lifetime(zend_object *key);
bool php_latch_key_is_expired(zend_object *key);
void php_latch_key_mark_unserializable(zend_object *key);

/* ---- ext/store/engine_store.c: stores of the engine, as PHP objects
 * -------------------------------- */

typedef struct php_latch_lease php_latch_lease;

/* An engine store and how many PHP objects and leases use it. */
typedef struct php_latch_backend {
    latch_link link;         /* in LATCH_G(shared_backends), if it is shared */
    zend_string *identity;   /* persistent; shared by those who name the same; or NULL */
    zend_object *connection; /* shared by those who use that object's session, which the store has
                                a reference of; or NULL */
    latch_store *store;
    struct php_latch_combination *combination; /* of a CombinedStore; NULL: of any other */
    uint32_t references;
} php_latch_backend;

typedef struct php_latch_store {
    php_latch_backend *backend; /* NULL until constructed */
    bool remove_on_release;
    bool pass_on;           /* the locks, to started programs */
    int64_t initial_ttl_ms; /* of locks that name none, where locks expire; else 0 */
    zend_object std;
} php_latch_store;

/* Opens a back end with one reference; NULL after throwing. */
php_latch_backend *php_latch_backend_open(const char *name, const latch_store_options *options);
/*
 * The thread's one back end of that store with that identity, which says in what its options differ
 * from others'; with a reference more. NULL after throwing.
 */
php_latch_backend *php_latch_backend_get(const char *name, zend_string *identity,
                                         const latch_store_options *options);
/* The same of an opened store that has an identity: that store, or the one that was there first. */
php_latch_backend *php_latch_backend_share(latch_store *store);
/* The one that is there of that store on that object's session, with a reference more; or NULL. */
php_latch_backend *php_latch_backend_on(const char *name, const zend_object *connection);
/* Makes the one of a store that was opened on it. */
php_latch_backend *php_latch_backend_share_on(latch_store *store, zend_object *connection);
/* Gives back what is still held in sessions of PHP objects, as long as these can be used. */
void php_latch_backends_leave_connections(void);
void php_latch_backend_close(php_latch_backend *backend);
/* Those that nothing uses and that are too many to be kept. */
void php_latch_backends_close_surplus(void);
/* All of a list: they take a second at most together when their servers are silent. */
void php_latch_backends_close(latch_link *backends);
void php_latch_backend_release(php_latch_backend *backend);

/* create_object for store classes; the back end is still missing. */
php_latch_store *php_latch_store_create(zend_class_entry *ce);
/* The object's store; NULL when it is not one of Latch's. */
php_latch_store *php_latch_store_of(zend_object *object);
/* The same, constructed: its back end; NULL after throwing. */
php_latch_backend *php_latch_store_backend(zend_object *object);
/* Says to a lease of the key what the store's options want; to be called before its requests. */
void php_latch_store_configure(const php_latch_store *store, zend_object *key,
                               php_latch_lease *lease);
/*
 * True when the engine does all: no PHP subclass overrides what it would do, and nothing in a
 * combined store is PHP's.
 */
bool php_latch_store_is_native(zend_object *object);
void php_latch_native_store_startup(void);

/* ---- combined_store.c, ext/store/combined/log.c: stores of stores
 * -------------------------------------- */

/* A CombinedStore's logger, not a new reference; NULL when there is none. */
zend_object *php_latch_combined_store_logger(zend_object *store);
/* Has the store something to say of its requests, and somebody to say it to? */
bool php_latch_store_logs(zend_object *store);
/*
 * To be called after each request: logs what its members answered. False after throwing, which is
 * the logger's doing; what was taken is given back then if the lease was free before.
 */
bool php_latch_store_tell(zend_object *store, zend_object *key, php_latch_lease *lease,
                          const latch_request *request, latch_status status, bool was_free);
/* The same for a renewal that asks for no time at all. */
void php_latch_store_tell_lateness(zend_object *store, zend_object *key, php_latch_lease *lease,
                                   const latch_request *request);

/* ---- lease.c: what a key holds in one store ---------------------------------------------- */

/* Kept small: there is one for each held lock. */
struct php_latch_lease {
    latch_lease lease; /* its resource is within a zend_string */
    union {
        php_latch_backend *backend; /* of a store of the engine, which the lease names, too */
        zend_object *store; /* driven by its PHP methods; no reference, the Locks that use it have;
                               NULL when none does */
    };
    zend_object *next; /* the key's lease in another store, or NULL */
    union {
        struct php_latch_part *parts; /* in a CombinedStore, see combined.h; or NULL */
        size_t users;                 /* Locks that use it with `store` */
    };
    zend_object std;
};

php_latch_lease *php_latch_lease_from(zend_object *object);
bool php_latch_lease_is_native(const php_latch_lease *lease);
bool php_latch_lease_is_combined(const php_latch_lease *lease);
/* The next lease of the thread; from *handle, 0 at first, which it moves on. NULL: no more. */
php_latch_lease *php_latch_leases_next(uint32_t *handle);
/* To be called when it was acquired. */
void php_latch_lease_note_acquired(php_latch_lease *lease);
/* Can nobody but this process, of which it is the thread's, end the hold before its TTL? */
bool php_latch_lease_is_ours_alone(const php_latch_lease *lease);
/* Drops the leases in sessions of PHP objects. */
void php_latch_leases_leave_connections(void);
/* Not a new reference. */
zend_string *php_latch_lease_resource(const php_latch_lease *lease);
/* The key's leases, in no order; NULL past the last one. */
php_latch_lease *php_latch_lease_first(zend_object *key);
php_latch_lease *php_latch_lease_next(const php_latch_lease *lease);
/* Has the key been used with one store at most, be that a combined one? */
bool php_latch_lease_is_alone(zend_object *key);
/*
 * To be called before a request, to learn what it holds, and after it: they count in lease.losses
 * when what was held is not any more without having been released. What is kept counts when its
 * loss is told (ext/key/lost_locks.c).
 */
latch_mode php_latch_lease_before(php_latch_lease *lease);
void php_latch_lease_after(php_latch_lease *lease, latch_mode before, latch_op_kind kind);
/* Takes a lease away from its key. */
void php_latch_lease_forget(zend_object *key, php_latch_lease *lease);
/*
 * The key's lease in an engine's store, or in one that is driven by its PHP methods: one of
 * `backend` and `store` is NULL. NULL when the key has none.
 */
php_latch_lease *php_latch_lease_find(zend_object *key, const php_latch_backend *backend,
                                      const zend_object *store);
/* The same, made when it is missing; NULL after throwing. */
php_latch_lease *php_latch_lease_get(zend_object *key, php_latch_backend *backend,
                                     zend_object *store);

/* ---- keep_alive.c, ext/key/lost_locks.c: locks that are renewed, and told of when they are lost
 * -------- */

ZEND_INI_MH(php_latch_update_max_hold);
/* Brings the key's time up to date with what is kept of it, without I/O. */
void php_latch_key_follow(zend_object *key);
/* Its token is known elsewhere from now on: it may be released there. */
void php_latch_lease_hand_over(php_latch_lease *lease);
/* To be called before the lease ends. */
void php_latch_lease_end_keeping(const php_latch_lease *lease);
/* Nothing is kept any more. */
void php_latch_let_all_go(void);
/* Hooks into the VM's interrupts. */
void php_latch_losses_startup(void);
void php_latch_losses_shutdown(void);
/* Takes the mail in: counts what was lost, for those whom it concerns to be told. */
void php_latch_losses_collect(void);
/* In a forked child these are the parent's. */
void php_latch_losses_forget(void);
void php_latch_mailbox_end(php_latch_mail *mail);

/* ---- semaphore_store.c */

ZEND_INI_MH(php_latch_update_semaphore_digest);

/* ---- ext/module/holder_info.c */

/* For latch_env. */
const char *php_latch_note(void *context);
ZEND_INI_MH(php_latch_update_holder_name);

/* ---- ext/php/poll_loop.c: the only place that sleeps
 * -------------------------------------------------- */

/*
 * Carries a request out and waits for it. LATCH_INTERRUPTED: a signal handler or the like threw, or
 * ended the script, while we waited; return to PHP. Nothing was taken unless it returns LATCH_DONE.
 */
latch_status php_latch_run(latch_lease *lease, const latch_request *request, latch_error *error);
/* Sleeps until `wake_ns` (monotonic); false when interrupted by an exception. */
bool php_latch_sleep(int64_t wake_ns);

int64_t php_latch_now_ns(void);

/* ---- deadlock.c: waits for oneself -------------------------------------------------------- */

/*
 * Does this thread itself hold what a wait for the lease would be for? LATCH_DONE: it does;
 * LATCH_CONFLICT: it does not. `verifies`: the stores are asked, which must not happen while a
 * request on the lease is in flight; LATCH_INTERRUPTED is possible then. Else: may it?
 */
latch_status php_latch_find_own_deadlock(php_latch_lease *wanted, latch_op_kind kind,
                                         bool verifies);
/* LATCH_ERROR_DEADLOCK, which it describes. */
latch_status php_latch_fail_deadlock(latch_error *error);

/* ---- call.c: PHP code that the engine calls ----------------------------------------------- */

/* False where no PHP code can run any more, or only in the way of what is put aside. */
bool php_latch_can_call(void);
/* Runs code in which PHP may be called, and returns what that has thrown, the caller's then. */
zend_object *php_latch_call(void (*code)(void *context), void *context);
/* Releases an object, whose end, or that of what it holds on to, may call PHP code. */
void php_latch_let_go(zend_object *object);
/* Keeps what the engine must not see, until php_latch_end_calls(); consumes it. */
void php_latch_put_aside(zend_object *thrown);
/* Is there something that the engine's caller will not return from? */
bool php_latch_is_put_aside(void);
/*
 * To be called when the engine has returned: goes on with what PHP code wanted meanwhile, by an
 * Error, an exit() or a fatal error, in place of which it returns LATCH_INTERRUPTED. Else `status`.
 */
latch_status php_latch_end_calls(latch_status status);

/* ---- ext/php/client_object.c: objects by which the engine reaches a server
 * ------------------------------- */

/* The exception of the last call of one that failed, the caller's then; or NULL. */
zend_object *php_latch_take_client_failure(void);
void php_latch_forget_client_failure(void);

/* ---- statistics.c ------------------------------------------------------------------------ */

/* Counts how a request to a store ended; `was_held`: the lock, before, for all that we knew. */
void php_latch_count(latch_op_kind kind, latch_status status, bool was_held);
/* The same of a request of the engine's on that lease; `is_ours`: a loss is this process's. */
void php_latch_count_request(const latch_lease *lease, latch_op_kind kind, latch_status status,
                             bool is_ours);
/* A table of them for phpinfo(). */
void php_latch_print_statistics(void);

/* ---- errors.c ---------------------------------------------------------------------------- */

/* Takes what a call of PHP code threw; an Error or an exit stays where it is: INTERRUPTED. */
php_latch_outcome php_latch_outcome_of_call(void);
/* Makes the exception for what the engine answered. */
php_latch_outcome php_latch_outcome_of_status(latch_status status, const latch_error *error,
                                              zend_string *resource);
/*
 * What the message of the outcome's exception says behind the resource, quotation mark included:
 * only of Latch's own words, as another's may have a password. `otherwise` when that is nothing.
 */
const char *php_latch_reason(const php_latch_outcome *outcome, const char *otherwise);
/* The exception for a request of this kind that ended in a conflict. */
zend_object *php_latch_new_conflict(latch_op_kind kind, zend_string *resource);
/* Throws the outcome's exception, which it consumes, unless it is DONE. */
void php_latch_throw_outcome(php_latch_outcome *outcome);
void php_latch_forget_outcome(php_latch_outcome *outcome);
/* Is it what ends the script, or a fiber? Such an object has no properties, nor previous ones. */
bool php_latch_is_exit(const zend_object *thrown);
/*
 * Of two that were thrown lets one go on: an exit, else `first`, with `second` among its previous
 * ones. Consumes both.
 */
void php_latch_join_thrown(zend_object *first, zend_object *second);
/* Turns the pending exception into a warning, where it must not go on; leaves none. */
void php_latch_warn_of_exception(void);

/*
 * A new exception with `previous`, which it consumes and which may be NULL. The message is
 * `before`, the resource in whole (it may have NUL bytes), `after`.
 */
zend_object *php_latch_new_exception(zend_class_entry *ce, zend_object *previous,
                                     const char *before, zend_string *resource, const char *after);
/* Throws an exception that names the argument. */
void php_latch_throw_argument(zend_class_entry *ce, uint32_t number, const char *name,
                              const char *problem);
/* False after throwing InvalidTtlException when the TTL is negative or not finite. */
bool php_latch_check_ttl(uint32_t number, double ttl);
/* Whole milliseconds, rounded up, so that a TTL is never 0 by rounding. */
int64_t php_latch_ttl_ms(double ttl);

/* ---- digest.c ---------------------------------------------------------------------------- */

/* False when this PHP has not all of the algorithms. */
bool php_latch_digests_startup(void);
/* For latch_env. */
void php_latch_digest(void *context, latch_digest kind, const struct iovec *parts, int part_count,
                      uint8_t digest[LATCH_DIGEST_MAX]);
/* PHP's name of the algorithm; false when there is no such one here. */
bool php_latch_digest_by_name(const char *name, latch_digest *kind);

/* ---- log.c ------------------------------------------------------------------------------- */

/* Calls $logger->$level($message, ['resource' => $key, $name => $value]); no logger, no call. */
void php_latch_log(zend_object *logger, const char *level, const char *message, zend_object *key,
                   const char *name, zval *value);
/* The same with ['resource' => $key] + $context, which it consumes. */
void php_latch_log_context(zend_object *logger, const char *level, const char *message,
                           zend_object *key, zval *context);
/* Is it a Psr\Log\LoggerInterface? Nothing is loaded for that: who is one has loaded it. */
bool php_latch_is_logger(zend_object *logger);
/* Checks that `logger` is one, as the argument of a method; false after throwing a TypeError. */
bool php_latch_check_logger(zend_object *logger);

/* ---- callback_store.c: stores written in PHP --------------------------------------------- */

/*
 * Symfony's calls, in its order and number. `inherit`: forked children may release what the store
 * takes in stores of Latch's.
 */
php_latch_outcome php_latch_callback_acquire(zend_object *store, zend_object *key,
                                             latch_op_kind kind, bool blocking, int64_t deadline_ns,
                                             bool inherit);
php_latch_outcome php_latch_callback_refresh(zend_object *store, zend_object *key, double ttl);
php_latch_outcome php_latch_callback_delete(zend_object *store, zend_object *key);
php_latch_outcome php_latch_callback_exists(zend_object *store, zend_object *key, bool *exists);
/* Is the code that runs now called by a method of such a store, in this fiber or above it? */
bool php_latch_in_store_call(void);
/* May forked children release what it takes? True outside: by hand, nobody else releases it. */
bool php_latch_store_call_inherits(void);

/* ---- lock.c ------------------------------------------------------------------------------ */

/* A new Lock on `key` in `store`, with the logger, which may be NULL; TTL 0 = none. */
void php_latch_lock_make(zval *return_value, zend_object *key, zend_object *store, double ttl,
                         bool auto_release, zend_object *logger);
/* Releases what the request's end, however it came, left locked. */
void php_latch_release_all(void);

#endif
