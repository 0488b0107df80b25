/*
 * Latch\Store\CombinedStore: its constructor, and its operations as a back end. The engine asks the
 * members (src/store/combined/combined.c); those that are written in PHP by their methods
 * (members.c). The store methods are in ext/store/store_methods.c.
 */
#include "ext/store/combined/combined.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/log.h"
#include "ext/store/store_class.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/combined_store_arginfo.h"

static zend_class_entry *combined_store_ce;

enum { PROPERTY_STORES, PROPERTY_STRATEGY, PROPERTY_LOGGER };

static zend_object *create_combined_store(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

/* The old value is the caller's to free, which may call a destructor. */
static void replace_property(zend_object *store, int index, zval *value, zval *old)
{
    zval *slot = OBJ_PROP_NUM(store, index);

    ZVAL_DEREF(slot);
    ZVAL_COPY_VALUE(old, slot);
    ZVAL_COPY(slot, value);
}

/* Not a new reference; NULL when there is none. */
zend_object *php_latch_combined_store_logger(zend_object *store)
{
    zval *slot = OBJ_PROP_NUM(store, PROPERTY_LOGGER);

    ZVAL_DEREF(slot);
    return Z_TYPE_P(slot) == IS_OBJECT ? Z_OBJ_P(slot) : NULL;
}

/* ---- The back end ------------------------------------------------------------------------------
 */

static void throw_member(zval *store)
{
    zval function, type;

    ZVAL_STRING(&function, "get_debug_type");
    ZVAL_UNDEF(&type);
    call_user_function(NULL, NULL, &function, &type, 1, store);
    zval_ptr_dtor(&function);
    if (Z_TYPE(type) == IS_STRING && EG(exception) == NULL) {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "The store must implement \"%s\". Got \"%s\".",
                                ZSTR_VAL(php_latch_persisting_store_ce->name), Z_STRVAL(type));
    }
    zval_ptr_dtor(&type);
}

