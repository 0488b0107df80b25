/*
 * Permits as Lock objects, which a factory makes: where the store of the locks, or the factory, is
 * written in PHP. The calls, their order and the messages are those of Symfony's LockStore (8.1);
 * the locks are in the key's state, under the name of the class.
 */
#include "ext/semaphore/semaphore.h"

#include "ext/key/key.h"
#include "ext/lock/lock.h"
#include "ext/php/client_object.h"
#include "ext/php/errors.h"
#include "ext/php/poll_loop.h"

#include "zend_exceptions.h"

/* ---- The key's state ------------------------------------------------------------------------ */

static zend_string *slots_state_name(const zend_object *store)
{
    return store->ce->name;
}

/* The locks that the key has, with a reference. */
static HashTable *slot_locks_of(zend_object *store, zend_object *key)
{
    zval *state = php_latch_key_find_state(key, ZSTR_VAL(slots_state_name(store)));

    if (state == NULL || Z_TYPE_P(state) != IS_ARRAY) {
        return zend_new_array(0);
    }
    return zend_array_dup(Z_ARR_P(state));
}

static void drop_slots_state(zend_object *store, zend_object *key)
{
    php_latch_key_remove_state(key, ZSTR_VAL(slots_state_name(store)));
}

/* ---- Calls of locks -------------------------------------------------------------------------- */

/* Calls a method that answers yes or no; false also after throwing. */
static bool ask_lock(zval *lock, const char *lower_name, uint32_t count, zval *arguments)
{
    bool answer = false;
    zval result;

    if (Z_TYPE_P(lock) == IS_OBJECT) {
        php_latch_call_method(Z_OBJ_P(lock), lower_name, &result, count, arguments);
        answer = EG(exception) == NULL && zend_is_true(&result);
        zval_ptr_dtor(&result);
    }
    if (php_latch_is_out_of_memory()) {
        zend_bailout(); /* PHP would refuse the next call, by a second fatal error */
    }
    return answer;
}

/* Takes the pending exception, unless it is an Error or the end of the script; NULL: there is none
 * to be taken. */
static zend_object *take_lock_exception(void)
{
    zend_object *exception = EG(exception);

    if (exception == NULL || !instanceof_function(exception->ce, zend_ce_exception)) {
        return NULL;
    }
    GC_ADDREF(exception);
    zend_clear_exception();
    return exception;
}

static void throw_of_slots(zend_class_entry *ce, zend_object *key, const char *before,
                           const char *reason, zend_object *previous)
{
    zend_string *after = zend_strpprintf(0, "%s%s.", before, reason);
    zval exception;

    ZVAL_OBJ(&exception, php_latch_new_exception(ce, previous, "The semaphore \"",
                                                 php_latch_key_name(key), ZSTR_VAL(after)));
    zend_string_release(after);
    zend_throw_exception_object(&exception);
}

/* The message of an exception; not a new reference. */
static const char *message_of_failure(zend_object *exception)
{
    zval unused;
    const zval *message = zend_read_property_ex(zend_ce_exception, exception,
                                                ZSTR_KNOWN(ZEND_STR_MESSAGE), 1, &unused);

    return Z_TYPE_P(message) == IS_STRING ? Z_STRVAL_P(message) : "";
}

/* Releases all, whatever single ones throw; then an exception for the first of them is pending. */
static void release_slots(zend_object *store, zend_object *key, HashTable *locks)
{
    zend_object *first = NULL, *failure;
    zval *lock;

    ZEND_HASH_FOREACH_VAL(locks, lock)
    {
        ask_lock(lock, "release", 0, NULL);
        failure = take_lock_exception();
        if (failure != NULL && first == NULL) {
            first = failure;
        } else if (failure != NULL) {
            OBJ_RELEASE(failure);
        }
        if (EG(exception) != NULL) {
            break; /* the script ends */
        }
    }
    ZEND_HASH_FOREACH_END();
    drop_slots_state(store, key);
    if (first != NULL && EG(exception) == NULL) {
        throw_of_slots(php_latch_semaphores.releasing, key,
                       "\" could not be released: ", message_of_failure(first), NULL);
    }
    if (first != NULL) {
        OBJ_RELEASE(first);
    }
}

typedef struct slots_release {
    zend_object *store, *key;
    HashTable *locks;
} slots_release;

