/* Latch\Store\InMemoryStore and Latch\Store\NullStore; their methods are in store_methods.c. */
#include "ext/store/engine_store.h"

#include "ext/php/interfaces.h"
#include "ext/store/store_class.h"

#include "stubs/in_memory_store_arginfo.h"
#include "stubs/null_store_arginfo.h"

static zend_object *create_opened_store(zend_class_entry *ce, const char *name)
{
    php_latch_store *store = php_latch_store_create(ce);

    store->backend = php_latch_backend_open(&php_latch_locks, name, NULL);
    return &store->std;
}

static zend_object *create_in_memory(zend_class_entry *ce)
{
    return create_opened_store(ce, "in-memory");
}

static zend_object *create_null(zend_class_entry *ce)
{
    return create_opened_store(ce, "null");
}

static void register_in_memory(void)
{
    register_class_Latch_Store_InMemoryStore(php_latch_shared_store_ce)->create_object =
        create_in_memory;
}

static void register_null(void)
{
    register_class_Latch_Store_NullStore(php_latch_blocking_shared_store_ce)->create_object =
        create_null;
}

static const php_latch_dsn_form in_memory_forms[] = {
    PHP_LATCH_DSN_OFFERED("in-memory", php_latch_make_store_plain, "in-memory",
                          "memory of one process"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_memory_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "InMemoryStore",
        .store = "in-memory",
        .register_class = register_in_memory,
        .forms = in_memory_forms,
    },
    PHP_LATCH_STORE_CLASS_END,
};

static const php_latch_dsn_form null_forms[] = {
    PHP_LATCH_DSN_OFFERED("null", php_latch_make_store_plain, "null", "no locks at all"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_null_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "NullStore",
        .store = "null",
        .register_class = register_null,
        .forms = null_forms,
    },
    PHP_LATCH_STORE_CLASS_END,
};
