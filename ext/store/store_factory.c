/*
 * Latch\Store\StoreFactory: makes stores of DSNs and client objects, and tells which stores there
 * are, by the descriptors of their classes (store_class.h).
 */
#include "ext/store/store_class.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"

#include "stubs/store_factory_arginfo.h"

const php_latch_store_class *const *php_latch_store_classes;

/* ---- Descriptors ---------------------------------------------------------------------------- */

/* Description of a class's store, by the engine or, for Composer's stores, by the class itself. */
static const latch_store_info *store_class_info(const php_latch_store_class *class)
{
    return class->info != NULL ? class->info : latch_store_find(class->store);
}

zend_string *php_latch_store_class_build(const php_latch_store_class *class)
{
    const latch_store_info *info = store_class_info(class);

    if (class->info != NULL) {
        return zend_string_init(ZEND_STRL("Composer's"), 0);
    }
    if (info->missing_library != NULL) {
        return strpprintf(0, "%s: built without %s", class->without, info->missing_library);
    }
    return info->library != NULL ? strpprintf(0, "yes (%s)", info->library)
                                 : zend_string_init(ZEND_STRL("yes"), 0);
}

bool php_latch_dsn_form_is_whole(const php_latch_dsn_form *form)
{
    return strchr(":/", form->text[strlen(form->text) - 1]) == NULL;
}

zend_string *php_latch_dsn_form_rest(const php_latch_dsn_form *form, zend_string *dsn)
{
    size_t start = strlen(form->text);

    return zend_string_init(ZSTR_VAL(dsn) + start, ZSTR_LEN(dsn) - start, 0);
}

static bool has_form(const php_latch_dsn_form *form, zend_string *dsn)
{
    size_t length = strlen(form->text);

    return zend_string_starts_with_cstr(dsn, form->text, length)
           && (!php_latch_dsn_form_is_whole(form) || ZSTR_LEN(dsn) == length);
}

bool php_latch_find_longer_form(const php_latch_store_class *class, zend_string *dsn,
                                const php_latch_dsn_form **found)
{
    bool is_found = false;

    for (const php_latch_dsn_form *form = class->forms; form != NULL && form->text != NULL;
         form++) {
        if (has_form(form, dsn)
            && (*found == NULL || strlen(form->text) > strlen((*found)->text))) {
            *found = form;
            is_found = true;
        }
    }
    return is_found;
}

const php_latch_store_class *php_latch_find_store_class(zend_string *dsn,
                                                        const php_latch_dsn_form **form)
{
    const php_latch_store_class *found = NULL;

    *form = NULL;
    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        found = php_latch_find_longer_form(class, dsn, form) ? class : found;
    }
    return found;
}

const php_latch_store_class *php_latch_find_composer_class(zend_string *dsn,
                                                           const php_latch_dsn_form **form)
{
    const php_latch_store_class *found = NULL;

    *form = NULL;
    for (const php_latch_store_class *class = php_latch_composer_classes; class->name != NULL;
         class ++) {
        found = php_latch_find_longer_form(class, dsn, form) ? class : found;
    }
    return found;
}

static bool has_scheme_of(const php_latch_store_class *class, const char *text)
{
    for (const php_latch_dsn_form *form = class->forms; form != NULL && form->text != NULL;
         form++) {
        size_t length = strcspn(form->text, ":");

        if (form->text[length] == ':' && strncasecmp(form->text, text, length + 1) == 0) {
            return true;
        }
    }
    return false;
}

bool php_latch_is_store_dsn(const char *text)
{
    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        if (has_scheme_of(class, text)) {
            return true;
        }
    }
    for (const php_latch_store_class *class = php_latch_composer_classes; class->name != NULL;
         class ++) {
        if (has_scheme_of(class, text)) {
            return true;
        }
    }
    return false;
}

/* ---- Makers --------------------------------------------------------------------------------- */

void php_latch_make_store(const php_latch_store_class *class, uint32_t count, zval *arguments,
                          zval *store)
{
    zend_class_entry *ce = php_latch_load_class(class->name);

    if (ce == NULL) {
        if (EG(exception) == NULL && class->package != NULL) {
            zend_throw_exception_ex(spl_ce_LogicException, 0,
                                    "Class \"%s\" is missing. Try running \"composer require %s\" "
                                    "to install the lock store package.",
                                    class->name, class->package);
        }
        return;
    }
    if (object_init_ex(store, ce) != SUCCESS) {
        ZVAL_UNDEF(store);
        return;
    }
    if (ce->constructor != NULL) {
        zend_call_known_instance_method(ce->constructor, Z_OBJ_P(store), NULL, count, arguments);
    }
    if (EG(exception) != NULL) {
        zend_object_store_ctor_failed(Z_OBJ_P(store));
        zval_ptr_dtor(store);
        ZVAL_UNDEF(store);
    }
}

