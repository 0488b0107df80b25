/* Latch\Store\RedisStringStore; the store methods are in ext/store/store_methods.c. */
#include "ext/store/redis/redis_store.h"

#include "ext/key/key.h"
#include "ext/php/client_object.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/inspection.h"
#include "ext/store/redis/client.h"

#include "zend_attributes.h"
#include "zend_exceptions.h"

#include "stubs/redis_string_store_arginfo.h"

#include <math.h>

#define REDIS_STRING "redis-string" /* the engine's store */

PHP_METHOD(Latch_Store_RedisStringStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    bool ttl_is_null = true;
    double ttl = 0;
    zval *redis;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ZVAL(redis)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(ttl, ttl_is_null)
    ZEND_PARSE_PARAMETERS_END();

    if (!ttl_is_null && (!isfinite(ttl) || ttl <= 0)) {
        php_latch_throw_argument(php_latch_invalid_ttl_ce, 2, "initialTtl",
                                 "must be null or more than 0 seconds");
        RETURN_THROWS();
    }
    php_latch_redis_store_construct(store, REDIS_STRING, &php_latch_locks, redis,
                                    ttl_is_null ? 0 : php_latch_ttl_ms(ttl));
}

PHP_METHOD(Latch_Store_RedisStringStore, key)
{
    zend_string *name, *owner, *state_name;
    const char *state = latch_store_find(REDIS_STRING)->state_name;
    zval token;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_STR(name)
        Z_PARAM_STR(owner)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_resource(&php_latch_locks, name)) {
        RETURN_THROWS();
    }
    if (ZSTR_LEN(owner) < 1 || ZSTR_LEN(owner) > LATCH_OWNER_MAX) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 2, "owner",
                                 "must have 1 to 1024 bytes");
        RETURN_THROWS();
    }
    php_latch_key_make(return_value, name);
    ZVAL_STR(&token, zend_string_concat2(" ", 1, ZSTR_VAL(owner), ZSTR_LEN(owner)));
    state_name = zend_string_init(state, strlen(state), 0);
    php_latch_key_set_state(Z_OBJ_P(return_value), state_name, &token);
    zend_string_release(state_name);
}

PHP_METHOD(Latch_Store_RedisStringStore, release)
{
    bool was_held = true;
    const latch_request request = {.kind = LATCH_RELEASE, .was_held = &was_held};
    zend_object *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL(php_latch_store_run(Z_OBJ_P(ZEND_THIS), key, &request) && was_held);
}

PHP_METHOD(Latch_Store_RedisStringStore, owner)
{
    zend_object *key;
    zend_string *resource;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    resource = php_latch_key_resource(key);
    if (resource != NULL) {
        php_latch_store_tell_owner(Z_OBJ_P(ZEND_THIS), resource, return_value);
    }
}

PHP_METHOD(Latch_Store_RedisStringStore, evict)
{
    zend_object *key;
    zend_string *resource;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    resource = php_latch_key_resource(key);
    if (resource != NULL) {
        RETVAL_BOOL(php_latch_store_evict_all(Z_OBJ_P(ZEND_THIS), resource));
    }
}

static void register_redis_string_store(void)
{
    register_class_Latch_Store_RedisStringStore(php_latch_persisting_store_ce)->create_object =
        php_latch_redis_store_create;
}

static const php_latch_dsn_form forms[] = {
    PHP_LATCH_DSN_OFFERED("redis+string:", php_latch_make_store_of_dsn, "redis+string://…",
                          "Redis, in Laravel's layout"),
    PHP_LATCH_DSN("rediss+string:", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_OFFERED("valkey+string:", php_latch_make_store_of_dsn, "valkey+string://…",
                          "Valkey, in Laravel's layout"),
    PHP_LATCH_DSN("valkeys+string:", php_latch_make_store_of_dsn),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_redis_string_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "RedisStringStore",
        .store = REDIS_STRING,
        .register_class = register_redis_string_store,
        .forms = forms,
        .clients = PHP_LATCH_REDIS_CLASSES,
        .without = "no",
    },
    PHP_LATCH_STORE_CLASS_END,
};
