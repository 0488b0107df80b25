/*
 * Stores written in PHP: called by their methods, in the order and number in which Symfony's Lock
 * calls them (Symfony Lock 7.4, Lock.php). That includes PHP subclasses of our own stores that
 * override a method.
 */
#include "php_latch.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* Symfony's Lock polls every 100 ms, +-10 %. */
#define POLL_NS (100 * LATCH_NS_PER_MS)
#define JITTER_NS (10 * LATCH_NS_PER_MS)

static void invoke_with(zend_object *store, const char *name, zval *return_value,
                        uint32_t argument_count, zval *arguments)
{
    zend_function *method = zend_hash_str_find_ptr(&store->ce->function_table, name, strlen(name));

    ZEND_ASSERT(method != NULL); /* its interface has it */
    LATCH_G(php_store_calls)++;
    zend_call_known_instance_method(method, store, return_value, argument_count, arguments);
    LATCH_G(php_store_calls)--;
}

static void invoke(zend_object *store, const char *name, zend_object *key, zval *return_value)
{
    zval argument;

    ZVAL_OBJ(&argument, key);
    invoke_with(store, name, return_value, 1, &argument);
}

static php_latch_outcome call(zend_object *store, const char *name, zend_object *key)
{
    invoke(store, name, key, NULL);
    return php_latch_outcome_of_call();
}

/* The contenders' clocks differ by far more than a millisecond: jitter enough. */
static int64_t next_poll_ns(int64_t deadline_ns)
{
    int64_t now_ns = php_latch_now_ns();
    int64_t poll_ns = now_ns + POLL_NS - JITTER_NS + now_ns % (2 * JITTER_NS);

    return poll_ns < deadline_ns ? poll_ns : deadline_ns;
}

/*
 * Of a store of Latch's that PHP code has a part in (a combined store with members in PHP): does
 * this very thread hold what it polls for? LATCH_DONE: go on.
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
        status = php_latch_find_own_deadlock(lease, kind, true);
        OBJ_RELEASE(&lease->std);
    }
    if (status == LATCH_INTERRUPTED) {
        return (php_latch_outcome){LATCH_INTERRUPTED, NULL};
    }
    return status == LATCH_DONE ? php_latch_outcome_of_status(php_latch_fail_deadlock(&error),
                                                              &error, php_latch_key_resource(key))
                                : (php_latch_outcome){LATCH_DONE, NULL};
}

static php_latch_outcome poll_for(zend_object *store, zend_object *key, latch_op_kind kind,
                                  const char *save, int64_t deadline_ns)
{
    uint64_t grants = 0;
    bool waits = false;

    while (true) {
        bool last = php_latch_now_ns() >= deadline_ns;
        php_latch_outcome outcome = call(store, save, key);

        if (outcome.status != LATCH_CONFLICT || last) {
            return outcome;
        }
        php_latch_forget_outcome(&outcome);
        if (deadline_ns == LATCH_NEVER && (!waits || grants != LATCH_G(grants))) {
            grants = LATCH_G(grants);
            outcome = check_deadlock(store, key, kind);
            if (outcome.status != LATCH_DONE) {
                return outcome;
            }
        }
        if (!waits) {
            waits = true;
            LATCH_G(statistics).waits++;
        }
        if (!php_latch_sleep(next_poll_ns(deadline_ns))) {
            return (php_latch_outcome){LATCH_INTERRUPTED, NULL};
        }
    }
}

php_latch_outcome php_latch_callback_acquire(zend_object *store, zend_object *key,
                                             latch_op_kind kind, bool blocking, int64_t deadline_ns)
{
    bool shared = kind == LATCH_ACQUIRE_SHARED;
    const char *save = shared ? "saveread" : "save";
    zend_class_entry *waits = shared ? php_latch_blocking_shared_store_ce
                                     : php_latch_blocking_store_ce;

    if (!blocking) {
        return call(store, save, key);
    }
    /* waitAndSave() knows no timeout: with one, poll. */
    if (deadline_ns == LATCH_NEVER && instanceof_function(store->ce, waits)) {
        return call(store, shared ? "waitandsaveread" : "waitandsave", key);
    }
    return poll_for(store, key, kind, save, deadline_ns);
}

php_latch_outcome php_latch_callback_refresh(zend_object *store, zend_object *key, double ttl)
{
    zval arguments[2];

    ZVAL_OBJ(&arguments[0], key);
    ZVAL_DOUBLE(&arguments[1], ttl);
    invoke_with(store, "putoffexpiration", NULL, 2, arguments);
    return php_latch_outcome_of_call();
}

php_latch_outcome php_latch_callback_delete(zend_object *store, zend_object *key)
{
    return call(store, "delete", key);
}

php_latch_outcome php_latch_callback_exists(zend_object *store, zend_object *key, bool *exists)
{
    php_latch_outcome outcome;
    zval answer;

    ZVAL_UNDEF(&answer);
    invoke(store, "exists", key, &answer);
    /* Before the outcome is asked for: both can throw, the first in an error handler (PHP 8.5 warns
     * of NAN), the second in a destructor. */
    *exists = zend_is_true(&answer);
    zval_ptr_dtor(&answer);
    outcome = php_latch_outcome_of_call();
    *exists = *exists && outcome.status == LATCH_DONE;
    return outcome;
}
