/* Latch\Store\FlockStore: its constructor and its DSNs; the store methods are in store_methods.c.
 */
#include "ext/store/engine_store.h"

#include "ext/php/interfaces.h"
#include "ext/store/store_class.h"

#include "main/php_open_temporary_file.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"

#include <sys/stat.h>
#include <unistd.h>

#include "stubs/flock_store_arginfo.h"

static bool is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* mkdir -p, as Symfony's store does. */
static bool make_directory(const char *path)
{
    char part[MAXPATHLEN];
    size_t length = strlen(path);

    memcpy(part, path, length + 1);
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0777);
        *slash = '/';
    }
    mkdir(part, 0777);
    return is_directory(part);
}

/* Checks the given path and its absolute form, "" if it has none. False after throwing. */
static bool check_is_path(const char *given, const char *absolute)
{
    int scheme = (int) strcspn(given, ":");

    if (php_latch_is_store_dsn(given) && !is_directory(absolute)) {
        zend_throw_exception_ex(
            php_latch_invalid_argument_ce, 0,
            "The FlockStore directory is a DSN (\"%.*s:...\"); pass the path of "
            "a directory, or the DSN to StoreFactory::createStore().",
            scheme, given);
        return false;
    }
    if (strstr(given, "://") != NULL) {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "The FlockStore directory \"%.*s\" is not a local directory.",
                                strchr(given, '@') == NULL ? (int) strlen(given) : scheme, given);
        return false;
    }
    return true;
}

static zend_object *create_flock_store(zend_class_entry *ce)
{
    return &php_latch_store_create(ce)->std;
}

PHP_METHOD(Latch_Store_FlockStore, __construct)
{
    php_latch_store *store = php_latch_store_of(Z_OBJ_P(ZEND_THIS));
    zend_string *path = NULL;
    bool remove_on_release = false, inheritable = false;
    char absolute[MAXPATHLEN];
    latch_store_options options = {.path = absolute};
    zend_string *identity;
    const char *given;

    ZEND_PARSE_PARAMETERS_START(0, 3)
        Z_PARAM_OPTIONAL
        Z_PARAM_PATH_STR_OR_NULL(path)
        Z_PARAM_BOOL(remove_on_release)
        Z_PARAM_BOOL(inheritable)
    ZEND_PARSE_PARAMETERS_END();

    if (store->backend != NULL) {
        zend_throw_error(NULL, "%s is constructed already", ZSTR_VAL(store->std.ce->name));
        RETURN_THROWS();
    }
    given = path != NULL ? ZSTR_VAL(path) : php_get_temporary_directory();
    /*
     * Absolute, because a script may change its working directory. Links are not resolved before
     * the directory exists: a dangling link of another user must not decide where it is made.
     */
    if (strncasecmp(given, "file://", 7) == 0) {
        given += 7;
    }
    if (*given == '\0' || expand_filepath_with_mode(given, absolute, NULL, 0, CWD_EXPAND) == NULL) {
        absolute[0] = '\0';
    }
    if (!check_is_path(given, absolute)) {
        RETURN_THROWS();
    }
    if (*given != '\0' && php_check_open_basedir_ex(given, 0) != 0) {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "The FlockStore directory \"%s\" is outside of open_basedir.",
                                given);
        RETURN_THROWS();
    }
    if (absolute[0] == '\0' || (!is_directory(absolute) && !make_directory(absolute))) {
        if (access(absolute, F_OK) == 0) {
            zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                    "The FlockStore directory \"%s\" is no directory, but a file.",
                                    given);
            RETURN_THROWS();
        }
        zend_throw_exception_ex(
            php_latch_invalid_argument_ce, 0,
            "The FlockStore directory \"%s\" does not exists and cannot be created.", given);
        RETURN_THROWS();
    }
    if (access(absolute, W_OK) != 0) {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "The FlockStore directory \"%s\" is not writable.", given);
        RETURN_THROWS();
    }
    identity = zend_string_init(absolute, strlen(absolute), 0);
    store->backend = php_latch_backend_get("flock", identity, &options);
    zend_string_release(identity);
    store->remove_on_release = remove_on_release;
    store->pass_on = inheritable;
}

static void register_flock_store(void)
{
    register_class_Latch_Store_FlockStore(php_latch_blocking_store_ce, php_latch_shared_store_ce)
        ->create_object = create_flock_store;
}

/* ---- DSNs ----------------------------------------------------------------------------------- */

/*
 * The directory, or NULL after throwing. "flock://user:password@host" would make a directory that
 * tells the password. Symfony's store does, under whose names that is left so.
 */
static zend_string *directory_of(const php_latch_dsn_form *form, zend_string *dsn)
{
    zend_string *rest = php_latch_dsn_form_rest(form, dsn);

    if (!LATCH_G(symfony) && strchr("/.", ZSTR_VAL(rest)[0]) == NULL
        && strpbrk(ZSTR_VAL(rest), ":@") != NULL) {
        zend_string_release(rest);
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "What stands behind \"%s\" is no directory: a path with \":\" or "
                                "\"@\" in it has to begin with \"/\" or \"./\".",
                                form->text);
        return NULL;
    }
    return rest;
}

static void make_in_directory(const php_latch_store_class *class, const php_latch_dsn_form *form,
                              zend_string *dsn, zval *store)
{
    zend_string *directory = directory_of(form, dsn);
    zval argument;

    if (directory != NULL) {
        ZVAL_STR(&argument, directory);
        php_latch_make_store(class, 1, &argument, store);
        zval_ptr_dtor(&argument);
    }
}

static void make_removing(const php_latch_store_class *class, const php_latch_dsn_form *form,
                          zend_string *dsn, zval *store)
{
    zval arguments[2];

    ZVAL_NULL(&arguments[0]);
    if (!php_latch_dsn_form_is_whole(form)) {
        zend_string *directory = directory_of(form, dsn);

        if (directory == NULL) {
            return;
        }
        ZVAL_STR(&arguments[0], directory);
    }
    ZVAL_TRUE(&arguments[1]);
    php_latch_make_store(class, 2, arguments, store);
    zval_ptr_dtor(&arguments[0]);
}

static const php_latch_dsn_form forms[] = {
    PHP_LATCH_DSN_OFFERED("flock", php_latch_make_store_plain, "flock",
                          "files in the temporary directory"),
    PHP_LATCH_DSN_OFFERED("flock://", make_in_directory, "flock:///DIRECTORY",
                          "files in a directory"),
    PHP_LATCH_DSN_OFFERED("flock+remove", make_removing, "flock+remove",
                          "files that are removed when released"),
    PHP_LATCH_DSN_OFFERED("flock+remove://", make_removing, "flock+remove:///DIRECTORY",
                          "files in a directory that are removed when released"),
    PHP_LATCH_DSN_END,
};

const php_latch_store_class php_latch_flock_classes[] = {
    {
        .name = LATCH_STORE_NAMESPACE "FlockStore",
        .store = "flock",
        .register_class = register_flock_store,
        .forms = forms,
    },
    PHP_LATCH_STORE_CLASS_END,
};