static void call_slots_release(void *context)
{
    const slots_release *release = context;

    release_slots(release->store, release->key, release->locks);
}

/* The same after a failure, also one that ends the script, which stays pending; what the release
 * throws is dropped. */
static void release_slots_quietly(zend_object *store, zend_object *key, HashTable *locks)
{
    slots_release release = {store, key, locks};
    zend_object *dropped = php_latch_call(call_slots_release, &release);

    if (dropped != NULL) {
        php_latch_object_release_deferred(dropped);
    }
    php_latch_rethrow_deferred(LATCH_DONE);
}

/* ---- save() ---------------------------------------------------------------------------------- */

/* Makes the lock of a slot and tries to take it: it is in `locks` then, and during the attempt. */
static void take_slot(zend_object *factory, zend_object *key, zend_long number, double ttl,
                      HashTable *locks)
{
    zend_string *resource = php_latch_key_name(key);
    zend_string *suffix = zend_strpprintf(0, "_" ZEND_LONG_FMT, number);
    zend_ulong at = zend_hash_num_elements(locks);
    zval arguments[3], lock, no;

    ZVAL_STR(&arguments[0], zend_string_concat2(ZSTR_VAL(resource), ZSTR_LEN(resource),
                                                ZSTR_VAL(suffix), ZSTR_LEN(suffix)));
    zend_string_release(suffix);
    ZVAL_DOUBLE(&arguments[1], ttl);
    ZVAL_FALSE(&arguments[2]);
    php_latch_call_method(factory, "createlock", &lock, 3, arguments);
    zval_ptr_dtor(&arguments[0]);
    ZVAL_FALSE(&no);
    if (EG(exception) != NULL) {
        zval_ptr_dtor(&lock);
        return;
    }
    zend_hash_index_add_new(locks, at, &lock);
    if (!ask_lock(&lock, "acquire", 1, &no)) {
        zend_hash_index_del(locks, at);
    }
}

static void take_slots(zend_object *factory, zend_object *key, double ttl, HashTable *locks)
{
    latch_permits permits = php_latch_key_permits(key);
    int64_t first = (int64_t) latch_engine_random(php_latch_engine, (uint64_t) permits.limit);

    for (int64_t at = 0; at < permits.limit && EG(exception) == NULL; at++) {
        int64_t taken = zend_hash_num_elements(locks);

        if (taken >= permits.weight || taken + permits.limit - at < permits.weight) {
            break;
        }
        take_slot(factory, key, (zend_long) ((first + at) % permits.limit), ttl, locks);
    }
}

/* These locks have no automatic release: after a fatal error nobody would have those taken so far.
 */
static void abandon_slots(HashTable *locks)
{
    zval *lock;

    ZEND_HASH_FOREACH_VAL(locks, lock)
    {
        if (Z_TYPE_P(lock) == IS_OBJECT && Z_OBJCE_P(lock) == php_latch_locks.product) {
            php_latch_lock_abandon(php_latch_lock_from(Z_OBJ_P(lock)));
        }
    }
    ZEND_HASH_FOREACH_END();
}

static void take_slots_or_none(zend_object *factory, zend_object *key, double ttl, HashTable *locks)
{
    zend_try
    {
        take_slots(factory, key, ttl, locks);
    }
    zend_catch
    {
        abandon_slots(locks);
        zend_bailout();
    }
    zend_end_try();
}

/* NULL after throwing: ArrayObject has put something else in its place. */
static zend_object *factory_of_slots(zend_object *store)
{
    zval *factory = OBJ_PROP_NUM(store, SLOTS_FACTORY);

    ZVAL_DEREF(factory);
    if (Z_TYPE_P(factory) == IS_OBJECT
        && instanceof_function(Z_OBJCE_P(factory), php_latch_locks.factory)) {
        return Z_OBJ_P(factory);
    }
    zend_type_error("%s::$lockFactory must be of type %s, %s found: something has overwritten it",
                    ZSTR_VAL(store->ce->name), ZSTR_VAL(php_latch_locks.factory->name),
                    zend_zval_type_name(factory));
    return NULL;
}

