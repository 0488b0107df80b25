/*
 * Latch\Lease: what a key holds in one store, kept in the key's property `lease`, chained when the
 * key is used with several stores. Its end closes what the lease has open without releasing: that
 * is Lock's business.
 */
#include "ext/store/combined/combined.h"

#include "zend_exceptions.h"

#include "stubs/lease_arginfo.h"

zend_class_entry *php_latch_lease_ce;

static zend_object_handlers handlers;

php_latch_lease *php_latch_lease_from(zend_object *object)
{
    return LATCH_CONTAINER(object, php_latch_lease, std);
}

bool php_latch_lease_is_native(const php_latch_lease *lease)
{
    return lease->lease.store != NULL;
}

bool php_latch_lease_is_combined(const php_latch_lease *lease)
{
    return php_latch_lease_is_native(lease) && lease->parts != NULL;
}

zend_string *php_latch_lease_resource(const php_latch_lease *lease)
{
    return LATCH_CONTAINER(lease->lease.resource, zend_string, val);
}

php_latch_lease *php_latch_lease_first(zend_object *key)
{
    zval *slot = php_latch_key_lease_slot(key);

    /* PHP code has ways around the property's type (ArrayObject), so look at the handlers. */
    return Z_TYPE_P(slot) == IS_OBJECT && Z_OBJ_P(slot)->handlers == &handlers
               ? php_latch_lease_from(Z_OBJ_P(slot))
               : NULL;
}

php_latch_lease *php_latch_lease_next(const php_latch_lease *lease)
{
    return lease->next != NULL ? php_latch_lease_from(lease->next) : NULL;
}

/* Are all leases of the key this one, or parts of it? */
static bool has_all(zend_object *key, const php_latch_lease *lease)
{
    for (const php_latch_lease *other = php_latch_lease_first(key); other != NULL;
         other = php_latch_lease_next(other)) {
        if (other != lease && !php_latch_lease_has_part(lease, other)) {
            return false;
        }
    }
    return true;
}

bool php_latch_lease_is_alone(zend_object *key)
{
    const php_latch_lease *lease = php_latch_lease_first(key);

    while (lease != NULL && !has_all(key, lease)) {
        lease = php_latch_lease_next(lease);
    }
    return lease != NULL || php_latch_lease_first(key) == NULL;
}

/* A lease of the key in a combined store that has it as a part; or NULL. */
static php_latch_lease *find_whole(zend_object *key, const php_latch_lease *part)
{
    php_latch_lease *lease = php_latch_lease_first(key);

    while (lease != NULL && !php_latch_lease_has_part(lease, part)) {
        lease = php_latch_lease_next(lease);
    }
    return lease;
}

static bool is_past(const latch_lease *lease)
{
    return lease->mode != LATCH_FREE && lease->deadline_ns != LATCH_NEVER
           && php_latch_now_ns() >= lease->deadline_ns;
}

latch_mode php_latch_lease_before(php_latch_lease *lease)
{
    if (!lease->lease.kept && is_past(&lease->lease)) {
        lease->lease.losses++;
    }
    return lease->lease.mode;
}

void php_latch_lease_after(php_latch_lease *lease, latch_mode before, latch_op_kind kind)
{
    if (!lease->lease.kept && kind != LATCH_RELEASE && before != LATCH_FREE
        && lease->lease.mode == LATCH_FREE) {
        lease->lease.losses++;
    }
}

void php_latch_lease_forget(zend_object *key, php_latch_lease *lease)
{
    zval *slot = php_latch_key_lease_slot(key);
    php_latch_lease *before = php_latch_lease_first(key);

    if (before == lease) {
        if (lease->next != NULL) {
            ZVAL_OBJ(slot, lease->next);
        } else {
            ZVAL_NULL(slot);
        }
    } else {
        while (php_latch_lease_next(before) != lease) {
            before = php_latch_lease_next(before);
        }
        before->next = lease->next;
    }
    lease->next = NULL;
    while ((before = find_whole(key, lease)) != NULL) {
        php_latch_lease_forget(key, before);
    }
    OBJ_RELEASE(&lease->std);
}

