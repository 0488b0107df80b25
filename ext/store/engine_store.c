/*
 * PHP objects of the engine's stores: their life. The store methods, the same for all of them, are
 * in store_methods.c; a Lock calls none of them, it drives the engine itself
 * (ext/lock/lock_store.c).
 */
#include "ext/store/engine_store.h"

#include "zend_exceptions.h"

static zend_object_handlers handlers;

php_latch_store *php_latch_store_create(zend_class_entry *ce)
{
    php_latch_store *store = zend_object_alloc(sizeof(*store), ce);

    store->backend = NULL;
    store->remove_on_release = false;
    store->pass_on = false;
    store->is_called = false;
    store->initial_ttl_ms = 0;
    store->least_ttl_ms = 0;
    store->extra = NULL;
    zend_object_std_init(&store->std, ce);
    object_properties_init(&store->std, ce);
    store->std.handlers = &handlers;
    return store;
}

static void engine_store_free(zend_object *object)
{
    php_latch_store *store = LATCH_CONTAINER(object, php_latch_store, std);

    if (store->backend != NULL) {
        php_latch_backend *backend = store->backend;

        store->backend = NULL;
        if (backend->ops != NULL) {
            backend->ops->detach(backend);
        }
        php_latch_backend_release(backend);
    }
    if (store->extra != NULL) {
        store->extra->free(store->extra);
    }
    zend_object_std_dtor(object);
}

/* The objects that a combined store refers to beside its properties. */
static HashTable *engine_store_get_gc(zend_object *object, zval **table, int *count)
{
    const php_latch_store *store = LATCH_CONTAINER(object, php_latch_store, std);
    zend_get_gc_buffer *buffer;

    if (store->backend == NULL || store->backend->ops == NULL) {
        return zend_std_get_gc(object, table, count);
    }
    buffer = zend_get_gc_buffer_create();
    store->backend->ops->collect(store->backend, buffer);
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
    if (lease->parts != NULL && !lease->lease.busy) { /* else a request on them is under way */
        lease->backend->ops->configure(lease, key);
    }
}

static bool calls_php(zend_object *object)
{
    const php_latch_backend *backend = php_latch_store_of(object)->backend;

    return backend != NULL && backend->calls_php;
}

bool php_latch_store_is_native(zend_object *object)
{
    static const char *const methods[] = {
        "save",   "saveread", "waitandsave", "waitandsaveread", "putoffexpiration",
        "delete", "exists",
    };

    if (object->handlers != &handlers || php_latch_store_of(object)->is_called
        || calls_php(object)) {
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

const char *php_latch_store_ttl_problem(const php_latch_store *store, int64_t ttl_ms)
{
    return ttl_ms < store->least_ttl_ms ? "its TTL must be 1 second or more in a table" : NULL;
}

bool php_latch_store_has_inspect(zend_object *object)
{
    return object->handlers == &handlers && !php_latch_store_of(object)->is_called;
}

bool php_latch_store_has_slots(zend_object *object)
{
    const php_latch_store *store = php_latch_store_of(object);

    return store != NULL
           && (store->is_called || (store->backend != NULL && store->backend->locks != NULL));
}

bool php_latch_store_logs(zend_object *store)
{
    const php_latch_store *native = php_latch_store_of(store);

    return native != NULL && native->backend != NULL && native->backend->ops != NULL
           && native->backend->ops->logs(store);
}

void php_latch_engine_store_startup(void)
{
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(php_latch_store, std);
    handlers.free_obj = engine_store_free;
    handlers.get_gc = engine_store_get_gc;
    handlers.clone_obj = NULL; /* a second object of the same store makes no sense */
}
