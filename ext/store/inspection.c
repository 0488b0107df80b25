/* Store methods that show the holders, inspect() and listHeld(), the same for all our stores. */
#include "ext/store/inspection.h"

#include "ext/key/key.h"
#include "ext/php/client_object.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"
#include "ext/store/engine_store.h"

#include "zend_exceptions.h"
#include "zend_smart_str.h"

/* Are the store's holders sessions with the server, not processes? */
static bool knows_sessions(const latch_store *store)
{
    return (latch_store_describe(store)->capabilities & LATCH_SESSIONS) != 0;
}

/* Do its holders leave holder information (LATCH_HOLDER_INFO)? */
static bool has_holder_info(const latch_store *store)
{
    return (latch_store_describe(store)->capabilities & LATCH_HOLDER_INFO) != 0;
}

static void add_inspected_text(zval *array, const char *name, const char *text)
{
    if (text != NULL) {
        add_assoc_string(array, name, text);
    } else {
        add_assoc_null(array, name);
    }
}

static void add_number(zval *array, const char *name, int64_t number, bool is_known)
{
    if (is_known) {
        add_assoc_long(array, name, (zend_long) number);
    } else {
        add_assoc_null(array, name);
    }
}

static void add_seconds(zval *array, const char *name, double seconds, bool is_known)
{
    if (is_known) {
        add_assoc_double(array, name, seconds);
    } else {
        add_assoc_null(array, name);
    }
}

static void describe_holder(zval *entry, const latch_holder *holder)
{
    array_init_size(entry, 7);
    add_number(entry, "pid", holder->number, holder->number != 0);
    add_inspected_text(entry, "host", holder->host);
    add_inspected_text(entry, "script", holder->script);
    add_seconds(entry, "since", (double) holder->since_us / 1e6, holder->since_us != 0);
    add_seconds(entry, "remaining", (double) holder->left_ms / 1e3, holder->left_ms != LATCH_NEVER);
    add_number(entry, "fencingToken", (int64_t) holder->fencing_token, holder->fencing_token != 0);
    add_assoc_string(entry, "id", holder->identity);
}

static void make_holders(zval *list, const latch_store *store, const latch_lock_report *report)
{
    const char *name = knows_sessions(store) ? "session" : "pid";

    array_init(list);
    for (const latch_holder *holder = report->holders; holder != NULL; holder = holder->next) {
        zval entry;

        if (has_holder_info(store)) {
            describe_holder(&entry, holder);
        } else {
            array_init_size(&entry, 1);
            add_assoc_long(&entry, name, (zend_long) holder->number);
        }
        add_next_index_zval(list, &entry);
    }
}

static void make_report(zval *entry, const latch_store *store, const latch_lock_report *report)
{
    static const char *const modes[] = {
        [LATCH_SHARED] = "shared",
        [LATCH_EXCLUSIVE] = "exclusive",
    };
    zval holders;

    array_init_size(entry, 5);
    add_assoc_stringl(entry, "name", report->name, report->name_length);
    if (report->mode == LATCH_FREE) {
        add_assoc_null(entry, "mode");
    } else {
        add_assoc_string(entry, "mode", modes[report->mode]);
    }
    make_holders(&holders, store, report);
    add_assoc_zval(entry, "holders", &holders);
    if (report->is_hashed) {
        add_assoc_bool(entry, "hashed", true);
    }
    if (has_holder_info(store)) {
        add_assoc_long(entry, "holderCount", (zend_long) report->holder_count);
        add_assoc_long(entry, "waiters", (zend_long) report->waiter_count);
    }
}

/* Of a semaphore; its holders may name different limits. */
static void make_permit_report(zval *entry, const latch_store *store,
                               const latch_lock_report *report)
{
    const latch_holder *holder = report->holders;
    zval holders, *described;

    make_holders(&holders, store, report);
    ZEND_HASH_FOREACH_VAL(Z_ARR(holders), described)
    {
        add_assoc_long(described, "weight", (zend_long) holder->permits.weight);
        add_number(described, "limit", holder->permits.limit, holder->permits.limit > 0);
        holder = holder->next;
    }
    ZEND_HASH_FOREACH_END();
    array_init_size(entry, 5);
    add_assoc_long(entry, "used", (zend_long) report->permits_used);
    add_assoc_zval(entry, "holders", &holders);
    add_assoc_long(entry, "holderCount", (zend_long) report->holder_count);
    add_assoc_long(entry, "waiters", (zend_long) report->waiter_count);
}

