/* Latch\Store\SemaphoreStore, and what the class of semaphores has of it; the store methods are in
 * store_methods.c. */
#include "ext/store/semaphore_store.h"

#include "ext/php/digest.h"
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/engine_store.h"
#include "ext/store/store_class.h"

#include "ext/standard/url.h"
#include "zend_exceptions.h"

#include "stubs/semaphore_store_arginfo.h"

zend_object *php_latch_semaphore_store_create(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

/* Accepts the digests of which some release of Symfony's makes a semaphore's key. */
static bool is_digest(const char *name, latch_digest *digest)
{
    return php_latch_digest_by_name(name, digest)
           && (*digest == LATCH_MD5 || *digest == LATCH_XXH64 || *digest == LATCH_XXH128);
}

ZEND_INI_MH(php_latch_update_semaphore_digest)
{
    latch_digest digest;

    if (new_value == NULL || !is_digest(ZSTR_VAL(new_value), &digest)) {
        zend_error(E_WARNING, "latch.semaphore_digest must be \"xxh128\", \"xxh64\" or \"md5\"");
        return FAILURE;
    }
    LATCH_G(semaphore_digest) = digest;
    return SUCCESS;
}

/*
 * False in drop-in mode without sysvsem: FrameworkBundle takes this store as its default wherever
 * it is supported, and must use the store of the pure PHP processes beside it.
 */
PHP_METHOD(Latch_Store_SemaphoreStore, isSupported)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(!LATCH_G(symfony) || zend_hash_str_exists(&module_registry, ZEND_STRL("sysvsem")));
}

void php_latch_semaphore_store_construct(const php_latch_primitive *primitive,
                                         zend_execute_data *execute_data)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    latch_store_options options = {.digest = LATCH_G(semaphore_digest)};
    zend_string *project = ZSTR_EMPTY_ALLOC(), *digest = NULL, *identity;
    char prefix[2] = "";

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(project)
        Z_PARAM_STR_OR_NULL(digest)
    ZEND_PARSE_PARAMETERS_END();

    if (store->backend != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
        return;
    }
    if (digest != NULL && !is_digest(ZSTR_VAL(digest), &options.digest)) {
        php_latch_throw_argument(primitive->invalid_argument, 2, "digest",
                                 "must be \"xxh128\", \"xxh64\", \"md5\" or null");
        return;
    }
    options.project = ZSTR_VAL(project);
    options.project_length = ZSTR_LEN(project);
    prefix[0] = (char) ('0' + options.digest);
    identity = zend_string_concat2(prefix, 1, ZSTR_VAL(project), ZSTR_LEN(project));
    store->backend = php_latch_backend_get("semaphore", identity, &options);
    zend_string_release(identity);
}

PHP_METHOD(Latch_Store_SemaphoreStore, __construct)
{
    (void) return_value;
    php_latch_semaphore_store_construct(&php_latch_locks, execute_data);
}

static void register_semaphore_store(void)
{
    register_class_Latch_Store_SemaphoreStore(php_latch_blocking_store_ce)->create_object =
        php_latch_semaphore_store_create;
}

static void make_of_project(const php_latch_store_class *class, const php_latch_dsn_form *form,
                            zend_string *dsn, zval *store)
{
    zend_string *project = php_latch_dsn_form_rest(form, dsn);
    zval argument;

    ZSTR_LEN(project) = php_raw_url_decode(ZSTR_VAL(project), ZSTR_LEN(project));
    ZVAL_STR(&argument, project);
    php_latch_make_store(class, 1, &argument, store);
    zval_ptr_dtor(&argument);
}

const php_latch_dsn_form php_latch_semaphore_forms[] = {
    PHP_LATCH_DSN_OFFERED("semaphore", php_latch_make_store_plain, "semaphore",
                          "System V semaphores"),
    PHP_LATCH_DSN_OFFERED("semaphore://", make_of_project, "semaphore://PROJECT",
                          "System V semaphores, apart for each project"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_semaphore_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "SemaphoreStore",
        .store = "semaphore",
        .register_class = register_semaphore_store,
        .forms = php_latch_semaphore_forms,
    },
    PHP_LATCH_STORE_CLASS_END,
};
