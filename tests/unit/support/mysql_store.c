/* MySQL stores on the test program's server: see mysql_store.h. */
#include "mysql_store.h"

#include "src/store/sql/advisory/advisory.h"

#include <stdlib.h>

static latch_store *stores[8];
static size_t store_count;
static latch_store *other_store;

latch_store *mysql_open(const char *format, ...)
{
    char dsn[1024];
    latch_store_options options = {.dsn = dsn};
    latch_store *store;
    va_list arguments;

    va_start(arguments, format);
    options.dsn_length = (size_t) vsnprintf(dsn, sizeof(dsn), format, arguments);
    va_end(arguments);
    UNIT_CHECK(options.dsn_length < sizeof(dsn));
    UNIT_CHECK(store_count < sizeof(stores) / sizeof(stores[0]));
    store = latch_store_open(unit.engine, "mysql", &options, &unit.error);
    if (store != NULL) {
        stores[store_count++] = store;
    }
    return store;
}

int mysql_store_setup(void **state)
{
    unit_mysql_setup(state);
    return mysql_store_setup_on_server(state);
}

int mysql_store_setup_on_server(void **state)
{
    if (unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    store_count = 0;
    unit.store = mysql_open("%s", unit_mysql.dsn);
    other_store = mysql_open("%s", unit_mysql.url);
    return unit.store != NULL && other_store != NULL ? 0 : -1;
}

static void close_all_but(size_t count)
{
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
    while (store_count > count) {
        latch_store_close(stores[--store_count]);
    }
}

void mysql_store_forget(void)
{
    close_all_but(2);
}

int mysql_store_teardown(void **state)
{
    unit_mysql_thaw();
    close_all_but(0);
    unit.store = NULL;
    if (unit_mysql.connection != NULL) {
        unit_mysql_await_held(0);
        unit_mysql_await_sessions(0);
    }
    return unit_teardown(state);
}

latch_lease *mysql_lease_in(latch_store *store, const char *resource)
{
    latch_lease *lease = unit_lease(resource);

    latch_lease_init(lease, store, resource, strlen(resource));
    return lease;
}

latch_lease *mysql_lease(const char *resource)
{
    return unit_lease(resource);
}

latch_lease *mysql_other_lease(const char *resource)
{
    return mysql_lease_in(other_store, resource);
}

const char *mysql_name(const char *resource)
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

long long mysql_holder(const char *resource)
{
    return unit_mysql_number("SELECT COALESCE(IS_USED_LOCK('%s'), 0)", mysql_name(resource));
}

void mysql_await_free(const char *resource)
{
    for (unsigned looks = 0; mysql_holder(resource) != 0;) {
        unit_sql_look_again(&looks);
    }
}

void mysql_end_session(long long number)
{
    unit_mysql_run("KILL %lld", number);
    for (unsigned looks = 0;
         unit_mysql_number("SELECT count(*) FROM information_schema.processlist WHERE id = %lld",
                           number)
         != 0;) {
        unit_sql_look_again(&looks);
    }
}

void mysql_await_loss(latch_lease *lease)
{
    for (unsigned looks = 0; unit_held(lease);) {
        unit_sql_look_again(&looks);
    }
}

static bool waits_in_server(const latch_lease *lease)
{
    const sql_session *session = latch_advisory_store_of(lease)->session;

    return session->is_sent
           && unit_mysql_number("SELECT count(*) FROM information_schema.processlist"
                                " WHERE state = 'User lock' AND id = %lld",
                                (long long) session->number)
                  == 1;
}

latch_status mysql_begin_wait(latch_op *op, latch_lease *lease, int64_t timeout_ms)
{
    latch_status status = unit_begin(op, lease, unit_waiting(LATCH_ACQUIRE, timeout_ms));

    for (unsigned looks = 0; latch_wants(status) && !waits_in_server(lease);) {
        if (unit_is_due(op, status)) {
            status = latch_op_step(op, unit_now_ns());
        }
        unit_sql_look_again(&looks);
    }
    return status;
}

bool mysql_failed(latch_status status, const char *message)
{
    return status == LATCH_ERROR_STORE && unit.error.status == status
           && strstr(unit.error.message, message) != NULL
           && strstr(unit.error.message, UNIT_SQL_PASSWORD) == NULL;
}

void mysql_expect_working(latch_lease *lease)
{
    UNIT_CHECK(unit_run(lease, LATCH_ACQUIRE) == LATCH_DONE && unit_held(lease));
    UNIT_CHECK(unit_run(lease, LATCH_PROBE) == LATCH_DONE);
    unit_release(lease);
}
