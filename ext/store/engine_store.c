/*
 * The stores of the engine as PHP objects: their life, and the store methods, which are the same
 * for all of them. Lock does not come here: it drives the engine itself (lock.c).
 */
#include "ext/store/combined/combined.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* Back ends that nothing uses any more and that stay open all the same, for the next request. */
#define IDLE_BACKENDS_MAX 8

static zend_object_handlers handlers;

static php_latch_backend *make(latch_store *store)
{
    php_latch_backend *backend = pecalloc(1, sizeof(*backend), 1);

    backend->store = store;
    backend->references = 1;
    return backend;
}

php_latch_backend *php_latch_backend_open(const char *name, const latch_store_options *options)
{
    latch_error error;
    latch_store *store = latch_store_open(php_latch_engine, name, options, &error);

    if (store == NULL) {
        zend_throw_exception(error.status == LATCH_ERROR_ARGUMENT ? php_latch_invalid_argument_ce
                                                                  : php_latch_storage_ce,
                             error.message, 0);
        return NULL;
    }
    return make(store);
}

void php_latch_backends_close_surplus(void)
{
    latch_link *shared = &LATCH_G(shared_backends), surplus;
    size_t idle = 0;

    latch_link_init(&surplus);
    for (latch_link *link = shared->previous, *before; link != shared; link = before) {
        php_latch_backend *backend = LATCH_CONTAINER(link, php_latch_backend, link);

        before = link->previous;
        if (backend->references == 0 && backend->identity != NULL && ++idle > IDLE_BACKENDS_MAX) {
            latch_link_remove(link);
            latch_link_append(&surplus, link);
        }
    }
    php_latch_backends_close(&surplus);
}

/* With a reference more; NULL when there is none. */
static php_latch_backend *find_shared(const char *name, const char *identity, size_t length)
{
    latch_link *shared = &LATCH_G(shared_backends);

    for (latch_link *link = shared->next; link != shared; link = link->next) {
        php_latch_backend *backend = LATCH_CONTAINER(link, php_latch_backend, link);

        if (backend->identity != NULL
            && zend_string_equals_cstr(backend->identity, identity, length)
            && strcmp(latch_store_describe(backend->store)->name, name) == 0) {
            backend->references++;
            return backend;
        }
    }
    return NULL;
}

static void share(php_latch_backend *backend, const char *identity, size_t length)
{
    backend->identity = zend_string_init(identity, length, 1);
    latch_link_append(&LATCH_G(shared_backends), &backend->link);
}

php_latch_backend *php_latch_backend_get(const char *name, zend_string *identity,
                                         const latch_store_options *options)
{
    php_latch_backend *backend = find_shared(name, ZSTR_VAL(identity), ZSTR_LEN(identity));

    if (backend == NULL) {
        backend = php_latch_backend_open(name, options);
        if (backend != NULL) {
            share(backend, ZSTR_VAL(identity), ZSTR_LEN(identity));
        }
    }
    return backend;
}

php_latch_backend *php_latch_backend_share(latch_store *store)
{
    const char *identity = latch_store_identity(store);
    php_latch_backend *backend =
        find_shared(latch_store_describe(store)->name, identity, strlen(identity));

    if (backend != NULL) {
        latch_store_close(store);
        return backend;
    }
    backend = make(store);
    share(backend, identity, strlen(identity));
    return backend;
}

php_latch_backend *php_latch_backend_on(const char *name, const zend_object *connection)
{
    latch_link *shared = &LATCH_G(shared_backends);

    for (latch_link *link = shared->next; link != shared; link = link->next) {
        php_latch_backend *backend = LATCH_CONTAINER(link, php_latch_backend, link);

        if (backend->connection == connection
            && strcmp(latch_store_describe(backend->store)->name, name) == 0) {
            backend->references++;
            return backend;
        }
    }
    return NULL;
}

php_latch_backend *php_latch_backend_share_on(latch_store *store, zend_object *connection)
{
    php_latch_backend *backend = make(store);

    backend->connection = connection;
    latch_link_append(&LATCH_G(shared_backends), &backend->link);
    return backend;
}

void php_latch_backends_leave_connections(void)
{
    latch_link *shared = &LATCH_G(shared_backends);
    bool found = false;

    for (latch_link *link = shared->next; link != shared;) {
        php_latch_backend *backend = LATCH_CONTAINER(link, php_latch_backend, link);

        link = link->next;
        if (backend->connection != NULL && backend->references == 0) {
            php_latch_backend_close(backend);
            link = shared->next; /* PHP code may have run */
        } else if (backend->connection != NULL) {
            found = true;
        }
    }
    if (found) {
        php_latch_leases_leave_connections();
    }
}

