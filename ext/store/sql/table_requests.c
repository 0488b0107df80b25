/*
 * Requests on locks in tables of databases that the engine's store "table" has no statements for,
 * and of those that tell only when they are connected which they are: Symfony's statements, an
 * insert, and for a row that is there an update. But the final expiry comes with the first one, and
 * is never early. A row that has expired is anybody's.
 */
#include "ext/store/sql/table.h"

#include "ext/php/digest.h"

#include "zend_exceptions.h"
#include "zend_smart_str.h"

#include <unistd.h>

#define ID_SIZE 65   /* a sha256 in hex */
#define TIME_SIZE 32 /* a number of seconds */
#define TRIES_MAX 4  /* of a statement that the server gives up for another */

/* A kind of database. Formats get the number of seconds, or the client's time, as their text. */
typedef struct table_dialect {
    const char *driver, *platform; /* PDO's name, the class of DBAL's */
    const char *now;               /* as Symfony's, but for transactions in PostgreSQL */
    const char *expiry;            /* when a TTL is over that begins now: never early */
    const char *or_nothing;        /* of an insert that must not fail; may be NULL */
    bool creates_in_transaction;
} table_dialect;

#define NOW_POSTGRESQL "CAST(EXTRACT(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
#define NOW_SQLITE "(julianday('now') - 2440587.5) * 86400.0"
#define NOW_ORACLE                                                                                 \
    "(CAST(systimestamp AT TIME ZONE 'UTC' AS DATE) - DATE '1970-01-01') * 86400 + "               \
    "TO_NUMBER(TO_CHAR(systimestamp AT TIME ZONE 'UTC', 'SSSSS.FF'))"
#define NOW_SQL_SERVER "CAST(DATEDIFF_BIG(ms, '1970-01-01', SYSUTCDATETIME()) AS FLOAT) / 1000.0"

static const table_dialect postgresql = {
    .driver = "pgsql",
    .platform = "doctrine\\dbal\\platforms\\postgresqlplatform",
    .now = NOW_POSTGRESQL,
    .expiry = "ceil(" NOW_POSTGRESQL " + %s)",
    .or_nothing = " ON CONFLICT DO NOTHING", /* an error would abort a transaction */
    .creates_in_transaction = true,
};
static const table_dialect mysql = {
    .driver = "mysql",
    .platform = "doctrine\\dbal\\platforms\\abstractmysqlplatform",
    .now = "UNIX_TIMESTAMP(NOW(6))",
    .expiry = "CEIL(UNIX_TIMESTAMP(NOW(6)) + %s)",
};
/* julianday() counts in milliseconds. */
static const table_dialect sqlite = {
    .driver = "sqlite",
    .platform = "doctrine\\dbal\\platforms\\sqliteplatform",
    .now = NOW_SQLITE,
    .expiry = NOW_SQLITE " + %s + 0.001",
    .creates_in_transaction = true,
};
static const table_dialect oracle = {
    .driver = "oci",
    .platform = "doctrine\\dbal\\platforms\\oracleplatform",
    .now = NOW_ORACLE, /* counts the time of day twice: peers agree in it alone */
    .expiry = "CEIL(" NOW_ORACLE " + %s)",
};
static const table_dialect sql_server = {
    .driver = "sqlsrv",
    .platform = "doctrine\\dbal\\platforms\\sqlserverplatform",
    .now = NOW_SQL_SERVER,
    .expiry = "CEILING(" NOW_SQL_SERVER " + %s)",
    .creates_in_transaction = true,
};
static const table_dialect other = {.driver = "other"}; /* by the client's clock */

static const table_dialect *const dialects[] = {&postgresql, &mysql, &sqlite, &oracle, &sql_server};

typedef struct table_store {
    php_latch_table_session *session;
    php_latch_table_names names;
    double probability;           /* that a grant prunes */
    const table_dialect *dialect; /* NULL until the first request */
} table_store;

/* A request under way. */
typedef struct table_request {
    table_store *store;
    const latch_request *request;
    latch_error *error;
    char id[ID_SIZE];
    const char *token;
    php_latch_table_answer answer; /* to the last statement */
} table_request;

/* ---- Dialects ------------------------------------------------------------------------------- */

