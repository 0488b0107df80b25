/*
 * Names of a table and its columns, from the options of a constructor. Symfony's store writes them
 * into its statements as they are; here what could end a name, and begin something else, is
 * refused.
 */
#include "ext/store/sql/table.h"

#include "ext/php/errors.h"

#define NAME_MAX_LENGTH 190   /* bytes: a table in a schema in a catalogue, each of 63 */
#define PREFIX_MAX_LENGTH 190 /* bytes: of the 255 that a name of Laravel's can have */

/* By the layout. */
static const struct {
    const char *name, *table, *id, *token, *expiration;
} layouts[] = {
    [LATCH_TABLE_SYMFONY] = {"symfony", "lock_keys", "key_id", "key_token", "key_expiration"},
    [LATCH_TABLE_LARAVEL] = {"laravel", "cache_locks", "key", "owner", "expiration"},
};

/* The end of a name, quoted or not, that begins there; NULL: there is none. */
static const char *end_of_name(const char *text)
{
    static const char quotes[][2] = {{'"', '"'}, {'`', '`'}, {'[', ']'}};
    const char *end = text;

    for (size_t at = 0; at < sizeof(quotes) / sizeof(*quotes); at++) {
        if (*text == quotes[at][0]) {
            end = strchr(text + 1, quotes[at][1]);
            return end != NULL && end > text + 1 && text[strcspn(text, "\\")] == '\0' ? end + 1
                                                                                      : NULL;
        }
    }
    while (*end != '\0'
           && (isalnum((unsigned char) *end) || strchr("_$#@", *end) != NULL
               || (unsigned char) *end >= 0x80)) {
        end++;
    }
    return end > text ? end : NULL;
}

/* Is it a name; of a table, also with its schema's in front? */
static bool is_identifier(const zend_string *text, bool has_schema)
{
    const char *at = end_of_name(ZSTR_VAL(text));

    while (at != NULL && *at == '.' && has_schema) {
        at = end_of_name(at + 1);
    }
    return at == ZSTR_VAL(text) + ZSTR_LEN(text) && ZSTR_LEN(text) <= NAME_MAX_LENGTH;
}

static zend_string *read_name(HashTable *options, const char *option, const char *otherwise,
                              bool has_schema)
{
    zval *value = zend_hash_str_find_deref(options, option, strlen(option));

    if (value == NULL || Z_TYPE_P(value) == IS_NULL) {
        return zend_string_init(otherwise, strlen(otherwise), 0);
    }
    if (Z_TYPE_P(value) != IS_STRING || !is_identifier(Z_STR_P(value), has_schema)) {
        php_latch_throw_option(option, has_schema
                                           ? "is not the name of a table, as in \"lock_keys\" or "
                                             "\"app.lock_keys\""
                                           : "is not the name of a column, as in \"key_id\"");
        return NULL;
    }
    return zend_string_copy(Z_STR_P(value));
}

/* An option that is not there is NULL, as one of null. */
static zval *find_table_option(HashTable *options, const char *option)
{
    zval *value = zend_hash_str_find_deref(options, option, strlen(option));

    return value != NULL && Z_TYPE_P(value) == IS_NULL ? NULL : value;
}

/* False after throwing. */
static bool read_layout(php_latch_table_names *names, HashTable *options)
{
    zval *value = find_table_option(options, "layout");

    if (value == NULL) {
        return true;
    }
    for (size_t at = 0; at < sizeof(layouts) / sizeof(*layouts); at++) {
        if (Z_TYPE_P(value) == IS_STRING
            && zend_string_equals_cstr(Z_STR_P(value), layouts[at].name,
                                       strlen(layouts[at].name))) {
            names->layout = (latch_table_layout) at;
            return true;
        }
    }
    php_latch_throw_option("layout", "is not \"symfony\" or \"laravel\"");
    return false;
}

/* False after throwing. */
static bool read_table_prefix(php_latch_table_names *names, HashTable *options)
{
    zval *value = find_table_option(options, "prefix");

    if (value == NULL) {
        return true;
    }
    if (names->layout != LATCH_TABLE_LARAVEL) {
        php_latch_throw_option("prefix", "goes with the layout \"laravel\" alone");
        return false;
    }
    if (Z_TYPE_P(value) != IS_STRING || Z_STRLEN_P(value) > PREFIX_MAX_LENGTH
        || strlen(Z_STRVAL_P(value)) != Z_STRLEN_P(value)) {
        php_latch_throw_option("prefix", "is not a text of up to 190 bytes without a NUL");
        return false;
    }
    names->prefix = zend_string_copy(Z_STR_P(value));
    return true;
}

/* False after throwing. */
static bool read_fencing(php_latch_table_names *names, HashTable *options)
{
    zval *value = find_table_option(options, "fencing");

    if (value == NULL) {
        return true;
    }
    if (Z_TYPE_P(value) > IS_STRING || Z_TYPE_P(value) == IS_DOUBLE) {
        php_latch_throw_option("fencing", "is not a boolean");
        return false;
    }
    names->fencing = zend_is_true(value);
    return true;
}

bool php_latch_table_names_read(php_latch_table_names *names, HashTable *options)
{
    *names = (php_latch_table_names){.layout = LATCH_TABLE_SYMFONY};
    if (!read_layout(names, options)) {
        return false;
    }
    names->table = read_name(options, "db_table", layouts[names->layout].table, true);
    if (names->table != NULL) {
        names->id = read_name(options, "db_id_col", layouts[names->layout].id, false);
    }
    if (names->id != NULL) {
        names->token = read_name(options, "db_token_col", layouts[names->layout].token, false);
    }
    if (names->token != NULL) {
        names->expiration =
            read_name(options, "db_expiration_col", layouts[names->layout].expiration, false);
    }
    return names->expiration != NULL && read_table_prefix(names, options)
           && read_fencing(names, options);
}

void php_latch_table_names_free(php_latch_table_names *names)
{
    zend_string *const all[] = {names->table, names->id, names->token, names->expiration,
                                names->prefix};

    for (size_t at = 0; at < sizeof(all) / sizeof(*all); at++) {
        if (all[at] != NULL) {
            zend_string_release(all[at]);
        }
    }
}
