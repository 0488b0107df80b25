/*
 * The naming seam. With latch.symfony=1 every class of locks is registered under Symfony's name, so
 * that get_class(), serialised keys and log lines match; its name in Latch becomes an alias. With
 * latch.symfony_semaphore=1 every class of semaphores is: a setting of its own, as FrameworkBundle
 * takes the mere existence of these classes for an installed package. Stubs and the rest of the
 * glue know only the names in Latch.
 */
#include "ext/php/primitive.h"

enum { LATCH_NAME, SYMFONY_NAME };

/* Namespaces by which the two know the same classes; one within another comes before that. */
static const struct {
    const char *names[2];
    const php_latch_primitive *primitive;
} namespaces[] = {
    {{"Latch\\Semaphore\\", "Symfony\\Component\\Semaphore\\"}, &php_latch_semaphores},
    {{"Latch\\", "Symfony\\Component\\Lock\\"}, &php_latch_locks},
};

/*
 * Symfony's LockStore takes a LockFactory of Symfony's, which is Composer's unless locks are in
 * drop-in mode, too. Without that Composer's LockStore is loaded, a store like any other in PHP.
 */
static bool needs_symfony_locks(const char *rest)
{
    return strcmp(rest, "Store\\LockStore") == 0;
}

/* Writes the other name of the class; false: it has none. */
static bool translate_name(const char *name, int from, char other[128])
{
    for (size_t at = 0; at < sizeof(namespaces) / sizeof(*namespaces); at++) {
        const char *const *names = namespaces[at].names;
        size_t length_of_space = strlen(names[from]);

        if (strncmp(name, names[from], length_of_space) == 0) {
            int length = snprintf(other, 128, "%s%s", names[!from], name + length_of_space);

            ZEND_ASSERT(length > 0 && length < 128);
            return php_latch_has_symfony_names(namespaces[at].primitive)
                   && (at > 0 || LATCH_G(symfony) || !needs_symfony_locks(name + length_of_space));
        }
    }
    return false;
}

/* A persistent, interned string, in Symfony's namespace where that setting is on. */
static zend_string *mode_name(const char *name)
{
    char text[128];

    if (translate_name(name, LATCH_NAME, text)) {
        name = text;
    }
    return zend_string_init_interned(name, strlen(name), 1);
}

void php_latch_init_class_entry(zend_class_entry *ce, const char *name,
                                const zend_function_entry *functions)
{
    zend_string *full_name = mode_name(name);

    INIT_CLASS_ENTRY_EX((*ce), ZSTR_VAL(full_name), ZSTR_LEN(full_name), functions);
}

/* Renames a type of the generated arginfo, for reflection and messages. */
static void rename_type(zend_type *type)
{
    char name[128];

    if (ZEND_TYPE_HAS_NAME(*type)
        && translate_name(ZSTR_VAL(ZEND_TYPE_NAME(*type)), LATCH_NAME, name)) {
        type->ptr = zend_string_init_interned(name, strlen(name), 1);
    }
}

static void rename_class(zend_class_entry *ce)
{
    zend_function *function;
    zend_property_info *property;

    ZEND_HASH_FOREACH_PTR(&ce->function_table, function) {
        /* the return type is stored before the first argument */
        zend_internal_arg_info *types = (zend_internal_arg_info *) function->common.arg_info - 1;

        for (uint32_t at = 0; at <= function->common.num_args; at++) {
            rename_type(&types[at].type);
        }
    }
    ZEND_HASH_FOREACH_END();
    ZEND_HASH_FOREACH_PTR(&ce->properties_info, property) {
        rename_type(&property->type);
    }
    ZEND_HASH_FOREACH_END();
}

zend_class_entry *php_latch_find_class(const char *lower_name)
{
    zend_string *name = zend_string_init(lower_name, strlen(lower_name), 0);
    zend_class_entry *ce =
        zend_lookup_class_ex(name, NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD | ZEND_FETCH_CLASS_SILENT);

    zend_string_release(name);
    return ce;
}

zend_class_entry *php_latch_load_class(const char *name)
{
    zend_string *text = zend_string_init(name, strlen(name), 0);
    zend_class_entry *ce = zend_lookup_class(text);

    zend_string_release(text);
    return ce;
}

void php_latch_finish_names(void)
{
    zend_class_entry *ours[96];
    zend_class_entry *ce;
    char alias[128];
    size_t count = 0;

    ZEND_HASH_FOREACH_PTR(CG(class_table), ce) {
        if (translate_name(ZSTR_VAL(ce->name), SYMFONY_NAME, alias)) {
            ZEND_ASSERT(count < sizeof(ours) / sizeof(ours[0]));
            ours[count++] = ce;
        }
    }
    ZEND_HASH_FOREACH_END();

    /* Aliases after the loop over the table, as they change it. */
    for (size_t at = 0; at < count; at++) {
        translate_name(ZSTR_VAL(ours[at]->name), SYMFONY_NAME, alias);
        rename_class(ours[at]);
        zend_register_class_alias_ex(alias, strlen(alias), ours[at], true);
    }
}
