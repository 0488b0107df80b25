/* The store "table": opened by a DSN, whose scheme says which server it is, or by a runner. */
#include "src/store/sql/dsn.h"
#include "src/store/sql/table/table.h"

#include <stdio.h>
#include <string.h>

#define SYMFONY_CLASS "Symfony\\Component\\Lock\\Store\\PdoStore"
/* Time for which a statement waits for the transaction that has locked its row. It must end well
 * before the session's command time-out, at which nobody would know what becomes of it. */
#define LOCK_TIMEOUT_MS 1000
#define DEFAULT_TTL_MS 300000 /* Symfony's initialTtl */

static const table_dialect *const dialects[] = {&latch_table_postgresql, &latch_table_mysql,
                                                &latch_table_sqlite};

static bool dsn_has_scheme_of(const char *dsn, size_t length, const char *const *schemes)
{
    for (; *schemes != NULL; schemes++) {
        size_t size = strlen(*schemes);

        if (length > size && memcmp(dsn, *schemes, size) == 0 && dsn[size] == ':') {
            return true;
        }
    }
    return false;
}

static const table_dialect *find_dialect(const table_options *options)
{
    for (size_t at = 0; at < sizeof(dialects) / sizeof(*dialects); at++) {
        if (options->dsn != NULL
                ? dsn_has_scheme_of(options->dsn, options->dsn_length, dialects[at]->schemes)
                : strcmp(options->table.driver, dialects[at]->driver) == 0) {
            return dialects[at];
        }
    }
    return NULL;
}

static latch_status fail_dialect(const table_options *options, latch_error *error)
{
    return options->dsn != NULL
               ? latch_fail(error, LATCH_ERROR_UNSUPPORTED, 0,
                            "the DSN of a table begins with \"pgsql:\", \"mysql:\" or \"sqlite:\", "
                            "or is a URL of one of these servers")
               : latch_fail(error, LATCH_ERROR_UNSUPPORTED, 0,
                            "there are statements for tables in \"pgsql\", \"mysql\" and "
                            "\"sqlite\", and not in \"%.40s\"",
                            options->table.driver);
}

/* ---- Opening and closing -------------------------------------------------------------------- */

static latch_status open_session(table_store *store, const sql_session *origin,
                                 const latch_sql_runner *runner, latch_error *error)
{
    latch_engine *engine = store->store.engine;
    const table_options *options = store->options;
    const table_dialect *dialect = store->dialect;
    latch_store_options given = {
        .dsn = options->dsn,
        .dsn_length = options->dsn_length,
        .settings = options->settings,
        .setting_count = options->setting_count,
    };
    latch_status status;

    if (origin != NULL && origin->driver->clones_are_independent) {
        store->session = origin->driver->clone(origin);
        return store->session != NULL ? LATCH_DONE : latch_fail_memory(error);
    }
    if (runner != NULL) {
        return latch_sql_runner_open(engine, runner, dialect->server, &store->session, error);
    }
    if (dialect->open == NULL) {
        return latch_fail(error, LATCH_ERROR_ARGUMENT, 0,
                          "this build of Latch has no %s: build it again where %s's development "
                          "package and pkg-config are installed",
                          dialect->missing_library, dialect->missing_library);
    }
    status = dialect->open(engine, &given, &store->session, error);
    if (status == LATCH_DONE) {
        store->session->lock_timeout_ms = LOCK_TIMEOUT_MS;
    }
    return status;
}

/* The connection's, the rows that are locks, the name of the token, and how often rows are pruned.
 */
static latch_status make_table_identity(table_store *store, latch_error *error)
{
    const latch_table_options *table = &store->options->table;
    char kinds[64];
    const char *texts[] = {store->session->identity, table->table,
                           table->id_column,         table->token_column,
                           table->expiration_column, table->prefix,
                           store->info.state_name,   kinds};

    snprintf(kinds, sizeof(kinds), "%d %d %d %.9g", (int) table->layout, (int) table->names,
             (int) table->fencing, table->prune_probability);
    store->identity =
        latch_sql_identity(store->store.engine, texts, sizeof(texts) / sizeof(*texts));
    return store->identity != NULL ? LATCH_DONE : latch_fail_memory(error);
}

