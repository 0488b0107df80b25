/*
 * Latch\Store\CombinedStore: its constructor and its life. The engine asks the members
 * (src/store/combined/combined.c); those that are written in PHP by their methods (members.c). The
 * store methods stand in ext/store/engine_store.c.
 */
#include "ext/store/combined/combined.h"
#include "ext/store/store_class.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "stubs/combined_store_arginfo.h"

static zend_class_entry *combined_store_ce;

enum { PROPERTY_STORES, PROPERTY_STRATEGY, PROPERTY_LOGGER };

static zend_object *create(zend_class_entry *ce)
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

/* ---- The combination ------------------------------------------------------------------------ */

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

/* Adds a member; false after throwing. */
static bool add_member(php_latch_combination *combination, zend_object *store)
{
    php_latch_member *member = &combination->members[combination->count];

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
        combination->is_native = false;
    }
    GC_ADDREF(store);
    combination->count++;
    return true;
}

/* NULL after throwing. */
static php_latch_combination *combine(HashTable *stores, zend_object *strategy)
{
    size_t size = zend_hash_num_elements(stores);
    php_latch_combination *combination =
        pecalloc(1, sizeof(*combination) + size * sizeof(php_latch_member), 1);
    zval *store;

    combination->own = php_latch_own_strategy(strategy);
    combination->is_native = combination->own != NULL && size > 0;
    combination->strategy = strategy;
    GC_ADDREF(strategy);
    ZEND_HASH_FOREACH_VAL(stores, store)
    {
        ZVAL_DEREF(store);
        if (!add_member(combination, Z_OBJ_P(store))) {
            php_latch_combination_leave(combination);
            php_latch_combination_free(combination);
            return NULL;
        }
    }
    ZEND_HASH_FOREACH_END();
    return combination;
}

void php_latch_combination_leave(php_latch_combination *combination)
{
    zend_object *strategy = combination->strategy;

    for (size_t at = 0; at < combination->count; at++) {
        php_latch_member *member = &combination->members[at];
        zend_object *store = member->store;

        member->store = NULL;
        if (member->called != NULL) {
            *member->called = NULL;
        }
        if (store != NULL) {
            OBJ_RELEASE(store);
        }
    }
    combination->strategy = NULL;
    if (strategy != NULL) {
        OBJ_RELEASE(strategy);
    }
}

void php_latch_combination_free(php_latch_combination *combination)
{
    for (size_t at = 0; at < combination->count; at++) {
        php_latch_backend_release(combination->members[at].backend);
    }
    pefree(combination, 1);
}

void php_latch_combination_collect(const php_latch_combination *combination,
                                   zend_get_gc_buffer *buffer)
{
    for (size_t at = 0; at < combination->count; at++) {
        if (combination->members[at].store != NULL) {
            zend_get_gc_buffer_add_obj(buffer, combination->members[at].store);
        }
    }
    if (combination->strategy != NULL) {
        zend_get_gc_buffer_add_obj(buffer, combination->strategy);
    }
}

/* NULL after throwing; consumes the combination. */
static php_latch_backend *open_backend(php_latch_combination *combination)
{
    const latch_strategy strategy = php_latch_combined_strategy(combination);
    latch_store **members = safe_emalloc(combination->count + 1, sizeof(*members), 0);
    const latch_store_options options = {
        .strategy = &strategy,
        .members = members,
        .member_count = combination->count,
    };
    php_latch_backend *backend;

    for (size_t at = 0; at < combination->count; at++) {
        members[at] = combination->members[at].backend->store;
    }
    backend = php_latch_backend_open("combined", &options);
    efree(members);
    if (backend == NULL) {
        php_latch_combination_leave(combination);
        php_latch_combination_free(combination);
        return NULL;
    }
    backend->combination = combination;
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
        php_latch_combination *combination = combine(Z_ARR_P(stores), Z_OBJ_P(strategy));

        store->backend = combination != NULL ? open_backend(combination) : NULL;
    }
    /* What a constructor that failed has left. Last: a destructor may call the constructor again.
     */
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

static void register_class(void)
{
    combined_store_ce = register_class_Latch_Store_CombinedStore(php_latch_shared_store_ce);
    combined_store_ce->create_object = create;
    if (php_latch_logger_aware_ce != NULL) {
        zend_class_implements(combined_store_ce, 1, php_latch_logger_aware_ce);
    }
}

const php_latch_store_class php_latch_combined_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "CombinedStore",
        .store = "combined",
        .register_class = register_class,
    },
    PHP_LATCH_STORE_CLASS_END,
};