static bool is_dialect(const table_dialect *dialect, zval *driver)
{
    zend_class_entry *platform;

    if (Z_TYPE_P(driver) == IS_STRING) {
        return zend_string_equals_cstr(Z_STR_P(driver), dialect->driver, strlen(dialect->driver));
    }
    platform = php_latch_find_class(dialect->platform);
    return Z_TYPE_P(driver) == IS_OBJECT && platform != NULL
           && instanceof_function(Z_OBJCE_P(driver), platform);
}

/* Learns the dialect, which a connection may not know before it is connected. */
static latch_status learn_dialect(table_request *request)
{
    zval driver;
    latch_status status = php_latch_table_session_ask(request->store->session,
                                                      PHP_LATCH_ASKED_DRIVER, &driver,
                                                      request->error);

    if (status == LATCH_DONE) {
        request->store->dialect = &other;
        for (size_t at = 0; at < sizeof(dialects) / sizeof(*dialects); at++) {
            if (is_dialect(dialects[at], &driver)) {
                request->store->dialect = dialects[at];
            }
        }
    }
    zval_ptr_dtor(&driver);
    return status;
}

static void write_ttl_seconds(int64_t ms, char text[TIME_SIZE])
{
    snprintf(text, TIME_SIZE, "%" PRId64 ".%03d", ms / 1000, (int) (ms % 1000));
}

/* The time now, as an expression. */
static zend_string *write_now(const table_dialect *dialect)
{
    int64_t now_us = latch_engine_wall_ns(php_latch_engine) / 1000;

    return dialect->now != NULL
               ? zend_string_init(dialect->now, strlen(dialect->now), 0)
               : strpprintf(0, "%" PRId64 ".%06d", now_us / 1000000, (int) (now_us % 1000000));
}

/* The end of the request's TTL, as an expression. */
static zend_string *write_expiry(const table_request *request)
{
    const table_dialect *dialect = request->store->dialect;
    char seconds[TIME_SIZE];

    if (dialect->expiry == NULL) {
        return strpprintf(0, "%" PRId64,
                          (latch_engine_wall_ns(php_latch_engine) / LATCH_NS_PER_MS
                           + request->request->ttl_ms)
                                  / 1000
                              + 1);
    }
    write_ttl_seconds(request->request->ttl_ms, seconds);
    return strpprintf(0, dialect->expiry, seconds);
}

/* ---- Statements ----------------------------------------------------------------------------- */

static latch_status ask_whether_in_transaction(table_request *request, bool *answer)
{
    zval value;
    latch_status status = php_latch_table_session_ask(request->store->session,
                                                      PHP_LATCH_ASKED_TRANSACTION, &value,
                                                      request->error);

    *answer = status != LATCH_DONE || zend_is_true(&value);
    zval_ptr_dtor(&value);
    return status;
}

static bool is_missing_table(const table_dialect *dialect, const php_latch_sql_trouble *trouble)
{
    enum { ORACLE_NO_TABLE = 942, SQL_SERVER_NO_OBJECT = 208 };

    return php_latch_sql_trouble_refusal(trouble) == LATCH_SQL_NO_TABLE
           || (dialect == &oracle && trouble->code == ORACLE_NO_TABLE)
           || (dialect == &sql_server && trouble->code == SQL_SERVER_NO_OBJECT);
}

/* Runs the statement; consumes the text. */
static latch_status run_table_statement(table_request *request, php_latch_table_statement statement)
{
    bool in_transaction = false;
    latch_status status = LATCH_ERROR_STORE;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        status = php_latch_table_session_run(request->store->session, &statement, &request->answer,
                                             request->error);
        if (status != LATCH_ERROR_STORE
            || php_latch_sql_trouble_refusal(&request->answer.trouble) != LATCH_SQL_CLASHED
            || ask_whether_in_transaction(request, &in_transaction) != LATCH_DONE
            || in_transaction) { /* which is given up, too: its owner has to know */
            break;
        }
        usleep(5000 + (useconds_t) latch_engine_random(php_latch_engine, 15000));
    }
    zend_string_release(statement.text);
    return status;
}

