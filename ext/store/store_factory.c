/*
 * Latch\Store\StoreFactory. For what Latch has no store, Composer's classes serve in drop-in mode:
 * there they are on our interfaces. They are made as Symfony's own factory makes them. Under
 * Latch's own names they would not fit.
 */
#include "ext/php/errors.h"
#include "ext/php/interfaces.h"
#include "ext/store/redis/client.h"
#include "ext/store/redis/redis_store.h"
#include "ext/store/stores.h"

#include "ext/spl/spl_exceptions.h"
#include "ext/standard/url.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"

#include "stubs/store_factory_arginfo.h"

#define LATCH_STORE "Latch\\Store\\"
#define REDIS_STORE LATCH_STORE "RedisStore"
#define COMPOSER_STORE "Symfony\\Component\\Lock\\Store\\"
/* The one that is a package of its own. */
#define DYNAMODB_STORE "Symfony\\Component\\Lock\\Bridge\\DynamoDb\\Store\\DynamoDbStore"

/* A form of DSNs, and who makes its store: leaves it undefined where there is none, or after
 * throwing. */
typedef struct dsn_form {
    const char *text; /* the whole DSN; with ":" or "/" at the end its beginning */
    const char *class;
    void (*make)(const struct dsn_form *form, zend_string *dsn, zval *store);
} dsn_form;

