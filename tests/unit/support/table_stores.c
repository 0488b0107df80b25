/* Locks in a table: see table_stores.h. */
#include "table_stores.h"

table_server table_server_under_test;

int table_reset(void **state)
{
    if (table_server_under_test.setup(state) != 0) {
        return -1;
    }
    table_server_under_test.run("DROP TABLE IF EXISTS lock_keys");
    table_server_under_test.run("DROP TABLE IF EXISTS cache_locks");
    if (strcmp(table_server_under_test.driver, "pgsql") == 0) {
        table_server_under_test.run("DROP SEQUENCE IF EXISTS lock_keys_fence");
    }
    return 0;
}

latch_store *table_open_dsn(const latch_table_options *table, const char *format, ...)
{
    char dsn[512];
    latch_store_options options = {.dsn = dsn, .table = table};
    const char *rest = strchr(table_server_under_test.dsn, ':'); /* behind "...+advisory" */
    size_t length =
        (size_t) snprintf(dsn, sizeof(dsn), "%s%s", table_server_under_test.driver, rest);
    va_list arguments;

    va_start(arguments, format);
    length += (size_t) vsnprintf(dsn + length, sizeof(dsn) - length, format, arguments);
    va_end(arguments);
    UNIT_CHECK(length < sizeof(dsn));
    options.dsn_length = length;
    return latch_store_open(unit.engine, "table", &options, &unit.error);
}

static latch_store *open_by_runner(const latch_sql_runner *runner)
{
    latch_table_options table = {.driver = table_server_under_test.driver};
    const latch_store_options options = {.runner = runner, .table = &table};

    return latch_store_open(unit.engine, "table", &options, &unit.error);
}

latch_store *table_open_client(void)
{
    const latch_sql_runner runner = table_server_under_test.runner();
    latch_store *store = open_by_runner(&runner);

    if (store == NULL) {
        runner.close(runner.context);
    }
    return store;
}

void table_expect_nothing_left(void)
{
    table_server_under_test.await_sessions(0);
}

/* ---- Stores and rows of a test -------------------------------------------------------------- */

static latch_store *stores[8];
static size_t store_count;

static latch_store *keep_store(latch_store *store)
{
    if (store == NULL) {
        fail_msg("%s", unit.error.message);
    }
    UNIT_CHECK(store_count < sizeof(stores) / sizeof(*stores));
    stores[store_count++] = store;
    return store;
}

latch_store *table_store_with(latch_table_options table)
{
    return keep_store(table_open_dsn(&table, "%s", ""));
}

latch_store *table_client_store(void)
{
    return keep_store(table_open_client());
}

latch_store *table_runner_store(const latch_sql_runner *runner)
{
    return keep_store(open_by_runner(runner));
}

int table_tests_setup(void **state)
{
    store_count = 0;
    if (table_reset(state) != 0 || unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    unit.store = table_store_with((latch_table_options){.prune_probability = 0});
    return 0;
}

void table_close_stores(void)
{
    while (store_count > 0) {
        latch_store_close(stores[--store_count]);
    }
    unit.store = NULL;
}

int table_tests_teardown(void **state)
{
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    table_close_stores();
    table_server_under_test.await_sessions(0);
    return unit_teardown(state);
}

latch_lease *table_lease_in(latch_store *store, const char *resource)
{
    latch_lease *lease = unit_lease("");

    latch_lease_init(lease, store, resource, strlen(resource));
    return lease;
}

latch_status table_try(latch_lease *lease, latch_op_kind kind, int64_t ttl_ms)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = ttl_ms;
    return unit_run_request(lease, request);
}

const char *table_hash(const char *resource)
{
    static char name[2 * LATCH_DIGEST_MAX + 1];
    const struct iovec part = {(void *) resource, strlen(resource)};
    uint8_t digest[LATCH_DIGEST_MAX];

    unit_digest(NULL, LATCH_SHA256, &part, 1, digest);
    for (size_t at = 0; at < LATCH_DIGEST_MAX; at++) {
        snprintf(name + 2 * at, 3, "%02x", digest[at]);
    }
    return name;
}

long long table_count(const char *condition)
{
    return table_server_under_test.number("SELECT count(*) FROM lock_keys WHERE %s", condition);
}

void table_insert(const char *name, const char *token, double seconds)
{
    table_server_under_test.run("INSERT INTO lock_keys VALUES ('%s', '%s', %s + %f)", name, token,
                                table_server_under_test.now, seconds);
}

void table_create(void)
{
    latch_lease *lease = table_lease_in(unit.store, "");
    latch_request request = unit_request(LATCH_PROBE);

    request.create = true;
    UNIT_CHECK(unit_run_request(lease, request) == LATCH_DONE);
}

latch_status table_begin(latch_op *op, latch_lease *lease, latch_op_kind kind, int64_t ttl_ms)
{
    latch_request request = unit_request(kind);

    request.ttl_ms = ttl_ms;
    return unit_begin(op, lease, request);
}
