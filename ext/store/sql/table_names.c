/*
 * Names of a table and its columns, from the options of a constructor. Symfony's store writes them
 * into its statements as they are; here what could end a name, and begin something else, is
 * refused.
 */
#include "ext/store/sql/table.h"

#include "ext/php/errors.h"

#define NAME_MAX_LENGTH 190 /* bytes: a table in a schema in a catalogue, each of 63 */

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

bool php_latch_table_names_read(php_latch_table_names *names, HashTable *options)
{
    *names = (php_latch_table_names){.table = NULL};
    names->table = read_name(options, "db_table", "lock_keys", true);
    if (names->table != NULL) {
        names->id = read_name(options, "db_id_col", "key_id", false);
    }
    if (names->id != NULL) {
        names->token = read_name(options, "db_token_col", "key_token", false);
    }
    if (names->token != NULL) {
        names->expiration = read_name(options, "db_expiration_col", "key_expiration", false);
    }
    return names->expiration != NULL;
}

void php_latch_table_names_free(php_latch_table_names *names)
{
    zend_string *const all[] = {names->table, names->id, names->token, names->expiration};

    for (size_t at = 0; at < sizeof(all) / sizeof(*all); at++) {
        if (all[at] != NULL) {
            zend_string_release(all[at]);
        }
    }
}
