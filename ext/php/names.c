/*
 * The naming seam. With latch.symfony=1 every class is registered under Symfony's name, so that
 * get_class(), serialised keys and log lines match; its name in Latch becomes an alias. Stubs and
 * the rest of the glue know only the names in Latch.
 */
#include "ext/php_latch.h"

#define LATCH_PREFIX "Latch\\"
#define SYMFONY_PREFIX "Symfony\\Component\\Lock\\"

static bool is_latch_name(const char *name)
{
    return strncmp(name, LATCH_PREFIX, sizeof(LATCH_PREFIX) - 1) == 0;
}

/* A persistent, interned string, in Symfony's namespace when that mode is on. */
static zend_string *mode_name(const char *name)
{
    char text[128];
    int length =
        LATCH_G(symfony) && is_latch_name(name)
            ? snprintf(text, sizeof(text), "%s%s", SYMFONY_PREFIX, name + sizeof(LATCH_PREFIX) - 1)
            : snprintf(text, sizeof(text), "%s", name);

    ZEND_ASSERT(length > 0 && (size_t) length < sizeof(text));
    return zend_string_init_interned(text, (size_t) length, 1);
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
    if (ZEND_TYPE_HAS_NAME(*type) && is_latch_name(ZSTR_VAL(ZEND_TYPE_NAME(*type)))) {
        type->ptr = mode_name(ZSTR_VAL(ZEND_TYPE_NAME(*type)));
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
    zend_class_entry *ours[64];
    zend_class_entry *ce;
    size_t count = 0;

    if (!LATCH_G(symfony)) {
        return;
    }
    ZEND_HASH_FOREACH_PTR(CG(class_table), ce) {
        if (strncmp(ZSTR_VAL(ce->name), SYMFONY_PREFIX, sizeof(SYMFONY_PREFIX) - 1) == 0) {
            ZEND_ASSERT(count < sizeof(ours) / sizeof(ours[0]));
            ours[count++] = ce;
        }
    }
    ZEND_HASH_FOREACH_END();

    /* Aliases after the loop over the table, as they change it. */
    for (size_t at = 0; at < count; at++) {
        char alias[128];
        int length = snprintf(alias, sizeof(alias), "%s%s", LATCH_PREFIX,
                              ZSTR_VAL(ours[at]->name) + sizeof(SYMFONY_PREFIX) - 1);

        rename_class(ours[at]);
        zend_register_class_alias_ex(alias, (size_t) length, ours[at], true);
    }
}
