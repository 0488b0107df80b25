/*
 * Options of a table. The names go into statements: as they are given, as Symfony does it, so that
 * the server folds their case as it does for Symfony; quoted with Laravel's layout, as Laravel does
 * it. So each must be a name, with or without quotes of its own, or several with dots between them.
 */
#include "src/store/sql/table/table.h"

#include <string.h>

static const latch_table_options defaults[] = {
    [LATCH_TABLE_SYMFONY] = {.table = "lock_keys",
                             .id_column = "key_id",
                             .token_column = "key_token",
                             .expiration_column = "key_expiration"},
    [LATCH_TABLE_LARAVEL] = {.table = "cache_locks",
                             .id_column = "key",
                             .token_column = "owner",
                             .expiration_column = "expiration"},
};

/* ---- Checks --------------------------------------------------------------------------------- */

static bool is_bare_name_byte(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')
           || (byte >= '0' && byte <= '9') || byte == '_' || byte >= 0x80;
}

/* The end of the first part of a name; NULL: it is none. */
static const char *end_of_part(const char *name)
{
    size_t length = 0;
    const char *end;

    if (*name == '"' || *name == '`') {
        end = strchr(name + 1, *name);
        return end != NULL && end > name + 1 && memchr(name, '\\', (size_t) (end - name)) == NULL
                   ? end + 1
                   : NULL;
    }
    while (is_bare_name_byte((unsigned char) name[length])) {
        length++;
    }
    return length > 0 && (*name < '0' || *name > '9') ? name + length : NULL;
}

static bool is_name(const char *name, bool may_have_dots)
{
    const char *end = end_of_part(name);

    while (may_have_dots && end != NULL && *end == '.') {
        end = end_of_part(end + 1);
    }
    return end != NULL && *end == '\0' && end - name <= TABLE_IDENTIFIER_MAX;
}

static latch_status check_table_name(const char *what, const char *name, bool may_have_dots,
                                     latch_error *error)
{
    return is_name(name, may_have_dots)
               ? LATCH_DONE
               : latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                            "the name of the %s is not one that can stand in a statement: it is "
                            "made of letters, digits and \"_\", or is in quotes%s",
                            what, may_have_dots ? "; dots may be between several" : "");
}

static latch_status check_table(const latch_table_options *table, latch_error *error)
{
    latch_status status = check_table_name("table", table->table, true, error);

    if (status == LATCH_DONE) {
        status = check_table_name("column of names", table->id_column, false, error);
    }
    if (status == LATCH_DONE) {
        status = check_table_name("column of tokens", table->token_column, false, error);
    }
    if (status == LATCH_DONE) {
        status =
            check_table_name("column of expiration times", table->expiration_column, false, error);
    }
    if (status == LATCH_DONE && table->fencing && strchr(table->table, '\'') != NULL) {
        status = latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                            "the name of a table with fencing tokens has no apostrophe");
    }
    if (status == LATCH_DONE && !(table->prune_probability >= 0 && table->prune_probability <= 1)) {
        status = latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                            "the probability of pruning is a number from 0 to 1");
    }
    return status;
}

static void use_default(const char **name, const char *otherwise)
{
    if (*name == NULL) {
        *name = otherwise;
    }
}

static latch_table_options complete_table(const latch_table_options *given)
{
    latch_table_options table = given != NULL ? *given
                                              : (latch_table_options){.prune_probability = 0};
    const latch_table_options *otherwise = &defaults[table.layout];

    use_default(&table.table, otherwise->table);
    use_default(&table.id_column, otherwise->id_column);
    use_default(&table.token_column, otherwise->token_column);
    use_default(&table.expiration_column, otherwise->expiration_column);
    use_default(&table.prefix, "");
    use_default(&table.driver, "");
    return table;
}

/* ---- The copy ------------------------------------------------------------------------------- */

/* Adds a text, with its NUL, to a block whose end is *end; NULL stays NULL. */
static const char *add_text(char **end, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *copy = size > 0 ? memcpy(*end, text, size) : NULL;

    *end += size;
    return copy;
}

static size_t size_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static size_t size_of_table_options(const latch_store_options *given,
                                    const latch_table_options *table)
{
    size_t size = sizeof(table_options) + given->setting_count * sizeof(latch_setting)
                  + given->dsn_length + 1 + size_of(table->table) + size_of(table->id_column)
                  + size_of(table->token_column) + size_of(table->expiration_column)
                  + size_of(table->prefix) + size_of(table->driver);

    for (size_t at = 0; at < given->setting_count; at++) {
        size += size_of(given->settings[at].name) + size_of(given->settings[at].value);
    }
    return size;
}

static void copy_table_options(table_options *copy, const latch_store_options *given,
                               const latch_table_options *table)
{
    char *end;

    copy->settings = (latch_setting *) (copy + 1);
    copy->setting_count = given->setting_count;
    end = (char *) (copy->settings + given->setting_count);
    for (size_t at = 0; at < given->setting_count; at++) {
        copy->settings[at].name = add_text(&end, given->settings[at].name);
        copy->settings[at].value = add_text(&end, given->settings[at].value);
    }
    copy->table = *table;
    copy->table.table = add_text(&end, table->table);
    copy->table.id_column = add_text(&end, table->id_column);
    copy->table.token_column = add_text(&end, table->token_column);
    copy->table.expiration_column = add_text(&end, table->expiration_column);
    copy->table.prefix = add_text(&end, table->prefix);
    copy->table.driver = add_text(&end, table->driver);
    copy->dsn = NULL;
    copy->dsn_length = given->dsn_length;
    if (given->dsn != NULL) {
        copy->dsn = memcpy(end, given->dsn, given->dsn_length);
        copy->dsn[given->dsn_length] = '\0';
    }
}

latch_status latch_table_options_copy(latch_engine *engine, const latch_store_options *given,
                                      table_options **copy, latch_error *error)
{
    const latch_table_options table = complete_table(given->table);
    latch_status status = check_table(&table, error);
    size_t size = size_of_table_options(given, &table);

    if (status != LATCH_DONE) {
        return status;
    }
    *copy = latch_allocate(engine, size);
    if (*copy == NULL) {
        return latch_fail_memory(error);
    }
    (*copy)->size = size;
    copy_table_options(*copy, given, &table);
    return LATCH_DONE;
}

void latch_table_options_free(latch_engine *engine, table_options *options)
{
    if (options != NULL) {
        explicit_bzero(options, options->size);
        latch_free(engine, options);
    }
}
