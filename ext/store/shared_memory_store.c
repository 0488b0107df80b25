/* Latch\Store\SharedMemoryStore: its constructor and its DSNs; the store methods are in
 * store_methods.c. */
#include "ext/store/engine_store.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/store_class.h"

#include "ext/standard/url.h"
#include "main/fopen_wrappers.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"

#include "stubs/shared_memory_store_arginfo.h"

#define SHM "shm" /* the engine's store */
#define STRING_OF_(number) #number
#define STRING_OF(number) STRING_OF_(number)
#define CAPACITY_RANGE "from 1 to " STRING_OF(LATCH_SHM_CAPACITY_MAX)

static zend_object *create_shared_memory_store(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

static void throw_shm_argument(uint32_t number, const char *name, const char *problem)
{
    php_latch_throw_argument(php_latch_invalid_argument_ce, number, name, problem);
}

/* False after throwing. */
static bool check_shm_basedir(const char *path)
{
    if (php_check_open_basedir_ex(path, 0) == 0) {
        return true;
    }
    zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                            "The SharedMemoryStore file \"%s\" is outside of open_basedir.", path);
    return false;
}

/* False after throwing. The path is not told: it may be a DSN, with a password. */
static bool check_shm_arguments(zend_string *path, zend_long capacity, zend_long mode)
{
    if (path != NULL && ZSTR_VAL(path)[0] != '/') {
        throw_shm_argument(1, "path",
                           "must be null or an absolute path, such as \"/dev/shm/shop/locks\"");
        return false;
    }
    if (path != NULL && ZSTR_LEN(path) >= MAXPATHLEN) {
        throw_shm_argument(1, "path", "must have less than " STRING_OF(MAXPATHLEN) " bytes");
        return false;
    }
    if (capacity < 1 || capacity > LATCH_SHM_CAPACITY_MAX) {
        throw_shm_argument(2, "capacity", "must be a number of locks " CAPACITY_RANGE);
        return false;
    }
    if ((mode & 0600) != 0600 || (mode & ~(zend_long) 0666) != 0) {
        throw_shm_argument(3, "mode",
                           "must be a mode from 0600 to 0666 (octal) that lets the file's owner "
                           "read and write");
        return false;
    }
    return path == NULL || check_shm_basedir(ZSTR_VAL(path));
}

PHP_METHOD(Latch_Store_SharedMemoryStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    latch_store_options options = {0};
    zend_long capacity = 65536, mode = 0600;
    zend_string *path = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 3)
        Z_PARAM_OPTIONAL
        Z_PARAM_PATH_STR_OR_NULL(path)
        Z_PARAM_LONG(capacity)
        Z_PARAM_LONG(mode)
    ZEND_PARSE_PARAMETERS_END();

    if (store->backend != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
        RETURN_THROWS();
    }
    if (!check_shm_arguments(path, capacity, mode)) {
        RETURN_THROWS();
    }
    options.path = path != NULL ? ZSTR_VAL(path) : NULL;
    options.capacity = (uint32_t) capacity;
    options.mode = (uint32_t) mode;
    /* One for a file: capacity and mode are those of the file, if there is one. */
    store->backend = php_latch_backend_get(SHM, path != NULL ? path : ZSTR_EMPTY_ALLOC(), &options);
}

static void register_shared_memory_store(void)
{
    register_class_Latch_Store_SharedMemoryStore(php_latch_blocking_shared_store_ce,
                                                 php_latch_blocking_store_ce)
        ->create_object = create_shared_memory_store;
}

/* ---- DSNs ----------------------------------------------------------------------------------- */

/* The path in a DSN that the engine accepts; of others it may be any text. */
static zend_string *path_of_dsn(const php_latch_dsn_form *form, zend_string *dsn)
{
    zend_string *path = php_latch_dsn_form_rest(form, dsn);

    path = zend_string_truncate(path, strcspn(ZSTR_VAL(path), "?"), 0);
    ZSTR_LEN(path) = php_raw_url_decode(ZSTR_VAL(path), ZSTR_LEN(path));
    return path;
}

/* The constructor is not called: the engine parses the options. */
static void make_of_shm_dsn(const php_latch_store_class *class, const php_latch_dsn_form *form,
                            zend_string *dsn, zval *store)
{
    const latch_store_options options = {.dsn = ZSTR_VAL(dsn), .dsn_length = ZSTR_LEN(dsn)};
    zend_class_entry *ce = php_latch_load_class(class->name);
    zend_string *path = path_of_dsn(form, dsn);
    bool is_permitted = ZSTR_LEN(path) < 2 || check_shm_basedir(ZSTR_VAL(path));
    latch_store *opened;
    latch_error error;

    zend_string_release(path);
    if (!is_permitted || ce == NULL) {
        return;
    }
    opened = latch_store_open(php_latch_engine, SHM, &options, &error);
    if (opened == NULL) {
        php_latch_throw_dsn(&php_latch_locks, &error, "connection");
    } else if (object_init_ex(store, ce) == SUCCESS) {
        php_latch_store_of(Z_OBJ_P(store))->backend = php_latch_backend_share(opened);
    }
}

static const php_latch_dsn_form forms[] = {
    PHP_LATCH_DSN_OFFERED(SHM, php_latch_make_store_plain, SHM, "shared memory of this user"),
    PHP_LATCH_DSN_OFFERED(SHM "://", make_of_shm_dsn, SHM ":///FILE", "shared memory in a file"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_shm_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "SharedMemoryStore",
        .store = SHM,
        .register_class = register_shared_memory_store,
        .forms = forms,
    },
    PHP_LATCH_STORE_CLASS_END,
};
