/*
 * Stores written in PHP: called by their methods, in the order and number of Symfony's Lock (7.4,
 * Lock.php), or of its Semaphore. So are PHP subclasses of our own stores that override a method.
 */
#include "ext/store/callback_store.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/php/statistics.h"
#include "ext/store/engine_store.h"

#include "zend_exceptions.h"
#include "zend_fibers.h"
#include "zend_interfaces.h"

/* Symfony's Lock polls every 100 ms, +-10 %. */
#define POLL_NS (100 * LATCH_NS_PER_MS)
#define JITTER_NS (10 * LATCH_NS_PER_MS)

/*
 * A method call under way. Allocated, as it stays in the list: a fiber that a fatal error leaves
 * suspended loses its stack without being unwound.
 */
typedef struct store_call {
    latch_link link;   /* in LATCH_G(store_calls), the latest last */
    zend_fiber *fiber; /* of the caller; NULL: none */
    bool inherit;
} store_call;

/* The fiber that has resumed this one and waits for it; NULL: none has. */
static zend_fiber *resumer_of(const zend_fiber *fiber)
{
    return fiber->caller != NULL && fiber->caller->kind == zend_ce_fiber
               ? zend_fiber_from_context(fiber->caller)
               : NULL;
}

/*
 * The innermost call that the running code is part of; NULL when there is none. A method may
 * suspend its fiber: code that runs then is no part of the call.
 */
static const store_call *current_call(void)
{
    const latch_link *calls = &LATCH_G(store_calls);
    zend_fiber *fiber = EG(active_fiber);

    while (calls->next != calls) {
        for (const latch_link *link = calls->previous; link != calls; link = link->previous) {
            const store_call *call = LATCH_CONTAINER(link, store_call, link);

            if (call->fiber == fiber) {
                return call;
            }
        }
        if (fiber == NULL) {
            break;
        }
        fiber = resumer_of(fiber);
    }
    return NULL;
}

bool php_latch_in_store_call(void)
{
    return current_call() != NULL;
}

bool php_latch_store_call_inherits(void)
{
    const store_call *call = current_call();

    return call == NULL || call->inherit;
}

static void call_store_method_with(zend_object *store, const char *name, bool inherit,
                                   zval *return_value, uint32_t argument_count, zval *arguments)
{
    zend_function *method = zend_hash_str_find_ptr(&store->ce->function_table, name, strlen(name));
    store_call *call;
    volatile bool bailed_out = false;

    ZEND_ASSERT(method != NULL); /* its interface has it */
    if (php_latch_is_out_of_memory()) {
        zend_bailout(); /* PHP would refuse the call, by a second fatal error */
    }
    call = emalloc(sizeof(*call));
    call->fiber = EG(active_fiber);
    call->inherit = inherit;
    latch_list_append(&LATCH_G(store_calls), &call->link);
    zend_try
    {
        zend_call_known_instance_method(method, store, return_value, argument_count, arguments);
    }
    zend_catch
    {
        bailed_out = true;
    }
    zend_end_try();
    latch_list_remove(&call->link);
    efree(call);
    if (bailed_out) {
        zend_bailout();
    }
}

/* A method that stores a key: save() or the like. */
typedef struct save_call {
    zend_object *store, *key;
    const char *method;
    double ttl; /* of a semaphore's, whose save() has it as an argument */
    bool inherit;
} save_call;

/* Reads what such a call, or a renewal, has come to; Symfony's Semaphore sets the key's expiry. */
static php_latch_outcome end_storing_call(zend_object *key, const zend_class_entry *conflict,
                                          double ttl)
{
    php_latch_outcome outcome = php_latch_outcome_of_store_call(conflict);

    if (outcome.status == LATCH_DONE && php_latch_key_primitive(key)->is_permit) {
        php_latch_key_reduce_lifetime(key, ttl);
    }
    return outcome;
}

static php_latch_outcome call_to_save(const save_call *call)
{
    const php_latch_primitive *primitive = php_latch_key_primitive(call->key);
    zval arguments[2];

    ZVAL_OBJ(&arguments[0], call->key);
    ZVAL_DOUBLE(&arguments[1], call->ttl);
    call_store_method_with(call->store, call->method, call->inherit, NULL,
                           primitive->is_permit ? 2 : 1, arguments);
    return end_storing_call(call->key, primitive->conflicted, call->ttl);
}

static void call_store_method(zend_object *store, const char *name, zend_object *key,
                              zval *return_value)
{
    zval argument;

    ZVAL_OBJ(&argument, key);
    call_store_method_with(store, name, php_latch_store_call_inherits(), return_value, 1,
                           &argument);
}

/* Poll time with jitter, at random. */
static int64_t next_poll_ns(int64_t deadline_ns)
{
    int64_t poll_ns = php_latch_now_ns() + POLL_NS - JITTER_NS
                      + (int64_t) latch_engine_random(php_latch_engine, 2 * JITTER_NS);

    return poll_ns < deadline_ns ? poll_ns : deadline_ns;
}