static void table_close(latch_store *base)
{
    table_store *store = (table_store *) base;

    if (store->session != NULL) {
        latch_sql_session_end(store->session);
    }
    latch_sql_identity_free(base->engine, store->identity);
    latch_table_options_free(base->engine, store->options);
}

/* Opens the session of a store that has its options; on failure the store is closed. */
static latch_status prepare_table_store(table_store *store, const sql_session *origin,
                                        const latch_sql_runner *runner, latch_error *error)
{
    latch_status status = LATCH_DONE;

    store->dialect = find_dialect(store->options);
    store->has_notifications = store->dialect != NULL && store->dialect->queue != NULL
                               && store->options->dsn != NULL;
    store->has_queue = store->has_notifications;
    store->prune.class = &latch_table_pruning;
    store->prune.returns_nothing = true;
    store->info = store->store.class->info;
    if (store->options->table.state_name != NULL) {
        store->info.state_name = store->options->table.state_name;
    }
    if (store->dialect != NULL) {
        store->info.slowest_poll_ms = store->dialect->slowest_poll_ms;
    }
    if (store->options->table.fencing) {
        store->info.capabilities |= LATCH_FENCING;
    }
    if (store->has_queue) {
        store->info.capabilities |= LATCH_BLOCKING | LATCH_PUSH;
    }
    store->store.info = &store->info;
    status = store->dialect != NULL ? open_session(store, origin, runner, error)
                                    : fail_dialect(store->options, error);
    if (status == LATCH_DONE && runner == NULL) {
        status = make_table_identity(store, error);
    }
    if (status != LATCH_DONE) {
        table_close(&store->store);
    }
    return status;
}

/* `origin` is the session of the store that it is a clone of, or NULL. */
static latch_status open_table_store(latch_store *base, const sql_session *origin,
                                     const latch_store_options *options, latch_error *error)
{
    table_store *store = (table_store *) base;
    latch_store_options given = *options;
    latch_status status;

    if (given.runner != NULL) {
        given.dsn = NULL;
        given.dsn_length = 0;
    }
    status = latch_table_options_copy(base->engine, &given, &store->options, error);
    return status == LATCH_DONE ? prepare_table_store(store, origin, options->runner, error)
                                : status;
}

static latch_status table_open(latch_store *base, const latch_store_options *options,
                               latch_error *error)
{
    return open_table_store(base, NULL, options, error);
}

static latch_store *table_clone(const latch_store *base, latch_error *error)
{
    const table_store *store = (const table_store *) base;
    latch_store *clone = latch_store_make(base->engine, base->class, error);
    latch_store_options given = {
        .dsn = store->options->dsn,
        .dsn_length = store->options->dsn_length,
        .settings = store->options->settings,
        .setting_count = store->options->setting_count,
        .table = &store->options->table,
    };

    if (clone != NULL && open_table_store(clone, store->session, &given, error) != LATCH_DONE) {
        latch_free(base->engine, clone);
        return NULL;
    }
    return clone;
}

static const char *table_identity(const latch_store *base)
{
    return ((const table_store *) base)->identity;
}

static const char *table_renewal_unsupported_reason(const latch_store *base)
{
    return ((const table_store *) base)->options->dsn != NULL
               ? NULL
               : "its database is reached by a given connection, which only the thread that has "
                 "the connection can use; give the store a DSN";
}

const latch_store_class latch_table_store = {
    .info = {.name = "table",
             .title = "SQL table",
             .state_name = SYMFONY_CLASS,
             .capabilities = LATCH_EXPIRING | LATCH_SERIALIZABLE | LATCH_LISTING
                             | LATCH_HOLDER_INFO,
             .scope = LATCH_SCOPE_SERVER,
             .default_ttl_ms = DEFAULT_TTL_MS},
    .size = sizeof(table_store),
    .open = table_open,
    .close = table_close,
    .identity = table_identity,
    .begin = latch_table_begin,
    .step = latch_table_step,
    .cancel = latch_table_cancel,
    .outage = latch_table_outage,
    .abandon = latch_table_abandon,
    .is_awaited = true,
    .held = latch_table_held,
    .shares_token = latch_table_shares_token,
    .drop = latch_table_drop,
    .clone = table_clone,
    .renewal_unsupported_reason = table_renewal_unsupported_reason,
};
