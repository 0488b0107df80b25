/*
 * Lifecycle of a Lock: automatic release on every ending that PHP survives.
 *
 * - The destructor runs at the end of a scope, at the end of a script, after an uncaught exception
 *   and after exit().
 * - After a fatal error (memory limit, time limit) PHP destroys objects without destructors, some
 *   before RSHUTDOWN, some after. So RSHUTDOWN searches for dirty locks, and an object that is
 * freed earlier releases its native lock itself. A store written in PHP cannot be called while
 * memory is being freed: such a lock is left to RSHUTDOWN as an orphan.
 * - In a forked child nothing is released automatically: the lock is the parent's.
 * - A Lock and its clones share the hold: the last of them that has it releases it.
 */
#include "ext/lock/lock.h"

#include "ext/key/key.h"
#include "ext/php/client_object.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/store/callback_store.h"
#include "ext/store/engine_store.h"

#include "zend_exceptions.h"

static zend_object_handlers handlers;

/* A lock of a PHP-written store whose object is gone; key and store are references. */
typedef struct orphan_lock {
    latch_link link;
    zend_object *key, *store;
    unsigned generation; /* as the Lock's */
    php_latch_counted counted_as;
} orphan_lock;

/* An original and its clones, in this process. */
typedef struct lock_clones {
    uint32_t locks;
    uint32_t users;      /* clones that have acquired the lock and are to release it, */
    unsigned generation; /* in that process */
} lock_clones;

static zend_object *lock_create_object(zend_class_entry *ce)
{
    php_latch_lock *lock = zend_object_alloc(sizeof(*lock), ce);

    memset(lock, 0, offsetof(php_latch_lock, std));
    zend_object_std_init(&lock->std, ce);
    object_properties_init(&lock->std, ce);
    lock->std.handlers = &handlers;
    return &lock->std;
}

void php_latch_lock_init(php_latch_lock *lock, zend_object *key, zend_object *store, double ttl,
                         bool auto_release, zend_object *logger)
{
    GC_ADDREF(key);
    GC_ADDREF(store);
    if (logger != NULL) {
        GC_ADDREF(logger);
    }
    lock->key = key;
    lock->store = store;
    lock->logger = logger;
    lock->ttl = ttl;
    lock->auto_release = auto_release;
    lock->native = php_latch_store_is_native(store);
    lock->counted_as = php_latch_key_primitive(key)->is_permit ? PHP_LATCH_COUNTED_SEMAPHORES
                                                               : PHP_LATCH_COUNTED_LOCKS;
    lock->generation = latch_engine_generation(php_latch_engine);
}

void php_latch_lock_make(zval *return_value, zend_object *key, zend_object *store, double ttl,
                         bool auto_release, zend_object *logger)
{
    ZVAL_OBJ(return_value, lock_create_object(php_latch_key_primitive(key)->product));
    php_latch_lock_init(php_latch_lock_from(Z_OBJ_P(return_value)), key, store, ttl, auto_release,
                        logger);
}

void php_latch_lock_use_lease(php_latch_lock *lock, php_latch_lease *lease)
{
    php_latch_lease *before = lock->lease;

    if (before == lease) {
        return;
    }
    lock->lease = lease;
    if (lease != NULL) {
        GC_ADDREF(&lease->std);
        lease->users++;
    }
    if (before != NULL) {
        if (--before->users == 0) {
            before->store = NULL; /* which may be gone soon */
            before->lease.mode = LATCH_FREE;
        }
        OBJ_RELEASE(&before->std);
    }
}

static bool is_to_be_released(const php_latch_lock *lock)
{
    return lock->auto_release && lock->dirty && php_latch_lock_is_ours(lock);
}

static bool is_user(const php_latch_lock *lock)
{
    return lock->clones != NULL && is_to_be_released(lock);
}

/* Updates the number of users; to be called after a change of what makes a Lock one. */
static void count_user(const php_latch_lock *lock, bool was_user)
{
    lock_clones *clones = lock->clones;

    if (clones == NULL) {
        return;
    }
    if (clones->generation != latch_engine_generation(php_latch_engine)) {
        clones->generation = latch_engine_generation(php_latch_engine);
        clones->users = 0; /* the others are the parent's */
    }
    clones->users += is_user(lock) ? 1 : 0;
    clones->users -= was_user ? 1 : 0;
}

/* Is it the last of the clones that have the hold, and are to release it? */
static bool is_last_user(const php_latch_lock *lock)
{
    return lock->clones == NULL || lock->clones->users <= 1;
}

