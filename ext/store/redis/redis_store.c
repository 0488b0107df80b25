/* Latch\Store\RedisStore; the store methods are in ext/store/store_methods.c. */
#include "ext/store/redis/redis_store.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/redis/client.h"
#include "ext/store/stores.h"

#include "zend_attributes.h"
#include "zend_exceptions.h"

#include "stubs/redis_store_arginfo.h"

#include <math.h>

#define DEFAULT_TTL_S 300.0
#define NO_REDIS                                                                                   \
    "this build of Latch has no RedisStore: build it again where hiredis and pkg-config are "      \
    "installed"

static zend_class_entry *redis_store_ce;

static zend_object *create_redis_store(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

/* Throws with Symfony's message. */
static void throw_ttl(zend_class_entry *ce, double ttl)
{
    zend_throw_exception_ex(php_latch_invalid_ttl_ce, 0,
                            "\"%s::__construct()\" expects a strictly positive TTL. Got %g.",
                            ZSTR_VAL(ce->name), ttl);
}

void php_latch_throw_redis_dsn(const latch_error *error, const char *argument)
{
    char problem[sizeof(error->message) + 32];

    if (error->status == LATCH_ERROR_ARGUMENT || error->status == LATCH_ERROR_UNSUPPORTED) {
        snprintf(problem, sizeof(problem), "is not usable: %s", error->message);
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, argument, problem);
    } else {
        zend_throw_exception(php_latch_storage_ce, error->message, 0);
    }
}

static latch_status open_store(php_latch_store *store, zend_string *dsn, double ttl,
                               latch_error *error)
{
#ifdef LATCH_WITH_REDIS
    const latch_store_options options = {.dsn = ZSTR_VAL(dsn), .dsn_length = ZSTR_LEN(dsn)};
    latch_store *opened = latch_store_open(php_latch_engine, "redis", &options, error);

    if (opened == NULL) {
        return error->status;
    }
    store->backend = php_latch_backend_share(opened);
    store->initial_ttl_ms = php_latch_ttl_ms(ttl);
    return LATCH_DONE;
#else
    *error = (latch_error){
        .status = LATCH_ERROR_UNSUPPORTED,
        .message = NO_REDIS,
    };
    return error->status;
#endif
}

latch_status php_latch_redis_store_make(zval *store, zend_string *dsn, latch_error *error)
{
    php_latch_store *made = php_latch_store_create(redis_store_ce);
    latch_status status = open_store(made, dsn, DEFAULT_TTL_S, error);

    if (status == LATCH_DONE) {
        ZVAL_OBJ(store, &made->std);
    } else {
        OBJ_RELEASE(&made->std);
    }
    return status;
}

/* Opens the store on a client object. After throwing it has no back end. */
static void open_on_client(php_latch_store *store, zend_object *client, double ttl)
{
#ifdef LATCH_WITH_REDIS
    latch_redis_runner runner;
    latch_store_options options = {.redis_runner = &runner};
    latch_store *opened;
    latch_error error;

    store->initial_ttl_ms = php_latch_ttl_ms(ttl);
    store->backend = php_latch_backend_find_on_connection("redis", client);
    if (store->backend != NULL || !php_latch_redis_runner(client, &runner)) {
        return;
    }
    opened = latch_store_open(php_latch_engine, "redis", &options, &error);
    if (opened == NULL) {
        runner.close(runner.context);
        zend_throw_exception(php_latch_storage_ce, error.message, 0);
        return;
    }
    store->backend = php_latch_backend_share_on_connection(opened, client);
#else
    (void) store;
    (void) client;
    (void) ttl;
    zend_throw_exception(php_latch_invalid_argument_ce, NO_REDIS, 0);
#endif
}

PHP_METHOD(Latch_Store_RedisStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    double ttl = DEFAULT_TTL_S;
    zend_string *dsn = NULL;
    latch_error error;
    zval *redis;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ZVAL(redis)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();

    if (store->backend != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
        RETURN_THROWS();
    }
    if (!(Z_TYPE_P(redis) == IS_OBJECT && php_latch_is_redis_client(Z_OBJ_P(redis)))
        && (Z_TYPE_P(redis) == IS_NULL || !zend_parse_arg_str(redis, &dsn, false, 1))) {
        if (EG(exception) == NULL) {
            zend_argument_type_error(1,
                                     "must be of type " PHP_LATCH_REDIS_CLASSES "|string, %s given",
                                     zend_zval_type_name(redis));
        }
        RETURN_THROWS();
    }
    if (!isfinite(ttl) || ttl <= 0) {
        throw_ttl(store->std.ce, ttl);
        RETURN_THROWS();
    }
    if (dsn == NULL) {
        open_on_client(store, Z_OBJ_P(redis), ttl);
    } else if (open_store(store, dsn, ttl, &error) != LATCH_DONE) {
        php_latch_throw_redis_dsn(&error, "redis");
    }
}

void php_latch_register_redis_store(void)
{
    redis_store_ce = register_class_Latch_Store_RedisStore(php_latch_shared_store_ce);
    redis_store_ce->create_object = create_redis_store;
}