static bool check_members(HashTable *stores)
{
    zval *store;

    if (zend_hash_num_elements(stores) == 0 && !LATCH_G(symfony)) {
        php_latch_throw_argument(php_latch_invalid_argument_ce, 1, "stores",
                                 "must not be empty; pass at least one store to hold the lock in");
        return false;
    }
    ZEND_HASH_FOREACH_VAL(stores, store)
    {
        ZVAL_DEREF(store);
        if (Z_TYPE_P(store) != IS_OBJECT
            || !instanceof_function(Z_OBJCE_P(store), php_latch_persisting_store_ce)) {
            throw_member(store);
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

static void combined_detach(php_latch_combined_backend *combined)
{
    zend_object *strategy = combined->strategy;

    for (size_t at = 0; at < combined->count; at++) {
        php_latch_member *member = &combined->members[at];
        zend_object *store = member->store;

        member->store = NULL;
        if (member->called != NULL) {
            *member->called = NULL;
        }
        if (store != NULL) {
            OBJ_RELEASE(store);
        }
    }
    combined->strategy = NULL;
    if (strategy != NULL) {
        OBJ_RELEASE(strategy);
    }
}

static void combined_free(void *data)
{
    php_latch_combined_backend *combined = data;

    for (size_t at = 0; at < combined->count; at++) {
        php_latch_backend_release(combined->members[at].backend);
    }
    pefree(combined, 1);
}

/* Adds a member; false after throwing. */
static bool add_member(php_latch_combined_backend *combined, zend_object *store)
{
    php_latch_member *member = &combined->members[combined->count];

    *member = (php_latch_member){.store = store};
    if (php_latch_store_is_native(store)) {
        const php_latch_store *native = php_latch_store_of(store);

        member->backend = php_latch_store_backend(store);
        if (member->backend == NULL) {
            return false;
        }
        member->backend->references++;
        member->initial_ttl_ms = native->initial_ttl_ms;
        member->remove_on_release = native->remove_on_release;
        member->pass_on = native->pass_on;
    } else {
        member->backend = php_latch_called_backend_open(store, &member->called);
        if (member->backend == NULL) {
            return false;
        }
        combined->calls_php = true;
    }
    GC_ADDREF(store);
    combined->count++;
    return true;
}

/* NULL after throwing. */
static php_latch_combined_backend *make_combined(HashTable *stores, zend_object *strategy)
{
    size_t size = zend_hash_num_elements(stores);
    php_latch_combined_backend *combined =
        pecalloc(1, sizeof(*combined) + size * sizeof(php_latch_member), 1);
    zval *store;

    combined->own = php_latch_own_strategy(strategy);
    combined->calls_php = combined->own == NULL || size == 0;
    combined->strategy = strategy;
    GC_ADDREF(strategy);
    ZEND_HASH_FOREACH_VAL(stores, store)
    {
        ZVAL_DEREF(store);
        if (!add_member(combined, Z_OBJ_P(store))) {
            combined_detach(combined);
            combined_free(combined);
            return NULL;
        }
    }
    ZEND_HASH_FOREACH_END();
    return combined;
}

/* ---- php_latch_backend_ops ------------------------------------------------------------------ */

static void detach_backend(php_latch_backend *backend)
{
    combined_detach(backend->data);
}

static void collect_backend(const php_latch_backend *backend, zend_get_gc_buffer *buffer)
{
    const php_latch_combined_backend *combined = backend->data;

    for (size_t at = 0; at < combined->count; at++) {
        if (combined->members[at].store != NULL) {
            zend_get_gc_buffer_add_obj(buffer, combined->members[at].store);
        }
    }
    if (combined->strategy != NULL) {
        zend_get_gc_buffer_add_obj(buffer, combined->strategy);
    }
}

static const php_latch_backend_ops combined_ops = {
    .detach = detach_backend,
    .collect = collect_backend,
    .free = combined_free,
    .join = php_latch_combined_join,
    .detach_members = php_latch_combined_detach_members,
    .contains = php_latch_combined_contains,
    .for_each_part = php_latch_combined_for_each_part,
    .configure = php_latch_combined_configure,
    .holds_in_part = php_latch_combined_holds_in_part,
    .release_parts = php_latch_combined_release_parts,
    .find_deadlock = php_latch_combined_find_deadlock,
    .logs = php_latch_combined_logs,
    .log_outcome = php_latch_combined_log_outcome,
    .log_too_late = php_latch_combined_log_too_late,
};

/* NULL after throwing; consumes `combined`. */
static php_latch_backend *open_combined(php_latch_combined_backend *combined)
{
    const latch_strategy strategy = php_latch_combined_strategy(combined);
    latch_store **members = safe_emalloc(combined->count + 1, sizeof(*members), 0);
    const latch_store_options options = {
        .strategy = &strategy,
        .members = members,
        .member_count = combined->count,
    };
    php_latch_backend *backend;

    for (size_t at = 0; at < combined->count; at++) {
        members[at] = combined->members[at].backend->store;
    }
    backend = php_latch_backend_open(&php_latch_locks, "combined", &options);
    efree(members);
    if (backend == NULL) {
        combined_detach(combined);
        combined_free(combined);
        return NULL;
    }
    backend->ops = &combined_ops;
    backend->data = combined;
    backend->member_count = combined->count;
    backend->calls_php = combined->calls_php;
    return backend;
}

PHP_METHOD(Latch_Store_CombinedStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    zval *stores, *strategy, old_stores, old_strategy;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_ARRAY(stores)
        Z_PARAM_OBJECT_OF_CLASS(strategy, php_latch_strategy_ce)
    ZEND_PARSE_PARAMETERS_END();
    if (store->backend != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
        RETURN_THROWS();
    }
    replace_property(&store->std, PROPERTY_STORES, stores, &old_stores);
    replace_property(&store->std, PROPERTY_STRATEGY, strategy, &old_strategy);
    if (check_members(Z_ARR_P(stores))) {
        php_latch_combined_backend *combined = make_combined(Z_ARR_P(stores), Z_OBJ_P(strategy));

        store->backend = combined != NULL ? open_combined(combined) : NULL;
    }
    /* Releases the values of a failed constructor. Last: a destructor may call the constructor
       again. */
    zval_ptr_dtor(&old_stores);
    zval_ptr_dtor(&old_strategy);
}

PHP_METHOD(Latch_Store_CombinedStore, setLogger)
{
    zval *logger, old;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJECT(logger)
    ZEND_PARSE_PARAMETERS_END();
    if (!php_latch_check_logger(Z_OBJ_P(logger))) {
        RETURN_THROWS();
    }
    replace_property(Z_OBJ_P(ZEND_THIS), PROPERTY_LOGGER, logger, &old);
    zval_ptr_dtor(&old);
}

static void register_combined_store(void)
{
    php_latch_register_strategies();
    combined_store_ce = register_class_Latch_Store_CombinedStore(php_latch_shared_store_ce);
    combined_store_ce->create_object = create_combined_store;
    if (php_latch_logger_aware_ce != NULL) {
        zend_class_implements(combined_store_ce, 1, php_latch_logger_aware_ce);
    }
}

const php_latch_store_class php_latch_combined_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "CombinedStore",
        .store = "combined",
        .register_class = register_combined_store,
    },
    PHP_LATCH_STORE_CLASS_END,
};
