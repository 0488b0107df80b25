/*
 * Fallback of StoreFactory in drop-in mode: for what Latch has no store, the classes of Composer's
 * packages serve, which are on Latch's interfaces there. They are made as Symfony's own factory
 * makes them. Under Latch's own names they would not fit.
 */
#include "ext/store/store_class.h"

#include "ext/php/interfaces.h"

#include "zend_exceptions.h"

#define COMPOSER_STORE "Symfony\\Component\\Lock\\Store\\"

/* ---- Clients that Composer's packages make -------------------------------------------------- */

/* Makes a store of what that static method returns; it gets the DSN, and the options if there are
 * some. */
static void make_with_client(const php_latch_store_class *class, zend_class_entry *maker,
                             zend_string *dsn, HashTable *options, zval *store)
{
    zend_function *method =
        zend_hash_str_find_ptr(&maker->function_table, ZEND_STRL("createconnection"));
    zval arguments[2], client;

    if (method == NULL) {
        return;
    }
    ZVAL_STR(&arguments[0], dsn);
    if (options != NULL) {
        ZVAL_ARR(&arguments[1], options);
    }
    ZVAL_UNDEF(&client);
    zend_call_known_function(method, NULL, maker, &client, options != NULL ? 2 : 1, arguments,
                             NULL);
    if (EG(exception) == NULL) {
        php_latch_make_store(class, 1, &client, store);
    }
    zval_ptr_dtor(&client);
}

void php_latch_make_store_by_cache(const php_latch_primitive *primitive,
                                   const php_latch_store_class *class, zend_string *dsn,
                                   const latch_error *why, zval *store)
{
    zend_class_entry *adapter =
        php_latch_load_class("Symfony\\Component\\Cache\\Adapter\\AbstractAdapter");
    HashTable *options;
    zval lazy;

    if (adapter == NULL) {
        if (EG(exception) == NULL) {
            if (why != NULL) {
                php_latch_throw_dsn(primitive, why, "connection");
            }
            zend_throw_exception_ex(primitive->invalid_argument, 0,
                                    "Unsupported %s DSN. Try running \"composer require "
                                    "symfony/cache\".",
                                    primitive->servers_by_cache);
        }
        return;
    }
    options = zend_new_array(1);
    ZVAL_TRUE(&lazy);
    zend_hash_str_add_new(options, ZEND_STRL("lazy"), &lazy);
    make_with_client(class, adapter, dsn, options, store);
    zend_array_release(options);
}

static void make_by_cache(const php_latch_store_class *class, const php_latch_dsn_form *form,
                          zend_string *dsn, zval *store)
{
    (void) form;
    php_latch_make_store_by_cache(&php_latch_locks, class, dsn, NULL, store);
}

static void make_zookeeper(const php_latch_store_class *class, const php_latch_dsn_form *form,
                           zend_string *dsn, zval *store)
{
    zend_class_entry *ce = php_latch_load_class(class->name);

    (void) form;
    if (ce != NULL) {
        make_with_client(class, ce, dsn, NULL, store);
    }
}

/* ---- Their classes -------------------------------------------------------------------------- */

/* As Symfony's classes are: exclusive locks, with $initialTtl = 300.0. */
static const latch_store_info expiring = {
    .name = "composer",
    .title = "Composer's store",
    .capabilities = LATCH_EXPIRING,
    .scope = LATCH_SCOPE_SERVER,
    .default_ttl_ms = 300 * 1000,
};
static const latch_store_info lasting = {
    .name = "composer",
    .title = "Composer's store",
    .scope = LATCH_SCOPE_SERVER,
};

static const php_latch_dsn_form dynamodb_forms[] = {
    PHP_LATCH_DSN("dynamodb://", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_END,
};
static const php_latch_dsn_form memcached_forms[] = {
    PHP_LATCH_DSN("memcached:", make_by_cache),
    PHP_LATCH_DSN_END,
};
static const php_latch_dsn_form mongodb_forms[] = {
    PHP_LATCH_DSN("mongodb:", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN("mongodb+srv:", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_END,
};
static const php_latch_dsn_form zookeeper_forms[] = {
    PHP_LATCH_DSN("zookeeper://", make_zookeeper),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_composer_classes[] = {
    {
        .name = "Symfony\\Component\\Lock\\Bridge\\DynamoDb\\Store\\DynamoDbStore",
        .info = &expiring,
        .forms = dynamodb_forms,
        .clients = "AsyncAws\\DynamoDb\\DynamoDbClient",
        .takes_clients = true,
        .package = "symfony/amazon-dynamo-db-lock",
    },
    {
        .name = COMPOSER_STORE "MemcachedStore",
        .info = &expiring,
        .forms = memcached_forms,
        .clients = "Memcached",
        .takes_clients = true,
    },
    {
        .name = COMPOSER_STORE "MongoDbStore",
        .info = &expiring,
        .forms = mongodb_forms,
        .clients = "MongoDB\\Collection",
        .takes_clients = true,
    },
    {
        .name = COMPOSER_STORE "ZookeeperStore",
        .info = &lasting,
        .forms = zookeeper_forms,
        .clients = "Zookeeper",
        .takes_clients = true,
    },
    PHP_LATCH_STORE_CLASS_END,
};
