/* Stores on the test program's PostgreSQL: see postgresql_store.h. */
#include "postgresql_store.h"

static latch_store *stores[8], *other_store;
static size_t store_count;

latch_store *postgresql_open(const char *format, ...)
{
    latch_store_options options = {.dsn = NULL};
    char dsn[1024];
    latch_store *store;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(dsn, sizeof(dsn), format, arguments);
    va_end(arguments);
    options.dsn = dsn;
    options.dsn_length = strlen(dsn);
    store = latch_store_open(unit.engine, "postgresql", &options, &unit.error);
    if (store != NULL && store_count < sizeof(stores) / sizeof(*stores)) {
        stores[store_count++] = store;
    }
    return store;
}

int postgresql_store_setup(void **state)
{
    if (unit_postgresql_setup(state) != 0 || unit_setup(state) != 0) {
        return -1;
    }
    unit.real_clock = true;
    store_count = 0;
    unit.store = postgresql_open("%s", unit_postgresql.dsn);
    other_store = postgresql_open("%s", unit_postgresql.socket_url);
    return unit.store != NULL && other_store != NULL ? 0 : -1;
}

static void drop_leases(void)
{
    while (unit.lease_count > 0) {
        latch_lease_drop(&unit.leases[--unit.lease_count]);
    }
}

void postgresql_close_last(void)
{
    drop_leases();
    if (store_count > 2) {
        latch_store_close(stores[--store_count]);
    }
}

int postgresql_store_teardown(void **state)
{
    drop_leases();
    while (store_count > 0) {
        latch_store_close(stores[--store_count]);
    }
    unit.store = NULL;
    unit_postgresql_await_sessions(0);
    UNIT_CHECK(unit_postgresql_count_held() == 0);
    return unit_teardown(state);
}

latch_lease *postgresql_lease_in(latch_store *store, const char *resource)
{
    latch_lease *lease = unit_lease(resource);

    lease->store = store;
    return lease;
}

latch_lease *postgresql_lease(const char *resource)
{
    return postgresql_lease_in(unit.store, resource);
}

latch_lease *postgresql_other_lease(const char *resource)
{
    return postgresql_lease_in(other_store, resource);
}

latch_request postgresql_detached_release(void)
{
    latch_request request = unit_request(LATCH_RELEASE);

    request.detach = true;
    return request;
}

uint32_t postgresql_number_of(const char *resource)
{
    const struct iovec part = {(void *) resource, strlen(resource)};
    uint8_t digest[LATCH_DIGEST_MAX];

    unit_digest(NULL, LATCH_CRC32, &part, 1, digest);
    return (uint32_t) digest[0] << 24 | (uint32_t) digest[1] << 16 | (uint32_t) digest[2] << 8
           | digest[3];
}

long long postgresql_session(void)
{
    return unit_postgresql_number("SELECT coalesce((SELECT pid FROM pg_locks"
                                  " WHERE locktype = 'advisory' AND granted LIMIT 1), 0)");
}

latch_status postgresql_begin_wait(latch_op *op, latch_lease *lease, latch_request request,
                                   size_t waiting)
{
    latch_status status = unit_begin(op, lease, request);
    int64_t give_up_ns = unit_now_ns() + UNIT_TIMEOUT_NS;

    while (latch_wants(status) && unit_postgresql_count_waiting() != waiting) {
        UNIT_CHECK(unit_now_ns() < give_up_ns);
        if (unit_is_due(op, status)) {
            status = latch_op_step(op, unit_now_ns());
        }
    }
    return status;
}

bool postgresql_failed(latch_status status, const char *message)
{
    bool failed = status == LATCH_ERROR_STORE && strstr(unit.error.message, message) != NULL
                  && strstr(unit.error.message, UNIT_SQL_PASSWORD) == NULL;

    if (!failed) {
        print_message("status %d: %s\n", (int) status, unit.error.message);
    }
    return failed;
}
