/*
 * Where a table is, and by whom its statements are sent: by the engine's store "table", in a
 * session of its own or through a connection of PHP code; or, for databases that the engine does
 * not know, by the statements in table_requests.c.
 */
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/sql/table.h"
#include "ext/store/store_class.h"

#include "zend_exceptions.h"

/* PDO's names of the databases that the engine has statements for. */
#define POSTGRESQL "pgsql"
#define MYSQL "mysql"
#define SQLITE "sqlite"

/* Schemes of DSNs and URLs, and names of DBAL's drivers. */
static const char *const synonyms[][2] = {
    {"pgsql", POSTGRESQL},     {"postgres", POSTGRESQL}, {"postgresql", POSTGRESQL},
    {"pdo_pgsql", POSTGRESQL}, {"mysql", MYSQL},         {"mysql2", MYSQL},
    {"pdo_mysql", MYSQL},      {"mysqli", MYSQL},        {"sqlite", SQLITE},
    {"sqlite3", SQLITE},       {"pdo_sqlite", SQLITE},
};

/* PDO's name of the driver; NULL: none that the engine knows. */
static const char *driver_by_name(const char *name, size_t length)
{
    for (size_t at = 0; at < sizeof(synonyms) / sizeof(*synonyms); at++) {
        if (strlen(synonyms[at][0]) == length && memcmp(synonyms[at][0], name, length) == 0) {
            return synonyms[at][1];
        }
    }
    return NULL;
}

static const char *driver_of_dsn(zend_string *dsn)
{
    return driver_by_name(ZSTR_VAL(dsn), strcspn(ZSTR_VAL(dsn), ":"));
}

/*
 * The same of a connection. One of DBAL's is asked for its parameters, as its platform may be known
 * only when it is connected; leaves what is thrown.
 */
static const char *driver_of_connection(zend_object *connection, php_latch_sql_client client)
{
    const char *driver = NULL;
    zval answer, *name = &answer;

    if (client == PHP_LATCH_PDO) {
        php_latch_pdo_attribute(connection, PHP_LATCH_PDO_ATTR_DRIVER_NAME, &answer);
    } else {
        php_latch_call_method(connection, "getparams", &answer, 0, NULL);
        name = Z_TYPE(answer) == IS_ARRAY
                   ? zend_hash_str_find_deref(Z_ARR(answer), ZEND_STRL("driver"))
                   : NULL;
    }
    if (name != NULL && Z_TYPE_P(name) == IS_STRING) {
        driver = driver_by_name(Z_STRVAL_P(name), Z_STRLEN_P(name));
    }
    zval_ptr_dtor(&answer);
    return driver;
}

static bool has_library(const char *driver)
{
    bool has = false;

#ifdef LATCH_WITH_PGSQL
    has |= strcmp(driver, POSTGRESQL) == 0;
#endif
#ifdef LATCH_WITH_MYSQL
    has |= strcmp(driver, MYSQL) == 0;
#endif
#ifdef LATCH_WITH_SQLITE
    has |= strcmp(driver, SQLITE) == 0;
#endif
    (void) driver;
    return has;
}

/* Under open_basedir a file of SQLite is left to PDO, which knows what it has to check. */
bool php_latch_table_is_native(zend_string *dsn)
{
    const char *driver = driver_of_dsn(dsn);
    bool is_confined = PG(open_basedir) != NULL && *PG(open_basedir) != '\0';

    return driver != NULL && has_library(driver) && !(strcmp(driver, SQLITE) == 0 && is_confined);
}

/* ---- By the engine -------------------------------------------------------------------------- */

/* False: it is none of the values. */
static bool parse_row_names(const char *text, latch_table_names *names)
{
    static const char *const values[] = {
        [LATCH_TABLE_HASH] = "hash", [LATCH_TABLE_PLAIN] = "plain", [LATCH_TABLE_BOTH] = "both"};

    for (size_t at = 0; at < sizeof(values) / sizeof(*values); at++) {
        if (strcmp(text, values[at]) == 0) {
            *names = (latch_table_names) at;
            return true;
        }
    }
    return false;
}

ZEND_INI_MH(php_latch_update_lock_names)
{
    latch_table_names names;

    if (new_value == NULL || !parse_row_names(ZSTR_VAL(new_value), &names)) {
        zend_error(E_WARNING, "latch.lock_names must be \"hash\", \"plain\" or \"both\"");
        return FAILURE;
    }
    LATCH_G(lock_names) = names;
    return SUCCESS;
}

/* Which rows are a lock, by the option or else the setting; false after throwing. */
static bool read_row_names(const php_latch_table_place *place, latch_table_names *names)
{
    zval *option = zend_hash_str_find_deref(place->options, ZEND_STRL("names"));

    *names = LATCH_G(lock_names);
    if (option == NULL || Z_TYPE_P(option) == IS_NULL) {
        return true;
    }
    if (place->names->layout == LATCH_TABLE_LARAVEL) {
        php_latch_throw_option("names", "goes with the layout \"symfony\" alone");
        return false;
    }
    if (Z_TYPE_P(option) == IS_STRING && parse_row_names(Z_STRVAL_P(option), names)) {
        return true;
    }
    php_latch_throw_option("names", "is not \"hash\", \"plain\" or \"both\"");
    return false;
}

/* The first option that needs statements of the engine's; NULL: there is none. */
static const char *find_option_of_engine(HashTable *options)
{
    static const char *const names[] = {"names", "layout", "prefix", "fencing"};

    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        if (zend_hash_str_exists(options, names[at], strlen(names[at]))) {
            return names[at];
        }
    }
    return NULL;
}

