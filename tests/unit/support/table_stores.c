/* Locks in a table: see table_stores.h. */
#include "table_stores.h"

table_server table_server_under_test;

int table_reset(void **state)
{
    if (table_server_under_test.setup(state) != 0) {
        return -1;
    }
    table_server_under_test.run("DROP TABLE IF EXISTS lock_keys, cache_locks");
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

latch_store *table_open_client(const latch_table_options *given)
{
    latch_table_options table = given != NULL ? *given : (latch_table_options){.driver = NULL};
    const latch_sql_runner runner = table_server_under_test.runner();
    const latch_store_options options = {.runner = &runner, .table = &table};
    latch_store *store;

    table.driver = table_server_under_test.driver;
    store = latch_store_open(unit.engine, "table", &options, &unit.error);
    if (store == NULL) {
        runner.close(runner.context);
    }
    return store;
}

void table_expect_nothing_left(void)
{
    table_server_under_test.await_sessions(0);
}
