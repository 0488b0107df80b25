/* Latch\Store\InMemoryStore and Latch\Store\NullStore; their methods are in store_methods.c. */
#include "ext/store/engine_store.h"

#include "ext/php/interfaces.h"
#include "ext/store/stores.h"

#include "stubs/in_memory_store_arginfo.h"
#include "stubs/null_store_arginfo.h"

static zend_object *create_opened_store(zend_class_entry *ce, const char *name)
{
    php_latch_store *store = php_latch_store_create(ce);

    store->backend = php_latch_backend_open(name, NULL);
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

void php_latch_register_memory_stores(void)
{
    register_class_Latch_Store_InMemoryStore(php_latch_shared_store_ce)->create_object =
        create_in_memory;
    register_class_Latch_Store_NullStore(php_latch_blocking_shared_store_ce)->create_object =
        create_null;
}