void php_latch_backend_close(php_latch_backend *backend)
{
    php_latch_combination *combination = backend->combination;

    if (backend->identity != NULL || backend->connection != NULL) {
        latch_link_remove(&backend->link);
    }
    if (backend->identity != NULL) {
        zend_string_release(backend->identity);
    }
    latch_store_close(backend->store);
    pefree(backend, 1);
    if (combination != NULL) {
        php_latch_combination_free(combination); /* the members go last */
    }
}

void php_latch_backends_close(latch_link *backends)
{
    latch_store **stores;
    size_t count = 0;

    if (backends->next == backends) {
        return;
    }
    for (latch_link *link = backends->next; link != backends; link = link->next) {
        count++;
    }
    stores = calloc(count + 1, sizeof(*stores));
    count = 0;
    for (latch_link *link = backends->next; stores != NULL && link != backends; link = link->next) {
        stores[count++] = LATCH_CONTAINER(link, php_latch_backend, link)->store;
    }
    latch_stores_settle(stores, count);
    free(stores);
    while (backends->next != backends) {
        php_latch_backend_close(LATCH_CONTAINER(backends->next, php_latch_backend, link));
    }
}

void php_latch_backend_release(php_latch_backend *backend)
{
    if (--backend->references > 0) {
        return;
    }
    if (backend->identity != NULL) {
        /* With their idle files and connections, for the next object and request. At the end of a
           request none is closed, as it may be that of the process, which closes all together. */
        if ((EG(flags) & EG_FLAGS_IN_SHUTDOWN) == 0) {
            php_latch_backends_close_surplus();
        }
    } else if (backend->connection == NULL || !php_latch_is_out_of_memory()) {
        php_latch_backend_close(backend);
        php_latch_end_calls(LATCH_DONE);
    } /* else what could not be given back now will be when the request ends */
}

php_latch_store *php_latch_store_create(zend_class_entry *ce)
{
    php_latch_store *store = zend_object_alloc(sizeof(*store), ce);

    store->backend = NULL;
    store->remove_on_release = false;
    store->pass_on = false;
    store->initial_ttl_ms = 0;
    zend_object_std_init(&store->std, ce);
    object_properties_init(&store->std, ce);
    store->std.handlers = &handlers;
    return store;
}

static void destroy(zend_object *object)
{
    php_latch_store *store = LATCH_CONTAINER(object, php_latch_store, std);

    if (store->backend != NULL) {
        php_latch_backend *backend = store->backend;

        store->backend = NULL;
        if (backend->combination != NULL) {
            php_latch_combination_leave(backend->combination);
        }
        php_latch_backend_release(backend);
    }
    zend_object_std_dtor(object);
}

/* What a combined store holds on to beside what its properties show. */
static HashTable *get_gc(zend_object *object, zval **table, int *count)
{
    const php_latch_store *store = LATCH_CONTAINER(object, php_latch_store, std);
    zend_get_gc_buffer *buffer;

    if (store->backend == NULL || store->backend->combination == NULL) {
        return zend_std_get_gc(object, table, count);
    }
    buffer = zend_get_gc_buffer_create();
    php_latch_combination_collect(store->backend->combination, buffer);
    if (object->properties == NULL) { /* else the declared ones are in there */
        for (int at = 0; at < object->ce->default_properties_count; at++) {
            zend_get_gc_buffer_add_zval(buffer, OBJ_PROP_NUM(object, at));
        }
    }
    zend_get_gc_buffer_use(buffer, table, count);
    return object->properties;
}

php_latch_store *php_latch_store_of(zend_object *object)
{
    return object->handlers == &handlers ? LATCH_CONTAINER(object, php_latch_store, std) : NULL;
}

php_latch_backend *php_latch_store_backend(zend_object *object)
{
    php_latch_backend *backend = php_latch_store_of(object)->backend;

    if (backend == NULL && EG(exception) == NULL) {
        zend_throw_error(NULL, "%s::__construct() was not called; call it in your constructor",
                         ZSTR_VAL(object->ce->name));
    }
    return backend;
}

void php_latch_store_configure(const php_latch_store *store, zend_object *key,
                               php_latch_lease *lease)
{
    lease->lease.remove = store->remove_on_release;
    lease->lease.pass_on = store->pass_on;
    if (lease->parts != NULL && !lease->lease.busy) { /* else a request is under way with them */
        php_latch_lease_configure_parts(lease, key);
    }
}