void php_latch_make_store_plain(const php_latch_store_class *class, const php_latch_dsn_form *form,
                                zend_string *dsn, zval *store)
{
    (void) form;
    (void) dsn;
    php_latch_make_store(class, 0, NULL, store);
}

void php_latch_make_store_of_dsn(const php_latch_store_class *class, const php_latch_dsn_form *form,
                                 zend_string *dsn, zval *store)
{
    zval argument;

    (void) form;
    ZVAL_STR(&argument, dsn);
    php_latch_make_store(class, 1, &argument, store);
}

static void make_of_dsn(zend_string *dsn, zval *store)
{
    const php_latch_dsn_form *form;
    const php_latch_store_class *class = php_latch_find_store_class(dsn, &form);

    if (class == NULL && LATCH_G(symfony)) {
        class = php_latch_find_composer_class(dsn, &form);
    }
    if (class != NULL) {
        form->make(class, form, dsn, store);
    }
}

bool php_latch_store_class_takes(const php_latch_store_class *class, zend_object *client)
{
    const char *name = class->takes_clients ? class->clients : "";

    while (*name != '\0') {
        size_t length = strcspn(name, "|");
        char lower[64] = "";
        zend_class_entry *ce;

        ZEND_ASSERT(length < sizeof(lower));
        zend_str_tolower_copy(lower, name, length);
        ce = php_latch_find_class(lower);
        if (ce != NULL && instanceof_function(client->ce, ce)) {
            return true;
        }
        name += length + (name[length] == '|');
    }
    return false;
}

static void make_of_client(zval *client, zval *store)
{
    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        if (php_latch_store_class_takes(class, Z_OBJ_P(client))) {
            php_latch_make_store(class, 1, client, store);
            return;
        }
    }
    for (const php_latch_store_class *class = php_latch_composer_classes;
         LATCH_G(symfony) && class->name != NULL; class ++) {
        if (php_latch_store_class_takes(class, Z_OBJ_P(client))) {
            php_latch_make_store(class, 1, client, store);
            return;
        }
    }
}

/* ---- Failures ------------------------------------------------------------------------------- */

void php_latch_throw_dsn(const php_latch_primitive *primitive, const latch_error *error,
                         const char *argument)
{
    char problem[sizeof(error->message) + 32];

    if (error->status == LATCH_ERROR_ARGUMENT || error->status == LATCH_ERROR_UNSUPPORTED) {
        snprintf(problem, sizeof(problem), "is not usable: %s", error->message);
        php_latch_throw_argument(primitive->invalid_argument, 1, argument, problem);
    } else {
        zend_throw_exception(primitive->storage, error->message, 0);
    }
}

static void throw_unsupported(zval *connection)
{
    if (Z_TYPE_P(connection) == IS_OBJECT) {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0, "Unsupported Connection: \"%s\".",
                                ZSTR_VAL(Z_OBJCE_P(connection)->name));
    } else if (LATCH_G(symfony) || Z_TYPE_P(connection) != IS_STRING) {
        zend_throw_exception(php_latch_invalid_argument_ce, "No lock store supports the given DSN.",
                             0);
    } else {
        php_latch_throw_unknown_dsn(Z_STR_P(connection));
    }
}

/* As PHP does it for the return types of PHP code; false after throwing. */
static bool check_made_store(const zend_class_entry *ce)
{
    zend_string *function;

    if (instanceof_function(ce, php_latch_persisting_store_ce)) {
        return true;
    }
    function = get_active_function_or_method_name();
    zend_type_error("%s(): Return value must be of type %s, %s returned", ZSTR_VAL(function),
                    ZSTR_VAL(php_latch_persisting_store_ce->name), ZSTR_VAL(ce->name));
    zend_string_release(function);
    return false;
}

PHP_METHOD(Latch_Store_StoreFactory, createStore)
{
    zend_string *dsn;
    zval *connection, store;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(connection)
    ZEND_PARSE_PARAMETERS_END();

    ZVAL_UNDEF(&store);
    if (Z_TYPE_P(connection) == IS_OBJECT) {
        make_of_client(connection, &store);
    } else if (Z_TYPE_P(connection) != IS_NULL && zend_parse_arg_str(connection, &dsn, false, 1)) {
        make_of_dsn(dsn, &store);
    } else if (EG(exception) == NULL) {
        zend_argument_type_error(1, "must be of type object|string, %s given",
                                 zend_zval_type_name(connection));
    }
    if (EG(exception) == NULL && Z_ISUNDEF(store)) {
        throw_unsupported(connection);
    }
    if (EG(exception) != NULL) {
        RETURN_THROWS();
    }
    if (!check_made_store(Z_OBJCE(store))) {
        zval_ptr_dtor(&store);
        RETURN_THROWS();
    }
    RETURN_COPY_VALUE(&store);
}

