/*
 * Latch\Lease: what a key holds in one store, in the key's property `lease`; a linked list when the
 * key is used with several stores. Its end closes what the lease has open, and releases nothing:
 * Lock does that.
 */
#include "ext/key/lease.h"

#include "ext/key/key.h"
#include "ext/key/renewed_lease.h"
#include "ext/php/call.h"
#include "ext/php/client_object.h"
#include "ext/php/interfaces.h"
#include "ext/php/poll_loop.h"

#include "zend_exceptions.h"

#include "stubs/lease_arginfo.h"

zend_class_entry *php_latch_lease_ce;

static zend_object_handlers handlers;

static php_latch_lease *lease_of_object(zend_object *object)
{
    return LATCH_CONTAINER(object, php_latch_lease, std);
}

bool php_latch_lease_is_native(const php_latch_lease *lease)
{
    return lease->lease.store != NULL;
}

bool php_latch_lease_has_parts(const php_latch_lease *lease)
{
    return php_latch_lease_is_native(lease) && lease->parts != NULL;
}

const char *php_latch_lease_state_name(const php_latch_lease *lease)
{
    const latch_store_info *info = latch_store_describe(lease->lease.store);

    return lease->lease.is_permit ? info->permit_state_name : info->state_name;
}

zend_string *php_latch_lease_resource(const php_latch_lease *lease)
{
    return LATCH_CONTAINER(lease->lease.resource, zend_string, val);
}

php_latch_lease *php_latch_lease_first(zend_object *key)
{
    zval *slot = php_latch_key_lease_slot(key);

    /* Checked by its handlers: PHP code can bypass the property's type (ArrayObject). */
    return Z_TYPE_P(slot) == IS_OBJECT && Z_OBJ_P(slot)->handlers == &handlers
               ? lease_of_object(Z_OBJ_P(slot))
               : NULL;
}

php_latch_lease *php_latch_lease_next(const php_latch_lease *lease)
{
    return lease->next != NULL ? lease_of_object(lease->next) : NULL;
}

static bool lease_contains(const php_latch_lease *lease, const php_latch_lease *part)
{
    return php_latch_lease_has_parts(lease) && lease->backend->ops->contains(lease, part);
}

/* Are all leases of the key this one, or parts of it? */
static bool contains_all(zend_object *key, const php_latch_lease *lease)
{
    for (const php_latch_lease *other = php_latch_lease_first(key); other != NULL;
         other = php_latch_lease_next(other)) {
        if (other != lease && !lease_contains(lease, other)) {
            return false;
        }
    }
    return true;
}

bool php_latch_lease_is_alone(zend_object *key)
{
    const php_latch_lease *lease = php_latch_lease_first(key);

    while (lease != NULL && !contains_all(key, lease)) {
        lease = php_latch_lease_next(lease);
    }
    return lease != NULL || php_latch_lease_first(key) == NULL;
}

/* A lease of the key that has it as a part; or NULL. */
static php_latch_lease *find_containing(zend_object *key, const php_latch_lease *part)
{
    php_latch_lease *lease = php_latch_lease_first(key);

    while (lease != NULL && !lease_contains(lease, part)) {
        lease = php_latch_lease_next(lease);
    }
    return lease;
}

static bool is_past_deadline(const latch_lease *lease)
{
    return lease->mode != LATCH_FREE && lease->deadline_ns != LATCH_NEVER
           && php_latch_now_ns() >= lease->deadline_ns;
}

latch_mode php_latch_lease_before_request(php_latch_lease *lease)
{
    if (!lease->lease.observed && is_past_deadline(&lease->lease)) {
        lease->lease.losses++;
    }
    return lease->lease.mode;
}

void php_latch_lease_after_request(php_latch_lease *lease, latch_mode before, latch_op_kind kind)
{
    if (!lease->lease.observed && kind != LATCH_RELEASE && before != LATCH_FREE
        && lease->lease.mode == LATCH_FREE) {
        lease->lease.losses++;
    }
}