static bool is_combined(zend_object *object)
{
    const php_latch_backend *backend = php_latch_store_of(object)->backend;

    return backend != NULL && backend->combination != NULL;
}

/* A combined store is if all its members are, and nobody has to be asked for their number. */
static bool is_native_inside(zend_object *object)
{
    return !is_combined(object) || php_latch_store_of(object)->backend->combination->is_native;
}

bool php_latch_store_is_native(zend_object *object)
{
    static const char *const methods[] = {
        "save",   "saveread", "waitandsave", "waitandsaveread", "putoffexpiration",
        "delete", "exists",
    };

    if (object->handlers != &handlers || !is_native_inside(object)) {
        return false;
    }
    for (size_t at = 0;
         object->ce->type == ZEND_USER_CLASS && at < sizeof(methods) / sizeof(*methods); at++) {
        zend_function *method =
            zend_hash_str_find_ptr(&object->ce->function_table, methods[at], strlen(methods[at]));

        if (method != NULL && method->type == ZEND_USER_FUNCTION) {
            return false;
        }
    }
    return true;
}

/* The lease that a store method works on; NULL after throwing. */
static php_latch_lease *lease_of_call(zend_object *this_store, zend_object *key)
{
    php_latch_backend *backend = php_latch_store_backend(this_store);
    php_latch_lease *lease = backend != NULL ? php_latch_lease_get(key, backend, NULL) : NULL;

    if (lease != NULL) {
        php_latch_store_configure(php_latch_store_of(this_store), key, lease);
    }
    return lease;
}

static void throw_expired(const php_latch_lease *lease)
{
    zval exception;

    ZVAL_OBJ(&exception,
             php_latch_new_exception(php_latch_expired_ce, NULL, "Failed to store the \"",
                                     php_latch_lease_resource(lease), "\" lock."));
    zend_throw_exception_object(&exception);
}

/* Gives back what is of no use any more; false when there is an exception. */
static bool give_back(zend_object *store, zend_object *key, php_latch_lease *lease)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = true};
    latch_error error;
    latch_status status = php_latch_run(&lease->lease, &release, &error);

    return php_latch_store_tell(store, key, lease, &release, status, false)
           && EG(exception) == NULL;
}

/*
 * As Symfony's stores do after a call that took or renewed a lock for a time; false after throwing,
 * when that time has passed already. Members of a combined store may have set it themselves.
 */
static bool note_expiry(zend_object *store, zend_object *key, php_latch_lease *lease)
{
    if (lease->lease.deadline_ns != LATCH_NEVER) {
        php_latch_key_reduce_lifetime(key, (double) (lease->lease.deadline_ns - php_latch_now_ns())
                                               / LATCH_NS_PER_S);
    } else if (lease->parts == NULL) {
        return true;
    }
    if (!php_latch_key_is_expired(key)) {
        return true;
    }
    if (give_back(store, key, lease)) {
        throw_expired(lease);
    }
    return false;
}

/* Throws what became of a request, unless it was carried out. */
static void throw_status(latch_op_kind kind, latch_status status, const latch_error *error,
                         zend_object *key, const php_latch_lease *lease)
{
    bool is_probe = kind == LATCH_PROBE;
    php_latch_outcome outcome;

    if (is_probe && !latch_failed(status)) {
        return;
    }
    if (lease->parts != NULL && status == LATCH_CONFLICT && php_latch_key_is_expired(key)) {
        throw_expired(lease); /* Symfony's looks at the time before it counts */
        return;
    }
    outcome = php_latch_outcome_of_status(status, error, php_latch_lease_resource(lease));
    if (status == LATCH_CONFLICT) { /* without words, as those of Symfony's stores */
        outcome.exception =
            php_latch_new_exception(php_latch_conflicted_ce, NULL, "", ZSTR_EMPTY_ALLOC(), "");
    }
    php_latch_throw_outcome(&outcome);
}

/*
 * A renewal for no time to speak of, less than a millisecond: in a combined store the lock ends
 * there and then, as in Symfony's.
 */
static void expire(zend_object *store, zend_object *key, const latch_request *request)
{
    php_latch_lease *lease = lease_of_call(store, key);

    if (lease == NULL) {
        return;
    }
    GC_ADDREF(&lease->std);
    php_latch_key_reduce_lifetime(key, 0);
    php_latch_store_tell_lateness(store, key, lease, request);
    if (EG(exception) == NULL) {
        note_expiry(store, key, lease);
    }
    OBJ_RELEASE(&lease->std);
}