/* The options that go to PDO's constructor, as settings; false after throwing. */
static bool collect_login(php_latch_sql_settings *settings, HashTable *options)
{
    static const char *const names[] = {"db_username", "db_password", "db_connection_options"};
    HashTable *login = zend_new_array(3);
    bool is_collected;

    for (size_t at = 0; at < sizeof(names) / sizeof(*names); at++) {
        zval *option = zend_hash_str_find_deref(options, names[at], strlen(names[at]));

        if (option != NULL) {
            Z_TRY_ADDREF_P(option);
            zend_hash_str_add_new(login, names[at], strlen(names[at]), option);
        }
    }
    is_collected = php_latch_sql_settings_collect(settings, login);
    zend_array_release(login);
    return is_collected;
}

/*
 * The DSN, as a new reference; with an absolute path where PDO takes a relative one, as a thread of
 * PHP's has a working directory of its own.
 */
static zend_string *absolute_dsn(zend_string *dsn)
{
    static const char scheme[] = "sqlite:";
    const char *path = ZSTR_VAL(dsn) + strlen(scheme);
    char absolute[MAXPATHLEN];

    if (!zend_string_starts_with_cstr(dsn, scheme, strlen(scheme)) || strchr("/:", *path) != NULL
        || strncmp(path, "file:", strlen("file:")) == 0
        || expand_filepath(path, absolute) == NULL) {
        return zend_string_copy(dsn);
    }
    return zend_string_concat2(scheme, strlen(scheme), absolute, strlen(absolute));
}

static void open_native(php_latch_store *store, const php_latch_table_place *place,
                        latch_store_options *options)
{
    zend_string *dsn = absolute_dsn(place->dsn);
    php_latch_sql_settings settings;
    latch_store *opened;
    latch_error error;

    options->dsn = ZSTR_VAL(dsn);
    options->dsn_length = ZSTR_LEN(dsn);
    if (collect_login(&settings, place->options)) {
        options->settings = settings.list;
        options->setting_count = settings.count;
        opened = latch_store_open(php_latch_engine, "table", options, &error);
        if (opened != NULL) {
            store->backend = php_latch_backend_share(opened);
        } else {
            php_latch_throw_dsn(&php_latch_locks, &error,
                                php_latch_sql_client_classes[place->client].argument);
        }
    }
    php_latch_sql_settings_free(&settings);
    zend_string_release(dsn);
}

static php_latch_sql_connection connection_of_place(const php_latch_table_place *place)
{
    return place->connection != NULL ? php_latch_sql_connection_of(place->connection, place->client)
                                     : php_latch_sql_connection_to(place->dsn, place->options);
}

/* Opens a store by a connection of PHP code, which ends with the request at the latest. */
static void open_on_place(php_latch_store *store, const php_latch_table_place *place,
                          const char *name, latch_store_options *options)
{
    latch_error error;
    latch_store *opened = latch_store_open(php_latch_engine, name, options, &error);

    if (opened != NULL) {
        store->backend = php_latch_backend_share_on_connection(opened, place->connection != NULL
                                                                           ? place->connection
                                                                           : &store->std);
        return;
    }
    if (options->runner != NULL) {
        options->runner->close(options->runner->context);
    } else {
        options->calls->close(options->calls->context);
    }
    zend_throw_exception(error.status == LATCH_ERROR_ARGUMENT ? php_latch_invalid_argument_ce
                                                              : php_latch_storage_ce,
                         error.message, 0);
}

static void open_by_engine(php_latch_store *store, const php_latch_table_place *place,
                           const char *driver)
{
    latch_table_options table = {
        .table = ZSTR_VAL(place->names->table),
        .id_column = ZSTR_VAL(place->names->id),
        .token_column = ZSTR_VAL(place->names->token),
        .expiration_column = ZSTR_VAL(place->names->expiration),
        .layout = place->names->layout,
        .prefix = place->names->prefix != NULL ? ZSTR_VAL(place->names->prefix) : NULL,
        .fencing = place->names->fencing,
        .prune_probability = place->probability,
        .driver = driver,
        .state_name = latch_store_find(place->name)->state_name,
    };
    latch_store_options options = {.table = &table};
    latch_sql_runner runner;

    if (!read_row_names(place, &table.names)) {
        return;
    }
    if (place->connection == NULL && php_latch_table_is_native(place->dsn)) {
        open_native(store, place, &options);
    } else {
        runner = php_latch_sql_runner(connection_of_place(place));
        options.runner = &runner;
        open_on_place(store, place, "table", &options);
    }
}

void php_latch_table_open(php_latch_store *store, const php_latch_table_place *place)
{
    const char *driver = place->connection != NULL
                             ? driver_of_connection(place->connection, place->client)
                             : driver_of_dsn(place->dsn);
    const char *option = find_option_of_engine(place->options);
    latch_store_calls calls;
    latch_store_options options = {.calls = &calls};

    if (EG(exception) != NULL) {
        return;
    }
    if (driver != NULL) {
        open_by_engine(store, place, driver);
    } else if (option != NULL) {
        php_latch_throw_option(option, "is for PostgreSQL, MySQL and SQLite alone");
    } else {
        calls = php_latch_table_calls(php_latch_table_session_open(connection_of_place(place)),
                                      place->names, place->probability);
        open_on_place(store, place, place->name, &options);
    }
}