void php_latch_key_remove_lease(zend_object *key, php_latch_lease *lease)
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
    while ((before = find_containing(key, lease)) != NULL) {
        php_latch_key_remove_lease(key, before);
    }
    OBJ_RELEASE(&lease->std);
}

/* Makes a lease in an engine's store, or in one that is driven by its PHP methods. */
static php_latch_lease *lease_make(zend_string *resource, bool is_permit,
                                   php_latch_backend *backend, zend_object *store)
{
    php_latch_lease *lease = zend_object_alloc(sizeof(*lease), php_latch_lease_ce);
    latch_store *engine_store = backend != NULL ? backend->store : NULL;

    if (is_permit) {
        latch_permit_lease_init(&lease->lease, engine_store, ZSTR_VAL(resource),
                                ZSTR_LEN(resource));
    } else {
        latch_lease_init(&lease->lease, engine_store, ZSTR_VAL(resource), ZSTR_LEN(resource));
    }
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
    /* not collectable: a lease refers to other leases at most, and is in no cycle */
    GC_ADD_FLAGS(&lease->std, GC_NOT_COLLECTABLE);
    lease->std.handlers = &handlers;
    return lease;
}

/* Called by ReflectionClass alone: the class is final, its constructor private. */
static zend_object *lease_create_object(zend_class_entry *ce)
{
    (void) ce;
    return &lease_make(ZSTR_EMPTY_ALLOC(), false, NULL, NULL)->std;
}

/* A lock that a session holds would stay in it, for the next user of the session. */
static void release_in_session(php_latch_lease *lease)
{
    const latch_request release = {.kind = LATCH_RELEASE, .detach = true};
    latch_error error;

    if (php_latch_lease_is_native(lease) && lease->lease.mode != LATCH_FREE
        && (latch_store_describe(lease->lease.store)->capabilities & LATCH_SESSIONS) != 0) {
        php_latch_run_request(&lease->lease, &release, &error);
        php_latch_client_failure_clear();
    }
}