/* ---- What there is -------------------------------------------------------------------------- */

static void add_text_or_null(zval *array, const char *name, const char *text)
{
    if (text != NULL) {
        add_assoc_string(array, name, text);
    } else {
        add_assoc_null(array, name);
    }
}

/* Under the name of the current mode. A class of Composer's is not loaded for that. */
static void add_class(zval *array, const php_latch_store_class *class)
{
    zend_class_entry *ce = class->info == NULL ? php_latch_load_class(class->name) : NULL;

    if (ce != NULL) {
        add_assoc_str(array, "class", zend_string_copy(ce->name));
    } else {
        add_assoc_string(array, "class", class->name);
    }
}

static void add_forms(zval *array, const php_latch_store_class *class)
{
    zval forms, examples;

    array_init(&forms);
    array_init(&examples);
    for (const php_latch_dsn_form *form = class->forms; form != NULL && form->text != NULL;
         form++) {
        add_next_index_string(&forms, form->text);
        if (form->example != NULL) {
            add_assoc_string(&examples, form->example, form->meaning);
        }
    }
    add_assoc_zval(array, "dsns", &forms);
    add_assoc_zval(array, "examples", &examples);
}

static void add_clients(zval *array, const php_latch_store_class *class)
{
    const char *name = class->clients != NULL ? class->clients : "";
    zval clients;

    array_init(&clients);
    while (*name != '\0') {
        size_t length = strcspn(name, "|");

        add_next_index_stringl(&clients, name, length);
        name += length + (name[length] == '|');
    }
    add_assoc_zval(array, "clients", &clients);
}

static void describe(const php_latch_store_class *class, zval *array)
{
    static const char *const scopes[] = {
        [LATCH_SCOPE_NOTHING] = "nothing", [LATCH_SCOPE_PROCESS] = "process",
        [LATCH_SCOPE_MACHINE] = "machine", [LATCH_SCOPE_SERVER] = "server",
        [LATCH_SCOPE_MEMBERS] = "members",
    };
    const latch_store_info *info = store_class_info(class);
    unsigned capabilities = info->capabilities;

    array_init(array);
    add_assoc_string(array, "name", info->name);
    add_assoc_string(array, "title", info->title);
    add_class(array, class);
    add_assoc_bool(array, "native", class->info == NULL);
    add_forms(array, class);
    add_clients(array, class);
    add_assoc_string(array, "scope", scopes[info->scope]);
    add_assoc_bool(array, "shared", (capabilities & LATCH_SHARED_LOCKS) != 0);
    add_assoc_bool(array, "expiring", (capabilities & LATCH_EXPIRING) != 0);
    add_assoc_bool(array, "fencing", (capabilities & LATCH_FENCING) != 0);
    add_assoc_bool(array, "listing", (capabilities & LATCH_LISTING) != 0);
    if (info->default_ttl_ms > 0) {
        add_assoc_double(array, "ttl", (double) info->default_ttl_ms / 1000);
    } else {
        add_assoc_null(array, "ttl");
    }
    add_text_or_null(array, "library", info->library);
    add_assoc_str(array, "build", php_latch_store_class_build(class));
}

static void add_description(zval *list, const php_latch_store_class *class)
{
    zval description;

    describe(class, &description);
    add_next_index_zval(list, &description);
}

PHP_METHOD(Latch_Store_StoreFactory, describe)
{
    const php_latch_store_class *found;
    const php_latch_dsn_form *form;
    zend_string *dsn = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(dsn)
    ZEND_PARSE_PARAMETERS_END();

    array_init(return_value);
    if (dsn != NULL) {
        found = php_latch_find_store_class(dsn, &form);
        found = found != NULL ? found : php_latch_find_composer_class(dsn, &form);
        if (found != NULL) {
            add_description(return_value, found);
        }
        return;
    }
    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        add_description(return_value, class);
    }
    for (const php_latch_store_class *class = php_latch_composer_classes; class->name != NULL;
         class ++) {
        add_description(return_value, class);
    }
}

void php_latch_register_store_classes(const php_latch_store_class *const *classes)
{
    php_latch_store_classes = classes;
    PHP_LATCH_EACH_STORE_CLASS(class)
    {
        class->register_class();
    }
    register_class_Latch_Store_StoreFactory();
}