static void make_permits_used(zval *used, const latch_store *store, const latch_lock_report *report)
{
    (void) store;
    ZVAL_LONG(used, (zend_long) report->permits_used);
}

static void make_list(zval *list, const latch_store *store, const latch_lock_report *reports)
{
    array_init(list);
    for (const latch_lock_report *report = reports; report != NULL; report = report->next) {
        zval entry;

        make_report(&entry, store, report);
        add_next_index_zval(list, &entry);
    }
}

static void make_permit_list(zval *list, const latch_store *store, const latch_lock_report *reports)
{
    array_init(list);
    for (const latch_lock_report *report = reports; report != NULL; report = report->next) {
        zval entry;

        make_permit_report(&entry, store, report);
        add_assoc_stringl(&entry, "name", report->name, report->name_length);
        add_next_index_zval(list, &entry);
    }
}

static void throw_inspection_failure(const php_latch_primitive *primitive, latch_op_kind kind,
                                     zend_string *resource, const latch_error *error)
{
    char after[sizeof(error->message) + 16];
    zval exception;

    if (kind == LATCH_LIST) {
        zend_throw_exception_ex(primitive->storage, 0, "Failed to list the %ss: %s.",
                                primitive->noun, error->message);
        return;
    }
    snprintf(after, sizeof(after), ": %s.", error->message);
    ZVAL_OBJ(&exception,
             php_latch_new_failure(primitive, primitive->storage, php_latch_client_failure_take(),
                                   kind == LATCH_EVICT ? "Failed to take away the \""
                                                       : "Failed to inspect the \"",
                                   resource, after));
    zend_throw_exception_object(&exception);
}

/* Asks the store; `make` makes the method's result of the answer. */
static void run_inspection(const php_latch_primitive *primitive, zend_object *store,
                           zend_string *resource, const latch_permits *permits, latch_op_kind kind,
                           bool foreign,
                           void (*make)(zval *result, const latch_store *store,
                                        const latch_lock_report *reports),
                           zval *result)
{
    latch_lock_report *reports = NULL;
    const latch_request request = {.kind = kind,
                                   .permits = permits != NULL ? *permits : (latch_permits){0},
                                   .reports = &reports,
                                   .include_peer_locks = foreign};
    php_latch_backend *backend = php_latch_store_backend(store);
    volatile bool bailed_out = false;
    latch_status status;
    latch_lease lease;
    latch_error error;

    if (backend == NULL) {
        return;
    }
    (primitive->is_permit ? latch_permit_lease_init : latch_lease_init)(&lease, backend->store,
                                                                        ZSTR_VAL(resource),
                                                                        ZSTR_LEN(resource));
    status = php_latch_run_request(&lease, &request, &error);
    latch_lease_drop(&lease);
    zend_try
    {
        if (status == LATCH_DONE) {
            make(result, backend->store, reports);
        }
    }
    zend_catch
    {
        bailed_out = true;
    }
    zend_end_try();
    latch_lock_reports_free(php_latch_engine, reports);
    if (bailed_out) {
        zend_bailout();
    }
    if (latch_failed(status)) {
        throw_inspection_failure(primitive, kind, resource, &error);
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
        run_inspection(&php_latch_locks, Z_OBJ_P(ZEND_THIS), resource, NULL, LATCH_INSPECT, false,
                       make_report, return_value);
    }
}

/* False where the key was never constructed. */
static bool inspect_semaphore(zend_object *store, zend_object *key,
                              void (*make)(zval *result, const latch_store *store,
                                           const latch_lock_report *reports),
                              zval *result)
{
    zend_string *resource = php_latch_key_resource(key);
    latch_permits permits = php_latch_key_permits(key);

    if (resource == NULL) {
        return false;
    }
    zend_string_addref(resource); /* PHP code may run meanwhile */
    run_inspection(&php_latch_semaphores, store, resource, &permits, LATCH_INSPECT, false, make,
                   result);
    zend_string_release(resource);
    return true;
}

void php_latch_store_inspect_permits(zend_object *store, zend_object *key, zval *return_value)
{
    if (inspect_semaphore(store, key, make_permit_report, return_value)
        && Z_TYPE_P(return_value) == IS_ARRAY) {
        add_assoc_str(return_value, "name", zend_string_copy(php_latch_key_name(key)));
    }
}