static void make(const char *class, uint32_t count, zval *arguments, zval *store)
{
    zend_class_entry *ce = php_latch_load_class(class);

    if (ce == NULL) {
        if (EG(exception) == NULL && strcmp(class, DYNAMODB_STORE) == 0) {
            zend_throw_exception_ex(spl_ce_LogicException, 0,
                                    "Class \"%s\" is missing. Try running \"composer require "
                                    "symfony/amazon-dynamo-db-lock\" to install the lock store "
                                    "package.",
                                    class);
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

/* ---- DSNs of Latch's stores ----------------------------------------------------------------- */

static bool is_whole(const dsn_form *form)
{
    char last = form->text[strlen(form->text) - 1];

    return last != ':' && last != '/';
}

static zend_string *rest_of(const dsn_form *form, zend_string *dsn)
{
    size_t start = strlen(form->text);

    return zend_string_init(ZSTR_VAL(dsn) + start, ZSTR_LEN(dsn) - start, 0);
}

static void make_without(const dsn_form *form, zend_string *dsn, zval *store)
{
    (void) dsn;
    make(form->class, 0, NULL, store);
}

static void make_with_dsn(const dsn_form *form, zend_string *dsn, zval *store)
{
    zval argument;

    ZVAL_STR(&argument, dsn);
    make(form->class, 1, &argument, store);
}

/*
 * Of flock: the directory, or NULL after throwing. "flock://user:password@host" would make a
 * directory that tells the password. Symfony's store does, under whose names that is left so.
 */
static zend_string *directory_of(const dsn_form *form, zend_string *dsn)
{
    zend_string *rest = rest_of(form, dsn);

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

static void make_in_directory(const dsn_form *form, zend_string *dsn, zval *store)
{
    zend_string *directory = directory_of(form, dsn);
    zval argument;

    if (directory != NULL) {
        ZVAL_STR(&argument, directory);
        make(form->class, 1, &argument, store);
        zval_ptr_dtor(&argument);
    }
}

static void make_with_decoded_rest(const dsn_form *form, zend_string *dsn, zval *store)
{
    zend_string *rest = rest_of(form, dsn);
    zval argument;

    ZSTR_LEN(rest) = php_raw_url_decode(ZSTR_VAL(rest), ZSTR_LEN(rest));
    ZVAL_STR(&argument, rest);
    make(form->class, 1, &argument, store);
    zval_ptr_dtor(&argument);
}

/* Of flock: remove on release. */
static void make_removing(const dsn_form *form, zend_string *dsn, zval *store)
{
    zval arguments[2];

    ZVAL_NULL(&arguments[0]);
    if (!is_whole(form)) {
        zend_string *directory = directory_of(form, dsn);

        if (directory == NULL) {
            return;
        }
        ZVAL_STR(&arguments[0], directory);
    }
    ZVAL_TRUE(&arguments[1]);
    make(form->class, 2, arguments, store);
    zval_ptr_dtor(&arguments[0]);
}

/* ---- Clients that Composer's packages make -------------------------------------------------- */

/* Makes a store of what that static method returns; it gets the DSN, and the options if there are
 * some. */
static void make_with_client(const dsn_form *form, zend_class_entry *maker, zend_string *dsn,
                             HashTable *options, zval *store)
{
    zend_function *method =
        zend_hash_str_find_ptr(&maker->function_table, ZEND_STRL("createconnection"));
    zval arguments[2], client;

    if (method == NULL) {
        return;
    }
    ZVAL_STR(&arguments[0], dsn);
    if (options != NULL) {
        ZVAL_ARR(&arguments[1], options);
    }
    ZVAL_UNDEF(&client);
    zend_call_known_function(method, NULL, maker, &client, options != NULL ? 2 : 1, arguments,
                             NULL);
    if (EG(exception) == NULL) {
        make(form->class, 1, &client, store);
    }
    zval_ptr_dtor(&client);
}

/* `why`: our own store cannot serve it, if there is one. */
static void make_by_cache(const dsn_form *form, zend_string *dsn, const latch_error *why,
                          zval *store)
{
    zend_class_entry *adapter =
        php_latch_load_class("Symfony\\Component\\Cache\\Adapter\\AbstractAdapter");
    HashTable *options;
    zval lazy;

    if (adapter == NULL) {
        if (EG(exception) == NULL) {
            if (why != NULL) {
                php_latch_throw_redis_dsn(why, "connection");
            }
            zend_throw_exception(php_latch_invalid_argument_ce,
                                 "Unsupported Redis or Memcached DSN. Try running \"composer "
                                 "require symfony/cache\".",
                                 0);
        }
        return;
    }
    options = zend_new_array(1);
    ZVAL_TRUE(&lazy);
    zend_hash_str_add_new(options, ZEND_STRL("lazy"), &lazy);
    make_with_client(form, adapter, dsn, options, store);
    zend_array_release(options);
}

static void make_memcached(const dsn_form *form, zend_string *dsn, zval *store)
{
    make_by_cache(form, dsn, NULL, store);
}

/*
 * An option that Symfony's connections ignore, but on Predis: processes with Latch and without
 * would not exclude each other. It is looked for anywhere, as whoever is served by Composer's class
 * without need is served all the same.
 */
static bool has_prefix(const zend_string *dsn, latch_error *error)
{
    if (strstr(ZSTR_VAL(dsn), "prefix=") == NULL) {
        return false;
    }
    *error = (latch_error){
        .status = LATCH_ERROR_UNSUPPORTED,
        .message = "Symfony's connections know no option \"prefix\"; leave it out, or make the "
                   "store by new Latch\\Store\\RedisStore()",
    };
    return true;
}

static void make_redis(const dsn_form *form, zend_string *dsn, zval *store)
{
    latch_error error;

    if (!(LATCH_G(symfony) && has_prefix(dsn, &error))
        && php_latch_redis_store_make(store, dsn, &error) == LATCH_DONE) {
        return;
    }
    if (LATCH_G(symfony) && error.status == LATCH_ERROR_UNSUPPORTED) {
        make_by_cache(form, dsn, &error, store);
    } else {
        php_latch_throw_redis_dsn(&error, "connection");
    }
}

static void make_zookeeper(const dsn_form *form, zend_string *dsn, zval *store)
{
    zend_class_entry *ce = php_latch_load_class(form->class);

    if (ce != NULL) {
        make_with_client(form, ce, dsn, NULL, store);
    }
}

/* ---- Which form, which client --------------------------------------------------------------- */

static const dsn_form our_forms[] = {
    {"flock", LATCH_STORE "FlockStore", make_without},
    {"flock://", LATCH_STORE "FlockStore", make_in_directory},
    {"flock+remove", LATCH_STORE "FlockStore", make_removing},
    {"flock+remove://", LATCH_STORE "FlockStore", make_removing},
    {"semaphore", LATCH_STORE "SemaphoreStore", make_without},
    {"semaphore://", LATCH_STORE "SemaphoreStore", make_with_decoded_rest},
    {"in-memory", LATCH_STORE "InMemoryStore", make_without},
    {"null", LATCH_STORE "NullStore", make_without},
    {"redis:", REDIS_STORE, make_redis},
    {"rediss:", REDIS_STORE, make_redis},
    {"valkey:", REDIS_STORE, make_redis},
    {"valkeys:", REDIS_STORE, make_redis},
    {"pgsql+advisory://", LATCH_STORE "DoctrineDbalPostgreSqlStore", make_with_dsn},
    {"postgres+advisory://", LATCH_STORE "DoctrineDbalPostgreSqlStore", make_with_dsn},
    {"postgresql+advisory://", LATCH_STORE "DoctrineDbalPostgreSqlStore", make_with_dsn},
    {"pgsql+advisory:", LATCH_STORE "PostgreSqlStore", make_with_dsn},
    {"mysql+advisory://", LATCH_STORE "DoctrineDbalMysqlStore", make_with_dsn},
    {"mysql+advisory:", LATCH_STORE "MysqlStore", make_with_dsn},
};

static const dsn_form composers_forms[] = {
    {"dynamodb://", DYNAMODB_STORE, make_with_dsn},
    {"memcached:", COMPOSER_STORE "MemcachedStore", make_memcached},
    {"mongodb:", COMPOSER_STORE "MongoDbStore", make_with_dsn},
    {"mongodb+srv:", COMPOSER_STORE "MongoDbStore", make_with_dsn},
    {"mssql://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"mysql://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"mysql2://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"oci8://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"pdo_oci://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"pgsql://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"postgres://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"postgresql://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"sqlite://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"sqlite3://", COMPOSER_STORE "DoctrineDbalStore", make_with_dsn},
    {"mysql:", COMPOSER_STORE "PdoStore", make_with_dsn},
    {"oci:", COMPOSER_STORE "PdoStore", make_with_dsn},
    {"pgsql:", COMPOSER_STORE "PdoStore", make_with_dsn},
    {"sqlsrv:", COMPOSER_STORE "PdoStore", make_with_dsn},
    {"sqlite:", COMPOSER_STORE "PdoStore", make_with_dsn},
    {"zookeeper://", COMPOSER_STORE "ZookeeperStore", make_zookeeper},
};

/* Classes of client objects, in lower case, and the stores on them; our own takes those of Redis.
 */
static const struct {
    const char *client, *store;
} composers_clients[] = {
    {"asyncaws\\dynamodb\\dynamodbclient", DYNAMODB_STORE},
    {"memcached", COMPOSER_STORE "MemcachedStore"},
    {"mongodb\\collection", COMPOSER_STORE "MongoDbStore"},
    {"pdo", COMPOSER_STORE "PdoStore"},
    {"doctrine\\dbal\\connection", COMPOSER_STORE "DoctrineDbalStore"},
    {"zookeeper", COMPOSER_STORE "ZookeeperStore"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool has_form(const dsn_form *form, zend_string *dsn)
{
    size_t length = strlen(form->text);

    return zend_string_starts_with_cstr(dsn, form->text, length)
           && (!is_whole(form) || ZSTR_LEN(dsn) == length);
}

static void make_of_dsn(zend_string *dsn, zval *store)
{
    for (size_t at = 0; at < COUNT(our_forms); at++) {
        if (has_form(&our_forms[at], dsn)) {
            our_forms[at].make(&our_forms[at], dsn, store);
            return;
        }
    }
    for (size_t at = 0; LATCH_G(symfony) && at < COUNT(composers_forms); at++) {
        if (has_form(&composers_forms[at], dsn)) {
            composers_forms[at].make(&composers_forms[at], dsn, store);
            return;
        }
    }
}

static void make_of_client(zval *client, zval *store)
{
    if (php_latch_is_redis_client(Z_OBJ_P(client))) {
        make(REDIS_STORE, 1, client, store);
        return;
    }
    for (size_t at = 0; LATCH_G(symfony) && at < COUNT(composers_clients); at++) {
        zend_class_entry *ce = php_latch_find_class(composers_clients[at].client);

        if (ce != NULL && instanceof_function(Z_OBJCE_P(client), ce)) {
            make(composers_clients[at].store, 1, client, store);
            return;
        }
    }
}

/* ---- What nobody serves --------------------------------------------------------------------- */

/* A DSN's beginning: its scheme with ":" or "://", or all of it where there is no colon. */
#define HEAD_MAX 31

/* Forms of databases and servers that have others here; in front of what is but spelt alike. */
static const struct {
    const char *scheme, *ours;
} namesakes[] = {
    {"mysql", "mysql+advisory"},
    {"mysql2", "mysql+advisory"},
    {"pdo-mysql", "mysql+advisory"},
    {"mariadb", "mysql+advisory"},
    {"pgsql", "pgsql+advisory"},
    {"postgres", "pgsql+advisory"},
    {"postgresql", "pgsql+advisory"},
    {"postgresql+advisory", "pgsql+advisory"},
    {"pdo-pgsql", "pgsql+advisory"},
    {"file", "flock"},
    {"predis", "redis"},
    {"phpredis", "redis"},
    {"tcp", "redis"},
    {"unix", "redis"},
};

/* How many characters have to be changed, added or left out to make the one of the other. */
static size_t distance_of(const char *one, const char *other)
{
    size_t length = strlen(other), row[HEAD_MAX + 1];

    for (size_t at = 0; at <= length; at++) {
        row[at] = at;
    }
    for (size_t from = 0; one[from] != '\0'; from++) {
        size_t before = row[0];

        row[0] = from + 1;
        for (size_t at = 0; at < length; at++) {
            size_t changed = before + (one[from] != other[at]);

            before = row[at + 1];
            row[at + 1] = MIN(changed, MIN(row[at], before) + 1);
        }
    }
    return row[length];
}

/* The head as it is written. False where it is no scheme: it may be a password, then. */
static bool read_head(zend_string *dsn, char head[HEAD_MAX + 4], size_t *length)
{
    const char *text = ZSTR_VAL(dsn);
    size_t end =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._ ");

    *length = end;
    if (end == 0 || end > HEAD_MAX || (text[end] != ':' && end < ZSTR_LEN(dsn))) {
        return false;
    }
    end += strncmp(text + end, "://", 3) == 0 ? 3 : text[end] == ':';
    snprintf(head, HEAD_MAX + 4, "%.*s", (int) end, text);
    return true;
}

/* The form of ours that is nearest to a scheme; NULL: none is near. */
static const dsn_form *find_nearest(const char *scheme, bool has_colon)
{
    const dsn_form *nearest = NULL;
    size_t least = 3;

    for (size_t at = 0; at < COUNT(namesakes); at++) {
        scheme = strcmp(namesakes[at].scheme, scheme) == 0 ? namesakes[at].ours : scheme;
    }
    for (size_t at = 0; at < COUNT(our_forms); at++) {
        const dsn_form *form = &our_forms[at];
        size_t length = strcspn(form->text, ":"), distance;
        char known[HEAD_MAX + 1] = "";

        memcpy(known, form->text, length);
        distance = distance_of(scheme, known);
        if (distance < least
            || (distance == least && nearest != NULL && is_whole(nearest) == has_colon
                && is_whole(form) != has_colon)) {
            least = distance;
            nearest = form;
        }
    }
    return nearest;
}

static bool is_composers(zend_string *dsn)
{
    for (size_t at = 0; at < COUNT(composers_forms); at++) {
        if (has_form(&composers_forms[at], dsn)) {
            return true;
        }
    }
    return false;
}

/* Says what is wrong with its scheme, and nothing else of it, as that may be a password. */
static void throw_unknown_scheme(zend_string *dsn)
{
    static const char known[] = "known are flock, semaphore, in-memory, null, redis:, rediss:, "
                                "valkey:, valkeys:, pgsql+advisory: and mysql+advisory:";
    const char *hint = is_composers(dsn) ? " (with latch.symfony = 1 Symfony's store serves it)"
                                         : "";
    const dsn_form *nearest = NULL;
    const char *end = "";
    char head[HEAD_MAX + 4], scheme[HEAD_MAX + 1];
    size_t length;
    bool is_read = read_head(dsn, head, &length);

    if (is_read) {
        zend_str_tolower_copy(scheme, head, length);
        nearest = find_nearest(scheme, head[length] == ':');
    }
    if (nearest != NULL) { /* databases have DSNs of two forms */
        size_t form = strcspn(nearest->text, ":");

        if (!is_whole(nearest)) {
            bool is_either = strstr(nearest->text, "+advisory") != NULL && head[length] == ':';

            end = is_either ? head + length : "://";
        }
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "No lock store supports the given DSN: the scheme \"%s\" is "
                                "unknown; did you mean \"%.*s%s\"?%s",
                                head, (int) form, nearest->text, end, hint);
    } else if (is_read && strchr(head, '/') != NULL) {
        zend_throw_exception_ex(
            php_latch_invalid_argument_ce, 0,
            "No lock store supports the given DSN: the scheme \"%s\" is unknown; %s%s", head, known,
            hint);
    } else {
        zend_throw_exception_ex(php_latch_invalid_argument_ce, 0,
                                "No lock store supports the given DSN: it begins with no scheme; "
                                "%s%s",
                                known, hint);
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
        throw_unknown_scheme(Z_STR_P(connection));
    }
}

/* As PHP does it for the return types of PHP code; false after throwing. */
static bool check_store(const zend_class_entry *ce)
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
    if (!check_store(Z_OBJCE(store))) {
        zval_ptr_dtor(&store);
        RETURN_THROWS();
    }
    RETURN_COPY_VALUE(&store);
}

void php_latch_register_store_factory(void)
{
    register_class_Latch_Store_StoreFactory();
}