static void join_clones(php_latch_lock *to, php_latch_lock *from)
{
    if (from->clones == NULL) {
        from->clones = ecalloc(1, sizeof(*from->clones));
        from->clones->locks = 1;
        count_user(from, false);
    }
    to->clones = from->clones;
    to->clones->locks++;
}

static void leave_clones(php_latch_lock *lock)
{
    if (lock->clones != NULL && --lock->clones->locks == 0) {
        efree(lock->clones);
    }
    lock->clones = NULL;
}

void php_latch_lock_set_dirty(php_latch_lock *lock, bool dirty)
{
    bool was_user = is_user(lock);

    if (lock->auto_release && dirty != lock->dirty) {
        if (dirty) {
            LATCH_G(dirty_locks)++;
        } else {
            LATCH_G(dirty_locks)--;
        }
    }
    lock->dirty = dirty;
    count_user(lock, was_user);
}

void php_latch_lock_claim(php_latch_lock *lock)
{
    bool was_user = is_user(lock);

    lock->generation = latch_engine_generation(php_latch_engine);
    count_user(lock, was_user);
}

bool php_latch_lock_is_ours(const php_latch_lock *lock)
{
    return lock->generation == latch_engine_generation(php_latch_engine);
}

/* Counts a release after the end of the script. */
static void count_release_at_shutdown(php_latch_counted counted)
{
    if ((EG(flags) & EG_FLAGS_IN_SHUTDOWN) != 0) {
        LATCH_G(statistics)[counted].released_at_shutdown++;
    }
}

void php_latch_lock_destruct(php_latch_lock *lock)
{
    bool released = false;

    if (!is_to_be_released(lock)) {
        return;
    }
    if (!is_last_user(lock)) {
        php_latch_lock_set_dirty(lock, false);
        return;
    }
    if (LATCH_G(failed_lock) == lock) {
        LATCH_G(failed_lock) = NULL;
        php_latch_lock_after_release(lock, LATCH_G(failed_release));
    } else if (lock->native && php_latch_lock_is_held(lock)) {
        php_latch_lock_after_release(lock, php_latch_lock_delete(lock, true, NULL));
        released = !lock->dirty;
    } else if (php_latch_lock_is_acquired(lock) && EG(exception) == NULL) {
        php_latch_lock_release(lock);
        released = !lock->dirty;
    } else if (EG(exception) == NULL && lock->dirty) {
        php_latch_lock_release_in_members(lock);
    }
    if (released) {
        count_release_at_shutdown(lock->counted_as);
    }
    if (EG(exception) == NULL || (EG(flags) & EG_FLAGS_IN_SHUTDOWN) == 0
        || php_latch_is_exit(EG(exception))) {
        return;
    }
    /* A throw during shutdown would keep all other destructors from running. */
    php_latch_lock_set_dirty(lock, false);
    php_latch_warn_of_exception();
}

/* Releases without log line or exception, where there is no caller any more. */
static latch_status release_quietly(php_latch_lock *lock, latch_error *error)
{
    latch_request request = {.kind = LATCH_RELEASE};
    php_latch_lease *lease =
        php_latch_lease_find(lock->key, php_latch_store_of(lock->store)->backend, NULL);

    if (lease == NULL) {
        return LATCH_DONE;
    }
    /* A lease in another store may have the same token, and acquire by it before this arrives. */
    request.detach = php_latch_lease_is_alone(lock->key);
    return php_latch_run_request(&lease->lease, &request, error);
}

/*
 * Calls delete() in RSHUTDOWN: without a PHP frame an exception would count as uncaught and bail
 * out. A frame of our own keeps it pending, for a warning.
 */
static void call_delete(zend_object *store, zend_object *key, php_latch_counted counted)
{
    zend_execute_data frame = {.func = (zend_function *) &zend_pass_function};

    EG(current_execute_data) = &frame;
    zend_try
    {
        php_latch_outcome outcome = php_latch_callback_delete(store, key);

        if (outcome.status == LATCH_DONE) {
            count_release_at_shutdown(counted);
        }
        php_latch_throw_outcome(&outcome);
        if (EG(exception) != NULL) {
            php_latch_warn_of_exception();
        }
    }
    zend_end_try();
    EG(current_execute_data) = NULL;
}

void php_latch_lock_free(php_latch_lock *lock)
{
    latch_error error;

    if (lock->native && release_quietly(lock, &error) == LATCH_DONE) {
        php_latch_lock_set_dirty(lock, false);
    }
}