bool php_latch_store_count_permits(zend_object *store, zend_object *key, zend_long *used)
{
    zval answer;

    ZVAL_UNDEF(&answer);
    inspect_semaphore(store, key, make_permits_used, &answer);
    if (Z_TYPE(answer) != IS_LONG || EG(exception) != NULL) {
        return false;
    }
    *used = Z_LVAL(answer);
    return true;
}

PHP_METHOD(Latch_Store_NativeStore, listHeld)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_latch_store_list_held(Z_OBJ_P(ZEND_THIS), false, return_value);
}

void php_latch_store_list_held(zend_object *store, bool foreign, zval *return_value)
{
    run_inspection(&php_latch_locks, store, ZSTR_EMPTY_ALLOC(), NULL, LATCH_LIST, foreign,
                   make_list, return_value);
}

void php_latch_store_list_permits(zend_object *store, bool foreign, zval *return_value)
{
    run_inspection(&php_latch_semaphores, store, ZSTR_EMPTY_ALLOC(), NULL, LATCH_LIST, foreign,
                   make_permit_list, return_value);
}

/* Runs the request on a lease of its own; false after throwing. */
static bool run_on_resource(zend_object *store, zend_string *resource, const latch_request *request)
{
    php_latch_backend *backend = php_latch_store_backend(store);
    latch_status status;
    latch_lease lease;
    latch_error error;

    if (backend == NULL) {
        return false;
    }
    latch_lease_init(&lease, backend->store, ZSTR_VAL(resource), ZSTR_LEN(resource));
    status = php_latch_run_request(&lease, request, &error);
    latch_lease_drop(&lease);
    if (latch_failed(status)) {
        throw_inspection_failure(&php_latch_locks, request->kind, resource, &error);
    }
    return !latch_failed(status) && EG(exception) == NULL;
}

static uint64_t evict(zend_object *store, zend_string *resource, const char *identities)
{
    uint64_t count = 0;
    const latch_request request = {.kind = LATCH_EVICT,
                                   .evicted = identities,
                                   .evicted_count = &count};

    run_on_resource(store, resource, &request);
    return count;
}

void php_latch_store_evict(zend_object *store, zend_string *resource, zend_string *identities,
                           zval *return_value)
{
    RETVAL_LONG((zend_long) evict(store, resource, ZSTR_VAL(identities)));
}

bool php_latch_store_evict_all(zend_object *store, zend_string *resource)
{
    return evict(store, resource, NULL) > 0;
}

void php_latch_store_tell_owner(zend_object *store, zend_string *resource, zval *return_value)
{
    latch_lock_report *reports = NULL;
    const latch_request request = {.kind = LATCH_INSPECT, .reports = &reports, .ask_owner = true};
    const latch_holder *holder = run_on_resource(store, resource, &request) ? reports->holders
                                                                            : NULL;

    if (holder != NULL) {
        RETVAL_STRINGL(holder->owner, holder->owner_length);
    }
    latch_lock_reports_free(php_latch_engine, reports);
}

/* The identities, with blanks between them; NULL after throwing. */
static zend_string *join_identities(HashTable *holders)
{
    smart_str joined = {0};
    zval *holder;

    ZEND_HASH_FOREACH_VAL(holders, holder)
    {
        ZVAL_DEREF(holder);
        if (Z_TYPE_P(holder) != IS_STRING || Z_STRLEN_P(holder) != LATCH_IDENTITY_LENGTH
            || strspn(Z_STRVAL_P(holder), "0123456789abcdef") != LATCH_IDENTITY_LENGTH) {
            smart_str_free(&joined);
            php_latch_throw_argument(php_latch_invalid_argument_ce, 2, "holders",
                                     "must be a list of ids as inspect() tells them");
            return NULL;
        }
        smart_str_appends(&joined, " ");
        smart_str_append(&joined, Z_STR_P(holder));
    }
    ZEND_HASH_FOREACH_END();
    smart_str_0(&joined);
    return joined.s != NULL ? joined.s : ZSTR_EMPTY_ALLOC();
}

PHP_METHOD(Latch_Store_NativeStore, forceRelease)
{
    zend_string *resource, *identities;
    zend_object *key;
    HashTable *holders;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_OBJ_OF_CLASS(key, php_latch_key_ce)
        Z_PARAM_ARRAY_HT(holders)
    ZEND_PARSE_PARAMETERS_END();
    resource = php_latch_key_resource(key);
    identities = resource != NULL ? join_identities(holders) : NULL;
    if (identities != NULL) {
        php_latch_store_evict(Z_OBJ_P(ZEND_THIS), resource, identities, return_value);
        zend_string_release(identities);
    }
}