void php_latch_slot_locks_save(zend_object *store, zend_object *key, double ttl)
{
    zend_object *factory = factory_of_slots(store);
    HashTable *locks;
    zval state;

    if (factory == NULL) {
        return;
    }
    locks = slot_locks_of(store, key);
    if (zend_hash_num_elements(locks) == 0 && php_latch_key_permits(key).limit > 0) {
        GC_ADDREF(factory); /* PHP code that is called may overwrite it */
        take_slots_or_none(factory, key, ttl, locks);
        OBJ_RELEASE(factory);
        if (EG(exception) == NULL
            && zend_hash_num_elements(locks) == php_latch_key_permits(key).weight) {
            ZVAL_ARR(&state, locks);
            GC_ADDREF(locks);
            php_latch_key_set_state(key, slots_state_name(store), &state);
            php_latch_key_mark_owned(key, slots_state_name(store));
        } else {
            release_slots_quietly(store, key, locks);
            if (EG(exception) == NULL) {
                throw_of_slots(php_latch_semaphores.conflicted, key,
                               "\" could not be acquired: ", "There were no free locks found",
                               NULL);
            }
        }
    }
    zend_array_release(locks);
}

/* ---- The other methods ----------------------------------------------------------------------- */

void php_latch_slot_locks_delete(zend_object *store, zend_object *key)
{
    HashTable *locks = slot_locks_of(store, key);

    release_slots(store, key, locks);
    zend_array_release(locks);
}

bool php_latch_slot_locks_exist(zend_object *store, zend_object *key)
{
    HashTable *locks = slot_locks_of(store, key), *held = zend_new_array(0);
    zend_long weight = (zend_long) php_latch_key_permits(key).weight;
    bool exist = false;
    zval *lock, state;

    ZEND_HASH_FOREACH_VAL(locks, lock)
    {
        if (EG(exception) == NULL && !ask_lock(lock, "isexpired", 0, NULL)
            && ask_lock(lock, "isacquired", 0, NULL)) {
            Z_TRY_ADDREF_P(lock);
            zend_hash_next_index_insert_new(held, lock);
        }
    }
    ZEND_HASH_FOREACH_END();
    if (EG(exception) == NULL) {
        exist = zend_hash_num_elements(held) >= weight;
        if (zend_hash_num_elements(held) > 0) {
            ZVAL_ARR(&state, held);
            GC_ADDREF(held);
            php_latch_key_set_state(key, slots_state_name(store), &state);
        } else if (zend_hash_num_elements(locks) > 0) {
            drop_slots_state(store, key);
        }
    }
    zend_array_release(held);
    zend_array_release(locks);
    return exist;
}

/* Releases all, and throws that they have expired; consumes `cause`, which may be NULL. Symfony's
 * reasons end with a full stop, to which its exception adds one. */
static void expire_slots(zend_object *store, zend_object *key, HashTable *locks, zend_object *cause,
                         const char *reason)
{
    zend_string *text = cause != NULL
                            ? zend_strpprintf(0, "%s: %s", reason, message_of_failure(cause))
                            : zend_string_init(reason, strlen(reason), 0);

    release_slots(store, key, locks);
    if (EG(exception) == NULL) {
        throw_of_slots(php_latch_semaphores.expired, key, "\" has expired: ", ZSTR_VAL(text),
                       cause);
    } else if (cause != NULL) {
        OBJ_RELEASE(cause);
    }
    zend_string_release(text);
}

void php_latch_slot_locks_refresh(zend_object *store, zend_object *key, double ttl)
{
    HashTable *locks = slot_locks_of(store, key);
    zval *lock, argument;

    ZVAL_DOUBLE(&argument, ttl);
    if (zend_hash_num_elements(locks) != php_latch_key_permits(key).weight) {
        expire_slots(store, key, locks, NULL, "One or multiple locks were not even acquired.");
        zend_array_release(locks);
        return;
    }
    ZEND_HASH_FOREACH_VAL(locks, lock)
    {
        zend_object *failure;

        ask_lock(lock, "refresh", 1, &argument);
        failure = take_lock_exception();
        if (failure != NULL) {
            expire_slots(store, key, locks, failure, "Failed to refresh one or multiple locks");
        } else if (EG(exception) == NULL && ask_lock(lock, "isexpired", 0, NULL)) {
            expire_slots(store, key, locks, NULL, "Failed to refresh one or multiple locks.");
        }
        if (EG(exception) != NULL) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    zend_array_release(locks);
}