void php_latch_lock_abandon(php_latch_lock *lock)
{
    if (!lock->dirty || !php_latch_lock_is_ours(lock)) {
        return;
    }
    php_latch_lock_free(lock);
    if (lock->dirty && !lock->auto_release) {
        php_latch_lock_set_dirty(lock, false);
        lock->auto_release = true;
        php_latch_lock_set_dirty(lock, true);
    }
}

/*
 * On failure __destruct() reports it, without a second attempt: a store that does not answer costs
 * its time-out.
 */
static void release_in_destructor(php_latch_lock *lock)
{
    latch_error error;
    latch_status status;

    php_latch_lock_collect_loss(lock);
    status = release_quietly(lock, &error);
    if (status == LATCH_DONE) {
        php_latch_lock_set_dirty(lock, false);
    } else if (latch_failed(status)) {
        LATCH_G(failed_release) = php_latch_outcome_of_status(php_latch_lock_primitive(lock),
                                                              status, &error,
                                                              php_latch_key_name(lock->key));
        LATCH_G(failed_lock) = lock;
    }
}

/*
 * dtor_obj: as __destruct(), but without calling it in the common case: the release of a native
 * lock without logger runs no PHP code, and throws nothing.
 */
static void lock_destruct_object(zend_object *object)
{
    php_latch_lock *lock = php_latch_lock_from(object);

    if (!is_to_be_released(lock)) {
        return;
    }
    if (!is_last_user(lock)) {
        php_latch_lock_set_dirty(lock, false);
        return;
    }
    if (lock->logger == NULL && lock->native && !php_latch_store_logs(lock->store)) {
        release_in_destructor(lock);
    }
    if (!lock->dirty) {
        count_release_at_shutdown(lock->counted_as);
    } else {
        zend_objects_destroy_object(object);
        if (LATCH_G(failed_lock) == lock) { /* __destruct() has not been called */
            LATCH_G(failed_lock) = NULL;
            php_latch_outcome_free(&LATCH_G(failed_release));
        }
        php_latch_lock_set_dirty(lock, false); /* also when it threw: there is no second attempt */
    }
}

bool php_latch_lock_destruct_member(php_latch_lock *lock, bool reports)
{
    bool has_failed = false;

    if (!is_to_be_released(lock)) {
        return true;
    }
    if (lock->logger == NULL && lock->native && !php_latch_store_logs(lock->store)) {
        release_in_destructor(lock);
        has_failed = LATCH_G(failed_lock) == lock;
    }
    if (!lock->dirty) {
        count_release_at_shutdown(lock->counted_as);
    } else if (has_failed && !reports) {
        LATCH_G(failed_lock) = NULL;
        php_latch_outcome_free(&LATCH_G(failed_release));
    } else {
        php_latch_lock_destruct(lock);
    }
    php_latch_lock_set_dirty(lock, false); /* there is no second attempt */
    return !has_failed;
}

static void add_orphan(const php_latch_lock *lock)
{
    orphan_lock *orphan = malloc(sizeof(*orphan));

    if (orphan == NULL) {
        return; /* the store's TTL remains */
    }
    orphan->generation = lock->generation;
    orphan->counted_as = lock->counted_as;
    orphan->key = lock->key;
    orphan->store = lock->store;
    GC_ADDREF(orphan->key);
    GC_ADDREF(orphan->store);
    latch_list_append(&LATCH_G(orphans), &orphan->link);
}

static void release_or_orphan(php_latch_lock *lock)
{
    latch_error error;
    bool release = is_to_be_released(lock) && is_last_user(lock)
                   && ((OBJ_FLAGS(lock->key) | OBJ_FLAGS(lock->store)) & IS_OBJ_FREE_CALLED) == 0;

    php_latch_lock_set_dirty(lock, false);
    if (release && lock->native && release_quietly(lock, &error) == LATCH_DONE) {
        count_release_at_shutdown(lock->counted_as);
    } else if (release && !lock->native && !LATCH_G(all_released)) {
        add_orphan(lock);
    }
}

/*
 * Searches all of PHP's objects for dirty locks. A list of them would cost each lock 16 bytes and
 * each acquire its neighbours' cache lines; and when a request ends well, none is left.
 */
static bool release_locks(void)
{
    bool found = false;

    for (uint32_t handle = 1; LATCH_G(dirty_locks) > 0 && handle < EG(objects_store).top;
         handle++) {
        zend_object *object = EG(objects_store).object_buckets[handle];

        if (IS_OBJ_VALID(object) && object->handlers == &handlers) {
            php_latch_lock *lock = php_latch_lock_from(object);

            if (lock->dirty && lock->auto_release) {
                release_or_orphan(lock);
                found = true;
            }
        }
    }
    return found;
}