/* A lease in an engine's store, or in one that is driven by its PHP methods. */
static php_latch_lease *make(zend_string *resource, php_latch_backend *backend, zend_object *store)
{
    php_latch_lease *lease = zend_object_alloc(sizeof(*lease), php_latch_lease_ce);

    latch_lease_init(&lease->lease, backend != NULL ? backend->store : NULL, ZSTR_VAL(resource),
                     ZSTR_LEN(resource));
    zend_string_addref(resource);
    if (backend != NULL) {
        lease->backend = backend;
        backend->references++;
    } else {
        lease->store = store;
    }
    lease->next = NULL;
    if (backend != NULL) {
        lease->parts = NULL;
    } else {
        lease->users = 0;
    }
    zend_object_std_init(&lease->std, php_latch_lease_ce);
    object_properties_init(&lease->std, php_latch_lease_ce);
    /* It refers to other leases at most, and is in no cycle: the collector need not look at it. */
    GC_ADD_FLAGS(&lease->std, GC_NOT_COLLECTABLE);
    lease->std.handlers = &handlers;
    return lease;
}

/* The class is final and its constructor private: nobody gets here but by ReflectionClass. */
static zend_object *create(zend_class_entry *ce)
{
    (void) ce;
    return &make(ZSTR_EMPTY_ALLOC(), NULL, NULL)->std;
}

/* A lock that a session holds would stay in it, for whoever has the session next. */
static void leave_session(php_latch_lease *lease)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = true};
    latch_error error;

    if (php_latch_lease_is_native(lease) && lease->lease.mode != LATCH_FREE
        && (latch_store_describe(lease->lease.store)->capabilities & LATCH_SESSIONS) != 0) {
        php_latch_run(&lease->lease, &release, &error);
        php_latch_forget_client_failure();
    }
}

static void destroy(zend_object *object)
{
    php_latch_lease *lease = php_latch_lease_from(object);

    leave_session(lease);
    php_latch_lease_end_keeping(lease);
    latch_lease_drop(&lease->lease);
    php_latch_end_calls(LATCH_DONE);
    php_latch_lease_disjoin(lease);
    if (php_latch_lease_is_native(lease)) {
        php_latch_backend_release(lease->backend);
    }
    zend_string_release(php_latch_lease_resource(lease));
    if (lease->next != NULL) {
        OBJ_RELEASE(lease->next);
    }
    zend_object_std_dtor(object);
}

/*
 * Marks leases that were acquired before a fork: all of them are the parent's in a child, and what
 * a child may release is no longer the parent's alone. Called when it counts, so that a lease, of
 * which a program may have 100,000, keeps a bit and no number.
 */
static void note_forks(void)
{
    unsigned generation = latch_engine_generation(php_latch_engine);
    unsigned fork_count = latch_engine_fork_count(php_latch_engine);
    uint32_t handle = 0;
    php_latch_lease *lease;

    if (fork_count == LATCH_G(lease_fork_count)) {
        return;
    }
    while ((lease = php_latch_leases_next(&handle)) != NULL) {
        lease->lease.forked |= generation != LATCH_G(lease_generation) || lease->lease.inherit;
    }
    LATCH_G(lease_generation) = generation;
    LATCH_G(lease_fork_count) = fork_count;
}

void php_latch_lease_note_acquired(php_latch_lease *lease)
{
    note_forks();
    LATCH_G(grants)++;
    lease->lease.forked = false;
    for (size_t at = 0; php_latch_lease_is_combined(lease) && at < php_latch_lease_count(lease);
         at++) {
        php_latch_lease_note_acquired(lease->parts[at].lease);
    }
}

bool php_latch_lease_is_ours_alone(const php_latch_lease *lease)
{
    note_forks();
    return !lease->lease.forked && !lease->lease.pass_on && !lease->lease.handed_over
           && !lease->lease.adopted;
}

static bool is_in_connection(const php_latch_lease *lease)
{
    return php_latch_lease_is_native(lease) && lease->backend->connection != NULL;
}

php_latch_lease *php_latch_leases_next(uint32_t *handle)
{
    while (++*handle < EG(objects_store).top) {
        zend_object *object = EG(objects_store).object_buckets[*handle];

        if (IS_OBJ_VALID(object) && object->handlers == &handlers) {
            return php_latch_lease_from(object);
        }
    }
    return NULL;
}

static void drop_all(bool (*is_to_go)(const php_latch_lease *lease))
{
    php_latch_lease *lease;
    uint32_t handle = 0;

    while ((lease = php_latch_leases_next(&handle)) != NULL) {
        if (is_to_go(lease)) {
            latch_lease_drop(&lease->lease);
            php_latch_end_calls(LATCH_DONE);
        }
    }
}

void php_latch_leases_leave_connections(void)
{
    drop_all(php_latch_lease_is_combined); /* before their parts */
    drop_all(is_in_connection);
}

