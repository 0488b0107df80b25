/*
 * Back ends: stores of the engine, shared by the PHP objects and the leases that use them. Those
 * with an identity or a session of PHP code are in the thread's registry.
 */
#ifndef PHP_LATCH_BACKEND_H
#define PHP_LATCH_BACKEND_H

#include "ext/php/primitive.h"

typedef struct php_latch_backend php_latch_backend;
typedef struct php_latch_lease php_latch_lease; /* lease.h */

/*
 * Operations of composite back ends: a CombinedStore's. A lease in such a store has parts, the
 * key's leases in the members.
 */
typedef struct php_latch_backend_ops {
    /* ---- On the back end */

    /* Releases its PHP objects: the store's own object ends. */
    void (*detach)(php_latch_backend *backend);
    /* Reports its PHP objects to the cycle collector. */
    void (*collect)(const php_latch_backend *backend, zend_get_gc_buffer *buffer);
    /* Frees `data`, after the engine's store was closed. */
    void (*free)(void *data);

    /* ---- On leases; all but join() on leases that have parts */

    /* Makes the parts of a new lease; false after throwing. */
    bool (*join)(php_latch_lease *lease, zend_object *key);
    /* Releases the parts. */
    void (*detach_members)(php_latch_lease *lease);
    /* Is `part` one of the lease's, or of theirs? */
    bool (*contains)(const php_latch_lease *lease, const php_latch_lease *part);
    void (*for_each_part)(php_latch_lease *lease, void (*visit)(php_latch_lease *part));
    /* Sets options and key of the parts before a request. */
    void (*configure)(php_latch_lease *lease, zend_object *key);
    /* Does any member of the engine's hold it, whether these are enough or not? */
    bool (*holds_in_part)(const php_latch_lease *lease);
    /* Releases it in these members; `detach` as in requests. */
    void (*release_parts)(php_latch_lease *lease, bool detach);
    /* As php_latch_find_deadlock(). */
    latch_status (*find_deadlock)(php_latch_lease *wanted, latch_op_kind kind, bool verifies);

    /* ---- Log */

    /* Has the store, or a member, a logger? */
    bool (*logs)(zend_object *store);
    /* As php_latch_store_log_outcome(). */
    bool (*log_outcome)(zend_object *store, zend_object *key, php_latch_lease *lease,
                        const latch_request *request, latch_status status, bool was_free);
    /* Logs a renewal for no time at all, of which no member was asked. */
    void (*log_too_late)(zend_object *store, zend_object *key, php_latch_lease *lease,
                         const latch_request *request);
} php_latch_backend_ops;

struct php_latch_backend {
    latch_link link;       /* in LATCH_G(shared_backends), if it is shared */
    zend_string *identity; /* persistent; equal for stores of the same server or folder; or NULL */
    zend_object *connection; /* the PHP object whose session it uses, of which the engine's store
                                has a reference; or NULL */
    latch_store *store;
    php_latch_backend *locks; /* of slots: the back end of their locks, a reference; else NULL */
    php_latch_backend *slots; /* that of the slots in it, not a reference; NULL: there is none */
    const php_latch_backend_ops *ops; /* NULL: not a combined store */
    void *data;                       /* of `ops` */
    size_t member_count;              /* of `ops` */
    bool calls_php;                   /* its requests call PHP code: of a member, or a strategy */
    uint32_t references;              /* of PHP objects, leases and combined stores */
};

/* Opens a back end with one reference; NULL after throwing an exception of the primitive. */
php_latch_backend *php_latch_backend_open(const php_latch_primitive *primitive, const char *name,
                                          const latch_store_options *options);
/*
 * The thread's one back end of that store with that identity, which names all in which its options
 * differ from others'; with a new reference. NULL after throwing.
 */
php_latch_backend *php_latch_backend_get(const char *name, zend_string *identity,
                                         const latch_store_options *options);
/* The same of an opened store that has an identity: that store, or an earlier one of the same. */
php_latch_backend *php_latch_backend_share(latch_store *store);
/* Finds the back end of that store on that object's session, with a new reference; or NULL. */
php_latch_backend *php_latch_backend_find_on_connection(const char *name,
                                                        const zend_object *connection);
/*
 * The one back end of counting semaphores whose permits are locks in `locks`; with a new reference.
 * NULL after throwing: that is a combined store.
 */
php_latch_backend *php_latch_backend_of_slots(php_latch_backend *locks);
/* Registers a store that was opened on that object's session. */
php_latch_backend *php_latch_backend_share_on_connection(latch_store *store,
                                                         zend_object *connection);
/*
 * Closes unused ones in sessions of PHP objects, while these can be used. True when others are
 * still in use: their leases are to be dropped (php_latch_leases_drop_sessions()).
 */
bool php_latch_backends_release_sessions(void);
/* Closes unused ones that are too many to be kept. */
void php_latch_backends_close_surplus(void);
/* Closes a list: they take a second at most together when their servers are silent. */
void php_latch_backends_close(latch_link *backends);
void php_latch_backend_release(php_latch_backend *backend);

#endif