static bool run(zend_object *store, zend_object *key, const latch_request *request)
{
    php_latch_lease *lease = lease_of_call(store, key);
    bool takes = request->kind == LATCH_ACQUIRE || request->kind == LATCH_ACQUIRE_SHARED;
    bool done = false;
    latch_mode before;
    latch_error error;
    latch_status status;

    if (lease == NULL) {
        return false;
    }
    if (takes) {
        /* By hand: nobody releases it automatically, a daemon may inherit it. Or by a PHP store
           that wraps this one: then the Lock above says (php_latch_lock_save()). */
        lease->lease.inherit = php_latch_store_call_inherits();
    }
    GC_ADDREF(&lease->std); /* a signal handler may take it away from the key */
    before = php_latch_lease_before(lease);
    status = php_latch_run(&lease->lease, request, &error);
    php_latch_lease_after(lease, before, request->kind);
    if (status == LATCH_DONE && takes) {
        php_latch_lease_note_acquired(lease);
    }
    /* What a PHP-written store does to get its lock, the Lock above counts as one. */
    if (!php_latch_in_store_call()) {
        php_latch_count_request(&lease->lease, request->kind, status, true);
    }
    if (php_latch_store_tell(store, key, lease, request, status, before == LATCH_FREE)) {
        throw_status(request->kind, status, &error, key, lease);
        done = status == LATCH_DONE;
    }
    if (done && (takes || request->kind == LATCH_REFRESH)) {
        done = note_expiry(store, key, lease);
    }
    OBJ_RELEASE(&lease->std);
    return done;
}

static void acquire(INTERNAL_FUNCTION_PARAMETERS, latch_op_kind kind, bool wait)
{
    const latch_request request = {
        .kind = kind,
        .wait = wait,
        .deadline_ns = LATCH_NEVER,
        .ttl_ms = php_latch_store_of(Z_OBJ_P(ZEND_THIS))->initial_ttl_ms,
    };
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    if (run(Z_OBJ_P(ZEND_THIS), key, &request)
        && (latch_store_describe(php_latch_store_of(Z_OBJ_P(ZEND_THIS))->backend->store)
                ->capabilities
            & LATCH_SERIALIZABLE)
               == 0) {
        php_latch_key_mark_unserializable(key);
    }
}

PHP_METHOD(Latch_Store_NativeStore, save)
{
    acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE, false);
}

PHP_METHOD(Latch_Store_NativeStore, saveRead)
{
    acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE_SHARED, false);
}

PHP_METHOD(Latch_Store_NativeStore, waitAndSave)
{
    acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE, true);
}

PHP_METHOD(Latch_Store_NativeStore, waitAndSaveRead)
{
    acquire(INTERNAL_FUNCTION_PARAM_PASSTHRU, LATCH_ACQUIRE_SHARED, true);
}

PHP_METHOD(Latch_Store_NativeStore, putOffExpiration)
{
    latch_request request = {.kind = LATCH_REFRESH};
    zend_object *key;
    double ttl;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_ttl(2, ttl)) {
        RETURN_THROWS();
    }
    if (ttl == 0 && php_latch_store_of(Z_OBJ_P(ZEND_THIS))->initial_ttl_ms > 0) {
        php_latch_throw_argument(php_latch_invalid_ttl_ce, 2, "ttl",
                                 "must be more than 0 seconds: locks of this store expire");
        RETURN_THROWS();
    }
    request.ttl_ms = php_latch_ttl_ms(ttl);
    if (ttl < 0.001 && is_combined(Z_OBJ_P(ZEND_THIS))
        && php_latch_store_of(Z_OBJ_P(ZEND_THIS))->backend->combination->count > 0) {
        expire(Z_OBJ_P(ZEND_THIS), key, &request);
        return;
    }
    if (ttl > 0 && ttl < 0.001) { /* stores count whole milliseconds */
        php_latch_key_reduce_lifetime(key, ttl);
    }
    run(Z_OBJ_P(ZEND_THIS), key, &request);
}

PHP_METHOD(Latch_Store_NativeStore, delete)
{
    const latch_request request = {.kind = LATCH_RELEASE};
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    run(Z_OBJ_P(ZEND_THIS), key, &request);
}

PHP_METHOD(Latch_Store_NativeStore, exists)
{
    const latch_request request = {.kind = LATCH_PROBE};
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL(run(Z_OBJ_P(ZEND_THIS), key, &request));
}

void php_latch_native_store_startup(void)
{
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(php_latch_store, std);
    handlers.free_obj = destroy;
    handlers.get_gc = get_gc;
    handlers.clone_obj = NULL; /* a second store with the same locks makes no sense */
}
