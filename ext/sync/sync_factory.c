/* Latch\SyncFactory: makes versions, throttles and the like in one store. */
#include "ext/sync/sync.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/store_class.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_smart_str.h"

#include <math.h>

#include "stubs/sync_arginfo.h"

#define YEAR_S (365 * 86400)

/* The longest burst of a debounce without such a limit, 30 years: servers count in floating point.
 */
#define MAX_US INT64_C(946080000000000)

static zend_class_entry *version_ce, *throttle_ce, *count_down_ce, *sequence_ce, *debounce_ce;
zend_class_entry *php_latch_arrival_ce, *php_latch_place_ce, *php_latch_turn_ce,
    *php_latch_entry_ce, *php_latch_occurrence_ce;

/* "Latch\Store\FlockStore, Latch\Store\InMemoryStore and Latch\Store\RedisStore" */
static void add_names_of_able_stores(smart_str *names)
{
    const char *last = NULL;

    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        const latch_store_info *info = class->store != NULL ? latch_store_find(class->store) : NULL;

        if (info != NULL && (info->capabilities & LATCH_CALLS) != 0) {
            if (last != NULL) {
                smart_str_appends(names, smart_str_get_len(names) > 0 ? ", " : "");
                smart_str_appends(names, last);
            }
            last = class->name;
        }
    }
    smart_str_appends(names, " and ");
    smart_str_appends(names, last);
    smart_str_0(names);
}

static void throw_unable_store(zend_object *store)
{
    smart_str names = {0};

    add_names_of_able_stores(&names);
    zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                            "%s has no versions, throttles, count-downs, sequences and debounces; "
                            "%s have them",
                            ZSTR_VAL(store->ce->name), ZSTR_VAL(names.s));
    smart_str_free(&names);
}

PHP_METHOD(Latch_SyncFactory, __construct)
{
    php_latch_sync *factory = php_latch_sync_of(Z_OBJ_P(ZEND_THIS));
    php_latch_backend *backend;
    zend_object *store;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(store, php_latch_persisting_store_ce)
    ZEND_PARSE_PARAMETERS_END();
    if (factory->store != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(factory->std.ce->name));
        RETURN_THROWS();
    }
    backend = php_latch_store_of(store) != NULL ? php_latch_store_backend(store) : NULL;
    if (EG(exception) != NULL) {
        RETURN_THROWS();
    }
    if (backend == NULL
        || (latch_store_describe(backend->store)->capabilities & LATCH_CALLS) == 0) {
        throw_unable_store(store);
        RETURN_THROWS();
    }
    GC_ADDREF(store);
    factory->store = store;
}

/* A new object of the factory's store; NULL after throwing. */
static php_latch_sync *make_sync(zval *return_value, zend_object *factory, zend_class_entry *ce,
                                 zend_string *resource)
{
    php_latch_sync *maker = php_latch_sync_of(factory), *made;

    if (maker->store == NULL) {
        zend_throw_error(NULL, "%s::__construct() was not called", ZSTR_VAL(factory->ce->name));
        return NULL;
    }
    if (ZSTR_LEN(resource) == 0) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "resource",
                                 "must not be empty: give it a name");
        return NULL;
    }
    object_init_ex(return_value, ce);
    made = php_latch_sync_of(Z_OBJ_P(return_value));
    GC_ADDREF(maker->store);
    made->store = maker->store;
    made->resource = zend_string_copy(resource);
    return made;
}

/* False after throwing. */
static bool check_ttl(uint32_t number, double ttl)
{
    if (!isfinite(ttl) || ttl <= 0) {
        php_latch_throw_argument(php_latch_invalid_ttl_ce, number, "ttl",
                                 "must be a finite number of seconds above 0: all that a store "
                                 "keeps has to expire");
        return false;
    }
    return true;
}

static int64_t ttl_ms_of(double ttl)
{
    return php_latch_ttl_ms(ttl < 100.0 * YEAR_S ? ttl : 100.0 * YEAR_S);
}

/* createVersion() and createCountDown(). */
static void create_with_ttl(INTERNAL_FUNCTION_PARAMETERS, zend_class_entry *ce)
{
    zend_string *resource;
    php_latch_sync *made;
    double ttl = 7 * 86400;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(resource)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_ttl(2, ttl)) {
        RETURN_THROWS();
    }
    made = make_sync(return_value, Z_OBJ_P(ZEND_THIS), ce, resource);
    if (made != NULL) {
        made->ttl_ms = ttl_ms_of(ttl);
    }
}

PHP_METHOD(Latch_SyncFactory, createVersion)
{
    create_with_ttl(INTERNAL_FUNCTION_PARAM_PASSTHRU, version_ce);
}

PHP_METHOD(Latch_SyncFactory, createCountDown)
{
    create_with_ttl(INTERNAL_FUNCTION_PARAM_PASSTHRU, count_down_ce);
}

