/*
 * Back ends: the thread's registry of the engine's stores. Reference count; an unused one with an
 * identity stays open for the next object and request.
 */
#include "ext/key/backend.h"

#include "ext/php/call.h"

#include "zend_exceptions.h"

/* Number of unused back ends that stay open for the next request. */
#define IDLE_BACKENDS_MAX 8

static php_latch_backend *backend_make(latch_store *store)
{
    php_latch_backend *backend = pecalloc(1, sizeof(*backend), 1);

    backend->store = store;
    backend->references = 1;
    return backend;
}

php_latch_backend *php_latch_backend_open(const php_latch_primitive *primitive, const char *name,
                                          const latch_store_options *options)
{
    latch_error error;
    latch_store *store = latch_store_open(php_latch_engine, name, options, &error);

    if (store == NULL) {
        zend_throw_exception(error.status == LATCH_ERROR_ARGUMENT ? primitive->invalid_argument
                                                                  : primitive->storage,
                             error.message, 0);
        return NULL;
    }
    return backend_make(store);
}

void php_latch_backends_close_surplus(void)
{
    latch_link *shared = &LATCH_G(shared_backends), surplus;
    size_t idle = 0;

    latch_list_init(&surplus);
    for (latch_link *link = shared->previous, *before; link != shared; link = before) {
        php_latch_backend *backend = LATCH_CONTAINER(link, php_latch_backend, link);

        before = link->previous;
        if (backend->references == 0 && backend->identity != NULL && ++idle > IDLE_BACKENDS_MAX) {
            latch_list_remove(link);
            latch_list_append(&surplus, link);
        }
    }
    php_latch_backends_close(&surplus);
}

/* Adds a reference; NULL when there is none. */
static php_latch_backend *backend_find(const char *name, const char *identity, size_t length)
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

static void backend_register(php_latch_backend *backend, const char *identity, size_t length)
{
    backend->identity = zend_string_init(identity, length, 1);
    latch_list_append(&LATCH_G(shared_backends), &backend->link);
}

php_latch_backend *php_latch_backend_get(const char *name, zend_string *identity,
                                         const latch_store_options *options)
{
    php_latch_backend *backend = backend_find(name, ZSTR_VAL(identity), ZSTR_LEN(identity));

    if (backend == NULL) {
        backend = php_latch_backend_open(&php_latch_locks, name, options);
        if (backend != NULL) {
            backend_register(backend, ZSTR_VAL(identity), ZSTR_LEN(identity));
        }
    }
    return backend;
}

php_latch_backend *php_latch_backend_share(latch_store *store)
{
    const char *identity = latch_store_identity(store);
    php_latch_backend *backend =
        backend_find(latch_store_describe(store)->name, identity, strlen(identity));

    if (backend != NULL) {
        latch_store_close(store);
        return backend;
    }
    backend = backend_make(store);
    backend_register(backend, identity, strlen(identity));
    return backend;
}

php_latch_backend *php_latch_backend_find_on_connection(const char *name,
                                                        const zend_object *connection)
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

php_latch_backend *php_latch_backend_share_on_connection(latch_store *store,
                                                         zend_object *connection)
{
    php_latch_backend *backend = backend_make(store);

    backend->connection = connection;
    latch_list_append(&LATCH_G(shared_backends), &backend->link);
    return backend;
}

static void close_backend(php_latch_backend *backend)
{
    const php_latch_backend_ops *ops = backend->ops;
    php_latch_backend *locks = backend->locks;
    void *data = backend->data;

    if (backend->identity != NULL || backend->connection != NULL) {
        latch_list_remove(&backend->link);
    }
    if (backend->identity != NULL) {
        zend_string_release(backend->identity);
    }
    latch_store_close(backend->store);
    pefree(backend, 1);
    if (ops != NULL) {
        ops->free(data); /* the members go last */
    }
    if (locks != NULL) {
        locks->slots = NULL;
        php_latch_backend_release(locks);
    }
}

php_latch_backend *php_latch_backend_of_slots(php_latch_backend *locks)
{
    const latch_store_options options = {.members = &locks->store, .member_count = 1};

    if (locks->slots != NULL) {
        locks->slots->references++;
        return locks->slots;
    }
    locks->slots = php_latch_backend_open(&php_latch_semaphores, "slots", &options);
    if (locks->slots != NULL) {
        locks->slots->locks = locks;
        locks->references++;
    }
    return locks->slots;
}

bool php_latch_backends_release_sessions(void)
{
    latch_link *shared = &LATCH_G(shared_backends);
    bool found = false;

    for (latch_link *link = shared->next; link != shared;) {
        php_latch_backend *backend = LATCH_CONTAINER(link, php_latch_backend, link);

        link = link->next;
        if (backend->connection != NULL && backend->references == 0) {
            close_backend(backend);
            link = shared->next; /* PHP code may have changed the list */
        } else if (backend->connection != NULL) {
            found = true;
        }
    }
    return found;
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
        close_backend(LATCH_CONTAINER(backends->next, php_latch_backend, link));
    }
}

void php_latch_backend_release(php_latch_backend *backend)
{
    if (--backend->references > 0) {
        return;
    }
    if (backend->identity != NULL) {
        /* Kept with its idle files and connections for the next object and request. At the end of
           a request none is closed: it may be the end of the process, which closes all together. */
        if ((EG(flags) & EG_FLAGS_IN_SHUTDOWN) == 0) {
            php_latch_backends_close_surplus();
        }
    } else if (backend->connection == NULL || !php_latch_is_out_of_memory()) {
        close_backend(backend);
        php_latch_rethrow_deferred(LATCH_DONE);
    } /* else its locks are released when the request ends */
}
