/* The store methods that tell who holds: inspect() and listHeld(), the same for all our stores. */
#include "php_latch.h"

#include "zend_exceptions.h"

/* Where the store knows its holders by their sessions with the server, not by processes. */
static bool knows_sessions(const latch_store *store)
{
    return (latch_store_describe(store)->capabilities & LATCH_SESSIONS) != 0;
}

static void make_holders(zval *list, const latch_store *store, const latch_finding *finding)
{
    const char *name = knows_sessions(store) ? "session" : "pid";

    array_init(list);
    for (const latch_holder *holder = finding->holders; holder != NULL; holder = holder->next) {
        zval entry;

        array_init_size(&entry, 1);
        add_assoc_long(&entry, name, (zend_long) holder->number);
        add_next_index_zval(list, &entry);
    }
}

static void make_finding(zval *entry, const latch_store *store, const latch_finding *finding)
{
    static const char *const modes[] = {
        [LATCH_SHARED] = "shared",
        [LATCH_EXCLUSIVE] = "exclusive",
    };
    zval holders;

    array_init_size(entry, 3);
    add_assoc_string(entry, "name", finding->name);
    if (finding->mode == LATCH_FREE) {
        add_assoc_null(entry, "mode");
    } else {
        add_assoc_string(entry, "mode", modes[finding->mode]);
    }
    make_holders(&holders, store, finding);
    add_assoc_zval(entry, "holders", &holders);
}

static void make_list(zval *list, const latch_store *store, const latch_finding *findings)
{
    array_init(list);
    for (const latch_finding *finding = findings; finding != NULL; finding = finding->next) {
        zval entry;

        make_finding(&entry, store, finding);
        add_next_index_zval(list, &entry);
    }
}

static void fail(latch_op_kind kind, zend_string *resource, const latch_error *error)
{
    char after[sizeof(error->message) + 16];
    zval exception;

    if (kind == LATCH_LIST) {
        zend_throw_exception_ex(php_latch_storage_ce, 0, "Failed to list the locks: %s.",
                                error->message);
        return;
    }
    snprintf(after, sizeof(after), "\" lock: %s.", error->message);
    ZVAL_OBJ(&exception,
             php_latch_new_exception(php_latch_storage_ce, php_latch_take_client_failure(),
                                     "Failed to inspect the \"", resource, after));
    zend_throw_exception_object(&exception);
}

/* Asks the store; `make` turns what it answers into the method's result. */
static void inspect(zend_object *store, zend_string *resource, latch_op_kind kind,
                    void (*make)(zval *result, const latch_store *store,
                                 const latch_finding *findings),
                    zval *result)
{
    latch_finding *findings = NULL;
    const latch_request request = {.kind = kind, .findings = &findings};
    php_latch_backend *backend = php_latch_store_backend(store);
    volatile bool bailed_out = false;
    latch_status status;
    latch_lease lease;
    latch_error error;

    if (backend == NULL) {
        return;
    }
    latch_lease_init(&lease, backend->store, ZSTR_VAL(resource), ZSTR_LEN(resource));
    status = php_latch_run(&lease, &request, &error);
    latch_lease_drop(&lease);
    zend_try
    {
        if (status == LATCH_DONE) {
            make(result, backend->store, findings);
        }
    }
    zend_catch
    {
        bailed_out = true;
    }
    zend_end_try();
    latch_findings_free(php_latch_engine, findings);
    if (bailed_out) {
        zend_bailout();
    }
    if (LATCH_FAILED(status)) {
        fail(kind, resource, &error);
    }
}

PHP_METHOD(Latch_Store_NativeStore, inspect)
{
    zend_object *key;
    zend_string *resource;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
    ZEND_PARSE_PARAMETERS_END();
    resource = php_latch_key_resource(key);
    if (resource != NULL) {
        inspect(Z_OBJ_P(ZEND_THIS), resource, LATCH_INSPECT, make_finding, return_value);
    }
}

PHP_METHOD(Latch_Store_NativeStore, listHeld)
{
    ZEND_PARSE_PARAMETERS_NONE();
    inspect(Z_OBJ_P(ZEND_THIS), ZSTR_EMPTY_ALLOC(), LATCH_LIST, make_list, return_value);
}