/* Throws, and returns false, for numbers of which no throttle can be made. */
static bool check_throttle(zend_long limit, double interval, zend_long burst)
{
    const char *name = "limit", *problem = NULL;
    uint32_t number = 2;

    if (limit < 1 || limit > (INT64_C(1) << 53)) {
        problem = "must be from 1 to 2^53";
    } else if (!isfinite(interval) || interval <= 0 || interval > YEAR_S) {
        number = 3;
        name = "interval";
        problem = "must be a number of seconds above 0, and a year at most";
    } else if ((double) limit > interval * 1e6) {
        problem = "must not be more than a million per second: the clock counts microseconds";
    } else if (burst < 1 || burst > limit) {
        number = 4;
        name = "burst";
        problem = "must be from 1 to $limit";
    }
    if (problem != NULL) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, number, name, problem);
    }
    return problem == NULL;
}

PHP_METHOD(Latch_SyncFactory, createThrottle)
{
    zend_string *resource;
    zend_long limit, burst = 1;
    php_latch_sync *made;
    double interval;

    ZEND_PARSE_PARAMETERS_START(3, 4)
        Z_PARAM_STR(resource)
        Z_PARAM_LONG(limit)
        Z_PARAM_DOUBLE(interval)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(burst)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_throttle(limit, interval, burst)) {
        RETURN_THROWS();
    }
    made = make_sync(return_value, Z_OBJ_P(ZEND_THIS), throttle_ce, resource);
    if (made != NULL) {
        made->step_us = (int64_t) ceil(interval * 1e6 / (double) limit);
        made->burst_us = made->step_us * (burst - 1);
    }
}

/* Throws, and returns false, for what is no lease. */
static bool check_lease(double lease, const zend_string *owner)
{
    if (!isfinite(lease) || lease <= 0 || lease > 1e9) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 3, "lease",
                                 "must be a number of seconds above 0, and 1e9 at most");
        return false;
    }
    if (owner != NULL && (ZSTR_LEN(owner) == 0 || ZSTR_LEN(owner) > LATCH_MEMBER_MAX)) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 4, "owner",
                                 "must be of getOwner(), of 1 to 1024 bytes, or null");
        return false;
    }
    return true;
}

PHP_METHOD(Latch_SyncFactory, createSequence)
{
    zend_string *resource, *owner = NULL;
    double ttl = 7 * 86400, lease = 30;
    php_latch_sync *made;

    ZEND_PARSE_PARAMETERS_START(1, 4)
        Z_PARAM_STR(resource)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE(ttl)
        Z_PARAM_DOUBLE(lease)
        Z_PARAM_STR_OR_NULL(owner)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_ttl(2, ttl) || !check_lease(lease, owner)) {
        RETURN_THROWS();
    }
    made = make_sync(return_value, Z_OBJ_P(ZEND_THIS), sequence_ce, resource);
    if (made != NULL) {
        made->ttl_ms = ttl_ms_of(ttl);
        made->lease_ms = (int64_t) ceil(lease * 1000);
        made->owner = owner != NULL ? zend_string_copy(owner) : NULL;
        made->is_owner_given = owner != NULL;
    }
}

PHP_METHOD(Latch_SyncFactory, createDebounce)
{
    double quiet, max = 0, ttl = 7 * 86400;
    bool max_is_null = true;
    zend_string *resource;
    php_latch_sync *made;

    ZEND_PARSE_PARAMETERS_START(2, 4)
        Z_PARAM_STR(resource)
        Z_PARAM_DOUBLE(quiet)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(max, max_is_null)
        Z_PARAM_DOUBLE(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!isfinite(quiet) || quiet <= 0 || quiet > YEAR_S) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 2, "quiet",
                                 "must be a number of seconds above 0, and a year at most");
        RETURN_THROWS();
    }
    if (!max_is_null && (!isfinite(max) || max < quiet || max > YEAR_S)) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 3, "max",
                                 "must be a number of seconds from $quiet to a year, or null");
        RETURN_THROWS();
    }
    if (!check_ttl(4, ttl)) {
        RETURN_THROWS();
    }
    made = make_sync(return_value, Z_OBJ_P(ZEND_THIS), debounce_ce, resource);
    if (made != NULL) {
        made->ttl_ms = ttl_ms_of(ttl);
        made->quiet_us = (int64_t) ceil(quiet * 1e6);
        made->max_us = max_is_null ? MAX_US : (int64_t) ceil(max * 1e6);
    }
}

void php_latch_register_sync(void)
{
    zend_class_entry *factory_ce = register_class_Latch_SyncFactory();

    php_latch_sync_startup();
    version_ce = register_class_Latch_Version();
    throttle_ce = register_class_Latch_Throttle();
    count_down_ce = register_class_Latch_CountDown();
    php_latch_arrival_ce = register_class_Latch_Arrival();
    sequence_ce = register_class_Latch_Sequence();
    php_latch_place_ce = register_class_Latch_Place();
    php_latch_turn_ce = register_class_Latch_Turn();
    php_latch_entry_ce = register_class_Latch_Entry();
    debounce_ce = register_class_Latch_Debounce();
    php_latch_occurrence_ce = register_class_Latch_Occurrence();
    factory_ce->create_object = version_ce->create_object = throttle_ce->create_object =
        count_down_ce->create_object = sequence_ce->create_object = debounce_ce->create_object =
            php_latch_sync_create;
}