static void lease_free(zend_object *object)
{
    php_latch_lease *lease = lease_of_object(object);

    release_in_session(lease);
    php_latch_lease_end_renewal(lease);
    latch_lease_drop(&lease->lease);
    php_latch_rethrow_deferred(LATCH_DONE);
    if (php_latch_lease_has_parts(lease)) {
        lease->backend->ops->detach_members(lease);
    }
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
 * Marks leases that were acquired before a fork: in the child all of them are the parent's, and
 * leases that a child may release are no longer the parent's alone. Called on demand, so that a
 * lease, of which a program may have 100,000, has a bit and no generation of its own.
 */
static void mark_forked_leases(void)
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

void php_latch_lease_record_acquired(php_latch_lease *lease)
{
    mark_forked_leases();
    LATCH_G(grants)++;
    lease->lease.forked = false;
    if (php_latch_lease_has_parts(lease)) {
        lease->backend->ops->for_each_part(lease, php_latch_lease_record_acquired);
    }
}

bool php_latch_lease_is_ours_alone(const php_latch_lease *lease)
{
    mark_forked_leases();
    return !lease->lease.forked && !lease->lease.pass_on && !lease->lease.handed_over
           && !lease->lease.imported;
}

static bool is_in_connection(const php_latch_lease *lease)
{
    const php_latch_backend *backend = php_latch_lease_is_native(lease) ? lease->backend : NULL;

    return backend != NULL
           && (backend->locks != NULL ? backend->locks : backend)->connection != NULL;
}

php_latch_lease *php_latch_leases_next(uint32_t *handle)
{
    while (++*handle < EG(objects_store).top) {
        zend_object *object = EG(objects_store).object_buckets[*handle];

        if (IS_OBJ_VALID(object) && object->handlers == &handlers) {
            return lease_of_object(object);
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
            php_latch_rethrow_deferred(LATCH_DONE);
        }
    }
}

void php_latch_leases_drop_sessions(void)
{
    drop_all(php_latch_lease_has_parts); /* before their parts */
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
 * The lease of the key in another store of the same kind that has the token: as Symfony's, a key
 * has one for all of them. *is_imported: other processes may know it, too.
 */
static const latch_lease *find_shared_token(zend_object *key, const char *name, bool *is_imported)
{
    const latch_lease *found = NULL;

    for (const php_latch_lease *other = php_latch_lease_first(key); other != NULL && found == NULL;
         other = php_latch_lease_next(other)) {
        const char *others = php_latch_lease_is_native(other) ? php_latch_lease_state_name(other)
                                                              : NULL;

        if (others != NULL && strcmp(others, name) == 0) {
            found = latch_lease_shared_token(&other->lease) != NULL ? &other->lease : NULL;
            *is_imported = other->lease.imported || other->lease.handed_over;
        }
    }
    return found;
}

/* Adopts the token that came with the key; false after throwing. */
static bool import_token(php_latch_lease *lease, zend_object *key)
{
    const char *name = php_latch_lease_state_name(lease);
    zval *token = name != NULL ? php_latch_key_find_state(key, name) : NULL;
    latch_status status = LATCH_ERROR_ARGUMENT;
    bool is_imported = false;
    const latch_lease *known;
    latch_error error;
    bool is_owner; /* alone: the lease will hold by a token that no other process knows */

    if (token == NULL || Z_TYPE_P(token) == IS_NULL) {
        known = name != NULL ? find_shared_token(key, name, &is_imported) : NULL;
        lease->lease.imported |= is_imported;
        if (known == NULL
            || latch_lease_set_token(&lease->lease, known->token, known->token_length, &error)
                   == LATCH_DONE) {
            return true;
        }
        zend_throw_exception(php_latch_lease_primitive(lease)->storage, error.message, 0);
        return false;
    }
    is_owner = Z_TYPE_P(token) == IS_STRING && Z_STRVAL_P(token)[0] == ' '
               && (latch_store_describe(lease->lease.store)->capabilities & LATCH_OWNERS) != 0;
    if (Z_TYPE_P(token) == IS_STRING) {
        status = latch_lease_set_token(&lease->lease, Z_STRVAL_P(token), Z_STRLEN_P(token), &error);
    }
    if (status == LATCH_DONE) {
        php_latch_key_remove_state(key, name); /* from now on the lease has it */
        lease->lease.imported = !is_owner;
        return true;
    }
    if (status == LATCH_ERROR_MEMORY) {
        zend_throw_exception(php_latch_lease_primitive(lease)->storage, error.message, 0);
        return false;
    }
    zend_throw_exception_ex(php_latch_lease_primitive(lease)->invalid_argument, 0,
                            "The key's state \"%s\" must be a token, a text of 1 to %zu bytes.",
                            name, latch_token_max(lease->lease.store));
    return false;
}

/* Removes leases in stores written in PHP that no Lock uses any more, or in stores that are gone.
 */
static void remove_unused_leases(zend_object *key)
{
    php_latch_lease *lease = php_latch_lease_first(key);

    while (lease != NULL) {
        php_latch_lease *next = php_latch_lease_next(lease);

        if (php_latch_lease_is_native(lease)
                ? lease->backend->references == 1 && lease->backend->identity == NULL
                : lease->store == NULL) {
            php_latch_key_remove_lease(key, lease);
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
    lease = lease_make(resource, php_latch_key_primitive(key)->is_permit, backend, store);
    if (backend != NULL
        && !(import_token(lease, key)
             && (backend->ops == NULL || backend->ops->join(lease, key)))) {
        OBJ_RELEASE(&lease->std);
        return NULL;
    }
    remove_unused_leases(key);
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
    php_latch_lease_ce->create_object = lease_create_object;
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(php_latch_lease, std);
    handlers.free_obj = lease_free;
    handlers.clone_obj = NULL;
}
