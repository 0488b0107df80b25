/* Settings beside a DSN: the options of a store's constructor, and PDO's attributes among them. */
#include "ext/store/sql/sql.h"

#include "ext/php/errors.h"
#include "ext/php/interfaces.h"

void php_latch_sql_settings_free(php_latch_sql_settings *settings)
{
    for (size_t at = 0; at < 2 * settings->count; at++) {
        zend_string_release(settings->texts[at]);
    }
    efree(settings->texts);
    efree(settings->list);
}

void php_latch_throw_option(const char *name, const char *problem)
{
    char text[256];

    snprintf(text, sizeof(text), "has an option \"%s\" that %s", name, problem);
    php_latch_throw_argument(php_latch_invalid_argument_ce, 2, "options", text);
}

/* Takes the name over; false after throwing. */
static bool add_setting(php_latch_sql_settings *settings, zend_string *name, zval *value)
{
    zend_string *text = Z_TYPE_P(value) == IS_FALSE ? ZSTR_CHAR('0') : zval_get_string(value);
    size_t at = settings->count++;

    settings->texts[2 * at] = name;
    settings->texts[2 * at + 1] = text;
    settings->list[at] = (latch_setting){.name = ZSTR_VAL(name), .value = ZSTR_VAL(text)};
    if (strlen(ZSTR_VAL(name)) != ZSTR_LEN(name) || strlen(ZSTR_VAL(text)) != ZSTR_LEN(text)) {
        php_latch_throw_option(ZSTR_VAL(name), "has a NUL byte");
        return false;
    }
    return true;
}

/* Adds PDO's attributes, of TLS by their numbers, as in a URL of Doctrine's. */
static bool add_attributes(php_latch_sql_settings *settings, HashTable *attributes)
{
    zend_ulong number;
    zend_string *name;
    zval *value;

    ZEND_HASH_FOREACH_KEY_VAL(attributes, number, name, value)
    {
        ZVAL_DEREF(value);
        if (name != NULL || Z_TYPE_P(value) < IS_FALSE || Z_TYPE_P(value) > IS_STRING) {
            continue;
        }
        name = number == PHP_LATCH_PDO_ATTR_TIMEOUT
                   ? zend_string_init("timeout", strlen("timeout"), 0)
                   : strpprintf(0, "driverOptions[" ZEND_ULONG_FMT "]", number);
        if (!add_setting(settings, name, value)) {
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

static const char *setting_of_option(zend_string *option)
{
    if (zend_string_equals_literal(option, "db_username")) {
        return "user";
    }
    if (zend_string_equals_literal(option, "db_password")) {
        return "password";
    }
    /* other options of Symfony's stores begin so */
    return strncmp(ZSTR_VAL(option), "db_", 3) == 0 ? NULL : ZSTR_VAL(option);
}

static bool add_option(php_latch_sql_settings *settings, zend_string *option, zval *value)
{
    const char *name = setting_of_option(option);

    if (name == NULL || Z_TYPE_P(value) == IS_NULL
        || (name != ZSTR_VAL(option) && Z_TYPE_P(value) == IS_STRING && Z_STRLEN_P(value) == 0)) {
        return true; /* PDO takes an empty name as none */
    }
    if (Z_TYPE_P(value) > IS_STRING) {
        php_latch_throw_option(ZSTR_VAL(option), "is not a text, a number or a boolean");
        return false;
    }
    return add_setting(settings,
                       name == ZSTR_VAL(option) ? zend_string_copy(option)
                                                : zend_string_init(name, strlen(name), 0),
                       value);
}

static HashTable *attributes_of(HashTable *options)
{
    zval *attributes = zend_hash_str_find_deref(options, ZEND_STRL("db_connection_options"));

    return attributes != NULL && Z_TYPE_P(attributes) == IS_ARRAY ? Z_ARR_P(attributes) : NULL;
}

bool php_latch_sql_settings_collect(php_latch_sql_settings *settings, HashTable *options)
{
    HashTable *attributes = attributes_of(options);
    size_t count = zend_hash_num_elements(options)
                   + (attributes != NULL ? zend_hash_num_elements(attributes) : 0);
    zend_string *option;
    zval *value;

    settings->list = safe_emalloc(count, sizeof(*settings->list), 0);
    settings->texts = safe_emalloc(count, 2 * sizeof(*settings->texts), 0);
    settings->count = 0;
    if (attributes != NULL && !add_attributes(settings, attributes)) {
        return false;
    }
    ZEND_HASH_FOREACH_STR_KEY_VAL(options, option, value)
    {
        ZVAL_DEREF(value);
        if (option != NULL && !add_option(settings, option, value)) {
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}
