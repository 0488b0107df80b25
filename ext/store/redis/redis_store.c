/* Latch\Store\RedisStore; the store methods are in ext/store/store_methods.c. */
#include "ext/store/redis/redis_store.h"

#include "ext/key/key.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/inspection.h"
#include "ext/store/redis/client.h"

#include "ext/standard/info.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"

#include "stubs/redis_store_arginfo.h"

#include <math.h>

#define REDIS "redis" /* the engine's store */

zend_object *php_latch_redis_store_create(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

static int64_t default_ttl_ms(const char *name)
{
    return latch_store_find(name)->default_ttl_ms;
}

static latch_status open_store(php_latch_store *store, const char *name, zend_string *dsn,
                               latch_error *error)
{
    const latch_store_options options = {.dsn = ZSTR_VAL(dsn), .dsn_length = ZSTR_LEN(dsn)};
    latch_store *opened = latch_store_open(php_latch_engine, name, &options, error);

    if (opened == NULL) {
        return error->status;
    }
    store->backend = php_latch_backend_share(opened);
    return LATCH_DONE;
}

/* Makes the store without its constructor; leaves it as it is on failure. */
static latch_status make_on_dsn(zend_class_entry *ce, zval *store, zend_string *dsn,
                                latch_error *error)
{
    php_latch_store *made = php_latch_store_create(ce);
    latch_status status = open_store(made, REDIS, dsn, error);

    made->initial_ttl_ms = default_ttl_ms(REDIS);

    if (status == LATCH_DONE) {
        ZVAL_OBJ(store, &made->std);
    } else {
        OBJ_RELEASE(&made->std);
    }
    return status;
}

/* Opens the store on a client object. After throwing it has no back end. */
static void open_on_client(php_latch_store *store, const char *name,
                           const php_latch_primitive *primitive, zend_object *client)
{
    latch_redis_runner runner;
    latch_store_options options = {.redis_runner = &runner};
    latch_store *opened;
    latch_error error;

    store->backend = php_latch_backend_find_on_connection(name, client);
    if (store->backend != NULL || !php_latch_redis_runner(client, &runner)) {
        return;
    }
    opened = latch_store_open(php_latch_engine, name, &options, &error);
    if (opened == NULL) {
        runner.close(runner.context);
        zend_throw_exception(error.status == LATCH_ERROR_UNSUPPORTED ? primitive->invalid_argument
                                                                     : primitive->storage,
                             error.message, 0);
        return;
    }
    store->backend = php_latch_backend_share_on_connection(opened, client);
}

/* False after throwing: the argument is neither a client object nor a text, which *dsn gets. */
static bool parse_redis(zval *redis, zend_string **dsn)
{
    *dsn = NULL;
    if ((Z_TYPE_P(redis) == IS_OBJECT && php_latch_is_redis_client(Z_OBJ_P(redis)))
        || (Z_TYPE_P(redis) != IS_NULL && zend_parse_arg_str(redis, dsn, false, 1))) {
        return true;
    }
    if (EG(exception) == NULL) {
        zend_argument_type_error(1, "must be of type " PHP_LATCH_REDIS_CLASSES "|string, %s given",
                                 zend_zval_type_name(redis));
    }
    return false;
}

/* False after throwing: the constructor has been called before. */
static bool redis_store_is_new(const php_latch_store *store)
{
    if (store->backend != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
    }
    return store->backend == NULL;
}

void php_latch_redis_store_construct(php_latch_store *store, const char *name,
                                     const php_latch_primitive *primitive, zval *redis,
                                     int64_t ttl_ms)
{
    zend_string *dsn;
    latch_error error;

    if (!redis_store_is_new(store) || !parse_redis(redis, &dsn)) {
        return;
    }
    store->initial_ttl_ms = ttl_ms;
    if (dsn == NULL) {
        open_on_client(store, name, primitive, Z_OBJ_P(redis));
    } else if (open_store(store, name, dsn, &error) != LATCH_DONE) {
        php_latch_throw_dsn(primitive, &error, "redis");
    }
}

/* Throws with Symfony's message. */
static void throw_ttl(zend_class_entry *ce, double ttl)
{
    zend_throw_exception_ex(php_latch_invalid_ttl_ce, 0,
                            "\"%s::__construct()\" expects a strictly positive TTL. Got %g.",
                            ZSTR_VAL(ce->name), ttl);
}

PHP_METHOD(Latch_Store_RedisStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    double ttl = (double) default_ttl_ms(REDIS) / 1000;
    zend_string *dsn;
    zval *redis;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ZVAL(redis)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();

    if (!redis_store_is_new(store) || !parse_redis(redis, &dsn)) {
        RETURN_THROWS();
    }
    if (!isfinite(ttl) || ttl <= 0) {
        throw_ttl(store->std.ce, ttl);
        RETURN_THROWS();
    }
    php_latch_redis_store_construct(store, REDIS, &php_latch_locks, redis, php_latch_ttl_ms(ttl));
}

/* ---- Inspection ----------------------------------------------------------------------------- */

PHP_METHOD(Latch_Store_RedisStore, listHeld)
{
    bool foreign = false;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(foreign)
    ZEND_PARSE_PARAMETERS_END();
    php_latch_store_list_held(Z_OBJ_P(ZEND_THIS), foreign, return_value);
}

static void register_redis_store(void)
{
    register_class_Latch_Store_RedisStore(php_latch_shared_store_ce)->create_object =
        php_latch_redis_store_create;
}

/* ---- DSNs ----------------------------------------------------------------------------------- */

/*
 * Option that Symfony's connections ignore, except on Predis: processes with Latch and without
 * would not exclude each other. A match anywhere counts, as Composer's class serves a false
 * positive as well.
 */
static bool has_prefix(const zend_string *dsn, latch_error *error)
{
    if (strstr(ZSTR_VAL(dsn), "prefix=") == NULL) {
        return false;
    }
    *error = (latch_error){
        .status = LATCH_ERROR_UNSUPPORTED,
        .message = "Symfony's connections know no option \"prefix\"; leave it out, or make the "
                   "store by new Latch\\Store\\RedisStore()",
    };
    return true;
}

static void make_redis(const php_latch_store_class *class, const php_latch_dsn_form *form,
                       zend_string *dsn, zval *store)
{
    zend_class_entry *ce = php_latch_load_class(class->name);
    const php_latch_primitive *primitive = instanceof_function(ce, php_latch_semaphores.store)
                                               ? &php_latch_semaphores
                                               : &php_latch_locks;
    latch_error error;

    (void) form;
    if (!(php_latch_has_symfony_names(primitive) && has_prefix(dsn, &error))
        && make_on_dsn(ce, store, dsn, &error) == LATCH_DONE) {
        return;
    }
    if (php_latch_has_symfony_names(primitive) && error.status == LATCH_ERROR_UNSUPPORTED) {
        php_latch_make_store_by_cache(primitive, class, dsn, &error, store);
    } else {
        php_latch_throw_dsn(primitive, &error, "connection");
    }
}

static void print_info(void)
{
#if defined(LATCH_WITH_REDIS) && defined(LATCH_WITH_OPENSSL)
    php_info_print_table_row(2, "redis store, TLS", "yes (OpenSSL " LATCH_OPENSSL_VERSION ")");
#elif defined(LATCH_WITH_REDIS)
    php_info_print_table_row(2, "redis store, TLS", "no: built without OpenSSL");
#endif
}

const php_latch_dsn_form php_latch_redis_forms[] = {
    PHP_LATCH_DSN_OFFERED("redis:", make_redis, "redis://…", "Redis"),
    PHP_LATCH_DSN("rediss:", make_redis),
    PHP_LATCH_DSN_OFFERED("valkey:", make_redis, "valkey://…", "Valkey"),
    PHP_LATCH_DSN("valkeys:", make_redis),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_redis_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "RedisStore",
        .store = REDIS,
        .register_class = register_redis_store,
        .forms = php_latch_redis_forms,
        .clients = PHP_LATCH_REDIS_CLASSES,
        .takes_clients = true,
        .without = "no",
        .print_info = print_info,
    },
    PHP_LATCH_STORE_CLASS_END,
};