static bool release_orphans(void)
{
    latch_link *orphans = &LATCH_G(orphans);
    bool found = false;

    while (orphans->next != orphans) {
        orphan_lock *orphan = LATCH_CONTAINER(orphans->next, orphan_lock, link);

        latch_list_remove(&orphan->link);
        if (orphan->generation == latch_engine_generation(php_latch_engine)) {
            call_delete(orphan->store, orphan->key, orphan->counted_as);
        }
        OBJ_RELEASE(orphan->key);
        OBJ_RELEASE(orphan->store);
        free(orphan);
        found = true;
    }
    return found;
}

/* Repeats until nothing is left: PHP code called here may take and drop other locks. */
void php_latch_release_all(void)
{
    bool found = true;

    while (found) {
        found = release_locks();
        found |= release_orphans();
    }
    if (php_latch_backends_release_sessions()) {
        php_latch_leases_drop_sessions();
    }
    php_latch_client_failure_clear();
    LATCH_G(all_released) = true;
}

static void lock_free_object(zend_object *object)
{
    php_latch_lock *lock = php_latch_lock_from(object);

    if (lock->key != NULL) {
        release_or_orphan(lock);
        leave_clones(lock);
        if (lock->native) {
            php_latch_lock_free_keep_alive(lock);
        } else {
            php_latch_lock_use_lease(lock, NULL);
        }
        OBJ_RELEASE(lock->key);
        OBJ_RELEASE(lock->store);
        if (lock->logger != NULL) {
            OBJ_RELEASE(lock->logger);
        }
    }
    zend_object_std_dtor(object);
}

/* As Symfony's Lock, a clone shares the key, and with it the lock. */
static zend_object *clone_lock(zend_object *object)
{
    php_latch_lock *from = php_latch_lock_from(object);
    php_latch_lock *to = php_latch_lock_from(lock_create_object(object->ce));

    if (from->key != NULL) {
        to->overtakes = from->overtakes;
        php_latch_lock_init(to, from->key, from->store, from->ttl, from->auto_release,
                            from->logger);
        to->generation = from->generation;
        join_clones(to, from);
        if (from->native) {
            php_latch_lock_clone_keep_alive(to, from);
        } else {
            php_latch_lock_use_lease(to, from->lease);
        }
        php_latch_lock_set_dirty(to, from->dirty);
    }
    return &to->std;
}

static HashTable *lock_get_gc(zend_object *object, zval **table, int *count)
{
    php_latch_lock *lock = php_latch_lock_from(object);
    zend_get_gc_buffer *buffer;

    /*
     * Hides key and store of a lock that is still to be released: after a fatal error no destructor
     * runs, and the collector frees the objects of a cycle in any order.
     */
    if (lock->dirty && lock->auto_release && (OBJ_FLAGS(object) & IS_OBJ_DESTRUCTOR_CALLED) != 0) {
        *table = NULL;
        *count = 0;
        return NULL;
    }
    buffer = zend_get_gc_buffer_create();
    if (lock->key != NULL) {
        zend_get_gc_buffer_add_obj(buffer, lock->key);
        zend_get_gc_buffer_add_obj(buffer, lock->store);
    }
    if (lock->native && php_latch_lock_callbacks(lock) != NULL) {
        zend_get_gc_buffer_add_zval(buffer, php_latch_lock_callbacks(lock));
    } else if (!lock->native && lock->lease != NULL) {
        zend_get_gc_buffer_add_obj(buffer, &lock->lease->std);
    }
    if (lock->logger != NULL) {
        zend_get_gc_buffer_add_obj(buffer, lock->logger);
    }
    zend_get_gc_buffer_use(buffer, table, count);
    /* Not zend_std_get_properties(), which would make a table for each lock that the collector
       visits. */
    return object->properties;
}

void php_latch_lock_finish_class(zend_class_entry *ce)
{
    php_latch_drop_guards(ce);
    if (php_latch_logger_aware_ce != NULL) {
        zend_class_implements(ce, 1, php_latch_logger_aware_ce);
    }
    ce->create_object = lock_create_object;
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(php_latch_lock, std);
    handlers.dtor_obj = lock_destruct_object;
    handlers.free_obj = lock_free_object;
    handlers.clone_obj = clone_lock;
    handlers.get_gc = lock_get_gc;
}