/*
 * Detects a deadlock in a store of Latch's that calls PHP code (a combined store with members in
 * PHP): this very thread holds the lock that it polls for. LATCH_DONE: there is none.
 */
static php_latch_outcome check_deadlock(zend_object *store, zend_object *key, latch_op_kind kind)
{
    const php_latch_store *ours = php_latch_store_of(store);
    php_latch_lease *lease = ours != NULL && ours->backend != NULL
                                 ? php_latch_lease_find(key, ours->backend, NULL)
                                 : NULL;
    latch_status status = LATCH_CONFLICT;
    latch_error error;

    if (lease != NULL && !lease->lease.busy) {
        GC_ADDREF(&lease->std);
        status = php_latch_find_deadlock(&lease->lease, kind, true);
        OBJ_RELEASE(&lease->std);
    }
    if (status == LATCH_INTERRUPTED) {
        return (php_latch_outcome){.status = LATCH_INTERRUPTED};
    }
    return status == LATCH_DONE ? php_latch_outcome_of_status(php_latch_key_primitive(key),
                                                              php_latch_fail_deadlock(&error),
                                                              &error, php_latch_key_name(key))
                                : (php_latch_outcome){.status = LATCH_DONE};
}

/* The counters of what is waited for. */
static php_latch_statistics *statistics_of_call(const save_call *call)
{
    const php_latch_lease *lease = php_latch_lease_find(call->key, NULL, call->store);

    if (lease != NULL) {
        return php_latch_statistics_of(&lease->lease);
    }
    return &LATCH_G(
        statistics)[php_latch_key_primitive(call->key)->is_permit ? PHP_LATCH_COUNTED_SEMAPHORES
                                                                  : PHP_LATCH_COUNTED_LOCKS];
}

static php_latch_outcome poll_callback(const save_call *call, latch_op_kind kind,
                                       int64_t deadline_ns)
{
    uint64_t grants = 0;
    bool waits = false;

    while (true) {
        bool last = php_latch_now_ns() >= deadline_ns;
        php_latch_outcome outcome = call_to_save(call);

        if (outcome.status != LATCH_CONFLICT || last) {
            return outcome;
        }
        php_latch_outcome_free(&outcome);
        if (deadline_ns == LATCH_NEVER && (!waits || grants != LATCH_G(grants))) {
            grants = LATCH_G(grants);
            outcome = check_deadlock(call->store, call->key, kind);
            if (outcome.status != LATCH_DONE) {
                return outcome;
            }
        }
        if (!waits) {
            waits = true;
            statistics_of_call(call)->waits++;
        }
        if (!php_latch_wait_until(next_poll_ns(deadline_ns), statistics_of_call(call))) {
            return (php_latch_outcome){.status = LATCH_INTERRUPTED};
        }
    }
}

php_latch_outcome php_latch_callback_acquire(zend_object *store, zend_object *key,
                                             latch_op_kind kind, bool blocking, int64_t deadline_ns,
                                             double ttl, bool inherit)
{
    bool shared = kind == LATCH_ACQUIRE_SHARED;
    zend_class_entry *waits = shared ? php_latch_blocking_shared_store_ce
                                     : php_latch_blocking_store_ce;
    save_call call = {store, key, shared ? "saveread" : "save", ttl, inherit};

    if (!blocking) {
        return call_to_save(&call);
    }
    /* waitAndSave() knows no timeout: with one, poll. It is a method of stores of locks: a store
       of both kinds waits for no permits in it. */
    if (deadline_ns == LATCH_NEVER && !php_latch_key_primitive(key)->is_permit
        && instanceof_function(store->ce, waits)) {
        call.method = shared ? "waitandsaveread" : "waitandsave";
        return call_to_save(&call);
    }
    return poll_callback(&call, kind, deadline_ns);
}

php_latch_outcome php_latch_callback_refresh(zend_object *store, zend_object *key, double ttl)
{
    zval arguments[2];

    ZVAL_OBJ(&arguments[0], key);
    ZVAL_DOUBLE(&arguments[1], ttl);
    call_store_method_with(store, "putoffexpiration", php_latch_store_call_inherits(), NULL, 2,
                           arguments);
    return end_storing_call(key, php_latch_key_primitive(key)->lost, ttl);
}

php_latch_outcome php_latch_callback_delete(zend_object *store, zend_object *key)
{
    call_store_method(store, "delete", key, NULL);
    return php_latch_outcome_of_call(php_latch_key_primitive(key));
}

php_latch_outcome php_latch_callback_exists(zend_object *store, zend_object *key, bool *exists)
{
    php_latch_outcome outcome;
    zval answer;

    ZVAL_UNDEF(&answer);
    call_store_method(store, "exists", key, &answer);
    /* These two come before the outcome is read: they can throw, the first in an error handler
       (PHP 8.5 warns of NAN), the second in a destructor. */
    *exists = zend_is_true(&answer);
    zval_ptr_dtor(&answer);
    outcome = php_latch_outcome_of_call(php_latch_key_primitive(key));
    *exists = *exists && outcome.status == LATCH_DONE;
    return outcome;
}