/* Is the row ours, and has it not expired? */
static latch_status probe_row(table_request *request)
{
    const php_latch_table_names *names = &request->store->names;
    zend_string *now = write_now(request->store->dialect);
    latch_status status = run_table_statement(
        request,
        (php_latch_table_statement){
            .text = strpprintf(0, "SELECT 1 FROM %s WHERE %s = ? AND %s = ? AND %s > %s",
                               ZSTR_VAL(names->table), ZSTR_VAL(names->id), ZSTR_VAL(names->token),
                               ZSTR_VAL(names->expiration), ZSTR_VAL(now)),
            .parameters = {request->id, request->token},
            .count = 2,
            .asks = true,
        });

    zend_string_release(now);
    return status != LATCH_DONE ? status : (request->answer.is_true ? LATCH_DONE : LATCH_CONFLICT);
}

/* Sets the expiry of a row that is ours; in an acquire also of one that is anybody's, or was ours.
 */
static latch_status extend_row(table_request *request, bool takes_expired)
{
    const php_latch_table_names *names = &request->store->names;
    zend_string *now = write_now(request->store->dialect), *expiry = write_expiry(request);
    zend_string *which =
        strpprintf(0, takes_expired ? "(%s = ? OR %s <= %s)" : "%s = ? AND %s > %s",
                   ZSTR_VAL(names->token), ZSTR_VAL(names->expiration), ZSTR_VAL(now));
    latch_status status = run_table_statement(
        request, (php_latch_table_statement){
                     .text = strpprintf(0, "UPDATE %s SET %s = %s, %s = ? WHERE %s = ? AND %s",
                                        ZSTR_VAL(names->table), ZSTR_VAL(names->expiration),
                                        ZSTR_VAL(expiry), ZSTR_VAL(names->token),
                                        ZSTR_VAL(names->id), ZSTR_VAL(which)),
                     .parameters = {request->token, request->id, request->token},
                     .count = 3,
                 });

    zend_string_release(now);
    zend_string_release(expiry);
    zend_string_release(which);
    if (status != LATCH_DONE || request->answer.affected > 0) {
        return status;
    }
    return probe_row(request); /* MySQL counts no rows that are as they were, in the same second */
}

static latch_status delete_row(table_request *request)
{
    const php_latch_table_names *names = &request->store->names;

    return run_table_statement(request,
                               (php_latch_table_statement){
                                   .text = strpprintf(0, "DELETE FROM %s WHERE %s = ? AND %s = ?",
                                                      ZSTR_VAL(names->table), ZSTR_VAL(names->id),
                                                      ZSTR_VAL(names->token)),
                                   .parameters = {request->id, request->token},
                                   .count = 2,
                               });
}

/* ---- Acquire -------------------------------------------------------------------------------- */

static php_latch_table_statement write_insert(const table_request *request)
{
    const table_dialect *dialect = request->store->dialect;
    const php_latch_table_names *names = &request->store->names;
    zend_string *expiry = write_expiry(request);
    php_latch_table_statement statement = {
        .text = strpprintf(0, "INSERT INTO %s (%s, %s, %s) VALUES (?, ?, %s)%s",
                           ZSTR_VAL(names->table), ZSTR_VAL(names->id), ZSTR_VAL(names->token),
                           ZSTR_VAL(names->expiration), ZSTR_VAL(expiry),
                           dialect->or_nothing != NULL ? dialect->or_nothing : ""),
        .parameters = {request->id, request->token},
        .count = 2,
    };

    zend_string_release(expiry);
    return statement;
}

static latch_status take_row(table_request *request)
{
    latch_status status = run_table_statement(request, write_insert(request));

    if (status == LATCH_DONE && request->answer.affected > 0) {
        return LATCH_DONE;
    }
    if (status != LATCH_DONE
        && (status != LATCH_ERROR_STORE
            || is_missing_table(request->store->dialect, &request->answer.trouble))) {
        return status;
    }
    php_latch_client_failure_clear();
    return extend_row(request, true); /* the row is there already, and may be ours */
}

/* Deletes expired rows, now and then. What fails is left to the next time. */
static void prune_rows(table_request *request)
{
    table_store *store = request->store;
    uint64_t chance = latch_engine_random(php_latch_engine, UINT32_MAX);
    latch_error error = {.message = ""};
    table_request pruning = {.store = store, .error = &error};
    bool in_transaction;
    zend_string *now;

    if ((double) chance / UINT32_MAX >= store->probability
        || ask_whether_in_transaction(&pruning, &in_transaction) != LATCH_DONE || in_transaction) {
        return;
    }
    now = write_now(store->dialect);
    if (run_table_statement(
            &pruning,
            (php_latch_table_statement){
                .text = strpprintf(0, "DELETE FROM %s WHERE %s <= %s", ZSTR_VAL(store->names.table),
                                   ZSTR_VAL(store->names.expiration), ZSTR_VAL(now)),
            })
        != LATCH_DONE) {
        php_latch_client_failure_clear();
    }
    zend_string_release(now);
}