php_latch_lease *php_latch_lease_find(zend_object *key, const php_latch_backend *backend,
                                      const zend_object *store)
{
    for (php_latch_lease *lease = php_latch_lease_first(key); lease != NULL;
         lease = php_latch_lease_next(lease)) {
        if (php_latch_lease_is_native(lease) ? lease->backend == backend
                                             : backend == NULL && lease->store == store) {
            return lease;
        }
    }
    return NULL;
}

/*
 * In stores of one kind a key has one token, as Symfony's: it is known by it wherever it goes.
 * *is_adopted: others may know it, too.
 */
static const char *token_elsewhere(zend_object *key, const char *name, bool *is_adopted)
{
    const char *token = NULL;

    for (const php_latch_lease *other = php_latch_lease_first(key); other != NULL && token == NULL;
         other = php_latch_lease_next(other)) {
        if (php_latch_lease_is_native(other)
            && latch_store_describe(other->lease.store)->state_name == name) {
            token = latch_lease_shared_token(&other->lease);
            *is_adopted = other->lease.adopted || other->lease.handed_over;
        }
    }
    return token;
}

/* Adopts the token that came with the key; false after throwing. */
static bool adopt_token(php_latch_lease *lease, zend_object *key)
{
    const char *name = latch_store_describe(lease->lease.store)->state_name;
    zval *token = name != NULL ? php_latch_key_find_state(key, name) : NULL;
    latch_status status = LATCH_ERROR_ARGUMENT;
    bool is_adopted = false;
    const char *known;
    latch_error error;

    if (token == NULL || Z_TYPE_P(token) == IS_NULL) {
        known = name != NULL ? token_elsewhere(key, name, &is_adopted) : NULL;
        lease->lease.adopted |= is_adopted;
        if (known == NULL
            || latch_lease_adopt_token(&lease->lease, known, strlen(known), &error) == LATCH_DONE) {
            return true;
        }
        zend_throw_exception(php_latch_storage_ce, error.message, 0);
        return false;
    }
    if (Z_TYPE_P(token) == IS_STRING) {
        status =
            latch_lease_adopt_token(&lease->lease, Z_STRVAL_P(token), Z_STRLEN_P(token), &error);
    }
    if (status == LATCH_DONE) {
        php_latch_key_forget_state(key, name); /* from now on the lease has it */
        lease->lease.adopted = true;
        return true;
    }
    if (status == LATCH_ERROR_MEMORY) {
        zend_throw_exception(php_latch_storage_ce, error.message, 0);
        return false;
    }
    zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                            "The key's state \"%s\" must be a token, a text of 1 to %d bytes.",
                            name, LATCH_TOKEN_MAX);
    return false;
}

/* Leases in stores written in PHP that no Lock uses any more, or in stores that are gone. */
static void forget_unused(zend_object *key)
{
    php_latch_lease *lease = php_latch_lease_first(key);

    while (lease != NULL) {
        php_latch_lease *next = php_latch_lease_next(lease);

        if (php_latch_lease_is_native(lease)
                ? lease->backend->references == 1 && lease->backend->identity == NULL
                : lease->store == NULL) {
            php_latch_lease_forget(key, lease);
        }
        lease = next;
    }
}

php_latch_lease *php_latch_lease_get(zend_object *key, php_latch_backend *backend,
                                     zend_object *store)
{
    php_latch_lease *lease = php_latch_lease_find(key, backend, store);
    zval *slot = php_latch_key_lease_slot(key);
    zend_string *resource;

    if (lease != NULL) {
        return lease;
    }
    resource = php_latch_key_resource(key);
    if (resource == NULL) {
        return NULL;
    }
    lease = make(resource, backend, store);
    if (backend != NULL
        && !(adopt_token(lease, key)
             && (backend->combination == NULL || php_latch_lease_join(lease, key)))) {
        OBJ_RELEASE(&lease->std);
        return NULL;
    }
    forget_unused(key);
    if (php_latch_lease_first(key) != NULL) {
        lease->next = Z_OBJ_P(slot);
        ZVAL_OBJ(slot, &lease->std);
    } else {
        zval foreign; /* null, or whatever ArrayObject put there */

        ZVAL_COPY_VALUE(&foreign, slot);
        ZVAL_OBJ(slot, &lease->std);
        zval_ptr_dtor(&foreign);
    }
    return lease;
}

PHP_METHOD(Latch_Lease, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE(); /* private: never called */
}

void php_latch_register_lease(void)
{
    php_latch_lease_ce = register_class_Latch_Lease();
    php_latch_lease_ce->create_object = create;
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(php_latch_lease, std);
    handlers.free_obj = destroy;
    handlers.clone_obj = NULL;
}