/* Creates the missing table, where that does not end the user's transaction. */
static latch_status create_missing(table_request *request)
{
    table_store *store = request->store;
    bool in_transaction;
    latch_status status = learn_dialect(request); /* by now it is connected, whatever it was */

    if (status == LATCH_DONE) {
        status = ask_whether_in_transaction(request, &in_transaction);
    }
    if (status != LATCH_DONE || (in_transaction && !store->dialect->creates_in_transaction)) {
        return status;
    }
    if (php_latch_table_session_create(store->session, &store->names, request->error)
        != LATCH_DONE) {
        php_latch_client_failure_clear(); /* another process was faster, or the next try tells */
    }
    return LATCH_DONE;
}

static latch_status acquire_row(table_request *request)
{
    table_store *store = request->store;
    latch_status status = LATCH_DONE;

    status = take_row(request);
    if (status == LATCH_ERROR_STORE && is_missing_table(store->dialect, &request->answer.trouble)) {
        php_latch_client_failure_clear();
        status = create_missing(request);
        status = status == LATCH_DONE ? take_row(request) : status;
    }
    if (status == LATCH_DONE && store->probability > 0) {
        prune_rows(request);
    }
    return status;
}

/* ---- The store's functions ------------------------------------------------------------------ */

static void write_id(const latch_lease *lease, char id[ID_SIZE])
{
    const struct iovec resource = {(void *) lease->resource, lease->resource_length};
    uint8_t digest[LATCH_DIGEST_MAX];

    php_latch_digest(NULL, LATCH_SHA256, &resource, 1, digest);
    for (size_t at = 0; at < (ID_SIZE - 1) / 2; at++) {
        snprintf(id + 2 * at, 3, "%02x", digest[at]);
    }
}

/* Without a token the lease has never taken anything. */
static latch_status run_request(table_request *request, latch_lease *lease)
{
    latch_op_kind kind = request->request->kind;
    latch_status status = LATCH_DONE;

    if (kind == LATCH_ACQUIRE) {
        status = latch_lease_make_token(lease, request->error);
    } else if (lease->token == NULL) {
        return kind == LATCH_RELEASE ? LATCH_DONE : LATCH_CONFLICT;
    }
    if (status == LATCH_DONE && request->store->dialect == NULL) {
        status = learn_dialect(request);
    }
    if (status != LATCH_DONE) {
        return status;
    }
    request->token = lease->token;
    switch (kind) {
        case LATCH_ACQUIRE:
            return acquire_row(request);
        case LATCH_REFRESH:
            return extend_row(request, false);
        case LATCH_RELEASE:
            return delete_row(request);
        default:
            return probe_row(request);
    }
}

static latch_status run_table_request(void *context, latch_lease *lease, const latch_request *asked,
                                      latch_error *error)
{
    table_request request = {.store = context, .request = asked, .error = error};
    latch_status status;

    write_id(lease, request.id);
    status = run_request(&request, lease);
    return status == LATCH_INTERRUPTED ? LATCH_ERROR_STORE
                                       : status; /* what is deferred comes first */
}

static void close_table(void *context)
{
    table_store *store = context;

    php_latch_table_session_close(store->session);
    php_latch_table_names_free(&store->names);
    efree(store);
}

latch_store_calls php_latch_table_calls(php_latch_table_session *session,
                                        const php_latch_table_names *names, double probability)
{
    table_store *store = ecalloc(1, sizeof(*store));

    store->session = session;
    store->probability = probability;
    store->names = (php_latch_table_names){
        .table = zend_string_copy(names->table),
        .id = zend_string_copy(names->id),
        .token = zend_string_copy(names->token),
        .expiration = zend_string_copy(names->expiration),
    };
    return (latch_store_calls){
        .context = store,
        .run = run_table_request,
        .close = close_table,
    };
}
